# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors

# RCM_ENABLE(NAME, HELP): --enable-NAME, off by default; sets enable_NAME
AC_DEFUN([RCM_ENABLE], [
	AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1], [$2])], [],
		[enable_$1=no])
])

# RCM_OPTIONS: the build's variants. RCM_CFLAGS and RCM_LDFLAGS collect what
# they need; CFLAGS stays the user's.
AC_DEFUN([RCM_OPTIONS], [
	RCM_ENABLE([werror], [treat warnings as errors])
	RCM_ENABLE([debug], [check lock ranks and internal asserts (RCM_DEBUG=1)])
	RCM_ENABLE([asan], [build with AddressSanitizer and LeakSanitizer])
	RCM_ENABLE([ubsan], [build with UndefinedBehaviorSanitizer])
	RCM_ENABLE([tsan], [build with ThreadSanitizer; unit tests are left out])
	RCM_ENABLE([coverage], [build for gcov])
	RCM_ENABLE([fuzz], [build the fuzz targets with libFuzzer (clang)])

	RCM_CFLAGS=
	RCM_LDFLAGS=
	rcm_instrumentation=

	AS_IF([test "$enable_tsan" = yes &&
		{ test "$enable_asan" = yes || test "$enable_fuzz" = yes; }],
		[AC_MSG_ERROR([--enable-tsan excludes --enable-asan and --enable-fuzz])])

	RCM_INSTRUMENT([asan], [-fsanitize=address -fno-omit-frame-pointer])
	RCM_INSTRUMENT([ubsan], [-fsanitize=undefined -fno-sanitize-recover=all])
	RCM_INSTRUMENT([tsan], [-fsanitize=thread -fno-omit-frame-pointer])
	RCM_INSTRUMENT([fuzz], [-fsanitize=fuzzer-no-link])

	# what follows below needs no run-time library of the program
	rcm_instrumented=no
	AS_IF([test -n "$rcm_instrumentation"], [rcm_instrumented=yes])
	AC_SUBST([rcm_instrumented])

	# an instrumented plugin leaves its run-time library's symbols open
	AS_IF([test -z "$rcm_instrumentation"],
		[RCM_LDFLAGS="$RCM_LDFLAGS -Wl,-z,defs"])

	RCM_INSTRUMENT([coverage], [--coverage -fprofile-update=atomic])
	# 0 or 1, for #if RCM_DEBUG and for if (RCM_DEBUG)
	rcm_debug=0
	AS_IF([test "$enable_debug" = yes],
		[rcm_debug=1
		 rcm_instrumentation="$rcm_instrumentation debug"])

	AC_DEFINE_UNQUOTED([RCM_DEBUG], [$rcm_debug],
		[Check lock ranks and internal asserts])

	AM_CONDITIONAL([FUZZ_ENABLED], [test "$enable_fuzz" = yes])
	AM_CONDITIONAL([COVERAGE_ENABLED], [test "$enable_coverage" = yes])
	AC_SUBST([enable_asan])
	AC_SUBST([enable_ubsan])
	AC_SUBST([enable_tsan])
	# main() of a fuzz target; the name hides a flag that automake refuses
	AC_SUBST([RCM_FUZZER], [-fsanitize=fuzzer])
	AC_SUBST([RCM_CFLAGS])
	AC_SUBST([RCM_LDFLAGS])
])

# RCM_INSTRUMENT(NAME, FLAGS): use FLAGS everywhere when --enable-NAME
AC_DEFUN([RCM_INSTRUMENT], [
	AS_IF([test "$enable_$1" = yes], [
		rcm_save_CFLAGS=$CFLAGS
		CFLAGS="$CFLAGS $2"
		AC_MSG_CHECKING([whether $CC links with $2])
		AC_LINK_IFELSE([AC_LANG_PROGRAM()],
			[AC_MSG_RESULT([yes])],
			[AC_MSG_RESULT([no])
			 AC_MSG_ERROR([--enable-$1 needs a compiler with $2])])
		CFLAGS=$rcm_save_CFLAGS
		RCM_CFLAGS="$RCM_CFLAGS $2"
		RCM_LDFLAGS="$RCM_LDFLAGS $2"
		rcm_instrumentation="$rcm_instrumentation $1"
	])
])

# RCM_WARNINGS: every warning that the compiler knows of this list. Not in it:
# -Wcast-align, which clang gives for each container_of and sockaddr; the
# alignment check of --enable-ubsan finds the real ones.
AC_DEFUN([RCM_WARNINGS], [
	RCM_WARN_CFLAGS=
	rcm_save_CFLAGS=$CFLAGS
	for rcm_flag in -Wall -Wextra -Wshadow -Wstrict-prototypes \
		-Wmissing-prototypes -Wold-style-definition -Wformat=2 \
		-Wpointer-arith -Wwrite-strings -Wundef -Wvla \
		-Wimplicit-fallthrough -Wdate-time
	do
		CFLAGS="$rcm_save_CFLAGS -Werror $rcm_flag"
		AC_MSG_CHECKING([whether $CC accepts $rcm_flag])
		AC_COMPILE_IFELSE([AC_LANG_SOURCE([[extern int rcm_probe;]])],
			[AC_MSG_RESULT([yes])
			 RCM_WARN_CFLAGS="$RCM_WARN_CFLAGS $rcm_flag"],
			[AC_MSG_RESULT([no])])
	done
	CFLAGS=$rcm_save_CFLAGS
	AS_IF([test "$enable_werror" = yes],
		[RCM_WARN_CFLAGS="$RCM_WARN_CFLAGS -Werror"])
	AC_SUBST([RCM_WARN_CFLAGS])
])
