/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "rcm_addr.h"

static union rcm_addr make(const char *host, uint16_t port, uint32_t scope)
{
	union rcm_addr a = { 0 };

	if (inet_pton(AF_INET, host, &a.in.sin_addr) == 1) {
		a.sa.sa_family = AF_INET;
	} else {
		cr_assert_eq(inet_pton(AF_INET6, host, &a.in6.sin6_addr), 1);
		a.sa.sa_family = AF_INET6;
		a.in6.sin6_scope_id = scope;
	}
	rcm_addr_set_port(&a, port);
	return a;
}

Test(addr, length_is_that_of_the_family)
{
	struct sockaddr sa = { .sa_family = AF_INET };

	cr_assert_eq(rcm_addr_len(&sa), sizeof(struct sockaddr_in));
	sa.sa_family = AF_INET6;
	cr_assert_eq(rcm_addr_len(&sa), sizeof(struct sockaddr_in6));
	sa.sa_family = AF_UNIX;
	cr_assert_eq(rcm_addr_len(&sa), 0);
}

Test(addr, read_takes_an_unaligned_buffer_and_keeps_the_scope)
{
	union rcm_addr a = make("fe80::1", 7471, 3), out;
	char buf[sizeof(a) + 1];

	memcpy(buf + 1, &a, sizeof(a));
	cr_assert_eq(rcm_addr_read(&out, buf + 1, sizeof(a.in6)), 0);
	cr_assert_eq(out.in6.sin6_scope_id, 3);
	cr_assert_eq(rcm_addr_port(&out), 7471);
}

Test(addr, read_refuses_what_is_no_whole_ip_address)
{
	union rcm_addr a = make("10.0.0.1", 1, 0), out = { 0 };

	cr_assert_eq(rcm_addr_read(&out, NULL, 16), -FI_EINVAL);
	cr_assert_eq(rcm_addr_read(&out, &a, 0), -FI_EINVAL);
	cr_assert_eq(rcm_addr_read(&out, &a, 1), -FI_EINVAL);
	cr_assert_eq(rcm_addr_read(&out, &a, sizeof(a.in) - 1), -FI_EINVAL);
	a.sa.sa_family = AF_INET6;
	cr_assert_eq(rcm_addr_read(&out, &a, sizeof(a.in)), -FI_EINVAL);
	a.sa.sa_family = AF_UNIX;
	cr_assert_eq(rcm_addr_read(&out, &a, sizeof(a)), -FI_EINVAL);
	cr_assert_eq(out.sa.sa_family, 0, "nothing is written on failure");
}

Test(addr, give_says_too_small_and_tells_the_length)
{
	union rcm_addr a = make("10.0.0.1", 7471, 0);
	union rcm_addr out = { 0 };
	size_t len = sizeof(out);

	cr_assert_eq(rcm_addr_give(&a, &out, &len), 0);
	cr_assert_eq(len, sizeof(a.in));
	cr_assert(rcm_addr_same_host(&a, &out));

	memset(&out, 0xaa, sizeof(out));
	len = 4;
	cr_assert_eq(rcm_addr_give(&a, &out, &len), -FI_ETOOSMALL);
	cr_assert_eq(len, sizeof(a.in));
	cr_assert_eq(memcmp(&out, &a, 4), 0);
	cr_assert_eq(((unsigned char *)&out)[4], 0xaa);

	len = 0;
	cr_assert_eq(rcm_addr_give(&a, NULL, &len), -FI_ETOOSMALL);
	cr_assert_eq(len, sizeof(a.in));
	cr_assert_eq(rcm_addr_give(&a, NULL, NULL), -FI_EINVAL);
	len = 4;
	cr_assert_eq(rcm_addr_give(&a, NULL, &len), -FI_EINVAL);
}

