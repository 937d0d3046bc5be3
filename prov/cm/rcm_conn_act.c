/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* The actions of the connection machine, one function for each. */

#include "rcm_conn_act.h"

#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_sys.h"

/* An answer without user data is still one that libfabric understands. */
static const struct rcm_wire rcm_conn_no_data;

static int rcm_conn_failed(const struct rcm_conn *conn, const char *step,
			   int ret)
{
	char text[RCM_CONN_STR];

	RCM_WARN(EP_CTRL, "%s: %s failed: %s", rcm_conn_describe(conn, text),
		 step, fi_strerror(-ret));
	return ret;
}

static void rcm_conn_option(struct rcm_conn *conn, int option, int value,
			    const char *name)
{
	char text[RCM_CONN_STR];
	uint8_t byte = (uint8_t)value;
	int ret;

	ret = rcm_sys->set_option(conn->id, RDMA_OPTION_ID, option, &byte,
				  sizeof(byte));
	if (ret)
		RCM_INFO(EP_CTRL, "%s: %s %d not set: %s",
			 rcm_conn_describe(conn, text), name, value,
			 fi_strerror(-ret));
}

/* Wishes, not demands: an older kernel does not know them. */
static void rcm_conn_options(struct rcm_conn *conn)
{
	if (conn->cfg.ack_timeout)
		rcm_conn_option(conn, RDMA_OPTION_ID_ACK_TIMEOUT,
				conn->cfg.ack_timeout, "ack timeout");
	if (conn->cfg.tos >= 0)
		rcm_conn_option(conn, RDMA_OPTION_ID_TOS, conn->cfg.tos,
				"type of service");
}

/* The id's device is decided: it must be the one of the queue pair. */
static int rcm_conn_check_device(const struct rcm_conn *conn, int err)
{
	char text[RCM_CONN_STR];
	const char *name = NULL;

	if (conn->id->verbs)
		name = rcm_sys->get_device_name(conn->id->verbs->device);
	if (name &&
	    (!conn->cfg.dev_name[0] || !strcmp(name, conn->cfg.dev_name)))
		return 0;
	RCM_WARN(EP_CTRL,
		 "%s: the way to the peer is device %s, the domain's is %s",
		 rcm_conn_describe(conn, text), name ? name : "(none)",
		 conn->cfg.dev_name);
	return -err;
}

static int rcm_conn_act_qp_create(struct rcm_conn *conn)
{
	int ret;

	if (!conn->ops)
		return -FI_EOPBADSTATE;
	if (conn->id) {
		ret = rcm_conn_check_device(conn, FI_EINVAL);
		if (ret)
			return ret;
	}
	return conn->ops->qp_create(conn);
}

static int rcm_conn_act_resolve_addr(struct rcm_conn *conn)
{
	struct sockaddr *src = conn->src.sa.sa_family ? &conn->src.sa : NULL;
	struct rdma_cm_id *id;
	int ret;

	if (!conn->chan)
		return -FI_ENOEQ;
	ret = rcm_sys->create_id(conn->chan->ec, &id, conn);
	if (ret)
		return rcm_conn_failed(conn, "rdma_create_id", ret);
	conn->id = id;
	rcm_conn_options(conn);
	ret = rcm_sys->resolve_addr(id, src, &conn->dst.sa,
				    conn->cfg.resolve_timeout);
	if (!ret)
		return 0;
	ret = rcm_conn_failed(conn, "rdma_resolve_addr", ret);
	/* under the lock: nothing was started that could have an event */
	conn->id = NULL;
	rcm_conn_destroy_id(id, NULL);
	return ret;
}

static int rcm_conn_act_resolve_route(struct rcm_conn *conn)
{
	int ret = rcm_conn_check_device(conn, FI_EHOSTUNREACH);

	if (ret)
		return ret;
	ret = rcm_sys->resolve_route(conn->id, conn->cfg.resolve_timeout);
	return ret ? rcm_conn_failed(conn, "rdma_resolve_route", ret) : 0;
}

/* What REQ and REP say about this side. */
static void rcm_conn_param(const struct rcm_conn *conn,
			   struct rdma_conn_param *param)
{
	memset(param, 0, sizeof(*param));
	param->private_data = &conn->wire;
	param->private_data_len = (uint8_t)(conn->wire.len + 1);
	param->responder_resources = conn->cfg.responder_resources;
	param->initiator_depth = conn->cfg.initiator_depth;
	param->flow_control = 1;
	param->retry_count = conn->cfg.retry_count;
	param->rnr_retry_count = conn->cfg.rnr_retry;
	param->srq = conn->cfg.srq;
	param->qp_num = conn->qp->qp_num;
}

