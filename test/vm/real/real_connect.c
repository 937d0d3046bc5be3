/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "real.h"

#define CM_DATA 55

union cm_event {
	struct fi_eq_cm_entry entry;
	uint8_t room[sizeof(struct fi_eq_cm_entry) + 256];
};

/* A connects with LEN bytes, B sees them and answers with as many others. */
static void exchange_private_data(struct real *r, size_t len)
{
	union cm_event ev;
	uint8_t out[CM_DATA], back[CM_DATA];
	struct fi_info *info = real_peer_info(r);
	uint32_t event;
	ssize_t n;

	real_fill(out, len, 3);
	real_fill(back, len, 77);
	real_side_open(r, &r->a, info);
	real_ok(fi_connect(r->a.ep, info->dest_addr, len ? out : NULL, len));
	fi_freeinfo(info);
	do {
		n = fi_eq_read(r->eq, &event, &ev, sizeof(ev), 0);
		if (n == -FI_EAGAIN)
			real_expect_quiet(r->a.eq, 1);
	} while (n == -FI_EAGAIN);
	cr_assert_eq(event, FI_CONNREQ);
	cr_assert_eq(n - (ssize_t)sizeof(ev.entry), (ssize_t)len);
	cr_assert(real_filled(ev.entry.data, len, 3));
	real_side_open(r, &r->b, ev.entry.info);
	fi_freeinfo(ev.entry.info);
	real_ok(fi_accept(r->b.ep, len ? back : NULL, len));
	n = real_event(r->a.eq, &event, &ev, sizeof(ev));
	cr_assert_eq(event, FI_CONNECTED);
	cr_assert_eq(n - (ssize_t)sizeof(ev.entry), (ssize_t)len);
	cr_assert(real_filled(ev.entry.data, len, 77));
	n = real_event(r->b.eq, &event, &ev, sizeof(ev));
	cr_assert_eq(event, FI_CONNECTED);
	cr_assert_eq(n, (ssize_t)sizeof(ev.entry));
	real_side_close(&r->a);
	real_side_close(&r->b);
}

Test(connect, private_data_of_every_length_arrives_exactly)
{
	struct real r;
	size_t len;

	real_open(&r, NULL);
	for (len = 0; len <= CM_DATA; len += 11)
		exchange_private_data(&r, len);
	real_close(&r);
}

Test(connect, works_over_ipv6)
{
	struct real_opts opts = { .node = getenv("RCM_VM_SELF6") };
	struct real r;

	real_open_pair(&r, &opts);
	cr_assert_eq(r.addr.ss_family, AF_INET6);
	real_close(&r);
}

/* LF#966, LF#2188 */
Test(connect, names_tell_the_ports_in_use)
{
	struct sockaddr_in listen, peer, name;
	size_t len = sizeof(name);
	struct real r;

	real_open_pair(&r, NULL);
	memcpy(&listen, &r.addr, sizeof(listen));
	cr_assert_neq(listen.sin_port, 0);
	real_ok(fi_getpeer(r.a.ep, &peer, &len));
	cr_assert_eq(peer.sin_port, listen.sin_port);
	real_ok(fi_getname(&r.a.ep->fid, &name, &len));
	cr_assert_neq(name.sin_port, 0);
	real_ok(fi_getpeer(r.b.ep, &peer, &len));
	cr_assert_eq(peer.sin_port, name.sin_port);
	cr_assert_eq(peer.sin_addr.s_addr, name.sin_addr.s_addr);
	len = 4;
	real_fails(FI_ETOOSMALL, fi_getname(&r.a.ep->fid, &name, &len));
	cr_assert_eq(len, sizeof(name));
	real_close(&r);
}

