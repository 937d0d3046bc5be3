/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Two connection machines, the kernel's connection manager below each, and a
 * network between them that loses and reorders: every state that the four of
 * them can get into is visited, with calls that fail, timers that run out,
 * devices that go and processes that die at any point.
 */

#include "rcm_fsm.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

/* What the kernel is at, for one id; after InfiniBand's CM. */
enum kernel {
	K_NONE, /* no id, or one that nothing was asked of */
	K_ADDR_ASKED,
	K_ADDR_DONE,
	K_ROUTE_ASKED,
	K_ROUTE_DONE,
	K_REQ_SENT,
	K_REP_RCVD,
	K_REQ_RCVD,
	K_REP_SENT,
	K_ESTAB,
	K_DREQ_SENT,
	K_DREQ_RCVD,
	K_TIMEWAIT,
	K_OVER, /* nothing will come of it */
	K_GONE, /* destroyed */
};

enum message {
	REQ,
	REP,
	RTU,
	REJ,
	DREQ,
	DREP,
	N_MESSAGES
};

#define MAX_QUEUE 4

struct side {
	uint8_t fsm;
	uint8_t kernel;
	uint8_t exists : 1;    /* the passive side begins with a request */
	uint8_t connected : 1; /* the user was told */
	uint8_t ended : 1;
	uint8_t owed : 1;	  /* fi_connect or fi_accept returned 0 */
	uint8_t disconnected : 1; /* the kernel says DISCONNECTED once */
	uint8_t device_gone : 1;
	uint8_t neighbour_gone : 1;
	uint8_t spare : 1;
	uint8_t n_queue;
	uint8_t queue[MAX_QUEUE];
	uint8_t arriving; /* messages on their way to this side, bits */
};

#define ACTIVE	0
#define PASSIVE 1

struct world {
	struct side side[2];
};

typedef const struct rcm_fsm_row *next_fn(enum rcm_fsm_state s,
					  enum rcm_fsm_event e);

#define TABLE_SIZE (1u << 22)
#define MAX_WORLDS (TABLE_SIZE / 2)

static struct {
	next_fn *next;
	struct world *worlds;
	uint32_t *parent;
	uint8_t *color; /* of the search for endless runs */
	uint32_t *table;
	uint32_t n;
	uint32_t from;	 /* the world whose steps are taken */
	uint32_t *after; /* where take() notes what it took, unless NULL */
	unsigned int n_after;
	char fault[128];
	uint64_t steps;
	unsigned int both_connected, refused;
} x;

static void fault(const char *what, int i)
{
	if (!x.fault[0])
		snprintf(x.fault, sizeof(x.fault), "%s side: %s",
			 i == ACTIVE ? "active" : "passive", what);
}

/* The table of worlds. */

static uint32_t hash(const struct world *w)
{
	const uint8_t *p = (const uint8_t *)w;
	uint64_t h = 14695981039346656037u;
	size_t i;

	for (i = 0; i < sizeof(*w); i++)
		h = (h ^ p[i]) * 1099511628211u;
	return (uint32_t)(h ^ h >> 29) & (TABLE_SIZE - 1);
}

/* Its number; a new one is to be visited. */
static uint32_t number_of(const struct world *w)
{
	uint32_t at = hash(w);

	for (; x.table[at]; at = (at + 1) & (TABLE_SIZE - 1)) {
		if (!memcmp(&x.worlds[x.table[at] - 1], w, sizeof(*w)))
			return x.table[at] - 1;
	}
	cr_assert_lt(x.n, MAX_WORLDS, "the model is larger than thought");
	x.worlds[x.n] = *w;
	x.parent[x.n] = x.from;
	x.table[at] = ++x.n;
	return x.n - 1;
}

/* The kernel. */

static void send(struct world *w, int i, enum message m)
{
	w->side[!i].arriving |= (uint8_t)(1 << m);
}

static void queue(struct side *s, enum rcm_fsm_event ev)
{
	cr_assert_lt(s->n_queue, MAX_QUEUE);
	s->queue[s->n_queue++] = (uint8_t)ev;
}

static void queue_disconnected(struct side *s)
{
	if (!s->disconnected)
		queue(s, RCM_EV_DISCONN);
	s->disconnected = 1;
}

