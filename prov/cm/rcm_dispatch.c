/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* The one place that translates events of rdma_cm. */

#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_conn_act.h"
#include "rcm_err.h"
#include "rcm_log.h"

struct rcm_dispatch_row {
	bool known;
	bool carries_data; /* private data that the user gets */
	enum rcm_fsm_event event;
	enum rcm_fsm_event event_failed; /* with a status */
};

static const struct rcm_dispatch_row rcm_dispatch[] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = { true, false, RCM_EV_ADDR_OK,
					  RCM_EV_ADDR_ERR },
	[RDMA_CM_EVENT_ADDR_ERROR] = { true, false, RCM_EV_ADDR_ERR,
				       RCM_EV_ADDR_ERR },
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = { true, false, RCM_EV_ROUTE_OK,
					   RCM_EV_ROUTE_ERR },
	[RDMA_CM_EVENT_ROUTE_ERROR] = { true, false, RCM_EV_ROUTE_ERR,
					RCM_EV_ROUTE_ERR },
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = { true, true, RCM_EV_CONN_RESP,
					     RCM_EV_CONN_ERR },
	[RDMA_CM_EVENT_CONNECT_ERROR] = { true, false, RCM_EV_CONN_ERR,
					  RCM_EV_CONN_ERR },
	[RDMA_CM_EVENT_UNREACHABLE] = { true, false, RCM_EV_CONN_ERR,
					RCM_EV_CONN_ERR },
	[RDMA_CM_EVENT_REJECTED] = { true, true, RCM_EV_REJECTED,
				     RCM_EV_REJECTED },
	[RDMA_CM_EVENT_ESTABLISHED] = { true, true, RCM_EV_ESTAB,
					RCM_EV_CONN_ERR },
	[RDMA_CM_EVENT_DISCONNECTED] = { true, false, RCM_EV_DISCONN,
					 RCM_EV_DISCONN },
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = { true, false, RCM_EV_DEV_GONE,
					   RCM_EV_DEV_GONE },
	[RDMA_CM_EVENT_ADDR_CHANGE] = { true, false, RCM_EV_ADDR_CHANGE,
					RCM_EV_ADDR_CHANGE },
	[RDMA_CM_EVENT_TIMEWAIT_EXIT] = { true, false, RCM_EV_TIMEWAIT,
					  RCM_EV_TIMEWAIT },
};

static void rcm_dispatch_conn(struct rcm_conn *conn,
			      const struct rcm_chan_event *ev)
{
	const struct rcm_dispatch_row *row = &rcm_dispatch[ev->type];
	struct rcm_conn_cause cause = { 0 };
	enum rcm_fsm_event event = ev->status ? row->event_failed : row->event;

	if (row->carries_data)
		cause.bad_data = rcm_wire_decode(ev->data, ev->data_len,
						 &cause.data, &cause.len) != 0;
	if (event == row->event_failed)
		cause.err = rcm_err_from_cm(ev->type, ev->status,
					    &cause.prov_errno);
	(void)rcm_conn_handle(conn, event, &cause);
}

void rcm_conn_dispatch(const struct rcm_chan_event *ev)
{
	const enum rcm_cm_kind *kind = ev->context;

	if (!kind) {
		if (ev->id)
			rcm_conn_refuse(ev->id);
		return;
	}
	if (*kind == RCM_CM_LISTENER) {
		rcm_listener_event(
			rcm_container_of(kind, struct rcm_listener, kind), ev);
		return;
	}
	/* values that an older or newer kernel may have are no surprise */
	if ((size_t)ev->type >= RCM_ARRAY_SIZE(rcm_dispatch) ||
	    !rcm_dispatch[ev->type].known) {
		RCM_DBG(EP_CTRL, "event %d ignored", (int)ev->type);
		return;
	}
	rcm_dispatch_conn(rcm_container_of(kind, struct rcm_conn, kind), ev);
}
