/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_DRAIN_H
#define RCM_DRAIN_H

#include <stdbool.h>

#include "rcm_qp.h"

/*
 * The end of a queue pair, in two halves around its destruction. No lock
 * may be held; the gates are shut.
 */

/*
 * Moves the queue pair to ERR and waits until the device has given back all
 * that was posted, at most RCM_DRAIN_MS of the monotonic clock.
 */
#define RCM_DRAIN_MS 200
void rcm_drain_start(struct rcm_qp *qp);

/*
 * After the destruction: takes what is left of it out of the hardware
 * queues and tells FI_ECANCELED for what the device did not give back.
 * False when a hardware queue may still hold completions of it.
 */
bool rcm_drain_finish(struct rcm_qp *qp);

#endif /* RCM_DRAIN_H */
