#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# check-headers.sh HEADER...: each compiles alone, and included twice
#
# RCM_CC and RCM_CFLAGS are the build's compiler and flags.

set -u
bad=0
n=0
for h in "$@"; do
	n=$((n + 1))
	# shellcheck disable=SC2086 # the flags are words
	if ! printf '#include "%s"\n#include "%s"\nextern int rcm_none;\n' \
		"$h" "$h" |
		${RCM_CC:-cc} ${RCM_CFLAGS:-} -I. -Werror -fsyntax-only -x c -; then
		echo "$h: does not compile alone"
		bad=1
	fi
done
echo "$n headers"
exit $bad
