/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * The fake device against itself: queue pairs and completion queues behave
 * as ibv_modify_qp(3), ibv_post_send(3) and ibv_poll_cq(3) say.
 */

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "fake.h"
#include "rcm_sys.h"

/* Two queue pairs of one device, connected by hand. */
static struct {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
	struct ibv_mr *mr;
	char mem[4096];
} t;

static void set_up_devs(const struct fake_dev_conf *conf)
{
	struct ibv_device **list;

	if (conf)
		fake_install_devs(conf, 1);
	else
		fake_install();
	list = rcm_sys->get_device_list(NULL);
	t.ctx = rcm_sys->open_device(list[0]);
	rcm_sys->free_device_list(list);
	t.pd = rcm_sys->alloc_pd(t.ctx);
	t.channel = rcm_sys->create_comp_channel(t.ctx);
	fcntl(t.channel->fd, F_SETFL, O_NONBLOCK);
	t.mr = rcm_sys->reg_mr(t.pd, t.mem, sizeof(t.mem),
			       IBV_ACCESS_LOCAL_WRITE);
	for (int i = 0; i < 2; i++)
		t.cq[i] = rcm_sys->create_cq(t.ctx, 8, &t, t.channel, 0);
}

static struct ibv_qp *make_qp(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 4, 4, 2, 2, 64 },
		.qp_type = IBV_QPT_RC,
	};

	return rcm_sys->create_qp(t.pd, &attr);
}

static int qp_to(struct ibv_qp *qp, enum ibv_qp_state state, uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.port_num = 1,
		.dest_qp_num = peer,
		.rnr_retry = 7,
	};
	int mask = IBV_QP_STATE;

	if (state == IBV_QPS_INIT)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	if (state == IBV_QPS_RTR)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_MIN_RNR_TIMER;
	if (state == IBV_QPS_RTS)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
	return rcm_sys->modify_qp(qp, &attr, mask);
}

static void join_qps(void)
{
	for (int i = 0; i < 2; i++) {
		uint32_t peer = t.qp[!i]->qp_num;

		cr_assert_eq(qp_to(t.qp[i], IBV_QPS_INIT, 0), 0);
		cr_assert_eq(qp_to(t.qp[i], IBV_QPS_RTR, peer), 0);
		cr_assert_eq(qp_to(t.qp[i], IBV_QPS_RTS, peer), 0);
	}
}

static void set_up(void)
{
	set_up_devs(NULL);
	for (int i = 0; i < 2; i++)
		t.qp[i] = make_qp(t.cq[i]);
}

static void set_up_joined(void)
{
	set_up();
	join_qps();
}

static void tear_down(void)
{
	for (int i = 0; i < 2; i++) {
		if (t.qp[i])
			rcm_sys->destroy_qp(t.qp[i]);
		if (t.cq[i])
			rcm_sys->destroy_cq(t.cq[i]);
	}
	rcm_sys->dereg_mr(t.mr);
	rcm_sys->destroy_comp_channel(t.channel);
	rcm_sys->dealloc_pd(t.pd);
	rcm_sys->close_device(t.ctx);
	if (fake_remove())
		abort();
}

TestSuite(fake_qp, .init = set_up_joined, .fini = tear_down);
TestSuite(fake_raw, .init = set_up, .fini = tear_down);

static int post_recv(int side, uint64_t wr_id, size_t off, size_t len)
{
	struct ibv_sge sge = { (uintptr_t)t.mem + off, len, t.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id,
				  .sg_list = &sge,
				  .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return ibv_post_recv(t.qp[side], &wr, &bad);
}

static int post_send(int side, uint64_t wr_id, size_t off, size_t len,
		     unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)t.mem + off, len, t.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = wr_id,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND_WITH_IMM,
				  .imm_data = 0x12345678,
				  .send_flags = flags };
	struct ibv_send_wr *bad;

	return ibv_post_send(t.qp[side], &wr, &bad);
}

static struct ibv_wc poll_one(int side)
{
	struct ibv_wc wc = { 0 };

	cr_assert_eq(ibv_poll_cq(t.cq[side], 1, &wc), 1);
	return wc;
}

