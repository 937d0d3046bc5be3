/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_SLOT_H
#define RCM_SLOT_H

#include <stdatomic.h>
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
	/* told after either has changed; NULL: nobody waits. Takes no lock. */
	void (*changed)(struct rcm_tally *tally);
};

/* From now on TALLY counts the ends of OP on RING; nothing is posted yet. */
void rcm_slot_count(struct rcm_ring *ring, enum rcm_op op,
		    struct rcm_tally *tally);

/*
 * One of several messages that a slot of RCM_SLOT_MULTI receives, not the
 * last: it is counted.
 */
void rcm_slot_tell(struct rcm_ring *ring, uint8_t kind, int err);

/*
 * The request in the special slot of KIND at POS is over: ERR is 0, or the
 * positive FI_E with which it failed. Once for each, before the slot is
 * retired, under the engine's lock.
 */
void rcm_slot_end(struct rcm_ring *ring, uint32_t pos, uint8_t kind, int err);

#endif /* RCM_SLOT_H */
