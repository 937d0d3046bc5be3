/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* How long a connection may take, in ms. */
#define BENCH_PATIENCE 20000

#define bench_ok(call)                                                       \
	do {                                                                 \
		long long ret_ = (call);                                     \
		if (ret_ < 0)                                                \
			bench_die("%s: %s", #call, fi_strerror((int)-ret_)); \
	} while (0)

static struct fi_info *bench_hints(const struct bench_opts *opts)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		bench_die("no memory");
	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = FI_MSG;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED |
				      FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	hints->domain_attr->threading = opts->thread_domain ? FI_THREAD_DOMAIN :
							      FI_THREAD_SAFE;
	hints->fabric_attr->prov_name = strdup(opts->provider);
	hints->tx_attr->size = BENCH_QUEUE;
	hints->rx_attr->size = BENCH_QUEUE;
	return hints;
}

static void bench_listen(struct bench_net *net)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };

	bench_ok(fi_eq_open(net->fabric, &attr, &net->eq, NULL));
	bench_ok(fi_passive_ep(net->fabric, net->info, &net->pep, NULL));
	bench_ok(fi_pep_bind(net->pep, &net->eq->fid, 0));
	bench_ok(fi_listen(net->pep));
}

/* The info to connect with holds the listener's address. */
static void bench_find_peer(struct bench_net *net, struct fi_info *hints)
{
	size_t len = sizeof(struct sockaddr_storage);

	hints->dest_addr = calloc(1, len);
	if (!hints->dest_addr)
		bench_die("no memory");
	bench_ok(fi_getname(&net->pep->fid, hints->dest_addr, &len));
	hints->dest_addrlen = len;
	bench_ok(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints,
			    &net->peer));
}

void bench_net_open(struct bench_net *net, const struct bench_opts *opts)
{
	struct fi_info *hints = bench_hints(opts);

	memset(net, 0, sizeof(*net));
	bench_ok(fi_getinfo(FI_VERSION(1, 17), opts->address, "0", FI_SOURCE,
			    hints, &net->info));
	if (strcmp(net->info->fabric_attr->prov_name, opts->provider) != 0)
		bench_die("the provider is %s, not %s",
			  net->info->fabric_attr->prov_name, opts->provider);
	bench_ok(fi_fabric(net->info->fabric_attr, &net->fabric, NULL));
	bench_ok(fi_domain(net->fabric, net->info, &net->domain, NULL));
	bench_ok(fi_mr_reg(net->domain, net->buf, sizeof(net->buf),
			   FI_SEND | FI_RECV, 0, 0, 0, &net->mr, NULL));
	bench_listen(net);
	bench_find_peer(net, hints);
	fi_freeinfo(hints);
}

void bench_net_close(struct bench_net *net)
{
	bench_ok(fi_close(&net->pep->fid));
	bench_ok(fi_close(&net->mr->fid));
	bench_ok(fi_close(&net->domain->fid));
	bench_ok(fi_close(&net->eq->fid));
	bench_ok(fi_close(&net->fabric->fid));
	fi_freeinfo(net->peer);
	fi_freeinfo(net->info);
}

void bench_cq_open(struct bench_net *net, struct bench_cq *cq, size_t size)
{
	struct fi_cq_attr attr = {
		.size = size,
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = FI_WAIT_NONE,
	};

	bench_ok(fi_cq_open(net->domain, &attr, &cq->cq, NULL));
}

void bench_cq_close(struct bench_cq *cq)
{
	bench_ok(fi_close(&cq->cq->fid));
}

void bench_cq_failed(struct fid_cq *cq, ssize_t ret)
{
	struct fi_cq_err_entry err = { 0 };

	if (ret == -FI_EAVAIL && fi_cq_readerr(cq, &err, 0) > 0)
		bench_die("a completion with an error: %s (%s)",
			  fi_strerror(err.err),
			  fi_cq_strerror(cq, err.prov_errno, NULL, NULL, 0));
	bench_die("fi_cq_read: %s", fi_strerror((int)-ret));
}

static void bench_end_open(struct bench_net *net, struct bench_end *end,
			   struct fi_info *info)
{
	bench_ok(fi_endpoint(net->domain, info, &end->ep, NULL));
	bench_ok(fi_ep_bind(end->ep, &net->eq->fid, 0));
	if (end->txcq == end->rxcq) {
		bench_ok(fi_ep_bind(end->ep, &end->txcq->cq->fid,
				    FI_TRANSMIT | FI_RECV));
	} else {
		bench_ok(fi_ep_bind(end->ep, &end->txcq->cq->fid, FI_TRANSMIT));
		bench_ok(fi_ep_bind(end->ep, &end->rxcq->cq->fid, FI_RECV));
	}
	bench_ok(fi_enable(end->ep));
	end->buf = net->buf;
	end->desc = fi_mr_desc(net->mr);
}

/* The next event but the ends of earlier connections. */
static uint32_t bench_event(struct bench_net *net, struct fi_eq_cm_entry *entry)
{
	struct fi_eq_err_entry err = { 0 };
	uint32_t event = FI_SHUTDOWN;
	ssize_t ret;

	while (event == FI_SHUTDOWN) {
		ret = fi_eq_sread(net->eq, &event, entry, sizeof(*entry),
				  BENCH_PATIENCE, 0);
		if (ret == -FI_EAVAIL && fi_eq_readerr(net->eq, &err, 0) > 0)
			bench_die("an event with an error: %s",
				  fi_strerror(err.err));
		bench_ok(ret);
	}
	return event;
}

void bench_pair_connect(struct bench_net *net, struct bench_pair *pair)
{
	struct fi_eq_cm_entry entry;
	int connected = 0;

	bench_end_open(net, &pair->a, net->peer);
	bench_ok(fi_connect(pair->a.ep, net->peer->dest_addr, NULL, 0));
	while (connected < 2) {
		if (bench_event(net, &entry) == FI_CONNECTED) {
			connected++;
			continue;
		}
		bench_end_open(net, &pair->b, entry.info);
		fi_freeinfo(entry.info);
		bench_ok(fi_accept(pair->b.ep, NULL, 0));
	}
}

void bench_pair_disconnect(struct bench_pair *pair)
{
	bench_ok(fi_close(&pair->a.ep->fid));
	bench_ok(fi_close(&pair->b.ep->fid));
}
