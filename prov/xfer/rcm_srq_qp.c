/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_srq.h"

#include <stdlib.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_cqset.h"
#include "rcm_err.h"
#include "rcm_hwcq.h"
#include "rcm_log.h"
#include "rcm_qp.h"
#include "rcm_wc.h"

/*
 * What the queue pairs of a shared receive queue have in their engines:
 * their room, their names, and the way from a completion to its slot.
 */

/*
 * The room of one shared queue in one hardware queue. However many queue
 * pairs use both, no more completions can wait there than the queue has
 * slots, for a slot is in use until its completion is polled.
 */
struct rcm_srq_share {
	struct rcm_srq_share *next;
	struct rcm_srq *srq; /* NULL: completions may be left for ever */
	uint32_t users;
	bool lost;
};

static struct rcm_srq_share *rcm_srq_find_share(struct rcm_hwcq *hw,
						const struct rcm_srq *srq)
{
	struct rcm_srq_share *share = hw->shares;

	while (share && share->srq != srq)
		share = share->next;
	return share;
}

/* A hardware queue that has the shared room already, and EXTRA entries. */
static struct rcm_hwcq *rcm_srq_join_share(struct rcm_cqset *cs,
					   struct rcm_srq *srq, uint32_t extra)
{
	struct rcm_srq_share *share;
	struct rcm_hwcq *hw;
	uint32_t i;

	for (i = 0; i < cs->n_hw; i++) {
		hw = cs->hw[i];
		share = rcm_srq_find_share(hw, srq);
		if (!share || hw->capacity - hw->reserved < extra)
			continue;
		share->users++;
		hw->reserved += extra;
		return hw;
	}
	return NULL;
}

static struct rcm_hwcq *rcm_srq_new_share(struct rcm_cqset *cs,
					  struct rcm_srq *srq, uint32_t extra,
					  int *err)
{
	struct rcm_srq_share *share = calloc(1, sizeof(*share));
	struct rcm_hwcq *hw;

	*err = -FI_ENOMEM;
	if (!share)
		return NULL;
	hw = rcm_hwcq_reserve(cs, srq->size + extra, err);
	if (!hw) {
		free(share);
		return NULL;
	}
	share->srq = srq;
	share->users = 1;
	share->next = hw->shares;
	hw->shares = share;
	return hw;
}

struct rcm_hwcq *rcm_srq_reserve(struct rcm_cqset *cs, struct rcm_srq *srq,
				 uint32_t *extra, int *err)
{
	uint32_t all = *extra;
	struct rcm_hwcq *hw;

	rcm_lock(&cs->lock);
	*err = 0;
	hw = rcm_srq_join_share(cs, srq, all);
	if (!hw) {
		*extra = 0;
		hw = rcm_srq_join_share(cs, srq, 0);
	}
	if (!hw) {
		if (srq->size + all <= (uint32_t)cs->attr.max_cqe)
			*extra = all;
		hw = rcm_srq_new_share(cs, srq, *extra, err);
	}
	rcm_unlock(&cs->lock);
	return hw;
}

void rcm_srq_release(struct rcm_cqset *cs, struct rcm_hwcq *hw,
		     struct rcm_srq *srq, bool clean)
{
	struct rcm_srq_share **at, *share;

	rcm_lock(&cs->lock);
	for (at = &hw->shares; (share = *at); at = &share->next)
		if (share->srq == srq)
			break;
	if (share && !clean)
		share->lost = true;
	if (share && !--share->users) {
		if (share->lost) {
			share->srq = NULL;
		} else {
			rcm_hwcq_release(hw, srq->size);
			*at = share->next;
			free(share);
		}
	}
	rcm_unlock(&cs->lock);
}

void rcm_srq_drop_shares(struct rcm_hwcq *hw)
{
	struct rcm_srq_share *share;

	while ((share = hw->shares)) {
		hw->shares = share->next;
		free(share);
	}
}

/* The list that holds, or would hold, the queue pair of this number. */
static inline struct rcm_qp **rcm_srq_bucket(struct rcm_cqset *cs,
					     uint32_t number)
{
	return &cs->sharing[number & (cs->sharing_size - 1)];
}

static inline struct rcm_qp *rcm_srq_find_qp(struct rcm_cqset *cs,
					     uint32_t number)
{
	struct rcm_qp *qp = NULL;

	if (cs->sharing_size)
		qp = *rcm_srq_bucket(cs, number);
	while (qp && qp->number != number)
		qp = qp->next_sharing;
	return qp;
}

/* Room for one more, with lists of one on average. */
static int rcm_srq_grow(struct rcm_cqset *cs)
{
	uint32_t size = RCM_MAX(2 * cs->sharing_size, 8u), i;
	struct rcm_qp **buckets, *qp;

	if (cs->n_sharing < cs->sharing_size)
		return 0;
	buckets = calloc(size, sizeof(struct rcm_qp *));
	if (!buckets)
		return -FI_ENOMEM;
	for (i = 0; i < cs->sharing_size; i++) {
		while ((qp = cs->sharing[i])) {
			struct rcm_qp **to = &buckets[qp->number & (size - 1)];

			cs->sharing[i] = qp->next_sharing;
			qp->next_sharing = *to;
			*to = qp;
		}
	}
	free(cs->sharing);
	cs->sharing = buckets;
	cs->sharing_size = size;
	return 0;
}

/*
 * The number was another queue pair's, which is destroyed but still attached:
 * what its completions say goes to that one. The new one has none yet.
 */
static int rcm_srq_settle(struct rcm_cqset *cs)
{
	uint32_t i;
	int n;

	for (i = 0; i < cs->n_hw; i++) {
		do {
			n = rcm_cqset_pull(cs, cs->hw[i], true);
		} while (n > 0);
		if (n < 0)
			return n;
	}
	return 0;
}

