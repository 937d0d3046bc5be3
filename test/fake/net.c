/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "net.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_int.h"
#include "rcm_dev.h"
#include "rcm_fabric.h"
#include "rcm_getinfo.h"

#define NET_ROUNDS  40
#define NET_VERSION FI_VERSION(1, 17)

int net_init(struct net *n)
{
	memset(n, 0, sizeof(*n));
	n->cq_attr.format = FI_CQ_FORMAT_DATA;
	n->cq_attr.wait_obj = FI_WAIT_NONE;
	n->eq_attr.wait_obj = FI_WAIT_NONE;
	fake_depth++; /* not the provider's allocations */
	n->hints = fi_allocinfo();
	fake_depth--;
	if (!n->hints)
		return -FI_ENOMEM;
	n->hints->caps = FI_MSG;
	n->hints->ep_attr->type = FI_EP_MSG;
	n->hints->addr_format = FI_SOCKADDR_IN;
	n->hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED |
					 FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	return 0;
}

void net_begin(struct net *n, const struct fake_dev_conf *conf,
	       unsigned int n_devs)
{
	/* twice: a test of a suite with .init has its own, too, and both run */
	if (n->hints)
		abort();
	if (n_devs)
		fake_install_devs(conf, n_devs);
	else
		fake_install();
	rcm_dev_list_reset();
	if (net_init(n))
		abort();
}

void net_end(struct net *n)
{
	int ret = net_close(n);

	if (ret)
		fprintf(stderr, "net: closing gave %d\n", ret);
	rcm_dev_list_reset();
	if (fake_remove() || ret)
		abort();
}

int net_open_domain(struct net *n)
{
	int ret;

	ret = rcm_getinfo(NET_VERSION, NULL, NULL, n->getinfo_flags, n->hints,
			  &n->info);
	if (ret)
		return ret;
	/* as the core does with what a provider gives it */
	n->info->fabric_attr->api_version = NET_VERSION;
	fake_depth++;
	n->info->fabric_attr->prov_name = strdup("rcm");
	fake_depth--;
	ret = rcm_fabric_open(n->info->fabric_attr, &n->fabric, NULL);
	if (ret)
		return ret;
	return fi_domain(n->fabric, n->info, &n->domain, NULL);
}

int net_open_side(struct net *n, int side)
{
	struct net_side *s = &n->side[side];
	uint64_t access = FI_SEND | FI_RECV;
	int ret;

	ret = fi_eq_open(n->fabric, &n->eq_attr, &s->eq, NULL);
	if (ret)
		return ret;
	ret = fi_cq_open(n->domain, &n->cq_attr, &s->cq, NULL);
	if (!ret && n->two_cqs)
		ret = fi_cq_open(n->domain, &n->cq_attr, &s->rx_cq, NULL);
	if (ret)
		return ret;
	/* then a buffer needs none */
	if (!n->info->domain_attr->mr_mode)
		return 0;
	access |= n->info->caps &
		  (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE);
	ret = fi_mr_reg(n->domain, s->buf, sizeof(s->buf), access, 0, 0, 0,
			&s->mr, NULL);
	if (ret)
		return ret;
	s->desc = fi_mr_desc(s->mr);
	return 0;
}

int net_open(struct net *n)
{
	int ret = net_open_domain(n);

	if (!ret)
		ret = net_open_side(n, 0);
	if (!ret)
		ret = net_open_side(n, 1);
	return ret;
}

