/* Rows of Caffe's layers that compute element by element, of softmax and of reductions. */
#include "frontend/caffe/caffe.h"

#include "frontend/node/activate.h"
#include "frontend/node/compose.h"

#include <math.h>
#include <string.h>

static int input(Visit *v)
{
	node_need(v, 0);
	return node_value(v, 0);
}

static void import_relu(Visit *v)
{
	double slope = node_attr_float(v, "negative_slope", 0);
	int x = input(v);
	node_set(v, 0, slope == 0 ? node_call1(v, OP_relu, x) : node_activate_with(v, x, "leaky_relu", slope, 0));
}

static void import_relu6(Visit *v)
{
	node_set(v, 0, node_activate_with(v, input(v), "clip", 0, 6));
}

static void import_elu(Visit *v)
{
	double alpha = node_attr_float(v, "alpha", 1);
	node_set(v, 0, node_activate_with(v, input(v), "elu", alpha, 0));
}

static void import_swish(Visit *v)
{
	double beta = node_attr_float(v, "beta", 1);
	node_set(v, 0, node_activate_with(v, input(v), "swish", beta, 0));
}

static void import_clip(Visit *v)
{
	if (!node_has(v, "min") || !node_has(v, "max"))
		node_fail(v, ERR_INPUT, "it needs min and max");
	double lo = node_attr_float(v, "min", 0), hi = node_attr_float(v, "max", 0);
	node_set(v, 0, node_activate_with(v, input(v), "clip", lo, hi));
}

static void import_sigmoid(Visit *v)
{
	node_set(v, 0, node_call1(v, OP_sigmoid, input(v)));
}

static void import_tanh(Visit *v)
{
	node_set(v, 0, node_call1(v, OP_tanh, input(v)));
}

static void import_abs(Visit *v)
{
	node_set(v, 0, node_call1(v, OP_abs, input(v)));
}

static void import_bnll(Visit *v)
{
	node_set(v, 0, node_activate(v, input(v), "softplus"));
}

static void import_threshold(Visit *v)
{
	double t = node_attr_float(v, "threshold", 0);
	int x = input(v);
	node_set(v, 0, node_cast(v, node_call2(v, OP_less, node_number(v, F32, t), x), F32));
}

/* scale x + shift */
static int affine(Visit *v, int x)
{
	double scale = node_attr_float(v, "scale", 1), shift = node_attr_float(v, "shift", 0);
	x = scale == 1 ? x : node_with_number(v, OP_mul, x, scale);
	return shift == 0 ? x : node_with_number(v, OP_add, x, shift);
}

static void import_power(Visit *v)
{
	double power = node_attr_float(v, "power", 1);
	int x = affine(v, input(v));
	if (power == 2)
		x = node_call2(v, OP_mul, x, x);
	else if (power != 1)
		x = node_with_number(v, OP_pow, x, power);
	node_set(v, 0, x);
}

/* The natural logarithm of the base; -1 stands for e. */
static double log_of_base(Visit *v)
{
	double base = node_attr_float(v, "base", -1);
	if (node_ok(v) && base != -1 && !(base > 0))
		node_fail(v, ERR_INPUT, "its base is %g, but must be positive, or -1 for e", base);
	return base == -1 ? 1 : log(base);
}

static void import_exp(Visit *v)
{
	double base = log_of_base(v);
	int x = affine(v, input(v));
	node_set(v, 0, node_call1(v, OP_exp, base == 1 ? x : node_with_number(v, OP_mul, x, base)));
}

static void import_log(Visit *v)
{
	double base = log_of_base(v);
	if (node_ok(v) && base == 0)
		node_fail(v, ERR_INPUT, "its base is 1, which has no logarithm");
	int y = node_call1(v, OP_log, affine(v, input(v)));
	node_set(v, 0, base == 1 ? y : node_with_number(v, OP_mul, y, 1 / base));
}

static void import_same(Visit *v)
{
	const Item *it = node_need(v, 0);
	for (int k = 0; k < node_nout(v); k++)
		node_set_alias(v, k, it);
}

static void import_eltwise(Visit *v)
{
	static const int ops[] = { [CAFFE_PROD] = OP_mul, [CAFFE_SUM] = OP_add, [CAFFE_MAX] = OP_maximum };
	int64_t kind = node_attr_int(v, "operation", CAFFE_SUM);
	int ncoeff, n = node_nin(v), y = DAG_NONE;
	const float *coeff = node_attr_floats(v, "coeff", &ncoeff);
	node_attr_flag(v, "stable_prod_grad", true); /* of the training */
	if (node_ok(v) && (kind < CAFFE_PROD || kind > CAFFE_MAX))
		node_fail(v, ERR_INPUT, "its operation is %lld, which Caffe does not have", (long long)kind);
	if (node_ok(v) && ncoeff > 0 && (ncoeff != n || kind != CAFFE_SUM))
		node_fail(v, ERR_INPUT, "its %d numbers coeff are not those of a sum of %d inputs", ncoeff, n);
	const Item *first = node_need(v, 0);
	for (int k = 0; k < n && node_ok(v); k++) {
		int x = node_value(v, k);
		if (node_ok(v) && !shape_eq(node_val(v, x)->shape, first->shape))
			node_fail(v, ERR_TYPE, "its inputs have different shapes");
		if (ncoeff > 0 && coeff[k] != 1)
			x = node_with_number(v, OP_mul, x, import_number(F32, &coeff[k]));
		y = k == 0 ? x : node_call2(v, ops[kind], y, x);
	}
	node_set(v, 0, y);
}

