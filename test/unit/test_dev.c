/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rcm_dev.h"
#include "rcm_sys.h"

struct fi_provider *fi_prov_ini(void);

/*
 * A machine of which every part can be set: what fake/ does not need. The
 * devices are RoCE with one active port unless a test says otherwise.
 */
#define MAX_DEVS 4
#define MAX_GIDS 8
#define MAX_IFAS 24

static struct world {
	int n_devs;
	struct ibv_device devs[MAX_DEVS];
	struct ibv_context ctxs[MAX_DEVS];
	int open_errno[MAX_DEVS];
	int n_ports[MAX_DEVS];
	struct ibv_port_attr ports[MAX_DEVS][2];
	struct ibv_gid_entry gids[MAX_DEVS][MAX_GIDS];
	int n_gids[MAX_DEVS];
	int list_errno, query_err, gid_err, ifa_err;
	const char *uevent;

	int n_ifas;
	struct ifaddrs ifas[MAX_IFAS];
	char names[MAX_IFAS][16];
	union {
		union rcm_addr ip;
		char link[64];
	} addrs[MAX_IFAS];

	int opened, closed, listed, freed, ifa_got, ifa_freed;
} w;

static int index_of(struct ibv_context *ctx)
{
	return (int)(ctx - w.ctxs);
}

static struct ibv_device **w_get_device_list(int *n)
{
	struct ibv_device **list;

	*n = 0;
	if (w.list_errno) {
		errno = w.list_errno;
		return NULL;
	}
	list = calloc(MAX_DEVS + 1, sizeof(struct ibv_device *));
	for (*n = 0; *n < w.n_devs; (*n)++)
		list[*n] = &w.devs[*n];
	w.listed++;
	return list;
}

static void w_free_device_list(struct ibv_device **list)
{
	free(list);
	w.freed++;
	errno = EBADF; /* whoever looks at errno later is wrong */
}

static const char *w_get_device_name(struct ibv_device *device)
{
	return device->name;
}

static struct ibv_context *w_open_device(struct ibv_device *device)
{
	int i = (int)(device - w.devs);

	if (w.open_errno[i]) {
		errno = w.open_errno[i];
		return NULL;
	}
	w.opened++;
	return &w.ctxs[i];
}

static int w_close_device(struct ibv_context *ctx)
{
	(void)ctx;
	w.closed++;
	return 0;
}

static int w_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->phys_port_cnt = (uint8_t)w.n_ports[index_of(ctx)];
	attr->max_qp_wr = 1024;
	attr->vendor_id = 0x1234;
	strcpy(attr->fw_ver, "1.2.3");
	return w.query_err;
}

static int w_query_port(struct ibv_context *ctx, uint8_t port,
			struct ibv_port_attr *attr)
{
	*attr = w.ports[index_of(ctx)][port - 1];
	return 0;
}

static ssize_t w_query_gid_table(struct ibv_context *ctx,
				 struct ibv_gid_entry *entries, size_t max)
{
	int i = index_of(ctx);

	if (w.gid_err)
		return w.gid_err;
	cr_assert_geq(max, (size_t)w.n_gids[i]);
	memcpy(entries, w.gids[i], sizeof(*entries) * w.n_gids[i]);
	return w.n_gids[i];
}

static int w_get_ifaddrs(struct ifaddrs **list)
{
	if (w.ifa_err)
		return w.ifa_err;
	for (int i = 0; i < w.n_ifas; i++)
		w.ifas[i].ifa_next = i + 1 < w.n_ifas ? &w.ifas[i + 1] : NULL;
	*list = w.n_ifas ? w.ifas : NULL;
	w.ifa_got++;
	return 0;
}

static void w_free_ifaddrs(struct ifaddrs *list)
{
	(void)list;
	w.ifa_freed++;
}

static int w_read_sysfs(const char *path, char *buf, size_t len)
{
	if (!w.uevent ||
	    strcmp(path, "/sys/class/infiniband/dev0/device/uevent") != 0)
		return -FI_ENOENT;
	snprintf(buf, len, "%s", w.uevent);
	return 0;
}

