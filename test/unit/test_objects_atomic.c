/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Atomic operations between two endpoints, through fi_* calls: fi_atomic(3). */

#include <string.h>

#include "atomic_words.h"

TestSuite(atomic, .init = set_up, .fini = tear_down);

static struct net_comp done(void)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), 0);
	cr_assert_eq(comp.err, 0, "%d", comp.err);
	return comp;
}

static void expect_nothing(void)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), -FI_EAGAIN);
}

static ssize_t base(uint64_t value, enum fi_op op, uint64_t *word, void *ctx)
{
	return fi_atomic(n.side[0].ep, &value, 1, NULL, 0, at(word), key,
			 FI_UINT64, op, ctx);
}

static ssize_t fetch(uint64_t value, enum fi_op op, uint64_t *word,
		     uint64_t *result, void *ctx)
{
	return fi_fetch_atomic(n.side[0].ep, &value, 1, NULL, result, desc, 0,
			       at(word), key, FI_UINT64, op, ctx);
}

static ssize_t swap(uint64_t compare, uint64_t value, uint64_t *word,
		    uint64_t *result, void *ctx)
{
	return fi_compare_atomic(n.side[0].ep, &value, 1, NULL, &compare, NULL,
				 result, desc, 0, at(word), key, FI_UINT64,
				 FI_CSWAP, ctx);
}

Test(atomic, sum_adds_and_tells_nothing_back)
{
	struct net_comp comp;

	join_pair();
	target[3] = UINT64_MAX;
	cr_assert_eq(base(43, FI_SUM, &target[3], &n), 0);
	comp = done();
	cr_assert_eq(comp.context, &n);
	cr_assert_eq(comp.flags, FI_ATOMIC | FI_WRITE);
	cr_assert_eq(target[3], 42);
	cr_assert_eq(target[2] | target[4], 0);
}

Test(atomic, negative_summand_takes_away)
{
	int64_t minus = -7, result;

	join_pair();
	target[0] = 5;
	cr_assert_eq(fi_fetch_atomic(n.side[0].ep, &minus, 1, NULL, &local[0],
				     desc, 0, at(target), key, FI_INT64, FI_SUM,
				     NULL),
		     0);
	done();
	result = (int64_t)target[0];
	cr_assert_eq(result, -2);
	cr_assert_eq(local[0], 5);
}

Test(atomic, fetched_sum_gives_what_was_there)
{
	struct net_comp comp;

	join_pair();
	target[1] = 0x1122334455667788;
	cr_assert_eq(fetch(1, FI_SUM, &target[1], &local[2], &n), 0);
	comp = done();
	cr_assert_eq(comp.context, &n);
	cr_assert_eq(comp.flags, FI_ATOMIC | FI_READ);
	cr_assert_eq(local[2], 0x1122334455667788);
	cr_assert_eq(target[1], 0x1122334455667789);
}

Test(atomic, read_changes_nothing)
{
	join_pair();
	target[0] = 0xfedcba9876543210;
	cr_assert_eq(fi_fetch_atomic(n.side[0].ep, NULL, 1, NULL, &local[1],
				     desc, 0, at(target), key, FI_UINT64,
				     FI_ATOMIC_READ, &n),
		     0);
	cr_assert_eq(done().flags, FI_ATOMIC | FI_READ);
	cr_assert_eq(local[1], 0xfedcba9876543210);
	cr_assert_eq(target[0], 0xfedcba9876543210);
}

/* LF#10911: the operands, and which is which */
Test(atomic, compare_and_swap_swaps_equals_alone)
{
	join_pair();
	target[0] = 10;
	cr_assert_eq(swap(10, 20, target, &local[0], &n), 0);
	cr_assert_eq(done().flags, FI_ATOMIC | FI_READ);
	cr_assert_eq(local[0], 10);
	cr_assert_eq(target[0], 20);
	cr_assert_eq(swap(10, 30, target, &local[1], &n), 0);
	done();
	cr_assert_eq(local[1], 20);
	cr_assert_eq(target[0], 20);
}

