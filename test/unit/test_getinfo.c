/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <netdb.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "rcm_addr.h"
#include "rcm_dev.h"
#include "rcm_fabric.h"
#include "rcm_getinfo.h"
#include "rcm_info.h"
#include "rcm_nic.h"
#include "rcm_offer.h"
#include "rcm_route.h"

struct fi_provider *fi_prov_ini(void);

#define API FI_VERSION(1, 17)

/* Two devices; the first has a link-local address, too. */
static const struct fake_dev_conf two[] = {
	{ .name = "rxe0",
	  .ifname = "eth0",
	  .addrs = { "10.0.0.1", "fd77::1", "fe80::1" } },
	{ .name = "rxe1", .ifname = "eth1", .addrs = { "10.0.1.1" } },
};

/*
 * The routes: to 10.0.0.0/24 and fd77:: from rxe0, to 10.0.1.0/24 from rxe1,
 * to 10.0.9.0/24 from an interface without RDMA, elsewhere none.
 */
static int routes_asked;

static void ip(union rcm_addr *a, const char *text)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->in.sin_addr) == 1) {
		a->sa.sa_family = AF_INET;
	} else {
		cr_assert_eq(inet_pton(AF_INET6, text, &a->in6.sin6_addr), 1);
		a->sa.sa_family = AF_INET6;
	}
}

static int test_route(const union rcm_addr *dst, union rcm_addr *src)
{
	routes_asked++;
	if (dst->sa.sa_family == AF_INET6) {
		if (rcm_addr_is_link_local(dst) && !dst->in6.sin6_scope_id)
			return -FI_EINVAL;
		ip(src, rcm_addr_is_link_local(dst) ? "fe80::1" : "fd77::1");
		src->in6.sin6_scope_id = dst->in6.sin6_scope_id;
		return 0;
	}
	switch (ntohl(dst->in.sin_addr.s_addr) >> 8) {
	case 0x0a0000:
		ip(src, "10.0.0.1");
		return 0;
	case 0x0a0001:
		ip(src, "10.0.1.1");
		return 0;
	case 0x0a0009:
		ip(src, "192.168.1.1");
		return 0;
	default:
		return -FI_ENETUNREACH;
	}
}

/* The name service of this program; what it is asked is counted. */
static int names_asked;

int getaddrinfo(const char *node, const char *service,
		const struct addrinfo *hints, struct addrinfo **res)
{
	static struct {
		struct addrinfo ai;
		union rcm_addr addr;
	} found[2];
	char *end;
	long port = service ? strtol(service, &end, 10) : 0;

	memset(found, 0, sizeof(found));
	*res = &found[0].ai;
	if (service && !strcmp(service, "rdma"))
		port = 20049;
	else if (service && *end)
		return EAI_SERVICE;
	if (inet_pton(AF_INET, node, &found[0].addr.in.sin_addr) == 1) {
		found[0].addr.sa.sa_family = AF_INET;
	} else if (!strncmp(node, "fe80::2", 7)) {
		ip(&found[0].addr, "fe80::2");
		found[0].addr.in6.sin6_scope_id = node[7] ? 7000 : 0;
	} else if (inet_pton(AF_INET6, node, &found[0].addr.in6.sin6_addr) ==
		   1) {
		found[0].addr.sa.sa_family = AF_INET6;
	} else if (hints->ai_flags & AI_NUMERICHOST) {
		return EAI_NONAME;
	} else {
		names_asked++;
		if (!strcmp(node, "unixhost"))
			found[0].addr.sa.sa_family = AF_UNIX;
		else if (!strcmp(node, "localhost"))
			ip(&found[0].addr, "127.0.0.1");
		else if (!strcmp(node, "both")) /* the first is out of reach */
			ip(&found[0].addr, "10.0.9.9");
		else
			return EAI_NONAME;
		ip(&found[1].addr, "10.0.1.5");
		if (!strcmp(node, "both"))
			found[0].ai.ai_next = &found[1].ai;
	}
	for (int i = 0; i < 2; i++) {
		found[i].ai.ai_addr = &found[i].addr.sa;
		found[i].ai.ai_addrlen = sizeof(found[i].addr);
		rcm_addr_set_port(&found[i].addr, (uint16_t)port);
	}
	if (hints->ai_family && hints->ai_family != found[0].addr.sa.sa_family)
		return hints->ai_flags & AI_NUMERICHOST ? EAI_ADDRFAMILY :
							  EAI_NODATA;
	return 0;
}

