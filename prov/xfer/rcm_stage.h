/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_STAGE_H
#define RCM_STAGE_H

#include <stdbool.h>

#include <infiniband/verbs.h>

#include "rcm_cqset.h"
#include "rcm_list.h"
#include "rcm_qp.h"

/*
 * FI_MORE (design D9): accepted sends that wait for one doorbell. They have
 * their slots already, so their order is fixed. Rung by the send without
 * FI_MORE, by a full stage, by a read of the send's completion queue, and by
 * close.
 */
#define RCM_STAGE_MAX 32

struct rcm_stage {
	struct rcm_list node; /* in the engine's stages, under stage_lock */
	struct rcm_qp *qp;
	/* [first, first + n) wait; under the send queue's lock */
	uint32_t first;
	_Atomic uint32_t n;
	struct ibv_send_wr wr[RCM_STAGE_MAX]; /* sg_list is its own, fixed */
	struct ibv_sge sge[];		      /* the queue's tx_sge for each */
};

/* Makes QP's stage unless it is there. -FI_ENOMEM. No lock may be held. */
int rcm_stage_open(struct rcm_qp *qp);

/* Unlists and frees it. What it held must be flushed. No lock held. */
void rcm_stage_close(struct rcm_qp *qp);

/*
 * Adds WR, whose slot is the ring's last, to the stage; with MORE that is
 * all unless the stage is full. Else rings for all of them. An error is
 * WR's own and WR is not accepted; the others' failures become error
 * entries. Under the send queue's lock.
 */
ssize_t rcm_stage_post(struct rcm_qp *qp, const struct ibv_send_wr *wr,
		       bool more);

/*
 * Rings for what waits. -FI_EAGAIN when the device takes no more yet: the
 * rest goes on waiting. Under the send queue's lock.
 */
ssize_t rcm_stage_flush(struct rcm_qp *qp);

/*
 * What still waits will never be posted: FI_ECANCELED entries for it. Under
 * the send queue's lock.
 */
void rcm_stage_cancel(struct rcm_qp *qp);

/* Rings for every send queue of CS. No lock but an event queue's held. */
void rcm_stage_flush_listed(struct rcm_cqset *cs);

static inline void rcm_stage_flush_all(struct rcm_cqset *cs)
{
	if (rcm_unlikely(
		    atomic_load_explicit(&cs->n_staged, memory_order_acquire)))
		rcm_stage_flush_listed(cs);
}

/* rcm_stage_open() where it is not there yet. No lock may be held. */
static inline int rcm_stage_ready(struct rcm_qp *qp)
{
	return rcm_likely(atomic_load_explicit(&qp->sq.stage,
					       memory_order_relaxed)) ?
		       0 :
		       rcm_stage_open(qp);
}

static inline struct rcm_stage *rcm_stage_of(struct rcm_qp *qp)
{
	return atomic_load_explicit(&qp->sq.stage, memory_order_acquire);
}

/* Sets how many wait. Under the send queue's lock. */
void rcm_stage_set_n(struct rcm_stage *st, uint32_t n);

/*
 * Where the next request that waits is to be written, with its sg_list set;
 * NULL without a stage, or when it would be full then. Under the send queue's
 * lock.
 */
static inline struct ibv_send_wr *rcm_stage_place(struct rcm_qp *qp)
{
	struct rcm_stage *st = rcm_stage_of(qp);
	uint32_t i;

	if (rcm_unlikely(!st))
		return NULL;
	i = st->first + atomic_load_explicit(&st->n, memory_order_relaxed);
	return i < RCM_STAGE_MAX - 1 ? &st->wr[i] : NULL;
}

/* WR, in the next place, waits from now on. Under the send queue's lock. */
static inline void rcm_stage_take(struct rcm_stage *st, struct ibv_send_wr *wr)
{
	uint32_t n = atomic_load_explicit(&st->n, memory_order_relaxed);

	wr->next = NULL;
	if (!n) {
		rcm_stage_set_n(st, 1);
		return;
	}
	wr[-1].next = wr;
	atomic_store_explicit(&st->n, n + 1, memory_order_release);
}

/* Does anything wait in QP's stage? Under the send queue's lock. */
static inline bool rcm_stage_pending(struct rcm_qp *qp)
{
	/* another thread's first FI_MORE may have made it just now */
	struct rcm_stage *st = atomic_load_explicit(&qp->sq.stage,
						    memory_order_acquire);

	return rcm_unlikely(st != NULL) &&
	       atomic_load_explicit(&st->n, memory_order_relaxed);
}

#endif /* RCM_STAGE_H */
