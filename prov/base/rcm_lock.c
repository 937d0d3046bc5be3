/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_lock.h"

#if RCM_DEBUG

#include <stdio.h>
#include <stdlib.h>

#define RCM_MAX_HELD 8

static _Thread_local enum rcm_lock_rank rcm_held[RCM_MAX_HELD];
static _Thread_local int rcm_n_held;

void rcm_lock_rank_push(enum rcm_lock_rank rank)
{
	int i;

	for (i = 0; i < rcm_n_held; i++) {
		if (rcm_held[i] < rank)
			continue;
		fprintf(stderr, "rcm: lock of rank %d taken under rank %d\n",
			(int)rank, (int)rcm_held[i]);
		abort();
	}
	if (rcm_n_held == RCM_MAX_HELD)
		abort();
	rcm_held[rcm_n_held++] = rank;
}

void rcm_lock_rank_pop(enum rcm_lock_rank rank)
{
	int i;

	for (i = rcm_n_held - 1; i >= 0 && rcm_held[i] != rank; i--)
		;
	if (i < 0)
		abort();
	for (rcm_n_held--; i < rcm_n_held; i++)
		rcm_held[i] = rcm_held[i + 1];
}

#endif /* RCM_DEBUG */
