/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_cq.h"
#include "rcm_domain.h"
#include "rcm_ep.h"
#include "rcm_ep_cntr.h"
#include "rcm_log.h"
#include "rcm_srx.h"

static int rcm_ep_bind_eq(struct rcm_ep *ep, struct rcm_eq *eq, uint64_t flags)
{
	if (flags)
		return -FI_EBADFLAGS;
	if (eq->fabric != ep->domain->fabric)
		return -FI_EDOMAIN;
	if (ep->eq)
		return -FI_EINVAL;
	rcm_ref_get(&eq->refs);
	/* a request is an event queue's already, which may be looking at it */
	if (ep->req_eq)
		rcm_lock(&ep->req_eq->lock);
	ep->eq = eq;
	ep->work.eq = eq;
	if (ep->req_eq)
		rcm_unlock(&ep->req_eq->lock);
	return 0;
}

static int rcm_ep_bind_cq(struct rcm_ep *ep, struct rcm_cq *cq, uint64_t flags)
{
	bool selective = flags & FI_SELECTIVE_COMPLETION;

	if (flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION) ||
	    !(flags & (FI_TRANSMIT | FI_RECV)))
		return -FI_EBADFLAGS;
	if (cq->domain != ep->domain)
		return -FI_EDOMAIN;
	if (((flags & FI_TRANSMIT) && ep->tx_cq) ||
	    ((flags & FI_RECV) && ep->rx_cq))
		return -FI_EINVAL;
	if (flags & FI_TRANSMIT) {
		rcm_ref_get(&cq->refs);
		ep->tx_cq = cq;
		ep->tx_always = selective ? 0 : RCM_TX_COMPLETE;
	}
	if (flags & FI_RECV) {
		rcm_ref_get(&cq->refs);
		ep->rx_cq = cq;
		ep->rx_selective = selective;
	}
	return 0;
}

/* fi_endpoint(3): an endpoint says beforehand that its context is shared. */
static int rcm_ep_bind_srx(struct rcm_ep *ep, struct rcm_srx *srx,
			   uint64_t flags)
{
	if (flags)
		return -FI_EBADFLAGS;
	if (srx->domain != ep->domain)
		return -FI_EDOMAIN;
	if (!ep->shared_rx)
		RCM_INFO(EP_CTRL, "a shared receive context needs an endpoint "
				  "whose info has rx_ctx_cnt "
				  "FI_SHARED_CONTEXT");
	if (!ep->shared_rx || ep->srx)
		return -FI_EINVAL;
	rcm_ref_get(&srx->refs);
	ep->srx = srx;
	return 0;
}

int rcm_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct rcm_ep *ep = rcm_ep_of_fid(fid);

	if (!bfid)
		return -FI_EINVAL;
	if (ep->enabled)
		return -FI_EOPBADSTATE;
	switch (bfid->fclass) {
	case FI_CLASS_EQ:
		return rcm_ep_bind_eq(
			ep, rcm_container_of(bfid, struct rcm_eq, fid.fid),
			flags);
	case FI_CLASS_CQ:
		return rcm_ep_bind_cq(
			ep, rcm_container_of(bfid, struct rcm_cq, fid.fid),
			flags);
	case FI_CLASS_CNTR:
		return rcm_ep_bind_cntr(
			ep, rcm_container_of(bfid, struct rcm_cntr, fid.fid),
			flags);
	case FI_CLASS_SRX_CTX:
		return rcm_ep_bind_srx(
			ep, rcm_container_of(bfid, struct rcm_srx, fid.fid),
			flags);
	default:
		RCM_INFO(EP_CTRL,
			 "an endpoint binds queues, counters and shared "
			 "receive contexts only, not an object of class %zu",
			 bfid->fclass);
		return -FI_EINVAL;
	}
}