static const struct rcm_sys world_sys = {
	.get_device_list = w_get_device_list,
	.free_device_list = w_free_device_list,
	.get_device_name = w_get_device_name,
	.open_device = w_open_device,
	.close_device = w_close_device,
	.query_device = w_query_device,
	.query_port = w_query_port,
	.query_gid_table = w_query_gid_table,
	.get_ifaddrs = w_get_ifaddrs,
	.free_ifaddrs = w_free_ifaddrs,
	.read_sysfs = w_read_sysfs,
};

static int add_dev(void)
{
	int i = w.n_devs++;

	snprintf(w.devs[i].name, sizeof(w.devs[i].name), "dev%d", i);
	w.devs[i].transport_type = IBV_TRANSPORT_IB;
	w.ctxs[i].async_fd = -1;
	w.n_ports[i] = 1;
	for (int p = 0; p < 2; p++) {
		w.ports[i][p].state = IBV_PORT_ACTIVE;
		w.ports[i][p].link_layer = IBV_LINK_LAYER_ETHERNET;
		w.ports[i][p].gid_tbl_len = MAX_GIDS;
		w.ports[i][p].max_msg_sz = 1000 + p;
	}
	return i;
}

static struct ibv_gid_entry *add_gid(int dev, int port, uint32_t ifindex)
{
	struct ibv_gid_entry *e = &w.gids[dev][w.n_gids[dev]];

	e->gid_index = (uint32_t)w.n_gids[dev]++;
	e->port_num = (uint32_t)port;
	e->ndev_ifindex = ifindex;
	return e;
}

/* A RoCE entry for an address. */
static void add_gid_ip(int dev, int port, uint32_t ifindex, const char *ip)
{
	union ibv_gid *gid = &add_gid(dev, port, ifindex)->gid;

	if (inet_pton(AF_INET6, ip, gid->raw) == 1)
		return;
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	cr_assert_eq(inet_pton(AF_INET, ip, gid->raw + 12), 1);
}

static struct ifaddrs *add_ifa(const char *name, unsigned int flags)
{
	struct ifaddrs *ifa = &w.ifas[w.n_ifas];

	snprintf(w.names[w.n_ifas], 16, "%s", name);
	ifa->ifa_name = w.names[w.n_ifas];
	ifa->ifa_flags = flags;
	ifa->ifa_addr = &w.addrs[w.n_ifas].ip.sa;
	w.n_ifas++;
	return ifa;
}

static void add_link(const char *name, unsigned int flags, uint32_t ifindex,
		     const void *hw, size_t len)
{
	struct sockaddr_ll *ll = (void *)add_ifa(name, flags)->ifa_addr;

	ll->sll_family = AF_PACKET;
	ll->sll_ifindex = (int)ifindex;
	ll->sll_halen = (unsigned char)len;
	memcpy((char *)ll + offsetof(struct sockaddr_ll, sll_addr), hw, len);
}

static void add_ip(const char *name, unsigned int flags, const char *ip)
{
	union rcm_addr *a = (void *)add_ifa(name, flags)->ifa_addr;

	if (inet_pton(AF_INET6, ip, &a->in6.sin6_addr) == 1)
		a->sa.sa_family = AF_INET6;
	else if (inet_pton(AF_INET, ip, &a->in.sin_addr) == 1)
		a->sa.sa_family = AF_INET;
	else
		cr_assert_fail("%s", ip);
}

static const uint8_t mac[20] = { 2, 0, 0, 0, 0, 1 };

/* dev0 on eth0, index 5, 10.0.0.1. */
static void simple(void)
{
	add_dev();
	add_gid_ip(0, 1, 5, "fe80::2ff:fe00:1");
	add_gid_ip(0, 1, 5, "10.0.0.1");
	add_link("eth0", IFF_UP, 5, mac, 6);
	add_ip("eth0", IFF_UP, "10.0.0.1");
}

static void setup(void)
{
	rcm_sys = &world_sys;
}

