/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_nic.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_obj.h"

static struct fi_ops rcm_nic_fi_ops; /* at the end of the file */

/* Also for one that was made only in part. */
static void rcm_nic_free(struct fid_nic *nic)
{
	if (nic->device_attr) {
		free(nic->device_attr->name);
		free(nic->device_attr->device_id);
		free(nic->device_attr->device_version);
		free(nic->device_attr->vendor_id);
		free(nic->device_attr->driver);
		free(nic->device_attr->firmware);
	}
	if (nic->link_attr) {
		free(nic->link_attr->address);
		free(nic->link_attr->network_type);
	}
	free(nic->device_attr);
	free(nic->bus_attr);
	free(nic->link_attr);
	free(nic);
}

static struct fid_nic *rcm_nic_alloc(void)
{
	struct fid_nic *nic = calloc(1, sizeof(*nic));

	if (!nic)
		return NULL;
	nic->fid.fclass = FI_CLASS_NIC;
	nic->fid.ops = &rcm_nic_fi_ops;
	nic->device_attr = calloc(1, sizeof(*nic->device_attr));
	nic->bus_attr = calloc(1, sizeof(*nic->bus_attr));
	nic->link_attr = calloc(1, sizeof(*nic->link_attr));
	if (!nic->device_attr || !nic->bus_attr || !nic->link_attr) {
		rcm_nic_free(nic);
		return NULL;
	}
	return nic;
}

/* *TO becomes a copy of FROM, or stays NULL for what is unknown. */
static bool rcm_nic_text(char **to, const char *from)
{
	if (!from || !*from)
		return true;
	*to = strdup(from);
	return *to;
}

/* Bits per second that an active speed code stands for, of one lane. */
static size_t rcm_nic_lane_speed(uint8_t code)
{
	static const struct {
		uint8_t code;
		size_t mbps;
	} speeds[] = {
		{ 1, 2500 },   { 2, 5000 },   { 4, 10000 },  { 8, 10000 },
		{ 16, 14000 }, { 32, 25000 }, { 64, 50000 }, { 128, 100000 },
	};

	for (size_t i = 0; i < RCM_ARRAY_SIZE(speeds); i++) {
		if (speeds[i].code == code)
			return speeds[i].mbps * 1000000;
	}
	return 0;
}

