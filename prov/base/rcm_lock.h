/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_LOCK_H
#define RCM_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "rcm_base.h"

/*
 * The lock order: a thread that holds a lock takes only locks of a higher
 * rank. Debug builds check it. docs/LOCKING.md says what each one protects.
 */
enum rcm_lock_rank {
	RCM_RANK_SET = 10,     /* what is in a wait set or poll set */
	RCM_RANK_EQ = 20,      /* an event queue and its connections */
	RCM_RANK_CNTR = 22,    /* a counter's completion engines */
	RCM_RANK_STAGE = 25,   /* send queues that wait for their doorbell */
	RCM_RANK_SEND = 30,    /* a send queue */
	RCM_RANK_RECV = 31,    /* a receive queue */
	RCM_RANK_CQ = 50,      /* a completion queue */
	RCM_RANK_ALIAS = 60,   /* the aliases of an endpoint */
	RCM_RANK_DEFER = 70,   /* what the EQ has still to look at */
	RCM_RANK_DEVICES = 80, /* the snapshot of the device list */
};

/*
 * A mutex that may be switched off: below FI_THREAD_SAFE the application
 * promises not to enter from two threads, and no lock is taken.
 */
struct rcm_lock {
	pthread_mutex_t mutex;
	enum rcm_lock_rank rank;
	bool enabled;
};

#if RCM_DEBUG
/* Aborts with both ranks when RANK does not come after all ranks held. */
void rcm_lock_rank_push(enum rcm_lock_rank rank);
void rcm_lock_rank_pop(enum rcm_lock_rank rank);
#else
static inline void rcm_lock_rank_push(enum rcm_lock_rank rank)
{
	(void)rank;
}
static inline void rcm_lock_rank_pop(enum rcm_lock_rank rank)
{
	(void)rank;
}
#endif

/* Never fails: the default attributes of a mutex need no memory. */
static inline void rcm_lock_init(struct rcm_lock *l, enum rcm_lock_rank rank,
				 bool enabled)
{
	pthread_mutex_init(&l->mutex, NULL);
	l->rank = rank;
	l->enabled = enabled;
}

static inline void rcm_lock_fini(struct rcm_lock *l)
{
	pthread_mutex_destroy(&l->mutex);
}

static inline void rcm_lock(struct rcm_lock *l)
{
	if (!l->enabled)
		return;
	rcm_lock_rank_push(l->rank);
	pthread_mutex_lock(&l->mutex);
}

static inline void rcm_unlock(struct rcm_lock *l)
{
	if (!l->enabled)
		return;
	pthread_mutex_unlock(&l->mutex);
	rcm_lock_rank_pop(l->rank);
}

#endif /* RCM_LOCK_H */
