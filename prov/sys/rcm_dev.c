/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_dev.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <rdma/fi_errno.h>

#include "rcm_dev_probe.h"
#include "rcm_err.h"
#include "rcm_lock.h"
#include "rcm_log.h"
#include "rcm_sys.h"

static struct rcm_lock rcm_dev_lock = {
	.rank = RCM_RANK_DEVICES,
	.enabled = true,
};
static struct rcm_dev_list *rcm_dev_current;

const char *rcm_dev_memlock(char buf[RCM_DEV_MEMLOCK])
{
	struct rlimit limit;

	buf[0] = '\0';
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY)
		snprintf(buf, RCM_DEV_MEMLOCK,
			 "; the limit of locked memory is %llu KiB",
			 (unsigned long long)limit.rlim_cur / 1024);
	return buf;
}

static void rcm_dev_list_free(struct rcm_dev_list *list)
{
	for (unsigned int i = 0; i < list->n; i++)
		rcm_dev_fini(&list->devs[i]);
	free(list->devs);
	free(list);
}

/* Under the lock. */
static void rcm_dev_list_unref(struct rcm_dev_list *list)
{
	if (list && !--list->refs)
		rcm_dev_list_free(list);
}

static int rcm_dev_list_fill(struct rcm_dev_list *list,
			     struct ibv_device **ibdevs, int n,
			     const struct ifaddrs *ifs)
{
	int ret = 0;

	list->devs = calloc(n, sizeof(*list->devs));
	if (!list->devs)
		return -FI_ENOMEM;
	for (list->n = 0; !ret && list->n < (unsigned int)n; list->n++)
		ret = rcm_dev_probe(&list->devs[list->n], ibdevs[list->n], ifs);
	return ret;
}

static int rcm_dev_list_scan(struct rcm_dev_list *list)
{
	struct ibv_device **ibdevs;
	struct ifaddrs *ifs;
	int n = 0;
	int ret;

	errno = 0;
	ibdevs = rcm_sys->get_device_list(&n);
	if (!ibdevs) {
		ret = errno;
		snprintf(list->reason, sizeof(list->reason),
			 "cannot list RDMA devices: %s",
			 ret == ENOSYS ? "the kernel has no RDMA support" :
					 fi_strerror(ret ? ret : FI_EOTHER));
		return ret == ENOMEM ? -FI_ENOMEM : 0;
	}
	if (!n) {
		snprintf(list->reason, sizeof(list->reason),
			 "there is no RDMA device");
		rcm_sys->free_device_list(ibdevs);
		return 0;
	}
	ret = rcm_sys->get_ifaddrs(&ifs);
	if (ret) {
		snprintf(list->reason, sizeof(list->reason),
			 "cannot list network interfaces: %s",
			 fi_strerror(-ret));
		rcm_sys->free_device_list(ibdevs);
		return ret == -FI_ENOMEM ? ret : 0;
	}
	ret = rcm_dev_list_fill(list, ibdevs, n, ifs);
	rcm_sys->free_ifaddrs(ifs);
	rcm_sys->free_device_list(ibdevs);
	return ret;
}

static struct rcm_dev_list *rcm_dev_list_new(void)
{
	struct rcm_dev_list *list = calloc(1, sizeof(*list));
	char memlock[RCM_DEV_MEMLOCK];

	if (!list)
		return NULL;
	list->refs = 1;
	if (rcm_dev_list_scan(list)) {
		rcm_dev_list_free(list);
		return NULL;
	}
	RCM_INFO(FABRIC, "RDMA devices: %u%s%s", list->n,
		 list->reason[0] ? ", " : "", list->reason);
	if (list->n && *rcm_dev_memlock(memlock))
		RCM_INFO(FABRIC, "%s", memlock + strlen("; "));
	return list;
}

static bool rcm_dev_list_useful(const struct rcm_dev_list *list)
{
	for (unsigned int i = 0; list && i < list->n; i++) {
		if (list->devs[i].usable)
			return true;
	}
	return false;
}

struct rcm_dev_list *rcm_dev_list_get(bool rescan)
{
	struct rcm_dev_list *list;

	rcm_lock(&rcm_dev_lock);
	list = rcm_dev_current;
	if (rescan || !rcm_dev_list_useful(list)) {
		list = rcm_dev_list_new();
		if (list) {
			rcm_dev_list_unref(rcm_dev_current);
			rcm_dev_current = list;
		}
	}
	if (list)
		list->refs++;
	rcm_unlock(&rcm_dev_lock);
	return list;
}

void rcm_dev_list_put(struct rcm_dev_list *list)
{
	rcm_lock(&rcm_dev_lock);
	rcm_dev_list_unref(list);
	rcm_unlock(&rcm_dev_lock);
}

void rcm_dev_list_reset(void)
{
	rcm_lock(&rcm_dev_lock);
	rcm_dev_list_unref(rcm_dev_current);
	rcm_dev_current = NULL;
	rcm_unlock(&rcm_dev_lock);
}

const struct rcm_dev *rcm_dev_find(const struct rcm_dev_list *list,
				   const char *name)
{
	for (unsigned int i = 0; i < list->n; i++) {
		if (!strcmp(list->devs[i].name, name))
			return &list->devs[i];
	}
	return NULL;
}

const struct rcm_dev_port *rcm_dev_port(const struct rcm_dev *dev, uint8_t num)
{
	for (unsigned int i = 0; i < dev->n_ports; i++) {
		if (dev->ports[i].num == num)
			return &dev->ports[i];
	}
	return NULL;
}

/* -FI_E of errno after a call that failed without saying more. */
static int rcm_dev_errno(void)
{
	return errno ? -rcm_err_from_errno(errno) : -FI_EOTHER;
}

static int rcm_dev_no_block(struct ibv_context *ctx)
{
	int flags = fcntl(ctx->async_fd, F_GETFL);

	if (flags < 0 || fcntl(ctx->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return rcm_dev_errno();
	return 0;
}

static int rcm_dev_open_one(struct ibv_device *ibdev, struct ibv_context **ctx)
{
	struct ibv_context *opened;
	int ret;

	errno = 0;
	opened = rcm_sys->open_device(ibdev);
	if (!opened)
		return rcm_dev_errno();
	ret = rcm_dev_no_block(opened);
	if (ret) {
		rcm_sys->close_device(opened);
		return ret;
	}
	*ctx = opened;
	return 0;
}

int rcm_dev_open(const char *name, struct ibv_context **ctx)
{
	struct ibv_device **ibdevs;
	int ret = -FI_ENODEV;
	int n = 0;

	errno = 0;
	ibdevs = rcm_sys->get_device_list(&n);
	if (!ibdevs)
		return rcm_dev_errno();
	for (int i = 0; i < n; i++) {
		if (strcmp(rcm_sys->get_device_name(ibdevs[i]), name) != 0)
			continue;
		ret = rcm_dev_open_one(ibdevs[i], ctx);
		break;
	}
	rcm_sys->free_device_list(ibdevs);
	return ret;
}
