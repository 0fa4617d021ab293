/*
 * Inside the room: where accesses go, by trying. The loops around a statement and the names defined
 * between them (iterators, lets, the index variables of maps) are numbers or expressions of those
 * before; an access's physical address is evaluated with each loop at its first iteration and then
 * with one loop at its second. So index maps, divisions and remainders need no algebra.
 */
#ifndef COST_MODEL_ADDRESS_H
#define COST_MODEL_ADDRESS_H

#include "ir/ir.h"

enum { NEST_LOOPS = 48, NEST_BINDS = 320, NEST_BUFS = 96, NEST_CONDITIONS = 32 };

typedef struct NestLoop {
	const char *var;
	int64_t lo, n; /* as many iterations; 1 where it does not matter to what is looked at */
	LoopKind kind;
} NestLoop;

/* A name: a number, or the value of an expression. */
typedef struct Bind {
	const char *name;
	const Expr *value; /* NULL: the number stands */
	int64_t number;
	uint32_t when; /* the number is the value's as of then */
} Bind;

typedef struct NestBuf {
	const Buf *buf;
	int depth; /* loops around its alloc; -1: a parameter */
} NestBuf;

/* A condition and the loops with more than one iteration that it depends on, a bit each. */
typedef struct Condition {
	const Expr *cond;
	uint64_t loops;
} Condition;

typedef struct CostNest {
	int nloop, nbind, nbuf;
	NestLoop loop[NEST_LOOPS];
	Bind bind[NEST_BINDS];
	NestBuf buf[NEST_BUFS];
	uint32_t now; /* grows when a number changes */
	int nconditions;   /* conditions around, which hold */
	Condition condition[NEST_CONDITIONS];
	bool full; /* something did not fit: what follows is guessed */
} CostNest;

void nest_bind(CostNest *n, const char *name, const Expr *value, int64_t number);
const NestBuf *nest_buf(const CostNest *n, const char *name); /* NULL: there is none */
/* Whether e depends on the variable of loop `l`; on which of those that have several iterations, a bit each. */
bool nest_depends(const CostNest *n, const Expr *e, int l);
uint64_t nest_loops(const CostNest *n, const Expr *e);
/*
 * The ends of a loop, those that depend on loops around as in the middle of these: their first iteration is
 * often another one (a ring is filled there, a triangle begins). False: not known.
 */
bool nest_ends(CostNest *n, const Stmt *loop, int64_t *lo, int64_t *hi);
/*
 * In which part of those iterations in which the conditions around hold this one does too: tried at all of
 * the loops that it depends on, or at some where they are many.
 */
double nest_share(CostNest *n, const Condition *cond);
/*
 * Elements of the buffer by which the address moves from the first to the second iteration of each loop;
 * false: it cannot be said.
 */
bool nest_strides(CostNest *n, const Access *a, const Buf *b, int64_t stride[NEST_LOOPS]);
/* Of the buffer as it lies, padding included. */
int64_t nest_elements(CostNest *n, const Buf *b);

#endif
