/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_fsm.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#define EACH_CELL                                             \
	for (enum rcm_fsm_state s = 0; s < RCM_ST_COUNT; s++) \
		for (enum rcm_fsm_event e = 0; e < RCM_EV_COUNT; e++)

static bool is_end(enum rcm_fsm_report rep)
{
	return rep == RCM_REP_SHUTDOWN || rep == RCM_REP_ERROR ||
	       rep == RCM_REP_REFUSED;
}

/* an answer is owed: the user may be waiting for a report */
static bool is_waiting(enum rcm_fsm_state s)
{
	return s == RCM_ST_ADDR || s == RCM_ST_ROUTE || s == RCM_ST_REQ_SENT ||
	       s == RCM_ST_ACCEPTED || s == RCM_ST_CLOSING;
}

static bool is_over(enum rcm_fsm_state s)
{
	return s == RCM_ST_DOWN || s == RCM_ST_CLOSED;
}

static bool was_connected(enum rcm_fsm_state s)
{
	return s == RCM_ST_CONNECTED || s == RCM_ST_CLOSING;
}

static bool takes_qp_down(enum rcm_fsm_action act)
{
	return act == RCM_ACT_QP_DOWN || act == RCM_ACT_REJECT_QP_DOWN ||
	       act == RCM_ACT_DISCONNECT_QP_DOWN;
}

static const char *where(enum rcm_fsm_state s, enum rcm_fsm_event e)
{
	static char buf[64];

	snprintf(buf, sizeof(buf), "%s %s", rcm_fsm_state_name(s),
		 rcm_fsm_event_name(e));
	return buf;
}

Test(fsm, cell_without_a_row_is_misuse_for_calls_and_late_for_events)
{
	unsigned int n[RCM_CELL_LATE + 1] = { 0 };

	EACH_CELL
	{
		const struct rcm_fsm_row *row = rcm_fsm_next(s, e);

		cr_assert_not_null(row);
		n[row->kind]++;
		if (row->kind != RCM_CELL_ROW)
			cr_expect_eq(row->kind,
				     e <= RCM_EV_LAST_USER ? RCM_CELL_MISUSE :
							     RCM_CELL_LATE,
				     "%s", where(s, e));
	}
	cr_expect_eq(n[RCM_CELL_ROW], 80);
	cr_expect_eq(n[RCM_CELL_ROW] + n[RCM_CELL_MISUSE] + n[RCM_CELL_LATE],
		     RCM_ST_COUNT * RCM_EV_COUNT);
}

Test(fsm, values_outside_the_enums_are_late)
{
	cr_expect_eq(rcm_fsm_next(RCM_ST_COUNT, RCM_EV_CLOSE)->kind,
		     RCM_CELL_LATE);
	cr_expect_eq(rcm_fsm_next(RCM_ST_IDLE, RCM_EV_COUNT)->kind,
		     RCM_CELL_LATE);
	cr_expect_eq(rcm_fsm_next((enum rcm_fsm_state) - 1, RCM_EV_CLOSE)->kind,
		     RCM_CELL_LATE);
	cr_expect_eq(rcm_fsm_next(RCM_ST_IDLE, (enum rcm_fsm_event) - 1)->kind,
		     RCM_CELL_LATE);
}

Test(fsm, close_leaves_every_state_and_nothing_leaves_closed)
{
	EACH_CELL
	{
		const struct rcm_fsm_row *row = rcm_fsm_next(s, e);

		if (s == RCM_ST_CLOSED) {
			cr_expect_neq(row->kind, RCM_CELL_ROW);
		} else if (e == RCM_EV_CLOSE) {
			cr_expect_eq(row->to, RCM_ST_CLOSED);
			cr_expect_eq(row->report, RCM_REP_NONE);
			cr_expect(!rcm_fsm_may_fail(row->action));
		}
	}
}

Test(fsm, every_state_is_reachable)
{
	bool seen[RCM_ST_COUNT] = {
		[RCM_ST_IDLE] = true, [RCM_ST_REQ_RCVD] = true
	};
	int round;

	for (round = 0; round < RCM_ST_COUNT; round++) {
		EACH_CELL
		{
			const struct rcm_fsm_row *row = rcm_fsm_next(s, e);

			if (!seen[s] || row->kind != RCM_CELL_ROW)
				continue;
			seen[row->to] = true;
			seen[row->on_failure] = true;
		}
	}
	for (round = 0; round < RCM_ST_COUNT; round++)
		cr_expect(seen[round], "%s", rcm_fsm_state_name(round));
}

