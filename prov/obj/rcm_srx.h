/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_SRX_H
#define RCM_SRX_H

#include <stdatomic.h>
#include <stdint.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "rcm_base.h"
#include "rcm_obj.h"
#include "rcm_srq.h"

struct rcm_domain;

/* A shared receive context (fi_endpoint(3), SHARED CONTEXTS). */
struct rcm_srx {
	struct fid_ep fid;
	struct fi_ops_msg msg_ops; /* the half that receives */
	struct rcm_domain *domain;
	struct rcm_ref refs; /* endpoints bound to it */
	struct rcm_srq srq;
	size_t iov_limit;
	uint64_t op_flags;	/* of the calls that take none */
	atomic_bool key_missed; /* said once already */
};

/*
 * fi_srx_context(3); the domain's .srx_ctx. Without ATTR the defaults.
 * -FI_ENOSYS on a device that has no shared receive queues, -FI_EINVAL for
 * attributes that are not offered or beyond the device.
 */
int rcm_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr,
		 struct fid_ep **rx_ep, void *context);

static inline struct rcm_srx *rcm_srx_of(struct fid_ep *fid)
{
	return rcm_container_of(fid, struct rcm_srx, fid);
}

#endif /* RCM_SRX_H */
