/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_hwcq.h"

#include <errno.h>
#include <stdlib.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_cqset.h"
#include "rcm_dev.h"
#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_srq.h"
#include "rcm_sys.h"

/* acking takes a mutex, so it is done for this many events at a time */
#define RCM_ACK_BATCH 64

/* Entries for a new queue: doubling, so that many endpoints need few. */
static uint32_t rcm_hwcq_size(const struct rcm_cqset *cs, uint32_t need)
{
	uint64_t size = RCM_MAX(cs->attr.size, need);
	uint64_t total = 0;
	unsigned int i;

	for (i = 0; i < cs->n_hw; i++)
		total += cs->hw[i]->reserved;
	size = RCM_MAX(size, 2 * total);
	return (uint32_t)RCM_MIN(size, (uint64_t)cs->attr.max_cqe);
}

static struct ibv_cq *rcm_hwcq_create(struct rcm_cqset *cs, uint32_t need,
				      struct rcm_hwcq *hw)
{
	uint32_t size = rcm_hwcq_size(cs, need);
	struct ibv_cq *cq;

	cq = rcm_sys->create_cq(cs->attr.ctx, (int)size, hw, cs->channel,
				cs->attr.comp_vector);
	if (cq || size == need)
		return cq;
	/* what was wished for may be more than the device has left */
	RCM_INFO(CQ, "no completion queue of %u entries (%s), trying %u", size,
		 fi_strerror(rcm_err_from_errno(errno)), need);
	return rcm_sys->create_cq(cs->attr.ctx, (int)need, hw, cs->channel,
				  cs->attr.comp_vector);
}

static struct rcm_hwcq *rcm_hwcq_add(struct rcm_cqset *cs, uint32_t need,
				     int *err)
{
	char memlock[RCM_DEV_MEMLOCK] = "";
	struct rcm_hwcq **all, *hw;

	*err = -FI_ENOMEM;
	all = realloc(cs->hw, (cs->n_hw + 1) * sizeof(struct rcm_hwcq *));
	if (!all)
		return NULL;
	cs->hw = all;
	hw = calloc(1, sizeof(*hw));
	if (!hw)
		return NULL;
	hw->cq = rcm_hwcq_create(cs, need, hw);
	if (!hw->cq) {
		*err = -rcm_err_from_errno(errno);
		if (*err == -FI_ENOMEM)
			rcm_dev_memlock(memlock);
		RCM_WARN(CQ, "no completion queue of %u entries: %s%s", need,
			 fi_strerror(-*err), memlock);
		free(hw);
		return NULL;
	}
	*err = 0;
	hw->capacity = (uint32_t)hw->cq->cqe;
	/* a reader may have gone to sleep before there was a queue at all */
	if (cs->channel)
		(void)rcm_hwcq_arm(hw);
	cs->hw[cs->n_hw++] = hw;
	cs->only_cq = cs->n_hw == 1 ? hw->cq : NULL;
	return hw;
}

struct rcm_hwcq *rcm_hwcq_reserve(struct rcm_cqset *cs, uint32_t n, int *err)
{
	struct rcm_hwcq *hw = NULL;
	unsigned int i;

	if (n > (uint32_t)cs->attr.max_cqe) {
		RCM_WARN(CQ,
			 "an endpoint needs %u completion entries, the device "
			 "has %d in a queue",
			 n, cs->attr.max_cqe);
		*err = -FI_EINVAL;
		return NULL;
	}
	for (i = 0; i < cs->n_hw; i++) {
		hw = cs->hw[i];
		if (hw->capacity - hw->reserved >= n)
			break;
	}
	*err = 0;
	if (i == cs->n_hw)
		hw = rcm_hwcq_add(cs, n, err);
	if (hw)
		hw->reserved += n;
	return hw;
}

void rcm_hwcq_release(struct rcm_hwcq *hw, uint32_t n)
{
	hw->reserved -= n;
}

static void rcm_hwcq_ack(struct rcm_hwcq *hw, uint32_t batch)
{
	if (hw->unacked < batch)
		return;
	rcm_sys->ack_cq_events(hw->cq, hw->unacked);
	hw->unacked = 0;
}

void rcm_hwcq_close_all(struct rcm_cqset *cs)
{
	while (cs->n_hw) {
		struct rcm_hwcq *hw = cs->hw[--cs->n_hw];
		int ret;

		rcm_hwcq_ack(hw, 1); /* destroying waits for acks */
		ret = rcm_sys->destroy_cq(hw->cq);
		if (ret)
			RCM_WARN(CQ, "destroying a completion queue: %s",
				 fi_strerror(-ret));
		rcm_srq_drop_shares(hw);
		free(hw);
	}
	free(cs->hw);
	cs->hw = NULL;
}

void rcm_hwcq_take_events(struct rcm_cqset *cs)
{
	struct ibv_cq *cq;
	void *context;

	while (!rcm_sys->get_cq_event(cs->channel, &cq, &context)) {
		struct rcm_hwcq *hw = context;

		hw->armed = false;
		hw->unacked++;
		rcm_hwcq_ack(hw, RCM_ACK_BATCH);
	}
}

int rcm_hwcq_arm(struct rcm_hwcq *hw)
{
	int ret;

	if (hw->armed)
		return 0;
	ret = ibv_req_notify_cq(hw->cq, 0);
	if (ret)
		return -rcm_err_from_errno(ret < 0 ? errno : ret);
	hw->armed = true;
	return 0;
}
