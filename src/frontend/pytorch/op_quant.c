/*
 * Rows of quantisation. Codes are multiplied as integers of 32 bits, where zero points are exact. Sums are scaled in
 * f32 as FBGEMM does; rounding is to even, and the cast to codes saturates. Exported programs have the operators of
 * quantized_decomposed: there all tensors are plain.
 */
#include "frontend/node/compose.h"
#include "frontend/pytorch/quant.h"
#include "frontend/pytorch/window.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

/* Codes of a type by ScalarType's number: qint8, quint8, qint32, or the plain ones. */
static DType code_type(Aten *n, const char *name)
{
	int64_t code = aten_int(n, name);
	DType t = DT(UINT, 8);
	bool known = code >= 12 && code <= 14;
	if (known)
		t = code == 12 ? DT(INT, 8) : code == 13 ? DT(UINT, 8) : I32;
	else
		known = torch_type_from(code, &t) && dtype_is_int(t) && t.bits <= 32;
	if (node_ok(n->v) && !known)
		node_fail(n->v, ERR_UNSUPPORTED, "codes of type %lld of PyTorch are not supported", (long long)code);
	return t;
}

/* Numbers along an axis of `rank` dimensions as they broadcast. */
static int along(Visit *v, int x, int axis, int rank)
{
	Shape s = node_val(v, x)->shape, t = { .rank = rank - axis };
	if (s.rank == 0 || shape_elements(s) == 1)
		return node_view(v, x, 0, NULL);
	for (int k = 0; k < t.rank; k++)
		t.dim[k] = k == 0 ? shape_elements(s) : 1;
	return node_reshape(v, x, t);
}

static int numbers_along(Visit *v, const float *x, int64_t count, int axis, int rank)
{
	return along(
		v, node_const(v, F32, shape_of(1, &count), arena_copy(v->im->arena, x, sizeof *x * (size_t)count)), axis, rank);
}

/*
 * round(x * (1 / scale)) + zero, between lo and hi where the type's own limits are others. A quotient would round other
 * numbers that lie between two codes.
 */
static int codes(Visit *v, int x, int scale, int zero, DType type, double lo, double hi)
{
	Attr attr[] = { attr_float("lo", lo), attr_float("hi", hi) };
	int times = node_call2(v, OP_div, node_number(v, F32, 1), scale);
	int y = node_call1(v, OP_round, node_call2(v, OP_mul, x, times));
	y = node_call2(v, OP_add, y, zero);
	if (isfinite(lo) || isfinite(hi))
		y = node_call(v, OP_clip, &y, 1, attr, 2);
	return node_cast(v, y, type);
}

int torch_codes(Visit *v, int x, const TorchQuant *q, DType type)
{
	int rank = node_val(v, x)->shape.rank;
	x = node_cast(v, x, F32);
	if (q->scales == NULL)
		return codes(v, x, node_number(v, F32, q->scale), node_number(v, F32, (double)q->zero), type, -(double)INFINITY,
			(double)INFINITY);
	int s = along(v, node_cast(v, torch_value(v, q->scales), F32), q->axis, rank);
	int z = along(v, node_cast(v, torch_value(v, q->zeros), F32), q->axis, rank);
	return codes(v, x, s, z, type, -(double)INFINITY, (double)INFINITY);
}

/* Codes less their zero point, in a type. */
static int centred(Visit *v, TorchTensor *t, DType type)
{
	const TorchQuant *q = torch_quant(t);
	int x = node_cast(v, torch_value(v, t), type);
	if (q->scales != NULL)
		return node_call2(
			v, OP_sub, x, along(v, node_cast(v, torch_value(v, q->zeros), type), q->axis, node_val(v, x)->shape.rank));
	return q->zero != 0 ? node_with_number(v, OP_sub, x, (double)q->zero) : x;
}

