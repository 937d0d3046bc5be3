/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_opt.h"

#include <string.h>

#include "rcm_wire.h"

static bool rcm_opt_is_multi(const struct fid *fid, int level, int name)
{
	return level == FI_OPT_ENDPOINT && name == FI_OPT_MIN_MULTI_RECV &&
	       fid->fclass == FI_CLASS_EP;
}

int rcm_opt_get(fid_t fid, int level, int name, void *value, size_t *len)
{
	size_t room, number;

	if (level == FI_OPT_ENDPOINT && name == FI_OPT_CM_DATA_SIZE &&
	    fid->fclass != FI_CLASS_SRX_CTX)
		number = RCM_CM_DATA_MAX;
	else if (rcm_opt_is_multi(fid, level, name))
		number = atomic_load(&rcm_ep_of_fid(fid)->min_multi_recv);
	else
		return -FI_ENOPROTOOPT;
	if (!len || !value)
		return -FI_EINVAL;
	room = *len;
	*len = sizeof(number);
	if (room < sizeof(number))
		return -FI_ETOOSMALL;
	memcpy(value, &number, sizeof(number));
	return 0;
}

int rcm_opt_set(fid_t fid, int level, int name, const void *value, size_t len)
{
	size_t number;

	if (!rcm_opt_is_multi(fid, level, name))
		return -FI_ENOPROTOOPT;
	if (!value || len != sizeof(number))
		return -FI_EINVAL;
	memcpy(&number, value, sizeof(number));
	/* of buffers that are posted from now on */
	atomic_store(&rcm_ep_of_fid(fid)->min_multi_recv, number);
	return 0;
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

int rcm_opt_cm_data_len(const void *param, size_t *len)
{
	if (*len && !param)
		return -FI_EINVAL;
	*len = RCM_MIN(*len, (size_t)RCM_CM_DATA_MAX);
	return 0;
}
