/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Buffers of FI_MULTI_RECV and ordinary receives, posted by two threads,
 * canceled by a third, read by two, while a sender keeps sending: every
 * posted receive ends exactly once. For ThreadSanitizer above all.
 */

#include <string.h>

#include "mt.h"

#define POSTS	1200 /* of each posting thread */
#define BUF	400
#define MESSAGE 100

/* One posted receive: how often it has ended. */
struct posted {
	atomic_int ended;
	bool is_multi;
};

static struct net n;
static struct posted posted[2 * POSTS];
static atomic_int n_posted, n_ended, n_canceled;
static atomic_bool over;

static ssize_t post_one(struct net_side *s, struct posted *p)
{
	struct iovec iov = { s->buf, p->is_multi ? BUF : MESSAGE };
	struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &s->desc,
		.iov_count = 1,
		.context = p,
	};

	return fi_recvmsg(s->ep, &msg, p->is_multi ? FI_MULTI_RECV : 0);
}

static void *post(void *arg)
{
	struct posted *p = arg;
	int i;

	for (i = 0; i < POSTS; i++, p++) {
		ssize_t ret;

		p->is_multi = i % 5 == 0;
		while ((ret = post_one(&n.side[1], p)) == -FI_EAGAIN)
			sched_yield();
		MT_CHECK(ret == 0);
		atomic_fetch_add(&n_posted, 1);
	}
	return NULL;
}

/* Tries its luck; who wins is seen in the entries. */
static void *cancel(void *arg)
{
	unsigned int i = 0;

	(void)arg;
	while (!atomic_load(&over)) {
		struct posted *p = &posted[i++ * 7 % (2 * POSTS)];
		int ret;

		if (atomic_load(&p->ended))
			continue;
		ret = (int)fi_cancel(&n.side[1].ep->fid, p);
		MT_CHECK(ret == 0 || ret == -FI_ENOENT || ret == -FI_ENOSYS);
		if (!ret)
			atomic_fetch_add(&n_canceled, 1);
		sched_yield();
	}
	return NULL;
}

static void *send_all(void *arg)
{
	struct net_side *s = &n.side[0];
	char byte;

	(void)arg;
	while (!atomic_load(&over)) {
		ssize_t ret = fi_inject(s->ep, s->buf, MESSAGE, 0);

		MT_CHECK(ret == 0 || ret == -FI_EAGAIN);
		if (!ret)
			continue;
		(void)fi_cq_read(s->cq, &byte, 0);
		sched_yield();
	}
	return NULL;
}

static void end_one(struct posted *p)
{
	MT_CHECK(!atomic_fetch_add(&p->ended, 1));
	if (atomic_fetch_add(&n_ended, 1) + 1 == 2 * POSTS)
		atomic_store(&over, true);
}

static void read_err(void)
{
	struct fi_cq_err_entry err = { 0 };

	if (fi_cq_readerr(n.side[1].cq, &err, 0) != 1)
		return; /* the other reader was first */
	MT_CHECK(err.err == FI_ECANCELED);
	end_one(err.op_context);
}

static void *read_all(void *arg)
{
	struct fi_cq_data_entry e[8];

	(void)arg;
	while (!atomic_load(&over)) {
		ssize_t i, ret = fi_cq_sread(n.side[1].cq, e, 8, NULL, 20);

		MT_CHECK(ret > 0 || ret == -FI_EAGAIN || ret == -FI_EAVAIL);
		if (ret == -FI_EAVAIL)
			read_err();
		for (i = 0; i < ret; i++) {
			struct posted *p = e[i].op_context;

			MT_CHECK(e[i].len == MESSAGE);
			MT_CHECK(!e[i].buf == !p->is_multi);
			if (!p->is_multi || (e[i].flags & FI_MULTI_RECV))
				end_one(p);
		}
	}
	return NULL;
}

int main(void)
{
	size_t min = MESSAGE;
	pthread_t threads[6];

	mt_open_caps(&n, FI_MULTI_RECV);
	MT_CHECK(net_join(&n) == 0);
	MT_CHECK(fi_setopt(&n.side[1].ep->fid, FI_OPT_ENDPOINT,
			   FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)) == 0);
	threads[0] = mt_start(post, posted);
	threads[1] = mt_start(post, posted + POSTS);
	threads[2] = mt_start(read_all, NULL);
	threads[3] = mt_start(read_all, NULL);
	threads[4] = mt_start(send_all, NULL);
	threads[5] = mt_start(cancel, NULL);
	for (int i = 0; i < 6; i++)
		mt_join(threads[i]);
	MT_CHECK(atomic_load(&n_ended) == 2 * POSTS);
	printf("%d receives, %d canceled\n", 2 * POSTS,
	       atomic_load(&n_canceled));
	net_end(&n);
	return 0;
}
