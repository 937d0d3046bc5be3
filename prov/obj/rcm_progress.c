/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_progress.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "rcm_eq.h"
#include "rcm_err.h"
#include "rcm_log.h"

/* ms until a source that failed is looked at again */
#define RCM_PROGRESS_RETRY 100

/*
 * Sleeps until there is something to do. What has failed stays readable, so
 * after a failure only the flag and some time end the sleep.
 */
static void rcm_progress_sleep(struct rcm_progress *p, bool failed)
{
	struct pollfd flag = { .fd = p->wait.evfd, .events = POLLIN };

	if (failed || rcm_wait_until(&p->wait, -1) < 0)
		(void)poll(&flag, 1, RCM_PROGRESS_RETRY);
	/* before looking: what is left from here on ends the next sleep */
	rcm_wait_lower(&p->wait);
}

static void *rcm_progress_run(void *arg)
{
	struct rcm_eq *eq = arg;
	struct rcm_progress *p = &eq->progress;
	int ret = 0, told = 0;

	for (;;) {
		rcm_progress_sleep(p, ret);
		if (atomic_load(&p->stop))
			return NULL;
		rcm_lock(&eq->lock);
		ret = rcm_eq_progress(eq);
		rcm_unlock(&eq->lock);
		if (ret && ret != told)
			RCM_WARN(EQ, "the control thread's event channel: %s",
				 fi_strerror(-ret));
		told = ret;
	}
}

void rcm_progress_init(struct rcm_progress *progress)
{
	progress->wait.epfd = -1;
	atomic_init(&progress->stop, false);
}

/* The application's signals are not for this thread. */
static int rcm_progress_spawn(struct rcm_eq *eq)
{
	struct rcm_progress *p = &eq->progress;
	sigset_t all, old;
	int err;

	p->pid = getpid();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&p->thread, NULL, rcm_progress_run, eq);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) /* no thread to be had is nothing that another try would end */
		return err == EAGAIN ? -FI_ENOMEM : -rcm_err_from_errno(err);
	pthread_setname_np(p->thread, "rcm-control");
	return 0;
}

/* Whoever leaves work for the queue reads the wait object under this lock. */
static void rcm_progress_set_wait(struct rcm_eq *eq,
				  const struct rcm_wait *wait)
{
	rcm_lock(&eq->defer_lock);
	eq->progress.wait = *wait;
	rcm_unlock(&eq->defer_lock);
}

static int rcm_progress_start_locked(struct rcm_eq *eq)
{
	const struct rcm_wait none = { .epfd = -1 };
	struct rcm_wait wait = none;
	int ret;

	if (eq->progress.wait.epfd >= 0)
		return 0;
	ret = rcm_wait_open(&wait);
	if (!ret)
		ret = rcm_eq_add_sources(eq, &wait);
	if (ret)
		goto err;
	rcm_wait_raise(&wait); /* something may wait already */
	rcm_progress_set_wait(eq, &wait);
	ret = rcm_progress_spawn(eq);
	if (!ret)
		return 0;
	rcm_progress_set_wait(eq, &none);
err:
	rcm_wait_close(&wait);
	RCM_WARN(EQ, "no control thread (FI_PROGRESS_AUTO): %s",
		 fi_strerror(-ret));
	return ret;
}

int rcm_progress_start(struct rcm_eq *eq)
{
	int ret;

	rcm_lock(&eq->lock);
	ret = rcm_progress_start_locked(eq);
	rcm_unlock(&eq->lock);
	return ret;
}

void rcm_progress_stop(struct rcm_eq *eq)
{
	struct rcm_progress *p = &eq->progress;

	if (p->wait.epfd < 0)
		return;
	atomic_store(&p->stop, true);
	rcm_wait_raise(&p->wait);
	if (p->pid == getpid())
		pthread_join(p->thread, NULL);
	rcm_wait_close(&p->wait);
}
