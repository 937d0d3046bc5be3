/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#ifndef RCM_BASE_H
#define RCM_BASE_H

#include <stddef.h>
#include <stdint.h>

/* The object of TYPE whose MEMBER is at PTR (gone from 2.x's headers). */
#define rcm_container_of(ptr, type, member) \
	((type *)((char *)(ptr)-offsetof(type, member)))

#define RCM_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* both may be evaluated twice: values, no calls */
#define RCM_MIN(a, b) ((a) < (b) ? (a) : (b))
#define RCM_MAX(a, b) ((a) > (b) ? (a) : (b))

#define RCM_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define rcm_likely(x)	      __builtin_expect(!!(x), 1)
#define rcm_unlikely(x)	      __builtin_expect(!!(x), 0)

/*
 * The provider's own invariants, in debug builds only. Never for what a
 * user, a peer or the kernel may send: that gets an error code.
 */
#if RCM_DEBUG
#include <assert.h>
#define RCM_ASSERT(cond) assert(cond)
#else
#define RCM_ASSERT(cond) ((void)sizeof(!(cond)))
#endif

/* The smallest power of two not below N; 1 for 0; N is at most 2^31. */
static inline uint32_t rcm_pow2_ceil(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

#endif /* RCM_BASE_H */
