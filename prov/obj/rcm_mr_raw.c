/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <endian.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_mr.h"
#include "rcm_offer.h"

static int rcm_mr_raw_attr(const struct rcm_mr *mr,
			   const struct fi_mr_raw_attr *raw)
{
	uint32_t key = htobe32((uint32_t)mr->fid.key);
	size_t room;

	if (raw->flags)
		return -FI_EBADFLAGS;
	if (!raw->key_size || !raw->base_addr)
		return -FI_EINVAL;
	room = *raw->key_size;
	*raw->key_size = RCM_MR_KEY_SIZE;
	if (room < RCM_MR_KEY_SIZE)
		return -FI_ETOOSMALL;
	if (!raw->raw_key)
		return -FI_EINVAL;
	/* FI_MR_VIRT_ADDR: peers name the region's own addresses */
	*raw->base_addr = mr->mr ? (uintptr_t)mr->mr->addr : 0;
	memcpy(raw->raw_key, &key, RCM_MR_KEY_SIZE);
	return 0;
}

int rcm_mr_control(struct fid *fid, int command, void *arg)
{
	if (command != FI_GET_RAW_MR)
		return -FI_ENOSYS;
	if (!arg)
		return -FI_EINVAL;
	return rcm_mr_raw_attr(rcm_container_of(fid, struct rcm_mr, fid.fid),
			       arg);
}

static int rcm_mr_map_raw(const struct fi_mr_map_raw *map)
{
	uint32_t key;

	if (map->flags)
		return -FI_EBADFLAGS;
	if (map->key_size != RCM_MR_KEY_SIZE || !map->raw_key || !map->key)
		return -FI_EINVAL;
	memcpy(&key, map->raw_key, RCM_MR_KEY_SIZE);
	*map->key = be32toh(key);
	return 0;
}

int rcm_mr_domain_control(struct fid *fid, int command, void *arg)
{
	(void)fid;
	switch (command) {
	case FI_MAP_RAW_MR:
		return arg ? rcm_mr_map_raw(arg) : -FI_EINVAL;
	case FI_UNMAP_KEY: /* mapping has taken nothing */
		return 0;
	default:
		return -FI_ENOSYS;
	}
}