Test(atomic, operands_are_taken_at_the_call)
{
	uint64_t value = 5, compare = 1;

	join_pair();
	target[0] = 1;
	fake_hold_wire(true);
	cr_assert_eq(fi_compare_atomic(n.side[0].ep, &value, 1, NULL, &compare,
				       NULL, local, desc, 0, at(target), key,
				       FI_UINT64, FI_CSWAP, NULL),
		     0);
	cr_assert_eq(fi_atomic(n.side[0].ep, &value, 1, NULL, 0, at(target),
			       key, FI_UINT64, FI_SUM, NULL),
		     0);
	cr_assert_eq(fi_inject_atomic(n.side[0].ep, &value, 1, 0,
				      at(&target[1]), key, FI_UINT64, FI_SUM),
		     0);
	value = compare = 999;
	fake_hold_wire(false);
	done();
	done();
	expect_nothing();
	cr_assert_eq(target[0], 10);
	cr_assert_eq(target[1], 5);
}

Test(atomic, injected_ones_complete_silently)
{
	join_pair();
	for (uint64_t i = 1; i <= 200; i++) {
		ssize_t ret;

		while ((ret = fi_inject_atomic(n.side[0].ep, &i, 1, 0,
					       at(target), key, FI_UINT64,
					       FI_SUM)) == -FI_EAGAIN)
			expect_nothing();
		cr_assert_eq(ret, 0);
	}
	expect_nothing();
	cr_assert_eq(target[0], 200 * 201 / 2);
}

Test(atomic, lists_with_one_word_do)
{
	uint64_t value = 3, compare = 4;
	struct fi_ioc iov[2] = { { NULL, 0 }, { &value, 1 } };
	struct fi_ioc comparev = { &compare, 1 };
	struct fi_ioc resultv[2] = { { &local[5], 1 }, { NULL, 0 } };
	void *result_desc[2] = { NULL, NULL };
	struct fid_ep *ep;

	join_pair();
	ep = n.side[0].ep;
	result_desc[0] = desc;
	target[0] = 1;
	cr_assert_eq(fi_atomicv(ep, iov, NULL, 2, 0, at(target), key, FI_UINT64,
				FI_SUM, NULL),
		     0);
	done();
	cr_assert_eq(target[0], 4);
	cr_assert_eq(fi_fetch_atomicv(ep, iov, NULL, 2, resultv, result_desc, 2,
				      0, at(target), key, FI_UINT64, FI_SUM,
				      NULL),
		     0);
	done();
	cr_assert_eq(local[5], 4);
	compare = 7;
	cr_assert_eq(fi_compare_atomicv(ep, iov, NULL, 2, &comparev, NULL, 1,
					resultv, result_desc, 2, 0, at(target),
					key, FI_UINT64, FI_CSWAP, NULL),
		     0);
	done();
	cr_assert_eq(local[5], 7);
	cr_assert_eq(target[0], 3);
	/* a read has no operands */
	cr_assert_eq(fi_fetch_atomicv(ep, NULL, NULL, 0, resultv, result_desc,
				      2, 0, at(target), key, FI_UINT64,
				      FI_ATOMIC_READ, NULL),
		     0);
	done();
	cr_assert_eq(local[5], 3);
}

/* A message for one word; fields that a test needs otherwise it sets. */
static struct fi_msg_atomic message(enum fi_op op, struct fi_ioc *iov,
				    struct fi_rma_ioc *rma, uint64_t *word)
{
	rma->addr = at(word);
	rma->count = 1;
	rma->key = key;
	return (struct fi_msg_atomic){
		.msg_iov = iov,
		.iov_count = iov ? 1 : 0,
		.rma_iov = rma,
		.rma_iov_count = 1,
		.datatype = FI_UINT64,
		.op = op,
		.context = &n,
	};
}

