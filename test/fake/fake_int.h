/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef FAKE_INT_H
#define FAKE_INT_H

#include <errno.h>
#include <ifaddrs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "rcm_addr.h"
#include "rcm_base.h"
#include "rcm_list.h"
#include "rcm_sys.h"

/* What the files of the fake share. Everything is under one lock. */

struct fake_dev {
	struct ibv_device device;
	struct fake_dev_conf conf;
	char name[64];
	char ifname[16];
	unsigned int ifindex;
	union rcm_addr addrs[FAKE_MAX_ADDRS];
	unsigned int n_addrs;
	struct ibv_context cm_ctx; /* the connection manager's own */
	bool gone;		   /* unplugged; kept for those who use it */
	int n_cqs, n_srqs, n_qps, n_mrs;
};

/* A fd that is readable while N is not 0. */
struct fake_fd {
	int fd;
	unsigned int n;
};

struct fake_ctx {
	struct rcm_list node;
	struct ibv_context ctx;
	struct fake_dev *dev;
	struct fake_fd async;
	struct rcm_list events; /* struct fake_async */
	int users;		/* objects that live on it */
};

struct fake_async {
	struct rcm_list node;
	struct ibv_async_event event;
};

struct fake_pd {
	struct rcm_list node;
	struct ibv_pd pd;
	struct fake_pd *base; /* of a parent domain */
	struct fake_td *td;
	int users;
};

struct fake_td {
	struct rcm_list node;
	struct ibv_td td;
	int users;
};

struct fake_mr {
	struct rcm_list node;
	struct ibv_mr mr;
	int access;
	bool lost; /* the device refused to let go: nobody's leak */
};

struct fake_cc {
	struct rcm_list node;
	struct ibv_comp_channel cc;
	struct fake_fd fd;
	struct rcm_list events; /* struct fake_cq, by .event */
	int users;
};

struct fake_cqe {
	struct ibv_wc wc;
	struct fake_qp *qp;   /* whose queue it empties; NULL: destroyed */
	struct fake_srq *srq; /* of a shared receive; it is still open */
	bool recv;
	uint64_t seq; /* of the work request */
};

struct fake_cq {
	struct rcm_list node;
	struct rcm_list event; /* in the channel's list */
	struct ibv_cq cq;
	struct fake_cqe *cqes;
	unsigned int size, head, fill;
	bool armed;
	unsigned int unacked;
	unsigned int lag; /* polls that still see nothing */
	int users;
	bool overrun;
};

/* A posted work request. */
struct fake_wr {
	struct rcm_list node;
	uint64_t wr_id;
	uint64_t seq;
	bool signaled, imm, inlined;
	enum ibv_wr_opcode opcode; /* of a send queue's */
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add, swap; /* of an atomic one */
	uint32_t imm_data;
	unsigned int n_sge;
	struct ibv_sge *sge;
	uint8_t *copy; /* of inline data */
	size_t len;
};