static TorchTensor *quantised(Aten *n, const char *name)
{
	TorchTensor *t = aten_tensor(n, name);
	if (node_ok(n->v) && torch_quant(t) == NULL)
		node_fail(n->v, ERR_TYPE, "its argument %s is no quantised tensor", name);
	return t;
}

static int dequantised(Visit *v, TorchTensor *t)
{
	const TorchQuant *q = torch_quant(t);
	int x = centred(v, t, F32);
	if (q->scales == NULL)
		return node_with_number(v, OP_mul, x, q->scale);
	return node_call2(
		v, OP_mul, x, along(v, node_cast(v, torch_value(v, q->scales), F32), q->axis, node_val(v, x)->shape.rank));
}

static void give_codes(Aten *n, int value, const TorchQuant *q)
{
	TorchValue y = torch_of(n->v, value);
	y.tensor->quant = arena_copy(n->v->im->arena, q, sizeof *q);
	aten_give(n, y);
}

/* The result's scale and zero point; without them those of `like`. */
static TorchQuant read_quant(Aten *n, const char *scale, const char *zero, const TorchQuant *like)
{
	TorchQuant q = like != NULL ? *like : (TorchQuant){ .scale = 1 };
	if (aten_given(n, scale))
		q.scale = aten_float(n, scale);
	if (aten_given(n, zero))
		q.zero = aten_int(n, zero);
	if (node_ok(n->v) && !(q.scale > 0 && q.scale < (double)INFINITY))
		node_fail(n->v, ERR_INPUT, "its scale %g is no positive number", q.scale);
	return q;
}

static void import_quantize(Aten *n)
{
	TorchQuant q = read_quant(n, "scale", "zero_point", NULL);
	DType type = code_type(n, "dtype");
	if (node_ok(n->v))
		give_codes(n, torch_codes(n->v, aten_value(n, "self"), &q, type), &q);
}

static void import_quantize_channels(Aten *n)
{
	Shape s = aten_shape(n, "self");
	TorchQuant q = { .scales = aten_tensor(n, "scales"), .zeros = aten_tensor(n, "zero_points") };
	q.axis = aten_axis(n, "axis", s.rank);
	DType type = code_type(n, "dtype");
	if (node_ok(n->v) && shape_elements(torch_shape(n->v, q.scales)) != s.dim[q.axis])
		node_fail(n->v, ERR_TYPE, "its scales are not as many as its channels");
	if (node_ok(n->v))
		give_codes(n, torch_codes(n->v, aten_value(n, "self"), &q, type), &q);
}

static void import_dequantize(Aten *n)
{
	TorchTensor *t = aten_tensor(n, "self");
	if (node_ok(n->v) && torch_quant(t) == NULL)
		aten_set(n, aten_floating(n, torch_value(n->v, t))); /* floats are what they are */
	else if (node_ok(n->v))
		aten_set(n, dequantised(n->v, t));
}

static void import_int_repr(Aten *n)
{
	aten_set(n, node_call1(n->v, OP_identity, torch_value(n->v, quantised(n, "self"))));
}

static void import_scale_of(Aten *n)
{
	const TorchQuant *q = torch_quant(quantised(n, "self"));
	if (node_ok(n->v))
		aten_give(n, n->row->op != 0 ? torch_int(q->zero) : torch_float(q->scale));
}

/* code * scale + (-zero * scale), rounded once, as vectors of PyTorch are: in f64 the product is exact. */
static int fused(Visit *v, TorchTensor *t)
{
	const TorchQuant *q = torch_quant(t);
	if (q->scales != NULL || q->zero == 0)
		return dequantised(v, t);
	float back = (float)q->scale * -(float)q->zero;
	int x = node_with_number(v, OP_mul, node_cast(v, torch_value(v, t), F64), (double)(float)q->scale);
	return node_cast(v, node_with_number(v, OP_add, x, (double)back), F32);
}