static bool kernel_disconnect(struct world *w, int i)
{
	struct side *s = &w->side[i];

	switch (s->kernel) {
	case K_ESTAB:
		s->kernel = K_DREQ_SENT;
		send(w, i, DREQ);
		return true;
	case K_DREQ_RCVD:
		s->kernel = K_TIMEWAIT;
		send(w, i, DREP);
		return true;
	default:
		return s->kernel == K_DREQ_SENT || s->kernel == K_TIMEWAIT;
	}
}

/* What rdma_destroy_id() says before it has the last word of the peer. */
static bool kernel_give_up(struct world *w, int i)
{
	struct side *s = &w->side[i];

	switch (s->kernel) {
	case K_REQ_SENT:
	case K_REP_RCVD:
	case K_REQ_RCVD:
		s->kernel = K_OVER;
		break;
	case K_REP_SENT:
		s->kernel = K_TIMEWAIT;
		break;
	default:
		return false;
	}
	send(w, i, REJ);
	return true;
}

/* Beside what it says, the kernel goes on repeating what waits for an answer. */
static bool kernel_reject(struct world *w, int i)
{
	enum kernel k = w->side[i].kernel;

	if (k == K_REQ_SENT || k == K_REP_SENT)
		fault("a reject leaves the kernel waiting", i);
	return kernel_give_up(w, i);
}

static bool kernel_move(struct side *s, enum kernel from, enum kernel to)
{
	if (s->kernel != from)
		return false;
	s->kernel = to;
	return true;
}

static void kernel_destroy(struct world *w, int i)
{
	struct side *s = &w->side[i];

	if (!kernel_give_up(w, i))
		(void)kernel_disconnect(w, i);
	s->kernel = K_GONE;
	s->n_queue = 0;
	memset(s->queue, 0, sizeof(s->queue));
}

static void arrive_rej(struct side *s)
{
	switch (s->kernel) {
	case K_REQ_SENT:
	case K_REP_SENT:
	case K_REQ_RCVD:
		s->kernel = K_OVER;
		break;
	case K_REP_RCVD:
	case K_ESTAB:
	case K_DREQ_SENT:
		s->kernel = K_TIMEWAIT;
		break;
	default:
		return;
	}
	queue(s, RCM_EV_REJECTED);
}

static void arrive_dreq(struct world *w, int i)
{
	struct side *s = &w->side[i];

	switch (s->kernel) {
	case K_REP_SENT:
	case K_ESTAB:
	case K_DREQ_SENT:
		s->kernel = K_DREQ_RCVD;
		queue_disconnected(s);
		break;
	case K_TIMEWAIT:
		send(w, i, DREP);
		break;
	default:
		break;
	}
}

static void arrive(struct world *w, int i, enum message m)
{
	struct side *s = &w->side[i];

	s->arriving &= (uint8_t) ~(1 << m);
	switch (m) {
	case REQ:
		if (s->exists || s->kernel != K_NONE)
			break;
		s->exists = 1;
		s->fsm = RCM_ST_REQ_RCVD;
		s->kernel = K_REQ_RCVD;
		break;
	case REP:
		if (kernel_move(s, K_REQ_SENT, K_REP_RCVD))
			queue(s, RCM_EV_CONN_RESP);
		break;
	case RTU:
		if (kernel_move(s, K_REP_SENT, K_ESTAB))
			queue(s, RCM_EV_ESTAB);
		break;
	case REJ:
		arrive_rej(s);
		break;
	case DREQ:
		arrive_dreq(w, i);
		break;
	case DREP:
	default:
		if (kernel_move(s, K_DREQ_SENT, K_TIMEWAIT) ||
		    kernel_move(s, K_DREQ_RCVD, K_TIMEWAIT))
			queue_disconnected(s);
		break;
	}
}

/* The actions; false when the call fails. */

static void withdraw(struct world *w, int i)
{
	switch (w->side[i].fsm) {
	case RCM_ST_REQ_SENT:
	case RCM_ST_REQ_RCVD:
	case RCM_ST_REQ_READY:
	case RCM_ST_DOWN:
		(void)kernel_reject(w, i);
		break;
	default:
		break;
	}
}

