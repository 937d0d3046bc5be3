/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_chan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_err.h"
#include "rcm_sys.h"

static int rcm_chan_set_fd(int fd)
{
	int fl = fcntl(fd, F_GETFL);

	if (fl < 0 || fcntl(fd, F_SETFL, fl | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -rcm_err_from_errno(errno);
	return 0;
}

int rcm_chan_open(struct rcm_chan *chan)
{
	int ret;

	chan->fd = -1;
	chan->ec = rcm_sys->create_event_channel();
	if (!chan->ec)
		return -rcm_err_from_errno(errno);
	ret = rcm_chan_set_fd(chan->ec->fd);
	if (ret)
		rcm_chan_close(chan);
	else
		chan->fd = chan->ec->fd;
	return ret;
}

void rcm_chan_close(struct rcm_chan *chan)
{
	if (chan->ec)
		rcm_sys->destroy_event_channel(chan->ec);
	chan->ec = NULL;
	chan->fd = -1;
}

static void rcm_chan_copy(struct rcm_chan_event *ev,
			  const struct rdma_cm_event *from)
{
	const struct rdma_conn_param *conn = &from->param.conn;
	bool request = from->event == RDMA_CM_EVENT_CONNECT_REQUEST;

	ev->type = from->event;
	ev->status = from->status;
	ev->id = request ? from->id : NULL;
	ev->context = request ? from->listen_id->context : from->id->context;
	ev->responder_resources = conn->responder_resources;
	ev->initiator_depth = conn->initiator_depth;
	ev->data_len = conn->private_data ? conn->private_data_len : 0;
	if (ev->data_len)
		memcpy(ev->data, conn->private_data, ev->data_len);
}

int rcm_chan_next(struct rcm_chan *chan, struct rcm_chan_event *ev)
{
	struct rdma_cm_event *from;
	int ret;

	ret = rcm_sys->get_cm_event(chan->ec, &from);
	if (ret)
		return ret == -FI_EAGAIN ? 0 : ret;
	rcm_chan_copy(ev, from);
	/* whatever this returns, the event has happened */
	(void)rcm_sys->ack_cm_event(from);
	return 1;
}
