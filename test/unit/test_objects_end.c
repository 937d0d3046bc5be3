/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Ends: failed operations, what each operation's owner is told, and that a
 * connection ends once, whatever ends it.
 */

#include <criterion/criterion.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_ep.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	cr_assert_eq(net_open(&n), 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(end, .init = set_up, .fini = tear_down);

static struct net_comp comp_of(int side)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[side].cq, &comp), 0);
	return comp;
}

static void no_comp(int side)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, n.side[side].cq, &comp), -FI_EAGAIN);
}

static struct rdma_cm_id *id_of(int side)
{
	return rcm_ep_of(n.side[side].ep)->conn->id;
}

static struct ibv_qp *qp_of(int side)
{
	return rcm_ep_of(n.side[side].ep)->qp.qp;
}

/* The terminal events of a side's endpoint that wait. */
static unsigned int terminals(int side)
{
	unsigned int count = 0;
	struct net_ev ev;

	while (net_next(&n, side, &ev) == 0)
		count += ev.fid == &n.side[side].ep->fid &&
			 ev.event != FI_CONNECTED;
	return count;
}

/* LF#962, LF#4616, B25 */
Test(end, truncation_is_told_to_both)
{
	struct net_comp comp;

	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 16, &n.side[1]), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, &n.side[0]), 0);
	comp = comp_of(1);
	cr_assert_eq(comp.err, FI_ETRUNC);
	cr_assert_eq(comp.prov_errno, IBV_WC_LOC_LEN_ERR);
	cr_assert_eq(comp.context, &n.side[1]);
	cr_assert_eq(comp.flags & (FI_MSG | FI_RECV), FI_MSG | FI_RECV);
	comp = comp_of(0);
	cr_assert_gt(comp.err, 0);
	cr_assert_neq(comp.err, FI_ECANCELED);
	cr_assert_eq(comp.prov_errno, IBV_WC_REM_INV_REQ_ERR);
	cr_assert_eq(comp.context, &n.side[0]);
	cr_assert_eq(comp.flags & (FI_MSG | FI_SEND), FI_MSG | FI_SEND);
	cr_assert_eq(terminals(0), 1);
	cr_assert_eq(terminals(1), 1);
}

/*
 * LF#8257: the first failure has its own cause, what follows is cancelled.
 * LF#5653, LF#7359, LF#5738: each entry has its own context and kind.
 */
Test(end, first_failure_names_the_cause)
{
	struct fid_mr *mr;
	struct net_side *s;
	char other[64];

	cr_assert_eq(net_join(&n), 0);
	s = &n.side[0];
	cr_assert_eq(fi_mr_reg(n.domain, other, sizeof(other), FI_SEND, 0, 0, 0,
			       &mr, NULL),
		     0);
	fake_hold_wire(true);
	/* a descriptor that is not this buffer's */
	cr_assert_eq(fi_send(s->ep, s->buf, 4096, fi_mr_desc(mr), 0,
			     (void *)1000),
		     0);
	for (uintptr_t i = 1; i <= 10; i++)
		cr_assert_eq(net_send(&n, 0, 0, 512, (void *)(1000 + i)), 0);
	fake_hold_wire(false);
	for (uintptr_t i = 0; i <= 10; i++) {
		struct net_comp comp = comp_of(0);

		cr_assert_eq((uintptr_t)comp.context, 1000 + i);
		cr_assert_eq(comp.err, i ? FI_ECANCELED : FI_EACCES);
		cr_assert_eq(comp.prov_errno,
			     i ? IBV_WC_WR_FLUSH_ERR : IBV_WC_LOC_PROT_ERR);
		cr_assert_eq(comp.flags & (FI_MSG | FI_SEND), FI_MSG | FI_SEND);
	}
	no_comp(0);
	cr_assert_eq(terminals(0), 1);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

/* the error is read before what came behind it, and not without reading */
Test(end, error_entry_blocks_the_queue_until_it_is_read)
{
	struct fi_cq_data_entry e;

	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 16, &n), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	cr_assert_eq(fi_cq_read(n.side[1].cq, &e, 1), 1);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(fi_cq_read(n.side[1].cq, &e, 1), -FI_EAVAIL);
	cr_assert_eq(comp_of(1).err, FI_ETRUNC);
	cr_assert_eq(fi_cq_read(n.side[1].cq, &e, 1), -FI_EAGAIN);
}

