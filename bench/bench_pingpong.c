/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "bench.h"

/*
 * Half the time, in microseconds, of a message there and one back. Both ends
 * are one thread's, so that no scheduling is measured with it.
 */

static void pingpong_one_way(struct bench_end *from, struct bench_end *to,
			     size_t len)
{
	if (bench_recv(to, BENCH_BUF) || bench_send(from, len))
		bench_die("ping-pong: posting failed");
	bench_drain(to->rxcq, 1);
	bench_drain(from->txcq, 1);
}

static double pingpong_measure(struct bench_pair *pair, size_t len, int ms)
{
	double start, now;
	size_t trips = 0;
	int i;

	for (i = 0; i < 8; i++) {
		pingpong_one_way(&pair->a, &pair->b, len);
		pingpong_one_way(&pair->b, &pair->a, len);
	}
	start = bench_now();
	do {
		pingpong_one_way(&pair->a, &pair->b, len);
		pingpong_one_way(&pair->b, &pair->a, len);
		trips++;
		now = bench_now();
	} while (now - start < ms / 1000.0);
	return (now - start) * 1e6 / (double)trips / 2;
}

void bench_pingpong(struct bench_net *net, int ms)
{
	static const size_t sizes[] = { 1, 64, 4096 };
	struct bench_pair pair;
	size_t i;

	bench_pair_open(net, &pair);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		bench_print(pingpong_measure(&pair, sizes[i], ms),
			    "pingpong_%zu", sizes[i]);
	bench_pair_close(&pair);
}
