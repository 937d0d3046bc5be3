/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_rma.h"

#include <rdma/fi_errno.h>

#include "rcm_enosys.h"
#include "rcm_log.h"
#include "rcm_post.h"

/* fi_rma(3) onto the send queue of a queue pair. */

/*
 * A read applies none of the flags that are for data which goes out, and
 * its completion is the delivery. Remote data it has none to bring.
 */
#define RCM_RMA_READ_FLAGS (RCM_POST_FLAGS & ~FI_REMOTE_CQ_DATA)

/* What a call says about both sides, whatever form it has. */
struct rcm_rma {
	uint64_t addr;
	uint64_t key;
	uint64_t data; /* with RCM_TX_IMM */
	void *context;
};

/*
 * A request of no bytes works nowhere; else a key of more than 32 bits is
 * none of a device's. And a read may have fewer buffers than a write.
 */
static inline ssize_t rcm_rma_aim(const struct rcm_ep *ep, struct rcm_tx *tx,
				  uint64_t addr, uint64_t key)
{
	if ((tx->flags & RCM_TX_PULL) &&
	    rcm_unlikely(tx->n_sge > ep->limits.read_iov))
		return -FI_EINVAL;
	if (rcm_unlikely(key > UINT32_MAX && tx->len))
		return -FI_EINVAL;
	tx->remote.addr = addr;
	tx->remote.rkey = (uint32_t)key;
	return 0;
}

/* Without the peer's promise of a receive a write with data may never end. */
static inline ssize_t rcm_rma_data(const struct rcm_ep *ep, struct rcm_tx *tx,
				   uint64_t data)
{
	if (rcm_likely(ep->data_writes))
		return rcm_post_data(tx, data);
	RCM_INFO(EP_DATA, "a write with data uses up a receive of the peer: it "
			  "is for those whose mode has FI_RX_CQ_DATA, on "
			  "devices that have cq_data_size");
	return -FI_EOPNOTSUPP;
}

static inline void rcm_rma_set_op(struct rcm_tx *tx, enum rcm_op op)
{
	tx->op = op;
	if (op == RCM_OP_WRITE) {
		tx->opcode = IBV_WR_RDMA_WRITE;
		return;
	}
	tx->opcode = IBV_WR_RDMA_READ;
	/* defaults for what goes out say nothing here */
	tx->flags = (tx->flags & ~RCM_TX_INJECT) | RCM_TX_PULL;
}

/* TX has its buffers: the rest of it, and off it goes. */
static ssize_t rcm_rma_post(struct rcm_ep *ep, struct rcm_tx *tx,
			    const struct rcm_rma *rma)
{
	ssize_t ret = rcm_rma_aim(ep, tx, rma->addr, rma->key);

	if (!ret && (tx->flags & RCM_TX_IMM))
		ret = rcm_rma_data(ep, tx, rma->data);
	if (rcm_unlikely(ret))
		return rcm_sq_refuse(&ep->qp, ret);
	return rcm_sq_post(&ep->qp, tx);
}

/* Any single buffer. */
static __attribute__((noinline)) ssize_t
rcm_rma_post_any(struct rcm_ep *ep, enum rcm_op op, const void *buf, size_t len,
		 void *desc, const struct rcm_rma *rma, uint32_t flags)
{
	struct rcm_tx tx;
	struct ibv_sge sge;

	tx.context = rma->context;
	tx.flags = flags;
	rcm_rma_set_op(&tx, op);
	rcm_post_buf(&tx, &sge, buf, len, desc);
	return rcm_rma_post(ep, &tx, rma);
}

static ssize_t rcm_rma_post_iov(struct rcm_ep *ep, enum rcm_op op,
				const struct iovec *iov, void **desc,
				size_t count, const struct rcm_rma *rma,
				uint32_t flags)
{
	struct rcm_msg_iov from;
	struct rcm_tx tx;
	ssize_t ret;

	tx.context = rma->context;
	tx.flags = flags;
	rcm_rma_set_op(&tx, op);
	ret = rcm_post_iov(ep, &tx, &from, iov, desc, count);
	if (rcm_unlikely(ret))
		return rcm_sq_refuse(&ep->qp, ret);
	return rcm_rma_post(ep, &tx, rma);
}

/*
 * The peer's side of a call with flags: one piece, since a work request has
 * one, into which what is moved fits. That of no bytes is not looked at.
 */
static inline ssize_t rcm_rma_read_target(const struct rcm_ep *ep,
					  const struct fi_msg_rma *msg,
					  struct rcm_rma *rma)
{
	size_t i, count = msg->msg_iov ? msg->iov_count : 0;
	uint64_t len = 0;

