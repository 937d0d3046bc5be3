/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <time.h>

#include <rdma/fi_errno.h>

#include "rcm_cntr.h"
#include "rcm_domain.h"

/*
 * Of the threads that wait for one counter, one sleeps in epoll_wait(2) on
 * the channels of its engines and on the software flag; the others sleep on
 * a condition variable until that one has been woken, and look for
 * themselves. So a change wakes them all, whatever their thresholds, and
 * none takes another's event away.
 *
 * No change is missed: the flag is armed before the values are looked at for
 * the last time, and whoever adds to a tally looks at the flag afterwards.
 */

/*
 * How long to sleep, in ms, when an engine has no channel: a fi_cq with
 * FI_WAIT_NONE had hardware queues already when the counter came.
 */
#define RCM_CNTR_NAP 1

/* One thread inside of fi_cntr_wait. */
struct rcm_cntr_waiter {
	uint64_t threshold;
	uint64_t errors; /* when it came */
	int64_t deadline;
	unsigned int turn; /* before it looked */
};

int rcm_cntr_wait_open(struct rcm_cntr *cntr, struct fid_wait *set)
{
	pthread_condattr_t attr;
	int ret;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&cntr->sleep, NULL);
	pthread_cond_init(&cntr->woken, &attr);
	pthread_condattr_destroy(&attr);
	cntr->wait.epfd = -1;
	cntr->wait.evfd = -1;
	if (cntr->wait_obj == FI_WAIT_NONE || cntr->wait_obj == FI_WAIT_YIELD)
		return 0;
	ret = rcm_wait_open(&cntr->wait);
	if (ret)
		return ret;
	cntr->tally.changed = rcm_cntr_changed;
	if (cntr->wait_obj != FI_WAIT_SET)
		return 0;
	return rcm_waitset_join(&cntr->member, set, cntr->domain->fabric,
				&cntr->fid.fid, cntr->wait.epfd);
}

void rcm_cntr_wait_close(struct rcm_cntr *cntr)
{
	rcm_waitset_leave(&cntr->member);
	rcm_wait_close(&cntr->wait);
	pthread_cond_destroy(&cntr->woken);
	pthread_mutex_destroy(&cntr->sleep);
}

void rcm_cntr_changed(struct rcm_tally *tally)
{
	struct rcm_cntr *cntr = rcm_container_of(tally, struct rcm_cntr, tally);

	if (atomic_load(&cntr->armed) && atomic_exchange(&cntr->armed, false))
		rcm_wait_raise(&cntr->wait);
}

/* -FI_EAGAIN: there is nothing to return for yet. */
static int rcm_cntr_look(struct rcm_cntr *cntr, const struct rcm_cntr_waiter *w)
{
	if (atomic_load(&cntr->tally.value) >= w->threshold)
		return 0;
	return atomic_load(&cntr->tally.errors) != w->errors ? -FI_EAVAIL :
							       -FI_EAGAIN;
}

/* Whether the time of W is over. */
static bool rcm_cntr_is_late(const struct rcm_cntr_waiter *w)
{
	return w->deadline >= 0 && rcm_wait_deadline(0) >= w->deadline;
}

/* For the one that sees to the fds: sleeps until something may have come. */
static int rcm_cntr_watch(struct rcm_cntr *cntr,
			  const struct rcm_cntr_waiter *w)
{
	struct rcm_drive *drive = &cntr->domain->drive;
	int64_t until = w->deadline, nap;
	int ret = rcm_cntr_progress(cntr, true);

	if (ret)
		return ret;
	if (rcm_cntr_look(cntr, w) != -FI_EAGAIN)
		return 0;
	if (atomic_load(&cntr->n_deaf)) {
		nap = rcm_wait_deadline(RCM_CNTR_NAP);
		if (until < 0 || nap < until)
			until = nap;
		ret = rcm_wait_until(&cntr->wait, until);
		rcm_drive_idle(drive, &cntr->n_idle);
	} else {
		ret = rcm_drive_sleep(drive, &cntr->wait, until);
	}
	return ret < 0 ? ret : 0;
}

