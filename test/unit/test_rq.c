/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "script_qp.h"

TestSuite(rq, .init = setup, .fini = teardown);

Test(rq, receives_are_posted_before_the_connection_stands)
{
	struct rcm_qp_attr attr = attr_of(4, 64);

	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), 0);
	cr_assert_eq(script.last_qp->qp.state, IBV_QPS_INIT);
	cr_assert_eq(post_recv(16, 1, true), 0);
}

Test(rq, received_message_tells_length_and_data)
{
	struct fi_cq_data_entry entry;

	open_qp(4, 64);
	cr_assert_eq(post_recv(16, 1, true), 0);
	cr_assert_eq(post_recv(16, 2, true), 0);
	script_received(dev, 5, -1);
	script_received(dev, 7, 0xfedcba98);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), 1);
	cr_assert_eq(entry.op_context, (void *)1);
	cr_assert_eq(entry.flags, FI_MSG | FI_RECV);
	cr_assert_eq(entry.len, 5);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), 1);
	/* PR#726 */
	cr_assert_eq(entry.flags, FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA);
	cr_assert_eq(entry.data, 0xfedcba98);
	cr_assert_eq(entry.len, 7);
}

/* LF#8472, LF#8596: with its length */
Test(rq, peers_write_with_data_is_told_as_such)
{
	struct ibv_wc wc = {
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
		.wc_flags = IBV_WC_WITH_IMM,
		.imm_data = htobe32(3),
		.byte_len = 100,
	};
	struct fi_cq_data_entry entry;

	open_qp(4, 64);
	cr_assert_eq(post_recv(0, 1, false), 0);
	wc.wr_id = script_last_recv(dev, 0)->wr_id;
	dev->recvs.done++;
	script_complete(dev->qp.recv_cq, &wc);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), 1);
	cr_assert_eq(entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	cr_assert_eq(entry.data, 3);
	cr_assert_eq(entry.len, 100);
}

Test(rq, only_a_full_queue_says_again)
{
	uintptr_t i;

	open_qp(4, 64);
	for (i = 1; i <= 4; i++)
		cr_assert_eq(post_recv(16, i, true), 0);
	cr_assert_eq(post_recv(16, 5, true), -FI_EAGAIN);
	script_received(dev, 1, -1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(post_recv(16, 5, true), 0);
	script.post_err = EINVAL;
	script_received(dev, 1, -1);
	cr_assert_eq(next_context(), 2);
	cr_assert_eq(post_recv(16, 6, true), -FI_EINVAL);
	cr_assert_eq(post_recv(16, 6, true), 0);
}

Test(rq, device_without_memory_and_work_is_no_reason_to_retry)
{
	open_qp(4, 64);
	script.post_err = ENOMEM;
	cr_assert_eq(post_recv(16, 1, true), -FI_ENOMEM);
}

Test(rq, unwanted_entry_is_left_out_unless_it_failed)
{
	struct rcm_comp comp;

	open_qp(4, 64);
	cr_assert_eq(post_recv(16, 1, false), 0);
	cr_assert_eq(post_recv(16, 2, false), 0);
	script_received(dev, 1, -1);
	cr_assert_eq(next_context(), 0);
	script_recv_failed(dev, IBV_WC_WR_FLUSH_ERR);
	comp = next_error();
	cr_assert_eq(comp.op_context, (void *)2);
	cr_assert_eq(comp.flags, FI_MSG | FI_RECV);
}

/* LF#962, LF#4616 */
Test(rq, message_beyond_the_buffer_is_a_truncation)
{
	open_qp(4, 64);
	cr_assert_eq(post_recv(16, 1, true), 0);
	script_recv_failed(dev, IBV_WC_LOC_LEN_ERR);
	cr_assert_eq(next_error().err, FI_ETRUNC);
}

Test(rq, shut_gate_gives_its_error)
{
	open_qp(4, 64);
	rcm_qp_down(&qp, -FI_ESHUTDOWN);
	cr_assert_eq(post_recv(16, 1, true), -FI_ESHUTDOWN);
}

Test(rq, endpoint_that_only_sends_does_not_receive)
{
	struct rcm_qp_attr attr = attr_of(4, 64);

	attr.rx_cq = NULL;
	open_qp_with(&attr);
	cr_assert_eq(post_recv(16, 1, true), -FI_EOPNOTSUPP);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), 0);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 1);
}

Test(rq, endpoint_that_only_receives_does_not_send)
{
	struct rcm_qp_attr attr = attr_of(4, 64);

	attr.tx_cq = NULL;
	open_qp_with(&attr);
	cr_assert_eq(post(8, RCM_TX_COMPLETE, 1), -FI_EOPNOTSUPP);
	cr_assert_eq(post(8, RCM_TX_MORE, 1), -FI_EOPNOTSUPP);
	cr_assert_eq(post_recv(16, 1, true), 0);
}
