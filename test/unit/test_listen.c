/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "cm_drive.h"

static struct rcm_conn *good_request(void)
{
	uint8_t none[RCM_WIRE_MAX] = { 0 };

	return request(none, sizeof(none));
}

static void turn_away(struct rcm_conn *conn)
{
	rcm_conn_close(conn);
	rcm_conn_free(conn, NULL);
}

Test(listen, bind_listen_and_close_make_their_calls)
{
	struct rcm_listener l = { .connreq = on_connreq };
	union rcm_addr addr = address("1", 7471), got;

	drive_start();
	cr_expect_eq(rcm_listener_addr(&l, &got), -FI_EOPBADSTATE);
	cr_expect_eq(rcm_listener_listen(&l, 5), -FI_EOPBADSTATE);
	cr_expect_eq(rcm_listener_bind(&l, &chan, &addr), 0);
	cr_expect_eq(rcm_listener_bind(&l, &chan, &addr), -FI_EOPBADSTATE);
	cr_expect_eq(rcm_listener_addr(&l, &got), 0);
	cr_expect_eq(rcm_addr_port(&got), 7471);
	cr_expect_eq(rcm_listener_listen(&l, 5), 0);
	cr_expect_eq(rcm_listener_listen(&l, 5), -FI_EOPBADSTATE);
	rcm_listener_close(&l, NULL);
	rcm_listener_close(&l, NULL);
	sc_expect_log("create_id bind_addr listen destroy_id", "all");
	cr_expect_eq(rcm_listener_bind(&l, &chan, &addr), 0);
	rcm_listener_close(&l, NULL);
	cr_expect_eq(sc.ids, 0);
}

Test(listen, failed_bind_leaves_nothing_and_may_be_repeated)
{
	struct rcm_listener l = { .connreq = on_connreq };
	union rcm_addr addr = address("1", 7471);
	int n;

	for (n = 1; n <= 2; n++) {
		drive_start();
		sc.fail_call = n;
		sc.fail_err = -FI_EADDRINUSE;
		cr_expect_eq(rcm_listener_bind(&l, &chan, &addr),
			     -FI_EADDRINUSE);
		cr_expect_eq(sc.ids, 0);
		cr_expect(!l.bound);
		cr_expect_eq(rcm_listener_bind(&l, &chan, &addr), 0);
		sc.fail_call = sc.calls + 1;
		cr_expect_eq(rcm_listener_listen(&l, 1), -FI_EADDRINUSE);
		cr_expect_eq(rcm_listener_listen(&l, 1), 0);
		rcm_listener_close(&l, NULL);
		cr_expect_eq(sc.ids, 0);
	}
}

Test(listen, request_becomes_a_connection_with_what_it_offers)
{
	struct rcm_conn *conn;

	drive_start();
	conn = good_request();
	cr_assert_not_null(conn);
	cr_expect_eq(conn->state, RCM_ST_REQ_RCVD);
	cr_expect_eq(conn->id->context, conn);
	cr_expect_eq(conn->chan, &chan);
	cr_expect_eq(conn->peer_responder_resources, 4);
	cr_expect_eq(conn->peer_initiator_depth, 3);
	end(conn);
}

/* D24 of verbs: the count byte of a peer is believed there */
Test(listen, malformed_request_is_rejected_and_the_next_one_served)
{
	unsigned int count;
	struct rcm_conn *conn;

	drive_start();
	for (count = 56; count < 256; count++) {
		uint8_t field[RCM_WIRE_MAX] = { (uint8_t)count };

		cr_expect_null(request(field, sizeof(field)));
		cr_expect_eq(acceptor.last_err, FI_EINVAL);
		/* an answer that libfabric understands */
		cr_expect_eq(sc.data_len, 1);
		cr_expect_eq(sc.data[0], 0);
	}
	cr_expect_eq(acceptor.refused, 200);
	conn = good_request();
	cr_assert_not_null(conn);
	end(conn);
}

Test(listen, short_request_is_measured_by_what_arrived)
{
	uint8_t field[] = { 5, 1, 2, 3, 4 };
	struct rcm_conn *conn;

	drive_start();
	cr_expect_null(request(field, sizeof(field)));
	field[0] = 4;
	conn = request(field, sizeof(field));
	cr_assert_not_null(conn);
	cr_expect_eq(conn->peer_wire.len, 4);
	end(conn);
}

