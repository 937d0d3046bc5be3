/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Faults that users met, and that no other test looks for; docs/FAULTS.md. */

#include <criterion/criterion.h>
#include <rdma/fi_atomic.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "warnings.h"

static struct net n;

static const struct fake_dev_conf devs[] = {
	{ .name = "fake0", .ifname = "f0", .addrs = { "10.77.0.1" } },
	{ .name = "fake1", .ifname = "f1", .addrs = { "10.77.1.1" } },
	{ .name = "fake2", .ifname = "f2", .addrs = { "10.77.2.1" } },
};

static void set_up(void)
{
	net_begin(&n, devs, 3);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(promise_faults, .init = set_up, .fini = tear_down);

static unsigned int open_devices(void)
{
	return fake_calls_of(FAKE_open_device) -
	       fake_calls_of(FAKE_close_device);
}

/* LF#8256: contexts of devices that are not used are not kept */
Test(promise_faults, domain_keeps_its_device_open_and_no_other)
{
	cr_assert_eq(net_open_domain(&n), 0);
	cr_assert_eq(open_devices(), 1);
	cr_assert_eq(fi_close(&n.domain->fid), 0);
	n.domain = NULL;
	cr_assert_eq(open_devices(), 0);
}

/* LF#4719, LF PR#3790: nothing is tried out to learn a size */
Test(promise_faults, getinfo_makes_no_queue)
{
	cr_assert_eq(net_open_domain(&n), 0);
	cr_assert_eq(fake_calls_of(FAKE_create_qp), 0);
	cr_assert_eq(fake_calls_of(FAKE_create_cq), 0);
}

/* LF#7368: the sizes, and what to do about it */
Test(promise_faults, queue_pair_that_cannot_be_made_is_told_with_its_sizes)
{
	n.hints->tx_attr->size = 123;
	n.hints->rx_attr->size = 456;
	cr_assert_eq(net_open(&n), 0);
	log_warnings();
	for (unsigned int i = 1; i <= 8; i++)
		fake_fail(FAKE_create_qp, i, ENOMEM);
	cr_assert_eq(net_endpoint(&n, 0, n.info), -FI_ENOMEM);
	fake_fail_none();
	rcm_log_prov = NULL;
	cr_assert_not_null(strstr(logged, "123 sends"), "%s", logged);
	cr_assert_not_null(strstr(logged, "456 receives"), "%s", logged);
	cr_assert_not_null(strstr(logged, "smaller"), "%s", logged);
}

/* Two that connect to each other at once, under ofi_rxm: nothing is wrong. */
Test(promise_faults, refusal_of_a_withdrawn_request_is_no_warning)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	log_warnings();
	fake_fail(FAKE_reject, 1, EINVAL);
	cr_assert_eq(fi_reject(n.pep, n.req->handle, NULL, 0), -FI_EINVAL);
	fake_fail_none();
	rcm_log_prov = NULL;
	cr_assert_str_empty(logged);
}

/* LF commit edcb33ae5 */
Test(promise_faults, atomics_without_the_capability_are_refused)
{
	struct fid_ep *ep;
	uint64_t value = 0;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
	ep = n.side[0].ep;
	cr_assert_lt(fi_atomic(ep, &value, 1, NULL, 0, 0, 0, FI_UINT64, FI_SUM,
			       NULL),
		     0);
	cr_assert_lt(fi_fetch_atomic(ep, &value, 1, NULL, &value, NULL, 0, 0, 0,
				     FI_UINT64, FI_SUM, NULL),
		     0);
	cr_assert_lt(fi_compare_atomic(ep, &value, 1, NULL, &value, NULL,
				       &value, NULL, 0, 0, 0, FI_UINT64,
				       FI_CSWAP, NULL),
		     0);
	cr_assert_eq(net_exchange(&n, 0, 1, 8), 0);
}

/* LF commit 81820f8b7 */
Test(promise_faults, cancel_returns_no_positive_value)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
	cr_assert_leq(fi_cancel(&n.side[0].ep->fid, &n), 0);
	cr_assert_eq(net_recv(&n, 0, 0, 64, &n), 0);
	cr_assert_leq(fi_cancel(&n.side[0].ep->fid, &n), 0);
}
