/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * FI_PROGRESS_AUTO: threads connect, receive one message each and are left by
 * their peer, and not one of them reads its event queue. The control threads
 * make every connection, and flush what was posted when it ends.
 */

#include "mt.h"

#define CALLERS 4
#define ROUNDS	50
#define RECVS	3 /* one gets the message, the others are flushed */

static struct net n;
static atomic_bool done;

/* One caller's endpoint; the context of its receives. */
static struct caller {
	atomic_uint received, cancelled;
} callers[CALLERS];

static void *call(void *arg)
{
	struct net_side *s = &n.side[0];
	struct caller *c = arg;
	struct fid_ep *ep;

	for (unsigned int i = 1; i <= ROUNDS; i++) {
		MT_CHECK(net_make_ep(&n, 0, n.info, &ep) == 0);
		for (int k = 0; k < RECVS; k++)
			MT_CHECK(fi_recv(ep, s->buf, 64, s->desc, 0, c) == 0);
		MT_CHECK(fi_connect(ep, &n.addr, NULL, 0) == 0);
		while (atomic_load(&c->received) < i ||
		       atomic_load(&c->cancelled) < i * (RECVS - 1))
			sched_yield();
		MT_CHECK(fi_close(&ep->fid) == 0);
	}
	return NULL;
}

static void *read_queue(void *arg)
{
	(void)arg;
	while (!atomic_load(&done)) {
		struct fi_cq_err_entry err = { 0 };
		struct fi_cq_data_entry e;
		ssize_t ret = fi_cq_sread(n.side[0].cq, &e, 1, NULL, 10);

		if (ret == 1) {
			struct caller *c = e.op_context;

			atomic_fetch_add(&c->received, 1);
		} else if (ret == -FI_EAVAIL) {
			struct caller *c;

			ret = fi_cq_readerr(n.side[0].cq, &err, 0);
			if (ret == -FI_EAGAIN)
				continue; /* the other reader has it */
			MT_CHECK(ret == 1 && err.err == FI_ECANCELED);
			c = err.op_context;
			atomic_fetch_add(&c->cancelled, 1);
		} else {
			MT_CHECK(ret == -FI_EAGAIN);
		}
	}
	return NULL;
}

/* Accepts, sends a message as soon as it may, and leaves. */
static void serve_event(uint32_t event, const struct fi_eq_cm_entry *entry)
{
	struct net_side *s = &n.side[1];
	struct fi_cq_data_entry e;
	struct fid_ep *ep;

	switch (event) {
	case FI_CONNREQ:
		MT_CHECK(net_make_ep(&n, 1, entry->info, &ep) == 0);
		fi_freeinfo(entry->info);
		MT_CHECK(fi_accept(ep, NULL, 0) == 0);
		break;
	case FI_CONNECTED:
		ep = rcm_container_of(entry->fid, struct fid_ep, fid);
		MT_CHECK(fi_send(ep, s->buf, 64, s->desc, 0, NULL) == 0);
		MT_CHECK(fi_cq_sread(s->cq, &e, 1, NULL, -1) == 1);
		MT_CHECK(fi_close(&ep->fid) == 0);
		break;
	default:
		MT_CHECK(!"a known event");
	}
}

int main(void)
{
	pthread_t threads[CALLERS], readers[2];
	struct fi_eq_cm_entry entry;
	uint32_t event;

	net_begin(&n, NULL, 0);
	fake_be_patient();
	n.hints->domain_attr->threading = FI_THREAD_SAFE;
	n.hints->domain_attr->control_progress = FI_PROGRESS_AUTO;
	n.eq_attr.wait_obj = FI_WAIT_FD;
	n.cq_attr.wait_obj = FI_WAIT_FD;
	MT_CHECK(net_open(&n) == 0);
	MT_CHECK(net_listen(&n) == 0);
	for (int i = 0; i < 2; i++)
		readers[i] = mt_start(read_queue, NULL);
	for (int i = 0; i < CALLERS; i++)
		threads[i] = mt_start(call, &callers[i]);
	for (int i = 0; i < 2 * CALLERS * ROUNDS; i++) {
		MT_CHECK(fi_eq_sread(n.side[1].eq, &event, &entry,
				     sizeof(entry), -1, 0) == sizeof(entry));
		serve_event(event, &entry);
	}
	for (int i = 0; i < CALLERS; i++)
		mt_join(threads[i]);
	atomic_store(&done, true);
	for (int i = 0; i < 2; i++)
		mt_join(readers[i]);
	/* closed endpoints leave no events behind */
	MT_CHECK(fi_eq_read(n.side[0].eq, &event, &entry, sizeof(entry), 0) ==
		 -FI_EAGAIN);
	net_end(&n);
	return 0;
}
