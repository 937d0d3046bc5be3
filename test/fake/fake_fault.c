/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "fake_int.h"

/* Faults that wait for their call, and what has been called. */

#define FAKE_MAX_FAULTS 16

static struct {
	unsigned int all;
	unsigned int calls[FAKE_CALL_COUNT];
	unsigned int any_at; /* 0: none */
	unsigned int from;   /* 0: none */
	int any_err;
	unsigned int n_faults;
	struct {
		enum fake_call call;
		unsigned int at;
		int err;
	} faults[FAKE_MAX_FAULTS];
	const char *hit;
} fault;

static const char *const fake_call_names[FAKE_CALL_COUNT] = {
#define FAKE_CALL_NAME(name) #name,
	FAKE_CALLS(FAKE_CALL_NAME)
#undef FAKE_CALL_NAME
};

/* Without get_cm_event the end of the others would not be seen. */
static bool fake_plan_is_down(enum fake_call call)
{
	return fault.from && fault.all >= fault.from &&
	       call != FAKE_ack_cm_event && call != FAKE_get_cm_event;
}

int fake_plan(enum fake_call call)
{
	int err = 0;

	fault.all++;
	fault.calls[call]++;
	if (fault.any_at == fault.all || fake_plan_is_down(call))
		err = fault.any_err;
	for (unsigned int i = 0; i < fault.n_faults; i++) {
		if (fault.faults[i].call == call &&
		    fault.faults[i].at == fault.calls[call])
			err = fault.faults[i].err;
	}
	if (err)
		fault.hit = fake_call_names[call];
	return err;
}

void fake_fail(enum fake_call call, unsigned int nth, int err)
{
	fake_enter_quiet();
	if (fault.n_faults == FAKE_MAX_FAULTS)
		abort();
	fault.faults[fault.n_faults].call = call;
	fault.faults[fault.n_faults].at = fault.calls[call] + nth;
	fault.faults[fault.n_faults].err = err;
	fault.n_faults++;
	fake_leave_quiet();
}

void fake_fail_any(unsigned int nth, int err)
{
	fake_enter_quiet();
	fault.any_at = fault.all + nth;
	fault.any_err = err;
	fake_leave_quiet();
}

void fake_fail_from(unsigned int nth, int err)
{
	fake_enter_quiet();
	fault.from = fault.all + nth;
	fault.any_err = err;
	fake_leave_quiet();
}

void fake_fail_none(void)
{
	fake_enter_quiet();
	memset(&fault, 0, sizeof(fault));
	fake_leave_quiet();
}

unsigned int fake_calls(void)
{
	unsigned int n;

	fake_enter_quiet();
	n = fault.all;
	fake_leave_quiet();
	return n;
}

unsigned int fake_calls_of(enum fake_call call)
{
	unsigned int n;

	fake_enter_quiet();
	n = fault.calls[call];
	fake_leave_quiet();
	return n;
}

const char *fake_failed_call(void)
{
	const char *name;

	fake_enter_quiet();
	name = fault.hit;
	fake_leave_quiet();
	return name;
}
