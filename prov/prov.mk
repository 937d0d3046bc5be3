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
PROV_SOURCES += prov/top/rcm_init.c

noinst_LTLIBRARIES += librcm-core.la
librcm_core_la_SOURCES = $(PROV_SOURCES)
