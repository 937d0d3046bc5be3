/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <criterion/criterion.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "fake.h"
#include "rcm_attr.h"
#include "rcm_getinfo.h"
#include "rcm_info.h"
#include "rcm_offer.h"
#include "rcm_param.h"

/* Hints that match, to be changed in one point. */
static struct fi_info *good_hints(void)
{
	struct fi_info *h = fi_allocinfo();

	cr_assert_not_null(h);
	h->caps = FI_MSG;
	h->ep_attr->type = FI_EP_MSG;
	h->domain_attr->mr_mode = FI_MR_LOCAL;
	return h;
}

static int getinfo(uint32_t version, const struct fi_info *h,
		   struct fi_info **info)
{
	return rcm_getinfo(version, NULL, NULL, 0, h, info);
}

static void setup(void)
{
	fake_install();
}

static void teardown(void)
{
	rcm_dev_list_reset();
	if (fake_remove())
		abort();
}

TestSuite(attr, .init = setup, .fini = teardown);

#define CASE(text, ...)      \
	if (i-- == 0) {      \
		__VA_ARGS__; \
		return text; \
	}

/* Case I of the hints that are refused, and what its reason says. */
static const char *refused(int i, struct fi_info *h)
{
	struct fi_ep_attr *ep = h->ep_attr;
	struct fi_tx_attr *tx = h->tx_attr;
	struct fi_rx_attr *rx = h->rx_attr;
	struct fi_domain_attr *dom = h->domain_attr;

	CASE("ep_attr->type: asked FI_EP_RDM, offered FI_EP_MSG",
	     ep->type = FI_EP_RDM)
	CASE("ep_attr->type: asked FI_EP_DGRAM", ep->type = FI_EP_DGRAM)
	CASE("ep_attr->protocol: asked FI_PROTO_RXM",
	     ep->protocol = FI_PROTO_RXM)
	CASE("ep_attr->protocol_version: asked 2, offered 1",
	     ep->protocol_version = 2)
	CASE("ep_attr->max_order_raw_size",
	     ep->max_order_raw_size = (1u << 30) + 1)
	CASE("ep_attr->max_order_war_size", ep->max_order_war_size = 1)
	CASE("ep_attr->max_order_waw_size",
	     ep->max_order_waw_size = (1u << 30) + 1)
	CASE("ep_attr->mem_tag_format", ep->mem_tag_format = 0xaaaa)
	CASE("ep_attr->tx_ctx_cnt: asked 2, offered 1", ep->tx_ctx_cnt = 2)
	CASE("ep_attr->tx_ctx_cnt: asked FI_SHARED_CONTEXT",
	     ep->tx_ctx_cnt = FI_SHARED_CONTEXT)
	CASE("ep_attr->rx_ctx_cnt: asked 2, offered 1", ep->rx_ctx_cnt = 2)
	CASE("rx_attr->size (shared): asked 16385, offered 16384",
	     ep->rx_ctx_cnt = FI_SHARED_CONTEXT;
	     rx->size = 16385)
	CASE("rx_attr->comp_order", ep->rx_ctx_cnt = FI_SHARED_CONTEXT;
	     rx->comp_order = RCM_OLD_ORDER_STRICT)
	CASE("ep_attr->auth_key_size", ep->auth_key_size = 8)
	CASE("caps: asked FI_TAGGED", h->caps |= FI_TAGGED)
	CASE("ep_attr->rx_ctx_cnt: asked FI_SHARED_CONTEXT with FI_MULTI_RECV",
	     h->caps |= FI_MULTI_RECV;
	     ep->rx_ctx_cnt = FI_SHARED_CONTEXT)
	CASE("domain_attr->data_progress: asked FI_PROGRESS_AUTO with",
	     h->caps |= FI_MULTI_RECV;
	     dom->data_progress = FI_PROGRESS_AUTO)
	CASE("caps: asked FI_SOURCE", h->caps |= FI_SOURCE)
	CASE("caps: asked FI_HMEM", h->caps |= FI_HMEM)
	/* keys and addresses for a peer are the device's */
	CASE("domain_attr->mr_mode: asked 0x4 with API 1.17, missing "
	     "FI_MR_VIRT_ADDR, FI_MR_ALLOCATED, FI_MR_PROV_KEY",
	     h->caps |= FI_RMA)
	CASE("domain_attr->mr_mode: asked 0x4 with API 1.17, missing "
	     "FI_MR_VIRT_ADDR, FI_MR_ALLOCATED, FI_MR_PROV_KEY",
	     h->caps |= FI_ATOMIC)
	CASE("caps: asked", h->caps |= 1ULL << 63)
	CASE("addr_format: asked FI_SOCKADDR_IB",
	     h->addr_format = FI_SOCKADDR_IB)
	CASE("addr_format: asked FI_ADDR_STR", h->addr_format = FI_ADDR_STR)
	CASE("addr_format: asked", h->addr_format = 4711)
	CASE("tx_attr->caps: asked FI_RMA", tx->caps = FI_MSG | FI_RMA)
	CASE("tx_attr->caps: asked FI_SEND", h->caps = FI_MSG | FI_RECV;
	     tx->caps = FI_SEND)
	CASE("rx_attr->caps: asked FI_RECV", h->caps = FI_MSG | FI_SEND;
	     rx->caps = FI_RECV)
	CASE("rx_attr->caps: asked FI_TAGGED", rx->caps = FI_TAGGED)
	CASE("tx_attr->op_flags: asked FI_DELIVERY_COMPLETE",
	     tx->op_flags = FI_DELIVERY_COMPLETE)
	CASE("tx_attr->op_flags", tx->op_flags = FI_MULTICAST)
	CASE("rx_attr->op_flags: asked FI_MULTI_RECV",
	     rx->op_flags = FI_MULTI_RECV)
	CASE("tx_attr->msg_order: asked FI_ORDER_WAR",
	     tx->msg_order = FI_ORDER_SAS | FI_ORDER_WAR)
	CASE("tx_attr->msg_order: asked", tx->msg_order = FI_ORDER_RMA_WAR)
	CASE("rx_attr->msg_order: asked FI_ORDER_SAR",
	     rx->msg_order = FI_ORDER_SAR)
	CASE("tx_attr->comp_order: asked 0x10000", tx->comp_order = 1 << 16)
	CASE("rx_attr->comp_order: asked 0x10000", rx->comp_order = 1 << 16)
	CASE("tx_attr->inject_size: asked 4097, offered 4096",
	     tx->inject_size = 4097)
	CASE("tx_attr->rma_iov_limit", tx->rma_iov_limit = 2)
	CASE("tx_attr->tclass: asked 0x140", tx->tclass = fi_tc_dscp_set(64))
	CASE("rx_attr->total_buffered_recv", rx->total_buffered_recv = 1)
	CASE("tx_attr->size: asked 16384, offered 16383", tx->size = 16384)
	CASE("rx_attr->size: asked 16385, offered 16384", rx->size = 16385)
	CASE("tx_attr->iov_limit: asked 17, offered 16", tx->iov_limit = 17)
	CASE("rx_attr->iov_limit: asked 17, offered 16", rx->iov_limit = 17)
	CASE("ep_attr->max_msg_size", ep->max_msg_size = (1u << 30) + 1)
	CASE("domain_attr->threading: asked 99", dom->threading = 99)
	CASE("domain_attr->control_progress: asked 99",
	     dom->control_progress = 99)
	CASE("domain_attr->data_progress: asked 99", dom->data_progress = 99)
	CASE("domain_attr->resource_mgmt: asked 99", dom->resource_mgmt = 99)
	CASE("domain_attr->av_type: asked 99", dom->av_type = 99)
	CASE("domain_attr->cq_data_size: asked 8, offered 4",
	     dom->cq_data_size = 8)
	CASE("domain_attr->cntr_cnt: asked 65537, offered 65536",
	     dom->cntr_cnt = 65537)
	CASE("domain_attr->max_ep_tx_ctx", dom->max_ep_tx_ctx = 2)
	CASE("domain_attr->max_ep_rx_ctx", dom->max_ep_rx_ctx = 2)
	CASE("domain_attr->max_ep_stx_ctx", dom->max_ep_stx_ctx = 1)
	CASE("domain_attr->max_ep_srx_ctx", dom->max_ep_srx_ctx = 1025)
	CASE("domain_attr->mr_iov_limit", dom->mr_iov_limit = 2)
	CASE("domain_attr->max_err_data", dom->max_err_data = 56)
	CASE("domain_attr->auth_key_size", dom->auth_key_size = 1)
	CASE("domain_attr->caps: asked", dom->caps = FI_SHARED_AV)
	CASE("domain_attr->tclass: asked 0x206", dom->tclass = FI_TC_LABEL + 6)
	CASE("domain_attr->cq_cnt", dom->cq_cnt = 65537)
	CASE("domain_attr->ep_cnt", dom->ep_cnt = 65537)
	CASE("domain_attr->mr_cnt", dom->mr_cnt = 65537)
	CASE("domain_attr->tx_ctx_cnt", dom->tx_ctx_cnt = 65537)
	CASE("domain_attr->rx_ctx_cnt", dom->rx_ctx_cnt = 65537)
	CASE("domain_attr->mr_mode: asked 0x2 with API 1.17, missing "
	     "FI_MR_VIRT_ADDR, FI_MR_ALLOCATED, FI_MR_PROV_KEY",
	     dom->mr_mode = RCM_OLD_MR_SCALABLE)
	CASE("fabric_attr->prov_version",
	     h->fabric_attr->prov_version = RCM_PROV_VERSION + 1)
	CASE("domain_attr->name: there is no device fake",
	     dom->name = strdup("fake"))
	CASE("fabric_attr->name: asked RoC, it is in RoCE",
	     h->fabric_attr->name = strdup("RoC"))
	return NULL;
}

