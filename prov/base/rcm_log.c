/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_log.h"

#include <stddef.h>

const struct fi_provider *rcm_log_prov;
