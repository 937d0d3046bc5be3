/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_addr.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <rdma/fi_errno.h>

size_t rcm_addr_len(const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

int rcm_addr_read(union rcm_addr *out, const void *addr, size_t len)
{
	/* users hand in byte buffers: nothing is said about alignment */
	union rcm_addr tmp = { 0 };
	size_t want;

	if (!addr || len < sizeof(tmp.sa.sa_family))
		return -FI_EINVAL;
	memcpy(&tmp, addr, sizeof(tmp.sa.sa_family));
	want = rcm_addr_len(&tmp.sa);
	if (!want || len < want)
		return -FI_EINVAL;
	memcpy(&tmp, addr, want);
	*out = tmp;
	return 0;
}

int rcm_addr_give(const union rcm_addr *addr, void *buf, size_t *len)
{
	size_t have = rcm_addr_len(&addr->sa);
	size_t room;

	if (!len || (*len && !buf))
		return -FI_EINVAL;
	room = *len;
	*len = have;
	if (room)
		memcpy(buf, addr, room < have ? room : have);
	return room < have ? -FI_ETOOSMALL : 0;
}

uint16_t rcm_addr_port(const union rcm_addr *addr)
{
	switch (addr->sa.sa_family) {
	case AF_INET:
		return ntohs(addr->in.sin_port);
	case AF_INET6:
		return ntohs(addr->in6.sin6_port);
	default:
		return 0;
	}
}

void rcm_addr_set_port(union rcm_addr *addr, uint16_t port)
{
	if (addr->sa.sa_family == AF_INET)
		addr->in.sin_port = htons(port);
	else if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons(port);
}

bool rcm_addr_is_any(const union rcm_addr *addr)
{
	switch (addr->sa.sa_family) {
	case AF_INET:
		return addr->in.sin_addr.s_addr == htonl(INADDR_ANY);
	case AF_INET6:
		return IN6_IS_ADDR_UNSPECIFIED(&addr->in6.sin6_addr);
	default:
		return false;
	}
}

bool rcm_addr_is_loopback(const union rcm_addr *addr)
{
	const struct in6_addr *in6 = &addr->in6.sin6_addr;

	switch (addr->sa.sa_family) {
	case AF_INET:
		return ntohl(addr->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(in6) ||
		       (IN6_IS_ADDR_V4MAPPED(in6) &&
			in6->s6_addr[12] == IN_LOOPBACKNET);
	default:
		return false;
	}
}

bool rcm_addr_is_link_local(const union rcm_addr *addr)
{
	return addr->sa.sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr);
}

bool rcm_addr_same_host(const union rcm_addr *a, const union rcm_addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	switch (a->sa.sa_family) {
	case AF_INET:
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	case AF_INET6:
		if (memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr,
			   sizeof(a->in6.sin6_addr)) != 0)
			return false;
		return !a->in6.sin6_scope_id || !b->in6.sin6_scope_id ||
		       a->in6.sin6_scope_id == b->in6.sin6_scope_id;
	default:
		return false;
	}
}

/* "%eth0", or "%7" for an interface that is gone; "" without a scope. */
static void rcm_addr_scope_str(uint32_t scope, char buf[IF_NAMESIZE + 1])
{
	char name[IF_NAMESIZE];

	buf[0] = '\0';
	if (!scope)
		return;
	if (if_indextoname(scope, name))
		snprintf(buf, IF_NAMESIZE + 1, "%%%s", name);
	else
		snprintf(buf, IF_NAMESIZE + 1, "%%%u", scope);
}

const char *rcm_addr_str(const union rcm_addr *addr, char *buf)
{
	char host[INET6_ADDRSTRLEN] = "";
	char scope[IF_NAMESIZE + 1];

	switch (addr->sa.sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &addr->in.sin_addr, host, sizeof(host));
		snprintf(buf, RCM_ADDR_STR, "%s:%u", host, rcm_addr_port(addr));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &addr->in6.sin6_addr, host, sizeof(host));
		rcm_addr_scope_str(addr->in6.sin6_scope_id, scope);
		snprintf(buf, RCM_ADDR_STR, "[%s%s]:%u", host, scope,
			 rcm_addr_port(addr));
		break;
	default:
		snprintf(buf, RCM_ADDR_STR, "(address family %u)",
			 addr->sa.sa_family);
		break;
	}
	return buf;
}
