/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <errno.h>
#include <rdma/fi_atomic.h>
#include <string.h>

#include "rcm_atomic.h"
#include "rcm_domain.h"
#include "rcm_ep.h"
#include "rcm_mr.h"
#include "rcm_rma.h"
#include "rcm_sink.h"
#include "script_qp.h"

/* fi_atomic(3) on an endpoint of which only the queue pair is made. */
static struct rcm_domain domain;
static struct rcm_ep ep;
static struct rcm_mr mr = { .lkey = 21 };
static struct fi_ops_rma rma_ops;
static uint64_t local[4];

static void setup_ep(void)
{
	struct rcm_qp_attr attr;

	setup();
	attr = attr_of(8, 64);
	cr_assert_eq(rcm_qp_open(&ep.qp, &attr, 1), 0);
	rcm_qp_up(&ep.qp, true);
	dev = script.last_qp;
	domain.pd = &script.pd;
	ep.domain = &domain;
	ep.fid.atomic = &rcm_atomic_ops;
	ep.caps = FI_ATOMIC | FI_RMA | FI_READ | FI_WRITE;
	rcm_rma_fill_ops(&rma_ops, ep.caps);
	ep.fid.rma = &rma_ops;
	ep.face.ep = &ep;
	ep.tx_always = RCM_TX_COMPLETE;
	ep.limits.tx_iov = 4;
	ep.limits.read_iov = 4;
	ep.max_msg_size = 1 << 20;
}

static void teardown_ep(void)
{
	rcm_qp_close(&ep.qp);
	rcm_sink_close(atomic_load(&domain.sink));
	teardown();
}

TestSuite(xatomic, .init = setup_ep, .fini = teardown_ep);

static ssize_t base(uint64_t value, enum fi_op op)
{
	return fi_atomic(&ep.fid, &value, 1, NULL, 0, 0x1000, 77, FI_UINT64, op,
			 NULL);
}

static ssize_t fetch(uint64_t value, enum fi_op op)
{
	return fi_fetch_atomic(&ep.fid, &value, 1, NULL, &local[1], &mr, 0,
			       0x1000, 77, FI_INT64, op, NULL);
}

static ssize_t swap(uint64_t compare, uint64_t value)
{
	return fi_compare_atomic(&ep.fid, &value, 1, NULL, &compare, NULL,
				 &local[1], &mr, 0, 0x1000, 77, FI_UINT64,
				 FI_CSWAP, NULL);
}

static struct script_wr *posted(enum ibv_wr_opcode opcode)
{
	struct script_wr *wr = script_last_send(dev, 0);

	cr_assert_eq(wr->opcode, opcode);
	cr_assert_eq(wr->remote_addr, 0x1000);
	cr_assert_eq(wr->rkey, 77);
	cr_assert_eq(wr->n_sge, 1);
	cr_assert_eq(wr->len, 8);
	return wr;
}

Test(xatomic, fetched_sum_is_a_fetch_and_add_into_the_result)
{
	struct script_wr *wr;

	cr_assert_eq(fetch(0x8000000000000001, FI_SUM), 0);
	wr = posted(IBV_WR_ATOMIC_FETCH_AND_ADD);
	cr_assert_eq(wr->compare_add, 0x8000000000000001);
	cr_assert_eq(wr->sge[0].addr, (uintptr_t)&local[1]);
	cr_assert_eq(wr->sge[0].lkey, 21);
	cr_assert_not(wr->flags & (IBV_SEND_INLINE | IBV_SEND_FENCE));
}

Test(xatomic, read_is_a_fetch_and_add_of_nothing)
{
	cr_assert_eq(fetch(55, FI_ATOMIC_READ), 0);
	cr_assert_eq(posted(IBV_WR_ATOMIC_FETCH_AND_ADD)->compare_add, 0);
}

