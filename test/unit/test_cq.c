/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_cq.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rcm_domain.h"
#include "rcm_qp.h"
#include "script.h"

static struct rcm_fabric fabric;
static struct rcm_domain domain;
static struct fid_cq *cq;
static struct rcm_qp qp;
static struct script_qp *dev;
static char data[64];

static void setup(void)
{
	script_open();
	fabric.fid.api_version = FI_VERSION(1, 17);
	domain.fabric = &fabric;
	domain.ctx = &script.ctx;
	domain.pd = &script.pd;
	domain.attr.max_cqe = script.max_cqe;
	domain.locked = true;
	strcpy(domain.name, "script0");
	rcm_ref_init(&domain.refs);
}

static void teardown(void)
{
	rcm_qp_close(&qp);
	if ((cq && fi_close(&cq->fid)) || script_close() ||
	    rcm_ref_count(&domain.refs))
		abort(); /* an assertion here would not count */
}

TestSuite(cq, .init = setup, .fini = teardown);

static int try_open(struct fi_cq_attr attr)
{
	return rcm_cq_open(&domain.fid, &attr, &cq, data);
}

static void open_cq(enum fi_wait_obj wait_obj)
{
	cr_assert_eq(try_open((struct fi_cq_attr){ .format = FI_CQ_FORMAT_DATA,
						   .wait_obj = wait_obj }),
		     0);
}

static void open_qp(void)
{
	struct rcm_qp_attr attr = {
		.ctx = &script.ctx,
		.pd = &script.pd,
		.tx_cq = &rcm_cq_of(cq)->set,
		.rx_cq = &rcm_cq_of(cq)->set,
		.tx_depth = 64,
		.rx_depth = 4,
		.tx_sge = 1,
		.rx_sge = 1,
		.max_msg_size = 4096,
		.locked = true,
	};

	cr_assert_eq(rcm_qp_open(&qp, &attr, 1), 0);
	rcm_qp_up(&qp, true);
	dev = script.last_qp;
}

static void post(uintptr_t context)
{
	struct rcm_tx tx = {
		.context = (void *)context,
		.flags = RCM_TX_COMPLETE,
		.opcode = IBV_WR_SEND,
	};

	cr_assert_eq(rcm_sq_post(&qp, &tx), 0);
}

static int ms_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int)((now.tv_sec - start->tv_sec) * 1000 +
		     (now.tv_nsec - start->tv_nsec) / 1000000);
}

static bool readable(void)
{
	struct pollfd pfd = { .events = POLLIN };

	cr_assert_eq(fi_control(&cq->fid, FI_GETWAIT, &pfd.fd), 0);
	return poll(&pfd, 1, 0) == 1;
}

Test(cq, open_gives_a_whole_object)
{
	open_cq(FI_WAIT_NONE);
	cr_assert_eq(cq->fid.fclass, FI_CLASS_CQ);
	cr_assert_eq(cq->fid.context, data);
	cr_assert_eq(rcm_ref_count(&domain.refs), 1);
	cr_assert_eq(script.n_cqs, 0);
}

Test(cq, attributes_that_are_not_offered_are_refused)
{
	cr_assert_eq(
		try_open((struct fi_cq_attr){ .wait_obj = FI_WAIT_MUTEX_COND }),
		-FI_ENOSYS);
	cr_assert_eq(try_open((struct fi_cq_attr){ .wait_obj = 77 }),
		     -FI_EINVAL);
	cr_assert_eq(try_open((struct fi_cq_attr){ .format = 77 }), -FI_EINVAL);
	cr_assert_eq(try_open((struct fi_cq_attr){ .wait_obj = FI_WAIT_FD,
						   .wait_cond = 7 }),
		     -FI_EINVAL);
	cr_assert_eq(try_open((struct fi_cq_attr){ .flags = FI_PEER }),
		     -FI_ENOSYS);
	cr_assert_eq(try_open((struct fi_cq_attr){ .flags = FI_MORE }),
		     -FI_EBADFLAGS);
	cr_assert_eq(rcm_cq_open(&domain.fid, NULL, &cq, NULL), -FI_EINVAL);
	cr_assert_null(cq);
}

/*
 * PR#6841, LF#778, SparkRDMA#31; a processor's number, so one beyond the
 * vectors is spread
 */
