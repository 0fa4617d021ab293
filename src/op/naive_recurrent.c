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

/* A nest of the loop over the steps; at[0] is the step, at[1] the sequence, at[2] an axis of so many elements. */
static Nest step_nest(const Cell *k, int64_t extent, const Expr **at)
{
	Nest nest = { .nv = k->nv };
	at[0] = nest_outer(&nest, k->loop, k->steps);
	at[1] = nest_axis(&nest, "n", ITER_SPATIAL, k->batch);
	at[2] = nest_axis(&nest, "j", ITER_SPATIAL, extent);
	return nest;
}

/* Element [s + ahead, n, j] of a state. */
static const Expr *state(const Cell *k, const Buf *b, const Expr *const *at, int ahead)
{
	Ir *ir = k->nv->ir;
	const Expr *idx[] = { ir_add(ir, at[0], ir_int(ir, ahead)), at[1], at[2] };
	return ir_load(ir, b, idx, 3);
}

static void close_state(const Cell *k, Nest *nest, const char *what, Buf *b, const Expr *const *at, const Expr *v)
{
	Ir *ir = k->nv->ir;
	const Expr *idx[] = { ir_add(ir, at[0], ir_int(ir, 1)), at[1], at[2] };
	v = while_runs(k, at[0], at[1], v, state(k, b, at, 0));
	nest_close(nest, what, NULL, naive_store(k->nv, b, idx, v));
}

/*
 * acc[n,j] = start + sum of left[..] * r[i, from + j]: `count` columns of the recurrent weights. The left factor is
 * the state, or `left` of this step. It starts with x, or with the bias `b` of gru's last gate.
 */
static Buf *product(const Cell *k, const char *what, const Buf *left, int64_t from, int64_t count, bool bias)
{
	Naive *nv = k->nv;
	Ir *ir = nv->ir;
	Buf *acc = naive_work(nv, what, k->t, shape_of(2, (int64_t[]){ k->batch, count }));
	const Expr *at[3], *zero = number(k, 0);
	Nest nest = step_nest(k, count, at);
	const Expr *i = nest_axis(&nest, "k", ITER_REDUCE, k->size);
	const Expr *column = ir_add(ir, at[2], ir_int(ir, from));
	const Expr *xs[] = { place(k, at[0], at[1]), at[1], column }, *rs[] = { i, column };
	const Expr *hs[] = { at[0], at[1], i };
	const Expr *start = bias ? zero : naive_load(nv, 0, xs, k->t);
	if (bias && naive_in(nv, 3) != NULL)
		start = naive_load(nv, 3, &at[2], k->t);
	const Expr *factor = left == k->h ? ir_load(ir, left, hs, 3) : ir_load(ir, left, &hs[1], 2);
	const Expr *v = ir_mul(ir, factor, naive_load(nv, 1, rs, k->t));
	nest_close(&nest, what, naive_store(nv, acc, &at[1], start), ir_reduce(ir, "sum", acc, &at[1], 2, v));
	return acc;
}

/* Column from + j of a product, as the activation reads it. */
static const Expr *gate(const Cell *k, const Buf *acc, const Expr *const *at, int64_t from)
{
	const Expr *idx[] = { at[1], ir_add(k->nv->ir, at[2], ir_int(k->nv->ir, from)) };
	return ir_load(k->nv->ir, acc, idx, 2);
}

static void rnn_step(const Cell *k)
{
	Buf *acc = product(k, "sum", k->h, 0, k->size, false);
	const Expr *at[3];
	Nest nest = step_nest(k, k->size, at);
	close_state(k, &nest, NULL, k->h, at, activate(k, 0, clipped(k, gate(k, acc, at, 0))));
}

/* Gates z, r and the candidate; h' = (1 - z) g(..) + z h. */
static void gru_step(const Cell *k)
{
	Naive *nv = k->nv;
	Ir *ir = nv->ir;
	bool before = op_int(nv->c, "linear_before_reset") != 0;
	int64_t size = k->size;
	Buf *gates = product(k, "gates", k->h, 0, 2 * size, false), *candidate;
	const Expr *at[3];
	if (before) {
		candidate = product(k, "sum", k->h, 2 * size, size, true);
	} else {
		Buf *kept = naive_work(nv, "reset", k->t, shape_of(2, (int64_t[]){ k->batch, size }));
		Nest nest = step_nest(k, size, at);
		const Expr *r = activate(k, 0, clipped(k, gate(k, gates, at, size)));
		nest_close(&nest, "reset", NULL, naive_store(nv, kept, &at[1], ir_mul(ir, r, state(k, k->h, at, 0))));
		candidate = product(k, "sum", kept, 2 * size, size, false);
	}
	Nest nest = step_nest(k, size, at);
	const Expr *z = activate(k, 0, clipped(k, gate(k, gates, at, 0))), *sum = gate(k, candidate, at, 0);
	if (before) {
		const Expr *xs[] = { place(k, at[0], at[1]), at[1], ir_add(ir, at[2], ir_int(ir, 2 * size)) };
		const Expr *r = activate(k, 0, clipped(k, gate(k, gates, at, size)));
		sum = ir_add(ir, naive_load(nv, 0, xs, k->t), ir_mul(ir, r, sum));
	}
	const Expr *v = ir_mul(ir, ir_sub(ir, number(k, 1), z), activate(k, 1, clipped(k, sum)));
	close_state(k, &nest, NULL, k->h, at, ir_add(ir, v, ir_mul(ir, z, state(k, k->h, at, 0))));
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
	int64_t size = k->size;
	Buf *acc = product(k, "sum", k->h, 0, 4 * size, false);
	const Expr *at[3];
	Nest cell = step_nest(k, size, at);
	const Expr *i = activate(k, 0, clipped(k, with_cell(k, at, gate(k, acc, at, 0), 0, 0)));
	const Expr *f = activate(k, 0, clipped(k, with_cell(k, at, gate(k, acc, at, 2 * size), 2, 0)));
	if (op_int(k->nv->c, "input_forget") != 0)
		f = ir_sub(ir, number(k, 1), i);
	const Expr *g = activate(k, 1, clipped(k, gate(k, acc, at, 3 * size)));
	const Expr *c = ir_add(ir, ir_mul(ir, f, state(k, k->c, at, 0)), ir_mul(ir, i, g));
	close_state(k, &cell, "cell", k->c, at, c);

	Nest nest = step_nest(k, size, at);
	const Expr *o = activate(k, 0, clipped(k, with_cell(k, at, gate(k, acc, at, size), 1, 1)));
	close_state(k, &nest, NULL, k->h, at, ir_mul(ir, o, activate(k, 2, state(k, k->c, at, 1))));
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
