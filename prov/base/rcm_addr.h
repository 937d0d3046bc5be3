/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_ADDR_H
#define RCM_ADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* An IPv4 or IPv6 socket address; an IPv6 one keeps its scope. */
union rcm_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage ss;
};

/* Room for "[fe80::…%interface]:65535" and its end. */
#define RCM_ADDR_STR 96

/* Bytes of an address of this family; 0 for one that is not IP. */
size_t rcm_addr_len(const struct sockaddr *sa);

/*
 * Reads LEN bytes of a user's address into *OUT. -FI_EINVAL when it is NULL,
 * too short for its family, or no IP address.
 */
int rcm_addr_read(union rcm_addr *out, const void *addr, size_t len);

/*
 * Gives ADDR to a user as fi_getname(3) says: *LEN is the buffer's size and
 * becomes the address's; -FI_ETOOSMALL when it was cut, -FI_EINVAL without a
 * LEN or (with a size) without a buffer.
 */
int rcm_addr_give(const union rcm_addr *addr, void *buf, size_t *len);

uint16_t rcm_addr_port(const union rcm_addr *addr); /* host order */
void rcm_addr_set_port(union rcm_addr *addr, uint16_t port);

/* 0.0.0.0 or ::, whatever the port. */
bool rcm_addr_is_any(const union rcm_addr *addr);
/* 127.0.0.0/8 or ::1, also as an IPv4-mapped address. */
bool rcm_addr_is_loopback(const union rcm_addr *addr);
/* fe80::/10, which is an address only together with a scope. */
bool rcm_addr_is_link_local(const union rcm_addr *addr);

/* Same family, same address (and scope, where both have one); any port. */
bool rcm_addr_same_host(const union rcm_addr *a, const union rcm_addr *b);

/* Prints ADDR with its port into BUF of RCM_ADDR_STR bytes; returns BUF. */
const char *rcm_addr_str(const union rcm_addr *addr, char *buf);

#endif /* RCM_ADDR_H */
