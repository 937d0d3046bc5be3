/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "fake_int.h"

/* Queue pairs: their making, their states, their end. */

void fake_wr_free(struct fake_wr *wr)
{
	rcm_list_del(&wr->node);
	free(wr->sge);
	free(wr->copy);
	free(wr);
}

struct rcm_list *fake_qp_rq(struct fake_qp *qp)
{
	return qp->srq ? &qp->srq->rq : &qp->rq;
}

static int fake_qp_check(struct fake_dev *dev, struct ibv_qp_init_attr *attr)
{
	const struct fake_dev_conf *conf = &dev->conf;
	uint32_t max_wr = conf->max_qp_wr ? conf->max_qp_wr : 16384;
	uint32_t max_sge = conf->max_sge ? conf->max_sge : 16;
	uint32_t max_inline = conf->max_inline ? conf->max_inline : 256;

	if (conf->max_inline < 0)
		max_inline = 0;
	if (attr->qp_type != IBV_QPT_RC || !attr->send_cq || !attr->recv_cq)
		return EINVAL;
	if (attr->cap.max_send_wr > max_wr || attr->cap.max_recv_wr > max_wr ||
	    attr->cap.max_send_sge > max_sge ||
	    attr->cap.max_recv_sge > max_sge ||
	    attr->cap.max_inline_data > max_inline)
		return EINVAL;
	if (conf->max_qp && dev->n_qps >= conf->max_qp)
		return ENOMEM;
	return 0;
}

static void fake_qp_count(struct fake_qp *qp, int by)
{
	fake_of(qp->qp.send_cq, fake_cq, cq)->users += by;
	fake_of(qp->qp.recv_cq, fake_cq, cq)->users += by;
	if (qp->srq)
		qp->srq->users += by;
	fake_of(qp->qp.pd, fake_pd, pd)->users += by;
	fake_of(qp->qp.context, fake_ctx, ctx)->users += by;
	qp->dev->n_qps += by;
}

struct ibv_qp *fake_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct fake_dev *dev = fake_of(pd->context->device, fake_dev, device);
	int err = fake_enter(FAKE_create_qp);
	struct fake_qp *qp;

	if (!err)
		err = fake_qp_check(dev, attr);
	if (err)
		return fake_leave_ptr(NULL, err);
	qp = fake_new(sizeof(*qp));
	qp->dev = dev;
	qp->qp.context = pd->context;
	qp->qp.qp_context = attr->qp_context;
	qp->qp.pd = pd;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.srq = attr->srq;
	if (attr->srq)
		qp->srq = fake_of(attr->srq, fake_srq, srq);
	rcm_list_init(&qp->taken);
	qp->qp.qp_num = fake.next_qpn++;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.state = IBV_QPS_RESET;
	qp->cap = attr->cap;
	qp->sig_all = attr->sq_sig_all;
	rcm_list_init(&qp->sq);
	rcm_list_init(&qp->rq);
	fake_qp_count(qp, 1);
	rcm_list_add(&fake.qps, &qp->node);
	return fake_leave_ptr(&qp->qp, 0);
}

struct fake_qp *fake_qp_by_num(uint32_t qpn)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&fake.qps, node, tmp) {
		struct fake_qp *qp = rcm_list_entry(node, struct fake_qp, node);

		if (qp->qp.qp_num == qpn)
			return qp;
	}
	return NULL;
}

/* On an error, all but wr_id, status, qp_num and vendor_err is undefined. */
static void fake_wc_spoil(struct ibv_wc *wc)
{
	wc->opcode = (enum ibv_wc_opcode)0x55;
	wc->byte_len = 0xdeadbeef;
	wc->imm_data = 0xdeadbeef;
	wc->wc_flags = 0x55;
	wc->vendor_err = 0x60 + wc->status;
}

