/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * The threading levels below FI_THREAD_SAFE, used to their limits. Event
 * queues belong to no domain: with FI_THREAD_DOMAIN one thread reads them
 * while another does everything else. With FI_THREAD_COMPLETION two threads
 * have a completion queue each. With FI_THREAD_FID and FI_THREAD_ENDPOINT
 * two endpoints on one completion queue are two threads', and the queue a
 * third one's.
 */

#include "mt.h"

#define ROUNDS	 150
#define MESSAGES 1500

static struct net n;

/* What the reader of the event queues has seen last. */
static pthread_mutex_t box_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fi_info *box_request;
static atomic_bool done;

static void *read_events(void *arg)
{
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_cm_entry entry;
	uint32_t event;

	(void)arg;
	for (int side = 0; !atomic_load(&done); side = !side) {
		ssize_t ret = fi_eq_sread(n.side[side].eq, &event, &entry,
					  sizeof(entry), 1, 0);

		if (ret == -FI_EAVAIL)
			(void)fi_eq_readerr(n.side[side].eq, &err, 0);
		if (ret < 0 || event != FI_CONNREQ)
			continue;
		pthread_mutex_lock(&box_lock);
		box_request = entry.info;
		pthread_mutex_unlock(&box_lock);
	}
	return NULL;
}

static struct fi_info *take_request(void)
{
	struct fi_info *info = NULL;

	while (!info) {
		sched_yield();
		pthread_mutex_lock(&box_lock);
		info = box_request;
		box_request = NULL;
		pthread_mutex_unlock(&box_lock);
	}
	return info;
}

/* All entries of both sides' queues; how many there were. */
static int drain(void)
{
	struct net_comp comp;
	int count = 0;

	for (int side = 0; side < 2; side++)
		while (!net_comp(&n, n.side[side].cq, &comp))
			count++;
	return count;
}

/* The gates open and shut under a thread that posts without a lock. */
static void post_until_it_breaks(struct fid_ep *a, struct fid_ep *b)
{
	struct net_side *s = &n.side[0], *t = &n.side[1];
	int posted = 0, read = 0;
	ssize_t ret;

	for (bool broke = false; !broke;) {
		ret = fi_recv(b, t->buf, 64, t->desc, 0, NULL);
		posted += !ret;
		broke |= ret == -FI_ESHUTDOWN;
		ret = fi_send(a, s->buf, posted > 8 ? 128 : 64, s->desc, 0,
			      NULL);
		posted += !ret;
		broke |= ret == -FI_ESHUTDOWN;
		read += drain();
	}
	MT_CHECK(fi_close(&a->fid) == 0);
	MT_CHECK(fi_close(&b->fid) == 0);
	MT_CHECK(read + drain() == posted);
}

static void domain_level(void)
{
	struct fi_info *info;
	struct fid_ep *a, *b;
	pthread_t reader;

	net_begin(&n, NULL, 0);
	fake_be_patient();
	n.hints->domain_attr->threading = FI_THREAD_DOMAIN;
	n.eq_attr.wait_obj = FI_WAIT_FD;
	MT_CHECK(net_open(&n) == 0 && net_listen(&n) == 0);
	MT_CHECK(n.info->domain_attr->threading == FI_THREAD_DOMAIN);
	reader = mt_start(read_events, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		MT_CHECK(net_make_ep(&n, 0, n.info, &a) == 0);
		MT_CHECK(fi_connect(a, &n.addr, NULL, 0) == 0);
		info = take_request();
		MT_CHECK(net_make_ep(&n, 1, info, &b) == 0);
		fi_freeinfo(info);
		MT_CHECK(fi_accept(b, NULL, 0) == 0);
		post_until_it_breaks(a, b);
	}
	atomic_store(&done, true);
	mt_join(reader);
	net_end(&n);
}

/* A thread's own endpoint and, by the level, completion queue. */
static struct lane {
	struct fid_ep *ep[2];
	struct fid_cq *cq;
	bool reads;
	atomic_uint read;
} lanes[2];

static void read_lane(struct lane *own)
{
	struct fi_cq_data_entry entry[4];
	ssize_t ret = fi_cq_read(own->cq, entry, 4);

	MT_CHECK(ret > 0 || ret == -FI_EAGAIN);
	while (ret-- > 0) {
		struct lane *lane = entry[ret].op_context;

		atomic_fetch_add(&lane->read, 1);
	}
}

/* From one end of its pair to the other, and no more than that. */
static void *run_lane(void *arg)
{
	struct lane *lane = arg;
	size_t off = (size_t)(lane - lanes) * 256;
	uint8_t *from = n.side[0].buf + off, *to = n.side[1].buf + off;

	for (unsigned int i = 0; i < MESSAGES; i++) {
		MT_CHECK(fi_recv(lane->ep[1], to, 256, n.side[1].desc, 0,
				 lane) == 0);
		MT_CHECK(fi_send(lane->ep[0], from, 256, n.side[0].desc, 0,
				 lane) == 0);
		while (atomic_load(&lane->read) < 2 * (i + 1)) {
			if (lane->reads)
				read_lane(lane);
			else
				sched_yield();
		}
	}
	return NULL;
}

static void *read_shared(void *arg)
{
	while (!atomic_load(&done)) {
		read_lane(arg);
		sched_yield();
	}
	return NULL;
}

static void own_queues(enum fi_threading level)
{
	bool shared = level != FI_THREAD_COMPLETION;
	pthread_t threads[2], reader = pthread_self(); /* if nobody reads */
	struct fid_cq *cq[2];

	net_begin(&n, NULL, 0);
	fake_be_patient();
	n.hints->domain_attr->threading = level;
	MT_CHECK(net_open_domain(&n) == 0);
	MT_CHECK(net_open_side(&n, 0) == 0 && net_open_side(&n, 1) == 0);
	MT_CHECK(net_listen(&n) == 0);
	cq[0] = n.side[0].cq;
	cq[1] = n.side[1].cq;
	for (int i = 0; i < 2; i++) {
		struct lane *lane = &lanes[i];

		lane->cq = cq[shared ? 0 : i];
		lane->reads = !shared;
		atomic_store(&lane->read, 0);
		/* both ends on the lane's own queue */
		n.side[0].cq = lane->cq;
		n.side[1].cq = lane->cq;
		MT_CHECK(net_join_more(&n, &lane->ep[0], &lane->ep[1]) == 0);
	}
	atomic_store(&done, false);
	for (int i = 0; i < 2; i++)
		threads[i] = mt_start(run_lane, &lanes[i]);
	if (shared)
		reader = mt_start(read_shared, &lanes[0]);
	for (int i = 0; i < 2; i++)
		mt_join(threads[i]);
	atomic_store(&done, true);
	if (shared)
		mt_join(reader);
	for (int i = 0; i < 4; i++)
		MT_CHECK(fi_close(&lanes[i / 2].ep[i % 2]->fid) == 0);
	n.side[0].cq = cq[0];
	n.side[1].cq = cq[1];
	net_end(&n);
}

int main(void)
{
	domain_level();
	own_queues(FI_THREAD_COMPLETION);
	own_queues(FI_THREAD_FID);
	own_queues(FI_THREAD_ENDPOINT);
	return 0;
}
