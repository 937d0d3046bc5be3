/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_domain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_endpoint.h>

#include "rcm_atomic.h"
#include "rcm_cntr.h"
#include "rcm_cq.h"
#include "rcm_dev.h"
#include "rcm_enosys.h"
#include "rcm_ep.h"
#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_mr.h"
#include "rcm_nic.h"
#include "rcm_offer.h"
#include "rcm_pollset.h"
#include "rcm_sink.h"
#include "rcm_srx.h"
#include "rcm_sys.h"

/* Gives back what DOMAIN has; also one that was opened only in part. */
static void rcm_domain_teardown(struct rcm_domain *domain)
{
	rcm_sink_close(atomic_load(&domain->sink));
	if (domain->td) {
		rcm_sys->dealloc_pd(domain->pd);
		rcm_sys->dealloc_td(domain->td);
	}
	if (domain->base_pd)
		rcm_sys->dealloc_pd(domain->base_pd);
	if (domain->ctx)
		rcm_sys->close_device(domain->ctx);
	rcm_drive_fini(&domain->drive);
	free(domain);
}

static int rcm_domain_close(struct fid *fid)
{
	struct rcm_domain *domain = rcm_container_of(fid, struct rcm_domain,
						     fid.fid);
	struct rcm_fabric *fabric = domain->fabric;
	int refs = rcm_ref_count(&domain->refs);

	if (refs) {
		RCM_INFO(DOMAIN, "domain %s still has %d open objects",
			 domain->name, refs);
		return -FI_EBUSY;
	}
	if (domain->eq)
		rcm_ref_put(&domain->eq->refs);
	rcm_domain_teardown(domain);
	rcm_ref_put(&fabric->refs);
	return 0;
}

/*
 * fi_domain(3): an event queue for endpoints that are bound to none of their
 * own and, with FI_REG_MR, for FI_MR_COMPLETE. A registration is complete
 * when the call returns, and so is its event.
 */
static int rcm_domain_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct rcm_domain *domain = rcm_container_of(fid, struct rcm_domain,
						     fid.fid);
	struct rcm_eq *eq;

	if (!bfid || bfid->fclass != FI_CLASS_EQ || domain->eq)
		return -FI_EINVAL;
	if (flags & ~RCM_OLD_REG_MR)
		return -FI_EBADFLAGS;
	eq = rcm_container_of(bfid, struct rcm_eq, fid.fid);
	if (eq->fabric != domain->fabric)
		return -FI_EINVAL;
	rcm_ref_get(&eq->refs);
	domain->eq = eq;
	domain->mr_eq = (flags & RCM_OLD_REG_MR) ? eq : NULL;
	return 0;
}

/* What to do about one event of a queue pair. */
static void rcm_domain_qp_event(struct rcm_domain *domain,
				const struct ibv_async_event *event)
{
	struct rcm_eq_work *work = event->element.qp->qp_context;

	switch (event->event_type) {
	case IBV_EVENT_COMM_EST:
		rcm_eq_defer(work, RCM_EV_COMM_EST);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		RCM_WARN(EP_CTRL, "device %s reports %s on qp 0x%x",
			 domain->name, ibv_event_type_str(event->event_type),
			 event->element.qp->qp_num);
		rcm_eq_defer(work, RCM_EV_QP_ERR);
		break;
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		rcm_ep_last_wqe(work);
		break;
	default:
		break;
	}
}

static void rcm_domain_event(struct rcm_domain *domain,
			     const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		rcm_domain_qp_event(domain, event);
		break;
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_DEVICE_FATAL:
		RCM_WARN(DOMAIN, "device %s reports %s", domain->name,
			 ibv_event_type_str(event->event_type));
		break;
	default:
		RCM_INFO(DOMAIN, "device %s reports %s", domain->name,
			 ibv_event_type_str(event->event_type));
		break;
	}
}

