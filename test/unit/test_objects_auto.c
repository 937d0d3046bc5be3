/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * FI_PROGRESS_AUTO for control: connections move although nobody reads an
 * event queue. What the control thread must have done is waited for.
 */

#include <criterion/criterion.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/wait.h>

#include "fake.h"
#include "net.h"
#include "rcm_domain.h"
#include "rcm_ep.h"
#include "rcm_eq.h"

static struct net n;

static void open_net(enum fi_progress control)
{
	net_begin(&n, NULL, 0);
	fake_be_patient();
	n.hints->domain_attr->control_progress = control;
	n.eq_attr.wait_obj = FI_WAIT_FD;
	n.cq_attr.wait_obj = FI_WAIT_FD;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(n.info->domain_attr->control_progress,
		     control ? control : FI_PROGRESS_MANUAL);
}

static void set_up(void)
{
	open_net(FI_PROGRESS_AUTO);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(automatic, .init = set_up, .fini = tear_down, .timeout = 60);
TestSuite(by_hand, .fini = tear_down, .timeout = 60);

static int n_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int count = 0;

	cr_assert(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2; /* . and .. */
}

static struct rcm_eq *eq_of(int side)
{
	return rcm_eq_of(n.side[side].eq);
}

/* Whether an entry waits in a side's queue; looks, and drives nothing. */
static bool has_event(int side)
{
	struct rcm_eq *eq = eq_of(side);
	bool has;

	rcm_lock(&eq->lock);
	has = !rcm_list_empty(&eq->queue);
	rcm_unlock(&eq->lock);
	return has;
}

static void await_event(int side)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < 10000 && !has_event(side); i++)
		nanosleep(&pause, NULL);
	cr_assert(has_event(side));
}

static void join(void)
{
	cr_assert_eq(net_join(&n), 0);
	cr_assert(net_quiet(&n, 0) && net_quiet(&n, 1));
}

Test(by_hand, no_thread_unless_asked_for)
{
	int before = n_threads();

	open_net(FI_PROGRESS_UNSPEC);
	join();
	cr_assert_eq(n_threads(), before);
}

Test(automatic, one_thread_a_queue_and_none_before_its_first_user)
{
	int before = n_threads();
	struct fid_ep *a, *b;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(n_threads(), before + 1);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(n_threads(), before + 2);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), 0);
	cr_assert_eq(net_await(&n, 1, FI_CONNECTED, NULL), 0);
	cr_assert_eq(net_join_more(&n, &a, &b), 0);
	cr_assert_eq(n_threads(), before + 2);
	cr_assert_eq(fi_close(&a->fid), 0);
	cr_assert_eq(fi_close(&b->fid), 0);
	cr_assert_eq(net_close(&n), 0);
	cr_assert_eq(n_threads(), before);
	cr_assert_eq(net_init(&n), 0); /* for the end of the test */
}

Test(automatic, listener_queues_a_request_that_nobody_waits_for)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, "hello", 5), 0);
	await_event(1); /* side 0 has resolved twice and asked by itself */
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	await_event(0);
	await_event(1);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), 0);
	cr_assert_eq(net_await(&n, 1, FI_CONNECTED, NULL), 0);
}

Test(automatic, side_that_reads_completions_only_learns_that_its_peer_has_gone)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry e;

	join();
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &e, 1, NULL, 10000), -FI_EAVAIL);
	cr_assert_eq(fi_cq_readerr(n.side[1].cq, &err, 0), 1);
	cr_assert_eq(err.err, FI_ECANCELED);
	cr_assert_eq(err.op_context, &n);
	await_event(1);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, NULL), 0);
}

/* What a completion queue has left for the event queue is looked at, too. */
Test(automatic, failed_operation_ends_the_connection)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry e;
	struct net_ev ev;

	join();
	cr_assert_eq(net_recv(&n, 1, 0, 16, &n), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, &n), 0); /* too long */
	cr_assert_eq(fi_cq_sread(n.side[0].cq, &e, 1, NULL, 10000), -FI_EAVAIL);
	cr_assert_eq(fi_cq_readerr(n.side[0].cq, &err, 0), 1);
	await_event(0);
	await_event(1);
	cr_assert_eq(net_next(&n, 0, &ev), 0);
	cr_assert_eq(net_next(&n, 1, &ev), 0);
}

