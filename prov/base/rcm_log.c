/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_log.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

const struct fi_provider *rcm_log_prov;

void rcm_log_line(enum fi_log_level level, enum fi_log_subsys subsys,
		  const char *func, int line, const char *fmt, ...)
{
	int err = errno;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fi_log(rcm_log_prov, level, subsys, func, line, "%s\n", text);
	errno = err;
}
