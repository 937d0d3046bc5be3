/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_conn_act.h"
#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_sys.h"

static struct rcm_conn *rcm_conn_alloc(enum rcm_fsm_state state)
{
	struct rcm_conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->kind = RCM_CM_CONN;
	conn->state = state;
	conn->cfg.tos = -1;
	return conn;
}

struct rcm_conn *rcm_conn_new(const struct rcm_conn_ops *ops, void *user)
{
	struct rcm_conn *conn = rcm_conn_alloc(RCM_ST_IDLE);

	if (conn) {
		conn->ops = ops;
		conn->user = user;
	}
	return conn;
}

struct rcm_conn *rcm_conn_from_request(const struct rcm_chan_event *ev,
				       struct rcm_chan *chan, int *err)
{
	struct rcm_conn *conn;
	const uint8_t *data;
	size_t len;

	*err = -rcm_wire_decode(ev->data, ev->data_len, &data, &len);
	if (*err)
		return NULL;
	conn = rcm_conn_alloc(RCM_ST_REQ_RCVD);
	if (!conn) {
		*err = FI_ENOMEM;
		return NULL;
	}
	/* cannot fail: these bytes come from a decoded field */
	(void)rcm_wire_encode(&conn->peer_wire, data, len);
	conn->peer_responder_resources = ev->responder_resources;
	conn->peer_initiator_depth = ev->initiator_depth;
	conn->chan = chan;
	conn->id = ev->id;
	conn->id->context = conn;
	return conn;
}

int rcm_conn_adopt(struct rcm_conn *conn, const struct rcm_conn_ops *ops,
		   void *user)
{
	conn->ops = ops;
	conn->user = user;
	return conn->failed;
}

static bool rcm_conn_is_fresh(const struct rcm_conn *conn)
{
	return conn->state == RCM_ST_IDLE || conn->state == RCM_ST_READY ||
	       conn->state == RCM_ST_REQ_RCVD ||
	       conn->state == RCM_ST_REQ_READY;
}

int rcm_conn_set_chan(struct rcm_conn *conn, struct rcm_chan *chan)
{
	struct rcm_chan *old = conn->chan;
	int ret = 0;

	if (!rcm_conn_is_fresh(conn))
		return conn->failed ? conn->failed : -FI_EOPBADSTATE;
	/* first: from the move on, the other channel's reader may be here */
	conn->chan = chan;
	if (conn->id && old != chan)
		ret = rcm_sys->migrate_id(conn->id, chan->ec);
	if (ret)
		conn->chan = old;
	return ret;
}

/* The answer to a call that does not fit the state. */
static int rcm_conn_misuse(const struct rcm_conn *conn, enum rcm_fsm_event ev)
{
	bool starts = ev == RCM_EV_CONNECT || ev == RCM_EV_ACCEPT;
	bool passive = conn->state == RCM_ST_ACCEPTED;

	if (conn->failed)
		return conn->failed;
	if (ev == RCM_EV_SHUTDOWN)
		return -FI_ENOTCONN;
	if (!starts)
		return -FI_EOPBADSTATE;
	switch (conn->state) {
	case RCM_ST_CONNECTED:
		return -FI_EISCONN;
	case RCM_ST_ADDR:
	case RCM_ST_ROUTE:
	case RCM_ST_REQ_SENT:
	case RCM_ST_ACCEPTED:
		return passive == (ev == RCM_EV_ACCEPT) ? -FI_EALREADY :
							  -FI_EOPBADSTATE;
	default:
		return -FI_EOPBADSTATE;
	}
}

static void rcm_conn_remember(struct rcm_conn *conn, enum rcm_fsm_state from,
			      enum rcm_fsm_event ev, int failed)
{
	unsigned int i = conn->n_history++ % RCM_CONN_HISTORY;

	conn->history[i].state = (uint8_t)from;
	conn->history[i].event = (uint8_t)ev;
	conn->history[i].to = (uint8_t)conn->state;
	conn->history[i].failed = (int16_t)failed;
}

static void rcm_conn_log_end(const struct rcm_conn *conn,
			     const struct rcm_conn_report *rep)
{
	char text[RCM_CONN_STR], history[RCM_CONN_HISTORY_STR];

	RCM_INFO(EP_CTRL, "%s: %s: %s; %s", rcm_conn_describe(conn, text),
		 rcm_fsm_report_name(rep->what),
		 rep->err ? rcm_err_cm_text(rep->prov_errno, NULL, 0) :
			    "as asked for",
		 rcm_conn_history(conn, history));
}

static void rcm_conn_tell(struct rcm_conn *conn,
			  const struct rcm_conn_report *rep)
{
	if (rep->what == RCM_REP_NONE || rep->what == RCM_REP_CALLER)
		return;
	if (rep->what != RCM_REP_CONNECTED)
		rcm_conn_log_end(conn, rep);
	if (conn->ops)
		conn->ops->report(conn, rep);
	else
		conn->failed = -rep->err;
}