/* Nothing may stay open, whatever a test did. */
static void balanced(void)
{
	rcm_dev_list_reset();
	cr_assert_eq(w.opened, w.closed);
	cr_assert_eq(w.listed, w.freed);
	cr_assert_eq(w.ifa_got, w.ifa_freed);
}

static struct rcm_dev_list *get(void)
{
	struct rcm_dev_list *list = rcm_dev_list_get(false);

	cr_assert_not_null(list);
	return list;
}

static void expect_addrs(const struct rcm_dev *dev, const char *const *want)
{
	char text[RCM_ADDR_STR];
	unsigned int n = 0;

	for (; want[n]; n++) {
		cr_assert_lt(n, dev->n_addrs, "%s is missing", want[n]);
		rcm_addr_str(&dev->addrs[n].addr, text);
		cr_assert_str_eq(text, want[n]);
	}
	cr_assert_eq(dev->n_addrs, n);
}

/* The only device is left out for this reason. */
static void expect_reason(const char *reason)
{
	struct rcm_dev_list *list = get();

	cr_assert_eq(list->n, 1);
	cr_assert_not(list->devs[0].usable);
	cr_assert_str_eq(list->devs[0].reason, reason);
	cr_assert_eq(list->devs[0].n_addrs, 0);
	rcm_dev_list_put(list);
	balanced();
}

TestSuite(dev, .init = setup);

Test(dev, roce_device_has_the_addresses_of_its_netdev)
{
	struct rcm_dev_list *list;

	simple();
	add_ip("eth1", IFF_UP, "10.0.1.1");
	list = get();
	cr_assert_eq(list->n, 1);
	cr_assert(list->devs[0].usable);
	cr_assert_eq(list->devs[0].port_num, 1);
	cr_assert_eq(list->devs[0].port.max_msg_sz, 1000);
	cr_assert_eq(list->devs[0].gid.raw[0], 0xfe);
	cr_assert_str_eq(list->devs[0].addrs[0].ifname, "eth0");
	expect_addrs(&list->devs[0], (const char *[]){ "10.0.0.1:0", NULL });
	rcm_dev_list_put(list);
	balanced();
}

/* LF#2556: an alias address hid the device */
Test(dev, every_address_counts_also_behind_a_label)
{
	struct rcm_dev_list *list;

	simple();
	add_ip("eth0:1", IFF_UP, "10.0.0.2");
	add_ip("eth0", IFF_UP, "fe80::2ff:fe00:1");
	add_ip("eth0", IFF_UP, "169.254.1.1");
	add_ip("eth0", IFF_UP, "fd77::1");
	list = get();
	cr_assert_str_eq(list->devs[0].addrs[1].ifname, "eth0");
	expect_addrs(&list->devs[0],
		     (const char *[]){ "10.0.0.1:0", "10.0.0.2:0",
				       "[fd77::1]:0", "169.254.1.1:0",
				       "[fe80::2ff:fe00:1%5]:0", NULL });
	rcm_dev_list_put(list);
	balanced();
}

/* an address that was added a moment ago is not in the table yet */
Test(dev, one_known_address_proves_the_netdev)
{
	struct rcm_dev_list *list;

	add_dev();
	add_gid_ip(0, 1, 5, "fe80::2ff:fe00:1");
	add_link("eth0", IFF_UP, 5, mac, 6);
	add_ip("eth0", IFF_UP, "10.0.0.9");
	add_ip("eth0", IFF_UP, "fe80::2ff:fe00:1");
	list = get();
	expect_addrs(&list->devs[0],
		     (const char *[]){ "10.0.0.9:0", "[fe80::2ff:fe00:1%5]:0",
				       NULL });
	rcm_dev_list_put(list);
	balanced();
}

/* in a container another interface may have the index of one outside */
Test(dev, index_alone_proves_nothing)
{
	add_dev();
	add_gid_ip(0, 1, 5, "192.168.0.1");
	add_link("eth0", IFF_UP, 5, mac, 6);
	add_ip("eth0", IFF_UP, "172.17.0.2");
	expect_reason("no IP address on netdev eth0");
}

