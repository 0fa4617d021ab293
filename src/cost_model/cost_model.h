/*
 * Scheduled kernel sets become times before anything is run. Cost models are rows, which are called through a Cost:
 * a row and what it keeps for one target. The analytic row needs no data; a row that learns reads a file when it is
 * opened and is told what was measured.
 */
#ifndef COST_MODEL_COST_MODEL_H
#define COST_MODEL_COST_MODEL_H

#include "op/task.h"
#include "target/target.h"

typedef struct CostCandidate {
	const KernelSet *ks;
	const Task *task; /* what the set computes */
} CostCandidate;

typedef struct CostModel {
	const char *name, *doc;
	bool file; /* it reads one: that of NAME:FILE, or the one beside the database */
	int batch; /* candidates that it likes at a time; 0 or 1 where a batch, held in memory at once, gains nothing */
	/*
	 * A state for one target, in the arena; path: a file of what was learned, which may be missing or no use; NULL:
	 * there is none. NULL and err where the row refuses.
	 */
	void *(*open)(Arena *a, const Target *target, const char *path, Err *err);
	/* A sentence for the user: why a file is not used; NULL: none. May be NULL. */
	const char *(*note)(const void *state);
	/* Nanoseconds of one call of each candidate's run Fns; > 0. Several threads may ask one state. */
	void (*estimate)(const void *state, const CostCandidate *x, int n, double *ns);
	/*
	 * What the row reads of a candidate, as so many numbers, from which it estimates the same again, as often as it has
	 * learned, without the candidate. 0 and NULL: it needs the candidate each time.
	 */
	int kept;
	void (*keep)(const void *state, const CostCandidate *x, int n, float *kept);
	void (*again)(const void *state, const float *kept, int n, double *ns);
	/* Nanoseconds that were measured. Nobody may ask or tell meanwhile. NULL: the row does not learn. */
	void (*observe)(void *state, const CostCandidate *x, int n, const double *ns);
	/* Another number once observations have changed the estimates. NULL: they never change. */
	int (*revision)(const void *state);
	void (*close)(void *state); /* NULL: the state is the arena's alone */
} CostModel;

extern const CostModel cost_analytic, cost_xgboost;
extern const CostModel *const cost_models[]; /* the first is taken where none is named; ends with NULL */

typedef struct Cost {
	const CostModel *row;
	void *state;
} Cost;

/* The row that the user named, NAME or NAME:FILE; NULL: the first row. ERR_USAGE with all rows: none has the name. */
const CostModel *cost_model_find(const char *name, Err *err);
/*
 * The same, opened. beside: the file of a row that reads one, where the user names none; may be NULL. A file that the
 * user names must be there.
 */
bool cost_open(Cost *c, Arena *a, const char *name, const char *beside, const Target *target, Err *err);
const char *cost_note(const Cost *c); /* NULL: there is nothing to say */
/* `given`, or where it is NULL the first row, opened in the arena. */
Cost cost_or_first(const Cost *given, Arena *a, const Target *target);
void cost_estimate(const Cost *c, const CostCandidate *x, int n, double *ns);
/* The two halves of cost_estimate, of rows that have them: cost_kept numbers of each candidate; 0: the row has none. */
int cost_kept(const Cost *c);
void cost_keep(const Cost *c, const CostCandidate *x, int n, float *kept);
void cost_again(const Cost *c, const float *kept, int n, double *ns);
double cost_estimate_one(const Cost *c, const KernelSet *ks, const Task *task);
void cost_observe(const Cost *c, const CostCandidate *x, int n, const double *ns);
int cost_revision(const Cost *c);
void cost_close(const Cost *c);

#endif
