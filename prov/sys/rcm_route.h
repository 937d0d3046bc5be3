/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_ROUTE_H
#define RCM_ROUTE_H

#include "rcm_addr.h"

/*
 * The address that this machine would send to DST from, by its routing
 * table; no packet is sent and no name is looked up. *SRC has port 0.
 * -FI_E of what the kernel said (-FI_EHOSTUNREACH, -FI_ENETUNREACH, ...). A
 * pointer, so that a test can have routes of its own.
 */
extern int (*rcm_route_source)(const union rcm_addr *dst, union rcm_addr *src);

#endif /* RCM_ROUTE_H */
