/*
 * Rows of functions of keras.ops.numpy that are compositions: of one value or two, elementwise, and statistics along
 * axes. Statistics that leave out NaN put the number there that changes nothing.
 */
#include "frontend/keras/function.h"

#include <math.h>
#include <string.h>

/* ---- elementwise */

static int cbrt_of(Visit *v, const int *x)
{
	int y = node_each2(v, OP_pow, node_each1(v, OP_abs, x[0]), keras_number_like(v, x[0], 1.0 / 3));
	return node_each2(v, OP_mul, node_each1(v, OP_sign, x[0]), y);
}

static int deg2rad(Visit *v, const int *x)
{
	return node_each2(v, OP_mul, x[0], keras_number_like(v, x[0], M_PI / 180));
}

static int rad2deg(Visit *v, const int *x)
{
	return node_each2(v, OP_mul, x[0], keras_number_like(v, x[0], 180 / M_PI));
}

static int exp2_of(Visit *v, const int *x)
{
	return node_each2(v, OP_pow, keras_number_like(v, x[0], 2), x[0]);
}

static int log2_of(Visit *v, const int *x)
{
	return node_each2(v, OP_div, node_each1(v, OP_log, x[0]), keras_number_like(v, x[0], M_LN2));
}

static int log10_of(Visit *v, const int *x)
{
	return node_each2(v, OP_div, node_each1(v, OP_log, x[0]), keras_number_like(v, x[0], M_LN10));
}

static int erfc_of(Visit *v, const int *x)
{
	return node_each2(v, OP_sub, keras_number_like(v, x[0], 1), node_each1(v, OP_erf, x[0]));
}

/* sin(pi x) / (pi x) */
static int sinc(Visit *v, const int *x)
{
	int y = node_each2(v, OP_mul, x[0], keras_number_like(v, x[0], M_PI)), zero = keras_number_like(v, x[0], 0);
	int wave = node_each2(v, OP_div, node_each1(v, OP_sin, y), y);
	return keras_pick(v, node_each2(v, OP_equal, x[0], zero), keras_number_like(v, x[0], 1), wave);
}

static int trunc_of(Visit *v, const int *x)
{
	int down = node_each1(v, OP_floor, node_each1(v, OP_abs, x[0]));
	return node_each2(v, OP_mul, node_each1(v, OP_sign, x[0]), down);
}

static int is_finite(Visit *v, const int *x)
{
	return node_each2(v, OP_less, node_each1(v, OP_abs, x[0]), keras_number_like(v, x[0], INFINITY));
}

static int is_neg_inf(Visit *v, const int *x)
{
	return node_each2(v, OP_equal, x[0], keras_number_like(v, x[0], -INFINITY));
}

static int is_pos_inf(Visit *v, const int *x)
{
	return node_each2(v, OP_equal, x[0], keras_number_like(v, x[0], INFINITY));
}

static int hypot_of(Visit *v, const int *x)
{
	int a = node_each2(v, OP_mul, x[0], x[0]), b = node_each2(v, OP_mul, x[1], x[1]);
	return node_each1(v, OP_sqrt, node_each2(v, OP_add, a, b));
}

/* 0, x2 where x1 is 0, 1 */
static int heaviside(Visit *v, const int *x)
{
	int zero = keras_number_like(v, x[0], 0), above = node_each2(v, OP_less, zero, x[0]);
	int rest = keras_pick(v, node_each2(v, OP_equal, x[0], zero), x[1], zero);
	return keras_pick(v, above, keras_number_like(v, x[0], 1), rest);
}

/* max(a, b) + log(1 + exp(-|a - b|)) */
static int log_add_exp(Visit *v, const int *x)
{
	int far = node_each1(v, OP_neg, node_each1(v, OP_abs, node_each2(v, OP_sub, x[0], x[1])));
	return node_each2(
		v, OP_add, node_each2(v, OP_maximum, x[0], x[1]), node_each1(v, OP_log1p, node_each1(v, OP_exp, far)));
}

static int log_add_exp2(Visit *v, const int *x)
{
	int base = keras_number_like(v, x[0], M_LN2);
	int natural[] = { node_each2(v, OP_mul, x[0], base), node_each2(v, OP_mul, x[1], base) };
	return node_each2(v, OP_div, log_add_exp(v, natural), base);
}

