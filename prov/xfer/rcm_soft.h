/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_SOFT_H
#define RCM_SOFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The software half of a completion queue: error entries, what was polled
 * but not asked for yet, and what a closed queue pair left. A ring with a
 * fixed room; it grows only where rcm_soft_reserve() is called, on slow
 * paths. All under the completion queue's lock.
 */

/* One completion, in the form from which every fi_cq format is cut. */
struct rcm_comp {
	void *op_context;
	uint64_t flags; /* FI_MSG | FI_SEND ... as fi_cq(3) lists them */
	size_t len;
	void *buf; /* of FI_MULTI_RECV alone */
	uint64_t data;
	size_t olen;
	int err;	/* 0, or the positive FI_E of an error entry */
	int prov_errno; /* the ibv_wc_status of an error entry */
	uint32_t vendor_err;
};

/* Room from the start: a reader's batch fits, or as many reclaimed sends. */
#define RCM_SOFT_ROOM 16

struct rcm_soft {
	struct rcm_comp *ring;
	uint32_t size; /* power of two */
	uint32_t head;
	uint32_t tail;
	uint32_t errors;  /* entries with err among them */
	uint32_t wake_at; /* entries that a waiting reader wants */
	bool raised;	  /* as last told */
	bool unread;	  /* there is no reader: keeps nothing */
	/*
	 * Told when a waiting reader has something to do, and when no longer;
	 * NULL when nobody can wait. Takes no lock.
	 */
	void (*ready)(void *user, bool ready);
	void *user;
};

/* -FI_ENOMEM */
int rcm_soft_open(struct rcm_soft *soft);
void rcm_soft_close(struct rcm_soft *soft);

/* Makes room for N more entries. -FI_ENOMEM, and nothing has changed. */
int rcm_soft_reserve(struct rcm_soft *soft, uint32_t n);

/* Puts one at the end, unless nobody reads. There is room. */
void rcm_soft_push(struct rcm_soft *soft, const struct rcm_comp *comp);

/* Drops the first. There is one. */
void rcm_soft_pop(struct rcm_soft *soft);

/* Sets how many entries wake a reader; one error entry always does. */
void rcm_soft_set_wake(struct rcm_soft *soft, uint32_t n);

static inline uint32_t rcm_soft_count(const struct rcm_soft *soft)
{
	return soft->tail - soft->head;
}

static inline uint32_t rcm_soft_room(const struct rcm_soft *soft)
{
	return soft->size - rcm_soft_count(soft);
}

/* The first entry. There is one. */
static inline const struct rcm_comp *rcm_soft_first(const struct rcm_soft *soft)
{
	return &soft->ring[soft->head & (soft->size - 1)];
}

/* Does a reader that waits have something to do? */
static inline bool rcm_soft_is_ready(const struct rcm_soft *soft)
{
	return soft->errors || rcm_soft_count(soft) >= soft->wake_at;
}

#endif /* RCM_SOFT_H */
