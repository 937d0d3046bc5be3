/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_qp.h"

#include <errno.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_bounce.h"
#include "rcm_dev.h"
#include "rcm_drain.h"
#include "rcm_err.h"
#include "rcm_hwcq.h"
#include "rcm_lease.h"
#include "rcm_log.h"
#include "rcm_multi.h"
#include "rcm_slot.h"
#include "rcm_srq.h"
#include "rcm_stage.h"
#include "rcm_sys.h"

/* an unsignalled send waits for at most this many before it is retired */
#define RCM_SIGNAL_EVERY 64

/* Completions that may be outstanding at once; the last send is a marker. */
static uint32_t rcm_qp_tx_need(const struct rcm_qp_attr *attr)
{
	return attr->tx_depth + 1;
}

/* The same for receives; those of a shared queue have room of their own. */
static uint32_t rcm_qp_rx_need(const struct rcm_qp_attr *attr)
{
	return attr->srq ? 0 : attr->rx_depth;
}

/* One ring: its slots and its number in CS. */
static int rcm_qp_open_ring(struct rcm_qp *qp, struct rcm_cqset *cs,
			    struct rcm_ring *ring, uint32_t depth)
{
	int ret;

	if (!cs)
		return 0;
	ret = rcm_ring_open(ring, qp, depth);
	if (ret)
		return ret;
	rcm_lock(&cs->lock);
	ret = rcm_cqset_add_ring(cs, ring);
	rcm_unlock(&cs->lock);
	if (ret)
		rcm_ring_close(ring);
	return ret;
}

/* The counters of both directions, before anything is posted. */
static int rcm_qp_set_tallies(struct rcm_qp *qp)
{
	int op, ret = 0;

	for (op = 0; !ret && op < RCM_OP_COUNT; op++)
		if (qp->attr.tally[op])
			ret = rcm_slot_count(op == RCM_OP_RECV ? &qp->rq.ring :
								 &qp->sq.ring,
					     op, qp->attr.tally[op]);
	return ret;
}

static void rcm_qp_close_ring(struct rcm_cqset *cs, struct rcm_ring *ring,
			      bool clean)
{
	if (!cs || !ring->context)
		return;
	rcm_lock(&cs->lock);
	rcm_cqset_del_ring(cs, ring, clean);
	rcm_unlock(&cs->lock);
	rcm_leases_close(ring);
	rcm_ring_close(ring);
}

static struct rcm_hwcq *rcm_qp_reserve(struct rcm_cqset *cs, uint32_t n,
				       int *ret)
{
	struct rcm_hwcq *hw;

	rcm_lock(&cs->lock);
	hw = rcm_hwcq_reserve(cs, n, ret);
	rcm_unlock(&cs->lock);
	return hw;
}

static void rcm_qp_unreserve(struct rcm_cqset *cs, struct rcm_hwcq *hw,
			     uint32_t n)
{
	if (!hw)
		return;
	rcm_lock(&cs->lock);
	rcm_hwcq_release(hw, n);
	rcm_unlock(&cs->lock);
}

/*
 * With a shared receive queue: the hardware queue for receives comes first,
 * since it may be one that has the room already.
 */
static int rcm_qp_reserve_shared(struct rcm_qp *qp)
{
	struct rcm_cqset *tx = qp->attr.tx_cq, *rx = qp->attr.rx_cq;
	uint32_t need = rcm_qp_tx_need(&qp->attr);
	uint32_t extra = tx == rx ? need : 0;
	int ret;

	qp->rx_hw = rcm_srq_reserve(rx, qp->attr.srq, &extra, &ret);
	if (extra)
		qp->tx_hw = qp->rx_hw;
	else if (!ret && tx)
		qp->tx_hw = rcm_qp_reserve(tx, need, &ret);
	return ret;
}

