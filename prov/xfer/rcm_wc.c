/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_wc.h"

#include <rdma/fi_errno.h>

#include "rcm_err.h"
#include "rcm_lease.h"
#include "rcm_log.h"
#include "rcm_qp.h"
#include "rcm_srq.h"

struct rcm_ring rcm_ring_free_number;
struct rcm_ring rcm_ring_lost_number;

static inline bool rcm_wc_is_shared(const struct ibv_wc *wc)
{
	return (wc->wr_id & (RCM_WR_MARKER | RCM_WR_SRQ)) == RCM_WR_SRQ;
}

void rcm_wc_odd(struct rcm_cqset *cs, const struct ibv_wc *wc)
{
	uint64_t number = (wc->wr_id & ~RCM_WR_MARKER) >> 32;
	uint32_t pos = (uint32_t)wc->wr_id;

	if ((wc->wr_id & RCM_WR_MARKER) && number < cs->n_rings) {
		struct rcm_ring *ring = cs->rings[number];

		/* all before the marker has been told, or went well */
		if (ring->depth && rcm_ring_holds(ring, pos - 1))
			rcm_ring_retire(ring, pos - 1);
		return;
	}
	cs->n_stray++;
	RCM_DBG(CQ, "completion %#llx of queue pair %#x belongs to nothing",
		(unsigned long long)wc->wr_id, wc->qp_num);
}

void rcm_wc_keep(struct rcm_cqset *cs, const struct rcm_done *done)
{
	const struct rcm_comp comp = {
		.op_context = done->op_context,
		.flags = done->flags,
		.len = done->len,
		.buf = done->buf,
		.data = done->data,
	};

	rcm_lease_settle(&cs->ended);
	rcm_soft_push(&cs->soft, &comp);
}

/* What an error entry says of the operation in the slot of KIND at POS. */
static void rcm_wc_name(struct rcm_ring *ring, uint32_t pos, uint8_t kind,
			struct rcm_comp *comp)
{
	comp->op_context = ring->context[pos & ring->mask];
	comp->flags = rcm_op_flags[kind & RCM_SLOT_OP];
	if (kind & RCM_SLOT_MULTI) {
		/* released, too, and where the message would have gone */
		comp->flags |= FI_MULTI_RECV;
		comp->buf = rcm_multi_at(ring, pos);
	}
}

/* ofi_rxm takes any error entry's context for its own (design D18) */
static bool rcm_wc_is_told(const struct rcm_ring *ring, uint8_t kind)
{
	return (kind & (RCM_SLOT_ENTRY | RCM_SLOT_MULTI)) ||
	       !ring->qp->attr.layered;
}

bool rcm_wc_cancel(struct rcm_cqset *cs, struct rcm_ring *ring, uint32_t pos,
		   enum ibv_wc_status status, uint32_t spare)
{
	uint8_t kind = ring->kind[pos & ring->mask];
	struct rcm_comp comp = {
		.err = FI_ECANCELED,
		.prov_errno = (int)status,
	};

	rcm_wc_name(ring, pos, kind, &comp);
	if (kind & RCM_SLOT_SPECIAL)
		rcm_slot_end(ring, pos, kind, FI_ECANCELED, 0);
	rcm_lease_settle(&cs->ended);
	if (!rcm_wc_is_told(ring, kind))
		return true;
	if (rcm_soft_room(&cs->soft) <= spare)
		return false;
	rcm_soft_push(&cs->soft, &comp);
	return true;
}

bool rcm_wc_other(struct rcm_cqset *cs, const struct ibv_wc *wc,
		  struct rcm_done *done)
{
	if (rcm_likely(rcm_wc_is_shared(wc)))
		return rcm_srq_done(cs, wc, done);
	rcm_wc_odd(cs, wc);
	return false;
}

void rcm_wc_break(struct rcm_qp *qp, enum ibv_wc_status status)
{
	if (!atomic_exchange(&qp->failed, true) && qp->attr.on_error)
		qp->attr.on_error(qp->attr.user, status);
}

void rcm_wc_failed(struct rcm_cqset *cs, const struct ibv_wc *wc)
{
	struct rcm_ring *ring = rcm_wc_ring(cs, wc);
	uint32_t pos = (uint32_t)wc->wr_id;
	struct rcm_comp comp = { 0 };
	uint8_t kind;

	if (!rcm_ring_holds(ring, pos)) {
		if (rcm_wc_is_shared(wc))
			rcm_srq_failed(cs, wc);
		else
			rcm_wc_odd(cs, wc);
		return;
	}
	kind = ring->kind[pos & ring->mask];
	rcm_wc_name(ring, pos, kind, &comp);
	comp.err = (kind & RCM_SLOT_OP) == RCM_OP_RECV ?
			   rcm_err_from_recv_wc(wc->status) :
			   rcm_err_from_wc(wc->status);
	comp.prov_errno = (int)wc->status;
	comp.vendor_err = wc->vendor_err;
	if (kind & RCM_SLOT_SPECIAL)
		rcm_slot_end(ring, pos, kind, comp.err, 0);
	rcm_ring_retire(ring, pos);

	if (rcm_wc_is_told(ring, kind))
		rcm_soft_push(&cs->soft, &comp);
	if (kind & RCM_SLOT_MULTI)
		rcm_multi_flush(cs, ring, pos);
	rcm_wc_break(ring->qp, wc->status);
}
