/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fi_endpoint.h>

#include "rcm_attr.h"
#include "rcm_offer.h"
#include "rcm_param.h"
#include "rcm_tclass.h"

/*
 * fi_endpoint(3): the capabilities of a context are a subset of those of the
 * endpoint. Bits of the other direction say nothing here and are passed
 * over, since applications copy their whole set.
 */
static int rcm_attr_check_side(const char *attr, uint64_t asked, uint64_t side,
			       uint64_t caps, struct rcm_why *why)
{
	int ret = rcm_refuse_bits(why, attr, asked, RCM_CAPS, FI_TYPE_CAPS);

	if (ret)
		return ret;
	return rcm_refuse_bits(why, attr, asked & side, caps, FI_TYPE_CAPS);
}

int rcm_attr_check_tclass(const char *attr, uint32_t asked, struct rcm_why *why)
{
	int tos;

	if (!rcm_tclass_tos(asked, &tos))
		return 0;
	return rcm_refuse(why,
			  "%s: asked 0x%x, which is neither a label nor a code "
			  "point of 6 bits",
			  attr, asked);
}

static int rcm_attr_check_order(const char *msg_attr, uint64_t msg_order,
				const char *comp_attr, uint64_t comp_order,
				struct rcm_why *why)
{
	int ret = rcm_refuse_bits(why, msg_attr, msg_order, RCM_MSG_ORDER,
				  FI_TYPE_MSG_ORDER);

	if (ret)
		return ret;
	if (comp_order & ~RCM_OLD_ORDER_STRICT)
		return rcm_refuse(why,
				  "%s: asked 0x%llx, offered strict order of "
				  "completions, none of data",
				  comp_attr, (unsigned long long)comp_order);
	return 0;
}

static size_t rcm_attr_most_inject(void)
{
	const struct rcm_param_row *rows;
	unsigned int n;

	rows = rcm_param_rows(&n);
	for (unsigned int i = 0; i < n; i++) {
		if (rows[i].value == &rcm_param.inject_size)
			return (size_t)rows[i].high;
	}
	return (size_t)rcm_param.inject_size;
}

int rcm_attr_check_tx(const struct fi_tx_attr *hints, uint64_t caps,
		      struct rcm_why *why)
{
	int ret;

	ret = rcm_attr_check_side("tx_attr->caps", hints->caps, RCM_TX_CAPS,
				  caps, why);
	if (!ret)
		ret = rcm_refuse_bits(why, "tx_attr->op_flags", hints->op_flags,
				      RCM_TX_OP_FLAGS, FI_TYPE_OP_FLAGS);
	if (!ret)
		ret = rcm_attr_check_order("tx_attr->msg_order",
					   hints->msg_order,
					   "tx_attr->comp_order",
					   hints->comp_order, why);
	if (!ret)
		ret = rcm_refuse_more(why, "tx_attr->inject_size",
				      hints->inject_size,
				      rcm_attr_most_inject());
	if (!ret)
		ret = rcm_refuse_more(why, "tx_attr->rma_iov_limit",
				      hints->rma_iov_limit, RCM_RMA_IOV_LIMIT);
	if (!ret)
		ret = rcm_attr_check_tclass("tx_attr->tclass", hints->tclass,
					    why);
	return ret;
}

int rcm_attr_check_rx(const struct fi_rx_attr *hints, uint64_t caps,
		      struct rcm_why *why)
{
	uint64_t op_flags = RCM_RX_OP_FLAGS;
	int ret;

	if (!(caps & FI_MULTI_RECV))
		op_flags &= ~FI_MULTI_RECV;
	ret = rcm_attr_check_side("rx_attr->caps", hints->caps, RCM_RX_CAPS,
				  caps, why);
	if (!ret)
		ret = rcm_refuse_bits(why, "rx_attr->op_flags", hints->op_flags,
				      op_flags, FI_TYPE_OP_FLAGS);
	if (!ret)
		ret = rcm_attr_check_order("rx_attr->msg_order",
					   hints->msg_order,
					   "rx_attr->comp_order",
					   hints->comp_order, why);
	/* a message without a posted buffer is sent again, not kept */
	if (!ret)
		ret = rcm_refuse_more(why, "rx_attr->total_buffered_recv",
				      hints->total_buffered_recv, 0);
	return ret;
}
