/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_RING_H
#define RCM_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rcm_base.h"

/*
 * What the completions of one queue of a queue pair must know: for each work
 * request that is outstanding, the user's context and the kind of operation.
 * On an error only wr_id, status and qp_num of a work completion are valid.
 *
 * Positions are counted up and wrap at 2^32. The producer is the thread that
 * posts, under its queue's lock; it owns the tail. The consumer is the
 * thread that polls, under the completion queue's lock; it owns the head.
 * Neither takes the other's lock.
 */

/* What an operation was; an index into rcm_op_flags. */
enum rcm_op {
	RCM_OP_SEND,
	RCM_OP_RECV,
	RCM_OP_READ,
	RCM_OP_WRITE,
	RCM_OP_REMOTE_WRITE, /* the peer's, with data, for which a receive went */
	RCM_OP_FETCH,	     /* atomic, with a result: as a read */
	RCM_OP_UPDATE,	     /* without: as a write */
	RCM_OP_COUNT,
};

/* In the kind of a slot, beside its enum rcm_op. */
enum {
	RCM_SLOT_OP = 0x0f,
	RCM_SLOT_MULTI = 0x20,	 /* a buffer of FI_MULTI_RECV; special, too */
	RCM_SLOT_SPECIAL = 0x40, /* rcm_slot_end() has something to do */
	RCM_SLOT_ENTRY = 0x80,	 /* success puts an entry, too */
};

/* The fi_cq(3) completion flags of each operation. */
extern const uint64_t rcm_op_flags[RCM_OP_COUNT];

struct rcm_leases;
struct rcm_qp;
struct rcm_tally;

struct rcm_ring {
	/* fixed while it is open */
	struct rcm_qp *qp;
	void **context;
	uint8_t *kind;
	uint64_t wr_id; /* the ring's number in its engine, upper half */
	uint32_t mask;	/* slots minus one; slots are a power of two */
	uint32_t depth; /* how many may be outstanding */
	/*
	 * In the kind of every slot. A special slot is seen by itself, so a
	 * send with one is signalled.
	 */
	uint8_t kind_always;
	struct rcm_tally *tally[RCM_OP_COUNT]; /* counters, or NULL */
	struct rcm_leases *leases;	       /* rcm_lease.h, or NULL */
	uint32_t *bytes; /* of each send, if a counter adds them up; or NULL */

	/* the producer's */
	_Atomic uint32_t tail;
	uint32_t head_seen;

	/* keeps the two threads off each other's cache line */
	char pad[64];

	/* the consumer's */
	_Atomic uint32_t head;
	uint32_t tail_seen;
	char pad_end[56];
};

/* Makes an empty ring for DEPTH outstanding requests. -FI_ENOMEM. */
int rcm_ring_open(struct rcm_ring *ring, struct rcm_qp *qp, uint32_t depth);
void rcm_ring_close(struct rcm_ring *ring); /* safe on a zeroed one */

/* What the slot of an OP says at least. */
static inline uint8_t rcm_ring_kind(const struct rcm_ring *ring, enum rcm_op op)
{
	return ring->kind_always | (uint8_t)op;
}

/* Requests that are outstanding, for slow paths on either side. */
static inline uint32_t rcm_ring_used(struct rcm_ring *ring)
{
	return atomic_load_explicit(&ring->tail, memory_order_acquire) -
	       atomic_load_explicit(&ring->head, memory_order_acquire);
}

/* Producer: how many more may be posted, at least; exact when it is 0. */
static inline uint32_t rcm_ring_room(struct rcm_ring *ring)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	if (rcm_unlikely(tail - ring->head_seen == ring->depth))
		ring->head_seen = atomic_load_explicit(&ring->head,
						       memory_order_acquire);
	return ring->depth - (tail - ring->head_seen);
}

/* Producer: is there room for N more, as far as it has seen? */
static inline bool rcm_ring_is_roomy(struct rcm_ring *ring, uint32_t n)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	return tail - ring->head_seen + n <= ring->depth;
}

/*
 * Producer: fills the next slot and returns its wr_id. There is room. Before
 * the request is posted, since it may complete before the post returns.
 */
static inline uint64_t rcm_ring_push(struct rcm_ring *ring, void *context,
				     uint8_t kind)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	ring->context[tail & ring->mask] = context;
	ring->kind[tail & ring->mask] = kind;
	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
	return ring->wr_id | tail;
}

/* Producer: takes back the last slot, whose request was not accepted. */
static inline void rcm_ring_unpush(struct rcm_ring *ring)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	atomic_store_explicit(&ring->tail, tail - 1, memory_order_release);
}

/*
 * Producer: the request of the slot at FROM has the one at TO from now on.
 * It is not with the device.
 */
static inline void rcm_ring_move(struct rcm_ring *ring, uint32_t from,
				 uint32_t to)
{
	ring->context[to & ring->mask] = ring->context[from & ring->mask];
	ring->kind[to & ring->mask] = ring->kind[from & ring->mask];
	if (ring->bytes)
		ring->bytes[to & ring->mask] = ring->bytes[from & ring->mask];
}

/*
 * Consumer: is a request outstanding at POS? A stale or foreign wr_id is
 * found out here, before it can move the head.
 */
static inline bool rcm_ring_holds(struct rcm_ring *ring, uint32_t pos)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint32_t tail = ring->tail_seen;

	if (rcm_likely(pos - head < tail - head))
		return true;
	tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	if (tail != ring->tail_seen)
		ring->tail_seen = tail;
	return pos - head < tail - head;
}

/* Consumer: the request at POS is over, and all before it. */
static inline void rcm_ring_retire(struct rcm_ring *ring, uint32_t pos)
{
	atomic_store_explicit(&ring->head, pos + 1, memory_order_release);
}

#endif /* RCM_RING_H */
