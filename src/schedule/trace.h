/*
 * A schedule is text: a Trace is a list of steps, one per line, "#" comments. Template output,
 * golden tests, records and `dlc-show --apply` are this text. A file may name its task in a first
 * line "task 4f1c2a9". Parsing is bounded: 64 KiB, 4096 steps, 16 arguments a step.
 */
#ifndef SCHEDULE_TRACE_H
#define SCHEDULE_TRACE_H

#include "ir/ir.h"
#include "op/algo.h"
#include "schedule/limit.h"
#include "target/target.h"

typedef enum {
#define PRIM(name, args, makes, kind, law, needs) PRIM_##name,
#include "schedule/prim.def"
#undef PRIM
	PRIM_COUNT
} Prim;

enum { STEP_ARGS = 16, TRACE_NAME = 128 /* bytes of a loop's name */, PREFETCH_LINES = 4096 /* of one request */,
	CACHE_READ_ELEMENTS = 1 << 16 /* of a copy */ };

typedef struct StepArg {
	const char *word; /* a loop's name, or a word of the row; K: the key */
	int64_t num;      /* I, K; else 0 */
} StepArg;

typedef struct Step {
	Prim prim;
	int line; /* in the text, for messages */
	int n, nas;
	StepArg arg[STEP_ARGS];
	const char *as[STEP_ARGS]; /* names of what it makes; nas == 0: derived ones */
} Step;

typedef struct Trace {
	const char *name; /* in messages: the file's */
	const char *task; /* prefix of the task's id, NULL if the text names none */
	VEC(Step) step;
} Trace;

/* What a step changes; prim.def says more. */
typedef enum { PRIM_NEST, PRIM_TILE, PRIM_RUN, PRIM_FNS } PrimKind;

/* "split", its argument string, what it makes, its kind, its law and what it needs. */
typedef struct PrimRow {
	const char *name, *args, *makes;
	PrimKind kind;
	const char *law, *needs;
} PrimRow;
const PrimRow *prim_row(Prim p);

/* NULL and ERR_SYNTAX with the line. `name` stands in messages, those of trace_apply included. */
Trace *trace_parse(Arena *a, const char *name, const char *text, size_t n, Err *err);
void trace_print(Text *out, const Trace *t);
/* The algorithm that the first step of a trace's text chooses; NULL: the operators' own formulas. */
const Algo *trace_algo(const char *text);

/*
 * Rewrites the set step by step. A step that its law refuses fails with ERR_ILLEGAL, the step's
 * line and the reason, and leaves the set as the steps before it made it, legal. `dag` is what the
 * set computes, for steps that choose another algorithm; NULL refuses those.
 */
bool trace_apply(KernelSet *ks, const Trace *t, const Dag *dag, const Target *target, Err *err);
/* The same for who goes step by step: *cost, zeros at first, has what the steps before have cost. */
bool trace_apply_more(KernelSet *ks, const Trace *t, const Dag *dag, const Target *target, LimitCost *cost, Err *err);

#endif
