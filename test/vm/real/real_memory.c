/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "real.h"

/* Registration, and doing without it. */

#define PAGE ((size_t)4096)
#define BIG  ((size_t)1 << 20)
#define ID   65534 /* nobody */

static const struct real_opts unregistered = { .unregistered = true };

static void *map(size_t len, int prot)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(p, MAP_FAILED);
	real_fill(p, len, 3);
	if (prot != (PROT_READ | PROT_WRITE))
		cr_assert_eq(mprotect(p, len, prot), 0);
	return p;
}

/* Waits for the message of LEN bytes on both sides. */
static void arrived(struct real *r, const void *out, void *in, size_t len)
{
	struct fi_cq_data_entry entry;

	real_done(r->a.txcq, &entry, out);
	real_done(r->b.rxcq, &entry, in);
	cr_assert_eq(entry.len, len);
	cr_assert_arr_eq(in, out, len, "%zu bytes", len);
}

static void send_each_way(struct real *r, uint8_t *out, uint8_t *in, size_t len)
{
	const size_t half = len / 2;
	struct iovec iov[2] = { { out, half }, { out + half, len - half } };
	struct iovec riov[2] = { { in, half }, { in + half, len - half } };
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 2, .context = out };

	real_fill(out, len, (unsigned int)len);
	memset(in, 0, len);
	real_ok(fi_recv(r->b.ep, in, len, NULL, 0, in));
	real_ok(fi_send(r->a.ep, out, len, NULL, 0, out));
	arrived(r, out, in, len);
	memset(in, 0, len);
	real_ok(fi_recvv(r->b.ep, riov, NULL, 2, 0, in));
	real_ok(fi_sendv(r->a.ep, iov, NULL, 2, 0, out));
	arrived(r, out, in, len);
	memset(in, 0, len);
	real_ok(fi_recv(r->b.ep, in, len, NULL, 0, in));
	real_ok(fi_sendmsg(r->a.ep, &msg, FI_COMPLETION));
	arrived(r, out, in, len);
	memset(in, 0, len);
	real_ok(fi_recv(r->b.ep, in, len, NULL, 0, in));
	real_ok(fi_senddata(r->a.ep, out, len, NULL, 7, 0, out));
	arrived(r, out, in, len);
}

/* LF#11091 and others: mr_mode 0 is served */
Test(memory, nothing_needs_a_descriptor_without_the_mode)
{
	size_t sizes[] = { 0, 1, 0, 0, 4096, 4097, 65536, BIG };
	uint8_t *out = map(BIG, PROT_READ | PROT_WRITE);
	uint8_t *in = map(BIG, PROT_READ | PROT_WRITE);
	struct real r;

	real_open_pair(&r, &unregistered);
	cr_assert_eq(r.info->domain_attr->mr_mode, 0);
	sizes[2] = r.info->tx_attr->inject_size;
	sizes[3] = sizes[2] + 1;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		send_each_way(&r, out, in, sizes[i]);
	real_close(&r);
}

/* more than a queue holds, and more than there are buffers to copy into */
Test(memory, unregistered_messages_may_fill_the_queue)
{
	enum {
		N = 64
	};
	static uint8_t out[1024], in[N][1024];
	struct real_opts opts = unregistered;
	struct fi_cq_data_entry entry;
	struct real r;

	opts.tx_size = N;
	opts.rx_size = N;
	real_open_pair(&r, &opts);
	real_fill(out, sizeof(out), 1);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++)
			real_ok(fi_recv(r.b.ep, in[i], 1024, NULL, 0, in[i]));
		for (int i = 0; i < N; i++)
			real_ok(fi_send(r.a.ep, out, 1024, NULL, 0, out));
		for (int i = 0; i < N; i++) {
			real_done(r.a.txcq, &entry, out);
			real_done(r.b.rxcq, &entry, in[i]);
			cr_assert_arr_eq(in[i], out, 1024);
		}
		memset(in, 0, sizeof(in));
	}
	real_close(&r);
}

/* the memory is the application's as soon as the entry is read */
Test(memory, unregistered_buffer_may_be_unmapped_when_it_is_told)
{
	struct fi_cq_data_entry entry;
	struct real r;

	real_open_pair(&r, &unregistered);
	for (unsigned int i = 0; i < 8; i++) {
		uint8_t *out = map(65536, PROT_READ | PROT_WRITE);
		uint8_t *in = map(65536, PROT_READ | PROT_WRITE);

		real_fill(out, 65536, i);
		real_ok(fi_recv(r.b.ep, in, 65536, NULL, 0, in));
		real_ok(fi_send(r.a.ep, out, 65536, NULL, 0, out));
		real_done(r.a.txcq, &entry, out);
		munmap(out, 65536);
		real_done(r.b.rxcq, &entry, in);
		cr_assert(real_filled(in, 65536, i));
		munmap(in, 65536);
	}
	real_close(&r);
}

