/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Several objects waited for or polled at once (fi_poll(3)): lists of file
 * descriptors, wait sets, poll sets. Newer headers deprecate the inlines of
 * the sets, so these are called through their tables.
 */

#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "fake.h"
#include "net.h"
#include "rcm_fabric.h"

static struct net n;
static struct fid_wait *set;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	cr_assert_eq(net_open_domain(&n), 0);
	set = NULL;
}

static void tear_down(void)
{
	struct fid_wait *last = set;
	struct fid_fabric *fabric = n.fabric;

	/* the set outlives its members, and the fabric the set */
	if (last) {
		n.fabric = NULL;
		cr_assert_eq(net_close(&n), 0);
		cr_assert_eq(fi_close(&last->fid), 0);
		cr_assert_eq(fi_close(&fabric->fid), 0);
		cr_assert_eq(net_init(&n), 0);
	}
	net_end(&n);
}

TestSuite(sets, .init = set_up, .fini = tear_down, .timeout = 60);

static void open_sides(enum fi_wait_obj obj)
{
	n.eq_attr.wait_obj = obj;
	n.cq_attr.wait_obj = obj;
	n.eq_attr.wait_set = set;
	n.cq_attr.wait_set = set;
	for (int i = 0; i < 2; i++)
		cr_assert_eq(net_open_side(&n, i), 0);
}

static int open_set(enum fi_wait_obj obj, uint64_t flags)
{
	struct fi_wait_attr attr = { .wait_obj = obj, .flags = flags };

	return n.fabric->ops->wait_open(n.fabric, &attr, &set);
}

static int wait_set(int timeout)
{
	return set->ops->wait(set, timeout);
}

static void message(void)
{
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, &n), 0);
}

static void drain(void)
{
	struct net_comp comp;

	for (int i = 0; i < 2; i++)
		while (!net_comp(&n, n.side[i].cq, &comp))
			;
}

static void check_pollfd(struct fid *fid)
{
	struct pollfd fds[2] = { { .fd = -1 }, { .fd = -2 } };
	struct fi_wait_pollfd list = { 0 };
	enum fi_wait_obj obj;

	cr_assert_eq(fi_control(fid, FI_GETWAITOBJ, &obj), 0);
	cr_assert_eq(obj, FI_WAIT_POLLFD);
	cr_assert_eq(fi_control(fid, FI_GETWAIT, NULL), -FI_EINVAL);
	/* the way to ask for the index alone */
	cr_assert_eq(fi_control(fid, FI_GETWAIT, &list), -FI_ETOOSMALL);
	cr_assert_eq(list.nfds, 1);
	cr_assert_neq(list.change_index, 0);
	cr_assert_eq(fi_control(fid, FI_GETWAIT, &list), -FI_EINVAL);
	list = (struct fi_wait_pollfd){ .nfds = 2, .fd = fds };
	cr_assert_eq(fi_control(fid, FI_GETWAIT, &list), 0);
	cr_assert_eq(list.nfds, 1);
	cr_assert_eq(fds[0].events, POLLIN);
	cr_assert_geq(fds[0].fd, 0);
	cr_assert_eq(fds[1].fd, -2);
}

/* LF commit b229fa313: and says how many it needs */
Test(sets, list_of_fds_has_one_that_wakes)
{
	struct pollfd fds[1];
	struct fi_wait_pollfd list = { .nfds = 1, .fd = fds };
	struct fi_cq_data_entry e;
	struct fid *fid;

	open_sides(FI_WAIT_POLLFD);
	cr_assert_eq(net_join(&n), 0);
	check_pollfd(&n.side[0].eq->fid);
	check_pollfd(&n.side[1].cq->fid);
	fid = &n.side[1].cq->fid;
	cr_assert_eq(fi_control(fid, FI_GETWAIT, &list), 0);
	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), 0);
	cr_assert_eq(poll(fds, 1, 0), 0);
	message();
	cr_assert_eq(poll(fds, 1, 0), 1);
	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), -FI_EAGAIN);
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, -1), 1);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

