/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <time.h>

#include "script_qp.h"

TestSuite(drain, .init = setup, .fini = teardown);

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* LF#7287, LF#7837 */
Test(drain, close_tells_of_all_that_was_posted)
{
	uintptr_t i;
	double start;

	open_qp(8, 64);
	for (i = 1; i <= 8; i++)
		cr_assert_eq(post(100, RCM_TX_COMPLETE, i), 0);
	for (i = 9; i <= 12; i++)
		cr_assert_eq(post_recv(100, i, true), 0);
	start = seconds();
	rcm_qp_close(&qp);
	cr_assert_lt(seconds() - start, 0.1);
	for (i = 1; i <= 12; i++) {
		struct rcm_comp comp = next_error();

		cr_assert_eq(comp.op_context, (void *)i);
		cr_assert_eq(comp.err, FI_ECANCELED);
		cr_assert_eq(comp.prov_errno, IBV_WC_WR_FLUSH_ERR);
		cr_assert_eq(comp.flags, FI_MSG | (i <= 8 ? FI_SEND : FI_RECV));
	}
	cr_assert_eq(next_context(), 0);
}

Test(drain, device_that_flushes_nothing_is_waited_for_a_moment)
{
	double start;
	uintptr_t i;

	script.flushes = false;
	open_qp(8, 64);
	cr_assert_eq(post(100, RCM_TX_COMPLETE, 1), 0);
	cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
	cr_assert_eq(post_recv(100, 3, true), 0);
	start = seconds();
	rcm_qp_close(&qp);
	cr_assert_gt(seconds() - start, 0.15);
	cr_assert_lt(seconds() - start, 1.0);
	for (i = 1; i <= 3; i++)
		cr_assert_eq(next_error().err, FI_ECANCELED);
	cr_assert_eq(next_context(), 0);
}

Test(drain, device_that_is_gone_is_not_waited_for)
{
	double start;

	open_qp(8, 64);
	cr_assert_eq(post(100, RCM_TX_COMPLETE, 1), 0);
	script.fail_call = 1;
	start = seconds();
	rcm_qp_close(&qp);
	cr_assert_lt(seconds() - start, 0.1);
	cr_assert_eq(next_error().op_context, (void *)1);
}

/* sent, but without a signal: the marker shows that it went well */
Test(drain, silent_success_is_not_canceled)
{
	open_qp(8, 64);
	cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
	script_sent(dev, 1);
	rcm_qp_close(&qp);
	cr_assert_eq(next_context(), 0);
}

Test(drain, marker_has_a_place_in_a_full_queue)
{
	uintptr_t i;

	open_qp(4, 64);
	cr_assert_eq(dev->cap.max_send_wr, 5);
	for (i = 1; i <= 4; i++)
		cr_assert_eq(post(8, RCM_TX_COMPLETE, i), 0);
	rcm_qp_close(&qp);
	for (i = 1; i <= 4; i++)
		cr_assert_eq(next_error().op_context, (void *)i);
	cr_assert_eq(next_context(), 0);
}

Test(drain, idle_close_posts_nothing)
{
	open_qp(4, 64);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 1);
	script.doorbells = 0;
	rcm_qp_close(&qp);
	cr_assert_eq(script.doorbells, 0);
}

Test(drain, unread_successes_outlive_the_queue_pair)
{
	uintptr_t i;

	open_qp(100, 64);
	for (i = 1; i <= 100; i++)
		cr_assert_eq(post(8, RCM_TX_COMPLETE, i), 0);
	script_sent(dev, 100);
	rcm_qp_close(&qp);
	for (i = 1; i <= 100; i++)
		cr_assert_eq(next_context(), i);
	cr_assert_eq(next_context(), 0);
}

Test(drain, late_completion_of_the_old_does_not_touch_the_new)
{
	struct ibv_wc late = { .status = IBV_WC_SUCCESS };

	open_qp(4, 64);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	late.wr_id = script_last_send(dev, 0)->wr_id + 2;
	rcm_qp_close(&qp);
	next_error();
	open_qp(4, 64);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 2), 0);
	script_complete(dev->qp.send_cq, &late);
	cr_assert_eq(next_context(), 0);
	cr_assert_eq(cs.n_stray, 1);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 2);
}

Test(drain, close_of_a_zeroed_one_does_nothing)
{
	rcm_qp_close(&qp);
	cr_assert_eq(script.calls, 0);
}

Test(drain, closed_one_gives_its_room_back)
{
	int i;

	for (i = 0; i < 50; i++) {
		open_qp(1000, 64);
		rcm_qp_close(&qp);
	}
	cr_assert_eq(script.n_cqs, 1);
}

/* LF#10150: each direction in its own queue, also at the end */
Test(drain, each_direction_ends_in_its_own_queue)
{
	struct rcm_qp_attr attr = attr_of(4, 64);
	struct fi_cq_data_entry entry;
	struct rcm_cqset rx;
	struct rcm_comp comp;

	open_cq_at(&rx, 0, false);
	attr.rx_cq = &rx;
	open_qp_with(&attr);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	cr_assert_eq(post_recv(8, 2, true), 0);
	rcm_qp_close(&qp);
	cr_assert_eq(next_error().op_context, (void *)1);
	cr_assert_eq(next_context(), 0);
	cr_assert_eq(rcm_cqset_read(&rx, &entry, 1), -FI_EAVAIL);
	cr_assert_eq(rcm_cqset_read_err(&rx, &comp), 0);
	cr_assert_eq(comp.op_context, (void *)2);
	cr_assert_eq(rcm_cqset_read(&rx, &entry, 1), -FI_EAGAIN);
	rcm_cqset_close(&rx);
}

Test(drain, close_after_a_flush_posts_no_second_marker)
{
	script.flushes = false;
	open_qp(4, 64);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	rcm_qp_down(&qp, -FI_ESHUTDOWN);
	rcm_qp_flush(&qp);
	cr_assert_eq(dev->sends.n, 2);
	script.doorbells = 0;
	rcm_qp_close(&qp);
	cr_assert_eq(script.doorbells, 0);
	cr_assert_eq(next_error().err, FI_ECANCELED);
	cr_assert_eq(next_context(), 0);
}
