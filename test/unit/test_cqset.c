/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <errno.h>
#include <string.h>

#include "rcm_hwcq.h"
#include "rcm_ring.h"
#include "script_qp.h"

TestSuite(cqset, .init = setup, .fini = teardown);

Test(cqset, empty_reads_say_again)
{
	struct fi_cq_data_entry entry;

	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), -FI_EAGAIN);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 0), -FI_EAGAIN);
	open_qp(4, 64);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), -FI_EAGAIN);
}

/* PR#3418: no error is no success and no positive number */
Test(cqset, no_error_entry_says_again)
{
	struct rcm_comp comp;

	open_qp(4, 64);
	cr_assert_eq(rcm_cqset_read_err(&cs, &comp), -FI_EAGAIN);
}

/* nixl#1272 */
Test(cqset, reads_poll_in_batches)
{
	struct fi_cq_data_entry entry[40];
	uintptr_t i;

	open_qp(40, 64);
	for (i = 0; i < 40; i++)
		cr_assert_eq(post(8, RCM_TX_COMPLETE, i), 0);
	script_sent(dev, 40);
	script.polls = 0;
	cr_assert_eq(rcm_cqset_read(&cs, entry, 40), 40);
	cr_assert_eq(script.polls, 3);
	for (i = 0; i < 40; i++)
		cr_assert_eq(entry[i].op_context, (void *)i);
}

Test(cqset, read_takes_no_more_than_was_asked_for)
{
	struct fi_cq_data_entry entry[4];
	uintptr_t i;

	open_qp(8, 64);
	for (i = 1; i <= 8; i++)
		cr_assert_eq(post(8, RCM_TX_COMPLETE, i), 0);
	script_sent(dev, 8);
	cr_assert_eq(rcm_cqset_read(&cs, entry, 3), 3);
	cr_assert_eq(rcm_soft_count(&cs.soft), 0);
	cr_assert_eq(script.last_cq->n, 5);
}

Test(cqset, silent_completions_do_not_shorten_a_read)
{
	struct fi_cq_data_entry entry[2];
	int i;

	open_qp(80, 64);
	for (i = 0; i < 79; i++)
		cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	script_sent(dev, 80);
	cr_assert_eq(rcm_cqset_read(&cs, entry, 1), 1);
	cr_assert_eq(entry[0].op_context, (void *)1);
}

/* LF#10911 */
Test(cqset, read_of_none_makes_progress)
{
	struct fi_cq_data_entry entry;

	open_qp(4, 64);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	script_sent(dev, 1);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 0), 0);
	cr_assert_eq(rcm_soft_count(&cs.soft), 1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 2), 0);
	script_send_failed(dev, IBV_WC_RETRY_EXC_ERR);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 0), -FI_EAVAIL);
	next_error();
}

Test(cqset, order_is_kept_round_an_error)
{
	struct fi_cq_data_entry entry[8];
	struct rcm_comp comp;
	uintptr_t i;

	open_qp(8, 64);
	for (i = 1; i <= 4; i++)
		cr_assert_eq(post(8, RCM_TX_COMPLETE, i), 0);
	cr_assert_eq(post_recv(8, 5, true), 0);
	script_sent(dev, 2);
	script_send_failed(dev, IBV_WC_REM_OP_ERR);
	script_received(dev, 8, -1);
	script_send_failed(dev, IBV_WC_WR_FLUSH_ERR);
	cr_assert_eq(rcm_cqset_read(&cs, entry, 8), 2);
	cr_assert_eq(rcm_cqset_read(&cs, entry, 8), -FI_EAVAIL);
	cr_assert_eq(rcm_cqset_read(&cs, entry, 8), -FI_EAVAIL);
	cr_assert_eq(rcm_cqset_read_err(&cs, &comp), 0);
	cr_assert_eq(comp.op_context, (void *)3);
	cr_assert_eq(rcm_cqset_read_err(&cs, &comp), -FI_EAGAIN);
	cr_assert_eq(rcm_cqset_read(&cs, entry, 8), 1);
	cr_assert_eq(entry[0].op_context, (void *)5);
	cr_assert_eq(next_error().op_context, (void *)4);
}

