/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Event queues: reading, writing, peeking, errors and waiting. */

#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "fake.h"
#include "net.h"
#include "rcm_ep.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	n.eq_attr.wait_obj = FI_WAIT_FD;
	n.eq_attr.flags = FI_WRITE;
	cr_assert_eq(net_open(&n), 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(eq, .init = set_up, .fini = tear_down);

static struct fid_eq *eq(void)
{
	return n.side[0].eq;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* A connection that the peer refuses with LEN bytes. */
static void refused(const void *data, size_t len)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(fi_reject(n.pep, n.req->handle, data, len), 0);
}

Test(eq, empty_queue_says_again)
{
	struct fi_eq_err_entry err = { 0 };
	uint32_t event = 77;
	char buf[64];

	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), -FI_EAGAIN);
	/* LF commit 2b4853cfb */
	cr_assert_eq(fi_eq_readerr(eq(), &err, 0), -FI_EAGAIN);
	cr_assert_eq(event, 77);
}

Test(eq, written_events_come_back_in_order)
{
	uint32_t event;
	char buf[64];

	cr_assert_eq(fi_eq_write(eq(), 1000, "one", 4, 0), 4);
	cr_assert_eq(fi_eq_write(eq(), 1001, "twoo", 5, 0), 5);
	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), 4);
	cr_assert_eq(event, 1000);
	cr_assert_str_eq(buf, "one");
	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), 5);
	cr_assert_eq(event, 1001);
	cr_assert_str_eq(buf, "twoo");
}

/* LF commits 548553f59, 9abf00b13 */
Test(eq, peek_leaves_the_entry)
{
	uint32_t event;
	char buf[64];

	cr_assert_eq(fi_eq_write(eq(), 1000, "one", 4, 0), 4);
	cr_assert_eq(fi_eq_write(eq(), 1001, "two", 4, 0), 4);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(
			fi_eq_read(eq(), &event, buf, sizeof(buf), FI_PEEK), 4);
		cr_assert_eq(event, 1000);
	}
	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), 4);
	cr_assert_eq(event, 1000);
	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), 4);
	cr_assert_eq(event, 1001);
}

Test(eq, short_buffer_leaves_the_entry)
{
	uint32_t event;
	char buf[64];

	cr_assert_eq(fi_eq_write(eq(), 1000, "12345678", 8, 0), 8);
	cr_assert_eq(fi_eq_read(eq(), &event, buf, 4, 0), -FI_ETOOSMALL);
	cr_assert_eq(fi_eq_read(eq(), &event, buf, 8, 0), 8);
}

Test(eq, writing_needs_its_flag)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_NONE };
	struct fid_eq *other;

	cr_assert_eq(fi_eq_open(n.fabric, &attr, &other, NULL), 0);
	cr_assert_lt(fi_eq_write(other, 1, "x", 1, 0), 0);
	cr_assert_eq(fi_close(&other->fid), 0);
}

/* LF commits 39a698d9f, d0e6c5b8c (FI_WAIT_MUTEX_COND) */
Test(eq, wait_objects_that_are_not_offered_are_refused)
{
	static const enum fi_wait_obj wrong[] = { FI_WAIT_MUTEX_COND, 99 };
	struct fi_eq_attr attr = { 0 };
	struct fid_eq *other;

	for (size_t i = 0; i < RCM_ARRAY_SIZE(wrong); i++) {
		attr.wait_obj = wrong[i];
		cr_assert_lt(fi_eq_open(n.fabric, &attr, &other, NULL), 0);
	}
	attr.wait_obj = FI_WAIT_UNSPEC;
	cr_assert_eq(fi_eq_open(n.fabric, &attr, &other, NULL), 0);
	cr_assert_eq(fi_close(&other->fid), 0);
}

/* LF#5788 for completion queues */
Test(eq, waiting_without_a_wait_object_is_refused)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_NONE };
	struct fid_eq *other;
	uint32_t event;
	char buf[64];
	int fd;

	cr_assert_eq(fi_eq_open(n.fabric, &attr, &other, NULL), 0);
	cr_assert_eq(fi_eq_sread(other, &event, buf, sizeof(buf), 1, 0),
		     -FI_ENOSYS);
	cr_assert_lt(fi_control(&other->fid, FI_GETWAIT, &fd), 0);
	cr_assert_eq(fi_close(&other->fid), 0);
}

Test(eq, wait_object_is_told_only_where_there_is_room_for_it)
{
	cr_assert_eq(fi_control(&eq()->fid, FI_GETWAIT, NULL), -FI_EINVAL);
#ifdef FI_GETWAITOBJ
	cr_assert_eq(fi_control(&eq()->fid, FI_GETWAITOBJ, NULL), -FI_EINVAL);
#endif
}

Test(eq, sread_waits_as_long_as_it_says)
{
	int64_t start = now_ms();
	uint32_t event;
	char buf[64];

	cr_assert_eq(fi_eq_sread(eq(), &event, buf, sizeof(buf), 30, 0),
		     -FI_EAGAIN);
	cr_assert(now_ms() - start >= 30);
	cr_assert(now_ms() - start < 1000);
	cr_assert_eq(fi_eq_sread(eq(), &event, buf, sizeof(buf), 0, 0),
		     -FI_EAGAIN);
}

static void *write_event(void *arg)
{
	(void)arg;
	fi_eq_write(eq(), 1000, "one", 4, 0);
	return NULL;
}