/* The other one where one is NaN. */
static int beside_nan(Visit *v, const int *x, int op)
{
	int second = keras_pick(v, node_each1(v, OP_is_nan, x[1]), x[0], node_each2(v, op, x[0], x[1]));
	return keras_pick(v, node_each1(v, OP_is_nan, x[0]), x[1], second);
}

static int fmax_of(Visit *v, const int *x)
{
	return beside_nan(v, x, OP_maximum);
}

static int fmin_of(Visit *v, const int *x)
{
	return beside_nan(v, x, OP_minimum);
}

static int fmod_of(Visit *v, const int *x)
{
	Attr attr = attr_int("fmod", 1);
	return node_each(v, OP_mod, x, 2, &attr, 1);
}

static int divide_no_nan(Visit *v, const int *x)
{
	int zero = keras_number_like(v, x[1], 0);
	return keras_pick(v, node_each2(v, OP_equal, x[1], zero), zero, node_each2(v, OP_div, x[0], x[1]));
}

static int ldexp_of(Visit *v, const int *x)
{
	return node_each2(v, OP_mul, x[0], exp2_of(v, &x[1]));
}

/* The angle of (x, y): that of y / x, with half a turn to its left. */
static int arctan2(Visit *v, const int *x)
{
	int zero = keras_number_like(v, x[0], 0), turn = keras_number_like(v, x[0], M_PI);
	int below = node_each2(v, OP_less, x[0], zero), left = node_each2(v, OP_less, x[1], zero);
	int angle = node_each1(v, OP_atan, node_each2(v, OP_div, x[0], x[1]));
	int half = keras_pick(v, left, keras_pick(v, below, node_each1(v, OP_neg, turn), turn), zero);
	int origin = node_each2(v, OP_bit_and, node_each2(v, OP_equal, x[0], zero), node_each2(v, OP_equal, x[1], zero));
	return keras_pick(v, origin, zero, node_each2(v, OP_add, angle, half));
}

static const struct {
	const char *name;
	int operands;
	int (*make)(Visit *v, const int *x);
} compositions[] = {
	{ "Arctan2", 2, arctan2 },
	{ "Cbrt", 1, cbrt_of },
	{ "Deg2rad", 1, deg2rad },
	{ "DivideNoNan", 2, divide_no_nan },
	{ "Erfc", 1, erfc_of },
	{ "Exp2", 1, exp2_of },
	{ "Fmax", 2, fmax_of },
	{ "Fmin", 2, fmin_of },
	{ "Fmod", 2, fmod_of },
	{ "Heaviside", 2, heaviside },
	{ "Hypot", 2, hypot_of },
	{ "Isfinite", 1, is_finite },
	{ "Isneginf", 1, is_neg_inf },
	{ "Isposinf", 1, is_pos_inf },
	{ "Ldexp", 2, ldexp_of },
	{ "Log10", 1, log10_of },
	{ "Log2", 1, log2_of },
	{ "Logaddexp", 2, log_add_exp },
	{ "Logaddexp2", 2, log_add_exp2 },
	{ "Rad2deg", 1, rad2deg },
	{ "Sinc", 1, sinc },
	{ "Trunc", 1, trunc_of },
};

static void import_composed(Visit *v)
{
	int x[2] = { DAG_NONE, DAG_NONE };
	size_t row = 0;
	for (size_t k = 0; k < sizeof compositions / sizeof *compositions; k++)
		row = strcmp(compositions[k].name, v->node->op) == 0 ? k : row;
	int n = compositions[row].operands;
	if (n == 1)
		x[0] = keras_value(v, 0);
	else if (!keras_two(v, x))
		return;
	for (int k = 0; k < n; k++)
		x[k] = keras_float(v, x[k]);
	keras_promote(v, x, n);
	node_set(v, 0, compositions[row].make(v, x));
}

/* |a - b| <= atol + rtol |b|, or equal infinities */
static void import_is_close(Visit *v)
{
	int x[2];
	if (node_attr_flag(v, "equal_nan", false))
		node_fail(v, ERR_UNSUPPORTED, "its equal_nan is not supported");
	if (!keras_two(v, x))
		return;
	for (int k = 0; k < 2; k++)
		x[k] = keras_float(v, x[k]);
	keras_promote(v, x, 2);
	const Json *rtol = keras_argument(v, 2, "rtol"), *atol = keras_argument(v, 3, "atol");
	DType t = node_val(v, x[0])->type;
	int relative = rtol != NULL ? keras_constant_of(v, rtol, t) : node_number(v, t, 1e-5);
	int absolute = atol != NULL ? keras_constant_of(v, atol, t) : node_number(v, t, 1e-8);
	int far = node_each1(v, OP_abs, node_each2(v, OP_sub, x[0], x[1]));
	int most = node_each2(v, OP_add, absolute, node_each2(v, OP_mul, relative, node_each1(v, OP_abs, x[1])));
	node_set(
		v, 0, node_each2(v, OP_bit_or, node_each2(v, OP_less_equal, far, most), node_each2(v, OP_equal, x[0], x[1])));
}

