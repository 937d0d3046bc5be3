/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "bench.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

/*
 * Bytes that a connected, idle endpoint takes, with a completion queue of its
 * own for both directions: what is allocated, and beside it what the device's
 * library maps of the device.
 */

#define MEMORY_PAIRS 16

static double memory_allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return (double)(info.uordblks + info.hblkhd);
}

static double memory_mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long from, to;
	char line[512];
	double sum = 0;

	if (!maps)
		bench_die("no /proc/self/maps");
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "uverbs") &&
		    sscanf(line, "%llx-%llx", &from, &to) == 2)
			sum += (double)(to - from);
	fclose(maps);
	return sum;
}

static void memory_open(struct bench_net *net, struct bench_pair *pair,
			struct bench_cq *cqs)
{
	bench_cq_open(net, &cqs[0], BENCH_QUEUE);
	bench_cq_open(net, &cqs[1], BENCH_QUEUE);
	pair->a.txcq = pair->a.rxcq = &cqs[0];
	pair->b.txcq = pair->b.rxcq = &cqs[1];
	bench_pair_connect(net, pair);
}

static void memory_close(struct bench_pair *pair, struct bench_cq *cqs)
{
	bench_pair_disconnect(pair);
	bench_cq_close(&cqs[0]);
	bench_cq_close(&cqs[1]);
}

void bench_memory(struct bench_net *net)
{
	static struct bench_pair pairs[MEMORY_PAIRS];
	static struct bench_cq cqs[MEMORY_PAIRS][2];
	const double ends = 2 * MEMORY_PAIRS - 2;
	double allocated = 0, mapped = 0;
	int i;

	for (i = 0; i < MEMORY_PAIRS; i++) {
		if (i == 1) { /* the first pays for what all share */
			mapped = memory_mapped();
			allocated = memory_allocated();
		}
		memory_open(net, &pairs[i], cqs[i]);
	}
	bench_print((memory_allocated() - allocated) / ends, "memory");
	bench_print((memory_mapped() - mapped) / ends, "memory_mapped");
	for (i = 0; i < MEMORY_PAIRS; i++)
		memory_close(&pairs[i], cqs[i]);
}
