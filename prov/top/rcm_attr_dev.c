/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <string.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "rcm_attr.h"
#include "rcm_info.h"
#include "rcm_offer.h"

static size_t rcm_attr_limit(int limit)
{
	return limit > 0 ? (size_t)limit : 0;
}

static int rcm_attr_dev_caps(const struct fi_info *hints,
			     const struct rcm_dev *dev, struct rcm_why *why)
{
	uint64_t asked = hints->caps;

	if (hints->tx_attr)
		asked |= hints->tx_attr->caps;
	if (hints->rx_attr)
		asked |= hints->rx_attr->caps;
	if (!(asked & FI_ATOMIC) || rcm_dev_has_atomics(&dev->attr))
		return 0;
	return rcm_refuse(why,
			  "caps: asked FI_ATOMIC, the device has no "
			  "atomic operations (atomic_cap %d)",
			  (int)dev->attr.atomic_cap);
}

static int rcm_attr_dev_tx(const struct fi_tx_attr *hints, uint64_t caps,
			   const struct rcm_dev *dev, struct rcm_why *why)
{
	int most_iov = (caps & FI_READ) ? rcm_dev_max_read_sge(&dev->attr) :
					  dev->attr.max_sge;
	int ret =
		rcm_refuse_more(why, "tx_attr->size", hints->size,
				rcm_attr_limit(rcm_dev_max_sends(&dev->attr)));

	if (!ret)
		ret = rcm_refuse_more(why, "tx_attr->iov_limit",
				      hints->iov_limit,
				      rcm_attr_limit(most_iov));
	if (!ret && dev->iwarp)
		ret = rcm_refuse_bits(why, "tx_attr->op_flags", hints->op_flags,
				      RCM_TX_OP_FLAGS & ~RCM_IWARP_NO_FLAGS,
				      FI_TYPE_OP_FLAGS);
	if (!ret)
		ret = rcm_refuse_bits(why, "tx_attr->msg_order",
				      hints->msg_order, rcm_info_order(dev),
				      FI_TYPE_MSG_ORDER);
	return ret;
}

static int rcm_attr_dev_rx(const struct fi_rx_attr *hints,
			   const struct rcm_dev *dev, struct rcm_why *why)
{
	int ret = rcm_refuse_more(why, "rx_attr->size", hints->size,
				  rcm_attr_limit(dev->attr.max_qp_wr));

	if (!ret)
		ret = rcm_refuse_bits(why, "rx_attr->msg_order",
				      hints->msg_order, rcm_info_order(dev),
				      FI_TYPE_MSG_ORDER);
	if (!ret)
		ret = rcm_refuse_more(why, "rx_attr->iov_limit",
				      hints->iov_limit,
				      rcm_attr_limit(dev->attr.max_sge));
	return ret;
}

/*
 * The receives of a shared context end in the order in which its endpoints
 * use them up, which is not the order of any one completion queue.
 */
static int rcm_attr_dev_shared(const struct fi_rx_attr *hints,
			       const struct rcm_dev *dev, struct rcm_why *why)
{
	int ret = rcm_refuse_more(
		why, "rx_attr->size (shared)", hints->size,
		rcm_attr_limit(rcm_dev_max_shared_recvs(&dev->attr)));

	if (!ret)
		ret = rcm_refuse_more(why, "rx_attr->iov_limit (shared)",
				      hints->iov_limit,
				      rcm_attr_limit(dev->attr.max_srq_sge));
	if (!ret && hints->comp_order)
		ret = rcm_refuse(why,
				 "rx_attr->comp_order: asked 0x%llx, a shared "
				 "context has none",
				 (unsigned long long)hints->comp_order);
	return ret;
}

