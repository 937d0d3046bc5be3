/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Reads and writes of the peer's memory through fi_* calls. */

#include <criterion/criterion.h>
#include <rdma/fi_rma.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_base.h"

#define DATA 0xfedcba98u

static struct net n;

static void ask_for_rma(void)
{
	n.hints->caps = FI_MSG | FI_RMA;
	n.hints->mode = FI_RX_CQ_DATA;
}

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	ask_for_rma();
}

static void set_up_no_inline(void)
{
	static const struct fake_dev_conf conf = { .addrs = { "10.77.0.1" },
						   .max_inline = -1 };

	net_begin(&n, &conf, 1);
	ask_for_rma();
}

static void set_up_no_reads(void)
{
	static const struct fake_dev_conf conf = { .addrs = { "10.77.0.1" },
						   .max_rd_atom = -1 };

	net_begin(&n, &conf, 1);
	ask_for_rma();
}

static void set_up_short_reads(void)
{
	static const struct fake_dev_conf conf = { .addrs = { "10.77.0.1" },
						   .max_sge_rd = 1 };

	net_begin(&n, &conf, 1);
	ask_for_rma();
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(rma, .init = set_up, .fini = tear_down);
TestSuite(rma_no_inline, .init = set_up_no_inline, .fini = tear_down);
TestSuite(rma_no_reads, .init = set_up_no_reads, .fini = tear_down);

TestSuite(rma_short_reads, .init = set_up_short_reads, .fini = tear_down);

static void join_pair(void)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
}

static struct fid_ep *ep(void)
{
	return n.side[0].ep;
}

/* The peer's memory, from OFF on. */
static uint64_t there(size_t off)
{
	return (uintptr_t)n.side[1].buf + off;
}

static uint64_t key(void)
{
	return fi_mr_key(n.side[1].mr);
}

static struct net_comp comp_of(int side)
{
	struct net_comp comp = { 0 };

	cr_assert_eq(net_comp(&n, n.side[side].cq, &comp), 0);
	return comp;
}

static void no_comp(int side)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[side].cq, &comp), -FI_EAGAIN);
}

static void fill(int side, uint8_t seed)
{
	for (size_t i = 0; i < NET_BUF; i++)
		n.side[side].buf[i] = (uint8_t)(seed + i * 7);
}

/* Both sides hold the same LEN bytes from OFF on, and differ behind them. */
static void same(size_t off, size_t len)
{
	cr_assert_eq(memcmp(n.side[0].buf + off, n.side[1].buf + off, len), 0,
		     "%zu bytes", len);
	if (off + len < NET_BUF)
		cr_assert_neq(n.side[0].buf[off + len],
			      n.side[1].buf[off + len]);
}

static void two_pieces(struct iovec *iov, size_t off, size_t len)
{
	iov[0].iov_base = n.side[0].buf + off;
	iov[0].iov_len = len / 2;
	iov[1].iov_base = n.side[0].buf + off + len / 2;
	iov[1].iov_len = len - len / 2;
}

static ssize_t writemsg(size_t len, uint64_t flags, void *context)
{
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, len };
	struct fi_rma_iov to = { .addr = there(0), .len = len, .key = key() };
	struct fi_msg_rma msg = { .msg_iov = &iov,
				  .desc = &s->desc,
				  .iov_count = 1,
				  .rma_iov = &to,
				  .rma_iov_count = 1,
				  .context = context,
				  .data = DATA };

	return fi_writemsg(s->ep, &msg, flags);
}

static ssize_t readmsg(size_t len, uint64_t flags, void *context)
{
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, len };
	struct fi_rma_iov from = { .addr = there(0), .len = len, .key = key() };
	struct fi_msg_rma msg = { .msg_iov = &iov,
				  .desc = &s->desc,
				  .iov_count = 1,
				  .rma_iov = &from,
				  .rma_iov_count = 1,
				  .context = context };

	return fi_readmsg(s->ep, &msg, flags);
}

/* The calls that write, read; those after INJECT say so to nobody. */
enum {
	WRITE,
	WRITEV,
	WRITEMSG,
	WRITEDATA,
	INJECT,
	INJECTDATA,
	WRITES
};
enum {
	READ,
	READV,
	READMSG,
	READS
};

static ssize_t write_by(int call, size_t len, void *context)
{
	struct net_side *s = &n.side[0];
	void *desc[2] = { s->desc, s->desc };
	struct iovec iov[2];

	two_pieces(iov, 0, len);
	switch (call) {
	case WRITE:
		return fi_write(s->ep, s->buf, len, s->desc, 0, there(0), key(),
				context);
	case WRITEV:
		return fi_writev(s->ep, iov, desc, 2, 0, there(0), key(),
				 context);
	case WRITEMSG:
		return writemsg(len, 0, context);
	case WRITEDATA:
		return fi_writedata(s->ep, s->buf, len, s->desc, DATA, 0,
				    there(0), key(), context);
	case INJECT:
		return fi_inject_write(s->ep, s->buf, len, 0, there(0), key());
	default:
		return fi_inject_writedata(s->ep, s->buf, len, DATA, 0,
					   there(0), key());
	}
}

