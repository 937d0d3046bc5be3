/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_SLOT_H
#define RCM_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rcm_ring.h"

/*
 * What hangs on the end of a request beside its entry: only few have
 * anything, and those slots are RCM_SLOT_SPECIAL.
 */

/* A counter, as the completion engines see it. */
struct rcm_tally {
	_Atomic uint64_t value;
	_Atomic uint64_t errors;
	bool bytes; /* a success adds its bytes; an error one, as ever */
	/* told after either has changed; NULL: nobody waits. Takes no lock. */
	void (*changed)(struct rcm_tally *tally);
};

/*
 * From now on TALLY counts the ends of OP on RING; nothing is posted yet.
 * -FI_ENOMEM.
 */
int rcm_slot_count(struct rcm_ring *ring, enum rcm_op op,
		   struct rcm_tally *tally);

/*
 * One of several messages that a slot of RCM_SLOT_MULTI receives, not the
 * last: it is counted. LEN is its bytes.
 */
void rcm_slot_tell(struct rcm_ring *ring, uint8_t kind, int err, uint32_t len);

/*
 * The request in the special slot of KIND at POS is over: ERR is 0, or the
 * positive FI_E with which it failed; LEN the bytes of a message that came.
 * Once for each, before the slot is retired, under the engine's lock.
 */
void rcm_slot_end(struct rcm_ring *ring, uint32_t pos, uint8_t kind, int err,
		  uint32_t len);

/*
 * Producer: the request that is pushed next sends LEN bytes, which its work
 * completion does not tell.
 */
static inline void rcm_slot_sends(struct rcm_ring *ring, uint64_t len)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	if (ring->bytes)
		ring->bytes[tail & ring->mask] = (uint32_t)len;
}

#endif /* RCM_SLOT_H */
