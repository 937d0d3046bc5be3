/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <errno.h>
#include <string.h>

#include "rcm_ep.h"
#include "rcm_mr.h"
#include "rcm_offer.h"
#include "script_qp.h"

/* fi_msg(3) on an endpoint of which only the queue pair is made. */
static struct rcm_ep ep;
static struct rcm_mr mr = { .lkey = 21 }, mr2 = { .lkey = 22 };

static void setup_ep(void)
{
	struct rcm_qp_attr attr;

	setup();
	attr = attr_of(8, 64);
	cr_assert_eq(rcm_qp_open(&ep.qp, &attr, 1), 0);
	rcm_qp_up(&ep.qp, true);
	dev = script.last_qp;
	ep.fid.msg = &rcm_msg_ops;
	ep.face.ep = &ep;
	ep.tx_always = RCM_TX_COMPLETE;
	ep.limits.tx_iov = 4;
	ep.limits.rx_iov = 3;
	ep.rx_refused = FI_MULTI_RECV;
	ep.max_msg_size = 1 << 20;
}

static void teardown_ep(void)
{
	rcm_qp_close(&ep.qp);
	teardown();
}

TestSuite(msg, .init = setup_ep, .fini = teardown_ep);

static struct fi_cq_data_entry next_entry(void)
{
	struct fi_cq_data_entry entry = { 0 };
	ssize_t ret = rcm_cqset_read(&cs, &entry, 1);

	cr_assert(ret == 1 || ret == -FI_EAGAIN);
	return entry;
}

Test(msg, send_is_one_buffer_with_its_key)
{
	struct script_wr *wr;

	cr_assert_eq(fi_send(&ep.fid, data, 100, &mr, 0, &ep), 0);
	wr = script_last_send(dev, 0);
	cr_assert_eq(wr->n_sge, 1);
	cr_assert_eq(wr->sge[0].lkey, 21);
	cr_assert_eq(wr->len, 100);
	cr_assert_eq(wr->opcode, IBV_WR_SEND);
	script_sent(dev, 1);
	cr_assert_eq(next_entry().op_context, &ep);
}

Test(msg, inject_is_silent)
{
	cr_assert_eq(fi_inject(&ep.fid, data, 64, 0), 0);
	cr_assert_eq(fi_inject(&ep.fid, data, 65, 0), -FI_EINVAL);
	cr_assert_eq(fi_inject(&ep.fid, NULL, 0, 0), 0);
	script_sent(dev, 2);
	cr_assert_eq(next_entry().flags, 0);
}

/* PR#726: 32 bits, and no others; 0 is data, too */
Test(msg, data_goes_with_the_message)
{
	cr_assert_eq(fi_senddata(&ep.fid, data, 8, NULL, 0, 0, NULL), 0);
	cr_assert_eq(script_last_send(dev, 0)->opcode, IBV_WR_SEND_WITH_IMM);
	cr_assert_eq(fi_senddata(&ep.fid, data, 8, NULL, UINT32_MAX, 0, NULL),
		     0);
	cr_assert_eq(script_last_send(dev, 0)->imm, UINT32_MAX);
	cr_assert_eq(fi_injectdata(&ep.fid, data, 8, 7, 0), 0);
	cr_assert_eq(script_last_send(dev, 0)->imm, 7);
	/* fi_inject after fi_injectdata carries none */
	cr_assert_eq(fi_inject(&ep.fid, data, 8, 0), 0);
	cr_assert_eq(script_last_send(dev, 0)->opcode, IBV_WR_SEND);
	cr_assert_eq(fi_senddata(&ep.fid, data, 8, NULL, 1ULL << 32, 0, NULL),
		     -FI_EINVAL);
	cr_assert_eq(fi_injectdata(&ep.fid, data, 8, 1ULL << 32, 0),
		     -FI_EINVAL);
}