/* Ends WR, a request of QP: an entry, unless nobody asked for one. */
void fake_qp_complete(struct fake_qp *qp, struct fake_wr *wr, bool recv,
		      struct ibv_wc *wc)
{
	struct ibv_cq *cq = recv ? qp->qp.recv_cq : qp->qp.send_cq;
	struct fake_cqe cqe = { .qp = qp,
				.srq = recv ? qp->srq : NULL,
				.recv = recv,
				.seq = wr->seq };
	bool wanted = recv || wr->signaled || wc->status != IBV_WC_SUCCESS;

	wc->wr_id = wr->wr_id;
	wc->qp_num = qp->qp.qp_num;
	if (wc->status != IBV_WC_SUCCESS)
		fake_wc_spoil(wc);
	cqe.wc = *wc;
	fake_wr_free(wr);
	qp->owed += cqe.srq != NULL;
	if (wanted)
		fake_cq_put(fake_of(cq, fake_cq, cq), &cqe);
}

static void fake_qp_flush(struct fake_qp *qp, struct rcm_list *queue, bool recv)
{
	struct fake_wr *wr;

	while ((wr = rcm_list_first(queue, struct fake_wr, node))) {
		struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR };

		fake_qp_complete(qp, wr, recv, &wc);
	}
}

void fake_qp_left_srq(struct fake_qp *qp)
{
	if (!qp->srq || qp->dev->conf.no_last_wqe || qp->last_wqe)
		return;
	qp->last_wqe = true;
	fake_async_put(fake_of(qp->qp.context, fake_ctx, ctx),
		       IBV_EVENT_QP_LAST_WQE_REACHED, &qp->qp);
}

void fake_qp_error(struct fake_qp *qp)
{
	qp->qp.state = IBV_QPS_ERR;
	fake_qp_flush(qp, &qp->sq, false);
	fake_qp_flush(qp, &qp->rq, true);
	/* what it has not taken stays in the shared queue, for others */
	fake_qp_flush(qp, &qp->taken, true);
	if (!qp->owed || !qp->dev->conf.flush_lag)
		fake_qp_left_srq(qp);
}

void fake_take_shared(struct ibv_qp *vqp)
{
	struct fake_qp *qp = fake_of(vqp, fake_qp, qp);
	struct fake_wr *wr;

	fake_enter_quiet();
	wr = rcm_list_first(&qp->srq->rq, struct fake_wr, node);
	if (wr) {
		rcm_list_del(&wr->node);
		rcm_list_add(&qp->taken, &wr->node);
	}
	fake_leave_quiet();
}

static void fake_qp_drop(struct rcm_list *queue)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(queue, node, tmp)
		fake_wr_free(rcm_list_entry(node, struct fake_wr, node));
}

static void fake_qp_reset(struct fake_qp *qp)
{
	qp->qp.state = IBV_QPS_RESET;
	fake_qp_drop(&qp->sq);
	fake_qp_drop(&qp->rq);
	fake_cq_forget(fake_of(qp->qp.send_cq, fake_cq, cq), qp, false);
	fake_cq_forget(fake_of(qp->qp.recv_cq, fake_cq, cq), qp, false);
	qp->sq_done = qp->sq_seq;
	qp->rq_done = qp->rq_seq;
}

/* ibv_modify_qp(3): what each step of a reliable connection asks for. */
static const struct {
	enum ibv_qp_state from, to;
	int must, may;
} fake_qp_steps[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT,
	  IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0,
	  IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPS_INIT, IBV_QPS_RTR,
	  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	  IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_ALT_PATH },
	{ IBV_QPS_RTR, IBV_QPS_RTS,
	  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		  IBV_QP_MAX_QP_RD_ATOMIC,
	  IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_ALT_PATH |
		  IBV_QP_PATH_MIG_STATE | IBV_QP_CUR_STATE },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0,
	  IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_ALT_PATH |
		  IBV_QP_PATH_MIG_STATE | IBV_QP_CUR_STATE },
};

