#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# timeout: 600
# Every fiftieth packet of each direction is lost, so that messages, and the
# set-up of connections, live on what is sent again.
# A lost packet can cost half a second, with Linux 6.1 two, hence few iterations.
. "$RCM_VM_SRC/test/vm/lib/test.sh"

# fi_pingpong ends when it has its peer's farewell and the acknowledgement of its
# own. Whoever has both first closes, and if then the other's acknowledgement is
# lost, there is nobody left to send it again: a farewell that has arrived cannot
# be told from one that has not. So one side may be told of its last message, and
# of no other, that it was canceled, or never answered.
only_the_farewell_failed() {
	local text='flushed: the connection has ended'
	text+='|no answer from the peer, retries exceeded'
	[ "$(grep -c error pingpong.log)" -eq 1 ] &&
		tail -n 1 pingpong.log | grep -qE "cq_readerr: ($text)\$"
}

other=server
[ "$RCM_VM_ROLE" = client ] || other=client
tc qdisc add dev eth0 root netem loss 2%
status=0
test_pingpong_on_pair rcm -I 3 || status=$?
tc -s qdisc show dev eth0
test_announce "$RCM_VM_ROLE-returned-$status"
if [ "$status" -ne 0 ]; then
	only_the_farewell_failed || test_fail "fi_pingpong returned $status"
	until compgen -G "$RCM_VM_SHARED/$other-returned-*" >/dev/null; do
		sleep 0.1
	done
	[ -e "$RCM_VM_SHARED/$other-returned-0" ] || test_fail "both failed"
fi
