/*
 * Rows of codes, and what other rows need for theirs. Products of codes are sums in i32 of what casts and subtractions
 * give, which a graph pass makes products of bytes (src/graph/codes.c). The sum times a scale in f32, rounded to
 * nearest, ties to even, plus the zero point, in the limits of the type and of the fused function: that is TensorFlow
 * Lite's arithmetic with XNNPACK. Its own kernels multiply by integers and may give the neighbouring code.
 */
#include "frontend/tflite/rows.h"

#include "op/element.h"

#include <math.h>

static const TfliteTensor *tensor_of(const Visit *v, const int *list, int n, int k, int own)
{
	const TfliteNode *at = v->node->source;
	if (own >= 0)
		return k == 0 ? &at->model->tensor[own] : NULL;
	return at->op != NULL && k < n && list[k] >= 0 ? &at->model->tensor[list[k]] : NULL;
}

const TfliteTensor *tflite_in(const Visit *v, int k)
{
	const TfliteNode *at = v->node->source;
	return tensor_of(v, at->op != NULL ? at->op->in : NULL, at->op != NULL ? at->op->nin : 0, k, at->in);
}

const TfliteTensor *tflite_out(const Visit *v, int k)
{
	const TfliteNode *at = v->node->source;
	return tensor_of(v, at->op != NULL ? at->op->out : NULL, at->op != NULL ? at->op->nout : 0, k, at->out);
}

static bool has_codes(const TfliteTensor *t)
{
	return t != NULL && t->codes.n > 0;
}

/* Numbers of scales or zero points as they broadcast to x: one, or along the axis. */
static int spread(Visit *v, DType type, const float *scale, const int64_t *zero, size_t n, int x, int axis)
{
	int rank = node_val(v, x)->shape.rank;
	Shape s = { .rank = n == 1 ? 0 : rank - axis, .dim = { (int64_t)n } };
	void *at = arena_alloc(v->im->arena, (size_t)dtype_bytes(type, (int64_t)n) + 1);
	if (!node_ok(v) || s.rank < 0)
		return DAG_NONE;
	for (int k = 1; k < s.rank; k++)
		s.dim[k] = 1;
	for (size_t k = 0; k < n; k++)
		element_set(type, at, (int64_t)k, scale != NULL ? scale[k] : (double)zero[k]);
	return node_const(v, type, s, at);
}

static bool all_zero(const TfliteCodes *c)
{
	bool zero = true;
	for (size_t k = 0; k < c->n; k++)
		zero &= c->zero[k] == 0;
	return zero;
}

int tflite_real(Visit *v, int x, const TfliteCodes *c, int axis)
{
	DType type = node_val(v, x)->type;
	if (type.bits > 16 && !all_zero(c)) /* f32 does not hold such codes */
		x = node_each2(v, OP_sub, x, spread(v, type, NULL, c->zero, c->n, x, axis));
	Attr to = attr_text("to", "f32");
	int y = node_each(v, OP_cast, &x, 1, &to, 1);
	if (type.bits <= 16 && !all_zero(c))
		y = node_each2(v, OP_sub, y, spread(v, F32, NULL, c->zero, c->n, y, axis));
	return node_each2(v, OP_mul, y, spread(v, F32, c->scale, NULL, c->n, y, axis));
}

int tflite_real_input(Visit *v, int k)
{
	int x = tflite_value(v, k);
	const TfliteTensor *t = tflite_in(v, k);
	if (node_ok(v) && has_codes(t) && dtype_is_int(node_val(v, x)->type))
		return tflite_real(v, x, &t->codes, t->codes.axis);
	return dtype_eq(node_val(v, x)->type, F32) || !dtype_is_float(node_val(v, x)->type) ? x : node_cast(v, x, F32);
}

