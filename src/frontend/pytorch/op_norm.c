/* Rows of normalisations, and of dropout, which inference leaves out. */
#include "frontend/pytorch/aten.h"

#include "op/element.h"

static int mean_over(Aten *n, int x, const int64_t *axes, int count, bool keep)
{
	Attr attr[] = { attr_ints("axes", axes, count), attr_int("keep", keep) };
	return count == 0 ? x : node_call(n->v, OP_reduce_mean, &x, 1, attr, 2);
}

/* 1 / sqrt(mean(x * x) + epsilon) */
static int inverse_root(Aten *n, int x, const int64_t *axes, int count, double epsilon)
{
	Visit *v = n->v;
	int square = mean_over(n, node_call2(v, OP_mul, x, x), axes, count, true);
	int root = node_call1(v, OP_sqrt, node_with_number(v, OP_add, square, epsilon));
	return node_call2(v, OP_div, node_number(v, node_val(v, x)->type, 1), root);
}

/* A vector along dimension 1 of `rank`. */
static int along_channels(Aten *n, int x, int rank)
{
	Shape s = node_val(n->v, x)->shape;
	if (node_ok(n->v) && s.rank != 1)
		node_fail(n->v, ERR_TYPE, "its weight has %d dimensions where 1 is needed", s.rank);
	for (int k = 1; k < rank - 1; k++)
		s.dim[k] = 1;
	s.rank = rank > 1 ? rank - 1 : 1;
	return node_reshape(n->v, x, s);
}

static int scaled(Aten *n, int y, int rank)
{
	int w = aten_value(n, "weight"), b = aten_value(n, "bias");
	if (w != DAG_NONE)
		y = node_call2(n->v, OP_mul, y, rank > 0 ? along_channels(n, w, rank) : w);
	return b != DAG_NONE ? node_call2(n->v, OP_add, y, rank > 0 ? along_channels(n, b, rank) : b) : y;
}

/* Statistics of 16 bits are taken in f32. */
static int widened(Aten *n, int x, DType *t)
{
	*t = node_val(n->v, x)->type;
	return dtype_is_float(*t) && t->bits < 32 ? node_cast(n->v, x, F32) : x;
}

/* (x - mean) / sqrt(variance + epsilon) over axes, scaled and shifted. Gives the mean and the inverse, too. */
static int normalised(Aten *n, int x, const int64_t *axes, int count, int rank, int *moment)
{
	DType t;
	int wide = widened(n, x, &t), mean = mean_over(n, wide, axes, count, true);
	int centred = node_call2(n->v, OP_sub, wide, mean);
	int inverse = inverse_root(n, centred, axes, count, aten_float(n, "eps"));
	moment[0] = mean;
	moment[1] = inverse;
	return scaled(n, node_cast(n->v, node_call2(n->v, OP_mul, centred, inverse), t), rank);
}

/* A constant of `count` equal numbers. */
static int constant(Aten *n, DType t, int64_t count, double x)
{
	if (!torch_spend(n->v, count))
		return DAG_NONE;
	void *data = arena_alloc(n->v->im->arena, (size_t)dtype_bytes(t, count) + 8);
	for (int64_t k = 0; k < count; k++)
		element_set(t, data, k, x);
	return node_const(n->v, t, shape_of(1, &count), data);
}

/* With running statistics one call, which folds into a convolution; without them those of the batch. */
static void import_batch_norm(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "input"), mean = aten_value(n, "running_mean"), var = aten_value(n, "running_var");
	Shape s = node_val(v, x)->shape;
	bool training = n->row->op == 2 ? false : aten_flag(n, n->row->op == 3 ? "use_input_stats" : "training");
	int64_t axes[DAG_MAX_RANK], channels = s.rank > 1 ? s.dim[1] : 0;
	int count = 0, moment[2];
	if (node_ok(v) && s.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 2", s.rank);
	if (node_ok(v) && training && mean != DAG_NONE && n->row->op != 3)
		node_fail(v, ERR_UNSUPPORTED, "it is in training mode: call model.eval() before the export");
	if (!node_ok(v))
		return;
	if (mean == DAG_NONE || var == DAG_NONE || training) {
		for (int k = 0; k < s.rank; k++)
			if (k != 1 && (k != 0 || n->row->op != 3))
				axes[count++] = k;
		aten_set(n, normalised(n, x, axes, count, s.rank, moment));
		return;
	}
	int w = aten_value(n, "weight"), b = aten_value(n, "bias");
	DType t = node_val(v, mean)->type;
	int in[] = { x, w != DAG_NONE ? w : constant(n, t, channels, 1), b != DAG_NONE ? b : constant(n, t, channels, 0),
		mean, var };
	Attr eps = attr_float("epsilon", aten_float(n, "eps"));
	int y = node_call(v, OP_batch_norm, in, 5, &eps, 1);
	if (n->row->op == 0 || n->row->op == 3) {
		aten_set(n, y);
		return;
	}
	/* native forms give the saved statistics, which are empty in inference */
	int empty = node_const(v, t, shape_of(1, (int64_t[]){ 0 }), "");
	aten_give_values(n, (int[]){ y, empty, empty }, 3);
}

