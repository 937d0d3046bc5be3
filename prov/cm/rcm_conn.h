/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_CONN_H
#define RCM_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/rdma_cma.h>

#include "rcm_addr.h"
#include "rcm_chan.h"
#include "rcm_fsm.h"
#include "rcm_lock.h"
#include "rcm_wire.h"

struct rcm_conn;

/* First in what an id's context points to: whose events these are. */
enum rcm_cm_kind {
	RCM_CM_CONN = 1,
	RCM_CM_LISTENER,
};

/* What happened to a connection, for the layer above. */
struct rcm_conn_report {
	enum rcm_fsm_report what; /* CONNECTED, SHUTDOWN, ERROR, REFUSED */
	int err;	/* positive FI_E: why; for SHUTDOWN too, 0 if just so */
	int prov_errno; /* for rcm_err_cm_text() */
	const uint8_t *data; /* the peer's private data; may be NULL */
	size_t len;	     /* bytes of it, at most RCM_CM_DATA_MAX */
};

/*
 * Calls upward. All run under the event queue's lock, inside a call of this
 * file; they must not call back into it, nor take the EQ's lock.
 */
struct rcm_conn_ops {
	/* Makes the queue pair, in state INIT, and sets conn->qp. */
	int (*qp_create)(struct rcm_conn *conn);
	/*
	 * The queue pair is in RTS: posts may start. The report CONNECTED may
	 * be far off where the peer has the last word, and its first message
	 * may come before it.
	 */
	void (*qp_up)(struct rcm_conn *conn);
	/*
	 * The queue pair goes to ERR: posts get -FI_ESHUTDOWN from now on, or
	 * come back flushed (rcm_qp_down()). Once, for one that qp_create()
	 * made; the report of the end follows, if one is due.
	 */
	void (*qp_down)(struct rcm_conn *conn);
	void (*report)(struct rcm_conn *conn,
		       const struct rcm_conn_report *report);
};

/* What a connection is to be made with; from the parameters and the info. */
struct rcm_conn_cfg {
	char dev_name[64];   /* the domain's device; "": any will do */
	int resolve_timeout; /* ms, for the address and again for the route */
	uint8_t retry_count;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;	     /* code, ibv_modify_qp(3) */
	uint8_t ack_timeout;	     /* code; 0: leave it to rdma_cm */
	int tos;		     /* -1: leave it to the system */
	uint8_t responder_resources; /* most that this side offers */
	uint8_t initiator_depth;     /* most that this side uses */
	int access; /* IBV_ACCESS_REMOTE_*: what the peer may do at most */
	bool srq;
};

#define RCM_CONN_HISTORY 16

/*
 * One connection. Made by rcm_conn_new() for a user who will connect, or by
 * the listener for a request that arrived. All calls on it hold the lock of
 * the event queue whose channel it is on, unless they say otherwise.
 */
struct rcm_conn {
	enum rcm_cm_kind kind;
	enum rcm_fsm_state state; /* written by rcm_conn_handle() only */
	struct rdma_cm_id *id;	  /* NULL until connect on the active side */
	struct rcm_chan *chan;	  /* where its events arrive */
	struct ibv_qp *qp;	  /* the user's; set by ops->qp_create */
	bool qp_is_down;	  /* it is in ERR, and ops->qp_down was told */
	const struct rcm_conn_ops *ops; /* NULL: nobody has adopted it yet */
	void *user;			/* for the ops */
	struct rcm_conn_cfg cfg;
	union rcm_addr src; /* family 0: none asked for */
	union rcm_addr dst;
	int failed; /* -FI_E of what ended it while nobody could be told */
	struct rcm_wire wire;	   /* our private data, for what is sent next */
	struct rcm_wire peer_wire; /* the peer's, checked */
	uint8_t peer_responder_resources; /* of the request that arrived */
	uint8_t peer_initiator_depth;
	bool pulls;	   /* agreed: this side may have reads outstanding */
	unsigned int late; /* events that came too late */
	unsigned int n_history;
	struct {
		uint8_t state, event, to;
		int16_t failed; /* -FI_E of the action */
	} history[RCM_CONN_HISTORY];
};

/*
 * A connection in RCM_ST_IDLE, or NULL for want of memory. Ended by
 * rcm_conn_close() and rcm_conn_free().
 */
struct rcm_conn *rcm_conn_new(const struct rcm_conn_ops *ops, void *user);

/*
 * The layer above takes over a connection that a request made: its reports
 * go to OPS from now on. Returns 0, or the -FI_E that has ended it already;
 * the calls that follow return that too, and rcm_conn_close() is due in
 * either case.
 */
int rcm_conn_adopt(struct rcm_conn *conn, const struct rcm_conn_ops *ops,
		   void *user);

/*
 * Binds the connection to CHAN: events of its id arrive there from now on.
 * Holds the lock of the old channel's event queue where there was one (the
 * call waits for nothing, since events are acknowledged when taken).
 * -FI_EOPBADSTATE once fi_connect or fi_accept has been called, or what
 * rdma_migrate_id(3) says; the channel is the old one then.
 */
int rcm_conn_set_chan(struct rcm_conn *conn, struct rcm_chan *chan);

/*
 * fi_enable(3). -FI_EOPBADSTATE when it is too late for that; -FI_EINVAL when
 * a request came in through another device than the configured one; what
 * ops->qp_create returns. 0 also when it is enabled already.
 */