static void expect(int side, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc = poll_one(side);

	cr_assert_eq(wc.wr_id, wr_id);
	cr_assert_eq(wc.status, status, "status %d", wc.status);
	cr_assert_eq(wc.qp_num, t.qp[side]->qp_num);
}

Test(fake_raw, receives_are_accepted_from_init)
{
	cr_assert_eq(post_recv(0, 1, 0, 8), EINVAL);
	cr_assert_eq(qp_to(t.qp[0], IBV_QPS_INIT, 0), 0);
	cr_assert_eq(post_recv(0, 1, 0, 8), 0);
}

Test(fake_raw, sends_are_refused_before_rts)
{
	cr_assert_eq(qp_to(t.qp[0], IBV_QPS_INIT, 0), 0);
	cr_assert_eq(post_send(0, 1, 0, 8, 0), EINVAL);
	cr_assert_eq(qp_to(t.qp[0], IBV_QPS_RTR, 1), 0);
	cr_assert_eq(post_send(0, 1, 0, 8, 0), EINVAL);
}

Test(fake_raw, states_cannot_be_skipped)
{
	cr_assert_eq(qp_to(t.qp[0], IBV_QPS_RTR, 1), -EINVAL);
	cr_assert_eq(qp_to(t.qp[0], IBV_QPS_INIT, 1), 0);
	cr_assert_eq(qp_to(t.qp[0], IBV_QPS_RTS, 1), -EINVAL);
}

Test(fake_raw, attributes_that_a_step_needs_are_asked_for)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	cr_assert_eq(rcm_sys->modify_qp(t.qp[0], &attr,
					IBV_QP_STATE | IBV_QP_PORT),
		     -EINVAL);
}

Test(fake_qp, message_arrives_with_its_immediate)
{
	struct ibv_wc wc;

	memcpy(t.mem, "eightbyt", 8);
	cr_assert_eq(post_recv(1, 7, 100, 64), 0);
	cr_assert_eq(post_send(0, 3, 0, 8, IBV_SEND_SIGNALED), 0);
	expect(0, 3, IBV_WC_SUCCESS);
	wc = poll_one(1);
	cr_assert_eq(wc.wr_id, 7);
	cr_assert_eq(wc.opcode, IBV_WC_RECV);
	cr_assert_eq(wc.byte_len, 8);
	cr_assert_eq(wc.wc_flags, IBV_WC_WITH_IMM);
	cr_assert_eq(wc.imm_data, 0x12345678);
	cr_assert_arr_eq(t.mem + 100, "eightbyt", 8);
}

Test(fake_qp, send_waits_for_a_receive)
{
	struct ibv_wc wc;

	cr_assert_eq(post_send(0, 3, 0, 8, IBV_SEND_SIGNALED), 0);
	cr_assert_eq(ibv_poll_cq(t.cq[0], 1, &wc), 0);
	cr_assert_eq(post_recv(1, 7, 100, 64), 0);
	expect(0, 3, IBV_WC_SUCCESS);
	expect(1, 7, IBV_WC_SUCCESS);
}

Test(fake_qp, inline_buffer_is_free_at_once)
{
	memcpy(t.mem, "aaaa", 4);
	cr_assert_eq(post_send(0, 3, 0, 4, IBV_SEND_INLINE), 0);
	memcpy(t.mem, "bbbb", 4);
	cr_assert_eq(post_recv(1, 7, 100, 64), 0);
	cr_assert_arr_eq(t.mem + 100, "aaaa", 4);
}

Test(fake_qp, truncation_ends_both_sides)
{
	cr_assert_eq(post_recv(1, 7, 100, 4), 0);
	cr_assert_eq(post_recv(1, 8, 100, 4), 0);
	cr_assert_eq(post_send(0, 3, 0, 8, 0), 0);
	expect(1, 7, IBV_WC_LOC_LEN_ERR);
	expect(1, 8, IBV_WC_WR_FLUSH_ERR);
	expect(0, 3, IBV_WC_REM_INV_REQ_ERR);
	cr_assert_eq(t.qp[0]->state, IBV_QPS_ERR);
	cr_assert_eq(t.qp[1]->state, IBV_QPS_ERR);
}

