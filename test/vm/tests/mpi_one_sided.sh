#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Windows of memory, over messages (osc pt2pt): every kind of epoch, put, get,
# and sums in which nothing gets lost. Open MPI 5 has nothing of the kind: its
# one-sided operations need a BTL, and the one for libfabric takes no ofi_rxm.
#
# timeout: 240
. "$RCM_VM_SRC/test/vm/lib/mpi.sh"

mpi_need
[ "$(mpi_version)" -lt 5 ] ||
	test_skip "Open MPI 5 has no one-sided operations over ofi_rxm"
before=$(test_packets)
mpi_run 220 4 --mca osc pt2pt -- "$MPI_TEST" osc 40000
mpi_expect "osc: 4 ranks, [0-9]+ bytes, verified"
test_expect_on_device "$before" "$(mpi_bytes)"
