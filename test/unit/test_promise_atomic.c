/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Sentences of fi_atomic(3) and of fi_getinfo(3) on atomics. */

#include <string.h>

#include "atomic_words.h"

#define API FI_VERSION(1, 17)

static const struct fake_dev_conf without = {
	.name = "fake0",
	.ifname = "f0",
	.addrs = { "10.77.0.1" },
	.atomic_cap = -1,
};

static void set_up_without(void)
{
	net_begin(&n, &without, 1);
}

TestSuite(promise_atomic, .init = set_up, .fini = tear_down);
TestSuite(atomic_none, .init = set_up_without, .fini = tear_down);

/* Of one word. */
static struct fi_msg_atomic msg_of(struct fi_ioc *ioc, struct fi_rma_ioc *rma,
				   enum fi_op op)
{
	const struct fi_msg_atomic msg = {
		.msg_iov = ioc,
		.iov_count = 1,
		.rma_iov = rma,
		.rma_iov_count = 1,
		.datatype = FI_UINT64,
		.op = op,
	};

	return msg;
}

static void done(void)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), 0);
	cr_assert_eq(comp.err, 0);
}

/* What is offered, and by which family of calls. */

/* as many as 2.5 has, and some that nobody has */
#define OPS   24
#define TYPES 24

static bool is_word(int type)
{
	return type == FI_INT64 || type == FI_UINT64;
}

static bool is_base(int type, int op)
{
	return is_word(type) && op == FI_SUM;
}

static bool is_fetch(int type, int op)
{
	return is_word(type) && (op == FI_SUM || op == FI_ATOMIC_READ);
}

static bool is_compare(int type, int op)
{
	return is_word(type) && op == FI_CSWAP;
}

static void expect_valid(int ret, size_t count, bool offered, int type, int op)
{
	cr_assert_eq(ret, offered ? 0 : -FI_EOPNOTSUPP, "type %d op %d: %d",
		     type, op, ret);
	cr_assert_eq(count, offered ? 1 : 77, "type %d op %d: count %zu", type,
		     op, count);
}

static void expect_query(uint64_t flags, bool offered, int type, int op)
{
	struct fi_atomic_attr attr = { .count = 77, .size = 77 };
	int ret = fi_query_atomic(n.domain, (enum fi_datatype)type,
				  (enum fi_op)op, &attr, flags);

	expect_valid(ret, attr.count, offered, type, op);
	cr_assert_eq(attr.size, offered ? 8 : 77);
	/* tagged buffers are no targets */
	cr_assert_eq(fi_query_atomic(n.domain, (enum fi_datatype)type,
				     (enum fi_op)op, &attr, flags | FI_TAGGED),
		     -FI_EOPNOTSUPP);
}

static void expect_row(int t, int o)
{
	struct fid_ep *ep = n.side[0].ep;
	enum fi_datatype type = (enum fi_datatype)t;
	enum fi_op op = (enum fi_op)o;
	size_t count = 77;
	int ret = fi_atomicvalid(ep, type, op, &count);

	expect_valid(ret, count, is_base(t, o), t, o);
	count = 77;
	ret = fi_fetch_atomicvalid(ep, type, op, &count);
	expect_valid(ret, count, is_fetch(t, o), t, o);
	count = 77;
	ret = fi_compare_atomicvalid(ep, type, op, &count);
	expect_valid(ret, count, is_compare(t, o), t, o);
	expect_query(0, is_base(t, o), t, o);
	expect_query(FI_FETCH_ATOMIC, is_fetch(t, o), t, o);
	expect_query(FI_COMPARE_ATOMIC, is_compare(t, o), t, o);
}

/* LF#10911: what is not offered says so when it is asked about */
Test(promise_atomic, words_are_all_that_is_offered)
{
	join_pair();
	for (int type = 0; type < TYPES; type++) {
		for (int op = 0; op < OPS; op++)
			expect_row(type, op);
	}
}

/* What the calls take is what the questions say. */
static ssize_t call_base(int type, int op)
{
	return fi_atomic(n.side[0].ep, local, 1, desc, 0, at(target), key,
			 (enum fi_datatype)type, (enum fi_op)op, NULL);
}

