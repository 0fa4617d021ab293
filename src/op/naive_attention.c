/*
 * Attention: the scores of queries and keys, what scale, cap, mask and causality make of them, and a softmax whose
 * division stands behind the product with the values: it is done once for each element of the result.
 *
 * Linear attention: a matrix S[dk,dv] for each head, to which each step adds an outer product of its key and value and
 * from which its query reads. One serial loop over the steps holds up to four nests: S decays, the value that S has
 * for the key is taken off (the delta rule), S is written, S is read. S stays where it is.
 */
#include "op/naive.h"

#include <math.h>

/* Softmax attention; idx of a nest: batch, head, query, then key or element. */
typedef struct Heads {
	Naive *nv;
	DType t;
	int64_t batch, heads, group, queries, keys, size, depth; /* group: heads that share keys and values */
} Heads;

/* Inputs of both operators, of attention, of linear attention. */
enum { IN_Q, IN_K, IN_V, IN_MASK = 3, IN_STATE = 3, IN_DECAY, IN_BETA };

/* A nest over batches, heads and queries, and over `last` in the fourth place. */
static Nest head_nest(const Heads *a, const Expr **idx, const char *last, IterKind kind, int64_t extent)
{
	Nest nest = { .nv = a->nv };
	idx[0] = nest_axis(&nest, "b", ITER_SPATIAL, a->batch);
	idx[1] = nest_axis(&nest, "h", ITER_SPATIAL, a->heads);
	idx[2] = nest_axis(&nest, "m", ITER_SPATIAL, a->queries);
	if (last != NULL)
		idx[3] = nest_axis(&nest, last, kind, extent);
	return nest;
}

/* Element [row, column] of the keys or values for a head of queries. */
static const Expr *of_shared(const Heads *a, int in, const Expr *const *idx, const Expr *row, const Expr *column)
{
	Ir *ir = a->nv->ir;
	const Expr *head = a->group == 1 ? idx[1] : ir_div(ir, idx[1], ir_int(ir, a->group));
	return naive_load(a->nv, in, (const Expr *[]){ idx[0], head, row, column }, a->t);
}

static void score_nest(const Heads *a, Buf *scores)
{
	Ir *ir = a->nv->ir;
	const Expr *idx[4];
	Nest nest = head_nest(a, idx, "n", ITER_SPATIAL, a->keys);
	const Expr *d = nest_axis(&nest, "d", ITER_REDUCE, a->size);
	const Expr *q = naive_load(a->nv, IN_Q, (const Expr *[]){ idx[0], idx[1], idx[2], d }, a->t);
	nest_close(&nest, "scores", naive_store(a->nv, scores, idx, ir_const(ir, a->t, 0)),
		ir_reduce(ir, "sum", scores, idx, 4, ir_mul(ir, q, of_shared(a, IN_K, idx, idx[3], d))));
}

static const Expr *of_mask(const Heads *a, const Expr *const *idx)
{
	const Value *mask = naive_in(a->nv, IN_MASK);
	const int64_t scores[] = { a->batch, a->heads, a->queries, a->keys };
	const Expr *at[4];
	int lead = 4 - mask->shape.rank;
	for (int k = lead; k < 4; k++)
		at[k - lead] = mask->shape.dim[k - lead] == 1 && scores[k] != 1 ? ir_int(a->nv->ir, 0) : idx[k];
	return naive_load(a->nv, IN_MASK, at, mask->type.kind == DT_BOOL ? mask->type : a->t);
}

/* Whether the query sees the key; NULL: each one does. */
static const Expr *is_seen(const Heads *a, const Expr *const *idx)
{
	Ir *ir = a->nv->ir;
	if (op_int(a->nv->c, "causal") == 0)
		return NULL;
	return ir_le(ir, idx[3], ir_add(ir, idx[2], ir_int(ir, op_int(a->nv->c, "past"))));
}

