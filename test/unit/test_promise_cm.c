/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * Sentences of fi_cm(3) and fi_eq(3) that no other test shows;
 * docs/CONFORMANCE.md.
 */

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "net.h"
#include "rcm_fabric.h"

static struct net n;

static void set_up(void)
{
	net_begin(&n, NULL, 0);
	n.eq_attr.size = 1;
	n.eq_attr.flags = FI_WRITE;
	n.eq_attr.wait_obj = FI_WAIT_FD;
	cr_assert_eq(net_open(&n), 0);
}

static void tear_down(void)
{
	net_end(&n);
}

TestSuite(promise_cm, .init = set_up, .fini = tear_down, .timeout = 30);

static struct fid_pep *new_pep(void)
{
	struct fid_pep *pep;

	cr_assert_eq(fi_passive_ep(n.fabric, n.info, &pep, NULL), 0);
	cr_assert_eq(fi_pep_bind(pep, &n.side[1].eq->fid, 0), 0);
	return pep;
}

static uint16_t port_of(struct fid *fid, union rcm_addr *addr)
{
	size_t len = sizeof(*addr);

	memset(addr, 0, len);
	cr_assert_eq(fi_getname(fid, addr, &len), 0);
	return rcm_addr_port(addr);
}

/* LF#966, LF#2188, UCX#8585 */
Test(promise_cm, name_is_given_by_the_call_that_asks_for_it)
{
	struct fid_pep *pep = new_pep(), *other = new_pep();
	struct fi_info *info = fi_dupinfo(n.info);
	union rcm_addr addr, taken;
	uint16_t port;

	port_of(&pep->fid, &addr);
	rcm_addr_set_port(&addr, 0);
	cr_assert_eq(fi_setname(&pep->fid, &addr, sizeof(addr.in)), 0);
	port = port_of(&pep->fid, &addr);
	cr_assert_neq(port, 0);
	cr_assert_eq(fi_setname(&other->fid, &addr, sizeof(addr.in)),
		     -FI_EADDRINUSE);
	/* another name in the place of the first */
	taken = addr;
	rcm_addr_set_port(&taken, 0);
	cr_assert_eq(fi_setname(&pep->fid, &taken, sizeof(addr.in)), 0);
	cr_assert_eq(fi_setname(&other->fid, &addr, sizeof(addr.in)), 0);
	cr_assert_eq(fi_listen(other), 0);
	cr_assert_eq(port_of(&other->fid, &addr), port);
	/* and what was given goes with the passive endpoint's address */
	port = port_of(&pep->fid, &taken);
	info->handle = &pep->fid;
	cr_assert_eq(fi_endpoint(n.domain, info, &n.side[0].ep, NULL), 0);
	cr_assert_eq(port_of(&n.side[0].ep->fid, &addr), port);
	info->handle = &other->fid;
	cr_assert_eq(fi_endpoint(n.domain, info, &n.side[1].ep, NULL),
		     -FI_EBUSY);
	info->handle = NULL;
	fi_freeinfo(info);
	cr_assert_eq(fi_close(&pep->fid), 0);
	cr_assert_eq(fi_close(&other->fid), 0);
}

Test(promise_cm, backlog_is_what_was_set_last)
{
	struct fid_ep *first;
	int backlog = 1;
	size_t len = sizeof(n.addr);

	n.pep = new_pep();
	cr_assert_eq(fi_control(&n.pep->fid, FI_BACKLOG, NULL), -FI_EINVAL);
	cr_assert_eq(fi_control(&n.pep->fid, FI_BACKLOG, &backlog), 0);
	cr_assert_eq(fi_listen(n.pep), 0);
	cr_assert_eq(fi_getname(&n.pep->fid, &n.addr, &len), 0);
	/* nobody reads the listener's queue meanwhile */
	for (int i = 0; i < 3; i++) {
		uint32_t event;
		char buf[8];

		cr_assert_eq(net_connect(&n, NULL, 0), 0);
		for (int k = 0; k < 3; k++)
			(void)fi_eq_read(n.side[0].eq, &event, buf, 8, 0);
		if (i == 0)
			first = n.side[0].ep;
		else
			cr_assert_eq(fi_close(&n.side[0].ep->fid), 0);
	}
	n.side[0].ep = first;
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert(net_quiet(&n, 1));
}

/* More than fits is cut silently, in each direction. */
Test(promise_cm, private_data_beyond_the_limit_is_cut)
{
	uint8_t data[100];
	struct net_ev ev;

	memset(data, 'd', sizeof(data));
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, data, sizeof(data)), 0);
	cr_assert_eq(net_request(&n, &ev), 0);
	cr_assert_eq(ev.len, 55);
	cr_assert_eq(net_accept(&n, data, sizeof(data)), 0);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, &ev), 0);
	cr_assert_eq(ev.len, 55);
	cr_assert_eq(net_await(&n, 1, FI_CONNECTED, &ev), 0);
	cr_assert_eq(ev.len, 0);
}

Test(promise_cm, private_data_of_a_refusal_is_cut)
{
	uint8_t data[100] = { 0 };
	struct net_ev ev;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(fi_reject(n.pep, n.req->handle, data, sizeof(data)), 0);
	cr_assert_eq(net_await(&n, 0, FI_CONNECTED, &ev), -FI_ECONNREFUSED);
	cr_assert_eq(ev.len, 55);
}

