/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_ep.h"

#include <stdlib.h>
#include <string.h>

#include "rcm_atomic.h"
#include "rcm_cq.h"
#include "rcm_dev.h"
#include "rcm_domain.h"
#include "rcm_enosys.h"
#include "rcm_ep_cntr.h"
#include "rcm_info.h"
#include "rcm_log.h"
#include "rcm_offer.h"
#include "rcm_opt.h"
#include "rcm_param.h"
#include "rcm_pep.h"
#include "rcm_rma.h"
#include "rcm_srx.h"
#include "rcm_tclass.h"

/* The event queue whose lock guards the connection now, or NULL. */
static struct rcm_eq *rcm_ep_conn_eq(const struct rcm_ep *ep)
{
	return ep->req_eq ? ep->req_eq : ep->eq;
}

/*
 * Ends the connection: afterwards no event names the endpoint, and the peer
 * has been told.
 */
static void rcm_ep_close_conn(struct rcm_ep *ep)
{
	struct rcm_eq *eq = rcm_ep_conn_eq(ep);

	if (eq)
		rcm_lock(&eq->lock);
	rcm_conn_close(ep->conn);
	if (eq) {
		rcm_eq_purge(eq, &ep->fid.fid);
		rcm_unlock(&eq->lock);
	}
}

/* Lets go of what the endpoint was bound to. */
static void rcm_ep_unbind(struct rcm_ep *ep)
{
	if (ep->tx_cq)
		rcm_ref_put(&ep->tx_cq->refs);
	if (ep->rx_cq)
		rcm_ref_put(&ep->rx_cq->refs);
	rcm_ep_unbind_cntrs(ep);
	if (ep->srx)
		rcm_ref_put(&ep->srx->refs);
	if (ep->req_eq)
		rcm_ref_put(&ep->req_eq->refs);
	if (ep->eq)
		rcm_ref_put(&ep->eq->refs);
	rcm_ref_put(&ep->domain->refs);
}

static void rcm_ep_unwatch(struct rcm_ep *ep)
{
	if (!ep->watching)
		return;
	rcm_drive_del(&ep->domain->drive, ep->eq);
	rcm_eq_unwatch(ep->eq, ep->domain);
}

/*
 * The order matters: no event any more, then the queue pair with what was
 * posted to it, then the connection's id. Nothing waits for the peer.
 */
static int rcm_ep_close(struct fid *fid)
{
	struct rcm_ep *ep = rcm_ep_of_fid(fid);
	struct rcm_eq *eq = rcm_ep_conn_eq(ep);
	bool busy;

	rcm_lock(&ep->alias_lock);
	busy = !rcm_list_empty(&ep->aliases);
	rcm_unlock(&ep->alias_lock);
	if (busy) {
		RCM_INFO(EP_CTRL, "an alias of the endpoint is still open");
		return -FI_EBUSY;
	}
	rcm_ep_close_conn(ep);
	rcm_qp_close(&ep->qp);
	rcm_ep_detach_cntrs(ep);
	if (ep->eq)
		rcm_eq_undefer(&ep->work); /* the flush may have left some */
	rcm_ep_unwatch(ep);
	rcm_conn_free(ep->conn, eq ? &eq->lock : NULL);
	free(ep->connected_entry);
	free(ep->final_entry);
	rcm_lock_fini(&ep->alias_lock);
	rcm_ep_unbind(ep);
	free(ep);
	return 0;
}

static int rcm_ep_check_bound(const struct rcm_ep *ep)
{
	const char *missing = NULL;
	int ret = -FI_ENOCQ;

	if (!ep->eq) {
		missing = "an event queue";
		ret = -FI_ENOEQ;
	} else if ((ep->caps & RCM_INITIATOR_CAPS) && !rcm_ep_tx_set(ep)) {
		missing = "a completion queue with FI_TRANSMIT or a counter "
			  "of what it starts";
	} else if (!rcm_ep_tx_set(ep) && !rcm_ep_rx_set(ep)) {
		/* a mere target's, for its progress: fi_endpoint(3) */
		missing = "a completion queue";
	} else if ((ep->caps & FI_RECV) && !rcm_ep_rx_set(ep)) {
		missing = "a completion queue or a counter with FI_RECV";
	} else if ((ep->caps & FI_RECV) && ep->shared_rx && !ep->srx) {
		missing = "a shared receive context";
		ret = -FI_EOPBADSTATE;
	}
	if (!missing)
		return 0;
	RCM_INFO(EP_CTRL, "endpoint cannot be enabled: it is not bound to %s",
		 missing);
	return ret;
}