	if (rcm_unlikely(count > ep->limits.tx_iov || msg->rma_iov_count > 1))
		return -FI_EINVAL;
	for (i = 0; i < count; i++)
		len += msg->msg_iov[i].iov_len;
	if (!len)
		return 0;
	if (rcm_unlikely(!msg->rma_iov_count || !msg->rma_iov ||
			 msg->rma_iov->len < len))
		return -FI_EINVAL;
	rma->addr = msg->rma_iov->addr;
	rma->key = msg->rma_iov->key;
	return 0;
}

static __attribute__((noinline)) ssize_t
rcm_rma_postmsg_any(struct rcm_ep *ep, enum rcm_op op,
		    const struct fi_msg_rma *msg, uint64_t flags)
{
	struct rcm_rma rma = { .data = msg->data, .context = msg->context };
	uint32_t tx_flags = rcm_post_called(ep, flags);
	ssize_t ret = rcm_rma_read_target(ep, msg, &rma);

	if (rcm_unlikely(ret))
		return rcm_sq_refuse(&ep->qp, ret);
	if (flags & FI_REMOTE_CQ_DATA)
		tx_flags |= RCM_TX_IMM;
	return rcm_rma_post_iov(ep, op, msg->msg_iov, msg->desc, msg->iov_count,
				&rma, tx_flags);
}

/* Which of FLAGS a write cannot keep; that with data ends like a message. */
static inline uint64_t rcm_rma_write_refused(const struct rcm_ep *ep,
					     uint64_t flags)
{
	return (flags & FI_REMOTE_CQ_DATA) ? ep->tx_refused : ep->write_refused;
}

static ssize_t rcm_rma_read(struct fid_ep *fid, void *buf, size_t len,
			    void *desc, fi_addr_t src_addr, uint64_t addr,
			    uint64_t key, void *context)
{
	const struct rcm_rma rma = { .addr = addr,
				     .key = key,
				     .context = context };

	(void)src_addr;
	return rcm_rma_post_any(rcm_ep_of(fid), RCM_OP_READ, buf, len, desc,
				&rma, rcm_post_default(fid));
}

static ssize_t rcm_rma_readv(struct fid_ep *fid, const struct iovec *iov,
			     void **desc, size_t count, fi_addr_t src_addr,
			     uint64_t addr, uint64_t key, void *context)
{
	const struct rcm_rma rma = { .addr = addr,
				     .key = key,
				     .context = context };

	(void)src_addr;
	return rcm_rma_post_iov(rcm_ep_of(fid), RCM_OP_READ, iov, desc, count,
				&rma, rcm_post_default(fid));
}

static ssize_t rcm_rma_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
			       uint64_t flags)
{
	struct rcm_ep *ep = rcm_ep_of(fid);

	if (rcm_unlikely(flags & (~RCM_RMA_READ_FLAGS | ep->tx_refused)))
		return rcm_sq_refuse(&ep->qp, -FI_EBADFLAGS);
	return rcm_rma_postmsg_any(ep, RCM_OP_READ, msg, flags);
}

/* The short ones of the calls without flags; more than that starts again. */
static inline bool rcm_rma_is_short(struct rcm_ep *ep, size_t len,
				    uint64_t data, uint64_t key)
{
	return rcm_likely(key <= UINT32_MAX) &&
	       rcm_post_is_short(ep, len, data);
}

static inline __attribute__((always_inline)) ssize_t
rcm_rma_post_short(struct rcm_ep *ep, const void *buf, size_t len,
		   bool complete, const uint32_t *imm,
		   const struct rcm_rma *rma)
{
	const struct rcm_remote remote = {
		.addr = rma->addr,
		.rkey = (uint32_t)rma->key,
	};
	struct rcm_short tx = {
		.buf = buf,
		.len = (uint32_t)len,
		.complete = complete,
		.imm = imm,
		.remote = &remote,
		.context = rma->context,
	};

	return rcm_short_post(&ep->qp, &tx);
}

static ssize_t rcm_rma_write(struct fid_ep *fid, const void *buf, size_t len,
			     void *desc, fi_addr_t dest_addr, uint64_t addr,
			     uint64_t key, void *context)
{
	const struct rcm_rma rma = { .addr = addr,
				     .key = key,
				     .context = context };
	struct rcm_ep *ep = rcm_ep_of(fid);

	(void)dest_addr;
	if (!rcm_rma_is_short(ep, len, 0, key))
		return rcm_rma_post_any(ep, RCM_OP_WRITE, buf, len, desc, &rma,
					rcm_post_default(fid));
	return rcm_rma_post_short(ep, buf, len, rcm_post_completes(fid), NULL,
				  &rma);
}

