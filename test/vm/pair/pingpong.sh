#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# timeout: 180
. "$RCM_VM_SRC/test/vm/lib/test.sh"

test_pingpong_on_pair rcm || test_fail "fi_pingpong returned $?"
