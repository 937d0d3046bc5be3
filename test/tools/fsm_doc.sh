#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# docs/cm-fsm.md is what the connection machine prints about itself.
# After a change of the table: test/tools/rcm_fsm --md >docs/cm-fsm.md

set -u
builddir=${RCM_BUILDDIR:-.}
srcdir=${RCM_SRCDIR:-.}
printer=$builddir/test/tools/rcm_fsm

if ! "$printer" --md | diff -u "$srcdir/docs/cm-fsm.md" -; then
	echo "docs/cm-fsm.md is not what the code prints"
	exit 1
fi
"$printer" --dot | grep -q '^digraph' || exit 1
test "$("$printer" --text | wc -l)" -gt 0 || exit 1
! "$printer" 2>/dev/null
