/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_INFO_H
#define RCM_INFO_H

#include <stdbool.h>

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
 * Takes over from HINTS what an application chose, so that INFO is what it
 * gets. The hints must have been accepted; any part of them may be NULL.
 * Addresses and names are not looked at. Cannot fail.
 */
void rcm_info_narrow(struct fi_info *info, uint32_t version,
		     const struct fi_info *hints);

/*
 * What a chosen INFO of DEV can do: with FI_READ as many buffers as a read of
 * the device may have. With a shared receive context its sizes are at most
 * what the device can do so, and receives end in another order than they were
 * posted in.
 */
void rcm_info_fit(struct fi_info *info, const struct rcm_dev *dev);

/*
 * Puts copies of the addresses into INFO, NULL for none, and the format in
 * the sense of FORMAT, an addr_format of hints. -FI_ENOMEM.
 */
int rcm_info_set_addrs(struct fi_info *info, uint32_t format,
		       const union rcm_addr *src, const union rcm_addr *dst);

/*
 * The info of FI_CONNREQ: PEP's info made concrete for DEV and the two
 * addresses, usable for fi_domain() and fi_endpoint(). NULL for want of
 * memory, or when DEV is not to be offered.
 */
struct fi_info *rcm_info_connreq(const struct fi_info *pep,
				 const struct rcm_dev *dev,
				 const union rcm_addr *src,
				 const union rcm_addr *dst);

/*
 * Domains of one fabric can reach each other, as far as the device can tell:
 * "IB-0x<subnet prefix>" for the InfiniBand subnet of a port, "RoCE" for
 * every RoCE and "iWARP" for every iWARP device, which route by IP.
 */
#define RCM_FABRIC_NAME 32
const char *rcm_info_fabric_name(const struct rcm_dev *dev,
				 const struct rcm_dev_port *port,
				 char buf[RCM_FABRIC_NAME]);

/*
 * Says that counters have all 64 bits: max_cntr_value and max_err_cntr_value,
 * which struct fi_domain_attr has since 2.5. CORE is fi_version(): an older
 * core's struct is shorter.
 */
void rcm_info_set_cntr_max(struct fi_domain_attr *domain, uint32_t core);

/* The orders that DEV keeps: msg_order of both directions. */
uint64_t rcm_info_order(const struct rcm_dev *dev);

/* The capabilities that HINTS (or NULL) ask for, of those offered. */
uint64_t rcm_info_caps(const struct fi_info *hints);

/*
 * Primary capabilities and their modifiers among CAPS, with what one implies
 * of the other (fi_getinfo(3)). 0 when there are none.
 */
uint64_t rcm_info_expand(uint64_t caps);

/* The primary ones among CAPS that have none of their modifiers there. */
uint64_t rcm_info_idle(uint64_t caps);

/*
 * Whether CAPS, as granted, make RDMA writes, which may bring data with them:
 * the writes of fi_atomic(3) do not.
 */
bool rcm_info_has_writes(uint64_t caps);

/* HINTS (or NULL) put up with receives that are used up by a peer's writes. */
bool rcm_info_rx_cq_data(const struct fi_info *hints);

/* How memory is to be registered (fi_mr(3)), by API version and hints. */
struct rcm_mr_form {
	int mr_mode;
	bool local_mr; /* the old mode bit goes into the info */
};

/*
 * Finds the form that serves HINTS (or NULL). -FI_ENODATA when they allow
 * none, with the bits of mr_mode that are missing in *MISSING.
 */
int rcm_info_mr_form(uint32_t version, const struct fi_info *hints,
		     struct rcm_mr_form *form, int *missing);

#endif /* RCM_INFO_H */
