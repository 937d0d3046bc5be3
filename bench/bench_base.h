/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef BENCH_BASE_H
#define BENCH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Sizes, in entries, of what is opened; the largest batch of one read. */
#define BENCH_QUEUE 384
#define BENCH_BATCH 16
/* Buffer that all messages of an end are sent from or received into. */
#define BENCH_BUF 4096

struct bench_opts {
	const char *provider; /* of fibench */
	const char *address;  /* of the device, IPv4 */
	bool thread_domain;   /* FI_THREAD_DOMAIN, else FI_THREAD_SAFE */
	int ms;		      /* how long to measure each rate */
};

void bench_print(double value, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void bench_die(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));
/* Monotonic time in seconds. */
double bench_now(void);
/* Sleeps. */
void bench_pause(int ms);

#endif /* BENCH_BASE_H */
