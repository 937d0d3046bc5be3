/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_CQSET_H
#define RCM_CQSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <infiniband/verbs.h>
#include <rdma/fi_eq.h>

#include "rcm_lock.h"

/*
 * The completion engine behind one fi_cq: one or more hardware completion
 * queues that are never overrun, since each queue pair reserves its worst
 * case when it is made (design D8), and a software queue for error entries
 * and for what was polled but not asked for yet.
 */

/* One completion, in the form from which every fi_cq format is cut. */
struct rcm_comp {
	void *op_context;
	uint64_t flags; /* FI_MSG | FI_SEND ... as fi_cq(3) lists them */
	size_t len;
	uint64_t data;
	size_t olen;
	int err;	/* 0, or the positive FI_E of an error entry */
	int prov_errno; /* the ibv_wc_status of an error entry */
	uint32_t vendor_err;
};

struct rcm_hwcq; /* one hardware completion queue and its reservation */
struct rcm_qp;

/* What a fi_cq asks of its engine. */
struct rcm_cqset_attr {
	struct ibv_context *ctx;
	int max_cqe;		  /* of the device */
	size_t size;		  /* entries asked for; 0: no wish */
	enum fi_cq_format format; /* CONTEXT, MSG, DATA or TAGGED */
	bool channel;		  /* make a completion channel, for waiting */
	int comp_vector;
	bool locked; /* FI_THREAD_SAFE */
};

struct rcm_cqset {
	struct rcm_lock lock;
	struct ibv_context *ctx;
	struct ibv_comp_channel *channel; /* NULL: nobody can wait */
	struct rcm_cqset_attr attr;

	struct rcm_hwcq **hw;
	unsigned int n_hw;
	unsigned int next_hw; /* where the next poll starts: fair */

	/* queue pairs by the number that is in the upper half of a wr_id */
	struct rcm_qp **qps;
	unsigned int n_qps;

	/* software queue: a ring that grows on slow paths only */
	struct rcm_comp *soft;
	unsigned int soft_size; /* power of two */
	unsigned int soft_head;
	unsigned int soft_tail;

	/* send queues with work requests that wait for their doorbell */
	unsigned int n_staged;
};

/* Opens CS; nothing of the device yet but the channel. -FI_ENOMEM, -FI_E. */
int rcm_cqset_open(struct rcm_cqset *cs, const struct rcm_cqset_attr *attr);
/* No queue pair may use it any more (the fi_cq counts them). */
void rcm_cqset_close(struct rcm_cqset *cs);

/*
 * fi_cq_read(3): up to COUNT entries in the engine's format. -FI_EAGAIN when
 * there is none, -FI_EAVAIL when the next is an error entry; COUNT 0 drives
 * progress and says only that. Takes the lock.
 */
ssize_t rcm_cqset_read(struct rcm_cqset *cs, void *buf, size_t count);

/* Takes the error entry at the head into *OUT. -FI_EAGAIN without one. */
int rcm_cqset_read_err(struct rcm_cqset *cs, struct rcm_comp *out);

/*
 * Readies the channel's fd: 0 when it is armed and nothing waits, -FI_EAGAIN
 * when an entry does (fi_trywait(3)). Takes the lock.
 */
int rcm_cqset_arm(struct rcm_cqset *cs);

/* Polls into the software queue until WANT entries wait or none comes. */
unsigned int rcm_cqset_gather(struct rcm_cqset *cs, unsigned int want);

#endif /* RCM_CQSET_H */
