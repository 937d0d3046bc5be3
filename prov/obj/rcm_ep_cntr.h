/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_EP_CNTR_H
#define RCM_EP_CNTR_H

#include <stdint.h>

#include "rcm_cntr.h"

struct rcm_ep;

/* An endpoint and the counters that it is bound to. */

/*
 * fi_ep_bind(3) of a counter. -FI_EBADFLAGS for flags that the page does not
 * have for counters, and for none; -FI_EDOMAIN for a counter of another
 * domain; -FI_EINVAL for a kind that is bound already; -FI_EOPNOTSUPP for the
 * peer's reads and writes alone, which want FI_RMA_EVENT. Beside other kinds
 * they are taken and never count.
 */
int rcm_ep_bind_cntr(struct rcm_ep *ep, struct rcm_cntr *cntr, uint64_t flags);
/* Gives the counters back; they are detached. */
void rcm_ep_unbind_cntrs(struct rcm_ep *ep);

/*
 * Puts the endpoint's engines under the counters, before it has a queue pair,
 * and takes them away when it has none any more. Where no fi_cq is bound, a
 * counter of the direction lends its own engine. -FI_ENOMEM, or what makes no
 * channel; then nothing is attached.
 */
int rcm_ep_attach_cntrs(struct rcm_ep *ep);
void rcm_ep_detach_cntrs(struct rcm_ep *ep);

/*
 * The engine of one direction: the fi_cq's, a counter's, or NULL. A counter's
 * is open only once the counters are attached.
 */
struct rcm_cqset *rcm_ep_tx_set(const struct rcm_ep *ep);
struct rcm_cqset *rcm_ep_rx_set(const struct rcm_ep *ep);

/* What counts operations of KIND, or NULL. */
struct rcm_tally *rcm_ep_tally(const struct rcm_ep *ep,
			       enum rcm_cntr_kind kind);

#endif /* RCM_EP_CNTR_H */
