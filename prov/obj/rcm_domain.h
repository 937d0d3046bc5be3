/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_DOMAIN_H
#define RCM_DOMAIN_H

#include <stdatomic.h>
#include <stdbool.h>

#include <infiniband/verbs.h>
#include <rdma/fi_domain.h>

#include "rcm_base.h"
#include "rcm_drive.h"
#include "rcm_fabric.h"
#include "rcm_list.h"
#include "rcm_lock.h"
#include "rcm_obj.h"

struct rcm_eq;
struct rcm_sink;

/* One RDMA device, opened. */
struct rcm_domain {
	struct fid_domain fid;
	struct rcm_fabric *fabric;
	struct rcm_ref refs;	/* all that is opened on it */
	struct rcm_eq *eq;	/* of endpoints that have none; or NULL */
	struct rcm_eq *mr_eq;	/* the same one, with FI_REG_MR; or NULL */
	struct rcm_drive drive; /* without auto_control: its endpoints' queues */
	struct ibv_context *ctx;
	/* what queues and memory are made on: base_pd, or its parent domain */
	struct ibv_pd *pd;
	struct ibv_pd *base_pd;
	struct ibv_td *td; /* in pd; NULL: the device's library locks */
	_Atomic(struct rcm_sink *) sink; /* rcm_sink.h; made at first use */
	char name[64];			 /* of the device */
	struct ibv_device_attr attr;
	uint8_t port_num;
	uint64_t max_msg_size;
	uint64_t tx_refused; /* flags of fi_sendmsg that the device cannot keep */
	uint32_t tclass;     /* of endpoints whose info names none */
	enum fi_threading threading;
	bool locked;	   /* locks are real */
	bool auto_control; /* FI_PROGRESS_AUTO for control: a thread */
	bool layered;	   /* opened by ofi_rxm or the like */
	bool lends;	   /* buffers need no descriptor: no FI_MR_LOCAL */
	bool iwarp;
	bool atomics; /* regions may be targets of FI_ATOMIC */
};

/* fi_domain(3); the fabric's .domain. */
int rcm_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context);
/* fi_domain2(3); no flag is known. */
int rcm_domain_open2(struct fid_fabric *fabric, struct fi_info *info,
		     struct fid_domain **domain, uint64_t flags, void *context);

/* The device's name when the domain is rcm's; NULL for any other. */
const char *rcm_domain_name(const struct fid_domain *domain);

/*
 * Takes the device's asynchronous events, if any wait, and leaves them for
 * the connections that they are about. ARG is the domain. Never blocks;
 * takes leaf locks only, so an event queue may call it under its own lock.
 * 0, or the -FI_E after which no event will come.
 */
int rcm_domain_progress(void *arg);

static inline struct rcm_domain *rcm_domain_of(struct fid_domain *fid)
{
	return rcm_container_of(fid, struct rcm_domain, fid);
}

#endif /* RCM_DOMAIN_H */
