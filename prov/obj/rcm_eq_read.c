/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <stdlib.h>
#include <string.h>

#include "rcm_eq.h"
#include "rcm_err.h"
#include "rcm_fabric.h"

static struct rcm_eq_entry *rcm_eq_first(struct rcm_eq *eq, bool is_error)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&eq->queue, node, tmp) {
		struct rcm_eq_entry *entry =
			rcm_list_entry(node, struct rcm_eq_entry, node);

		if (entry->is_error == is_error)
			return entry;
	}
	return NULL;
}

/*
 * Copies a connection event. Private data beyond the reader's buffer is cut,
 * as fi_eq(3) says; the fixed part must fit.
 */
static ssize_t rcm_eq_copy_cm(const struct rcm_eq_entry *entry, void *buf,
			      size_t len)
{
	struct fi_eq_cm_entry cm = { .fid = entry->fid, .info = entry->info };
	size_t data_len;

	if (len < sizeof(cm))
		return -FI_ETOOSMALL;
	data_len = RCM_MIN(entry->len, len - sizeof(cm));
	memcpy(buf, &cm, sizeof(cm));
	if (data_len)
		memcpy((char *)buf + sizeof(cm), entry->data, data_len);
	return (ssize_t)(sizeof(cm) + data_len);
}

static ssize_t rcm_eq_copy(const struct rcm_eq_entry *entry, void *buf,
			   size_t len)
{
	if (!entry->user)
		return rcm_eq_copy_cm(entry, buf, len);
	if (len < entry->len)
		return -FI_ETOOSMALL;
	if (entry->len)
		memcpy(buf, entry->data, entry->len);
	return (ssize_t)entry->len;
}

/* What was given out by the last readerr lives until the next read. */
static void rcm_eq_drop_err_data(struct rcm_eq *eq)
{
	free(eq->err_data);
	eq->err_data = NULL;
}

static ssize_t rcm_eq_read_locked(struct rcm_eq *eq, uint32_t *event, void *buf,
				  size_t len, uint64_t flags)
{
	struct rcm_eq_entry *entry;
	ssize_t n = rcm_eq_progress(eq);

	eq->n_reads++;
	rcm_eq_drop_err_data(eq);
	if (rcm_eq_first(eq, true))
		return -FI_EAVAIL;
	entry = rcm_eq_first(eq, false);
	if (!entry)
		return n ? n : -FI_EAGAIN;
	n = rcm_eq_copy(entry, buf, len);
	if (n < 0)
		return n;
	if (event)
		*event = entry->event;
	if (!(flags & FI_PEEK)) {
		rcm_list_del(&entry->node);
		entry->info = NULL; /* the reader's now */
		rcm_eq_entry_free(entry);
		rcm_eq_settle_flag(eq);
	}
	return n;
}

static ssize_t rcm_eq_read(struct fid_eq *fid, uint32_t *event, void *buf,
			   size_t len, uint64_t flags)
{
	struct rcm_eq *eq = rcm_eq_of(fid);
	ssize_t n;

	if (flags & ~(uint64_t)FI_PEEK)
		return -FI_EBADFLAGS;
	if (len && !buf)
		return -FI_EINVAL;
	rcm_lock(&eq->lock);
	n = rcm_eq_read_locked(eq, event, buf, len, flags);
	rcm_unlock(&eq->lock);
	return n;
}

/* One deadline for the whole call, however often it wakes (fi_eq(3)). */
static ssize_t rcm_eq_sread(struct fid_eq *fid, uint32_t *event, void *buf,
			    size_t len, int timeout, uint64_t flags)
{
	struct rcm_eq *eq = rcm_eq_of(fid);
	int64_t deadline = rcm_wait_deadline(timeout);
	ssize_t n;
	int ready;

	if (eq->wait_obj == FI_WAIT_NONE || eq->wait_obj == FI_WAIT_SET)
		return -FI_ENOSYS;
	for (;;) {
		n = rcm_eq_read(fid, event, buf, len, flags);
		if (n != -FI_EAGAIN)
			return n;
		atomic_fetch_add(&eq->n_sleepers, 1);
		ready = rcm_wait_until(&eq->wait, deadline);
		atomic_fetch_sub(&eq->n_sleepers, 1);
		if (ready <= 0)
			return ready ? ready : -FI_EAGAIN;
	}
}

