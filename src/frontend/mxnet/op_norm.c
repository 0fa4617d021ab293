/*
 * Rows of normalisations and softmax, and of the layers that end a training network: at inference a loss gives its
 * prediction. Statistics of halves are computed in f32.
 */
#include "frontend/mxnet/rows.h"

#include <math.h>
#include <string.h>

/* ---- batch norm: statistics are the moving ones */

/* Axis `axis` and axis 1 change places. */
static int swap_channels(Visit *v, int x, int axis)
{
	int64_t perm[DAG_MAX_RANK];
	int rank = node_val(v, x)->shape.rank;
	for (int k = 0; k < rank; k++)
		perm[k] = k == 1 ? axis : k == axis ? 1 : k;
	return axis == 1 || rank < 2 ? x : node_transpose(v, x, perm);
}

static int wide(Visit *v, int x)
{
	DType t = node_val(v, x)->type;
	return dtype_is_float(t) && t.bits < 32 ? node_cast(v, x, F32) : x;
}

/* gamma counts as 1 unless fix_gamma is switched off. */
static int batch_norm(Visit *v)
{
	const Item *x = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", 1), x->shape.rank),
		y = swap_channels(v, wide(v, node_value(v, 0)), axis);
	bool fixed = node_attr_flag(v, "fix_gamma", true);
	if (node_ok(v) && x->shape.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 2", x->shape.rank);
	if (!node_ok(v))
		return DAG_NONE;
	int64_t channels = x->shape.dim[axis];
	Shape s = shape_of(1, &channels);
	int in[5] = { y };
	DType type = node_val(v, y)->type;
	for (int k = 1; k < 5; k++)
		in[k] = node_cast(v, mxnet_weight(v, k, s), type);
	if (fixed)
		in[1] = node_expand(v, node_number(v, type, 1), s);
	Attr attr = attr_float("epsilon", node_attr_size(v, "eps", 1e-3));
	y = node_call(v, OP_batch_norm, in, 5, &attr, 1);
	return node_cast(v, swap_channels(v, y, axis), x->type);
}

/* Results 1 and 2 are the moving statistics. */
static void import_batch_norm(Visit *v)
{
	node_set(v, 0, batch_norm(v));
	if (node_used(v, 1))
		node_set_alias(v, 1, node_need(v, 3));
	if (node_used(v, 2))
		node_fail(v, ERR_UNSUPPORTED, "its result var is not supported");
}

static void import_batch_norm_relu(Visit *v)
{
	node_set(v, 0, node_call1(v, OP_relu, batch_norm(v)));
}

/* ---- norms with statistics of the input */

/* (x - mean) / sqrt(variance + eps) over axes, in f32 or wider. */
static int normalise(Visit *v, int x, const int64_t *axes, int n, double eps, int *mean, int *deviation)
{
	Attr attr = attr_ints("axes", axes, n);
	*mean = node_call(v, OP_reduce_mean, &x, 1, &attr, 1);
	int d = node_call2(v, OP_sub, x, *mean), square = node_call2(v, OP_mul, d, d);
	int variance = node_call(v, OP_reduce_mean, &square, 1, &attr, 1);
	*deviation = node_call1(v, OP_sqrt, node_with_number(v, OP_add, variance, eps));
	return node_call2(v, OP_div, d, *deviation);
}

/* x * gamma + beta, which have dimension `axis` of x. */
static int scale(Visit *v, int x, int axis, int gamma, int beta)
{
	Shape s = { .rank = node_val(v, x)->shape.rank - axis };
	DType type = node_val(v, x)->type;
	for (int k = 0; k < s.rank && node_ok(v); k++)
		s.dim[k] = k == 0 ? node_val(v, x)->shape.dim[axis] : 1;
	x = node_call2(v, OP_mul, x, node_reshape(v, node_cast(v, gamma, type), s));
	return node_call2(v, OP_add, x, node_reshape(v, node_cast(v, beta, type), s));
}

static void import_layer_norm(Visit *v)
{
	const Item *x = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", -1), x->shape.rank), mean, deviation;
	double eps = node_attr_size(v, "eps", 1e-5);
	node_attr_flag(v, "output_mean_var", false);
	if (!node_ok(v))
		return;
	Shape s = shape_of(1, &x->shape.dim[axis]), reduced = x->shape;
	int y = normalise(v, wide(v, node_value(v, 0)), (int64_t[]){ axis }, 1, eps, &mean, &deviation);
	y = scale(v, y, axis, mxnet_weight(v, 1, s), mxnet_weight(v, 2, s));
	reduced.rank--;
	memmove(&reduced.dim[axis], &reduced.dim[axis + 1], sizeof reduced.dim[0] * (size_t)(reduced.rank - axis));
	node_set(v, 0, node_cast(v, y, x->type));
	if (node_used(v, 1))
		node_set(v, 1, node_cast(v, node_reshape(v, mean, reduced), x->type));
	if (node_used(v, 2))
		node_set(v, 2, node_cast(v, node_reshape(v, deviation, reduced), x->type));
}

static void import_instance_norm(Visit *v)
{
	const Item *x = node_need(v, 0);
	int64_t axes[DAG_MAX_RANK];
	int rank = x->shape.rank, mean, deviation;
	double eps = node_attr_size(v, "eps", 1e-3);
	if (node_ok(v) && rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 3", rank);
	if (!node_ok(v))
		return;
	for (int k = 2; k < rank; k++)
		axes[k - 2] = k;
	Shape s = shape_of(1, &x->shape.dim[1]);
	int y = normalise(v, wide(v, node_value(v, 0)), axes, rank - 2, eps, &mean, &deviation);
	node_set(v, 0, node_cast(v, scale(v, y, 1, mxnet_weight(v, 1, s), mxnet_weight(v, 2, s)), x->type));
}

static void import_group_norm(Visit *v)
{
	const Item *x = node_need(v, 0);
	int64_t groups = node_attr_int(v, "num_groups", 1);
	double eps = node_attr_size(v, "eps", 1e-5);
	int mean, deviation;
	node_attr_flag(v, "output_mean_var", false);
	if (node_ok(v) && (x->shape.rank < 3 || groups < 1 || x->shape.dim[1] % groups != 0))
		node_fail(v, ERR_TYPE, "its %lld groups do not fit its input", (long long)groups);
	if (!node_ok(v))
		return;
	const Item *gamma = node_item(v, 1);
	Shape s = shape_of(1, &x->shape.dim[1]), each = shape_of(1, &groups);
	bool by_group = gamma != NULL && gamma->kind == ITEM_TENSOR && shape_eq(gamma->shape, each);
	int64_t parts[] = { x->shape.dim[0], groups, shape_product(&x->shape, 1, x->shape.rank) / groups };
	int y =
		normalise(v, node_view(v, wide(v, node_value(v, 0)), 3, parts), (int64_t[]){ 2 }, 1, eps, &mean, &deviation);
	if (by_group) {
		y = scale(v, y, 1, mxnet_weight(v, 1, each), mxnet_weight(v, 2, each));
		y = node_reshape(v, y, x->shape);
	} else {
		y = scale(v, node_reshape(v, y, x->shape), 1, mxnet_weight(v, 1, s), mxnet_weight(v, 2, s));
	}
	node_set(v, 0, node_cast(v, y, x->type));
}

/* x / sqrt(sum of squares + eps): of all of an element of the batch, over channels, or over places. */
static void import_l2_normalization(Visit *v)
{
	const Item *x = node_need(v, 0);
	const char *mode = node_attr_text(v, "mode", "instance");
	double eps = node_attr_float(v, "eps", 1e-10);
	int64_t axes[DAG_MAX_RANK];
	bool channel = strcmp(mode, "channel") == 0, spatial = strcmp(mode, "spatial") == 0;
	int n = 0, from = spatial ? 2 : 1, to = channel ? 2 : x->shape.rank;
	if (node_ok(v) && !channel && !spatial && strcmp(mode, "instance") != 0)
		node_fail(v, ERR_INPUT, "its attribute mode is '%.20s', not instance, channel or spatial", mode);
	if (node_ok(v) && from >= to)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, which are too few", x->shape.rank);
	for (int k = from; k < to; k++)
		axes[n++] = k;
	int y = wide(v, node_value(v, 0)), square = node_call2(v, OP_mul, y, y);
	Attr attr = attr_ints("axes", axes, n);
	int norm = node_with_number(v, OP_add, node_call(v, OP_reduce_sum, &square, 1, &attr, 1), eps);
	node_set(v, 0, node_cast(v, node_call2(v, OP_div, y, node_call1(v, OP_sqrt, norm)), x->type));
}

static void import_lrn(Visit *v)
{
	node_need(v, 0);
	int x = node_value(v, 0);
	Attr attr[] = {
		attr_int("size", node_attr_int(v, "nsize", 5)),
		attr_float("bias", node_attr_float(v, "knorm", 2)),
		attr_float("alpha", node_attr_float(v, "alpha", 1e-4)),
		attr_float("beta", node_attr_float(v, "beta", 0.75)),
	};
	node_set(v, 0, node_call(v, OP_lrn, &x, 1, attr, 4));
}

/* ---- softmax */

/* Places at which the axis is at or behind a length, which has no such axis: as bool. */
static int behind_length(Visit *v, const Item *x, int length, int axis)
{
	Shape s = x->shape, have = node_val(v, length)->shape;
	s.dim[axis] = 1;
	if (node_ok(v) && (have.rank != s.rank - 1 || shape_elements(have) != shape_elements(s)))
		node_fail(v, ERR_TYPE, "its lengths must have the shape of its input without axis %d", axis);
	if (!node_ok(v))
		return DAG_NONE;
	length = node_reshape(v, node_cast(v, length, I64), s);
	return node_call2(v, OP_less_equal, length, node_count(v, x->shape.dim[axis], axis, s.rank));
}

static void set_softmax(Visit *v, int op, double sign)
{
	const Item *x = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", -1), x->shape.rank), y = node_value(v, 0), hidden = DAG_NONE;
	double temperature = node_attr_float(v, "temperature", 1) * sign;
	DType type = mxnet_attr_type(v, "dtype", x->type);
	if (node_attr_flag(v, "use_length", false)) {
		node_need(v, 1);
		hidden = behind_length(v, x, node_value(v, 1), axis);
	}
	if (temperature != 1)
		y = node_with_number(v, OP_div, y, temperature);
	if (hidden != DAG_NONE)
		y = node_where(v, hidden, node_number(v, x->type, -INFINITY), y);
	Attr attr = attr_int("axis", axis);
	y = node_call(v, op, &y, 1, &attr, 1);
	if (hidden != DAG_NONE)
		y = node_where(v, hidden, node_number(v, x->type, 0), y);
	node_set(v, 0, node_cast(v, y, type));
}

static void import_softmax(Visit *v)
{
	set_softmax(v, OP_softmax, 1);
}

static void import_softmin(Visit *v)
{
	set_softmax(v, OP_softmax, -1);
}

static void import_log_softmax(Visit *v)
{
	set_softmax(v, OP_log_softmax, 1);
}

/* Over axis 1, over the last one, or over all but the batch. */
static void softmax_over(Visit *v, bool channel, bool last)
{
	const Item *x = node_need(v, 0);
	int y = node_value(v, 0);
	Shape s = x->shape;
	if (node_ok(v) && s.rank < 2 && (channel || !last))
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 2", s.rank);
	if (!channel && !last && s.rank > 2)
		y = node_view(v, y, 2, (int64_t[]){ s.dim[0], shape_product(&s, 1, s.rank) });
	Attr attr = attr_int("axis", channel ? 1 : -1);
	node_set(v, 0, node_reshape(v, node_call(v, OP_softmax, &y, 1, &attr, 1), s));
}

static void import_softmax_output(Visit *v)
{
	bool channel = node_attr_flag(v, "multi_output", false), last = node_attr_flag(v, "preserve_shape", false);
	softmax_over(v, channel, last && !channel);
}

static void import_softmax_activation(Visit *v)
{
	softmax_over(v, strcmp(node_attr_text(v, "mode", "instance"), "channel") == 0, true);
}

static void import_logistic(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, node_call1(v, OP_sigmoid, node_value(v, 0)));
}

/* What only training changes gives its input. */
static void import_same(Visit *v)
{
	node_set_alias(v, 0, node_need(v, 0));
}

static void import_dropout(Visit *v)
{
	const Item *x = node_need(v, 0);
	if (strcmp(node_attr_text(v, "mode", "training"), "always") == 0)
		node_fail(v, ERR_UNSUPPORTED, "it drops elements at inference, too (mode 'always'), which is random");
	node_set_alias(v, 0, x);
}

const NodeRow mxnet_norm_rows[] = {
	{ "BatchNorm", 0,
		"momentum use_global_stats output_mean_var cudnn_off min_calib_range max_calib_range key ndev "
		"lower_bound",
		import_batch_norm },
	{ "_contrib_BatchNormWithReLU", 0,
		"momentum use_global_stats output_mean_var cudnn_off min_calib_range "
		"max_calib_range",
		import_batch_norm_relu },
	{ "LayerNorm", 0, "", import_layer_norm },
	{ "InstanceNorm", 0, "", import_instance_norm },
	{ "GroupNorm", 0, "", import_group_norm },
	{ "L2Normalization", 0, "", import_l2_normalization },
	{ "LRN", 0, "", import_lrn },
	{ "softmax", 0, "", import_softmax },
	{ "softmin", 0, "", import_softmin },
	{ "log_softmax", 0, "", import_log_softmax },
	{ "SoftmaxOutput", 0, "*", import_softmax_output },
	{ "SoftmaxActivation", 0, "", import_softmax_activation },
	{ "LogisticRegressionOutput", 0, "*", import_logistic },
	{ "LinearRegressionOutput", 0, "*", import_same },
	{ "MAERegressionOutput", 0, "*", import_same },
	{ "SVMOutput", 0, "*", import_same },
	{ "MakeLoss", 0, "*", import_same },
	{ "IdentityAttachKLSparseReg", 0, "*", import_same },
	{ "BlockGrad", 0, "", import_same },
	{ "_copy", 0, "", import_same },
	{ "_contrib_gradientmultiplier", 0, "*", import_same },
	{ "_identity_with_attr_like_rhs", 0, "*", import_same },
	{ "cast_storage", 0, "*", import_same },
	{ "Dropout", 0, "p axes cudnn_off", import_dropout },
	{ NULL, 0, NULL, NULL },
};
