#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The tools that make lint calls are called so that they find something: a
# wrong line makes each of them fail, the same line put right does not.

set -u
src=${RCM_SRCDIR:?}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0
tried=0

# tool NAME FILE LINE: LINE in FILE fails that one check of lint.sh
tool()
{
	if ! command -v "$1" >/dev/null; then
		echo "$1 is not installed: not tried"
		return
	fi
	tried=1
	for line in "$3" "$4"; do
		rm -rf "$dir/tree"
		mkdir -p "$dir/tree/prov"
		ln -s "$src/scripts" "$dir/tree/scripts"
		cp "$src/.clang-format" "$src/.clang-tidy" "$dir/tree"
		printf '%b' "$line" >"$dir/tree/$2"
		(cd "$dir/tree" && RCM_CC=${RCM_CC:-cc} RCM_CFLAGS='' RCM_LINT=$1 \
			sh scripts/lint.sh none) >"$dir/out" 2>&1
		rc=$?
		if [ "$line" = "$3" ] && [ $rc -eq 0 ]; then
			echo "wrong: lint believes $1: $line"
			bad=1
		elif [ "$line" = "$4" ] && [ $rc -ne 0 ]; then
			echo "wrong: $1 fails on what is right:"
			cat "$dir/out"
			bad=1
		fi
	done
}

tool clang-format prov/n.c 'int  rcm_n ;\n' 'int rcm_n;\n'
tool clang-tidy prov/n.c \
	'int rcm_n(int a)\n{\n\tint *p = 0;\n\treturn a ? *p : 0;\n}\n' \
	'int rcm_n(int a)\n{\n\treturn a;\n}\n'
tool cppcheck prov/n.c \
	'int rcm_n(void)\n{\n\tstatic const int a[2] = { 1, 2 };\n\treturn a[2];\n}\n' \
	'int rcm_n(void)\n{\n\tstatic const int a[2] = { 1, 2 };\n\treturn a[1];\n}\n'
# shellcheck disable=SC2016 # the samples are not to be expanded
tool shellcheck prov/n.sh '#!/bin/sh\necho $1\n' '#!/bin/sh\necho "$1"\n'

if [ $tried -eq 0 ]; then
	echo "skipped: none of the tools is installed"
	exit 77
fi
exit $bad
