/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_INFO_H
#define RCM_INFO_H

#include <rdma/fabric.h>

#include "rcm_addr.h"
#include "rcm_dev.h"

/*
 * A whole info of one device address as offered to API VERSION, before any
 * hint. NULL for want of memory. The caller frees it with fi_freeinfo().
 */
struct fi_info *rcm_info_new(uint32_t version, const struct rcm_dev *dev,
			     const struct rcm_dev_addr *addr);

/*
 * The info of FI_CONNREQ: PEP's info made concrete for DEV and the two
 * addresses, usable for fi_domain() and fi_endpoint(). NULL for want of
 * memory, or when DEV is not to be offered.
 */
struct fi_info *rcm_info_connreq(const struct fi_info *pep,
				 const struct rcm_dev *dev,
				 const union rcm_addr *src,
				 const union rcm_addr *dst);

#endif /* RCM_INFO_H */
