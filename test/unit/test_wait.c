/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* What event queues, completion queues and counters sleep on. */

#include <criterion/criterion.h>
#include <time.h>

#include "rcm_wait.h"

/* Of a machine that does something else between any two looks at the clock. */
static int64_t clock_ms = 1000, clock_step;

/* in the place of the C library's */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	ts->tv_sec = (time_t)(clock_ms / 1000);
	ts->tv_nsec = clock_ms % 1000 * 1000000;
	clock_ms += clock_step;
	return 0;
}

TestSuite(wait, .timeout = 20);

/*
 * With every distance from the deadline: what is left is never below 0, which
 * epoll_wait(2) takes for ever.
 */
Test(wait, deadline_that_passes_while_it_is_looked_at_ends_the_wait)
{
	struct rcm_wait wait;
	int64_t deadline;

	cr_assert_eq(rcm_wait_open(&wait), 0);
	clock_step = 5;
	for (int ms = 0; ms < 20; ms++) {
		deadline = rcm_wait_deadline(ms);
		cr_assert_eq(rcm_wait_until(&wait, deadline), 0);
	}
	rcm_wait_close(&wait);
}

Test(wait, flag_ends_a_wait_without_a_deadline)
{
	struct rcm_wait wait;

	cr_assert_eq(rcm_wait_open(&wait), 0);
	rcm_wait_raise(&wait);
	cr_assert_eq(rcm_wait_until(&wait, -1), 1);
	rcm_wait_lower(&wait);
	cr_assert_eq(rcm_wait_until(&wait, rcm_wait_deadline(0)), 0);
	rcm_wait_close(&wait);
}
