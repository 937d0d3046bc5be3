/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_fabric.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_eq.h>

#include "rcm_cntr.h"
#include "rcm_cq.h"
#include "rcm_dev.h"
#include "rcm_domain.h"
#include "rcm_eq.h"
#include "rcm_info.h"
#include "rcm_log.h"
#include "rcm_pep.h"
#include "rcm_waitset.h"

static int rcm_fabric_close(struct fid *fid)
{
	struct rcm_fabric *fabric = rcm_container_of(fid, struct rcm_fabric,
						     fid.fid);
	int refs = rcm_ref_count(&fabric->refs);

	if (refs) {
		RCM_INFO(FABRIC, "fabric still has %d open objects", refs);
		return -FI_EBUSY;
	}
	free(fabric);
	return 0;
}

int rcm_trywait(struct fid *fid)
{
	switch (fid->fclass) {
	case FI_CLASS_EQ:
		return rcm_eq_trywait(fid);
	case FI_CLASS_CQ:
		return rcm_cq_trywait(fid);
	case FI_CLASS_CNTR:
		return rcm_cntr_trywait(fid);
	case FI_CLASS_WAIT:
		return rcm_waitset_trywait(fid);
	default:
		return -FI_EINVAL;
	}
}

/*
 * fi_trywait(3). All are tried even when one is not ready to be waited for:
 * each try also readies its object, and the caller's next try is cheaper.
 */
static int rcm_fabric_trywait(struct fid_fabric *fabric, struct fid **fids,
			      int count)
{
	int i, ret, result = 0;

	(void)fabric;
	for (i = 0; i < count; i++) {
		ret = rcm_trywait(fids[i]);
		if (ret && (!result || result == -FI_EAGAIN))
			result = ret;
	}
	return result;
}

static struct fi_ops rcm_fabric_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_fabric_close,
	.bind = rcm_no_bind,
	.control = rcm_no_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static struct fi_ops_fabric rcm_fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = rcm_domain_open,
	.passive_ep = rcm_pep_open,
	.eq_open = rcm_eq_open,
	.wait_open = rcm_waitset_open,
	.trywait = rcm_fabric_trywait,
	.domain2 = rcm_domain_open2,
};

static bool rcm_fabric_has_dev(const char *name, const struct rcm_dev *dev)
{
	const struct rcm_dev_port *port;
	char buf[RCM_FABRIC_NAME];
	unsigned int i;

	for (i = 0; dev->usable && i < dev->n_addrs; i++) {
		port = rcm_dev_port(dev, dev->addrs[i].port_num);
		if (port && !strcmp(name, rcm_info_fabric_name(dev, port, buf)))
			return true;
	}
	return false;
}

/* Whether a device of this machine is on the fabric of this name. */
static int rcm_fabric_check_name(const char *name)
{
	struct rcm_dev_list *list = rcm_dev_list_get(false);
	unsigned int i;
	int ret = -FI_ENODATA;

	if (!list)
		return -FI_ENOMEM;
	for (i = 0; ret && i < list->n; i++)
		if (rcm_fabric_has_dev(name, &list->devs[i]))
			ret = 0;
	rcm_dev_list_put(list);
	if (ret)
		RCM_INFO(FABRIC, "no device is on a fabric named %s", name);
	return ret;
}

int rcm_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context)
{
	struct rcm_fabric *f;
	int ret;

	if (!attr || !fabric)
		return -FI_EINVAL;
	ret = attr->name ? rcm_fabric_check_name(attr->name) : 0;
	if (ret)
		return ret;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -FI_ENOMEM;
	rcm_ref_init(&f->refs);
	f->fid.fid.fclass = FI_CLASS_FABRIC;
	f->fid.fid.context = context;
	f->fid.fid.ops = &rcm_fabric_fi_ops;
	f->fid.ops = &rcm_fabric_ops;
	f->fid.api_version = attr->api_version;
	*fabric = &f->fid;
	return 0;
}
