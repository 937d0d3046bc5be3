#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Ranks that were not there from the start: MPI_Comm_spawn starts two, and
# MPI_Comm_connect finds a rank at the port that it opened.
#
# timeout: 240
. "$RCM_VM_SRC/test/vm/lib/mpi.sh"

mpi_need
mpi_run 220 2 -- "$MPI_TEST" port,spawn
mpi_expect "port: rank 1 connected to rank 0, verified"
mpi_expect "spawn: 2 ranks and 2 more, verified"
