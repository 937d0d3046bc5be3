/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Completion queues: formats, waiting, sharing, and no limit of their size. */

#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"
#include "net.h"
#include "rcm_cq.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	n.cq_attr.wait_obj = FI_WAIT_FD;
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(cq, .init = set_up, .fini = tear_down);

static void join_pair(void)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
}

static struct fid_cq *rx(void)
{
	return n.side[1].cq;
}

/* One message with an immediate, read into an entry of SIZE bytes. */
static void one_message(enum fi_cq_format format, void *entry, size_t size)
{
	n.cq_attr.format = format;
	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	cr_assert_eq(fi_senddata(n.side[0].ep, n.side[0].buf, 10,
				 n.side[0].desc, 0xabcd, 0, NULL),
		     0);
	memset(entry, 0xa5, size);
	cr_assert_eq(fi_cq_read(rx(), entry, 1), 1);
}

Test(cq, context_format_gives_the_context)
{
	struct fi_cq_entry e[2];

	one_message(FI_CQ_FORMAT_CONTEXT, e, sizeof(e));
	cr_assert_eq(e[0].op_context, &n);
	cr_assert_eq((uintptr_t)e[1].op_context, 0xa5a5a5a5a5a5a5a5);
}

Test(cq, msg_format_gives_flags_and_length)
{
	struct fi_cq_msg_entry e[2];

	one_message(FI_CQ_FORMAT_MSG, e, sizeof(e));
	cr_assert_eq(e[0].op_context, &n);
	cr_assert_eq(e[0].len, 10);
	cr_assert_eq(e[0].flags & (FI_MSG | FI_RECV), FI_MSG | FI_RECV);
	cr_assert_eq((uintptr_t)e[1].op_context, 0xa5a5a5a5a5a5a5a5);
}

/* LF PR#726: the flag goes with the data */
Test(cq, data_format_gives_the_immediate)
{
	struct fi_cq_data_entry e[2];

	one_message(FI_CQ_FORMAT_DATA, e, sizeof(e));
	cr_assert_eq(e[0].data, 0xabcd);
	cr_assert_eq(e[0].flags & (FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA),
		     FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA);
	cr_assert_eq((uintptr_t)e[1].op_context, 0xa5a5a5a5a5a5a5a5);
}

Test(cq, tagged_format_is_filled_or_refused)
{
	struct fi_cq_tagged_entry e[2];

	n.cq_attr.format = FI_CQ_FORMAT_TAGGED;
	if (net_open(&n) < 0)
		return; /* there are no tags to give: refusing is right */
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	cr_assert_eq(net_send(&n, 0, 0, 10, NULL), 0);
	memset(e, 0xa5, sizeof(e));
	cr_assert_eq(fi_cq_read(rx(), e, 1), 1);
	cr_assert_eq(e[0].len, 10);
	cr_assert_eq((uintptr_t)e[1].op_context, 0xa5a5a5a5a5a5a5a5);
}

Test(cq, unknown_format_is_refused)
{
	struct fid_cq *cq;

	cr_assert_eq(net_open(&n), 0);
	n.cq_attr.format = (enum fi_cq_format)77;
	cr_assert_lt(fi_cq_open(n.domain, &n.cq_attr, &cq, NULL), 0);
}

Test(cq, unspecified_format_opens)
{
	n.cq_attr.format = FI_CQ_FORMAT_UNSPEC;
	cr_assert_eq(net_open(&n), 0);
}

/* LF commits 2c3f98726, 324855044, PR#3418 */
Test(cq, empty_queue_says_again)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry e;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_cq_read(rx(), &e, 1), -FI_EAGAIN);
	cr_assert_eq(fi_cq_readerr(rx(), &err, 0), -FI_EAGAIN);
}

/* LF#10068, LF PR#4700 */
Test(cq, reading_no_entries_takes_none)
{
	struct fi_cq_data_entry e;
	ssize_t ret;

	join_pair();
	ret = fi_cq_read(rx(), NULL, 0);
	cr_assert(ret == 0 || ret == -FI_EAGAIN);
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	cr_assert_eq(net_send(&n, 0, 0, 10, NULL), 0);
	ret = fi_cq_read(rx(), NULL, 0);
	cr_assert(ret == 0 || ret == -FI_EAGAIN);
	cr_assert_eq(fi_cq_read(rx(), &e, 1), 1);
}

