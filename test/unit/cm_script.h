/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef CM_SCRIPT_H
#define CM_SCRIPT_H

/*
 * A stand-in for the connection manager that does nothing but write down
 * what it is asked for, and fail when told to. Events are given by the test.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <rdma/fi_errno.h>

#include "rcm_base.h"
#include "rcm_conn.h"
#include "rcm_sys.h"

struct sc_id {
	struct rdma_cm_id id;
	struct sockaddr_storage local, peer;
};

#define SC_EVENTS 8

static struct script {
	char log[512];	 /* names of the calls, each with a blank before it */
	int calls;	 /* how many of them may fail */
	int fail_call;	 /* the number of the one that does; 0: none */
	int fail_err;	 /* a -FI_E */
	int ids;	 /* that have not been destroyed */
	int dev;	 /* index of the device that addresses lead to */
	size_t data_len; /* private data of the last message */
	uint8_t data[256];
	struct rdma_conn_param param;
	bool no_reads; /* what the two sides have agreed on */
	struct ibv_qp_attr attr[IBV_QPS_ERR + 1]; /* the last of each state */
	int mask[IBV_QPS_ERR + 1];
	struct sockaddr_storage src, dst; /* of the last resolve_addr */
	int timeout;
	int options; /* the values of the last two, 256 * first + second */
	struct rdma_event_channel ec;
	struct rdma_event_channel *migrated_to;
	int ec_errno; /* of create_event_channel */
	struct rdma_cm_event events[SC_EVENTS];
	int n_events, taken, acked;
	int get_err;
} sc;

static struct ibv_device sc_devices[2];
static int sc_call(const char *name)
{
	size_t used = strlen(sc.log);

	snprintf(sc.log + used, sizeof(sc.log) - used, " %s", name);
	return ++sc.calls == sc.fail_call ? sc.fail_err : 0;
}

static const char *sc_get_device_name(struct ibv_device *device)
{
	return device == &sc_devices[0] ? "rxe0" : "rxe1";
}

static int sc_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS",
					     "SQD",   "SQE",  "ERR" };

	cr_assert_not_null(qp);
	sc.attr[attr->qp_state] = *attr;
	sc.mask[attr->qp_state] = mask;
	return sc_call(names[attr->qp_state]);
}

static struct rdma_event_channel *sc_create_event_channel(void)
{
	errno = sc.ec_errno;
	return sc.ec_errno ? NULL : &sc.ec;
}

static void sc_destroy_event_channel(struct rdma_event_channel *ec)
{
	cr_assert_eq(ec, &sc.ec);
	sc_call("destroy_event_channel");
}

static int sc_get_cm_event(struct rdma_event_channel *ec,
			   struct rdma_cm_event **event)
{
	cr_assert_eq(ec, &sc.ec);
	cr_assert_eq(sc.taken, sc.acked, "an event was not acknowledged");
	if (sc.get_err)
		return sc.get_err;
	if (sc.taken == sc.n_events)
		return -FI_EAGAIN;
	*event = &sc.events[sc.taken++];
	return 0;
}

static int sc_ack_cm_event(struct rdma_cm_event *event)
{
	cr_assert_eq(event, &sc.events[sc.acked]);
	/* as the library does: nothing of it may be used afterwards */
	memset(event, 0xdd, sizeof(*event));
	sc.acked++;
	return 0;
}

static int sc_create_id(struct rdma_event_channel *channel,
			struct rdma_cm_id **id, void *context)
{
	struct sc_id *new;
	int ret = sc_call("create_id");

	if (ret)
		return ret;
	new = calloc(1, sizeof(*new));
	cr_assert_not_null(new);
	new->id.channel = channel;
	new->id.context = context;
	*id = &new->id;
	sc.ids++;
	return 0;
}

static int sc_destroy_id(struct rdma_cm_id *id)
{
	int ret = sc_call("destroy_id");

	if (ret)
		return ret;
	sc.ids--;
	free(rcm_container_of(id, struct sc_id, id));
	return 0;
}

static int sc_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *ec)
{
	cr_assert_not_null(id);
	sc.migrated_to = ec;
	return sc_call("migrate_id");
}

static int sc_set_option(struct rdma_cm_id *id, int level, int name,
			 void *value, size_t len)
{
	cr_assert_not_null(id);
	cr_assert_eq(level, RDMA_OPTION_ID);
	cr_assert_eq(len, 1);
	sc.options = sc.options << 8 | *(uint8_t *)value;
	return sc_call(name == RDMA_OPTION_ID_TOS ? "tos" : "ack_timeout");
}

static int sc_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct sc_id *sid = rcm_container_of(id, struct sc_id, id);
	int ret = sc_call("bind_addr");

	if (!ret)
		memcpy(&sid->local, addr, rcm_addr_len(addr));
	return ret;
}

