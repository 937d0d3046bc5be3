/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Buffers with and without a descriptor: every call, every size, through
 * fi_* calls. LF#11167, LF#5596: what cannot go must say so at the call.
 */

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_base.h"
#include "rcm_lease.h"

#define BUF    65536
#define PIECES 3

static struct net n;
static uint8_t out[BUF], in[BUF];
static struct fid_mr *mr;  /* of both */
static unsigned int rooms; /* registrations that stay */

static void set_up(void)
{
	net_begin(&n, NULL, 0);
}

static void tear_down(void)
{
	if (mr)
		fi_close(&mr->fid);
	net_end(&n);
}

TestSuite(mrlocal, .init = set_up, .fini = tear_down);

/* Regions that live now, without those of the test itself. */
static unsigned int leases(void)
{
	return fake_regions() - rooms;
}

static void join_with(int mr_mode)
{
	n.hints->domain_attr->mr_mode = mr_mode;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(n.info->domain_attr->mr_mode, mr_mode);
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(fi_mr_reg(n.domain, out, BUF, FI_SEND | FI_RECV, 0, 0, 0,
			       &mr, NULL),
		     0);
	rooms = fake_regions();
}

/* Descriptors of a list of pieces. */
enum given {
	NONE,
	ALL,
	MIXED, /* the second piece has one; a single piece has none */
};

static struct fid_mr *in_mr;

static void *desc_of(enum given given, size_t piece, struct fid_mr *region)
{
	if (given == NONE || (given == MIXED && piece != 1))
		return NULL;
	return fi_mr_desc(region);
}

/* LEN bytes of BASE in PIECES pieces, some of them maybe empty. */
static void cut(uint8_t *base, size_t len, enum given given,
		struct fid_mr *region, struct iovec *iov, void **desc)
{
	const size_t at[PIECES + 1] = { 0, len / 5, len / 2, len };

	for (size_t i = 0; i < PIECES; i++) {
		iov[i].iov_base = base + at[i];
		iov[i].iov_len = at[i + 1] - at[i];
		desc[i] = desc_of(given, i, region);
	}
}

static ssize_t send_plain(size_t len, enum given given, void *context)
{
	return fi_send(n.side[0].ep, out, len, desc_of(given, 0, mr), 0,
		       context);
}

static ssize_t send_list(size_t len, enum given given, void *context)
{
	struct iovec iov[PIECES];
	void *desc[PIECES];

	cut(out, len, given, mr, iov, desc);
	return fi_sendv(n.side[0].ep, iov, desc, PIECES, 0, context);
}

static ssize_t send_msg_flags(size_t len, enum given given, uint64_t flags,
			      void *context)
{
	struct iovec iov[PIECES];
	void *desc[PIECES];
	struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = PIECES,
		.context = context,
		.data = 77,
	};

	cut(out, len, given, mr, iov, desc);
	return fi_sendmsg(n.side[0].ep, &msg, flags);
}

static ssize_t send_msg(size_t len, enum given given, void *context)
{
	return send_msg_flags(len, given, FI_COMPLETION | FI_REMOTE_CQ_DATA,
			      context);
}

static ssize_t send_data(size_t len, enum given given, void *context)
{
	return fi_senddata(n.side[0].ep, out, len, desc_of(given, 0, mr), 77, 0,
			   context);
}

static ssize_t inject(size_t len, enum given given, void *context)
{
	(void)given;
	(void)context;
	return fi_inject(n.side[0].ep, out, len, 0);
}

static ssize_t inject_data(size_t len, enum given given, void *context)
{
	(void)given;
	(void)context;
	return fi_injectdata(n.side[0].ep, out, len, 77, 0);
}

static const struct {
	ssize_t (*post)(size_t len, enum given given, void *context);
	bool injects, data;
} sends[] = {
	{ send_plain, false, false }, { send_list, false, false },
	{ send_msg, false, true },    { send_data, false, true },
	{ inject, true, false },      { inject_data, true, true },
};

static ssize_t recv_plain(size_t len, enum given given, void *context)
{
	return fi_recv(n.side[1].ep, in, len, desc_of(given, 0, in_mr), 0,
		       context);
}

static ssize_t recv_list(size_t len, enum given given, void *context)
{
	struct iovec iov[PIECES];
	void *desc[PIECES];

	cut(in, len, given, in_mr, iov, desc);
	return fi_recvv(n.side[1].ep, iov, desc, PIECES, 0, context);
}

static ssize_t recv_msg(size_t len, enum given given, void *context)
{
	struct iovec iov[PIECES];
	void *desc[PIECES];
	struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = PIECES,
		.context = context,
	};

	cut(in, len, given, in_mr, iov, desc);
	return fi_recvmsg(n.side[1].ep, &msg, FI_COMPLETION);
}