static void import_round(Visit *v)
{
	int x = keras_value(v, 0);
	int64_t decimals = node_attr_int(v, "decimals", 0);
	if (decimals < -30 || decimals > 30)
		node_fail(v, ERR_UNSUPPORTED, "it rounds to %lld decimals", (long long)decimals);
	if (!node_ok(v) || !dtype_is_float(node_val(v, x)->type)) {
		node_set(v, 0, x);
		return;
	}
	int factor = keras_number_like(v, x, pow(10, (double)decimals));
	int y = node_each1(v, OP_round, decimals != 0 ? node_each2(v, OP_mul, x, factor) : x);
	node_set(v, 0, decimals != 0 ? node_each2(v, OP_div, y, factor) : y);
}

static void import_nan_to_num(Visit *v)
{
	int x = keras_value(v, 0);
	double most = node_ok(v) && node_val(v, x)->type.bits == 16 ? 65504 : 3.4028234663852886e38;
	double nan = node_attr_float(v, "nan", 0), above = node_attr_float(v, "posinf", most),
		   below = node_attr_float(v, "neginf", -most);
	if (node_ok(v) && node_val(v, x)->type.bits == 64)
		node_fail(v, ERR_UNSUPPORTED, "its float64 is not supported");
	if (node_ok(v) && dtype_is_float(node_val(v, x)->type)) {
		int y = keras_pick(v, node_each1(v, OP_is_nan, x), keras_number_like(v, x, nan), x);
		y = keras_pick(v, is_pos_inf(v, &x), keras_number_like(v, x, above), y);
		x = keras_pick(v, is_neg_inf(v, &x), keras_number_like(v, x, below), y);
	}
	node_set(v, 0, x);
}

/* A value that is itself: copies, gradients that stop, real numbers that are conjugated. */
static void import_same(Visit *v)
{
	keras_value(v, 0);
	node_set_alias(v, 0, node_need(v, 0));
}

/* ---- statistics */

typedef struct Along {
	int64_t axes[DAG_MAX_RANK];
	int n;
	bool keep;
} Along;

static Along read_along(Visit *v, int x)
{
	Along a = { .keep = node_attr_flag(v, "keepdims", false) };
	a.n = keras_axes(v, node_val(v, x)->shape.rank, a.axes);
	return a;
}

static int reduced(Visit *v, int op, int x, const Along *a)
{
	return node_reduce(v, op, x, a->axes, a->n, a->keep);
}

static void import_count_nonzero(Visit *v)
{
	int x = keras_value(v, 0);
	Along a = read_along(v, x);
	if (node_ok(v))
		node_set(v, 0, reduced(v, OP_reduce_sum, node_cast(v, node_cast(v, x, BOOL), I32), &a));
}

static void import_ptp(Visit *v)
{
	int x = keras_value(v, 0);
	Along a = read_along(v, x);
	if (node_ok(v))
		node_set(v, 0, node_each2(v, OP_sub, reduced(v, OP_reduce_max, x, &a), reduced(v, OP_reduce_min, x, &a)));
}

/* The sum of x w over that of w. */
static void import_average(Visit *v)
{
	int x = keras_float(v, keras_value(v, 0)), w = keras_operand(v, 1, "weights", F32);
	Along a = read_along(v, x);
	Shape s = node_val(v, x)->shape, to = { .rank = s.rank };
	if (!node_ok(v))
		return;
	if (w == DAG_NONE) {
		node_set(v, 0, reduced(v, OP_reduce_mean, x, &a));
		return;
	}
	w = node_cast(v, w, node_val(v, x)->type);
	for (int k = 0; k < s.rank; k++)
		to.dim[k] = a.n == 1 && k == a.axes[0] ? s.dim[k] : 1;
	Shape have = node_val(v, w)->shape;
	if (!shape_eq(have, s) && (a.n != 1 || have.rank != 1 || have.dim[0] != s.dim[a.axes[0]]))
		node_fail(v, ERR_TYPE, "its weights do not fit the axis along which it averages");
	if (!node_ok(v))
		return;
	w = node_expand(v, shape_eq(have, s) ? w : node_reshape(v, w, to), s);
	node_set(v, 0,
		node_each2(
			v, OP_div, reduced(v, OP_reduce_sum, node_each2(v, OP_mul, x, w), &a), reduced(v, OP_reduce_sum, w, &a)));
}

