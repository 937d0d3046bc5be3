/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <errno.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_bounce.h"
#include "rcm_err.h"
#include "rcm_hwcq.h"
#include "rcm_lease.h"
#include "rcm_log.h"
#include "rcm_qp.h"
#include "rcm_short.h"
#include "rcm_slot.h"
#include "rcm_stage.h"

/* A registered buffer is needed here. Told once. */
static ssize_t rcm_sq_no_key(struct rcm_sq *sq, const struct rcm_tx *tx)
{
	bool pulls = tx->flags & RCM_TX_PULL;

	if (!sq->key_missed)
		RCM_WARN(EP_DATA,
			 "a %s of %llu bytes without a descriptor: beyond %u "
			 "bytes FI_MR_LOCAL asks for one",
			 pulls ? "read" : "send or write",
			 (unsigned long long)tx->len,
			 pulls ? 0 : sq->max_inline);
	sq->key_missed = true;
	return -FI_EINVAL;
}

/* The device would keep a read for ever. Told once. */
static ssize_t rcm_sq_no_pull(struct rcm_sq *sq)
{
	if (!sq->pull_missed)
		RCM_WARN(EP_DATA,
			 "the peer's memory cannot be read: the two sides have "
			 "agreed on 0 outstanding reads when they connected");
	sq->pull_missed = true;
	return -FI_EOPNOTSUPP;
}

/*
 * The queue is full: looks whether the device has finished some. What the
 * user is to read goes to the software queue while that has fixed room, so
 * -FI_EAGAIN ends once the completions are read. Takes the CQ's lock.
 */
static uint32_t rcm_sq_reclaim(struct rcm_qp *qp)
{
	struct rcm_cqset *cs = qp->attr.tx_cq;
	uint32_t room;

	/* what waits for its doorbell would never finish */
	if (rcm_stage_pending(qp))
		(void)rcm_stage_flush(qp);
	rcm_lock(&cs->lock);
	do {
		room = rcm_ring_room(&qp->sq.ring);
	} while (!room && rcm_cqset_pull(cs, qp->tx_hw, false) > 0);
	rcm_unlock(&cs->lock);
	return room;
}

/* In the place of an error: what has no key needs a lease first. */
#define RCM_SQ_WANTS_LEASE 1

/*
 * What does not go inline, too long for that or no data to go: may it go at
 * all? Without a key and a place in the queue it need not be registered.
 */
static ssize_t rcm_sq_check_long(struct rcm_qp *qp, const struct rcm_tx *tx)
{
	struct rcm_sq *sq = &qp->sq;

	if (tx->flags & RCM_TX_INJECT) {
		if (tx->len > sq->max_inject)
			return -FI_EINVAL;
		/*
		 * Its bounce buffer is its slot's, and the slot of a staged
		 * request may move up: so nothing is staged before it.
		 */
		return rcm_stage_flush(qp);
	}
	if (tx->len > qp->attr.max_msg_size)
		return -FI_EMSGSIZE;
	if ((tx->flags & RCM_TX_PULL) && rcm_unlikely(!sq->pulls))
		return rcm_sq_no_pull(sq);
	if (!(tx->flags & RCM_TX_NO_KEY))
		return 0;
	if (!sq->ring.leases)
		return rcm_sq_no_key(sq, tx);
	if (!rcm_ring_room(&sq->ring) && !rcm_sq_reclaim(qp))
		return -FI_EAGAIN;
	return RCM_SQ_WANTS_LEASE;
}

/* Counts unsignalled sends; the last slot of the ROOM must not be one. */
static inline bool rcm_sq_must_signal(struct rcm_sq *sq, uint32_t room)
{
	return ++sq->since_signal >= sq->signal_every || room == 1;
}

ssize_t rcm_sq_refused(struct rcm_sq *sq, int err)
{
	ssize_t ret = rcm_err_from_post(err);

	rcm_ring_unpush(&sq->ring);
	sq->since_signal = sq->signal_every; /* it may have been that one */
	/* nothing would end an -FI_EAGAIN */
	if (ret == -FI_EAGAIN && !rcm_ring_used(&sq->ring))
		ret = -FI_ENOMEM;
	return ret;
}

/*
 * FI_ORDER_RAR: a device makes a read again when the answer is lost, and it
 * would see what a fetching atomic request behind it has done. So that one
 * waits for reads that may be outstanding.
 */
static unsigned int rcm_sq_read_fence(struct rcm_sq *sq,
				      const struct rcm_tx *tx, uint32_t pos)
{
	uint32_t head = atomic_load_explicit(&sq->ring.head,
					     memory_order_acquire);

	if (tx->op == RCM_OP_READ)
		sq->read_end = pos + 1;
	else if (tx->op == RCM_OP_FETCH && (int32_t)(sq->read_end - head) > 0)
		return IBV_SEND_FENCE;
	return 0;
}

