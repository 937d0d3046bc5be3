/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "script_qp.h"

#include "rcm_multi.h"

/* FI_MULTI_RECV of prov/xfer on the scripted device. LF#2319, chapel#11180 */

#define DEPTH 8

static char pool[(2 << 20) + 5];

static void open_multi(void)
{
	struct rcm_qp_attr attr = attr_of(4, 64);

	attr.rx_depth = DEPTH;
	attr.multi_recv = true;
	open_qp_with(&attr);
}

static void setup_multi(void)
{
	setup();
	open_multi();
}

TestSuite(multi, .init = setup_multi, .fini = teardown);

static ssize_t post_multi_in(char *at, size_t len, size_t min,
			     uintptr_t context, bool entry)
{
	const struct rcm_multi_buf buf = {
		.addr = (uintptr_t)at,
		.len = len,
		.min = min,
		.lkey = 7,
	};

	return rcm_multi_post(&qp, &buf, (void *)context, entry);
}

static ssize_t post_multi(size_t len, size_t min, uintptr_t context)
{
	return post_multi_in(pool, len, min, context, true);
}

/* The next entry is a message of LEN bytes at AT, with those flags beside. */
static void expect_message(uintptr_t context, const char *at, size_t len,
			   uint64_t flags)
{
	struct fi_cq_data_entry entry;

	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), 1);
	cr_assert_eq(entry.op_context, (void *)context);
	cr_assert_eq(entry.flags, FI_MSG | FI_RECV | flags, "%#llx",
		     (unsigned long long)entry.flags);
	cr_assert_eq(entry.buf, at);
	cr_assert_eq(entry.len, len);
}

static void expect_canceled_by(int cause, uintptr_t context, uint64_t flags)
{
	struct rcm_comp comp = next_error();

	cr_assert_eq(comp.op_context, (void *)context, "%p", comp.op_context);
	cr_assert_eq(comp.flags, FI_MSG | FI_RECV | flags);
	cr_assert_eq(comp.err, FI_ECANCELED);
	cr_assert_eq(comp.prov_errno, cause);
	cr_assert_eq(comp.len, 0);
	cr_assert_eq(comp.olen, 0);
}

static void expect_canceled(uintptr_t context, uint64_t flags)
{
	expect_canceled_by(IBV_WC_WR_FLUSH_ERR, context, flags);
}

static void expect_nothing(void)
{
	cr_assert_eq(next_context(), 0);
}

/* What the device has of receives that have not ended. */
static int outstanding(void)
{
	return dev->recvs.n - dev->recvs.done;
}

Test(multi, messages_are_packed_one_behind_the_other)
{
	struct script_wr *wr;

	cr_assert_eq(post_multi(1000, 100, 1), 0);
	wr = script_last_recv(dev, 0);
	cr_assert_eq(wr->sge[0].addr, (uintptr_t)pool);
	cr_assert_eq(wr->len, 1000);
	script_received(dev, 10, -1);
	expect_message(1, pool, 10, 0);
	wr = script_last_recv(dev, 0);
	cr_assert_eq(wr->sge[0].addr, (uintptr_t)pool + 10);
	cr_assert_eq(wr->len, 990);
	cr_assert_eq(wr->sge[0].lkey, 7);
	script_received(dev, 300, -1);
	expect_message(1, pool + 10, 300, 0);
	cr_assert_eq(script_last_recv(dev, 0)->len, 690);
	cr_assert_eq(outstanding(), 1);
}

Test(multi, last_message_releases_the_buffer)
{
	cr_assert_eq(post_multi(1000, 100, 1), 0);
	script_received(dev, 900, -1);
	expect_message(1, pool, 900, 0); /* 100 bytes are left: enough */
	script_received(dev, 1, -1);
	expect_message(1, pool + 900, 1, FI_MULTI_RECV);
	cr_assert_eq(outstanding(), 0);
	cr_assert_eq(rcm_ring_used(&qp.rq.ring), 0);
	/* and the queue is as it was before */
	cr_assert_eq(post_recv(16, 2, true), 0);
	cr_assert_eq(outstanding(), 1);
	script_received(dev, 5, -1);
	cr_assert_eq(next_context(), 2);
}