static ssize_t call_fetch(int type, int op)
{
	return fi_fetch_atomic(n.side[0].ep, local, 1, desc, &local[1], desc, 0,
			       at(target), key, (enum fi_datatype)type,
			       (enum fi_op)op, NULL);
}

static ssize_t call_compare(int type, int op)
{
	return fi_compare_atomic(n.side[0].ep, local, 1, desc, &local[2], desc,
				 &local[1], desc, 0, at(target), key,
				 (enum fi_datatype)type, (enum fi_op)op, NULL);
}

static ssize_t call_inject(int type, int op)
{
	return fi_inject_atomic(n.side[0].ep, local, 1, 0, at(target), key,
				(enum fi_datatype)type, (enum fi_op)op);
}

static void expect_call(ssize_t ret, bool offered, int type, int op)
{
	cr_assert_eq(ret, offered ? 0 : -FI_EOPNOTSUPP, "type %d op %d: %zd",
		     type, op, ret);
	if (offered)
		done();
}

Test(promise_atomic, calls_do_what_the_questions_say_and_nothing_else)
{
	join_pair();
	memset(target, 0x77, sizeof(target));
	for (int type = 0; type < TYPES; type++) {
		for (int op = 0; op < OPS; op++) {
			expect_call(call_base(type, op), is_base(type, op),
				    type, op);
			expect_call(call_fetch(type, op), is_fetch(type, op),
				    type, op);
			expect_call(call_compare(type, op),
				    is_compare(type, op), type, op);
			cr_assert_eq(call_inject(type, op),
				     is_base(type, op) ? 0 : -FI_EOPNOTSUPP);
		}
	}
	/* nor was anything written beside the word */
	for (size_t i = 1; i < RCM_ARRAY_SIZE(target); i++)
		cr_assert_eq(target[i], 0x7777777777777777);
}

Test(promise_atomic, questions_may_be_asked_before_the_endpoint_is_enabled)
{
	struct fid_ep *ep;
	size_t count = 0;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
	cr_assert_eq(fi_atomicvalid(ep, FI_UINT64, FI_SUM, &count), 0);
	cr_assert_eq(count, 1);
	cr_assert_eq(fi_close(&ep->fid), 0);
}

Test(promise_atomic, nothing_works_before_the_endpoint_is_enabled)
{
	struct fi_ioc ioc = { local, 1 };
	struct fi_rma_ioc rma = { 0, 1, 0 };
	struct fi_msg_atomic msg = msg_of(&ioc, &rma, FI_SUM);
	struct fid_ep *ep;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
	n.side[0].ep = ep;
	cr_assert_eq(call_base(FI_UINT64, FI_SUM), -FI_EOPBADSTATE);
	cr_assert_eq(call_fetch(FI_UINT64, FI_SUM), -FI_EOPBADSTATE);
	cr_assert_eq(call_compare(FI_UINT64, FI_CSWAP), -FI_EOPBADSTATE);
	cr_assert_eq(call_inject(FI_UINT64, FI_SUM), -FI_EOPBADSTATE);
	cr_assert_eq(fi_atomicv(ep, &ioc, NULL, 1, 0, 0, 0, FI_UINT64, FI_SUM,
				NULL),
		     -FI_EOPBADSTATE);
	cr_assert_eq(fi_fetch_atomicv(ep, &ioc, NULL, 1, &ioc, NULL, 1, 0, 0, 0,
				      FI_UINT64, FI_SUM, NULL),
		     -FI_EOPBADSTATE);
	cr_assert_eq(fi_compare_atomicv(ep, &ioc, NULL, 1, &ioc, NULL, 1, &ioc,
					NULL, 1, 0, 0, 0, FI_UINT64, FI_CSWAP,
					NULL),
		     -FI_EOPBADSTATE);
	cr_assert_eq(fi_atomicmsg(ep, &msg, 0), -FI_EOPBADSTATE);
	cr_assert_eq(fi_fetch_atomicmsg(ep, &msg, &ioc, NULL, 1, 0),
		     -FI_EOPBADSTATE);
	cr_assert_eq(fi_compare_atomicmsg(ep, &msg, &ioc, NULL, 1, &ioc, NULL,
					  1, 0),
		     -FI_EOPBADSTATE);
}

