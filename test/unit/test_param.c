/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rcm_param.h"

struct fi_provider *fi_prov_ini(void);

/* a core that is not up yet forgets variables and logs nothing */
static void core_up(void)
{
	struct fi_param *list;
	int count;

	cr_assert_eq(fi_getparams(&list, &count), 0);
	fi_freeparams(list);
}

static const struct rcm_param_row *row(const char *name)
{
	const struct rcm_param_row *rows;
	unsigned int n;

	rows = rcm_param_rows(&n);
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	cr_assert_fail("no row %s", name);
	return NULL;
}

Test(param, defaults_lie_in_their_ranges)
{
	const struct rcm_param_row *rows;
	unsigned int n;

	rows = rcm_param_rows(&n);
	cr_assert_gt(n, 0);
	for (unsigned int i = 0; i < n; i++) {
		cr_assert_leq(rows[i].low, rows[i].dflt, "%s", rows[i].name);
		cr_assert_leq(rows[i].dflt, rows[i].high, "%s", rows[i].name);
		cr_assert_eq(*rows[i].value, rows[i].dflt, "%s", rows[i].name);
		cr_assert_gt(strlen(rows[i].help), 0, "%s", rows[i].name);
	}
}

Test(param, names_are_unique_and_plain)
{
	const struct rcm_param_row *rows;
	unsigned int n;

	rows = rcm_param_rows(&n);
	for (unsigned int i = 0; i < n; i++) {
		cr_assert_eq(strspn(rows[i].name,
				    "abcdefghijklmnopqrstuvwxyz_"),
			     strlen(rows[i].name), "%s", rows[i].name);
		for (unsigned int k = 0; k < i; k++)
			cr_assert_str_neq(rows[i].name, rows[k].name);
	}
}

Test(param, whole_numbers_in_range_are_taken)
{
	const struct rcm_param_row *r = row("tx_size");
	int v = -7;

	cr_assert_eq(rcm_param_parse(r, "1", &v), 0);
	cr_assert_eq(v, 1);
	cr_assert_eq(rcm_param_parse(r, " 1048576\n", &v), 0);
	cr_assert_eq(v, 1048576);
	cr_assert_eq(rcm_param_parse(row("tos"), "-1", &v), 0);
	cr_assert_eq(v, -1);
}

Test(param, anything_else_is_refused_and_changes_nothing)
{
	const char *bad[] = { "",	 " ",	       "abc",
			      "0x10",	 "12k",	       "1 2",
			      "1.5",	 "0",	       "-1",
			      "1048577", "4294967297", "-4294967295",
			      "--1",	 "+",	       "99999999999999999999",
			      "1;2" };
	const struct rcm_param_row *r = row("tx_size");

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int v = -7;

		cr_assert_eq(rcm_param_parse(r, bad[i], &v), -FI_EINVAL, "%s",
			     bad[i]);
		cr_assert_eq(v, -7, "%s", bad[i]);
	}
}

Test(param, environment_sets_what_is_in_force)
{
	setenv("FI_RCM_TX_SIZE", "77", 1);
	setenv("FI_RCM_TOS", "-1", 1);
	setenv("FI_RCM_RNR_RETRY", "0", 1);
	cr_assert_not_null(fi_prov_ini());
	cr_assert_eq(rcm_param.tx_size, 77);
	cr_assert_eq(rcm_param.tos, -1);
	cr_assert_eq(rcm_param.rnr_retry, 0);
	cr_assert_eq(rcm_param.rx_size, 384);
}

/* the core's own reading takes "abc" for 0 */
Test(param, wrong_values_are_named_and_ignored, .init = cr_redirect_stderr)
{
	char out[4096] = "";
	FILE *f;

	setenv("FI_LOG_LEVEL", "warn", 1);
	setenv("FI_RCM_TX_SIZE", "abc", 1);
	setenv("FI_RCM_RNR_RETRY", "8", 1);
	setenv("FI_RCM_INJECT_SIZE", "", 1);
	core_up();
	cr_assert_not_null(fi_prov_ini());
	cr_assert_eq(rcm_param.tx_size, 384);
	cr_assert_eq(rcm_param.rnr_retry, 7);
	cr_assert_eq(rcm_param.inject_size, 256);

	fflush(stderr);
	f = cr_get_redirected_stderr();
	cr_assert_gt(fread(out, 1, sizeof(out) - 1, f), 0);
	cr_assert_not_null(strstr(out, "FI_RCM_TX_SIZE is abc"));
	cr_assert_not_null(strstr(out, "FI_RCM_RNR_RETRY is 8"));
	cr_assert_not_null(strstr(out, "number from 0 to 7"));
}

Test(param, core_lists_every_variable)
{
	const struct rcm_param_row *rows;
	struct fi_param *list;
	unsigned int n;
	int count;

	rows = rcm_param_rows(&n);
	core_up();
	cr_assert_not_null(fi_prov_ini());
	cr_assert_eq(fi_getparams(&list, &count), 0);
	for (unsigned int i = 0; i < n; i++) {
		char name[64];
		int k;

		snprintf(name, sizeof(name), "FI_RCM_%s", rows[i].name);
		for (k = 0; k < count; k++)
			if (!strcasecmp(list[k].name, name))
				break;
		cr_assert_lt(k, count, "%s", name);
		cr_assert_eq(list[k].type, FI_PARAM_INT);
		cr_assert_eq(strncmp(list[k].help_string, "rcm: ", 5), 0);
	}
	fi_freeparams(list);
}
