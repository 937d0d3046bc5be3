/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_search.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include "rcm_domain.h"
#include "rcm_info.h"
#include "rcm_nic.h"
#include "rcm_route.h"

/* One destination, and how it is reached. */
struct rcm_target {
	const union rcm_addr *dst; /* NULL: none */
	bool routed;
	union rcm_addr route; /* the source that the routing table chooses */
};

/* Adds a device's reason to those of the search. */
RCM_PRINTF(3, 4)
static void rcm_search_note(struct rcm_search *s, const struct rcm_dev *dev,
			    const char *fmt, ...)
{
	size_t used = strlen(s->reasons);
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(s->reasons + used, sizeof(s->reasons) - used, "%s%s: %s",
		 used ? "; " : "", dev->name, text);
}

static const char *rcm_search_domain(const struct fi_info *hints)
{
	return hints && hints->domain_attr ? hints->domain_attr->name : NULL;
}

/* A domain that is open, and may be the only one to be reported. */
static struct fid_domain *rcm_search_opened(const struct fi_info *hints)
{
	return hints && hints->domain_attr ? hints->domain_attr->domain : NULL;
}

static const char *rcm_search_nic(const struct fi_info *hints)
{
	return hints && hints->nic && hints->nic->device_attr ?
		       hints->nic->device_attr->name :
		       NULL;
}

/* Names match as a whole, or not at all. */
static bool rcm_search_named(const struct fi_info *hints,
			     const struct rcm_dev *dev)
{
	const char *domain = rcm_search_domain(hints);
	const char *opened = rcm_domain_name(rcm_search_opened(hints));
	const char *nic = rcm_search_nic(hints);

	return (!opened || !strcmp(opened, dev->name)) &&
	       (!domain || !strcmp(domain, dev->name)) &&
	       (!nic || !strcmp(nic, dev->name));
}

/* The caller chose a source or a device, so that no route has to. */
static bool rcm_search_bound(const struct rcm_search *s)
{
	return (s->ask->src.n && !s->ask->src_any) ||
	       rcm_search_domain(s->hints) || rcm_search_nic(s->hints) ||
	       rcm_search_opened(s->hints);
}

/* A link-local destination is reached from a link-local source beside it. */
static bool rcm_search_reaches(const struct rcm_search *s,
			       const struct rcm_target *t,
			       const union rcm_addr *addr)
{
	if (!t->dst)
		return true;
	if (t->dst->sa.sa_family != addr->sa.sa_family)
		return false;
	if (rcm_addr_is_link_local(t->dst) &&
	    (!rcm_addr_is_link_local(addr) ||
	     (t->dst->in6.sin6_scope_id &&
	      t->dst->in6.sin6_scope_id != addr->in6.sin6_scope_id)))
		return false;
	return rcm_search_bound(s) || rcm_addr_same_host(&t->route, addr);
}

static int rcm_search_add(struct rcm_search *s, const struct rcm_target *t,
			  const struct rcm_dev *dev,
			  const struct rcm_dev_addr *a,
			  const union rcm_addr *src)
{
	struct fi_info *info = rcm_info_new(s->version, dev, a);
	union rcm_addr dst;

	if (!info)
		return -FI_ENOMEM;
	rcm_info_narrow(info, s->version, s->hints);
	rcm_info_fit(info, dev);
	if (s->layered)
		rcm_nic_set_layered(info->nic);
	if (rcm_domain_name(rcm_search_opened(s->hints)))
		info->domain_attr->domain = rcm_search_opened(s->hints);
	if (t->dst) {
		dst = *t->dst;
		if (rcm_addr_is_link_local(&dst) && !dst.in6.sin6_scope_id)
			dst.in6.sin6_scope_id = a->addr.in6.sin6_scope_id;
	}
	if (rcm_info_set_addrs(info, s->ask->format, src,
			       t->dst ? &dst : NULL)) {
		fi_freeinfo(info);
		return -FI_ENOMEM;
	}
	if (s->tail)
		s->tail->next = info;
	else
		s->head = info;
	s->tail = info;
	return 0;
}

/* The addresses of one device; FIRST: only the one that the route names. */
static int rcm_search_addrs(struct rcm_search *s, const struct rcm_target *t,
			    const struct rcm_dev *dev, bool first)
{
	union rcm_addr src;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < dev->n_addrs; i++) {
		const struct rcm_dev_addr *a = &dev->addrs[i];
		bool best = t->routed &&
			    rcm_addr_same_host(&t->route, &a->addr);

		if (best != first || !rcm_ask_format_fits(s->ask, &a->addr) ||
		    !rcm_search_reaches(s, t, &a->addr) ||
		    !rcm_ask_source(s->ask, &a->addr, &src))
			continue;
		ret = rcm_search_add(s, t, dev, a, &src);
		if (s->ask->src_any)
			break;
	}
	return ret;
}

