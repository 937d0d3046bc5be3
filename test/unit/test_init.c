/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <criterion/criterion.h>
#include <dirent.h>
#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rcm_log.h"

struct fi_provider *fi_prov_ini(void);

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	cr_assert_not_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

Test(init, entry_fills_every_slot)
{
	struct fi_provider *prov = fi_prov_ini();

	cr_assert_not_null(prov);
	cr_assert_str_eq(prov->name, "rcm");
	cr_assert_not_null(prov->getinfo);
	cr_assert_not_null(prov->fabric);
	cr_assert_not_null(prov->cleanup);
	cr_assert_eq(rcm_log_prov, prov);
}

/* a provider older than the interface asked for is passed over */
Test(init, version_is_that_of_the_running_core)
{
	cr_assert_eq(fi_prov_ini()->fi_version, fi_version());
}

Test(init, second_call_returns_the_same_provider)
{
	cr_assert_eq(fi_prov_ini(), fi_prov_ini());
}

/* the core writes .context, and crashes on a const one */
Test(init, provider_is_writable)
{
	fi_prov_ini()->context.internal[0] = NULL;
}

/* it runs in every libfabric process, whatever that uses */
Test(init, entry_opens_nothing_and_starts_no_thread)
{
	int fds = entries("/proc/self/fd");
	int threads = entries("/proc/self/task");

	fi_prov_ini();
	cr_assert_eq(entries("/proc/self/fd"), fds);
	cr_assert_eq(entries("/proc/self/task"), threads);
}

Test(init, cleanup_may_run_twice_and_in_a_child)
{
	struct fi_provider *prov = fi_prov_ini();
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		prov->cleanup();
		_exit(7);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	prov->cleanup();
	prov->cleanup();
}
