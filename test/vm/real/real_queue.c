/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "real.h"

/* LF#962, LF#4616: a receive too small is FI_ETRUNC, and ends the connection
 * once on each side. */
Test(failure, short_receive_is_truncation)
{
	static char out[64], in[16];
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	void *out_desc, *in_desc;
	struct real r;

	real_open_pair(&r, NULL);
	out_desc = real_mr(&r, out, sizeof(out), FI_SEND);
	in_desc = real_mr(&r, in, sizeof(in), FI_RECV);
	real_ok(fi_recv(r.b.ep, in, sizeof(in), in_desc, 0, in));
	real_ok(fi_send(r.a.ep, out, sizeof(out), out_desc, 0, out));
	cr_assert_not(real_completion(r.b.rxcq, &entry, &err));
	cr_assert_eq(err.err, FI_ETRUNC, "%s (%s)", fi_strerror(err.err),
		     fi_cq_strerror(r.b.rxcq, err.prov_errno, NULL, NULL, 0));
	cr_assert_eq(err.op_context, in);
	cr_assert(err.flags & FI_RECV);
	cr_assert_not(real_completion(r.a.txcq, &entry, &err));
	cr_assert_eq(err.op_context, out);
	cr_assert(err.flags & FI_SEND);
	cr_assert_gt(err.err, 0);
	real_expect(&r.a, FI_SHUTDOWN);
	real_expect(&r.b, FI_SHUTDOWN);
	real_expect_quiet(r.a.eq, 50);
	real_expect_quiet(r.b.eq, 50);
	real_fails(FI_ESHUTDOWN, fi_inject(r.a.ep, "x", 1, 0));
	real_close(&r);
}

/* LF#2859: before the connection stands a send is refused, never fatal. */
Test(failure, send_before_the_connection_is_refused)
{
	struct fi_info *info;
	struct fid_ep *ep;
	struct real r;

	real_open(&r, NULL);
	info = real_peer_info(&r);
	real_ok(fi_endpoint(r.domain, info, &ep, NULL));
	real_fails(FI_EOPBADSTATE, fi_inject(ep, "x", 1, 0));
	real_ok(fi_close(&ep->fid));
	real_side_open(&r, &r.a, info);
	fi_freeinfo(info);
	real_fails(FI_ENOTCONN, fi_inject(r.a.ep, "x", 1, 0));
	real_close(&r);
}

/* Counts the entries of CQ that are FI_ECANCELED; others fail the test. */
static int count_cancelled(struct fid_cq *cq)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t n;
	int count = 0;

	while ((n = fi_cq_read(cq, &entry, 1)) == -FI_EAVAIL) {
		memset(&err, 0, sizeof(err));
		real_ok(fi_cq_readerr(cq, &err, 0));
		cr_assert_eq(err.err, FI_ECANCELED, "%s", fi_strerror(err.err));
		cr_assert_not_null(err.op_context);
		count++;
	}
	cr_assert_eq(n, -FI_EAGAIN);
	return count;
}

static void post_receives(struct real *r, struct fid_ep *ep, int n)
{
	static char in[64];
	void *desc;
	int i;

	desc = real_mr(r, in, sizeof(in), FI_RECV);
	for (i = 0; i < n; i++)
		real_ok(fi_recv(ep, in, sizeof(in), desc, 0, &in[i]));
}

/* LF#7287: every operation ends in an entry before fi_close returns. */
Test(failure, close_cancels_what_is_posted)
{
	struct real r;

	real_open_pair(&r, NULL);
	post_receives(&r, r.b.ep, 8);
	real_ok(fi_close(&r.b.ep->fid));
	r.b.ep = NULL;
	cr_assert_eq(count_cancelled(r.b.rxcq), 8);
	real_expect(&r.a, FI_SHUTDOWN);
	real_close(&r);
}

/* fi_cm(3): canceled entries are written before fi_shutdown returns. */
Test(failure, shutdown_cancels_what_is_posted)
{
	struct real r;

	real_open_pair(&r, NULL);
	post_receives(&r, r.b.ep, 8);
	real_ok(fi_shutdown(r.b.ep, 0));
	cr_assert_eq(count_cancelled(r.b.rxcq), 8);
	real_fails(FI_ESHUTDOWN, fi_inject(r.b.ep, "x", 1, 0));
	real_expect(&r.a, FI_SHUTDOWN);
	real_expect(&r.b, FI_SHUTDOWN);
	real_expect_quiet(r.b.eq, 50);
	real_close(&r);
}

/* LF#7837: also when the connection never came about. */
Test(failure, close_of_a_refused_endpoint_cancels_its_receives)
{
	struct fi_eq_err_entry err;
	struct fi_info *info;
	struct real r;

	real_open(&r, NULL);
	info = real_peer_info(&r);
	real_ok(fi_close(&r.pep->fid));
	r.pep = NULL;
	real_side_open(&r, &r.a, info);
	post_receives(&r, r.a.ep, 8);
	real_ok(fi_connect(r.a.ep, info->dest_addr, NULL, 0));
	fi_freeinfo(info);
	real_expect_err(r.a.eq, &err);
	real_ok(fi_close(&r.a.ep->fid));
	r.a.ep = NULL;
	cr_assert_eq(count_cancelled(r.a.rxcq), 8);
	real_close(&r);
}

