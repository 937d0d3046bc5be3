#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# timeout: 120
# verbs of libfabric 1.17 finds no device unless the host's name resolves.
. "$RCM_VM_SRC/test/vm/lib/test.sh"

rcm-name-self
test_pingpong 'verbs;ofi_rxm' 'rcm;ofi_rxm' "$RCM_VM_SELF"
