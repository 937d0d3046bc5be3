/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Default flags of an endpoint, and aliases that have others. */

#include <criterion/criterion.h>

#include "fake.h"
#include "net.h"
#include "rcm_base.h"

static struct net n;
static struct fid_ep *alias;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	n.tx_bind = FI_SELECTIVE_COMPLETION;
	cr_assert_eq(net_open(&n), 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(alias, .init = set_up, .fini = tear_down);

static void join_pair(void)
{
	cr_assert_eq(net_join(&n), 0);
}

/* Sends a message through EP; was its sender told? */
static bool told(struct fid_ep *ep)
{
	struct net_side *s = &n.side[0];
	struct net_comp comp;
	int mine;

	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(fi_send(ep, s->buf, 64, s->desc, 0, &mine), 0);
	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	if (net_comp(&n, s->cq, &comp))
		return false;
	cr_assert_eq(comp.context, &mine);
	return true;
}

static int get_flags(struct fid_ep *ep, uint64_t *flags)
{
	return fi_control(&ep->fid, FI_GETOPSFLAG, flags);
}

static int set_flags(struct fid_ep *ep, uint64_t flags)
{
	return fi_control(&ep->fid, FI_SETOPSFLAG, &flags);
}

Test(alias, default_flags_are_read_and_changed)
{
	struct fid_ep *ep;
	uint64_t flags = FI_TRANSMIT;

	join_pair();
	ep = n.side[0].ep;
	cr_assert_eq(get_flags(ep, &flags), 0);
	cr_assert_eq(flags, 0);
	cr_assert_not(told(ep));
	cr_assert_eq(set_flags(ep, FI_TRANSMIT | FI_COMPLETION), 0);
	flags = FI_TRANSMIT;
	cr_assert_eq(get_flags(ep, &flags), 0);
	cr_assert_eq(flags, FI_COMPLETION);
	cr_assert(told(ep));
	flags = FI_RECV;
	cr_assert_eq(get_flags(ep, &flags), 0);
	cr_assert_eq(flags, 0, "the other side is as it was");
	cr_assert_eq(set_flags(ep, FI_TRANSMIT), 0);
	cr_assert_not(told(ep));
}

Test(alias, flags_must_name_one_side_and_be_defaults)
{
	uint64_t flags = 0;
	struct fid_ep *ep;

	join_pair();
	ep = n.side[0].ep;
	cr_assert_eq(get_flags(ep, &flags), -FI_EINVAL);
	flags = FI_TRANSMIT | FI_RECV;
	cr_assert_eq(get_flags(ep, &flags), -FI_EINVAL);
	cr_assert_eq(get_flags(ep, NULL), -FI_EINVAL);
	cr_assert_eq(fi_control(&ep->fid, FI_SETOPSFLAG, NULL), -FI_EINVAL);
	cr_assert_eq(set_flags(ep, FI_COMPLETION), -FI_EINVAL);
	cr_assert_eq(set_flags(ep, FI_TRANSMIT | FI_FENCE), -FI_EBADFLAGS);
	cr_assert_eq(set_flags(ep, FI_RECV | FI_INJECT), -FI_EBADFLAGS);
	cr_assert_eq(fi_ep_alias(ep, &alias, 0), -FI_EINVAL);
	cr_assert_eq(fi_ep_alias(ep, &alias, FI_TRANSMIT | FI_RECV),
		     -FI_EINVAL);
	cr_assert_eq(fi_ep_alias(ep, &alias, FI_TRANSMIT | FI_FENCE),
		     -FI_EBADFLAGS);
	cr_assert_eq(fi_control(&ep->fid, FI_ALIAS, NULL), -FI_EINVAL);
}

Test(alias, alias_differs_in_its_flags_alone)
{
	struct fid_ep *ep;

	join_pair();
	ep = n.side[0].ep;
	cr_assert_eq(fi_ep_alias(ep, &alias, FI_TRANSMIT | FI_COMPLETION), 0);
	cr_assert(told(alias));
	cr_assert_not(told(ep));
	cr_assert_eq(set_flags(alias, FI_TRANSMIT), 0);
	cr_assert_not(told(alias));
	cr_assert_eq(fi_close(&alias->fid), 0);
	cr_assert_not(told(ep));
}

Test(alias, alias_of_an_alias_is_one_of_the_endpoint)
{
	struct fid_ep *second;

	join_pair();
	cr_assert_eq(fi_ep_alias(n.side[0].ep, &alias,
				 FI_TRANSMIT | FI_COMPLETION),
		     0);
	cr_assert_eq(fi_ep_alias(alias, &second, FI_RECV), 0);
	cr_assert_eq(fi_close(&alias->fid), 0);
	cr_assert(told(second), "it has the flags that it was made with");
	cr_assert_eq(fi_close(&second->fid), 0);
}

/* fi_endpoint(3): all aliases are closed before their endpoint is */
Test(alias, endpoint_with_an_alias_is_busy)
{
	join_pair();
	cr_assert_eq(fi_ep_alias(n.side[0].ep, &alias, FI_RECV), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), -FI_EBUSY);
	cr_assert_not(told(alias), "nothing has changed");
	cr_assert_eq(fi_close(&alias->fid), 0);
}

Test(alias, alias_from_before_the_endpoint_is_enabled_works_after)
{
	struct net_side *s = &n.side[0];

	cr_assert_eq(fi_endpoint(n.domain, n.info, &s->ep, NULL), 0);
	cr_assert_eq(fi_ep_alias(s->ep, &alias, FI_TRANSMIT | FI_COMPLETION),
		     0);
	cr_assert_eq(fi_send(alias, NULL, 0, NULL, 0, NULL), -FI_EOPBADSTATE);
	cr_assert_eq(fi_ep_bind(alias, &s->eq->fid, 0), 0);
	cr_assert_eq(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	cr_assert_eq(fi_enable(alias), 0);
	cr_assert_eq(fi_recv(alias, s->buf, 8, s->desc, 0, NULL), 0);
	cr_assert_eq(fi_send(alias, NULL, 0, NULL, 0, NULL), -FI_ENOTCONN);
	cr_assert_eq(fi_close(&alias->fid), 0);
}
