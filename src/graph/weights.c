/*
 * Rewrites that change weights. A product with a constant matrix becomes dense. A scale and a shift for each
 * channel after a convolution or dense go into its weights and bias. Each step computes weights in f64 and
 * rounds once, so results change only by rounding.
 */
#include "base/map.h"
#include "graph/edit.h"
#include "op/element.h"

#include <math.h>
#include <string.h>

static bool is_known(const Value *v)
{
	return v->kind == VALUE_CONST && v->data != NULL;
}

/* ---- matmul with a constant matrix is dense */

static bool make_dense(Edit *e, const OpCall *c, void *arg)
{
	Map *turned = arg; /* by the matrix: its transpose, which all products with it read */
	if (c->op != OP_matmul || op_int(c, "ta") != 0)
		return false;
	int in[2] = { edit_value(e, c->in[0]), edit_value(e, c->in[1]) };
	Value w = *edit_at(e, in[1]);
	if (!is_known(&w) || w.shape.rank != 2 || edit_at(e, in[0])->shape.rank < 1 || is_known(edit_at(e, in[0])))
		return false;
	if (op_int(c, "tb") == 0) {
		static const int64_t swap[] = { 1, 0 };
		Shape s = shape_of(2, (int64_t[]){ w.shape.dim[1], w.shape.dim[0] });
		MapEntry *known = map_find(turned, (uint64_t)in[1]);
		void *data = known == NULL ? fold_transpose(e->to->arena, &w, swap) : NULL;
		if (known == NULL && data == NULL)
			return false;
		if (known == NULL) {
			known = map_add(turned, (uint64_t)in[1]);
			known->num = edit_const(e, w.name, w.type, s, data);
		}
		in[1] = (int)known->num;
	}
	return edit_call_as(e, c, OP_dense, in, 2, NULL, 0);
}

bool pass_dense(Dag *d, EvalFn eval, Err *err)
{
	Map turned = MAP_OF(arena_new());
	bool ok = edit_dag(d, eval, make_dense, &turned, err);
	arena_free(turned.index.arena);
	return ok;
}

/* ---- y = x * scale[c] + shift[c] */

typedef struct Affine {
	int64_t n;             /* channels */
	double *scale, *shift; /* NULL: 1, 0 */
	bool only_shift;
} Affine;

/* A constant that varies along `axis` of a tensor of `rank` dimensions at most; its element c. */
static bool varies_along(const Value *v, int rank, int axis, int64_t channels)
{
	for (int k = 0; k < v->shape.rank; k++) {
		int at = rank - v->shape.rank + k;
		if (v->shape.dim[k] != 1 && (at != axis || v->shape.dim[k] != channels))
			return false;
	}
	return v->shape.rank <= rank;
}

static double per_channel(const Value *v, int64_t c)
{
	return element_get(v->type, v->data, shape_elements(v->shape) == 1 ? 0 : c);
}

static bool read_batch_norm(const Edit *e, const OpCall *c, Affine *f, Arena *tmp)
{
	const Value *p[5];
	for (int k = 1; k < 5; k++) {
		p[k] = &e->from->value.at[c->in[k]];
		if (!is_known(p[k]))
			return false;
	}
	f->n = p[1]->shape.dim[0];
	f->scale = arena_array(tmp, double, f->n + 1);
	f->shift = arena_array(tmp, double, f->n + 1);
	for (int64_t i = 0; i < f->n; i++) {
		double deviation = sqrt(per_channel(p[4], i) + op_float(c, "epsilon"));
		f->scale[i] = per_channel(p[1], i) / deviation;
		f->shift[i] = per_channel(p[2], i) - per_channel(p[3], i) * f->scale[i];
	}
	return true;
}

/* add, sub, mul and div with a constant per channel; x tells which operand is the tensor. */
static bool read_binary(const Edit *e, const OpCall *c, int axis, int64_t channels, Affine *f, Arena *tmp)
{
	const Value *y = &e->from->value.at[c->out[0]], *v = &e->from->value.at[c->in[1]];
	if (!is_known(v) || !varies_along(v, y->shape.rank, axis, channels))
		return false;
	f->n = channels;
	f->scale = arena_array(tmp, double, channels + 1);
	f->shift = arena_array(tmp, double, channels + 1);
	f->only_shift = c->op == OP_add || c->op == OP_sub;
	for (int64_t i = 0; i < channels; i++) {
		double p = per_channel(v, i);
		f->scale[i] = c->op == OP_mul ? p : c->op == OP_div ? 1 / p : 1;
		f->shift[i] = c->op == OP_add ? p : c->op == OP_sub ? -p : 0;
	}
	return true;
}

/* f32 has its own loop: networks have tens of millions of such weights. */
static const void *scaled_weights(Edit *e, const Value *w, const Affine *f)
{
	int64_t n = shape_elements(w->shape), per = f->n > 0 ? n / f->n : 0;
	void *data = arena_alloc_aligned(e->to->arena, (size_t)value_bytes(w) + 1, 64);
	bool is_f32 = dtype_eq(w->type, F32);
	for (int64_t c = 0; c < f->n; c++) {
		double scale = f->scale[c];
		const float *from = (const float *)w->data + (is_f32 ? c * per : 0);
		float *to = (float *)data + (is_f32 ? c * per : 0);
		for (int64_t i = 0; is_f32 && i < per; i++)
			to[i] = (float)(from[i] * scale);
		for (int64_t i = c * per; !is_f32 && i < (c + 1) * per; i++)
			element_set(w->type, data, i, element_get(w->type, w->data, i) * scale);
	}
	return data;
}