/* LF#7880: nobody listens and the application refused are two things. */
Test(connect, port_without_listener_is_refused_in_words)
{
	struct fi_eq_err_entry err;
	struct fi_info *info;
	struct real r;

	real_open(&r, NULL);
	info = real_peer_info(&r);
	real_ok(fi_close(&r.pep->fid));
	r.pep = NULL;
	real_side_open(&r, &r.a, info);
	real_ok(fi_connect(r.a.ep, info->dest_addr, NULL, 0));
	real_expect_err(r.a.eq, &err);
	cr_assert_eq(err.fid, &r.a.ep->fid);
	cr_assert_eq(err.err, FI_ECONNREFUSED, "%s", fi_strerror(err.err));
	cr_assert_eq(err.err_data_size, 0);
	cr_assert_not_null(
		strstr(fi_eq_strerror(r.a.eq, err.prov_errno, NULL, NULL, 0),
		       "listen"));
	real_fails(FI_EOPBADSTATE,
		   fi_connect(r.a.ep, info->dest_addr, NULL, 0));
	real_expect_quiet(r.a.eq, 50);
	fi_freeinfo(info);
	real_close(&r);
}

Test(connect, refusal_brings_its_data)
{
	static const char why[] = "not today";
	struct fi_eq_err_entry err;
	struct fi_info *info;
	struct real r;

	real_open(&r, NULL);
	info = real_peer_info(&r);
	real_side_open(&r, &r.a, info);
	real_ok(fi_connect(r.a.ep, info->dest_addr, NULL, 0));
	fi_freeinfo(info);
	info = real_request(&r);
	real_ok(fi_reject(r.pep, info->handle, why, sizeof(why)));
	fi_freeinfo(info);
	real_expect_err(r.a.eq, &err);
	cr_assert_eq(err.err, FI_ECONNREFUSED, "%s", fi_strerror(err.err));
	cr_assert_eq(err.err_data_size, sizeof(why));
	cr_assert_arr_eq(err.err_data, why, sizeof(why));
	real_expect_quiet(r.a.eq, 50);
	real_close(&r);
}

/* LF#9123: one terminal event, whatever the mix of causes. */
Test(connect, shutdown_is_seen_once_on_both_sides)
{
	struct real r;

	real_open_pair(&r, NULL);
	real_fails(FI_EBADFLAGS, fi_shutdown(r.a.ep, 1));
	real_ok(fi_shutdown(r.a.ep, 0));
	real_expect(&r.b, FI_SHUTDOWN);
	real_expect(&r.a, FI_SHUTDOWN);
	real_expect_quiet(r.a.eq, 50);
	real_expect_quiet(r.b.eq, 50);
	real_ok(fi_shutdown(r.a.ep, 0));
	real_ok(fi_shutdown(r.b.ep, 0));
	real_close(&r);
}

/* LF#10405 */
Test(connect, close_alone_informs_the_peer)
{
	struct real r;

	real_open_pair(&r, NULL);
	real_side_close(&r.a);
	real_expect(&r.b, FI_SHUTDOWN);
	real_expect_quiet(r.b.eq, 50);
	real_close(&r);
}

Test(connect, shutdown_before_connect_is_an_error)
{
	struct fi_info *info;
	struct real r;

	real_open(&r, NULL);
	info = real_peer_info(&r);
	real_side_open(&r, &r.a, info);
	fi_freeinfo(info);
	real_fails(FI_ENOTCONN, fi_shutdown(r.a.ep, 0));
	real_close(&r);
}

Test(connect, second_connect_is_an_error)
{
	struct real r;

	real_open_pair(&r, NULL);
	real_fails(FI_EISCONN, fi_connect(r.a.ep, &r.addr, NULL, 0));
	real_close(&r);
}

Test(connect, listening_twice_at_one_port_says_so)
{
	struct fi_info *info;
	struct fid_pep *pep;
	struct real r;

	real_open(&r, NULL);
	info = fi_dupinfo(r.info);
	memcpy(info->src_addr, &r.addr, r.addrlen);
	real_ok(fi_passive_ep(r.fabric, info, &pep, NULL));
	fi_freeinfo(info);
	real_ok(fi_pep_bind(pep, &r.eq->fid, 0));
	real_fails(FI_EADDRINUSE, fi_listen(pep));
	real_ok(fi_close(&pep->fid));
	real_close(&r);
}

