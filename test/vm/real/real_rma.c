/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <stdlib.h>
#include <string.h>

#include <rdma/fi_rma.h>

#include "real.h"

#define RMA_MAX	 (1 << 20)
#define RMA_DATA 0x89abcdefu

/* A pair, with memory of a's own and memory of b that a works on. */
struct rma {
	struct real r;
	uint8_t *mine, *theirs;
	void *desc;
	uint64_t addr, key;
};

static const struct real_opts rma_opts = { .caps = FI_RMA,
					   .mode = FI_RX_CQ_DATA };

static void rma_open(struct rma *x, const struct real_opts *opts)
{
	real_open_pair(&x->r, opts);
	x->mine = malloc(RMA_MAX);
	x->theirs = malloc(RMA_MAX);
	cr_assert(x->mine && x->theirs);
	x->desc = opts->unregistered ? NULL :
				       real_mr(&x->r, x->mine, RMA_MAX,
					       FI_READ | FI_WRITE | FI_SEND);
	(void)real_mr(&x->r, x->theirs, RMA_MAX,
		      FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RECV);
	x->addr = (uintptr_t)x->theirs;
	x->key = fi_mr_key(x->r.mrs[x->r.n_mrs - 1]);
}

static void rma_close(struct rma *x)
{
	real_close(&x->r);
	free(x->mine);
	free(x->theirs);
}

enum {
	WRITE,
	WRITEV,
	WRITEMSG,
	WRITEDATA,
	INJECT,
	INJECTDATA,
	WRITES
};
enum {
	READ,
	READV,
	READMSG,
	READS
};

static ssize_t rma_msg(struct rma *x, size_t len, uint64_t flags, bool reads)
{
	struct iovec iov = { x->mine, len };
	struct fi_rma_iov there = { .addr = x->addr,
				    .len = len,
				    .key = x->key };
	struct fi_msg_rma msg = { .msg_iov = &iov,
				  .desc = &x->desc,
				  .iov_count = 1,
				  .rma_iov = &there,
				  .rma_iov_count = 1,
				  .context = x,
				  .data = RMA_DATA };

	return reads ? fi_readmsg(x->r.a.ep, &msg, flags) :
		       fi_writemsg(x->r.a.ep, &msg, flags);
}

static ssize_t rma_write(struct rma *x, int call, size_t len)
{
	struct iovec iov[2] = { { x->mine, len / 3 },
				{ x->mine + len / 3, len - len / 3 } };
	void *desc[2] = { x->desc, x->desc };
	struct fid_ep *ep = x->r.a.ep;

	switch (call) {
	case WRITE:
		return fi_write(ep, x->mine, len, x->desc, 0, x->addr, x->key,
				x);
	case WRITEV:
		return fi_writev(ep, iov, desc, 2, 0, x->addr, x->key, x);
	case WRITEMSG:
		return rma_msg(x, len, 0, false);
	case WRITEDATA:
		return fi_writedata(ep, x->mine, len, x->desc, RMA_DATA, 0,
				    x->addr, x->key, x);
	case INJECT:
		return fi_inject_write(ep, x->mine, len, 0, x->addr, x->key);
	default:
		return fi_inject_writedata(ep, x->mine, len, RMA_DATA, 0,
					   x->addr, x->key);
	}
}

static ssize_t rma_read(struct rma *x, int call, size_t len)
{
	struct iovec iov[2] = { { x->mine, len / 3 },
				{ x->mine + len / 3, len - len / 3 } };
	void *desc[2] = { x->desc, x->desc };
	struct fid_ep *ep = x->r.a.ep;

	switch (call) {
	case READ:
		return fi_read(ep, x->mine, len, x->desc, 0, x->addr, x->key,
			       x);
	case READV:
		return fi_readv(ep, iov, desc, 2, 0, x->addr, x->key, x);
	default:
		return rma_msg(x, len, 0, true);
	}
}

/* A read behind it sees what a silent write has put there. */
static void rma_settle(struct rma *x)
{
	struct fi_cq_data_entry entry;

	real_ok(fi_read(x->r.a.ep, x->mine, 1, x->desc, 0, x->addr, x->key,
			&entry));
	real_done(x->r.a.txcq, &entry, &entry);
}