/* Numbers of operands, an operator of the Dag, perhaps a relu, and codes of the result. */
static void import_binary(Aten *n)
{
	Visit *v = n->v;
	TorchTensor *a = quantised(n, "qa"), *b = quantised(n, "qb");
	TorchQuant q = read_quant(n, "scale", "zero_point", NULL);
	const TorchQuant *p = torch_quant(a), *r = torch_quant(b);
	if (!node_ok(v))
		return;
	if (n->row->op % 1000 == OP_mul && p->scales == NULL && r->scales == NULL) { /* of codes, then one factor */
		float factor = (float)p->scale * (float)r->scale * (1 / (float)q.scale);
		int acc = node_cast(v, node_call2(v, OP_mul, centred(v, a, I32), centred(v, b, I32)), F32);
		int code = node_call1(v, OP_round, node_with_number(v, OP_mul, acc, (double)factor));
		code = n->row->op >= 1000 ? node_call1(v, OP_relu, code) : code;
		code = node_with_number(v, OP_add, code, (double)q.zero);
		give_codes(n, node_cast(v, code, torch_item(v, a)->type), &q);
		return;
	}
	int y = node_call2(v, n->row->op % 1000, fused(v, a), fused(v, b));
	if (n->row->op >= 1000)
		y = node_call1(v, OP_relu, y);
	give_codes(n, torch_codes(v, y, &q, torch_item(v, a)->type), &q);
}

static void import_cat(Aten *n)
{
	Visit *v = n->v;
	TorchValue list = aten_any(n, "qx");
	size_t count = list.list->n;
	int *at = arena_array(v->im->arena, int, count + 1);
	if (count == 0)
		node_fail(v, ERR_INPUT, "its list is empty");
	for (size_t k = 0; k < count && node_ok(v); k++) {
		TorchValue x = list.list->at[k];
		if (x.kind != TORCH_TENSOR || torch_quant(x.tensor) == NULL)
			node_fail(v, ERR_TYPE, "element %zu of its list is no quantised tensor", k);
		else
			at[k] = dequantised(v, x.tensor);
	}
	if (!node_ok(v))
		return;
	TorchTensor *first = list.list->at[0].tensor;
	TorchQuant q = read_quant(n, "scale", "zero_point", torch_quant(first));
	int axis = aten_axis(n, "dim", torch_shape(v, first).rank);
	int y = node_ok(v) ? node_concat(v, at, (int)count, axis) : DAG_NONE;
	give_codes(n, torch_codes(v, n->row->op != 0 ? node_call1(v, OP_relu, y) : y, &q, torch_item(v, first)->type), &q);
}

/* An operator of plain tensors on the numbers that codes stand for: quantized::hardswish(x, scale, zero). */
static void import_through(Aten *n)
{
	static const char *const ops[] = { "hardswish", "sigmoid", "leaky_relu", "elu", "batch_norm", "layer_norm",
		"relu6" };
	Visit *v = n->v;
	TorchTensor *t = quantised(n, "x");
	int op = n->row->op % 100;
	if (!node_ok(v))
		return;
	TorchValue in[8] = { torch_of(v, dequantised(v, t)) }, y;
	size_t count = 1;
	const char *name[8] = { NULL };
	static const char *const more[][5] = { [2] = { "negative_slope" },
		[3] = { "alpha" },
		[4] = { "weight", "bias", "mean", "var", "eps" },
		[5] = { "normalized_shape", "weight", "bias", "eps" },
		[6] = { NULL } };
	for (int k = 0; k < 5 && more[op][k] != NULL; k++)
		in[count++] = aten_any(n, more[op][k]);
	if (op == 4) { /* batch_norm(x, weight, bias, mean, var, training, momentum, eps, cudnn) */
		in[7] = in[5];
		in[5] = torch_bool(false);
		in[6] = torch_float(0);
		count = 8;
	}
	if (!aten_call(v, ops[op], &(AtenIn){ in, name, count }, &y))
		return;
	TorchQuant q = *torch_quant(t);
	DType type = torch_item(v, t)->type;
	q = read_quant(n, "scale", "zero_point", &q);
	int value = torch_value(v, y.tensor);
	if (n->row->op >= 100)
		value = node_call1(v, OP_relu, value);
	give_codes(n, torch_codes(v, value, &q, type), &q);
}