/*
 * Events of the connection arrive on the endpoint's own queue from now on.
 * A request's did on the listener's until here.
 */
static int rcm_ep_move_conn(struct rcm_ep *ep)
{
	struct rcm_eq *old = ep->req_eq;
	int ret;

	if (!old)
		return rcm_conn_set_chan(ep->conn, &ep->eq->chan);
	rcm_lock(&old->lock);
	ep->req_eq = NULL;
	ret = old == ep->eq ? 0 : rcm_conn_set_chan(ep->conn, &ep->eq->chan);
	if (ret)
		ep->req_eq = old;
	rcm_unlock(&old->lock);
	if (!ret)
		rcm_ref_put(&old->refs);
	return ret;
}

static int rcm_ep_watch(struct rcm_ep *ep)
{
	struct rcm_domain *domain = ep->domain;
	int ret;

	if (ep->watching)
		return 0;
	ret = domain->auto_control ? rcm_progress_start(ep->eq) :
				     rcm_drive_add(&domain->drive, ep->eq);
	if (ret)
		return ret;
	ret = rcm_eq_watch(ep->eq, domain->ctx->async_fd, rcm_domain_progress,
			   domain);
	if (ret)
		rcm_drive_del(&domain->drive, ep->eq);
	ep->watching = !ret;
	return ret;
}

static void rcm_ep_set_face_ops(struct rcm_ep *ep, struct fid_ep *fid)
{
	fid->msg = &rcm_msg_ops;
	fid->rma = &ep->rma_ops;
}

/* Transfers may be posted from now on, through the aliases as well. */
static void rcm_ep_set_ops(struct rcm_ep *ep)
{
	struct rcm_list *node, *tmp;

	rcm_lock(&ep->alias_lock);
	rcm_ep_set_face_ops(ep, &ep->fid);
	rcm_list_for_each(&ep->aliases, node, tmp)
		rcm_ep_set_face_ops(
			ep, &rcm_list_entry(node, struct rcm_face, node)->fid);
	rcm_unlock(&ep->alias_lock);
}

int rcm_ep_enable(struct rcm_ep *ep)
{
	int ret;

	if (ep->enabled)
		return 0;
	if (!ep->eq && ep->domain->eq)
		(void)rcm_ep_bind(&ep->fid.fid, &ep->domain->eq->fid.fid, 0);
	ret = rcm_ep_check_bound(ep);
	if (!ret)
		ret = rcm_ep_move_conn(ep);
	if (!ret)
		ret = rcm_ep_watch(ep);
	if (!ret)
		ret = rcm_ep_attach_cntrs(ep);
	if (ret)
		return ret;
	rcm_lock(&ep->eq->lock);
	ret = rcm_conn_enable(ep->conn);
	rcm_unlock(&ep->eq->lock);
	if (ret) {
		rcm_ep_detach_cntrs(ep);
		return ret;
	}
	rcm_ep_set_ops(ep);
	ep->enabled = true;
	return 0;
}

/* fi_endpoint(3): what has met its end cannot be enabled again. */
static int rcm_ep_enable_call(struct rcm_ep *ep)
{
	int ret = rcm_ep_enable(ep);

	if (ret)
		return ret;
	rcm_lock(&ep->eq->lock);
	if (ep->conn->state == RCM_ST_DOWN)
		ret = -FI_EOPBADSTATE;
	rcm_unlock(&ep->eq->lock);
	return ret;
}

int rcm_ep_control(struct fid *fid, int command, void *arg)
{
	struct rcm_face *face =
		rcm_face_of(rcm_container_of(fid, struct fid_ep, fid));

	switch (command) {
	case FI_ENABLE:
		return rcm_ep_enable_call(face->ep);
	case FI_ALIAS:
		return rcm_face_alias(face, arg);
	case FI_GETOPSFLAG:
		return rcm_face_get_flags(face, arg);
	case FI_SETOPSFLAG:
		return rcm_face_set_flags(face, arg);
	default:
		return -FI_ENOSYS;
	}
}

