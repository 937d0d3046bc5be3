/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_QP_H
#define RCM_QP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <infiniband/verbs.h>

#include "rcm_cqset.h"
#include "rcm_lock.h"
#include "rcm_ring.h"

/*
 * A reliable-connected queue pair with what its completions must know: a
 * ring of slots for each direction (rcm_ring.h). A wr_id is the ring's
 * number in its completion engine and the slot's position.
 */

/* The most buffers that one work request may have. */
#define RCM_MAX_SGE 64

/* A send queue. The producer holds lock; the consumer holds the CQ's. */
struct rcm_sq {
	struct rcm_lock lock;
	/*
	 * 0: open; else the -FI_E that posts get. Written under lock, and
	 * atomic for the levels without one: whoever reads the event queue
	 * moves the connection, and need not be the thread that posts.
	 */
	atomic_int gate;
	uint32_t since_signal;
	uint32_t signal_every;
	uint32_t max_inline; /* bytes, granted by the device */
	uint32_t max_inject; /* bytes, promised to the user */
	bool marked;	     /* its last request, the marker, is posted */
	bool key_missed;     /* said once already */
	bool pulls;	     /* the peer lets itself be read */
	bool pull_missed;    /* said once that it does not */
	uint32_t read_end;   /* position behind the last read of all */
	_Atomic(struct rcm_stage *) stage; /* FI_MORE; made at first use */
	struct rcm_bounce *bounce;	   /* NULL while max_inline suffices */
	struct rcm_ring ring;
};

struct rcm_multi;

/* In rcm_rq.hold: the gate is shut. */
#define RCM_RQ_SHUT (1u << 31)

/* A receive queue; the same. */
struct rcm_rq {
	struct rcm_lock lock;
	atomic_int gate; /* likewise */
	atomic_bool key_missed;
	/*
	 * 0 while a receive just goes to the device. Else RCM_RQ_SHUT, or
	 * how many slots are held back (rcm_multi.h), or both.
	 */
	_Atomic uint32_t hold;
	struct rcm_multi *multi; /* NULL: no FI_MULTI_RECV */
	struct rcm_ring ring;
};

/* What a gate says now; 0 shows the queue pair as it was made ready, too. */
static inline int rcm_gate(atomic_int *gate)
{
	return atomic_load_explicit(gate, memory_order_acquire);
}

struct rcm_qp_attr {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct rcm_cqset *tx_cq; /* NULL: the endpoint does not send */
	struct rcm_cqset *rx_cq; /* NULL: it does not receive */
	struct rcm_srq *srq; /* where its receives come from; NULL: its own */
	uint32_t tx_depth, rx_depth;
	uint32_t tx_sge, rx_sge;
	uint32_t inject_size;
	uint64_t max_msg_size;
	struct rcm_tally *tally[RCM_OP_COUNT]; /* what counts, or NULL */
	bool locked;			       /* FI_THREAD_SAFE */
	bool multi_recv; /* buffers of FI_MULTI_RECV may be posted */
	bool layered;	 /* ofi_rxm is above: design D18 */
	bool lends;	 /* buffers need no key: FI_MR_LOCAL is not required */
	int pull_access; /* for the buffers of a read, beyond writing */
	bool rx_selective; /* with srq: of its receives, few want an entry */
	/*
	 * A work request failed for good; the queue pair is in ERR. Called
	 * once, under the CQ's lock: takes no lock below RCM_RANK_DEFER.
	 */
	void (*on_error)(void *user, enum ibv_wc_status status);
	/*
	 * With srq: lets rcm_qp_last_wqe() be called, if the device has said
	 * so. 0, or the -FI_E after which it will say nothing. Never blocks;
	 * called without a lock. NULL: it never says anything.
	 */
	int (*look)(void *user);
	void *user; /* also the qp_context of the ibv_qp */
};

struct rcm_qp {
	struct ibv_qp *qp;
	struct rcm_qp_attr attr;
	struct rcm_hwcq *tx_hw, *rx_hw;
	atomic_bool failed; /* on_error has been called, or is not wanted */
	/* with shared receives: its place in the engine, see rcm_srq_qp.c */
	struct rcm_qp *next_sharing;
	uint32_t number;
	bool sharing;
	bool up;	      /* has ever been connected */
	bool past_srq;	      /* it takes nothing from the queue any more */
	atomic_bool srq_left; /* so the device says */
	struct rcm_sq sq;
	struct rcm_rq rq;
};

/*
 * Makes the queue pair in state INIT on port PORT, so that receives may be
 * posted; reserves its room in both engines. Sends get -FI_ENOTCONN until
 * rcm_qp_up(). -FI_ENOMEM, -FI_EINVAL, … ; nothing is left then.
 */
int rcm_qp_open(struct rcm_qp *qp, const struct rcm_qp_attr *attr,
		uint8_t port);

/*
 * Opens the gate for sends: the queue pair is in RTS. PULLS: the two sides have
 * agreed on at least one read that is outstanding.
 */
void rcm_qp_up(struct rcm_qp *qp, bool pulls);

