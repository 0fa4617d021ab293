/*
 * Writes a Dag as one run Fn in the loop language: the meaning of every operator, as plain as its formula.
 * Parameters come first (inputs, constants, outputs), then the nests of each call in order, with work
 * buffers for the values between. Nothing is scheduled here: faster forms are compared with this one.
 */
#include "op/algo.h"
#include "op/naive.h"

#include "ir/text/ir_text.h"
#include "op/layout.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LONGEST_NAME = 100 }; /* of a buffer's name, without the number that makes it unique */

const char *axis_name(int rank, int k)
{
	static const char *const names[6][5] = { { 0 }, { "i" }, { "m", "n" }, { "n", "c", "w" }, { "n", "c", "h", "w" },
		{ "n", "c", "d", "h", "w" } };
	static const char *const more[] = { "i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7" };
	return rank <= 5 ? names[rank][k] : more[k];
}

static const Expr *add_iter(Nest *nest, const char *loop, IterKind kind, int64_t extent)
{
	Naive *nv = nest->nv;
	assert(nest->n < NEST_MAX);
	const char *iter = names_give(nv->names, arena_printf(ir_arena(nv->ir), "v%s", loop));
	nest->loop[nest->n] = ir_name(nv->ir, loop);
	nest->extent[nest->n] = extent;
	nest->iter[nest->n++] =
		(Iter){ ir_name(nv->ir, iter), kind, ir_int(nv->ir, 0), ir_int(nv->ir, extent), ir_idx(nv->ir, loop) };
	return ir_idx(nv->ir, iter);
}

const Expr *nest_axis(Nest *nest, const char *stem, IterKind kind, int64_t extent)
{
	Naive *nv = nest->nv;
	const char *loop = names_give(nv->names, stem);
	return add_iter(nest, loop, kind, extent);
}

const Expr *nest_outer(Nest *nest, const char *loop, int64_t extent)
{
	assert(nest->n == nest->outer);
	nest->outer++;
	return add_iter(nest, loop, ITER_SCAN, extent);
}

void nest_shape(Nest *nest, Shape s, const Expr **idx)
{
	for (int k = 0; k < s.rank; k++)
		idx[k] = nest_axis(nest, axis_name(s.rank, k), ITER_SPATIAL, s.dim[k]);
}

/* Adds a statement to the end of the Fn. */
static void append(Naive *nv, Stmt *s)
{
	if (nv->last == NULL)
		nv->fn->body = s;
	else
		nv->last->next = s;
	nv->last = s;
}

void nest_close(Nest *nest, const char *what, Stmt *init, Stmt *body)
{
	Naive *nv = nest->nv;
	int spatial = 0;
	bool nothing = false; /* is reduced: the result is the initial value */
	for (int k = 0; k < nest->n; k++)
		nothing |= nest->iter[k].kind == ITER_REDUCE && nest->extent[k] == 0;
	for (int k = 0; k < nest->n && nothing; k++)
		if (nest->iter[k].kind != ITER_REDUCE) {
			nest->loop[spatial] = nest->loop[k];
			nest->extent[spatial] = nest->extent[k];
			nest->iter[spatial++] = nest->iter[k];
		}
	if (nothing) {
		nest->n = spatial;
		body = init;
		init = NULL;
	}
	const char *name = nv->block;
	if (what != NULL)
		name = arena_printf(ir_arena(nv->ir), "%s.%s", nv->block, what);
	Stmt *s = ir_block(nv->ir, ir_name(nv->ir, name), nest->iter, nest->n, NULL, init, body);
	for (int k = nest->n - 1; k >= nest->outer; k--)
		s = ir_for(nv->ir, nest->loop[k], ir_int(nv->ir, 0), ir_int(nv->ir, nest->extent[k]), LOOP_SERIAL, s);
	append(nv, s);
}

Outer naive_begin_loop(Naive *nv, const char *stem)
{
	Outer o = { ir_name(nv->ir, names_give(nv->names, stem)), nv->fn->body, nv->last };
	nv->fn->body = nv->last = NULL;
	return o;
}

void naive_end_loop(Naive *nv, const Outer *o, int64_t extent)
{
	Stmt *loop = ir_for(nv->ir, o->loop, ir_int(nv->ir, 0), ir_int(nv->ir, extent), LOOP_SERIAL, nv->fn->body);
	nv->fn->body = o->body;
	nv->last = o->last;
	append(nv, loop);
}

DType naive_type(const Naive *nv, DType t)
{
	if (!dtype_is_float(t))
		return t;
	return nv->kind == NAIVE_F64 ? F64 : t.bits < 32 ? F32 : t;
}

DType naive_acc(const Naive *nv, DType t)
{
	if (dtype_is_int(t) && t.bits < 32)
		return I32;
	return naive_type(nv, t);
}

const Value *naive_in(const Naive *nv, int k)
{
	return op_in(nv->d, nv->c, k);
}

