#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# selftest.sh ROOT: prove that check reports what is wrong. It runs scripts of
# which all but one must not pass, and requires the right line for each.
set -uo pipefail

here=$(cd "${0%/*}" && pwd)
root=$1
ret=0

expect() {
	grep -qE "^$1" <<<"$report" || {
		echo "expected a line: $1"
		ret=1
	}
}

report=$("$here/check" --no-build --root "$root" "$here"/selftest/*.sh \
	"$here"/selftest/pair/*.sh 2>&1)
status=$?
printf '%s\n' "$report"
[ $status -eq 1 ] || { echo "expected status 1, not $status"; ret=1; }
expect "ok $root/selftest.passes \("
expect "not ok $root/selftest.fails: status 3 "
expect "# single: a line of the failing test's log"
expect "not ok $root/selftest.hangs: status 124 "
expect "not ok $root/selftest.warns: status 1 "
expect "# single: .*WARNING: nothing is wrong"
expect "not ok $root/selftest.dumps_core: status 139 "
expect "not ok $root/selftest.panics: the guest died"
expect "skip $root/selftest.skips: there is no reason "
expect "ok $root/selftest.leaves_nothing "
expect "not ok $root/selftest.pair.server_fails: status 4 "
expect "# server: a line of the server's log"
expect "2 passed, 6 failed, 1 skipped$"
exit $ret
