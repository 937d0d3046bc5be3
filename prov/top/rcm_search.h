/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_SEARCH_H
#define RCM_SEARCH_H

#include <rdma/fabric.h>

#include "rcm_ask.h"
#include "rcm_attr.h"
#include "rcm_dev.h"

/* A look for infos among the devices, and what came of it. */
struct rcm_search {
	uint32_t version;
	const struct fi_info *hints;
	const struct rcm_ask *ask;
	bool layered; /* a provider above rcm asks */
	const struct rcm_dev_list *devs;

	struct fi_info *head;
	struct fi_info *tail;

	struct rcm_why why; /* for the search as a whole */
	char reasons[512];  /* "rxe0: no active port; rxe1: ..." */
};

/*
 * Collects the infos of all device addresses that fit. 0 with the list in
 * head (the caller's), -FI_ENODATA with the reasons, or -FI_ENOMEM; nothing
 * is left then.
 */
int rcm_search_run(struct rcm_search *search);

#endif /* RCM_SEARCH_H */
