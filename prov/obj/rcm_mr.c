/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_mr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_dev.h"
#include "rcm_domain.h"
#include "rcm_eq.h"
#include "rcm_err.h"
#include "rcm_info.h"
#include "rcm_log.h"
#include "rcm_obj.h"
#include "rcm_sys.h"

/*
 * FI_MR_DMABUF and its struct, of 1.20: known here whatever the headers, so
 * that one binary serves every core. It stands in the place of mr_iov.
 */
#define RCM_MR_DMABUF (1ULL << 40)

struct rcm_mr_dmabuf {
	int fd;
	uint64_t offset;
	size_t len;
	void *base_addr;
};

#define RCM_MR_ACCESS                                               \
	(FI_MSG | FI_SEND | FI_RECV | FI_RMA | FI_READ | FI_WRITE | \
	 FI_REMOTE_READ | FI_REMOTE_WRITE | FI_COLLECTIVE)

/*
 * Flags of fi_mr(3) whose promise cannot be kept here: durable results, memory
 * of devices, a key that ends with its first use, keys of authorization. Some
 * have no name in older headers. Bits that are not listed there belong to the
 * core and to layers, and are hints.
 */
#define RCM_MR_NOT_OFFERED                                   \
	(FI_RMA_PMEM | (1ULL << 41) /* FI_MR_SINGLE_USE */ | \
	 (1ULL << 45) /* FI_HMEM_HOST_ALLOC */ |             \
	 (1ULL << 46) /* FI_HMEM_DEVICE_ONLY */ |            \
	 (1ULL << 57) /* FI_AUTH_KEY */)

/*
 * Exactly the rights that were asked for: so read-only memory registers. On
 * iWARP the answer to a read is a peer's write. Who may write may also have
 * atomic operations done: fi_mr(3).
 */
static int rcm_mr_access(const struct rcm_domain *domain, uint64_t access)
{
	int ret = 0;

	access |= rcm_info_expand(access);
	if (access & (FI_RECV | FI_READ))
		ret |= IBV_ACCESS_LOCAL_WRITE;
	if ((access & FI_READ) && domain->iwarp)
		ret |= IBV_ACCESS_REMOTE_WRITE;
	if (access & FI_REMOTE_READ)
		ret |= IBV_ACCESS_REMOTE_READ;
	if (access & FI_REMOTE_WRITE) /* which no device gives alone */
		ret |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
	if ((access & FI_REMOTE_WRITE) && domain->atomics)
		ret |= IBV_ACCESS_REMOTE_ATOMIC;
	return ret;
}

/* Ends MR. The usual cause has a number that only the operator can change. */
static int rcm_mr_failed(struct rcm_mr *mr, size_t len, int err)
{
	const struct rcm_domain *domain = mr->domain;
	char memlock[RCM_DEV_MEMLOCK];

	free(mr->done);
	free(mr);
	err = rcm_err_from_errno(err);
	if (err == FI_ENOMEM)
		RCM_WARN(MR,
			 "registering %zu bytes: %s; the device %s has room "
			 "for %d regions%s",
			 len, fi_strerror(err), domain->name,
			 domain->attr.max_mr, rcm_dev_memlock(memlock));
	else
		RCM_INFO(MR, "registering %zu bytes: %s", len,
			 fi_strerror(err));
	return -err;
}

static int rcm_mr_close(struct fid *fid)
{
	struct rcm_mr *mr = rcm_container_of(fid, struct rcm_mr, fid.fid);
	struct rcm_domain *domain = mr->domain;
	int ret = mr->mr ? rcm_sys->dereg_mr(mr->mr) : 0;

	if (ret) {
		RCM_WARN(MR, "deregistering: %s", fi_strerror(-ret));
		return ret;
	}
	if (domain->mr_eq) {
		rcm_lock(&domain->mr_eq->lock);
		rcm_eq_purge(domain->mr_eq, fid);
		rcm_unlock(&domain->mr_eq->lock);
	}
	free(mr);
	rcm_ref_put(&domain->refs);
	return 0;
}

