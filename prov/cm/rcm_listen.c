/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_conn_act.h"
#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_sys.h"

int rcm_listener_bind(struct rcm_listener *l, struct rcm_chan *chan,
		      const union rcm_addr *addr)
{
	union rcm_addr copy = *addr;
	struct rdma_cm_id *id;
	int ret;

	if (l->id)
		return -FI_EOPBADSTATE;
	l->kind = RCM_CM_LISTENER;
	ret = rcm_sys->create_id(chan->ec, &id, l);
	if (ret)
		return ret;
	ret = rcm_sys->bind_addr(id, &copy.sa);
	if (ret) {
		rcm_conn_destroy_id(id, NULL);
		return ret;
	}
	l->id = id;
	l->chan = chan;
	l->bound = true;
	return 0;
}

int rcm_listener_listen(struct rcm_listener *l, int backlog)
{
	int ret;

	if (!l->bound || l->listening)
		return -FI_EOPBADSTATE;
	ret = rcm_sys->listen(l->id, backlog);
	if (!ret)
		l->listening = true;
	return ret;
}

void rcm_listener_close(struct rcm_listener *l, struct rcm_lock *eq_lock)
{
	struct rdma_cm_id *id;

	if (eq_lock)
		rcm_lock(eq_lock);
	id = l->id;
	l->id = NULL;
	l->bound = false;
	l->listening = false;
	if (eq_lock)
		rcm_unlock(eq_lock);
	if (id)
		rcm_conn_destroy_id(id, eq_lock);
}

int rcm_listener_addr(const struct rcm_listener *l, union rcm_addr *addr)
{
	const struct sockaddr *sa = l->id ? rcm_sys->local_addr(l->id) : NULL;
	size_t len = sa ? rcm_addr_len(sa) : 0;

	if (!len)
		return -FI_EOPBADSTATE;
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, sa, len);
	return 0;
}

/* Whatever is wrong with a request, the listener goes on. */
static void rcm_listener_request(struct rcm_listener *l,
				 const struct rcm_chan_event *ev)
{
	struct rcm_conn *conn;
	int err;

	conn = rcm_conn_from_request(ev, l->chan, &err);
	if (!conn) {
		RCM_INFO(EP_CTRL, "a connection request is refused: %s",
			 err == FI_EINVAL ?
				 "its private data is not libfabric's" :
				 fi_strerror(err));
		rcm_conn_refuse(ev->id);
	}
	l->connreq(l, conn, err);
}

void rcm_listener_event(struct rcm_listener *l, const struct rcm_chan_event *ev)
{
	int err, prov_errno;

	switch (ev->type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (l->listening)
			rcm_listener_request(l, ev);
		else
			rcm_conn_refuse(ev->id);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		err = rcm_err_from_cm(ev->type, ev->status, &prov_errno);
		if (l->id)
			l->failed(l, err, prov_errno);
		break;
	default:
		RCM_DBG(EP_CTRL, "listener: event %d ignored", (int)ev->type);
		break;
	}
}
