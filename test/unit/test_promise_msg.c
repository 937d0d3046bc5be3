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
