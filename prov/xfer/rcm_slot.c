/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_slot.h"

#include <stdlib.h>

#include <rdma/fi_errno.h>

#include "rcm_lease.h"

int rcm_slot_count(struct rcm_ring *ring, enum rcm_op op,
		   struct rcm_tally *tally)
{
	/* a received message's length is in its work completion */
	if (tally->bytes && op != RCM_OP_RECV && !ring->bytes) {
		ring->bytes = calloc(ring->mask + 1, sizeof(*ring->bytes));
		if (!ring->bytes)
			return -FI_ENOMEM;
	}
	ring->tally[op] = tally;
	ring->kind_always |= RCM_SLOT_SPECIAL;
	return 0;
}

void rcm_slot_tell(struct rcm_ring *ring, uint8_t kind, int err, uint32_t len)
{
	struct rcm_tally *tally = ring->tally[kind & RCM_SLOT_OP];

	if (!tally)
		return;
	if (err)
		atomic_fetch_add(&tally->errors, 1);
	else
		atomic_fetch_add(&tally->value, tally->bytes ? len : 1);
	if (tally->changed)
		tally->changed(tally);
}

void rcm_slot_end(struct rcm_ring *ring, uint32_t pos, uint8_t kind, int err,
		  uint32_t len)
{
	if (ring->leases)
		rcm_lease_end(ring, pos, !err);
	if (ring->bytes)
		len = ring->bytes[pos & ring->mask];
	rcm_slot_tell(ring, kind, err, len);
}
