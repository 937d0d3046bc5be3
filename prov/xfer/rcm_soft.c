/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_soft.h"

#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"

int rcm_soft_open(struct rcm_soft *soft)
{
	memset(soft, 0, sizeof(*soft));
	soft->ring = calloc(RCM_SOFT_ROOM, sizeof(*soft->ring));
	if (!soft->ring)
		return -FI_ENOMEM;
	soft->size = RCM_SOFT_ROOM;
	soft->wake_at = 1;
	return 0;
}

void rcm_soft_close(struct rcm_soft *soft)
{
	free(soft->ring);
	memset(soft, 0, sizeof(*soft));
}

int rcm_soft_reserve(struct rcm_soft *soft, uint32_t n)
{
	uint32_t count = rcm_soft_count(soft);
	struct rcm_comp *ring;
	uint32_t size, i;

	if (soft->unread || n <= soft->size - count)
		return 0;
	if (n > UINT32_MAX / 2 - count)
		return -FI_ENOMEM;
	size = rcm_pow2_ceil(count + n);
	ring = calloc(size, sizeof(*ring));
	if (!ring)
		return -FI_ENOMEM;
	for (i = 0; i < count; i++)
		ring[i] = soft->ring[(soft->head + i) & (soft->size - 1)];
	free(soft->ring);
	soft->ring = ring;
	soft->size = size;
	soft->head = 0;
	soft->tail = count;
	return 0;
}

static void rcm_soft_tell(struct rcm_soft *soft)
{
	bool ready = rcm_soft_is_ready(soft);

	if (!soft->ready || ready == soft->raised)
		return;
	soft->raised = ready;
	soft->ready(soft->user, ready);
}

void rcm_soft_push(struct rcm_soft *soft, const struct rcm_comp *comp)
{
	if (soft->unread)
		return;
	soft->ring[soft->tail++ & (soft->size - 1)] = *comp;
	if (comp->err)
		soft->errors++;
	rcm_soft_tell(soft);
}

void rcm_soft_pop(struct rcm_soft *soft)
{
	if (rcm_soft_first(soft)->err)
		soft->errors--;
	soft->head++;
	rcm_soft_tell(soft);
}

void rcm_soft_set_wake(struct rcm_soft *soft, uint32_t n)
{
	soft->wake_at = n;
	rcm_soft_tell(soft);
}