static int rcm_conn_act_send_req(struct rcm_conn *conn)
{
	struct rdma_conn_param param;
	int ret;

	rcm_conn_param(conn, &param);
	ret = rcm_sys->connect(conn->id, &param);
	return ret ? rcm_conn_failed(conn, "rdma_connect", ret) : 0;
}

/*
 * What rdma_cm does not know: this side's own limits. Its minimal RNR timer
 * is the longest there is, and must be another before the first packet. The
 * reads that it names are what the two sides said; a device keeps to them,
 * and holds back for ever what is posted beyond 0.
 */
static void rcm_conn_limit(struct rcm_conn *conn, struct ibv_qp_attr *attr,
			   int mask)
{
	const struct rcm_conn_cfg *cfg = &conn->cfg;

	if (mask & IBV_QP_ACCESS_FLAGS)
		attr->qp_access_flags &= (unsigned int)cfg->access;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		attr->min_rnr_timer = cfg->min_rnr_timer;
	if (mask & IBV_QP_RETRY_CNT)
		attr->retry_cnt = cfg->retry_count;
	if (mask & IBV_QP_RNR_RETRY)
		attr->rnr_retry = cfg->rnr_retry;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attr->max_dest_rd_atomic = RCM_MIN(attr->max_dest_rd_atomic,
						   cfg->responder_resources);
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC) {
		attr->max_rd_atomic = RCM_MIN(attr->max_rd_atomic,
					      cfg->initiator_depth);
		conn->pulls = attr->max_rd_atomic != 0;
	}
}

static int rcm_conn_qp_move(struct rcm_conn *conn, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr;
	int mask = 0;
	int ret;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = to;
	ret = rcm_sys->init_qp_attr(conn->id, &attr, &mask);
	if (ret)
		return rcm_conn_failed(conn, "rdma_init_qp_attr", ret);
	rcm_conn_limit(conn, &attr, mask);
	ret = rcm_sys->modify_qp(conn->qp, &attr, mask);
	return ret ? rcm_conn_failed(conn, "ibv_modify_qp", ret) : 0;
}

static int rcm_conn_act_qp_up(struct rcm_conn *conn,
			      const struct rcm_conn_cause *cause)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR,
						    IBV_QPS_RTS };
	size_t i;
	int ret;

	if (cause && cause->bad_data)
		return rcm_conn_failed(conn, "reading the peer's answer",
				       -FI_ECONNABORTED);
	for (i = 0; i < RCM_ARRAY_SIZE(states); i++) {
		ret = rcm_conn_qp_move(conn, states[i]);
		if (ret)
			return ret;
	}
	/* before the peer hears of it, and may send what wants an answer */
	if (conn->ops)
		conn->ops->qp_up(conn);
	return 0;
}

static int rcm_conn_act_qp_up_establish(struct rcm_conn *conn,
					const struct rcm_conn_cause *cause)
{
	int ret = rcm_conn_act_qp_up(conn, cause);

	if (ret)
		return ret;
	ret = rcm_sys->establish(conn->id);
	return ret ? rcm_conn_failed(conn, "rdma_establish", ret) : 0;
}

static int rcm_conn_act_qp_up_send_rep(struct rcm_conn *conn)
{
	struct rdma_conn_param param;
	int ret;

	rcm_conn_options(conn);
	ret = rcm_conn_act_qp_up(conn, NULL);
	if (ret)
		return ret;
	rcm_conn_param(conn, &param);
	/* more than the request offers would be a protocol error */
	param.responder_resources = RCM_MIN(param.responder_resources,
					    conn->peer_responder_resources);
	param.initiator_depth = RCM_MIN(param.initiator_depth,
					conn->peer_initiator_depth);
	ret = rcm_sys->accept(conn->id, &param);
	return ret ? rcm_conn_failed(conn, "rdma_accept", ret) : 0;
}

static int rcm_conn_act_send_rej(struct rcm_conn *conn)
{
	int ret = rcm_sys->reject(conn->id, &conn->wire,
				  (uint8_t)(conn->wire.len + 1));
	char text[RCM_CONN_STR];

	if (ret != -FI_EINVAL)
		return ret ? rcm_conn_failed(conn, "rdma_reject", ret) : 0;
	/* as ofi_rxm's peers do when both connect at the same time */
	RCM_INFO(EP_CTRL,
		 "%s: there is nothing left to refuse, the peer has "
		 "withdrawn its request",
		 rcm_conn_describe(conn, text));
	return ret;
}

static int rcm_conn_act_notify(struct rcm_conn *conn)
{
	int ret = rcm_sys->notify(conn->id, IBV_EVENT_COMM_EST);

	return ret ? rcm_conn_failed(conn, "rdma_notify", ret) : 0;
}

