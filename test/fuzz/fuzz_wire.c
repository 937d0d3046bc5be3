/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Private data from a peer, as it arrives: bounds, and the way back. */

#include "rcm_wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct rcm_wire wire;
	const uint8_t *data;
	size_t len, again;
	int ret;

	ret = rcm_wire_decode(input, size, &data, &len);
	check(len <= RCM_CM_DATA_MAX);
	check(!len || (data == input + 1 && len < size));
	if (ret) {
		check(!len && !data);
		return 0;
	}
	check(!rcm_wire_encode(&wire, data, len));
	check(!len || !memcmp(wire.data, input + 1, len));
	check(!rcm_wire_decode(&wire, sizeof(wire), &data, &again));
	check(again == len);
	return 0;
}
