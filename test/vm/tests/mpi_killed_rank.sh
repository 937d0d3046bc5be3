#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# A rank is killed while all exchange large messages: mpirun, which needs some
# seconds to start, ends within a minute more, says so, and leaves no process.
#
# timeout: 120
. "$RCM_VM_SRC/test/vm/lib/mpi.sh"

mpi_need
status=0
mpi_run 75 3 -- "$MPI_TEST" kill || status=$?
mpi_expect "kill: 5 rounds, now rank 1 is killed"
[ "$status" -ne 0 ] || test_fail "mpirun returned 0"
[ "$status" -ne 124 ] || test_fail "mpirun did not end"
mpi_expect '.*signal 9 \(Killed\).*'
! pgrep -x mpitest || test_fail "a rank is still there"
