/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* What each threading level takes and spares (design D10, fi_domain(3)). */

#include <criterion/criterion.h>

#include "fake.h"
#include "net.h"
#include "rcm_base.h"
#include "rcm_cq.h"
#include "rcm_ep.h"

static struct net n;

/* Two endpoints of LEVEL that have exchanged messages. */
static void open_level(enum fi_threading level, enum fi_progress control,
		       const struct fake_dev_conf *conf)
{
	net_begin(&n, conf, conf ? 1 : 0);
	n.hints->domain_attr->threading = level;
	n.hints->domain_attr->control_progress = control;
	if (control == FI_PROGRESS_AUTO)
		fake_be_patient();
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_exchange(&n, 0, 3, 16), 0);
	cr_assert_eq(net_exchange(&n, 1, 3, 4096), 0);
}

static bool takes_locks(void)
{
	struct rcm_ep *ep = rcm_ep_of(n.side[0].ep);
	bool locks = rcm_cq_of(n.side[0].cq)->set.lock.enabled;

	cr_assert_eq(ep->qp.sq.lock.enabled, locks);
	cr_assert_eq(ep->qp.rq.lock.enabled, locks);
	cr_assert(ep->eq->lock.enabled); /* it belongs to no domain */
	return locks;
}

/* LF#5244 */
Test(level, each_takes_what_leaves_two_threads_able_to_meet)
{
	static const struct {
		enum fi_threading level;
		bool locks;
	} levels[] = {
		{ FI_THREAD_UNSPEC, true },	 { FI_THREAD_SAFE, true },
		{ FI_THREAD_FID, true },	 { FI_THREAD_ENDPOINT, true },
		{ FI_THREAD_COMPLETION, false }, { FI_THREAD_DOMAIN, false },
	};

	for (size_t i = 0; i < RCM_ARRAY_SIZE(levels); i++) {
		bool alone = levels[i].level == FI_THREAD_DOMAIN;

		open_level(levels[i].level, FI_PROGRESS_UNSPEC, NULL);
		cr_assert_eq(takes_locks(), levels[i].locks);
		/* a thread domain is for one thread */
		cr_assert_eq(fake_n_unlocked_qps(), alone ? 2 : 0);
		net_end(&n);
	}
}

/* fi_domain(3) lets an info be changed by hand before it is opened. */
Test(level, deprecated_level_at_fi_domain_takes_locks)
{
	struct fid_domain *domain;
	struct fid_cq *cq;

	net_begin(&n, NULL, 0);
	cr_assert_eq(net_open_domain(&n), 0);
	n.info->domain_attr->threading = FI_THREAD_ENDPOINT;
	cr_assert_eq(fi_domain(n.fabric, n.info, &domain, NULL), 0);
	cr_assert_eq(fi_cq_open(domain, &n.cq_attr, &cq, NULL), 0);
	cr_assert(rcm_cq_of(cq)->set.lock.enabled);
	cr_assert_eq(fi_close(&cq->fid), 0);
	cr_assert_eq(fi_close(&domain->fid), 0);
	net_end(&n);
}

Test(level, control_thread_makes_all_locks_real)
{
	open_level(FI_THREAD_DOMAIN, FI_PROGRESS_AUTO, NULL);
	cr_assert(takes_locks());
	cr_assert_eq(fake_n_unlocked_qps(), 0);
	net_end(&n);
}

/* As soft-RoCE. */
Test(level, device_without_thread_domains_goes_without)
{
	static const struct fake_dev_conf plain = {
		.name = "fake0",
		.ifname = "feth0",
		.addrs = { "10.77.0.1" },
		.no_td = true,
	};

	open_level(FI_THREAD_DOMAIN, FI_PROGRESS_UNSPEC, &plain);
	cr_assert_not(takes_locks());
	cr_assert_eq(fake_n_unlocked_qps(), 0);
	net_end(&n);
}
