/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* What the rows alone do not say about connections. */

#include "cm_drive.h"

static uint8_t pattern[RCM_CM_DATA_MAX + 1];

static void fill_pattern(void)
{
	size_t i;

	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(100 + i);
}

static void expect_sent(size_t len)
{
	cr_expect_eq(sc.data_len, len + 1);
	cr_expect_eq(sc.data[0], len);
	cr_expect_eq(memcmp(sc.data + 1, pattern, len), 0);
}

/* the peer's field: count, data, and zeros to the area's end */
static size_t peer_field(uint8_t *field, size_t area, size_t len)
{
	memset(field, 0, area);
	field[0] = (uint8_t)len;
	memcpy(field + 1, pattern, len);
	return area;
}

static void expect_got(size_t len)
{
	cr_expect_eq(user.n_reports, 1);
	cr_expect_eq(user.reports[0].len, len);
	cr_expect_eq(memcmp(user.data[0], pattern, len), 0);
}

Test(conn, connect_data_goes_out_exactly)
{
	union rcm_addr dst = address("1", 7471);
	size_t n;

	fill_pattern();
	for (n = 0; n <= RCM_CM_DATA_MAX; n++) {
		struct rcm_conn *conn = at(RCM_ST_READY);

		cr_assert_eq(rcm_conn_connect(conn, &dst, pattern, n), 0);
		event(conn, RDMA_CM_EVENT_ADDR_RESOLVED);
		event(conn, RDMA_CM_EVENT_ROUTE_RESOLVED);
		expect_sent(n);
		end(conn);
	}
}

Test(conn, accept_and_reject_data_go_out_exactly)
{
	size_t n;

	fill_pattern();
	for (n = 0; n <= RCM_CM_DATA_MAX; n++) {
		struct rcm_conn *conn = at(RCM_ST_REQ_READY);

		cr_assert_eq(rcm_conn_accept(conn, pattern, n), 0);
		expect_sent(n);
		end(conn);
		conn = at(RCM_ST_REQ_RCVD);
		cr_assert_eq(rcm_conn_reject(conn, pattern, n), 0);
		expect_sent(n);
		end(conn);
	}
}

Test(conn, data_of_answer_request_and_reject_comes_in_exactly)
{
	uint8_t field[196];
	size_t n, len;

	fill_pattern();
	for (n = 0; n <= RCM_CM_DATA_MAX; n++) {
		struct rcm_conn *conn = at(RCM_ST_REQ_SENT);

		len = peer_field(field, 196, n);
		event_status_data(conn, RDMA_CM_EVENT_CONNECT_RESPONSE, 0,
				  field, len);
		expect_got(n);
		end(conn);
		conn = at(RCM_ST_REQ_SENT);
		len = peer_field(field, 148, n);
		event_status_data(conn, RDMA_CM_EVENT_REJECTED, 28, field, len);
		expect_got(n);
		cr_expect_eq(user.reports[0].what, RCM_REP_REFUSED);
		cr_expect_eq(user.reports[0].err, FI_ECONNREFUSED);
		cr_expect_eq(user.reports[0].prov_errno, 28);
		end(conn);
		drive_start();
		conn = request(field, peer_field(field, RCM_WIRE_MAX, n));
		cr_expect_eq(conn->peer_wire.len, n);
		cr_expect_eq(memcmp(conn->peer_wire.data, pattern, n), 0);
		end(conn);
	}
}

/* LF A22: a failed accept with too much data, then the right one */
Test(conn, wrong_data_is_refused_before_anything_happens)
{
	struct rcm_conn *conn = at(RCM_ST_REQ_READY);
	union rcm_addr dst = address("1", 7471), none = { .sa = { 0 } };

	cr_expect_eq(rcm_conn_accept(conn, pattern, 56), -FI_EINVAL);
	cr_expect_eq(rcm_conn_accept(conn, NULL, 8), -FI_EINVAL);
	cr_expect_eq(rcm_conn_reject(conn, pattern, 56), -FI_EINVAL);
	cr_expect_eq(conn->state, RCM_ST_REQ_READY);
	sc_expect_log("", "too much data");
	cr_expect_eq(rcm_conn_accept(conn, pattern, 55), 0);
	end(conn);
	conn = at(RCM_ST_READY);
	cr_expect_eq(rcm_conn_connect(conn, &dst, pattern, 56), -FI_EINVAL);
	cr_expect_eq(rcm_conn_connect(conn, &dst, NULL, 1), -FI_EINVAL);
	cr_expect_eq(rcm_conn_connect(conn, &none, NULL, 0), -FI_EINVAL);
	cr_expect_eq(rcm_conn_connect(conn, NULL, NULL, 0), -FI_EINVAL);
	cr_expect_eq(conn->state, RCM_ST_READY);
	end(conn);
}

