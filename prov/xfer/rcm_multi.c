/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_multi.h"

#include <stdlib.h>

#include <rdma/fi_errno.h>

#include "rcm_err.h"
#include "rcm_lease.h"
#include "rcm_log.h"
#include "rcm_slot.h"
#include "rcm_wc.h"

/* Held receives that go to the device at a time. */
#define RCM_MULTI_CHAIN 16

int rcm_multi_open(struct rcm_qp *qp)
{
	uint32_t slots = qp->rq.ring.mask + 1;
	struct rcm_multi *multi;
	size_t n_sge;

	multi = calloc(1, sizeof(*multi));
	if (!multi)
		return -FI_ENOMEM;
	multi->max_sge = RCM_MAX(qp->attr.rx_sge, 1u);
	n_sge = (size_t)slots * multi->max_sge;
	multi->slot = calloc(slots, sizeof(*multi->slot));
	multi->sge = calloc(n_sge, sizeof(*multi->sge));
	qp->rq.multi = multi;
	if (multi->slot && multi->sge)
		return 0;
	rcm_multi_close(qp);
	return -FI_ENOMEM;
}

void rcm_multi_close(struct rcm_qp *qp)
{
	struct rcm_multi *multi = qp->rq.multi;

	if (!multi)
		return;
	free(multi->slot);
	free(multi->sge);
	free(multi);
	qp->rq.multi = NULL;
}

void rcm_multi_down(struct rcm_qp *qp)
{
	struct rcm_cqset *cs = qp->attr.rx_cq;

	if (!qp->rq.multi)
		return;
	rcm_lock(&cs->lock);
	atomic_store_explicit(&qp->rq.multi->down, true, memory_order_relaxed);
	rcm_unlock(&cs->lock);
}

/* The slots that the consumer has to post or end. */
static uint32_t rcm_multi_held(struct rcm_rq *rq)
{
	return atomic_load_explicit(&rq->hold, memory_order_acquire) &
	       ~RCM_RQ_SHUT;
}

/* Takes N off the count: how many are left. */
static uint32_t rcm_multi_let_go(struct rcm_rq *rq, uint32_t n)
{
	uint32_t was = atomic_fetch_sub_explicit(&rq->hold, n,
						 memory_order_acq_rel);

	return (was & ~RCM_RQ_SHUT) - n;
}

static struct rcm_multi_slot *rcm_multi_slot(struct rcm_ring *ring,
					     uint32_t pos)
{
	return &ring->qp->rq.multi->slot[pos & ring->mask];
}

static struct ibv_sge *rcm_multi_sge(struct rcm_ring *ring, uint32_t pos)
{
	struct rcm_multi *multi = ring->qp->rq.multi;

	return multi->sge + (size_t)(pos & ring->mask) * multi->max_sge;
}

static uint8_t rcm_multi_kind(const struct rcm_ring *ring, uint32_t pos)
{
	return ring->kind[pos & ring->mask];
}

/* The work request of the held slot at POS. */
static void rcm_multi_fill(struct rcm_ring *ring, uint32_t pos,
			   struct ibv_recv_wr *wr)
{
	struct rcm_multi_slot *slot = rcm_multi_slot(ring, pos);
	struct ibv_sge *sge = rcm_multi_sge(ring, pos);
	uint64_t most = RCM_MIN(ring->qp->attr.max_msg_size, UINT32_MAX);

	if (rcm_multi_kind(ring, pos) & RCM_SLOT_MULTI) {
		sge->addr = slot->buf.addr;
		sge->length = (uint32_t)RCM_MIN(slot->buf.len, most);
		sge->lkey = slot->buf.lkey;
		slot->n_sge = sge->length != 0;
	}
	wr->wr_id = ring->wr_id | pos;
	wr->next = NULL;
	wr->sg_list = sge;
	wr->num_sge = (int)slot->n_sge;
}

static int rcm_multi_give(struct rcm_ring *ring, uint32_t pos)
{
	struct ibv_recv_wr wr, *bad;

	rcm_multi_fill(ring, pos, &wr);
	return ibv_post_recv(ring->qp->qp, &wr, &bad);
}

/*
 * The consumer cannot post what it has promised to. The slots stay as they
 * are until the queue pair is closed, which tells each of them; the
 * connection is told to end now.
 */
