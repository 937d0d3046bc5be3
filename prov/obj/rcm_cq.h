/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_CQ_H
#define RCM_CQ_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <rdma/fi_eq.h>

#include "rcm_base.h"
#include "rcm_cqset.h"
#include "rcm_obj.h"
#include "rcm_wait.h"
#include "rcm_waitset.h"

struct rcm_domain;

struct rcm_cq {
	struct fid_cq fid;
	struct rcm_cqset set;
	struct rcm_domain *domain;
	struct rcm_ref refs;	   /* endpoints bound to it */
	enum fi_wait_obj wait_obj; /* NONE, FD, POLLFD, SET or YIELD */
	struct rcm_waitset_member member;
	enum fi_cq_wait_cond wait_cond;
	struct rcm_wait wait;
	/* fi_cq_signal(3): for each reader that is there, or the next to come */
	atomic_bool signaled;
	pthread_mutex_t signal_lock; /* a leaf: what follows */
	unsigned int n_signals;
	unsigned int n_readers; /* that block */
	unsigned int n_owed;	/* of them, those whom a signal has to wake */
	uint32_t vendor_err;	/* given out as err_data, until the next read */
};

/* fi_cq_open(3); the domain's .cq_open. */
int rcm_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		struct fid_cq **cq, void *context);

/* fi_trywait(3) for one completion queue: 0 or -FI_EAGAIN. */
int rcm_cq_trywait(struct fid *fid);

static inline struct rcm_cq *rcm_cq_of(struct fid_cq *fid)
{
	return rcm_container_of(fid, struct rcm_cq, fid);
}

#endif /* RCM_CQ_H */
