/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Two threads read one event queue and answer the requests that they find,
 * while a third connects: every request is seen once, every connection
 * stands, and every end is told once.
 */

#include "mt.h"

#define ROUNDS 200

static struct net n;
static struct fid_ep *accepted[ROUNDS];
static atomic_uint requests, connected, ends;

static void handle(uint32_t event, const struct fi_eq_cm_entry *entry)
{
	struct fid_ep *ep;
	unsigned int i;

	switch (event) {
	case FI_CONNREQ:
		i = atomic_fetch_add(&requests, 1);
		MT_CHECK(i < ROUNDS);
		MT_CHECK(net_make_ep(&n, 1, entry->info, &ep) == 0);
		accepted[i] = ep;
		MT_CHECK(fi_accept(ep, NULL, 0) == 0);
		fi_freeinfo(entry->info);
		break;
	case FI_CONNECTED:
		atomic_fetch_add(&connected, 1);
		break;
	case FI_SHUTDOWN:
		atomic_fetch_add(&ends, 1);
		break;
	default:
		MT_CHECK(!"a known event");
	}
}

static void *serve(void *arg)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;

	(void)arg;
	while (atomic_load(&ends) < ROUNDS) {
		ssize_t ret = fi_eq_sread(n.side[1].eq, &event, &entry,
					  sizeof(entry), 20, 0);

		MT_CHECK(ret == sizeof(entry) || ret == -FI_EAGAIN);
		if (ret > 0)
			handle(event, &entry);
	}
	return NULL;
}

static uint32_t next_event(void)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;

	MT_CHECK(fi_eq_sread(n.side[0].eq, &event, &entry, sizeof(entry), -1,
			     0) == sizeof(entry));
	return event;
}

static void *call(void *arg)
{
	struct fid_ep *ep;

	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		MT_CHECK(net_make_ep(&n, 0, n.info, &ep) == 0);
		MT_CHECK(fi_connect(ep, &n.addr, NULL, 0) == 0);
		MT_CHECK(next_event() == FI_CONNECTED);
		MT_CHECK(fi_close(&ep->fid) == 0);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	mt_open(&n);
	MT_CHECK(net_listen(&n) == 0);
	for (int i = 0; i < 3; i++)
		threads[i] = mt_start(i ? serve : call, NULL);
	for (int i = 0; i < 3; i++)
		mt_join(threads[i]);
	MT_CHECK(atomic_load(&requests) == ROUNDS);
	MT_CHECK(atomic_load(&connected) == ROUNDS);
	MT_CHECK(atomic_load(&ends) == ROUNDS);
	for (int i = 0; i < ROUNDS; i++)
		MT_CHECK(fi_close(&accepted[i]->fid) == 0);
	net_end(&n);
	return 0;
}
