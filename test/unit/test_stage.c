/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <errno.h>
#include <string.h>

#include "rcm_stage.h"
#include "script_qp.h"

TestSuite(stage, .init = setup, .fini = teardown);

#define MORE (RCM_TX_COMPLETE | RCM_TX_MORE)

static void post_more(uintptr_t first, uintptr_t last)
{
	for (; first <= last; first++)
		cr_assert_eq(post(8, MORE, first), 0);
}

/* The contexts FIRST to LAST come in this order, and nothing else. */
static void expect_contexts(uintptr_t first, uintptr_t last)
{
	for (; first <= last; first++)
		cr_assert_eq(next_context(), first);
	cr_assert_eq(next_context(), 0);
}

Test(stage, call_without_more_rings_once_for_all)
{
	open_qp(8, 64);
	post_more(1, 3);
	cr_assert_eq(script.doorbells, 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 4), 0);
	cr_assert_eq(script.doorbells, 1);
	cr_assert_eq(dev->sends.n, 4);
	script_sent(dev, 4);
	expect_contexts(1, 4);
}

Test(stage, burst_of_64_takes_two_doorbells)
{
	open_qp(100, 64);
	post_more(1, 63);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 64), 0);
	cr_assert_eq(script.doorbells, 2);
	script_sent(dev, 64);
	expect_contexts(1, 64);
}

/* LF#12041, LF#12626: the doorbell that was lost */
Test(stage, read_rings_for_what_waits)
{
	open_qp(8, 64);
	post_more(1, 2);
	cr_assert_eq(next_context(), 0);
	cr_assert_eq(dev->sends.n, 2);
	cr_assert_eq(cs.n_staged, 0);
	cr_assert_eq(next_context(), 0);
	cr_assert_eq(script.doorbells, 1);
	script_sent(dev, 2);
	expect_contexts(1, 2);
}

Test(stage, injected_buffer_does_not_wait)
{
	open_qp(8, 64);
	post_more(1, 1);
	memset(data, 'i', 8);
	cr_assert_eq(post(8, RCM_TX_INJECT | RCM_TX_MORE, 0), 0);
	cr_assert_eq(script.doorbells, 1);
	cr_assert_eq(script_last_send(dev, 0)->data[0], 'i');
	cr_assert_eq(dev->sends.n, 2);
}

Test(stage, bounced_inject_comes_after_what_waits)
{
	script.inline_limit = 0;
	open_qp(8, 64);
	post_more(1, 2);
	cr_assert_eq(post(64, RCM_TX_INJECT, 0), 0);
	cr_assert_eq(dev->sends.n, 3);
	cr_assert_eq(script_last_send(dev, 0)->sge[0].lkey, 0x77);
}

Test(stage, several_buffers_are_kept)
{
	struct ibv_sge sge[3] = {
		{ .addr = (uintptr_t) "ab", .length = 2, .lkey = 1 },
		{ .addr = (uintptr_t) "cd", .length = 2, .lkey = 2 },
		{ .addr = (uintptr_t) "ef", .length = 2, .lkey = 3 },
	};
	struct rcm_tx tx = {
		.sge = sge,
		.n_sge = 3,
		.flags = MORE | RCM_TX_IMM,
		.opcode = IBV_WR_SEND,
		.imm = 77,
		.len = 6,
	};

	open_qp(8, 64);
	cr_assert_eq(rcm_sq_post(&qp, &tx), 0);
	memset(sge, 0, sizeof(sge));
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 2), 0);
	cr_assert_eq(memcmp(script_last_send(dev, 1)->data, "abcdef", 6), 0);
	cr_assert_eq(script_last_send(dev, 1)->imm, 77);
}

Test(stage, full_queue_rings_before_it_says_again)
{
	open_qp(4, 64);
	post_more(1, 4);
	cr_assert_eq(script.doorbells, 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 5), -FI_EAGAIN);
	cr_assert_eq(dev->sends.n, 4);
	script_sent(dev, 4);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 5), 0);
	script_sent(dev, 1);
	expect_contexts(1, 5);
}

Test(stage, callers_own_refusal_is_returned_to_it)
{
	open_qp(8, 64);
	post_more(1, 2);
	script.post_accepts = 2;
	script.post_err = EINVAL;
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 3), -FI_EINVAL);
	cr_assert_eq(dev->sends.n, 2);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 4), 0);
	script_sent(dev, 3);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(next_context(), 2);
	expect_contexts(4, 4);
}

Test(stage, refusal_of_an_accepted_one_becomes_an_error_entry)
{
	struct rcm_comp comp;

	open_qp(8, 64);
	post_more(1, 3);
	script.post_accepts = 1;
	script.post_err = EINVAL;
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 4), 0);
	cr_assert_eq(dev->sends.n, 3);
	comp = next_error();
	cr_assert_eq(comp.op_context, (void *)2);
	cr_assert_eq(comp.err, FI_EINVAL);
	cr_assert_eq(comp.flags, FI_MSG | FI_SEND);
	script_sent(dev, 3);
	cr_assert_eq(next_context(), 1);
	expect_contexts(3, 4);
}

Test(stage, every_one_refused_leaves_the_queue_empty)
{
	int i;

	open_qp(4, 64);
	for (i = 0; i < 20; i++) {
		post_more(1, 1);
		script.post_err = EINVAL;
		cr_assert_eq(next_error().op_context, (void *)1);
	}
	cr_assert_eq(dev->sends.n, 0);
	cr_assert_eq(cs.n_staged, 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 2), 0);
	script_sent(dev, 1);
	expect_contexts(2, 2);
}

Test(stage, devices_full_queue_keeps_the_rest_waiting)
{
	open_qp(8, 64);
	post_more(1, 3);
	script.post_accepts = 1;
	script.post_err = ENOMEM;
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 4), -FI_EAGAIN);
	cr_assert_eq(dev->sends.n, 1);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 4), 0);
	script_sent(dev, 4);
	expect_contexts(1, 4);
}

Test(stage, close_leaves_no_accepted_send_without_an_entry)
{
	uintptr_t i;

	open_qp(8, 64);
	post_more(1, 3);
	rcm_qp_close(&qp);
	for (i = 1; i <= 3; i++) {
		struct rcm_comp comp = next_error();

		cr_assert_eq(comp.op_context, (void *)i);
		cr_assert_eq(comp.err, FI_ECANCELED);
	}
	cr_assert_eq(next_context(), 0);
	cr_assert_eq(cs.n_staged, 0);
}

Test(stage, close_does_not_lose_what_the_device_takes_no_more)
{
	open_qp(8, 64);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	post_more(2, 3);
	script.post_err = ENOMEM;
	rcm_qp_close(&qp);
	cr_assert_eq(next_error().err, FI_ECANCELED);
	cr_assert_eq(next_error().err, FI_ECANCELED);
	cr_assert_eq(next_error().err, FI_ECANCELED);
	cr_assert_eq(next_context(), 0);
}
