# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Running on the machine's own RDMA device.

# shellcheck disable=SC2034 # device_find sets what others read
#
# Finds a device with an active port and an address; sets DEVICE_NAME,
# DEVICE_ADDR and DEVICE_ADDR6 (which may be empty). RCM_VM_NO_DEVICE hides it.
device_find() {
	local port netdev
	[ -z "${RCM_VM_NO_DEVICE:-}" ] || return 1
	for port in /sys/class/infiniband/*/ports/*; do
		grep -qs ACTIVE "$port/state" || continue
		DEVICE_NAME=$(basename "${port%/ports/*}")
		netdev=$(cat "$port/gid_attrs/ndevs/0" 2>/dev/null)
		DEVICE_ADDR=$(device_address "$netdev" -4)
		DEVICE_ADDR6=$(device_address "$netdev" -6)
		[ -z "$DEVICE_ADDR" ] || return 0
	done
	return 1
}

device_address() {
	ip "$2" -o addr show dev "$1" scope global 2>/dev/null |
		awk '{ sub("/.*", "", $4); print $4; exit }'
}

# Builds rcm with the machine's own tools and installs it below VM_OUT/device;
# with $1 = build_refresh, uses the build that is there.
device_build() {
	local dir=$VM_OUT/device
	mkdir -p "$dir"
	build_copy_sources "$dir"
	[ "$1" != build_refresh ] || return 0
	bash -c "$(build_script "$dir")" >"$dir/build.log" 2>&1 </dev/null || {
		build_show_failure "this machine" "$dir/build.log"
		return 1
	}
}

# Runs COMMAND with the plugin that device_build installed. RESULTS TIMEOUT
# COMMAND. Returns the command's status.
device_run() {
	local results=$1 plugin
	plugin=$(find "$VM_OUT/device/dest" -name 'librcm-fi.so' | head -n 1)
	mkdir -p "$results/single" "$results/shared"
	RCM_VM_KIND=device RCM_VM_ROLE=single \
		RCM_VM_SELF=$DEVICE_ADDR RCM_VM_PEER=$DEVICE_ADDR \
		RCM_VM_SELF6=$DEVICE_ADDR6 RCM_VM_PEER6=$DEVICE_ADDR6 \
		RCM_VM_SRC=$VM_OUT/device/src RCM_VM_BUILD=$VM_OUT/device/build \
		RCM_VM_RESULTS=$results/single RCM_VM_SHARED=$results/shared \
		PATH=$VM_DIR/guest/bin:$PATH \
		FI_PROVIDER_PATH=${plugin%/*} IPATH_NO_BACKTRACE=1 \
		timeout -k 5 "$2" bash -c "$3" 2>&1 </dev/null |
		tee "$results/single/output"
	return "${PIPESTATUS[0]}"
}
