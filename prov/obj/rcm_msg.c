/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_ep.h"

#include <rdma/fi_errno.h>

#include "rcm_log.h"
#include "rcm_mr.h"
#include "rcm_msg.h"
#include "rcm_multi.h"
#include "rcm_post.h"
#include "rcm_short.h"

/* fi_msg(3) onto the two queues of a queue pair. */

static inline uint64_t rcm_msg_rx_default(struct fid_ep *fid)
{
	return atomic_load_explicit(&rcm_face_of(fid)->rx_op_flags,
				    memory_order_relaxed);
}

/* Any single buffer; DATA goes with it if FLAGS have RCM_TX_IMM. */
static __attribute__((noinline)) ssize_t
rcm_msg_send_any(struct rcm_ep *ep, const void *buf, size_t len, void *desc,
		 uint64_t data, uint32_t flags, void *context)
{
	struct rcm_tx tx;
	struct ibv_sge sge;
	ssize_t ret;

	tx.context = context;
	tx.op = RCM_OP_SEND;
	tx.opcode = IBV_WR_SEND;
	tx.flags = flags;
	rcm_post_buf(&tx, &sge, buf, len, desc);
	if (flags & RCM_TX_IMM) {
		ret = rcm_post_data(&tx, data);
		if (rcm_unlikely(ret))
			return rcm_sq_refuse(&ep->qp, ret);
	}
	return rcm_sq_post(&ep->qp, &tx);
}

static inline __attribute__((always_inline)) ssize_t
rcm_msg_post_short(struct rcm_ep *ep, const void *buf, size_t len,
		   bool complete, const uint32_t *imm, void *context)
{
	struct rcm_short tx = {
		.buf = buf,
		.len = (uint32_t)len,
		.complete = complete,
		.imm = imm,
		.remote = NULL,
		.context = context,
	};

	return rcm_short_post(&ep->qp, &tx);
}

static ssize_t rcm_msg_send(struct fid_ep *fid, const void *buf, size_t len,
			    void *desc, fi_addr_t dest_addr, void *context)
{
	struct rcm_ep *ep = rcm_ep_of(fid);

	(void)dest_addr;
	if (!rcm_post_is_short(ep, len, 0))
		return rcm_msg_send_any(ep, buf, len, desc, 0,
					rcm_post_default(fid), context);
	return rcm_msg_post_short(ep, buf, len, rcm_post_completes(fid), NULL,
				  context);
}

static ssize_t rcm_msg_senddata(struct fid_ep *fid, const void *buf, size_t len,
				void *desc, uint64_t data, fi_addr_t dest_addr,
				void *context)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	uint32_t imm = (uint32_t)data;

	(void)dest_addr;
	if (!rcm_post_is_short(ep, len, data))
		return rcm_msg_send_any(ep, buf, len, desc, data,
					rcm_post_default(fid) | RCM_TX_IMM,
					context);
	return rcm_msg_post_short(ep, buf, len, rcm_post_completes(fid), &imm,
				  context);
}

static ssize_t rcm_msg_inject(struct fid_ep *fid, const void *buf, size_t len,
			      fi_addr_t dest_addr)
{
	struct rcm_ep *ep = rcm_ep_of(fid);

	(void)dest_addr;
	if (!rcm_post_is_short(ep, len, 0))
		return rcm_msg_send_any(ep, buf, len, NULL, 0, RCM_TX_INJECT,
					NULL);
	return rcm_msg_post_short(ep, buf, len, false, NULL, NULL);
}

static ssize_t rcm_msg_injectdata(struct fid_ep *fid, const void *buf,
				  size_t len, uint64_t data,
				  fi_addr_t dest_addr)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	uint32_t imm = (uint32_t)data;

	(void)dest_addr;
	if (!rcm_post_is_short(ep, len, data))
		return rcm_msg_send_any(ep, buf, len, NULL, data,
					RCM_TX_INJECT | RCM_TX_IMM, NULL);
	return rcm_msg_post_short(ep, buf, len, false, &imm, NULL);
}

