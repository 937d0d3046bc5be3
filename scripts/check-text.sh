#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# check-text.sh [TREE]: licence lines, no // comments, no work markers, no
# trailing blanks, and every source file is in the list that builds it

set -u
cd "${1:-.}" || exit 2
bad=0

complain()
{
	echo "$*"
	bad=1
}

roots=
for d in prov test bench include scripts m4; do
	[ -d "$d" ] && roots="$roots $d"
done

# shellcheck disable=SC2086 # the directories are words
for f in $(find $roots -type f \( -name '*.[ch]' -o -name '*.def' -o \
	-name '*.sh' -o -name '*.mk' -o -name 'rcm_*.m4' \) \
	! -path '*/.deps/*' | sort); do
	head -n 3 "$f" | grep -q \
		'SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only' ||
		complain "$f: no licence line"
	head -n 4 "$f" | grep -q 'Copyright (c) 2026 rcm contributors' ||
		complain "$f: no copyright line"
	grep -nE '[[:blank:]]+$' "$f" && complain "$f: trailing blanks"
	# spelt in pieces, or this file would be one of the finds
	grep -nwE 'TO''DO|FIX''ME|XX''X|HA''CK' "$f" &&
		complain "$f: a note to oneself"
	case $f in
	*.[ch])
		grep -nE '^[[:blank:]]*//|[;{})][[:blank:]]*//' "$f" &&
			complain "$f: a // comment"
		;;
	esac
done

listed()
{
	grep -qE "[[:blank:]]$2([[:blank:]]|\$)" "$1" ||
		complain "$2: is not listed in $1"
}

for f in $(find prov -type f \( -name '*.[ch]' -o -name '*.def' \) | sort); do
	listed prov/prov.mk "$f"
done
if [ -f test/test.mk ]; then
	for f in $(find test/unit test/mt -name '*.c' 2>/dev/null | sort); do
		listed test/test.mk "${f%.c}"
	done
	for f in $(find test/fake -name '*.[ch]' 2>/dev/null | sort); do
		listed test/test.mk "$f"
	done
fi
exit $bad
