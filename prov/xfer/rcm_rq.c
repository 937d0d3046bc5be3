/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fi_errno.h>

#include "rcm_err.h"
#include "rcm_lease.h"
#include "rcm_multi.h"
#include "rcm_qp.h"
#include "rcm_short.h"

ssize_t rcm_rq_refused(struct rcm_rq *rq, int err)
{
	ssize_t ret = rcm_err_from_post(err);

	rcm_ring_unpush(&rq->ring);
	/* nothing would end an -FI_EAGAIN */
	return ret == -FI_EAGAIN && !rcm_ring_used(&rq->ring) ? -FI_ENOMEM :
								ret;
}

ssize_t rcm_rq_post_any(struct rcm_qp *qp, const struct ibv_sge *sge,
			uint32_t n_sge, void *context, uint8_t kind)
{
	struct rcm_ring *ring = &qp->rq.ring;
	int err = rcm_gate(&qp->rq.gate);
	uint64_t wr_id;

	if (err)
		return err;
	if (!rcm_ring_room(ring))
		return -FI_EAGAIN;
	wr_id = rcm_ring_push(ring, context, kind);
	/* what the consumer has posted before it let go comes first */
	if (atomic_load_explicit(&qp->rq.hold, memory_order_acquire) &&
	    rcm_multi_hold(qp, sge, n_sge))
		return 0;
	return rcm_rq_give(qp, wr_id, sge, n_sge);
}

/*
 * The device is told at once, whatever MORE says: a receive's doorbell is a
 * write to memory, no system call, and fi_msg(3) calls the flag a hint.
 */
ssize_t rcm_rq_post(struct rcm_qp *qp, const struct ibv_sge *sge,
		    uint32_t n_sge, void *context, bool more, bool wants_entry)
{
	ssize_t ret;

	(void)more;
	rcm_lock(&qp->rq.lock);
	ret = rcm_rq_post_any(qp, sge, n_sge, context,
			      rcm_rq_kind(&qp->rq.ring, wants_entry));
	rcm_unlock(&qp->rq.lock);
	return ret;
}

ssize_t rcm_rq_check(struct rcm_qp *qp)
{
	if (qp->rq.gate)
		return qp->rq.gate;
	return rcm_ring_room(&qp->rq.ring) ? 0 : -FI_EAGAIN;
}

/* What would be refused anyway is not registered first. */
ssize_t rcm_rq_check_lending(struct rcm_qp *qp)
{
	ssize_t ret;

	rcm_lock(&qp->rq.lock);
	ret = rcm_rq_check(qp);
	rcm_unlock(&qp->rq.lock);
	return ret;
}

static ssize_t rcm_rq_post_leased(struct rcm_qp *qp, const struct ibv_sge *sge,
				  uint32_t n_sge, void *context, uint8_t kind,
				  struct rcm_lease *lease)
{
	struct rcm_ring *ring = &qp->rq.ring;
	ssize_t ret = rcm_rq_check(qp);

	if (ret)
		return ret;
	rcm_lease_set(ring, atomic_load(&ring->tail), lease);
	ret = rcm_rq_post_any(qp, sge, n_sge, context, kind | RCM_SLOT_SPECIAL);
	if (ret) /* the slot is the next one's again */
		rcm_lease_set(ring, atomic_load(&ring->tail), NULL);
	return ret;
}

/* No lock is held while the memory is registered. */
ssize_t rcm_rq_post_lending(struct rcm_qp *qp, struct ibv_sge *sge,
			    uint32_t n_sge, void *context, bool wants_entry)
{
	struct rcm_ring *ring = &qp->rq.ring;
	struct rcm_lease *lease = NULL;
	ssize_t ret = rcm_rq_check_lending(qp);

	if (!ret)
		ret = rcm_lease_get(ring->leases, sge, n_sge, false, &lease);
	if (ret)
		return ret;
	rcm_lock(&qp->rq.lock);
	ret = rcm_rq_post_leased(qp, sge, n_sge, context,
				 rcm_rq_kind(ring, wants_entry), lease);
	rcm_unlock(&qp->rq.lock);
	if (ret)
		rcm_lease_put(lease);
	return ret;
}