Test(multi, full_buffer_is_released_without_a_minimum)
{
	cr_assert_eq(post_multi(20, 0, 1), 0);
	script_received(dev, 19, -1);
	expect_message(1, pool, 19, 0);
	script_received(dev, 1, -1);
	expect_message(1, pool + 19, 1, FI_MULTI_RECV);
}

Test(multi, buffer_below_the_minimum_takes_one_message)
{
	cr_assert_eq(post_multi(50, 100, 1), 0);
	script_received(dev, 3, -1);
	expect_message(1, pool, 3, FI_MULTI_RECV);
}

Test(multi, buffer_of_no_bytes_takes_one_message)
{
	cr_assert_eq(post_multi(0, 0, 1), 0);
	cr_assert_eq(script_last_recv(dev, 0)->n_sge, 0);
	script_received(dev, 0, -1);
	expect_message(1, pool, 0, FI_MULTI_RECV);
}

Test(multi, message_of_no_bytes_takes_no_room)
{
	cr_assert_eq(post_multi(1000, 1000, 1), 0);
	script_received(dev, 0, -1);
	expect_message(1, pool, 0, 0);
	script_received(dev, 0, 4);
	expect_message(1, pool, 0, FI_REMOTE_CQ_DATA);
	cr_assert_eq(script_last_recv(dev, 0)->len, 1000);
}

Test(multi, data_of_the_peer_is_told)
{
	struct fi_cq_data_entry entry;

	cr_assert_eq(post_multi(1000, 100, 1), 0);
	script_received(dev, 8, 0xfffffffe);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), 1);
	cr_assert_eq(entry.flags, FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA);
	cr_assert_eq(entry.data, 0xfffffffe);
}

Test(multi, peers_write_with_data_takes_no_room)
{
	struct ibv_wc wc = {
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
		.wc_flags = IBV_WC_WITH_IMM,
		.imm_data = htobe32(3),
		.byte_len = 100,
	};
	struct fi_cq_data_entry entry;

	cr_assert_eq(post_multi(50, 50, 1), 0);
	wc.wr_id = script_last_recv(dev, 0)->wr_id;
	dev->recvs.done++;
	script_complete(dev->qp.recv_cq, &wc);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), 1);
	cr_assert_eq(entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	cr_assert_null(entry.buf);
	cr_assert_eq(outstanding(), 1);
	cr_assert_eq(script_last_recv(dev, 0)->len, 50);
}

Test(multi, work_request_is_no_longer_than_the_largest_message)
{
	cr_assert_eq(post_multi((2UL << 20) + 5, 100, 1), 0);
	cr_assert_eq(script_last_recv(dev, 0)->len, 1 << 20);
	script_received(dev, 1 << 20, -1);
	expect_message(1, pool, 1 << 20, 0);
	cr_assert_eq(script_last_recv(dev, 0)->len, 1 << 20);
	script_received(dev, 10, -1);
	expect_message(1, pool + (1 << 20), 10, 0);
	cr_assert_eq(script_last_recv(dev, 0)->len, (1 << 20) - 5);
}

Test(multi, what_is_posted_behind_it_waits_for_the_release)
{
	cr_assert_eq(post_recv(16, 1, true), 0);
	cr_assert_eq(post_multi(1000, 100, 2), 0);
	cr_assert_eq(post_recv(17, 3, true), 0);
	cr_assert_eq(post_recv(0, 4, true), 0);
	cr_assert_eq(outstanding(), 2);
	script_received(dev, 5, -1);
	cr_assert_eq(next_context(), 1);
	script_received(dev, 5, -1);
	expect_message(2, pool, 5, 0);
	cr_assert_eq(outstanding(), 1);
	script_received(dev, 905, -1);
	expect_message(2, pool + 5, 905, FI_MULTI_RECV);
	cr_assert_eq(outstanding(), 2);
	cr_assert_eq(script_last_recv(dev, 1)->len, 17);
	cr_assert_eq(script_last_recv(dev, 0)->n_sge, 0);
	cr_assert_eq(post_recv(18, 5, true), 0);
	cr_assert_eq(outstanding(), 3);
	script_received(dev, 1, -1);
	script_received(dev, 0, -1);
	script_received(dev, 1, -1);
	cr_assert_eq(next_context(), 3);
	cr_assert_eq(next_context(), 4);
	cr_assert_eq(next_context(), 5);
	cr_assert_eq(rcm_ring_used(&qp.rq.ring), 0);
}

