/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef SCRIPT_H
#define SCRIPT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/*
 * A device that does what a test tells it, one work request at a time: the
 * test of a queue sees each post as the device would, and says how it ends.
 * Put in the place of the seam by script_open().
 */

#define SCRIPT_MAX_POSTS 4096
#define SCRIPT_MAX_DATA	 512
#define SCRIPT_MAX_SGE	 64

/* One posted work request. */
struct script_wr {
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	uint32_t imm;				 /* host order */
	uint64_t remote_addr, compare_add, swap; /* where there are such */
	uint32_t rkey;
	int n_sge;
	struct ibv_sge sge[SCRIPT_MAX_SGE];
	uint32_t len;
	uint8_t data[SCRIPT_MAX_DATA]; /* as it was when it was posted */
};

/* Posts in order; those before DONE have ended. */
struct script_queue {
	struct script_wr *wr;
	int n, done;
};

struct script_cq {
	struct ibv_cq cq; /* first */
	struct ibv_wc *wc;
	int n, head;
	bool armed;
	unsigned int events, acked;
};

/* Receives that have ended may lie anywhere among them. */
struct script_srq {
	struct ibv_srq srq; /* first */
	struct ibv_srq_init_attr init;
	struct script_queue recvs;
};

struct script_qp {
	struct ibv_qp qp; /* first */
	struct ibv_qp_cap cap;
	struct script_queue sends, recvs;
};

struct script {
	struct ibv_context ctx;
	struct ibv_pd pd;

	/* what the device can do */
	uint32_t inline_limit; /* create_qp refuses more */
	int max_cqe;	       /* create_cq refuses more */
	bool flushes;	       /* ERR gives back what is posted */
	int post_err;	       /* the next post returns this ... */
	int post_accepts;      /* ... after so many requests of its chain */
	int fail_call;	       /* the n-th control call from now fails */
	int fail_errno;

	/* what it has seen */
	int calls, doorbells, notifies, polls;
	int n_cqs, n_qps, n_mrs, n_channels; /* objects that live */
	uint32_t next_qpn;		     /* 0x11 is the first */
	int last_access;
	uint64_t last_iova;
	bool overrun; /* a completion queue had no room */

	int n_srqs;
	struct script_srq *last_srq;
	struct script_qp *last_qp;
	struct script_cq *last_cq;
	pthread_mutex_t lock;
};

extern struct script script;

/* A fresh device, and the seam's calls to it. */
void script_open(void);

/* Puts the real seam back. Number of objects that were left. */
int script_close(void);

/* The first N outstanding sends end well. */
void script_sent(struct script_qp *qp, int n);
/* All outstanding sends end well. Their number. */
int script_sent_all(struct script_qp *qp);
/* The first outstanding send ends with STATUS. */
void script_send_failed(struct script_qp *qp, enum ibv_wc_status status);
/* The first outstanding receive takes LEN bytes; IMM below 0: none. */
void script_received(struct script_qp *qp, uint32_t len, int64_t imm);
void script_recv_failed(struct script_qp *qp, enum ibv_wc_status status);
/*
 * The N-th receive that was ever posted to SRQ ends on QP with STATUS, after
 * LEN bytes when that is a success.
 */
void script_shared_end(struct script_qp *qp, struct script_srq *srq, int n,
		       enum ibv_wc_status status, uint32_t len);
/* Any completion at all. */
void script_complete(struct ibv_cq *cq, const struct ibv_wc *wc);

/* The last post, or the one N before it. */
struct script_wr *script_last_send(struct script_qp *qp, int before);
struct script_wr *script_last_recv(struct script_qp *qp, int before);

#endif /* SCRIPT_H */