/* The reason is what rcm says in its log (design: a refusal says why). */
static void reason_of(const struct fi_info *h, struct rcm_why *why)
{
	struct rcm_dev_list *list = rcm_dev_list_get(false);
	struct rcm_dev_addr addr = list->devs[0].addrs[0];
	struct fi_info *offer;

	memset(why, 0, sizeof(*why));
	if (!rcm_attr_check(FI_VERSION(1, 17), h, why)) {
		offer = rcm_info_new(FI_VERSION(1, 17), &list->devs[0], &addr);
		rcm_attr_check_dev(h, offer, &list->devs[0], why);
		fi_freeinfo(offer);
	}
	rcm_dev_list_put(list);
}

/* LF#11539 (cq_data_size) and others */
Test(attr, hints_that_cannot_be_met_are_refused_with_the_reason)
{
	int n = 0;

	for (;; n++) {
		struct fi_info *h = good_hints(), *info = h;
		const char *text = refused(n, h);
		struct rcm_why why;

		if (!text) {
			fi_freeinfo(h);
			break;
		}
		reason_of(h, &why);
		if (!h->domain_attr->name)
			cr_expect(strstr(why.text, text), "%s: %s", text,
				  why.text);
		cr_expect_eq(getinfo(FI_VERSION(1, 17), h, &info), -FI_ENODATA,
			     "%s", text);
		cr_expect_null(info, "%s", text);
		h->ep_attr->auth_key_size = 0; /* there is no key to free */
		fi_freeinfo(h);
	}
	cr_assert_gt(n, 60);
}

