/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_MSG_H
#define RCM_MSG_H

#include <stdbool.h>

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_mr.h"
#include "rcm_qp.h"

/*
 * What the calls of fi_msg(3) share, whatever they post to: the queues of an
 * endpoint, or a shared receive queue.
 */

/*
 * Bits that are no flags of a call: FI_PRIORITY of 1.x, a hint, and the top
 * ones, which the core and layered providers keep for themselves.
 */
#define RCM_MSG_PRIVATE ((1ULL << 22) | (0xfULL << 60))

/* What a receive may ask for; anything else is -FI_EBADFLAGS. */
#define RCM_MSG_RX_FLAGS                                                  \
	(FI_COMPLETION | FI_MORE | FI_TRANSMIT_COMPLETE | FI_MULTI_RECV | \
	 RCM_MSG_PRIVATE)

/* What a list of buffers comes to. */
struct rcm_msg_iov {
	struct ibv_sge sge[RCM_MAX_SGE];
	uint32_t n;
	uint32_t flags; /* RCM_TX_NO_KEY */
	uint64_t len;
};

/*
 * Empty buffers are left out, so that a message of 0 bytes needs none of
 * iov, desc and count (fi_msg(3)). -FI_EINVAL beyond LIMIT buffers.
 */
static inline ssize_t rcm_msg_gather(struct rcm_msg_iov *to,
				     const struct iovec *iov, void **desc,
				     size_t count, size_t limit)
{
	struct ibv_sge *sge = to->sge;
	size_t i;

	to->n = 0;
	to->flags = 0;
	to->len = 0;
	if (!iov)
		count = 0;
	if (rcm_unlikely(count > RCM_MIN(limit, RCM_MAX_SGE)))
		return -FI_EINVAL;
	for (i = 0; i < count; i++) {
		if (!iov[i].iov_len)
			continue;
		if (rcm_unlikely(iov[i].iov_len > UINT32_MAX))
			return -FI_EMSGSIZE;
		sge->addr = (uintptr_t)iov[i].iov_base;
		sge->length = (uint32_t)iov[i].iov_len;
		sge->lkey = 0;
		if (desc && desc[i])
			sge->lkey = rcm_mr_lkey(desc[i]);
		else
			to->flags = RCM_TX_NO_KEY;
		to->len += iov[i].iov_len;
		sge++;
	}
	to->n = (uint32_t)(sge - to->sge);
	return 0;
}

/*
 * A receive without a key: what is at NULL holds nothing and is left out of
 * the *N buffers of SGE. True when some of the rest still need a key.
 * libfabric's own fi_shared_ctx has such receives, for empty messages.
 */
static inline bool rcm_msg_drop_null(struct ibv_sge *sge, uint32_t *n)
{
	bool keyless = false;
	uint32_t i, kept = 0;

	for (i = 0; i < *n; i++) {
		if (!sge[i].addr && !sge[i].lkey)
			continue;
		if (!sge[i].lkey)
			keyless = true;
		sge[kept++] = sge[i];
	}
	*n = kept;
	return keyless;
}

#endif /* RCM_MSG_H */
