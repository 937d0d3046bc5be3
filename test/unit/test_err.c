/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

#include "rcm_err.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <rdma/fi_errno.h>

#include "rcm_base.h"

struct cell {
	const char *name;
	const char *err_name;
	int key;
	int err;
};

#define CELL(key, err)               \
	{                            \
#key, #err, key, err \
	}
#define REASON(key) CELL(key, FI_ECONNREFUSED)

static const struct cell wc_cells[] = {
	CELL(IBV_WC_LOC_LEN_ERR, FI_ETRUNC),
	CELL(IBV_WC_LOC_QP_OP_ERR, FI_EINVAL),
	CELL(IBV_WC_LOC_EEC_OP_ERR, FI_EIO),
	CELL(IBV_WC_LOC_PROT_ERR, FI_EACCES),
	CELL(IBV_WC_WR_FLUSH_ERR, FI_ECANCELED),
	CELL(IBV_WC_MW_BIND_ERR, FI_EINVAL),
	CELL(IBV_WC_BAD_RESP_ERR, FI_EIO),
	CELL(IBV_WC_LOC_ACCESS_ERR, FI_EACCES),
	CELL(IBV_WC_REM_INV_REQ_ERR, FI_EREMOTEIO),
	CELL(IBV_WC_REM_ACCESS_ERR, FI_EACCES),
	CELL(IBV_WC_REM_OP_ERR, FI_EREMOTEIO),
	CELL(IBV_WC_RETRY_EXC_ERR, FI_ETIMEDOUT),
	CELL(IBV_WC_RNR_RETRY_EXC_ERR, FI_ENORX),
	CELL(IBV_WC_LOC_RDD_VIOL_ERR, FI_EIO),
	CELL(IBV_WC_REM_INV_RD_REQ_ERR, FI_EIO),
	CELL(IBV_WC_REM_ABORT_ERR, FI_ECONNABORTED),
	CELL(IBV_WC_INV_EECN_ERR, FI_EIO),
	CELL(IBV_WC_INV_EEC_STATE_ERR, FI_EIO),
	CELL(IBV_WC_FATAL_ERR, FI_EIO),
	CELL(IBV_WC_RESP_TIMEOUT_ERR, FI_ETIMEDOUT),
	CELL(IBV_WC_GENERAL_ERR, FI_EIO),
	CELL(IBV_WC_TM_ERR, FI_EIO),
	CELL(IBV_WC_TM_RNDV_INCOMPLETE, FI_EIO),
};

/* the events without a status, or with one that says nothing */
static const struct cell cm_cells[] = {
	CELL(RDMA_CM_EVENT_ADDR_ERROR, FI_EHOSTUNREACH),
	CELL(RDMA_CM_EVENT_ROUTE_ERROR, FI_EHOSTUNREACH),
	CELL(RDMA_CM_EVENT_UNREACHABLE, FI_EHOSTUNREACH),
	CELL(RDMA_CM_EVENT_CONNECT_ERROR, FI_ECONNABORTED),
	CELL(RDMA_CM_EVENT_REJECTED, FI_ECONNREFUSED),
	CELL(RDMA_CM_EVENT_DISCONNECTED, FI_ECONNRESET),
	CELL(RDMA_CM_EVENT_TIMEWAIT_EXIT, FI_ECONNRESET),
	CELL(RDMA_CM_EVENT_DEVICE_REMOVAL, FI_ENODEV),
	CELL(RDMA_CM_EVENT_ADDR_CHANGE, FI_EADDRNOTAVAIL),
};

static const struct cell rej_cells[] = {
	REASON(1),  REASON(2),	REASON(3),  CELL(4, FI_ETIMEDOUT),
	REASON(5),  REASON(6),	REASON(7),  REASON(8),
	REASON(9),  REASON(10), REASON(11), REASON(12),
	REASON(13), REASON(14), REASON(15), REASON(16),
	REASON(17), REASON(18), REASON(19), REASON(20),
	REASON(21), REASON(22), REASON(23), REASON(24),
	REASON(25), REASON(26), REASON(27), REASON(28),
	REASON(29), REASON(30), REASON(31), REASON(32),
	REASON(33), REASON(35),
};

