/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* fi_cq(3), fi_eq(3): a blocked reader returns when its thread is signaled. */

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "net.h"
#include "rcm_cq.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	n.eq_attr.wait_obj = FI_WAIT_FD;
	n.cq_attr.wait_obj = FI_WAIT_FD;
	cr_assert_eq(net_open(&n), 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(promise_wait, .init = set_up, .fini = tear_down, .timeout = 30);

static void on_alarm(int number)
{
	(void)number;
}

/* A signal that is handled, again and again: none is missed for good. */
static void signal_every_10_ms(void)
{
	struct sigaction act = { .sa_handler = on_alarm,
				 .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } };

	cr_assert_eq(sigaction(SIGALRM, &act, NULL), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &every, NULL), 0);
}

Test(promise_wait, signal_ends_an_endless_read_of_completions)
{
	struct fi_cq_data_entry entry;

	signal_every_10_ms();
	cr_assert_eq(fi_cq_sread(n.side[0].cq, &entry, 1, NULL, -1),
		     -FI_EAGAIN);
}

Test(promise_wait, signal_ends_an_endless_read_of_events)
{
	uint32_t event;
	char buf[64];

	signal_every_10_ms();
	cr_assert_eq(fi_eq_sread(n.side[0].eq, &event, buf, sizeof(buf), -1, 0),
		     -FI_EAGAIN);
}

#define READERS 3

static void *read_for_ever(void *arg)
{
	struct fi_cq_data_entry entry;

	(void)arg;
	return (void *)fi_cq_sread(n.side[0].cq, &entry, 1, NULL, -1);
}

static unsigned int readers(void)
{
	struct rcm_cq *cq = rcm_cq_of(n.side[0].cq);
	unsigned int count;

	pthread_mutex_lock(&cq->signal_lock);
	count = cq->n_readers;
	pthread_mutex_unlock(&cq->signal_lock);
	return count;
}

/* fi_cq(3): any thread that waits, and none that comes later */
Test(promise_wait, signal_wakes_every_reader_that_waits)
{
	struct fi_cq_data_entry entry;
	pthread_t threads[READERS];
	void *ret;

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < READERS; i++)
			cr_assert_eq(pthread_create(&threads[i], NULL,
						    read_for_ever, NULL),
				     0);
		while (readers() < READERS)
			sched_yield();
		cr_assert_eq(fi_cq_signal(n.side[0].cq), 0);
		for (int i = 0; i < READERS; i++) {
			cr_assert_eq(pthread_join(threads[i], &ret), 0);
			cr_assert_eq((ssize_t)ret, -FI_EAGAIN);
		}
		cr_assert_eq(readers(), 0);
		cr_assert_not(rcm_cq_of(n.side[0].cq)->signaled);
	}
	cr_assert_eq(fi_cq_sread(n.side[0].cq, &entry, 1, NULL, 0), -FI_EAGAIN);
	/* one that found nobody is for the next, and only for that */
	cr_assert_eq(fi_cq_signal(n.side[0].cq), 0);
	cr_assert_eq(fi_cq_sread(n.side[0].cq, &entry, 1, NULL, -1),
		     -FI_EAGAIN);
	cr_assert_not(rcm_cq_of(n.side[0].cq)->signaled);
}
