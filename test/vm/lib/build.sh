# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Building rcm for a root: the sources are copied to VM_OUT/ROOT/src, built in
# VM_OUT/ROOT/build inside the root, and installed to VM_OUT/ROOT/dest. The
# copy keeps the times of the files, so a second build does only what changed,
# and the source tree never gets a generated file.

# Prints the source files, NUL-separated: in a checkout those that git knows or
# would add, else (an unpacked release) all but what a build there may have left.
build_list_sources() {
	cd "$VM_SRC" || return 1
	if git rev-parse --is-inside-work-tree >/dev/null 2>&1 &&
		git ls-files --error-unmatch configure.ac >/dev/null 2>&1; then
		git ls-files -z --cached --others --exclude-standard \
			-x '/build-*/' |
			while IFS= read -r -d '' file; do
				[ ! -e "$file" ] || printf '%s\0' "$file"
			done
	else
		find . \( -path './build*' -o -name .git -o -name .libs -o \
			-name .deps -o -name '*.o' -o -name '*.l[ao]' -o \
			-path ./Makefile -o -path ./config.h -o \
			-path ./config.status \) -prune \
			-o ! -type d -printf '%P\0'
	fi
}

# Copies what is new, and removes what is gone, so that a file deleted from the
# source cannot satisfy a build.
build_copy_sources() {
	local to=$1/src
	mkdir -p "$to"
	build_list_sources | sort -z >"$1/sources.new"
	if [ -e "$1/sources" ]; then
		comm -z -23 "$1/sources" "$1/sources.new" |
			(cd "$to" && xargs -0 -r rm -f --)
	fi
	tar -C "$VM_SRC" --null --no-recursion -cf - -T "$1/sources.new" |
		tar -C "$to" -xf -
	mv "$1/sources.new" "$1/sources"
}

# Prints the commands of a build in the given folder, which holds src. What
# configure is given (RCM_VM_CONFIGURE) is part of it: a change configures anew.
build_script() {
	local options=${RCM_VM_CONFIGURE:-}
	cat <<EOF
set -e
[ -x $1/src/configure ] || (cd $1/src && ./autogen.sh)
mkdir -p $1/build
cd $1/build
if [ ! -e options ] || [ "\$(cat options)" != "$options" ]; then
	rm -f options
	$1/src/configure $options
	echo "$options" >options
fi
make -j$VM_JOBS
rm -rf $1/dest.new
make -s install DESTDIR=$1/dest.new
rm -rf $1/dest
mv $1/dest.new $1/dest
EOF
}

# Builds in ROOT and installs; further arguments are make targets to run in the
# build folder afterwards. Blocks while another build of ROOT runs.
build_in_root() {
	local name=$1 dir=$VM_OUT/$1 log=$VM_OUT/$1/build.log script fd ret=0
	shift
	mkdir -p "$dir"
	exec {fd}>"$dir/lock"
	flock "$fd"
	script=$(build_script /rcm)
	if [ $# -gt 0 ]; then
		script+=$'\n'"make -j$VM_JOBS $*"
	fi
	build_copy_sources "$dir" &&
		timeout 1200 "$VM_DIR/lib/in-root" "$(root_dir "$name")/root" \
			"$dir" "$script" >"$log" 2>&1 </dev/null || ret=1
	exec {fd}>&-
	[ $ret -eq 0 ] || build_show_failure "$name" "$log"
	return $ret
}

# Brings the copied sources of ROOT up to date, and builds nothing.
build_refresh() {
	local dir=$VM_OUT/$1 fd ret=0
	mkdir -p "$dir"
	exec {fd}>"$dir/lock"
	flock "$fd"
	build_copy_sources "$dir" || ret=1
	exec {fd}>&-
	return $ret
}

build_show_failure() {
	vm_say "the build for $1 failed; the end of $2:"
	tail -n 30 "$2" >&2
}
