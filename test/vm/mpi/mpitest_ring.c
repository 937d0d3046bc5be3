/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <stdlib.h>
#include <string.h>

#include "mpitest.h"

#define GUARD 16 /* bytes behind a message, that must stay as they are */

struct ring {
	const struct mpitest *t;
	int next, prev;
	uint8_t *out, *in;
	uint64_t messages, bytes; /* received by this rank */
};

/* Messages of different ranks, sizes and rounds have different bytes. */
static uint32_t seed_of(int rank, size_t len, int round)
{
	return (uint32_t)rank * 131071u + (uint32_t)len * 31u + (uint32_t)round;
}

static void received(struct ring *r, const MPI_Status *status, size_t len,
		     int round)
{
	int count, i;

	MPI_Get_count(status, MPI_BYTE, &count);
	CHECK((size_t)count == len);
	CHECK(status->MPI_SOURCE == r->prev);
	CHECK(mpitest_filled(r->in, len, seed_of(r->prev, len, round)));
	for (i = 0; i < GUARD; i++)
		CHECK(r->in[len + i] == 0xee);
	r->messages++;
	r->bytes += len;
}

static void prepare(struct ring *r, size_t len, int round)
{
	mpitest_fill(r->out, len, seed_of(r->t->rank, len, round));
	memset(r->in, 0xee, len + GUARD);
}

/* All ranks send at the same time, into a receive that waits. */
static void all_at_once(struct ring *r, size_t len)
{
	MPI_Request req[2];
	MPI_Status status[2];

	prepare(r, len, 0);
	MPI_Irecv(r->in, (int)len + GUARD, MPI_BYTE, r->prev, 1, MPI_COMM_WORLD,
		  &req[0]);
	MPI_Isend(r->out, (int)len, MPI_BYTE, r->next, 1, MPI_COMM_WORLD,
		  &req[1]);
	MPI_Waitall(2, req, status);
	received(r, &status[0], len, 0);
}

/* One message goes round; it is there before its receive, whoever sends it. */
static void one_by_one(struct ring *r, size_t len)
{
	MPI_Status status;

	prepare(r, len, 1);
	if (r->t->rank == 0)
		MPI_Send(r->out, (int)len, MPI_BYTE, r->next, 2,
			 MPI_COMM_WORLD);
	MPI_Probe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
	MPI_Recv(r->in, (int)len + GUARD, MPI_BYTE, MPI_ANY_SOURCE, 2,
		 MPI_COMM_WORLD, &status);
	received(r, &status, len, 1);
	if (r->t->rank != 0)
		MPI_Send(r->out, (int)len, MPI_BYTE, r->next, 2,
			 MPI_COMM_WORLD);
}

/* A synchronous send ends when its receive has begun. */
static void synchronous(struct ring *r, size_t len)
{
	MPI_Request req;
	MPI_Status status;

	prepare(r, len, 2);
	MPI_Issend(r->out, (int)len, MPI_BYTE, r->next, 3, MPI_COMM_WORLD,
		   &req);
	MPI_Recv(r->in, (int)len + GUARD, MPI_BYTE, r->prev, 3, MPI_COMM_WORLD,
		 &status);
	received(r, &status, len, 2);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
}

static void each_way(struct ring *r, size_t len)
{
	all_at_once(r, len);
	one_by_one(r, len);
	synchronous(r, len);
}

void mpitest_ring(const struct mpitest *t, size_t largest)
{
	struct ring r = { .t = t };
	uint64_t sum[2], all[2];
	size_t len;

	r.next = (t->rank + 1) % t->size;
	r.prev = (t->rank + t->size - 1) % t->size;
	r.out = mpitest_alloc(largest + 1 + GUARD);
	r.in = mpitest_alloc(largest + 1 + GUARD);
	each_way(&r, 0);
	for (len = 1; len <= largest; len *= 2) {
		if (len > 2)
			each_way(&r, len - 1);
		each_way(&r, len);
		if (len > 1)
			each_way(&r, len + 1);
	}
	free(r.out);
	free(r.in);
	sum[0] = r.messages;
	sum[1] = r.bytes;
	MPI_Reduce(sum, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (t->rank == 0)
		mpitest_say(t,
			    "ring: %d ranks, %llu messages, %llu bytes, "
			    "verified\n",
			    t->size, (unsigned long long)all[0],
			    (unsigned long long)all[1]);
}