static struct fi_ops rcm_ep_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_ep_close,
	.bind = rcm_ep_bind,
	.control = rcm_ep_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static struct fi_ops_ep rcm_ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = rcm_ep_cancel,
	.getopt = rcm_opt_get,
	.setopt = rcm_opt_set,
	.tx_ctx = rcm_no_tx_ctx,
	.rx_ctx = rcm_no_rx_ctx,
	.rx_size_left = rcm_ep_rx_size_left,
	.tx_size_left = rcm_ep_tx_size_left,
};

static int rcm_ep_check_size(const char *what, size_t asked, size_t most)
{
	if (asked <= most)
		return 0;
	RCM_WARN(EP_CTRL, "%s %zu is beyond the device's %zu", what, asked,
		 most);
	return -FI_EINVAL;
}

/* The size of a shared context is checked with that, not here. */
static int rcm_ep_check_rx(const struct rcm_ep *ep)
{
	const struct ibv_device_attr *attr = &ep->domain->attr;
	int ret;

	if (ep->shared_rx)
		return 0;
	ret = rcm_ep_check_size("rx_attr size", ep->limits.rx_size,
				(size_t)attr->max_qp_wr);
	if (!ret)
		ret = rcm_ep_check_size("rx_attr iov_limit", ep->limits.rx_iov,
					(size_t)attr->max_sge);
	return ret;
}

static int rcm_ep_read_limits(struct rcm_ep *ep, const struct fi_info *info)
{
	const struct ibv_device_attr *attr = &ep->domain->attr;
	struct rcm_ep_limits *lim = &ep->limits;
	int ret;

	lim->tx_size = info->tx_attr->size;
	lim->rx_size = info->rx_attr->size;
	lim->tx_iov = RCM_MAX(info->tx_attr->iov_limit, (size_t)1);
	lim->rx_iov = RCM_MAX(info->rx_attr->iov_limit, (size_t)1);
	lim->read_iov = RCM_MIN(lim->tx_iov,
				(size_t)rcm_dev_max_read_sge(attr));
	lim->inject_size = info->tx_attr->inject_size;
	if (!lim->tx_size)
		lim->tx_size = (size_t)rcm_param.tx_size;
	if (!lim->rx_size)
		lim->rx_size = (size_t)rcm_param.rx_size;
	ret = rcm_ep_check_size("tx_attr size", lim->tx_size,
				(size_t)rcm_dev_max_sends(attr));
	if (!ret)
		ret = rcm_ep_check_size("tx_attr iov_limit", lim->tx_iov,
					(size_t)attr->max_sge);
	return ret ? ret : rcm_ep_check_rx(ep);
}

/* fi_endpoint(3): a class that is not set is the domain's. */
static int rcm_ep_read_tclass(struct rcm_ep *ep, const struct fi_info *info)
{
	uint32_t tclass = info->tx_attr->tclass;
	int ret;

	if (!tclass && info->domain_attr)
		tclass = info->domain_attr->tclass;
	if (!tclass)
		tclass = ep->domain->tclass;
	ret = rcm_tclass_tos(tclass, &ep->limits.tos);
	if (ret)
		RCM_WARN(EP_CTRL, "there is no traffic class 0x%x", tclass);
	return ret;
}

static int rcm_ep_check_info(const struct rcm_domain *domain,
			     const struct fi_info *info)
{
	if (!info || !info->ep_attr || !info->tx_attr || !info->rx_attr ||
	    info->ep_attr->type != FI_EP_MSG)
		return -FI_EINVAL;
	/* a shared transmit context is not offered */
	if (info->ep_attr->tx_ctx_cnt > 1 ||
	    (info->ep_attr->rx_ctx_cnt > 1 &&
	     info->ep_attr->rx_ctx_cnt != FI_SHARED_CONTEXT))
		return -FI_EINVAL;
	if (info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT &&
	    !rcm_dev_max_srq(&domain->attr)) {
		RCM_WARN(EP_CTRL, "device %s has no shared receive queues",
			 domain->name);
		return -FI_EINVAL;
	}
	if (info->domain_attr && info->domain_attr->name &&
	    strcmp(info->domain_attr->name, domain->name) != 0) {
		RCM_WARN(EP_CTRL, "the info is for device %s, the domain is %s",
			 info->domain_attr->name, domain->name);
		return -FI_EINVAL;
	}
	return 0;
}