/* rc 6f8e0056e: many requests before the first answer */
Test(listen, many_requests_are_independent)
{
	struct rcm_conn *conns[128];
	int i;

	drive_start();
	for (i = 0; i < 128; i++) {
		conns[i] = good_request();
		cr_assert_not_null(conns[i]);
	}
	for (i = 127; i > 0; i--)
		turn_away(conns[i]);
	cr_expect_eq(conns[0]->state, RCM_ST_REQ_RCVD);
	end(conns[0]);
}

static void refuse_at_once(struct rcm_listener *l, struct rcm_conn *conn,
			   int err)
{
	cr_assert_eq(l, &acceptor.l);
	cr_assert_eq(err, 0);
	cr_assert_eq(rcm_conn_reject(conn, NULL, 0), 0);
	turn_away(conn);
	acceptor.requests++;
}

Test(listen, request_may_be_ended_inside_the_call)
{
	drive_start();
	turn_away(good_request());
	acceptor.l.connreq = refuse_at_once;
	(void)good_request();
	(void)good_request();
	cr_expect_eq(acceptor.requests, 3);
	rcm_listener_close(&acceptor.l, NULL);
	cr_expect_eq(sc.ids, 0);
}

Test(listen, request_that_comes_during_close_is_refused_silently)
{
	uint8_t none[RCM_WIRE_MAX] = { 0 };
	struct rcm_chan_event ev = {
		.type = RDMA_CM_EVENT_CONNECT_REQUEST,
		.context = &acceptor.l,
		.data_len = sizeof(none),
	};

	drive_start();
	turn_away(good_request());
	acceptor.requests = 0;
	rcm_listener_close(&acceptor.l, NULL);
	cr_assert_eq(sc_create_id(&sc.ec, &ev.id, NULL), 0);
	ev.id->verbs = &sc_ctx[0];
	rcm_conn_dispatch(&ev);
	cr_expect_eq(acceptor.requests, 0);
	cr_expect_eq(sc.ids, 0);
	/* and one of a listener whose id the library kept */
	cr_assert_eq(sc_create_id(&sc.ec, &ev.id, NULL), 0);
	ev.id->verbs = &sc_ctx[0];
	ev.context = NULL;
	rcm_conn_dispatch(&ev);
	cr_expect_eq(sc.ids, 0);
}

Test(listen, device_removal_is_told_and_other_events_are_not)
{
	struct rcm_chan_event ev = { .context = &acceptor.l };
	int type;

	drive_start();
	turn_away(good_request());
	for (type = 0; type < 40; type++) {
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST ||
		    type == RDMA_CM_EVENT_DEVICE_REMOVAL)
			continue;
		ev.type = type;
		rcm_conn_dispatch(&ev);
	}
	cr_expect_eq(acceptor.failed, 0);
	ev.type = RDMA_CM_EVENT_DEVICE_REMOVAL;
	rcm_conn_dispatch(&ev);
	cr_expect_eq(acceptor.failed, 1);
	cr_expect_eq(acceptor.failed_err, FI_ENODEV);
	cr_expect_eq(acceptor.failed_prov, -FI_ENODEV);
	rcm_listener_close(&acceptor.l, NULL);
	rcm_conn_dispatch(&ev);
	cr_expect_eq(acceptor.failed, 1);
}

Test(listen, listener_whose_id_cannot_be_destroyed_is_named_by_nobody)
{
	struct rdma_cm_id *id;
	struct rcm_lock lock;

	drive_start();
	rcm_lock_init(&lock, RCM_RANK_EQ, true);
	turn_away(good_request());
	id = acceptor.l.id;
	sc_reset_log();
	sc.fail_call = 1;
	sc.fail_err = -FI_EBADF;
	rcm_listener_close(&acceptor.l, &lock);
	cr_expect_null(id->context);
	cr_expect_null(acceptor.l.id);
	sc.fail_call = 0;
	cr_expect_eq(sc_destroy_id(id), 0);
	rcm_lock_fini(&lock);
}