static bool act_message(struct world *w, int i, enum kernel from,
			enum kernel to, enum message m)
{
	if (!kernel_move(&w->side[i], from, to))
		return false;
	send(w, i, m);
	return true;
}

static bool act(struct world *w, int i, enum rcm_fsm_action action)
{
	struct side *s = &w->side[i];

	switch (action) {
	case RCM_ACT_RESOLVE_ADDR:
		return kernel_move(s, K_NONE, K_ADDR_ASKED);
	case RCM_ACT_RESOLVE_ROUTE:
		return kernel_move(s, K_ADDR_DONE, K_ROUTE_ASKED);
	case RCM_ACT_SEND_REQ:
		return act_message(w, i, K_ROUTE_DONE, K_REQ_SENT, REQ);
	case RCM_ACT_QP_UP_ESTABLISH:
		return act_message(w, i, K_REP_RCVD, K_ESTAB, RTU);
	case RCM_ACT_QP_UP_SEND_REP:
		return act_message(w, i, K_REQ_RCVD, K_REP_SENT, REP);
	case RCM_ACT_SEND_REJ:
		return kernel_reject(w, i);
	case RCM_ACT_NOTIFY:
		if (!kernel_move(s, K_REP_SENT, K_ESTAB))
			return false;
		queue(s, RCM_EV_ESTAB);
		return true;
	case RCM_ACT_DISCONNECT:
		return kernel_disconnect(w, i);
	case RCM_ACT_DISCONNECT_QP_DOWN:
		(void)kernel_disconnect(w, i);
		return true;
	case RCM_ACT_REJECT_QP_DOWN:
		withdraw(w, i);
		return true;
	default:
		return true;
	}
}

/* The user. */

static void tell(struct side *s, int i, enum rcm_fsm_report rep)
{
	switch (rep) {
	case RCM_REP_CONNECTED:
		if (s->connected)
			fault("connected is told twice", i);
		if (s->ended)
			fault("connected is told after the end", i);
		s->connected = 1;
		break;
	case RCM_REP_SHUTDOWN:
	case RCM_REP_ERROR:
	case RCM_REP_REFUSED:
		if (s->ended)
			fault("the end is told twice", i);
		if (s->connected != (rep == RCM_REP_SHUTDOWN))
			fault("the wrong kind of end", i);
		s->ended = 1;
		x.refused += rep == RCM_REP_REFUSED;
		break;
	default:
		break;
	}
}

static bool waits(const struct side *s)
{
	return s->fsm == RCM_ST_ADDR || s->fsm == RCM_ST_ROUTE ||
	       s->fsm == RCM_ST_REQ_SENT || s->fsm == RCM_ST_ACCEPTED ||
	       s->fsm == RCM_ST_CLOSING;
}

/* What holds in every world. */
static void check(const struct world *w)
{
	int i;

	for (i = 0; i < 2; i++) {
		const struct side *s = &w->side[i];

		if (s->fsm == RCM_ST_DOWN && s->owed && !s->ended)
			fault("down, and the user was not told", i);
		if ((s->fsm == RCM_ST_CONNECTED || s->fsm == RCM_ST_CLOSING) !=
		    (s->connected && !s->ended && s->fsm != RCM_ST_CLOSED))
			fault("what was told is not the state", i);
		if (waits(s) && s->fsm != RCM_ST_CLOSING && s->ended)
			fault("still at it after the end", i);
	}
	x.both_connected += w->side[0].fsm == RCM_ST_CONNECTED &&
			    w->side[1].fsm == RCM_ST_CONNECTED;
}

/* Steps. Each makes a copy of the world and numbers the result. */

#define MAX_AFTER 64

static void take(const struct world *w)
{
	uint32_t n;

	x.steps++;
	check(w);
	n = number_of(w);
	if (x.after) {
		cr_assert_lt(x.n_after, MAX_AFTER);
		x.after[x.n_after++] = n;
	}
}

static void run_row(const struct world *from, int i, enum rcm_fsm_event ev,
		    bool call_fails)
{
	struct world w = *from;
	struct side *s = &w.side[i];
	const struct rcm_fsm_row *row = x.next(s->fsm, ev);
	bool ok;

	ok = !call_fails && act(&w, i, row->action);
	if (!ok && row->on_failure == RCM_ST_DOWN)
		withdraw(&w, i);
	s->fsm = (uint8_t)(ok ? row->to : row->on_failure);
	if (ok && (ev == RCM_EV_CONNECT || ev == RCM_EV_ACCEPT))
		s->owed = 1;
	tell(s, i, ok ? row->report : row->report_failure);
	take(&w);
}

