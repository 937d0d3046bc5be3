/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Counters, through fi_* calls: fi_cntr(3). */

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_base.h"

static struct net n;
static struct fi_cntr_attr cntr_attr;
static bool no_cq;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	cntr_attr.wait_obj = FI_WAIT_NONE;
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(cntr, .init = set_up, .fini = tear_down);

/* Each side counts both kinds apart; with completion queues or without. */
static int bind_counted(struct net *net, int side, struct fid_ep *ep)
{
	struct net_side *s = &net->side[side];
	int ret = no_cq ? 0 : net_bind_cqs(net, side, ep);

	if (!ret && !s->tx_cntr)
		ret = fi_cntr_open(net->domain, &cntr_attr, &s->tx_cntr, NULL);
	if (!ret && !s->rx_cntr)
		ret = fi_cntr_open(net->domain, &cntr_attr, &s->rx_cntr, NULL);
	if (!ret)
		ret = fi_ep_bind(ep, &s->tx_cntr->fid, FI_SEND);
	if (!ret)
		ret = fi_ep_bind(ep, &s->rx_cntr->fid, FI_RECV);
	return ret;
}

static void join_counted(enum fi_wait_obj wait_obj)
{
	cntr_attr.wait_obj = wait_obj;
	n.bind_ep = bind_counted;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
}

static struct fid_cntr *open_one(enum fi_wait_obj wait_obj)
{
	struct fi_cntr_attr attr = { .wait_obj = wait_obj };
	struct fid_cntr *cntr;

	if (!n.domain)
		cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_cntr_open(n.domain, &attr, &cntr, &n), 0);
	return cntr;
}

