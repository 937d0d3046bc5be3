/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_ep.h"

#include <rdma/fi_errno.h>

#include "rcm_log.h"
#include "rcm_mr.h"
#include "rcm_msg.h"
#include "rcm_multi.h"
#include "rcm_short.h"

/*
 * fi_msg(3) onto the two queues of a queue pair. Addresses are ignored: the
 * endpoint is connected.
 */

/*
 * What a call may ask for; anything else is -FI_EBADFLAGS, whether it is
 * unknown or only not offered. A completion of a reliable connection comes
 * after the peer's acknowledgement, and a message is acknowledged only when
 * it has used up a receive that was posted. That is delivery in the sense of
 * fi_cq(3): the result is there, and the step that may be left to the peer is
 * to read the entry of its receive, before which fi_msg(3) has it keep its
 * hands off the buffer; its device writes that entry behind the data.
 */
#define RCM_MSG_TX_FLAGS                                                      \
	(FI_COMPLETION | FI_INJECT | FI_REMOTE_CQ_DATA | FI_MORE | FI_FENCE | \
	 FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |   \
	 RCM_MSG_PRIVATE)

/* Those of them that one buffer which goes inline meets by itself. */
#define RCM_MSG_TX_PLAIN                                                       \
	(FI_COMPLETION | FI_MORE | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | RCM_MSG_PRIVATE)

/* The queue's flags of a call whose fi_msg(3) flags are FLAGS. */
static inline uint32_t rcm_msg_tx_flags(const struct rcm_ep *ep, uint64_t flags)
{
	uint32_t tx = ep->tx_always;

	if (flags & FI_COMPLETION)
		tx |= RCM_TX_COMPLETE;
	if (flags & FI_INJECT)
		tx |= RCM_TX_INJECT;
	return tx;
}

/* The same of a call without flags. */
static inline uint32_t rcm_msg_tx_default(struct fid_ep *fid)
{
	struct rcm_face *face = rcm_face_of(fid);

	return rcm_msg_tx_flags(face->ep,
				atomic_load_explicit(&face->tx_op_flags,
						     memory_order_relaxed));
}

static inline uint64_t rcm_msg_rx_default(struct fid_ep *fid)
{
	return atomic_load_explicit(&rcm_face_of(fid)->rx_op_flags,
				    memory_order_relaxed);
}

/* Any single buffer. DATA of more than 32 bits is beyond cq_data_size. */
static __attribute__((noinline)) ssize_t
rcm_msg_send_any(struct rcm_ep *ep, const void *buf, size_t len, void *desc,
		 uint64_t data, uint32_t flags, void *context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf,
		.length = (uint32_t)len,
	};
	struct rcm_tx tx = {
		.context = context,
		.sge = &sge,
		.n_sge = len != 0,
		.flags = flags,
		.imm = (uint32_t)data,
		.len = len,
	};

	if (rcm_unlikely(data > UINT32_MAX))
		return rcm_sq_refuse(&ep->qp, -FI_EINVAL);
	/* what a descriptor of no bytes points to is nobody's business */
	if (desc && rcm_likely(len))
		sge.lkey = rcm_mr_lkey(desc);
	else
		tx.flags |= RCM_TX_NO_KEY;
	return rcm_sq_post(&ep->qp, &tx);
}

/*
 * The single buffers of the four calls below. What is usual is inline in each
 * of them; what is not starts again from what the caller gave.
 */
static inline bool rcm_msg_is_short(struct rcm_ep *ep, size_t len,
				    uint64_t data)
{
	return rcm_likely(len <= ep->qp.sq.max_inline && data <= UINT32_MAX &&
			  rcm_short_begin(&ep->qp));
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
		.context = context,
	};

	return rcm_short_post(&ep->qp, &tx);
}

/* Does a call without flags want an entry? */
static inline bool rcm_msg_tx_completes(struct fid_ep *fid)
{
	struct rcm_face *face = rcm_face_of(fid);

	return face->ep->tx_always ||
	       (atomic_load_explicit(&face->tx_op_flags, memory_order_relaxed) &
		FI_COMPLETION);
}

static ssize_t rcm_msg_send(struct fid_ep *fid, const void *buf, size_t len,
			    void *desc, fi_addr_t dest_addr, void *context)
{
	struct rcm_ep *ep = rcm_ep_of(fid);

	(void)dest_addr;
	if (!rcm_msg_is_short(ep, len, 0))
		return rcm_msg_send_any(ep, buf, len, desc, 0,
					rcm_msg_tx_default(fid), context);
	return rcm_msg_post_short(ep, buf, len, rcm_msg_tx_completes(fid), NULL,
				  context);
}