static ssize_t read_by(int call, size_t len, void *context)
{
	struct net_side *s = &n.side[0];
	void *desc[2] = { s->desc, s->desc };
	struct iovec iov[2];

	two_pieces(iov, 0, len);
	switch (call) {
	case READ:
		return fi_read(s->ep, s->buf, len, s->desc, 0, there(0), key(),
			       context);
	case READV:
		return fi_readv(s->ep, iov, desc, 2, 0, there(0), key(),
				context);
	default:
		return readmsg(len, 0, context);
	}
}

static const size_t sizes[] = { 0, 1, 2, 255, 256, 257, 4096, NET_BUF };

static void told_of_data(size_t len, void *context)
{
	struct net_comp comp = comp_of(1);

	cr_assert_eq(comp.context, context);
	cr_assert_eq(comp.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	cr_assert_eq(comp.data, DATA);
	cr_assert_eq(comp.len, len);
	cr_assert_eq(comp.err, 0);
}

static void write_and_look(int call, size_t len)
{
	bool brings_data = call == WRITEDATA || call == INJECTDATA;
	struct net_comp comp;

	fill(0, (uint8_t)(call + len));
	fill(1, (uint8_t)(call + len + 128));
	if (brings_data)
		cr_assert_eq(fi_recv(n.side[1].ep, NULL, 0, NULL, 0, &n), 0);
	cr_assert_eq(write_by(call, len, &comp), 0);
	if (call < INJECT) {
		comp = comp_of(0);
		cr_assert_eq(comp.context, &comp);
		cr_assert_eq(comp.flags, FI_RMA | FI_WRITE);
		cr_assert_eq(comp.err, 0);
	}
	no_comp(0);
	if (brings_data)
		told_of_data(len, &n);
	no_comp(1);
	same(0, len);
}

/* The target is told of data alone. */
Test(rma, writes_arrive_whole_by_every_call)
{
	join_pair();
	for (int call = WRITE; call < WRITES; call++)
		for (size_t i = 0; i < RCM_ARRAY_SIZE(sizes); i++)
			if (call < INJECT || sizes[i] <= 256)
				write_and_look(call, sizes[i]);
}

Test(rma_no_inline, writes_arrive_whole_by_every_call)
{
	join_pair();
	for (int call = WRITE; call < WRITES; call++)
		for (size_t i = 0; i < RCM_ARRAY_SIZE(sizes); i++)
			if (call < INJECT || sizes[i] <= 256)
				write_and_look(call, sizes[i]);
}

Test(rma, reads_arrive_whole_by_every_call)
{
	struct net_comp comp;

	join_pair();
	for (int call = READ; call < READS; call++) {
		for (size_t i = 0; i < RCM_ARRAY_SIZE(sizes); i++) {
			fill(0, (uint8_t)i);
			fill(1, (uint8_t)(i + 128));
			cr_assert_eq(read_by(call, sizes[i], &comp), 0);
			comp = comp_of(0);
			cr_assert_eq(comp.context, &comp);
			cr_assert_eq(comp.flags, FI_RMA | FI_READ);
			cr_assert_eq(comp.err, 0);
			no_comp(1);
			same(0, sizes[i]);
		}
	}
}

static ssize_t call_by_number(int call, size_t len)
{
	return call < WRITES ? write_by(call, len, NULL) :
			       read_by(call - WRITES, len, NULL);
}

static void make_ep(void)
{
	struct net_side *s = &n.side[0];

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_endpoint(n.domain, n.info, &s->ep, NULL), 0);
	cr_assert_eq(fi_ep_bind(s->ep, &s->eq->fid, 0), 0);
	cr_assert_eq(net_bind_cqs(&n, 0, s->ep), 0);
}

Test(rma, nothing_works_before_the_endpoint_is_enabled)
{
	make_ep();
	for (int call = 0; call < WRITES + READS; call++)
		cr_assert_eq(call_by_number(call, 8), -FI_EOPBADSTATE);
	cr_assert_eq(fi_enable(ep()), 0);
	for (int call = 0; call < WRITES + READS; call++)
		cr_assert_eq(call_by_number(call, 8), -FI_ENOTCONN);
}

