/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fi_domain.h>

#include "rcm_attr.h"
#include "rcm_offer.h"
#include "rcm_wire.h"

static int rcm_attr_check_threading(enum fi_threading asked,
				    struct rcm_why *why)
{
	switch (asked) {
	case FI_THREAD_UNSPEC:
	case FI_THREAD_SAFE:
	case FI_THREAD_FID:
	case FI_THREAD_DOMAIN:
	case FI_THREAD_COMPLETION:
	case FI_THREAD_ENDPOINT:
		return 0;
	default:
		return rcm_refuse(why,
				  "domain_attr->threading: asked %d, "
				  "which this version does not know",
				  (int)asked);
	}
}

static int rcm_attr_check_progress(const struct fi_domain_attr *hints,
				   struct rcm_why *why)
{
	switch ((int)hints->control_progress) {
	case FI_PROGRESS_UNSPEC:
	case FI_PROGRESS_AUTO:
	case FI_PROGRESS_MANUAL:
	case RCM_PROGRESS_UNIFIED:
		break;
	default:
		return rcm_refuse(why,
				  "domain_attr->control_progress: asked %d, "
				  "which this version does not know",
				  (int)hints->control_progress);
	}
	switch ((int)hints->data_progress) {
	case FI_PROGRESS_UNSPEC:
	case FI_PROGRESS_AUTO:
	case FI_PROGRESS_MANUAL:
	case RCM_PROGRESS_UNIFIED:
		return 0;
	default:
		return rcm_refuse(why,
				  "domain_attr->data_progress: asked %d, "
				  "which this version does not know",
				  (int)hints->data_progress);
	}
}

static int rcm_attr_check_models(const struct fi_domain_attr *hints,
				 struct rcm_why *why)
{
	int ret = rcm_attr_check_threading(hints->threading, why);

	if (!ret)
		ret = rcm_attr_check_progress(hints, why);
	if (!ret && hints->resource_mgmt > FI_RM_ENABLED)
		ret = rcm_refuse(why,
				 "domain_attr->resource_mgmt: asked %d, "
				 "offered FI_RM_ENABLED",
				 (int)hints->resource_mgmt);
	/* connected endpoints use no address vector: any type will do */
	if (!ret && hints->av_type > FI_AV_TABLE)
		ret = rcm_refuse(why, "domain_attr->av_type: asked %d",
				 (int)hints->av_type);
	return ret;
}

/*
 * Limits that are the same on every device. mr_key_size is not among them:
 * the keys are the device's, and a caller with room for longer ones is well
 * served.
 */
int rcm_attr_check_domain(const struct fi_domain_attr *hints,
			  struct rcm_why *why)
{
	const struct {
		const char *attr;
		size_t asked, offered;
	} sizes[] = {
		{ "domain_attr->cq_data_size", hints->cq_data_size,
		  RCM_CQ_DATA_SIZE },
		{ "domain_attr->cntr_cnt", hints->cntr_cnt, RCM_CNTR_CNT },
		{ "domain_attr->max_ep_tx_ctx", hints->max_ep_tx_ctx, 1 },
		{ "domain_attr->max_ep_rx_ctx", hints->max_ep_rx_ctx, 1 },
		{ "domain_attr->max_ep_stx_ctx", hints->max_ep_stx_ctx, 0 },
		{ "domain_attr->mr_iov_limit", hints->mr_iov_limit,
		  RCM_MR_IOV_LIMIT },
		{ "domain_attr->max_err_data", hints->max_err_data,
		  RCM_CM_DATA_MAX },
		{ "domain_attr->auth_key_size", hints->auth_key_size, 0 },
	};
	int ret = rcm_attr_check_models(hints, why);

	if (!ret)
		ret = rcm_refuse_bits(why, "domain_attr->caps", hints->caps,
				      RCM_DOMAIN_CAPS, FI_TYPE_CAPS);
	if (!ret)
		ret = rcm_attr_check_tclass("domain_attr->tclass",
					    hints->tclass, why);
	for (size_t i = 0; !ret && i < RCM_ARRAY_SIZE(sizes); i++)
		ret = rcm_refuse_more(why, sizes[i].attr, sizes[i].asked,
				      sizes[i].offered);
	return ret;
}
