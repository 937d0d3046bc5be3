/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Every cell of the machine through rcm_conn, with each call failing once. */

#include "cm_drive.h"

#define EACH_CELL                                             \
	for (enum rcm_fsm_state s = 0; s < RCM_ST_COUNT; s++) \
		for (enum rcm_fsm_event e = 0; e < RCM_EV_COUNT; e++)

/* a queue pair that is still to be stopped: fi_shutdown has done it */
static bool has_qp(enum rcm_fsm_state s)
{
	return s != RCM_ST_IDLE && s != RCM_ST_REQ_RCVD &&
	       s != RCM_ST_CLOSING && s != RCM_ST_DOWN && s != RCM_ST_CLOSED;
}

/* a kernel conversation in which the next word is ours */
static bool has_request(enum rcm_fsm_state s)
{
	return s == RCM_ST_REQ_SENT || s == RCM_ST_REQ_RCVD ||
	       s == RCM_ST_REQ_READY || s == RCM_ST_DOWN;
}

static const char *expected_end(enum rcm_fsm_state s, const char *what)
{
	static char buf[64];
	const char *qp = has_qp(s) ? "ERR" : "";

	snprintf(buf, sizeof(buf), "%s%s%s", what, *what && *qp ? " " : "", qp);
	return buf;
}

static const char *expected_calls(enum rcm_fsm_state s, enum rcm_fsm_action act)
{
	static const char *const calls[RCM_ACT_COUNT] = {
		[RCM_ACT_NONE] = "",
		[RCM_ACT_QP_CREATE] = "qp_create",
		[RCM_ACT_RESOLVE_ADDR] =
			"create_id ack_timeout tos resolve_addr",
		[RCM_ACT_RESOLVE_ROUTE] = "resolve_route",
		[RCM_ACT_SEND_REQ] = "connect",
		[RCM_ACT_QP_UP] = "attr INIT attr RTR attr RTS",
		[RCM_ACT_QP_UP_ESTABLISH] =
			"attr INIT attr RTR attr RTS establish",
		[RCM_ACT_QP_UP_SEND_REP] =
			"ack_timeout tos attr INIT attr RTR attr RTS accept",
		[RCM_ACT_SEND_REJ] = "reject",
		[RCM_ACT_NOTIFY] = "notify",
		[RCM_ACT_DISCONNECT] = "disconnect ERR",
	};

	switch (act) {
	case RCM_ACT_QP_DOWN:
		return expected_end(s, "");
	case RCM_ACT_REJECT_QP_DOWN:
		return expected_end(s, has_request(s) ? "reject" : "");
	case RCM_ACT_DISCONNECT_QP_DOWN:
		return expected_end(s, "disconnect");
	default:
		return calls[act];
	}
}

static void expect_report(enum rcm_fsm_report want, const char *where)
{
	bool due = want != RCM_REP_NONE && want != RCM_REP_CALLER;

	cr_expect_eq(user.n_reports, due, "%s: %d reports", where,
		     user.n_reports);
	if (!due || !user.n_reports)
		return;
	cr_expect_eq(user.reports[0].what, want, "%s", where);
	if (want == RCM_REP_ERROR || want == RCM_REP_REFUSED) {
		cr_expect_gt(user.reports[0].err, 0, "%s", where);
		cr_expect_neq(user.reports[0].prov_errno, 0, "%s", where);
	}
}

static void row_does_what_it_says(enum rcm_fsm_state s, enum rcm_fsm_event e)
{
	const struct rcm_fsm_row *row = rcm_fsm_next(s, e);
	struct rcm_conn *conn = at(s);
	bool ends = row->action >= RCM_ACT_DISCONNECT;

	cr_expect_eq(fire(conn, e), 0, "%s", place(s, e));
	sc_expect_log(expected_calls(s, row->action), place(s, e));
	cr_expect_eq(conn->state, row->to, "%s", place(s, e));
	expect_report(row->report, place(s, e));
	cr_expect_eq(user.qp_up,
		     row->action == RCM_ACT_QP_UP ||
			     row->action == RCM_ACT_QP_UP_ESTABLISH ||
			     row->action == RCM_ACT_QP_UP_SEND_REP,
		     "%s", place(s, e));
	cr_expect_eq(user.qp_down, ends && has_qp(s), "%s", place(s, e));
	end(conn);
}

