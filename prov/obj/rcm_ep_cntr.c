/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_ep_cntr.h"

#include <rdma/fi_errno.h>

#include "rcm_cntr.h"
#include "rcm_cq.h"
#include "rcm_ep.h"
#include "rcm_log.h"

/* The flags of fi_ep_bind(3) that a counter takes. */
static const uint64_t rcm_ep_cntr_flags[RCM_CNTR_KINDS] = {
	[RCM_CNTR_SEND] = FI_SEND,
	[RCM_CNTR_RECV] = FI_RECV,
	[RCM_CNTR_READ] = FI_READ,
	[RCM_CNTR_WRITE] = FI_WRITE,
};

#define RCM_EP_CNTR_FLAGS (FI_SEND | FI_RECV | FI_READ | FI_WRITE)
#define RCM_EP_CNTR_RMA	  (FI_REMOTE_READ | FI_REMOTE_WRITE)

/*
 * An application that binds a counter to all that its peer may do is well
 * served by what there is; one that would count nothing is not.
 */
static int rcm_ep_check_remote(uint64_t flags)
{
	bool counts;

	if (!(flags & RCM_EP_CNTR_RMA))
		return 0;
	counts = flags & RCM_EP_CNTR_FLAGS;
	RCM_INFO(EP_CTRL,
		 "what the peer reads and writes is counted with FI_RMA_EVENT "
		 "only, which is not offered%s",
		 counts ? ": the rest is" : "");
	return counts ? 0 : -FI_EOPNOTSUPP;
}

static int rcm_ep_check_cntr(const struct rcm_ep *ep,
			     const struct rcm_cntr *cntr, uint64_t flags)
{
	int kind, ret;

	if (flags & ~(RCM_EP_CNTR_FLAGS | RCM_EP_CNTR_RMA) || !flags)
		return -FI_EBADFLAGS;
	ret = rcm_ep_check_remote(flags);
	if (ret)
		return ret;
	if (cntr->domain != ep->domain)
		return -FI_EDOMAIN;
	for (kind = 0; kind < RCM_CNTR_KINDS; kind++)
		if ((flags & rcm_ep_cntr_flags[kind]) && ep->cntr[kind])
			return -FI_EINVAL;
	return 0;
}

int rcm_ep_bind_cntr(struct rcm_ep *ep, struct rcm_cntr *cntr, uint64_t flags)
{
	int kind, ret = rcm_ep_check_cntr(ep, cntr, flags);

	if (ret)
		return ret;
	for (kind = 0; kind < RCM_CNTR_KINDS; kind++) {
		if (!(flags & rcm_ep_cntr_flags[kind]))
			continue;
		rcm_ref_get(&cntr->refs);
		ep->cntr[kind] = cntr;
	}
	return 0;
}

void rcm_ep_unbind_cntrs(struct rcm_ep *ep)
{
	int kind;

	for (kind = 0; kind < RCM_CNTR_KINDS; kind++)
		if (ep->cntr[kind])
			rcm_ref_put(&ep->cntr[kind]->refs);
}

/* The counter that has the engine of one direction when no fi_cq has it. */
static struct rcm_cntr *rcm_ep_tx_owner(const struct rcm_ep *ep)
{
	static const uint8_t kinds[] = { RCM_CNTR_SEND, RCM_CNTR_WRITE,
					 RCM_CNTR_READ };
	struct rcm_cntr *owner = NULL;

	for (size_t i = 0; !ep->tx_cq && !owner && i < RCM_ARRAY_SIZE(kinds);
	     i++)
		owner = ep->cntr[kinds[i]];
	return owner;
}

static struct rcm_cntr *rcm_ep_rx_owner(const struct rcm_ep *ep)
{
	return ep->rx_cq ? NULL : ep->cntr[RCM_CNTR_RECV];
}

struct rcm_cqset *rcm_ep_tx_set(const struct rcm_ep *ep)
{
	struct rcm_cntr *owner = rcm_ep_tx_owner(ep);

	if (ep->tx_cq)
		return &ep->tx_cq->set;
	return owner ? &owner->own : NULL;
}

struct rcm_cqset *rcm_ep_rx_set(const struct rcm_ep *ep)
{
	struct rcm_cntr *owner = rcm_ep_rx_owner(ep);

	if (ep->rx_cq)
		return &ep->rx_cq->set;
	return owner ? &owner->own : NULL;
}

/* Where the ends of operations of one kind arrive; NULL: there are none. */
static struct rcm_cqset *rcm_ep_set_of(const struct rcm_ep *ep, int kind)
{
	return kind == RCM_CNTR_RECV ? rcm_ep_rx_set(ep) : rcm_ep_tx_set(ep);
}

int rcm_ep_attach_cntrs(struct rcm_ep *ep)
{
	struct rcm_cntr *tx = rcm_ep_tx_owner(ep), *rx = rcm_ep_rx_owner(ep);
	int kind, ret = 0;

	if (tx)
		ret = rcm_cntr_need_own(tx);
	if (!ret && rx)
		ret = rcm_cntr_need_own(rx);
	for (kind = 0; !ret && kind < RCM_CNTR_KINDS; kind++) {
		struct rcm_cqset *set = rcm_ep_set_of(ep, kind);

		if (!ep->cntr[kind] || !set)
			continue;
		ret = rcm_cntr_attach(ep->cntr[kind], set);
		if (!ret)
			ep->attached |= 1u << kind;
	}
	if (ret)
		rcm_ep_detach_cntrs(ep);
	return ret;
}

void rcm_ep_detach_cntrs(struct rcm_ep *ep)
{
	int kind;

	for (kind = 0; kind < RCM_CNTR_KINDS; kind++)
		if (ep->attached & 1u << kind)
			rcm_cntr_detach(ep->cntr[kind],
					rcm_ep_set_of(ep, kind));
	ep->attached = 0;
}

struct rcm_tally *rcm_ep_tally(const struct rcm_ep *ep, enum rcm_cntr_kind kind)
{
	return ep->cntr[kind] ? &ep->cntr[kind]->tally : NULL;
}
