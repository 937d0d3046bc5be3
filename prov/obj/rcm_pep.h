/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_PEP_H
#define RCM_PEP_H

#include <stdbool.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>

#include "rcm_base.h"
#include "rcm_conn.h"
#include "rcm_eq.h"
#include "rcm_list.h"

/*
 * The handle in the info of FI_CONNREQ: a request with exactly one owner at
 * a time. In the event queue's list until an endpoint or fi_reject takes it.
 */
struct rcm_connreq {
	struct fid fid; /* FI_CLASS_CONNREQ */
	struct rcm_list node;
	struct rcm_eq *eq; /* the listener's */
	struct rcm_conn *conn;
};

struct rcm_pep {
	struct fid_pep fid;
	struct rcm_fabric *fabric;
	struct rcm_eq *eq;
	struct fi_info *info; /* its own copy */
	struct rcm_listener listener;
	union rcm_addr addr; /* to bind to */
	int backlog;
	bool gone; /* an active endpoint has taken its address over */
};

/* fi_passive_ep(3); the fabric's .passive_ep. */
int rcm_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		 struct fid_pep **pep, void *context);

/*
 * The connection of an unanswered request, for the endpoint or the refusal
 * that takes it over; the handle is gone afterwards. Under the lock of its
 * event queue.
 */
struct rcm_conn *rcm_connreq_take(struct rcm_connreq *req);

/*
 * Refuses a request that nobody has answered and frees it. Under the lock of
 * its event queue. HANDLE may be NULL.
 */
void rcm_connreq_refuse(struct fid *handle);

/* Refuses every request that is left on EQ; the queue is being closed. */
void rcm_connreq_drop_all(struct rcm_eq *eq);

/*
 * An active endpoint takes over the address of a passive one that does not
 * listen (fi_endpoint(3), handle); *ADDR becomes it. -FI_EBUSY when it
 * listens.
 */
int rcm_pep_take_addr(struct rcm_pep *pep, union rcm_addr *addr);

static inline struct rcm_pep *rcm_pep_of(struct fid *fid)
{
	return rcm_container_of(fid, struct rcm_pep, fid.fid);
}

#endif /* RCM_PEP_H */
