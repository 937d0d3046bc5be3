/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef REAL_H
#define REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include <criterion/criterion.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

/*
 * Tests on a real RDMA device, through libfabric's public calls only, with
 * rcm as libfabric loads it. Both sides of a connection are in one process
 * unless a test forks. What fails here fails for a user.
 */

/* How long anything may take before a test gives up, in ms: emulated guests
 * are slow, and a passing test does not wait. */
#define REAL_PATIENCE 20000

#define real_ok(call)                                      \
	do {                                               \
		long long real_ret_ = (call);              \
		cr_assert(real_ret_ >= 0, "%s: %s", #call, \
			  fi_strerror((int)-real_ret_));   \
	} while (0)
#define real_fails(code, call)                                                \
	do {                                                                  \
		long long real_ret_ = (call);                                 \
		cr_assert(real_ret_ == -(code), "%s gives %lld (%s), not %s", \
			  #call, real_ret_, fi_strerror((int)-real_ret_),     \
			  #code);                                             \
	} while (0)

/* Regions that one test may register. */
#define REAL_MRS 64

/* What a test wants that is not the default; zeroes are the defaults. */
struct real_opts {
	const char *node;   /* address to use; the guest's IPv4 by default */
	unsigned int limit; /* s that the test may take; 60 by default */
	uint64_t caps;	    /* more than FI_MSG */
	uint64_t mode;	    /* what the test puts up with */
	size_t cq_size;
	size_t tx_size, rx_size;
	enum fi_cq_format format; /* UNSPEC: FI_CQ_FORMAT_DATA */
	enum fi_wait_obj cq_wait;
	struct fid_wait *wait_set; /* for FI_WAIT_SET */
	enum fi_threading threading;
	enum fi_progress control;
	uint64_t tx_bind, rx_bind; /* more flags for binding the CQ */
	bool counted;		   /* both kinds are counted, with cntr_wait */
	enum fi_wait_obj cntr_wait;
	bool no_cq;	   /* the endpoint is not bound to its CQs */
	bool unregistered; /* no FI_MR_LOCAL */
	bool shared;	   /* the accepting side's endpoints share r->srx */
};

/* One side of a connection, with queues of its own. */
struct real_side {
	struct fid_eq *eq;
	struct fid_cq *txcq, *rxcq;
	struct fid_cntr *txcntr, *rxcntr; /* with opts.counted */
	struct fid_cntr *rdcntr, *wrcntr; /* the same, with FI_RMA */
	struct fid_ep *ep;
};

/* Fabric, domain, a listener, and two connected sides. */
struct real {
	struct real_opts opts;
	struct fi_info *info; /* of the listener: FI_SOURCE */
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq; /* the listener's */
	struct fid_pep *pep;
	struct fid_ep *srx;	      /* with opts.shared */
	struct sockaddr_storage addr; /* where it listens */
	size_t addrlen;
	struct real_side a, b; /* a connects, b accepts */
	struct fid_mr *mrs[REAL_MRS];
	int n_mrs;
};

/* Opens all but the two sides and listens at a port of the kernel's choice. */
void real_open(struct real *r, const struct real_opts *opts);
/* real_open() and a connection between the two sides. */
void real_open_pair(struct real *r, const struct real_opts *opts);
/* Closes everything that is open; each close must succeed. */
void real_close(struct real *r);

/* Opens SIDE for INFO, enabled and bound to queues of its own. */
void real_side_open(struct real *r, struct real_side *side,
		    struct fi_info *info);
void real_side_close(struct real_side *side);

/* An info to connect to the listener with. Free with fi_freeinfo(). */
struct fi_info *real_peer_info(struct real *r);

/*
 * Waits for an event; its bytes, event in *EVENT, entry in BUF. Fails the
 * test when an error or nothing comes.
 */
ssize_t real_event(struct fid_eq *eq, uint32_t *event, void *buf, size_t len);
/* Waits for one FI_CONNREQ and gives its info. */
struct fi_info *real_request(struct real *r);
/* Waits for EVENT on the side's own queue about its endpoint. */
void real_expect(struct real_side *side, uint32_t event);
/* Waits for an error entry. */
void real_expect_err(struct fid_eq *eq, struct fi_eq_err_entry *err);
/* Nothing (more) arrives on EQ within MS milliseconds. */
void real_expect_quiet(struct fid_eq *eq, int ms);

/* Waits for one completion; false when it is an error entry, then in *ERR. */
bool real_completion(struct fid_cq *cq, struct fi_cq_data_entry *entry,
		     struct fi_cq_err_entry *err);
/* Waits for a good completion with this context. */
void real_done(struct fid_cq *cq, struct fi_cq_data_entry *entry,
	       const void *context);

/* Registers LEN bytes till real_close(); returns the descriptor. */
void *real_mr(struct real *r, void *buf, size_t len, uint64_t access);

/* Fills or checks LEN bytes of a pattern that SEED starts. */
void real_fill(void *buf, size_t len, unsigned int seed);
bool real_filled(const void *buf, size_t len, unsigned int seed);

#endif /* REAL_H */
