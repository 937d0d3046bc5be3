/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Nothing is registered by the application: two threads send from memory of
 * all lengths, one of them with FI_MORE, a third posts receives, and two read
 * both queues. Each message arrives whole, and all memory is given back. For
 * ThreadSanitizer above all.
 */

#include <string.h>

#include "mt.h"

#define PER_SENDER 600
#define N_SENDERS  2
#define N	   (N_SENDERS * PER_SENDER)
#define LEN	   5000

static struct net n;
static const size_t lens[] = { 64, 300, 4096, LEN };
static uint8_t out[N_SENDERS][LEN];

static struct op {
	atomic_int sent;
	atomic_int received;
	uint8_t in[LEN];
} ops[N];
static atomic_int n_ended;

static ssize_t send_one(size_t len, uint8_t *buf, uint64_t flags, struct op *op)
{
	struct iovec iov[2] = { { buf, len / 3 },
				{ buf + len / 3, len - len / 3 } };
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 2, .context = op };

	return fi_sendmsg(n.side[0].ep, &msg, FI_COMPLETION | flags);
}

static void *send_all(void *arg)
{
	size_t which = (size_t)(uintptr_t)arg;
	struct op *op = &ops[which * PER_SENDER];

	memset(out[which], 'a' + (int)which, LEN);
	for (int i = 0; i < PER_SENDER; i++, op++) {
		bool more = !which && i % 8 && i != PER_SENDER - 1;
		ssize_t ret;

		while ((ret = send_one(lens[(size_t)i % 4], out[which],
				       more ? FI_MORE : 0, op)) == -FI_EAGAIN)
			sched_yield();
		MT_CHECK(ret == 0);
	}
	return NULL;
}

static void *receive_all(void *arg)
{
	ssize_t ret;

	(void)arg;
	for (int i = 0; i < N; i++) {
		while ((ret = fi_recv(n.side[1].ep, ops[i].in, LEN, NULL, 0,
				      &ops[i])) == -FI_EAGAIN)
			sched_yield();
		MT_CHECK(ret == 0);
	}
	return NULL;
}

static void ended(const struct fi_cq_data_entry *entry)
{
	struct op *op = entry->op_context;
	size_t i;

	if (entry->flags & FI_SEND) {
		atomic_fetch_add(&op->sent, 1);
		return;
	}
	for (i = 1; i < entry->len; i++)
		MT_CHECK(op->in[i] == op->in[0]);
	/* it is the test's again */
	memset(op->in, 0, LEN);
	atomic_fetch_add(&op->received, 1);
}

static void *read_all(void *arg)
{
	struct fi_cq_data_entry entry[8];
	int side = 0;

	(void)arg;
	while (atomic_load(&n_ended) < 2 * N) {
		ssize_t ret = fi_cq_read(n.side[side].cq, entry, 8);

		side = !side;
		if (ret == -FI_EAGAIN) {
			sched_yield();
			continue;
		}
		MT_CHECK(ret > 0);
		for (ssize_t i = 0; i < ret; i++)
			ended(&entry[i]);
		atomic_fetch_add(&n_ended, (int)ret);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[N_SENDERS + 3];
	size_t i = 0;

	net_begin(&n, NULL, 0);
	fake_be_patient();
	n.hints->domain_attr->threading = FI_THREAD_SAFE;
	n.hints->domain_attr->mr_mode = 0;
	MT_CHECK(net_open(&n) == 0 && net_join(&n) == 0);
	for (; i < N_SENDERS; i++)
		thread[i] = mt_start(send_all, (void *)(uintptr_t)i);
	thread[i++] = mt_start(receive_all, NULL);
	thread[i++] = mt_start(read_all, NULL);
	thread[i++] = mt_start(read_all, NULL);
	while (i--)
		mt_join(thread[i]);
	for (int k = 0; k < N; k++)
		MT_CHECK(ops[k].sent == 1 && ops[k].received == 1);
	MT_CHECK(fake_regions() == 1); /* of what short ones are copied into */
	net_end(&n);
	printf("%d messages\n", N);
	return 0;
}
