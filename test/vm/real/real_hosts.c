/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "real.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Two hosts, each of which runs the same test: what one machine cannot do to
 * itself. They meet by files in a folder that both see.
 */

#define SIZE 64

static bool is_server(void)
{
	return !strcmp(getenv("RCM_VM_ROLE"), "server");
}

static void host_path(char *path, size_t len, const char *point)
{
	snprintf(path, len, "%s/hosts-%s", getenv("RCM_VM_SHARED"), point);
}

/* Tells the other host; TEXT is for it to read. */
static void host_announce(const char *point, const char *text)
{
	char path[512], hidden[520];
	FILE *f;

	host_path(path, sizeof(path), point);
	snprintf(hidden, sizeof(hidden), "%s.new", path);
	f = fopen(hidden, "w");
	cr_assert(f && fputs(text, f) >= 0 && !fclose(f), "%s", hidden);
	cr_assert_eq(rename(hidden, path), 0);
}

/* Waits for the other host; the test's own limit bounds it. */
static void host_await(const char *point, char *text, int len)
{
	char path[512];
	FILE *f;

	host_path(path, sizeof(path), point);
	while (!(f = fopen(path, "r")))
		usleep(50000);
	cr_assert(fgets(text, len, f));
	fclose(f);
}

/* What this machine sends is lost, or no longer. */
static void host_fall_silent(bool silent)
{
	cr_assert_eq(system(silent ? "tc qdisc add dev eth0 root netem "
				     "loss 100%" :
				     "tc qdisc del dev eth0 root"),
		     0);
}

static void host_accept(struct real *r)
{
	struct fi_info *info;
	char port[16];

	real_open(r, NULL);
	snprintf(port, sizeof(port), "%u",
		 ntohs(((struct sockaddr_in *)&r->addr)->sin_port));
	host_announce("listening", port);
	info = real_request(r);
	real_side_open(r, &r->b, info);
	fi_freeinfo(info);
	real_ok(fi_accept(r->b.ep, NULL, 0));
	real_expect(&r->b, FI_CONNECTED);
}

static void host_connect(struct real *r)
{
	struct fi_info *info;
	struct sockaddr_in *to;
	char port[16];

	real_open(r, NULL);
	host_await("listening", port, sizeof(port));
	to = (struct sockaddr_in *)&r->addr;
	to->sin_port = htons((uint16_t)atoi(port));
	cr_assert_eq(inet_pton(AF_INET, getenv("RCM_VM_PEER"), &to->sin_addr),
		     1);
	info = real_peer_info(r);
	real_side_open(r, &r->a, info);
	real_ok(fi_connect(r->a.ep, info->dest_addr, NULL, 0));
	fi_freeinfo(info);
	real_expect(&r->a, FI_CONNECTED);
}

/* Takes what its peer sends, until it vanishes from the wire. */
static void silence_falls(void)
{
	struct fi_cq_data_entry entry;
	char buf[SIZE], said[16];
	struct real r;

	host_accept(&r);
	real_ok(fi_recv(r.b.ep, buf, SIZE, real_mr(&r, buf, SIZE, FI_RECV), 0,
			NULL));
	real_done(r.b.rxcq, &entry, NULL);
	host_fall_silent(true);
	host_announce("silent", "yes");
	host_await("noticed", said, sizeof(said));
	host_fall_silent(false);
	real_close(&r);
}

static void silence_is_noticed(void)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	char buf[2 * SIZE] = "", said[16];
	struct real r;
	ssize_t ret;
	void *desc;

	host_connect(&r);
	desc = real_mr(&r, buf, sizeof(buf), FI_SEND | FI_RECV);
	real_ok(fi_recv(r.a.ep, buf + SIZE, SIZE, desc, 0, &r));
	real_ok(fi_send(r.a.ep, buf, SIZE, desc, 0, NULL));
	real_done(r.a.txcq, &entry, NULL);
	host_await("silent", said, sizeof(said));
	real_ok(fi_send(r.a.ep, buf, SIZE, desc, 0, buf));
	cr_assert_not(real_completion(r.a.txcq, &entry, &err));
	cr_assert_eq(err.op_context, buf);
	cr_assert_eq(err.err, FI_ETIMEDOUT, "%s", fi_strerror(err.err));
	real_expect(&r.a, FI_SHUTDOWN);
	real_expect_quiet(r.a.eq, 50);
	cr_assert_not(real_completion(r.a.rxcq, &entry, &err));
	cr_assert_eq(err.op_context, &r);
	cr_assert_eq(err.err, FI_ECANCELED, "%s", fi_strerror(err.err));
	ret = fi_send(r.a.ep, buf, SIZE, desc, 0, NULL);
	cr_assert(ret < 0 && ret != -FI_EAGAIN, "%zd", ret);
	host_announce("noticed", "yes");
	real_close(&r);
}

/*
 * LF#8314, LF#7803, SPDK#1124: a host that loses its power says nothing. The
 * next send fails, and that is the end of the connection. How often it is
 * tried is rcm's own default; a shorter time between saves some.
 */
Test(hosts, silent_peer_is_noticed_by_the_next_send)
{
	cr_assert_eq(setenv("FI_RCM_ACK_TIMEOUT", "16", 1), 0); /* 268 ms */
	if (is_server())
		silence_falls();
	else
		silence_is_noticed();
}
