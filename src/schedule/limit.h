/*
 * How large a schedule may become. A trace comes from anybody, and a few lines of it can ask for more code than any
 * machine compiles. Each cut copies what stands in a loop, each unroll multiplies it. So a set has a size, counted on
 * the set alone, and rows of limit.def bound it after each step. The same trace is refused at the same step
 * everywhere, however fast the machine is.
 */
#ifndef SCHEDULE_LIMIT_H
#define SCHEDULE_LIMIT_H

#include "ir/ir.h"

typedef enum {
#define LIMIT(name, most, unit, reason) LIMIT_##name,
#include "schedule/limit.def"
#undef LIMIT
	LIMIT_COUNT
} Limit;

typedef struct LimitRow {
	const char *name;
	int64_t most;
	const char *unit, *reason;
} LimitRow;
const LimitRow *limit_row(Limit l);

/* Of statements: their number, the nodes of their expressions as text, and both in what code generation makes of
   them: in each copy of an unrolled loop, in each register of a vector loop, at each call of a sub Fn. */
typedef struct LimitSize {
	int64_t statements, nodes, code;
} LimitSize;

/* All of the set's Fns. Costs a walk. */
LimitSize limit_size(const KernelSet *ks);
/* What the loop contributes to that where it stands, in loops around[0 .. n). */
LimitSize limit_size_at(const KernelSet *ks, const Stmt *loop, Stmt *const *around, int n);
/* How often code generation writes out what stands in a loop of that kind: 1, or the iterations of an unrolled
   loop, or the registers of a vector loop. */
int64_t limit_copies(const Stmt *loop, LoopKind kind);

/* What a replay has cost so far: the sum of the set's sizes before each step, and bytes of the Ir's arena. */
typedef struct LimitCost {
	int64_t steps, work, memory;
	LimitSize size; /* of the set behind the last step; not known before the first one */
} LimitCost;

/* Refuses at the first row that is exceeded: ERR_ILLEGAL, with the row's number. `then` is the size that a step
   asks for or has made, `now` that before: what is too large already may stay as it is, as a Task may be. */
bool limit_check(LimitSize now, LimitSize then, const char *place, const char *step, Err *err);
bool limit_check_cost(const LimitCost *cost, const char *place, const char *step, Err *err);

#endif
