/*
 * Programs that OpenCL's driver has built, kept in the folder that dlc_code_folder names: a driver takes seconds for
 * the text of a network. Nothing here fails: what is not kept is built again.
 */
#ifndef RUNTIME_OPENCL_CACHE_H
#define RUNTIME_OPENCL_CACHE_H

#include "runtime/opencl.h"

/* Sums of the text; and of the names and versions of device and driver, and the options. */
typedef struct OpenclKey {
	uint64_t text, facts;
} OpenclKey;

/* The key of n bytes of text; false: nothing is kept. */
bool opencl_cache_key(const DeviceContext *c, const char *text, size_t n, const char *options, OpenclKey *out);
/* The program, ready for kernels; NULL: it is not there. */
ClProgram opencl_cache_find(const DeviceContext *c, const OpenclKey *key, const char *options);
void opencl_cache_store(const OpenclKey *key, ClProgram p);

#endif
