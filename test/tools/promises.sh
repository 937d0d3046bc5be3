#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The tables of promises, docs/CONFORMANCE.md and docs/FAULTS.md, against the
# tests. A row has six cells:
#	id, where it comes from, the promise, what rcm does, status, shown by
# The status is yes, differs (on purpose), n/a or open (not there yet). The
# last cell names the tests that show it, or "reason: " and why there is none;
# n/a and open have a reason always. A test's name is
#	program:suite/name	of test/unit or test/vm/real (real_*.c)
#	test/mt/name, test/vm/tests/name.sh ...: a file
# Of a row of FAULTS.md, one of its reports is in the comment of one of its
# tests. The number of open rows is printed.
#
# promises.sh [DOCUMENT...]: those documents only

set -u
srcdir=${RCM_SRCDIR:-.}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# NAME is the program: its tests in FILE, each with the comment before it
tests_of()
{
	awk -v name="$1" '
	/^(Parameterized)?Test\([^)]*$/ { getline rest; $0 = $0 " " rest }
	/^(Parameterized)?Test\(/ {
		line = $0
		sub(/^[A-Za-z]*Test\(/, "", line)
		split(line, part, /[ \t]*[,)][ \t]*/)
		print name ":" part[1] "/" part[2] "\t" comment
	}
	/^}/ { comment = ""; next }
	{ comment = comment " " $0 }
	' "$2"
}

list_tests()
{
	sed -n 's/^UNIT_TESTS += //p' "$srcdir/test/test.mk" |
		while read -r t; do
			tests_of "${t##*/}" "$srcdir/$t.c"
		done
	for f in "$srcdir"/test/vm/real/real_*.c; do
		t=${f##*/}
		tests_of "${t%.c}" "$f"
	done
	for f in "$srcdir"/test/mt/*.c; do
		t=${f##*/}
		printf 'test/mt/%s\t%s\n' "${t%.c}" \
			"$(grep '^/\*\|^ \*' "$f" | tr '\t\n' '  ')"
	done
	(cd "$srcdir" && ls test/fuzz/fuzz_*.c test/abi/*.sh \
		test/tools/*.sh test/vm/tests/*.sh test/vm/pair/*.sh) |
		sed 's/\.c$//; s/$/	/'
}

check()
{
	awk -f "$srcdir/test/tools/promises.awk" "$tmp/tests" "$1"
}

# A table with ROW must be refused with words like WORDS.
refuses()
{
	printf '| id | a | b | c | d | e |\n| --- | - | - | - | - | - |\n%b\n' \
		"$1" >"$tmp/broken.md"
	if check "$tmp/broken.md" >"$tmp/said" || ! grep -q "$2" "$tmp/said"; then
		echo "this table was not refused with '$2':"
		cat "$tmp/broken.md" "$tmp/said"
		exit 1
	fi
}

self_test()
{
	good='prog:suite/name'
	{
		printf '%s\t/* LF#17 */\n' "$good"
		printf '%s\t\n' test/vm/tests/there.sh
	} >"$tmp/tests"
	printf '| %s | w | p | r | %s | %s |\n' \
		A-1 yes "\`$good\`, \`test/vm/tests/there.sh\`" \
		A-2 n/a 'reason: no tags' A-3 open 'reason: is coming' \
		A-4 differs 'prog:suite/name' >"$tmp/good.md"
	printf '| B1 | LF#16, LF#17 | p | r | yes | %s |\n' "$good" \
		>>"$tmp/good.md"
	if ! check "$tmp/good.md" >"$tmp/said"; then
		echo "a good table was refused:"
		cat "$tmp/said"
		exit 1
	fi
	grep -q '5 rows: 2 yes, 1 differs, 1 n/a, 1 open' "$tmp/said" || exit 1
	refuses '' 'no rows'
	refuses '| A-1 | w | p | r | yes | prog:suite/other |' 'does not exist'
	refuses '| A-1 | w | p | r | yes | test/vm/gone.sh |' 'does not exist'
	refuses '| A-1 | w | p | r | yes |  |' 'neither a test nor a reason'
	refuses '| A-1 | w | p | r | n/a |  |' 'neither a test nor a reason'
	refuses "| A-1 | w | p | r | open | $good |" \
		'neither a test nor a reason'
	refuses "| A-1 | w | p | r | maybe | $good |" 'unknown status'
	refuses "| A-1 | w | p |  | yes | $good |" 'empty cell'
	refuses "| A-1 | w | p | r | yes | $good |\n| A-1 | w | p | r | yes | $good |" \
		'used twice'
	refuses "| A-1 | w | p | yes | $good |" 'cells'
	refuses "| A | w | p | r | yes | $good |" 'without an id'
	refuses "| B1 | LF#1 | p | r | yes | $good |" 'report of it'
	refuses "| B1 | LF 12ab34cd5 | p | r | yes | $good |" 'report of it'
}

self_test
list_tests >"$tmp/tests"
[ $# -gt 0 ] || set -- "$srcdir/docs/CONFORMANCE.md" "$srcdir/docs/FAULTS.md"
rc=0
for doc; do
	[ -f "$doc" ] || continue
	check "$doc" || rc=1
done
exit $rc
