/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fi_cm.h>

#include "rcm_enosys.h"
#include "rcm_ep.h"
#include "rcm_opt.h"

/* The lock of the connection: its event queue's, once it is on one. */
static void rcm_ep_lock(struct rcm_ep *ep)
{
	struct rcm_eq *eq = ep->req_eq ? ep->req_eq : ep->eq;

	if (eq)
		rcm_lock(&eq->lock);
}

static void rcm_ep_unlock(struct rcm_ep *ep)
{
	struct rcm_eq *eq = ep->req_eq ? ep->req_eq : ep->eq;

	if (eq)
		rcm_unlock(&eq->lock);
}

static int rcm_ep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct rcm_ep *ep = rcm_ep_of_fid(fid);
	union rcm_addr name;
	int ret = rcm_addr_read(&name, addr, addrlen);

	if (ret)
		return ret;
	rcm_ep_lock(ep);
	if (ep->conn->id)
		ret = -FI_EOPBADSTATE;
	else
		ep->conn->src = name;
	rcm_ep_unlock(ep);
	return ret;
}

static int rcm_ep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct rcm_ep *ep = rcm_ep_of_fid(fid);
	union rcm_addr name;
	int ret;

	rcm_ep_lock(ep);
	ret = rcm_conn_local_addr(ep->conn, &name);
	rcm_ep_unlock(ep);
	return ret ? ret : rcm_addr_give(&name, addr, addrlen);
}

static int rcm_ep_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	union rcm_addr name;
	int ret;

	rcm_ep_lock(ep);
	ret = rcm_conn_peer_addr(ep->conn, &name);
	rcm_ep_unlock(ep);
	return ret ? ret : rcm_addr_give(&name, addr, addrlen);
}

/* The argument wins over the info's address (LF commit 5f25f4c85). */
static int rcm_ep_peer_of_call(const struct rcm_ep *ep, const void *addr,
			       union rcm_addr *dst)
{
	if (addr)
		return rcm_addr_read(dst, addr, rcm_addr_len(addr));
	*dst = ep->conn->dst;
	return dst->sa.sa_family ? 0 : -FI_EINVAL;
}

static int rcm_ep_connect(struct fid_ep *fid, const void *addr,
			  const void *param, size_t paramlen)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	union rcm_addr dst;
	int ret = rcm_ep_peer_of_call(ep, addr, &dst);

	if (!ret)
		ret = rcm_opt_cm_data_len(param, &paramlen);
	if (!ret)
		ret = rcm_ep_enable(ep);
	if (ret)
		return ret;
	rcm_lock(&ep->eq->lock);
	ret = rcm_conn_connect(ep->conn, &dst, param, paramlen);
	rcm_unlock(&ep->eq->lock);
	return ret;
}

static int rcm_ep_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	int ret = rcm_opt_cm_data_len(param, &paramlen);

	if (!ret)
		ret = rcm_ep_enable(ep);
	if (ret)
		return ret;
	rcm_lock(&ep->eq->lock);
	ret = rcm_conn_accept(ep->conn, param, paramlen);
	rcm_unlock(&ep->eq->lock);
	return ret;
}

static int rcm_ep_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	int ret;

	if (flags)
		return -FI_EBADFLAGS;
	rcm_ep_lock(ep);
	ret = rcm_conn_shutdown(ep->conn);
	rcm_ep_unlock(ep);
	if (!ret)
		rcm_qp_flush(&ep->qp); /* canceled entries are told now */
	return ret;
}

struct fi_ops_cm rcm_ep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = rcm_ep_setname,
	.getname = rcm_ep_getname,
	.getpeer = rcm_ep_getpeer,
	.connect = rcm_ep_connect,
	.listen = rcm_no_cm_listen,
	.accept = rcm_ep_accept,
	.reject = rcm_no_cm_reject,
	.shutdown = rcm_ep_shutdown,
	.join = rcm_no_cm_join,
};
