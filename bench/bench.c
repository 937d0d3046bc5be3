/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
	"usage: fibench|rawbench [-p PROVIDER] [-a ADDRESS] [-d] [-m MS]\n"
	"                        count|wall|memory\n"
	"Prints lines NAME VALUE. count is to run under callgrind, and leaves\n"
	"its figures in callgrind's files. -d: FI_THREAD_DOMAIN.\n";

void bench_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void bench_print(double value, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" %.6g\n", value);
}

double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void bench_pause(int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000,
			       .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

void bench_drain(struct bench_cq *cq, size_t n)
{
	size_t got = 0;

	while (got < n)
		got += bench_read(cq, BENCH_BATCH);
}

static void bench_end_cqs(struct bench_net *net, struct bench_end *end)
{
	end->txcq = calloc(1, sizeof(*end->txcq));
	end->rxcq = calloc(1, sizeof(*end->rxcq));
	if (!end->txcq || !end->rxcq)
		bench_die("no memory");
	bench_cq_open(net, end->txcq, BENCH_QUEUE);
	bench_cq_open(net, end->rxcq, BENCH_QUEUE);
}

static void bench_end_close_cqs(struct bench_end *end)
{
	bench_cq_close(end->txcq);
	bench_cq_close(end->rxcq);
	free(end->txcq);
	free(end->rxcq);
}

void bench_pair_open(struct bench_net *net, struct bench_pair *pair)
{
	memset(pair, 0, sizeof(*pair));
	bench_end_cqs(net, &pair->a);
	bench_end_cqs(net, &pair->b);
	bench_pair_connect(net, pair);
}

void bench_pair_close(struct bench_pair *pair)
{
	bench_pair_disconnect(pair);
	bench_end_close_cqs(&pair->a);
	bench_end_close_cqs(&pair->b);
}

static void parse(int argc, char **argv, struct bench_opts *opts)
{
	int c;

	while ((c = getopt(argc, argv, "p:a:dm:")) != -1) {
		switch (c) {
		case 'p':
			opts->provider = optarg;
			break;
		case 'a':
			opts->address = optarg;
			break;
		case 'd':
			opts->thread_domain = true;
			break;
		case 'm':
			opts->ms = atoi(optarg);
			break;
		default:
			bench_die("%s", usage);
		}
	}
	if (optind != argc - 1 || opts->ms < 1)
		bench_die("%s", usage);
}

int main(int argc, char **argv)
{
	struct bench_opts opts = {
		.provider = "rcm",
		.address = getenv("RCM_VM_SELF"),
		.ms = 300,
	};
	static struct bench_net net;
	const char *subject;

	parse(argc, argv, &opts);
	subject = argv[optind];
	if (!opts.address)
		opts.address = "10.77.0.1";
	bench_net_open(&net, &opts);
	if (!strcmp(subject, "count")) {
		bench_count(&net);
	} else if (!strcmp(subject, "memory")) {
		bench_memory(&net);
	} else if (!strcmp(subject, "wall")) {
		bench_rate(&net, opts.ms);
		bench_pingpong(&net, opts.ms);
		bench_connect(&net, opts.ms);
	} else {
		bench_die("%s", usage);
	}
	bench_net_close(&net);
	return 0;
}
