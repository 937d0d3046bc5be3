/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_SHORT_H
#define RCM_SHORT_H

#include <endian.h>

#include "rcm_qp.h"
#include "rcm_slot.h"
#include "rcm_stage.h"

/*
 * What is usual, inline in the caller, which knows most of the flags. Of a
 * send or a write: one buffer that goes inline, into a queue that is open and
 * not full, with nothing staged before it; rcm_sq_post() does all the rest. Of
 * a receive: one buffer, into a queue that is open and not full.
 */

/*
 * The device refused the request in the last slot with ERR, an errno: gives
 * the slot back and returns the -FI_E. Under the send queue's lock.
 */
ssize_t rcm_sq_refused(struct rcm_sq *sq, int err);

/* What the slot of a receive says. */
static inline uint8_t rcm_rq_kind(const struct rcm_ring *ring, bool wants_entry)
{
	uint8_t kind = rcm_ring_kind(ring, RCM_OP_RECV);

	return wants_entry ? kind | RCM_SLOT_ENTRY : kind;
}

/* The same of a receive. Under the receive queue's lock. */
ssize_t rcm_rq_refused(struct rcm_rq *rq, int err);

/*
 * Any receive of that kind, or why it cannot be. Under the receive queue's
 * lock.
 */
ssize_t rcm_rq_post_any(struct rcm_qp *qp, const struct ibv_sge *sge,
			uint32_t n_sge, void *context, uint8_t kind);

/* The receive of the ring's last slot goes to the device. Under the lock. */
static inline ssize_t rcm_rq_give(struct rcm_qp *qp, uint64_t wr_id,
				  const struct ibv_sge *sge, uint32_t n_sge)
{
	struct ibv_recv_wr wr, *bad;
	int err;

	wr.wr_id = wr_id;
	wr.next = NULL;
	wr.sg_list = (struct ibv_sge *)sge;
	wr.num_sge = (int)n_sge;
	err = ibv_post_recv(qp->qp, &wr, &bad);
	return rcm_likely(!err) ? 0 : rcm_rq_refused(&qp->rq, err);
}

/*
 * True when the queue is as described: its lock is held then, for
 * rcm_short_post(). The last slot is not for this.
 */
static inline bool rcm_short_begin(struct rcm_qp *qp)
{
	rcm_lock(&qp->sq.lock);
	if (rcm_likely(!rcm_gate(&qp->sq.gate) && !rcm_stage_pending(qp) &&
		       rcm_ring_is_roomy(&qp->sq.ring, 2)))
		return true;
	rcm_unlock(&qp->sq.lock);
	return false;
}

/* What kind of request WR is, without an immediate, and where it works. */
static inline void rcm_wr_aim(struct ibv_send_wr *wr, enum ibv_wr_opcode opcode,
			      const struct rcm_remote *remote)
{
	wr->opcode = opcode;
	if (opcode == IBV_WR_SEND)
		return;
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr->wr.atomic.remote_addr = remote->addr;
		wr->wr.atomic.compare_add = remote->compare_add;
		wr->wr.atomic.swap = remote->swap;
		wr->wr.atomic.rkey = remote->rkey;
		return;
	}
	wr->wr.rdma.remote_addr = remote->addr;
	wr->wr.rdma.rkey = remote->rkey;
}

/* WR, a message or a write, brings IMM with it. */
static inline void rcm_wr_add_imm(struct ibv_send_wr *wr, uint32_t imm)
{
	wr->opcode = wr->opcode == IBV_WR_SEND ? IBV_WR_SEND_WITH_IMM :
						 IBV_WR_RDMA_WRITE_WITH_IMM;
	wr->imm_data = htobe32(imm);
}

/* Sends need no entry for a while, but the ring must hear of them in time. */
static inline unsigned int rcm_short_signal(struct rcm_sq *sq, uint8_t kind)
{
	if ((kind & (RCM_SLOT_ENTRY | RCM_SLOT_SPECIAL)) ||
	    sq->since_signal + 1 >= sq->signal_every) {
		sq->since_signal = 0;
		return IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	}
	sq->since_signal++;
	return IBV_SEND_INLINE;
}

