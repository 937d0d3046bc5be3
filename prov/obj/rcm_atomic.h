/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_ATOMIC_H
#define RCM_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>

/*
 * fi_atomic(3): what the device does by itself on words of 64 bits, and
 * nothing that would have to be emulated.
 */

/* The only size, of an operand and of what it is applied to, in bytes. */
#define RCM_ATOMIC_SIZE 8

/* The three families of calls. */
enum rcm_atomic_kind {
	RCM_ATOMIC_BASE,    /* fi_atomic() */
	RCM_ATOMIC_FETCH,   /* fi_fetch_atomic() */
	RCM_ATOMIC_COMPARE, /* fi_compare_atomic() */
};

/* What a call is made of. */
enum rcm_atomic_way {
	RCM_ATOMIC_NO_WAY, /* it is not offered */
	RCM_ATOMIC_ADD,	   /* the device's fetch-and-add, of the operand */
	RCM_ATOMIC_LOOK,   /* its fetch-and-add of 0 */
	RCM_ATOMIC_SWAP,   /* its compare-and-swap */
};

/* How OP on TYPE is done by the calls of KIND, whatever the device. */
enum rcm_atomic_way rcm_atomic_way(enum rcm_atomic_kind kind,
				   enum fi_datatype type, enum fi_op op);

/*
 * fi_query_atomic(3); the domain's .query_atomic. -FI_EOPNOTSUPP for what is
 * not offered, -FI_EINVAL for flags that do not go together, -FI_EBADFLAGS
 * for unknown ones.
 */
int rcm_atomic_query(struct fid_domain *domain, enum fi_datatype type,
		     enum fi_op op, struct fi_atomic_attr *attr,
		     uint64_t flags);

/*
 * fi_atomicvalid(3) and the other two, of an endpoint with FI_ATOMIC: 0 and
 * the number of words that one call operates on, or -FI_EOPNOTSUPP. They may
 * be called before fi_enable(3).
 */
int rcm_atomic_base_valid(struct fid_ep *ep, enum fi_datatype type,
			  enum fi_op op, size_t *count);
int rcm_atomic_fetch_valid(struct fid_ep *ep, enum fi_datatype type,
			   enum fi_op op, size_t *count);
int rcm_atomic_compare_valid(struct fid_ep *ep, enum fi_datatype type,
			     enum fi_op op, size_t *count);

/*
 * The calls of an endpoint with FI_ATOMIC. Before fi_enable(3) they give
 * -FI_EOPBADSTATE.
 */
extern struct fi_ops_atomic rcm_atomic_ops;

#endif /* RCM_ATOMIC_H */
