/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_waitset.h"

#include <stdlib.h>

#include "rcm_log.h"

static struct rcm_waitset *rcm_waitset_of(struct fid *fid)
{
	return rcm_container_of(fid, struct rcm_waitset, fid.fid);
}

int rcm_waitset_join(struct rcm_waitset_member *member,
		     struct fid_wait *fid_set, struct rcm_fabric *fabric,
		     struct fid *fid, int fd)
{
	struct rcm_waitset *set;
	int ret;

	if (!fid_set || fid_set->fid.fclass != FI_CLASS_WAIT)
		return -FI_EINVAL;
	set = rcm_waitset_of(&fid_set->fid);
	if (set->fabric != fabric)
		return -FI_EINVAL;
	rcm_lock(&set->lock);
	ret = rcm_wait_add(&set->wait, fd);
	if (!ret) {
		member->set = set;
		member->fid = fid;
		member->fd = fd;
		rcm_list_add(&set->members, &member->node);
		rcm_ref_get(&set->refs);
	}
	rcm_unlock(&set->lock);
	return ret;
}

void rcm_waitset_leave(struct rcm_waitset_member *member)
{
	struct rcm_waitset *set = member->set;

	if (!set)
		return;
	rcm_lock(&set->lock);
	rcm_wait_del(&set->wait, member->fd);
	rcm_list_del(&member->node);
	rcm_unlock(&set->lock);
	member->set = NULL;
	rcm_ref_put(&set->refs);
}

int rcm_waitset_control(const struct rcm_waitset_member *member,
			const struct rcm_wait *wait, enum fi_wait_obj obj,
			int command, void *arg)
{
	const struct rcm_waitset *set = member ? member->set : NULL;

	switch (command) {
	case FI_GETWAIT:
		return set ? rcm_wait_get(&set->wait, set->wait_obj, arg) :
			     rcm_wait_get(wait, obj, arg);
	case FI_GETWAITOBJ:
		if (!arg)
			return -FI_EINVAL;
		*(enum fi_wait_obj *)arg = obj;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

/* All are tried, as by rcm_fabric_trywait(): each try readies its object. */
int rcm_waitset_trywait(struct fid *fid)
{
	struct rcm_waitset *set = rcm_waitset_of(fid);
	struct rcm_list *node, *tmp;
	int ret, result = 0;

	rcm_lock(&set->lock);
	rcm_list_for_each(&set->members, node, tmp) {
		ret = rcm_trywait(
			rcm_list_entry(node, struct rcm_waitset_member, node)
				->fid);
		if (ret && (!result || result == -FI_EAGAIN))
			result = ret;
	}
	rcm_unlock(&set->lock);
	return result;
}

/*
 * A member's fd may be readable with nothing to be had in the end, as after
 * the completion of an operation that is not told: so all are looked at again.
 */
static int rcm_waitset_wait(struct fid_wait *fid, int timeout)
{
	struct rcm_waitset *set = rcm_waitset_of(&fid->fid);
	int64_t deadline = rcm_wait_deadline(timeout);
	int ret;

	do {
		ret = rcm_waitset_trywait(&fid->fid);
		if (ret)
			return ret == -FI_EAGAIN ? 0 : ret;
		ret = rcm_wait_until(&set->wait, deadline);
	} while (ret > 0);
	return ret ? ret : -FI_ETIMEDOUT;
}

static int rcm_waitset_close(struct fid *fid)
{
	struct rcm_waitset *set = rcm_waitset_of(fid);
	struct rcm_fabric *fabric = set->fabric;
	int refs = rcm_ref_count(&set->refs);

	if (refs) {
		RCM_INFO(FABRIC, "wait set still has %d members", refs);
		return -FI_EBUSY;
	}
	rcm_wait_close(&set->wait);
	rcm_lock_fini(&set->lock);
	free(set);
	rcm_ref_put(&fabric->refs);
	return 0;
}

static int rcm_waitset_fid_control(struct fid *fid, int command, void *arg)
{
	struct rcm_waitset *set = rcm_waitset_of(fid);

	return rcm_waitset_control(NULL, &set->wait, set->wait_obj, command,
				   arg);
}

static struct fi_ops rcm_waitset_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_waitset_close,
	.bind = rcm_no_bind,
	.control = rcm_waitset_fid_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static struct fi_ops_wait rcm_waitset_ops = {
	.size = sizeof(struct fi_ops_wait),
	.wait = rcm_waitset_wait,
};

static int rcm_waitset_check_attr(const struct fi_wait_attr *attr)
{
	if (!attr)
		return -FI_EINVAL;
	if (attr->flags)
		return -FI_EBADFLAGS;
	switch (attr->wait_obj) {
	case FI_WAIT_UNSPEC:
	case FI_WAIT_FD:
	case FI_WAIT_POLLFD:
		return 0;
	case FI_WAIT_MUTEX_COND:
	case FI_WAIT_YIELD:
		RCM_INFO(FABRIC,
			 "wait object %d is not offered for a wait set: "
			 "FI_WAIT_UNSPEC, FD and POLLFD are",
			 (int)attr->wait_obj);
		return -FI_ENOSYS;
	default:
		return -FI_EINVAL;
	}
}

int rcm_waitset_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		     struct fid_wait **out)
{
	struct rcm_waitset *set;
	int ret = rcm_waitset_check_attr(attr);

	if (ret)
		return ret;
	set = calloc(1, sizeof(*set));
	if (!set)
		return -FI_ENOMEM;
	ret = rcm_wait_open(&set->wait);
	if (ret) {
		free(set);
		return ret;
	}
	set->fabric = rcm_fabric_of(fabric);
	set->wait_obj = attr->wait_obj == FI_WAIT_UNSPEC ? FI_WAIT_FD :
							   attr->wait_obj;
	rcm_ref_init(&set->refs);
	/* as an event queue, it belongs to no domain */
	rcm_lock_init(&set->lock, RCM_RANK_SET, true);
	rcm_list_init(&set->members);
	set->fid.fid.fclass = FI_CLASS_WAIT;
	set->fid.fid.ops = &rcm_waitset_fi_ops;
	set->fid.ops = &rcm_waitset_ops;
	rcm_ref_get(&set->fabric->refs);
	*out = &set->fid;
	return 0;
}
