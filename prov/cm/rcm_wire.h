/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_WIRE_H
#define RCM_WIRE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Private data of FI_PROTO_RDMA_CM_IB_RC, version 1 (docs/WIRE.md): one byte
 * that counts the user's bytes, then those. The rest of the field is zero.
 */
#define RCM_WIRE_MAX	56 /* bytes that a request carries */
#define RCM_CM_DATA_MAX 55 /* of those, bytes for the user */

struct rcm_wire {
	uint8_t len;
	uint8_t data[RCM_CM_DATA_MAX];
};

/*
 * Writes LEN user bytes. -FI_EINVAL when LEN is beyond RCM_CM_DATA_MAX, or
 * DATA is NULL while LEN is not 0; *WIRE is untouched then. The bytes to
 * send are LEN + 1.
 */
int rcm_wire_encode(struct rcm_wire *wire, const void *data, size_t len);

/*
 * Finds the user's bytes in what arrived: FIELD of AVAIL bytes. *DATA points
 * into FIELD. An absent field is 0 user bytes, and *DATA NULL. A count beyond
 * AVAIL or RCM_CM_DATA_MAX is -FI_EINVAL (the peer is no libfabric peer), and
 * 0 user bytes as well.
 */
int rcm_wire_decode(const void *field, size_t avail, const uint8_t **data,
		    size_t *len);

#endif /* RCM_WIRE_H */
