#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
echo "a line of the $RCM_VM_ROLE's log"
[ "$RCM_VM_ROLE" = client ] || exit 4