/* A variance of -epsilon or less has no square root; such a model stays unchanged. */
static bool is_finite(const Affine *f)
{
	for (int64_t i = 0; i < f->n; i++)
		if (!isfinite(f->scale[i]) || !isfinite(f->shift[i]))
			return false;
	return true;
}

/* A new anchor with f in its weights, in place of call c. */
static bool into_anchor(Edit *e, const OpCall *c, const OpCall *anchor, const Affine *f)
{
	Value w = *edit_at(e, anchor->in[1]), b = { 0 };
	bool has_bias = anchor->nin > 2 && anchor->in[2] != DAG_NONE;
	if (has_bias)
		b = *edit_at(e, anchor->in[2]);
	if (!is_known(&w) || (has_bias && !is_known(&b)) || !dtype_is_float(w.type) || !is_finite(f))
		return false;
	OpCall old = *anchor; /* adding calls may move it */
	int in[3] = { old.in[0], old.in[1], 0 };
	if (!f->only_shift)
		in[1] = edit_const(e, w.name, w.type, w.shape, scaled_weights(e, &w, f));
	const char *name = has_bias ? b.name : arena_printf(e->to->arena, "%s.bias", w.name);
	void *bias = arena_alloc_aligned(e->to->arena, (size_t)dtype_bytes(w.type, f->n) + 1, 64);
	for (int64_t i = 0; i < f->n; i++)
		element_set(w.type, bias, i,
			(has_bias ? element_get(w.type, b.data, i) : 0) * f->scale[i] + f->shift[i]);
	in[2] = edit_const(e, name, w.type, shape_of(1, &f->n), bias);
	return edit_call_as(e, c, old.op, in, 3, old.attr, old.nattr);
}

/* A batch_norm without an anchor before it: one product and one sum with constants [C,1,1]. */
static bool into_elementwise(Edit *e, const OpCall *c, const Affine *f)
{
	const Value *y = &e->from->value.at[c->out[0]];
	Arena *a = e->to->arena;
	DType t = y->type;
	Shape s = { y->shape.rank - 1, { 0 } };
	s.dim[0] = f->n;
	for (int k = 1; k < s.rank; k++)
		s.dim[k] = 1;
	size_t bytes = (size_t)dtype_bytes(t, f->n) + 1;
	void *scale = arena_alloc_aligned(a, bytes, 64), *shift = arena_alloc_aligned(a, bytes, 64);
	for (int64_t i = 0; i < f->n; i++) {
		element_set(t, scale, i, f->scale[i]);
		element_set(t, shift, i, f->shift[i]);
	}
	const char *of = e->from->value.at[c->in[1]].name, *to = e->from->value.at[c->in[2]].name;
	int in[2] = { edit_value(e, c->in[0]), edit_const(e, of, t, s, scale) };
	in[0] = edit_call(e, OP_mul, arena_printf(a, "%s.scaled", y->name), in, 2, NULL, 0);
	if (in[0] == DAG_NONE)
		return false;
	in[1] = edit_const(e, to, t, s, shift);
	return edit_call_as(e, c, OP_add, in, 2, NULL, 0);
}

static bool absorb(Edit *e, const OpCall *c, void *arg)
{
	Arena *tmp = arg;
	Affine f = { 0 };
	bool norm = c->op == OP_batch_norm;
	if (!norm && c->op != OP_add && c->op != OP_sub && c->op != OP_mul && c->op != OP_div)
		return false;
	const Value *y = &e->from->value.at[c->out[0]];
	OpCall turned = *c; /* the tensor first: addition and multiplication allow it */
	int operands[2] = { c->in[0], c->in[1] };
	if ((c->op == OP_add || c->op == OP_mul) && is_known(&e->from->value.at[c->in[0]])) {
		operands[0] = c->in[1];
		operands[1] = c->in[0];
		turned.in = operands;
	}
	const Value *x = &e->from->value.at[turned.in[0]];
	/* The convolution or dense call, in the new Dag, that only call c reads. */
	const OpCall *anchor = e->uses[turned.in[0]] == 1 ? edit_writer(e, edit_value(e, turned.in[0])) : NULL;
	bool absorbs = anchor != NULL && (anchor->op == OP_conv || anchor->op == OP_dense);
	if (absorbs && shape_eq(x->shape, y->shape)) {
		int axis = anchor->op == OP_conv ? 1 : y->shape.rank - 1;
		int64_t channels = y->shape.dim[axis];
		bool fits =
			norm ? axis == 1 && read_batch_norm(e, c, &f, tmp) : read_binary(e, &turned, axis, channels, &f, tmp);
		if (fits && into_anchor(e, c, anchor, &f))
			return true;
	}
	if (!norm || e->err->code != ERR_NONE)
		return false;
	return (f.scale != NULL || read_batch_norm(e, c, &f, tmp)) && is_finite(&f) && into_elementwise(e, c, &f);
}

bool pass_affine(Dag *d, EvalFn eval, Err *err)
{
	Arena *tmp = arena_new();
	bool ok = edit_dag(d, eval, absorb, tmp, err);
	arena_free(tmp);
	return ok;
}