/* Case I of the hints that are met; the text names it. */
static const char *accepted(int i, struct fi_info *h)
{
	struct fi_ep_attr *ep = h->ep_attr;
	struct fi_tx_attr *tx = h->tx_attr;
	struct fi_rx_attr *rx = h->rx_attr;
	struct fi_domain_attr *dom = h->domain_attr;

	CASE("as they are", (void)h)
	CASE("any type", ep->type = FI_EP_UNSPEC)
	CASE("no caps", h->caps = 0)
	CASE("all caps", h->caps = FI_MSG | FI_SEND | FI_RECV | FI_LOCAL_COMM |
				   FI_REMOTE_COMM)
	CASE("mode bits", h->mode = ~0ULL)
	CASE("protocol", ep->protocol = FI_PROTO_RDMA_CM_IB_RC;
	     ep->protocol_version = 1)
	CASE("one context", ep->tx_ctx_cnt = ep->rx_ctx_cnt = 1)
	CASE("shared receive context", ep->rx_ctx_cnt = FI_SHARED_CONTEXT;
	     rx->size = 16384)
	CASE("shared and without registration",
	     ep->rx_ctx_cnt = FI_SHARED_CONTEXT;
	     dom->mr_mode = 0)
	CASE("prefix", ep->msg_prefix_size = 64)
	CASE("all of RMA", h->caps = FI_RMA; h->mode = FI_RX_CQ_DATA;
	     dom->mr_mode = RCM_MR_MODE; dom->cq_data_size = 4;
	     tx->rma_iov_limit = 1)
	CASE("RMA without data", h->caps = FI_MSG | FI_RMA;
	     dom->mr_mode = RCM_MR_MODE)
	CASE("an initiator's registration",
	     h->caps = FI_RMA | FI_READ | FI_WRITE;
	     dom->mr_mode = 0)
	CASE("data without its mode", h->caps = FI_RMA | FI_WRITE;
	     dom->cq_data_size = 4)
	CASE("the mode of the receives", h->caps = FI_RMA | FI_WRITE;
	     rx->mode = FI_RX_CQ_DATA; dom->cq_data_size = 4)
	CASE("data with messages where reads are all of RMA",
	     h->caps = FI_MSG | FI_RMA | FI_READ;
	     dom->cq_data_size = 4)
	CASE("caps of both directions in each",
	     tx->caps = rx->caps = FI_MSG | FI_SEND | FI_RECV)
	CASE("orders", tx->msg_order = rx->msg_order = RCM_MSG_ORDER;
	     ep->max_order_raw_size = ep->max_order_waw_size = 1u << 30;
	     tx->comp_order = rx->comp_order = RCM_OLD_ORDER_STRICT)
	CASE("op flags", tx->op_flags = RCM_TX_OP_FLAGS;
	     rx->op_flags = FI_COMPLETION)
	CASE("class", tx->tclass = FI_TC_LOW_LATENCY;
	     dom->tclass = fi_tc_dscp_set(63))
	CASE("limits", tx->size = 16383; rx->size = 16384;
	     tx->iov_limit = rx->iov_limit = 16; tx->inject_size = 4096;
	     ep->max_msg_size = 1u << 30; dom->cq_data_size = 4;
	     dom->max_ep_tx_ctx = dom->max_ep_rx_ctx = 1;
	     dom->cq_cnt = dom->ep_cnt = dom->mr_cnt = 65536;
	     dom->max_err_data = 55)
	CASE("longer keys", dom->mr_key_size = 8)
	CASE("any av", dom->av_type = FI_AV_TABLE)
	CASE("no management", dom->resource_mgmt = FI_RM_DISABLED)
	CASE("domain", dom->name = strdup("fake0"))
	CASE("fabric", h->fabric_attr->name = strdup("RoCE"))
	CASE("provider name",
	     h->fabric_attr->prov_name = strdup("rcm;^ofi_rxm"))
	CASE("fid levels", dom->threading = FI_THREAD_FID)
	CASE("unified", dom->control_progress = RCM_PROGRESS_UNIFIED;
	     dom->data_progress = RCM_PROGRESS_UNIFIED)
	return NULL;
}

