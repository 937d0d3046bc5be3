/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "real.h"

/* One message of LEN bytes from a to b, each in a region of its own. */
static void send_one(struct real *r, size_t len)
{
	uint8_t *out = malloc(len + 1), *in = malloc(len + 1);
	struct fi_cq_data_entry entry;
	void *out_desc, *in_desc;

	cr_assert(out && in);
	real_fill(out, len, (unsigned int)len);
	memset(in, 0, len + 1);
	out_desc = real_mr(r, out, len + 1, FI_SEND);
	in_desc = real_mr(r, in, len + 1, FI_RECV);
	real_ok(fi_recv(r->b.ep, in, len, in_desc, 0, in));
	real_ok(fi_send(r->a.ep, out, len, out_desc, 0, out));
	real_done(r->a.txcq, &entry, out);
	cr_assert_eq(entry.flags, FI_MSG | FI_SEND);
	real_done(r->b.rxcq, &entry, in);
	cr_assert_eq(entry.flags, FI_MSG | FI_RECV);
	cr_assert_eq(entry.len, len);
	cr_assert(real_filled(in, len, (unsigned int)len), "%zu bytes", len);
	free(out);
	free(in);
}

Test(message, every_size_arrives_whole)
{
	struct real r;
	size_t inject, sizes[12], i, n = 0;

	real_open_pair(&r, NULL);
	inject = r.info->tx_attr->inject_size;
	sizes[n++] = 0;
	sizes[n++] = 1;
	sizes[n++] = inject - 1;
	sizes[n++] = inject;
	sizes[n++] = inject + 1;
	sizes[n++] = 4096;
	sizes[n++] = 65537;
	sizes[n++] = 1 << 20;
	if (r.info->ep_attr->max_msg_size <= 8 << 20)
		sizes[n++] = r.info->ep_attr->max_msg_size;
	for (i = 0; i < n; i++)
		send_one(&r, sizes[i]);
	real_close(&r);
}

/* LF#7058: more than the maximum is said at the call. */
Test(message, more_than_the_maximum_is_refused_at_the_call)
{
	struct real r;
	char byte;
	size_t max;

	real_open_pair(&r, NULL);
	max = r.info->ep_attr->max_msg_size;
	real_fails(FI_EMSGSIZE, fi_send(r.a.ep, &byte, max + 1, NULL, 0, NULL));
	real_close(&r);
}

/* LF#11167: without a descriptor what does not fit inline is refused. */
Test(message, missing_descriptor_is_refused_at_the_call)
{
	static char buf[65536];
	struct real r;

	real_open_pair(&r, NULL);
	real_fails(FI_EINVAL, fi_send(r.a.ep, buf, sizeof(buf), NULL, 0, NULL));
	real_fails(FI_EINVAL, fi_recv(r.b.ep, buf, sizeof(buf), NULL, 0, NULL));
	real_close(&r);
}

/* LF 7f56d47df: small segments all arrive, inline or not. */
Test(message, scattered_parts_arrive_in_order)
{
	static char out[4][17], in[68];
	struct iovec iov[4], riov[2] = { { in, 5 }, { in + 5, 63 } };
	struct fi_cq_data_entry entry;
	void *desc[4], *rdesc[2], *d;
	struct real r;
	size_t i;

	real_open_pair(&r, NULL);
	real_fill(out, sizeof(out), 9);
	d = real_mr(&r, out, sizeof(out), FI_SEND);
	for (i = 0; i < 4; i++) {
		iov[i].iov_base = out[i];
		iov[i].iov_len = sizeof(out[i]);
		desc[i] = d;
	}
	rdesc[0] = real_mr(&r, in, sizeof(in), FI_RECV);
	rdesc[1] = rdesc[0];
	real_ok(fi_recvv(r.b.ep, riov, rdesc, 2, 0, in));
	real_ok(fi_sendv(r.a.ep, iov, desc, 4, 0, out));
	real_done(r.a.txcq, &entry, out);
	real_done(r.b.rxcq, &entry, in);
	cr_assert_eq(entry.len, sizeof(in));
	cr_assert(real_filled(in, sizeof(in), 9));
	real_fails(FI_EINVAL, fi_sendv(r.a.ep, iov, desc, 1000, 0, out));
	real_close(&r);
}

