/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * FI_MULTI_RECV, fi_cancel(3) and the room that is left in a queue, through
 * fi_* calls. LF#2319, chapel#11180
 */

#include <criterion/criterion.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_getinfo.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	n.hints->caps = FI_MSG | FI_MULTI_RECV;
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(multi_recv, .init = set_up, .fini = tear_down);

static void join_pair(void)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
}

static struct fid_ep *receiver(void)
{
	return n.side[1].ep;
}

/* fi_rx_size_left(3), fi_tx_size_left(3): deprecated, but there */
static ssize_t rx_left(struct fid_ep *ep)
{
	return ep->ops->rx_size_left(ep);
}

static ssize_t tx_left(struct fid_ep *ep)
{
	return ep->ops->tx_size_left(ep);
}

static uint8_t *at(size_t off)
{
	return n.side[1].buf + off;
}

static void set_min(size_t min)
{
	cr_assert_eq(fi_setopt(&receiver()->fid, FI_OPT_ENDPOINT,
			       FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)),
		     0);
}

static ssize_t post_flags(size_t off, size_t len, uint64_t flags, void *context)
{
	struct net_side *s = &n.side[1];
	struct iovec iov = { s->buf + off, len };
	struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &s->desc,
		.iov_count = 1,
		.context = context,
	};

	return fi_recvmsg(s->ep, &msg, flags);
}

static ssize_t post_multi(size_t off, size_t len, void *context)
{
	return post_flags(off, len, FI_MULTI_RECV, context);
}

/*
 * A message of LEN bytes of VALUE, from a place of its own, since it may have
 * to wait. Its completion is read when it is there.
 */
static void send_value(int value, size_t len)
{
	struct net_side *s = &n.side[0];
	uint8_t *from = s->buf + (size_t)value * 512;
	struct net_comp comp;

	memset(from, value, len);
	cr_assert_eq(fi_senddata(s->ep, from, len, s->desc,
				 0xff000000u + (unsigned int)value, 0, NULL),
		     0);
	(void)net_comp(&n, s->cq, &comp);
}

static void expect_message(void *context, int value, const uint8_t *where,
			   size_t len, uint64_t flags)
{
	struct fi_cq_data_entry entry;
	size_t i;

	cr_assert_eq(fi_cq_read(n.side[1].cq, &entry, 1), 1);
	cr_assert_eq(entry.op_context, context);
	cr_assert_eq(entry.flags, FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA | flags);
	cr_assert_eq(entry.buf, where);
	cr_assert_eq(entry.len, len);
	cr_assert_eq(entry.data, 0xff000000u + (unsigned int)value);
	for (i = 0; where && i < len; i++)
		cr_assert_eq(where[i], value);
}

static void expect_error(void *context, int err, uint64_t flags)
{
	struct fi_cq_err_entry entry = { 0 };
	char byte;

	cr_assert_eq(fi_cq_read(n.side[1].cq, &byte, 0), -FI_EAVAIL);
	cr_assert_eq(fi_cq_readerr(n.side[1].cq, &entry, 0), 1);
	cr_assert_eq(entry.op_context, context);
	cr_assert_eq(entry.err, err);
	cr_assert_eq(entry.flags, FI_MSG | FI_RECV | flags);
	cr_assert_eq(entry.len, 0);
	cr_assert_eq(entry.olen, 0);
	cr_assert_eq(entry.data, 0);
}

static void expect_nothing(void)
{
	struct fi_cq_data_entry entry;

	cr_assert_eq(fi_cq_read(n.side[1].cq, &entry, 1), -FI_EAGAIN);
}

Test(multi_recv, capability_is_for_those_who_ask)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert(n.info->caps & FI_MULTI_RECV);
	cr_assert(n.info->rx_attr->caps & FI_MULTI_RECV);
	cr_assert_not(n.info->tx_attr->caps & FI_MULTI_RECV);
	/* the next message of a buffer waits for the application to read */
	cr_assert_eq(n.info->domain_attr->data_progress, FI_PROGRESS_MANUAL);
}

Test(multi_recv, nobody_else_gets_manual_progress)
{
	n.hints->caps = FI_MSG;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_not(n.info->caps & FI_MULTI_RECV);
	cr_assert_eq(n.info->domain_attr->data_progress, FI_PROGRESS_AUTO);
}

Test(multi_recv, progress_by_itself_is_not_promised_with_it)
{
	struct fi_info *info;

	n.hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
	cr_assert_eq(rcm_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, n.hints,
				 &info),
		     -FI_ENODATA);
	n.hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	cr_assert_eq(rcm_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, n.hints,
				 &info),
		     0);
	fi_freeinfo(info);
}

