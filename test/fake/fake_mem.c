/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "fake_int.h"

/* Protection domains and memory regions. */

static struct fake_ctx *fake_ctx_of(struct ibv_context *ctx)
{
	return fake_of(ctx, fake_ctx, ctx);
}

struct ibv_pd *fake_alloc_pd(struct ibv_context *ctx)
{
	int err = fake_enter(FAKE_alloc_pd);
	struct fake_pd *pd;

	if (err)
		return fake_leave_ptr(NULL, err);
	pd = fake_new(sizeof(*pd));
	pd->pd.context = ctx;
	fake_ctx_of(ctx)->users++;
	rcm_list_add(&fake.pds, &pd->node);
	return fake_leave_ptr(&pd->pd, 0);
}

int fake_dealloc_pd(struct ibv_pd *vpd)
{
	struct fake_pd *pd = fake_of(vpd, fake_pd, pd);
	int err = fake_enter(FAKE_dealloc_pd);

	if (pd->users) {
		fake_problem("protection domain freed with %d users",
			     pd->users);
		return fake_leave(EBUSY);
	}
	fake_ctx_of(vpd->context)->users--;
	if (pd->base) {
		pd->base->users--;
		pd->td->users--;
	}
	rcm_list_del(&pd->node);
	free(pd);
	return fake_leave(err);
}

struct ibv_td *fake_alloc_td(struct ibv_context *ctx,
			     struct ibv_td_init_attr *attr)
{
	int err = fake_enter(FAKE_alloc_td);
	struct fake_td *td;

	if (!err && (attr->comp_mask || fake_ctx_of(ctx)->dev->conf.no_td))
		err = EOPNOTSUPP;
	if (err)
		return fake_leave_ptr(NULL, err);
	td = fake_new(sizeof(*td));
	td->td.context = ctx;
	fake_ctx_of(ctx)->users++;
	rcm_list_add(&fake.tds, &td->node);
	return fake_leave_ptr(&td->td, 0);
}

int fake_dealloc_td(struct ibv_td *vtd)
{
	struct fake_td *td = fake_of(vtd, fake_td, td);
	int err = fake_enter(FAKE_dealloc_td);

	if (td->users) {
		fake_problem("thread domain freed with %d users", td->users);
		return fake_leave(EBUSY);
	}
	fake_ctx_of(vtd->context)->users--;
	rcm_list_del(&td->node);
	free(td);
	return fake_leave(err);
}

struct ibv_pd *
fake_alloc_parent_domain(struct ibv_context *ctx,
			 struct ibv_parent_domain_init_attr *attr)
{
	int err = fake_enter(FAKE_alloc_parent_domain);
	struct fake_pd *pd;

	if (err)
		return fake_leave_ptr(NULL, err);
	pd = fake_new(sizeof(*pd));
	pd->pd.context = ctx;
	pd->base = fake_of(attr->pd, fake_pd, pd);
	pd->base->users++;
	pd->td = fake_of(attr->td, fake_td, td);
	pd->td->users++;
	fake_ctx_of(ctx)->users++;
	rcm_list_add(&fake.pds, &pd->node);
	return fake_leave_ptr(&pd->pd, 0);
}

unsigned int fake_n_unlocked_qps(void)
{
	struct rcm_list *node, *tmp;
	unsigned int count = 0;

	pthread_mutex_lock(&fake.lock);
	rcm_list_for_each(&fake.qps, node, tmp) {
		struct fake_qp *qp = rcm_list_entry(node, struct fake_qp, node);

		count += fake_of(qp->qp.pd, fake_pd, pd)->td != NULL;
	}
	pthread_mutex_unlock(&fake.lock);
	return count;
}

/* A parent domain is its protection domain, whoever looks. */
static struct fake_pd *fake_base_pd(struct ibv_pd *vpd)
{
	struct fake_pd *pd = fake_of(vpd, fake_pd, pd);

	return pd->base ? pd->base : pd;
}

static struct fake_mr *fake_mr_new(struct ibv_pd *pd, void *addr, size_t len,
				   int access)
{
	struct fake_dev *dev = fake_of(pd->context->device, fake_dev, device);
	struct fake_mr *mr = fake_new(sizeof(*mr));

	mr->mr.context = pd->context;
	mr->mr.pd = pd;
	mr->mr.addr = addr;
	mr->mr.length = len;
	mr->mr.lkey = fake.next_key;
	mr->mr.rkey = fake.next_key + 1;
	fake.next_key += 0x100;
	mr->access = access;
	fake_of(pd, fake_pd, pd)->users++;
	dev->n_mrs++;
	rcm_list_add(&fake.mrs, &mr->node);
	return mr;
}