static void apply(const struct world *w, int i, enum rcm_fsm_event ev)
{
	const struct rcm_fsm_row *row = x.next(w->side[i].fsm, ev);

	if (row->kind != RCM_CELL_ROW) {
		take(w);
		return;
	}
	run_row(w, i, ev, false);
	if (rcm_fsm_may_fail(row->action))
		run_row(w, i, ev, true);
}

static void pop(const struct world *from, int i)
{
	struct world w = *from;
	struct side *s = &w.side[i];
	enum rcm_fsm_event ev = s->queue[0];

	memmove(s->queue, s->queue + 1, MAX_QUEUE - 1);
	s->queue[MAX_QUEUE - 1] = 0;
	s->n_queue--;
	apply(&w, i, ev);
}

static void deliver(const struct world *from, int i, enum message m)
{
	struct world w = *from;

	if (m == REQ && !w.side[i].exists) {
		/* nobody listens */
		w.side[i].arriving &= (uint8_t) ~(1 << REQ);
		send(&w, i, REJ);
		take(&w);
		w = *from;
	}
	arrive(&w, i, m);
	take(&w);
	/* lost */
	w = *from;
	w.side[i].arriving &= (uint8_t) ~(1 << m);
	take(&w);
}

static void timer(const struct world *from, int i, enum kernel to,
		  enum rcm_fsm_event ev)
{
	struct world w = *from;
	struct side *s = &w.side[i];

	s->kernel = (uint8_t)to;
	if (ev == RCM_EV_DISCONN)
		queue_disconnected(s);
	else
		queue(s, ev);
	take(&w);
}

/* What comes without anybody's doing; false when nothing does. */
static bool kernel_steps(const struct world *w, int i)
{
	switch (w->side[i].kernel) {
	case K_ADDR_ASKED:
		timer(w, i, K_ADDR_DONE, RCM_EV_ADDR_OK);
		timer(w, i, K_OVER, RCM_EV_ADDR_ERR);
		return true;
	case K_ROUTE_ASKED:
		timer(w, i, K_ROUTE_DONE, RCM_EV_ROUTE_OK);
		timer(w, i, K_OVER, RCM_EV_ROUTE_ERR);
		return true;
	case K_REQ_SENT:
	case K_REP_SENT:
		timer(w, i, K_OVER, RCM_EV_CONN_ERR);
		return true;
	case K_DREQ_SENT:
		timer(w, i, K_TIMEWAIT, RCM_EV_DISCONN);
		return true;
	case K_TIMEWAIT:
		timer(w, i, K_OVER, RCM_EV_TIMEWAIT);
		return true;
	default:
		return false;
	}
}

/* Steps that happen in the end, whatever the users do. */
static bool inner_steps(const struct world *w)
{
	bool any = false;
	int i, m;

	for (i = 0; i < 2; i++) {
		if (w->side[i].n_queue) {
			pop(w, i);
			any = true;
		}
		for (m = 0; m < N_MESSAGES; m++) {
			if (w->side[i].arriving & 1 << m) {
				deliver(w, i, m);
				any = true;
			}
		}
		any |= kernel_steps(w, i);
	}
	return any;
}

static void device_goes(const struct world *from, int i)
{
	struct world w = *from;
	struct side *s = &w.side[i];

	if (s->device_gone || s->kernel == K_NONE || s->kernel == K_GONE ||
	    s->n_queue == MAX_QUEUE)
		return;
	s->device_gone = 1;
	s->kernel = K_OVER;
	queue(s, RCM_EV_DEV_GONE);
	take(&w);
}

/* kernels from 6.0 on tell any id of that address, connected or not */
static void neighbour_goes(const struct world *from, int i)
{
	struct world w = *from;
	struct side *s = &w.side[i];

	if (s->neighbour_gone || s->kernel < K_ROUTE_DONE ||
	    s->kernel > K_TIMEWAIT || s->n_queue == MAX_QUEUE)
		return;
	s->neighbour_gone = 1;
	queue(s, RCM_EV_CONN_ERR);
	take(&w);
}

