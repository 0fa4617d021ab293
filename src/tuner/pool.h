/*
 * The pool of a search: the configs it has looked at, with their estimates and what was told of them. Configs of one
 * schedule are one point of the pool, named by the number of the first of them.
 */
#ifndef TUNER_POOL_H
#define TUNER_POOL_H

#include "tuner/configs.h"
#include "tuner/search.h"

enum { POOL_NONE = -1 };

typedef struct Point {
	uint64_t same;
	double est;    /* <= 0: no legal schedule */
	double ns;     /* 0: not told; < 0: it failed */
	uint32_t twin; /* the first point of the same schedule, which stands for all */
	bool asked;
	int revision; /* of the cost model that est is of */
} Point;

typedef VEC(uint32_t) Numbers;

typedef struct Pool {
	Arena *arena;
	Space *space;
	SearchCost cost;
	ConfigSet set;
	VEC(Point) point; /* of each config of the set */
	Map same;         /* from point[].same to the first such point */
	Numbers told;     /* points that were told, in that order */
	Numbers asked;    /* points that were asked, in that order */
	int64_t best;     /* the fastest of the told; POOL_NONE: there is none */
	int waiting;      /* asked and not told */
} Pool;

Pool pool_new(Arena *a, Space *space, SearchCost cost);

/* The point of a config, estimated where it is seen first. */
uint32_t pool_add(Pool *p, const Config *c);
/* The points of n configs, behind those in `out`; estimated together where they are seen first. */
void pool_add_all(Pool *p, const Config *c, size_t n, Numbers *out);
/* All configs that one knob's move makes of i, behind those in `out`. */
void pool_add_neighbours(Pool *p, uint32_t i, Numbers *out);

const Config *pool_config(const Pool *p, uint32_t i);
/* Infinite where it has no schedule. */
double pool_estimate(const Pool *p, uint32_t i);
/* Whether it may be asked: it has a schedule and was not asked or told before. */
bool pool_open(const Pool *p, uint32_t i);
int pool_distance(const Pool *p, uint32_t i, uint32_t j);

/* Estimates anew what the cost model has estimated before it changed: only estimates of one revision are comparable. */
void pool_refresh(Pool *p, const uint32_t *list, size_t n);
/* Sorted by estimate, each once, without those that have no schedule. */
void pool_sort(Pool *p, Numbers *list);

/* Whether no time is left to plan (SearchCost.over). */
bool pool_over(const Pool *p);

/* It is asked from now on; false: it must not be. */
bool pool_ask(Pool *p, uint32_t i, Config *out);
/* The point, which is told now; ns <= 0: it failed. */
uint32_t pool_tell(Pool *p, const Config *c, double ns);

/*
 * A draw of the space that may be asked; after many that may not, the next one that may. False: none is left, nor found
 * among TUNE_WALKED configs, or no time is.
 */
bool pool_draw(Pool *p, Rng *rng, uint32_t *i);

#endif