Test(cq, no_more_entries_than_asked_for_and_none_lost)
{
	struct fi_cq_data_entry e[8];
	int got = 0;

	join_pair();
	for (int i = 0; i < 10; i++) {
		cr_assert_eq(net_recv(&n, 1, 0, 64, (void *)(uintptr_t)i), 0);
		cr_assert_eq(net_send(&n, 0, 0, 10, NULL), 0);
	}
	while (got < 10) {
		ssize_t ret;

		memset(e, 0xa5, sizeof(e));
		ret = fi_cq_read(rx(), e, 3);
		cr_assert(ret > 0 && ret <= 3);
		for (int i = 0; i < ret; i++)
			cr_assert_eq((uintptr_t)e[i].op_context,
				     (uintptr_t)got++);
		cr_assert_eq((uintptr_t)e[ret].op_context, 0xa5a5a5a5a5a5a5a5);
	}
}

Test(cq, readfrom_gives_no_address)
{
	struct fi_cq_data_entry e;
	fi_addr_t src = 5;

	join_pair();
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	cr_assert_eq(net_send(&n, 0, 0, 10, NULL), 0);
	cr_assert_eq(fi_cq_readfrom(rx(), &e, 1, &src), 1);
	cr_assert_eq(src, FI_ADDR_NOTAVAIL);
}

/* LF#5788 */
Test(cq, waiting_without_a_wait_object_is_refused)
{
	struct fi_cq_data_entry e;
	fi_addr_t src;
	int fd;

	n.cq_attr.wait_obj = FI_WAIT_NONE;
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_cq_sread(rx(), &e, 1, NULL, 1), -FI_ENOSYS);
	cr_assert_eq(fi_cq_sreadfrom(rx(), &e, 1, &src, NULL, 1), -FI_ENOSYS);
	cr_assert_lt(fi_control(&rx()->fid, FI_GETWAIT, &fd), 0);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* LF PR#5115, LF#4838 */
Test(cq, sread_waits_as_long_as_it_says)
{
	int64_t start = now_ms();
	struct fi_cq_data_entry e;

	join_pair();
	cr_assert_eq(fi_cq_sread(rx(), &e, 1, NULL, 30), -FI_EAGAIN);
	cr_assert(now_ms() - start >= 30);
	cr_assert(now_ms() - start < 1000);
}

Test(cq, sread_gives_what_is_there)
{
	struct fi_cq_data_entry e;

	join_pair();
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
		cr_assert_eq(net_send(&n, 0, 0, 10, NULL), 0);
		cr_assert_eq(fi_cq_sread(rx(), &e, 1, NULL, -1), 1);
	}
}

static void *send_later(void *arg)
{
	(void)arg;
	net_send(&n, 0, 0, 10, NULL);
	return NULL;
}

Test(cq, message_wakes_a_waiting_reader)
{
	struct fi_cq_data_entry e;
	pthread_t thread;

	join_pair();
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
		pthread_create(&thread, NULL, send_later, NULL);
		cr_assert_eq(fi_cq_sread(rx(), &e, 1, NULL, -1), 1);
		pthread_join(thread, NULL);
	}
}

static void *signal_later(void *arg)
{
	(void)arg;
	fi_cq_signal(rx());
	return NULL;
}

/* LF#697, LF PR#884: a signal wakes once and is then gone */
Test(cq, signal_wakes_a_waiting_reader_once)
{
	int64_t start = now_ms();
	struct fi_cq_data_entry e;
	pthread_t thread;

	join_pair();
	pthread_create(&thread, NULL, signal_later, NULL);
	cr_assert_eq(fi_cq_sread(rx(), &e, 1, NULL, 20000), -FI_EAGAIN);
	cr_assert(now_ms() - start < 10000);
	pthread_join(thread, NULL);
	start = now_ms();
	cr_assert_eq(fi_cq_sread(rx(), &e, 1, NULL, 30), -FI_EAGAIN);
	cr_assert(now_ms() - start >= 30);
}

static bool readable(struct fid_cq *cq)
{
	struct pollfd pfd = { .events = POLLIN };

	cr_assert_eq(fi_control(&cq->fid, FI_GETWAIT, &pfd.fd), 0);
	return poll(&pfd, 1, 0) == 1;
}

/* fabtests#197, ldms#502, LF#8947, LF#8981 */
Test(cq, fd_wakes_for_a_message_after_trywait)
{
	struct fi_cq_data_entry e;
	struct fid *fid;

	join_pair();
	fid = &rx()->fid;
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(fi_trywait(n.fabric, &fid, 1), 0);
		cr_assert(!readable(rx()));
		cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
		cr_assert_eq(net_send(&n, 0, 0, 10, NULL), 0);
		cr_assert(readable(rx()));
		cr_assert_eq(fi_trywait(n.fabric, &fid, 1), -FI_EAGAIN);
		cr_assert_eq(fi_cq_read(rx(), &e, 1), 1);
		cr_assert_eq(fi_cq_read(rx(), &e, 1), -FI_EAGAIN);
	}
}

