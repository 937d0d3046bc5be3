/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_fsm.h"

#define ROW(from, event, act, next, fail, rep, rep_fail)          \
	[RCM_ST_##from][RCM_EV_##event] = {                       \
		RCM_CELL_ROW,  RCM_ACT_##act, RCM_ST_##next,      \
		RCM_ST_##fail, RCM_REP_##rep, RCM_REP_##rep_fail, \
	},
#define SURE(from, event, act, next, rep) \
	ROW(from, event, act, next, next, rep, NONE)

/* a cell that stays zero is none of the three kinds: it has no row */
static const struct rcm_fsm_row rcm_fsm[RCM_ST_COUNT][RCM_EV_COUNT] = {
#include "rcm_fsm.def"
};

static const struct rcm_fsm_row rcm_fsm_misuse = { .kind = RCM_CELL_MISUSE };
static const struct rcm_fsm_row rcm_fsm_late = { .kind = RCM_CELL_LATE };

const struct rcm_fsm_row *rcm_fsm_next(enum rcm_fsm_state state,
				       enum rcm_fsm_event event)
{
	const struct rcm_fsm_row *row;

	if ((unsigned int)state >= RCM_ST_COUNT ||
	    (unsigned int)event >= RCM_EV_COUNT)
		return &rcm_fsm_late;
	row = &rcm_fsm[state][event];
	if (row->kind == RCM_CELL_ROW)
		return row;
	return event <= RCM_EV_LAST_USER ? &rcm_fsm_misuse : &rcm_fsm_late;
}

bool rcm_fsm_may_fail(enum rcm_fsm_action action)
{
	return action > RCM_ACT_NONE && action < RCM_ACT_QP_DOWN;
}

static const char *rcm_fsm_name(const char *const *names, unsigned int n,
				unsigned int i)
{
	return i < n ? names[i] : "?";
}

const char *rcm_fsm_state_name(enum rcm_fsm_state state)
{
#define NAME(x) [RCM_ST_##x] = #x
	static const char *const names[RCM_ST_COUNT] = {
		NAME(IDLE),	 NAME(READY),	 NAME(ADDR),
		NAME(ROUTE),	 NAME(REQ_SENT), NAME(REQ_RCVD),
		NAME(REQ_READY), NAME(ACCEPTED), NAME(CONNECTED),
		NAME(CLOSING),	 NAME(DOWN),	 NAME(CLOSED),
	};
#undef NAME
	return rcm_fsm_name(names, RCM_ST_COUNT, state);
}

const char *rcm_fsm_event_name(enum rcm_fsm_event event)
{
#define NAME(x) [RCM_EV_##x] = #x
	static const char *const names[RCM_EV_COUNT] = {
		NAME(ENABLE),	 NAME(CONNECT),	  NAME(ACCEPT),
		NAME(REJECT),	 NAME(SHUTDOWN),  NAME(CLOSE),
		NAME(ADDR_OK),	 NAME(ADDR_ERR),  NAME(ROUTE_OK),
		NAME(ROUTE_ERR), NAME(CONN_RESP), NAME(ESTAB),
		NAME(REJECTED),	 NAME(CONN_ERR),  NAME(DISCONN),
		NAME(TIMEWAIT),	 NAME(DEV_GONE),  NAME(ADDR_CHANGE),
		NAME(QP_ERR),	 NAME(COMM_EST),
	};
#undef NAME
	return rcm_fsm_name(names, RCM_EV_COUNT, event);
}

const char *rcm_fsm_action_name(enum rcm_fsm_action action)
{
	static const char *const names[RCM_ACT_COUNT] = {
		[RCM_ACT_NONE] = "none",
		[RCM_ACT_QP_CREATE] = "qp_create",
		[RCM_ACT_RESOLVE_ADDR] = "resolve_addr",
		[RCM_ACT_RESOLVE_ROUTE] = "resolve_route",
		[RCM_ACT_SEND_REQ] = "send_req",
		[RCM_ACT_QP_UP] = "qp_up",
		[RCM_ACT_QP_UP_ESTABLISH] = "qp_up_establish",
		[RCM_ACT_QP_UP_SEND_REP] = "qp_up_send_rep",
		[RCM_ACT_SEND_REJ] = "send_rej",
		[RCM_ACT_NOTIFY] = "notify",
		[RCM_ACT_DISCONNECT] = "disconnect",
		[RCM_ACT_QP_DOWN] = "qp_down",
		[RCM_ACT_REJECT_QP_DOWN] = "reject_qp_down",
		[RCM_ACT_DISCONNECT_QP_DOWN] = "disconnect_qp_down",
	};
	return rcm_fsm_name(names, RCM_ACT_COUNT, action);
}

const char *rcm_fsm_report_name(enum rcm_fsm_report report)
{
	static const char *const names[RCM_REP_COUNT] = {
		[RCM_REP_NONE] = "none",
		[RCM_REP_CONNECTED] = "connected",
		[RCM_REP_SHUTDOWN] = "shutdown",
		[RCM_REP_ERROR] = "error",
		[RCM_REP_REFUSED] = "refused",
		[RCM_REP_CALLER] = "to caller",
	};
	return rcm_fsm_name(names, RCM_REP_COUNT, report);
}
