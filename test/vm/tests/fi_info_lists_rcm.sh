#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# timeout: 30
. "$RCM_VM_SRC/test/vm/lib/test.sh"

test_is_listed rcm
grep -m 1 -A 5 -x 'provider: rcm' info
