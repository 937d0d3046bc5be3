/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Deliberately broken tests. test/runner/runner.sh runs them one suite at a
 * time through scripts/run-test.sh and fails when the runner believes one.
 * They are no part of the ordinary run.
 */

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

Test(mixed, passing)
{
	cr_assert(1);
}

Test(mixed, failing)
{
	cr_assert_eq(1, 2);
}

Test(mixed, skipping)
{
	cr_skip_test("to be counted");
}

Test(skipped, skipping)
{
	cr_skip_test("to be counted");
}

Test(crash, aborts)
{
	abort();
}

Test(crash, segfaults)
{
	raise(SIGSEGV);
}

static void fail_late(void)
{
	cr_assert(0);
}

Test(fini, assertion_after_the_body, .fini = fail_late)
{
	cr_assert(1);
}

Test(hang, never_returns)
{
	for (;;)
		pause();
}

Test(leak, forgets_memory)
{
	char *volatile p = malloc(77);

	cr_assert_not_null(p);
	p[0] = 1;
	p = NULL;
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the leak is wanted */
}

Test(undefined, shift_beyond_width)
{
	volatile int n = 40;

	/* NOLINTNEXTLINE(clang-analyzer-core.*): the shift is wanted */
	cr_assert((1 << n) != 3);
}
