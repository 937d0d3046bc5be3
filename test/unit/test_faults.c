/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Every call of a scenario fails once, in turn: calls of the seam, posts,
 * polls, and allocations. Whatever fails, the scenario ends with an error
 * code that fits or with everything done, all that was opened closes, and
 * nothing is left.
 */

#include <criterion/criterion.h>
#include <errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_base.h"
#include "rcm_dev.h"

#define ERR EMFILE /* what calls fail with; no call fails so by itself */

struct scenario {
	const struct fake_dev_conf *conf;
	void (*prepare)(struct net *n);
	int (*run)(struct net *n);
	const char *survives; /* a call that this one can do without, too */
};

/* Calls whose failure the provider may survive: nobody misses anything. */
static const char *const survivable[] = {
	"get_async_event",
	"ack_cm_event",
	"set_option",
	"notify",
	"close_device",
	"dealloc_pd",
	"dereg_mr",
	"destroy_qp",
	"destroy_cq",
	"destroy_srq",
	"destroy_id",
	"disconnect",
	"reject",
	"read_sysfs",
	"destroy_comp_channel",
	/* in a close, which goes on without them */
	"modify_qp",
	"post_send",
	"poll_cq",
	/* asked for again with less */
	"create_qp",
	"create_cq",
	/* a later read takes the event */
	"get_cm_event",
	/* the device's library locks, then */
	"alloc_td",
	"alloc_parent_domain",
	"dealloc_td",
	"get_cq_event",
	"req_notify_cq",
};

static bool may_survive(const char *call)
{
	for (size_t i = 0; i < RCM_ARRAY_SIZE(survivable); i++) {
		if (!strcmp(survivable[i], call))
			return true;
	}
	return false;
}

/* A code that tells of the fault, or of the peer's end that follows. */
static bool fits(int ret)
{
	switch (-ret) {
	case ERR:
	case FI_ENOMEM:
	case FI_ENOSPC:	 /* epoll_ctl(2) */
	case FI_ENODATA: /* getinfo: the device was left out */
	case FI_EIO:	 /* ibv_poll_cq(3) says no more than that it failed */
	case FI_ECONNREFUSED:
	case FI_ECONNABORTED:
	case FI_ECONNRESET:
	case FI_ESHUTDOWN:
	case FI_ECANCELED:
		return true;
	default:
		return false;
	}
}

/* One run. The last step, net_close(), is under the same fault. */
static int run_once(const struct scenario *s, struct net *n,
		    void (*arm)(unsigned int nth), unsigned int nth)
{
	int fds = net_n_fds(), ret, closed;

	net_begin(n, s->conf, s->conf ? 1 : 0);
	if (s->prepare)
		s->prepare(n);
	arm(nth);
	ret = s->run(n);
	closed = net_close(n);
	if (closed) {
		/* a device that would not let go does so now */
		cr_assert_eq(closed, -ERR, "fault %u (%s): closing gave %d",
			     nth, fake_failed_call(), closed);
		fake_fail_any(0, 0);
		closed = net_close(n);
	}
	rcm_dev_list_reset();
	cr_assert_eq(closed, 0, "fault %u (%s): closing gave %d", nth,
		     fake_failed_call(), closed);
	cr_assert_eq(fake_leaks(true) + fake_problems(true), 0,
		     "fault %u (%s), code %d", nth, fake_failed_call(), ret);
	cr_assert_eq(net_n_fds(), fds, "fault %u (%s): a descriptor is left",
		     nth, fake_failed_call());
	return ret;
}

static void arm_call(unsigned int nth)
{
	if (nth)
		fake_fail_any(nth, ERR);
}