Test(promise_atomic, query_flags_are_those_of_the_page)
{
	struct fi_atomic_attr attr;

	join_pair();
	cr_assert_eq(fi_query_atomic(n.domain, FI_UINT64, FI_SUM, &attr,
				     FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC),
		     -FI_EINVAL);
	cr_assert_eq(fi_query_atomic(n.domain, FI_UINT64, FI_SUM, &attr,
				     FI_INJECT),
		     -FI_EBADFLAGS);
}

/* Arguments. */

Test(promise_atomic, addresses_are_ignored)
{
	const fi_addr_t any = 0x123456789abcdefULL;
	uint64_t one = 1;
	struct fi_ioc ioc = { &one, 1 }, result = { local, 1 };
	struct fi_rma_ioc rma = { at(target), 1, 0 };
	struct fi_msg_atomic msg = msg_of(&ioc, &rma, FI_SUM);
	struct fid_ep *ep;

	msg.addr = any;
	join_pair();
	ep = n.side[0].ep;
	rma.key = key;
	cr_assert_eq(fi_atomic(ep, &one, 1, NULL, any, at(target), key,
			       FI_UINT64, FI_SUM, NULL),
		     0);
	cr_assert_eq(fi_atomicv(ep, &ioc, NULL, 1, any, at(target), key,
				FI_UINT64, FI_SUM, NULL),
		     0);
	cr_assert_eq(fi_inject_atomic(ep, &one, 1, any, at(target), key,
				      FI_UINT64, FI_SUM),
		     0);
	cr_assert_eq(fi_fetch_atomicv(ep, &ioc, NULL, 1, &result, &desc, 1, any,
				      at(target), key, FI_UINT64, FI_SUM, NULL),
		     0);
	cr_assert_eq(fi_atomicmsg(ep, &msg, 0), 0);
	for (int i = 0; i < 4; i++)
		done();
	cr_assert_eq(target[0], 5);
}

/* A call that fails posts nothing: the target stays, and no entry comes. */
static void expect_untouched(void)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), -FI_EAGAIN);
	for (size_t i = 0; i < RCM_ARRAY_SIZE(target); i++)
		cr_assert_eq(target[i], 0);
}

static ssize_t sum_of(size_t count, uint64_t addr, uint64_t rkey)
{
	return fi_atomic(n.side[0].ep, local, count, NULL, 0, addr, rkey,
			 FI_UINT64, FI_SUM, NULL);
}

Test(promise_atomic, one_word_is_the_most_and_the_least)
{
	struct fid_ep *ep;

	join_pair();
	ep = n.side[0].ep;
	local[0] = 1;
	cr_assert_eq(sum_of(2, at(target), key), -FI_EMSGSIZE);
	cr_assert_eq(sum_of(SIZE_MAX, at(target), key), -FI_EMSGSIZE);
	cr_assert_eq(sum_of(0, at(target), key), -FI_EINVAL);
	cr_assert_eq(fi_inject_atomic(ep, local, 2, 0, at(target), key,
				      FI_UINT64, FI_SUM),
		     -FI_EMSGSIZE);
	cr_assert_eq(fi_fetch_atomic(ep, local, 2, NULL, local, desc, 0,
				     at(target), key, FI_UINT64, FI_SUM, NULL),
		     -FI_EMSGSIZE);
	cr_assert_eq(fi_compare_atomic(ep, local, 2, NULL, local, NULL, local,
				       desc, 0, at(target), key, FI_UINT64,
				       FI_CSWAP, NULL),
		     -FI_EMSGSIZE);
	expect_untouched();
}

static ssize_t list_of(const struct fi_ioc *iov, size_t count)
{
	return fi_atomicv(n.side[0].ep, iov, NULL, count, 0, at(target), key,
			  FI_UINT64, FI_SUM, NULL);
}

static ssize_t fetch_into(struct fi_ioc *iov, size_t count)
{
	struct fi_ioc one = { local, 1 };

	return fi_fetch_atomicv(n.side[0].ep, &one, NULL, 1, iov, NULL, count,
				0, at(target), key, FI_UINT64, FI_SUM, NULL);
}

