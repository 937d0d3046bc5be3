/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_CHAN_H
#define RCM_CHAN_H

#include <stdint.h>

#include <rdma/rdma_cma.h>

#include "rcm_wire.h"

/* An rdma_cm event channel that does not block. */
struct rcm_chan {
	struct rdma_event_channel *ec;
	int fd; /* pollable: readable while events wait */
};

/* What is kept of an rdma_cm event after its acknowledgement. */
struct rcm_chan_event {
	enum rdma_cm_event_type type;
	int status;
	/*
	 * The id's context, or for a CONNECT_REQUEST the listener's. Copied,
	 * since an id may be destroyed as soon as its event is acknowledged;
	 * the object behind the context lives until the event queue's lock
	 * has been free once.
	 */
	void *context;
	struct rdma_cm_id *id; /* CONNECT_REQUEST: the new one; else NULL */
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t data_len;
	uint8_t data[255]; /* private data as it arrived */
};

/*
 * -FI_E of rdma_create_event_channel(3) or fcntl(2); nothing left then. The
 * file descriptor does not block and is closed by exec.
 */
int rcm_chan_open(struct rcm_chan *chan);
/* All ids of the channel are gone or migrated. Safe on one never opened. */
void rcm_chan_close(struct rcm_chan *chan);

/*
 * Takes the next event: copies it, acknowledges it, and only then gives it
 * to the caller, so that rdma_destroy_id() never waits for rcm. This is the
 * only place that acknowledges. 1 with *EV filled, 0 when none waits, or a
 * negative FI_E code. The caller holds the event queue's lock, and keeps it
 * until the event has been handled.
 */
int rcm_chan_next(struct rcm_chan *chan, struct rcm_chan_event *ev);

#endif /* RCM_CHAN_H */