/* What is reported must be usable as hints in its turn. */
Test(attr, hints_that_can_be_met_are)
{
	int n = 0;

	for (;; n++) {
		struct fi_info *h = good_hints(), *info = NULL, *again = NULL;
		const char *text = accepted(n, h);

		if (!text) {
			fi_freeinfo(h);
			break;
		}
		cr_expect_eq(getinfo(FI_VERSION(1, 17), h, &info), 0, "%s",
			     text);
		if (info)
			cr_expect_eq(getinfo(FI_VERSION(1, 17), info, &again),
				     0, "%s, again", text);
		fi_freeinfo(again);
		fi_freeinfo(info);
		fi_freeinfo(h);
	}
	cr_assert_gt(n, 15);
}

Test(attr, sizes_are_those_that_were_asked_for)
{
	struct fi_info *h = good_hints(), *info;

	h->tx_attr->size = 128;
	h->rx_attr->size = 16384;
	h->tx_attr->iov_limit = 1;
	h->rx_attr->iov_limit = 16;
	h->tx_attr->inject_size = 16;
	cr_assert_eq(getinfo(FI_VERSION(1, 17), h, &info), 0);
	cr_assert_eq(info->tx_attr->size, 128);
	cr_assert_eq(info->rx_attr->size, 16384);
	cr_assert_eq(info->tx_attr->iov_limit, 1);
	cr_assert_eq(info->rx_attr->iov_limit, 16);
	cr_assert_eq(info->tx_attr->inject_size, 16);
	fi_freeinfo(info);
	fi_freeinfo(h);
}

