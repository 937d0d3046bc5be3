/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_pep.h"

#include <stdlib.h>
#include <string.h>

#include "rcm_enosys.h"
#include "rcm_fabric.h"
#include "rcm_info.h"
#include "rcm_log.h"
#include "rcm_opt.h"
#include "rcm_param.h"
#include "rcm_sys.h"

static struct rcm_pep *rcm_pep_of_listener(struct rcm_listener *listener)
{
	return rcm_container_of(listener, struct rcm_pep, listener);
}

/* A request that cannot be shown to the user gets an answer all the same. */
static void rcm_pep_turn_away(struct rcm_conn *conn, int err)
{
	char text[RCM_CONN_STR];

	RCM_WARN(EP_CTRL, "%s: request refused: %s",
		 rcm_conn_describe(conn, text), fi_strerror(err));
	rcm_conn_reject(conn, NULL, 0);
	rcm_conn_close(conn);
	rcm_conn_free(conn, NULL); /* the EQ's lock is held: nobody looks */
}

/* The info of the request: this passive endpoint's, on the device it hit. */
static struct fi_info *rcm_pep_request_info(const struct rcm_pep *pep,
					    const struct rcm_conn *conn)
{
	struct rcm_dev_list *list = rcm_dev_list_get(false);
	const struct rcm_dev *dev;
	struct fi_info *info = NULL;
	union rcm_addr src, dst;

	if (!list)
		return NULL;
	dev = rcm_dev_find(list,
			   rcm_sys->get_device_name(conn->id->verbs->device));
	if (dev && !rcm_conn_local_addr(conn, &src) &&
	    !rcm_conn_peer_addr(conn, &dst))
		info = rcm_info_connreq(pep->info, dev, &src, &dst);
	rcm_dev_list_put(list);
	return info;
}

static int rcm_pep_report_request(struct rcm_pep *pep, struct rcm_conn *conn)
{
	const struct rcm_wire *wire = &conn->peer_wire;
	struct rcm_eq_entry *entry = rcm_eq_entry_new(wire->len);
	struct rcm_connreq *req = calloc(1, sizeof(*req));
	struct fi_info *info = rcm_pep_request_info(pep, conn);

	if (!entry || !req || !info) {
		free(entry);
		free(req);
		fi_freeinfo(info);
		return FI_ENOMEM;
	}
	req->fid.fclass = FI_CLASS_CONNREQ;
	req->eq = pep->eq;
	req->conn = conn;
	rcm_list_add(&pep->eq->reqs, &req->node);
	info->handle = &req->fid;
	entry->event = FI_CONNREQ;
	entry->fid = &pep->fid.fid;
	entry->info = info;
	entry->len = wire->len;
	memcpy(entry->data, wire->data, wire->len);
	rcm_eq_push(pep->eq, entry);
	return 0;
}

static void rcm_pep_connreq(struct rcm_listener *listener,
			    struct rcm_conn *conn, int err)
{
	if (!conn) {
		RCM_WARN(EP_CTRL, "a connection request was refused: %s",
			 fi_strerror(err));
		return;
	}
	err = rcm_pep_report_request(rcm_pep_of_listener(listener), conn);
	if (err)
		rcm_pep_turn_away(conn, err);
}

static void rcm_pep_failed(struct rcm_listener *listener, int err,
			   int prov_errno)
{
	struct rcm_pep *pep = rcm_pep_of_listener(listener);
	struct rcm_eq_entry *entry = rcm_eq_entry_new(0);

	RCM_WARN(EP_CTRL, "a passive endpoint failed: %s", fi_strerror(err));
	if (!entry)
		return;
	entry->is_error = true;
	entry->fid = &pep->fid.fid;
	entry->err = err;
	entry->prov_errno = prov_errno;
	rcm_eq_push(pep->eq, entry);
}

static int rcm_pep_close(struct fid *fid)
{
	struct rcm_pep *pep = rcm_pep_of(fid);

	if (pep->listener.id)
		rcm_listener_close(&pep->listener, &pep->eq->lock);
	if (pep->eq) {
		rcm_lock(&pep->eq->lock);
		rcm_eq_purge(pep->eq, fid);
		rcm_unlock(&pep->eq->lock);
		rcm_ref_put(&pep->eq->refs);
	}
	rcm_ref_put(&pep->fabric->refs);
	fi_freeinfo(pep->info);
	free(pep);
	return 0;
}

