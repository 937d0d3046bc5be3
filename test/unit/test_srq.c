/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <time.h>

#include "rcm_hwcq.h"
#include "rcm_slot.h"
#include "rcm_srq.h"
#include "script_qp.h"

/*
 * Two queue pairs, one shared receive queue: QP with the engine CS of
 * script_qp.h, and a second one with an engine of its own.
 */

static struct rcm_srq srq;
static struct script_srq *shared;
static struct rcm_cqset cs2;
static struct rcm_qp qp2;
static struct script_qp *dev2;

static void set_up(void)
{
	setup();
	open_cq_at(&cs2, 0, false);
}

static void tear_down(void)
{
	rcm_qp_close(&qp);
	rcm_qp_close(&qp2);
	rcm_cqset_close(&cs2);
	if (srq.srq)
		rcm_srq_close(&srq);
	teardown();
}

TestSuite(srq, .init = set_up, .fini = tear_down);

static void open_srq(uint32_t size)
{
	struct rcm_srq_attr attr = {
		.pd = &script.pd,
		.size = size,
		.sge = 4,
		.locked = true,
	};

	cr_assert_eq(rcm_srq_open(&srq, &attr), 0);
	shared = script.last_srq;
}

static struct rcm_qp_attr shared_attr(struct rcm_cqset *at)
{
	struct rcm_qp_attr attr = attr_of(4, 64);

	attr.tx_cq = at;
	attr.rx_cq = at;
	attr.srq = &srq;
	return attr;
}

static struct script_qp *open_at(struct rcm_qp *at, struct rcm_cqset *cq)
{
	struct rcm_qp_attr attr = shared_attr(cq);

	cr_assert_eq(rcm_qp_open(at, &attr, 1), 0);
	rcm_qp_up(at, true);
	return script.last_qp;
}

static void open_two(uint32_t size)
{
	open_srq(size);
	dev = open_at(&qp, &cs);
	dev2 = open_at(&qp2, &cs2);
}

static ssize_t post_shared(size_t len, uintptr_t context, bool entry)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)data,
		.length = (uint32_t)len,
		.lkey = 5,
	};

	return rcm_srq_post(&srq, &sge, len != 0, (void *)context, entry);
}

static uintptr_t context_at(struct rcm_cqset *at)
{
	struct fi_cq_data_entry entry;
	ssize_t ret = rcm_cqset_read(at, &entry, 1);

	if (ret == -FI_EAGAIN)
		return 0;
	cr_assert_eq(ret, 1, "%zd", ret);
	return (uintptr_t)entry.op_context;
}

/* The device has been told of the size, and of no queue of the QP's own. */
Test(srq, queue_pair_has_no_receive_queue_of_its_own)
{
	open_two(8);
	cr_assert_eq(shared->init.attr.max_wr, 8);
	cr_assert_eq(shared->init.attr.max_sge, 4);
	cr_assert_eq(dev->qp.srq, &shared->srq);
	cr_assert_eq(dev->cap.max_recv_wr, 0);
	cr_assert_eq(post_recv(8, 1, true), -FI_EOPNOTSUPP);
}

Test(srq, receives_complete_in_any_order_and_engine)
{
	static const int order[] = { 3, 0, 5, 1, 4, 2 };
	struct fi_cq_data_entry entry;
	uintptr_t i;

	open_two(8);
	for (i = 0; i < 6; i++)
		cr_assert_eq(post_shared(64, 10 + i, true), 0);
	for (i = 0; i < 6; i++) {
		struct rcm_cqset *at = i % 2 ? &cs2 : &cs;

		script_shared_end(i % 2 ? dev2 : dev, shared, order[i],
				  IBV_WC_SUCCESS, (uint32_t)(20 + i));
		cr_assert_eq(rcm_cqset_read(at, &entry, 1), 1);
		cr_assert_eq((uintptr_t)entry.op_context,
			     (uintptr_t)(10 + order[i]));
		cr_assert_eq(entry.flags, FI_MSG | FI_RECV);
		cr_assert_eq(entry.len, 20 + i);
	}
	cr_assert_eq(rcm_srq_used(&srq), 0);
	cr_assert_eq(cs.n_stray + cs2.n_stray, 0);
}

