/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Opening, binding, enabling and closing in wrong and in odd orders. */

#include <criterion/criterion.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_offer.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	cr_assert_eq(net_open(&n), 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(open, .init = set_up, .fini = tear_down);

/* An endpoint that is bound to nothing. */
static struct fid_ep *bare_ep(void)
{
	struct fid_ep *ep;

	cr_assert_eq(fi_endpoint(n.domain, n.info, &ep, NULL), 0);
	return ep;
}

Test(open, everything_closes_again)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
}

Test(open, fabric_in_use_is_busy)
{
	cr_assert_eq(fi_close(&n.fabric->fid), -FI_EBUSY);
	cr_assert_eq(net_listen(&n), 0);
}

/* LF#2673, LF#545: nothing is freed by a close that is refused */
Test(open, domain_in_use_is_busy)
{
	cr_assert_eq(fi_close(&n.domain->fid), -FI_EBUSY);
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(fi_close(&n.domain->fid), -FI_EBUSY);
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
}

Test(open, queues_of_an_endpoint_are_busy)
{
	cr_assert_eq(net_join(&n), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(fi_close(&n.side[i].cq->fid), -FI_EBUSY);
		cr_assert_eq(fi_close(&n.side[i].eq->fid), -FI_EBUSY);
	}
	cr_assert_eq(net_exchange(&n, 0, 1, 64), 0);
	cr_assert_eq(net_exchange(&n, 1, 1, 64), 0);
}

Test(open, queue_of_a_listener_is_busy)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(fi_close(&n.side[1].eq->fid), -FI_EBUSY);
}

/* LF#4038 */
Test(open, endpoint_that_was_never_enabled_closes)
{
	struct fid_ep *ep = bare_ep();

	cr_assert_eq(fi_close(&ep->fid), 0);
	ep = bare_ep();
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].eq->fid, 0), 0);
	cr_assert_eq(fi_close(&ep->fid), 0);
}

Test(open, enable_without_queues_is_refused)
{
	struct fid_ep *ep = bare_ep();

	cr_assert_eq(fi_enable(ep), -FI_ENOEQ);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].eq->fid, 0), 0);
	cr_assert_eq(fi_enable(ep), -FI_ENOCQ);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].cq->fid, FI_TRANSMIT), 0);
	cr_assert_eq(fi_enable(ep), -FI_ENOCQ);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].cq->fid, FI_RECV), 0);
	cr_assert_eq(fi_enable(ep), 0);
	cr_assert_eq(fi_close(&ep->fid), 0);
}

Test(open, one_direction_needs_one_queue)
{
	struct fi_info *info = fi_dupinfo(n.info);
	struct fid_ep *ep;

	info->caps = FI_MSG | FI_SEND;
	cr_assert_eq(fi_endpoint(n.domain, info, &ep, NULL), 0);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].eq->fid, 0), 0);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].cq->fid, FI_TRANSMIT), 0);
	cr_assert_eq(fi_enable(ep), 0);
	cr_assert_eq(fi_close(&ep->fid), 0);
	fi_freeinfo(info);
}

Test(open, second_bind_is_refused)
{
	struct fid_ep *ep = bare_ep();

	cr_assert_eq(fi_ep_bind(ep, &n.side[0].eq->fid, 0), 0);
	cr_assert_eq(fi_ep_bind(ep, &n.side[1].eq->fid, 0), -FI_EINVAL);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].cq->fid, FI_TRANSMIT), 0);
	cr_assert_eq(fi_ep_bind(ep, &n.side[1].cq->fid, FI_TRANSMIT),
		     -FI_EINVAL);
	/* nothing is half bound by a bind that fails */
	cr_assert_eq(fi_ep_bind(ep, &n.side[1].cq->fid, FI_TRANSMIT | FI_RECV),
		     -FI_EINVAL);
	cr_assert_eq(fi_close(&n.side[1].cq->fid), 0);
	n.side[1].cq = NULL;
	cr_assert_eq(fi_close(&ep->fid), 0);
}

Test(open, wrong_bind_flags_are_refused)
{
	struct fid_ep *ep = bare_ep();

	cr_assert_lt(fi_ep_bind(ep, &n.side[0].cq->fid, 0), 0);
	cr_assert_lt(fi_ep_bind(ep, &n.side[0].cq->fid, FI_TRANSMIT | FI_WRITE),
		     0);
	cr_assert_lt(fi_ep_bind(ep, &n.side[0].eq->fid, FI_TRANSMIT), 0);
	cr_assert_lt(fi_ep_bind(ep, &n.side[0].mr->fid, 0), 0);
	cr_assert_lt(fi_ep_bind(ep, &n.domain->fid, 0), 0);
	cr_assert_eq(fi_close(&ep->fid), 0);
}

