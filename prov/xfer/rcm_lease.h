/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_LEASE_H
#define RCM_LEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "rcm_base.h"
#include "rcm_ring.h"

/*
 * Memory that is the device's for one operation alone, where the application
 * need not register its buffers (FI_MR_LOCAL is not in mr_mode; design D12).
 * A lease belongs to its operation's slot and ends with it: before anyone
 * can read the completion, since the memory is the application's from then
 * on. Ending it is a system call, so leases that end under an engine's lock
 * are put on the engine's list, and given back when the lock is free.
 */

/*
 * What a send or write of at most RCM_LEASE_COPY bytes has without a key is
 * copied into one of RCM_LEASE_BUFS registered buffers of its queue, and what
 * a read of that size gets is copied from there when it ends: a page is
 * copied in a fraction of the time that registering it takes, and a queue's
 * buffers hold as many messages as one doorbell may carry. When all are in
 * use, and beyond that size, each buffer is registered.
 */
#define RCM_LEASE_COPY 4096
#define RCM_LEASE_BUFS 32

struct rcm_lease;
struct rcm_lease_pool;

/* What a ring has for them; NULL in the ring where buffers need a key. */
struct rcm_leases {
	struct ibv_pd *pd;
	int access;		  /* what the device may do: IBV_ACCESS_* */
	int pull_access;	  /* the same of a read's buffers */
	struct rcm_lease **slot;  /* by position, NULL: none */
	struct rcm_lease **ended; /* the engine's list, under its lock */
	_Atomic(struct rcm_lease_pool *) pool; /* made at first use */
	atomic_bool no_pool;		       /* there was no memory for one */
	atomic_bool told;		       /* a failure is in the log */
};

/*
 * RING's operations may have leases of PD from now on, with ACCESS;
 * *ENDED takes those that end. -FI_ENOMEM.
 */
int rcm_leases_open(struct rcm_ring *ring, struct ibv_pd *pd, int access,
		    struct rcm_lease **ended);
/* No operation is outstanding. Safe where there are none. */
void rcm_leases_close(struct rcm_ring *ring);

/*
 * Gives the N buffers of SGE that have no key (lkey 0) one, of a lease that
 * is the caller's; PULL: for the device to write to them, whatever the
 * ring's others do. Else they may then point at a copy. Registers memory: no
 * lock may be held. -FI_ENOMEM (also beyond the limit of locked memory,
 * which the log names), -FI_EFAULT, -FI_EINVAL, … ; never -FI_EAGAIN.
 */
int rcm_lease_get(struct rcm_leases *leases, struct ibv_sge *sge, uint32_t n,
		  bool pull, struct rcm_lease **out);

/* The same for LEN bytes at ADDR, which are never copied: one key. */
int rcm_lease_get_one(struct rcm_leases *leases, uint64_t addr, size_t len,
		      uint32_t *lkey, struct rcm_lease **out);

/* Gives back LEASE and all behind it in a list; NULL is fine. */
void rcm_lease_put(struct rcm_lease *lease);

/* Producer: LEASE, or NULL, is that of the slot at POS. */
void rcm_lease_set(struct rcm_ring *ring, uint32_t pos,
		   struct rcm_lease *lease);

/* The request in the slot at FROM, which ends without one, is now at TO. */
void rcm_lease_move(struct rcm_ring *ring, uint32_t from, uint32_t to);

/*
 * The request at POS is over, WELL or not: its lease, if it has one, goes to
 * the engine's list. Under the engine's lock.
 */
void rcm_lease_end(struct rcm_ring *ring, uint32_t pos, bool well);

/* The operation of LEASE, which has no ring, is over; NULL is fine. */
void rcm_lease_end_one(struct rcm_lease *lease, struct rcm_lease **ended);

/* Takes all that have ended off the list at *ENDED. */
static inline struct rcm_lease *rcm_lease_take(struct rcm_lease **ended)
{
	struct rcm_lease *list = *ended;

	*ended = NULL;
	return list;
}

/* Gives them back, where what they end may be read by others at once. */
static inline void rcm_lease_settle(struct rcm_lease **ended)
{
	if (rcm_unlikely(*ended != NULL))
		rcm_lease_put(rcm_lease_take(ended));
}

#endif /* RCM_LEASE_H */
