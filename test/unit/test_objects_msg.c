/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Messages through fi_* calls: what arrives, and who is told. */

#include <criterion/criterion.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_base.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(msg, .init = set_up, .fini = tear_down);

static void join_pair(void)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
}

static struct net_comp comp_of(int side)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[side].cq, &comp), 0);
	return comp;
}

static void no_comp(int side)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[side].cq, &comp), -FI_EAGAIN);
}

static ssize_t send_flags(size_t len, uint64_t flags, void *context)
{
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, len };
	struct fi_msg msg = { .msg_iov = &iov,
			      .desc = &s->desc,
			      .iov_count = 1,
			      .context = context,
			      .data = 0x1234 };

	return fi_sendmsg(s->ep, &msg, flags);
}

static ssize_t recv_flags(size_t len, uint64_t flags, void *context)
{
	struct net_side *s = &n.side[1];
	struct iovec iov = { s->buf, len };
	struct fi_msg msg = { .msg_iov = &iov,
			      .desc = &s->desc,
			      .iov_count = 1,
			      .context = context };

	return fi_recvmsg(s->ep, &msg, flags);
}

Test(msg, sizes_arrive_whole_both_ways)
{
	static const size_t sizes[] = { 0, 1, 7, 255, 256, 257, 4096, NET_BUF };

	join_pair();
	for (size_t i = 0; i < RCM_ARRAY_SIZE(sizes); i++) {
		cr_assert_eq(net_exchange(&n, 0, 3, sizes[i]), 0);
		cr_assert_eq(net_exchange(&n, 1, 3, sizes[i]), 0);
	}
}

/* LF#7652, LF#11887 */
Test(msg, empty_message_needs_no_buffer)
{
	join_pair();
	cr_assert_eq(fi_recv(n.side[1].ep, NULL, 0, NULL, 0, &n), 0);
	cr_assert_eq(fi_send(n.side[0].ep, NULL, 0, NULL, 0, NULL), 0);
	cr_assert_eq(comp_of(0).context, NULL);
	cr_assert_eq(comp_of(1).context, &n);
	cr_assert_eq(fi_recvv(n.side[1].ep, NULL, NULL, 0, 0, &n), 0);
	cr_assert_eq(fi_sendv(n.side[0].ep, NULL, NULL, 0, 0, NULL), 0);
	cr_assert_eq(comp_of(1).len, 0);
	cr_assert_eq(comp_of(0).err, 0);
}

/* LF commits 177a47f23, 41ba54af1 */
Test(msg, null_context_is_a_context)
{
	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	cr_assert_null(comp_of(0).context);
	cr_assert_null(comp_of(1).context);
}

/* LF commit 7f56d47df: three pieces, inline and not */
Test(msg, pieces_arrive_in_one)
{
	struct net_side *s;
	struct iovec iov[3];
	void *desc[3];

	join_pair();
	s = &n.side[0];
	for (size_t len = 17; len < 2000; len += 900) {
		for (int i = 0; i < 3; i++) {
			iov[i].iov_base = s->buf + 2500 * (size_t)i;
			iov[i].iov_len = len;
			memset(iov[i].iov_base, 'a' + i, len);
			desc[i] = s->desc;
		}
		cr_assert_eq(net_recv(&n, 1, 0, NET_BUF, NULL), 0);
		cr_assert_eq(fi_sendv(s->ep, iov, desc, 3, 0, NULL), 0);
		cr_assert_eq(comp_of(1).len, 3 * len);
		for (size_t k = 0; k < 3 * len; k++)
			cr_assert_eq(n.side[1].buf[k], 'a' + k / len);
		cr_assert_eq(comp_of(0).err, 0);
	}
}