Test(fake_qp, bad_key_is_a_protection_error)
{
	struct ibv_sge sge = { (uintptr_t)t.mem, 8, 1 };
	struct ibv_send_wr wr = {
		.wr_id = 3, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND
	};
	struct ibv_send_wr *bad;

	cr_assert_eq(post_recv(1, 7, 100, 64), 0);
	cr_assert_eq(ibv_post_send(t.qp[0], &wr, &bad), 0);
	expect(0, 3, IBV_WC_LOC_PROT_ERR);
	cr_assert_eq(fake_cq_fill(t.cq[1]), 0);
}

Test(fake_qp, bytes_beyond_a_region_are_a_protection_error)
{
	cr_assert_eq(post_recv(1, 7, sizeof(t.mem) - 4, 8), 0);
	cr_assert_eq(post_send(0, 3, 0, 8, 0), 0);
	expect(1, 7, IBV_WC_LOC_PROT_ERR);
	expect(0, 3, IBV_WC_REM_OP_ERR);
}

Test(fake_qp, error_state_flushes_what_was_and_will_be_posted)
{
	cr_assert_eq(post_send(0, 3, 0, 8, 0), 0);
	cr_assert_eq(post_recv(0, 7, 100, 64), 0);
	cr_assert_eq(qp_to(t.qp[0], IBV_QPS_ERR, 0), 0);
	expect(0, 3, IBV_WC_WR_FLUSH_ERR);
	expect(0, 7, IBV_WC_WR_FLUSH_ERR);
	cr_assert_eq(post_send(0, 4, 0, 8, 0), 0);
	expect(0, 4, IBV_WC_WR_FLUSH_ERR);
	cr_assert_eq(post_recv(0, 8, 100, 64), 0);
	expect(0, 8, IBV_WC_WR_FLUSH_ERR);
}

Test(fake_qp, send_queue_has_room_again_when_a_completion_was_read)
{
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(post_recv(1, 7, 100, 64), 0);
		cr_assert_eq(post_send(0, i, 0, 8,
				       i == 1 ? IBV_SEND_SIGNALED : 0),
			     0);
	}
	cr_assert_eq(post_send(0, 5, 0, 8, 0), ENOMEM);
	expect(0, 1, IBV_WC_SUCCESS);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(post_send(0, 6, 0, 8, 0), 0);
	cr_assert_eq(post_send(0, 7, 0, 8, 0), ENOMEM);
	for (int i = 0; i < 4; i++)
		expect(1, 7, IBV_WC_SUCCESS);
}

Test(fake_qp, chain_stops_at_the_request_that_fails)
{
	struct ibv_send_wr wr[3] = {
		{ .wr_id = 1, .next = &wr[1], .opcode = IBV_WR_SEND },
		{ .wr_id = 2, .next = &wr[2], .opcode = IBV_WR_SEND },
		{ .wr_id = 3, .opcode = IBV_WR_SEND },
	};
	struct ibv_send_wr *bad = NULL;

	fake_fail(FAKE_post_send, 2, EIO);
	cr_assert_eq(ibv_post_send(t.qp[0], wr, &bad), EIO);
	cr_assert_eq(bad, &wr[1]);
	cr_assert_str_eq(fake_failed_call(), "post_send");
	cr_assert_eq(post_recv(1, 7, 100, 64), 0);
	expect(1, 7, IBV_WC_SUCCESS);
}

Test(fake_qp, overrun_completion_queue_is_a_problem)
{
	rcm_sys->destroy_qp(t.qp[0]);
	rcm_sys->destroy_cq(t.cq[0]);
	t.cq[0] = rcm_sys->create_cq(t.ctx, 1, NULL, NULL, 0);
	t.qp[0] = make_qp(t.cq[0]);
	cr_assert_eq(qp_to(t.qp[0], IBV_QPS_ERR, 0), 0);
	cr_assert_eq(post_recv(0, 1, 100, 64), 0);
	cr_assert_eq(fake_problems(false), 0);
	cr_assert_eq(post_recv(0, 2, 100, 64), 0);
	cr_assert_eq(fake_problems(false), 1);
	fake_forget_problems();
}

