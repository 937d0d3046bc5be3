# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Starting, watching and ending guests.

GUEST_MEM=${GUEST_MEM:-2048}
GUEST_SMP=${GUEST_SMP:-3}
# Seconds that a guest may need beside the time of its job.
GUEST_SLACK=60
declare -A GUEST_PIDS=()

# Prints why no guest can run on this machine; true when nothing is amiss.
guest_is_possible() {
	local tool
	[ "$(id -u)" -eq 0 ] || { echo "only root can make a guest"; return 1; }
	[ "$(uname -m)" = x86_64 ] || {
		echo "guests are for x86_64, this is $(uname -m)"
		return 1
	}
	for tool in qemu-system-x86_64 mmdebstrap unshare flock; do
		command -v "$tool" >/dev/null ||
			{ echo "no $tool here"; return 1; }
	done
}

# Writes the initramfs of the root folder $1 to the file $2.
guest_write_initrd() {
	local dir=$1 tmp
	tmp=$(mktemp -d)
	mkdir "$tmp"/{bin,dev,proc,lower,upper,out,new}
	cp -r "$dir/boot" "$tmp/boot"
	mv "$tmp/boot/busybox" "$tmp/bin/"
	cp "$VM_DIR/guest/init" "$tmp/init"
	for tool in sh mount umount mkdir insmod grep sed echo sleep switch_root; do
		ln -s busybox "$tmp/bin/$tool"
	done
	(cd "$tmp" && find . | bin/busybox cpio -o -H newc) >"$2" 2>/dev/null
	rm -r "$tmp"
}

# Prints the accelerator to use. Whether KVM works is known only by a boot:
# the device may be there and the guest hang. The answer holds until reboot.
guest_accel() {
	local dir=$1 initrd=$2 seen
	if [ -n "${RCM_VM_ACCEL:-}" ]; then
		echo "$RCM_VM_ACCEL"
		return
	fi
	seen=$VM_CACHE/accel-$(cat /proc/sys/kernel/random/boot_id)
	if [ ! -e "$seen" ]; then
		rm -f "$VM_CACHE"/accel-*
		guest_try_kvm "$dir" "$initrd" >"$seen.$$"
		mv "$seen.$$" "$seen"
	fi
	cat "$seen"
}

guest_try_kvm() {
	local out
	if [ -w /dev/kvm ]; then
		out=$(timeout -k 1 10 qemu-system-x86_64 -accel kvm -cpu host \
			-M q35 -m 256 -nodefaults -display none -no-reboot \
			-kernel "$1/vmlinuz" -initrd "$2" -serial stdio \
			-append "console=ttyS0 panic=-1 rcm.trial" \
			2>&1 </dev/null | tr -d '\0')
	fi
	case ${out:-} in
	*"rcm trial boot ok"*) echo kvm ;;
	*) echo tcg ;;
	esac
}

# The file that tells guest/main what to do, and the command beside it.
# RESULTS ROLE TIMEOUT COMMAND
guest_write_job() {
	local results=$1 role=$2 self=1 peer=1
	case $role in
	server) peer=2 ;;
	client) self=2 ;;
	esac
	mkdir -p "$results/$role" "$results/shared"
	: >"$results/$role/output"
	{
		echo "job_timeout=$3"
		echo "export RCM_VM_SELF=10.77.0.$self RCM_VM_SELF6=fd77::$self"
		echo "export RCM_VM_PEER=10.77.0.$peer RCM_VM_PEER6=fd77::$peer"
		echo "export RCM_VM_ROOT=$(printf %q "$GUEST_ROOT")"
	} >"$results/$role/job"
	printf '%s\n' "$4" >"$results/$role/command"
}

# The wire of a pair: datagrams between two sockets in a folder of this run,
# so that runs side by side cannot meet and no guest needs to start first.
guest_wire_options() {
	local self=$1 peer=$2 number=$3
	echo "-netdev dgram,id=wire,local.type=unix,local.path=$self"
	echo ",remote.type=unix,remote.path=$peer"
	echo " -device virtio-net-pci,netdev=wire,romfile="
	echo ",mac=52:54:00:77:00:0$number"
}

