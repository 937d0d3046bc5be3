/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <string.h>

#include "real.h"

/* FI_MULTI_RECV on a device: LF#2319, chapel#11180 */

#define ROOM 4000 /* bytes of one multi-receive buffer */
#define MIN  256  /* the longest message */

static const struct real_opts opts = { .caps = FI_MULTI_RECV };
static uint8_t out[MIN], pool[2 * ROOM];

static void open_pair(struct real *r, const struct real_opts *how)
{
	size_t min = MIN;

	real_open_pair(r, how);
	real_ok(fi_setopt(&r->b.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
			  &min, sizeof(min)));
}

static void post_multi(struct real *r, uint8_t *at, size_t len, void *desc)
{
	struct iovec iov = { at, len };
	struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.context = at,
	};

	real_ok(fi_recvmsg(r->b.ep, &msg, FI_MULTI_RECV));
}

/* Injects a message and knows it again by SEED. */
static void send_seed(struct real *r, unsigned int seed, size_t len)
{
	ssize_t ret;

	real_fill(out, len, seed);
	do {
		char byte;

		ret = fi_injectdata(r->a.ep, out, len, seed, 0);
		if (ret == -FI_EAGAIN)
			(void)fi_cq_read(r->a.txcq, &byte, 0);
	} while (ret == -FI_EAGAIN);
	real_ok(ret);
}

Test(multi_recv, messages_are_packed_in_order)
{
	const uint8_t *at[2] = { pool, pool + ROOM };
	struct fi_cq_data_entry entry;
	unsigned int seed, posted = 2, buf = 0, n = 200;
	struct fi_cq_err_entry err;
	struct real r;
	void *desc;

	open_pair(&r, &opts);
	desc = real_mr(&r, pool, sizeof(pool), FI_RECV);
	post_multi(&r, pool, ROOM, desc);
	post_multi(&r, pool + ROOM, ROOM, desc);
	for (seed = 0; seed < n; seed++)
		send_seed(&r, seed, seed * 7 % (MIN + 1));
	for (seed = 0; seed < n; seed++) {
		size_t len = seed * 7 % (MIN + 1);

		cr_assert(real_completion(r.b.rxcq, &entry, &err));
		cr_assert_eq(entry.op_context, pool + (size_t)buf * ROOM);
		cr_assert_eq(entry.flags & ~FI_MULTI_RECV,
			     FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA);
		cr_assert_eq(entry.data, seed);
		cr_assert_eq(entry.len, len);
		cr_assert_eq(entry.buf, at[buf]);
		cr_assert(real_filled(entry.buf, len, seed), "%u", seed);
		at[buf] += len;
		if (!(entry.flags & FI_MULTI_RECV))
			continue;
		cr_assert_lt(pool + (size_t)(buf + 1) * ROOM - at[buf], MIN);
		at[buf] = pool + (size_t)buf * ROOM;
		post_multi(&r, pool + (size_t)buf * ROOM, ROOM, desc);
		buf = !buf;
		posted++;
	}
	cr_assert_gt(posted, 6);
	real_close(&r);
}

Test(multi_recv, ordinary_receives_behind_it_keep_their_place)
{
	static uint8_t in[3][MIN];
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	struct real r;
	void *desc, *in_desc;

	open_pair(&r, &opts);
	desc = real_mr(&r, pool, sizeof(pool), FI_RECV);
	in_desc = real_mr(&r, in, sizeof(in), FI_RECV);
	real_ok(fi_recv(r.b.ep, in[0], MIN, in_desc, 0, in[0]));
	post_multi(&r, pool, (size_t)2 * MIN, desc);
	real_ok(fi_recv(r.b.ep, in[1], MIN, in_desc, 0, in[1]));
	real_ok(fi_recv(r.b.ep, in[2], MIN, in_desc, 0, in[2]));
	real_ok(fi_cancel(&r.b.ep->fid, in[1]));
	cr_assert_not(real_completion(r.b.rxcq, &entry, &err));
	cr_assert_eq(err.op_context, in[1]);
	cr_assert_eq(err.err, FI_ECANCELED);
	for (unsigned int seed = 1; seed <= 4; seed++)
		send_seed(&r, seed, 200);
	real_done(r.b.rxcq, &entry, in[0]);
	cr_assert_eq(entry.data, 1);
	cr_assert(real_filled(in[0], 200, 1));
	real_done(r.b.rxcq, &entry, pool);
	cr_assert_eq(entry.data, 2);
	cr_assert_not(entry.flags & FI_MULTI_RECV);
	real_done(r.b.rxcq, &entry, pool);
	cr_assert_eq(entry.data, 3);
	cr_assert(entry.flags & FI_MULTI_RECV);
	cr_assert(real_filled(pool + 200, 200, 3));
	real_done(r.b.rxcq, &entry, in[2]);
	cr_assert_eq(entry.data, 4);
	cr_assert(real_filled(in[2], 200, 4));
	real_close(&r);
}

