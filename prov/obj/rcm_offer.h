/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_OFFER_H
#define RCM_OFFER_H

#include <rdma/fabric.h>

/* Of the provider; grows with what it offers. */
#define RCM_PROV_VERSION FI_VERSION(0, 1)

/*
 * What rcm offers, whatever the device. A capability is added here: in one
 * line, for the side that it belongs to.
 */
#define RCM_TX_CAPS \
	(FI_MSG | FI_SEND | FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_FENCE)
#define RCM_RX_CAPS                                               \
	(FI_MSG | FI_RECV | FI_RMA | FI_ATOMIC | FI_REMOTE_READ | \
	 FI_REMOTE_WRITE | FI_MULTI_RECV)
#define RCM_DOMAIN_CAPS (FI_LOCAL_COMM | FI_REMOTE_COMM)
#define RCM_CAPS	(RCM_TX_CAPS | RCM_RX_CAPS | RCM_DOMAIN_CAPS)

/* fi_getinfo(3): capabilities that must be asked for, and what limits them */
#define RCM_PRIMARY_CAPS   (RCM_CAPS & (FI_MSG | FI_RMA | FI_ATOMIC))
#define RCM_INITIATOR_CAPS (RCM_CAPS & (FI_SEND | FI_READ | FI_WRITE))
#define RCM_TARGET_CAPS \
	(RCM_CAPS & (FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE))
#define RCM_MODIFIER_CAPS (RCM_INITIATOR_CAPS | RCM_TARGET_CAPS)

/*
 * Secondary ones: those that cost nothing are always there. FI_MULTI_RECV is
 * for those who ask, since the next message of a buffer waits for the
 * application to read: data progress is manual with it.
 */
#define RCM_FREE_CAPS	(RCM_CAPS & (FI_FENCE | RCM_DOMAIN_CAPS))
#define RCM_MANUAL_CAPS (RCM_CAPS & FI_MULTI_RECV)

/*
 * Of endpoints that share their receives: a buffer for many messages is kept
 * by one endpoint.
 */
#define RCM_SHARED_CAPS (RCM_CAPS & ~FI_MULTI_RECV)

/* Those that work on the memory of a target, and on an initiator's behalf. */
#define RCM_REMOTE_CAPS (RCM_CAPS & (FI_REMOTE_READ | FI_REMOTE_WRITE))
/* With these a peer's data may come with a write: FI_RX_CQ_DATA. */
#define RCM_WRITE_CAPS (RCM_CAPS & (FI_WRITE | FI_REMOTE_WRITE))

/*
 * Flags that may be an endpoint's defaults. Delivery complete is asked of a
 * message, which is acknowledged when it has used up a receive. Of what uses
 * up none, an acknowledgement says only that it has reached the peer's
 * device, so it is no default.
 */
#define RCM_TX_OP_FLAGS \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE)
#define RCM_RX_OP_FLAGS (FI_COMPLETION | FI_MULTI_RECV)

/*
 * FI_OPT_MIN_MULTI_RECV until it is set: the largest MTU of a path. A longer
 * message than what is left of a buffer ends the connection, so who sends
 * longer ones sets it.
 */
#define RCM_MIN_MULTI_RECV 4096

/*
 * iWARP completes a send when it is in the stream to the peer: of the levels
 * that a call or an endpoint may ask for, it keeps none beyond that.
 */
#define RCM_IWARP_NO_FLAGS (FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)

/*
 * A reliable connection works its requests off in the order of posting: a
 * later read sees what was written, a message comes behind it, and reads
 * come one after the other. But a read whose answer is lost is made again,
 * after what was posted behind it has taken place: so nothing is promised of
 * writes and messages after a read (FI_FENCE is for them). The answer to an
 * atomic request is kept until it has arrived, and never made again.
 */
#define RCM_MSG_ORDER                                                    \
	(FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAS | FI_ORDER_WAW |     \
	 FI_ORDER_RAS | FI_ORDER_RAW | FI_ORDER_RAR | FI_ORDER_RMA_WAW | \
	 FI_ORDER_RMA_RAW | FI_ORDER_RMA_RAR | FI_ORDER_ATOMIC_WAW |     \
	 FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_RAR)
/* iWARP places data as it comes: of its orders only that of messages is kept */
#define RCM_IWARP_ORDER FI_ORDER_SAS

#define RCM_RMA_IOV_LIMIT 1 /* a work request has one target */

#define RCM_PROTO_VERSION 1 /* of FI_PROTO_RDMA_CM_IB_RC: docs/WIRE.md */
#define RCM_CQ_DATA_SIZE  4 /* bytes of an immediate */
#define RCM_MR_KEY_SIZE	  4 /* bytes of an rkey */
#define RCM_MR_IOV_LIMIT  1
#define RCM_CNTR_CNT	  (1 << 16) /* no device's resource: memory alone */

/* Registration as the device does it. */
#define RCM_MR_MODE \
	(FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define RCM_MR_BASIC_MAP (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

/*
 * Values of the interface whose names are deprecated in newer headers, or
 * missing from older ones. No value has ever changed.
 */
#define RCM_OLD_MR_BASIC     (1 << 0)
#define RCM_OLD_MR_SCALABLE  (1 << 1)
#define RCM_OLD_LOCAL_MR     (1ULL << 55)
#define RCM_OLD_ORDER_STRICT 0x1FFULL
#define RCM_OLD_REG_MR	     (1ULL << 59)
#define RCM_SOCKADDR_IP	     17		  /* 2.3 */
#define RCM_PROGRESS_UNIFIED 3		  /* 1.21 */
#define RCM_CNTR_BYTES	     1		  /* FI_CNTR_EVENTS_BYTES, 2.0 */
#define RCM_GETINFO_RESCAN   (1ULL << 35) /* 2.2 */
/* Private to the core: ofi_rxm or the like asks. */
#define RCM_GETINFO_LAYERED (1ULL << 59)

#endif /* RCM_OFFER_H */
