/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Threading levels, and connections that move by themselves. */

#include <string.h>

#include "real.h"

/*
 * From fi_connect to the peer's end nobody reads the connecting side's event
 * queue: it resolves, connects, gets its message and learns from its
 * completion queue that the peer has gone.
 */
static void live_unread(const struct real_opts *opts)
{
	static char out[64], in[64], rest[64];
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	void *in_desc, *out_desc;
	struct fi_eq_cm_entry cm;
	struct fi_info *info;
	uint32_t event;
	struct real r;

	real_open(&r, opts);
	in_desc = real_mr(&r, in, sizeof(in), FI_RECV);
	out_desc = real_mr(&r, out, sizeof(out), FI_SEND);
	info = real_peer_info(&r);
	real_side_open(&r, &r.a, info);
	real_ok(fi_recv(r.a.ep, in, sizeof(in), in_desc, 0, in));
	real_ok(fi_connect(r.a.ep, info->dest_addr, NULL, 0));
	fi_freeinfo(info);
	real_event(r.eq, &event, &cm, sizeof(cm));
	cr_assert_eq(event, FI_CONNREQ);
	cr_assert_eq(cm.info->domain_attr->control_progress, FI_PROGRESS_AUTO);
	real_side_open(&r, &r.b, cm.info);
	fi_freeinfo(cm.info);
	real_ok(fi_accept(r.b.ep, NULL, 0));
	real_expect(&r.b, FI_CONNECTED);
	real_fill(out, sizeof(out), 7);
	real_ok(fi_send(r.b.ep, out, sizeof(out), out_desc, 0, out));
	real_done(r.b.txcq, &entry, out);
	real_done(r.a.rxcq, &entry, in);
	cr_assert(real_filled(in, sizeof(in), 7));
	in_desc = real_mr(&r, rest, sizeof(rest), FI_RECV);
	real_ok(fi_recv(r.a.ep, rest, sizeof(rest), in_desc, 0, rest));
	real_ok(fi_close(&r.b.ep->fid));
	r.b.ep = NULL;
	cr_assert_not(real_completion(r.a.rxcq, &entry, &err));
	cr_assert_eq(err.err, FI_ECANCELED);
	cr_assert_eq(err.op_context, rest);
	real_expect(&r.a, FI_CONNECTED);
	real_expect(&r.a, FI_SHUTDOWN);
	real_close(&r);
}

Test(progress, side_that_never_reads_its_events_lives_and_ends)
{
	static const struct real_opts opts = { .control = FI_PROGRESS_AUTO };

	live_unread(&opts);
}

/* Connects, and closes one side while the other waits for a message. */
static void lose_peer(struct real *r, const struct real_opts *opts, char *buf,
		      size_t len)
{
	real_open_pair(r, opts);
	real_ok(fi_recv(r->a.ep, buf, len, real_mr(r, buf, len, FI_RECV), 0,
			buf));
	real_ok(fi_close(&r->b.ep->fid));
	r->b.ep = NULL;
}

/* The same without a control thread, once the connection is there. */
Test(progress, side_that_reads_completions_only_learns_that_its_peer_has_gone)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	static char buf[64];
	struct real r;

	lose_peer(&r, NULL, buf, sizeof(buf));
	cr_assert_not(real_completion(r.a.rxcq, &entry, &err));
	cr_assert_eq(err.err, FI_ECANCELED);
	cr_assert_eq(err.op_context, buf);
	real_expect(&r.a, FI_SHUTDOWN);
	real_expect_quiet(r.a.eq, 50);
	real_close(&r);
}

Test(progress, reader_that_sleeps_learns_that_its_peer_has_gone)
{
	static const struct real_opts opts = { .cq_wait = FI_WAIT_UNSPEC };
	struct fi_cq_data_entry entry;
	static char buf[64];
	struct real r;

	lose_peer(&r, &opts, buf, sizeof(buf));
	real_fails(FI_EAVAIL, fi_cq_sread(r.a.rxcq, &entry, 1, NULL, -1));
	real_expect(&r.a, FI_SHUTDOWN);
	real_close(&r);
}

