/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>

#include "fake_int.h"

/* Devices, what they say of themselves, and their asynchronous events. */

#define FAKE_IFINDEX 7000 /* no real interface has it */

static int fake_or(int value, int dflt)
{
	return value ? value : dflt;
}

static void fake_addr_parse(union rcm_addr *addr, const char *text)
{
	if (inet_pton(AF_INET, text, &addr->in.sin_addr) == 1)
		addr->sa.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &addr->in6.sin6_addr) == 1)
		addr->sa.sa_family = AF_INET6;
	else
		abort();
}

static struct fake_dev *fake_dev_make(const struct fake_dev_conf *conf,
				      unsigned int index)
{
	struct fake_dev *dev = fake_new(sizeof(*dev));

	dev->conf = *conf;
	snprintf(dev->name, sizeof(dev->name), "%s", conf->name);
	snprintf(dev->device.name, sizeof(dev->device.name), "%s", conf->name);
	snprintf(dev->device.dev_name, sizeof(dev->device.dev_name), "uverbs%u",
		 index);
	snprintf(dev->device.dev_path, sizeof(dev->device.dev_path),
		 "/nonexistent/infiniband_verbs/uverbs%u", index);
	snprintf(dev->device.ibdev_path, sizeof(dev->device.ibdev_path),
		 "/nonexistent/infiniband/%s", conf->name);
	dev->device.node_type = IBV_NODE_CA;
	dev->device.transport_type = IBV_TRANSPORT_IB;
	snprintf(dev->ifname, sizeof(dev->ifname), "%s",
		 conf->ifname ? conf->ifname : "feth0");
	dev->ifindex = FAKE_IFINDEX + index;
	for (unsigned int i = 0; i < FAKE_MAX_ADDRS && conf->addrs[i]; i++) {
		union rcm_addr *addr = &dev->addrs[dev->n_addrs++];

		fake_addr_parse(addr, conf->addrs[i]);
		if (addr->sa.sa_family == AF_INET6 &&
		    IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr))
			addr->in6.sin6_scope_id = dev->ifindex;
	}
	dev->cm_ctx.device = &dev->device;
	dev->cm_ctx.async_fd = -1;
	dev->cm_ctx.num_comp_vectors = 1;
	return dev;
}

/* Devices that went stay in the table: those who opened them still point. */
void fake_devs_make(const struct fake_dev_conf *conf, unsigned int n)
{
	unsigned int old = fake.n_devs;

	for (unsigned int i = 0; i < old; i++)
		fake.devs[i]->gone = true;
	fake_depth++;
	fake.devs = realloc(fake.devs, (old + n + 1) * sizeof(void *));
	fake_depth--;
	if (!fake.devs)
		abort();
	for (unsigned int i = 0; i < n; i++)
		fake.devs[old + i] = fake_dev_make(&conf[i], old + i);
	fake.n_devs = old + n;
}

void fake_devs_free(void)
{
	for (unsigned int i = 0; i < fake.n_devs; i++)
		free(fake.devs[i]);
	free(fake.devs);
	fake.devs = NULL;
	fake.n_devs = 0;
}

void fake_set_devs(const struct fake_dev_conf *conf, unsigned int n)
{
	fake_enter_quiet();
	fake_devs_make(conf, n);
	fake_leave_quiet();
}

struct fake_dev *fake_dev_by_addr(const union rcm_addr *addr)
{
	for (unsigned int d = 0; d < fake.n_devs; d++) {
		struct fake_dev *dev = fake.devs[d];

		for (unsigned int i = 0; i < dev->n_addrs && !dev->gone; i++) {
			if (rcm_addr_same_host(&dev->addrs[i], addr))
				return dev;
		}
	}
	return NULL;
}

struct ibv_device **fake_get_device_list(int *num)
{
	struct ibv_device **list = NULL;
	int err = fake_enter(FAKE_get_device_list);
	int n = 0;

