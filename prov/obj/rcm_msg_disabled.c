/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fi_errno.h>

#include "rcm_ep.h"

/* none of them looks at what it is given */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* fi_msg(3): before fi_enable there is no queue to post to. */

static ssize_t rcm_msg_early_recv(struct fid_ep *ep, void *buf, size_t len,
				  void *desc, fi_addr_t addr, void *context)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_msg_early_iov(struct fid_ep *ep, const struct iovec *iov,
				 void **desc, size_t count, fi_addr_t addr,
				 void *context)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_msg_early_msg(struct fid_ep *ep, const struct fi_msg *msg,
				 uint64_t flags)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_msg_early_send(struct fid_ep *ep, const void *buf,
				  size_t len, void *desc, fi_addr_t addr,
				  void *context)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_msg_early_inject(struct fid_ep *ep, const void *buf,
				    size_t len, fi_addr_t addr)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_msg_early_senddata(struct fid_ep *ep, const void *buf,
				      size_t len, void *desc, uint64_t data,
				      fi_addr_t addr, void *context)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_msg_early_injectdata(struct fid_ep *ep, const void *buf,
					size_t len, uint64_t data,
					fi_addr_t addr)
{
	return -FI_EOPBADSTATE;
}

struct fi_ops_msg rcm_msg_ops_disabled = {
	.size = sizeof(struct fi_ops_msg),
	.recv = rcm_msg_early_recv,
	.recvv = rcm_msg_early_iov,
	.recvmsg = rcm_msg_early_msg,
	.send = rcm_msg_early_send,
	.sendv = rcm_msg_early_iov,
	.sendmsg = rcm_msg_early_msg,
	.inject = rcm_msg_early_inject,
	.senddata = rcm_msg_early_senddata,
	.injectdata = rcm_msg_early_injectdata,
};
