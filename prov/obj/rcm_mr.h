/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_MR_H
#define RCM_MR_H

#include <infiniband/verbs.h>
#include <rdma/fi_domain.h>

#include "rcm_base.h"

struct rcm_domain;

/* A registered region; fi_mr_desc() is a pointer to it. */
struct rcm_mr {
	struct fid_mr fid;
	struct rcm_domain *domain;
	struct ibv_mr *mr; /* NULL: zero bytes, which no device is asked for */
	uint32_t lkey;
};

/* The domain's table of fi_mr_reg(3), regv and regattr. */
extern struct fi_ops_mr rcm_mr_ops;

/* The lkey behind a descriptor that fi_mr_desc() gave out. */
static inline uint32_t rcm_mr_lkey(const void *desc)
{
	return ((const struct rcm_mr *)desc)->lkey;
}

#endif /* RCM_MR_H */