Test(multi_recv, messages_are_packed_and_the_last_releases)
{
	int buf1, buf2;

	join_pair();
	set_min(100);
	cr_assert_eq(post_multi(0, 400, &buf1), 0);
	cr_assert_eq(post_multi(1000, 150, &buf2), 0);
	send_value(1, 7);
	send_value(2, 0);
	send_value(3, 293);
	send_value(4, 100);
	send_value(5, 60);
	expect_message(&buf1, 1, at(0), 7, 0);
	expect_message(&buf1, 2, at(7), 0, 0);
	expect_message(&buf1, 3, at(7), 293, 0);
	expect_message(&buf1, 4, at(300), 100, FI_MULTI_RECV);
	expect_message(&buf2, 5, at(1000), 60, FI_MULTI_RECV);
	expect_nothing();
	cr_assert_eq(rx_left(receiver()), (ssize_t)n.info->rx_attr->size);
}

Test(multi_recv, ordinary_receives_keep_their_place)
{
	int first, multi, last;

	join_pair();
	set_min(64);
	cr_assert_eq(net_recv(&n, 1, 0, 50, &first), 0);
	cr_assert_eq(post_multi(100, 100, &multi), 0);
	cr_assert_eq(net_recv(&n, 1, 300, 50, &last), 0);
	send_value(1, 10);
	send_value(2, 20);
	send_value(3, 30);
	send_value(4, 40);
	expect_message(&first, 1, NULL, 10, 0);
	expect_message(&multi, 2, at(100), 20, 0);
	expect_message(&multi, 3, at(120), 30, FI_MULTI_RECV);
	expect_message(&last, 4, NULL, 40, 0);
	cr_assert_eq(*at(300), 4);
}

Test(multi_recv, default_flag_makes_every_receive_one)
{
	uint64_t flags = FI_RECV | FI_MULTI_RECV;
	struct net_side *s = &n.side[1];
	struct iovec iov[2] = { { at(200), 100 }, { at(300), 100 } };
	void *desc[2];
	int buf1, buf2;

	join_pair();
	desc[0] = desc[1] = s->desc;
	set_min(80);
	cr_assert_eq(fi_control(&s->ep->fid, FI_SETOPSFLAG, &flags), 0);
	cr_assert_eq(fi_recv(s->ep, at(0), 100, s->desc, 0, &buf1), 0);
	cr_assert_eq(fi_recvv(s->ep, iov, desc, 1, 0, &buf2), 0);
	cr_assert_eq(fi_recvv(s->ep, iov, desc, 2, 0, NULL), -FI_EINVAL);
	cr_assert_eq(fi_recv(s->ep, at(0), 1, NULL, 0, NULL), -FI_EINVAL);
	send_value(1, 10);
	send_value(2, 20);
	send_value(3, 30);
	expect_message(&buf1, 1, at(0), 10, 0);
	expect_message(&buf1, 2, at(10), 20, FI_MULTI_RECV);
	expect_message(&buf2, 3, at(200), 30, FI_MULTI_RECV);
}

Test(multi_recv, default_flag_may_come_with_the_hints)
{
	int buf;

	n.hints->rx_attr->op_flags = FI_MULTI_RECV;
	join_pair();
	cr_assert_eq(n.info->rx_attr->op_flags, FI_MULTI_RECV);
	set_min(1);
	cr_assert_eq(net_recv(&n, 1, 0, 50, &buf), 0);
	send_value(1, 10);
	send_value(2, 40);
	expect_message(&buf, 1, at(0), 10, 0);
	expect_message(&buf, 2, at(10), 40, FI_MULTI_RECV);
	/* a call's own flags stand in the place of the defaults */
	cr_assert_eq(post_flags(0, 50, 0, &buf), 0);
	send_value(3, 10);
	expect_message(&buf, 3, NULL, 10, 0);
}

Test(multi_recv, endpoint_without_the_capability_refuses_it)
{
	uint64_t flags = FI_RECV | FI_MULTI_RECV;
	struct fi_info *info;

	n.hints->caps = FI_MSG;
	join_pair();
	cr_assert_eq(post_multi(0, 100, NULL), -FI_EBADFLAGS);
	cr_assert_eq(fi_control(&receiver()->fid, FI_SETOPSFLAG, &flags),
		     -FI_EBADFLAGS);
	n.hints->rx_attr->op_flags = FI_MULTI_RECV;
	cr_assert_eq(rcm_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, n.hints,
				 &info),
		     -FI_ENODATA);
}

