/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef SCRIPT_QP_H
#define SCRIPT_QP_H

#include <criterion/criterion.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "rcm_cqset.h"
#include "rcm_qp.h"
#include "script.h"

/*
 * One queue pair and its completion engines on the scripted device, for the
 * Criterion tests of prov/xfer. A test includes it once.
 */

static struct rcm_cqset cs;
static struct rcm_qp qp;
static struct script_qp *dev;
static char data[8192];

static inline void open_cq_at(struct rcm_cqset *at, size_t size, bool channel)
{
	struct rcm_cqset_attr attr = {
		.ctx = &script.ctx,
		.max_cqe = script.max_cqe,
		.size = size,
		.format = FI_CQ_FORMAT_DATA,
		.channel = channel,
		.locked = true,
	};

	cr_assert_eq(rcm_cqset_open(at, &attr), 0);
}

static inline struct rcm_qp_attr attr_of(uint32_t depth, uint32_t inject)
{
	return (struct rcm_qp_attr){
		.ctx = &script.ctx,
		.pd = &script.pd,
		.tx_cq = &cs,
		.rx_cq = &cs,
		.tx_depth = depth,
		.rx_depth = 4,
		.tx_sge = 4,
		.rx_sge = 4,
		.inject_size = inject,
		.max_msg_size = 1 << 20,
		.locked = true,
	};
}

static inline void open_qp_with(const struct rcm_qp_attr *attr)
{
	cr_assert_eq(rcm_qp_open(&qp, attr, 1), 0);
	rcm_qp_up(&qp, true);
	dev = script.last_qp;
}

static inline void open_qp(uint32_t depth, uint32_t inject)
{
	struct rcm_qp_attr attr = attr_of(depth, inject);

	open_qp_with(&attr);
}

static inline void setup(void)
{
	script_open();
	open_cq_at(&cs, 0, false);
}

static inline void teardown(void)
{
	rcm_qp_close(&qp);
	rcm_cqset_close(&cs);
	if (script_close() || script.overrun)
		abort(); /* an assertion here would not count */
}

static inline ssize_t post(size_t len, uint32_t flags, uintptr_t context)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)data,
		.length = (uint32_t)len,
		.lkey = 5,
	};
	struct rcm_tx tx = {
		.context = (void *)context,
		.sge = &sge,
		.n_sge = len != 0,
		.flags = flags,
		.opcode = IBV_WR_SEND,
		.imm = 0xabcd,
		.len = len,
	};

	return rcm_sq_post(&qp, &tx);
}

static inline ssize_t post_recv(size_t len, uintptr_t context, bool entry)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)data,
		.length = (uint32_t)len,
		.lkey = 5,
	};

	return rcm_rq_post(&qp, &sge, len != 0, (void *)context, false, entry);
}

/* Reads one entry: its context, or 0 when there is none. */
static inline uintptr_t next_context(void)
{
	struct fi_cq_data_entry entry;
	ssize_t ret = rcm_cqset_read(&cs, &entry, 1);

	if (ret == -FI_EAGAIN)
		return 0;
	cr_assert_eq(ret, 1, "%zd", ret);
	return (uintptr_t)entry.op_context;
}

static inline struct rcm_comp next_error(void)
{
	struct fi_cq_data_entry entry;
	struct rcm_comp comp;
	ssize_t ret = rcm_cqset_read(&cs, &entry, 1);

	cr_assert_eq(ret, -FI_EAVAIL, "%zd", ret);
	cr_assert_eq(rcm_cqset_read_err(&cs, &comp), 0);
	return comp;
}

#endif /* SCRIPT_QP_H */
