/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_FSM_H
#define RCM_FSM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The connection state machine as a table (rcm_fsm.def): pure look-up, no
 * lock, no I/O, no header but libc's. The rows are printed into
 * docs/cm-fsm.md, and explored exhaustively by a test.
 */
enum rcm_fsm_state {
	RCM_ST_IDLE,	  /* made for connecting, not enabled */
	RCM_ST_READY,	  /* enabled: has its queue pair */
	RCM_ST_ADDR,	  /* resolving the address */
	RCM_ST_ROUTE,	  /* resolving the route */
	RCM_ST_REQ_SENT,  /* waiting for the peer's answer */
	RCM_ST_REQ_RCVD,  /* made from a request, not enabled */
	RCM_ST_REQ_READY, /* the same, enabled */
	RCM_ST_ACCEPTED,  /* answered, waiting for the peer's last word */
	RCM_ST_CONNECTED,
	RCM_ST_CLOSING, /* this side has shut down */
	RCM_ST_DOWN,	/* its end has been reported */
	RCM_ST_CLOSED,	/* no more events; the memory may go */
	RCM_ST_COUNT
};

enum rcm_fsm_event {
	/* the user's calls: answered by a return code */
	RCM_EV_ENABLE,
	RCM_EV_CONNECT,
	RCM_EV_ACCEPT,
	RCM_EV_REJECT,
	RCM_EV_SHUTDOWN,
	RCM_EV_CLOSE,
	/* rdma_cm's events */
	RCM_EV_ADDR_OK,
	RCM_EV_ADDR_ERR,
	RCM_EV_ROUTE_OK,
	RCM_EV_ROUTE_ERR,
	RCM_EV_CONN_RESP,
	RCM_EV_ESTAB,
	RCM_EV_REJECTED,
	RCM_EV_CONN_ERR, /* CONNECT_ERROR, UNREACHABLE */
	RCM_EV_DISCONN,
	RCM_EV_TIMEWAIT,
	RCM_EV_DEV_GONE,
	RCM_EV_ADDR_CHANGE,
	/* the queue pair's */
	RCM_EV_QP_ERR,
	RCM_EV_COMM_EST,
	RCM_EV_COUNT
};
#define RCM_EV_LAST_USER RCM_EV_CLOSE

enum rcm_fsm_action {
	RCM_ACT_NONE,
	RCM_ACT_QP_CREATE,
	RCM_ACT_RESOLVE_ADDR,
	RCM_ACT_RESOLVE_ROUTE,
	RCM_ACT_SEND_REQ,
	RCM_ACT_QP_UP,
	RCM_ACT_QP_UP_ESTABLISH,
	RCM_ACT_QP_UP_SEND_REP,
	RCM_ACT_SEND_REJ,
	RCM_ACT_NOTIFY,
	RCM_ACT_DISCONNECT,
	/* these end something, as far as it is there, and do not fail */
	RCM_ACT_QP_DOWN,
	RCM_ACT_REJECT_QP_DOWN,
	RCM_ACT_DISCONNECT_QP_DOWN,
	RCM_ACT_COUNT
};

/* What the user is told on the event queue. */
enum rcm_fsm_report {
	RCM_REP_NONE,
	RCM_REP_CONNECTED,
	RCM_REP_SHUTDOWN,
	RCM_REP_ERROR,
	RCM_REP_REFUSED,
	RCM_REP_CALLER, /* the failure is the call's return code */
	RCM_REP_COUNT
};

/* A cell without a row of its own has one of two answers. */
enum rcm_fsm_kind {
	RCM_CELL_ROW = 1,
	RCM_CELL_MISUSE, /* a user's call in a wrong state: -FI_EOPBADSTATE */
	RCM_CELL_LATE,	 /* an event that comes too late: counted, ignored */
};

struct rcm_fsm_row {
	enum rcm_fsm_kind kind; /* the rest is meant for RCM_CELL_ROW only */
	enum rcm_fsm_action action;
	enum rcm_fsm_state to;
	enum rcm_fsm_state on_failure; /* the state when the action fails */
	enum rcm_fsm_report report;
	enum rcm_fsm_report report_failure;
};

/*
 * The answer to EVENT in STATE, never NULL. For a value outside the enums it
 * is RCM_CELL_LATE.
 */
const struct rcm_fsm_row *rcm_fsm_next(enum rcm_fsm_state state,
				       enum rcm_fsm_event event);

/*
 * Whether the action can fail at all. One that cannot has on_failure equal
 * to "to", and nothing to report of a failure.
 */
bool rcm_fsm_may_fail(enum rcm_fsm_action action);

/* Names without their prefix, "?" outside the enum. */
const char *rcm_fsm_state_name(enum rcm_fsm_state state);
const char *rcm_fsm_event_name(enum rcm_fsm_event event);
const char *rcm_fsm_action_name(enum rcm_fsm_action action);
const char *rcm_fsm_report_name(enum rcm_fsm_report report);

#endif /* RCM_FSM_H */
