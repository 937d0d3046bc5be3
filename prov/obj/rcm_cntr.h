/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_CNTR_H
#define RCM_CNTR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/fi_eq.h>

#include "rcm_base.h"
#include "rcm_cqset.h"
#include "rcm_list.h"
#include "rcm_lock.h"
#include "rcm_obj.h"
#include "rcm_slot.h"
#include "rcm_wait.h"
#include "rcm_waitset.h"

struct rcm_domain;

/* What an endpoint may count, each with a counter of its own or a shared one. */
enum rcm_cntr_kind {
	RCM_CNTR_SEND,
	RCM_CNTR_RECV,
	RCM_CNTR_READ,
	RCM_CNTR_WRITE,
	RCM_CNTR_KINDS,
};

/*
 * A counter is a tally that the completion engines of its endpoints add to
 * (rcm_slot.h). Nothing runs by itself: reading it or waiting for it takes
 * what the device has finished out of every one of these engines.
 */
struct rcm_cntr {
	struct fid_cntr fid;
	struct rcm_tally tally;
	struct rcm_domain *domain;
	struct rcm_ref refs;	   /* one for each kind of each endpoint */
	enum fi_wait_obj wait_obj; /* NONE, FD, POLLFD, SET, YIELD */
	struct rcm_lock lock;	   /* links and own */
	struct rcm_list links;	   /* engines that add to it */
	struct rcm_cqset own;	   /* of endpoints without a fi_cq */
	bool has_own;

	/* waiting; rcm_cntr_wait.c */
	struct rcm_wait wait; /* open unless NONE or YIELD */
	struct rcm_waitset_member member;
	atomic_uint n_deaf;    /* links that cannot wake anybody */
	atomic_bool armed;     /* the next change raises the flag */
	atomic_uint turn;      /* how often somebody has been woken */
	atomic_uint n_waiters; /* threads inside of fi_cntr_wait */
	pthread_mutex_t sleep; /* sleeper; a leaf */
	pthread_cond_t woken;
	bool sleeper; /* somebody waits for the fds on behalf of all */
	_Atomic uint64_t seen_value, seen_errors; /* by fi_trywait */

	atomic_uint n_writes; /* by fi_cntr_set and the like; for poll sets */
	atomic_uint n_idle;   /* for rcm_drive_idle() */
};

/* fi_cntr_open(3); the domain's .cntr_open. */
int rcm_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr, void *context);

/*
 * From now on SET, an engine of an endpoint that CNTR is bound to, is looked
 * into when CNTR is read, until as many calls of rcm_cntr_detach(). -FI_ENOMEM
 * or what made a channel or its fd unusable. Before SET has its first queue
 * pair, if that can be, so that it can wake those who wait.
 */
int rcm_cntr_attach(struct rcm_cntr *cntr, struct rcm_cqset *set);
void rcm_cntr_detach(struct rcm_cntr *cntr, struct rcm_cqset *set);

/*
 * The engine for endpoints that are bound to CNTR and to no fi_cq: nobody
 * reads it, so it counts and keeps nothing. Made at the first call; lives as
 * long as CNTR. -FI_ENOMEM and what opens a channel.
 */
int rcm_cntr_need_own(struct rcm_cntr *cntr);

/*
 * Takes what the device has finished out of every engine of CNTR, so that its
 * values are those of now. ARM: readies their channels' fds as well. 0, or the
 * first -FI_E of rcm_cqset_settle(). Takes locks from CNTR's own downwards.
 */
int rcm_cntr_progress(struct rcm_cntr *cntr, bool arm);

/*
 * The parts of waiting: rcm_cntr_wait.c. The first makes what CNTR->wait_obj
 * needs, in SET where that is FI_WAIT_SET; from then on others may look at it.
 */
int rcm_cntr_wait_open(struct rcm_cntr *cntr, struct fid_wait *set);
void rcm_cntr_wait_close(struct rcm_cntr *cntr); /* also when not open */
/* Whoever waits looks again. Takes no lock, never blocks. */
void rcm_cntr_changed(struct rcm_tally *tally);
/* fi_cntr_wait(3); the counter's .wait. */
int rcm_cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout);
/* fi_trywait(3) for one counter: 0 or -FI_EAGAIN. One thread at a time. */
int rcm_cntr_trywait(struct fid *fid);

/* Whether it has a wait object of its own, with an fd. */
static inline bool rcm_cntr_has_fd(const struct rcm_cntr *cntr)
{
	return cntr->wait.epfd >= 0;
}

static inline struct rcm_cntr *rcm_cntr_of(struct fid_cntr *fid)
{
	return rcm_container_of(fid, struct rcm_cntr, fid);
}

#endif /* RCM_CNTR_H */
