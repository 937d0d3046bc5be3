/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>

#include "rcm_base.h"
#include "rcm_dev.h"
#include "rcm_fabric.h"
#include "rcm_getinfo.h"
#include "rcm_log.h"
#include "rcm_offer.h"
#include "rcm_param.h"

/* The newest interface that rcm was tested with. */
#define RCM_FI_VERSION_MAX FI_VERSION(2, 6)

struct fi_provider *fi_prov_ini(void);

static pid_t rcm_owner;

/*
 * Runs in the core's destructor, after this library's own, so nothing here
 * may depend on a destructor or an atexit handler. A child of fork() that
 * calls exit() comes here, too: what is open belongs to its parent.
 */
static void rcm_cleanup(void)
{
	if (getpid() == rcm_owner)
		rcm_dev_list_reset();
}

/* Writable: the core keeps its own data in .context. */
static struct fi_provider rcm_provider = {
	.name = "rcm",
	.version = RCM_PROV_VERSION,
	.getinfo = rcm_getinfo,
	.fabric = rcm_fabric_open,
	.cleanup = rcm_cleanup,
};

/*
 * fi_provider(7). Runs in every libfabric process, also those that never use
 * rcm, and under a lock of the core: opens nothing, starts no thread, calls
 * nothing of the core but fi_version, fi_log* and fi_param_*.
 */
__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void)
{
	if (rcm_owner == getpid())
		return &rcm_provider;
	rcm_owner = getpid();
	rcm_log_prov = &rcm_provider;

	/*
	 * The core passes over a provider that is older than what an
	 * application asks for, and a core that is newer than any that was
	 * tested may have changed what its structs hold.
	 */
	rcm_provider.fi_version = RCM_MIN(fi_version(), RCM_FI_VERSION_MAX);
	rcm_param_init(&rcm_provider);
	return &rcm_provider;
}
