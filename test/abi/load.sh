#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The built plugin as libfabric meets it: no open symbol, loads and unloads
# twice, is listed, and says nothing on stderr to those who did not ask for it.

set -u
build=${RCM_BUILDDIR:?}
plugin=$build/.libs/librcm-fi.so
load=$build/test/abi/load
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/none"
unset FI_PROVIDER FI_LOG_LEVEL
bad=0

wrong()
{
	echo "wrong: $*"
	bad=1
}

# quiet NAME COMMAND...: succeeds, and its stderr is that of the same command
# with no provider to load (what libfabric and its other providers say)
quiet()
{
	name=$1
	shift
	# libfabric's own leaks, which show when nothing pins it, are not ours
	ASAN_OPTIONS=detect_leaks=0 FI_PROVIDER_PATH=$dir/none \
		"$@" >/dev/null 2>"$dir/err0"
	FI_PROVIDER_PATH=$build/.libs "$@" >"$dir/out" 2>"$dir/err1"
	rc=$?
	cat "$dir/out" "$dir/err1"
	[ $rc -eq 0 ] || wrong "$name: exit status $rc"
	cmp -s "$dir/err0" "$dir/err1" || wrong "$name: writes to stderr"
}

ldd -r "$plugin" >"$dir/ldd" 2>&1 || wrong "ldd: $(cat "$dir/ldd")"
# an instrumented plugin finds its run-time library in the program
if [ "${RCM_INSTRUMENTED:-no}" = no ] &&
	grep -E 'undefined symbol|not found' "$dir/ldd"; then
	wrong "the plugin has open symbols"
fi
readelf -d "$plugin" | grep -q 'NEEDED.*libfabric\.so' ||
	wrong "the plugin is not linked with libfabric"
readelf -d "$plugin" | grep -q 'FLAGS_1.*NODELETE' ||
	wrong "the plugin can be unmapped before its process ends"

"$load" "$plugin" || wrong "plugin alone: exit status $?"
quiet "libfabric" "$load" core
FI_PROVIDER=tcp
export FI_PROVIDER
quiet "another provider's user" "$load" core
unset FI_PROVIDER

if ! command -v fi_info >/dev/null; then
	echo "fi_info is not installed: listing not tried"
elif [ "${RCM_INSTRUMENTED:-no}" != no ]; then
	echo "fi_info is not instrumented: listing not tried"
else
	quiet "fi_info -l" fi_info -l
	grep -q '^rcm:' "$dir/out" || wrong "fi_info -l does not list rcm"
fi
exit $bad