/* ---- weights: objects with what a product needs */

static const char *const packed_names[] = { "weight", "bias", "stride", "padding", "dilation", "groups",
	"output_padding" };

static void import_prepack(Aten *n)
{
	Arena *a = n->v->im->arena;
	TorchObject *o = arena_new_of(a, TorchObject);
	*o = (TorchObject){ .class = "packed weights", .path = "", .state = torch_list(a, TORCH_DICT).list };
	for (int k = 0; k < n->row->op; k++) {
		torch_push(a, o->state, torch_text(packed_names[k]));
		torch_push(a, o->state, aten_any(n, packed_names[k]));
	}
	aten_give(n, (TorchValue){ .kind = TORCH_OBJECT, .object = o });
}

/* The part of packed weights; of a pickled LinearPackedParamsBase by its place. */
static TorchValue part(Aten *n, const char *name)
{
	TorchValue p = aten_any(n, "packed"), *x = NULL;
	if (p.kind == TORCH_OBJECT) {
		x = torch_find(p.object->state, name);
		for (size_t k = 0; x == NULL && p.object->given != NULL && k < p.object->given->n && k < 2; k++)
			if (strcmp(name, packed_names[k]) == 0)
				x = &p.object->given->at[k];
	}
	return x != NULL ? *x : torch_none();
}

static void import_unpack(Aten *n)
{
	TorchValue both = torch_list(n->v->im->arena, TORCH_TUPLE);
	torch_push(n->v->im->arena, both.list, part(n, "weight"));
	torch_push(n->v->im->arena, both.list, part(n, "bias"));
	aten_give(n, both);
}

/* Scales of the weight's rows, as FBGEMM has them; one where all are the same. */
static int64_t weight_scales(Visit *v, TorchTensor *w, float **out)
{
	const TorchQuant *q = torch_quant(w);
	*out = arena_array(v->im->arena, float, 1);
	(*out)[0] = (float)q->scale;
	if (q->scales == NULL)
		return 1;
	Item *it = torch_item(v, q->scales);
	if (!node_know(v, it, "the scales of its weight"))
		return 1;
	int64_t count = shape_elements(it->shape);
	*out = arena_array(v->im->arena, float, count + 1);
	for (int64_t k = 0; k < count; k++)
		(*out)[k] = (float)element_get(it->type, it->data, k);
	return count;
}

static TorchTensor *packed_weight(Aten *n)
{
	TorchValue w = part(n, "weight");
	if (node_ok(n->v) && (w.kind != TORCH_TENSOR || torch_quant(w.tensor) == NULL || torch_quant(w.tensor)->axis != 0))
		node_fail(n->v, ERR_UNSUPPORTED, "its packed weights hold no quantised weight that dlc reads");
	return w.tensor;
}

/* Codes of (acc + bias / (x w)) * (x w / y), of x's, the weight's and the result's scales; w along `axis`. */
static void give_scaled(
	Aten *n, int acc, TorchTensor *w, const TorchQuant *x, const TorchQuant *q, int axis, DType type)
{
	Visit *v = n->v;
	TorchValue b = part(n, "bias");
	float *scale, *factor;
	int64_t count = node_ok(v) ? weight_scales(v, w, &scale) : 0;
	if (!node_ok(v))
		return;
	int rank = node_val(v, acc)->shape.rank;
	factor = arena_array(v->im->arena, float, count + 1);
	for (int64_t k = 0; k < count; k++) {
		scale[k] *= (float)x->scale;
		factor[k] = scale[k] / (float)q->scale;
	}
	int y = node_cast(v, acc, F32);
	if (b.kind == TORCH_TENSOR) {
		int bias = along(v, torch_value(v, b.tensor), axis, rank);
		y = node_call2(v, OP_add, y, node_call2(v, OP_div, bias, numbers_along(v, scale, count, axis, rank)));
	}
	y = node_call1(v, OP_round, node_call2(v, OP_mul, y, numbers_along(v, factor, count, axis, rank)));
	if (n->row->op >= 100)
		y = node_call1(v, OP_relu, y);
	give_codes(n, node_cast(v, node_with_number(v, OP_add, y, (double)q->zero), type), q);
}

