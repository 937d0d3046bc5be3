#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# timeout: 30
. "$RCM_VM_SRC/test/vm/lib/test.sh"

ibv_devinfo | grep -w PORT_ACTIVE