Test(dev, address_of_another_index_is_another_netdev)
{
	add_dev();
	add_gid_ip(0, 1, 77, "10.0.0.1");
	add_link("eth0", IFF_UP, 5, mac, 6);
	add_ip("eth0", IFF_UP, "10.0.0.1");
	expect_reason("no netdev here belongs to its port (is it in another "
		      "network namespace?)");
}

Test(dev, ipoib_netdev_is_found_by_its_link_address)
{
	struct rcm_dev_list *list;
	uint8_t hw[20] = { 0x80, 0, 1, 2 };

	add_dev();
	w.ports[0][0].link_layer = IBV_LINK_LAYER_INFINIBAND;
	for (int i = 4; i < 20; i++)
		hw[i] = (uint8_t)i;
	memcpy(&add_gid(0, 1, 0)->gid, hw + 4, 16);
	add_ip("ib0", IFF_UP, "10.0.0.1");
	add_link("ib0", IFF_UP, 5, hw, 20);
	add_ip("eth0", IFF_UP, "10.0.1.1");
	add_link("eth0", IFF_UP, 6, hw + 4, 6);
	list = get();
	expect_addrs(&list->devs[0], (const char *[]){ "10.0.0.1:0", NULL });
	rcm_dev_list_put(list);
	balanced();
}

Test(dev, iwarp_netdev_is_found_by_its_mac)
{
	struct rcm_dev_list *list;

	add_dev();
	w.devs[0].transport_type = IBV_TRANSPORT_IWARP;
	memcpy(add_gid(0, 1, 0)->gid.raw, mac, 6);
	add_link("eth0", IFF_UP, 5, mac, 6);
	add_ip("eth0", IFF_UP, "10.0.0.1");
	list = get();
	cr_assert(list->devs[0].iwarp);
	expect_addrs(&list->devs[0], (const char *[]){ "10.0.0.1:0", NULL });
	rcm_dev_list_put(list);
	balanced();
}

Test(dev, second_port_is_used_when_the_first_is_down)
{
	struct rcm_dev_list *list;

	add_dev();
	w.n_ports[0] = 2;
	w.ports[0][0].state = IBV_PORT_DOWN;
	add_gid_ip(0, 1, 5, "10.0.0.1");
	add_gid_ip(0, 2, 6, "10.0.1.1");
	add_link("eth0", IFF_UP, 5, mac, 6);
	add_ip("eth0", IFF_UP, "10.0.0.1");
	add_link("eth1", IFF_UP, 6, mac, 6);
	add_ip("eth1", IFF_UP, "10.0.1.1");
	list = get();
	cr_assert_eq(list->devs[0].port_num, 2);
	cr_assert_eq(list->devs[0].port.max_msg_sz, 1001);
	cr_assert_eq(list->devs[0].n_ports, 2);
	cr_assert_eq(rcm_dev_port(&list->devs[0], 2)->attr.max_msg_sz, 1001);
	cr_assert_null(rcm_dev_port(&list->devs[0], 3));
	expect_addrs(&list->devs[0], (const char *[]){ "10.0.1.1:0", NULL });
	rcm_dev_list_put(list);
	balanced();
}

Test(dev, bond_over_both_ports_is_listed_once)
{
	struct rcm_dev_list *list;

	add_dev();
	w.n_ports[0] = 2;
	add_gid_ip(0, 1, 5, "10.0.0.1");
	add_gid_ip(0, 2, 5, "10.0.0.1");
	add_link("bond0", IFF_UP, 5, mac, 6);
	add_ip("bond0", IFF_UP, "10.0.0.1");
	list = get();
	expect_addrs(&list->devs[0], (const char *[]){ "10.0.0.1:0", NULL });
	rcm_dev_list_put(list);
	balanced();
}

Test(dev, no_active_port_is_a_reason)
{
	simple();
	w.ports[0][0].state = IBV_PORT_INIT;
	expect_reason("no active port");
}