/* 7f56d47df: all bytes, not those of the first buffer */
Test(msg, sendv_sends_every_buffer)
{
	char ab[] = "ab", cde[] = "cde";
	struct iovec iov[3] = { { ab, 2 }, { NULL, 0 }, { cde, 3 } };
	void *desc[3] = { &mr, NULL, &mr2 };
	struct script_wr *wr;

	cr_assert_eq(fi_sendv(&ep.fid, iov, desc, 3, 0, NULL), 0);
	wr = script_last_send(dev, 0);
	cr_assert_eq(wr->len, 5);
	cr_assert_eq(memcmp(wr->data, "abcde", 5), 0);
	cr_assert_eq(wr->sge[1].lkey, 22);
}

Test(msg, too_many_buffers_are_refused)
{
	struct iovec iov[5] = {
		{ data, 1 }, { data, 1 }, { data, 1 }, { data, 1 }, { data, 1 }
	};
	void *desc[5] = { &mr, &mr, &mr, &mr, &mr };

	cr_assert_eq(fi_sendv(&ep.fid, iov, desc, 5, 0, NULL), -FI_EINVAL);
	cr_assert_eq(fi_sendv(&ep.fid, iov, desc, 4, 0, NULL), 0);
	cr_assert_eq(fi_recvv(&ep.fid, iov, desc, 4, 0, NULL), -FI_EINVAL);
	cr_assert_eq(fi_recvv(&ep.fid, iov, desc, 3, 0, NULL), 0);
}

/* LF#7652, LF#11887 */
Test(msg, message_of_no_bytes_needs_nothing)
{
	struct fi_msg msg = { .context = &ep };
	struct iovec empty = { NULL, 0 };

	cr_assert_eq(fi_send(&ep.fid, NULL, 0, NULL, 0, &ep), 0);
	cr_assert_eq(fi_sendv(&ep.fid, NULL, NULL, 0, 0, &ep), 0);
	cr_assert_eq(fi_sendv(&ep.fid, NULL, NULL, 3, 0, &ep), 0);
	cr_assert_eq(fi_sendv(&ep.fid, &empty, NULL, 1, 0, &ep), 0);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, 0), 0);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_INJECT), 0);
	cr_assert_eq(fi_recv(&ep.fid, NULL, 0, NULL, 0, &ep), 0);
	cr_assert_eq(fi_recvv(&ep.fid, NULL, NULL, 0, 0, &ep), 0);
	cr_assert_eq(fi_recvmsg(&ep.fid, &msg, 0), 0);
	cr_assert_eq(script_last_send(dev, 0)->n_sge, 0);
	cr_assert_eq(script_last_recv(dev, 0)->n_sge, 0);
}

/* LF#11167, LF#5596 */
Test(msg, descriptor_is_needed_beyond_the_inline_size)
{
	struct iovec iov = { data, 64 };
	void *none = NULL;

	cr_assert_eq(fi_send(&ep.fid, data, 64, NULL, 0, NULL), 0);
	cr_assert_eq(fi_send(&ep.fid, data, 65, NULL, 0, NULL), -FI_EINVAL);
	cr_assert_eq(fi_sendv(&ep.fid, &iov, NULL, 1, 0, NULL), 0);
	cr_assert_eq(fi_sendv(&ep.fid, &iov, &none, 1, 0, NULL), 0);
	iov.iov_len = 65;
	cr_assert_eq(fi_sendv(&ep.fid, &iov, &none, 1, 0, NULL), -FI_EINVAL);
	cr_assert_eq(fi_recv(&ep.fid, data, 8, NULL, 0, NULL), -FI_EINVAL);
	cr_assert_eq(fi_recvv(&ep.fid, &iov, NULL, 1, 0, NULL), -FI_EINVAL);
}

