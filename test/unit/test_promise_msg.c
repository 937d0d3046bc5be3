/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Sentences of fi_msg(3) that no other test shows; docs/CONFORMANCE.md. */

#include <criterion/criterion.h>
#include <string.h>

#include "fake.h"
#include "net.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(promise_msg, .init = set_up, .fini = tear_down);

static void join_pair(void)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
}

/* A send that waits for the next one, after a receive for it. */
static void send_more(void)
{
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, 8 };
	struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &s->desc,
		.iov_count = 1,
	};

	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(fi_sendmsg(s->ep, &msg, FI_MORE), 0);
}

/* It went out although nothing has been read on the sender's side. */
static void assert_it_went(const char *after)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0, "%s", after);
	cr_assert_eq(comp.len, 8, "%s", after);
}

Test(promise_msg, failing_call_sends_what_waits_for_it)
{
	struct iovec iov[40];
	struct net_side *s = &n.side[0];
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 1 };

	join_pair();
	for (int i = 0; i < 40; i++)
		iov[i] = (struct iovec){ s->buf, 1 };
	send_more();
	cr_assert_lt(fi_sendmsg(s->ep, &msg, FI_MULTICAST), 0);
	assert_it_went("unknown flag");
	send_more();
	cr_assert_lt(fi_sendv(s->ep, iov, NULL, 40, 0, NULL), 0);
	assert_it_went("too many buffers");
	send_more();
	msg.iov_count = 40;
	cr_assert_lt(fi_sendmsg(s->ep, &msg, 0), 0);
	assert_it_went("too many buffers of a message");
	send_more();
	cr_assert_lt(fi_senddata(s->ep, s->buf, 1, NULL, UINT64_MAX, 0, NULL),
		     0);
	assert_it_went("too much data");
	send_more();
	msg.iov_count = 1;
	msg.data = UINT64_MAX;
	cr_assert_lt(fi_sendmsg(s->ep, &msg, FI_REMOTE_CQ_DATA), 0);
	assert_it_went("too much data of a message");
	send_more();
	cr_assert_lt(fi_inject(s->ep, s->buf, NET_BUF, 0), 0);
	assert_it_went("too much to inject");
	send_more();
	cr_assert_lt(fi_send(s->ep, s->buf, SIZE_MAX / 2, s->desc, 0, NULL), 0);
	assert_it_went("too long");
}

/* The descriptor of nothing may be anything. */
Test(promise_msg, message_of_no_bytes_does_not_look_at_its_descriptor)
{
	struct net_side *s = &n.side[0];
	void *wild = (void *)8;
	struct iovec iov = { NULL, 0 };
	struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &wild,
		.iov_count = 1,
	};

	join_pair();
	for (int i = 0; i < 4; i++)
		cr_assert_eq(fi_recv(n.side[1].ep, NULL, 0, wild, 0, NULL), 0);
	cr_assert_eq(fi_send(s->ep, NULL, 0, wild, 0, NULL), 0);
	cr_assert_eq(fi_senddata(s->ep, NULL, 0, wild, 1, 0, NULL), 0);
	cr_assert_eq(fi_sendv(s->ep, &iov, &wild, 1, 0, NULL), 0);
	cr_assert_eq(fi_sendmsg(s->ep, &msg, 0), 0);
}

static struct net_comp comp_of(int side)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[side].cq, &comp), 0);
	return comp;
}