static void every_call_fails(const struct scenario *s)
{
	struct net *n = calloc(1, sizeof(*n));
	unsigned int total;
	int ret = run_once(s, n, arm_call, 0);

	cr_assert_eq(ret, 0, "without a fault: %d", ret);
	total = fake_calls();
	cr_assert_gt(total, 20);
	fake_remove();
	for (unsigned int nth = 1; nth <= total; nth++) {
		const char *call;

		ret = run_once(s, n, arm_call, nth);
		call = fake_failed_call();
		cr_assert_not_null(call, "call %u of %u never came", nth,
				   total);
		if (ret)
			cr_assert(fits(ret), "call %u (%s) gave %d", nth, call,
				  ret);
		else
			cr_assert(may_survive(call) ||
					  (s->survives &&
					   !strcmp(s->survives, call)),
				  "call %u (%s) was missed", nth, call);
		fake_remove();
	}
	free(n);
}

static void arm_from(unsigned int nth)
{
	if (nth)
		fake_fail_from(nth, ERR);
}

/* From one call on, nothing works any more. */
static void all_calls_fail(const struct scenario *s)
{
	struct net *n = calloc(1, sizeof(*n));
	unsigned int total;

	cr_assert_eq(run_once(s, n, arm_from, 0), 0);
	total = fake_calls();
	fake_remove();
	for (unsigned int nth = 1; nth <= total; nth++) {
		int ret = run_once(s, n, arm_from, nth);

		if (ret)
			cr_assert(fits(ret) || ret == -FI_ETIMEDOUT,
				  "from call %u on: %d", nth, ret);
		fake_remove();
	}
	free(n);
}

static void arm_alloc(unsigned int nth)
{
	fake_alloc_fail_none();
	if (nth)
		fake_alloc_fail(nth);
}

static void every_allocation_fails(const struct scenario *s)
{
	struct net *n = calloc(1, sizeof(*n));
	unsigned int total;
	int ret = run_once(s, n, arm_alloc, 0);

	cr_assert_eq(ret, 0, "without a fault: %d", ret);
	total = fake_allocs();
	cr_assert_gt(total, 5);
	fake_remove();
	for (unsigned int nth = 1; nth <= total; nth++) {
		ret = run_once(s, n, arm_alloc, nth);
		cr_assert(fake_alloc_failed(), "allocation %u of %u never came",
			  nth, total);
		if (ret)
			cr_assert(fits(ret), "allocation %u gave %d", nth, ret);
		fake_remove();
	}
	fake_alloc_fail_none();
	free(n);
}

/* The scenarios. */

static int run_open(struct net *n)
{
	int ret = net_open(n);

	if (!ret)
		ret = net_listen(n);
	return ret ? ret : net_endpoint(n, 0, n->info);
}

static void prepare_waiting(struct net *n)
{
	n->eq_attr.wait_obj = FI_WAIT_FD;
	n->cq_attr.wait_obj = FI_WAIT_FD;
	n->two_cqs = true;
}

static void prepare_auto(struct net *n)
{
	prepare_waiting(n);
	n->hints->domain_attr->control_progress = FI_PROGRESS_AUTO;
}

static void prepare_one_thread(struct net *n)
{
	n->hints->domain_attr->threading = FI_THREAD_DOMAIN;
}

/* Closes what is in a set of *N, which net_close() knows nothing of. */
static void close_members(struct net *n)
{
	struct net_side *s = &n->side[0];

	if (s->mr && !fi_close(&s->mr->fid))
		s->mr = NULL;
	if (s->cq && !fi_close(&s->cq->fid))
		s->cq = NULL;
	if (s->eq && !fi_close(&s->eq->fid))
		s->eq = NULL;
}

static int run_sets(struct net *n)
{
	struct fi_wait_attr wait_attr = { .wait_obj = FI_WAIT_FD };
	struct fi_poll_attr poll_attr = { 0 };
	struct fid_wait *set;
	struct fid_poll *polls;
	int ret = net_open_domain(n);

	if (!ret)
		ret = n->fabric->ops->wait_open(n->fabric, &wait_attr, &set);
	if (ret)
		return ret;
	n->eq_attr.wait_obj = FI_WAIT_SET;
	n->eq_attr.wait_set = set;
	n->cq_attr.wait_obj = FI_WAIT_SET;
	n->cq_attr.wait_set = set;
	ret = net_open_side(n, 0);
	if (!ret)
		ret = n->domain->ops->poll_open(n->domain, &poll_attr, &polls);
	if (!ret) {
		ret = polls->ops->poll_add(polls, &n->side[0].cq->fid, 0);
		if (!ret)
			polls->ops->poll_del(polls, &n->side[0].cq->fid, 0);
		fi_close(&polls->fid);
	}
	close_members(n);
	fi_close(&set->fid);
	return ret;
}

