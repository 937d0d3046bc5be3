/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <string.h>
#include <time.h>

#include "real.h"

/* Two connections whose accepting ends share their receives. */

#define SLOTS 16
#define LEN   4096 /* more than goes inline */

struct pair {
	struct real_side a, b;
};

static uint8_t in[SLOTS][LEN], out[LEN];
static void *in_desc, *out_desc;

static void open_with(struct real *r, bool unregistered)
{
	struct real_opts opts = { .shared = true,
				  .rx_size = SLOTS,
				  .unregistered = unregistered };

	real_open(r, &opts);
	cr_assert_eq(r->info->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	cr_assert_gt(r->info->domain_attr->max_ep_srx_ctx, 0);
	in_desc = unregistered ? NULL : real_mr(r, in, sizeof(in), FI_RECV);
	out_desc = unregistered ? NULL : real_mr(r, out, sizeof(out), FI_SEND);
}

static void open_shared(struct real *r)
{
	open_with(r, false);
}

static void join(struct real *r, struct pair *p)
{
	struct fi_info *info = real_peer_info(r);

	cr_assert_eq(info->ep_attr->rx_ctx_cnt, 1);
	real_side_open(r, &r->a, info);
	real_ok(fi_connect(r->a.ep, info->dest_addr, NULL, 0));
	fi_freeinfo(info);
	info = real_request(r);
	cr_assert_eq(info->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	real_side_open(r, &r->b, info);
	fi_freeinfo(info);
	real_ok(fi_accept(r->b.ep, NULL, 0));
	real_expect(&r->a, FI_CONNECTED);
	real_expect(&r->b, FI_CONNECTED);
	p->a = r->a;
	p->b = r->b;
	p->a.ep->fid.context = &p->a;
	p->b.ep->fid.context = &p->b;
	memset(&r->a, 0, sizeof(r->a));
	memset(&r->b, 0, sizeof(r->b));
}

static void post(struct real *r, int slot)
{
	real_ok(fi_recv(r->srx, in[slot], LEN, in_desc, 0, in[slot]));
}

/* One message through P, into whichever receive is next. Its slot. */
static int pass(struct pair *p, unsigned int seed)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	uint8_t(*to)[LEN];

	real_fill(out, LEN, seed);
	real_ok(fi_send(p->a.ep, out, LEN, out_desc, 0, out));
	real_done(p->a.txcq, &entry, out);
	cr_assert(real_completion(p->b.rxcq, &entry, &err), "%s",
		  fi_strerror(err.err));
	cr_assert_eq(entry.flags, FI_MSG | FI_RECV);
	cr_assert_eq(entry.len, LEN);
	to = entry.op_context;
	cr_assert(real_filled(*to, LEN, seed));
	return (int)(to - in);
}

Test(shared, endpoints_use_up_each_others_receives)
{
	struct pair p[2];
	struct real r;
	int i;

	open_shared(&r);
	for (i = 0; i < SLOTS / 2; i++)
		post(&r, i); /* also before there is an endpoint */
	join(&r, &p[0]);
	join(&r, &p[1]);
	for (; i < SLOTS; i++)
		post(&r, i);
	real_fails(FI_EAGAIN, fi_recv(r.srx, in[0], LEN, in_desc, 0, NULL));
	real_fails(FI_EOPNOTSUPP,
		   fi_recv(p[0].b.ep, in[0], LEN, in_desc, 0, NULL));
	/* the receives go round several times, from one to the other */
	for (i = 0; i < 5 * SLOTS; i++)
		post(&r, pass(&p[i % 3 % 2], (unsigned int)i));
	real_fails(FI_EBUSY, fi_close(&r.srx->fid));
	for (i = 0; i < 2; i++) {
		real_side_close(&p[i].a);
		real_side_close(&p[i].b);
	}
	real_close(&r);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* What an endpoint leaves behind, the other one finds, and all of it. */
Test(shared, endpoints_come_and_go_and_no_receive_is_lost)
{
	struct pair steady, guest;
	double start, longest = 0;
	struct real r;
	int i, k;

	open_shared(&r);
	join(&r, &steady);
	for (i = 0; i < SLOTS; i++)
		post(&r, i);
	for (k = 0; k < 6; k++) {
		join(&r, &guest);
		post(&r, pass(&guest, 100 + (unsigned int)k));
		post(&r, pass(&steady, 200 + (unsigned int)k));
		/* whoever closes first */
		if (k % 2)
			real_side_close(&guest.a);
		start = seconds();
		real_side_close(&guest.b);
		if (seconds() - start > longest)
			longest = seconds() - start;
		if (!(k % 2))
			real_side_close(&guest.a);
	}
	cr_log_info("longest close of an endpoint: %.0f ms", longest * 1000);
	cr_assert_lt(longest, 2);
	for (i = 0; i < SLOTS; i++)
		(void)pass(&steady, 300 + (unsigned int)i);
	for (i = 0; i < SLOTS; i++)
		post(&r, i);
	real_fails(FI_EAGAIN, fi_recv(r.srx, in[0], LEN, in_desc, 0, NULL));
	real_side_close(&steady.a);
	real_side_close(&steady.b);
	real_close(&r);
}

/* FI_MR_LOCAL is optional for shared receives, too. */
Test(shared, receives_need_no_registration)
{
	struct pair p[2];
	struct real r;
	int i;

	open_with(&r, true);
	join(&r, &p[0]);
	join(&r, &p[1]);
	for (i = 0; i < SLOTS; i++)
		post(&r, i);
	real_fails(FI_EAGAIN, fi_recv(r.srx, in[0], LEN, NULL, 0, NULL));
	for (i = 0; i < 2 * SLOTS; i++)
		post(&r, pass(&p[i % 2], (unsigned int)i));
	/* with receives that are left, and their memory with the device */
	for (i = 0; i < 2; i++) {
		real_side_close(&p[i].a);
		real_side_close(&p[i].b);
	}
	real_close(&r);
}

/* Too long a message ends the connection that it came on, and no other. */
Test(shared, failure_stays_on_its_connection)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	struct pair p[2];
	struct real r;

	open_shared(&r);
	join(&r, &p[0]);
	join(&r, &p[1]);
	real_ok(fi_recv(r.srx, in[0], 16, in_desc, 0, &r));
	real_ok(fi_send(p[1].a.ep, out, LEN, out_desc, 0, out));
	cr_assert(!real_completion(p[1].b.rxcq, &entry, &err));
	cr_assert_eq(err.err, FI_ETRUNC);
	cr_assert_eq(err.op_context, &r);
	real_expect(&p[1].b, FI_SHUTDOWN);
	post(&r, 1);
	cr_assert_eq(pass(&p[0], 7), 1);
	for (int i = 0; i < 2; i++) {
		real_side_close(&p[i].a);
		real_side_close(&p[i].b);
	}
	real_close(&r);
}
