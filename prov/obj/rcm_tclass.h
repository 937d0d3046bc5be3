/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_TCLASS_H
#define RCM_TCLASS_H

#include <stdint.h>

/*
 * fi_endpoint(3), traffic class: its type of service for rdma_set_option(3),
 * or -1 to leave it to the system. A code point is taken as it is; of a label
 * FI_RCM_TOS says what it is on this network. -FI_EINVAL for a class that is
 * neither, with *TOS untouched.
 */
int rcm_tclass_tos(uint32_t tclass, int *tos);

#endif /* RCM_TCLASS_H */
