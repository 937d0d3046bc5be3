/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_LOG_H
#define RCM_LOG_H

#include <rdma/providers/fi_log.h>

#include "rcm_base.h"

/*
 * The provider as the core knows it; set by fi_prov_ini. While it is NULL
 * (unit tests), nothing is logged.
 */
extern const struct fi_provider *rcm_log_prov;

/*
 * One line each, without its end; the core adds process, time, level and
 * provider; errno is kept. WARN: a user or operator must know. INFO: once an
 * object, and why a hint or a device was refused. DEBUG: a call of the slow
 * path. SUBSYS is what follows FI_LOG_: CORE FABRIC DOMAIN EP_CTRL EP_DATA CQ
 * EQ MR CNTR.
 */
#define RCM_LOG(level, subsys, ...) \
	RCM_LOG_AT(level, FI_LOG_##subsys, __VA_ARGS__)
/* The same where the caller's caller knows the subsystem, an fi_log_subsys. */
#define RCM_LOG_AT(level, subsys, ...)                                      \
	do {                                                                \
		if (rcm_log_prov &&                                         \
		    fi_log_enabled(rcm_log_prov, FI_LOG_##level, (subsys))) \
			rcm_log_line(FI_LOG_##level, (subsys), __func__,    \
				     __LINE__, __VA_ARGS__);                \
	} while (0)
#define RCM_WARN(subsys, ...) RCM_LOG(WARN, subsys, __VA_ARGS__)
#define RCM_INFO(subsys, ...) RCM_LOG(INFO, subsys, __VA_ARGS__)
#define RCM_DBG(subsys, ...)  RCM_LOG(DEBUG, subsys, __VA_ARGS__)

/* Only by way of RCM_LOG, which asks first whether anybody listens. */
void rcm_log_line(enum fi_log_level level, enum fi_log_subsys subsys,
		  const char *func, int line, const char *fmt, ...)
	RCM_PRINTF(5, 6);

#endif /* RCM_LOG_H */
