/*
 * Inside the room: the strides of accesses, by evaluating addresses. An access's physical address is evaluated with
 * each loop at its first iteration, then with one loop at its second; the difference is the stride. Names between the
 * loops (iterators, lets, index variables of maps) are numbers or expressions of names before them. Index maps,
 * divisions and remainders need no algebra.
 */
#ifndef COST_MODEL_ADDRESS_H
#define COST_MODEL_ADDRESS_H

#include "ir/threads/form.h"

enum { NEST_LOOPS = 48, NEST_BINDS = 320, NEST_BUFS = 96, NEST_CONDITIONS = 32, NEST_HASHES = 64 };

typedef struct NestLoop {
	const char *var;
	int64_t lo, n; /* first value, number of iterations; 1 where the loop does not matter */
	LoopKind kind;
	bool requests; /* its body is a prefetch and nothing else */
	int stages;    /* of a pipelined loop */
	AxisKind axis; /* of a bound loop; along `dim`, 0 to 2 for x to z */
	int dim;
} NestLoop;

/* A name: a number, or the value of an expression. */
typedef struct Bind {
	const char *name;
	const Expr *value; /* NULL: `number` is the value */
	int64_t number;
	uint32_t when; /* CostNest.now when `number` was computed */
	int older;     /* number of the binding before, from 1, whose name has the same hash; 0: there is none */
	uint64_t loops; /* that it depends on, a bit each */
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
	int newest[NEST_HASHES]; /* of each hash of a name: number of the innermost binding, from 1; 0: there is none */
	NestBuf buf[NEST_BUFS];
	uint32_t now;    /* grows when a number changes */
	int nconditions; /* conditions around, which hold */
	Condition condition[NEST_CONDITIONS];
	bool full; /* something did not fit: what follows is guessed */
	bool data_is_zero; /* loads have the value 0 in expressions; else their values are not known */
} CostNest;

void nest_bind(CostNest *n, const char *name, const Expr *value, int64_t number);
void nest_unbind(CostNest *n, int nbind); /* all bindings but the first so many are gone */
int nest_find_bind(const CostNest *n, const char *name); /* the innermost one; < 0: there is none */
const NestBuf *nest_buf(const CostNest *n, const char *name); /* NULL: there is none */
/* Whether e depends on the variable of loop l; the loops of several iterations that e depends on, a bit each. */
bool nest_depends(const CostNest *n, const Expr *e, int l);
uint64_t nest_loops(const CostNest *n, const Expr *e);
/*
 * The ends of a loop. Ends that depend on outer loops are taken at the middle of those, because a first iteration is
 * often special: a ring is filled there, a triangle begins. False: the ends are not known.
 */
bool nest_ends(CostNest *n, const Stmt *loop, int64_t *lo, int64_t *hi);
/*
 * The share of iterations in which the condition holds, among those in which the conditions around it hold. All
 * iterations of the loops that it depends on are tried, or a sample where there are many.
 */
double nest_share(CostNest *n, const Condition *cond);
/* Puts loop l at its iteration k; each function that does so puts it back to the first one. */
void nest_set_loop(CostNest *n, int l, int64_t k);
/* The element of the physical buffer; false: not known. */
bool nest_address(CostNest *n, const Access *a, const Buf *b, int64_t *out);
/* Elements by which the address moves from the first to the second iteration of each loop; false: not known. */
bool nest_strides(CostNest *n, const Access *a, const Buf *b, int64_t stride[NEST_LOOPS]);
/*
 * The stride along loop l of an address that depends on data, but not on data that differ along l: rows at computed
 * places. False: it does, or is not known.
 */
bool nest_stride_in_data(CostNest *n, const Access *a, const Buf *b, int l, int64_t *stride);
/* Elements of the physical buffer, padding included. */
int64_t nest_elements(CostNest *n, const Buf *b);

#endif
