/* Rows of normalisations. Means over channels stay where channels are; a result follows its input's order. */
#include "frontend/keras/keras.h"

#include <string.h>

/* The weight, or the same number in all places where the settings leave it out. */
static int weight_or(Visit *v, const char *slot, Shape s, double otherwise)
{
	return keras_has_weight(v, slot) ? keras_weight(v, slot, s) : node_expand(v, node_number(v, F32, otherwise), s);
}

static void import_batch_norm(Visit *v)
{
	int count, x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *list = node_attr_ints(v, "axis", &count);
	int axis = node_axis(v, count > 0 ? list[0] : -1, rank);
	Shape s = { .rank = 1 };
	int64_t perm[DAG_MAX_RANK];
	if (node_ok(v) && (count > 1 || axis < 1))
		node_fail(v, ERR_UNSUPPORTED, "it normalises axis %d and %d others; one behind the batch is supported", axis,
			count > 0 ? count - 1 : 0);
	if (!node_ok(v))
		return;
	s.dim[0] = node_val(v, x)->shape.dim[axis];
	bool last = axis == rank - 1 && rank > 2, other = !last && axis != 1;
	for (int k = 0; k < rank; k++)
		perm[k] = k == 1 ? axis : k == axis ? 1 : k;
	int y = last ? node_to_second(v, x) : other ? node_transpose(v, x, perm) : x;
	int in[] = { y, weight_or(v, "gamma", s, 1), weight_or(v, "beta", s, 0), keras_weight(v, "mean", s),
		keras_weight(v, "variance", s) };
	Attr attr = attr_float("epsilon", node_attr_size(v, "epsilon", 1e-3));
	y = node_call(v, OP_batch_norm, in, 5, &attr, 1);
	node_set(v, 0, last ? node_to_last(v, y) : other ? node_transpose(v, y, perm) : y);
}

/* The axes of a setting, a number or a list. */
static int read_axes(Visit *v, int rank, int64_t *out)
{
	int count;
	int64_t usual = -1;
	const int64_t *at = node_attr_ints(v, "axis", &count);
	if (count > rank)
		node_fail(v, ERR_INPUT, "it has %d axes, but its input %d dimensions", count, rank);
	if (!node_ok(v))
		return 0;
	at = count > 0 ? at : &usual;
	count = count > 0 ? count : 1;
	for (int k = 0; k < count && node_ok(v); k++) {
		out[k] = node_axis(v, at[k], rank);
		for (int i = 0; i < k; i++)
			if (out[i] == out[k])
				node_fail(v, ERR_INPUT, "its setting axis names an axis twice");
	}
	return count;
}

/* A weight with a dimension for each axis, so that it broadcasts. */
static int along(Visit *v, int w, const int64_t *axes, int n, int rank)
{
	Shape to = { .rank = rank }, s = node_val(v, w)->shape;
	if (!node_ok(v))
		return w;
	if (n == 1 && axes[0] == rank - 1)
		return w;
	for (int k = 0; k < rank; k++)
		to.dim[k] = 1;
	for (int k = 0; k < n; k++)
		to.dim[axes[k]] = s.dim[k];
	return node_reshape(v, w, to);
}

static Shape dims_of(const Shape *s, const int64_t *axes, int n)
{
	Shape out = { .rank = n };
	for (int k = 0; k < n; k++)
		out.dim[k] = s->dim[axes[k]];
	return out;
}

/* x / sqrt(mean of d^2 + epsilon) */
static int by_square(Visit *v, int x, int d, const int64_t *axes, int n, double epsilon)
{
	int square = node_reduce(v, OP_reduce_mean, node_each2(v, OP_mul, d, d), axes, n, true);
	int root = node_each1(v, OP_sqrt, node_each2(v, OP_add, square, node_number(v, F32, epsilon)));
	return node_each2(v, OP_div, x, root);
}

static void import_layer_norm(Visit *v)
{
	int x = node_cast(v, keras_value(v, 0), F32);
	Shape s = node_val(v, x)->shape;
	int64_t axes[DAG_MAX_RANK];
	int n = read_axes(v, s.rank, axes);
	double epsilon = node_attr_size(v, "epsilon", 1e-3);
	bool rms = node_attr_flag(v, "rms_scaling", false);
	if (!node_ok(v))
		return;
	Shape w = dims_of(&s, axes, n);
	int centred = node_each2(v, OP_sub, x, node_reduce(v, OP_reduce_mean, x, axes, n, true));
	int y = by_square(v, rms ? x : centred, centred, axes, n, epsilon);
	if (keras_has_weight(v, "gamma"))
		y = node_each2(v, OP_mul, y, along(v, keras_weight(v, "gamma", w), axes, n, s.rank));
	if (keras_has_weight(v, "beta"))
		y = node_each2(v, OP_add, y, along(v, keras_weight(v, "beta", w), axes, n, s.rank));
	node_set(v, 0, y);
}

static void import_rms_norm(Visit *v)
{
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape;
	int64_t axes[DAG_MAX_RANK];
	int n = read_axes(v, s.rank, axes);
	int y = by_square(v, x, x, axes, n, node_attr_size(v, "epsilon", 1e-6));
	if (node_ok(v))
		node_set(
			v, 0, node_each2(v, OP_mul, y, along(v, keras_weight(v, "scale", dims_of(&s, axes, n)), axes, n, s.rank)));
}

