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
	bool everybodys;   /* all threads of the block do it */
	bool warp;         /* all lanes of a warp do it, since the statement uses a fragment */
	int n, nloop;
	const Expr **idx;  /* NULL: not known */
	const Stmt **loop; /* outermost first */
	const Expr **lo;   /* of these loops, as idx */
	const Expr **hi;
	const Range *env;  /* facts of these loops */
} ThreadAccess;

typedef struct ThreadAccesses {
	Arena *arena;
	VEC(ThreadAccess) at;
} ThreadAccesses;

/* Adds all accesses of statement s of fn, its siblings not included; shallow: those of s itself alone, not below it. */
void ir_thread_accesses(Ir *ir, const KernelSet *ks, const Fn *fn, const Stmt *s, bool shallow, ThreadAccesses *out);

/* What was found out about a Fn that nobody changes meanwhile. */
typedef struct ThreadMemo {
	Ir *ir;
	Arena *arena;
	Map value; /* of an expression: its values for each thread, int64_t[] */
} ThreadMemo;

/*
 * Whether two threads may meet at an element of the buffer that a and b access, one of them writing, where the first
 * `common` loops around both are in the same iteration and all others in any.
 */
bool ir_threads_may_meet(ThreadMemo *memo, const ThreadAccess *a, const ThreadAccess *b, int common);

#endif
