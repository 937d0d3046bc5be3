/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Two threads at each of two endpoints add to one word, every second time
 * without wanting an answer; the first of these make the page for such answers
 * at once. No sum is lost, no answer comes twice, and there is one page. For
 * ThreadSanitizer above all.
 */

#include <rdma/fi_atomic.h>

#include "mt.h"

#define PER_ADDER 500
#define N_ADDERS  4
#define N	  2000

_Static_assert(N == N_ADDERS * PER_ADDER, "all of them");

static struct net n;
static _Alignas(8) uint64_t target;
static _Alignas(8) uint64_t results[N];
static struct fid_mr *target_mr, *results_mr;
static atomic_int n_ended[2];

static ssize_t add_one(struct fid_ep *ep, int i)
{
	uint64_t one = 1, addr = (uintptr_t)&target;

	if (i % 2 == 0)
		return fi_atomic(ep, &one, 1, NULL, 0, addr,
				 fi_mr_key(target_mr), FI_UINT64, FI_SUM, NULL);
	return fi_fetch_atomic(ep, &one, 1, NULL, &results[i],
			       fi_mr_desc(results_mr), 0, addr,
			       fi_mr_key(target_mr), FI_UINT64, FI_SUM, NULL);
}

static void *add_all(void *arg)
{
	int which = (int)(intptr_t)arg, i;
	struct fid_ep *ep = n.side[which % 2].ep;
	ssize_t ret;

	for (i = which * PER_ADDER; i < (which + 1) * PER_ADDER; i++) {
		while ((ret = add_one(ep, i)) == -FI_EAGAIN)
			sched_yield();
		MT_CHECK(ret == 0);
	}
	return NULL;
}

static void *read_side(void *arg)
{
	int side = (int)(intptr_t)arg;
	struct fi_cq_data_entry entry[8];

	while (atomic_load(&n_ended[side]) < N / 2) {
		ssize_t ret = fi_cq_read(n.side[side].cq, entry, 8);

		if (ret == -FI_EAGAIN) {
			sched_yield();
			continue;
		}
		MT_CHECK(ret > 0);
		for (ssize_t i = 0; i < ret; i++)
			MT_CHECK(entry[i].flags & FI_ATOMIC);
		atomic_fetch_add(&n_ended[side], (int)ret);
	}
	return NULL;
}

static void check_results(void)
{
	static bool seen[N];

	MT_CHECK(target == N);
	for (int i = 1; i < N; i += 2) {
		MT_CHECK(results[i] < N && !seen[results[i]]);
		seen[results[i]] = true;
	}
}

int main(void)
{
	pthread_t thread[N_ADDERS + 2];
	unsigned int regions;
	intptr_t i = 0;

	net_begin(&n, NULL, 0);
	fake_be_patient();
	n.hints->caps = FI_MSG | FI_ATOMIC;
	n.hints->domain_attr->threading = FI_THREAD_SAFE;
	MT_CHECK(net_open(&n) == 0 && net_join(&n) == 0);
	MT_CHECK(fi_mr_reg(n.domain, &target, sizeof(target),
			   FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0,
			   &target_mr, NULL) == 0);
	MT_CHECK(fi_mr_reg(n.domain, results, sizeof(results), FI_READ, 0, 0, 0,
			   &results_mr, NULL) == 0);
	regions = fake_regions();
	for (; i < N_ADDERS; i++)
		thread[i] = mt_start(add_all, (void *)i);
	thread[i++] = mt_start(read_side, (void *)0);
	thread[i++] = mt_start(read_side, (void *)1);
	while (i--)
		mt_join(thread[i]);
	check_results();
	MT_CHECK(fake_regions() == regions + 1);
	fi_close(&target_mr->fid);
	fi_close(&results_mr->fid);
	net_end(&n);
	printf("%d sums\n", N);
	return 0;
}