static ssize_t rcm_msg_sendv(struct fid_ep *fid, const struct iovec *iov,
			     void **desc, size_t count, fi_addr_t dest_addr,
			     void *context)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct rcm_msg_iov from;
	struct rcm_tx tx;
	ssize_t ret;

	(void)dest_addr;
	tx.context = context;
	tx.op = RCM_OP_SEND;
	tx.opcode = IBV_WR_SEND;
	tx.flags = rcm_post_default(fid);
	ret = rcm_post_iov(ep, &tx, &from, iov, desc, count);
	if (rcm_unlikely(ret))
		return rcm_sq_refuse(&ep->qp, ret);
	return rcm_sq_post(&ep->qp, &tx);
}

static __attribute__((noinline)) ssize_t
rcm_msg_sendmsg_any(struct rcm_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct rcm_msg_iov from;
	struct rcm_tx tx;
	ssize_t ret;

	if (rcm_unlikely(flags & (~RCM_POST_FLAGS | ep->tx_refused)))
		return rcm_sq_refuse(&ep->qp, -FI_EBADFLAGS);
	tx.context = msg->context;
	tx.op = RCM_OP_SEND;
	tx.opcode = IBV_WR_SEND;
	tx.flags = rcm_post_called(ep, flags);
	ret = rcm_post_iov(ep, &tx, &from, msg->msg_iov, msg->desc,
			   msg->iov_count);
	if (!ret && (flags & FI_REMOTE_CQ_DATA))
		ret = rcm_post_data(&tx, msg->data);
	if (rcm_unlikely(ret))
		return rcm_sq_refuse(&ep->qp, ret);
	return rcm_sq_post(&ep->qp, &tx);
}

static ssize_t rcm_msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg,
			       uint64_t flags)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct rcm_short tx;
	ssize_t ret;

	if (!rcm_post_is_plain(ep, msg->msg_iov, msg->iov_count, flags,
			       ep->tx_refused))
		return rcm_msg_sendmsg_any(ep, msg, flags);
	tx.buf = msg->msg_iov->iov_base;
	tx.len = (uint32_t)msg->msg_iov->iov_len;
	tx.complete = ep->tx_always || (flags & FI_COMPLETION);
	tx.imm = NULL;
	tx.remote = NULL;
	tx.context = msg->context;
	if (!rcm_post_plain(ep, &tx, flags, &ret))
		return rcm_msg_sendmsg_any(ep, msg, flags);
	return ret;
}

static inline bool rcm_msg_wants_entry(const struct rcm_ep *ep, uint64_t flags)
{
	return !ep->rx_selective || (flags & FI_COMPLETION);
}

/* Registered by the application, where FI_MR_LOCAL says so. Told once. */
static ssize_t rcm_msg_no_desc(struct rcm_ep *ep)
{
	if (!atomic_exchange(&ep->qp.rq.key_missed, true))
		RCM_WARN(EP_DATA, "a receive without a descriptor: "
				  "FI_MR_LOCAL asks for one");
	return -FI_EINVAL;
}

/* A buffer of SGE has no key: the receive registers it. */
static __attribute__((noinline)) ssize_t
rcm_msg_recv_lending(struct rcm_ep *ep, struct ibv_sge *sge, uint32_t n_sge,
		     void *context, uint64_t flags)
{
	if (!rcm_msg_drop_null(sge, &n_sge))
		return rcm_rq_post(&ep->qp, sge, n_sge, context, false,
				   rcm_msg_wants_entry(ep, flags));
	if (!ep->qp.attr.lends)
		return rcm_msg_no_desc(ep);
	return rcm_rq_post_lending(&ep->qp, sge, n_sge, context,
				   rcm_msg_wants_entry(ep, flags));
}

