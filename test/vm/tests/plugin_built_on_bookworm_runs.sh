#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# timeout: 120
# One binary serves every libfabric from 1.17 on.
. "$RCM_VM_SRC/test/vm/lib/test.sh"

plugin=$(find "${RCM_VM_OUT:-/nonexistent}/bookworm/dest" \
	-name librcm-fi.so 2>/dev/null || true)
[ -n "$plugin" ] || test_skip "rcm was not built for bookworm"
export FI_PROVIDER_PATH=${plugin%/*}
test_is_listed rcm
test_pingpong rcm rcm "$RCM_VM_SELF"
