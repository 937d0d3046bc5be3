/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_pollset.h"

#include <stdlib.h>

#include "rcm_cntr.h"
#include "rcm_cq.h"
#include "rcm_domain.h"
#include "rcm_list.h"
#include "rcm_lock.h"
#include "rcm_log.h"
#include "rcm_obj.h"

struct rcm_pollset {
	struct fid_poll fid;
	struct rcm_domain *domain;
	struct rcm_lock lock; /* members, and what they have seen */
	struct rcm_list members;
	atomic_uint n_idle; /* for rcm_drive_idle() */
};

struct rcm_pollset_member {
	struct rcm_list node;
	struct fid *fid;
	struct rcm_ref *refs; /* the object's */
	/* of a counter, when it was last looked at */
	uint64_t value, errors;
	unsigned int n_writes;
};

static struct rcm_pollset *rcm_pollset_of(struct fid *fid)
{
	return rcm_container_of(fid, struct rcm_pollset, fid.fid);
}

static struct rcm_pollset_member *rcm_pollset_find(struct rcm_pollset *set,
						   const struct fid *fid)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&set->members, node, tmp) {
		struct rcm_pollset_member *member =
			rcm_list_entry(node, struct rcm_pollset_member, node);

		if (member->fid == fid)
			return member;
	}
	return NULL;
}

/*
 * Whether the counter has changed since the last look. A value that was
 * written by the application and counted up to the old one again has, too.
 */
static bool rcm_pollset_cntr_changed(struct rcm_pollset_member *member)
{
	struct rcm_cntr *cntr = rcm_container_of(member->fid, struct rcm_cntr,
						 fid.fid);
	unsigned int n_writes;
	uint64_t value, errors;
	bool changed;

	(void)rcm_cntr_progress(cntr, false);
	n_writes = atomic_load(&cntr->n_writes);
	value = atomic_load(&cntr->tally.value);
	errors = atomic_load(&cntr->tally.errors);
	changed = value != member->value || errors != member->errors ||
		  n_writes != member->n_writes;
	member->value = value;
	member->errors = errors;
	member->n_writes = n_writes;
	return changed;
}

static bool rcm_pollset_has_event(struct rcm_pollset_member *member)
{
	if (member->fid->fclass == FI_CLASS_CNTR)
		return rcm_pollset_cntr_changed(member);
	return rcm_cqset_gather(
		&rcm_container_of(member->fid, struct rcm_cq, fid.fid)->set, 1);
}

/* For which there is no room any more: driven, and told of another time. */
static void rcm_pollset_drive(struct rcm_pollset_member *member)
{
	if (member->fid->fclass == FI_CLASS_CNTR)
		(void)rcm_cntr_progress(
			rcm_container_of(member->fid, struct rcm_cntr, fid.fid),
			false);
	else
		(void)rcm_pollset_has_event(member);
}

/* Each gets its turn where there are more than may be told of. */
static void rcm_pollset_rotate(struct rcm_pollset *set)
{
	struct rcm_list *first = set->members.next;

	rcm_list_del(first);
	rcm_list_add(&set->members, first);
}

static int rcm_pollset_poll(struct fid_poll *fid, void **context, int count)
{
	struct rcm_pollset *set = rcm_pollset_of(&fid->fid);
	struct rcm_list *node, *tmp;
	int n = 0;

	if (count < 0 || (count && !context))
		return -FI_EINVAL;
	rcm_lock(&set->lock);
	rcm_list_for_each(&set->members, node, tmp) {
		struct rcm_pollset_member *member =
			rcm_list_entry(node, struct rcm_pollset_member, node);

		if (n == count)
			rcm_pollset_drive(member);
		else if (rcm_pollset_has_event(member))
			context[n++] = member->fid->context;
	}
	if (n && n == count)
		rcm_pollset_rotate(set);
	rcm_unlock(&set->lock);
	if (!n)
		rcm_drive_idle(&set->domain->drive, &set->n_idle);
	return n;
}

