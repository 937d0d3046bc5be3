# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 rcm contributors
#
# promises.awk TESTS DOCUMENT: what promises.sh explains.
#
# TESTS has a line for each test: its name, a tab, and the comment above it.

function complain(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}

function trim(s)
{
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	return s
}

# Is any of the reports that WHERE names in the comment of a test of the row?
function check_reports(where, n, names,    i, rest, report, any)
{
	rest = where
	while (match(rest, /#[0-9]+|[0-9a-f]*[0-9][0-9a-f]*/)) {
		report = substr(rest, RSTART, RLENGTH)
		rest = substr(rest, RSTART + RLENGTH)
		if (report !~ /^#/ && length(report) != 9)
			continue
		any = 1
		for (i = 1; i <= n; i++)
			if ((tests[names[i]] " ") ~ (report "[^0-9a-f]"))
				return
	}
	if (any)
		complain("no test of row " id " has a report of it in its comment")
}

function check_row(    status, shown, names, n, i, name)
{
	id = trim($2)
	status = trim($6)
	shown = trim($7)
	rows++
	if (id in seen)
		complain("the id " id " is used twice")
	seen[id] = 1
	if (trim($3) == "" || trim($4) == "" || trim($5) == "")
		complain("row " id " has an empty cell")
	if (status !~ /^(yes|n\/a|differs|open)$/)
		complain("row " id " has the unknown status '" status "'")
	count[status]++
	if (status == "n/a" || status == "open" || shown ~ /^reason: /) {
		if (shown !~ /^reason: ...../)
			complain("row " id " has neither a test nor a reason")
		return
	}
	gsub(/`/, "", shown)
	n = split(shown, names, /, */)
	if (!n)
		complain("row " id " has neither a test nor a reason")
	for (i = 1; i <= n; i++) {
		name = trim(names[i])
		names[i] = name
		if (!(name in tests))
			complain("row " id " names the test " name \
				 ", which does not exist")
		else
			n_named++
	}
	if (id ~ /^[A-Z][0-9]+$/)
		check_reports($3, n, names)
}

BEGIN {
	FS = "\t"
}

FNR == 1 {
	file++
}

file == 1 {
	tests[$1] = $2
	next
}

FNR == 1 {
	FS = "|"
	$0 = $0 # split anew
}

/^\| *[A-Z]+-?[0-9]+[a-z]? *\|/ {
	if (NF != 8)
		complain("row " trim($2) " has " NF - 2 " cells, not 6")
	else
		check_row()
	next
}

/^\|/ && !/^\| (id|---) \|/ {
	complain("a row without an id")
}

END {
	if (!rows) {
		print FILENAME ": no rows"
		bad = 1
	}
	n = split(FILENAME, path, "/")
	printf "%s: %d rows: %d yes, %d differs, %d n/a, %d open; " \
	       "%d tests named\n", path[n], rows, count["yes"],
	       count["differs"], count["n/a"], count["open"], n_named
	exit bad
}
