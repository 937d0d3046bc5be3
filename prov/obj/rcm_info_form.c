/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_info.h"
#include "rcm_offer.h"

/* What follows from API version and hints alone: capabilities, mr_mode. */

/* Which primary capability a modifier restricts; the first one implies it. */
static const struct {
	uint64_t primary, mods;
} rcm_caps_rows[] = {
	{ FI_MSG, FI_SEND | FI_RECV },
	{ FI_RMA, FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE },
	{ FI_ATOMIC, FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE },
};

uint64_t rcm_info_expand(uint64_t caps)
{
	uint64_t bare = caps & RCM_MODIFIER_CAPS, all = 0;

	for (size_t i = 0; i < RCM_ARRAY_SIZE(rcm_caps_rows); i++) {
		uint64_t mods = rcm_caps_rows[i].mods & RCM_MODIFIER_CAPS;

		if (!(caps & rcm_caps_rows[i].primary))
			continue;
		bare &= ~mods;
		all |= rcm_caps_rows[i].primary;
		all |= (caps & mods) ? caps & mods : mods;
	}
	for (size_t i = 0; i < RCM_ARRAY_SIZE(rcm_caps_rows) && bare; i++) {
		if (!(bare & rcm_caps_rows[i].mods))
			continue;
		all |= rcm_caps_rows[i].primary;
		all |= bare & rcm_caps_rows[i].mods;
		bare &= ~rcm_caps_rows[i].mods;
	}
	return all;
}

uint64_t rcm_info_idle(uint64_t caps)
{
	uint64_t idle = 0;

	for (size_t i = 0; i < RCM_ARRAY_SIZE(rcm_caps_rows); i++) {
		if (!(caps & rcm_caps_rows[i].mods))
			idle |= caps & rcm_caps_rows[i].primary;
	}
	return idle;
}

bool rcm_info_has_writes(uint64_t caps)
{
	return (caps & FI_RMA) && (caps & RCM_WRITE_CAPS);
}

/* Can a peer have keys and addresses of regions as HINTS want them? */
static bool rcm_mr_is_remote(const struct fi_info *hints)
{
	int asked;

	if (!hints || !hints->domain_attr)
		return true;
	asked = hints->domain_attr->mr_mode;
	return (asked & RCM_OLD_MR_BASIC) ||
	       (asked & RCM_MR_BASIC_MAP) == RCM_MR_BASIC_MAP;
}

bool rcm_info_rx_cq_data(const struct fi_info *hints)
{
	return !hints || (hints->mode & FI_RX_CQ_DATA) ||
	       (hints->rx_attr && (hints->rx_attr->mode & FI_RX_CQ_DATA));
}

/* Hints without capabilities get what their other wishes allow. */
static uint64_t rcm_info_default_caps(const struct fi_info *hints)
{
	uint64_t caps = RCM_CAPS & ~RCM_MANUAL_CAPS;

	if (!rcm_mr_is_remote(hints))
		caps &= ~RCM_REMOTE_CAPS;
	if (!rcm_info_rx_cq_data(hints) && hints->domain_attr &&
	    hints->domain_attr->cq_data_size)
		caps &= ~RCM_WRITE_CAPS;
	return caps;
}

/*
 * Primary capabilities are granted as asked for, of the secondary ones also
 * those that cost nothing. Hints that name no primary one want messages.
 */
uint64_t rcm_info_caps(const struct fi_info *hints)
{
	uint64_t asked = hints ? hints->caps : 0;
	uint64_t caps;

	if (!asked)
		return rcm_info_default_caps(hints);
	caps = rcm_info_expand(asked);
	if (!caps)
		caps = rcm_info_expand(FI_MSG);
	return caps | (asked & RCM_MANUAL_CAPS) | RCM_FREE_CAPS;
}

/*
 * Registrations that a peer may use need keys and addresses of the device.
 * FI_MR_LOCAL is kept where it is offered, since it is faster, and needed by
 * none.
 */
static int rcm_mr_needed(const struct fi_info *hints)
{
	if (rcm_info_caps(hints) & RCM_REMOTE_CAPS)
		return RCM_MR_BASIC_MAP;
	return 0;
}

/* The form of API 1.4 and before, kept alive by FI_MR_BASIC afterwards. */
static int rcm_mr_form_basic(bool local_mr, struct rcm_mr_form *form)
{
	form->mr_mode = RCM_OLD_MR_BASIC;
	form->local_mr = local_mr;
	return 0;
}

static int rcm_mr_form_bits(int asked, int needed, struct rcm_mr_form *form,
			    int *missing)
{
	if (asked & RCM_OLD_MR_BASIC)
		asked |= RCM_MR_BASIC_MAP;
	*missing = needed & ~asked;
	if (*missing)
		return -FI_ENODATA;
	form->mr_mode = asked & RCM_MR_MODE;
	form->local_mr = false;
	return 0;
}

/* The mode bit of old stands for FI_MR_LOCAL, beside newer bits as well. */
static int rcm_mr_form_old_local(int asked, int needed,
				 struct rcm_mr_form *form, int *missing)
{
	int ret = rcm_mr_form_bits(asked, needed, form, missing);

	if (!ret)
		form->local_mr = true;
	return ret;
}

int rcm_info_mr_form(uint32_t version, const struct fi_info *hints,
		     struct rcm_mr_form *form, int *missing)
{
	bool local_mr = !hints || hints->mode & RCM_OLD_LOCAL_MR;
	bool old = FI_VERSION_LT(version, FI_VERSION(1, 5));
	int needed = rcm_mr_needed(hints);
	int asked;

	*missing = 0;
	if (!hints || !hints->domain_attr) {
		if (old)
			return rcm_mr_form_basic(local_mr, form);
		return rcm_mr_form_bits(RCM_MR_MODE, needed, form, missing);
	}
	asked = hints->domain_attr->mr_mode;
	if (asked == RCM_OLD_MR_BASIC || (old && !asked))
		return rcm_mr_form_basic(local_mr, form);
	if (asked == RCM_OLD_MR_SCALABLE || old) {
		*missing = RCM_MR_BASIC_MAP;
		return -FI_ENODATA;
	}
	if (local_mr && !(asked & FI_MR_LOCAL))
		return rcm_mr_form_old_local(asked, needed, form, missing);
	return rcm_mr_form_bits(asked, needed, form, missing);
}
