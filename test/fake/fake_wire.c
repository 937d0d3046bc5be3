/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "fake_int.h"

/* What goes on between two queue pairs. */

/* The queue pair that SENDER talks to, if that one listens to it. */
static struct fake_qp *fake_wire_peer(struct fake_qp *sender)
{
	struct fake_qp *peer = fake_qp_by_num(sender->attr.dest_qp_num);

	if (!peer || peer->attr.dest_qp_num != sender->qp.qp_num)
		return NULL;
	if (peer->qp.state != IBV_QPS_RTR && peer->qp.state != IBV_QPS_RTS)
		return NULL;
	return peer;
}

/* Gathers one message from the sender's memory. */
static void fake_wire_gather(const struct fake_wr *wr, uint8_t *buf)
{
	if (wr->inlined) {
		memcpy(buf, wr->copy, wr->len);
		return;
	}
	for (unsigned int i = 0; i < wr->n_sge; i++) {
		if (wr->sge[i].length)
			memcpy(buf, (void *)(uintptr_t)wr->sge[i].addr,
			       wr->sge[i].length);
		buf += wr->sge[i].length;
	}
}

static void fake_wire_scatter(const struct fake_wr *wr, const uint8_t *buf,
			      size_t len)
{
	for (unsigned int i = 0; i < wr->n_sge && len; i++) {
		size_t n = RCM_MIN(len, (size_t)wr->sge[i].length);

		if (n)
			memcpy((void *)(uintptr_t)wr->sge[i].addr, buf, n);
		buf += n;
		len -= n;
	}
}

/* A failed request puts its queue pair into error behind it. */
static void fake_wire_fail(struct fake_qp *qp, struct fake_wr *wr, bool recv,
			   enum ibv_wc_status status)
{
	struct ibv_wc wc = { .status = status };

	fake_qp_complete(qp, wr, recv, &wc);
	fake_qp_error(qp);
}

static enum ibv_wc_status fake_wire_check_send(struct fake_qp *qp,
					       const struct fake_wr *wr)
{
	uint32_t max = qp->dev->conf.max_msg_sz;

	if (wr->len > (max ? max : 1u << 30))
		return IBV_WC_LOC_LEN_ERR;
	if (wr->inlined)
		return IBV_WC_SUCCESS;
	return fake_mem_check(qp, wr->sge, wr->n_sge,
			      wr->opcode == IBV_WR_RDMA_READ ||
					      fake_wr_is_atomic(wr) ?
				      IBV_ACCESS_LOCAL_WRITE :
				      0);
}

static void fake_wire_copy(const struct fake_wr *send,
			   const struct fake_wr *recv)
{
	uint8_t *buf = fake_new(send->len);

	fake_wire_gather(send, buf);
	fake_wire_scatter(recv, buf, send->len);
	free(buf);
}

/* The first packet of the active side tells that the connection stands. */
static void fake_wire_comm_est(struct fake_qp *qp)
{
	if (qp->qp.state != IBV_QPS_RTR || qp->comm_est)
		return;
	qp->comm_est = true;
	fake_async_put(fake_of(qp->qp.context, fake_ctx, ctx),
		       IBV_EVENT_COMM_EST, &qp->qp);
}

static void fake_wire_deliver(struct fake_qp *sender, struct fake_wr *send,
			      struct fake_qp *peer, struct fake_wr *recv)
{
	struct ibv_wc swc = { .status = IBV_WC_SUCCESS,
			      .opcode = IBV_WC_SEND,
			      .byte_len = 0xdeadbeef };
	struct ibv_wc rwc = { .status = IBV_WC_SUCCESS,
			      .opcode = IBV_WC_RECV,
			      .byte_len = send->len };

	if (send->imm) {
		rwc.wc_flags = IBV_WC_WITH_IMM;
		rwc.imm_data = send->imm_data;
	}
	fake_wire_copy(send, recv);
	fake_qp_complete(peer, recv, true, &rwc);
	fake_qp_complete(sender, send, false, &swc);
}

