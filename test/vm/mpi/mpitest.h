/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * mpitest: what MPI programs do, with every byte checked. A wrong byte, or an
 * error of MPI (which ends the job by itself), makes mpirun return non-zero.
 * What was done is printed by rank 0, for the scripts of test/vm to look at.
 */
#ifndef MPITEST_H
#define MPITEST_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the job with a line that names the place, unless COND. */
#define CHECK(cond)                                             \
	do {                                                    \
		if (!(cond))                                    \
			mpitest_die(__FILE__, __LINE__, #cond); \
	} while (0)

struct mpitest {
	int rank, size;	  /* in MPI_COMM_WORLD */
	const char *self; /* this program's path, for ranks it spawns */
};

/* Prints what is wrong and ends all ranks with status 1. */
_Noreturn void mpitest_die(const char *file, int line, const char *what);

/* Prints a line on rank 0, and nothing elsewhere. */
void mpitest_say(const struct mpitest *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Zeroed memory for free(); never NULL, since no test goes on without. */
void *mpitest_alloc(size_t len);

/* The byte at OFFSET of the message SEED: no two messages begin alike. */
uint8_t mpitest_byte(uint32_t seed, size_t offset);
void mpitest_fill(uint8_t *buf, size_t len, uint32_t seed);
/* Whether BUF holds what mpitest_fill writes. */
int mpitest_filled(const uint8_t *buf, size_t len, uint32_t seed);

/*
 * Messages of every size up to LARGEST bytes, round the ranks, prints
 * "ring: RANKS ranks, MESSAGES messages, BYTES bytes, verified". Every byte
 * counts once and has gone from one process to another.
 */
void mpitest_ring(const struct mpitest *t, size_t largest);

/*
 * Every usual collective operation over the first FEWEST ranks, then over one
 * more, and so on, up to all, with blocks of up to LARGEST bytes for each rank.
 * Prints "coll: SIZE ranks, verified" for each number.
 */
void mpitest_coll(const struct mpitest *t, size_t largest, int fewest);

/* One-sided: every kind of epoch and operation. Prints "osc: ..., verified". */
void mpitest_osc(const struct mpitest *t, size_t largest);

/* Starts two more ranks and talks to them; mpitest_child is their side. */
void mpitest_spawn(const struct mpitest *t);
void mpitest_child(const struct mpitest *t, MPI_Comm parent);
/* The last rank connects to a port that rank 0 opened. */
void mpitest_port(const struct mpitest *t);

/* Rank 1 is killed in the midst of messages. Does not return. */
void mpitest_kill(const struct mpitest *t);

#endif
