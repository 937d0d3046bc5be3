/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <inttypes.h>

#include <rdma/fi_endpoint.h>

#include "rcm_attr.h"
#include "rcm_offer.h"

static int rcm_attr_check_type(enum fi_ep_type type, struct rcm_why *why)
{
	char text[RCM_TOSTR];

	if (type == FI_EP_UNSPEC || type == FI_EP_MSG)
		return 0;
	return rcm_refuse(why, "ep_attr->type: asked %s, offered FI_EP_MSG",
			  rcm_tostr(text, &type, FI_TYPE_EP_TYPE));
}

static int rcm_attr_check_protocol(const struct fi_ep_attr *hints,
				   struct rcm_why *why)
{
	char text[RCM_TOSTR];

	switch (hints->protocol) {
	case FI_PROTO_UNSPEC:
	case FI_PROTO_RDMA_CM_IB_RC:
	case FI_PROTO_IWARP:
		break;
	default:
		return rcm_refuse(why,
				  "ep_attr->protocol: asked %s, offered "
				  "FI_PROTO_RDMA_CM_IB_RC, FI_PROTO_IWARP",
				  rcm_tostr(text, &hints->protocol,
					    FI_TYPE_PROTOCOL));
	}
	return rcm_refuse_more(why, "ep_attr->protocol_version",
			       hints->protocol_version, RCM_PROTO_VERSION);
}

/* Whether a receive context may be shared is the device's matter. */
static int rcm_attr_check_ctx(const struct fi_ep_attr *hints,
			      struct rcm_why *why)
{
	if (hints->tx_ctx_cnt == FI_SHARED_CONTEXT)
		return rcm_refuse(why, "ep_attr->tx_ctx_cnt: asked "
				       "FI_SHARED_CONTEXT, offered 1");
	if (hints->tx_ctx_cnt > 1)
		return rcm_refuse_more(why, "ep_attr->tx_ctx_cnt",
				       hints->tx_ctx_cnt, 1);
	if (hints->rx_ctx_cnt == FI_SHARED_CONTEXT)
		return 0;
	return rcm_refuse_more(why, "ep_attr->rx_ctx_cnt", hints->rx_ctx_cnt,
			       1);
}

/* msg_prefix_size is what the caller would put up with; none is needed. */
int rcm_attr_check_ep(const struct fi_ep_attr *hints, struct rcm_why *why)
{
	int ret = rcm_attr_check_type(hints->type, why);

	if (!ret)
		ret = rcm_attr_check_protocol(hints, why);
	/* of the orders that are kept, the device says the sizes */
	if (!ret)
		ret = rcm_refuse_more(why, "ep_attr->max_order_war_size",
				      hints->max_order_war_size, 0);
	if (!ret && hints->mem_tag_format)
		ret = rcm_refuse(why,
				 "ep_attr->mem_tag_format: asked 0x%" PRIx64
				 ", there are no tagged messages",
				 hints->mem_tag_format);
	if (!ret)
		ret = rcm_attr_check_ctx(hints, why);
	if (!ret)
		ret = rcm_refuse_more(why, "ep_attr->auth_key_size",
				      hints->auth_key_size, 0);
	return ret;
}
