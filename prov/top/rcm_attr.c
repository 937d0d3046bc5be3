/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_attr.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "rcm_info.h"
#include "rcm_log.h"
#include "rcm_offer.h"

const char *rcm_tostr(char buf[RCM_TOSTR], const void *value, enum fi_type type)
{
	buf[0] = '\0';
	return fi_tostr_r(buf, RCM_TOSTR, value, type);
}

int rcm_refuse(struct rcm_why *why, const char *fmt, ...)
{
	struct rcm_why this;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(this.text, sizeof(this.text), fmt, ap);
	va_end(ap);
	RCM_INFO(FABRIC, "no match: %s", this.text);
	if (!why->text[0])
		*why = this;
	return -FI_ENODATA;
}

int rcm_refuse_more(struct rcm_why *why, const char *attr, size_t asked,
		    size_t offered)
{
	if (asked <= offered)
		return 0;
	return rcm_refuse(why, "%s: asked %zu, offered %zu", attr, asked,
			  offered);
}

int rcm_refuse_bits(struct rcm_why *why, const char *attr, uint64_t asked,
		    uint64_t offered, enum fi_type type)
{
	uint64_t missing = asked & ~offered;
	char text[RCM_TOSTR], have[RCM_TOSTR];

	if (!missing)
		return 0;
	return rcm_refuse(why, "%s: asked %s (0x%" PRIx64 "), offered %s", attr,
			  rcm_tostr(text, &missing, type), missing,
			  rcm_tostr(have, &offered, type));
}

static int rcm_attr_check_format(uint32_t format, struct rcm_why *why)
{
	char text[RCM_TOSTR];

	switch (format) {
	case FI_FORMAT_UNSPEC:
	case FI_SOCKADDR:
	case FI_SOCKADDR_IN:
	case FI_SOCKADDR_IN6:
	case RCM_SOCKADDR_IP:
		return 0;
	default:
		return rcm_refuse(why,
				  "addr_format: asked %s, offered FI_SOCKADDR, "
				  "FI_SOCKADDR_IN, FI_SOCKADDR_IN6",
				  rcm_tostr(text, &format,
					    FI_TYPE_ADDR_FORMAT));
	}
}

static int rcm_attr_check_mr(uint32_t version, const struct fi_info *hints,
			     struct rcm_why *why)
{
	struct rcm_mr_form form;
	char text[RCM_TOSTR];
	int missing;

	if (!rcm_info_mr_form(version, hints, &form, &missing))
		return 0;
	return rcm_refuse(
		why,
		"domain_attr->mr_mode: asked 0x%x with API %u.%u, missing %s%s",
		hints->domain_attr ? (unsigned int)hints->domain_attr->mr_mode :
				     0,
		FI_MAJOR(version), FI_MINOR(version),
		rcm_tostr(text, &missing, FI_TYPE_MR_MODE),
		FI_VERSION_LT(version, FI_VERSION(1, 5)) ?
			" (together, before API 1.5: FI_MR_BASIC)" :
			"");
}

static int rcm_attr_check_fabric(const struct fi_fabric_attr *hints,
				 struct rcm_why *why)
{
	/* prov_name may hold more than one name; the core has looked at it */
	if (hints->prov_version > RCM_PROV_VERSION)
		return rcm_refuse(why,
				  "fabric_attr->prov_version: asked %u.%u, "
				  "offered %u.%u",
				  FI_MAJOR(hints->prov_version),
				  FI_MINOR(hints->prov_version),
				  FI_MAJOR(RCM_PROV_VERSION),
				  FI_MINOR(RCM_PROV_VERSION));
	return 0;
}

/*
 * What waits for the application to read cannot go on by itself; and what
 * keeps the order of one endpoint's receives is no shared context's.
 */
static int rcm_attr_check_multi(const struct fi_info *hints, uint64_t caps,
				struct rcm_why *why)
{
	if (!(caps & FI_MULTI_RECV))
		return 0;
	if (hints->domain_attr &&
	    hints->domain_attr->data_progress == FI_PROGRESS_AUTO)
		return rcm_refuse(why, "domain_attr->data_progress: asked "
				       "FI_PROGRESS_AUTO with FI_MULTI_RECV, "
				       "offered FI_PROGRESS_MANUAL");
	if (hints->ep_attr && hints->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT)
		return rcm_refuse(why, "ep_attr->rx_ctx_cnt: asked "
				       "FI_SHARED_CONTEXT with FI_MULTI_RECV, "
				       "offered 1");
	return 0;
}

/*
 * Data that a write brings uses up a receive, which the caller must know. Who
 * does not gets the rest, and is told: programs look addresses up with hints
 * that are not complete yet.
 */
static void rcm_attr_tell_cq_data(const struct fi_info *hints, uint64_t caps)
{
	if (hints->domain_attr && hints->domain_attr->cq_data_size &&
	    rcm_info_has_writes(caps) && !rcm_info_rx_cq_data(hints))
		RCM_INFO(FABRIC,
			 "domain_attr->cq_data_size: asked %zu with FI_RMA and "
			 "without the mode FI_RX_CQ_DATA, given 0",
			 hints->domain_attr->cq_data_size);
}

int rcm_attr_check(uint32_t version, const struct fi_info *hints,
		   struct rcm_why *why)
{
	uint64_t caps = rcm_info_caps(hints);
	int ret = 0;

	if (!hints)
		return 0;
	if (hints->ep_attr)
		ret = rcm_attr_check_ep(hints->ep_attr, why);
	if (!ret)
		ret = rcm_refuse_bits(why, "caps", hints->caps, RCM_CAPS,
				      FI_TYPE_CAPS);
	if (!ret)
		ret = rcm_attr_check_format(hints->addr_format, why);
	if (!ret && hints->tx_attr)
		ret = rcm_attr_check_tx(hints->tx_attr, caps, why);
	if (!ret && hints->rx_attr)
		ret = rcm_attr_check_rx(hints->rx_attr, caps, why);
	if (!ret && hints->domain_attr)
		ret = rcm_attr_check_domain(hints->domain_attr, why);
	if (!ret)
		ret = rcm_attr_check_multi(hints, caps, why);
	rcm_attr_tell_cq_data(hints, caps);
	if (!ret && hints->fabric_attr)
		ret = rcm_attr_check_fabric(hints->fabric_attr, why);
	if (!ret)
		ret = rcm_attr_check_mr(version, hints, why);
	return ret;
}
