/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * One thread sleeps on a wait set and polls a poll set for what has woken it,
 * another sends, and a third opens and closes members of both sets: each
 * message wakes the sleeper, and nobody is left in a set.
 */

#include "mt.h"

#define MESSAGES 2000

static struct net n;
static struct fid_wait *set;
static struct fid_poll *polls;
static atomic_uint received;
static atomic_bool done;

/* Reads what the named queues have; each context is its side. */
static void read_named(void **contexts, int count)
{
	struct fi_cq_data_entry e[4];

	for (int i = 0; i < count; i++) {
		struct net_side *s = contexts[i];
		ssize_t ret;

		if (!s) /* of a queue that nobody uses */
			continue;
		ret = fi_cq_read(s->cq, e, 4);
		MT_CHECK(ret > 0 || ret == -FI_EAGAIN);
		if (ret > 0 && s == &n.side[1])
			atomic_fetch_add(&received, (unsigned int)ret);
	}
}

static void *sleep_and_poll(void *arg)
{
	void *contexts[2];
	int ret;

	(void)arg;
	while (atomic_load(&received) < MESSAGES) {
		ret = set->ops->wait(set, -1);
		MT_CHECK(ret == 0);
		ret = polls->ops->poll(polls, contexts, 2);
		MT_CHECK(ret >= 0);
		read_named(contexts, ret);
	}
	atomic_store(&done, true);
	return NULL;
}

static void *send_all(void *arg)
{
	struct net_side *s = &n.side[0], *t = &n.side[1];

	(void)arg;
	for (unsigned int i = 0; i < MESSAGES; i++) {
		MT_CHECK(fi_recv(t->ep, t->buf, 64, t->desc, 0, &n) == 0);
		MT_CHECK(fi_send(s->ep, s->buf, 64, s->desc, 0, &n) == 0);
		while (atomic_load(&received) <= i)
			sched_yield();
	}
	return NULL;
}

/* Members without anything to tell, as far as the others can see. */
static void *come_and_go(void *arg)
{
	struct fid_cq *cq;
	struct fid_eq *eq;

	(void)arg;
	while (!atomic_load(&done)) {
		MT_CHECK(fi_cq_open(n.domain, &n.cq_attr, &cq, NULL) == 0);
		MT_CHECK(fi_eq_open(n.fabric, &n.eq_attr, &eq, NULL) == 0);
		MT_CHECK(polls->ops->poll_add(polls, &cq->fid, 0) == 0);
		sched_yield();
		MT_CHECK(polls->ops->poll_del(polls, &cq->fid, 0) == 0);
		MT_CHECK(fi_close(&cq->fid) == 0);
		MT_CHECK(fi_close(&eq->fid) == 0);
	}
	return NULL;
}

int main(void)
{
	static void *(*const work[])(void *) = { sleep_and_poll, send_all,
						 come_and_go };
	struct fi_wait_attr wait_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_poll_attr poll_attr = { 0 };
	struct fid_fabric *fabric;
	pthread_t threads[3];

	net_begin(&n, NULL, 0);
	fake_be_patient();
	n.hints->domain_attr->threading = FI_THREAD_SAFE;
	n.hints->domain_attr->control_progress = FI_PROGRESS_AUTO;
	MT_CHECK(net_open_domain(&n) == 0);
	fabric = n.fabric;
	MT_CHECK(fabric->ops->wait_open(fabric, &wait_attr, &set) == 0);
	MT_CHECK(n.domain->ops->poll_open(n.domain, &poll_attr, &polls) == 0);
	n.eq_attr.wait_obj = FI_WAIT_SET;
	n.eq_attr.wait_set = set;
	n.cq_attr.wait_obj = FI_WAIT_SET;
	n.cq_attr.wait_set = set;
	for (int i = 0; i < 2; i++) {
		MT_CHECK(net_open_side(&n, i) == 0);
		n.side[i].cq->fid.context = &n.side[i];
		MT_CHECK(polls->ops->poll_add(polls, &n.side[i].cq->fid, 0) ==
			 0);
	}
	MT_CHECK(net_join(&n) == 0);
	for (int i = 0; i < 3; i++)
		threads[i] = mt_start(work[i], NULL);
	for (int i = 0; i < 3; i++)
		mt_join(threads[i]);
	for (int i = 0; i < 2; i++)
		MT_CHECK(polls->ops->poll_del(polls, &n.side[i].cq->fid, 0) ==
			 0);
	MT_CHECK(fi_close(&polls->fid) == 0);
	n.fabric = NULL; /* the wait set is still on it */
	MT_CHECK(net_close(&n) == 0);
	MT_CHECK(fi_close(&set->fid) == 0);
	MT_CHECK(fi_close(&fabric->fid) == 0);
	MT_CHECK(fake_remove() == 0);
	return 0;
}