/* An alias made before fi_enable works after it, too. */
Test(rma, aliases_write_as_their_endpoint_does)
{
	struct net_side *s = &n.side[0];
	struct fid_ep *alias;

	make_ep();
	cr_assert_eq(fi_ep_alias(s->ep, &alias, FI_TRANSMIT), 0);
	cr_assert_eq(fi_write(alias, s->buf, 8, s->desc, 0, there(0), key(),
			      NULL),
		     -FI_EOPBADSTATE);
	cr_assert_eq(fi_enable(ep()), 0);
	cr_assert_eq(fi_write(alias, s->buf, 8, s->desc, 0, there(0), key(),
			      NULL),
		     -FI_ENOTCONN);
	cr_assert_eq(fi_close(&alias->fid), 0);
}

Test(rma, endpoint_does_what_it_was_opened_for_and_no_more)
{
	static const uint64_t caps[] = { FI_MSG, FI_MSG | FI_RMA | FI_READ,
					 FI_MSG | FI_RMA | FI_WRITE,
					 FI_MSG | FI_RMA };

	for (size_t i = 0; i < RCM_ARRAY_SIZE(caps); i++) {
		n.hints->caps = caps[i];
		cr_assert_eq(net_open(&n), 0);
		n.hints->caps = FI_MSG | FI_RMA;
		cr_assert_eq(net_join(&n), 0);
		for (int call = 0; call < WRITES + READS; call++) {
			uint64_t need = call < WRITES ? FI_WRITE : FI_READ;
			ssize_t ret = call_by_number(call, 0);

			if (!(n.info->caps & need))
				cr_assert_eq(ret, -FI_ENOSYS, "%zu %d", i,
					     call);
			else
				cr_assert_eq(ret, 0, "%zu %d", i, call);
		}
		cr_assert_eq(net_close(&n), 0);
		cr_assert_eq(net_init(&n), 0);
		ask_for_rma();
	}
}

/* The QP lets the peer do what its endpoint was opened for. */
Test(rma, queue_pair_grants_what_the_capabilities_say)
{
	static const struct {
		uint64_t caps;
		unsigned int granted;
	} rows[] = {
		{ FI_MSG, 0 },
		{ FI_MSG | FI_RMA | FI_READ | FI_WRITE, 0 },
		{ FI_MSG | FI_RMA | FI_REMOTE_READ, IBV_ACCESS_REMOTE_READ },
		{ FI_MSG | FI_RMA | FI_REMOTE_WRITE, IBV_ACCESS_REMOTE_WRITE },
		{ FI_MSG | FI_RMA,
		  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE },
	};

	for (size_t i = 0; i < RCM_ARRAY_SIZE(rows); i++) {
		n.hints->caps = rows[i].caps;
		join_pair();
		cr_assert_eq(fake_qp_attr(fake_last_qp())->qp_access_flags,
			     rows[i].granted, "%zu", i);
		cr_assert_eq(net_close(&n), 0);
		cr_assert_eq(net_init(&n), 0);
		ask_for_rma();
	}
}

/* LF#666: nobody who does not know of it has a receive used up */
Test(rma, data_is_for_those_who_know_what_it_costs)
{
	n.hints->mode = 0;
	join_pair();
	cr_assert_eq(n.info->domain_attr->cq_data_size, 0);
	cr_assert_eq(write_by(WRITEDATA, 8, NULL), -FI_EOPNOTSUPP);
	cr_assert_eq(write_by(INJECTDATA, 8, NULL), -FI_EOPNOTSUPP);
	cr_assert_eq(writemsg(8, FI_REMOTE_CQ_DATA, NULL), -FI_EOPNOTSUPP);
	cr_assert_eq(write_by(WRITE, 8, NULL), 0);
	cr_assert_eq(comp_of(0).err, 0);
}

Test(rma, data_has_all_its_bits_and_is_never_cut)
{
	static const uint32_t data[] = { 0, 1, 0x80000000u, UINT32_MAX };
	struct net_side *s = &n.side[0];

	join_pair();
	for (size_t i = 0; i < RCM_ARRAY_SIZE(data); i++) {
		cr_assert_eq(net_recv(&n, 1, 64, 8, &n), 0);
		cr_assert_eq(fi_writedata(s->ep, s->buf, 8, s->desc, data[i], 0,
					  there(0), key(), NULL),
			     0);
		cr_assert_eq(comp_of(1).data, data[i]);
		cr_assert_eq(comp_of(0).err, 0);
	}
	cr_assert_eq(fi_writedata(s->ep, s->buf, 8, s->desc, 1ULL << 32, 0,
				  there(0), key(), NULL),
		     -FI_EINVAL);
	cr_assert_eq(fi_inject_writedata(s->ep, s->buf, 8, 1ULL << 32, 0,
					 there(0), key()),
		     -FI_EINVAL);
}