Test(err, errno_keeps_its_number)
{
	cr_expect_eq(rcm_err_from_errno(ENOMEM), FI_ENOMEM);
	cr_expect_eq(rcm_err_from_errno(EADDRINUSE), FI_EADDRINUSE);
	cr_expect_eq(rcm_err_from_errno(EPROTO), EPROTO);
}

Test(err, number_that_is_no_errno_is_other)
{
	cr_expect_eq(rcm_err_from_errno(0), FI_EOTHER);
	cr_expect_eq(rcm_err_from_errno(-EINVAL), FI_EOTHER);
	cr_expect_eq(rcm_err_from_errno(256), FI_EOTHER);
	cr_expect_eq(rcm_err_from_errno(524), FI_EOTHER);
	cr_expect_eq(rcm_err_from_errno(INT_MIN), FI_EOTHER);
}

Test(err, rdma_return_of_every_kind_is_understood)
{
	errno = EADDRNOTAVAIL;
	cr_expect_eq(rcm_err_from_rdma(0), 0);
	cr_expect_eq(rcm_err_from_rdma(-1), -FI_EADDRNOTAVAIL);
	/* librdmacm without errno; verbs calls with a positive one */
	cr_expect_eq(rcm_err_from_rdma(-ENODEV), -FI_ENODEV);
	cr_expect_eq(rcm_err_from_rdma(EINVAL), -FI_EINVAL);
	cr_expect_eq(rcm_err_from_rdma(INT_MIN), -FI_EOTHER);
	errno = 0;
	cr_expect_eq(rcm_err_from_rdma(-1), -FI_EOTHER);
}

Test(err, post_only_a_full_queue_is_eagain)
{
	int err;

	cr_expect_eq(rcm_err_from_post(0), 0);
	cr_expect_eq(rcm_err_from_post(ENOMEM), -FI_EAGAIN);
	cr_expect_eq(rcm_err_from_post(-ENOMEM), -FI_EAGAIN);
	errno = ENOMEM;
	cr_expect_eq(rcm_err_from_post(-1), -FI_EAGAIN);
	errno = EINVAL;
	cr_expect_eq(rcm_err_from_post(-1), -FI_EINVAL);
	for (err = 1; err < FI_ERRNO_OFFSET; err++) {
		if (err != ENOMEM && err != EAGAIN)
			cr_expect_eq(rcm_err_from_post(err), -err);
	}
}

/* LF#962, LF#4616: soft-RoCE's word for a short receive. */
Test(err, refused_receive_is_truncation)
{
	cr_expect_eq(rcm_err_from_recv_wc(IBV_WC_LOC_QP_OP_ERR), FI_ETRUNC);
	cr_expect_eq(rcm_err_from_recv_wc(IBV_WC_LOC_LEN_ERR), FI_ETRUNC);
	cr_expect_eq(rcm_err_from_recv_wc(IBV_WC_WR_FLUSH_ERR), FI_ECANCELED);
	cr_expect_eq(rcm_err_from_wc(IBV_WC_LOC_QP_OP_ERR), FI_EINVAL);
}

Test(err, completion_cell_by_cell)
{
	size_t i;

	cr_expect_eq(rcm_err_from_wc(IBV_WC_SUCCESS), 0);
	cr_expect_eq(RCM_ARRAY_SIZE(wc_cells), IBV_WC_TM_RNDV_INCOMPLETE);
	for (i = 0; i < RCM_ARRAY_SIZE(wc_cells); i++) {
		cr_expect_eq(wc_cells[i].key, (int)i + 1);
		cr_expect_eq(rcm_err_from_wc((enum ibv_wc_status)(i + 1)),
			     wc_cells[i].err, "%s", wc_cells[i].name);
	}
	cr_expect_eq(rcm_err_from_wc((enum ibv_wc_status)1000), FI_EOTHER);
	cr_expect_eq(rcm_err_from_wc((enum ibv_wc_status) - 1), FI_EOTHER);
}