Test(atomic, messages_do_the_same)
{
	uint64_t value = 6, compare = 106;
	struct fi_ioc iov = { &value, 1 }, comparev = { &compare, 1 };
	struct fi_ioc resultv = { &local[0], 1 };
	struct fi_rma_ioc rma;
	struct fi_msg_atomic msg;
	struct fid_ep *ep;

	join_pair();
	ep = n.side[0].ep;
	target[0] = 100;
	msg = message(FI_SUM, &iov, &rma, target);
	cr_assert_eq(fi_atomicmsg(ep, &msg, FI_DELIVERY_COMPLETE), 0);
	cr_assert_eq(done().context, &n);
	cr_assert_eq(target[0], 106);
	msg = message(FI_CSWAP, &iov, &rma, target);
	cr_assert_eq(fi_compare_atomicmsg(ep, &msg, &comparev, NULL, 1,
					  &resultv, &desc, 1,
					  FI_DELIVERY_COMPLETE),
		     0);
	done();
	cr_assert_eq(local[0], 106);
	cr_assert_eq(target[0], 6);
	msg = message(FI_ATOMIC_READ, NULL, &rma, target);
	cr_assert_eq(fi_fetch_atomicmsg(ep, &msg, &resultv, &desc, 1,
					FI_FENCE | FI_INJECT),
		     0);
	done();
	cr_assert_eq(local[0], 6);
}

Test(atomic, flag_for_more_waits_for_one_without)
{
	uint64_t value = 1;
	struct fi_ioc iov = { &value, 1 }, resultv = { &local[0], 1 };
	struct fi_rma_ioc rma;
	struct fi_msg_atomic msg;
	unsigned int rung;

	join_pair();
	msg = message(FI_SUM, &iov, &rma, target);
	rung = fake_doorbells();
	for (int i = 0; i < 10; i++)
		cr_assert_eq(fi_atomicmsg(n.side[0].ep, &msg, FI_MORE), 0);
	cr_assert_eq(fi_fetch_atomicmsg(n.side[0].ep, &msg, &resultv, &desc, 1,
					0),
		     0);
	cr_assert_eq(fake_doorbells() - rung, 1);
	for (int i = 0; i < 11; i++)
		done();
	cr_assert_eq(local[0], 10);
	cr_assert_eq(target[0], 11);
}

Test(atomic, selective_ones_complete_when_flagged)
{
	uint64_t value = 1;
	struct fi_ioc iov = { &value, 1 };
	struct fi_rma_ioc rma;
	struct fi_msg_atomic msg;

	n.tx_bind = FI_SELECTIVE_COMPLETION;
	join_pair();
	msg = message(FI_SUM, &iov, &rma, target);
	cr_assert_eq(base(1, FI_SUM, target, NULL), 0);
	cr_assert_eq(fetch(1, FI_SUM, target, local, NULL), 0);
	cr_assert_eq(fi_atomicmsg(n.side[0].ep, &msg, 0), 0);
	expect_nothing();
	cr_assert_eq(fi_atomicmsg(n.side[0].ep, &msg, FI_COMPLETION), 0);
	cr_assert_eq(done().context, &n);
	expect_nothing();
	cr_assert_eq(target[0], 4);
}

/* Design D12: what has no descriptor comes by way of a buffer of the queue's. */
static void without_local(void)
{
	set_up();
	n.hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
					FI_MR_PROV_KEY;
}

TestSuite(atomic_unregistered, .init = without_local, .fini = tear_down);

Test(atomic_unregistered, results_need_no_descriptor)
{
	static uint64_t result[2];
	unsigned int regions;

	join_pair();
	desc = NULL;
	target[0] = 8;
	regions = fake_regions();
	cr_assert_eq(fetch(1, FI_SUM, target, &result[0], NULL), 0);
	cr_assert_eq(swap(9, 1, target, &result[1], NULL), 0);
	done();
	done();
	cr_assert_eq(result[0], 8);
	cr_assert_eq(result[1], 9);
	cr_assert_eq(target[0], 1);
	cr_assert_eq(fake_regions(), regions + 1);
}

