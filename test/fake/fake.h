/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/*
 * RDMA devices and a connection manager inside the test's own process,
 * behind struct rcm_sys. Queue pairs of one process really exchange data;
 * rdma_cm ids really connect. Nothing happens by itself: a message moves
 * inside the call that makes it possible, and no time passes but by
 * fake_time_passes(). Every function may be called from any thread.
 *
 * What the fake sees that a real device would not survive (an overrun
 * completion queue, a destroyed id with an event unacknowledged, a call that
 * would block) is recorded as a problem; see fake_remove().
 */

/* The calls that can be made to fail: those of the seam, and the data path. */
#define FAKE_CALLS(X)           \
	X(get_device_list)      \
	X(open_device)          \
	X(close_device)         \
	X(query_device)         \
	X(query_port)           \
	X(query_gid_table)      \
	X(get_async_event)      \
	X(get_ifaddrs)          \
	X(alloc_pd)             \
	X(dealloc_pd)           \
	X(alloc_td)             \
	X(dealloc_td)           \
	X(alloc_parent_domain)  \
	X(reg_mr)               \
	X(reg_dmabuf_mr)        \
	X(dereg_mr)             \
	X(create_comp_channel)  \
	X(destroy_comp_channel) \
	X(create_cq)            \
	X(destroy_cq)           \
	X(get_cq_event)         \
	X(create_srq)           \
	X(destroy_srq)          \
	X(create_qp)            \
	X(modify_qp)            \
	X(destroy_qp)           \
	X(create_event_channel) \
	X(get_cm_event)         \
	X(ack_cm_event)         \
	X(create_id)            \
	X(destroy_id)           \
	X(migrate_id)           \
	X(set_option)           \
	X(bind_addr)            \
	X(resolve_addr)         \
	X(resolve_route)        \
	X(init_qp_attr)         \
	X(connect)              \
	X(establish)            \
	X(listen)               \
	X(accept)               \
	X(reject)               \
	X(notify)               \
	X(disconnect)           \
	X(read_sysfs)           \
	X(post_send)            \
	X(post_recv)            \
	X(post_srq_recv)        \
	X(poll_cq)              \
	X(req_notify_cq)

enum fake_call {
#define FAKE_CALL_ENUM(name) FAKE_##name,
	FAKE_CALLS(FAKE_CALL_ENUM)
#undef FAKE_CALL_ENUM
	FAKE_CALL_COUNT
};

#define FAKE_MAX_ADDRS 4

/* One device; 0 in a limit takes the default of fake_install(). */
struct fake_dev_conf {
	const char *name;
	const char *ifname;		   /* of the network interface below */
	const char *addrs[FAKE_MAX_ADDRS]; /* "10.0.0.1", "fd00::1" */
	int ports;			   /* 1; the addresses are on port 1 */
	bool port_down;
	int open_errno;	  /* what opening it fails with */
	bool flush_lag;	  /* the flush after ERR takes a few polls of the CQ */
	bool no_td;	  /* knows no thread domains */
	bool stale_cqes;  /* a destroyed queue pair leaves its completions */
	bool no_last_wqe; /* the end of a shared queue's use is not reported */
	int max_cqe;	  /* 32767 */
	int max_cq;	  /* 65536 */
	int max_qp;	  /* 65536 */
	int max_qp_wr;	  /* 16384 */
	int max_sge;	  /* 16 */
	int max_sge_rd;	  /* max_sge; of a read */
	int max_mr;	  /* 65536 */
	int max_srq;	  /* 1024; -1: none */
	int max_srq_wr;	  /* 16384 */
	int max_srq_sge;  /* 16 */
	int max_inline;	  /* 256; -1: none */
	int max_rd_atom;  /* 16; -1: none */
	int atomic_cap;	  /* IBV_ATOMIC_HCA; -1: none */
	uint32_t max_msg_sz; /* 1 GiB */
};

/*
 * Puts the fake in place of rdma-core: one device "fake0" over interface
 * "feth0" with 10.77.0.1 and fd77::1, or the N devices of CONF.
 */
void fake_install(void);
void fake_install_devs(const struct fake_dev_conf *conf, unsigned int n);

/* The device list changes while the fake is in place (hot-plug). */
void fake_set_devs(const struct fake_dev_conf *conf, unsigned int n);