	if (!err) {
		list = fake_new((fake.n_devs + 1) * sizeof(void *));
		for (unsigned int i = 0; i < fake.n_devs; i++) {
			if (!fake.devs[i]->gone)
				list[n++] = &fake.devs[i]->device;
		}
		fake.lists++;
	}
	if (num)
		*num = n;
	return fake_leave_ptr(list, err);
}

void fake_free_device_list(struct ibv_device **list)
{
	fake_enter_quiet();
	if (list) {
		fake.lists--;
		free(list);
	}
	fake_leave_quiet();
}

const char *fake_get_device_name(struct ibv_device *device)
{
	return device->name;
}

struct ibv_context *fake_open_device(struct ibv_device *device)
{
	struct fake_dev *dev = fake_of(device, fake_dev, device);
	int err = fake_enter(FAKE_open_device);
	struct fake_ctx *c;

	if (!err)
		err = dev->gone ? ENODEV : dev->conf.open_errno;
	if (err)
		return fake_leave_ptr(NULL, err);
	c = fake_new(sizeof(*c));
	c->dev = dev;
	rcm_list_init(&c->events);
	fake_fd_open(&c->async);
	c->ctx.device = device;
	c->ctx.async_fd = c->async.fd;
	c->ctx.cmd_fd = -1;
	c->ctx.num_comp_vectors = 2;
	c->ctx.ops.post_send = fake_post_send;
	c->ctx.ops.post_recv = fake_post_recv;
	c->ctx.ops.post_srq_recv = fake_post_srq_recv;
	c->ctx.ops.poll_cq = fake_poll_cq;
	c->ctx.ops.req_notify_cq = fake_req_notify_cq;
	pthread_mutex_init(&c->ctx.mutex, NULL);
	rcm_list_add(&fake.ctxs, &c->node);
	return fake_leave_ptr(&c->ctx, 0);
}

void fake_ctx_free(struct fake_ctx *c)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&c->events, node, tmp)
		free(rcm_list_entry(node, struct fake_async, node));
	rcm_list_del(&c->node);
	fake_fd_close(&c->async);
	pthread_mutex_destroy(&c->ctx.mutex);
	free(c);
}

int fake_close_device(struct ibv_context *ctx)
{
	struct fake_ctx *c = fake_of(ctx, fake_ctx, ctx);
	int err = fake_enter(FAKE_close_device);

	if (c->users) {
		fake_problem("device closed with %d objects on it", c->users);
		return fake_leave(EBUSY);
	}
	fake_ctx_free(c);
	return fake_leave(err);
}

int fake_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	struct fake_dev *dev = fake_of(ctx->device, fake_dev, device);
	const struct fake_dev_conf *conf = &dev->conf;
	int err = fake_enter(FAKE_query_device);

	memset(attr, 0, sizeof(*attr));
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "1.2.3");
	attr->node_guid = htobe64(0x0200000000000001ull + dev->ifindex);
	attr->sys_image_guid = attr->node_guid;
	attr->max_mr_size = UINT64_MAX;
	attr->page_size_cap = 0xfffff000;
	attr->vendor_id = 0x1234;
	attr->vendor_part_id = 0x5678;
	attr->hw_ver = 1;
	attr->max_qp = fake_or(conf->max_qp, 65536);
	attr->max_qp_wr = fake_or(conf->max_qp_wr, 16384);
	attr->max_sge = fake_or(conf->max_sge, 16);
	attr->max_sge_rd = fake_or(conf->max_sge_rd, attr->max_sge);
	attr->max_cq = fake_or(conf->max_cq, 65536);
	attr->max_cqe = fake_or(conf->max_cqe, 32767);
	attr->max_mr = fake_or(conf->max_mr, 65536);
	attr->max_pd = 4096;
	attr->max_qp_rd_atom = fake_srq_limit(conf->max_rd_atom, 16);
	attr->max_res_rd_atom = 1024;
	attr->max_qp_init_rd_atom = fake_srq_limit(conf->max_rd_atom, 16);
	attr->atomic_cap = conf->atomic_cap < 0 ? IBV_ATOMIC_NONE :
						  IBV_ATOMIC_HCA;
	attr->max_srq = fake_srq_limit(conf->max_srq, 1024);
	attr->max_srq_wr = fake_or(conf->max_srq_wr, 16384);
	attr->max_srq_sge = fake_or(conf->max_srq_sge, 16);
	attr->max_pkeys = 1;
	attr->phys_port_cnt = fake_or(conf->ports, 1);
	return fake_leave(err);
}

