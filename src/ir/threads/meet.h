/*
 * Whether two threads of a block meet at an element: what barriers and private buffers are decided by. An answer is
 * "no" only where it is proved; the effort is bounded.
 */
#ifndef IR_THREADS_MEET_H
#define IR_THREADS_MEET_H

#include "ir/threads/form.h"

#include "base/map.h"
#include "ir/analysis/bounds.h"

/* One place of the text that accesses a buffer, in terms of the loops around it and of the Fn's symbols. */
typedef struct ThreadAccess {
	const char *buf;
	const Stmt *stmt, *block; /* the innermost block around; NULL: none */
	uint32_t number;   /* the caller's */
	bool write;
	bool anywhere;     /* nothing is known of its indices, as in a window */
	bool by_all;       /* all threads of the block make this access */
	bool warp;         /* all lanes of a warp do it, since the statement uses a fragment */
	int n, nloop;
	const Expr **idx;  /* NULL: not known */
	const Expr *slot;  /* elements share a place only if they have the same remainder of this; NULL: they share none */
	const Stmt **loop; /* outermost first */
	const Expr **lo;   /* of these loops, as idx */
	const Expr **hi;
	const Range *env;  /* facts of these loops */
} ThreadAccess;

typedef struct ThreadAccesses {
	Arena *arena;
	VEC(ThreadAccess) at;
} ThreadAccesses;

/*
 * What was found out in one Ir, which stays true when its Fns change: a step of a schedule changes few of the accesses.
 * Equal facts are one chain, so that they can be looked up.
 */
typedef struct ThreadFacts {
	Map env;   /* of the facts around, a variable and its ends: the facts in the loop */
	Map index; /* of facts and an expression: that, simplified */
	Map form;  /* of all that tells whom an access meets: its number */
	Map meet;  /* of two forms and what they have in common: 1 no, 2 yes */
} ThreadFacts;

void ir_thread_facts(ThreadFacts *f, Arena *a);

/* Adds all accesses of statement s of fn, its siblings not included; shallow: those of s itself alone, not below it. */
void ir_thread_accesses(Ir *ir, ThreadFacts *facts, const KernelSet *ks, const Fn *fn, const Stmt *s, bool shallow,
	ThreadAccesses *out);

/* Results about one Fn, for as long as the Fn does not change. */
typedef struct ThreadMemo {
	Ir *ir;
	Arena *arena;
	ThreadFacts *facts;
	Map value; /* of an expression and the threads of each axis: its values for each thread, int64_t[] */
} ThreadMemo;

/*
 * Whether two threads may meet at an element of the buffer that a and b access, one of them writing, where the first
 * `common` loops around both are in the same iteration and all others in any.
 */
bool ir_threads_may_meet(ThreadMemo *memo, const ThreadAccess *a, const ThreadAccess *b, int common);

#endif
