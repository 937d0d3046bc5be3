/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Manual control progress, and nobody reads the event queue: fi_domain(3)
 * lets the application expect the end of an operation where it would have its
 * completion, and that is where it looks.
 */

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "fake.h"
#include "net.h"
#include "rcm_cntr.h"
#include "rcm_cq.h"
#include "rcm_domain.h"
#include "rcm_drive.h"
#include "rcm_eq.h"

/* The two sides' event queues take turns, and the second look at each acts. */
#define READS (4 * RCM_CQSET_IDLE)

static struct net n;
static struct fid_cntr *cntr; /* counts receives of side 1 */

static int bind_cntr(struct net *net, int side, struct fid_ep *ep)
{
	int ret = net_bind_cqs(net, side, ep);

	if (!ret && side == 1)
		ret = fi_ep_bind(ep, &cntr->fid, FI_RECV);
	return ret;
}

static void join(enum fi_wait_obj cq_wait, enum fi_wait_obj cntr_wait)
{
	struct fi_cntr_attr attr = { .wait_obj = cntr_wait };

	n.cq_attr.wait_obj = cq_wait;
	n.bind_ep = bind_cntr;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_cntr_open(n.domain, &attr, &cntr, NULL), 0);
	cr_assert_eq(net_join(&n), 0);
	cr_assert(net_quiet(&n, 0) && net_quiet(&n, 1));
}

static void set_up(void)
{
	net_begin(&n, NULL, 0);
}

static void close_side(int side)
{
	if (n.side[side].ep)
		cr_assert_eq(fi_close(&n.side[side].ep->fid), 0);
	n.side[side].ep = NULL;
}

static void tear_down(void)
{
	close_side(0);
	close_side(1);
	cr_assert_eq(fi_close(&cntr->fid), 0);
	net_end(&n);
}

TestSuite(drive, .init = set_up, .fini = tear_down, .timeout = 60);

/* Side 0 goes while side 1 waits for a message from it. */
static void leave(void)
{
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	close_side(0);
}

static void expect_canceled(void)
{
	struct fi_cq_err_entry err = { 0 };

	cr_assert_eq(fi_cq_readerr(n.side[1].cq, &err, 0), 1);
	cr_assert_eq(err.err, FI_ECANCELED);
	cr_assert_eq(err.op_context, &n);
}

/* Whoever comes to read the event queue later finds it there, once. */
static void expect_one_shutdown(void)
{
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, NULL), 0);
	cr_assert(net_quiet(&n, 1));
}

Test(drive, polling_reader_of_completions_learns_that_its_peer_has_gone)
{
	struct fi_cq_data_entry e;
	ssize_t ret = -FI_EAGAIN;

	join(FI_WAIT_NONE, FI_WAIT_NONE);
	leave();
	for (int i = 0; ret == -FI_EAGAIN && i <= READS; i++)
		ret = fi_cq_read(n.side[1].cq, &e, 1);
	cr_assert_eq(ret, -FI_EAVAIL);
	expect_canceled();
	expect_one_shutdown();
}

Test(drive, blocked_reader_of_completions_learns_it)
{
	struct fi_cq_data_entry e;

	join(FI_WAIT_UNSPEC, FI_WAIT_NONE);
	leave();
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, -1), -FI_EAVAIL);
	expect_canceled();
	expect_one_shutdown();
}

Test(drive, reader_that_waits_a_moment_at_a_time_learns_it)
{
	struct fi_cq_data_entry e;

	join(FI_WAIT_UNSPEC, FI_WAIT_NONE);
	leave();
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, 1), -FI_EAGAIN);
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, 1), -FI_EAVAIL);
	expect_canceled();
}

static atomic_bool returned;

/* Again and again: the reader may not sleep yet. */
static void *interrupt(void *reader)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	while (!atomic_load(&returned)) {
		nanosleep(&pause, NULL);
		(void)pthread_kill(*(pthread_t *)reader, SIGUSR1);
	}
	return NULL;
}

static void ignore(int sig)
{
	(void)sig;
}

/* fi_cq(3): a signal ends the wait, and is no reason to look. */
Test(drive, signal_still_ends_the_wait)
{
	const struct sigaction act = { .sa_handler = ignore };
	pthread_t self = pthread_self(), other;
	struct fi_cq_data_entry e;

	join(FI_WAIT_UNSPEC, FI_WAIT_NONE);
	sigaction(SIGUSR1, &act, NULL);
	cr_assert_eq(pthread_create(&other, NULL, interrupt, &self), 0);
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, -1), -FI_EAGAIN);
	atomic_store(&returned, true);
	pthread_join(other, NULL);
}

Test(drive, reader_of_a_counter_learns_it)
{
	uint64_t errors = 0;

	join(FI_WAIT_NONE, FI_WAIT_NONE);
	leave();
	for (int i = 0; !errors && i <= READS; i++)
		errors = fi_cntr_readerr(cntr);
	cr_assert_eq(errors, 1);
}

Test(drive, waiter_for_a_counter_learns_it)
{
	join(FI_WAIT_UNSPEC, FI_WAIT_UNSPEC);
	leave();
	cr_assert_eq(fi_cntr_wait(cntr, 1, -1), -FI_EAVAIL);
}

Test(drive, waiter_that_yields_learns_it)
{
	join(FI_WAIT_NONE, FI_WAIT_YIELD);
	leave();
	cr_assert_eq(fi_cntr_wait(cntr, 1, -1), -FI_EAVAIL);
}