Test(fsm, action_that_cannot_fail_says_nothing_of_failure)
{
	EACH_CELL
	{
		const struct rcm_fsm_row *row = rcm_fsm_next(s, e);

		if (row->kind != RCM_CELL_ROW || rcm_fsm_may_fail(row->action))
			continue;
		cr_expect_eq(row->on_failure, row->to, "%s", where(s, e));
		cr_expect_eq(row->report_failure, RCM_REP_NONE);
		cr_expect_neq(row->report, RCM_REP_CALLER);
	}
}

Test(fsm, failure_is_returned_to_a_caller_and_reported_to_nobody_else)
{
	EACH_CELL
	{
		const struct rcm_fsm_row *row = rcm_fsm_next(s, e);

		if (row->kind != RCM_CELL_ROW || !rcm_fsm_may_fail(row->action))
			continue;
		cr_expect_neq(row->report, RCM_REP_CALLER);
		if (e <= RCM_EV_LAST_USER)
			cr_expect_eq(row->report_failure, RCM_REP_CALLER);
		else if (row->on_failure != s)
			cr_expect_eq(row->report_failure, RCM_REP_ERROR);
		else
			cr_expect_eq(row->report_failure, RCM_REP_NONE);
	}
}

/* LF#9123, LF#8434: an endpoint was told its end twice */
Test(fsm, end_is_told_when_and_only_when_entering_down)
{
	EACH_CELL
	{
		const struct rcm_fsm_row *row = rcm_fsm_next(s, e);
		bool enters;

		if (row->kind != RCM_CELL_ROW)
			continue;
		enters = row->to == RCM_ST_DOWN && s != RCM_ST_DOWN;
		/* who rejects a request is not told that it ended */
		if (e != RCM_EV_REJECT)
			cr_expect_eq(is_end(row->report), enters, "%s",
				     where(s, e));
		cr_expect_eq(row->report == RCM_REP_CONNECTED,
			     row->to == RCM_ST_CONNECTED &&
				     s != RCM_ST_CONNECTED,
			     "%s", where(s, e));
		if (is_end(row->report))
			cr_expect_eq(row->report == RCM_REP_SHUTDOWN,
				     was_connected(s), "%s", where(s, e));
		if (is_over(s))
			cr_expect(!is_end(row->report));
	}
}

Test(fsm, every_way_down_takes_the_queue_pair_along)
{
	EACH_CELL
	{
		const struct rcm_fsm_row *row = rcm_fsm_next(s, e);

		if (row->kind != RCM_CELL_ROW || row->to != RCM_ST_DOWN ||
		    is_over(s))
			continue;
		/* REQ_RCVD has none yet; a rejecting row is REQ_READY's */
		if (s != RCM_ST_REQ_RCVD && e != RCM_EV_REJECT)
			cr_expect(takes_qp_down(row->action), "%s",
				  where(s, e));
	}
}

Test(fsm, every_wait_is_ended_by_every_failure_that_can_hit_it)
{
	static const enum rcm_fsm_event hits[] = { RCM_EV_CONN_ERR,
						   RCM_EV_DEV_GONE,
						   RCM_EV_QP_ERR };
	static const enum rcm_fsm_event cm_hits[] = { RCM_EV_REJECTED,
						      RCM_EV_DISCONN,
						      RCM_EV_TIMEWAIT };
	enum rcm_fsm_state s;
	size_t i;

	for (s = 0; s < RCM_ST_COUNT; s++) {
		if (!is_waiting(s) && s != RCM_ST_CONNECTED)
			continue;
		for (i = 0; i < 3; i++)
			cr_expect_eq(rcm_fsm_next(s, hits[i])->to, RCM_ST_DOWN,
				     "%s", where(s, hits[i]));
		if (s == RCM_ST_ADDR || s == RCM_ST_ROUTE)
			continue;
		for (i = 0; i < 3; i++)
			cr_expect_eq(rcm_fsm_next(s, cm_hits[i])->to,
				     RCM_ST_DOWN, "%s", where(s, cm_hits[i]));
	}
	cr_expect_eq(rcm_fsm_next(RCM_ST_ADDR, RCM_EV_ADDR_ERR)->to,
		     RCM_ST_DOWN);
	cr_expect_eq(rcm_fsm_next(RCM_ST_ROUTE, RCM_EV_ROUTE_ERR)->to,
		     RCM_ST_DOWN);
}

