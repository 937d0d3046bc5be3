# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The tests that `make check` runs: no RDMA device, no root.
#
# To add a test program: write test/unit/test_<module>.c (Criterion) or
# test/mt/<name>.c (a plain main(): 0 passed, 77 skipped, else failed) and add
# one line to the list below, in alphabetical order. A program is made of the
# one file of its name; what several share belongs into test/fake/.
# Every test program links the provider's objects and the fake device.
#
# To add a fuzz target: write test/fuzz/fuzz_<name>.c, put inputs of known
# worth into test/fuzz/corpus/fuzz_<name>/, and add three lines:
#	FUZZ_TESTS += test/fuzz/fuzz_<name>
#	EXTRA_DIST += test/fuzz/corpus/fuzz_<name>
#	test_fuzz_fuzz_<name>_LDADD = $(FUZZ_LIBS)

UNIT_TESTS =
UNIT_TESTS += test/unit/test_addr
UNIT_TESTS += test/unit/test_atomic
UNIT_TESTS += test/unit/test_attr
UNIT_TESTS += test/unit/test_chan
UNIT_TESTS += test/unit/test_conn
UNIT_TESTS += test/unit/test_conn_rows
UNIT_TESTS += test/unit/test_cq
UNIT_TESTS += test/unit/test_cqset
UNIT_TESTS += test/unit/test_dev
UNIT_TESTS += test/unit/test_drain
UNIT_TESTS += test/unit/test_err
UNIT_TESTS += test/unit/test_fake
UNIT_TESTS += test/unit/test_fake_cm
UNIT_TESTS += test/unit/test_faults
UNIT_TESTS += test/unit/test_fsm
UNIT_TESTS += test/unit/test_fsm_explore
UNIT_TESTS += test/unit/test_getinfo
UNIT_TESTS += test/unit/test_getinfo_alloc
UNIT_TESTS += test/unit/test_info
UNIT_TESTS += test/unit/test_init
UNIT_TESTS += test/unit/test_layered
UNIT_TESTS += test/unit/test_lease
UNIT_TESTS += test/unit/test_listen
UNIT_TESTS += test/unit/test_memlock
UNIT_TESTS += test/unit/test_mr
UNIT_TESTS += test/unit/test_msg
UNIT_TESTS += test/unit/test_multi
UNIT_TESTS += test/unit/test_objects_alias
UNIT_TESTS += test/unit/test_objects_atomic
UNIT_TESTS += test/unit/test_objects_auto
UNIT_TESTS += test/unit/test_objects_cntr
UNIT_TESTS += test/unit/test_objects_conn
UNIT_TESTS += test/unit/test_objects_cq
UNIT_TESTS += test/unit/test_objects_drive
UNIT_TESTS += test/unit/test_objects_end
UNIT_TESTS += test/unit/test_objects_eq
UNIT_TESTS += test/unit/test_objects_level
UNIT_TESTS += test/unit/test_objects_mrlocal
UNIT_TESTS += test/unit/test_objects_msg
UNIT_TESTS += test/unit/test_objects_multi
UNIT_TESTS += test/unit/test_objects_open
UNIT_TESTS += test/unit/test_objects_rma
UNIT_TESTS += test/unit/test_objects_srx
UNIT_TESTS += test/unit/test_objects_sets
UNIT_TESTS += test/unit/test_param
UNIT_TESTS += test/unit/test_promise_atomic
UNIT_TESTS += test/unit/test_promise_cm
UNIT_TESTS += test/unit/test_promise_cq
UNIT_TESTS += test/unit/test_promise_ep
UNIT_TESTS += test/unit/test_promise_faults
UNIT_TESTS += test/unit/test_promise_mr
UNIT_TESTS += test/unit/test_promise_msg
UNIT_TESTS += test/unit/test_promise_rma
UNIT_TESTS += test/unit/test_promise_wait
UNIT_TESTS += test/unit/test_rq
UNIT_TESTS += test/unit/test_slot
UNIT_TESTS += test/unit/test_sq
UNIT_TESTS += test/unit/test_srq
UNIT_TESTS += test/unit/test_stage
UNIT_TESTS += test/unit/test_tclass
UNIT_TESTS += test/unit/test_wait
UNIT_TESTS += test/unit/test_wire

MT_TESTS =
MT_TESTS += test/mt/atomics
MT_TESTS += test/mt/auto_control
MT_TESTS += test/mt/close_events
MT_TESTS += test/mt/counters
MT_TESTS += test/mt/eq_readers
MT_TESTS += test/mt/getinfo
MT_TESTS += test/mt/lent
MT_TESTS += test/mt/levels
MT_TESTS += test/mt/multi_recv
MT_TESTS += test/mt/lock
MT_TESTS += test/mt/open_close
MT_TESTS += test/mt/post_poll
MT_TESTS += test/mt/stress
MT_TESTS += test/mt/sets
MT_TESTS += test/mt/shared_recv
MT_TESTS += test/mt/waiters
MT_TESTS += test/mt/xfer