Test(conn_rows, every_row_makes_its_calls_and_its_report)
{
	int n = 0;

	EACH_CELL
	{
		if (rcm_fsm_next(s, e)->kind != RCM_CELL_ROW)
			continue;
		row_does_what_it_says(s, e);
		n++;
	}
	cr_expect_eq(n, 80);
}

static int expected_misuse(enum rcm_fsm_state s, enum rcm_fsm_event e)
{
	if (e == RCM_EV_SHUTDOWN)
		return -FI_ENOTCONN;
	if (e != RCM_EV_CONNECT && e != RCM_EV_ACCEPT)
		return -FI_EOPBADSTATE;
	if (s == RCM_ST_CONNECTED)
		return -FI_EISCONN;
	if (s == RCM_ST_ACCEPTED && e == RCM_EV_ACCEPT)
		return -FI_EALREADY;
	if ((s == RCM_ST_ADDR || s == RCM_ST_ROUTE || s == RCM_ST_REQ_SENT) &&
	    e == RCM_EV_CONNECT)
		return -FI_EALREADY;
	return -FI_EOPBADSTATE;
}

/* LF#2344, LF#10405: wrong calls asserted, or gave a raw EINVAL */
Test(conn_rows, every_wrong_call_gets_an_error_and_changes_nothing)
{
	EACH_CELL
	{
		struct rcm_conn *conn;

		if (rcm_fsm_next(s, e)->kind != RCM_CELL_MISUSE)
			continue;
		conn = at(s);
		/* closing twice has nobody to return a code to */
		cr_expect_eq(fire(conn, e),
			     e == RCM_EV_CLOSE ? 0 : expected_misuse(s, e),
			     "%s", place(s, e));
		sc_expect_log("", place(s, e));
		cr_expect_eq(conn->state, s, "%s", place(s, e));
		cr_expect_eq(user.n_reports + user.qp_up + user.qp_down, 0);
		end(conn);
	}
}

/* LF#12362, LF#8434: events of a connection that was over already */
Test(conn_rows, every_late_event_is_counted_and_changes_nothing)
{
	EACH_CELL
	{
		struct rcm_conn *conn;

		if (rcm_fsm_next(s, e)->kind != RCM_CELL_LATE)
			continue;
		conn = at(s);
		fire(conn, e);
		sc_expect_log("", place(s, e));
		cr_expect_eq(conn->state, s, "%s", place(s, e));
		cr_expect_eq(conn->late, 1, "%s", place(s, e));
		cr_expect_eq(user.n_reports + user.qp_up + user.qp_down, 0);
		end(conn);
	}
}

/* Whether the Nth call of the action may fail without harm. */
static bool is_optional(enum rcm_fsm_action act, int n)
{
	if (act == RCM_ACT_RESOLVE_ADDR)
		return n == 2 || n == 3;
	if (act == RCM_ACT_DISCONNECT) /* a device that stops nothing */
		return n == 2;
	return act == RCM_ACT_QP_UP_SEND_REP && n <= 2;
}