Test(err, cm_event_without_a_cause_cell_by_cell)
{
	size_t i;
	int prov_errno;

	for (i = 0; i < RCM_ARRAY_SIZE(cm_cells); i++) {
		const struct cell *c = &cm_cells[i];
		static const int status[] = { 0, -1, INT_MIN };
		size_t k;

		for (k = 0; k < RCM_ARRAY_SIZE(status); k++) {
			prov_errno = 0;
			cr_expect_eq(rcm_err_from_cm(c->key, status[k],
						     &prov_errno),
				     c->err, "%s", c->name);
			cr_expect_eq(prov_errno, -c->err, "%s", c->name);
		}
	}
	cr_expect_eq(rcm_err_from_cm((enum rdma_cm_event_type)99, 0,
				     &prov_errno),
		     FI_EOTHER);
}

Test(err, cm_event_with_an_errno_keeps_it)
{
	static const int errnos[] = { ETIMEDOUT, EHOSTUNREACH, ENETUNREACH,
				      ENODEV, ECONNRESET };
	size_t i, k;
	int prov_errno;

	for (i = 0; i < RCM_ARRAY_SIZE(cm_cells); i++) {
		for (k = 0; k < RCM_ARRAY_SIZE(errnos); k++) {
			cr_expect_eq(rcm_err_from_cm(cm_cells[i].key,
						     -errnos[k], &prov_errno),
				     errnos[k]);
			cr_expect_eq(prov_errno, -errnos[k]);
		}
	}
}

/* LF#9123, LF#7880: a reason is positive and is not negated on the way */
Test(err, reject_reason_cell_by_cell)
{
	size_t i;
	int prov_errno;

	for (i = 0; i < RCM_ARRAY_SIZE(rej_cells); i++) {
		cr_expect_eq(rcm_err_from_cm(RDMA_CM_EVENT_REJECTED,
					     rej_cells[i].key, &prov_errno),
			     rej_cells[i].err, "reason %s", rej_cells[i].name);
		cr_expect_eq(prov_errno, rej_cells[i].key);
	}
	cr_expect_eq(rcm_err_from_cm(RDMA_CM_EVENT_REJECTED, 34, &prov_errno),
		     FI_ECONNREFUSED);
	cr_expect_eq(prov_errno, 34);
	cr_expect_eq(rcm_err_from_cm(RDMA_CM_EVENT_REJECTED, INT_MAX,
				     &prov_errno),
		     FI_ECONNREFUSED);
}

Test(err, every_status_gives_a_positive_code)
{
	int event, status, prov_errno;

	for (event = 0; event <= RDMA_CM_EVENT_TIMEWAIT_EXIT + 2; event++) {
		for (status = -600; status < 600; status++) {
			prov_errno = 0;
			cr_assert_gt(
				rcm_err_from_cm(event, status, &prov_errno), 0);
			cr_assert_neq(prov_errno, 0);
		}
	}
}

/* LF#7880: users could not tell these three apart */
Test(err, reject_reasons_have_different_words)
{
	cr_expect_str_eq(rcm_err_cm_text(8, NULL, 0),
			 "rejected: nobody listens there");
	cr_expect_str_eq(rcm_err_cm_text(28, NULL, 0),
			 "rejected by the application");
	cr_expect_not_null(strstr(rcm_err_cm_text(10, NULL, 0), "stale"));
	cr_expect_str_eq(rcm_err_cm_text(34, NULL, 0),
			 "rejected: unknown reason");
}

