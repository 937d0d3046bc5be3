/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Sentences of fi_cq(3) that no other test shows; docs/CONFORMANCE.md. */

#include <criterion/criterion.h>
#include <string.h>

#include "fake.h"
#include "net.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	n.cq_attr.format = FI_CQ_FORMAT_TAGGED;
	n.cq_attr.wait_obj = FI_WAIT_FD;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(promise_cq, .init = set_up, .fini = tear_down, .timeout = 30);

static struct fid_cq *cq(int side)
{
	return n.side[side].cq;
}

static void one_message(size_t len)
{
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n.side[1]), 0);
	cr_assert_eq(net_send(&n, 0, 0, len, &n.side[0]), 0);
}

Test(promise_cq, close_drops_what_was_not_read)
{
	one_message(8);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(fi_close(&n.side[i].ep->fid), 0);
		n.side[i].ep = NULL;
		cr_assert_eq(fi_close(&n.side[i].cq->fid), 0);
		n.side[i].cq = NULL;
	}
}

Test(promise_cq, fields_that_say_nothing_are_null)
{
	struct fi_cq_tagged_entry e;

	one_message(8);
	for (int i = 0; i < 2; i++) {
		memset(&e, 0xa5, sizeof(e));
		cr_assert_eq(fi_cq_read(cq(i), &e, 1), 1);
		cr_assert_eq(e.op_context, &n.side[i]);
		cr_assert_eq(e.flags, FI_MSG | (i ? FI_RECV : FI_SEND));
		cr_assert_null(e.buf);
		cr_assert_eq(e.data, 0);
		cr_assert_eq(e.tag, 0);
	}
}

Test(promise_cq, blocking_read_says_that_an_error_waits)
{
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err = { 0 };
	fi_addr_t addr;

	cr_assert_eq(net_recv(&n, 1, 0, 4, &n.side[1]), 0);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
	cr_assert_eq(fi_cq_sread(cq(1), &e, 1, NULL, -1), -FI_EAVAIL);
	cr_assert_eq(fi_cq_sreadfrom(cq(1), &e, 1, &addr, NULL, -1),
		     -FI_EAVAIL);
	cr_assert_eq(fi_cq_readerr(cq(1), &err, 0), 1);
	cr_assert_eq(err.op_context, &n.side[1]);
	cr_assert_eq(err.tag, 0);
	cr_assert_null(err.buf);
	cr_assert_eq(fi_cq_readerr(cq(1), &err, 0), -FI_EAGAIN);
}

Test(promise_cq, blocking_readfrom_gives_no_address)
{
	struct fi_cq_tagged_entry e[2];
	fi_addr_t addr[2] = { 5, 6 };

	one_message(8);
	cr_assert_eq(fi_cq_sreadfrom(cq(1), e, 2, addr, NULL, -1), 1);
	cr_assert_eq(addr[0], FI_ADDR_NOTAVAIL);
	cr_assert_eq(addr[1], 6);
}

/* whatever its wait object is, a queue may be read without waiting */
Test(promise_cq, queue_that_can_wait_may_be_polled)
{
	struct fi_cq_tagged_entry e;

	cr_assert_eq(fi_cq_read(cq(1), &e, 1), -FI_EAGAIN);
	one_message(0);
	cr_assert_eq(fi_cq_read(cq(1), &e, 1), 1);
	cr_assert_eq(e.len, 0);
}

/* the target: data is there when the completion is */
Test(promise_cq, data_is_visible_with_its_completion)
{
	struct fi_cq_tagged_entry e;

	for (int i = 0; i < 50; i++) {
		memset(n.side[0].buf, i + 1, 64);
		one_message(64);
		cr_assert_eq(fi_cq_read(cq(1), &e, 1), 1);
		cr_assert_eq(n.side[1].buf[63], i + 1);
		cr_assert_eq(fi_cq_read(cq(0), &e, 1), 1);
	}
}

Test(promise_cq, condition_is_ignored_where_nobody_waits)
{
	struct fi_cq_attr attr = {
		.wait_obj = FI_WAIT_NONE,
		.wait_cond = (enum fi_cq_wait_cond)77,
	};
	struct fid_cq *none;

	cr_assert_eq(fi_cq_open(n.domain, &attr, &none, NULL), 0);
	cr_assert_eq(fi_close(&none->fid), 0);
}
