#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# timeout: 60
. "$RCM_VM_SRC/test/vm/lib/test.sh"

if RCM_DEMO_WITHOUT_PROVIDER=1 "$RCM_VM_SRC/test/vm/guest/demo"; then
	test_fail "the demo passed without rcm"
fi