/* Its queue has no wait object, and was there before the counter. */
Test(drive, waiter_for_a_counter_that_nobody_wakes_learns_it)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *first, *late;
	struct fid_ep *a, *b;

	join(FI_WAIT_NONE, FI_WAIT_NONE);
	first = cntr;
	cr_assert_eq(fi_cntr_open(n.domain, &attr, &late, NULL), 0);
	cntr = late;
	cr_assert_eq(net_join_more(&n, &a, &b), 0);
	cntr = first;
	cr_assert_gt(atomic_load(&rcm_cntr_of(late)->n_deaf), 0);
	cr_assert_eq(fi_recv(b, n.side[1].buf, 64, n.side[1].desc, 0, &n), 0);
	cr_assert_eq(fi_close(&a->fid), 0);
	cr_assert_eq(fi_cntr_wait(late, 1, -1), -FI_EAVAIL);
	cr_assert_eq(fi_close(&b->fid), 0);
	cr_assert_eq(fi_close(&late->fid), 0);
}

Test(drive, poll_set_learns_it)
{
	struct fi_poll_attr attr = { 0 };
	struct fid_poll *set;
	void *context;
	int ret = 0;

	join(FI_WAIT_NONE, FI_WAIT_NONE);
	cr_assert_eq(fi_poll_open(n.domain, &attr, &set), 0);
	cr_assert_eq(fi_poll_add(set, &n.side[1].cq->fid, 0), 0);
	leave();
	for (int i = 0; !ret && i <= READS; i++)
		ret = fi_poll(set, &context, 1);
	cr_assert_eq(ret, 1);
	cr_assert_eq(fi_poll_del(set, &n.side[1].cq->fid, 0), 0);
	cr_assert_eq(fi_close(&set->fid), 0);
}

struct holder {
	struct rcm_lock *lock;
	pthread_barrier_t step;
};

static void *hold(void *arg)
{
	struct holder *h = arg;

	rcm_lock(h->lock);
	pthread_barrier_wait(&h->step);
	pthread_barrier_wait(&h->step);
	rcm_unlock(h->lock);
	return NULL;
}

/* A thread is at the event queue already: it may take its time. */
Test(drive, busy_event_queue_is_left_to_who_is_at_it)
{
	struct fi_cq_data_entry e;
	struct holder h;
	pthread_t other;

	join(FI_WAIT_UNSPEC, FI_WAIT_NONE);
	h.lock = &rcm_eq_of(n.side[1].eq)->lock;
	cr_assert_eq(pthread_barrier_init(&h.step, NULL, 2), 0);
	leave();
	cr_assert_eq(pthread_create(&other, NULL, hold, &h), 0);
	pthread_barrier_wait(&h.step);
	for (int i = 0; i <= READS; i++)
		cr_assert_eq(fi_cq_read(n.side[1].cq, &e, 1), -FI_EAGAIN);
	pthread_barrier_wait(&h.step);
	pthread_join(other, NULL);
	pthread_barrier_destroy(&h.step);
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, 1), -FI_EAGAIN);
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, 1), -FI_EAVAIL);
}

static struct rcm_drive *drive_of_net(void)
{
	return &rcm_domain_of(n.domain)->drive;
}

/* Whether a look finds, or has found, an event of SIDE. */
static bool look(int side)
{
	struct rcm_eq *eq = rcm_eq_of(n.side[side].eq);
	bool has;

	rcm_drive_all(drive_of_net());
	rcm_lock(&eq->lock);
	has = !rcm_list_empty(&eq->queue);
	rcm_unlock(&eq->lock);
	return has;
}

/* Making connections takes time that those who move data have not. */
Test(drive, event_queue_with_a_reader_is_left_to_it)
{
	struct rcm_eq *eq;

	join(FI_WAIT_NONE, FI_WAIT_NONE);
	eq = rcm_eq_of(n.side[1].eq);
	leave();
	cr_assert_not(look(1));
	rcm_lock(&eq->lock);
	eq->n_reads++;
	rcm_unlock(&eq->lock);
	cr_assert_not(look(1), "it has been read since");
	atomic_store(&eq->n_sleepers, 1);
	cr_assert_not(look(1), "somebody waits for it");
	atomic_store(&eq->n_sleepers, 0);
	cr_assert(look(1));
}

/* The acknowledgement may be right behind. */
Test(drive, news_are_taken_at_the_second_look)
{
	join(FI_WAIT_NONE, FI_WAIT_NONE);
	cr_assert_not(look(1));
	cr_assert_not(look(1));
	leave();
	cr_assert_not(look(1));
	cr_assert(look(1));
}

/* What a completion queue has left for the event queue is news, too. */
Test(drive, failed_operation_ends_the_connection)
{
	struct fi_cq_data_entry e;

	join(FI_WAIT_NONE, FI_WAIT_NONE);
	cr_assert_eq(net_recv(&n, 1, 0, 16, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0); /* too long */
	cr_assert_eq(fi_cq_read(n.side[0].cq, &e, 1), -FI_EAVAIL);
	cr_assert_not(look(0));
	cr_assert(look(0));
}

/* Two endpoints of one event queue: it is driven until the last has gone. */
Test(drive, event_queue_is_left_alone_when_its_last_endpoint_has_gone)
{
	struct fid_ep *a, *b;

	join(FI_WAIT_NONE, FI_WAIT_NONE);
	cr_assert_eq(net_join_more(&n, &a, &b), 0);
	cr_assert_eq(fi_close(&a->fid), 0);
	cr_assert_eq(fi_close(&b->fid), 0);
	cr_assert_not(rcm_list_empty(&drive_of_net()->eqs));
	close_side(0);
	close_side(1);
	cr_assert(rcm_list_empty(&drive_of_net()->eqs));
}
