#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Runs after one that leaves a program behind, in the same guest.
! pgrep -f 'sleep 1000'
