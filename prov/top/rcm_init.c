/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

struct fi_provider *fi_prov_ini(void);

static int rcm_getinfo(uint32_t version, const char *node, const char *service,
		       uint64_t flags, const struct fi_info *hints,
		       struct fi_info **info)
{
	(void)version;
	(void)node;
	(void)service;
	(void)flags;
	(void)hints;
	(void)info;
	return -FI_ENODATA;
}

static int rcm_fabric_open(struct fi_fabric_attr *attr,
			   struct fid_fabric **fabric, void *context)
{
	(void)attr;
	(void)fabric;
	(void)context;
	return -FI_ENODATA;
}

static void rcm_cleanup(void)
{
}

/* writable: the core keeps its own data in .context */
static struct fi_provider rcm_provider = {
	.name = "rcm",
	.version = FI_VERSION(0, 1),
	.getinfo = rcm_getinfo,
	.fabric = rcm_fabric_open,
	.cleanup = rcm_cleanup,
};

/* hidden but for this one name; EXTERNALLY_VISIBLE is the core's own macro */
__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void)
{
	/* the core drops a provider that is older than what is asked for */
	rcm_provider.fi_version = fi_version();
	return &rcm_provider;
}
