# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The cache of root file systems. A finished root is never written again: the
# guest sees it read-only, and a build in it gets it read-only too.

# Prints the folder of a root (see mkroot), whether it exists or not.
root_dir() {
	local key
	key=$(cat "$VM_DIR/lib/mkroot" "$VM_DIR/lib/packages" |
		sha256sum | cut -c1-12)
	echo "$VM_CACHE/$1-$key"
}

# Makes the root unless it is there. Blocks while another process makes it.
root_get() {
	local dir log fd
	dir=$(root_dir "$1")
	if [ ! -d "$dir" ]; then
		mkdir -p "$VM_CACHE"
		exec {fd}>"$VM_CACHE/$1.lock"
		flock "$fd"
		[ -d "$dir" ] || root_make "$1" "$dir" || {
			exec {fd}>&-
			return 1
		}
		exec {fd}>&-
	fi
	touch "$dir"
}

# The caller holds the lock, so what an interrupted run left is in no use.
root_make() {
	local start log=$VM_CACHE/$1.log
	start=$(vm_now_ms)
	vm_say "making the $1 root, log in $log"
	rm -rf --one-file-system "$2.tmp"
	if ! timeout 1800 "$VM_DIR/lib/mkroot" "$1" "$2.tmp" >"$log" 2>&1; then
		vm_say "the $1 root could not be made; the end of $log:"
		tail -n 15 "$log" >&2
		rm -rf --one-file-system "$2.tmp"
		return 1
	fi
	mv -T "$2.tmp" "$2"
	root_forget_old "$1" "$2"
	vm_say "made the $1 root in $(vm_since "$start")," \
		"$(du -sh "$2" | cut -f1)"
}

# Drops roots of other versions of this bench that no run used for two weeks.
root_forget_old() {
	find "$VM_CACHE" -maxdepth 1 -type d -name "$1-*" ! -path "$2" \
		-mtime +14 -exec rm -rf --one-file-system {} +
}
