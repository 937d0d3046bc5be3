/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "fake_int.h"

/* rdma_cm ids: their making and end, addresses, ports, resolution. */

struct fake_id *fake_id_new(struct fake_chan *chan, void *context)
{
	struct fake_id *id = fake_new(sizeof(*id));

	id->chan = chan;
	id->id.channel = &chan->ec;
	id->id.context = context;
	id->id.ps = RDMA_PS_TCP;
	id->id.qp_type = IBV_QPT_RC;
	id->tos = -1;
	id->ack_timeout = -1;
	chan->users++;
	rcm_list_add(&fake.ids, &id->node);
	return id;
}

/* Requests that wait in the channel see their listener go first. */
void fake_id_free(struct fake_id *id)
{
	if (!id->lost)
		id->chan->users--;
	rcm_list_del(&id->node);
	free((void *)id->param.private_data);
	free(id);
}

int fake_create_id(struct rdma_event_channel *ec, struct rdma_cm_id **out,
		   void *context)
{
	int err = fake_enter(FAKE_create_id);

	if (err)
		return fake_leave(err);
	*out = &fake_id_new(fake_of(ec, fake_chan, ec), context)->id;
	return fake_leave(0);
}

int fake_destroy_id(struct rdma_cm_id *vid)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_destroy_id);

	if (!fake_wait_acked(&id->unacked))
		fake_problem("id destroyed with %u events unacknowledged: "
			     "would hang",
			     id->unacked);
	fake_conn_hang_up(id);
	fake_chan_purge(id);
	if (err) {
		id->chan->users--;
		id->lost = true;
		id->state = FAKE_ID_DONE;
		id->owns_port = false;
		return fake_leave(err);
	}
	fake_id_free(id);
	return fake_leave(0);
}

int fake_migrate_id(struct rdma_cm_id *vid, struct rdma_event_channel *ec)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	struct fake_chan *to = fake_of(ec, fake_chan, ec);
	int err = fake_enter(FAKE_migrate_id);
	struct rcm_list *node, *tmp;

	if (err)
		return fake_leave(err);
	if (!fake_wait_acked(&id->unacked))
		fake_problem("id migrated with %u events unacknowledged: "
			     "would hang",
			     id->unacked);
	rcm_list_for_each(&id->chan->events, node, tmp) {
		struct fake_event *e = rcm_list_entry(node, struct fake_event,
						      node);

		if (e->owner != id || to == id->chan)
			continue;
		rcm_list_del(&e->node);
		fake_fd_take(&id->chan->fd, "event channel");
		rcm_list_add(&to->events, &e->node);
		fake_fd_put(&to->fd);
	}
	id->chan->users--;
	to->users++;
	id->chan = to;
	vid->channel = ec;
	return fake_leave(0);
}

int fake_set_option(struct rdma_cm_id *vid, int level, int name, void *value,
		    size_t len)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_set_option);

	if (err)
		return fake_leave(err);
	if (level != RDMA_OPTION_ID || !value)
		return fake_leave(ENOSYS);
	if (name == RDMA_OPTION_ID_TOS && len == sizeof(uint8_t))
		id->tos = *(uint8_t *)value;
	else if (name == RDMA_OPTION_ID_ACK_TIMEOUT && len == sizeof(uint8_t))
		id->ack_timeout = *(uint8_t *)value;
	else if (name == RDMA_OPTION_ID_REUSEADDR && len == sizeof(int))
		;
	else if (name == RDMA_OPTION_ID_AFONLY && len == sizeof(int))
		;
	else
		err = EINVAL;
	return fake_leave(err);
}

static union rcm_addr *fake_src(struct fake_id *id)
{
	return (union rcm_addr *)&id->id.route.addr.src_storage;
}

static union rcm_addr *fake_dst(struct fake_id *id)
{
	return (union rcm_addr *)&id->id.route.addr.dst_storage;
}

static bool fake_port_taken(const union rcm_addr *addr)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&fake.ids, node, tmp) {
		struct fake_id *id = rcm_list_entry(node, struct fake_id, node);
		union rcm_addr *other = fake_src(id);

		if (!id->owns_port ||
		    rcm_addr_port(other) != rcm_addr_port(addr))
			continue;
		if (rcm_addr_is_any(other) || rcm_addr_is_any(addr) ||
		    rcm_addr_same_host(other, addr))
			return true;
	}
	return false;
}

static void fake_id_use_dev(struct fake_id *id, struct fake_dev *dev)
{
	id->dev = dev;
	id->id.verbs = &dev->cm_ctx;
	id->id.port_num = 1;
}

