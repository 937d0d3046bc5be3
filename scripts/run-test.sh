#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# run-test.sh PROGRAM [ARGUMENT...]
#
# Runs one test program for `make check` and prints, last, what it counted:
#	rcm-counts: passed N failed N skipped N
# Exit status: 0 passed, 77 skipped, else failed.
# RCM_TEST_TIMEOUT is the time in seconds that the program may take (120).
#
# A Criterion program (test/unit/test_*) counts its test cases, any other
# program counts one; a fuzz target is given its corpus. Criterion's exit status alone is not to be believed: it
# is 0 after a failed assertion in a .fini function, and its figures count a
# test as passed whose process was ended by a leak report.

set -u
program=$1
shift

export ASAN_OPTIONS="abort_on_error=1:detect_leaks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
# a library below libfabric may catch SIGSEGV and exit; this tells it not to
export IPATH_NO_BACKTRACE=1

limit=${RCM_TEST_TIMEOUT:-120}

finish()
{
	echo "rcm-counts: passed $2 failed $3 skipped $4"
	exit "$1"
}

run_plain()
{
	case $program in
	*.sh) set -- sh "$program" "$@" ;;
	*) set -- "$program" "$@" ;;
	esac
	timeout -k 5 "$limit" "$@"
	rc=$?
	case $rc in
	0) finish 0 1 0 0 ;;
	77) finish 77 0 0 1 ;;
	124 | 137) echo "run-test: ended after $limit s" ;;
	esac
	finish 1 0 1 0
}

number_after()
{
	sed -n "s/.*Synthesis: .*$1: \([0-9]*\).*/\1/p" "$out" | tail -n 1
}

run_criterion()
{
	dir=$(mktemp -d) || finish 99 0 1 0
	trap 'rm -rf "$dir"' EXIT
	out=$dir/out
	timeout -k 5 "$limit" "$program" --color=never \
		--tap="$dir/tap" "$@" >"$out" 2>&1
	rc=$?
	cat "$out"
	# with a filter, what it left out is no skip
	if [ $# -gt 0 ] && [ -f "$dir/tap" ]; then
		sed -i '/# SKIP test was skipped$/d' "$dir/tap"
	fi
	sed -n 's/^ok - \(.*[^ ]\) *# SKIP /skipped: \1: /p' "$dir/tap" 2>/dev/null
	if [ "$rc" -eq 124 ] || [ "$rc" -eq 137 ]; then
		echo "run-test: ended after $limit s"
	fi

	passed=$(number_after Passing)
	failed=$(number_after Failing)
	skipped=$(grep -c '^ok .*# SKIP' "$dir/tap" 2>/dev/null)
	late=$(grep -c 'crashed during its setup or teardown' "$out")
	if [ -z "$passed" ]; then
		echo "run-test: no result from Criterion, exit status $rc"
		finish 1 0 1 "${skipped:-0}"
	fi
	passed=$((passed - late))
	failed=$((failed + late))
	if [ "$failed" -eq 0 ] && [ "$rc" -ne 0 ]; then
		echo "run-test: exit status $rc"
		failed=1
	fi
	if [ "$failed" -eq 0 ] && grep -q 'Assertion Failed' "$out"; then
		echo "run-test: an assertion failed outside a test's body"
		failed=1
	fi
	if [ $((passed + failed + skipped)) -eq 0 ]; then
		echo "run-test: the program holds no test"
		failed=1
	fi
	if [ "$failed" -ne 0 ]; then
		finish 1 "$passed" "$failed" "$skipped"
	elif [ "$passed" -eq 0 ]; then
		finish 77 0 0 "$skipped"
	fi
	finish 0 "$passed" 0 "$skipped"
}

case ${program##*/} in
test_*.sh) run_plain "$@" ;;
test_*) run_criterion "$@" ;;
fuzz_*) run_plain "${RCM_SRCDIR:?}/test/fuzz/corpus/${program##*/}" "$@" ;;
*) run_plain "$@" ;;
esac