/* LF#8314, LF#7803, LF#6665: a peer that went silent */
Test(end, lost_peer_ends_the_connection_once)
{
	struct net_comp comp;
	int ret;

	cr_assert_eq(net_join(&n), 0);
	fake_hold_wire(true);
	cr_assert_eq(net_send(&n, 0, 0, 64, &n), 0);
	no_comp(0);
	fake_time_passes();
	comp = comp_of(0);
	cr_assert_eq(comp.prov_errno, IBV_WC_RETRY_EXC_ERR);
	cr_assert(comp.err == FI_EHOSTUNREACH || comp.err == FI_ETIMEDOUT);
	cr_assert_eq(net_await(&n, 0, FI_SHUTDOWN, NULL), 0);
	ret = net_send(&n, 0, 0, 64, &n);
	cr_assert(ret < 0 && ret != -FI_EAGAIN);
	cr_assert_eq(terminals(0), 0);
}

/* Each of the operations that were posted, exactly once. */
static void expect_cancelled(struct fid_cq *cq, unsigned int count)
{
	unsigned int seen[64] = { 0 };
	struct net_comp comp;

	for (unsigned int i = 0; i < count; i++) {
		cr_assert_eq(net_comp(&n, cq, &comp), 0, "entry %u", i);
		cr_assert_eq(comp.err, FI_ECANCELED);
		cr_assert_lt((uintptr_t)comp.context, count);
		cr_assert_eq(seen[(uintptr_t)comp.context]++, 0);
	}
	cr_assert_eq(net_comp(&n, cq, &comp), -FI_EAGAIN);
}

static void post_and_close(unsigned int sends, unsigned int recvs)
{
	for (uintptr_t i = 0; i < sends; i++)
		cr_assert_eq(net_send(&n, 0, 0, 512, (void *)i), 0);
	for (uintptr_t i = 0; i < recvs; i++)
		cr_assert_eq(net_recv(&n, 0, 0, 512, (void *)(sends + i)), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	expect_cancelled(n.side[0].cq, sends + recvs);
}

/* LF#7287, LF PR#7291 */
Test(end, close_accounts_for_what_was_posted)
{
	cr_assert_eq(net_join(&n), 0);
	post_and_close(8, 8);
}

/* LF#7837, LF PR#7961 */
Test(end, close_accounts_for_receives_of_a_refused_connection)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(fi_reject(n.pep, n.req->handle, NULL, 0), 0);
	cr_assert_eq(net_endpoint(&n, 1, n.info), 0);
	for (uintptr_t i = 0; i < 8; i++)
		cr_assert_eq(net_recv(&n, 0, 0, 64, (void *)i), 0);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), -FI_ECONNREFUSED);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	expect_cancelled(n.side[0].cq, 8);
}

Test(end, close_accounts_for_receives_of_an_idle_endpoint)
{
	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	post_and_close(0, 8);
}

Test(end, close_keeps_completions_that_were_good)
{
	struct net_comp comp;

	cr_assert_eq(net_join(&n), 0);
	for (uintptr_t i = 0; i < 4; i++) {
		cr_assert_eq(net_recv(&n, 1, 0, 512, NULL), 0);
		cr_assert_eq(net_send(&n, 0, 0, 512, (void *)i), 0);
	}
	cr_assert_eq(net_send(&n, 0, 0, 512, (void *)4), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	for (uintptr_t i = 0; i < 5; i++) {
		cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), 0);
		cr_assert_eq((uintptr_t)comp.context, i);
		cr_assert_eq(comp.err, i < 4 ? 0 : FI_ECANCELED);
	}
	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), -FI_EAGAIN);
}

Test(end, silent_operations_that_are_cancelled_are_told)
{
	net_close(&n);
	cr_assert_eq(net_init(&n), 0);
	n.tx_bind = FI_SELECTIVE_COMPLETION;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
	post_and_close(4, 0);
}

Test(end, staged_operations_are_accounted_for)
{
	struct iovec iov;
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	cr_assert_eq(net_join(&n), 0);
	iov.iov_base = n.side[0].buf;
	iov.iov_len = 512;
	msg.desc = &n.side[0].desc;
	for (uintptr_t i = 0; i < 3; i++) {
		msg.context = (void *)i;
		cr_assert_eq(fi_sendmsg(n.side[0].ep, &msg, FI_MORE), 0);
	}
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	expect_cancelled(n.side[0].cq, 3);
}

/* flushes that come late, and completions that outlive their queue pair */
static const struct fake_dev_conf odd_devs[] = {
	{ .name = "fake0", .addrs = { "10.77.0.1" }, .flush_lag = true },
	{ .name = "fake0", .addrs = { "10.77.0.1" }, .stale_cqes = true },
	{ .name = "fake0",
	  .addrs = { "10.77.0.1" },
	  .flush_lag = true,
	  .stale_cqes = true },
};