static int run_join(struct net *n)
{
	int ret = net_open(n);

	return ret ? ret : net_join(n);
}

/* Messages of each kind: inline, by descriptor, injected, in a chain. */
static int run_messages(struct net *n)
{
	struct net_side *s = &n->side[0];
	struct iovec iov = { s->buf, 300 };
	struct fi_msg msg = { .msg_iov = &iov,
			      .desc = &s->desc,
			      .iov_count = 1 };
	ssize_t ret = net_exchange(n, 0, 2, 16);

	if (!ret)
		ret = net_exchange(n, 1, 2, 4096);
	for (int i = 0; i < 4 && !ret; i++)
		ret = net_recv(n, 1, 0, 512, NULL);
	if (!ret)
		ret = fi_inject(s->ep, s->buf, 32, 0);
	for (int i = 0; i < 3 && !ret; i++)
		ret = fi_sendmsg(s->ep, &msg, i < 2 ? FI_MORE : 0);
	return (int)ret;
}

/* Reads COUNT completions of a queue; all of them good. */
static int run_reap(struct net *n, struct fid_cq *cq, unsigned int count)
{
	struct net_comp comp;

	for (unsigned int i = 0; i < count; i++) {
		int ret = net_comp(n, cq, &comp);

		if (ret)
			return ret == -FI_EAGAIN ? -FI_ETIMEDOUT : ret;
		if (comp.err)
			return -comp.err;
	}
	return 0;
}

static int run_shutdown(struct net *n)
{
	int ret = fi_shutdown(n->side[0].ep, 0);

	for (int i = 1; i >= 0 && !ret; i--) {
		ret = net_await(n, i, FI_SHUTDOWN, NULL);
		if (ret != -FI_ETIMEDOUT)
			continue;
		/* the peer's answer failed: the kernel does not wait for ever */
		fake_time_passes();
		ret = net_await(n, i, FI_SHUTDOWN, NULL);
	}
	return ret;
}

static int run_whole(struct net *n)
{
	int ret = run_join(n);

	if (!ret)
		ret = run_messages(n);
	if (!ret)
		ret = run_reap(n, n->side[0].cq, 3);
	if (!ret)
		ret = run_reap(
			n, n->side[1].rx_cq ? n->side[1].rx_cq : n->side[1].cq,
			4);
	return ret ? ret : run_shutdown(n);
}

/* Operations of both directions are under way when all is closed. */
static int run_outstanding(struct net *n)
{
	int ret = run_join(n);

	for (int i = 0; i < 3 && !ret; i++) {
		ret = net_recv(n, 0, 0, 64, NULL);
		if (!ret)
			ret = net_send(n, 0, 0, 512, NULL);
	}
	return ret;
}

static int run_refused(struct net *n)
{
	struct net_ev ev;
	int ret = net_open(n);

	if (!ret)
		ret = net_listen(n);
	if (!ret)
		ret = net_connect(n, "hello", 5);
	if (!ret)
		ret = net_request(n, NULL);
	if (!ret)
		ret = fi_reject(n->pep, n->req->handle, "no", 2);
	if (ret)
		return ret;
	ret = net_await(n, 0, FI_CONNECTED, &ev);
	return ret == -FI_ECONNREFUSED ? 0 : ret;
}