Test(multi, buffers_follow_one_another_with_receives_between)
{
	cr_assert_eq(post_multi(100, 100, 1), 0);
	cr_assert_eq(post_recv(16, 2, true), 0);
	cr_assert_eq(post_multi_in(pool + 100, 200, 150, 3, true), 0);
	cr_assert_eq(post_multi_in(pool + 300, 400, 400, 4, true), 0);
	cr_assert_eq(post_recv(17, 5, true), 0);
	cr_assert_eq(outstanding(), 1);
	script_received(dev, 1, -1);
	expect_message(1, pool, 1, FI_MULTI_RECV);
	cr_assert_eq(outstanding(), 2); /* 2, and the first request of 3 */
	script_received(dev, 2, -1);
	cr_assert_eq(next_context(), 2);
	script_received(dev, 3, -1);
	expect_message(3, pool + 100, 3, 0);
	cr_assert_eq(outstanding(), 1);
	script_received(dev, 100, -1);
	expect_message(3, pool + 103, 100, FI_MULTI_RECV);
	cr_assert_eq(outstanding(), 1);
	cr_assert_eq(script_last_recv(dev, 0)->sge[0].addr,
		     (uintptr_t)pool + 300);
	script_received(dev, 4, -1);
	expect_message(4, pool + 300, 4, FI_MULTI_RECV);
	script_received(dev, 5, -1);
	cr_assert_eq(next_context(), 5);
	expect_nothing();
}

/* more than one chain, and all slots of the ring */
Test(multi, full_queue_says_again_until_the_release)
{
	struct rcm_qp_attr attr = attr_of(4, 64);
	uintptr_t i;

	rcm_qp_close(&qp);
	attr.rx_depth = 40;
	attr.multi_recv = true;
	open_qp_with(&attr);
	cr_assert_eq(post_multi(10, 10, 1), 0);
	for (i = 2; i <= 40; i++)
		cr_assert_eq(post_recv(i, i, true), 0);
	cr_assert_eq(post_recv(1, 41, true), -FI_EAGAIN);
	cr_assert_eq(post_multi(10, 10, 41), -FI_EAGAIN);
	cr_assert_eq(outstanding(), 1);
	script_received(dev, 1, -1);
	expect_message(1, pool, 1, FI_MULTI_RECV);
	cr_assert_eq(outstanding(), 39);
	cr_assert_eq(post_recv(1, 41, true), 0);
	for (i = 2; i <= 41; i++) {
		script_received(dev, 1, -1);
		cr_assert_eq(next_context(), i);
	}
}

Test(multi, batch_read_puts_every_message)
{
	struct fi_cq_data_entry entry[8];

	cr_assert_eq(post_recv(16, 1, true), 0);
	cr_assert_eq(post_multi(10, 10, 2), 0);
	cr_assert_eq(post_recv(16, 3, true), 0);
	script_received(dev, 1, -1);
	script_received(dev, 2, -1);
	cr_assert_eq(rcm_cqset_read(&cs, entry, 8), 2);
	cr_assert_eq(entry[0].op_context, (void *)1);
	cr_assert_null(entry[0].buf);
	cr_assert_eq(entry[1].op_context, (void *)2);
	cr_assert_eq(entry[1].flags, FI_MSG | FI_RECV | FI_MULTI_RECV);
	cr_assert_eq(outstanding(), 1);
}

/* fi_msg(3): the release is told even when the messages are not */
Test(multi, release_is_told_when_entries_are_not_wanted)
{
	cr_assert_eq(post_multi_in(pool, 100, 50, 1, false), 0);
	script_received(dev, 10, -1);
	expect_nothing();
	cr_assert_eq(outstanding(), 1); /* the read has posted the next */
	script_received(dev, 50, -1);
	expect_message(1, pool + 10, 50, FI_MULTI_RECV);
	expect_nothing();
}

