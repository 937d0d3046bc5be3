/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "real.h"

/* Counters on a real device: fi_cntr(3). */

#define MESSAGES 200

static char out[4096], in[4096];

/* Sends message I, which side b has a receive for. */
static void send_one(struct real *r, int i, void *out_desc, void *in_desc)
{
	real_fill(out, sizeof(out), (unsigned int)i);
	real_ok(fi_recv(r->b.ep, in, sizeof(in), in_desc, 0, NULL));
	if (i % 3 == 0)
		real_ok(fi_inject(r->a.ep, out, 16, 0));
	else
		real_ok(fi_send(r->a.ep, out, sizeof(out), out_desc, 0, NULL));
}

static void expect_values(struct fid_cntr *cntr, uint64_t value, uint64_t errs)
{
	cr_assert_eq(fi_cntr_read(cntr), value, "%llu",
		     (unsigned long long)fi_cntr_read(cntr));
	cr_assert_eq(fi_cntr_readerr(cntr), errs, "%llu",
		     (unsigned long long)fi_cntr_readerr(cntr));
}

/* Messages one at a time, each waited for on both sides by counters alone. */
static void exchange_counted(struct real *r)
{
	void *out_desc = real_mr(r, out, sizeof(out), FI_SEND);
	void *in_desc = real_mr(r, in, sizeof(in), FI_RECV);
	int i;

	for (i = 1; i <= MESSAGES; i++) {
		send_one(r, i, out_desc, in_desc);
		real_ok(fi_cntr_wait(r->b.rxcntr, (uint64_t)i, REAL_PATIENCE));
		cr_assert(real_filled(in, i % 3 ? sizeof(in) : 16,
				      (unsigned int)i));
		real_ok(fi_cntr_wait(r->a.txcntr, (uint64_t)i, REAL_PATIENCE));
	}
	expect_values(r->a.txcntr, MESSAGES, 0);
	expect_values(r->a.rxcntr, 0, 0);
	expect_values(r->b.txcntr, 0, 0);
	expect_values(r->b.rxcntr, MESSAGES, 0);
	real_fails(FI_ETIMEDOUT, fi_cntr_wait(r->b.rxcntr, MESSAGES + 1, 10));
}

Test(counter, messages_are_counted_without_entries)
{
	struct real_opts opts = { .counted = true,
				  .cntr_wait = FI_WAIT_UNSPEC,
				  .tx_bind = FI_SELECTIVE_COMPLETION,
				  .rx_bind = FI_SELECTIVE_COMPLETION };
	struct fi_cq_data_entry entry;
	struct real r;

	real_open_pair(&r, &opts);
	exchange_counted(&r);
	real_fails(FI_EAGAIN, fi_cq_read(r.a.txcq, &entry, 1));
	real_fails(FI_EAGAIN, fi_cq_read(r.b.rxcq, &entry, 1));
	real_close(&r);
}

Test(counter, entries_are_kept_for_who_reads_later)
{
	struct real_opts opts = { .counted = true,
				  .cntr_wait = FI_WAIT_FD,
				  .cq_wait = FI_WAIT_FD };
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	struct real r;
	int i;

	real_open_pair(&r, &opts);
	exchange_counted(&r);
	for (i = 0; i < MESSAGES; i++)
		cr_assert(real_completion(r.b.rxcq, &entry, &err));
	real_fails(FI_EAGAIN, fi_cq_read(r.b.rxcq, &entry, 1));
	real_close(&r);
}

Test(counter, endpoints_need_no_completion_queue)
{
	struct real_opts opts = { .counted = true,
				  .cntr_wait = FI_WAIT_FD,
				  .no_cq = true };
	struct real r;

	real_open_pair(&r, &opts);
	exchange_counted(&r);
	real_close(&r);
}

/* A thread that reads the queue takes the events that the counter waits for. */
static void *read_entries(void *arg)
{
	struct fid_cq *cq = arg;
	struct fi_cq_data_entry entry;
	int count = 0;

	while (count < MESSAGES) {
		ssize_t n = fi_cq_sread(cq, &entry, 1, NULL, REAL_PATIENCE);

		if (n == 1)
			count++;
		else if (n != -FI_EAGAIN)
			break;
	}
	return count == MESSAGES ? NULL : arg;
}

Test(counter, waiting_beside_a_reader_misses_nothing)
{
	struct real_opts opts = { .counted = true,
				  .cntr_wait = FI_WAIT_FD,
				  .cq_wait = FI_WAIT_FD };
	pthread_t thread;
	void *failed;
	struct real r;

	real_open_pair(&r, &opts);
	cr_assert_eq(pthread_create(&thread, NULL, read_entries, r.b.rxcq), 0);
	exchange_counted(&r);
	pthread_join(thread, &failed);
	cr_assert_null(failed);
	real_close(&r);
}

Test(counter, fd_wakes_for_each_message)
{
	struct real_opts opts = { .counted = true, .cntr_wait = FI_WAIT_FD };
	void *out_desc, *in_desc;
	struct pollfd p = { .events = POLLIN };
	struct fid *fid;
	struct real r;
	int i;

	real_open_pair(&r, &opts);
	out_desc = real_mr(&r, out, sizeof(out), FI_SEND);
	in_desc = real_mr(&r, in, sizeof(in), FI_RECV);
	fid = &r.b.rxcntr->fid;
	real_ok(fi_control(fid, FI_GETWAIT, &p.fd));
	for (i = 1; i <= 50; i++) {
		int n;

		send_one(&r, i, out_desc, in_desc);
		while (fi_cntr_read(r.b.rxcntr) < (uint64_t)i) {
			if (fi_trywait(r.fabric, &fid, 1))
				continue;
			n = poll(&p, 1, REAL_PATIENCE);
			cr_assert_eq(n, 1, "message %d did not wake", i);
		}
	}
	real_close(&r);
}

Test(counter, canceled_receives_are_errors)
{
	struct real_opts opts = { .counted = true,
				  .cntr_wait = FI_WAIT_FD,
				  .no_cq = true };
	struct real r;
	void *desc;
	int i;

	real_open_pair(&r, &opts);
	desc = real_mr(&r, in, sizeof(in), FI_RECV);
	for (i = 0; i < 8; i++)
		real_ok(fi_recv(r.b.ep, in, sizeof(in), desc, 0, NULL));
	real_ok(fi_shutdown(r.a.ep, 0));
	real_expect(&r.b, FI_SHUTDOWN);
	real_ok(fi_close(&r.b.ep->fid));
	r.b.ep = NULL;
	expect_values(r.b.rxcntr, 0, 8);
	real_close(&r);
}

Test(counter, short_receive_ends_a_wait)
{
	struct real_opts opts = { .counted = true,
				  .cntr_wait = FI_WAIT_FD,
				  .no_cq = true };
	void *out_desc, *in_desc;
	struct real r;

	real_open_pair(&r, &opts);
	out_desc = real_mr(&r, out, sizeof(out), FI_SEND);
	in_desc = real_mr(&r, in, sizeof(in), FI_RECV);
	real_ok(fi_recv(r.b.ep, in, 16, in_desc, 0, NULL));
	real_ok(fi_send(r.a.ep, out, 64, out_desc, 0, NULL));
	real_fails(FI_EAVAIL, fi_cntr_wait(r.b.rxcntr, 1, REAL_PATIENCE));
	real_fails(FI_EAVAIL, fi_cntr_wait(r.a.txcntr, 1, REAL_PATIENCE));
	expect_values(r.b.rxcntr, 0, 1);
	expect_values(r.a.txcntr, 0, 1);
	real_close(&r);
}
