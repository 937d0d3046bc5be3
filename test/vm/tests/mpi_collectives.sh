#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Every usual collective operation over 2 to 8 ranks, with the data checked.
#
# timeout: 400
. "$RCM_VM_SRC/test/vm/lib/mpi.sh"

mpi_need
mpi_run 380 8 -- "$MPI_TEST" coll-each 40000
for ranks in 2 3 4 5 6 7 8; do
	mpi_expect "coll: $ranks ranks, verified"
done
