/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * The collective operations. Elements are 32-bit numbers that tell who wrote
 * them for whom and where: word(from, to, i).
 */
#include <stdlib.h>
#include <time.h>

#include "mpitest.h"

struct coll {
	MPI_Comm comm;
	int rank, size;
	int n;		   /* elements for each rank */
	int32_t *in, *out; /* room for size * (n + size) elements each */
	int *counts, *displs, *counts2, *displs2;
};

static int32_t word(int from, int to, int i)
{
	return (from + 1) * 10007 + (to + 1) * 101 + i % 997;
}

/* What `to` expects at element i of a sum over all ranks. */
static int32_t sum_of(int first, int last, int to, int i)
{
	int32_t sum = 0;
	int from;

	for (from = first; from <= last; from++)
		sum += word(from, to, i);
	return sum;
}

static void fill(int32_t *p, int n, int from, int to)
{
	int i;

	for (i = 0; i < n; i++)
		p[i] = word(from, to, i);
}

static void wipe(struct coll *c)
{
	size_t i, n = (size_t)c->size * (size_t)(c->n + c->size);

	for (i = 0; i < n; i++)
		c->in[i] = -1;
}

static int is_word(const int32_t *p, int n, int from, int to)
{
	int i;

	for (i = 0; i < n; i++) {
		if (p[i] != word(from, to, i))
			return 0;
	}
	return 1;
}

static int is_sum(const int32_t *p, int n, int first, int last, int to)
{
	int i;

	for (i = 0; i < n; i++) {
		if (p[i] != sum_of(first, last, to, i))
			return 0;
	}
	return 1;
}

/* The n elements of P that are for, or from, a rank. */
static int32_t *part(const struct coll *c, int32_t *p, int rank)
{
	return p + (ptrdiff_t)rank * c->n;
}

static void bcast(struct coll *c, int root)
{
	MPI_Request req;

	wipe(c);
	if (c->rank == root)
		fill(c->in, c->n, root, 0);
	MPI_Bcast(c->in, c->n, MPI_INT32_T, root, c->comm);
	CHECK(is_word(c->in, c->n, root, 0));
	wipe(c);
	if (c->rank == root)
		fill(c->in, c->n, root, 1);
	MPI_Ibcast(c->in, c->n, MPI_INT32_T, root, c->comm, &req);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	CHECK(is_word(c->in, c->n, root, 1));
}

static void reduce(struct coll *c, int root)
{
	int last = c->size - 1;
	MPI_Request req;

	wipe(c);
	fill(c->out, c->n, c->rank, root);
	MPI_Reduce(c->out, c->in, c->n, MPI_INT32_T, MPI_SUM, root, c->comm);
	CHECK(c->rank != root || is_sum(c->in, c->n, 0, last, root));
	wipe(c);
	fill(c->out, c->n, c->rank, 0);
	MPI_Allreduce(c->out, c->in, c->n, MPI_INT32_T, MPI_SUM, c->comm);
	CHECK(is_sum(c->in, c->n, 0, last, 0));
	wipe(c);
	MPI_Iallreduce(c->out, c->in, c->n, MPI_INT32_T, MPI_MAX, c->comm,
		       &req);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	CHECK(is_word(c->in, c->n, last, 0));
}

static void scan(struct coll *c)
{
	wipe(c);
	fill(c->out, c->n, c->rank, 0);
	MPI_Scan(c->out, c->in, c->n, MPI_INT32_T, MPI_SUM, c->comm);
	CHECK(is_sum(c->in, c->n, 0, c->rank, 0));
	wipe(c);
	MPI_Exscan(c->out, c->in, c->n, MPI_INT32_T, MPI_SUM, c->comm);
	CHECK(!c->rank || is_sum(c->in, c->n, 0, c->rank - 1, 0));
}

static void reduce_scatter(struct coll *c)
{
	int to;

	wipe(c);
	for (to = 0; to < c->size; to++)
		fill(part(c, c->out, to), c->n, c->rank, to);
	MPI_Reduce_scatter_block(c->out, c->in, c->n, MPI_INT32_T, MPI_SUM,
				 c->comm);
	CHECK(is_sum(c->in, c->n, 0, c->size - 1, c->rank));
	wipe(c);
	for (to = 0; to < c->size; to++)
		fill(c->out + c->displs2[to], c->counts2[to], c->rank, to);
	MPI_Reduce_scatter(c->out, c->in, c->counts2, MPI_INT32_T, MPI_SUM,
			   c->comm);
	CHECK(is_sum(c->in, c->counts2[c->rank], 0, c->size - 1, c->rank));
}

static void gather(struct coll *c, int root)
{
	int from;

	wipe(c);
	fill(c->out, c->n, c->rank, root);
	MPI_Gather(c->out, c->n, MPI_INT32_T, c->in, c->n, MPI_INT32_T, root,
		   c->comm);
	for (from = 0; c->rank == root && from < c->size; from++)
		CHECK(is_word(part(c, c->in, from), c->n, from, root));
	wipe(c);
	fill(c->out, c->counts[c->rank], c->rank, root);
	MPI_Gatherv(c->out, c->counts[c->rank], MPI_INT32_T, c->in, c->counts,
		    c->displs, MPI_INT32_T, root, c->comm);
	for (from = 0; c->rank == root && from < c->size; from++)
		CHECK(is_word(c->in + c->displs[from], c->counts[from], from,
			      root));
}