static void rcm_multi_broken(struct rcm_ring *ring, int err)
{
	struct rcm_qp *qp = ring->qp;

	RCM_WARN(EP_DATA, "a receive behind FI_MULTI_RECV was refused: %s",
		 fi_strerror((int)-rcm_err_from_post(err)));
	if (!atomic_exchange(&qp->failed, true) && qp->attr.on_error)
		qp->attr.on_error(qp->attr.user, IBV_WC_GENERAL_ERR);
}

/* Joins the count that the consumer works off. False: there is none. */
static bool rcm_multi_join(struct rcm_rq *rq)
{
	uint32_t hold = atomic_load_explicit(&rq->hold, memory_order_acquire);

	do {
		if (!(hold & ~RCM_RQ_SHUT))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&rq->hold, &hold, hold + 1, memory_order_acq_rel,
		memory_order_acquire));
	return true;
}

bool rcm_multi_hold(struct rcm_qp *qp, const struct ibv_sge *sge,
		    uint32_t n_sge)
{
	struct rcm_ring *ring = &qp->rq.ring;
	uint32_t pos = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint32_t i;

	pos--;
	rcm_multi_slot(ring, pos)->n_sge = n_sge;
	for (i = 0; i < n_sge; i++)
		rcm_multi_sge(ring, pos)[i] = sge[i];
	return rcm_multi_join(&qp->rq);
}

/* The first of its kind in the queue: it goes to the device at once. */
static ssize_t rcm_multi_start(struct rcm_qp *qp, uint32_t pos)
{
	struct rcm_rq *rq = &qp->rq;
	ssize_t ret;
	int err;

	/* before the post, since it may complete before that returns */
	atomic_fetch_add_explicit(&rq->hold, 1, memory_order_acq_rel);
	err = rcm_multi_give(&rq->ring, pos);
	if (rcm_likely(!err))
		return 0;
	rcm_multi_let_go(rq, 1);
	rcm_ring_unpush(&rq->ring);
	ret = rcm_err_from_post(err);
	/* nothing would end an -FI_EAGAIN */
	return ret == -FI_EAGAIN && !rcm_ring_used(&rq->ring) ? -FI_ENOMEM :
								ret;
}

static ssize_t rcm_multi_post_locked(struct rcm_qp *qp,
				     const struct rcm_multi_buf *buf,
				     void *context, bool wants_entry)
{
	struct rcm_rq *rq = &qp->rq;
	struct rcm_ring *ring = &rq->ring;
	uint8_t kind = ring->kind_always | RCM_OP_RECV | RCM_SLOT_SPECIAL |
		       RCM_SLOT_MULTI;
	uint32_t pos;

	if (rq->gate)
		return rq->gate;
	if (!rcm_ring_room(ring))
		return -FI_EAGAIN;
	if (wants_entry)
		kind |= RCM_SLOT_ENTRY;
	pos = (uint32_t)rcm_ring_push(ring, context, kind);
	rcm_multi_slot(ring, pos)->buf = *buf;
	/* a full one is released in any case */
	rcm_multi_slot(ring, pos)->buf.min = RCM_MAX(buf->min, UINT64_C(1));
	return rcm_multi_join(rq) ? 0 : rcm_multi_start(qp, pos);
}

ssize_t rcm_multi_post(struct rcm_qp *qp, const struct rcm_multi_buf *buf,
		       void *context, bool wants_entry)
{
	ssize_t ret;

	if (!qp->rq.multi)
		return qp->attr.rx_cq ? -FI_EINVAL : -FI_EOPNOTSUPP;
	rcm_lock(&qp->rq.lock);
	ret = rcm_multi_post_locked(qp, buf, context, wants_entry);
	rcm_unlock(&qp->rq.lock);
	return ret;
}

static ssize_t rcm_multi_post_leased(struct rcm_qp *qp,
				     const struct rcm_multi_buf *buf,
				     void *context, bool wants_entry,
				     struct rcm_lease *lease)
{
	struct rcm_ring *ring = &qp->rq.ring;
	ssize_t ret = rcm_rq_check(qp);

	if (ret)
		return ret;
	rcm_lease_set(ring, atomic_load(&ring->tail), lease);
	ret = rcm_multi_post_locked(qp, buf, context, wants_entry);
	if (ret) /* the slot is the next one's again */
		rcm_lease_set(ring, atomic_load(&ring->tail), NULL);
	return ret;
}

