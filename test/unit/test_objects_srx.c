/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Shared receive contexts through fi_* calls. */

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "fake.h"
#include "net.h"
#include "rcm_base.h"
#include "rcm_getinfo.h"

/*
 * Side 1 accepts two connections with endpoints that share its receives;
 * side 0 has the two peers, with receives of their own.
 */
static struct net n;
static struct fid_ep *peer[2], *ep[2];

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	n.hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	n.hints->rx_attr->size = 8;
}

static void shut(struct fid_ep **at)
{
	if (*at)
		cr_assert_eq(fi_close(&(*at)->fid), 0);
	*at = NULL;
}

static void tear_down(void)
{
	for (int i = 0; i < 2; i++) {
		shut(&ep[i]);
		shut(&peer[i]);
	}
	net_end(&n);
}

TestSuite(srx, .init = set_up, .fini = tear_down);

static void join_on(const struct fake_dev_conf *conf)
{
	if (conf) {
		net_end(&n);
		net_begin(&n, conf, 1);
		n.hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
		n.hints->rx_attr->size = 8;
	}
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(n.info->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	cr_assert_eq(fi_srx_context(n.domain, n.info->rx_attr, &n.side[1].srx,
				    &n),
		     0);
	cr_assert_eq(net_listen(&n), 0);
	n.info->ep_attr->rx_ctx_cnt = 1;
}

/* One CQ for both endpoints, or one for each. */
static void join_two(bool two_cqs)
{
	struct fid_cq *own = n.side[1].cq, *other = NULL;

	cr_assert_eq(net_join_more(&n, &peer[0], &ep[0]), 0);
	if (two_cqs) {
		cr_assert_eq(fi_cq_open(n.domain, &n.cq_attr, &other, NULL), 0);
		n.side[1].rx_cq = other;
	}
	cr_assert_eq(net_join_more(&n, &peer[1], &ep[1]), 0);
	n.side[1].cq = own;
}

static void post(size_t slot)
{
	struct net_side *s = &n.side[1];
	ssize_t ret = fi_recv(s->srx, s->buf + 64 * slot, 64, s->desc, 0,
			      s->buf + 64 * slot);

	cr_assert_eq(ret, 0, "%zd", ret);
}

static void send_to(int which, int c)
{
	struct net_side *s = &n.side[0];

	memset(s->buf, c, 16);
	cr_assert_eq(fi_inject(peer[which], s->buf, 16, 0), 0);
}

/* The next receive on CQ brought this. */
static void *got(struct fid_cq *cq, int c)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, cq, &comp), 0);
	cr_assert_eq(comp.err, 0);
	cr_assert_eq(comp.flags, FI_MSG | FI_RECV);
	cr_assert_eq(comp.len, 16);
	cr_assert_eq(*(char *)comp.context, c);
	return comp.context;
}

static void quiet(struct fid_cq *cq)
{
	struct net_comp comp;

	cr_assert_eq(net_comp(&n, cq, &comp), -FI_EAGAIN);
}

Test(srx, two_endpoints_use_up_the_receives_of_one_queue)
{
	join_on(NULL);
	join_two(false);
	for (size_t i = 0; i < 6; i++)
		post(i);
	for (int c = 'a'; c < 'g'; c++)
		send_to(c % 2, c);
	for (int c = 'a'; c < 'g'; c++)
		got(n.side[1].cq, c);
	quiet(n.side[1].cq);
}

/* Completed receives go to the queue that the endpoint is bound to. */
Test(srx, each_endpoint_completes_in_its_own_queue)
{
	join_on(NULL);
	join_two(true);
	for (size_t i = 0; i < 6; i++)
		post(i);
	for (int c = 'a'; c < 'g'; c++)
		send_to(c % 2, c);
	for (int c = 'a'; c < 'g'; c++)
		got(c % 2 ? n.side[1].rx_cq : n.side[1].cq, c);
	quiet(n.side[1].cq);
	quiet(n.side[1].rx_cq);
}