/* Reserves both directions; in one hardware queue where one fi_cq has both. */
static int rcm_qp_reserve_hw(struct rcm_qp *qp)
{
	struct rcm_cqset *tx = qp->attr.tx_cq, *rx = qp->attr.rx_cq;
	uint32_t need = rcm_qp_tx_need(&qp->attr);
	int ret = 0;

	if (qp->attr.srq)
		return rcm_qp_reserve_shared(qp);
	if (tx == rx &&
	    need + qp->attr.rx_depth <= (uint32_t)tx->attr.max_cqe) {
		qp->tx_hw = rcm_qp_reserve(tx, need + qp->attr.rx_depth, &ret);
		qp->rx_hw = qp->tx_hw;
		return ret;
	}
	if (tx)
		qp->tx_hw = rcm_qp_reserve(tx, need, &ret);
	if (!ret && rx)
		qp->rx_hw = rcm_qp_reserve(rx, qp->attr.rx_depth, &ret);
	return ret;
}

static bool rcm_qp_try_create(struct rcm_qp *qp, uint32_t inline_size)
{
	const struct rcm_qp_attr *attr = &qp->attr;
	/* a direction that is not used needs a queue all the same */
	struct rcm_hwcq *tx = qp->tx_hw ? qp->tx_hw : qp->rx_hw;
	struct rcm_hwcq *rx = qp->rx_hw ? qp->rx_hw : tx;
	/* of a queue pair's own; a device looks at neither with a shared one */
	uint32_t rx_depth = attr->rx_cq ? rcm_qp_rx_need(attr) : 1;
	uint32_t rx_sge = attr->srq ? 0 : attr->rx_sge;
	struct ibv_qp_init_attr init = {
		.qp_context = attr->user,
		.send_cq = tx ? tx->cq : NULL,
		.recv_cq = rx ? rx->cq : NULL,
		.srq = attr->srq ? attr->srq->srq : NULL,
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = attr->tx_cq ? rcm_qp_tx_need(attr) : 1,
			.max_recv_wr = rx_depth,
			.max_send_sge = attr->tx_cq ? attr->tx_sge : 1,
			.max_recv_sge = attr->rx_cq ? rx_sge : 1,
			.max_inline_data = inline_size,
		},
	};

	qp->qp = rcm_sys->create_qp(attr->pd, &init);
	if (qp->qp)
		qp->sq.max_inline = init.cap.max_inline_data;
	return qp->qp;
}

/*
 * A device names no limit for inline data; it refuses. Then half of it, a
 * quarter, and none are tried: injected messages have the bounce buffers.
 */
static int rcm_qp_create(struct rcm_qp *qp)
{
	uint32_t size = qp->attr.tx_cq ? qp->attr.inject_size : 0;
	char memlock[RCM_DEV_MEMLOCK] = "";
	int tries, err;

	for (tries = 0;; tries++, size /= 2) {
		if (tries == 3)
			size = 0;
		if (rcm_qp_try_create(qp, size))
			return 0;
		if (!size)
			break;
		RCM_INFO(EP_CTRL, "no queue pair with %u inline bytes: %s",
			 size, strerror(errno));
	}
	err = errno;
	if (err == ENOMEM)
		rcm_dev_memlock(memlock);
	RCM_WARN(EP_CTRL,
		 "no queue pair of %u sends and %u receives (%u and %u buffers "
		 "each): %s; smaller tx_attr.size and rx_attr.size may do%s",
		 qp->attr.tx_depth, qp->attr.rx_depth, qp->attr.tx_sge,
		 qp->attr.rx_sge, strerror(err), memlock);
	return -rcm_err_from_errno(err);
}

