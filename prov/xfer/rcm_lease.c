/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_lease.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_bounce.h"
#include "rcm_dev.h"
#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_sys.h"

struct rcm_lease {
	struct rcm_lease *next;
	struct rcm_lease_pool *pool; /* whose buffer it is, or NULL */
	/* what has been read is copied from the buffer to here; or NULL */
	void *back;
	const void *from;
	uint32_t len;
	uint32_t n;
	struct ibv_mr *mr[]; /* N regions of its own; none with a buffer */
};

/* Buffers to copy into, each with the lease that goes with it. */
struct rcm_lease_pool {
	struct rcm_bounce *bounce;
	_Atomic uint32_t free; /* a bit for each */
	struct rcm_lease lease[RCM_LEASE_BUFS];
};

_Static_assert(RCM_LEASE_BUFS == 32, "one bit of a word for each");

int rcm_leases_open(struct rcm_ring *ring, struct ibv_pd *pd, int access,
		    struct rcm_lease **ended)
{
	struct rcm_leases *leases = calloc(1, sizeof(*leases));

	if (!leases)
		return -FI_ENOMEM;
	leases->slot = calloc((size_t)ring->mask + 1,
			      sizeof(struct rcm_lease *));
	if (!leases->slot) {
		free(leases);
		return -FI_ENOMEM;
	}
	leases->pd = pd;
	leases->access = access;
	leases->pull_access = access | IBV_ACCESS_LOCAL_WRITE;
	leases->ended = ended;
	ring->leases = leases;
	return 0;
}

static void rcm_lease_pool_close(struct rcm_lease_pool *pool)
{
	if (!pool)
		return;
	rcm_bounce_close(pool->bounce);
	free(pool);
}

void rcm_leases_close(struct rcm_ring *ring)
{
	struct rcm_leases *leases = ring->leases;

	if (!leases)
		return;
	rcm_lease_pool_close(atomic_load(&leases->pool));
	free(leases->slot);
	free(leases);
	ring->leases = NULL;
}

static struct rcm_lease_pool *rcm_lease_pool_new(struct rcm_leases *leases)
{
	struct rcm_lease_pool *pool = calloc(1, sizeof(*pool));
	uint32_t i;

	if (!pool)
		return NULL;
	if (rcm_bounce_open(&pool->bounce, leases->pd, RCM_LEASE_BUFS,
			    RCM_LEASE_COPY)) {
		free(pool);
		return NULL;
	}
	atomic_init(&pool->free, UINT32_MAX);
	for (i = 0; i < RCM_LEASE_BUFS; i++)
		pool->lease[i].pool = pool;
	return pool;
}

/* Two threads may make one at once; NULL when there is no memory for it. */
static struct rcm_lease_pool *rcm_lease_get_pool(struct rcm_leases *leases)
{
	struct rcm_lease_pool *pool = atomic_load(&leases->pool), *made;

	if (pool || atomic_load(&leases->no_pool))
		return pool;
	made = rcm_lease_pool_new(leases);
	if (!made) {
		RCM_INFO(EP_DATA, "no buffers to copy short messages into: "
				  "each is registered");
		atomic_store(&leases->no_pool, true);
		return NULL;
	}
	if (atomic_compare_exchange_strong(&leases->pool, &pool, made))
		return made;
	rcm_lease_pool_close(made);
	return pool;
}

/* A buffer that nobody uses, or NULL. */
static struct rcm_lease *rcm_lease_claim(struct rcm_lease_pool *pool)
{
	uint32_t bits = atomic_load(&pool->free);
	int i;

	do {
		if (!bits)
			return NULL;
		i = __builtin_ctz(bits);
	} while (!atomic_compare_exchange_weak(&pool->free, &bits,
					       bits & (bits - 1)));
	return &pool->lease[i];
}

/* Copies what has no key, if there is a buffer for it. */
static struct rcm_lease *rcm_lease_copy(struct rcm_leases *leases,
					struct ibv_sge *sge, uint32_t n)
{
	struct rcm_lease_pool *pool = rcm_lease_get_pool(leases);
	struct rcm_lease *lease = pool ? rcm_lease_claim(pool) : NULL;
	size_t at = 0;
	uint32_t i;

	if (!lease)
		return NULL;
	for (i = 0; i < n; i++) {
		if (sge[i].lkey)
			continue;
		rcm_bounce_put(pool->bounce, (uint32_t)(lease - pool->lease),
			       at, &sge[i]);
		at += sge[i].length;
	}
	return lease;
}

/* The one buffer without a key gets what is read by way of one of ours. */
static struct rcm_lease *rcm_lease_copy_back(struct rcm_leases *leases,
					     struct ibv_sge *sge)
{
	struct rcm_lease_pool *pool = rcm_lease_get_pool(leases);
	struct rcm_lease *lease = pool ? rcm_lease_claim(pool) : NULL;

	if (!lease)
		return NULL;
	while (sge->lkey)
		sge++;
	lease->back = (void *)(uintptr_t)sge->addr;
	lease->len = sge->length;
	lease->from = rcm_bounce_lend(pool->bounce,
				      (uint32_t)(lease - pool->lease), sge);
	return lease;
}

/*
 * One line for a queue, and the rest where somebody looks for them: the
 * application may go on trying.
 */
