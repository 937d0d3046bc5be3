/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Sentences of fi_mr(3) that no other test shows; docs/CONFORMANCE.md. */

#include <criterion/criterion.h>
#include <string.h>

#include "net.h"

#define REG_MR (1ULL << 59) /* FI_REG_MR, whose name is deprecated */

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	cr_assert_eq(net_open(&n), 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(promise_mr, .init = set_up, .fini = tear_down);

static struct fid_mr *reg(void *context)
{
	struct fid_mr *mr = NULL;

	cr_assert_eq(fi_mr_reg(n.domain, n.side[0].buf, 64, FI_REMOTE_READ, 0,
			       0, 0, &mr, context),
		     0);
	return mr;
}

Test(promise_mr, raw_key_is_the_key_in_the_size_that_getinfo_names)
{
	struct fid_mr *mr = reg(NULL);
	uint8_t raw[8] = { 0 };
	size_t size = sizeof(raw);
	uint64_t base = 0, key = 0;

	cr_assert_eq(fi_mr_raw_attr(mr, &base, raw, &size, 0), 0);
	cr_assert_eq(size, n.info->domain_attr->mr_key_size);
	cr_assert_eq(base, (uintptr_t)n.side[0].buf);
	cr_assert_eq(fi_mr_map_raw(n.domain, base, raw, size, &key, 0), 0);
	cr_assert_eq(key, fi_mr_key(mr));
	cr_assert_eq(fi_mr_unmap_key(n.domain, key), 0);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

Test(promise_mr, raw_key_needs_room)
{
	struct fid_mr *mr = reg(NULL);
	uint8_t raw[8] = { 0xa5 };
	uint64_t base = 0, key;
	size_t size = 2;

	cr_assert_eq(fi_mr_raw_attr(mr, &base, raw, &size, 0), -FI_ETOOSMALL);
	cr_assert_eq(size, n.info->domain_attr->mr_key_size);
	cr_assert_eq(raw[0], 0xa5);
	cr_assert_lt(fi_mr_map_raw(n.domain, base, raw, 2, &key, 0), 0);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

Test(promise_mr, calls_that_are_not_offered_say_so)
{
	struct fid_mr *mr = reg(NULL);

	cr_assert_eq(fi_mr_refresh(mr, NULL, 0, 0), -FI_ENOSYS);
	cr_assert_eq(fi_mr_enable(mr), -FI_ENOSYS);
	cr_assert_eq(fi_mr_bind(mr, &n.side[0].cq->fid, 0), -FI_ENOSYS);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

Test(promise_mr, flags_that_are_not_offered_are_refused)
{
	const uint64_t flags[] = { FI_RMA_PMEM, 1ULL << 41, 1ULL << 45,
				   1ULL << 46, 1ULL << 57 };
	struct iovec iov = { n.side[0].buf, 64 };
	struct fi_mr_attr attr = {
		.mr_iov = &iov,
		.iov_count = 1,
		.access = FI_SEND,
	};
	struct fid_mr *mr;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		cr_assert_eq(fi_mr_reg(n.domain, iov.iov_base, 64, FI_SEND, 0,
				       0, flags[i], &mr, NULL),
			     -FI_EBADFLAGS);
		cr_assert_eq(fi_mr_regv(n.domain, &iov, 1, FI_SEND, 0, 0,
					flags[i], &mr, NULL),
			     -FI_EBADFLAGS);
		cr_assert_eq(fi_mr_regattr(n.domain, &attr, flags[i], &mr),
			     -FI_EBADFLAGS);
	}
}

static ssize_t read_mr_event(struct fi_eq_entry *entry)
{
	uint32_t event = 0;
	ssize_t ret = fi_eq_read(n.side[0].eq, &event, entry, sizeof(*entry),
				 0);

	cr_assert(ret < 0 || event == FI_MR_COMPLETE);
	return ret;
}

Test(promise_mr, domain_with_an_event_queue_for_it_tells_of_registrations)
{
	struct fi_eq_entry entry;
	struct fid_mr *mr;

	cr_assert_eq(fi_domain_bind(n.domain, &n.side[0].eq->fid, REG_MR), 0);
	mr = reg(&entry);
	cr_assert_eq(read_mr_event(&entry), sizeof(entry));
	cr_assert_eq(entry.fid, &mr->fid);
	cr_assert_eq(entry.context, &entry);
	cr_assert_eq(entry.data, 0);
	cr_assert_eq(fi_close(&mr->fid), 0);
	/* what is closed unread is told no more */
	mr = reg(NULL);
	cr_assert_eq(fi_close(&mr->fid), 0);
	cr_assert_eq(read_mr_event(&entry), -FI_EAGAIN);
	/* nor what fails */
	cr_assert_lt(fi_mr_reg(n.domain, n.side[0].buf, 64, 1ULL << 50, 0, 0, 0,
			       &mr, NULL),
		     0);
	fake_fail(FAKE_reg_mr, 1, ENOMEM);
	cr_assert_lt(fi_mr_reg(n.domain, n.side[0].buf, 64, FI_SEND, 0, 0, 0,
			       &mr, NULL),
		     0);
	cr_assert_eq(read_mr_event(&entry), -FI_EAGAIN);
	cr_assert_eq(fi_close(&n.side[0].eq->fid), -FI_EBUSY);
	cr_assert_eq(net_close_domain(&n), 0);
}

Test(promise_mr, domain_without_that_flag_tells_nothing)
{
	struct fi_eq_entry entry;
	struct fid_mr *mr;

	cr_assert_eq(fi_domain_bind(n.domain, &n.side[0].eq->fid, 0), 0);
	mr = reg(NULL);
	cr_assert_eq(read_mr_event(&entry), -FI_EAGAIN);
	cr_assert_eq(fi_close(&mr->fid), 0);
	cr_assert_eq(net_close_domain(&n), 0);
}

Test(promise_mr, domain_takes_one_event_queue)
{
	cr_assert_lt(fi_domain_bind(n.domain, &n.side[0].cq->fid, 0), 0);
	cr_assert_eq(fi_domain_bind(n.domain, &n.side[0].eq->fid, FI_SEND),
		     -FI_EBADFLAGS);
	cr_assert_eq(fi_domain_bind(n.domain, &n.side[0].eq->fid, 0), 0);
	cr_assert_lt(fi_domain_bind(n.domain, &n.side[1].eq->fid, 0), 0);
	cr_assert_eq(net_close_domain(&n), 0);
}

/* hmem_data, page_size, base_mr and others stand behind the struct of 1.17. */
Test(promise_mr, part_of_a_region_is_a_region_of_its_own)
{
	struct fid_mr *base = reg(NULL), *part;
	struct {
		struct fi_mr_attr attr;
		uint64_t later[8];
	} newer = { 0 };
	struct iovec iov = { n.side[0].buf + 16, 16 };

	memset(newer.later, 0xa5, sizeof(newer.later));
	newer.attr.mr_iov = &iov;
	newer.attr.iov_count = 1;
	newer.attr.access = FI_SEND;
	newer.attr.device.reserved = 77;
	cr_assert_eq(fi_mr_regattr(n.domain, &newer.attr, 0, &part), 0);
	cr_assert_neq(fi_mr_key(part), fi_mr_key(base));
	cr_assert_eq(fi_close(&base->fid), 0);
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 64, NULL), 0);
	cr_assert_eq(fi_send(n.side[0].ep, iov.iov_base, 16, fi_mr_desc(part),
			     0, NULL),
		     0);
	cr_assert_eq(fi_close(&part->fid), 0);
}

Test(promise_mr, flag_of_a_counter_is_passed_over)
{
	struct fid_mr *mr;

	cr_assert_eq(fi_mr_reg(n.domain, n.side[0].buf, 64, FI_SEND, 0, 0,
			       FI_RMA_EVENT, &mr, NULL),
		     0);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

Test(promise_mr, operation_on_a_closed_region_fails)
{
	struct fid_mr *mr;
	struct net_comp comp;

	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(fi_mr_reg(n.domain, n.side[0].buf, 4096, FI_SEND, 0, 0, 0,
			       &mr, NULL),
		     0);
	fake_hold_wire(true);
	cr_assert_eq(fi_send(n.side[0].ep, n.side[0].buf, 4096, fi_mr_desc(mr),
			     0, &n),
		     0);
	cr_assert_eq(fi_close(&mr->fid), 0);
	cr_assert_eq(net_recv(&n, 1, 0, 4096, NULL), 0);
	fake_hold_wire(false);
	cr_assert_eq(net_comp(&n, n.side[0].cq, &comp), 0);
	cr_assert_eq(comp.err, FI_EACCES);
	cr_assert_eq(comp.context, &n);
}
