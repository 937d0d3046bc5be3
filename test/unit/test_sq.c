/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <errno.h>
#include <string.h>

#include "script_qp.h"

TestSuite(sq, .init = setup, .fini = teardown);

Test(sq, completed_send_gives_its_context)
{
	struct fi_cq_data_entry entry;

	open_qp(8, 64);
	cr_assert_eq(post(100, RCM_TX_COMPLETE, 1), 0);
	cr_assert_eq(next_context(), 0);
	script_sent(dev, 1);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), 1);
	cr_assert_eq(entry.op_context, (void *)1);
	cr_assert_eq(entry.flags, FI_MSG | FI_SEND);
	cr_assert_eq(next_context(), 0);
}

Test(sq, null_context_is_still_an_entry)
{
	struct fi_cq_data_entry entry = { .op_context = data };

	open_qp(8, 64);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 0), 0); /* 177a47f23 */
	script_sent(dev, 1);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), 1);
	cr_assert_null(entry.op_context);
}

Test(sq, gate_decides_before_anything_else)
{
	struct rcm_qp_attr attr = attr_of(8, 64);

	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), -FI_ENOTCONN);
	rcm_qp_up(&qp, true);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	rcm_qp_down(&qp, -FI_ESHUTDOWN);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), -FI_ESHUTDOWN);
	rcm_qp_up(&qp, true);
}

Test(sq, short_sends_go_inline_and_long_ones_with_their_key)
{
	open_qp(8, 64);
	cr_assert_eq(post(64, RCM_TX_COMPLETE | RCM_TX_NO_KEY, 1), 0);
	cr_assert(script_last_send(dev, 0)->flags & IBV_SEND_INLINE);
	cr_assert_eq(post(65, RCM_TX_COMPLETE, 1), 0);
	cr_assert_not(script_last_send(dev, 0)->flags & IBV_SEND_INLINE);
	cr_assert_eq(script_last_send(dev, 0)->sge[0].lkey, 5);
}

/* LF#11167, LF#5596 */
Test(sq, long_send_without_a_key_is_refused_at_the_call)
{
	open_qp(8, 64);
	cr_assert_eq(post(65, RCM_TX_COMPLETE | RCM_TX_NO_KEY, 1), -FI_EINVAL);
	cr_assert_eq(dev->sends.n, 0);
}

Test(sq, lengths_beyond_the_limits_are_refused)
{
	struct rcm_qp_attr attr = attr_of(8, 64);

	attr.max_msg_size = 4096;
	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), 0);
	rcm_qp_up(&qp, true);
	cr_assert_eq(post(4096, RCM_TX_COMPLETE, 1), 0);
	cr_assert_eq(post(4097, RCM_TX_COMPLETE, 1), -FI_EMSGSIZE);
	cr_assert_eq(post(64, RCM_TX_INJECT, 1), 0);
	cr_assert_eq(post(65, RCM_TX_INJECT, 1), -FI_EINVAL);
}

/* LF#7652 */
Test(sq, empty_message_has_no_buffer)
{
	open_qp(8, 64);
	cr_assert_eq(post(0, RCM_TX_COMPLETE | RCM_TX_NO_KEY, 1), 0);
	cr_assert_eq(script_last_send(dev, 0)->n_sge, 0);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 1);
}

Test(sq, flags_reach_the_device_together)
{
	open_qp(8, 64); /* PR#2748: the fence took the others' place */
	cr_assert_eq(post(8, RCM_TX_INJECT | RCM_TX_FENCE | RCM_TX_IMM, 0), 0);
	cr_assert_eq(script_last_send(dev, 0)->opcode, IBV_WR_SEND_WITH_IMM);
	cr_assert_eq(script_last_send(dev, 0)->imm, 0xabcd);
	cr_assert(script_last_send(dev, 0)->flags & IBV_SEND_FENCE);
	cr_assert(script_last_send(dev, 0)->flags & IBV_SEND_INLINE);
	/* and the next one is not changed by it */
	cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
	cr_assert_eq(script_last_send(dev, 0)->opcode, IBV_WR_SEND);
	cr_assert_not(script_last_send(dev, 0)->flags & IBV_SEND_FENCE);
}

