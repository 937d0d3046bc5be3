/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_DRIVE_H
#define RCM_DRIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rcm_cqset.h"
#include "rcm_list.h"
#include "rcm_lock.h"
#include "rcm_wait.h"

struct rcm_eq;

/*
 * The event queues that a domain's endpoints are bound to. With manual
 * control progress, a peer that says goodbye is heard when one of them is
 * read; an application that reads completions only would wait for ever for
 * those of operations that the goodbye has ended. fi_domain(3) lets it expect
 * them where it reads. So who finds nothing there looks at the event queues,
 * too, now and then, and takes the steps that nobody else has taken between
 * two looks. Their events stay for their own readers.
 */
struct rcm_drive {
	struct rcm_lock lock;
	struct rcm_list eqs; /* struct rcm_driven, in rcm_drive.c */
	bool needed;
};

/* Unless NEEDED, control progress is automatic, and the rest does nothing. */
void rcm_drive_init(struct rcm_drive *drive, bool needed);
void rcm_drive_fini(struct rcm_drive *drive); /* nothing is in it any more */

/*
 * EQ is looked at until as many calls of rcm_drive_del(). Take the lock.
 * -FI_ENOMEM.
 */
int rcm_drive_add(struct rcm_drive *drive, struct rcm_eq *eq);
void rcm_drive_del(struct rcm_drive *drive, struct rcm_eq *eq);

/*
 * Looks at the next event queue in turn, or at all. Leaves out what another
 * thread waits for or is at, so it does not block. Takes locks from
 * RCM_RANK_DRIVE downwards.
 */
void rcm_drive_next(struct rcm_drive *drive);
void rcm_drive_all(struct rcm_drive *drive);

/*
 * rcm_wait_until() for who waits for operations of the domain: looks when
 * DEADLINE has come, and once a second before. 1 also when it has looked and
 * there is time left; the caller looks for itself and comes again. Blocks.
 */
int rcm_drive_sleep(struct rcm_drive *drive, struct rcm_wait *wait,
		    int64_t deadline);

/* Looks at one in RCM_CQSET_IDLE calls, which *N counts. */
static inline void rcm_drive_idle(struct rcm_drive *drive, atomic_uint *n)
{
	unsigned int before = atomic_fetch_add_explicit(n, 1,
							memory_order_relaxed);

	if (rcm_unlikely((before + 1) % RCM_CQSET_IDLE == 0))
		rcm_drive_next(drive);
}

#endif /* RCM_DRIVE_H */