static ssize_t compare_with(struct fi_ioc *iov, size_t count)
{
	struct fi_ioc one = { local, 1 };

	return fi_compare_atomicv(n.side[0].ep, &one, NULL, 1, iov, NULL, count,
				  &one, &desc, 1, 0, at(target), key, FI_UINT64,
				  FI_CSWAP, NULL);
}

Test(promise_atomic, lists_hold_one_word)
{
	struct fi_ioc two[2] = { { &local[0], 1 }, { &local[1], 1 } };
	struct fi_ioc long_one = { local, 2 }, none = { local, 0 };
	struct fi_ioc many[65];

	join_pair();
	for (size_t i = 0; i < RCM_ARRAY_SIZE(many); i++)
		many[i] = (struct fi_ioc){ local, i == 0 };
	cr_assert_eq(list_of(two, 2), -FI_EMSGSIZE);
	cr_assert_eq(list_of(&long_one, 1), -FI_EMSGSIZE);
	cr_assert_eq(list_of(&none, 1), -FI_EINVAL);
	cr_assert_eq(list_of(NULL, 0), -FI_EINVAL);
	/* iov_limit */
	cr_assert_eq(list_of(many, n.info->tx_attr->iov_limit + 1), -FI_EINVAL);
	cr_assert_eq(fetch_into(two, 2), -FI_EMSGSIZE);
	cr_assert_eq(fetch_into(NULL, 0), -FI_EINVAL);
	cr_assert_eq(compare_with(two, 2), -FI_EMSGSIZE);
	cr_assert_eq(compare_with(NULL, 0), -FI_EINVAL);
	expect_untouched();
}

Test(promise_atomic, message_has_one_target)
{
	struct fi_ioc ioc = { local, 1 };
	struct fi_rma_ioc rma[2] = { { 0, 1, 0 }, { 0, 1, 0 } };
	struct fi_msg_atomic msg = msg_of(&ioc, rma, FI_SUM);

	msg.rma_iov_count = 2;
	join_pair();
	rma[0].addr = rma[1].addr = at(target);
	rma[0].key = rma[1].key = key;
	cr_assert_eq(fi_atomicmsg(n.side[0].ep, &msg, 0), -FI_EINVAL);
	msg.rma_iov_count = 0;
	cr_assert_eq(fi_atomicmsg(n.side[0].ep, &msg, 0), -FI_EINVAL);
	msg.rma_iov_count = 1;
	rma[0].count = 2;
	cr_assert_eq(fi_atomicmsg(n.side[0].ep, &msg, 0), -FI_EMSGSIZE);
	expect_untouched();
}

/* a device would end the connection over it, or change two words */
Test(promise_atomic, target_that_is_not_aligned_is_refused_at_the_call)
{
	join_pair();
	local[0] = 1;
	for (uint64_t off = 1; off < 8; off++) {
		cr_assert_eq(sum_of(1, at(target) + off, key), -FI_EINVAL);
		cr_assert_eq(fi_fetch_atomic(n.side[0].ep, NULL, 1, NULL, local,
					     desc, 0, at(target) + off, key,
					     FI_UINT64, FI_ATOMIC_READ, NULL),
			     -FI_EINVAL);
		cr_assert_eq(fi_inject_atomic(n.side[0].ep, local, 1, 0,
					      at(target) + off, key, FI_UINT64,
					      FI_SUM),
			     -FI_EINVAL);
	}
	expect_untouched();
}

Test(promise_atomic, local_buffers_may_stand_anywhere)
{
	uint8_t *odd = (uint8_t *)local + 3;
	uint64_t one = 1, was;

	join_pair();
	target[0] = 0x0102030405060708;
	memcpy(odd, &one, sizeof(one));
	cr_assert_eq(fi_fetch_atomic(n.side[0].ep, odd, 1, desc, odd + 8, desc,
				     0, at(target), key, FI_UINT64, FI_SUM,
				     NULL),
		     0);
	done();
	memcpy(&was, odd + 8, sizeof(was));
	cr_assert_eq(was, 0x0102030405060708);
	cr_assert_eq(target[0], 0x0102030405060709);
}

