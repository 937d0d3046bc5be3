/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_cq.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "rcm_domain.h"
#include "rcm_err.h"
#include "rcm_log.h"

/* Where fi_cq_err_entry keeps src_addr, for cores of 1.20 and later. */
#define RCM_CQ_ERR_SRC_ADDR 80

static ssize_t rcm_cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	return rcm_cqset_read(&rcm_cq_of(fid)->set, buf, count);
}

/* A connected endpoint's peer has no fi_addr_t. */
static ssize_t rcm_cq_no_source(ssize_t n, fi_addr_t *src_addr)
{
	ssize_t i;

	for (i = 0; src_addr && i < n; i++)
		src_addr[i] = FI_ADDR_NOTAVAIL;
	return n;
}

static ssize_t rcm_cq_readfrom(struct fid_cq *fid, void *buf, size_t count,
			       fi_addr_t *src_addr)
{
	return rcm_cq_no_source(rcm_cq_read(fid, buf, count), src_addr);
}

/* Ours, for a reader without a buffer; two threads may come here at once. */
static void *rcm_cq_keep_err_data(struct rcm_cq *cq, uint32_t vendor_err)
{
	__atomic_store_n(&cq->vendor_err, vendor_err, __ATOMIC_RELAXED);
	return &cq->vendor_err;
}

/* fi_cq(3): copied into the reader's buffer, or given out as our own. */
static void rcm_cq_give_err_data(struct rcm_cq *cq, uint32_t vendor_err,
				 struct fi_cq_err_entry *buf, uint32_t api)
{
	size_t len = sizeof(vendor_err);

	if (api < FI_VERSION(1, 5)) {
		/* its struct ends with the pointer */
		buf->err_data = rcm_cq_keep_err_data(cq, vendor_err);
		return;
	}
	if (buf->err_data_size && buf->err_data) {
		len = RCM_MIN(len, buf->err_data_size);
		memcpy(buf->err_data, &vendor_err, len);
	} else {
		buf->err_data = rcm_cq_keep_err_data(cq, vendor_err);
	}
	buf->err_data_size = len;
}

static ssize_t rcm_cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf,
			      uint64_t flags)
{
	const fi_addr_t no_addr = FI_ADDR_NOTAVAIL;
	struct rcm_cq *cq = rcm_cq_of(fid);
	uint32_t api = cq->domain->fabric->fid.api_version;
	struct rcm_comp comp;
	int ret;

	(void)flags;
	ret = rcm_cqset_read_err(&cq->set, &comp);
	if (ret)
		return ret;
	buf->op_context = comp.op_context;
	buf->flags = comp.flags;
	buf->len = comp.len;
	buf->buf = comp.buf;
	buf->data = comp.data;
	buf->tag = 0;
	buf->olen = comp.olen;
	buf->err = comp.err;
	buf->prov_errno = comp.prov_errno;
	rcm_cq_give_err_data(cq, comp.vendor_err, buf, api);
	if (api >= FI_VERSION(1, 20))
		memcpy((char *)buf + RCM_CQ_ERR_SRC_ADDR, &no_addr,
		       sizeof(no_addr));
	return 1;
}

/* The flag also stands for entries, and for a signal just now. */
static void rcm_cq_lower(struct rcm_cq *cq)
{
	rcm_lock(&cq->set.lock);
	rcm_wait_lower(&cq->wait);
	if (rcm_soft_is_ready(&cq->set.soft) || atomic_load(&cq->signaled))
		rcm_wait_raise(&cq->wait);
	rcm_unlock(&cq->set.lock);
}

/*
 * Takes a signal, so that it wakes each reader that was there, and only once;
 * one that found nobody is for the next to come. *SEEN is the number of the
 * last signal that the reader need not take; NULL for who does not block.
 */
static bool rcm_cq_take_signal(struct rcm_cq *cq, unsigned int *seen)
{
	bool taken, over = false;

	if (!atomic_load(&cq->signaled))
		return false;
	pthread_mutex_lock(&cq->signal_lock);
	if (cq->n_owed) {
		taken = seen && *seen != cq->n_signals;
		over = taken && !--cq->n_owed;
	} else {
		taken = atomic_load(&cq->signaled);
		over = taken;
	}
	if (seen)
		*seen = cq->n_signals;
	if (over)
		atomic_store(&cq->signaled, false);
	pthread_mutex_unlock(&cq->signal_lock);
	if (over)
		rcm_cq_lower(cq);
	return taken;
}

