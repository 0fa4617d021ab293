/*
 * Rows of quantisation and of products of small integers. Codes are taken to i32 (products) or f32 (scaling), where
 * zero points are exact; rounding is to even, and the cast back saturates. So each node is a few elementwise calls
 * around a product in i32.
 */
#include "frontend/node/compose.h"
#include "frontend/onnx/float8.h"
#include "frontend/onnx/rows.h"
#include "frontend/onnx/windows.h"

#include <string.h>

/* A scale or zero point of input k in the form in which it broadcasts to x: for all, along an axis, or for blocks. */
static int spread(Visit *v, int value, Shape x, int axis, int64_t block)
{
	Shape s = node_val(v, value)->shape;
	char a[160], b[160];
	if (!node_ok(v))
		return DAG_NONE;
	if (block > 0) {
		Shape want = x, apart = x;
		want.dim[axis] = x.dim[axis] / block + (x.dim[axis] % block != 0);
		if (!shape_eq(s, want)) {
			node_fail(v, ERR_TYPE, "its scales have the shape %s, but blocks of %lld need %s", shape_str(s, a),
				(long long)block, shape_str(want, b));
			return DAG_NONE;
		}
		if (x.rank == DAG_MAX_RANK) {
			node_fail(v, ERR_UNSUPPORTED, "blocks of tensors of %d dimensions are not supported", x.rank);
			return DAG_NONE;
		}
		memmove(&apart.dim[axis + 1], &apart.dim[axis], sizeof *x.dim * (size_t)(x.rank - axis));
		apart.rank++;
		apart.dim[axis] = want.dim[axis];
		apart.dim[axis + 1] = 1;
		value = node_reshape(v, value, apart);
		apart.dim[axis + 1] = block;
		value = node_expand(v, value, apart);
		want.dim[axis] = shape_product(&apart, axis, axis + 2);
		return node_slice(v, node_reshape(v, value, want), axis, 0, x.dim[axis]);
	}
	if (s.rank == 0 || shape_elements(s) == 1)
		return node_view(v, value, 0, NULL);
	if (s.rank != 1 || s.dim[0] != x.dim[axis]) {
		node_fail(v, ERR_TYPE, "its scales have the shape %s, but axis %d of its input has %lld elements",
			shape_str(s, a), axis, (long long)x.dim[axis]);
		return DAG_NONE;
	}
	Shape column = { .rank = x.rank - axis, .dim = { s.dim[0] } };
	for (int k = 1; k < column.rank; k++)
		column.dim[k] = 1;
	return node_reshape(v, value, column);
}

/* The axis and the block size of QuantizeLinear and DequantizeLinear, where scales are not for all elements. */
static void read_blocks(Visit *v, int *axis, int64_t *block)
{
	const Item *x = node_item(v, 0), *scale = node_need(v, 1), *zero = node_item(v, 2);
	if (x == NULL)
		x = node_need(v, 0);
	int64_t at = v->frame->version >= 13 ? node_attr_int(v, "axis", 1) : 1;
	*block = v->frame->version >= 21 ? node_attr_int(v, "block_size", 0) : 0;
	*axis = 0;
	if (node_ok(v) && *block < 0)
		node_fail(v, ERR_INPUT, "its attribute block_size is %lld, but must not be negative", (long long)*block);
	if (node_ok(v) && zero != NULL && shape_elements(zero->shape) != shape_elements(scale->shape))
		node_fail(v, ERR_TYPE, "its scales and zero points differ in their shapes");
	if (*block > 0 || shape_elements(scale->shape) != 1)
		*axis = node_axis(v, at, x->shape.rank);
	if (*block > INT32_MAX)
		node_fail(v, ERR_INPUT, "its attribute block_size is %lld, which is out of range", (long long)*block);
}

/* The type that codes are scaled in: f64 stays, all others fit f32. */
static DType scaling_type(DType t)
{
	return dtype_eq(t, F64) ? F64 : F32;
}

static int rounded_codes(Visit *v, int x, int zero, DType type)
{
	x = node_call1(v, OP_round, x);
	if (zero != DAG_NONE)
		x = node_call2(v, OP_add, x, node_cast(v, zero, node_val(v, x)->type));
	return node_cast(v, x, type);
}

static DType type_attr(Visit *v, const char *name, DType otherwise)
{
	int64_t code = node_attr_int(v, name, 0);
	DType t = otherwise;
	if (code != 0 && node_ok(v) && !onnx_type_from(code, &t))
		node_fail(v, ERR_UNSUPPORTED, "its attribute %s is %s, which dlc does not have", name, onnx_type_name(code));
	return t;
}

static void need_codes(Visit *v, const char *what, DType t)
{
	char s[DTYPE_TEXT];
	if (node_ok(v) && (!dtype_is_int(t) || t.bits > 32))
		node_fail(v, ERR_TYPE, "its %s is %s, but codes are integers of up to 32 bits", what, dtype_print(t, s));
}