static void expect(struct fid_cntr *cntr, uint64_t value, uint64_t errors)
{
	cr_assert_eq(fi_cntr_read(cntr), value, "%llu, not %llu",
		     (unsigned long long)fi_cntr_read(cntr),
		     (unsigned long long)value);
	cr_assert_eq(fi_cntr_readerr(cntr), errors, "%llu errors, not %llu",
		     (unsigned long long)fi_cntr_readerr(cntr),
		     (unsigned long long)errors);
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static int fd_of(struct fid_cntr *cntr)
{
	int fd = -1;

	cr_assert_eq(fi_control(&cntr->fid, FI_GETWAIT, &fd), 0);
	return fd;
}

static int trywait(struct fid_cntr *cntr)
{
	struct fid *fid = &cntr->fid;

	return fi_trywait(n.fabric, &fid, 1);
}

/* Opening, and what the application does to the values itself. */

Test(cntr, attributes_that_are_not_offered_are_refused)
{
	static const struct {
		struct fi_cntr_attr attr;
		int ret;
	} bad[] = {
		{ { .wait_obj = FI_WAIT_SET }, -FI_EINVAL },
		{ { .wait_obj = FI_WAIT_MUTEX_COND }, -FI_ENOSYS },
		{ { .wait_obj = 77 }, -FI_EINVAL },
		{ { .events = 77 }, -FI_EINVAL },
		{ { .flags = 1 }, -FI_EBADFLAGS },
	};
	struct fid_cntr *cntr;

	cr_assert_eq(net_open(&n), 0);
	for (size_t i = 0; i < RCM_ARRAY_SIZE(bad); i++) {
		struct fi_cntr_attr attr = bad[i].attr;

		cr_assert_eq(fi_cntr_open(n.domain, &attr, &cntr, NULL),
			     bad[i].ret, "row %zu", i);
	}
	cr_assert_eq(fi_cntr_open(n.domain, NULL, &cntr, NULL), -FI_EINVAL);
}

Test(cntr, as_many_as_are_offered_may_be_asked_for)
{
	n.hints->domain_attr->cntr_cnt = 65536;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(n.info->domain_attr->cntr_cnt, 65536);
}

Test(cntr, new_one_is_zero_and_has_its_context)
{
	struct fid_cntr *cntr = open_one(FI_WAIT_NONE);

	expect(cntr, 0, 0);
	cr_assert_eq(cntr->fid.context, &n);
	cr_assert_eq(cntr->fid.fclass, FI_CLASS_CNTR);
	cr_assert_eq(fi_close(&cntr->fid), 0);
}

Test(cntr, values_may_be_set_and_added_to)
{
	struct fid_cntr *cntr = open_one(FI_WAIT_NONE);

	cr_assert_eq(fi_cntr_add(cntr, 5), 0);
	cr_assert_eq(fi_cntr_adderr(cntr, 2), 0);
	expect(cntr, 5, 2);
	cr_assert_eq(fi_cntr_set(cntr, 100), 0);
	cr_assert_eq(fi_cntr_seterr(cntr, 7), 0);
	cr_assert_eq(fi_cntr_add(cntr, 1ULL << 40), 0);
	cr_assert_eq(fi_cntr_adderr(cntr, 1), 0);
	expect(cntr, (1ULL << 40) + 100, 8);
	cr_assert_eq(fi_close(&cntr->fid), 0);
}

Test(cntr, control_calls_have_an_answer)
{
	struct fid_cntr *none = open_one(FI_WAIT_NONE);
	struct fid_cntr *fd = open_one(FI_WAIT_UNSPEC);
	enum fi_wait_obj obj = FI_WAIT_UNSPEC;
	uint64_t flags = 1;
	int arg;

	cr_assert_eq(fi_control(&none->fid, FI_GETWAIT, &arg), -FI_ENODATA);
	cr_assert_eq(fi_control(&none->fid, FI_GETWAITOBJ, &obj), 0);
	cr_assert_eq(obj, FI_WAIT_NONE);
	cr_assert_eq(fi_control(&fd->fid, FI_GETWAITOBJ, &obj), 0);
	cr_assert_eq(obj, FI_WAIT_FD);
	cr_assert_eq(fi_control(&fd->fid, FI_GETWAIT, NULL), -FI_EINVAL);
	cr_assert_eq(fi_control(&fd->fid, FI_SETOPSFLAG, &flags),
		     -FI_EBADFLAGS);
	cr_assert_eq(fi_control(&fd->fid, FI_GETOPSFLAG, &flags), 0);
	cr_assert_eq(flags, 0);
	cr_assert_eq(fi_control(&fd->fid, FI_SETOPSFLAG, &flags), 0);
	cr_assert_eq(fi_control(&fd->fid, FI_ENABLE, &flags), -FI_ENOSYS);
	cr_assert_eq(fi_close(&none->fid), 0);
	cr_assert_eq(fi_close(&fd->fid), 0);
}

/* Counting. */

Test(cntr, sends_and_receives_are_counted_apart)
{
	join_counted(FI_WAIT_NONE);
	cr_assert_eq(net_exchange(&n, 0, 3, 64), 0);
	cr_assert_eq(net_exchange(&n, 1, 2, 4096), 0);
	expect(n.side[0].tx_cntr, 3, 0);
	expect(n.side[0].rx_cntr, 2, 0);
	expect(n.side[1].tx_cntr, 2, 0);
	expect(n.side[1].rx_cntr, 3, 0);
}

Test(cntr, injected_sends_count)
{
	join_counted(FI_WAIT_NONE);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		cr_assert_eq(fi_inject(n.side[0].ep, "abc", 3, 0), 0);
	}
	expect(n.side[0].tx_cntr, 3, 0);
	expect(n.side[1].rx_cntr, 3, 0);
}

/* fi_cntr(3): separately from whether there is an entry */
Test(cntr, operations_without_an_entry_count_when_the_counter_is_read)
{
	struct net_comp comp;

	n.tx_bind = FI_SELECTIVE_COMPLETION;
	n.rx_bind = FI_SELECTIVE_COMPLETION;
	join_counted(FI_WAIT_NONE);
	for (unsigned int i = 1; i <= 1000; i++) {
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
		expect(n.side[0].tx_cntr, i, 0);
		expect(n.side[1].rx_cntr, i, 0);
	}
	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), -FI_EAGAIN);
}

Test(cntr, reading_the_counter_loses_no_entry)
{
	join_counted(FI_WAIT_NONE);
	for (uintptr_t i = 0; i < 300; i++) {
		cr_assert_eq(net_recv(&n, 1, 0, 64, (void *)i), 0);
		cr_assert_eq(net_send(&n, 0, 0, 64, (void *)i), 0);
		expect(n.side[0].tx_cntr, i + 1, 0);
		expect(n.side[1].rx_cntr, i + 1, 0);
	}
	for (uintptr_t i = 0; i < 300; i++) {
		for (int side = 0; side < 2; side++) {
			struct net_comp comp;

			cr_assert_eq(net_comp(&n, n.side[side].cq, &comp), 0);
			cr_assert_eq(comp.context, (void *)i);
		}
	}
}