/* Mean and mean of squared distances. */
static void import_moments(Visit *v)
{
	int x = keras_value(v, 0);
	Along a = read_along(v, x), whole = a;
	if (!node_ok(v))
		return;
	whole.keep = true;
	int far = node_each2(v, OP_sub, x, reduced(v, OP_reduce_mean, x, &whole));
	node_set(v, 0, reduced(v, OP_reduce_mean, x, &a));
	if (node_nout(v) > 1 && node_used(v, 1))
		node_set(v, 1, reduced(v, OP_reduce_mean, node_each2(v, OP_mul, far, far), &a));
}

/* Functions that leave out NaN: "Nansum". */
static void import_nan(Visit *v)
{
	static const struct {
		const char *name;
		int op;
		double nothing;
	} rows[] = { { "sum", OP_reduce_sum, 0 }, { "prod", OP_reduce_prod, 1 }, { "max", OP_reduce_max, -INFINITY },
		{ "min", OP_reduce_min, INFINITY }, { "argmax", OP_arg_max, -INFINITY }, { "argmin", OP_arg_min, INFINITY },
		{ "cumsum", OP_scan, 0 }, { "cumprod", OP_scan, 1 } };
	const char *name = v->node->op + strlen("Nan");
	size_t row = 0;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		row = strcmp(rows[k].name, name) == 0 ? k : row;
	int x = keras_float(v, keras_value(v, 0)), y;
	x = keras_pick(v, node_each1(v, OP_is_nan, x), keras_number_like(v, x, rows[row].nothing), x);
	if (rows[row].op == OP_scan || rows[row].op == OP_arg_max || rows[row].op == OP_arg_min) {
		bool scan = rows[row].op == OP_scan;
		int count;
		node_attr_ints(v, "axis", &count);
		if (node_ok(v) && count != 1)
			node_fail(v, ERR_UNSUPPORTED, "it has %d axes; one is supported", count < 0 ? 0 : count);
		Attr attr[] = { attr_int("axis", keras_axis(v, node_val(v, x)->shape.rank, 0)),
			scan ? attr_text("kind", name + strlen("cum")) : attr_int("keep", node_attr_flag(v, "keepdims", false)) };
		y = node_call(v, rows[row].op, &x, 1, attr, 2);
		node_set(v, 0, scan ? node_cast(v, y, keras_type_or(v, node_val(v, x)->type)) : node_cast(v, y, I32));
		return;
	}
	Along a = read_along(v, x);
	if (node_ok(v))
		node_set(v, 0, reduced(v, rows[row].op, x, &a));
}

/* "Nanmean", "Nanvar", "Nanstd": over the numbers that are there. */
static void import_nan_mean(Visit *v)
{
	bool mean = strcmp(v->node->op, "Nanmean") == 0;
	int x = keras_float(v, keras_value(v, 0)), zero = keras_number_like(v, x, 0);
	Along a = read_along(v, x), whole = a;
	if (!node_ok(v))
		return;
	whole.keep = !mean || a.keep;
	int out = node_each1(v, OP_is_nan, x), on = keras_pick(v, out, zero, keras_number_like(v, x, 1));
	int sum = reduced(v, OP_reduce_sum, keras_pick(v, out, zero, x), &whole);
	int y = node_each2(v, OP_div, sum, reduced(v, OP_reduce_sum, node_expand(v, on, node_val(v, x)->shape), &whole));
	if (!mean) {
		int far = keras_pick(v, out, zero, node_each2(v, OP_sub, x, y));
		y = node_each2(v, OP_div, reduced(v, OP_reduce_sum, node_each2(v, OP_mul, far, far), &a),
			reduced(v, OP_reduce_sum, node_expand(v, on, node_val(v, x)->shape), &a));
	}
	node_set(v, 0, strcmp(v->node->op, "Nanstd") == 0 ? node_each1(v, OP_sqrt, y) : y);
}

