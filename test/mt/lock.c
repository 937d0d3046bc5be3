/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * A lock that four threads want: none gets in beside another, each that
 * sleeps is woken, and errno stays what it was.
 */

#include <errno.h>

#include "mt.h"
#include "rcm_lock.h"

#define THREADS 4
#define ROUNDS	20000

static struct rcm_lock lock;
static unsigned int inside, total; /* plain: the lock protects them */

static void *want(void *arg)
{
	(void)arg;
	errno = ENOANO;
	for (int i = 0; i < ROUNDS; i++) {
		rcm_lock(&lock);
		MT_CHECK(inside++ == 0);
		total++;
		/* held long enough, now and then, for the others to sleep */
		if (i % 64 == 0)
			sched_yield();
		inside--;
		rcm_unlock(&lock);
	}
	MT_CHECK(errno == ENOANO);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	rcm_lock_init(&lock, RCM_RANK_EQ, true);
	for (int i = 0; i < THREADS; i++)
		threads[i] = mt_start(want, NULL);
	for (int i = 0; i < THREADS; i++)
		mt_join(threads[i]);
	MT_CHECK(total == THREADS * ROUNDS);
	rcm_lock_fini(&lock);
	return 0;
}
