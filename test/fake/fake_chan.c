/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "fake_int.h"

/* rdma_cm's event channels and events. */

struct rdma_event_channel *fake_create_event_channel(void)
{
	int err = fake_enter(FAKE_create_event_channel);
	struct fake_chan *chan;

	if (err)
		return fake_leave_ptr(NULL, err);
	chan = fake_new(sizeof(*chan));
	fake_fd_open(&chan->fd);
	chan->ec.fd = chan->fd.fd;
	rcm_list_init(&chan->events);
	rcm_list_add(&fake.chans, &chan->node);
	return fake_leave_ptr(&chan->ec, 0);
}

void fake_chan_free(struct fake_chan *chan)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&chan->events, node, tmp)
		free(rcm_list_entry(node, struct fake_event, node));
	rcm_list_del(&chan->node);
	fake_fd_close(&chan->fd);
	free(chan);
}

void fake_destroy_event_channel(struct rdma_event_channel *ec)
{
	struct fake_chan *chan = fake_of(ec, fake_chan, ec);

	fake_enter_quiet();
	if (chan->users)
		fake_problem("event channel destroyed with %d ids on it",
			     chan->users);
	else
		fake_chan_free(chan);
	fake_leave_quiet();
}

bool fake_chan_loses(enum rdma_cm_event_type type)
{
	if (!fake.drop_n || fake.drop_type != (int)type)
		return false;
	fake.drop_n--;
	return true;
}

/*
 * Queues an event about ID. PARAM's private data is padded to FIELD bytes,
 * as the message that carries it has always its full length.
 */
void fake_chan_put(struct fake_id *id, struct fake_id *owner,
		   enum rdma_cm_event_type type, int status,
		   const struct rdma_conn_param *param, size_t field)
{
	struct fake_event *e;

	if (fake_chan_loses(type))
		return;
	e = fake_new(sizeof(*e));
	e->owner = owner;
	e->ev.id = &id->id;
	e->ev.listen_id = owner == id ? NULL : &owner->id;
	e->ev.event = type;
	e->ev.status = status;
	if (param) {
		e->ev.param.conn = *param;
		e->ev.param.conn.private_data = NULL;
		e->ev.param.conn.private_data_len = field;
		if (param->private_data_len)
			memcpy(e->data, param->private_data,
			       param->private_data_len);
	}
	if (field)
		e->ev.param.conn.private_data = e->data;
	rcm_list_add(&owner->chan->events, &e->node);
	fake_fd_put(&owner->chan->fd);
}

int fake_get_cm_event(struct rdma_event_channel *ec, struct rdma_cm_event **ev)
{
	struct fake_chan *chan = fake_of(ec, fake_chan, ec);
	int err = fake_enter(FAKE_get_cm_event);
	struct fake_event *e;
	struct fake_id *id;

	if (err)
		return fake_leave(err);
	if (!fake_fd_take(&chan->fd, "get_cm_event"))
		return fake_leave(EAGAIN);
	e = rcm_list_first(&chan->events, struct fake_event, node);
	rcm_list_del(&e->node);
	rcm_list_add(&fake.unacked, &e->node);
	e->owner->unacked++;
	id = fake_of(e->ev.id, fake_id, id);
	if (id->listener) {
		id->listener = NULL;
		id->given = true;
	}
	*ev = &e->ev;
	return fake_leave(0);
}

int fake_ack_cm_event(struct rdma_cm_event *ev)
{
	struct fake_event *e = fake_of(ev, fake_event, ev);
	int err = fake_enter(FAKE_ack_cm_event);

	if (e->owner)
		e->owner->unacked--;
	pthread_cond_broadcast(&fake.acked);
	rcm_list_del(&e->node);
	free(e);
	return fake_leave(err);
}

/* A request that is still in the queue goes with its listener. */
static void fake_chan_drop(struct fake_event *e, struct fake_id *id)
{
	struct fake_id *about = fake_of(e->ev.id, fake_id, id);

	rcm_list_del(&e->node);
	fake_fd_take(&id->chan->fd, "event channel");
	free(e);
	if (about == id || about->listener != id)
		return;
	fake_conn_hang_up(about);
	fake_chan_purge(about);
	fake_id_free(about);
}

static struct fake_event *fake_chan_find(struct fake_id *id)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&id->chan->events, node, tmp) {
		struct fake_event *e = rcm_list_entry(node, struct fake_event,
						      node);

		if (e->owner == id || e->ev.id == &id->id)
			return e;
	}
	return NULL;
}

/* Drops what waits for ID, and disowns what was not acknowledged. */
void fake_chan_purge(struct fake_id *id)
{
	struct rcm_list *node, *tmp;
	struct fake_event *e;

	while ((e = fake_chan_find(id)))
		fake_chan_drop(e, id);
	rcm_list_for_each(&fake.unacked, node, tmp) {
		e = rcm_list_entry(node, struct fake_event, node);
		if (e->owner == id)
			e->owner = NULL;
	}
}

void fake_inject_cm_event(struct rdma_cm_id *vid, int type, int status)
{
	struct fake_id *id = fake_of(vid, fake_id, id);

	fake_enter_quiet();
	fake_chan_put(id, id, (enum rdma_cm_event_type)type, status, NULL, 0);
	fake_leave_quiet();
}

void fake_drop_cm_events(int type, unsigned int n)
{
	fake_enter_quiet();
	fake.drop_type = type;
	fake.drop_n = n;
	fake_leave_quiet();
}