/*
 * Puts the real table back. Returns the number of problems and of objects
 * that are still open, each printed on stderr; the objects are freed.
 */
unsigned int fake_remove(void);

/*
 * Calls that wait for an acknowledgement give another thread some seconds to
 * make it; otherwise it is a problem at once.
 */
void fake_be_patient(void);

/* Memory regions that are registered now. */
unsigned int fake_regions(void);

/* What is open now, and what went wrong so far; printed when LOUD. */
unsigned int fake_leaks(bool loud);
unsigned int fake_problems(bool loud);
/* Takes back what a test provoked on purpose. */
void fake_forget_problems(void);

/*
 * Faults. The NTH call (1: the next one) of CALL from now on fails with the
 * positive errno ERR; a work request counts as one call of post_send or
 * post_recv. A call that destroys does so and fails all the same, but for
 * dereg_mr and destroy_id: what those leave stays, and is no leak.
 */
void fake_fail(enum fake_call call, unsigned int nth, int err);
/* The same for the NTH call of any kind. */
void fake_fail_any(unsigned int nth, int err);
/* The NTH call and all after it, but what only acknowledges. */
void fake_fail_from(unsigned int nth, int err);
/* Forgets every planned fault and sets the counters to 0. */
void fake_fail_none(void);
/* Calls so far: of all kinds, and of one. */
unsigned int fake_calls(void);
unsigned int fake_calls_of(enum fake_call call);
/* Calls of ibv_post_send(3) and ibv_post_recv(3), whatever was in them. */
unsigned int fake_doorbells(void);
/* Requests that were posted with IBV_SEND_FENCE. */
unsigned int fake_fences(void);
/* The name of the call that the last planned fault hit, or NULL. */
const char *fake_failed_call(void);

/* The wire. While it is held, nothing that is sent arrives. */
void fake_hold_wire(bool hold);
/* While peers are silent, connection requests are lost. */
void fake_silent_peers(bool silent);
/*
 * Time-outs come due: sends to a queue pair that is gone or in error fail
 * with RETRY_EXC_ERR, requests without an answer with UNREACHABLE, and ids
 * that have disconnected get TIMEWAIT_EXIT.
 */
void fake_time_passes(void);

/* Events. STATUS is what rdma_get_cm_event(3) gives; any TYPE will do. */
void fake_inject_cm_event(struct rdma_cm_id *id, int type, int status);
/* The next N events of TYPE are lost; of ESTABLISHED, the peer's message. */
void fake_drop_cm_events(int type, unsigned int n);
void fake_inject_qp_event(struct ibv_qp *qp, enum ibv_event_type type);
void fake_inject_dev_event(struct ibv_context *ctx, enum ibv_event_type type);

/*
 * QP takes a receive from its shared queue, as for a message of which only
 * the beginning has come: it comes back when the queue pair is in error.
 */
void fake_take_shared(struct ibv_qp *qp);

/* A look inside, for what no call reports. */
const struct ibv_qp_attr *fake_qp_attr(struct ibv_qp *qp);
/* Entries in a CQ that nobody has polled yet. */
unsigned int fake_cq_fill(struct ibv_cq *cq);
/* Completion queues, queue pairs that are open. */
unsigned int fake_n_cqs(void);
unsigned int fake_n_qps(void);
/* The queue pair that was made last, and is open. */
struct ibv_qp *fake_last_qp(void);
unsigned int fake_n_ids(void);
/* Queue pairs on a thread domain, so without locks of their own. */
unsigned int fake_n_unlocked_qps(void);
/* The value that set_option() gave last for an id's TOS or ack timeout. */
int fake_id_tos(struct rdma_cm_id *id);
int fake_id_ack_timeout(struct rdma_cm_id *id);

/*
 * Allocation faults, in a program that is linked with FAKE_WRAP_LDFLAGS
 * (test.mk): malloc, calloc, realloc, strdup, fi_dupinfo and what makes file
 * descriptors, called by the provider. The NTH from now on fails.
 */
void fake_alloc_fail(unsigned int nth);
void fake_alloc_fail_none(void);
unsigned int fake_allocs(void);
/* Whether the planned failure has happened. */
bool fake_alloc_failed(void);

#endif /* FAKE_H */
