/*
 * Modules that a builder has compiled, by the text of their sets: candidates share prepare Fns and nests. The same text
 * is the same code. The module that was used least recently gives its place to a new one.
 */
#ifndef MEASURE_KEPT_MODULES_H
#define MEASURE_KEPT_MODULES_H

#include "base/hash.h"
#include "codegen/codegen.h"

typedef struct KeptModule {
	Hash text;
	Arena *arena; /* of the module; NULL: a free place */
	Module module;
	uint64_t used; /* when last */
} KeptModule;

typedef struct KeptModules {
	const Target *target;
	const CodegenOptions *options;
	size_t n;
	KeptModule *at; /* n of them, zeroed at first */
	uint64_t asked, compiled; /* how often */
} KeptModules;

/* The set's Module, compiled now or before; valid until n others were asked for. NULL: it has no code, err says why. */
const Module *kept_module(KeptModules *k, const KernelSet *ks, Err *err);
void kept_modules_free(KeptModules *k);

#endif
