#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# test-summary.sh SKIP-REASON LOG...
#
# Adds up what run-test.sh counted in every LOG. Prints what was skipped and
# why, what failed, and last `N passed, N failed, N skipped`. Status 1 when a
# test failed or left no result. A non-empty SKIP-REASON is one more skip.

set -u
reason=$1
shift

passed=0
failed=0
skipped=0

if [ -n "$reason" ]; then
	echo "skipped: $reason"
	skipped=1
fi
if [ $# -eq 0 ]; then
	echo "failed: there was nothing to run"
	failed=1
fi

for log in "$@"; do
	name=${log%.log}
	result=$(sed -n 's/^:test-result: *\([A-Z]*\).*/\1/p' \
		"$name.trs" 2>/dev/null)
	counts=$(sed -n 's/^rcm-counts: //p' "$log" 2>/dev/null | tail -n 1)
	if [ -z "$result" ] || [ -z "$counts" ]; then
		echo "failed: $name left no result"
		failed=$((failed + 1))
		continue
	fi
	# shellcheck disable=SC2086 # six words are wanted
	set -- $counts
	passed=$((passed + $2))
	failed=$((failed + $4))
	skipped=$((skipped + $6))
	if [ "$4" -ne 0 ]; then
		echo "failed: $name ($4 of $(($2 + $4))), see $log"
	fi
	if [ "$6" -ne 0 ]; then
		why=$(sed -n 's/^skipped: //p' "$log" | head -n 1)
		echo "skipped: $name ($6)${why:+: $why}"
	fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