Test(dev, no_address_is_a_reason_that_names_the_netdev)
{
	add_dev();
	add_gid_ip(0, 1, 5, "fe80::2ff:fe00:1");
	add_link("eth0", IFF_UP, 5, mac, 6);
	expect_reason("no IP address on netdev eth0");
}

Test(dev, netdev_that_is_down_is_a_reason)
{
	add_dev();
	add_gid_ip(0, 1, 5, "10.0.0.1");
	add_link("eth0", 0, 5, mac, 6);
	add_ip("eth0", 0, "10.0.0.1");
	expect_reason("netdev eth0 is down");
}

Test(dev, loopback_is_left_out)
{
	add_dev();
	add_gid_ip(0, 1, 1, "10.0.0.1");
	add_link("lo", IFF_UP | IFF_LOOPBACK, 1, mac, 6);
	add_ip("lo", IFF_UP | IFF_LOOPBACK, "127.0.0.1");
	add_ip("lo", IFF_UP | IFF_LOOPBACK, "10.0.0.1");
	expect_reason("netdev lo is the loopback");
}

Test(dev, other_transports_are_left_out)
{
	simple();
	w.devs[0].transport_type = IBV_TRANSPORT_UNSPECIFIED;
	expect_reason("its transport has no connections of the RDMA "
		      "connection manager");
	cr_assert_eq(w.opened, 0);
}

Test(dev, query_that_fails_is_a_reason)
{
	simple();
	w.query_err = -FI_EIO;
	expect_reason("cannot query its attributes: Input/output error");
	w.query_err = 0;
	w.gid_err = -FI_EIO;
	expect_reason("cannot read its table of GIDs: Input/output error");
}

/* 27ab75864 in rdma-core: one forbidden device hid all the others */
Test(dev, device_that_cannot_be_opened_hides_no_other)
{
	struct rcm_dev_list *list;

	simple();
	add_dev();
	w.open_errno[1] = EACCES;
	add_dev();
	add_gid_ip(2, 1, 6, "10.0.1.1");
	add_link("eth1", IFF_UP, 6, mac, 6);
	add_ip("eth1", IFF_UP, "10.0.1.1");
	list = get();
	cr_assert_eq(list->n, 3);
	cr_assert(list->devs[0].usable);
	cr_assert_not(list->devs[1].usable);
	cr_assert_str_eq(list->devs[1].reason,
			 "cannot open it: Permission denied");
	cr_assert(list->devs[2].usable);
	rcm_dev_list_put(list);
	balanced();
}

Test(dev, want_of_memory_names_the_memlock_limit)
{
	struct rlimit limit = { 65536, 65536 };

	simple();
	w.open_errno[0] = ENOMEM;
	cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	expect_reason("cannot open it: Cannot allocate memory; the limit of "
		      "locked memory is 64 KiB");
}

Test(dev, no_device_is_a_reason_of_the_list)
{
	struct rcm_dev_list *list = get();

	cr_assert_eq(list->n, 0);
	cr_assert_str_eq(list->reason, "there is no RDMA device");
	rcm_dev_list_put(list);
	w.list_errno = ENOSYS;
	list = get();
	cr_assert_str_eq(list->reason, "cannot list RDMA devices: the kernel "
				       "has no RDMA support");
	rcm_dev_list_put(list);
	w.list_errno = EPERM;
	list = get();
	cr_assert_str_eq(list->reason,
			 "cannot list RDMA devices: Operation not permitted");
	rcm_dev_list_put(list);
	w.list_errno = 0;
	simple();
	w.ifa_err = -FI_EMFILE;
	list = get();
	cr_assert_str_eq(list->reason, "cannot list network interfaces: Too "
				       "many open files");
	rcm_dev_list_put(list);
	balanced();
}

Test(dev, picture_is_kept_until_a_rescan)
{
	struct rcm_dev_list *a, *b, *c;

	simple();
	a = get();
	b = get();
	cr_assert_eq(a, b);
	cr_assert_eq(w.listed, 1);
	add_dev();
	c = rcm_dev_list_get(true);
	cr_assert_neq(a, c);
	cr_assert_eq(c->n, 2);
	/* the old one lives while it is in use */
	cr_assert_str_eq(a->devs[0].name, "dev0");
	rcm_dev_list_put(a);
	rcm_dev_list_put(b);
	rcm_dev_list_put(c);
	rcm_dev_list_reset();
	rcm_dev_list_reset();
	balanced();
}