/* A full send queue looks for completions, with its own lock held. */
Test(multi, sender_that_looks_for_room_posts_the_next_request)
{
	uintptr_t i;

	cr_assert_eq(post_multi(100, 50, 9), 0);
	for (i = 1; i <= 4; i++)
		cr_assert_eq(post(8, RCM_TX_COMPLETE, i), 0);
	script_received(dev, 10, -1);
	script_sent(dev, 4);
	cr_assert_eq(outstanding(), 0);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 5), 0);
	cr_assert_eq(outstanding(), 1);
	expect_message(9, pool, 10, 0);
	for (i = 1; i <= 4; i++)
		cr_assert_eq(next_context(), i);
}

Test(multi, waiting_reader_posts_the_next_before_it_sleeps)
{
	struct rcm_cqset waited;
	struct rcm_qp_attr attr = attr_of(4, 64);

	rcm_qp_close(&qp);
	open_cq_at(&waited, 0, true);
	attr.rx_cq = &waited;
	attr.multi_recv = true;
	open_qp_with(&attr);
	cr_assert_eq(post_multi_in(pool, 100, 50, 1, false), 0);
	script_received(dev, 10, -1);
	cr_assert_eq(rcm_cqset_arm(&waited), 0);
	cr_assert_eq(outstanding(), 1);
	script_received(dev, 60, -1);
	cr_assert_eq(rcm_cqset_arm(&waited), -FI_EAGAIN);
	rcm_qp_close(&qp);
	rcm_cqset_close(&waited);
}

/* LF#962, LF#4616 */
Test(multi, message_beyond_the_buffer_is_a_truncation_and_releases)
{
	struct rcm_comp comp;

	cr_assert_eq(post_multi(100, 10, 1), 0);
	script_received(dev, 30, -1);
	expect_message(1, pool, 30, 0);
	script_recv_failed(dev, IBV_WC_LOC_LEN_ERR);
	comp = next_error();
	cr_assert_eq(comp.err, FI_ETRUNC);
	cr_assert_eq(comp.op_context, (void *)1);
	cr_assert_eq(comp.flags, FI_MSG | FI_RECV | FI_MULTI_RECV);
	cr_assert_eq(comp.buf, pool + 30);
	expect_nothing();
}

Test(multi, flush_tells_what_was_held_back_in_order)
{
	cr_assert_eq(post_recv(16, 1, true), 0);
	cr_assert_eq(post_multi(100, 10, 2), 0);
	cr_assert_eq(post_recv(16, 3, false), 0);
	cr_assert_eq(post_multi(100, 10, 4), 0);
	cr_assert_eq(post_recv(16, 5, true), 0);
	script_recv_failed(dev, IBV_WC_WR_FLUSH_ERR);
	script_recv_failed(dev, IBV_WC_WR_FLUSH_ERR);
	expect_canceled(1, 0);
	expect_canceled(2, FI_MULTI_RECV);
	expect_canceled(3, 0);
	expect_canceled(4, FI_MULTI_RECV);
	expect_canceled(5, 0);
	expect_nothing();
	cr_assert_eq(rcm_ring_used(&qp.rq.ring), 0);
	cr_assert_eq(outstanding(), 0);
}

/* D18: ofi_rxm takes any error entry's context for its own */
Test(multi, layered_flush_tells_what_owes_an_entry_and_releases)
{
	struct rcm_qp_attr attr = attr_of(4, 64);

	rcm_qp_close(&qp);
	attr.rx_depth = DEPTH;
	attr.multi_recv = true;
	attr.layered = true;
	open_qp_with(&attr);
	cr_assert_eq(post_multi_in(pool, 100, 10, 1, false), 0);
	cr_assert_eq(post_recv(16, 2, false), 0);
	cr_assert_eq(post_recv(16, 3, true), 0);
	script_recv_failed(dev, IBV_WC_WR_FLUSH_ERR);
	expect_canceled(1, FI_MULTI_RECV);
	expect_canceled(3, 0);
	expect_nothing();
}