/* LF pmem/rpma#101 */
Test(open, bind_after_enable_is_refused)
{
	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	cr_assert_eq(fi_ep_bind(n.side[0].ep, &n.side[1].eq->fid, 0),
		     -FI_EOPBADSTATE);
	cr_assert_eq(fi_enable(n.side[0].ep), 0);
}

Test(open, objects_of_another_domain_do_not_bind)
{
	struct fid_domain *domain;
	struct fid_ep *ep;

	cr_assert_eq(fi_domain(n.fabric, n.info, &domain, NULL), 0);
	cr_assert_eq(fi_endpoint(domain, n.info, &ep, NULL), 0);
	cr_assert_eq(fi_ep_bind(ep, &n.side[0].cq->fid, FI_TRANSMIT),
		     -FI_EDOMAIN);
	cr_assert_eq(fi_close(&ep->fid), 0);
	cr_assert_eq(fi_close(&domain->fid), 0);
}

/* LF commits bd8c3d2c5, a80b79190 */
Test(open, info_without_attributes_is_refused)
{
	struct fi_info *info = fi_dupinfo(n.info);
	struct fi_tx_attr *tx = info->tx_attr;
	struct fid_ep *ep;

	info->tx_attr = NULL;
	cr_assert_eq(fi_endpoint(n.domain, info, &ep, NULL), -FI_EINVAL);
	info->tx_attr = tx;
	info->ep_attr->type = FI_EP_RDM;
	cr_assert_eq(fi_endpoint(n.domain, info, &ep, NULL), -FI_EINVAL);
	fi_freeinfo(info);
}

Test(open, device_that_is_gone_gives_no_domain)
{
	struct fi_info *info = fi_dupinfo(n.info);
	struct fid_domain *domain;

	strcpy(info->domain_attr->name, "fake9");
	cr_assert_eq(fi_domain(n.fabric, info, &domain, NULL), -FI_ENODEV);
	fi_freeinfo(info);
}

Test(open, sizes_beyond_the_device_are_refused)
{
	struct fi_info *info = fi_dupinfo(n.info);
	struct fid_ep *ep;

	info->tx_attr->size = 1 << 20;
	cr_assert_eq(fi_endpoint(n.domain, info, &ep, NULL), -FI_EINVAL);
	info->tx_attr->size = 8;
	info->rx_attr->iov_limit = 1000;
	cr_assert_eq(fi_endpoint(n.domain, info, &ep, NULL), -FI_EINVAL);
	fi_freeinfo(info);
}

/* what getinfo offers at most can be had, also of a request's info */
Test(open_most, largest_sizes_on_offer_work)
{
	static const struct fake_dev_conf conf = { .name = "tight",
						   .addrs = { "10.77.0.1" },
						   .max_qp_wr = 64,
						   .max_cqe = 100,
						   .max_sge = 3 };
	size_t size = 128;
	int ret;

	do {
		net_begin(&n, &conf, 1);
		n.hints->tx_attr->size = size;
		n.hints->rx_attr->size = size;
		n.hints->tx_attr->iov_limit = 3;
		n.hints->rx_attr->iov_limit = 3;
		ret = net_open(&n);
		if (!ret)
			break;
		cr_assert_eq(ret, -FI_ENODATA);
		net_end(&n);
	} while (--size);
	cr_assert_geq(size, 32);
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_exchange(&n, 0, 100, 64), 0);
	net_end(&n);
}

Test(open_most, default_sizes_fit_a_small_device)
{
	static const struct fake_dev_conf conf = { .name = "tight",
						   .addrs = { "10.77.0.1" },
						   .max_qp_wr = 16,
						   .max_cqe = 20,
						   .max_sge = 1,
						   .max_inline = 16 };

	net_begin(&n, &conf, 1);
	cr_assert_eq(net_open(&n), 0);
	cr_assert_eq(net_join(&n), 0);
	cr_assert_eq(net_exchange(&n, 1, 100, 64), 0);
	net_end(&n);
}

/* LF#9612 and others: a request's info is usable as it is (LF#7300) */
Test(open, request_info_opens_a_domain_of_its_own)
{
	struct fid_domain *domain;
	struct fid_ep *ep;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_not_null(n.req->handle);
	cr_assert_not_null(n.req->src_addr);
	cr_assert_not_null(n.req->dest_addr);
	cr_assert_not_null(n.req->fabric_attr->prov_name);
	cr_assert_eq(n.req->fabric_attr->prov_version, RCM_PROV_VERSION);
	cr_assert_str_eq(n.req->fabric_attr->name, n.info->fabric_attr->name);
	cr_assert_str_eq(n.req->domain_attr->name, n.info->domain_attr->name);
	cr_assert_eq(fi_domain(n.fabric, n.req, &domain, NULL), 0);
	cr_assert_eq(fi_endpoint(domain, n.req, &ep, NULL), 0);
	cr_assert_eq(fi_close(&ep->fid), 0);
	cr_assert_eq(fi_close(&domain->fid), 0);
}