/* fi_cq(3): what the write used up keeps its buffer, and gives its context */
Test(rma, write_with_data_leaves_the_buffer_of_the_receive_alone)
{
	join_pair();
	fill(0, 1);
	fill(1, 200);
	cr_assert_eq(net_recv(&n, 1, 4096, 64, &n), 0);
	cr_assert_eq(writemsg(64, FI_REMOTE_CQ_DATA | FI_COMPLETION, NULL), 0);
	told_of_data(64, &n);
	same(0, 64);
	for (size_t i = 4096; i < 4160; i++)
		cr_assert_eq(n.side[1].buf[i], (uint8_t)(200 + i * 7));
}

Test(rma, write_with_data_waits_for_a_receive)
{
	join_pair();
	cr_assert_eq(write_by(WRITEDATA, 8, &n), 0);
	no_comp(0);
	no_comp(1);
	cr_assert_eq(fi_recv(n.side[1].ep, NULL, 0, NULL, 0, &n), 0);
	cr_assert_eq(comp_of(0).context, &n);
	told_of_data(8, &n);
}

/* LF 019add3d2, db18aedc7: one target, and it holds what is moved */
Test(rma, target_is_one_piece_that_is_long_enough)
{
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, 64 };
	struct fi_rma_iov to[2] = {
		{ .addr = there(0), .len = 64 },
		{ .addr = there(64), .len = 64 },
	};
	struct fi_msg_rma msg = { .msg_iov = &iov,
				  .iov_count = 1,
				  .rma_iov = to,
				  .rma_iov_count = 2 };

	join_pair();
	msg.desc = &s->desc;
	to[0].key = to[1].key = key();
	cr_assert_eq(n.info->tx_attr->rma_iov_limit, 1);
	cr_assert_eq(fi_writemsg(s->ep, &msg, 0), -FI_EINVAL);
	cr_assert_eq(fi_readmsg(s->ep, &msg, 0), -FI_EINVAL);
	msg.rma_iov_count = 1;
	to[0].len = 63;
	cr_assert_eq(fi_writemsg(s->ep, &msg, 0), -FI_EINVAL);
	cr_assert_eq(fi_readmsg(s->ep, &msg, 0), -FI_EINVAL);
	msg.rma_iov_count = 0;
	cr_assert_eq(fi_writemsg(s->ep, &msg, 0), -FI_EINVAL);
	msg.rma_iov_count = 1;
	to[0].len = 64;
	to[0].key |= 1ULL << 32;
	cr_assert_eq(fi_writemsg(s->ep, &msg, 0), -FI_EINVAL);
	cr_assert_eq(fi_readmsg(s->ep, &msg, 0), -FI_EINVAL);
	no_comp(0);
	to[0].key = key();
	cr_assert_eq(fi_writemsg(s->ep, &msg, 0), 0);
	cr_assert_eq(comp_of(0).err, 0);
}

/* fi_rma(3): 0 bytes are a valid length, and name no memory */
Test(rma, request_of_no_bytes_needs_nothing)
{
	struct fi_msg_rma msg = { .context = &n };

	join_pair();
	cr_assert_eq(fi_write(ep(), NULL, 0, NULL, 0, 0, 0, &n), 0);
	cr_assert_eq(fi_writev(ep(), NULL, NULL, 0, 0, 0, ~0ULL, &n), 0);
	cr_assert_eq(fi_writemsg(ep(), &msg, 0), 0);
	cr_assert_eq(fi_read(ep(), NULL, 0, NULL, 0, 0, ~0ULL, &n), 0);
	cr_assert_eq(fi_readv(ep(), NULL, NULL, 0, 0, 0, 0, &n), 0);
	cr_assert_eq(fi_readmsg(ep(), &msg, 0), 0);
	for (int i = 0; i < 6; i++) {
		struct net_comp comp = comp_of(0);

		cr_assert_eq(comp.context, &n);
		cr_assert_eq(comp.err, 0);
	}
	cr_assert_eq(fi_inject_write(ep(), NULL, 0, 0, 0, 0), 0);
	no_comp(0);
}

Test(rma, flags_of_a_call_are_those_that_can_be_kept)
{
	static const uint64_t bad[] = { FI_COMMIT_COMPLETE, FI_MATCH_COMPLETE,
					FI_PEEK, FI_MULTI_RECV, 1ULL << 59 };

	join_pair();
	for (size_t i = 0; i < RCM_ARRAY_SIZE(bad); i++) {
		cr_assert_eq(writemsg(8, bad[i], NULL), -FI_EBADFLAGS);
		cr_assert_eq(readmsg(8, bad[i], NULL), -FI_EBADFLAGS);
	}
	/* an acknowledgement does not say that it is in the memory yet */
	cr_assert_eq(writemsg(8, FI_DELIVERY_COMPLETE, NULL), -FI_EBADFLAGS);
	cr_assert_eq(readmsg(8, FI_REMOTE_CQ_DATA, NULL), -FI_EBADFLAGS);
	no_comp(0);
	cr_assert_eq(writemsg(8, FI_INJECT_COMPLETE | FI_FENCE | FI_COMPLETION,
			      NULL),
		     0);
	cr_assert_eq(writemsg(8, FI_TRANSMIT_COMPLETE | FI_INJECT, NULL), 0);
	cr_assert_eq(readmsg(8,
			     FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
				     FI_DELIVERY_COMPLETE | FI_FENCE |
				     FI_INJECT,
			     NULL),
		     0);
	cr_assert_eq(fi_recv(n.side[1].ep, NULL, 0, NULL, 0, &n), 0);
	cr_assert_eq(
		writemsg(8, FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA, NULL), 0);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(comp_of(0).err, 0);
}

