#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Eight ranks on two machines: messages of every size round the ranks, which
# lie so that each message crosses the wire, then the collective operations.
#
# timeout: 400
. "$RCM_VM_SRC/test/vm/lib/mpi.sh"

mpi_need
if [ "$RCM_VM_ROLE" = server ]; then
	"$MPI_AGENT" --serve
	exit
fi
trap 'test_announce served' EXIT
before=$(test_packets)
mpi_run 380 8 --host "$RCM_VM_SELF:1,$RCM_VM_PEER:1" --map-by node -- \
	"$MPI_TEST" ring,coll 40000
mpi_expect "ring: 8 ranks, [0-9]+ messages, [0-9]+ bytes, verified"
mpi_expect "coll: 8 ranks, verified"
test_expect_on_device "$before" $(($(mpi_bytes) / 2))