/* the in-tree provider loses them, or reports FI_INJECT with no hints */
Test(attr, op_flags_are_the_callers_and_no_others)
{
	struct fi_info *h = good_hints(), *info;

	h->tx_attr->op_flags = FI_COMPLETION | FI_TRANSMIT_COMPLETE;
	h->rx_attr->op_flags = FI_COMPLETION;
	cr_assert_eq(getinfo(FI_VERSION(1, 17), h, &info), 0);
	cr_assert_eq(info->tx_attr->op_flags, h->tx_attr->op_flags);
	cr_assert_eq(info->rx_attr->op_flags, h->rx_attr->op_flags);
	fi_freeinfo(info);
	fi_freeinfo(h);
	cr_assert_eq(getinfo(FI_VERSION(1, 17), NULL, &info), 0);
	cr_assert_eq(info->tx_attr->op_flags, 0);
	cr_assert_eq(info->rx_attr->op_flags, 0);
	fi_freeinfo(info);
}

Test(attr, models_are_echoed_where_they_make_a_difference)
{
	static const struct {
		enum fi_threading asked, got;
	} levels[] = {
		{ FI_THREAD_UNSPEC, FI_THREAD_SAFE },
		{ FI_THREAD_SAFE, FI_THREAD_SAFE },
		{ FI_THREAD_FID, FI_THREAD_SAFE },
		{ FI_THREAD_ENDPOINT, FI_THREAD_SAFE },
		{ FI_THREAD_DOMAIN, FI_THREAD_DOMAIN },
		{ FI_THREAD_COMPLETION, FI_THREAD_COMPLETION },
	};
	static const enum fi_progress control[] = {
		FI_PROGRESS_UNSPEC,
		FI_PROGRESS_AUTO,
		FI_PROGRESS_MANUAL,
	};
	struct fi_info *h = good_hints(), *info;

	for (size_t i = 0; i < RCM_ARRAY_SIZE(levels); i++) {
		enum fi_progress asked = control[i % RCM_ARRAY_SIZE(control)];

		h->domain_attr->threading = levels[i].asked;
		h->domain_attr->control_progress = asked;
		h->domain_attr->data_progress = i % 2 ? FI_PROGRESS_MANUAL :
							FI_PROGRESS_UNSPEC;
		cr_assert_eq(getinfo(FI_VERSION(1, 17), h, &info), 0);
		cr_assert_eq(info->domain_attr->threading, levels[i].got);
		cr_assert_eq(info->domain_attr->data_progress,
			     i % 2 ? FI_PROGRESS_MANUAL : FI_PROGRESS_AUTO);
		cr_assert_eq(info->domain_attr->control_progress,
			     asked ? asked : FI_PROGRESS_MANUAL);
		fi_freeinfo(info);
	}
	fi_freeinfo(h);
}