Test(automatic, device_event_ends_the_connection)
{
	struct net_ev ev;

	join();
	fake_inject_qp_event(rcm_ep_of(n.side[1].ep)->qp.qp,
			     IBV_EVENT_QP_FATAL);
	await_event(1);
	cr_assert_eq(net_next(&n, 1, &ev), 0);
	cr_assert_eq(ev.event, FI_SHUTDOWN);
	cr_assert_eq(ev.fid, &n.side[1].ep->fid);
}

Test(automatic, waiting_reader_and_poll_are_woken)
{
	struct fi_eq_cm_entry entry;
	struct pollfd pfd = { .events = POLLIN };
	struct fid *fid = &n.side[0].eq->fid;
	uint32_t event;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(fi_eq_sread(n.side[1].eq, &event, &entry, sizeof(entry),
				 10000, 0),
		     sizeof(entry));
	cr_assert_eq(event, FI_CONNREQ);
	n.req = entry.info;
	cr_assert_eq(fi_control(fid, FI_GETWAIT, &pfd.fd), 0);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	await_event(0);
	cr_assert_eq(poll(&pfd, 1, 0), 1); /* however often one looks */
	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), -FI_EAGAIN);
	cr_assert_eq(poll(&pfd, 1, 0), 1);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), 0);
}

Test(automatic, thread_survives_an_event_channel_that_fails)
{
	fake_fail(FAKE_get_cm_event, 1, EIO);
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	await_event(1);
	fake_fail_none();
}

/* A device that is gone: its fd stays readable, the thread must not spin. */
Test(automatic, thread_leaves_a_dead_device_alone)
{
	unsigned int calls;

	join();
	fake_fail_from(1, EIO);
	fake_inject_dev_event(rcm_ep_of(n.side[0].ep)->domain->ctx,
			      IBV_EVENT_PORT_ERR);
	while (!fake_failed_call())
		usleep(1000);
	usleep(20000); /* long enough for a spin to show */
	calls = fake_calls();
	usleep(50000);
	cr_assert_leq(fake_calls() - calls, 20);
	fake_fail_none();
}

static void count_signal(int sig)
{
	(void)sig;
}

/* Signals are for the application's own threads. */
Test(automatic, thread_takes_no_signal)
{
	const struct sigaction act = { .sa_handler = count_signal };
	sigset_t usr, waiting;

	cr_assert_eq(net_listen(&n), 0);
	sigaction(SIGUSR1, &act, NULL);
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	cr_assert_eq(sigprocmask(SIG_BLOCK, &usr, NULL), 0);
	cr_assert_eq(kill(getpid(), SIGUSR1), 0);
	/* nobody can take it, so it waits */
	cr_assert_eq(sigpending(&waiting), 0);
	cr_assert(sigismember(&waiting, SIGUSR1));
	cr_assert_eq(sigprocmask(SIG_UNBLOCK, &usr, NULL), 0);
}

/* A child has no such thread to wait for. */
Test(automatic, child_closes_without_waiting)
{
	int status;
	pid_t pid;

	cr_assert_eq(net_listen(&n), 0);
	pid = fork();
	if (!pid) {
		rcm_progress_stop(eq_of(1));
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* The request moves from one control thread to another. */
Test(automatic, accepted_endpoint_may_use_another_queue)
{
	struct fid_eq *listener = n.side[1].eq;
	struct net_ev ev;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(fi_eq_open(n.fabric, &n.eq_attr, &n.side[1].eq, NULL), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	{
		struct fi_eq_cm_entry entry;
		uint32_t event;

		cr_assert_eq(fi_eq_sread(listener, &event, &entry,
					 sizeof(entry), 10000, 0),
			     sizeof(entry));
		n.req = entry.info;
	}
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	await_event(1);
	cr_assert_eq(net_await(&n, 1, FI_CONNECTED, &ev), 0);
	cr_assert_eq(fi_close(&n.pep->fid), 0);
	n.pep = NULL;
	cr_assert_eq(fi_close(&listener->fid), 0);
}
