/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_nic.h"
#include "rcm_offer.h"
#include "rcm_param.h"
#include "rcm_wire.h"

const char *rcm_info_fabric_name(const struct rcm_dev *dev,
				 const struct rcm_dev_port *port,
				 char buf[RCM_FABRIC_NAME])
{
	uint64_t prefix = 0;

	for (int i = 0; i < 8; i++)
		prefix = prefix << 8 | port->gid.raw[i];
	if (dev->iwarp)
		snprintf(buf, RCM_FABRIC_NAME, "iWARP");
	else if (port->attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		snprintf(buf, RCM_FABRIC_NAME, "RoCE");
	else
		snprintf(buf, RCM_FABRIC_NAME, "IB-0x%016" PRIx64, prefix);
	return buf;
}

/* A device's limit; what it should not say (less than 0) counts as 0. */
static size_t rcm_info_limit(int limit)
{
	return limit > 0 ? (size_t)limit : 0;
}

static size_t rcm_info_default(int param, int limit)
{
	return RCM_MIN((size_t)param, rcm_info_limit(limit));
}

/* Completions are in order per queue; 2.0 took the attribute's use away. */
static uint64_t rcm_info_comp_order(uint32_t version)
{
	return FI_VERSION_LT(version, FI_VERSION(2, 0)) ? RCM_OLD_ORDER_STRICT :
							  0;
}

uint64_t rcm_info_order(const struct rcm_dev *dev)
{
	return dev->iwarp ? RCM_IWARP_ORDER : RCM_MSG_ORDER;
}

static void rcm_info_fill_tx(struct fi_tx_attr *tx, uint32_t version,
			     const struct rcm_dev *dev)
{
	tx->caps = RCM_TX_CAPS;
	tx->msg_order = rcm_info_order(dev);
	tx->comp_order = rcm_info_comp_order(version);
	tx->inject_size = (size_t)rcm_param.inject_size;
	tx->size = rcm_info_default(rcm_param.tx_size,
				    rcm_dev_max_sends(&dev->attr));
	tx->iov_limit = rcm_info_default(rcm_param.iov_limit,
					 dev->attr.max_sge);
	tx->rma_iov_limit = RCM_RMA_IOV_LIMIT;
}

static void rcm_info_fill_rx(struct fi_rx_attr *rx, uint32_t version,
			     const struct rcm_dev *dev)
{
	rx->caps = RCM_RX_CAPS;
	rx->msg_order = rcm_info_order(dev);
	rx->comp_order = rcm_info_comp_order(version);
	rx->size = rcm_info_default(rcm_param.rx_size, dev->attr.max_qp_wr);
	rx->iov_limit = rcm_info_default(rcm_param.iov_limit,
					 dev->attr.max_sge);
}

static void rcm_info_fill_ep(struct fi_ep_attr *ep, const struct rcm_dev *dev,
			     const struct rcm_dev_port *port)
{
	ep->type = FI_EP_MSG;
	ep->protocol = dev->iwarp ? FI_PROTO_IWARP : FI_PROTO_RDMA_CM_IB_RC;
	ep->protocol_version = RCM_PROTO_VERSION;
	ep->max_msg_size = port->attr.max_msg_sz;
	if (!dev->iwarp) {
		ep->max_order_raw_size = ep->max_msg_size;
		ep->max_order_waw_size = ep->max_msg_size;
	}
	ep->tx_ctx_cnt = 1;
	ep->rx_ctx_cnt = 1;
}

/* The tail of struct fi_domain_attr from 2.5 on, whatever our headers say. */
struct rcm_info_cntr_tail {
	uint64_t max_cntr_value;
	uint64_t max_err_cntr_value;
};
#define RCM_INFO_CNTR_TAIL 208 /* bytes from the start */

void rcm_info_set_cntr_max(struct fi_domain_attr *domain, uint32_t core)
{
	const struct rcm_info_cntr_tail tail = { UINT64_MAX, UINT64_MAX };

	if (FI_VERSION_GE(core, FI_VERSION(2, 5)))
		memcpy((char *)domain + RCM_INFO_CNTR_TAIL, &tail,
		       sizeof(tail));
}

static int rcm_info_fill_domain(struct fi_domain_attr *domain,
				const struct rcm_dev *dev)
{
	domain->name = strdup(dev->name);
	if (!domain->name)
		return -FI_ENOMEM;
	domain->threading = FI_THREAD_SAFE;
	/* reading the event queue drives connections, unless AUTO is asked */
	domain->control_progress = FI_PROGRESS_MANUAL;
	domain->data_progress = FI_PROGRESS_AUTO;
	domain->resource_mgmt = FI_RM_ENABLED;
	domain->av_type = FI_AV_UNSPEC;
	domain->mr_key_size = RCM_MR_KEY_SIZE;
	domain->cq_data_size = dev->iwarp ? 0 : RCM_CQ_DATA_SIZE;
	domain->cq_cnt = rcm_info_limit(dev->attr.max_cq);
	domain->ep_cnt = rcm_info_limit(dev->attr.max_qp);
	domain->tx_ctx_cnt = domain->ep_cnt;
	domain->rx_ctx_cnt = domain->ep_cnt;
	domain->max_ep_tx_ctx = 1;
	domain->max_ep_rx_ctx = 1;
	domain->cntr_cnt = RCM_CNTR_CNT;
	domain->max_ep_srx_ctx = (size_t)rcm_dev_max_srq(&dev->attr);
	rcm_info_set_cntr_max(domain, fi_version());
	domain->mr_iov_limit = RCM_MR_IOV_LIMIT;
	domain->caps = RCM_DOMAIN_CAPS;
	/* the largest is the private data of a refusal, on an event queue */
	domain->max_err_data = RCM_CM_DATA_MAX;
	domain->mr_cnt = rcm_info_limit(dev->attr.max_mr);
	domain->tclass = FI_TC_UNSPEC;
	return 0;
}

/* What only some devices have. */
static void rcm_info_fit_caps(struct fi_info *info, const struct rcm_dev *dev)
{
	if (rcm_dev_has_atomics(&dev->attr))
		return;
	info->caps &= ~FI_ATOMIC;
	info->tx_attr->caps &= ~FI_ATOMIC;
	info->rx_attr->caps &= ~FI_ATOMIC;
}

static int rcm_info_fill(struct fi_info *info, uint32_t version,
			 const struct rcm_dev *dev,
			 const struct rcm_dev_port *port,
			 const union rcm_addr *addr)
{
	char fabric[RCM_FABRIC_NAME];
	struct rcm_mr_form form;
	int missing;
	int ret;

	ret = rcm_info_mr_form(version, NULL, &form, &missing);
	if (ret)
		return ret;
	info->caps = RCM_CAPS;
	info->mode = form.local_mr ? RCM_OLD_LOCAL_MR : 0;
	rcm_info_fill_tx(info->tx_attr, version, dev);
	rcm_info_fill_rx(info->rx_attr, version, dev);
	rcm_info_fit_caps(info, dev);
	rcm_info_fill_ep(info->ep_attr, dev, port);
	ret = rcm_info_fill_domain(info->domain_attr, dev);
	if (ret)
		return ret;
	info->domain_attr->mr_mode = form.mr_mode;
	/* prov_name stays NULL: the core fills it */
	info->fabric_attr->name =
		strdup(rcm_info_fabric_name(dev, port, fabric));
	info->fabric_attr->api_version = version;
	info->nic = rcm_nic_new(dev, port);
	if (!info->fabric_attr->name || !info->nic)
		return -FI_ENOMEM;
	return rcm_info_set_addrs(info, FI_FORMAT_UNSPEC, addr, NULL);
}

struct fi_info *rcm_info_new(uint32_t version, const struct rcm_dev *dev,
			     const struct rcm_dev_addr *addr)
{
	const struct rcm_dev_port *port = rcm_dev_port(dev, addr->port_num);
	struct fi_info *info;

	if (!port)
		return NULL;
	/* the core's own size of every struct, which may be newer than ours */
	info = fi_allocinfo();
	if (!info)
		return NULL;
	if (rcm_info_fill(info, version, dev, port, &addr->addr)) {
		fi_freeinfo(info);
		return NULL;
	}
	return info;
}

static uint32_t rcm_info_format(uint32_t asked, const union rcm_addr *addr)
{
	if (asked == FI_SOCKADDR || asked == RCM_SOCKADDR_IP)
		return asked;
	return addr->sa.sa_family == AF_INET6 ? FI_SOCKADDR_IN6 :
						FI_SOCKADDR_IN;
}

static int rcm_info_put_addr(void **to, size_t *len, const union rcm_addr *addr)
{
	void *copy = NULL;

	*len = addr ? rcm_addr_len(&addr->sa) : 0;
	if (addr) {
		copy = malloc(*len);
		if (!copy)
			return -FI_ENOMEM;
		memcpy(copy, addr, *len);
	}
	free(*to);
	*to = copy;
	return 0;
}

int rcm_info_set_addrs(struct fi_info *info, uint32_t format,
		       const union rcm_addr *src, const union rcm_addr *dst)
{
	int ret = rcm_info_put_addr(&info->src_addr, &info->src_addrlen, src);

	if (!ret)
		ret = rcm_info_put_addr(&info->dest_addr, &info->dest_addrlen,
					dst);
	if (src || dst)
		info->addr_format = rcm_info_format(format, src ? src : dst);
	return ret;
}