Test(cntr, reading_the_counter_sends_what_waits_for_its_doorbell)
{
	struct net_side *s = &n.side[0];
	struct iovec iov = { s->buf, 64 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };

	join_counted(FI_WAIT_NONE);
	msg.desc = &s->desc;
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(fi_sendmsg(s->ep, &msg, FI_MORE), 0);
	expect(s->tx_cntr, 1, 0);
	expect(n.side[1].rx_cntr, 1, 0);
}

Test(cntr, messages_in_one_buffer_are_counted_one_by_one)
{
	struct net_side *s = &n.side[1];
	struct iovec iov = { s->buf, 4096 };
	struct fi_msg msg = { .msg_iov = &iov,
			      .desc = &s->desc,
			      .iov_count = 1 };
	size_t min = 64;

	n.hints->caps |= FI_MULTI_RECV;
	join_counted(FI_WAIT_NONE);
	cr_assert_eq(fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT,
			       FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)),
		     0);
	cr_assert_eq(fi_recvmsg(s->ep, &msg, FI_MULTI_RECV), 0);
	for (unsigned int i = 1; i <= 5; i++) {
		cr_assert_eq(net_send(&n, 0, 0, 100, NULL), 0);
		expect(s->rx_cntr, i, 0);
	}
	/* what is left of the buffer is canceled in the end */
	cr_assert_eq(fi_close(&s->ep->fid), 0);
	s->ep = NULL;
	expect(s->rx_cntr, 5, 1);
}

