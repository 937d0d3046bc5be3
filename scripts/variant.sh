#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# variant.sh NAME GOAL [CONFIGURE-ARGUMENT...]
#
# Configures a second build of the same source in variants/NAME, beneath the
# current build directory, and makes GOAL there. The source is copied first,
# since a tree that is configured for itself refuses other builds. An existing
# variants/NAME is brought up to date.

set -eu
name=${1:?} goal=${2:?}
shift 2
make=${MAKE:-make}
top=$PWD/variants

mkdir -p "$top"
# one copy at a time: variants may be made in parallel
exec 9>"$top/lock"
flock 9
$make --no-print-directory -s distdir distdir=variants/new >/dev/null
mkdir -p "$top/src"
# only what changed, so that the variants need not be built anew
(cd "$top/new" && find . -type f) | while read -r f; do
	cmp -s "$top/new/$f" "$top/src/$f" 2>/dev/null && continue
	mkdir -p "$top/src/${f%/*}"
	cp -pf "$top/new/$f" "$top/src/$f"
done
chmod -R u+w "$top/new" "$top/src"
rm -rf "$top/new"
exec 9>&-

mkdir -p "$top/$name"
cd "$top/$name"
if [ ! -f Makefile ] || [ "$(cat args 2>/dev/null)" != "$*" ]; then
	if ! "$top/src/configure" --quiet "$@" >configure.out 2>&1; then
		cat configure.out
		echo "variant $name: configure failed"
		exit 1
	fi
	echo "$*" >args
fi
exec $make --no-print-directory "$goal"