static int rcm_pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct rcm_pep *pep = rcm_pep_of(fid);
	struct rcm_eq *eq;

	if (!bfid || bfid->fclass != FI_CLASS_EQ || pep->eq)
		return -FI_EINVAL;
	if (flags)
		return -FI_EBADFLAGS;
	eq = rcm_container_of(bfid, struct rcm_eq, fid.fid);
	if (eq->fabric != pep->fabric)
		return -FI_EINVAL;
	rcm_ref_get(&eq->refs);
	pep->eq = eq;
	return 0;
}

static int rcm_pep_control(struct fid *fid, int command, void *arg)
{
	struct rcm_pep *pep = rcm_pep_of(fid);
	int backlog;

	if (command != FI_BACKLOG)
		return -FI_ENOSYS;
	if (!arg)
		return -FI_EINVAL;
	backlog = *(int *)arg;
	if (backlog < 0)
		return -FI_EINVAL;
	pep->backlog = backlog;
	return 0;
}

/*
 * fi_cm(3): a port that is not named is given out by fi_setname(), and an
 * address that cannot be had is its error. Before there is an event queue,
 * whose channel the id belongs to, both wait for fi_listen().
 */
static int rcm_pep_bind_addr(struct rcm_pep *pep, const union rcm_addr *addr)
{
	int ret;

	rcm_listener_close(&pep->listener, &pep->eq->lock);
	rcm_lock(&pep->eq->lock);
	ret = rcm_listener_bind(&pep->listener, &pep->eq->chan, addr);
	rcm_unlock(&pep->eq->lock);
	return ret;
}

static int rcm_pep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct rcm_pep *pep = rcm_pep_of(fid);
	union rcm_addr name;
	int ret = rcm_addr_read(&name, addr, addrlen);

	if (ret)
		return ret;
	if (pep->listener.listening || pep->gone)
		return -FI_EOPBADSTATE;
	if (pep->eq)
		ret = rcm_pep_bind_addr(pep, &name);
	if (!ret)
		pep->addr = name;
	return ret;
}

static int rcm_pep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct rcm_pep *pep = rcm_pep_of(fid);
	union rcm_addr name = pep->addr;

	if (pep->listener.id) {
		int ret = rcm_listener_addr(&pep->listener, &name);

		if (ret)
			return ret;
	}
	return rcm_addr_give(&name, addr, addrlen);
}

static void rcm_pep_log_listen(const struct rcm_pep *pep, int ret)
{
	char text[RCM_ADDR_STR];

	if (ret)
		RCM_WARN(EP_CTRL, "cannot listen at %s: %s",
			 rcm_addr_str(&pep->addr, text), fi_strerror(-ret));
	else
		RCM_INFO(EP_CTRL, "listening at %s, backlog %d",
			 rcm_addr_str(&pep->addr, text), pep->backlog);
}

static int rcm_pep_listen_locked(struct rcm_pep *pep)
{
	int ret;

	if (!pep->listener.id) {
		ret = rcm_listener_bind(&pep->listener, &pep->eq->chan,
					&pep->addr);
		if (ret)
			return ret;
	}
	return rcm_listener_listen(&pep->listener, pep->backlog);
}

static bool rcm_pep_is_auto(const struct rcm_pep *pep)
{
	const struct fi_domain_attr *attr = pep->info->domain_attr;

	return attr && attr->control_progress == FI_PROGRESS_AUTO;
}

static int rcm_pep_listen(struct fid_pep *fid)
{
	struct rcm_pep *pep = rcm_pep_of(&fid->fid);
	int ret;

	if (!pep->eq)
		return -FI_ENOEQ;
	if (pep->listener.listening || pep->gone)
		return -FI_EOPBADSTATE;
	ret = rcm_pep_is_auto(pep) ? rcm_progress_start(pep->eq) : 0;
	if (ret)
		return ret;
	rcm_lock(&pep->eq->lock);
	ret = rcm_pep_listen_locked(pep);
	rcm_unlock(&pep->eq->lock);
	rcm_pep_log_listen(pep, ret);
	return ret;
}

