/*
 * Algorithms: other definitions of an operator than its naive formula, as kernel sets. An algorithm is one struct in
 * its own file. It says which calls it takes, its parameters, and the error it may make. Its builder may add prepare
 * Fns over constants. That it equals the naive form is not derived but tested: exactly, modulo a prime
 * (tests/op/test_algo.c).
 */
#ifndef OP_ALGO_H
#define OP_ALGO_H

#include "op/op.h"

enum { ALGO_PARAMS = 4 };

typedef struct AlgoParam {
	const char *key;
	int64_t least, most, absent; /* absent == 0: must be given */
	const char *doc;
} AlgoParam;

struct Naive;
typedef struct Algo {
	const char *name; /* "conv2d.winograd" */
	const char *label; /* "wino", for tables */
	const char *doc;
	AlgoParam param[ALGO_PARAMS]; /* ends with key == NULL */
	/* NULL: takes the call; else why it does not. */
	const char *(*refuses)(const Dag *d, const OpCall *c, const int64_t *param);
	/* Appends what computes the call (nv->c) to nv's Fn, as the naive builders do. */
	void (*build)(struct Naive *nv, const int64_t *param);
	/* Of calls that it takes. Bound of max|a - b| / max|b| against the exact result, with inputs of about one size. */
	double (*error)(const Dag *d, const OpCall *c, const int64_t *param);
	/* Of calls that it takes. Multiplications of the naive form for each one of the algorithm's. */
	double (*saves)(const Dag *d, const OpCall *c, const int64_t *param);
} Algo;
extern const Algo *const algos[]; /* ends with NULL */
const Algo *algo_find(const char *name); /* NULL: there is none */

/* One argument as written: "m=4". */
typedef struct AlgoArg {
	const char *key;
	int64_t value;
} AlgoArg;

typedef struct AlgoChoice {
	const Algo *algo;
	int64_t param[ALGO_PARAMS];
	int call; /* of the Dag, that it computes */
} AlgoChoice;

/*
 * Reads the arguments and finds the one call that the algorithm takes. ERR_MISSING: there is no such
 * algorithm; ERR_ILLEGAL: an argument is wrong, or no call fits, or several do.
 */
bool algo_choose(const Dag *d, const char *name, const AlgoArg *arg, int n, AlgoChoice *out, Err *err);

/* op_naive's set (NAIVE_AS_TYPED), but with the chosen call computed by the algorithm. */
KernelSet *op_compute(Ir *ir, const Dag *d, const char *name, const AlgoChoice *choice, Err *err);

#endif
