/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Two threads post to one queue pair, one of them with FI_MORE; a third
 * reads the completion queue, a fourth opens and closes queue pairs on it,
 * and the main thread is the device. Every send that was accepted gets its
 * one entry, the silent ones none. For ThreadSanitizer above all.
 */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_cqset.h"
#include "rcm_qp.h"
#include "script.h"

#define PER_THREAD 1500
#define N_POSTERS  2

static struct rcm_cqset cs;
static struct rcm_qp qp;
static atomic_int n_posting = N_POSTERS;
static atomic_int n_read;
static atomic_bool over;
static int entries[N_POSTERS * PER_THREAD];
static int failures;

static void fail(const char *what, long value)
{
	printf("failed: %s %ld\n", what, value);
	failures++;
}

static struct rcm_qp_attr attr_of(uint32_t depth)
{
	return (struct rcm_qp_attr){
		.ctx = &script.ctx,
		.pd = &script.pd,
		.tx_cq = &cs,
		.rx_cq = &cs,
		.tx_depth = depth,
		.rx_depth = 4,
		.tx_sge = 1,
		.rx_sge = 1,
		.inject_size = 64,
		.max_msg_size = 4096,
		.locked = true,
	};
}

/* Posts sends with an entry; every fourth is followed by a silent one. */
static void *post(void *arg)
{
	int first = (int)(intptr_t)arg * PER_THREAD, i;
	char data[8] = "thread";
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = 8 };
	struct rcm_tx tx = {
		.sge = &sge, .n_sge = 1, .opcode = IBV_WR_SEND, .len = 8
	};
	ssize_t ret;

	for (i = 0; i < PER_THREAD; i++) {
		tx.context = &entries[first + i];
		tx.flags = RCM_TX_COMPLETE;
		if (!first && i % 8 && i != PER_THREAD - 1)
			tx.flags |= RCM_TX_MORE;
		while ((ret = rcm_sq_post(&qp, &tx)) == -FI_EAGAIN)
			sched_yield();
		if (ret)
			fail("post", ret);
		if (i % 4)
			continue;
		tx.flags = RCM_TX_INJECT;
		while (rcm_sq_post(&qp, &tx) == -FI_EAGAIN)
			sched_yield();
	}
	atomic_fetch_sub(&n_posting, 1);
	return NULL;
}

static void *read_all(void *arg)
{
	struct fi_cq_data_entry entry[20];
	ssize_t ret, i;

	(void)arg;
	while (n_read < N_POSTERS * PER_THREAD) {
		ret = rcm_cqset_read(&cs, entry, 20);
		if (ret < 0 && ret != -FI_EAGAIN) {
			fail("read", ret);
			break;
		}
		for (i = 0; i < ret; i++)
			++*(int *)entry[i].op_context;
		if (ret > 0)
			atomic_fetch_add(&n_read, (int)ret);
		else
			sched_yield();
	}
	over = true;
	return NULL;
}

static void *come_and_go(void *arg)
{
	struct rcm_qp_attr attr = attr_of(8);
	struct rcm_qp own;
	int ret;

	(void)arg;
	while (!over) {
		ret = rcm_qp_open(&own, &attr, 1);
		if (ret) {
			fail("open", ret);
			break;
		}
		rcm_qp_close(&own);
		sched_yield();
	}
	return NULL;
}

int main(void)
{
	struct rcm_cqset_attr cq_attr = { .ctx = &script.ctx,
					  .format = FI_CQ_FORMAT_DATA,
					  .locked = true };
	struct rcm_qp_attr attr = attr_of(64);
	struct script_qp *dev;
	pthread_t thread[N_POSTERS + 2];
	int i;

	script_open();
	cq_attr.max_cqe = script.max_cqe;
	if (rcm_cqset_open(&cs, &cq_attr) || rcm_qp_open(&qp, &attr, 1))
		return 1;
	dev = script.last_qp;
	rcm_qp_up(&qp, true);
	for (i = 0; i < N_POSTERS; i++)
		pthread_create(&thread[i], NULL, post, (void *)(intptr_t)i);
	pthread_create(&thread[i++], NULL, read_all, NULL);
	pthread_create(&thread[i++], NULL, come_and_go, NULL);
	while (!over)
		if (!script_sent_all(dev))
			sched_yield();
	while (i--)
		pthread_join(thread[i], NULL);
	for (i = 0; i < N_POSTERS * PER_THREAD; i++)
		if (entries[i] != 1)
			fail("entries of one send:", entries[i]);
	rcm_qp_close(&qp);
	if (cs.n_stray || script.overrun)
		fail("stray completions", (long)cs.n_stray);
	rcm_cqset_close(&cs);
	if (script_close())
		fail("objects left", 1);
	printf("%d sends, %d failures\n", N_POSTERS * PER_THREAD, failures);
	return failures != 0;
}
