#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# lint.sh PLUGIN: every static check, one line each, then the sum
#
# RCM_CC and RCM_CFLAGS are the build's compiler and flags, RCM_JOBS the number
# of processes (default: one per core). RCM_LINT names single checks to run.
# A tool that is not installed is a failure: a check that did not run has not
# passed. Run at the top of the source tree.

set -u

jobs=${RCM_JOBS:-$(nproc)}
dirs="-Iprov/base -Iprov/sys -Iprov/cm -Iprov/xfer -Iprov/obj -Iprov/top"
dirs="$dirs -Itest/fake"
passed=0
failed=0

c_files()
{
	for d in prov test bench include; do
		[ -d "$d" ] && find "$d" -type f -name "$1"
	done | sort
}

shell_files()
{
	find . \( -name .git -o -name variants -o -name config -o \
		-path './build*' -o -name '.libs' -o \
		-name 'libfabric-rcm-*' \) -prune -o \
		-type f ! -name '*.[ch]' ! -name configure ! -name libtool \
		! -name config.status -print | sort |
		while read -r f; do
			case $f in
			*.sh)
				echo "$f"
				continue
				;;
			esac
			case $(head -c 32 "$f" | head -n 1 | tr -d '\0') in
			'#!/bin/sh'* | '#!/bin/bash'* | '#!/usr/bin/env bash'*)
				echo "$f"
				;;
			esac
		done
}

check()
{
	name=$1
	shift
	case " ${RCM_LINT:-$name} " in
	*" $name "*) ;;
	*) return ;;
	esac
	start=$(date +%s)
	if "$@" >"$out" 2>&1; then
		passed=$((passed + 1))
		echo "ok      $name ($(($(date +%s) - start)) s)"
	else
		failed=$((failed + 1))
		echo "FAILED  $name"
		sed 's/^/	/' "$out"
	fi
}

need()
{
	command -v "$1" >/dev/null || {
		echo "$1 is not installed"
		return 1
	}
}

run_clang_format()
{
	need clang-format &&
		c_files '*.[ch]' | xargs clang-format --dry-run --Werror
}

tidy_one()
{
	# shellcheck disable=SC2086 # the flags are words
	text=$(clang-tidy --quiet --warnings-as-errors='*' "$1" -- \
		$dirs $RCM_CFLAGS -Wno-unknown-warning-option -Wno-error 2>&1) && return
	printf '%s\n' "$text" | grep -v 'warnings generated\.$'
	return 1
}

run_clang_tidy()
{
	need clang-tidy || return 1
	c_files '*.c' | xargs -P "$jobs" -n 1 sh "$0" --tidy-one
}

run_cppcheck()
{
	need cppcheck || return 1
	# shellcheck disable=SC2086 # the directories are words
	c_files '*.c' | cppcheck --file-list=- -j "$jobs" --quiet --std=c11 \
		--enable=warning,style,performance,portability --inline-suppr \
		--suppressions-list=scripts/cppcheck.supp \
		--error-exitcode=2 --template=gcc $dirs
}

run_shellcheck()
{
	need shellcheck && shell_files | xargs shellcheck
}

run_headers()
{
	c_files '*.h' | RCM_CFLAGS="$dirs $RCM_CFLAGS" xargs sh scripts/check-headers.sh
}

# clang-tidy takes seconds a file, so that this script calls itself in parallel
if [ "$1" = --tidy-one ]; then
	tidy_one "$2"
	exit
fi

plugin=${1:?}
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
check clang-format run_clang_format
check shellcheck run_shellcheck
check layers sh scripts/check-layers.sh
check text sh scripts/check-text.sh
check headers run_headers
check exports sh scripts/check-exports.sh "$plugin"
check cppcheck run_cppcheck
check clang-tidy run_clang_tidy

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
