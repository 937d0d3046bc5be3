/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Connecting, accepting, refusing, naming: what goes right and wrong. */

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_ep.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	cr_assert_eq(net_open(&n), 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(conn, .init = set_up, .fini = tear_down);

static void requested(const void *data, size_t len, struct net_ev *ev)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, data, len), 0);
	cr_assert_eq(net_request(&n, ev), 0);
}

static void fill(uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)(0xc0 + i);
}

/* whatever its length, exactly what was given arrives, both ways */
Test(conn, private_data_is_exact)
{
	uint8_t data[55];
	struct net_ev ev;

	fill(data, sizeof(data));
	cr_assert_eq(net_listen(&n), 0);
	for (size_t len = 0; len <= sizeof(data); len++) {
		cr_assert_eq(net_connect(&n, data, len), 0);
		cr_assert_eq(net_request(&n, &ev), 0);
		cr_assert_eq(ev.fid, &n.pep->fid);
		cr_assert_eq(ev.len, len);
		cr_assert_arr_eq(ev.data, data, len);
		cr_assert_eq(net_accept(&n, data, 55 - len), 0);
		cr_assert_eq(net_await(&n, 0, FI_CONNECTED, &ev), 0);
		cr_assert_eq(ev.len, 55 - len);
		cr_assert_arr_eq(ev.data, data, 55 - len);
		cr_assert_eq(net_await(&n, 1, FI_CONNECTED, &ev), 0);
		cr_assert_eq(ev.len, 0);
		for (int i = 0; i < 2; i++) {
			cr_assert_eq(fi_close(&n.side[i].ep->fid), 0);
			n.side[i].ep = NULL;
		}
	}
}

/* LF commit 26a0b1501 */
Test(conn, private_data_arguments_are_checked)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	cr_assert_eq(fi_connect(n.side[0].ep, &n.addr, NULL, 8), -FI_EINVAL);
	cr_assert_eq(fi_connect(n.side[0].ep, &n.addr, "x", 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(net_endpoint(&n, 1, n.req), 0);
	cr_assert_eq(fi_accept(n.side[1].ep, NULL, 8), -FI_EINVAL);
	/* LF commit 3b79804ed: the request survives a failed accept */
	cr_assert_eq(fi_accept(n.side[1].ep, NULL, 0), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(net_await(&n, i, FI_CONNECTED, NULL), 0);
}

Test(conn, refusal_carries_its_data)
{
	uint8_t data[55];
	struct net_ev ev;

	fill(data, sizeof(data));
	cr_assert_eq(net_listen(&n), 0);
	for (size_t len = 0; len <= sizeof(data); len += 11) {
		cr_assert_eq(net_connect(&n, NULL, 0), 0);
		cr_assert_eq(net_request(&n, NULL), 0);
		cr_assert_eq(fi_reject(n.pep, n.req->handle, data, len), 0);
		cr_assert_eq(net_await(&n, 0, FI_CONNECTED, &ev),
			     -FI_ECONNREFUSED);
		cr_assert_eq(ev.fid, &n.side[0].ep->fid);
		cr_assert_eq(ev.prov_errno, 28);
		cr_assert_eq(ev.len, len);
		cr_assert_arr_eq(ev.data, data, len);
		cr_assert(net_quiet(&n, 0));
		cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
		n.side[0].ep = NULL;
	}
}

/* LF commit 07461b5d1: a positive code, and a sensible one */
Test(conn, port_without_a_listener_refuses)
{
	struct net_ev ev;

	cr_assert_eq(net_listen(&n), 0);
	rcm_addr_set_port(&n.addr, 9);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, &ev), -FI_ECONNREFUSED);
	cr_assert_eq(ev.prov_errno, 8);
	cr_assert_eq(ev.len, 0);
}