Test(cq, signaling_vector_is_checked_when_it_counts)
{
	struct fi_cq_attr attr = { .signaling_vector = INT_MAX };
	int n_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

	cr_assert_eq(try_open(attr), 0);
	cr_assert_eq(fi_close(&cq->fid), 0);
	cq = NULL;
	attr.flags = FI_AFFINITY;
	cr_assert_eq(try_open(attr), -FI_EINVAL);
	attr.signaling_vector = n_cpus > 2 ? n_cpus : 2;
	cr_assert_eq(try_open(attr), -FI_EINVAL);
	script.ctx.num_comp_vectors = 1;
	if (n_cpus > 1) {
		attr.signaling_vector = 1;
		cr_assert_eq(try_open(attr), 0);
		cr_assert_eq(rcm_cq_of(cq)->set.attr.comp_vector, 0);
		cr_assert_eq(fi_close(&cq->fid), 0);
		cq = NULL;
	}
	script.ctx.num_comp_vectors = 2;
	attr.signaling_vector = -1;
	cr_assert_eq(try_open(attr), -FI_EINVAL);
	attr.signaling_vector = 1;
	cr_assert_eq(try_open(attr), 0);
}

Test(cq, close_while_in_use_changes_nothing)
{
	open_cq(FI_WAIT_FD);
	rcm_ref_get(&rcm_cq_of(cq)->refs);
	cr_assert_eq(fi_close(&cq->fid), -FI_EBUSY);
	rcm_ref_put(&rcm_cq_of(cq)->refs);
}

Test(cq, source_addresses_are_not_available)
{
	struct fi_cq_data_entry entry[3];
	fi_addr_t addr[3] = { 1, 2, 3 };

	open_cq(FI_WAIT_NONE);
	open_qp();
	post(1);
	post(2);
	script_sent(dev, 2);
	cr_assert_eq(fi_cq_readfrom(cq, entry, 3, addr), 2);
	cr_assert_eq(addr[0], FI_ADDR_NOTAVAIL);
	cr_assert_eq(addr[1], FI_ADDR_NOTAVAIL);
	cr_assert_eq(addr[2], 3);
}

/* the layout of 1.20 and later, whatever the headers */
union new_err_entry {
	struct fi_cq_err_entry old;
	struct {
		uint64_t before[10];
		fi_addr_t src_addr;
	};
};

Test(cq, error_entry_is_filled_to_the_callers_version)
{
	union new_err_entry err;
	uint32_t vendor = 0;

	open_cq(FI_WAIT_NONE);
	open_qp();
	cr_assert_eq(fi_cq_readerr(cq, &err.old, 0), -FI_EAGAIN);
	post(1);
	post(2);
	post(3);
	script_send_failed(dev, IBV_WC_REM_ACCESS_ERR);
	script_send_failed(dev, IBV_WC_WR_FLUSH_ERR);
	script_send_failed(dev, IBV_WC_WR_FLUSH_ERR);
	cr_assert_eq(fi_cq_read(cq, data, 0), -FI_EAVAIL);

	memset(&err, 0xee, sizeof(err));
	err.old.err_data = &vendor;
	err.old.err_data_size = sizeof(vendor);
	cr_assert_eq(cq->ops->readerr(cq, &err.old, 0), 1);
	cr_assert_eq(err.old.op_context, (void *)1);
	cr_assert_eq(err.old.flags, FI_MSG | FI_SEND);
	cr_assert_eq(err.old.err, FI_EACCES);
	cr_assert_eq(err.old.prov_errno, IBV_WC_REM_ACCESS_ERR);
	cr_assert_eq(err.old.len + err.old.olen + err.old.tag + err.old.data,
		     0);
	cr_assert_eq(vendor, 0x5a);
	cr_assert_eq(err.old.err_data_size, 4);
	cr_assert_eq(err.src_addr, 0xeeeeeeeeeeeeeeeeULL);

	/* no room of the reader's: the provider's own */
	err.old.err_data = NULL;
	err.old.err_data_size = 0;
	cr_assert_eq(cq->ops->readerr(cq, &err.old, 0), 1);
	cr_assert_eq(*(uint32_t *)err.old.err_data, 0x5a);

	fabric.fid.api_version = FI_VERSION(1, 20);
	cr_assert_eq(cq->ops->readerr(cq, &err.old, 0), 1);
	cr_assert_eq(err.src_addr, FI_ADDR_NOTAVAIL);
	cr_assert_eq(cq->ops->readerr(cq, &err.old, 0), -FI_EAGAIN);
}

Test(cq, short_err_data_is_cut)
{
	struct fi_cq_err_entry err = { 0 };
	unsigned char two[3] = { 0, 0, 9 };

	open_cq(FI_WAIT_NONE);
	open_qp();
	post(1);
	script_send_failed(dev, IBV_WC_REM_ACCESS_ERR);
	cr_assert_eq(fi_cq_read(cq, data, 1), -FI_EAVAIL);
	err.err_data = two;
	err.err_data_size = 2;
	cr_assert_eq(cq->ops->readerr(cq, &err, 0), 1);
	cr_assert_eq(two[0], 0x5a);
	cr_assert_eq(two[2], 9);
	cr_assert_eq(err.err_data_size, 2);
}

