/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_opt.h"

#include <string.h>

#include "rcm_wire.h"

int rcm_opt_get(fid_t fid, int level, int name, void *value, size_t *len)
{
	const size_t cm_data = RCM_CM_DATA_MAX;
	size_t room;

	(void)fid;
	if (level != FI_OPT_ENDPOINT || name != FI_OPT_CM_DATA_SIZE)
		return -FI_ENOPROTOOPT;
	if (!len || !value)
		return -FI_EINVAL;
	room = *len;
	*len = sizeof(cm_data);
	if (room < sizeof(cm_data))
		return -FI_ETOOSMALL;
	memcpy(value, &cm_data, sizeof(cm_data));
	return 0;
}

int rcm_opt_set(fid_t fid, int level, int name, const void *value, size_t len)
{
	(void)fid;
	(void)level;
	(void)name;
	(void)value;
	(void)len;
	return -FI_ENOPROTOOPT;
}

ssize_t rcm_no_cancel(fid_t fid, void *context)
{
	(void)fid;
	(void)context;
	return -FI_ENOSYS;
}

int rcm_no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		  struct fid_ep **tx_ep, void *context)
{
	(void)sep;
	(void)index;
	(void)attr;
	(void)tx_ep;
	(void)context;
	return -FI_ENOSYS;
}

int rcm_no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		  struct fid_ep **rx_ep, void *context)
{
	(void)sep;
	(void)index;
	(void)attr;
	(void)rx_ep;
	(void)context;
	return -FI_ENOSYS;
}

ssize_t rcm_no_size_left(struct fid_ep *ep)
{
	(void)ep;
	return -FI_ENOSYS;
}

int rcm_no_join(struct fid_ep *ep, const void *addr, uint64_t flags,
		struct fid_mc **mc, void *context)
{
	(void)ep;
	(void)addr;
	(void)flags;
	(void)mc;
	(void)context;
	return -FI_ENOSYS;
}

int rcm_opt_cm_data_len(const void *param, size_t *len)
{
	if (*len && !param)
		return -FI_EINVAL;
	*len = RCM_MIN(*len, (size_t)RCM_CM_DATA_MAX);
	return 0;
}
