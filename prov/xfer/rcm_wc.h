/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_WC_H
#define RCM_WC_H

#include <endian.h>

#include <infiniband/verbs.h>
#include <rdma/fabric.h>

#include "rcm_cqset.h"
#include "rcm_multi.h"
#include "rcm_ring.h"
#include "rcm_slot.h"

/*
 * From a work completion to an entry. Included by the completion engine
 * only; all under its lock.
 */

/* In a wr_id: the request that ends a queue pair, with no slot of its own. */
#define RCM_WR_MARKER (1ULL << 63)

/* What a success tells. */
struct rcm_done {
	void *op_context;
	uint64_t flags;
	size_t len;
	void *buf; /* of FI_MULTI_RECV alone */
	uint64_t data;
};

/* Stand in for rings that are not there: they hold nothing. */
extern struct rcm_ring rcm_ring_free_number; /* may be given out */
extern struct rcm_ring rcm_ring_lost_number; /* may not */

/* A completion that no outstanding request explains, or the marker. */
void rcm_wc_odd(struct rcm_cqset *cs, const struct ibv_wc *wc);

/* A success that is no ring's: of a shared receive queue, or odd. */
bool rcm_wc_other(struct rcm_cqset *cs, const struct ibv_wc *wc,
		  struct rcm_done *done);

/* A request of QP has failed: its on_error, once. */
void rcm_wc_break(struct rcm_qp *qp, enum ibv_wc_status status);

/*
 * A failed request: the queue pair's on_error, once; an error entry into the
 * software queue, where there is room for one.
 */
void rcm_wc_failed(struct rcm_cqset *cs, const struct ibv_wc *wc);

/*
 * The entry of FI_ECANCELED of the slot at POS, if it owes one, into the
 * software queue, with STATUS as its cause; the slot is the caller's to
 * retire. False when that has no more than SPARE places and the entry is lost.
 */
bool rcm_wc_cancel(struct rcm_cqset *cs, struct rcm_ring *ring, uint32_t pos,
		   enum ibv_wc_status status, uint32_t spare);

/* Puts a success into the software queue. There is room. */
void rcm_wc_keep(struct rcm_cqset *cs, const struct rcm_done *done);

static inline struct rcm_ring *rcm_wc_ring(struct rcm_cqset *cs,
					   const struct ibv_wc *wc)
{
	uint64_t number = wc->wr_id >> 32;

	return rcm_likely(number < cs->n_rings) ? cs->rings[number] :
						  &rcm_ring_free_number;
}

/* What has ended a request of KIND: a receive may have gone for a write. */
static inline uint8_t rcm_wc_ended(const struct ibv_wc *wc, uint8_t kind)
{
	if ((kind & RCM_SLOT_OP) != RCM_OP_RECV ||
	    wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM)
		return kind;
	return (uint8_t)((kind & ~RCM_SLOT_OP) | RCM_OP_REMOTE_WRITE);
}

/*
 * What a success of KIND tells, all but the context. True when an entry is
 * due.
 */
static inline bool rcm_wc_fill(const struct ibv_wc *wc, uint8_t kind,
			       struct rcm_done *done)
{
	done->flags = rcm_op_flags[kind & RCM_SLOT_OP];
	done->buf = NULL;
	done->len = 0;
	done->data = 0;
	if ((kind & RCM_SLOT_OP) == RCM_OP_RECV) {
		done->len = wc->byte_len;
		if (rcm_unlikely(wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)) {
			/* the peer's write; it is told in any case */
			done->flags = rcm_op_flags[RCM_OP_REMOTE_WRITE];
			kind |= RCM_SLOT_ENTRY;
		}
		if (wc->wc_flags & IBV_WC_WITH_IMM) {
			done->flags |= FI_REMOTE_CQ_DATA;
			done->data = be32toh(wc->imm_data);
		}
	}
	return kind & RCM_SLOT_ENTRY;
}

/*
 * Retires what succeeded. True when an entry is due: *DONE is filled. What is
 * rare has a struct of its own, so that *DONE need not be in memory.
 */
static inline __attribute__((always_inline)) bool
rcm_wc_done(struct rcm_cqset *cs, const struct ibv_wc *wc,
	    struct rcm_done *done)
{
	struct rcm_ring *ring = rcm_wc_ring(cs, wc);
	uint32_t pos = (uint32_t)wc->wr_id;
	struct rcm_done rare;
	uint8_t kind;
	bool due;

	if (rcm_unlikely(!rcm_ring_holds(ring, pos))) {
		due = rcm_wc_other(cs, wc, &rare);
		if (due)
			*done = rare;
		return due;
	}
	/* all that the slot tells, before the producer may fill it again */
	kind = ring->kind[pos & ring->mask];
	done->op_context = ring->context[pos & ring->mask];
	if (rcm_unlikely(kind & RCM_SLOT_SPECIAL)) {
		if (kind & RCM_SLOT_MULTI) {
			rare.op_context = done->op_context;
			due = rcm_multi_done(cs, ring, wc, &rare);
			if (due)
				*done = rare;
			return due;
		}
		rcm_slot_end(ring, pos, rcm_wc_ended(wc, kind), 0,
			     wc->byte_len);
	}
	rcm_ring_retire(ring, pos);
	return rcm_wc_fill(wc, kind, done);
}

#endif /* RCM_WC_H */