static ssize_t (*const recvs[])(size_t len, enum given given, void *context) = {
	recv_plain,
	recv_list,
	recv_msg,
};

static void expect_comp(int side, void *context, size_t len, bool data)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[side].cq, &comp), 0);
	cr_assert_eq(comp.err, 0, "error %d", comp.err);
	cr_assert_eq(comp.context, context);
	if (side != 1)
		return;
	cr_assert_eq(comp.len, len);
	cr_assert_eq(!!(comp.flags & FI_REMOTE_CQ_DATA), data);
	cr_assert_eq(comp.data, data ? 77 : 0);
}

static void fill(size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(seed + i + (i >> 8));
	memset(in, 0, len);
}

/* One message of LEN bytes by calls S and R; all of it is given back. */
static void exchange(size_t s, size_t r, size_t len, enum given given)
{
	fill(len, (unsigned int)(s + r + len));
	cr_assert_eq(recvs[r](len, given, in), 0, "recv %zu, %zu", r, len);
	cr_assert_eq(sends[s].post(len, given, out), 0, "send %zu, %zu", s,
		     len);
	expect_comp(1, in, len, sends[s].data);
	if (!sends[s].injects)
		expect_comp(0, out, len, false);
	cr_assert_arr_eq(in, out, len);
}

static void exchange_all(enum given given)
{
	size_t limit = n.info->tx_attr->inject_size;
	const size_t sizes[] = {
		0,  1, 2, limit, limit + 1, RCM_LEASE_COPY, RCM_LEASE_COPY + 1,
		BUF
	};

	for (size_t s = 0; s < RCM_ARRAY_SIZE(sends); s++)
		for (size_t r = 0; r < RCM_ARRAY_SIZE(recvs); r++)
			for (size_t i = 0; i < RCM_ARRAY_SIZE(sizes); i++)
				if (!sends[s].injects || sizes[i] <= limit)
					exchange(s, r, sizes[i], given);
}

static void open_in(void)
{
	cr_assert_eq(fi_mr_reg(n.domain, in, BUF, FI_RECV, 0, 0, 0, &in_mr,
			       NULL),
		     0);
	rooms++;
}

static void close_in(void)
{
	cr_assert_eq(fi_close(&in_mr->fid), 0);
	rooms--;
}

Test(mrlocal, nothing_needs_a_descriptor_without_the_mode)
{
	join_with(0);
	exchange_all(NONE);
	/* what short messages are copied into */
	cr_assert_eq(leases(), 1);
}

Test(mrlocal, descriptors_given_all_the_same_are_used)
{
	join_with(0);
	open_in();
	exchange_all(ALL);
	cr_assert_eq(leases(), 0);
	cr_assert_eq(fake_calls_of(FAKE_reg_mr), rooms);
	close_in();
}

Test(mrlocal, lists_may_mix_both)
{
	join_with(0);
	open_in();
	exchange_all(MIXED);
	cr_assert_eq(leases(), 1);
	close_in();
}

Test(mrlocal, with_the_mode_descriptors_are_used_as_given)
{
	join_with(FI_MR_LOCAL);
	open_in();
	exchange_all(ALL);
	cr_assert_eq(fake_calls_of(FAKE_reg_mr), rooms);
	close_in();
}

/* LF#11167, LF#5596 */
Test(mrlocal, with_the_mode_a_missing_descriptor_is_refused_at_the_call)
{
	size_t limit;

	join_with(FI_MR_LOCAL);
	limit = n.info->tx_attr->inject_size;
	for (size_t r = 0; r < RCM_ARRAY_SIZE(recvs); r++)
		cr_assert_eq(recvs[r](1, NONE, in), -FI_EINVAL);
	for (size_t s = 0; s < RCM_ARRAY_SIZE(sends); s++)
		cr_assert_eq(sends[s].post(limit + 1, NONE, out), -FI_EINVAL);
	cr_assert_eq(fake_calls_of(FAKE_reg_mr), rooms);
}

/* the mode bit of old asks for the same */
Test(mrlocal, old_mode_bit_stands_for_it)
{
	n.hints->mode |= 1ULL << 55; /* FI_LOCAL_MR */
	join_with(0);
	cr_assert(n.info->mode & 1ULL << 55);
	cr_assert_eq(recv_plain(1, NONE, in), -FI_EINVAL);
	cr_assert_eq(send_plain(BUF, NONE, out), -FI_EINVAL);
}

/* LF#6430: a device without inline data */
static void no_inline(void)
{
	static const struct fake_dev_conf conf = { .name = "fake0",
						   .max_inline = -1,
						   .addrs = { "10.77.0.1" } };

	net_begin(&n, &conf, 1);
}

Test(mrlocal_no_inline, device_without_inline_data_serves_as_well,
     .init = no_inline, .fini = tear_down)
{
	join_with(0);
	exchange_all(NONE);
	cr_assert_eq(leases(), 1);
}

