/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_info.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "rcm_base.h"
#include "rcm_offer.h"

/* What an application chose, taken over from its hints. */

static void rcm_narrow_size(size_t *value, size_t asked)
{
	if (asked)
		*value = asked;
}

/*
 * The capabilities of one direction, with those alone whose modifiers are
 * among its; none without any.
 */
static uint64_t rcm_narrow_caps(uint64_t side, uint64_t mods, uint64_t caps,
				uint64_t asked)
{
	caps &= side;
	asked = rcm_info_expand(asked) & side;
	if (asked & mods)
		caps &= asked | ~(mods | RCM_PRIMARY_CAPS);
	caps &= ~rcm_info_idle(caps);
	return (caps & mods) ? caps : 0;
}

static void rcm_narrow_tx(struct fi_info *info, const struct fi_tx_attr *hints)
{
	struct fi_tx_attr *tx = info->tx_attr;

	tx->caps = rcm_narrow_caps(RCM_TX_CAPS, RCM_INITIATOR_CAPS, info->caps,
				   hints ? hints->caps : 0);
	if (!hints)
		return;
	tx->op_flags = hints->op_flags & RCM_TX_OP_FLAGS;
	tx->tclass = hints->tclass;
	rcm_narrow_size(&tx->inject_size, hints->inject_size);
	rcm_narrow_size(&tx->size, hints->size);
	rcm_narrow_size(&tx->iov_limit, hints->iov_limit);
	rcm_narrow_size(&tx->rma_iov_limit, hints->rma_iov_limit);
}

static void rcm_narrow_rx(struct fi_info *info, const struct fi_rx_attr *hints)
{
	struct fi_rx_attr *rx = info->rx_attr;

	rx->caps = rcm_narrow_caps(RCM_RX_CAPS, RCM_TARGET_CAPS, info->caps,
				   hints ? hints->caps : 0);
	if (!hints)
		return;
	rx->op_flags = hints->op_flags & RCM_RX_OP_FLAGS;
	rcm_narrow_size(&rx->size, hints->size);
	rcm_narrow_size(&rx->iov_limit, hints->iov_limit);
}

/*
 * The two levels that spare locks are echoed; what lies between them and
 * FI_THREAD_SAFE is served by that.
 */
static void rcm_narrow_domain(struct fi_domain_attr *domain,
			      const struct fi_domain_attr *hints)
{
	if (hints->threading == FI_THREAD_DOMAIN ||
	    hints->threading == FI_THREAD_COMPLETION)
		domain->threading = hints->threading;
	if (hints->control_progress)
		domain->control_progress = hints->control_progress;
	if (hints->data_progress)
		domain->data_progress = hints->data_progress;
	domain->av_type = hints->av_type;
	domain->tclass = hints->tclass;
}

/*
 * An application that wants to run in prefix mode may: the prefix that it
 * has to leave before its messages is of no bytes (msg_prefix_size).
 */
static void rcm_narrow_prefix(struct fi_info *info, const struct fi_info *hints)
{
	if (!hints || !(hints->mode & FI_MSG_PREFIX))
		return;
	info->mode |= FI_MSG_PREFIX;
	info->tx_attr->mode |= FI_MSG_PREFIX;
	info->rx_attr->mode |= FI_MSG_PREFIX;
}

/*
 * A write with data uses up a receive of the target: without the mode bit
 * that says so there is no such data, of which cq_data_size makes no
 * difference between writes and messages.
 */
static void rcm_narrow_cq_data(struct fi_info *info,
			       const struct fi_info *hints)
{
	if (!rcm_info_has_writes(info->caps) ||
	    !info->domain_attr->cq_data_size)
		return;
	if (!rcm_info_rx_cq_data(hints)) {
		info->domain_attr->cq_data_size = 0;
		return;
	}
	info->mode |= FI_RX_CQ_DATA;
	info->rx_attr->mode |= FI_RX_CQ_DATA;
}

static void rcm_narrow_cut(size_t *value, int limit)
{
	*value = RCM_MIN(*value, (size_t)limit);
}

void rcm_info_fit(struct fi_info *info, const struct rcm_dev *dev)
{
	struct fi_rx_attr *rx = info->rx_attr;

	if (info->caps & FI_READ)
		rcm_narrow_cut(&info->tx_attr->iov_limit,
			       rcm_dev_max_read_sge(&dev->attr));
	if (info->ep_attr->rx_ctx_cnt != FI_SHARED_CONTEXT)
		return;
	rcm_narrow_cut(&rx->size, rcm_dev_max_shared_recvs(&dev->attr));
	rcm_narrow_cut(&rx->iov_limit, dev->attr.max_srq_sge);
	rx->comp_order = 0;
}

/*
 * INFO's are what the device has: of a listener's hints it may be less than
 * was granted there, and then what modified that alone goes, too.
 */
static void rcm_narrow_all_caps(struct fi_info *info,
				const struct fi_info *hints)
{
	uint64_t asked = rcm_info_caps(hints);
	uint64_t caps = asked & info->caps;

	if (caps != asked)
		caps &= rcm_info_expand(caps & ~RCM_MODIFIER_CAPS) |
			~RCM_MODIFIER_CAPS;
	info->caps = caps;
}

void rcm_info_narrow(struct fi_info *info, uint32_t version,
		     const struct fi_info *hints)
{
	struct rcm_mr_form form;
	int missing;

	rcm_narrow_all_caps(info, hints);
	rcm_narrow_tx(info, hints ? hints->tx_attr : NULL);
	rcm_narrow_rx(info, hints ? hints->rx_attr : NULL);
	if (hints && hints->ep_attr &&
	    hints->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT)
		info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	if (hints && hints->domain_attr)
		rcm_narrow_domain(info->domain_attr, hints->domain_attr);
	if ((info->caps & RCM_MANUAL_CAPS) &&
	    info->domain_attr->data_progress == FI_PROGRESS_AUTO)
		info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	if (!rcm_info_mr_form(version, hints, &form, &missing)) {
		info->domain_attr->mr_mode = form.mr_mode;
		info->mode = form.local_mr ? RCM_OLD_LOCAL_MR : 0;
	}
	rcm_narrow_prefix(info, hints);
	rcm_narrow_cq_data(info, hints);
	if (hints && hints->handle && hints->handle->fclass == FI_CLASS_PEP)
		info->handle = hints->handle;
}
