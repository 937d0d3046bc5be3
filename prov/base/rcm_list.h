/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_LIST_H
#define RCM_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "rcm_base.h"

/*
 * A circular, doubly linked, intrusive list. A node that is in no list is
 * linked to itself, so removing it twice is harmless.
 */
struct rcm_list {
	struct rcm_list *next;
	struct rcm_list *prev;
};

static inline void rcm_list_init(struct rcm_list *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool rcm_list_empty(const struct rcm_list *l)
{
	return l->next == l;
}

/* Adds N at the end of L. */
static inline void rcm_list_add(struct rcm_list *l, struct rcm_list *n)
{
	n->prev = l->prev;
	n->next = l;
	l->prev->next = n;
	l->prev = n;
}

/* Takes N out of its list, if it is in one. */
static inline void rcm_list_del(struct rcm_list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	rcm_list_init(n);
}

#define rcm_list_entry(node, type, member) rcm_container_of(node, type, member)

/* The first object of list L, or NULL. */
#define rcm_list_first(l, type, member) \
	(rcm_list_empty(l) ? NULL : rcm_list_entry((l)->next, type, member))

/* Visits each node of L; the node visited may be taken out. */
#define rcm_list_for_each(l, node, tmp)                               \
	for ((node) = (l)->next, (tmp) = (node)->next; (node) != (l); \
	     (node) = (tmp), (tmp) = (node)->next)

#endif /* RCM_LIST_H */