static void process_ends(const struct world *from, int i, bool with_a_word)
{
	struct world w = *from;
	struct side *s = &w.side[i];

	if (with_a_word)
		kernel_destroy(&w, i);
	s->fsm = RCM_ST_CLOSED;
	s->kernel = K_GONE;
	s->n_queue = 0;
	memset(s->queue, 0, sizeof(s->queue));
	take(&w);
}

static void outer_steps(const struct world *w)
{
	int i, ev;

	for (i = 0; i < 2; i++) {
		const struct side *s = &w->side[i];

		if (!s->exists || s->kernel == K_GONE)
			continue;
		for (ev = 0; ev <= RCM_EV_LAST_USER; ev++)
			apply(w, i, ev);
		apply(w, i, RCM_EV_QP_ERR);
		if (w->side[!i].connected)
			apply(w, i, RCM_EV_COMM_EST);
		device_goes(w, i);
		neighbour_goes(w, i);
		process_ends(w, i, false);
		process_ends(w, i, true);
	}
}

/* Nothing will happen any more unless somebody does something. */
static void check_rest(const struct world *w)
{
	int i;

	for (i = 0; i < 2; i++) {
		const struct side *s = &w->side[i];

		if (waits(s))
			fault("waits for what will never come", i);
		if (s->fsm == RCM_ST_CONNECTED && s->kernel != K_ESTAB)
			fault("connected, and the kernel knows better", i);
	}
}

/* Everything from one active endpoint, enabled, and a listening peer. */
static void explore(next_fn *next)
{
	struct world first;
	uint32_t i;

	memset(&first, 0, sizeof(first));
	first.side[ACTIVE].exists = 1;
	first.side[ACTIVE].fsm = RCM_ST_READY;
	memset(&x, 0, sizeof(x));
	x.next = next;
	x.worlds = malloc(MAX_WORLDS * sizeof(*x.worlds));
	x.parent = malloc(MAX_WORLDS * sizeof(*x.parent));
	x.table = calloc(TABLE_SIZE, sizeof(*x.table));
	x.color = calloc(MAX_WORLDS, 1);
	cr_assert(x.worlds && x.parent && x.table && x.color);
	(void)number_of(&first);
	for (i = 0; i < x.n && !x.fault[0]; i++) {
		struct world w = x.worlds[i];

		x.from = i;
		if (!inner_steps(&w))
			check_rest(&w);
		outer_steps(&w);
	}
}

enum {
	NEW,
	OPEN,
	DONE
};

/* Left to itself, a world comes to rest: no run of inner steps is endless. */
static void come_to_rest(uint32_t i)
{
	uint32_t after[MAX_AFTER];
	struct world w = x.worlds[i];
	unsigned int n, k;

	x.color[i] = OPEN;
	x.after = after;
	x.n_after = 0;
	(void)inner_steps(&w);
	n = x.n_after;
	for (k = 0; k < n && !x.fault[0]; k++) {
		if (x.color[after[k]] == OPEN)
			fault("goes round in a circle", ACTIVE);
		else if (x.color[after[k]] == NEW)
			come_to_rest(after[k]);
	}
	x.color[i] = DONE;
}

static void print_way(uint32_t i)
{
	const struct world *w = &x.worlds[i];
	int k;

	if (i)
		print_way(x.parent[i]);
	for (k = 0; k < 2; k++)
		fprintf(stderr, "  %-9s kernel %2d queued %d arriving %02x%s",
			rcm_fsm_state_name(w->side[k].fsm), w->side[k].kernel,
			w->side[k].n_queue, w->side[k].arriving,
			k ? "\n" : " |");
}

static void finish(void)
{
	free(x.worlds);
	free(x.parent);
	free(x.table);
	free(x.color);
	memset(&x, 0, sizeof(x));
}