Test(end_odd, close_accounts_on_every_kind_of_device)
{
	for (size_t i = 0; i < RCM_ARRAY_SIZE(odd_devs); i++) {
		net_begin(&n, &odd_devs[i], 1);
		cr_assert_eq(net_open(&n), 0);
		cr_assert_eq(net_join(&n), 0);
		post_and_close(8, 8);
		/* and the queue is good for the next endpoint */
		cr_assert_eq(fi_close(&n.side[1].ep->fid), 0);
		cr_assert_eq(net_join_more(&n, &n.side[0].ep, &n.side[1].ep),
			     0);
		cr_assert_eq(net_exchange(&n, 0, 4, 64), 0);
		net_end(&n);
	}
}

/* LF commit 9f0321e7f: many endpoints, ended in a mixed order */
Test(end, neighbours_on_a_queue_are_not_disturbed)
{
	struct fid_ep *a[4], *b[4];
	struct net_comp comp;

	cr_assert_eq(net_listen(&n), 0);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(net_join_more(&n, &a[i], &b[i]), 0);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(fi_send(a[i], n.side[0].buf, 512, n.side[0].desc,
				     0, a[i]),
			     0);
	cr_assert_eq(fi_close(&a[2]->fid), 0);
	cr_assert_eq(fi_close(&a[0]->fid), 0);
	for (int i = 0; i < 2; i++) {
		comp = comp_of(0);
		cr_assert_eq(comp.err, FI_ECANCELED);
		cr_assert_eq(comp.context, i ? a[0] : a[2]);
	}
	for (int i = 1; i < 4; i += 2) {
		cr_assert_eq(fi_recv(b[i], n.side[1].buf, 512, n.side[1].desc,
				     0, b[i]),
			     0);
		cr_assert_eq(comp_of(0).context, a[i]);
		cr_assert_eq(comp_of(1).context, b[i]);
		cr_assert_eq(fi_close(&a[i]->fid), 0);
	}
	for (int i = 0; i < 4; i++)
		cr_assert_eq(fi_close(&b[i]->fid), 0);
}

/* design D6: what is posted after the end of the connection is flushed */
Test(end, receives_come_back_when_the_peer_has_gone)
{
	cr_assert_eq(net_join(&n), 0);
	for (uintptr_t i = 0; i < 3; i++)
		cr_assert_eq(net_recv(&n, 1, 0, 64, (void *)i), 0);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, NULL), 0);
	expect_cancelled(n.side[1].cq, 3);
	cr_assert_eq(net_await(&n, 0, FI_SHUTDOWN, NULL), 0);
}

/* LF#9123, LF PR#9201, LF#8434, LF#12362: one end, whatever the causes */
Test(end, mixed_causes_end_a_connection_once)
{
	static const int events[] = {
		RDMA_CM_EVENT_UNREACHABLE,   RDMA_CM_EVENT_DISCONNECTED,
		RDMA_CM_EVENT_DISCONNECTED,  RDMA_CM_EVENT_DEVICE_REMOVAL,
		RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_REJECTED,
		RDMA_CM_EVENT_ADDR_CHANGE,   RDMA_CM_EVENT_TIMEWAIT_EXIT,
		RDMA_CM_EVENT_ADDR_ERROR,    RDMA_CM_EVENT_ROUTE_ERROR,
		RDMA_CM_EVENT_ESTABLISHED,   RDMA_CM_EVENT_CONNECT_RESPONSE,
		RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED,
	};
	size_t count = RCM_ARRAY_SIZE(events);

	cr_assert_eq(net_listen(&n), 0);
	for (size_t first = 0; first < count; first++) {
		int ret = net_join_more(&n, &n.side[0].ep, &n.side[1].ep);

		cr_assert_eq(ret, 0, "round %zu gave %d", first, ret);
		cr_assert_eq(net_recv(&n, 0, 0, 64, NULL), 0);
		for (size_t i = 0; i < count; i++)
			fake_inject_cm_event(id_of(0),
					     events[(first + i) % count], -5);
		fake_inject_qp_event(qp_of(0), IBV_EVENT_QP_FATAL);
		cr_assert_eq(terminals(0), 1, "first event %d", events[first]);
		cr_assert_leq(terminals(1), 1);
		cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
		cr_assert_eq(fi_close(&n.side[1].ep->fid), 0);
		n.side[0].ep = NULL;
		n.side[1].ep = NULL;
		cr_assert(net_quiet(&n, 0));
		cr_assert_eq(comp_of(0).err, FI_ECANCELED);
	}
}

Test(end, failed_operation_and_disconnect_end_it_once)
{
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 16, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_gt(comp_of(i).err, 0);
	cr_assert_eq(terminals(0), 1);
	cr_assert_eq(terminals(1), 1);
	fake_time_passes();
	cr_assert_eq(terminals(0), 0);
	cr_assert_eq(terminals(1), 0);
}

/* F01, SPDK#1184: events of the device */
Test(end, queue_pair_event_ends_its_connection)
{
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_recv(&n, 0, 0, 64, NULL), 0);
	fake_inject_qp_event(qp_of(0), IBV_EVENT_QP_FATAL);
	cr_assert_eq(net_await(&n, 0, FI_SHUTDOWN, NULL), 0);
	cr_assert_eq(comp_of(0).err, FI_ECANCELED);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, NULL), 0);
}

