/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_tclass.h"

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_param.h"

#define RCM_DSCP_MAX 63

/* The code points that RFC 4594 and RFC 3662 have for such traffic. */
static const struct {
	uint32_t label;
	int dscp;
} rcm_tclass_labels[] = {
	{ FI_TC_LOW_LATENCY, 18 },	/* AF21, low-latency data */
	{ FI_TC_DEDICATED_ACCESS, 46 }, /* EF, admitted in advance */
	{ FI_TC_BULK_DATA, 10 },	/* AF11, high-throughput data */
	{ FI_TC_SCAVENGER, 8 },		/* CS1, low-priority data */
	{ FI_TC_NETWORK_CTRL, 48 },	/* CS6, network control */
};

/* The lower two bits of a type of service are not the sender's to set. */
static int rcm_tclass_of_dscp(int dscp)
{
	return dscp << 2;
}

int rcm_tclass_tos(uint32_t tclass, int *tos)
{
	uint32_t dscp = tclass & ~(uint32_t)FI_TC_DSCP;
	size_t i;

	if (tclass == FI_TC_UNSPEC || tclass == FI_TC_BEST_EFFORT) {
		*tos = rcm_param.tos;
		return 0;
	}
	if (tclass & FI_TC_DSCP) {
		if (dscp > RCM_DSCP_MAX)
			return -FI_EINVAL;
		*tos = rcm_tclass_of_dscp((int)dscp);
		return 0;
	}
	for (i = 0; i < RCM_ARRAY_SIZE(rcm_tclass_labels); i++) {
		if (rcm_tclass_labels[i].label != tclass)
			continue;
		*tos = rcm_param.tos;
		if (*tos < 0)
			*tos = rcm_tclass_of_dscp(rcm_tclass_labels[i].dscp);
		return 0;
	}
	return -FI_EINVAL;
}
