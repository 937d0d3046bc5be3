#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# coverage.sh SRCDIR BUILDDIR: after a test run of an --enable-coverage build,
# lines and branches of prov/ by layer, and a page for each file in
# BUILDDIR/coverage

set -eu
src=${1:?} build=${2:?}
command -v lcov >/dev/null || {
	echo "lcov is not installed"
	exit 1
}
cd "$build"
mkdir -p coverage

# lcov and genhtml warn about their own Perl; what they say is shown on failure
quietly()
{
	"$@" >coverage/out 2>&1 || {
		cat coverage/out
		exit 1
	}
}

quietly lcov --quiet --rc lcov_branch_coverage=1 --capture --directory . \
	--base-directory "$src" --no-external --output-file coverage/all.info
quietly lcov --quiet --rc lcov_branch_coverage=1 --output-file coverage/prov.info \
	--extract coverage/all.info "$src/prov/*"
quietly genhtml --quiet --branch-coverage --prefix "$src" \
	--output-directory coverage/html coverage/prov.info

awk -F: -v src="$src/prov/" '
function line(name, l)
{
	printf "%-8s %6d %6d %6.1f %%   %6d %6d %6.1f %%\n", name, lf[l], lh[l],
		lf[l] ? 100 * lh[l] / lf[l] : 0, bf[l], bh[l],
		bf[l] ? 100 * bh[l] / bf[l] : 0
}
/^SF:/ { l = substr($0, 4 + length(src)); sub(/\/.*/, "", l) }
/^(LF|LH|BRF|BRH):/ { sum[$1, l] += $2; sum[$1, "all"] += $2; seen[l] = 1 }
END {
	printf "%-8s %6s %6s %8s   %6s %6s %8s\n", "layer", "lines", "hit", "",
		"branch", "hit", ""
	n = split("base sys cm xfer obj top all", order, " ")
	seen["all"] = 1
	for (i = 1; i <= n; i++) {
		l = order[i]
		if (!(l in seen))
			continue
		lf[l] = sum["LF", l]; lh[l] = sum["LH", l]
		bf[l] = sum["BRF", l]; bh[l] = sum["BRH", l]
		line(l, l)
	}
}' coverage/prov.info
echo "pages: $build/coverage/html/index.html"