/* A connected endpoint has one peer, whatever the argument says. */
Test(promise_msg, addresses_are_ignored)
{
	const fi_addr_t any = 0x123456789abcdefULL;
	struct net_side *tx = &n.side[0], *rx = &n.side[1];
	struct iovec from = { tx->buf, 8 }, to = { rx->buf, 64 };
	struct fi_msg send = { .msg_iov = &from, .iov_count = 1, .addr = any };
	struct fi_msg recv = { .msg_iov = &to, .iov_count = 1, .addr = any };

	join_pair();
	send.desc = &tx->desc;
	recv.desc = &rx->desc;
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(fi_recv(rx->ep, rx->buf, 64, rx->desc, any, NULL),
			     0);
		cr_assert_eq(fi_recvv(rx->ep, &to, &rx->desc, 1, any, NULL), 0);
		cr_assert_eq(fi_recvmsg(rx->ep, &recv, 0), 0);
	}
	cr_assert_eq(fi_send(tx->ep, tx->buf, 8, tx->desc, any, NULL), 0);
	cr_assert_eq(fi_sendv(tx->ep, &from, &tx->desc, 1, any, NULL), 0);
	cr_assert_eq(fi_sendmsg(tx->ep, &send, 0), 0);
	cr_assert_eq(fi_senddata(tx->ep, tx->buf, 8, tx->desc, 1, any, NULL),
		     0);
	cr_assert_eq(fi_inject(tx->ep, tx->buf, 8, any), 0);
	cr_assert_eq(fi_injectdata(tx->ep, tx->buf, 8, 1, any), 0);
	for (int i = 0; i < 6; i++)
		cr_assert_eq(comp_of(1).len, 8);
}

/* Each message fills one receive, the oldest, and no more than that. */
Test(promise_msg, messages_meet_receives_in_the_order_of_posting)
{
	join_pair();
	for (uintptr_t i = 0; i < 20; i++)
		cr_assert_eq(net_recv(&n, 1, 100 * i, 100, (void *)i), 0);
	for (uintptr_t i = 0; i < 20; i++) {
		memset(n.side[0].buf, (int)('a' + i), 100);
		cr_assert_eq(net_send(&n, 0, 0, 1 + 5 * i, (void *)(i + 50)),
			     0);
	}
	for (uintptr_t i = 0; i < 20; i++) {
		struct net_comp comp = comp_of(1);

		cr_assert_eq((uintptr_t)comp.context, i);
		cr_assert_eq(comp.len, 1 + 5 * i);
		cr_assert_eq(n.side[1].buf[100 * i + 5 * i], 'a' + i);
		cr_assert_neq(n.side[1].buf[100 * i + 5 * i + 1], 'a' + i);
		cr_assert_eq((uintptr_t)comp_of(0).context, i + 50);
	}
}

static int send_with(uint64_t flags, void *context)
{
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, 8 };
	struct fi_msg msg = { .msg_iov = &iov,
			      .desc = &s->desc,
			      .iov_count = 1,
			      .context = context };

	return (int)fi_sendmsg(s->ep, &msg, flags);
}

Test(promise_msg, completion_flag_says_nothing_new_without_selective)
{
	struct net_comp comp;

	join_pair();
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		cr_assert_eq(send_with(i ? FI_COMPLETION : 0, &n), 0);
		cr_assert_eq(comp_of(0).context, &n);
		cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), -FI_EAGAIN);
		cr_assert_eq(comp_of(1).len, 8);
	}
}

/* An acknowledgement says that the message has found its receive. */
Test(promise_msg, no_level_completes_before_the_message_has_arrived)
{
	const uint64_t levels[] = { 0, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE,
				    FI_DELIVERY_COMPLETE };
	struct net_comp comp;

	join_pair();
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		cr_assert_eq(send_with(levels[i], &n), 0);
		cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), -FI_EAGAIN);
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		cr_assert_eq(comp_of(0).context, &n);
		cr_assert_eq(comp_of(1).len, 8);
	}
}

Test(promise_msg, receive_may_ask_for_the_weaker_level)
{
	struct net_side *s = &n.side[1];
	struct iovec iov = { s->buf, 64 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	join_pair();
	msg.desc = &s->desc;
	cr_assert_eq(fi_recvmsg(s->ep, &msg, FI_TRANSMIT_COMPLETE), 0);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
	cr_assert_eq(comp_of(1).len, 8);
}

Test(promise_msg, levels_are_for_messages_of_any_length)
{
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, NET_BUF };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	join_pair();
	msg.desc = &s->desc;
	cr_assert_gt(NET_BUF, n.info->tx_attr->inject_size);
	cr_assert_eq(net_recv(&n, 1, 0, NET_BUF, NULL), 0);
	cr_assert_eq(fi_sendmsg(s->ep, &msg, FI_INJECT_COMPLETE), 0);
	cr_assert_eq(comp_of(1).len, NET_BUF);
	cr_assert_eq(comp_of(0).err, 0);
}