Test(msg, pieces_are_filled_in_order)
{
	struct net_side *s;
	struct iovec iov[2];
	void *desc[2];

	join_pair();
	s = &n.side[1];
	for (int i = 0; i < 2; i++) {
		iov[i].iov_base = s->buf + 100 * (size_t)i;
		iov[i].iov_len = 5;
		desc[i] = s->desc;
	}
	cr_assert_eq(fi_recvv(s->ep, iov, desc, 2, 0, NULL), 0);
	memcpy(n.side[0].buf, "abcdefgh", 8);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
	cr_assert_eq(comp_of(1).len, 8);
	cr_assert_arr_eq(s->buf, "abcde", 5);
	cr_assert_arr_eq(s->buf + 100, "fgh", 3);
}

/* LF PR#1321: sizes at the limit, for each call that injects */
Test(msg, inject_takes_what_it_promises)
{
	size_t max;

	join_pair();
	max = n.info->tx_attr->inject_size;
	cr_assert_gt(max, 0);
	for (size_t len = max - 1; len <= max + 1; len++) {
		ssize_t want = len > max ? -FI_EINVAL : 0;
		struct net_side *s = &n.side[0];

		for (int i = 0; i < 3; i++) {
			ssize_t ret;

			cr_assert_eq(net_recv(&n, 1, 0, NET_BUF, NULL), 0);
			memset(s->buf, 'x', len);
			if (i == 0)
				ret = fi_inject(s->ep, s->buf, len, 0);
			else if (i == 1)
				ret = fi_injectdata(s->ep, s->buf, len, 7, 0);
			else
				ret = send_flags(len, FI_INJECT, NULL);
			/* the buffer is free again */
			memset(s->buf, 'y', len);
			if (want) {
				cr_assert_lt(ret, 0);
				continue;
			}
			cr_assert_eq(ret, 0);
			cr_assert_eq(comp_of(1).len, len);
			cr_assert_eq(n.side[1].buf[len - 1], 'x');
		}
	}
}

/* LF#1349, LF#1079, LF#774 */
Test(msg, inject_needs_no_descriptor)
{
	struct iovec iov;
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	char here[16] = "fifteen letters";

	join_pair();
	iov.iov_base = here;
	iov.iov_len = sizeof(here);
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(fi_sendmsg(n.side[0].ep, &msg, FI_INJECT), 0);
	cr_assert_eq(comp_of(1).len, sizeof(here));
	cr_assert_str_eq((char *)n.side[1].buf, here);
}

Test(msg, inject_completes_silently)
{
	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(fi_inject(n.side[0].ep, n.side[0].buf, 8, 0), 0);
	cr_assert_eq(comp_of(1).len, 8);
	no_comp(0);
}

/* LF#6430, LF#6432: a device without inline data */
static void no_inline(void)
{
	static const struct fake_dev_conf conf = { .name = "fake0",
						   .max_inline = -1,
						   .addrs = { "10.77.0.1" } };

	net_begin(&n, &conf, 1);
}

/* LF#6430 */
Test(msg_no_inline, inject_goes_through_a_copy, .init = no_inline,
     .fini = tear_down)
{
	struct net_side *s = &n.side[0];
	size_t max;

	join_pair();
	max = n.info->tx_attr->inject_size;
	cr_assert_gt(max, 0);
	fake_hold_wire(true);
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(net_recv(&n, 1, (size_t)i * 512, max, NULL), 0);
		memset(s->buf, 'a' + i, max);
		cr_assert_eq(fi_inject(s->ep, s->buf, max, 0), 0);
	}
	fake_hold_wire(false);
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(comp_of(1).len, max);
		cr_assert_eq(n.side[1].buf[(size_t)i * 512], 'a' + i);
		cr_assert_eq(n.side[1].buf[(size_t)i * 512 + max - 1], 'a' + i);
	}
	no_comp(0);
}

/* LF#11167, LF#5596: at once, and no -FI_EAGAIN without end */
Test(msg, large_send_without_a_descriptor_is_refused)
{
	ssize_t ret;

	join_pair();
	for (size_t len = 1024; len <= NET_BUF; len *= 2) {
		ret = fi_send(n.side[0].ep, n.side[0].buf, len, NULL, 0, NULL);
		cr_assert_eq(ret, -FI_EINVAL);
	}
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
}

