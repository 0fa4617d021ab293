/*
 * Searches are rows behind ask and tell: which config of a space to measure next. They neither compile, measure,
 * print nor read a clock. They draw only from the Rng they are given, so that one seed and one set of answers is one
 * search.
 */
#ifndef TUNER_SEARCH_H
#define TUNER_SEARCH_H

#include "schedule/space.h"

/*
 * Estimated nanoseconds of each of n configs; <= 0: it has no legal schedule. same[i] is equal for configs that
 * mean the same schedule.
 */
typedef struct SearchCost {
	void (*estimate)(void *arg, const Config *c, int n, double *ns, uint64_t *same);
	void *arg;
	/* Another number than before: estimates would be others by now, and are not comparable. NULL: they never change. */
	int (*revision)(void *arg);
	/* Whether no time is left to plan: what estimates a lot before it asks, ends with what it has. NULL: never. */
	bool (*over)(void *arg);
} SearchCost;

/* How hard to look; rows of tuner/effort.def. */
typedef struct Effort {
	const char *name, *doc;
	int sample;   /* configs estimated before the first choice */
	int picks;    /* of those measured at a time */
	int restarts; /* fruitless rounds of picks until the search is done */
	int pairs;    /* moves of two knobs tried around the best */
} Effort;

enum {
#define EFFORT(name, sample, picks, restarts, pairs, doc) EFFORT_##name,
#include "tuner/effort.def"
#undef EFFORT
};
extern const Effort efforts[]; /* by EFFORT_...; ends with name == NULL */
const Effort *effort_find(const char *name); /* NULL: there is none */

enum { SEARCH_DONE = 0, SEARCH_WAITS = -1 };

typedef struct Search {
	const char *name, *doc;
	void *(*open)(Arena *a, Space *s, SearchCost cost, const Effort *effort, Rng rng);
	/*
	 * Fills up to n configs not asked before, the default first. SEARCH_WAITS: the next one depends on
	 * what is asked and not told yet. SEARCH_DONE: it is certain, or the space at its end.
	 */
	int (*ask)(void *state, Config *out, int n);
	/* A config from elsewhere that looks good; NULL: the search takes no advice. */
	void (*hint)(void *state, Config c);
	/* ns <= 0: it failed. Configs that were not asked may be told too. */
	void (*tell)(void *state, Config c, double ns);
	/* Why the config that was filled in last was chosen: Event.source. NULL, or it gives NULL: the search's name. */
	const char *(*source)(const void *state);
	/*
	 * The part of the best time, from 0 to 1, that the configs which the search knows and has not asked save at most,
	 * as it believes (TUNE_CERTAIN); < 0: it believes nothing. NULL: so it is always.
	 */
	double (*left)(void *state);
} Search;

extern const Search search_rank, search_portfolio, search_anneal, search_evolve, search_grid, search_random;
extern const Search *const searches[]; /* the first is taken where none is named; ends with NULL */
const Search *search_find(const char *name); /* NULL: there is none */

#endif
