/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_route.h"

#include <errno.h>
#include <unistd.h>

#include <rdma/fi_errno.h>

#include "rcm_err.h"

static int rcm_route_query(int fd, const union rcm_addr *dst,
			   union rcm_addr *src)
{
	union rcm_addr to = *dst;
	socklen_t len = sizeof(*src);

	/* any port will do, but some kernels refuse 0 */
	if (!rcm_addr_port(&to))
		rcm_addr_set_port(&to, 1);
	if (connect(fd, &to.sa, (socklen_t)rcm_addr_len(&to.sa)) ||
	    getsockname(fd, &src->sa, &len))
		return -rcm_err_from_errno(errno);
	rcm_addr_set_port(src, 0);
	return 0;
}

/* Connecting a datagram socket looks up the route, and does nothing else. */
static int rcm_route_kernel(const union rcm_addr *dst, union rcm_addr *src)
{
	union rcm_addr found = { 0 };
	int fd, ret;

	fd = socket(dst->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -rcm_err_from_errno(errno);
	ret = rcm_route_query(fd, dst, &found);
	close(fd);
	if (!ret)
		*src = found;
	return ret;
}

int (*rcm_route_source)(const union rcm_addr *dst,
			union rcm_addr *src) = rcm_route_kernel;