/* What the softmax reads: scaled, capped and masked scores. */
static void mask_nest(const Heads *a, Buf *scores, Buf *masked)
{
	Naive *nv = a->nv;
	Ir *ir = nv->ir;
	const Expr *idx[4];
	Nest nest = head_nest(a, idx, "n", ITER_SPATIAL, a->keys);
	const Expr *v = ir_load(ir, scores, idx, 4), *none = ir_const_float(ir, a->t, -INFINITY);
	double scale = op_float(nv->c, "scale"), cap = op_float(nv->c, "cap");
	if (cap > 0) {
		const Expr *bound = ir_const_float(ir, a->t, cap);
		v = ir_mul(ir, v, ir_const_float(ir, a->t, scale / cap));
		v = ir_mul(ir, bound, ir_unary(ir, IR_TANH, v));
	} else {
		v = ir_mul(ir, v, ir_const_float(ir, a->t, scale));
	}
	if (naive_in(nv, IN_MASK) != NULL) {
		const Expr *mask = of_mask(a, idx);
		v = mask->type.kind == DT_BOOL ? ir_select(ir, mask, v, none) : ir_add(ir, v, mask);
	}
	const Expr *seen = is_seen(a, idx);
	if (seen != NULL) { /* a bound: no access depends on the condition */
		v = ir_min(ir, v, ir_select(ir, seen, ir_const_float(ir, a->t, INFINITY), none));
	}
	nest_close(&nest, "masked", NULL, naive_store(nv, masked, idx, v));
}

/* A value of each query: the maximum or the sum of `from` over the keys. */
static Buf *row_nest(const Heads *a, const char *monoid, const Buf *from, const Expr *start)
{
	Naive *nv = a->nv;
	Buf *b = naive_work(nv, monoid, a->t, shape_of(3, (int64_t[]){ a->batch, a->heads, a->queries }));
	const Expr *idx[4];
	Nest nest = head_nest(a, idx, "n", ITER_REDUCE, a->keys);
	nest_close(&nest, monoid, naive_store(nv, b, idx, start),
		ir_reduce(nv->ir, monoid, b, idx, 3, ir_load(nv->ir, from, idx, 4)));
	return b;
}

void naive_attention(Naive *nv)
{
	Ir *ir = nv->ir;
	const int64_t *q = naive_in(nv, IN_Q)->shape.dim, *v = naive_in(nv, IN_V)->shape.dim;
	Heads a = { nv, naive_type(nv, naive_out(nv, 0)->type), q[0], q[1], q[1] / v[1], q[2], v[2], q[3], v[3] };
	Shape scores = shape_of(4, (int64_t[]){ a.batch, a.heads, a.queries, a.keys }), y = naive_out(nv, 0)->shape;
	Buf *s = naive_work(nv, "scores", a.t, scores), *masked = naive_work(nv, "masked", a.t, scores);
	const Expr *idx[4], *zero = ir_const(ir, a.t, 0);
	score_nest(&a, s);
	mask_nest(&a, s, masked);
	Buf *max = row_nest(&a, "max", masked, naive_extreme(nv, a.t, true)), *e = naive_work(nv, "exp", a.t, scores);
	Nest above = head_nest(&a, idx, "n", ITER_SPATIAL, a.keys);
	const Expr *x = ir_unary(ir, IR_EXP, ir_sub(ir, ir_load(ir, masked, idx, 4), ir_load(ir, max, idx, 3)));
	const Expr *seen = is_seen(&a, idx); /* exp(-inf) is 0, but `trim` looks for the number */
	nest_close(&above, "exp", NULL, naive_store(nv, e, idx, seen != NULL ? ir_select(ir, seen, x, zero) : x));
	Buf *sum = row_nest(&a, "sum", e, zero), *acc = naive_work(nv, "acc", a.t, y);
	Nest product = head_nest(&a, idx, "e", ITER_SPATIAL, a.depth);
	const Expr *n = nest_axis(&product, "n", ITER_REDUCE, a.keys);
	const Expr *weight = ir_load(ir, e, (const Expr *[]){ idx[0], idx[1], idx[2], n }, 4);
	nest_close(&product, "values", naive_store(nv, acc, idx, zero),
		ir_reduce(ir, "sum", acc, idx, 4, ir_mul(ir, weight, of_shared(&a, IN_V, idx, n, idx[3]))));
	Nest last = head_nest(&a, idx, "e", ITER_SPATIAL, a.depth);
	const Expr *total = ir_load(ir, sum, idx, 3);
	x = ir_div(ir, ir_load(ir, acc, idx, 4), total);
	int64_t zeros = op_int(nv->c, "zeros");
	const Expr *least = ir_binary(ir, IR_EQ, ir_load(ir, max, idx, 3), naive_extreme(nv, a.t, true));
	if (zeros != ZEROS_NONE)
		x = ir_select(ir, zeros == ZEROS_NAN ? ir_unary(ir, IR_ISNAN, total) : least, zero, x);
	nest_close(&last, NULL, NULL, naive_store(nv, naive_buf(nv, nv->c->out[0]), idx, x));
}

