# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Targets for developers. None of them is needed to build or install.

DEV_FILES = \
	scripts/check-exports.sh \
	scripts/check-headers.sh \
	scripts/check-layers.sh \
	scripts/check-text.sh \
	scripts/check-variants.sh \
	scripts/coverage.sh \
	scripts/cppcheck.supp \
	scripts/fuzz.sh \
	scripts/lint.sh \
	scripts/run-test.sh \
	scripts/test-summary.sh \
	scripts/variant.sh
EXTRA_DIST += $(DEV_FILES)

# lint.sh adds the include directories, relative to the top of the source
LINT_CFLAGS = $(DEFS) -include $(abs_top_builddir)/config.h \
	$(CRITERION_CFLAGS) $(MPI_CFLAGS) $(CPPFLAGS) $(AM_CFLAGS)

# static checks of the whole tree; RCM_LINT="layers text" runs single ones
lint: librcm-fi.la
	@cd $(srcdir) && RCM_CC='$(CC)' RCM_CFLAGS='$(LINT_CFLAGS)' \
		$(SHELL) scripts/lint.sh $(abs_builddir)/.libs/librcm-fi.so

# put every C file into the form that lint wants
format:
	@cd $(srcdir) && for d in prov test bench include; do \
		test ! -d $$d || find $$d -name '*.[ch]'; \
	done | xargs clang-format -i

# Variants are built beneath variants/ from what `make dist` would pack, so
# that they leave this build alone, and are kept to be quick the next time. The
# "+" gives them their share of make -j.
VARIANT = MAKE='$(MAKE)' $(SHELL) $(srcdir)/scripts/variant.sh

check-asan:
	+@$(VARIANT) asan check --enable-werror --enable-debug --enable-asan \
		--enable-ubsan

check-tsan:
	+@$(VARIANT) tsan check --enable-werror --enable-debug --enable-tsan

check-clang:
	+@$(VARIANT) clang check CC=clang --enable-werror --enable-debug

check-variants:
	@MAKE='$(MAKE)' $(SHELL) $(srcdir)/scripts/check-variants.sh asan tsan clang

coverage:
	+@$(VARIANT) coverage coverage-here --enable-debug --enable-coverage \
		CFLAGS='-g -O0'

coverage-here:
	@find . -name '*.gcda' -exec rm -f {} +
	@$(MAKE) $(AM_MAKEFLAGS) check
	@$(SHELL) $(srcdir)/scripts/coverage.sh $(abs_srcdir) $(abs_builddir)

# FUZZ_TIME seconds for each target
FUZZ_TIME = 60
fuzz:
	+@$(VARIANT) fuzz fuzz-here CC=clang --enable-debug --enable-fuzz \
		--enable-asan --enable-ubsan

fuzz-here: $(FUZZ_TESTS)
	@RCM_SRCDIR='$(abs_srcdir)' $(SHELL) $(srcdir)/scripts/fuzz.sh \
		$(FUZZ_TIME) $(FUZZ_TESTS)

# the tests that need an RDMA device, in a guest that has one
check-vm: all
	@$(srcdir)/test/vm/check

clean-local:
	rm -rf variants

.PHONY: lint format check-asan check-tsan check-clang check-variants \
	coverage coverage-here fuzz fuzz-here check-vm