/* peer.md D9 */
Test(srx, full_queue_says_again_until_completions_are_read)
{
	struct net_side *s = &n.side[1];

	join_on(NULL);
	join_two(true);
	for (size_t i = 0; i < 8; i++)
		post(i);
	cr_assert_eq(fi_recv(s->srx, s->buf, 64, s->desc, 0, NULL), -FI_EAGAIN);
	for (int c = 'a'; c < 'z'; c++) {
		char *slot;

		send_to(c % 2, c);
		cr_assert_eq(fi_recv(s->srx, s->buf, 64, s->desc, 0, NULL),
			     -FI_EAGAIN);
		slot = got(c % 2 ? s->rx_cq : s->cq, c);
		post((size_t)(slot - (char *)s->buf) / 64);
	}
}

static void close_one(const struct fake_dev_conf *conf)
{
	struct net_comp comp;
	void *first;

	join_on(conf);
	join_two(false);
	for (size_t i = 0; i < 5; i++)
		post(i);
	send_to(0, 'a');
	/* a message of which only the beginning has come */
	fake_take_shared(fake_last_qp());
	shut(&ep[1]);
	first = got(n.side[1].cq, 'a');
	cr_assert_eq(first, n.side[1].buf);
	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	cr_assert_eq(comp.err, FI_ECANCELED);
	cr_assert_eq(comp.context, n.side[1].buf + 64);
	quiet(n.side[1].cq);
	/* three are left to the other endpoint, and none of eight is lost */
	for (int c = 'b'; c < 'e'; c++) {
		send_to(0, c);
		got(n.side[1].cq, c);
	}
	for (size_t i = 0; i < 8; i++)
		post(i);
}

Test(srx, close_of_one_endpoint_leaves_the_other_its_receives)
{
	close_one(NULL);
}

Test(srx, the_same_where_the_device_flushes_late_and_forgets)
{
	struct fake_dev_conf conf = { .name = "fake0",
				      .ifname = "feth0",
				      .addrs = { "10.77.0.1" },
				      .flush_lag = true };

	close_one(&conf);
}

Test(srx, the_same_where_the_device_keeps_stale_completions)
{
	struct fake_dev_conf conf = { .name = "fake0",
				      .ifname = "feth0",
				      .addrs = { "10.77.0.1" },
				      .stale_cqes = true };

	close_one(&conf);
}

Test(srx, the_same_where_the_device_says_nothing)
{
	struct fake_dev_conf conf = { .name = "fake0",
				      .ifname = "feth0",
				      .addrs = { "10.77.0.1" },
				      .no_last_wqe = true };

	close_one(&conf);
}

/* The peer's end is told on the endpoint that had it, and nothing else. */
Test(srx, end_of_one_connection_leaves_the_other)
{
	struct net_ev ev;

	join_on(NULL);
	join_two(false);
	for (size_t i = 0; i < 4; i++)
		post(i);
	shut(&peer[0]);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, &ev), 0);
	cr_assert_eq(ev.fid, &ep[0]->fid);
	quiet(n.side[1].cq);
	for (int c = 'a'; c < 'e'; c++) {
		send_to(1, c);
		got(n.side[1].cq, c);
	}
	cr_assert(net_quiet(&n, 1));
}

/* peer.md D8: too long a message ends the connection that it came on. */
Test(srx, truncated_message_ends_its_own_connection)
{
	struct net_side *s = &n.side[1];
	struct net_comp comp;
	struct net_ev ev;

	join_on(NULL);
	join_two(false);
	cr_assert_eq(fi_recv(s->srx, s->buf, 8, s->desc, 0, &n), 0);
	post(1);
	send_to(1, 'x');
	cr_assert_eq(net_comp(&n, s->cq, &comp), 0);
	cr_assert_eq(comp.err, FI_ETRUNC);
	cr_assert_eq(comp.context, &n);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, &ev), 0);
	cr_assert_eq(ev.fid, &ep[1]->fid);
	send_to(0, 'y');
	got(s->cq, 'y');
}