/* The control thread takes no part in the serialization that is promised. */
Test(progress, control_thread_works_at_each_level)
{
	static const enum fi_threading levels[] = { FI_THREAD_DOMAIN,
						    FI_THREAD_COMPLETION };

	for (int i = 0; i < 2; i++) {
		struct real_opts opts = { .control = FI_PROGRESS_AUTO,
					  .threading = levels[i] };

		live_unread(&opts);
	}
}

/* Some devices have thread domains for this; the others do without. */
Test(progress, levels_without_locks_move_messages)
{
	static const enum fi_threading levels[] = { FI_THREAD_DOMAIN,
						    FI_THREAD_COMPLETION };
	static char out[4096], in[4096];
	struct fi_cq_data_entry entry;
	void *in_desc, *out_desc;

	for (int i = 0; i < 2; i++) {
		struct real_opts opts = { .threading = levels[i] };
		struct real r;

		real_open_pair(&r, &opts);
		cr_assert_eq(r.info->domain_attr->threading, levels[i]);
		in_desc = real_mr(&r, in, sizeof(in), FI_RECV);
		out_desc = real_mr(&r, out, sizeof(out), FI_SEND);
		for (unsigned int k = 0; k < 20; k++) {
			real_fill(out, sizeof(out), k);
			real_ok(fi_recv(r.b.ep, in, sizeof(in), in_desc, 0,
					in));
			real_ok(fi_send(r.a.ep, out, sizeof(out), out_desc, 0,
					out));
			real_done(r.a.txcq, &entry, out);
			real_done(r.b.rxcq, &entry, in);
			cr_assert(real_filled(in, sizeof(in), k));
		}
		real_close(&r);
	}
}

/* Newer headers deprecate the inlines of wait sets. */
static int wait_for(struct fid_wait *set, int timeout)
{
	return set->ops->wait(set, timeout);
}

Test(progress, wait_set_wakes_for_each_message)
{
	static const struct real_opts opts = { .cq_wait = FI_WAIT_SET };
	struct fi_wait_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	static char out[64], in[64];
	struct fi_cq_data_entry entry;
	void *in_desc, *out_desc;
	struct fi_info *info;
	struct fid_wait *set;
	struct real r;

	real_open(&r, &opts);
	real_ok(r.fabric->ops->wait_open(r.fabric, &attr, &set));
	r.opts.wait_set = set;
	info = real_peer_info(&r);
	real_side_open(&r, &r.a, info);
	real_ok(fi_connect(r.a.ep, info->dest_addr, NULL, 0));
	fi_freeinfo(info);
	info = real_request(&r);
	real_side_open(&r, &r.b, info);
	fi_freeinfo(info);
	real_ok(fi_accept(r.b.ep, NULL, 0));
	real_expect(&r.a, FI_CONNECTED);
	real_expect(&r.b, FI_CONNECTED);
	in_desc = real_mr(&r, in, sizeof(in), FI_RECV);
	out_desc = real_mr(&r, out, sizeof(out), FI_SEND);
	real_fails(FI_ETIMEDOUT, wait_for(set, 20));
	for (int i = 0; i < 50; i++) {
		real_ok(fi_recv(r.b.ep, in, sizeof(in), in_desc, 0, in));
		real_ok(fi_send(r.a.ep, out, sizeof(out), out_desc, 0, out));
		/* whichever comes first; reading takes both */
		real_ok(wait_for(set, REAL_PATIENCE));
		real_done(r.a.txcq, &entry, out);
		real_done(r.b.rxcq, &entry, in);
	}
	real_fails(FI_ETIMEDOUT, wait_for(set, 20));
	real_side_close(&r.a);
	real_side_close(&r.b);
	real_fails(FI_EBUSY, fi_close(&r.fabric->fid));
	real_ok(fi_close(&set->fid));
	real_close(&r);
}
