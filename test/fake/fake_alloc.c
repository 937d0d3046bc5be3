/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <rdma/fabric.h>

#include "fake_int.h"

/*
 * What the linker puts in place of the C library's allocations (--wrap), in
 * the provider's objects: shared libraries keep their own. Kept apart from
 * the fake, so that only a program linked that way takes this file in.
 */
/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's own names */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
struct fi_info *__real_fi_dupinfo(const struct fi_info *info);
int __real_epoll_create1(int flags);
int __real_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev);
int __real_eventfd(unsigned int n, int flags);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*fn)(void *), void *arg);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
struct fi_info *__wrap_fi_dupinfo(const struct fi_info *info);
int __wrap_epoll_create1(int flags);
int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev);
int __wrap_eventfd(unsigned int n, int flags);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*fn)(void *), void *arg);

static pthread_mutex_t alloc_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int alloc_calls;
static unsigned int alloc_at;
static bool alloc_hit;

static bool alloc_fails(void)
{
	bool fails;

	if (fake_depth)
		return false;
	pthread_mutex_lock(&alloc_lock);
	fails = ++alloc_calls == alloc_at;
	alloc_hit |= fails;
	pthread_mutex_unlock(&alloc_lock);
	return fails;
}

static void *alloc_none(void)
{
	errno = ENOMEM;
	return NULL;
}

void *__wrap_malloc(size_t size)
{
	return alloc_fails() ? alloc_none() : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return alloc_fails() ? alloc_none() : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return alloc_fails() ? alloc_none() : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
	return alloc_fails() ? alloc_none() : __real_strdup(s);
}

struct fi_info *__wrap_fi_dupinfo(const struct fi_info *info)
{
	return alloc_fails() ? NULL : __real_fi_dupinfo(info);
}

static int alloc_no_fd(void)
{
	errno = EMFILE;
	return -1;
}

int __wrap_epoll_create1(int flags)
{
	return alloc_fails() ? alloc_no_fd() : __real_epoll_create1(flags);
}

int __wrap_eventfd(unsigned int n, int flags)
{
	return alloc_fails() ? alloc_no_fd() : __real_eventfd(n, flags);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*fn)(void *), void *arg)
{
	return alloc_fails() ? EAGAIN :
			       __real_pthread_create(thread, attr, fn, arg);
}

int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev)
{
	/* taking out cannot fail for want of anything */
	if (op != EPOLL_CTL_DEL && alloc_fails()) {
		errno = ENOSPC;
		return -1;
	}
	return __real_epoll_ctl(epfd, op, fd, ev);
}

void fake_alloc_fail(unsigned int nth)
{
	pthread_mutex_lock(&alloc_lock);
	alloc_at = alloc_calls + nth;
	alloc_hit = false;
	pthread_mutex_unlock(&alloc_lock);
}

void fake_alloc_fail_none(void)
{
	pthread_mutex_lock(&alloc_lock);
	alloc_at = 0;
	alloc_calls = 0;
	alloc_hit = false;
	pthread_mutex_unlock(&alloc_lock);
}

unsigned int fake_allocs(void)
{
	return alloc_calls;
}

bool fake_alloc_failed(void)
{
	return alloc_hit;
}
/* NOLINTEND(bugprone-reserved-identifier) */