static void import_layer_norm(Aten *n)
{
	Visit *v = n->v;
	int64_t shape[ATEN_INTS], axes[DAG_MAX_RANK];
	int x = aten_value(n, "input"), count = aten_ints(n, "normalized_shape", -1, shape), moment[2];
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (count < 1 || count > s.rank))
		node_fail(v, ERR_TYPE, "it normalises %d dimensions of %d", count, s.rank);
	for (int k = 0; k < count && node_ok(v); k++) {
		axes[k] = s.rank - count + k;
		if (s.dim[axes[k]] != shape[k])
			node_fail(v, ERR_TYPE, "its normalized_shape is not that of its input");
	}
	int y = normalised(n, x, axes, count, 0, moment);
	if (n->row->op != 0)
		aten_give_values(n, (int[]){ y, moment[0], moment[1] }, 3);
	else
		aten_set(n, y);
}

static void import_rms_norm(Aten *n)
{
	int64_t shape[ATEN_INTS], axes[DAG_MAX_RANK];
	int x = aten_value(n, "input"), count = aten_ints(n, "normalized_shape", -1, shape);
	DType t;
	int rank = node_val(n->v, x)->shape.rank, wide = widened(n, x, &t), w = aten_value(n, "weight");
	if (node_ok(n->v) && (count < 1 || count > rank))
		node_fail(n->v, ERR_TYPE, "it normalises %d dimensions of %d", count, rank);
	for (int k = 0; k < count && node_ok(n->v); k++)
		axes[k] = rank - count + k;
	double eps = aten_given(n, "eps") ? aten_float(n, "eps")
	             : t.bits == 64       ? 2.220446049250313e-16
	                                  : 1.1920928955078125e-07;
	int y = node_call2(n->v, OP_mul, wide, inverse_root(n, wide, axes, count, eps));
	y = w != DAG_NONE ? node_call2(n->v, OP_mul, y, node_cast(n->v, w, node_val(n->v, y)->type)) : y;
	aten_set(n, node_cast(n->v, y, t));
}

static void import_group_norm(Aten *n)
{
	Visit *v = n->v;
	bool native = n->row->op != 0;
	int x = aten_value(n, "input");
	Shape s = node_val(v, x)->shape;
	int64_t groups = aten_int(n, native ? "group" : "num_groups");
	int64_t channels = s.rank > 1 ? s.dim[1] : 0;
	if (node_ok(v) && (s.rank < 2 || groups < 1 || channels % groups != 0))
		node_fail(
			v, ERR_TYPE, "its %lld channels cannot be cut into %lld groups", (long long)channels, (long long)groups);
	if (!node_ok(v))
		return;
	int64_t whole[] = { s.dim[0], groups, shape_product(&s, 1, s.rank) / groups }, axis = 2;
	DType t;
	int wide = node_view(v, widened(n, x, &t), 3, whole), mean = mean_over(n, wide, &axis, 1, true);
	int centred = node_call2(v, OP_sub, wide, mean), inverse = inverse_root(n, centred, &axis, 1, aten_float(n, "eps"));
	int y = node_cast(v, node_reshape(v, node_call2(v, OP_mul, centred, inverse), s), t);
	y = scaled(n, y, s.rank);
	if (native)
		aten_give_values(n, (int[]){ y, node_view(v, mean, 2, whole), node_view(v, inverse, 2, whole) }, 3);
	else
		aten_set(n, y);
}