/* The buffer is the user's again when inject returns. */
Test(message, injected_bytes_are_taken_at_the_call)
{
	static uint8_t in[64][256];
	struct fi_cq_data_entry entry;
	struct real r;
	uint8_t out[256];
	void *desc;
	size_t i, len;

	real_open_pair(&r, NULL);
	len = r.info->tx_attr->inject_size;
	cr_assert_leq(len, sizeof(out));
	desc = real_mr(&r, in, sizeof(in), FI_RECV);
	for (i = 0; i < 64; i++)
		real_ok(fi_recv(r.b.ep, in[i], len, desc, 0, in[i]));
	for (i = 0; i < 64; i++) {
		real_fill(out, len, (unsigned int)i);
		real_ok(fi_injectdata(r.a.ep, out, len, 1000 + i, 0));
		memset(out, 0xff, len);
	}
	for (i = 0; i < 64; i++) {
		real_done(r.b.rxcq, &entry, in[i]);
		cr_assert_eq(entry.flags, FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA);
		cr_assert_eq(entry.data, 1000 + i);
		cr_assert(real_filled(in[i], len, (unsigned int)i));
	}
	real_fails(FI_EAGAIN, fi_cq_read(r.a.txcq, &entry, 1));
	real_close(&r);
}

/* LF#4345, LF#1802: sends that nobody asks about must not fill the queue. */
Test(message, injects_without_end_go_through)
{
	enum {
		N = 5000,
		WINDOW = 64
	};
	struct real_opts opts = { .tx_size = 16, .rx_size = 256 };
	static char in[WINDOW];
	struct fi_cq_data_entry entry;
	struct real r;
	void *desc;
	int sent = 0, posted, got = 0;

	real_open_pair(&r, &opts);
	desc = real_mr(&r, in, sizeof(in), FI_RECV);
	for (posted = 0; posted < WINDOW; posted++)
		real_ok(fi_recv(r.b.ep, &in[posted], 1, desc, 0, NULL));
	while (got < N) {
		ssize_t ret = -FI_EAGAIN;

		if (sent < N && sent < posted)
			ret = fi_inject(r.a.ep, "x", 1, 0);
		if (!ret)
			sent++;
		else
			cr_assert_eq(ret, -FI_EAGAIN);
		if (ret || sent % 16 == 0) {
			if (fi_cq_read(r.b.rxcq, &entry, 1) == 1) {
				got++;
				real_ok(fi_recv(r.b.ep, &in[got % WINDOW], 1,
						desc, 0, NULL));
				posted++;
			}
		}
	}
	real_close(&r);
}

/* Selective completion on both sides: only what asked gets an entry. */
Test(message, selective_completion_reports_what_asked)
{
	struct real_opts opts = { .tx_bind = FI_SELECTIVE_COMPLETION,
				  .rx_bind = FI_SELECTIVE_COMPLETION };
	static char in[2];
	struct fi_cq_data_entry entry;
	struct iovec iov;
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct real r;
	void *desc;

	real_open_pair(&r, &opts);
	desc = real_mr(&r, in, sizeof(in), FI_SEND | FI_RECV);
	msg.desc = &desc;
	iov.iov_base = &in[0];
	iov.iov_len = 1;
	real_ok(fi_recvmsg(r.b.ep, &msg, 0));
	iov.iov_base = &in[1];
	msg.context = &in[1];
	real_ok(fi_recvmsg(r.b.ep, &msg, FI_COMPLETION));
	msg.context = NULL;
	real_ok(fi_sendmsg(r.a.ep, &msg, 0));
	msg.context = &msg;
	real_ok(fi_sendmsg(r.a.ep, &msg, FI_COMPLETION));
	real_done(r.a.txcq, &entry, &msg);
	real_done(r.b.rxcq, &entry, &in[1]);
	real_fails(FI_EAGAIN, fi_cq_read(r.a.txcq, &entry, 1));
	real_fails(FI_EAGAIN, fi_cq_read(r.b.rxcq, &entry, 1));
	real_close(&r);
}