/* `spatial` numbers of packed weights. */
static void packed_numbers(Aten *n, const char *name, int spatial, int64_t least, int64_t *out)
{
	Visit *v = n->v;
	TorchValue p = part(n, name);
	if (p.kind != TORCH_LIST || p.list->n != (size_t)spatial)
		node_fail(v, ERR_INPUT, "its packed weights have no proper %s", name);
	for (int i = 0; i < spatial && node_ok(v); i++)
		if (!torch_to_int(v, p.list->at[i], &out[i]) || out[i] < least || out[i] > INT32_MAX)
			node_fail(v, ERR_INPUT, "its packed weights have no proper %s", name);
}

static void import_conv(Aten *n)
{
	Visit *v = n->v;
	bool transposed = n->row->op / 10 % 10 != 0;
	TorchTensor *x = quantised(n, "qx"), *w = packed_weight(n);
	TorchQuant q = read_quant(n, "scale", "zero_point", NULL);
	if (node_ok(v) && transposed && torch_quant(w)->scales != NULL)
		node_fail(v, ERR_UNSUPPORTED, "its weight has several scales where a transposed convolution has one for all");
	if (!node_ok(v))
		return;
	int a = centred(v, x, I32), b = centred(v, w, I32);
	Shape s = node_val(v, a)->shape, t = node_val(v, b)->shape;
	int spatial = n->row->op % 10;
	if (node_ok(v) && (s.rank != t.rank || s.rank != spatial + 2))
		node_fail(v, ERR_TYPE, "its input has %d dimensions and its weight %d", s.rank, t.rank);
	if (!node_ok(v))
		return;
	Windows win = windows_over(v, &s);
	int64_t groups = 1, extend[MOST_SPATIAL] = { 0 };
	packed_numbers(n, "stride", spatial, 1, win.stride);
	packed_numbers(n, "padding", spatial, 0, win.pads);
	packed_numbers(n, "dilation", spatial, 1, win.dilation);
	if (transposed)
		packed_numbers(n, "output_padding", spatial, 0, extend);
	if (!torch_to_int(v, part(n, "groups"), &groups) && node_ok(v))
		node_fail(v, ERR_INPUT, "its packed weights have no groups");
	if (!node_ok(v))
		return;
	memcpy(&win.pads[spatial], win.pads, sizeof *win.pads * (size_t)spatial);
	for (int k = 0; k < spatial; k++)
		win.kernel[k] = t.dim[2 + k];
	int acc = transposed ? node_conv_transpose(v, a, b, DAG_NONE, &win, extend, groups)
	                     : node_conv(v, a, b, DAG_NONE, &win, groups);
	give_scaled(n, acc, w, torch_quant(x), &q, 1, torch_item(v, x)->type);
}

/* x w^T of integers, x[..,K] and w[N,K]. */
static int product(Visit *v, int x, int w)
{
	Shape s = node_val(v, x)->shape, t = node_val(v, w)->shape;
	if (node_ok(v) && (s.rank < 1 || t.rank != 2 || s.dim[s.rank - 1] != t.dim[1]))
		node_fail(v, ERR_TYPE, "its weight does not fit its input");
	Attr turned = attr_int("tb", 1);
	int in[] = { x, w };
	if (!node_ok(v) || s.rank > 1)
		return node_call(v, OP_matmul, in, 2, &turned, 1);
	in[0] = node_view(v, x, 2, (int64_t[]){ 1, s.dim[0] });
	return node_view(v, node_call(v, OP_matmul, in, 2, &turned, 1), 1, t.dim);
}