/* The count of users of what may be in a set of DOMAIN; NULL for the rest. */
static struct rcm_ref *rcm_pollset_refs(const struct rcm_domain *domain,
					struct fid *fid)
{
	struct rcm_cntr *cntr;
	struct rcm_cq *cq;

	if (fid && fid->fclass == FI_CLASS_CQ) {
		cq = rcm_container_of(fid, struct rcm_cq, fid.fid);
		return cq->domain == domain ? &cq->refs : NULL;
	}
	if (fid && fid->fclass == FI_CLASS_CNTR) {
		cntr = rcm_container_of(fid, struct rcm_cntr, fid.fid);
		return cntr->domain == domain ? &cntr->refs : NULL;
	}
	return NULL;
}

static int rcm_pollset_add(struct fid_poll *fid, struct fid *event_fid,
			   uint64_t flags)
{
	struct rcm_pollset *set = rcm_pollset_of(&fid->fid);
	struct rcm_ref *refs = rcm_pollset_refs(set->domain, event_fid);
	struct rcm_pollset_member *member;
	int ret = 0;

	if (flags)
		return -FI_EBADFLAGS;
	if (!refs)
		return -FI_EINVAL;
	member = calloc(1, sizeof(*member));
	if (!member)
		return -FI_ENOMEM;
	member->fid = event_fid;
	member->refs = refs;
	rcm_lock(&set->lock);
	if (rcm_pollset_find(set, event_fid)) {
		free(member);
		ret = -FI_EALREADY;
	} else {
		if (event_fid->fclass == FI_CLASS_CNTR)
			(void)rcm_pollset_cntr_changed(member);
		rcm_ref_get(refs);
		rcm_list_add(&set->members, &member->node);
	}
	rcm_unlock(&set->lock);
	return ret;
}

static int rcm_pollset_del(struct fid_poll *fid, struct fid *event_fid,
			   uint64_t flags)
{
	struct rcm_pollset *set = rcm_pollset_of(&fid->fid);
	struct rcm_pollset_member *member;

	if (flags)
		return -FI_EBADFLAGS;
	rcm_lock(&set->lock);
	member = rcm_pollset_find(set, event_fid);
	if (member) {
		rcm_list_del(&member->node);
		rcm_ref_put(member->refs);
	}
	rcm_unlock(&set->lock);
	free(member);
	return member ? 0 : -FI_EINVAL;
}

static int rcm_pollset_close(struct fid *fid)
{
	struct rcm_pollset *set = rcm_pollset_of(fid);
	struct rcm_domain *domain = set->domain;

	if (!rcm_list_empty(&set->members)) {
		RCM_INFO(DOMAIN, "poll set still has members");
		return -FI_EBUSY;
	}
	rcm_lock_fini(&set->lock);
	free(set);
	rcm_ref_put(&domain->refs);
	return 0;
}

static struct fi_ops rcm_pollset_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_pollset_close,
	.bind = rcm_no_bind,
	.control = rcm_no_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static struct fi_ops_poll rcm_pollset_ops = {
	.size = sizeof(struct fi_ops_poll),
	.poll = rcm_pollset_poll,
	.poll_add = rcm_pollset_add,
	.poll_del = rcm_pollset_del,
};

int rcm_pollset_open(struct fid_domain *fid, struct fi_poll_attr *attr,
		     struct fid_poll **out)
{
	struct rcm_domain *domain = rcm_domain_of(fid);
	struct rcm_pollset *set;

	if (attr && attr->flags)
		return -FI_EBADFLAGS;
	set = calloc(1, sizeof(*set));
	if (!set)
		return -FI_ENOMEM;
	set->domain = domain;
	rcm_lock_init(&set->lock, RCM_RANK_SET, domain->locked);
	rcm_list_init(&set->members);
	set->fid.fid.fclass = FI_CLASS_POLL;
	set->fid.fid.ops = &rcm_pollset_fi_ops;
	set->fid.ops = &rcm_pollset_ops;
	rcm_ref_get(&domain->refs);
	*out = &set->fid;
	return 0;
}