static void rma_check_write(struct rma *x, int call, size_t len)
{
	bool brings_data = call == WRITEDATA || call == INJECTDATA;
	unsigned int seed = (unsigned int)(len + (size_t)call);
	struct fi_cq_data_entry entry;

	real_fill(x->mine, len, seed);
	memset(x->theirs, 0, len);
	if (brings_data)
		real_ok(fi_recv(x->r.b.ep, NULL, 0, NULL, 0, x->theirs));
	real_ok(rma_write(x, call, len));
	if (call < INJECT) {
		real_done(x->r.a.txcq, &entry, x);
		cr_assert_eq(entry.flags, FI_RMA | FI_WRITE);
	}
	if (brings_data) {
		real_done(x->r.b.rxcq, &entry, x->theirs);
		cr_assert_eq(entry.flags,
			     FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
		cr_assert_eq(entry.data, RMA_DATA);
		cr_assert_eq(entry.len, len);
	}
	rma_settle(x);
	cr_assert(real_filled(x->theirs, len, seed), "call %d, %zu bytes", call,
		  len);
}

static size_t rma_sizes(const struct rma *x, size_t sizes[8])
{
	size_t inject = x->r.info->tx_attr->inject_size, n = 0;

	sizes[n++] = 0;
	sizes[n++] = 1;
	sizes[n++] = inject - 1;
	sizes[n++] = inject;
	sizes[n++] = inject + 1;
	sizes[n++] = 65536;
	sizes[n++] = RMA_MAX;
	return n;
}

Test(rma, every_write_arrives_whole)
{
	struct rma x;
	size_t sizes[8], n, i;
	int call;

	rma_open(&x, &rma_opts);
	n = rma_sizes(&x, sizes);
	for (call = WRITE; call < WRITES; call++)
		for (i = 0; i < n; i++)
			if (call < INJECT ||
			    sizes[i] <= x.r.info->tx_attr->inject_size)
				rma_check_write(&x, call, sizes[i]);
	rma_close(&x);
}

static void rma_check_reads(struct rma *x)
{
	struct fi_cq_data_entry entry;
	size_t sizes[8], n, i;
	int call;

	n = rma_sizes(x, sizes);
	for (call = READ; call < READS; call++) {
		for (i = 0; i < n; i++) {
			real_fill(x->theirs, sizes[i], (unsigned int)i);
			memset(x->mine, 0, sizes[i]);
			real_ok(rma_read(x, call, sizes[i]));
			real_done(x->r.a.txcq, &entry, x);
			cr_assert_eq(entry.flags, FI_RMA | FI_READ);
			cr_assert(real_filled(x->mine, sizes[i],
					      (unsigned int)i),
				  "call %d, %zu bytes", call, sizes[i]);
		}
	}
}

Test(rma, every_read_arrives_whole)
{
	struct rma x;

	rma_open(&x, &rma_opts);
	rma_check_reads(&x);
	rma_close(&x);
}

/* Without FI_MR_LOCAL the initiator's memory needs no registration. */
Test(rma, unregistered_memory_is_read_into_and_written_from)
{
	struct real_opts opts = rma_opts;
	size_t sizes[8], n, i;
	struct rma x;

	opts.unregistered = true;
	rma_open(&x, &opts);
	n = rma_sizes(&x, sizes);
	rma_check_reads(&x);
	for (i = 0; i < n; i++)
		rma_check_write(&x, WRITE, sizes[i]);
	rma_close(&x);
}

/* More reads than the connection agreed on wait for their turn. */
Test(rma, reads_beyond_those_agreed_on_take_their_turn)
{
	const size_t piece = 4096, count = 128;
	struct fi_cq_data_entry entry;
	struct rma x;
	size_t i;

	rma_open(&x, &rma_opts);
	real_fill(x.theirs, piece * count, 5);
	memset(x.mine, 0, piece * count);
	for (i = 0; i < count; i++)
		real_ok(fi_read(x.r.a.ep, x.mine + i * piece, piece, x.desc, 0,
				x.addr + i * piece, x.key, x.mine + i * piece));
	for (i = 0; i < count; i++)
		real_done(x.r.a.txcq, &entry, x.mine + i * piece);
	cr_assert(real_filled(x.mine, piece * count, 5));
	rma_close(&x);
}

/* FI_ORDER_RAW, _SAW, and FI_MORE: what is posted later sees what was. */
Test(rma, reads_and_messages_come_behind_writes)
{
	struct fi_cq_data_entry entry;
	struct rma x;
	size_t round;

	rma_open(&x, &rma_opts);
	for (round = 0; round < 20; round++) {
		real_fill(x.mine, 65536, (unsigned int)round);
		real_ok(fi_recv(x.r.b.ep, NULL, 0, NULL, 0, &x));
		real_ok(rma_msg(&x, 65536, FI_MORE, false));
		real_ok(fi_send(x.r.a.ep, NULL, 0, NULL, 0, &x));
		real_done(x.r.b.rxcq, &entry, &x);
		cr_assert(real_filled(x.theirs, 65536, (unsigned int)round));
		real_ok(rma_msg(&x, 32768, FI_MORE, false));
		real_ok(fi_read(x.r.a.ep, x.mine + 65536, 32768, x.desc, 0,
				x.addr, x.key, &x));
		real_done(x.r.a.txcq, &entry, &x);
		real_done(x.r.a.txcq, &entry, &x);
		real_done(x.r.a.txcq, &entry, &x);
		real_done(x.r.a.txcq, &entry, &x);
		cr_assert(real_filled(x.mine + 65536, 32768,
				      (unsigned int)round));
	}
	rma_close(&x);
}

/* The initiator learns the cause, both of the end. */
static void rma_denied_with(struct rma *x, ssize_t posted, int code)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = { 0 };

	real_ok(posted);
	cr_assert(!real_completion(x->r.a.txcq, &entry, &err));
	cr_assert_eq(err.err, code, "%s", fi_strerror(err.err));
	cr_assert_eq(err.op_context, x);
	real_expect(&x->r.a, FI_SHUTDOWN);
	real_expect(&x->r.b, FI_SHUTDOWN);
	cr_assert_lt(rma_write(x, WRITE, 8), 0);
	cr_assert_lt(rma_read(x, READ, 8), 0);
	rma_close(x);
}

