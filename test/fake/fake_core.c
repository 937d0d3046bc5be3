/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "fake_int.h"

#define FAKE_PATIENCE 10 /* seconds */

struct fake_state fake = { .lock = PTHREAD_MUTEX_INITIALIZER,
			   .acked = PTHREAD_COND_INITIALIZER };
_Thread_local int fake_depth;

void fake_enter_quiet(void)
{
	pthread_mutex_lock(&fake.lock);
	fake_depth++;
}

void fake_leave_quiet(void)
{
	fake_depth--;
	pthread_mutex_unlock(&fake.lock);
}

int fake_enter(enum fake_call call)
{
	fake_enter_quiet();
	return fake_plan(call);
}

int fake_leave(int err)
{
	fake_leave_quiet();
	return -err;
}

void *fake_leave_ptr(void *ptr, int err)
{
	fake_leave_quiet();
	if (err) {
		errno = err;
		return NULL;
	}
	return ptr;
}

void fake_problem(const char *fmt, ...)
{
	va_list ap;

	fake.problems++;
	fputs("fake: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void *fake_new(size_t size)
{
	void *p;

	fake_depth++;
	p = calloc(1, size ? size : 1);
	fake_depth--;
	if (!p)
		abort();
	return p;
}

bool fake_wait_acked(const unsigned int *count)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += FAKE_PATIENCE;
	while (*count) {
		if (!fake.patient ||
		    pthread_cond_timedwait(&fake.acked, &fake.lock, &end))
			return false;
	}
	return true;
}

void fake_be_patient(void)
{
	fake_enter_quiet();
	fake.patient = true;
	fake_leave_quiet();
}

void fake_fd_open(struct fake_fd *f)
{
	fake_depth++;
	f->fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	fake_depth--;
	f->n = 0;
	if (f->fd < 0)
		abort();
}

void fake_fd_close(struct fake_fd *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

void fake_fd_put(struct fake_fd *f)
{
	uint64_t one = 1;

	f->n++;
	if (write(f->fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

bool fake_fd_take(struct fake_fd *f, const char *what)
{
	uint64_t one;

	if (!f->n) {
		if (!(fcntl(f->fd, F_GETFL) & O_NONBLOCK))
			fake_problem("%s would block", what);
		return false;
	}
	if (read(f->fd, &one, sizeof(one)) != sizeof(one))
		abort();
	f->n--;
	return true;
}

/* There is no sysfs below the fake devices. */
static int fake_read_sysfs(const char *path, char *buf, size_t len)
{
	int err = fake_enter(FAKE_read_sysfs);

	(void)path;
	if (len)
		buf[0] = '\0';
	return fake_leave(err ? err : ENOENT);
}

static const struct rcm_sys fake_sys = {
	.get_device_list = fake_get_device_list,
	.free_device_list = fake_free_device_list,
	.get_device_name = fake_get_device_name,
	.open_device = fake_open_device,
	.close_device = fake_close_device,
	.query_device = fake_query_device,
	.query_port = fake_query_port,
	.query_gid_table = fake_query_gid_table,
	.get_async_event = fake_get_async_event,
	.ack_async_event = fake_ack_async_event,
	.get_ifaddrs = fake_get_ifaddrs,
	.free_ifaddrs = fake_free_ifaddrs,
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	.alloc_td = fake_alloc_td,
	.dealloc_td = fake_dealloc_td,
	.alloc_parent_domain = fake_alloc_parent_domain,
	.reg_mr = fake_reg_mr,
	.reg_dmabuf_mr = fake_reg_dmabuf_mr,
	.dereg_mr = fake_dereg_mr,
	.create_comp_channel = fake_create_comp_channel,
	.destroy_comp_channel = fake_destroy_comp_channel,
	.create_cq = fake_create_cq,
	.destroy_cq = fake_destroy_cq,
	.get_cq_event = fake_get_cq_event,
	.ack_cq_events = fake_ack_cq_events,
	.create_srq = fake_create_srq,
	.destroy_srq = fake_destroy_srq,
	.create_qp = fake_create_qp,
	.modify_qp = fake_modify_qp,
	.destroy_qp = fake_destroy_qp,
	.create_event_channel = fake_create_event_channel,
	.destroy_event_channel = fake_destroy_event_channel,
	.get_cm_event = fake_get_cm_event,
	.ack_cm_event = fake_ack_cm_event,
	.create_id = fake_create_id,
	.destroy_id = fake_destroy_id,
	.migrate_id = fake_migrate_id,
	.set_option = fake_set_option,
	.bind_addr = fake_bind_addr,
	.resolve_addr = fake_resolve_addr,
	.resolve_route = fake_resolve_route,
	.init_qp_attr = fake_init_qp_attr,
	.connect = fake_connect,
	.establish = fake_establish,
	.listen = fake_listen,
	.accept = fake_accept,
	.reject = fake_reject,
	.notify = fake_notify,
	.disconnect = fake_disconnect,
	.local_addr = fake_local_addr,
	.peer_addr = fake_peer_addr,
	.read_sysfs = fake_read_sysfs,
};

static void fake_state_init(void)
{
	rcm_list_init(&fake.ctxs);
	rcm_list_init(&fake.pds);
	rcm_list_init(&fake.tds);
	rcm_list_init(&fake.mrs);
	rcm_list_init(&fake.ccs);
	rcm_list_init(&fake.cqs);
	rcm_list_init(&fake.srqs);
	rcm_list_init(&fake.qps);
	rcm_list_init(&fake.chans);
	rcm_list_init(&fake.ids);
	rcm_list_init(&fake.unacked);
	fake.lists = 0;
	fake.ifaddrs = 0;
	fake.async_unacked = 0;
	fake.next_key = 0x1000;
	fake.next_qpn = 0x11;
	fake.next_port = 40000;
	fake.problems = 0;
	fake.doorbells = 0;
	fake.wire_held = false;
	fake.silent = false;
	fake.patient = false;
	fake.drop_n = 0;
}

void fake_install_devs(const struct fake_dev_conf *conf, unsigned int n)
{
	fake_fail_none();
	fake_enter_quiet();
	fake_state_init();
	fake_devs_make(conf, n);
	fake.installed = true;
	fake_leave_quiet();
	rcm_sys = &fake_sys;
}

void fake_install(void)
{
	static const struct fake_dev_conf conf = {
		.name = "fake0",
		.ifname = "feth0",
		.addrs = { "10.77.0.1", "fd77::1" },
	};

	fake_install_devs(&conf, 1);
}

static unsigned int fake_count(struct rcm_list *list)
{
	struct rcm_list *node, *tmp;
	unsigned int n = 0;

	rcm_list_for_each(list, node, tmp)
		n++;
	return n;
}

/* A request that nobody has taken out of its channel is nobody's yet. */
static unsigned int fake_count_ids(void)
{
	struct rcm_list *node, *tmp;
	unsigned int n = 0;

	rcm_list_for_each(&fake.ids, node, tmp)
		n += !rcm_list_entry(node, struct fake_id, node)->listener &&
		     !rcm_list_entry(node, struct fake_id, node)->lost;
	return n;
}

static unsigned int fake_count_mrs(void)
{
	struct rcm_list *node, *tmp;
	unsigned int n = 0;

	rcm_list_for_each(&fake.mrs, node, tmp)
		n += !rcm_list_entry(node, struct fake_mr, node)->lost;
	return n;
}

static unsigned int fake_leak(unsigned int n, const char *what, bool loud)
{
	if (n && loud)
		fprintf(stderr, "fake: %u %s still open\n", n, what);
	return n;
}

static unsigned int fake_leaks_locked(bool loud)
{
	unsigned int n = 0;

	n += fake_leak(fake_count(&fake.ctxs), "devices", loud);
	n += fake_leak(fake_count(&fake.pds), "protection domains", loud);
	n += fake_leak(fake_count(&fake.tds), "thread domains", loud);
	n += fake_leak(fake_count_mrs(), "memory regions", loud);
	n += fake_leak(fake_count(&fake.ccs), "completion channels", loud);
	n += fake_leak(fake_count(&fake.cqs), "completion queues", loud);
	n += fake_leak(fake_count(&fake.srqs), "shared receive queues", loud);
	n += fake_leak(fake_count(&fake.qps), "queue pairs", loud);
	n += fake_leak(fake_count(&fake.chans), "event channels", loud);
	n += fake_leak(fake_count_ids(), "rdma_cm ids", loud);
	n += fake_leak(fake_count(&fake.unacked), "unacknowledged events",
		       loud);
	n += fake_leak(fake.lists, "device lists", loud);
	n += fake_leak(fake.ifaddrs, "address lists", loud);
	n += fake_leak(fake.async_unacked, "unacknowledged async events", loud);
	return n;
}

unsigned int fake_leaks(bool loud)
{
	unsigned int n;

	fake_enter_quiet();
	n = fake_leaks_locked(loud);
	fake_leave_quiet();
	return n;
}

unsigned int fake_problems(bool loud)
{
	unsigned int n;

	fake_enter_quiet();
	n = fake.problems;
	if (n && loud)
		fprintf(stderr, "fake: %u problems\n", n);
	fake_leave_quiet();
	return n;
}

void fake_forget_problems(void)
{
	fake_enter_quiet();
	fake.problems = 0;
	fake_leave_quiet();
}

/* Whatever a failed test left, so that the next one starts afresh. */
static void fake_free_all(void)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&fake.unacked, node, tmp)
		free(rcm_list_entry(node, struct fake_event, node));
	rcm_list_for_each(&fake.ids, node, tmp)
		fake_id_free(rcm_list_entry(node, struct fake_id, node));
	rcm_list_for_each(&fake.chans, node, tmp)
		fake_chan_free(rcm_list_entry(node, struct fake_chan, node));
	rcm_list_for_each(&fake.qps, node, tmp)
		fake_qp_free(rcm_list_entry(node, struct fake_qp, node));
	rcm_list_for_each(&fake.srqs, node, tmp)
		fake_srq_free(rcm_list_entry(node, struct fake_srq, node));
	rcm_list_for_each(&fake.cqs, node, tmp)
		fake_cq_free(rcm_list_entry(node, struct fake_cq, node));
	rcm_list_for_each(&fake.ccs, node, tmp)
		fake_cc_free(rcm_list_entry(node, struct fake_cc, node));
	rcm_list_for_each(&fake.mrs, node, tmp)
		free(rcm_list_entry(node, struct fake_mr, node));
	rcm_list_for_each(&fake.pds, node, tmp)
		free(rcm_list_entry(node, struct fake_pd, node));
	rcm_list_for_each(&fake.tds, node, tmp)
		free(rcm_list_entry(node, struct fake_td, node));
	rcm_list_for_each(&fake.ctxs, node, tmp)
		fake_ctx_free(rcm_list_entry(node, struct fake_ctx, node));
}

unsigned int fake_remove(void)
{
	unsigned int n;

	rcm_sys = &rcm_sys_real;
	fake_fail_none();
	fake_enter_quiet();
	n = fake.problems + fake_leaks_locked(true);
	fake_free_all();
	fake_devs_free();
	fake.installed = false;
	fake_leave_quiet();
	return n;
}

unsigned int fake_n_cqs(void)
{
	unsigned int n;

	fake_enter_quiet();
	n = fake_count(&fake.cqs);
	fake_leave_quiet();
	return n;
}

unsigned int fake_n_qps(void)
{
	unsigned int n;

	fake_enter_quiet();
	n = fake_count(&fake.qps);
	fake_leave_quiet();
	return n;
}

unsigned int fake_n_ids(void)
{
	unsigned int n;

	fake_enter_quiet();
	n = fake_count_ids();
	fake_leave_quiet();
	return n;
}

unsigned int fake_doorbells(void)
{
	unsigned int n;

	fake_enter_quiet();
	n = fake.doorbells;
	fake_leave_quiet();
	return n;
}

unsigned int fake_fences(void)
{
	unsigned int n;

	fake_enter_quiet();
	n = fake.fences;
	fake_leave_quiet();
	return n;
}
