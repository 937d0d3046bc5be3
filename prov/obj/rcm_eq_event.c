/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_eq.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "rcm_err.h"
#include "rcm_log.h"
#include "rcm_pep.h"

/*
 * So many sources are asked at once whether they have something: the channel,
 * and the device of each domain, of which there is one usually.
 */
#define RCM_EQ_POLLED 8

/* A source of asynchronous events, see rcm_eq_watch(). */
struct rcm_eq_watch {
	struct rcm_list node;
	unsigned int refs;
	int fd;
	int (*progress)(void *arg);
	void *arg;
};

struct rcm_eq_entry *rcm_eq_entry_new(size_t cap)
{
	struct rcm_eq_entry *entry = calloc(1, sizeof(*entry) + cap);

	if (entry)
		rcm_list_init(&entry->node);
	return entry;
}

void rcm_eq_entry_free(struct rcm_eq_entry *entry)
{
	if (entry->info) {
		rcm_connreq_refuse(entry->info->handle);
		fi_freeinfo(entry->info);
	}
	free(entry);
}

void rcm_eq_push(struct rcm_eq *eq, struct rcm_eq_entry *entry)
{
	rcm_list_add(&eq->queue, &entry->node);
	rcm_wait_raise(&eq->wait);
}

void rcm_eq_settle_flag(struct rcm_eq *eq)
{
	rcm_lock(&eq->defer_lock);
	if (rcm_list_empty(&eq->queue) && rcm_list_empty(&eq->deferred))
		rcm_wait_lower(&eq->wait);
	rcm_unlock(&eq->defer_lock);
}

void rcm_eq_purge(struct rcm_eq *eq, struct fid *fid)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&eq->queue, node, tmp) {
		struct rcm_eq_entry *entry =
			rcm_list_entry(node, struct rcm_eq_entry, node);

		if (entry->fid != fid)
			continue;
		rcm_list_del(&entry->node);
		rcm_eq_entry_free(entry);
	}
	rcm_eq_settle_flag(eq);
}

void rcm_eq_defer(struct rcm_eq_work *work, enum rcm_fsm_event event)
{
	struct rcm_eq *eq = work->eq;

	rcm_lock(&eq->defer_lock);
	work->events |= 1u << event;
	if (rcm_list_empty(&work->node))
		rcm_list_add(&eq->deferred, &work->node);
	rcm_wait_raise(&eq->wait);
	rcm_wait_raise(&eq->progress.wait);
	rcm_unlock(&eq->defer_lock);
}

void rcm_eq_undefer(struct rcm_eq_work *work)
{
	rcm_lock(&work->eq->defer_lock);
	rcm_list_del(&work->node);
	work->events = 0;
	rcm_unlock(&work->eq->defer_lock);
}

/* Takes the next work that was left; its events, or 0 for none. */
static unsigned int rcm_eq_take_work(struct rcm_eq *eq,
				     struct rcm_eq_work **work)
{
	unsigned int events = 0;

	rcm_lock(&eq->defer_lock);
	*work = rcm_list_first(&eq->deferred, struct rcm_eq_work, node);
	if (*work) {
		rcm_list_del(&(*work)->node);
		events = (*work)->events;
		(*work)->events = 0;
	}
	rcm_unlock(&eq->defer_lock);
	return events;
}

/*
 * The line that names the first cause of a connection's end. What fails on a
 * queue pair that has been stopped is its flush, and no news.
 */
static void rcm_eq_log_failure(const struct rcm_eq_work *work)
{
	char text[RCM_CONN_STR];

	if (work->wc_status && !work->conn->qp_is_down)
		RCM_WARN(EP_DATA, "%s: an operation failed: %s",
			 rcm_conn_describe(work->conn, text),
			 rcm_err_wc_text(work->wc_status, NULL, 0));
}

static void rcm_eq_do_deferred(struct rcm_eq *eq)
{
	struct rcm_eq_work *work;
	unsigned int events;

	while ((events = rcm_eq_take_work(eq, &work))) {
		if (events & (1u << RCM_EV_COMM_EST))
			rcm_conn_qp_event(work->conn, RCM_EV_COMM_EST);
		if (events & (1u << RCM_EV_QP_ERR)) {
			rcm_eq_log_failure(work);
			rcm_conn_qp_event(work->conn, RCM_EV_QP_ERR);
		}
	}
}

/* Both who reads the queue and its control thread sleep on the sources. */
static int rcm_eq_add_fd(struct rcm_eq *eq, int fd)
{
	int ret = rcm_wait_add(&eq->wait, fd);

	if (ret)
		return ret;
	ret = rcm_wait_add(&eq->progress.wait, fd);
	if (ret)
		rcm_wait_del(&eq->wait, fd);
	return ret;
}

