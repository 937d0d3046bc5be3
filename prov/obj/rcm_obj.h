/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_OBJ_H
#define RCM_OBJ_H

#include <stdatomic.h>

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

/*
 * Objects that must outlive others count them. Closing one that is in use
 * is refused with -FI_EBUSY and changes nothing.
 */
struct rcm_ref {
	atomic_int count;
};

static inline void rcm_ref_init(struct rcm_ref *ref)
{
	atomic_init(&ref->count, 0);
}

static inline void rcm_ref_get(struct rcm_ref *ref)
{
	atomic_fetch_add_explicit(&ref->count, 1, memory_order_relaxed);
}

static inline void rcm_ref_put(struct rcm_ref *ref)
{
	atomic_fetch_sub_explicit(&ref->count, 1, memory_order_release);
}

static inline int rcm_ref_count(struct rcm_ref *ref)
{
	return atomic_load_explicit(&ref->count, memory_order_acquire);
}

/* Ops of a fid without bind, control or open_ops; rcm_enosys.c. */
int rcm_no_close(struct fid *fid);
int rcm_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int rcm_no_control(struct fid *fid, int command, void *arg);
int rcm_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		    void **ops, void *context);
int rcm_no_tostr(const struct fid *fid, char *buf, size_t len);
int rcm_no_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops,
		   void *context);

#endif /* RCM_OBJ_H */