Test(sq, silent_sends_are_signaled_now_and_then)
{
	int i, signaled = 0;

	open_qp(200, 64);
	for (i = 0; i < 200; i++) {
		cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
		if (script_last_send(dev, 0)->flags & IBV_SEND_SIGNALED)
			signaled++;
	}
	cr_assert_geq(signaled, 200 / 64);
	cr_assert_leq(signaled, 200 / 50 + 1);
	cr_assert(script_last_send(dev, 0)->flags & IBV_SEND_SIGNALED);
}

/* PR#4345: without a reader the queue must empty itself */
Test(sq, injects_go_on_for_ever_without_a_read)
{
	int i;

	open_qp(7, 64);
	for (i = 0; i < 2000; i++) {
		cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0, "%d", i);
		script_sent(dev, 1);
	}
	cr_assert_eq(next_context(), 0);
}

Test(sq, only_a_full_queue_says_again)
{
	int i;

	open_qp(4, 64);
	for (i = 1; i <= 4; i++)
		cr_assert_eq(post(8, RCM_TX_COMPLETE, (uintptr_t)i), 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 5), -FI_EAGAIN);
	cr_assert_eq(dev->sends.n, 4);
	script_sent(dev, 2);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 5), 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 6), 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 7), -FI_EAGAIN);
	script_sent(dev, 4);
	for (i = 1; i <= 6; i++)
		cr_assert_eq(next_context(), (uintptr_t)i);
	cr_assert_eq(next_context(), 0);
}

/* LF#10150; the software queue does not grow with what nobody reads */
Test(sq, unread_completions_stop_the_sender_until_they_are_read)
{
	uintptr_t sent = 0, seen = 0;
	int i;

	open_qp(4, 64);
	for (i = 0; i < 1000; i++) {
		if (post(8, RCM_TX_COMPLETE, sent + 1))
			break;
		script_sent(dev, 1);
		sent++;
	}
	cr_assert_lt(i, 1000);
	cr_assert_leq(cs.soft.size, RCM_SOFT_ROOM);
	while (next_context() == seen + 1)
		seen++;
	cr_assert_eq(seen, sent);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, sent + 1), 0);
}

/* PR#824: a device's ENOMEM is its full queue, all else is the user's */
Test(sq, refused_post_returns_its_cause_and_leaves_no_trace)
{
	open_qp(4, 64);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	script.post_err = EINVAL;
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 2), -FI_EINVAL);
	script.post_err = ENOMEM;
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 3), -FI_EAGAIN);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 4), 0);
	script_sent(dev, 2);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(next_context(), 4);
	cr_assert_eq(next_context(), 0);
}

Test(sq, device_without_memory_and_work_is_no_reason_to_retry)
{
	open_qp(4, 64);
	script.post_err = ENOMEM;
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), -FI_ENOMEM);
}

Test(sq, refused_signal_is_made_up_for)
{
	int i;

	open_qp(4, 64);
	for (i = 0; i < 3; i++)
		cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
	script.post_err = EINVAL;
	cr_assert_eq(post(8, RCM_TX_INJECT, 0), -FI_EINVAL);
	cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
	cr_assert(script_last_send(dev, 0)->flags & IBV_SEND_SIGNALED);
}

/* LF#6430: a device that takes nothing inline */
Test(sq, inject_beyond_the_inline_size_bounces)
{
	uint32_t key;
	int i;

	script.inline_limit = 0;
	open_qp(4, 64);
	for (i = 0; i < 4; i++) {
		memset(data, 'a' + i, 64);
		cr_assert_eq(post(64, RCM_TX_INJECT | RCM_TX_NO_KEY, 0), 0);
	}
	memset(data, 'x', 64);
	for (i = 0; i < 4; i++) {
		struct script_wr *wr = script_last_send(dev, 3 - i);
		const char *at = (const char *)(uintptr_t)wr->sge[0].addr;

		key = wr->sge[0].lkey;
		cr_assert_eq(key, 0x77);
		cr_assert_not(wr->flags & IBV_SEND_INLINE);
		cr_assert_eq(at[0], 'a' + i);
		cr_assert_eq(at[63], 'a' + i);
	}
	cr_assert_eq(post(64, RCM_TX_INJECT, 0), -FI_EAGAIN);
	script_sent(dev, 4);
	cr_assert_eq(post(64, RCM_TX_INJECT, 0), 0);
}

