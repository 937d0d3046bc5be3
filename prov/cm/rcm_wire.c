/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_wire.h"

#include <string.h>

#include <rdma/fi_errno.h>

int rcm_wire_encode(struct rcm_wire *wire, const void *data, size_t len)
{
	if (len > RCM_CM_DATA_MAX || (len && !data))
		return -FI_EINVAL;
	memset(wire, 0, sizeof(*wire));
	wire->len = (uint8_t)len;
	if (len)
		memcpy(wire->data, data, len);
	return 0;
}

int rcm_wire_decode(const void *field, size_t avail, const uint8_t **data,
		    size_t *len)
{
	const uint8_t *bytes = field;

	*data = NULL;
	*len = 0;
	if (!bytes || !avail)
		return 0;
	if (bytes[0] > avail - 1 || bytes[0] > RCM_CM_DATA_MAX)
		return -FI_EINVAL;
	*data = bytes + 1;
	*len = bytes[0];
	return 0;
}
