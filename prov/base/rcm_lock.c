/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Neither a lock nor an unlock may change what its caller is to report. */
static void rcm_lock_futex(struct rcm_lock *l, int op, uint32_t value)
{
	int saved = errno;

	(void)syscall(SYS_futex, &l->state, op, value, NULL, NULL, 0);
	errno = saved;
}

/*
 * Marks the lock as awaited before it sleeps, and holds it as awaited, since
 * others may sleep too: at worst an unlock wakes nobody.
 */
void rcm_lock_wait(struct rcm_lock *l)
{
	while (atomic_exchange_explicit(&l->state, RCM_LOCK_AWAITED,
					memory_order_acquire) != RCM_LOCK_FREE)
		rcm_lock_futex(l, FUTEX_WAIT_PRIVATE, RCM_LOCK_AWAITED);
}

void rcm_lock_wake(struct rcm_lock *l)
{
	rcm_lock_futex(l, FUTEX_WAKE_PRIVATE, 1);
}

#if RCM_DEBUG

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
