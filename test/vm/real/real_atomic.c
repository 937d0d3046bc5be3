/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <pthread.h>
#include <rdma/fi_atomic.h>
#include <string.h>

#include "real.h"

/* Atomic operations on a real device: fi_atomic(3). */

#define WORDS  8
#define ROUNDS 2000 /* of each of two endpoints */
#define BOTH   4000
#define AHEAD  16 /* operations that one keeps outstanding */

static _Alignas(8) uint64_t target[WORDS];
static _Alignas(8) uint64_t local[2][AHEAD];
static uint64_t key;
static void *desc;

static void open_words(struct real *r, const struct real_opts *opts)
{
	memset(target, 0, sizeof(target));
	real_open_pair(r, opts);
	real_mr(r, target, sizeof(target), FI_REMOTE_READ | FI_REMOTE_WRITE);
	key = fi_mr_key(r->mrs[r->n_mrs - 1]);
	desc = real_mr(r, local, sizeof(local), FI_READ | FI_WRITE);
}

static void open_pair(struct real *r)
{
	struct real_opts opts = { .caps = FI_ATOMIC };

	open_words(r, &opts);
}

static uint64_t at(const uint64_t *word)
{
	return (uintptr_t)word;
}

static void base(struct real_side *side, uint64_t value, enum fi_op op,
		 uint64_t *word)
{
	real_ok(fi_atomic(side->ep, &value, 1, NULL, 0, at(word), key,
			  FI_UINT64, op, word));
}

static void fetch(struct real_side *side, uint64_t value, enum fi_op op,
		  uint64_t *word, uint64_t *result)
{
	real_ok(fi_fetch_atomic(side->ep, &value, 1, NULL, result, desc, 0,
				at(word), key, FI_UINT64, op, word));
}

static void swap(struct real_side *side, uint64_t compare, uint64_t value,
		 uint64_t *word, uint64_t *result)
{
	real_ok(fi_compare_atomic(side->ep, &value, 1, NULL, &compare, NULL,
				  result, desc, 0, at(word), key, FI_UINT64,
				  FI_CSWAP, word));
}

static void done(struct real_side *side, const void *context, uint64_t flags)
{
	struct fi_cq_data_entry entry;

	real_done(side->txcq, &entry, context);
	cr_assert_eq(entry.flags, flags);
}

Test(atomic, each_operation_does_what_it_says)
{
	const uint64_t wrote = FI_ATOMIC | FI_WRITE;
	const uint64_t fetched = FI_ATOMIC | FI_READ;
	uint64_t nine = 9;
	struct real r;

	open_pair(&r);
	base(&r.a, 5, FI_SUM, &target[0]);
	done(&r.a, &target[0], wrote);
	cr_assert_eq(target[0], 5);
	fetch(&r.a, 6, FI_SUM, &target[0], &local[0][0]);
	done(&r.a, &target[0], fetched);
	cr_assert_eq(local[0][0], 5);
	cr_assert_eq(target[0], 11);
	fetch(&r.a, 1000, FI_ATOMIC_READ, &target[0], &local[0][1]);
	done(&r.a, &target[0], fetched);
	cr_assert_eq(local[0][1], 11);
	cr_assert_eq(target[0], 11);
	swap(&r.a, 11, 20, &target[0], &local[0][2]);
	done(&r.a, &target[0], fetched);
	cr_assert_eq(local[0][2], 11);
	cr_assert_eq(target[0], 20);
	swap(&r.a, 11, 30, &target[0], &local[0][3]);
	done(&r.a, &target[0], fetched);
	cr_assert_eq(local[0][3], 20);
	cr_assert_eq(target[0], 20);
	base(&r.a, UINT64_MAX, FI_SUM, &target[1]);
	done(&r.a, &target[1], wrote);
	real_ok(fi_inject_atomic(r.a.ep, &nine, 1, 0, at(&target[0]), key,
				 FI_UINT64, FI_SUM));
	nine = 0;
	fetch(&r.a, 0, FI_ATOMIC_READ, &target[0], &local[0][4]);
	done(&r.a, &target[0], fetched);
	cr_assert_eq(local[0][4], 29);
	cr_assert_eq(target[1], UINT64_MAX);
	cr_assert_eq(target[2], 0);
	real_close(&r);
}