FUZZ_TESTS =
FUZZ_TESTS += test/fuzz/fuzz_wire

FAKE_SOURCES =
FAKE_SOURCES += test/fake/fake.h
FAKE_SOURCES += test/fake/fake_alloc.c
FAKE_SOURCES += test/fake/fake_chan.c
FAKE_SOURCES += test/fake/fake_conn.c
FAKE_SOURCES += test/fake/fake_core.c
FAKE_SOURCES += test/fake/fake_cq.c
FAKE_SOURCES += test/fake/fake_dev.c
FAKE_SOURCES += test/fake/fake_fault.c
FAKE_SOURCES += test/fake/fake_id.c
FAKE_SOURCES += test/fake/fake_int.h
FAKE_SOURCES += test/fake/fake_mem.c
FAKE_SOURCES += test/fake/fake_post.c
FAKE_SOURCES += test/fake/fake_qp.c
FAKE_SOURCES += test/fake/fake_srq.c
FAKE_SOURCES += test/fake/fake_wire.c
FAKE_SOURCES += test/fake/mt.h
FAKE_SOURCES += test/fake/net.c
FAKE_SOURCES += test/fake/net.h
FAKE_SOURCES += test/fake/script.c
FAKE_SOURCES += test/fake/script.h
FAKE_SOURCES += test/fake/script_qp.h
FAKE_SOURCES += test/fake/warnings.h

SCRIPT_TESTS =
SCRIPT_TESTS += test/abi/lint.sh
SCRIPT_TESTS += test/abi/load.sh
SCRIPT_TESTS += test/abi/manual.sh
SCRIPT_TESTS += test/abi/tools.sh
SCRIPT_TESTS += test/runner/runner.sh
SCRIPT_TESTS += test/tools/fsm_doc.sh
SCRIPT_TESTS += test/tools/promises.sh

# programs that a script runs
HELPERS =
HELPERS += test/abi/load
HELPERS += test/runner/race
HELPERS += test/tools/rcm_fsm

UNIT_HELPERS =
UNIT_HELPERS += test/runner/test_broken

# the connection machine links with libc alone
test_tools_rcm_fsm_SOURCES = test/tools/rcm_fsm.c prov/cm/rcm_fsm.c
test_tools_rcm_fsm_CFLAGS = $(AM_CFLAGS)
test_tools_rcm_fsm_LDADD =

check_LTLIBRARIES += librcm-fake.la librcm-replay.la
librcm_fake_la_SOURCES = $(FAKE_SOURCES)
librcm_replay_la_SOURCES = test/fuzz/replay.c

TEST_LIBS = librcm-fake.la librcm-core.la $(RCM_LIBS)
LDADD = $(TEST_LIBS) $(CRITERION_LIBS)
AM_CPPFLAGS += $(CRITERION_CFLAGS)

TESTS = $(MT_TESTS) $(SCRIPT_TESTS)
if FUZZ_ENABLED
FUZZ_LIBS = $(TEST_LIBS) $(RCM_FUZZER)
else
TESTS += $(FUZZ_TESTS)
FUZZ_LIBS = librcm-replay.la $(TEST_LIBS)
endif

test_fuzz_fuzz_wire_LDADD = $(FUZZ_LIBS)

# What runs on a real device, in the guest (test/vm/tests): built by `make
# check`, too, so that it does not rot. It knows libfabric's public calls only.
DEVICE_TESTS = test/vm/real/test_real
test_vm_real_test_real_SOURCES =
test_vm_real_test_real_SOURCES += test/vm/real/real.c
test_vm_real_test_real_SOURCES += test/vm/real/real.h
test_vm_real_test_real_SOURCES += test/vm/real/real_atomic.c
test_vm_real_test_real_SOURCES += test/vm/real/real_connect.c
test_vm_real_test_real_SOURCES += test/vm/real/real_counter.c
test_vm_real_test_real_SOURCES += test/vm/real/real_hosts.c
test_vm_real_test_real_SOURCES += test/vm/real/real_layered.c
test_vm_real_test_real_SOURCES += test/vm/real/real_memory.c
test_vm_real_test_real_SOURCES += test/vm/real/real_message.c
test_vm_real_test_real_SOURCES += test/vm/real/real_multi.c
test_vm_real_test_real_SOURCES += test/vm/real/real_progress.c
test_vm_real_test_real_SOURCES += test/vm/real/real_queue.c
test_vm_real_test_real_SOURCES += test/vm/real/real_rma.c
test_vm_real_test_real_SOURCES += test/vm/real/real_shared.c
test_vm_real_test_real_LDADD = $(CRITERION_LIBS) $(LIBFABRIC_LIBS)

