/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Four threads post messages, reads and writes, two read completions, and two more open, connect and
 * close the endpoints under them, which also break now and then: of every
 * operation that was accepted there is exactly one entry, be it a completion,
 * an error or a cancelation. With manual progress of connections, with control
 * threads, and with memory that the application has not registered.
 */

#include <string.h>

#include <rdma/fi_rma.h>

#include "mt.h"

#define POSTERS	   4
#define READERS	   2
#define PER_POSTER 3000
#define SLOTS	   6
#define LEN	   64 /* of a receive */

static struct net n;

/* An operation, and the buffer that it owns. */
static struct op {
	atomic_int posted;
	atomic_int entries;
	uint8_t buf[2 * LEN];
} ops[POSTERS][PER_POSTER];
static void *ops_desc[2];
static uint64_t ops_key; /* of all of them, for reads and writes */
static bool bare;	 /* every other operation comes without a descriptor */

/* Where a pair of endpoints is, for whoever holds the lock. */
static struct slot {
	pthread_rwlock_t lock;
	struct fid_ep *ep[2];
} slots[SLOTS];

static atomic_int n_posting;
static atomic_bool serving, reading;
static atomic_uint good, failed, cancelled, silent;

static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

/* A read or a write, between two halves of OP's own buffer. */
static ssize_t post_rma(struct fid_ep *ep, struct op *op, void *desc,
			unsigned int kind)
{
	struct iovec iov = { op->buf, LEN };
	struct fi_rma_iov there = { (uintptr_t)op->buf + LEN, LEN, ops_key };
	struct fi_msg_rma msg = { .msg_iov = &iov,
				  .desc = &desc,
				  .iov_count = 1,
				  .rma_iov = &there,
				  .rma_iov_count = 1,
				  .context = op };

	switch (kind) {
	case 0:
		return fi_read(ep, op->buf, LEN, desc, 0, there.addr, ops_key,
			       op);
	case 1:
		return fi_write(ep, op->buf, LEN, desc, 0, there.addr, ops_key,
				op);
	case 2: /* uses up somebody's receive */
		return fi_writedata(ep, op->buf, LEN, desc, kind, 0, there.addr,
				    ops_key, op);
	default:
		return fi_writemsg(ep, &msg, FI_COMPLETION | FI_MORE);
	}
}

/* Posts OP to an end of a pair; what, and where, chance decides. */
static ssize_t post_one(struct slot *s, struct op *op, unsigned int r)
{
	int side = (r & 1) != 0;
	struct fid_ep *ep = s->ep[side];
	struct iovec iov = { op->buf, LEN / 2 };
	void *desc = bare && (r & 2048) ? NULL : ops_desc[side];
	struct fi_msg msg = {
		.msg_iov = &iov, .desc = &desc, .iov_count = 1, .context = op
	};

	if (!ep)
		return -FI_ENOTCONN;
	if (r & 2)
		return fi_recv(ep, op->buf, LEN, desc, 0, op);
	if (r & 4096)
		return post_rma(ep, op, desc, r >> 14);
	if (!(r & 1020)) /* more than any receive takes: ends the pair */
		return fi_send(ep, op->buf, sizeof(op->buf), desc, 0, op);
	return fi_sendmsg(ep, &msg, FI_COMPLETION | ((r & 12) ? 0 : FI_MORE));
}

static void inject_one(struct slot *s, struct op *op)
{
	if (s->ep[0] && !fi_inject(s->ep[0], op->buf, 8, 0))
		atomic_fetch_add(&silent, 1);
	if (s->ep[0] && !fi_inject_write(s->ep[0], op->buf, 8, 0,
					 (uintptr_t)op->buf + LEN, ops_key))
		atomic_fetch_add(&silent, 1);
}

static void *post(void *arg)
{
	struct op *mine = arg;
	unsigned int state = (unsigned int)(mine - ops[0]) + 1;

	for (int i = 0; i < PER_POSTER;) {
		unsigned int r = next_random(&state);
		struct slot *s = &slots[next_random(&state) % SLOTS];
		ssize_t ret;

		pthread_rwlock_rdlock(&s->lock);
		ret = post_one(s, &mine[i], r);
		if (ret && !(r & 60))
			inject_one(s, &mine[i]);
		pthread_rwlock_unlock(&s->lock);
		if (ret) {
			MT_CHECK(ret == -FI_EAGAIN || ret == -FI_ENOTCONN ||
				 ret == -FI_ESHUTDOWN);
			sched_yield();
			continue;
		}
		atomic_store(&mine[i++].posted, 1);
	}
	atomic_fetch_sub(&n_posting, 1);
	return NULL;
}

