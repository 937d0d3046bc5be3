/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_srx.h"

#include <stdlib.h>

#include <rdma/fi_cm.h>

#include "rcm_dev.h"
#include "rcm_domain.h"
#include "rcm_enosys.h"
#include "rcm_log.h"
#include "rcm_msg.h"
#include "rcm_offer.h"
#include "rcm_opt.h"
#include "rcm_param.h"

/* A buffer for many messages is kept by one endpoint: RCM_SHARED_CAPS. */
#define RCM_SRX_FLAGS	 (RCM_MSG_RX_FLAGS & ~FI_MULTI_RECV)
#define RCM_SRX_OP_FLAGS (RCM_RX_OP_FLAGS & ~FI_MULTI_RECV)

/* A buffer has no key: the receive registers it, unless FI_MR_LOCAL is set. */
static __attribute__((noinline)) ssize_t
rcm_srx_post_lending(struct rcm_srx *srx, struct rcm_msg_iov *to, void *context,
		     bool wants_entry)
{
	if (!rcm_msg_drop_null(to->sge, &to->n))
		return rcm_srq_post(&srx->srq, to->sge, to->n, context,
				    wants_entry);
	if (srx->srq.lends)
		return rcm_srq_post_lending(&srx->srq, to->sge, to->n, context,
					    wants_entry);
	if (!atomic_exchange(&srx->key_missed, true))
		RCM_WARN(EP_DATA, "a shared receive without a descriptor: "
				  "FI_MR_LOCAL asks for one");
	return -FI_EINVAL;
}

static ssize_t rcm_srx_post(struct rcm_srx *srx, struct rcm_msg_iov *to,
			    void *context, uint64_t flags)
{
	bool wants_entry = flags & FI_COMPLETION;

	if (rcm_unlikely(to->len > srx->domain->max_msg_size))
		return -FI_EMSGSIZE;
	if (rcm_unlikely(to->flags & RCM_TX_NO_KEY))
		return rcm_srx_post_lending(srx, to, context, wants_entry);
	return rcm_srq_post(&srx->srq, to->sge, to->n, context, wants_entry);
}

static ssize_t rcm_srx_recvv(struct fid_ep *fid, const struct iovec *iov,
			     void **desc, size_t count, fi_addr_t src_addr,
			     void *context)
{
	struct rcm_srx *srx = rcm_srx_of(fid);
	struct rcm_msg_iov to;
	ssize_t ret;

	(void)src_addr;
	ret = rcm_msg_gather(&to, iov, desc, count, srx->iov_limit);
	if (rcm_unlikely(ret))
		return ret;
	return rcm_srx_post(srx, &to, context, srx->op_flags);
}

static ssize_t rcm_srx_recv(struct fid_ep *fid, void *buf, size_t len,
			    void *desc, fi_addr_t src_addr, void *context)
{
	struct iovec iov = { buf, len };

	return rcm_srx_recvv(fid, &iov, &desc, 1, src_addr, context);
}

static ssize_t rcm_srx_recvmsg(struct fid_ep *fid, const struct fi_msg *msg,
			       uint64_t flags)
{
	struct rcm_srx *srx = rcm_srx_of(fid);
	struct rcm_msg_iov to;
	ssize_t ret;

	if (rcm_unlikely(flags & ~RCM_SRX_FLAGS))
		return -FI_EBADFLAGS;
	ret = rcm_msg_gather(&to, msg->msg_iov, msg->desc, msg->iov_count,
			     srx->iov_limit);
	if (rcm_unlikely(ret))
		return ret;
	return rcm_srx_post(srx, &to, msg->context, flags);
}

static int rcm_srx_close(struct fid *fid)
{
	struct rcm_srx *srx = rcm_container_of(fid, struct rcm_srx, fid.fid);

	if (rcm_ref_count(&srx->refs)) {
		RCM_INFO(EP_CTRL,
			 "%d endpoints are bound to the shared receive context",
			 rcm_ref_count(&srx->refs));
		return -FI_EBUSY;
	}
	rcm_srq_close(&srx->srq);
	rcm_ref_put(&srx->domain->refs);
	free(srx);
	return 0;
}

/* It may be used from the start. */
static int rcm_srx_control(struct fid *fid, int command, void *arg)
{
	(void)fid;
	(void)arg;
	return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

/*
 * A device gives no receive back before it has used it up: as of an endpoint,
 * it is said whether there is such a one.
 */
static ssize_t rcm_srx_cancel(fid_t fid, void *context)
{
	struct rcm_srx *srx = rcm_container_of(fid, struct rcm_srx, fid.fid);

	return context && rcm_srq_has(&srx->srq, context) ? -FI_ENOSYS :
							    -FI_ENOENT;
}

static ssize_t rcm_srx_size_left(struct fid_ep *fid)
{
	struct rcm_srq *srq = &rcm_srx_of(fid)->srq;

	return (ssize_t)(srq->size - rcm_srq_used(srq));
}

static struct fi_ops rcm_srx_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_srx_close,
	.bind = rcm_no_bind,
	.control = rcm_srx_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static struct fi_ops_ep rcm_srx_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = rcm_srx_cancel,
	.getopt = rcm_opt_get,
	.setopt = rcm_opt_set,
	.tx_ctx = rcm_no_tx_ctx,
	.rx_ctx = rcm_no_rx_ctx,
	.rx_size_left = rcm_srx_size_left,
	.tx_size_left = rcm_no_size_left,
};