Test(fake_qp, armed_queue_makes_its_channel_readable_once)
{
	struct pollfd pfd = { t.channel->fd, POLLIN, 0 };
	struct ibv_cq *cq;
	void *context;

	cr_assert_eq(ibv_req_notify_cq(t.cq[1], 0), 0);
	cr_assert_eq(poll(&pfd, 1, 0), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(post_recv(1, 7, 100, 64), 0);
		cr_assert_eq(post_send(0, 3, 0, 8, 0), 0);
	}
	cr_assert_eq(poll(&pfd, 1, 0), 1);
	cr_assert_eq(rcm_sys->get_cq_event(t.channel, &cq, &context), 0);
	cr_assert_eq(cq, t.cq[1]);
	cr_assert_eq(context, &t);
	rcm_sys->ack_cq_events(cq, 1);
	cr_assert_eq(rcm_sys->get_cq_event(t.channel, &cq, &context), -EAGAIN);
	cr_assert_eq(poll(&pfd, 1, 0), 0);
}

Test(fake_qp, held_wire_keeps_messages_back)
{
	fake_hold_wire(true);
	cr_assert_eq(post_recv(1, 7, 100, 64), 0);
	cr_assert_eq(post_send(0, 3, 0, 8, 0), 0);
	cr_assert_eq(fake_cq_fill(t.cq[1]), 0);
	fake_hold_wire(false);
	expect(1, 7, IBV_WC_SUCCESS);
}

Test(fake_qp, retries_end_when_the_peer_is_gone)
{
	cr_assert_eq(qp_to(t.qp[1], IBV_QPS_ERR, 0), 0);
	cr_assert_eq(post_send(0, 3, 0, 8, 0), 0);
	cr_assert_eq(post_send(0, 4, 0, 8, 0), 0);
	cr_assert_eq(fake_cq_fill(t.cq[0]), 0);
	fake_time_passes();
	expect(0, 3, IBV_WC_RETRY_EXC_ERR);
	expect(0, 4, IBV_WC_WR_FLUSH_ERR);
}

Test(fake_qp, async_event_names_its_queue_pair)
{
	struct ibv_async_event ev;

	fcntl(t.ctx->async_fd, F_SETFL, O_NONBLOCK);
	cr_assert_eq(rcm_sys->get_async_event(t.ctx, &ev), -EAGAIN);
	fake_inject_qp_event(t.qp[0], IBV_EVENT_QP_FATAL);
	cr_assert_eq(rcm_sys->get_async_event(t.ctx, &ev), 0);
	cr_assert_eq(ev.event_type, IBV_EVENT_QP_FATAL);
	cr_assert_eq(ev.element.qp, t.qp[0]);
	rcm_sys->ack_async_event(&ev);
	/* dropped with its queue pair */
	fake_inject_qp_event(t.qp[0], IBV_EVENT_QP_FATAL);
	rcm_sys->destroy_qp(t.qp[0]);
	t.qp[0] = NULL;
	cr_assert_eq(rcm_sys->get_async_event(t.ctx, &ev), -EAGAIN);
}

Test(fake_raw, blocking_call_without_an_event_is_a_problem)
{
	struct ibv_async_event ev;

	cr_assert_eq(rcm_sys->get_async_event(t.ctx, &ev), -EAGAIN);
	cr_assert_eq(fake_problems(false), 1);
	fake_forget_problems();
}

Test(fake_raw, object_in_use_is_not_freed)
{
	cr_assert_eq(rcm_sys->dealloc_pd(t.pd), -EBUSY);
	cr_assert_eq(rcm_sys->destroy_cq(t.cq[0]), -EBUSY);
	cr_assert_eq(rcm_sys->destroy_comp_channel(t.channel), -EBUSY);
	cr_assert_eq(rcm_sys->close_device(t.ctx), -EBUSY);
	cr_assert_eq(fake_problems(false), 4);
	fake_forget_problems();
}

