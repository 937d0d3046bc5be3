/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * rcm as a layer of reliable datagrams above it (ofi_rxm) uses it: the same
 * hints and flags, the same calls in the same order, one completion queue for
 * all connections, and no fi_shutdown() ever.
 */

#include <criterion/criterion.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_rma.h>

#include "fake.h"
#include "net.h"
#include "rcm_base.h"
#include "rcm_dev.h"
#include "rcm_fabric.h"
#include "rcm_getinfo.h"
#include "rcm_offer.h"

#define API	    FI_VERSION(1, 17)
#define MAX_CONNS   300
#define MSG_LEN	    64
#define MR_NO_CACHE (1ULL << 60) /* what the layer adds to its own regions */

/* no FI_WRITE, and yet the layer may write large messages */
#define RMA_CAPS (FI_RMA | FI_READ | FI_REMOTE_READ | FI_REMOTE_WRITE)

/* What the layer tells its peer: with a request, when it accepts, or not. */
struct connect_data {
	uint8_t version, endianness, ctrl_version, op_version;
	uint16_t port;
	uint8_t flow_ctrl, pad;
	uint32_t eager_limit, rx_size;
	uint64_t id;
};

struct accept_data {
	uint64_t id;
	uint32_t rx_size, flow_ctrl;
};

struct reject_data {
	uint8_t version, reason;
};

/* An entry of struct fi_eq_cm_entry with just this much room for data. */
struct cm_entry {
	fid_t fid;
	struct fi_info *info;
	union {
		struct connect_data connect;
		struct accept_data accept;
	} data;
};

enum state {
	IDLE,
	CONNECTING,
	ACCEPTING,
	CONNECTED,
	REFUSED,
	SHUT
};

struct conn {
	struct peer *peer;
	struct fid_ep *ep;
	enum state state;
	uint64_t remote_id;
	struct reject_data reject;
	size_t reject_len;
};

/* A buffer of the layer, and the context of what it is posted for. */
struct buf {
	bool posted, is_send;
	uint8_t data[MSG_LEN];
};

struct peer {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_pep *pep;
	struct fid_cq *cq;
	struct fid_ep *srx;
	struct fid_mr *mr;
	struct buf *bufs;
	size_t n_bufs, next; /* where to look for a free one */
	struct conn conns[MAX_CONNS];
	unsigned int n_conns;
	struct reject_data *refuses; /* answers requests with it */
	struct sockaddr_in addr;
	/* what the completion queue has given */
	unsigned int n_sent, n_received, n_canceled, n_failed;
};

static struct peer a, b;

/* What of the hints differs from one test to the next. */
static struct {
	size_t tx_size, rx_size, universe;
	bool shared;
	enum fi_wait_obj cq_wait;
} want;

static void set_up_conf(const struct fake_dev_conf *conf)
{
	memset(&want, 0, sizeof(want));
	want.tx_size = 128;
	want.rx_size = 128;
	want.universe = 1024;
	want.cq_wait = FI_WAIT_NONE;
	if (conf)
		fake_install_devs(conf, 1);
	else
		fake_install();
	rcm_dev_list_reset();
}

static void set_up(void)
{
	set_up_conf(NULL);
}

static void close_fid(struct fid *fid)
{
	cr_assert_eq(fi_close(fid), 0);
}

static struct fi_info *core_hints(void)
{
	struct fi_info *h = fi_allocinfo();

	h->caps = FI_MSG | FI_SEND | FI_RECV | RMA_CAPS;
	h->mode = FI_CONTEXT | FI_RX_CQ_DATA;
	h->ep_attr->type = FI_EP_MSG;
	if (want.shared)
		h->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				  FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	h->domain_attr->cq_data_size = 4;
	h->tx_attr->size = want.tx_size;
	h->tx_attr->msg_order = FI_ORDER_SAS;
	h->rx_attr->msg_order = FI_ORDER_SAS;
	h->rx_attr->size = want.rx_size;
	h->fabric_attr->prov_name = strdup("rcm;^ofi_rxm");
	return h;
}

/* As the core does with what a provider gives it. */
static struct fi_info *core_getinfo(const struct fi_info *hints)
{
	struct fi_info *info = NULL;