/* faults.md F13 */
Test(srx, context_in_use_is_busy)
{
	struct fid_ep *srx;

	join_on(NULL);
	join_two(false);
	srx = n.side[1].srx;
	cr_assert_eq(fi_close(&srx->fid), -FI_EBUSY);
	cr_assert_eq(fi_close(&n.domain->fid), -FI_EBUSY);
	shut(&ep[0]);
	cr_assert_eq(fi_close(&srx->fid), -FI_EBUSY);
	post(0);
	shut(&ep[1]);
	/* receives that nobody used up are the application's again */
	cr_assert_eq(fi_close(&srx->fid), 0);
	n.side[1].srx = NULL;
	quiet(n.side[1].cq);
}

Test(srx, receives_may_be_posted_before_there_is_an_endpoint)
{
	join_on(NULL);
	for (size_t i = 0; i < 2; i++)
		post(i);
	join_two(false);
	send_to(0, 'a');
	send_to(1, 'b');
	got(n.side[1].cq, 'a');
	got(n.side[1].cq, 'b');
}

Test(srx, calls_check_as_those_of_an_endpoint)
{
	struct net_side *s = &n.side[1];
	struct iovec iov[9];
	void *desc[9];
	struct fi_msg msg = { .msg_iov = iov, .desc = desc, .iov_count = 2 };
	size_t max = SIZE_MAX;

	join_on(NULL);
	for (int i = 0; i < 9; i++) {
		iov[i].iov_base = s->buf + (ptrdiff_t)16 * i;
		iov[i].iov_len = i ? 16 : 0;
		desc[i] = s->desc;
	}
	cr_assert_eq(fi_recv(s->srx, s->buf, 8, NULL, 0, NULL), -FI_EINVAL);
	cr_assert_eq(fi_recv(s->srx, s->buf, max, s->desc, 0, NULL),
		     -FI_EMSGSIZE);
	cr_assert_eq(fi_recv(s->srx, NULL, 0, NULL, 0, NULL), 0);
	cr_assert_eq(fi_recvv(s->srx, NULL, NULL, 0, 0, NULL), 0);
	cr_assert_eq(fi_recvv(s->srx, iov, desc, 3, 0, NULL), 0);
	cr_assert_eq(fi_recvv(s->srx, iov, desc, 9, 0, NULL), -FI_EINVAL);
	cr_assert_eq(fi_recvmsg(s->srx, &msg, FI_COMPLETION | FI_MORE), 0);
	cr_assert_eq(fi_recvmsg(s->srx, &msg, FI_MULTI_RECV), -FI_EBADFLAGS);
	cr_assert_eq(fi_recvmsg(s->srx, &msg, FI_PEEK), -FI_EBADFLAGS);
}

/* libfabric's fi_shared_ctx has such receives: there is no room at NULL. */
Test(srx, buffer_at_null_holds_nothing)
{
	struct net_comp comp;

	join_on(NULL);
	join_two(false);
	cr_assert_eq(fi_recv(n.side[1].srx, NULL, 1024, NULL, 0, &n), 0);
	cr_assert_eq(fi_inject(peer[0], NULL, 0, 0), 0);
	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	cr_assert_eq(comp.err, 0);
	cr_assert_eq(comp.context, &n);
	cr_assert_eq(comp.len, 0);
	cr_assert_eq(fi_recv(n.side[1].srx, NULL, 1024, NULL, 0, &n), 0);
	send_to(0, 'a');
	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	cr_assert_eq(comp.err, FI_ETRUNC);
}

