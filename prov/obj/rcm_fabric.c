/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_fabric.h"

#include <stdlib.h>

#include <rdma/fi_eq.h>

#include "rcm_cq.h"
#include "rcm_domain.h"
#include "rcm_eq.h"
#include "rcm_log.h"
#include "rcm_pep.h"

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

static int rcm_fabric_wait_open(struct fid_fabric *fabric,
				struct fi_wait_attr *attr,
				struct fid_wait **waitset)
{
	(void)fabric;
	(void)attr;
	(void)waitset;
	return -FI_ENOSYS;
}

static int rcm_trywait_one(struct fid *fid)
{
	switch (fid->fclass) {
	case FI_CLASS_EQ:
		return rcm_eq_trywait(fid);
	case FI_CLASS_CQ:
		return rcm_cq_trywait(fid);
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
		ret = rcm_trywait_one(fids[i]);
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
	.wait_open = rcm_fabric_wait_open,
	.trywait = rcm_fabric_trywait,
	.domain2 = rcm_domain_open2,
};

int rcm_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context)
{
	struct rcm_fabric *f;

	if (!attr || !fabric)
		return -FI_EINVAL;
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