void freeaddrinfo(struct addrinfo *res)
{
	(void)res;
}

static struct fi_info *hints;

static void setup(void)
{
	fake_install_devs(two, 2);
	rcm_route_source = test_route;
	hints = fi_allocinfo();
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
}

static void teardown(void)
{
	fi_freeinfo(hints);
	rcm_dev_list_reset();
	if (fake_remove())
		abort();
}

TestSuite(getinfo, .init = setup, .fini = teardown);

/* "device source>destination", joined with spaces; "" for no match. */
static const char *ask(const char *node, const char *service, uint64_t flags)
{
	static char text[1024];
	struct fi_info *info = hints, *i;
	int ret = rcm_getinfo(API, node, service, flags, hints, &info);

	cr_assert_eq(ret, info ? 0 : -FI_ENODATA);
	text[0] = '\0';
	for (i = info; i; i = i->next) {
		char src[RCM_ADDR_STR], dst[RCM_ADDR_STR] = "-";
		size_t used = strlen(text);
		union rcm_addr a;

		cr_assert_eq(rcm_addr_read(&a, i->src_addr, i->src_addrlen), 0);
		rcm_addr_str(&a, src);
		if (i->dest_addr) {
			cr_assert_eq(rcm_addr_read(&a, i->dest_addr,
						   i->dest_addrlen),
				     0);
			rcm_addr_str(&a, dst);
		}
		snprintf(text + used, sizeof(text) - used, "%s%s %s>%s",
			 used ? " " : "", i->domain_attr->name, src, dst);
	}
	fi_freeinfo(info);
	return text;
}

static void hint_src(const char *addr, uint16_t port)
{
	union rcm_addr a;

	ip(&a, addr);
	rcm_addr_set_port(&a, port);
	free(hints->src_addr);
	hints->src_addrlen = rcm_addr_len(&a.sa);
	hints->src_addr = malloc(hints->src_addrlen);
	memcpy(hints->src_addr, &a, hints->src_addrlen);
}

static void hint_dst(const char *addr, uint16_t port)
{
	union rcm_addr a;

	ip(&a, addr);
	rcm_addr_set_port(&a, port);
	free(hints->dest_addr);
	hints->dest_addrlen = rcm_addr_len(&a.sa);
	hints->dest_addr = malloc(hints->dest_addrlen);
	memcpy(hints->dest_addr, &a, hints->dest_addrlen);
}

static void hint_domain(const char *name)
{
	free(hints->domain_attr->name);
	hints->domain_attr->name = name ? strdup(name) : NULL;
}

/* LF#229: empty hints list everything */
Test(getinfo, nothing_asked_lists_every_address_of_every_device)
{
	struct fi_info *info;
	int n = 0;

	cr_assert_str_eq(ask(NULL, NULL, 0),
			 "rxe0 10.0.0.1:0>- rxe0 [fd77::1]:0>- "
			 "rxe0 [fe80::1%7000]:0>- rxe1 10.0.1.1:0>-");
	cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, NULL, &info), 0);
	for (struct fi_info *i = info; i; i = i->next)
		n++;
	cr_assert_eq(n, 4);
	fi_freeinfo(info);
	cr_assert_eq(names_asked, 0);
	cr_assert_eq(routes_asked, 0);
}

/* 7ba821f4b and others: fi_info -l in a CI without a device */
Test(getinfo, attributes_only_need_no_device)
{
	struct fi_info *info;

	fake_set_devs(NULL, 0);
	cr_assert_eq(rcm_getinfo(API, NULL, NULL, FI_PROV_ATTR_ONLY, NULL,
				 &info),
		     0);
	cr_assert_not_null(info);
	cr_assert_not_null(info->fabric_attr);
	cr_assert_null(info->next);
	fi_freeinfo(info);
	cr_assert_eq(fake_calls(), 0);
}

Test(getinfo, hints_of_other_providers_touch_no_device)
{
	hints->ep_attr->type = FI_EP_RDM;
	cr_assert_str_eq(ask("10.0.0.2", "7471", 0), "");
	cr_assert_eq(fake_calls(), 0);
	cr_assert_eq(routes_asked, 0);
}

Test(getinfo, private_flags_of_the_core_are_passed_over)
{
	hints->caps = FI_MSG;
	cr_assert_str_neq(ask(NULL, NULL, 0xfULL << 58), "");
}