/* Fills the next slot and WR, all but where the data is; see ROOM above. */
static inline void rcm_sq_fill(struct rcm_sq *sq, const struct rcm_tx *tx,
			       uint32_t room, struct ibv_send_wr *wr)
{
	uint8_t kind = rcm_ring_kind(&sq->ring, tx->op);

	kind |= tx->flags & RCM_TX_SPECIAL;
	wr->send_flags = 0;
	if (tx->flags & RCM_TX_COMPLETE)
		kind |= RCM_SLOT_ENTRY;
	if (rcm_sq_must_signal(sq, room) ||
	    (kind & (RCM_SLOT_ENTRY | RCM_SLOT_SPECIAL))) {
		wr->send_flags = IBV_SEND_SIGNALED;
		sq->since_signal = 0;
		if (rcm_unlikely(kind & RCM_SLOT_SPECIAL))
			rcm_slot_sends(&sq->ring, tx->len);
	}
	wr->wr_id = rcm_ring_push(&sq->ring, tx->context, kind);
	wr->next = NULL;
	wr->sg_list = (struct ibv_sge *)tx->sge;
	wr->num_sge = (int)tx->n_sge;
	rcm_wr_aim(wr, tx->opcode, &tx->remote);
	if (tx->flags & RCM_TX_IMM)
		rcm_wr_add_imm(wr, tx->imm);
	if (tx->flags & RCM_TX_FENCE)
		wr->send_flags |= IBV_SEND_FENCE;
	if (tx->flags & RCM_TX_PULL)
		wr->send_flags |= rcm_sq_read_fence(sq, tx,
						    (uint32_t)wr->wr_id);
}

static inline ssize_t rcm_sq_post_locked(struct rcm_qp *qp,
					 const struct rcm_tx *tx)
{
	struct rcm_sq *sq = &qp->sq;
	bool is_long = tx->len > sq->max_inline || (tx->flags & RCM_TX_PULL);
	bool more;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge bounced;
	int err = rcm_gate(&sq->gate);
	uint32_t room;

	if (rcm_unlikely(err))
		return err;
	if (is_long) {
		ssize_t ret = rcm_sq_check_long(qp, tx);

		if (rcm_unlikely(ret))
			return ret;
	}
	room = rcm_ring_room(&sq->ring);
	if (rcm_unlikely(!room)) {
		room = rcm_sq_reclaim(qp);
		if (!room)
			return -FI_EAGAIN;
	}
	rcm_sq_fill(sq, tx, room, &wr);
	if (!is_long) {
		wr.send_flags |= IBV_SEND_INLINE;
	} else if (rcm_unlikely(tx->flags & RCM_TX_INJECT)) {
		rcm_bounce_copy(sq->bounce, (uint32_t)wr.wr_id, tx->sge,
				tx->n_sge, &bounced);
		wr.sg_list = &bounced;
		wr.num_sge = 1;
	}
	/* an injected buffer cannot wait: it is the user's on return */
	more = (tx->flags & RCM_TX_MORE) && !(tx->flags & RCM_TX_INJECT);
	if (rcm_unlikely(more || rcm_stage_pending(qp)))
		return rcm_stage_post(qp, &wr, more);
	err = ibv_post_send(qp->qp, &wr, &bad);
	if (rcm_unlikely(err))
		return rcm_sq_refused(sq, err);
	return 0;
}

/* Ends a call that gives RET: one that fails sends what waits for it. */
static inline void rcm_sq_unlock(struct rcm_qp *qp, ssize_t ret)
{
	/* a full queue has just been tried */
	if (rcm_unlikely(ret < 0) && ret != -FI_EAGAIN &&
	    !rcm_gate(&qp->sq.gate))
		(void)rcm_stage_flush(qp);
	rcm_unlock(&qp->sq.lock);
}

ssize_t rcm_sq_refuse(struct rcm_qp *qp, ssize_t ret)
{
	rcm_lock(&qp->sq.lock);
	rcm_sq_unlock(qp, ret);
	return ret;
}

/* Posts what has all its keys now; LEASE is its slot's when it succeeds. */
static ssize_t rcm_sq_post_leased(struct rcm_qp *qp, const struct rcm_tx *tx,
				  struct rcm_lease *lease)
{
	struct rcm_ring *ring = &qp->sq.ring;
	ssize_t ret;

	/* before the slot is known: making room may move the last one */
	if (!rcm_ring_room(ring) && !rcm_sq_reclaim(qp))
		return -FI_EAGAIN;
	rcm_lease_set(ring, atomic_load(&ring->tail), lease);
	ret = rcm_sq_post_locked(qp, tx);
	if (ret) /* the slot is the next one's again */
		rcm_lease_set(ring, atomic_load(&ring->tail), NULL);
	return ret;
}

/* No lock is held while the memory is copied or registered. */
static ssize_t rcm_sq_post_lending(struct rcm_qp *qp, const struct rcm_tx *tx)
{
	struct ibv_sge sge[RCM_MAX_SGE];
	struct rcm_lease *lease = NULL;
	struct rcm_tx own = *tx;
	ssize_t ret;

	memcpy(sge, tx->sge, tx->n_sge * sizeof(*sge));
	own.sge = sge;
	own.flags = (tx->flags & ~RCM_TX_NO_KEY) | RCM_TX_SPECIAL;
	ret = rcm_lease_get(qp->sq.ring.leases, sge, tx->n_sge,
			    tx->flags & RCM_TX_PULL, &lease);
	if (ret)
		return rcm_sq_refuse(qp, ret);
	rcm_lock(&qp->sq.lock);
	ret = rcm_sq_post_leased(qp, &own, lease);
	rcm_sq_unlock(qp, ret);
	if (ret)
		rcm_lease_put(lease);
	return ret;
}

ssize_t rcm_sq_post(struct rcm_qp *qp, const struct rcm_tx *tx)
{
	ssize_t ret;

	if (rcm_unlikely(tx->flags & RCM_TX_MORE)) {
		ret = rcm_stage_ready(qp);
		if (ret)
			return ret;
	}
	rcm_lock(&qp->sq.lock);
	ret = rcm_sq_post_locked(qp, tx);
	rcm_sq_unlock(qp, ret);
	return rcm_likely(ret <= 0) ? ret : rcm_sq_post_lending(qp, tx);
}
