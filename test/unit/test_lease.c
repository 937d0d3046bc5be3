/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <errno.h>
#include <string.h>

#include "rcm_lease.h"
#include "rcm_multi.h"
#include "script_qp.h"

/* Buffers without a key, on a queue pair that lends. */

#define KEY	 5
#define OWN_KEY	 0x77 /* of the scripted device's regions */
#define LONG	 (RCM_LEASE_COPY + 1)
#define UNLISTED RCM_TX_NO_KEY
#define LISTED	 (RCM_TX_NO_KEY | RCM_TX_COMPLETE)

static void open_lending(uint32_t depth)
{
	struct rcm_qp_attr attr = attr_of(depth, 64);

	attr.lends = true;
	open_qp_with(&attr);
}

static void setup_lending(void)
{
	setup();
	open_lending(8);
}

TestSuite(lease, .init = setup_lending, .fini = teardown);

static ssize_t post_sges(struct ibv_sge *sge, uint32_t n, uint32_t flags,
			 uintptr_t context)
{
	struct rcm_tx tx = {
		.context = (void *)context,
		.sge = sge,
		.n_sge = n,
		.flags = flags,
		.opcode = IBV_WR_SEND,
	};

	for (uint32_t i = 0; i < n; i++)
		tx.len += sge[i].length;
	return rcm_sq_post(&qp, &tx);
}

static ssize_t read_sges(struct ibv_sge *sge, uint32_t n, uintptr_t context)
{
	struct rcm_tx tx = {
		.context = (void *)context,
		.sge = sge,
		.n_sge = n,
		.flags = LISTED | RCM_TX_PULL,
		.op = RCM_OP_READ,
		.opcode = IBV_WR_RDMA_READ,
	};

	for (uint32_t i = 0; i < n; i++)
		tx.len += sge[i].length;
	return rcm_sq_post(&qp, &tx);
}

static struct ibv_sge sge_of(size_t at, size_t len, uint32_t key)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)data + at,
		.length = (uint32_t)len,
		.lkey = key,
	};
}

/* LEN bytes without a key. */
static ssize_t lend(size_t len, uint32_t flags, uintptr_t context)
{
	struct ibv_sge sge = sge_of(0, len, 0);

	return post_sges(&sge, len != 0, flags, context);
}

Test(lease, long_send_is_registered_until_it_is_read)
{
	cr_assert_eq(lend(LONG, LISTED, 1), 0);
	cr_assert_eq(script.n_mrs, 1);
	cr_assert_eq(script.last_access, 0); /* read-only memory will do */
	cr_assert_eq(script_last_send(dev, 0)->sge[0].lkey, OWN_KEY);
	cr_assert_eq(script_last_send(dev, 0)->sge[0].addr, (uintptr_t)data);
	script_sent(dev, 1);
	cr_assert_eq(script.n_mrs, 1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease, inline_and_keyed_sends_need_none)
{
	cr_assert_eq(lend(0, LISTED, 1), 0);
	cr_assert_eq(lend(64, LISTED, 2), 0);
	cr_assert_eq(lend(64, RCM_TX_INJECT | LISTED, 3), 0);
	cr_assert_eq(post(LONG, RCM_TX_COMPLETE, 4), 0);
	cr_assert_eq(script_last_send(dev, 0)->sge[0].lkey, KEY);
	cr_assert_eq(lend(65, RCM_TX_INJECT | LISTED, 5), -FI_EINVAL);
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease, send_that_nobody_hears_of_gives_its_memory_back)
{
	cr_assert_eq(lend(LONG, UNLISTED, 1), 0);
	cr_assert(script_last_send(dev, 0)->flags & IBV_SEND_SIGNALED);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 0);
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease, each_buffer_without_a_key_is_registered)
{
	struct ibv_sge sge[] = { sge_of(0, 4096, 0), sge_of(4096, 64, KEY),
				 sge_of(5000, 200, 0) };
	const struct ibv_sge *out;

	cr_assert_eq(post_sges(sge, 3, LISTED, 1), 0);
	cr_assert_eq(script.n_mrs, 2);
	out = script_last_send(dev, 0)->sge;
	cr_assert_eq(script_last_send(dev, 0)->n_sge, 3);
	cr_assert_eq(out[0].lkey, OWN_KEY);
	cr_assert_eq(out[1].lkey, KEY);
	cr_assert_eq(out[2].lkey, OWN_KEY);
	cr_assert_eq(out[2].addr, (uintptr_t)data + 5000);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(script.n_mrs, 0);
	/* the caller's list is the caller's */
	cr_assert_eq(sge[0].lkey, 0);
}

