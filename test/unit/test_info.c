/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "rcm_attr.h"
#include "rcm_info.h"
#include "rcm_nic.h"
#include "rcm_offer.h"

/* One device by hand: what an info is made from is all in it. */
static struct rcm_dev_port ports[2];
static struct rcm_dev_addr addrs[3];
static struct rcm_dev dev;

static void set_ip(union rcm_addr *a, const char *ip, uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, ip, &a->in.sin_addr) == 1) {
		a->sa.sa_family = AF_INET;
	} else {
		cr_assert_eq(inet_pton(AF_INET6, ip, &a->in6.sin6_addr), 1);
		a->sa.sa_family = AF_INET6;
	}
	rcm_addr_set_port(a, port);
}

static void setup(void)
{
	for (uint8_t p = 0; p < 2; p++) {
		ports[p].num = (uint8_t)(p + 1);
		ports[p].attr.state = IBV_PORT_ACTIVE;
		ports[p].attr.link_layer = IBV_LINK_LAYER_ETHERNET;
		ports[p].attr.max_msg_sz = 1000u + p;
		ports[p].attr.active_mtu = IBV_MTU_1024;
		ports[p].attr.active_width = 2;
		ports[p].attr.active_speed = 32;
		ports[p].gid.raw[0] = 0xfe;
		ports[p].gid.raw[1] = 0x80;
		ports[p].gid.raw[15] = (uint8_t)(p + 1);
	}
	strcpy(dev.name, "mlx5_0");
	dev.attr.max_qp_wr = 1000;
	dev.attr.max_sge = 30;
	dev.attr.max_cq = 11;
	dev.attr.max_qp = 12;
	dev.attr.max_mr = 13;
	dev.attr.hw_ver = 7;
	dev.attr.atomic_cap = IBV_ATOMIC_HCA;
	dev.n_ports = 2;
	dev.ports = ports;
	dev.port_num = 1;
	dev.port = ports[0].attr;
	dev.gid = ports[0].gid;
	dev.usable = true;
	strcpy(dev.nic.driver, "mlx5_core");
	strcpy(dev.nic.firmware, "16.35.1");
	strcpy(dev.nic.vendor_id, "0x15b3");
	strcpy(dev.nic.device_id, "0x1017");
	strcpy(dev.nic.pci, "0001:3b:1f.7");
	set_ip(&addrs[0].addr, "10.0.0.1", 0);
	set_ip(&addrs[1].addr, "fe80::1", 0);
	addrs[1].addr.in6.sin6_scope_id = 5;
	set_ip(&addrs[2].addr, "10.0.1.1", 0);
	addrs[0].port_num = addrs[1].port_num = 1;
	addrs[2].port_num = 2;
	dev.n_addrs = 3;
	dev.addrs = addrs;
}

TestSuite(info, .init = setup);

static struct fi_info *make(unsigned int addr)
{
	struct fi_info *info = rcm_info_new(FI_VERSION(1, 17), &dev,
					    &addrs[addr]);

	cr_assert_not_null(info);
	return info;
}

Test(info, atomics_are_offered_where_the_device_has_them)
{
	static const struct {
		enum ibv_atomic_cap cap;
		bool offered;
	} rows[] = {
		{ IBV_ATOMIC_NONE, false },
		{ IBV_ATOMIC_HCA, true },
		{ IBV_ATOMIC_GLOB, true },
		{ (enum ibv_atomic_cap)77, false },
	};

	for (size_t i = 0; i < RCM_ARRAY_SIZE(rows); i++) {
		uint64_t want = rows[i].offered ? FI_ATOMIC : 0;
		struct fi_info *info;

		dev.attr.atomic_cap = rows[i].cap;
		info = make(0);
		cr_assert_eq(info->caps & FI_ATOMIC, want, "%zu", i);
		cr_assert_eq(info->tx_attr->caps & FI_ATOMIC, want, "%zu", i);
		cr_assert_eq(info->rx_attr->caps & FI_ATOMIC, want, "%zu", i);
		/* nor do hints that were granted elsewhere bring them back */
		rcm_info_narrow(info, FI_VERSION(1, 17), NULL);
		cr_assert_eq(info->caps & FI_ATOMIC, want, "%zu", i);
		fi_freeinfo(info);
	}
}