/*
 * fi_mr_bind(3). A counter would count what the peer writes, which wants
 * FI_RMA_EVENT; an endpoint is bound where FI_MR_ENDPOINT says so.
 */
static int rcm_mr_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	if (!bfid || bfid->fclass != FI_CLASS_CNTR)
		return rcm_no_bind(fid, bfid, flags);
	if (flags != FI_REMOTE_WRITE)
		return -FI_EBADFLAGS;
	RCM_INFO(MR, "a region is bound to a counter with FI_RMA_EVENT only, "
		     "which is not offered");
	return -FI_EOPNOTSUPP;
}

static struct fi_ops rcm_mr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_mr_close,
	.bind = rcm_mr_bind,
	.control = rcm_mr_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static struct rcm_mr *rcm_mr_new(struct rcm_domain *domain, void *context)
{
	struct rcm_mr *mr = calloc(1, sizeof(*mr));

	if (!mr)
		return NULL;
	if (domain->mr_eq) {
		mr->done = rcm_eq_entry_new(sizeof(struct fi_eq_entry));
		if (!mr->done) {
			free(mr);
			return NULL;
		}
	}
	mr->domain = domain;
	mr->fid.fid.fclass = FI_CLASS_MR;
	mr->fid.fid.context = context;
	mr->fid.fid.ops = &rcm_mr_fid_ops;
	mr->fid.mem_desc = mr;
	return mr;
}

/* FI_REG_MR: who waits for the event finds *OUT written (fi_mr(3)). */
static void rcm_mr_tell(struct rcm_mr *mr)
{
	struct rcm_eq *eq = mr->domain->mr_eq;
	struct rcm_eq_entry *entry = mr->done;
	struct fi_eq_entry done = {
		.fid = &mr->fid.fid,
		.context = mr->fid.fid.context,
	};

	mr->done = NULL;
	entry->event = FI_MR_COMPLETE;
	entry->fid = done.fid;
	entry->user = true;
	entry->len = sizeof(done);
	memcpy(entry->data, &done, sizeof(done));
	rcm_lock(&eq->lock);
	rcm_eq_push(eq, entry);
	rcm_unlock(&eq->lock);
}

/* Gives MR, whose device part is made, to the user. */
static int rcm_mr_give(struct rcm_mr *mr, struct fid_mr **out)
{
	if (mr->mr) {
		mr->lkey = mr->mr->lkey;
		mr->fid.key = mr->mr->rkey;
	}
	rcm_ref_get(&mr->domain->refs);
	*out = &mr->fid;
	if (mr->done)
		rcm_mr_tell(mr);
	return 0;
}

static int rcm_mr_check(uint64_t access, uint64_t offset, uint64_t flags)
{
	if (flags & RCM_MR_NOT_OFFERED) {
		RCM_INFO(MR, "flags %#llx are not offered",
			 (unsigned long long)(flags & RCM_MR_NOT_OFFERED));
		return -FI_EBADFLAGS;
	}
	if (access & ~(uint64_t)RCM_MR_ACCESS) {
		RCM_INFO(MR, "unknown access bits %#llx",
			 (unsigned long long)(access &
					      ~(uint64_t)RCM_MR_ACCESS));
		return -FI_EINVAL;
	}
	return offset ? -FI_EINVAL : 0; /* reserved: fi_mr(3) */
}

static int rcm_mr_check_len(const struct rcm_domain *domain, size_t len)
{
	uint64_t most = domain->attr.max_mr_size;

	if (len <= most || !most) /* some devices do not say */
		return 0;
	RCM_INFO(MR, "%zu bytes are beyond the %llu of a region of device %s",
		 len, (unsigned long long)most, domain->name);
	return -FI_EINVAL;
}