static void check_format(enum fi_cq_format format, size_t size)
{
	struct rcm_cqset_attr attr = {
		.ctx = &script.ctx,
		.max_cqe = script.max_cqe,
		.format = format,
	};
	unsigned char buf[4 * sizeof(struct fi_cq_tagged_entry)];
	struct fi_cq_tagged_entry entry;
	uintptr_t i;

	rcm_cqset_close(&cs);
	cr_assert_eq(rcm_cqset_open(&cs, &attr), 0);
	open_qp(4, 64);
	for (i = 1; i <= 2; i++) {
		cr_assert_eq(post_recv(100, i, true), 0);
		script_received(dev, 10 + (uint32_t)i, 99);
	}
	memset(buf, 0xee, sizeof(buf));
	cr_assert_eq(rcm_cqset_read(&cs, buf, 2), 2);
	for (i = 1; i <= 2; i++) {
		memset(&entry, 0, sizeof(entry));
		memcpy(&entry, buf + (i - 1) * size, size);
		cr_assert_eq(entry.op_context, (void *)i);
		if (size >= sizeof(struct fi_cq_msg_entry))
			cr_assert_eq(entry.len, 10 + i);
		if (size >= sizeof(struct fi_cq_data_entry))
			cr_assert_eq(entry.data, 99);
		cr_assert_null(entry.buf);
		cr_assert_eq(entry.tag, 0);
	}
	cr_assert_eq(buf[2 * size], 0xee);
	rcm_qp_close(&qp);
}

Test(cqset, every_format_has_its_own_size)
{
	check_format(FI_CQ_FORMAT_CONTEXT, sizeof(struct fi_cq_entry));
	check_format(FI_CQ_FORMAT_MSG, sizeof(struct fi_cq_msg_entry));
	check_format(FI_CQ_FORMAT_DATA, sizeof(struct fi_cq_data_entry));
	check_format(FI_CQ_FORMAT_TAGGED, sizeof(struct fi_cq_tagged_entry));
}

static const uint64_t foreign[] = {
	0,
	1,
	UINT64_MAX,
	1ULL << 63,
	(1ULL << 63) | (1ULL << 32),
	(1ULL << 32) | 7,
	(7ULL << 32),
	(1ULL << 62),
	UINT32_MAX,
};

Test(cqset, foreign_completions_are_counted_and_dropped)
{
	struct ibv_wc wc = { 0 };
	unsigned int i;

	open_qp(4, 64);
	for (i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		wc.wr_id = foreign[i];
		wc.status = i % 2 ? IBV_WC_FATAL_ERR : IBV_WC_SUCCESS;
		script_complete(dev->qp.send_cq, &wc);
	}
	cr_assert_eq(next_context(), 0);
	cr_assert_geq(cs.n_stray, 6);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 1);
}

/* B09, B10: binds succeed, nothing overruns */
Test(cqset, another_hardware_queue_comes_when_one_is_full)
{
	struct rcm_qp_attr attr = attr_of(100, 0);
	struct script_qp *devs[8];
	static struct rcm_qp qps[8];
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = 1 };
	struct rcm_tx tx = { .sge = &sge,
			     .n_sge = 1,
			     .len = 1,
			     .flags = RCM_TX_COMPLETE,
			     .opcode = IBV_WR_SEND };
	struct fi_cq_data_entry entry;
	int i, j, n = 0;

	script.max_cqe = 256;
	cs.attr.max_cqe = 256;
	attr.tx_cq = attr.rx_cq = &cs;
	for (i = 0; i < 8; i++) {
		cr_assert_eq(rcm_qp_open(&qps[i], &attr, 1), 0);
		rcm_qp_up(&qps[i], true);
		devs[i] = script.last_qp;
	}
	cr_assert_leq(script.n_cqs, 5);
	for (i = 0; i < 8; i++) {
		for (j = 0; j < 100; j++)
			cr_assert_eq(rcm_sq_post(&qps[i], &tx), 0);
		cr_assert_eq(rcm_sq_post(&qps[i], &tx), -FI_EAGAIN);
	}
	for (i = 0; i < 8; i++)
		script_sent(devs[i], 100);
	while (rcm_cqset_read(&cs, &entry, 1) == 1)
		n++;
	cr_assert_eq(n, 800);
	cr_assert_not(script.overrun);
	for (i = 0; i < 8; i++)
		rcm_qp_close(&qps[i]);
}

Test(cqset, wish_beyond_the_device_is_cut_to_it)
{
	rcm_cqset_close(&cs);
	open_cq_at(&cs, 262144, false);
	open_qp(4, 64);
	cr_assert_eq(script.last_cq->cq.cqe, script.max_cqe);
}

Test(cqset, wish_that_the_device_refuses_is_cut_to_the_need)
{
	rcm_cqset_close(&cs);
	open_cq_at(&cs, 4096, false);
	script.max_cqe = 50; /* the device has less left than it says */
	open_qp(4, 64);
	cr_assert_eq(script.last_cq->cq.cqe, 4 + 1 + 4);
}

