/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fi_errno.h>

#include "rcm_rma.h"

/* none of them looks at what it is given */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* fi_rma(3): before fi_enable there is no queue to post to. */

static ssize_t rcm_rma_early_read(struct fid_ep *ep, void *buf, size_t len,
				  void *desc, fi_addr_t src_addr, uint64_t addr,
				  uint64_t key, void *context)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_rma_early_iov(struct fid_ep *ep, const struct iovec *iov,
				 void **desc, size_t count, fi_addr_t peer,
				 uint64_t addr, uint64_t key, void *context)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_rma_early_msg(struct fid_ep *ep,
				 const struct fi_msg_rma *msg, uint64_t flags)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_rma_early_write(struct fid_ep *ep, const void *buf,
				   size_t len, void *desc, fi_addr_t dest_addr,
				   uint64_t addr, uint64_t key, void *context)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_rma_early_inject(struct fid_ep *ep, const void *buf,
				    size_t len, fi_addr_t dest_addr,
				    uint64_t addr, uint64_t key)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_rma_early_writedata(struct fid_ep *ep, const void *buf,
				       size_t len, void *desc, uint64_t data,
				       fi_addr_t dest_addr, uint64_t addr,
				       uint64_t key, void *context)
{
	return -FI_EOPBADSTATE;
}

static ssize_t rcm_rma_early_injectdata(struct fid_ep *ep, const void *buf,
					size_t len, uint64_t data,
					fi_addr_t dest_addr, uint64_t addr,
					uint64_t key)
{
	return -FI_EOPBADSTATE;
}

struct fi_ops_rma rcm_rma_ops_disabled = {
	.size = sizeof(struct fi_ops_rma),
	.read = rcm_rma_early_read,
	.readv = rcm_rma_early_iov,
	.readmsg = rcm_rma_early_msg,
	.write = rcm_rma_early_write,
	.writev = rcm_rma_early_iov,
	.writemsg = rcm_rma_early_msg,
	.inject = rcm_rma_early_inject,
	.writedata = rcm_rma_early_writedata,
	.injectdata = rcm_rma_early_injectdata,
};