/*
 * The device has reported that the queue pair, which is in ERR, takes no
 * more from its shared receive queue (IBV_EVENT_QP_LAST_WQE_REACHED): what
 * it has taken is in the completion queue. Takes no lock.
 */
void rcm_qp_last_wqe(struct rcm_qp *qp);

/*
 * Shuts both gates with ERR (a -FI_E); the caller moves the QP to ERR next.
 * Under ofi_rxm the send gate stays open once it was: a refusal at the call
 * would be reported with a pointer of the layer's own as the context, on which
 * its user crashes. What is posted comes back flushed, with its own context.
 */
void rcm_qp_down(struct rcm_qp *qp, int err);

/*
 * Waits until the device has given back all that was posted to a queue pair
 * that is shut down, so that its entries are in the engines: bounded
 * (RCM_DRAIN_MS), independent of the peer. No lock may be held.
 */
void rcm_qp_flush(struct rcm_qp *qp);

/*
 * Ends the queue pair: moves it to ERR, waits for the device to flush what
 * was posted (at most 200 ms, independent of the peer), puts an entry for
 * each operation that owes one into its engine, FI_ECANCELED where it was
 * not executed, and gives everything back. Safe on a zeroed struct. No lock
 * may be held.
 */
void rcm_qp_close(struct rcm_qp *qp);

/*
 * Is a request with CONTEXT outstanding, or held back? One that went well
 * without a signal counts until its slot is reclaimed. Takes the locks of
 * both queues and of their engines, one pair at a time.
 */
bool rcm_qp_has(struct rcm_qp *qp, const void *context);

/* Flags of struct rcm_tx. */
enum {
	RCM_TX_COMPLETE = 1 << 0, /* the user wants an entry */
	RCM_TX_INJECT = 1 << 1,	  /* the buffer is free on return */
	RCM_TX_IMM = 1 << 2,	  /* with a message or a write */
	RCM_TX_FENCE = 1 << 3,
	RCM_TX_MORE = 1 << 4,
	RCM_TX_NO_KEY = 1 << 5, /* an sge has no lkey, which is 0 then */
	RCM_TX_PULL = 1 << 7,	/* the answer is written to the buffers */
	/* the queue's own: what is noted in the slot, by the same bit */
	RCM_TX_SPECIAL = RCM_SLOT_SPECIAL,
};

/* Where in the peer's memory a request works. */
struct rcm_remote {
	uint64_t addr;
	uint32_t rkey;
	/* of an atomic request: what is compared or added, what is swapped */
	uint64_t compare_add, swap;
};

/* One request of any kind. */
struct rcm_tx {
	void *context;
	const struct ibv_sge *sge;
	uint32_t n_sge; /* at most tx_sge; 0 when len is */
	uint32_t flags;
	enum rcm_op op;		   /* what its entry says */
	enum ibv_wr_opcode opcode; /* never with an immediate, see flags */
	uint32_t imm;		   /* host order */
	uint64_t len;		   /* bytes, the sum of the sges */
	struct rcm_remote remote;  /* unless opcode is IBV_WR_SEND */
};

/*
 * Posts one request. -FI_EAGAIN only when the send queue is full;
 * -FI_EMSGSIZE beyond the maximum; -FI_EINVAL beyond the inject size or
 * without a key for what cannot go inline; -FI_EOPNOTSUPP for a pull where
 * the peer grants none; the gate's error. Where the queue pair lends, a
 * buffer without a key is copied or registered instead, with the errors of
 * rcm_lease_get(). Takes the queue's lock. The gate of every call that puts
 * something into a send queue.
 */
ssize_t rcm_sq_post(struct rcm_qp *qp, const struct rcm_tx *tx);

/*
 * For a send that is refused before it gets there: RET, once those that wait
 * with FI_MORE for a next one are on their way, as fi_msg(3) wants it for
 * every call that fails. Takes the queue's lock.
 */
ssize_t rcm_sq_refuse(struct rcm_qp *qp, ssize_t ret);

/*
 * Posts one receive of at most rx_sge buffers, none of 0 bytes. MORE is a
 * hint. WANTS_ENTRY: success puts an entry. -FI_EAGAIN only when the queue
 * is full; the gate's error. Takes the queue's lock.
 */
ssize_t rcm_rq_post(struct rcm_qp *qp, const struct ibv_sge *sge,
		    uint32_t n_sge, void *context, bool more, bool wants_entry);

/*
 * The same where the queue pair lends: a buffer without a key (lkey 0) is
 * registered until the receive ends, with the errors of rcm_lease_get().
 * SGE gets the keys.
 */
ssize_t rcm_rq_post_lending(struct rcm_qp *qp, struct ibv_sge *sge,
			    uint32_t n_sge, void *context, bool wants_entry);

/*
 * 0 when a receive may be posted: else the gate's error, or -FI_EAGAIN. The
 * first under the queue's lock, the second takes it.
 */
ssize_t rcm_rq_check(struct rcm_qp *qp);
ssize_t rcm_rq_check_lending(struct rcm_qp *qp);

#endif /* RCM_QP_H */