/* what came before fi_trywait makes it say so, though no event comes */
Test(cq, trywait_sees_what_is_there_already)
{
	struct fid *fid;

	join_pair();
	fid = &rx()->fid;
	cr_assert_eq(net_recv(&n, 1, 0, 64, &n), 0);
	cr_assert_eq(net_send(&n, 0, 0, 10, NULL), 0);
	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), -FI_EAGAIN);
	cr_assert_eq(fi_trywait(n.fabric, &fid, 1), -FI_EAGAIN);
}

/* LF#1918 */
Test(cq, fd_is_there_before_anything_is_bound)
{
	int fd = -1;

	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(fi_control(&rx()->fid, FI_GETWAIT, &fd), 0);
	cr_assert_geq(fd, 0);
}

/* LF#1046: no descriptor is left behind, S14: nor by an open that fails */
Test(cq, queues_leave_no_descriptors)
{
	struct fid_cq *cq;
	int fds;

	cr_assert_eq(net_open(&n), 0);
	fds = net_n_fds();
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(fi_cq_open(n.domain, &n.cq_attr, &cq, NULL), 0);
		cr_assert_eq(fi_close(&cq->fid), 0);
		fake_fail(FAKE_create_comp_channel, 1, ENOMEM);
		cr_assert_lt(fi_cq_open(n.domain, &n.cq_attr, &cq, NULL), 0);
		fake_fail_none();
	}
	cr_assert_eq(net_n_fds(), fds);
}

/* LF PR#6841, S04 */
Test(cq, vector_counts_only_with_its_flag_and_in_range)
{
	struct fi_cq_attr attr = n.cq_attr;
	struct fid_cq *cq;

	cr_assert_eq(net_open(&n), 0);
	attr.signaling_vector = 4711;
	cr_assert_eq(fi_cq_open(n.domain, &attr, &cq, NULL), 0);
	cr_assert_eq(fi_close(&cq->fid), 0);
	attr.flags = FI_AFFINITY;
	cr_assert_eq(fi_cq_open(n.domain, &attr, &cq, NULL), -FI_EINVAL);
	attr.signaling_vector = -1;
	cr_assert_eq(fi_cq_open(n.domain, &attr, &cq, NULL), -FI_EINVAL);
	/* the fake has 0 and 1; a processor's number will do as well */
	attr.signaling_vector = (int)sysconf(_SC_NPROCESSORS_CONF);
	if (attr.signaling_vector < 2)
		attr.signaling_vector = 2;
	cr_assert_eq(fi_cq_open(n.domain, &attr, &cq, NULL), -FI_EINVAL);
	attr.signaling_vector = 1;
	cr_assert_eq(fi_cq_open(n.domain, &attr, &cq, NULL), 0);
	cr_assert_eq(fi_close(&cq->fid), 0);
}

/* ofi_rxm asks for 262,144 entries, the device has 32,767 */
Test(cq, size_beyond_the_device_opens_and_works)
{
	n.cq_attr.size = 262144;
	join_pair();
	cr_assert_eq(net_exchange(&n, 0, 10, 64), 0);
}

/* S03 */
Test(cq, error_text_ends_within_the_buffer)
{
	char text[64], cut[4];

	cr_assert_eq(net_open(&n), 0);
	cr_assert_not_null(fi_cq_strerror(rx(), IBV_WC_LOC_PROT_ERR, NULL, text,
					  sizeof(text)));
	cr_assert_gt(strlen(text), 5);
	memset(cut, '#', sizeof(cut));
	fi_cq_strerror(rx(), IBV_WC_LOC_PROT_ERR, NULL, cut, sizeof(cut));
	cr_assert_eq(strnlen(cut, sizeof(cut)), 3);
}

#define EPS   4
#define SENDS 64

/* More endpoints than the pair of the fixture. */
struct mesh {
	struct fid_ep *a[EPS * 2], *b[EPS * 2];
	unsigned int n;
};

static void mesh_open(struct mesh *m, unsigned int count)
{
	memset(m, 0, sizeof(*m));
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_listen(&n), 0);
	for (; m->n < count; m->n++)
		cr_assert_eq(net_join_more(&n, &m->a[m->n], &m->b[m->n]), 0);
}

static void mesh_close(struct mesh *m)
{
	for (unsigned int i = 0; i < m->n; i++) {
		cr_assert_eq(fi_close(&m->a[i]->fid), 0);
		cr_assert_eq(fi_close(&m->b[i]->fid), 0);
	}
}

