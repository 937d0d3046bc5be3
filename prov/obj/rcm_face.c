/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_face.h"

#include <stdlib.h>

#include <rdma/fi_errno.h>

#include "rcm_ep.h"
#include "rcm_log.h"
#include "rcm_obj.h"
#include "rcm_offer.h"

#define RCM_FACE_SIDES ((uint64_t)(FI_TRANSMIT | FI_RECV))

/* The flags that FLAGS speaks of, or NULL unless it names one side. */
static _Atomic uint64_t *rcm_face_side(struct rcm_face *face, uint64_t flags)
{
	switch (flags & RCM_FACE_SIDES) {
	case FI_TRANSMIT:
		return &face->tx_op_flags;
	case FI_RECV:
		return &face->rx_op_flags;
	default:
		return NULL;
	}
}

/* May FLAGS, all but the side they name, be defaults of an endpoint? */
static int rcm_face_check(const struct rcm_face *face, uint64_t flags)
{
	uint64_t known = RCM_RX_OP_FLAGS & ~face->ep->rx_refused;

	if (flags & FI_TRANSMIT)
		known = RCM_TX_OP_FLAGS & ~face->ep->tx_refused;
	return (flags & ~(known | RCM_FACE_SIDES)) ? -FI_EBADFLAGS : 0;
}

int rcm_face_get_flags(struct rcm_face *face, uint64_t *flags)
{
	_Atomic uint64_t *side = flags ? rcm_face_side(face, *flags) : NULL;

	if (!side)
		return -FI_EINVAL;
	*flags = atomic_load_explicit(side, memory_order_relaxed);
	return 0;
}

int rcm_face_set_flags(struct rcm_face *face, const uint64_t *flags)
{
	_Atomic uint64_t *side = flags ? rcm_face_side(face, *flags) : NULL;
	int ret;

	if (!side)
		return -FI_EINVAL;
	ret = rcm_face_check(face, *flags);
	if (!ret)
		atomic_store_explicit(side, *flags & ~RCM_FACE_SIDES,
				      memory_order_relaxed);
	return ret;
}

static int rcm_face_close(struct fid *fid)
{
	struct rcm_face *face =
		rcm_face_of(rcm_container_of(fid, struct fid_ep, fid));
	struct rcm_ep *ep = face->ep;

	rcm_lock(&ep->alias_lock);
	rcm_list_del(&face->node);
	rcm_unlock(&ep->alias_lock);
	free(face);
	return 0;
}

static struct fi_ops rcm_face_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rcm_face_close,
	.bind = rcm_ep_bind,
	.control = rcm_ep_control,
	.ops_open = rcm_no_ops_open,
	.tostr = rcm_no_tostr,
	.ops_set = rcm_no_ops_set,
};

int rcm_face_alias(struct rcm_face *face, struct fi_alias *alias)
{
	struct rcm_ep *ep = face->ep;
	struct rcm_face *other;
	int ret;

	if (!alias || !alias->fid || !rcm_face_side(face, alias->flags))
		return -FI_EINVAL;
	ret = rcm_face_check(face, alias->flags);
	if (ret)
		return ret;
	other = calloc(1, sizeof(*other));
	if (!other)
		return -FI_ENOMEM;
	other->ep = ep;
	atomic_init(&other->tx_op_flags, atomic_load(&face->tx_op_flags));
	atomic_init(&other->rx_op_flags, atomic_load(&face->rx_op_flags));
	(void)rcm_face_set_flags(other, &alias->flags);

	/* fi_enable gives the endpoint other operations, under this lock */
	rcm_lock(&ep->alias_lock);
	other->fid = ep->fid;
	rcm_list_add(&ep->aliases, &other->node);
	rcm_unlock(&ep->alias_lock);
	other->fid.fid.ops = &rcm_face_fi_ops;
	*alias->fid = &other->fid.fid;
	return 0;
}