/* The axes as one, the last one: [others..,product]. */
static int axes_last(Visit *v, int x, const Along *a, Shape *result)
{
	Shape s = node_val(v, x)->shape, to = { 0 };
	int64_t perm[DAG_MAX_RANK], many = 1;
	int n = 0;
	*result = (Shape){ 0 };
	for (int k = 0; k < s.rank; k++) {
		bool gone = false;
		for (int i = 0; i < a->n; i++)
			gone |= a->axes[i] == k;
		if (!gone) {
			perm[n++] = k;
			to.dim[to.rank++] = s.dim[k];
		}
		if (!gone || a->keep)
			result->dim[result->rank++] = gone ? 1 : s.dim[k];
	}
	for (int i = 0; i < a->n; i++) {
		perm[n++] = a->axes[i];
		many *= s.dim[a->axes[i]];
	}
	to.dim[to.rank++] = many;
	return node_ok(v) && n == s.rank ? node_reshape(v, node_transpose(v, x, perm), to) : x;
}

/* The value at a part of the elements in rising order; what is between two elements is made of both. */
static void import_quantile(Visit *v)
{
	int x = keras_float(v, keras_value(v, 0));
	const Json *q = keras_argument(v, 1, "q");
	const char *method = node_attr_text(v, "method", "linear");
	bool median = strcmp(v->node->op, "Median") == 0;
	double at = median                            ? 0.5
	            : q != NULL && q->kind == JV_REAL ? q->real
	            : q != NULL && q->kind == JV_INT  ? (double)q->i
	                                              : -1;
	at = strcmp(v->node->op, "Percentile") == 0 ? at / 100 : at;
	Along a = read_along(v, x);
	if (node_ok(v) && !(at >= 0 && at <= 1))
		node_fail(v, ERR_UNSUPPORTED, "its q is not one number of its range");
	Shape result;
	x = node_ok(v) ? axes_last(v, x, &a, &result) : x;
	if (!node_ok(v))
		return;
	int axis = node_val(v, x)->shape.rank - 1;
	int64_t n = node_val(v, x)->shape.dim[axis];
	if (n < 1) {
		node_fail(v, ERR_TYPE, "it has no elements");
		return;
	}
	double exact = at * (double)(n - 1), low = floor(exact), part = exact - low;
	if (strcmp(method, "lower") == 0)
		part = 0;
	else if (strcmp(method, "higher") == 0)
		part = part > 0;
	else if (strcmp(method, "midpoint") == 0)
		part = part > 0 ? 0.5 : 0;
	else if (strcmp(method, "nearest") == 0)
		part = nearbyint(exact) - low;
	else if (strcmp(method, "linear") != 0)
		node_fail(v, ERR_UNSUPPORTED, "its method '%.20s' is not supported", method);
	int64_t from = (int64_t)low;
	Attr attr[] = { attr_int("axis", axis), attr_int("k", from + 1 + (part > 0)), attr_int("largest", 0) };
	x = node_call(v, OP_top_k, &x, 1, attr, 3);
	int y = node_ok(v) ? node_slice(v, x, axis, from, 1) : x;
	if (part > 0 && node_ok(v))
		y = node_call2(v, OP_add, node_with_number(v, OP_mul, y, 1 - part),
			node_with_number(v, OP_mul, node_slice(v, x, axis, from + 1, 1), part));
	node_set(v, 0, node_reshape(v, y, result));
}

/* Of vectors: the root of the sum of squares, another power, or an extreme; of matrices the root alone. */
static void import_norm(Visit *v)
{
	int x = keras_float(v, keras_value(v, 0));
	const Json *ord = keras_json(v, "ord");
	Along a = read_along(v, x);
	bool two = ord == NULL || (ord->kind == JV_TEXT && strcmp(ord->text, "fro") == 0);
	double order = two ? 2 : ord->kind == JV_INT ? (double)ord->i : ord->kind == JV_REAL ? ord->real : NAN;
	if (node_ok(v) && (isnan(order) || (!two && a.n != 1)))
		node_fail(v, ERR_UNSUPPORTED, "its ord is not supported for %d axes", a.n);
	if (!node_ok(v))
		return;
	int size = node_each1(v, OP_abs, x);
	if (order == 2)
		node_set(v, 0, node_each1(v, OP_sqrt, reduced(v, OP_reduce_sum, node_each2(v, OP_mul, x, x), &a)));
	else if (isinf(order))
		node_set(v, 0, reduced(v, order > 0 ? OP_reduce_max : OP_reduce_min, size, &a));
	else if (order == 1)
		node_set(v, 0, reduced(v, OP_reduce_sum, size, &a));
	else if (order == 0)
		node_set(v, 0, reduced(v, OP_reduce_sum, node_cast(v, node_cast(v, x, BOOL), node_val(v, x)->type), &a));
	else
		node_set(v, 0,
			node_each2(v, OP_pow,
				reduced(v, OP_reduce_sum, node_each2(v, OP_pow, size, keras_number_like(v, x, order)), &a),
				keras_number_like(v, x, 1 / order)));
}

