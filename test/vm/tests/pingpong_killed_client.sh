#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# fi_pingpong's server reads completions only while it runs. Its client is
# killed in the middle: the server is told, and ends.
#
# timeout: 120
. "$RCM_VM_SRC/test/vm/lib/test.sh"

trap 'cat server.log' EXIT
test_run_pingpong rcm -I 1000000 -S 64 >server.log 2>&1 &
server=$!
test_await_port 47592 "$server"
test_run_pingpong rcm -I 1000000 -S 64 "$RCM_VM_SELF" >client.log 2>&1 &
client=$!
until [ "$(rdma resource show qp | grep -c 'RTS.* fi_pingpong')" -eq 2 ]; do
	kill -0 "$client" || test_fail "the client has ended by itself"
	sleep 0.1
done
sleep 0.2
pkill -KILL -P "$client" # which is the shell around it
status=0
wait "$server" || status=$?
[ "$status" -ne 0 ] || test_fail "the server has noticed nothing"
grep -q 'flushed: the connection has ended' server.log
