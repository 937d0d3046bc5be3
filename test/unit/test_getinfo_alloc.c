/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* fi_getinfo when memory runs out: each allocation in turn fails. */

#include <criterion/criterion.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "fake.h"
#include "rcm_dev.h"
#include "rcm_getinfo.h"
#include "rcm_info.h"

#define API FI_VERSION(1, 17)

static void setup(void)
{
	fake_install();
}

/* What is left is told by the leak checker and by the fake. */
static void teardown(void)
{
	fake_alloc_fail_none();
	rcm_dev_list_reset();
	if (fake_remove())
		abort();
}

TestSuite(getinfo_alloc, .init = setup, .fini = teardown);

Test(getinfo_alloc, each_failing_allocation_leaves_nothing)
{
	unsigned int n = 0;
	bool failed = true;

	while (failed) {
		struct fi_info *info = NULL;
		int ret;

		rcm_dev_list_reset();
		fake_alloc_fail_none();
		fake_alloc_fail(++n);
		ret = rcm_getinfo(API, "127.0.0.1", "7471", FI_SOURCE, NULL,
				  &info);
		failed = fake_alloc_failed();
		fake_alloc_fail_none();
		/* 127.0.0.1 is no device's: there is nothing but the reason */
		cr_assert(ret == -FI_ENOMEM || ret == -FI_ENODATA);
		cr_assert_null(info);
	}
	cr_assert_gt(n, 10);
	for (n = 0, failed = true; failed;) {
		struct fi_info *info = NULL;
		int ret;

		rcm_dev_list_reset();
		fake_alloc_fail_none();
		fake_alloc_fail(++n);
		ret = rcm_getinfo(API, NULL, NULL, 0, NULL, &info);
		failed = fake_alloc_failed();
		fake_alloc_fail_none();
		cr_assert_eq(ret, failed ? -FI_ENOMEM : 0, "%u: %d", n, ret);
		cr_assert_eq(!info, failed);
		fi_freeinfo(info);
	}
	cr_assert_gt(n, 30);
}

Test(getinfo_alloc, info_of_a_request_and_a_copy_leave_nothing)
{
	struct rcm_dev_list *list = rcm_dev_list_get(false);
	const struct rcm_dev *dev = &list->devs[0];
	struct fi_info *pep = rcm_info_new(API, dev, &dev->addrs[0]);
	struct fi_info *info, *dup;
	bool failed = true;

	for (unsigned int n = 1; failed; n++) {
		fake_alloc_fail_none();
		fake_alloc_fail(n);
		info = rcm_info_connreq(pep, dev, &dev->addrs[0].addr,
					&dev->addrs[0].addr);
		failed = fake_alloc_failed();
		cr_assert_eq(!info, failed);
		fi_freeinfo(info);
	}
	failed = true;
	for (unsigned int n = 1; failed; n++) {
		struct fid_nic *nic = NULL;
		int ret;

		fake_alloc_fail_none();
		fake_alloc_fail(n);
		ret = fi_control(&pep->nic->fid, FI_DUP, &nic);
		failed = fake_alloc_failed();
		cr_assert_eq(ret, failed ? -FI_ENOMEM : 0);
		if (nic)
			fi_close(&nic->fid);
	}
	fake_alloc_fail_none();
	dup = fi_dupinfo(pep);
	cr_assert_not_null(dup);
	fi_freeinfo(dup);
	fi_freeinfo(pep);
	rcm_dev_list_put(list);
}
