/*
 * Rows of quantised operators, as quantize_model() writes them. Codes of 8 or 32 bits come with the range that they
 * span, two numbers, which are values of the network: its range may be found at run time. Products are exact in i32;
 * scales are those of MXNet 1.9.1 on a CPU, where a code of i8 is 1 / 127.5 of the range and one of u8 1 / 255.5, but
 * 1 / 127 and 1 / 255 in some operators.
 */
#include "frontend/mxnet/rows.h"

#include <math.h>
#include <string.h>

#define I8 DT(INT, 8)
#define U8 DT(UINT, 8)

static const double whole_i32 = 2147483647;

static int with(Visit *v, int op, int x, double number)
{
	return node_with_number(v, op, x, number);
}

/* Input k, a number. */
static int number_at(Visit *v, int k)
{
	const Item *it = node_need(v, k);
	if (node_ok(v) && shape_elements(it->shape) != 1)
		node_fail(v, ERR_TYPE, "its input %d is an end of a range, but not one number", k + 1);
	return node_ok(v) ? node_cast(v, node_view(v, node_value(v, k), 0, NULL), F32) : DAG_NONE;
}

/* The greater of two numbers without their signs. */
static int greatest(Visit *v, int a, int b)
{
	return node_call2(v, OP_maximum, node_call1(v, OP_abs, a), node_call1(v, OP_abs, b));
}

/* That of the range which inputs k and k + 1 are. */
static int span(Visit *v, int k)
{
	return greatest(v, number_at(v, k), number_at(v, k + 1));
}

static double codes_of(DType t)
{
	return dtype_eq(t, I8) ? 127.5 : dtype_eq(t, U8) ? 255.5 : whole_i32;
}

/* Input k holds codes: of 8 bits, or of 32. */
static DType code_type(Visit *v, int k, bool wide)
{
	DType t = node_need(v, k)->type;
	bool small = dtype_eq(t, I8) || dtype_eq(t, U8);
	if (node_ok(v) && (wide ? !dtype_eq(t, I32) : !small))
		node_fail(v, ERR_TYPE, "its input %d must hold codes of %s", k + 1, wide ? "32 bits" : "8 bits");
	return small || wide ? t : I8;
}

static int round_to(Visit *v, int x, DType type)
{
	return node_cast(v, node_call1(v, OP_round, x), type);
}

/* Results 1 and 2, the range; both are f32[1]. */
static void set_range(Visit *v, int low, int high)
{
	int64_t one = 1;
	if (node_used(v, 1))
		node_set(v, 1, node_view(v, low, 1, &one));
	if (node_used(v, 2))
		node_set(v, 2, node_view(v, high, 1, &one));
}

static void set_symmetric(Visit *v, int high)
{
	set_range(v, node_call1(v, OP_neg, high), high);
}

/* The range of inputs k and k + 1, unchanged. */
static void keep_range(Visit *v, int k)
{
	set_range(v, number_at(v, k), number_at(v, k + 1));
}

/* A range that the file gives; false: it is found at run time. */
static bool calibrated(Visit *v, int *low, int *high)
{
	bool given = node_has(v, "min_calib_range") && node_has(v, "max_calib_range");
	double least = node_attr_float(v, "min_calib_range", 0), most = node_attr_float(v, "max_calib_range", 0);
	if (node_ok(v) && given && !(fabs(least) + fabs(most) > 0 && isfinite(least) && isfinite(most)))
		node_fail(v, ERR_INPUT, "its range of %g to %g is out of range", least, most);
	*low = given ? node_number(v, F32, least) : DAG_NONE;
	*high = given ? node_number(v, F32, most) : DAG_NONE;
	return given && node_ok(v);
}

