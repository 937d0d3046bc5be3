/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_atomic.h"

#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_domain.h"
#include "rcm_ep.h"
#include "rcm_log.h"
#include "rcm_mr.h"
#include "rcm_msg.h"
#include "rcm_post.h"
#include "rcm_sink.h"

/*
 * fi_atomic(3) onto a queue pair's requests; rcm_atomic_valid.c says which.
 * Addresses are ignored: the endpoint is connected. Operands travel in the
 * request itself, so their buffers are the caller's again on return, need no
 * descriptor, and may stand anywhere.
 */

/*
 * What a call may ask for; anything else is -FI_EBADFLAGS: tagged buffers as
 * targets and data for the peer's completion queue are not offered. A device
 * answers an atomic request when it has executed it, so that is delivered
 * when it is complete, whether its result is wanted or not.
 */
#define RCM_ATOMIC_FLAGS                                                       \
	(FI_COMPLETION | FI_INJECT | FI_MORE | FI_FENCE | FI_INJECT_COMPLETE | \
	 FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | RCM_MSG_PRIVATE)

/* One call. Each buffer holds a single word; NULL where there is none. */
struct rcm_atomic_call {
	enum rcm_atomic_kind kind;
	enum fi_datatype type;
	enum fi_op op;
	size_t count; /* of words at the target */
	const void *operand, *compare;
	void *result, *result_desc;
	uint64_t addr, key; /* of the target */
	void *context;
	ssize_t err; /* what is wrong with the lists, or 0 */
};

/* 0 where there is none. */
static uint64_t rcm_atomic_word(const void *buf)
{
	uint64_t word = 0;

	if (buf)
		memcpy(&word, buf, sizeof(word));
	return word;
}

/* Which of N buffers holds the only word. */
static ssize_t rcm_atomic_pick(const struct rcm_ep *ep,
			       const struct fi_ioc *ioc, size_t n,
			       size_t *which)
{
	bool found = false;

	if (!ioc || n > ep->limits.tx_iov)
		return -FI_EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (!ioc[i].count)
			continue;
		if (found || ioc[i].count > 1)
			return -FI_EMSGSIZE;
		found = true;
		*which = i;
	}
	return found ? 0 : -FI_EINVAL;
}

/* The operand of a call with a list of buffers; a read looks at none. */
static void rcm_atomic_pick_operand(const struct rcm_ep *ep,
				    struct rcm_atomic_call *call,
				    const struct fi_ioc *ioc, size_t n)
{
	size_t i;

	if (call->err || call->op == FI_ATOMIC_READ)
		return;
	call->err = rcm_atomic_pick(ep, ioc, n, &i);
	if (!call->err)
		call->operand = ioc[i].addr;
}

static void rcm_atomic_pick_compare(const struct rcm_ep *ep,
				    struct rcm_atomic_call *call,
				    const struct fi_ioc *ioc, size_t n)
{
	size_t i;

	if (call->err)
		return;
	call->err = rcm_atomic_pick(ep, ioc, n, &i);
	if (!call->err)
		call->compare = ioc[i].addr;
}

static void rcm_atomic_pick_result(const struct rcm_ep *ep,
				   struct rcm_atomic_call *call,
				   const struct fi_ioc *ioc, void **desc,
				   size_t n)
{
	size_t i;

	if (call->err)
		return;
	call->err = rcm_atomic_pick(ep, ioc, n, &i);
	if (call->err)
		return;
	call->result = ioc[i].addr;
	call->result_desc = desc ? desc[i] : NULL;
}

/* The call that MSG describes, all but its operands. */
static void rcm_atomic_read_msg(struct rcm_atomic_call *call,
				enum rcm_atomic_kind kind,
				const struct fi_msg_atomic *msg)
{
	const struct fi_rma_ioc *target = msg->rma_iov;

	memset(call, 0, sizeof(*call));
	call->kind = kind;
	call->type = msg->datatype;
	call->op = msg->op;
	call->context = msg->context;
	if (!target || msg->rma_iov_count != 1) {
		call->err = -FI_EINVAL;
		return;
	}
	call->count = target->count;
	call->addr = target->addr;
	call->key = target->key;
}

