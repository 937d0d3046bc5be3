/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* LF#7368, LF#6437: "Cannot allocate memory" has a name and a number. */

#include <errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "rcm_lease.h"
#include "rcm_log.h"
#include "script_qp.h"

static struct fi_provider prov = { .name = "rcm" };
static char logged[4096];

/* in the place of the core's */
int fi_log_enabled(const struct fi_provider *p, enum fi_log_level level,
		   enum fi_log_subsys subsys)
{
	(void)p;
	(void)subsys;
	return level == FI_LOG_WARN;
}

void fi_log(const struct fi_provider *p, enum fi_log_level level,
	    enum fi_log_subsys subsys, const char *func, int line,
	    const char *fmt, ...)
{
	size_t n = strlen(logged);
	va_list args;

	(void)p;
	(void)level;
	(void)subsys;
	(void)func;
	(void)line;
	va_start(args, fmt);
	vsnprintf(logged + n, sizeof(logged) - n, fmt, args);
	va_end(args);
}

static void setup_limited(void)
{
	struct rlimit limit = { 65536, 65536 };

	setup();
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		abort();
	rcm_log_prov = &prov;
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