/* Three connections more than one hardware queue has room for. */
static int run_several(struct net *n)
{
	struct fid_ep *a[3] = { NULL }, *b[3] = { NULL };
	int ret = net_open(n);

	if (!ret)
		ret = net_listen(n);
	for (int i = 0; i < 3 && !ret; i++)
		ret = net_join_more(n, &a[i], &b[i]);
	for (int i = 0; i < 3 && !ret; i++) {
		n->side[0].ep = a[i];
		n->side[1].ep = b[i];
		ret = net_exchange(n, i % 2, 2, 64);
	}
	n->side[0].ep = NULL;
	n->side[1].ep = NULL;
	for (int i = 0; i < 3; i++) {
		if (a[i])
			cr_assert_eq(fi_close(&a[i]->fid), 0);
		if (b[i])
			cr_assert_eq(fi_close(&b[i]->fid), 0);
	}
	return ret;
}

/* The event and completion queues are waited for, and have something. */
static int run_waiting(struct net *n)
{
	struct fi_cq_data_entry e;
	struct fid *fids[2];
	ssize_t ret = run_join(n);

	if (ret)
		return (int)ret;
	fids[0] = &n->side[1].eq->fid;
	fids[1] = &n->side[1].rx_cq->fid;
	ret = fi_trywait(n->fabric, fids, 2);
	if (!ret)
		ret = net_recv(n, 1, 0, 64, NULL);
	if (!ret)
		ret = net_send(n, 0, 0, 64, NULL);
	if (ret)
		return (int)ret;
	ret = fi_cq_sread(n->side[1].rx_cq, &e, 1, NULL, 1000);
	return ret == 1 ? 0 : (int)ret;
}

/* Both kinds of counters, and on one side no completion queue. */
static int bind_counted(struct net *n, int side, struct fid_ep *ep)
{
	/* FI_CNTR_EVENTS_BYTES */
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_FD, .events = 1 };
	struct net_side *s = &n->side[side];
	int ret = fi_cntr_open(n->domain, &attr, &s->tx_cntr, NULL);

	if (!ret)
		ret = fi_cntr_open(n->domain, &attr, &s->rx_cntr, NULL);
	if (!ret)
		ret = fi_ep_bind(ep, &s->tx_cntr->fid, FI_SEND);
	if (!ret)
		ret = fi_ep_bind(ep, &s->rx_cntr->fid, FI_RECV);
	if (!ret && side)
		ret = net_bind_cqs(n, side, ep);
	return ret;
}

static void prepare_counted(struct net *n)
{
	n->bind_ep = bind_counted;
}

/* What has failed is counted, too, and the wait then ends with no cause. */
static int run_await_cntr(struct net *n, struct fid_cntr *cntr)
{
	struct fid *fid = &cntr->fid;
	int ret = fi_trywait(n->fabric, &fid, 1);

	if (!ret || ret == -FI_EAGAIN)
		ret = fi_cntr_wait(cntr, 1, 50);
	return ret == -FI_EAVAIL || ret == -FI_ETIMEDOUT ? -FI_EIO : ret;
}

static int run_counted(struct net *n)
{
	int ret = run_join(n);

	if (!ret)
		ret = net_recv(n, 1, 0, 64, NULL);
	if (!ret)
		ret = net_send(n, 0, 0, 64, NULL);
	if (!ret)
		ret = run_await_cntr(n, n->side[1].rx_cntr);
	if (!ret)
		ret = run_await_cntr(n, n->side[0].tx_cntr);
	if (!ret)
		ret = net_recv(n, 0, 0, 64, NULL); /* canceled by the end */
	return ret;
}

static void prepare_lent(struct net *n)
{
	n->hints->domain_attr->mr_mode = 0;
}

