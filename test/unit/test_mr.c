/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <criterion/criterion.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "rcm_domain.h"
#include "rcm_mr.h"
#include "script.h"
#include "warnings.h"

static struct rcm_fabric fabric;
static struct rcm_domain domain;
static char data[4096];

static void setup(void)
{
	script_open();
	fabric.fid.api_version = FI_VERSION(1, 17);
	domain.fabric = &fabric;
	domain.ctx = &script.ctx;
	domain.pd = &script.pd;
	domain.fid.mr = &rcm_mr_ops;
	rcm_ref_init(&domain.refs);
}

static void teardown(void)
{
	if (script_close() || rcm_ref_count(&domain.refs))
		abort(); /* an assertion here would not count */
}

TestSuite(mr, .init = setup, .fini = teardown);

static int access_of(uint64_t access)
{
	struct fid_mr *mr;

	cr_assert_eq(
		fi_mr_reg(&domain.fid, data, 8, access, 0, 0, 0, &mr, NULL), 0);
	cr_assert_eq(fi_close(&mr->fid), 0);
	return script.last_access;
}

/* LF#1707, LF#3521: there the answer to a read is such a write */
Test(mr, read_on_iwarp_is_a_peers_write)
{
	domain.iwarp = true;
	cr_assert_eq(access_of(FI_READ),
		     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	cr_assert_eq(access_of(FI_WRITE), 0);
	cr_assert_eq(access_of(FI_REMOTE_READ), IBV_ACCESS_REMOTE_READ);
	domain.iwarp = false;
}

/* fi_getinfo(3): FI_RMA alone implies all four, FI_MSG both directions */
Test(mr, primary_capability_stands_for_its_modifiers)
{
	cr_assert_eq(access_of(FI_RMA), IBV_ACCESS_LOCAL_WRITE |
						IBV_ACCESS_REMOTE_READ |
						IBV_ACCESS_REMOTE_WRITE);
	cr_assert_eq(access_of(FI_RMA | FI_REMOTE_READ),
		     IBV_ACCESS_REMOTE_READ);
	cr_assert_eq(access_of(FI_MSG), IBV_ACCESS_LOCAL_WRITE);
	cr_assert_eq(access_of(FI_MSG | FI_SEND), 0);
}

/* 489d2b277 and others: neither more nor less */
Test(mr, rights_are_what_was_asked_for)
{
	cr_assert_eq(access_of(FI_SEND), 0);
	cr_assert_eq(access_of(FI_WRITE), 0);
	cr_assert_eq(access_of(FI_RECV), IBV_ACCESS_LOCAL_WRITE);
	cr_assert_eq(access_of(FI_READ), IBV_ACCESS_LOCAL_WRITE);
	cr_assert_eq(access_of(FI_REMOTE_READ), IBV_ACCESS_REMOTE_READ);
	cr_assert_eq(access_of(FI_REMOTE_WRITE),
		     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE);
	cr_assert_eq(access_of(FI_SEND | FI_RECV | FI_REMOTE_READ),
		     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

Test(mr, region_has_descriptor_key_and_context)
{
	struct fid_mr *mr;

	cr_assert_eq(fi_mr_reg(&domain.fid, data, 8, FI_SEND, 0, 1234, 0, &mr,
			       &domain),
		     0);
	cr_assert_eq(mr->fid.fclass, FI_CLASS_MR);
	cr_assert_eq(mr->fid.context, &domain);
	cr_assert_eq(fi_mr_key(mr), 0x88);
	cr_assert_eq(rcm_mr_lkey(fi_mr_desc(mr)), 0x77);
	cr_assert_eq(rcm_ref_count(&domain.refs), 1);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

/* LF#6245: some devices refuse it; the caller does not care */
Test(mr, region_of_no_bytes_asks_no_device)
{
	struct fid_mr *mr;

	script.fail_call = 1;
	cr_assert_eq(fi_mr_reg(&domain.fid, data, 0, FI_SEND, 0, 0, 0, &mr,
			       NULL),
		     0);
	cr_assert_not_null(fi_mr_desc(mr));
	cr_assert_eq(fi_close(&mr->fid), 0);
	cr_assert_eq(script.calls, 0);
}

Test(mr, one_buffer_makes_a_region)
{
	struct iovec iov[2] = { { data, 8 }, { data + 8, 8 } };
	struct fid_mr *mr;

	cr_assert_eq(fi_mr_regv(&domain.fid, iov, 1, FI_SEND, 0, 0, 0, &mr,
				NULL),
		     0);
	cr_assert_eq(fi_close(&mr->fid), 0);
	cr_assert_eq(fi_mr_regv(&domain.fid, iov, 2, FI_SEND, 0, 0, 0, &mr,
				NULL),
		     -FI_EINVAL);
	cr_assert_eq(fi_mr_regv(&domain.fid, NULL, 1, FI_SEND, 0, 0, 0, &mr,
				NULL),
		     -FI_EINVAL);
}

Test(mr, wrong_arguments_are_refused)
{
	struct fid_mr *mr;

	cr_assert_eq(fi_mr_reg(&domain.fid, data, 8, FI_SEND, 16, 0, 0, &mr,
			       NULL),
		     -FI_EINVAL);
	cr_assert_eq(fi_mr_reg(&domain.fid, data, 8, FI_SEND | (1ULL << 50), 0,
			       0, 0, &mr, NULL),
		     -FI_EINVAL);
}

Test(mr, private_flags_are_ignored)
{
	struct iovec iov = { data, 8 };
	struct fi_mr_attr attr = {
		.mr_iov = &iov,
		.iov_count = 1,
		.access = FI_RECV,
		.requested_key = 99,
		.context = data,
	};
	struct fid_mr *mr;

	/* ofi_rxm's own bit */
	cr_assert_eq(fi_mr_regattr(&domain.fid, &attr, 1ULL << 60, &mr), 0);
	cr_assert_eq(mr->fid.context, data);
	cr_assert_eq(script.last_access, IBV_ACCESS_LOCAL_WRITE);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

/* LF#7977 */
Test(mr, memory_of_another_interface_is_not_offered)
{
	struct iovec iov = { data, 8 };
	struct fi_mr_attr attr = {
		.mr_iov = &iov,
		.iov_count = 1,
		.access = FI_RECV,
		.iface = FI_HMEM_CUDA,
	};
	struct fid_mr *mr;

	cr_assert_eq(fi_mr_regattr(&domain.fid, &attr, 0, &mr), -FI_ENOSYS);
	/* the struct of an old caller ends before that field */
	fabric.fid.api_version = FI_VERSION(1, 5);
	cr_assert_eq(fi_mr_regattr(&domain.fid, &attr, 0, &mr), 0);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

/* LF commits 253550716, 2a8e74e39: the device has the say, at the call */
Test(mr, dmabuf_is_known_by_the_callers_version)
{
	struct {
		int fd;
		uint64_t offset;
		size_t len;
		void *base_addr;
	} buf = { 3, 4096, 8192, (void *)0x10000 };
	struct fi_mr_attr attr = {
		.mr_iov = (const struct iovec *)(void *)&buf,
		.iov_count = 1,
		.access = FI_REMOTE_READ,
		.iface = FI_HMEM_CUDA,
	};
	struct fid_mr *mr;

	fabric.fid.api_version = FI_VERSION(1, 20);
	cr_assert_eq(fi_mr_regattr(&domain.fid, &attr, 1ULL << 40, &mr), 0);
	cr_assert_eq(script.last_iova, 0x11000);
	cr_assert_eq(script.last_access, IBV_ACCESS_REMOTE_READ);
	cr_assert_eq(fi_close(&mr->fid), 0);
	script.fail_call = 1;
	script.fail_errno = EOPNOTSUPP;
	cr_assert_eq(fi_mr_regattr(&domain.fid, &attr, 1ULL << 40, &mr),
		     -FI_EOPNOTSUPP);
}

Test(mr, failure_is_the_devices_and_leaves_nothing)
{
	struct fid_mr *mr;

	script.fail_call = 1;
	script.fail_errno = EFAULT;
	cr_assert_eq(fi_mr_reg(&domain.fid, data, 8, FI_SEND, 0, 0, 0, &mr,
			       NULL),
		     -FI_EFAULT);
}

/* LF#6437: the cause has a name and a number */
Test(mr, too_small_memory_limit_is_named)
{
	struct rlimit limit = { 65536, 65536 };
	struct fid_mr *mr;

	cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	domain.attr.max_mr = 512;
	log_warnings();
	script.fail_call = 1;
	script.fail_errno = ENOMEM;
	cr_assert_eq(fi_mr_reg(&domain.fid, data, 8, FI_SEND, 0, 0, 0, &mr,
			       NULL),
		     -FI_ENOMEM);
	rcm_log_prov = NULL;
	cr_assert_not_null(strstr(logged, "64 KiB"), "%s", logged);
	cr_assert_not_null(strstr(logged, "room for 512"), "%s", logged);
}

Test(mr, other_operations_are_not_offered)
{
	struct fid_mr *mr;

	cr_assert_eq(fi_mr_reg(&domain.fid, data, 8, FI_SEND, 0, 0, 0, &mr,
			       NULL),
		     0);
	cr_assert_eq(fi_mr_bind(mr, &domain.fid.fid, 0), -FI_ENOSYS);
	cr_assert_eq(fi_mr_enable(mr), -FI_ENOSYS);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

Test(mr, authorization_keys_are_refused)
{
	struct iovec iov = { data, 8 };
	uint8_t auth = 1;
	struct fi_mr_attr attr = {
		.mr_iov = &iov,
		.iov_count = 1,
		.access = FI_SEND,
		.auth_key_size = 1,
		.auth_key = &auth,
	};
	struct fid_mr *mr;

	cr_assert_eq(fi_mr_regattr(&domain.fid, &attr, 0, &mr), -FI_EINVAL);
	/* the struct of an old caller ends before that field */
	fabric.fid.api_version = FI_VERSION(1, 4);
	cr_assert_eq(fi_mr_regattr(&domain.fid, &attr, 0, &mr), 0);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

Test(mr, length_beyond_the_devices_is_refused)
{
	struct fid_mr *mr;

	domain.attr.max_mr_size = 4095;
	cr_assert_eq(fi_mr_reg(&domain.fid, data, 4096, FI_SEND, 0, 0, 0, &mr,
			       NULL),
		     -FI_EINVAL);
	cr_assert_eq(script.calls, 0);
}

/* a region that gives no rights is no mistake */
Test(mr, region_without_rights_registers)
{
	cr_assert_eq(access_of(0), 0);
	cr_assert_eq(access_of(FI_SEND | FI_COLLECTIVE), 0);
}
