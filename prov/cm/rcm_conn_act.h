/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_CONN_ACT_H
#define RCM_CONN_ACT_H

#include "rcm_conn.h"

/* What the files of this directory share about connections. */

/* What came with an event. */
struct rcm_conn_cause {
	int err;	/* positive FI_E; 0: nothing went wrong */
	int prov_errno; /* for rcm_err_cm_text() */
	const uint8_t *data;
	size_t len;
	bool bad_data; /* there was some, and it made no sense */
};

/*
 * The machine: looks up the row, acts, commits the state, reports. Returns 0
 * or a -FI_E of a user's call; for an event what its action returned.
 */
int rcm_conn_handle(struct rcm_conn *conn, enum rcm_fsm_event ev,
		    const struct rcm_conn_cause *cause);

/* Does ACTION. 0 or -FI_E; never fails where rcm_fsm_may_fail() says so. */
int rcm_conn_act(struct rcm_conn *conn, enum rcm_fsm_action action,
		 const struct rcm_conn_cause *cause);

/*
 * A connection for the request that EV holds, with its data decoded. The id
 * is the connection's afterwards. NULL, with the positive FI_E in *ERR, and
 * the id is still the caller's.
 */
struct rcm_conn *rcm_conn_from_request(const struct rcm_chan_event *ev,
				       struct rcm_chan *chan, int *err);

/* Answers a request that nobody will see, and destroys its id. */
void rcm_conn_refuse(struct rdma_cm_id *id);

/*
 * Destroys ID and passes through EQ_LOCK; nothing names ID's context
 * afterwards, also when destroying failed.
 */
void rcm_conn_destroy_id(struct rdma_cm_id *id, struct rcm_lock *eq_lock);

/* An event for the listener. */
void rcm_listener_event(struct rcm_listener *l,
			const struct rcm_chan_event *ev);

#endif /* RCM_CONN_ACT_H */
