/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Prints the connection machine: rcm_fsm --md (docs/cm-fsm.md), --dot (for
 * Graphviz) or --text (one row a line).
 */

#include "rcm_fsm.h"

#include <stdio.h>
#include <string.h>

typedef void row_fn(enum rcm_fsm_state from, enum rcm_fsm_event event,
		    const struct rcm_fsm_row *row);

static unsigned int each_row(row_fn *fn)
{
	unsigned int n = 0;
	int s, e;

	for (s = 0; s < RCM_ST_COUNT; s++) {
		for (e = 0; e < RCM_EV_COUNT; e++) {
			const struct rcm_fsm_row *row = rcm_fsm_next(s, e);

			if (row->kind != RCM_CELL_ROW)
				continue;
			n++;
			if (fn)
				fn(s, e, row);
		}
	}
	return n;
}

static const char *or_dash(const char *name)
{
	return strcmp(name, "none") ? name : "-";
}

static void md_row(enum rcm_fsm_state from, enum rcm_fsm_event event,
		   const struct rcm_fsm_row *row)
{
	printf("| %s | %s | %s | %s | ", rcm_fsm_state_name(from),
	       rcm_fsm_event_name(event),
	       or_dash(rcm_fsm_action_name(row->action)),
	       rcm_fsm_state_name(row->to));
	if (rcm_fsm_may_fail(row->action))
		printf("%s | %s | %s |\n", rcm_fsm_state_name(row->on_failure),
		       or_dash(rcm_fsm_report_name(row->report)),
		       or_dash(rcm_fsm_report_name(row->report_failure)));
	else
		printf("- | %s | - |\n",
		       or_dash(rcm_fsm_report_name(row->report)));
}

static void text_row(enum rcm_fsm_state from, enum rcm_fsm_event event,
		     const struct rcm_fsm_row *row)
{
	printf("%-9s %-11s %-18s %-9s %-9s %-9s %s\n", rcm_fsm_state_name(from),
	       rcm_fsm_event_name(event), rcm_fsm_action_name(row->action),
	       rcm_fsm_state_name(row->to), rcm_fsm_state_name(row->on_failure),
	       rcm_fsm_report_name(row->report),
	       rcm_fsm_report_name(row->report_failure));
}

static void dot_row(enum rcm_fsm_state from, enum rcm_fsm_event event,
		    const struct rcm_fsm_row *row)
{
	if (row->to != from && row->to != RCM_ST_CLOSED)
		printf("\t%s -> %s [label=\"%s / %s\"];\n",
		       rcm_fsm_state_name(from), rcm_fsm_state_name(row->to),
		       rcm_fsm_event_name(event),
		       rcm_fsm_action_name(row->action));
	if (rcm_fsm_may_fail(row->action) && row->on_failure != from)
		printf("\t%s -> %s [label=\"%s fails\", style=dashed];\n",
		       rcm_fsm_state_name(from),
		       rcm_fsm_state_name(row->on_failure),
		       rcm_fsm_action_name(row->action));
}

static const char *cell(enum rcm_fsm_state s, enum rcm_fsm_event e)
{
	const struct rcm_fsm_row *row = rcm_fsm_next(s, e);

	switch (row->kind) {
	case RCM_CELL_ROW:
		return rcm_fsm_state_name(row->to);
	case RCM_CELL_MISUSE:
		return "*no*";
	case RCM_CELL_LATE:
	default:
		return ".";
	}
}

static void md_matrix(void)
{
	int s, e;

	printf("| |");
	for (s = 0; s < RCM_ST_COUNT; s++)
		printf(" %s |", rcm_fsm_state_name(s));
	printf("\n| --- |");
	for (s = 0; s < RCM_ST_COUNT; s++)
		printf(" --- |");
	printf("\n");
	for (e = 0; e < RCM_EV_COUNT; e++) {
		printf("| %s |", rcm_fsm_event_name(e));
		for (s = 0; s < RCM_ST_COUNT; s++)
			printf(" %s |", cell(s, e));
		printf("\n");
	}
}

static const char md_head[] =
	"# The connection machine\n"
	"\n"
	"Printed by `test/tools/rcm_fsm --md` from `prov/cm/rcm_fsm.def`;\n"
	"`make check` fails when this file and the code differ.\n"
	"`test/unit/test_fsm_explore.c` proves what is said here about it.\n"
	"\n"
	"One connection has one machine. `rcm_conn_handle()` is the only\n"
	"code that writes its state: it looks up the row, runs the action,\n"
	"and then commits the state; when the action fails, the state of\n"
	"the column *on failure*.\n"
	"\n"
	"- The active side goes IDLE, READY, ADDR, ROUTE, REQ_SENT,\n"
	"  CONNECTED.\n"
	"- The passive side goes REQ_RCVD, REQ_READY, ACCEPTED, CONNECTED.\n"
	"- Both end in DOWN (the user has been told) and CLOSED (nothing\n"
	"  names the object).\n"
	"\n"
	"Each endpoint gets at most one *connected*, and exactly one end:\n"
	"*error* or *refused* before it was connected, *shutdown*\n"
	"afterwards. *to caller* is a failure that is the call's return\n"
	"code. An end while nobody has adopted the connection yet is kept\n"
	"and becomes the return code of the calls that follow.\n"
	"\n"
	"Events ENABLE to CLOSE are the user's calls, ADDR_OK to\n"
	"ADDR_CHANGE come from rdma_cm, QP_ERR and COMM_EST from the queue\n"
	"pair or the device.\n"
	"\n"
	"## Every cell\n"
	"\n"
	"The next state; *no*: a call that is answered with an error\n"
	"(-FI_EOPBADSTATE, or what `rcm_conn.h` says is nearer); a dot: an\n"
	"event that comes too late, counted and ignored.\n"
	"\n";