Test(cntr, truncated_receive_counts_as_an_error)
{
	struct net_comp comp;

	join_counted(FI_WAIT_NONE);
	cr_assert_eq(net_recv(&n, 1, 0, 16, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	expect(n.side[1].rx_cntr, 0, 1);
	expect(n.side[0].tx_cntr, 0, 1);
	cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	cr_assert_eq(comp.err, FI_ETRUNC);
}

Test(cntr, canceled_operations_count_as_errors)
{
	join_counted(FI_WAIT_NONE);
	for (int i = 0; i < 5; i++)
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	fake_hold_wire(true);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	cr_assert_eq(fi_inject(n.side[0].ep, "abc", 3, 0), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(fi_close(&n.side[i].ep->fid), 0);
		n.side[i].ep = NULL;
	}
	expect(n.side[0].tx_cntr, 1, 2);
	expect(n.side[1].rx_cntr, 1, 4);
}

static int bind_one_to_all(struct net *net, int side, struct fid_ep *ep)
{
	int ret = net_bind_cqs(net, side, ep);

	return ret ? ret :
		     fi_ep_bind(ep, &net->side[0].tx_cntr->fid,
				FI_SEND | FI_RECV | FI_READ | FI_WRITE);
}

Test(cntr, one_counter_may_count_all_kinds_of_several_endpoints)
{
	struct fid_ep *ep[2];

	n.side[0].tx_cntr = open_one(FI_WAIT_FD);
	n.bind_ep = bind_one_to_all;
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_exchange(&n, 0, 3, 64), 0);
	ep[0] = n.side[0].ep;
	ep[1] = n.side[1].ep;
	cr_assert_eq(net_join_more(&n, &n.side[0].ep, &n.side[1].ep), 0);
	cr_assert_eq(net_exchange(&n, 1, 4, 64), 0);
	expect(n.side[0].tx_cntr, 14, 0);
	/* those that are left go on counting */
	cr_assert_eq(fi_close(&ep[0]->fid), 0);
	cr_assert_eq(fi_close(&ep[1]->fid), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	expect(n.side[0].tx_cntr, 16, 0);
}

/* 1 is FI_CNTR_EVENTS_BYTES, which older headers do not have. */
Test(cntr, bytes_of_successes_are_added_up)
{
	struct net_comp comp;

	cntr_attr.events = 1;
	join_counted(FI_WAIT_NONE);
	cr_assert_eq(net_exchange(&n, 0, 3, 100), 0);
	cr_assert_eq(net_exchange(&n, 0, 2, 5000), 0);
	cr_assert_eq(net_exchange(&n, 0, 1, 0), 0);
	expect(n.side[0].tx_cntr, 10300, 0);
	expect(n.side[1].rx_cntr, 10300, 0);
	expect(n.side[0].rx_cntr, 0, 0);
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(fi_inject(n.side[0].ep, "abc", 3, 0), 0);
	expect(n.side[0].tx_cntr, 10303, 0);
	expect(n.side[1].rx_cntr, 10303, 0);
	cr_assert_eq(net_recv(&n, 1, 0, 16, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	expect(n.side[0].tx_cntr, 10303, 1);
	expect(n.side[1].rx_cntr, 10303, 1);
	while (!net_comp(&n, n.side[1].cq, &comp) && !comp.err)
		;
	cr_assert_eq(comp.err, FI_ETRUNC);
}

/* Side 1 has two endpoints with one context, and no completion queue. */
Test(cntr, receives_of_a_shared_context_are_counted_for_each_endpoint)
{
	struct fid_cntr *rx[2];
	struct fid_ep *from[2], *to[2];

	no_cq = true;
	n.hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	n.bind_ep = bind_counted;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_srx_context(n.domain, n.info->rx_attr, &n.side[1].srx,
				    NULL),
		     0);
	cr_assert_eq(net_listen(&n), 0);
	n.info->ep_attr->rx_ctx_cnt = 1;
	for (int i = 0; i < 2; i++) {
		n.side[1].rx_cntr = NULL;
		cr_assert_eq(net_join_more(&n, &from[i], &to[i]), 0);
		rx[i] = n.side[1].rx_cntr;
	}
	for (unsigned int i = 0; i < 6; i++)
		cr_assert_eq(fi_recv(n.side[1].srx, n.side[1].buf, 64,
				     n.side[1].desc, 0, NULL),
			     0);
	for (unsigned int i = 0; i < 5; i++)
		cr_assert_eq(fi_inject(from[i > 1], "abc", 3, 0), 0);
	expect(rx[0], 2, 0);
	expect(rx[1], 3, 0);
	expect(n.side[0].tx_cntr, 5, 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(fi_close(&from[i]->fid), 0);
		cr_assert_eq(fi_close(&to[i]->fid), 0);
	}
	cr_assert_eq(fi_close(&rx[0]->fid), 0);
}

/* Endpoints that are bound to counters alone. */

Test(cntr, endpoint_without_completion_queues_counts)
{
	no_cq = true;
	join_counted(FI_WAIT_NONE);
	for (unsigned int i = 1; i <= 2000; i++) {
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
		expect(n.side[0].tx_cntr, i, 0);
		expect(n.side[1].rx_cntr, i, 0);
	}
}

/* fi_msg(3): -FI_EAGAIN ends; here without anybody reading anything */
Test(cntr, endpoint_without_completion_queues_never_fills_up)
{
	no_cq = true;
	n.hints->tx_attr->size = 16;
	join_counted(FI_WAIT_NONE);
	for (unsigned int i = 0; i < 500; i++) {
		struct fi_msg msg = { 0 };

		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		cr_assert_eq(fi_sendmsg(n.side[0].ep, &msg, FI_COMPLETION), 0);
		(void)fi_cntr_read(n.side[1].rx_cntr);
	}
	expect(n.side[0].tx_cntr, 500, 0);
}

Test(cntr, failures_without_a_completion_queue_are_counted)
{
	no_cq = true;
	join_counted(FI_WAIT_NONE);
	cr_assert_eq(net_recv(&n, 1, 0, 16, NULL), 0);
	for (int i = 0; i < 100; i++)
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	expect(n.side[1].rx_cntr, 0, 101);
	expect(n.side[0].tx_cntr, 0, 1);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, NULL), 0);
}

Test(cntr, direction_without_queue_and_counter_keeps_an_endpoint_disabled)
{
	struct fid_cntr *cntr = open_one(FI_WAIT_NONE);
	struct fid_ep *ep;

	cr_assert_eq(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].eq->fid, 0), 0);
	cr_assert_eq(fi_ep_bind(ep, &cntr->fid, FI_READ | FI_WRITE), 0);
	cr_assert_eq(fi_enable(ep), -FI_ENOCQ);
	cr_assert_eq(fi_ep_bind(ep, &cntr->fid, FI_SEND), 0);
	cr_assert_eq(fi_enable(ep), -FI_ENOCQ);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].cq->fid, FI_RECV), 0);
	cr_assert_eq(fi_enable(ep), 0);
	cr_assert_eq(fi_close(&ep->fid), 0);
	cr_assert_eq(fi_close(&cntr->fid), 0);
}