Test(atomic, bytes_are_in_the_order_of_the_machine)
{
	struct real r;

	open_pair(&r);
	target[0] = 0x01020304050607ff;
	fetch(&r.a, 1, FI_SUM, &target[0], &local[0][0]);
	done(&r.a, &target[0], FI_ATOMIC | FI_READ);
	cr_assert_eq(local[0][0], 0x01020304050607ff);
	cr_assert_eq(target[0], 0x0102030405060800);
	swap(&r.a, 0x0102030405060800, 0x1112131415161718, &target[0],
	     &local[0][1]);
	done(&r.a, &target[0], FI_ATOMIC | FI_READ);
	cr_assert_eq(local[0][1], 0x0102030405060800);
	cr_assert_eq(target[0], 0x1112131415161718);
	real_close(&r);
}

Test(atomic, results_need_no_descriptor_without_local)
{
	struct real_opts opts = { .caps = FI_ATOMIC, .unregistered = true };
	static uint64_t result;
	struct real r;

	open_words(&r, &opts);
	desc = NULL;
	target[0] = 70;
	fetch(&r.a, 7, FI_SUM, &target[0], &result);
	done(&r.a, &target[0], FI_ATOMIC | FI_READ);
	cr_assert_eq(result, 70);
	cr_assert_eq(target[0], 77);
	real_close(&r);
}

/* Two threads, one for each side, that work on one word at once. */
struct adder {
	struct real_side *side;
	uint64_t *result;
	int swaps;	 /* that it has made */
	const char *bad; /* an assertion in a thread is no end of the test */
};

static void *fail(struct adder *me, const char *what)
{
	me->bad = what;
	return NULL;
}

/* Takes one completion; false when there is none, or an error. */
static bool wait_one(struct adder *me)
{
	struct fi_cq_data_entry entry;
	ssize_t ret;

	for (int i = 0; i < REAL_PATIENCE * 100; i++) {
		ret = fi_cq_read(me->side->txcq, &entry, 1);
		if (ret == 1)
			return true;
		if (ret != -FI_EAGAIN)
			break;
		sched_yield();
	}
	fail(me, "no good completion came");
	return false;
}

/* Every other one without a result. */
static ssize_t add_one(struct adder *me, int i)
{
	uint64_t one = 1;

	if (i % 2)
		return fi_atomic(me->side->ep, &one, 1, NULL, 0, at(target),
				 key, FI_UINT64, FI_SUM, NULL);
	return fi_fetch_atomic(me->side->ep, &one, 1, NULL,
			       &me->result[i % AHEAD], desc, 0, at(target), key,
			       FI_UINT64, FI_SUM, NULL);
}

static void *add_many(void *arg)
{
	struct adder *me = arg;
	int out = 0, posted = 0;

	while (posted < ROUNDS || out) {
		if (posted < ROUNDS && out < AHEAD) {
			if (add_one(me, posted))
				return fail(me, "posting failed");
			posted++;
			out++;
		} else if (!wait_one(me)) {
			return NULL;
		} else {
			out--;
		}
	}
	return NULL;
}

static void *count_up(void *arg)
{
	struct adder *me = arg;
	uint64_t expected = 0, next;

	while (me->swaps < ROUNDS) {
		next = expected + 1;
		if (fi_compare_atomic(me->side->ep, &next, 1, NULL, &expected,
				      NULL, me->result, desc, 0, at(target),
				      key, FI_UINT64, FI_CSWAP, NULL))
			return fail(me, "posting failed");
		if (!wait_one(me))
			return NULL;
		if (*me->result == expected) {
			me->swaps++;
			expected = next;
		} else {
			expected = *me->result;
		}
	}
	return NULL;
}

static void run_both(struct real *r, void *(*run)(void *))
{
	struct adder who[2] = {
		{ .side = &r->a, .result = local[0] },
		{ .side = &r->b, .result = local[1] },
	};
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, run, &who[1]), 0);
	run(&who[0]);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_null(who[i].bad, "side %d: %s", i, who[i].bad);
}

Test(atomic, sums_of_two_endpoints_add_up)
{
	struct real r;

	open_pair(&r);
	run_both(&r, add_many);
	cr_assert_eq(target[0], BOTH, "%llu", (unsigned long long)target[0]);
	real_close(&r);
}

Test(atomic, swaps_of_two_endpoints_take_turns)
{
	struct real r;

	open_pair(&r);
	run_both(&r, count_up);
	cr_assert_eq(target[0], BOTH, "%llu", (unsigned long long)target[0]);
	real_close(&r);
}

