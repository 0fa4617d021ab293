/*
 * Features of instruction sets, and feature levels, which are sets of them: rows of feature.def and level.def. A mask
 * has bit FEATURE_x for each feature; masks are never stored, names are.
 */
#ifndef TARGET_FEATURE_H
#define TARGET_FEATURE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
#define ARCH(name, kind, text) ARCH_##name,
#include "target/arch.def"
#undef ARCH
	ARCH_COUNT
} Arch;

typedef enum {
#define FEATURE(name, arch, text, needs) FEATURE_##name,
#define SIGN FEATURE
#include "target/feature.def"
#undef SIGN
#undef FEATURE
	FEATURE_COUNT
} Feature;

#define FEATURE_BIT(f) ((uint64_t)1 << (f))

const char *feature_name(Feature f);
Arch feature_arch(Feature f);
/* The features that f builds on. */
uint64_t feature_needs(Feature f);
bool feature_find(const char *name, Arch arch, Feature *out);
/* The features that may stay: one whose base is absent (avx512vnni without avx512f) is dropped. */
uint64_t features_closed(uint64_t mask);
/* Those of the mask that code is made for: what a target may have. */
uint64_t features_of_code(uint64_t mask);
/* "avx avx2 fma", in the order of feature.def; in the arena. */
char *target_feature_list(Arena *a, uint64_t mask);

/* The level of this name. */
bool level_find(const char *name, Arch *arch, uint64_t *mask);
/* The highest level whose features are all in the mask, else the lowest of the architecture; *own: its features. */
const char *level_of(Arch arch, uint64_t mask, uint64_t *own);
/* Every name that the tables know for an architecture, levels first, for "did you mean"; *n of them. */
const char *const *feature_names(Arena *a, Arch arch, size_t *n);

#endif
