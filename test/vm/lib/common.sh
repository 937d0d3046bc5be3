# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# shellcheck disable=SC2034 # for those that include this
#
# What every script of the bench needs: where things are, and how to stop.

VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VM_SRC=$(cd "$VM_DIR/../.." && pwd)
# Everything that is built or reported, but the cached roots, is below here.
VM_OUT=${RCM_VM_OUT:-$VM_SRC/build-vm}
VM_CACHE=${RCM_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/libfabric-rcm}
VM_ROOTS=(bookworm trixie)

# What make may do at once, whatever the number of processors: Criterion starts
# a program for each test, and waits 200 ms for libfabric's libraries to load.
VM_JOBS=4

# Status of a script that cannot do its work on this machine.
VM_SKIP=77

vm_say() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

vm_die() {
	vm_say "$*"
	exit 1
}

vm_now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# Prints the seconds since the given vm_now_ms, with one decimal.
vm_since() {
	local ms=$(($(vm_now_ms) - $1))
	printf '%d.%d s' $((ms / 1000)) $((ms % 1000 / 100))
}

vm_root_is_known() {
	local name
	for name in "${VM_ROOTS[@]}"; do
		[ "$name" != "$1" ] || return 0
	done
	vm_say "no root named '$1'; there are: ${VM_ROOTS[*]}"
	return 1
}

# Makes and prints a folder of its own for a run; the last forty are kept.
vm_make_results() {
	local dir
	mkdir -p "$VM_OUT/results"
	find "$VM_OUT/results" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' |
		sort -rn | tail -n +40 | cut -d' ' -f2- | xargs -r -d '\n' rm -rf
	dir=$(mktemp -d "$VM_OUT/results/$(date +%m%d-%H%M%S).XXXX")
	ln -sfn "${dir##*/}" "$VM_OUT/results/last"
	echo "$dir"
}