static void rcm_search_no_addr(struct rcm_search *s, const struct rcm_target *t,
			       const struct rcm_dev *dev)
{
	char to[RCM_ADDR_STR], from[RCM_ADDR_STR];

	if (s->ask->src.n && !s->ask->src_any)
		rcm_search_note(s, dev, "the source %s is no address of it",
				rcm_addr_str(&s->ask->src.addrs[0], from));
	else if (t->routed && !rcm_search_bound(s))
		rcm_search_note(s, dev, "the route to %s leaves from %s",
				rcm_addr_str(t->dst, to),
				rcm_addr_str(&t->route, from));
	else
		rcm_search_note(s, dev,
				"no address of the format or family "
				"that was asked for");
}

/* What the hints say about a device is judged once, by its first address. */
static int rcm_search_judge(struct rcm_search *s, const struct rcm_dev *dev)
{
	struct rcm_why why = { "" };
	struct fi_info *offer;
	int ret;

	offer = rcm_info_new(s->version, dev, &dev->addrs[0]);
	if (!offer)
		return -FI_ENOMEM;
	ret = rcm_attr_check_dev(s->hints, offer, dev, &why);
	fi_freeinfo(offer);
	if (ret)
		rcm_search_note(s, dev, "%s", why.text);
	return ret;
}

static int rcm_search_dev(struct rcm_search *s, const struct rcm_target *t,
			  const struct rcm_dev *dev)
{
	const struct fi_info *had = s->tail;
	int ret;

	if (!dev->usable) {
		rcm_search_note(s, dev, "%s", dev->reason);
		return 0;
	}
	ret = rcm_search_judge(s, dev);
	if (ret)
		return ret == -FI_ENOMEM ? ret : 0;
	ret = rcm_search_addrs(s, t, dev, true);
	if (!ret)
		ret = rcm_search_addrs(s, t, dev, false);
	if (!ret && s->tail == had)
		rcm_search_no_addr(s, t, dev);
	return ret;
}

static void rcm_search_unnamed(struct rcm_search *s)
{
	const char *name = rcm_search_domain(s->hints);

	if (!name)
		name = rcm_search_nic(s->hints);
	rcm_refuse(&s->why, "domain_attr->name: there is no device %s",
		   name ? name : "of the open domain");
}

static int rcm_search_pass(struct rcm_search *s, const struct rcm_target *t)
{
	unsigned int named = 0;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->devs->n; i++) {
		if (!rcm_search_named(s->hints, &s->devs->devs[i]))
			continue;
		named++;
		ret = rcm_search_dev(s, t, &s->devs->devs[i]);
	}
	if (!named && s->devs->n)
		rcm_search_unnamed(s);
	return ret;
}

/* Which source the destination is to be reached from; 0 or a reason. */
static int rcm_search_route(struct rcm_search *s, struct rcm_target *t)
{
	char to[RCM_ADDR_STR];
	int ret;

	if (rcm_addr_is_loopback(t->dst))
		return rcm_refuse(&s->why,
				  "there is no RDMA to the loopback "
				  "address %s",
				  rcm_addr_str(t->dst, to));
	if (rcm_addr_is_any(t->dst))
		return rcm_refuse(&s->why, "%s is no destination",
				  rcm_addr_str(t->dst, to));
	ret = rcm_route_source(t->dst, &t->route);
	t->routed = !ret;
	if (ret && !rcm_search_bound(s))
		return rcm_refuse(&s->why, "no route to %s: %s",
				  rcm_addr_str(t->dst, to), fi_strerror(-ret));
	return 0;
}

/* The first destination that can be reached is the one. */
static int rcm_search_dsts(struct rcm_search *s)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && !s->head && i < s->ask->dst.n; i++) {
		struct rcm_target t = { .dst = &s->ask->dst.addrs[i] };

		if (rcm_ask_format_fits(s->ask, t.dst) &&
		    !rcm_search_route(s, &t))
			ret = rcm_search_pass(s, &t);
	}
	return ret;
}

int rcm_search_run(struct rcm_search *s)
{
	const struct rcm_target nowhere = { .dst = NULL };
	int ret;

	/* a layer may leave its own domain in the hints */
	if (rcm_search_opened(s->hints) && !s->layered &&
	    !rcm_domain_name(rcm_search_opened(s->hints)))
		return rcm_refuse(&s->why, "domain_attr->domain is the domain "
					   "of another provider");
	if (!s->devs->n)
		return rcm_refuse(&s->why, "%s", s->devs->reason);
	ret = s->ask->dst.n ? rcm_search_dsts(s) : rcm_search_pass(s, &nowhere);
	if (ret) {
		fi_freeinfo(s->head);
		s->head = NULL;
		return ret;
	}
	if (s->head)
		return 0;
	if (s->reasons[0])
		return rcm_refuse(&s->why, "%s", s->reasons);
	if (s->why.text[0])
		return -FI_ENODATA;
	return rcm_refuse(&s->why, "no address that was asked for is of the "
				   "format that was asked for");
}
