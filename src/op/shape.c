/*
 * Shape rules: the types and shapes of a call's results, from those of its inputs. Here are the functions
 * that rules share; op.def says which rule an operator has. Formulas are those of ONNX's newest opset.
 */
#include "op/rules.h"

#include <stdarg.h>
#include <stdio.h>

bool op_refuse(const OpCall *c, Err *err, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	const char *op = op_row(c->op)->name;
	return fail(err, ERR_TYPE, c->name != NULL ? c->name : "", "%s: %s", op, text);
}

const Value *op_in(const Dag *d, const OpCall *c, int i)
{
	return i < c->nin && c->in[i] != DAG_NONE ? &d->value.at[c->in[i]] : NULL;
}

bool need_float(const OpCall *c, const Value *v, Err *err)
{
	char t[DTYPE_TEXT];
	if (!dtype_is_float(v->type))
		return op_refuse(c, err, "%s is %s, but this operator is for floating types", v->name, dtype_print(v->type, t));
	return true;
}

bool need_number(const OpCall *c, const Value *v, Err *err)
{
	if (v->type.kind == DT_BOOL)
		return op_refuse(c, err, "%s is bool, but this operator is for numbers", v->name);
	return true;
}

bool need_same_type(const OpCall *c, const Value *a, const Value *b, Err *err)
{
	char s[DTYPE_TEXT], t[DTYPE_TEXT];
	if (!dtype_eq(a->type, b->type))
		return op_refuse(
			c, err, "%s is %s, but %s is %s", a->name, dtype_print(a->type, s), b->name, dtype_print(b->type, t));
	return true;
}

static bool is_byte(DType t)
{
	return dtype_is_int(t) && t.bits == 8;
}

bool need_factors(const OpCall *c, const Value *x, const Value *w, Err *err)
{
	return need_number(c, x, err) && ((is_byte(x->type) && is_byte(w->type)) || need_same_type(c, x, w, err));
}

DType product_type(DType factor)
{
	return is_byte(factor) ? I32 : factor;
}

bool need_bias(const OpCall *c, const Value *x, const Value *b, Err *err)
{
	char s[DTYPE_TEXT], t[DTYPE_TEXT];
	DType sum = product_type(x->type);
	if (!dtype_eq(b->type, sum))
		return op_refuse(
			c, err, "%s is %s, but the sums are %s", b->name, dtype_print(b->type, s), dtype_print(sum, t));
	return true;
}

bool need_rank(const OpCall *c, const Value *v, int lo, int hi, Err *err)
{
	char s[160];
	if (v->shape.rank < lo || v->shape.rank > hi)
		return op_refuse(
			c, err, "%s has the shape %s, but %d to %d dimensions are needed", v->name, shape_str(v->shape, s), lo, hi);
	return true;
}

bool need_tf32(const OpCall *c, const Value *x, Err *err)
{
	char t[DTYPE_TEXT];
	int64_t v = op_int(c, "tf32");
	if (v != 0 && v != 1)
		return op_refuse(c, err, "tf32 is %lld, but must be 0 or 1", (long long)v);
	if (v == 1 && !dtype_eq(x->type, F32))
		return op_refuse(c, err, "tf32 is for factors of f32, but %s is %s", x->name, dtype_print(x->type, t));
	return true;
}

bool read_ints(const OpCall *c, const char *name, int n, int64_t lo, int64_t hi, int64_t absent, int64_t *out, Err *err)
{
	int have;
	const int64_t *at = op_ints(c, name, &have);
	if (have == 0 && at == NULL) {
		for (int i = 0; i < n; i++)
			out[i] = absent;
		return true;
	}
	if (have != n)
		return op_refuse(c, err, "%s has %d numbers, but %d are needed", name, have, n);
	for (int i = 0; i < n; i++) {
		if (at[i] < lo || at[i] > hi)
			return op_refuse(c, err, "%s holds %lld, which is not between %lld and %lld", name, (long long)at[i],
				(long long)lo, (long long)hi);
		out[i] = at[i];
	}
	return true;
}

void set_like(Value *out, const Value *x)
{
	*out = (Value){ .type = x->type, .shape = x->shape };
}

bool shape_broadcast(Shape a, Shape b, Shape *out)
{
	Shape r = { a.rank > b.rank ? a.rank : b.rank, { 0 } };
	for (int i = 1; i <= r.rank; i++) {
		int64_t x = i <= a.rank ? a.dim[a.rank - i] : 1, y = i <= b.rank ? b.dim[b.rank - i] : 1;
		if (x != y && x != 1 && y != 1)
			return false;
		r.dim[r.rank - i] = x == 1 ? y : x;
	}
	*out = r;
	return true;
}

bool need_broadcast(const OpCall *c, const Value *a, const Value *b, Shape *out, Err *err)
{
	char s[160], t[160];
	if (!shape_broadcast(a->shape, b->shape, out))
		return op_refuse(
			c, err, "the shapes %s and %s do not broadcast", shape_str(a->shape, s), shape_str(b->shape, t));
	return true;
}

typedef bool (*Rule)(const Dag *d, const OpCall *c, Value *out, Err *err);

#define OP(name, class, inputs, outputs, attrs, shape, ...) [OP_##name] = infer_##shape,
static const Rule rules[OP_COUNT] = {
#include "op/op.def"
};
#undef OP

bool op_infer(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	for (int i = 0; i < c->nin; i++) {
		const Value *v = op_in(d, c, i);
		for (int k = 0; v != NULL && k < v->shape.rank; k++) {
			if (v->shape.dim[k] < 0)
				return op_refuse(c, err, "dimension %d of %s is not known: give it a number", k, v->name);
			if (v->shape.dim[k] > LARGEST_DIM)
				return op_refuse(
					c, err, "dimension %d of %s, %lld, is too large", k, v->name, (long long)v->shape.dim[k]);
		}
	}
	return rules[c->op](d, c, out, err);
}