/* For the others; under the mutex. */
static void rcm_cntr_follow(struct rcm_cntr *cntr,
			    const struct rcm_cntr_waiter *w)
{
	struct timespec until = {
		.tv_sec = w->deadline / 1000,
		.tv_nsec = w->deadline % 1000 * 1000000,
	};
	int err = 0;

	while (!err && cntr->sleeper && atomic_load(&cntr->turn) == w->turn &&
	       rcm_cntr_look(cntr, w) == -FI_EAGAIN)
		err = w->deadline < 0 ?
			      pthread_cond_wait(&cntr->woken, &cntr->sleep) :
			      pthread_cond_timedwait(&cntr->woken, &cntr->sleep,
						     &until);
}

/* Sleeps until something may have changed or it is late; 0 or -FI_E. */
static int rcm_cntr_sleep(struct rcm_cntr *cntr,
			  const struct rcm_cntr_waiter *w)
{
	int ret;

	if (cntr->wait_obj == FI_WAIT_YIELD) {
		(void)rcm_wait_until(&cntr->wait, w->deadline);
		rcm_drive_idle(&cntr->domain->drive, &cntr->n_idle);
		return 0;
	}
	pthread_mutex_lock(&cntr->sleep);
	if (cntr->sleeper) {
		rcm_cntr_follow(cntr, w);
		pthread_mutex_unlock(&cntr->sleep);
		return 0;
	}
	/* before the mutex is free: who follows counts on the flag */
	rcm_wait_lower(&cntr->wait);
	atomic_store(&cntr->armed, true);
	cntr->sleeper = true;
	pthread_mutex_unlock(&cntr->sleep);

	ret = rcm_cntr_watch(cntr, w);

	pthread_mutex_lock(&cntr->sleep);
	cntr->sleeper = false;
	atomic_fetch_add(&cntr->turn, 1);
	pthread_cond_broadcast(&cntr->woken);
	pthread_mutex_unlock(&cntr->sleep);
	return ret;
}

int rcm_cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct rcm_cntr *cntr = rcm_cntr_of(fid);
	struct rcm_cntr_waiter w = {
		.threshold = threshold,
		.errors = atomic_load(&cntr->tally.errors),
		.deadline = rcm_wait_deadline(timeout),
	};
	int broken, ret;
	bool late;

	if (cntr->wait_obj == FI_WAIT_NONE || cntr->wait_obj == FI_WAIT_SET)
		return -FI_EINVAL;
	atomic_fetch_add(&cntr->n_waiters, 1);
	for (;;) {
		late = rcm_cntr_is_late(&w);
		w.turn = atomic_load(&cntr->turn);
		broken = rcm_cntr_progress(cntr, false);
		ret = rcm_cntr_look(cntr, &w);
		if (ret != -FI_EAGAIN)
			break;
		ret = broken;
		if (!ret)
			ret = late ? -FI_ETIMEDOUT : rcm_cntr_sleep(cntr, &w);
		if (ret)
			break;
	}
	atomic_fetch_sub(&cntr->n_waiters, 1);
	return ret;
}

int rcm_cntr_trywait(struct fid *fid)
{
	struct rcm_cntr *cntr = rcm_container_of(fid, struct rcm_cntr, fid.fid);
	uint64_t value, errors;
	int ret;

	if (!rcm_cntr_has_fd(cntr))
		return -FI_EINVAL;
	rcm_wait_lower(&cntr->wait);
	atomic_store(&cntr->armed, true);
	ret = rcm_cntr_progress(cntr, true);
	if (ret)
		return ret;
	value = atomic_load(&cntr->tally.value);
	errors = atomic_load(&cntr->tally.errors);
	if (value == atomic_exchange(&cntr->seen_value, value) &&
	    errors == atomic_exchange(&cntr->seen_errors, errors) &&
	    !atomic_load(&cntr->n_deaf))
		return 0;
	return -FI_EAGAIN;
}
