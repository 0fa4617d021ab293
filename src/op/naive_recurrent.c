/*
 * Recurrent operators: rnn, gru, lstm. One serial loop over the steps, s, holds the nests of a step: the product of
 * the state with the recurrent weights, then the cell. States of all steps stay in work buffers of S + 1 rows, so no
 * step overwrites what it reads. Step s of a reversed sequence reads x from the sequence's end. A sequence that is over
 * keeps its state, and its results are 0.
 */
#include "op/naive.h"
#include "op/recurrent.h"

typedef struct Cell {
	Naive *nv;
	DType t; /* computed in */
	int64_t steps, batch, size;
	const char *loop; /* over the steps */
	const Value *len;
	int len_at;    /* of the input `len` */
	Buf *h, *c;    /* states, [S + 1,N,H] */
	double clip;
} Cell;

static const Expr *number(const Cell *k, double v)
{
	return ir_const(k->nv->ir, k->t, v);
}

/* Activation `which` of the call's list, f, g or h, of x. */
static const Expr *activate(const Cell *k, int which, const Expr *x)
{
	Ir *ir = k->nv->ir;
	static const char *const alphas[] = { "f_alpha", "g_alpha", "h_alpha" }, *const betas[] = { "f_beta", "g_beta",
		"h_beta" };
	const Expr *alpha = number(k, op_float(k->nv->c, alphas[which])), *zero = number(k, 0), *one = number(k, 1);
	const Expr *beta = number(k, op_float(k->nv->c, betas[which]));
	switch (recurrent_act(k->nv->c, which)) {
	case ACTIVATION_relu: return ir_max(ir, x, zero);
	case ACTIVATION_tanh: return ir_unary(ir, IR_TANH, x);
	case ACTIVATION_sigmoid: return ir_unary(ir, IR_SIGMOID, x);
	case ACTIVATION_affine: return ir_add(ir, ir_mul(ir, alpha, x), beta);
	case ACTIVATION_leaky_relu: return ir_select(ir, ir_lt(ir, x, zero), ir_mul(ir, alpha, x), x);
	case ACTIVATION_thresholded_relu: return ir_select(ir, ir_le(ir, alpha, x), x, zero);
	case ACTIVATION_scaled_tanh: return ir_mul(ir, alpha, ir_unary(ir, IR_TANH, ir_mul(ir, beta, x)));
	case ACTIVATION_hard_sigmoid:
		return ir_min(ir, ir_max(ir, ir_add(ir, ir_mul(ir, alpha, x), beta), zero), one);
	case ACTIVATION_elu: {
		const Expr *below = ir_mul(ir, alpha, ir_sub(ir, ir_unary(ir, IR_EXP, x), one));
		return ir_select(ir, ir_lt(ir, x, zero), below, x);
	}
	case ACTIVATION_softsign: return ir_div(ir, x, ir_add(ir, one, ir_unary(ir, IR_ABS, x)));
	default: { /* softplus, so that exp does not overflow */
		const Expr *small = ir_unary(ir, IR_EXP, ir_sub(ir, zero, ir_unary(ir, IR_ABS, x)));
		return ir_add(ir, ir_max(ir, x, zero), ir_unary(ir, IR_LOG, ir_add(ir, one, small)));
	}
	}
}

/* What a gate's activation reads. */
static const Expr *clipped(const Cell *k, const Expr *x)
{
	if (k->clip == 0)
		return x;
	return ir_max(k->nv->ir, ir_min(k->nv->ir, x, number(k, k->clip)), number(k, -k->clip));
}

/* The number of steps of sequence n. An input outside of 0..S is clamped. */
static const Expr *length(const Cell *k, const Expr *n)
{
	Ir *ir = k->nv->ir;
	if (k->len == NULL)
		return ir_int(ir, k->steps);
	return ir_max(ir, ir_int(ir, 0), ir_min(ir, ir_int(ir, k->steps), naive_load(k->nv, k->len_at, &n, I64)));
}