Test(multi_recv, wrong_buffers_are_refused)
{
	struct net_side *s = &n.side[1];
	struct iovec iov[2] = { { at(0), 10 }, { at(10), 10 } };
	void *desc[2];
	struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = 2,
	};

	join_pair();
	desc[0] = desc[1] = s->desc;
	cr_assert_eq(fi_recvmsg(s->ep, &msg, FI_MULTI_RECV), -FI_EINVAL);
	msg.iov_count = 1;
	msg.desc = NULL;
	cr_assert_eq(fi_recvmsg(s->ep, &msg, FI_MULTI_RECV), -FI_EINVAL);
	/* of no bytes: one message, and it is released */
	msg.iov_count = 0;
	cr_assert_eq(fi_recvmsg(s->ep, &msg, FI_MULTI_RECV), 0);
	send_value(1, 0);
	expect_message(NULL, 1, NULL, 0, FI_MULTI_RECV);
}

Test(multi_recv, release_is_told_though_entries_are_not)
{
	int buf;

	n.rx_bind = FI_SELECTIVE_COMPLETION;
	join_pair();
	set_min(50);
	cr_assert_eq(post_multi(0, 100, &buf), 0);
	send_value(1, 10);
	expect_nothing();
	send_value(2, 20);
	expect_nothing();
	send_value(3, 30);
	expect_message(&buf, 3, at(30), 30, FI_MULTI_RECV);
	expect_nothing();
	/* each is told when that is asked for */
	cr_assert_eq(post_flags(0, 100, FI_MULTI_RECV | FI_COMPLETION, &buf),
		     0);
	send_value(4, 10);
	expect_message(&buf, 4, at(0), 10, 0);
}

Test(multi_recv, blocking_read_goes_on_through_silent_messages)
{
	struct fi_cq_data_entry entry;
	int buf;

	n.rx_bind = FI_SELECTIVE_COMPLETION;
	n.cq_attr.wait_obj = FI_WAIT_FD;
	join_pair();
	set_min(50);
	cr_assert_eq(post_multi(0, 100, &buf), 0);
	send_value(1, 20);
	send_value(2, 30);
	send_value(3, 5);
	cr_assert_eq(fi_cq_sread(n.side[1].cq, &entry, 1, NULL, 5000), 1);
	cr_assert_eq(entry.op_context, &buf);
	cr_assert_eq(entry.len, 5);
	cr_assert_eq(entry.buf, at(50));
}

/* LF#962, LF#4616 */
Test(multi_recv, longer_message_than_what_is_left_is_truncated)
{
	struct net_ev ev;
	int buf, next;

	join_pair();
	set_min(20);
	cr_assert_eq(post_multi(0, 100, &buf), 0);
	cr_assert_eq(net_recv(&n, 1, 200, 100, &next), 0);
	send_value(1, 80);
	expect_message(&buf, 1, at(0), 80, 0);
	send_value(2, 21);
	expect_error(&buf, FI_ETRUNC, FI_MULTI_RECV);
	expect_error(&next, FI_ECANCELED, 0);
	expect_nothing();
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, &ev), 0);
}

Test(multi_recv, end_of_the_connection_tells_all_in_order)
{
	struct net_ev ev;
	int multi, held, other;

	join_pair();
	set_min(20);
	cr_assert_eq(post_multi(0, 100, &multi), 0);
	cr_assert_eq(net_recv(&n, 1, 200, 100, &held), 0);
	cr_assert_eq(post_multi(300, 100, &other), 0);
	send_value(1, 10);
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, &ev), 0);
	expect_message(&multi, 1, at(0), 10, 0);
	expect_error(&multi, FI_ECANCELED, FI_MULTI_RECV);
	expect_error(&held, FI_ECANCELED, 0);
	expect_error(&other, FI_ECANCELED, FI_MULTI_RECV);
	expect_nothing();
}

Test(multi_recv, close_tells_what_was_held_back)
{
	int multi, held;

	join_pair();
	cr_assert_eq(post_multi(0, 100, &multi), 0);
	cr_assert_eq(net_recv(&n, 1, 200, 100, &held), 0);
	cr_assert_eq(fi_close(&n.side[1].ep->fid), 0);
	n.side[1].ep = NULL;
	expect_error(&multi, FI_ECANCELED, FI_MULTI_RECV);
	expect_error(&held, FI_ECANCELED, 0);
	expect_nothing();
}

Test(multi_recv, minimum_is_an_option_of_the_endpoint)
{
	size_t min = 0, len = sizeof(min);
	struct fid_ep *ep;

	join_pair();
	ep = receiver();
	cr_assert_eq(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
			       &min, &len),
		     0);
	cr_assert_eq(len, sizeof(min));
	cr_assert_eq(min, 4096);
	set_min(17);
	cr_assert_eq(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
			       &min, &len),
		     0);
	cr_assert_eq(min, 17);
	cr_assert_eq(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
			       &min, 4),
		     -FI_EINVAL);
	cr_assert_eq(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
			       NULL, sizeof(min)),
		     -FI_EINVAL);
	len = 4;
	cr_assert_eq(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
			       &min, &len),
		     -FI_ETOOSMALL);
	cr_assert_eq(len, sizeof(min));
	cr_assert_eq(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE,
			       &min, sizeof(min)),
		     -FI_ENOPROTOOPT);
	cr_assert_eq(fi_setopt(&n.pep->fid, FI_OPT_ENDPOINT,
			       FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)),
		     -FI_ENOPROTOOPT);
}