Test(lease, short_send_is_copied)
{
	memset(data, 'a', 200);
	cr_assert_eq(lend(65, LISTED, 1), 0);
	cr_assert_eq(lend(200, LISTED, 2), 0);
	cr_assert_eq(lend(RCM_LEASE_COPY, LISTED, 3), 0);
	cr_assert_eq(script.n_mrs, 1); /* of all the copies */
	cr_assert_neq(script_last_send(dev, 1)->sge[0].addr, (uintptr_t)data);
	cr_assert_eq(script_last_send(dev, 1)->sge[0].lkey, OWN_KEY);
	cr_assert_arr_eq(script_last_send(dev, 1)->data, data, 200);
	script_sent(dev, 3);
	for (uintptr_t i = 1; i <= 3; i++)
		cr_assert_eq(next_context(), i);
	rcm_qp_close(&qp);
	cr_assert_eq(script.n_mrs, 0);
}

/* What the device writes to arrives with the completion, not before. */
Test(lease, short_read_is_copied_when_it_ends_well)
{
	struct ibv_sge sge[] = { sge_of(0, 8, KEY), sge_of(100, 64, 0) };
	void *to;

	for (int well = 1; well >= 0; well--) {
		memset(data, 'a', 200);
		cr_assert_eq(read_sges(sge, 2, 1), 0);
		cr_assert_eq(script.n_mrs, 1);
		cr_assert_eq(script.last_access, IBV_ACCESS_LOCAL_WRITE);
		cr_assert_eq(script_last_send(dev, 0)->sge[0].lkey, KEY);
		to = (void *)(uintptr_t)script_last_send(dev, 0)->sge[1].addr;
		cr_assert_neq(to, data + 100);
		memset(to, 'b', 64);
		cr_assert_eq(data[100], 'a');
		if (well) {
			script_sent(dev, 1);
			cr_assert_eq(next_context(), 1);
		} else {
			script_send_failed(dev, IBV_WC_REM_ACCESS_ERR);
			rcm_qp_close(&qp);
		}
		cr_assert_eq(data[99], 'a');
		cr_assert_eq(data[100], well ? 'b' : 'a');
		cr_assert_eq(data[163], well ? 'b' : 'a');
		cr_assert_eq(data[164], 'a');
	}
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease, long_or_scattered_read_is_registered_for_writing)
{
	struct ibv_sge sge[] = { sge_of(0, 50, 0), sge_of(100, 50, 0) };
	struct ibv_sge longer = sge_of(0, LONG, 0);

	cr_assert_eq(read_sges(sge, 2, 1), 0);
	cr_assert_eq(script.n_mrs, 2);
	cr_assert_eq(script.last_access, IBV_ACCESS_LOCAL_WRITE);
	cr_assert_eq(read_sges(&longer, 1, 2), 0);
	cr_assert_eq(script.n_mrs, 3);
	cr_assert_eq(script.last_access, IBV_ACCESS_LOCAL_WRITE);
	script_sent(dev, 2);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(next_context(), 2);
	cr_assert_eq(script.n_mrs, 0);
}