/* fi_getinfo(3): a primary capability alone implies all its modifiers. */
Test(attr, caps_are_the_primary_ones_asked_for_and_the_free_ones)
{
	const uint64_t free = RCM_FREE_CAPS,
		       rma = FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ |
			     FI_REMOTE_WRITE,
		       msg = FI_MSG | FI_SEND | FI_RECV,
		       tx = FI_MSG | FI_SEND | FI_FENCE, rx = FI_MSG | FI_RECV,
		       rma_tx = FI_RMA | FI_READ | FI_WRITE,
		       rma_rx = FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE,
		       amo = FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ |
			     FI_REMOTE_WRITE;
	const struct {
		uint64_t asked, got, tx, rx;
	} caps[] = {
		{ 0, RCM_CAPS & ~RCM_MANUAL_CAPS, tx | rma_tx | FI_ATOMIC,
		  rx | rma_rx | FI_ATOMIC },
		{ FI_MSG, msg | free, tx, rx },
		{ FI_MSG | FI_SEND, FI_MSG | FI_SEND | free, tx, 0 },
		{ FI_MSG | FI_RECV, FI_MSG | FI_RECV | free, 0, rx },
		{ FI_LOCAL_COMM, msg | free, tx, rx },
		{ FI_FENCE, msg | free, tx, rx },
		/* those that are for who asks */
		{ FI_MSG | FI_MULTI_RECV, msg | FI_MULTI_RECV | free, tx,
		  rx | FI_MULTI_RECV },
		{ FI_MSG | FI_RECV | FI_MULTI_RECV,
		  FI_MSG | FI_RECV | FI_MULTI_RECV | free, 0,
		  rx | FI_MULTI_RECV },
		/* each primary one has its own modifiers */
		{ FI_RMA, rma | free, rma_tx | FI_FENCE, rma_rx },
		{ FI_MSG | FI_RMA, msg | rma | free, tx | rma_tx, rx | rma_rx },
		{ FI_MSG | FI_SEND | FI_RMA, FI_MSG | FI_SEND | rma | free,
		  tx | rma_tx, rma_rx },
		{ FI_RMA | FI_READ | FI_REMOTE_WRITE,
		  FI_RMA | FI_READ | FI_REMOTE_WRITE | free,
		  FI_RMA | FI_READ | FI_FENCE, FI_RMA | FI_REMOTE_WRITE },
		{ FI_MSG | FI_RMA | FI_WRITE, msg | FI_RMA | FI_WRITE | free,
		  tx | FI_RMA | FI_WRITE, rx },
		{ FI_ATOMIC, amo | free,
		  FI_ATOMIC | FI_READ | FI_WRITE | FI_FENCE,
		  FI_ATOMIC | FI_REMOTE_READ | FI_REMOTE_WRITE },
		{ FI_MSG | FI_RMA | FI_ATOMIC, msg | rma | amo | free,
		  tx | rma_tx | FI_ATOMIC, rx | rma_rx | FI_ATOMIC },
		{ FI_ATOMIC | FI_REMOTE_WRITE,
		  FI_ATOMIC | FI_REMOTE_WRITE | free, 0,
		  FI_ATOMIC | FI_REMOTE_WRITE },
		{ FI_WRITE, FI_RMA | FI_WRITE | free,
		  FI_RMA | FI_WRITE | FI_FENCE, 0 },
	};
	struct fi_info *h = good_hints(), *info;

	h->domain_attr->mr_mode = RCM_MR_MODE;
	for (size_t i = 0; i < RCM_ARRAY_SIZE(caps); i++) {
		h->caps = caps[i].asked;
		cr_assert_eq(getinfo(FI_VERSION(1, 17), h, &info), 0, "%zu", i);
		cr_assert_eq(info->caps, caps[i].got, "%zu", i);
		cr_assert_eq(info->tx_attr->caps, caps[i].tx, "%zu", i);
		cr_assert_eq(info->rx_attr->caps, caps[i].rx, "%zu", i);
		cr_assert_eq(info->domain_attr->caps,
			     FI_LOCAL_COMM | FI_REMOTE_COMM);
		fi_freeinfo(info);
	}
	fi_freeinfo(h);
}

/* fi_endpoint(3): a context's are a subset of the endpoint's. */
Test(attr, caps_of_a_context_may_be_less)
{
	struct fi_info *h = good_hints(), *info;

	h->caps = FI_MSG | FI_RMA;
	h->domain_attr->mr_mode = RCM_MR_MODE;
	h->tx_attr->caps = FI_MSG;
	h->rx_attr->caps = FI_RMA | FI_REMOTE_READ;
	cr_assert_eq(getinfo(FI_VERSION(1, 17), h, &info), 0);
	cr_assert_eq(info->tx_attr->caps, FI_MSG | FI_SEND | FI_FENCE);
	cr_assert_eq(info->rx_attr->caps, FI_RMA | FI_REMOTE_READ);
	fi_freeinfo(info);
	fi_freeinfo(h);
}

/* Hints that leave the capabilities open get those that the rest allows. */
Test(attr, silent_hints_get_what_their_other_wishes_allow)
{
	struct fi_info *h = good_hints(), *info;

	h->caps = 0;
	cr_assert_eq(getinfo(FI_VERSION(1, 17), h, &info), 0);
	cr_assert(info->caps & FI_RMA);
	cr_assert_eq(info->caps & (FI_REMOTE_READ | FI_REMOTE_WRITE), 0);
	cr_assert_eq(info->domain_attr->cq_data_size, 0);
	fi_freeinfo(info);
	h->domain_attr->cq_data_size = 4;
	cr_assert_eq(getinfo(FI_VERSION(1, 17), h, &info), 0);
	cr_assert_eq(info->caps & FI_WRITE, 0);
	cr_assert_eq(info->domain_attr->cq_data_size, 4);
	fi_freeinfo(info);
	fi_freeinfo(h);
}

