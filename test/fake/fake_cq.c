/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "fake_int.h"

/* Completion channels and completion queues. */

#define FAKE_LAG_POLLS 3

struct ibv_comp_channel *fake_create_comp_channel(struct ibv_context *ctx)
{
	int err = fake_enter(FAKE_create_comp_channel);
	struct fake_cc *cc;

	if (err)
		return fake_leave_ptr(NULL, err);
	cc = fake_new(sizeof(*cc));
	fake_fd_open(&cc->fd);
	cc->cc.context = ctx;
	cc->cc.fd = cc->fd.fd;
	rcm_list_init(&cc->events);
	fake_of(ctx, fake_ctx, ctx)->users++;
	rcm_list_add(&fake.ccs, &cc->node);
	return fake_leave_ptr(&cc->cc, 0);
}

void fake_cc_free(struct fake_cc *cc)
{
	rcm_list_del(&cc->node);
	fake_fd_close(&cc->fd);
	free(cc);
}

int fake_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct fake_cc *cc = fake_of(channel, fake_cc, cc);
	int err = fake_enter(FAKE_destroy_comp_channel);

	if (cc->users) {
		fake_problem("completion channel destroyed with %d users",
			     cc->users);
		return fake_leave(EBUSY);
	}
	fake_of(channel->context, fake_ctx, ctx)->users--;
	fake_cc_free(cc);
	return fake_leave(err);
}

static int fake_cq_check(struct ibv_context *ctx, int cqe, int vector)
{
	struct fake_dev *dev = fake_of(ctx->device, fake_dev, device);
	int max_cqe = dev->conf.max_cqe ? dev->conf.max_cqe : 32767;

	if (cqe < 1 || cqe > max_cqe)
		return EINVAL;
	if (vector < 0 || vector >= ctx->num_comp_vectors)
		return EINVAL;
	if (dev->conf.max_cq && dev->n_cqs >= dev->conf.max_cq)
		return ENOMEM;
	return 0;
}

struct ibv_cq *fake_create_cq(struct ibv_context *ctx, int cqe,
			      void *cq_context,
			      struct ibv_comp_channel *channel, int vector)
{
	int err = fake_enter(FAKE_create_cq);
	struct fake_cq *cq;

	if (!err)
		err = fake_cq_check(ctx, cqe, vector);
	if (err)
		return fake_leave_ptr(NULL, err);
	cq = fake_new(sizeof(*cq));
	cq->cq.context = ctx;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	cq->cq.cqe = cqe;
	cq->size = cqe;
	cq->cqes = fake_new(cq->size * sizeof(*cq->cqes));
	rcm_list_init(&cq->event);
	if (channel)
		fake_of(channel, fake_cc, cc)->users++;
	fake_of(ctx, fake_ctx, ctx)->users++;
	fake_of(ctx->device, fake_dev, device)->n_cqs++;
	rcm_list_add(&fake.cqs, &cq->node);
	return fake_leave_ptr(&cq->cq, 0);
}

void fake_cq_free(struct fake_cq *cq)
{
	rcm_list_del(&cq->node);
	free(cq->cqes);
	free(cq);
}

/* One event at most waits for a queue, since it is armed for one. */
static void fake_cq_drop_event(struct fake_cq *cq, struct fake_cc *cc)
{
	if (rcm_list_empty(&cq->event))
		return;
	rcm_list_del(&cq->event);
	fake_fd_take(&cc->fd, "completion event");
}

int fake_destroy_cq(struct ibv_cq *vcq)
{
	struct fake_cq *cq = fake_of(vcq, fake_cq, cq);
	int err = fake_enter(FAKE_destroy_cq);

	if (cq->users) {
		fake_problem("completion queue destroyed with %d users",
			     cq->users);
		return fake_leave(EBUSY);
	}
	if (!fake_wait_acked(&cq->unacked))
		fake_problem("completion queue destroyed with %u events "
			     "unacknowledged: would hang",
			     cq->unacked);
	if (vcq->channel) {
		struct fake_cc *cc = fake_of(vcq->channel, fake_cc, cc);

		fake_cq_drop_event(cq, cc);
		cc->users--;
	}
	fake_of(vcq->context, fake_ctx, ctx)->users--;
	fake_of(vcq->context->device, fake_dev, device)->n_cqs--;
	fake_cq_free(cq);
	return fake_leave(err);
}