static ssize_t rcm_rma_writev(struct fid_ep *fid, const struct iovec *iov,
			      void **desc, size_t count, fi_addr_t dest_addr,
			      uint64_t addr, uint64_t key, void *context)
{
	const struct rcm_rma rma = { .addr = addr,
				     .key = key,
				     .context = context };

	(void)dest_addr;
	return rcm_rma_post_iov(rcm_ep_of(fid), RCM_OP_WRITE, iov, desc, count,
				&rma, rcm_post_default(fid));
}

static ssize_t rcm_rma_writemsg(struct fid_ep *fid,
				const struct fi_msg_rma *msg, uint64_t flags)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct rcm_remote remote;
	struct rcm_short tx;
	ssize_t ret;

	if (rcm_unlikely(flags &
			 (~RCM_POST_FLAGS | rcm_rma_write_refused(ep, flags))))
		return rcm_sq_refuse(&ep->qp, -FI_EBADFLAGS);
	if (!rcm_post_is_plain(ep, msg->msg_iov, msg->iov_count, flags, 0) ||
	    msg->rma_iov_count != 1 || !msg->rma_iov ||
	    msg->rma_iov->len < msg->msg_iov->iov_len ||
	    msg->rma_iov->key > UINT32_MAX)
		return rcm_rma_postmsg_any(ep, RCM_OP_WRITE, msg, flags);
	remote.addr = msg->rma_iov->addr;
	remote.rkey = (uint32_t)msg->rma_iov->key;
	tx.buf = msg->msg_iov->iov_base;
	tx.len = (uint32_t)msg->msg_iov->iov_len;
	tx.complete = ep->tx_always || (flags & FI_COMPLETION);
	tx.imm = NULL;
	tx.remote = &remote;
	tx.context = msg->context;
	if (!rcm_post_plain(ep, &tx, flags, &ret))
		return rcm_rma_postmsg_any(ep, RCM_OP_WRITE, msg, flags);
	return ret;
}

static ssize_t rcm_rma_inject(struct fid_ep *fid, const void *buf, size_t len,
			      fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	const struct rcm_rma rma = { .addr = addr, .key = key };
	struct rcm_ep *ep = rcm_ep_of(fid);

	(void)dest_addr;
	if (!rcm_rma_is_short(ep, len, 0, key))
		return rcm_rma_post_any(ep, RCM_OP_WRITE, buf, len, NULL, &rma,
					RCM_TX_INJECT);
	return rcm_rma_post_short(ep, buf, len, false, NULL, &rma);
}

static ssize_t rcm_rma_writedata(struct fid_ep *fid, const void *buf,
				 size_t len, void *desc, uint64_t data,
				 fi_addr_t dest_addr, uint64_t addr,
				 uint64_t key, void *context)
{
	const struct rcm_rma rma = {
		.addr = addr, .key = key, .data = data, .context = context
	};
	struct rcm_ep *ep = rcm_ep_of(fid);
	uint32_t imm = (uint32_t)data;

	(void)dest_addr;
	if (rcm_unlikely(!ep->data_writes) ||
	    !rcm_rma_is_short(ep, len, data, key))
		return rcm_rma_post_any(ep, RCM_OP_WRITE, buf, len, desc, &rma,
					rcm_post_default(fid) | RCM_TX_IMM);
	return rcm_rma_post_short(ep, buf, len, rcm_post_completes(fid), &imm,
				  &rma);
}

static ssize_t rcm_rma_injectdata(struct fid_ep *fid, const void *buf,
				  size_t len, uint64_t data,
				  fi_addr_t dest_addr, uint64_t addr,
				  uint64_t key)
{
	const struct rcm_rma rma = { .addr = addr, .key = key, .data = data };
	struct rcm_ep *ep = rcm_ep_of(fid);
	uint32_t imm = (uint32_t)data;

	(void)dest_addr;
	if (rcm_unlikely(!ep->data_writes) ||
	    !rcm_rma_is_short(ep, len, data, key))
		return rcm_rma_post_any(ep, RCM_OP_WRITE, buf, len, NULL, &rma,
					RCM_TX_INJECT | RCM_TX_IMM);
	return rcm_rma_post_short(ep, buf, len, false, &imm, &rma);
}

void rcm_rma_fill_ops(struct fi_ops_rma *ops, uint64_t caps)
{
	*ops = rcm_no_rma_ops;
	if (caps & FI_READ) {
		ops->read = rcm_rma_read;
		ops->readv = rcm_rma_readv;
		ops->readmsg = rcm_rma_readmsg;
	}
	if (caps & FI_WRITE) {
		ops->write = rcm_rma_write;
		ops->writev = rcm_rma_writev;
		ops->writemsg = rcm_rma_writemsg;
		ops->inject = rcm_rma_inject;
		ops->writedata = rcm_rma_writedata;
		ops->injectdata = rcm_rma_injectdata;
	}
}