const Value *naive_out(const Naive *nv, int k)
{
	return &nv->d->value.at[nv->c->out[k]];
}

Buf *naive_buf(const Naive *nv, int value)
{
	return nv->buf[value];
}

/* Turns a value's name into a name of the loop language; "data" and "conv1.w" stay as they are. */
static const char *buffer_name(Naive *nv, const char *wish)
{
	char *s = arena_printf(ir_arena(nv->ir), "%.*s", LONGEST_NAME, wish);
	for (char *p = s; *p != 0; p++) {
		unsigned char c = (unsigned char)*p;
		bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
		if (!word && (c != '.' || p == s || p[1] == 0))
			*p = '_';
	}
	if (!ir_is_name(s))
		s = arena_printf(ir_arena(nv->ir), "v_%s", s);
	for (char *p = s; !ir_is_name(s) && *p != 0; p++)
		if (*p == '.')
			*p = '_';
	return ir_name(nv->ir, names_give(nv->names, s));
}

IndexMap naive_map(Ir *ir, const char *layout, Shape s)
{
	Layout l;
	IndexMap m = { 0 };
	if (layout == NULL || !layout_read(layout, s, &l))
		return m;
	m.nvar = s.rank;
	m.n = l.n;
	m.var = arena_array(ir_arena(ir), const char *, s.rank + 1);
	m.at = arena_array(ir_arena(ir), const Expr *, l.n + 1);
	m.extent = arena_array(ir_arena(ir), const Expr *, l.n + 1);
	for (int k = 0; k < s.rank; k++)
		m.var[k] = ir_name(ir, arena_printf(ir_arena(ir), "i%d", k));
	for (int k = 0; k < l.n; k++) {
		const Expr *at = ir_idx(ir, m.var[l.of[k]]);
		if (l.mod[k] != 0)
			at = ir_mod(ir, at, ir_int(ir, l.mod[k]));
		m.at[k] = ir_div(ir, at, ir_int(ir, l.step[k]));
		m.extent[k] = ir_int(ir, l.extent[k]);
	}
	return m;
}

static Buf *add_buf(Naive *nv, const char *wish, BufRole role, DType t, Shape s)
{
	Buf *b = ir_buf(nv->ir, buffer_name(nv, wish), role, t, ir_name(nv->ir, "global"), s.dim, s.rank);
	ir_fn_add_buf(nv->ir, nv->fn, b);
	return b;
}

Buf *naive_work(Naive *nv, const char *what, DType t, Shape s)
{
	const char *of = nv->buf[nv->c->out[0]]->name;
	return add_buf(nv, arena_printf(ir_arena(nv->ir), "%s.%s", of, what), BUF_WORK, t, s);
}

void naive_drop_const(Naive *nv, int k)
{
	const Buf *b = nv->buf[nv->c->in[k]];
	int n = 0;
	for (size_t j = 0; j < nv->d->call.n; j++)
		for (int i = 0; i < nv->d->call.at[j].nin; i++)
			if (nv->d->call.at[j].in[i] == nv->c->in[k] && (&nv->d->call.at[j] != nv->c || i != k))
				return;
	for (int j = 0; j < nv->fn->nparam; j++)
		if (nv->fn->param[j].buf != b)
			nv->fn->param[n++] = nv->fn->param[j];
	nv->fn->nparam = n;
}

const Expr *naive_cast(Naive *nv, DType t, const Expr *e)
{
	if (dtype_eq(t, e->type))
		return e;
	if (t.kind == DT_BOOL)
		return ir_binary(nv->ir, IR_NE, e, ir_const(nv->ir, e->type, 0));
	return ir_cast(nv->ir, t, e);
}

const Expr *naive_load(Naive *nv, int k, const Expr *const *idx, DType t)
{
	const Buf *b = nv->buf[nv->c->in[k]];
	return naive_cast(nv, t, ir_load(nv->ir, b, idx, b->rank));
}

/* A dimension of 1 that is not broadcast keeps its iterator: so its writer and its reader have the same form. */
const Expr *naive_load_broadcast(Naive *nv, int k, const Expr *const *idx, int rank, DType t)
{
	const Shape *s = &naive_in(nv, k)->shape, *y = &naive_out(nv, 0)->shape;
	const Expr *at[DAG_MAX_RANK];
	assert(rank == y->rank);
	for (int i = 0; i < s->rank; i++) {
		int of = rank - s->rank + i;
		at[i] = s->dim[i] == 1 && y->dim[of] != 1 ? ir_int(nv->ir, 0) : idx[of];
	}
	return naive_load(nv, k, at, t);
}

Stmt *naive_store(Naive *nv, Buf *b, const Expr *const *idx, const Expr *value)
{
	return ir_store(nv->ir, b, idx, b->rank, naive_cast(nv, b->type, value));
}

