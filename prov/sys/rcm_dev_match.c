/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_dev_probe.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#define RCM_HW_IB  20 /* bytes of an IPoIB interface's link address */
#define RCM_HW_MAX 32

/* A network interface, with all that is known of it but its IP addresses. */
struct rcm_netdev {
	char name[16];
	unsigned int flags;
	uint32_t index; /* 0: unknown */
	uint8_t hw[RCM_HW_MAX];
	size_t hw_len;
};

/* What the search works on. */
struct rcm_match {
	struct rcm_dev *dev;
	const struct ibv_gid_entry *gids;
	size_t n_gids;
	const struct ifaddrs *ifs;
	struct rcm_netdev *nets;
	unsigned int n_nets;
};

/* The interface behind a name: an alias such as "eth0:1" belongs to eth0. */
static void rcm_netdev_name(char name[16], const struct ifaddrs *ifa)
{
	snprintf(name, 16, "%.*s", (int)strcspn(ifa->ifa_name, ":"),
		 ifa->ifa_name);
}

/*
 * sll_addr is declared with 8 bytes and holds as many as sll_halen says,
 * which is 20 on IPoIB.
 */
static void rcm_netdev_link(struct rcm_netdev *net, const struct sockaddr *sa)
{
	const char *raw = (const char *)sa;
	struct sockaddr_ll ll;

	memcpy(&ll, raw, sizeof(ll));
	net->index = (uint32_t)ll.sll_ifindex;
	net->hw_len = RCM_MIN(ll.sll_halen, RCM_HW_MAX);
	memcpy(net->hw, raw + offsetof(struct sockaddr_ll, sll_addr),
	       net->hw_len);
}

static struct rcm_netdev *rcm_match_net(struct rcm_match *m, const char *name)
{
	for (unsigned int i = 0; i < m->n_nets; i++) {
		if (!strcmp(m->nets[i].name, name))
			return &m->nets[i];
	}
	return NULL;
}

static int rcm_match_nets(struct rcm_match *m)
{
	const struct ifaddrs *ifa;
	size_t n = 1;

	for (ifa = m->ifs; ifa; ifa = ifa->ifa_next)
		n++;
	m->nets = calloc(n, sizeof(*m->nets));
	if (!m->nets)
		return -FI_ENOMEM;
	for (ifa = m->ifs; ifa; ifa = ifa->ifa_next) {
		struct rcm_netdev *net;
		char name[16];

		rcm_netdev_name(name, ifa);
		net = rcm_match_net(m, name);
		if (!net) {
			net = &m->nets[m->n_nets++];
			memcpy(net->name, name, sizeof(net->name));
			net->flags = ifa->ifa_flags;
		}
		if (ifa->ifa_addr && ifa->ifa_addr->sa_family == AF_PACKET)
			rcm_netdev_link(net, ifa->ifa_addr);
	}
	return 0;
}

/* The GID of an address on RoCE: itself, or IPv4 as IPv4-mapped IPv6. */
static void rcm_gid_of_addr(union ibv_gid *gid, const union rcm_addr *addr)
{
	memset(gid, 0, sizeof(*gid));
	if (addr->sa.sa_family == AF_INET6) {
		memcpy(gid->raw, &addr->in6.sin6_addr, sizeof(gid->raw));
		return;
	}
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, &addr->in.sin_addr, 4);
}

/* Reads an IP address of interface NET; false for anything else. */
static bool rcm_match_addr(const struct ifaddrs *ifa,
			   const struct rcm_netdev *net, union rcm_addr *addr)
{
	char name[16];

	if (!ifa->ifa_addr ||
	    rcm_addr_read(addr, ifa->ifa_addr, rcm_addr_len(ifa->ifa_addr)))
		return false;
	rcm_netdev_name(name, ifa);
	if (strcmp(name, net->name) != 0 || rcm_addr_is_loopback(addr))
		return false;
	rcm_addr_set_port(addr, 0);
	if (rcm_addr_is_link_local(addr) && !addr->in6.sin6_scope_id)
		addr->in6.sin6_scope_id = net->index;
	return true;
}

/* RoCE: PORT has the GID of one of the interface's addresses. */
static bool rcm_match_roce(const struct rcm_match *m, uint8_t port,
			   const struct rcm_netdev *net)
{
	const struct ifaddrs *ifa;
	union rcm_addr addr;
	union ibv_gid gid;

	for (ifa = m->ifs; ifa; ifa = ifa->ifa_next) {
		if (!rcm_match_addr(ifa, net, &addr))
			continue;
		rcm_gid_of_addr(&gid, &addr);
		for (size_t g = 0; g < m->n_gids; g++) {
			const struct ibv_gid_entry *e = &m->gids[g];

			/*
			 * The index alone proves nothing: in a container it
			 * may be that of an interface outside.
			 */
			if (e->port_num == port &&
			    (!e->ndev_ifindex || !net->index ||
			     e->ndev_ifindex == net->index) &&
			    !memcmp(&e->gid, &gid, sizeof(gid)))
				return true;
		}
	}
	return false;
}

/*
 * InfiniBand: the link address of an IPoIB interface ends with the GID of
 * its port. iWARP: the GID of a port begins with its MAC address.
 */