int fake_query_port(struct ibv_context *ctx, uint8_t port,
		    struct ibv_port_attr *attr)
{
	struct fake_dev *dev = fake_of(ctx->device, fake_dev, device);
	int err = fake_enter(FAKE_query_port);

	memset(attr, 0, sizeof(*attr));
	if (!port || port > fake_or(dev->conf.ports, 1))
		return fake_leave(EINVAL);
	attr->state = port > 1 || dev->conf.port_down ? IBV_PORT_DOWN :
							IBV_PORT_ACTIVE;
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = IBV_MTU_1024;
	attr->gid_tbl_len = FAKE_MAX_ADDRS + 1;
	attr->max_msg_sz = dev->conf.max_msg_sz ? dev->conf.max_msg_sz :
						  1u << 30;
	attr->pkey_tbl_len = 1;
	attr->active_width = 2;
	attr->active_speed = 4;
	attr->phys_state = attr->state == IBV_PORT_ACTIVE ? 5 : 3;
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	return fake_leave(err);
}

static void fake_gid_of(union ibv_gid *gid, const union rcm_addr *addr)
{
	memset(gid, 0, sizeof(*gid));
	if (addr->sa.sa_family == AF_INET6) {
		memcpy(gid->raw, &addr->in6.sin6_addr, 16);
		return;
	}
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, &addr->in.sin_addr, 4);
}

/* Entry 0 is link-local, as on any RoCE port; the addresses follow. */
ssize_t fake_query_gid_table(struct ibv_context *ctx,
			     struct ibv_gid_entry *entries, size_t max)
{
	struct fake_dev *dev = fake_of(ctx->device, fake_dev, device);
	int err = fake_enter(FAKE_query_gid_table);
	size_t n = 0;

	if (!err && max < dev->n_addrs + 1)
		err = EINVAL;
	if (err)
		return fake_leave(err);
	memset(entries, 0, sizeof(*entries) * (dev->n_addrs + 1));
	entries[0].gid.raw[0] = 0xfe;
	entries[0].gid.raw[1] = 0x80;
	entries[0].gid.raw[15] = dev->ifindex & 0xff;
	for (n = 0; n <= dev->n_addrs; n++) {
		if (n)
			fake_gid_of(&entries[n].gid, &dev->addrs[n - 1]);
		entries[n].gid_index = n;
		entries[n].port_num = 1;
		entries[n].gid_type = IBV_GID_TYPE_ROCE_V2;
		entries[n].ndev_ifindex = dev->ifindex;
	}
	fake_leave(0);
	return n;
}

struct fake_ifaddr {
	struct ifaddrs ifa;
	char name[16];
	union rcm_addr addr;
	union rcm_addr mask;
};

static void fake_ifaddr_add(struct ifaddrs **list, const struct fake_dev *dev,
			    const union rcm_addr *addr)
{
	struct fake_ifaddr *f = fake_new(sizeof(*f));

	memcpy(f->name, dev->ifname, sizeof(f->name));
	f->addr = *addr;
	f->mask.sa.sa_family = addr->sa.sa_family;
	if (addr->sa.sa_family == AF_INET)
		f->mask.in.sin_addr.s_addr = htonl(0xffffff00);
	else
		memset(&f->mask.in6.sin6_addr, 0xff, 8);
	f->ifa.ifa_name = f->name;
	f->ifa.ifa_flags = IFF_UP | IFF_RUNNING;
	f->ifa.ifa_addr = &f->addr.sa;
	f->ifa.ifa_netmask = &f->mask.sa;
	f->ifa.ifa_next = *list;
	*list = &f->ifa;
}