/* LF#966, UCX#8585 */
Test(connect, name_is_given_before_listening)
{
	struct sockaddr_in name, got;
	size_t len = sizeof(got);
	struct fid_pep *pep, *other;
	struct real r;

	real_open(&r, NULL);
	memcpy(&name, &r.addr, sizeof(name));
	name.sin_port = 0;
	real_ok(fi_passive_ep(r.fabric, r.info, &pep, NULL));
	real_ok(fi_pep_bind(pep, &r.eq->fid, 0));
	real_ok(fi_setname(&pep->fid, &name, sizeof(name)));
	real_ok(fi_getname(&pep->fid, &got, &len));
	cr_assert_neq(got.sin_port, 0);
	real_ok(fi_passive_ep(r.fabric, r.info, &other, NULL));
	real_ok(fi_pep_bind(other, &r.eq->fid, 0));
	real_fails(FI_EADDRINUSE, fi_setname(&other->fid, &got, sizeof(got)));
	real_ok(fi_listen(pep));
	real_ok(fi_getname(&pep->fid, &name, &len));
	cr_assert_eq(name.sin_port, got.sin_port);
	real_ok(fi_close(&other->fid));
	real_ok(fi_close(&pep->fid));
	real_close(&r);
}

/*
 * LF#12346, mercury#111: an address of the subnet that nobody owns. Needs a
 * wire: on a device without one every address is there.
 */
Test(wire, nobody_at_the_address_is_an_error)
{
	struct fi_eq_err_entry err;
	struct sockaddr_in dst;
	struct fi_info *info;
	struct real r;

	real_open(&r, NULL);
	info = real_peer_info(&r);
	real_side_open(&r, &r.a, info);
	fi_freeinfo(info);
	memcpy(&dst, &r.addr, sizeof(dst));
	dst.sin_addr.s_addr ^= htonl(0x40);
	real_ok(fi_connect(r.a.ep, &dst, NULL, 0));
	real_expect_err(r.a.eq, &err);
	cr_assert(err.err == FI_EHOSTUNREACH || err.err == FI_ENETUNREACH ||
			  err.err == FI_ETIMEDOUT,
		  "%s (%s)", fi_strerror(err.err),
		  fi_eq_strerror(r.a.eq, err.prov_errno, NULL, NULL, 0));
	real_expect_quiet(r.a.eq, 50);
	real_close(&r);
}

/* The child connects and is gone without a word. */
static void client_that_dies(struct real *r)
{
	struct fi_info *info;
	struct real child = { .opts = r->opts };

	child.addr = r->addr;
	child.addrlen = r->addrlen;
	child.info = r->info;
	info = real_peer_info(&child);
	real_ok(fi_fabric(info->fabric_attr, &child.fabric, NULL));
	real_ok(fi_domain(child.fabric, info, &child.domain, NULL));
	real_side_open(&child, &child.a, info);
	real_ok(fi_connect(child.a.ep, info->dest_addr, NULL, 0));
	real_expect(&child.a, FI_CONNECTED);
	raise(SIGKILL);
}

/* UCX PR#4719 and others: a peer that is killed. */
Test(connect, killed_peer_is_one_shutdown)
{
	struct fi_info *info;
	struct real r;
	int status;
	pid_t pid;

	real_open(&r, NULL);
	pid = fork();
	if (!pid)
		client_that_dies(&r);
	info = real_request(&r);
	real_side_open(&r, &r.b, info);
	fi_freeinfo(info);
	real_ok(fi_accept(r.b.ep, NULL, 0));
	real_expect(&r.b, FI_CONNECTED);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	real_expect(&r.b, FI_SHUTDOWN);
	real_expect_quiet(r.b.eq, 50);
	real_close(&r);
}

