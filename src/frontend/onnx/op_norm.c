/*
 * Rows of the normalisations that are compositions: subtract a mean, divide by a deviation, scale and shift.
 * Statistics are taken in the type that stash_type names, or in f32 for elements of 16 bits. A variance is the mean of
 * the squared distances from the mean, not a difference of means, which cancels.
 */
#include "frontend/onnx/rows.h"

/* x - mean and 1 / sqrt(variance + epsilon) over axes, in the statistics' type. */
typedef struct Moments {
	int mean, centred, inverse;
} Moments;

static int mean_over(Visit *v, int x, const int64_t *axes, int n)
{
	Attr attr = attr_ints("axes", axes, n);
	return n == 0 ? x : node_call(v, OP_reduce_mean, &x, 1, &attr, 1);
}

/* 1 / sqrt(mean(x * x) + epsilon) */
static int inverse_root_mean(Visit *v, int x, const int64_t *axes, int n, double epsilon)
{
	DType type = node_val(v, x)->type;
	int square = mean_over(v, node_call2(v, OP_mul, x, x), axes, n);
	int root = node_call1(v, OP_sqrt, node_call2(v, OP_add, square, node_number(v, type, epsilon)));
	return node_call2(v, OP_div, node_number(v, type, 1), root);
}

static Moments find_moments(Visit *v, int x, const int64_t *axes, int n, double epsilon)
{
	Moments m = { .mean = mean_over(v, x, axes, n) };
	m.centred = node_call2(v, OP_sub, x, m.mean);
	m.inverse = inverse_root_mean(v, m.centred, axes, n, epsilon);
	return m;
}

static DType statistics_type(DType x)
{
	return dtype_is_float(x) && x.bits < 32 ? F32 : x;
}

/* The type that stash_type names; f32 where the attribute is absent. */
static DType stash_type(Visit *v)
{
	DType type = F32;
	int64_t code = node_attr_int(v, "stash_type", 1);
	if (!onnx_type_from(code, &type) || !dtype_is_float(type)) {
		node_fail(v, ERR_UNSUPPORTED, "its attribute stash_type names %s, but statistics need a floating type",
			onnx_type_name(code));
		return F32;
	}
	return type;
}

/* The dimensions from the attribute axis on. */
static int axes_from(Visit *v, int rank, int64_t *axes)
{
	int n = 0;
	for (int k = node_axis(v, node_attr_int(v, "axis", -1), rank); k < rank && node_ok(v); k++)
		axes[n++] = k;
	return n;
}

static void import_layer_normalization(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t axes[DAG_MAX_RANK];
	int n = axes_from(v, it->shape.rank, axes);
	node_need(v, 1);
	int x = node_cast(v, node_value(v, 0), stash_type(v));
	Moments m = find_moments(v, x, axes, n, node_attr_size(v, "epsilon", 1e-5));
	int y = node_cast(v, node_call2(v, OP_mul, m.centred, m.inverse), it->type);
	y = node_call2(v, OP_mul, y, node_value(v, 1));
	if (node_in(v, 2) != NULL)
		y = node_call2(v, OP_add, y, node_value(v, 2));
	if (node_ok(v) && !shape_eq(node_val(v, y)->shape, it->shape))
		node_fail(v, ERR_TYPE, "its scale or its bias does not broadcast to its input");
	node_set(v, 0, y);
	if (node_used(v, 1))
		node_set(v, 1, m.mean);
	if (node_used(v, 2))
		node_set(v, 2, m.inverse);
}

static void import_rms_normalization(Visit *v)
{
	const Item *it = node_need(v, 0), *scale = node_need(v, 1);
	int64_t axes[DAG_MAX_RANK];
	int n = axes_from(v, it->shape.rank, axes);
	int x = node_cast(v, node_value(v, 0), stash_type(v));
	int inverse = inverse_root_mean(v, x, axes, n, node_attr_size(v, "epsilon", 1e-5));
	int y = node_cast(v, node_call2(v, OP_mul, x, inverse), scale->type);
	y = node_call2(v, OP_mul, y, node_value(v, 1));
	if (node_ok(v) && !shape_eq(node_val(v, y)->shape, it->shape))
		node_fail(v, ERR_TYPE, "its scale does not broadcast to its input");
	node_set(v, 0, y);
	if (node_used(v, 1)) /* of SimplifiedLayerNormalization, the older name by ONNX Runtime */
		node_set(v, 1, inverse);
}

