/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <criterion/criterion.h>
#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>

struct fi_provider *fi_prov_ini(void);

Test(init, entry_fills_every_slot)
{
	struct fi_provider *prov = fi_prov_ini();

	cr_assert_not_null(prov);
	cr_assert_str_eq(prov->name, "rcm");
	cr_assert_not_null(prov->getinfo);
	cr_assert_not_null(prov->fabric);
	cr_assert_not_null(prov->cleanup);
}

Test(init, version_is_the_running_core)
{
	cr_assert_eq(fi_prov_ini()->fi_version, fi_version());
}

Test(init, second_call_returns_the_same_provider)
{
	cr_assert_eq(fi_prov_ini(), fi_prov_ini());
}