/* A send or write of LEN bytes, at most max_inline. */
struct rcm_short {
	const void *buf;
	uint32_t len;
	bool complete;			 /* the user wants an entry */
	const uint32_t *imm;		 /* goes with it; NULL: nothing does */
	const struct rcm_remote *remote; /* of a write; NULL: a send */
	void *context;
};

/* Makes the slot, and all of WR but what links it to others. */
static inline __attribute__((always_inline)) void
rcm_short_fill(struct rcm_sq *sq, const struct rcm_short *tx,
	       struct ibv_send_wr *wr)
{
	uint8_t kind = rcm_ring_kind(&sq->ring,
				     tx->remote ? RCM_OP_WRITE : RCM_OP_SEND);

	if (tx->complete)
		kind |= RCM_SLOT_ENTRY;
	wr->sg_list->addr = (uintptr_t)tx->buf;
	wr->sg_list->length = tx->len;
	wr->sg_list->lkey = 0; /* of no account */
	wr->num_sge = tx->len != 0;
	rcm_wr_aim(wr, tx->remote ? IBV_WR_RDMA_WRITE : IBV_WR_SEND,
		   tx->remote);
	if (tx->imm)
		rcm_wr_add_imm(wr, *tx->imm);
	if (rcm_unlikely(kind & RCM_SLOT_SPECIAL))
		rcm_slot_sends(&sq->ring, tx->len);
	wr->send_flags = rcm_short_signal(sq, kind);
	wr->wr_id = rcm_ring_push(&sq->ring, tx->context, kind);
}

/* After rcm_short_begin(): 0, or why the device refused it. Unlocks. */
static inline __attribute__((always_inline)) ssize_t
rcm_short_post(struct rcm_qp *qp, const struct rcm_short *tx)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	ssize_t ret = 0;
	int err;

	wr.sg_list = &sge;
	wr.next = NULL;
	rcm_short_fill(&qp->sq, tx, &wr);
	err = ibv_post_send(qp->qp, &wr, &bad);
	if (rcm_unlikely(err))
		ret = rcm_sq_refused(&qp->sq, err);
	rcm_unlock(&qp->sq.lock);
	return ret;
}

/*
 * With FI_MORE: false, and nothing is done, when it is not to wait, since it
 * would fill the stage, or cannot. Takes the send queue's lock.
 */
static inline bool rcm_short_stage(struct rcm_qp *qp,
				   const struct rcm_short *tx)
{
	struct ibv_send_wr *wr;
	bool done = false;

	rcm_lock(&qp->sq.lock);
	wr = rcm_stage_place(qp);
	if (rcm_likely(wr && !rcm_gate(&qp->sq.gate) &&
		       rcm_ring_is_roomy(&qp->sq.ring, 2))) {
		rcm_short_fill(&qp->sq, tx, wr);
		rcm_stage_take(rcm_stage_of(qp), wr);
		done = true;
	}
	rcm_unlock(&qp->sq.lock);
	return done;
}

/* As rcm_rq_post(). */
static inline __attribute__((always_inline)) ssize_t
rcm_short_recv(struct rcm_qp *qp, const struct ibv_sge *sge, uint32_t n_sge,
	       void *context, bool wants_entry)
{
	struct rcm_rq *rq = &qp->rq;
	uint8_t kind = rcm_rq_kind(&rq->ring, wants_entry);
	uint64_t wr_id;
	ssize_t ret;

	rcm_lock(&rq->lock);
	/* where the gate is shut, the hold is set */
	if (rcm_likely(!atomic_load_explicit(&rq->hold, memory_order_acquire) &&
		       rcm_ring_is_roomy(&rq->ring, 1))) {
		wr_id = rcm_ring_push(&rq->ring, context, kind);
		ret = rcm_rq_give(qp, wr_id, sge, n_sge);
	} else {
		ret = rcm_rq_post_any(qp, sge, n_sge, context, kind);
	}
	rcm_unlock(&rq->lock);
	return ret;
}

#endif /* RCM_SHORT_H */
