#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The programs of test/vm/real: connections and messages on a real device,
# through libfabric's public calls.
#
# timeout: 700
. "$RCM_VM_SRC/test/vm/lib/test.sh"

program=$RCM_VM_BUILD/test/vm/real/test_real
[ -x "$program" ] || test_fail "not built: $program"
FI_PROVIDER=rcm "$program" --jobs 1 --verbose \
	--filter '!(wire|hosts|layered)/*' 2>&1 | grep --line-buffered -v SKIP
