# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# What in a kernel log counts as a fault. Used on the host and in the guest.

KMSG_FAULTS='WARNING: |BUG: |Oops|Call Trace:|kernel BUG|Kernel panic'
KMSG_FAULTS+='|general protection fault|UBSAN: |refcount_t: '
KMSG_FAULTS+='|list_(add|del) corruption|blocked for more than|lockup'
KMSG_FAULTS+='|detected stall|self-detected stall|leaked objects'

# Reads a kernel log and prints the lines of faults after the last line that
# holds the text $1, and the lines near them. True when there was none.
kmsg_is_clean() {
	local faults
	faults=$(awk -v mark="$1" '
		{ line[NR] = $0 } index($0, mark) { from = NR }
		END { for (i = from + 1; i <= NR; i++) print line[i] }' |
		grep -E -A 8 "$KMSG_FAULTS")
	[ -n "$faults" ] || return 0
	echo "the kernel complained:"
	printf '%s\n' "$faults"
	return 1
}
