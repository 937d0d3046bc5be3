/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <stdlib.h>
#include <string.h>

#include "real.h"

/*
 * What a layer of reliable datagrams (ofi_rxm) makes of a device: one event
 * queue and one completion queue for the connections to all peers, receives
 * posted before there is a connection, and an end without goodbye.
 */

#define PEERS 300
#define DEPTH 64 /* so that all together need more than one hardware queue */
#define SENDS 8

struct hub {
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *ep[PEERS];
	int n_eps, n_up;
	bool posted[PEERS][2 * DEPTH]; /* the contexts: sends, receives */
	int n_posted, n_good, n_cancelled, n_failed;
};

static struct hub hub[2]; /* the first connects */
static char room[2][64];
static void *desc[2];

static void hub_open(struct real *r, struct hub *h)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .size = 262144,
				      .format = FI_CQ_FORMAT_DATA };

	memset(h, 0, sizeof(*h));
	real_ok(fi_eq_open(r->fabric, &eq_attr, &h->eq, NULL));
	real_ok(fi_cq_open(r->domain, &cq_attr, &h->cq, NULL));
	desc[h - hub] = real_mr(r, room[h - hub], sizeof(room[0]),
				FI_SEND | FI_RECV);
}

static void hub_post(struct hub *h, int i, int k, bool send)
{
	bool *posted = &h->posted[i][k];
	char *buf = room[h - hub];

	cr_assert_not(*posted);
	*posted = true;
	h->n_posted++;
	if (send)
		real_ok(fi_send(h->ep[i], buf, 32, desc[h - hub], 0, posted));
	else
		real_ok(fi_recv(h->ep[i], buf, 64, desc[h - hub], 0, posted));
}

static void hub_add(struct real *r, struct hub *h, struct fi_info *info)
{
	int i = h->n_eps++;

	real_ok(fi_endpoint(r->domain, info, &h->ep[i], NULL));
	real_ok(fi_ep_bind(h->ep[i], &h->eq->fid, 0));
	real_ok(fi_ep_bind(h->ep[i], &h->cq->fid, FI_TRANSMIT | FI_RECV));
	real_ok(fi_enable(h->ep[i]));
	for (int k = DEPTH; k < 2 * DEPTH; k++)
		hub_post(h, i, k, false);
}

/* One look for FI_CONNECTED. */
static void hub_step(struct hub *h)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t n = fi_eq_read(h->eq, &event, &entry, sizeof(entry), 0);

	if (n == -FI_EAGAIN)
		return;
	real_ok(n);
	cr_assert_eq(event, FI_CONNECTED);
	h->n_up++;
}

/* One more connection; the steps of each side are taken by its own reads. */
static void hub_join(struct real *r, struct fi_info *info)
{
	struct fi_eq_cm_entry entry = { 0 };
	uint32_t event;
	ssize_t n;

	hub_add(r, &hub[0], info);
	real_ok(fi_connect(hub[0].ep[hub[0].n_eps - 1], info->dest_addr, NULL,
			   0));
	while ((n = fi_eq_read(r->eq, &event, &entry, sizeof(entry), 0)) ==
	       -FI_EAGAIN)
		hub_step(&hub[0]);
	real_ok(n);
	cr_assert_eq(event, FI_CONNREQ);
	hub_add(r, &hub[1], entry.info);
	real_ok(fi_accept(hub[1].ep[hub[1].n_eps - 1], NULL, 0));
	fi_freeinfo(entry.info);
	while (hub[0].n_up < hub[0].n_eps || hub[1].n_up < hub[1].n_eps) {
		hub_step(&hub[0]);
		hub_step(&hub[1]);
	}
}

static void hub_back(struct hub *h, void *context)
{
	bool *posted = context;

	cr_assert_geq(posted, &h->posted[0][0]);
	cr_assert_leq(posted, &h->posted[PEERS - 1][2 * DEPTH - 1]);
	cr_assert(*posted, "an entry came twice");
	*posted = false;
	h->n_posted--;
}

/* Reads what there is; the number of entries. */
static int hub_read(struct hub *h)
{
	struct fi_cq_data_entry entries[32];
	struct fi_cq_err_entry err = { 0 };
	ssize_t n, i;

	n = fi_cq_read(h->cq, entries, 32);
	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL) {
		real_ok(fi_cq_readerr(h->cq, &err, 0));
		hub_back(h, err.op_context);
		if (err.err == FI_ECANCELED)
			h->n_cancelled++;
		else
			h->n_failed++;
		return 1;
	}
	real_ok(n);
	for (i = 0; i < n; i++)
		hub_back(h, entries[i].op_context);
	h->n_good += (int)n;
	return (int)n;
}

static void hub_close_eps(struct hub *h, int first, int step)
{
	for (int i = first; i < h->n_eps; i += step) {
		if (h->ep[i])
			real_ok(fi_close(&h->ep[i]->fid));
		h->ep[i] = NULL;
	}
}

static void hubs_open(struct real *r)
{
	struct real_opts opts = {
		.tx_size = DEPTH,
		.rx_size = DEPTH,
		.limit = 240,
	};
	struct fi_info *info;

	real_open(r, &opts);
	hub_open(r, &hub[0]);
	hub_open(r, &hub[1]);
	info = real_peer_info(r);
	for (int i = 0; i < PEERS; i++)
		hub_join(r, info);
	fi_freeinfo(info);
}

static void hubs_close(struct real *r)
{
	for (int i = 0; i < 2; i++) {
		hub_close_eps(&hub[i], 0, 1);
		while (hub_read(&hub[i]))
			;
		cr_assert_eq(hub[i].n_posted, 0, "%d are not given back",
			     hub[i].n_posted);
		real_ok(fi_close(&hub[i].cq->fid));
		real_ok(fi_close(&hub[i].eq->fid));
	}
	real_close(r);
}

static void hubs_send(int n)
{
	for (int i = 0; i < PEERS; i++) {
		for (int k = 0; k < n; k++) {
			hub_post(&hub[0], i, k, true);
			hub_post(&hub[1], i, k, true);
		}
	}
}

/* LF#10692, LF#7287: many connections on one queue that is beyond the
 * device's largest; all messages arrive, and the end gives everything back. */
Test(layered, hundreds_of_connections_share_one_queue)
{
	struct real r;

	hubs_open(&r);
	hubs_send(SENDS);
	while (hub[0].n_good < 2 * SENDS * PEERS ||
	       hub[1].n_good < 2 * SENDS * PEERS) {
		(void)hub_read(&hub[0]);
		(void)hub_read(&hub[1]);
	}
	cr_assert_eq(hub[0].n_cancelled + hub[0].n_failed, 0);
	cr_assert_eq(hub[1].n_cancelled + hub[1].n_failed, 0);
	/* in the middle of traffic, and nobody has read meanwhile */
	hubs_send(SENDS);
	hub_close_eps(&hub[0], 0, 2);
	hub_close_eps(&hub[1], 1, 2);
	hubs_close(&r);
	cr_assert_gt(hub[0].n_cancelled, 0);
	cr_assert_gt(hub[1].n_cancelled, 0);
}