/* peer.md D9; a full queue is the only reason to try again */
Test(srq, only_a_full_queue_says_again)
{
	int n = 0, round;
	uintptr_t i;

	open_two(4);
	for (i = 1; i <= 4; i++)
		cr_assert_eq(post_shared(16, i, true), 0);
	cr_assert_eq(post_shared(16, 5, true), -FI_EAGAIN);
	/* each slot that is read makes room for one, many times over */
	for (round = 0; round < 50; round++, i++) {
		bool second = round % 3 == 1;

		script_shared_end(second ? dev2 : dev, shared, n++,
				  IBV_WC_SUCCESS, 1);
		cr_assert_eq(post_shared(16, i, true), -FI_EAGAIN);
		cr_assert_eq(context_at(second ? &cs2 : &cs), i - 4);
		cr_assert_eq(post_shared(16, i, true), 0);
		cr_assert_eq(post_shared(16, i, true), -FI_EAGAIN);
	}
	cr_assert_eq(rcm_srq_used(&srq), 4);
}

Test(srq, refused_post_gives_its_slot_back)
{
	uintptr_t i;

	open_two(4);
	script.post_err = EINVAL;
	cr_assert_eq(post_shared(16, 1, true), -FI_EINVAL);
	/* nothing would end an -FI_EAGAIN */
	script.post_err = ENOMEM;
	cr_assert_eq(post_shared(16, 1, true), -FI_ENOMEM);
	cr_assert_eq(post_shared(16, 1, true), 0);
	script.post_err = ENOMEM;
	cr_assert_eq(post_shared(16, 1, true), -FI_EAGAIN);
	for (i = 2; i <= 4; i++)
		cr_assert_eq(post_shared(16, i, true), 0);
	cr_assert_eq(rcm_srq_used(&srq), 4);
}

/* the endpoint that takes it says whether its entry is wanted */
Test(srq, entry_is_wanted_by_the_endpoint_or_the_call)
{
	struct rcm_qp_attr attr;

	open_srq(8);
	attr = shared_attr(&cs);
	attr.rx_selective = true;
	open_qp_with(&attr);
	dev2 = open_at(&qp2, &cs2);
	cr_assert_eq(post_shared(16, 1, false), 0);
	cr_assert_eq(post_shared(16, 2, true), 0);
	cr_assert_eq(post_shared(16, 3, false), 0);
	script_shared_end(dev, shared, 0, IBV_WC_SUCCESS, 1);
	script_shared_end(dev, shared, 1, IBV_WC_SUCCESS, 1);
	script_shared_end(dev2, shared, 2, IBV_WC_SUCCESS, 1);
	cr_assert_eq(context_at(&cs), 2);
	cr_assert_eq(context_at(&cs), 0);
	cr_assert_eq(context_at(&cs2), 3);
	cr_assert_eq(rcm_srq_used(&srq), 0);
}

/* peer.md D7 */
Test(srq, peers_write_with_data_is_told_as_such)
{
	struct ibv_wc wc = {
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
		.wc_flags = IBV_WC_WITH_IMM,
		.imm_data = htobe32(0xfedcba98),
		.byte_len = 100,
	};
	struct fi_cq_data_entry entry;
	struct rcm_qp_attr attr;

	open_srq(8);
	attr = shared_attr(&cs);
	attr.rx_selective = true;
	open_qp_with(&attr);
	cr_assert_eq(post_shared(0, 1, false), 0);
	wc.wr_id = shared->recvs.wr[0].wr_id;
	wc.qp_num = dev->qp.qp_num;
	script_complete(dev->qp.recv_cq, &wc);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), 1);
	cr_assert_eq(entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	cr_assert_eq(entry.data, 0xfedcba98);
	cr_assert_eq(entry.len, 100);
}

static int errors_told[2];

static void tell(void *user, enum ibv_wc_status status)
{
	(void)status;
	errors_told[(uintptr_t)user]++;
}

