/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <stdlib.h>

#include "rcm_pep.h"

struct rcm_conn *rcm_connreq_take(struct rcm_connreq *req)
{
	struct rcm_conn *conn = req->conn;

	rcm_list_del(&req->node);
	free(req);
	return conn;
}

void rcm_connreq_refuse(struct fid *handle)
{
	struct rcm_conn *conn;

	/* the analyzer believes that a removed first entry stays first */
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	if (!handle || handle->fclass != FI_CLASS_CONNREQ)
		return;
	conn = rcm_connreq_take(
		rcm_container_of(handle, struct rcm_connreq, fid));
	rcm_conn_reject(conn, NULL, 0);
	rcm_conn_close(conn);
	rcm_conn_free(conn, NULL);
}

void rcm_connreq_drop_all(struct rcm_eq *eq)
{
	struct rcm_connreq *req;

	while ((req = rcm_list_first(&eq->reqs, struct rcm_connreq, node)))
		rcm_connreq_refuse(&req->fid);
}
