/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "rcm_err.h"

/*
 * Thin wrappers that differ from the library's calls in one thing: what they
 * return. Destroying calls are tried again by nobody, so all are alike.
 */

static const char *rcm_sys_get_device_name(struct ibv_device *device)
{
	return ibv_get_device_name(device);
}

static int rcm_sys_close_device(struct ibv_context *ctx)
{
	return rcm_err_from_rdma(ibv_close_device(ctx));
}

static int rcm_sys_query_device(struct ibv_context *ctx,
				struct ibv_device_attr *attr)
{
	return rcm_err_from_rdma(ibv_query_device(ctx, attr));
}

static int rcm_sys_query_port(struct ibv_context *ctx, uint8_t port,
			      struct ibv_port_attr *attr)
{
	return rcm_err_from_rdma(ibv_query_port(ctx, port, attr));
}

static ssize_t rcm_sys_query_gid_table(struct ibv_context *ctx,
				       struct ibv_gid_entry *entries,
				       size_t max)
{
	ssize_t n = ibv_query_gid_table(ctx, entries, max, 0);

	return n < 0 ? rcm_err_from_rdma((int)n) : n;
}

static int rcm_sys_get_async_event(struct ibv_context *ctx,
				   struct ibv_async_event *event)
{
	return rcm_err_from_rdma(ibv_get_async_event(ctx, event));
}

static int rcm_sys_get_ifaddrs(struct ifaddrs **list)
{
	return rcm_err_from_rdma(getifaddrs(list));
}

static int rcm_sys_dealloc_pd(struct ibv_pd *pd)
{
	return rcm_err_from_rdma(ibv_dealloc_pd(pd));
}

static struct ibv_td *rcm_sys_alloc_td(struct ibv_context *ctx,
				       struct ibv_td_init_attr *attr)
{
	return ibv_alloc_td(ctx, attr);
}

static int rcm_sys_dealloc_td(struct ibv_td *td)
{
	return rcm_err_from_rdma(ibv_dealloc_td(td));
}

static struct ibv_pd *
rcm_sys_alloc_parent_domain(struct ibv_context *ctx,
			    struct ibv_parent_domain_init_attr *attr)
{
	return ibv_alloc_parent_domain(ctx, attr);
}

static struct ibv_mr *rcm_sys_reg_mr(struct ibv_pd *pd, void *addr, size_t len,
				     int access)
{
	return ibv_reg_mr(pd, addr, len, access);
}

static struct ibv_mr *rcm_sys_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
					    size_t len, uint64_t iova, int fd,
					    int access)
{
#ifdef HAVE_IBV_REG_DMABUF_MR
	return ibv_reg_dmabuf_mr(pd, offset, len, iova, fd, access);
#else
	(void)pd;
	(void)offset;
	(void)len;
	(void)iova;
	(void)fd;
	(void)access;
	errno = EOPNOTSUPP;
	return NULL;
#endif
}

static int rcm_sys_dereg_mr(struct ibv_mr *mr)
{
	return rcm_err_from_rdma(ibv_dereg_mr(mr));
}

static int rcm_sys_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	return rcm_err_from_rdma(ibv_destroy_comp_channel(channel));
}

static int rcm_sys_destroy_cq(struct ibv_cq *cq)
{
	return rcm_err_from_rdma(ibv_destroy_cq(cq));
}

static int rcm_sys_get_cq_event(struct ibv_comp_channel *channel,
				struct ibv_cq **cq, void **cq_context)
{
	return rcm_err_from_rdma(ibv_get_cq_event(channel, cq, cq_context));
}

static int rcm_sys_destroy_srq(struct ibv_srq *srq)
{
	return rcm_err_from_rdma(ibv_destroy_srq(srq));
}

static int rcm_sys_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			     int mask)
{
	return rcm_err_from_rdma(ibv_modify_qp(qp, attr, mask));
}

static int rcm_sys_destroy_qp(struct ibv_qp *qp)
{
	return rcm_err_from_rdma(ibv_destroy_qp(qp));
}

static int rcm_sys_get_cm_event(struct rdma_event_channel *channel,
				struct rdma_cm_event **event)
{
	return rcm_err_from_rdma(rdma_get_cm_event(channel, event));
}

static int rcm_sys_ack_cm_event(struct rdma_cm_event *event)
{
	return rcm_err_from_rdma(rdma_ack_cm_event(event));
}

static int rcm_sys_create_id(struct rdma_event_channel *channel,
			     struct rdma_cm_id **id, void *context)
{
	return rcm_err_from_rdma(
		rdma_create_id(channel, id, context, RDMA_PS_TCP));
}

static int rcm_sys_destroy_id(struct rdma_cm_id *id)
{
	return rcm_err_from_rdma(rdma_destroy_id(id));
}

static int rcm_sys_migrate_id(struct rdma_cm_id *id,
			      struct rdma_event_channel *channel)
{
	return rcm_err_from_rdma(rdma_migrate_id(id, channel));
}

static int rcm_sys_set_option(struct rdma_cm_id *id, int level, int name,
			      void *value, size_t len)
{
	return rcm_err_from_rdma(rdma_set_option(id, level, name, value, len));
}