/* LF commit 0a4029f7b */
Test(conn, many_refusals_leave_nothing)
{
	unsigned int ids;

	cr_assert_eq(net_listen(&n), 0);
	ids = fake_n_ids();
	for (int i = 0; i < 50; i++) {
		cr_assert_eq(net_connect(&n, NULL, 0), 0);
		cr_assert_eq(net_request(&n, NULL), 0);
		if (i % 2)
			fake_fail(FAKE_reject, 1, EIO);
		(void)fi_reject(n.pep, n.req->handle, NULL, 0);
		cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL),
			     -FI_ECONNREFUSED);
		cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
		n.side[0].ep = NULL;
		fake_fail_none();
	}
	cr_assert_eq(fake_n_ids(), ids);
}

/* mercury#111, LF#3458 */
Test(conn, unreachable_address_is_one_error)
{
	struct net_ev ev;

	cr_assert_eq(net_listen(&n), 0);
	inet_pton(AF_INET, "10.77.0.99", &n.addr.in.sin_addr);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_lt(net_await(&n, 0, FI_CONNECTED, &ev), 0);
	cr_assert_gt(ev.err, 0);
	cr_assert(net_quiet(&n, 0));
}

Test(conn, silent_peer_is_one_error)
{
	struct net_ev ev;

	cr_assert_eq(net_listen(&n), 0);
	fake_silent_peers(true);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert(net_quiet(&n, 0));
	fake_time_passes();
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, &ev), -FI_ETIMEDOUT);
	cr_assert_gt(ev.err, 0);
	fake_time_passes();
	cr_assert(net_quiet(&n, 0));
}

/* LF commits 486013572, 11bf5594e: a step that fails on the way */
static void failing_step(enum fake_call call, unsigned int nth)
{
	struct net_ev ev;
	int ret;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	fake_fail(call, nth, EMFILE);
	ret = fi_connect(n.side[0].ep, &n.addr, NULL, 0);
	if (ret) {
		cr_assert_eq(ret, -FI_EMFILE);
		return;
	}
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, &ev), -FI_EMFILE);
	cr_assert_eq(ev.fid, &n.side[0].ep->fid);
	cr_assert(net_quiet(&n, 0));
}

Test(conn, failing_create_id_is_reported)
{
	failing_step(FAKE_create_id, 1);
}

Test(conn, failing_resolve_addr_is_reported)
{
	failing_step(FAKE_resolve_addr, 1);
}

Test(conn, failing_resolve_route_is_reported)
{
	failing_step(FAKE_resolve_route, 1);
}

Test(conn, failing_connect_is_reported)
{
	failing_step(FAKE_connect, 1);
}

static void failing_answer(enum fake_call call, unsigned int nth)
{
	struct net_ev ev;

	requested(NULL, 0, NULL);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	fake_fail(call, nth, EMFILE);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, &ev), -FI_EMFILE);
	cr_assert(net_quiet(&n, 0));
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert_lt(net_await(&n, 1, FI_CONNECTED, NULL), 0);
	cr_assert(net_quiet(&n, 1));
}

Test(conn, failing_establish_ends_both_sides)
{
	failing_answer(FAKE_establish, 1);
}

Test(conn, failing_queue_pair_step_ends_both_sides)
{
	failing_answer(FAKE_modify_qp, 1);
}

Test(conn, failing_attributes_end_both_sides)
{
	failing_answer(FAKE_init_qp_attr, 1);
}

/* a bad request never hurts the listener */
Test(conn, listener_survives_a_request_that_fails)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
}

/* LF#2344, LF#5331, S12 */
Test(conn, second_connect_is_refused_and_a_new_endpoint_works)
{
	requested(NULL, 0, NULL);
	cr_assert_eq(fi_connect(n.side[0].ep, &n.addr, NULL, 0), -FI_EALREADY);
	cr_assert_eq(fi_reject(n.pep, n.req->handle, NULL, 0), 0);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), -FI_ECONNREFUSED);
	cr_assert_eq(fi_connect(n.side[0].ep, &n.addr, NULL, 0),
		     -FI_EOPBADSTATE);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(net_await(&n, i, FI_CONNECTED, NULL), 0);
	cr_assert_eq(fi_connect(n.side[0].ep, &n.addr, NULL, 0), -FI_EISCONN);
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
}

Test(conn, accept_needs_a_request)
{
	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	cr_assert_eq(fi_accept(n.side[0].ep, NULL, 0), -FI_EOPBADSTATE);
}