Test(eq, write_wakes_a_waiting_reader)
{
	pthread_t thread;
	uint32_t event;
	char buf[64];

	pthread_create(&thread, NULL, write_event, NULL);
	cr_assert_eq(fi_eq_sread(eq(), &event, buf, sizeof(buf), -1, 0), 4);
	pthread_join(thread, NULL);
}

static bool readable(void)
{
	struct pollfd pfd = { .events = POLLIN };

	cr_assert_eq(fi_control(&eq()->fid, FI_GETWAIT, &pfd.fd), 0);
	return poll(&pfd, 1, 0) == 1;
}

/* fabtests#197, LF#8947: the fd is readable while something waits */
Test(eq, fd_is_readable_while_an_event_waits)
{
	struct fid *fid = &eq()->fid;
	uint32_t event;
	char buf[64];

	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), 0);
	cr_assert(!readable());
	cr_assert_eq(fi_eq_write(eq(), 1000, "one", 4, 0), 4);
	cr_assert(readable());
	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), -FI_EAGAIN);
	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), 4);
	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), 0);
	cr_assert(!readable());
	/* an event of the connection manager, too */
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert(readable());
}

Test(eq, error_entry_comes_before_and_beside_events)
{
	struct fi_eq_err_entry err = { 0 };
	uint32_t event;
	char buf[64];

	refused("no", 2);
	cr_assert_eq(fi_eq_write(eq(), 1000, "one", 4, 0), 4);
	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), -FI_EAVAIL);
	/* LF commit 9abf00b13: peek at an error */
	cr_assert_gt(fi_eq_readerr(eq(), &err, FI_PEEK), 0);
	memset(&err, 0, sizeof(err));
	cr_assert_eq(fi_eq_readerr(eq(), &err, 0), sizeof(err));
	cr_assert_eq(err.fid, &n.side[0].ep->fid);
	cr_assert_eq(err.context, &n.side[0]);
	cr_assert_eq(err.err, FI_ECONNREFUSED);
	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), 4);
	cr_assert_eq(event, 1000);
}

/* LF#2063, LF#659 */
Test(eq, error_data_is_bounded_by_the_readers_buffer)
{
	struct {
		char data[4];
		char guard[4];
	} small;
	struct fi_eq_err_entry err = { .err_data = small.data,
				       .err_data_size = 4 };

	memset(&small, '#', sizeof(small));
	refused("12345678901234567890", 20);
	cr_assert_eq(fi_eq_readerr(eq(), &err, 0), sizeof(err));
	cr_assert_eq(err.err_data_size, 4);
	cr_assert_arr_eq(small.data, "1234", 4);
	cr_assert_arr_eq(small.guard, "####", 4);
}

Test(eq, error_data_without_a_buffer_stays_until_the_next_read)
{
	struct fi_eq_err_entry err = { 0 };

	refused("12345678901234567890", 20);
	cr_assert_eq(fi_eq_readerr(eq(), &err, 0), sizeof(err));
	cr_assert_eq(err.err_data_size, 20);
	cr_assert_arr_eq(err.err_data, "12345678901234567890", 20);
}

/* LF#7880, UCX PR#7788, S03 */
Test(eq, error_text_tells_refusals_apart_and_ends)
{
	struct fi_eq_err_entry err = { 0 };
	char text[128], cut[4];

	refused(NULL, 0);
	cr_assert_eq(fi_eq_readerr(eq(), &err, 0), sizeof(err));
	cr_assert_eq(err.prov_errno, 28);
	cr_assert_not_null(fi_eq_strerror(eq(), 28, NULL, text, sizeof(text)));
	cr_assert_not_null(strchr(text, ' '));
	cr_assert_str_neq(text, fi_eq_strerror(eq(), 8, NULL, NULL, 0));
	memset(cut, '#', sizeof(cut));
	fi_eq_strerror(eq(), 28, NULL, cut, sizeof(cut));
	cr_assert_eq(strnlen(cut, sizeof(cut)), 3);
}

/* LF commit ff14d3e3c */
Test(eq, failing_channel_is_an_error_and_no_length)
{
	uint32_t event;
	char buf[64];

	fake_fail(FAKE_get_cm_event, 1, EBADF);
	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), -FI_EBADF);
	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), -FI_EAGAIN);
}

/* LF commit 782192552 */
Test(eq, unknown_events_are_skipped)
{
	struct rdma_cm_id *id;
	uint32_t event;
	char buf[64];

	cr_assert_eq(net_join(&n), 0);
	id = rcm_ep_of(n.side[0].ep)->conn->id;
	fake_inject_cm_event(id, 12, 0);
	fake_inject_cm_event(id, 13, 0);
	fake_inject_cm_event(id, 16, 0);
	fake_inject_cm_event(id, 1000, -5);
	cr_assert_eq(fi_eq_read(eq(), &event, buf, sizeof(buf), 0), -FI_EAGAIN);
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
}

Test(eq, event_of_a_connection_needs_room_for_its_entry)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;
	int ret = -FI_EAGAIN;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, "12345", 5), 0);
	for (int i = 0; i < 20 && ret == -FI_EAGAIN; i++) {
		(void)fi_eq_read(eq(), &event, &entry, sizeof(entry), 0);
		ret = fi_eq_read(n.side[1].eq, &event, &entry, 8, 0);
	}
	cr_assert_eq(ret, -FI_ETOOSMALL);
	cr_assert_eq(fi_eq_read(n.side[1].eq, &event, &entry, sizeof(entry), 0),
		     sizeof(entry));
	cr_assert_eq(event, FI_CONNREQ);
	n.req = entry.info;
}
