/*
 * A set of configs of one space, numbered in the order they came: what a search has asked, or knows. And how new
 * configs are made of known ones.
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

/* c with another option of one knob, both drawn. */
Config config_mutate(Space *s, const Config *c, Rng *rng);
/* A child: each knob that both have with the same options has the option of one of them, which is drawn. */
Config config_cross(Space *s, const Config *a, const Config *b, Rng *rng);

#endif