/* 8-bit floats: x / scale and x * scale, since zero points are 0. */
static void quantize_float8(Visit *v, int64_t code)
{
	const Item *x = node_need(v, 0);
	int axis;
	int64_t block;
	read_blocks(v, &axis, &block);
	bool saturate = node_attr_flag(v, "saturate", true);
	if (v->frame->version >= 21)
		node_attr_int(v, "output_dtype", 0);
	if (node_ok(v)) {
		int s = spread(v, node_cast(v, node_value(v, 1), F32), x->shape, axis, block);
		float8_set(v, 0, node_call2(v, OP_div, node_cast(v, node_value(v, 0), F32), s), code, saturate);
	}
}

static void dequantize_float8(Visit *v, Item *x)
{
	const Item *scale = node_need(v, 1);
	int axis;
	int64_t block;
	read_blocks(v, &axis, &block);
	DType type = v->frame->version >= 23 ? type_attr(v, "output_dtype", scale->type) : scale->type;
	if (node_ok(v)) {
		int s = spread(v, node_cast(v, node_value(v, 1), F32), x->shape, axis, block);
		node_set(v, 0, node_cast(v, node_call2(v, OP_mul, float8_decode(v, x), s), type));
	}
}

/* saturate(round(x / scale) + zero) */
static void import_quantize(Visit *v)
{
	const Item *codes = node_item(v, 2);
	int64_t to = codes == NULL && v->frame->version >= 21 ? node_attr_int(v, "output_dtype", 0) : 0;
	if (onnx_type_is_float8(to) || (codes != NULL && codes->kind == ITEM_FLOAT8)) {
		quantize_float8(v, codes != NULL ? codes->code : to);
		return;
	}
	const Item *x = node_need(v, 0), *scale = node_need(v, 1), *zero = node_in(v, 2);
	int axis;
	int64_t block;
	DType type = zero != NULL ? zero->type : DT(UINT, 8);
	read_blocks(v, &axis, &block);
	DType asked = v->frame->version >= 21 ? type_attr(v, "output_dtype", type) : type;
	if (node_ok(v) && zero != NULL && !dtype_eq(asked, type))
		node_fail(v, ERR_TYPE, "its attribute output_dtype differs from the type of its zero point");
	need_codes(v, "result", asked);
	DType t = scaling_type(dtype_eq(scale->type, F64) ? F64 : x->type);
	if (v->frame->version >= 23)
		t = scaling_type(type_attr(v, "precision", t));
	int s = spread(v, node_cast(v, node_value(v, 1), t), x->shape, axis, block), z = DAG_NONE;
	if (zero != NULL)
		z = spread(v, node_value(v, 2), x->shape, axis, block);
	node_set(v, 0, rounded_codes(v, node_call2(v, OP_div, node_cast(v, node_value(v, 0), t), s), z, asked));
}

/* (x - zero) * scale, in the scale's type */
static void import_dequantize(Visit *v)
{
	Item *codes = node_item(v, 0);
	if (codes != NULL && codes->kind == ITEM_FLOAT8) {
		dequantize_float8(v, codes);
		return;
	}
	const Item *x = node_need(v, 0), *scale = node_need(v, 1);
	int axis;
	int64_t block;
	read_blocks(v, &axis, &block);
	need_codes(v, "input", x->type);
	DType type = v->frame->version >= 23 ? type_attr(v, "output_dtype", scale->type) : scale->type;
	DType t = scaling_type(type);
	int y;
	if (node_in(v, 2) != NULL && x->type.bits > 16) { /* f32 does not hold such codes */
		int z = spread(v, node_value(v, 2), x->shape, axis, block);
		y = node_cast(v, node_call2(v, OP_sub, node_value(v, 0), z), t);
	} else {
		y = node_cast(v, node_value(v, 0), t);
		if (node_in(v, 2) != NULL)
			y = node_call2(v, OP_sub, y, node_cast(v, spread(v, node_value(v, 2), x->shape, axis, block), t));
	}
	int s = spread(v, node_cast(v, node_value(v, 1), t), x->shape, axis, block);
	node_set(v, 0, node_cast(v, node_call2(v, OP_mul, y, s), type));
}

/* Codes in [0, 255] for the range of x, which is made to hold 0. */
static void import_dynamic_quantize(Visit *v)
{
	node_need(v, 0);
	int x = node_value(v, 0);
	Attr keep = attr_int("keep", 0);
	int low = node_with_number(v, OP_minimum, node_call(v, OP_reduce_min, &x, 1, &keep, 1), 0);
	int high = node_with_number(v, OP_maximum, node_call(v, OP_reduce_max, &x, 1, &keep, 1), 0);
	int scale = node_with_number(v, OP_div, node_call2(v, OP_sub, high, low), 255);
	int zero = node_call1(v, OP_round, node_call1(v, OP_neg, node_call2(v, OP_div, low, scale)));
	zero = node_cast(v, zero, DT(UINT, 8));
	node_set(v, 0, rounded_codes(v, node_call2(v, OP_div, x, scale), zero, DT(UINT, 8)));
	node_set(v, 1, scale);
	node_set(v, 2, zero);
}