# What mpirun starts there; it knows MPI only.
MPI_TESTS = test/vm/mpi/mpitest
test_vm_mpi_mpitest_SOURCES =
test_vm_mpi_mpitest_SOURCES += test/vm/mpi/mpitest.c
test_vm_mpi_mpitest_SOURCES += test/vm/mpi/mpitest.h
test_vm_mpi_mpitest_SOURCES += test/vm/mpi/mpitest_coll.c
test_vm_mpi_mpitest_SOURCES += test/vm/mpi/mpitest_kill.c
test_vm_mpi_mpitest_SOURCES += test/vm/mpi/mpitest_osc.c
test_vm_mpi_mpitest_SOURCES += test/vm/mpi/mpitest_ring.c
test_vm_mpi_mpitest_SOURCES += test/vm/mpi/mpitest_spawn.c
test_vm_mpi_mpitest_CFLAGS = $(AM_CFLAGS) $(MPI_CFLAGS)
test_vm_mpi_mpitest_LDADD = $(MPI_LIBS)

check_PROGRAMS += $(MT_TESTS) $(FUZZ_TESTS) $(HELPERS)
GUEST_EXES =
if UNIT_TESTS_ENABLED
TESTS += $(UNIT_TESTS)
check_PROGRAMS += $(UNIT_TESTS) $(UNIT_HELPERS) $(DEVICE_TESTS)
GUEST_EXES += $(DEVICE_TESTS)
endif
if MPI_ENABLED
check_PROGRAMS += $(MPI_TESTS)
GUEST_EXES += $(MPI_TESTS)
else
EXTRA_PROGRAMS += $(MPI_TESTS)
endif
device-tests: bench-programs $(GUEST_EXES)
.PHONY: device-tests

TEST_EXTENSIONS = .sh
# test/fake/fake_alloc.c: memory and file descriptors that run out
FAKE_WRAP_FLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=strdup,--wrap=fi_dupinfo \
	-Wl,--wrap=epoll_create1,--wrap=epoll_ctl,--wrap=eventfd \
	-Wl,--wrap=pthread_create

test_unit_test_faults_LDFLAGS = $(AM_LDFLAGS) $(FAKE_WRAP_FLAGS)
test_unit_test_getinfo_alloc_LDFLAGS = $(AM_LDFLAGS) $(FAKE_WRAP_FLAGS)

LOG_COMPILER = $(SHELL) $(srcdir)/scripts/run-test.sh
SH_LOG_COMPILER = $(LOG_COMPILER)
AM_TESTS_ENVIRONMENT = \
	RCM_SRCDIR='$(abs_srcdir)'; export RCM_SRCDIR; \
	RCM_BUILDDIR='$(abs_builddir)'; export RCM_BUILDDIR; \
	RCM_CC='$(CC)'; export RCM_CC; \
	RCM_ASAN='$(enable_asan)'; export RCM_ASAN; \
	RCM_UBSAN='$(enable_ubsan)'; export RCM_UBSAN; \
	RCM_TSAN='$(enable_tsan)'; export RCM_TSAN; \
	RCM_INSTRUMENTED='$(rcm_instrumented)'; export RCM_INSTRUMENTED;

EXTRA_DIST += $(SCRIPT_TESTS) scripts/run-test.sh scripts/test-summary.sh
EXTRA_DIST += quickstart test/fuzz/corpus test/tools/promises.awk
# not test/vm as a whole: a build leaves the objects of test/vm/real there
EXTRA_DIST += test/vm/.clang-tidy test/vm/build test/vm/check test/vm/guest
EXTRA_DIST += test/vm/lib test/vm/long test/vm/pair test/vm/run test/vm/selftest
EXTRA_DIST += test/vm/selftest.sh test/vm/tests
EXTRA_DIST += test/unit/cm_drive.h test/unit/cm_script.h
EXTRA_DIST += test/unit/atomic_words.h
EXTRA_DIST += $(SCRIPT_TESTS)

# Automake's own rule ends with its programs; this one ends with the number of
# test cases, whether they passed or not, and never with an earlier run's.
check-TESTS: $(check_PROGRAMS) $(check_LTLIBRARIES)
	@rm -f $(TEST_LOGS) $(TEST_LOGS:.log=.trs) $(TEST_SUITE_LOG)
	@$(MAKE) $(AM_MAKEFLAGS) $(TEST_SUITE_LOG); rc=$$?; \
	$(SHELL) $(srcdir)/scripts/test-summary.sh \
		'$(rcm_unit_skip_reason)' $(TEST_LOGS) || \
		{ test $$rc -ne 0 || rc=1; }; \
	exit $$rc