/*
 * Hands over an error's data: a copy into the reader's buffer or, for old
 * callers and those without one, the queue's own until the next read.
 */
static void rcm_eq_give_err_data(struct rcm_eq *eq,
				 const struct rcm_eq_entry *entry,
				 struct fi_eq_err_entry *buf)
{
	bool own = eq->fabric->fid.api_version >= FI_VERSION(1, 5) &&
		   buf->err_data_size && buf->err_data;

	if (own) {
		buf->err_data_size = RCM_MIN(buf->err_data_size, entry->len);
		memcpy(buf->err_data, entry->data, buf->err_data_size);
		return;
	}
	buf->err_data = NULL;
	buf->err_data_size = 0;
	if (!entry->len)
		return;
	eq->err_data = malloc(entry->len);
	if (!eq->err_data)
		return;
	memcpy(eq->err_data, entry->data, entry->len);
	buf->err_data = eq->err_data;
	buf->err_data_size = entry->len;
}

static ssize_t rcm_eq_readerr_locked(struct rcm_eq *eq,
				     struct fi_eq_err_entry *buf,
				     uint64_t flags)
{
	struct rcm_eq_entry *entry;

	rcm_eq_progress(eq);
	rcm_eq_drop_err_data(eq);
	entry = rcm_eq_first(eq, true);
	if (!entry)
		return -FI_EAGAIN;
	buf->fid = entry->fid;
	buf->context = entry->fid->context;
	buf->data = 0;
	buf->err = entry->err;
	buf->prov_errno = entry->prov_errno;
	rcm_eq_give_err_data(eq, entry, buf);
	if (!(flags & FI_PEEK)) {
		rcm_list_del(&entry->node);
		rcm_eq_entry_free(entry);
		rcm_eq_settle_flag(eq);
	}
	return sizeof(*buf);
}

static ssize_t rcm_eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf,
			      uint64_t flags)
{
	struct rcm_eq *eq = rcm_eq_of(fid);
	ssize_t n;

	if (flags & ~(uint64_t)FI_PEEK)
		return -FI_EBADFLAGS;
	if (!buf)
		return -FI_EINVAL;
	rcm_lock(&eq->lock);
	n = rcm_eq_readerr_locked(eq, buf, flags);
	rcm_unlock(&eq->lock);
	return n;
}

static ssize_t rcm_eq_write(struct fid_eq *fid, uint32_t event, const void *buf,
			    size_t len, uint64_t flags)
{
	struct rcm_eq *eq = rcm_eq_of(fid);
	struct rcm_eq_entry *entry;

	if (flags)
		return -FI_EBADFLAGS;
	if (!eq->may_write || (len && !buf))
		return -FI_EINVAL;
	entry = rcm_eq_entry_new(len);
	if (!entry)
		return -FI_ENOMEM;
	entry->event = event;
	entry->user = true;
	entry->len = len;
	if (len)
		memcpy(entry->data, buf, len);
	rcm_lock(&eq->lock);
	rcm_eq_push(eq, entry);
	rcm_unlock(&eq->lock);
	return (ssize_t)len;
}

static const char *rcm_eq_strerror(struct fid_eq *fid, int prov_errno,
				   const void *err_data, char *buf, size_t len)
{
	(void)fid;
	(void)err_data;
	return rcm_err_cm_text(prov_errno, buf, len);
}

struct fi_ops_eq rcm_eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = rcm_eq_read,
	.readerr = rcm_eq_readerr,
	.write = rcm_eq_write,
	.sread = rcm_eq_sread,
	.strerror = rcm_eq_strerror,
};
