/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_cntr.h"

#include <stdlib.h>

#include <rdma/fi_errno.h>

#include "rcm_domain.h"
#include "rcm_log.h"
#include "rcm_offer.h"

/* An engine that adds to a counter, for one or more of its endpoints. */
struct rcm_cntr_link {
	struct rcm_list node;
	struct rcm_cqset *set;
	unsigned int refs;
	int fd; /* of the engine's channel, in the wait object; -1: none */
};

int rcm_cntr_progress(struct rcm_cntr *cntr, bool arm)
{
	struct rcm_list *node, *tmp;
	int ret = 0;

	rcm_lock(&cntr->lock);
	rcm_list_for_each(&cntr->links, node, tmp) {
		struct rcm_cntr_link *link =
			rcm_list_entry(node, struct rcm_cntr_link, node);
		int err = rcm_cqset_settle(link->set, arm && link->fd >= 0);

		if (!ret)
			ret = err;
	}
	rcm_unlock(&cntr->lock);
	return ret;
}

static struct rcm_cntr_link *rcm_cntr_find(struct rcm_cntr *cntr,
					   const struct rcm_cqset *set)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&cntr->links, node, tmp) {
		struct rcm_cntr_link *link =
			rcm_list_entry(node, struct rcm_cntr_link, node);

		if (link->set == set)
			return link;
	}
	return NULL;
}

/* Puts the channel of LINK's engine into the wait object, if both exist. */
static int rcm_cntr_listen(struct rcm_cntr *cntr, struct rcm_cntr_link *link)
{
	int ret;

	link->fd = -1;
	if (!rcm_cntr_has_fd(cntr))
		return 0;
	ret = rcm_cqset_need_channel(link->set, &link->fd);
	if (!ret && link->fd >= 0)
		ret = rcm_wait_add(&cntr->wait, link->fd);
	if (!ret && link->fd < 0) {
		atomic_fetch_add(&cntr->n_deaf, 1);
		RCM_INFO(CNTR, "a completion queue with FI_WAIT_NONE, already "
			       "in use, cannot wake who waits for a counter: "
			       "it is looked at every millisecond");
	}
	return ret;
}

static int rcm_cntr_add_link(struct rcm_cntr *cntr, struct rcm_cqset *set)
{
	struct rcm_cntr_link *link = calloc(1, sizeof(*link));
	int ret;

	if (!link)
		return -FI_ENOMEM;
	link->set = set;
	link->refs = 1;
	ret = rcm_cntr_listen(cntr, link);
	if (ret) {
		free(link);
		return ret;
	}
	rcm_list_add(&cntr->links, &link->node);
	return 0;
}

int rcm_cntr_attach(struct rcm_cntr *cntr, struct rcm_cqset *set)
{
	struct rcm_cntr_link *link;
	int ret = 0;

	rcm_lock(&cntr->lock);
	link = rcm_cntr_find(cntr, set);
	if (link)
		link->refs++;
	else
		ret = rcm_cntr_add_link(cntr, set);
	rcm_unlock(&cntr->lock);
	/* who sleeps already has not armed this one */
	rcm_cntr_changed(&cntr->tally);
	return ret;
}

void rcm_cntr_detach(struct rcm_cntr *cntr, struct rcm_cqset *set)
{
	struct rcm_cntr_link *link;

	rcm_lock(&cntr->lock);
	link = rcm_cntr_find(cntr, set);
	if (link && !--link->refs) {
		if (link->fd >= 0)
			rcm_wait_del(&cntr->wait, link->fd);
		else if (rcm_cntr_has_fd(cntr))
			atomic_fetch_sub(&cntr->n_deaf, 1);
		rcm_list_del(&link->node);
		free(link);
	}
	rcm_unlock(&cntr->lock);
}

int rcm_cntr_need_own(struct rcm_cntr *cntr)
{
	const struct rcm_cqset_attr attr = {
		.ctx = cntr->domain->ctx,
		.max_cqe = cntr->domain->attr.max_cqe,
		.format = FI_CQ_FORMAT_CONTEXT,
		.channel = rcm_cntr_has_fd(cntr),
		.locked = cntr->domain->locked,
		.unread = true,
	};
	int ret = 0;

	rcm_lock(&cntr->lock);
	if (!cntr->has_own)
		ret = rcm_cqset_open(&cntr->own, &attr);
	if (!ret)
		cntr->has_own = true;
	rcm_unlock(&cntr->lock);
	return ret;
}

static uint64_t rcm_cntr_read(struct fid_cntr *fid)
{
	struct rcm_cntr *cntr = rcm_cntr_of(fid);

	(void)rcm_cntr_progress(cntr, false);
	rcm_drive_idle(&cntr->domain->drive, &cntr->n_idle);
	return atomic_load(&cntr->tally.value);
}

static uint64_t rcm_cntr_readerr(struct fid_cntr *fid)
{
	struct rcm_cntr *cntr = rcm_cntr_of(fid);

	(void)rcm_cntr_progress(cntr, false);
	rcm_drive_idle(&cntr->domain->drive, &cntr->n_idle);
	return atomic_load(&cntr->tally.errors);
}

static int rcm_cntr_add(struct fid_cntr *fid, uint64_t value)
{
	struct rcm_cntr *cntr = rcm_cntr_of(fid);

	atomic_fetch_add(&cntr->tally.value, value);
	atomic_fetch_add(&cntr->n_writes, 1);
	rcm_cntr_changed(&cntr->tally);
	return 0;
}