Test(conn, second_connect_leaves_data_and_address_of_the_first)
{
	struct rcm_conn *conn = at(RCM_ST_READY);
	union rcm_addr dst = address("1", 7471), other = address("3", 1);

	fill_pattern();
	cr_assert_eq(rcm_conn_connect(conn, &dst, pattern, 20), 0);
	cr_expect_eq(rcm_conn_connect(conn, &other, "x", 1), -FI_EALREADY);
	cr_expect_eq(rcm_addr_port(&conn->dst), 7471);
	event(conn, RDMA_CM_EVENT_ADDR_RESOLVED);
	event(conn, RDMA_CM_EVENT_ROUTE_RESOLVED);
	expect_sent(20);
	end(conn);
}

Test(conn, malformed_answer_is_rejected_and_told_as_protocol_error)
{
	struct rcm_conn *conn = at(RCM_ST_REQ_SENT);
	uint8_t field[196] = { 56 };

	event_status_data(conn, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, field, 196);
	sc_expect_log("reject ERR", "malformed answer");
	expect_sent(0);
	cr_expect_eq(conn->state, RCM_ST_DOWN);
	cr_expect_eq(user.n_reports, 1);
	cr_expect_eq(user.reports[0].what, RCM_REP_ERROR);
	cr_expect_eq(user.reports[0].err, FI_ECONNABORTED);
	cr_expect_eq(user.reports[0].prov_errno, -EPROTO);
	cr_expect_eq(user.reports[0].len, 0);
	end(conn);
}

Test(conn, malformed_reject_is_a_refusal_without_data)
{
	struct rcm_conn *conn = at(RCM_ST_REQ_SENT);
	uint8_t field[148] = { 200 };

	event_status_data(conn, RDMA_CM_EVENT_REJECTED, 8, field, 148);
	cr_expect_eq(user.reports[0].what, RCM_REP_REFUSED);
	cr_expect_eq(user.reports[0].prov_errno, 8);
	cr_expect_eq(user.reports[0].len, 0);
	end(conn);
}

/* thunderbolt-ibverbs#71, SPDK#2429: no field is left to chance */
Test(conn, parameters_of_the_request_are_the_configured_ones)
{
	struct rcm_conn *conn = at(RCM_ST_ROUTE);

	conn->cfg.srq = true;
	event(conn, RDMA_CM_EVENT_ROUTE_RESOLVED);
	cr_expect_eq(sc.param.responder_resources, 16);
	cr_expect_eq(sc.param.initiator_depth, 8);
	cr_expect_eq(sc.param.flow_control, 1);
	cr_expect_eq(sc.param.retry_count, 5);
	cr_expect_eq(sc.param.rnr_retry_count, 6);
	cr_expect_eq(sc.param.srq, 1);
	cr_expect_eq(sc.param.qp_num, 0x11);
	end(conn);
}

Test(conn, accept_offers_no_more_than_the_request)
{
	struct rcm_conn *conn = at(RCM_ST_REQ_READY);

	cr_assert_eq(rcm_conn_accept(conn, NULL, 0), 0);
	cr_expect_eq(sc.param.responder_resources, 4);
	cr_expect_eq(sc.param.initiator_depth, 3);
	cr_expect_eq(sc.param.qp_num, 0x11);
	end(conn);
	conn = at(RCM_ST_REQ_READY);
	conn->cfg.responder_resources = 1;
	conn->cfg.initiator_depth = 2;
	cr_assert_eq(rcm_conn_accept(conn, NULL, 0), 0);
	cr_expect_eq(sc.param.responder_resources, 1);
	cr_expect_eq(sc.param.initiator_depth, 2);
	end(conn);
}

