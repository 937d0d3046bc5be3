#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# timeout: 120
# To test/vm/run, this guest is a machine with an RDMA device.
. "$RCM_VM_SRC/test/vm/lib/test.sh"

RCM_VM_OUT=$(mktemp -d)
export RCM_VM_OUT
mkdir "$RCM_VM_OUT/device"
cp -a "$RCM_VM_SRC/../dest" "$RCM_VM_OUT/device/"
# shellcheck disable=SC2016 # expands where it runs
"$RCM_VM_SRC/test/vm/run" --no-build -- \
	'echo "on a $RCM_VM_KIND"; fi_info -p rcm; exit 5' >out 2>&1 ||
	status=$?
rm -r "$RCM_VM_OUT"
[ "${status:-0}" -eq 5 ] || test_fail "status ${status:-0}: $(cat out)"
grep -qx 'on a device' out || test_fail "$(cat out)"
grep -q 'has an RDMA device, .*: no guest' out || test_fail "$(cat out)"
grep -qx 'provider: rcm' out || test_fail "$(cat out)"
