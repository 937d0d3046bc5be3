/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_wire.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <rdma/fi_errno.h>

static void fill(uint8_t *buf, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = (uint8_t)(200 + i);
}

/* a field exactly as long as said: a read beyond it is seen by ASan */
static int decode_copy(const void *bytes, size_t avail, size_t *at, size_t *len)
{
	uint8_t *field = malloc(avail ? avail : 1);
	const uint8_t *data;
	int ret;

	cr_assert_not_null(field);
	memcpy(field, bytes, avail);
	ret = rcm_wire_decode(field, avail, &data, len);
	*at = data ? (size_t)(data - field) : 0;
	free(field);
	return ret;
}

Test(wire, one_count_byte_then_the_data_then_zeros)
{
	uint8_t user[RCM_CM_DATA_MAX];
	size_t n, i;

	fill(user, sizeof(user));
	cr_assert_eq(sizeof(struct rcm_wire), RCM_WIRE_MAX);
	for (n = 0; n <= RCM_CM_DATA_MAX; n++) {
		struct rcm_wire wire;
		const uint8_t *raw = (const uint8_t *)&wire;

		memset(&wire, 0xee, sizeof(wire));
		cr_assert_eq(rcm_wire_encode(&wire, n ? user : NULL, n), 0);
		cr_expect_eq(raw[0], n);
		cr_expect_eq(memcmp(raw + 1, user, n), 0);
		for (i = n + 1; i < RCM_WIRE_MAX; i++)
			cr_expect_eq(raw[i], 0);
	}
}

Test(wire, too_much_or_missing_data_is_refused_and_nothing_written)
{
	uint8_t user[RCM_CM_DATA_MAX + 1] = { 1 };
	struct rcm_wire wire, before;

	memset(&before, 0xee, sizeof(before));
	wire = before;
	cr_expect_eq(rcm_wire_encode(&wire, user, RCM_CM_DATA_MAX + 1),
		     -FI_EINVAL);
	cr_expect_eq(rcm_wire_encode(&wire, user, SIZE_MAX), -FI_EINVAL);
	cr_expect_eq(rcm_wire_encode(&wire, user, 256), -FI_EINVAL);
	cr_expect_eq(rcm_wire_encode(&wire, NULL, 8), -FI_EINVAL);
	cr_expect_eq(memcmp(&wire, &before, sizeof(wire)), 0);
	cr_expect_eq(rcm_wire_encode(&wire, user, 0), 0);
}

/* verbs and rcm: what arrives is filled up to the area's size */
Test(wire, every_length_comes_back_from_every_area)
{
	static const size_t areas[] = { 56, 148, 196, 255 };
	uint8_t user[RCM_CM_DATA_MAX], area[255];
	size_t n, i, at, len;

	fill(user, sizeof(user));
	for (n = 0; n <= RCM_CM_DATA_MAX; n++) {
		struct rcm_wire wire;

		cr_assert_eq(rcm_wire_encode(&wire, user, n), 0);
		memset(area, 0, sizeof(area));
		memcpy(area, &wire, n + 1);
		for (i = 0; i < 4; i++) {
			cr_expect_eq(decode_copy(area, areas[i], &at, &len), 0);
			cr_expect_eq(len, n);
			cr_expect_eq(at, 1);
		}
		/* a transport that does not fill up */
		cr_expect_eq(decode_copy(area, n + 1, &at, &len), 0);
		cr_expect_eq(len, n);
	}
}

Test(wire, absent_area_is_no_data)
{
	const uint8_t *data = (const uint8_t *)"";
	uint8_t byte = 7;
	size_t len = 9;

	cr_expect_eq(rcm_wire_decode(NULL, 0, &data, &len), 0);
	cr_expect_eq(len, 0);
	cr_expect_null(data);
	len = 9;
	cr_expect_eq(rcm_wire_decode(NULL, 56, &data, &len), 0);
	cr_expect_eq(len, 0);
	len = 9;
	cr_expect_eq(rcm_wire_decode(&byte, 0, &data, &len), 0);
	cr_expect_eq(len, 0);
}

Test(wire, count_beyond_what_arrived_is_refused)
{
	uint8_t area[255];
	size_t avail, at, len;
	unsigned int count;

	for (avail = 1; avail <= sizeof(area); avail++) {
		for (count = 0; count <= 255; count++) {
			bool fits = count < avail && count <= RCM_CM_DATA_MAX;

			memset(area, 0, sizeof(area));
			area[0] = (uint8_t)count;
			len = 9;
			cr_assert_eq(decode_copy(area, avail, &at, &len),
				     fits ? 0 : -FI_EINVAL);
			cr_assert_eq(len, fits ? count : 0);
		}
	}
}