Test(memory, read_only_memory_is_sent_and_not_received_into)
{
	uint8_t *ro = map(65536, PROT_READ), *in = malloc(65536);
	struct real r;
	ssize_t ret;

	cr_assert(in);
	real_open_pair(&r, &unregistered);
	real_ok(fi_recv(r.b.ep, in, 65536, NULL, 0, in));
	real_ok(fi_send(r.a.ep, ro, 65536, NULL, 0, ro));
	arrived(&r, ro, in, 65536);
	ret = fi_recv(r.b.ep, ro, 65536, NULL, 0, ro);
	cr_assert(ret == -FI_EFAULT || ret == -FI_EINVAL, "%zd", ret);
	real_close(&r);
	free(in);
}

/* LF#11167, LF#5596: at the call, and the queue goes on */
Test(memory, memory_that_is_not_there_is_refused_at_the_call)
{
	uint8_t *hole = map(3 * PAGE, PROT_READ | PROT_WRITE), *ok = hole;
	struct iovec iov[2];
	struct real r;
	ssize_t ret;

	real_open_pair(&r, &unregistered);
	cr_assert_eq(munmap(hole + PAGE, 2 * PAGE), 0);
	ret = fi_send(r.a.ep, hole, 3 * PAGE, NULL, 0, NULL);
	cr_assert(ret == -FI_EFAULT || ret == -FI_EINVAL, "%zd", ret);
	ret = fi_recv(r.b.ep, hole + PAGE, 100, NULL, 0, NULL);
	cr_assert(ret == -FI_EFAULT || ret == -FI_EINVAL, "%zd", ret);
	iov[0] = (struct iovec){ ok, PAGE };
	iov[1] = (struct iovec){ ok + PAGE, PAGE };
	ret = fi_sendv(r.a.ep, iov, NULL, 2, 0, NULL);
	cr_assert(ret == -FI_EFAULT || ret == -FI_EINVAL, "%zd", ret);
	ret = fi_recvv(r.b.ep, iov, NULL, 2, 0, NULL);
	cr_assert(ret == -FI_EFAULT || ret == -FI_EINVAL, "%zd", ret);
	real_ok(fi_recv(r.b.ep, ok + 2048, 1024, NULL, 0, ok + 2048));
	real_ok(fi_send(r.a.ep, ok, 1024, NULL, 0, ok));
	arrived(&r, ok, ok + 2048, 1024);
	real_close(&r);
}

/* A child that writes to PAGE, tells so, and lives until it is let go. */
struct writer {
	pid_t pid;
	int told[2], go[2];
};

static void writer_start(struct writer *w, uint8_t *page)
{
	char c = 0;

	cr_assert_eq(pipe(w->told), 0);
	cr_assert_eq(pipe(w->go), 0);
	w->pid = fork();
	cr_assert_geq(w->pid, 0);
	if (!w->pid) {
		memset(page, 0xcc, PAGE);
		close(w->go[1]);
		if (write(w->told[1], &c, 1) != 1)
			_exit(1);
		(void)!read(w->go[0], &c, 1);
		/* what came meanwhile is the parent's alone */
		_exit(page[0] != 0xcc || page[PAGE - 1] != 0xcc);
	}
	cr_assert_eq(read(w->told[0], &c, 1), 1);
}

static void writer_end(struct writer *w)
{
	int status;

	close(w->go[1]);
	cr_assert_eq(waitpid(w->pid, &status, 0), w->pid);
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status), "%#x", status);
}

/*
 * LF#1763, LF#4969, LF#9792: receives are posted, a child writes their page
 * and so does the parent, and then the data comes.
 */
static void fork_with_receives_posted(const struct real_opts *opts)
{
	uint8_t *in = map(PAGE, PROT_READ | PROT_WRITE);
	uint8_t *out = map(PAGE, PROT_READ | PROT_WRITE);
	void *in_desc = NULL, *out_desc = NULL;
	struct fi_cq_data_entry entry;
	struct writer w;
	struct real r;

	real_open_pair(&r, opts);
	if (!opts) {
		in_desc = real_mr(&r, in, PAGE, FI_RECV);
		out_desc = real_mr(&r, out, PAGE, FI_SEND);
	}
	real_ok(fi_recv(r.b.ep, in, 1024, in_desc, 0, in));
	real_ok(fi_recv(r.b.ep, in + 1024, 1024, in_desc, 0, in + 1024));
	writer_start(&w, in);
	in[PAGE - 1] = 1;
	real_fill(out, 2048, 9);
	real_ok(fi_send(r.a.ep, out, 1024, out_desc, 0, out));
	real_ok(fi_send(r.a.ep, out + 1024, 1024, out_desc, 0, out));
	real_done(r.b.rxcq, &entry, in);
	real_done(r.b.rxcq, &entry, in + 1024);
	cr_assert_arr_eq(in, out, 2048);
	cr_assert_eq(in[PAGE - 1], 1);
	writer_end(&w);
	cr_assert_arr_eq(in, out, 2048);
	real_done(r.a.txcq, &entry, out);
	real_done(r.a.txcq, &entry, out);
	real_close(&r);
}

/* LF#1763, LF#4969 */
Test(memory, child_that_writes_takes_no_registered_page_away)
{
	fork_with_receives_posted(NULL);
}