Test(promise_atomic, missing_buffers_are_refused)
{
	struct fid_ep *ep;

	join_pair();
	ep = n.side[0].ep;
	cr_assert_eq(fi_atomic(ep, NULL, 1, NULL, 0, at(target), key, FI_UINT64,
			       FI_SUM, NULL),
		     -FI_EINVAL);
	cr_assert_eq(fi_fetch_atomic(ep, local, 1, NULL, NULL, desc, 0,
				     at(target), key, FI_UINT64, FI_SUM, NULL),
		     -FI_EINVAL);
	cr_assert_eq(fi_compare_atomic(ep, local, 1, NULL, NULL, NULL, local,
				       desc, 0, at(target), key, FI_UINT64,
				       FI_CSWAP, NULL),
		     -FI_EINVAL);
	/* longer than any key is: it would be another one's */
	cr_assert_eq(sum_of(1, at(target), key | 1ULL << 32), -FI_EINVAL);
	expect_untouched();
}

/* Flags. */

Test(promise_atomic, flags_that_are_not_offered_are_refused)
{
	static const uint64_t bad[] = { FI_TAGGED, FI_REMOTE_CQ_DATA,
					FI_MULTI_RECV, FI_MULTICAST, 1ULL };
	struct fi_ioc ioc = { local, 1 };
	struct fi_rma_ioc rma = { at(target), 1, 0 };
	struct fi_msg_atomic msg = msg_of(&ioc, &rma, FI_SUM);

	join_pair();
	rma.key = key;
	for (size_t i = 0; i < RCM_ARRAY_SIZE(bad); i++)
		cr_assert_eq(fi_atomicmsg(n.side[0].ep, &msg, bad[i]),
			     -FI_EBADFLAGS, "row %zu", i);
	expect_untouched();
}

/* 2.5: what waits with FI_MORE goes when a later call fails. */
Test(promise_atomic, failing_call_sends_what_waits_for_it)
{
	uint64_t one = 1;
	struct fi_ioc ioc = { &one, 1 };
	struct fi_rma_ioc rma = { at(target), 1, 0 };
	struct fi_msg_atomic msg = msg_of(&ioc, &rma, FI_SUM);

	join_pair();
	rma.key = key;
	cr_assert_eq(fi_atomicmsg(n.side[0].ep, &msg, FI_MORE), 0);
	cr_assert_eq(target[0], 0);
	cr_assert_eq(sum_of(2, at(target), key), -FI_EMSGSIZE);
	cr_assert_eq(target[0], 1);
	cr_assert_eq(fi_atomicmsg(n.side[0].ep, &msg, FI_MORE), 0);
	cr_assert_eq(call_base(FI_DOUBLE, FI_SUM), -FI_EOPNOTSUPP);
	cr_assert_eq(target[0], 2);
}

Test(promise_atomic, full_queue_asks_for_another_try)
{
	unsigned int posted = 0;
	ssize_t ret;

	n.hints->tx_attr->size = 16;
	join_pair();
	local[0] = 1;
	fake_hold_wire(true);
	while (!(ret = sum_of(1, at(target), key)))
		posted++;
	cr_assert_eq(ret, -FI_EAGAIN);
	cr_assert_eq(posted, 16);
	fake_hold_wire(false);
	for (unsigned int i = 0; i < posted; i++)
		done();
	cr_assert_eq(target[0], 16);
	cr_assert_eq(sum_of(1, at(target), key), 0);
}

/* Capabilities: fi_getinfo(3), fi_endpoint(3). */

Test(promise_atomic, capability_is_granted_as_asked_for)
{
	uint64_t all = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

	n.hints->caps = FI_ATOMIC;
	cr_assert_eq(net_open_domain(&n), 0);
	cr_assert_eq(n.info->caps & (FI_MSG | FI_RMA | FI_ATOMIC), FI_ATOMIC);
	cr_assert_eq(n.info->caps & all, all);
	cr_assert(n.info->tx_attr->caps & FI_ATOMIC);
	cr_assert(n.info->rx_attr->caps & FI_ATOMIC);
	cr_assert_geq(n.info->ep_attr->max_order_waw_size, 8);
	cr_assert_geq(n.info->ep_attr->max_order_raw_size, 8);
}