/* rdma_cm's own value for the minimal RNR timer is 655 ms */
Test(conn, queue_pair_is_moved_with_the_configured_limits)
{
	static const enum rcm_fsm_state before[] = { RCM_ST_REQ_SENT,
						     RCM_ST_REQ_READY };
	size_t i;

	for (i = 0; i < 2; i++) {
		struct rcm_conn *conn = at(before[i]);

		fire(conn, i ? RCM_EV_ACCEPT : RCM_EV_CONN_RESP);
		cr_expect_eq(sc.attr[IBV_QPS_INIT].port_num, 1);
		cr_expect_eq(sc.attr[IBV_QPS_RTR].min_rnr_timer, 12);
		cr_expect_eq(sc.attr[IBV_QPS_RTR].max_dest_rd_atomic, 16);
		cr_expect_eq(sc.attr[IBV_QPS_RTS].max_rd_atomic, 8);
		cr_expect(conn->pulls);
		cr_expect_eq(sc.attr[IBV_QPS_RTS].retry_cnt, 5);
		cr_expect_eq(sc.attr[IBV_QPS_RTS].rnr_retry, 6);
		cr_expect_eq(sc.attr[IBV_QPS_RTS].timeout, 14);
		cr_expect(sc.mask[IBV_QPS_RTR] & IBV_QP_MIN_RNR_TIMER);
		cr_expect(!(sc.mask[IBV_QPS_INIT] & IBV_QP_MIN_RNR_TIMER));
		end(conn);
	}
}

/* A device would keep a read for ever then; in either role. */
Test(conn, peer_that_grants_no_reads_is_known)
{
	static const enum rcm_fsm_state before[] = { RCM_ST_REQ_SENT,
						     RCM_ST_REQ_READY };

	for (size_t i = 0; i < 2; i++) {
		struct rcm_conn *conn = at(before[i]);

		sc.no_reads = true;
		fire(conn, i ? RCM_EV_ACCEPT : RCM_EV_CONN_RESP);
		cr_expect_eq(sc.attr[IBV_QPS_RTR].max_dest_rd_atomic, 0);
		cr_expect_eq(sc.attr[IBV_QPS_RTS].max_rd_atomic, 0);
		cr_expect(!conn->pulls);
		end(conn);
	}
}

Test(conn, queue_pair_grants_what_is_configured_and_no_more)
{
	static const int access[] = { 0, IBV_ACCESS_REMOTE_READ,
				      IBV_ACCESS_REMOTE_READ |
					      IBV_ACCESS_REMOTE_WRITE };

	for (size_t i = 0; i < RCM_ARRAY_SIZE(access); i++) {
		struct rcm_conn *conn = at(RCM_ST_REQ_SENT);

		conn->cfg.access = access[i];
		fire(conn, RCM_EV_CONN_RESP);
		cr_expect_eq(sc.attr[IBV_QPS_INIT].qp_access_flags,
			     (unsigned int)access[i]);
		end(conn);
	}
}

/* ydb-nbs#6928: before it connects, and not by moving the queue pair */
Test(conn, options_are_set_only_when_configured)
{
	struct rcm_conn *conn = at(RCM_ST_READY);

	fire(conn, RCM_EV_CONNECT);
	cr_expect_eq(sc.options, 17 << 8 | 96);
	end(conn);
	conn = at(RCM_ST_READY);
	conn->cfg.ack_timeout = 0;
	conn->cfg.tos = -1;
	fire(conn, RCM_EV_CONNECT);
	sc_expect_log("create_id resolve_addr", "no options");
	end(conn);
	conn = at(RCM_ST_READY);
	conn->cfg.tos = 0;
	fire(conn, RCM_EV_CONNECT);
	sc_expect_log("create_id ack_timeout tos resolve_addr", "tos 0");
	end(conn);
}

Test(conn, addresses_and_timeouts_are_the_ones_given)
{
	struct rcm_conn *conn = at(RCM_ST_READY);
	union rcm_addr dst = address("1", 7471), src = address("2", 0);

	cr_assert_eq(rcm_conn_connect(conn, &dst, NULL, 0), 0);
	cr_expect_eq(sc.src.ss_family, 0);
	cr_expect_eq(memcmp(&sc.dst, &dst, sizeof(dst.in)), 0);
	cr_expect_eq(sc.timeout, 1234);
	sc.timeout = 0;
	event(conn, RDMA_CM_EVENT_ADDR_RESOLVED);
	cr_expect_eq(sc.timeout, 1234);
	end(conn);
	conn = at(RCM_ST_READY);
	conn->src = src;
	cr_assert_eq(rcm_conn_connect(conn, &dst, NULL, 0), 0);
	cr_expect_eq(memcmp(&sc.src, &src, sizeof(src.in)), 0);
	end(conn);
}

