#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# selftest.sh: bench/run reports the figures of a made-up run as they are, and
# fails when one is missing.

command -v python3 >/dev/null || {
	echo "skipped: no python3"
	exit 77
}
set -eu
run=$RCM_SRCDIR/bench/run
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail()
{
	echo "$*"
	exit 1
}

# What callgrind dumps. FOLDER NAME TIMES INSTRUCTIONS SYSTEM-CALLS
dump()
{
	number=$((number + 1))
	cat >"$1/callgrind.out.$number" <<END
version: 1
desc: Trigger: Client Request: $2 $3
events: Ir sysCount sysTime
fn=(1) $2
1 $4 $5
summary: $4 $5
totals: $4 $5
END
}

# COST instructions and a system call a message, and 1000 for the counting.
# PROVIDER-THREADING COST
counts()
{
	mkdir -p "$dir/count/$1"
	for name in send inject recv read1 read16 read_empty message burst; do
		for n in 16 32; do
			dump "$dir/count/$1" $name $n $((1000 + $2 * n)) \
				$((1 + n))
		done
	done
	dump "$dir/count/$1" unused "" 77 77
}

# The rounds give FIRST, FIRST + 1 and FIRST + 8. PROVIDER FIRST
values()
{
	for round in 0 1 8; do
		for name in rate_w1_t1 rate_w16_t1 rate_w16_more_t1 \
			rate_w64_t1 rate_w64_more_t1 rate_w1_t2 rate_w16_t2 \
			rate_w16_more_t2 rate_w64_t2 rate_w64_more_t2 \
			pingpong_1 pingpong_64 pingpong_4096 connections; do
			echo "$1 safe $round $name $(($2 + round))"
		done
	done
	echo "$1 safe 0 memory 1000"
	echo "$1 safe 0 memory_mapped 1000"
}

report()
{
	"$run" --root bookworm --report "$dir" --out "$dir/out"
}

expect()
{
	grep -qE -- "$1" "$dir/out/$2" || fail "$2 has no line like: $1"
}

number=0
counts raw-safe 200
counts verbs-safe 400
counts verbs-domain 300
counts rcm-safe 250
counts rcm-domain 225
{
	values raw 300
	values verbs 100
	values rcm 150
} >"$dir/values"
printf 'kernel 6.1.0\nlibfabric 1.17.0\nprocessors 3\n' >"$dir/about"

report >/dev/null || fail "a whole run was not reported"
expect '^fi_send +instructions safe +200\.0 +400\.0 +250\.0 +200 +50 +0\.25$' \
	table.txt
expect '^fi_recv +instructions domain +200\.0 +300\.0 +225\.0 +100 +25 +0\.25$' \
	table.txt
expect '^send\+recv\+completions +system calls safe +1 +1 +1 +0 +0 +-$' table.txt
expect '^connections +a second .*151\.0 \(150\.0 to 158\.0\) +1\.50$' table.txt
expect '"provider": "rcm", "threading": "domain".*"name": "send".*225\.0' \
	figures.jsonl
expect '^</svg>$' figures.svg

sed -i '/^rcm .* connections /d' "$dir/values"
! report >"$dir/report" 2>&1 || fail "a missing figure was not missed"
grep -q 'there is no figure connections of rcm' "$dir/report" ||
	fail "the missing figure is not named"
