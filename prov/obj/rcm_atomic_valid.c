/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fi_errno.h>

#include "rcm_atomic.h"
#include "rcm_base.h"
#include "rcm_dev.h"
#include "rcm_domain.h"

/*
 * A reliable connection has two atomic operations, both on an aligned word of
 * 64 bits and both returning what was there: fetch-and-add and
 * compare-and-swap. A device promises that they are atomic among each other
 * (IBV_ATOMIC_HCA; IBV_ATOMIC_GLOB: also against processors). It promises
 * nothing of the kind for RDMA reads and writes. So
 *
 * - a sum is the fetch-and-add, for integers, signed or not; what it returns
 *   is dropped where nobody asked for it;
 * - a read is the fetch-and-add of 0: an RDMA read might see a word that is
 *   half written;
 * - a compare-and-swap of integers is the device's: equal integers have equal
 *   bits, which is not so for floating point;
 * - a write is not there, since there is no swap without a comparison. An RDMA
 *   write may show half of the word (soft-RoCE of Linux 6.1 copies it byte by
 *   byte), and a sum that is under way may undo it;
 * - nothing else is there: the rest would need a loop of compare-and-swaps.
 */
static const struct {
	enum rcm_atomic_kind kind;
	enum fi_op op;
	enum rcm_atomic_way way;
} rcm_atomic_ways[] = {
	{ RCM_ATOMIC_BASE, FI_SUM, RCM_ATOMIC_ADD },
	{ RCM_ATOMIC_FETCH, FI_SUM, RCM_ATOMIC_ADD },
	{ RCM_ATOMIC_FETCH, FI_ATOMIC_READ, RCM_ATOMIC_LOOK },
	{ RCM_ATOMIC_COMPARE, FI_CSWAP, RCM_ATOMIC_SWAP },
};

enum rcm_atomic_way rcm_atomic_way(enum rcm_atomic_kind kind,
				   enum fi_datatype type, enum fi_op op)
{
	if (type != FI_INT64 && type != FI_UINT64)
		return RCM_ATOMIC_NO_WAY;
	for (size_t i = 0; i < RCM_ARRAY_SIZE(rcm_atomic_ways); i++) {
		if (rcm_atomic_ways[i].kind == kind &&
		    rcm_atomic_ways[i].op == op)
			return rcm_atomic_ways[i].way;
	}
	return RCM_ATOMIC_NO_WAY;
}

/* The family that a query is about; FLAGS are known ones. */
static int rcm_atomic_query_kind(uint64_t flags, enum rcm_atomic_kind *kind)
{
	switch (flags) {
	case 0:
		*kind = RCM_ATOMIC_BASE;
		return 0;
	case FI_FETCH_ATOMIC:
		*kind = RCM_ATOMIC_FETCH;
		return 0;
	case FI_COMPARE_ATOMIC:
		*kind = RCM_ATOMIC_COMPARE;
		return 0;
	default: /* fi_atomic(3): not both */
		return -FI_EINVAL;
	}
}

int rcm_atomic_query(struct fid_domain *domain, enum fi_datatype type,
		     enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags)
{
	enum rcm_atomic_kind kind;
	int ret;

	if (flags & ~(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC | FI_TAGGED))
		return -FI_EBADFLAGS;
	ret = rcm_atomic_query_kind(flags & ~FI_TAGGED, &kind);
	if (ret)
		return ret;
	if ((flags & FI_TAGGED) ||
	    !rcm_dev_has_atomics(&rcm_domain_of(domain)->attr) ||
	    !rcm_atomic_way(kind, type, op))
		return -FI_EOPNOTSUPP;
	if (attr) {
		attr->count = 1;
		attr->size = RCM_ATOMIC_SIZE;
	}
	return 0;
}

static int rcm_atomic_valid(enum rcm_atomic_kind kind, enum fi_datatype type,
			    enum fi_op op, size_t *count)
{
	if (!rcm_atomic_way(kind, type, op))
		return -FI_EOPNOTSUPP;
	if (count)
		*count = 1;
	return 0;
}

int rcm_atomic_base_valid(struct fid_ep *ep, enum fi_datatype type,
			  enum fi_op op, size_t *count)
{
	(void)ep;
	return rcm_atomic_valid(RCM_ATOMIC_BASE, type, op, count);
}

int rcm_atomic_fetch_valid(struct fid_ep *ep, enum fi_datatype type,
			   enum fi_op op, size_t *count)
{
	(void)ep;
	return rcm_atomic_valid(RCM_ATOMIC_FETCH, type, op, count);
}

int rcm_atomic_compare_valid(struct fid_ep *ep, enum fi_datatype type,
			     enum fi_op op, size_t *count)
{
	(void)ep;
	return rcm_atomic_valid(RCM_ATOMIC_COMPARE, type, op, count);
}
