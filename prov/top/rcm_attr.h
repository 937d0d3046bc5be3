/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_ATTR_H
#define RCM_ATTR_H

#include <rdma/fabric.h>

#include "rcm_base.h"
#include "rcm_dev.h"

/* The first reason for which something did not match, in words. */
struct rcm_why {
	char text[256];
};

/*
 * Remembers a reason unless there is one already, and logs it at info level
 * (fi_log(3)). Returns -FI_ENODATA.
 */
int rcm_refuse(struct rcm_why *why, const char *fmt, ...) RCM_PRINTF(2, 3);

/* rcm_refuse() when ASKED is more than OFFERED, else 0. */
int rcm_refuse_more(struct rcm_why *why, const char *attr, size_t asked,
		    size_t offered);

/*
 * rcm_refuse() when ASKED has bits that OFFERED has not, else 0. TYPE is how
 * fi_tostr(3) prints them.
 */
int rcm_refuse_bits(struct rcm_why *why, const char *attr, uint64_t asked,
		    uint64_t offered, enum fi_type type);

/* fi_tostr(3) without its static buffer, which may be in use by others. */
#define RCM_TOSTR 96
const char *rcm_tostr(char buf[RCM_TOSTR], const void *value,
		      enum fi_type type);

/*
 * Everything in HINTS (NULL: no hints; any part may be NULL) that can be
 * judged without a look at a device. 0, or -FI_ENODATA with the reason.
 */
int rcm_attr_check(uint32_t version, const struct fi_info *hints,
		   struct rcm_why *why);

/*
 * The rest of HINTS: names and sizes, against DEV and what OFFER, an info of
 * it, says.
 */
int rcm_attr_check_dev(const struct fi_info *hints, const struct fi_info *offer,
		       const struct rcm_dev *dev, struct rcm_why *why);

/* The parts of rcm_attr_check(); each judges one attribute struct. */
int rcm_attr_check_ep(const struct fi_ep_attr *hints, struct rcm_why *why);
int rcm_attr_check_tx(const struct fi_tx_attr *hints, uint64_t caps,
		      struct rcm_why *why);
int rcm_attr_check_rx(const struct fi_rx_attr *hints, uint64_t caps,
		      struct rcm_why *why);
int rcm_attr_check_domain(const struct fi_domain_attr *hints,
			  struct rcm_why *why);
int rcm_attr_check_tclass(const char *attr, uint32_t asked,
			  struct rcm_why *why);

#endif /* RCM_ATTR_H */
