/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_DEV_H
#define RCM_DEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "rcm_addr.h"

/* One IP address of a device. */
struct rcm_dev_addr {
	union rcm_addr addr; /* port 0; a link-local one has its scope */
	char ifname[16];     /* of the network interface, without a label */
	uint8_t port_num;
};

/* One port, whatever its state. */
struct rcm_dev_port {
	uint8_t num;
	struct ibv_port_attr attr;
	union ibv_gid gid; /* entry 0: its upper half is the subnet prefix */
};

/* What NIC attributes want to know (fi_nic(3)); "" where unknown. */
struct rcm_dev_nic {
	char driver[64];
	char firmware[64];
	char vendor_id[16]; /* "0x15b3" */
	char device_id[16];
	char pci[32]; /* "0000:3b:00.0" */
};

#define RCM_DEV_REASON 160

struct rcm_dev {
	char name[64];
	bool iwarp; /* else InfiniBand transport: InfiniBand or RoCE */
	struct ibv_device_attr attr;
	unsigned int n_ports;
	struct rcm_dev_port *ports;
	uint8_t port_num; /* the first active port with an address */
	struct ibv_port_attr port;
	union ibv_gid gid; /* of that port */
	bool usable;
	char reason[RCM_DEV_REASON]; /* why not usable, in words */
	struct rcm_dev_nic nic;
	unsigned int n_addrs;
	struct rcm_dev_addr *addrs; /* those that reach far come first */
};

/*
 * Sends that a user may have outstanding on one queue pair: one request is
 * kept for its end, to see that all before it are over (xfer/rcm_drain.c).
 */
static inline int rcm_dev_max_sends(const struct ibv_device_attr *attr)
{
	return attr->max_qp_wr - 1;
}

/* Buffers that one read may have; some devices do not say. */
static inline int rcm_dev_max_read_sge(const struct ibv_device_attr *attr)
{
	return attr->max_sge_rd > 0 && attr->max_sge_rd < attr->max_sge ?
		       attr->max_sge_rd :
		       attr->max_sge;
}

/*
 * Shared receive queues that a device has: 0 when it has none that could be
 * used. The receives that one may hold: all of them may wait in one
 * completion queue.
 */
static inline int rcm_dev_max_srq(const struct ibv_device_attr *attr)
{
	if (attr->max_srq_wr < 1 || attr->max_srq_sge < 1 || attr->max_cqe < 1)
		return 0;
	return attr->max_srq > 0 ? attr->max_srq : 0;
}

static inline int rcm_dev_max_shared_recvs(const struct ibv_device_attr *attr)
{
	return attr->max_srq_wr < attr->max_cqe ? attr->max_srq_wr :
						  attr->max_cqe;
}

/*
 * Whether the device has atomic operations on words of 64 bits, in the byte
 * order of the machine that has the word: one that does them in another order
 * says that it has none. The others say among what they are atomic.
 */
static inline bool rcm_dev_has_atomics(const struct ibv_device_attr *attr)
{
	return attr->atomic_cap == IBV_ATOMIC_HCA ||
	       attr->atomic_cap == IBV_ATOMIC_GLOB;
}

/* An unchanging picture of the machine's devices. */
struct rcm_dev_list {
	int refs;
	char reason[RCM_DEV_REASON]; /* why there is none at all, in words */
	unsigned int n;
	struct rcm_dev *devs;
};

/*
 * The current picture, taken at the first call and again with RESCAN or as
 * long as it held no usable device. Opens each device for a moment and
 * closes it; no network, no other process. Never NULL but for want of
 * memory. rcm_dev_list_put() when done. Thread-safe; takes the lock of
 * RCM_RANK_DEVICES.
 */
struct rcm_dev_list *rcm_dev_list_get(bool rescan);
void rcm_dev_list_put(struct rcm_dev_list *list);

/* Forgets the picture; for the provider's cleanup and for tests. */
void rcm_dev_list_reset(void);

/* The device of exactly this name, or NULL. */
const struct rcm_dev *rcm_dev_find(const struct rcm_dev_list *list,
				   const char *name);

/* The port of this number, or NULL. */
const struct rcm_dev_port *rcm_dev_port(const struct rcm_dev *dev, uint8_t num);

/*
 * Opens the device of this name for a domain; its async fd does not block.
 * -FI_ENODEV, -FI_EACCES or what the kernel said. The caller closes it with
 * rcm_sys->close_device().
 */
int rcm_dev_open(const char *name, struct ibv_context **ctx);

/*
 * "; the limit of locked memory is 64 KiB" when there is one (ulimit -l),
 * else "". BUF is returned.
 */
#define RCM_DEV_MEMLOCK 64
const char *rcm_dev_memlock(char buf[RCM_DEV_MEMLOCK]);

#endif /* RCM_DEV_H */