/* The attribute out_type; "auto" is u8 for a calibrated range from 0 on, else i8. */
static DType out_type(Visit *v, const char *otherwise)
{
	const char *text = node_attr_text(v, "out_type", otherwise);
	bool given = node_has(v, "min_calib_range");
	double least = node_attr_float(v, "min_calib_range", -1);
	if (node_ok(v) && strcmp(text, "int8") != 0 && strcmp(text, "uint8") != 0 && strcmp(text, "auto") != 0)
		node_fail(v, ERR_INPUT, "its attribute out_type is '%.20s', not int8, uint8 or auto", text);
	return strcmp(text, "uint8") == 0 || (strcmp(text, "auto") == 0 && given && least >= 0) ? U8 : I8;
}

/* ---- to codes and back */

/* `whole`: codes of the range */
static void quantize(Visit *v, DType type, double whole, int low, int high)
{
	int x = node_value(v, 0), most = greatest(v, low, high);
	if (node_ok(v) && !dtype_is_float(node_in(v, 0)->type))
		node_fail(v, ERR_TYPE, "its input must be floats");
	int scale = node_call2(v, OP_div, node_number(v, F32, whole), most);
	node_set(v, 0, round_to(v, node_call2(v, OP_mul, node_cast(v, x, F32), scale), type));
	if (dtype_eq(type, U8))
		set_range(v, low, high);
	else
		set_symmetric(v, most);
}

static void import_quantize_v2(Visit *v)
{
	int low, high, x = (node_need(v, 0), node_value(v, 0));
	DType type = out_type(v, "int8");
	Attr keep = attr_int("keep", 0);
	if (!calibrated(v, &low, &high)) {
		low = node_call(v, OP_reduce_min, &x, 1, &keep, 1);
		high = node_call(v, OP_reduce_max, &x, 1, &keep, 1);
	}
	quantize(v, type, codes_of(type), low, high);
}

static void import_quantize(Visit *v)
{
	DType type = out_type(v, "uint8");
	node_need(v, 0);
	quantize(v, type, dtype_eq(type, U8) ? 255 : 127, number_at(v, 1), number_at(v, 2));
}

static void import_dequantize(Visit *v)
{
	DType type = code_type(v, 0, false);
	const char *to = node_attr_text(v, "out_type", "float32");
	if (node_ok(v) && strcmp(to, "float32") != 0)
		node_fail(v, ERR_INPUT, "its attribute out_type is '%.20s', not float32", to);
	int scale = with(v, OP_div, span(v, 1), codes_of(type));
	node_set(v, 0, node_call2(v, OP_mul, node_cast(v, node_value(v, 0), F32), scale));
}

/* Codes of 32 bits as those of 8: their greatest, or the calibrated range, becomes the greatest code. */
static void import_requantize(Visit *v)
{
	DType type = out_type(v, "int8");
	int low, high, most, x = (code_type(v, 0, true), node_cast(v, node_value(v, 0), F32));
	int unit = with(v, OP_div, span(v, 1), whole_i32);
	Attr keep = attr_int("keep", 0);
	if (calibrated(v, &low, &high)) {
		most = greatest(v, low, high);
	} else {
		int size = node_call1(v, OP_abs, x);
		most = node_call2(v, OP_mul, node_call(v, OP_reduce_max, &size, 1, &keep, 1), unit);
	}
	int scale = node_call2(v, OP_mul, unit, node_call2(v, OP_div, node_number(v, F32, dtype_eq(type, U8) ? 255 : 127),
		most));
	node_set(v, 0, round_to(v, node_call2(v, OP_mul, x, scale), type));
	if (dtype_eq(type, U8))
		set_range(v, node_number(v, F32, 0), most);
	else
		set_symmetric(v, most);
}

/* ---- products */

/* Input k in i32. */
static int wide_codes(Visit *v, int k)
{
	code_type(v, k, false);
	return node_cast(v, node_value(v, k), I32);
}

/*
 * A product y of inputs 0 and 1 with the bias of input 2 along an axis. Ranges follow behind the 2 or 3 inputs. The
 * bias is brought to the scale of the product, without its fraction.
 */