static void rcm_eq_del_fd(struct rcm_eq *eq, int fd)
{
	rcm_wait_del(&eq->wait, fd);
	rcm_wait_del(&eq->progress.wait, fd);
}

int rcm_eq_add_sources(struct rcm_eq *eq, struct rcm_wait *wait)
{
	struct rcm_list *node, *tmp;
	int ret = rcm_wait_add(wait, eq->chan.fd);

	rcm_list_for_each(&eq->watches, node, tmp) {
		struct rcm_eq_watch *watch =
			rcm_list_entry(node, struct rcm_eq_watch, node);

		if (!ret && watch->progress)
			ret = rcm_wait_add(wait, watch->fd);
	}
	return ret;
}

/*
 * The fd of a device that is gone stays readable for ever: it is left out
 * from then on, or whoever waits for the queue would spin.
 */
static void rcm_eq_look_at(struct rcm_eq *eq, struct rcm_eq_watch *watch)
{
	if (!watch->progress)
		return;
	if (watch->progress(watch->arg)) {
		rcm_eq_del_fd(eq, watch->fd);
		watch->progress = NULL;
	}
}

/*
 * The connection manager comes before the data path's failures: a peer that
 * says goodbye also breaks what is under way, and its word is the cause.
 */
int rcm_eq_progress(struct rcm_eq *eq)
{
	struct rcm_chan_event ev;
	struct rcm_list *node, *tmp;
	int ret;

	rcm_list_for_each(&eq->watches, node, tmp) {
		struct rcm_eq_watch *watch =
			rcm_list_entry(node, struct rcm_eq_watch, node);

		rcm_eq_look_at(eq, watch);
	}
	while ((ret = rcm_chan_next(&eq->chan, &ev)) > 0)
		rcm_conn_dispatch(&ev);
	rcm_eq_do_deferred(eq);
	rcm_eq_settle_flag(eq);
	return ret;
}

bool rcm_eq_has_news(struct rcm_eq *eq)
{
	struct pollfd fds[RCM_EQ_POLLED] = { { .fd = eq->chan.fd,
					       .events = POLLIN } };
	struct rcm_list *node, *tmp;
	nfds_t n = 1;
	bool news;

	rcm_lock(&eq->defer_lock);
	news = !rcm_list_empty(&eq->deferred);
	rcm_unlock(&eq->defer_lock);
	rcm_list_for_each(&eq->watches, node, tmp) {
		struct rcm_eq_watch *watch =
			rcm_list_entry(node, struct rcm_eq_watch, node);

		if (!watch->progress)
			continue;
		if (n == RCM_ARRAY_SIZE(fds))
			return true; /* more than can be asked: look */
		fds[n++] = (struct pollfd){ .fd = watch->fd, .events = POLLIN };
	}
	return news || poll(fds, n, 0) > 0;
}

static struct rcm_eq_watch *rcm_eq_find_watch(struct rcm_eq *eq, void *arg)
{
	struct rcm_list *node, *tmp;

	rcm_list_for_each(&eq->watches, node, tmp) {
		struct rcm_eq_watch *watch =
			rcm_list_entry(node, struct rcm_eq_watch, node);

		if (watch->arg == arg)
			return watch;
	}
	return NULL;
}

static int rcm_eq_add_watch(struct rcm_eq *eq, int fd,
			    int (*progress)(void *arg), void *arg)
{
	struct rcm_eq_watch *watch = calloc(1, sizeof(*watch));
	int ret;

	if (!watch)
		return -FI_ENOMEM;
	ret = rcm_eq_add_fd(eq, fd);
	if (ret) {
		free(watch);
		return ret;
	}
	watch->refs = 1;
	watch->fd = fd;
	watch->progress = progress;
	watch->arg = arg;
	rcm_list_add(&eq->watches, &watch->node);
	return 0;
}

int rcm_eq_watch(struct rcm_eq *eq, int fd, int (*progress)(void *arg),
		 void *arg)
{
	struct rcm_eq_watch *watch;
	int ret = 0;

	rcm_lock(&eq->lock);
	watch = rcm_eq_find_watch(eq, arg);
	if (watch)
		watch->refs++;
	else
		ret = rcm_eq_add_watch(eq, fd, progress, arg);
	rcm_unlock(&eq->lock);
	return ret;
}

void rcm_eq_unwatch(struct rcm_eq *eq, void *arg)
{
	struct rcm_eq_watch *watch;

	rcm_lock(&eq->lock);
	watch = rcm_eq_find_watch(eq, arg);
	if (watch && !--watch->refs) {
		if (watch->progress)
			rcm_eq_del_fd(eq, watch->fd);
		rcm_list_del(&watch->node);
		free(watch);
	}
	rcm_unlock(&eq->lock);
}