static void import_linear(Aten *n)
{
	Visit *v = n->v;
	TorchTensor *x = quantised(n, "qx"), *w = packed_weight(n);
	TorchQuant q = read_quant(n, "scale", "zero_point", NULL);
	if (!node_ok(v))
		return;
	int acc = product(v, centred(v, x, I32), centred(v, w, I32));
	give_scaled(n, acc, w, torch_quant(x), &q, node_val(v, acc)->shape.rank - 1, torch_item(v, x)->type);
}

/* The input gets codes of the range that it has, which is made to hold 0. */
static void import_linear_dynamic(Aten *n)
{
	Visit *v = n->v;
	TorchTensor *w = packed_weight(n);
	TorchValue b = part(n, "bias");
	double most = aten_flag(n, "reduce_range") ? 127 : 255;
	int x = aten_value(n, "x"), rank = node_val(v, x)->shape.rank;
	float *scale;
	int64_t count = node_ok(v) ? weight_scales(v, w, &scale) : 0;
	Attr keep = attr_int("keep", 0);
	if (!node_ok(v))
		return;
	int low = node_with_number(v, OP_minimum, node_call(v, OP_reduce_min, &x, 1, &keep, 1), 0);
	int high = node_with_number(v, OP_maximum, node_call(v, OP_reduce_max, &x, 1, &keep, 1), 0);
	int step = node_with_number(v, OP_div, node_call2(v, OP_sub, high, low), most);
	step = node_where(v, node_with_number(v, OP_equal, step, 0), node_number(v, F32, 0.1), step);
	int zero = node_call1(v, OP_round, node_call1(v, OP_neg, node_call2(v, OP_div, low, step)));
	Attr limits[] = { attr_float("lo", 0), attr_float("hi", most) };
	zero = node_call(v, OP_clip, &zero, 1, limits, 2);
	int q = codes(v, x, step, zero, I32, 0, most);
	int acc = product(v, node_call2(v, OP_sub, q, node_cast(v, zero, I32)), centred(v, w, I32));
	int factor = node_call2(v, OP_mul, numbers_along(v, scale, count, rank - 1, rank), step);
	int y = node_call2(v, OP_mul, node_cast(v, acc, F32), factor);
	if (b.kind == TORCH_TENSOR)
		y = node_call2(v, OP_add, y, torch_value(v, b.tensor));
	aten_set(n, n->row->op >= 100 ? node_call1(v, OP_relu, y) : y);
}

/* ---- exported programs: codes are plain tensors, scales are arguments */

/* A scale or zero point, a number or a tensor, in f32 as it broadcasts. */
static int given(Aten *n, const char *all, const char *each, int axis, int rank)
{
	const char *name = aten_given(n, each) ? each : all;
	int x = aten_given(n, name) ? aten_as(n, aten_any(n, name), F32) : node_number(n->v, F32, 0);
	return along(n->v, x, axis, rank);
}

static void import_codes(Aten *n)
{
	Visit *v = n->v;
	int x = node_cast(v, aten_value(n, "input"), F32), rank = node_val(v, x)->shape.rank;
	bool fake = n->row->op != 0;
	int axis = aten_given(n, "axis") ? aten_axis(n, "axis", rank) : 0;
	DType type = fake ? F32 : code_type(n, "dtype");
	double lo = aten_float(n, "quant_min"), hi = aten_float(n, "quant_max");
	if (!node_ok(v))
		return;
	int s = given(n, "scale", "scales", axis, rank), z = given(n, "zero_point", "zero_points", axis, rank);
	int y = codes(v, x, s, z, type, lo, hi);
	aten_set(n, fake ? node_call2(v, OP_mul, node_call2(v, OP_sub, y, z), s) : y);
}