/* the queue pair is on one device, the address leads to another */
Test(conn, way_through_another_device_is_an_error)
{
	struct rcm_conn *conn = at(RCM_ST_ADDR);

	sc.dev = 1;
	event(conn, RDMA_CM_EVENT_ADDR_RESOLVED);
	cr_expect_eq(conn->state, RCM_ST_DOWN);
	cr_expect_eq(user.reports[0].what, RCM_REP_ERROR);
	cr_expect_eq(user.reports[0].err, FI_EHOSTUNREACH);
	end(conn);
	conn = at(RCM_ST_ADDR);
	sc.dev = 1;
	conn->cfg.dev_name[0] = '\0';
	event(conn, RDMA_CM_EVENT_ADDR_RESOLVED);
	cr_expect_eq(conn->state, RCM_ST_ROUTE);
	end(conn);
}

Test(conn, request_through_another_device_cannot_be_enabled_but_rejected)
{
	struct rcm_conn *conn = at(RCM_ST_REQ_RCVD);

	conn->id->verbs = &sc_ctx[1];
	cr_expect_eq(rcm_conn_enable(conn), -FI_EINVAL);
	cr_expect_eq(conn->state, RCM_ST_REQ_RCVD);
	cr_expect_eq(rcm_conn_reject(conn, NULL, 0), 0);
	end(conn);
}

Test(conn, connect_without_an_event_queue_is_an_error)
{
	struct rcm_conn *conn = at(RCM_ST_READY);

	conn->chan = NULL;
	cr_expect_eq(fire(conn, RCM_EV_CONNECT), -FI_ENOEQ);
	end(conn);
}

/* a failed fi_connect may be tried again: its id is gone */
Test(conn, connect_after_a_failed_one_starts_afresh)
{
	struct rcm_conn *conn = at(RCM_ST_READY);

	sc.fail_call = 4;
	sc.fail_err = -FI_EADDRNOTAVAIL;
	cr_expect_eq(fire(conn, RCM_EV_CONNECT), -FI_EADDRNOTAVAIL);
	cr_expect_eq(sc.ids, 0);
	cr_expect_null(conn->id);
	sc_reset_log();
	cr_expect_eq(fire(conn, RCM_EV_CONNECT), 0);
	cr_expect_eq(conn->state, RCM_ST_ADDR);
	end(conn);
}

Test(conn, success_event_with_a_status_is_a_failure)
{
	struct rcm_conn *conn = at(RCM_ST_ADDR);

	event_status_data(conn, RDMA_CM_EVENT_ADDR_RESOLVED, -ENODEV, NULL, 0);
	cr_expect_eq(user.reports[0].what, RCM_REP_ERROR);
	cr_expect_eq(user.reports[0].err, FI_ENODEV);
	end(conn);
	conn = at(RCM_ST_REQ_SENT);
	event_status_data(conn, RDMA_CM_EVENT_CONNECT_RESPONSE, -ECONNRESET,
			  NULL, 0);
	cr_expect_eq(user.reports[0].err, FI_ECONNRESET);
	end(conn);
}