static unsigned int rcm_cq_enter(struct rcm_cq *cq)
{
	unsigned int seen;

	pthread_mutex_lock(&cq->signal_lock);
	cq->n_readers++;
	seen = cq->n_signals;
	pthread_mutex_unlock(&cq->signal_lock);
	return seen;
}

/* Whoever leaves for another reason needs no signal any more. */
static void rcm_cq_leave(struct rcm_cq *cq, unsigned int seen)
{
	bool over = false;

	pthread_mutex_lock(&cq->signal_lock);
	cq->n_readers--;
	if (cq->n_owed && seen != cq->n_signals)
		over = !--cq->n_owed;
	if (over)
		atomic_store(&cq->signaled, false);
	pthread_mutex_unlock(&cq->signal_lock);
	if (over)
		rcm_cq_lower(cq);
}

/* Blocks until WANT entries, an error or a signal; then reads. */
static ssize_t rcm_cq_wait_read(struct rcm_cq *cq, void *buf, size_t count,
				uint32_t want, int64_t deadline,
				unsigned int *seen)
{
	ssize_t ret;

	for (;;) {
		if (want <= 1 || rcm_cqset_gather(&cq->set, want) >= want) {
			ret = rcm_cqset_read(&cq->set, buf, count);
			if (ret != -FI_EAGAIN)
				return ret;
		}
		if (rcm_cq_take_signal(cq, seen))
			break;
		ret = cq->set.channel ? rcm_cqset_arm(&cq->set) : 0;
		if (ret == -FI_EAGAIN) {
			want = 1; /* another reader wanted less */
			continue;
		}
		if (!ret)
			ret = rcm_drive_sleep(&cq->domain->drive, &cq->wait,
					      deadline);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
	}
	return rcm_cqset_read(&cq->set, buf, count);
}

/* How many entries end a wait. fi_cq(3): a condition is an optimization. */
static uint32_t rcm_cq_threshold(const struct rcm_cq *cq, const void *cond,
				 size_t count)
{
	uint64_t want = (uintptr_t)cond;

	if (cq->wait_cond != FI_CQ_COND_THRESHOLD)
		return 1;
	want = RCM_MIN(want, count);
	return (uint32_t)RCM_MIN(want, RCM_SOFT_ROOM);
}

static ssize_t rcm_cq_sread(struct fid_cq *fid, void *buf, size_t count,
			    const void *cond, int timeout)
{
	struct rcm_cq *cq = rcm_cq_of(fid);
	uint32_t want = rcm_cq_threshold(cq, cond, count);
	unsigned int seen;
	ssize_t ret;

	if (cq->wait_obj == FI_WAIT_NONE || cq->wait_obj == FI_WAIT_SET)
		return -FI_ENOSYS;
	if (want <= 1) { /* what is there needs no more than a read */
		ret = rcm_cqset_read(&cq->set, buf, count);
		if (ret != -FI_EAGAIN)
			return ret;
	}
	seen = rcm_cq_enter(cq);
	if (want > 1)
		rcm_cqset_set_wake(&cq->set, want);
	ret = rcm_cq_wait_read(cq, buf, count, want, rcm_wait_deadline(timeout),
			       &seen);
	if (want > 1)
		rcm_cqset_set_wake(&cq->set, 1);
	rcm_cq_leave(cq, seen);
	return ret;
}

static ssize_t rcm_cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count,
				fi_addr_t *src_addr, const void *cond,
				int timeout)
{
	return rcm_cq_no_source(rcm_cq_sread(fid, buf, count, cond, timeout),
				src_addr);
}

