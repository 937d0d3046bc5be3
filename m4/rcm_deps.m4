# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors

# RCM_CHECK_DEPS: what the plugin links with
AC_DEFUN([RCM_CHECK_DEPS], [
	PKG_CHECK_MODULES([LIBFABRIC], [libfabric >= 1.17])
	PKG_CHECK_MODULES([RDMACM], [librdmacm])
	PKG_CHECK_MODULES([IBVERBS], [libibverbs])
	rcm_libfabric_version=$($PKG_CONFIG --modversion libfabric)

	rcm_save_LIBS=$LIBS
	rcm_save_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS $RDMACM_CFLAGS $IBVERBS_CFLAGS"
	LIBS="$RDMACM_LIBS $IBVERBS_LIBS $LIBS"
	AC_CHECK_FUNCS([rdma_establish rdma_init_qp_attr], [],
		[AC_MSG_ERROR([librdmacm is too old: $ac_func is missing])])
	AC_CHECK_FUNCS([ibv_reg_dmabuf_mr rdma_set_local_ece])
	LIBS=$rcm_save_LIBS
	CFLAGS=$rcm_save_CFLAGS
])

# RCM_PROVIDER_DIR: where `make install` puts the plugin.
#
# The core looks in one fixed place, <its libdir>/libfabric. That place is the
# default when no prefix was chosen, or when it lies beneath the prefix that
# was. Any other prefix or libdir is obeyed: nothing is ever installed outside
# a prefix that was given.
AC_DEFUN([RCM_PROVIDER_DIR], [
	rcm_libfabric_libdir=$($PKG_CONFIG --variable=libdir libfabric)
	rcm_libfabric_dir=$rcm_libfabric_libdir/libfabric

	AC_ARG_WITH([provider-dir],
		[AS_HELP_STRING([--with-provider-dir=DIR],
			[where the plugin is installed (default: where the
			 libfabric found by pkg-config looks for it, unless a
			 prefix or libdir elsewhere was given)])],
		[AS_CASE([$withval],
			[yes|no|""], [AC_MSG_ERROR([--with-provider-dir needs a directory])],
			[providerdir=$withval])],
		[providerdir='${libdir}/libfabric'
		 AS_IF([test "x$libdir" = 'x${exec_prefix}/lib' &&
			test "x$exec_prefix" = xNONE], [
			AS_CASE([$prefix],
				[NONE], [providerdir=$rcm_libfabric_dir],
				[/], [],
				[rcm_below=$(AS_ECHO(["$rcm_libfabric_dir"]) |
					sed -n "s|^$prefix/||p")
				 test -z "$rcm_below" ||
					providerdir='${prefix}'/$rcm_below])])])
	AC_SUBST([providerdir])

	# the same with the variables replaced, to be shown
	rcm_p=$prefix
	test "x$rcm_p" = xNONE && rcm_p=$ac_default_prefix
	rcm_e=$exec_prefix
	test "x$rcm_e" = xNONE && rcm_e=$rcm_p
	rcm_provider_dir_shown=$(prefix=$rcm_p; exec_prefix=$rcm_e
		eval "libdir=\"$libdir\""; eval "printf %s \"$providerdir\"")
])

# RCM_CHECK_CRITERION: the unit tests' library; without it they are skipped
AC_DEFUN([RCM_CHECK_CRITERION], [
	AC_ARG_WITH([criterion],
		[AS_HELP_STRING([--without-criterion],
			[do not build the unit tests (default: build them when
			 Criterion is found)])],
		[], [with_criterion=check])
	rcm_unit_skip_reason=
	AS_IF([test "x$with_criterion" = xno],
		[rcm_unit_skip_reason="unit tests: configured with --without-criterion"],
	      [test "x$enable_tsan" = xyes],
		[rcm_unit_skip_reason="unit tests: Criterion does not run under ThreadSanitizer"],
		[PKG_CHECK_MODULES([CRITERION], [criterion >= 2.4], [],
			[AS_IF([test "x$with_criterion" = xyes],
				[AC_MSG_ERROR([Criterion was asked for and is not there])])
			 rcm_unit_skip_reason="unit tests: Criterion was not found by configure"])])
	AM_CONDITIONAL([UNIT_TESTS_ENABLED], [test -z "$rcm_unit_skip_reason"])
	AC_SUBST([rcm_unit_skip_reason])
])

# RCM_CHECK_MPI: Open MPI, for the program that test/vm runs under mpirun. Its
# headers are a system's, so that their warnings are not ours.
AC_DEFUN([RCM_CHECK_MPI], [
	PKG_CHECK_MODULES([MPI], [ompi-c],
		[rcm_mpi=yes
		 MPI_CFLAGS=$(AS_ECHO([" $MPI_CFLAGS"]) | sed 's| -I| -isystem |g')],
		[rcm_mpi=no])
	AM_CONDITIONAL([MPI_ENABLED], [test $rcm_mpi = yes])
])
