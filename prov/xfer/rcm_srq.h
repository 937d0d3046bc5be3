/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_SRQ_H
#define RCM_SRQ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <infiniband/verbs.h>

#include "rcm_lease.h"
#include "rcm_lock.h"

/*
 * A shared receive queue: receives that any of several queue pairs may use
 * up. They end out of order and in several engines, so what their
 * completions must know is in slots with a free list, not in a ring.
 *
 * The poster holds the queue's lock and has free slots of its own. Engines,
 * each under its completion queue's lock, give slots back to a list that the
 * poster takes as a whole once it has none left: neither waits for the
 * other, and since nobody takes single slots from that list, no slot can
 * come back unseen between two looks at it.
 */

struct rcm_cqset;
struct rcm_done;
struct rcm_hwcq;
struct rcm_qp;

/* In a wr_id: a receive of a shared queue; the lower half is its slot. */
#define RCM_WR_SRQ (1ULL << 62)

#define RCM_SRQ_NONE UINT32_MAX /* no slot */

/* In the state of a slot; 0: it is free. */
enum {
	RCM_SRQ_POSTED = 1 << 0,
	RCM_SRQ_ENTRY = 1 << 1, /* success puts an entry in any case */
};

struct rcm_srq_slot {
	void *context;
	struct rcm_lease *lease; /* of memory without a key, or NULL */
	uint32_t next;		 /* of a free one */
	_Atomic uint32_t state;
};

struct rcm_srq {
	/* fixed while it is open */
	struct ibv_srq *srq;
	struct rcm_srq_slot *slots;
	uint32_t size;
	bool lends; /* buffers need no key: FI_MR_LOCAL is not required */
	/*
	 * The device did not say when a queue pair was through with the
	 * queue (IBV_EVENT_QP_LAST_WQE_REACHED): do not wait for it again.
	 */
	atomic_bool silent;

	struct rcm_leases leases; /* without slots: those are above */

	/* the poster's */
	struct rcm_lock lock;
	uint32_t free; /* the first of its free slots */

	/* keeps poster and engines off each other's cache line */
	char pad[64];

	/* the engines' */
	_Atomic uint32_t returned; /* the first of those given back */
	char pad_end[60];
};

struct rcm_srq_attr {
	struct ibv_pd *pd;
	uint32_t size; /* receives that may be outstanding; not 0 */
	uint32_t sge;  /* buffers of one receive */
	bool locked;   /* several threads post */
	bool lends;    /* buffers need no key */
};

/* -FI_ENOMEM, or what the device said; nothing is left then. */
int rcm_srq_open(struct rcm_srq *srq, const struct rcm_srq_attr *attr);

/*
 * No queue pair uses it any more. Receives that nobody has used up are
 * forgotten: there is no completion queue to tell them in.
 */
void rcm_srq_close(struct rcm_srq *srq);

/*
 * Posts one receive of at most the queue's sge buffers, none of 0 bytes.
 * WANTS_ENTRY: success puts an entry even where the queue pair's receives
 * complete selectively. -FI_EAGAIN only when all slots are in use. Takes the
 * queue's lock.
 */
ssize_t rcm_srq_post(struct rcm_srq *srq, const struct ibv_sge *sge,
		     uint32_t n_sge, void *context, bool wants_entry);

/*
 * The same where some of SGE have no key (lkey 0), which they get: their
 * memory is registered until the receive is over. Also the errors of
 * rcm_lease_get(); a system call.
 */
ssize_t rcm_srq_post_lending(struct rcm_srq *srq, struct ibv_sge *sge,
			     uint32_t n_sge, void *context, bool wants_entry);

/* Receives that are outstanding; for slow paths. Takes the queue's lock. */
uint32_t rcm_srq_used(struct rcm_srq *srq);
/* Is one of them CONTEXT's? As long as nobody reads completions. */
bool rcm_srq_has(struct rcm_srq *srq, const void *context);

/*
 * The rest is for queue pairs whose attr.srq it is, and for their engines.
 *
 * Reserves room for every receive of SRQ in one hardware queue of CS, which
 * its queue pairs in that hardware queue have together; and, if there is
 * room for them, *EXTRA entries for the caller alone, else *EXTRA becomes 0.
 * As rcm_hwcq_reserve(); takes the engine's lock.
 */
struct rcm_hwcq *rcm_srq_reserve(struct rcm_cqset *cs, struct rcm_srq *srq,
				 uint32_t *extra, int *err);

/*
 * Ends the reservation but for the extra entries; unless CLEAN the room is
 * lost, since completions may still fill it. Takes the engine's lock.
 */
void rcm_srq_release(struct rcm_cqset *cs, struct rcm_hwcq *hw,
		     struct rcm_srq *srq, bool clean);

/* Frees what HW's reservations are kept in. */
void rcm_srq_drop_shares(struct rcm_hwcq *hw);

/*
 * Makes QP known to its receive engine by its number, which is all that a
 * completion says of it. -FI_ENOMEM. Takes the engine's lock.
 */
int rcm_srq_attach(struct rcm_qp *qp);
/* The contrary; safe on one that is not attached. */
void rcm_srq_detach(struct rcm_qp *qp);

/*
 * One completion of a shared receive, under the engine's lock: as
 * rcm_wc_done() and rcm_wc_failed() of rcm_wc.h.
 */
bool rcm_srq_done(struct rcm_cqset *cs, const struct ibv_wc *wc,
		  struct rcm_done *done);
void rcm_srq_failed(struct rcm_cqset *cs, const struct ibv_wc *wc);

#endif /* RCM_SRQ_H */