/*
 * The acknowledgement comes last here, unlike rdma_cm's: until then
 * ibv_destroy_qp() waits, which keeps the endpoint of the event alive.
 */
int rcm_domain_progress(void *arg)
{
	struct rcm_domain *domain = arg;
	struct ibv_async_event event;
	int ret;

	while (!(ret = rcm_sys->get_async_event(domain->ctx, &event))) {
		rcm_domain_event(domain, &event);
		rcm_sys->ack_async_event(&event);
	}
	if (ret == -FI_EAGAIN)
		return 0;
	RCM_WARN(DOMAIN, "device %s gives no more events: %s", domain->name,
		 fi_strerror(-ret));
	return ret;
}

static int rcm_no_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
			  struct fid_av **av, void *context)
{
	(void)domain;
	(void)attr;
	(void)av;
	(void)context;
	return -FI_ENOSYS;
}

static int rcm_no_scalable_ep(struct fid_domain *domain, struct fi_info *info,
			      struct fid_ep **sep, void *context)
{
	(void)domain;
	(void)info;
	(void)sep;
	(void)context;
	return -FI_ENOSYS;
}

static int rcm_no_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr,
			  struct fid_stx **stx, void *context)
{
	(void)domain;
	(void)attr;
	(void)stx;
	(void)context;
	return -FI_ENOSYS;
}

static int rcm_no_query_collective(struct fid_domain *domain,
				   enum fi_collective_op coll,
				   struct fi_collective_attr *attr,
				   uint64_t flags)
{
	(void)domain;
	(void)coll;
	(void)attr;
	(void)flags;
	return -FI_EOPNOTSUPP;
}

static int rcm_domain_ep_open2(struct fid_domain *domain, struct fi_info *info,
			       struct fid_ep **ep, uint64_t flags,
			       void *context)
{
	if (flags)
		return -FI_ENOSYS;
	return rcm_ep_open(domain, info, ep, context);
}

static struct fi_ops rcm_domain_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_domain_close,
	.bind = rcm_domain_bind,
	.control = rcm_mr_domain_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static struct fi_ops_domain rcm_domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = rcm_no_av_open,
	.cq_open = rcm_cq_open,
	.endpoint = rcm_ep_open,
	.scalable_ep = rcm_no_scalable_ep,
	.cntr_open = rcm_cntr_open,
	.poll_open = rcm_pollset_open,
	.stx_ctx = rcm_no_stx_ctx,
	.srx_ctx = rcm_srx_open,
	.query_atomic = rcm_atomic_query,
	.query_collective = rcm_no_query_collective,
	.endpoint2 = rcm_domain_ep_open2,
};

const char *rcm_domain_name(const struct fid_domain *domain)
{
	if (!domain || domain->ops != &rcm_domain_ops)
		return NULL;
	return rcm_container_of(domain, const struct rcm_domain, fid)->name;
}

/*
 * At two levels the application keeps its threads apart itself; it cannot
 * keep away the control thread.
 */
static bool rcm_domain_needs_locks(const struct fi_domain_attr *attr)
{
	return attr->control_progress == FI_PROGRESS_AUTO ||
	       (attr->threading != FI_THREAD_DOMAIN &&
		attr->threading != FI_THREAD_COMPLETION);
}

/* Takes from the device's picture what the domain must know of it. */
static int rcm_domain_read_dev(struct rcm_domain *domain, const char *name)
{
	struct rcm_dev_list *list = rcm_dev_list_get(false);
	const struct rcm_dev *dev;
	int ret = -FI_ENODEV;

	if (!list)
		return -FI_ENOMEM;
	dev = rcm_dev_find(list, name);
	if (dev && dev->usable) {
		snprintf(domain->name, sizeof(domain->name), "%s", dev->name);
		domain->attr = dev->attr;
		domain->port_num = dev->port_num;
		domain->max_msg_size = dev->port.max_msg_sz;
		domain->iwarp = dev->iwarp;
		domain->tx_refused = dev->iwarp ? RCM_IWARP_NO_FLAGS : 0;
		ret = 0;
	} else {
		RCM_WARN(DOMAIN, "device %s: %s", name,
			 dev ? dev->reason : "there is none of this name");
	}
	rcm_dev_list_put(list);
	return ret;
}

