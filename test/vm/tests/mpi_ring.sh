#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# README's "MPI in one minute", as it stands there: two ranks exchange messages
# of every size up to 1 MiB and a byte, which are checked, and which the RDMA
# device carried.
#
# timeout: 240
. "$RCM_VM_SRC/test/vm/lib/mpi.sh"

mpi_need
before=$(test_packets)
mpi_run 220 2 -- "$MPI_TEST" ring 1048576
mpi_expect "ring: 2 ranks, 366 messages, [0-9]+ bytes, verified"
test_expect_on_device "$before" "$(mpi_bytes)"