/* LF#7058, LF#6976 */
Test(msg, message_beyond_the_maximum_is_refused)
{
	static const struct fake_dev_conf conf = { .name = "fake0",
						   .max_msg_sz = 4096,
						   .addrs = { "10.77.0.1" } };

	net_end(&n);
	net_begin(&n, &conf, 1);
	join_pair();
	cr_assert_eq(n.info->ep_attr->max_msg_size, 4096);
	cr_assert_eq(net_send(&n, 0, 0, 4097, NULL), -FI_EMSGSIZE);
	cr_assert_eq(net_exchange(&n, 0, 1, 4096), 0);
}

/* LF PR#726 */
Test(msg, remote_data_arrives_with_its_flag)
{
	struct net_comp comp;

	join_pair();
	for (int i = 0; i < 3; i++) {
		struct net_side *s = &n.side[0];

		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		if (i == 0)
			cr_assert_eq(fi_senddata(s->ep, s->buf, 8, s->desc,
						 0x1234, 0, NULL),
				     0);
		else if (i == 1)
			cr_assert_eq(fi_injectdata(s->ep, s->buf, 8, 0x1234, 0),
				     0);
		else
			cr_assert_eq(send_flags(8, FI_REMOTE_CQ_DATA, NULL), 0);
		comp = comp_of(1);
		cr_assert_eq(comp.data, 0x1234);
		cr_assert(comp.flags & FI_REMOTE_CQ_DATA);
	}
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
	comp = comp_of(1);
	cr_assert_eq(comp.flags & FI_REMOTE_CQ_DATA, 0);
}

Test(msg, remote_data_is_never_cut)
{
	struct net_side *s = &n.side[0];
	struct net_comp comp;
	ssize_t ret;

	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	ret = fi_senddata(s->ep, s->buf, 8, s->desc, UINT64_MAX, 0, NULL);
	if (ret)
		cr_assert_eq(ret, -FI_EINVAL);
	else
		cr_assert_eq(comp_of(1).data, UINT32_MAX);
	if (ret)
		cr_assert_eq(fi_senddata(s->ep, s->buf, 8, s->desc, UINT32_MAX,
					 0, NULL),
			     0);
	(void)net_comp(&n, n.side[1].cq, &comp);
}

Test(msg, selective_sender_is_told_only_on_request)
{
	n.tx_bind = FI_SELECTIVE_COMPLETION;
	join_pair();
	for (int i = 0; i < 4; i++)
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 8, &n), 0);
	cr_assert_eq(send_flags(8, 0, &n), 0);
	no_comp(0);
	cr_assert_eq(send_flags(8, FI_COMPLETION, &n), 0);
	cr_assert_eq(comp_of(0).context, &n);
	no_comp(0);
}

Test(msg, selective_receiver_is_told_only_on_request)
{
	n.rx_bind = FI_SELECTIVE_COMPLETION;
	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	cr_assert_eq(recv_flags(64, 0, &n), 0);
	cr_assert_eq(recv_flags(64, FI_COMPLETION, &n.side[1]), 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
	cr_assert_eq(comp_of(1).context, &n.side[1]);
	no_comp(1);
}

Test(msg, selective_failure_is_told_all_the_same)
{
	n.tx_bind = FI_SELECTIVE_COMPLETION;
	n.rx_bind = FI_SELECTIVE_COMPLETION;
	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 4, &n.side[1]), 0);
	cr_assert_eq(net_send(&n, 0, 0, 8, &n.side[0]), 0);
	for (int i = 0; i < 2; i++) {
		struct net_comp comp = comp_of(i);

		cr_assert_gt(comp.err, 0);
		cr_assert_eq(comp.context, &n.side[i]);
	}
}

Test(msg, endpoint_default_asks_for_completions)
{
	n.hints->tx_attr->op_flags = FI_COMPLETION;
	n.tx_bind = FI_SELECTIVE_COMPLETION;
	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 8, &n), 0);
	cr_assert_eq(comp_of(0).context, &n);
}