/* What the peer may do; on iWARP an answer to a read is a peer's write. */
static int rcm_ep_access(const struct rcm_ep *ep)
{
	int access = 0;

	if ((ep->caps & FI_REMOTE_READ) || ep->domain->iwarp)
		access |= IBV_ACCESS_REMOTE_READ;
	if ((ep->caps & FI_REMOTE_WRITE) || ep->domain->iwarp)
		access |= IBV_ACCESS_REMOTE_WRITE;
	if ((ep->caps & FI_ATOMIC) && (ep->caps & RCM_REMOTE_CAPS))
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	return access;
}

static void rcm_ep_fill_cfg(const struct rcm_ep *ep, struct rcm_conn_cfg *cfg)
{
	memcpy(cfg->dev_name, ep->domain->name, sizeof(cfg->dev_name));
	cfg->resolve_timeout = rcm_param.resolve_timeout;
	cfg->retry_count = (uint8_t)rcm_param.retry_count;
	cfg->rnr_retry = (uint8_t)rcm_param.rnr_retry;
	cfg->min_rnr_timer = (uint8_t)rcm_param.min_rnr_timer;
	cfg->ack_timeout = (uint8_t)rcm_param.ack_timeout;
	cfg->srq = ep->shared_rx;
	cfg->tos = ep->limits.tos;
	cfg->access = rcm_ep_access(ep);
	cfg->responder_resources =
		(uint8_t)RCM_MIN(ep->domain->attr.max_qp_rd_atom, 255);
	cfg->initiator_depth =
		(uint8_t)RCM_MIN(ep->domain->attr.max_qp_init_rd_atom, 255);
}

/* The endpoint becomes the owner of a request's connection. */
static void rcm_ep_adopt(struct rcm_ep *ep, struct rcm_connreq *req)
{
	struct rcm_eq *eq = req->eq;

	rcm_lock(&eq->lock);
	ep->conn = rcm_connreq_take(req);
	/* what has ended it already is said by fi_accept */
	rcm_conn_adopt(ep->conn, &rcm_ep_conn_ops, ep);
	rcm_ref_get(&eq->refs);
	ep->req_eq = eq;
	rcm_unlock(&eq->lock);
}

static int rcm_ep_new_conn(struct rcm_ep *ep, const struct fi_info *info)
{
	int ret = 0;

	ep->conn = rcm_conn_new(&rcm_ep_conn_ops, ep);
	if (!ep->conn)
		return -FI_ENOMEM;
	if (info->dest_addr)
		ret = rcm_addr_read(&ep->conn->dst, info->dest_addr,
				    info->dest_addrlen);
	if (!ret && info->src_addr && !info->handle)
		ret = rcm_addr_read(&ep->conn->src, info->src_addr,
				    info->src_addrlen);
	/* last, since what has been taken over cannot be given back */
	if (!ret && info->handle)
		ret = rcm_pep_take_addr(rcm_pep_of(info->handle),
					&ep->conn->src);
	if (ret) {
		rcm_conn_close(ep->conn);
		rcm_conn_free(ep->conn, NULL);
	}
	return ret;
}

/*
 * info->handle: a request, a passive endpoint to take over, or nothing. A
 * request is gone then, and its info says so: ofi_rxm refuses it when it
 * could not enable the endpoint and has closed it.
 */
static int rcm_ep_get_conn(struct rcm_ep *ep, struct fi_info *info)
{
	struct fid *handle = info->handle;
	int ret = 0;

	if (handle && handle->fclass == FI_CLASS_CONNREQ) {
		rcm_ep_adopt(ep,
			     rcm_container_of(handle, struct rcm_connreq, fid));
		info->handle = NULL;
	} else if (!handle || handle->fclass == FI_CLASS_PEP) {
		ret = rcm_ep_new_conn(ep, info);
	} else {
		ret = -FI_EINVAL;
	}
	if (ret)
		return ret;
	rcm_ep_fill_cfg(ep, &ep->conn->cfg);
	ep->work.conn = ep->conn;
	return 0;
}