static void rma_denied(struct rma *x, ssize_t posted)
{
	rma_denied_with(x, posted, FI_EACCES);
}

Test(rma, wrong_key_of_a_write_is_an_access_error)
{
	struct rma x;

	rma_open(&x, &rma_opts);
	x.key ^= 0x55;
	rma_denied(&x, rma_write(&x, WRITE, 4096));
}

Test(rma, wrong_key_of_a_read_is_an_access_error)
{
	struct rma x;

	rma_open(&x, &rma_opts);
	x.key ^= 0x55;
	rma_denied(&x, rma_read(&x, READ, 4096));
}

Test(rma, bytes_behind_the_region_are_an_access_error)
{
	struct rma x;

	rma_open(&x, &rma_opts);
	x.addr += RMA_MAX - 4095;
	rma_denied(&x, rma_write(&x, WRITE, 4096));
}

Test(rma, region_without_the_right_is_an_access_error)
{
	struct rma x;

	rma_open(&x, &rma_opts);
	(void)real_mr(&x.r, x.theirs, RMA_MAX, FI_REMOTE_READ);
	x.key = fi_mr_key(x.r.mrs[x.r.n_mrs - 1]);
	rma_check_reads(&x);
	rma_denied(&x, rma_write(&x, WRITE, 4096));
}

/* An endpoint that was not opened for it grants nothing at all. */
Test(rma, peer_without_the_capability_takes_no_request)
{
	struct real_opts opts = rma_opts;
	struct rma x;

	opts.caps = FI_RMA | FI_READ | FI_WRITE;
	rma_open(&x, &opts);
	rma_denied_with(&x, rma_write(&x, WRITE, 4096), FI_EREMOTEIO);
}

/* A write with data waits for a receive, as a message does. */
Test(rma, write_with_data_waits_for_its_receive)
{
	struct fi_cq_data_entry entry;
	struct rma x;

	rma_open(&x, &rma_opts);
	real_fill(x.mine, 8, 1);
	real_ok(rma_write(&x, WRITEDATA, 8));
	real_ok(fi_recv(x.r.b.ep, NULL, 0, NULL, 0, x.theirs));
	real_done(x.r.b.rxcq, &entry, x.theirs);
	cr_assert_eq(entry.data, RMA_DATA);
	real_done(x.r.a.txcq, &entry, &x);
	cr_assert(real_filled(x.theirs, 8, 1));
	rma_close(&x);
}