/* Of SE-Net's fork: a[N,C] x + y. */
static void import_axpy(Visit *v)
{
	const Item *a = node_need(v, 0), *x = node_need(v, 1), *y = node_need(v, 2);
	Shape s = x->shape;
	if (node_ok(v) && (s.rank < 2 || !shape_eq(s, y->shape) || shape_elements(a->shape) != s.dim[0] * s.dim[1]))
		node_fail(v, ERR_TYPE, "its inputs do not fit: one number for each channel, and two of one shape");
	for (int k = 2; k < s.rank; k++)
		s.dim[k] = 1;
	int by = node_reshape(v, node_value(v, 0), s);
	node_set(v, 0, node_call2(v, OP_add, node_call2(v, OP_mul, by, node_value(v, 1)), node_value(v, 2)));
}

static void import_softmax(Visit *v)
{
	const Item *it = node_need(v, 0);
	Attr attr = attr_int("axis", caffe_axis(v, "axis", 1, it->shape.rank));
	int x = node_value(v, 0);
	node_set(v, 0, node_call(v, OP_softmax, &x, 1, &attr, 1));
}

/* Over all dimensions from `axis` on, times coeff. */
static void import_reduction(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t kind = node_attr_int(v, "operation", CAFFE_REDUCE_SUM), axes[DAG_MAX_RANK];
	int axis = caffe_axis(v, "axis", 0, it->shape.rank), x = node_value(v, 0);
	double coeff = node_attr_float(v, "coeff", 1);
	if (node_ok(v) && (kind < CAFFE_REDUCE_SUM || kind > CAFFE_REDUCE_MEAN))
		node_fail(v, ERR_INPUT, "its operation is %lld, which Caffe does not have", (long long)kind);
	if (!node_ok(v))
		return;
	for (int k = axis; k < it->shape.rank; k++)
		axes[k - axis] = k;
	if (kind == CAFFE_REDUCE_ASUM)
		x = node_call1(v, OP_abs, x);
	else if (kind == CAFFE_REDUCE_SUMSQ)
		x = node_call2(v, OP_mul, x, x);
	Attr attr[] = { attr_ints("axes", axes, it->shape.rank - axis), attr_int("keep", 0) };
	x = node_call(v, kind == CAFFE_REDUCE_MEAN ? OP_reduce_mean : OP_reduce_sum, &x, 1, attr, 2);
	node_set(v, 0, coeff == 1 ? x : node_with_number(v, OP_mul, x, coeff));
}

/*
 * Places of the largest elements as floats, of equal ones the last; without an axis over all of an image, as
 * [N,1,k], with out_max_val [N,2,k], places and values. With an axis out_max_val gives the values.
 */
static void import_arg_max(Visit *v)
{
	const Item *it = node_need(v, 0);
	bool values = node_attr_flag(v, "out_max_val", false), by_axis = node_has(v, "axis");
	int64_t k = caffe_count(v, "top_k", 1, 1);
	Shape s = it->shape;
	int axis = by_axis ? caffe_axis(v, "axis", 0, s.rank) : 1, x = node_value(v, 0);
	if (node_ok(v) && !by_axis && s.rank < 1)
		node_fail(v, ERR_TYPE, "its input is a scalar");
	if (!by_axis) {
		s = shape_of(2, (int64_t[]){ s.dim[0], shape_product(&s, 1, s.rank) });
		x = node_reshape(v, x, s);
	}
	if (node_ok(v) && k > s.dim[axis])
		node_fail(v, ERR_INPUT, "its top_k is %lld of %lld elements", (long long)k, (long long)s.dim[axis]);
	if (!node_ok(v))
		return;
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK];
	for (int i = 0; i < s.rank; i++)
		step[i] = i == axis ? -1 : 1;
	start[axis] = s.dim[axis] - 1;
	Attr back[] = { attr_ints("starts", start, s.rank), attr_ints("steps", step, s.rank),
		attr_ints("sizes", s.dim, s.rank) };
	x = node_call(v, OP_slice, &x, 1, back, 3); /* the first of equal ones is now the last */
	Attr most[] = { attr_int("axis", axis), attr_int("k", k) };
	int largest = node_call(v, OP_top_k, &x, 1, most, 2);
	if (!node_ok(v))
		return;
	int place = v->im->dag->call.at[v->im->dag->call.n - 1].out[1];
	place = node_call2(v, OP_sub, node_number(v, I64, (double)(s.dim[axis] - 1)), place);
	place = node_cast(v, place, F32);
	if (by_axis) {
		node_set(v, 0, values ? largest : place);
		return;
	}
	int part[] = { node_view(v, place, 3, (int64_t[]){ s.dim[0], 1, k }),
		node_view(v, largest, 3, (int64_t[]){ s.dim[0], 1, k }) };
	node_set(v, 0, node_concat(v, part, values ? 2 : 1, 1));
}

const NodeRow caffe_math_rows[] = {
	{ "ReLU", 0, "", import_relu },
	{ "ReLU6", 0, "", import_relu6 },
	{ "ELU", 0, "", import_elu },
	{ "Swish", 0, "", import_swish },
	{ "Clip", 0, "", import_clip },
	{ "Sigmoid", 0, "", import_sigmoid },
	{ "TanH", 0, "", import_tanh },
	{ "AbsVal", 0, "", import_abs },
	{ "BNLL", 0, "", import_bnll },
	{ "Threshold", 0, "", import_threshold },
	{ "Power", 0, "", import_power },
	{ "Exp", 0, "", import_exp },
	{ "Log", 0, "", import_log },
	{ "Dropout", 0, "*", import_same },
	{ "Split", 0, "", import_same },
	{ "Eltwise", 0, "", import_eltwise },
	{ "Axpy", 0, "", import_axpy },
	{ "Softmax", 0, "", import_softmax },
	{ "Reduction", 0, "", import_reduction },
	{ "ArgMax", 0, "", import_arg_max },
	{ NULL, 0, NULL, NULL },
};
