/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Sentences of fi_endpoint(3) and fi_cm(3) that no other test shows;
 * docs/CONFORMANCE.md.
 */

#include <criterion/criterion.h>
#include <string.h>

#include "fake.h"
#include "net.h"

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

TestSuite(promise_ep, .init = set_up, .fini = tear_down);

Test(promise_ep, ended_endpoint_cannot_be_enabled_again)
{
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(fi_enable(n.side[0].ep), 0);
	cr_assert_eq(fi_shutdown(n.side[1].ep, 0), 0);
	cr_assert_eq(net_await(&n, 0, FI_SHUTDOWN, NULL), 0);
	cr_assert_eq(fi_enable(n.side[0].ep), -FI_EOPBADSTATE);
}

/* An event queue that a domain is bound to outlives it. */
static void close_domain(void)
{
	for (int i = 0; i < 2; i++) {
		struct net_side *s = &n.side[i];

		if (s->ep)
			cr_assert_eq(fi_close(&s->ep->fid), 0);
		cr_assert_eq(fi_close(&s->mr->fid), 0);
		cr_assert_eq(fi_close(&s->cq->fid), 0);
		s->ep = NULL;
		s->mr = NULL;
		s->cq = NULL;
	}
	cr_assert_eq(fi_close(&n.domain->fid), 0);
	n.domain = NULL;
}

/* fi_domain(3): the domain's queue is that of endpoints without their own */
Test(promise_ep, endpoint_without_an_event_queue_uses_the_domains)
{
	struct net_side *s = &n.side[0];

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(fi_domain_bind(n.domain, &s->eq->fid, 0), 0);
	cr_assert_eq(fi_endpoint(n.domain, n.info, &s->ep, NULL), 0);
	cr_assert_eq(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	cr_assert_eq(fi_connect(s->ep, &n.addr, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), 0);
	cr_assert_eq(net_await(&n, 1, FI_CONNECTED, NULL), 0);
	close_domain();
}

/* fi_cm(3): what is canceled has its entry when the call returns */
Test(promise_ep, shutdown_returns_after_the_entries_of_what_it_cancels)
{
	struct net_comp comp;

	cr_assert_eq(net_join(&n), 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(net_recv(&n, 0, 0, 64, &n.side[i % 2]), 0);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), 0);
		cr_assert_eq(comp.err, FI_ECANCELED);
		cr_assert_eq(comp.context, &n.side[i % 2]);
	}
	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), -FI_EAGAIN);
}

/* fi_cm(3): completions that were there stay readable */
Test(promise_ep, shutdown_leaves_written_completions_alone)
{
	struct net_comp comp;

	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	cr_assert_eq(net_send(&n, 0, 0, 8, &n.side[0]), 0);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), 0);
	cr_assert_eq(comp.err, 0);
	cr_assert_eq(comp.context, &n.side[0]);
	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	cr_assert_eq(comp.err, 0);
	cr_assert_eq(comp.context, &n);
}

Test(promise_ep, shutdown_takes_no_flags)
{
	cr_assert_eq(net_join(&n), 0);
	cr_assert_lt(fi_shutdown(n.side[0].ep, FI_SEND), 0);
	cr_assert_eq(net_exchange(&n, 0, 1, 8), 0);
}