/* a bonding failover is a hint; verbs ends the connection with an error */
Test(fsm, address_change_never_ends_anything)
{
	enum rcm_fsm_state s;

	for (s = 0; s < RCM_ST_COUNT; s++) {
		const struct rcm_fsm_row *row =
			rcm_fsm_next(s, RCM_EV_ADDR_CHANGE);

		if (row->kind == RCM_CELL_ROW)
			cr_expect_eq(row->to, s);
	}
}

Test(fsm, names_are_there_and_differ)
{
	int i, k;

	for (i = 0; i < RCM_ST_COUNT; i++)
		for (k = 0; k < i; k++)
			cr_expect_str_neq(rcm_fsm_state_name(i),
					  rcm_fsm_state_name(k));
	for (i = 0; i < RCM_EV_COUNT; i++)
		for (k = 0; k < i; k++)
			cr_expect_str_neq(rcm_fsm_event_name(i),
					  rcm_fsm_event_name(k));
	for (i = 0; i < RCM_ACT_COUNT; i++)
		for (k = 0; k < i; k++)
			cr_expect_str_neq(rcm_fsm_action_name(i),
					  rcm_fsm_action_name(k));
	for (i = 0; i < RCM_REP_COUNT; i++)
		for (k = 0; k < i; k++)
			cr_expect_str_neq(rcm_fsm_report_name(i),
					  rcm_fsm_report_name(k));
	cr_expect_str_eq(rcm_fsm_state_name(RCM_ST_COUNT), "?");
	cr_expect_str_eq(rcm_fsm_event_name((enum rcm_fsm_event) - 1), "?");
	cr_expect_str_eq(rcm_fsm_action_name(RCM_ACT_COUNT), "?");
	cr_expect_str_eq(rcm_fsm_report_name(RCM_REP_COUNT), "?");
}

/*
 * A second description of the machine, by facts instead of states, written
 * from the man pages and not from the table. The walks compare the two.
 */
struct ref {
	bool passive, qp, started, up, shut, down, closed;
	int step; /* active: 0 address, 1 route, 2 request */
};

struct ref_answer {
	enum rcm_fsm_kind kind;
	enum rcm_fsm_report report;
};

#define ANSWER(kind, rep) ((struct ref_answer){ kind, RCM_REP_##rep })
#define MISUSE		  ANSWER(RCM_CELL_MISUSE, NONE)
#define LATE		  ANSWER(RCM_CELL_LATE, NONE)
#define OK(rep)		  ANSWER(RCM_CELL_ROW, rep)

static struct ref_answer ref_end(struct ref *r, bool hits, bool refused)
{
	if (!hits)
		return LATE;
	r->down = true;
	if (r->up)
		return OK(SHUTDOWN);
	return refused && r->started ? OK(REFUSED) : OK(ERROR);
}

static struct ref_answer ref_go(struct ref *r, bool fits, bool fails)
{
	if (!fits)
		return LATE;
	if (fails)
		return ref_end(r, true, false);
	if (r->passive || r->step == 2) {
		r->up = true;
		return OK(CONNECTED);
	}
	r->step++;
	return OK(NONE);
}

static struct ref_answer ref_shutdown(struct ref *r, bool fails)
{
	if (r->down || r->shut)
		return OK(NONE);
	if (!r->started)
		return MISUSE;
	if (!r->up)
		return ref_end(r, true, false);
	r->shut = !fails;
	return fails ? OK(CALLER) : OK(NONE);
}