/* There the answer to a read is a peer's write. */
Test(lease, iwarp_read_is_registered_for_its_peer)
{
	struct ibv_sge sge = sge_of(0, 8, 0);
	struct rcm_qp_attr attr = attr_of(8, 64);

	rcm_qp_close(&qp);
	attr.lends = true;
	attr.pull_access = IBV_ACCESS_REMOTE_WRITE;
	open_qp_with(&attr);
	cr_assert_eq(read_sges(&sge, 1, 1), 0);
	cr_assert_eq(script.last_access,
		     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	cr_assert_eq(script_last_send(dev, 0)->sge[0].addr, (uintptr_t)data);
}

/* what has a key may be memory that only the device can read */
Test(lease, keyed_part_of_a_short_send_is_not_copied)
{
	struct ibv_sge sge[] = { sge_of(0, 50, 0), sge_of(100, 50, KEY),
				 sge_of(200, 50, 0) };
	const struct ibv_sge *out;

	memcpy(data, "first", sizeof("first"));
	memcpy(data + 200, "third", sizeof("third"));
	cr_assert_eq(post_sges(sge, 3, LISTED, 1), 0);
	out = script_last_send(dev, 0)->sge;
	cr_assert_eq(out[1].addr, (uintptr_t)data + 100);
	cr_assert_eq(out[1].lkey, KEY);
	cr_assert_eq(out[2].addr, out[0].addr + 50);
	cr_assert_arr_eq(script_last_send(dev, 0)->data, "first", 5);
	cr_assert_arr_eq(script_last_send(dev, 0)->data + 100, "third", 5);
}

static void setup_deep(void)
{
	setup();
	open_lending(64);
}

TestSuite(lease_deep, .init = setup_deep, .fini = teardown);

Test(lease_deep, short_send_beyond_the_buffers_is_registered)
{
	uintptr_t i;

	for (i = 1; i <= RCM_LEASE_BUFS; i++)
		cr_assert_eq(lend(100, LISTED, i), 0);
	cr_assert_eq(script.n_mrs, 1);
	cr_assert_eq(lend(100, LISTED, i), 0);
	cr_assert_eq(script.n_mrs, 2);
	cr_assert_eq(script_last_send(dev, 0)->sge[0].addr, (uintptr_t)data);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(lend(100, LISTED, 99), 0); /* in the first one's */
	cr_assert_eq(script.n_mrs, 2);
	cr_assert_eq(script_last_send(dev, 0)->sge[0].addr,
		     script_last_send(dev, RCM_LEASE_BUFS + 1)->sge[0].addr);
	script_sent_all(dev);
	while (next_context())
		;
	cr_assert_eq(script.n_mrs, 1);
}

Test(lease, without_memory_for_buffers_short_sends_are_registered)
{
	script.fail_call = 1;
	script.fail_errno = ENOMEM;
	cr_assert_eq(lend(100, LISTED, 1), 0);
	cr_assert_eq(lend(100, LISTED, 2), 0);
	cr_assert_eq(script.n_mrs, 2);
	cr_assert_eq(script_last_send(dev, 0)->sge[0].addr, (uintptr_t)data);
}

/* LF#11167, LF#5596: never "try again" for what will not get better */
Test(lease, failure_to_register_is_said_at_the_call)
{
	static const struct {
		int err;
		ssize_t ret;
	} rows[] = {
		{ EFAULT, -FI_EFAULT },
		{ EINVAL, -FI_EINVAL },
		{ ENOMEM, -FI_ENOMEM },
		{ EAGAIN, -FI_ENOMEM },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		script.fail_call = 1;
		script.fail_errno = rows[i].err;
		cr_assert_eq(lend(LONG, LISTED, 1), rows[i].ret, "%zu", i);
	}
	cr_assert_eq(dev->sends.n, 0);
	cr_assert_eq(lend(LONG, LISTED, 2), 0);
}

Test(lease, failure_of_the_second_buffer_leaves_nothing)
{
	struct ibv_sge sge[] = { sge_of(0, 4096, 0), sge_of(4096, 64, 0) };

	script.fail_call = 2;
	script.fail_errno = EFAULT;
	cr_assert_eq(post_sges(sge, 2, LISTED, 1), -FI_EFAULT);
	cr_assert_eq(script.n_mrs, 0);
	cr_assert_eq(dev->sends.n, 0);
}

Test(lease, full_queue_registers_nothing)
{
	uintptr_t i;
	int calls;

	for (i = 1; i <= 8; i++)
		cr_assert_eq(lend(LONG, LISTED, i), 0);
	cr_assert_eq(script.n_mrs, 8);
	calls = script.calls;
	cr_assert_eq(lend(LONG, LISTED, 9), -FI_EAGAIN);
	cr_assert_eq(script.calls, calls);
	script_sent(dev, 1);
	cr_assert_eq(lend(LONG, LISTED, 9), 0); /* made room by itself */
	cr_assert_eq(script.n_mrs, 8);
	cr_assert_eq(next_context(), 1);
}

Test(lease, closed_gate_registers_nothing)
{
	rcm_qp_down(&qp, -FI_ESHUTDOWN);
	cr_assert_eq(lend(LONG, LISTED, 1), -FI_ESHUTDOWN);
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease, length_beyond_the_maximum_registers_nothing)
{
	struct ibv_sge sge = sge_of(0, (1 << 20) + 1, 0);

	cr_assert_eq(post_sges(&sge, 1, LISTED, 1), -FI_EMSGSIZE);
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease, refused_send_gives_its_memory_back)
{
	script.post_err = EINVAL;
	cr_assert_eq(lend(LONG, LISTED, 1), -FI_EINVAL);
	cr_assert_eq(script.n_mrs, 0);
	/* the slot has forgotten it */
	cr_assert_eq(post(LONG, RCM_TX_COMPLETE, 2), 0);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 2);
}

