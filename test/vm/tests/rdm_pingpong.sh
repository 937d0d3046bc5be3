#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Reliable datagrams: ofi_rxm above rcm, with nothing set, and with its
# receives shared by all connections.
#
# timeout: 200
. "$RCM_VM_SRC/test/vm/lib/test.sh"

test_is_listed 'rcm;ofi_rxm'
test_pingpong 'rcm;ofi_rxm' 'rcm;ofi_rxm' "$RCM_VM_SELF"
FI_OFI_RXM_USE_SRX=1 test_pingpong 'rcm;ofi_rxm' 'rcm;ofi_rxm' "$RCM_VM_SELF"
