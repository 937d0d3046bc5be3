/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include "bench_base.h"

/*
 * The calls of bench.h without libfabric: what a provider cannot do without.
 * Requests are written anew for each call, as a provider must, and nothing is
 * locked or looked up but by the device's library.
 */

/* Longest burst that is chained, and what is asked for to be sent inline. */
#define BENCH_CHAIN  64
#define BENCH_INLINE 256

struct bench_net {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct sockaddr_in addr; /* where it listens */
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	char buf[BENCH_BUF];
};

struct bench_cq {
	struct ibv_cq *cq;
};

struct bench_end {
	struct rdma_cm_id *id;
	struct ibv_qp *qp;
	struct bench_cq *txcq, *rxcq;
	char *buf;
	uint32_t lkey;
	uint32_t max_inline;
	int chained;
	struct ibv_send_wr chain[BENCH_CHAIN];
	struct ibv_sge sge[BENCH_CHAIN];
};

void bench_wc_failed(const struct ibv_wc *wc) __attribute__((noreturn));

static inline void bench_fill(struct bench_end *end, size_t len,
			      unsigned int flags, struct ibv_send_wr *wr,
			      struct ibv_sge *sge)
{
	sge->addr = (uintptr_t)end->buf;
	sge->length = (uint32_t)len;
	sge->lkey = end->lkey;
	wr->wr_id = (uintptr_t)end;
	wr->next = NULL;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->opcode = IBV_WR_SEND;
	wr->send_flags = flags;
	if (len <= end->max_inline)
		wr->send_flags |= IBV_SEND_INLINE;
}

static inline ssize_t bench_send(struct bench_end *end, size_t len)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;

	bench_fill(end, len, IBV_SEND_SIGNALED, &wr, &sge);
	return -ibv_post_send(end->qp, &wr, &bad);
}

static inline ssize_t bench_inject(struct bench_end *end, size_t len)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;

	bench_fill(end, len, 0, &wr, &sge);
	return -ibv_post_send(end->qp, &wr, &bad);
}

static inline ssize_t bench_send_more(struct bench_end *end, size_t len,
				      bool more)
{
	struct ibv_send_wr *wr = &end->chain[end->chained], *bad;

	bench_fill(end, len, IBV_SEND_SIGNALED, wr, &end->sge[end->chained]);
	if (more) {
		wr->next = wr + 1;
		end->chained++;
		return 0;
	}
	end->chained = 0;
	return -ibv_post_send(end->qp, end->chain, &bad);
}

static inline ssize_t bench_recv(struct bench_end *end, size_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->buf,
		.length = (uint32_t)len,
		.lkey = end->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = (uintptr_t)end,
		.sg_list = &sge,
		.num_sge = 1,
	}, *bad;

	return -ibv_post_recv(end->qp, &wr, &bad);
}

static inline size_t bench_read(struct bench_cq *cq, size_t n)
{
	struct ibv_wc wc[BENCH_BATCH];
	int i, got = ibv_poll_cq(cq->cq, (int)n, wc);

	for (i = 0; i < got; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			bench_wc_failed(&wc[i]);
	return (size_t)got;
}

#endif /* BENCH_RAW_H */