Test(end, device_events_alone_end_nothing)
{
	struct ibv_context *ctx;

	cr_assert_eq(net_join(&n), 0);
	ctx = qp_of(0)->context;
	fake_inject_dev_event(ctx, IBV_EVENT_PORT_ERR);
	fake_inject_dev_event(ctx, IBV_EVENT_PORT_ACTIVE);
	fake_inject_dev_event(ctx, IBV_EVENT_GID_CHANGE);
	fake_inject_dev_event(ctx, (enum ibv_event_type)99);
	cr_assert(net_quiet(&n, 0));
	cr_assert_eq(net_exchange(&n, 0, 3, 64), 0);
}

Test(end, events_left_unread_do_not_keep_an_endpoint_open)
{
	cr_assert_eq(net_join(&n), 0);
	fake_inject_qp_event(qp_of(0), IBV_EVENT_QP_FATAL);
	fake_inject_cm_event(id_of(0), RDMA_CM_EVENT_DISCONNECTED, 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert(net_quiet(&n, 0));
}

Test(end, removed_device_ends_each_connection_once)
{
	cr_assert_eq(net_join(&n), 0);
	for (int i = 0; i < 2; i++)
		fake_inject_cm_event(id_of(i), RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	cr_assert_eq(terminals(0), 1);
	cr_assert_eq(terminals(1), 1);
}

/* LF commits 39a698d9f, 5c6aa15c4: nothing names a closed endpoint */
Test(end, close_takes_unread_events_along)
{
	struct fi_eq_err_entry err = { 0 };
	uint32_t event;
	char buf[512];

	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	/* drives the queue: the event lies in it, unread */
	cr_assert_gt(
		fi_eq_read(n.side[1].eq, &event, buf, sizeof(buf), FI_PEEK), 0);
	cr_assert_eq(event, FI_SHUTDOWN);
	cr_assert_eq(fi_close(&n.side[1].ep->fid), 0);
	n.side[1].ep = NULL;
	cr_assert_eq(fi_eq_read(n.side[1].eq, &event, buf, sizeof(buf), 0),
		     -FI_EAGAIN);
	cr_assert_eq(fi_eq_readerr(n.side[1].eq, &err, 0), -FI_EAGAIN);
}

Test(end, close_takes_an_unread_error_along)
{
	uint32_t event;
	char buf[512];

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(fi_reject(n.pep, n.req->handle, "no", 2), 0);
	cr_assert_eq(fi_eq_read(n.side[0].eq, &event, buf, sizeof(buf), 0),
		     -FI_EAVAIL);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert_eq(fi_eq_read(n.side[0].eq, &event, buf, sizeof(buf), 0),
		     -FI_EAGAIN);
}

/* a request that lies unread when its listener closes */
Test(end, close_of_a_listener_takes_unread_requests_along)
{
	uint32_t event;
	char buf[512];
	int i;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	for (i = 0; i < 10; i++) {
		(void)fi_eq_read(n.side[0].eq, &event, buf, sizeof(buf), 0);
		if (fi_eq_read(n.side[1].eq, &event, buf, sizeof(buf),
			       FI_PEEK) > 0)
			break;
	}
	cr_assert_lt(i, 10);
	cr_assert_eq(fi_close(&n.pep->fid), 0);
	n.pep = NULL;
	cr_assert_eq(fi_eq_read(n.side[1].eq, &event, buf, sizeof(buf), 0),
		     -FI_EAGAIN);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), -FI_ECONNREFUSED);
}

/* the peer's last message of the set-up is lost, but its first one arrives */
Test(end, first_message_stands_for_a_lost_answer)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	fake_drop_cm_events(RDMA_CM_EVENT_ESTABLISHED, 1);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, NULL), 0);
	cr_assert(net_quiet(&n, 1));
	fake_inject_qp_event(qp_of(1), IBV_EVENT_COMM_EST);
	cr_assert_eq(net_await(&n, 1, FI_CONNECTED, NULL), 0);
	fake_inject_qp_event(qp_of(1), IBV_EVENT_COMM_EST);
	cr_assert(net_quiet(&n, 1));
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
}

/* SPDK#3592, SPDK#2742: a goodbye that nobody answers */
Test(end, close_waits_for_nobody)
{
	cr_assert_eq(net_join(&n), 0);
	fake_hold_wire(true);
	fake_drop_cm_events(RDMA_CM_EVENT_DISCONNECTED, 10);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	n.side[0].ep = NULL;
	cr_assert_eq(comp_of(0).err, FI_ECANCELED);
	cr_assert(net_quiet(&n, 0));
}
