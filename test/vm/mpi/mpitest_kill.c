/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <signal.h>

#include "mpitest.h"

#define LEN    200000
#define ROUNDS 5 /* before the end */

/*
 * All ranks exchange messages of a size for which ofi_rxm reads from the peer,
 * in both directions at once, so that some are on the way when the rank ends.
 */
void mpitest_kill(const struct mpitest *t)
{
	uint8_t *in = mpitest_alloc(LEN), *out = mpitest_alloc(LEN);
	int next = (t->rank + 1) % t->size;
	int prev = (t->rank + t->size - 1) % t->size;
	int round;

	for (round = 0;; round++) {
		MPI_Sendrecv(out, LEN, MPI_BYTE, next, 1, in, LEN, MPI_BYTE,
			     prev, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (round != ROUNDS)
			continue;
		mpitest_say(t, "kill: %d rounds, now rank 1 is killed\n",
			    round);
		if (t->rank == 1)
			(void)raise(SIGKILL);
	}
}
