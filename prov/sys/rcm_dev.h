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
	union rcm_addr addr; /* port 0 */
	char ifname[16];
	uint8_t port_num;
};

/* What NIC attributes want to know (fi_nic(3)); "" where unknown. */
struct rcm_dev_nic {
	char driver[64];
	char firmware[64];
	char vendor_id[16];
	char device_id[16];
	char pci[32]; /* "0000:3b:00.0" */
};

struct rcm_dev {
	char name[64];
	struct ibv_device_attr attr;
	uint8_t port_num; /* the first active port with an address */
	struct ibv_port_attr port;
	union ibv_gid gid; /* entry 0 of that port: its subnet prefix */
	bool usable;
	char reason[160]; /* why not usable, in words */
	struct rcm_dev_nic nic;
	unsigned int n_addrs;
	struct rcm_dev_addr *addrs;
};

/* An unchanging picture of the machine's devices. */
struct rcm_dev_list {
	int refs;
	char reason[160]; /* why there is none at all, in words */
	unsigned int n;
	struct rcm_dev *devs;
};

/*
 * The current picture, taken at the first call and again with RESCAN.
 * Opens each device for a moment and closes it; no network, no other
 * process. Never NULL but for want of memory. rcm_dev_list_put() when done.
 * Thread-safe; takes the lock of RCM_RANK_DEVICES.
 */
struct rcm_dev_list *rcm_dev_list_get(bool rescan);
void rcm_dev_list_put(struct rcm_dev_list *list);

/* Forgets the picture; for the provider's cleanup and for tests. */
void rcm_dev_list_reset(void);

/* The device of exactly this name, or NULL. */
const struct rcm_dev *rcm_dev_find(const struct rcm_dev_list *list,
				   const char *name);

/*
 * Opens the device of this name for a domain; its async fd does not block.
 * -FI_ENODEV, -FI_EACCES or what the kernel said. The caller closes it with
 * rcm_sys->close_device().
 */
int rcm_dev_open(const char *name, struct ibv_context **ctx);

#endif /* RCM_DEV_H */