ssize_t rcm_multi_post_lending(struct rcm_qp *qp,
			       const struct rcm_multi_buf *buf, void *context,
			       bool wants_entry)
{
	struct rcm_multi_buf own = *buf;
	struct rcm_lease *lease;
	ssize_t ret;

	if (!qp->rq.multi || !buf->len)
		return rcm_multi_post(qp, buf, context, wants_entry);
	ret = rcm_rq_check_lending(qp);
	if (!ret)
		ret = rcm_lease_get_one(qp->rq.ring.leases, buf->addr, buf->len,
					&own.lkey, &lease);
	if (ret)
		return ret;
	rcm_lock(&qp->rq.lock);
	ret = rcm_multi_post_leased(qp, &own, context, wants_entry, lease);
	rcm_unlock(&qp->rq.lock);
	if (ret)
		rcm_lease_put(lease);
	return ret;
}

/*
 * Posts held slots from POS on, N at most, up to a chain's length or the
 * next buffer of FI_MULTI_RECV. Their number in *GIVEN; an errno.
 */
static int rcm_multi_give_chain(struct rcm_ring *ring, uint32_t pos, uint32_t n,
				uint32_t *given)
{
	struct ibv_recv_wr wr[RCM_MULTI_CHAIN], *bad = NULL;
	uint32_t i = 0;
	bool last;
	int err;

	n = RCM_MIN(n, (uint32_t)RCM_MULTI_CHAIN);
	do {
		last = i + 1 == n ||
		       (rcm_multi_kind(ring, pos + i) & RCM_SLOT_MULTI);
		rcm_multi_fill(ring, pos + i, &wr[i]);
		if (!last)
			wr[i].next = &wr[i + 1];
		i++;
	} while (!last);
	err = ibv_post_recv(ring->qp->qp, wr, &bad);
	*given = err && bad ? (uint32_t)(bad - wr) : i;
	return err;
}

/*
 * The buffer before POS is released: what was held back behind it goes to
 * the device, up to the next such buffer. When none is left the producer
 * posts for itself again.
 */
static void rcm_multi_next(struct rcm_ring *ring, uint32_t pos)
{
	struct rcm_rq *rq = &ring->qp->rq;
	uint32_t over = 1; /* no longer held, but still in the count */
	uint32_t given;

	for (;;) {
		uint32_t n = rcm_multi_held(rq) - over;
		bool is_multi;
		int err;

		if (!n) {
			if (!rcm_multi_let_go(rq, over))
				return;
			over = 0; /* more has come meanwhile */
			continue;
		}
		err = rcm_multi_give_chain(ring, pos, n, &given);
		pos += given;
		is_multi = !err &&
			   (rcm_multi_kind(ring, pos - 1) & RCM_SLOT_MULTI);
		over += given;
		if (err || is_multi) {
			/* a buffer counts for as long as it is not released */
			(void)rcm_multi_let_go(rq, over - is_multi);
			if (err)
				rcm_multi_broken(ring, err);
			return;
		}
	}
}

/* FI_ECANCELED for the slots from POS on; OVER before it count no more. */
static void rcm_multi_cancel_from(struct rcm_cqset *cs, struct rcm_ring *ring,
				  uint32_t pos, uint32_t over)
{
	struct rcm_rq *rq = &ring->qp->rq;
	uint32_t n, lost = 0;

	do {
		n = rcm_multi_held(rq) - over;
		(void)rcm_soft_reserve(&cs->soft, n + RCM_SOFT_ROOM);
		for (over += n; n; n--)
			/* the rest of a batch counts on its own room */
			if (!rcm_wc_cancel(cs, ring, pos++, IBV_WC_WR_FLUSH_ERR,
					   RCM_SOFT_ROOM))
				lost++;
		rcm_ring_retire(ring, pos - 1);
		n = rcm_multi_let_go(rq, over);
		over = 0;
	} while (n);
	if (lost)
		RCM_WARN(CQ, "no memory: %u canceled receives are not told",
			 lost);
}

void rcm_multi_flush(struct rcm_cqset *cs, struct rcm_ring *ring, uint32_t pos)
{
	rcm_multi_cancel_from(cs, ring, pos + 1, 1);
}

void *rcm_multi_at(struct rcm_ring *ring, uint32_t pos)
{
	return (void *)(uintptr_t)rcm_multi_slot(ring, pos)->buf.addr;
}