Test(multi_recv, held_receive_can_be_canceled)
{
	int multi, held, kept;

	join_pair();
	set_min(100);
	cr_assert_eq(post_multi(0, 100, &multi), 0);
	cr_assert_eq(net_recv(&n, 1, 200, 50, &held), 0);
	cr_assert_eq(net_recv(&n, 1, 300, 50, &kept), 0);
	cr_assert_eq(fi_cancel(&receiver()->fid, &held), 0);
	expect_error(&held, FI_ECANCELED, 0);
	cr_assert_eq(fi_cancel(&receiver()->fid, &held), -FI_ENOENT);
	send_value(1, 10);
	send_value(2, 20);
	expect_message(&multi, 1, at(0), 10, FI_MULTI_RECV);
	expect_message(&kept, 2, NULL, 20, 0);
	cr_assert_eq(*at(300), 2);
}

Test(multi_recv, of_several_with_one_context_the_first_is_canceled)
{
	int multi, held;

	join_pair();
	set_min(100);
	cr_assert_eq(post_multi(0, 100, &multi), 0);
	cr_assert_eq(net_recv(&n, 1, 200, 50, &held), 0);
	cr_assert_eq(net_recv(&n, 1, 300, 50, &held), 0);
	cr_assert_eq(fi_cancel(&receiver()->fid, &held), 0);
	expect_error(&held, FI_ECANCELED, 0);
	expect_nothing();
	send_value(1, 10);
	send_value(2, 20);
	expect_message(&multi, 1, at(0), 10, FI_MULTI_RECV);
	expect_message(&held, 2, NULL, 20, 0);
	cr_assert_eq(*at(300), 2);
}

/* 81820f8b7 */
Test(multi_recv, cancel_says_what_it_cannot_do)
{
	int multi, recv, done;

	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 50, &done), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 50, &recv), 0);
	cr_assert_eq(post_multi(0, 100, &multi), 0);
	send_value(1, 10);
	expect_message(&done, 1, NULL, 10, 0);
	/* over, unknown, none; then: with the device */
	cr_assert_eq(fi_cancel(&receiver()->fid, &done), -FI_ENOENT);
	cr_assert_eq(fi_cancel(&receiver()->fid, &n), -FI_ENOENT);
	cr_assert_eq(fi_cancel(&receiver()->fid, NULL), -FI_ENOENT);
	cr_assert_eq(fi_cancel(&receiver()->fid, &recv), -FI_ENOSYS);
	cr_assert_eq(fi_cancel(&receiver()->fid, &multi), -FI_ENOSYS);
	expect_nothing();
}

Test(multi_recv, send_with_the_device_is_not_canceled)
{
	struct net_side *s = &n.side[0];
	struct net_comp comp;
	int context;

	join_pair();
	cr_assert_eq(net_send(&n, 0, 0, 8, &context), 0);
	cr_assert_eq(fi_cancel(&s->ep->fid, &context), -FI_ENOSYS);
	cr_assert_eq(net_recv(&n, 1, 0, 50, NULL), 0);
	cr_assert_eq(net_comp(&n, s->cq, &comp), 0);
	cr_assert_eq(comp.context, &context);
	cr_assert_eq(fi_cancel(&s->ep->fid, &context), -FI_ENOENT);
}

Test(multi_recv, room_that_is_left_is_counted)
{
	struct fid_ep *ep;
	ssize_t tx, rx;
	int context;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
	cr_assert_eq(rx_left(ep), -FI_EOPBADSTATE);
	cr_assert_eq(tx_left(ep), -FI_EOPBADSTATE);
	cr_assert_eq(fi_cancel(&ep->fid, &context), -FI_ENOENT);
	cr_assert_eq(fi_close(&ep->fid), 0);
	cr_assert_eq(net_join(&n), 0);
	rx = (ssize_t)n.info->rx_attr->size;
	tx = (ssize_t)n.info->tx_attr->size;
	cr_assert_eq(rx_left(receiver()), rx);
	cr_assert_eq(tx_left(n.side[0].ep), tx);
	set_min(100);
	cr_assert_eq(net_recv(&n, 1, 0, 50, &context), 0);
	cr_assert_eq(post_multi(0, 100, &context), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 50, &context), 0);
	cr_assert_eq(rx_left(receiver()), rx - 3);
	cr_assert_eq(net_send(&n, 0, 0, 8, NULL), 0);
	cr_assert_eq(tx_left(n.side[0].ep), tx - 1);
}
