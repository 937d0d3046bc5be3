/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "real.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REAL_LIMIT 60 /* s, many times what the slowest test takes */

static void real_hangs(int sig)
{
	(void)sig;
	abort(); /* for the core, which says where */
}

/* Criterion's own --timeout is for tests that name one already. */
static void real_limit(unsigned int s)
{
	signal(SIGALRM, real_hangs);
	alarm(s ? s : REAL_LIMIT);
}

static const char *real_node(const struct real *r)
{
	const char *self = getenv("RCM_VM_SELF");

	if (r->opts.node)
		return r->opts.node;
	return self ? self : "10.77.0.1";
}

static struct fi_info *real_hints(const struct real *r)
{
	struct fi_info *hints = fi_allocinfo();

	cr_assert(hints);
	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = FI_MSG | r->opts.caps;
	hints->domain_attr->mr_mode = r->opts.unregistered ? 0 : FI_MR_LOCAL;
	if (r->opts.caps & (FI_RMA | FI_ATOMIC))
		hints->domain_attr->mr_mode |= FI_MR_VIRT_ADDR |
					       FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->mode = r->opts.mode;
	hints->fabric_attr->prov_name = strdup("rcm");
	hints->domain_attr->threading = r->opts.threading;
	hints->domain_attr->control_progress = r->opts.control;
	hints->tx_attr->size = r->opts.tx_size;
	hints->rx_attr->size = r->opts.rx_size;
	return hints;
}

static void real_listen(struct real *r)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };

	real_ok(fi_eq_open(r->fabric, &eq_attr, &r->eq, NULL));
	real_ok(fi_passive_ep(r->fabric, r->info, &r->pep, NULL));
	real_ok(fi_pep_bind(r->pep, &r->eq->fid, 0));
	real_ok(fi_listen(r->pep));
	r->addrlen = sizeof(r->addr);
	real_ok(fi_getname(&r->pep->fid, &r->addr, &r->addrlen));
}

void real_open(struct real *r, const struct real_opts *opts)
{
	struct fi_info *hints;

	memset(r, 0, sizeof(*r));
	if (opts)
		r->opts = *opts;
	real_limit(r->opts.limit);
	hints = real_hints(r);
	if (r->opts.shared)
		hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	real_ok(fi_getinfo(FI_VERSION(1, 17), real_node(r), "0", FI_SOURCE,
			   hints, &r->info));
	cr_assert_str_eq(r->info->fabric_attr->prov_name, "rcm");
	fi_freeinfo(hints);
	real_ok(fi_fabric(r->info->fabric_attr, &r->fabric, NULL));
	real_ok(fi_domain(r->fabric, r->info, &r->domain, NULL));
	if (r->opts.shared)
		real_ok(fi_srx_context(r->domain, r->info->rx_attr, &r->srx,
				       r));
	real_listen(r);
}

static void real_open_cq(struct real *r, struct fid_cq **cq)
{
	struct fi_cq_attr attr = {
		.size = r->opts.cq_size,
		.format = r->opts.format ? r->opts.format : FI_CQ_FORMAT_DATA,
		.wait_obj = r->opts.cq_wait,
		.wait_set = r->opts.wait_set,
	};

	real_ok(fi_cq_open(r->domain, &attr, cq, NULL));
}

static void real_bind_cntr(struct real *r, struct fid_ep *ep,
			   struct fid_cntr **cntr, uint64_t flags)
{
	struct fi_cntr_attr attr = { .wait_obj = r->opts.cntr_wait };

	real_ok(fi_cntr_open(r->domain, &attr, cntr, NULL));
	real_ok(fi_ep_bind(ep, &(*cntr)->fid, flags));
}