/* LF#7652: zero bytes, with nothing that would have to be valid. */
Test(message, zero_bytes_need_no_buffer)
{
	struct fi_cq_data_entry entry;
	struct fi_msg msg = { .context = &msg };
	struct real r;
	int i;

	real_open_pair(&r, NULL);
	for (i = 0; i < 5; i++)
		real_ok(fi_recv(r.b.ep, NULL, 0, NULL, 0, &r));
	real_ok(fi_send(r.a.ep, NULL, 0, NULL, 0, &msg));
	real_ok(fi_sendv(r.a.ep, NULL, NULL, 0, 0, &msg));
	real_ok(fi_sendmsg(r.a.ep, &msg, FI_COMPLETION));
	real_ok(fi_senddata(r.a.ep, NULL, 0, NULL, 7, 0, &msg));
	real_ok(fi_inject(r.a.ep, NULL, 0, 0));
	for (i = 0; i < 4; i++)
		real_done(r.a.txcq, &entry, &msg);
	for (i = 0; i < 5; i++) {
		real_done(r.b.rxcq, &entry, &r);
		cr_assert_eq(entry.len, 0);
	}
	real_close(&r);
}

/* A chain of sends with one doorbell arrives like any other, in order. */
Test(message, chained_sends_arrive_in_order)
{
	enum {
		N = 100
	};
	static uint32_t out[N], in[N];
	struct fi_cq_data_entry entry;
	struct iovec iov = { .iov_len = sizeof(out[0]) };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	void *out_desc, *in_desc;
	struct real r;
	uint32_t i;

	real_open_pair(&r, NULL);
	out_desc = real_mr(&r, out, sizeof(out), FI_SEND);
	in_desc = real_mr(&r, in, sizeof(in), FI_RECV);
	for (i = 0; i < N; i++)
		real_ok(fi_recv(r.b.ep, &in[i], sizeof(in[i]), in_desc, 0,
				&in[i]));
	msg.desc = &out_desc;
	for (i = 0; i < N; i++) {
		out[i] = i * 3 + 1;
		iov.iov_base = &out[i];
		msg.context = &out[i];
		real_ok(fi_sendmsg(r.a.ep, &msg,
				   FI_COMPLETION | (i + 1 < N ? FI_MORE : 0)));
	}
	for (i = 0; i < N; i++)
		real_done(r.a.txcq, &entry, &out[i]);
	for (i = 0; i < N; i++) {
		real_done(r.b.rxcq, &entry, &in[i]);
		cr_assert_eq(in[i], i * 3 + 1);
	}
	real_close(&r);
}

/* PR#3241: a receive that comes late is met, not waited for for ever. */
Test(message, late_receive_gets_the_message)
{
	struct fi_cq_data_entry entry;
	static char in[8];
	struct real r;
	void *desc;

	real_open_pair(&r, NULL);
	real_ok(fi_inject(r.a.ep, "late", 5, 0));
	usleep(5000);
	desc = real_mr(&r, in, sizeof(in), FI_RECV);
	real_ok(fi_recv(r.b.ep, in, sizeof(in), desc, 0, in));
	real_done(r.b.rxcq, &entry, in);
	cr_assert_str_eq(in, "late");
	real_close(&r);
}

/* Sending needs no more rights than reading the memory. */
Test(message, read_only_memory_can_be_sent)
{
	struct fi_cq_data_entry entry;
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	void *out_desc, *in_desc, *in = malloc(len);
	struct real r;
	void *out = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);

	real_open_pair(&r, NULL);
	out_desc = real_mr(&r, out, len, FI_SEND);
	in_desc = real_mr(&r, in, len, FI_RECV);
	real_ok(fi_recv(r.b.ep, in, len, in_desc, 0, in));
	real_ok(fi_send(r.a.ep, out, len, out_desc, 0, out));
	real_done(r.b.rxcq, &entry, in);
	real_close(&r);
	free(in);
}