/* Binding and closing. */

Test(cntr, bindings_that_cannot_be_are_refused)
{
	struct fid_cntr *cntr = open_one(FI_WAIT_NONE);
	struct fid_cntr *other, *foreign;
	struct fid_domain *domain;
	struct fid_ep *ep;

	other = open_one(FI_WAIT_NONE);
	cr_assert_eq(fi_domain(n.fabric, n.info, &domain, NULL), 0);
	cr_assert_eq(fi_cntr_open(domain, &cntr_attr, &foreign, NULL), 0);
	cr_assert_eq(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
	cr_assert_eq(fi_ep_bind(ep, &cntr->fid, 0), -FI_EBADFLAGS);
	cr_assert_eq(fi_ep_bind(ep, &cntr->fid,
				FI_SEND | FI_SELECTIVE_COMPLETION),
		     -FI_EBADFLAGS);
	/* fi_endpoint(3): they require FI_RMA_EVENT */
	cr_assert_eq(fi_ep_bind(ep, &cntr->fid, FI_REMOTE_WRITE),
		     -FI_EOPNOTSUPP);
	cr_assert_eq(fi_ep_bind(ep, &foreign->fid, FI_SEND), -FI_EDOMAIN);
	cr_assert_eq(fi_ep_bind(ep, &cntr->fid, FI_SEND | FI_READ), 0);
	cr_assert_eq(fi_ep_bind(ep, &other->fid, FI_RECV | FI_SEND),
		     -FI_EINVAL);
	/* fi_ubertest binds all that may come in; messages do */
	cr_assert_eq(fi_ep_bind(ep, &other->fid,
				FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE),
		     0);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].eq->fid, 0), 0);
	cr_assert_eq(fi_enable(ep), 0);
	cr_assert_eq(fi_ep_bind(ep, &other->fid, FI_WRITE), -FI_EOPBADSTATE);
	cr_assert_eq(fi_mr_bind(n.side[0].mr, &cntr->fid, FI_REMOTE_WRITE),
		     -FI_EOPNOTSUPP);
	cr_assert_eq(fi_mr_bind(n.side[0].mr, &cntr->fid, FI_READ),
		     -FI_EBADFLAGS);
	cr_assert_eq(fi_close(&ep->fid), 0);
	cr_assert_eq(fi_close(&foreign->fid), 0);
	cr_assert_eq(fi_close(&domain->fid), 0);
	cr_assert_eq(fi_close(&cntr->fid), 0);
	cr_assert_eq(fi_close(&other->fid), 0);
}

Test(cntr, closing_one_that_is_bound_is_refused)
{
	struct fid_cntr *cntr = open_one(FI_WAIT_NONE);
	struct fid_ep *ep;

	cr_assert_eq(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
	cr_assert_eq(fi_ep_bind(ep, &cntr->fid, FI_SEND | FI_WRITE), 0);
	cr_assert_eq(fi_close(&cntr->fid), -FI_EBUSY);
	expect(cntr, 0, 0);
	cr_assert_eq(fi_close(&ep->fid), 0);
	cr_assert_eq(fi_close(&cntr->fid), 0);
}

Test(cntr, domain_with_a_counter_is_busy)
{
	struct fid_domain *domain;
	struct fid_cntr *cntr;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_domain(n.fabric, n.info, &domain, NULL), 0);
	cr_assert_eq(fi_cntr_open(domain, &cntr_attr, &cntr, NULL), 0);
	cr_assert_eq(fi_close(&domain->fid), -FI_EBUSY);
	cr_assert_eq(fi_close(&cntr->fid), 0);
	cr_assert_eq(fi_close(&domain->fid), 0);
}