typedef struct States {
	Naive *nv;
	DType t; /* computed in */
	int64_t batch, steps, heads, shared, size, depth;
	const char *loop;
	Buf *s;
} States;

/* A nest of a step over sequences, heads and values: at[0] the step, [1] the sequence, [2] the head, [3] the value. */
static Nest step_nest(const States *k, int64_t heads, const Expr **at)
{
	Nest nest = { .nv = k->nv };
	at[0] = nest_outer(&nest, k->loop, k->steps);
	at[1] = nest_axis(&nest, "n", ITER_SPATIAL, k->batch);
	at[2] = nest_axis(&nest, "h", ITER_SPATIAL, heads);
	at[3] = NULL;
	return nest;
}

/* Element i of input `in` at this step, sequence and head. */
static const Expr *element(const States *k, int in, const Expr *const *at, const Expr *i)
{
	const Expr *idx[] = { at[1], at[0], at[2], i };
	return naive_load(k->nv, in, idx, k->t);
}

static const Expr *state(const States *k, const Expr *const *at, const Expr *head, const Expr *i)
{
	const Expr *idx[] = { at[1], head, i, at[3] };
	return ir_load(k->nv->ir, k->s, idx, 4);
}

static void store_state(const States *k, Nest *nest, const char *what, const Expr *const *at, const Expr *i,
	const Expr *value)
{
	const Expr *idx[] = { at[1], at[2], i, at[3] };
	nest_close(nest, what, NULL, naive_store(k->nv, k->s, idx, value));
}

static void decay_nest(const States *k)
{
	const Expr *at[4];
	Nest nest = step_nest(k, k->shared, at);
	const Expr *i = nest_axis(&nest, "i", ITER_SPATIAL, k->size);
	at[3] = nest_axis(&nest, "j", ITER_SPATIAL, k->depth);
	const Expr *v = ir_mul(k->nv->ir, state(k, at, at[2], i), element(k, IN_DECAY, at, i));
	store_state(k, &nest, "decay", at, i, v);
}

/* The value that the state has for the key. */
static Buf *known_nest(const States *k)
{
	Naive *nv = k->nv;
	Ir *ir = nv->ir;
	Buf *b = naive_work(nv, "known", k->t, shape_of(3, (int64_t[]){ k->batch, k->shared, k->depth }));
	const Expr *at[4];
	Nest nest = step_nest(k, k->shared, at);
	at[3] = nest_axis(&nest, "j", ITER_SPATIAL, k->depth);
	const Expr *i = nest_axis(&nest, "i", ITER_REDUCE, k->size);
	const Expr *v = ir_mul(ir, state(k, at, at[2], i), element(k, IN_K, at, i));
	nest_close(
		&nest, "known", naive_store(nv, b, &at[1], ir_const(ir, k->t, 0)), ir_reduce(ir, "sum", b, &at[1], 3, v));
	return b;
}