/* Nothing is registered but for an operation; one is left to the close. */
static int run_lent(struct net *n)
{
	struct iovec iov = { n->side[0].buf, 6000 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	ssize_t ret = run_join(n);

	if (!ret)
		ret = net_exchange(n, 0, 1, 300);
	if (!ret)
		ret = net_exchange(n, 1, 2, 6000);
	for (int i = 0; i < 2 && !ret; i++)
		ret = net_recv(n, 1, 0, 6000, NULL);
	for (int i = 0; i < 2 && !ret; i++)
		ret = fi_sendmsg(n->side[0].ep, &msg, i ? 0 : FI_MORE);
	for (int i = 0; i < 2 && !ret; i++)
		ret = run_reap(n, n->side[i].cq, 2);
	return ret ? (int)ret : net_recv(n, 0, 0, 64, NULL);
}

static void prepare_rma(struct net *n)
{
	n->hints->caps |= FI_RMA;
	n->hints->mode |= FI_RX_CQ_DATA;
	n->hints->domain_attr->mr_mode &= ~FI_MR_LOCAL;
}

/* A read or write of LEN bytes, with a descriptor or without. */
static ssize_t post_rma(struct net *n, size_t len, bool reads, uint64_t flags,
			void *desc)
{
	struct net_side *s = &n->side[0];
	struct iovec iov = { s->buf, len };
	struct fi_rma_iov there = { .addr = (uintptr_t)n->side[1].buf,
				    .len = len,
				    .key = fi_mr_key(n->side[1].mr) };
	struct fi_msg_rma msg = { .msg_iov = &iov,
				  .desc = &desc,
				  .iov_count = 1,
				  .rma_iov = &there,
				  .rma_iov_count = 1 };

	return reads ? fi_readmsg(s->ep, &msg, flags) :
		       fi_writemsg(s->ep, &msg, flags);
}

/* Each way that the memory takes; the last two are left to the close. */
static int run_rma(struct net *n)
{
	static const size_t lens[] = { 32, 300, 6000 };
	void *desc = NULL;
	ssize_t ret = run_join(n);

	for (int i = 0; i < 12 && !ret; i++) {
		desc = (i & 1) ? n->side[0].desc : NULL;
		ret = post_rma(n, lens[i % 3], i >= 6, (i & 2) ? FI_MORE : 0,
			       desc);
	}
	if (!ret)
		ret = run_reap(n, n->side[0].cq, 12);
	if (!ret)
		ret = fi_recv(n->side[1].ep, NULL, 0, NULL, 0, NULL);
	if (!ret)
		ret = post_rma(n, 6000, false, FI_REMOTE_CQ_DATA, NULL);
	for (int i = 0; i < 2 && !ret; i++)
		ret = run_reap(n, n->side[i].cq, 1);
	for (int i = 0; i < 2 && !ret; i++)
		ret = post_rma(n, 6000, i, FI_MORE, NULL);
	return (int)ret;
}

static void prepare_packed(struct net *n)
{
	n->hints->caps |= FI_MULTI_RECV;
}

/* Messages for one buffer, and for the receives that wait behind it. */
static int run_packed(struct net *n)
{
	struct net_side *s = &n->side[1];
	struct iovec iov = { s->buf, 200 };
	struct fi_msg msg = { .msg_iov = &iov,
			      .desc = &s->desc,
			      .iov_count = 1 };
	size_t min = 100;
	ssize_t ret = run_join(n);

	if (!ret)
		ret = fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT,
				FI_OPT_MIN_MULTI_RECV, &min, sizeof(min));
	if (!ret)
		ret = fi_recvmsg(s->ep, &msg, FI_MULTI_RECV);
	for (int i = 0; i < 2 && !ret; i++)
		ret = net_recv(n, 1, 200, 64, NULL);
	for (int i = 0; i < 4 && !ret; i++)
		ret = fi_inject(n->side[0].ep, s->buf, 60, 0);
	if (!ret)
		ret = run_reap(n, s->cq, 4);
	if (ret != -FI_ETIMEDOUT)
		return (int)ret;
	/* a next request that the device refuses ends the connection */
	ret = net_await(n, 1, FI_SHUTDOWN, NULL);
	return ret ? (int)ret : -FI_ESHUTDOWN;
}

static const struct fake_dev_conf no_inline = { .name = "fake0",
						.addrs = { "10.77.0.1" },
						.max_inline = -1 };
static const struct fake_dev_conf lagging = { .name = "fake0",
					      .addrs = { "10.77.0.1" },
					      .stale_cqes = true,
					      .flush_lag = true };

