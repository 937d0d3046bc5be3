/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitest.h"

_Noreturn void mpitest_die(const char *file, int line, const char *what)
{
	int rank = -1;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	(void)fprintf(stderr, "%s:%d: rank %d: not true: %s\n", file, line,
		      rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

void mpitest_say(const struct mpitest *t, const char *format, ...)
{
	va_list args;

	if (t->rank)
		return;
	va_start(args, format);
	(void)vprintf(format, args);
	va_end(args);
	(void)fflush(stdout);
}

void *mpitest_alloc(size_t len)
{
	void *p = calloc(1, len);

	CHECK(p);
	return p;
}

uint8_t mpitest_byte(uint32_t seed, size_t offset)
{
	/* a period that no power of two divides, so that no page or packet
	 * can stand in for another */
	return (uint8_t)((seed * 2654435761u >> 24) + offset % 251);
}

void mpitest_fill(uint8_t *buf, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = mpitest_byte(seed, i);
}

int mpitest_filled(const uint8_t *buf, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (buf[i] != mpitest_byte(seed, i))
			return 0;
	}
	return 1;
}

static int run(const struct mpitest *t, const char *mode, size_t largest)
{
	if (!strcmp(mode, "ring"))
		mpitest_ring(t, largest);
	else if (!strcmp(mode, "coll"))
		mpitest_coll(t, largest, t->size);
	else if (!strcmp(mode, "coll-each"))
		mpitest_coll(t, largest, 2);
	else if (!strcmp(mode, "osc"))
		mpitest_osc(t, largest);
	else if (!strcmp(mode, "spawn"))
		mpitest_spawn(t);
	else if (!strcmp(mode, "port"))
		mpitest_port(t);
	else if (!strcmp(mode, "kill"))
		mpitest_kill(t);
	else
		return 2;
	return 0;
}

/* mpitest MODE[,MODE...] [LARGEST]; sizes are in bytes */
int main(int argc, char **argv)
{
	struct mpitest t = { 0 };
	size_t largest = 4u << 20;
	char *mode, *rest = NULL;
	MPI_Comm parent;
	int ret = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &t.size);
	MPI_Comm_get_parent(&parent);
	t.self = argv[0];
	if (argc > 2)
		largest = strtoul(argv[2], NULL, 0);
	if (parent != MPI_COMM_NULL) {
		mpitest_child(&t, parent);
	} else {
		mode = argc > 1 ? strtok_r(argv[1], ",", &rest) : NULL;
		for (; mode && !ret; mode = strtok_r(NULL, ",", &rest))
			ret = run(&t, mode, largest);
	}
	MPI_Finalize();
	return ret;
}