/* A listener's hints meet a device that has less. */
Test(info, modifiers_of_what_the_device_has_not_go_with_it)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	hints->caps = FI_MSG | FI_SEND | FI_ATOMIC | FI_READ | FI_REMOTE_WRITE;
	hints->domain_attr->mr_mode = RCM_MR_MODE;
	dev.attr.atomic_cap = IBV_ATOMIC_NONE;
	info = make(0);
	rcm_info_narrow(info, FI_VERSION(1, 17), hints);
	cr_assert_eq(info->caps, FI_MSG | FI_SEND | RCM_FREE_CAPS);
	cr_assert_eq(info->rx_attr->caps, 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

Test(info, every_attribute_is_filled_from_the_device)
{
	struct fi_info *i = make(0);

	cr_assert_eq(i->caps, RCM_CAPS);
	cr_assert_eq(i->mode, 0);
	cr_assert_eq(i->addr_format, FI_SOCKADDR_IN);
	cr_assert_eq(i->src_addrlen, sizeof(struct sockaddr_in));
	cr_assert_null(i->dest_addr);
	cr_assert_eq(i->dest_addrlen, 0);
	cr_assert_null(i->handle);
	cr_assert_eq(i->tx_attr->size, 384);
	cr_assert_eq(i->tx_attr->inject_size, 256);
	cr_assert_eq(i->tx_attr->iov_limit, 4);
	cr_assert_eq(i->tx_attr->rma_iov_limit, 1);
	cr_assert_eq(i->tx_attr->msg_order, RCM_MSG_ORDER);
	cr_assert_eq(i->rx_attr->size, 384);
	cr_assert_eq(i->rx_attr->iov_limit, 4);
	cr_assert_eq(i->rx_attr->msg_order, RCM_MSG_ORDER);
	cr_assert_eq(i->ep_attr->max_order_raw_size, 1000);
	cr_assert_eq(i->ep_attr->max_order_waw_size, 1000);
	cr_assert_eq(i->ep_attr->max_order_war_size, 0);
	cr_assert_eq(i->ep_attr->type, FI_EP_MSG);
	cr_assert_eq(i->ep_attr->protocol, FI_PROTO_RDMA_CM_IB_RC);
	cr_assert_eq(i->ep_attr->protocol_version, 1);
	cr_assert_eq(i->ep_attr->max_msg_size, 1000);
	cr_assert_eq(i->ep_attr->tx_ctx_cnt, 1);
	cr_assert_eq(i->ep_attr->rx_ctx_cnt, 1);
	cr_assert_str_eq(i->domain_attr->name, "mlx5_0");
	cr_assert_eq(i->domain_attr->threading, FI_THREAD_SAFE);
	cr_assert_eq(i->domain_attr->resource_mgmt, FI_RM_ENABLED);
	cr_assert_eq(i->domain_attr->cq_cnt, 11);
	cr_assert_eq(i->domain_attr->ep_cnt, 12);
	cr_assert_eq(i->domain_attr->mr_cnt, 13);
	cr_assert_eq(i->domain_attr->mr_key_size, 4);
	cr_assert_eq(i->domain_attr->mr_iov_limit, 1);
	cr_assert_eq(i->domain_attr->cq_data_size, 4);
	cr_assert_eq(i->domain_attr->max_ep_tx_ctx, 1);
	cr_assert_eq(i->domain_attr->max_ep_srx_ctx, 0);
	cr_assert_str_eq(i->fabric_attr->name, "RoCE");
	cr_assert_null(i->fabric_attr->prov_name, "the core fills it");
	fi_freeinfo(i);
}

Test(info, message_size_is_that_of_the_address_port)
{
	struct fi_info *i = make(2);

	cr_assert_eq(i->ep_attr->max_msg_size, 1001);
	fi_freeinfo(i);
}

Test(info, link_local_address_keeps_its_scope)
{
	struct fi_info *i = make(1);
	struct sockaddr_in6 *src = i->src_addr;

	cr_assert_eq(i->addr_format, FI_SOCKADDR_IN6);
	cr_assert_eq(i->src_addrlen, sizeof(*src));
	cr_assert_eq(src->sin6_scope_id, 5);
	fi_freeinfo(i);
}

Test(info, iwarp_has_its_protocol_and_no_immediate_data)
{
	struct fi_info *i;

	dev.iwarp = true;
	i = make(0);
	cr_assert_eq(i->ep_attr->protocol, FI_PROTO_IWARP);
	cr_assert_eq(i->domain_attr->cq_data_size, 0);
	cr_assert_str_eq(i->fabric_attr->name, "iWARP");
	fi_freeinfo(i);
}

/* the same hints are met by the same device with another transport */
Test(info, iwarp_offers_no_completion_level_beyond_injection)
{
	struct fi_info *h = fi_allocinfo(), *i;
	struct rcm_why why = { 0 };

	for (int iwarp = 0; iwarp < 2; iwarp++) {
		dev.iwarp = iwarp;
		i = make(0);
		h->tx_attr->op_flags = FI_TRANSMIT_COMPLETE;
		cr_assert_eq(rcm_attr_check_dev(h, i, &dev, &why),
			     iwarp ? -FI_ENODATA : 0);
		h->tx_attr->op_flags = FI_INJECT_COMPLETE;
		cr_assert_eq(rcm_attr_check_dev(h, i, &dev, &why), 0);
		fi_freeinfo(i);
	}
	fi_freeinfo(h);
}

Test(info, infiniband_fabric_is_named_after_its_subnet)
{
	struct fi_info *i;

	ports[0].attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
	ports[0].gid.raw[7] = 0x0b;
	i = make(0);
	cr_assert_str_eq(i->fabric_attr->name, "IB-0xfe8000000000000b");
	fi_freeinfo(i);
}

Test(info, device_without_limits_offers_nothing_it_has_not)
{
	struct fi_info *i;

	dev.attr.max_qp_wr = -1;
	dev.attr.max_sge = 0;
	dev.attr.max_mr = -5;
	i = make(0);
	cr_assert_eq(i->tx_attr->size, 0);
	cr_assert_eq(i->rx_attr->iov_limit, 0);
	cr_assert_eq(i->domain_attr->mr_cnt, 0);
	fi_freeinfo(i);
}

Test(info, address_of_no_port_gives_no_info)
{
	addrs[0].port_num = 9;
	cr_assert_null(rcm_info_new(FI_VERSION(1, 17), &dev, &addrs[0]));
}

Test(info, format_asked_for_is_kept_where_it_means_any_ip)
{
	struct fi_info *i = make(0);

	rcm_info_set_addrs(i, FI_SOCKADDR, &addrs[1].addr, NULL);
	cr_assert_eq(i->addr_format, FI_SOCKADDR);
	cr_assert_eq(i->src_addrlen, sizeof(struct sockaddr_in6));
	rcm_info_set_addrs(i, RCM_SOCKADDR_IP, &addrs[1].addr, NULL);
	cr_assert_eq(i->addr_format, RCM_SOCKADDR_IP);
	rcm_info_set_addrs(i, FI_FORMAT_UNSPEC, NULL, &addrs[0].addr);
	cr_assert_eq(i->addr_format, FI_SOCKADDR_IN);
	cr_assert_null(i->src_addr);
	cr_assert_eq(i->src_addrlen, 0);
	cr_assert_eq(i->dest_addrlen, sizeof(struct sockaddr_in));
	fi_freeinfo(i);
}

Test(info, connreq_takes_choices_from_the_listener_and_limits_from_the_device)
{
	struct fi_info *pep = make(0), *i;
	union rcm_addr src, dst, got;

	pep->tx_attr->size = 5000; /* more than this device has */
	pep->rx_attr->size = 64;
	pep->tx_attr->iov_limit = 40;
	pep->rx_attr->op_flags = FI_COMPLETION;
	pep->domain_attr->threading = FI_THREAD_DOMAIN;
	pep->caps = FI_MSG;
	pep->domain_attr->mr_mode = FI_MR_LOCAL;
	free(pep->domain_attr->name);
	pep->domain_attr->name = strdup("other");
	set_ip(&src, "10.0.1.1", 7471);
	set_ip(&dst, "10.0.1.2", 40000);
	i = rcm_info_connreq(pep, &dev, &src, &dst);
	cr_assert_not_null(i);
	cr_assert_eq(i->tx_attr->size, 999);
	cr_assert_eq(i->rx_attr->size, 64);
	cr_assert_eq(i->tx_attr->iov_limit, 30);
	cr_assert_eq(i->rx_attr->op_flags, FI_COMPLETION);
	cr_assert_eq(i->domain_attr->threading, FI_THREAD_DOMAIN);
	cr_assert_eq(i->domain_attr->mr_mode, FI_MR_LOCAL);
	cr_assert_str_eq(i->domain_attr->name, "mlx5_0");
	cr_assert_eq(i->ep_attr->max_msg_size, 1001, "of the address's port");
	cr_assert_eq(rcm_addr_read(&got, i->src_addr, i->src_addrlen), 0);
	cr_assert(rcm_addr_same_host(&got, &src));
	cr_assert_eq(rcm_addr_port(&got), 7471);
	cr_assert_eq(rcm_addr_read(&got, i->dest_addr, i->dest_addrlen), 0);
	cr_assert(rcm_addr_same_host(&got, &dst));
	cr_assert_null(i->handle);
	fi_freeinfo(i);
	fi_freeinfo(pep);
}

/* an info put together by hand may lack any part */
Test(info, connreq_works_with_a_bare_listener_info)
{
	struct fi_info pep = { .caps = FI_MSG };
	struct fi_info *i;
	union rcm_addr src, dst;

	set_ip(&src, "10.9.9.9", 1);
	set_ip(&dst, "10.9.9.8", 2);
	i = rcm_info_connreq(&pep, &dev, &src, &dst);
	cr_assert_not_null(i);
	cr_assert_eq(i->ep_attr->max_msg_size, 1000);
	cr_assert_eq(i->addr_format, FI_SOCKADDR_IN);
	fi_freeinfo(i);
	dev.usable = false;
	cr_assert_null(rcm_info_connreq(&pep, &dev, &src, &dst));
}

Test(info, nic_tells_what_is_known_of_the_device)
{
	struct fi_info *i = make(2);
	const struct fid_nic *nic = i->nic;

	cr_assert_not_null(nic);
	cr_assert_eq(nic->fid.fclass, FI_CLASS_NIC);
	cr_assert_str_eq(nic->device_attr->name, "mlx5_0");
	cr_assert_str_eq(nic->device_attr->device_id, "0x1017");
	cr_assert_str_eq(nic->device_attr->device_version, "7");
	cr_assert_str_eq(nic->device_attr->vendor_id, "0x15b3");
	cr_assert_str_eq(nic->device_attr->driver, "mlx5_core");
	cr_assert_str_eq(nic->device_attr->firmware, "16.35.1");
	cr_assert_eq(nic->bus_attr->bus_type, FI_BUS_PCI);
	cr_assert_eq(nic->bus_attr->attr.pci.domain_id, 1);
	cr_assert_eq(nic->bus_attr->attr.pci.bus_id, 0x3b);
	cr_assert_eq(nic->bus_attr->attr.pci.device_id, 0x1f);
	cr_assert_eq(nic->bus_attr->attr.pci.function_id, 7);
	cr_assert_str_eq(nic->link_attr->address, "fe80::2");
	cr_assert_eq(nic->link_attr->mtu, 1024);
	cr_assert_eq(nic->link_attr->speed, 100000000000);
	cr_assert_eq(nic->link_attr->state, FI_LINK_UP);
	cr_assert_str_eq(nic->link_attr->network_type, "Ethernet");
	cr_assert_null(nic->prov_attr);
	fi_freeinfo(i);
}

Test(info, nic_leaves_out_what_is_unknown)
{
	struct fi_info *i;

	memset(&dev.nic, 0, sizeof(dev.nic));
	ports[0].attr.active_speed = 0;
	ports[0].attr.active_mtu = 0;
	ports[0].attr.state = IBV_PORT_DOWN;
	i = make(0);
	cr_assert_null(i->nic->device_attr->driver);
	cr_assert_null(i->nic->device_attr->device_id);
	cr_assert_eq(i->nic->bus_attr->bus_type, FI_BUS_UNKNOWN);
	cr_assert_eq(i->nic->link_attr->speed, 0);
	cr_assert_eq(i->nic->link_attr->mtu, 0);
	cr_assert_eq(i->nic->link_attr->state, FI_LINK_DOWN);
	fi_freeinfo(i);
}

/* without it both infos would free one nic */
Test(info, duplicate_has_a_nic_of_its_own)
{
	struct fi_info *i = make(0), *dup = fi_dupinfo(i);

	cr_assert_not_null(dup);
	cr_assert_neq(dup->nic, i->nic);
	fi_freeinfo(i);
	cr_assert_str_eq(dup->nic->device_attr->driver, "mlx5_core");
	cr_assert_eq(dup->nic->bus_attr->attr.pci.bus_id, 0x3b);
	cr_assert_str_eq(dup->nic->link_attr->network_type, "Ethernet");
	fi_freeinfo(dup);
}

/* ofi_rxm copies a bare fid_nic together with its ops */
Test(info, nic_that_a_layer_put_together_is_freed_by_our_ops)
{
	struct fi_info *i = make(0);
	struct fid_nic *copy = calloc(1, sizeof(*copy));

	*copy = *i->nic;
	copy->device_attr = calloc(1, sizeof(*copy->device_attr));
	copy->device_attr->name = strdup("x");
	copy->bus_attr = NULL;
	copy->link_attr = NULL;
	cr_assert_eq(fi_close(&copy->fid), 0);
	cr_assert_eq(fi_control(&i->nic->fid, FI_GETWAIT, NULL), -FI_ENOSYS);
	cr_assert_eq(fi_control(&i->nic->fid, FI_DUP, NULL), -FI_ENOSYS);
	cr_assert_eq(i->nic->fid.ops->bind(&i->nic->fid, NULL, 0), -FI_ENOSYS);
	fi_freeinfo(i);
}

Test(info, printing_an_info_prints_its_nic)
{
	struct fi_info *i = make(0);
	char buf[8192] = "", small[16] = "";

	fi_tostr_r(buf, sizeof(buf), i, FI_TYPE_INFO);
	cr_assert_not_null(strstr(buf, "driver: mlx5_core"));
	cr_assert_not_null(strstr(buf, "address: 0001:3b:1f.7"));
	cr_assert_not_null(strstr(buf, "state: FI_LINK_UP"));
	cr_assert_not_null(strstr(buf, "domain_attr"), "what was there stays");
	i->nic->fid.ops->tostr(&i->nic->fid, small, sizeof(small));
	cr_assert_eq(strlen(small), sizeof(small) - 1);
	fi_freeinfo(i);
}

/* struct fi_domain_attr of 2.5 has the two at its very end */
Test(info, counters_have_all_bits_where_the_core_can_say_so)
{
	uint64_t words[28] = { 0 };

	rcm_info_set_cntr_max((struct fi_domain_attr *)words, FI_VERSION(2, 4));
	for (int i = 0; i < 28; i++)
		cr_assert_eq(words[i], 0);
	rcm_info_set_cntr_max((struct fi_domain_attr *)words, FI_VERSION(2, 5));
	for (int i = 0; i < 28; i++)
		cr_assert_eq(words[i], i < 26 ? 0 : UINT64_MAX);
}
