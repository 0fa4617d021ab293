/*
 * A cache of programs that OpenCL's driver has built, in the folder of dlc_code_folder. A driver takes seconds to build
 * the text of a network. Nothing here fails: a program that is not in the cache is built again.
 */
#ifndef RUNTIME_OPENCL_CACHE_H
#define RUNTIME_OPENCL_CACHE_H

#include "runtime/opencl.h"

/* Hashes of the text; and of the build options and the names and versions of device and driver. */
typedef struct OpenclKey {
	uint64_t text, facts;
} OpenclKey;

/* The key of n bytes of text. False: there is no cache. */
bool opencl_cache_key(const DeviceContext *c, const char *text, size_t n, const char *options, OpenclKey *out);
/* The program, ready for kernels. NULL: it is not in the cache. */
ClProgram opencl_cache_find(const DeviceContext *c, const OpenclKey *key, const char *options);
void opencl_cache_store(const OpenclKey *key, ClProgram p);

#endif
