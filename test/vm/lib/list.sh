# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Running a list of tests in as few boots as they allow.

LIST_PASSED=0
LIST_FAILED=0
LIST_SKIPPED=0

# Adds up the time that a list may take, with some for starting each test.
list_timeout() {
	local path limit sum=60
	while read -r path; do
		limit=$(sed -n 's/^# timeout: *//p' "$VM_DIR/$path")
		sum=$((sum + ${limit:-60} + 15))
	done <"$1"
	echo "$sum"
}

# Prints the name under which the runner reports a test.
list_name() {
	local name=${1%.sh}
	name=${name#tests/}
	echo "${name//\//.}"
}

# Boots one guest (KIND single) or two (pair) and runs RESULTS/list in them. The
# lines that the runner reports go to stdout and stay in RESULTS/ROLE/output.
# ROOT KIND RESULTS
list_boot() {
	local root=$1 kind=$2 results=$3 roles=(single) role
	[ "$kind" = single ] || roles=(server client)
	GUEST_TIMEOUT=$(list_timeout "$results/list")
	guest_prepare "$root"
	for role in "${roles[@]}"; do
		guest_write_job "$results" "$role" "$GUEST_TIMEOUT" \
			"exec \$RCM_VM_SRC/test/vm/guest/runner $root/ /results/list"
		guest_start "$(root_dir "$root")" "$results" "$role"
	done
	guest_follow "$results" "${roles[-1]}"
	guest_stop_all
	list_count "$results/${roles[-1]}/output"
	list_report_death "$root" "$results" "${roles[-1]}"
}

# Adds the lines of a report to the sums.
list_count() {
	LIST_PASSED=$((LIST_PASSED + $(grep -c '^ok ' "$1")))
	LIST_FAILED=$((LIST_FAILED + $(grep -c '^not ok ' "$1")))
	LIST_SKIPPED=$((LIST_SKIPPED + $(grep -c '^skip ' "$1")))
}

# The first test without a line in the report is the one that ended the guest:
# it is reported here. Those behind it are left in RESULTS/rest.
list_report_death() {
	local root=$1 results=$2 path name dead=""
	: >"$results/rest"
	while read -r path; do
		name=$root/$(list_name "$path")
		if grep -qE "^(ok|not ok|skip) ${name}[: ]" \
			"$results/$3/output"; then
			continue
		elif [ -z "$dead" ]; then
			dead=$name
		else
			echo "$path" >>"$results/rest"
		fi
	done <"$results/list"
	[ -n "$dead" ] || return 0
	LIST_FAILED=$((LIST_FAILED + 1))
	echo "not ok $dead: the guest died or stopped answering"
	tail -q -n 30 "$results"/*/qemu "$results"/*/console |
		tr -d '\r\0' | sed 's/^/# /'
}

# Runs tests (paths below VM_DIR) in guests of ROOT; a guest that dies is
# followed by another for the rest. ROOT KIND PATH...
list_run() {
	local root=$1 kind=$2 results rest
	shift 2
	while [ $# -gt 0 ]; do
		results=$(vm_make_results)
		printf '%s\n' "$@" >"$results/list"
		list_boot "$root" "$kind" "$results"
		mapfile -t rest <"$results/rest"
		set -- "${rest[@]}"
	done
}

# Runs tests on the machine's own device. PATH...
list_run_on_device() {
	local results
	results=$(vm_make_results)
	printf '%s\n' "$@" >"$results/list"
	device_run "$results" "$(list_timeout "$results/list")" \
		"$VM_DIR/guest/runner device/ $results/list"
	list_count "$results/single/output"
}
