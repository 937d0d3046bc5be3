/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * fi_getinfo from four threads, with and without FI_RESCAN, while devices
 * come and go (LF commits 30e655426, 8c15cdb61).
 */

#include <string.h>

#include "mt.h"
#include "rcm_dev.h"
#include "rcm_getinfo.h"
#include "rcm_offer.h"

#define ROUNDS 200

static const struct fake_dev_conf conf[] = {
	{ .name = "a", .addrs = { "10.1.0.1" } },
	{ .name = "b", .ifname = "feth1", .addrs = { "10.2.0.1", "fd77::2" } },
};

static void *ask(void *arg)
{
	uint64_t flags = (uintptr_t)arg ? RCM_GETINFO_RESCAN : 0;
	struct fi_info *info;

	for (int i = 0; i < ROUNDS; i++) {
		int ret = rcm_getinfo(FI_VERSION(1, 17), NULL, NULL, flags,
				      NULL, &info);

		MT_CHECK(ret == 0 || ret == -FI_ENODATA);
		if (ret)
			continue;
		MT_CHECK(strcmp(info->domain_attr->name, "a") == 0 ||
			 strcmp(info->domain_attr->name, "b") == 0);
		fi_freeinfo(info);
	}
	return NULL;
}

static void *plug(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < ROUNDS; i++)
		fake_set_devs(&conf[i % 2], 1 + i % 3 / 2 * !(i % 2));
	return NULL;
}

int main(void)
{
	pthread_t threads[5];

	fake_install_devs(conf, 2);
	rcm_dev_list_reset();
	for (uintptr_t i = 0; i < 4; i++)
		threads[i] = mt_start(ask, (void *)(i % 2));
	threads[4] = mt_start(plug, NULL);
	for (int i = 0; i < 5; i++)
		mt_join(threads[i]);
	rcm_dev_list_reset();
	MT_CHECK(fake_remove() == 0);
	return 0;
}