/* LF#666, #663: such a write uses up a receive, and the application knows. */
Test(attr, mode_that_data_uses_up_receives_is_kept_where_writes_are)
{
	static const uint64_t caps[] = { FI_MSG, FI_MSG | FI_RMA,
					 FI_RMA | FI_READ };

	for (size_t i = 0; i < RCM_ARRAY_SIZE(caps); i++) {
		struct fi_info *h = good_hints(), *info;

		h->caps = caps[i];
		h->domain_attr->mr_mode = RCM_MR_MODE;
		h->mode = FI_RX_CQ_DATA | FI_CONTEXT;
		cr_assert_eq(getinfo(FI_VERSION(1, 17), h, &info), 0);
		cr_assert_eq(info->mode, i == 1 ? FI_RX_CQ_DATA : 0);
		cr_assert_eq(info->rx_attr->mode, i == 1 ? FI_RX_CQ_DATA : 0);
		cr_assert_eq(info->tx_attr->mode, 0);
		cr_assert_eq(info->domain_attr->cq_data_size, 4);
		fi_freeinfo(info);
		/* programs look addresses up before they say so */
		h->mode = 0;
		h->domain_attr->cq_data_size = 4;
		cr_assert_eq(getinfo(FI_VERSION(1, 17), h, &info), 0);
		cr_assert_eq(info->mode, 0);
		cr_assert_eq(info->domain_attr->cq_data_size, i == 1 ? 0 : 4);
		fi_freeinfo(info);
		fi_freeinfo(h);
	}
}

#define ALL	 RCM_MR_MODE
#define NO_HINTS (-1)
#define REFUSED	 (-1)

/* LF#11091, #4639, #2804, #5607, #4158: days lost over these bits */
Test(attr, registration_takes_the_form_of_the_api_version)
{
	static const struct {
		int major, minor;
		int asked;
		bool local_mr;
		int got;
		bool got_local_mr;
	} forms[] = {
		{ 1, 4, NO_HINTS, false, 1, true },
		{ 1, 4, 0, true, 1, true },
		{ 1, 4, 1, true, 1, true },
		{ 1, 4, 0, false, 1, false },
		{ 1, 4, 1, false, 1, false },
		{ 1, 4, 2, true, REFUSED, false },
		{ 1, 4, FI_MR_LOCAL, true, REFUSED, false },
		{ 1, 5, NO_HINTS, false, ALL, false },
		{ 1, 5, ALL, false, ALL, false },
		{ 1, 5, ALL | FI_MR_RAW | FI_MR_ENDPOINT, false, ALL, false },
		{ 1, 5, FI_MR_LOCAL, false, FI_MR_LOCAL, false },
		{ 1, 5, 1, true, 1, true },
		{ 1, 5, 1, false, 1, false },
		{ 1, 5, 1 | FI_MR_LOCAL, false, ALL, false },
		{ 1, 5, 2, true, REFUSED, false },
		{ 1, 5, 0, true, 0, true },
		{ 1, 5, 0, false, 0, false },
		{ 1, 5, 2, false, REFUSED, false },
		{ 1, 17, RCM_MR_BASIC_MAP, false, RCM_MR_BASIC_MAP, false },
		{ 1, 17, ALL, true, ALL, false },
		{ 2, 0, NO_HINTS, false, ALL, false },
		{ 2, 0, ALL, false, ALL, false },
		{ 2, 0, FI_MR_LOCAL | FI_MR_ALLOCATED, false,
		  FI_MR_LOCAL | FI_MR_ALLOCATED, false },
		{ 1, 17, ~(3 | FI_MR_LOCAL), true, RCM_MR_BASIC_MAP, true },
		{ 2, 0, FI_MR_ALLOCATED, true, FI_MR_ALLOCATED, true },
		{ 2, 0, FI_MR_ALLOCATED, false, FI_MR_ALLOCATED, false },
		{ 2, 0, 0, false, 0, false },
	};

	for (size_t i = 0; i < RCM_ARRAY_SIZE(forms); i++) {
		uint32_t version = FI_VERSION(forms[i].major, forms[i].minor);
		struct fi_info *h = NULL, *info;
		int ret;

		if (forms[i].asked != NO_HINTS) {
			h = good_hints();
			h->domain_attr->mr_mode = forms[i].asked;
			h->mode = forms[i].local_mr ? RCM_OLD_LOCAL_MR : 0;
		}
		ret = getinfo(version, h, &info);
		cr_expect_eq(ret, forms[i].got == REFUSED ? -FI_ENODATA : 0,
			     "%zu", i);
		if (info) {
			cr_expect_eq(info->domain_attr->mr_mode, forms[i].got,
				     "%zu", i);
			cr_expect_eq(info->mode & ~FI_RX_CQ_DATA,
				     forms[i].got_local_mr ? RCM_OLD_LOCAL_MR :
							     0,
				     "%zu", i);
		}
		fi_freeinfo(info);
		fi_freeinfo(h);
	}
}

