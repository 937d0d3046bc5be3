#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# timeout: 300
# Every fiftieth packet of each direction is lost, so that messages, and the
# set-up of connections, live on what is sent again.
# A lost packet can cost a second, hence few iterations.
. "$RCM_VM_SRC/test/vm/lib/test.sh"

tc qdisc add dev eth0 root netem loss 2%
test_pingpong_on_pair rcm -I 3
tc -s qdisc show dev eth0
