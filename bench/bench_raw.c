/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* also without the build's flags */
#ifndef BENCH_RAW
#define BENCH_RAW
#endif
#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

/* How long resolving may take, in ms. */
#define BENCH_PATIENCE 5000

#define bench_ok(call)                                               \
	do {                                                         \
		if (call)                                            \
			bench_die("%s: %s", #call, strerror(errno)); \
	} while (0)

void bench_net_open(struct bench_net *net, const struct bench_opts *opts)
{
	memset(net, 0, sizeof(*net));
	net->addr.sin_family = AF_INET;
	if (inet_pton(AF_INET, opts->address, &net->addr.sin_addr) != 1)
		bench_die("not an IPv4 address: %s", opts->address);
	net->channel = rdma_create_event_channel();
	bench_ok(!net->channel);
	bench_ok(rdma_create_id(net->channel, &net->listener, NULL,
				RDMA_PS_TCP));
	bench_ok(rdma_bind_addr(net->listener, (struct sockaddr *)&net->addr));
	bench_ok(rdma_listen(net->listener, 16));
	net->addr.sin_port = rdma_get_src_port(net->listener);
	net->pd = ibv_alloc_pd(net->listener->verbs);
	bench_ok(!net->pd);
	net->mr = ibv_reg_mr(net->pd, net->buf, sizeof(net->buf),
			     IBV_ACCESS_LOCAL_WRITE);
	bench_ok(!net->mr);
}

void bench_net_close(struct bench_net *net)
{
	bench_ok(ibv_dereg_mr(net->mr));
	bench_ok(ibv_dealloc_pd(net->pd));
	bench_ok(rdma_destroy_id(net->listener));
	rdma_destroy_event_channel(net->channel);
}

void bench_cq_open(struct bench_net *net, struct bench_cq *cq, size_t size)
{
	cq->cq = ibv_create_cq(net->listener->verbs, (int)size, NULL, NULL, 0);
	bench_ok(!cq->cq);
}

void bench_cq_close(struct bench_cq *cq)
{
	bench_ok(ibv_destroy_cq(cq->cq));
}

void bench_wc_failed(const struct ibv_wc *wc)
{
	bench_die("a completion with an error: %s",
		  ibv_wc_status_str(wc->status));
}

static void bench_end_open(struct bench_net *net, struct bench_end *end)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = end->txcq->cq,
		.recv_cq = end->rxcq->cq,
		.cap = {
			.max_send_wr = BENCH_QUEUE,
			.max_recv_wr = BENCH_QUEUE,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = BENCH_INLINE,
		},
		.qp_type = IBV_QPT_RC,
	};

	bench_ok(rdma_create_qp(end->id, net->pd, &attr));
	end->qp = end->id->qp;
	end->max_inline = attr.cap.max_inline_data;
	end->buf = net->buf;
	end->lkey = net->mr->lkey;
	end->chained = 0;
}

static void bench_on_event(struct bench_net *net, struct bench_pair *pair,
			   struct rdma_cm_event *event, int *connected)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7,
					 .retry_count = 7 };

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		bench_ok(rdma_resolve_route(pair->a.id, BENCH_PATIENCE));
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		bench_end_open(net, &pair->a);
		bench_ok(rdma_connect(pair->a.id, &param));
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		pair->b.id = event->id;
		bench_end_open(net, &pair->b);
		bench_ok(rdma_accept(pair->b.id, &param));
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		++*connected;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		bench_die("connecting: %s, status %d",
			  rdma_event_str(event->event), event->status);
	}
}

void bench_pair_connect(struct bench_net *net, struct bench_pair *pair)
{
	struct rdma_cm_event *event;
	int connected = 0;

	bench_ok(rdma_create_id(net->channel, &pair->a.id, NULL, RDMA_PS_TCP));
	bench_ok(rdma_resolve_addr(pair->a.id, NULL,
				   (struct sockaddr *)&net->addr,
				   BENCH_PATIENCE));
	while (connected < 2) {
		bench_ok(rdma_get_cm_event(net->channel, &event));
		bench_on_event(net, pair, event, &connected);
		bench_ok(rdma_ack_cm_event(event));
	}
}

static void bench_end_close(struct bench_end *end)
{
	bench_ok(rdma_disconnect(end->id));
	rdma_destroy_qp(end->id);
	bench_ok(rdma_destroy_id(end->id));
}

void bench_pair_disconnect(struct bench_pair *pair)
{
	bench_end_close(&pair->a);
	bench_end_close(&pair->b);
}