Test(promise_cm, events_name_what_they_are_about)
{
	struct net_ev ev;

	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, &ev), 0);
	cr_assert_eq(ev.fid, &n.pep->fid);
	cr_assert_eq(ev.info->handle->fclass, FI_CLASS_CONNREQ);
	cr_assert_eq(net_accept(&n, NULL, 0), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(net_await(&n, i, FI_CONNECTED, &ev), 0);
		cr_assert_eq(ev.fid, &n.side[i].ep->fid);
		cr_assert_eq(ev.fid->context, &n.side[i]);
	}
	cr_assert_eq(fi_shutdown(n.side[0].ep, 0), 0);
	cr_assert_eq(net_await(&n, 1, FI_SHUTDOWN, &ev), 0);
	cr_assert_eq(ev.fid, &n.side[1].ep->fid);
	cr_assert_null(ev.info);
	cr_assert_eq(ev.len, 0);
}

/* The size of the reader's buffer is the limit of the private data. */
Test(promise_cm, private_data_is_cut_to_the_readers_buffer)
{
	uint8_t small[sizeof(struct fi_eq_cm_entry) + 8];
	const size_t head = sizeof(struct fi_eq_cm_entry);
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t ret = -FI_EAGAIN;

	memset(small, '#', sizeof(small));
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, "123456789", 9), 0);
	for (int i = 0; i < 20 && ret == -FI_EAGAIN; i++) {
		(void)fi_eq_read(n.side[0].eq, &event, small, 0, 0);
		ret = fi_eq_read(n.side[1].eq, &event, small, head + 4, 0);
	}
	cr_assert_eq(ret, (ssize_t)head + 4);
	cr_assert_arr_eq(small + head, "1234####", 8);
	memcpy(&entry, small, head);
	n.req = entry.info;
}

Test(promise_cm, event_queue_without_attributes_is_the_default)
{
	struct fid_eq *eq;
	uint32_t event;
	char buf[64];

	cr_assert_eq(fi_eq_open(n.fabric, NULL, &eq, &n), 0);
	cr_assert_eq(eq->fid.context, &n);
	cr_assert_eq(fi_eq_read(eq, &event, buf, sizeof(buf), 0), -FI_EAGAIN);
	cr_assert_eq(fi_eq_sread(eq, &event, buf, sizeof(buf), 0, 0),
		     -FI_ENOSYS);
	cr_assert_eq(fi_close(&eq->fid), 0);
}

Test(promise_cm, affinity_of_an_event_queue_is_a_hint)
{
	struct fi_eq_attr attr = {
		.flags = FI_AFFINITY,
		.signaling_vector = 4711,
	};
	struct fid_eq *eq;

	cr_assert_eq(fi_eq_open(n.fabric, &attr, &eq, NULL), 0);
	cr_assert_eq(fi_close(&eq->fid), 0);
}

/* The size is the least; there is no most, and so no overrun. */
Test(promise_cm, event_queue_takes_more_than_its_size)
{
	uint32_t event;
	char c;

	for (int i = 0; i < 1000; i++)
		cr_assert_eq(fi_eq_write(n.side[0].eq, 1000u + (uint32_t)i, "x",
					 1, 0),
			     1);
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(fi_eq_read(n.side[0].eq, &event, &c, 1, 0), 1);
		cr_assert_eq(event, 1000u + (uint32_t)i);
	}
}

Test(promise_cm, closing_an_event_queue_drops_what_was_not_read)
{
	cr_assert_eq(fi_eq_write(n.side[0].eq, 1000, "x", 1, 0), 1);
	cr_assert_eq(fi_close(&n.side[0].eq->fid), 0);
	n.side[0].eq = NULL;
}

Test(promise_cm, bound_event_queue_does_not_close)
{
	n.pep = new_pep();
	cr_assert_eq(fi_close(&n.side[1].eq->fid), -FI_EBUSY);
	cr_assert_eq(net_endpoint(&n, 0, n.info), 0);
	cr_assert_eq(fi_close(&n.side[0].eq->fid), -FI_EBUSY);
}

static void refused(const void *data, size_t len)
{
	cr_assert_eq(net_listen(&n), 0);
	cr_assert_eq(net_connect(&n, NULL, 0), 0);
	cr_assert_eq(net_request(&n, NULL), 0);
	cr_assert_eq(fi_reject(n.pep, n.req->handle, data, len), 0);
}

Test(promise_cm, blocking_read_says_that_an_error_waits)
{
	uint32_t event;
	char buf[64];

	refused("no", 2);
	cr_assert_eq(fi_eq_sread(n.side[0].eq, &event, buf, sizeof(buf), -1, 0),
		     -FI_EAVAIL);
}

/* Before 1.5 the struct's err_data was no input. */
Test(promise_cm, error_data_for_an_old_caller_is_the_providers)
{
	char own[8] = "untouch";
	struct fi_eq_err_entry err = { .err_data = own, .err_data_size = 8 };

	refused("no", 2);
	rcm_fabric_of(n.fabric)->fid.api_version = FI_VERSION(1, 4);
	cr_assert_eq(fi_eq_readerr(n.side[0].eq, &err, 0), sizeof(err));
	cr_assert_str_eq(own, "untouch");
	cr_assert_neq(err.err_data, own);
	cr_assert_arr_eq(err.err_data, "no", 2);
	cr_assert_eq(err.data, 0);
}
