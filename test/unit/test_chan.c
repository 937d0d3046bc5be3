/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "cm_script.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct rcm_chan chan;
static int context;
static struct rdma_cm_id id = { .context = &context };

static void start(void)
{
	sc_start();
	sc.ec.fd = eventfd(0, 0);
	cr_assert_geq(sc.ec.fd, 0);
	cr_assert_eq(rcm_chan_open(&chan), 0);
}

static void stop(void)
{
	rcm_chan_close(&chan);
	close(sc.ec.fd);
}

Test(chan, opened_channel_does_not_block_and_is_not_inherited)
{
	start();
	cr_expect_eq(chan.fd, sc.ec.fd);
	cr_expect(fcntl(chan.fd, F_GETFL) & O_NONBLOCK);
	cr_expect(fcntl(chan.fd, F_GETFD) & FD_CLOEXEC);
	stop();
	sc_expect_log("destroy_event_channel", "close");
	rcm_chan_close(&chan);
	sc_expect_log("destroy_event_channel", "closed twice");
}

Test(chan, channel_that_cannot_be_made_is_an_error)
{
	sc_start();
	sc.ec_errno = ENODEV;
	cr_expect_eq(rcm_chan_open(&chan), -FI_ENODEV);
	cr_expect_null(chan.ec);
	cr_expect_eq(chan.fd, -1);
	rcm_chan_close(&chan);
}

Test(chan, channel_whose_fd_cannot_be_set_up_is_given_back)
{
	sc_start();
	sc.ec.fd = -1;
	cr_expect_eq(rcm_chan_open(&chan), -FI_EBADF);
	sc_expect_log("destroy_event_channel", "fcntl fails");
	cr_expect_null(chan.ec);
}

Test(chan, nothing_waiting_is_zero_and_a_failure_is_itself)
{
	struct rcm_chan_event ev;

	start();
	cr_expect_eq(rcm_chan_next(&chan, &ev), 0);
	sc.get_err = -FI_EBADF;
	cr_expect_eq(rcm_chan_next(&chan, &ev), -FI_EBADF);
	stop();
}

/* the stand-in overwrites what is acknowledged, as the library frees it */
Test(chan, event_is_copied_then_acknowledged_then_given)
{
	uint8_t data[196];
	struct rcm_chan_event ev;
	size_t i;

	start();
	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	sc.events[0] = (struct rdma_cm_event){
		.id = &id,
		.event = RDMA_CM_EVENT_CONNECT_RESPONSE,
		.param.conn = { .private_data = data,
				.private_data_len = sizeof(data),
				.responder_resources = 7,
				.initiator_depth = 9 },
	};
	sc.events[1] = (struct rdma_cm_event){
		.id = &id,
		.event = RDMA_CM_EVENT_REJECTED,
		.status = 28,
	};
	sc.n_events = 2;
	cr_expect_eq(rcm_chan_next(&chan, &ev), 1);
	cr_expect_eq(sc.acked, 1);
	cr_expect_eq(ev.type, RDMA_CM_EVENT_CONNECT_RESPONSE);
	cr_expect_eq(ev.context, &context);
	cr_expect_null(ev.id);
	cr_expect_eq(ev.responder_resources, 7);
	cr_expect_eq(ev.initiator_depth, 9);
	cr_expect_eq(ev.data_len, sizeof(data));
	cr_expect_eq(memcmp(ev.data, data, sizeof(data)), 0);
	cr_expect_eq(rcm_chan_next(&chan, &ev), 1);
	cr_expect_eq(sc.acked, 2);
	cr_expect_eq(ev.status, 28);
	cr_expect_eq(ev.data_len, 0);
	cr_expect_eq(rcm_chan_next(&chan, &ev), 0);
	stop();
}

Test(chan, request_has_the_new_id_and_the_listeners_context)
{
	struct rdma_cm_id new = { .context = NULL };
	uint8_t data[255] = { 1 };
	struct rcm_chan_event ev;

	start();
	sc.events[0] = (struct rdma_cm_event){
		.id = &new,
		.listen_id = &id,
		.event = RDMA_CM_EVENT_CONNECT_REQUEST,
		.param.conn = { .private_data = data, .private_data_len = 255 },
	};
	/* a length without data happens when the peer sent none */
	sc.events[1] = sc.events[0];
	sc.events[1].param.conn.private_data = NULL;
	sc.n_events = 2;
	cr_expect_eq(rcm_chan_next(&chan, &ev), 1);
	cr_expect_eq(ev.id, &new);
	cr_expect_eq(ev.context, &context);
	cr_expect_eq(ev.data_len, 255);
	cr_expect_eq(rcm_chan_next(&chan, &ev), 1);
	cr_expect_eq(ev.data_len, 0);
	stop();
}