Test(conn, errors_of_events_have_the_kernels_cause)
{
	struct rcm_conn *conn = at(RCM_ST_ADDR);

	event_status_data(conn, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH, NULL,
			  0);
	cr_expect_eq(user.reports[0].err, FI_ENETUNREACH);
	cr_expect_eq(user.reports[0].prov_errno, -ENETUNREACH);
	end(conn);
	conn = at(RCM_ST_REQ_SENT);
	event_status_data(conn, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	cr_expect_eq(user.reports[0].err, FI_ETIMEDOUT);
	end(conn);
	conn = at(RCM_ST_ADDR);
	cr_expect_eq(rcm_conn_shutdown(conn), 0);
	cr_expect_eq(user.reports[0].err, FI_ECANCELED);
	end(conn);
	conn = at(RCM_ST_ACCEPTED);
	rcm_conn_qp_event(conn, RCM_EV_QP_ERR);
	cr_expect_eq(user.reports[0].err, FI_ECONNABORTED);
	end(conn);
}

/* MULTICAST_*, and what a later kernel may bring */
Test(conn, unknown_events_are_ignored)
{
	struct rcm_conn *conn = at(RCM_ST_CONNECTED);
	int type;

	event(conn, RDMA_CM_EVENT_MULTICAST_JOIN);
	event(conn, RDMA_CM_EVENT_MULTICAST_ERROR);
	event(conn, RDMA_CM_EVENT_CONNECT_REQUEST);
	for (type = RDMA_CM_EVENT_TIMEWAIT_EXIT + 1; type < 300; type++)
		event(conn, (enum rdma_cm_event_type)type);
	event(conn, (enum rdma_cm_event_type) - 1);
	rcm_conn_qp_event(conn, RCM_EV_CONNECT);
	cr_expect_eq(conn->state, RCM_ST_CONNECTED);
	cr_expect_eq(conn->late, 0);
	cr_expect_eq(user.n_reports, 0);
	end(conn);
}

/* the last word may have come, with its event unread, or come later */
Test(conn, connection_that_is_over_before_it_stands_is_ended_at_both_times)
{
	struct rcm_conn *conn = at(RCM_ST_ACCEPTED);

	sc.fail_call = 1;
	sc.fail_err = -FI_EINVAL;
	cr_expect_eq(rcm_conn_shutdown(conn), 0);
	sc_expect_log("disconnect ERR", "accepted");
	sc_reset_log();
	event(conn, RDMA_CM_EVENT_ESTABLISHED);
	sc_expect_log("disconnect", "established");
	cr_expect_eq(conn->state, RCM_ST_DOWN);
	end(conn);
}

Test(conn, end_before_adoption_is_kept_for_who_adopts)
{
	uint8_t none[RCM_WIRE_MAX] = { 0 };
	struct rcm_conn *conn;

	drive_start();
	conn = request(none, sizeof(none));
	cr_expect_eq(rcm_conn_enable(conn), -FI_EOPBADSTATE);
	event(conn, RDMA_CM_EVENT_DEVICE_REMOVAL);
	cr_expect_eq(conn->state, RCM_ST_DOWN);
	cr_expect_eq(rcm_conn_adopt(conn, &user_ops, &user), -FI_ENODEV);
	cr_expect_eq(rcm_conn_enable(conn), -FI_ENODEV);
	cr_expect_eq(rcm_conn_accept(conn, NULL, 0), -FI_ENODEV);
	cr_expect_eq(rcm_conn_reject(conn, NULL, 0), -FI_ENODEV);
	cr_expect_eq(rcm_conn_set_chan(conn, &chan), -FI_ENODEV);
	cr_expect_eq(rcm_conn_shutdown(conn), 0);
	cr_expect_eq(user.n_reports, 0);
	end(conn);
}

Test(conn, request_moves_to_the_event_queue_of_its_endpoint)
{
	struct rdma_event_channel ec;
	struct rcm_chan other = { .ec = &ec };
	struct rcm_conn *conn = at(RCM_ST_REQ_RCVD);

	cr_expect_eq(rcm_conn_set_chan(conn, &chan), 0);
	sc_expect_log("", "the same channel");
	sc.fail_call = 1;
	sc.fail_err = -FI_ENOMEM;
	cr_expect_eq(rcm_conn_set_chan(conn, &other), -FI_ENOMEM);
	cr_expect_eq(conn->chan, &chan);
	cr_expect_eq(rcm_conn_set_chan(conn, &other), 0);
	cr_expect_eq(conn->chan, &other);
	cr_expect_eq(sc.migrated_to, &ec);
	end(conn);
}

/* pmem/rpma#101: an event was lost when the id moved after connecting */
Test(conn, event_queue_cannot_change_once_connecting)
{
	static const enum rcm_fsm_state late[] = {
		RCM_ST_ADDR,	 RCM_ST_ROUTE,	 RCM_ST_REQ_SENT,
		RCM_ST_ACCEPTED, RCM_ST_CLOSING, RCM_ST_DOWN,
	};
	size_t i;

	for (i = 0; i < RCM_ARRAY_SIZE(late); i++) {
		struct rcm_chan other = { .ec = NULL };
		struct rcm_conn *conn = at(late[i]);

		cr_expect_eq(rcm_conn_set_chan(conn, &other), -FI_EOPBADSTATE);
		end(conn);
	}
}

Test(conn, id_that_cannot_be_destroyed_names_nobody)
{
	struct rcm_conn *conn = at(RCM_ST_CONNECTED);
	struct rdma_cm_id *id = conn->id;
	struct rcm_lock lock;

	rcm_lock_init(&lock, RCM_RANK_EQ, true);
	rcm_conn_close(conn);
	sc_reset_log();
	sc.fail_call = 1;
	sc.fail_err = -FI_EBADF;
	rcm_conn_free(conn, &lock);
	cr_expect_null(id->context);
	event(NULL, RDMA_CM_EVENT_DISCONNECTED);
	sc.fail_call = 0;
	cr_expect_eq(sc_destroy_id(id), 0);
	cr_expect_eq(atomic_load(&lock.state), RCM_LOCK_FREE);
	rcm_lock_fini(&lock);
}

Test(conn, addresses_are_the_kernels_or_the_wished_ones)
{
	struct rcm_conn *conn = at(RCM_ST_READY);
	union rcm_addr addr, src = address("2", 0), dst = address("1", 7471);
	struct sc_id *sid;

	cr_expect_eq(rcm_conn_local_addr(conn, &addr), -FI_EOPBADSTATE);
	cr_expect_eq(rcm_conn_peer_addr(conn, &addr), -FI_ENOTCONN);
	conn->src = src;
	conn->dst = dst;
	cr_expect_eq(rcm_conn_local_addr(conn, &addr), 0);
	cr_expect(rcm_addr_same_host(&addr, &src));
	cr_expect_eq(rcm_conn_peer_addr(conn, &addr), 0);
	cr_expect_eq(rcm_addr_port(&addr), 7471);
	cr_assert_eq(fire(conn, RCM_EV_CONNECT), 0);
	sid = rcm_container_of(conn->id, struct sc_id, id);
	src = address("9", 5555);
	memcpy(&sid->local, &src, sizeof(src.in));
	cr_expect_eq(rcm_conn_local_addr(conn, &addr), 0);
	cr_expect_eq(rcm_addr_port(&addr), 5555);
	end(conn);
}

Test(conn, description_names_addresses_queue_pair_and_state)
{
	struct rcm_conn *conn = at(RCM_ST_REQ_READY);
	char buf[RCM_CONN_STR];

	cr_expect_str_eq(rcm_conn_describe(conn, buf),
			 "10.77.0.1:7471 -> 10.77.0.2:40000 qp 0x11 REQ_READY");
	end(conn);
	drive_start();
	conn = rcm_conn_new(&user_ops, &user);
	cr_expect_str_eq(rcm_conn_describe(conn, buf), "? -> ? IDLE");
	end(conn);
}

Test(conn, history_keeps_the_last_sixteen_steps)
{
	struct rcm_conn *conn;
	char buf[RCM_CONN_HISTORY_STR];
	int i;

	drive_start();
	conn = rcm_conn_new(&user_ops, &user);
	cr_expect_str_empty(rcm_conn_history(conn, buf));
	sc.fail_call = 1;
	sc.fail_err = -FI_ENOMEM;
	cr_expect_eq(rcm_conn_enable(conn), -FI_ENOMEM);
	cr_expect_eq(rcm_conn_enable(conn), 0);
	cr_expect_str_eq(rcm_conn_history(conn, buf),
			 "IDLE ENABLE failed -12 -> IDLE, "
			 "IDLE ENABLE -> READY");
	for (i = 0; i < 40; i++)
		cr_expect_eq(rcm_conn_enable(conn), 0);
	cr_expect_eq(strncmp(rcm_conn_history(conn, buf),
			     "READY ENABLE -> READY, ", 23),
		     0);
	cr_expect_lt(strlen(buf), sizeof(buf) - 1);
	end(conn);
}

/* the longest that there can be fits */
Test(conn, history_of_long_names_is_not_cut)
{
	struct rcm_conn *conn = at(RCM_ST_REQ_READY);
	char buf[RCM_CONN_HISTORY_STR];
	int i;

	for (i = 0; i < RCM_CONN_HISTORY; i++) {
		conn->history[i].state = RCM_ST_REQ_READY;
		conn->history[i].event = RCM_EV_ADDR_CHANGE;
		conn->history[i].to = RCM_ST_REQ_READY;
		conn->history[i].failed = -272;
	}
	conn->n_history = 99;
	cr_expect_lt(strlen(rcm_conn_history(conn, buf)), sizeof(buf) - 1);
	end(conn);
}