/* It uses up the context's next receive, whose buffer stays as it is. */
Test(rma, write_with_data_uses_up_a_shared_receive)
{
	struct real_opts opts = rma_opts;
	struct fi_cq_data_entry entry;
	struct rma x;

	opts.shared = true;
	rma_open(&x, &opts);
	real_fill(x.mine, 512, 4);
	memset(x.theirs, 0, 8192);
	real_ok(fi_recv(x.r.srx, x.theirs + 4096, 512,
			real_mr(&x.r, x.theirs, 8192, FI_RECV), 0, &opts));
	real_ok(rma_write(&x, WRITEDATA, 512));
	real_done(x.r.b.rxcq, &entry, &opts);
	cr_assert_eq(entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	cr_assert_eq(entry.data, RMA_DATA);
	cr_assert(real_filled(x.theirs, 512, 4));
	cr_assert_eq(x.theirs[4096], 0);
	cr_assert_eq(x.theirs[4607], 0);
	rma_close(&x);
}

static void rma_multi_recv(struct rma *x, uint8_t *buf, size_t len)
{
	struct iovec iov = { buf, len };
	void *desc = real_mr(&x->r, buf, len, FI_RECV);
	struct fi_msg msg = {
		.msg_iov = &iov, .desc = &desc, .iov_count = 1, .context = buf
	};

	real_ok(fi_recvmsg(x->r.b.ep, &msg, FI_MULTI_RECV));
}

/* A buffer for many messages loses nothing to writes between them. */
Test(rma, write_with_data_leaves_a_multi_receive_buffer_where_it_is)
{
	static uint8_t buf[16384];
	struct real_opts opts = rma_opts;
	struct fi_cq_data_entry entry;
	struct rma x;
	int i;

	opts.caps |= FI_MULTI_RECV;
	rma_open(&x, &opts);
	rma_multi_recv(&x, buf, sizeof(buf));
	real_fill(x.mine, 5000, 4);
	for (i = 0; i < 3; i++) {
		real_ok(rma_write(&x, WRITEDATA, 5000));
		real_done(x.r.b.rxcq, &entry, buf);
		cr_assert_eq(entry.flags,
			     FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
		real_done(x.r.a.txcq, &entry, &x);
		real_ok(fi_send(x.r.a.ep, x.mine, 1000, x.desc, 0, &i));
		real_done(x.r.b.rxcq, &entry, buf);
		cr_assert_eq(entry.flags, FI_MSG | FI_RECV);
		cr_assert_eq(entry.buf, buf + (ptrdiff_t)i * 1000);
		cr_assert(real_filled(entry.buf, 1000, 4));
		real_done(x.r.a.txcq, &entry, &i);
	}
	rma_close(&x);
}

/* What is to come after a read is fenced: it reads what was there before. */
Test(rma, fenced_write_comes_after_the_read_before_it)
{
	struct fi_cq_data_entry entry;
	struct rma x;
	size_t half = RMA_MAX / 2;
	unsigned int round;

	rma_open(&x, &rma_opts);
	for (round = 0; round < 10; round++) {
		struct iovec iov = { x.mine + half, half };
		struct fi_rma_iov there = { x.addr, half, x.key };
		struct fi_msg_rma msg = { .msg_iov = &iov,
					  .desc = &x.desc,
					  .iov_count = 1,
					  .rma_iov = &there,
					  .rma_iov_count = 1,
					  .context = &there };

		real_fill(x.theirs, half, round);
		memset(x.mine + half, 0xff, half);
		real_ok(fi_read(x.r.a.ep, x.mine, half, x.desc, 0, x.addr,
				x.key, &x));
		real_ok(fi_writemsg(x.r.a.ep, &msg, FI_FENCE));
		real_done(x.r.a.txcq, &entry, &x);
		cr_assert(real_filled(x.mine, half, round));
		real_done(x.r.a.txcq, &entry, &there);
	}
	rma_close(&x);
}

/* Reads and writes are counted, receives that went for them are not. */
Test(rma, counters_count_reads_and_writes)
{
	struct real_opts opts = rma_opts;
	struct rma x;
	int i;

	opts.counted = true;
	opts.cntr_wait = FI_WAIT_FD;
	rma_open(&x, &opts);
	for (i = 0; i < 4; i++)
		real_ok(rma_read(&x, READ, 65536));
	real_ok(rma_write(&x, INJECT, 8));
	real_ok(fi_recv(x.r.b.ep, NULL, 0, NULL, 0, NULL));
	real_ok(rma_write(&x, WRITEDATA, 65536));
	real_ok(fi_cntr_wait(x.r.a.rdcntr, 4, REAL_PATIENCE));
	real_ok(fi_cntr_wait(x.r.a.wrcntr, 2, REAL_PATIENCE));
	cr_assert_eq(fi_cntr_read(x.r.a.txcntr), 0);
	cr_assert_eq(fi_cntr_read(x.r.b.rxcntr), 0);
	rma_close(&x);
}