/* Waiting; threads that wake each other are in test/mt/counters.c. */

Test(cntr, wait_without_a_wait_object_is_invalid)
{
	struct fid_cntr *cntr = open_one(FI_WAIT_NONE);

	cr_assert_eq(fi_cntr_wait(cntr, 0, 0), -FI_EINVAL);
	cr_assert_eq(trywait(cntr), -FI_EINVAL);
	cr_assert_eq(fi_close(&cntr->fid), 0);
}

Test(cntr, wait_ends_at_once_or_in_time)
{
	static const enum fi_wait_obj objs[] = { FI_WAIT_UNSPEC, FI_WAIT_FD,
						 FI_WAIT_POLLFD,
						 FI_WAIT_YIELD };

	for (size_t i = 0; i < RCM_ARRAY_SIZE(objs); i++) {
		struct fid_cntr *cntr = open_one(objs[i]);

		cr_assert_eq(fi_cntr_wait(cntr, 0, -1), 0);
		cr_assert_eq(fi_cntr_wait(cntr, 1, 0), -FI_ETIMEDOUT);
		cr_assert_eq(fi_cntr_wait(cntr, 1, 3), -FI_ETIMEDOUT);
		cr_assert_eq(fi_cntr_add(cntr, 2), 0);
		cr_assert_eq(fi_cntr_wait(cntr, 1, -1), 0);
		cr_assert_eq(fi_cntr_wait(cntr, 2, -1), 0);
		/* errors of before: none comes while it waits */
		cr_assert_eq(fi_cntr_adderr(cntr, 1), 0);
		cr_assert_eq(fi_cntr_wait(cntr, 3, 3), -FI_ETIMEDOUT);
		expect(cntr, 2, 1);
		cr_assert_eq(fi_close(&cntr->fid), 0);
	}
}

Test(cntr, wait_sees_what_nobody_has_read)
{
	join_counted(FI_WAIT_UNSPEC);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	}
	cr_assert_eq(fi_cntr_wait(n.side[1].rx_cntr, 3, -1), 0);
	cr_assert_eq(fi_cntr_wait(n.side[0].tx_cntr, 3, -1), 0);
	cr_assert_eq(fi_cntr_wait(n.side[0].tx_cntr, 4, 2), -FI_ETIMEDOUT);
}

Test(cntr, wait_ends_with_an_error_when_one_is_counted)
{
	join_counted(FI_WAIT_FD);
	cr_assert_eq(net_recv(&n, 1, 0, 16, NULL), 0);
	cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
	cr_assert_eq(fi_cntr_wait(n.side[1].rx_cntr, 1, -1), -FI_EAVAIL);
	expect(n.side[1].rx_cntr, 0, 1);
}

/* nothing would end it */
Test(cntr, wait_ends_when_the_device_cannot_be_polled)
{
	join_counted(FI_WAIT_FD);
	fake_fail(FAKE_poll_cq, 1, EIO);
	cr_assert_eq(fi_cntr_wait(n.side[0].tx_cntr, 1, -1), -FI_EIO);
	cr_assert_eq(fi_cntr_wait(n.side[0].tx_cntr, 0, -1), 0);
	cr_assert_eq(trywait(n.side[0].tx_cntr), -FI_EIO);
}

/* A counter's fd, with completion queues nobody waits for, and with none. */
static void expect_fd_tells(void)
{
	struct fid_cntr *cntr = n.side[1].rx_cntr;
	int fd = fd_of(cntr);

	for (unsigned int i = 1; i <= 20; i++) {
		cr_assert_eq(trywait(cntr), 0);
		cr_assert(!readable(fd));
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
		cr_assert(readable(fd));
		cr_assert_eq(trywait(cntr), -FI_EAGAIN);
		expect(cntr, i, 0);
	}
	cr_assert_eq(trywait(cntr), 0);
	cr_assert_eq(fi_cntr_add(cntr, 1), 0);
	cr_assert(readable(fd));
	cr_assert_eq(trywait(cntr), -FI_EAGAIN);
	cr_assert_eq(trywait(cntr), 0);
	cr_assert_eq(fi_cntr_adderr(cntr, 1), 0);
	cr_assert(readable(fd));
	cr_assert_eq(trywait(cntr), -FI_EAGAIN);
	cr_assert_eq(trywait(cntr), 0);
}

