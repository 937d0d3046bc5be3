#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# fuzz.sh SECONDS TARGET...: each target that long, from its corpus
#
# Inputs that reach new code are kept in found/<target>/ of the build
# directory, one that breaks the target as crash-<target>-*.

set -u
seconds=${1:?}
shift
passed=0
failed=0
if [ $# -eq 0 ]; then
	echo "failed: there is no fuzz target"
	failed=1
fi
export ASAN_OPTIONS=abort_on_error=1:detect_leaks=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
for target in "$@"; do
	name=${target##*/}
	mkdir -p "found/$name"
	echo "== $name, $seconds s"
	if "./$target" -max_total_time="$seconds" -timeout=10 -print_final_stats=1 \
		-artifact_prefix="crash-$name-" "found/$name" \
		"${RCM_SRCDIR:?}/test/fuzz/corpus/$name" >"$name.out" 2>&1; then
		passed=$((passed + 1))
		grep -E '^stat::number_of_executed|^#.*DONE' "$name.out"
	else
		failed=$((failed + 1))
		tail -n 60 "$name.out"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
