/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_WAITSET_H
#define RCM_WAITSET_H

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include "rcm_fabric.h"
#include "rcm_list.h"
#include "rcm_lock.h"
#include "rcm_obj.h"
#include "rcm_wait.h"

/*
 * Several queues and counters to wait for at once: an epoll over the wait
 * objects of its members.
 */
struct rcm_waitset {
	struct fid_wait fid;
	struct rcm_fabric *fabric;
	struct rcm_ref refs; /* its members */
	enum fi_wait_obj wait_obj;
	struct rcm_wait wait;
	struct rcm_lock lock; /* members */
	struct rcm_list members;
};

/* In the object that was opened with FI_WAIT_SET. */
struct rcm_waitset_member {
	struct rcm_list node;
	struct rcm_waitset *set; /* NULL: in none */
	struct fid *fid;
	int fd;
};

/* fi_wait_open(3); the fabric's .wait_open. */
int rcm_waitset_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		     struct fid_wait **set);

/*
 * FID, whose wait object is FD, joins SET (a wait_set attribute, so it may be
 * anything). -FI_EINVAL for what is no set of FABRIC, or the -FI_E of
 * epoll_ctl(2). FID must be ready for fi_trywait(3). Takes the set's lock.
 */
int rcm_waitset_join(struct rcm_waitset_member *member, struct fid_wait *set,
		     struct rcm_fabric *fabric, struct fid *fid, int fd);

/* Leaves it before anything of it closes; also when in none. The same lock. */
void rcm_waitset_leave(struct rcm_waitset_member *member);

/*
 * fi_control(3) of an object with the wait object OBJ: FI_GETWAIT and
 * FI_GETWAITOBJ; -FI_ENOSYS for other commands. WAIT is its own, MEMBER what
 * is in it for a set, where the set's wait object is given out; NULL: nothing.
 */
int rcm_waitset_control(const struct rcm_waitset_member *member,
			const struct rcm_wait *wait, enum fi_wait_obj obj,
			int command, void *arg);

/* fi_trywait(3) for one wait set: 0 or -FI_EAGAIN. Takes its lock. */
int rcm_waitset_trywait(struct fid *fid);

#endif /* RCM_WAITSET_H */
