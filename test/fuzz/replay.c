/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * main() of a fuzz target built without libFuzzer: gives it the files of the
 * directories named, once each. So the corpus is run by every `make check`.
 */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;
	int ret = -1;

	if (!file)
		return -1;
	if (!fseek(file, 0, SEEK_END))
		size = ftell(file);
	if (size < 0 || fseek(file, 0, SEEK_SET))
		goto out;
	/* exactly as long as the input: a read beyond it is seen */
	data = malloc(size ? (size_t)size : 1);
	if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
		goto out;
	LLVMFuzzerTestOneInput(data, (size_t)size);
	ret = 0;
out:
	free(data);
	fclose(file);
	return ret;
}

static int replay_dir(const char *name, int *count)
{
	DIR *dir = opendir(name);
	struct dirent *entry;
	char path[4096];

	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
		if (replay_file(path)) {
			printf("%s: cannot be read\n", path);
			closedir(dir);
			return -1;
		}
		++*count;
	}
	closedir(dir);
	return 0;
}

int main(int argc, char **argv)
{
	static const uint8_t nothing[1];
	int count = 0;

	LLVMFuzzerTestOneInput(nothing, 0);
	for (int i = 1; i < argc; i++) {
		if (replay_dir(argv[i], &count)) {
			printf("%s: cannot be replayed\n", argv[i]);
			return 1;
		}
	}
	printf("%d inputs\n", count);
	return count ? 0 : 1;
}
