/*
 * Several pieces of code as one. The lists of statements are alike but for the names that they declare and for
 * integers. These integers become scalars with a value for each list.
 */
#ifndef SCHEDULE_UNIFY_H
#define SCHEDULE_UNIFY_H

#include "schedule/trace.h"

enum { UNIFY_SCALARS = 64 };

typedef struct Unify {
	Ir *ir;
	const Fn *fn;     /* new names are free in it */
	const char *stem; /* of the scalars' names: stem.1, stem.2, .. */
	int n;            /* lists */
	const char *why, *what; /* the first difference; NULL: none yet */
	VEC(const char *) inside;   /* loops, iterators, lets that the first list declares */
	VEC(const char *) declared; /* these and allocs */
	int nscalar;
	const char *scalar[UNIFY_SCALARS];
	const Expr *value[UNIFY_SCALARS][STEP_ARGS];
} Unify;

/*
 * Makes code[0] say what each of them does, given the scalars' values; the others are spoiled, so these are
 * copies. What it may hold: loops, blocks, conditions, stores, reductions, lets, allocs. False, and
 * u->why and u->what, where they are not alike.
 */
bool unify(Unify *u, Stmt *const *code);
/* Whether the first list declares a variable, or anything, of that name. */
bool unify_is_inside(const Unify *u, const char *name);
bool unify_is_declared(const Unify *u, const char *name);

#endif
