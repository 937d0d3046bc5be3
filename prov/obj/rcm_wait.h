/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_WAIT_H
#define RCM_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/fi_eq.h>
#include <rdma/providers/fi_log.h>

/*
 * What an event or completion queue gives out for FI_GETWAIT: one fd that is
 * readable while any of its sources is, or while the software flag is up.
 */
struct rcm_wait {
	int epfd; /* -1: not open */
	int evfd;
};

/* -FI_E of epoll_create1(2) or eventfd(2); nothing is left then. */
int rcm_wait_open(struct rcm_wait *wait);
void rcm_wait_close(struct rcm_wait *wait); /* also when not open */

/* Adds a source that is readable while it has something. */
int rcm_wait_add(struct rcm_wait *wait, int fd);
void rcm_wait_del(struct rcm_wait *wait, int fd);

/* Puts the software flag up or down; neither blocks. No-op when not open. */
void rcm_wait_raise(struct rcm_wait *wait);
void rcm_wait_lower(struct rcm_wait *wait);

/*
 * fi_control(3), FI_GETWAIT, of a fid whose wait object is OBJ: the one fd
 * into ARG, an int or a struct fi_wait_pollfd, whose list never changes.
 * -FI_EINVAL without a place, -FI_ETOOSMALL with too small a one, -FI_ENODATA
 * when OBJ is nothing to be retrieved.
 */
int rcm_wait_get(const struct rcm_wait *wait, enum fi_wait_obj obj, void *arg);

/*
 * A wait_obj attribute of a queue or counter, in what it comes to: that of
 * FI_WAIT_UNSPEC is an fd, so that it may be retrieved. 0; -FI_ENOSYS for one
 * that is not offered, -FI_EINVAL for what is none, with the reason in the
 * log of SUBSYS.
 */
int rcm_wait_choose(enum fi_log_subsys subsys, int asked,
		    enum fi_wait_obj *used);

/* Milliseconds of the monotonic clock at which TIMEOUT ms from now is over;
 * -1 for a TIMEOUT below 0. */
int64_t rcm_wait_deadline(int timeout);

/*
 * Blocks until the fd is readable or DEADLINE is past: 1, 0, or a negative
 * FI_E code. A signal ends it, too, with 0: fi_cq(3) and fi_eq(3) say that a
 * reader returns when its thread is signaled. One that is not open just
 * yields (FI_WAIT_YIELD): 1 before DEADLINE, then 0.
 */
int rcm_wait_until(struct rcm_wait *wait, int64_t deadline);

#endif /* RCM_WAIT_H */
