#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The runner can fail: scripts/run-test.sh is given programs that are broken
# in the ways that are easily missed, and must say so, with right figures.

set -u
src=${RCM_SRCDIR:?} build=${RCM_BUILDDIR:?}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0

# expect STATUS COUNTS PROGRAM [ARGUMENT...]
expect()
{
	want_rc=$1 want=$2
	shift 2
	sh "$src/scripts/run-test.sh" "$@" >"$dir/out" 2>&1
	rc=$?
	got=$(sed -n 's/^rcm-counts: //p' "$dir/out" | tail -n 1)
	if [ "$rc" -eq "$want_rc" ] && [ "$got" = "$want" ]; then
		echo "right: $*: $got"
		return
	fi
	echo "wrong: $*: status $rc, '$got'; wanted $want_rc, '$want'"
	sed 's/^/	/' "$dir/out"
	bad=1
}

script()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/$1.sh"
}

script good 'exit 0'
script skip 'echo "skipped: no reason"; exit 77'
script fails 'exit 1'
script killed 'kill -9 $$'
script slow 'exec sleep 100'
expect 0 'passed 1 failed 0 skipped 0' "$dir/good.sh"
expect 77 'passed 0 failed 0 skipped 1' "$dir/skip.sh"
expect 1 'passed 0 failed 1 skipped 0' "$dir/fails.sh"
expect 1 'passed 0 failed 1 skipped 0' "$dir/killed.sh"
expect 1 'passed 0 failed 1 skipped 0' "$dir/not-there"
RCM_TEST_TIMEOUT=1 expect 1 'passed 0 failed 1 skipped 0' "$dir/slow.sh"

broken=$build/test/runner/test_broken
if [ -x "$broken" ]; then
	expect 1 'passed 1 failed 1 skipped 1' "$broken" --filter 'mixed/*'
	expect 77 'passed 0 failed 0 skipped 1' "$broken" --filter 'skipped/*'
	expect 1 'passed 0 failed 2 skipped 0' "$broken" --filter 'crash/*'
	expect 1 'passed 1 failed 1 skipped 0' "$broken" --filter 'fini/*'
	expect 1 'passed 0 failed 1 skipped 0' "$broken" --filter 'no/*'
	RCM_TEST_TIMEOUT=2 expect 1 'passed 0 failed 1 skipped 0' \
		"$broken" --filter 'hang/*'
	if [ "${RCM_ASAN:-no}" = yes ]; then
		expect 1 'passed 0 failed 1 skipped 0' "$broken" \
			--filter 'leak/*'
	fi
	if [ "${RCM_UBSAN:-no}" = yes ]; then
		expect 1 'passed 0 failed 1 skipped 0' "$broken" \
			--filter 'undefined/*'
	fi
fi
if [ "${RCM_TSAN:-no}" = yes ]; then
	expect 1 'passed 0 failed 1 skipped 0' "$build/test/runner/race"
fi

# the sum: a program without a result is a failure, and so is no program
summary()
{
	want=$1
	shift
	got=$(sh "$src/scripts/test-summary.sh" '' "$@" 2>&1)
	rc=$?
	if [ "$rc" -eq 1 ] && [ "$(echo "$got" | tail -n 1)" = "$want" ]; then
		echo "right: sum of $#: $want"
		return
	fi
	echo "wrong: sum of $#: status $rc, $got"
	bad=1
}
echo 'rcm-counts: passed 3 failed 0 skipped 1' >"$dir/a.log"
echo ':test-result: PASS' >"$dir/a.trs"
echo 'rcm-counts: passed 4 failed 2 skipped 0' >"$dir/b.log"
echo ':test-result: FAIL' >"$dir/b.trs"
summary '0 passed, 1 failed, 0 skipped'
summary '3 passed, 1 failed, 1 skipped' "$dir/a.log" "$dir/c.log"
summary '7 passed, 2 failed, 1 skipped' "$dir/a.log" "$dir/b.log"

exit $bad
