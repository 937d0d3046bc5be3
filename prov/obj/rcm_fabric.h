/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_FABRIC_H
#define RCM_FABRIC_H

#include <rdma/fi_domain.h>

#include "rcm_base.h"
#include "rcm_obj.h"

/* A fabric opens nothing: it is a name that domains and queues share. */
struct rcm_fabric {
	struct fid_fabric fid;
	struct rcm_ref refs; /* its domains, event queues, passive endpoints */
};

/* fi_fabric(3); the provider's .fabric. -FI_ENODATA for an unknown name. */
int rcm_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context);

/* fi_trywait(3) for one object that can be waited for: 0, -FI_EAGAIN, … */
int rcm_trywait(struct fid *fid);

static inline struct rcm_fabric *rcm_fabric_of(struct fid_fabric *fid)
{
	return rcm_container_of(fid, struct rcm_fabric, fid);
}

#endif /* RCM_FABRIC_H */
