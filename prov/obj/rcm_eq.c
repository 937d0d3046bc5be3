/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_eq.h"

#include <stdlib.h>
#include <string.h>

#include "rcm_err.h"
#include "rcm_fabric.h"
#include "rcm_log.h"
#include "rcm_pep.h"

int rcm_eq_trywait(struct fid *fid)
{
	struct rcm_eq *eq = rcm_container_of(fid, struct rcm_eq, fid.fid);
	int ret;

	if (eq->wait.epfd < 0)
		return -FI_EINVAL;
	rcm_lock(&eq->lock);
	eq->n_reads++;
	ret = rcm_eq_progress(eq);
	if (!ret && !rcm_list_empty(&eq->queue))
		ret = -FI_EAGAIN;
	rcm_unlock(&eq->lock);
	return ret;
}

static void rcm_eq_teardown(struct rcm_eq *eq)
{
	struct rcm_eq_entry *entry;

	rcm_waitset_leave(&eq->member);
	rcm_progress_stop(eq);
	while ((entry = rcm_list_first(&eq->queue, struct rcm_eq_entry,
				       node))) {
		rcm_list_del(&entry->node);
		rcm_eq_entry_free(entry);
	}
	rcm_connreq_drop_all(eq);
	rcm_wait_close(&eq->wait);
	rcm_chan_close(&eq->chan);
	free(eq->err_data);
	rcm_lock_fini(&eq->defer_lock);
	rcm_lock_fini(&eq->lock);
	free(eq);
}

static int rcm_eq_close(struct fid *fid)
{
	struct rcm_eq *eq = rcm_container_of(fid, struct rcm_eq, fid.fid);
	struct rcm_fabric *fabric = eq->fabric;
	int refs = rcm_ref_count(&eq->refs);

	if (refs) {
		RCM_INFO(EQ, "event queue still has %d bound endpoints", refs);
		return -FI_EBUSY;
	}
	rcm_eq_teardown(eq);
	rcm_ref_put(&fabric->refs);
	return 0;
}

static int rcm_eq_control(struct fid *fid, int command, void *arg)
{
	struct rcm_eq *eq = rcm_container_of(fid, struct rcm_eq, fid.fid);

	return rcm_waitset_control(&eq->member, &eq->wait, eq->wait_obj,
				   command, arg);
}

static struct fi_ops rcm_eq_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_eq_close,
	.bind = rcm_no_bind,
	.control = rcm_eq_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static int rcm_eq_open_wait(struct rcm_eq *eq, struct fid_wait *set)
{
	int ret;

	if (eq->wait_obj == FI_WAIT_NONE || eq->wait_obj == FI_WAIT_YIELD)
		return 0;
	ret = rcm_wait_open(&eq->wait);
	if (!ret)
		ret = rcm_wait_add(&eq->wait, eq->chan.fd);
	if (!ret && eq->wait_obj == FI_WAIT_SET)
		ret = rcm_waitset_join(&eq->member, set, eq->fabric,
				       &eq->fid.fid, eq->wait.epfd);
	return ret;
}

static void rcm_eq_init(struct rcm_eq *eq, struct rcm_fabric *fabric)
{
	eq->fabric = fabric;
	eq->wait.epfd = -1;
	rcm_ref_init(&eq->refs);
	/* an EQ belongs to no domain: its lock is real at each threading */
	rcm_lock_init(&eq->lock, RCM_RANK_EQ, true);
	rcm_lock_init(&eq->defer_lock, RCM_RANK_DEFER, true);
	rcm_list_init(&eq->queue);
	rcm_list_init(&eq->reqs);
	rcm_list_init(&eq->watches);
	rcm_list_init(&eq->deferred);
	rcm_progress_init(&eq->progress);
}

int rcm_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **eq_fid, void *context)
{
	enum fi_wait_obj wait_obj = FI_WAIT_NONE;
	struct rcm_eq *eq;
	int ret;

	ret = attr ? rcm_wait_choose(FI_LOG_EQ, (int)attr->wait_obj,
				     &wait_obj) :
		     0;
	if (ret)
		return ret;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	rcm_eq_init(eq, rcm_fabric_of(fabric));
	eq->wait_obj = wait_obj;
	eq->may_write = attr && (attr->flags & FI_WRITE);
	ret = rcm_chan_open(&eq->chan);
	if (ret) {
		RCM_WARN(EQ, "no event channel of rdma_cm: %s",
			 fi_strerror(-ret));
		goto err;
	}
	eq->fid.fid.fclass = FI_CLASS_EQ;
	eq->fid.fid.context = context;
	eq->fid.fid.ops = &rcm_eq_fi_ops;
	eq->fid.ops = &rcm_eq_ops;
	/* last: from here on the set's reader may come by */
	ret = rcm_eq_open_wait(eq, attr ? attr->wait_set : NULL);
	if (ret)
		goto err;
	rcm_ref_get(&eq->fabric->refs);
	*eq_fid = &eq->fid;
	return 0;

err:
	rcm_eq_teardown(eq);
	return ret;
}