int fake_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **vcq,
		      void **cq_context)
{
	struct fake_cc *cc = fake_of(channel, fake_cc, cc);
	int err = fake_enter(FAKE_get_cq_event);
	struct fake_cq *cq;

	if (err)
		return fake_leave(err);
	if (!fake_fd_take(&cc->fd, "get_cq_event"))
		return fake_leave(EAGAIN);
	cq = rcm_list_first(&cc->events, struct fake_cq, event);
	rcm_list_del(&cq->event);
	cq->unacked++;
	*vcq = &cq->cq;
	*cq_context = cq->cq.cq_context;
	return fake_leave(0);
}

void fake_ack_cq_events(struct ibv_cq *vcq, unsigned int n)
{
	struct fake_cq *cq = fake_of(vcq, fake_cq, cq);

	fake_enter_quiet();
	if (n > cq->unacked)
		fake_problem("%u completion events acknowledged of %u", n,
			     cq->unacked);
	else
		cq->unacked -= n;
	pthread_cond_broadcast(&fake.acked);
	fake_leave_quiet();
}

static void fake_cq_notify(struct fake_cq *cq)
{
	struct fake_cc *cc;

	if (!cq->armed || !cq->cq.channel)
		return;
	cc = fake_of(cq->cq.channel, fake_cc, cc);
	cq->armed = false;
	if (!rcm_list_empty(&cq->event))
		return;
	rcm_list_add(&cc->events, &cq->event);
	fake_fd_put(&cc->fd);
}

void fake_cq_put(struct fake_cq *cq, const struct fake_cqe *cqe)
{
	if (cq->fill == cq->size) {
		if (!cq->overrun)
			fake_problem("completion queue of %u overrun",
				     cq->size);
		cq->overrun = true;
		return;
	}
	cq->cqes[(cq->head + cq->fill) % cq->size] = *cqe;
	cq->fill++;
	if (cqe->wc.status == IBV_WC_WR_FLUSH_ERR &&
	    cqe->qp->dev->conf.flush_lag)
		cq->lag = FAKE_LAG_POLLS;
	fake_cq_notify(cq);
}

/* A queue pair goes: its entries do, too, or stay without an owner. */
void fake_cq_forget(struct fake_cq *cq, struct fake_qp *qp, bool keep)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < cq->fill; i++) {
		struct fake_cqe *cqe = &cq->cqes[(cq->head + i) % cq->size];

		if (cqe->qp == qp && !keep) {
			if (cqe->srq)
				cqe->srq->used--;
			continue;
		}
		if (cqe->qp == qp)
			cqe->qp = NULL;
		cq->cqes[(cq->head + kept++) % cq->size] = *cqe;
	}
	cq->fill = kept;
}

/* A queue has room again once the completion has been read. */
static void fake_cqe_retire(const struct fake_cqe *cqe)
{
	if (cqe->srq) {
		cqe->srq->used--;
		if (cqe->qp && !--cqe->qp->owed &&
		    cqe->qp->qp.state == IBV_QPS_ERR)
			fake_qp_left_srq(cqe->qp);
		return;
	}
	if (!cqe->qp)
		return;
	if (cqe->recv)
		cqe->qp->rq_done = cqe->seq;
	else
		cqe->qp->sq_done = cqe->seq;
}

int fake_poll_cq(struct ibv_cq *vcq, int max, struct ibv_wc *wc)
{
	struct fake_cq *cq = fake_of(vcq, fake_cq, cq);
	int err = fake_enter(FAKE_poll_cq);
	int n = 0;

	if (err) {
		fake_leave(0);
		return -1;
	}
	if (cq->lag)
		cq->lag--;
	while (!cq->lag && n < max && cq->fill) {
		struct fake_cqe *cqe = &cq->cqes[cq->head];

		wc[n++] = cqe->wc;
		fake_cqe_retire(cqe);
		cq->head = (cq->head + 1) % cq->size;
		cq->fill--;
	}
	fake_leave(0);
	return n;
}

int fake_req_notify_cq(struct ibv_cq *vcq, int solicited)
{
	struct fake_cq *cq = fake_of(vcq, fake_cq, cq);
	int err = fake_enter(FAKE_req_notify_cq);

	(void)solicited;
	if (!err)
		cq->armed = true;
	fake_leave(0);
	return err;
}

unsigned int fake_cq_fill(struct ibv_cq *vcq)
{
	unsigned int n;

	fake_enter_quiet();
	n = fake_of(vcq, fake_cq, cq)->fill;
	fake_leave_quiet();
	return n;
}
