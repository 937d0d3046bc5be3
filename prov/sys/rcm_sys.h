/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_SYS_H
#define RCM_SYS_H

#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/*
 * The seam to rdma-core: one pointer for each control call that rcm makes,
 * so that a test can stand in for the device and make any call fail. The
 * data path does not pass here: ibv_post_*, ibv_poll_cq and
 * ibv_req_notify_cq go through the ibv_context's own table.
 *
 * Convention of every function that returns int: 0, or a negative FI_E code
 * (errno and librdmacm's "-errno without errno" are sorted out in here).
 * Functions that return a pointer give NULL with errno set. None blocks for
 * the network.
 */
struct rcm_sys {
	/* devices */
	struct ibv_device **(*get_device_list)(int *num);
	void (*free_device_list)(struct ibv_device **list);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *ctx);
	int (*query_device)(struct ibv_context *ctx,
			    struct ibv_device_attr *attr);
	int (*query_port)(struct ibv_context *ctx, uint8_t port,
			  struct ibv_port_attr *attr);
	/* Number of entries, or a negative FI_E code. */
	ssize_t (*query_gid_table)(struct ibv_context *ctx,
				   struct ibv_gid_entry *entries, size_t max);
	int (*get_async_event)(struct ibv_context *ctx,
			       struct ibv_async_event *event);
	void (*ack_async_event)(struct ibv_async_event *event);
	int (*get_ifaddrs)(struct ifaddrs **list);
	void (*free_ifaddrs)(struct ifaddrs *list);

	/* protection domains, memory, queues */
	struct ibv_pd *(*alloc_pd)(struct ibv_context *ctx);
	int (*dealloc_pd)(struct ibv_pd *pd); /* a parent domain, too */
	struct ibv_td *(*alloc_td)(struct ibv_context *ctx,
				   struct ibv_td_init_attr *attr);
	int (*dealloc_td)(struct ibv_td *td);
	struct ibv_pd *(*alloc_parent_domain)(
		struct ibv_context *ctx,
		struct ibv_parent_domain_init_attr *attr);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t len,
				 int access);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset,
					size_t len, uint64_t iova, int fd,
					int access);
	int (*dereg_mr)(struct ibv_mr *mr);
	struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *ctx);
	int (*destroy_comp_channel)(struct ibv_comp_channel *channel);
	struct ibv_cq *(*create_cq)(struct ibv_context *ctx, int cqe,
				    void *cq_context,
				    struct ibv_comp_channel *channel,
				    int comp_vector);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*get_cq_event)(struct ibv_comp_channel *channel,
			    struct ibv_cq **cq, void **cq_context);
	void (*ack_cq_events)(struct ibv_cq *cq, unsigned int n);
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd,
				      struct ibv_srq_init_attr *attr);
	int (*destroy_srq)(struct ibv_srq *srq);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*destroy_qp)(struct ibv_qp *qp);

	/* the connection manager */
	struct rdma_event_channel *(*create_event_channel)(void);
	void (*destroy_event_channel)(struct rdma_event_channel *channel);
	int (*get_cm_event)(struct rdma_event_channel *channel,
			    struct rdma_cm_event **event);
	int (*ack_cm_event)(struct rdma_cm_event *event);
	int (*create_id)(struct rdma_event_channel *channel,
			 struct rdma_cm_id **id, void *context);
	int (*destroy_id)(struct rdma_cm_id *id);
	int (*migrate_id)(struct rdma_cm_id *id,
			  struct rdma_event_channel *channel);
	int (*set_option)(struct rdma_cm_id *id, int level, int name,
			  void *value, size_t len);
	int (*bind_addr)(struct rdma_cm_id *id, struct sockaddr *addr);
	int (*resolve_addr)(struct rdma_cm_id *id, struct sockaddr *src,
			    struct sockaddr *dst, int timeout_ms);
	int (*resolve_route)(struct rdma_cm_id *id, int timeout_ms);
	int (*init_qp_attr)(struct rdma_cm_id *id, struct ibv_qp_attr *attr,
			    int *mask);
	int (*connect)(struct rdma_cm_id *id, struct rdma_conn_param *param);
	int (*establish)(struct rdma_cm_id *id);
	int (*listen)(struct rdma_cm_id *id, int backlog);
	int (*accept)(struct rdma_cm_id *id, struct rdma_conn_param *param);
	int (*reject)(struct rdma_cm_id *id, const void *data, uint8_t len);
	int (*notify)(struct rdma_cm_id *id, enum ibv_event_type event);
	int (*disconnect)(struct rdma_cm_id *id);
	struct sockaddr *(*local_addr)(struct rdma_cm_id *id);
	struct sockaddr *(*peer_addr)(struct rdma_cm_id *id);

	/* a small file of the kernel, as text without its last line's end */
	int (*read_sysfs)(const char *path, char *buf, size_t len);
};

/* The table in use: the real one unless a test has put in another. */
extern const struct rcm_sys *rcm_sys;
extern const struct rcm_sys rcm_sys_real;

#endif /* RCM_SYS_H */
