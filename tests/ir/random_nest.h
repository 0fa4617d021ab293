/*
 * Inside of the generator of random kernel sets: its state, and loop nests around one element.
 */
#ifndef TESTS_IR_RANDOM_NEST_H
#define TESTS_IR_RANDOM_NEST_H

#include "ir/random.h"

enum { MAX_LOOPS = 24 };

typedef struct Maker {
	Rng *rng;
	Ir *ir;
	unsigned allow;
	KernelSet *ks;
	Fn *fn;
	VEC(Param) readable; /* symbols, and buffers that hold values */
	int names;
	Stmt *body;
} Maker;

/* A loop nest around what computes one element: loops outermost first, a guard inside of them. */
typedef struct Nest {
	int n;
	Stmt *loop[MAX_LOOPS];
	const Expr *guard; /* NULL: none */
	const Expr *idx[IR_MAX_RANK]; /* of the element */
} Nest;

int rnd_below(Maker *m, int n);
bool rnd_may(Maker *m, unsigned what, int percent); /* allowed, and drawn */
const char *rnd_fresh(Maker *m, const char *stem);
void rnd_emit(Maker *m, Stmt *s); /* behind what the Fn does so far */

const Expr *rnd_extent(Maker *m);
Buf *rnd_buf(Maker *m, const char *stem, BufRole role, DType t, const char *scope, int rank);
void rnd_readable(Maker *m, Buf *b);
/* What a stage computes: an out of the Fn, or something local. */
Buf *rnd_target(Maker *m, bool out, DType t, int rank);
/* Neighbours of sub-byte types lie in one byte: writing them in parallel is a race. */
bool rnd_shares_bytes(DType t);

LoopKind rnd_kind(Maker *m, bool ordered);
/* One more loop in the nest; its variable. */
const Expr *rnd_loop(Maker *m, Nest *nest, const Expr *lo, const Expr *hi, LoopKind kind);
/* Loops that visit 0..n once each, in order if so asked; the index as an expression. */
const Expr *rnd_loops(Maker *m, Nest *nest, const Expr *n, bool ordered);
void rnd_open(Maker *m, Nest *nest, const Buf *b, int dims);
Stmt *rnd_close(Maker *m, const Nest *nest, Stmt *inside);
/* An expression over what is readable and the n index expressions' variables. */
const Expr *rnd_value(Maker *m, DType t, const Expr *const *idx, int n, int depth);

#endif