/* A request posted to a queue pair in ERR might never come back. */
Test(multi, message_read_after_the_end_is_told_before_the_cancel)
{
	cr_assert_eq(post_multi(100, 10, 1), 0);
	cr_assert_eq(post_recv(16, 2, true), 0);
	script_received(dev, 20, -1);
	rcm_qp_down(&qp, -FI_ESHUTDOWN);
	cr_assert_eq(post_multi(100, 10, 3), -FI_ESHUTDOWN);
	cr_assert_eq(post_recv(16, 3, true), -FI_ESHUTDOWN);
	expect_message(1, pool, 20, 0);
	expect_canceled(1, FI_MULTI_RECV);
	expect_canceled(2, 0);
	expect_nothing();
	cr_assert_eq(outstanding(), 0);
	cr_assert_eq(rcm_ring_used(&qp.rq.ring), 0);
}

Test(multi, release_read_after_the_end_cancels_the_rest)
{
	cr_assert_eq(post_multi(100, 90, 1), 0);
	cr_assert_eq(post_recv(16, 2, true), 0);
	script_received(dev, 20, -1);
	rcm_qp_down(&qp, -FI_ESHUTDOWN);
	expect_message(1, pool, 20, FI_MULTI_RECV);
	expect_canceled(2, 0);
	expect_nothing();
}

Test(multi, close_tells_all_that_a_dead_device_keeps)
{
	uintptr_t i;

	script.flushes = false;
	cr_assert_eq(post_multi(100, 10, 1), 0);
	for (i = 2; i <= DEPTH; i++)
		cr_assert_eq(post_recv(16, i, true), 0);
	script_received(dev, 20, -1);
	rcm_qp_close(&qp);
	expect_message(1, pool, 20, 0);
	expect_canceled(1, FI_MULTI_RECV);
	for (i = 2; i <= DEPTH; i++)
		expect_canceled(i, 0);
	expect_nothing();
}

Test(multi, close_with_a_request_that_never_comes_back)
{
	script.flushes = false;
	cr_assert_eq(post_multi(100, 10, 1), 0);
	cr_assert_eq(post_multi(100, 10, 2), 0);
	cr_assert_eq(post_recv(16, 3, true), 0);
	rcm_qp_close(&qp);
	expect_canceled(1, FI_MULTI_RECV);
	expect_canceled(2, FI_MULTI_RECV);
	expect_canceled(3, 0);
	expect_nothing();
}

static int n_errors;

static void count_error(void *user, enum ibv_wc_status status)
{
	(void)user;
	cr_assert_eq(status, IBV_WC_GENERAL_ERR);
	n_errors++;
}

static void open_counting(void)
{
	struct rcm_qp_attr attr = attr_of(4, 64);

	rcm_qp_close(&qp);
	n_errors = 0;
	attr.rx_depth = DEPTH;
	attr.multi_recv = true;
	attr.on_error = count_error;
	open_qp_with(&attr);
	script.flushes = false;
}

Test(multi, next_request_that_is_refused_ends_the_connection)
{
	open_counting();
	cr_assert_eq(post_multi(100, 10, 1), 0);
	cr_assert_eq(post_recv(16, 2, true), 0);
	script_received(dev, 20, -1);
	script.post_err = EIO;
	expect_message(1, pool, 20, 0);
	cr_assert_eq(n_errors, 1);
	cr_assert_eq(post_recv(16, 3, true), 0); /* held back, too */
	rcm_qp_close(&qp);
	expect_canceled(1, FI_MULTI_RECV);
	expect_canceled(2, 0);
	expect_canceled(3, 0);
	expect_nothing();
}

Test(multi, held_receive_that_is_refused_ends_the_connection)
{
	open_counting();
	cr_assert_eq(post_multi(100, 90, 1), 0);
	cr_assert_eq(post_recv(16, 2, true), 0);
	cr_assert_eq(post_recv(16, 3, true), 0);
	cr_assert_eq(post_recv(16, 4, true), 0);
	script_received(dev, 20, -1);
	script.post_err = EIO;
	script.post_accepts = 1;
	expect_message(1, pool, 20, FI_MULTI_RECV);
	cr_assert_eq(n_errors, 1);
	cr_assert_eq(outstanding(), 1);
	script_received(dev, 5, -1);
	cr_assert_eq(next_context(), 2);
	rcm_qp_close(&qp);
	expect_canceled(3, 0);
	expect_canceled(4, 0);
	expect_nothing();
}