static void set_product(Visit *v, int y, bool biased, int axis)
{
	int at = biased ? 3 : 2, a = span(v, at), b = span(v, at + 2), rank = node_val(v, y)->shape.rank;
	DType type = code_type(v, 0, false);
	if (biased) {
		Shape s = { .rank = rank - axis, .dim = { node_need(v, 2)->shape.dim[0] } };
		for (int k = 1; k < s.rank; k++)
			s.dim[k] = 1;
		if (node_ok(v) && (node_in(v, 2)->shape.rank != 1 || s.dim[0] != node_val(v, y)->shape.dim[axis]))
			node_fail(v, ERR_TYPE, "its bias must have a code for each filter");
		code_type(v, 2, false);
		int scale = with(v, OP_mul, node_call2(v, OP_div, span(v, at + 4), node_call2(v, OP_mul, a, b)),
			codes_of(type));
		int bias = node_ok(v) ? node_cast(v, node_reshape(v, node_value(v, 2), s), F32) : DAG_NONE;
		y = node_call2(v, OP_add, y, node_cast(v, node_truncate(v, node_call2(v, OP_mul, bias, scale)), I32));
	}
	node_set(v, 0, y);
	double units = 127 * (dtype_eq(type, U8) ? 255 : 127);
	set_symmetric(v, with(v, OP_mul, node_call2(v, OP_mul, a, b), whole_i32 / units));
}

static void import_convolution(Visit *v)
{
	bool biased = !node_attr_flag(v, "no_bias", false);
	int x = wide_codes(v, 0), w = wide_codes(v, 1);
	set_product(v, mxnet_convolve(v, x, w), biased, 1);
}

static void import_fully_connected(Visit *v)
{
	bool biased = !node_attr_flag(v, "no_bias", false), flatten = node_attr_flag(v, "flatten", true);
	int64_t units = node_attr_int(v, "num_hidden", 0);
	int x = wide_codes(v, 0), w = wide_codes(v, 1);
	Shape s = node_need(v, 0)->shape, ws = node_need(v, 1)->shape;
	int from = flatten ? 1 : s.rank - 1;
	if (node_ok(v) && (s.rank < 1 || from > s.rank || ws.rank != 2 || ws.dim[0] != units ||
						  ws.dim[1] != shape_product(&s, from, s.rank)))
		node_fail(v, ERR_TYPE, "its weights do not have the shape [num_hidden, numbers of a row]");
	if (!node_ok(v))
		return;
	int64_t rows = shape_product(&s, 0, from);
	Attr attr = attr_int("tb", 1);
	int in[] = { node_view(v, x, 2, (int64_t[]){ rows, ws.dim[1] }), w };
	int y = node_call(v, OP_matmul, in, 2, &attr, 1);
	s.rank = from + 1;
	s.dim[from] = units;
	set_product(v, node_reshape(v, y, s), biased, from);
}

/* ---- codes in, codes out */

static void import_pooling(Visit *v)
{
	const char *kind = node_attr_text(v, "pool_type", "max");
	DType type = code_type(v, 0, false);
	if (node_ok(v) && strcmp(kind, "max") != 0 && strcmp(kind, "avg") != 0)
		node_fail(v, ERR_INPUT, "its attribute pool_type is '%.20s', not max or avg", kind);
	int y = mxnet_pool(v, node_cast(v, node_value(v, 0), F32));
	node_set(v, 0, round_to(v, y, type));
	keep_range(v, 1);
}

static void import_activation(Visit *v)
{
	const char *kind = node_attr_text(v, "act_type", "relu");
	DType type = code_type(v, 0, false);
	if (node_ok(v) && strcmp(kind, "relu") != 0)
		node_fail(v, ERR_INPUT, "its attribute act_type is '%.20s', not relu", kind);
	int x = node_value(v, 0);
	node_set(v, 0, node_call1(v, dtype_eq(type, I8) ? OP_relu : OP_identity, x));
	keep_range(v, 1);
}

static void import_flatten(Visit *v)
{
	Shape s = node_need(v, 0)->shape;
	code_type(v, 0, false);
	if (node_ok(v) && s.rank < 1)
		node_fail(v, ERR_TYPE, "its input is a scalar");
	if (!node_ok(v))
		return;
	Shape flat = shape_of(2, (int64_t[]){ s.dim[0], shape_product(&s, 1, s.rank) });
	int x = node_value(v, 0), y = node_reshape(v, x, flat);
	node_set(v, 0, y == x ? node_call1(v, OP_identity, x) : y);
	keep_range(v, 1);
}