/* The place in time of step s, or the step of place s: the order is its own inverse. */
static const Expr *place(const Cell *k, const Expr *s, const Expr *n)
{
	Ir *ir = k->nv->ir;
	if (op_int(k->nv->c, "reverse") == 0)
		return s;
	const Expr *at = ir_sub(ir, ir_sub(ir, length(k, n), ir_int(ir, 1)), s);
	return k->len == NULL ? at : ir_max(ir, ir_int(ir, 0), at);
}

/* `value` while sequence n runs at step s, else `other`. */
static const Expr *while_runs(const Cell *k, const Expr *s, const Expr *n, const Expr *value, const Expr *other)
{
	return k->len == NULL ? value : ir_select(k->nv->ir, ir_lt(k->nv->ir, s, length(k, n)), value, other);
}

/* A nest of the loop over the steps; at[0] is the step, at[1] the sequence, at[2] the element of a state. */
static Nest step_nest(const Cell *k, const Expr **at)
{
	Nest nest = { .nv = k->nv };
	at[0] = nest_outer(&nest, k->loop, k->steps);
	at[1] = nest_axis(&nest, "n", ITER_SPATIAL, k->batch);
	at[2] = nest_axis(&nest, "j", ITER_SPATIAL, k->size);
	return nest;
}

/* Element [s + ahead, n, j] of a state. */
static const Expr *state(const Cell *k, const Buf *b, const Expr *const *at, int ahead)
{
	Ir *ir = k->nv->ir;
	const Expr *idx[] = { ir_add(ir, at[0], ir_int(ir, ahead)), at[1], at[2] };
	return ir_load(ir, b, idx, 3);
}

/* The store of element [s + 1, n, j] of a state. */
static Stmt *next_state(const Cell *k, Buf *b, const Expr *const *at, const Expr *v)
{
	Ir *ir = k->nv->ir;
	const Expr *idx[] = { ir_add(ir, at[0], ir_int(ir, 1)), at[1], at[2] };
	return naive_store(k->nv, b, idx, while_runs(k, at[0], at[1], v, state(k, b, at, 0)));
}

/* Column j of gate g of x, at this step. */
static const Expr *input(const Cell *k, const Expr *s, const Expr *n, const Expr *g, const Expr *j)
{
	Ir *ir = k->nv->ir;
	const Expr *column = ir_add(ir, ir_mul(ir, g, ir_int(ir, k->size)), j);
	const Expr *xs[] = { place(k, s, n), n, column };
	return naive_load(k->nv, 0, xs, k->t);
}

/*
 * acc[n,g,j] = start + sum of left[..] * r[i, from + g, j]: `count` gates. The left factor is the state, or `left` of
 * this step. The sums start with x. Gate `biased`, if it is not -1, starts with the bias of gru instead.
 */
static Buf *product(const Cell *k, const char *what, const Buf *left, int from, int count, int biased)
{
	Naive *nv = k->nv;
	Ir *ir = nv->ir;
	Buf *acc = naive_work(nv, what, k->t, shape_of(3, (int64_t[]){ k->batch, count, k->size }));
	Nest nest = { .nv = nv };
	const Expr *at[4] = { nest_outer(&nest, k->loop, k->steps) };
	at[1] = nest_axis(&nest, "n", ITER_SPATIAL, k->batch);
	at[2] = nest_axis(&nest, "g", ITER_SPATIAL, count);
	at[3] = nest_axis(&nest, "j", ITER_SPATIAL, k->size);
	const Expr *i = nest_axis(&nest, "k", ITER_REDUCE, k->size), *g = ir_add(ir, at[2], ir_int(ir, from));
	const Expr *start = input(k, at[0], at[1], g, at[3]);
	if (biased >= 0) {
		const Expr *b = naive_in(nv, 3) != NULL ? naive_load(nv, 3, &at[3], k->t) : number(k, 0);
		start = ir_select(ir, ir_eq(ir, g, ir_int(ir, biased)), b, start);
	}
	const Expr *rs[] = { i, g, at[3] }, *hs[] = { at[0], at[1], i };
	const Expr *factor = left == k->h ? ir_load(ir, left, hs, 3) : ir_load(ir, left, &hs[1], 2);
	const Expr *v = ir_mul(ir, factor, naive_load(nv, 1, rs, k->t));
	nest_close(&nest, what, naive_store(nv, acc, &at[1], start), ir_reduce(ir, "sum", acc, &at[1], 3, v));
	return acc;
}

