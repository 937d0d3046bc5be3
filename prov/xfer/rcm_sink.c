/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "rcm_dev.h"
#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_sys.h"

struct rcm_sink {
	struct ibv_mr *mr;
	void *mem;
};

static int rcm_sink_failed(int err)
{
	char memlock[RCM_DEV_MEMLOCK] = "";

	/* reading completions would not end it */
	err = rcm_err_from_errno(err == EAGAIN ? ENOMEM : err);
	if (err == FI_ENOMEM)
		rcm_dev_memlock(memlock);
	RCM_WARN(EP_DATA, "registering a page for answers nobody reads: %s%s",
		 fi_strerror(err), memlock);
	return -err;
}

/* NULL, and why in *RET. */
static struct rcm_sink *rcm_sink_make(struct ibv_pd *pd, int *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct rcm_sink *sink = calloc(1, sizeof(*sink));

	*ret = -FI_ENOMEM;
	if (!sink)
		return NULL;
	/* a whole page: a fork copies none that holds anything else */
	if (posix_memalign(&sink->mem, page, page))
		goto err_free;
	sink->mr = rcm_sys->reg_mr(pd, sink->mem, RCM_SINK_SIZE,
				   IBV_ACCESS_LOCAL_WRITE);
	if (sink->mr)
		return sink;
	*ret = rcm_sink_failed(errno);
	free(sink->mem);
err_free:
	free(sink);
	return NULL;
}

void rcm_sink_close(struct rcm_sink *sink)
{
	if (!sink)
		return;
	(void)rcm_sys->dereg_mr(sink->mr);
	free(sink->mem);
	free(sink);
}

int rcm_sink_get(_Atomic(struct rcm_sink *) *place, struct ibv_pd *pd,
		 struct ibv_sge *sge)
{
	struct rcm_sink *sink = atomic_load(place), *made;
	int ret;

	if (!sink) {
		made = rcm_sink_make(pd, &ret);
		if (!made)
			return ret;
		/* another thread may have been first */
		if (atomic_compare_exchange_strong(place, &sink, made))
			sink = made;
		else
			rcm_sink_close(made);
	}
	sge->addr = (uintptr_t)sink->mem;
	sge->lkey = sink->mr->lkey;
	return 0;
}
