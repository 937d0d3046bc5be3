/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_ENOSYS_H
#define RCM_ENOSYS_H

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

/*
 * Whole tables of operations that an object does not have: public inlines
 * call straight through, so every slot must answer (loading.md, rule 9).
 * Each returns -FI_ENOSYS, as an unsupported call is documented.
 */
extern struct fi_ops_tagged rcm_no_tagged_ops;
extern struct fi_ops_rma rcm_no_rma_ops;
extern struct fi_ops_atomic rcm_no_atomic_ops;
extern struct fi_ops_collective rcm_no_collective_ops;
extern struct fi_ops_msg rcm_no_msg_ops;
extern struct fi_ops_cm rcm_no_cm_ops;

/* Single slots of fi_ops_cm, for objects that have the others. */
int rcm_no_cm_getpeer(struct fid_ep *ep, void *addr, size_t *len);
int rcm_no_cm_connect(struct fid_ep *ep, const void *addr, const void *param,
		      size_t len);
int rcm_no_cm_listen(struct fid_pep *pep);
int rcm_no_cm_accept(struct fid_ep *ep, const void *param, size_t len);
int rcm_no_cm_reject(struct fid_pep *pep, fid_t handle, const void *param,
		     size_t len);
int rcm_no_cm_shutdown(struct fid_ep *ep, uint64_t flags);
/* fi_join(3): there is no multicast on a connection. */
int rcm_no_cm_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		   struct fid_mc **mc, void *context);

#endif /* RCM_ENOSYS_H */
