/*
 * A set of configs, numbered in the order they came: what a search has asked, or knows.
 */
#ifndef TUNER_CONFIGS_H
#define TUNER_CONFIGS_H

#include "schedule/space.h"

typedef struct ConfigSet {
	Arena *arena;
	VEC(Config) at;
	uint32_t *slot; /* hash table over at: number + 1 */
	size_t cap;     /* a power of two; 0: nothing was added yet */
} ConfigSet;

/* The number of c in the set, which has it now; *fresh: it was not there. */
uint32_t config_set_add(ConfigSet *s, const Config *c, bool *fresh);

#endif
