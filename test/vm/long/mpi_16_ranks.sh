#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# All of the tests with MPI in their long form: 16 ranks, messages up to 4 MiB.
# Not run unless it is named: test/vm/check test/vm/long/mpi_16_ranks.sh
#
# timeout: 1500
. "$RCM_VM_SRC/test/vm/lib/mpi.sh"

mpi_need
mpi_run 700 16 -- "$MPI_TEST" ring,coll-each
mpi_expect "ring: 16 ranks, [0-9]+ messages, [0-9]+ bytes, verified"
for ranks in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	mpi_expect "coll: $ranks ranks, verified"
done
mpi_run 300 2 -- NPopenmpi -i
mpi_run 400 2 -- NPopenmpi