Test(fake_raw, limits_of_the_device_hold)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = t.cq[0],
		.recv_cq = t.cq[0],
		.cap = { .max_send_wr = 16385 },
		.qp_type = IBV_QPT_RC,
	};

	cr_assert_null(rcm_sys->create_qp(t.pd, &attr));
	cr_assert_eq(errno, EINVAL);
	cr_assert_null(rcm_sys->create_cq(t.ctx, 32768, NULL, NULL, 0));
	cr_assert_null(rcm_sys->create_cq(t.ctx, 1, NULL, NULL, 2));
}

Test(fake_raw, planned_call_fails_and_no_other)
{
	struct ibv_pd *pd;

	fake_fail(FAKE_alloc_pd, 2, EMFILE);
	pd = rcm_sys->alloc_pd(t.ctx);
	cr_assert_not_null(pd);
	rcm_sys->dealloc_pd(pd);
	cr_assert_null(rcm_sys->alloc_pd(t.ctx));
	cr_assert_eq(errno, EMFILE);
	pd = rcm_sys->alloc_pd(t.ctx);
	cr_assert_not_null(pd);
	fake_fail_any(1, EIO);
	cr_assert_eq(rcm_sys->dealloc_pd(pd), -EIO);
}

Test(fake_dev, list_follows_the_machine, .init = fake_install)
{
	static const struct fake_dev_conf conf[] = {
		{ .name = "a", .addrs = { "10.1.0.1" } },
		{ .name = "b", .addrs = { "10.2.0.1", "fe80::2" } },
	};
	struct ibv_gid_entry gid[8];
	struct ibv_device **list;
	struct ifaddrs *ifa;
	int n;

	fake_set_devs(conf, 2);
	list = rcm_sys->get_device_list(&n);
	cr_assert_eq(n, 2);
	cr_assert_str_eq(rcm_sys->get_device_name(list[1]), "b");
	t.ctx = rcm_sys->open_device(list[1]);
	cr_assert_eq(rcm_sys->query_gid_table(t.ctx, gid, 8), 3);
	cr_assert_eq(gid[1].gid.raw[15], 1);
	cr_assert_eq(gid[1].gid.raw[12], 10);
	cr_assert_eq(rcm_sys->get_ifaddrs(&ifa), 0);
	cr_assert_eq(fake_leaks(false), 3);
	rcm_sys->free_ifaddrs(ifa);
	rcm_sys->free_device_list(list);
	rcm_sys->close_device(t.ctx);
	cr_assert_eq(fake_remove(), 0);
}

Test(fake_dev, stale_completions_survive_their_queue_pair)
{
	static const struct fake_dev_conf conf = { .name = "fake0",
						   .stale_cqes = true,
						   .addrs = { "10.77.0.1" } };

	set_up_devs(&conf);
	for (int i = 0; i < 2; i++)
		t.qp[i] = make_qp(t.cq[i]);
	join_qps();
	cr_assert_eq(post_recv(1, 7, 100, 64), 0);
	cr_assert_eq(post_send(0, 3, 0, 8, IBV_SEND_SIGNALED), 0);
	rcm_sys->destroy_qp(t.qp[1]);
	t.qp[1] = NULL;
	cr_assert_eq(poll_one(1).wr_id, 7);
	tear_down();
}

Test(fake_dev, lagging_flush_shows_after_some_polls)
{
	static const struct fake_dev_conf conf = { .name = "fake0",
						   .flush_lag = true,
						   .addrs = { "10.77.0.1" } };
	struct ibv_wc wc;
	int polls = 0;

	set_up_devs(&conf);
	for (int i = 0; i < 2; i++)
		t.qp[i] = make_qp(t.cq[i]);
	join_qps();
	cr_assert_eq(post_recv(0, 7, 100, 64), 0);
	cr_assert_eq(qp_to(t.qp[0], IBV_QPS_ERR, 0), 0);
	while (!ibv_poll_cq(t.cq[0], 1, &wc))
		cr_assert(++polls < 10);
	cr_assert(polls > 0);
	tear_down();
}