/* LF#10881 */
Test(getinfo, rescan_sees_a_new_device)
{
	hint_domain("rxe2");
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
	fake_set_devs(&(struct fake_dev_conf){ .name = "rxe2",
					       .addrs = { "10.0.2.1" } },
		      1);
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
	cr_assert_str_eq(ask(NULL, NULL, RCM_GETINFO_RESCAN),
			 "rxe2 10.0.2.1:0>-");
}

Test(getinfo, destination_is_reached_from_the_source_of_its_route)
{
	cr_assert_str_eq(ask("10.0.0.2", "7471", 0),
			 "rxe0 10.0.0.1:0>10.0.0.2:7471");
	cr_assert_str_eq(ask("10.0.1.2", NULL, 0),
			 "rxe1 10.0.1.1:0>10.0.1.2:0");
	cr_assert_str_eq(ask("fd77::2", "1", 0),
			 "rxe0 [fd77::1]:0>[fd77::2]:1");
	cr_assert_str_eq(ask("10.0.9.2", "1", 0), "");
	cr_assert_str_eq(ask("10.5.0.2", "1", 0), "");
	cr_assert_eq(names_asked, 0, "a number is no name");
}

Test(getinfo, own_address_is_reached_through_its_device)
{
	cr_assert_str_eq(ask("10.0.1.1", "7471", 0),
			 "rxe1 10.0.1.1:0>10.0.1.1:7471");
}

/* LF#2858 */
Test(getinfo, loopback_is_no_destination)
{
	cr_assert_str_eq(ask("127.0.0.1", "7471", 0), "");
	cr_assert_str_eq(ask("::1", "7471", 0), "");
	cr_assert_str_eq(ask("localhost", "7471", 0), "");
	cr_assert_str_eq(ask(NULL, "7471", 0), "");
	cr_assert_str_eq(ask("0.0.0.0", "7471", 0), "");
	cr_assert_eq(routes_asked, 0);
}

Test(getinfo, device_asked_for_has_the_say_over_the_route)
{
	hint_domain("rxe0");
	cr_assert_str_eq(ask("10.0.1.2", "1", 0), "rxe0 10.0.0.1:0>10.0.1.2:1");
	cr_assert_str_eq(ask("10.5.0.2", "1", 0), "rxe0 10.0.0.1:0>10.5.0.2:1");
	hint_domain("rxe");
	cr_assert_str_eq(ask("10.0.1.2", "1", 0), "");
	hint_domain("rxe00");
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
}

Test(getinfo, route_decides_the_order_among_addresses_of_a_device)
{
	const struct fake_dev_conf conf = {
		.name = "rxe0",
		.addrs = { "10.0.7.1", "10.0.0.1" },
	};

	fake_set_devs(&conf, 1);
	hint_domain("rxe0");
	cr_assert_str_eq(ask("10.0.0.2", "1", 0), "rxe0 10.0.0.1:0>10.0.0.2:1 "
						  "rxe0 10.0.7.1:0>10.0.0.2:1");
}

/* PR#617, PR#504: a client that binds itself */
Test(getinfo, source_in_the_hints_is_bound)
{
	hint_src("10.0.0.1", 0);
	cr_assert_str_eq(ask(NULL, NULL, 0), "rxe0 10.0.0.1:0>-");
	cr_assert_str_eq(ask("10.0.1.2", "1", 0), "rxe0 10.0.0.1:0>10.0.1.2:1");
	hint_src("10.0.0.1", 999);
	cr_assert_str_eq(ask("10.0.0.2", "1", 0),
			 "rxe0 10.0.0.1:999>10.0.0.2:1");
	hint_src("10.0.0.77", 0);
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
	hint_src("fd77::1", 0);
	cr_assert_str_eq(ask("10.0.0.2", "1", 0), "", "families differ");
}

/* LF#4186, LF#3554 */
Test(getinfo, address_and_device_that_do_not_belong_together_do_not_match)
{
	hint_domain("rxe1");
	hint_src("10.0.0.1", 0);
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
	cr_assert_str_eq(ask("10.0.0.1", "7471", FI_SOURCE), "");
	hint_src("10.0.1.1", 0);
	cr_assert_str_eq(ask(NULL, NULL, 0), "rxe1 10.0.1.1:0>-");
}