/* verbs offers some that are not here, which its users may look for. */
static ssize_t rcm_atomic_not_offered(const struct rcm_atomic_call *call)
{
	char op[32], type[32];

	RCM_INFO(EP_DATA,
		 "%s on %s is not offered by this family of calls: "
		 "fi_query_atomic(3) says what is, and fi_rcm(7) why",
		 fi_tostr_r(op, sizeof(op), &call->op, FI_TYPE_ATOMIC_OP),
		 fi_tostr_r(type, sizeof(type), &call->type,
			    FI_TYPE_ATOMIC_TYPE));
	return -FI_EOPNOTSUPP;
}

static ssize_t rcm_atomic_check(const struct rcm_ep *ep,
				const struct rcm_atomic_call *call,
				enum rcm_atomic_way way)
{
	uint64_t cap = call->kind == RCM_ATOMIC_BASE ? FI_WRITE : FI_READ;

	if (!way)
		return rcm_atomic_not_offered(call);
	if (!(ep->caps & cap))
		return -FI_EOPNOTSUPP;
	if (call->err)
		return call->err;
	if (call->count > 1)
		return -FI_EMSGSIZE;
	if (!call->count || call->key > UINT32_MAX ||
	    (call->kind != RCM_ATOMIC_BASE && !call->result) ||
	    (way != RCM_ATOMIC_LOOK && !call->operand) ||
	    (way == RCM_ATOMIC_SWAP && !call->compare))
		return -FI_EINVAL;
	if (call->addr % RCM_ATOMIC_SIZE) {
		RCM_INFO(EP_DATA,
			 "an atomic operation at 0x%llx, which is no multiple "
			 "of %d",
			 (unsigned long long)call->addr, RCM_ATOMIC_SIZE);
		return -FI_EINVAL;
	}
	return 0;
}

/* The device answers: to the caller's buffer, or where nobody looks. */
static ssize_t rcm_atomic_fill_answer(struct rcm_ep *ep,
				      const struct rcm_atomic_call *call,
				      struct rcm_tx *tx, struct ibv_sge *sge)
{
	tx->flags |= RCM_TX_PULL;
	tx->flags &= ~(uint32_t)RCM_TX_INJECT;
	if (call->kind == RCM_ATOMIC_BASE)
		return rcm_sink_get(&ep->domain->sink, ep->domain->pd, sge);
	sge->addr = (uintptr_t)call->result;
	if (call->result_desc)
		sge->lkey = rcm_mr_lkey(call->result_desc);
	else
		tx->flags |= RCM_TX_NO_KEY;
	return 0;
}

static void rcm_atomic_fill_target(const struct rcm_atomic_call *call,
				   enum rcm_atomic_way way, struct rcm_tx *tx)
{
	tx->remote.addr = call->addr;
	tx->remote.rkey = (uint32_t)call->key;
	tx->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	if (way == RCM_ATOMIC_ADD)
		tx->remote.compare_add = rcm_atomic_word(call->operand);
	if (way != RCM_ATOMIC_SWAP)
		return;
	tx->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	tx->remote.compare_add = rcm_atomic_word(call->compare);
	tx->remote.swap = rcm_atomic_word(call->operand);
}

/* FLAGS: the queue's, of the call. */
static ssize_t rcm_atomic_post(struct rcm_ep *ep,
			       const struct rcm_atomic_call *call,
			       uint32_t flags)
{
	enum rcm_atomic_way way = rcm_atomic_way(call->kind, call->type,
						 call->op);
	struct ibv_sge sge = { .length = RCM_ATOMIC_SIZE };
	struct rcm_tx tx = {
		.context = call->context,
		.sge = &sge,
		.n_sge = 1,
		.flags = flags,
		.len = RCM_ATOMIC_SIZE,
		.op = call->kind == RCM_ATOMIC_BASE ? RCM_OP_UPDATE :
						      RCM_OP_FETCH,
	};
	ssize_t ret;

	if (!ep->qp.qp)
		return -FI_EOPBADSTATE;
	ret = rcm_atomic_check(ep, call, way);
	if (!ret) {
		rcm_atomic_fill_target(call, way, &tx);
		ret = rcm_atomic_fill_answer(ep, call, &tx, &sge);
	}
	return ret ? rcm_sq_refuse(&ep->qp, ret) : rcm_sq_post(&ep->qp, &tx);
}