static int rcm_srq_attach_locked(struct rcm_cqset *cs, struct rcm_qp *qp)
{
	uint32_t number = qp->qp->qp_num;
	struct rcm_qp **bucket;
	int ret = rcm_srq_grow(cs);

	if (!ret && rcm_srq_find_qp(cs, number))
		ret = rcm_srq_settle(cs);
	if (ret)
		return ret;
	qp->number = number;
	bucket = rcm_srq_bucket(cs, number);
	/* in front of one that had the number before */
	qp->next_sharing = *bucket;
	*bucket = qp;
	qp->sharing = true;
	cs->n_sharing++;
	return 0;
}

int rcm_srq_attach(struct rcm_qp *qp)
{
	struct rcm_cqset *cs = qp->attr.rx_cq;
	int ret;

	rcm_lock(&cs->lock);
	ret = rcm_srq_attach_locked(cs, qp);
	rcm_unlock(&cs->lock);
	return ret;
}

void rcm_srq_detach(struct rcm_qp *qp)
{
	struct rcm_cqset *cs = qp->attr.rx_cq;
	struct rcm_qp **at;

	if (!qp->sharing)
		return;
	rcm_lock(&cs->lock);
	at = rcm_srq_bucket(cs, qp->number);
	while (*at != qp)
		at = &(*at)->next_sharing;
	*at = qp->next_sharing;
	cs->n_sharing--;
	qp->sharing = false;
	rcm_unlock(&cs->lock);
}

/* The queue pair and the slot of a completion; NULL when it has none. */
static inline struct rcm_qp *rcm_srq_look_up(struct rcm_cqset *cs,
					     const struct ibv_wc *wc,
					     struct rcm_srq_slot **slot)
{
	struct rcm_qp *qp = rcm_srq_find_qp(cs, wc->qp_num);
	uint64_t i = wc->wr_id - RCM_WR_SRQ;

	if (rcm_unlikely(!qp || i >= qp->attr.srq->size))
		return NULL;
	*slot = &qp->attr.srq->slots[i];
	if (rcm_unlikely(!atomic_load_explicit(&(*slot)->state,
					       memory_order_acquire)))
		return NULL;
	return qp;
}

/* The slot's request is over; all that it says has been read. */
static inline void rcm_srq_retire(struct rcm_cqset *cs, struct rcm_srq *srq,
				  struct rcm_srq_slot *slot)
{
	uint32_t first;

	if (rcm_unlikely(slot->lease != NULL))
		rcm_lease_end_one(slot->lease, &cs->ended);
	first = atomic_load_explicit(&srq->returned, memory_order_relaxed);

	atomic_store_explicit(&slot->state, 0, memory_order_relaxed);
	do {
		slot->next = first;
	} while (!atomic_compare_exchange_weak_explicit(
		&srq->returned, &first, (uint32_t)(slot - srq->slots),
		memory_order_release, memory_order_relaxed));
}

/* The queue pair's counter of receives, if it has one. */
static inline void rcm_srq_count(struct rcm_qp *qp, uint8_t kind, int err,
				 uint32_t len)
{
	struct rcm_ring *ring = &qp->rq.ring;

	if (rcm_unlikely(ring->kind_always & RCM_SLOT_SPECIAL))
		rcm_slot_end(ring, 0, kind, err, len);
}

/* How a ring would say what kind of request it was. */
static inline uint8_t rcm_srq_kind(const struct rcm_qp *qp,
				   const struct rcm_srq_slot *slot)
{
	uint32_t state = atomic_load_explicit(&slot->state,
					      memory_order_relaxed);

	return !qp->attr.rx_selective || (state & RCM_SRQ_ENTRY) ?
		       RCM_OP_RECV | RCM_SLOT_ENTRY :
		       RCM_OP_RECV;
}

bool rcm_srq_done(struct rcm_cqset *cs, const struct ibv_wc *wc,
		  struct rcm_done *done)
{
	struct rcm_srq_slot *slot;
	struct rcm_qp *qp = rcm_srq_look_up(cs, wc, &slot);
	uint8_t kind;

	if (rcm_unlikely(!qp)) {
		rcm_wc_odd(cs, wc);
		return false;
	}
	kind = rcm_srq_kind(qp, slot);
	done->op_context = slot->context;
	rcm_srq_retire(cs, qp->attr.srq, slot);
	rcm_srq_count(qp, rcm_wc_ended(wc, kind), 0, wc->byte_len);
	return rcm_wc_fill(wc, kind, done);
}

void rcm_srq_failed(struct rcm_cqset *cs, const struct ibv_wc *wc)
{
	struct rcm_comp comp = { 0 };
	struct rcm_srq_slot *slot;
	struct rcm_qp *qp = rcm_srq_look_up(cs, wc, &slot);
	uint8_t kind;

	if (!qp) {
		rcm_wc_odd(cs, wc);
		return;
	}
	kind = rcm_srq_kind(qp, slot);
	comp.op_context = slot->context;
	comp.flags = rcm_op_flags[RCM_OP_RECV];
	comp.err = rcm_err_from_recv_wc(wc->status);
	comp.prov_errno = (int)wc->status;
	comp.vendor_err = wc->vendor_err;
	rcm_srq_retire(cs, qp->attr.srq, slot);
	rcm_srq_count(qp, kind, comp.err, 0);
	/* ofi_rxm takes any error entry's context for its own (design D18) */
	if ((kind & RCM_SLOT_ENTRY) || !qp->attr.layered)
		rcm_soft_push(&cs->soft, &comp);
	rcm_wc_break(qp, wc->status);
}