static void import_numbers(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "input"), rank = node_val(v, x)->shape.rank;
	int axis = aten_given(n, "axis") ? aten_axis(n, "axis", rank) : 0;
	DType type = aten_type(n, "out_dtype", F32);
	if (!node_ok(v))
		return;
	int y = node_call2(v, OP_sub, node_cast(v, x, F32), given(n, "zero_point", "zero_points", axis, rank));
	aten_set(n, node_cast(v, node_call2(v, OP_mul, y, given(n, "scale", "scales", axis, rank)), type));
}

/* The scale and zero point for the range that a tensor has. */
static void import_choose(Aten *n)
{
	Visit *v = n->v;
	int x = node_cast(v, aten_value(n, "input"), F32);
	double lo = aten_float(n, "quant_min"), hi = aten_float(n, "quant_max"), least = aten_float(n, "eps");
	Attr keep = attr_int("keep", 0);
	if (!node_ok(v))
		return;
	int low = node_with_number(v, OP_minimum, node_call(v, OP_reduce_min, &x, 1, &keep, 1), 0);
	int high = node_with_number(v, OP_maximum, node_call(v, OP_reduce_max, &x, 1, &keep, 1), 0);
	int step = node_with_number(v, OP_div, node_call2(v, OP_sub, high, low), hi - lo);
	step = node_with_number(v, OP_maximum, step, least);
	int zero =
		node_call2(v, OP_sub, node_number(v, F32, lo), node_call1(v, OP_round, node_call2(v, OP_div, low, step)));
	Attr limits[] = { attr_float("lo", lo), attr_float("hi", hi) };
	zero = node_call(v, OP_clip, &zero, 1, limits, 2);
	int both[] = { node_cast(v, step, F64), node_cast(v, zero, I64) };
	aten_give_values(n, both, 2);
}

#define OUT " scale:* zero_point:*"
#define CONV "qx:T packed:*" OUT
#define PREPACK "weight:T bias:T? stride:A padding:A dilation:A groups:i"
#define TURNED "weight:T bias:T? stride:A padding:A output_padding:A dilation:A groups:i"
#define CODES "input:T scale:* zero_point:* quant_min:i quant_max:i dtype:i"
#define NUMBERS "input:T scale:* zero_point:* quant_min:_ quant_max:_ dtype:_"
#define CHANNELS(s, rest) "input:T scale" s ":* zero_point" s ":*? axis:i quant_min:" rest " quant_max:" rest

