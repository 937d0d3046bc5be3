/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_NIC_H
#define RCM_NIC_H

#include <stdbool.h>

#include <rdma/fabric.h>

#include "rcm_dev.h"

/*
 * fi_nic(3) attributes of a device and its PORT, or NULL for want of memory. Every part
 * is plain malloc'd memory behind the public structs, since ofi_rxm copies a
 * bare fid_nic with our ops (loading.md, rule 10). Freed by fi_freeinfo().
 */
struct fid_nic *rcm_nic_new(const struct rcm_dev *dev,
			    const struct rcm_dev_port *port);

/*
 * Marks the nic of an info that a provider above rcm asked for (ofi_rxm), so
 * that the domain and endpoints opened with it know; a copy made by
 * fi_dupinfo() has the mark, too.
 */
void rcm_nic_set_layered(struct fid_nic *nic);
bool rcm_nic_is_layered(const struct fi_info *info);

#endif /* RCM_NIC_H */
