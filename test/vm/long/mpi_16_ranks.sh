#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The long form of the tests with MPI: 16 ranks, and messages up to 4 MiB. Some
# soft-RoCE devices carry no message beyond 8 MiB, and Open MPI splits none.
# Not run unless it is named: test/vm/check test/vm/long/mpi_16_ranks.sh
#
# timeout: 2100
. "$RCM_VM_SRC/test/vm/lib/mpi.sh"

mpi_need
mpi_run 1200 16 -- "$MPI_TEST" ring,coll-each
mpi_expect "ring: 16 ranks, [0-9]+ messages, [0-9]+ bytes, verified"
for ranks in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	mpi_expect "coll: $ranks ranks, verified"
done
mpi_run 300 2 -- NPopenmpi -i -u 4194304
mpi_run 400 2 -- NPopenmpi -u 4194304
