/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_dev_probe.h"

#include <stdio.h>
#include <string.h>

#include "rcm_sys.h"

#define RCM_SYSFS_TEXT 1024

/* The line NAME=value of a uevent file, copied when it fits. */
static void rcm_nic_uevent(const char *text, const char *name, char *value,
			   size_t size)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		size_t len;

		line += *line == '\n';
		if (strncmp(line, name, n) != 0 || line[n] != '=')
			continue;
		len = strcspn(line + n + 1, "\n");
		if (len < size) {
			memcpy(value, line + n + 1, len);
			value[len] = '\0';
		}
		return;
	}
}

static void rcm_nic_id(char *buf, size_t size, unsigned int id)
{
	if (id)
		snprintf(buf, size, "0x%04x", id);
}

static void rcm_nic_ids(struct rcm_dev *dev, const char *uevent)
{
	unsigned int vendor, device;
	char id[32] = "";

	rcm_nic_uevent(uevent, "PCI_ID", id, sizeof(id));
	if (sscanf(id, "%x:%x", &vendor, &device) != 2) {
		vendor = dev->attr.vendor_id;
		device = dev->attr.vendor_part_id;
	}
	rcm_nic_id(dev->nic.vendor_id, sizeof(dev->nic.vendor_id), vendor);
	rcm_nic_id(dev->nic.device_id, sizeof(dev->nic.device_id), device);
}

/* A soft device has no bus below it, and then no such file. */
void rcm_dev_read_nic(struct rcm_dev *dev)
{
	char text[RCM_SYSFS_TEXT] = "";
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/uevent",
		 dev->name);
	if (rcm_sys->read_sysfs(path, text, sizeof(text)))
		text[0] = '\0';
	rcm_nic_uevent(text, "DRIVER", dev->nic.driver,
		       sizeof(dev->nic.driver));
	rcm_nic_uevent(text, "PCI_SLOT_NAME", dev->nic.pci,
		       sizeof(dev->nic.pci));
	rcm_nic_ids(dev, text);
	snprintf(dev->nic.firmware, sizeof(dev->nic.firmware), "%.63s",
		 dev->attr.fw_ver);
}
