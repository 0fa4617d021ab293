/*
 * What it takes to move a producer. A producer is a block, alone in its loops, that makes a whole buffer, each
 * element at the place its spatial iterators say. What it reads must not change behind it. Facts only; the primitives
 * (prim/compute_at.c, prim/inline.c, prim/absorb.c) do the moving.
 */
#ifndef SCHEDULE_PRODUCER_H
#define SCHEDULE_PRODUCER_H

#include "schedule/accesses.h"

/* Elements of a copy, at most. It is that large only until compute_at makes it what one iteration needs. */
#define PRODUCER_COPY ((int64_t)1 << 32)

/* A block that makes all of one buffer, and the loops that hold nothing but it. */
typedef struct Producer {
	BlockPlace at;
	Stmt **top; /* the link to the outermost of those loops, or to the block */
	const Buf *buf;
	Stmt **alloc;   /* the link to the buffer's alloc; NULL: a parameter */
	int iter_of[IR_MAX_RANK]; /* dimension k is indexed by this iterator of the block; -1: by constants */
	bool fixed; /* there is such a dimension: an instance makes several elements */
	bool steps; /* its scan iterators are loops around, each step of which makes the buffer anew */
} Producer;

/* for each element: to[i, j, ..] = from[i, j, ..], in loops of these names over a block of that name. */
Stmt *producer_copy_nest(Ir *ir, const char *block, const Buf *from, const Buf *to, const char *const *loop);
/* What hi - lo is at most; its effort grows with the mins and maxes in them. */
int64_t producer_most(Ir *ir, const Expr *hi, const Expr *lo, const Range *env);

/*
 * select(p, T(x), c) equals T(select(p, x, c')), where c' is c in the type of x. Returns the inner select, for selects
 * of any depth. NULL: e casts no values of that type.
 */
const Expr *producer_narrow(Ir *ir, const Expr *e, DType type);

/* Iterators are named after loops: "h" of "vh". */
const char *producer_stem(const Iter *it);

bool producer_is_param(const Fn *fn, const char *buf);
/* A block that alone makes all of a buffer, or a refusal of primitive `what`. */
bool producer_find_maker(Sched *s, const char *what, const char *block, Producer *p);
/* The same of a work buffer that nobody outside of the Fn sees. */
bool producer_find(Sched *s, const char *what, const char *block, Producer *p);
/* The same, also of a block that is in a scan. */
bool producer_find_step(Sched *s, const char *what, const char *block, Producer *p);
/* What the block reads is not written behind it, or a refusal. */
bool producer_inputs_stay(Sched *s, const char *what, const char *block, const Producer *p);
/* The buffer's declaration goes, as a parameter or as an alloc. */
void producer_drop_buffer(Producer *p);

#endif
