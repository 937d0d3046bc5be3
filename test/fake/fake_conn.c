/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "fake_int.h"

/*
 * The conversation of two ids. The lengths of private data are those of the
 * InfiniBand messages: request, reply, reject.
 */
#define FAKE_REQ_DATA 56
#define FAKE_REP_DATA 196
#define FAKE_REJ_DATA 148

/* reasons of a reject, as the kernel numbers them */
#define FAKE_REJ_TIMEOUT  4
#define FAKE_REJ_NOBODY	  8
#define FAKE_REJ_CONSUMER 28

static union rcm_addr *fake_src(struct fake_id *id)
{
	return (union rcm_addr *)&id->id.route.addr.src_storage;
}

static union rcm_addr *fake_dst(struct fake_id *id)
{
	return (union rcm_addr *)&id->id.route.addr.dst_storage;
}

static struct fake_id *fake_listener_of(const union rcm_addr *addr)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&fake.ids, node, tmp) {
		struct fake_id *id = rcm_list_entry(node, struct fake_id, node);
		union rcm_addr *at = fake_src(id);

		if (id->state != FAKE_ID_LISTEN ||
		    rcm_addr_port(at) != rcm_addr_port(addr))
			continue;
		if (at->sa.sa_family == addr->sa.sa_family &&
		    (rcm_addr_is_any(at) || rcm_addr_same_host(at, addr)))
			return id;
	}
	return NULL;
}

/* Keeps what the user gave; false for more private data than fits. */
static bool fake_param_keep(struct fake_id *id,
			    const struct rdma_conn_param *param, size_t field)
{
	void *data = NULL;

	if (param->private_data_len > field)
		return false;
	if (param->private_data_len) {
		data = fake_new(param->private_data_len);
		memcpy(data, param->private_data, param->private_data_len);
	}
	free((void *)id->param.private_data);
	id->param = *param;
	id->param.private_data = data;
	return true;
}

/* What one side offers, as the other side is told it. */
static struct rdma_conn_param fake_param_seen(const struct fake_id *from)
{
	struct rdma_conn_param p = from->param;

	p.responder_resources = from->param.initiator_depth;
	p.initiator_depth = from->param.responder_resources;
	return p;
}

static void fake_unpeer(struct fake_id *id, enum fake_id_state state)
{
	if (id->peer)
		id->peer->peer = NULL;
	id->peer = NULL;
	id->state = state;
}

/* TO learns that its peer, or nobody, has refused. */
static void fake_tell_reject(struct fake_id *to, int reason, const void *data,
			     uint8_t len)
{
	struct rdma_conn_param p = { .private_data = data,
				     .private_data_len = len };

	to->state = FAKE_ID_DONE;
	fake_chan_put(to, to, RDMA_CM_EVENT_REJECTED, reason, &p,
		      reason == FAKE_REJ_CONSUMER ? FAKE_REJ_DATA : 0);
}

static int fake_waiting(struct fake_id *listener)
{
	struct rcm_list *node, *tmp;
	int n = 0;

	rcm_list_for_each(&fake.ids, node, tmp)
		n += rcm_list_entry(node, struct fake_id, node)->listener ==
		     listener;
	return n;
}

static void fake_send_req(struct fake_id *id)
{
	struct fake_id *listener = fake_listener_of(fake_dst(id));
	struct rdma_conn_param p = fake_param_seen(id);
	struct fake_id *child;

	id->state = FAKE_ID_REQ_SENT;
	if (fake.silent)
		return;
	if (!listener) {
		fake_tell_reject(id, FAKE_REJ_NOBODY, NULL, 0);
		return;
	}
	if (fake_waiting(listener) >= listener->backlog)
		return; /* the request is lost, as in the kernel */
	child = fake_id_new(listener->chan, listener->id.context);
	child->state = FAKE_ID_REQ_RCVD;
	child->listener = listener;
	child->peer = id;
	id->peer = child;
	child->dev = fake_dev_by_addr(fake_dst(id));
	child->id.verbs = &child->dev->cm_ctx;
	child->id.port_num = 1;
	*fake_src(child) = *fake_dst(id);
	*fake_dst(child) = *fake_src(id);
	child->peer_param = p;
	child->peer_param.private_data = NULL;
	fake_chan_put(child, listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, &p,
		      FAKE_REQ_DATA);
}