/* Gate g of a product, as the activation reads it. */
static const Expr *gate(const Cell *k, const Buf *acc, const Expr *const *at, int g)
{
	const Expr *idx[] = { at[1], ir_int(k->nv->ir, g), at[2] };
	return ir_load(k->nv->ir, acc, idx, 3);
}

static void rnn_step(const Cell *k)
{
	Buf *acc = product(k, "sum", k->h, 0, 1, -1);
	const Expr *at[3];
	Nest nest = step_nest(k, at);
	nest_close(&nest, NULL, NULL, next_state(k, k->h, at, activate(k, 0, clipped(k, gate(k, acc, at, 0)))));
}

/* The last nest of gru: z and the candidate, from the sum that g reads; h' = (1 - z) g(..) + z h. */
static void gru_close(const Cell *k, Nest *nest, const Expr *const *at, const Expr *z, const Expr *sum)
{
	Ir *ir = k->nv->ir;
	const Expr *v = ir_mul(ir, ir_sub(ir, number(k, 1), z), activate(k, 1, clipped(k, sum)));
	nest_close(nest, NULL, NULL, next_state(k, k->h, at, ir_add(ir, v, ir_mul(ir, z, state(k, k->h, at, 0)))));
}

/* Gates z, r and the candidate. The reset gate r takes its part of the state before the product, or after it. */
static void gru_step(const Cell *k)
{
	Naive *nv = k->nv;
	Ir *ir = nv->ir;
	const Expr *at[3];
	if (op_int(nv->c, "linear_before_reset") != 0) {
		Buf *acc = product(k, "sum", k->h, 0, 3, 2);
		Nest nest = step_nest(k, at);
		const Expr *x = input(k, at[0], at[1], ir_int(ir, 2), at[2]);
		const Expr *r = activate(k, 0, clipped(k, gate(k, acc, at, 1)));
		const Expr *z = activate(k, 0, clipped(k, gate(k, acc, at, 0)));
		gru_close(k, &nest, at, z, ir_add(ir, x, ir_mul(ir, r, gate(k, acc, at, 2))));
		return;
	}
	Buf *resets = product(k, "resets", k->h, 1, 1, -1);
	Buf *kept = naive_work(nv, "reset", k->t, shape_of(2, (int64_t[]){ k->batch, k->size }));
	Nest nest = step_nest(k, at);
	const Expr *r = activate(k, 0, clipped(k, gate(k, resets, at, 0)));
	nest_close(&nest, "reset", NULL, naive_store(nv, kept, &at[1], ir_mul(ir, r, state(k, k->h, at, 0))));
	Buf *updates = product(k, "updates", k->h, 0, 1, -1), *candidate = product(k, "sum", kept, 2, 1, -1);
	Nest last = step_nest(k, at);
	const Expr *z = activate(k, 0, clipped(k, gate(k, updates, at, 0)));
	gru_close(k, &last, at, z, gate(k, candidate, at, 0));
}

/* The weight of the cell for gate `which` (i, o, f) times the cell, if there are such weights. */
static const Expr *with_cell(const Cell *k, const Expr *const *at, const Expr *sum, int which, int ahead)
{
	Ir *ir = k->nv->ir;
	if (naive_in(k->nv, 4) == NULL)
		return sum;
	const Expr *idx = ir_add(ir, at[2], ir_int(ir, which * k->size));
	return ir_add(ir, sum, ir_mul(ir, naive_load(k->nv, 4, &idx, k->t), state(k, k->c, at, ahead)));
}