static bool read_error(struct fid_cq *cq)
{
	struct fi_cq_err_entry err = { 0 };
	struct op *op;

	/* the other reader may have been quicker */
	if (fi_cq_readerr(cq, &err, 0) != 1)
		return false;
	atomic_fetch_add(err.err == FI_ECANCELED ? &cancelled : &failed, 1);
	op = err.op_context;
	if (op)
		atomic_fetch_add(&op->entries, 1);
	else /* of an injected message */
		atomic_fetch_sub(&silent, 1);
	return true;
}

static bool read_some(struct fid_cq *cq)
{
	struct fi_cq_data_entry entry[8];
	ssize_t ret = fi_cq_read(cq, entry, 8);

	if (ret == -FI_EAVAIL)
		return read_error(cq);
	if (ret == -FI_EAGAIN)
		return false;
	MT_CHECK(ret > 0);
	atomic_fetch_add(&good, (unsigned int)ret);
	while (ret--) {
		struct op *op = entry[ret].op_context;

		atomic_fetch_add(&op->entries, 1);
	}
	return true;
}

static void *read_all(void *arg)
{
	bool last;

	(void)arg;
	do {
		last = !atomic_load(&reading);
		for (int i = 0; i < 2; i++)
			while (read_some(n.side[i].cq))
				last = false;
		sched_yield();
	} while (!last);
	return NULL;
}

/* Side 1: an endpoint for each request, in the slot that the data names. */
static void *serve(void *arg)
{
	struct fi_eq_cm_entry cm;
	uint8_t entry[sizeof(cm) + 1], slot;
	struct fi_eq_err_entry err = { 0 };
	struct fid_ep *ep;
	uint32_t event;

	(void)arg;
	while (atomic_load(&serving)) {
		ssize_t ret = fi_eq_sread(n.side[1].eq, &event, entry,
					  sizeof(entry), 5, 0);

		if (ret == -FI_EAVAIL) { /* a pair broke */
			(void)fi_eq_readerr(n.side[1].eq, &err, 0);
			continue;
		}
		if (ret == -FI_EAGAIN || event != FI_CONNREQ)
			continue;
		MT_CHECK(ret == sizeof(entry));
		memcpy(&cm, entry, sizeof(cm));
		slot = entry[sizeof(cm)];
		MT_CHECK(slot < SLOTS);
		MT_CHECK(net_make_ep(&n, 1, cm.info, &ep) == 0);
		MT_CHECK(fi_accept(ep, NULL, 0) == 0);
		fi_freeinfo(cm.info);
		pthread_rwlock_wrlock(&slots[slot].lock);
		slots[slot].ep[1] = ep;
		pthread_rwlock_unlock(&slots[slot].lock);
	}
	return NULL;
}

static bool is_whole(struct slot *s)
{
	bool whole;

	pthread_rwlock_rdlock(&s->lock);
	whole = s->ep[0] && s->ep[1];
	pthread_rwlock_unlock(&s->lock);
	return whole;
}

/* Waits for EP's connection; events of broken pairs are nothing new. */
static void await_connected(struct fid_ep *ep)
{
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t ret;

	do {
		ret = fi_eq_sread(n.side[0].eq, &event, &entry, sizeof(entry),
				  -1, 0);
		if (ret == -FI_EAVAIL) {
			MT_CHECK(fi_eq_readerr(n.side[0].eq, &err, 0) > 0);
			MT_CHECK(err.fid != &ep->fid);
			continue;
		}
		MT_CHECK(ret == sizeof(entry));
	} while (ret < 0 || event != FI_CONNECTED || entry.fid != &ep->fid);
}

static void open_pair(struct slot *s)
{
	uint8_t number = (uint8_t)(s - slots);
	struct fid_ep *ep;

	MT_CHECK(net_make_ep(&n, 0, n.info, &ep) == 0);
	MT_CHECK(fi_connect(ep, &n.addr, &number, 1) == 0);
	await_connected(ep);
	pthread_rwlock_wrlock(&s->lock);
	s->ep[0] = ep;
	pthread_rwlock_unlock(&s->lock);
	while (!is_whole(s))
		sched_yield();
}