static int cast_input(Visit *v, int k, DType type)
{
	return node_cast(v, node_value(v, k), type);
}

/*
 * ONNX Runtime's: the sum of input, skip and bias, which is result 3, and its normalisation over the last dimension,
 * computed in f32 from halves. `shift` and `bias` are the inputs' numbers; shift 0: by the root of the mean square.
 */
static void skip_norm(Visit *v, int shift, int bias)
{
	const Item *it = node_need(v, 0);
	const DType type = statistics_type(it->type);
	const int64_t last = it->shape.rank - 1;
	double epsilon = node_attr_size(v, "epsilon", 1e-12);
	if (it->shape.rank < 1)
		node_fail(v, ERR_TYPE, "its input is a scalar, but needs a dimension");
	node_need(v, 1);
	node_need(v, 2);
	int x = node_call2(v, OP_add, cast_input(v, 0, type), cast_input(v, 1, type));
	if (node_in(v, bias) != NULL)
		x = node_call2(v, OP_add, x, cast_input(v, bias, type));
	Moments m = { .mean = DAG_NONE, .centred = x };
	if (shift > 0)
		m = find_moments(v, x, &last, 1, epsilon);
	else
		m.inverse = inverse_root_mean(v, x, &last, 1, epsilon);
	int y = node_call2(v, OP_mul, node_call2(v, OP_mul, m.centred, m.inverse), cast_input(v, 2, type));
	if (shift > 0 && node_in(v, shift) != NULL)
		y = node_call2(v, OP_add, y, cast_input(v, shift, type));
	if (node_ok(v) && !shape_eq(node_val(v, y)->shape, it->shape))
		node_fail(v, ERR_TYPE, "its skip, its scale or its bias does not broadcast to its input");
	node_set(v, 0, node_cast(v, y, it->type));
	if (node_used(v, 1) && shift == 0)
		node_fail(v, ERR_UNSUPPORTED, "its result 1 is not supported: a norm by the mean square has no mean");
	if (node_used(v, 1))
		node_set(v, 1, m.mean);
	if (node_used(v, 2))
		node_set(v, 2, m.inverse);
	if (node_used(v, 3))
		node_set(v, 3, node_cast(v, x, it->type));
}

static void import_skip_layer_normalization(Visit *v)
{
	skip_norm(v, 3, 4);
}

static void import_skip_simplified(Visit *v)
{
	skip_norm(v, 0, 3);
}

/* A vector of one number for each element of dimension 1, shaped to broadcast to `rank` dimensions. */
static int for_channels(Visit *v, int k, int64_t channels, int rank)
{
	const Item *it = node_need(v, k);
	char s[160];
	if (node_ok(v) && (it->shape.rank != 1 || it->shape.dim[0] != channels))
		node_fail(v, ERR_TYPE, "its input '%s' has the shape %s, but %lld numbers are needed", it->name,
			shape_str(it->shape, s), (long long)channels);
	if (!node_ok(v))
		return DAG_NONE;
	Shape wide = { .rank = rank - 1, .dim = { channels } };
	for (int d = 1; d < wide.rank; d++)
		wide.dim[d] = 1;
	return node_reshape(v, node_value(v, k), wide);
}

static int scale_and_shift(Visit *v, int x, int64_t channels)
{
	int rank = node_val(v, x)->shape.rank;
	x = node_call2(v, OP_mul, x, for_channels(v, 1, channels, rank));
	return node_call2(v, OP_add, x, for_channels(v, 2, channels, rank));
}

