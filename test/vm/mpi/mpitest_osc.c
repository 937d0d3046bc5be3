/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * One-sided operations. Every rank has a window of one slot for each rank; who
 * works on which slot changes with the kind of epoch, so that each sees what
 * another has left there.
 */
#include <stdlib.h>
#include <string.h>

#include "mpitest.h"

struct osc {
	const struct mpitest *t;
	MPI_Win win;
	uint8_t *mem, *buf; /* the window; room for one slot */
	size_t slot;	    /* bytes */
	uint64_t bytes;	    /* moved by this rank */
};

static uint32_t seed_of(int from, int to, int round)
{
	return (uint32_t)from * 1009u + (uint32_t)to * 13u + (uint32_t)round;
}

/* Every rank writes its slot of all others, then reads them back. */
static void fences(struct osc *o, size_t len)
{
	MPI_Aint mine = (MPI_Aint)(o->slot * (size_t)o->t->rank);
	int i, n = o->t->size;

	MPI_Win_fence(MPI_MODE_NOPRECEDE, o->win);
	for (i = 0; i < n; i++) {
		mpitest_fill(o->buf, len, seed_of(o->t->rank, i, 0));
		MPI_Put(o->buf, (int)len, MPI_BYTE, i, mine, (int)len, MPI_BYTE,
			o->win);
		MPI_Win_fence(0, o->win);
		o->bytes += len;
	}
	for (i = 0; i < n; i++)
		CHECK(mpitest_filled(o->mem + o->slot * (size_t)i, len,
				     seed_of(i, o->t->rank, 0)));
	for (i = 0; i < n; i++) {
		memset(o->buf, 0, len);
		MPI_Get(o->buf, (int)len, MPI_BYTE, i, mine, (int)len, MPI_BYTE,
			o->win);
		MPI_Win_fence(i == n - 1 ? MPI_MODE_NOSUCCEED : 0, o->win);
		CHECK(mpitest_filled(o->buf, len, seed_of(o->t->rank, i, 0)));
		o->bytes += len;
	}
}

/* General active target: the next rank gets from us, the previous we get. */
static void post_start(struct osc *o, size_t len)
{
	int next = (o->t->rank + 1) % o->t->size;
	int prev = (o->t->rank + o->t->size - 1) % o->t->size;
	MPI_Group world, from, to;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &prev, &from);
	MPI_Group_incl(world, 1, &next, &to);
	mpitest_fill(o->buf, len, seed_of(o->t->rank, next, 1));
	MPI_Win_post(from, 0, o->win);
	MPI_Win_start(to, 0, o->win);
	MPI_Put(o->buf, (int)len, MPI_BYTE, next, 0, (int)len, MPI_BYTE,
		o->win);
	MPI_Win_complete(o->win);
	MPI_Win_wait(o->win);
	CHECK(mpitest_filled(o->mem, len, seed_of(prev, o->t->rank, 1)));
	MPI_Group_free(&world);
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	o->bytes += len;
}

/* Passive target: all ranks work on rank 0, which does nothing about it. */
static void locks(struct osc *o, size_t len)
{
	MPI_Aint mine = (MPI_Aint)(o->slot * (size_t)o->t->rank);

	MPI_Barrier(MPI_COMM_WORLD);
	mpitest_fill(o->buf, len, seed_of(o->t->rank, 0, 2));
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, o->win);
	MPI_Put(o->buf, (int)len, MPI_BYTE, 0, mine, (int)len, MPI_BYTE,
		o->win);
	MPI_Win_unlock(0, o->win);
	memset(o->buf, 0, len);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, o->win);
	MPI_Get(o->buf, (int)len, MPI_BYTE, 0, mine, (int)len, MPI_BYTE,
		o->win);
	MPI_Win_flush(0, o->win);
	CHECK(mpitest_filled(o->buf, len, seed_of(o->t->rank, 0, 2)));
	MPI_Win_unlock(0, o->win);
	o->bytes += 2 * len;
	MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks add to the same numbers of rank 0; nothing may get lost. */
static void sums(struct osc *o, int rounds)
{
	int i, n = o->t->size;
	int64_t one = 1, many[4] = { 1, 2, 3, 4 }, old, expect, *mem;

	mem = (int64_t *)(void *)o->mem;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, o->t->rank, 0, o->win);
	memset(o->mem, 0, 64);
	MPI_Win_unlock(o->t->rank, o->win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, o->win);
	for (i = 0; i < rounds; i++) {
		MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM,
				 o->win);
		MPI_Win_flush(0, o->win);
		CHECK(old >= i && old < (int64_t)n * rounds);
		MPI_Accumulate(many, 4, MPI_INT64_T, 0, 8, 4, MPI_INT64_T,
			       MPI_SUM, o->win);
	}
	/* each rank moves the number on by one when its turn has come */
	expect = o->t->rank;
	one = expect + 1;
	do {
		MPI_Compare_and_swap(&one, &expect, &old, MPI_INT64_T, 0, 40,
				     o->win);
		MPI_Win_flush(0, o->win);
	} while (old != expect);
	MPI_Win_unlock_all(o->win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, o->t->rank, 0, o->win);
	for (i = 0; !o->t->rank && i < 5; i++)
		CHECK(mem[i] == (int64_t)n * rounds * (i ? i : 1));
	CHECK(o->t->rank || mem[5] == n);
	MPI_Win_unlock(o->t->rank, o->win);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void all_epochs(struct osc *o, size_t largest)
{
	size_t len;

	for (len = 8; len <= largest; len *= 16) {
		fences(o, len);
		post_start(o, len);
		locks(o, len);
	}
	sums(o, 5);
}

void mpitest_osc(const struct mpitest *t, size_t largest)
{
	struct osc o = { .t = t };
	size_t room;
	uint64_t all = 0;

	/* a slot holds the numbers of sums(), too */
	o.slot = largest < 64 ? 64 : largest;
	room = o.slot * (size_t)t->size;
	o.buf = mpitest_alloc(o.slot);
	MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
			 (void *)&o.mem, &o.win);
	all_epochs(&o, largest);
	MPI_Win_free(&o.win);
	o.mem = mpitest_alloc(room);
	MPI_Win_create(o.mem, (MPI_Aint)room, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
		       &o.win);
	all_epochs(&o, largest);
	MPI_Win_free(&o.win);
	free(o.mem);
	free(o.buf);
	MPI_Reduce(&o.bytes, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	mpitest_say(t, "osc: %d ranks, %llu bytes, verified\n", t->size,
		    (unsigned long long)all);
}
