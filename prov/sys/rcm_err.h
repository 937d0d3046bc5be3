/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_ERR_H
#define RCM_ERR_H

#include <stddef.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/*
 * The one place where foreign error codes become FI_E codes. All results
 * are positive FI_E codes unless said; docs/ERRORS.md prints the tables.
 */

/*
 * Of a positive errno: the same number, which is the FI_E code of that name
 * or, for an errno without one, still what fi_strerror(3) can print.
 * FI_EOTHER for what is no errno.
 */
int rcm_err_from_errno(int err);

/*
 * A negative code for what an rdma_* call or a control ibv_* call returned:
 * 0; -1 with errno; a positive errno (ibv_*); or, from some versions of
 * librdmacm, -errno (rdma_cm(7), RETURN CODES).
 */
int rcm_err_from_rdma(int ret);

/*
 * A negative code for what ibv_post_send, _recv or _srq_recv returned: only
 * a full queue (ENOMEM, also as -1 with errno) is -FI_EAGAIN.
 */
int rcm_err_from_post(int ret);

/* Of a failed completion (fi_cq(3): err). IBV_WC_SUCCESS is 0. */
int rcm_err_from_wc(enum ibv_wc_status status);

/*
 * The same for a receive. Soft-RoCE reports a message that is longer than
 * the receive as IBV_WC_LOC_QP_OP_ERR; since no work request is posted that
 * a device could refuse later, that is FI_ETRUNC, too.
 */
int rcm_err_from_recv_wc(enum ibv_wc_status status);

/*
 * Of a failed connection: EVENT and STATUS as rdma_get_cm_event(3) gives
 * them. *PROV_ERRNO becomes what rcm_err_cm_text() can put in words: a
 * reject reason as the kernel gave it, or an errno as a negative number.
 * Never 0, neither here nor there.
 */
int rcm_err_from_cm(enum rdma_cm_event_type event, int status, int *prov_errno);

/*
 * Words for prov_errno of a completion, and of an EQ error (a negative
 * number may also be a -FI_E code). Static text; with a BUF also a copy of
 * it there, cut to LEN bytes with its end.
 */
const char *rcm_err_wc_text(int prov_errno, char *buf, size_t len);
const char *rcm_err_cm_text(int prov_errno, char *buf, size_t len);

#endif /* RCM_ERR_H */