int fake_get_ifaddrs(struct ifaddrs **list)
{
	int err = fake_enter(FAKE_get_ifaddrs);

	*list = NULL;
	if (err)
		return fake_leave(err);
	for (unsigned int d = fake.n_devs; d-- > 0;) {
		struct fake_dev *dev = fake.devs[d];

		for (unsigned int i = dev->n_addrs; i-- > 0;) {
			if (!dev->gone)
				fake_ifaddr_add(list, dev, &dev->addrs[i]);
		}
	}
	fake.ifaddrs++;
	return fake_leave(0);
}

void fake_free_ifaddrs(struct ifaddrs *list)
{
	fake_enter_quiet();
	fake.ifaddrs--;
	while (list) {
		struct fake_ifaddr *f = fake_of(list, fake_ifaddr, ifa);

		list = list->ifa_next;
		free(f);
	}
	fake_leave_quiet();
}

void fake_async_put(struct fake_ctx *c, enum ibv_event_type type,
		    struct ibv_qp *qp)
{
	struct fake_async *a = fake_new(sizeof(*a));

	a->event.event_type = type;
	if (qp)
		a->event.element.qp = qp;
	else
		a->event.element.port_num = 1;
	rcm_list_add(&c->events, &a->node);
	fake_fd_put(&c->async);
}

static bool fake_async_is_qp(enum ibv_event_type type)
{
	return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
	       type == IBV_EVENT_QP_ACCESS_ERR || type == IBV_EVENT_COMM_EST ||
	       type == IBV_EVENT_SQ_DRAINED || type == IBV_EVENT_PATH_MIG ||
	       type == IBV_EVENT_PATH_MIG_ERR ||
	       type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

/* The kernel drops what waits for a queue pair that is destroyed. */
void fake_async_purge(struct fake_ctx *c, struct ibv_qp *qp)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&c->events, node, tmp) {
		struct fake_async *a = rcm_list_entry(node, struct fake_async,
						      node);

		if (!fake_async_is_qp(a->event.event_type) ||
		    a->event.element.qp != qp)
			continue;
		rcm_list_del(&a->node);
		fake_fd_take(&c->async, "async event");
		free(a);
	}
}

int fake_get_async_event(struct ibv_context *ctx, struct ibv_async_event *ev)
{
	struct fake_ctx *c = fake_of(ctx, fake_ctx, ctx);
	int err = fake_enter(FAKE_get_async_event);
	struct fake_async *a;

	if (err)
		return fake_leave(err);
	if (!fake_fd_take(&c->async, "get_async_event"))
		return fake_leave(EAGAIN);
	a = rcm_list_first(&c->events, struct fake_async, node);
	rcm_list_del(&a->node);
	*ev = a->event;
	free(a);
	if (fake_async_is_qp(ev->event_type))
		fake_of(ev->element.qp, fake_qp, qp)->unacked++;
	fake.async_unacked++;
	return fake_leave(0);
}

void fake_ack_async_event(struct ibv_async_event *ev)
{
	fake_enter_quiet();
	fake.async_unacked--;
	if (fake_async_is_qp(ev->event_type))
		fake_of(ev->element.qp, fake_qp, qp)->unacked--;
	pthread_cond_broadcast(&fake.acked);
	fake_leave_quiet();
}

void fake_inject_qp_event(struct ibv_qp *qp, enum ibv_event_type type)
{
	fake_enter_quiet();
	fake_async_put(fake_of(qp->context, fake_ctx, ctx), type, qp);
	fake_leave_quiet();
}

void fake_inject_dev_event(struct ibv_context *ctx, enum ibv_event_type type)
{
	fake_enter_quiet();
	fake_async_put(fake_of(ctx, fake_ctx, ctx), type, NULL);
	fake_leave_quiet();
}