/* peer.md D8: the endpoint that failed hears of it, and no other */
Test(srq, failure_is_told_to_the_endpoint_that_failed)
{
	struct rcm_qp_attr attr;
	struct rcm_comp comp;

	open_srq(8);
	attr = shared_attr(&cs);
	attr.on_error = tell;
	attr.user = (void *)0;
	open_qp_with(&attr);
	attr.user = (void *)1;
	cr_assert_eq(rcm_qp_open(&qp2, &attr, 1), 0);
	dev2 = script.last_qp;
	cr_assert_eq(post_shared(16, 1, true), 0);
	cr_assert_eq(post_shared(16, 2, true), 0);
	script_shared_end(dev2, shared, 1, IBV_WC_LOC_LEN_ERR, 0);
	comp = next_error();
	cr_assert_eq(comp.op_context, (void *)2);
	cr_assert_eq(comp.err, FI_ETRUNC);
	cr_assert_eq(comp.flags, FI_MSG | FI_RECV);
	cr_assert_eq(comp.vendor_err, 0x5a);
	cr_assert_eq(errors_told[0], 0);
	cr_assert_eq(errors_told[1], 1);
	cr_assert_eq(rcm_srq_used(&srq), 1);
}

/* design D18 */
Test(srq, no_silent_failure_is_told_to_a_layer_above)
{
	struct fi_cq_data_entry entry;
	struct rcm_qp_attr attr;

	open_srq(8);
	attr = shared_attr(&cs);
	attr.layered = true;
	attr.rx_selective = true;
	open_qp_with(&attr);
	cr_assert_eq(post_shared(16, 1, false), 0);
	script_shared_end(dev, shared, 0, IBV_WC_WR_FLUSH_ERR, 0);
	cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), -FI_EAGAIN);
	cr_assert_eq(rcm_srq_used(&srq), 0);
}

Test(srq, counter_of_the_endpoint_counts)
{
	struct rcm_tally tally = { 0 };
	struct rcm_qp_attr attr;

	open_srq(8);
	attr = shared_attr(&cs);
	attr.tally[RCM_OP_RECV] = &tally;
	open_qp_with(&attr);
	dev2 = open_at(&qp2, &cs);
	for (uintptr_t i = 1; i <= 3; i++)
		cr_assert_eq(post_shared(16, i, true), 0);
	script_shared_end(dev, shared, 0, IBV_WC_SUCCESS, 1);
	script_shared_end(dev2, shared, 1, IBV_WC_SUCCESS, 1);
	script_shared_end(dev, shared, 2, IBV_WC_LOC_LEN_ERR, 1);
	cr_assert_eq(context_at(&cs), 1);
	cr_assert_eq(context_at(&cs), 2);
	(void)next_error();
	cr_assert_eq(tally.value, 1);
	cr_assert_eq(tally.errors, 1);
}

Test(srq, what_belongs_to_nothing_frees_no_slot)
{
	struct ibv_wc wc = { .opcode = IBV_WC_RECV };
	uint64_t good;

	open_two(4);
	cr_assert_eq(post_shared(16, 1, true), 0);
	good = shared->recvs.wr[0].wr_id;
	/* a queue pair that is not known here */
	wc.wr_id = good;
	wc.qp_num = dev2->qp.qp_num;
	script_complete(dev->qp.recv_cq, &wc);
	cr_assert_eq(context_at(&cs), 0);
	/* a slot that is free, and one that is none */
	wc.qp_num = dev->qp.qp_num;
	wc.wr_id = good + 1;
	script_complete(dev->qp.recv_cq, &wc);
	wc.wr_id = good + 4;
	script_complete(dev->qp.recv_cq, &wc);
	wc.wr_id = good | 1ULL << 40;
	wc.status = IBV_WC_WR_FLUSH_ERR;
	script_complete(dev->qp.recv_cq, &wc);
	cr_assert_eq(context_at(&cs), 0);
	cr_assert_eq(cs.n_stray, 4);
	cr_assert_eq(rcm_srq_used(&srq), 1);
	script_shared_end(dev, shared, 0, IBV_WC_SUCCESS, 1);
	cr_assert_eq(context_at(&cs), 1);
	/* the same once more */
	script_shared_end(dev, shared, 0, IBV_WC_SUCCESS, 1);
	cr_assert_eq(context_at(&cs), 0);
	cr_assert_eq(cs.n_stray, 5);
}

