/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Two threads wait for one completion queue without a limit of time while
 * messages come one at a time (fabtests#197, LF#8947): no wake-up is lost. A
 * signal ends each of them.
 */

#include "mt.h"

#define MESSAGES 3000

static struct net n;
static atomic_uint received;
static atomic_bool done;

static void *wait_for_messages(void *arg)
{
	struct fi_cq_data_entry e;

	(void)arg;
	while (!atomic_load(&done)) {
		ssize_t ret = fi_cq_sread(n.side[1].cq, &e, 1, NULL, -1);

		MT_CHECK(ret == 1 || ret == -FI_EAGAIN);
		if (ret == 1)
			atomic_fetch_add(&received, 1);
	}
	return NULL;
}

static void *finish(void *arg)
{
	atomic_uint *left = arg;

	wait_for_messages(NULL);
	atomic_fetch_sub(left, 1);
	return NULL;
}

int main(void)
{
	atomic_uint left = 2;
	pthread_t threads[2];

	mt_open(&n);
	MT_CHECK(net_join(&n) == 0);
	for (int i = 0; i < 2; i++)
		threads[i] = mt_start(finish, &left);
	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct net_comp comp;

		MT_CHECK(net_recv(&n, 1, 0, 64, NULL) == 0);
		MT_CHECK(net_send(&n, 0, 0, 64, NULL) == 0);
		MT_CHECK(net_comp(&n, n.side[0].cq, &comp) == 0);
		while (atomic_load(&received) <= i)
			sched_yield();
	}
	atomic_store(&done, true);
	while (atomic_load(&left)) {
		MT_CHECK(fi_cq_signal(n.side[1].cq) == 0);
		sched_yield();
	}
	for (int i = 0; i < 2; i++)
		mt_join(threads[i]);
	net_end(&n);
	return 0;
}
