# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# The provider's files: all of them, headers and .def files too.
#
# To add a module: put rcm_<name>.[ch] into its layer's directory and add one
# line for each file here, in alphabetical order. Nothing else is needed;
# headers are included by bare name. `make lint` complains about a file that
# is not listed and about an include that points up (scripts/check-layers).

PROV_SOURCES =
PROV_SOURCES += prov/base/rcm_addr.c
PROV_SOURCES += prov/base/rcm_addr.h
PROV_SOURCES += prov/base/rcm_base.h
PROV_SOURCES += prov/base/rcm_list.h
PROV_SOURCES += prov/base/rcm_lock.c
PROV_SOURCES += prov/base/rcm_lock.h
PROV_SOURCES += prov/base/rcm_log.c
PROV_SOURCES += prov/base/rcm_log.h
PROV_SOURCES += prov/base/rcm_param.c
PROV_SOURCES += prov/base/rcm_param.def
PROV_SOURCES += prov/base/rcm_param.h
PROV_SOURCES += prov/cm/rcm_chan.c
PROV_SOURCES += prov/cm/rcm_chan.h
PROV_SOURCES += prov/cm/rcm_conn.c
PROV_SOURCES += prov/cm/rcm_conn.h
PROV_SOURCES += prov/cm/rcm_conn_act.c
PROV_SOURCES += prov/cm/rcm_conn_act.h
PROV_SOURCES += prov/cm/rcm_conn_text.c
PROV_SOURCES += prov/cm/rcm_dispatch.c
PROV_SOURCES += prov/cm/rcm_fsm.c
PROV_SOURCES += prov/cm/rcm_fsm.def
PROV_SOURCES += prov/cm/rcm_fsm.h
PROV_SOURCES += prov/cm/rcm_listen.c
PROV_SOURCES += prov/cm/rcm_wire.c
PROV_SOURCES += prov/cm/rcm_wire.h
PROV_SOURCES += prov/obj/rcm_cq.c
PROV_SOURCES += prov/obj/rcm_cq.h
PROV_SOURCES += prov/obj/rcm_domain.h
PROV_SOURCES += prov/obj/rcm_enosys.c
PROV_SOURCES += prov/obj/rcm_enosys.h
PROV_SOURCES += prov/obj/rcm_ep.h
PROV_SOURCES += prov/obj/rcm_eq.h
PROV_SOURCES += prov/obj/rcm_fabric.h
PROV_SOURCES += prov/obj/rcm_info.c
PROV_SOURCES += prov/obj/rcm_info.h
PROV_SOURCES += prov/obj/rcm_mr.c
PROV_SOURCES += prov/obj/rcm_mr.h
PROV_SOURCES += prov/obj/rcm_msg.c
PROV_SOURCES += prov/obj/rcm_msg_disabled.c
PROV_SOURCES += prov/obj/rcm_info_connreq.c
PROV_SOURCES += prov/obj/rcm_info_form.c
PROV_SOURCES += prov/obj/rcm_info_narrow.c
PROV_SOURCES += prov/obj/rcm_mr.h
PROV_SOURCES += prov/obj/rcm_nic.c
PROV_SOURCES += prov/obj/rcm_nic.h
PROV_SOURCES += prov/obj/rcm_obj.h
PROV_SOURCES += prov/obj/rcm_offer.h
PROV_SOURCES += prov/obj/rcm_pep.h
PROV_SOURCES += prov/obj/rcm_wait.c
PROV_SOURCES += prov/obj/rcm_wait.h
PROV_SOURCES += prov/sys/rcm_dev.c
PROV_SOURCES += prov/sys/rcm_dev.h
PROV_SOURCES += prov/sys/rcm_dev_match.c
PROV_SOURCES += prov/sys/rcm_dev_nic.c
PROV_SOURCES += prov/sys/rcm_dev_probe.c
PROV_SOURCES += prov/sys/rcm_dev_probe.h
PROV_SOURCES += prov/sys/rcm_err.c
PROV_SOURCES += prov/sys/rcm_err.h
PROV_SOURCES += prov/sys/rcm_route.c
PROV_SOURCES += prov/sys/rcm_route.h
PROV_SOURCES += prov/sys/rcm_sys.c
PROV_SOURCES += prov/sys/rcm_sys.h
PROV_SOURCES += prov/top/rcm_ask.c
PROV_SOURCES += prov/top/rcm_ask.h
PROV_SOURCES += prov/top/rcm_attr.c
PROV_SOURCES += prov/top/rcm_attr.h
PROV_SOURCES += prov/top/rcm_attr_dev.c
PROV_SOURCES += prov/top/rcm_attr_domain.c
PROV_SOURCES += prov/top/rcm_attr_ep.c
PROV_SOURCES += prov/top/rcm_attr_xfer.c
PROV_SOURCES += prov/top/rcm_getinfo.c
PROV_SOURCES += prov/top/rcm_getinfo.h
PROV_SOURCES += prov/top/rcm_init.c
PROV_SOURCES += prov/xfer/rcm_bounce.c
PROV_SOURCES += prov/xfer/rcm_bounce.h
PROV_SOURCES += prov/xfer/rcm_cqset.c
PROV_SOURCES += prov/top/rcm_search.c
PROV_SOURCES += prov/top/rcm_search.h
PROV_SOURCES += prov/xfer/rcm_cqset.h
PROV_SOURCES += prov/xfer/rcm_drain.c
PROV_SOURCES += prov/xfer/rcm_drain.h
PROV_SOURCES += prov/xfer/rcm_hwcq.c
PROV_SOURCES += prov/xfer/rcm_hwcq.h
PROV_SOURCES += prov/xfer/rcm_qp.c
PROV_SOURCES += prov/xfer/rcm_qp.h
PROV_SOURCES += prov/xfer/rcm_ring.c
PROV_SOURCES += prov/xfer/rcm_ring.h
PROV_SOURCES += prov/xfer/rcm_rq.c
PROV_SOURCES += prov/xfer/rcm_soft.c
PROV_SOURCES += prov/xfer/rcm_soft.h
PROV_SOURCES += prov/xfer/rcm_sq.c
PROV_SOURCES += prov/xfer/rcm_stage.c
PROV_SOURCES += prov/xfer/rcm_stage.h
PROV_SOURCES += prov/xfer/rcm_wc.c
PROV_SOURCES += prov/xfer/rcm_wc.h

noinst_LTLIBRARIES += librcm-core.la
librcm_core_la_SOURCES = $(PROV_SOURCES)
