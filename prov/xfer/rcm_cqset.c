/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_cqset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_err.h"
#include "rcm_hwcq.h"
#include "rcm_lease.h"
#include "rcm_log.h"
#include "rcm_ring.h"
#include "rcm_stage.h"
#include "rcm_sys.h"
#include "rcm_wc.h"

/* work completions polled at a time; 48 bytes each, on the stack */
#define RCM_BATCH 16

static size_t rcm_cqset_entry_size(enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_TAGGED:
		return sizeof(struct fi_cq_tagged_entry);
	case FI_CQ_FORMAT_DATA:
		return sizeof(struct fi_cq_data_entry);
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	default:
		return sizeof(struct fi_cq_entry);
	}
}

static int rcm_cqset_open_channel(struct rcm_cqset *cs)
{
	struct ibv_comp_channel *channel;
	int flags;

	channel = rcm_sys->create_comp_channel(cs->attr.ctx);
	if (!channel)
		return -rcm_err_from_errno(errno);
	flags = fcntl(channel->fd, F_GETFL);
	if (flags < 0 || fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		int ret = -rcm_err_from_errno(errno);

		(void)rcm_sys->destroy_comp_channel(channel);
		return ret;
	}
	cs->channel = channel;
	return 0;
}

int rcm_cqset_need_channel(struct rcm_cqset *cs, int *fd)
{
	int ret = 0;

	rcm_lock(&cs->lock);
	if (!cs->channel && !cs->n_hw)
		ret = rcm_cqset_open_channel(cs);
	*fd = cs->channel ? cs->channel->fd : -1;
	rcm_unlock(&cs->lock);
	return ret;
}

int rcm_cqset_open(struct rcm_cqset *cs, const struct rcm_cqset_attr *attr)
{
	int ret;

	memset(cs, 0, sizeof(*cs));
	cs->attr = *attr;
	cs->entry_size = rcm_cqset_entry_size(attr->format);
	rcm_list_init(&cs->stages);
	rcm_lock_init(&cs->lock, RCM_RANK_CQ, attr->locked);
	rcm_lock_init(&cs->stage_lock, RCM_RANK_STAGE, attr->locked);
	ret = rcm_soft_open(&cs->soft);
	if (!ret && attr->channel)
		ret = rcm_cqset_open_channel(cs);
	if (ret) {
		rcm_cqset_close(cs);
		return ret;
	}
	cs->soft.ready = attr->ready;
	cs->soft.unread = attr->unread;
	cs->soft.user = attr->user;
	return 0;
}

void rcm_cqset_close(struct rcm_cqset *cs)
{
	rcm_hwcq_close_all(cs);
	if (cs->channel)
		(void)rcm_sys->destroy_comp_channel(cs->channel);
	if (cs->n_stray)
		RCM_INFO(CQ, "%llu completions belonged to nothing",
			 (unsigned long long)cs->n_stray);
	rcm_soft_close(&cs->soft);
	free(cs->rings);
	free(cs->sharing);
	rcm_lock_fini(&cs->lock);
	rcm_lock_fini(&cs->stage_lock);
	memset(cs, 0, sizeof(*cs));
}

int rcm_cqset_add_ring(struct rcm_cqset *cs, struct rcm_ring *ring)
{
	uint32_t i, size = RCM_MAX(2 * cs->n_rings, 4u);
	struct rcm_ring **rings;

	for (i = 0; i < cs->n_rings; i++)
		if (cs->rings[i] == &rcm_ring_free_number)
			break;
	if (i == cs->n_rings) {
		rings = realloc(cs->rings, size * sizeof(struct rcm_ring *));
		if (!rings)
			return -FI_ENOMEM;
		cs->rings = rings;
		while (cs->n_rings < size)
			rings[cs->n_rings++] = &rcm_ring_free_number;
	}
	cs->rings[i] = ring;
	ring->wr_id = (uint64_t)i << 32;
	return 0;
}

void rcm_cqset_del_ring(struct rcm_cqset *cs, struct rcm_ring *ring, bool clean)
{
	cs->rings[ring->wr_id >> 32] = clean ? &rcm_ring_free_number :
					       &rcm_ring_lost_number;
}

/* One entry in the user's format: each begins with the smaller ones. */
static inline void rcm_cqset_put(struct rcm_cqset *cs, void *buf,
				 const struct rcm_done *done)
{
	struct fi_cq_tagged_entry *entry = buf;

	entry->op_context = done->op_context;
	if (cs->entry_size == sizeof(struct fi_cq_entry))
		return;
	entry->flags = done->flags;
	entry->len = done->len;
	if (cs->entry_size == sizeof(struct fi_cq_msg_entry))
		return;
	entry->buf = done->buf;
	entry->data = done->data;
	if (cs->entry_size == sizeof(struct fi_cq_tagged_entry))
		entry->tag = 0;
}

