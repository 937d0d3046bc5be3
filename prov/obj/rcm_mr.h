/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_MR_H
#define RCM_MR_H

#include <infiniband/verbs.h>
#include <rdma/fi_domain.h>

#include "rcm_base.h"

struct rcm_domain;
struct rcm_eq_entry;

/* A registered region; fi_mr_desc() is a pointer to it. */
struct rcm_mr {
	struct fid_mr fid;
	struct rcm_domain *domain;
	struct ibv_mr *mr; /* NULL: zero bytes, which no device is asked for */
	uint32_t lkey;
	struct rcm_eq_entry *done; /* FI_REG_MR: until it is told */
};

/* The domain's table of fi_mr_reg(3), regv and regattr. */
extern struct fi_ops_mr rcm_mr_ops;

/*
 * fi_mr_raw_attr(3): a raw key is the device's key, most significant byte
 * first, so that it means the same on each machine. -FI_ETOOSMALL with the
 * size that is needed. Any other command is -FI_ENOSYS.
 */
int rcm_mr_control(struct fid *fid, int command, void *arg);

/* fi_mr_map_raw(3) and fi_mr_unmap_key(3) of a domain; or -FI_ENOSYS. */
int rcm_mr_domain_control(struct fid *fid, int command, void *arg);

/* The lkey behind a descriptor that fi_mr_desc() gave out. */
static inline uint32_t rcm_mr_lkey(const void *desc)
{
	return ((const struct rcm_mr *)desc)->lkey;
}

#endif /* RCM_MR_H */