	cr_assert_eq(rcm_getinfo(API, NULL, NULL, RCM_GETINFO_LAYERED, hints,
				 &info),
		     0);
	for (struct fi_info *i = info; i; i = i->next) {
		i->fabric_attr->api_version = API;
		i->fabric_attr->prov_name = strdup("rcm");
	}
	return info;
}

/* The fabric is looked up by its name and nothing else. */
static void open_fabric(struct peer *p)
{
	char prov[] = "rcm;^ofi_rxm";
	struct fi_info hints = { .mode = ~0ULL }, *info;
	struct fi_fabric_attr attr = { .name = p->info->fabric_attr->name,
				       .prov_name = prov,
				       .api_version = API };

	hints.fabric_attr = &attr;
	info = core_getinfo(&hints);
	cr_assert_eq(rcm_fabric_open(info->fabric_attr, &p->fabric, p), 0);
	fi_freeinfo(info);
}

static void open_domain(struct peer *p)
{
	void *ops = NULL;

	cr_assert_eq(fi_domain(p->fabric, p->info, &p->domain, p), 0);
	/* anything but this code is the end of the layer's domain */
	cr_assert_eq(fi_open_ops(&p->domain->fid, "ofix_flow_ctrl_v1", 0, &ops,
				 NULL),
		     -FI_ENOSYS);
}

static void open_listener(struct peer *p)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC,
				   .flags = FI_WRITE };
	size_t len = sizeof(p->addr), room = 0, opt_len = sizeof(room);
	struct sockaddr_in name;

	cr_assert_eq(fi_eq_open(p->fabric, &attr, &p->eq, p), 0);
	cr_assert_eq(fi_passive_ep(p->fabric, p->info, &p->pep, p), 0);
	cr_assert_eq(fi_pep_bind(p->pep, &p->eq->fid, 0), 0);
	memcpy(&name, p->info->src_addr, sizeof(name));
	cr_assert_eq(fi_setname(&p->pep->fid, &name, sizeof(name)), 0);
	cr_assert_eq(fi_listen(p->pep), 0);
	cr_assert_eq(fi_getname(&p->pep->fid, &p->addr, &len), 0);
	cr_assert_neq(p->addr.sin_port, 0);
	cr_assert_eq(p->addr.sin_addr.s_addr, name.sin_addr.s_addr);
	cr_assert_eq(fi_getopt(&p->pep->fid, FI_OPT_ENDPOINT,
			       FI_OPT_CM_DATA_SIZE, &room, &opt_len),
		     0);
	cr_assert_geq(room, sizeof(struct connect_data));
}

static void open_cq(struct peer *p)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_DATA,
				   .wait_obj = want.cq_wait };

	attr.size = p->info->rx_attr->size;
	if (!want.shared)
		attr.size *= want.universe;
	attr.size += p->info->tx_attr->size * want.universe;
	cr_assert_eq(fi_cq_open(p->domain, &attr, &p->cq, p), 0);
}

static void make_bufs(struct peer *p, unsigned int conns)
{
	size_t each = p->info->tx_attr->size, once = 0;
	struct iovec iov;
	struct fi_mr_attr attr = { .mr_iov = &iov, .iov_count = 1 };

	if (want.shared)
		once = p->info->rx_attr->size;
	else
		each += p->info->rx_attr->size;
	p->n_bufs = once + each * conns;
	p->bufs = calloc(p->n_bufs, sizeof(*p->bufs));
	cr_assert(p->bufs);
	iov.iov_base = p->bufs;
	iov.iov_len = p->n_bufs * sizeof(*p->bufs);
	attr.access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
		      FI_REMOTE_WRITE;
	cr_assert_eq(fi_mr_regattr(p->domain, &attr, MR_NO_CACHE, &p->mr), 0);
}

static struct buf *take_buf(struct peer *p, bool is_send)
{
	struct buf *buf;

	for (size_t i = 0; i < p->n_bufs; i++) {
		buf = &p->bufs[p->next++ % p->n_bufs];
		if (buf->posted)
			continue;
		buf->posted = true;
		buf->is_send = is_send;
		return buf;
	}
	cr_assert(false, "a buffer was not given back");
	return NULL;
}

static void post_recv(struct peer *p, struct fid_ep *ep)
{
	struct buf *buf = take_buf(p, false);

	cr_assert_eq(fi_recv(ep, buf->data, MSG_LEN, fi_mr_desc(p->mr), 0, buf),
		     0);
}

