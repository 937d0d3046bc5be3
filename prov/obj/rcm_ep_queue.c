/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fi_errno.h>

#include "rcm_ep.h"
#include "rcm_multi.h"

/* What an application may ask of an endpoint's queues beside posting. */

/*
 * A work request that the device has cannot be taken back from it but by
 * the end of the connection; what is held back behind a buffer of
 * FI_MULTI_RECV can. So of the rest it is said what it is: with the device,
 * -FI_ENOSYS, or not outstanding, -FI_ENOENT. No context, nothing to find.
 */
ssize_t rcm_ep_cancel(fid_t fid, void *context)
{
	struct rcm_ep *ep = rcm_ep_of_fid(fid);
	ssize_t ret;

	if (!context || !ep->qp.qp)
		return -FI_ENOENT;
	ret = rcm_multi_cancel(&ep->qp, context);
	if (ret == -FI_ENOENT && rcm_qp_has(&ep->qp, context))
		ret = -FI_ENOSYS;
	return ret;
}

/*
 * The slots that are free now: a lower bound, as the page says, since a
 * completion that nobody has read may free more.
 */
static ssize_t rcm_ep_size_left(const struct rcm_ep *ep, struct rcm_lock *lock,
				struct rcm_ring *ring)
{
	uint32_t used;

	if (!ep->qp.qp)
		return -FI_EOPBADSTATE;
	if (!ring->depth)
		return -FI_EOPNOTSUPP;
	rcm_lock(lock); /* or the tail could be older than the head */
	used = rcm_ring_used(ring);
	rcm_unlock(lock);
	return (ssize_t)(ring->depth - used);
}

ssize_t rcm_ep_rx_size_left(struct fid_ep *fid)
{
	struct rcm_ep *ep = rcm_ep_of(fid);

	return rcm_ep_size_left(ep, &ep->qp.rq.lock, &ep->qp.rq.ring);
}

ssize_t rcm_ep_tx_size_left(struct fid_ep *fid)
{
	struct rcm_ep *ep = rcm_ep_of(fid);

	return rcm_ep_size_left(ep, &ep->qp.sq.lock, &ep->qp.sq.ring);
}
