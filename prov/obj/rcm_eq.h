/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_EQ_H
#define RCM_EQ_H

#include <stdbool.h>

#include <rdma/fi_eq.h>

#include "rcm_base.h"
#include "rcm_chan.h"
#include "rcm_conn.h"
#include "rcm_list.h"
#include "rcm_lock.h"
#include "rcm_obj.h"
#include "rcm_wait.h"

struct rcm_domain;
struct rcm_fabric;

/* One event or error that waits to be read. */
struct rcm_eq_entry {
	struct rcm_list node;
	struct fid *fid; /* whom it is about; purged when that is closed */
	uint32_t event;
	bool is_error;
	bool user; /* fi_eq_write(3): DATA is the user's own event struct */
	struct fi_info *info;	    /* FI_CONNREQ; the reader's once read */
	struct fi_eq_err_entry err; /* without its data */
	size_t len;		    /* bytes of data */
	uint8_t data[];
};

/*
 * Something of the data path or the device for a connection to look at,
 * when the event queue is next read: no lock but this leaf is needed to
 * leave it, so a completion queue never waits for an event queue.
 */
struct rcm_eq_work {
	struct rcm_list node;
	unsigned int events; /* bits of 1 << enum rcm_fsm_event */
	struct rcm_conn *conn;
};

struct rcm_eq {
	struct fid_eq fid;
	struct rcm_fabric *fabric;
	struct rcm_ref refs;  /* endpoints and passive endpoints bound to it */
	struct rcm_lock lock; /* its queue, its channel, their connections */
	struct rcm_chan chan;
	struct rcm_wait wait;
	enum fi_wait_obj wait_obj;
	bool may_write;		 /* FI_WRITE */
	struct rcm_list queue;	 /* struct rcm_eq_entry, in order */
	struct rcm_list reqs;	 /* unanswered requests, struct rcm_connreq */
	struct rcm_list domains; /* whose async events it watches */
	void *err_data;		 /* given out, valid until the next read */
	struct rcm_lock defer_lock;
	struct rcm_list deferred; /* struct rcm_eq_work */
};

/* fi_eq_open(3); the fabric's .eq_open. */
int rcm_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **eq, void *context);

/* fi_trywait(3) for one event queue: 0 or -FI_EAGAIN. */
int rcm_eq_trywait(struct fid *fid);

/*
 * Puts an event about FID at the end. LEN bytes of DATA are copied. INFO
 * (FI_CONNREQ) is the queue's from then on. Under the queue's lock.
 * -FI_ENOMEM, and nothing is taken.
 */
int rcm_eq_report(struct rcm_eq *eq, uint32_t event, struct fid *fid,
		  struct fi_info *info, const void *data, size_t len);
/* The same for an error entry; ERR is positive. */
int rcm_eq_report_err(struct rcm_eq *eq, struct fid *fid, int err,
		      int prov_errno, const void *data, size_t len);

/* Drops everything about FID that has not been read. Under the lock. */
void rcm_eq_purge(struct rcm_eq *eq, struct fid *fid);

/* Leaves EVENT for the work's connection. Takes the leaf lock only. */
void rcm_eq_defer(struct rcm_eq *eq, struct rcm_eq_work *work,
		  enum rcm_fsm_event event);
void rcm_eq_undefer(struct rcm_eq *eq, struct rcm_eq_work *work);

/*
 * The queue also watches DOMAIN's asynchronous events from now on; counted,
 * so that each endpoint may ask. Takes the queue's lock.
 */
int rcm_eq_watch(struct rcm_eq *eq, struct rcm_domain *domain);
void rcm_eq_unwatch(struct rcm_eq *eq, struct rcm_domain *domain);

static inline struct rcm_eq *rcm_eq_of(struct fid_eq *fid)
{
	return rcm_container_of(fid, struct rcm_eq, fid);
}

#endif /* RCM_EQ_H */