/* fi_endpoint(3): info->handle names a passive endpoint to take over */
Test(open, endpoint_takes_the_address_of_a_passive_one)
{
	struct fi_info *info = fi_dupinfo(n.info);
	union rcm_addr pep_addr = { 0 }, ep_addr = { 0 };
	size_t pep_len = sizeof(pep_addr), ep_len = sizeof(ep_addr);
	struct fid_pep *pep;
	struct fid_ep *ep;

	cr_assert_eq(fi_passive_ep(n.fabric, n.info, &pep, NULL), 0);
	cr_assert_eq(fi_getname(&pep->fid, &pep_addr, &pep_len), 0);
	info->handle = &pep->fid;

	/* what is refused has taken nothing */
	info->dest_addr = calloc(1, 3);
	info->dest_addrlen = 3;
	cr_assert_eq(fi_endpoint(n.domain, info, &ep, NULL), -FI_EINVAL);
	free(info->dest_addr);
	info->dest_addr = NULL;
	info->dest_addrlen = 0;

	cr_assert_eq(fi_endpoint(n.domain, info, &ep, NULL), 0);
	cr_assert_eq(fi_getname(&ep->fid, &ep_addr, &ep_len), 0);
	cr_assert_eq(ep_len, pep_len);
	cr_assert_eq(memcmp(&ep_addr, &pep_addr, pep_len), 0);
	cr_assert_eq(fi_close(&ep->fid), 0);
	cr_assert_eq(fi_endpoint(n.domain, info, &ep, NULL), -FI_EINVAL,
		     "there is only one to take over");
	cr_assert_eq(fi_close(&pep->fid), 0);
	info->handle = NULL;
	fi_freeinfo(info);
}

Test(open, memory_registration_counts_on_the_domain)
{
	struct fid_mr *mr;

	cr_assert_eq(fi_mr_reg(n.domain, n.side[0].buf, 64, FI_SEND, 0, 0, 0,
			       &mr, NULL),
		     0);
	cr_assert_eq(fi_close(&n.domain->fid), -FI_EBUSY);
	cr_assert_eq(fi_close(&mr->fid), 0);
}

/* LF#6245, S05: a region of no bytes, which a device may refuse */
Test(open, empty_region_opens_and_closes)
{
	struct fid_mr *mr;

	cr_assert_eq(fi_mr_reg(n.domain, n.side[0].buf, 0, FI_SEND, 0, 0, 0,
			       &mr, NULL),
		     0);
	cr_assert_not_null(fi_mr_desc(mr));
	cr_assert_eq(fi_close(&mr->fid), 0);
}

/* every slot of an object's table answers (loading.md, rule 9) */
Test(open, calls_that_an_object_lacks_answer)
{
	struct fid_av *av;
	char buf[8];

	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(fi_av_open(n.domain, NULL, &av, NULL), -FI_ENOSYS);
	cr_assert_eq(fi_listen((struct fid_pep *)n.side[0].ep), -FI_ENOSYS);
	cr_assert_lt(fi_cancel(&n.side[0].ep->fid, NULL), 0);
	cr_assert_lt(fi_read(n.side[0].ep, buf, 8, NULL, 0, 0, 0, NULL), 0);
	cr_assert_lt(fi_tsend(n.side[0].ep, buf, 8, NULL, 0, 0, NULL), 0);
	cr_assert_lt(fi_control(&n.side[0].ep->fid, 12345, NULL), 0);
	cr_assert_lt(fi_control(&n.domain->fid, 12345, NULL), 0);
	cr_assert_lt(fi_control(&n.fabric->fid, 12345, NULL), 0);
	cr_assert_lt(fi_control(&n.side[0].mr->fid, 12345, NULL), 0);
	cr_assert_lt(fi_control(&n.side[0].cq->fid, 12345, NULL), 0);
	cr_assert_lt(fi_control(&n.side[0].eq->fid, 12345, NULL), 0);
	cr_assert_lt(fi_control(&n.pep->fid, 12345, NULL), 0);
}

Test(open, options_are_known_or_refused)
{
	size_t size = 0, len = sizeof(size);

	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	cr_assert_eq(fi_getopt(&n.side[0].ep->fid, FI_OPT_ENDPOINT,
			       FI_OPT_CM_DATA_SIZE, &size, &len),
		     0);
	cr_assert_eq(size, 55);
	len = 1;
	cr_assert_eq(fi_getopt(&n.side[0].ep->fid, FI_OPT_ENDPOINT,
			       FI_OPT_CM_DATA_SIZE, &size, &len),
		     -FI_ETOOSMALL);
	cr_assert_eq(len, sizeof(size));
	/* aws-ofi-nccl#606 */
	cr_assert_eq(fi_setopt(&n.side[0].ep->fid, FI_OPT_ENDPOINT, 9999, &size,
			       sizeof(size)),
		     -FI_ENOPROTOOPT);
}
