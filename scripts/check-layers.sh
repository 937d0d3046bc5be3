#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# check-layers.sh [TREE]: every line of prov/ is in the room it belongs to
#
# base <- sys <- cm <- obj <- top and base <- sys <- xfer <- obj. The tables
# below are the rule. Comments and strings do not count. A file that is not
# beneath one of the six directories is an error.

set -u
cd "${1:-.}" || exit 2

# shellcheck disable=SC2046 # no name in prov/ has a space
exec awk '
BEGIN {
	# layer: the layers whose headers it may include
	may["base"] = " base "
	may["sys"] = " base sys "
	may["cm"] = " base sys cm "
	may["xfer"] = " base sys xfer "
	may["obj"] = " base sys cm xfer obj "
	may["top"] = " base sys cm xfer obj top "

	# header (pattern): the layers, or files, that may include it
	nh = 0
	# cm and obj may name the types; who may call is in the next table
	header("^rdma/rdma_cma\\.h$", " sys cm ")
	header("^rdma/(rdma_verbs|rdma_cma_abi|rsocket)\\.h$", " ")
	header("^infiniband/verbs\\.h$", " sys xfer obj ")
	header("^infiniband/", " sys ")
	header("^rdma/fi_errno\\.h$", " base sys cm xfer obj top ")
	header("^rdma/providers/", " base obj top ")
	# the -FI_ENOSYS tables have one entry for each slot of the interface
	header("^rdma/(fabric|fi_[a-z_]+)\\.h$",
	       " xfer obj top rcm_enosys.h rcm_enosys.c ")

	# call (pattern): the layers that may make it
	nc = 0
	call("ibv_(post_send|post_recv|post_srq_recv|poll_cq|req_notify_cq)",
	     " xfer ")
	# a name for a number: no more than a table
	call("(ibv_(event_type|wc_status|node_type|port_state)|rdma_event)_str",
	     " sys cm xfer obj ")
	call("ibv_[a-z0-9_]+", " sys ")
	call("rdma_[a-z0-9_]+", " sys ")

	for (i = 1; i < ARGC; i++) {
		name = ARGV[i]
		sub(/.*\//, "", name)
		home[name] = layer_of(ARGV[i])
		if (!(home[name] in may)) {
			print ARGV[i] ": is in none of the layers"
			bad = 1
		}
	}
}

function header(pattern, who)
{
	hpat[++nh] = pattern
	hwho[nh] = who
}

function call(pattern, who)
{
	cpat[++nc] = pattern
	cwho[nc] = who
}

function layer_of(path)
{
	if (split(path, part, "/") != 3)
		return ""
	return part[2]
}

function complain(what)
{
	print FILENAME ":" FNR ": " what
	bad = 1
}

function allowed(who)
{
	return index(who, " " layer " ") || index(who, " " file " ")
}

# code without comments; string contents go, except of an include
function strip(s,	out, at)
{
	out = ""
	if (s !~ /^[ \t]*#[ \t]*include/)
		gsub(/"([^"\\]|\\.)*"/, "\"\"", s)
	while (s != "") {
		if (incomment) {
			at = index(s, "*/")
			if (!at)
				return out
			s = substr(s, at + 2)
			incomment = 0
		} else {
			at = index(s, "/*")
			if (!at)
				return out s
			out = out substr(s, 1, at - 1) " "
			s = substr(s, at + 2)
			incomment = 1
		}
	}
	return out
}

function check_include(h,	i)
{
	if (h in home) {
		if (!index(may[layer], " " home[h] " "))
			complain(layer " includes " h " of " home[h])
		return
	}
	if (h ~ /^rcm_/) {
		complain(h " is not in prov/")
		return
	}
	for (i = 1; i <= nh; i++) {
		if (h ~ hpat[i]) {
			if (!allowed(hwho[i]))
				complain(layer " includes " h)
			return
		}
	}
}

# a call through a member, as rcm_sys->rdma_connect(), is what is wanted
function check_calls(s,	i, name, before)
{
	while (match(s, /(ibv|rdma)_[a-z0-9_]+[ \t]*\(/)) {
		before = substr(s, 1, RSTART - 1)
		name = substr(s, RSTART, RLENGTH)
		s = substr(s, RSTART + RLENGTH)
		sub(/[ \t]*\($/, "", name)
		if (before ~ /([A-Za-z0-9_]|->|\.)$/)
			continue
		for (i = 1; i <= nc; i++) {
			if (name ~ ("^" cpat[i] "$")) {
				if (!allowed(cwho[i]))
					complain(layer " calls " name)
				break
			}
		}
	}
}

FNR == 1 {
	incomment = 0
	layer = layer_of(FILENAME)
	file = FILENAME
	sub(/.*\//, "", file)
}

{
	code = strip($0)
	if (match(code, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]*[>"]/)) {
		h = code
		sub(/^[^<"]*[<"]/, "", h)
		sub(/[>"].*$/, "", h)
		check_include(h)
		next
	}
	check_calls(code)
	if (code ~ /(^|[^A-Za-z0-9_])fid_[a-z]/ && layer != "obj" &&
	    layer != "top" && file !~ /^rcm_enosys\./)
		complain(layer " knows a fabric object (fid_*)")
	if (code ~ /conn(->|\.)state[ \t]*=[^=]/ &&
	    FILENAME != "prov/cm/rcm_conn.c")
		complain("writes the state of a connection")
}

END {
	if (!bad)
		print ARGC - 1 " files"
	exit bad
}
' $(find prov -type f \( -name '*.[ch]' -o -name '*.def' \) | sort)
