/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_CQSET_H
#define RCM_CQSET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <infiniband/verbs.h>
#include <rdma/fi_eq.h>

#include "rcm_list.h"
#include "rcm_lock.h"
#include "rcm_soft.h"

/*
 * The completion engine behind one fi_cq: one or more hardware completion
 * queues that are never overrun, since each queue pair reserves its worst
 * case when it is made (design D8), and a software queue for error entries
 * and for what was polled but not asked for yet.
 */

/* a power of two */
#define RCM_CQSET_IDLE 1024

struct rcm_qp;
struct rcm_hwcq;  /* one hardware completion queue and its reservation */
struct rcm_lease; /* memory registered for one operation */
struct rcm_ring;  /* what the completions of one queue must know */

/* What a fi_cq asks of its engine. */
struct rcm_cqset_attr {
	struct ibv_context *ctx;
	int max_cqe;		  /* of the device */
	size_t size;		  /* entries asked for; 0: no wish */
	enum fi_cq_format format; /* CONTEXT, MSG, DATA or TAGGED */
	bool channel;		  /* make a completion channel, for waiting */
	int comp_vector;
	bool locked; /* FI_THREAD_SAFE */
	bool unread; /* a counter's: nobody reads, so no entry is kept */
	/*
	 * Told when the software queue has something for a waiting reader,
	 * and when no longer; NULL: nobody waits. Called under the lock,
	 * takes none.
	 */
	void (*ready)(void *user, bool ready);
	/*
	 * Told of one read in RCM_CQSET_IDLE that finds nothing; NULL: nobody.
	 * Called without the lock.
	 */
	void (*idle)(void *user);
	void *user;
};

struct rcm_cqset {
	struct rcm_lock lock;
	size_t entry_size; /* bytes of one entry in the user's format */

	/* rings by the number in the upper half of a wr_id */
	struct rcm_ring **rings;
	uint32_t n_rings;

	/* queue pairs with shared receives, by number; rcm_srq_qp.c */
	struct rcm_qp **sharing;
	uint32_t n_sharing, sharing_size; /* lists: a power of two, or 0 */

	struct ibv_cq *only_cq; /* the hardware queue while there is but one */
	struct rcm_hwcq **hw;
	uint32_t n_hw;
	uint32_t next_hw; /* where the next poll starts: fair */
	bool broken;	  /* polling failed; it is told, not tried for ever */
	uint32_t n_idle;  /* reads that found nothing */

	struct rcm_soft soft;

	/* of operations that have ended; given back before they are told */
	struct rcm_lease *ended;

	/*
	 * Send queues that have ever staged requests (FI_MORE), and how many
	 * have some now. The lock's rank is below a send queue's: a reader
	 * holds it while it rings the doorbells that others left.
	 */
	_Atomic uint32_t n_staged;
	struct rcm_lock stage_lock;
	struct rcm_list stages;

	struct ibv_comp_channel *channel; /* NULL: nobody can wait */
	struct rcm_cqset_attr attr;
	uint64_t n_stray; /* completions that belong to nothing */
};

/* Opens CS; nothing of the device yet but the channel. -FI_ENOMEM, -FI_E. */
int rcm_cqset_open(struct rcm_cqset *cs, const struct rcm_cqset_attr *attr);
/* No queue pair may use it any more (the fi_cq counts them). */
void rcm_cqset_close(struct rcm_cqset *cs);

/*
 * fi_cq_read(3): up to COUNT entries in the engine's format. -FI_EAGAIN when
 * there is none, -FI_EAVAIL when the next is an error entry, -FI_EIO when the
 * device's queue cannot be polled; COUNT 0 drives progress and says only
 * that. Takes the lock.
 */
ssize_t rcm_cqset_read(struct rcm_cqset *cs, void *buf, size_t count);

/* Takes the error entry at the head into *OUT. -FI_EAGAIN without one. */
int rcm_cqset_read_err(struct rcm_cqset *cs, struct rcm_comp *out);

/*
 * Readies the channel's fd: 0 when it is armed and nothing waits, -FI_EAGAIN
 * when an entry does (fi_trywait(3)). Takes the lock.
 */
int rcm_cqset_arm(struct rcm_cqset *cs);

/*
 * Polls into the software queue until WANT entries wait or none comes;
 * returns how many wait. An error entry counts as enough: WANT. Takes the
 * lock; makes room for WANT, so for blocking reads only.
 */
uint32_t rcm_cqset_gather(struct rcm_cqset *cs, uint32_t want);

/*
 * For counters, which want what the device has finished whether an entry
 * comes of it or not: takes all of it into the software queue, and makes room
 * there, since it may be that nobody reads. ARM: readies the channel's fd for
 * what comes later, also while entries wait. 0, the -FI_E of the arming, or
 * -FI_EIO when the device's queue cannot be polled. Takes the lock.
 */
int rcm_cqset_settle(struct rcm_cqset *cs, bool arm);

/*
 * Sets *FD to that of the channel, which is made now unless there is one, or
 * to -1 when it is too late: a hardware queue exists. The device's -FI_E.
 * Takes the lock.
 */
int rcm_cqset_need_channel(struct rcm_cqset *cs, int *fd);

/* Sets how many entries end a wait: rcm_soft_set_wake(). Takes the lock. */
void rcm_cqset_set_wake(struct rcm_cqset *cs, uint32_t n);

/*
 * The rest is for queue pairs.
 *
 * Moves up to one batch from HW to the software queue: the number taken
 * from HW, or -FI_ENOMEM when there is no room. With GROW room is made.
 * Under the lock.
 */
int rcm_cqset_pull(struct rcm_cqset *cs, struct rcm_hwcq *hw, bool grow);

/* Gives RING its number. -FI_ENOMEM. Under the lock. */
int rcm_cqset_add_ring(struct rcm_cqset *cs, struct rcm_ring *ring);

/*
 * Takes RING out. Its number is used again only when CLEAN, that is, when no
 * hardware queue holds a completion of it any more. Under the lock.
 */
void rcm_cqset_del_ring(struct rcm_cqset *cs, struct rcm_ring *ring,
			bool clean);

#endif /* RCM_CQSET_H */