Test(lease, failed_send_has_given_its_memory_back)
{
	cr_assert_eq(lend(LONG, LISTED, 1), 0);
	script_send_failed(dev, IBV_WC_REM_OP_ERR);
	cr_assert_eq(rcm_cqset_read(&cs, data, 1), -FI_EAVAIL);
	cr_assert_eq(script.n_mrs, 0);
	cr_assert_eq(next_error().op_context, (void *)1);
}

Test(lease, close_gives_back_what_was_never_sent)
{
	script.flushes = false;
	cr_assert_eq(lend(LONG, LISTED, 1), 0);
	cr_assert_eq(lend(LONG, LISTED | RCM_TX_MORE, 2), 0);
	cr_assert_eq(lend(100, LISTED, 3), 0);
	rcm_qp_close(&qp);
	cr_assert_eq(script.n_mrs, 0);
}

/* a read with a short buffer leaves the others in software */
Test(lease, memory_of_a_kept_entry_is_given_back)
{
	for (uintptr_t i = 1; i <= 3; i++)
		cr_assert_eq(lend(LONG, LISTED, i), 0);
	script_sent(dev, 3);
	cr_assert_eq(rcm_cqset_gather(&cs, 3), 3);
	cr_assert_eq(script.n_mrs, 0);
	for (uintptr_t i = 1; i <= 3; i++)
		cr_assert_eq(next_context(), i);
}

#define MORE (LISTED | RCM_TX_MORE)

Test(lease, staged_sends_ring_once)
{
	cr_assert_eq(lend(LONG, MORE, 1), 0);
	cr_assert_eq(lend(100, MORE, 2), 0);
	cr_assert_eq(lend(8, MORE, 3), 0);
	cr_assert_eq(script.doorbells, 0);
	cr_assert_eq(lend(LONG, LISTED, 4), 0);
	cr_assert_eq(script.doorbells, 1);
	cr_assert_eq(script.n_mrs, 3);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(script.n_mrs, 2);
	script_sent(dev, 3);
	for (uintptr_t i = 2; i <= 4; i++)
		cr_assert_eq(next_context(), i);
	cr_assert_eq(script.n_mrs, 1); /* the buffers' */
}