/* The limits of a type's codes, narrowed to those of the fused function. */
static void limits(Visit *v, const TfliteTensor *t, double *lo, double *hi)
{
	bool sign = t->type.kind == DT_INT;
	double least = sign ? -exp2(t->type.bits - 1) : 0, most = exp2(t->type.bits - sign) - 1, from, to;
	*lo = least;
	*hi = most;
	if (!tflite_activation_limits(v, &from, &to))
		return;
	double zero = (double)t->codes.zero[0], scale = t->codes.scale[0];
	*lo = fmax(least, zero + round(from / scale));
	*hi = to < INFINITY ? fmin(most, zero + round(to / scale)) : most;
}

/* Real numbers, divided by the scale already, as codes. */
static int round_to_codes(Visit *v, int x, const TfliteTensor *t, int axis)
{
	double lo, hi;
	char name[DTYPE_TEXT];
	x = node_each1(v, OP_round, x);
	if (!all_zero(&t->codes))
		x = node_each2(v, OP_add, x, spread(v, F32, NULL, t->codes.zero, t->codes.n, x, axis));
	limits(v, t, &lo, &hi);
	bool sign = t->type.kind == DT_INT;
	if (lo > (sign ? -exp2(t->type.bits - 1) : 0) || hi < exp2(t->type.bits - sign) - 1) {
		Attr attr[] = { attr_float("lo", lo), attr_float("hi", hi) };
		x = node_each(v, OP_clip, &x, 1, attr, 2);
	}
	Attr to = attr_text("to", dtype_print(t->type, name));
	return node_each(v, OP_cast, &x, 1, &to, 1);
}

static int quantise(Visit *v, int x, const TfliteTensor *t)
{
	for (size_t k = 0; k < t->codes.n && node_ok(v); k++)
		if (!(t->codes.scale[k] > 0))
			node_fail(v, ERR_INPUT, "the scale of its result is 0");
	if (!node_ok(v))
		return x;
	int scale = spread(v, F32, t->codes.scale, NULL, t->codes.n, x, t->codes.axis);
	return round_to_codes(v, node_each2(v, OP_div, x, scale), t, t->codes.axis);
}

void tflite_set_real(Visit *v, int k, int y)
{
	const TfliteTensor *t = tflite_out(v, k);
	node_set(v, k, has_codes(t) ? quantise(v, y, t) : y);
}

int tflite_activate_codes(Visit *v, int x)
{
	const TfliteTensor *t = tflite_out(v, 0);
	double lo, hi;
	if (!has_codes(t))
		return tflite_activate(v, x);
	if (!tflite_activation_limits(v, &lo, &hi)) {
		int64_t kind = node_attr_int(v, "activation", 0);
		if (node_ok(v) && kind != 0)
			node_fail(v, ERR_UNSUPPORTED, "its activation is %lld, which is not supported on codes", (long long)kind);
		return x;
	}
	limits(v, t, &lo, &hi);
	x = node_call2(v, OP_maximum, x, node_number(v, t->type, lo));
	return node_call2(v, OP_minimum, x, node_number(v, t->type, hi));
}

/* ---- products of codes */

static bool is_byte(const TfliteTensor *t)
{
	return has_codes(t) && t->type.bits == 8;
}

bool tflite_is_integer(Visit *v)
{
	const TfliteTensor *x = tflite_in(v, 0), *f = tflite_in(v, 1), *b = tflite_in(v, 2), *y = tflite_out(v, 0);
	bool limited = node_attr_int(v, "activation", 0) <= 3; /* by a clipping */
	return limited && is_byte(x) && is_byte(f) && is_byte(y) && x->codes.n == 1 && y->codes.n == 1 &&
	       (b == NULL || dtype_eq(b->type, I32));
}

int tflite_centred(Visit *v, int k)
{
	int x = tflite_value(v, k);
	const TfliteTensor *t = tflite_in(v, k);
	Attr to = attr_text("to", "i32");
	x = node_each(v, OP_cast, &x, 1, &to, 1);
	if (!node_ok(v) || !has_codes(t) || all_zero(&t->codes))
		return x;
	return node_each2(v, OP_sub, x, spread(v, I32, NULL, t->codes.zero, t->codes.n, x, t->codes.axis));
}