const AtenRow torch_quant_rows[] = {
	{ "quantize_per_tensor", "self:T scale:* zero_point:* dtype:i", import_quantize, 0 },
	{ "quantize_per_channel", "self:T scales:T zero_points:T axis:i dtype:i", import_quantize_channels, 0 },
	{ "dequantize", "self:T", import_dequantize, 0 },
	{ "int_repr", "self:T", import_int_repr, 0 },
	{ "q_scale", "self:T", import_scale_of, 0 },
	{ "q_zero_point", "self:T", import_scale_of, 1 },
	{ "fake_quantize_per_tensor_affine", "input:T scale:* zero_point:* quant_min:i quant_max:i", import_codes, 1 },
	{ "fake_quantize_per_channel_affine", CHANNELS("", "i"), import_codes, 1 },
	{ "quantized::add", "qa:T qb:T" OUT, import_binary, OP_add },
	{ "quantized::add_relu", "qa:T qb:T" OUT, import_binary, 1000 + OP_add },
	{ "quantized::mul", "qa:T qb:T" OUT, import_binary, OP_mul },
	{ "quantized::mul_relu", "qa:T qb:T" OUT, import_binary, 1000 + OP_mul },
	{ "quantized::cat", "qx:L dim:i scale:*? zero_point:*?", import_cat, 0 },
	{ "quantized::cat_relu", "qx:L dim:i scale:*? zero_point:*?", import_cat, 1 },
	{ "quantized::hardswish", "x:T scale:* zero_point:*", import_through, 0 },
	{ "quantized::sigmoid", "x:T scale:* zero_point:*", import_through, 1 },
	{ "quantized::leaky_relu", "x:T negative_slope:n inplace:_ scale:* zero_point:*", import_through, 2 },
	{ "quantized::elu", "x:T scale:* zero_point:* alpha:n=1", import_through, 3 },
	{ "quantized::batch_norm", "x:T weight:T? bias:T? mean:T var:T eps:f scale:* zero_point:*", import_through, 4 },
	{ "quantized::batch_norm2d", "x:T weight:T? bias:T? mean:T var:T eps:f scale:* zero_point:*", import_through, 4 },
	{ "quantized::batch_norm_relu", "x:T weight:T? bias:T? mean:T var:T eps:f scale:* zero_point:*", import_through,
		104 },
	{ "quantized::batch_norm2d_relu", "x:T weight:T? bias:T? mean:T var:T eps:f scale:* zero_point:*", import_through,
		104 },
	{ "quantized::layer_norm", "x:T normalized_shape:I weight:T? bias:T? eps:f scale:* zero_point:*", import_through,
		5 },
	{ "quantized::relu6", "x:T inplace:_=False", import_through, 6 },
	{ "quantized::conv1d_prepack", PREPACK, import_prepack, 6 },
	{ "quantized::conv2d_prepack", PREPACK, import_prepack, 6 },
	{ "quantized::conv3d_prepack", PREPACK, import_prepack, 6 },
	{ "quantized::conv_transpose1d_prepack", TURNED, import_prepack, 7 },
	{ "quantized::conv_transpose2d_prepack", TURNED, import_prepack, 7 },
	{ "quantized::conv_transpose3d_prepack", TURNED, import_prepack, 7 },
	{ "quantized::linear_prepack", "weight:T bias:T?", import_prepack, 2 },
	{ "quantized::conv2d_unpack", "packed:*", import_unpack, 0 },
	{ "quantized::linear_unpack", "packed:*", import_unpack, 0 },
	{ "quantized::conv1d", CONV, import_conv, 1 },
	{ "quantized::conv2d", CONV, import_conv, 2 },
	{ "quantized::conv3d", CONV, import_conv, 3 },
	{ "quantized::conv1d_relu", CONV, import_conv, 101 },
	{ "quantized::conv2d_relu", CONV, import_conv, 102 },
	{ "quantized::conv3d_relu", CONV, import_conv, 103 },
	{ "quantized::conv_transpose1d", CONV, import_conv, 11 },
	{ "quantized::conv_transpose2d", CONV, import_conv, 12 },
	{ "quantized::conv_transpose3d", CONV, import_conv, 13 },
	{ "quantized::linear", CONV, import_linear, 0 },
	{ "quantized::linear_relu", CONV, import_linear, 100 },
	{ "quantized::linear_dynamic", "x:T packed:* reduce_range:b=False", import_linear_dynamic, 0 },
	{ "quantized::linear_relu_dynamic", "x:T packed:* reduce_range:b=False", import_linear_dynamic, 100 },
	{ "quantized_decomposed::quantize_per_tensor", CODES, import_codes, 0 },
	{ "quantized_decomposed::dequantize_per_tensor", NUMBERS " out_dtype:d?", import_numbers, 0 },
	{ "quantized_decomposed::quantize_per_channel", CHANNELS("s", "i") " dtype:i", import_codes, 0 },
	{ "quantized_decomposed::dequantize_per_channel", CHANNELS("s", "_") " dtype:_ out_dtype:d?", import_numbers, 0 },
	{ "quantized_decomposed::choose_qparams", "input:T quant_min:i quant_max:i eps:f dtype:_", import_choose, 0 },
	{ NULL, NULL, NULL, 0 },
};
