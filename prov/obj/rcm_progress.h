/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_PROGRESS_H
#define RCM_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "rcm_wait.h"

struct rcm_eq;

/*
 * The control thread of an event queue (FI_PROGRESS_AUTO, design D13): it
 * does what reading the queue does, but the reading. There is none until an
 * endpoint or a passive endpoint that was promised it comes to the queue;
 * from then on it lives as long as the queue.
 */
struct rcm_progress {
	/*
	 * What it sleeps on: the queue's sources and, as its flag, the work
	 * that others have left. Not the queue's own wait object, which stays
	 * readable while an event waits for its reader. epfd -1: no thread.
	 */
	struct rcm_wait wait;
	pthread_t thread;
	pid_t pid; /* a child after fork(2) has no such thread */
	atomic_bool stop;
};

void rcm_progress_init(struct rcm_progress *progress);

/*
 * Gives EQ its thread unless it has one. Takes the queue's lock. -FI_E of
 * epoll_create1(2), eventfd(2) or epoll_ctl(2), -FI_ENOMEM when no thread is
 * to be had; the queue has none then.
 */
int rcm_progress_start(struct rcm_eq *eq);

/* Ends the thread, if there is one, and waits for it; it never blocks long. */
void rcm_progress_stop(struct rcm_eq *eq);

#endif /* RCM_PROGRESS_H */