Test(cq, error_text_ends_within_its_buffer)
{
	char buf[8];

	open_cq(FI_WAIT_NONE);
	memset(buf, 'x', sizeof(buf));
	cr_assert_not_null(
		fi_cq_strerror(cq, IBV_WC_RETRY_EXC_ERR, NULL, NULL, 0));
	cr_assert_not_null(
		fi_cq_strerror(cq, IBV_WC_RETRY_EXC_ERR, NULL, buf, 4));
	cr_assert_eq(buf[3], 0);
	cr_assert_eq(buf[4], 'x');
	cr_assert_not_null(fi_cq_strerror(cq, -12345, NULL, buf, sizeof(buf)));
}

/* LF#5788 */
Test(cq, waiting_without_a_wait_object_is_refused)
{
	struct fi_cq_data_entry entry;
	fi_addr_t addr;
	int fd;

	open_cq(FI_WAIT_NONE);
	cr_assert_eq(fi_cq_sread(cq, &entry, 1, NULL, 10), -FI_ENOSYS);
	cr_assert_eq(fi_cq_sreadfrom(cq, &entry, 1, &addr, NULL, 10),
		     -FI_ENOSYS);
	cr_assert_eq(fi_cq_signal(cq), -FI_ENOSYS);
	cr_assert_eq(fi_control(&cq->fid, FI_GETWAIT, &fd), -FI_ENODATA);
	cr_assert_eq(rcm_cq_trywait(&cq->fid), -FI_EINVAL);
}

/* LF#1918 */
Test(cq, wait_object_is_there_straight_after_the_open)
{
	enum fi_wait_obj obj = FI_WAIT_NONE;
	int fd = -1;

	open_cq(FI_WAIT_UNSPEC);
	cr_assert_eq(fi_control(&cq->fid, FI_GETWAIT, &fd), 0);
	cr_assert_geq(fd, 0);
	cr_assert_eq(fi_control(&cq->fid, FI_GETWAITOBJ, &obj), 0);
	cr_assert_eq(obj, FI_WAIT_FD);
	cr_assert_eq(fi_control(&cq->fid, FI_GETWAIT, NULL), -FI_EINVAL);
	cr_assert_eq(fi_control(&cq->fid, 4711, &fd), -FI_ENOSYS);
}

/* PR#5115, LF#4838 */
Test(cq, blocking_read_ends_when_its_time_is_over)
{
	struct fi_cq_data_entry entry;
	struct timespec start;

	open_cq(FI_WAIT_FD);
	open_qp();
	clock_gettime(CLOCK_MONOTONIC, &start);
	cr_assert_eq(fi_cq_sread(cq, &entry, 1, NULL, 100), -FI_EAGAIN);
	cr_assert_geq(ms_since(&start), 99);
	cr_assert_eq(fi_cq_sread(cq, &entry, 1, NULL, 0), -FI_EAGAIN);
}

Test(cq, blocking_read_takes_what_is_there)
{
	struct fi_cq_data_entry entry;
	fi_addr_t addr = 0;

	open_cq(FI_WAIT_FD);
	open_qp();
	post(1);
	post(2);
	script_sent(dev, 1);
	cr_assert_eq(fi_cq_sread(cq, &entry, 1, NULL, -1), 1);
	script_send_failed(dev, IBV_WC_RETRY_EXC_ERR);
	cr_assert_eq(fi_cq_sreadfrom(cq, &entry, 1, &addr, NULL, -1),
		     -FI_EAVAIL);
	cr_assert_eq(addr, 0);
}

static void *send_soon(void *arg)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	nanosleep(&pause, NULL);
	script_sent(dev, (int)(intptr_t)arg);
	return NULL;
}

Test(cq, blocking_read_wakes_for_a_completion)
{
	struct fi_cq_data_entry entry;
	pthread_t thread;

	open_cq(FI_WAIT_FD);
	open_qp();
	post(1);
	pthread_create(&thread, NULL, send_soon, (void *)1);
	cr_assert_eq(fi_cq_sread(cq, &entry, 1, NULL, 10000), 1);
	pthread_join(thread, NULL);
}

static void *signal_soon(void *arg)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	(void)arg;
	nanosleep(&pause, NULL);
	fi_cq_signal(cq);
	return NULL;
}

/* LF#697 */
Test(cq, signal_wakes_one_reader_once)
{
	struct fi_cq_data_entry entry;
	struct timespec start;
	pthread_t thread;

	open_cq(FI_WAIT_FD);
	open_qp();
	pthread_create(&thread, NULL, signal_soon, NULL);
	clock_gettime(CLOCK_MONOTONIC, &start);
	cr_assert_eq(fi_cq_sread(cq, &entry, 1, NULL, 60000), -FI_EAGAIN);
	cr_assert_lt(ms_since(&start), 10000);
	pthread_join(thread, NULL);
	cr_assert_not(readable());
	clock_gettime(CLOCK_MONOTONIC, &start);
	cr_assert_eq(fi_cq_sread(cq, &entry, 1, NULL, 100), -FI_EAGAIN);
	cr_assert_geq(ms_since(&start), 99);
}

