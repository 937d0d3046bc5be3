# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# What the tests in tests/ and pair/ share. A test exits with 0 when it passed
# and with 77, by test_skip, when it cannot be run.
set -euo pipefail

test_fail() {
	echo "failed: $*"
	exit 1
}

test_skip() {
	echo "$*"
	exit 77
}

# Waits until somebody listens on a TCP port. The test's own time bounds this.
test_await_port() {
	while [ -z "$(ss -Hltn "sport = :$1")" ]; do
		sleep 0.1
	done
}

# The guests of a pair tell each other how far they are.
test_announce() {
	: >"$RCM_VM_SHARED/$1"
}

test_await() {
	until [ -e "$RCM_VM_SHARED/$1" ]; do
		sleep 0.1
	done
}
