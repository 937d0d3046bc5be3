/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Two endpoints with a completion queue each use up the receives of one
 * shared context, which a thread of its own posts. Two threads send, two
 * read, and a third endpoint comes and goes. Every message arrives once, and
 * the queue, which is short, has all its slots again in the end. LF#9336.
 */

#include "mt.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES 3000 /* to each endpoint */
#define SLOTS	 32

static struct net n;
static struct fid_cq *cq[2];
static struct fid_ep *peer[2], *ep[2];
static atomic_uint received, next_id;
static atomic_bool over;
static unsigned char seen[2 * MESSAGES];

/* Contexts are the places of buffers; a place is free once it was read. */
static atomic_bool busy[2 * SLOTS];

static int free_place(void)
{
	for (int i = 0; i < 2 * SLOTS; i++)
		if (!atomic_exchange(&busy[i], true))
			return i;
	return -1;
}

static void *post(void *arg)
{
	struct net_side *s = &n.side[1];
	ssize_t ret;

	while (!atomic_load(&over)) {
		int place = free_place();
		uint8_t *buf = s->buf + (size_t)64 * (place < 0 ? 0 : place);

		ret = place < 0 ? -FI_EAGAIN :
				  fi_recv(s->srx, buf, 64, s->desc, 0, buf);
		MT_CHECK(ret == 0 || ret == -FI_EAGAIN);
		if (ret && place >= 0)
			atomic_store(&busy[place], false);
		if (ret)
			sched_yield();
	}
	return arg;
}

static void *send_all(void *arg)
{
	struct fid_ep *to = arg;
	ssize_t ret;

	for (int i = 0; i < MESSAGES; i++) {
		unsigned int id = atomic_fetch_add(&next_id, 1);

		while ((ret = fi_inject(to, &id, sizeof(id), 0)) == -FI_EAGAIN)
			sched_yield();
		MT_CHECK(ret == 0);
	}
	return NULL;
}

static void *read_all(void *arg)
{
	struct fi_cq_data_entry e[4];
	unsigned int id;

	while (atomic_load(&received) < 2 * MESSAGES) {
		ssize_t ret = fi_cq_sread(arg, e, 4, NULL, 5);

		MT_CHECK(ret > 0 || ret == -FI_EAGAIN);
		for (ssize_t i = 0; i < ret; i++) {
			uint8_t *buf = e[i].op_context;

			MT_CHECK(e[i].len == sizeof(id));
			memcpy(&id, buf, sizeof(id));
			MT_CHECK(id < 2 * MESSAGES);
			seen[id]++;
			atomic_store(&busy[(buf - n.side[1].buf) / 64], false);
			atomic_fetch_add(&received, 1);
		}
	}
	atomic_store(&over, true);
	return NULL;
}

/* An endpoint that is never connected, but shares all the same. */
static void *come_and_go(void *arg)
{
	struct fi_info *info = arg;

	while (!atomic_load(&over)) {
		struct fid_ep *guest = NULL;

		MT_CHECK(net_make_ep(&n, 1, info, &guest) == 0);
		MT_CHECK(fi_close(&guest->fid) == 0);
		sched_yield();
	}
	return NULL;
}

static void open_all(void)
{
	struct net_side *s = &n.side[1];

	net_begin(&n, NULL, 0);
	fake_be_patient();
	n.hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	n.hints->rx_attr->size = SLOTS;
	n.cq_attr.wait_obj = FI_WAIT_FD;
	MT_CHECK(net_open(&n) == 0);
	MT_CHECK(fi_srx_context(n.domain, n.info->rx_attr, &s->srx, NULL) == 0);
	MT_CHECK(net_listen(&n) == 0);
	n.info->ep_attr->rx_ctx_cnt = 1;
	cq[0] = s->cq;
	MT_CHECK(fi_cq_open(n.domain, &n.cq_attr, &cq[1], NULL) == 0);
	for (int i = 0; i < 2; i++) {
		s->cq = cq[i];
		MT_CHECK(net_join_more(&n, &peer[i], &ep[i]) == 0);
	}
}

/* All slots can be posted again: none was lost. */
static void check_slots(void)
{
	struct net_side *s = &n.side[1];
	int posted = 0, left = 0;

	for (int i = 0; i < 2 * SLOTS; i++)
		left += atomic_load(&busy[i]);
	while (fi_recv(s->srx, s->buf, 64, s->desc, 0, NULL) == 0)
		posted++;
	MT_CHECK(posted + left == SLOTS);
}

int main(void)
{
	struct fi_info *info;
	pthread_t threads[6];
	int t = 0;

	open_all();
	info = fi_dupinfo(n.info);
	MT_CHECK(info);
	info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	threads[t++] = mt_start(post, NULL);
	for (int i = 0; i < 2; i++) {
		threads[t++] = mt_start(send_all, peer[i]);
		threads[t++] = mt_start(read_all, cq[i]);
	}
	threads[t++] = mt_start(come_and_go, info);
	while (t)
		mt_join(threads[--t]);
	for (int i = 0; i < 2 * MESSAGES; i++)
		MT_CHECK(seen[i] == 1);
	check_slots();
	for (int i = 0; i < 2; i++) {
		MT_CHECK(fi_close(&ep[i]->fid) == 0);
		MT_CHECK(fi_close(&peer[i]->fid) == 0);
	}
	fi_freeinfo(info);
	n.side[1].cq = cq[0];
	n.side[1].rx_cq = cq[1];
	net_end(&n);
	return 0;
}
