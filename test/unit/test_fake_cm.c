/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * The fake connection manager against itself: the order of events, and what
 * they carry, as measured on soft-RoCE with ids that have no queue pair.
 */

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "fake.h"
#include "rcm_sys.h"

static struct {
	struct rdma_event_channel *ch[2]; /* 0: active, 1: passive */
	struct rdma_cm_id *listener, *active, *passive;
	struct sockaddr_in addr;
	char data[256]; /* private data of the last event */
	uint8_t data_len;
	int status;
} t;

static void set_up(void)
{
	fake_install();
	memset(&t, 0, sizeof(t));
	for (int i = 0; i < 2; i++) {
		t.ch[i] = rcm_sys->create_event_channel();
		fcntl(t.ch[i]->fd, F_SETFL, O_NONBLOCK);
	}
	t.addr.sin_family = AF_INET;
	t.addr.sin_port = htons(7471);
	inet_pton(AF_INET, "10.77.0.1", &t.addr.sin_addr);
	rcm_sys->create_id(t.ch[1], &t.listener, &t);
	rcm_sys->create_id(t.ch[0], &t.active, NULL);
}

static void tear_down(void)
{
	if (t.passive)
		rcm_sys->destroy_id(t.passive);
	if (t.active)
		rcm_sys->destroy_id(t.active);
	if (t.listener)
		rcm_sys->destroy_id(t.listener);
	for (int i = 0; i < 2; i++)
		rcm_sys->destroy_event_channel(t.ch[i]);
	if (fake_remove())
		abort();
}

TestSuite(fake_cm, .init = set_up, .fini = tear_down);

/* The next event of a side must be TYPE; gives its id. */
static struct rdma_cm_id *expect(int side, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	cr_assert_eq(rcm_sys->get_cm_event(t.ch[side], &ev), 0);
	cr_assert_eq(ev->event, type, "got event %d", ev->event);
	id = ev->id;
	t.status = ev->status;
	t.data_len = ev->param.conn.private_data_len;
	if (t.data_len)
		memcpy(t.data, ev->param.conn.private_data, t.data_len);
	cr_assert_eq(rcm_sys->ack_cm_event(ev), 0);
	return id;
}

static void expect_none(int side)
{
	struct rdma_cm_event *ev;

	cr_assert_eq(rcm_sys->get_cm_event(t.ch[side], &ev), -EAGAIN);
}

static void do_listen(void)
{
	cr_assert_eq(rcm_sys->bind_addr(t.listener, (struct sockaddr *)&t.addr),
		     0);
	cr_assert_eq(rcm_sys->listen(t.listener, 2), 0);
}