static struct ref_answer ref_user(struct ref *r, enum rcm_fsm_event ev,
				  bool fails)
{
	bool fresh = !r->started && !r->down;

	if (ev == RCM_EV_CLOSE) {
		r->closed = true;
		return OK(NONE);
	}
	if (ev == RCM_EV_SHUTDOWN)
		return ref_shutdown(r, fails);
	if (ev == RCM_EV_ENABLE) {
		if (!fresh)
			return MISUSE;
		fails = fails && !r->qp;
		r->qp = r->qp || !fails;
	} else if (ev == RCM_EV_REJECT) {
		if (!fresh || !r->passive)
			return MISUSE;
		r->down = true;
	} else {
		if (!fresh || !r->qp || r->passive != (ev == RCM_EV_ACCEPT))
			return MISUSE;
		r->started = !fails;
		r->down = fails && r->passive;
	}
	return fails ? OK(CALLER) : OK(NONE);
}

static struct ref_answer ref_event(struct ref *r, enum rcm_fsm_event ev,
				   bool fails)
{
	bool going = r->started && !r->up;
	bool active = going && !r->passive;
	bool cm = r->passive || r->up || (r->started && r->step == 2);

	switch (ev) {
	case RCM_EV_ADDR_OK:
		return ref_go(r, active && r->step == 0, fails);
	case RCM_EV_ROUTE_OK:
		return ref_go(r, active && r->step == 1, fails);
	case RCM_EV_CONN_RESP:
		return ref_go(r, active && r->step == 2, fails);
	case RCM_EV_ESTAB:
		return ref_go(r, going && cm, fails && !r->passive);
	case RCM_EV_ADDR_ERR:
		return ref_end(r, active && r->step < 2, false);
	case RCM_EV_ROUTE_ERR:
		return ref_end(r, active && r->step == 1, false);
	case RCM_EV_REJECTED:
		return ref_end(r, cm, true);
	case RCM_EV_DISCONN:
	case RCM_EV_TIMEWAIT:
		return ref_end(r, cm, false);
	case RCM_EV_CONN_ERR:
	case RCM_EV_DEV_GONE:
		return ref_end(r, r->started || r->passive, false);
	case RCM_EV_QP_ERR:
		return ref_end(r, r->started || (r->passive && r->qp), false);
	case RCM_EV_COMM_EST:
		if (r->shut || !(r->up || (r->passive && r->started)))
			return LATE;
		return OK(NONE);
	default: /* ADDR_CHANGE */
		return r->up && !r->shut ? OK(NONE) : LATE;
	}
}

static struct ref_answer ref_step(struct ref *r, enum rcm_fsm_event ev,
				  bool fails)
{
	if (ev <= RCM_EV_LAST_USER)
		return r->closed ? MISUSE : ref_user(r, ev, fails);
	/* what the peer takes for a beginning is answered */
	if (r->down && !r->closed &&
	    (ev == RCM_EV_CONN_RESP || ev == RCM_EV_ESTAB))
		return OK(NONE);
	return r->closed || r->down ? LATE : ref_event(r, ev, fails);
}

static enum rcm_fsm_state ref_state(const struct ref *r)
{
	if (r->closed)
		return RCM_ST_CLOSED;
	if (r->down)
		return RCM_ST_DOWN;
	if (r->up)
		return r->shut ? RCM_ST_CLOSING : RCM_ST_CONNECTED;
	if (r->passive && r->started)
		return RCM_ST_ACCEPTED;
	if (r->passive)
		return r->qp ? RCM_ST_REQ_READY : RCM_ST_REQ_RCVD;
	if (r->started)
		return RCM_ST_ADDR + (enum rcm_fsm_state)r->step;
	return r->qp ? RCM_ST_READY : RCM_ST_IDLE;
}

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u +
		       1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

struct walk {
	enum rcm_fsm_state state;
	unsigned int connected, ends;
};

static void tell(struct walk *w, enum rcm_fsm_report rep)
{
	w->connected += rep == RCM_REP_CONNECTED;
	w->ends += is_end(rep);
	cr_assert_leq(w->connected, 1);
	cr_assert_leq(w->ends, 1);
	if (rep == RCM_REP_CONNECTED)
		cr_assert_eq(w->ends, 0);
	if (is_end(rep))
		cr_assert_eq(w->connected, rep == RCM_REP_SHUTDOWN);
}

