/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_NIC_H
#define RCM_NIC_H

#include <rdma/fabric.h>

#include "rcm_dev.h"

/*
 * fi_nic(3) attributes of a device and its PORT, or NULL for want of memory. Every part
 * is plain malloc'd memory behind the public structs, since ofi_rxm copies a
 * bare fid_nic with our ops (loading.md, rule 10). Freed by fi_freeinfo().
 */
struct fid_nic *rcm_nic_new(const struct rcm_dev *dev,
			    const struct rcm_dev_port *port);

#endif /* RCM_NIC_H */