Test(fsm_explore, two_peers_come_to_one_end_each_whatever_happens)
{
	uint32_t i;

	explore(rcm_fsm_next);
	for (i = 0; i < x.n && !x.fault[0]; i++) {
		x.from = i;
		if (x.color[i] == NEW)
			come_to_rest(i);
	}
	if (x.fault[0])
		print_way(x.from);
	cr_assert_str_empty(x.fault, "%s", x.fault);
	cr_expect_gt(x.both_connected, 0);
	cr_expect_gt(x.refused, 0);
	cr_expect_gt(x.n, 1000000);
	fprintf(stderr, "%u worlds, %llu steps\n", x.n,
		(unsigned long long)x.steps);
	finish();
}

/* The same with one row missing: does the exploration see it? */

static enum rcm_fsm_state hole_state;
static enum rcm_fsm_event hole_event;

static const struct rcm_fsm_row *next_with_a_hole(enum rcm_fsm_state s,
						  enum rcm_fsm_event e)
{
	static const struct rcm_fsm_row late = { .kind = RCM_CELL_LATE };

	return s == hole_state && e == hole_event ? &late : rcm_fsm_next(s, e);
}

static void expect_a_fault(next_fn *next, const char *what)
{
	explore(next);
	cr_expect_str_not_empty(x.fault, "%s goes unnoticed", what);
	finish();
}

Test(fsm_explore, a_missing_row_is_noticed)
{
	static const struct {
		enum rcm_fsm_state s;
		enum rcm_fsm_event e;
	} holes[] = {
		{ RCM_ST_ADDR, RCM_EV_ADDR_ERR },
		{ RCM_ST_ADDR, RCM_EV_DEV_GONE },
		{ RCM_ST_ROUTE, RCM_EV_ROUTE_ERR },
		{ RCM_ST_ROUTE, RCM_EV_DEV_GONE },
		{ RCM_ST_REQ_SENT, RCM_EV_CONN_RESP },
		{ RCM_ST_REQ_SENT, RCM_EV_REJECTED },
		{ RCM_ST_REQ_SENT, RCM_EV_CONN_ERR },
		{ RCM_ST_REQ_SENT, RCM_EV_DEV_GONE },
		{ RCM_ST_ACCEPTED, RCM_EV_ESTAB },
		{ RCM_ST_ACCEPTED, RCM_EV_REJECTED },
		{ RCM_ST_ACCEPTED, RCM_EV_CONN_ERR },
		{ RCM_ST_ACCEPTED, RCM_EV_DISCONN },
		{ RCM_ST_ACCEPTED, RCM_EV_DEV_GONE },
		{ RCM_ST_CONNECTED, RCM_EV_DISCONN },
		{ RCM_ST_CONNECTED, RCM_EV_DEV_GONE },
		{ RCM_ST_CLOSING, RCM_EV_DISCONN },
		{ RCM_ST_CLOSING, RCM_EV_DEV_GONE },
	};
	size_t i;

	for (i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		hole_state = holes[i].s;
		hole_event = holes[i].e;
		expect_a_fault(next_with_a_hole,
			       rcm_fsm_event_name(hole_event));
	}
}

/* LF#9123: the cause and then the kernel's event, each told as the end */
static const struct rcm_fsm_row *next_that_tells_twice(enum rcm_fsm_state s,
						       enum rcm_fsm_event e)
{
	static const struct rcm_fsm_row again = {
		.kind = RCM_CELL_ROW,
		.to = RCM_ST_DOWN,
		.on_failure = RCM_ST_DOWN,
		.report = RCM_REP_SHUTDOWN,
	};

	return s == RCM_ST_DOWN && e == RCM_EV_DISCONN ? &again :
							 rcm_fsm_next(s, e);
}

/* LF#12362: what verbs does with ESTABLISHED in any state */
static const struct rcm_fsm_row *next_that_revives(enum rcm_fsm_state s,
						   enum rcm_fsm_event e)
{
	static const struct rcm_fsm_row up = {
		.kind = RCM_CELL_ROW,
		.to = RCM_ST_CONNECTED,
		.on_failure = RCM_ST_CONNECTED,
		.report = RCM_REP_CONNECTED,
	};

	return s == RCM_ST_DOWN && e == RCM_EV_ESTAB ? &up : rcm_fsm_next(s, e);
}

Test(fsm_explore, a_wrong_row_is_noticed)
{
	expect_a_fault(next_that_tells_twice, "a second end");
	expect_a_fault(next_that_revives, "a connection after its end");
}
