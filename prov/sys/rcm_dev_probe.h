/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_DEV_PROBE_H
#define RCM_DEV_PROBE_H

#include <ifaddrs.h>

#include "rcm_base.h"
#include "rcm_dev.h"

/* The parts of rcm_dev.h; each fills what is its own in one rcm_dev. */

/*
 * Asks IBDEV everything and fills DEV, which is zeroed. A device that cannot
 * be used has its reason in it and is no failure: -FI_ENOMEM is the only
 * one. rcm_dev_fini() in any case.
 */
int rcm_dev_probe(struct rcm_dev *dev, struct ibv_device *ibdev,
		  const struct ifaddrs *ifs);
void rcm_dev_fini(struct rcm_dev *dev);

/* Marks DEV as not usable and logs the reason. */
void rcm_dev_leave_out(struct rcm_dev *dev, const char *fmt, ...)
	RCM_PRINTF(2, 3);

/*
 * Finds the addresses of DEV's active ports among those of the machine's
 * network interfaces, by the N GIDS of all its ports. Leaves DEV out when it
 * has none. -FI_ENOMEM.
 */
int rcm_dev_match(struct rcm_dev *dev, const struct ibv_gid_entry *gids,
		  size_t n, const struct ifaddrs *ifs);

/* Fills DEV's nic from its attributes and the kernel's files. */
void rcm_dev_read_nic(struct rcm_dev *dev);

#endif /* RCM_DEV_PROBE_H */