static void row_with_a_failed_call(enum rcm_fsm_state s, enum rcm_fsm_event e,
				   int n)
{
	const struct rcm_fsm_row *row = rcm_fsm_next(s, e);
	struct rcm_conn *conn = at(s);
	bool fatal = !is_optional(row->action, n);
	int ret;

	sc.fail_call = n;
	sc.fail_err = -FI_ENOBUFS;
	ret = fire(conn, e);
	cr_expect_eq(ret, fatal && e <= RCM_EV_LAST_USER ? -FI_ENOBUFS : 0,
		     "%s call %d", place(s, e), n);
	cr_expect_eq(conn->state, fatal ? row->on_failure : row->to,
		     "%s call %d", place(s, e), n);
	expect_report(fatal ? row->report_failure : row->report, place(s, e));
	if (fatal && row->report_failure == RCM_REP_ERROR) {
		cr_expect_eq(user.reports[0].err, FI_ENOBUFS);
		cr_expect_eq(user.reports[0].prov_errno, -FI_ENOBUFS);
	}
	if (fatal && row->on_failure == RCM_ST_DOWN && has_qp(s)) {
		/* posted receives flush, and the peer does not wait */
		cr_expect_eq(user.qp_down, 1, "%s call %d", place(s, e), n);
		cr_expect_eq(strstr(sc.log, "reject") != NULL, has_request(s),
			     "%s call %d", place(s, e), n);
	}
	end(conn);
}

/* 486013572, 11bf5594e: failures inside the steps reached nobody */
Test(conn_rows, every_failed_call_gives_one_answer_and_leaves_nothing)
{
	int failures = 0;

	EACH_CELL
	{
		const struct rcm_fsm_row *row = rcm_fsm_next(s, e);
		struct rcm_conn *conn;
		int calls, n;

		if (row->kind != RCM_CELL_ROW || !rcm_fsm_may_fail(row->action))
			continue;
		conn = at(s);
		fire(conn, e);
		calls = sc.calls;
		end(conn);
		cr_expect_gt(calls, 0, "%s", place(s, e));
		for (n = 1; n <= calls; n++, failures++)
			row_with_a_failed_call(s, e, n);
	}
	cr_expect_gt(failures, 30);
}

/* what ends something goes on whatever the kernel says */
Test(conn_rows, every_failed_call_of_an_ending_row_changes_nothing)
{
	EACH_CELL
	{
		const struct rcm_fsm_row *row = rcm_fsm_next(s, e);
		int n;

		if (row->kind != RCM_CELL_ROW || rcm_fsm_may_fail(row->action))
			continue;
		for (n = 1; n <= 2; n++) {
			struct rcm_conn *conn = at(s);

			sc.fail_call = n;
			sc.fail_err = -FI_EINVAL;
			cr_expect_eq(fire(conn, e), 0, "%s", place(s, e));
			cr_expect_eq(conn->state, row->to, "%s", place(s, e));
			expect_report(row->report, place(s, e));
			end(conn);
		}
	}
}

/* fi_close in every state, then everything that may still arrive */
Test(conn_rows, nothing_is_told_after_close)
{
	enum rcm_fsm_state s;
	enum rcm_fsm_event e;

	for (s = 0; s < RCM_ST_CLOSED; s++) {
		struct rcm_conn *conn = at(s);

		rcm_conn_close(conn);
		user.n_reports = 0;
		user.qp_down = 0;
		sc_reset_log();
		for (e = RCM_EV_ADDR_OK; e < RCM_EV_COUNT; e++)
			fire(conn, e);
		sc_expect_log("", rcm_fsm_state_name(s));
		cr_expect_eq(user.n_reports + user.qp_up + user.qp_down, 0);
		cr_expect_eq(conn->late, RCM_EV_COUNT - RCM_EV_ADDR_OK);
		end(conn);
	}
}

/* While the kernel waits for the peer, the id's end tells it: no reject. */
Test(conn_rows, close_tells_the_peer_in_every_state_whose_turn_is_ours)
{
	enum rcm_fsm_state s;

	for (s = 0; s < RCM_ST_CLOSED; s++) {
		struct rcm_conn *conn = at(s);

		rcm_conn_close(conn);
		cr_expect_eq(strstr(sc.log, "reject") != NULL,
			     s == RCM_ST_REQ_RCVD || s == RCM_ST_REQ_READY,
			     "%s", rcm_fsm_state_name(s));
		cr_expect_eq(strstr(sc.log, "disconnect") != NULL,
			     s == RCM_ST_CONNECTED || s == RCM_ST_ACCEPTED,
			     "%s", rcm_fsm_state_name(s));
		end(conn);
	}
}
