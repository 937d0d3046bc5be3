/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "script.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_sys.h"

struct script script;

static struct rcm_sys script_sys;

/* Does this control call fail, by the test's plan? */
static bool script_fails(void)
{
	script.calls++;
	if (!script.fail_call || --script.fail_call)
		return false;
	errno = script.fail_errno;
	return true;
}

static int script_call(void)
{
	return script_fails() ? -script.fail_errno : 0;
}

static struct ibv_comp_channel *script_create_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *channel;

	if (script_fails())
		return NULL;
	channel = calloc(1, sizeof(*channel));
	channel->context = ctx;
	channel->fd = eventfd(0, EFD_SEMAPHORE);
	script.n_channels++;
	return channel;
}

static int script_destroy_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	script.n_channels--;
	return 0;
}

static struct ibv_cq *script_create_cq(struct ibv_context *ctx, int cqe,
				       void *cq_context,
				       struct ibv_comp_channel *channel,
				       int comp_vector)
{
	struct script_cq *cq;

	(void)comp_vector;
	if (script_fails())
		return NULL;
	if (cqe > script.max_cqe) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	cq->wc = calloc((size_t)cqe, sizeof(*cq->wc));
	cq->cq.context = ctx;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	cq->cq.cqe = cqe;
	script.n_cqs++;
	script.last_cq = cq;
	return &cq->cq;
}

static int script_destroy_cq(struct ibv_cq *ibcq)
{
	struct script_cq *cq = (struct script_cq *)ibcq;

	if (cq->acked != cq->events)
		return -FI_EBUSY; /* a device would wait for ever */
	free(cq->wc);
	free(cq);
	script.n_cqs--;
	return 0;
}

static int script_get_event(struct ibv_comp_channel *channel,
			    struct ibv_cq **cq, void **cq_context)
{
	uint64_t one;

	if (read(channel->fd, &one, sizeof(one)) < 0)
		return -FI_EAGAIN;
	pthread_mutex_lock(&script.lock);
	script.last_cq->events++;
	*cq = &script.last_cq->cq;
	*cq_context = script.last_cq->cq.cq_context;
	pthread_mutex_unlock(&script.lock);
	return 0;
}

static void script_ack(struct ibv_cq *cq, unsigned int n)
{
	((struct script_cq *)cq)->acked += n;
}

static struct ibv_qp *script_create_qp(struct ibv_pd *pd,
				       struct ibv_qp_init_attr *attr)
{
	struct script_qp *qp;

	if (script_fails())
		return NULL;
	if (attr->cap.max_inline_data > script.inline_limit) {
		errno = EINVAL;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	qp->sends.wr = calloc(SCRIPT_MAX_POSTS, sizeof(*qp->sends.wr));
	qp->recvs.wr = calloc(SCRIPT_MAX_POSTS, sizeof(*qp->recvs.wr));
	qp->qp.context = &script.ctx;
	qp->qp.pd = pd;
	qp->qp.qp_context = attr->qp_context;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.srq = attr->srq;
	qp->qp.qp_num = script.next_qpn++;
	qp->cap = attr->cap;
	script.n_qps++;
	script.last_qp = qp;
	return &qp->qp;
}

static struct ibv_srq *script_create_srq(struct ibv_pd *pd,
					 struct ibv_srq_init_attr *attr)
{
	struct script_srq *srq;

