/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "bench.h"

#include <pthread.h>

/*
 * Messages a second: a window of messages is posted at once, and the next
 * when all of them have completed at both ends. With two threads each has a
 * connection and completion queues of its own, in one domain.
 */

#define RATE_LEN     64
#define RATE_THREADS 2

struct rate {
	struct bench_pair pair;
	size_t window;
	bool more;
	double seconds; /* to run, then: it ran */
	size_t messages;
	pthread_t thread;
};

static void rate_window(struct rate *r)
{
	size_t i, sent = 0, received = 0;
	ssize_t bad = 0;

	for (i = 0; i < r->window; i++)
		bad |= bench_recv(&r->pair.b, BENCH_BUF);
	for (i = 0; i < r->window; i++)
		bad |= r->more ? bench_send_more(&r->pair.a, RATE_LEN,
						 i + 1 < r->window) :
				 bench_send(&r->pair.a, RATE_LEN);
	if (bad)
		bench_die("a window of %zu: posting failed", r->window);
	while (sent < r->window || received < r->window) {
		if (received < r->window)
			received += bench_read(r->pair.b.rxcq, BENCH_BATCH);
		if (sent < r->window)
			sent += bench_read(r->pair.a.txcq, BENCH_BATCH);
	}
	r->messages += r->window;
}

static void *rate_run(void *arg)
{
	struct rate *r = arg;
	double start, now;

	rate_window(r);
	r->messages = 0;
	start = bench_now();
	do {
		rate_window(r);
		now = bench_now();
	} while (now - start < r->seconds);
	r->seconds = now - start;
	return NULL;
}

static double rate_measure(struct rate *r, int threads, size_t window,
			   bool more, int ms)
{
	double rate = 0;
	int i;

	for (i = 0; i < threads; i++) {
		r[i].window = window;
		r[i].more = more;
		r[i].seconds = ms / 1000.0;
		if (pthread_create(&r[i].thread, NULL, rate_run, &r[i]))
			bench_die("no thread");
	}
	for (i = 0; i < threads; i++) {
		pthread_join(r[i].thread, NULL);
		rate += (double)r[i].messages / r[i].seconds;
	}
	return rate;
}

void bench_rate(struct bench_net *net, int ms)
{
	static const size_t windows[] = { 1, 16, 64 };
	struct rate r[RATE_THREADS];
	int i, threads;
	size_t w;

	for (i = 0; i < RATE_THREADS; i++)
		bench_pair_open(net, &r[i].pair);
	for (threads = 1; threads <= RATE_THREADS; threads++)
		for (w = 0; w < 3; w++) {
			bench_print(rate_measure(r, threads, windows[w], false,
						 ms),
				    "rate_w%zu_t%d", windows[w], threads);
			if (windows[w] == 1)
				continue; /* no more follows */
			bench_print(rate_measure(r, threads, windows[w], true,
						 ms),
				    "rate_w%zu_more_t%d", windows[w], threads);
		}
	for (i = 0; i < RATE_THREADS; i++)
		bench_pair_close(&r[i].pair);
}
