#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The manual lists each variable with its default, and no other.

set -u
src=${RCM_SRCDIR:?}

# "FI_RCM_NAME default", one a line
code=$(sed -n 's/^RCM_PARAM([a-z_]*, "\([a-z_]*\)", \(-\{0,1\}[0-9]*\),.*/\1 \2/p' \
	"$src/prov/base/rcm_param.def" |
	awk '{ print "FI_RCM_" toupper($1), $2 }' | sort)
manual=$(awk '
	/^\.SH/ { name = "" }
	/^\.I FI_RCM_/ { name = $2 }
	name && match($0, /\(\\?-?[0-9]+\)\.?/) {
		text = substr($0, RSTART + 1, RLENGTH - 1)
		gsub(/[^-0-9]/, "", text)
		found[name] = text
	}
	END { for (name in found) print name, found[name] }
' "$src/man/fi_rcm.7" | sort)

[ -n "$code" ] || { echo "no variable found in rcm_param.def"; exit 1; }
if [ "$code" != "$manual" ]; then
	printf 'in the code:\n%s\nin the manual:\n%s\n' "$code" "$manual"
	exit 1
fi