	if (script_fails())
		return NULL;
	srq = calloc(1, sizeof(*srq));
	srq->recvs.wr = calloc(SCRIPT_MAX_POSTS, sizeof(*srq->recvs.wr));
	srq->srq.context = &script.ctx;
	srq->srq.pd = pd;
	srq->init = *attr;
	script.n_srqs++;
	script.last_srq = srq;
	return &srq->srq;
}

static int script_destroy_srq(struct ibv_srq *ibsrq)
{
	struct script_srq *srq = (struct script_srq *)ibsrq;

	free(srq->recvs.wr);
	free(srq);
	script.n_srqs--;
	return 0;
}

static void script_push(struct script_cq *cq, const struct ibv_wc *wc)
{
	uint64_t one = 1;

	if (cq->n == cq->cq.cqe) {
		script.overrun = true;
		return;
	}
	cq->wc[(cq->head + cq->n++) % cq->cq.cqe] = *wc;
	if (cq->armed && cq->cq.channel) {
		cq->armed = false;
		script.last_cq = cq;
		(void)!write(cq->cq.channel->fd, &one, sizeof(one));
	}
}

void script_complete(struct ibv_cq *cq, const struct ibv_wc *wc)
{
	pthread_mutex_lock(&script.lock);
	script_push((struct script_cq *)cq, wc);
	pthread_mutex_unlock(&script.lock);
}

/* On an error a device fills in no more than this. */
static void script_end(struct ibv_qp *qp, struct ibv_cq *cq,
		       const struct script_wr *wr, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	memset(&wc, 0xa5, sizeof(wc));
	wc.wr_id = wr->wr_id;
	wc.status = status;
	wc.vendor_err = status ? 0x5a : 0;
	wc.qp_num = qp->qp_num;
	wc.wc_flags = status ? 0xa5a5 : 0;
	script_push((struct script_cq *)cq, &wc);
}

static void script_end_send(struct script_qp *qp, enum ibv_wc_status status)
{
	struct script_wr *wr = &qp->sends.wr[qp->sends.done++];

	if (status || (wr->flags & IBV_SEND_SIGNALED))
		script_end(&qp->qp, qp->qp.send_cq, wr, status);
}

static void script_flush(struct script_qp *qp)
{
	while (qp->sends.done < qp->sends.n)
		script_end_send(qp, IBV_WC_WR_FLUSH_ERR);
	while (qp->recvs.done < qp->recvs.n)
		script_end(&qp->qp, qp->qp.recv_cq,
			   &qp->recvs.wr[qp->recvs.done++],
			   IBV_WC_WR_FLUSH_ERR);
}

static int script_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
			    int mask)
{
	struct script_qp *qp = (struct script_qp *)ibqp;
	int ret = script_call();

	if (ret)
		return ret;
	pthread_mutex_lock(&script.lock);
	if (mask & IBV_QP_STATE)
		qp->qp.state = attr->qp_state;
	if (qp->qp.state == IBV_QPS_ERR && script.flushes)
		script_flush(qp);
	pthread_mutex_unlock(&script.lock);
	return 0;
}

static int script_destroy_qp(struct ibv_qp *ibqp)
{
	struct script_qp *qp = (struct script_qp *)ibqp;

	free(qp->sends.wr);
	free(qp->recvs.wr);
	free(qp);
	script.n_qps--;
	return 0;
}

static struct ibv_mr *script_mr(int access, uint64_t iova, void *addr)
{
	struct ibv_mr *mr;

	if (script_fails())
		return NULL;
	mr = calloc(1, sizeof(*mr));
	mr->addr = addr;
	mr->lkey = 0x77;
	mr->rkey = 0x88;
	script.last_access = access;
	script.last_iova = iova;
	script.n_mrs++;
	return mr;
}

static struct ibv_mr *script_reg_mr(struct ibv_pd *pd, void *addr, size_t len,
				    int access)
{
	(void)pd;
	(void)len;
	return script_mr(access, (uintptr_t)addr, addr);
}

static struct ibv_mr *script_reg_dmabuf(struct ibv_pd *pd, uint64_t offset,
					size_t len, uint64_t iova, int fd,
					int access)
{
	(void)pd;
	(void)offset;
	(void)len;
	(void)fd;
	return script_mr(access, iova, NULL);
}

static int script_dereg_mr(struct ibv_mr *mr)
{
	int ret = script_call();

	if (ret)
		return ret;
	free(mr);
	script.n_mrs--;
	return 0;
}

