# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The benchmark (docs/BENCH.md): one set of measurements, built on libfabric
# and on libibverbs alone. Its programs belong to the tests, so that they are
# built with them.

BENCH_SOURCES =
BENCH_SOURCES += bench/bench.c
BENCH_SOURCES += bench/bench.h
BENCH_SOURCES += bench/bench_base.h
BENCH_SOURCES += bench/bench_connect.c
BENCH_SOURCES += bench/bench_count.c
BENCH_SOURCES += bench/bench_memory.c
BENCH_SOURCES += bench/bench_pingpong.c
BENCH_SOURCES += bench/bench_rate.c

BENCH_EXES = bench/fibench bench/rawbench
check_PROGRAMS += $(BENCH_EXES)

bench_fibench_SOURCES = $(BENCH_SOURCES) bench/bench_fi.c bench/bench_fi.h
bench_fibench_CPPFLAGS = -include config.h
bench_fibench_LDADD = $(LIBFABRIC_LIBS)

bench_rawbench_SOURCES = $(BENCH_SOURCES) bench/bench_raw.c bench/bench_raw.h
bench_rawbench_CPPFLAGS = -include config.h -DBENCH_RAW
bench_rawbench_LDADD = $(RDMACM_LIBS) $(IBVERBS_LIBS)

bench-programs: $(BENCH_EXES)

TESTS += bench/selftest.sh
EXTRA_DIST += bench/guest bench/run bench/selftest.sh

# rcm, verbs and the floor beside each other, in a guest of BENCH_ROOT; the
# figures are left in bench-ROOT of the build directory
BENCH_ROOT = bookworm
BENCH_ROUNDS = 5
bench:
	@$(srcdir)/bench/run --root $(BENCH_ROOT) --rounds $(BENCH_ROUNDS) \
		--out bench-$(BENCH_ROOT)

.PHONY: bench bench-programs