static void import_unit_norm(Visit *v)
{
	int x = keras_value(v, 0);
	int64_t axes[DAG_MAX_RANK];
	int n = read_axes(v, node_val(v, x)->shape.rank, axes);
	int sum = node_reduce(v, OP_reduce_sum, node_each2(v, OP_mul, x, x), axes, n, true);
	int norm = node_each1(v, OP_sqrt, node_each2(v, OP_maximum, sum, node_number(v, F32, 1e-24)));
	node_set(v, 0, node_each2(v, OP_div, x, norm));
}

static void import_group_norm(Visit *v)
{
	int x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	int axis = node_axis(v, node_attr_int(v, "axis", -1), rank);
	int64_t groups = node_attr_int(v, "groups", 32);
	double epsilon = node_attr_size(v, "epsilon", 1e-3);
	bool last = axis == rank - 1 && rank > 2;
	if (node_ok(v) && !last && axis != 1)
		node_fail(v, ERR_UNSUPPORTED, "it normalises groups along axis %d, neither the last nor the second", axis);
	int y = last ? node_to_second(v, x) : x;
	Shape s = node_val(v, y)->shape, cut = { .rank = 3 };
	groups = groups == -1 ? s.dim[1] : groups;
	if (node_ok(v) && (groups < 1 || s.dim[1] % groups != 0))
		node_fail(v, ERR_TYPE, "%lld channels cannot be cut into %lld groups", (long long)s.dim[1], (long long)groups);
	if (!node_ok(v))
		return;
	cut.dim[0] = s.dim[0];
	cut.dim[1] = groups;
	cut.dim[2] = s.dim[1] / groups * shape_product(&s, 2, rank);
	int64_t two = 2, one = 1;
	y = node_reshape(v, y, cut);
	y = node_call2(v, OP_sub, y, node_reduce(v, OP_reduce_mean, y, &two, 1, true));
	y = node_reshape(v, by_square(v, y, y, &two, 1, epsilon), s);
	Shape w = shape_of(1, &s.dim[1]);
	if (keras_has_weight(v, "gamma"))
		y = node_call2(v, OP_mul, y, along(v, keras_weight(v, "gamma", w), &one, 1, rank));
	if (keras_has_weight(v, "beta"))
		y = node_call2(v, OP_add, y, along(v, keras_weight(v, "beta", w), &one, 1, rank));
	node_set(v, 0, last ? node_to_last(v, y) : y);
}

/* A setting that is a number or lists of them, with as many numbers as s. A single one fills it. */
static int numbers(Visit *v, const Json *j, Shape s)
{
	int64_t n = shape_elements(s);
	const Json *list = j;
	while (list->kind == JV_ARRAY && list->list.n == 1 && list->list.at[0]->kind == JV_ARRAY)
		list = list->list.at[0];
	int64_t many = list->kind == JV_ARRAY ? (int64_t)list->list.n : 1;
	bool fits = many == 1 || many == n;
	float *out = arena_array(v->im->arena, float, many + 1);
	for (int64_t k = 0; k < many && fits; k++) {
		const Json *at = list->kind == JV_ARRAY ? list->list.at[k] : list;
		fits = at->kind == JV_INT || at->kind == JV_REAL;
		out[k] = (float)(at->kind == JV_INT ? (double)at->i : at->real);
	}
	if (!fits) {
		node_fail(v, ERR_INPUT, "its setting %s does not have %lld numbers", j->key, (long long)n);
		return DAG_NONE;
	}
	return many == n ? node_const(v, F32, s, out) : node_expand(v, node_const(v, F32, shape_of(0, NULL), out), s);
}

/* (x - mean) / max(sqrt(variance), 1e-7); inverted: the other way round. */
static void import_normalization(Visit *v)
{
	int x = node_cast(v, keras_value(v, 0), F32), n;
	Shape s = node_val(v, x)->shape;
	int64_t axes[DAG_MAX_RANK];
	const Json *mean = keras_json(v, "mean"), *variance = keras_json(v, "variance");
	bool invert = node_attr_flag(v, "invert", false);
	const Json *given = keras_json(v, "axis");
	bool single = (given == NULL && json_find(keras_of(v)->config, "axis") != NULL) ||
	              (given != NULL && given->kind == JV_ARRAY && given->list.n == 0);
	n = single ? 0 : read_axes(v, s.rank, axes);
	if (!node_ok(v))
		return;
	Shape w = dims_of(&s, axes, n);
	int m = along(v, mean != NULL ? numbers(v, mean, w) : keras_weight(v, "mean", w), axes, n, s.rank);
	int d = along(v, variance != NULL ? numbers(v, variance, w) : keras_weight(v, "variance", w), axes, n, s.rank);
	d = node_with_number(v, OP_maximum, node_call1(v, OP_sqrt, d), 1e-7);
	if (invert)
		node_set(v, 0, node_each2(v, OP_add, node_each2(v, OP_mul, x, d), m));
	else
		node_set(v, 0, node_each2(v, OP_div, node_each2(v, OP_sub, x, m), d));
}

const NodeRow keras_norm_rows[] = {
	{ "BatchNormalization", 0, "scale momentum mode synchronized renorm renorm_clipping renorm_momentum fused",
		import_batch_norm },
	{ "SyncBatchNormalization", 0, "scale momentum", import_batch_norm },
	{ "LayerNormalization", 0, "scale", import_layer_norm },
	{ "RMSNormalization", 0, "", import_rms_norm },
	{ "UnitNormalization", 0, "", import_unit_norm },
	{ "GroupNormalization", 0, "scale", import_group_norm },
	{ "Normalization", 0, "", import_normalization },
	{ NULL, 0, NULL, NULL },
};