static int rcm_attr_dev_rx_ctx(const struct fi_info *hints,
			       const struct rcm_dev *dev, struct rcm_why *why)
{
	bool shared = hints->ep_attr &&
		      hints->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT;

	if (shared && !rcm_dev_max_srq(&dev->attr))
		return rcm_refuse(why, "ep_attr->rx_ctx_cnt: asked "
				       "FI_SHARED_CONTEXT, the device has no "
				       "shared receive queues");
	if (!hints->rx_attr)
		return 0;
	return shared ? rcm_attr_dev_shared(hints->rx_attr, dev, why) :
			rcm_attr_dev_rx(hints->rx_attr, dev, why);
}

static int rcm_attr_dev_ep(const struct fi_ep_attr *hints,
			   const struct fi_ep_attr *offer, struct rcm_why *why)
{
	int ret;

	if (hints->protocol && hints->protocol != offer->protocol)
		return rcm_refuse(why,
				  "ep_attr->protocol: asked %u, offered %u",
				  hints->protocol, offer->protocol);
	ret = rcm_refuse_more(why, "ep_attr->max_msg_size", hints->max_msg_size,
			      offer->max_msg_size);
	if (!ret)
		ret = rcm_refuse_more(why, "ep_attr->max_order_raw_size",
				      hints->max_order_raw_size,
				      offer->max_order_raw_size);
	if (!ret)
		ret = rcm_refuse_more(why, "ep_attr->max_order_waw_size",
				      hints->max_order_waw_size,
				      offer->max_order_waw_size);
	return ret;
}

static int rcm_attr_dev_domain(const struct fi_domain_attr *hints,
			       const struct fi_domain_attr *offer,
			       struct rcm_why *why)
{
	const struct {
		const char *attr;
		size_t asked, offered;
	} sizes[] = {
		{ "domain_attr->cq_data_size", hints->cq_data_size,
		  offer->cq_data_size },
		{ "domain_attr->cq_cnt", hints->cq_cnt, offer->cq_cnt },
		{ "domain_attr->ep_cnt", hints->ep_cnt, offer->ep_cnt },
		{ "domain_attr->tx_ctx_cnt", hints->tx_ctx_cnt,
		  offer->tx_ctx_cnt },
		{ "domain_attr->rx_ctx_cnt", hints->rx_ctx_cnt,
		  offer->rx_ctx_cnt },
		{ "domain_attr->mr_cnt", hints->mr_cnt, offer->mr_cnt },
		{ "domain_attr->max_ep_srx_ctx", hints->max_ep_srx_ctx,
		  offer->max_ep_srx_ctx },
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < RCM_ARRAY_SIZE(sizes); i++)
		ret = rcm_refuse_more(why, sizes[i].attr, sizes[i].asked,
				      sizes[i].offered);
	return ret;
}

static int rcm_attr_dev_fabric(const struct fi_fabric_attr *hints,
			       const struct fi_fabric_attr *offer,
			       struct rcm_why *why)
{
	if (!hints->name || !strcmp(hints->name, offer->name))
		return 0;
	return rcm_refuse(why, "fabric_attr->name: asked %s, it is in %s",
			  hints->name, offer->name);
}

int rcm_attr_check_dev(const struct fi_info *hints, const struct fi_info *offer,
		       const struct rcm_dev *dev, struct rcm_why *why)
{
	int ret = 0;

	if (!hints)
		return 0;
	if (hints->fabric_attr)
		ret = rcm_attr_dev_fabric(hints->fabric_attr,
					  offer->fabric_attr, why);
	if (!ret)
		ret = rcm_attr_dev_caps(hints, dev, why);
	if (!ret && hints->ep_attr)
		ret = rcm_attr_dev_ep(hints->ep_attr, offer->ep_attr, why);
	if (!ret && hints->tx_attr)
		ret = rcm_attr_dev_tx(hints->tx_attr, rcm_info_caps(hints), dev,
				      why);
	if (!ret)
		ret = rcm_attr_dev_rx_ctx(hints, dev, why);
	if (!ret && hints->domain_attr)
		ret = rcm_attr_dev_domain(hints->domain_attr,
					  offer->domain_attr, why);
	return ret;
}