static void close_pair(struct slot *s)
{
	struct fid_ep *ep[2];

	pthread_rwlock_wrlock(&s->lock);
	memcpy(ep, s->ep, sizeof(ep));
	s->ep[0] = NULL;
	s->ep[1] = NULL;
	pthread_rwlock_unlock(&s->lock);
	for (int i = 0; i < 2; i++)
		MT_CHECK(fi_close(&ep[i]->fid) == 0);
}

static unsigned int come_and_go(void)
{
	unsigned int state = 1, pairs = 0;

	for (int i = 0; i < SLOTS; i++)
		open_pair(&slots[i]);
	while (atomic_load(&n_posting)) {
		struct slot *s = &slots[next_random(&state) % SLOTS];

		close_pair(s);
		open_pair(s);
		pairs++;
	}
	for (int i = 0; i < SLOTS; i++)
		close_pair(&slots[i]);
	return pairs + SLOTS;
}

static void check_ops(void)
{
	for (int i = 0; i < POSTERS * PER_POSTER; i++) {
		struct op *op = &ops[i / PER_POSTER][i % PER_POSTER];

		MT_CHECK(op->posted == 1);
		MT_CHECK(op->entries == 1);
		op->entries = 0;
	}
}

static void open_net(enum fi_progress control, struct fid_mr *mr[2])
{
	/* nothing goes inline, so that all needs a key */
	static const struct fake_dev_conf plain = {
		.name = "fake0",
		.ifname = "feth0",
		.addrs = { "10.77.0.1" },
		.max_inline = -1,
	};

	net_begin(&n, bare ? &plain : NULL, bare ? 1 : 0);
	fake_be_patient();
	if (bare)
		n.hints->domain_attr->mr_mode &= ~FI_MR_LOCAL;
	n.hints->caps |= FI_RMA;
	n.hints->mode |= FI_RX_CQ_DATA;
	n.hints->domain_attr->threading = FI_THREAD_SAFE;
	n.hints->domain_attr->control_progress = control;
	n.hints->tx_attr->size = 16;
	n.hints->rx_attr->size = 16;
	n.eq_attr.wait_obj = FI_WAIT_FD;
	MT_CHECK(net_open(&n) == 0);
	for (int i = 0; i < 2; i++) {
		MT_CHECK(fi_mr_reg(n.domain, ops, sizeof(ops), FI_MSG | FI_RMA,
				   0, 0, 0, &mr[i], NULL) == 0);
		ops_desc[i] = fi_mr_desc(mr[i]);
	}
	ops_key = fi_mr_key(mr[0]);
	MT_CHECK(net_listen(&n) == 0);
}

static void run(enum fi_progress control)
{
	pthread_t posters[POSTERS], readers[READERS], server;
	struct fid_mr *mr[2];
	unsigned int pairs;

	open_net(control, mr);
	atomic_store(&n_posting, POSTERS);
	atomic_store(&serving, true);
	atomic_store(&reading, true);
	server = mt_start(serve, NULL);
	for (int i = 0; i < READERS; i++)
		readers[i] = mt_start(read_all, NULL);
	for (int i = 0; i < POSTERS; i++)
		posters[i] = mt_start(post, ops[i]);
	pairs = come_and_go();
	for (int i = 0; i < POSTERS; i++)
		mt_join(posters[i]);
	atomic_store(&serving, false);
	mt_join(server);
	atomic_store(&reading, false);
	for (int i = 0; i < READERS; i++)
		mt_join(readers[i]);
	printf("%u pairs, %d operations: %u completed, %u failed, %u canceled; "
	       "%d injected\n",
	       pairs, POSTERS * PER_POSTER, good, failed, cancelled,
	       (int)silent);
	check_ops();
	MT_CHECK((int)silent >= 0);
	for (int i = 0; i < 2; i++)
		MT_CHECK(fi_close(&mr[i]->fid) == 0);
	net_end(&n);
}

int main(void)
{
	for (int i = 0; i < SLOTS; i++)
		pthread_rwlock_init(&slots[i].lock, NULL);
	run(FI_PROGRESS_MANUAL);
	good = failed = cancelled = silent = 0;
	run(FI_PROGRESS_AUTO);
	good = failed = cancelled = silent = 0;
	bare = true;
	run(FI_PROGRESS_MANUAL);
	return 0;
}