Test(rma, selective_initiator_is_told_only_on_request)
{
	n.tx_bind = FI_SELECTIVE_COMPLETION;
	join_pair();
	for (int call = 0; call < WRITES + READS; call++) {
		if (call == WRITEDATA || call == INJECTDATA)
			continue;
		cr_assert_eq(call_by_number(call, 8), 0);
	}
	no_comp(0);
	cr_assert_eq(writemsg(8, FI_COMPLETION, &n), 0);
	cr_assert_eq(comp_of(0).context, &n);
	cr_assert_eq(readmsg(8, FI_COMPLETION, &n), 0);
	cr_assert_eq(comp_of(0).flags, FI_RMA | FI_READ);
}

Test(rma, default_flags_are_those_of_calls_without)
{
	n.tx_bind = FI_SELECTIVE_COMPLETION;
	n.hints->tx_attr->op_flags = FI_COMPLETION | FI_INJECT;
	join_pair();
	cr_assert_eq(write_by(WRITE, 256, &n), 0);
	cr_assert_eq(comp_of(0).context, &n);
	cr_assert_eq(write_by(WRITE, 257, &n), -FI_EINVAL);
	/* there is nothing of a read that could be injected */
	cr_assert_eq(read_by(READ, 4096, &n), 0);
	cr_assert_eq(comp_of(0).context, &n);
	cr_assert_eq(write_by(INJECT, 8, NULL), 0);
	cr_assert_eq(writemsg(8, 0, NULL), 0);
	no_comp(0);
}

/* design D9: one doorbell for all that FI_MORE has held back, in order */
Test(rma, more_holds_writes_reads_and_messages_back_in_order)
{
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, 64 };
	struct fi_msg send = { .msg_iov = &iov,
			       .iov_count = 1,
			       .context = &iov };
	unsigned int rung;

	join_pair();
	send.desc = &s->desc;
	fill(0, 3);
	fill(1, 77);
	cr_assert_eq(net_recv(&n, 1, 4096, 64, &n), 0);
	cr_assert_eq(fi_recv(n.side[1].ep, NULL, 0, NULL, 0, &rung), 0);
	rung = fake_doorbells();
	cr_assert_eq(writemsg(64, FI_MORE, &n), 0);
	cr_assert_eq(writemsg(4096, FI_MORE, &send), 0);
	cr_assert_eq(fi_sendmsg(s->ep, &send, FI_MORE), 0);
	cr_assert_eq(writemsg(4096, FI_MORE | FI_REMOTE_CQ_DATA, &rung), 0);
	cr_assert_eq(readmsg(4096, FI_MORE, &iov), 0);
	cr_assert_eq(fake_doorbells(), rung);
	cr_assert_eq(readmsg(64, 0, &s), 0);
	cr_assert_eq(fake_doorbells(), rung + 1);
	cr_assert_eq(comp_of(0).context, &n);
	cr_assert_eq(comp_of(0).context, &send);
	cr_assert_eq(comp_of(0).context, &iov);
	cr_assert_eq(comp_of(0).context, &rung);
	cr_assert_eq(comp_of(0).context, &iov);
	cr_assert_eq(comp_of(0).context, &s);
	cr_assert_eq(comp_of(1).context, &n);
	told_of_data(4096, &rung);
	same(0, 4096 + 64);
}

Test(rma, refused_write_sends_what_waits_before_it)
{
	join_pair();
	cr_assert_eq(writemsg(64, FI_MORE, &n), 0);
	cr_assert_eq(writemsg(64, FI_MORE | FI_DELIVERY_COMPLETE, NULL),
		     -FI_EBADFLAGS);
	cr_assert_eq(comp_of(0).context, &n);
}

Test(rma_no_inline, injected_buffer_is_the_callers_again)
{
	uint8_t *buf = n.side[0].buf;

	join_pair();
	fake_hold_wire(true);
	memset(buf, 1, 256);
	cr_assert_eq(write_by(INJECT, 256, NULL), 0);
	memset(buf, 2, 256);
	cr_assert_eq(writemsg(200, FI_INJECT, NULL), 0);
	memset(buf, 3, 256);
	fake_hold_wire(false);
	cr_assert_eq(comp_of(0).err, 0);
	cr_assert_eq(n.side[1].buf[0], 2);
	cr_assert_eq(n.side[1].buf[199], 2);
	cr_assert_eq(n.side[1].buf[200], 1);
	cr_assert_eq(n.side[1].buf[255], 1);
}