Test(conn, request_cannot_connect_out)
{
	requested(NULL, 0, NULL);
	cr_assert_eq(net_endpoint(&n, 1, n.req), 0);
	cr_assert_eq(fi_connect(n.side[1].ep, &n.addr, NULL, 0),
		     -FI_EOPBADSTATE);
	cr_assert_eq(fi_accept(n.side[1].ep, NULL, 0), 0);
	cr_assert_eq(fi_accept(n.side[1].ep, NULL, 0), -FI_EALREADY);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(net_await(&n, i, FI_CONNECTED, NULL), 0);
}

/* LF#4582 */
Test(conn, connect_and_accept_enable_the_endpoint)
{
	struct fid_ep *ep[2];

	cr_assert_eq(net_listen(&n), 0);
	for (int i = 0; i < 2; i++) {
		struct net_side *s = &n.side[i];

		cr_assert_eq(fi_endpoint(n.domain, i ? n.req : n.info, &ep[i],
					 NULL),
			     0);
		s->ep = ep[i];
		cr_assert_eq(fi_ep_bind(ep[i], &s->eq->fid, 0), 0);
		cr_assert_eq(fi_ep_bind(ep[i], &s->cq->fid,
					FI_TRANSMIT | FI_RECV),
			     0);
		if (i) {
			cr_assert_eq(fi_accept(ep[1], NULL, 0), 0);
		} else {
			cr_assert_eq(fi_connect(ep[0], &n.addr, NULL, 0), 0);
			cr_assert_eq(net_request(&n, NULL), 0);
		}
	}
	for (int i = 0; i < 2; i++)
		cr_assert_eq(net_await(&n, i, FI_CONNECTED, NULL), 0);
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
}

Test(conn, failing_enable_is_what_connect_returns)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(fi_endpoint(n.domain, n.info, &n.side[0].ep, NULL), 0);
	cr_assert_eq(fi_connect(n.side[0].ep, &n.addr, NULL, 0), -FI_ENOEQ);
}

