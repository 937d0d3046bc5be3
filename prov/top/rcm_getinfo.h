/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_GETINFO_H
#define RCM_GETINFO_H

#include <rdma/fabric.h>

/*
 * fi_getinfo(3); the provider's .getinfo. Opens no connection and waits for
 * no network but the name service that a NODE given by name needs.
 */
int rcm_getinfo(uint32_t version, const char *node, const char *service,
		uint64_t flags, const struct fi_info *hints,
		struct fi_info **info);

#endif /* RCM_GETINFO_H */