Test(rma, lengths_beyond_the_limits_are_refused_at_the_call)
{
	struct net_side *s = &n.side[0];
	size_t most;

	join_pair();
	most = n.info->ep_attr->max_msg_size;
	cr_assert_eq(fi_write(s->ep, s->buf, most + 1, s->desc, 0, there(0),
			      key(), NULL),
		     -FI_EMSGSIZE);
	cr_assert_eq(fi_read(s->ep, s->buf, most + 1, s->desc, 0, there(0),
			     key(), NULL),
		     -FI_EMSGSIZE);
	cr_assert_eq(fi_inject_write(s->ep, s->buf, 257, 0, there(0), key()),
		     -FI_EINVAL);
	cr_assert_eq(fi_write(s->ep, s->buf, 257, NULL, 0, there(0), key(),
			      NULL),
		     -FI_EINVAL);
	cr_assert_eq(fi_read(s->ep, s->buf, 1, NULL, 0, there(0), key(), NULL),
		     -FI_EINVAL);
	no_comp(0);
}

/* The cause is told to the one who did it, and both learn of the end. */
static void denied(ssize_t posted, int err)
{
	struct net_comp comp;
	struct net_ev ev;

	cr_assert_eq(posted, 0);
	comp = comp_of(0);
	cr_assert_eq(comp.err, err);
	cr_assert_eq(comp.context, &n);
	cr_assert_eq(net_await(&n, 0, FI_SHUTDOWN, &ev), 0);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, &ev), 0);
	cr_assert_eq(fi_inject_write(ep(), n.side[0].buf, 8, 0, 0, 0),
		     -FI_ESHUTDOWN);
	cr_assert_eq(fi_read(ep(), n.side[0].buf, 8, n.side[0].desc, 0, 0, 0,
			     NULL),
		     -FI_ESHUTDOWN);
}

Test(rma, wrong_key_is_an_access_error_and_ends_the_connection)
{
	join_pair();
	denied(fi_write(ep(), n.side[0].buf, 8, NULL, 0, there(0), key() + 1,
			&n),
	       FI_EACCES);
}

Test(rma, read_beyond_the_region_is_an_access_error)
{
	join_pair();
	denied(fi_read(ep(), n.side[0].buf, 8, n.side[0].desc, 0,
		       there(NET_BUF - 7), key(), &n),
	       FI_EACCES);
}

Test(rma, region_grants_only_what_it_was_registered_for)
{
	struct fid_mr *mr;

	join_pair();
	cr_assert_eq(fi_mr_reg(n.domain, n.side[1].buf, 64, FI_REMOTE_READ, 0,
			       0, 0, &mr, NULL),
		     0);
	cr_assert_eq(fi_read(ep(), n.side[0].buf, 8, n.side[0].desc, 0,
			     there(0), fi_mr_key(mr), &n),
		     0);
	cr_assert_eq(comp_of(0).err, 0);
	denied(fi_write(ep(), n.side[0].buf, 8, NULL, 0, there(0),
			fi_mr_key(mr), &n),
	       FI_EACCES);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

/* fi_getinfo(3): FI_RMA alone is all four */
Test(rma, region_of_all_rma_is_read_and_written)
{
	struct fid_mr *mr;

	join_pair();
	cr_assert_eq(fi_mr_reg(n.domain, n.side[1].buf, 64, FI_RMA, 0, 0, 0,
			       &mr, NULL),
		     0);
	cr_assert_eq(fi_read(ep(), n.side[0].buf, 8, n.side[0].desc, 0,
			     there(0), fi_mr_key(mr), &n),
		     0);
	cr_assert_eq(comp_of(0).err, 0);
	cr_assert_eq(fi_write(ep(), n.side[0].buf, 8, NULL, 0, there(0),
			      fi_mr_key(mr), &n),
		     0);
	cr_assert_eq(comp_of(0).err, 0);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

Test(rma, what_is_outstanding_is_canceled_when_the_peer_goes)
{
	struct net_ev ev;

	join_pair();
	fake_hold_wire(true);
	cr_assert_eq(write_by(WRITE, 4096, &n), 0);
	cr_assert_eq(read_by(READ, 4096, &ev), 0);
	cr_assert_eq(fi_shutdown(n.side[1].ep, 0), 0);
	cr_assert_eq(net_await(&n, 0, FI_SHUTDOWN, &ev), 0);
	cr_assert_eq(comp_of(0).err, FI_ECANCELED);
	cr_assert_eq(comp_of(0).err, FI_ECANCELED);
	no_comp(0);
	fake_hold_wire(false);
}

Test(rma, queue_is_full_only_until_its_completions_are_read)
{
	unsigned int posted = 0, told = 0;
	ssize_t ret;

	n.hints->tx_attr->size = 8;
	join_pair();
	fake_hold_wire(true);
	while (!(ret = read_by(READ, 8, &n)))
		posted++;
	cr_assert_eq(ret, -FI_EAGAIN);
	cr_assert_eq(posted, 8);
	cr_assert_eq(write_by(WRITE, 8, &n), -FI_EAGAIN);
	fake_hold_wire(false);
	for (; told < posted; told++)
		cr_assert_eq(comp_of(0).err, 0);
	cr_assert_eq(write_by(WRITE, 8, &n), 0);
	cr_assert_eq(comp_of(0).err, 0);
}

/* fi_endpoint(3): a target's progress is made by reading some queue. */
Test(rma, mere_target_needs_a_queue)
{
	struct net_side *s = &n.side[0];

	n.hints->caps = FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_endpoint(n.domain, n.info, &s->ep, NULL), 0);
	cr_assert_eq(fi_ep_bind(s->ep, &s->eq->fid, 0), 0);
	cr_assert_eq(fi_enable(s->ep), -FI_ENOCQ);
	cr_assert_eq(fi_ep_bind(s->ep, &s->cq->fid, FI_RECV), 0);
	cr_assert_eq(fi_enable(s->ep), 0);
}

static struct fid_cntr *cntr_for(struct fid_ep *bound, uint64_t flags)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_NONE };
	struct fid_cntr *cntr;

	cr_assert_eq(fi_cntr_open(n.domain, &attr, &cntr, NULL), 0);
	cr_assert_eq(fi_ep_bind(bound, &cntr->fid, flags), 0);
	return cntr;
}

