#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# Each check of scripts/ finds what it is there for: a small tree that is
# right passes, and every wrong line put into it is reported with its place.

set -u
src=${RCM_SRCDIR:?} build=${RCM_BUILDDIR:?}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0

licence='/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */'

# put FILE LINE...: a file of a small tree, named in its list
put()
{
	file=$1
	shift
	mkdir -p "$dir/tree/${file%/*}"
	printf '%s\n' "$licence" '' "$@" >"$dir/tree/$file"
	echo "PROV_SOURCES += $file" >>"$dir/tree/prov/prov.mk"
}

fresh()
{
	rm -rf "$dir/tree"
	mkdir -p "$dir/tree/prov"
	printf '# %s\n' 'SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only' \
		'Copyright (c) 2026 rcm contributors' >"$dir/tree/prov/prov.mk"
	put prov/base/rcm_b.h 'int rcm_b(void);'
	put prov/sys/rcm_s.h '#include <rdma/rdma_cma.h>' '#include "rcm_b.h"'
	put prov/cm/rcm_c.h '#include "rcm_s.h"'
	put prov/cm/rcm_conn.c '	conn->state = 1;' '	rcm_sys->rdma_accept(id);'
	put prov/xfer/rcm_x.h '#include <infiniband/verbs.h>' \
		'	ibv_poll_cq(cq);' '/* rdma_accept() is' ' * not called */'
	put prov/obj/rcm_o.h '#include <rdma/fi_endpoint.h>' '#include "rcm_c.h"' \
		'#include "rcm_x.h"' '	if (conn->state == 1)' 'struct fid_ep *p;'
	put prov/top/rcm_t.c '#include "rcm_o.h"' 's = "rdma_connect()";'
}

# ok|reports CHECK [TEXT]: run a check over the tree
ok()
{
	if ! sh "$src/scripts/$1" "$dir/tree" >"$dir/out" 2>&1; then
		echo "wrong: $1 fails on a tree that is right:"
		cat "$dir/out"
		bad=1
	fi
}

reports()
{
	if sh "$src/scripts/$1" "$dir/tree" >"$dir/out" 2>&1 ||
		! grep -qF "$2" "$dir/out"; then
		echo "wrong: $1 does not report '$2', but:"
		cat "$dir/out"
		bad=1
	fi
}

# layer FILE LINE TEXT: LINE in FILE is reported with TEXT by check-layers
layer()
{
	fresh
	put "$1" "$2"
	reports check-layers.sh "$1:4: $3"
}

fresh
ok check-layers.sh
layer prov/base/rcm_n.c '#include "rcm_s.h"' 'base includes rcm_s.h of sys'
layer prov/sys/rcm_n.c '#include "rcm_c.h"' 'sys includes rcm_c.h of cm'
layer prov/cm/rcm_n.c '#include "rcm_x.h"' 'cm includes rcm_x.h of xfer'
layer prov/cm/rcm_n.c '#include "rcm_o.h"' 'cm includes rcm_o.h of obj'
layer prov/xfer/rcm_n.c '#include "rcm_c.h"' 'xfer includes rcm_c.h of cm'
layer prov/xfer/rcm_n.c '# include "rcm_o.h"' 'xfer includes rcm_o.h of obj'
layer prov/obj/rcm_n.c '#include "rcm_gone.h"' 'rcm_gone.h is not in prov/'
layer prov/obj/rcm_n.c '#include <rdma/rdma_cma.h>' \
	'obj includes rdma/rdma_cma.h'
layer prov/base/rcm_n.c '#include <infiniband/verbs.h>' \
	'base includes infiniband/verbs.h'
layer prov/cm/rcm_n.c '#include <rdma/fi_domain.h>' 'cm includes rdma/fi_domain.h'
layer prov/obj/rcm_n.c '	ret = rdma_accept(id, NULL);' 'obj calls rdma_accept'
layer prov/xfer/rcm_n.c '	ibv_create_qp(pd);' 'xfer calls ibv_create_qp'
layer prov/obj/rcm_n.c '	/* why */ ibv_poll_cq(cq);' 'obj calls ibv_poll_cq'
layer prov/sys/rcm_n.c '	ibv_post_send(qp);' 'sys calls ibv_post_send'
layer prov/cm/rcm_n.c 'struct fid_ep *ep;' 'cm knows a fabric object (fid_*)'
layer prov/cm/rcm_n.c '	conn->state = 2;' 'writes the state of a connection'
layer prov/obj/rcm_n.c '	ep->conn.state = 2;' \
	'writes the state of a connection'
fresh
put prov/rcm_n.c 'int rcm_n;'
reports check-layers.sh 'prov/rcm_n.c: is in none of the layers'

fresh
ok check-text.sh
put prov/base/rcm_n.c '// a comment'
reports check-text.sh 'prov/base/rcm_n.c: a // comment'
fresh
put prov/base/rcm_n.c '/* TO''DO: later */'
reports check-text.sh 'prov/base/rcm_n.c: a note to oneself'
fresh
put prov/base/rcm_n.c 'int rcm_n; '
reports check-text.sh 'prov/base/rcm_n.c: trailing blanks'
fresh
echo 'int rcm_n;' >"$dir/tree/prov/base/rcm_n.c"
reports check-text.sh 'prov/base/rcm_n.c: no licence line'
reports check-text.sh 'prov/base/rcm_n.c: is not listed in prov/prov.mk'

echo 'int rcm_good(void);' >"$dir/good.h"
echo 'int rcm_bad(size_t n);' >"$dir/bad.h"
echo 'struct rcm_twice { int n; };' >"$dir/twice.h"
headers="$src/scripts/check-headers.sh"
sh "$headers" "$dir/good.h" || {
	echo "wrong: check-headers fails on a header that is right"
	bad=1
}
for h in bad twice; do
	if sh "$headers" "$dir/$h.h" >"$dir/out" 2>&1 ||
		! grep -q "$h.h: does not compile alone" "$dir/out"; then
		echo "wrong: check-headers believes $h.h"
		bad=1
	fi
done

exports="$src/scripts/check-exports.sh"
sh "$exports" "$build/.libs/librcm-fi.so" || bad=1
printf 'int fi_prov_ini(void);int fi_prov_ini(void) { return 0; }\n' >"$dir/e.c"
printf 'int rcm_more(void);int rcm_more(void) { return 0; }\n' >"$dir/m.c"
for set in "m.c" "e.c m.c"; do
	# shellcheck disable=SC2086 # CC may hold a flag, and $set two files
	(cd "$dir" && ${RCM_CC:-cc} -shared -fPIC -o wrong.so $set) || bad=1
	if sh "$exports" "$dir/wrong.so" >"$dir/out" 2>&1; then
		echo "wrong: check-exports believes a library of $set"
		bad=1
	fi
done

[ $bad -eq 0 ] && echo "every check reports what it is there for"
exit $bad