static const struct fake_dev_conf small = { .name = "fake0",
					    .addrs = { "10.77.0.1" },
					    .max_qp_wr = 64,
					    .max_cqe = 100 };

static const struct scenario several = { .run = run_several, .conf = &small };
static const struct scenario opening = { .run = run_open };
static const struct scenario whole = { .run = run_whole };
static const struct scenario outstanding = { .run = run_outstanding };
static const struct scenario refused = { .run = run_refused };
static const struct scenario waiting = { .run = run_waiting,
					 .prepare = prepare_waiting };
static const struct scenario counted = { .run = run_counted,
					 .prepare = prepare_counted };
static const struct scenario packed = { .run = run_packed,
					.prepare = prepare_packed };
static const struct scenario automatic = { .run = run_open,
					   .prepare = prepare_auto };
static const struct scenario sets = { .run = run_sets };
static const struct scenario one_thread = { .run = run_whole,
					    .prepare = prepare_one_thread };
static const struct scenario bounced = { .run = run_whole, .conf = &no_inline };
/* short messages are registered where they cannot be copied */
static const struct scenario lent = { .run = run_lent,
				      .prepare = prepare_lent,
				      .survives = "reg_mr" };
static const struct scenario rma = { .run = run_rma,
				     .prepare = prepare_rma,
				     .survives = "reg_mr" };
static const struct scenario late = { .run = run_outstanding,
				      .conf = &lagging };

static void share(struct net *n)
{
	n->hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	n->hints->rx_attr->size = 4;
}

/* Both sides share their receives; two of them are left over in the end. */
static int run_shared(struct net *n)
{
	struct net_side *s;
	struct net_comp comp;
	int ret = net_open(n);

	for (int i = 0; i < 2 && !ret; i++)
		ret = fi_srx_context(n->domain, n->info->rx_attr,
				     &n->side[i].srx, NULL);
	if (!ret)
		ret = net_join(n);
	for (int i = 0; i < 4 && !ret; i++) {
		s = &n->side[i % 2];
		ret = (int)fi_recv(s->srx, s->buf, 64, s->desc, 0, s);
	}
	for (int i = 0; i < 2 && !ret; i++)
		ret = net_send(n, i, 0, 32, &n->side[i]);
	for (int i = 0; i < 4 && !ret; i++) {
		ret = net_comp(n, n->side[i % 2].cq, &comp);
		if (!ret)
			ret = -comp.err;
	}
	return ret;
}

static const struct scenario shared = {
	.prepare = share,
	.run = run_shared,
};

Test(faults, shared_receives_survive_each_call)
{
	every_call_fails(&shared);
}

Test(faults, shared_receives_survive_each_allocation)
{
	every_allocation_fails(&shared);
}

Test(faults, shared_receives_survive_the_end_of_everything)
{
	all_calls_fail(&shared);
}

Test(faults, opening_survives_each_call)
{
	every_call_fails(&opening);
}

Test(faults, opening_survives_each_allocation)
{
	every_allocation_fails(&opening);
}

Test(faults, connection_survives_each_call)
{
	every_call_fails(&whole);
}

Test(faults, connection_survives_each_allocation)
{
	every_allocation_fails(&whole);
}

Test(faults, outstanding_operations_survive_each_call)
{
	every_call_fails(&outstanding);
}

Test(faults, outstanding_operations_survive_each_allocation)
{
	every_allocation_fails(&outstanding);
}

Test(faults, refusal_survives_each_call)
{
	every_call_fails(&refused);
}

Test(faults, refusal_survives_each_allocation)
{
	every_allocation_fails(&refused);
}

Test(faults, waiting_survives_each_call)
{
	every_call_fails(&waiting);
}

Test(faults, waiting_survives_each_allocation)
{
	every_allocation_fails(&waiting);
}

Test(faults, counters_survive_each_call)
{
	every_call_fails(&counted);
}

Test(faults, counters_survive_each_allocation)
{
	every_allocation_fails(&counted);
}

Test(faults, packed_messages_survive_each_call)
{
	every_call_fails(&packed);
}