/* Where FI_MR_LOCAL is not asked for, a receive registers its memory. */
Test(srx, buffers_need_no_descriptor_without_mr_local)
{
	static char here[8][64];
	struct iovec iov[2] = { { NULL, 8 }, { here[1], 64 } };
	char *context;

	n.hints->domain_attr->mr_mode &= ~FI_MR_LOCAL;
	join_on(NULL);
	join_two(true);
	for (int i = 0; i < 8; i++) {
		if (i == 1)
			cr_assert_eq(fi_recvv(n.side[1].srx, iov, NULL, 2, 0,
					      here[i]),
				     0);
		else
			cr_assert_eq(fi_recv(n.side[1].srx, here[i], 64, NULL,
					     0, here[i]),
				     0);
	}
	cr_assert_eq(fi_recv(n.side[1].srx, here[0], 64, NULL, 0, NULL),
		     -FI_EAGAIN);
	for (int c = 'a'; c < 'e'; c++) {
		send_to(c % 2, c);
		context = got(c % 2 ? n.side[1].rx_cq : n.side[1].cq, c);
		cr_assert_eq(context, here[c - 'a']);
	}
	/* one is taken and comes back; three are nobody's in the end */
	fake_take_shared(fake_last_qp());
	shut(&ep[1]);
	/* no memory to register */
	fake_fail(FAKE_reg_mr, 1, ENOMEM);
	cr_assert_eq(fi_recv(n.side[1].srx, here[0], 64, NULL, 0, NULL),
		     -FI_ENOMEM);
	fake_fail_none();
	cr_assert_eq(fi_recv(n.side[1].srx, here[0], 64, NULL, 0, NULL), 0);
}

/* loading.md, rule 9: every slot answers */
Test(srx, what_a_context_does_not_do_is_said)
{
	struct fid_ep *srx;
	size_t len = sizeof(len);
	uint64_t flags = FI_RECV;

	join_on(NULL);
	srx = n.side[1].srx;
	cr_assert_eq(srx->fid.fclass, FI_CLASS_SRX_CTX);
	cr_assert_eq(srx->fid.context, &n);
	cr_assert_eq(fi_enable(srx), 0);
	cr_assert_eq(fi_control(&srx->fid, FI_GETOPSFLAG, &flags), -FI_ENOSYS);
	cr_assert_eq(fi_ep_bind(srx, &n.side[1].cq->fid, FI_RECV), -FI_ENOSYS);
	cr_assert_eq(fi_getopt(&srx->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE,
			       &len, &len),
		     -FI_ENOPROTOOPT);
	cr_assert_eq(fi_setopt(&srx->fid, FI_OPT_ENDPOINT,
			       FI_OPT_MIN_MULTI_RECV, &len, sizeof(len)),
		     -FI_ENOPROTOOPT);
	cr_assert_eq(fi_cancel(&srx->fid, NULL), -FI_ENOENT);
	cr_assert_eq(fi_cancel(&srx->fid, &n), -FI_ENOENT);
	cr_assert_eq(srx->ops->rx_size_left(srx), 8);
	cr_assert_eq(fi_recv(srx, NULL, 0, NULL, 0, &n), 0);
	/* the device keeps what it has */
	cr_assert_eq(fi_cancel(&srx->fid, &n), -FI_ENOSYS);
	cr_assert_eq(srx->ops->rx_size_left(srx), 7);
	cr_assert_eq(srx->ops->tx_size_left(srx), -FI_ENOSYS);
	cr_assert_eq(fi_send(srx, NULL, 0, NULL, 0, NULL), -FI_ENOSYS);
	cr_assert_eq(fi_connect(srx, &n.addr, NULL, 0), -FI_ENOSYS);
	cr_assert_eq(fi_getname(&srx->fid, &n.addr, &len), -FI_ENOSYS);
	cr_assert_eq(fi_trecv(srx, NULL, 0, NULL, 0, 0, 0, NULL), -FI_ENOSYS);
	cr_assert_eq(fi_read(srx, NULL, 0, NULL, 0, 0, 0, NULL), -FI_ENOSYS);
}

static int open_srx(const struct fi_rx_attr *attr)
{
	struct fi_rx_attr copy = *attr;
	struct fid_ep *srx;
	int ret = fi_srx_context(n.domain, &copy, &srx, NULL);

	if (!ret)
		cr_assert_eq(fi_close(&srx->fid), 0);
	return ret;
}

