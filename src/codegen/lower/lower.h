/*
 * Lowering: the loop language down to what the emitter takes, as one array of passes. After every
 * pass the set is legal IR that means the same: tests verify and interpret it there, dlc-show
 * --stage=lowered prints it, and whoever measures compile time stops the clock between passes.
 *
 * What is left at the end: serial loops and one loop over the threads of the team (bound to grid.x,
 * 0..threads, outermost, where the work is shared), ifs, stores, lets, atomics, barriers, allocs, calls
 * of sub Fns that pass whole buffers, buffers of one dimension. `threads` is a symbol added to every Fn;
 * the ABI fills it in.
 */
#ifndef CODEGEN_LOWER_LOWER_H
#define CODEGEN_LOWER_LOWER_H

#include "codegen/codegen.h"

/* The symbol's name: how many threads the team has. */
#define LOWER_THREADS "dlc.threads"
#define LOWER_THREAD "dlc.thread"

typedef struct Lower Lower; /* codegen/lower/pass.h */

typedef struct LowerPass {
	const char *name, *needs, *breaks;
	bool (*run)(Lower *l);
} LowerPass;
extern const LowerPass lower_passes[]; /* ends with name == NULL */

/* Called with "input" first, then after each pass; false (err filled in) stops the lowering. */
typedef bool (*LowerHook)(const char *pass, const KernelSet *ks, void *arg, Err *err);

/*
 * Lowers a copy of the set, which lives in `a` with an Ir of its own; *out has only those sub Fns that
 * are functions of their own. The names it gives depend on the text of `ks` alone. hook may be NULL.
 */
bool codegen_lower(Arena *a, const KernelSet *ks, const Target *t, const CodegenOptions *o,
	LowerHook hook, void *arg, KernelSet **out, Err *err);

#endif
