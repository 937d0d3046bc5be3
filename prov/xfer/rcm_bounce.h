/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_BOUNCE_H
#define RCM_BOUNCE_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/*
 * Registered buffers of one size. A send queue has one for each slot, for
 * injected messages that are too long for the device's inline size: so the
 * slot's retirement frees it and nothing is counted.
 */
struct rcm_bounce {
	struct ibv_mr *mr;
	uint8_t *mem;
	size_t size; /* bytes of one buffer */
	uint32_t mask;
};

/* SLOTS is a power of two. -FI_ENOMEM, or what registering said. */
int rcm_bounce_open(struct rcm_bounce **out, struct ibv_pd *pd, uint32_t slots,
		    uint32_t size);
void rcm_bounce_close(struct rcm_bounce *bounce); /* NULL is fine */

/* Copies the N buffers of SGE into POS's buffer, which *OUT then names. */
void rcm_bounce_copy(struct rcm_bounce *bounce, uint32_t pos,
		     const struct ibv_sge *sge, uint32_t n,
		     struct ibv_sge *out);

/* POS's buffer, which SGE names from now on, for the device to write to. */
void *rcm_bounce_lend(struct rcm_bounce *bounce, uint32_t pos,
		      struct ibv_sge *sge);

/* Copies what SGE names to AT in POS's buffer, which SGE then names. */
void rcm_bounce_put(struct rcm_bounce *bounce, uint32_t pos, size_t at,
		    struct ibv_sge *sge);

#endif /* RCM_BOUNCE_H */
