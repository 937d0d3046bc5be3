/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_EQ_H
#define RCM_EQ_H

#include <stdatomic.h>
#include <stdbool.h>

#include <rdma/fi_eq.h>

#include "rcm_base.h"
#include "rcm_chan.h"
#include "rcm_conn.h"
#include "rcm_list.h"
#include "rcm_lock.h"
#include "rcm_obj.h"
#include "rcm_progress.h"
#include "rcm_wait.h"
#include "rcm_waitset.h"

struct rcm_fabric;

/* One event or error that waits to be read. */
struct rcm_eq_entry {
	struct rcm_list node;
	struct fid *fid; /* whom it is about; purged when that is closed */
	uint32_t event;
	bool is_error;
	bool user;	      /* fi_eq_write(3): the data is the whole event */
	struct fi_info *info; /* FI_CONNREQ; the reader's once read */
	int err;	      /* of an error: positive FI_E */
	int prov_errno;
	size_t len; /* bytes of data */
	uint8_t data[];
};

/*
 * Something of the data path or the device for a connection to look at,
 * when the event queue is next read: no lock but this leaf is needed to
 * leave it, so a completion queue never waits for an event queue.
 */
struct rcm_eq_work {
	struct rcm_list node;
	struct rcm_eq *eq;
	struct rcm_conn *conn;
	unsigned int events; /* bits of 1 << enum rcm_fsm_event */
	int wc_status;	     /* of the work request that failed, if any did */
};

struct rcm_eq {
	struct fid_eq fid;
	struct rcm_fabric *fabric;
	struct rcm_ref refs;  /* endpoints and passive endpoints bound to it */
	struct rcm_lock lock; /* its queue, its channel, their connections */
	struct rcm_chan chan;
	struct rcm_wait wait;
	enum fi_wait_obj wait_obj; /* NONE, FD, POLLFD, SET, YIELD */
	struct rcm_waitset_member member;
	bool may_write;		 /* FI_WRITE */
	struct rcm_list queue;	 /* struct rcm_eq_entry, in order */
	struct rcm_list reqs;	 /* unanswered requests, struct rcm_connreq */
	struct rcm_list watches; /* struct rcm_eq_watch */
	void *err_data;		 /* given out, valid until the next read */
	struct rcm_lock defer_lock;
	struct rcm_list deferred; /* struct rcm_eq_work */
	struct rcm_progress progress;
	/* whether it has readers of its own, for rcm_drive.c */
	unsigned int n_reads;	/* under the lock */
	atomic_uint n_sleepers; /* inside of fi_eq_sread */
};

/* fi_eq_open(3); the fabric's .eq_open. */
int rcm_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **eq, void *context);

/* fi_trywait(3) for one event queue: 0 or -FI_EAGAIN. */
int rcm_eq_trywait(struct fid *fid);

/*
 * An entry with room for CAP bytes of data, or NULL. Connections make theirs
 * beforehand, so that the end of one is never lost for want of memory. Freed
 * with free() while it is in no queue.
 */
struct rcm_eq_entry *rcm_eq_entry_new(size_t cap);

/*
 * Puts ENTRY at the end; it is the queue's from then on. Its event, error
 * and data are filled in by the caller. Under the queue's lock.
 */
void rcm_eq_push(struct rcm_eq *eq, struct rcm_eq_entry *entry);

/* Frees an entry that is in no queue; an unread request is refused. */
void rcm_eq_entry_free(struct rcm_eq_entry *entry);

/* Lowers the software flag unless something is left to be looked at. */
void rcm_eq_settle_flag(struct rcm_eq *eq);

/*
 * Looks at everything that may have happened: the device's events, the event
 * channel, what completion queues have left. Under the queue's lock; never
 * blocks. 0, or the -FI_E that the event channel failed with.
 */
int rcm_eq_progress(struct rcm_eq *eq);

/* Whether that would find anything. Under the queue's lock; never blocks. */
bool rcm_eq_has_news(struct rcm_eq *eq);

/*
 * Adds everything that EQ looks at to WAIT, which somebody else is to sleep
 * on. -FI_E of epoll_ctl(2). Under the queue's lock.
 */
int rcm_eq_add_sources(struct rcm_eq *eq, struct rcm_wait *wait);

/* fi_eq_read(3) and its kin; rcm_eq_read.c */
extern struct fi_ops_eq rcm_eq_ops;

/* Drops everything about FID that has not been read. Under the lock. */
void rcm_eq_purge(struct rcm_eq *eq, struct fid *fid);

/* Leaves EVENT for the work's connection. Takes the leaf lock only. */
void rcm_eq_defer(struct rcm_eq_work *work, enum rcm_fsm_event event);
/* Forgets what was left for the work; it may be freed then. */
void rcm_eq_undefer(struct rcm_eq_work *work);

/*
 * A source of asynchronous events, such as a device's, that this queue looks
 * at whenever it is read. Counted by ARG, so that each endpoint may ask.
 * PROGRESS runs under the queue's lock, takes only leaf locks, and returns 0,
 * or a -FI_E when nothing will come any more. Takes the queue's lock;
 * -FI_ENOMEM or what epoll_ctl(2) said.
 */
int rcm_eq_watch(struct rcm_eq *eq, int fd, int (*progress)(void *arg),
		 void *arg);
void rcm_eq_unwatch(struct rcm_eq *eq, void *arg);

static inline struct rcm_eq *rcm_eq_of(struct fid_eq *fid)
{
	return rcm_container_of(fid, struct rcm_eq, fid);
}

#endif /* RCM_EQ_H */
