/* Rows of Caffe2's normalisations and softmax. */
#include "frontend/caffe2/caffe2.h"

#include "frontend/node/channels.h"
#include "frontend/node/compose.h"

#include <string.h>

int caffe2_matrix(Visit *v, int x, int axis)
{
	Shape s = node_val(v, x)->shape;
	return node_view(v, x, 2, (int64_t[]){ shape_product(&s, 0, axis), shape_product(&s, axis, s.rank) });
}

static void import_spatial_bn(Visit *v)
{
	bool last = caffe2_last(v), test = node_attr_flag(v, "is_test", false);
	int in[5];
	Attr attr = attr_float("epsilon", node_attr_float(v, "epsilon", 1e-5));
	for (int k = 0; k < 5; k++)
		in[k] = k == 0 ? caffe2_image(v, k, last) : caffe2_value(v, k);
	if (node_ok(v) && !test)
		node_fail(v, ERR_UNSUPPORTED,
			"its is_test is 0, so that it normalises by its batch as in training: set is_test to 1");
	node_set(v, 0, caffe2_in_order(v, node_call(v, OP_batch_norm, in, 5, &attr, 1), last));
}

static void import_lrn(Visit *v)
{
	bool last = caffe2_last(v);
	int x = caffe2_image(v, 0, last);
	int64_t size = caffe2_count(v, "size", 0, 1);
	double alpha = node_attr_float(v, "alpha", 0), beta = node_attr_float(v, "beta", 0);
	double bias = node_attr_float(v, "bias", 1);
	if (node_ok(v) && size % 2 == 0)
		node_fail(v, ERR_INPUT, "its size is %lld, but must be odd", (long long)size);
	Attr attr[] = { attr_int("size", size), attr_float("alpha", alpha), attr_float("beta", beta),
		attr_float("bias", bias) };
	node_set(v, 0, caffe2_in_order(v, node_call(v, OP_lrn, &x, 1, attr, 4), last));
}

/* (x - mean) / sqrt(var + epsilon) over the last dimensions from `axis` on; *mean and *root are those of the rows. */
static int normalise(Visit *v, int x, int axis, double epsilon, int *mean, int *root)
{
	int rank = node_val(v, x)->shape.rank;
	int64_t axes[DAG_MAX_RANK];
	for (int k = axis; k < rank; k++)
		axes[k - axis] = k;
	*mean = node_reduce(v, OP_reduce_mean, x, axes, rank - axis, true);
	int apart = node_call2(v, OP_sub, x, *mean), square = node_call2(v, OP_mul, apart, apart);
	int var = node_reduce(v, OP_reduce_mean, square, axes, rank - axis, true);
	*root = node_call1(v, OP_sqrt, node_with_number(v, OP_add, var, epsilon));
	return node_call2(v, OP_div, apart, *root);
}

/* Numbers for each channel as [C,1,1] for an input of `rank` dimensions. */
static int by_channel(Visit *v, int k, int rank)
{
	int x = caffe2_value(v, k);
	int64_t dim[DAG_MAX_RANK] = { shape_elements(node_val(v, x)->shape) };
	for (int i = 1; i < rank - 1; i++)
		dim[i] = 1;
	return node_view(v, x, rank > 1 ? rank - 1 : 1, dim);
}

static void import_instance_norm(Visit *v)
{
	bool last = caffe2_last(v);
	int x = caffe2_image(v, 0, last), mean, root;
	double epsilon = node_attr_size(v, "epsilon", 1e-5);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && s.rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 3", s.rank);
	if (!node_ok(v))
		return;
	int y = normalise(v, x, 2, epsilon, &mean, &root);
	y = node_call2(v, OP_mul, y, by_channel(v, 1, s.rank));
	y = node_call2(v, OP_add, y, by_channel(v, 2, s.rank));
	node_set(v, 0, caffe2_in_order(v, y, last));
	int64_t rows[] = { s.dim[0], s.dim[1] };
	if (node_used(v, 1))
		node_set(v, 1, node_view(v, mean, 2, rows));
	if (node_used(v, 2))
		node_set(v, 2, node_call2(v, OP_div, node_number(v, F32, 1), node_view(v, root, 2, rows)));
}

