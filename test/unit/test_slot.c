/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_slot.h"
#include "script_qp.h"

/* Counters: each operation is counted once, when and as it ends. */
static struct rcm_tally sends, recvs;
static int told;

static void changed(struct rcm_tally *tally)
{
	(void)tally;
	told++;
}

static void setup_counted(void)
{
	struct rcm_qp_attr attr;

	setup();
	attr = attr_of(8, 64);
	attr.tally[RCM_OP_SEND] = &sends;
	attr.tally[RCM_OP_RECV] = &recvs;
	sends.changed = changed;
	open_qp_with(&attr);
}

TestSuite(slot, .init = setup_counted, .fini = teardown);

static void expect_sends(uint64_t value, uint64_t errors)
{
	cr_assert_eq(atomic_load(&sends.value), value);
	cr_assert_eq(atomic_load(&sends.errors), errors);
}

/* nobody else would see them end */
Test(slot, sends_without_an_entry_are_counted_one_by_one)
{
	cr_assert_eq(post(8, 0, 0), 0);
	cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 3), 0);
	expect_sends(0, 0);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 0);
	expect_sends(1, 0);
	script_sent(dev, 2);
	cr_assert_eq(next_context(), 3);
	expect_sends(3, 0);
	cr_assert_eq(told, 3);
}

Test(slot, receives_are_counted_apart)
{
	cr_assert_eq(post_recv(8, 1, true), 0);
	cr_assert_eq(post_recv(8, 2, false), 0);
	script_received(dev, 8, -1);
	script_received(dev, 8, -1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(next_context(), 0);
	cr_assert_eq(atomic_load(&recvs.value), 2);
	expect_sends(0, 0);
}

Test(slot, failure_counts_as_an_error)
{
	cr_assert_eq(post(8, 0, 0), 0);
	cr_assert_eq(post(8, 0, 0), 0);
	script_sent(dev, 1);
	script_send_failed(dev, IBV_WC_RETRY_EXC_ERR);
	cr_assert_eq(rcm_cqset_read(&cs, data, 1), -FI_EAVAIL);
	expect_sends(1, 1);
	cr_assert_eq(told, 2);
}

Test(slot, canceled_operations_count_as_errors)
{
	script.flushes = false;
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	cr_assert_eq(post(8, RCM_TX_MORE | RCM_TX_COMPLETE, 2), 0);
	cr_assert_eq(post_recv(8, 3, true), 0);
	rcm_qp_close(&qp);
	expect_sends(0, 2);
	cr_assert_eq(atomic_load(&recvs.errors), 1);
}

Test(slot, refused_staged_send_counts_as_an_error)
{
	struct rcm_comp comp;

	cr_assert_eq(post(8, RCM_TX_MORE, 1), 0);
	script.post_err = EINVAL;
	cr_assert_eq(post(8, 0, 2), 0);
	expect_sends(0, 1);
	script_sent(dev, 1);
	cr_assert_eq(rcm_cqset_read(&cs, data, 1), -FI_EAVAIL);
	cr_assert_eq(rcm_cqset_read_err(&cs, &comp), 0);
	cr_assert_eq(next_context(), 0);
	expect_sends(1, 1);
}

Test(slot, request_that_was_never_accepted_is_not_counted)
{
	script.post_err = EINVAL;
	cr_assert_eq(post(8, 0, 1), -FI_EINVAL);
	cr_assert_eq(post_recv(8, 1, true), 0);
	expect_sends(0, 0);
	cr_assert_eq(told, 0);
}

/* What moves up in a chain takes its length along. */
Test(slot, bytes_of_staged_sends_are_their_own)
{
	struct rcm_comp comp;
	struct rcm_qp_attr attr = qp.attr;

	rcm_qp_close(&qp);
	atomic_store(&sends.value, 0);
	sends.bytes = true;
	open_qp_with(&attr);
	cr_assert_eq(post(8, RCM_TX_MORE, 1), 0);
	cr_assert_eq(post(16, RCM_TX_MORE, 2), 0);
	script.post_err = EINVAL;
	cr_assert_eq(post(32, 0, 3), 0);
	expect_sends(0, 1);
	script_sent(dev, 2);
	cr_assert_eq(rcm_cqset_read(&cs, data, 1), -FI_EAVAIL);
	cr_assert_eq(rcm_cqset_read_err(&cs, &comp), 0);
	cr_assert_eq(next_context(), 0);
	expect_sends(48, 1);
}
