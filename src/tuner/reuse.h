/*
 * What is known of the traces of one task: read from the databases, measured in this run, or just
 * under way. A trace that is here is not measured again.
 */
#ifndef TUNER_REUSE_H
#define TUNER_REUSE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Known {
	const char *trace;
	uint64_t hash;
	double ns;   /* > 0: the best time; < 0: it failed; 0: under way */
	bool reused; /* from a database, not of this run */
	int64_t err_e9; /* as in RunRecord; -1: its outputs were not compared */
	bool raced;  /* timed in turn with others in this run */
} Known;

typedef struct KnownSet {
	Arena *arena;
	VEC(Known) at;
	uint32_t *slot; /* number + 1 */
	size_t cap;
} KnownSet;

uint64_t known_hash(const char *trace); /* as in Known */
/* NULL: nothing is known of it. Valid until the next addition. */
Known *known_find(const KnownSet *s, const char *trace);
/* The trace is copied. It must not be there yet. */
Known *known_add(KnownSet *s, const char *trace, double ns, bool reused);
/* Those that ran, the fastest first, in an array of the arena's; returns how many. */
int known_ranked(const KnownSet *s, Arena *a, Known ***out);

#endif