static void write_nest(const States *k, const Buf *known)
{
	Naive *nv = k->nv;
	Ir *ir = nv->ir;
	const Expr *at[4];
	Nest nest = step_nest(k, k->shared, at);
	const Expr *i = nest_axis(&nest, "i", ITER_SPATIAL, k->size);
	at[3] = nest_axis(&nest, "j", ITER_SPATIAL, k->depth);
	const Expr *v = element(k, IN_V, at, at[3]), *beta_at[] = { at[1], at[0], at[2] };
	if (known != NULL)
		v = ir_mul(ir, naive_load(nv, IN_BETA, beta_at, k->t), ir_sub(ir, v, ir_load(ir, known, &at[1], 3)));
	v = ir_add(ir, state(k, at, at[2], i), ir_mul(ir, element(k, IN_K, at, i), v));
	store_state(k, &nest, "write", at, i, v);
}

static void read_nest(const States *k)
{
	Naive *nv = k->nv;
	Ir *ir = nv->ir;
	Buf *out = naive_buf(nv, nv->c->out[0]);
	Buf *acc = dtype_eq(out->type, k->t) ? out : naive_work(nv, "acc", k->t, naive_out(nv, 0)->shape);
	const Expr *at[4];
	Nest nest = step_nest(k, k->heads, at);
	at[3] = nest_axis(&nest, "j", ITER_SPATIAL, k->depth);
	const Expr *i = nest_axis(&nest, "i", ITER_REDUCE, k->size), *idx[] = { at[1], at[0], at[2], at[3] };
	const Expr *head = ir_div(ir, at[2], ir_int(ir, k->heads / k->shared));
	const Expr *v = ir_mul(ir, element(k, IN_Q, at, i), state(k, at, head, i));
	nest_close(&nest, NULL, naive_store(nv, acc, idx, ir_const(ir, k->t, 0)), ir_reduce(ir, "sum", acc, idx, 4, v));
	if (acc == out)
		return;
	Nest round = step_nest(k, k->heads, at);
	at[3] = nest_axis(&round, "j", ITER_SPATIAL, k->depth);
	const Expr *same[] = { at[1], at[0], at[2], at[3] };
	nest_close(&round, "round", NULL, naive_store(nv, out, same, ir_load(ir, acc, same, 4)));
}

/* Copies the state in or out. */
static void state_nest(const States *k, const char *what, bool in)
{
	Naive *nv = k->nv;
	Ir *ir = nv->ir;
	Nest nest = { .nv = nv };
	const Expr *at[] = { nest_axis(&nest, "n", ITER_SPATIAL, k->batch), nest_axis(&nest, "h", ITER_SPATIAL, k->shared),
		nest_axis(&nest, "i", ITER_SPATIAL, k->size), nest_axis(&nest, "j", ITER_SPATIAL, k->depth) };
	const Expr *v = in ? ir_const(ir, k->t, 0) : ir_load(ir, k->s, at, 4);
	if (in && naive_in(nv, IN_STATE) != NULL)
		v = naive_load(nv, IN_STATE, at, k->t);
	nest_close(&nest, what, NULL, naive_store(nv, in ? k->s : naive_buf(nv, nv->c->out[1]), at, v));
}

void naive_linear_attention(Naive *nv)
{
	const Shape *y = &naive_out(nv, 0)->shape, *s = &naive_out(nv, 1)->shape;
	States k = { .nv = nv, .t = naive_type(nv, naive_out(nv, 0)->type), .batch = y->dim[0], .steps = y->dim[1] };
	k.heads = y->dim[2];
	k.shared = s->dim[1];
	k.size = s->dim[2];
	k.depth = s->dim[3];
	k.s = naive_work(nv, "state", k.t, *s);
	state_nest(&k, "first", true);
	Outer steps = naive_begin_loop(nv, "s");
	k.loop = steps.loop;
	if (naive_in(nv, IN_DECAY) != NULL)
		decay_nest(&k);
	write_nest(&k, naive_in(nv, IN_BETA) != NULL ? known_nest(&k) : NULL);
	read_nest(&k);
	naive_end_loop(nv, &steps, k.steps);
	state_nest(&k, "last", false);
}