Test(multi, refused_buffer_leaves_the_queue_as_it_was)
{
	script.post_err = ENOMEM;
	cr_assert_eq(post_multi(100, 10, 1), -FI_ENOMEM);
	script.post_err = EINVAL;
	cr_assert_eq(post_multi(100, 10, 1), -FI_EINVAL);
	cr_assert_eq(rcm_ring_used(&qp.rq.ring), 0);
	cr_assert_eq(post_recv(16, 2, true), 0);
	cr_assert_eq(outstanding(), 1);
}

Test(multi, queue_without_the_capability_refuses_it)
{
	rcm_qp_close(&qp);
	open_qp(4, 64);
	cr_assert_eq(post_multi(100, 10, 1), -FI_EINVAL);
	cr_assert_eq(rcm_multi_cancel(&qp, (void *)1), -FI_ENOENT);
}

Test(multi, canceled_receive_leaves_the_others_in_order)
{
	cr_assert_eq(post_multi(100, 90, 1), 0);
	cr_assert_eq(post_recv(12, 2, true), 0);
	cr_assert_eq(post_recv(13, 3, true), 0);
	cr_assert_eq(post_multi_in(pool + 100, 14, 0, 4, true), 0);
	cr_assert_eq(post_recv(15, 5, true), 0);
	cr_assert_eq(rcm_multi_cancel(&qp, (void *)3), 0);
	/* no cause of the device's */
	expect_canceled_by(IBV_WC_SUCCESS, 3, 0);
	cr_assert_eq(rcm_multi_cancel(&qp, (void *)3), -FI_ENOENT);
	cr_assert_eq(rcm_multi_cancel(&qp, (void *)1), -FI_ENOENT);
	cr_assert_eq(rcm_multi_cancel(&qp, (void *)5), 0);
	expect_canceled_by(IBV_WC_SUCCESS, 5, 0);
	script_received(dev, 20, -1);
	expect_message(1, pool, 20, FI_MULTI_RECV);
	cr_assert_eq(outstanding(), 2);
	cr_assert_eq(script_last_recv(dev, 1)->len, 12);
	cr_assert_eq(script_last_recv(dev, 0)->len, 14);
	script_received(dev, 1, -1);
	cr_assert_eq(next_context(), 2);
	script_received(dev, 14, -1);
	expect_message(4, pool + 100, 14, FI_MULTI_RECV);
	cr_assert_eq(rcm_ring_used(&qp.rq.ring), 0);
	cr_assert_eq(post_recv(16, 6, true), 0);
	cr_assert_eq(outstanding(), 1);
}

Test(multi, canceled_buffer_that_waits_is_released)
{
	cr_assert_eq(post_multi(100, 10, 1), 0);
	cr_assert_eq(post_multi(100, 10, 2), 0);
	cr_assert_eq(rcm_multi_cancel(&qp, (void *)2), 0);
	expect_canceled_by(IBV_WC_SUCCESS, 2, FI_MULTI_RECV);
	script_received(dev, 95, -1);
	expect_message(1, pool, 95, FI_MULTI_RECV);
	cr_assert_eq(outstanding(), 0);
	expect_nothing();
}

/* The number of the ring's slots wraps, and its array does often. */
Test(multi, many_buffers_one_after_the_other)
{
	uintptr_t i;
	int k;

	for (i = 1; i <= 300; i++) {
		cr_assert_eq(post_multi(100, 50, i), 0);
		cr_assert_eq(post_recv(16, 1000 + i, true), 0);
		cr_assert_eq(post_recv(16, 2000 + i, true), 0);
		for (k = 0; k < 6; k++) {
			script_received(dev, 10, -1);
			expect_message(i, pool + (ptrdiff_t)k * 10, 10,
				       k == 5 ? FI_MULTI_RECV : 0);
		}
		script_received(dev, 10, -1);
		script_received(dev, 10, -1);
		cr_assert_eq(next_context(), 1000 + i);
		cr_assert_eq(next_context(), 2000 + i);
	}
	cr_assert_eq(rcm_ring_used(&qp.rq.ring), 0);
}