static struct script_wr *script_add(struct script_queue *queue, uint64_t wr_id,
				    const struct ibv_sge *sge, int n)
{
	struct script_wr *wr = &queue->wr[queue->n++];
	int i;

	wr->wr_id = wr_id;
	wr->n_sge = n;
	for (i = 0; i < n; i++) {
		wr->sge[i] = sge[i];
		if (wr->len + sge[i].length <= SCRIPT_MAX_DATA)
			memcpy(wr->data + wr->len,
			       (const void *)(uintptr_t)sge[i].addr,
			       sge[i].length);
		wr->len += sge[i].length;
	}
	return wr;
}

/* The plan's error for the request that is next, or 0. */
static int script_post_error(int accepted)
{
	int err = script.post_err;

	if (!err || accepted < script.post_accepts)
		return 0;
	script.post_err = 0;
	script.post_accepts = 0;
	return err;
}

/* Where in the peer's memory a request works, and with what. */
static void script_aim(struct script_wr *own, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		own->remote_addr = wr->wr.atomic.remote_addr;
		own->rkey = wr->wr.atomic.rkey;
		own->compare_add = wr->wr.atomic.compare_add;
		own->swap = wr->wr.atomic.swap;
		break;
	default:
		own->remote_addr = wr->wr.rdma.remote_addr;
		own->rkey = wr->wr.rdma.rkey;
		break;
	}
}

static int script_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
			    struct ibv_send_wr **bad)
{
	struct script_qp *qp = (struct script_qp *)ibqp;
	int n = 0, err = 0;

	pthread_mutex_lock(&script.lock);
	script.doorbells++;
	for (; wr && !err; wr = wr->next, n++) {
		struct script_wr *own;

		err = script_post_error(n);
		if (err) {
			*bad = wr;
			break;
		}
		own = script_add(&qp->sends, wr->wr_id, wr->sg_list,
				 wr->num_sge);
		own->opcode = wr->opcode;
		own->flags = wr->send_flags;
		if (wr->opcode == IBV_WR_SEND_WITH_IMM ||
		    wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
			own->imm = be32toh(wr->imm_data);
		script_aim(own, wr);
	}
	if (qp->qp.state == IBV_QPS_ERR && script.flushes)
		script_flush(qp);
	pthread_mutex_unlock(&script.lock);
	return err;
}

static int script_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
			    struct ibv_recv_wr **bad)
{
	struct script_qp *qp = (struct script_qp *)ibqp;
	int n = 0, err = 0;

	pthread_mutex_lock(&script.lock);
	for (; wr && !err; wr = wr->next, n++) {
		err = script_post_error(n);
		if (err)
			*bad = wr;
		else
			script_add(&qp->recvs, wr->wr_id, wr->sg_list,
				   wr->num_sge);
	}
	pthread_mutex_unlock(&script.lock);
	return err;
}

static int script_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
				struct ibv_recv_wr **bad)
{
	struct script_srq *srq = (struct script_srq *)ibsrq;
	int err;

	pthread_mutex_lock(&script.lock);
	err = script_post_error(0);
	if (err)
		*bad = wr;
	else
		script_add(&srq->recvs, wr->wr_id, wr->sg_list, wr->num_sge);
	pthread_mutex_unlock(&script.lock);
	return err;
}

static int script_poll(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	struct script_cq *cq = (struct script_cq *)ibcq;
	int i;

	pthread_mutex_lock(&script.lock);
	script.polls++;
	for (i = 0; i < n && cq->n; i++, cq->n--) {
		wc[i] = cq->wc[cq->head];
		cq->head = (cq->head + 1) % cq->cq.cqe;
	}
	pthread_mutex_unlock(&script.lock);
	return i;
}

static int script_notify(struct ibv_cq *cq, int solicited)
{
	(void)solicited;
	pthread_mutex_lock(&script.lock);
	script.notifies++;
	((struct script_cq *)cq)->armed = true;
	pthread_mutex_unlock(&script.lock);
	return 0;
}

