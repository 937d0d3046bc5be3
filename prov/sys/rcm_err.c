/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_err.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"

struct rcm_err_row {
	int err; /* FI_E; 0: no row */
	const char *text;
};

int rcm_err_from_errno(int err)
{
	return err > 0 && err < FI_ERRNO_OFFSET ? err : FI_EOTHER;
}

/* The errno behind a return value that is not 0. */
static int rcm_err_errno_of(int ret)
{
	if (ret == -1)
		return errno;
	if (ret == INT_MIN)
		return 0;
	return ret < 0 ? -ret : ret;
}

int rcm_err_from_rdma(int ret)
{
	return ret ? -rcm_err_from_errno(rcm_err_errno_of(ret)) : 0;
}

int rcm_err_from_post(int ret)
{
	int err;

	if (!ret)
		return 0;
	err = rcm_err_errno_of(ret);
	return err == ENOMEM ? -FI_EAGAIN : -rcm_err_from_errno(err);
}

static const struct rcm_err_row rcm_err_wc[] = {
	[IBV_WC_SUCCESS] = { 0, "no error of the device" },
	[IBV_WC_LOC_LEN_ERR] = { FI_ETRUNC,
				 "message longer than the receive buffer" },
	[IBV_WC_LOC_QP_OP_ERR] = { FI_EINVAL,
				   "work request that the device refused" },
	[IBV_WC_LOC_EEC_OP_ERR] = { FI_EIO, "local EE context error" },
	[IBV_WC_LOC_PROT_ERR] = { FI_EACCES,
				  "local buffer not registered for this use" },
	[IBV_WC_WR_FLUSH_ERR] = { FI_ECANCELED,
				  "flushed: the connection has ended" },
	[IBV_WC_MW_BIND_ERR] = { FI_EINVAL, "memory window bind error" },
	[IBV_WC_BAD_RESP_ERR] = { FI_EIO,
				  "response of the peer not understood" },
	[IBV_WC_LOC_ACCESS_ERR] = { FI_EACCES,
				    "peer's access to local memory denied" },
	[IBV_WC_REM_INV_REQ_ERR] = { FI_EREMOTEIO,
				     "request invalid at the peer: longer than "
				     "its buffer, or not supported" },
	[IBV_WC_REM_ACCESS_ERR] = { FI_EACCES,
				    "access to the peer's memory denied: key, "
				    "range or rights" },
	[IBV_WC_REM_OP_ERR] = { FI_EREMOTEIO, "operation failed at the peer" },
	[IBV_WC_RETRY_EXC_ERR] = { FI_ETIMEDOUT,
				   "no answer from the peer, retries "
				   "exceeded" },
	[IBV_WC_RNR_RETRY_EXC_ERR] = { FI_ENORX,
				       "no receive posted at the peer, retries "
				       "exceeded" },
	[IBV_WC_LOC_RDD_VIOL_ERR] = { FI_EIO, "local RDD violation" },
	[IBV_WC_REM_INV_RD_REQ_ERR] = { FI_EIO,
					"invalid RD request at the peer" },
	[IBV_WC_REM_ABORT_ERR] = { FI_ECONNABORTED,
				   "operation aborted at the peer" },
	[IBV_WC_INV_EECN_ERR] = { FI_EIO, "invalid EE context number" },
	[IBV_WC_INV_EEC_STATE_ERR] = { FI_EIO, "invalid EE context state" },
	[IBV_WC_FATAL_ERR] = { FI_EIO, "fatal device error" },
	[IBV_WC_RESP_TIMEOUT_ERR] = { FI_ETIMEDOUT, "response timed out" },
	[IBV_WC_GENERAL_ERR] = { FI_EIO, "transport error without a name" },
	[IBV_WC_TM_ERR] = { FI_EIO, "tag matching error" },
	[IBV_WC_TM_RNDV_INCOMPLETE] = { FI_EIO,
					"tag matching rendezvous incomplete" },
};