Test(faults, packed_messages_survive_each_allocation)
{
	every_allocation_fails(&packed);
}

Test(faults, packed_messages_survive_the_end_of_everything)
{
	all_calls_fail(&packed);
}

Test(faults, control_thread_survives_each_allocation)
{
	every_allocation_fails(&automatic);
}

Test(faults, wait_and_poll_sets_survive_each_allocation)
{
	every_allocation_fails(&sets);
}

Test(faults, thread_domain_survives_each_call)
{
	every_call_fails(&one_thread);
}

Test(faults, bounce_buffers_survive_each_call)
{
	every_call_fails(&bounced);
}

Test(faults, bounce_buffers_survive_each_allocation)
{
	every_allocation_fails(&bounced);
}

Test(faults, unregistered_messages_survive_each_call)
{
	every_call_fails(&lent);
}

Test(faults, unregistered_messages_survive_each_allocation)
{
	every_allocation_fails(&lent);
}

Test(faults, unregistered_messages_survive_the_end_of_everything)
{
	all_calls_fail(&lent);
}

Test(faults, reads_and_writes_survive_each_call)
{
	every_call_fails(&rma);
}

Test(faults, reads_and_writes_survive_each_allocation)
{
	every_allocation_fails(&rma);
}

Test(faults, reads_and_writes_survive_the_end_of_everything)
{
	all_calls_fail(&rma);
}

Test(faults, late_flushes_survive_each_call)
{
	every_call_fails(&late);
}

Test(faults, connection_survives_the_end_of_everything)
{
	all_calls_fail(&whole);
}

Test(faults, outstanding_operations_survive_the_end_of_everything)
{
	all_calls_fail(&outstanding);
}

Test(faults, bounce_buffers_survive_the_end_of_everything)
{
	all_calls_fail(&bounced);
}

Test(faults, several_connections_survive_each_call)
{
	every_call_fails(&several);
}

Test(faults, several_connections_survive_each_allocation)
{
	every_allocation_fails(&several);
}

/* Closing in every order: refused as busy, or done; never anything else. */

#define N_FIDS 11

static void collect(struct net *n, struct fid **fids)
{
	int k = 0;

	for (int i = 0; i < 2; i++) {
		fids[k++] = &n->side[i].ep->fid;
		fids[k++] = &n->side[i].mr->fid;
		fids[k++] = &n->side[i].cq->fid;
		fids[k++] = &n->side[i].eq->fid;
		n->side[i].ep = NULL;
		n->side[i].mr = NULL;
		n->side[i].cq = NULL;
		n->side[i].eq = NULL;
	}
	fids[k++] = &n->pep->fid;
	fids[k++] = &n->domain->fid;
	fids[k++] = &n->fabric->fid;
	n->pep = NULL;
	n->domain = NULL;
	n->fabric = NULL;
}

static void shuffle(struct fid **fids, unsigned int *seed)
{
	for (int i = N_FIDS - 1; i > 0; i--) {
		int j = (int)((unsigned int)rand_r(seed) % (i + 1));
		struct fid *tmp = fids[i];

		fids[i] = fids[j];
		fids[j] = tmp;
	}
}

Test(faults, objects_close_in_any_order)
{
	struct net *n = calloc(1, sizeof(*n));
	unsigned int seed = 1;

	for (int round = 0; round < 200; round++) {
		struct fid *fids[N_FIDS];
		int left = N_FIDS, passes = 0;

		net_begin(n, NULL, 0);
		cr_assert_eq(run_outstanding(n), 0);
		collect(n, fids);
		shuffle(fids, &seed);
		while (left) {
			cr_assert_lt(passes++, N_FIDS);
			for (int i = 0; i < N_FIDS; i++) {
				int ret = fids[i] ? fi_close(fids[i]) :
						    -FI_EBUSY;

				cr_assert(!ret || ret == -FI_EBUSY);
				if (ret)
					continue;
				fids[i] = NULL;
				left--;
			}
		}
		net_end(n);
	}
	free(n);
}