static void real_bind(struct real *r, struct real_side *side)
{
	real_ok(fi_ep_bind(side->ep, &side->eq->fid, 0));
	if (!r->opts.no_cq) {
		real_ok(fi_ep_bind(side->ep, &side->txcq->fid,
				   FI_TRANSMIT | r->opts.tx_bind));
		real_ok(fi_ep_bind(side->ep, &side->rxcq->fid,
				   FI_RECV | r->opts.rx_bind));
	}
	if (r->opts.counted) {
		real_bind_cntr(r, side->ep, &side->txcntr, FI_SEND);
		real_bind_cntr(r, side->ep, &side->rxcntr, FI_RECV);
	}
	if (r->opts.counted && (r->opts.caps & FI_RMA)) {
		real_bind_cntr(r, side->ep, &side->rdcntr, FI_READ);
		real_bind_cntr(r, side->ep, &side->wrcntr, FI_WRITE);
	}
}

void real_side_open(struct real *r, struct real_side *side,
		    struct fi_info *info)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };

	real_ok(fi_eq_open(r->fabric, &eq_attr, &side->eq, NULL));
	real_open_cq(r, &side->txcq);
	real_open_cq(r, &side->rxcq);
	real_ok(fi_endpoint(r->domain, info, &side->ep, side));
	real_bind(r, side);
	if (info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT)
		real_ok(fi_ep_bind(side->ep, &r->srx->fid, 0));
	real_ok(fi_enable(side->ep));
}

static void real_close_fid(struct fid *fid)
{
	if (fid)
		real_ok(fi_close(fid));
}

void real_side_close(struct real_side *side)
{
	real_close_fid(side->ep ? &side->ep->fid : NULL);
	real_close_fid(side->txcq ? &side->txcq->fid : NULL);
	real_close_fid(side->rxcq ? &side->rxcq->fid : NULL);
	real_close_fid(side->txcntr ? &side->txcntr->fid : NULL);
	real_close_fid(side->rxcntr ? &side->rxcntr->fid : NULL);
	real_close_fid(side->rdcntr ? &side->rdcntr->fid : NULL);
	real_close_fid(side->wrcntr ? &side->wrcntr->fid : NULL);
	real_close_fid(side->eq ? &side->eq->fid : NULL);
	memset(side, 0, sizeof(*side));
}

void real_close(struct real *r)
{
	real_side_close(&r->a);
	real_side_close(&r->b);
	real_close_fid(r->srx ? &r->srx->fid : NULL);
	while (r->n_mrs)
		real_close_fid(&r->mrs[--r->n_mrs]->fid);
	real_close_fid(r->pep ? &r->pep->fid : NULL);
	real_close_fid(r->eq ? &r->eq->fid : NULL);
	real_close_fid(r->domain ? &r->domain->fid : NULL);
	real_close_fid(r->fabric ? &r->fabric->fid : NULL);
	fi_freeinfo(r->info);
}

struct fi_info *real_peer_info(struct real *r)
{
	struct fi_info *hints = real_hints(r), *info;

	hints->dest_addr = malloc(r->addrlen);
	cr_assert(hints->dest_addr);
	memcpy(hints->dest_addr, &r->addr, r->addrlen);
	hints->dest_addrlen = r->addrlen;
	hints->addr_format = r->info->addr_format;
	real_ok(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
	fi_freeinfo(hints);
	return info;
}

ssize_t real_event(struct fid_eq *eq, uint32_t *event, void *buf, size_t len)
{
	struct fi_eq_err_entry err = { 0 };
	ssize_t n = fi_eq_sread(eq, event, buf, len, REAL_PATIENCE, 0);

	if (n == -FI_EAVAIL) {
		real_ok(fi_eq_readerr(eq, &err, 0));
		cr_assert(false, "an error instead of an event: %s (%s)",
			  fi_strerror(err.err),
			  fi_eq_strerror(eq, err.prov_errno, NULL, NULL, 0));
	}
	real_ok(n);
	return n;
}

static int64_t real_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* One look at the connecting side's queue, where nothing is due yet. */
static void real_step(struct real_side *side)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;

	if (side->eq)
		real_fails(FI_EAGAIN, fi_eq_sread(side->eq, &event, &entry,
						  sizeof(entry), 1, 0));
}

