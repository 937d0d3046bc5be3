#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# NetPIPE, which is not ours: its own check of the data, then its figures, each
# up to 64 KiB.
#
# timeout: 320
. "$RCM_VM_SRC/test/vm/lib/mpi.sh"

mpi_need
command -v NPopenmpi >/dev/null || test_skip "NetPIPE is not installed"
mpi_run 150 2 -- NPopenmpi -i -n 5 -u 65536
mpi_expect ' *[0-9]+: +49153 bytes +5 times --> +Integrity check passed'
! grep -i failed mpi.log || test_fail "NetPIPE found wrong data"
mpi_run 150 2 -- NPopenmpi -n 5 -p 0 -u 65536
mpi_expect ' *[0-9]+: +65536 bytes +5 times --> +[0-9.]+ Mbps in .*'
