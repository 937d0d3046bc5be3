/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_srq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_sys.h"

int rcm_srq_open(struct rcm_srq *srq, const struct rcm_srq_attr *attr)
{
	struct ibv_srq_init_attr init = {
		.srq_context = srq,
		.attr = { .max_wr = attr->size, .max_sge = attr->sge },
	};
	uint32_t i;
	int ret;

	memset(srq, 0, sizeof(*srq));
	srq->slots = calloc(attr->size, sizeof(*srq->slots));
	if (!srq->slots)
		return -FI_ENOMEM;
	srq->srq = rcm_sys->create_srq(attr->pd, &init);
	if (!srq->srq) {
		ret = -rcm_err_from_errno(errno);
		RCM_WARN(EP_CTRL,
			 "no shared receive queue of %u receives (%u buffers "
			 "each): %s",
			 attr->size, attr->sge, fi_strerror(-ret));
		free(srq->slots);
		memset(srq, 0, sizeof(*srq));
		return ret;
	}
	srq->size = attr->size;
	srq->lends = attr->lends;
	srq->leases.pd = attr->pd;
	srq->leases.access = IBV_ACCESS_LOCAL_WRITE;
	for (i = 0; i < attr->size; i++)
		srq->slots[i].next = i + 1 < attr->size ? i + 1 : RCM_SRQ_NONE;
	atomic_init(&srq->returned, RCM_SRQ_NONE);
	rcm_lock_init(&srq->lock, RCM_RANK_RECV, attr->locked);
	return 0;
}

/* The device has let go of what nobody has used up. */
static void rcm_srq_drop_leases(struct rcm_srq *srq)
{
	uint32_t i;

	for (i = 0; i < srq->size; i++)
		if (atomic_load(&srq->slots[i].state))
			rcm_lease_put(srq->slots[i].lease);
}

void rcm_srq_close(struct rcm_srq *srq)
{
	uint32_t used = rcm_srq_used(srq);
	int ret = rcm_sys->destroy_srq(srq->srq);

	if (used)
		RCM_INFO(EP_CTRL,
			 "a shared receive queue goes with %u receives in it",
			 used);
	if (ret)
		RCM_WARN(EP_CTRL, "destroying a shared receive queue: %s",
			 fi_strerror(-ret));
	if (used && srq->lends)
		rcm_srq_drop_leases(srq);
	rcm_lock_fini(&srq->lock);
	free(srq->slots);
	memset(srq, 0, sizeof(*srq));
}

/* Under the queue's lock, for it is the poster who fills slots. */
static uint32_t rcm_srq_count_used(struct rcm_srq *srq)
{
	uint32_t i, used = 0;

	for (i = 0; i < srq->size; i++)
		used += atomic_load(&srq->slots[i].state) != 0;
	return used;
}

uint32_t rcm_srq_used(struct rcm_srq *srq)
{
	uint32_t used;

	rcm_lock(&srq->lock);
	used = rcm_srq_count_used(srq);
	rcm_unlock(&srq->lock);
	return used;
}

bool rcm_srq_has(struct rcm_srq *srq, const void *context)
{
	bool found = false;
	uint32_t i;

	rcm_lock(&srq->lock);
	for (i = 0; i < srq->size && !found; i++)
		found = atomic_load(&srq->slots[i].state) &&
			srq->slots[i].context == context;
	rcm_unlock(&srq->lock);
	return found;
}

/* The next free slot, which stays where it is; RCM_SRQ_NONE without one. */
static inline uint32_t rcm_srq_first_free(struct rcm_srq *srq)
{
	if (rcm_unlikely(srq->free == RCM_SRQ_NONE))
		srq->free = atomic_exchange_explicit(
			&srq->returned, RCM_SRQ_NONE, memory_order_acquire);
	return srq->free;
}

static inline ssize_t rcm_srq_post_locked(struct rcm_srq *srq,
					  const struct ibv_sge *sge,
					  uint32_t n_sge, void *context,
					  bool wants_entry,
					  struct rcm_lease *lease)
{
	uint32_t i = rcm_srq_first_free(srq);
	struct rcm_srq_slot *slot;
	struct ibv_recv_wr wr, *bad;
	ssize_t ret;
	int err;

	if (rcm_unlikely(i == RCM_SRQ_NONE))
		return -FI_EAGAIN;
	/* before the post, since it may complete before that returns */
	slot = &srq->slots[i];
	srq->free = slot->next;
	slot->context = context;
	slot->lease = lease;
	atomic_store_explicit(&slot->state,
			      RCM_SRQ_POSTED |
				      (wants_entry ? RCM_SRQ_ENTRY : 0),
			      memory_order_release);
	wr.wr_id = RCM_WR_SRQ | i;
	wr.next = NULL;
	wr.sg_list = (struct ibv_sge *)sge;
	wr.num_sge = (int)n_sge;
	err = ibv_post_srq_recv(srq->srq, &wr, &bad);
	if (rcm_likely(!err))
		return 0;

	atomic_store_explicit(&slot->state, 0, memory_order_relaxed);
	slot->next = srq->free;
	srq->free = i;
	ret = rcm_err_from_post(err);
	/* nothing would end an -FI_EAGAIN */
	return ret == -FI_EAGAIN && !rcm_srq_count_used(srq) ? -FI_ENOMEM : ret;
}

/* The device is told at once: a receive's doorbell is no system call. */
ssize_t rcm_srq_post(struct rcm_srq *srq, const struct ibv_sge *sge,
		     uint32_t n_sge, void *context, bool wants_entry)
{
	ssize_t ret;

	rcm_lock(&srq->lock);
	ret = rcm_srq_post_locked(srq, sge, n_sge, context, wants_entry, NULL);
	rcm_unlock(&srq->lock);
	return ret;
}

/* Registering takes long, and no lock: first see whether it is any use. */
ssize_t rcm_srq_post_lending(struct rcm_srq *srq, struct ibv_sge *sge,
			     uint32_t n_sge, void *context, bool wants_entry)
{
	struct rcm_lease *lease = NULL;
	ssize_t ret;
	bool full;

	rcm_lock(&srq->lock);
	full = rcm_srq_first_free(srq) == RCM_SRQ_NONE;
	rcm_unlock(&srq->lock);
	if (full)
		return -FI_EAGAIN;
	ret = rcm_lease_get(&srq->leases, sge, n_sge, false, &lease);
	if (ret)
		return ret;
	rcm_lock(&srq->lock);
	ret = rcm_srq_post_locked(srq, sge, n_sge, context, wants_entry, lease);
	rcm_unlock(&srq->lock);
	if (ret)
		rcm_lease_put(lease);
	return ret;
}