/* PR#3790, LF#4719: some inline bytes are better than no endpoint */
Test(sq, smaller_inline_sizes_are_tried)
{
	script.inline_limit = 100;
	open_qp(4, 256);
	cr_assert_eq(qp.sq.max_inline, 64);
	cr_assert_not_null(qp.sq.bounce);
	cr_assert_eq(post(256, RCM_TX_INJECT, 0), 0);
	cr_assert_eq(post(64, RCM_TX_INJECT, 0), 0);
	cr_assert(script_last_send(dev, 0)->flags & IBV_SEND_INLINE);
}

Test(sq, failure_tells_the_cause_then_the_flushed)
{
	struct rcm_comp comp;
	int i;

	open_qp(8, 64); /* LF#8257 */
	for (i = 1; i <= 3; i++)
		cr_assert_eq(post(100, RCM_TX_COMPLETE, (uintptr_t)i), 0);
	script_sent(dev, 1);
	script_send_failed(dev, IBV_WC_REM_ACCESS_ERR);
	script_send_failed(dev, IBV_WC_WR_FLUSH_ERR);
	cr_assert_eq(next_context(), 1);
	comp = next_error();
	cr_assert_eq(comp.op_context, (void *)2);
	cr_assert_eq(comp.flags, FI_MSG | FI_SEND);
	cr_assert_eq(comp.prov_errno, IBV_WC_REM_ACCESS_ERR);
	cr_assert_eq(comp.vendor_err, 0x5a);
	cr_assert_eq(comp.err, FI_EACCES);
	comp = next_error();
	cr_assert_eq(comp.op_context, (void *)3);
	cr_assert_eq(comp.err, FI_ECANCELED);
	cr_assert_eq(next_context(), 0);
}

Test(sq, failed_inject_is_told)
{
	struct rcm_comp comp;

	open_qp(8, 64);
	cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
	script_send_failed(dev, IBV_WC_RETRY_EXC_ERR);
	comp = next_error();
	cr_assert_null(comp.op_context);
	cr_assert_eq(comp.prov_errno, IBV_WC_RETRY_EXC_ERR);
}

Test(sq, failed_inject_is_not_told_to_a_layer_above)
{
	struct rcm_qp_attr attr = attr_of(8, 64);

	attr.layered = true;
	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), 0);
	rcm_qp_up(&qp, true);
	dev = script.last_qp;
	cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 7), 0);
	script_send_failed(dev, IBV_WC_RETRY_EXC_ERR);
	script_send_failed(dev, IBV_WC_WR_FLUSH_ERR);
	cr_assert_eq(next_error().op_context, (void *)7);
	cr_assert_eq(next_context(), 0);
}

static int n_on_error;
static enum ibv_wc_status on_error_status;

static void count_error(void *user, enum ibv_wc_status status)
{
	(void)user;
	n_on_error++;
	on_error_status = status;
}

Test(sq, first_failure_is_reported_upwards_once)
{
	struct rcm_qp_attr attr = attr_of(8, 64);

	attr.on_error = count_error;
	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), 0);
	rcm_qp_up(&qp, true);
	dev = script.last_qp;
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 2), 0);
	script_send_failed(dev, IBV_WC_RETRY_EXC_ERR);
	script_send_failed(dev, IBV_WC_WR_FLUSH_ERR);
	next_error();
	next_error();
	cr_assert_eq(n_on_error, 1);
	cr_assert_eq(on_error_status, IBV_WC_RETRY_EXC_ERR);
}