static int rcm_cq_signal(struct fid_cq *fid)
{
	struct rcm_cq *cq = rcm_cq_of(fid);

	if (cq->wait_obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	pthread_mutex_lock(&cq->signal_lock);
	cq->n_signals++;
	cq->n_owed = cq->n_readers;
	atomic_store(&cq->signaled, true);
	pthread_mutex_unlock(&cq->signal_lock);
	rcm_wait_raise(&cq->wait);
	return 0;
}

static const char *rcm_cq_strerror(struct fid_cq *fid, int prov_errno,
				   const void *err_data, char *buf, size_t len)
{
	(void)fid;
	(void)err_data;
	return rcm_err_wc_text(prov_errno, buf, len);
}

int rcm_cq_trywait(struct fid *fid)
{
	struct rcm_cq *cq = rcm_container_of(fid, struct rcm_cq, fid.fid);

	if (!cq->set.channel)
		return -FI_EINVAL;
	/* once, so that a poll of the fd does not spin on an old signal */
	if (rcm_cq_take_signal(cq, NULL))
		return -FI_EAGAIN;
	return rcm_cqset_arm(&cq->set);
}

static int rcm_cq_control(struct fid *fid, int command, void *arg)
{
	struct rcm_cq *cq = rcm_container_of(fid, struct rcm_cq, fid.fid);

	return rcm_waitset_control(&cq->member, &cq->wait, cq->wait_obj,
				   command, arg);
}

/* What a failed open and a close have in common. */
static void rcm_cq_free(struct rcm_cq *cq)
{
	rcm_waitset_leave(&cq->member);
	if (cq->set.channel)
		rcm_wait_del(&cq->wait, cq->set.channel->fd);
	rcm_cqset_close(&cq->set);
	rcm_wait_close(&cq->wait);
	pthread_mutex_destroy(&cq->signal_lock);
	free(cq);
}

static int rcm_cq_close(struct fid *fid)
{
	struct rcm_cq *cq = rcm_container_of(fid, struct rcm_cq, fid.fid);
	struct rcm_domain *domain = cq->domain;
	int refs = rcm_ref_count(&cq->refs);

	if (refs) {
		RCM_INFO(CQ, "completion queue is used by %d endpoints", refs);
		return -FI_EBUSY;
	}
	rcm_cq_free(cq);
	rcm_ref_put(&domain->refs);
	return 0;
}

static struct fi_ops rcm_cq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_cq_close,
	.bind = rcm_no_bind,
	.control = rcm_cq_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

static struct fi_ops_cq rcm_cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = rcm_cq_read,
	.readfrom = rcm_cq_readfrom,
	.readerr = rcm_cq_readerr,
	.sread = rcm_cq_sread,
	.sreadfrom = rcm_cq_sreadfrom,
	.signal = rcm_cq_signal,
	.strerror = rcm_cq_strerror,
};

static int rcm_cq_check_wait(const struct fi_cq_attr *attr,
			     enum fi_wait_obj *used)
{
	int ret = rcm_wait_choose(FI_LOG_CQ, (int)attr->wait_obj, used);

	if (!ret && attr->wait_obj != FI_WAIT_NONE &&
	    attr->wait_cond != FI_CQ_COND_NONE &&
	    attr->wait_cond != FI_CQ_COND_THRESHOLD) {
		RCM_INFO(CQ, "unknown wait condition %d", (int)attr->wait_cond);
		ret = -FI_EINVAL;
	}
	return ret;
}

/*
 * The completion vector for FI_AFFINITY, which fi_cq(3) gives the number of a
 * processor: those beyond the device's vectors are spread over them. -1 for a
 * number that is neither.
 */
static int rcm_cq_vector(const struct rcm_domain *domain,
			 const struct fi_cq_attr *attr)
{
	int vector = attr->signaling_vector;
	int n = domain->ctx->num_comp_vectors;

	if (!(attr->flags & FI_AFFINITY))
		return 0;
	if (vector < 0 ||
	    (vector >= n && vector >= sysconf(_SC_NPROCESSORS_CONF)))
		return -1;
	return n > 0 ? vector % n : 0;
}