/* Along one axis, or of all elements: values in rising order, or their places. */
static void import_sort(Visit *v)
{
	bool places = strcmp(v->node->op, "Argsort") == 0;
	int x = keras_value(v, 0);
	if (node_ok(v) && places && !node_has(v, "axis"))
		x = keras_flat(v, x);
	int axis = keras_axis(v, node_val(v, x)->shape.rank, -1);
	if (!node_ok(v))
		return;
	Attr attr[] = { attr_int("axis", axis), attr_int("k", node_val(v, x)->shape.dim[axis]), attr_int("largest", 0) };
	int y = node_call(v, OP_top_k, &x, 1, attr, 3);
	node_set(v, 0, places ? node_cast(v, node_result(v, y, 1), I32) : y);
}

const NodeRow keras_numpy_rows[] = {
	{ "ops::Arctan2", 0, "", import_composed },
	{ "ops::Cbrt", 0, "", import_composed },
	{ "ops::Deg2rad", 0, "", import_composed },
	{ "ops::DivideNoNan", 0, "", import_composed },
	{ "ops::Erfc", 0, "", import_composed },
	{ "ops::Exp2", 0, "", import_composed },
	{ "ops::Fmax", 0, "", import_composed },
	{ "ops::Fmin", 0, "", import_composed },
	{ "ops::Fmod", 0, "", import_composed },
	{ "ops::Heaviside", 0, "", import_composed },
	{ "ops::Hypot", 0, "", import_composed },
	{ "ops::Isfinite", 0, "", import_composed },
	{ "ops::Isneginf", 0, "", import_composed },
	{ "ops::Isposinf", 0, "", import_composed },
	{ "ops::Ldexp", 0, "", import_composed },
	{ "ops::Log10", 0, "", import_composed },
	{ "ops::Log2", 0, "", import_composed },
	{ "ops::Logaddexp", 0, "", import_composed },
	{ "ops::Logaddexp2", 0, "", import_composed },
	{ "ops::Rad2deg", 0, "", import_composed },
	{ "ops::Sinc", 0, "", import_composed },
	{ "ops::Trunc", 0, "", import_composed },
	{ "ops::Isclose", 0, "", import_is_close },
	{ "ops::Round", 0, "", import_round },
	{ "ops::NanToNum", 0, "", import_nan_to_num },
	{ "ops::Conj", 0, "", import_same },
	{ "ops::Conjugate", 0, "", import_same },
	{ "ops::Copy", 0, "", import_same },
	{ "ops::Real", 0, "", import_same },
	{ "ops::StopGradient", 0, "", import_same },
	{ "ops::CountNonzero", 0, "", import_count_nonzero },
	{ "ops::Ptp", 0, "", import_ptp },
	{ "ops::Average", 0, "", import_average },
	{ "ops::Moments", 0, "synchronized", import_moments },
	{ "ops::Nansum", 0, "", import_nan },
	{ "ops::Nanprod", 0, "", import_nan },
	{ "ops::Nanmax", 0, "", import_nan },
	{ "ops::Nanmin", 0, "", import_nan },
	{ "ops::Nanargmax", 0, "", import_nan },
	{ "ops::Nanargmin", 0, "", import_nan },
	{ "ops::Nancumsum", 0, "dtype", import_nan },
	{ "ops::Nancumprod", 0, "dtype", import_nan },
	{ "ops::Nanmean", 0, "", import_nan_mean },
	{ "ops::Nanvar", 0, "", import_nan_mean },
	{ "ops::Nanstd", 0, "", import_nan_mean },
	{ "ops::Median", 0, "", import_quantile },
	{ "ops::Percentile", 0, "", import_quantile },
	{ "ops::Quantile", 0, "", import_quantile },
	{ "ops::Norm", 0, "", import_norm },
	{ "ops::Sort", 0, "", import_sort },
	{ "ops::Argsort", 0, "", import_sort },
	{ NULL, 0, NULL, NULL },
};
