/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "bench.h"

/*
 * Connections a second: both endpoints made, connected and accepted, known to
 * be connected at both ends, and closed. They share one completion queue.
 */
void bench_connect(struct bench_net *net, int ms)
{
	struct bench_pair pair = { 0 };
	struct bench_cq cq;
	double start, now;
	int n = 0;

	/* what endpoints of their whole size need, of two connections */
	bench_cq_open(net, &cq, (size_t)8 * BENCH_QUEUE);
	pair.a.txcq = pair.a.rxcq = pair.b.txcq = pair.b.rxcq = &cq;
	bench_pair_connect(net, &pair);
	bench_pair_disconnect(&pair);
	start = bench_now();
	do {
		bench_pair_connect(net, &pair);
		bench_pair_disconnect(&pair);
		n++;
		now = bench_now();
	} while (now - start < ms / 1000.0);
	bench_print(n / (now - start), "connections");
	bench_cq_close(&cq);
}
