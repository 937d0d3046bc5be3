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
	cr_assert_eq(net_close_domain(&n), 0);
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

/* The passive endpoint that an active one has taken over. */
Test(promise_ep, passive_endpoint_that_was_taken_over_is_of_no_use)
{
	struct fi_info *info = fi_dupinfo(n.info);
	struct fid_pep *pep;
	union rcm_addr addr;
	size_t len = sizeof(addr);

	cr_assert_eq(fi_passive_ep(n.fabric, n.info, &pep, NULL), 0);
	cr_assert_eq(fi_pep_bind(pep, &n.side[0].eq->fid, 0), 0);
	cr_assert_eq(fi_getname(&pep->fid, &addr, &len), 0);
	info->handle = &pep->fid;
	cr_assert_eq(fi_endpoint(n.domain, info, &n.side[0].ep, NULL), 0);
	cr_assert_eq(fi_listen(pep), -FI_EOPBADSTATE);
	cr_assert_eq(fi_setname(&pep->fid, &addr, len), -FI_EOPBADSTATE);
	cr_assert_eq(fi_close(&pep->fid), 0);
	info->handle = NULL;
	fi_freeinfo(info);
}

Test(promise_ep, endpoint2_without_flags_is_an_endpoint)
{
	struct fid_ep *ep;

	cr_assert_eq(fi_endpoint2(n.domain, n.info, &ep, FI_PEER, NULL),
		     -FI_ENOSYS);
	cr_assert_eq(fi_endpoint2(n.domain, n.info, &ep, 0, &n), 0);
	cr_assert_eq(ep->fid.context, &n);
	cr_assert_eq(fi_close(&ep->fid), 0);
}

Test(promise_ep, selective_completion_needs_a_direction)
{
	struct fid_ep *ep;

	cr_assert_eq(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
	cr_assert_lt(
		fi_ep_bind(ep, &n.side[0].cq->fid, FI_SELECTIVE_COMPLETION), 0);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].cq->fid,
				FI_SELECTIVE_COMPLETION | FI_RECV),
		     0);
	cr_assert_eq(fi_close(&ep->fid), 0);
}

Test(promise_ep, hardware_is_taken_when_enabled_and_given_back_by_close)
{
	unsigned int before = fake_n_qps();
	struct fid_ep *ep;

	cr_assert_eq(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
	cr_assert_eq(fake_n_qps(), before);
	cr_assert_eq(fi_close(&ep->fid), 0);
	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	cr_assert_eq(fake_n_qps(), before + 1);
	cr_assert_eq(fi_enable(n.side[0].ep), 0);
	cr_assert_eq(fake_n_qps(), before + 1);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert_eq(fake_n_qps(), before);
}

Test(promise_ep, number_of_contexts_is_one_or_unsaid)
{
	struct fi_info *info = fi_dupinfo(n.info);
	struct fid_ep *ep;
	struct fid_stx *stx;

	cr_assert_eq(n.info->ep_attr->tx_ctx_cnt, 1);
	cr_assert_eq(n.info->ep_attr->rx_ctx_cnt, 1);
	info->ep_attr->tx_ctx_cnt = 0;
	info->ep_attr->rx_ctx_cnt = 0;
	cr_assert_eq(fi_endpoint(n.domain, info, &ep, NULL), 0);
	cr_assert_lt(fi_tx_context(ep, 0, NULL, NULL, NULL), 0);
	cr_assert_lt(fi_rx_context(ep, 0, NULL, NULL, NULL), 0);
	cr_assert_eq(fi_close(&ep->fid), 0);
	info->ep_attr->tx_ctx_cnt = 2;
	cr_assert_lt(fi_endpoint(n.domain, info, &ep, NULL), 0);
	info->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
	cr_assert_lt(fi_endpoint(n.domain, info, &ep, NULL), 0);
	info->ep_attr->tx_ctx_cnt = 1;
	info->ep_attr->rx_ctx_cnt = 2;
	cr_assert_lt(fi_endpoint(n.domain, info, &ep, NULL), 0);
	cr_assert_eq(fi_scalable_ep(n.domain, info, &ep, NULL), -FI_ENOSYS);
	cr_assert_eq(fi_stx_context(n.domain, NULL, &stx, NULL), -FI_ENOSYS);
	fi_freeinfo(info);
}

/* aws-ofi-nccl#606: -FI_ENOPROTOOPT and nothing else */
Test(promise_ep, option_that_is_not_there_says_so)
{
	struct fid *fid;
	size_t value = 1, len = sizeof(value);

	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	cr_assert_eq(net_listen(&n), 0);
	for (int k = 0; k < 2; k++) {
		fid = k ? &n.pep->fid : &n.side[0].ep->fid;
		/* all that newer headers name, too */
		for (int name = FI_OPT_CM_DATA_SIZE; name < 40; name++) {
			cr_assert_eq(fi_setopt(fid, FI_OPT_ENDPOINT, name,
					       &value, sizeof(value)),
				     -FI_ENOPROTOOPT);
			if (name == FI_OPT_CM_DATA_SIZE) /* read only */
				continue;
			cr_assert_eq(fi_getopt(fid, FI_OPT_ENDPOINT, name,
					       &value, &len),
				     -FI_ENOPROTOOPT);
		}
		cr_assert_eq(fi_getopt(fid, 77, FI_OPT_CM_DATA_SIZE, &value,
				       &len),
			     -FI_ENOPROTOOPT);
		cr_assert_eq(fi_getopt(fid, FI_OPT_ENDPOINT,
				       FI_OPT_CM_DATA_SIZE, &value, &len),
			     0);
		cr_assert_eq(value, 55);
	}
}

/* No struct fi_context is asked for; orders may be waived. */
Test(promise_ep, info_asks_for_nothing_and_may_be_asked_for_less)
{
	cr_assert_eq(n.info->mode & (FI_CONTEXT | FI_CONTEXT2), 0);
	cr_assert_eq(n.info->tx_attr->mode, 0);
	cr_assert_eq(n.info->rx_attr->mode, 0);
	cr_assert(n.info->tx_attr->msg_order & FI_ORDER_SAS);
	n.info->tx_attr->msg_order = 0;
	n.info->rx_attr->msg_order = 0;
	n.info->tx_attr->comp_order = 0;
	n.info->rx_attr->comp_order = 0;
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_exchange(&n, 0, 2, 64), 0);
}
