/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_RMA_H
#define RCM_RMA_H

#include <stdint.h>

#include <rdma/fi_rma.h>

/* fi_rma(3) before fi_enable(3): -FI_EOPBADSTATE. rcm_rma_disabled.c */
extern struct fi_ops_rma rcm_rma_ops_disabled;

/*
 * The calls of fi_rma(3) for an endpoint with CAPS, once it is enabled; those
 * of a direction that is not among them give -FI_ENOSYS.
 */
void rcm_rma_fill_ops(struct fi_ops_rma *ops, uint64_t caps);

#endif /* RCM_RMA_H */