/* The message of WC is in the buffer. True when that is to be released. */
static bool rcm_multi_advance(struct rcm_multi_buf *buf,
			      const struct ibv_wc *wc, struct rcm_done *done)
{
	/* a peer's write has used up the request but put nothing here */
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		return false;
	done->buf = (void *)(uintptr_t)buf->addr;
	buf->addr += wc->byte_len;
	buf->len -= RCM_MIN(buf->len, wc->byte_len);
	return buf->len < buf->min;
}

/*
 * The connection is over: a request posted now might never come back. So the
 * buffer, unless RELEASED, and all behind it are canceled here, after DONE.
 */
static void rcm_multi_done_down(struct rcm_cqset *cs, struct rcm_ring *ring,
				uint32_t pos, const struct rcm_done *done,
				bool released, bool wanted)
{
	if (wanted)
		rcm_wc_keep(cs, done);
	rcm_multi_cancel_from(cs, ring, pos + released, released);
}

bool rcm_multi_done(struct rcm_cqset *cs, struct rcm_ring *ring,
		    const struct ibv_wc *wc, struct rcm_done *done)
{
	struct rcm_multi *multi = ring->qp->rq.multi;
	uint32_t pos = (uint32_t)wc->wr_id;
	uint8_t kind = rcm_multi_kind(ring, pos);
	bool released, wanted;

	wanted = rcm_wc_fill(wc, kind, done);
	released = rcm_multi_advance(&rcm_multi_slot(ring, pos)->buf, wc, done);
	if (released) {
		/* told in any case: fi_msg(3) */
		done->flags |= FI_MULTI_RECV;
		wanted = true;
		rcm_slot_end(ring, pos, kind, 0, wc->byte_len);
		rcm_ring_retire(ring, pos);
	} else {
		rcm_slot_tell(ring, rcm_wc_ended(wc, kind), 0, wc->byte_len);
	}
	if (rcm_unlikely(
		    atomic_load_explicit(&multi->down, memory_order_relaxed))) {
		rcm_multi_done_down(cs, ring, pos, done, released, wanted);
		return false;
	}
	if (released) {
		rcm_multi_next(ring, pos + 1);
	} else {
		int err = rcm_multi_give(ring, pos);

		if (rcm_unlikely(err))
			rcm_multi_broken(ring, err);
	}
	return wanted;
}

/* The slot at POS goes, those behind it move up: none has a request yet. */
static void rcm_multi_remove(struct rcm_ring *ring, uint32_t pos, uint32_t tail)
{
	uint32_t max_sge = ring->qp->rq.multi->max_sge, i;

	for (; pos + 1 != tail; pos++) {
		rcm_ring_move(ring, pos + 1, pos);
		rcm_lease_move(ring, pos + 1, pos);
		*rcm_multi_slot(ring, pos) = *rcm_multi_slot(ring, pos + 1);
		for (i = 0; i < max_sge; i++)
			rcm_multi_sge(ring, pos)[i] = rcm_multi_sge(ring,
								    pos + 1)[i];
	}
	rcm_ring_unpush(ring);
	(void)rcm_multi_let_go(&ring->qp->rq, 1);
}

static int rcm_multi_cancel_locked(struct rcm_qp *qp, const void *context)
{
	struct rcm_ring *ring = &qp->rq.ring;
	struct rcm_cqset *cs = qp->attr.rx_cq;
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint32_t n = rcm_multi_held(&qp->rq), pos;

	/* the first that counts is with the device */
	for (pos = tail - n + 1; n > 1; pos++, n--) {
		if (ring->context[pos & ring->mask] != context)
			continue;
		if (rcm_soft_reserve(&cs->soft, 1))
			return -FI_EAGAIN;
		/* the connection stands: the device has no part in it */
		(void)rcm_wc_cancel(cs, ring, pos, IBV_WC_SUCCESS, 0);
		rcm_multi_remove(ring, pos, tail);
		return 0;
	}
	return -FI_ENOENT;
}

int rcm_multi_cancel(struct rcm_qp *qp, void *context)
{
	struct rcm_cqset *cs = qp->attr.rx_cq;
	int ret;

	if (!qp->rq.multi)
		return -FI_ENOENT;
	rcm_lock(&qp->rq.lock);
	rcm_lock(&cs->lock);
	ret = rcm_multi_cancel_locked(qp, context);
	rcm_unlock(&cs->lock);
	rcm_unlock(&qp->rq.lock);
	return ret;
}