Test(cqset, need_beyond_the_device_is_refused)
{
	struct rcm_qp_attr attr = attr_of(5000, 64);

	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), -FI_EINVAL);
	cr_assert_eq(script.n_qps + script.n_cqs, 0);
}

Test(cqset, one_endpoint_has_one_hardware_queue)
{
	open_qp(4, 64);
	cr_assert_eq(script.n_cqs, 1);
	cr_assert_eq(qp.tx_hw, qp.rx_hw);
}

Test(cqset, arming_sees_what_came_before)
{
	rcm_cqset_close(&cs);
	open_cq_at(&cs, 0, true);
	open_qp(4, 64);
	cr_assert_eq(rcm_cqset_arm(&cs), 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	script_sent(dev, 1);
	cr_assert_eq(rcm_cqset_arm(&cs), -FI_EAGAIN);
	cr_assert_eq(rcm_cqset_arm(&cs), -FI_EAGAIN);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(rcm_cqset_arm(&cs), 0);
}

Test(cqset, armed_queue_is_not_armed_again)
{
	rcm_cqset_close(&cs);
	open_cq_at(&cs, 0, true);
	open_qp(4, 64);
	cr_assert_eq(rcm_cqset_arm(&cs), 0);
	script.notifies = 0;
	cr_assert_eq(rcm_cqset_arm(&cs), 0);
	cr_assert_eq(script.notifies, 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(rcm_cqset_arm(&cs), 0);
	cr_assert_eq(script.notifies, 1);
}

Test(cqset, events_are_acknowledged_before_the_end)
{
	int i;

	rcm_cqset_close(&cs);
	open_cq_at(&cs, 0, true);
	open_qp(4, 64);
	for (i = 0; i < 100; i++) {
		cr_assert_eq(rcm_cqset_arm(&cs), 0);
		cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
		script_sent(dev, 1);
		cr_assert_eq(next_context(), 1);
	}
	/* teardown's destroy_cq refuses unacknowledged events */
	cr_assert_eq(rcm_cqset_arm(&cs), 0);
}

Test(cqset, gathering_stops_at_what_is_wanted)
{
	uintptr_t i;

	open_qp(100, 64);
	for (i = 1; i <= 50; i++)
		cr_assert_eq(post(8, RCM_TX_COMPLETE, i), 0);
	script_sent(dev, 2);
	cr_assert_eq(rcm_cqset_gather(&cs, 20), 2);
	script_sent(dev, 48);
	cr_assert_geq(rcm_cqset_gather(&cs, 20), 20);
	for (i = 1; i <= 50; i++)
		cr_assert_eq(next_context(), i);
}

/* every control call of an open, failing in turn */
Test(cqset, failed_open_leaves_nothing)
{
	struct rcm_qp_attr attr = attr_of(4, 64);
	struct rcm_cqset_attr cq_attr = { .ctx = &script.ctx,
					  .channel = true,
					  .max_cqe = script.max_cqe };
	int failures = 0, ret;
	bool hit;

	script.inline_limit = 0; /* so that there is a bounce area, too */
	rcm_cqset_close(&cs);
	do {
		script.fail_call = failures + 1;
		script.fail_errno = ENOMEM;
		ret = rcm_cqset_open(&cs, &cq_attr);
		if (!ret) {
			ret = rcm_qp_open(&qp, &attr, 1);
			cr_assert_eq(ret != 0, qp.qp == NULL);
		}
		hit = !script.fail_call;
		script.fail_call = 0;
		if (cs.soft.ring) {
			rcm_qp_close(&qp);
			rcm_cqset_close(&cs);
		}
		cr_assert(!ret || ret == -FI_ENOMEM, "%d", ret);
		cr_assert_eq(script.n_qps + script.n_mrs, 0);
		cr_assert_eq(script.n_cqs + script.n_channels, 0);
		failures++;
	} while (hit);
	cr_assert_geq(failures, 8);
}

Test(cqset, ring_survives_the_wrap_of_its_positions)
{
	uintptr_t i;

	open_qp(4, 64);
	qp.sq.ring.head = qp.sq.ring.tail = UINT32_MAX - 5;
	qp.sq.ring.head_seen = qp.sq.ring.tail_seen = UINT32_MAX - 5;
	for (i = 1; i <= 20; i++) {
		cr_assert_eq(post(8, RCM_TX_COMPLETE, i), 0);
		cr_assert_eq(post(8, RCM_TX_INJECT, 0), 0);
		script_sent(dev, 2);
		cr_assert_eq(next_context(), i);
	}
}