static void scatter(struct coll *c, int root)
{
	int to;

	wipe(c);
	for (to = 0; to < c->size; to++)
		fill(part(c, c->out, to), c->n, root, to);
	MPI_Scatter(c->out, c->n, MPI_INT32_T, c->in, c->n, MPI_INT32_T, root,
		    c->comm);
	CHECK(is_word(c->in, c->n, root, c->rank));
	wipe(c);
	for (to = 0; to < c->size; to++)
		fill(c->out + c->displs[to], c->counts[to], root, to);
	MPI_Scatterv(c->out, c->counts, c->displs, MPI_INT32_T, c->in,
		     c->counts[c->rank], MPI_INT32_T, root, c->comm);
	CHECK(is_word(c->in, c->counts[c->rank], root, c->rank));
}

static void allgather(struct coll *c)
{
	int from;

	wipe(c);
	fill(c->out, c->n, c->rank, 0);
	MPI_Allgather(c->out, c->n, MPI_INT32_T, c->in, c->n, MPI_INT32_T,
		      c->comm);
	for (from = 0; from < c->size; from++)
		CHECK(is_word(part(c, c->in, from), c->n, from, 0));
	wipe(c);
	fill(c->out, c->counts[c->rank], c->rank, 0);
	MPI_Allgatherv(c->out, c->counts[c->rank], MPI_INT32_T, c->in,
		       c->counts, c->displs, MPI_INT32_T, c->comm);
	for (from = 0; from < c->size; from++)
		CHECK(is_word(c->in + c->displs[from], c->counts[from], from,
			      0));
}

static void alltoall(struct coll *c)
{
	MPI_Request req;
	int i;

	wipe(c);
	for (i = 0; i < c->size; i++)
		fill(part(c, c->out, i), c->n, c->rank, i);
	MPI_Alltoall(c->out, c->n, MPI_INT32_T, c->in, c->n, MPI_INT32_T,
		     c->comm);
	for (i = 0; i < c->size; i++)
		CHECK(is_word(part(c, c->in, i), c->n, i, c->rank));
	wipe(c);
	MPI_Ialltoall(c->out, c->n, MPI_INT32_T, c->in, c->n, MPI_INT32_T,
		      c->comm, &req);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	for (i = 0; i < c->size; i++)
		CHECK(is_word(part(c, c->in, i), c->n, i, c->rank));
}

/* Rank f has n + f elements for each; t gets n + f from f. */
static void alltoallv(struct coll *c)
{
	int i, mine = c->counts[c->rank];

	wipe(c);
	for (i = 0; i < c->size; i++) {
		c->counts2[i] = mine;
		c->displs2[i] = i * mine;
		fill(c->out + c->displs2[i], mine, c->rank, i);
	}
	MPI_Alltoallv(c->out, c->counts2, c->displs2, MPI_INT32_T, c->in,
		      c->counts, c->displs, MPI_INT32_T, c->comm);
	for (i = 0; i < c->size; i++)
		CHECK(is_word(c->in + c->displs[i], c->counts[i], i, c->rank));
}

static void barrier(struct coll *c)
{
	MPI_Request req;

	MPI_Barrier(c->comm);
	MPI_Ibarrier(c->comm, &req);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
}

/* counts, displs: n + rank elements of each; counts2, displs2: n, but none of
 * the first rank, and twice as many of the last */
static void make_counts(struct coll *c)
{
	int i, at = 0, at2 = 0;

	for (i = 0; i < c->size; i++) {
		c->counts[i] = c->n + i;
		c->displs[i] = at;
		at += c->counts[i];
		c->counts2[i] = i == 0 ? 0 : c->n;
		if (i == c->size - 1)
			c->counts2[i] = 2 * c->n;
		c->displs2[i] = at2;
		at2 += c->counts2[i];
	}
}

static void all_operations(struct coll *c)
{
	make_counts(c);
	barrier(c);
	bcast(c, c->n % c->size);
	reduce(c, (c->n + 1) % c->size);
	scan(c);
	reduce_scatter(c);
	gather(c, (c->n + 2) % c->size);
	scatter(c, (c->n + 3) % c->size);
	allgather(c);
	alltoall(c);
	alltoallv(c);
}

static void all_sizes(MPI_Comm comm, size_t largest)
{
	const size_t sizes[] = { 4, 2000, 40000, 400000 };
	struct coll c = { .comm = comm };
	size_t i, room;

	MPI_Comm_rank(comm, &c.rank);
	MPI_Comm_size(comm, &c.size);
	c.counts = mpitest_alloc(4 * (size_t)c.size * sizeof(int));
	c.displs = c.counts + c.size;
	c.counts2 = c.displs + c.size;
	c.displs2 = c.counts2 + c.size;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i] > largest)
			break;
		c.n = (int)(sizes[i] / sizeof(int32_t));
		room = (size_t)c.size * (size_t)(c.n + c.size);
		c.in = mpitest_alloc(room * sizeof(int32_t));
		c.out = mpitest_alloc(room * sizeof(int32_t));
		all_operations(&c);
		free(c.in);
		free(c.out);
	}
	free(c.counts);
}

/* Waits for all ranks, and leaves the processor to those that still work. */
static void wait_idle(void)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	MPI_Request req;
	int done = 0;

	MPI_Ibarrier(MPI_COMM_WORLD, &req);
	while (!done) {
		MPI_Test(&req, &done, MPI_STATUS_IGNORE);
		if (!done)
			(void)nanosleep(&pause, NULL);
	}
}

void mpitest_coll(const struct mpitest *t, size_t largest, int fewest)
{
	MPI_Comm comm;
	int n;

	for (n = fewest; n <= t->size; n++) {
		MPI_Comm_split(MPI_COMM_WORLD, t->rank < n ? 0 : MPI_UNDEFINED,
			       t->rank, &comm);
		if (comm != MPI_COMM_NULL) {
			all_sizes(comm, largest);
			MPI_Comm_free(&comm);
		}
		wait_idle();
		mpitest_say(t, "coll: %d ranks, verified\n", n);
	}
}
