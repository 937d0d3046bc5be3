#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# check-variants.sh NAME...: make check-NAME for each, then the sum of them all

set -u
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
passed=0
failed=0
skipped=0

for v in "$@"; do
	echo "== $v"
	${MAKE:-make} --no-print-directory "check-$v" >"$out" 2>&1
	rc=$?
	sums=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
		"$out" | tail -n 1)
	if [ -z "$sums" ]; then
		cat "$out"
		sums="0 1 0"
	elif [ $rc -ne 0 ]; then
		tail -n 60 "$out"
	else
		grep -E '^(skipped|failed): ' "$out"
		tail -n 1 "$out"
	fi
	f=${sums#* }
	f=${f% *}
	[ $rc -ne 0 ] && [ "$f" -eq 0 ] && f=1
	passed=$((passed + ${sums%% *}))
	failed=$((failed + f))
	skipped=$((skipped + ${sums##* }))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