static int rcm_sys_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	return rcm_err_from_rdma(rdma_bind_addr(id, addr));
}

static int rcm_sys_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
				struct sockaddr *dst, int timeout_ms)
{
	return rcm_err_from_rdma(rdma_resolve_addr(id, src, dst, timeout_ms));
}

static int rcm_sys_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	return rcm_err_from_rdma(rdma_resolve_route(id, timeout_ms));
}

static int rcm_sys_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr,
				int *mask)
{
	return rcm_err_from_rdma(rdma_init_qp_attr(id, attr, mask));
}

static int rcm_sys_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return rcm_err_from_rdma(rdma_connect(id, param));
}

static int rcm_sys_establish(struct rdma_cm_id *id)
{
	return rcm_err_from_rdma(rdma_establish(id));
}

static int rcm_sys_listen(struct rdma_cm_id *id, int backlog)
{
	return rcm_err_from_rdma(rdma_listen(id, backlog));
}

static int rcm_sys_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return rcm_err_from_rdma(rdma_accept(id, param));
}

static int rcm_sys_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	return rcm_err_from_rdma(rdma_reject(id, data, len));
}

static int rcm_sys_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	return rcm_err_from_rdma(rdma_notify(id, event));
}

static int rcm_sys_disconnect(struct rdma_cm_id *id)
{
	return rcm_err_from_rdma(rdma_disconnect(id));
}

static struct sockaddr *rcm_sys_local_addr(struct rdma_cm_id *id)
{
	return rdma_get_local_addr(id);
}

static struct sockaddr *rcm_sys_peer_addr(struct rdma_cm_id *id)
{
	return rdma_get_peer_addr(id);
}

static int rcm_sys_read_sysfs(const char *path, char *buf, size_t len)
{
	ssize_t n;
	int fd, err;

	if (!len)
		return -FI_EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -rcm_err_from_errno(errno);
	n = read(fd, buf, len - 1);
	err = n < 0 ? errno : 0;
	close(fd);
	if (err)
		return -rcm_err_from_errno(err);
	if (n && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return 0;
}

const struct rcm_sys rcm_sys_real = {
	.get_device_list = ibv_get_device_list,
	.free_device_list = ibv_free_device_list,
	.get_device_name = rcm_sys_get_device_name,
	.open_device = ibv_open_device,
	.close_device = rcm_sys_close_device,
	.query_device = rcm_sys_query_device,
	.query_port = rcm_sys_query_port,
	.query_gid_table = rcm_sys_query_gid_table,
	.get_async_event = rcm_sys_get_async_event,
	.ack_async_event = ibv_ack_async_event,
	.get_ifaddrs = rcm_sys_get_ifaddrs,
	.free_ifaddrs = freeifaddrs,
	.alloc_pd = ibv_alloc_pd,
	.dealloc_pd = rcm_sys_dealloc_pd,
	.alloc_td = rcm_sys_alloc_td,
	.dealloc_td = rcm_sys_dealloc_td,
	.alloc_parent_domain = rcm_sys_alloc_parent_domain,
	.reg_mr = rcm_sys_reg_mr,
	.reg_dmabuf_mr = rcm_sys_reg_dmabuf_mr,
	.dereg_mr = rcm_sys_dereg_mr,
	.create_comp_channel = ibv_create_comp_channel,
	.destroy_comp_channel = rcm_sys_destroy_comp_channel,
	.create_cq = ibv_create_cq,
	.destroy_cq = rcm_sys_destroy_cq,
	.get_cq_event = rcm_sys_get_cq_event,
	.ack_cq_events = ibv_ack_cq_events,
	.create_srq = ibv_create_srq,
	.destroy_srq = rcm_sys_destroy_srq,
	.create_qp = ibv_create_qp,
	.modify_qp = rcm_sys_modify_qp,
	.destroy_qp = rcm_sys_destroy_qp,
	.create_event_channel = rdma_create_event_channel,
	.destroy_event_channel = rdma_destroy_event_channel,
	.get_cm_event = rcm_sys_get_cm_event,
	.ack_cm_event = rcm_sys_ack_cm_event,
	.create_id = rcm_sys_create_id,
	.destroy_id = rcm_sys_destroy_id,
	.migrate_id = rcm_sys_migrate_id,
	.set_option = rcm_sys_set_option,
	.bind_addr = rcm_sys_bind_addr,
	.resolve_addr = rcm_sys_resolve_addr,
	.resolve_route = rcm_sys_resolve_route,
	.init_qp_attr = rcm_sys_init_qp_attr,
	.connect = rcm_sys_connect,
	.establish = rcm_sys_establish,
	.listen = rcm_sys_listen,
	.accept = rcm_sys_accept,
	.reject = rcm_sys_reject,
	.notify = rcm_sys_notify,
	.disconnect = rcm_sys_disconnect,
	.local_addr = rcm_sys_local_addr,
	.peer_addr = rcm_sys_peer_addr,
	.read_sysfs = rcm_sys_read_sysfs,
};

const struct rcm_sys *rcm_sys = &rcm_sys_real;
