#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The programs of the benchmark print every figure, however little time they
# get; what they count is left to `make bench`.
# timeout: 120
. "$RCM_VM_SRC/test/vm/lib/test.sh"

bench() {
	"$RCM_VM_BUILD/bench/$1" -a "$RCM_VM_SELF" -m 1 "$2" >>figures
}

for program in fibench rawbench; do
	bench $program memory
	bench $program wall
done
cat figures
[ "$(grep -cE '^[a-z0-9_]+ [0-9.e+]+$' figures)" -eq 32 ] ||
	test_fail "there are not 16 figures of each program"