static int sc_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
			   struct sockaddr *dst, int timeout_ms)
{
	struct sc_id *sid = rcm_container_of(id, struct sc_id, id);

	memset(&sc.src, 0, sizeof(sc.src));
	if (src)
		memcpy(&sc.src, src, rcm_addr_len(src));
	memcpy(&sc.dst, dst, rcm_addr_len(dst));
	memcpy(&sid->peer, dst, rcm_addr_len(dst));
	sc.timeout = timeout_ms;
	return sc_call("resolve_addr");
}

static int sc_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	cr_assert_not_null(id->verbs);
	sc.timeout = timeout_ms;
	return sc_call("resolve_route");
}

static int sc_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr,
			   int *mask)
{
	static const int masks[] = {
		[IBV_QPS_INIT] = IBV_QP_STATE | IBV_QP_PORT |
				 IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS,
		[IBV_QPS_RTR] = IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER |
				IBV_QP_MAX_DEST_RD_ATOMIC,
		[IBV_QPS_RTS] = IBV_QP_STATE | IBV_QP_TIMEOUT |
				IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_MAX_QP_RD_ATOMIC,
	};

	cr_assert_not_null(id->verbs);
	*mask = masks[attr->qp_state];
	attr->port_num = 1;
	attr->timeout = 14;
	attr->max_dest_rd_atomic = sc.no_reads ? 0 : 200;
	attr->max_rd_atomic = sc.no_reads ? 0 : 201;
	attr->qp_access_flags = IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_REMOTE_ATOMIC;
	return sc_call("attr");
}

static void sc_keep_data(const void *data, size_t len)
{
	memset(sc.data, 0xee, sizeof(sc.data));
	memcpy(sc.data, data, len);
	sc.data_len = len;
}

static int sc_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	cr_assert_not_null(id->verbs);
	sc.param = *param;
	sc_keep_data(param->private_data, param->private_data_len);
	return sc_call("connect");
}

static int sc_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	cr_assert_not_null(id->verbs);
	sc.param = *param;
	sc_keep_data(param->private_data, param->private_data_len);
	return sc_call("accept");
}

static int sc_establish(struct rdma_cm_id *id)
{
	cr_assert_not_null(id->verbs);
	return sc_call("establish");
}

static int sc_listen(struct rdma_cm_id *id, int backlog)
{
	cr_assert_not_null(id);
	cr_assert_gt(backlog, 0);
	return sc_call("listen");
}

static int sc_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	cr_assert_not_null(id->verbs);
	sc_keep_data(data, len);
	return sc_call("reject");
}

static int sc_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	cr_assert_not_null(id->verbs);
	cr_assert_eq(event, IBV_EVENT_COMM_EST);
	return sc_call("notify");
}

/* rdma-core 347866966: older ones crash on an id that has no device */
static int sc_disconnect(struct rdma_cm_id *id)
{
	cr_assert_not_null(id->verbs);
	return sc_call("disconnect");
}

static struct sockaddr *sc_local_addr(struct rdma_cm_id *id)
{
	return (struct sockaddr *)&rcm_container_of(id, struct sc_id, id)->local;
}

static struct sockaddr *sc_peer_addr(struct rdma_cm_id *id)
{
	return (struct sockaddr *)&rcm_container_of(id, struct sc_id, id)->peer;
}

static const struct rcm_sys sc_sys = {
	.get_device_name = sc_get_device_name,
	.modify_qp = sc_modify_qp,
	.create_event_channel = sc_create_event_channel,
	.destroy_event_channel = sc_destroy_event_channel,
	.get_cm_event = sc_get_cm_event,
	.ack_cm_event = sc_ack_cm_event,
	.create_id = sc_create_id,
	.destroy_id = sc_destroy_id,
	.migrate_id = sc_migrate_id,
	.set_option = sc_set_option,
	.bind_addr = sc_bind_addr,
	.resolve_addr = sc_resolve_addr,
	.resolve_route = sc_resolve_route,
	.init_qp_attr = sc_init_qp_attr,
	.connect = sc_connect,
	.establish = sc_establish,
	.listen = sc_listen,
	.accept = sc_accept,
	.reject = sc_reject,
	.notify = sc_notify,
	.disconnect = sc_disconnect,
	.local_addr = sc_local_addr,
	.peer_addr = sc_peer_addr,
};

static inline void sc_reset_log(void)
{
	sc.log[0] = '\0';
	sc.calls = 0;
	sc.fail_call = 0;
}

static inline void sc_start(void)
{
	memset(&sc, 0, sizeof(sc));
	rcm_sys = &sc_sys;
}

static inline void sc_expect_log(const char *want, const char *where)
{
	const char *got = sc.log[0] ? sc.log + 1 : sc.log;

	cr_expect_str_eq(got, want, "%s: calls '%s', not '%s'", where, got,
			 want);
}

#endif /* CM_SCRIPT_H */