/* LF commit 5f25f4c85: the argument wins over the info */
Test(conn, address_argument_wins_over_the_info)
{
	struct fi_info *info = fi_dupinfo(n.info);

	cr_assert_eq(net_listen(&n), 0);
	info->dest_addr = malloc(n.addrlen);
	info->dest_addrlen = n.addrlen;
	memcpy(info->dest_addr, &n.addr, n.addrlen);
	((struct sockaddr_in *)info->dest_addr)->sin_port = htons(9);
	cr_assert_eq(net_endpoint(&n, 0, info), 0);
	cr_assert_eq(fi_connect(n.side[0].ep, &n.addr, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);

	memcpy(info->dest_addr, &n.addr, n.addrlen);
	cr_assert_eq(net_endpoint(&n, 0, info), 0);
	cr_assert_eq(fi_connect(n.side[0].ep, NULL, NULL, 0), 0);
	/* the first caller gave up: its request may show, the second must */
	while (net_request(&n, NULL) == 0)
		;
	cr_assert_not_null(n.req);
	fi_freeinfo(info);
}

/* LF#2774: one of two crossing requests is refused, the other connects */
Test(conn, crossing_requests_are_independent)
{
	struct fi_info *there;
	struct fid_pep *pep;
	struct fid_ep *ep;
	union rcm_addr addr;
	size_t len = sizeof(addr);
	struct net_ev ev;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(fi_passive_ep(n.fabric, n.info, &pep, NULL), 0);
	cr_assert_eq(fi_pep_bind(pep, &n.side[0].eq->fid, 0), 0);
	cr_assert_eq(fi_listen(pep), 0);
	cr_assert_eq(fi_getname(&pep->fid, &addr, &len), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_make_ep(&n, 1, n.info, &ep), 0);
	cr_assert_eq(fi_connect(ep, &addr, NULL, 0), 0);

	cr_assert_eq(net_await(&n, 0, FI_CONNREQ, &ev), 0);
	there = ev.info;
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(fi_reject(pep, there->handle, NULL, 0), 0);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	cr_assert_eq(net_await(&n, 1, FI_CONNECTED, &ev), -FI_ECONNREFUSED);
	cr_assert_eq(ev.fid, &ep->fid);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(net_await(&n, i, FI_CONNECTED, NULL), 0);
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
	fi_freeinfo(there);
	cr_assert_eq(fi_close(&ep->fid), 0);
	cr_assert_eq(fi_close(&pep->fid), 0);
}

/* rdma-core 6f8e0056e: requests in any number, answered in any order */
Test(conn, requests_are_answered_in_reverse)
{
	struct fid_ep *a[8], *b[8];
	struct fi_info *req[8];
	struct net_ev ev;

	cr_assert_eq(net_listen(&n), 0);
	for (int i = 0; i < 8; i++) {
		cr_assert_eq(net_make_ep(&n, 0, n.info, &a[i]), 0);
		cr_assert_eq(fi_connect(a[i], &n.addr, &i, sizeof(i)), 0);
	}
	for (int i = 0; i < 8; i++) {
		cr_assert_eq(net_await(&n, 1, FI_CONNREQ, &ev), 0);
		req[i] = ev.info;
	}
	for (int i = 8; i-- > 0;) {
		cr_assert_eq(net_make_ep(&n, 1, req[i], &b[i]), 0);
		cr_assert_eq(fi_accept(b[i], NULL, 0), 0);
		cr_assert_eq(net_await(&n, 0, FI_CONNECTED, &ev), 0);
		cr_assert_eq(ev.fid, &a[i]->fid);
		cr_assert_eq(net_await(&n, 1, FI_CONNECTED, &ev), 0);
		cr_assert_eq(ev.fid, &b[i]->fid);
		fi_freeinfo(req[i]);
	}
	for (int i = 0; i < 8; i++) {
		cr_assert_eq(fi_close(&a[i]->fid), 0);
		cr_assert_eq(fi_close(&b[i]->fid), 0);
	}
}

/* UCX PR#4719, SPDK#438: the caller goes before the answer */
Test(conn, caller_gone_before_accept_never_connects)
{
	struct net_ev ev;
	int ret;

	requested(NULL, 0, NULL);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	ret = net_accept(&n, NULL, 0);
	if (!ret) {
		ret = net_next(&n, 1, &ev);
		cr_assert_eq(ret, 0);
		cr_assert_neq(ev.event, FI_CONNECTED);
	}
	cr_assert(net_quiet(&n, 1));
}

Test(conn, caller_gone_after_accept_is_one_error)
{
	struct net_ev ev;

	requested(NULL, 0, NULL);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert_eq(net_next(&n, 1, &ev), 0);
	cr_assert_eq(ev.event, 0);
	cr_assert_gt(ev.err, 0);
	cr_assert(net_quiet(&n, 1));
}

/* S06: a request that nobody answers */
Test(conn, unanswered_request_is_refused_by_closing_its_endpoint)
{
	requested(NULL, 0, NULL);
	cr_assert_eq(net_endpoint(&n, 1, n.req), 0);
	cr_assert_eq(fi_close(&n.side[1].ep->fid), 0);
	n.side[1].ep = NULL;
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), -FI_ECONNREFUSED);
}

Test(conn, unread_request_is_refused_by_closing_the_listener)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_quiet(&n, 0), true);
	cr_assert_eq(fi_close(&n.pep->fid), 0);
	n.pep = NULL;
	fi_freeinfo(n.side[1].ev[0].info);
	n.side[1].n_ev = 0;
}

Test(conn, request_outlives_its_listener)
{
	requested(NULL, 0, NULL);
	cr_assert_eq(fi_close(&n.pep->fid), 0);
	n.pep = NULL;
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(net_await(&n, i, FI_CONNECTED, NULL), 0);
	cr_assert_eq(net_exchange(&n, 1, 1, 64), 0);
}