const Expr *naive_div(Naive *nv, const Expr *a, const Expr *b)
{
	Ir *ir = nv->ir;
	if (dtype_is_float(a->type))
		return ir_div(ir, a, b);
	const Expr *zero = ir_const(ir, a->type, 0), *q = ir_binary(ir, IR_TDIV, a, b);
	if (a->type.kind == DT_INT) /* the least integer by -1 traps on x86 */
		q = ir_select(ir, ir_eq(ir, b, ir_const(ir, a->type, -1)), ir_sub(ir, zero, a), q);
	return ir_select(ir, ir_eq(ir, b, zero), zero, q);
}

const Expr *naive_extreme(Naive *nv, DType t, bool least)
{
	if (dtype_is_float(t))
		return ir_const_float(nv->ir, t, least ? -INFINITY : INFINITY);
	if (t.kind == DT_BOOL)
		return ir_bool(nv->ir, !least);
	if (t.kind == DT_UINT)
		return ir_const_int(nv->ir, t, least ? 0 : -1);
	int64_t top = INT64_MAX >> (64 - t.bits);
	return ir_const_int(nv->ir, t, least ? -top - 1 : top);
}

const Expr *naive_inside(Naive *nv, const Expr *at, int64_t lo, int64_t hi, int64_t n, const Expr *also)
{
	if (lo < 0) {
		const Expr *c = ir_le(nv->ir, ir_int(nv->ir, 0), at);
		also = also == NULL ? c : ir_and(nv->ir, also, c);
	}
	if (hi >= n) {
		const Expr *c = ir_lt(nv->ir, at, ir_int(nv->ir, n));
		also = also == NULL ? c : ir_and(nv->ir, also, c);
	}
	return also;
}

typedef void (*Builder)(Naive *nv);

#define OP(name, class, inputs, outputs, attrs, shape, naive, ...) [OP_##name] = naive_##naive,
static const Builder builders[OP_COUNT] = {
#include "op/op.def"
};
#undef OP

static void add_value_buf(Naive *nv, int value, BufRole role, DType t)
{
	const Value *v = &nv->d->value.at[value];
	if (nv->buf[value] != NULL)
		return;
	nv->buf[value] = add_buf(nv, v->name, role, t, v->shape);
	nv->buf[value]->map = naive_map(nv->ir, v->layout, v->shape);
}

static KernelSet *build_set(Ir *ir, const Dag *d, const char *name, NaiveKind kind, const AlgoChoice *choice, Err *err)
{
	Arena *a = ir_arena(ir);
	for (size_t i = 0; i < d->output.n; i++) {
		const Value *v = &d->value.at[d->output.at[i]];
		bool again = false;
		for (size_t k = 0; k < i; k++)
			again |= d->output.at[k] == d->output.at[i];
		if (v->kind != VALUE_CALL || again) {
			fail(err, ERR_TYPE, d->name, "output %s is an input, a constant or listed twice; copy it with identity",
				v->name);
			return NULL;
		}
	}
	Naive nv = { .ir = ir, .set = ir_set_new(ir), .d = d, .kind = kind, .names = names_new(a), .blocks = names_new(a) };
	nv.fn = ir_fn(ir, ir_name(ir, name), FN_RUN);
	nv.buf = arena_array(a, Buf *, d->value.n + 1);
	/* Inputs, constants, then outputs: the order of a Task's parameters. */
	for (size_t i = 0; i < d->input.n; i++)
		add_value_buf(&nv, d->input.at[i], BUF_IN, d->value.at[d->input.at[i]].type);
	for (size_t i = 0; i < d->value.n; i++)
		if (d->value.at[i].kind == VALUE_CONST)
			add_value_buf(&nv, (int)i, BUF_CONST, d->value.at[i].type);
	for (size_t i = 0; i < d->output.n; i++)
		add_value_buf(&nv, d->output.at[i], BUF_OUT, d->value.at[d->output.at[i]].type);
	for (size_t i = 0; i < d->call.n; i++) {
		nv.c = &d->call.at[i];
		const char *op = op_row(nv.c->op)->name; /* "conv", "conv_1"; "sub_", since sub is a keyword of the language */
		nv.block = names_give(nv.blocks, ir_is_name(op) ? op : arena_printf(a, "%s_", op));
		for (int k = 0; k < nv.c->nout; k++)
			add_value_buf(&nv, nv.c->out[k], BUF_WORK, naive_type(&nv, d->value.at[nv.c->out[k]].type));
		if (choice != NULL && choice->call == (int)i)
			choice->algo->build(&nv, choice->param);
		else
			builders[nv.c->op](&nv);
	}
	ir_set_add(nv.set, nv.fn);
	return nv.set;
}

KernelSet *op_naive(Ir *ir, const Dag *d, const char *name, NaiveKind kind, Err *err)
{
	return build_set(ir, d, name, kind, NULL, err);
}

KernelSet *op_compute(Ir *ir, const Dag *d, const char *name, const AlgoChoice *choice, Err *err)
{
	return build_set(ir, d, name, NAIVE_AS_TYPED, choice, err);
}