/* LF PR#4345, LF PR#1802: far more than the queue holds */
Test(msg, silent_sends_are_reclaimed)
{
	unsigned int done = 0;

	n.hints->tx_attr->size = 16;
	n.two_cqs = true;
	n.tx_bind = FI_SELECTIVE_COMPLETION;
	join_pair();
	while (done < 500) {
		struct net_comp comp;
		ssize_t ret;

		if (done % 8 == 0) {
			for (int i = 0; i < 8; i++)
				cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		}
		ret = done % 2 ? fi_inject(n.side[0].ep, n.side[0].buf, 8, 0) :
				 net_send(&n, 0, 0, 8, NULL);
		if (ret == -FI_EAGAIN) {
			/* LF#10150: reading the queue of sends always helps */
			cr_assert_eq(net_comp(&n, n.side[0].cq, &comp),
				     -FI_EAGAIN);
			ret = net_send(&n, 0, 0, 8, NULL);
		}
		cr_assert_eq(ret, 0, "send %u gave %zd", done, ret);
		done++;
		cr_assert_eq(net_comp(&n, n.side[1].rx_cq, &comp), 0);
	}
}

Test(msg, full_send_queue_says_again_until_completions_are_read)
{
	unsigned int sent = 0, got = 0;
	struct net_comp comp;

	n.hints->tx_attr->size = 8;
	join_pair();
	while (net_send(&n, 0, 0, 8, NULL) == 0)
		cr_assert(++sent < 100);
	cr_assert_geq(sent, 8);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), -FI_EAGAIN);
	for (unsigned int i = 0; i < sent; i++)
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	while (net_comp(&n, n.side[0].cq, &comp) == 0)
		got++;
	cr_assert_eq(got, sent);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
}

Test(msg, full_receive_queue_says_again)
{
	unsigned int posted = 0;

	n.hints->rx_attr->size = 8;
	join_pair();
	while (net_recv(&n, 1, 0, 64, NULL) == 0)
		cr_assert(++posted < 100);
	cr_assert_geq(posted, 8);
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), -FI_EAGAIN);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
	cr_assert_eq(comp_of(1).len, 8);
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
}

/* design D9 */
Test(msg, more_rings_one_doorbell)
{
	unsigned int bells;

	join_pair();
	for (int i = 0; i < 4; i++)
		cr_assert_eq(net_recv(&n, 1, 0, 64, (void *)(uintptr_t)i), 0);
	bells = fake_doorbells();
	for (int i = 0; i < 4; i++)
		cr_assert_eq(send_flags(8, i < 3 ? FI_MORE : 0,
					(void *)(uintptr_t)i),
			     0);
	cr_assert_eq(fake_doorbells(), bells + 1);
	for (uintptr_t i = 0; i < 4; i++) {
		cr_assert_eq((uintptr_t)comp_of(0).context, i);
		cr_assert_eq((uintptr_t)comp_of(1).context, i);
	}
}

Test(msg, more_without_an_end_goes_out_when_the_queue_is_read)
{
	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(send_flags(8, FI_MORE, NULL), 0);
	(void)fi_cq_read(n.side[0].cq, NULL, 0);
	cr_assert_eq(comp_of(1).len, 8);
}

Test(msg, more_receives_go_in_with_the_last)
{
	join_pair();
	for (uintptr_t i = 0; i < 3; i++)
		cr_assert_eq(recv_flags(64, i < 2 ? FI_MORE : 0, (void *)i), 0);
	for (uintptr_t i = 0; i < 3; i++) {
		cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
		cr_assert_eq((uintptr_t)comp_of(1).context, i);
	}
}

Test(msg, more_beyond_the_queue_says_again)
{
	unsigned int sent = 0, got = 0;
	struct net_comp comp;

	n.hints->tx_attr->size = 8;
	join_pair();
	while (send_flags(8, FI_MORE, NULL) == 0)
		cr_assert(++sent < 1000);
	cr_assert_geq(sent, 8);
	for (unsigned int i = 0; i < sent; i++)
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	for (int i = 0; i < 50; i++)
		got += net_comp(&n, n.side[0].cq, &comp) == 0;
	cr_assert_eq(got, sent);
}

