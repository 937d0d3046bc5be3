/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef MT_H
#define MT_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "net.h"
#include "rcm_base.h"

/*
 * For the programs of test/mt: threads on the fake device, short, and made
 * to be run under ThreadSanitizer too, where Criterion does not work.
 */

/* Ends the program with what went wrong. */
#define MT_CHECK(cond)                                                     \
	do {                                                               \
		if (!(cond)) {                                             \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
				#cond);                                    \
			exit(1);                                           \
		}                                                          \
	} while (0)

static inline pthread_t mt_start(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	MT_CHECK(pthread_create(&thread, NULL, fn, arg) == 0);
	return thread;
}

static inline void mt_join(pthread_t thread)
{
	MT_CHECK(pthread_join(thread, NULL) == 0);
}

/* A net for several threads, open up to its queues; CAPS beside FI_MSG. */
static inline void mt_open_caps(struct net *n, uint64_t caps)
{
	net_begin(n, NULL, 0);
	fake_be_patient();
	n->hints->caps |= caps;
	n->hints->domain_attr->threading = FI_THREAD_SAFE;
	n->eq_attr.wait_obj = FI_WAIT_FD;
	n->cq_attr.wait_obj = FI_WAIT_FD;
	MT_CHECK(net_open(n) == 0);
	MT_CHECK(n->info->domain_attr->threading == FI_THREAD_SAFE);
}

static inline void mt_open(struct net *n)
{
	mt_open_caps(n, 0);
}

#endif /* MT_H */
