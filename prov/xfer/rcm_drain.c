/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_drain.h"

#include <time.h>

#include <rdma/fi_errno.h>

#include "rcm_log.h"
#include "rcm_ring.h"
#include "rcm_slot.h"
#include "rcm_srq.h"
#include "rcm_stage.h"
#include "rcm_sys.h"
#include "rcm_wc.h"

/* between two polls; a software device needs a moment to flush */
#define RCM_DRAIN_SLEEP_NS 50000

static int64_t rcm_drain_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Room for every entry that the queue pair may still owe. */
static void rcm_drain_reserve(struct rcm_cqset *cs, struct rcm_ring *ring)
{
	if (!cs)
		return;
	rcm_lock(&cs->lock);
	if (rcm_soft_reserve(&cs->soft, rcm_ring_used(ring)))
		RCM_WARN(CQ, "no memory for %u entries of a closed endpoint",
			 rcm_ring_used(ring));
	rcm_unlock(&cs->lock);
}

/*
 * Successes without a signal are silent: a last request of our own, which is
 * flushed after all others, shows when the send queue is through. It has a
 * place in the queue that no user's request gets; one place, so one marker,
 * also when a shutdown has waited before the close does.
 */
static void rcm_drain_mark(struct rcm_qp *qp)
{
	struct rcm_ring *ring = &qp->sq.ring;
	struct ibv_send_wr wr = { 0 }, *bad;

	rcm_lock(&qp->sq.lock);
	if (rcm_stage_flush(qp))
		rcm_stage_cancel(qp); /* or the marker would retire it */
	wr.wr_id = RCM_WR_MARKER | ring->wr_id |
		   atomic_load_explicit(&ring->tail, memory_order_relaxed);
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	if (rcm_ring_used(ring) && !qp->sq.marked) {
		qp->sq.marked = !ibv_post_send(qp->qp, &wr, &bad);
		if (!qp->sq.marked)
			RCM_INFO(EP_DATA, "no marker to a send queue");
	}
	rcm_unlock(&qp->sq.lock);
}

/*
 * Empties HW: how many it had, or less than 0 when its last completions
 * found no room.
 */
static int rcm_drain_hw(struct rcm_cqset *cs, struct rcm_hwcq *hw)
{
	int n, all = 0;

	if (!cs)
		return 0;
	rcm_lock(&cs->lock);
	do {
		n = rcm_cqset_pull(cs, hw, true);
		all += RCM_MAX(n, 0);
	} while (n > 0);
	rcm_unlock(&cs->lock);
	return n < 0 ? n : all;
}

/*
 * How many receives a queue pair has taken from a shared queue, nobody
 * knows. The device reports when it has ended the last one of them; some do
 * not, soft-RoCE of older kernels among them. Those are known after the first
 * wait in vain, and are believed to be through when nothing has come for a
 * while.
 */
#define RCM_DRAIN_QUIET_MS 5

struct rcm_drain {
	int64_t end;	 /* when to give up */
	int64_t last_rx; /* when a completion came */
};

/* Nothing arrives at a queue pair that has not been connected. */
static bool rcm_drain_was_idle(const struct rcm_qp *qp)
{
	return !qp->up && qp->qp->state != IBV_QPS_RTR &&
	       qp->qp->state != IBV_QPS_RTS;
}

/* Does the device say so? To be asked before its completions are taken. */
static bool rcm_drain_asks(struct rcm_qp *qp)
{
	if (qp->past_srq)
		return true;
	if (qp->attr.look && qp->attr.look(qp->attr.user))
		qp->attr.look = NULL; /* it says nothing any more */
	if (!qp->attr.look)
		atomic_store(&qp->attr.srq->silent, true);
	return atomic_load(&qp->srq_left);
}

