/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_OPT_H
#define RCM_OPT_H

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>

#include "rcm_ep.h"

/*
 * fi_getopt(3) of both kinds of endpoint: FI_OPT_CM_DATA_SIZE, and of active
 * ones FI_OPT_MIN_MULTI_RECV, the one that fi_setopt(3) changes. A shared
 * receive context has none. Others and other levels are -FI_ENOPROTOOPT; a
 * short buffer is -FI_ETOOSMALL with *OPTLEN set to what is needed; a value of
 * another size is -FI_EINVAL.
 */
int rcm_opt_get(fid_t fid, int level, int name, void *value, size_t *len);
int rcm_opt_set(fid_t fid, int level, int name, const void *value, size_t len);

/* The slots of fi_ops_ep that no endpoint of rcm has: -FI_ENOSYS. */
ssize_t rcm_no_cancel(fid_t fid, void *context);
int rcm_no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		  struct fid_ep **tx_ep, void *context);
int rcm_no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		  struct fid_ep **rx_ep, void *context);
ssize_t rcm_no_size_left(struct fid_ep *ep);

/*
 * User bytes of a request or answer that go out: fi_cm(3) says that what
 * does not fit is cut silently. -FI_EINVAL for bytes without a buffer.
 */
int rcm_opt_cm_data_len(const void *param, size_t *len);

#endif /* RCM_OPT_H */
