/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "fake_int.h"

/* ibv_post_send(3) and ibv_post_recv(3): checks, and the queueing. */

struct fake_wr *fake_wr_new(uint64_t wr_id, const struct ibv_sge *sge, int n)
{
	struct fake_wr *wr = fake_new(sizeof(*wr));

	wr->wr_id = wr_id;
	wr->n_sge = n;
	wr->sge = fake_new(n * sizeof(*sge));
	if (n)
		memcpy(wr->sge, sge, n * sizeof(*sge));
	for (int i = 0; i < n; i++)
		wr->len += sge[i].length;
	return wr;
}

/* The buffer of an inline send is the user's again when the call returns. */
static void fake_wr_inline(struct fake_wr *wr)
{
	size_t off = 0;

	wr->inlined = true;
	wr->copy = fake_new(wr->len);
	for (unsigned int i = 0; i < wr->n_sge; i++) {
		if (wr->sge[i].length)
			memcpy(wr->copy + off,
			       (void *)(uintptr_t)wr->sge[i].addr,
			       wr->sge[i].length);
		off += wr->sge[i].length;
	}
}

/* What brings something from the peer: nothing of it could go inline. */
static int fake_pull_check(const struct fake_qp *qp,
			   const struct ibv_send_wr *wr)
{
	if (wr->send_flags & IBV_SEND_INLINE)
		return EINVAL;
	if (qp->dev->conf.max_sge_rd && wr->num_sge > qp->dev->conf.max_sge_rd)
		return EINVAL;
	return 0;
}

static int fake_opcode_check(const struct fake_qp *qp,
			     const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return 0;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return qp->dev->conf.atomic_cap < 0 ? EINVAL :
						      fake_pull_check(qp, wr);
	case IBV_WR_RDMA_READ:
		return fake_pull_check(qp, wr);
	default:
		return EINVAL;
	}
}

static int fake_send_check(struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	size_t len = 0;
	int err;

	switch (qp->qp.state) {
	case IBV_QPS_RTS:
	case IBV_QPS_ERR:
		break;
	default:
		return EINVAL;
	}
	err = fake_opcode_check(qp, wr);
	if (err)
		return err;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge)
		return EINVAL;
	for (int i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if (wr->send_flags & IBV_SEND_INLINE && len > qp->cap.max_inline_data)
		return EINVAL;
	if (qp->sq_seq - qp->sq_done >= qp->cap.max_send_wr)
		return ENOMEM;
	return 0;
}

static int fake_send_one(struct fake_qp *qp, const struct ibv_send_wr *swr)
{
	int err = fake_plan(FAKE_post_send);
	struct fake_wr *wr;

	if (!err)
		err = fake_send_check(qp, swr);
	if (err)
		return err;
	wr = fake_wr_new(swr->wr_id, swr->sg_list, swr->num_sge);
	wr->seq = ++qp->sq_seq;
	wr->signaled = qp->sig_all || swr->send_flags & IBV_SEND_SIGNALED;
	wr->imm = swr->opcode == IBV_WR_SEND_WITH_IMM ||
		  swr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	wr->imm_data = swr->imm_data;
	wr->opcode = swr->opcode;
	fake.fences += (swr->send_flags & IBV_SEND_FENCE) != 0;
	if (swr->opcode != IBV_WR_SEND && swr->opcode != IBV_WR_SEND_WITH_IMM &&
	    !fake_wr_is_atomic(wr)) {
		wr->remote_addr = swr->wr.rdma.remote_addr;
		wr->rkey = swr->wr.rdma.rkey;
	}
	if (fake_wr_is_atomic(wr)) {
		wr->remote_addr = swr->wr.atomic.remote_addr;
		wr->rkey = swr->wr.atomic.rkey;
		wr->compare_add = swr->wr.atomic.compare_add;
		wr->swap = swr->wr.atomic.swap;
	}
	if (swr->send_flags & IBV_SEND_INLINE)
		fake_wr_inline(wr);
	rcm_list_add(&qp->sq, &wr->node);
	if (qp->qp.state == IBV_QPS_ERR)
		fake_qp_error(qp);
	return 0;
}

int fake_post_send(struct ibv_qp *vqp, struct ibv_send_wr *wr,
		   struct ibv_send_wr **bad)
{
	struct fake_qp *qp = fake_of(vqp, fake_qp, qp);
	int err = 0;

	fake_enter_quiet();
	fake.doorbells++;
	for (; wr; wr = wr->next) {
		err = fake_send_one(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	fake_wire_run(qp);
	fake_leave_quiet();
	return err;
}

static int fake_recv_check(struct fake_qp *qp, const struct ibv_recv_wr *wr)
{
	if (qp->qp.state == IBV_QPS_RESET || qp->srq)
		return EINVAL;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_recv_sge)
		return EINVAL;
	if (qp->rq_seq - qp->rq_done >= qp->cap.max_recv_wr)
		return ENOMEM;
	return 0;
}

static int fake_recv_one(struct fake_qp *qp, const struct ibv_recv_wr *rwr)
{
	int err = fake_plan(FAKE_post_recv);
	struct fake_wr *wr;

	if (!err)
		err = fake_recv_check(qp, rwr);
	if (err)
		return err;
	wr = fake_wr_new(rwr->wr_id, rwr->sg_list, rwr->num_sge);
	wr->seq = ++qp->rq_seq;
	rcm_list_add(&qp->rq, &wr->node);
	if (qp->qp.state == IBV_QPS_ERR)
		fake_qp_error(qp);
	return 0;
}

int fake_post_recv(struct ibv_qp *vqp, struct ibv_recv_wr *wr,
		   struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = fake_of(vqp, fake_qp, qp);
	struct fake_qp *peer;
	int err = 0;

	fake_enter_quiet();
	fake.doorbells++;
	for (; wr; wr = wr->next) {
		err = fake_recv_one(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	/* a sender may be waiting for just this */
	peer = fake_qp_by_num(qp->attr.dest_qp_num);
	if (peer)
		fake_wire_run(peer);
	fake_leave_quiet();
	return err;
}