/* a request accepted on an endpoint with another event queue */
Test(conn, accepted_endpoint_reports_on_its_own_queue)
{
	struct fid_eq *pep_eq;
	struct net_ev ev;

	cr_assert_eq(fi_eq_open(n.fabric, &n.eq_attr, &pep_eq, NULL), 0);
	requested(NULL, 0, NULL);
	{
		struct net_side *s = &n.side[1];
		struct fid_eq *own = s->eq;

		s->eq = pep_eq;
		cr_assert_eq(net_accept(&n, NULL, 0), 0);
		cr_assert_eq(net_await(&n, 0, FI_CONNECTED, &ev), 0);
		cr_assert_eq(net_await(&n, 1, FI_CONNECTED, &ev), 0);
		cr_assert_eq(fi_close(&n.side[1].ep->fid), 0);
		n.side[1].ep = NULL;
		s->eq = own;
	}
	cr_assert_eq(fi_close(&pep_eq->fid), 0);
}

/* LF#976, LF#1192 */
Test(conn, listener_takes_a_name_before_it_listens)
{
	union rcm_addr addr = { .in = { .sin_family = AF_INET,
					.sin_port = htons(7500) } };
	size_t len = sizeof(addr);
	struct fid_pep *pep;

	inet_pton(AF_INET, "10.77.0.1", &addr.in.sin_addr);
	cr_assert_eq(fi_passive_ep(n.fabric, n.info, &pep, NULL), 0);
	cr_assert_eq(fi_setname(&pep->fid, &addr, 3), -FI_EINVAL);
	cr_assert_eq(fi_setname(&pep->fid, &addr, sizeof(addr.in)), 0);
	/* without an event queue there is nobody to tell */
	cr_assert_lt(fi_listen(pep), 0);
	cr_assert_eq(fi_pep_bind(pep, &n.side[1].eq->fid, 0), 0);
	cr_assert_eq(fi_pep_bind(pep, &n.side[1].eq->fid, 0), -FI_EINVAL);
	cr_assert_eq(fi_listen(pep), 0);
	cr_assert_lt(fi_listen(pep), 0);
	cr_assert_lt(fi_setname(&pep->fid, &addr, sizeof(addr.in)), 0);
	memset(&addr, 0, sizeof(addr));
	cr_assert_eq(fi_getname(&pep->fid, &addr, &len), 0);
	cr_assert_eq(ntohs(addr.in.sin_port), 7500);
	cr_assert_eq(len, sizeof(addr.in));
	cr_assert_eq(fi_close(&pep->fid), 0);
}

/* LF#966, LF#2188: the port that was given out */
Test(conn, listener_knows_its_port)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_neq(rcm_addr_port(&n.addr), 0);
}

/* LF#966, UCX#8585 */
Test(conn, port_in_use_is_said_to_be)
{
	struct fid_pep *pep;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(fi_passive_ep(n.fabric, n.info, &pep, NULL), 0);
	cr_assert_eq(fi_setname(&pep->fid, &n.addr, n.addrlen), 0);
	cr_assert_eq(fi_pep_bind(pep, &n.side[1].eq->fid, 0), 0);
	cr_assert_eq(fi_listen(pep), -FI_EADDRINUSE);
	cr_assert_eq(fi_setname(&pep->fid, &n.addr, n.addrlen), -FI_EADDRINUSE);
	cr_assert_eq(fi_close(&pep->fid), 0);
}

/* LF commit 96d97d620 */
Test(conn, listener_ignores_a_destination)
{
	struct fi_info *info = fi_dupinfo(n.info);
	struct fid_pep *pep;

	info->dest_addr = calloc(1, sizeof(struct sockaddr_in));
	info->dest_addrlen = sizeof(struct sockaddr_in);
	cr_assert_eq(fi_passive_ep(n.fabric, info, &pep, NULL), 0);
	cr_assert_eq(fi_close(&pep->fid), 0);
	fi_freeinfo(info);
}