/* LF 0a4029f7b: a request that nobody answers must not be lost. */
Test(connect, unanswered_request_is_refused_at_close)
{
	struct fi_eq_err_entry err;
	struct fi_info *info;
	struct real r;

	real_open(&r, NULL);
	info = real_peer_info(&r);
	real_side_open(&r, &r.a, info);
	real_ok(fi_connect(r.a.ep, info->dest_addr, NULL, 0));
	fi_freeinfo(info);
	info = real_request(&r);
	fi_freeinfo(info);
	real_ok(fi_close(&r.pep->fid));
	real_ok(fi_close(&r.eq->fid));
	r.pep = NULL;
	r.eq = NULL;
	real_expect_err(r.a.eq, &err);
	cr_assert_eq(err.err, FI_ECONNREFUSED, "%s", fi_strerror(err.err));
	real_close(&r);
}

/* The ms that closing takes. */
static int64_t ms_to_close(struct real_side *side)
{
	struct timespec t0, t1;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	real_side_close(side);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	return (int64_t)(t1.tv_sec - t0.tv_sec) * 1000 +
	       (t1.tv_nsec - t0.tv_nsec) / 1000000;
}

/*
 * Neither end waits for the other when it closes before it has the other's
 * answer, and the other gets to know.
 */
Test(connect, close_waits_for_no_answer)
{
	struct fi_eq_err_entry err;
	struct fi_info *info, *req;
	struct real r;

	real_open(&r, NULL);
	info = real_peer_info(&r);
	real_side_open(&r, &r.a, info);
	real_ok(fi_connect(r.a.ep, info->dest_addr, NULL, 0));
	req = real_request(&r);
	cr_assert_lt(ms_to_close(&r.a), 5000, "a request without an answer");
	(void)fi_reject(r.pep, req->handle, NULL, 0); /* perhaps too late */
	fi_freeinfo(req);

	real_side_open(&r, &r.a, info);
	real_ok(fi_connect(r.a.ep, info->dest_addr, NULL, 0));
	req = real_request(&r);
	real_side_open(&r, &r.b, req);
	real_ok(fi_accept(r.b.ep, NULL, 0));
	cr_assert_lt(ms_to_close(&r.b), 5000, "an answer without last word");
	real_expect_err(r.a.eq, &err);
	fi_freeinfo(req);
	fi_freeinfo(info);
	real_close(&r);
}

/* rdma-core 6f8e0056e */
Test(connect, many_requests_before_the_first_answer)
{
	enum {
		N = 32
	};
	struct real_side sides[N] = { { 0 } }, peers[N] = { { 0 } };
	struct fi_info *info, *reqs[N];
	struct real r;
	int i;

	real_open(&r, NULL);
	info = real_peer_info(&r);
	for (i = 0; i < N; i++) {
		real_side_open(&r, &sides[i], info);
		real_ok(fi_connect(sides[i].ep, info->dest_addr, NULL, 0));
	}
	fi_freeinfo(info);
	for (i = 0; i < N; i++) {
		r.a = sides[i]; /* whose queue drives its connection */
		reqs[i] = real_request(&r);
	}
	memset(&r.a, 0, sizeof(r.a));
	for (i = N - 1; i >= 0; i--) {
		real_side_open(&r, &peers[i], reqs[i]);
		fi_freeinfo(reqs[i]);
		real_ok(fi_accept(peers[i].ep, NULL, 0));
	}
	for (i = 0; i < N; i++)
		real_expect(&sides[i], FI_CONNECTED);
	for (i = 0; i < N; i++)
		real_expect(&peers[i], FI_CONNECTED);
	for (i = 0; i < N; i++) {
		real_side_close(&sides[i]);
		real_side_close(&peers[i]);
	}
	real_close(&r);
}
