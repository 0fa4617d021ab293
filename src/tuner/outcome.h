/*
 * What is known of the traces of one task: read from the databases, measured in this run, or just under way. A trace
 * that has an outcome is not measured again.
 */
#ifndef TUNER_OUTCOME_H
#define TUNER_OUTCOME_H

#include "base/map.h"

#include <stdbool.h>

typedef struct Outcome {
	const char *trace;
	double ns;   /* > 0: the best time; < 0: it failed; 0: under way */
	bool reused; /* from a database, not of this run */
	int64_t err_e9; /* as in RunRecord; -1: its outputs were not compared */
	double scatter; /* standard error of a race's time, as a part of it; 0: it is no race's */
	bool raced;  /* timed in turn with others in this run */
} Outcome;

typedef struct OutcomeSet {
	VEC(Outcome) at;
	MapIndex index; /* of `at` by trace; its arena is the set's */
} OutcomeSet;

/* NULL: nothing is known of it. Valid until the next addition. */
Outcome *outcome_find(const OutcomeSet *s, const char *trace);
/* The trace is copied. It must not be there yet. */
Outcome *outcome_add(OutcomeSet *s, const char *trace, double ns, bool reused);
/* The standard error of a median, as a part of it, by the samples' median distance from it. */
double outcome_scatter(int64_t median_ns, int64_t mad_ns, int64_t samples);
/* Those that ran, the fastest first, in an array of the arena's; returns how many. */
int outcome_ranked(const OutcomeSet *s, Arena *a, Outcome ***out);

#endif