/* All parts in the widest range; i8 if one of them is. */
static void import_concat(Visit *v)
{
	int64_t n = node_attr_int(v, "num_args", 0), axis = node_attr_int(v, "dim", 1);
	int low = node_number(v, F32, 0), high = low, part[64];
	DType type = U8;
	if (node_ok(v) && (n < 1 || n > 64 || node_nin(v) != 3 * n))
		node_fail(v, ERR_INPUT, "its num_args is %lld, but it has %d inputs; 64 are the most", (long long)n,
			node_nin(v));
	for (int k = 0; k < n && node_ok(v); k++) {
		low = node_call2(v, OP_minimum, low, number_at(v, (int)n + 2 * k));
		high = node_call2(v, OP_maximum, high, number_at(v, (int)n + 2 * k + 1));
		if (dtype_eq(code_type(v, k, false), I8))
			type = I8;
	}
	int most = greatest(v, low, high);
	for (int k = 0; k < n && node_ok(v); k++) {
		double ratio = codes_of(type) / codes_of(code_type(v, k, false));
		int scale = with(v, OP_mul, node_call2(v, OP_div, span(v, (int)n + 2 * k), most), ratio);
		int x = node_call2(v, OP_mul, node_cast(v, node_value(v, k), F32), scale);
		part[k] = round_to(v, x, type);
	}
	if (!node_ok(v))
		return;
	node_set(v, 0, node_concat(v, part, (int)n, node_axis(v, axis, node_need(v, 0)->shape.rank)));
	set_range(v, low, high);
}

/* Codes of 32 bits, or of 8 bits in a calibrated range. */
static void import_elemwise_add(Visit *v)
{
	int low, high, x[2], spans[] = { span(v, 2), span(v, 4) };
	bool given = calibrated(v, &low, &high);
	DType type = I32;
	if (node_ok(v) && !shape_eq(node_need(v, 0)->shape, node_need(v, 1)->shape))
		node_fail(v, ERR_TYPE, "its inputs have different shapes");
	if (given) {
		bool both = dtype_eq(code_type(v, 0, false), U8) && dtype_eq(code_type(v, 1, false), U8);
		type = both ? U8 : I8;
	} else {
		high = node_call2(v, OP_add, spans[0], spans[1]);
		low = node_call1(v, OP_neg, high);
	}
	int most = greatest(v, low, high);
	for (int k = 0; k < 2 && node_ok(v); k++) {
		double ratio = codes_of(type) / codes_of(code_type(v, k, false));
		int scale = with(v, OP_mul, node_call2(v, OP_div, spans[k], most), ratio);
		x[k] = node_call2(v, OP_mul, node_cast(v, node_value(v, k), F32), scale);
	}
	if (!node_ok(v))
		return;
	node_set(v, 0, round_to(v, node_call2(v, OP_add, x[0], x[1]), type));
	set_range(v, low, high);
}

const NodeRow mxnet_quant_rows[] = {
	{ "_contrib_quantize", 0, "", import_quantize },
	{ "_contrib_quantize_v2", 0, "", import_quantize_v2 },
	{ "_contrib_dequantize", 0, "", import_dequantize },
	{ "_contrib_requantize", 0, "", import_requantize },
	{ "_contrib_quantized_conv", 0, "workspace cudnn_tune cudnn_off", import_convolution },
	{ "_contrib_quantized_fully_connected", 0, "", import_fully_connected },
	{ "_contrib_quantized_pooling", 0, "cudnn_off", import_pooling },
	{ "_contrib_quantized_act", 0, "", import_activation },
	{ "_contrib_quantized_flatten", 0, "", import_flatten },
	{ "_contrib_quantized_concat", 0, "", import_concat },
	{ "_contrib_quantized_elemwise_add", 0, "", import_elemwise_add },
	{ NULL, 0, NULL, NULL },
};
