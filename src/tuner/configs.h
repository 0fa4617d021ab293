/*
 * A set of configs of one space, numbered in the order they came: what a search has asked, or knows.
 */
#ifndef TUNER_CONFIGS_H
#define TUNER_CONFIGS_H

#include "base/map.h"
#include "schedule/space.h"

typedef struct ConfigSet {
	Map picks; /* to numbers */
	VEC(Config) at;
} ConfigSet;

#define CONFIGS_OF(a) ((ConfigSet){ .picks = MAP_OF(a) })

/* The number of c in the set, which has it now; *fresh: it was not there. */
uint32_t config_set_add(ConfigSet *s, const Config *c, bool *fresh);

#endif