Test(getinfo, destination_in_the_hints_counts_without_a_node)
{
	hint_dst("10.0.1.9", 5);
	cr_assert_str_eq(ask(NULL, NULL, 0), "rxe1 10.0.1.1:0>10.0.1.9:5");
	cr_assert_str_eq(ask("10.0.0.2", "1", 0), "rxe0 10.0.0.1:0>10.0.0.2:1");
	cr_assert_str_eq(ask("10.0.1.1", "8", FI_SOURCE),
			 "rxe1 10.0.1.1:8>10.0.1.9:5");
}

Test(getinfo, source_flag_makes_node_and_service_local)
{
	hint_src("10.0.1.1", 4); /* to be ignored, says the manual */
	cr_assert_str_eq(ask("10.0.0.1", "7471", FI_SOURCE),
			 "rxe0 10.0.0.1:7471>-");
	cr_assert_str_eq(ask("10.0.0.99", "7471", FI_SOURCE), "");
	cr_assert_str_eq(ask(NULL, "7471", FI_SOURCE),
			 "rxe0 10.0.0.1:7471>- rxe0 [fd77::1]:7471>- "
			 "rxe0 [fe80::1%7000]:7471>- rxe1 10.0.1.1:7471>-");
	cr_assert_eq(names_asked, 0);
}

/* 7e6fe424f */
Test(getinfo, source_flag_alone_is_as_none)
{
	cr_assert_str_eq(ask(NULL, NULL, FI_SOURCE),
			 "rxe0 10.0.0.1:0>- rxe0 [fd77::1]:0>- "
			 "rxe0 [fe80::1%7000]:0>- rxe1 10.0.1.1:0>-");
}

/* 575075e10, adbe51c9a */
Test(getinfo, wildcard_stays_and_comes_with_each_device)
{
	cr_assert_str_eq(ask("0.0.0.0", "7471", FI_SOURCE),
			 "rxe0 0.0.0.0:7471>- rxe1 0.0.0.0:7471>-");
	cr_assert_str_eq(ask("::", "7471", FI_SOURCE), "rxe0 [::]:7471>-");
	hint_src("0.0.0.0", 5);
	cr_assert_str_eq(ask(NULL, NULL, 0),
			 "rxe0 0.0.0.0:5>- rxe1 0.0.0.0:5>-");
	hint_domain("rxe1");
	cr_assert_str_eq(ask(NULL, NULL, 0), "rxe1 0.0.0.0:5>-");
}

Test(getinfo, wildcard_source_of_a_connection_is_made_concrete)
{
	hint_src("0.0.0.0", 5);
	cr_assert_str_eq(ask("10.0.1.2", "1", 0), "rxe1 10.0.1.1:5>10.0.1.2:1");
}

/* LF#9443 and others */
Test(getinfo, address_format_filters)
{
	hints->addr_format = FI_SOCKADDR_IN;
	cr_assert_str_eq(ask(NULL, NULL, 0),
			 "rxe0 10.0.0.1:0>- rxe1 10.0.1.1:0>-");
	cr_assert_str_eq(ask("fd77::2", "1", 0), "");
	hints->addr_format = FI_SOCKADDR_IN6;
	cr_assert_str_eq(ask(NULL, NULL, 0),
			 "rxe0 [fd77::1]:0>- rxe0 [fe80::1%7000]:0>-");
	cr_assert_str_eq(ask("10.0.0.2", "1", 0), "");
	hint_src("10.0.0.1", 0);
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
}

Test(getinfo, any_ip_format_takes_both_families_and_is_echoed)
{
	static const uint32_t formats[] = { FI_SOCKADDR, RCM_SOCKADDR_IP };

	for (int f = 0; f < 2; f++) {
		struct fi_info *info;
		int n = 0;

		hints->addr_format = formats[f];
		cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, hints, &info), 0);
		for (struct fi_info *i = info; i; i = i->next, n++)
			cr_assert_eq(i->addr_format, formats[f]);
		cr_assert_eq(n, 4);
		fi_freeinfo(info);
	}
}

/* LF#5466 */
Test(getinfo, link_local_scope_is_kept)
{
	cr_assert_str_eq(ask("fe80::2%eth0", "1", 0),
			 "rxe0 [fe80::1%7000]:0>[fe80::2%7000]:1");
	cr_assert_str_eq(ask("fe80::2", "1", 0), "");
	hint_domain("rxe0"); /* which has but one link */
	cr_assert_str_eq(ask("fe80::2", "1", 0),
			 "rxe0 [fe80::1%7000]:0>[fe80::2%7000]:1");
	hint_domain("rxe1");
	cr_assert_str_eq(ask("fe80::2%eth0", "1", 0), "");
}

