/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* A connection in words, and its addresses. */

#include <stdio.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_conn.h"
#include "rcm_sys.h"

/* Copies the kernel's address, or WISH; false when there is neither. */
static bool rcm_conn_addr(const struct sockaddr *sa, const union rcm_addr *wish,
			  union rcm_addr *addr)
{
	size_t len = sa ? rcm_addr_len(sa) : 0;

	memset(addr, 0, sizeof(*addr));
	if (len) {
		memcpy(addr, sa, len);
		return true;
	}
	*addr = *wish;
	return rcm_addr_len(&wish->sa) != 0;
}

int rcm_conn_local_addr(const struct rcm_conn *conn, union rcm_addr *addr)
{
	const struct sockaddr *sa = conn->id ? rcm_sys->local_addr(conn->id) :
					       NULL;

	return rcm_conn_addr(sa, &conn->src, addr) ? 0 : -FI_EOPBADSTATE;
}

int rcm_conn_peer_addr(const struct rcm_conn *conn, union rcm_addr *addr)
{
	const struct sockaddr *sa = conn->id ? rcm_sys->peer_addr(conn->id) :
					       NULL;

	return rcm_conn_addr(sa, &conn->dst, addr) ? 0 : -FI_ENOTCONN;
}

const char *rcm_conn_describe(const struct rcm_conn *conn, char *buf)
{
	char src_text[RCM_ADDR_STR] = "?", dst_text[RCM_ADDR_STR] = "?";
	union rcm_addr addr;
	char qp[24] = "";

	if (!rcm_conn_local_addr(conn, &addr))
		rcm_addr_str(&addr, src_text);
	if (!rcm_conn_peer_addr(conn, &addr))
		rcm_addr_str(&addr, dst_text);
	if (conn->qp)
		snprintf(qp, sizeof(qp), " qp 0x%x", conn->qp->qp_num);
	snprintf(buf, RCM_CONN_STR, "%s -> %s%s %s", src_text, dst_text, qp,
		 rcm_fsm_state_name(conn->state));
	return buf;
}

const char *rcm_conn_history(const struct rcm_conn *conn, char *buf)
{
	unsigned int n = conn->n_history;
	unsigned int i = n > RCM_CONN_HISTORY ? n - RCM_CONN_HISTORY : 0;
	size_t at = 0;

	buf[0] = '\0';
	for (; i < n && at < RCM_CONN_HISTORY_STR; i++) {
		unsigned int k = i % RCM_CONN_HISTORY;
		int failed = conn->history[k].failed;
		char code[16] = "";

		if (failed)
			snprintf(code, sizeof(code), " failed %d", failed);
		at += (size_t)snprintf(
			buf + at, RCM_CONN_HISTORY_STR - at, "%s%s %s%s -> %s",
			at ? ", " : "",
			rcm_fsm_state_name(conn->history[k].state),
			rcm_fsm_event_name(conn->history[k].event), code,
			rcm_fsm_state_name(conn->history[k].to));
	}
	return buf;
}