static uint32_t reserved(struct rcm_cqset *at)
{
	uint32_t i, n = 0;

	for (i = 0; i < at->n_hw; i++)
		n += at->hw[i]->reserved;
	return n;
}

/* LF commit 3aaf8f5a9: a queue for one endpoint overruns when many share it */
Test(srq, room_is_reserved_once_for_all_that_share)
{
	struct rcm_qp_attr attr;
	struct rcm_qp more[20];
	int i;

	open_srq(100);
	attr = shared_attr(&cs);
	for (i = 0; i < 20; i++) {
		cr_assert_eq(rcm_qp_open(&more[i], &attr, 1), 0);
		cr_assert_eq(reserved(&cs), 100 + 5 * (uint32_t)(i + 1));
	}
	dev = script.last_qp;
	for (i = 0; i < 100; i++)
		cr_assert_eq(post_shared(16, (uintptr_t)i + 1, true), 0);
	for (i = 0; i < 100; i++)
		script_shared_end(dev, shared, i, IBV_WC_SUCCESS, 1);
	cr_assert(!script.overrun);
	for (i = 0; i < 100; i++)
		cr_assert_eq(context_at(&cs), (uintptr_t)i + 1);
	for (i = 19; i >= 0; i--)
		rcm_qp_close(&more[i]);
	cr_assert_eq(reserved(&cs), 0);
}

/* no room beside the shared receives in the largest queue of the device */
Test(srq, small_device_gets_a_hardware_queue_more)
{
	script.max_cqe = 12;
	rcm_cqset_close(&cs);
	open_cq_at(&cs, 0, false);
	open_srq(10);
	dev = open_at(&qp, &cs);
	cr_assert_eq(cs.n_hw, 2);
	cr_assert_eq(reserved(&cs), 15);
	dev2 = open_at(&qp2, &cs);
	cr_assert_eq(cs.n_hw, 2);
	cr_assert_eq(reserved(&cs), 20);
	cr_assert_eq(dev->qp.recv_cq, dev2->qp.recv_cq);
	rcm_qp_close(&qp);
	cr_assert_eq(reserved(&cs), 15);
}

Test(srq, more_receives_than_a_hardware_queue_holds_are_refused)
{
	struct rcm_qp_attr attr;

	script.max_cqe = 12;
	rcm_cqset_close(&cs);
	open_cq_at(&cs, 0, false);
	open_srq(13);
	attr = shared_attr(&cs);
	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), -FI_EINVAL);
	cr_assert_eq(script.n_qps, 0);
}

Test(srq, failure_at_any_call_leaves_nothing)
{
	struct rcm_qp_attr attr;
	int nth, ret = -1;

	open_srq(8);
	attr = shared_attr(&cs);
	script.fail_errno = ENOMEM;
	for (nth = 1; ret; nth++) {
		script.fail_call = nth;
		ret = rcm_qp_open(&qp, &attr, 1);
		/* a queue pair may do with fewer inline bytes */
		if (!ret)
			break;
		cr_assert_eq(script.n_qps, 0);
		cr_assert_eq(reserved(&cs), 0);
		cr_assert_eq(cs.n_sharing, 0);
	}
	script.fail_call = 0;
}

