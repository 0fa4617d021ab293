/*
 * Linear attention: a matrix S[dk,dv] for each head, to which each step adds an outer product of its key and value and
 * from which its query reads. One serial loop over the steps holds up to four nests: S decays, the value that S has
 * for the key is taken off (the delta rule), S is written, S is read. S stays where it is.
 */
#include "op/naive.h"

typedef struct States {
	Naive *nv;
	DType t; /* computed in */
	int64_t batch, steps, heads, shared, size, depth;
	const char *loop;
	Buf *s;
} States;

enum { IN_Q, IN_K, IN_V, IN_STATE, IN_DECAY, IN_BETA };

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
