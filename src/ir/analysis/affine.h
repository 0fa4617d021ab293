/*
 * Linear forms k + sum coef * a [* b] over opaque integer expressions, and what is proved with them. A form is
 * computed in the ring of its type (sums wrap), so it always has the value of its expression modulo 2^bits. A form is
 * "exact" where its exact value lies within the type for all values of its terms. Then form and expression are equal
 * as integers, however parts may wrap. Inside of the room: what intervals, facts, proofs, rules and regions share.
 */
#ifndef IR_ANALYSIS_AFFINE_H
#define IR_ANALYSIS_AFFINE_H

#include "ir/analysis/bounds.h"

__extension__ typedef __int128 wide;

typedef struct Wide {
	wide lo, hi;
} Wide;

enum { AFFINE_TERMS = 16, INTERVAL_CACHE = 64 };
/* A comparison gives itself and a range: a tensor of eight dimensions, padded on both sides of each, needs 32. */
enum { FACTS = 32 };
/* An expression deeper than this is opaque: nothing recurses into it. */
enum { IR_DEEPEST = 500 };
/* An end of a sum that is farther out is none; sums of such stay within 128 bits. */
#define AFFINE_FAR ((wide)1 << 100)

/* coef * a * b; b == NULL: coef * a. */
typedef struct Term {
	int64_t coef;
	const Expr *a, *b;
} Term;

typedef struct Affine {
	DType type; /* scalar */
	int n;
	int64_t k; /* it and the coefficients are signed, whatever the type is */
	Term t[AFFINE_TERMS];
} Affine;

/* Remembers intervals by (expression, chain); forgets at will. All zero at first. */
typedef struct IntervalCache {
	const Expr *e[INTERVAL_CACHE];
	const Range *env[INTERVAL_CACHE];
	Interval value[INTERVAL_CACHE];
} IntervalCache;

/* The facts of one condition, as ir_range_if but living in this struct: keep it while in use. */
typedef struct Facts {
	int n;
	Range at[FACTS];
} Facts;

Interval ir_interval_cached(const Expr *e, const Range *env, IntervalCache *cache);
Wide ir_widen(Interval v, DType t); /* undoes the saturation of u64 */
void ir_type_range(DType t, wide *lo, wide *hi);
int64_t ir_gcd(int64_t a, int64_t b); /* of the magnitudes */
int64_t ir_floor_div(int64_t a, int64_t b); /* b != 0, not INT64_MIN / -1 */
int64_t ir_floor_mod(int64_t a, int64_t b);
wide ir_floor_wide(wide a, wide b);
bool ir_fits(wide v, DType t); /* v is a value of the type */
Wide ir_atom_bounds(const Expr *e, const Range *env, IntervalCache *cache); /* its interval */
const Range *ir_range_find(const Range *env, const char *name);
/* env itself if nothing was learned. A vector condition says nothing. */
const Range *ir_facts_if(Facts *f, const Expr *cond, bool holds, const Range *env);

/* The term that stands for the number of the lane, where e is a vector. */
extern const Expr ir_affine_lane;

/* False if e is no integer or has too many terms. Products of terms stay opaque. */
bool ir_affine_of(const Expr *e, Affine *f);
/* The same with products multiplied out, up to two factors a term; only to reason with. */
bool ir_affine_expand(const Expr *e, Affine *f);
bool ir_affine_add(
	Affine *f, const Affine *g, int64_t times); /* exact; false: overflow, too long */
bool ir_affine_add_term(Affine *f, int64_t coef, const Expr *a, const Expr *b);
void ir_affine_drop(Affine *f, int i); /* term i; the order of the others stays */
bool ir_affine_is_linear(const Affine *f); /* no products */
Wide ir_affine_bounds(const Affine *f, const Range *env, IntervalCache *cache);
/* True if the form is exact under env. */
bool ir_affine_exact(const Affine *f, const Range *env, IntervalCache *cache);
/* The expanded form of e; of b - a - gap; false if they are not exact. */
bool ir_affine_exact_of(const Expr *e, const Range *env, IntervalCache *cache, Affine *f);
bool ir_affine_difference(
	const Expr *a, const Expr *b, int gap, const Range *env, IntervalCache *cache, Affine *f);
/* Exact forms f with f >= 0 that cond (or its opposite) gives; 0 to 2 of them. */
int ir_affine_facts(
	const Expr *cond, bool holds, const Range *env, IntervalCache *cache, Affine f[2]);
/* a + gap <= b for all values, gap 0 or 1; integers. */
bool ir_is_ordered(const Expr *a, const Expr *b, int gap, const Range *env, IntervalCache *cache);
bool ir_always_cached(const Expr *cond, const Range *env, IntervalCache *cache);
bool ir_never_cached(const Expr *cond, const Range *env, IntervalCache *cache);

#endif