/* The client's steps are taken when its own queue is read: read both. */
struct fi_info *real_request(struct real *r)
{
	int64_t end = real_now() + REAL_PATIENCE;
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t n;

	while ((n = fi_eq_read(r->eq, &event, &entry, sizeof(entry), 0)) ==
	       -FI_EAGAIN) {
		cr_assert(real_now() < end, "no connection request came");
		real_step(&r->a);
	}
	real_ok(n);
	cr_assert_eq(event, FI_CONNREQ);
	cr_assert_eq(entry.fid, &r->pep->fid);
	return entry.info;
}

void real_expect(struct real_side *side, uint32_t event)
{
	struct fi_eq_cm_entry entry;
	uint32_t got;

	real_event(side->eq, &got, &entry, sizeof(entry));
	cr_assert_eq(got, event, "event %u, not %u", got, event);
	cr_assert_eq(entry.fid, &side->ep->fid);
	cr_assert_eq(entry.fid->context, side);
}

void real_expect_err(struct fid_eq *eq, struct fi_eq_err_entry *err)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;

	real_fails(FI_EAVAIL, fi_eq_sread(eq, &event, &entry, sizeof(entry),
					  REAL_PATIENCE, 0));
	memset(err, 0, sizeof(*err));
	real_ok(fi_eq_readerr(eq, err, 0));
	cr_assert_gt(err->err, 0);
}

void real_expect_quiet(struct fid_eq *eq, int ms)
{
	char buf[256];
	uint32_t event;

	real_fails(FI_EAGAIN, fi_eq_sread(eq, &event, buf, sizeof(buf), ms, 0));
}

void real_open_pair(struct real *r, const struct real_opts *opts)
{
	struct fi_info *info;

	real_open(r, opts);
	info = real_peer_info(r);
	real_side_open(r, &r->a, info);
	real_ok(fi_connect(r->a.ep, info->dest_addr, NULL, 0));
	fi_freeinfo(info);
	info = real_request(r);
	real_side_open(r, &r->b, info);
	fi_freeinfo(info);
	real_ok(fi_accept(r->b.ep, NULL, 0));
	real_expect(&r->a, FI_CONNECTED);
	real_expect(&r->b, FI_CONNECTED);
}

bool real_completion(struct fid_cq *cq, struct fi_cq_data_entry *entry,
		     struct fi_cq_err_entry *err)
{
	int64_t end = real_now() + REAL_PATIENCE;
	struct timespec pause = { .tv_nsec = 20000 };
	ssize_t n;

	while ((n = fi_cq_read(cq, entry, 1)) == -FI_EAGAIN) {
		cr_assert(real_now() < end, "no completion came");
		nanosleep(&pause, NULL);
	}
	if (n != -FI_EAVAIL) {
		real_ok(n);
		return true;
	}
	memset(err, 0, sizeof(*err));
	real_ok(fi_cq_readerr(cq, err, 0));
	return false;
}

void real_done(struct fid_cq *cq, struct fi_cq_data_entry *entry,
	       const void *context)
{
	struct fi_cq_err_entry err;

	cr_assert(real_completion(cq, entry, &err), "error entry: %s (%s)",
		  fi_strerror(err.err),
		  fi_cq_strerror(cq, err.prov_errno, NULL, NULL, 0));
	cr_assert_eq(entry->op_context, context);
}

void *real_mr(struct real *r, void *buf, size_t len, uint64_t access)
{
	struct fid_mr **mr = &r->mrs[r->n_mrs];

	cr_assert_lt(r->n_mrs, REAL_MRS);
	real_ok(fi_mr_reg(r->domain, buf, len, access, 0, 0, 0, mr, NULL));
	r->n_mrs++;
	return fi_mr_desc(*mr);
}

void real_fill(void *buf, size_t len, unsigned int seed)
{
	unsigned char *p = buf;
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (unsigned char)(seed + i + (i >> 8));
}

bool real_filled(const void *buf, size_t len, unsigned int seed)
{
	const unsigned char *p = buf;
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != (unsigned char)(seed + i + (i >> 8)))
			return false;
	return true;
}