/* LF#7058 */
Test(msg, length_beyond_the_maximum_is_refused_at_the_call)
{
	struct iovec iov[2] = { { data, 1 << 20 }, { data, 1 } };
	void *desc[2] = { &mr, &mr };

	cr_assert_eq(fi_send(&ep.fid, data, (1 << 20) + 1, &mr, 0, NULL),
		     -FI_EMSGSIZE);
	cr_assert_eq(fi_send(&ep.fid, data, SIZE_MAX, &mr, 0, NULL),
		     -FI_EMSGSIZE);
	cr_assert_eq(fi_send(&ep.fid, data, 1ULL << 32, &mr, 0, NULL),
		     -FI_EMSGSIZE);
	cr_assert_eq(fi_sendv(&ep.fid, iov, desc, 2, 0, NULL), -FI_EMSGSIZE);
	cr_assert_eq(fi_recv(&ep.fid, data, (1 << 20) + 1, &mr, 0, NULL),
		     -FI_EMSGSIZE);
	cr_assert_eq(fi_recvv(&ep.fid, iov, desc, 2, 0, NULL), -FI_EMSGSIZE);
	iov[0].iov_len = 1ULL << 32;
	cr_assert_eq(fi_sendv(&ep.fid, iov, desc, 1, 0, NULL), -FI_EMSGSIZE);
}

Test(msg, flags_of_a_call_reach_the_device)
{
	struct iovec iov = { data, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .data = 9 };
	struct script_wr *wr;

	/* LF#1349: no descriptor array with FI_INJECT */
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg,
				FI_INJECT | FI_FENCE | FI_REMOTE_CQ_DATA |
					FI_COMPLETION | FI_INJECT_COMPLETE |
					FI_TRANSMIT_COMPLETE),
		     0);
	wr = script_last_send(dev, 0);
	cr_assert_eq(wr->flags & IBV_SEND_FENCE, IBV_SEND_FENCE);
	cr_assert_eq(wr->imm, 9);
	msg.data = 1ULL << 32;
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, 0), 0);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_REMOTE_CQ_DATA), -FI_EINVAL);
	cr_assert_eq(script.doorbells, 2);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_MORE), 0);
	cr_assert_eq(script.doorbells, 2);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, 0), 0);
	cr_assert_eq(script.doorbells, 3);
	cr_assert_eq(dev->sends.n, 4);
}

/*
 * LF#5601, LF#9651: a message is acknowledged when it has used up a receive,
 * and not before
 */
Test(msg, delivery_complete_is_the_acknowledgement)
{
	struct iovec iov = { data, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_DELIVERY_COMPLETE), 0);
	cr_assert_eq(script_last_send(dev, 0)->flags & IBV_SEND_SIGNALED,
		     IBV_SEND_SIGNALED);
}

/* an iWARP domain: the card completes what has not arrived yet */
Test(msg, completion_level_beyond_the_device_is_refused)
{
	struct iovec iov = { data, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	ep.tx_refused = RCM_IWARP_NO_FLAGS;
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_DELIVERY_COMPLETE),
		     -FI_EBADFLAGS);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_TRANSMIT_COMPLETE),
		     -FI_EBADFLAGS);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_INJECT_COMPLETE), 0);
	ep.tx_refused = 0;
}

Test(msg, flags_that_are_not_offered_are_refused)
{
	struct fi_msg msg = { 0 };

	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_MULTI_RECV), -FI_EBADFLAGS);
	cr_assert_eq(fi_recvmsg(&ep.fid, &msg, FI_INJECT), -FI_EBADFLAGS);
	cr_assert_eq(fi_recvmsg(&ep.fid, &msg, FI_MULTI_RECV), -FI_EBADFLAGS);
	/* the core's and the layers' own bits are none of a provider's */
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, 1ULL << 62), 0);
}

static void expect_entry(bool wanted)
{
	script_sent(dev, 1);
	cr_assert_eq(next_entry().flags, wanted ? FI_MSG | FI_SEND : 0);
}

Test(msg, every_send_completes_unless_selective)
{
	struct fi_msg msg = { 0 };

	cr_assert_eq(fi_send(&ep.fid, data, 8, NULL, 0, NULL), 0);
	expect_entry(true);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, 0), 0);
	expect_entry(true);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_INJECT), 0);
	expect_entry(true);
	cr_assert_eq(fi_inject(&ep.fid, data, 8, 0), 0);
	expect_entry(false);
}