/* A message; false when it has to wait. */
static bool fake_wire_message(struct fake_qp *sender, struct fake_wr *send,
			      struct fake_qp *peer)
{
	struct fake_wr *recv;
	enum ibv_wc_status status;

	recv = rcm_list_first(fake_qp_rq(peer), struct fake_wr, node);
	if (!recv)
		return false;
	status = fake_mem_check(peer, recv->sge, recv->n_sge,
				IBV_ACCESS_LOCAL_WRITE);
	if (status != IBV_WC_SUCCESS) {
		fake_wire_fail(peer, recv, true, status);
		fake_wire_fail(sender, send, false, IBV_WC_REM_OP_ERR);
		return false;
	}
	if (send->len > recv->len) {
		fake_wire_fail(peer, recv, true, IBV_WC_LOC_LEN_ERR);
		fake_wire_fail(sender, send, false, IBV_WC_REM_INV_REQ_ERR);
		return false;
	}
	fake_wire_deliver(sender, send, peer, recv);
	return true;
}

/* The peer denies it: both are in error, and its device reports so. */
static bool fake_wire_deny(struct fake_qp *sender, struct fake_wr *send,
			   struct fake_qp *peer, enum ibv_wc_status status)
{
	fake_async_put(fake_of(peer->qp.context, fake_ctx, ctx),
		       status == IBV_WC_REM_ACCESS_ERR ?
			       IBV_EVENT_QP_ACCESS_ERR :
			       IBV_EVENT_QP_REQ_ERR,
		       &peer->qp);
	fake_qp_error(peer);
	fake_wire_fail(sender, send, false, status);
	return false;
}

/* The data of a write comes before the receive that it may use up. */
static bool fake_wire_write(struct fake_qp *sender, struct fake_wr *send,
			    struct fake_qp *peer)
{
	struct ibv_wc swc = { .status = IBV_WC_SUCCESS,
			      .opcode = IBV_WC_RDMA_WRITE,
			      .byte_len = 0xdeadbeef };
	struct ibv_wc rwc = { .status = IBV_WC_SUCCESS,
			      .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
			      .byte_len = send->len,
			      .wc_flags = IBV_WC_WITH_IMM,
			      .imm_data = send->imm_data };
	struct fake_wr *recv = NULL;
	enum ibv_wc_status status;

	status = fake_mem_check_remote(peer, send->remote_addr, send->len,
				       send->rkey, IBV_ACCESS_REMOTE_WRITE);
	if (status != IBV_WC_SUCCESS)
		return fake_wire_deny(sender, send, peer, status);
	if (send->len)
		fake_wire_gather(send, (uint8_t *)(uintptr_t)send->remote_addr);
	if (send->imm) {
		recv = rcm_list_first(fake_qp_rq(peer), struct fake_wr, node);
		if (!recv)
			return false;
		fake_qp_complete(peer, recv, true, &rwc);
	}
	fake_qp_complete(sender, send, false, &swc);
	return true;
}

/* What is beyond what was agreed stays in the queue, as a device has it. */
static bool fake_wire_read(struct fake_qp *sender, struct fake_wr *send,
			   struct fake_qp *peer)
{
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS,
			     .opcode = IBV_WC_RDMA_READ,
			     .byte_len = send->len };
	enum ibv_wc_status status;

	if (!sender->attr.max_rd_atomic)
		return false;
	if (!peer->attr.max_dest_rd_atomic)
		return fake_wire_deny(sender, send, peer,
				      IBV_WC_REM_INV_REQ_ERR);
	status = fake_mem_check_remote(peer, send->remote_addr, send->len,
				       send->rkey, IBV_ACCESS_REMOTE_READ);
	if (status != IBV_WC_SUCCESS)
		return fake_wire_deny(sender, send, peer, status);
	fake_wire_scatter(send, (const uint8_t *)(uintptr_t)send->remote_addr,
			  send->len);
	fake_qp_complete(sender, send, false, &wc);
	return true;
}

