/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Ranks that were not there from the start. */
#include <stdlib.h>
#include <string.h>

#include "mpitest.h"

#define CHILDREN 2
#define LEN	 100000

/* Every rank of a side exchanges a message with every rank of the other. */
static void exchange(MPI_Comm inter, int rank, int side)
{
	uint8_t *in = mpitest_alloc(LEN), *out = mpitest_alloc(LEN);
	uint32_t mine = (uint32_t)(side * 1000 + rank);
	MPI_Request req;
	int peer, n;

	MPI_Comm_remote_size(inter, &n);
	for (peer = 0; peer < n; peer++) {
		mpitest_fill(out, LEN, mine);
		MPI_Isend(out, LEN, MPI_BYTE, peer, 7, inter, &req);
		MPI_Recv(in, LEN, MPI_BYTE, peer, 7, inter, MPI_STATUS_IGNORE);
		CHECK(mpitest_filled(in, LEN,
				     (uint32_t)((1 - side) * 1000 + peer)));
		MPI_Wait(&req, MPI_STATUS_IGNORE);
	}
	free(in);
	free(out);
}

/* Both sides as one group: their ranks add up. */
static void merge(MPI_Comm inter, int high)
{
	MPI_Comm all;
	int rank, size, sum = 0;

	MPI_Intercomm_merge(inter, high, &all);
	MPI_Comm_rank(all, &rank);
	MPI_Comm_size(all, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
	CHECK(sum == size * (size - 1) / 2);
	MPI_Comm_free(&all);
}

void mpitest_spawn(const struct mpitest *t)
{
	char *args[] = { NULL };
	int status[CHILDREN], i;
	MPI_Comm children;

	MPI_Comm_spawn(t->self, args, CHILDREN, MPI_INFO_NULL, 0,
		       MPI_COMM_WORLD, &children, status);
	for (i = 0; !t->rank && i < CHILDREN; i++)
		CHECK(status[i] == MPI_SUCCESS);
	exchange(children, t->rank, 0);
	merge(children, 0);
	MPI_Comm_disconnect(&children);
	mpitest_say(t, "spawn: %d ranks and %d more, verified\n", t->size,
		    CHILDREN);
}

void mpitest_child(const struct mpitest *t, MPI_Comm parent)
{
	exchange(parent, t->rank, 1);
	merge(parent, 1);
	MPI_Comm_disconnect(&parent);
}

void mpitest_port(const struct mpitest *t)
{
	char port[MPI_MAX_PORT_NAME] = "";
	int last = t->size - 1;
	MPI_Comm inter = MPI_COMM_NULL;

	if (!t->rank)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
	if (!t->rank)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
	else if (t->rank == last)
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
	if (inter != MPI_COMM_NULL) {
		exchange(inter, 0, t->rank ? 1 : 0);
		merge(inter, t->rank != 0);
		MPI_Comm_disconnect(&inter);
	}
	if (!t->rank)
		MPI_Close_port(port);
	MPI_Barrier(MPI_COMM_WORLD);
	mpitest_say(t, "port: rank %d connected to rank 0, verified\n", last);
}