/*
 * What the device's acknowledgement of a write tells is that the data has
 * reached the peer's device: whether it is in the memory yet, only what comes
 * behind it on the connection shows. So a write alone has no delivery
 * complete; but ofi_rxm hands its own promises down as they are.
 */
static void rcm_ep_read_caps(struct rcm_ep *ep, const struct fi_info *info)
{
	ep->caps = rcm_info_expand(info->caps);
	if (!ep->caps)
		ep->caps = rcm_info_expand(FI_MSG);
	ep->layered = ep->domain->layered;
	/* ofi_rxm asks for reads, and writes when FI_OFI_RXM_USE_RNDV_WRITE=1 */
	if (ep->layered && (ep->caps & FI_RMA))
		ep->caps |= FI_READ | FI_WRITE;
	ep->tx_refused = ep->domain->tx_refused;
	ep->write_refused = ep->tx_refused;
	if (!ep->layered)
		ep->write_refused |= FI_DELIVERY_COMPLETE;
	ep->data_writes = rcm_info_rx_cq_data(info) && !ep->domain->iwarp;
	rcm_rma_fill_ops(&ep->rma_ops, (ep->caps & FI_RMA) ? ep->caps : 0);
}

/* All that can fail but the connection, whose request stays the caller's. */
static int rcm_ep_init(struct rcm_ep *ep, const struct fi_info *info)
{
	int ret;

	ep->shared_rx = info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT;
	ret = rcm_ep_read_limits(ep, info);
	if (!ret)
		ret = rcm_ep_read_tclass(ep, info);
	if (ret)
		return ret;
	rcm_list_init(&ep->work.node);
	rcm_list_init(&ep->aliases);
	ep->connected_entry = rcm_eq_entry_new(RCM_CM_DATA_MAX);
	ep->final_entry = rcm_eq_entry_new(RCM_CM_DATA_MAX);
	if (!ep->connected_entry || !ep->final_entry)
		return -FI_ENOMEM;
	rcm_ep_read_caps(ep, info);
	ep->face.ep = ep;
	atomic_init(&ep->face.tx_op_flags, info->tx_attr->op_flags);
	atomic_init(&ep->face.rx_op_flags, info->rx_attr->op_flags);
	ep->max_msg_size = ep->domain->max_msg_size;
	ep->rx_refused = (info->caps & FI_MULTI_RECV) ? 0 : FI_MULTI_RECV;
	atomic_init(&ep->min_multi_recv, RCM_MIN_MULTI_RECV);
	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.ops = &rcm_ep_fi_ops;
	ep->fid.ops = &rcm_ep_ops;
	ep->fid.cm = &rcm_ep_cm_ops;
	ep->fid.msg = &rcm_msg_ops_disabled;
	ep->fid.rma = ep->caps & FI_RMA ? &rcm_rma_ops_disabled :
					  &rcm_no_rma_ops;
	ep->fid.tagged = &rcm_no_tagged_ops;
	ep->fid.atomic = ep->caps & FI_ATOMIC ? &rcm_atomic_ops :
						&rcm_no_atomic_ops;
	ep->fid.collective = &rcm_no_collective_ops;
	return 0;
}

int rcm_ep_open(struct fid_domain *domain_fid, struct fi_info *info,
		struct fid_ep **ep_fid, void *context)
{
	struct rcm_domain *domain = rcm_domain_of(domain_fid);
	struct rcm_ep *ep;
	int ret = rcm_ep_check_info(domain, info);

	if (ret)
		return ret;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ep->domain = domain;
	ep->fid.fid.context = context;
	ret = rcm_ep_init(ep, info);
	if (!ret)
		ret = rcm_ep_get_conn(ep, info);
	if (ret) {
		free(ep->connected_entry);
		free(ep->final_entry);
		free(ep);
		return ret;
	}
	rcm_lock_init(&ep->alias_lock, RCM_RANK_ALIAS, true);
	rcm_ref_get(&domain->refs);
	*ep_fid = &ep->fid;
	return 0;
}