void script_open(void)
{
	memset(&script, 0, sizeof(script));
	pthread_mutex_init(&script.lock, NULL);
	script.ctx.ops.post_send = script_post_send;
	script.ctx.ops.post_recv = script_post_recv;
	script.ctx.ops.post_srq_recv = script_post_srq_recv;
	script.ctx.ops.poll_cq = script_poll;
	script.ctx.ops.req_notify_cq = script_notify;
	script.ctx.num_comp_vectors = 2;
	script.pd.context = &script.ctx;
	script.inline_limit = 256;
	script.max_cqe = 4096;
	script.next_qpn = 0x11;
	script.flushes = true;
	script.fail_errno = EINVAL;

	script_sys.create_comp_channel = script_create_channel;
	script_sys.destroy_comp_channel = script_destroy_channel;
	script_sys.create_cq = script_create_cq;
	script_sys.destroy_cq = script_destroy_cq;
	script_sys.get_cq_event = script_get_event;
	script_sys.ack_cq_events = script_ack;
	script_sys.create_srq = script_create_srq;
	script_sys.destroy_srq = script_destroy_srq;
	script_sys.create_qp = script_create_qp;
	script_sys.modify_qp = script_modify_qp;
	script_sys.destroy_qp = script_destroy_qp;
	script_sys.reg_mr = script_reg_mr;
	script_sys.reg_dmabuf_mr = script_reg_dmabuf;
	script_sys.dereg_mr = script_dereg_mr;
	rcm_sys = &script_sys;
}

int script_close(void)
{
	rcm_sys = &rcm_sys_real;
	pthread_mutex_destroy(&script.lock);
	return script.n_cqs + script.n_qps + script.n_mrs + script.n_channels +
	       script.n_srqs;
}

void script_sent(struct script_qp *qp, int n)
{
	pthread_mutex_lock(&script.lock);
	while (n--)
		script_end_send(qp, IBV_WC_SUCCESS);
	pthread_mutex_unlock(&script.lock);
}

int script_sent_all(struct script_qp *qp)
{
	int n;

	pthread_mutex_lock(&script.lock);
	for (n = 0; qp->sends.done < qp->sends.n; n++)
		script_end_send(qp, IBV_WC_SUCCESS);
	pthread_mutex_unlock(&script.lock);
	return n;
}

void script_send_failed(struct script_qp *qp, enum ibv_wc_status status)
{
	pthread_mutex_lock(&script.lock);
	script_end_send(qp, status);
	pthread_mutex_unlock(&script.lock);
}

void script_received(struct script_qp *qp, uint32_t len, int64_t imm)
{
	struct ibv_wc wc = {
		.wr_id = qp->recvs.wr[qp->recvs.done++].wr_id,
		.opcode = IBV_WC_RECV,
		.byte_len = len,
		.qp_num = qp->qp.qp_num,
	};

	if (imm >= 0) {
		wc.wc_flags = IBV_WC_WITH_IMM;
		wc.imm_data = htobe32((uint32_t)imm);
	}
	script_complete(qp->qp.recv_cq, &wc);
}

void script_recv_failed(struct script_qp *qp, enum ibv_wc_status status)
{
	pthread_mutex_lock(&script.lock);
	script_end(&qp->qp, qp->qp.recv_cq, &qp->recvs.wr[qp->recvs.done++],
		   status);
	pthread_mutex_unlock(&script.lock);
}

void script_shared_end(struct script_qp *qp, struct script_srq *srq, int n,
		       enum ibv_wc_status status, uint32_t len)
{
	struct ibv_wc wc = {
		.wr_id = srq->recvs.wr[n].wr_id,
		.opcode = IBV_WC_RECV,
		.byte_len = len,
		.qp_num = qp->qp.qp_num,
	};

	pthread_mutex_lock(&script.lock);
	srq->recvs.done++;
	if (status)
		script_end(&qp->qp, qp->qp.recv_cq, &srq->recvs.wr[n], status);
	else
		script_push((struct script_cq *)qp->qp.recv_cq, &wc);
	pthread_mutex_unlock(&script.lock);
}

struct script_wr *script_last_send(struct script_qp *qp, int before)
{
	return &qp->sends.wr[qp->sends.n - 1 - before];
}

struct script_wr *script_last_recv(struct script_qp *qp, int before)
{
	return &qp->recvs.wr[qp->recvs.n - 1 - before];
}