/* Nothing is there to read in between, and nobody polls: fi_cq_sread alone. */
Test(multi_recv, silent_messages_do_not_stop_a_blocking_reader)
{
	const struct real_opts silent = {
		.caps = FI_MULTI_RECV,
		.cq_wait = FI_WAIT_FD,
		.rx_bind = FI_SELECTIVE_COMPLETION,
	};
	struct fi_cq_data_entry entry;
	struct real r;

	open_pair(&r, &silent);
	post_multi(&r, pool, ROOM, real_mr(&r, pool, sizeof(pool), FI_RECV));
	for (unsigned int seed = 1; seed <= 30; seed++)
		send_seed(&r, seed, 125);
	/* 3750 bytes leave 250 */
	cr_assert_eq(fi_cq_sread(r.b.rxcq, &entry, 1, NULL, REAL_PATIENCE), 1);
	cr_assert_eq(entry.op_context, pool);
	cr_assert_eq(entry.flags,
		     FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA | FI_MULTI_RECV);
	cr_assert_eq(entry.data, 30);
	for (unsigned int seed = 1; seed <= 30; seed++)
		cr_assert(real_filled(pool + (size_t)(seed - 1) * 125, 125,
				      seed));
	real_close(&r);
}

/* LF#962, LF#4616 */
Test(multi_recv, truncation_releases_and_cancels_what_waits)
{
	static uint8_t in[MIN];
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	struct real r;
	void *desc;

	open_pair(&r, &opts);
	desc = real_mr(&r, in, sizeof(in), FI_RECV);
	post_multi(&r, pool, 100, real_mr(&r, pool, sizeof(pool), FI_RECV));
	real_ok(fi_recv(r.b.ep, in, sizeof(in), desc, 0, in));
	send_seed(&r, 1, 101);
	cr_assert_not(real_completion(r.b.rxcq, &entry, &err));
	cr_assert_eq(err.op_context, pool);
	cr_assert_eq(err.err, FI_ETRUNC);
	cr_assert_eq(err.flags, FI_MSG | FI_RECV | FI_MULTI_RECV);
	cr_assert_not(real_completion(r.b.rxcq, &entry, &err));
	cr_assert_eq(err.op_context, in);
	cr_assert_eq(err.err, FI_ECANCELED);
	real_expect(&r.b, FI_SHUTDOWN);
	real_close(&r);
}

Test(multi_recv, shutdown_tells_all_in_order)
{
	static uint8_t in[MIN];
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	struct real r;
	void *desc;

	open_pair(&r, &opts);
	desc = real_mr(&r, pool, sizeof(pool), FI_RECV);
	post_multi(&r, pool, ROOM, desc);
	real_ok(fi_recv(r.b.ep, in, sizeof(in),
			real_mr(&r, in, sizeof(in), FI_RECV), 0, in));
	post_multi(&r, pool + ROOM, ROOM, desc);
	/* one message is there and not read when the end comes */
	send_seed(&r, 1, 20);
	real_ok(fi_shutdown(r.a.ep, 0));
	real_expect(&r.b, FI_SHUTDOWN);
	if (real_completion(r.b.rxcq, &entry, &err)) {
		cr_assert_eq(entry.len, 20);
		cr_assert_not(real_completion(r.b.rxcq, &entry, &err));
	}
	cr_assert_eq(err.op_context, pool);
	cr_assert_eq(err.err, FI_ECANCELED);
	cr_assert_eq(err.flags, FI_MSG | FI_RECV | FI_MULTI_RECV);
	cr_assert_not(real_completion(r.b.rxcq, &entry, &err));
	cr_assert_eq(err.op_context, in);
	cr_assert_not(real_completion(r.b.rxcq, &entry, &err));
	cr_assert_eq(err.op_context, pool + ROOM);
	cr_assert_eq(err.flags, FI_MSG | FI_RECV | FI_MULTI_RECV);
	real_close(&r);
}