static int rcm_cq_check_attr(const struct rcm_domain *domain,
			     const struct fi_cq_attr *attr,
			     enum fi_wait_obj *used)
{
	if (attr->flags & FI_PEER) {
		RCM_INFO(CQ, "FI_PEER is not offered");
		return -FI_ENOSYS;
	}
	if (attr->flags & ~FI_AFFINITY) {
		RCM_INFO(CQ, "unknown flags %#llx",
			 (unsigned long long)(attr->flags & ~FI_AFFINITY));
		return -FI_EBADFLAGS;
	}
	if (attr->format > FI_CQ_FORMAT_TAGGED) {
		RCM_INFO(CQ, "unknown format %d", (int)attr->format);
		return -FI_EINVAL;
	}
	if (rcm_cq_vector(domain, attr) < 0) {
		RCM_WARN(CQ,
			 "signaling vector %d: the device %s has 0 to %d, and "
			 "the machine %ld processors",
			 attr->signaling_vector, domain->name,
			 domain->ctx->num_comp_vectors - 1,
			 sysconf(_SC_NPROCESSORS_CONF));
		return -FI_EINVAL;
	}
	return rcm_cq_check_wait(attr, used);
}

/* The engine's word about its software queue, under its lock. */
static void rcm_cq_ready(void *user, bool ready)
{
	struct rcm_cq *cq = user;

	if (!ready)
		rcm_wait_lower(&cq->wait);
	/* a signal may have come just before the flag was lowered */
	if (ready || atomic_load(&cq->signaled))
		rcm_wait_raise(&cq->wait);
}

/* Nothing to be read for some time: perhaps the peer has gone. */
static void rcm_cq_idle(void *user)
{
	struct rcm_cq *cq = user;

	rcm_drive_next(&cq->domain->drive);
}

static int rcm_cq_open_parts(struct rcm_cq *cq, const struct fi_cq_attr *attr)
{
	bool wait = cq->wait_obj != FI_WAIT_NONE &&
		    cq->wait_obj != FI_WAIT_YIELD;
	struct rcm_cqset_attr set = {
		.ctx = cq->domain->ctx,
		.max_cqe = cq->domain->attr.max_cqe,
		.size = attr->size,
		.format = attr->format,
		.channel = wait,
		.locked = cq->domain->locked,
		.ready = wait ? rcm_cq_ready : NULL,
		.idle = cq->domain->drive.needed ? rcm_cq_idle : NULL,
		.user = cq,
	};
	int ret;

	if (attr->format == FI_CQ_FORMAT_UNSPEC)
		set.format = FI_CQ_FORMAT_CONTEXT;
	set.comp_vector = rcm_cq_vector(cq->domain, attr);
	ret = wait ? rcm_wait_open(&cq->wait) : 0;
	if (!ret)
		ret = rcm_cqset_open(&cq->set, &set);
	if (!ret && wait)
		ret = rcm_wait_add(&cq->wait, cq->set.channel->fd);
	/* last: from here on the set's reader may come by */
	if (!ret && cq->wait_obj == FI_WAIT_SET)
		ret = rcm_waitset_join(&cq->member, attr->wait_set,
				       cq->domain->fabric, &cq->fid.fid,
				       cq->wait.epfd);
	return ret;
}

int rcm_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr,
		struct fid_cq **out, void *context)
{
	struct rcm_domain *domain = rcm_domain_of(fid);
	enum fi_wait_obj wait_obj;
	struct rcm_cq *cq;
	int ret;

	if (!attr)
		return -FI_EINVAL;
	ret = rcm_cq_check_attr(domain, attr, &wait_obj);
	if (ret)
		return ret;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -FI_ENOMEM;
	cq->domain = domain;
	cq->wait_obj = wait_obj;
	cq->wait_cond = attr->wait_cond;
	cq->wait.epfd = -1;
	cq->wait.evfd = -1;
	rcm_ref_init(&cq->refs);
	pthread_mutex_init(&cq->signal_lock, NULL);
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &rcm_cq_fid_ops;
	cq->fid.ops = &rcm_cq_ops;
	ret = rcm_cq_open_parts(cq, attr);
	if (ret) {
		rcm_cq_free(cq);
		return ret;
	}
	rcm_ref_get(&domain->refs);
	*out = &cq->fid;
	return 0;
}