/* Reads what is in CQ; the number of good entries. */
static unsigned int drain(struct fid_cq *cq)
{
	struct fi_cq_data_entry e[5];
	unsigned int got = 0;
	ssize_t ret;

	while ((ret = fi_cq_read(cq, e, 5)) > 0)
		got += ret;
	cr_assert_eq(ret, -FI_EAGAIN, "fi_cq_read gave %zd", ret);
	return got;
}

/* Posts COUNT receives at B and as many sends at A, -FI_EAGAIN aside. */
static unsigned int mesh_send(struct mesh *m, unsigned int i,
			      unsigned int count)
{
	unsigned int sent;
	ssize_t ret;

	for (unsigned int k = 0; k < count; k++) {
		ret = fi_recv(m->b[i], n.side[1].buf, 64, n.side[1].desc, 0,
			      NULL);
		cr_assert(!ret || ret == -FI_EAGAIN);
	}
	for (sent = 0; sent < count; sent++) {
		ret = fi_send(m->a[i], n.side[0].buf, 64, n.side[0].desc, 0,
			      NULL);
		if (ret == -FI_EAGAIN)
			break;
		cr_assert_eq(ret, 0);
	}
	return sent;
}

/*
 * LF#4913, LF PR#5500, LF commit 3aaf8f5a9: a queue that is small, shared and
 * not read is never overrun; all completes once it is read.
 */
Test(cq, small_shared_queue_is_never_overrun)
{
	unsigned int sent = 0, sends = 0, recvs = 0;
	struct mesh m;

	n.cq_attr.size = 16;
	mesh_open(&m, EPS);
	for (unsigned int i = 0; i < EPS; i++)
		sent += mesh_send(&m, i, SENDS);
	cr_assert_gt(sent, 0);
	cr_assert_eq(fake_problems(true), 0);
	sends += drain(n.side[0].cq);
	recvs += drain(n.side[1].cq);
	cr_assert_eq(sends, sent);
	cr_assert_eq(recvs, sent);
	mesh_close(&m);
}

/* LF commits 8eb856c30, 9230d2cb2 */
Test(cq, many_endpoints_on_one_queue_all_enable)
{
	struct mesh m;

	mesh_open(&m, EPS * 2);
	mesh_close(&m);
}

/* design D8: several hardware queues behind one */
static void small_device(void)
{
	static const struct fake_dev_conf conf = { .name = "small",
						   .max_cqe = 100,
						   .addrs = { "10.77.0.1" } };

	net_begin(&n, &conf, 1);
	n.hints->tx_attr->size = 40;
	n.hints->rx_attr->size = 40;
}

Test(cq_small, hardware_queues_are_added_as_needed, .init = small_device,
     .fini = tear_down)
{
	unsigned int sent = 0;
	struct mesh m;

	mesh_open(&m, EPS);
	cr_assert_gt(fake_n_cqs(), 2);
	for (unsigned int i = 0; i < EPS; i++)
		sent += mesh_send(&m, i, 40);
	cr_assert_eq(drain(n.side[0].cq), sent);
	cr_assert_eq(drain(n.side[1].cq), sent);
	cr_assert_geq(sent, EPS * 39);
	mesh_close(&m);
}

Test(cq_small, every_hardware_queue_wakes_the_reader, .init = small_device,
     .fini = tear_down)
{
	struct fi_cq_data_entry e;
	struct mesh m;
	struct fid *fid;

	n.cq_attr.wait_obj = FI_WAIT_FD;
	mesh_open(&m, EPS);
	fid = &rx()->fid;
	for (unsigned int i = 0; i < EPS; i++) {
		cr_assert_eq(fi_trywait(n.fabric, &fid, 1), 0);
		cr_assert_eq(mesh_send(&m, i, 1), 1);
		cr_assert(readable(rx()), "endpoint %u", i);
		cr_assert_eq(fi_cq_sread(rx(), &e, 1, NULL, -1), 1);
	}
	mesh_close(&m);
}

/* the rooms of closed endpoints are used again */
Test(cq_small, closed_endpoints_give_their_room_back, .init = small_device,
     .fini = tear_down)
{
	unsigned int cqs;
	struct mesh m;

	mesh_open(&m, EPS);
	cqs = fake_n_cqs();
	for (int round = 0; round < 5; round++) {
		mesh_close(&m);
		for (unsigned int i = 0; i < EPS; i++)
			cr_assert_eq(net_join_more(&n, &m.a[i], &m.b[i]), 0);
	}
	cr_assert_leq(fake_n_cqs(), cqs);
	mesh_close(&m);
}