/* Puts what WC owes into the software queue. There is room for one. */
static void rcm_cqset_keep(struct rcm_cqset *cs, const struct ibv_wc *wc)
{
	struct rcm_done done;

	if (wc->status != IBV_WC_SUCCESS)
		rcm_wc_failed(cs, wc);
	else if (rcm_wc_done(cs, wc, &done))
		rcm_wc_keep(cs, &done);
	rcm_lease_settle(&cs->ended);
}

static int rcm_cqset_poll(struct rcm_cqset *cs, struct rcm_hwcq *hw, int n,
			  struct ibv_wc *wc)
{
	int ret = ibv_poll_cq(hw->cq, n, wc);

	if (rcm_unlikely(ret < 0) && !cs->broken) {
		cs->broken = true;
		RCM_WARN(CQ, "polling a completion queue failed: %d", ret);
	}
	return ret;
}

int rcm_cqset_pull(struct rcm_cqset *cs, struct rcm_hwcq *hw, bool grow)
{
	struct ibv_wc wc[RCM_BATCH];
	uint32_t room;
	int i, n;

	if (grow)
		(void)rcm_soft_reserve(&cs->soft, RCM_BATCH);
	room = rcm_soft_room(&cs->soft);
	if (!room)
		return -FI_ENOMEM;
	n = rcm_cqset_poll(cs, hw, (int)RCM_MIN(room, RCM_BATCH), wc);
	for (i = 0; i < n; i++)
		rcm_cqset_keep(cs, &wc[i]);
	return n < 0 ? 0 : n;
}

/* The next hardware queue in turn; there is one. */
static inline struct rcm_hwcq *rcm_cqset_next_hw(struct rcm_cqset *cs)
{
	struct rcm_hwcq *hw = cs->hw[cs->next_hw];

	if (++cs->next_hw >= cs->n_hw)
		cs->next_hw = 0;
	return hw;
}

/*
 * Puts what N completions owe into the user's buffer. From the first failure
 * on, all goes to the software queue, to keep the order; it was empty, so a
 * batch fits. Returns the entries put.
 */
static inline __attribute__((always_inline)) size_t
rcm_cqset_convert(struct rcm_cqset *cs, const struct ibv_wc *wc, int n,
		  char *buf)
{
	struct rcm_done done;
	size_t put = 0;
	int i;

	for (i = 0; i < n; i++) {
		if (rcm_unlikely(wc[i].status != IBV_WC_SUCCESS ||
				 rcm_soft_count(&cs->soft))) {
			rcm_cqset_keep(cs, &wc[i]);
		} else if (rcm_wc_done(cs, &wc[i], &done)) {
			rcm_cqset_put(cs, buf, &done);
			buf += cs->entry_size;
			put++;
		}
	}
	return put;
}

static size_t rcm_cqset_poll_user(struct rcm_cqset *cs, struct rcm_hwcq *hw,
				  char *buf, size_t count)
{
	struct ibv_wc wc[RCM_BATCH];
	size_t put = 0;
	int n, want;

	do {
		want = (int)RCM_MIN(count - put, (size_t)RCM_BATCH);
		n = rcm_cqset_poll(cs, hw, want, wc);
		put += rcm_cqset_convert(cs, wc, n, buf + put * cs->entry_size);
	} while (n == want && put < count && !rcm_soft_count(&cs->soft));
	return put;
}

/* Gives out what waits in software, up to the first error entry. */
static size_t rcm_cqset_read_soft(struct rcm_cqset *cs, char *buf, size_t count)
{
	const struct rcm_comp *comp;
	struct rcm_done done;
	size_t put = 0;

	while (put < count && rcm_soft_count(&cs->soft)) {
		comp = rcm_soft_first(&cs->soft);
		if (comp->err)
			break;
		done.op_context = comp->op_context;
		done.flags = comp->flags;
		done.len = comp->len;
		done.buf = comp->buf;
		done.data = comp->data;
		rcm_soft_pop(&cs->soft);
		rcm_cqset_put(cs, buf, &done);
		buf += cs->entry_size;
		put++;
	}
	return put;
}

/* Polls what the software queue has room for; with GROW, room is made. */
static void rcm_cqset_progress(struct rcm_cqset *cs, bool grow)
{
	uint32_t i;

	for (i = 0; i < cs->n_hw; i++)
		while (rcm_cqset_pull(cs, cs->hw[i], grow) == RCM_BATCH)
			;
}

/* Any read at all: what waits in software first, then each hardware queue. */
static ssize_t rcm_cqset_read_all(struct rcm_cqset *cs, char *buf, size_t count)
{
	size_t put = 0;
	uint32_t i;

	if (!count)
		rcm_cqset_progress(cs, false);
	if (rcm_soft_count(&cs->soft))
		put = rcm_cqset_read_soft(cs, buf, count);
	for (i = 0; i < cs->n_hw; i++) {
		if (put == count || rcm_soft_count(&cs->soft))
			break;
		put += rcm_cqset_poll_user(cs, rcm_cqset_next_hw(cs),
					   buf + put * cs->entry_size,
					   count - put);
	}
	if (put)
		return (ssize_t)put;
	if (!rcm_soft_count(&cs->soft))
		return cs->broken ? -FI_EIO : -FI_EAGAIN;
	return rcm_soft_first(&cs->soft)->err ? -FI_EAVAIL : 0;
}