static int rcm_pep_reject(struct fid_pep *fid, fid_t handle, const void *param,
			  size_t paramlen)
{
	struct rcm_connreq *req;
	struct rcm_conn *conn;
	struct rcm_eq *eq;
	int ret;

	(void)fid; /* the handle knows where it came in */
	if (!handle || handle->fclass != FI_CLASS_CONNREQ)
		return -FI_EINVAL;
	ret = rcm_opt_cm_data_len(param, &paramlen);
	if (ret)
		return ret;
	req = rcm_container_of(handle, struct rcm_connreq, fid);
	eq = req->eq;
	rcm_lock(&eq->lock);
	conn = rcm_connreq_take(req);
	ret = rcm_conn_reject(conn, param, paramlen);
	rcm_conn_close(conn);
	rcm_unlock(&eq->lock);
	rcm_conn_free(conn, &eq->lock);
	return ret;
}

int rcm_pep_take_addr(struct rcm_pep *pep, union rcm_addr *addr)
{
	if (pep->listener.listening)
		return -FI_EBUSY;
	if (pep->gone)
		return -FI_EINVAL;
	*addr = pep->addr;
	if (pep->listener.id) {
		int ret = rcm_listener_addr(&pep->listener, addr);

		if (ret)
			return ret;
		rcm_listener_close(&pep->listener, &pep->eq->lock);
	}
	pep->gone = true;
	return 0;
}

static struct fi_ops rcm_pep_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_pep_close,
	.bind = rcm_pep_bind,
	.control = rcm_pep_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static struct fi_ops_ep rcm_pep_ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = rcm_no_cancel,
	.getopt = rcm_opt_get,
	.setopt = rcm_opt_set,
	.tx_ctx = rcm_no_tx_ctx,
	.rx_ctx = rcm_no_rx_ctx,
	.rx_size_left = rcm_no_size_left,
	.tx_size_left = rcm_no_size_left,
};

static struct fi_ops_cm rcm_pep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = rcm_pep_setname,
	.getname = rcm_pep_getname,
	.getpeer = rcm_no_cm_getpeer,
	.connect = rcm_no_cm_connect,
	.listen = rcm_pep_listen,
	.accept = rcm_no_cm_accept,
	.reject = rcm_pep_reject,
	.shutdown = rcm_no_cm_shutdown,
	.join = rcm_no_cm_join,
};

/* A destination in the info is none of a listener's business. */
static int rcm_pep_read_addr(struct rcm_pep *pep, const struct fi_info *info)
{
	if (!info->src_addr) {
		pep->addr.in.sin_family = AF_INET;
		return 0;
	}
	return rcm_addr_read(&pep->addr, info->src_addr, info->src_addrlen);
}

int rcm_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		 struct fid_pep **pep_fid, void *context)
{
	struct rcm_pep *pep;
	int ret;

	if (!info || !info->ep_attr || info->ep_attr->type != FI_EP_MSG)
		return -FI_EINVAL;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return -FI_ENOMEM;
	ret = rcm_pep_read_addr(pep, info);
	if (ret)
		goto err;
	pep->info = fi_dupinfo(info);
	if (!pep->info) {
		ret = -FI_ENOMEM;
		goto err;
	}
	pep->fabric = rcm_fabric_of(fabric);
	pep->backlog = rcm_param.backlog;
	pep->listener.connreq = rcm_pep_connreq;
	pep->listener.failed = rcm_pep_failed;
	pep->fid.fid.fclass = FI_CLASS_PEP;
	pep->fid.fid.context = context;
	pep->fid.fid.ops = &rcm_pep_fi_ops;
	pep->fid.ops = &rcm_pep_ep_ops;
	pep->fid.cm = &rcm_pep_cm_ops;
	rcm_ref_get(&pep->fabric->refs);
	*pep_fid = &pep->fid;
	return 0;

err:
	free(pep);
	return ret;
}