/* Input k in i32, less the zero point of input `zero`, a scalar or one for each element of an axis. */
static int centred(Visit *v, int k, int zero, int axis)
{
	const Item *x = node_need(v, k);
	int y = node_cast(v, node_value(v, k), I32);
	need_codes(v, "operand", x->type);
	if (node_in(v, zero) == NULL || !node_ok(v))
		return y;
	int z = node_cast(v, node_value(v, zero), I32);
	if (node_val(v, z)->shape.rank <= 1)
		z = spread(v, z, x->shape, axis, 0);
	return node_call2(v, OP_sub, y, z);
}

/* The product of the codes of inputs a and b, whose zero points are inputs za and zb. */
static int product(Visit *v, int a, int za, int b, int zb)
{
	int ra = node_need(v, a)->shape.rank, rb = node_need(v, b)->shape.rank;
	int x = centred(v, a, za, ra > 1 ? ra - 2 : 0), y = centred(v, b, zb, rb > 0 ? rb - 1 : 0);
	return node_call2(v, OP_matmul, x, y);
}

/* The same as a convolution of input x with input w, one zero point of w for a filter. */
static int convolution(Visit *v, int x, int zx, int w, int zw, int bias)
{
	const Item *in = node_need(v, x), *filters = node_need(v, w);
	if (node_ok(v) && (filters->shape.rank != in->shape.rank || in->shape.rank < 3))
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but its weights have %d", in->shape.rank,
			filters->shape.rank);
	Windows win = onnx_windows(v, node_ok(v) ? &filters->shape.dim[2] : NULL);
	Attr attr[] = {
		attr_ints("strides", win.stride, win.n),
		attr_ints("pads", win.pads, 2 * win.n),
		attr_ints("dilations", win.dilation, win.n),
		attr_int("groups", node_attr_int(v, "group", 1)),
	};
	int operand[] = { centred(v, x, zx, 1), centred(v, w, zw, 0), bias };
	return node_call(v, OP_conv, operand, 3, attr, 4);
}

/* A scale of input k for the result y: for all, for the rows or columns of a product, for the filters. */
static int result_scale(Visit *v, int k, Shape y, int axis)
{
	int s = node_cast(v, node_value(v, k), F32);
	node_need(v, k);
	return node_ok(v) && node_val(v, s)->shape.rank <= 1 ? spread(v, s, y, axis, 0) : s;
}

/* saturate(round(acc * (a * b / y)) + zero): inputs a, b and y are scales, input `zero` gives the type. */
static void set_scaled(Visit *v, int acc, int a, int axis_a, int b, int axis_b, int y, int zero)
{
	DType type = node_need(v, zero)->type;
	Shape s = node_val(v, acc)->shape;
	need_codes(v, "result", type);
	int scale = node_call2(v, OP_mul, result_scale(v, a, s, axis_a), result_scale(v, b, s, axis_b));
	scale = node_call2(v, OP_div, scale, result_scale(v, y, s, axis_b));
	int z = node_value(v, zero);
	if (node_ok(v) && node_val(v, z)->shape.rank <= 1)
		z = spread(v, z, s, axis_b, 0);
	node_set(v, 0, rounded_codes(v, node_call2(v, OP_mul, node_cast(v, acc, F32), scale), z, type));
}

static void import_matmul_integer(Visit *v)
{
	node_set(v, 0, product(v, 0, 2, 1, 3));
}

static void import_conv_integer(Visit *v)
{
	node_set(v, 0, convolution(v, 0, 2, 1, 3, DAG_NONE));
}

static void import_qlinear_matmul(Visit *v)
{
	int acc = product(v, 0, 2, 3, 5), rank = node_val(v, acc)->shape.rank;
	set_scaled(v, acc, 1, rank > 1 ? rank - 2 : 0, 4, rank > 0 ? rank - 1 : 0, 6, 7);
}

static void import_qlinear_conv(Visit *v)
{
	set_scaled(v, convolution(v, 0, 2, 3, 5, node_value(v, 8)), 1, 1, 4, 1, 6, 7);
}

const NodeRow onnx_quant_rows[] = {
	{ "QuantizeLinear", 10, "saturate", import_quantize },
	{ "DequantizeLinear", 10, "", import_dequantize },
	{ "DynamicQuantizeLinear", 11, "", import_dynamic_quantize },
	{ "MatMulInteger", 10, "", import_matmul_integer },
	{ "ConvInteger", 10, "", import_conv_integer },
	{ "QLinearMatMul", 10, "", import_qlinear_matmul },
	{ "QLinearConv", 10, "", import_qlinear_conv },
	{ NULL, 0, NULL, NULL },
};