/* LF#10911: by value, and each in its place */
Test(xatomic, compare_and_swap_has_both_operands)
{
	struct script_wr *wr;

	cr_assert_eq(swap(4, 5), 0);
	wr = posted(IBV_WR_ATOMIC_CMP_AND_SWP);
	cr_assert_eq(wr->compare_add, 4);
	cr_assert_eq(wr->swap, 5);
}

Test(xatomic, answers_nobody_wants_go_to_one_place)
{
	struct ibv_sge first;

	cr_assert_eq(base(3, FI_SUM), 0);
	first = posted(IBV_WR_ATOMIC_FETCH_AND_ADD)->sge[0];
	cr_assert_neq(first.addr, 0);
	cr_assert_eq(base(4, FI_SUM), 0);
	cr_assert_eq(posted(IBV_WR_ATOMIC_FETCH_AND_ADD)->sge[0].addr,
		     first.addr);
	cr_assert_eq(posted(IBV_WR_ATOMIC_FETCH_AND_ADD)->sge[0].lkey,
		     first.lkey);
}

static struct fi_msg_atomic message(struct fi_ioc *ioc, struct fi_rma_ioc *rma)
{
	*ioc = (struct fi_ioc){ local, 1 };
	*rma = (struct fi_rma_ioc){ 0x1000, 1, 77 };
	return (struct fi_msg_atomic){
		.msg_iov = ioc,
		.iov_count = 1,
		.rma_iov = rma,
		.rma_iov_count = 1,
		.datatype = FI_UINT64,
		.op = FI_SUM,
	};
}

Test(xatomic, fence_is_the_devices)
{
	struct fi_ioc ioc;
	struct fi_rma_ioc rma;
	struct fi_msg_atomic msg = message(&ioc, &rma);

	cr_assert_eq(fi_atomicmsg(&ep.fid, &msg, FI_FENCE), 0);
	cr_assert(script_last_send(dev, 0)->flags & IBV_SEND_FENCE);
}

static bool fenced(void)
{
	return script_last_send(dev, 0)->flags & IBV_SEND_FENCE;
}

/*
 * FI_ORDER_RAR: a read that the device repeats may not see what a later
 * fetching operation has changed. Only as long as there is such a read.
 */
Test(xatomic, fetching_ones_wait_for_reads_before_them)
{
	struct fi_cq_data_entry entry;

	cr_assert_eq(fi_read(&ep.fid, data, 8, &mr, 0, 0x2000, 77, NULL), 0);
	cr_assert_eq(base(1, FI_SUM), 0);
	cr_assert_not(fenced());
	cr_assert_eq(fetch(1, FI_SUM), 0);
	cr_assert(fenced());
	cr_assert_eq(swap(1, 2), 0);
	cr_assert(fenced());
	script_sent(dev, 4);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(rcm_cqset_read(&cs, &entry, 1), 1);
	cr_assert_eq(fetch(1, FI_SUM), 0);
	cr_assert_not(fenced());
}

Test(xatomic, refused_request_is_no_completion)
{
	script.post_err = EINVAL;
	cr_assert_eq(fetch(1, FI_SUM), -FI_EINVAL);
	cr_assert_eq(fetch(1, FI_SUM), 0);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 0);
}

Test(xatomic, failure_is_told_as_what_it_was)
{
	struct rcm_comp comp;

	cr_assert_eq(fetch(1, FI_SUM), 0);
	script_send_failed(dev, IBV_WC_REM_ACCESS_ERR);
	comp = next_error();
	cr_assert_eq(comp.err, FI_EACCES);
	cr_assert_eq(comp.flags, FI_ATOMIC | FI_READ);
}

/* There are no atomic requests without room for answers: fi_atomic(3). */
Test(xatomic, peer_without_room_for_answers_is_an_error_at_the_call)
{
	ep.qp.sq.pulls = false;
	cr_assert_eq(fetch(1, FI_SUM), -FI_EOPNOTSUPP);
	cr_assert_eq(base(1, FI_SUM), -FI_EOPNOTSUPP);
	cr_assert_eq(swap(1, 1), -FI_EOPNOTSUPP);
}