/* S02 */
Test(conn, short_buffers_for_names_are_too_small)
{
	uint8_t buf[64];
	size_t len;

	cr_assert_eq(net_join(&n), 0);
	for (int i = 0; i < 3; i++) {
		struct fid_ep *ep = n.side[0].ep;
		int ret;

		memset(buf, '#', sizeof(buf));
		len = 4;
		if (i == 0)
			ret = fi_getname(&ep->fid, buf, &len);
		else if (i == 1)
			ret = fi_getpeer(ep, buf, &len);
		else
			ret = fi_getname(&n.pep->fid, buf, &len);
		cr_assert_eq(ret, -FI_ETOOSMALL);
		cr_assert_eq(len, sizeof(struct sockaddr_in));
		cr_assert_eq(buf[4], '#');
	}
}

Test(conn, names_of_both_sides_match)
{
	union rcm_addr name[2], peer[2];

	cr_assert_eq(net_join(&n), 0);
	for (int i = 0; i < 2; i++) {
		size_t len = sizeof(name[i]);

		cr_assert_eq(fi_getname(&n.side[i].ep->fid, &name[i], &len), 0);
		len = sizeof(peer[i]);
		cr_assert_eq(fi_getpeer(n.side[i].ep, &peer[i], &len), 0);
	}
	for (int i = 0; i < 2; i++) {
		cr_assert(rcm_addr_same_host(&name[i], &peer[!i]));
		cr_assert_eq(rcm_addr_port(&name[i]), rcm_addr_port(&peer[!i]));
	}
}

Test(conn, peer_of_an_unconnected_endpoint_is_an_error)
{
	union rcm_addr addr;
	size_t len = sizeof(addr);

	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	cr_assert_eq(fi_getpeer(n.side[0].ep, &addr, &len), -FI_ENOTCONN);
}

/* LF#10405: the matrix of states and shutdown */
Test(conn, shutdown_fits_the_state)
{
	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	/* rdma-core 347866966 */
	cr_assert_lt(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	cr_assert_eq(net_join(&n), 0);
	cr_assert_lt(fi_shutdown(n.side[0].ep, 1), 0);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, NULL), 0);
	cr_assert_eq(net_await(&n, 0, FI_SHUTDOWN, NULL), 0);
	for (int i = 0; i < 2; i++) {
		int ret = fi_shutdown(n.side[i].ep, 0);

		cr_assert(ret == 0 || ret == -FI_ENOTCONN);
		cr_assert(net_quiet(&n, i));
	}
}

Test(conn, shutdown_while_connecting_ends_it)
{
	struct net_ev ev;

	requested(NULL, 0, NULL);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(net_next(&n, 0, &ev), 0);
	cr_assert_eq(ev.event, 0);
	cr_assert_eq(ev.err, FI_ECANCELED);
	cr_assert(net_quiet(&n, 0));
}

Test(conn, closing_alone_tells_the_peer)
{
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, NULL), 0);
	cr_assert(net_quiet(&n, 1));
}

/*
 * LF PR#3241: the peer waits 0.64 ms and no 655 ms for a receive. LF#6891: a
 * device need not take another timer later.
 */
Test(conn, rnr_timer_is_set_before_the_first_message)
{
	cr_assert_eq(net_join(&n), 0);
	for (int i = 0; i < 2; i++) {
		struct ibv_qp *qp = rcm_ep_of(n.side[i].ep)->qp.qp;

		cr_assert_eq(fake_qp_attr(qp)->min_rnr_timer, 12);
		/* thunderbolt-ibverbs#71: both ways */
		cr_assert_eq(fake_qp_attr(qp)->rnr_retry, 7);
	}
}

/* A request that ends between fi_endpoint and fi_ep_bind: told by fi_enable. */
Test(conn, request_ended_before_its_endpoint_is_bound_fails_the_enable)
{
	struct net_side *s = &n.side[1];

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(fi_endpoint(n.domain, n.req, &s->ep, NULL), 0);
	fake_inject_cm_event(rcm_ep_of(s->ep)->conn->id, RDMA_CM_EVENT_REJECTED,
			     28);
	cr_assert(net_quiet(&n, 1));
	cr_assert_eq(fi_ep_bind(s->ep, &s->eq->fid, 0), 0);
	cr_assert_eq(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	cr_assert_eq(fi_enable(s->ep), -FI_ECONNREFUSED);
	cr_assert(net_quiet(&n, 1));
}