/* The usual read: one hardware queue, nothing in software, one batch. */
static inline __attribute__((always_inline)) ssize_t
rcm_cqset_read_locked(struct rcm_cqset *cs, char *buf, size_t count)
{
	struct ibv_wc wc[RCM_BATCH];
	size_t put;
	int n;

	if (rcm_unlikely(!cs->only_cq || rcm_soft_count(&cs->soft) ||
			 count - 1 >= RCM_BATCH))
		return rcm_cqset_read_all(cs, buf, count);
	n = ibv_poll_cq(cs->only_cq, (int)count, wc);
	if (!n)
		return -FI_EAGAIN;
	put = rcm_cqset_convert(cs, wc, n, buf);
	/* none to tell, or a failure of the polling itself, or an error */
	return rcm_likely(put) ? (ssize_t)put :
				 rcm_cqset_read_all(cs, buf, count);
}

/* Gives the leases of what is read back first, out of the others' way. */
static ssize_t rcm_cqset_unlock_ended(struct rcm_cqset *cs, ssize_t ret)
{
	struct rcm_lease *ended = rcm_lease_take(&cs->ended);

	rcm_unlock(&cs->lock);
	rcm_lease_put(ended);
	return ret;
}

ssize_t rcm_cqset_read(struct rcm_cqset *cs, void *buf, size_t count)
{
	bool idle = false;
	ssize_t ret;

	rcm_stage_flush_all(cs);
	rcm_lock(&cs->lock);
	ret = rcm_cqset_read_locked(cs, buf, count);
	if (rcm_unlikely(cs->ended != NULL))
		return rcm_cqset_unlock_ended(cs, ret);
	if (ret == -FI_EAGAIN)
		idle = !(++cs->n_idle % RCM_CQSET_IDLE);
	rcm_unlock(&cs->lock);
	if (rcm_unlikely(idle) && cs->attr.idle)
		cs->attr.idle(cs->attr.user);
	return ret;
}

int rcm_cqset_read_err(struct rcm_cqset *cs, struct rcm_comp *out)
{
	int ret = -FI_EAGAIN;

	rcm_lock(&cs->lock);
	if (rcm_soft_count(&cs->soft) && rcm_soft_first(&cs->soft)->err) {
		*out = *rcm_soft_first(&cs->soft);
		rcm_soft_pop(&cs->soft);
		ret = 0;
	}
	rcm_unlock(&cs->lock);
	return ret;
}

/* What came before makes no event: the caller polls afterwards. */
static int rcm_cqset_arm_all(struct rcm_cqset *cs)
{
	uint32_t i;

	rcm_hwcq_take_events(cs);
	for (i = 0; i < cs->n_hw; i++) {
		int ret = rcm_hwcq_arm(cs->hw[i]);

		if (ret)
			return ret;
	}
	return 0;
}

int rcm_cqset_arm(struct rcm_cqset *cs)
{
	int ret = 0;

	if (!cs->channel)
		return -FI_EINVAL;
	rcm_stage_flush_all(cs);
	rcm_lock(&cs->lock);
	if (!rcm_soft_is_ready(&cs->soft)) {
		ret = rcm_cqset_arm_all(cs);
		if (!ret)
			rcm_cqset_progress(cs, false);
	}
	if (!ret && rcm_soft_is_ready(&cs->soft))
		ret = -FI_EAGAIN;
	rcm_unlock(&cs->lock);
	return ret;
}

int rcm_cqset_settle(struct rcm_cqset *cs, bool arm)
{
	int ret = 0;

	rcm_stage_flush_all(cs);
	rcm_lock(&cs->lock);
	if (arm && cs->channel)
		ret = rcm_cqset_arm_all(cs);
	rcm_cqset_progress(cs, true);
	if (!ret && cs->broken)
		ret = -FI_EIO;
	rcm_unlock(&cs->lock);
	return ret;
}

uint32_t rcm_cqset_gather(struct rcm_cqset *cs, uint32_t want)
{
	uint32_t i, count;

	rcm_stage_flush_all(cs);
	rcm_lock(&cs->lock);
	count = rcm_soft_count(&cs->soft);
	if (count < want) /* without the room the read is just a shorter one */
		(void)rcm_soft_reserve(&cs->soft, want - count);
	for (i = 0; i < cs->n_hw; i++)
		while (rcm_soft_count(&cs->soft) < want &&
		       rcm_cqset_pull(cs, cs->hw[i], false) > 0)
			;
	count = cs->soft.errors ? want : rcm_soft_count(&cs->soft);
	rcm_unlock(&cs->lock);
	return count;
}

void rcm_cqset_set_wake(struct rcm_cqset *cs, uint32_t n)
{
	rcm_lock(&cs->lock);
	rcm_soft_set_wake(&cs->soft, n);
	rcm_unlock(&cs->lock);
}