Test(srx, attributes_are_checked)
{
	struct fi_rx_attr attr = { 0 };
	struct fid_ep *srx;

	cr_assert_eq(net_open_domain(&n), 0);
	cr_assert_eq(open_srx(n.info->rx_attr), 0);
	cr_assert_eq(open_srx(&attr), 0);
	cr_assert_eq(fi_srx_context(n.domain, NULL, &srx, NULL), 0);
	cr_assert_eq(fi_close(&srx->fid), 0);
#define CASE(good, bad)                   \
	attr = *n.info->rx_attr;          \
	good;                             \
	cr_assert_eq(open_srx(&attr), 0); \
	bad;                              \
	cr_assert_eq(open_srx(&attr), -FI_EINVAL)
	CASE(attr.size = 16384, attr.size++);
	CASE(attr.iov_limit = 16, attr.iov_limit++);
	CASE(attr.caps = FI_MSG | FI_RECV, attr.caps |= FI_TAGGED);
	CASE(attr.caps = FI_MSG | FI_SEND, attr.caps |= FI_MULTI_RECV);
	CASE(attr.op_flags = FI_COMPLETION, attr.op_flags |= FI_PEEK);
	CASE(attr.op_flags = 0, attr.op_flags |= FI_MULTI_RECV);
	CASE(attr.msg_order = FI_ORDER_SAS, attr.msg_order |= FI_ORDER_WAR);
	CASE(attr.total_buffered_recv = 0, attr.total_buffered_recv = 1);
#undef CASE
}

/* The endpoint says so, and the context is bound: or neither. */
Test(srx, endpoint_and_context_agree_that_it_is_shared)
{
	struct fid_domain *other;
	struct fid_ep *srx, *foreign, *e;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_srx_context(n.domain, n.info->rx_attr, &srx, NULL), 0);
	cr_assert_eq(fi_domain(n.fabric, n.info, &other, NULL), 0);
	cr_assert_eq(fi_srx_context(other, n.info->rx_attr, &foreign, NULL), 0);

	cr_assert_eq(fi_endpoint(n.domain, n.info, &e, NULL), 0);
	cr_assert_eq(fi_ep_bind(e, &n.side[0].eq->fid, 0), 0);
	cr_assert_eq(fi_ep_bind(e, &n.side[0].cq->fid, FI_TRANSMIT | FI_RECV),
		     0);
	cr_assert_eq(fi_enable(e), -FI_EOPBADSTATE);
	cr_assert_eq(fi_ep_bind(e, &foreign->fid, 0), -FI_EDOMAIN);
	cr_assert_eq(fi_ep_bind(e, &srx->fid, FI_RECV), -FI_EBADFLAGS);
	cr_assert_eq(fi_ep_bind(e, &srx->fid, 0), 0);
	cr_assert_eq(fi_ep_bind(e, &srx->fid, 0), -FI_EINVAL);
	cr_assert_eq(fi_enable(e), 0);
	/* receives are posted to the context */
	cr_assert_eq(fi_recv(e, n.side[0].buf, 8, n.side[0].desc, 0, NULL),
		     -FI_EOPNOTSUPP);
	cr_assert_eq(fi_close(&e->fid), 0);

	n.info->ep_attr->rx_ctx_cnt = 1;
	cr_assert_eq(fi_endpoint(n.domain, n.info, &e, NULL), 0);
	cr_assert_eq(fi_ep_bind(e, &srx->fid, 0), -FI_EINVAL);
	cr_assert_eq(fi_close(&e->fid), 0);
	n.info->ep_attr->rx_ctx_cnt = 2;
	cr_assert_eq(fi_endpoint(n.domain, n.info, &e, NULL), -FI_EINVAL);
	n.info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	n.info->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
	cr_assert_eq(fi_endpoint(n.domain, n.info, &e, NULL), -FI_EINVAL);

	cr_assert_eq(fi_close(&srx->fid), 0);
	cr_assert_eq(fi_close(&foreign->fid), 0);
	cr_assert_eq(fi_close(&other->fid), 0);
}

