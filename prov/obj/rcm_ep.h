/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_EP_H
#define RCM_EP_H

#include <stdbool.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include "rcm_base.h"
#include "rcm_cntr.h"
#include "rcm_conn.h"
#include "rcm_eq.h"
#include "rcm_face.h"
#include "rcm_lock.h"
#include "rcm_obj.h"
#include "rcm_qp.h"

struct rcm_cntr;
struct rcm_cq;
struct rcm_domain;
struct rcm_srx;

/* What fi_info asked for, as far as an endpoint must remember it. */
struct rcm_ep_limits {
	size_t tx_size, rx_size; /* entries */
	size_t tx_iov, rx_iov;
	size_t read_iov;
	size_t inject_size;
	int tos; /* type of service; -1: the system's */
};

struct rcm_ep {
	union {
		struct fid_ep fid; /* the face's */
		struct rcm_face face;
	};
	struct rcm_list aliases; /* struct rcm_face, under alias_lock */
	struct rcm_lock alias_lock;
	struct rcm_domain *domain;
	struct rcm_eq *eq;
	struct rcm_cq *tx_cq, *rx_cq;
	struct rcm_cntr *cntr[RCM_CNTR_KINDS]; /* what is bound; rcm_ep_cntr.h */
	uint32_t attached;		       /* of them, by bit */
	bool shared_rx;	     /* its info says FI_SHARED_CONTEXT */
	struct rcm_srx *srx; /* then, once bound */
	/* RCM_TX_COMPLETE unless bound with FI_SELECTIVE_COMPLETION */
	uint32_t tx_always;
	bool rx_selective;
	uint64_t caps; /* primary ones and modifiers, expanded */
	struct rcm_ep_limits limits;
	uint64_t max_msg_size;
	uint64_t tx_refused;	/* the domain's */
	uint64_t write_refused; /* the same of a write without data */
	bool data_writes;	/* writes may bring data: FI_RX_CQ_DATA */
	uint64_t rx_refused;	/* FI_MULTI_RECV without the capability */
	_Atomic size_t min_multi_recv; /* FI_OPT_MIN_MULTI_RECV, bytes */
	bool enabled;
	bool layered; /* ofi_rxm is above */
	struct rcm_conn *conn;
	struct rcm_eq *req_eq; /* of the request it came from, till enabled */
	struct rcm_eq_work work;
	bool watching; /* its EQ looks at the device's events for it */
	struct rcm_eq_entry *connected_entry; /* made beforehand */
	struct rcm_eq_entry *final_entry;
	struct fi_ops_rma rma_ops; /* by caps, for after fi_enable */
	struct rcm_qp qp;
};

/* fi_endpoint(3); the domain's .endpoint. */
int rcm_ep_open(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **ep, void *context);

/* fi_send(3) and its family: before fi_enable, and after. rcm_msg.c */
extern struct fi_ops_msg rcm_msg_ops_disabled;
extern struct fi_ops_msg rcm_msg_ops;

/* fi_ops_cm of an endpoint; rcm_ep_cm.c */
extern struct fi_ops_cm rcm_ep_cm_ops;

/* fi_cancel(3), fi_rx_size_left(3), fi_tx_size_left(3); rcm_ep_queue.c */
ssize_t rcm_ep_cancel(fid_t fid, void *context);
ssize_t rcm_ep_rx_size_left(struct fid_ep *ep);
ssize_t rcm_ep_tx_size_left(struct fid_ep *ep);

/* What an endpoint does when its connection calls upward; rcm_ep_conn.c */
extern const struct rcm_conn_ops rcm_ep_conn_ops;

/* The device has said so of WORK's queue pair: rcm_qp_last_wqe(). */
void rcm_ep_last_wqe(struct rcm_eq_work *work);

/* fi_control(3) of an endpoint and of its aliases */
int rcm_ep_control(struct fid *fid, int command, void *arg);

/* fi_ep_bind(3); rcm_ep_bind.c */
int rcm_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags);

/*
 * fi_enable(3); 0 also for one that is enabled already. -FI_ENOEQ, -FI_ENOCQ
 * for what is not bound, or why the device made no queue pair.
 */
int rcm_ep_enable(struct rcm_ep *ep);

/* The endpoint of FID, which may be an alias's. */
static inline struct rcm_ep *rcm_ep_of(struct fid_ep *fid)
{
	return rcm_face_of(fid)->ep;
}

/* The same, where it is given as what every object is. */
static inline struct rcm_ep *rcm_ep_of_fid(struct fid *fid)
{
	return rcm_ep_of(rcm_container_of(fid, struct fid_ep, fid));
}

#endif /* RCM_EP_H */
