/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Endpoints are made, enabled, filled with receives and closed by three
 * threads while a pair on the same queues exchanges messages (LF#10569,
 * LF#10736): the pair is not disturbed, and each receive comes back once.
 */

#include "mt.h"

#define ROUNDS	 200
#define RECVS	 5
#define MESSAGES 2000
#define OPENERS	 3

static struct net n;
static atomic_uint cancelled, received;
static atomic_bool done;

static void *open_and_close(void *arg)
{
	struct net_side *s = &n.side[1];
	struct fid_ep *ep;

	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		MT_CHECK(net_make_ep(&n, 1, n.info, &ep) == 0);
		for (int k = 0; k < RECVS; k++)
			MT_CHECK(fi_recv(ep, s->buf + 4096, 64, s->desc, 0,
					 NULL) == 0);
		MT_CHECK(fi_close(&ep->fid) == 0);
	}
	return NULL;
}

/* Sends as long as receives are there; the queue holds more than that. */
static void *exchange(void *arg)
{
	struct net_side *a = &n.side[0], *b = &n.side[1];

	(void)arg;
	for (int i = 0; i < MESSAGES; i++) {
		struct fi_cq_data_entry e;
		ssize_t ret;

		MT_CHECK(fi_recv(b->ep, b->buf, 512, b->desc, 0, &n) == 0);
		MT_CHECK(fi_send(a->ep, a->buf, 512, a->desc, 0, NULL) == 0);
		ret = fi_cq_sread(a->cq, &e, 1, NULL, -1);
		MT_CHECK(ret == 1);
		while (atomic_load(&received) + 300 < (unsigned int)i)
			sched_yield();
	}
	return NULL;
}

static void read_errors(struct fid_cq *cq)
{
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = fi_cq_readerr(cq, &err, 0);

	/* two readers may see the same entry announced */
	if (ret == -FI_EAGAIN)
		return;
	MT_CHECK(ret == 1 && err.err == FI_ECANCELED && !err.op_context);
	atomic_fetch_add(&cancelled, 1);
}

static void *read_queue(void *arg)
{
	struct fi_cq_data_entry e;

	(void)arg;
	for (;;) {
		ssize_t ret = fi_cq_sread(n.side[1].cq, &e, 1, NULL, 10);

		if (ret == 1) {
			MT_CHECK(e.op_context == &n);
			atomic_fetch_add(&received, 1);
		} else if (ret == -FI_EAVAIL) {
			read_errors(n.side[1].cq);
		} else {
			MT_CHECK(ret == -FI_EAGAIN);
			if (atomic_load(&done))
				return NULL;
		}
	}
}

int main(void)
{
	pthread_t work[OPENERS + 1], readers[2];

	mt_open(&n);
	MT_CHECK(net_join(&n) == 0);
	for (int i = 0; i < 2; i++)
		readers[i] = mt_start(read_queue, NULL);
	for (int i = 0; i <= OPENERS; i++)
		work[i] = mt_start(i < OPENERS ? open_and_close : exchange,
				   NULL);
	for (int i = 0; i <= OPENERS; i++)
		mt_join(work[i]);
	atomic_store(&done, true);
	for (int i = 0; i < 2; i++)
		mt_join(readers[i]);
	MT_CHECK(atomic_load(&received) == MESSAGES);
	MT_CHECK(atomic_load(&cancelled) == OPENERS * ROUNDS * RECVS);
	net_end(&n);
	return 0;
}
