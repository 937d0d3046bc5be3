# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# What the tests in tests/ and pair/ share. A test exits with 0 when it passed
# and with 77, by test_skip, when it cannot be run.
# They start in their folder for results.
set -euo pipefail
cd "$RCM_VM_RESULTS"

test_fail() {
	echo "failed: $*"
	exit 1
}

test_skip() {
	echo "$*"
	exit 77
}

# Waits until the program PID listens on a TCP port. The test's own time bounds
# this. PORT PID
test_await_port() {
	while [ -z "$(ss -Hltn "sport = :$1")" ]; do
		kill -0 "$2" 2>/dev/null || test_fail "nothing listens on port $1"
		sleep 0.1
	done
}

# Prints the type of endpoint that PROVIDER has: of the layer's, when one is
# named above it.
test_ep_type() {
	case $1 in
	*ofi_rxm) echo rdm ;;
	*) echo msg ;;
	esac
}

# Prints what PROVIDER must be told. verbs cannot make the completion queue that
# ofi_rxm asks for by default: it is larger than soft-RoCE's largest.
test_settings() {
	echo "FI_PROVIDER=$1"
	[ "$1" != 'verbs;ofi_rxm' ] || echo FI_UNIVERSE_SIZE=16 \
		FI_OFI_RXM_MSG_TX_SIZE=64 FI_OFI_RXM_MSG_RX_SIZE=64
}

# libfabric's fi_pingpong, every size from 64 bytes to 1 MiB, with the data
# checked at both ends; the server unless there is an address. No other provider
# than the named one can step in. It prints line by line, so that the log of one
# that hangs says how far it came. PROVIDER [OPTION...] [ADDRESS]
test_run_pingpong() {
	local provider=$1
	shift
	# shellcheck disable=SC2046 # words
	env $(test_settings "$provider") stdbuf -oL fi_pingpong \
		-p "$provider" -e "$(test_ep_type "$provider")" -c "$@"
}

# Fails unless the table in LOG has verified transfers of each size.
test_expect_sizes() {
	local size
	for size in 64 256 1k 4k 64k 1m; do
		grep -qE "^$size +([0-9]+) +=\1 " "$1" ||
			test_fail "no verified transfers of $size bytes"
	done
}

# PROVIDER ADDRESS [OPTION...]; leaves the table in client.log.
test_pingpong_client() {
	local provider=$1 address=$2
	shift 2
	test_run_pingpong "$provider" "$@" "$address" >client.log 2>&1 || {
		cat client.log
		test_fail "the client returned an error"
	}
	test_expect_sizes client.log
}

# Both ends on this machine. SERVER-PROVIDER CLIENT-PROVIDER ADDRESS [OPTION...]
test_pingpong() {
	local server=$1 client=$2 address=$3 pid
	shift 3
	test_run_pingpong "$server" "$@" >server.log 2>&1 &
	pid=$!
	test_await_port 47592 "$pid"
	test_pingpong_client "$client" "$address" "$@"
	wait "$pid" || {
		cat server.log
		test_fail "the server returned an error"
	}
	cat client.log
}

# One end on each guest of a pair; returns what it did, and leaves what it
# printed in pingpong.log. PROVIDER [OPTION...]
test_pingpong_on_pair() {
	local pid status=0
	trap 'cat pingpong.log' EXIT # also when it hangs, and is stopped
	if [ "$RCM_VM_ROLE" = server ]; then
		test_run_pingpong "$@" >pingpong.log 2>&1 &
		pid=$!
		test_await_port 47592 "$pid"
		test_announce listening
		wait "$pid" || status=$?
	else
		test_await listening
		test_run_pingpong "$@" "$RCM_VM_PEER" >pingpong.log 2>&1 ||
			status=$?
	fi
	test_expect_sizes pingpong.log
	return "$status"
}

# Prints how many packets the RDMA devices of this machine have sent.
test_packets() {
	cat /sys/class/infiniband/*/ports/*/hw_counters/sent_pkts 2>/dev/null |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# Fails unless the RDMA device can have sent BYTES since test_packets said SINCE:
# a packet of soft-RoCE holds no more than 4096. A device without the counter of
# soft-RoCE is believed. SINCE BYTES
test_expect_on_device() {
	local packets=$(($(test_packets) - $1))
	[ "$(test_packets)" -gt 0 ] || return 0
	echo "the device sent $packets packets for $2 bytes"
	[ -n "${RCM_MPI_PROVIDER:-}" ] || [ $((packets * 4096)) -ge "$2" ] ||
		test_fail "the bytes cannot have gone through the RDMA device"
}

# Fails unless libfabric offers the provider.
test_is_listed() {
	fi_info -p "$1" >info 2>&1 || true
	grep -qx "provider: $1" info || {
		cat info
		test_fail "libfabric does not list $1"
	}
}

# The guests of a pair tell each other how far they are.
test_announce() {
	: >"$RCM_VM_SHARED/$1"
}

test_await() {
	until [ -e "$RCM_VM_SHARED/$1" ]; do
		sleep 0.1
	done
}