Test(addr, any_is_the_wildcard_of_either_family)
{
	union rcm_addr a = make("0.0.0.0", 7471, 0);

	cr_assert(rcm_addr_is_any(&a));
	a = make("::", 7471, 0);
	cr_assert(rcm_addr_is_any(&a));
	a = make("10.0.0.1", 0, 0);
	cr_assert_not(rcm_addr_is_any(&a));
	a = make("::1", 0, 0);
	cr_assert_not(rcm_addr_is_any(&a));
	a.sa.sa_family = AF_UNIX;
	cr_assert_not(rcm_addr_is_any(&a));
}

Test(addr, loopback_is_seen_in_every_form)
{
	const char *yes[] = { "127.0.0.1", "127.1.2.3", "::1",
			      "::ffff:127.0.0.1" };
	const char *no[] = { "128.0.0.1", "10.127.0.1", "::", "fe80::1",
			     "::ffff:10.0.0.1" };
	union rcm_addr a;

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++) {
		a = make(yes[i], 0, 0);
		cr_assert(rcm_addr_is_loopback(&a), "%s", yes[i]);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++) {
		a = make(no[i], 0, 0);
		cr_assert_not(rcm_addr_is_loopback(&a), "%s", no[i]);
	}
}

Test(addr, link_local_is_an_ipv6_matter)
{
	union rcm_addr a = make("fe80::1", 0, 0);

	cr_assert(rcm_addr_is_link_local(&a));
	a = make("fd77::1", 0, 0);
	cr_assert_not(rcm_addr_is_link_local(&a));
	a = make("169.254.0.1", 0, 0);
	cr_assert_not(rcm_addr_is_link_local(&a));
}

Test(addr, same_host_looks_at_scope_and_not_at_port)
{
	union rcm_addr a = make("10.0.0.1", 1, 0);
	union rcm_addr b = make("10.0.0.1", 2, 0);
	union rcm_addr x = make("fe80::1", 1, 2);
	union rcm_addr y = make("fe80::1", 1, 3);
	union rcm_addr z = make("fe80::1", 1, 0);

	cr_assert(rcm_addr_same_host(&a, &b));
	cr_assert_not(rcm_addr_same_host(&a, &x));
	cr_assert_not(rcm_addr_same_host(&x, &y));
	cr_assert(rcm_addr_same_host(&x, &z), "one without a scope");
	b = make("10.0.0.2", 1, 0);
	cr_assert_not(rcm_addr_same_host(&a, &b));
	y = make("fe80::2", 1, 2);
	cr_assert_not(rcm_addr_same_host(&x, &y));
	a.sa.sa_family = AF_UNIX;
	b.sa.sa_family = AF_UNIX;
	cr_assert_not(rcm_addr_same_host(&a, &b));
}

Test(addr, text_holds_host_scope_and_port)
{
	char buf[RCM_ADDR_STR];
	union rcm_addr a = make("10.77.0.1", 7471, 0);

	cr_assert_str_eq(rcm_addr_str(&a, buf), "10.77.0.1:7471");
	a = make("fd77::1", 0, 0);
	cr_assert_str_eq(rcm_addr_str(&a, buf), "[fd77::1]:0");
	a = make("fe80::1", 9, 1);
	cr_assert_str_eq(rcm_addr_str(&a, buf), "[fe80::1%lo]:9");
	a = make("fe80::1", 9, 99999999);
	cr_assert_str_eq(rcm_addr_str(&a, buf), "[fe80::1%99999999]:9");
	a.sa.sa_family = AF_UNIX;
	cr_assert_str_eq(rcm_addr_str(&a, buf), "(address family 1)");
	cr_assert_eq(rcm_addr_port(&a), 0);
	rcm_addr_set_port(&a, 5);
	cr_assert_eq(rcm_addr_port(&a), 0);
}

Test(addr, longest_text_fits)
{
	char buf[RCM_ADDR_STR];
	union rcm_addr a = make("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
				65535, UINT32_MAX);

	cr_assert_lt(strlen(rcm_addr_str(&a, buf)), RCM_ADDR_STR - 1);
}
