/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/* Deliberately broken: two threads write one variable; see runner.sh. */

#include <pthread.h>
#include <stddef.h>

static int shared;

static void *writer(void *arg)
{
	for (int i = 0; i < 100000; i++)
		shared++;
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, writer, NULL))
		return 2;
	writer(NULL);
	pthread_join(thread, NULL);
	return 0;
}