/* An atomic operation brings no data, whatever the mode: fi_getinfo(3). */
Test(promise_atomic, data_of_messages_needs_no_mode_for_writes)
{
	n.hints->mode = 0;
	n.hints->rx_attr->mode = 0;
	n.hints->domain_attr->cq_data_size = 4;
	cr_assert_eq(net_open_domain(&n), 0);
	cr_assert_eq(n.info->domain_attr->cq_data_size, 4);
	cr_assert_eq(n.info->mode & FI_RX_CQ_DATA, 0);
}

Test(promise_atomic, orders_of_atomics_are_offered)
{
	uint64_t orders = FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |
			  FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;

	n.hints->tx_attr->msg_order = orders;
	n.hints->rx_attr->msg_order = orders;
	cr_assert_eq(net_open_domain(&n), 0);
	cr_assert_eq(n.info->tx_attr->msg_order & orders, orders);
}

Test(promise_atomic, direction_that_was_not_asked_for_is_refused)
{
	n.hints->caps = FI_MSG | FI_ATOMIC | FI_READ | FI_REMOTE_READ |
			FI_REMOTE_WRITE;
	join_pair();
	cr_assert_eq(call_base(FI_UINT64, FI_SUM), -FI_EOPNOTSUPP);
	cr_assert_eq(call_fetch(FI_UINT64, FI_SUM), 0);
	done();
}

Test(promise_atomic, endpoint_without_the_capability_has_none)
{
	n.hints->caps = FI_MSG | FI_RMA;
	join_pair();
	cr_assert_eq(call_base(FI_UINT64, FI_SUM), -FI_ENOSYS);
	cr_assert_eq(call_fetch(FI_UINT64, FI_SUM), -FI_ENOSYS);
	cr_assert_eq(call_compare(FI_UINT64, FI_CSWAP), -FI_ENOSYS);
	expect_untouched();
}

/* Nobody may do to a peer's memory what that one did not ask for. */
Test(promise_atomic, endpoint_without_the_capability_is_no_target)
{
	struct net_comp comp;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	n.req->caps = FI_MSG | FI_SEND | FI_RECV | FI_LOCAL_COMM |
		      FI_REMOTE_COMM;
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), 0);
	cr_assert_eq(net_await(&n, 1, FI_CONNECTED, NULL), 0);
	register_words(FI_REMOTE_READ | FI_REMOTE_WRITE);
	cr_assert_eq(call_base(FI_UINT64, FI_SUM), 0);
	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), 0);
	/* the queue pair itself denies it */
	cr_assert_eq(comp.prov_errno, IBV_WC_REM_INV_REQ_ERR);
	cr_assert_eq(target[0], 0);
}

Test(atomic_none, device_without_atomics_does_not_offer_them)
{
	struct fi_atomic_attr attr;

	cr_assert_eq(net_open_domain(&n), 0);
	cr_assert_eq(n.info->caps & FI_ATOMIC, 0);
	cr_assert_eq(n.info->tx_attr->caps & FI_ATOMIC, 0);
	cr_assert_eq(n.info->rx_attr->caps & FI_ATOMIC, 0);
	cr_assert_eq(fi_query_atomic(n.domain, FI_UINT64, FI_SUM, &attr, 0),
		     -FI_EOPNOTSUPP);
}

Test(atomic_none, all_that_a_device_offers_does_not_include_them)
{
	struct fi_info *info;

	cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, NULL, &info), 0);
	cr_assert_eq(info->caps & FI_ATOMIC, 0);
	fi_freeinfo(info);
}

Test(atomic_none, asking_for_atomics_does_not_match)
{
	struct fi_info *info;

	n.hints->caps = FI_MSG | FI_ATOMIC;
	cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, n.hints, &info),
		     -FI_ENODATA);
	n.hints->caps = FI_MSG;
	n.hints->tx_attr->caps = FI_ATOMIC;
	cr_assert_eq(rcm_getinfo(API, NULL, NULL, 0, n.hints, &info),
		     -FI_ENODATA);
}