static int rcm_srx_refuse(const char *what, uint64_t asked, uint64_t offered)
{
	RCM_WARN(EP_CTRL,
		 "no shared receive context: rx_attr %s 0x%llx, "
		 "offered 0x%llx",
		 what, (unsigned long long)asked, (unsigned long long)offered);
	return -FI_EINVAL;
}

/* Bits of a sender among the capabilities are passed over. */
static int rcm_srx_check(const struct fi_rx_attr *attr)
{
	if (attr->caps & ~RCM_SHARED_CAPS)
		return rcm_srx_refuse("caps", attr->caps, RCM_SHARED_CAPS);
	if (attr->op_flags & ~RCM_SRX_OP_FLAGS)
		return rcm_srx_refuse("op_flags", attr->op_flags,
				      RCM_SRX_OP_FLAGS);
	if (attr->msg_order & ~RCM_MSG_ORDER)
		return rcm_srx_refuse("msg_order", attr->msg_order,
				      RCM_MSG_ORDER);
	if (attr->total_buffered_recv)
		return rcm_srx_refuse("total_buffered_recv",
				      attr->total_buffered_recv, 0);
	return 0;
}

/* Sizes that are not given are the defaults, which a device may cut. */
static int rcm_srx_size(const struct rcm_domain *domain,
			const struct fi_rx_attr *attr, struct rcm_srq_attr *srq)
{
	const struct ibv_device_attr *dev = &domain->attr;
	uint32_t most = (uint32_t)rcm_dev_max_shared_recvs(dev);
	uint32_t most_iov = (uint32_t)RCM_MIN(dev->max_srq_sge, RCM_MAX_SGE);

	if (attr && attr->size > most)
		return rcm_srx_refuse("size", attr->size, most);
	if (attr && attr->iov_limit > most_iov)
		return rcm_srx_refuse("iov_limit", attr->iov_limit, most_iov);
	srq->size = attr && attr->size ?
			    (uint32_t)attr->size :
			    RCM_MIN((uint32_t)rcm_param.rx_size, most);
	srq->sge = attr && attr->iov_limit ? (uint32_t)attr->iov_limit : 1;
	return 0;
}

static void rcm_srx_init(struct rcm_srx *srx, const struct fi_rx_attr *attr,
			 void *context)
{
	rcm_ref_init(&srx->refs);
	atomic_init(&srx->key_missed, false);
	srx->op_flags = attr ? attr->op_flags : 0;
	srx->msg_ops = rcm_no_msg_ops;
	srx->msg_ops.recv = rcm_srx_recv;
	srx->msg_ops.recvv = rcm_srx_recvv;
	srx->msg_ops.recvmsg = rcm_srx_recvmsg;
	srx->fid.fid.fclass = FI_CLASS_SRX_CTX;
	srx->fid.fid.context = context;
	srx->fid.fid.ops = &rcm_srx_fi_ops;
	srx->fid.ops = &rcm_srx_ops;
	srx->fid.cm = &rcm_no_cm_ops;
	srx->fid.msg = &srx->msg_ops;
	srx->fid.rma = &rcm_no_rma_ops;
	srx->fid.tagged = &rcm_no_tagged_ops;
	srx->fid.atomic = &rcm_no_atomic_ops;
	srx->fid.collective = &rcm_no_collective_ops;
}

int rcm_srx_open(struct fid_domain *domain_fid, struct fi_rx_attr *attr,
		 struct fid_ep **rx_ep, void *context)
{
	struct rcm_domain *domain = rcm_domain_of(domain_fid);
	struct rcm_srq_attr srq = {
		.pd = domain->pd,
		/* no completion queue keeps the threads of its posters apart */
		.locked = domain->locked ||
			  domain->threading == FI_THREAD_COMPLETION,
		.lends = domain->lends,
	};
	struct rcm_srx *srx;
	int ret;

	if (!rcm_dev_max_srq(&domain->attr)) {
		RCM_WARN(EP_CTRL, "device %s has no shared receive queues",
			 domain->name);
		return -FI_ENOSYS;
	}
	ret = attr ? rcm_srx_check(attr) : 0;
	if (!ret)
		ret = rcm_srx_size(domain, attr, &srq);
	if (ret)
		return ret;
	srx = calloc(1, sizeof(*srx));
	if (!srx)
		return -FI_ENOMEM;
	ret = rcm_srq_open(&srx->srq, &srq);
	if (ret) {
		free(srx);
		return ret;
	}
	srx->iov_limit = srq.sge;
	srx->domain = domain;
	rcm_srx_init(srx, attr, context);
	rcm_ref_get(&domain->refs);
	*rx_ep = &srx->fid;
	return 0;
}