# Starts a guest in the background. ROOT_DIR RESULTS ROLE
guest_start() {
	local dir=$1 results=$2 role=$3 wire="" accel cpu=max
	local share=security_model=passthrough,multidevs=remap
	accel=$GUEST_ACCEL
	case $accel in
	kvm) cpu=host ;;
	tcg) accel=tcg,thread=multi ;;
	esac
	case $role in
	server) wire=$(guest_wire_options "$GUEST_TMP/s" "$GUEST_TMP/c" 1) ;;
	client) wire=$(guest_wire_options "$GUEST_TMP/c" "$GUEST_TMP/s" 2) ;;
	esac
	# shellcheck disable=SC2086 # the wire is a list of options
	timeout -k 5 $((GUEST_TIMEOUT + GUEST_SLACK)) qemu-system-x86_64 \
		-nodefaults -no-user-config -display none -no-reboot \
		-M q35 -accel "$accel" -cpu "$cpu" -smp "$GUEST_SMP" \
		-m "$GUEST_MEM" -kernel "$dir/vmlinuz" -initrd "$GUEST_TMP/initrd" \
		-append "$(guest_kernel_options) rcm.root=$GUEST_ROOT rcm.role=$role" \
		-serial "file:$results/$role/console" \
		-fsdev "local,id=root,path=$dir/root,readonly=on,$share" \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=out,path=$VM_OUT,readonly=on,$share" \
		-device virtio-9p-pci,fsdev=out,mount_tag=out \
		-fsdev "local,id=results,path=$results,$share" \
		-device virtio-9p-pci,fsdev=results,mount_tag=results \
		${wire//$'\n'/} </dev/null >"$results/$role/qemu" 2>&1 &
	GUEST_PIDS[$role]=$!
}

# A panic ends the guest. The watchdogs get more time than usual, since an
# emulated processor may get none for seconds on a busy machine. The kernel
# patches its own code while it boots, and an emulated second processor now and
# then sees half of that (a panic with "Oops: int3"): it starts on one, and
# guest/main starts the others.
guest_kernel_options() {
	echo "console=ttyS0 loglevel=5 panic=-1 watchdog_thresh=40" \
		"rcupdate.rcu_cpu_stall_timeout=90 maxcpus=1"
}

guest_stop_all() {
	local pid
	for pid in "${GUEST_PIDS[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	GUEST_PIDS=()
	[ -z "${GUEST_TMP:-}" ] || rm -rf "$GUEST_TMP"
	GUEST_TMP=
}

# Makes ready what all guests of a root share. Call once, before guest_start,
# and not in a subshell; guest_stop_all undoes it.
guest_prepare() {
	GUEST_ROOT=$1
	mkdir -p "$VM_OUT/$1"
	GUEST_TMP=$(mktemp -d /tmp/rcm-vm.XXXXXX)
	guest_write_initrd "$(root_dir "$1")" "$GUEST_TMP/initrd"
	GUEST_ACCEL=$(guest_accel "$(root_dir "$1")" "$GUEST_TMP/initrd")
}

# Shows the output of the given roles while it comes, until all guests ended.
# RESULTS ROLE...
guest_follow() {
	local results=$1 role pid pids=()
	shift
	for role in "$@"; do
		tail -q -n +1 -s 0.2 -f --pid="${GUEST_PIDS[$role]}" \
			"$results/$role/output" |
			if [ $# -gt 1 ]; then sed -u "s/^/$role: /"; else cat; fi &
		pids+=($!)
	done
	for pid in "${GUEST_PIDS[@]}" "${pids[@]}"; do
		wait "$pid"
	done
	GUEST_PIDS=()
}

# Prints the status of a job: what its command returned, 1 when that was 0 but
# the kernel complained or a program dumped core. RESULTS ROLE
guest_status() {
	local out=$1/$2 status log core
	status=$(cat "$out/status" 2>/dev/null)
	log=$out/dmesg
	[ -s "$log" ] || log=$out/console
	if [ -z "$status" ]; then
		vm_say "the $2 guest gave no status; the end of its console:"
		tail -n 15 "$out/qemu" "$out/console" >&2
		status=1
	fi
	kmsg_is_clean "rcm-vm: the guest is ready" <"$log" >&2 ||
		[ "$status" -ne 0 ] || status=1
	for core in "$out"/core.*; do
		[ -e "$core" ] || continue
		vm_say "a program of the $2 guest dumped core: $core"
		[ "$status" -ne 0 ] || status=1
	done
	echo "$status"
}