static int rcm_qp_to_init(struct rcm_qp *qp, uint8_t port)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = port,
	};

	return rcm_sys->modify_qp(qp->qp, &attr,
				  IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/*
 * Gives back what there is, also of a queue pair that is half made. Unless
 * CLEAN, its completions may still fill what it had reserved.
 */
static void rcm_qp_free(struct rcm_qp *qp, bool clean)
{
	struct rcm_cqset *tx = qp->attr.tx_cq, *rx = qp->attr.rx_cq;
	uint32_t need = rcm_qp_tx_need(&qp->attr);

	if (clean && qp->tx_hw && qp->tx_hw == qp->rx_hw) {
		rcm_qp_unreserve(tx, qp->tx_hw,
				 need + rcm_qp_rx_need(&qp->attr));
	} else if (clean) {
		rcm_qp_unreserve(tx, qp->tx_hw, need);
		rcm_qp_unreserve(rx, qp->rx_hw, rcm_qp_rx_need(&qp->attr));
	}
	if (qp->attr.srq && qp->rx_hw)
		rcm_srq_release(rx, qp->rx_hw, qp->attr.srq, clean);
	rcm_srq_detach(qp);
	rcm_bounce_close(qp->sq.bounce);
	rcm_stage_close(qp);
	rcm_qp_close_ring(tx, &qp->sq.ring, clean);
	rcm_multi_close(qp);
	rcm_qp_close_ring(rx, &qp->rq.ring, clean);
	rcm_lock_fini(&qp->sq.lock);
	rcm_lock_fini(&qp->rq.lock);
	memset(qp, 0, sizeof(*qp));
}

static void rcm_qp_destroy(struct rcm_qp *qp)
{
	int ret = rcm_sys->destroy_qp(qp->qp);

	if (ret)
		RCM_WARN(EP_CTRL, "destroying a queue pair: %s",
			 fi_strerror(-ret));
}

static void rcm_qp_set_gate(struct rcm_lock *lock, atomic_int *gate, int value)
{
	rcm_lock(lock);
	if (atomic_load_explicit(gate, memory_order_relaxed) != -FI_EOPNOTSUPP)
		atomic_store_explicit(gate, value, memory_order_release);
	rcm_unlock(lock);
}

/* Receives get ERR. Posting looks at the gate only when hold is not 0. */
static void rcm_qp_shut_recv(struct rcm_qp *qp, int err)
{
	rcm_qp_set_gate(&qp->rq.lock, &qp->rq.gate, err);
	atomic_fetch_or(&qp->rq.hold, RCM_RQ_SHUT);
	rcm_multi_down(qp);
}

static void rcm_qp_init(struct rcm_qp *qp, const struct rcm_qp_attr *attr)
{
	struct rcm_sq *sq = &qp->sq;

	memset(qp, 0, sizeof(*qp));
	qp->attr = *attr;
	atomic_init(&qp->failed, false);
	rcm_lock_init(&sq->lock, RCM_RANK_SEND, attr->locked);
	rcm_lock_init(&qp->rq.lock, RCM_RANK_RECV, attr->locked);
	atomic_init(&sq->gate, attr->tx_cq ? -FI_ENOTCONN : -FI_EOPNOTSUPP);
	/* receives of a shared queue are posted there */
	if (!attr->rx_cq || attr->srq)
		rcm_qp_shut_recv(qp, -FI_EOPNOTSUPP);
	sq->max_inject = attr->inject_size;
	sq->signal_every = RCM_MIN(RCM_SIGNAL_EVERY, attr->tx_depth / 4 + 1);
}

/* What the device reads needs no right at all. */
static int rcm_qp_open_leases(struct rcm_qp *qp)
{
	const struct rcm_qp_attr *attr = &qp->attr;
	int ret = 0;

	if (attr->tx_cq)
		ret = rcm_leases_open(&qp->sq.ring, attr->pd, 0,
				      &attr->tx_cq->ended);
	if (qp->sq.ring.leases)
		qp->sq.ring.leases->pull_access |= attr->pull_access;
	if (!ret && attr->rx_cq && !attr->srq)
		ret = rcm_leases_open(&qp->rq.ring, attr->pd,
				      IBV_ACCESS_LOCAL_WRITE,
				      &attr->rx_cq->ended);
	return ret;
}

int rcm_qp_open(struct rcm_qp *qp, const struct rcm_qp_attr *attr, uint8_t port)
{
	struct rcm_sq *sq = &qp->sq;
	int ret;

	if ((!attr->tx_cq && !attr->rx_cq) || attr->tx_sge > RCM_MAX_SGE ||
	    attr->rx_sge > RCM_MAX_SGE || (attr->srq && !attr->rx_cq))
		return -FI_EINVAL;
	rcm_qp_init(qp, attr);
	ret = rcm_qp_open_ring(qp, attr->tx_cq, &sq->ring, attr->tx_depth);
	if (!ret && !attr->srq)
		ret = rcm_qp_open_ring(qp, attr->rx_cq, &qp->rq.ring,
				       attr->rx_depth);
	if (!ret && attr->rx_cq && !attr->srq && attr->multi_recv)
		ret = rcm_multi_open(qp);
	if (!ret)
		ret = rcm_qp_reserve_hw(qp);
	if (!ret)
		ret = rcm_qp_create(qp);
	if (ret)
		goto err_free;
	ret = rcm_qp_set_tallies(qp);
	if (ret)
		goto err_destroy;
	if (attr->lends) {
		ret = rcm_qp_open_leases(qp);
		if (ret)
			goto err_destroy;
	}
	if (attr->tx_cq && sq->max_inline < attr->inject_size) {
		ret = rcm_bounce_open(&sq->bounce, attr->pd, sq->ring.mask + 1,
				      attr->inject_size);
		if (ret)
			goto err_destroy;
	}
	if (attr->srq) {
		ret = rcm_srq_attach(qp);
		if (ret)
			goto err_destroy;
	}
	ret = rcm_qp_to_init(qp, port);
	if (ret)
		goto err_destroy;
	return 0;

err_destroy:
	rcm_qp_destroy(qp);
err_free:
	rcm_qp_free(qp, true);
	return ret;
}

void rcm_qp_last_wqe(struct rcm_qp *qp)
{
	atomic_store(&qp->srq_left, true);
}

void rcm_qp_up(struct rcm_qp *qp, bool pulls)
{
	qp->up = true;
	qp->sq.pulls = pulls;
	rcm_qp_set_gate(&qp->sq.lock, &qp->sq.gate, 0);
}

void rcm_qp_down(struct rcm_qp *qp, int err)
{
	if (!qp->qp)
		return;
	atomic_store(&qp->failed, true); /* the caller knows */
	if (!qp->attr.layered || rcm_gate(&qp->sq.gate))
		rcm_qp_set_gate(&qp->sq.lock, &qp->sq.gate, err);
	rcm_qp_shut_recv(qp, err);
}

void rcm_qp_flush(struct rcm_qp *qp)
{
	if (qp->qp)
		rcm_drain_start(qp);
}

static bool rcm_qp_ring_has(struct rcm_cqset *cs, struct rcm_lock *lock,
			    struct rcm_ring *ring, const void *context)
{
	uint32_t pos, tail;
	bool has = false;

	if (!cs || !ring->context)
		return false;
	rcm_lock(lock);
	rcm_lock(&cs->lock);
	tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	pos = atomic_load_explicit(&ring->head, memory_order_relaxed);
	for (; pos != tail && !has; pos++)
		has = ring->context[pos & ring->mask] == context;
	rcm_unlock(&cs->lock);
	rcm_unlock(lock);
	return has;
}

bool rcm_qp_has(struct rcm_qp *qp, const void *context)
{
	return rcm_qp_ring_has(qp->attr.rx_cq, &qp->rq.lock, &qp->rq.ring,
			       context) ||
	       rcm_qp_ring_has(qp->attr.tx_cq, &qp->sq.lock, &qp->sq.ring,
			       context);
}

void rcm_qp_close(struct rcm_qp *qp)
{
	bool clean;

	if (!qp->qp)
		return;
	rcm_qp_down(qp, -FI_ESHUTDOWN);
	rcm_drain_start(qp);
	rcm_qp_destroy(qp);
	clean = rcm_drain_finish(qp);
	rcm_qp_free(qp, clean);
}
