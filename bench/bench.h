/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef BENCH_H
#define BENCH_H

/*
 * One set of measurements, built twice: fibench on libfabric's public calls,
 * with any provider, and rawbench on libibverbs and librdmacm alone, the
 * floor. What differs is in bench_fi.[ch] and bench_raw.[ch], which offer the
 * same names; the calls of the data path are inline there, as they are in an
 * application.
 *
 * Both ends of every connection are in one process, on one device. Whatever
 * fails ends the program with a message and status 1.
 */

#include "bench_base.h"
#ifdef BENCH_RAW
#include "bench_raw.h"
#else
#include "bench_fi.h"
#endif

/* A connection: a connects, b accepts. */
struct bench_pair {
	struct bench_end a, b;
};

/* Opens the device and listens. */
void bench_net_open(struct bench_net *net, const struct bench_opts *opts);
void bench_net_close(struct bench_net *net);

/* A completion queue of SIZE entries without a wait object. */
void bench_cq_open(struct bench_net *net, struct bench_cq *cq, size_t size);
void bench_cq_close(struct bench_cq *cq);

/* Connects two ends whose txcq and rxcq the caller has set; blocks for it. */
void bench_pair_connect(struct bench_net *net, struct bench_pair *pair);
void bench_pair_disconnect(struct bench_pair *pair);

/* The same with completion queues of its own, one for each direction. */
void bench_pair_open(struct bench_net *net, struct bench_pair *pair);
void bench_pair_close(struct bench_pair *pair);

/* Reads until N completions came. */
void bench_drain(struct bench_cq *cq, size_t n);

/* The subjects; each prints lines "NAME VALUE" with bench_print(). */
void bench_count(struct bench_net *net);
void bench_rate(struct bench_net *net, int ms);
void bench_pingpong(struct bench_net *net, int ms);
void bench_connect(struct bench_net *net, int ms);
void bench_memory(struct bench_net *net);

#endif /* BENCH_H */