static int rcm_mr_reg_mem(struct rcm_domain *domain, const struct iovec *iov,
			  uint64_t access, void *context, struct fid_mr **out)
{
	int ret = rcm_mr_check_len(domain, iov->iov_len);
	struct rcm_mr *mr;

	if (ret)
		return ret;
	mr = rcm_mr_new(domain, context);
	if (!mr)
		return -FI_ENOMEM;
	/* some devices refuse a region without bytes */
	if (iov->iov_len) {
		mr->mr = rcm_sys->reg_mr(domain->pd, iov->iov_base,
					 iov->iov_len,
					 rcm_mr_access(domain, access));
		if (!mr->mr)
			return rcm_mr_failed(mr, iov->iov_len, errno);
	}
	return rcm_mr_give(mr, out);
}

static int rcm_mr_reg_dmabuf(struct rcm_domain *domain,
			     const struct rcm_mr_dmabuf *buf, uint64_t access,
			     void *context, struct fid_mr **out)
{
	struct rcm_mr *mr = rcm_mr_new(domain, context);

	if (!mr)
		return -FI_ENOMEM;
	mr->mr = rcm_sys->reg_dmabuf_mr(domain->pd, buf->offset, buf->len,
					(uintptr_t)buf->base_addr + buf->offset,
					buf->fd, rcm_mr_access(domain, access));
	if (!mr->mr)
		return rcm_mr_failed(mr, buf->len, errno);
	return rcm_mr_give(mr, out);
}

static int rcm_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
			  uint64_t flags, struct fid_mr **out)
{
	struct rcm_domain *domain = rcm_container_of(fid, struct rcm_domain,
						     fid.fid);
	uint32_t api = domain->fabric->fid.api_version;
	int ret = rcm_mr_check(attr->access, attr->offset, flags);

	if (ret)
		return ret;
	if (attr->auth_key_size && api >= FI_VERSION(1, 5)) {
		RCM_INFO(MR, "authorization keys are not offered");
		return -FI_EINVAL;
	}
	if (attr->iov_count != 1 || !attr->mr_iov) {
		RCM_INFO(MR, "%zu buffers: a region is made of one",
			 attr->iov_count);
		return -FI_EINVAL;
	}
	if ((flags & RCM_MR_DMABUF) && api >= FI_VERSION(1, 20))
		return rcm_mr_reg_dmabuf(
			domain, (const struct rcm_mr_dmabuf *)attr->mr_iov,
			attr->access, attr->context, out);
	/* before 1.10 the struct had no such field */
	if (api >= FI_VERSION(1, 10) && attr->iface != FI_HMEM_SYSTEM) {
		RCM_WARN(MR,
			 "memory of interface %d: only host memory and, with "
			 "FI_MR_DMABUF, a dmabuf are offered",
			 (int)attr->iface);
		return -FI_ENOSYS;
	}
	return rcm_mr_reg_mem(domain, attr->mr_iov, attr->access, attr->context,
			      out);
}

static int rcm_mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
		       uint64_t access, uint64_t offset, uint64_t requested_key,
		       uint64_t flags, struct fid_mr **out, void *context)
{
	struct rcm_domain *domain = rcm_container_of(fid, struct rcm_domain,
						     fid.fid);
	int ret = rcm_mr_check(access, offset, flags);

	(void)requested_key; /* FI_MR_PROV_KEY */
	if (ret)
		return ret;
	if (count != 1 || !iov) {
		RCM_INFO(MR, "%zu buffers: a region is made of one", count);
		return -FI_EINVAL;
	}
	return rcm_mr_reg_mem(domain, iov, access, context, out);
}

static int rcm_mr_reg(struct fid *fid, const void *buf, size_t len,
		      uint64_t access, uint64_t offset, uint64_t requested_key,
		      uint64_t flags, struct fid_mr **out, void *context)
{
	const struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return rcm_mr_regv(fid, &iov, 1, access, offset, requested_key, flags,
			   out, context);
}

struct fi_ops_mr rcm_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = rcm_mr_reg,
	.regv = rcm_mr_regv,
	.regattr = rcm_mr_regattr,
};