/* those behind move up, and their memory with them */
Test(lease, refused_staged_send_ends_its_own_lease_alone)
{
	struct rcm_comp comp;

	cr_assert_eq(lend(LONG, MORE, 1), 0);
	cr_assert_eq(lend(LONG, MORE, 2), 0);
	cr_assert_eq(lend(100, MORE, 3), 0);
	script.post_err = EINVAL;
	cr_assert_eq(lend(LONG, LISTED, 4), 0);
	cr_assert_eq(script.n_mrs, 1 + 2);
	script_sent(dev, 1);
	cr_assert_eq(rcm_cqset_read(&cs, data, 1), -FI_EAVAIL);
	cr_assert_eq(rcm_cqset_read_err(&cs, &comp), 0);
	cr_assert_eq(comp.op_context, (void *)1);
	cr_assert_eq(next_context(), 2);
	cr_assert_eq(script.n_mrs, 1 + 1);
	script_sent(dev, 2);
	cr_assert_eq(next_context(), 3);
	cr_assert_eq(next_context(), 4);
	cr_assert_eq(script.n_mrs, 1);
}

Test(lease, refused_own_send_behind_staged_ones_ends_its_own)
{
	cr_assert_eq(lend(LONG, MORE, 1), 0);
	script.post_err = EINVAL;
	script.post_accepts = 1;
	cr_assert_eq(lend(LONG, LISTED, 2), -FI_EINVAL);
	cr_assert_eq(script.n_mrs, 1);
	script_sent(dev, 1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease, failure_to_register_sends_what_waits)
{
	cr_assert_eq(lend(LONG, MORE, 1), 0);
	script.fail_call = 1;
	script.fail_errno = EFAULT;
	cr_assert_eq(lend(LONG, LISTED, 2), -FI_EFAULT);
	cr_assert_eq(dev->sends.n, 1);
}

static ssize_t lend_recv(size_t len, uintptr_t context)
{
	struct ibv_sge sge = sge_of(0, len, 0);

	return rcm_rq_post_lending(&qp, &sge, len != 0, (void *)context, true);
}

Test(lease, receive_is_registered_for_writing_until_it_is_read)
{
	cr_assert_eq(lend_recv(100, 1), 0);
	cr_assert_eq(script.n_mrs, 1);
	cr_assert_eq(script.last_access, IBV_ACCESS_LOCAL_WRITE);
	cr_assert_eq(script_last_recv(dev, 0)->sge[0].lkey, OWN_KEY);
	cr_assert_eq(script_last_recv(dev, 0)->sge[0].addr, (uintptr_t)data);
	script_received(dev, 100, -1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease, full_or_closed_receive_queue_registers_nothing)
{
	for (uintptr_t i = 1; i <= 4; i++)
		cr_assert_eq(lend_recv(100, i), 0);
	cr_assert_eq(lend_recv(100, 5), -FI_EAGAIN);
	cr_assert_eq(script.n_mrs, 4);
	script_received(dev, 8, -1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(lend_recv(100, 5), 0);
	rcm_qp_down(&qp, -FI_ESHUTDOWN);
	cr_assert_eq(lend_recv(100, 6), -FI_ESHUTDOWN);
	cr_assert_eq(script.n_mrs, 4);
}

Test(lease, refused_receive_gives_its_memory_back)
{
	script.post_err = EINVAL;
	cr_assert_eq(lend_recv(100, 1), -FI_EINVAL);
	cr_assert_eq(script.n_mrs, 0);
	cr_assert_eq(post_recv(100, 2, true), 0); /* the slot has forgotten */
	script_received(dev, 8, -1);
	cr_assert_eq(next_context(), 2);
}

Test(lease, receive_that_cannot_be_registered_is_refused)
{
	script.fail_call = 1;
	script.fail_errno = EFAULT;
	cr_assert_eq(lend_recv(100, 1), -FI_EFAULT);
	cr_assert_eq(dev->recvs.n, 0);
}

Test(lease, failed_receive_has_given_its_memory_back)
{
	cr_assert_eq(lend_recv(100, 1), 0);
	cr_assert_eq(lend_recv(100, 2), 0);
	script_recv_failed(dev, IBV_WC_LOC_LEN_ERR);
	cr_assert_eq(rcm_cqset_read(&cs, data, 1), -FI_EAVAIL);
	cr_assert_eq(script.n_mrs, 1);
	rcm_qp_close(&qp);
	cr_assert_eq(script.n_mrs, 0);
}

static void setup_multi(void)
{
	struct rcm_qp_attr attr;

	setup();
	attr = attr_of(8, 64);
	attr.rx_depth = 8;
	attr.lends = true;
	attr.multi_recv = true;
	open_qp_with(&attr);
}

TestSuite(lease_multi, .init = setup_multi, .fini = teardown);

static ssize_t lend_multi(size_t len, uintptr_t context)
{
	const struct rcm_multi_buf buf = {
		.addr = (uintptr_t)data,
		.len = len,
		.min = 64,
	};

	return rcm_multi_post_lending(&qp, &buf, (void *)context, true);
}

Test(lease_multi, buffer_is_registered_until_it_is_released)
{
	cr_assert_eq(lend_multi(200, 1), 0);
	cr_assert_eq(script.n_mrs, 1);
	cr_assert_eq(script.last_access, IBV_ACCESS_LOCAL_WRITE);
	cr_assert_eq(script_last_recv(dev, 0)->sge[0].lkey, OWN_KEY);
	script_received(dev, 50, -1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(script.n_mrs, 1);
	script_received(dev, 100, -1); /* 50 are left */
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease_multi, receives_held_behind_it_keep_their_memory)
{
	cr_assert_eq(lend_multi(100, 1), 0);
	cr_assert_eq(lend_recv(100, 2), 0);
	cr_assert_eq(lend_recv(100, 3), 0);
	cr_assert_eq(lend_recv(100, 4), 0);
	cr_assert_eq(script.n_mrs, 4);
	/* those behind it move up */
	cr_assert_eq(rcm_multi_cancel(&qp, (void *)2), 0);
	cr_assert_eq(script.n_mrs, 3);
	cr_assert_eq(next_error().op_context, (void *)2);
	script_received(dev, 90, -1);
	cr_assert_eq(next_context(), 1);
	cr_assert_eq(script.n_mrs, 2);
	script_received(dev, 8, -1);
	cr_assert_eq(next_context(), 3);
	cr_assert_eq(script.n_mrs, 1);
	script_received(dev, 8, -1);
	cr_assert_eq(next_context(), 4);
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease_multi, failed_buffer_gives_back_all_that_was_held)
{
	cr_assert_eq(lend_multi(100, 1), 0);
	cr_assert_eq(lend_recv(100, 2), 0);
	script_recv_failed(dev, IBV_WC_WR_FLUSH_ERR);
	cr_assert_eq(rcm_cqset_read(&cs, data, 1), -FI_EAVAIL);
	cr_assert_eq(script.n_mrs, 0);
}

Test(lease_multi, buffer_that_cannot_be_had_is_refused)
{
	script.fail_call = 1;
	script.fail_errno = ENOMEM;
	cr_assert_eq(lend_multi(100, 1), -FI_ENOMEM);
	script.post_err = EINVAL;
	cr_assert_eq(lend_multi(100, 1), -FI_EINVAL);
	cr_assert_eq(script.n_mrs, 0);
	cr_assert_eq(lend_multi(0, 1), 0); /* no memory, none registered */
	cr_assert_eq(script.n_mrs, 0);
}
