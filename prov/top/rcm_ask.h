/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_ASK_H
#define RCM_ASK_H

#include <stdbool.h>

#include <rdma/fabric.h>

#include "rcm_addr.h"
#include "rcm_attr.h"

#define RCM_ASK_MAX 16

/* Addresses that a name stands for, in the order of the name service. */
struct rcm_ask_set {
	unsigned int n;
	union rcm_addr addrs[RCM_ASK_MAX];
};

/* Which addresses a fi_getinfo() is about. */
struct rcm_ask {
	uint32_t format;	/* hints->addr_format */
	struct rcm_ask_set src; /* none: any address of a device */
	bool src_any;		/* src is one wildcard, and stays so */
	uint16_t src_port;
	struct rcm_ask_set dst; /* none: no destination */
};

/*
 * Reads node, service, FI_SOURCE, FI_NUMERICHOST and the addresses of HINTS
 * as fi_getinfo(3) says. Asks the name service only for a NODE that is no
 * number. -FI_ENODATA with the reason in *WHY.
 */
int rcm_ask_read(struct rcm_ask *ask, const char *node, const char *service,
		 uint64_t flags, const struct fi_info *hints,
		 struct rcm_why *why);

/* ADDR is of the format (and so the family) that was asked for. */
bool rcm_ask_format_fits(const struct rcm_ask *ask, const union rcm_addr *addr);

/*
 * Whether an endpoint may have the device address ADDR; *SRC becomes the
 * source to report: ADDR or the wildcard, with the port that was asked for.
 */
bool rcm_ask_source(const struct rcm_ask *ask, const union rcm_addr *addr,
		    union rcm_addr *src);

#endif /* RCM_ASK_H */