static void import_instance_normalization(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t axes[DAG_MAX_RANK];
	int n = 0;
	if (it->shape.rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 3", it->shape.rank);
	for (int k = 2; k < it->shape.rank; k++)
		axes[n++] = k;
	int x = node_cast(v, node_value(v, 0), statistics_type(it->type));
	Moments m = find_moments(v, x, axes, n, node_attr_size(v, "epsilon", 1e-5));
	int y = node_cast(v, node_call2(v, OP_mul, m.centred, m.inverse), it->type);
	node_set(v, 0, scale_and_shift(v, y, it->shape.dim[1]));
}

/* Below opset 21 a scale and a bias for each group, from then on for each channel. */
static void import_group_normalization(Visit *v)
{
	static const int64_t axes[] = { 2, 3 };
	const Item *it = node_need(v, 0);
	bool by_group = v->frame->version < 21;
	int64_t groups = node_attr_int(v, "num_groups", 0), channels = it->shape.dim[1];
	if (it->shape.rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 3", it->shape.rank);
	else if (groups < 1 || channels % groups != 0)
		node_fail(v, ERR_TYPE, "%lld channels cannot be cut into num_groups = %lld groups", (long long)channels,
			(long long)groups);
	if (!node_ok(v))
		return;
	Shape cut = { .rank = 4,
		.dim = { it->shape.dim[0], groups, channels / groups, shape_product(&it->shape, 2, it->shape.rank) } };
	DType type = by_group ? statistics_type(it->type) : stash_type(v);
	int x = node_reshape(v, node_cast(v, node_value(v, 0), type), cut);
	Moments m = find_moments(v, x, axes, 2, node_attr_size(v, "epsilon", 1e-5));
	int y = node_cast(v, node_call2(v, OP_mul, m.centred, m.inverse), it->type);
	if (by_group)
		y = scale_and_shift(v, y, groups);
	y = node_reshape(v, y, it->shape);
	node_set(v, 0, by_group ? y : scale_and_shift(v, y, channels));
}

/* (x - mean) / (deviation + 1e-9) */
static void import_mean_variance_normalization(Visit *v)
{
	static const int64_t usual[] = { 0, 2, 3 };
	const Item *it = node_need(v, 0);
	int count;
	const int64_t *given = node_attr_ints(v, "axes", &count);
	int n = count < 0 ? 3 : count;
	int64_t axes[DAG_MAX_RANK];
	if (n > it->shape.rank)
		node_fail(v, ERR_TYPE, "it normalises %d axes, but its input has %d dimensions", n, it->shape.rank);
	if (!node_ok(v))
		return;
	for (int k = 0; k < n; k++)
		axes[k] = node_axis(v, count < 0 ? usual[k] : given[k], it->shape.rank);
	int x = node_cast(v, node_value(v, 0), statistics_type(it->type));
	int centred = node_call2(v, OP_sub, x, mean_over(v, x, axes, n));
	int deviation = node_call1(v, OP_sqrt, mean_over(v, node_call2(v, OP_mul, centred, centred), axes, n));
	int under = node_call2(v, OP_add, deviation, node_number(v, statistics_type(it->type), 1e-9));
	node_set(v, 0, node_cast(v, node_call2(v, OP_div, centred, under), it->type));
}

/* x / norm; a line of zeros stays one. */
static void import_lp_normalization(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t p = node_attr_int(v, "p", 2), axis = node_axis(v, node_attr_int(v, "axis", -1), it->shape.rank);
	if (p != 1 && p != 2)
		node_fail(v, ERR_TYPE, "its attribute p is %lld, but must be 1 or 2", (long long)p);
	Attr attr = attr_ints("axes", &axis, 1);
	DType type = statistics_type(it->type);
	int x = node_cast(v, node_value(v, 0), type);
	int each = p == 1 ? node_call1(v, OP_abs, x) : node_call2(v, OP_mul, x, x);
	int norm = node_call(v, OP_reduce_sum, &each, 1, &attr, 1);
	if (p == 2)
		norm = node_call1(v, OP_sqrt, norm);
	int none = node_call2(v, OP_equal, norm, node_number(v, type, 0));
	int in[] = { none, node_number(v, type, 1), norm };
	norm = node_call(v, OP_where, in, 3, NULL, 0);
	node_set(v, 0, node_cast(v, node_call2(v, OP_div, x, norm), it->type));
}

const NodeRow onnx_norm_rows[] = {
	{ "LayerNormalization", 17, "", import_layer_normalization },
	{ "RMSNormalization", 23, "", import_rms_normalization },
	{ "SimplifiedLayerNormalization", 1, "", import_rms_normalization },
	{ "com.microsoft::SkipLayerNormalization", 1, "", import_skip_layer_normalization },
	{ "com.microsoft::SkipSimplifiedLayerNormalization", 1, "", import_skip_simplified },
	{ "InstanceNormalization", 1, "consumed_inputs", import_instance_normalization },
	{ "GroupNormalization", 18, "", import_group_normalization },
	{ "MeanVarianceNormalization", 9, "", import_mean_variance_normalization },
	{ "LpNormalization", 1, "", import_lp_normalization },
	{ NULL, 0, NULL, NULL },
};