int net_listen(struct net *n)
{
	int ret;

	ret = fi_passive_ep(n->fabric, n->info, &n->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(n->pep, &n->side[1].eq->fid, 0);
	if (!ret)
		ret = fi_listen(n->pep);
	if (ret)
		return ret;
	n->addrlen = sizeof(n->addr);
	return fi_getname(&n->pep->fid, &n->addr, &n->addrlen);
}

int net_bind_cqs(struct net *n, int side, struct fid_ep *ep)
{
	struct net_side *s = &n->side[side];
	struct fid_cq *rx = s->rx_cq ? s->rx_cq : s->cq;
	int ret;

	ret = fi_ep_bind(ep, &s->cq->fid, FI_TRANSMIT | n->tx_bind);
	if (!ret)
		ret = fi_ep_bind(ep, &rx->fid, FI_RECV | n->rx_bind);
	return ret;
}

int net_make_ep(struct net *n, int side, struct fi_info *info,
		struct fid_ep **ep)
{
	struct net_side *s = &n->side[side];
	int ret;

	ret = fi_endpoint(n->domain, info, ep, s);
	if (ret)
		return ret;
	ret = fi_ep_bind(*ep, &s->eq->fid, 0);
	if (!ret)
		ret = n->bind_ep ? n->bind_ep(n, side, *ep) :
				   net_bind_cqs(n, side, *ep);
	if (!ret && n->side[side].srx)
		ret = fi_ep_bind(*ep, &n->side[side].srx->fid, 0);
	if (!ret)
		ret = fi_enable(*ep);
	return ret;
}

int net_endpoint(struct net *n, int side, struct fi_info *info)
{
	return net_make_ep(n, side, info, &n->side[side].ep);
}

int net_connect(struct net *n, const void *data, size_t len)
{
	int ret = net_endpoint(n, 0, n->info);

	if (ret)
		return ret;
	return fi_connect(n->side[0].ep, &n->addr, data, len);
}

int net_request(struct net *n, struct net_ev *ev)
{
	struct net_ev local = { 0 };
	int ret = net_await(n, 1, FI_CONNREQ, &local);

	if (ret)
		return ret;
	if (n->req)
		fi_freeinfo(n->req);
	n->req = local.info;
	if (ev)
		*ev = local;
	return 0;
}

int net_accept(struct net *n, const void *data, size_t len)
{
	int ret = net_endpoint(n, 1, n->req);

	if (ret)
		return ret;
	return fi_accept(n->side[1].ep, data, len);
}

int net_join(struct net *n)
{
	int ret = net_listen(n);

	if (!ret)
		ret = net_connect(n, NULL, 0);
	if (!ret)
		ret = net_request(n, NULL);
	if (!ret)
		ret = net_accept(n, NULL, 0);
	for (int i = 0; i < 2 && !ret; i++)
		ret = net_await(n, i, FI_CONNECTED, NULL);
	return ret;
}

int net_join_more(struct net *n, struct fid_ep **a, struct fid_ep **b)
{
	int ret = net_make_ep(n, 0, n->info, a);

	if (!ret)
		ret = fi_connect(*a, &n->addr, NULL, 0);
	if (!ret)
		ret = net_request(n, NULL);
	if (!ret)
		ret = net_make_ep(n, 1, n->req, b);
	if (!ret)
		ret = fi_accept(*b, NULL, 0);
	for (int i = 0; i < 2 && !ret; i++)
		ret = net_await(n, i, FI_CONNECTED, NULL);
	return ret;
}

/* Reads one error entry of a side into EV. */
static int net_read_err(struct net_side *s, struct net_ev *ev)
{
	struct fi_eq_err_entry err = { .err_data = ev->data,
				       .err_data_size = sizeof(ev->data) };
	ssize_t ret = fi_eq_readerr(s->eq, &err, 0);

	if (ret < 0)
		return (int)ret;
	ev->fid = err.fid;
	ev->err = err.err;
	ev->prov_errno = err.prov_errno;
	ev->len = err.err_data_size;
	return 0;
}

/* Reads one event of a side, if any, into its list. */
static int net_read_eq(struct net_side *s)
{
	struct fi_eq_cm_entry cm;
	uint8_t buf[sizeof(cm) + sizeof(s->ev[0].data)];
	struct net_ev *ev = &s->ev[s->n_ev];
	uint32_t event;
	ssize_t ret;

	if (!s->eq || s->n_ev == NET_EVENTS)
		return 0;
	memset(ev, 0, sizeof(*ev));
	ret = fi_eq_read(s->eq, &event, buf, sizeof(buf), 0);
	if (ret == -FI_EAGAIN)
		return 0;
	if (ret == -FI_EAVAIL) {
		ret = net_read_err(s, ev);
		if (ret)
			return (int)ret;
	} else if (ret < (ssize_t)sizeof(cm)) {
		return ret < 0 ? (int)ret : -FI_EOTHER;
	} else {
		memcpy(&cm, buf, sizeof(cm));
		ev->event = event;
		ev->fid = cm.fid;
		ev->info = event == FI_CONNREQ ? cm.info : NULL;
		ev->len = ret - sizeof(cm);
		memcpy(ev->data, buf + sizeof(cm), ev->len);
	}
	s->n_ev++;
	return 0;
}

int net_next(struct net *n, int side, struct net_ev *ev)
{
	struct net_side *s = &n->side[side];

	for (int i = 0; i < NET_ROUNDS && !s->n_ev; i++) {
		int ret = net_read_eq(s);

		if (ret)
			return ret;
		ret = net_read_eq(&n->side[!side]);
		if (ret)
			return ret;
	}
	if (!s->n_ev)
		return -FI_ETIMEDOUT;
	*ev = s->ev[0];
	s->n_ev--;
	memmove(&s->ev[0], &s->ev[1], s->n_ev * sizeof(s->ev[0]));
	return 0;
}

int net_await(struct net *n, int side, uint32_t event, struct net_ev *ev)
{
	struct net_side *other = &n->side[!side];
	struct net_ev local;
	int ret = net_next(n, side, &local);

	/* nothing can come of what has failed on the other side */
	if (ret == -FI_ETIMEDOUT && other->n_ev && !other->ev[0].event)
		return -other->ev[0].err;
	if (ret)
		return ret;
	if (ev)
		*ev = local;
	if (local.event == event)
		return 0;
	if (local.info)
		fi_freeinfo(local.info);
	return local.event ? -FI_EOTHER : -local.err;
}

bool net_quiet(struct net *n, int side)
{
	struct net_ev ev;

	return net_next(n, side, &ev) == -FI_ETIMEDOUT;
}

int net_recv(struct net *n, int side, size_t off, size_t len, void *context)
{
	struct net_side *s = &n->side[side];

	return (int)fi_recv(s->ep, s->buf + off, len, s->desc, 0, context);
}

int net_send(struct net *n, int side, size_t off, size_t len, void *context)
{
	struct net_side *s = &n->side[side];

	return (int)fi_send(s->ep, s->buf + off, len, s->desc, 0, context);
}

static int net_comp_err(struct fid_cq *cq, struct net_comp *comp)
{
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = fi_cq_readerr(cq, &err, 0);

	if (ret < 0)
		return (int)ret;
	comp->context = err.op_context;
	comp->flags = err.flags;
	comp->len = err.len;
	comp->olen = err.olen;
	comp->err = err.err;
	comp->prov_errno = err.prov_errno;
	comp->data = err.data;
	return 0;
}

int net_comp(struct net *n, struct fid_cq *cq, struct net_comp *comp)
{
	struct fi_cq_tagged_entry e = { 0 };
	ssize_t ret;

	(void)n;
	memset(comp, 0, sizeof(*comp));
	ret = fi_cq_read(cq, &e, 1);
	if (ret == -FI_EAVAIL)
		return net_comp_err(cq, comp);
	if (ret < 0)
		return (int)ret;
	if (ret != 1)
		return -FI_EOTHER;
	comp->context = e.op_context;
	comp->flags = e.flags;
	comp->len = e.len;
	comp->data = e.data;
	return 0;
}

/* The completion that CONTEXT names must come next and be good. */
static int net_comp_want(struct net *n, struct fid_cq *cq, void *context)
{
	struct net_comp comp;
	int ret = -FI_EAGAIN;

	for (int i = 0; i < NET_ROUNDS && ret == -FI_EAGAIN; i++)
		ret = net_comp(n, cq, &comp);
	if (ret)
		return ret == -FI_EAGAIN ? -FI_ETIMEDOUT : ret;
	if (comp.err)
		return -comp.err;
	return comp.context == context ? 0 : -FI_EOTHER;
}

int net_exchange(struct net *n, int from, unsigned int count, size_t len)
{
	struct net_side *tx = &n->side[from], *rx = &n->side[!from];
	struct fid_cq *rx_cq = rx->rx_cq ? rx->rx_cq : rx->cq;
	int ret = 0;

	for (unsigned int i = 0; i < count && !ret; i++) {
		memset(tx->buf, 'a' + (int)(i % 26), len);
		memset(rx->buf, 0, len);
		ret = net_recv(n, !from, 0, len, rx);
		if (!ret)
			ret = net_send(n, from, 0, len, tx);
		if (!ret)
			ret = net_comp_want(n, tx->cq, tx);
		if (!ret)
			ret = net_comp_want(n, rx_cq, rx);
		if (!ret && memcmp(tx->buf, rx->buf, len) != 0)
			ret = -FI_EOTHER;
	}
	return ret;
}

static void net_drop_events(struct net_side *s)
{
	for (unsigned int i = 0; i < s->n_ev; i++) {
		if (s->ev[i].info)
			fi_freeinfo(s->ev[i].info);
	}
	s->n_ev = 0;
}

/* Closes OBJ, if there, and forgets it; a failure goes to FIRST. */
#define NET_SHUT(obj, first)                                  \
	do {                                                  \
		int ret_ = (obj) ? fi_close(&(obj)->fid) : 0; \
                                                              \
		if (!ret_)                                    \
			(obj) = NULL;                         \
		else if (!(first))                            \
			(first) = ret_;                       \
	} while (0)

int net_close_domain(struct net *n)
{
	int first = 0;

	for (int i = 0; i < 2; i++)
		NET_SHUT(n->side[i].ep, first);
	for (int i = 0; i < 2; i++) {
		struct net_side *s = &n->side[i];

		NET_SHUT(s->srx, first);
		NET_SHUT(s->mr, first);
		NET_SHUT(s->cq, first);
		NET_SHUT(s->rx_cq, first);
		NET_SHUT(s->tx_cntr, first);
		NET_SHUT(s->rx_cntr, first);
	}
	NET_SHUT(n->domain, first);
	return first;
}

int net_close(struct net *n)
{
	int first = net_close_domain(n);

	NET_SHUT(n->pep, first);
	for (int i = 0; i < 2; i++)
		NET_SHUT(n->side[i].eq, first);
	NET_SHUT(n->fabric, first);
	if (first)
		return first;
	for (int i = 0; i < 2; i++)
		net_drop_events(&n->side[i]);
	if (n->req)
		fi_freeinfo(n->req);
	if (n->info)
		fi_freeinfo(n->info);
	if (n->hints)
		fi_freeinfo(n->hints);
	memset(n, 0, sizeof(*n));
	return 0;
}

int net_n_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}