static bool rcm_match_hw(const struct rcm_match *m, uint8_t port,
			 const struct rcm_netdev *net)
{
	const uint8_t *hw = net->hw;
	size_t len = net->hw_len;

	if (m->dev->iwarp) {
		if (len != 6)
			return false;
	} else {
		if (len != RCM_HW_IB)
			return false;
		hw += RCM_HW_IB - sizeof(union ibv_gid);
		len = sizeof(union ibv_gid);
	}
	for (size_t g = 0; g < m->n_gids; g++) {
		if (m->gids[g].port_num == port &&
		    !memcmp(m->gids[g].gid.raw, hw, len))
			return true;
	}
	return false;
}

static bool rcm_match_owns(const struct rcm_match *m,
			   const struct rcm_dev_port *port,
			   const struct rcm_netdev *net)
{
	if (m->dev->iwarp || port->attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		return rcm_match_hw(m, port->num, net);
	return rcm_match_roce(m, port->num, net);
}

/* 0 for the address to prefer. */
static int rcm_match_rank(const union rcm_addr *addr)
{
	if (addr->sa.sa_family == AF_INET)
		return ntohl(addr->in.sin_addr.s_addr) >> 16 == 0xa9fe ? 2 : 0;
	return rcm_addr_is_link_local(addr) ? 3 : 1;
}

/* Keeps the order of the interface list among addresses of one rank. */
static void rcm_match_insert(struct rcm_dev *dev, const struct rcm_dev_addr *a)
{
	int rank = rcm_match_rank(&a->addr);
	unsigned int i = dev->n_addrs++;

	for (; i && rcm_match_rank(&dev->addrs[i - 1].addr) > rank; i--)
		dev->addrs[i] = dev->addrs[i - 1];
	dev->addrs[i] = *a;
}

static bool rcm_match_known(const struct rcm_dev *dev, const char *ifname)
{
	for (unsigned int i = 0; i < dev->n_addrs; i++) {
		if (!strcmp(dev->addrs[i].ifname, ifname))
			return true;
	}
	return false;
}

static int rcm_match_take(struct rcm_match *m, const struct rcm_dev_port *port,
			  const struct rcm_netdev *net)
{
	struct rcm_dev_addr a = { .port_num = port->num };
	struct rcm_dev *dev = m->dev;
	const struct ifaddrs *ifa;
	struct rcm_dev_addr *grown;

	memcpy(a.ifname, net->name, sizeof(a.ifname));
	for (ifa = m->ifs; ifa; ifa = ifa->ifa_next) {
		if (!rcm_match_addr(ifa, net, &a.addr))
			continue;
		grown = realloc(dev->addrs,
				(dev->n_addrs + 1) * sizeof(*grown));
		if (!grown)
			return -FI_ENOMEM;
		dev->addrs = grown;
		rcm_match_insert(dev, &a);
	}
	return 0;
}

static int rcm_match_port(struct rcm_match *m, const struct rcm_dev_port *port)
{
	struct rcm_dev *dev = m->dev;
	unsigned int had = dev->n_addrs;

	for (unsigned int i = 0; i < m->n_nets; i++) {
		const struct rcm_netdev *net = &m->nets[i];
		int ret;

		/* a bond may show at each of its ports: once is enough */
		if (!(net->flags & IFF_UP) || net->flags & IFF_LOOPBACK ||
		    rcm_match_known(dev, net->name) ||
		    !rcm_match_owns(m, port, net))
			continue;
		ret = rcm_match_take(m, port, net);
		if (ret)
			return ret;
	}
	if (!had && dev->n_addrs) {
		dev->port_num = port->num;
		dev->port = port->attr;
		dev->gid = port->gid;
	}
	return 0;
}

/* The interface of an active port that has no address, for the reason. */
static const struct rcm_netdev *rcm_match_bare(const struct rcm_match *m)
{
	for (unsigned int p = 0; p < m->dev->n_ports; p++) {
		const struct rcm_dev_port *port = &m->dev->ports[p];

		if (port->attr.state != IBV_PORT_ACTIVE)
			continue;
		for (unsigned int i = 0; i < m->n_nets; i++) {
			if (rcm_match_owns(m, port, &m->nets[i]))
				return &m->nets[i];
		}
	}
	for (size_t g = 0; g < m->n_gids; g++) {
		for (unsigned int i = 0; i < m->n_nets; i++) {
			if (m->nets[i].index &&
			    m->nets[i].index == m->gids[g].ndev_ifindex)
				return &m->nets[i];
		}
	}
	return NULL;
}

static void rcm_match_none(struct rcm_match *m)
{
	const struct rcm_netdev *net = rcm_match_bare(m);

	if (!net)
		rcm_dev_leave_out(m->dev,
				  "no netdev here belongs to its port (is it "
				  "in another network namespace?)");
	else if (net->flags & IFF_LOOPBACK)
		rcm_dev_leave_out(m->dev, "netdev %s is the loopback",
				  net->name);
	else if (!(net->flags & IFF_UP))
		rcm_dev_leave_out(m->dev, "netdev %s is down", net->name);
	else
		rcm_dev_leave_out(m->dev, "no IP address on netdev %s",
				  net->name);
}

int rcm_dev_match(struct rcm_dev *dev, const struct ibv_gid_entry *gids,
		  size_t n, const struct ifaddrs *ifs)
{
	struct rcm_match m = {
		.dev = dev, .gids = gids, .n_gids = n, .ifs = ifs
	};
	int ret = rcm_match_nets(&m);

	for (unsigned int i = 0; !ret && i < dev->n_ports; i++) {
		if (dev->ports[i].attr.state == IBV_PORT_ACTIVE)
			ret = rcm_match_port(&m, &dev->ports[i]);
	}
	if (!ret && !dev->n_addrs)
		rcm_match_none(&m);
	free(m.nets);
	return ret;
}
