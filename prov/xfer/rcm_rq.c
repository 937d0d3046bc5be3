/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fi_errno.h>

#include "rcm_err.h"
#include "rcm_qp.h"

static inline ssize_t rcm_rq_post_locked(struct rcm_qp *qp,
					 const struct ibv_sge *sge,
					 uint32_t n_sge, void *context,
					 bool wants_entry)
{
	struct rcm_ring *ring = &qp->rq.ring;
	uint8_t kind = ring->kind_always | RCM_OP_RECV;
	struct ibv_recv_wr wr, *bad;
	ssize_t ret;
	int err;

	if (rcm_unlikely(qp->rq.gate))
		return qp->rq.gate;
	if (rcm_unlikely(!rcm_ring_room(ring)))
		return -FI_EAGAIN;
	if (wants_entry)
		kind |= RCM_SLOT_ENTRY;
	wr.wr_id = rcm_ring_push(ring, context, kind);
	wr.next = NULL;
	wr.sg_list = (struct ibv_sge *)sge;
	wr.num_sge = (int)n_sge;
	err = ibv_post_recv(qp->qp, &wr, &bad);
	if (rcm_likely(!err))
		return 0;

	rcm_ring_unpush(ring);
	ret = rcm_err_from_post(err);
	/* nothing would end an -FI_EAGAIN */
	return ret == -FI_EAGAIN && !rcm_ring_used(ring) ? -FI_ENOMEM : ret;
}

/* The device is told at once: a receive's doorbell is no system call. */
ssize_t rcm_rq_post(struct rcm_qp *qp, const struct ibv_sge *sge,
		    uint32_t n_sge, void *context, bool more, bool wants_entry)
{
	ssize_t ret;

	(void)more;
	rcm_lock(&qp->rq.lock);
	ret = rcm_rq_post_locked(qp, sge, n_sge, context, wants_entry);
	rcm_unlock(&qp->rq.lock);
	return ret;
}