Test(memory, child_that_writes_takes_no_lent_page_away)
{
	fork_with_receives_posted(&unregistered);
}

Test(memory, parent_sends_its_own_page_after_a_fork)
{
	uint8_t *out = map(PAGE, PROT_READ | PROT_WRITE);
	uint8_t *in = map(PAGE, PROT_READ | PROT_WRITE);
	void *in_desc, *out_desc;
	struct writer w;
	struct real r;

	real_open_pair(&r, NULL);
	in_desc = real_mr(&r, in, PAGE, FI_RECV);
	out_desc = real_mr(&r, out, PAGE, FI_SEND);
	writer_start(&w, out);
	real_fill(out, PAGE, 21);
	real_ok(fi_recv(r.b.ep, in, PAGE, in_desc, 0, in));
	real_ok(fi_send(r.a.ep, out, PAGE, out_desc, 0, out));
	arrived(&r, out, in, PAGE);
	cr_assert(real_filled(in, PAGE, 21));
	writer_end(&w);
	real_close(&r);
}

/* What has been written to stderr since capture(). */
static FILE *log_file;

static void capture(void)
{
	setenv("FI_LOG_LEVEL", "warn", 1);
	setenv("FI_LOG_PROV", "rcm", 1);
	log_file = tmpfile();
	cr_assert(log_file);
	fflush(stderr);
	cr_assert_geq(dup2(fileno(log_file), STDERR_FILENO), 0);
}

/* How many lines name the limit of 64 KiB. */
static int limit_lines(void)
{
	char line[1024];
	int n = 0;

	fflush(stderr);
	rewind(log_file);
	while (fgets(line, sizeof(line), log_file))
		if (strstr(line, "locked memory is 64 KiB"))
			n++;
	return n;
}

/* As a user without CAP_IPC_LOCK, before the device is opened. */
static void limit_memory(void)
{
	struct rlimit limit = { 65536, 65536 };

	cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	cr_assert_eq(setresgid(ID, ID, ID), 0);
	cr_assert_eq(setresuid(ID, ID, ID), 0);
}

/* LF#6437: the cause has a name and a number */
Test(memory, limit_of_locked_memory_is_named_by_a_registration)
{
	uint8_t *buf = map(BIG, PROT_READ | PROT_WRITE);
	struct fid_mr *mr;
	struct real r;

	capture();
	limit_memory();
	real_open_pair(&r, NULL);
	real_fails(FI_ENOMEM,
		   fi_mr_reg(r.domain, buf, BIG, FI_SEND, 0, 0, 0, &mr, NULL));
	cr_assert_eq(limit_lines(), 1);
	real_ok(fi_mr_reg(r.domain, buf, 4096, FI_SEND, 0, 0, 0, &mr, NULL));
	real_ok(fi_close(&mr->fid));
	real_close(&r);
}

/*
 * LF#7368. Queues of soft-RoCE count against no limit; what is registered for
 * injected messages beyond its inline size does.
 */
Test(memory, limit_of_locked_memory_is_named_by_fi_enable)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA };
	struct fi_info *info;
	struct real r;

	capture();
	limit_memory();
	setenv("FI_RCM_INJECT_SIZE", "4096", 1);
	real_open(&r, NULL);
	info = real_peer_info(&r);
	real_ok(fi_eq_open(r.fabric, &eq_attr, &r.a.eq, NULL));
	real_ok(fi_cq_open(r.domain, &cq_attr, &r.a.txcq, NULL));
	real_ok(fi_endpoint(r.domain, info, &r.a.ep, NULL));
	real_ok(fi_ep_bind(r.a.ep, &r.a.eq->fid, 0));
	real_ok(fi_ep_bind(r.a.ep, &r.a.txcq->fid, FI_TRANSMIT | FI_RECV));
	real_fails(FI_ENOMEM, fi_enable(r.a.ep));
	cr_assert_eq(limit_lines(), 1);
	fi_freeinfo(info);
	real_close(&r);
}

Test(memory, limit_of_locked_memory_is_named_by_an_operation)
{
	uint8_t *buf = map(BIG, PROT_READ | PROT_WRITE);
	struct real r;

	capture();
	limit_memory();
	real_open_pair(&r, &unregistered);
	real_fails(FI_ENOMEM, fi_send(r.a.ep, buf, BIG, NULL, 0, NULL));
	real_fails(FI_ENOMEM, fi_send(r.a.ep, buf, BIG, NULL, 0, NULL));
	cr_assert_eq(limit_lines(), 1);
	real_fails(FI_ENOMEM, fi_recv(r.b.ep, buf, BIG, NULL, 0, NULL));
	cr_assert_eq(limit_lines(), 2); /* each queue says it once */
	/* no memory for buffers to copy into either: it goes all the same */
	real_ok(fi_recv(r.b.ep, buf, 4096, NULL, 0, buf));
	real_ok(fi_send(r.a.ep, buf + 8192, 4096, NULL, 0, buf + 8192));
	arrived(&r, buf + 8192, buf, 4096);
	real_close(&r);
}