Test(atomic, operations_of_one_endpoint_take_place_in_their_order)
{
	struct real r;

	open_pair(&r);
	for (uint64_t i = 0; i < 50; i++) {
		base(&r.a, 1, FI_SUM, &target[0]);
		fetch(&r.a, 1, FI_SUM, &target[0], &local[0][0]);
		swap(&r.a, 10 * i + 2, 7, &target[0], &local[0][1]);
		fetch(&r.a, 0, FI_ATOMIC_READ, &target[0], &local[0][2]);
		base(&r.a, 10 * i + 3, FI_SUM, &target[0]);
		fetch(&r.a, 0, FI_ATOMIC_READ, &target[0], &local[0][3]);
		for (int j = 0; j < 6; j++) {
			struct fi_cq_data_entry entry;

			real_done(r.a.txcq, &entry, &target[0]);
		}
		cr_assert_eq(local[0][0], 10 * i + 1);
		cr_assert_eq(local[0][1], 10 * i + 2);
		cr_assert_eq(local[0][2], 7);
		cr_assert_eq(local[0][3], 10 * i + 10);
	}
	real_close(&r);
}

Test(atomic, message_behind_an_update_finds_it_done)
{
	struct fi_cq_data_entry entry;
	static char in[8];
	struct iovec iov = { local[1], 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	void *in_desc;
	struct real r;

	open_pair(&r);
	msg.desc = &desc;
	in_desc = real_mr(&r, in, sizeof(in), FI_RECV);
	for (uint64_t i = 1; i <= 100; i++) {
		real_ok(fi_recv(r.b.ep, in, sizeof(in), in_desc, 0, NULL));
		base(&r.a, 1, FI_SUM, &target[0]);
		base(&r.a, 2, FI_SUM, &target[1]);
		/* behind their completions, or behind a fence */
		if (i % 2) {
			real_done(r.a.txcq, &entry, &target[0]);
			real_done(r.a.txcq, &entry, &target[1]);
			real_ok(fi_send(r.a.ep, local[1], 8, desc, 0, NULL));
		} else {
			real_ok(fi_sendmsg(r.a.ep, &msg, FI_FENCE));
		}
		real_done(r.b.rxcq, &entry, NULL);
		cr_assert_eq(*(volatile uint64_t *)&target[0], i);
		cr_assert_eq(*(volatile uint64_t *)&target[1], 2 * i);
		for (int j = i % 2 ? 2 : 0; j < 3; j++) {
			struct fi_cq_err_entry err;

			cr_assert(real_completion(r.a.txcq, &entry, &err));
		}
	}
	real_close(&r);
}

Test(atomic, what_is_not_offered_is_refused)
{
	double value = 1;
	size_t count;
	struct real r;

	open_pair(&r);
	real_fails(FI_EOPNOTSUPP,
		   fi_atomic(r.a.ep, &value, 1, NULL, 0, at(target), key,
			     FI_DOUBLE, FI_SUM, NULL));
	real_fails(FI_EOPNOTSUPP,
		   fi_atomicvalid(r.a.ep, FI_DOUBLE, FI_SUM, &count));
	/* soft-RoCE of Linux 6.1 has shown half of a word that RDMA wrote */
	real_fails(FI_EOPNOTSUPP,
		   fi_atomicvalid(r.a.ep, FI_UINT64, FI_ATOMIC_WRITE, &count));
	real_fails(FI_EOPNOTSUPP,
		   fi_atomic(r.a.ep, &value, 1, NULL, 0, at(target), key,
			     FI_UINT32, FI_SUM, NULL));
	real_fails(FI_EINVAL,
		   fi_atomic(r.a.ep, local, 1, NULL, 0, at(target) + 4, key,
			     FI_UINT64, FI_SUM, NULL));
	real_fails(FI_EMSGSIZE, fi_atomic(r.a.ep, local, 2, NULL, 0, at(target),
					  key, FI_UINT64, FI_SUM, NULL));
	/* and the connection has not suffered */
	base(&r.a, 1, FI_SUM, &target[0]);
	done(&r.a, &target[0], FI_ATOMIC | FI_WRITE);
	cr_assert_eq(target[0], 1);
	real_close(&r);
}

Test(atomic, memory_for_reading_only_is_no_target)
{
	static _Alignas(8) uint64_t shown = 5;
	struct real_opts opts = { .caps = FI_ATOMIC };
	struct fi_cq_err_entry err;
	struct fi_cq_data_entry entry;
	struct real r;

	open_words(&r, &opts);
	real_mr(&r, &shown, sizeof(shown), FI_REMOTE_READ);
	key = fi_mr_key(r.mrs[r.n_mrs - 1]);
	fetch(&r.a, 1, FI_SUM, &shown, &local[0][0]);
	cr_assert_not(real_completion(r.a.txcq, &entry, &err));
	cr_assert_eq(err.err, FI_EACCES, "%s", fi_strerror(err.err));
	cr_assert_eq(err.flags, FI_ATOMIC | FI_READ);
	cr_assert_eq(shown, 5);
	real_close(&r);
}