Test(sets, yielding_reader_gets_what_comes_and_keeps_its_time)
{
	struct fi_cq_data_entry e;
	struct fi_eq_cm_entry entry;
	uint32_t event;
	int64_t start;
	struct fid *fid;
	int fd;

	open_sides(FI_WAIT_YIELD);
	cr_assert_eq(net_join(&n), 0);
	fid = &n.side[1].cq->fid;
	cr_assert_eq(fi_control(fid, FI_GETWAIT, &fd), -FI_ENODATA);
	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), -FI_EINVAL);
	start = now_ms();
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, 20), -FI_EAGAIN);
	cr_assert_eq(fi_eq_sread(n.side[1].eq, &event, &entry, sizeof(entry),
				 20, 0),
		     -FI_EAGAIN);
	cr_assert_geq(now_ms() - start, 40);
	message();
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, -1), 1);
	cr_assert_eq(fi_cq_signal(n.side[1].cq), 0);
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, -1), -FI_EAGAIN);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(fi_eq_sread(n.side[1].eq, &event, &entry, sizeof(entry),
				 -1, 0),
		     sizeof(entry));
}

Test(sets, wait_set_is_checked)
{
	cr_assert_eq(open_set(FI_WAIT_NONE, 0), -FI_EINVAL);
	cr_assert_eq(open_set(FI_WAIT_SET, 0), -FI_EINVAL);
	cr_assert_eq(open_set(FI_WAIT_MUTEX_COND, 0), -FI_ENOSYS);
	cr_assert_eq(open_set(FI_WAIT_YIELD, 0), -FI_ENOSYS);
	cr_assert_eq(open_set(FI_WAIT_FD, FI_MORE), -FI_EBADFLAGS);
	cr_assert_eq(n.fabric->ops->wait_open(n.fabric, NULL, &set),
		     -FI_EINVAL);
	cr_assert_null(set);
}

Test(sets, member_names_a_set_of_its_fabric)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_SET };
	struct fi_cq_attr cq_attr = { .wait_obj = FI_WAIT_SET };
	struct fid_fabric *other;
	struct fid_eq *eq;
	struct fid_cq *cq;
	int fds = net_n_fds();

	cr_assert_eq(fi_eq_open(n.fabric, &eq_attr, &eq, NULL), -FI_EINVAL);
	cr_assert_eq(fi_cq_open(n.domain, &cq_attr, &cq, NULL), -FI_EINVAL);
	/* no set at all */
	eq_attr.wait_set = (struct fid_wait *)n.domain;
	cr_assert_eq(fi_eq_open(n.fabric, &eq_attr, &eq, NULL), -FI_EINVAL);
	cr_assert_eq(rcm_fabric_open(n.info->fabric_attr, &other, NULL), 0);
	cr_assert_eq(open_set(FI_WAIT_FD, 0), 0);
	eq_attr.wait_set = set;
	cr_assert_eq(fi_eq_open(other, &eq_attr, &eq, NULL), -FI_EINVAL);
	cr_assert_eq(fi_close(&other->fid), 0);
	cr_assert_eq(fi_close(&set->fid), 0);
	set = NULL;
	cr_assert_eq(net_n_fds(), fds);
}

Test(sets, set_waits_for_completions_and_events)
{
	cr_assert_eq(open_set(FI_WAIT_UNSPEC, 0), 0);
	open_sides(FI_WAIT_SET);
	cr_assert_eq(wait_set(0), -FI_ETIMEDOUT);
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	while (wait_set(0) == -FI_ETIMEDOUT)
		;
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(net_await(&n, i, FI_CONNECTED, NULL), 0);
	cr_assert_eq(wait_set(20), -FI_ETIMEDOUT);
	message();
	cr_assert_eq(wait_set(-1), 0);
	cr_assert_eq(wait_set(-1), 0); /* until it is read */
	drain();
	cr_assert_eq(wait_set(0), -FI_ETIMEDOUT);
}

static void *send_later(void *arg)
{
	(void)arg;
	message();
	return NULL;
}