/* Gates i, o, f and the candidate; c' = f c + i g(..), h' = o h(c'). */
static void lstm_step(const Cell *k)
{
	Ir *ir = k->nv->ir;
	Buf *acc = product(k, "sum", k->h, 0, 4, -1);
	const Expr *at[3];
	Nest nest = step_nest(k, at);
	const Expr *i = activate(k, 0, clipped(k, with_cell(k, at, gate(k, acc, at, 0), 0, 0)));
	const Expr *f = activate(k, 0, clipped(k, with_cell(k, at, gate(k, acc, at, 2), 2, 0)));
	if (op_int(k->nv->c, "input_forget") != 0)
		f = ir_sub(ir, number(k, 1), i);
	const Expr *g = activate(k, 1, clipped(k, gate(k, acc, at, 3)));
	Stmt *cell = next_state(k, k->c, at, ir_add(ir, ir_mul(ir, f, state(k, k->c, at, 0)), ir_mul(ir, i, g)));
	const Expr *o = activate(k, 0, clipped(k, with_cell(k, at, gate(k, acc, at, 1), 1, 1)));
	const Expr *h = ir_mul(ir, o, activate(k, 2, state(k, k->c, at, 1)));
	nest_close(&nest, NULL, NULL, ir_seq(cell, next_state(k, k->h, at, h)));
}

/* Row 0 of a state: input `in`, or zeros. */
static Buf *first_state(const Cell *k, const char *what, int in)
{
	Naive *nv = k->nv;
	Buf *b = naive_work(nv, what, k->t, shape_of(3, (int64_t[]){ k->steps + 1, k->batch, k->size }));
	Nest nest = { .nv = nv };
	const Expr *at[3] = { ir_int(nv->ir, 0) };
	at[1] = nest_axis(&nest, "n", ITER_SPATIAL, k->batch);
	at[2] = nest_axis(&nest, "j", ITER_SPATIAL, k->size);
	const Expr *v = naive_in(nv, in) != NULL ? naive_load(nv, in, &at[1], k->t) : number(k, 0);
	nest_close(&nest, what, NULL, naive_store(nv, b, at, v));
	return b;
}

/* The last row of a state is result `out`. */
static void last_state(const Cell *k, const char *what, const Buf *b, int out)
{
	Naive *nv = k->nv;
	Nest nest = { .nv = nv };
	const Expr *at[3] = { ir_int(nv->ir, k->steps) };
	at[1] = nest_axis(&nest, "n", ITER_SPATIAL, k->batch);
	at[2] = nest_axis(&nest, "j", ITER_SPATIAL, k->size);
	nest_close(&nest, what, NULL, naive_store(nv, naive_buf(nv, nv->c->out[out]), &at[1], ir_load(nv->ir, b, at, 3)));
}

void naive_recurrent(Naive *nv)
{
	Ir *ir = nv->ir;
	const Value *y = naive_out(nv, 0);
	Cell k = { .nv = nv, .t = naive_type(nv, y->type), .steps = y->shape.dim[0], .batch = y->shape.dim[1] };
	k.size = y->shape.dim[2];
	k.len_at = nv->c->op == OP_rnn ? 3 : nv->c->op == OP_gru ? 4 : 5;
	k.len = naive_in(nv, k.len_at);
	k.clip = op_float(nv->c, "clip");
	k.h = first_state(&k, "h", 2);
	if (nv->c->op == OP_lstm)
		k.c = first_state(&k, "c", 3);

	Outer steps = naive_begin_loop(nv, "s");
	k.loop = steps.loop;
	(nv->c->op == OP_lstm ? lstm_step : nv->c->op == OP_gru ? gru_step : rnn_step)(&k);
	naive_end_loop(nv, &steps, k.steps);

	Nest nest = { .nv = nv };
	const Expr *at[3];
	at[0] = nest_axis(&nest, "t", ITER_SPATIAL, k.steps);
	at[1] = nest_axis(&nest, "n", ITER_SPATIAL, k.batch);
	at[2] = nest_axis(&nest, "j", ITER_SPATIAL, k.size);
	const Expr *of[] = { place(&k, at[0], at[1]), at[1], at[2] };
	const Expr *v = while_runs(&k, at[0], at[1], state(&k, k.h, of, 1), ir_const(ir, k.t, 0));
	nest_close(&nest, "y", NULL, naive_store(nv, naive_buf(nv, nv->c->out[0]), at, v));
	last_state(&k, "last", k.h, 1);
	if (nv->c->op == OP_lstm)
		last_state(&k, "last_cell", k.c, 2);
}