Test(cntr, fd_tells_of_completions)
{
	join_counted(FI_WAIT_FD);
	expect_fd_tells();
}

Test(cntr, fd_tells_of_completions_without_a_queue)
{
	no_cq = true;
	join_counted(FI_WAIT_FD);
	expect_fd_tells();
}

/* fi_poll(3): several counters to wait for at once */
Test(cntr, wait_set_tells_of_completions)
{
	struct fi_wait_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_wait *set;
	int fd = -1;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_wait_open(n.fabric, &attr, &set), 0);
	cntr_attr.wait_obj = FI_WAIT_SET;
	cntr_attr.wait_set = set;
	n.bind_ep = bind_counted;
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(fi_cntr_wait(n.side[1].rx_cntr, 0, 0), -FI_EINVAL);
	cr_assert_eq(fi_control(&n.side[1].rx_cntr->fid, FI_GETWAIT, &fd), 0);
	for (unsigned int i = 1; i <= 3; i++) {
		cr_assert_eq(fi_wait(set, 1), -FI_ETIMEDOUT);
		cr_assert(!readable(fd));
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
		cr_assert(readable(fd));
		cr_assert_eq(fi_wait(set, -1), 0);
		expect(n.side[1].rx_cntr, i, 0);
		expect(n.side[0].tx_cntr, i, 0);
	}
	cr_assert_eq(fi_close(&set->fid), -FI_EBUSY);
	cr_assert_eq(net_close(&n), -FI_EBUSY); /* all but the fabric */
	cr_assert_eq(fi_close(&set->fid), 0);
}

/* another reader may have taken the completion before the counter's user */
Test(cntr, fd_tells_of_what_the_completion_queue_gave_out)
{
	struct fid_cntr *cntr;

	n.cq_attr.wait_obj = FI_WAIT_FD;
	join_counted(FI_WAIT_FD);
	cntr = n.side[1].rx_cntr;
	cr_assert_eq(trywait(cntr), 0);
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
	cr_assert(readable(fd_of(cntr)));
	cr_assert_eq(trywait(cntr), -FI_EAGAIN);
	cr_assert_eq(trywait(cntr), 0);
}

/* and the other way round: what the counter's reader finds is the queue's */
Test(cntr, completion_queue_tells_of_what_the_counter_found)
{
	struct fid *fid;
	int fd;

	n.cq_attr.wait_obj = FI_WAIT_FD;
	join_counted(FI_WAIT_FD);
	fid = &n.side[1].cq->fid;
	cr_assert_eq(fi_control(fid, FI_GETWAIT, &fd), 0);
	for (int i = 0; i < 3; i++) {
		struct net_comp comp;

		cr_assert_eq(fi_trywait(n.fabric, &fid, 1), 0);
		cr_assert(!readable(fd));
		cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
		cr_assert_eq(net_send(&n, 0, 0, 64, NULL), 0);
		cr_assert_eq(trywait(n.side[1].rx_cntr), -FI_EAGAIN);
		cr_assert(readable(fd));
		cr_assert_eq(net_comp(&n, n.side[1].cq, &comp), 0);
	}
}

Test(cntr, queue_that_cannot_wake_is_looked_at)
{
	struct fid_ep *ep[2];

	cntr_attr.wait_obj = FI_WAIT_FD;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
	n.bind_ep = bind_counted; /* which finds the queues in use */
	cr_assert_eq(net_join_more(&n, &ep[0], &ep[1]), 0);
	cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	cr_assert_eq(fi_close(&n.side[1].ep->fid), 0);
	n.side[0].ep = ep[0];
	n.side[1].ep = ep[1];
	/* its fd would not tell, so nobody may sleep on it */
	cr_assert_eq(trywait(n.side[1].rx_cntr), -FI_EAGAIN);
	cr_assert_eq(trywait(n.side[1].rx_cntr), -FI_EAGAIN);
	cr_assert_eq(fi_cntr_wait(n.side[1].rx_cntr, 1, 5), -FI_ETIMEDOUT);
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
	cr_assert_eq(fi_cntr_wait(n.side[1].rx_cntr, 1, -1), 0);
}
