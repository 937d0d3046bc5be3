#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# ADIOS2: a writer streams four steps to a reader through SST, whose reader
# reads the writer's memory. Its transport named rdma takes any provider of
# reliable datagrams when it is told the name of the domain (FABRIC_IFACE), and
# needs no other setting. What arrived is what was sent.
#
# timeout: 180
. "$RCM_VM_SRC/test/vm/lib/test.sh"

command -v adios2_reorganize.mpi >/dev/null ||
	test_skip "ADIOS2 is not installed"
export FI_PROVIDER=${RCM_MPI_PROVIDER:-rcm;ofi_rxm}
FABRIC_IFACE=$(fi_info -t FI_EP_RDM | sed -n 's/^ *domain: //p' | head -n 1)
export FABRIC_IFACE SstVerbose=5
options=DataTransport=rdma,RendezvousReaderCount=1

cat >streams <<'END'
group io
  array double a 2 200 300 X Y
  array float b 1 1000 X
app 1
  steps 4
  write sent io
END
cd "$(mktemp -d)"
adios2_iotest.mpi -a 1 -c "$RCM_VM_RESULTS/streams" -s -d 1 >/dev/null
before=$(test_packets)
timeout -k 5 80 adios2_reorganize.mpi sent stream BPFile "" SST "$options" 1 \
	>"$RCM_VM_RESULTS/writer.log" 2>&1 &
writer=$!
timeout -k 5 80 adios2_reorganize.mpi stream received SST "$options" \
	BPFile "" 1 >"$RCM_VM_RESULTS/reader.log" 2>&1 || {
	tail -n 20 "$RCM_VM_RESULTS/reader.log"
	test_fail "the reader returned an error"
}
wait "$writer" || {
	tail -n 20 "$RCM_VM_RESULTS/writer.log"
	test_fail "the writer returned an error"
}
test_expect_on_device "$before" $((4 * (200 * 300 * 8 + 1000 * 4)))
for file in sent received; do
	bpls.mpi -d -n 100 "$file" >"$RCM_VM_RESULTS/$file"
done
cd "$RCM_VM_RESULTS"
grep -q '0\.3$' received || test_fail "the fourth step did not arrive"
cmp sent received
