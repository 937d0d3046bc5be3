/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <string.h>

#include "rcm_cq.h"
#include "rcm_domain.h"
#include "rcm_ep.h"
#include "rcm_ep_cntr.h"
#include "rcm_log.h"
#include "rcm_srx.h"

/* A work request failed for good; under the completion queue's lock. */
static void rcm_ep_qp_error(void *user, enum ibv_wc_status status)
{
	struct rcm_eq_work *work = user;

	work->wc_status = (int)status;
	rcm_eq_defer(work, RCM_EV_QP_ERR);
}

static struct rcm_ep *rcm_ep_of_work(struct rcm_eq_work *work)
{
	return rcm_container_of(work, struct rcm_ep, work);
}

void rcm_ep_last_wqe(struct rcm_eq_work *work)
{
	rcm_qp_last_wqe(&rcm_ep_of_work(work)->qp);
}

/* The device's word on it is among its asynchronous events. */
static int rcm_ep_qp_look(void *user)
{
	return rcm_domain_progress(rcm_ep_of_work(user)->domain);
}

static int rcm_ep_qp_create(struct rcm_conn *conn)
{
	struct rcm_ep *ep = conn->user;
	struct rcm_domain *domain = ep->domain;
	const struct rcm_ep_limits *lim = &ep->limits;
	struct rcm_qp_attr attr = {
		.ctx = domain->ctx,
		.pd = domain->pd,
		.tx_cq = rcm_ep_tx_set(ep),
		.rx_cq = rcm_ep_rx_set(ep),
		.srq = ep->srx && rcm_ep_rx_set(ep) ? &ep->srx->srq : NULL,
		.tx_depth = (uint32_t)lim->tx_size,
		.rx_depth = (uint32_t)lim->rx_size,
		.tx_sge = (uint32_t)lim->tx_iov,
		.rx_sge = (uint32_t)lim->rx_iov,
		.inject_size = (uint32_t)lim->inject_size,
		.max_msg_size = ep->max_msg_size,
		.tally[RCM_OP_SEND] = rcm_ep_tally(ep, RCM_CNTR_SEND),
		.tally[RCM_OP_RECV] = rcm_ep_tally(ep, RCM_CNTR_RECV),
		.tally[RCM_OP_READ] = rcm_ep_tally(ep, RCM_CNTR_READ),
		.tally[RCM_OP_WRITE] = rcm_ep_tally(ep, RCM_CNTR_WRITE),
		.tally[RCM_OP_FETCH] = rcm_ep_tally(ep, RCM_CNTR_READ),
		.tally[RCM_OP_UPDATE] = rcm_ep_tally(ep, RCM_CNTR_WRITE),
		.locked = domain->locked,
		.multi_recv = !(ep->rx_refused & FI_MULTI_RECV),
		.layered = ep->layered,
		.lends = domain->lends,
		.pull_access = domain->iwarp ? IBV_ACCESS_REMOTE_WRITE : 0,
		.rx_selective = ep->rx_selective,
		.on_error = rcm_ep_qp_error,
		.look = rcm_ep_qp_look,
		.user = &ep->work,
	};
	int ret = rcm_qp_open(&ep->qp, &attr, domain->port_num);

	if (!ret)
		conn->qp = ep->qp.qp;
	return ret;
}

static void rcm_ep_qp_up(struct rcm_conn *conn)
{
	struct rcm_ep *ep = conn->user;

	rcm_qp_up(&ep->qp, conn->pulls);
}

static void rcm_ep_qp_down(struct rcm_conn *conn)
{
	struct rcm_ep *ep = conn->user;

	rcm_qp_down(&ep->qp, -FI_ESHUTDOWN);
}

/*
 * Until a request's connection has moved to the endpoint's own queue, which
 * may not even be bound yet, only the lock of the listener's is held.
 */
static bool rcm_ep_can_report(const struct rcm_ep *ep)
{
	return ep->eq && (!ep->req_eq || ep->req_eq == ep->eq);
}

/*
 * The entries were made with the endpoint. A connection reports each kind
 * once at most, so one entry each is enough; a second would be a defect of
 * the state machine and is dropped.
 */
static struct rcm_eq_entry *rcm_ep_take_entry(struct rcm_eq_entry **slot)
{
	struct rcm_eq_entry *entry = *slot;

	*slot = NULL;
	return entry;
}

static void rcm_ep_report(struct rcm_conn *conn,
			  const struct rcm_conn_report *report)
{
	struct rcm_ep *ep = conn->user;
	bool connected = report->what == RCM_REP_CONNECTED;
	struct rcm_eq_entry *entry;

	if (!rcm_ep_can_report(ep)) {
		conn->failed = -report->err; /* for fi_enable to say */
		return;
	}
	entry = rcm_ep_take_entry(connected ? &ep->connected_entry :
					      &ep->final_entry);
	if (!entry)
		return;
	entry->fid = &ep->fid.fid;
	entry->event = connected ? FI_CONNECTED : FI_SHUTDOWN;
	entry->is_error = report->what == RCM_REP_ERROR ||
			  report->what == RCM_REP_REFUSED;
	entry->err = report->err;
	entry->prov_errno = report->prov_errno;
	entry->len = RCM_MIN(report->len, (size_t)RCM_CM_DATA_MAX);
	if (entry->len)
		memcpy(entry->data, report->data, entry->len);
	rcm_eq_push(ep->eq, entry);
}

const struct rcm_conn_ops rcm_ep_conn_ops = {
	.qp_create = rcm_ep_qp_create,
	.qp_up = rcm_ep_qp_up,
	.qp_down = rcm_ep_qp_down,
	.report = rcm_ep_report,
};
