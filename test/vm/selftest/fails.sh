#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
echo "a line of the failing test's log"
sleep 1000 &
exit 3
