/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_ring.h"

#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

const uint64_t rcm_op_flags[RCM_OP_COUNT] = {
	[RCM_OP_SEND] = FI_MSG | FI_SEND,
	[RCM_OP_RECV] = FI_MSG | FI_RECV,
	[RCM_OP_READ] = FI_RMA | FI_READ,
	[RCM_OP_WRITE] = FI_RMA | FI_WRITE,
	[RCM_OP_REMOTE_WRITE] = FI_RMA | FI_REMOTE_WRITE,
	[RCM_OP_FETCH] = FI_ATOMIC | FI_READ,
	[RCM_OP_UPDATE] = FI_ATOMIC | FI_WRITE,
};

int rcm_ring_open(struct rcm_ring *ring, struct rcm_qp *qp, uint32_t depth)
{
	uint32_t slots = rcm_pow2_ceil(depth);

	memset(ring, 0, sizeof(*ring));
	/* one block: contexts, then kinds */
	ring->context = calloc(slots, sizeof(*ring->context) + 1);
	if (!ring->context)
		return -FI_ENOMEM;
	ring->kind = (uint8_t *)(ring->context + slots);
	ring->qp = qp;
	ring->mask = slots - 1;
	ring->depth = depth;
	return 0;
}

void rcm_ring_close(struct rcm_ring *ring)
{
	free(ring->context);
	free(ring->bytes);
	memset(ring, 0, sizeof(*ring));
}
