/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_dev_probe.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_sys.h"

void rcm_dev_leave_out(struct rcm_dev *dev, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(dev->reason, sizeof(dev->reason), fmt, ap);
	va_end(ap);
	dev->usable = false;
	RCM_INFO(FABRIC, "device %s left out: %s", dev->name, dev->reason);
}

void rcm_dev_fini(struct rcm_dev *dev)
{
	free(dev->ports);
	free(dev->addrs);
	dev->ports = NULL;
	dev->addrs = NULL;
	dev->n_ports = 0;
	dev->n_addrs = 0;
}

/* Leaves DEV out for what a call of the kernel returned. */
static int rcm_dev_failed(struct rcm_dev *dev, const char *what, int ret)
{
	rcm_dev_leave_out(dev, "cannot %s: %s", what, fi_strerror(-ret));
	return ret == -FI_ENOMEM ? ret : 0;
}

static int rcm_dev_query_ports(struct rcm_dev *dev, struct ibv_context *ctx)
{
	dev->ports = calloc(dev->attr.phys_port_cnt, sizeof(*dev->ports));
	if (!dev->ports)
		return dev->attr.phys_port_cnt ? -FI_ENOMEM : 0;
	for (unsigned int i = 0; i < dev->attr.phys_port_cnt; i++) {
		struct rcm_dev_port *port = &dev->ports[dev->n_ports];

		/* one bad port does not hide the others */
		port->num = (uint8_t)(i + 1);
		if (!rcm_sys->query_port(ctx, port->num, &port->attr))
			dev->n_ports++;
	}
	return 0;
}

static bool rcm_dev_any_active(const struct rcm_dev *dev)
{
	for (unsigned int i = 0; i < dev->n_ports; i++) {
		if (dev->ports[i].attr.state == IBV_PORT_ACTIVE)
			return true;
	}
	return false;
}

static void rcm_dev_keep_gid0(struct rcm_dev *dev,
			      const struct ibv_gid_entry *gids, size_t n)
{
	for (size_t g = 0; g < n; g++) {
		if (gids[g].gid_index)
			continue;
		for (unsigned int i = 0; i < dev->n_ports; i++) {
			if (dev->ports[i].num == gids[g].port_num)
				dev->ports[i].gid = gids[g].gid;
		}
	}
}

static int rcm_dev_query_addrs(struct rcm_dev *dev, struct ibv_context *ctx,
			       const struct ifaddrs *ifs)
{
	struct ibv_gid_entry *gids;
	size_t max = 0;
	ssize_t n;
	int ret;

	for (unsigned int i = 0; i < dev->n_ports; i++)
		max += (size_t)dev->ports[i].attr.gid_tbl_len;
	gids = calloc(max + 1, sizeof(*gids));
	if (!gids)
		return -FI_ENOMEM;
	n = rcm_sys->query_gid_table(ctx, gids, max);
	if (n < 0) {
		ret = rcm_dev_failed(dev, "read its table of GIDs", (int)n);
	} else {
		rcm_dev_keep_gid0(dev, gids, (size_t)n);
		ret = rcm_dev_match(dev, gids, (size_t)n, ifs);
	}
	free(gids);
	return ret;
}

static int rcm_dev_query(struct rcm_dev *dev, struct ibv_context *ctx,
			 const struct ifaddrs *ifs)
{
	int ret = rcm_sys->query_device(ctx, &dev->attr);

	if (ret)
		return rcm_dev_failed(dev, "query its attributes", ret);
	ret = rcm_dev_query_ports(dev, ctx);
	if (ret)
		return ret;
	rcm_dev_read_nic(dev);
	if (!rcm_dev_any_active(dev)) {
		rcm_dev_leave_out(dev, "no active port");
		return 0;
	}
	return rcm_dev_query_addrs(dev, ctx, ifs);
}

/*
 * A device that cannot be opened; ERR is errno as it was right then. The
 * library tries more than one path, and what it reports of a file that may
 * not be opened is that the last one does not exist.
 */
static int rcm_dev_not_opened(struct rcm_dev *dev,
			      const struct ibv_device *ibdev, int err)
{
	char memlock[RCM_DEV_MEMLOCK] = "";
	char path[128];

	snprintf(path, sizeof(path), "/dev/infiniband/%.64s", ibdev->dev_name);
	if (access(path, R_OK | W_OK) && errno == EACCES) {
		rcm_dev_leave_out(dev, "no permission to open %s", path);
		return 0;
	}
	err = err ? rcm_err_from_errno(err) : FI_EOTHER;
	if (err == FI_ENOMEM || err == FI_EAGAIN)
		rcm_dev_memlock(memlock);
	rcm_dev_leave_out(dev, "cannot open it: %s%s", fi_strerror(err),
			  memlock);
	return 0;
}

int rcm_dev_probe(struct rcm_dev *dev, struct ibv_device *ibdev,
		  const struct ifaddrs *ifs)
{
	struct ibv_context *ctx;
	int ret;

	snprintf(dev->name, sizeof(dev->name), "%s",
		 rcm_sys->get_device_name(ibdev));
	dev->iwarp = ibdev->transport_type == IBV_TRANSPORT_IWARP;
	if (!dev->iwarp && ibdev->transport_type != IBV_TRANSPORT_IB) {
		rcm_dev_leave_out(dev, "its transport has no connections of "
				       "the RDMA connection manager");
		return 0;
	}
	errno = 0;
	ctx = rcm_sys->open_device(ibdev);
	if (!ctx)
		return rcm_dev_not_opened(dev, ibdev, errno);
	dev->usable = true;
	ret = rcm_dev_query(dev, ctx, ifs);
	rcm_sys->close_device(ctx);
	return ret;
}