/* rdma_bind_addr(3), also in the course of a resolution. */
static int fake_bind(struct fake_id *id, const struct sockaddr *sa)
{
	union rcm_addr addr = { 0 };
	struct fake_dev *dev;

	if (id->state != FAKE_ID_IDLE || !rcm_addr_len(sa))
		return EINVAL;
	memcpy(&addr, sa, rcm_addr_len(sa));
	dev = fake_dev_by_addr(&addr);
	if (!dev && !rcm_addr_is_any(&addr))
		return EADDRNOTAVAIL;
	if (!rcm_addr_port(&addr)) {
		do
			rcm_addr_set_port(&addr, fake.next_port++);
		while (fake_port_taken(&addr));
	} else if (fake_port_taken(&addr)) {
		return EADDRINUSE;
	}
	*fake_src(id) = addr;
	id->owns_port = true;
	id->state = FAKE_ID_BOUND;
	if (dev)
		fake_id_use_dev(id, dev);
	return 0;
}

int fake_bind_addr(struct rdma_cm_id *vid, struct sockaddr *addr)
{
	int err = fake_enter(FAKE_bind_addr);

	if (!err)
		err = fake_bind(fake_of(vid, fake_id, id), addr);
	return fake_leave(err);
}

/* The device's address from which one talks to DST: same network. */
static struct fake_dev *fake_route(const union rcm_addr *dst,
				   union rcm_addr *src)
{
	size_t bytes = dst->sa.sa_family == AF_INET ? 3 : 8;
	size_t at = dst->sa.sa_family == AF_INET ?
			    offsetof(struct sockaddr_in, sin_addr) :
			    offsetof(struct sockaddr_in6, sin6_addr);

	for (unsigned int d = 0; d < fake.n_devs; d++) {
		struct fake_dev *dev = fake.devs[d];

		for (unsigned int i = 0; i < dev->n_addrs && !dev->gone; i++) {
			if (dev->addrs[i].sa.sa_family != dst->sa.sa_family ||
			    memcmp((char *)&dev->addrs[i] + at,
				   (const char *)dst + at, bytes) != 0)
				continue;
			*src = dev->addrs[i];
			return dev;
		}
	}
	return NULL;
}

/* How the resolution of ID's destination ends: 0, or a positive errno. */
static int fake_resolve(struct fake_id *id)
{
	union rcm_addr src;
	struct fake_dev *dev = fake_dev_by_addr(fake_dst(id));
	uint16_t port = rcm_addr_port(fake_src(id));

	if (dev)
		src = *fake_dst(id);
	else
		dev = fake_route(fake_dst(id), &src);
	if (!dev)
		return ENETUNREACH;
	if (!fake_dev_by_addr(fake_dst(id)) && !fake.silent)
		return ETIMEDOUT; /* nobody answers to that address */
	if (rcm_addr_is_any(fake_src(id))) {
		*fake_src(id) = src;
		rcm_addr_set_port(fake_src(id), port);
	}
	if (!id->dev)
		fake_id_use_dev(id, dev);
	return 0;
}

int fake_resolve_addr(struct rdma_cm_id *vid, struct sockaddr *src,
		      struct sockaddr *dst, int timeout_ms)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_resolve_addr);
	union rcm_addr any = { .sa.sa_family = dst->sa_family };

	if (err)
		return fake_leave(err);
	if (timeout_ms <= 0 || !rcm_addr_len(dst))
		return fake_leave(EINVAL);
	if (id->state == FAKE_ID_IDLE) {
		err = fake_bind(id, src ? src : &any.sa);
		if (err)
			return fake_leave(err);
	}
	if (id->state != FAKE_ID_BOUND ||
	    fake_src(id)->sa.sa_family != dst->sa_family)
		return fake_leave(EINVAL);
	memcpy(fake_dst(id), dst, rcm_addr_len(dst));
	err = fake_resolve(id);
	if (!err)
		id->state = FAKE_ID_ADDR;
	fake_chan_put(id, id,
		      err ? RDMA_CM_EVENT_ADDR_ERROR :
			    RDMA_CM_EVENT_ADDR_RESOLVED,
		      -err, NULL, 0);
	return fake_leave(0);
}

int fake_resolve_route(struct rdma_cm_id *vid, int timeout_ms)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_resolve_route);

	if (err)
		return fake_leave(err);
	if (id->state != FAKE_ID_ADDR || timeout_ms <= 0)
		return fake_leave(EINVAL);
	id->state = FAKE_ID_ROUTE;
	fake_chan_put(id, id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
	return fake_leave(0);
}

int fake_listen(struct rdma_cm_id *vid, int backlog)
{
	struct fake_id *id = fake_of(vid, fake_id, id);
	int err = fake_enter(FAKE_listen);

	if (!err && id->state != FAKE_ID_BOUND)
		err = EINVAL;
	if (err)
		return fake_leave(err);
	id->state = FAKE_ID_LISTEN;
	id->backlog = backlog > 0 ? backlog : 1024;
	return fake_leave(0);
}

struct sockaddr *fake_local_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.src_addr;
}

struct sockaddr *fake_peer_addr(struct rdma_cm_id *id)
{
	return &id->route.addr.dst_addr;
}

int fake_id_tos(struct rdma_cm_id *id)
{
	return fake_of(id, fake_id, id)->tos;
}

int fake_id_ack_timeout(struct rdma_cm_id *id)
{
	return fake_of(id, fake_id, id)->ack_timeout;
}