int rcm_conn_enable(struct rcm_conn *conn);

/*
 * fi_connect(3): starts; how it ends is reported. -FI_EINVAL for bad data
 * (rcm_wire_encode) or an address that is none, -FI_ENOEQ without a channel,
 * what rdma_resolve_addr(3) says. A second connect: -FI_EALREADY while the
 * first is under way, -FI_EISCONN when connected, else -FI_EOPBADSTATE (also
 * after the end: an endpoint connects once).
 */
int rcm_conn_connect(struct rcm_conn *conn, const union rcm_addr *dst,
		     const void *data, size_t len);

/*
 * fi_accept(3), for a connection that a request made; same errors as
 * rcm_conn_connect(). A failure other than these ends the connection: the
 * request has been rejected then.
 */
int rcm_conn_accept(struct rcm_conn *conn, const void *data, size_t len);

/*
 * fi_reject(3): answers the request with LEN bytes; the caller closes the
 * connection afterwards, whatever this returns.
 */
int rcm_conn_reject(struct rcm_conn *conn, const void *data, size_t len);

/*
 * fi_shutdown(3). Connected: rdma_disconnect(3), the queue pair goes to ERR,
 * and SHUTDOWN is reported when the peer has answered or cannot. Connecting: an ERROR, FI_ECANCELED.
 * 0 also when it is down already; -FI_ENOTCONN before fi_connect or
 * fi_accept.
 */
int rcm_conn_shutdown(struct rcm_conn *conn);

/* An event from the queue pair: RCM_EV_QP_ERR or RCM_EV_COMM_EST. */
void rcm_conn_qp_event(struct rcm_conn *conn, enum rcm_fsm_event ev);

/*
 * First half of the end: RCM_ST_CLOSED, the peer informed, no report after
 * it (but ops->qp_down, inside). Never waits. The queue pair is in ERR
 * afterwards where there is one; it may be destroyed from then on.
 */
void rcm_conn_close(struct rcm_conn *conn);

/*
 * Second half, after rcm_conn_close(): destroys the id and frees CONN.
 * Called without a lock. EQ_LOCK is the lock of the event queue that the
 * connection was on: it is taken and released once, so that a thread which
 * was just handling a late event has left; NULL when there was none.
 */
void rcm_conn_free(struct rcm_conn *conn, struct rcm_lock *eq_lock);

/*
 * The address of this side, and of the peer; what the user asked for while
 * the kernel has not decided. -FI_EOPBADSTATE (local: none known) and
 * -FI_ENOTCONN (peer).
 */
int rcm_conn_local_addr(const struct rcm_conn *conn, union rcm_addr *addr);
int rcm_conn_peer_addr(const struct rcm_conn *conn, union rcm_addr *addr);

/* "10.0.0.1:7000 -> 10.0.0.2:7471 qp 0x11 CONNECTED", into BUF; for logs. */
#define RCM_CONN_STR 256
const char *rcm_conn_describe(const struct rcm_conn *conn, char *buf);
/* The last RCM_CONN_HISTORY steps, one line. */
#define RCM_CONN_HISTORY_STR 1024
const char *rcm_conn_history(const struct rcm_conn *conn, char *buf);

/* A listener: a passive endpoint's rdma_cm id. Same lock as connections. */
struct rcm_listener {
	enum rcm_cm_kind kind;
	struct rdma_cm_id *id;
	struct rcm_chan *chan;
	bool bound;
	bool listening;
	/*
	 * A request arrived: CONN is the callee's, who may also close and
	 * free it at once. Runs under the lock; ERR is 0, or the positive
	 * FI_E code why the request was refused (then CONN is NULL).
	 */
	void (*connreq)(struct rcm_listener *listener, struct rcm_conn *conn,
			int err);
	/* The device went, or the like: ERR is positive FI_E. */
	void (*failed)(struct rcm_listener *listener, int err, int prov_errno);
};

/*
 * Creates the id on CHAN and binds it to ADDR; connreq and failed are set
 * already. -FI_EADDRINUSE, -FI_EADDRNOTAVAIL, or what rdma_bind_addr(3)
 * says, and nothing is left; -FI_EOPBADSTATE when it is bound.
 */
int rcm_listener_bind(struct rcm_listener *l, struct rcm_chan *chan,
		      const union rcm_addr *addr);
/* rdma_listen(3). -FI_EOPBADSTATE unless bound and not yet listening. */
int rcm_listener_listen(struct rcm_listener *l, int backlog);
/*
 * Takes it off the network. Called without a lock; like rcm_conn_free() it
 * passes through EQ_LOCK; no connreq() or failed() after it has returned.
 * Safe on one that was never bound; it may be bound again afterwards.
 */
void rcm_listener_close(struct rcm_listener *l, struct rcm_lock *eq_lock);
/* Where it listens, with the port in force. -FI_EOPBADSTATE: not bound. */
int rcm_listener_addr(const struct rcm_listener *l, union rcm_addr *addr);

/*
 * Hands one event of a channel to the connection or listener it is for.
 * The one place that translates rdma_cm events. Under the EQ's lock.
 */
void rcm_conn_dispatch(const struct rcm_chan_event *ev);

#endif /* RCM_CONN_H */
