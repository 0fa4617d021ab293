/* Rows of Caffe2's products of matrices. */
#include "frontend/caffe2/caffe2.h"

#include "frontend/node/compose.h"

/* x [M,K] times w, which is [N,K] or turned [K,N], plus a bias; dimensions before `axis` are the rows. */
static void set_dense(Visit *v, bool turned)
{
	int x = caffe2_value(v, 0), w = caffe2_value(v, 1), b = caffe2_value(v, 2);
	Shape s = node_val(v, x)->shape, filter = node_val(v, w)->shape;
	int axis = caffe2_axis(v, "axis", 1, s.rank), axis_w = caffe2_axis(v, "axis_w", 1, filter.rank);
	if (!node_ok(v))
		return;
	x = caffe2_matrix(v, x, axis);
	w = caffe2_matrix(v, w, axis_w);
	if (turned)
		w = node_transpose(v, w, (int64_t[]){ 1, 0 });
	int in[] = { x, w, node_view(v, b, 1, (int64_t[]){ shape_elements(node_val(v, b)->shape) }) };
	int y = node_call(v, OP_dense, in, 3, NULL, 0);
	s.dim[axis] = node_val(v, y)->shape.dim[1];
	s.rank = axis + 1;
	node_set(v, 0, node_reshape(v, y, s));
}

static void import_fc(Visit *v)
{
	set_dense(v, false);
}

static void import_fc_transposed(Visit *v)
{
	set_dense(v, true);
}

static void import_matmul(Visit *v)
{
	int a = caffe2_value(v, 0), b = caffe2_value(v, 1);
	int axis_a = caffe2_axis(v, "axis_a", 1, node_val(v, a)->shape.rank);
	int axis_b = caffe2_axis(v, "axis_b", 1, node_val(v, b)->shape.rank);
	Attr attr[] = { attr_int("ta", node_attr_flag(v, "trans_a", false)),
		attr_int("tb", node_attr_flag(v, "trans_b", false)) };
	if (!node_ok(v))
		return;
	int in[] = { caffe2_matrix(v, a, axis_a), caffe2_matrix(v, b, axis_b) };
	node_set(v, 0, node_call(v, OP_matmul, in, 2, attr, 2));
}

static void import_batch_matmul(Visit *v)
{
	int in[] = { caffe2_value(v, 0), caffe2_value(v, 1) };
	Attr attr[] = { attr_int("ta", node_attr_flag(v, "trans_a", false)),
		attr_int("tb", node_attr_flag(v, "trans_b", false)) };
	node_set(v, 0, node_call(v, OP_matmul, in, 2, attr, 2));
}

/* x y summed over all dimensions but the first, which stays. */
static void import_dot_product(Visit *v)
{
	int y = node_call2(v, OP_mul, caffe2_value(v, 0), caffe2_value(v, 1));
	int64_t axis = 1;
	Attr attr[] = { attr_ints("axes", &axis, 1), attr_int("keep", 0) };
	if (node_ok(v) && node_val(v, y)->shape.rank < 1)
		node_fail(v, ERR_TYPE, "its inputs are scalars");
	y = node_ok(v) ? caffe2_matrix(v, y, 1) : y;
	node_set(v, 0, node_call(v, OP_reduce_sum, &y, 1, attr, 2));
}

/* x times w plus b, which have the shape of x from `axis` on. */
static void import_elementwise_linear(Visit *v)
{
	int x = caffe2_value(v, 0), w = caffe2_value(v, 1), b = caffe2_value(v, 2);
	Shape s = node_val(v, x)->shape;
	int axis = caffe2_axis(v, "axis", 1, s.rank);
	if (!node_ok(v))
		return;
	int y = node_call2(v, OP_add, node_call2(v, OP_mul, caffe2_matrix(v, x, axis), w), b);
	node_set(v, 0, node_reshape(v, y, s));
}

const NodeRow caffe2_dense_rows[] = {
	{ "FC", 0, "float16_compute use_cudnn engine enable_tensor_core allow_tensor_core", import_fc },
	{ "FCTransposed", 0, "float16_compute use_cudnn engine", import_fc_transposed },
	{ "MatMul", 0, "", import_matmul },
	{ "BatchMatMul", 0, "broadcast use_scratch", import_batch_matmul },
	{ "DotProduct", 0, "", import_dot_product },
	{ "ElementwiseLinear", 0, "", import_elementwise_linear },
	{ NULL, 0, NULL, NULL },
};