static void import_group_norm(Visit *v)
{
	bool last = caffe2_last(v);
	int x = caffe2_image(v, 0, last), mean, root;
	int64_t group = caffe2_count(v, "group", 32, 1);
	double epsilon = node_attr_size(v, "epsilon", 1e-5);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (s.rank < 2 || s.dim[1] % group != 0))
		node_fail(v, ERR_TYPE, "its channels cannot be cut into %lld groups", (long long)group);
	if (!node_ok(v))
		return;
	int y = node_view(v, x, 3, (int64_t[]){ s.dim[0], group, shape_product(&s, 1, s.rank) / group });
	y = node_reshape(v, normalise(v, y, 2, epsilon, &mean, &root), s);
	y = node_call2(v, OP_mul, y, by_channel(v, 1, s.rank));
	y = node_call2(v, OP_add, y, by_channel(v, 2, s.rank));
	node_set(v, 0, caffe2_in_order(v, y, last));
	int64_t rows[] = { s.dim[0], group };
	if (node_used(v, 1))
		node_set(v, 1, node_view(v, mean, 2, rows));
	if (node_used(v, 2))
		node_set(v, 2, node_call2(v, OP_div, node_number(v, F32, 1), node_view(v, root, 2, rows)));
}

static void import_layer_norm(Visit *v)
{
	int x = caffe2_value(v, 0), axis = caffe2_axis(v, "axis", 1, node_val(v, x)->shape.rank), mean, root;
	double epsilon = node_attr_size(v, "epsilon", 1e-5);
	bool affine = node_attr_flag(v, "elementwise_affine", false);
	if (!node_ok(v))
		return;
	int y = normalise(v, x, axis, epsilon, &mean, &root);
	if (affine)
		y = node_call2(v, OP_add, node_call2(v, OP_mul, y, caffe2_value(v, 1)), caffe2_value(v, 2));
	node_set(v, 0, y);
	if (node_used(v, 1))
		node_set(v, 1, mean);
	if (node_used(v, 2))
		node_set(v, 2, root);
}

/* x / norm along an axis; zeros stay zeros. */
static void set_normalised(Visit *v, bool squares)
{
	int x = caffe2_value(v, 0);
	int64_t axis = caffe2_axis(v, "axis", -1, node_val(v, x)->shape.rank);
	int y = squares ? node_call2(v, OP_mul, x, x) : node_call1(v, OP_abs, x);
	y = node_reduce(v, OP_reduce_sum, y, &axis, 1, true);
	y = squares ? node_call1(v, OP_sqrt, y) : y;
	node_set(v, 0, node_call2(v, OP_div, x, node_with_number(v, OP_maximum, y, squares ? 1e-12 : 1e-37)));
}

static void import_normalize(Visit *v)
{
	set_normalised(v, true);
}

static void import_normalize_l1(Visit *v)
{
	set_normalised(v, false);
}

/* (x - mean) / deviation, numbers for each channel as [1,C]. */
static void import_normalize_planar(Visit *v)
{
	int x = caffe2_value(v, 0), rank = node_val(v, x)->shape.rank;
	int y = node_call2(v, OP_sub, x, by_channel(v, 1, rank));
	node_set(v, 0, node_call2(v, OP_div, y, by_channel(v, 2, rank)));
}

/* All dimensions from `axis` on are one row. */
static void import_softmax(Visit *v)
{
	int x = caffe2_value(v, 0);
	Shape s = node_val(v, x)->shape;
	int axis = caffe2_axis(v, "axis", 1, s.rank);
	bool one = axis == s.rank - 1;
	Attr attr = attr_int("axis", -1);
	if (!node_ok(v))
		return;
	x = one ? x : caffe2_matrix(v, x, axis);
	node_set(v, 0, node_reshape(v, node_call(v, OP_softmax, &x, 1, &attr, 1), s));
}

const NodeRow caffe2_norm_rows[] = {
	{ "SpatialBN", 0, "momentum num_batches cudnn_exhaustive_search consumed_inputs engine", import_spatial_bn },
	{ "LRN", 0, "", import_lrn },
	{ "InstanceNorm", 0, "", import_instance_norm },
	{ "GroupNorm", 0, "is_test", import_group_norm },
	{ "LayerNorm", 0, "", import_layer_norm },
	{ "Normalize", 0, "", import_normalize },
	{ "NormalizeL1", 0, "", import_normalize_l1 },
	{ "NormalizePlanarYUV", 0, "", import_normalize_planar },
	{ "Softmax", 0, "engine", import_softmax },
	{ NULL, 0, NULL, NULL },
};