/* FI_MULTI_RECV: a buffer for many messages may be longer than the longest. */
static __attribute__((noinline)) ssize_t
rcm_msg_recv_multi(struct rcm_ep *ep, const void *buf, size_t len, void *desc,
		   void *context, uint64_t flags)
{
	struct rcm_multi_buf multi = {
		.addr = (uintptr_t)buf,
		.len = len,
		.min = atomic_load(&ep->min_multi_recv),
	};
	bool wants_entry = rcm_msg_wants_entry(ep, flags);

	if (len && desc)
		multi.lkey = rcm_mr_lkey(desc);
	else if (len && ep->qp.attr.lends)
		return rcm_multi_post_lending(&ep->qp, &multi, context,
					      wants_entry);
	else if (len)
		return rcm_msg_no_desc(ep);
	return rcm_multi_post(&ep->qp, &multi, context, wants_entry);
}

static ssize_t rcm_msg_recv(struct fid_ep *fid, void *buf, size_t len,
			    void *desc, fi_addr_t src_addr, void *context)
{
	uint64_t flags = rcm_msg_rx_default(fid);
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf,
		.length = (uint32_t)len,
	};

	(void)src_addr;
	if (rcm_unlikely(flags & FI_MULTI_RECV))
		return rcm_msg_recv_multi(ep, buf, len, desc, context, flags);
	if (len) {
		if (rcm_unlikely(len > ep->max_msg_size))
			return -FI_EMSGSIZE;
		if (rcm_unlikely(!desc))
			return rcm_msg_recv_lending(ep, &sge, 1, context,
						    flags);
		sge.lkey = rcm_mr_lkey(desc);
	}
	return rcm_short_recv(&ep->qp, &sge, len != 0, context,
			      rcm_msg_wants_entry(ep, flags));
}

static ssize_t rcm_msg_recv_iov(struct rcm_ep *ep, const struct iovec *iov,
				void **desc, size_t count, void *context,
				uint64_t flags)
{
	struct rcm_msg_iov to;
	ssize_t ret;

	if (rcm_unlikely(flags & FI_MULTI_RECV)) {
		if (!iov || !count)
			return rcm_msg_recv_multi(ep, NULL, 0, NULL, context,
						  flags);
		/* fi_msg(3): a single buffer */
		if (count > 1)
			return -FI_EINVAL;
		return rcm_msg_recv_multi(ep, iov->iov_base, iov->iov_len,
					  desc ? *desc : NULL, context, flags);
	}
	ret = rcm_msg_gather(&to, iov, desc, count, ep->limits.rx_iov);
	if (rcm_unlikely(ret))
		return ret;
	if (rcm_unlikely(to.len > ep->max_msg_size))
		return -FI_EMSGSIZE;
	if (rcm_unlikely(to.flags & RCM_TX_NO_KEY))
		return rcm_msg_recv_lending(ep, to.sge, to.n, context, flags);
	return rcm_rq_post(&ep->qp, to.sge, to.n, context, flags & FI_MORE,
			   rcm_msg_wants_entry(ep, flags));
}

static ssize_t rcm_msg_recvv(struct fid_ep *fid, const struct iovec *iov,
			     void **desc, size_t count, fi_addr_t src_addr,
			     void *context)
{
	struct rcm_ep *ep = rcm_ep_of(fid);

	(void)src_addr;
	return rcm_msg_recv_iov(ep, iov, desc, count, context,
				rcm_msg_rx_default(fid));
}

static ssize_t rcm_msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg,
			       uint64_t flags)
{
	struct rcm_ep *ep = rcm_ep_of(fid);

	if (rcm_unlikely(flags & (~RCM_MSG_RX_FLAGS | ep->rx_refused)))
		return -FI_EBADFLAGS;
	return rcm_msg_recv_iov(ep, msg->msg_iov, msg->desc, msg->iov_count,
				msg->context, flags);
}

struct fi_ops_msg rcm_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = rcm_msg_recv,
	.recvv = rcm_msg_recvv,
	.recvmsg = rcm_msg_recvmsg,
	.send = rcm_msg_send,
	.sendv = rcm_msg_sendv,
	.sendmsg = rcm_msg_sendmsg,
	.inject = rcm_msg_inject,
	.senddata = rcm_msg_senddata,
	.injectdata = rcm_msg_injectdata,
};
