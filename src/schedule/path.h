/*
 * The loops around a reduction, as decompose_init and rfactor need them. Its spatial iterators follow some of them,
 * and a copy of the nest keeps those. The reduction goes through the others.
 */
#ifndef SCHEDULE_PATH_H
#define SCHEDULE_PATH_H

#include "schedule/sched.h"

#include "ir/analysis/bounds.h"

/* The loops from one around a block down to it; those that spatial iterators follow are kept. */
typedef struct Path {
	const char *what; /* the primitive */
	Stmt *block;
	const char *made; /* the name of the block that is made beside it */
	int n;
	Stmt *loop[IR_MAX_DEPTH];
	bool kept[IR_MAX_DEPTH];
} Path;

/* Whether an iterator of that kind depends on the variable. */
bool path_drives(const Stmt *block, IterKind kind, const char *var);
/* Each loop drives spatial or reduce iterators, and only loops stand around the block; or a refusal. */
bool path_find(Sched *s, const char *what, const BlockPlace *b, const Stmt *from, Path *out);
/* "NAME.suffix" */
const char *path_name(Sched *s, const char *name, const char *suffix);
/* Every kept loop and the block may also be called NAME.suffix; or a refusal. */
bool path_may_name(Sched *s, const Path *p, const Fn *fn, const char *suffix);
/* In the first iteration of the reduce loops each reduce iterator has its first value; or a refusal. */
bool path_begins_at_first(Sched *s, const Path *p, const Range *env);

/* e where the kept loops are called NAME.suffix and the others are in their first iteration. */
const Expr *path_at_begin(Sched *s, const Path *p, const Expr *e, const char *suffix);
/* Copies of the kept loops around the statement. */
Stmt *path_kept_loops(Sched *s, const Path *p, Stmt *body, const char *suffix);
/* Fills out with the spatial iterators, in the copied loops; how many they are. */
int path_spatial_iters(Sched *s, const Path *p, const char *suffix, Iter *out);

#endif
