/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_param.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

#include "rcm_base.h"
#include "rcm_log.h"

struct rcm_params rcm_param = {
#define RCM_PARAM(member, name, dflt, low, high, help) .member = (dflt),
#include "rcm_param.def"
#undef RCM_PARAM
};

static const struct rcm_param_row rcm_rows[] = {
#define RCM_PARAM(member, name, dflt, low, high, help) \
	{ name, help, &rcm_param.member, dflt, low, high },
#include "rcm_param.def"
#undef RCM_PARAM
};

const struct rcm_param_row *rcm_param_rows(unsigned int *n)
{
	*n = RCM_ARRAY_SIZE(rcm_rows);
	return rcm_rows;
}

static int rcm_param_check(const struct rcm_param_row *row, long number,
			   int *value)
{
	if (number < row->low || number > row->high)
		return -FI_EINVAL;
	*value = (int)number;
	return 0;
}

int rcm_param_parse(const struct rcm_param_row *row, const char *text,
		    int *value)
{
	long number;
	char *end;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || end == text)
		return -FI_EINVAL;
	while (isspace((unsigned char)*end))
		end++;
	if (*end)
		return -FI_EINVAL;
	return rcm_param_check(row, number, value);
}

static void rcm_param_env_name(const struct rcm_param_row *row, char *buf,
			       size_t len)
{
	int n = snprintf(buf, len, "FI_RCM_%s", row->name);

	for (int i = 0; i < n && i < (int)len; i++)
		buf[i] = (char)toupper((unsigned char)buf[i]);
}

/*
 * The core's own reading of a number takes "abc" for 0 and says nothing, so
 * the text is read again here. It is only to be had from the environment; a
 * value from the core's configuration file has its range checked.
 */
static void rcm_param_read(struct fi_provider *prov,
			   const struct rcm_param_row *row)
{
	char env[64];
	const char *text;
	int number;
	int ret;

	*row->value = row->dflt;
	ret = fi_param_get(prov, row->name, &number);
	if (ret == -FI_ENODATA)
		return;

	rcm_param_env_name(row, env, sizeof(env));
	text = getenv(env);
	if (text)
		ret = rcm_param_parse(row, text, row->value);
	else if (!ret)
		ret = rcm_param_check(row, number, row->value);
	if (ret)
		RCM_WARN(CORE,
			 "%s is %s, not a number from %d to %d: %d is used",
			 env, text ? text : "set", row->low, row->high,
			 row->dflt);
}

void rcm_param_init(struct fi_provider *prov)
{
	char help[512];

	for (size_t i = 0; i < RCM_ARRAY_SIZE(rcm_rows); i++) {
		const struct rcm_param_row *row = &rcm_rows[i];

		snprintf(help, sizeof(help), "%s From %d to %d (default %d).",
			 row->help, row->low, row->high, row->dflt);
		if (!fi_param_define(prov, row->name, FI_PARAM_INT, "%s", help))
			rcm_param_read(prov, row);
	}
}