/* fi_getinfo(3), FI_MSG_PREFIX: only who offers it gets it, at no bytes. */
Test(attr, prefix_mode_is_kept_and_costs_nothing)
{
	const uint32_t version = FI_VERSION(1, 17);
	struct fi_info *h = good_hints(), *info;

	cr_assert_eq(getinfo(version, h, &info), 0);
	cr_expect_eq(info->tx_attr->mode | info->rx_attr->mode, 0);
	fi_freeinfo(info);
	h->mode |= FI_MSG_PREFIX;
	cr_assert_eq(getinfo(version, h, &info), 0);
	cr_expect(info->mode & FI_MSG_PREFIX);
	cr_expect(info->tx_attr->mode & FI_MSG_PREFIX);
	cr_expect(info->rx_attr->mode & FI_MSG_PREFIX);
	cr_expect_eq(info->ep_attr->msg_prefix_size, 0);
	fi_freeinfo(info);
	fi_freeinfo(h);
}

Test(attr, completion_order_follows_the_api_version)
{
	struct fi_info *info;

	cr_assert_eq(getinfo(FI_VERSION(1, 17), NULL, &info), 0);
	cr_assert_eq(info->tx_attr->comp_order, RCM_OLD_ORDER_STRICT);
	cr_assert_eq(info->rx_attr->comp_order, RCM_OLD_ORDER_STRICT);
	fi_freeinfo(info);
	cr_assert_eq(getinfo(FI_VERSION(2, 0), NULL, &info), 0);
	cr_assert_eq(info->tx_attr->comp_order, 0);
	cr_assert_eq(info->rx_attr->comp_order, 0);
	fi_freeinfo(info);
}

/* ofi_rxm's fabric look-up leaves all but one of them out */
Test(attr, any_part_of_the_hints_may_be_missing)
{
	for (unsigned int mask = 0; mask < 32; mask++) {
		struct fi_info *h = good_hints(), *info;
		struct fi_info whole = *h;

		if (mask & 1)
			h->tx_attr = NULL;
		if (mask & 2)
			h->rx_attr = NULL;
		if (mask & 4)
			h->ep_attr = NULL;
		if (mask & 8)
			h->domain_attr = NULL;
		if (mask & 16)
			h->fabric_attr = NULL;
		cr_assert_eq(getinfo(FI_VERSION(1, 17), h, &info), 0, "%x",
			     mask);
		fi_freeinfo(info);
		*h = whole;
		fi_freeinfo(h);
	}
}

/* variables are in force where the hints are silent */
Test(attr, defaults_come_from_the_variables_and_the_device)
{
	struct fake_dev_conf small = {
		.name = "tiny",
		.addrs = { "10.1.0.1" },
		.max_qp_wr = 100,
		.max_sge = 2,
	};
	struct fi_info *info;

	rcm_param.tx_size = 64;
	rcm_param.inject_size = 99;
	rcm_param.iov_limit = 3;
	cr_assert_eq(getinfo(FI_VERSION(1, 17), NULL, &info), 0);
	cr_assert_eq(info->tx_attr->size, 64);
	cr_assert_eq(info->rx_attr->size, 384);
	cr_assert_eq(info->tx_attr->inject_size, 99);
	cr_assert_eq(info->tx_attr->iov_limit, 3);
	cr_assert_eq(info->rx_attr->iov_limit, 3);
	fi_freeinfo(info);
	fake_set_devs(&small, 1);
	rcm_dev_list_reset();
	rcm_param.tx_size = 384; /* one send is kept for the end */
	cr_assert_eq(getinfo(FI_VERSION(1, 17), NULL, &info), 0);
	cr_assert_eq(info->tx_attr->size, 99);
	cr_assert_eq(info->rx_attr->size, 100);
	cr_assert_eq(info->rx_attr->iov_limit, 2);
	fi_freeinfo(info);
}
