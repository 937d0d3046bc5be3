#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# fi_getinfo on devices that come, go, lack an address or a permission: which
# addresses are offered, and what is said of the rest.
#
# timeout: 300
. "$RCM_VM_SRC/test/vm/lib/test.sh"

[ "$RCM_VM_KIND" = guest ] || test_skip "makes and removes devices"

log=$(mktemp)
unset FI_PROVIDER

# A second device, with nothing yet. The first stays as it is.
clean_up() {
	rdma link delete rxe9 2>/dev/null || true
	ip link delete rdma9 2>/dev/null || true
	ip netns delete rcm9 2>/dev/null || true
	chmod 666 /dev/infiniband/uverbs*
	rm -f "$log"
}
trap clean_up EXIT

# The sources that rcm offers, one a line; its log goes to $log.
offered() {
	set +o pipefail
	FI_LOG_LEVEL=info FI_LOG_PROV=rcm \
		fi_info -p rcm -t FI_EP_MSG -v "$@" 2>"$log" |
		sed -n 's/^ *src_addr: //p'
}

expect() { # WHAT WANTED GOT
	if [ "$2" = "$3" ]; then
		echo "ok: $1"
		return
	fi
	cat "$log"
	test_fail "$1: wanted '$2', got '$3'"
}

expect_reason() { # WHAT TEXT
	if grep -q -F -- "$2" "$log"; then
		echo "ok: $1"
		return
	fi
	cat "$log"
	test_fail "$1: '$2' is not in the log"
}

own="fi_sockaddr_in://$RCM_VM_SELF:0"

expect "a destination is reached from its device" "$own" \
	"$(offered -n "$RCM_VM_SELF" -P 7471)"
expect "IPv6 too" "fi_sockaddr_in6://[$RCM_VM_SELF6]:0" \
	"$(offered -n "$RCM_VM_SELF6" -P 7471)"
expect "the loopback is none" "" "$(offered -n 127.0.0.1 -P 7471)"
expect_reason "and it is said" "no RDMA to the loopback address 127.0.0.1"
expect "a place without a route is none" "" "$(offered -n 203.0.113.9 -P 1)"
expect_reason "and it is said" "no route to 203.0.113.9:1"
expect "no such name" "" "$(offered -n no.such.name.invalid -P 1)"
expect_reason "and it is said" "node no.such.name.invalid"

ip link add rdma9 type dummy
sysctl -qw net.ipv6.conf.rdma9.disable_ipv6=1
ip link set rdma9 up
rdma link add rxe9 type rxe netdev rdma9
expect "a device without an address is none" "" "$(offered -d rxe9)"
expect_reason "and it is said" "rxe9 left out: no IP address on netdev rdma9"

ip addr add 10.79.0.1/24 dev rdma9
ip addr add 10.79.0.2/24 dev rdma9 label rdma9:1
expect "each address counts, also one with a label" \
	"fi_sockaddr_in://10.79.0.1:0 fi_sockaddr_in://10.79.0.2:0" \
	"$(offered -d rxe9 | paste -sd' ')"
expect "the first device is still there" "$own" \
	"$(offered -n "$RCM_VM_SELF" -P 7471)"
expect "names match as a whole" "" "$(offered -d rxe)"
expect_reason "and it is said" "there is no device rxe"

ip link set rdma9 down
expect "a port that is down is none" "" "$(offered -d rxe9)"
expect_reason "and it is said" "rxe9 left out: no active port"
ip link set rdma9 up

ip netns add rcm9
expect "another network namespace has none" "" \
	"$(ip netns exec rcm9 bash -c "$(declare -f offered); log=$log; offered")"
expect_reason "and it is said" "another network namespace"

chmod 666 "$log"
node=
for uverbs in /sys/class/infiniband_verbs/uverbs*; do
	[ "$(cat "$uverbs/ibdev")" = rxe9 ] && node=${uverbs##*/}
done
chmod 600 "/dev/infiniband/$node"
as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups bash -c \
		"$(declare -f offered); log=$log; offered $*"
}
expect "a forbidden device is none" "" "$(as_nobody -d rxe9)"
expect_reason "and it is said" "no permission to open /dev/infiniband/$node"
expect "and hides no other" "$own" "$(as_nobody -n "$RCM_VM_SELF" -P 7471)"
