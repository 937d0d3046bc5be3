/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_bounce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "rcm_dev.h"
#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_sys.h"

static int rcm_bounce_failed(size_t len, int err)
{
	char memlock[RCM_DEV_MEMLOCK] = "";

	if (err == ENOMEM)
		rcm_dev_memlock(memlock);
	err = rcm_err_from_errno(err);
	RCM_WARN(EP_CTRL, "registering %zu bytes to copy messages into: %s%s",
		 len, fi_strerror(err), memlock);
	return -err;
}

int rcm_bounce_open(struct rcm_bounce **out, struct ibv_pd *pd, uint32_t slots,
		    uint32_t size)
{
	struct rcm_bounce *bounce = calloc(1, sizeof(*bounce));
	size_t len = (size_t)slots * size;
	int ret = -FI_ENOMEM;

	if (!bounce)
		return -FI_ENOMEM;
	bounce->size = size;
	bounce->mask = slots - 1;
	/* whole pages: a fork copies none that holds anything else */
	if (posix_memalign((void **)&bounce->mem, (size_t)sysconf(_SC_PAGESIZE),
			   len))
		goto err_free;
	bounce->mr = rcm_sys->reg_mr(pd, bounce->mem, len,
				     IBV_ACCESS_LOCAL_WRITE);
	if (!bounce->mr) {
		ret = rcm_bounce_failed(len, errno);
		goto err_mem;
	}
	*out = bounce;
	return 0;

err_mem:
	free(bounce->mem);
err_free:
	free(bounce);
	return ret;
}

void rcm_bounce_close(struct rcm_bounce *bounce)
{
	if (!bounce)
		return;
	(void)rcm_sys->dereg_mr(bounce->mr);
	free(bounce->mem);
	free(bounce);
}

void *rcm_bounce_lend(struct rcm_bounce *bounce, uint32_t pos,
		      struct ibv_sge *sge)
{
	void *mem = bounce->mem + (pos & bounce->mask) * bounce->size;

	sge->addr = (uintptr_t)mem;
	sge->lkey = bounce->mr->lkey;
	return mem;
}

void rcm_bounce_put(struct rcm_bounce *bounce, uint32_t pos, size_t at,
		    struct ibv_sge *sge)
{
	uint8_t *to = bounce->mem + (pos & bounce->mask) * bounce->size + at;

	memcpy(to, (const void *)(uintptr_t)sge->addr, sge->length);
	sge->addr = (uintptr_t)to;
	sge->lkey = bounce->mr->lkey;
}

void rcm_bounce_copy(struct rcm_bounce *bounce, uint32_t pos,
		     const struct ibv_sge *sge, uint32_t n, struct ibv_sge *out)
{
	uint8_t *to = bounce->mem + (pos & bounce->mask) * bounce->size;
	uint32_t i;

	out->addr = (uintptr_t)to;
	out->length = 0;
	out->lkey = bounce->mr->lkey;
	for (i = 0; i < n; i++) {
		memcpy(to + out->length, (const void *)(uintptr_t)sge[i].addr,
		       sge[i].length);
		out->length += sge[i].length;
	}
}