Test(getinfo, names_are_asked_for_once_and_only_when_allowed)
{
	cr_assert_str_eq(ask("both", "1", FI_NUMERICHOST), "");
	cr_assert_eq(names_asked, 0);
	cr_assert_str_eq(ask("both", "1", 0), "rxe1 10.0.1.1:0>10.0.1.5:1");
	cr_assert_eq(names_asked, 1);
	cr_assert_str_eq(ask("nobody", "1", 0), "");
	cr_assert_str_eq(ask("unixhost", "1", 0), "");
}

Test(getinfo, service_may_have_a_name)
{
	cr_assert_str_eq(ask("10.0.0.2", "rdma", 0),
			 "rxe0 10.0.0.1:0>10.0.0.2:20049");
	hint_domain("rxe1");
	cr_assert_str_eq(ask(NULL, "rdma", FI_SOURCE), "rxe1 10.0.1.1:20049>-");
	cr_assert_str_eq(ask("10.0.0.2", "nonsense", 0), "");
	cr_assert_str_eq(ask(NULL, "nonsense", FI_SOURCE), "");
	cr_assert_eq(names_asked, 0);
}

/* of another provider, perhaps: no reason to fail the whole call loudly */
Test(getinfo, address_that_is_no_ip_address_does_not_match)
{
	hint_src("10.0.0.1", 0);
	hints->src_addrlen = 3;
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
	hints->src_addrlen = sizeof(struct sockaddr_in);
	((struct sockaddr *)hints->src_addr)->sa_family = AF_UNIX;
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
	hint_src("10.0.0.1", 0);
	hint_dst("10.0.0.2", 0);
	((struct sockaddr *)hints->dest_addr)->sa_family = AF_UNIX;
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
}

Test(getinfo, nic_of_an_info_filters_like_its_device)
{
	struct fi_info *info;

	hint_domain("rxe1");
	cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, hints, &info), 0);
	hint_domain(NULL);
	hints->nic = info->nic;
	info->nic = NULL;
	fi_freeinfo(info);
	cr_assert_str_eq(ask(NULL, NULL, 0), "rxe1 10.0.1.1:0>-");
}

Test(getinfo, handle_of_a_passive_endpoint_is_passed_on)
{
	struct fid_pep pep = { .fid.fclass = FI_CLASS_PEP };
	struct fi_info *info;

	hints->handle = &pep.fid;
	cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, hints, &info), 0);
	cr_assert_eq(info->handle, &pep.fid);
	fi_freeinfo(info);
	pep.fid.fclass = FI_CLASS_EP;
	cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, hints, &info), 0);
	cr_assert_null(info->handle);
	fi_freeinfo(info);
	hints->handle = NULL;
}

Test(getinfo, open_domain_restricts_to_its_device)
{
	struct fi_fabric_attr attr = { .name = (char *)"RoCE" };
	struct fi_ops_domain others_ops = { .size = sizeof(others_ops) };
	struct fid_domain others = { .ops = &others_ops };
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fi_info *info;

	hint_domain("rxe1");
	cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, hints, &info), 0);
	cr_assert_eq(rcm_fabric_open(&attr, &fabric, NULL), 0);
	cr_assert_eq(fi_domain(fabric, info, &domain, NULL), 0);
	fi_freeinfo(info);

	hint_domain(NULL);
	hints->domain_attr->domain = domain;
	cr_assert_str_eq(ask(NULL, NULL, 0), "rxe1 10.0.1.1:0>-");
	cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, hints, &info), 0);
	cr_assert_eq(info->domain_attr->domain, domain);
	fi_freeinfo(info);
	hint_domain("rxe0");
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
	hint_domain("rxe1");
	hints->domain_attr->domain = &others;
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
	hints->caps = FI_MSG;
	cr_assert_str_eq(ask(NULL, NULL, RCM_GETINFO_LAYERED),
			 "rxe1 10.0.1.1:0>-");
	hints->domain_attr->domain = NULL;
	cr_assert_eq(fi_close(&domain->fid), 0);
	cr_assert_eq(fi_close(&fabric->fid), 0);
}