int tflite_rescale(Visit *v, int acc, int axis)
{
	const TfliteTensor *x = tflite_in(v, 0), *f = tflite_in(v, 1), *y = tflite_out(v, 0);
	float *scale = arena_array(v->im->arena, float, f->codes.n);
	Shape s = node_val(v, acc)->shape;
	if (node_ok(v) && f->codes.n > 1 && (int64_t)f->codes.n != s.dim[axis])
		node_fail(
			v, ERR_TYPE, "its filter has %zu scales, but its result %lld channels", f->codes.n, (long long)s.dim[axis]);
	if (node_ok(v) && !(y->codes.scale[0] > 0))
		node_fail(v, ERR_INPUT, "the scale of its result is 0");
	if (!node_ok(v))
		return acc;
	for (size_t k = 0; k < f->codes.n; k++)
		scale[k] = x->codes.scale[0] * f->codes.scale[k] / y->codes.scale[0];
	int z = node_call2(v, OP_mul, node_cast(v, acc, F32), spread(v, F32, scale, NULL, f->codes.n, acc, axis));
	return round_to_codes(v, z, y, axis);
}

/* ---- rows */

/* Halves become f32; codes their real numbers. */
static void import_dequantize(Visit *v)
{
	int x = tflite_value(v, 0);
	const TfliteTensor *t = tflite_in(v, 0);
	Attr to = attr_text("to", "f32");
	if (node_ok(v) && dtype_is_float(node_val(v, x)->type))
		node_set(v, 0, node_each(v, OP_cast, &x, 1, &to, 1));
	else if (node_ok(v) && has_codes(t))
		node_set(v, 0, tflite_real(v, x, &t->codes, t->codes.axis));
	else if (node_ok(v))
		node_fail(v, ERR_INPUT, "its input has no scale");
}

/* Of real numbers, or of codes of another scale. */
static void import_quantize(Visit *v)
{
	int x = tflite_real_input(v, 0);
	const TfliteTensor *t = tflite_out(v, 0);
	if (node_ok(v) && !has_codes(t))
		node_fail(v, ERR_INPUT, "its result has no scale");
	if (node_ok(v))
		node_set(v, 0, quantise(v, x, t));
}

/* Numbers as 2^bits - 1 steps between min and max can have them, which are moved so that 0 is one. */
static void import_fake_quant(Visit *v)
{
	double lo = node_attr_float(v, "min", 0), hi = node_attr_float(v, "max", 0);
	int64_t bits = node_attr_int(v, "num_bits", 8);
	double least = node_attr_flag(v, "narrow_range", false) ? 1 : 0;
	if (node_ok(v) && (bits < 2 || bits > 16 || !(lo <= 0 && hi >= 0 && hi > lo)))
		node_fail(v, ERR_INPUT, "its range of %g to %g in %lld bits is none", lo, hi, (long long)bits);
	double most = exp2((double)bits) - 1, scale = (hi - lo) / (most - least), zero = least - lo / scale;
	zero = zero < least ? least : zero > most ? most : round(zero);
	Attr attr[] = { attr_float("lo", (least - zero) * scale), attr_float("hi", (most - zero) * scale) };
	int x = tflite_value(v, 0);
	x = node_each(v, OP_clip, &x, 1, attr, 2);
	x = node_each1(v, OP_round, node_each2(v, OP_mul, x, node_number(v, F32, 1 / scale)));
	node_set(v, 0, node_each2(v, OP_mul, x, node_number(v, F32, scale)));
}

const NodeRow tflite_quant_rows[] = {
	{ "DEQUANTIZE", 0, "", import_dequantize },
	{ "QUANTIZE", 0, "", import_quantize },
	{ "FAKE_QUANT", 0, "", import_fake_quant },
	{ NULL, 0, NULL, NULL },
};