Test(atomic, result_without_a_descriptor_is_refused)
{
	join_pair();
	desc = NULL;
	cr_assert_eq(fetch(1, FI_SUM, target, local, NULL), -FI_EINVAL);
	cr_assert_eq(swap(0, 1, target, local, NULL), -FI_EINVAL);
	expect_nothing();
	cr_assert_eq(target[0], 0);
}

/* The page for answers that nobody reads is made once, for all. */
Test(atomic, sums_share_one_registration)
{
	unsigned int regions;

	join_pair();
	regions = fake_regions();
	cr_assert_eq(base(1, FI_SUM, target, NULL), 0);
	cr_assert_eq(fake_regions(), regions + 1);
	for (int i = 0; i < 50; i++)
		cr_assert_eq(base(1, FI_SUM, target, NULL), 0);
	cr_assert_eq(fake_regions(), regions + 1);
	for (int i = 0; i < 51; i++)
		done();
	cr_assert_eq(target[0], 51);
}

Test(atomic, sum_fails_where_there_is_no_memory_for_its_answer)
{
	join_pair();
	fake_fail(FAKE_reg_mr, 1, ENOMEM);
	cr_assert_eq(base(1, FI_SUM, target, NULL), -FI_ENOMEM);
	cr_assert_eq(base(1, FI_SUM, target, NULL), 0);
	done();
	cr_assert_eq(target[0], 1);
}

/* fi_atomic(3): inject_size; what travels in a request is not limited by it. */
Test(atomic, inject_size_limits_no_sum)
{
	uint64_t one = 1;

	n.hints->tx_attr->inject_size = 4;
	join_pair();
	cr_assert_eq(n.info->tx_attr->inject_size, 4);
	cr_assert_eq(fi_inject_atomic(n.side[0].ep, &one, 1, 0, at(target), key,
				      FI_UINT64, FI_SUM),
		     0);
	expect_nothing();
	cr_assert_eq(target[0], 1);
}

static void without_inline(void)
{
	static const struct fake_dev_conf conf = {
		.name = "fake0",
		.ifname = "f0",
		.addrs = { "10.77.0.1" },
		.max_inline = -1,
	};

	net_begin(&n, &conf, 1);
	n.hints->caps = FI_MSG | FI_ATOMIC;
}

TestSuite(atomic_no_inline, .init = without_inline, .fini = tear_down);

Test(atomic_no_inline, operands_need_no_registration)
{
	uint64_t value = 7;

	join_pair();
	cr_assert_eq(base(6, FI_SUM, target, NULL), 0);
	done();
	cr_assert_eq(fi_inject_atomic(n.side[0].ep, &value, 1, 0, at(target),
				      key, FI_UINT64, FI_SUM),
		     0);
	cr_assert_eq(swap(13, 20, target, &local[0], NULL), 0);
	done();
	cr_assert_eq(target[0], 20);
}

/* Rights at the target. */
static struct net_comp failed(void)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), 0);
	cr_assert_neq(comp.err, 0);
	return comp;
}

Test(atomic, memory_without_the_right_is_out_of_reach)
{
	struct net_comp comp;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
	register_words(FI_REMOTE_READ);
	cr_assert_eq(fetch(1, FI_SUM, target, local, &n), 0);
	comp = failed();
	cr_assert_eq(comp.err, FI_EACCES);
	cr_assert_eq(comp.context, &n);
	cr_assert_eq(comp.flags, FI_ATOMIC | FI_READ);
	cr_assert_eq(target[0], 0);
}

Test(atomic, right_to_write_does_for_sums)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
	register_words(FI_REMOTE_WRITE);
	cr_assert_eq(base(2, FI_SUM, target, NULL), 0);
	done();
	cr_assert_eq(target[0], 2);
}