static void resolve(struct rdma_cm_id *id)
{
	cr_assert_eq(rcm_sys->resolve_addr(id, NULL, (struct sockaddr *)&t.addr,
					   100),
		     0);
	expect(0, RDMA_CM_EVENT_ADDR_RESOLVED);
	cr_assert_eq(rcm_sys->resolve_route(id, 100), 0);
	expect(0, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int do_connect(struct rdma_cm_id *id, const char *data, uint8_t len)
{
	struct rdma_conn_param param = { .private_data = data,
					 .private_data_len = len,
					 .responder_resources = 3,
					 .initiator_depth = 5,
					 .retry_count = 7,
					 .rnr_retry_count = 6,
					 .qp_num = 0x99 };

	return rcm_sys->connect(id, &param);
}

static void request(void)
{
	do_listen();
	resolve(t.active);
	cr_assert_eq(do_connect(t.active, "hello", 5), 0);
	t.passive = expect(1, RDMA_CM_EVENT_CONNECT_REQUEST);
}

static void establish(void)
{
	struct rdma_conn_param param = { .private_data = "reply",
					 .private_data_len = 5,
					 .qp_num = 0x88 };

	request();
	cr_assert_eq(rcm_sys->accept(t.passive, &param), 0);
	expect(0, RDMA_CM_EVENT_CONNECT_RESPONSE);
	cr_assert_eq(rcm_sys->establish(t.active), 0);
	expect(1, RDMA_CM_EVENT_ESTABLISHED);
}

Test(fake_cm, handshake_without_queue_pairs_on_the_ids)
{
	struct rdma_conn_param param = { .private_data = "reply",
					 .private_data_len = 5,
					 .qp_num = 0x88 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	int mask;

	request();
	cr_assert_eq(t.data_len, 56);
	cr_assert_arr_eq(t.data, "hello\0\0", 7);
	cr_assert_eq(t.passive->context, &t);
	cr_assert_not_null(t.passive->verbs);
	cr_assert_eq(rcm_sys->init_qp_attr(t.passive, &attr, &mask), 0);
	cr_assert_eq(attr.dest_qp_num, 0x99);
	cr_assert_eq(attr.min_rnr_timer, 0);
	cr_assert(mask & IBV_QP_MIN_RNR_TIMER);

	attr.qp_state = IBV_QPS_RTR;
	cr_assert_eq(rcm_sys->init_qp_attr(t.active, &attr, &mask), -EINVAL);
	cr_assert_eq(rcm_sys->accept(t.passive, &param), 0);
	expect_none(1);
	expect(0, RDMA_CM_EVENT_CONNECT_RESPONSE);
	cr_assert_eq(t.data_len, 196);
	cr_assert_arr_eq(t.data, "reply\0\0", 7);
	attr.qp_state = IBV_QPS_RTR;
	cr_assert_eq(rcm_sys->init_qp_attr(t.active, &attr, &mask), 0);
	cr_assert_eq(attr.dest_qp_num, 0x88);

	cr_assert_eq(rcm_sys->establish(t.active), 0);
	expect_none(0);
	cr_assert_eq(expect(1, RDMA_CM_EVENT_ESTABLISHED), t.passive);
}

Test(fake_cm, peers_disconnect_one_after_the_other)
{
	establish();
	cr_assert_eq(rcm_sys->disconnect(t.active), 0);
	expect_none(0);
	expect(1, RDMA_CM_EVENT_DISCONNECTED);
	cr_assert_eq(rcm_sys->disconnect(t.passive), 0);
	expect_none(1);
	expect(0, RDMA_CM_EVENT_DISCONNECTED);
	cr_assert_eq(rcm_sys->disconnect(t.active), 0);
	fake_time_passes();
	expect(0, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	expect(1, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	expect_none(0);
}

Test(fake_cm, destroying_a_connected_id_tells_the_peer)
{
	establish();
	cr_assert_eq(rcm_sys->destroy_id(t.active), 0);
	t.active = NULL;
	expect(1, RDMA_CM_EVENT_DISCONNECTED);
	cr_assert_eq(rcm_sys->disconnect(t.passive), 0);
	expect_none(0);
}

Test(fake_cm, destroying_a_request_rejects_it)
{
	request();
	cr_assert_eq(rcm_sys->destroy_id(t.passive), 0);
	t.passive = NULL;
	expect(0, RDMA_CM_EVENT_REJECTED);
	cr_assert_eq(t.status, 28);
}

Test(fake_cm, listener_takes_its_untaken_requests_along)
{
	do_listen();
	resolve(t.active);
	cr_assert_eq(do_connect(t.active, NULL, 0), 0);
	cr_assert_eq(rcm_sys->destroy_id(t.listener), 0);
	t.listener = NULL;
	expect_none(1);
	expect(0, RDMA_CM_EVENT_REJECTED);
}

Test(fake_cm, caller_that_gives_up_rejects_at_the_callee)
{
	do_listen();
	resolve(t.active);
	cr_assert_eq(do_connect(t.active, NULL, 0), 0);
	cr_assert_eq(rcm_sys->destroy_id(t.active), 0);
	t.active = NULL;
	t.passive = expect(1, RDMA_CM_EVENT_CONNECT_REQUEST);
	cr_assert_eq(expect(1, RDMA_CM_EVENT_REJECTED), t.passive);
	cr_assert_eq(t.status, 4);
}

Test(fake_cm, reject_carries_its_data)
{
	request();
	cr_assert_eq(rcm_sys->reject(t.passive, "no", 2), 0);
	expect(0, RDMA_CM_EVENT_REJECTED);
	cr_assert_eq(t.status, 28);
	cr_assert_eq(t.data_len, 148);
	cr_assert_arr_eq(t.data, "no\0", 3);
}

Test(fake_cm, port_without_a_listener_rejects)
{
	resolve(t.active);
	cr_assert_eq(do_connect(t.active, NULL, 0), 0);
	expect(0, RDMA_CM_EVENT_REJECTED);
	cr_assert_eq(t.status, 8);
	cr_assert_eq(t.data_len, 0);
}

Test(fake_cm, private_data_beyond_the_message_is_refused)
{
	static const char data[57];

	do_listen();
	resolve(t.active);
	cr_assert_eq(do_connect(t.active, data, 57), -EINVAL);
	cr_assert_eq(do_connect(t.active, data, 56), 0);
}

Test(fake_cm, address_that_nobody_owns_is_an_error)
{
	inet_pton(AF_INET, "10.77.0.9", &t.addr.sin_addr);
	cr_assert_eq(rcm_sys->resolve_addr(t.active, NULL,
					   (struct sockaddr *)&t.addr, 100),
		     0);
	expect(0, RDMA_CM_EVENT_ADDR_ERROR);
	cr_assert_eq(t.status, -ETIMEDOUT);
}

Test(fake_cm, silent_peer_is_unreachable_in_the_end)
{
	do_listen();
	resolve(t.active);
	fake_silent_peers(true);
	cr_assert_eq(do_connect(t.active, NULL, 0), 0);
	expect_none(0);
	fake_time_passes();
	expect(0, RDMA_CM_EVENT_UNREACHABLE);
}

Test(fake_cm, ports_are_given_out_and_guarded)
{
	struct sockaddr_in *local;
	struct rdma_cm_id *other;

	do_listen();
	cr_assert_eq(rcm_sys->create_id(t.ch[1], &other, NULL), 0);
	cr_assert_eq(rcm_sys->bind_addr(other, (struct sockaddr *)&t.addr),
		     -EADDRINUSE);
	t.addr.sin_port = 0;
	cr_assert_eq(rcm_sys->bind_addr(other, (struct sockaddr *)&t.addr), 0);
	local = (struct sockaddr_in *)rcm_sys->local_addr(other);
	cr_assert_neq(local->sin_port, 0);
	inet_pton(AF_INET, "10.78.0.1", &t.addr.sin_addr);
	cr_assert_eq(rcm_sys->bind_addr(t.active, (struct sockaddr *)&t.addr),
		     -EADDRNOTAVAIL);
	rcm_sys->destroy_id(other);
}

Test(fake_cm, requests_beyond_the_backlog_are_lost)
{
	struct rdma_cm_id *more[3];

	do_listen();
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(rcm_sys->create_id(t.ch[0], &more[i], NULL), 0);
		resolve(more[i]);
		cr_assert_eq(do_connect(more[i], NULL, 0), 0);
	}
	for (int i = 0; i < 2; i++)
		rcm_sys->destroy_id(expect(1, RDMA_CM_EVENT_CONNECT_REQUEST));
	expect_none(1);
	for (int i = 0; i < 3; i++)
		rcm_sys->destroy_id(more[i]);
}

Test(fake_cm, calls_in_a_wrong_state_are_refused)
{
	cr_assert_eq(rcm_sys->listen(t.listener, 1), -EINVAL);
	cr_assert_eq(rcm_sys->resolve_route(t.active, 100), -EINVAL);
	cr_assert_eq(do_connect(t.active, NULL, 0), -EINVAL);
	cr_assert_eq(rcm_sys->establish(t.active), -EINVAL);
	cr_assert_eq(rcm_sys->disconnect(t.active), -EINVAL);
	cr_assert_eq(rcm_sys->reject(t.active, NULL, 0), -EINVAL);
}

Test(fake_cm, notify_establishes_the_passive_side)
{
	struct rdma_conn_param param = { .qp_num = 0x88 };

	request();
	cr_assert_eq(rcm_sys->notify(t.passive, IBV_EVENT_COMM_EST), -EINVAL);
	cr_assert_eq(rcm_sys->accept(t.passive, &param), 0);
	cr_assert_eq(rcm_sys->notify(t.passive, IBV_EVENT_COMM_EST), 0);
	expect(1, RDMA_CM_EVENT_ESTABLISHED);
	expect(0, RDMA_CM_EVENT_CONNECT_RESPONSE);
	cr_assert_eq(rcm_sys->establish(t.active), 0);
	expect_none(1);
}

Test(fake_cm, events_move_with_their_id)
{
	cr_assert_eq(rcm_sys->resolve_addr(t.active, NULL,
					   (struct sockaddr *)&t.addr, 100),
		     0);
	cr_assert_eq(rcm_sys->migrate_id(t.active, t.ch[1]), 0);
	expect_none(0);
	cr_assert_eq(expect(1, RDMA_CM_EVENT_ADDR_RESOLVED), t.active);
}

Test(fake_cm, events_go_with_their_id)
{
	struct pollfd pfd = { t.ch[0]->fd, POLLIN, 0 };

	fake_inject_cm_event(t.active, 15, -5);
	cr_assert_eq(poll(&pfd, 1, 0), 1);
	rcm_sys->destroy_id(t.active);
	t.active = NULL;
	cr_assert_eq(poll(&pfd, 1, 0), 0);
	expect_none(0);
}

Test(fake_cm, destroying_with_an_event_in_hand_is_a_problem)
{
	struct rdma_cm_event *ev;

	fake_inject_cm_event(t.active, 200, -5);
	cr_assert_eq(rcm_sys->get_cm_event(t.ch[0], &ev), 0);
	cr_assert_eq((int)ev->event, 200);
	rcm_sys->destroy_id(t.active);
	t.active = NULL;
	cr_assert_eq(fake_problems(false), 1);
	fake_forget_problems();
	rcm_sys->ack_cm_event(ev);
}

Test(fake_cm, dropped_events_do_not_arrive)
{
	fake_drop_cm_events(RDMA_CM_EVENT_ADDR_RESOLVED, 1);
	cr_assert_eq(rcm_sys->resolve_addr(t.active, NULL,
					   (struct sockaddr *)&t.addr, 100),
		     0);
	expect_none(0);
}
