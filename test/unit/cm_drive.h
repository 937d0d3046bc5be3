/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef CM_DRIVE_H
#define CM_DRIVE_H

/* Brings connections on the stand-in into any state, and notes reports. */

#include "cm_script.h"

#define MAX_REPORTS 8

static struct user {
	struct rcm_conn_report reports[MAX_REPORTS];
	uint8_t data[MAX_REPORTS][RCM_CM_DATA_MAX];
	int n_reports, qp_up, qp_down;
	struct ibv_qp qp;
} user;

static struct acceptor {
	struct rcm_listener l;
	struct rcm_conn *conn; /* of the last request */
	int requests, refused, last_err;
	int failed, failed_err, failed_prov;
} acceptor;

static struct rcm_chan chan;

static struct ibv_context sc_ctx[2] = {
	{ .device = &sc_devices[0] },
	{ .device = &sc_devices[1] },
};

static inline int user_qp_create(struct rcm_conn *conn)
{
	int ret = sc_call("qp_create");

	cr_assert_eq(conn->user, &user);
	if (!ret)
		conn->qp = &user.qp;
	return ret;
}

static inline void user_qp_up(struct rcm_conn *conn)
{
	cr_assert_eq(conn->user, &user);
	cr_assert_eq(user.n_reports, 0);
	user.qp_up++;
}

static inline void user_qp_down(struct rcm_conn *conn)
{
	cr_assert_eq(conn->user, &user);
	user.qp_down++;
}

static inline void user_report(struct rcm_conn *conn,
			       const struct rcm_conn_report *rep)
{
	int i = user.n_reports++;

	cr_assert_eq(conn->user, &user);
	cr_assert_lt(i, MAX_REPORTS);
	cr_assert_leq(rep->len, RCM_CM_DATA_MAX);
	user.reports[i] = *rep;
	if (rep->len)
		memcpy(user.data[i], rep->data, rep->len);
}

static const struct rcm_conn_ops user_ops = {
	.qp_create = user_qp_create,
	.qp_up = user_qp_up,
	.qp_down = user_qp_down,
	.report = user_report,
};

static inline void on_connreq(struct rcm_listener *l, struct rcm_conn *conn,
			      int err)
{
	cr_assert_eq(l, &acceptor.l);
	cr_assert_eq(conn == NULL, err != 0);
	acceptor.conn = conn;
	acceptor.last_err = err;
	acceptor.requests++;
	acceptor.refused += conn == NULL;
}

static inline void on_failed(struct rcm_listener *l, int err, int prov_errno)
{
	cr_assert_eq(l, &acceptor.l);
	acceptor.failed++;
	acceptor.failed_err = err;
	acceptor.failed_prov = prov_errno;
}

static inline union rcm_addr address(const char *ip, uint16_t port)
{
	union rcm_addr addr;

	memset(&addr, 0, sizeof(addr));
	addr.in.sin_family = AF_INET;
	addr.in.sin_port = htons(port);
	addr.in.sin_addr.s_addr = htonl(0x0a4d0000 + (uint32_t)atoi(ip));
	return addr;
}

static inline void configure(struct rcm_conn *conn)
{
	conn->cfg = (struct rcm_conn_cfg){
		.dev_name = "rxe0",
		.resolve_timeout = 1234,
		.retry_count = 5,
		.rnr_retry = 6,
		.min_rnr_timer = 12,
		.ack_timeout = 17,
		.tos = 96,
		.responder_resources = 16,
		.initiator_depth = 8,
	};
}

static inline void drive_start(void)
{
	sc_start();
	memset(&user, 0, sizeof(user));
	memset(&acceptor, 0, sizeof(acceptor));
	user.qp.qp_num = 0x11;
	chan.ec = &sc.ec;
}

/* an event as rcm_chan_next() gives it */
static inline void event_status_data(struct rcm_conn *conn,
				     enum rdma_cm_event_type type, int status,
				     const void *data, size_t len)
{
	struct rcm_chan_event ev = {
		.type = type,
		.status = status,
		.context = conn,
		.data_len = (uint8_t)len,
	};

	/* what rdma_cm does before it tells */
	if (type == RDMA_CM_EVENT_ADDR_RESOLVED && conn->id)
		conn->id->verbs = &sc_ctx[sc.dev];
	if (len)
		memcpy(ev.data, data, len);
	rcm_conn_dispatch(&ev);
}

static inline void event(struct rcm_conn *conn, enum rdma_cm_event_type type)
{
	event_status_data(conn, type, 0, NULL, 0);
}

/* a request; its id is made here as the library would */
static inline struct rcm_conn *request(const void *data, size_t len)
{
	struct rcm_chan_event ev = {
		.type = RDMA_CM_EVENT_CONNECT_REQUEST,
		.context = &acceptor.l,
		.responder_resources = 4,
		.initiator_depth = 3,
		.data_len = (uint8_t)len,
	};
	union rcm_addr local = address("1", 7471), peer = address("2", 40000);
	struct sc_id *sid;

	if (!acceptor.l.id) {
		acceptor.l.connreq = on_connreq;
		acceptor.l.failed = on_failed;
		cr_assert_eq(rcm_listener_bind(&acceptor.l, &chan, &local), 0);
		cr_assert_eq(rcm_listener_listen(&acceptor.l, 10), 0);
	}
	cr_assert_eq(sc_create_id(&sc.ec, &ev.id, &acceptor.l), 0);
	sid = rcm_container_of(ev.id, struct sc_id, id);
	memcpy(&sid->local, &local, sizeof(local.in));
	memcpy(&sid->peer, &peer, sizeof(peer.in));
	ev.id->verbs = &sc_ctx[sc.dev];
	if (len)
		memcpy(ev.data, data, len);
	acceptor.conn = NULL;
	rcm_conn_dispatch(&ev);
	return acceptor.conn;
}