/* ofi_rxm reads the context of every error entry, and so wants it to be one */
Test(getinfo, layer_above_is_known_down_to_the_request)
{
	struct fi_info *info, *dup, *req;
	struct rcm_dev_list *list;
	union rcm_addr a;

	cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, hints, &info), 0);
	cr_assert_not(rcm_nic_is_layered(info));
	fi_freeinfo(info);
	hints->caps = FI_MSG;
	cr_assert_eq(rcm_getinfo(API, NULL, NULL, RCM_GETINFO_LAYERED, hints,
				 &info),
		     0);
	cr_assert(rcm_nic_is_layered(info));
	dup = fi_dupinfo(info);
	cr_assert(rcm_nic_is_layered(dup));
	list = rcm_dev_list_get(false);
	ip(&a, "10.0.0.1");
	req = rcm_info_connreq(dup, &list->devs[0], &a, &a);
	cr_assert(rcm_nic_is_layered(req));
	rcm_dev_list_put(list);
	fi_freeinfo(req);
	fi_freeinfo(dup);
	fi_freeinfo(info);
}

Test(getinfo, each_failing_call_leaves_nothing)
{
	unsigned int n;

	cr_assert_str_neq(ask("10.0.0.2", "1", 0), "");
	rcm_dev_list_reset();
	fake_fail_none();
	cr_assert_str_neq(ask("10.0.0.2", "1", 0), "");
	n = fake_calls();
	cr_assert_gt(n, 5);
	for (unsigned int i = 1; i <= n; i++) {
		struct fi_info *info = hints;
		int ret;

		rcm_dev_list_reset();
		fake_fail_none();
		fake_fail_any(i, i % 2 ? EACCES : ENOMEM);
		ret = rcm_getinfo(API, "10.0.0.2", "1", 0, hints, &info);
		cr_assert_eq(!ret, !!info);
		fi_freeinfo(info);
	}
	fake_fail_none();
}

static void core_up(void)
{
	struct fi_param *params;
	int n;

	cr_assert_eq(fi_getparams(&params, &n), 0);
	fi_freeparams(params);
	cr_assert_not_null(fi_prov_ini());
}

static unsigned int warnings(void)
{
	static char text[16384];
	unsigned int n = 0;
	size_t len;

	fflush(stderr);
	len = fread(text, 1, sizeof(text) - 1, cr_get_redirected_stderr());
	text[len] = '\0';
	for (char *p = text; (p = strstr(p, "rcm has nothing to offer")); p++)
		n++;
	return n;
}

static void read_log(void)
{
	cr_redirect_stderr();
	setenv("FI_LOG_LEVEL", "warn", 1);
}

/* FDS#7868, ompi#11412: users saw "No data available", and no reason */
Test(getinfo, one_warning_sums_up_when_rcm_was_named, .init = read_log)
{
	setenv("FI_PROVIDER", "tcp,rcm;ofi_rxm", 1);
	core_up();
	cr_assert_str_eq(ask("10.0.9.2", "1", 0), "");
	cr_assert_str_eq(ask("10.0.9.2", "1", 0), "");
	hints->tx_attr->size = 1 << 30;
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
	cr_assert_eq(warnings(), 2);
}

Test(getinfo, name_in_the_hints_asks_for_rcm_too, .init = read_log)
{
	unsetenv("FI_PROVIDER");
	core_up();
	hints->fabric_attr->prov_name = strdup("RCM");
	cr_assert_str_eq(ask("10.0.9.2", "1", 0), "");
	cr_assert_eq(warnings(), 1);
}

Test(getinfo, users_of_other_providers_are_told_nothing, .init = read_log)
{
	unsetenv("FI_PROVIDER");
	core_up();
	cr_assert_str_eq(ask("10.0.9.2", "1", 0), "");
	setenv("FI_PROVIDER", "^rcm", 1);
	cr_assert_str_eq(ask("10.0.9.2", "1", 0), "");
	setenv("FI_PROVIDER", "rcmx,xrcm,tcp", 1);
	cr_assert_str_eq(ask("10.0.9.2", "1", 0), "");
	setenv("FI_PROVIDER", "rcm", 1);
	hints->ep_attr->type = FI_EP_RDM; /* ofi_rxm's business */
	cr_assert_str_eq(ask(NULL, NULL, 0), "");
	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = FI_MSG | FI_RMA;
	cr_assert_str_eq(ask(NULL, NULL, RCM_GETINFO_LAYERED), "");
	cr_assert_eq(warnings(), 0);
}