static int rcm_lease_failed(struct rcm_leases *leases, size_t len, int err)
{
	char memlock[RCM_DEV_MEMLOCK] = "";
	/* reading completions would not end it */
	int ret = -rcm_err_from_errno(err == EAGAIN ? ENOMEM : err);

	if (ret == -FI_ENOMEM)
		rcm_dev_memlock(memlock);
	if (!atomic_exchange(&leases->told, true))
		RCM_WARN(EP_DATA,
			 "registering %zu bytes for one operation: %s%s", len,
			 fi_strerror(-ret), memlock);
	else
		RCM_INFO(EP_DATA,
			 "registering %zu bytes for one operation: %s%s", len,
			 fi_strerror(-ret), memlock);
	return ret;
}

/* One more region of LEASE; its key in *LKEY. */
static int rcm_lease_add(struct rcm_leases *leases, struct rcm_lease *lease,
			 uint64_t addr, size_t len, int access, uint32_t *lkey)
{
	struct ibv_mr *mr = rcm_sys->reg_mr(leases->pd, (void *)(uintptr_t)addr,
					    len, access);

	if (!mr)
		return rcm_lease_failed(leases, len, errno);
	lease->mr[lease->n++] = mr;
	*lkey = mr->lkey;
	return 0;
}

static struct rcm_lease *rcm_lease_new(uint32_t most)
{
	return calloc(1, sizeof(struct rcm_lease) +
				 most * sizeof(struct ibv_mr *));
}

/* Registers the BARE buffers, those without a key. */
static int rcm_lease_register(struct rcm_leases *leases, struct ibv_sge *sge,
			      uint32_t n, uint32_t bare, int access,
			      struct rcm_lease **out)
{
	struct rcm_lease *lease = rcm_lease_new(bare);
	int ret = lease ? 0 : -FI_ENOMEM;
	uint32_t i;

	for (i = 0; !ret && i < n; i++)
		if (!sge[i].lkey)
			ret = rcm_lease_add(leases, lease, sge[i].addr,
					    sge[i].length, access,
					    &sge[i].lkey);
	if (ret)
		rcm_lease_put(lease);
	else
		*out = lease;
	return ret;
}

int rcm_lease_get_one(struct rcm_leases *leases, uint64_t addr, size_t len,
		      uint32_t *lkey, struct rcm_lease **out)
{
	struct rcm_lease *lease = rcm_lease_new(1);
	int ret = lease ? 0 : -FI_ENOMEM;

	if (!ret)
		ret = rcm_lease_add(leases, lease, addr, len, leases->access,
				    lkey);
	if (ret)
		rcm_lease_put(lease);
	else
		*out = lease;
	return ret;
}

int rcm_lease_get(struct rcm_leases *leases, struct ibv_sge *sge, uint32_t n,
		  bool pull, struct rcm_lease **out)
{
	int access = pull ? leases->pull_access : leases->access;
	uint32_t i, todo = 0;
	uint64_t len = 0;

	for (i = 0; i < n; i++) {
		if (sge[i].lkey)
			continue;
		len += sge[i].length;
		todo++;
	}
	*out = NULL;
	/* of what the device writes only a read has an end to copy at */
	if (len <= RCM_LEASE_COPY && !(access & IBV_ACCESS_LOCAL_WRITE))
		*out = rcm_lease_copy(leases, sge, n);
	else if (len <= RCM_LEASE_COPY && pull && todo == 1 &&
		 access == IBV_ACCESS_LOCAL_WRITE)
		*out = rcm_lease_copy_back(leases, sge);
	if (*out)
		return 0;
	return rcm_lease_register(leases, sge, n, todo, access, out);
}

static void rcm_lease_put_buffer(struct rcm_lease *lease)
{
	struct rcm_lease_pool *pool = lease->pool;

	lease->back = NULL;
	atomic_fetch_or(&pool->free, 1u << (lease - pool->lease));
}

static void rcm_lease_put_one(struct rcm_lease *lease)
{
	uint32_t i;
	int ret;

	if (lease->pool) {
		rcm_lease_put_buffer(lease);
		return;
	}
	for (i = 0; i < lease->n; i++) {
		ret = rcm_sys->dereg_mr(lease->mr[i]);
		if (ret)
			RCM_WARN(EP_DATA, "deregistering: %s",
				 fi_strerror(-ret));
	}
	free(lease);
}

void rcm_lease_put(struct rcm_lease *lease)
{
	struct rcm_lease *next;

	for (; lease; lease = next) {
		next = lease->next;
		rcm_lease_put_one(lease);
	}
}

void rcm_lease_set(struct rcm_ring *ring, uint32_t pos, struct rcm_lease *lease)
{
	ring->leases->slot[pos & ring->mask] = lease;
}

void rcm_lease_move(struct rcm_ring *ring, uint32_t from, uint32_t to)
{
	struct rcm_lease **slot;

	if (!ring->leases)
		return;
	slot = ring->leases->slot;
	slot[to & ring->mask] = slot[from & ring->mask];
	slot[from & ring->mask] = NULL;
}

void rcm_lease_end_one(struct rcm_lease *lease, struct rcm_lease **ended)
{
	if (!lease)
		return;
	/* a buffer costs nothing, and may be wanted before the lock is free */
	if (lease->pool) {
		rcm_lease_put_buffer(lease);
		return;
	}
	lease->next = *ended;
	*ended = lease;
}

void rcm_lease_end(struct rcm_ring *ring, uint32_t pos, bool well)
{
	struct rcm_leases *leases = ring->leases;
	struct rcm_lease *lease = leases->slot[pos & ring->mask];

	leases->slot[pos & ring->mask] = NULL;
	if (well && lease && lease->back)
		memcpy(lease->back, lease->from, lease->len);
	rcm_lease_end_one(lease, leases->ended);
}
