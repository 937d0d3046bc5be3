/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_PARAM_H
#define RCM_PARAM_H

/* The values in force; written by fi_prov_ini, read-only afterwards. */
struct rcm_params {
#define RCM_PARAM(member, name, dflt, low, high, help) int member;
#include "rcm_param.def"
#undef RCM_PARAM
};

extern struct rcm_params rcm_param;

/* One row of rcm_param.def, for the core's list and for tests. */
struct rcm_param_row {
	const char *name; /* without FI_RCM_ */
	const char *help;
	int *value;
	int dflt;
	int low;
	int high;
};

/* The rows, and their number in *N. */
const struct rcm_param_row *rcm_param_rows(unsigned int *n);

struct fi_provider;

/*
 * Defines every variable with the core and reads it; may be called inside
 * fi_prov_ini only (fi_provider(7): the core's list has no lock). A value
 * that is no number or out of range is named in a warning and ignored.
 */
void rcm_param_init(struct fi_provider *prov);

/*
 * Reads TEXT as a whole decimal number within the row's range. -FI_EINVAL
 * and *VALUE untouched when it is none.
 */
int rcm_param_parse(const struct rcm_param_row *row, const char *text,
		    int *value);

#endif /* RCM_PARAM_H */
