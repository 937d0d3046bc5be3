/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_ask.h"

#include <netdb.h>
#include <string.h>

#include <rdma/fi_errno.h>

static int rcm_ask_family(const struct fi_info *hints)
{
	switch (hints ? hints->addr_format : FI_FORMAT_UNSPEC) {
	case FI_SOCKADDR_IN:
		return AF_INET;
	case FI_SOCKADDR_IN6:
		return AF_INET6;
	default:
		return AF_UNSPEC;
	}
}

static void rcm_ask_keep(struct rcm_ask_set *set, const struct addrinfo *list)
{
	const struct addrinfo *ai;

	for (ai = list; ai && set->n < RCM_ASK_MAX; ai = ai->ai_next) {
		if (!rcm_addr_read(&set->addrs[set->n], ai->ai_addr,
				   ai->ai_addrlen))
			set->n++;
	}
}

/*
 * A number is read as such and never given to the name service, whatever
 * the flags: that may be slow, or not there at all.
 */
static int rcm_ask_resolve(struct rcm_ask_set *set, int family,
			   const char *node, const char *service,
			   uint64_t flags, struct rcm_why *why)
{
	struct addrinfo want = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST,
	};
	struct addrinfo *list;
	int err;

	err = getaddrinfo(node, service, &want, &list);
	if (err == EAI_NONAME && !(flags & FI_NUMERICHOST)) {
		want.ai_flags = 0;
		err = getaddrinfo(node, service, &want, &list);
	}
	if (err)
		return rcm_refuse(why, "node %s, service %s: %s", node,
				  service ? service : "(none)",
				  gai_strerror(err));
	rcm_ask_keep(set, list);
	freeaddrinfo(list);
	if (!set->n)
		return rcm_refuse(why, "node %s has no IP address", node);
	return 0;
}

/* A service by itself: a port at every address. */
static int rcm_ask_port(uint16_t *port, const char *service,
			struct rcm_why *why)
{
	struct rcm_ask_set set = { .n = 0 };
	int ret = rcm_ask_resolve(&set, AF_INET, "0.0.0.0", service,
				  FI_NUMERICHOST, why);

	if (!ret)
		*port = rcm_addr_port(&set.addrs[0]);
	return ret;
}

static int rcm_ask_hint(struct rcm_ask_set *set, const char *attr,
			const void *addr, size_t len, struct rcm_why *why)
{
	if (!addr)
		return 0;
	if (rcm_addr_read(&set->addrs[0], addr, len))
		return rcm_refuse(why,
				  "%s: its %zu bytes are no IPv4 or IPv6 "
				  "socket address",
				  attr, len);
	set->n = 1;
	return 0;
}

static int rcm_ask_hint_src(struct rcm_ask *ask, const struct fi_info *hints,
			    struct rcm_why *why)
{
	if (!hints)
		return 0;
	return rcm_ask_hint(&ask->src, "src_addr", hints->src_addr,
			    hints->src_addrlen, why);
}

static int rcm_ask_hint_dst(struct rcm_ask *ask, const struct fi_info *hints,
			    struct rcm_why *why)
{
	if (!hints)
		return 0;
	return rcm_ask_hint(&ask->dst, "dest_addr", hints->dest_addr,
			    hints->dest_addrlen, why);
}

/* Node and service name the source. */
static int rcm_ask_local(struct rcm_ask *ask, const char *node,
			 const char *service, uint64_t flags,
			 const struct fi_info *hints, struct rcm_why *why)
{
	int ret = 0;

	if (node)
		ret = rcm_ask_resolve(&ask->src, rcm_ask_family(hints), node,
				      service, flags, why);
	else if (service)
		ret = rcm_ask_port(&ask->src_port, service, why);
	return ret ? ret : rcm_ask_hint_dst(ask, hints, why);
}

/* Node and service name the destination. */
static int rcm_ask_remote(struct rcm_ask *ask, const char *node,
			  const char *service, uint64_t flags,
			  const struct fi_info *hints, struct rcm_why *why)
{
	int ret;

	if (!node)
		return rcm_refuse(
			why,
			"service %s without a node is a port of the "
			"loopback, which has no RDMA; FI_SOURCE makes "
			"it a local one",
			service);
	ret = rcm_ask_resolve(&ask->dst, rcm_ask_family(hints), node, service,
			      flags, why);
	return ret ? ret : rcm_ask_hint_src(ask, hints, why);
}

static int rcm_ask_hinted(struct rcm_ask *ask, const struct fi_info *hints,
			  struct rcm_why *why)
{
	int ret = rcm_ask_hint_src(ask, hints, why);

	return ret ? ret : rcm_ask_hint_dst(ask, hints, why);
}

/*
 * A listener keeps a wildcard. For a connection it means no more than its
 * port, since it will have one source.
 */
static void rcm_ask_wildcard(struct rcm_ask *ask)
{
	if (!ask->src.n)
		return;
	ask->src_port = rcm_addr_port(&ask->src.addrs[0]);
	if (!rcm_addr_is_any(&ask->src.addrs[0]))
		return;
	if (ask->dst.n)
		ask->src.n = 0;
	else
		ask->src_any = true;
}

int rcm_ask_read(struct rcm_ask *ask, const char *node, const char *service,
		 uint64_t flags, const struct fi_info *hints,
		 struct rcm_why *why)
{
	int ret;

	memset(ask, 0, sizeof(*ask));
	ask->format = hints ? hints->addr_format : FI_FORMAT_UNSPEC;
	if (flags & FI_SOURCE)
		ret = rcm_ask_local(ask, node, service, flags, hints, why);
	else if (node || service)
		ret = rcm_ask_remote(ask, node, service, flags, hints, why);
	else
		ret = rcm_ask_hinted(ask, hints, why);
	if (!ret)
		rcm_ask_wildcard(ask);
	return ret;
}

bool rcm_ask_format_fits(const struct rcm_ask *ask, const union rcm_addr *addr)
{
	switch (ask->format) {
	case FI_SOCKADDR_IN:
		return addr->sa.sa_family == AF_INET;
	case FI_SOCKADDR_IN6:
		return addr->sa.sa_family == AF_INET6;
	default:
		return true;
	}
}

static bool rcm_ask_in_set(const struct rcm_ask_set *set,
			   const union rcm_addr *addr)
{
	for (unsigned int i = 0; i < set->n; i++) {
		if (rcm_addr_same_host(&set->addrs[i], addr))
			return true;
	}
	return false;
}

bool rcm_ask_source(const struct rcm_ask *ask, const union rcm_addr *addr,
		    union rcm_addr *src)
{
	*src = *addr;
	if (ask->src_any) {
		if (addr->sa.sa_family != ask->src.addrs[0].sa.sa_family)
			return false;
		*src = ask->src.addrs[0];
	} else if (ask->src.n && !rcm_ask_in_set(&ask->src, addr)) {
		return false;
	}
	rcm_addr_set_port(src, ask->src_port);
	return true;
}
