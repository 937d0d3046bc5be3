/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_slot.h"

#include "rcm_lease.h"

void rcm_slot_count(struct rcm_ring *ring, enum rcm_op op,
		    struct rcm_tally *tally)
{
	ring->tally[op] = tally;
	ring->kind_always |= RCM_SLOT_SPECIAL;
}

void rcm_slot_tell(struct rcm_ring *ring, uint8_t kind, int err)
{
	struct rcm_tally *tally = ring->tally[kind & RCM_SLOT_OP];

	if (!tally)
		return;
	atomic_fetch_add(err ? &tally->errors : &tally->value, 1);
	if (tally->changed)
		tally->changed(tally);
}

void rcm_slot_end(struct rcm_ring *ring, uint32_t pos, uint8_t kind, int err)
{
	if (ring->leases)
		rcm_lease_end(ring, pos);
	rcm_slot_tell(ring, kind, err);
}