static ssize_t rcm_msg_senddata(struct fid_ep *fid, const void *buf, size_t len,
				void *desc, uint64_t data, fi_addr_t dest_addr,
				void *context)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	uint32_t imm = (uint32_t)data;

	(void)dest_addr;
	if (!rcm_msg_is_short(ep, len, data))
		return rcm_msg_send_any(ep, buf, len, desc, data,
					rcm_msg_tx_default(fid) | RCM_TX_IMM,
					context);
	return rcm_msg_post_short(ep, buf, len, rcm_msg_tx_completes(fid), &imm,
				  context);
}

static ssize_t rcm_msg_inject(struct fid_ep *fid, const void *buf, size_t len,
			      fi_addr_t dest_addr)
{
	struct rcm_ep *ep = rcm_ep_of(fid);

	(void)dest_addr;
	if (!rcm_msg_is_short(ep, len, 0))
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
	if (!rcm_msg_is_short(ep, len, data))
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
	ret = rcm_msg_gather(&from, iov, desc, count, ep->limits.tx_iov);
	if (rcm_unlikely(ret))
		return rcm_sq_refuse(&ep->qp, ret);
	tx.context = context;
	tx.sge = from.sge;
	tx.n_sge = from.n;
	tx.flags = from.flags | rcm_msg_tx_default(fid);
	tx.imm = 0;
	tx.len = from.len;
	return rcm_sq_post(&ep->qp, &tx);
}

/* The call's flags stand in the place of the endpoint's: fi_endpoint(3). */
static __attribute__((noinline)) ssize_t
rcm_msg_sendmsg_any(struct rcm_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct rcm_msg_iov from;
	struct rcm_tx tx;
	ssize_t ret;

	if (rcm_unlikely(flags & (~RCM_MSG_TX_FLAGS | ep->tx_refused)))
		return rcm_sq_refuse(&ep->qp, -FI_EBADFLAGS);
	ret = rcm_msg_gather(&from, msg->msg_iov, msg->desc, msg->iov_count,
			     ep->limits.tx_iov);
	if (rcm_unlikely(ret))
		return rcm_sq_refuse(&ep->qp, ret);
	tx.context = msg->context;
	tx.sge = from.sge;
	tx.n_sge = from.n;
	tx.flags = from.flags | rcm_msg_tx_flags(ep, flags);
	tx.imm = 0;
	tx.len = from.len;
	if (flags & FI_REMOTE_CQ_DATA) {
		if (rcm_unlikely(msg->data > UINT32_MAX))
			return rcm_sq_refuse(&ep->qp, -FI_EINVAL);
		tx.flags |= RCM_TX_IMM;
		tx.imm = (uint32_t)msg->data;
	}
	if (flags & FI_MORE)
		tx.flags |= RCM_TX_MORE;
	if (flags & FI_FENCE)
		tx.flags |= RCM_TX_FENCE;
	return rcm_sq_post(&ep->qp, &tx);
}

/* Does MSG come to one short buffer, and to nothing else? */
static inline bool rcm_msg_is_plain(const struct rcm_ep *ep,
				    const struct fi_msg *msg, uint64_t flags)
{
	return rcm_likely(!(flags & (~RCM_MSG_TX_PLAIN | ep->tx_refused)) &&
			  msg->iov_count == 1 && msg->msg_iov &&
			  msg->msg_iov->iov_len <= ep->qp.sq.max_inline);
}

static ssize_t rcm_msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg,
			       uint64_t flags)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct rcm_short tx;

	if (!rcm_msg_is_plain(ep, msg, flags))
		return rcm_msg_sendmsg_any(ep, msg, flags);
	tx.buf = msg->msg_iov->iov_base;
	tx.len = (uint32_t)msg->msg_iov->iov_len;
	tx.complete = ep->tx_always || (flags & FI_COMPLETION);
	tx.imm = NULL;
	tx.context = msg->context;
	if (flags & FI_MORE) {
		if (rcm_likely(rcm_short_stage(&ep->qp, &tx)))
			return 0;
	} else if (rcm_short_begin(&ep->qp)) {
		return rcm_short_post(&ep->qp, &tx);
	}
	return rcm_msg_sendmsg_any(ep, msg, flags);
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
