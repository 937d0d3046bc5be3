/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_HWCQ_H
#define RCM_HWCQ_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct rcm_cqset;
struct rcm_srq_share;

/*
 * One hardware completion queue of an engine. It is never overrun: whoever
 * posts has reserved one entry for each request that may be outstanding.
 */
struct rcm_hwcq {
	struct ibv_cq *cq;
	uint32_t capacity;
	uint32_t reserved;
	uint32_t unacked;	      /* events taken from the channel */
	bool armed;		      /* the next completion makes an event */
	struct rcm_srq_share *shares; /* rooms of shared receive queues */
};

/*
 * Reserves N entries in one hardware queue of CS; makes another one when
 * none has the room. NULL with the code (-FI_EINVAL beyond the device's
 * max_cqe, or what the device said) in *ERR, else 0 there. Under the engine's lock.
 */
struct rcm_hwcq *rcm_hwcq_reserve(struct rcm_cqset *cs, uint32_t n, int *err);
void rcm_hwcq_release(struct rcm_hwcq *hw, uint32_t n);

/* Destroys every hardware queue of CS. */
void rcm_hwcq_close_all(struct rcm_cqset *cs);

/* Takes every event off the channel of CS. Under its lock; never blocks. */
void rcm_hwcq_take_events(struct rcm_cqset *cs);

/* Asks for an event at the next completion, unless that is asked already. */
int rcm_hwcq_arm(struct rcm_hwcq *hw);

#endif /* RCM_HWCQ_H */
