/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_MULTI_H
#define RCM_MULTI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "rcm_cqset.h"
#include "rcm_qp.h"

/*
 * FI_MULTI_RECV: one posted buffer takes one message after the other. A
 * receive queue fills its work requests in the order in which they were
 * posted, one message each, and a message's length is not known before it
 * has come. So a multi-receive buffer has one work request outstanding, over
 * all that is left of it, and the completion of that one posts the next; a
 * message in between waits with the peer's device (receiver not ready).
 *
 * What is posted behind such a buffer is held back until the buffer is
 * released, so that the order is kept: it has its slot in the ring and
 * waits here. While rcm_rq.hold counts any slots, from the buffer's own on
 * to the end of the ring, the consumer alone posts to the device, under the
 * completion queue's lock; the producer only adds to the count.
 */

struct rcm_done;

/* A buffer of FI_MULTI_RECV as it is posted. */
struct rcm_multi_buf {
	uint64_t addr;
	uint64_t len; /* bytes; may be more than the largest message */
	uint64_t min; /* released when less than this is left */
	uint32_t lkey;
};

/* What the slot of a held receive, or of a buffer, must know beside. */
struct rcm_multi_slot {
	struct rcm_multi_buf buf; /* what is left of it; FI_MULTI_RECV */
	uint32_t n_sge;		  /* of an ordinary receive */
};

struct rcm_multi {
	uint32_t max_sge;
	atomic_bool down; /* nothing is posted any more; under the CQ's lock */
	struct rcm_multi_slot *slot;
	struct ibv_sge *sge; /* max_sge for each slot */
};

/* Readies QP's receive queue, whose ring is open. -FI_ENOMEM. */
int rcm_multi_open(struct rcm_qp *qp);
void rcm_multi_close(struct rcm_qp *qp); /* also when not open */

/*
 * The gate is shut: from the return on, nothing is posted to the device. What
 * is flushed by moving it to ERR after this has been posted before.
 */
void rcm_multi_down(struct rcm_qp *qp);

/*
 * Posts BUF. -FI_EAGAIN only when the queue is full; the gate's error;
 * -FI_EINVAL for a queue that was not readied. Takes the queue's lock.
 */
ssize_t rcm_multi_post(struct rcm_qp *qp, const struct rcm_multi_buf *buf,
		       void *context, bool wants_entry);

/*
 * The same where the queue pair lends: BUF has no key and is registered until
 * it is released, with the errors of rcm_lease_get().
 */
ssize_t rcm_multi_post_lending(struct rcm_qp *qp,
			       const struct rcm_multi_buf *buf, void *context,
			       bool wants_entry);

/*
 * An ordinary receive, of which the ring's last slot is made: held back, or
 * false when nothing is in front of it and the caller is to post it. Under
 * the queue's lock.
 */
bool rcm_multi_hold(struct rcm_qp *qp, const struct ibv_sge *sge,
		    uint32_t n_sge);

/*
 * Consumer: a message has come into the buffer of the slot that WC names.
 * True when an entry is due: *DONE, whose op_context is set, is filled.
 */
bool rcm_multi_done(struct rcm_cqset *cs, struct rcm_ring *ring,
		    const struct ibv_wc *wc, struct rcm_done *done);

/* Consumer: where the next message of the buffer at POS would go. */
void *rcm_multi_at(struct rcm_ring *ring, uint32_t pos);

/*
 * Consumer: the buffer at POS has failed and is told. FI_ECANCELED for all
 * that is held back behind it.
 */
void rcm_multi_flush(struct rcm_cqset *cs, struct rcm_ring *ring, uint32_t pos);

/*
 * fi_cancel(3) of the first receive held back whose context is CONTEXT: its
 * entry of FI_ECANCELED is in the engine on return. -FI_ENOENT without one.
 * Takes both locks.
 */
int rcm_multi_cancel(struct rcm_qp *qp, void *context);

#endif /* RCM_MULTI_H */
