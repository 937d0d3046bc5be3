/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_stage.h"

#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_err.h"
#include "rcm_lease.h"
#include "rcm_log.h"
#include "rcm_ring.h"
#include "rcm_slot.h"

void rcm_stage_set_n(struct rcm_stage *st, uint32_t n)
{
	struct rcm_cqset *cs = st->qp->attr.tx_cq;
	bool was = atomic_load_explicit(&st->n, memory_order_relaxed);

	atomic_store_explicit(&st->n, n, memory_order_release);
	if (!was && n)
		atomic_fetch_add(&cs->n_staged, 1);
	if (was && !n)
		atomic_fetch_sub(&cs->n_staged, 1);
	if (!n)
		st->first = 0;
}

int rcm_stage_open(struct rcm_qp *qp)
{
	struct rcm_cqset *cs = qp->attr.tx_cq;
	struct rcm_stage *st;
	uint32_t i;

	if (!cs || rcm_stage_of(qp))
		return 0;
	st = calloc(1, sizeof(*st) + sizeof(struct ibv_sge) * qp->attr.tx_sge *
					     RCM_STAGE_MAX);
	if (!st)
		return -FI_ENOMEM;
	st->qp = qp;
	for (i = 0; i < RCM_STAGE_MAX; i++)
		st->wr[i].sg_list = st->sge + (size_t)i * qp->attr.tx_sge;
	rcm_lock(&cs->stage_lock);
	if (!rcm_stage_of(qp)) {
		rcm_list_add(&cs->stages, &st->node);
		atomic_store_explicit(&qp->sq.stage, st, memory_order_release);
		st = NULL;
	}
	rcm_unlock(&cs->stage_lock);
	free(st); /* another thread was first */
	return 0;
}

void rcm_stage_close(struct rcm_qp *qp)
{
	struct rcm_stage *st = rcm_stage_of(qp);
	struct rcm_cqset *cs = qp->attr.tx_cq;

	if (!st)
		return;
	rcm_lock(&cs->stage_lock);
	rcm_list_del(&st->node);
	rcm_unlock(&cs->stage_lock);
	atomic_store_explicit(&qp->sq.stage, NULL, memory_order_relaxed);
	free(st);
}

/* Returns how many places it leaves. */
static inline uint32_t rcm_stage_add(struct rcm_stage *st,
				     const struct ibv_send_wr *wr)
{
	uint32_t n = atomic_load_explicit(&st->n, memory_order_relaxed);
	uint32_t i = st->first + n;
	struct ibv_send_wr *own = &st->wr[i];

	RCM_ASSERT(i < RCM_STAGE_MAX);
	own->wr_id = wr->wr_id;
	own->num_sge = wr->num_sge;
	own->opcode = wr->opcode;
	own->send_flags = wr->send_flags;
	if (wr->opcode == IBV_WR_SEND_WITH_IMM ||
	    wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		own->imm_data = wr->imm_data;
	if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM)
		own->wr = wr->wr;
	if (rcm_likely(wr->num_sge == 1))
		*own->sg_list = *wr->sg_list;
	else
		memcpy(own->sg_list, wr->sg_list,
		       (size_t)wr->num_sge * sizeof(*wr->sg_list));
	rcm_stage_take(st, own);
	return RCM_STAGE_MAX - 1 - i;
}

/* Takes the last one, the caller's own, out again. */
static void rcm_stage_drop_own(struct rcm_qp *qp, struct rcm_stage *st)
{
	uint32_t n = st->n - 1;

	if (n)
		st->wr[st->first + n - 1].next = NULL;
	rcm_stage_set_n(st, n);
	rcm_ring_unpush(&qp->sq.ring);
}

/* Puts the entry of the slot at POS, whose post failed with RET. */
static void rcm_stage_tell(struct rcm_qp *qp, uint32_t pos, ssize_t ret)
{
	struct rcm_ring *ring = &qp->sq.ring;
	struct rcm_cqset *cs = qp->attr.tx_cq;
	uint8_t kind = ring->kind[pos & ring->mask];
	struct rcm_comp comp = {
		.op_context = ring->context[pos & ring->mask],
		.flags = rcm_op_flags[kind & RCM_SLOT_OP],
		.err = (int)-ret,
		.prov_errno = ret == -FI_ECANCELED ? IBV_WC_WR_FLUSH_ERR :
						     IBV_WC_GENERAL_ERR,
	};

	bool told = (kind & RCM_SLOT_ENTRY) || !qp->attr.layered;

	rcm_lock(&cs->lock);
	if (kind & RCM_SLOT_SPECIAL)
		rcm_slot_end(ring, pos, kind, comp.err, 0);
	rcm_lease_settle(&cs->ended);
	if (told && !rcm_soft_reserve(&cs->soft, 1))
		rcm_soft_push(&cs->soft, &comp);
	else if (told)
		RCM_WARN(CQ, "no memory for an error entry: it is lost");
	rcm_unlock(&cs->lock);
}

