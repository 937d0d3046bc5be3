#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# What of test/vm/real needs a wire, or another host.
#
# timeout: 120
. "$RCM_VM_SRC/test/vm/lib/test.sh"

suites='@(wire|hosts)'
[ "$RCM_VM_ROLE" = client ] || suites=hosts
FI_PROVIDER=rcm "$RCM_VM_BUILD/test/vm/real/test_real" --jobs 1 \
	--verbose --filter "$suites/*" 2>&1 | grep -v SKIP
