/*
 * Images kept in a folder of the user's, so that nothing is compiled twice. A file is named by the hash of everything
 * that its code depends on: the set's text, the back end and its compiler, the target, the epoch. A file that is
 * damaged or cannot be read is compiled anew, and a file that cannot be written is left out: a cache never fails.
 * It holds code that this process may run, so the folder must be writable for its owner alone.
 */
#ifndef CODEGEN_CODE_CACHE_H
#define CODEGEN_CODE_CACHE_H

#include "codegen/codegen.h"

typedef struct CodeCache {
	const char *folder; /* exists */
	int64_t most_bytes; /* beyond it the files used least recently go; files count as blocks of 4 KiB */
} CodeCache;

/* codegen_compile without options through the cache; c may be NULL. */
bool codegen_compile_cached(const CodeCache *c, Arena *a, const KernelSet *ks, const Target *t, Module *m, Err *err);

/* Deletes what was used least recently until three quarters of most_bytes are left. */
void code_cache_trim(const CodeCache *c);

#endif