static struct fid_cntr *cntrs[4]; /* reads, writes, sends, receives */
static bool without_cq;

static int bind_cntrs(struct net *net, int side, struct fid_ep *bound)
{
	if (side)
		cntrs[3] = cntr_for(bound, FI_RECV);
	else {
		cntrs[0] = cntr_for(bound, FI_READ);
		cntrs[1] = cntr_for(bound, FI_WRITE);
		cntrs[2] = without_cq ? NULL : cntr_for(bound, FI_SEND);
	}
	if (!without_cq)
		return net_bind_cqs(net, side, bound);
	return fi_ep_bind(bound, &net->side[side].cq->fid,
			  side ? FI_TRANSMIT | FI_RECV : FI_RECV);
}

static void close_cntrs(void)
{
	for (int side = 0; side < 2; side++) {
		cr_assert_eq(fi_close(&n.side[side].ep->fid), 0);
		n.side[side].ep = NULL;
	}
	for (size_t i = 0; i < RCM_ARRAY_SIZE(cntrs); i++)
		if (cntrs[i])
			cr_assert_eq(fi_close(&cntrs[i]->fid), 0);
}

/* A receive that went for a write is no message: the last one stays 0. */
Test(rma, counters_count_what_they_are_bound_to)
{
	without_cq = false;
	n.bind_ep = bind_cntrs;
	join_pair();
	for (int i = 0; i < 3; i++)
		cr_assert_eq(read_by(READ, 8, &n), 0);
	cr_assert_eq(fi_recv(n.side[1].ep, NULL, 0, NULL, 0, &n), 0);
	cr_assert_eq(write_by(WRITEDATA, 8, &n), 0);
	cr_assert_eq(write_by(INJECT, 8, NULL), 0);
	cr_assert_eq(fi_cntr_read(cntrs[0]), 3);
	cr_assert_eq(fi_cntr_read(cntrs[1]), 2);
	cr_assert_eq(fi_cntr_read(cntrs[2]), 0);
	cr_assert_eq(fi_cntr_read(cntrs[3]), 0);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 8, NULL), 0);
	cr_assert_eq(fi_cntr_read(cntrs[2]), 1);
	cr_assert_eq(fi_cntr_read(cntrs[3]), 1);
	cr_assert_eq(fi_read(ep(), n.side[0].buf, 8, n.side[0].desc, 0,
			     there(0), key() + 1, &n),
		     0);
	cr_assert_eq(fi_cntr_read(cntrs[0]), 3);
	cr_assert_eq(fi_cntr_readerr(cntrs[0]), 1);
	cr_assert_eq(fi_cntr_readerr(cntrs[1]), 0);
	close_cntrs();
}

