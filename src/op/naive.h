/*
 * Inside the room: the functions that builders of naive Fns share. A builder turns one call into one or more nests. A
 * nest is loops named after axes around one block. Its iterators are named after the loops with a "v".
 */
#ifndef OP_NAIVE_H
#define OP_NAIVE_H

#include "op/names.h"
#include "op/shape.h"

typedef struct Naive {
	Ir *ir;
	KernelSet *set; /* fn is added to it; algorithms put prepare Fns before fn */
	const Dag *d;
	Fn *fn;
	NaiveKind kind;
	Names *names; /* of loops, iterators and buffers */
	Names *blocks;
	Buf **buf;  /* of each value that a call has read or written */
	Stmt *last; /* of the Fn's body */
	const OpCall *c;
	const char *block; /* the call's own block name; further ones are this and ".what" */
} Naive;

enum { NEST_MAX = 2 * DAG_MAX_RANK + 2 };

typedef struct Nest {
	Naive *nv;
	int n, outer; /* iterators; the first `outer` of them have their loops outside of the nest */
	const char *loop[NEST_MAX];
	Iter iter[NEST_MAX];
	int64_t extent[NEST_MAX];
} Nest;

/* Adds a loop of `extent` iterations inside those added before; returns the block's iterator. */
const Expr *nest_axis(Nest *nest, const char *stem, IterKind kind, int64_t extent);
/*
 * A serial loop around several nests, which are closed between begin and end. Each nest takes the loop as its first
 * axis with nest_outer: a block's instances come in the order of that loop.
 */
typedef struct Outer {
	const char *loop;
	Stmt *body, *last; /* of the Fn before the loop */
} Outer;
Outer naive_begin_loop(Naive *nv, const char *stem);
void naive_end_loop(Naive *nv, const Outer *o, int64_t extent);
const Expr *nest_outer(Nest *nest, const char *loop, int64_t extent);
/* One spatial axis per dimension of the shape, named as tensors of that rank usually are. */
void nest_shape(Nest *nest, Shape s, const Expr **idx);
/*
 * Appends the nest to the Fn; block is "conv" or, with `what`, "conv.what". init may be NULL.
 * Reductions over nothing leave what init stores.
 */
void nest_close(Nest *nest, const char *what, Stmt *init, Stmt *body);
/* "n", "c", "h", "w": the k-th dimension of so many. */
const char *axis_name(int rank, int k);

/* The type elementwise formulas compute in: f32 for f16 and bf16, f64 under NAIVE_F64. */
DType naive_type(const Naive *nv, DType t);
/* The accumulator of sums: as above for floats; i32 for small integers, i64 and u64 as they are. */
DType naive_acc(const Naive *nv, DType t);

const Value *naive_in(const Naive *nv, int k); /* NULL: absent */
const Value *naive_out(const Naive *nv, int k);
Buf *naive_buf(const Naive *nv, int value);
/* A further work buffer of the call, "v3.acc". */
Buf *naive_work(Naive *nv, const char *what, DType t, Shape s);

/* Input k is a parameter of the Fn no longer, if this call alone reads it: a prepare Fn does instead. */
void naive_drop_const(Naive *nv, int k);

/* Element idx of input k, in type t. */
const Expr *naive_load(Naive *nv, int k, const Expr *const *idx, DType t);
/* The same where idx indexes result 0, of `rank` dimensions, to which input k is broadcast. */
const Expr *naive_load_broadcast(Naive *nv, int k, const Expr *const *idx, int rank, DType t);
Stmt *naive_store(Naive *nv, Buf *b, const Expr *const *idx, const Expr *value);
/* The cast that a formula means: to bool it is "not zero". */
const Expr *naive_cast(Naive *nv, DType t, const Expr *e);
/* a / b; integers towards zero; a zero divisor gives 0 instead of a trap. */
const Expr *naive_div(Naive *nv, const Expr *a, const Expr *b);

/* The neutral element of max: -inf or the least integer; with `least` false that of min. */
const Expr *naive_extreme(Naive *nv, DType t, bool least);

/* The condition 0 <= at < n (and `also`). NULL: it always holds, since the range [lo, hi] of `at` shows so. */
const Expr *naive_inside(Naive *nv, const Expr *at, int64_t lo, int64_t hi, int64_t n, const Expr *also);

void naive_elementwise(Naive *nv);
void naive_conv(Naive *nv);
void naive_conv_transpose(Naive *nv);
void naive_max_pool_place(Naive *nv);
void naive_pool(Naive *nv);
void naive_fold(Naive *nv);
void naive_lrn(Naive *nv);
void naive_dense(Naive *nv);
void naive_det(Naive *nv);
void naive_suppress(Naive *nv);
void naive_matmul(Naive *nv);
void naive_softmax(Naive *nv);
void naive_reduce(Naive *nv);
void naive_arg(Naive *nv);
void naive_scan(Naive *nv);
void naive_top_k(Naive *nv);
void naive_pow(Naive *nv);
void naive_move(Naive *nv);
void naive_gather(Naive *nv);
void naive_scatter(Naive *nv);
void naive_attention(Naive *nv);
void naive_linear_attention(Naive *nv);
void naive_recurrent(Naive *nv);
void naive_resample(Naive *nv);

#endif