/* One lock is around all of the fake, so this is as atomic as can be. */
static uint64_t fake_wire_update(const struct fake_wr *send)
{
	uint64_t *word = (uint64_t *)(uintptr_t)send->remote_addr;
	uint64_t was = *word;

	if (send->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		*word = was + send->compare_add;
	else if (was == send->compare_add)
		*word = send->swap;
	return was;
}

static bool fake_wire_atomic(struct fake_qp *sender, struct fake_wr *send,
			     struct fake_qp *peer)
{
	struct ibv_wc wc = {
		.status = IBV_WC_SUCCESS,
		.opcode = send->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ?
				  IBV_WC_FETCH_ADD :
				  IBV_WC_COMP_SWAP,
		.byte_len = sizeof(uint64_t)
	};
	enum ibv_wc_status status;
	uint64_t was;

	if (!sender->attr.max_rd_atomic)
		return false;
	if (!peer->attr.max_dest_rd_atomic || send->remote_addr % sizeof(was))
		return fake_wire_deny(sender, send, peer,
				      IBV_WC_REM_INV_REQ_ERR);
	status = fake_mem_check_remote(peer, send->remote_addr, sizeof(was),
				       send->rkey, IBV_ACCESS_REMOTE_ATOMIC);
	if (status != IBV_WC_SUCCESS)
		return fake_wire_deny(sender, send, peer, status);
	was = fake_wire_update(send);
	fake_wire_scatter(send, (const uint8_t *)&was, sizeof(was));
	fake_qp_complete(sender, send, false, &wc);
	return true;
}

/* Executes the first request; false when it has to wait. */
static bool fake_wire_step(struct fake_qp *sender)
{
	struct fake_wr *send;
	enum ibv_wc_status status;
	struct fake_qp *peer;

	send = rcm_list_first(&sender->sq, struct fake_wr, node);
	if (!send || sender->qp.state != IBV_QPS_RTS)
		return false;
	status = fake_wire_check_send(sender, send);
	if (status != IBV_WC_SUCCESS) {
		fake_wire_fail(sender, send, false, status);
		return false;
	}
	peer = fake_wire_peer(sender);
	if (!peer)
		return false;
	fake_wire_comm_est(peer);
	switch (send->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return fake_wire_write(sender, send, peer);
	case IBV_WR_RDMA_READ:
		return fake_wire_read(sender, send, peer);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return fake_wire_atomic(sender, send, peer);
	default:
		return fake_wire_message(sender, send, peer);
	}
}

void fake_wire_run(struct fake_qp *sender)
{
	if (fake.wire_held)
		return;
	while (fake_wire_step(sender))
		;
}

void fake_wire_run_all(void)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&fake.qps, node, tmp)
		fake_wire_run(rcm_list_entry(node, struct fake_qp, node));
}

void fake_hold_wire(bool hold)
{
	fake_enter_quiet();
	fake.wire_held = hold;
	fake_wire_run_all();
	fake_leave_quiet();
}

/* Retries are over for the head of each send queue that cannot move. */
void fake_wire_time_out(void)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&fake.qps, node, tmp) {
		struct fake_qp *qp = rcm_list_entry(node, struct fake_qp, node);
		struct fake_wr *wr = rcm_list_first(&qp->sq, struct fake_wr,
						    node);

		if (!wr || qp->qp.state != IBV_QPS_RTS)
			continue;
		if (!fake_wire_peer(qp) || fake.wire_held)
			fake_wire_fail(qp, wr, false, IBV_WC_RETRY_EXC_ERR);
		else if (qp->attr.rnr_retry != 7)
			fake_wire_fail(qp, wr, false, IBV_WC_RNR_RETRY_EXC_ERR);
	}
}