/* The same with flags of the call, which stand in the endpoint's place. */
static ssize_t rcm_atomic_post_msg(struct rcm_ep *ep,
				   struct rcm_atomic_call *call, uint64_t flags)
{
	if (flags & (~RCM_ATOMIC_FLAGS | ep->tx_refused))
		call->err = -FI_EBADFLAGS;
	return rcm_atomic_post(ep, call, rcm_post_called(ep, flags));
}

/* NOLINTBEGIN(readability-function-size): parameters, as many as the page has */

static ssize_t rcm_atomic_base(struct fid_ep *fid, const void *buf,
			       size_t count, void *desc, fi_addr_t dest_addr,
			       uint64_t addr, uint64_t key,
			       enum fi_datatype type, enum fi_op op,
			       void *context)
{
	const struct rcm_atomic_call call = {
		.kind = RCM_ATOMIC_BASE,
		.type = type,
		.op = op,
		.count = count,
		.operand = buf,
		.addr = addr,
		.key = key,
		.context = context,
	};

	(void)desc;
	(void)dest_addr;
	return rcm_atomic_post(rcm_ep_of(fid), &call, rcm_post_default(fid));
}

static ssize_t rcm_atomic_base_v(struct fid_ep *fid, const struct fi_ioc *iov,
				 void **desc, size_t count, fi_addr_t dest_addr,
				 uint64_t addr, uint64_t key,
				 enum fi_datatype type, enum fi_op op,
				 void *context)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct rcm_atomic_call call = {
		.kind = RCM_ATOMIC_BASE,
		.type = type,
		.op = op,
		.count = 1,
		.addr = addr,
		.key = key,
		.context = context,
	};

	(void)desc;
	(void)dest_addr;
	rcm_atomic_pick_operand(ep, &call, iov, count);
	return rcm_atomic_post(ep, &call, rcm_post_default(fid));
}

static ssize_t rcm_atomic_base_msg(struct fid_ep *fid,
				   const struct fi_msg_atomic *msg,
				   uint64_t flags)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct rcm_atomic_call call;

	rcm_atomic_read_msg(&call, RCM_ATOMIC_BASE, msg);
	rcm_atomic_pick_operand(ep, &call, msg->msg_iov, msg->iov_count);
	return rcm_atomic_post_msg(ep, &call, flags);
}

/* No entry for a success, whatever the endpoint's default. */
static ssize_t rcm_atomic_inject(struct fid_ep *fid, const void *buf,
				 size_t count, fi_addr_t dest_addr,
				 uint64_t addr, uint64_t key,
				 enum fi_datatype type, enum fi_op op)
{
	const struct rcm_atomic_call call = {
		.kind = RCM_ATOMIC_BASE,
		.type = type,
		.op = op,
		.count = count,
		.operand = buf,
		.addr = addr,
		.key = key,
	};

	(void)dest_addr;
	return rcm_atomic_post(rcm_ep_of(fid), &call, RCM_TX_INJECT);
}

static ssize_t rcm_atomic_fetch(struct fid_ep *fid, const void *buf,
				size_t count, void *desc, void *result,
				void *result_desc, fi_addr_t dest_addr,
				uint64_t addr, uint64_t key,
				enum fi_datatype type, enum fi_op op,
				void *context)
{
	const struct rcm_atomic_call call = {
		.kind = RCM_ATOMIC_FETCH,
		.type = type,
		.op = op,
		.count = count,
		.operand = buf,
		.result = result,
		.result_desc = result_desc,
		.addr = addr,
		.key = key,
		.context = context,
	};

	(void)desc;
	(void)dest_addr;
	return rcm_atomic_post(rcm_ep_of(fid), &call, rcm_post_default(fid));
}

static ssize_t rcm_atomic_fetch_v(struct fid_ep *fid, const struct fi_ioc *iov,
				  void **desc, size_t count,
				  struct fi_ioc *resultv, void **result_desc,
				  size_t result_count, fi_addr_t dest_addr,
				  uint64_t addr, uint64_t key,
				  enum fi_datatype type, enum fi_op op,
				  void *context)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct rcm_atomic_call call = {
		.kind = RCM_ATOMIC_FETCH,
		.type = type,
		.op = op,
		.count = 1,
		.addr = addr,
		.key = key,
		.context = context,
	};

	(void)desc;
	(void)dest_addr;
	rcm_atomic_pick_operand(ep, &call, iov, count);
	rcm_atomic_pick_result(ep, &call, resultv, result_desc, result_count);
	return rcm_atomic_post(ep, &call, rcm_post_default(fid));
}

