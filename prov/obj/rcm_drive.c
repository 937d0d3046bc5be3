/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_drive.h"

#include <stdlib.h>

#include <rdma/fi_errno.h>

#include "rcm_eq.h"

/* ms after which one that sleeps looks, and sleeps again */
#define RCM_DRIVE_NAP 1000

struct rcm_driven {
	struct rcm_list node;
	struct rcm_eq *eq;
	unsigned int refs;
	unsigned int n_reads; /* of EQ, at the last look */
	bool news;	      /* then */
};

void rcm_drive_init(struct rcm_drive *drive, bool needed)
{
	drive->needed = needed;
	/* an event queue's users come from any thread at each threading */
	rcm_lock_init(&drive->lock, RCM_RANK_DRIVE, true);
	rcm_list_init(&drive->eqs);
}

void rcm_drive_fini(struct rcm_drive *drive)
{
	rcm_lock_fini(&drive->lock);
}

static struct rcm_driven *rcm_drive_find(struct rcm_drive *drive,
					 const struct rcm_eq *eq)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&drive->eqs, node, tmp) {
		struct rcm_driven *driven =
			rcm_list_entry(node, struct rcm_driven, node);

		if (driven->eq == eq)
			return driven;
	}
	return NULL;
}

int rcm_drive_add(struct rcm_drive *drive, struct rcm_eq *eq)
{
	struct rcm_driven *driven;
	int ret = 0;

	if (!drive->needed)
		return 0;
	rcm_lock(&drive->lock);
	driven = rcm_drive_find(drive, eq);
	if (!driven) {
		driven = calloc(1, sizeof(*driven));
		if (driven)
			rcm_list_add(&drive->eqs, &driven->node);
	}
	if (driven) {
		driven->eq = eq;
		driven->refs++;
	} else {
		ret = -FI_ENOMEM;
	}
	rcm_unlock(&drive->lock);
	return ret;
}

void rcm_drive_del(struct rcm_drive *drive, struct rcm_eq *eq)
{
	struct rcm_driven *driven;

	rcm_lock(&drive->lock);
	driven = rcm_drive_find(drive, eq);
	if (driven && !--driven->refs) {
		rcm_list_del(&driven->node);
		free(driven);
	}
	rcm_unlock(&drive->lock);
}

/*
 * News are taken at the second look only. If the queue has a reader of its
 * own, it comes first: setting up a connection takes its time, which is not to
 * be taken from those who move data. And if a goodbye has overtaken the
 * acknowledgement of the last message, as it can on soft-RoCE, that arrives
 * in the meantime, and the message is not canceled. A failure of the event
 * channel is the reader's, too.
 */
static void rcm_drive_look(struct rcm_driven *driven)
{
	struct rcm_eq *eq = driven->eq;
	bool news;

	if (atomic_load(&eq->n_sleepers) || !rcm_trylock(&eq->lock))
		return;
	news = rcm_eq_has_news(eq);
	if (news && driven->news && driven->n_reads == eq->n_reads) {
		(void)rcm_eq_progress(eq);
		news = false;
	}
	driven->news = news;
	driven->n_reads = eq->n_reads;
	rcm_unlock(&eq->lock);
}

void rcm_drive_next(struct rcm_drive *drive)
{
	struct rcm_driven *driven;

	if (!rcm_trylock(&drive->lock))
		return;
	driven = rcm_list_first(&drive->eqs, struct rcm_driven, node);
	if (driven) {
		rcm_list_del(&driven->node);
		rcm_list_add(&drive->eqs, &driven->node);
		rcm_drive_look(driven);
	}
	rcm_unlock(&drive->lock);
}

void rcm_drive_all(struct rcm_drive *drive)
{
	struct rcm_list *node, *tmp;

	if (!rcm_trylock(&drive->lock))
		return;
	rcm_list_for_each(&drive->eqs, node, tmp)
		rcm_drive_look(rcm_list_entry(node, struct rcm_driven, node));
	rcm_unlock(&drive->lock);
}

int rcm_drive_sleep(struct rcm_drive *drive, struct rcm_wait *wait,
		    int64_t deadline)
{
	int64_t until = rcm_wait_deadline(RCM_DRIVE_NAP);
	bool last = deadline >= 0 && deadline <= until;
	int ret;

	if (!drive->needed)
		return rcm_wait_until(wait, deadline);
	if (last)
		until = deadline;
	ret = rcm_wait_until(wait, until);
	if (ret || rcm_wait_deadline(0) < until)
		return ret; /* there is something, or a signal has come */
	rcm_drive_all(drive);
	return !last;
}