int fake_connect(struct rdma_cm_id *vid, struct rdma_conn_param *param)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_connect);

	if (err)
		return fake_leave(err);
	if (id->state != FAKE_ID_ROUTE ||
	    !fake_param_keep(id, param, FAKE_REQ_DATA))
		return fake_leave(EINVAL);
	fake_send_req(id);
	return fake_leave(0);
}

int fake_accept(struct rdma_cm_id *vid, struct rdma_conn_param *param)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_accept);
	struct rdma_conn_param p;

	if (err)
		return fake_leave(err);
	if (id->state != FAKE_ID_REQ_RCVD || !id->peer ||
	    !fake_param_keep(id, param, FAKE_REP_DATA))
		return fake_leave(EINVAL);
	id->state = FAKE_ID_REP_SENT;
	id->peer->state = FAKE_ID_REP_RCVD;
	p = fake_param_seen(id);
	id->peer->peer_param = p;
	id->peer->peer_param.private_data = NULL;
	fake_chan_put(id->peer, id->peer, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, &p,
		      FAKE_REP_DATA);
	return fake_leave(0);
}

int fake_establish(struct rdma_cm_id *vid)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_establish);

	if (!err && id->state != FAKE_ID_REP_RCVD)
		err = EINVAL;
	if (err)
		return fake_leave(err);
	id->state = FAKE_ID_ESTAB;
	/* the passive side may know already, from rdma_notify() */
	if (id->peer && id->peer->state == FAKE_ID_REP_SENT &&
	    !fake_chan_loses(RDMA_CM_EVENT_ESTABLISHED)) {
		id->peer->state = FAKE_ID_ESTAB;
		fake_chan_put(id->peer, id->peer, RDMA_CM_EVENT_ESTABLISHED, 0,
			      NULL, 0);
	}
	return fake_leave(0);
}

int fake_notify(struct rdma_cm_id *vid, enum ibv_event_type event)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_notify);

	if (err)
		return fake_leave(err);
	if (event != IBV_EVENT_COMM_EST)
		return fake_leave(EINVAL);
	if (id->state == FAKE_ID_ESTAB)
		return fake_leave(EISCONN);
	if (id->state != FAKE_ID_REP_SENT)
		return fake_leave(EINVAL);
	id->state = FAKE_ID_ESTAB;
	fake_chan_put(id, id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
	return fake_leave(0);
}

int fake_reject(struct rdma_cm_id *vid, const void *data, uint8_t len)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_reject);

	if (err)
		return fake_leave(err);
	/* the kernel goes on repeating what it has sent; destroying waits */
	if (id->state == FAKE_ID_REQ_SENT || id->state == FAKE_ID_REP_SENT)
		fake_problem("rdma_reject while the peer's answer is due");
	if ((id->state != FAKE_ID_REQ_RCVD && id->state != FAKE_ID_REP_RCVD) ||
	    len > FAKE_REJ_DATA)
		return fake_leave(EINVAL);
	if (id->peer)
		fake_tell_reject(id->peer, FAKE_REJ_CONSUMER, data, len);
	fake_unpeer(id, FAKE_ID_DONE);
	return fake_leave(0);
}

static void fake_disconnected(struct fake_id *id, enum fake_id_state state)
{
	id->state = state;
	id->timewait = true;
	fake_chan_put(id, id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
}

/* A request to disconnect, or the answer to the peer's. */
static void fake_disconnect_id(struct fake_id *id)
{
	struct fake_id *peer = id->peer;

	if (id->state == FAKE_ID_ESTAB) {
		id->state = FAKE_ID_DREQ_SENT;
		if (!peer)
			return;
		/* a request that crosses the peer's own answers it */
		if (peer->state == FAKE_ID_ESTAB ||
		    peer->state == FAKE_ID_REP_SENT ||
		    peer->state == FAKE_ID_REP_RCVD)
			fake_disconnected(peer, FAKE_ID_DREQ_RCVD);
	} else if (id->state == FAKE_ID_DREQ_RCVD) {
		id->state = FAKE_ID_DONE;
		if (peer && peer->state == FAKE_ID_DREQ_SENT)
			fake_disconnected(peer, FAKE_ID_DONE);
		fake_unpeer(id, FAKE_ID_DONE);
	}
}

int fake_disconnect(struct rdma_cm_id *vid)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_disconnect);

	if (!err && id->state < FAKE_ID_REQ_SENT)
		err = EINVAL;
	if (!err)
		fake_disconnect_id(id);
	return fake_leave(err);
}