/* the call's flags override the endpoint's, both ways */
Test(msg, selective_send_completes_when_flagged)
{
	struct fi_msg msg = { 0 };

	ep.tx_always = 0;
	cr_assert_eq(fi_send(&ep.fid, data, 8, NULL, 0, NULL), 0);
	expect_entry(false);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_COMPLETION), 0);
	expect_entry(true);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, FI_TRANSMIT_COMPLETE), 0);
	expect_entry(false);
	ep.face.tx_op_flags = FI_COMPLETION;
	cr_assert_eq(fi_send(&ep.fid, data, 8, NULL, 0, NULL), 0);
	expect_entry(true);
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, 0), 0);
	expect_entry(false);
	cr_assert_eq(fi_inject(&ep.fid, data, 8, 0), 0);
	expect_entry(false);
}

Test(msg, selective_receive_completes_when_flagged)
{
	struct fi_msg msg = { 0 };

	ep.rx_selective = true;
	cr_assert_eq(fi_recv(&ep.fid, NULL, 0, NULL, 0, NULL), 0);
	cr_assert_eq(fi_recvmsg(&ep.fid, &msg, FI_COMPLETION), 0);
	ep.face.rx_op_flags = FI_COMPLETION;
	cr_assert_eq(fi_recv(&ep.fid, NULL, 0, NULL, 0, NULL), 0);
	cr_assert_eq(fi_recvmsg(&ep.fid, &msg, 0), 0);
	script_received(dev, 0, -1);
	cr_assert_eq(next_entry().flags, 0);
	script_received(dev, 0, -1);
	cr_assert_eq(next_entry().flags, FI_MSG | FI_RECV);
	script_received(dev, 0, -1);
	cr_assert_eq(next_entry().flags, FI_MSG | FI_RECV);
	script_received(dev, 0, -1);
	cr_assert_eq(next_entry().flags, 0);
}

Test(msg, default_inject_applies_to_calls_without_flags)
{
	struct fi_msg msg = { 0 };
	struct iovec iov = { data, 100 };
	void *desc = &mr;

	ep.face.tx_op_flags = FI_INJECT;
	cr_assert_eq(fi_send(&ep.fid, data, 100, &mr, 0, NULL), -FI_EINVAL);
	msg.msg_iov = &iov;
	msg.iov_count = 1;
	msg.desc = &desc;
	cr_assert_eq(fi_sendmsg(&ep.fid, &msg, 0), 0);
}

/* LF#2859 */
Test(msg, nothing_works_before_the_endpoint_is_enabled)
{
	struct fid_ep early = { .msg = &rcm_msg_ops_disabled };
	struct fi_msg msg = { 0 };

	cr_assert_eq(fi_send(&early, data, 1, NULL, 0, NULL), -FI_EOPBADSTATE);
	cr_assert_eq(fi_sendv(&early, NULL, NULL, 0, 0, NULL), -FI_EOPBADSTATE);
	cr_assert_eq(fi_sendmsg(&early, &msg, 0), -FI_EOPBADSTATE);
	cr_assert_eq(fi_inject(&early, data, 1, 0), -FI_EOPBADSTATE);
	cr_assert_eq(fi_senddata(&early, data, 1, NULL, 0, 0, NULL),
		     -FI_EOPBADSTATE);
	cr_assert_eq(fi_injectdata(&early, data, 1, 0, 0), -FI_EOPBADSTATE);
	cr_assert_eq(fi_recv(&early, data, 1, NULL, 0, NULL), -FI_EOPBADSTATE);
	cr_assert_eq(fi_recvv(&early, NULL, NULL, 0, 0, NULL), -FI_EOPBADSTATE);
	cr_assert_eq(fi_recvmsg(&early, &msg, 0), -FI_EOPBADSTATE);
}