/* All that are promised can be posted before there is a connection. */
static void prepost(struct peer *p, struct fid_ep *ep)
{
	for (size_t i = 0; i < p->info->rx_attr->size; i++)
		post_recv(p, ep);
}

static void peer_open(struct peer *p, unsigned int conns)
{
	struct fi_info *hints = core_hints();

	memset(p, 0, sizeof(*p));
	p->info = core_getinfo(hints);
	fi_freeinfo(hints);
	open_fabric(p);
	open_domain(p);
	make_bufs(p, conns);
	if (want.shared) {
		cr_assert_eq(fi_srx_context(p->domain, p->info->rx_attr,
					    &p->srx, NULL),
			     0);
		prepost(p, p->srx);
	}
	open_listener(p);
	open_cq(p);
}

static void conn_open(struct peer *p, struct conn *c, struct fi_info *info)
{
	c->peer = p;
	cr_assert_eq(fi_endpoint(p->domain, info, &c->ep, c), 0);
	cr_assert_eq(fi_ep_bind(c->ep, &p->eq->fid, 0), 0);
	if (p->srx)
		cr_assert_eq(fi_ep_bind(c->ep, &p->srx->fid, 0), 0);
	cr_assert_eq(fi_ep_bind(c->ep, &p->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	cr_assert_eq(fi_enable(c->ep), 0);
	if (!p->srx)
		prepost(p, c->ep);
}

static struct conn *conn_new(struct peer *p)
{
	struct conn *c = &p->conns[p->n_conns++];

	cr_assert_leq(p->n_conns, MAX_CONNS);
	memset(c, 0, sizeof(*c));
	return c;
}

static struct conn *connect_to(struct peer *p, const struct peer *to)
{
	struct connect_data data = { .version = 1, .rx_size = 128 };
	struct conn *c = conn_new(p);
	struct fi_info *info = p->info;

	data.id = p->n_conns - 1;
	data.port = p->addr.sin_port;
	free(info->dest_addr);
	info->dest_addr = malloc(sizeof(to->addr));
	cr_assert(info->dest_addr);
	memcpy(info->dest_addr, &to->addr, sizeof(to->addr));
	info->dest_addrlen = sizeof(to->addr);
	conn_open(p, c, info);
	cr_assert_eq(fi_connect(c->ep, info->dest_addr, &data, sizeof(data)),
		     0);
	c->state = CONNECTING;
	return c;
}

static void on_request(struct peer *p, struct cm_entry *e)
{
	struct accept_data data = { .rx_size = 128 };
	const struct sockaddr_in *from = e->info->dest_addr;
	struct conn *c;

	cr_assert_eq(e->fid, &p->pep->fid);
	cr_assert_eq(e->data.connect.version, 1);
	cr_assert_eq(e->info->rx_attr->size, p->info->rx_attr->size);
	cr_assert_eq(e->info->dest_addrlen, sizeof(*from));
	cr_assert_eq(from->sin_addr.s_addr, p->addr.sin_addr.s_addr);
	if (p->refuses) {
		cr_assert_eq(fi_reject(p->pep, e->info->handle, p->refuses,
				       sizeof(*p->refuses)),
			     0);
		fi_freeinfo(e->info);
		return;
	}
	c = conn_new(p);
	c->remote_id = e->data.connect.id;
	conn_open(p, c, e->info);
	data.id = p->n_conns - 1;
	cr_assert_eq(fi_accept(c->ep, &data, sizeof(data)), 0);
	c->state = ACCEPTING;
	fi_freeinfo(e->info);
}

static void conn_close(struct conn *c)
{
	close_fid(&c->ep->fid);
	c->ep = NULL;
}

static void on_error(struct peer *p)
{
	struct fi_eq_err_entry err = { 0 };
	struct conn *c;

	cr_assert_eq(fi_eq_readerr(p->eq, &err, 0), sizeof(err));
	cr_assert_not_null(
		fi_eq_strerror(p->eq, err.prov_errno, err.err_data, NULL, 0));
	cr_assert_eq(err.fid->fclass, FI_CLASS_EP);
	c = err.fid->context;
	c->state = err.err == FI_ECONNREFUSED ? REFUSED : SHUT;
	c->reject_len = err.err_data_size;
	if (err.err_data_size >= sizeof(c->reject))
		memcpy(&c->reject, err.err_data, sizeof(c->reject));
}

static void on_event(struct peer *p, uint32_t event, struct cm_entry *e)
{
	struct conn *c;

	switch (event) {
	case FI_NOTIFY:
		break;
	case FI_CONNREQ:
		on_request(p, e);
		break;
	case FI_CONNECTED:
		c = e->fid->context;
		if (c->state == CONNECTING)
			c->remote_id = e->data.accept.id;
		c->state = CONNECTED;
		break;
	case FI_SHUTDOWN:
		c = e->fid->context;
		c->state = SHUT;
		break;
	default:
		cr_assert(false, "event %u", event);
	}
}

/* All there is on both event queues, until nothing comes any more. */
static void progress(struct peer *p)
{
	struct cm_entry e;
	uint32_t event;
	ssize_t ret;

	for (;;) {
		memset(&e, 0, sizeof(e));
		ret = fi_eq_read(p->eq, &event, &e, sizeof(e), 0);
		if (ret == -FI_EAVAIL)
			on_error(p);
		else if (ret > 0)
			on_event(p, event, &e);
		else
			break;
	}
	cr_assert_eq(ret, -FI_EAGAIN);
}

static void settle(void)
{
	for (int i = 0; i < 20; i++) {
		progress(&a);
		progress(&b);
	}
}

/* The layer takes what is in there for a buffer of its own, whatever it is. */
static void give_back(struct peer *p, void *context, uint64_t flags)
{
	struct buf *buf = context;

	cr_assert(buf >= p->bufs && buf < p->bufs + p->n_bufs,
		  "an entry with a foreign context %p", context);
	cr_assert(buf->posted, "an entry came twice");
	cr_assert_eq(!!(flags & FI_SEND), buf->is_send);
	cr_assert_eq(!!(flags & (FI_RECV | FI_READ)), !buf->is_send);
	buf->posted = false;
}

static void read_error(struct peer *p)
{
	struct fi_cq_err_entry err = { 0 };

	cr_assert_eq(fi_cq_readerr(p->cq, &err, 0), 1);
	cr_assert_not_null(
		fi_cq_strerror(p->cq, err.prov_errno, err.err_data, NULL, 0));
	give_back(p, err.op_context, err.flags);
	if (err.err == FI_ECANCELED)
		p->n_canceled++;
	else
		p->n_failed++;
}

static void read_cq(struct peer *p)
{
	struct fi_cq_data_entry e[32];
	ssize_t n;

	for (;;) {
		n = fi_cq_read(p->cq, e, 32);
		if (n == -FI_EAVAIL) {
			read_error(p);
			continue;
		}
		if (n < 0)
			break;
		for (ssize_t i = 0; i < n; i++) {
			give_back(p, e[i].op_context, e[i].flags);
			cr_assert(e[i].flags & FI_MSG);
			if (e[i].flags & FI_SEND)
				p->n_sent++;
			else
				p->n_received++;
		}
	}
	cr_assert_eq(n, -FI_EAGAIN);
}

static size_t posted(const struct peer *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_bufs; i++)
		n += p->bufs[i].posted;
	return n;
}

static ssize_t send_one(struct conn *c)
{
	struct buf *buf = take_buf(c->peer, true);
	ssize_t ret = fi_send(c->ep, buf->data, MSG_LEN,
			      fi_mr_desc(c->peer->mr), 0, buf);

	if (ret)
		buf->posted = false;
	return ret;
}

static void peer_close(struct peer *p)
{
	for (unsigned int i = 0; i < p->n_conns; i++)
		if (p->conns[i].ep)
			conn_close(&p->conns[i]);
	close_fid(&p->pep->fid);
	if (p->srx)
		close_fid(&p->srx->fid);
	read_cq(p);
	close_fid(&p->cq->fid);
	close_fid(&p->eq->fid);
	close_fid(&p->mr->fid);
	close_fid(&p->domain->fid);
	close_fid(&p->fabric->fid);
	fi_freeinfo(p->info);
	free(p->bufs);
}

static void tear_down(void)
{
	rcm_dev_list_reset();
	cr_assert_eq(fake_remove(), 0);
}

static void open_both(unsigned int conns)
{
	peer_open(&a, conns);
	peer_open(&b, conns);
}

static void close_both(void)
{
	peer_close(&a);
	peer_close(&b);
}

static struct conn *join(void)
{
	struct conn *c = connect_to(&a, &b);

	settle();
	cr_assert_eq(c->state, CONNECTED);
	cr_assert_eq(b.conns[b.n_conns - 1].state, CONNECTED);
	return c;
}

TestSuite(layered, .init = set_up, .fini = tear_down, .timeout = 120);

Test(layered, hints_of_the_layer_are_met)
{
	struct fi_info *hints = core_hints(), *info = core_getinfo(hints);

	cr_assert_eq(info->caps & hints->caps, hints->caps);
	cr_assert_eq(info->mode & ~(FI_CONTEXT | FI_RX_CQ_DATA), 0);
	cr_assert_eq(info->domain_attr->mr_mode & ~hints->domain_attr->mr_mode,
		     0);
	cr_assert_eq(info->tx_attr->size, 128);
	cr_assert_eq(info->rx_attr->size, 128);
	cr_assert_eq(info->domain_attr->cq_data_size, 4);
	cr_assert_eq(info->tx_attr->op_flags & ~FI_TRANSMIT_COMPLETE, 0);
	cr_assert_eq(info->ep_attr->rx_ctx_cnt, 1);
	cr_assert_not_null(info->domain_attr->name);
	cr_assert_not_null(info->fabric_attr->name);
	cr_assert_not_null(info->nic);
	cr_assert_gt(info->domain_attr->mr_key_size, 0);
	/* a header of the layer's, and then something */
	cr_assert_gt(info->tx_attr->inject_size, 64);
	cr_assert_gt(info->ep_attr->max_msg_size, 0);
	cr_assert_geq(info->tx_attr->iov_limit, 4);
	cr_assert_geq(info->rx_attr->iov_limit, 1);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

/* FI_OFI_RXM_MSG_TX_SIZE and _RX_SIZE, and FI_OFI_RXM_USE_SRX=1 */
Test(layered, sizes_asked_for_are_the_sizes_given)
{
	static const size_t sizes[] = { 1, 16, 64, 1024, 4096 };

	for (size_t i = 0; i < 2 * RCM_ARRAY_SIZE(sizes); i++) {
		struct fi_info *hints, *info;

		want.shared = i % 2;
		want.tx_size = want.rx_size = sizes[i / 2];
		hints = core_hints();
		info = core_getinfo(hints);
		cr_assert_eq(info->tx_attr->size, want.tx_size);
		cr_assert_eq(info->rx_attr->size, want.rx_size);
		cr_assert_eq(info->ep_attr->rx_ctx_cnt,
			     want.shared ? FI_SHARED_CONTEXT : 1);
		fi_freeinfo(info);
		fi_freeinfo(hints);
	}
}

/* The layer drops what has no address of its own. */
Test(layered, every_info_names_its_address)
{
	struct fi_info *info = core_getinfo(NULL);

	cr_assert_not_null(info);
	for (struct fi_info *i = info; i; i = i->next) {
		union rcm_addr addr;

		cr_assert_not_null(i->src_addr);
		cr_assert_eq(rcm_addr_read(&addr, i->src_addr, i->src_addrlen),
			     0);
		cr_assert_not(rcm_addr_is_any(&addr));
	}
	fi_freeinfo(info);
}

/* FI_UNIVERSE_SIZE; its default is 1024, and the device has 32,767 entries */
Test(layered, universe_of_any_size_opens_and_connects)
{
	static const size_t sizes[] = { 1, 16, 1024, 65536 };

	for (size_t i = 0; i < RCM_ARRAY_SIZE(sizes); i++) {
		want.universe = sizes[i];
		open_both(1);
		cr_assert_eq(send_one(join()), 0);
		read_cq(&b);
		cr_assert_eq(b.n_received, 1);
		close_both();
	}
}

Test(layered, connection_carries_its_data_and_messages)
{
	struct conn *c;

	open_both(1);
	c = join();
	cr_assert_eq(c->remote_id, 0);
	cr_assert_eq(b.conns[0].remote_id, 0);
	cr_assert_eq(posted(&a), 128);
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(send_one(c), 0);
		cr_assert_eq(send_one(&b.conns[0]), 0);
	}
	read_cq(&a);
	read_cq(&b);
	cr_assert_eq(a.n_sent, 100);
	cr_assert_eq(a.n_received, 100);
	cr_assert_eq(b.n_sent, 100);
	cr_assert_eq(b.n_received, 100);
	close_both();
}

/* Large messages: the receiver reads them, or the sender writes them. */
Test(layered, memory_of_the_peer_is_read_and_written)
{
	struct fi_cq_data_entry e;
	struct conn *c;
	void *desc;

	open_both(1);
	c = join();
	desc = fi_mr_desc(a.mr);
	memcpy(b.bufs[0].data, "theirs", 7);
	cr_assert_eq(fi_read(c->ep, a.bufs[200].data, 7, desc, 0,
			     (uintptr_t)b.bufs[0].data, fi_mr_key(b.mr), &e),
		     0);
	cr_assert_eq(fi_cq_read(a.cq, &e, 1), 1);
	cr_assert_eq(e.op_context, &e);
	cr_assert_eq(e.flags & (FI_RMA | FI_READ | FI_REMOTE_READ),
		     FI_RMA | FI_READ);
	cr_assert_str_eq((char *)a.bufs[200].data, "theirs");
	memcpy(a.bufs[200].data, "ours", 5);
	cr_assert_eq(fi_write(c->ep, a.bufs[200].data, 5, desc, 0,
			      (uintptr_t)b.bufs[0].data, fi_mr_key(b.mr), &e),
		     0);
	cr_assert_eq(fi_cq_read(a.cq, &e, 1), 1);
	cr_assert_eq(e.flags & (FI_RMA | FI_WRITE), FI_RMA | FI_WRITE);
	cr_assert_str_eq((char *)b.bufs[0].data, "ours");
	close_both();
}

/* The target of a write with data gives up a receive for it, and hears it. */
Test(layered, write_with_data_is_told_to_its_target)
{
	struct fi_cq_data_entry e;
	struct conn *c;

	open_both(1);
	c = join();
	cr_assert_eq(fi_inject_writedata(c->ep, "x", 1, 4711, 0,
					 (uintptr_t)b.bufs[0].data,
					 fi_mr_key(b.mr)),
		     0);
	cr_assert_eq(fi_cq_read(b.cq, &e, 1), 1);
	cr_assert_eq(e.data, 4711);
	cr_assert_eq(e.flags & (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA |
				FI_REMOTE_READ | FI_MSG),
		     FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	close_both();
}

Test(layered, refusal_brings_its_reason)
{
	struct reject_data no = { .version = 1, .reason = 114 };
	struct conn *c;

	open_both(1);
	b.refuses = &no;
	c = connect_to(&a, &b);
	settle();
	cr_assert_eq(c->state, REFUSED);
	cr_assert_geq(c->reject_len, sizeof(no));
	cr_assert_eq(c->reject.version, 1);
	cr_assert_eq(c->reject.reason, 114);
	conn_close(c);
	read_cq(&a);
	cr_assert_eq(a.n_canceled, 128);
	cr_assert_eq(posted(&a), 0);
	cr_assert_eq(fi_eq_read(a.eq, &(uint32_t){ 0 }, &(struct cm_entry){ 0 },
				sizeof(struct cm_entry), 0),
		     -FI_EAGAIN);
	close_both();
}

/* Both ask at once; one drops its own request and takes the other's. */
Test(layered, requests_that_cross_leave_one_connection)
{
	struct reject_data no = { .version = 1, .reason = 114 };
	struct conn *mine, *theirs;

	open_both(2);
	mine = connect_to(&a, &b);
	theirs = connect_to(&b, &a);
	a.refuses = &no;
	settle();
	cr_assert_eq(theirs->state, REFUSED);
	cr_assert_eq(mine->state, CONNECTED);
	conn_close(theirs);
	read_cq(&b);
	cr_assert_eq(b.n_canceled, 128);
	cr_assert_eq(posted(&b), 128);
	cr_assert_eq(send_one(mine), 0);
	read_cq(&b);
	cr_assert_eq(b.n_received, 1);
	close_both();
}

/*
 * When it cannot enable the endpoint for a request, the layer closes it, and
 * then refuses a request that the endpoint has taken along.
 */
Test(layered, request_of_a_closed_endpoint_is_refused_in_vain)
{
	struct reject_data no = { .version = 1 };
	struct cm_entry e = { 0 };
	struct fid_ep *ep;
	struct conn *c;
	uint32_t event;

	open_both(1);
	c = connect_to(&a, &b);
	for (int i = 0; i < 20 && !e.info; i++) {
		progress(&a);
		(void)fi_eq_read(b.eq, &event, &e, sizeof(e), 0);
	}
	cr_assert_not_null(e.info);
	cr_assert_eq(fi_endpoint(b.domain, e.info, &ep, NULL), 0);
	cr_assert_null(e.info->handle);
	fake_fail(FAKE_modify_qp, 1, ENOMEM);
	cr_assert_eq(fi_ep_bind(ep, &b.eq->fid, 0), 0);
	cr_assert_eq(fi_ep_bind(ep, &b.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	cr_assert_eq(fi_enable(ep), -FI_ENOMEM);
	close_fid(&ep->fid);
	cr_assert_eq(fi_reject(b.pep, e.info->handle, &no, sizeof(no)),
		     -FI_EINVAL);
	fi_freeinfo(e.info);
	settle();
	cr_assert_eq(c->state, REFUSED);
	close_both();
}

/* The layer's thread sleeps on both queues, and one call wakes it. */
Test(layered, both_queues_wake_one_sleeper)
{
	struct fi_eq_entry note = { 0 };
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct fid *fids[2];
	struct conn *c;

	want.cq_wait = FI_WAIT_FD;
	open_both(1);
	c = join();
	fids[0] = &a.eq->fid;
	fids[1] = &a.cq->fid;
	cr_assert_eq(fi_control(fids[0], FI_GETWAIT, &fds[0].fd), 0);
	cr_assert_eq(fi_control(fids[1], FI_GETWAIT, &fds[1].fd), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(fi_trywait(a.fabric, &fids[i], 1), 0);
	cr_assert_eq(fi_trywait(a.fabric, fids, 2), 0);
	cr_assert_eq(poll(fds, 2, 0), 0);
	cr_assert_eq(send_one(&b.conns[0]), 0);
	cr_assert_eq(poll(fds, 2, 0), 1);
	cr_assert(fds[1].revents & POLLIN);
	cr_assert_eq(fi_trywait(a.fabric, fids, 2), -FI_EAGAIN);
	read_cq(&a);
	cr_assert_eq(fi_trywait(a.fabric, fids, 2), 0);
	cr_assert_eq(fi_eq_write(a.eq, FI_NOTIFY, &note, sizeof(note), 0),
		     sizeof(note));
	cr_assert_eq(poll(fds, 2, 0), 1);
	cr_assert(fds[0].revents & POLLIN);
	cr_assert_eq(fi_trywait(a.fabric, fids, 2), -FI_EAGAIN);
	progress(&a);
	cr_assert_eq(send_one(c), 0);
	close_both();
}

/*
 * Sends of a connection that breaks: those with a buffer give it back, those
 * without (fi_inject) leave no entry, since its context would be taken for a
 * buffer (design D18).
 */
Test(layered, broken_injects_leave_no_entry)
{
	struct conn *c;

	open_both(1);
	c = join();
	fake_hold_wire(true);
	for (int i = 0; i < 10; i++) {
		cr_assert_eq(fi_inject(c->ep, "x", 1, 0), 0);
		cr_assert_eq(fi_inject_write(c->ep, "x", 1, 0,
					     (uintptr_t)b.bufs,
					     fi_mr_key(b.mr)),
			     0);
		cr_assert_eq(send_one(c), 0);
	}
	conn_close(&b.conns[0]);
	fake_hold_wire(false);
	fake_time_passes();
	settle();
	cr_assert_eq(c->state, SHUT);
	read_cq(&a);
	conn_close(c);
	read_cq(&a);
	cr_assert_eq(posted(&a), 0);
	cr_assert_eq(a.n_canceled + a.n_failed + a.n_sent, 138);
	close_both();
}

/*
 * Refused at the call, a read would be reported to the layer's user with a
 * pointer that means nothing to it.
 */
Test(layered, requests_after_the_end_come_back_flushed)
{
	unsigned int n, canceled;
	struct conn *c;
	ssize_t ret;

	open_both(1);
	c = join();
	conn_close(&b.conns[0]);
	settle();
	cr_assert_eq(c->state, SHUT);
	read_cq(&a);
	for (int round = 0; round < 3; round++) {
		struct buf *buf = take_buf(&a, true);

		buf->is_send = false;
		canceled = a.n_canceled;
		cr_assert_eq(fi_read(c->ep, buf->data, 8, fi_mr_desc(a.mr), 0,
				     (uintptr_t)b.bufs, fi_mr_key(b.mr), buf),
			     0);
		for (n = 1; !(ret = send_one(c)); n++)
			;
		cr_assert_eq(ret, -FI_EAGAIN);
		read_cq(&a);
		cr_assert_eq(a.n_canceled, canceled + n);
	}
	conn_close(c);
	read_cq(&a);
	cr_assert_eq(posted(&a), 0);
	close_both();
}

/* Ends one side's connections while messages are on their way both ways. */
static void close_under_load(unsigned int conns)
{
	unsigned int sent = 0;

	open_both(conns);
	for (unsigned int i = 0; i < conns; i++)
		join();
	for (unsigned int i = 0; i < conns; i++) {
		unsigned int per = 3 + i % 50;

		/* some are in the queues, some on the wire */
		fake_hold_wire(i % 2);
		for (unsigned int k = 0; k < per; k++) {
			cr_assert_eq(send_one(&a.conns[i]), 0);
			cr_assert_eq(send_one(&b.conns[i]), 0);
		}
		sent += per;
		if (i % 3)
			conn_close(&a.conns[i]);
		fake_hold_wire(false);
		if (i % 7 == 0)
			read_cq(&a);
	}
	fake_time_passes();
	settle();
	for (unsigned int i = 0; i < conns; i++) {
		if (a.conns[i].ep)
			conn_close(&a.conns[i]);
		conn_close(&b.conns[i]);
	}
	read_cq(&a);
	read_cq(&b);
	cr_assert_eq(fake_problems(true), 0);
	cr_assert_geq(a.n_sent + a.n_canceled + a.n_failed, sent);
}

Test(layered, close_under_load_gives_every_buffer_back)
{
	close_under_load(8);
	cr_assert_eq(posted(&a), 0);
	cr_assert_eq(posted(&b), 0);
	close_both();
}

static void lagging(void)
{
	static const struct fake_dev_conf conf = { .name = "lag",
						   .flush_lag = true,
						   .stale_cqes = true,
						   .max_cqe = 1000,
						   .addrs = { "10.77.0.1" } };

	set_up_conf(&conf);
}

Test(layered_lag, close_under_load_gives_every_buffer_back, .init = lagging,
     .fini = tear_down, .timeout = 120)
{
	close_under_load(8);
	cr_assert_eq(posted(&a), 0);
	cr_assert_eq(posted(&b), 0);
	close_both();
}

/* What a shared context holds stays there: it is not the endpoints'. */
Test(layered, close_under_load_leaves_shared_receives_posted)
{
	want.shared = true;
	want.rx_size = 4096;
	close_under_load(8);
	cr_assert_eq(posted(&a), 4096 - a.n_received);
	cr_assert_eq(posted(&b), 4096 - b.n_received);
	close_both();
}

/* LF#10692; design D8: as many as a layer of 300 peers has on one queue. */
Test(layered, many_connections_share_one_queue)
{
	open_both(MAX_CONNS);
	for (unsigned int i = 0; i < MAX_CONNS; i++)
		join();
	cr_assert_geq(fake_n_cqs(), 4, "of more than 32,767 entries");
	for (unsigned int i = 0; i < MAX_CONNS; i++) {
		for (int k = 0; k < 128; k++) {
			cr_assert_eq(send_one(&a.conns[i]), 0);
			cr_assert_eq(send_one(&b.conns[i]), 0);
		}
	}
	cr_assert_eq(fake_problems(true), 0);
	read_cq(&a);
	read_cq(&b);
	cr_assert_eq(a.n_sent, 128 * MAX_CONNS);
	cr_assert_eq(a.n_received, 128 * MAX_CONNS);
	cr_assert_eq(b.n_sent, 128 * MAX_CONNS);
	cr_assert_eq(b.n_received, 128 * MAX_CONNS);
	cr_assert_eq(posted(&a) + posted(&b), 0);
	close_both();
}

Test(layered, many_connections_close_under_load)
{
	want.tx_size = 64;
	want.rx_size = 64;
	close_under_load(MAX_CONNS);
	cr_assert_eq(posted(&a), 0);
	cr_assert_eq(posted(&b), 0);
	close_both();
}