static size_t rcm_nic_lanes(uint8_t code)
{
	switch (code) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

static enum fi_link_state rcm_nic_state(enum ibv_port_state state)
{
	switch (state) {
	case IBV_PORT_DOWN:
		return FI_LINK_DOWN;
	case IBV_PORT_ACTIVE:
		return FI_LINK_UP;
	default:
		return FI_LINK_UNKNOWN;
	}
}

static bool rcm_nic_fill_link(struct fi_link_attr *link,
			      const struct rcm_dev_port *of)
{
	const struct ibv_port_attr *port = &of->attr;
	char gid[INET6_ADDRSTRLEN] = "";

	if (port->active_mtu >= IBV_MTU_256 && port->active_mtu <= IBV_MTU_4096)
		link->mtu = (size_t)128 << port->active_mtu;
	link->speed = rcm_nic_lane_speed(port->active_speed) *
		      rcm_nic_lanes(port->active_width);
	link->state = rcm_nic_state(port->state);
	inet_ntop(AF_INET6, of->gid.raw, gid, sizeof(gid));
	return rcm_nic_text(&link->address, gid) &&
	       rcm_nic_text(&link->network_type,
			    port->link_layer == IBV_LINK_LAYER_ETHERNET ?
				    "Ethernet" :
				    "InfiniBand");
}

static void rcm_nic_fill_bus(struct fi_bus_attr *bus, const char *pci)
{
	unsigned int domain, b, device, function;

	bus->bus_type = FI_BUS_UNKNOWN;
	if (sscanf(pci, "%x:%x:%x.%x", &domain, &b, &device, &function) != 4)
		return;
	bus->bus_type = FI_BUS_PCI;
	bus->attr.pci.domain_id = (uint16_t)domain;
	bus->attr.pci.bus_id = (uint8_t)b;
	bus->attr.pci.device_id = (uint8_t)device;
	bus->attr.pci.function_id = (uint8_t)function;
}

static bool rcm_nic_fill_device(struct fi_device_attr *attr,
				const struct rcm_dev *dev)
{
	char version[16];

	snprintf(version, sizeof(version), "%" PRIu32, dev->attr.hw_ver);
	return rcm_nic_text(&attr->name, dev->name) &&
	       rcm_nic_text(&attr->device_id, dev->nic.device_id) &&
	       rcm_nic_text(&attr->device_version, version) &&
	       rcm_nic_text(&attr->vendor_id, dev->nic.vendor_id) &&
	       rcm_nic_text(&attr->driver, dev->nic.driver) &&
	       rcm_nic_text(&attr->firmware, dev->nic.firmware);
}

struct fid_nic *rcm_nic_new(const struct rcm_dev *dev,
			    const struct rcm_dev_port *port)
{
	struct fid_nic *nic = rcm_nic_alloc();

	if (!nic)
		return NULL;
	rcm_nic_fill_bus(nic->bus_attr, dev->nic.pci);
	if (!rcm_nic_fill_device(nic->device_attr, dev) ||
	    !rcm_nic_fill_link(nic->link_attr, port)) {
		rcm_nic_free(nic);
		return NULL;
	}
	return nic;
}

static bool rcm_nic_copy(struct fid_nic *to, const struct fid_nic *from)
{
	const struct fi_device_attr *dev = from->device_attr;
	const struct fi_link_attr *link = from->link_attr;

	to->prov_attr = from->prov_attr;
	*to->bus_attr = *from->bus_attr;
	to->link_attr->mtu = link->mtu;
	to->link_attr->speed = link->speed;
	to->link_attr->state = link->state;
	return rcm_nic_text(&to->device_attr->name, dev->name) &&
	       rcm_nic_text(&to->device_attr->device_id, dev->device_id) &&
	       rcm_nic_text(&to->device_attr->device_version,
			    dev->device_version) &&
	       rcm_nic_text(&to->device_attr->vendor_id, dev->vendor_id) &&
	       rcm_nic_text(&to->device_attr->driver, dev->driver) &&
	       rcm_nic_text(&to->device_attr->firmware, dev->firmware) &&
	       rcm_nic_text(&to->link_attr->address, link->address) &&
	       rcm_nic_text(&to->link_attr->network_type, link->network_type);
}

/* fi_dupinfo(3) asks for this; without it two infos would share the nic. */
static int rcm_nic_dup(const struct fid_nic *nic, struct fid_nic **dup)
{
	struct fid_nic *copy = rcm_nic_alloc();

	/* the core frees what it finds here, and it was NIC itself */
	*dup = NULL;
	if (!copy)
		return -FI_ENOMEM;
	if (!rcm_nic_copy(copy, nic)) {
		rcm_nic_free(copy);
		return -FI_ENOMEM;
	}
	*dup = copy;
	return 0;
}

/* prov_attr is the provider's own: nobody else reads or frees it. */
static char rcm_nic_layered;

void rcm_nic_set_layered(struct fid_nic *nic)
{
	nic->prov_attr = &rcm_nic_layered;
}

bool rcm_nic_is_layered(const struct fi_info *info)
{
	return info->nic && info->nic->prov_attr == &rcm_nic_layered;
}

static int rcm_nic_close(struct fid *fid)
{
	rcm_nic_free(rcm_container_of(fid, struct fid_nic, fid));
	return 0;
}

static int rcm_nic_control(struct fid *fid, int command, void *arg)
{
	if (command != FI_DUP || !arg)
		return -FI_ENOSYS;
	return rcm_nic_dup(rcm_container_of(fid, struct fid_nic, fid), arg);
}

/* Appends to BUF of LEN bytes in all. */
RCM_PRINTF(3, 4)
static void rcm_nic_print(char *buf, size_t len, const char *fmt, ...)
{
	size_t used = strnlen(buf, len);
	va_list ap;

	if (used == len)
		return;
	va_start(ap, fmt);
	vsnprintf(buf + used, len - used, fmt, ap);
	va_end(ap);
}

static const char *rcm_nic_or_null(const char *text)
{
	return text ? text : "(null)";
}

static void rcm_nic_print_bus(char *buf, size_t len,
			      const struct fi_bus_attr *bus)
{
	rcm_nic_print(buf, len, "        fi_bus_attr:\n");
	if (bus->bus_type != FI_BUS_PCI) {
		rcm_nic_print(buf, len,
			      "            bus_type: FI_BUS_UNKNOWN\n");
		return;
	}
	rcm_nic_print(buf, len,
		      "            bus_type: FI_BUS_PCI\n"
		      "            address: %04x:%02x:%02x.%x\n",
		      bus->attr.pci.domain_id, bus->attr.pci.bus_id,
		      bus->attr.pci.device_id, bus->attr.pci.function_id);
}

static const char *rcm_nic_state_str(enum fi_link_state state)
{
	switch (state) {
	case FI_LINK_DOWN:
		return "FI_LINK_DOWN";
	case FI_LINK_UP:
		return "FI_LINK_UP";
	default:
		return "FI_LINK_UNKNOWN";
	}
}

/* For fi_tostr(3) of an info: BUF already holds what comes before. */
static int rcm_nic_tostr(const struct fid *fid, char *buf, size_t len)
{
	const struct fid_nic *nic = rcm_container_of(fid, const struct fid_nic,
						     fid);
	const struct fi_device_attr *dev = nic->device_attr;
	const struct fi_link_attr *link = nic->link_attr;

	rcm_nic_print(buf, len,
		      "    nic:\n"
		      "        fi_device_attr:\n"
		      "            name: %s\n"
		      "            device_id: %s\n"
		      "            device_version: %s\n"
		      "            vendor_id: %s\n"
		      "            driver: %s\n"
		      "            firmware: %s\n",
		      rcm_nic_or_null(dev->name),
		      rcm_nic_or_null(dev->device_id),
		      rcm_nic_or_null(dev->device_version),
		      rcm_nic_or_null(dev->vendor_id),
		      rcm_nic_or_null(dev->driver),
		      rcm_nic_or_null(dev->firmware));
	rcm_nic_print_bus(buf, len, nic->bus_attr);
	rcm_nic_print(buf, len,
		      "        fi_link_attr:\n"
		      "            address: %s\n"
		      "            mtu: %zu\n"
		      "            speed: %zu\n"
		      "            state: %s\n"
		      "            network_type: %s\n",
		      rcm_nic_or_null(link->address), link->mtu, link->speed,
		      rcm_nic_state_str(link->state),
		      rcm_nic_or_null(link->network_type));
	return 0;
}

static struct fi_ops rcm_nic_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_nic_close,
	.bind = rcm_no_bind,
	.control = rcm_nic_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_nic_tostr,
	.ops_set = rcm_no_ops_set,
};
