/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_LOCK_H
#define RCM_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rcm_base.h"

/*
 * The lock order: a thread that holds a lock takes only locks of a higher
 * rank. Debug builds check it. docs/LOCKING.md says what each one protects.
 */
enum rcm_lock_rank {
	RCM_RANK_SET = 10,     /* what is in a wait set or poll set */
	RCM_RANK_DRIVE = 15,   /* which event queues a domain has */
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
 * promises not to enter from two threads, and no lock is taken. A sixth of
 * the instructions of pthread's while nobody waits, which on the data path is
 * most of what a call costs. Who waits sleeps in the kernel.
 */
struct rcm_lock {
	_Atomic uint32_t state; /* enum below; what a waiter's futex is */
	enum rcm_lock_rank rank;
	bool enabled;
};

enum {
	RCM_LOCK_FREE,
	RCM_LOCK_HELD,
	RCM_LOCK_AWAITED, /* held, and somebody may sleep */
};

/* Takes a lock that was not free; blocks. */
void rcm_lock_wait(struct rcm_lock *l);
/* Wakes one who sleeps for a lock that has been set free. */
void rcm_lock_wake(struct rcm_lock *l);

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

static inline void rcm_lock_init(struct rcm_lock *l, enum rcm_lock_rank rank,
				 bool enabled)
{
	atomic_init(&l->state, RCM_LOCK_FREE);
	l->rank = rank;
	l->enabled = enabled;
}

/* Nobody holds it or waits for it, and nobody will. */
static inline void rcm_lock_fini(struct rcm_lock *l)
{
	RCM_ASSERT(atomic_load_explicit(&l->state, memory_order_relaxed) ==
		   RCM_LOCK_FREE);
	(void)l;
}

static inline void rcm_lock(struct rcm_lock *l)
{
	uint32_t state = RCM_LOCK_FREE;

	if (!l->enabled)
		return;
	rcm_lock_rank_push(l->rank);
	if (rcm_unlikely(!atomic_compare_exchange_strong_explicit(
		    &l->state, &state, RCM_LOCK_HELD, memory_order_acquire,
		    memory_order_relaxed)))
		rcm_lock_wait(l);
}

/* Takes the lock if it is free; whether it has. For locks that are real. */
static inline bool rcm_trylock(struct rcm_lock *l)
{
	uint32_t state = RCM_LOCK_FREE;

	if (!atomic_compare_exchange_strong_explicit(
		    &l->state, &state, RCM_LOCK_HELD, memory_order_acquire,
		    memory_order_relaxed))
		return false;
	rcm_lock_rank_push(l->rank);
	return true;
}

static inline void rcm_unlock(struct rcm_lock *l)
{
	if (!l->enabled)
		return;
	if (rcm_unlikely(atomic_exchange_explicit(&l->state, RCM_LOCK_FREE,
						  memory_order_release) ==
			 RCM_LOCK_AWAITED))
		rcm_lock_wake(l);
	rcm_lock_rank_pop(l->rank);
}

#endif /* RCM_LOCK_H */
