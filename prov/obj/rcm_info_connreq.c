/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_info.h"

#include <string.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "rcm_nic.h"
#include "rcm_offer.h"

/* The address of DEV that a request came in on. */
static struct rcm_dev_addr rcm_connreq_addr(const struct rcm_dev *dev,
					    const union rcm_addr *src)
{
	struct rcm_dev_addr addr = { .addr = *src, .port_num = dev->port_num };

	for (unsigned int i = 0; i < dev->n_addrs; i++) {
		if (rcm_addr_same_host(&dev->addrs[i].addr, src))
			addr.port_num = dev->addrs[i].port_num;
	}
	return addr;
}

static void rcm_connreq_cut(size_t *value, int limit)
{
	if (limit > 0 && *value > (size_t)limit)
		*value = (size_t)limit;
}

/* What was chosen for the listener's device may be more than this one has. */
static void rcm_connreq_fit(struct fi_info *info, const struct rcm_dev *dev)
{
	rcm_connreq_cut(&info->tx_attr->size, rcm_dev_max_sends(&dev->attr));
	if (info->ep_attr->rx_ctx_cnt != FI_SHARED_CONTEXT) {
		rcm_connreq_cut(&info->rx_attr->size, dev->attr.max_qp_wr);
		rcm_connreq_cut(&info->rx_attr->iov_limit, dev->attr.max_sge);
	}
	rcm_connreq_cut(&info->tx_attr->iov_limit, dev->attr.max_sge);
	rcm_info_fit(info, dev);
}

struct fi_info *rcm_info_connreq(const struct fi_info *pep,
				 const struct rcm_dev *dev,
				 const union rcm_addr *src,
				 const union rcm_addr *dst)
{
	uint32_t version = pep->fabric_attr ? pep->fabric_attr->api_version : 0;
	struct rcm_dev_addr addr = rcm_connreq_addr(dev, src);
	struct fi_info *info;

	if (!dev->usable)
		return NULL;
	/* an info that was put together by hand does not name its version */
	if (!version)
		version = fi_version();
	info = rcm_info_new(version, dev, &addr);
	if (!info)
		return NULL;
	/* the core fills these in what fi_getinfo() gives, not here */
	info->fabric_attr->prov_version = RCM_PROV_VERSION;
	info->fabric_attr->prov_name = strdup("rcm");
	if (!info->fabric_attr->prov_name) {
		fi_freeinfo(info);
		return NULL;
	}
	rcm_info_narrow(info, version, pep);
	info->handle = NULL;
	if (rcm_nic_is_layered(pep))
		rcm_nic_set_layered(info->nic);
	rcm_connreq_fit(info, dev);
	if (rcm_info_set_addrs(info, pep->addr_format, src, dst)) {
		fi_freeinfo(info);
		return NULL;
	}
	return info;
}