/* A transmit context of this kind is not offered. */
Test(srx, shared_transmit_contexts_are_refused)
{
	struct fid_stx *stx;

	cr_assert_eq(net_open_domain(&n), 0);
	cr_assert_eq(n.info->domain_attr->max_ep_stx_ctx, 0);
	cr_assert_eq(fi_stx_context(n.domain, n.info->tx_attr, &stx, NULL),
		     -FI_ENOSYS);
}

static struct fi_info *ask(const struct fi_info *hints)
{
	struct fi_info *info = NULL;
	int ret = rcm_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info);

	cr_assert_eq(ret, info ? 0 : -FI_ENODATA);
	return info;
}

Test(srx, info_tells_what_the_device_can_do)
{
	struct fake_dev_conf conf = { .name = "fake0",
				      .ifname = "feth0",
				      .addrs = { "10.77.0.1" },
				      .max_srq = 7,
				      .max_srq_wr = 100,
				      .max_srq_sge = 2 };
	struct fi_info *info;

	net_end(&n);
	net_begin(&n, &conf, 1);
	info = ask(n.hints);
	cr_assert_eq(info->domain_attr->max_ep_srx_ctx, 7);
	cr_assert_eq(info->ep_attr->rx_ctx_cnt, 1);
	cr_assert_gt(info->rx_attr->size, 100);
	cr_assert_gt(info->rx_attr->iov_limit, 2);
	fi_freeinfo(info);
	n.hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	info = ask(n.hints);
	cr_assert_eq(info->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	cr_assert_eq(info->rx_attr->size, 100);
	cr_assert_eq(info->rx_attr->iov_limit, 2);
	cr_assert_eq(info->rx_attr->comp_order, 0);
	fi_freeinfo(info);
	n.hints->rx_attr->size = 101;
	cr_assert_null(ask(n.hints));
	n.hints->rx_attr->size = 100;
	n.hints->rx_attr->iov_limit = 3;
	cr_assert_null(ask(n.hints));
	n.hints->rx_attr->iov_limit = 0;
	n.hints->domain_attr->max_ep_srx_ctx = 8;
	cr_assert_null(ask(n.hints));
	n.hints->domain_attr->max_ep_srx_ctx = 7;
	info = ask(n.hints);
	cr_assert_not_null(info);
	fi_freeinfo(info);
	/* receives of several endpoints end in no order of one queue */
	n.hints->rx_attr->comp_order = 1;
	cr_assert_null(ask(n.hints));
}

Test(srx, device_without_shared_queues_offers_none)
{
	struct fake_dev_conf conf = { .name = "fake0",
				      .ifname = "feth0",
				      .addrs = { "10.77.0.1" },
				      .max_srq = -1 };
	struct fid_ep *srx;

	net_end(&n);
	net_begin(&n, &conf, 1);
	n.hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	cr_assert_null(ask(n.hints));
	n.hints->ep_attr->rx_ctx_cnt = 0;
	cr_assert_eq(net_open_domain(&n), 0);
	cr_assert_eq(n.info->domain_attr->max_ep_srx_ctx, 0);
	cr_assert_eq(fi_srx_context(n.domain, n.info->rx_attr, &srx, NULL),
		     -FI_ENOSYS);
	n.info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	cr_assert_eq(fi_endpoint(n.domain, n.info, &srx, NULL), -FI_EINVAL);
}

/* The peer is told (docs/WIRE.md), and a request's info says it, too. */
Test(srx, request_of_a_sharing_listener_is_for_a_sharing_endpoint)
{
	join_on(NULL);
	join_two(false);
	cr_assert_eq(n.req->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	cr_assert_eq(n.req->rx_attr->size, 8);
}

Test(srx, open_that_fails_leaves_nothing)
{
	struct fid_ep *srx;

	cr_assert_eq(net_open_domain(&n), 0);
	fake_fail(FAKE_create_srq, 1, ENOMEM);
	cr_assert_eq(fi_srx_context(n.domain, n.info->rx_attr, &srx, NULL),
		     -FI_ENOMEM);
	fake_fail_none();
}