static inline bool fake_wr_is_atomic(const struct fake_wr *wr)
{
	return wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

struct fake_srq {
	struct rcm_list node;
	struct ibv_srq srq;
	struct fake_dev *dev;
	struct rcm_list rq; /* not used up yet */
	uint32_t max_wr, max_sge;
	uint32_t used; /* till the completion has been read */
	int users;
};

struct fake_qp {
	struct rcm_list node;
	struct ibv_qp qp;
	struct fake_srq *srq;  /* whose receives it uses up; or NULL */
	struct rcm_list taken; /* from there, by messages not complete */
	struct fake_dev *dev;
	struct ibv_qp_cap cap;
	struct ibv_qp_attr attr;
	bool sig_all;
	bool comm_est, last_wqe; /* reported */
	unsigned int owed; /* completions of shared receives, not read yet */
	struct rcm_list sq, rq;	  /* not executed yet */
	uint64_t sq_seq, sq_done; /* posted; known to be complete */
	uint64_t rq_seq, rq_done;
	unsigned int unacked; /* async events */
};

struct fake_chan {
	struct rcm_list node;
	struct rdma_event_channel ec;
	struct fake_fd fd;
	struct rcm_list events; /* struct fake_event */
	int users;
};

enum fake_id_state {
	FAKE_ID_IDLE,
	FAKE_ID_BOUND,
	FAKE_ID_LISTEN,
	FAKE_ID_ADDR,
	FAKE_ID_ROUTE,
	FAKE_ID_REQ_SENT,
	FAKE_ID_REQ_RCVD,
	FAKE_ID_REP_SENT,
	FAKE_ID_REP_RCVD,
	FAKE_ID_ESTAB,
	FAKE_ID_DREQ_SENT,
	FAKE_ID_DREQ_RCVD,
	FAKE_ID_DONE,
};

struct fake_id {
	struct rcm_list node;
	struct rdma_cm_id id;
	enum fake_id_state state;
	struct fake_chan *chan;
	struct fake_dev *dev;
	struct fake_id *peer;	  /* while there is one */
	struct fake_id *listener; /* of a request not taken yet */
	int backlog;
	int waiting;	/* requests of a listener not answered */
	bool owns_port; /* bound by itself */
	bool given;	/* a request that the user has seen */
	bool timewait;	/* TIMEWAIT_EXIT is due */
	bool lost;	/* destroying it failed: nobody's leak */
	unsigned int unacked;
	struct rdma_conn_param param; /* ours */
	struct rdma_conn_param peer_param;
	int tos, ack_timeout;
};

struct fake_event {
	struct rcm_list node;
	struct rdma_cm_event ev;
	struct fake_id *owner; /* whose acknowledgement counts */
	uint8_t data[256];
};

struct fake_state {
	pthread_mutex_t lock;
	pthread_cond_t acked; /* an event was acknowledged */
	bool patient;
	bool installed;
	struct fake_dev **devs;
	unsigned int n_devs;
	struct rcm_list ctxs, pds, tds, mrs, ccs, cqs, srqs, qps, chans, ids;
	struct rcm_list unacked;
	int lists, ifaddrs; /* device and address lists given out */
	int async_unacked;
	uint32_t next_key, next_qpn;
	uint16_t next_port;
	unsigned int problems;
	unsigned int doorbells;
	unsigned int fences;
	bool wire_held, silent;
	int drop_type;
	unsigned int drop_n;
};

extern struct fake_state fake;
extern _Thread_local int fake_depth; /* inside the fake: no alloc faults */

/* Takes the lock and counts CALL; its planned errno, or 0. */
int fake_enter(enum fake_call call);
/* The same without counting. */
void fake_enter_quiet(void);
void fake_leave_quiet(void);
/* Gives the lock back; ERR is a positive errno. */
int fake_leave(int err);
void *fake_leave_ptr(void *ptr, int err);

/* Counts CALL, under the lock; its planned errno, or 0. fake_fault.c */
int fake_plan(enum fake_call call);

/*
 * Waits for COUNT, of events that are not acknowledged, to become 0, since
 * the real call would; false when it is not going to. Under the lock.
 */
bool fake_wait_acked(const unsigned int *count);

void fake_problem(const char *fmt, ...) RCM_PRINTF(1, 2);
void *fake_new(size_t size); /* zeroed; never NULL */

void fake_fd_open(struct fake_fd *f);
void fake_fd_close(struct fake_fd *f);
void fake_fd_put(struct fake_fd *f);
/* Takes one: false when there is none; a blocking fd is a problem then. */
bool fake_fd_take(struct fake_fd *f, const char *what);

#define fake_of(ptr, type, member) rcm_container_of(ptr, struct type, member)

/* fake_dev.c */
void fake_devs_make(const struct fake_dev_conf *conf, unsigned int n);
void fake_devs_free(void);
struct fake_dev *fake_dev_by_addr(const union rcm_addr *addr);
void fake_async_put(struct fake_ctx *ctx, enum ibv_event_type type,
		    struct ibv_qp *qp);
void fake_async_purge(struct fake_ctx *ctx, struct ibv_qp *qp);
void fake_ctx_free(struct fake_ctx *c);

/* fake_mem.c: the bytes of an sge list; NULL or a bad key end the walk */
enum ibv_wc_status fake_mem_check(struct fake_qp *qp, const struct ibv_sge *sge,
				  unsigned int n, int access);

/* The same of LEN bytes at ADDR that a peer's request is about. */
enum ibv_wc_status fake_mem_check_remote(struct fake_qp *qp, uint64_t addr,
					 size_t len, uint32_t rkey, int access);

/* fake_cq.c */
void fake_cq_put(struct fake_cq *cq, const struct fake_cqe *cqe);
void fake_cq_forget(struct fake_cq *cq, struct fake_qp *qp, bool keep);
void fake_cq_free(struct fake_cq *cq);
void fake_cc_free(struct fake_cc *cc);
int fake_poll_cq(struct ibv_cq *vcq, int n, struct ibv_wc *wc);
int fake_req_notify_cq(struct ibv_cq *vcq, int solicited);

/* fake_qp.c */
void fake_qp_error(struct fake_qp *qp);
/* In error, and all that it took from its shared queue has come back. */
void fake_qp_left_srq(struct fake_qp *qp);
void fake_qp_complete(struct fake_qp *qp, struct fake_wr *wr, bool recv,
		      struct ibv_wc *wc);
void fake_qp_free(struct fake_qp *qp);
/* Where its receives are. */
struct rcm_list *fake_qp_rq(struct fake_qp *qp);
void fake_wr_free(struct fake_wr *wr);

/* fake_post.c, fake_wire.c */
int fake_post_send(struct ibv_qp *vqp, struct ibv_send_wr *wr,
		   struct ibv_send_wr **bad);
int fake_post_recv(struct ibv_qp *vqp, struct ibv_recv_wr *wr,
		   struct ibv_recv_wr **bad);
int fake_post_srq_recv(struct ibv_srq *vsrq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad);
struct fake_qp *fake_qp_by_num(uint32_t qpn);
void fake_wire_run(struct fake_qp *sender);
void fake_wire_run_all(void);
struct fake_wr *fake_wr_new(uint64_t wr_id, const struct ibv_sge *sge, int n);
void fake_wire_time_out(void);

/* fake_srq.c */
int fake_srq_limit(int conf, int otherwise);
void fake_srq_free(struct fake_srq *srq);

/* fake_chan.c */
void fake_chan_put(struct fake_id *id, struct fake_id *owner,
		   enum rdma_cm_event_type type, int status,
		   const struct rdma_conn_param *param, size_t field);
/* Whether an event of TYPE, or the message behind it, is to be lost. */
bool fake_chan_loses(enum rdma_cm_event_type type);
void fake_chan_purge(struct fake_id *id);
void fake_chan_free(struct fake_chan *chan);

/* fake_id.c, fake_conn.c */
struct fake_id *fake_id_new(struct fake_chan *chan, void *context);
void fake_id_free(struct fake_id *id);
void fake_conn_hang_up(struct fake_id *id);
void fake_conn_time_out(void);

/* the table's functions, by file */
struct ibv_device **fake_get_device_list(int *num);
void fake_free_device_list(struct ibv_device **list);
const char *fake_get_device_name(struct ibv_device *device);
struct ibv_context *fake_open_device(struct ibv_device *device);
int fake_close_device(struct ibv_context *ctx);
int fake_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr);
int fake_query_port(struct ibv_context *ctx, uint8_t port,
		    struct ibv_port_attr *attr);
