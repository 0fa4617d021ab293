/*
 * For ir/region alone: the ends of an index, free of the names that a statement binds itself.
 * A walk down from the statement keeps an Inside; all of it lives in the Ir's arena.
 */
#ifndef IR_REGION_HULL_H
#define IR_REGION_HULL_H

#include "ir/analysis/bounds.h"

/* A name bound inside of the statement, innermost first: a value, or (value == NULL) a loop. */
typedef struct Bound {
	const struct Bound *outer;
	const char *name;
	const Expr *value;
	const Expr *lo, *hi; /* inclusive, free of lets and iterators; NULL: not known */
	uint32_t names; /* Expr.names of it and those outside of it */
} Bound;

/* A condition that holds (or does not) around the access, free of lets and iterators. */
typedef struct Cond {
	const struct Cond *outer;
	const Expr *cond;
	bool holds;
} Cond;

/* Where the walk stands. */
typedef struct Inside {
	Ir *ir;
	const Range *outer; /* the facts at the statement */
	const Range *env;   /* all facts here */
	const Bound *bound;
	const Cond *cond;
} Inside;

typedef struct Hull {
	const Expr *lo, *hi; /* inclusive; NULL: not known */
} Hull;

/* The bound, in the Ir's arena. */
const Bound *hull_bound(Ir *ir, Bound b);
/* Of an index, all of its lanes. */
Hull hull_of(const Inside *in, const Expr *e);
/* e with lets and iterators replaced by their values. */
const Expr *hull_resolve(const Inside *in, const Expr *e);

#endif