/* LF#10881: what came later was never seen */
Test(dev, picture_without_a_usable_device_is_not_kept)
{
	struct rcm_dev_list *list = get();

	cr_assert_eq(list->n, 0);
	rcm_dev_list_put(list);
	simple();
	list = get();
	cr_assert_eq(list->n, 1);
	rcm_dev_list_put(list);
	balanced();
}

Test(dev, find_takes_exact_names)
{
	struct rcm_dev_list *list;

	simple();
	list = get();
	cr_assert_not_null(rcm_dev_find(list, "dev0"));
	cr_assert_null(rcm_dev_find(list, "dev"));
	cr_assert_null(rcm_dev_find(list, "dev00"));
	rcm_dev_list_put(list);
	balanced();
}

Test(dev, open_makes_the_async_fd_not_block)
{
	struct ibv_context *ctx = NULL;
	int fds[2];

	simple();
	cr_assert_eq(pipe(fds), 0);
	w.ctxs[0].async_fd = fds[0];
	cr_assert_eq(rcm_dev_open("dev0", &ctx), 0);
	cr_assert_eq(ctx, &w.ctxs[0]);
	cr_assert(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
	w.closed++;
	balanced();
}

Test(dev, open_tells_why_not_and_leaves_nothing)
{
	struct ibv_context *ctx = NULL;

	simple();
	cr_assert_eq(rcm_dev_open("dev1", &ctx), -FI_ENODEV);
	w.open_errno[0] = EACCES;
	cr_assert_eq(rcm_dev_open("dev0", &ctx), -FI_EACCES);
	w.open_errno[0] = 0; /* async_fd is -1 */
	cr_assert_eq(rcm_dev_open("dev0", &ctx), -FI_EBADF);
	w.list_errno = ENOSYS;
	cr_assert_eq(rcm_dev_open("dev0", &ctx), -FI_ENOSYS);
	cr_assert_null(ctx);
	balanced();
}

Test(dev, nic_facts_come_from_the_bus)
{
	struct rcm_dev_list *list;

	simple();
	w.uevent = "DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:1017\n"
		   "PCI_SUBSYS_ID=15B3:0020\nPCI_SLOT_NAME=0000:3b:00.1";
	list = get();
	cr_assert_str_eq(list->devs[0].nic.driver, "mlx5_core");
	cr_assert_str_eq(list->devs[0].nic.vendor_id, "0x15b3");
	cr_assert_str_eq(list->devs[0].nic.device_id, "0x1017");
	cr_assert_str_eq(list->devs[0].nic.pci, "0000:3b:00.1");
	cr_assert_str_eq(list->devs[0].nic.firmware, "1.2.3");
	rcm_dev_list_put(list);
	balanced();
}

Test(dev, nic_facts_of_a_soft_device_are_its_own)
{
	struct rcm_dev_list *list;

	simple();
	list = get();
	cr_assert_str_eq(list->devs[0].nic.driver, "");
	cr_assert_str_eq(list->devs[0].nic.pci, "");
	cr_assert_str_eq(list->devs[0].nic.vendor_id, "0x1234");
	cr_assert_str_eq(list->devs[0].nic.device_id, "");
	rcm_dev_list_put(list);
	balanced();
}

Test(dev, nothing_is_said_at_the_default_level, .init = cr_redirect_stderr)
{
	struct fi_param *params;
	int n;

	setup();
	cr_assert_eq(fi_getparams(&params, &n), 0);
	fi_freeparams(params);
	cr_assert_not_null(fi_prov_ini());
	rcm_dev_list_put(get());
	simple();
	w.open_errno[0] = EACCES;
	rcm_dev_list_put(get());
	cr_assert_stderr_eq_str("");
	balanced();
}