static void import_local_response(Aten *n)
{
	int x = aten_value(n, "input");
	Attr attr[] = { attr_int("size", aten_int(n, "size")), attr_float("alpha", aten_float(n, "alpha")),
		attr_float("beta", aten_float(n, "beta")), attr_float("bias", aten_float(n, "k")) };
	aten_set(n, node_call(n->v, OP_lrn, &x, 1, attr, 4));
}

static void import_dropout(Aten *n)
{
	aten_float(n, "p");
	if (aten_flag(n, "train"))
		node_fail(n->v, ERR_UNSUPPORTED, "it is in training mode: call model.eval() before the export");
	if (n->row->op == 0) {
		aten_give(n, aten_any(n, "input"));
		return;
	}
	int x = aten_value(n, "input");
	int mask = node_ok(n->v) ? node_expand(n->v, node_number(n->v, BOOL, 1), node_val(n->v, x)->shape) : DAG_NONE;
	aten_give_values(n, (int[]){ x, mask }, 2);
}

#define AFFINE "input:T weight:T? bias:T?"
#define RUNNING AFFINE " running_mean:T? running_var:T?"

/* v g / |v|, the norm over all dimensions but one, or over all of them. */
static void import_weight_norm(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "v"), g = aten_value(n, "g"), rank = node_val(v, x)->shape.rank, count = 0;
	int dim = aten_int(n, "dim") == -1 ? -1 : aten_axis(n, "dim", rank);
	int64_t axes[DAG_MAX_RANK];
	for (int k = 0; k < rank; k++)
		if (k != dim)
			axes[count++] = k;
	if (!node_ok(v))
		return;
	Attr attr = attr_ints("axes", axes, count);
	int square = node_call2(v, OP_mul, x, x);
	int norm = node_call1(v, OP_sqrt, count > 0 ? node_call(v, OP_reduce_sum, &square, 1, &attr, 1) : square);
	int both[] = { node_call2(v, OP_mul, x, node_call2(v, OP_div, g, norm)), norm };
	if (n->row->op != 0)
		aten_give_values(n, both, 2);
	else
		aten_set(n, both[0]);
}

const AtenRow torch_norm_rows[] = {
	{ "_weight_norm", "v:T g:T dim:i=0", import_weight_norm, 0 },
	{ "_weight_norm_interface", "v:T g:T dim:i=0", import_weight_norm, 1 },
	{ "batch_norm", RUNNING " training:b momentum:_? eps:f=1e-05 cudnn_enabled:_?", import_batch_norm, 0 },
	{ "native_batch_norm", RUNNING " training:b momentum:_? eps:f=1e-05", import_batch_norm, 1 },
	{ "_native_batch_norm_legit", RUNNING " training:b momentum:_? eps:f=1e-05", import_batch_norm, 1 },
	{ "_native_batch_norm_legit_no_training", RUNNING " momentum:_? eps:f=1e-05", import_batch_norm, 2 },
	{ "cudnn_batch_norm", RUNNING " training:b momentum:_? eps:f=1e-05", import_batch_norm, 1 },
	{ "instance_norm", RUNNING " use_input_stats:b momentum:_? eps:f=1e-05 cudnn_enabled:_?", import_batch_norm, 3 },
	{ "layer_norm", "input:T normalized_shape:I weight:T? bias:T? eps:f=1e-05 cudnn_enable:_?", import_layer_norm, 0 },
	{ "native_layer_norm", "input:T normalized_shape:I weight:T? bias:T? eps:f=1e-05", import_layer_norm, 1 },
	{ "rms_norm", "input:T normalized_shape:I weight:T? eps:f?", import_rms_norm, 0 },
	{ "group_norm", "input:T num_groups:i weight:T? bias:T? eps:f=1e-05 cudnn_enabled:_?", import_group_norm, 0 },
	{ "native_group_norm", "input:T weight:T? bias:T? N:_ C:_ HxW:_ group:i eps:f=1e-05", import_group_norm, 1 },
	{ "local_response_norm", "input:T size:i alpha:f=0.0001 beta:f=0.75 k:f=1", import_local_response, 0 },
	{ "dropout!", "input:T p:f train:b", import_dropout, 0 },
	{ "feature_dropout!", "input:T p:f train:b", import_dropout, 0 },
	{ "alpha_dropout!", "input:T p:f train:b", import_dropout, 0 },
	{ "feature_alpha_dropout!", "input:T p:f train:b", import_dropout, 0 },
	{ "native_dropout", "input:T p:f train:b?", import_dropout, 1 },
	{ NULL, NULL, NULL, 0 },
};