Test(err, negative_prov_errno_is_an_errno_in_words)
{
	cr_expect_str_eq(rcm_err_cm_text(-ENODEV, NULL, 0), strerror(ENODEV));
	cr_expect_str_eq(rcm_err_cm_text(-FI_EOPBADSTATE, NULL, 0),
			 fi_strerror(FI_EOPBADSTATE));
	cr_expect_not_null(rcm_err_cm_text(INT_MIN, NULL, 0));
	cr_expect_not_null(rcm_err_cm_text(INT_MAX, NULL, 0));
	cr_expect_not_null(rcm_err_wc_text(-1, NULL, 0));
	cr_expect_not_null(rcm_err_wc_text(INT_MAX, NULL, 0));
}

Test(err, short_buffer_is_cut_and_ended)
{
	char buf[64];
	const char *text = rcm_err_cm_text(28, NULL, 0);
	size_t len;

	for (len = 0; len < sizeof(buf); len++) {
		memset(buf, 'x', sizeof(buf));
		cr_expect_eq(rcm_err_cm_text(28, buf, len), text);
		if (len) {
			size_t n = RCM_MIN(len - 1, strlen(text));

			cr_expect_eq(strlen(buf), n);
			cr_expect_eq(memcmp(buf, text, n), 0);
		}
		if (len < sizeof(buf))
			cr_expect_eq(buf[len], 'x');
	}
	cr_expect_str_eq(rcm_err_wc_text(IBV_WC_LOC_LEN_ERR, buf, 8),
			 rcm_err_wc_text(IBV_WC_LOC_LEN_ERR, NULL, 0));
	cr_expect_str_eq(buf, "message");
}

static char *read_doc(void)
{
	const char *dir = getenv("RCM_SRCDIR");
	char path[4096];
	char *text = calloc(1, 65536);
	FILE *f;

	snprintf(path, sizeof(path), "%s/docs/ERRORS.md", dir ? dir : ".");
	f = fopen(path, "r");
	cr_assert_not_null(f, "%s", path);
	cr_assert_not_null(text);
	cr_assert_lt(fread(text, 1, 65535, f), 65535);
	fclose(f);
	return text;
}

static size_t count_lines(const char *text, const char *start)
{
	size_t n = 0;

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		n += !strncmp(text, start, strlen(start));
		if (!*text)
			break;
	}
	return n;
}

static void expect_row(const char *doc, const struct cell *c, const char *text)
{
	char row[256];

	if (text)
		snprintf(row, sizeof(row), "\n| %s | %s | %s |\n", c->name,
			 c->err_name, text);
	else
		snprintf(row, sizeof(row), "\n| %s | %s |\n", c->name,
			 c->err_name);
	cr_expect_not_null(strstr(doc, row), "docs/ERRORS.md lacks: %s", row);
}

Test(err, document_has_exactly_the_rows_of_the_code)
{
	char *doc = read_doc();
	size_t i, n = 0;

	for (i = 0; i < RCM_ARRAY_SIZE(wc_cells); i++)
		expect_row(doc, &wc_cells[i],
			   rcm_err_wc_text(wc_cells[i].key, NULL, 0));
	for (i = 0; i < RCM_ARRAY_SIZE(rej_cells); i++)
		expect_row(doc, &rej_cells[i],
			   rcm_err_cm_text(rej_cells[i].key, NULL, 0));
	for (i = 0; i < RCM_ARRAY_SIZE(cm_cells); i++)
		expect_row(doc, &cm_cells[i], NULL);
	cr_expect_eq(count_lines(doc, "| IBV_WC_"), RCM_ARRAY_SIZE(wc_cells));
	cr_expect_eq(count_lines(doc, "| RDMA_CM_EVENT_"),
		     RCM_ARRAY_SIZE(cm_cells));
	for (i = 0; i < 10; i++) {
		char start[8];

		snprintf(start, sizeof(start), "| %zu", i);
		n += count_lines(doc, start);
	}
	cr_expect_eq(n, RCM_ARRAY_SIZE(rej_cells));
	free(doc);
}