static int rcm_cntr_adderr(struct fid_cntr *fid, uint64_t value)
{
	struct rcm_cntr *cntr = rcm_cntr_of(fid);

	atomic_fetch_add(&cntr->tally.errors, value);
	atomic_fetch_add(&cntr->n_writes, 1);
	rcm_cntr_changed(&cntr->tally);
	return 0;
}

static int rcm_cntr_set(struct fid_cntr *fid, uint64_t value)
{
	struct rcm_cntr *cntr = rcm_cntr_of(fid);

	atomic_store(&cntr->tally.value, value);
	atomic_fetch_add(&cntr->n_writes, 1);
	rcm_cntr_changed(&cntr->tally);
	return 0;
}

static int rcm_cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
	struct rcm_cntr *cntr = rcm_cntr_of(fid);

	atomic_store(&cntr->tally.errors, value);
	atomic_fetch_add(&cntr->n_writes, 1);
	rcm_cntr_changed(&cntr->tally);
	return 0;
}

/* fi_cntr(3) speaks of default flags, and names none that there could be. */
static int rcm_cntr_control(struct fid *fid, int command, void *arg)
{
	struct rcm_cntr *cntr = rcm_container_of(fid, struct rcm_cntr, fid.fid);

	if (!arg)
		return -FI_EINVAL;
	switch (command) {
	case FI_GETOPSFLAG:
		*(uint64_t *)arg = 0;
		return 0;
	case FI_SETOPSFLAG:
		return *(uint64_t *)arg ? -FI_EBADFLAGS : 0;
	default:
		return rcm_waitset_control(&cntr->member, &cntr->wait,
					   cntr->wait_obj, command, arg);
	}
}

/* What a failed open and a close have in common. */
static void rcm_cntr_free(struct rcm_cntr *cntr)
{
	if (cntr->has_own)
		rcm_cqset_close(&cntr->own);
	rcm_cntr_wait_close(cntr);
	rcm_lock_fini(&cntr->lock);
	free(cntr);
}

static int rcm_cntr_close(struct fid *fid)
{
	struct rcm_cntr *cntr = rcm_container_of(fid, struct rcm_cntr, fid.fid);
	struct rcm_domain *domain = cntr->domain;
	unsigned int waiters = atomic_load(&cntr->n_waiters);
	int refs = rcm_ref_count(&cntr->refs);

	if (refs || waiters) {
		RCM_INFO(CNTR, "counter has %d bindings and %u threads wait",
			 refs, waiters);
		return -FI_EBUSY;
	}
	rcm_cntr_free(cntr);
	rcm_ref_put(&domain->refs);
	return 0;
}

static struct fi_ops rcm_cntr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_cntr_close,
	.bind = rcm_no_bind,
	.control = rcm_cntr_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static struct fi_ops_cntr rcm_cntr_ops = {
	.size = sizeof(struct fi_ops_cntr),
	.read = rcm_cntr_read,
	.readerr = rcm_cntr_readerr,
	.add = rcm_cntr_add,
	.set = rcm_cntr_set,
	.wait = rcm_cntr_wait,
	.adderr = rcm_cntr_adderr,
	.seterr = rcm_cntr_seterr,
};

static int rcm_cntr_check_attr(const struct fi_cntr_attr *attr,
			       enum fi_wait_obj *used)
{
	if (attr->flags) {
		RCM_INFO(CNTR, "unknown flags %#llx",
			 (unsigned long long)attr->flags);
		return -FI_EBADFLAGS;
	}
	if ((int)attr->events != FI_CNTR_EVENTS_COMP &&
	    (int)attr->events != RCM_CNTR_BYTES) {
		RCM_INFO(CNTR, "unknown events %d", (int)attr->events);
		return -FI_EINVAL;
	}
	return rcm_wait_choose(FI_LOG_CNTR, (int)attr->wait_obj, used);
}

static struct rcm_cntr *rcm_cntr_new(struct rcm_domain *domain,
				     const struct fi_cntr_attr *attr,
				     void *context)
{
	struct rcm_cntr *cntr = calloc(1, sizeof(*cntr));

	if (!cntr)
		return NULL;
	cntr->domain = domain;
	cntr->tally.bytes = (int)attr->events == RCM_CNTR_BYTES;
	rcm_ref_init(&cntr->refs);
	rcm_list_init(&cntr->links);
	rcm_lock_init(&cntr->lock, RCM_RANK_CNTR, domain->locked);
	cntr->fid.fid.fclass = FI_CLASS_CNTR;
	cntr->fid.fid.context = context;
	cntr->fid.fid.ops = &rcm_cntr_fid_ops;
	cntr->fid.ops = &rcm_cntr_ops;
	return cntr;
}

int rcm_cntr_open(struct fid_domain *fid, struct fi_cntr_attr *attr,
		  struct fid_cntr **out, void *context)
{
	struct rcm_domain *domain = rcm_domain_of(fid);
	enum fi_wait_obj wait_obj;
	struct rcm_cntr *cntr;
	int ret;

	if (!attr)
		return -FI_EINVAL;
	ret = rcm_cntr_check_attr(attr, &wait_obj);
	if (ret)
		return ret;
	cntr = rcm_cntr_new(domain, attr, context);
	if (!cntr)
		return -FI_ENOMEM;
	cntr->wait_obj = wait_obj;
	ret = rcm_cntr_wait_open(cntr, attr->wait_set);
	if (ret) {
		rcm_cntr_free(cntr);
		return ret;
	}
	rcm_ref_get(&domain->refs);
	*out = &cntr->fid;
	return 0;
}