/*
 * The device refused the first for good. Those behind it move up by a slot,
 * since a slot without a request would never be retired.
 */
static void rcm_stage_fail_first(struct rcm_qp *qp, struct rcm_stage *st,
				 ssize_t ret)
{
	struct rcm_ring *ring = &qp->sq.ring;
	uint32_t pos = (uint32_t)st->wr[st->first].wr_id;
	uint32_t i, n = st->n;

	rcm_stage_tell(qp, pos, ret);
	for (i = 1; i < n; i++) {
		rcm_ring_move(ring, pos + i, pos + i - 1);
		rcm_lease_move(ring, pos + i, pos + i - 1);
		st->wr[st->first + i].wr_id = ring->wr_id | (pos + i - 1);
	}
	rcm_ring_unpush(ring);
	st->first++;
	rcm_stage_set_n(st, n - 1);
}

/* The device has taken all before BAD. */
static void rcm_stage_accepted(struct rcm_stage *st,
			       const struct ibv_send_wr *bad)
{
	const struct ibv_send_wr *first = &st->wr[st->first];
	uint32_t n = st->n;

	if (bad <= first || bad >= first + n)
		return;
	st->first += (uint32_t)(bad - first);
	rcm_stage_set_n(st, n - (uint32_t)(bad - first));
}

static ssize_t rcm_stage_ring(struct rcm_qp *qp, bool own)
{
	struct rcm_stage *st = rcm_stage_of(qp);

	while (st->n) {
		struct ibv_send_wr *bad = &st->wr[st->first];
		int err = ibv_post_send(qp->qp, bad, &bad);
		ssize_t ret;

		if (rcm_likely(!err)) {
			rcm_stage_set_n(st, 0);
			return 0;
		}
		rcm_stage_accepted(st, bad);
		ret = rcm_err_from_post(err);
		qp->sq.since_signal = qp->sq.signal_every;
		if (ret == -FI_EAGAIN && rcm_ring_used(&qp->sq.ring) > st->n) {
			if (own)
				rcm_stage_drop_own(qp, st);
			return ret;
		}
		if (ret == -FI_EAGAIN) /* nothing would end it */
			ret = -FI_ENOMEM;
		if (own && st->n == 1) {
			rcm_stage_drop_own(qp, st);
			return ret;
		}
		rcm_stage_fail_first(qp, st, ret);
	}
	return 0;
}

ssize_t rcm_stage_post(struct rcm_qp *qp, const struct ibv_send_wr *wr,
		       bool more)
{
	struct rcm_stage *st = rcm_stage_of(qp);

	if (rcm_stage_add(st, wr) && more)
		return 0;
	return rcm_stage_ring(qp, true);
}

ssize_t rcm_stage_flush(struct rcm_qp *qp)
{
	return rcm_stage_pending(qp) ? rcm_stage_ring(qp, false) : 0;
}

void rcm_stage_cancel(struct rcm_qp *qp)
{
	while (rcm_stage_pending(qp))
		rcm_stage_fail_first(qp, rcm_stage_of(qp), -FI_ECANCELED);
}

void rcm_stage_flush_listed(struct rcm_cqset *cs)
{
	struct rcm_list *node, *tmp;
	struct rcm_stage *st;

	rcm_lock(&cs->stage_lock);
	rcm_list_for_each(&cs->stages, node, tmp) {
		st = rcm_list_entry(node, struct rcm_stage, node);
		if (!atomic_load_explicit(&st->n, memory_order_acquire))
			continue;
		rcm_lock(&st->qp->sq.lock);
		(void)rcm_stage_flush(st->qp);
		rcm_unlock(&st->qp->sq.lock);
	}
	rcm_unlock(&cs->stage_lock);
}
