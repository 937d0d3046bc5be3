/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Both ends of a connection close while events about it arrive and two
 * threads read the event queue: nothing names an endpoint once fi_close has
 * returned.
 */

#include "mt.h"
#include "rcm_ep.h"

#define ROUNDS 200

static struct net n;
static atomic_bool done;
static atomic_uint seen;
static pthread_barrier_t barrier;

static void *read_events(void *arg)
{
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_cm_entry entry;
	uint32_t event;

	(void)arg;
	while (!atomic_load(&done)) {
		ssize_t ret = fi_eq_sread(n.side[0].eq, &event, &entry,
					  sizeof(entry), 1, 0);

		if (ret == -FI_EAVAIL)
			ret = fi_eq_readerr(n.side[0].eq, &err, 0);
		MT_CHECK(ret > 0 || ret == -FI_EAGAIN);
		if (ret > 0)
			atomic_fetch_add(&seen, 1);
	}
	return NULL;
}

/* Closes the side's endpoint as soon as all are ready. */
static void *close_side(void *arg)
{
	struct net_side *s = arg;

	pthread_barrier_wait(&barrier);
	MT_CHECK(fi_close(&s->ep->fid) == 0);
	s->ep = NULL;
	return NULL;
}

static void *read_completions(void *arg)
{
	struct net_side *s = arg;
	struct fi_cq_err_entry err = { 0 };
	unsigned int got = 0;

	pthread_barrier_wait(&barrier);
	while (got < 4) {
		struct fi_cq_data_entry e;
		ssize_t ret = fi_cq_sread(s->cq, &e, 1, NULL, 20);

		if (ret == -FI_EAVAIL)
			ret = fi_cq_readerr(s->cq, &err, 0);
		MT_CHECK(ret == 1 || ret == -FI_EAGAIN);
		got += ret == 1;
	}
	return NULL;
}

static void cause_trouble(void)
{
	struct rcm_ep *ep = rcm_ep_of(n.side[0].ep);

	for (int i = 0; i < 4; i++)
		MT_CHECK(net_recv(&n, 0, 0, 64, NULL) == 0);
	fake_inject_qp_event(ep->qp.qp, IBV_EVENT_QP_FATAL);
	fake_inject_cm_event(ep->conn->id, RDMA_CM_EVENT_DISCONNECTED, 0);
	fake_inject_cm_event(ep->conn->id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
}

static void round_once(void)
{
	pthread_t threads[5];
	unsigned int before;

	MT_CHECK(net_join_more(&n, &n.side[0].ep, &n.side[1].ep) == 0);
	atomic_store(&done, false);
	cause_trouble();
	threads[0] = mt_start(close_side, &n.side[0]);
	threads[1] = mt_start(close_side, &n.side[1]);
	threads[2] = mt_start(read_completions, &n.side[0]);
	threads[3] = mt_start(read_events, NULL);
	threads[4] = mt_start(read_events, NULL);
	for (int i = 0; i < 3; i++)
		mt_join(threads[i]);
	atomic_store(&done, true);
	for (int i = 3; i < 5; i++)
		mt_join(threads[i]);
	before = atomic_load(&seen);
	MT_CHECK(before <= 1);
	MT_CHECK(net_quiet(&n, 0));
	MT_CHECK(net_quiet(&n, 1));
	atomic_store(&seen, 0);
}

int main(void)
{
	mt_open(&n);
	MT_CHECK(net_listen(&n) == 0);
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < ROUNDS; i++)
		round_once();
	pthread_barrier_destroy(&barrier);
	net_end(&n);
	return 0;
}
