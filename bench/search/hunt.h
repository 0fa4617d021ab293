/*
 * One recorded Task with what never changes, and one run of a search on it, trial by trial. The seconds are modelled:
 * estimates, builds and screenings, one after another, as recorded.
 */
#ifndef BENCH_SEARCH_HUNT_H
#define BENCH_SEARCH_HUNT_H

#include "cost_model/train.h"
#include "measure/recorded.h"
#include "tuner/search.h"

enum { LEARN = 64 /* trials, as cost_model/learned.c has it */, MODELS = 5 };

/*
 * `none` says the same of all schedules. `analytic` is the estimate alone. `cold` begins with it, and grows trees from
 * what is told each LEARN trials. `warm` begins with trees that were trained on the Tasks of other networks, and goes
 * on like `cold`; `file` does so with those of a learned model's file.
 */
extern const char *const hunt_models[MODELS];
enum { NONE, ANALYTIC, COLD, WARM, OF_FILE };

typedef struct Lab {
	const char *path;
	RecordedSpace recorded;
	Space *space;
	float *row;       /* predictors of each run */
	double *estimate; /* analytic, of each run; <= 0: no schedule */
	uint64_t *same;   /* equal for runs of one trace */
	Forest others;    /* trained on other networks; no trees: there are none */
	Forest file;      /* of a learned model's file, likewise */
	double best_ns;
	Config first;     /* the template's default */
} Lab;

/* Ends the program with one sentence where the file is no recording, or has nothing to search. */
void lab_open(Arena *a, Lab *l, const char *path);
/* Fills lab[but].others. */
void lab_learn(Arena *a, Lab *lab, int n, int but);
_Noreturn void lab_die(const Err *e);

typedef struct Hunt Hunt;

/*
 * `flight` candidates are asked before the first of them is told. `drawn`: the search begins with a config that the
 * seed draws, as if nobody had fitted a default.
 */
Hunt *hunt_open(Lab *lab, const Search *search, const Effort *effort, int model, uint64_t seed, int flight, bool drawn);
void hunt_close(Hunt *h);
/* One trial more: a schedule that was not told before. False: the search is at its end. */
bool hunt_step(Hunt *h);
/* best[i]: nanoseconds of the best after trial i, infinite: none has run; the rest may be NULL. */
int hunt_trials(const Hunt *h, const double **best);
double hunt_seconds(const Hunt *h);
/* What the search believes is left to save (Search.left). */
double hunt_left(const Hunt *h);

#endif