Test(mrlocal, posted_receives_are_given_back_by_the_close)
{
	join_with(0);
	for (size_t r = 0; r < RCM_ARRAY_SIZE(recvs); r++)
		cr_assert_eq(recvs[r](BUF, NONE, in), 0);
	cr_assert_eq(leases(), 1 + PIECES + PIECES);
	cr_assert_eq(fi_close(&n.side[1].ep->fid), 0);
	n.side[1].ep = NULL;
	cr_assert_eq(leases(), 0);
}

/* the peer ends: what is flushed is the application's when it is read */
Test(mrlocal, shutdown_gives_back_what_was_posted)
{
	struct net_comp comp;

	join_with(0);
	cr_assert_eq(recv_plain(BUF, NONE, in), 0);
	cr_assert_eq(recv_list(BUF, NONE, out), 0);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, NULL), 0);
	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	cr_assert_eq(comp.err, FI_ECANCELED);
	cr_assert_eq(comp.context, in);
	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	cr_assert_eq(comp.context, out);
	cr_assert_eq(leases(), 0);
}

/* too short a receive: both sides hear of it and have their memory */
Test(mrlocal, failed_messages_are_given_back)
{
	struct net_comp comp;

	join_with(0);
	cr_assert_eq(recv_plain(5000, NONE, in), 0);
	cr_assert_eq(send_plain(6000, NONE, out), 0);
	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	cr_assert_eq(comp.err, FI_ETRUNC);
	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), 0);
	cr_assert_neq(comp.err, 0);
	cr_assert_eq(leases(), 0);
}

/* memory that is not there, or not enough of it: at the call, at each one */
Test(mrlocal, registration_that_fails_is_said_at_the_call)
{
	static const int errs[][2] = {
		{ EFAULT, FI_EFAULT },
		{ EINVAL, FI_EINVAL },
		{ ENOMEM, FI_ENOMEM },
		{ EAGAIN, FI_ENOMEM },
	};

	join_with(0);
	for (size_t e = 0; e < RCM_ARRAY_SIZE(errs); e++) {
		for (unsigned int nth = 1; nth <= PIECES; nth++) {
			fake_fail(FAKE_reg_mr, nth, errs[e][0]);
			cr_assert_eq(recv_list(BUF, NONE, in), -errs[e][1]);
			fake_fail(FAKE_reg_mr, nth, errs[e][0]);
			cr_assert_eq(send_list(BUF, NONE, out), -errs[e][1]);
			cr_assert_eq(leases(), 0);
			fake_fail_none();
		}
	}
	exchange(1, 1, BUF, NONE);
	cr_assert_eq(leases(), 0);
}

/* FI_MORE: the memory is the request's, wherever that waits */
Test(mrlocal, sends_that_wait_for_their_doorbell_keep_their_memory)
{
	const uint64_t more = FI_COMPLETION | FI_MORE;

	join_with(0);
	fill(BUF, 5);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(recv_plain(BUF, NONE, in), 0);
	cr_assert_eq(send_msg_flags(BUF, NONE, more, out), 0);
	cr_assert_eq(send_msg_flags(300, NONE, more, out), 0);
	cr_assert_eq(leases(), 3 + PIECES + 1);
	cr_assert_eq(send_msg_flags(BUF, NONE, FI_COMPLETION, out), 0);
	expect_comp(1, in, BUF, false);
	expect_comp(1, in, 300, false);
	expect_comp(1, in, BUF, false);
	for (int i = 0; i < 3; i++)
		expect_comp(0, out, 0, false);
	cr_assert_arr_eq(in, out, BUF);
	cr_assert_eq(leases(), 1);
}

/* one buffer for many messages: its memory is its own till it is released */
Test(mrlocal, multi_receive_buffer_needs_no_descriptor)
{
	struct iovec iov = { in, BUF };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = in };
	size_t min = 1024;

	n.hints->caps = FI_MSG | FI_MULTI_RECV;
	join_with(0);
	cr_assert_eq(fi_setopt(&n.side[1].ep->fid, FI_OPT_ENDPOINT,
			       FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)),
		     0);
	cr_assert_eq(fi_recvmsg(n.side[1].ep, &msg, FI_MULTI_RECV), 0);
	cr_assert_eq(leases(), 1);
	fill(BUF, 3);
	cr_assert_eq(send_plain(BUF / 2, NONE, out), 0);
	expect_comp(1, in, BUF / 2, false);
	expect_comp(0, out, 0, false);
	cr_assert_eq(leases(), 1);
	cr_assert_eq(
		fi_send(n.side[0].ep, out + BUF / 2, BUF / 2, NULL, 0, out), 0);
	expect_comp(1, in, BUF / 2, false);
	expect_comp(0, out, 0, false);
	cr_assert_arr_eq(in, out, BUF);
	cr_assert_eq(leases(), 0);
}