/* LF PR#2748, LF PR#3244: flags are combined */
Test(msg, fence_goes_with_other_flags)
{
	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(send_flags(8,
				FI_FENCE | FI_INJECT | FI_REMOTE_CQ_DATA |
					FI_COMPLETION,
				&n),
		     0);
	cr_assert_eq(comp_of(1).data, 0x1234);
	cr_assert_eq(comp_of(0).context, &n);
}

/* LF#2859: before, while and after */
Test(msg, send_without_a_connection_is_refused)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(fi_endpoint(n.domain, n.info, &n.side[0].ep, NULL), 0);
	cr_assert_lt(net_send(&n, 0, 0, 8, NULL), 0);
	cr_assert_neq(net_send(&n, 0, 0, 8, NULL), -FI_EAGAIN);
	cr_assert_lt(net_recv(&n, 0, 0, 8, NULL), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);

	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), -FI_ENOTCONN);
	cr_assert_eq(fi_inject(n.side[0].ep, n.side[0].buf, 8, 0),
		     -FI_ENOTCONN);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(net_await(&n, i, FI_CONNECTED, NULL), 0);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	for (int i = 0; i < 2; i++) {
		int ret;

		cr_assert_eq(net_await(&n, !i, FI_SHUTDOWN, NULL), 0);
		ret = net_send(&n, !i, 0, 8, NULL);
		cr_assert_lt(ret, 0);
		cr_assert_neq(ret, -FI_EAGAIN);
	}
}

/* Side 1 has the request and an endpoint for it, and both a receive. */
static void ready_to_accept(void)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_recv(&n, 0, 0, 64, &n), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(net_endpoint(&n, 1, n.req), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n.side[1]), 0);
}

/* Side 0 hears of it and sends, before side 1 reads FI_CONNECTED. */
static void accept_and_get_message(void)
{
	struct net_comp comp = { 0 };

	cr_assert_eq(fi_accept(n.side[1].ep, NULL, 0), 0);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	cr_assert_eq(comp.context, &n.side[1]);
}

/* pmem/rpma#350 and others: receives before the connection, data before
 * FI_CONNECTED is read */
Test(msg, first_message_needs_no_event)
{
	ready_to_accept();
	accept_and_get_message();
	cr_assert_eq(net_await(&n, 1, FI_CONNECTED, NULL), 0);
}

/* A message may come before FI_CONNECTED is read, and needs its answer then:
 * ofi_rxm, which reads from the peer, reports anything else to a wrong request
 */
Test(msg, first_message_is_answered_without_event)
{
	ready_to_accept();
	cr_assert_eq(net_send(&n, 1, 0, 8, NULL), -FI_ENOTCONN);
	accept_and_get_message();
	cr_assert_eq(net_send(&n, 1, 0, 8, NULL), 0);
	cr_assert_eq(net_await(&n, 1, FI_CONNECTED, NULL), 0);
}

/* LF PR#824, LF#842, SPDK#3195 */
Test(msg, only_a_full_queue_says_again)
{
	join_pair();
	fake_fail(FAKE_post_send, 1, EINVAL);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), -FI_EINVAL);
	fake_fail(FAKE_post_recv, 1, EIO);
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), -FI_EIO);
	cr_assert_eq(net_exchange(&n, 0, 3, 64), 0);
	fake_fail_none();
	/* a device that is out of memory while nothing is outstanding */
	fake_fail(FAKE_post_send, 1, ENOMEM);
	cr_assert_neq(net_send(&n, 0, 0, 8, NULL), 0);
	cr_assert_eq(net_exchange(&n, 0, 3, 64), 0);
}

Test(msg, failing_poll_is_an_error)
{
	struct net_comp comp;
	int ret;

	join_pair();
	for (unsigned int i = 1; i <= 8; i++)
		fake_fail(FAKE_poll_cq, i, EIO);
	ret = net_comp(&n, n.side[0].cq, &comp);
	cr_assert_lt(ret, 0);
	cr_assert_neq(ret, -FI_EAGAIN);
	fake_fail_none();
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
}