Test(sets, message_wakes_the_set)
{
	pthread_t thread;

	cr_assert_eq(open_set(FI_WAIT_FD, 0), 0);
	open_sides(FI_WAIT_SET);
	cr_assert_eq(net_join(&n), 0);
	for (int i = 0; i < 50; i++) {
		cr_assert_eq(pthread_create(&thread, NULL, send_later, NULL),
			     0);
		cr_assert_eq(wait_set(-1), 0);
		cr_assert_eq(pthread_join(thread, NULL), 0);
		drain();
	}
}

/* A success that nobody asked to see wakes the device's fd, and no reader. */
Test(sets, silent_completion_ends_no_wait)
{
	cr_assert_eq(open_set(FI_WAIT_FD, 0), 0);
	n.tx_bind = FI_SELECTIVE_COMPLETION;
	open_sides(FI_WAIT_SET);
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(wait_set(0), -FI_ETIMEDOUT);
	message();
	drain();
	for (int i = 0; i < 400; i++) { /* some are signalled to reclaim */
		message();
		drain();
	}
	cr_assert_eq(wait_set(5), -FI_ETIMEDOUT);
}

Test(sets, set_has_one_fd_for_its_members)
{
	struct fid *fid;
	struct pollfd pfd = { .events = POLLIN };
	struct fi_cq_data_entry e;
	enum fi_wait_obj obj;
	int fd;

	cr_assert_eq(open_set(FI_WAIT_UNSPEC, 0), 0);
	fid = &set->fid;
	open_sides(FI_WAIT_SET);
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(fi_control(fid, FI_GETWAITOBJ, &obj), 0);
	cr_assert_eq(obj, FI_WAIT_FD);
	cr_assert_eq(fi_control(fid, FI_GETWAIT, &pfd.fd), 0);
	cr_assert_eq(fi_control(&n.side[0].cq->fid, FI_GETWAIT, &fd), 0);
	cr_assert_eq(fd, pfd.fd);
	cr_assert_eq(fi_control(&n.side[0].eq->fid, FI_GETWAIT, &fd), 0);
	cr_assert_eq(fd, pfd.fd);
	cr_assert_eq(fi_control(&n.side[0].cq->fid, FI_GETWAITOBJ, &obj), 0);
	cr_assert_eq(obj, FI_WAIT_SET);
	/* fi_cq(3), fi_eq(3): the set waits, its members do not */
	cr_assert_eq(fi_cq_sread(n.side[0].cq, &e, 1, NULL, 0), -FI_ENOSYS);
	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), 0);
	cr_assert_eq(poll(&pfd, 1, 0), 0);
	message();
	cr_assert_eq(poll(&pfd, 1, 0), 1);
	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), -FI_EAGAIN);
}

Test(sets, set_closes_after_its_members)
{
	int fds = net_n_fds();

	cr_assert_eq(open_set(FI_WAIT_POLLFD, 0), 0);
	check_pollfd(&set->fid);
	open_sides(FI_WAIT_SET);
	cr_assert_eq(fi_close(&set->fid), -FI_EBUSY);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(fi_close(&n.side[i].cq->fid), 0);
		cr_assert_eq(fi_close(&n.side[i].eq->fid), 0);
		n.side[i].cq = NULL;
		n.side[i].eq = NULL;
	}
	cr_assert_eq(fi_close(&n.fabric->fid), -FI_EBUSY);
	cr_assert_eq(fi_close(&set->fid), 0);
	set = NULL;
	cr_assert_eq(net_n_fds(), fds);
}

/* The poll set of a test; its contexts. */
static struct fid_poll *polls;

static void open_polls(void)
{
	struct fi_poll_attr attr = { 0 };

	cr_assert_eq(n.domain->ops->poll_open(n.domain, &attr, &polls), 0);
}

static int add(struct fid *fid)
{
	return polls->ops->poll_add(polls, fid, 0);
}

static int del(struct fid *fid)
{
	return polls->ops->poll_del(polls, fid, 0);
}

static int poll_all(void **context, int count)
{
	return polls->ops->poll(polls, context, count);
}

