/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_POST_H
#define RCM_POST_H

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "rcm_ep.h"
#include "rcm_mr.h"
#include "rcm_msg.h"
#include "rcm_short.h"

/*
 * What the calls that put something into an endpoint's send queue share,
 * whether it is a message (fi_msg(3)) or goes to or from the peer's memory
 * (fi_rma(3)). Addresses are ignored: the endpoint is connected.
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
#define RCM_POST_FLAGS                                                        \
	(FI_COMPLETION | FI_INJECT | FI_REMOTE_CQ_DATA | FI_MORE | FI_FENCE | \
	 FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |   \
	 RCM_MSG_PRIVATE)

/* Those of them that one buffer which goes inline meets by itself. */
#define RCM_POST_PLAIN                                                         \
	(FI_COMPLETION | FI_MORE | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | RCM_MSG_PRIVATE)

/* The queue's flags of a call whose own flags are FLAGS, for both below. */
static inline uint32_t rcm_post_flags(const struct rcm_ep *ep, uint64_t flags)
{
	uint32_t tx = ep->tx_always;

	if (flags & FI_COMPLETION)
		tx |= RCM_TX_COMPLETE;
	if (flags & FI_INJECT)
		tx |= RCM_TX_INJECT;
	return tx;
}

/* Of a call without flags. */
static inline uint32_t rcm_post_default(struct fid_ep *fid)
{
	struct rcm_face *face = rcm_face_of(fid);

	return rcm_post_flags(face->ep,
			      atomic_load_explicit(&face->tx_op_flags,
						   memory_order_relaxed));
}

/*
 * Of a call with flags, which stand in the place of the endpoint's:
 * fi_endpoint(3).
 */
static inline uint32_t rcm_post_called(const struct rcm_ep *ep, uint64_t flags)
{
	uint32_t tx = rcm_post_flags(ep, flags);

	if (flags & FI_MORE)
		tx |= RCM_TX_MORE;
	if (flags & FI_FENCE)
		tx |= RCM_TX_FENCE;
	return tx;
}

/* Does a call without flags want an entry? */
static inline bool rcm_post_completes(struct fid_ep *fid)
{
	struct rcm_face *face = rcm_face_of(fid);

	return face->ep->tx_always ||
	       (atomic_load_explicit(&face->tx_op_flags, memory_order_relaxed) &
		FI_COMPLETION);
}

/* TX has one buffer, which SGE describes for it. */
static inline void rcm_post_buf(struct rcm_tx *tx, struct ibv_sge *sge,
				const void *buf, size_t len, void *desc)
{
	sge->addr = (uintptr_t)buf;
	sge->length = (uint32_t)len;
	sge->lkey = 0;
	tx->sge = sge;
	tx->n_sge = len != 0;
	tx->len = len;
	/* what a descriptor of no bytes points to is nobody's business */
	if (desc && rcm_likely(len))
		sge->lkey = rcm_mr_lkey(desc);
	else if (len)
		tx->flags |= RCM_TX_NO_KEY;
}

/* TX has the buffers of an iovec, which FROM describes for it. */
static inline ssize_t rcm_post_iov(const struct rcm_ep *ep, struct rcm_tx *tx,
				   struct rcm_msg_iov *from,
				   const struct iovec *iov, void **desc,
				   size_t count)
{
	ssize_t ret = rcm_msg_gather(from, iov, desc, count, ep->limits.tx_iov);

	if (rcm_unlikely(ret))
		return ret;
	tx->sge = from->sge;
	tx->n_sge = from->n;
	tx->flags |= from->flags;
	tx->len = from->len;
	return 0;
}

/* TX brings DATA with it. More than 32 bits are beyond cq_data_size. */
static inline ssize_t rcm_post_data(struct rcm_tx *tx, uint64_t data)
{
	if (rcm_unlikely(data > UINT32_MAX))
		return -FI_EINVAL;
	tx->flags |= RCM_TX_IMM;
	tx->imm = (uint32_t)data;
	return 0;
}

/*
 * The single buffers of calls without flags. What is usual is inline in each
 * of them; what is not starts again from what the caller gave. True: it is
 * rcm_short_post()'s turn.
 */
static inline bool rcm_post_is_short(struct rcm_ep *ep, size_t len,
				     uint64_t data)
{
	return rcm_likely(len <= ep->qp.sq.max_inline && data <= UINT32_MAX &&
			  rcm_short_begin(&ep->qp));
}

/* Do N buffers at IOV and FLAGS come to one short buffer, and nothing else? */
static inline bool rcm_post_is_plain(const struct rcm_ep *ep,
				     const struct iovec *iov, size_t n,
				     uint64_t flags, uint64_t refused)
{
	return rcm_likely(!(flags & (~RCM_POST_PLAIN | refused)) && n == 1 &&
			  iov && iov->iov_len <= ep->qp.sq.max_inline);
}

/* One that is plain, by way of the stage if it has FI_MORE. False: not so. */
static inline __attribute__((always_inline)) bool
rcm_post_plain(struct rcm_ep *ep, const struct rcm_short *tx, uint64_t flags,
	       ssize_t *ret)
{
	*ret = 0;
	if (flags & FI_MORE)
		return rcm_likely(rcm_short_stage(&ep->qp, tx));
	if (!rcm_short_begin(&ep->qp))
		return false;
	*ret = rcm_short_post(&ep->qp, tx);
	return true;
}

#endif /* RCM_POST_H */
