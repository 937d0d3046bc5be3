/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* LF#7368, LF#6437: "Cannot allocate memory" has a name and a number. */

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "rcm_lease.h"
#include "script_qp.h"
#include "warnings.h"

static void setup_limited(void)
{
	struct rlimit limit = { 65536, 65536 };

	setup();
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		abort();
	log_warnings();
}

TestSuite(memlock, .init = setup_limited, .fini = teardown);

static void expect_named(const char *what)
{
	cr_assert_not_null(strstr(logged, what), "%s", logged);
	cr_assert_not_null(strstr(logged, "locked memory is 64 KiB"), "%s",
			   logged);
}

Test(memlock, completion_queue_names_the_limit)
{
	struct rcm_qp_attr attr = attr_of(8, 64);

	script.fail_call = 1;
	script.fail_errno = ENOMEM;
	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), -FI_ENOMEM);
	expect_named("no completion queue of");
}

Test(memlock, queue_pair_names_the_limit)
{
	struct rcm_qp_attr attr = attr_of(8, 0);

	script.fail_call = 2; /* behind the completion queue */
	script.fail_errno = ENOMEM;
	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), -FI_ENOMEM);
	expect_named("no queue pair of");
}

Test(memlock, buffers_of_injected_messages_name_the_limit)
{
	struct rcm_qp_attr attr = attr_of(8, 64);

	script.inline_limit = 0;
	script.fail_call = 6; /* behind the queues and the tries */
	script.fail_errno = ENOMEM;
	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), -FI_ENOMEM);
	expect_named("to copy messages into");
}

Test(memlock, registration_for_an_operation_names_the_limit_once)
{
	struct rcm_qp_attr attr = attr_of(8, 64);
	struct ibv_sge sge = { .addr = (uintptr_t)data,
			       .length = RCM_LEASE_COPY + 1 };
	struct rcm_tx tx = { .sge = &sge,
			     .n_sge = 1,
			     .flags = RCM_TX_NO_KEY,
			     .opcode = IBV_WR_SEND,
			     .len = sge.length };

	attr.lends = true;
	open_qp_with(&attr);
	script.fail_call = 1;
	script.fail_errno = ENOMEM;
	cr_assert_eq(rcm_sq_post(&qp, &tx), -FI_ENOMEM);
	expect_named("for one operation");
	logged[0] = '\0';
	script.fail_call = 1;
	cr_assert_eq(rcm_sq_post(&qp, &tx), -FI_ENOMEM);
	cr_assert_str_empty(logged);
}

Test(memlock, another_cause_does_not_blame_the_limit)
{
	struct rcm_qp_attr attr = attr_of(8, 64);

	script.fail_call = 1;
	script.fail_errno = EINVAL;
	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), -FI_EINVAL);
	cr_assert_null(strstr(logged, "KiB"), "%s", logged);
}
