/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_wait.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rcm_base.h"
#include "rcm_err.h"
#include "rcm_log.h"

int rcm_wait_open(struct rcm_wait *wait)
{
	int ret;

	wait->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (wait->epfd < 0)
		return -rcm_err_from_errno(errno);
	wait->evfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wait->evfd < 0) {
		ret = -rcm_err_from_errno(errno);
		goto err_epfd;
	}
	ret = rcm_wait_add(wait, wait->evfd);
	if (ret)
		goto err_evfd;
	return 0;

err_evfd:
	close(wait->evfd);
err_epfd:
	close(wait->epfd);
	wait->epfd = -1;
	return ret;
}

void rcm_wait_close(struct rcm_wait *wait)
{
	if (wait->epfd < 0)
		return;
	close(wait->evfd);
	close(wait->epfd);
	wait->epfd = -1;
}

int rcm_wait_add(struct rcm_wait *wait, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (wait->epfd < 0)
		return 0;
	if (epoll_ctl(wait->epfd, EPOLL_CTL_ADD, fd, &ev))
		return -rcm_err_from_errno(errno);
	return 0;
}

void rcm_wait_del(struct rcm_wait *wait, int fd)
{
	if (wait->epfd >= 0)
		epoll_ctl(wait->epfd, EPOLL_CTL_DEL, fd, NULL);
}

void rcm_wait_raise(struct rcm_wait *wait)
{
	if (wait->epfd >= 0)
		eventfd_write(wait->evfd, 1);
}

void rcm_wait_lower(struct rcm_wait *wait)
{
	eventfd_t count;

	if (wait->epfd >= 0)
		eventfd_read(wait->evfd, &count);
}

static int rcm_wait_get_pollfd(const struct rcm_wait *wait,
			       struct fi_wait_pollfd *list)
{
	size_t room = list->nfds;

	list->change_index = 1; /* not what a caller starts with */
	list->nfds = 1;
	if (!room)
		return -FI_ETOOSMALL;
	if (!list->fd)
		return -FI_EINVAL;
	list->fd[0] = (struct pollfd){ .fd = wait->epfd, .events = POLLIN };
	return 0;
}

int rcm_wait_get(const struct rcm_wait *wait, enum fi_wait_obj obj, void *arg)
{
	if (!arg)
		return -FI_EINVAL;
	switch (obj) {
	case FI_WAIT_FD:
		*(int *)arg = wait->epfd;
		return 0;
	case FI_WAIT_POLLFD:
		return rcm_wait_get_pollfd(wait, arg);
	default:
		return -FI_ENODATA;
	}
}

int rcm_wait_choose(enum fi_log_subsys subsys, int asked,
		    enum fi_wait_obj *used)
{
	switch (asked) {
	case FI_WAIT_UNSPEC:
		*used = FI_WAIT_FD;
		return 0;
	case FI_WAIT_NONE:
	case FI_WAIT_FD:
	case FI_WAIT_POLLFD:
	case FI_WAIT_SET:
	case FI_WAIT_YIELD:
		*used = (enum fi_wait_obj)asked;
		return 0;
	case FI_WAIT_MUTEX_COND:
		RCM_LOG_AT(INFO, subsys,
			   "wait object %d is not offered: FI_WAIT_NONE, "
			   "UNSPEC, FD, POLLFD, SET and YIELD are",
			   asked);
		return -FI_ENOSYS;
	default:
		RCM_LOG_AT(INFO, subsys, "unknown wait object %d", asked);
		return -FI_EINVAL;
	}
}

static int64_t rcm_wait_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t rcm_wait_deadline(int timeout)
{
	return timeout < 0 ? -1 : rcm_wait_now() + timeout;
}

int rcm_wait_until(struct rcm_wait *wait, int64_t deadline)
{
	struct epoll_event ev;
	int64_t left = -1;
	int n;

	if (wait->epfd < 0) {
		sched_yield();
		return deadline < 0 || rcm_wait_now() < deadline;
	}
	if (deadline >= 0) {
		/* below 0 it would be for ever */
		left = deadline - rcm_wait_now();
		left = RCM_MAX(left, (int64_t)0);
	}
	n = epoll_wait(wait->epfd, &ev, 1, (int)left);
	if (n < 0)
		return errno == EINTR ? 0 : -rcm_err_from_errno(errno);
	return n;
}