static inline struct rcm_conn *adopted_request(void)
{
	uint8_t none[RCM_WIRE_MAX] = { 0 };
	struct rcm_conn *conn = request(none, sizeof(none));

	cr_assert_not_null(conn);
	cr_assert_eq(rcm_conn_adopt(conn, &user_ops, &user), 0);
	configure(conn);
	return conn;
}

static inline void end(struct rcm_conn *conn)
{
	sc.fail_call = 0;
	if (conn->state != RCM_ST_CLOSED)
		rcm_conn_close(conn);
	rcm_conn_free(conn, NULL);
	if (acceptor.l.id)
		rcm_listener_close(&acceptor.l, NULL);
	cr_expect_eq(sc.ids, 0, "%d ids are left", sc.ids);
}

static inline struct rcm_conn *at_passive(enum rcm_fsm_state state)
{
	struct rcm_conn *conn = adopted_request();

	if (state != RCM_ST_REQ_RCVD)
		cr_assert_eq(rcm_conn_enable(conn), 0);
	if (state == RCM_ST_ACCEPTED)
		cr_assert_eq(rcm_conn_accept(conn, NULL, 0), 0);
	return conn;
}

static inline struct rcm_conn *at_active(enum rcm_fsm_state state)
{
	struct rcm_conn *conn = rcm_conn_new(&user_ops, &user);
	union rcm_addr dst = address("1", 7471);

	cr_assert_not_null(conn);
	configure(conn);
	cr_assert_eq(rcm_conn_set_chan(conn, &chan), 0);
	if (conn->state != state)
		cr_assert_eq(rcm_conn_enable(conn), 0);
	if (conn->state != state)
		cr_assert_eq(rcm_conn_connect(conn, &dst, NULL, 0), 0);
	if (conn->state != state)
		event(conn, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (conn->state != state)
		event(conn, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (conn->state != state)
		event(conn, RDMA_CM_EVENT_CONNECT_RESPONSE);
	if (conn->state != state)
		cr_assert_eq(rcm_conn_shutdown(conn), 0);
	if (conn->state != state)
		event(conn, RDMA_CM_EVENT_DISCONNECTED);
	if (conn->state != state)
		rcm_conn_close(conn);
	return conn;
}

/* A connection in STATE, with what led there forgotten. */
static inline struct rcm_conn *at(enum rcm_fsm_state state)
{
	struct rcm_conn *conn;

	drive_start();
	if (state == RCM_ST_REQ_RCVD || state == RCM_ST_REQ_READY ||
	    state == RCM_ST_ACCEPTED)
		conn = at_passive(state);
	else
		conn = at_active(state);
	cr_assert_eq(conn->state, state);
	sc_reset_log();
	user.n_reports = 0;
	user.qp_up = 0;
	user.qp_down = 0;
	return conn;
}

/* Any event of the machine, from where it comes in life. */
static inline int fire(struct rcm_conn *conn, enum rcm_fsm_event ev)
{
	static const enum rdma_cm_event_type types[RCM_EV_COUNT] = {
		[RCM_EV_ADDR_OK] = RDMA_CM_EVENT_ADDR_RESOLVED,
		[RCM_EV_ADDR_ERR] = RDMA_CM_EVENT_ADDR_ERROR,
		[RCM_EV_ROUTE_OK] = RDMA_CM_EVENT_ROUTE_RESOLVED,
		[RCM_EV_ROUTE_ERR] = RDMA_CM_EVENT_ROUTE_ERROR,
		[RCM_EV_CONN_RESP] = RDMA_CM_EVENT_CONNECT_RESPONSE,
		[RCM_EV_ESTAB] = RDMA_CM_EVENT_ESTABLISHED,
		[RCM_EV_REJECTED] = RDMA_CM_EVENT_REJECTED,
		[RCM_EV_CONN_ERR] = RDMA_CM_EVENT_UNREACHABLE,
		[RCM_EV_DISCONN] = RDMA_CM_EVENT_DISCONNECTED,
		[RCM_EV_TIMEWAIT] = RDMA_CM_EVENT_TIMEWAIT_EXIT,
		[RCM_EV_DEV_GONE] = RDMA_CM_EVENT_DEVICE_REMOVAL,
		[RCM_EV_ADDR_CHANGE] = RDMA_CM_EVENT_ADDR_CHANGE,
	};
	union rcm_addr dst = address("1", 7471);

	switch (ev) {
	case RCM_EV_ENABLE:
		return rcm_conn_enable(conn);
	case RCM_EV_CONNECT:
		return rcm_conn_connect(conn, &dst, NULL, 0);
	case RCM_EV_ACCEPT:
		return rcm_conn_accept(conn, NULL, 0);
	case RCM_EV_REJECT:
		return rcm_conn_reject(conn, NULL, 0);
	case RCM_EV_SHUTDOWN:
		return rcm_conn_shutdown(conn);
	case RCM_EV_CLOSE:
		rcm_conn_close(conn);
		return 0;
	case RCM_EV_QP_ERR:
	case RCM_EV_COMM_EST:
		rcm_conn_qp_event(conn, ev);
		return 0;
	default:
		event(conn, types[ev]);
		return 0;
	}
}

static inline const char *place(enum rcm_fsm_state s, enum rcm_fsm_event e)
{
	static char buf[64];

	snprintf(buf, sizeof(buf), "%s %s", rcm_fsm_state_name(s),
		 rcm_fsm_event_name(e));
	return buf;
}

#endif /* CM_DRIVE_H */