/* The peer's goodbye flushes this side's receives by itself. */
Test(failure, receives_flush_after_the_peer_has_gone)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	struct real r;
	int i;

	real_open_pair(&r, NULL);
	post_receives(&r, r.b.ep, 8);
	real_side_close(&r.a);
	real_expect(&r.b, FI_SHUTDOWN);
	for (i = 0; i < 8; i++) {
		cr_assert_not(real_completion(r.b.rxcq, &entry, &err));
		cr_assert_eq(err.err, FI_ECANCELED);
	}
	real_fails(FI_ESHUTDOWN, fi_inject(r.b.ep, "x", 1, 0));
	real_close(&r);
}

/* All that a full send queue says is FI_EAGAIN, and reading clears it. */
Test(queue, full_queue_clears_when_read)
{
	struct real_opts opts = { .tx_size = 8 };
	struct fi_cq_data_entry entry;
	struct real r;
	int posted = 0, done = 0;
	ssize_t ret;

	real_open_pair(&r, &opts);
	while ((ret = fi_send(r.a.ep, NULL, 0, NULL, 0, &r)) == 0)
		posted++;
	cr_assert_eq(ret, -FI_EAGAIN);
	cr_assert_geq(posted, 8);
	while (done < posted) {
		real_ok(fi_recv(r.b.ep, NULL, 0, NULL, 0, &r));
		real_done(r.b.rxcq, &entry, &r);
		real_done(r.a.txcq, &entry, &r);
		done++;
	}
	real_ok(fi_recv(r.b.ep, NULL, 0, NULL, 0, &r));
	real_ok(fi_send(r.a.ep, NULL, 0, NULL, 0, &r));
	real_done(r.a.txcq, &entry, &r);
	real_close(&r);
}

/* LF#10692: a completion queue larger than the device's largest. */
Test(queue, completion_queue_beyond_the_device_works)
{
	struct real_opts opts = { .cq_size = 262144 };
	struct fi_cq_data_entry entry;
	struct real r;

	real_open_pair(&r, &opts);
	real_ok(fi_recv(r.b.ep, NULL, 0, NULL, 0, &r));
	real_ok(fi_inject(r.a.ep, NULL, 0, 0));
	real_done(r.b.rxcq, &entry, &r);
	real_close(&r);
}

/* LF#8947: waiting by fd misses nothing. */
Test(wait, fd_wakes_for_each_message)
{
	struct real_opts opts = { .cq_wait = FI_WAIT_FD };
	struct fi_cq_data_entry entry;
	struct pollfd fd = { .events = POLLIN };
	struct fid *fids[1];
	struct real r;
	int i, n;

	real_open_pair(&r, &opts);
	real_ok(fi_control(&r.b.rxcq->fid, FI_GETWAIT, &fd.fd));
	fids[0] = &r.b.rxcq->fid;
	for (i = 0; i < 200; i++) {
		real_ok(fi_recv(r.b.ep, NULL, 0, NULL, 0, &r));
		while (fi_inject(r.a.ep, NULL, 0, 0))
			;
		while (fi_cq_read(r.b.rxcq, &entry, 1) != 1) {
			if (fi_trywait(r.fabric, fids, 1))
				continue;
			n = poll(&fd, 1, REAL_PATIENCE);
			cr_assert_eq(n, 1, "message %d did not wake", i);
		}
	}
	if (!fi_trywait(r.fabric, fids, 1))
		cr_assert_eq(poll(&fd, 1, 20), 0, "readable while empty");
	real_close(&r);
}

static void *signal_soon(void *cq)
{
	usleep(50000);
	real_ok(fi_cq_signal(cq));
	return NULL;
}

/* PR#884: a blocked reader can be woken, once. */
Test(wait, signal_wakes_a_reader)
{
	struct real_opts opts = { .cq_wait = FI_WAIT_UNSPEC };
	struct fi_cq_data_entry entry;
	struct timespec t0, t1;
	pthread_t thread;
	struct real r;

	real_open_pair(&r, &opts);
	cr_assert_eq(pthread_create(&thread, NULL, signal_soon, r.b.rxcq), 0);
	real_fails(FI_EAGAIN, fi_cq_sread(r.b.rxcq, &entry, 1, NULL, -1));
	pthread_join(thread, NULL);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	real_fails(FI_EAGAIN, fi_cq_sread(r.b.rxcq, &entry, 1, NULL, 200));
	clock_gettime(CLOCK_MONOTONIC, &t1);
	cr_assert_geq((t1.tv_sec - t0.tv_sec) * 1000 +
			      (t1.tv_nsec - t0.tv_nsec) / 1000000,
		      190, "the second wait did not wait");
	real_close(&r);
}
