/*
 * Lowering: the loop language down to what an emitter takes, as the array of passes of a back end. After every
 * pass the set is legal IR that means the same. Tests verify and interpret the set there, `dlc show
 * --stage=lowered` prints it at the end, and bench/kernel.c stops the clock between passes.
 *
 * After the passes of CPUs these statements are left: serial loops, ifs, stores, lets, atomics, barriers, allocs, and
 * calls of sub Fns that pass whole buffers. Where threads divide the work, one loop over the threads of the team is
 * outermost (bound to grid.x, 0..threads). Buffers have one dimension. `threads` is a symbol added to every run Fn,
 * which the ABI fills in.
 */
#ifndef CODEGEN_LOWER_H
#define CODEGEN_LOWER_H

#include "base/map.h"
#include "codegen/codegen.h"

/* The symbol's name: how many threads the team has. The loop variable's: which of them this is. */
#define LOWER_THREADS "dlc.threads"
#define LOWER_THREAD "dlc.thread"

/* A sub Fn that stays a function of its own (codegen/lower/shared_calls.c). */
typedef struct LowerShared {
	Fn *fn;
	IndexMap *map; /* where the callers' buffer lies, for each buffer parameter */
} LowerShared;

/* A kernel that a device starts by itself, which the pass `kernels` cuts from a run or prepare Fn. */
typedef struct LowerKernel {
	Fn *fn;
	uint32_t nbuf; /* buffers of the Fn that it is cut from; those behind them lie in DlcCall.work */
	uint32_t rest; /* kernels of the same Fn behind it */
	DlcLaunch launch;
} LowerKernel;

/* What passes work on. */
typedef struct Lower {
	Ir *ir;
	Arena *arena;
	KernelSet *ks; /* of an Ir of its own */
	Fn *fn;        /* the one at work; NULL where a pass begins the whole of a set without Fns */
	LowerShared *shared;
	int nshared;
	VEC(LowerKernel) kernel; /* none where every run and prepare Fn is one, entered by a team */
	Map *bufs; /* lower_bufs(), for passes that rewrite lists, during which the Fn is in pieces */
	const Target *target;
	CodegenOptions options;
	int64_t weight; /* Module's */
	Err *err;
} Lower;

typedef enum { PASS_EACH_FN, PASS_WHOLE_SET } PassScope;

/* A row of codegen/lower/pass.def. `needs` and `breaks` are for readers. */
typedef struct Pass {
	const char *name, *needs, *breaks;
	bool (*run)(Lower *l);
	PassScope scope;
} Pass;

/* Called with "input" first, then after each pass; false (err filled in) stops the lowering. */
typedef bool (*LowerHook)(const char *pass, const KernelSet *ks, void *arg, Err *err);

/*
 * Lowers a copy of the set, which lives in `a` with an Ir of its own; *out has only those sub Fns that
 * are functions of their own. The names it gives depend on the text of `ks` alone. o and hook may be NULL.
 */
bool codegen_lower(Arena *a, const KernelSet *ks, const Target *t, const CodegenOptions *o, LowerHook hook, void *arg,
	KernelSet **out, Err *err);
/* The same with all that the passes leave in *out. */
bool codegen_lower_all(Arena *a, const KernelSet *ks, const Target *t, const CodegenOptions *o, LowerHook hook,
	void *arg, Lower *out, Err *err);

#endif
