/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_FACE_H
#define RCM_FACE_H

#include <stdatomic.h>
#include <stdint.h>

#include <rdma/fi_endpoint.h>

#include "rcm_base.h"
#include "rcm_list.h"

struct rcm_ep;

/*
 * What an application holds of an endpoint: the endpoint itself, or an alias
 * of it (fi_ep_alias(3)). They differ in nothing but the flags of the calls
 * that take none.
 */
struct rcm_face {
	struct fid_ep fid;
	struct rcm_ep *ep;
	_Atomic uint64_t tx_op_flags, rx_op_flags;
	struct rcm_list node; /* of an alias, in its endpoint's list */
};

/*
 * FI_ALIAS of fi_control(3): opens an alias of FACE's endpoint, with FACE's
 * own flags but those that alias->flags names. -FI_EINVAL when these have
 * not exactly one of FI_TRANSMIT and FI_RECV, -FI_EBADFLAGS for flags that
 * are no defaults, -FI_ENOMEM. The endpoint is busy until it is closed.
 */
int rcm_face_alias(struct rcm_face *face, struct fi_alias *alias);

/*
 * FI_GETOPSFLAG and FI_SETOPSFLAG of fi_control(3): *FLAGS names one of
 * FI_TRANSMIT and FI_RECV, and the first gives back the flags without it.
 * The same errors. From the next call on; what is posted keeps its own.
 */
int rcm_face_get_flags(struct rcm_face *face, uint64_t *flags);
int rcm_face_set_flags(struct rcm_face *face, const uint64_t *flags);

static inline struct rcm_face *rcm_face_of(struct fid_ep *fid)
{
	return rcm_container_of(fid, struct rcm_face, fid);
}

#endif /* RCM_FACE_H */
