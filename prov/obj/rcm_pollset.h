/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_POLLSET_H
#define RCM_POLLSET_H

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

/*
 * fi_poll_open(3); the domain's .poll_open. A poll set has completion queues
 * and counters of its domain, which cannot close while they are in it.
 */
int rcm_pollset_open(struct fid_domain *domain, struct fi_poll_attr *attr,
		     struct fid_poll **set);

#endif /* RCM_POLLSET_H */
