/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef ATOMIC_WORDS_H
#define ATOMIC_WORDS_H

#include <criterion/criterion.h>
#include <rdma/fi_atomic.h>

#include "fake.h"
#include "net.h"
#include "rcm_base.h"
#include "rcm_getinfo.h"

/*
 * Two endpoints with FI_ATOMIC, and words for both: those of side 1 are what
 * side 0 works on. For one file of a program.
 */
#define WORDS 16

static struct net n;
static _Alignas(8) uint64_t target[WORDS]; /* of side 1 */
static _Alignas(8) uint64_t local[WORDS];  /* of side 0 */
static struct fid_mr *target_mr, *local_mr;
static void *desc;
static uint64_t key;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	n.hints->caps = FI_MSG | FI_ATOMIC;
}

static void tear_down(void)
{
	if (target_mr)
		fi_close(&target_mr->fid);
	if (local_mr)
		fi_close(&local_mr->fid);
	net_end(&n);
}

/* ACCESS: what the peer may do to the target. */
static void register_words(uint64_t access)
{
	cr_assert_eq(fi_mr_reg(n.domain, target, sizeof(target), access, 0, 0,
			       0, &target_mr, NULL),
		     0);
	key = fi_mr_key(target_mr);
	cr_assert_eq(fi_mr_reg(n.domain, local, sizeof(local),
			       FI_READ | FI_WRITE, 0, 0, 0, &local_mr, NULL),
		     0);
	desc = fi_mr_desc(local_mr);
}

static void join_pair(void)
{
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
	register_words(FI_REMOTE_READ | FI_REMOTE_WRITE);
}

static uint64_t at(const void *word)
{
	return (uintptr_t)word;
}

#endif /* ATOMIC_WORDS_H */
