/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef NET_H
#define NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "fake.h"
#include "rcm_addr.h"

/*
 * Two endpoints on the fake device, through fi_* calls only. Every step
 * returns 0 or a negative FI_E code and leaves what it made in the struct,
 * so that a fault at any call can be followed by net_close(). Nothing waits:
 * what does not come within some rounds of reading is -FI_ETIMEDOUT.
 */

#define NET_BUF	   8192 /* bytes of each side's buffer, registered for its caps */
#define NET_EVENTS 16

/* An event or error entry that was read from an EQ. */
struct net_ev {
	uint32_t event; /* 0: an error entry */
	fid_t fid;
	struct fi_info *info;
	int err, prov_errno;
	size_t len;
	uint8_t data[256];
};

/* A completion or error entry, whatever the queue's format. */
struct net_comp {
	void *context;
	uint64_t flags;
	size_t len;
	uint64_t data;
	int err, prov_errno;
	size_t olen;
};

struct net_side {
	struct fid_eq *eq;
	struct fid_cq *cq;    /* for both directions, unless there is: */
	struct fid_cq *rx_cq; /* one for receives */
	struct fid_cntr *tx_cntr, *rx_cntr; /* only those of bind_ep */
	struct fid_ep *srx; /* bound to its endpoints when there */
	struct fid_ep *ep;
	struct fid_mr *mr; /* none where mr_mode is 0 */
	void *desc;
	uint8_t buf[NET_BUF];
	unsigned int n_ev;
	struct net_ev ev[NET_EVENTS]; /* read, and not asked for yet */
};

/* Side 0 connects, side 1 listens and accepts. */
struct net {
	struct fi_info *hints;	/* may be changed before net_open() */
	uint64_t getinfo_flags; /* the same */
	struct fi_info *info;
	struct fi_eq_attr eq_attr; /* the same */
	struct fi_cq_attr cq_attr;
	uint64_t tx_bind, rx_bind; /* flags beside FI_TRANSMIT, FI_RECV */
	bool two_cqs;
	/* binds an endpoint that has its EQ, in place of the CQs' binding */
	int (*bind_ep)(struct net *n, int side, struct fid_ep *ep);
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_pep *pep;
	union rcm_addr addr; /* where it listens */
	size_t addrlen;
	struct fi_info *req; /* of the request that was taken last */
	struct net_side side[2];
};

/* Installs the fake with N_DEVS of CONF (0: its own), and net_init(). */
void net_begin(struct net *n, const struct fake_dev_conf *conf,
	       unsigned int n_devs);
/* net_close() and fake_remove(); aborts when either complains. */
void net_end(struct net *n);

/* Defaults; no call is made but fi_allocinfo(3). -FI_ENOMEM. */
int net_init(struct net *n);
/* getinfo, fabric, domain. */
int net_open_domain(struct net *n);
/* The rest that exists once a side: event and completion queues, buffers. */
int net_open_side(struct net *n, int side);
/* Everything up to here. */
int net_open(struct net *n);
/* Passive endpoint on side 1's EQ. */
int net_listen(struct net *n);
/* Binds EP to the completion queues of SIDE. */
int net_bind_cqs(struct net *n, int side, struct fid_ep *ep);
/* An endpoint of INFO for SIDE, bound and enabled. */
int net_endpoint(struct net *n, int side, struct fi_info *info);
/* An endpoint like it that is nobody's yet. */
int net_make_ep(struct net *n, int side, struct fi_info *info,
		struct fid_ep **ep);

/* Starts: side 0 gets its endpoint, and fi_connect() with LEN bytes. */
int net_connect(struct net *n, const void *data, size_t len);
/* Takes FI_CONNREQ from side 1; *EV may be NULL. */
int net_request(struct net *n, struct net_ev *ev);
/* Side 1 gets an endpoint for the request, and fi_accept() with LEN bytes. */
int net_accept(struct net *n, const void *data, size_t len);
/* From nothing to FI_CONNECTED on both sides. */
int net_join(struct net *n);

/* One more connection to the passive endpoint: A connects, B accepts. */
int net_join_more(struct net *n, struct fid_ep **a, struct fid_ep **b);

/*
 * The next event of SIDE; both EQs are driven meanwhile. net_await() wants
 * EVENT: -err for an error entry (also of the other side, when nothing comes
 * on this one), -FI_EOTHER for another event.
 */
int net_next(struct net *n, int side, struct net_ev *ev);
int net_await(struct net *n, int side, uint32_t event, struct net_ev *ev);
/* Whether nothing more comes on SIDE. */
bool net_quiet(struct net *n, int side);

/* Posts on a side's buffer at OFF. */
int net_recv(struct net *n, int side, size_t off, size_t len, void *context);
int net_send(struct net *n, int side, size_t off, size_t len, void *context);
/*
 * The next completion of a queue: 0, -FI_EAGAIN when there is none, or what
 * fi_cq_read returned. An error entry is 0, too, with .err set.
 */
int net_comp(struct net *n, struct fid_cq *cq, struct net_comp *comp);
/* COUNT messages of LEN bytes from side FROM, verified. */
int net_exchange(struct net *n, int from, unsigned int count, size_t len);

/*
 * Closes what is there, in the right order; the first failure, or 0. What
 * would not close is still there, for another try.
 */
int net_close(struct net *n);

/*
 * The same of the domain and what is open in it alone: an event queue that it
 * is bound to outlives it.
 */
int net_close_domain(struct net *n);

/* Open file descriptors of this process. */
int net_n_fds(void);

#endif /* NET_H */