Test(cq, signal_does_not_hide_an_entry)
{
	struct fi_cq_data_entry entry;

	open_cq(FI_WAIT_FD);
	open_qp();
	fi_cq_signal(cq);
	post(1);
	script_sent(dev, 1);
	cr_assert_eq(fi_cq_sread(cq, &entry, 1, NULL, 0), 1);
}

/* LF#8947 and others: the fd tells when something is there, and only then */
Test(cq, fd_is_readable_while_something_waits)
{
	struct fi_cq_data_entry entry;
	int i;

	open_cq(FI_WAIT_FD);
	open_qp();
	cr_assert_eq(rcm_cq_trywait(&cq->fid), 0);
	cr_assert_not(readable());
	for (i = 0; i < 3; i++) {
		post(1);
		script_sent(dev, 1);
		cr_assert(readable());
		/* what came between two arms is seen by the second */
		cr_assert_eq(rcm_cq_trywait(&cq->fid), -FI_EAGAIN);
		cr_assert(readable());
		cr_assert_eq(rcm_cq_trywait(&cq->fid), -FI_EAGAIN);
		cr_assert_eq(fi_cq_read(cq, &entry, 1), 1);
		cr_assert_eq(rcm_cq_trywait(&cq->fid), 0);
		cr_assert_not(readable());
	}
}

Test(cq, fd_is_readable_for_what_close_left)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry entry;

	open_cq(FI_WAIT_FD);
	open_qp();
	post(1);
	cr_assert_eq(rcm_cq_trywait(&cq->fid), 0);
	script.flushes = false;
	rcm_qp_close(&qp);
	cr_assert(readable());
	cr_assert_eq(fi_cq_read(cq, &entry, 1), -FI_EAVAIL);
	cr_assert_eq(fi_cq_readerr(cq, &err, 0), 1);
	cr_assert_eq(rcm_cq_trywait(&cq->fid), 0);
	cr_assert_not(readable());
}

Test(cq, signal_is_seen_by_trywait_once)
{
	open_cq(FI_WAIT_FD);
	fi_cq_signal(cq);
	cr_assert(readable());
	cr_assert_eq(rcm_cq_trywait(&cq->fid), -FI_EAGAIN);
	cr_assert_eq(rcm_cq_trywait(&cq->fid), 0);
	cr_assert_not(readable());
}

static void open_threshold_cq(void)
{
	cr_assert_eq(try_open((struct fi_cq_attr){
			     .format = FI_CQ_FORMAT_DATA,
			     .wait_obj = FI_WAIT_FD,
			     .wait_cond = FI_CQ_COND_THRESHOLD }),
		     0);
	open_qp();
}

Test(cq, threshold_waits_for_so_many)
{
	struct fi_cq_data_entry entry[8];
	struct timespec start;
	pthread_t thread;
	int i;

	open_threshold_cq();
	for (i = 0; i < 5; i++)
		post(1);
	script_sent(dev, 2);
	pthread_create(&thread, NULL, send_soon, (void *)3);
	clock_gettime(CLOCK_MONOTONIC, &start);
	cr_assert_eq(fi_cq_sread(cq, entry, 8, (void *)4, 10000), 5);
	cr_assert_geq(ms_since(&start), 15);
	pthread_join(thread, NULL);
}

Test(cq, threshold_gives_what_is_there_when_the_time_is_over)
{
	struct fi_cq_data_entry entry[8];
	struct timespec start;
	int i;

	open_threshold_cq();
	for (i = 0; i < 2; i++)
		post(1);
	script_sent(dev, 2);
	clock_gettime(CLOCK_MONOTONIC, &start);
	cr_assert_eq(fi_cq_sread(cq, entry, 8, (void *)4, 50), 2);
	cr_assert_geq(ms_since(&start), 49);
}

Test(cq, threshold_does_not_hide_an_error)
{
	struct fi_cq_data_entry entry[8];

	open_threshold_cq();
	post(1);
	script_send_failed(dev, IBV_WC_RETRY_EXC_ERR);
	cr_assert_eq(fi_cq_sread(cq, entry, 8, (void *)4, 10000), -FI_EAVAIL);
}

/* LF#1046, S14 */
Test(cq, failed_open_leaves_no_descriptor)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD };
	int i, before = dup(0);

	close(before);
	for (i = 0; i < 10; i++) {
		script.fail_call = 1;
		script.fail_errno = EMFILE;
		cr_assert_eq(try_open(attr), -FI_EMFILE);
	}
	i = dup(0);
	close(i);
	cr_assert_eq(i, before);
}