static const char md_rows[] =
	"\n"
	"## Every row\n"
	"\n"
	"| from | event | action | to | on failure | report | report of a failure |\n"
	"| --- | --- | --- | --- | --- | --- | --- |\n";

static const char md_tail[] =
	"\n"
	"## Actions\n"
	"\n"
	"| action | does |\n"
	"| --- | --- |\n"
	"| qp_create | the layer above makes the queue pair, in INIT |\n"
	"| resolve_addr | makes the id, sets its options, rdma_resolve_addr |\n"
	"| resolve_route | compares the device with the domain's, rdma_resolve_route |\n"
	"| send_req | rdma_connect |\n"
	"| qp_up | INIT, RTR, RTS with the attributes of rdma_init_qp_attr |\n"
	"| qp_up_establish | the same, then rdma_establish |\n"
	"| qp_up_send_rep | the same, then rdma_accept |\n"
	"| send_rej | rdma_reject with the user's data |\n"
	"| notify | rdma_notify |\n"
	"| disconnect | rdma_disconnect |\n"
	"| qp_down | the queue pair to ERR: what is posted flushes, posts fail (under ofi_rxm they flush, too) |\n"
	"| reject_qp_down | rdma_reject, qp_down |\n"
	"| disconnect_qp_down | rdma_disconnect, qp_down |\n"
	"\n"
	"The last three do what can be done and do not fail. A failed\n"
	"action that leads to DOWN is followed by reject_qp_down, so that\n"
	"neither the peer nor a posted receive waits.\n"
	"\n"
	"## Why it is so\n"
	"\n"
	"- **CONN_RESP, not ESTAB, on the active side.** The id has no\n"
	"  queue pair, so rdma_cm leaves the last word to us: move the\n"
	"  queue pair, then rdma_establish. ESTAB there is what a transport\n"
	"  gives that needs no last word (iWARP).\n"
	"- **ADDR_CHANGE changes nothing.** It says that the network\n"
	"  device's hardware address changed (bonding), as a hint for who\n"
	"  wants to follow; the connection may go on working. If it does\n"
	"  not, its next operation fails, and that is the end.\n"
	"- **REJECTED and CONN_ERR end a connection that stands.** A\n"
	"  passive side that goes away before our last word reached it\n"
	"  sends REJ to what we call connected; and the kernel gives\n"
	"  UNREACHABLE for a connected id when the neighbour's address goes\n"
	"  (LF#12362).\n"
	"- **DISCONN is answered** with rdma_disconnect, in CLOSING too:\n"
	"  the event may be the peer's own request crossing ours, and\n"
	"  without an answer it repeats that for a minute.\n"
	"- **DISCONN in ACCEPTED is an error, not a shutdown**: the last\n"
	"  word was lost or overtaken, and the user has never been told\n"
	"  that the connection stood.\n"
	"- **COMM_EST in ACCEPTED** means that data overtook the last word.\n"
	"  The kernel is told, and gives ESTAB at once instead of after a\n"
	"  repetition.\n"
	"- **No rdma_reject while the kernel waits for the peer**, in\n"
	"  REQ_SENT and ACCEPTED: it leaves the kernel repeating what it has\n"
	"  sent, and rdma_destroy_id then waits for the end of that, a\n"
	"  minute and more. Without it, rdma_destroy_id stops the\n"
	"  repetition and tells the peer at once.\n"
	"- **CONN_RESP and ESTAB in DOWN are answered**: after SHUTDOWN\n"
	"  while connecting, the peer would wait for a last word, or\n"
	"  believe in a connection, until the endpoint is closed.\n"
	"- **TIMEWAIT is an end** wherever one is still owed: the kernel\n"
	"  has nothing more to say about that id.\n"
	"- **DEV_GONE calls nothing in the kernel**: there is nobody left\n"
	"  to answer.\n";

static void print_md(void)
{
	unsigned int n;

	fputs(md_head, stdout);
	md_matrix();
	fputs(md_rows, stdout);
	n = each_row(md_row);
	printf("\n%u rows, %d cells.\n", n, RCM_ST_COUNT * RCM_EV_COUNT);
	fputs(md_tail, stdout);
}

static void print_dot(void)
{
	printf("digraph rcm {\n");
	each_row(dot_row);
	printf("}\n");
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";

	if (!strcmp(how, "--md")) {
		print_md();
	} else if (!strcmp(how, "--dot")) {
		print_dot();
	} else if (!strcmp(how, "--text")) {
		each_row(text_row);
	} else {
		fprintf(stderr, "usage: rcm_fsm --md | --dot | --text\n");
		return 2;
	}
	return fflush(stdout) ? 1 : 0;
}