/* The reasons of InfiniBand's REJ message. */
static const struct rcm_err_row rcm_err_rej[] = {
	[1] = { FI_ECONNREFUSED, "rejected: peer has no queue pair left" },
	[2] = { FI_ECONNREFUSED, "rejected: peer has no EE context left" },
	[3] = { FI_ECONNREFUSED, "rejected: peer has no resources left" },
	[4] = { FI_ETIMEDOUT, "rejected: peer gave up waiting" },
	[5] = { FI_ECONNREFUSED, "rejected: request not supported" },
	[6] = { FI_ECONNREFUSED, "rejected: invalid communication id" },
	[7] = { FI_ECONNREFUSED, "rejected: invalid communication instance" },
	[8] = { FI_ECONNREFUSED, "rejected: nobody listens there" },
	[9] = { FI_ECONNREFUSED, "rejected: invalid transport type" },
	[10] = { FI_ECONNREFUSED, "rejected: stale connection, peer still "
				  "holds an earlier one" },
	[11] = { FI_ECONNREFUSED, "rejected: RDC does not exist" },
	[12] = { FI_ECONNREFUSED, "rejected: peer's port has not this GID" },
	[13] = { FI_ECONNREFUSED, "rejected: peer's port has not this LID" },
	[14] = { FI_ECONNREFUSED, "rejected: invalid service level" },
	[15] = { FI_ECONNREFUSED, "rejected: invalid traffic class" },
	[16] = { FI_ECONNREFUSED, "rejected: invalid hop limit" },
	[17] = { FI_ECONNREFUSED, "rejected: invalid packet rate" },
	[18] = { FI_ECONNREFUSED, "rejected: peer's alternate port has not "
				  "this GID" },
	[19] = { FI_ECONNREFUSED, "rejected: peer's alternate port has not "
				  "this LID" },
	[20] = { FI_ECONNREFUSED, "rejected: invalid alternate service level" },
	[21] = { FI_ECONNREFUSED, "rejected: invalid alternate traffic class" },
	[22] = { FI_ECONNREFUSED, "rejected: invalid alternate hop limit" },
	[23] = { FI_ECONNREFUSED, "rejected: invalid alternate packet rate" },
	[24] = { FI_ECONNREFUSED, "rejected: redirected to another port" },
	[25] = { FI_ECONNREFUSED, "rejected: redirected to another CM" },
	[26] = { FI_ECONNREFUSED, "rejected: invalid path MTU" },
	[27] = { FI_ECONNREFUSED, "rejected: too few responder resources" },
	[28] = { FI_ECONNREFUSED, "rejected by the application" },
	[29] = { FI_ECONNREFUSED, "rejected: RNR retry count" },
	[30] = { FI_ECONNREFUSED, "rejected: communication id used twice" },
	[31] = { FI_ECONNREFUSED, "rejected: invalid class version" },
	[32] = { FI_ECONNREFUSED, "rejected: invalid flow label" },
	[33] = { FI_ECONNREFUSED, "rejected: invalid alternate flow label" },
	[35] = { FI_ECONNREFUSED, "rejected: vendor option not supported" },
};

static const struct rcm_err_row *rcm_err_row(const struct rcm_err_row *rows,
					     size_t n, int key)
{
	if (key < 0 || (size_t)key >= n || !rows[key].text)
		return NULL;
	return &rows[key];
}

int rcm_err_from_wc(enum ibv_wc_status status)
{
	const struct rcm_err_row *row;

	row = rcm_err_row(rcm_err_wc, RCM_ARRAY_SIZE(rcm_err_wc), (int)status);
	return row ? row->err : FI_EOTHER;
}

int rcm_err_from_recv_wc(enum ibv_wc_status status)
{
	return status == IBV_WC_LOC_QP_OP_ERR ? FI_ETRUNC :
						rcm_err_from_wc(status);
}

/* What an event means when its status does not say. */
static int rcm_err_cm_default(enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		return FI_EHOSTUNREACH;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return FI_ECONNABORTED;
	case RDMA_CM_EVENT_REJECTED:
		return FI_ECONNREFUSED;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return FI_ECONNRESET;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return FI_ENODEV;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return FI_EADDRNOTAVAIL;
	default:
		return FI_EOTHER;
	}
}

int rcm_err_from_cm(enum rdma_cm_event_type event, int status, int *prov_errno)
{
	int err;

	if (event == RDMA_CM_EVENT_REJECTED && status > 0) {
		const struct rcm_err_row *row;

		*prov_errno = status;
		row = rcm_err_row(rcm_err_rej, RCM_ARRAY_SIZE(rcm_err_rej),
				  status);
		return row ? row->err : FI_ECONNREFUSED;
	}
	/* librdmacm's own failures arrive as a bare -1: no errno is in that */
	if (!status || status == -1 || status == INT_MIN)
		err = rcm_err_cm_default(event);
	else
		err = rcm_err_from_errno(rcm_err_errno_of(status));
	*prov_errno = -err;
	return err;
}

static const char *rcm_err_copy(const char *text, char *buf, size_t len)
{
	size_t n;

	if (!buf || !len)
		return text;
	n = strnlen(text, len - 1);
	memcpy(buf, text, n);
	buf[n] = '\0';
	return text;
}

const char *rcm_err_wc_text(int prov_errno, char *buf, size_t len)
{
	const struct rcm_err_row *row;

	row = rcm_err_row(rcm_err_wc, RCM_ARRAY_SIZE(rcm_err_wc), prov_errno);
	return rcm_err_copy(row ? row->text : "unknown completion status", buf,
			    len);
}

const char *rcm_err_cm_text(int prov_errno, char *buf, size_t len)
{
	const struct rcm_err_row *row;
	const char *text;

	row = rcm_err_row(rcm_err_rej, RCM_ARRAY_SIZE(rcm_err_rej), prov_errno);
	if (row)
		text = row->text;
	else if (prov_errno > 0)
		text = "rejected: unknown reason";
	else if (prov_errno == INT_MIN)
		text = "unknown error";
	else
		text = fi_strerror(-prov_errno);
	return rcm_err_copy(text, buf, len);
}
