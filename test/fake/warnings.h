/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef WARNINGS_H
#define WARNINGS_H

#include <rdma/providers/fi_prov.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rcm_log.h"

/*
 * The core's log in the test's own hands: every line that a user sees at the
 * default level is added to `logged`. For one file of a program.
 */
static char logged[4096];

int fi_log_enabled(const struct fi_provider *prov, enum fi_log_level level,
		   enum fi_log_subsys subsys)
{
	(void)prov;
	(void)subsys;
	return level == FI_LOG_WARN;
}

void fi_log(const struct fi_provider *prov, enum fi_log_level level,
	    enum fi_log_subsys subsys, const char *func, int line,
	    const char *fmt, ...)
{
	size_t len = strlen(logged);
	va_list args;

	(void)prov;
	(void)level;
	(void)subsys;
	(void)func;
	(void)line;
	va_start(args, fmt);
	vsnprintf(logged + len, sizeof(logged) - len, fmt, args);
	va_end(args);
}

/* From here on; the provider tells nothing before its entry was called. */
static inline void log_warnings(void)
{
	static struct fi_provider prov = { .name = "rcm" };

	rcm_log_prov = &prov;
}

#endif /* WARNINGS_H */