/* The report of a row, or of its failed action. */
static void rcm_conn_report_row(struct rcm_conn *conn,
				const struct rcm_fsm_row *row, int ret,
				const struct rcm_conn_cause *cause)
{
	struct rcm_conn_report rep = { .what = row->report };

	if (ret) {
		rep.what = row->report_failure;
		rep.err = -ret;
		rep.prov_errno = cause && cause->bad_data ? -EPROTO : ret;
	} else if (cause) {
		rep.err = cause->err;
		rep.prov_errno = cause->prov_errno;
		rep.data = cause->data;
		rep.len = cause->len;
	}
	rcm_conn_tell(conn, &rep);
}

static int rcm_conn_late(struct rcm_conn *conn, enum rcm_fsm_event ev)
{
	char text[RCM_CONN_STR];

	conn->late++;
	RCM_DBG(EP_CTRL, "%s: %s comes too late", rcm_conn_describe(conn, text),
		rcm_fsm_event_name(ev));
	return 0;
}

int rcm_conn_handle(struct rcm_conn *conn, enum rcm_fsm_event ev,
		    const struct rcm_conn_cause *cause)
{
	const struct rcm_fsm_row *row = rcm_fsm_next(conn->state, ev);
	enum rcm_fsm_state from = conn->state;
	int ret;

	if (row->kind == RCM_CELL_LATE)
		return rcm_conn_late(conn, ev);
	if (row->kind == RCM_CELL_MISUSE)
		return rcm_conn_misuse(conn, ev);
	ret = rcm_conn_act(conn, row->action, cause);
	/* so that neither the peer nor a posted receive waits */
	if (ret && row->on_failure == RCM_ST_DOWN)
		rcm_conn_act(conn, RCM_ACT_REJECT_QP_DOWN, NULL);
	conn->state = ret ? row->on_failure : row->to;
	rcm_conn_remember(conn, from, ev, ret);
	rcm_conn_report_row(conn, row, ret, cause);
	return ret;
}

int rcm_conn_enable(struct rcm_conn *conn)
{
	return rcm_conn_handle(conn, RCM_EV_ENABLE, NULL);
}

/*
 * A call with data. What is on its way already keeps its own: the machine is
 * asked before anything is written.
 */
static int rcm_conn_call(struct rcm_conn *conn, enum rcm_fsm_event ev,
			 const void *data, size_t len)
{
	struct rcm_wire wire;
	int ret = rcm_wire_encode(&wire, data, len);

	if (ret)
		return ret;
	if (rcm_fsm_next(conn->state, ev)->kind == RCM_CELL_ROW)
		conn->wire = wire;
	return rcm_conn_handle(conn, ev, NULL);
}

int rcm_conn_connect(struct rcm_conn *conn, const union rcm_addr *dst,
		     const void *data, size_t len)
{
	if (!dst || !rcm_addr_len(&dst->sa))
		return -FI_EINVAL;
	if (rcm_fsm_next(conn->state, RCM_EV_CONNECT)->kind == RCM_CELL_ROW)
		conn->dst = *dst;
	return rcm_conn_call(conn, RCM_EV_CONNECT, data, len);
}

int rcm_conn_accept(struct rcm_conn *conn, const void *data, size_t len)
{
	return rcm_conn_call(conn, RCM_EV_ACCEPT, data, len);
}

int rcm_conn_reject(struct rcm_conn *conn, const void *data, size_t len)
{
	return rcm_conn_call(conn, RCM_EV_REJECT, data, len);
}

int rcm_conn_shutdown(struct rcm_conn *conn)
{
	static const struct rcm_conn_cause cause = {
		.err = FI_ECANCELED,
		.prov_errno = -FI_ECANCELED,
	};

	return rcm_conn_handle(conn, RCM_EV_SHUTDOWN, &cause);
}

void rcm_conn_qp_event(struct rcm_conn *conn, enum rcm_fsm_event ev)
{
	static const struct rcm_conn_cause cause = {
		.err = FI_ECONNABORTED,
		.prov_errno = -FI_ECONNABORTED,
	};

	if (ev == RCM_EV_QP_ERR || ev == RCM_EV_COMM_EST)
		(void)rcm_conn_handle(conn, ev, &cause);
}

void rcm_conn_close(struct rcm_conn *conn)
{
	(void)rcm_conn_handle(conn, RCM_EV_CLOSE, NULL);
}

void rcm_conn_free(struct rcm_conn *conn, struct rcm_lock *eq_lock)
{
	if (conn->id) {
		rcm_conn_destroy_id(conn->id, eq_lock);
	} else if (eq_lock) {
		rcm_lock(eq_lock);
		rcm_unlock(eq_lock);
	}
	free(conn);
}
