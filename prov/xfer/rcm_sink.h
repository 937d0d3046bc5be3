/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_SINK_H
#define RCM_SINK_H

#include <stdatomic.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/*
 * A device answers every atomic request with the word that was there, and
 * wants a place for it even where nobody asked. Such answers all go to one
 * word, which is never read: so one does for all queue pairs of a protection
 * domain.
 */
#define RCM_SINK_SIZE 8 /* bytes */

struct rcm_sink;

/*
 * Names the sink of PD, which is made at first use and kept at *PLACE, in
 * SGE. -FI_ENOMEM (the log names the limit of locked memory), or what
 * registering said. Any number of threads; registers memory: no lock may be
 * held.
 */
int rcm_sink_get(_Atomic(struct rcm_sink *) *place, struct ibv_pd *pd,
		 struct ibv_sge *sge);

/* No request may be outstanding. NULL is fine. */
void rcm_sink_close(struct rcm_sink *sink);

#endif /* RCM_SINK_H */