/* Rights are the fewest: FI_ATOMIC was not asked for. */
Test(atomic, domain_without_the_capability_lets_nobody_in)
{
	struct fi_info *info;

	n.hints->caps = FI_MSG | FI_RMA;
	cr_assert_eq(net_open(&n), 0);
	/* the endpoints want more than the domain */
	info = fi_dupinfo(n.info);
	fi_freeinfo(n.info);
	n.info = info;
	n.info->caps |= FI_ATOMIC;
	n.info->tx_attr->caps |= FI_ATOMIC;
	n.info->rx_attr->caps |= FI_ATOMIC;
	cr_assert_eq(net_join(&n), 0);
	register_words(FI_REMOTE_READ | FI_REMOTE_WRITE);
	cr_assert_eq(base(2, FI_SUM, target, NULL), 0);
	cr_assert_eq(failed().err, FI_EACCES);
	cr_assert_eq(target[0], 0);
}

Test(atomic, wrong_key_is_an_error)
{
	join_pair();
	key += 77;
	cr_assert_eq(base(2, FI_SUM, target, &n), 0);
	cr_assert_eq(failed().flags, FI_ATOMIC | FI_WRITE);
	cr_assert_eq(target[0], 0);
}

/* Counters. */
static struct fid_cntr *reads, *writes;

static int bind_counted(struct net *net, int side, struct fid_ep *ep)
{
	int ret = net_bind_cqs(net, side, ep);

	if (!ret && side == 0)
		ret = fi_ep_bind(ep, &reads->fid, FI_READ);
	if (!ret && side == 0)
		ret = fi_ep_bind(ep, &writes->fid, FI_WRITE);
	return ret;
}

static void open_counters(enum fi_cntr_events events)
{
	struct fi_cntr_attr attr = { .events = events,
				     .wait_obj = FI_WAIT_NONE };

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_cntr_open(n.domain, &attr, &reads, NULL), 0);
	cr_assert_eq(fi_cntr_open(n.domain, &attr, &writes, NULL), 0);
	n.bind_ep = bind_counted;
	cr_assert_eq(net_join(&n), 0);
	register_words(FI_REMOTE_READ | FI_REMOTE_WRITE);
}

static void close_counters(void)
{
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert_eq(fi_close(&reads->fid), 0);
	cr_assert_eq(fi_close(&writes->fid), 0);
}

Test(atomic, fetching_ones_count_as_reads_and_the_others_as_writes)
{
	uint64_t one = 1;

	open_counters(FI_CNTR_EVENTS_COMP);
	cr_assert_eq(base(1, FI_SUM, target, NULL), 0);
	cr_assert_eq(base(2, FI_SUM, target, NULL), 0);
	cr_assert_eq(fi_inject_atomic(n.side[0].ep, &one, 1, 0, at(target), key,
				      FI_UINT64, FI_SUM),
		     0);
	cr_assert_eq(fetch(1, FI_SUM, target, local, NULL), 0);
	cr_assert_eq(swap(3, 1, target, local, NULL), 0);
	cr_assert_eq(fi_cntr_read(writes), 3);
	cr_assert_eq(fi_cntr_read(reads), 2);
	close_counters();
}

Test(atomic, word_counts_eight_bytes)
{
	open_counters((enum fi_cntr_events)1); /* FI_CNTR_EVENTS_BYTES */
	cr_assert_eq(base(1, FI_SUM, target, NULL), 0);
	cr_assert_eq(base(2, FI_SUM, target, NULL), 0);
	cr_assert_eq(fetch(1, FI_SUM, target, local, NULL), 0);
	cr_assert_eq(fi_cntr_read(writes), 16);
	cr_assert_eq(fi_cntr_read(reads), 8);
	close_counters();
}

/* What closing cuts off is told. */
Test(atomic, flushed_ones_are_told)
{
	struct net_comp comp;

	join_pair();
	fake_hold_wire(true);
	cr_assert_eq(fetch(1, FI_SUM, target, local, &n), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	fake_hold_wire(false);
	comp = failed();
	cr_assert_eq(comp.err, FI_ECANCELED);
	cr_assert_eq(comp.flags, FI_ATOMIC | FI_READ);
	cr_assert_eq(comp.context, &n);
}
