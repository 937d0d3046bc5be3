/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_PEP_H
#define RCM_PEP_H

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>

#include "rcm_base.h"
#include "rcm_conn.h"
#include "rcm_eq.h"

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
};

/* fi_passive_ep(3); the fabric's .passive_ep. */
int rcm_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		 struct fid_pep **pep, void *context);

/*
 * The connection of an unanswered request, for the endpoint that takes it
 * over; the handle is gone afterwards. NULL for a handle that is none.
 * Under the lock of its event queue.
 */
struct rcm_conn *rcm_connreq_take(struct rcm_connreq *req);

/* Refuses every request that is left on EQ; the queue is being closed. */
void rcm_connreq_drop_all(struct rcm_eq *eq);

#endif /* RCM_PEP_H */