static int fake_mr_check(struct ibv_pd *pd, int access)
{
	struct fake_dev *dev = fake_of(pd->context->device, fake_dev, device);

	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	if (dev->conf.max_mr && dev->n_mrs >= dev->conf.max_mr)
		return ENOMEM;
	return 0;
}

struct ibv_mr *fake_reg_mr(struct ibv_pd *pd, void *addr, size_t len,
			   int access)
{
	int err = fake_enter(FAKE_reg_mr);

	if (!err)
		err = len ? fake_mr_check(pd, access) : EINVAL;
	if (err)
		return fake_leave_ptr(NULL, err);
	return fake_leave_ptr(&fake_mr_new(pd, addr, len, access)->mr, 0);
}

/* As on a kernel whose driver knows no dmabuf. */
struct ibv_mr *fake_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				  size_t len, uint64_t iova, int fd, int access)
{
	int err = fake_enter(FAKE_reg_dmabuf_mr);

	(void)pd;
	(void)offset;
	(void)len;
	(void)iova;
	(void)fd;
	(void)access;
	return fake_leave_ptr(NULL, err ? err : EOPNOTSUPP);
}

int fake_dereg_mr(struct ibv_mr *vmr)
{
	struct fake_mr *mr = fake_of(vmr, fake_mr, mr);
	int err = fake_enter(FAKE_dereg_mr);

	if (!mr->lost) {
		fake_of(vmr->pd, fake_pd, pd)->users--;
		fake_of(vmr->context->device, fake_dev, device)->n_mrs--;
	}
	mr->lost = err != 0;
	if (err)
		return fake_leave(err);
	rcm_list_del(&mr->node);
	free(mr);
	return fake_leave(0);
}

unsigned int fake_regions(void)
{
	struct rcm_list *node, *tmp;
	unsigned int n = 0;

	fake_enter_quiet();
	rcm_list_for_each(&fake.mrs, node, tmp)
		n++;
	fake_leave_quiet();
	return n;
}

static bool fake_sge_ok(struct fake_qp *qp, const struct ibv_sge *sge,
			int access)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&fake.mrs, node, tmp) {
		struct fake_mr *mr = rcm_list_entry(node, struct fake_mr, node);
		uint64_t start = (uintptr_t)mr->mr.addr;

		if (mr->mr.lkey != sge->lkey)
			continue;
		return fake_base_pd(mr->mr.pd) == fake_base_pd(qp->qp.pd) &&
		       sge->addr >= start &&
		       sge->addr + sge->length <= start + mr->mr.length &&
		       (mr->access & access) == access;
	}
	return false;
}

static bool fake_remote_ok(struct fake_qp *qp, uint64_t addr, size_t len,
			   uint32_t rkey, int access)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&fake.mrs, node, tmp) {
		struct fake_mr *mr = rcm_list_entry(node, struct fake_mr, node);
		uint64_t start = (uintptr_t)mr->mr.addr;

		if (mr->mr.rkey != rkey || mr->lost)
			continue;
		return fake_base_pd(mr->mr.pd) == fake_base_pd(qp->qp.pd) &&
		       addr >= start && len <= mr->mr.length &&
		       addr - start <= mr->mr.length - len &&
		       (mr->access & access) == access;
	}
	return false;
}

/* What is of no bytes needs no key; the queue pair's own right comes first. */
enum ibv_wc_status fake_mem_check_remote(struct fake_qp *qp, uint64_t addr,
					 size_t len, uint32_t rkey, int access)
{
	if (((int)qp->attr.qp_access_flags & access) != access)
		return IBV_WC_REM_INV_REQ_ERR;
	return !len || fake_remote_ok(qp, addr, len, rkey, access) ?
		       IBV_WC_SUCCESS :
		       IBV_WC_REM_ACCESS_ERR;
}

enum ibv_wc_status fake_mem_check(struct fake_qp *qp, const struct ibv_sge *sge,
				  unsigned int n, int access)
{
	for (unsigned int i = 0; i < n; i++) {
		if (sge[i].length && !fake_sge_ok(qp, &sge[i], access))
			return IBV_WC_LOC_PROT_ERR;
	}
	return IBV_WC_SUCCESS;
}
