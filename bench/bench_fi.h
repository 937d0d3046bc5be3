/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef BENCH_FI_H
#define BENCH_FI_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "bench_base.h"

/* The calls of bench.h on libfabric. */

struct bench_net {
	struct fi_info *info; /* of the listener */
	struct fi_info *peer; /* to connect to it */
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq; /* of the listener and of every endpoint */
	struct fid_pep *pep;
	struct fid_mr *mr;
	char buf[BENCH_BUF];
};

struct bench_cq {
	struct fid_cq *cq;
};

struct bench_end {
	struct fid_ep *ep;
	struct bench_cq *txcq, *rxcq;
	char *buf;
	void *desc;
};

/* Tells what the failed read of CQ says, and ends. */
void bench_cq_failed(struct fid_cq *cq, ssize_t ret) __attribute__((noreturn));

/* The data path: 0, or the error of the call. LEN is BENCH_BUF at most. */
static inline ssize_t bench_send(struct bench_end *end, size_t len)
{
	return fi_send(end->ep, end->buf, len, end->desc, 0, end);
}

static inline ssize_t bench_inject(struct bench_end *end, size_t len)
{
	return fi_inject(end->ep, end->buf, len, 0);
}

static inline ssize_t bench_recv(struct bench_end *end, size_t len)
{
	return fi_recv(end->ep, end->buf, len, end->desc, 0, end);
}

/* A send that need not ring the doorbell when MORE follow. */
static inline ssize_t bench_send_more(struct bench_end *end, size_t len,
				      bool more)
{
	struct iovec iov = { .iov_base = end->buf, .iov_len = len };
	struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &end->desc,
		.iov_count = 1,
		.context = end,
	};

	return fi_sendmsg(end->ep, &msg,
			  more ? FI_COMPLETION | FI_MORE : FI_COMPLETION);
}

/* Up to N (BENCH_BATCH at most) completions; their number. */
static inline size_t bench_read(struct bench_cq *cq, size_t n)
{
	struct fi_cq_data_entry entry[BENCH_BATCH];
	ssize_t ret = fi_cq_read(cq->cq, entry, n);

	if (ret >= 0)
		return (size_t)ret;
	if (ret != -FI_EAGAIN)
		bench_cq_failed(cq->cq, ret);
	return 0;
}

#endif /* BENCH_FI_H */