static bool fake_qp_may(const struct fake_qp *qp, enum ibv_qp_state to,
			int mask)
{
	if (to == IBV_QPS_ERR || to == IBV_QPS_RESET)
		return true;
	mask &= ~IBV_QP_STATE;
	for (size_t i = 0; i < RCM_ARRAY_SIZE(fake_qp_steps); i++) {
		int must = fake_qp_steps[i].must;

		if (fake_qp_steps[i].from == qp->qp.state &&
		    fake_qp_steps[i].to == to)
			return (mask & must) == must &&
			       !(mask & ~(must | fake_qp_steps[i].may));
	}
	return false;
}

static void fake_qp_set(struct fake_qp *qp, const struct ibv_qp_attr *attr,
			int mask)
{
	if (mask & IBV_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = attr->qp_access_flags;
	if (mask & IBV_QP_PORT)
		qp->attr.port_num = attr->port_num;
	if (mask & IBV_QP_DEST_QPN)
		qp->attr.dest_qp_num = attr->dest_qp_num;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		qp->attr.min_rnr_timer = attr->min_rnr_timer;
	if (mask & IBV_QP_TIMEOUT)
		qp->attr.timeout = attr->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		qp->attr.retry_cnt = attr->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		qp->attr.rnr_retry = attr->rnr_retry;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		qp->attr.max_rd_atomic = attr->max_rd_atomic;
}

int fake_modify_qp(struct ibv_qp *vqp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *qp = fake_of(vqp, fake_qp, qp);
	int err = fake_enter(FAKE_modify_qp);
	enum ibv_qp_state to = vqp->state;

	if (err)
		return fake_leave(err);
	if (mask & IBV_QP_STATE)
		to = attr->qp_state;
	if (!fake_qp_may(qp, to, mask))
		return fake_leave(EINVAL);
	if (mask & IBV_QP_PORT &&
	    (!attr->port_num ||
	     attr->port_num > (qp->dev->conf.ports ? qp->dev->conf.ports : 1)))
		return fake_leave(EINVAL);
	fake_qp_set(qp, attr, mask);
	if (to == IBV_QPS_ERR)
		fake_qp_error(qp);
	else if (to == IBV_QPS_RESET)
		fake_qp_reset(qp);
	else
		vqp->state = to;
	/* what waited for this side to be ready */
	if (to == IBV_QPS_RTR)
		fake_wire_run_all();
	return fake_leave(0);
}

void fake_qp_free(struct fake_qp *qp)
{
	fake_qp_drop(&qp->sq);
	fake_qp_drop(&qp->rq);
	fake_qp_drop(&qp->taken);
	rcm_list_del(&qp->node);
	free(qp);
}

int fake_destroy_qp(struct ibv_qp *vqp)
{
	struct fake_qp *qp = fake_of(vqp, fake_qp, qp);
	int err = fake_enter(FAKE_destroy_qp);
	bool keep = qp->dev->conf.stale_cqes;

	if (!fake_wait_acked(&qp->unacked))
		fake_problem("queue pair destroyed with %u events "
			     "unacknowledged: would hang",
			     qp->unacked);
	fake_async_purge(fake_of(vqp->context, fake_ctx, ctx), vqp);
	fake_cq_forget(fake_of(vqp->send_cq, fake_cq, cq), qp, keep);
	fake_cq_forget(fake_of(vqp->recv_cq, fake_cq, cq), qp, keep);
	fake_qp_count(qp, -1);
	fake_qp_free(qp);
	return fake_leave(err);
}

struct ibv_qp *fake_last_qp(void)
{
	struct rcm_list *node, *tmp;
	struct ibv_qp *qp = NULL;

	fake_enter_quiet();
	rcm_list_for_each(&fake.qps, node, tmp)
		qp = &rcm_list_entry(node, struct fake_qp, node)->qp;
	fake_leave_quiet();
	return qp;
}

const struct ibv_qp_attr *fake_qp_attr(struct ibv_qp *qp)
{
	return &fake_of(qp, fake_qp, qp)->attr;
}