/* half of the steps go forward: else most walks end before they begin */
static enum rcm_fsm_event choose(enum rcm_fsm_state s)
{
	static const enum rcm_fsm_event forward[RCM_ST_COUNT] = {
		[RCM_ST_IDLE] = RCM_EV_ENABLE,
		[RCM_ST_READY] = RCM_EV_CONNECT,
		[RCM_ST_ADDR] = RCM_EV_ADDR_OK,
		[RCM_ST_ROUTE] = RCM_EV_ROUTE_OK,
		[RCM_ST_REQ_SENT] = RCM_EV_CONN_RESP,
		[RCM_ST_REQ_RCVD] = RCM_EV_ENABLE,
		[RCM_ST_REQ_READY] = RCM_EV_ACCEPT,
		[RCM_ST_ACCEPTED] = RCM_EV_ESTAB,
		[RCM_ST_CONNECTED] = RCM_EV_SHUTDOWN,
	};

	return random_below(2) ? forward[s] : random_below(RCM_EV_COUNT);
}

static void one_step(struct walk *w, struct ref *r)
{
	enum rcm_fsm_event ev = choose(w->state);
	const struct rcm_fsm_row *row = rcm_fsm_next(w->state, ev);
	bool fails = random_below(8) == 0;
	struct ref_answer a;

	a = ref_step(r, ev, fails);
	cr_assert_eq(row->kind, a.kind, "%s", where(w->state, ev));
	if (row->kind != RCM_CELL_ROW)
		return;
	fails = fails && rcm_fsm_may_fail(row->action);
	cr_assert_eq(fails ? row->report_failure : row->report, a.report, "%s",
		     where(w->state, ev));
	tell(w, a.report);
	w->state = fails ? row->on_failure : row->to;
	cr_assert_eq(w->state, ref_state(r), "%s", rcm_fsm_event_name(ev));
}

Test(fsm, ten_thousand_random_walks_agree_with_a_second_description)
{
	unsigned int visits[RCM_ST_COUNT] = { 0 };
	int walk, i;

	random_state = 20261129;
	for (walk = 0; walk < 10000; walk++) {
		struct ref r = { .passive = walk & 1 };
		struct walk w = { .state = ref_state(&r) };

		for (i = 0; i < 100; i++) {
			visits[w.state]++;
			one_step(&w, &r);
		}
	}
	for (i = 0; i < RCM_ST_COUNT; i++)
		cr_expect_gt(visits[i], 100, "%s", rcm_fsm_state_name(i));
}

/* the short way through each cell, with the second description beside it */
Test(fsm, every_cell_agrees_with_a_second_description)
{
	static const struct ref at[RCM_ST_COUNT] = {
		[RCM_ST_READY] = { .qp = true },
		[RCM_ST_ADDR] = { .qp = true, .started = true },
		[RCM_ST_ROUTE] = { .qp = true, .started = true, .step = 1 },
		[RCM_ST_REQ_SENT] = { .qp = true, .started = true, .step = 2 },
		[RCM_ST_REQ_RCVD] = { .passive = true },
		[RCM_ST_REQ_READY] = { .passive = true, .qp = true },
		[RCM_ST_ACCEPTED] = { .passive = true,
				      .qp = true,
				      .started = true },
		[RCM_ST_CONNECTED] = { .qp = true,
				       .started = true,
				       .step = 2,
				       .up = true },
		[RCM_ST_CLOSING] = { .qp = true,
				     .started = true,
				     .step = 2,
				     .up = true,
				     .shut = true },
		[RCM_ST_DOWN] = { .qp = true, .started = true, .down = true },
		[RCM_ST_CLOSED] = { .closed = true },
	};

	EACH_CELL
	{
		const struct rcm_fsm_row *row = rcm_fsm_next(s, e);
		int fails;

		for (fails = 0; fails < 2; fails++) {
			struct ref r = at[s];
			struct ref_answer a;
			bool failed;

			cr_assert_eq(ref_state(&r), s);
			a = ref_step(&r, e, fails);
			cr_expect_eq(row->kind, a.kind, "%s", where(s, e));
			if (row->kind != RCM_CELL_ROW)
				continue;
			failed = fails && rcm_fsm_may_fail(row->action);
			cr_expect_eq(failed ? row->on_failure : row->to,
				     ref_state(&r), "%s", where(s, e));
			cr_expect_eq(failed ? row->report_failure : row->report,
				     a.report, "%s", where(s, e));
		}
	}
}