static ssize_t rcm_atomic_fetch_msg(struct fid_ep *fid,
				    const struct fi_msg_atomic *msg,
				    struct fi_ioc *resultv, void **result_desc,
				    size_t result_count, uint64_t flags)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct rcm_atomic_call call;

	rcm_atomic_read_msg(&call, RCM_ATOMIC_FETCH, msg);
	rcm_atomic_pick_operand(ep, &call, msg->msg_iov, msg->iov_count);
	rcm_atomic_pick_result(ep, &call, resultv, result_desc, result_count);
	return rcm_atomic_post_msg(ep, &call, flags);
}

static ssize_t rcm_atomic_compare(struct fid_ep *fid, const void *buf,
				  size_t count, void *desc, const void *compare,
				  void *compare_desc, void *result,
				  void *result_desc, fi_addr_t dest_addr,
				  uint64_t addr, uint64_t key,
				  enum fi_datatype type, enum fi_op op,
				  void *context)
{
	const struct rcm_atomic_call call = {
		.kind = RCM_ATOMIC_COMPARE,
		.type = type,
		.op = op,
		.count = count,
		.operand = buf,
		.compare = compare,
		.result = result,
		.result_desc = result_desc,
		.addr = addr,
		.key = key,
		.context = context,
	};

	(void)desc;
	(void)compare_desc;
	(void)dest_addr;
	return rcm_atomic_post(rcm_ep_of(fid), &call, rcm_post_default(fid));
}

static ssize_t rcm_atomic_compare_v(
	struct fid_ep *fid, const struct fi_ioc *iov, void **desc, size_t count,
	const struct fi_ioc *comparev, void **compare_desc,
	size_t compare_count, struct fi_ioc *resultv, void **result_desc,
	size_t result_count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
	enum fi_datatype type, enum fi_op op, void *context)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct rcm_atomic_call call = {
		.kind = RCM_ATOMIC_COMPARE,
		.type = type,
		.op = op,
		.count = 1,
		.addr = addr,
		.key = key,
		.context = context,
	};

	(void)desc;
	(void)compare_desc;
	(void)dest_addr;
	rcm_atomic_pick_operand(ep, &call, iov, count);
	rcm_atomic_pick_compare(ep, &call, comparev, compare_count);
	rcm_atomic_pick_result(ep, &call, resultv, result_desc, result_count);
	return rcm_atomic_post(ep, &call, rcm_post_default(fid));
}
/* NOLINTEND(readability-function-size) */

static ssize_t
rcm_atomic_compare_msg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
		       const struct fi_ioc *comparev, void **compare_desc,
		       size_t compare_count, struct fi_ioc *resultv,
		       void **result_desc, size_t result_count, uint64_t flags)
{
	struct rcm_ep *ep = rcm_ep_of(fid);
	struct rcm_atomic_call call;

	(void)compare_desc;
	rcm_atomic_read_msg(&call, RCM_ATOMIC_COMPARE, msg);
	rcm_atomic_pick_operand(ep, &call, msg->msg_iov, msg->iov_count);
	rcm_atomic_pick_compare(ep, &call, comparev, compare_count);
	rcm_atomic_pick_result(ep, &call, resultv, result_desc, result_count);
	return rcm_atomic_post_msg(ep, &call, flags);
}

struct fi_ops_atomic rcm_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = rcm_atomic_base,
	.writev = rcm_atomic_base_v,
	.writemsg = rcm_atomic_base_msg,
	.inject = rcm_atomic_inject,
	.readwrite = rcm_atomic_fetch,
	.readwritev = rcm_atomic_fetch_v,
	.readwritemsg = rcm_atomic_fetch_msg,
	.compwrite = rcm_atomic_compare,
	.compwritev = rcm_atomic_compare_v,
	.compwritemsg = rcm_atomic_compare_msg,
	.writevalid = rcm_atomic_base_valid,
	.readwritevalid = rcm_atomic_fetch_valid,
	.compwritevalid = rcm_atomic_compare_valid,
};