Test(rma, counters_of_reads_and_writes_do_without_a_queue)
{
	without_cq = true;
	n.hints->caps = FI_RMA | FI_RECV | FI_MSG;
	n.bind_ep = bind_cntrs;
	join_pair();
	cr_assert_eq(read_by(READ, 8, &n), 0);
	cr_assert_eq(write_by(WRITE, 4096, &n), 0);
	cr_assert_eq(fi_cntr_read(cntrs[0]), 1);
	cr_assert_eq(fi_cntr_read(cntrs[1]), 1);
	close_cntrs();
}

Test(rma, peer_without_the_capability_takes_no_request)
{
	n.hints->caps = FI_MSG | FI_RMA | FI_READ | FI_WRITE;
	join_pair();
	denied(fi_read(ep(), n.side[0].buf, 8, n.side[0].desc, 0, there(0),
		       key(), &n),
	       FI_EREMOTEIO);
}

Test(rma, closed_region_is_an_access_error)
{
	uint64_t old;

	join_pair();
	old = key();
	cr_assert_eq(fi_close(&n.side[1].mr->fid), 0);
	n.side[1].mr = NULL;
	n.side[1].desc = NULL;
	denied(fi_write(ep(), n.side[0].buf, 8, NULL, 0, there(0), old, &n),
	       FI_EACCES);
}

/* rdma_connect(3): both sides say how many reads they stand */
Test(rma, reads_outstanding_are_those_agreed_on)
{
	const struct ibv_qp_attr *attr;

	join_pair();
	attr = fake_qp_attr(fake_last_qp());
	cr_assert_eq(attr->max_rd_atomic, 16);
	cr_assert_eq(attr->max_dest_rd_atomic, 16);
}

Test(rma_no_reads, read_of_a_peer_that_grants_none_is_refused_at_once)
{
	join_pair();
	cr_assert_eq(fake_qp_attr(fake_last_qp())->max_rd_atomic, 0);
	for (int call = READ; call < READS; call++)
		cr_assert_eq(read_by(call, 8, NULL), -FI_EOPNOTSUPP);
	cr_assert_eq(write_by(WRITE, 8, &n), 0);
	cr_assert_eq(comp_of(0).context, &n);
}

/* iWARP devices have one; the rest of an endpoint may have more. */
Test(rma_short_reads, buffers_of_a_read_are_those_of_the_device)
{
	n.hints->tx_attr->iov_limit = 2;
	cr_assert_eq(net_open_domain(&n), -FI_ENODATA);
	n.hints->tx_attr->iov_limit = 0;
	join_pair();
	cr_assert_eq(n.info->tx_attr->iov_limit, 1);
	cr_assert_eq(read_by(READV, 8, &n), -FI_EINVAL);
	cr_assert_eq(read_by(READ, 8, &n), 0);
	cr_assert_eq(net_close(&n), 0);
	cr_assert_eq(net_init(&n), 0);
	ask_for_rma();
	n.hints->caps = FI_MSG | FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
	join_pair();
	cr_assert_gt(n.info->tx_attr->iov_limit, 1);
	cr_assert_eq(write_by(WRITEV, 8, &n), 0);
}

/* design D12: what has no descriptor is lent for the operation */
Test(rma, memory_without_registration_is_lent)
{
	uint8_t mem[NET_BUF];
	struct fid_mr *mr;
	unsigned int regions;

	n.hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
					FI_MR_PROV_KEY;
	join_pair();
	cr_assert_eq(fi_mr_reg(n.domain, mem, sizeof(mem), FI_RMA, 0, 0, 0, &mr,
			       NULL),
		     0);
	for (size_t i = 0; i < RCM_ARRAY_SIZE(sizes); i++) {
		fill(0, (uint8_t)i);
		memset(mem, 0, sizeof(mem));
		cr_assert_eq(fi_write(ep(), n.side[0].buf, sizes[i], NULL, 0,
				      (uintptr_t)mem, fi_mr_key(mr), &n),
			     0);
		cr_assert_eq(comp_of(0).err, 0);
		cr_assert_eq(memcmp(mem, n.side[0].buf, sizes[i]), 0);
		fill(0, (uint8_t)(i + 99));
		cr_assert_eq(fi_read(ep(), n.side[0].buf, sizes[i], NULL, 0,
				     (uintptr_t)mem, fi_mr_key(mr), &n),
			     0);
		cr_assert_eq(comp_of(0).err, 0);
		cr_assert_eq(memcmp(mem, n.side[0].buf, sizes[i]), 0);
	}
	regions = fake_regions();
	cr_assert_eq(fi_read(ep(), n.side[0].buf, NET_BUF, NULL, 0,
			     (uintptr_t)mem, fi_mr_key(mr), &n),
		     0);
	cr_assert_eq(fake_regions(), regions + 1);
	cr_assert_eq(comp_of(0).err, 0);
	cr_assert_eq(fake_regions(), regions);
	cr_assert_eq(fi_close(&mr->fid), 0);
}