Test(sets, poll_set_is_checked)
{
	struct fi_poll_attr attr = { .flags = FI_MORE };

	open_sides(FI_WAIT_NONE);
	cr_assert_eq(n.domain->ops->poll_open(n.domain, &attr, &polls),
		     -FI_EBADFLAGS);
	open_polls();
	cr_assert_eq(add(&n.side[0].eq->fid), -FI_EINVAL);
	cr_assert_eq(add(NULL), -FI_EINVAL);
	cr_assert_eq(polls->ops->poll_add(polls, &n.side[0].cq->fid, 1),
		     -FI_EBADFLAGS);
	cr_assert_eq(add(&n.side[0].cq->fid), 0);
	cr_assert_eq(add(&n.side[0].cq->fid), -FI_EALREADY);
	cr_assert_eq(fi_close(&polls->fid), -FI_EBUSY);
	cr_assert_eq(fi_close(&n.side[0].cq->fid), -FI_EBUSY);
	cr_assert_eq(polls->ops->poll_del(polls, &n.side[0].cq->fid, 1),
		     -FI_EBADFLAGS);
	cr_assert_eq(del(&n.side[1].cq->fid), -FI_EINVAL);
	cr_assert_eq(del(&n.side[0].cq->fid), 0);
	cr_assert_eq(poll_all(NULL, 1), -FI_EINVAL);
	cr_assert_eq(fi_close(&polls->fid), 0);
}

Test(sets, poll_names_the_queues_that_have_something)
{
	void *got[2] = { NULL, NULL };
	int first, second;

	open_sides(FI_WAIT_NONE);
	cr_assert_eq(net_join(&n), 0);
	open_polls();
	for (int i = 0; i < 2; i++) {
		n.side[i].cq->fid.context = &n.side[i];
		cr_assert_eq(add(&n.side[i].cq->fid), 0);
	}
	cr_assert_eq(poll_all(got, 2), 0);
	message();
	cr_assert_eq(poll_all(got, 0), 0);
	cr_assert_eq(poll_all(got, 2), 2);
	cr_assert(got[0] == &n.side[0] && got[1] == &n.side[1]);
	/* one place: each in its turn */
	cr_assert_eq(poll_all(got, 1), 1);
	first = got[0] == &n.side[0];
	cr_assert_eq(poll_all(got, 1), 1);
	second = got[0] == &n.side[0];
	cr_assert_neq(first, second);
	drain();
	cr_assert_eq(poll_all(got, 2), 0);
	/* an error entry is something, too */
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(fi_shutdown(n.side[1].ep, 0), 0);
	cr_assert_eq(poll_all(got, 2), 1);
	cr_assert_eq(got[0], &n.side[1]);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(del(&n.side[i].cq->fid), 0);
	cr_assert_eq(fi_close(&polls->fid), 0);
}

Test(sets, poll_names_counters_that_have_changed)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP };
	struct fid_cntr *cntr;
	void *got[1];

	cr_assert_eq(fi_cntr_open(n.domain, &attr, &cntr, &n), 0);
	cr_assert_eq(fi_cntr_add(cntr, 5), 0);
	open_polls();
	cr_assert_eq(add(&cntr->fid), 0);
	cr_assert_eq(poll_all(got, 1), 0);
	cr_assert_eq(fi_cntr_add(cntr, 1), 0);
	cr_assert_eq(poll_all(got, 1), 1);
	cr_assert_eq(got[0], &n);
	cr_assert_eq(poll_all(got, 1), 0);
	/* set back, and up to the same value again */
	cr_assert_eq(fi_cntr_set(cntr, 0), 0);
	cr_assert_eq(fi_cntr_add(cntr, 6), 0);
	cr_assert_eq(poll_all(got, 1), 1);
	cr_assert_eq(fi_cntr_adderr(cntr, 1), 0);
	cr_assert_eq(poll_all(got, 1), 1);
	cr_assert_eq(poll_all(got, 1), 0);
	cr_assert_eq(fi_close(&cntr->fid), -FI_EBUSY);
	cr_assert_eq(del(&cntr->fid), 0);
	cr_assert_eq(fi_close(&polls->fid), 0);
	cr_assert_eq(fi_close(&cntr->fid), 0);
}