/*
 * Where one thread at a time enters the whole domain, the device's library
 * needs no locks of its own either. Not all have this, and all goes without.
 * A level with several threads would take a thread domain for each of them.
 */
static void rcm_domain_spare_locks(struct rcm_domain *domain)
{
	struct ibv_td_init_attr td_attr = { 0 };
	struct ibv_parent_domain_init_attr attr = { .pd = domain->base_pd };
	struct ibv_pd *pd;

	attr.td = rcm_sys->alloc_td(domain->ctx, &td_attr);
	pd = attr.td ? rcm_sys->alloc_parent_domain(domain->ctx, &attr) : NULL;
	if (pd) {
		domain->td = attr.td;
		domain->pd = pd;
		return;
	}
	RCM_DBG(DOMAIN, "device %s has no thread domains: %s", domain->name,
		strerror(errno));
	if (attr.td)
		rcm_sys->dealloc_td(attr.td);
}

static int rcm_domain_open_dev(struct rcm_domain *domain, bool one_thread)
{
	int ret = rcm_dev_open(domain->name, &domain->ctx);

	if (ret) {
		RCM_WARN(DOMAIN, "device %s cannot be opened: %s", domain->name,
			 fi_strerror(-ret));
		return ret;
	}
	domain->base_pd = rcm_sys->alloc_pd(domain->ctx);
	if (!domain->base_pd) {
		ret = -rcm_err_from_errno(errno);
		RCM_WARN(DOMAIN, "device %s gives no protection domain: %s",
			 domain->name, fi_strerror(-ret));
		return ret;
	}
	domain->pd = domain->base_pd;
	if (one_thread)
		rcm_domain_spare_locks(domain);
	return 0;
}

int rcm_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context)
{
	struct rcm_domain *d;
	int ret;

	if (!info || !info->domain_attr || !info->domain_attr->name)
		return -FI_EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -FI_ENOMEM;
	d->auto_control = info->domain_attr->control_progress ==
			  FI_PROGRESS_AUTO;
	rcm_drive_init(&d->drive, !d->auto_control);
	d->locked = rcm_domain_needs_locks(info->domain_attr);
	ret = rcm_domain_read_dev(d, info->domain_attr->name);
	if (!ret)
		ret = rcm_domain_open_dev(
			d, !d->locked && info->domain_attr->threading ==
						 FI_THREAD_DOMAIN);
	if (ret) {
		rcm_domain_teardown(d);
		return ret;
	}
	rcm_ref_init(&d->refs);
	d->fabric = rcm_fabric_of(fabric);
	d->tclass = info->domain_attr->tclass;
	d->threading = info->domain_attr->threading;
	d->layered = rcm_nic_is_layered(info);
	d->lends = !(info->domain_attr->mr_mode & FI_MR_LOCAL) &&
		   !(info->mode & RCM_OLD_LOCAL_MR);
	d->atomics = (info->caps & FI_ATOMIC) && rcm_dev_has_atomics(&d->attr);
	d->fid.fid.fclass = FI_CLASS_DOMAIN;
	d->fid.fid.context = context;
	d->fid.fid.ops = &rcm_domain_fi_ops;
	d->fid.ops = &rcm_domain_ops;
	d->fid.mr = &rcm_mr_ops;
	rcm_ref_get(&d->fabric->refs);
	*domain = &d->fid;
	return 0;
}

int rcm_domain_open2(struct fid_fabric *fabric, struct fi_info *info,
		     struct fid_domain **domain, uint64_t flags, void *context)
{
	if (flags)
		return -FI_ENOSYS;
	return rcm_domain_open(fabric, info, domain, context);
}
