#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# check-exports.sh PLUGIN: the plugin exports fi_prov_ini and nothing else

set -u
# no version names: an unversioned symbol is what libfabric's dlsym finds
got=$(nm -D --defined-only "${1:?}" | awk '{ print $NF }' | sort | xargs)
if [ "$got" != fi_prov_ini ]; then
	echo "$1: exports '$got', not fi_prov_ini alone"
	exit 1
fi
echo "$1: exports fi_prov_ini alone"
