/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Two threads send on one endpoint, two post receives on its peer, and two
 * read each completion queue: every operation completes exactly once, and
 * those who post get on beside those who read all the time (LF#7053).
 */

#include "mt.h"

#define MESSAGES 4000 /* of each posting thread */

static struct net n;
static atomic_uint sent, received;

static void *post_sends(void *arg)
{
	struct net_side *s = &n.side[0];
	uintptr_t count = 0;

	while (count < MESSAGES) {
		ssize_t ret = fi_send(s->ep, s->buf, 16 + count % 512, s->desc,
				      0, arg);

		MT_CHECK(ret == 0 || ret == -FI_EAGAIN);
		if (ret)
			sched_yield();
		else
			count++;
	}
	return NULL;
}

static void *post_recvs(void *arg)
{
	struct net_side *s = &n.side[1];
	unsigned int count = 0;

	while (count < MESSAGES) {
		ssize_t ret = fi_recv(s->ep, s->buf, 1024, s->desc, 0, arg);

		MT_CHECK(ret == 0 || ret == -FI_EAGAIN);
		if (ret)
			sched_yield();
		else
			count++;
	}
	return NULL;
}

static void read_all(struct fid_cq *cq, atomic_uint *done)
{
	struct fi_cq_data_entry e[8];

	while (atomic_load(done) < 2 * MESSAGES) {
		ssize_t ret = fi_cq_sread(cq, e, 8, NULL, 20);

		MT_CHECK(ret > 0 || ret == -FI_EAGAIN);
		if (ret > 0)
			atomic_fetch_add(done, (unsigned int)ret);
	}
}

static void *read_sends(void *arg)
{
	(void)arg;
	read_all(n.side[0].cq, &sent);
	return NULL;
}

static void *read_recvs(void *arg)
{
	(void)arg;
	read_all(n.side[1].cq, &received);
	return NULL;
}

int main(void)
{
	void *(*const fn[])(void *) = { post_sends, post_recvs, read_sends,
					read_recvs };
	pthread_t threads[8];

	mt_open(&n);
	MT_CHECK(net_join(&n) == 0);
	for (int i = 0; i < 8; i++)
		threads[i] = mt_start(fn[i % 4], NULL);
	for (int i = 0; i < 8; i++)
		mt_join(threads[i]);
	MT_CHECK(atomic_load(&sent) == 2 * MESSAGES);
	MT_CHECK(atomic_load(&received) == 2 * MESSAGES);
	net_end(&n);
	return 0;
}
