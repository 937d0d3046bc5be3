/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <criterion/criterion.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "fake.h"
#include "rcm_dev.h"
#include "rcm_domain.h"
#include "rcm_ep.h"
#include "rcm_fabric.h"
#include "rcm_getinfo.h"
#include "rcm_param.h"
#include "rcm_tclass.h"

static int tos_of(uint32_t tclass)
{
	int tos = -99;

	cr_assert_eq(rcm_tclass_tos(tclass, &tos), 0, "class 0x%x", tclass);
	return tos;
}

Test(tclass, code_point_is_taken_as_it_is)
{
	rcm_param.tos = 8;
	cr_assert_eq(tos_of(fi_tc_dscp_set(0)), 0);
	cr_assert_eq(tos_of(fi_tc_dscp_set(26)), 26 << 2);
	cr_assert_eq(tos_of(fi_tc_dscp_set(63)), 63 << 2);
}

Test(tclass, label_has_a_code_point_of_its_own)
{
	rcm_param.tos = -1;
	cr_assert_eq(tos_of(FI_TC_LOW_LATENCY), 18 << 2);
	cr_assert_eq(tos_of(FI_TC_DEDICATED_ACCESS), 46 << 2);
	cr_assert_eq(tos_of(FI_TC_BULK_DATA), 10 << 2);
	cr_assert_eq(tos_of(FI_TC_SCAVENGER), 8 << 2);
	cr_assert_eq(tos_of(FI_TC_NETWORK_CTRL), 48 << 2);
}

Test(tclass, label_is_what_the_variable_says)
{
	rcm_param.tos = 104;
	cr_assert_eq(tos_of(FI_TC_LOW_LATENCY), 104);
	cr_assert_eq(tos_of(FI_TC_BULK_DATA), 104);
}

Test(tclass, none_and_best_effort_are_the_variable_or_the_systems)
{
	rcm_param.tos = -1;
	cr_assert_eq(tos_of(FI_TC_UNSPEC), -1);
	cr_assert_eq(tos_of(FI_TC_BEST_EFFORT), -1);
	rcm_param.tos = 104;
	cr_assert_eq(tos_of(FI_TC_UNSPEC), 104);
	cr_assert_eq(tos_of(FI_TC_BEST_EFFORT), 104);
}

Test(tclass, unknown_class_is_invalid)
{
	const uint32_t unknown[] = { 1, fi_tc_dscp_set(64), FI_TC_LABEL + 6,
				     FI_TC_LABEL | FI_TC_DSCP, 1u << 31 };
	int tos = 7;

	for (size_t i = 0; i < RCM_ARRAY_SIZE(unknown); i++)
		cr_expect_eq(rcm_tclass_tos(unknown[i], &tos), -FI_EINVAL,
			     "class 0x%x", unknown[i]);
	cr_assert_eq(tos, 7);
}

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;

static void setup(void)
{
	rcm_param.tos = -1;
	fake_install();
	cr_assert_eq(rcm_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, NULL, &info),
		     0);
	cr_assert_eq(rcm_fabric_open(info->fabric_attr, &fabric, NULL), 0);
	info->domain_attr->tclass = FI_TC_SCAVENGER;
	cr_assert_eq(fi_domain(fabric, info, &domain, NULL), 0);
	info->domain_attr->tclass = FI_TC_UNSPEC;
}

static void teardown(void)
{
	fi_close(&domain->fid);
	fi_close(&fabric->fid);
	fi_freeinfo(info);
	rcm_dev_list_reset();
	if (fake_remove())
		abort(); /* an assertion here would not count */
}

TestSuite(tclass_ep, .init = setup, .fini = teardown);

/* The type of service that an endpoint of INFO would connect with. */
static int tos_of_ep(void)
{
	struct fid_ep *ep;
	int tos;

	cr_assert_eq(fi_endpoint(domain, info, &ep, NULL), 0);
	tos = rcm_ep_of(ep)->conn->cfg.tos;
	fi_close(&ep->fid);
	return tos;
}

Test(tclass_ep, class_is_the_endpoints_or_its_infos_or_the_domains)
{
	cr_assert_eq(tos_of_ep(), 8 << 2);
	info->domain_attr->tclass = FI_TC_BULK_DATA;
	cr_assert_eq(tos_of_ep(), 10 << 2);
	info->tx_attr->tclass = FI_TC_LOW_LATENCY;
	cr_assert_eq(tos_of_ep(), 18 << 2);
}

Test(tclass_ep, unknown_class_makes_no_endpoint)
{
	struct fid_ep *ep;

	info->tx_attr->tclass = 1;
	cr_assert_eq(fi_endpoint(domain, info, &ep, NULL), -FI_EINVAL);
}
