/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_getinfo.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "rcm_ask.h"
#include "rcm_attr.h"
#include "rcm_log.h"
#include "rcm_offer.h"
#include "rcm_search.h"

/* LIST, as in "rcm;ofi_rxm" or "tcp,rcm", holds rcm. "^rcm" leaves it out. */
static bool rcm_list_has_us(const char *list)
{
	if (!list || *list == '^')
		return false;
	while (*list) {
		size_t len = strcspn(list, ",;");

		if (len == 3 && !strncasecmp(list, "rcm", 3))
			return true;
		list += len;
		list += strspn(list, ",;");
	}
	return false;
}

static bool rcm_asked_by_name(const struct fi_info *hints)
{
	return rcm_list_has_us(getenv("FI_PROVIDER")) ||
	       (hints && hints->fabric_attr &&
		rcm_list_has_us(hints->fabric_attr->prov_name));
}

/*
 * A layer such as ofi_rxm asks in ways of its own, and beside it the core
 * asks rcm itself for what only the layer has: no news for the user.
 */
static bool rcm_refusal_is_news(const struct fi_info *hints, uint64_t flags)
{
	if (flags & RCM_GETINFO_LAYERED)
		return false;
	if (!hints)
		return true;
	if (hints->ep_attr && hints->ep_attr->type != FI_EP_UNSPEC)
		return hints->ep_attr->type == FI_EP_MSG;
	return !(hints->caps & ~RCM_CAPS);
}

/* One warning for each different reason, however often it is met. */
static void rcm_getinfo_warn(const struct rcm_why *why)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct rcm_why last;
	bool known;

	pthread_mutex_lock(&lock);
	known = !strcmp(last.text, why->text);
	last = *why;
	pthread_mutex_unlock(&lock);
	if (!known)
		RCM_WARN(FABRIC, "rcm has nothing to offer: %s", why->text);
}

static int rcm_getinfo_search(struct rcm_search *s, uint64_t flags)
{
	struct rcm_dev_list *devs;
	int ret;

	devs = rcm_dev_list_get(flags & RCM_GETINFO_RESCAN);
	if (!devs)
		return -FI_ENOMEM;
	s->devs = devs;
	ret = rcm_search_run(s);
	rcm_dev_list_put(devs);
	return ret;
}

int rcm_getinfo(uint32_t version, const char *node, const char *service,
		uint64_t flags, const struct fi_info *hints,
		struct fi_info **info)
{
	struct rcm_ask ask;
	struct rcm_search search = {
		.version = version,
		.hints = hints,
		.ask = &ask,
		.layered = flags & RCM_GETINFO_LAYERED,
	};
	bool news;
	int ret;

	*info = NULL;
	if (flags & FI_PROV_ATTR_ONLY) {
		*info = fi_allocinfo();
		return *info ? 0 : -FI_ENOMEM;
	}

	/* users of other providers come here, too: devices are the last step */
	ret = rcm_attr_check(version, hints, &search.why);
	news = !ret || rcm_refusal_is_news(hints, flags);
	if (!ret)
		ret = rcm_ask_read(&ask, node, service, flags, hints,
				   &search.why);
	if (!ret)
		ret = rcm_getinfo_search(&search, flags);
	if (ret == -FI_ENODATA && news && rcm_asked_by_name(hints))
		rcm_getinfo_warn(&search.why);
	*info = search.head;
	return ret;
}
