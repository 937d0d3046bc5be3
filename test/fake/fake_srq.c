/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "fake_int.h"

/* Shared receive queues. */

/* A limit of a device, where less than 0 stands for none at all. */
int fake_srq_limit(int conf, int otherwise)
{
	if (conf < 0)
		return 0;
	return conf ? conf : otherwise;
}

struct ibv_srq *fake_create_srq(struct ibv_pd *pd,
				struct ibv_srq_init_attr *attr)
{
	struct fake_dev *dev = fake_of(pd->context->device, fake_dev, device);
	const struct fake_dev_conf *conf = &dev->conf;
	int err = fake_enter(FAKE_create_srq);
	struct fake_srq *srq;

	if (!err && dev->n_srqs >= fake_srq_limit(conf->max_srq, 1024))
		err = ENOMEM;
	if (!err &&
	    (attr->attr.max_wr < 1 ||
	     (int)attr->attr.max_wr > fake_srq_limit(conf->max_srq_wr, 16384) ||
	     (int)attr->attr.max_sge > fake_srq_limit(conf->max_srq_sge, 16)))
		err = EINVAL;
	if (err)
		return fake_leave_ptr(NULL, err);
	srq = fake_new(sizeof(*srq));
	srq->dev = dev;
	srq->srq.context = pd->context;
	srq->srq.srq_context = attr->srq_context;
	srq->srq.pd = pd;
	srq->max_wr = attr->attr.max_wr;
	srq->max_sge = attr->attr.max_sge;
	rcm_list_init(&srq->rq);
	fake_of(pd, fake_pd, pd)->users++;
	fake_of(pd->context, fake_ctx, ctx)->users++;
	dev->n_srqs++;
	rcm_list_add(&fake.srqs, &srq->node);
	return fake_leave_ptr(&srq->srq, 0);
}

void fake_srq_free(struct fake_srq *srq)
{
	struct fake_wr *wr;

	while ((wr = rcm_list_first(&srq->rq, struct fake_wr, node)))
		fake_wr_free(wr);
	rcm_list_del(&srq->node);
	free(srq);
}

/* Entries that nobody has read yet outlive the queue. */
static void fake_srq_forget(struct fake_srq *srq)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&fake.cqs, node, tmp) {
		struct fake_cq *cq = rcm_list_entry(node, struct fake_cq, node);

		for (unsigned int i = 0; i < cq->fill; i++) {
			struct fake_cqe *cqe =
				&cq->cqes[(cq->head + i) % cq->size];

			if (cqe->srq == srq)
				cqe->srq = NULL;
		}
	}
}

int fake_destroy_srq(struct ibv_srq *vsrq)
{
	struct fake_srq *srq = fake_of(vsrq, fake_srq, srq);
	int err = fake_enter(FAKE_destroy_srq);

	if (srq->users) {
		fake_problem("shared receive queue destroyed with %d users",
			     srq->users);
		return fake_leave(EBUSY);
	}
	fake_srq_forget(srq);
	fake_of(vsrq->pd, fake_pd, pd)->users--;
	fake_of(vsrq->context, fake_ctx, ctx)->users--;
	srq->dev->n_srqs--;
	fake_srq_free(srq);
	return fake_leave(err);
}

static int fake_srq_post_one(struct fake_srq *srq,
			     const struct ibv_recv_wr *rwr)
{
	int err = fake_plan(FAKE_post_srq_recv);
	struct fake_wr *wr;

	if (err)
		return err;
	if (rwr->num_sge < 0 || (uint32_t)rwr->num_sge > srq->max_sge)
		return EINVAL;
	if (srq->used >= srq->max_wr)
		return ENOMEM;
	wr = fake_wr_new(rwr->wr_id, rwr->sg_list, rwr->num_sge);
	srq->used++;
	rcm_list_add(&srq->rq, &wr->node);
	return 0;
}

int fake_post_srq_recv(struct ibv_srq *vsrq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad)
{
	struct fake_srq *srq = fake_of(vsrq, fake_srq, srq);
	int err = 0;

	fake_enter_quiet();
	fake.doorbells++;
	for (; wr; wr = wr->next) {
		err = fake_srq_post_one(srq, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	/* any sender may be waiting for just this */
	fake_wire_run_all();
	fake_leave_quiet();
	return err;
}
