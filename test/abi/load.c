/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 rcm contributors */

/*
 * load PLUGIN | load core
 *
 * Loads, asks and unloads, twice over. With PLUGIN: the plugin alone, as
 * libfabric does it (RTLD_NOW, local scope). With "core": a libfabric that was
 * not there before, which finds the plugin through FI_PROVIDER_PATH, and
 * fi_getinfo for it by name. test/abi/load.sh runs both.
 */

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, const char *why)
{
	printf("%s: %s\n", what, why ? why : "?");
	return 1;
}

static int load_plugin(const char *path)
{
	struct fi_provider *(*entry)(void);
	struct fi_provider *prov;
	void *lib = dlopen(path, RTLD_NOW);

	if (!lib)
		return fail("dlopen", dlerror());
	entry = (struct fi_provider * (*)(void)) dlsym(lib, "fi_prov_ini");
	if (!entry)
		return fail("dlsym", dlerror());
	prov = entry();
	if (!prov || !prov->name || strcmp(prov->name, "rcm") != 0)
		return fail("fi_prov_ini", "no provider named rcm");
	if (!prov->getinfo || !prov->fabric || !prov->cleanup)
		return fail("fi_prov_ini", "an empty slot");
	if (FI_VERSION_LT(prov->fi_version, FI_VERSION(1, 3)))
		return fail("fi_prov_ini", "libfabric would drop this version");
	/* libfabric calls it before it unmaps the provider */
	prov->cleanup();
	if (dlclose(lib))
		return fail("dlclose", dlerror());
	return 0;
}

struct core {
	void *lib;
	__typeof__(fi_getinfo) *getinfo;
	__typeof__(fi_dupinfo) *dupinfo;
	__typeof__(fi_freeinfo) *freeinfo;
	__typeof__(fi_version) *version;
};

static int core_open(struct core *core)
{
	core->lib = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!core->lib)
		return fail("dlopen", dlerror());
	core->getinfo = (__typeof__(fi_getinfo) *)dlsym(core->lib,
							"fi_getinfo");
	core->dupinfo = (__typeof__(fi_dupinfo) *)dlsym(core->lib,
							"fi_dupinfo");
	core->freeinfo = (__typeof__(fi_freeinfo) *)dlsym(core->lib,
							  "fi_freeinfo");
	core->version = (__typeof__(fi_version) *)dlsym(core->lib,
							"fi_version");
	if (!core->getinfo || !core->dupinfo || !core->freeinfo ||
	    !core->version)
		return fail("dlsym", dlerror());
	return 0;
}

/* No device is needed: nothing to offer is an answer as well. */
static int ask(struct core *core)
{
	struct fi_info *hints, *info = NULL;
	int ret;

	hints = core->dupinfo(NULL);
	if (!hints)
		return fail("fi_allocinfo", "out of memory");
	hints->fabric_attr->prov_name = strdup("rcm");
	ret = core->getinfo(core->version(), NULL, NULL, 0, hints, &info);
	if (!ret)
		core->freeinfo(info);
	core->freeinfo(hints);
	if (ret && ret != -FI_ENODATA) {
		printf("fi_getinfo: %d\n", ret);
		return 1;
	}
	printf("fi_getinfo: %s\n", ret ? "nothing to offer" : "found");
	return 0;
}

static int load_core(void)
{
	struct core core;

	if (core_open(&core))
		return 1;
	for (int i = 0; i < 2; i++) {
		if (ask(&core))
			return 1;
	}
	if (dlclose(core.lib))
		return fail("dlclose", dlerror());
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return fail("usage", "load PLUGIN | load core");
	for (int i = 0; i < 2; i++) {
		bool core = strcmp(argv[1], "core") == 0;
		int ret = core ? load_core() : load_plugin(argv[1]);

		if (ret)
			return ret;
	}
	return 0;
}
