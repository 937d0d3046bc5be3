/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Sentences of fi_rma(3) that no other test shows; docs/CONFORMANCE.md. */

#include <criterion/criterion.h>
#include <rdma/fi_rma.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_offer.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	n.hints->caps = FI_MSG | FI_RMA;
	n.hints->mode = FI_RX_CQ_DATA;
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(promise_rma, .init = set_up, .fini = tear_down);

static void join_pair(void)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
}

static struct net_comp comp_of(int side)
{
	struct net_comp comp = { 0 };

	cr_assert_eq(net_comp(&n, n.side[side].cq, &comp), 0);
	return comp;
}

static ssize_t write_data(size_t len)
{
	struct net_side *s = &n.side[0];

	return fi_writedata(s->ep, s->buf, len, s->desc, 77, 0,
			    (uintptr_t)n.side[1].buf, fi_mr_key(n.side[1].mr),
			    NULL);
}

static ssize_t call_msg(uint64_t flags, bool reads, fi_addr_t addr)
{
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, 4096 };
	struct fi_rma_iov there = { .addr = (uintptr_t)n.side[1].buf,
				    .len = 4096,
				    .key = fi_mr_key(n.side[1].mr) };
	struct fi_msg_rma msg = { .msg_iov = &iov,
				  .desc = &s->desc,
				  .iov_count = 1,
				  .addr = addr,
				  .rma_iov = &there,
				  .rma_iov_count = 1 };

	return reads ? fi_readmsg(s->ep, &msg, flags) :
		       fi_writemsg(s->ep, &msg, flags);
}

static void told_of_data(void *context)
{
	struct net_comp comp = comp_of(1);

	cr_assert_eq(comp.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	cr_assert_eq(comp.data, 77);
	cr_assert_eq(comp.context, context);
}

Test(promise_rma, addresses_are_ignored)
{
	const fi_addr_t none = FI_ADDR_NOTAVAIL;
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, 8 };
	uint64_t addr, key;

	join_pair();
	addr = (uintptr_t)n.side[1].buf;
	key = fi_mr_key(n.side[1].mr);
	cr_assert_eq(fi_recv(n.side[1].ep, NULL, 0, NULL, 0, NULL), 0);
	cr_assert_eq(fi_recv(n.side[1].ep, NULL, 0, NULL, 0, NULL), 0);
	cr_assert_eq(fi_write(s->ep, s->buf, 8, s->desc, none, addr, key, &n),
		     0);
	cr_assert_eq(fi_writev(s->ep, &iov, &s->desc, 1, none, addr, key, &n),
		     0);
	cr_assert_eq(call_msg(0, false, none), 0);
	cr_assert_eq(fi_writedata(s->ep, s->buf, 8, s->desc, 1, none, addr, key,
				  &n),
		     0);
	cr_assert_eq(fi_inject_write(s->ep, s->buf, 8, none, addr, key), 0);
	cr_assert_eq(fi_inject_writedata(s->ep, s->buf, 8, 1, none, addr, key),
		     0);
	cr_assert_eq(fi_read(s->ep, s->buf, 8, s->desc, none, addr, key, &n),
		     0);
	cr_assert_eq(fi_readv(s->ep, &iov, &s->desc, 1, none, addr, key, &n),
		     0);
	cr_assert_eq(call_msg(0, true, none), 0);
	for (int i = 0; i < 7; i++)
		cr_assert_eq(comp_of(0).err, 0);
}

/* It is told in any case, since it has used up what is the application's. */
Test(promise_rma, selective_target_is_told_of_data)
{
	n.rx_bind = FI_SELECTIVE_COMPLETION;
	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 8, &n), 0);
	cr_assert_eq(write_data(8), 0);
	told_of_data(&n);
}

Test(promise_rma, write_with_data_takes_nothing_of_a_multi_receive_buffer)
{
	struct net_side *s = &n.side[1];
	struct iovec iov = { s->buf, NET_BUF };
	struct fi_msg msg = { .msg_iov = &iov,
			      .iov_count = 1,
			      .context = &iov };
	struct net_comp comp;
	size_t min = 4096;

	n.hints->caps |= FI_MULTI_RECV;
	join_pair();
	msg.desc = &s->desc;
	cr_assert_eq(fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT,
			       FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)),
		     0);
	cr_assert_eq(fi_recvmsg(s->ep, &msg, FI_MULTI_RECV), 0);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(write_data(4000), 0);
		told_of_data(&iov);
	}
	/* so that two long messages fit in, and the first is at its start */
	cr_assert_eq(net_send(&n, 0, 0, 4000, NULL), 0);
	comp = comp_of(1);
	cr_assert_eq(comp.flags, FI_MSG | FI_RECV);
	cr_assert_eq(comp.len, 4000);
	cr_assert_eq(net_send(&n, 0, 0, 4000, NULL), 0);
	comp = comp_of(1);
	cr_assert_eq(comp.flags, FI_MSG | FI_RECV | FI_MULTI_RECV);
}

Test(promise_rma, write_with_data_uses_up_a_shared_receive)
{
	struct net_side *s = &n.side[1];

	n.hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	cr_assert_eq(net_open(&n), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(fi_srx_context(n.domain, n.info->rx_attr,
					    &n.side[i].srx, NULL),
			     0);
	cr_assert_eq(net_join(&n), 0);
	memset(s->buf, 9, NET_BUF);
	memset(n.side[0].buf, 5, 64);
	cr_assert_eq(fi_recv(s->srx, s->buf + 4096, 64, s->desc, 0, &n), 0);
	cr_assert_eq(fi_recv(s->srx, s->buf + 5000, 64, s->desc, 0, s), 0);
	cr_assert_eq(write_data(64), 0);
	told_of_data(&n);
	cr_assert_eq(s->buf[63], 5);
	cr_assert_eq(s->buf[4096], 9);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	cr_assert_eq(comp_of(1).context, s);
	cr_assert_eq(s->buf[5063], 5);
}

/* ofi_rxm hands the flags of its own user down as they are. */
Test(promise_rma, layer_above_passes_its_own_promise_down)
{
	n.getinfo_flags = RCM_GETINFO_LAYERED;
	join_pair();
	cr_assert_eq(call_msg(FI_DELIVERY_COMPLETE, false, 0), 0);
	cr_assert_eq(comp_of(0).err, 0);
}

Test(promise_rma, fence_reaches_the_device)
{
	join_pair();
	cr_assert_eq(call_msg(FI_FENCE, false, 0), 0);
	cr_assert_eq(fake_fences(), 1);
	cr_assert_eq(call_msg(FI_FENCE | FI_MORE, true, 0), 0);
	cr_assert_eq(call_msg(0, true, 0), 0);
	cr_assert_eq(fake_fences(), 2);
}