/* The gates shut first: what fails from now on is the flush, and no news. */
static void rcm_conn_act_qp_down(struct rcm_conn *conn)
{
	struct ibv_qp_attr attr;
	char text[RCM_CONN_STR];
	int ret;

	if (!conn->qp || conn->qp_is_down)
		return;
	conn->qp_is_down = true;
	if (conn->ops)
		conn->ops->qp_down(conn);
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_ERR;
	ret = rcm_sys->modify_qp(conn->qp, &attr, IBV_QP_STATE);
	if (ret)
		RCM_INFO(EP_CTRL, "%s: queue pair not stopped: %s",
			 rcm_conn_describe(conn, text), fi_strerror(-ret));
}

/*
 * fi_shutdown: the peer is told, and what is posted is canceled at once
 * (fi_cm(3)); rdma_disconnect() alone stops no queue pair of ours.
 */
static int rcm_conn_act_disconnect(struct rcm_conn *conn)
{
	int ret = rcm_sys->disconnect(conn->id);

	if (ret)
		return rcm_conn_failed(conn, "rdma_disconnect", ret);
	rcm_conn_act_qp_down(conn);
	return 0;
}

/*
 * Tells the peer that nothing comes of it, where the turn is ours. While the
 * kernel waits for the peer and repeats a request or an answer, rdma_reject()
 * would say so, but leave the repetition running, and rdma_destroy_id() wait
 * for its end, a minute or more. Left alone, rdma_destroy_id() stops it and
 * tells the peer at once.
 */
static void rcm_conn_withdraw(struct rcm_conn *conn)
{
	switch (conn->state) {
	case RCM_ST_REQ_SENT: /* its answer has come, and is no use */
	case RCM_ST_REQ_RCVD:
	case RCM_ST_REQ_READY:
	case RCM_ST_DOWN: /* likewise */
		(void)rcm_sys->reject(conn->id, &rcm_conn_no_data, 1);
		break;
	default: /* the kernel has not spoken with the peer yet */
		break;
	}
}

int rcm_conn_act(struct rcm_conn *conn, enum rcm_fsm_action action,
		 const struct rcm_conn_cause *cause)
{
	switch (action) {
	case RCM_ACT_QP_CREATE:
		return rcm_conn_act_qp_create(conn);
	case RCM_ACT_RESOLVE_ADDR:
		return rcm_conn_act_resolve_addr(conn);
	case RCM_ACT_RESOLVE_ROUTE:
		return rcm_conn_act_resolve_route(conn);
	case RCM_ACT_SEND_REQ:
		return rcm_conn_act_send_req(conn);
	case RCM_ACT_QP_UP:
		return rcm_conn_act_qp_up(conn, cause);
	case RCM_ACT_QP_UP_ESTABLISH:
		return rcm_conn_act_qp_up_establish(conn, cause);
	case RCM_ACT_QP_UP_SEND_REP:
		return rcm_conn_act_qp_up_send_rep(conn);
	case RCM_ACT_SEND_REJ:
		return rcm_conn_act_send_rej(conn);
	case RCM_ACT_NOTIFY:
		return rcm_conn_act_notify(conn);
	case RCM_ACT_DISCONNECT:
		return rcm_conn_act_disconnect(conn);
	case RCM_ACT_DISCONNECT_QP_DOWN:
		(void)rcm_sys->disconnect(conn->id);
		rcm_conn_act_qp_down(conn);
		return 0;
	case RCM_ACT_REJECT_QP_DOWN:
		rcm_conn_withdraw(conn);
		rcm_conn_act_qp_down(conn);
		return 0;
	case RCM_ACT_QP_DOWN:
		rcm_conn_act_qp_down(conn);
		return 0;
	case RCM_ACT_NONE:
	case RCM_ACT_COUNT:
	default:
		return 0;
	}
}

void rcm_conn_refuse(struct rdma_cm_id *id)
{
	(void)rcm_sys->reject(id, &rcm_conn_no_data, 1);
	rcm_conn_destroy_id(id, NULL);
}

void rcm_conn_destroy_id(struct rdma_cm_id *id, struct rcm_lock *eq_lock)
{
	int ret = rcm_sys->destroy_id(id);

	if (eq_lock)
		rcm_lock(eq_lock);
	if (ret) {
		/* it stays with the library: its events are nobody's */
		id->context = NULL;
		RCM_WARN(EP_CTRL, "rdma_destroy_id failed: %s",
			 fi_strerror(-ret));
	}
	if (eq_lock)
		rcm_unlock(eq_lock);
}
