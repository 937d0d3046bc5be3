/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Three threads wait for one counter without a limit of time, with other
 * thresholds each, while messages come one at a time and a fourth reads the
 * completion queue that they arrive in: no wake-up is lost. Then what another
 * thread adds wakes, and so does an error, and time-outs are each thread's own.
 */

#include "mt.h"
#include "rcm_cntr.h"

#define MESSAGES 2000

static struct net n;
static struct fid_cntr *cntr; /* of receives */
static atomic_uint reached[3];
static atomic_uint entries;
static atomic_bool done;

static int bind_counted(struct net *net, int side, struct fid_ep *ep)
{
	int ret = net_bind_cqs(net, side, ep);

	return ret || !side ? ret : fi_ep_bind(ep, &cntr->fid, FI_RECV);
}

/* Waits for every one, every second and every seventh message. */
static void *wait_for_messages(void *arg)
{
	static const unsigned int steps[] = { 1, 2, 7 };
	unsigned int step = steps[(atomic_uint *)arg - reached];

	for (unsigned int i = step; i <= MESSAGES; i += step) {
		MT_CHECK(fi_cntr_wait(cntr, i, -1) == 0);
		MT_CHECK(fi_cntr_read(cntr) >= i);
		atomic_store((atomic_uint *)arg, i);
	}
	return NULL;
}

static void *read_entries(void *arg)
{
	struct fi_cq_data_entry e[4];

	(void)arg;
	while (atomic_load(&entries) < MESSAGES) {
		ssize_t ret = fi_cq_sread(n.side[1].cq, e, 4, NULL, -1);

		MT_CHECK(ret > 0 || ret == -FI_EAGAIN);
		if (ret > 0)
			atomic_fetch_add(&entries, (unsigned int)ret);
	}
	return NULL;
}

static void send_one_at_a_time(void)
{
	for (unsigned int i = 1; i <= MESSAGES; i++) {
		struct net_comp comp;

		MT_CHECK(net_recv(&n, 1, 0, 64, NULL) == 0);
		MT_CHECK(net_send(&n, 0, 0, 64, NULL) == 0);
		MT_CHECK(net_comp(&n, n.side[0].cq, &comp) == 0);
		while (atomic_load(&reached[0]) < i ||
		       atomic_load(&reached[1]) < i / 2 * 2 ||
		       atomic_load(&reached[2]) < i / 7 * 7)
			sched_yield();
	}
}

static void *wait_for_more(void *arg)
{
	(void)arg;
	MT_CHECK(fi_cntr_wait(cntr, MESSAGES + 100, -1) == 0);
	atomic_store(&done, true);
	return NULL;
}

static void added_values_wake(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		threads[i] = mt_start(wait_for_more, NULL);
	for (int i = 0; i < 100; i++) {
		sched_yield();
		MT_CHECK(!atomic_load(&done));
		MT_CHECK(fi_cntr_add(cntr, 1) == 0);
	}
	for (int i = 0; i < 2; i++)
		mt_join(threads[i]);
}

static void *wait_for_error(void *arg)
{
	MT_CHECK(fi_cntr_wait(cntr, UINT64_MAX, -1) == -FI_EAVAIL);
	atomic_store((atomic_bool *)arg, true);
	return NULL;
}

/* A thread may come to wait after the error, so errors go on coming. */
static void errors_wake(void)
{
	atomic_bool woken = false;
	pthread_t thread = mt_start(wait_for_error, &woken);

	while (!atomic_load(&woken)) {
		MT_CHECK(fi_cntr_adderr(cntr, 1) == 0);
		sched_yield();
	}
	mt_join(thread);
	/* nobody is in it any more */
	MT_CHECK(fi_cntr_seterr(cntr, 0) == 0);
}

static void *wait_in_vain(void *arg)
{
	MT_CHECK(fi_cntr_wait(cntr, UINT64_MAX, 10 + (int)(uintptr_t)arg) ==
		 -FI_ETIMEDOUT);
	return NULL;
}

static void each_has_its_own_time_out(void)
{
	pthread_t threads[3];

	for (uintptr_t i = 0; i < 3; i++)
		threads[i] = mt_start(wait_in_vain, (void *)(i * 7));
	for (int i = 0; i < 3; i++)
		mt_join(threads[i]);
}

static void *wait_for_one(void *arg)
{
	MT_CHECK(fi_cntr_wait(arg, 1, -1) == 0);
	return NULL;
}

static void close_is_refused_while_somebody_waits(void)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *other;
	pthread_t thread;

	MT_CHECK(fi_cntr_open(n.domain, &attr, &other, NULL) == 0);
	thread = mt_start(wait_for_one, other);
	while (!atomic_load(&rcm_cntr_of(other)->n_waiters))
		sched_yield();
	MT_CHECK(fi_close(&other->fid) == -FI_EBUSY);
	MT_CHECK(fi_cntr_add(other, 1) == 0);
	mt_join(thread);
	MT_CHECK(fi_close(&other->fid) == 0);
}

int main(void)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_FD };
	pthread_t threads[4];

	mt_open(&n);
	MT_CHECK(fi_cntr_open(n.domain, &attr, &cntr, NULL) == 0);
	n.side[1].rx_cntr = cntr;
	n.bind_ep = bind_counted;
	MT_CHECK(net_join(&n) == 0);
	for (int i = 0; i < 3; i++)
		threads[i] = mt_start(wait_for_messages, &reached[i]);
	threads[3] = mt_start(read_entries, NULL);
	send_one_at_a_time();
	for (int i = 0; i < 4; i++)
		mt_join(threads[i]);
	added_values_wake();
	errors_wake();
	each_has_its_own_time_out();
	close_is_refused_while_somebody_waits();
	net_end(&n);
	return 0;
}