ssize_t fake_query_gid_table(struct ibv_context *ctx,
			     struct ibv_gid_entry *entries, size_t max);
int fake_get_async_event(struct ibv_context *ctx, struct ibv_async_event *ev);
void fake_ack_async_event(struct ibv_async_event *ev);
int fake_get_ifaddrs(struct ifaddrs **list);
void fake_free_ifaddrs(struct ifaddrs *list);
struct ibv_pd *fake_alloc_pd(struct ibv_context *ctx);
int fake_dealloc_pd(struct ibv_pd *pd);
struct ibv_td *fake_alloc_td(struct ibv_context *ctx,
			     struct ibv_td_init_attr *attr);
int fake_dealloc_td(struct ibv_td *td);
struct ibv_pd *
fake_alloc_parent_domain(struct ibv_context *ctx,
			 struct ibv_parent_domain_init_attr *attr);
struct ibv_mr *fake_reg_mr(struct ibv_pd *pd, void *addr, size_t len,
			   int access);
struct ibv_mr *fake_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				  size_t len, uint64_t iova, int fd,
				  int access);
int fake_dereg_mr(struct ibv_mr *mr);
struct ibv_comp_channel *fake_create_comp_channel(struct ibv_context *ctx);
int fake_destroy_comp_channel(struct ibv_comp_channel *channel);
struct ibv_cq *fake_create_cq(struct ibv_context *ctx, int cqe,
			      void *cq_context,
			      struct ibv_comp_channel *channel, int vector);
int fake_destroy_cq(struct ibv_cq *cq);
int fake_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		      void **cq_context);
void fake_ack_cq_events(struct ibv_cq *cq, unsigned int n);
struct ibv_srq *fake_create_srq(struct ibv_pd *pd,
				struct ibv_srq_init_attr *attr);
int fake_destroy_srq(struct ibv_srq *srq);
struct ibv_qp *fake_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int fake_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int fake_destroy_qp(struct ibv_qp *qp);
struct rdma_event_channel *fake_create_event_channel(void);
void fake_destroy_event_channel(struct rdma_event_channel *channel);
int fake_get_cm_event(struct rdma_event_channel *channel,
		      struct rdma_cm_event **event);
int fake_ack_cm_event(struct rdma_cm_event *event);
int fake_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
		   void *context);
int fake_destroy_id(struct rdma_cm_id *id);
int fake_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);
int fake_set_option(struct rdma_cm_id *id, int level, int name, void *value,
		    size_t len);
int fake_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int fake_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
		      struct sockaddr *dst, int timeout_ms);
int fake_resolve_route(struct rdma_cm_id *id, int timeout_ms);
int fake_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr,
		      int *mask);
int fake_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
int fake_establish(struct rdma_cm_id *id);
int fake_listen(struct rdma_cm_id *id, int backlog);
int fake_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int fake_reject(struct rdma_cm_id *id, const void *data, uint8_t len);
int fake_notify(struct rdma_cm_id *id, enum ibv_event_type event);
int fake_disconnect(struct rdma_cm_id *id);
struct sockaddr *fake_local_addr(struct rdma_cm_id *id);
struct sockaddr *fake_peer_addr(struct rdma_cm_id *id);

#endif /* FAKE_INT_H */