/* ID is being destroyed: the peer learns it, as far as there is one. */
void fake_conn_hang_up(struct fake_id *id)
{
	struct fake_id *peer = id->peer;

	switch (id->state) {
	case FAKE_ID_REQ_SENT:
		if (peer)
			fake_tell_reject(peer, FAKE_REJ_TIMEOUT, NULL, 0);
		break;
	case FAKE_ID_REQ_RCVD:
	case FAKE_ID_REP_SENT:
	case FAKE_ID_REP_RCVD:
		if (peer)
			fake_tell_reject(peer, FAKE_REJ_CONSUMER, NULL, 0);
		break;
	case FAKE_ID_ESTAB:
	case FAKE_ID_DREQ_RCVD:
		fake_disconnect_id(id);
		/* nobody is left to answer the peer, who gets its answer */
		break;
	default:
		break;
	}
	if (id->peer)
		fake_unpeer(id, FAKE_ID_DONE);
}

int fake_init_qp_attr(struct rdma_cm_id *vid, struct ibv_qp_attr *attr,
		      int *mask)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_init_qp_attr);
	enum ibv_qp_state state = attr->qp_state;
	bool knows_peer = id->state == FAKE_ID_REQ_RCVD ||
			  id->state == FAKE_ID_REP_SENT ||
			  id->state == FAKE_ID_REP_RCVD ||
			  id->state == FAKE_ID_ESTAB;

	if (!err && (!id->dev || (state != IBV_QPS_INIT && !knows_peer)))
		err = EINVAL;
	if (err)
		return fake_leave(err);
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	if (state == IBV_QPS_INIT) {
		attr->port_num = id->id.port_num;
		/* what the kernel allows for, whoever asks */
		attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
		if (!knows_peer || id->peer_param.responder_resources)
			attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ |
						 IBV_ACCESS_REMOTE_ATOMIC;
		*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			IBV_QP_ACCESS_FLAGS;
	} else if (state == IBV_QPS_RTR) {
		attr->path_mtu = IBV_MTU_1024;
		attr->dest_qp_num = id->peer_param.qp_num;
		attr->max_dest_rd_atomic = id->peer_param.responder_resources;
		attr->ah_attr.port_num = 1;
		attr->ah_attr.is_global = 1;
		*mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	} else {
		attr->timeout = id->ack_timeout > 0 ? id->ack_timeout : 18;
		attr->retry_cnt = id->state == FAKE_ID_REP_RCVD ?
					  id->param.retry_count :
					  id->peer_param.retry_count;
		attr->rnr_retry = id->peer_param.rnr_retry_count;
		attr->max_rd_atomic = id->peer_param.initiator_depth;
		*mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			IBV_QP_MAX_QP_RD_ATOMIC;
	}
	return fake_leave(0);
}

void fake_silent_peers(bool silent)
{
	fake_enter_quiet();
	fake.silent = silent;
	fake_leave_quiet();
}

void fake_conn_time_out(void)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&fake.ids, node, tmp) {
		struct fake_id *id = rcm_list_entry(node, struct fake_id, node);

		if (id->lost)
			continue;
		if (id->state == FAKE_ID_REQ_SENT && !id->peer) {
			id->state = FAKE_ID_DONE;
			fake_chan_put(id, id, RDMA_CM_EVENT_UNREACHABLE,
				      -ETIMEDOUT, NULL, 0);
		} else if (id->state == FAKE_ID_DREQ_SENT) {
			/* the peer never answered */
			fake_disconnected(id, FAKE_ID_DONE);
		} else if (id->timewait) {
			id->timewait = false;
			fake_chan_put(id, id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0,
				      NULL, 0);
		}
	}
}

void fake_time_passes(void)
{
	fake_enter_quiet();
	fake_wire_time_out();
	fake_conn_time_out();
	fake_leave_quiet();
}