Test(srq, device_refuses_the_queue)
{
	struct rcm_srq_attr attr = { .pd = &script.pd, .size = 8, .sge = 1 };

	script.fail_call = 1;
	script.fail_errno = ENOMEM;
	cr_assert_eq(rcm_srq_open(&srq, &attr), -FI_ENOMEM);
	cr_assert_eq(script.n_srqs, 0);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* What it had taken is told; what not is there for the other one. */
Test(srq, close_of_one_leaves_the_rest_to_the_other)
{
	struct rcm_comp comp;

	open_two(4);
	for (uintptr_t i = 1; i <= 4; i++)
		cr_assert_eq(post_shared(16, i, true), 0);
	script_shared_end(dev, shared, 0, IBV_WC_SUCCESS, 1);
	script_shared_end(dev, shared, 1, IBV_WC_WR_FLUSH_ERR, 1);
	rcm_qp_close(&qp);
	cr_assert_eq(context_at(&cs), 1);
	comp = next_error();
	cr_assert_eq(comp.op_context, (void *)2);
	cr_assert_eq(comp.err, FI_ECANCELED);
	cr_assert_eq(context_at(&cs), 0);
	script_shared_end(dev2, shared, 2, IBV_WC_SUCCESS, 1);
	script_shared_end(dev2, shared, 3, IBV_WC_SUCCESS, 1);
	cr_assert_eq(context_at(&cs2), 3);
	cr_assert_eq(context_at(&cs2), 4);
	cr_assert_eq(rcm_srq_used(&srq), 0);
}

static int looks;

/* The device has its word ready, and a receive just before. */
static int look(void *user)
{
	if (++looks == 20) {
		script_shared_end(user, shared, 0, IBV_WC_WR_FLUSH_ERR, 0);
		rcm_qp_last_wqe(&qp);
	}
	return 0;
}

static int look_in_vain(void *user)
{
	(void)user;
	looks++;
	return 0;
}

static int look_at_nothing(void *user)
{
	(void)user;
	looks++;
	return -FI_ENODEV;
}

static void open_with_look(int (*fn)(void *))
{
	struct rcm_qp_attr attr;

	open_srq(4);
	attr = shared_attr(&cs);
	attr.look = fn;
	open_qp_with(&attr);
	qp.attr.user = dev;
	looks = 0;
}

Test(srq, close_waits_for_the_devices_word)
{
	open_with_look(look);
	cr_assert_eq(post_shared(16, 1, true), 0);
	rcm_qp_close(&qp);
	cr_assert_eq(looks, 20);
	cr_assert_eq(next_error().op_context, (void *)1);
	cr_assert_eq(rcm_srq_used(&srq), 0);
}

Test(srq, device_that_says_nothing_is_waited_for_once)
{
	double start = seconds();

	open_with_look(look_in_vain);
	rcm_qp_close(&qp);
	cr_assert_gt(seconds() - start, 0.15);
	dev = open_at(&qp, &cs);
	start = seconds();
	rcm_qp_close(&qp);
	cr_assert_lt(seconds() - start, 0.1);
	/* one that gives no events at all, not even once */
	rcm_srq_close(&srq);
	open_with_look(look_at_nothing);
	start = seconds();
	rcm_qp_close(&qp);
	cr_assert_lt(seconds() - start, 0.1);
	cr_assert_eq(looks, 1);
}

Test(srq, unconnected_queue_pair_is_not_waited_for)
{
	struct rcm_qp_attr attr;

	open_srq(4);
	attr = shared_attr(&cs);
	attr.look = look_in_vain;
	looks = 0;
	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), 0);
	rcm_qp_close(&qp);
	cr_assert_eq(looks, 0);
}

/* A device may give the number out again before the close is through. */
Test(srq, number_that_is_used_again_is_kept_apart)
{
	struct rcm_qp_attr attr;

	open_srq(8);
	attr = shared_attr(&cs);
	attr.on_error = tell;
	attr.user = (void *)0;
	open_qp_with(&attr);
	cr_assert_eq(post_shared(16, 1, true), 0);
	cr_assert_eq(post_shared(16, 2, true), 0);
	script_shared_end(dev, shared, 0, IBV_WC_WR_FLUSH_ERR, 0);
	script.next_qpn = dev->qp.qp_num;
	attr.user = (void *)1;
	cr_assert_eq(rcm_qp_open(&qp2, &attr, 1), 0);
	dev2 = script.last_qp;
	cr_assert_eq(errors_told[0], 1);
	script_shared_end(dev2, shared, 1, IBV_WC_LOC_PROT_ERR, 0);
	cr_assert_eq(next_error().op_context, (void *)1);
	cr_assert_eq(next_error().op_context, (void *)2);
	cr_assert_eq(errors_told[0], 1);
	cr_assert_eq(errors_told[1], 1);
}