static bool rcm_drain_shared_is_over(struct rcm_qp *qp, struct rcm_drain *drain)
{
	bool left = rcm_drain_asks(qp);
	int rx = rcm_drain_hw(qp->attr.rx_cq, qp->rx_hw);
	int64_t now = rcm_drain_now_ms();

	if (rx)
		drain->last_rx = now;
	if (!left && now >= drain->end &&
	    !atomic_exchange(&qp->attr.srq->silent, true))
		RCM_INFO(EP_CTRL, "no word from the device on when a queue "
				  "pair leaves its shared receive queue");
	if (!left && atomic_load(&qp->attr.srq->silent))
		left = now - drain->last_rx > RCM_DRAIN_QUIET_MS;
	qp->past_srq = left;
	return left;
}

static bool rcm_drain_is_over(struct rcm_qp *qp, struct rcm_drain *drain)
{
	bool shared = !qp->attr.srq || rcm_drain_shared_is_over(qp, drain);

	(void)rcm_drain_hw(qp->attr.tx_cq, qp->tx_hw);
	(void)rcm_drain_hw(qp->attr.rx_cq, qp->rx_hw);
	return shared && !rcm_ring_used(&qp->sq.ring) &&
	       !rcm_ring_used(&qp->rq.ring);
}

void rcm_drain_start(struct rcm_qp *qp)
{
	const struct timespec pause = { .tv_nsec = RCM_DRAIN_SLEEP_NS };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct rcm_drain drain;
	int ret;

	drain.last_rx = rcm_drain_now_ms();
	drain.end = drain.last_rx + RCM_DRAIN_MS;
	if (rcm_drain_was_idle(qp))
		qp->past_srq = true;

	atomic_store(&qp->failed, true); /* nobody needs to hear of it now */
	rcm_drain_reserve(qp->attr.tx_cq, &qp->sq.ring);
	rcm_drain_reserve(qp->attr.rx_cq, &qp->rq.ring);
	ret = rcm_sys->modify_qp(qp->qp, &attr, IBV_QP_STATE);
	if (ret) {
		/* a device that is gone flushes nothing: do not wait */
		RCM_INFO(EP_CTRL, "queue pair %#x to ERR: %s", qp->qp->qp_num,
			 fi_strerror(-ret));
		return;
	}
	rcm_drain_mark(qp);
	while (!rcm_drain_is_over(qp, &drain)) {
		if (rcm_drain_now_ms() >= drain.end) {
			RCM_INFO(
				EP_CTRL,
				"queue pair %#x: %u sends and %u receives were "
				"not flushed in %d ms",
				qp->qp->qp_num, rcm_ring_used(&qp->sq.ring),
				rcm_ring_used(&qp->rq.ring), RCM_DRAIN_MS);
			return;
		}
		nanosleep(&pause, NULL);
	}
}

/* FI_ECANCELED for each slot of RING that is left and owes an entry. */
static void rcm_drain_cancel(struct rcm_cqset *cs, struct rcm_ring *ring)
{
	uint32_t lost = 0, pos, tail;

	if (!cs)
		return;
	rcm_lock(&cs->lock);
	pos = atomic_load_explicit(&ring->head, memory_order_relaxed);
	tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	(void)rcm_soft_reserve(&cs->soft, tail - pos);
	for (; pos != tail; pos++)
		if (!rcm_wc_cancel(cs, ring, pos, IBV_WC_WR_FLUSH_ERR, 0))
			lost++;
	atomic_store_explicit(&ring->head, tail, memory_order_release);
	rcm_unlock(&cs->lock);
	if (lost)
		RCM_WARN(CQ, "no memory: %u canceled operations are not told",
			 lost);
}

bool rcm_drain_finish(struct rcm_qp *qp)
{
	bool tx = rcm_drain_hw(qp->attr.tx_cq, qp->tx_hw) >= 0;
	bool rx = rcm_drain_hw(qp->attr.rx_cq, qp->rx_hw) >= 0;

	rcm_drain_cancel(qp->attr.tx_cq, &qp->sq.ring);
	rcm_drain_cancel(qp->attr.rx_cq, &qp->rq.ring);
	return tx && rx;
}
