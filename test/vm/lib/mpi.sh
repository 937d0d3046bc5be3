# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# What the tests with Open MPI share. The command is the README's, and the
# processes have no variable of libfabric or of ofi_rxm set. RCM_MPI_PROVIDER
# puts another provider in rcm's place, to see whose fault something is, such as
#   test/vm/run -- "RCM_MPI_PROVIDER='tcp;ofi_rxm' \
#       bash \$RCM_VM_SRC/test/vm/tests/mpi_ring.sh"
# shellcheck disable=SC1091 # lib/ is checked by itself
. "$RCM_VM_SRC/test/vm/lib/test.sh"

MPI_TEST=$RCM_VM_BUILD/test/vm/mpi/mpitest
MPI_AGENT=$RCM_VM_SRC/test/vm/guest/bin/rcm-launch

# All that a guest needs beside the command: its only user is root, and it has
# fewer processors than there are ranks. Open MPI 4 and 5 call that differently.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_plm_rsh_agent=$MPI_AGENT PRTE_MCA_plm_ssh_agent=$MPI_AGENT

# Prints the command that README.md gives, which ends in PROGRAM.
mpi_readme_command() {
	sed -n '/^## MPI in one minute/,/^## /s/^mpirun .* PROGRAM$/&/p' \
		"$RCM_VM_SRC/README.md" | head -n 1
}

# Prints Open MPI's major version; skips the test where there is none.
mpi_version() {
	mpirun --version 2>/dev/null | sed -nE '1s/.* ([0-9]+)\..*/\1/p'
}

mpi_need() {
	command -v mpirun >/dev/null || test_skip "Open MPI is not installed"
	[ -x "$MPI_TEST" ] || test_skip "built without Open MPI"
	[ -n "$(mpi_readme_command)" ] || test_fail "no command in README.md"
}

# Runs the README's command with RANKS in place of 2 and with some options more,
# for at most a number of SECONDS, and shows what it prints, which stays in
# mpi.log. SECONDS RANKS [OPTION...] -- PROGRAM [ARGUMENT...]
mpi_run() {
	local limit=$1 ranks=$2 options=() command
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	command=$(mpi_readme_command)
	command=${command% PROGRAM}
	[ -z "${RCM_MPI_PROVIDER:-}" ] ||
		command=${command/rcm;ofi_rxm/$RCM_MPI_PROVIDER}
	command=${command/ -n 2 / -n $ranks }
	echo "$command ${options[*]} $*"
	eval "timeout -k 5 $limit $command" '"${options[@]}" "$@"' \
		2>&1 </dev/null | tee mpi.log
	return "${PIPESTATUS[0]}"
}

# Fails unless the last mpi_run printed a line that matches.
mpi_expect() {
	grep -qE "^$1\$" mpi.log || test_fail "mpirun did not print: $1"
}

# Prints the bytes that the line of the last mpi_run tells of.
mpi_bytes() {
	sed -nE 's/^[a-z]+: .* ([0-9]+) bytes, verified$/\1/p' mpi.log |
		tail -n 1
}
