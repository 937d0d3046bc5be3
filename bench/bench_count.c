/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "bench.h"

#include <stdio.h>

#ifdef HAVE_VALGRIND_CALLGRIND_H
#include <valgrind/callgrind.h>
#endif

/*
 * User-space instructions and system calls of each operation, counted by
 * callgrind (--collect-atstart=no --collect-systime=yes). Each loop runs with
 * N and with 2 N operations; the difference of the two dumps, whose names are
 * "NAME TIMES", leaves the cost of the counting out.
 *
 * Nothing depends on how fast the device is: posting never waits, and reads
 * are counted only when everything to be read was there.
 */

#ifdef HAVE_VALGRIND_CALLGRIND_H

#define COUNT_LEN   64
#define COUNT_BURST 64
#define COUNT_TRIES 12

struct count {
	struct bench_pair pair;
	int patience; /* ms for completions to arrive */
};

/* One loop; CALL is counted, and false when it is to be done again. */
struct count_loop {
	const char *name;
	void (*prepare)(struct count *c, size_t n);
	bool (*call)(struct count *c, size_t n);
	void (*finish)(struct count *c, size_t n);
	size_t n;
};

static void count_check(ssize_t ret, const char *what)
{
	if (ret)
		bench_die("%s: error %zd", what, ret);
}

static void count_post_recvs(struct count *c, size_t n)
{
	while (n--)
		count_check(bench_recv(&c->pair.b, BENCH_BUF), "recv");
}

static void count_post_sends(struct count *c, size_t n)
{
	while (n--)
		count_check(bench_send(&c->pair.a, COUNT_LEN), "send");
}

static void count_drain(struct count *c, size_t n)
{
	bench_drain(c->pair.a.txcq, n);
	bench_drain(c->pair.b.rxcq, n);
}

/* The n messages were injected: one that can be seen to end comes after. */
static void count_drain_injected(struct count *c, size_t n)
{
	count_post_recvs(c, 1);
	count_post_sends(c, 1);
	bench_drain(c->pair.a.txcq, 1);
	bench_drain(c->pair.b.rxcq, n + 1);
}

static void count_send_and_drain(struct count *c, size_t n)
{
	count_post_sends(c, n);
	count_drain(c, n);
}

static void count_post_messages(struct count *c, size_t n)
{
	count_post_recvs(c, n);
	count_post_sends(c, n);
	bench_pause(c->patience);
}

static void count_drain_sent(struct count *c, size_t n)
{
	bench_drain(c->pair.a.txcq, n);
}

static void count_nothing(struct count *c, size_t n)
{
	(void)c;
	(void)n;
}

static bool count_send(struct count *c, size_t n)
{
	ssize_t bad = 0;

	while (n--)
		bad |= bench_send(&c->pair.a, COUNT_LEN);
	return !bad;
}

static bool count_inject(struct count *c, size_t n)
{
	ssize_t bad = 0;

	while (n--)
		bad |= bench_inject(&c->pair.a, COUNT_LEN);
	return !bad;
}

static bool count_recv(struct count *c, size_t n)
{
	ssize_t bad = 0;

	while (n--)
		bad |= bench_recv(&c->pair.b, BENCH_BUF);
	return !bad;
}

static bool count_burst(struct count *c, size_t n)
{
	ssize_t bad = 0;

	while (n--)
		bad |= bench_send_more(&c->pair.a, COUNT_LEN,
				       n % COUNT_BURST != 0);
	return !bad;
}

static bool count_read(struct bench_cq *cq, size_t n, size_t batch)
{
	size_t got = 0, i;

	for (i = 0; i < n; i += batch)
		got += bench_read(cq, batch);
	if (got < n)
		bench_drain(cq, n - got);
	return got == n;
}

static bool count_read1(struct count *c, size_t n)
{
	return count_read(c->pair.b.rxcq, n, 1);
}

static bool count_read16(struct count *c, size_t n)
{
	return count_read(c->pair.b.rxcq, n, BENCH_BATCH);
}

static bool count_read_empty(struct count *c, size_t n)
{
	size_t got = 0;

	while (n--)
		got += bench_read(c->pair.b.rxcq, BENCH_BATCH);
	return !got;
}

/* All of a message; what the device does meanwhile is waited for uncounted. */
static bool count_message(struct count *c, size_t n)
{
	bool ok = count_recv(c, n);

	ok &= count_send(c, n);
	CALLGRIND_TOGGLE_COLLECT;
	bench_pause(c->patience);
	CALLGRIND_TOGGLE_COLLECT;
	ok &= count_read(c->pair.a.txcq, n, BENCH_BATCH);
	ok &= count_read(c->pair.b.rxcq, n, BENCH_BATCH);
	return ok;
}

static const struct count_loop loops[] = {
	{ "send", count_post_recvs, count_send, count_drain, 16 },
	{ "inject", count_post_recvs, count_inject, count_drain_injected, 16 },
	{ "recv", count_nothing, count_recv, count_send_and_drain, 16 },
	{ "read1", count_post_messages, count_read1, count_drain_sent, 16 },
	{ "read16", count_post_messages, count_read16, count_drain_sent, 16 },
	{ "read_empty", count_nothing, count_read_empty, count_nothing, 16 },
	{ "message", count_nothing, count_message, count_nothing, 16 },
	{ "burst", count_post_recvs, count_burst, count_drain, COUNT_BURST },
};

static bool count_once(struct count *c, const struct count_loop *loop, size_t n,
		       bool keep)
{
	char name[32] = "unused";
	bool ok;

	loop->prepare(c, n);
	CALLGRIND_DUMP_STATS_AT("unused");
	CALLGRIND_TOGGLE_COLLECT;
	ok = loop->call(c, n);
	CALLGRIND_TOGGLE_COLLECT;
	if (ok && keep)
		snprintf(name, sizeof(name), "%s %zu", loop->name, n);
	CALLGRIND_DUMP_STATS_AT(name);
	loop->finish(c, n);
	return ok;
}

/* Once to warm up, then until it can be believed. */
static void count_loop_of(struct count *c, const struct count_loop *loop,
			  size_t n)
{
	int i;

	(void)count_once(c, loop, n, false);
	c->patience = 20;
	for (i = 0; i < COUNT_TRIES; i++) {
		if (count_once(c, loop, n, true))
			return;
		c->patience += c->patience;
	}
	bench_die("%s: the completions do not come in time", loop->name);
}

void bench_count(struct bench_net *net)
{
	struct count c = { .patience = 20 };
	size_t i;

	if (!RUNNING_ON_VALGRIND)
		bench_die("count needs callgrind");
	bench_pair_open(net, &c.pair);
	for (i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		count_loop_of(&c, &loops[i], loops[i].n);
		count_loop_of(&c, &loops[i], 2 * loops[i].n);
	}
	bench_pair_close(&c.pair);
}

#else

void bench_count(struct bench_net *net)
{
	(void)net;
	bench_die("built without valgrind/callgrind.h: nothing can be counted");
}

#endif
