/* Rows of layers of numbers: products, activations, tables, shapes, and those that do nothing in inference. */
#include "frontend/keras/mask.h"

#include "frontend/node/activate.h"
#include "frontend/node/windows.h"

#include <math.h>
#include <string.h>

static void import_same(Visit *v)
{
	node_set_alias(v, 0, node_need(v, 0));
}

/* ---- products */

/* Channels of a window are where they are: a convolution of one element. */
static int dense_windows(Visit *v, int x, int w, int b)
{
	x = node_to_second(v, x);
	Shape s = node_val(v, x)->shape, kernel = { .rank = s.rank };
	Windows win = windows_over(v, &s);
	kernel.dim[0] = node_val(v, w)->shape.dim[0];
	kernel.dim[1] = node_val(v, w)->shape.dim[1];
	for (int k = 2; k < kernel.rank; k++)
		kernel.dim[k] = 1;
	return node_to_last(v, node_conv(v, x, node_reshape(v, w, kernel), b, &win, 1));
}

static void import_dense(Visit *v)
{
	int64_t units = node_attr_int(v, "units", 0), turn[] = { 1, 0 };
	bool biased = node_attr_flag(v, "use_bias", true);
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (s.rank < 2 || units < 1))
		node_fail(v, ERR_TYPE, "its input has %d dimensions and it has %lld units", s.rank, (long long)units);
	if (!node_ok(v))
		return;
	int64_t in = s.dim[s.rank - 1];
	int w = node_transpose(v, keras_weight(v, "kernel", shape_of(2, (int64_t[]){ in, units })), turn);
	int b = biased ? keras_weight(v, "bias", shape_of(1, &units)) : DAG_NONE, y;
	if (s.rank > 2 && s.rank < 6 && node_is_last(v, x)) {
		y = dense_windows(v, x, w, b);
	} else {
		int64_t rows[] = { shape_product(&s, 0, s.rank - 1), in };
		int call[] = { node_view(v, x, 2, rows), w, b };
		s.dim[s.rank - 1] = units;
		y = node_reshape(v, node_call(v, OP_dense, call, 3, NULL, 0), s);
	}
	node_set(v, 0, keras_activate(v, y, "activation"));
}

/* The dimension of a label in a term "ab...c" of a value; 0: the term lacks it. */
static int64_t dim_of_label(const char *term, size_t n, char label, const Shape *s)
{
	const char *dots = memmem(term, n, "...", 3);
	for (size_t k = 0; k < n; k++)
		if (term[k] == label) {
			bool behind = dots != NULL && term + k > dots;
			int64_t at = behind ? s->rank - (int64_t)(n - k) : (int64_t)k;
			return at >= 0 && at < s->rank ? s->dim[at] : 0;
		}
	return 0;
}

/* What Keras calls output_shape, without the first dimension; one that is not given is the input's of that label. */
static Shape einsum_result(Visit *v, const char *term, size_t n, const char *from, size_t nfrom, const Shape *x)
{
	const Json *given = keras_json(v, "output_shape");
	size_t many = given == NULL ? 0 : given->kind == JV_ARRAY ? given->list.n : 1;
	bool dots = memmem(term, n, "...", 3) != NULL;
	Shape out = { .rank = dots ? x->rank : (int)n };
	if (out.rank < 1 || many + 1 > (size_t)out.rank || out.rank > DAG_MAX_RANK) {
		node_fail(v, ERR_INPUT, "its output_shape does not fit its equation");
		return (Shape){ 0 };
	}
	for (int k = 0; k < out.rank; k++)
		out.dim[k] = k < x->rank ? x->dim[k] : 1;
	for (size_t k = 0; k < many; k++) {
		const Json *d = given->kind == JV_ARRAY ? given->list.at[k] : given;
		int at = out.rank - (int)many + (int)k;
		size_t in_term = n - many + k;
		int64_t same = n >= many ? dim_of_label(from, nfrom, term[in_term], x) : 0;
		out.dim[at] = d->kind == JV_INT ? d->i : same;
	}
	return out;
}

static void import_einsum_dense(Visit *v)
{
	const char *equation = node_attr_text(v, "equation", ""), *axes = node_attr_text(v, "bias_axes", "");
	const char *comma = strchr(equation, ','), *arrow = strstr(equation, "->");
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape, kernel = { 0 };
	if (node_ok(v) && (comma == NULL || arrow == NULL || comma > arrow || arrow - comma - 1 > DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its equation is '%.60s', not of the form 'ab,bc->ac'", equation);
	if (!node_ok(v))
		return;
	size_t nx = (size_t)(comma - equation), nout = strlen(arrow + 2);
	const char *out = arrow + 2;
	Shape result = einsum_result(v, out, nout, equation, nx, &s);
	for (const char *c = comma + 1; c < arrow && node_ok(v); c++) {
		int64_t d = dim_of_label(equation, nx, *c, &s);
		kernel.dim[kernel.rank++] = d > 0 ? d : dim_of_label(out, nout, *c, &result);
	}
	int in[] = { x, keras_weight(v, "kernel", kernel) }, y = node_einsum_of(v, equation, in, 2);
	if (axes[0] != 0 && node_ok(v)) {
		Shape bias = { 0 };
		size_t first = strcspn(out, axes);
		for (const char *c = out + first; *c != 0 && bias.rank < DAG_MAX_RANK; c++)
			if (*c != '.')
				bias.dim[bias.rank++] = strchr(axes, *c) != NULL ? dim_of_label(out, nout, *c, &result) : 1;
		for (int k = (int)nout - 3; strstr(out + first, "...") != NULL && k < result.rank; k++)
			bias.dim[bias.rank++] = 1;
		y = node_call2(v, OP_add, y, keras_weight(v, "bias", bias));
	}
	node_set(v, 0, keras_activate(v, y, "activation"));
}

static void import_embedding(Visit *v)
{
	int64_t size[] = { node_attr_int(v, "input_dim", 0), node_attr_int(v, "output_dim", 0) };
	int x = keras_value(v, 0);
	Attr attr = attr_int("axis", 0);
	int in[] = { keras_weight(v, "embeddings", shape_of(2, size)), x };
	if (node_ok(v) && !dtype_is_int(node_val(v, x)->type))
		in[1] = node_cast(v, x, I32);
	node_set(v, 0, node_call(v, OP_gather, in, 2, &attr, 1));
}

/* An embedding that also goes from vectors to scores of its entries. */
static void import_reversible(Visit *v)
{
	const Json *reverse = keras_argument(v, 1, "reverse");
	if (reverse == NULL || reverse->kind != JV_BOOL || !reverse->truth) {
		import_embedding(v);
		return;
	}
	int64_t size[] = { node_attr_int(v, "input_dim", 0), node_attr_int(v, "output_dim", 0) }, turn[] = { 1, 0 };
	bool tied = node_attr_flag(v, "tie_weights", true);
	double cap = node_attr_float(v, "logit_soft_cap", 0);
	int x = keras_value(v, 0);
	int w = tied ? keras_weight(v, "embeddings", shape_of(2, size))
	             : keras_weight(v, "reverse_embeddings", shape_of(2, (int64_t[]){ size[1], size[0] }));
	if (strcmp(node_attr_text(v, "reverse_dtype", "float32"), "float32") != 0)
		node_fail(v, ERR_UNSUPPORTED, "its reverse_dtype is not float32");
	int y = node_ok(v) ? node_call2(v, OP_matmul, x, tied ? node_transpose(v, w, turn) : w) : DAG_NONE;
	if (cap != 0)
		y = node_with_number(v, OP_mul, node_call1(v, OP_tanh, node_with_number(v, OP_div, y, cap)), cap);
	node_set(v, 0, y);
}

/* ---- activations */

static void import_activation(Visit *v)
{
	node_set(v, 0, keras_activate(v, keras_value(v, 0), "activation"));
}

/* An elementwise function with its parameters. */
static void activate(Visit *v, const char *name, double a, double b)
{
	int x = keras_value(v, 0);
	bool last = node_ok(v) && node_is_last(v, x);
	int y = node_activate_with(v, last ? node_to_second(v, x) : x, name, a, b);
	node_set(v, 0, last ? node_to_last(v, y) : y);
}

static void import_leaky_relu(Visit *v)
{
	activate(v, "leaky_relu", node_attr_float(v, "negative_slope", node_attr_float(v, "alpha", 0.3)), 0);
}

static void import_elu(Visit *v)
{
	activate(v, "elu", node_attr_float(v, "alpha", 1), 0);
}

static void import_thresholded_relu(Visit *v)
{
	activate(v, "thresholded_relu", node_attr_float(v, "theta", 1), 0);
}

/* x >= t: min(x, most); else slope (x - t) */
static void import_relu(Visit *v)
{
	double most = node_attr_float(v, "max_value", INFINITY), slope = node_attr_float(v, "negative_slope", 0);
	double t = node_attr_float(v, "threshold", 0);
	if (t == 0 && slope == 0) {
		activate(v, isfinite(most) ? "clip" : "relu", 0, most);
		return;
	}
	if (t == 0 && !isfinite(most)) {
		activate(v, "leaky_relu", slope, 0);
		return;
	}
	int x = keras_value(v, 0), y = node_to_second(v, x);
	bool last = node_ok(v) && node_is_last(v, x);
	y = last ? y : x;
	int below = node_with_number(v, OP_mul, node_with_number(v, OP_sub, y, t), slope);
	int under = node_call2(v, OP_less, y, node_number(v, node_val(v, y)->type, t));
	int above = isfinite(most) ? node_with_number(v, OP_minimum, y, most) : y;
	y = node_where(v, under, below, above);
	node_set(v, 0, last ? node_to_last(v, y) : y);
}

static void import_prelu(Visit *v)
{
	int count, x = keras_value(v, 0);
	const int64_t *shared = node_attr_ints(v, "shared_axes", &count);
	Shape s = node_val(v, x)->shape, slope = { .rank = s.rank - 1 };
	if (node_ok(v) && s.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 2", s.rank);
	if (!node_ok(v))
		return;
	for (int k = 1; k < s.rank; k++)
		slope.dim[k - 1] = s.dim[k];
	for (int k = 0; k < count; k++) {
		int axis = node_axis(v, shared[k], s.rank);
		if (axis > 0)
			slope.dim[axis - 1] = 1;
	}
	node_set(v, 0, node_each2(v, OP_prelu, x, keras_weight(v, "alpha", slope)));
}

/* exp(x - log(sum(exp(x)))) over several axes. */
static int softmax_over(Visit *v, int x, const int64_t *axes, int n)
{
	int top = node_reduce(v, OP_reduce_max, x, axes, n, true);
	int e = node_each1(v, OP_exp, node_each2(v, OP_sub, x, top));
	return node_each2(v, OP_div, e, node_reduce(v, OP_reduce_sum, e, axes, n, true));
}

/* A mask takes 1e9 from what does not count, and in version 3 makes it 0 even where nothing counts. */
static void import_softmax(Visit *v)
{
	int count, x = keras_value(v, 0), rank = node_val(v, x)->shape.rank, mask = keras_mask_input(v);
	int64_t usual = -1, over[DAG_MAX_RANK];
	const int64_t *axes = node_attr_ints(v, "axis", &count);
	if (count > rank)
		node_fail(v, ERR_INPUT, "it has %d axes, but its input %d dimensions", count, rank);
	axes = count > 0 ? axes : &usual;
	count = count > 0 ? count : 1;
	for (int k = 0; k < count && node_ok(v); k++)
		over[k] = node_axis(v, axes[k], rank);
	int on = DAG_NONE;
	if (mask >= 0 && node_ok(v)) {
		on = node_cast(v, keras_value(v, mask), F32);
		int bias = node_with_number(v, OP_sub, on, 1);
		x = node_each2(v, OP_add, x, node_with_number(v, OP_mul, bias, 1e9));
		if (node_ok(v) && node_val(v, x)->shape.rank != rank)
			node_fail(v, ERR_TYPE, "its mask has more dimensions than its input");
	}
	if (!node_ok(v))
		return;
	int y = count > 1 ? softmax_over(v, x, over, count) : node_axis_call(v, OP_softmax, &x, 1, (int)over[0], NULL, 0);
	node_set(v, 0, on != DAG_NONE && keras_file(v)->version >= 3 ? node_each2(v, OP_mul, y, on) : y);
}

/* ---- shapes */

/* [N,1,1,C] as a value with channels last, whose channels are where windows want them. */
static int as_windows(Visit *v, int x, const Shape *to)
{
	Shape second = { .rank = to->rank };
	for (int k = 0; k < to->rank; k++)
		second.dim[channels_axis(k, to->rank)] = to->dim[k];
	return node_to_last(v, node_reshape(v, x, second));
}

static void reshape_to(Visit *v, int x, Shape to)
{
	int64_t spatial = to.rank > 2 ? shape_product(&to, 1, to.rank - 1) : 0;
	Shape s = node_val(v, x)->shape;
	int64_t from = s.rank > 2 && node_ok(v) && node_is_last(v, x) ? shape_product(&s, 1, s.rank - 1) : 0;
	if (node_ok(v) && from == 1) /* without spatial elements the order is the same */
		x = node_view(v, node_to_second(v, x), 2, (int64_t[]){ s.dim[0], s.dim[s.rank - 1] });
	node_set(v, 0, spatial == 1 && to.rank < 6 ? as_windows(v, x, &to) : node_reshape(v, x, to));
}

static void import_reshape(Visit *v)
{
	int count, open = -1, x = keras_value(v, 0);
	const int64_t *dim = node_attr_ints(v, "target_shape", &count);
	Shape s = node_val(v, x)->shape, to = { .rank = count + 1 };
	if (node_ok(v) && (count < 0 || count >= DAG_MAX_RANK || s.rank < 1))
		node_fail(v, ERR_INPUT, "its target_shape has %d numbers", count);
	if (!node_ok(v))
		return;
	int64_t rest = shape_product(&s, 1, s.rank);
	to.dim[0] = s.dim[0];
	for (int k = 0; k < count && node_ok(v); k++) {
		to.dim[k + 1] = dim[k];
		if (dim[k] == -1 && open < 0)
			open = k + 1;
		else if (dim[k] < 1)
			node_fail(v, ERR_INPUT, "its target_shape holds %lld", (long long)dim[k]);
	}
	if (open > 0)
		to.dim[open] = 1;
	int64_t known = node_ok(v) ? shape_product(&to, 1, to.rank) : 1;
	if (open > 0 && rest % known == 0)
		to.dim[open] = rest / known;
	if (node_ok(v) && shape_product(&to, 1, to.rank) != rest)
		node_fail(v, ERR_TYPE, "its target_shape does not have the %lld elements of its input", (long long)rest);
	if (node_ok(v))
		reshape_to(v, x, to);
}

static void import_flatten(Visit *v)
{
	bool last = keras_last(v);
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape;
	if (!node_ok(v))
		return;
	if (!last && s.rank > 2) /* Keras flattens as if channels were last */
		x = node_to_last(v, x);
	s = node_val(v, x)->shape;
	reshape_to(
		v, x, shape_of(2, (int64_t[]){ s.rank > 0 ? s.dim[0] : 1, s.rank > 1 ? shape_product(&s, 1, s.rank) : 1 }));
}

static void import_permute(Visit *v)
{
	int count, x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *dims = node_attr_ints(v, "dims", &count);
	int64_t perm[DAG_MAX_RANK] = { 0 };
	bool used[DAG_MAX_RANK] = { true };
	if (node_ok(v) && count != rank - 1)
		node_fail(v, ERR_INPUT, "its dims are %d numbers, but its input has %d dimensions", count, rank);
	for (int k = 0; k < count && node_ok(v); k++) {
		if (dims[k] < 1 || dims[k] >= rank || used[dims[k]]) {
			node_fail(v, ERR_INPUT, "its dims are no order of 1..%d", rank - 1);
			break;
		}
		used[dims[k]] = true;
		perm[k + 1] = dims[k];
	}
	if (node_ok(v))
		node_set(v, 0, node_transpose(v, x, perm));
}

static void import_repeat_vector(Visit *v)
{
	int64_t n = node_attr_int(v, "n", 1);
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (s.rank != 2 || n < 1 || n > INT32_MAX))
		node_fail(v, ERR_TYPE, "it repeats %d dimensions %lld times", s.rank, (long long)n);
	if (!node_ok(v))
		return;
	x = node_view(v, x, 3, (int64_t[]){ s.dim[0], 1, s.dim[1] });
	node_set(v, 0, node_expand(v, x, shape_of(3, (int64_t[]){ s.dim[0], n, s.dim[1] })));
}

/* [N,T,..] as [N*T,..], and back with the N and T of input 1. */
static void import_fold(Visit *v)
{
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && s.rank < 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 3", s.rank);
	if (!node_ok(v))
		return;
	Shape to = { .rank = s.rank - 1, .dim = { s.dim[0] * s.dim[1] } };
	for (int k = 2; k < s.rank; k++)
		to.dim[k - 1] = s.dim[k];
	node_set(v, 0, node_reshape(v, x, to));
}

static void import_unfold(Visit *v)
{
	int y = keras_value(v, 0), x = keras_value(v, 1);
	Shape s = node_val(v, y)->shape, to = { .rank = s.rank + 1 };
	if (node_ok(v) && s.rank >= DAG_MAX_RANK)
		node_fail(v, ERR_TYPE, "its result has too many dimensions");
	if (!node_ok(v))
		return;
	to.dim[0] = node_val(v, x)->shape.dim[0];
	to.dim[1] = node_val(v, x)->shape.dim[1];
	for (int k = 1; k < s.rank; k++)
		to.dim[k + 1] = s.dim[k];
	node_set(v, 0, node_reshape(v, y, to));
}

/* ---- numbers to numbers */

/* A setting as a constant that broadcasts with the last dimension. */
static int numbers(Visit *v, const char *name, double otherwise)
{
	const NodeAttr *at = node_attr(v, name);
	int n;
	if (at == NULL || at->kind == NODE_INT || at->kind == NODE_FLOAT)
		return node_number(v, F32, node_attr_float(v, name, otherwise));
	const float *list = node_attr_floats(v, name, &n);
	int64_t dim = n;
	return node_const(v, F32, shape_of(1, &dim), list);
}

static void import_rescaling(Visit *v)
{
	int x = node_cast(v, keras_value(v, 0), F32);
	x = node_each2(v, OP_mul, x, numbers(v, "scale", 1));
	node_set(v, 0, node_each2(v, OP_add, x, numbers(v, "offset", 0)));
}

/* ---- layers of version 1 */

/* x w + b, of 2 dimensions. */
static int affine(Visit *v, int x, const char *kernel, const char *bias, int64_t in, int64_t units)
{
	static const int64_t turn[] = { 1, 0 };
	int w = keras_weight(v, kernel, shape_of(2, (int64_t[]){ in, units }));
	int call[] = { x, node_ok(v) ? node_transpose(v, w, turn) : w, DAG_NONE };
	if (node_attr_flag(v, "use_bias", true))
		call[2] = keras_weight(v, bias, shape_of(1, &units));
	return node_call(v, OP_dense, call, 3, NULL, 0);
}

static int64_t elements_of(Visit *v, int x)
{
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && s.rank != 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 2", s.rank);
	return node_ok(v) ? s.dim[1] : 1;
}

/* t y + (1 - t) x, where a gate t says how much of the layer's result y counts */
static void import_highway(Visit *v)
{
	int x = keras_value(v, 0);
	int64_t n = elements_of(v, x);
	int t = node_call1(v, OP_sigmoid, affine(v, x, "carry", "carry_bias", n, n));
	int y = keras_activate(v, affine(v, x, "kernel", "bias", n, n), "activation");
	int rest = node_call2(v, OP_sub, node_number(v, F32, 1), t);
	node_set(v, 0, node_call2(v, OP_add, node_call2(v, OP_mul, y, t), node_call2(v, OP_mul, rest, x)));
}

/* The greatest of several products, of which each has its weights. */
static void import_maxout(Visit *v)
{
	int64_t units = node_attr_int(v, "units", 0), many = node_attr_int(v, "nb_feature", 4), at = 1;
	int x = keras_value(v, 0);
	int64_t n = elements_of(v, x), turn[] = { 0, 2, 1 };
	if (node_ok(v) && (units < 1 || many < 1 || units > INT32_MAX || many > INT32_MAX))
		node_fail(v, ERR_INPUT, "it has %lld products of %lld units", (long long)many, (long long)units);
	if (!node_ok(v))
		return;
	int64_t all = many * units;
	int w = node_transpose(v, keras_weight(v, "kernel", shape_of(3, (int64_t[]){ many, n, units })), turn);
	int call[] = { x, node_view(v, w, 2, (int64_t[]){ all, n }), DAG_NONE };
	if (node_attr_flag(v, "use_bias", true))
		call[2] = node_view(v, keras_weight(v, "bias", shape_of(2, (int64_t[]){ many, units })), 1, &all);
	int y = node_call(v, OP_dense, call, 3, NULL, 0);
	y = node_view(v, y, 3, (int64_t[]){ node_val(v, x)->shape.dim[0], many, units });
	node_set(v, 0, node_reduce(v, OP_reduce_max, y, &at, 1, false));
}

/* ---- layers of keras.applications */

static void import_layer_scale(Visit *v)
{
	int64_t n = node_attr_int(v, "projection_dim", 0);
	int x = keras_value(v, 0);
	node_set(v, 0, node_each2(v, OP_mul, x, keras_weight(v, "gamma", shape_of(1, &n))));
}

/* x + scale y */
static void import_custom_scale(Visit *v)
{
	double scale = node_attr_float(v, "scale", 1);
	int x = keras_value(v, 0), y = keras_value(v, 1);
	y = node_each2(v, OP_mul, y, node_number(v, node_val(v, y)->type, scale));
	node_set(v, 0, node_each2(v, OP_add, x, y));
}

const NodeRow keras_core_rows[] = {
	{ "Identity", 0, "*", import_same },
	{ "Dropout", 0, "*", import_same },
	{ "AlphaDropout", 0, "*", import_same },
	{ "GaussianDropout", 0, "*", import_same },
	{ "GaussianNoise", 0, "*", import_same },
	{ "SpatialDropout1D", 0, "*", import_same },
	{ "SpatialDropout2D", 0, "*", import_same },
	{ "SpatialDropout3D", 0, "*", import_same },
	{ "StochasticDepth", 0, "*", import_same },
	{ "LayerScale", 0, "init_values", import_layer_scale },
	{ "CustomScaleLayer", 0, "", import_custom_scale },
	{ "ActivityRegularization", 0, "*", import_same },
	{ "Dense", 0, "", import_dense },
	{ "EinsumDense", 0, "", import_einsum_dense },
	{ "Embedding", 0, "input_length mask_zero", import_embedding },
	{ "ReversibleEmbedding", 0, "mask_zero tie_weights reverse_dtype logit_soft_cap", import_reversible },
	{ "Activation", 0, "", import_activation },
	{ "LeakyReLU", 0, "", import_leaky_relu },
	{ "ELU", 0, "", import_elu },
	{ "ThresholdedReLU", 0, "", import_thresholded_relu },
	{ "ReLU", 0, "", import_relu },
	{ "PReLU", 0, "", import_prelu },
	{ "Softmax", 0, "", import_softmax },
	{ "Reshape", 0, "", import_reshape },
	{ "Flatten", 0, "", import_flatten },
	{ "Permute", 0, "", import_permute },
	{ "RepeatVector", 0, "", import_repeat_vector },
	{ "TimeDistributed::fold", 0, "", import_fold },
	{ "TimeDistributed::unfold", 0, "", import_unfold },
	{ "Rescaling", 0, "", import_rescaling },
	{ "Highway", 0, "W_regularizer b_regularizer W_constraint b_constraint transform_bias", import_highway },
	{ "MaxoutDense", 0, "W_regularizer b_regularizer W_constraint b_constraint", import_maxout },
	{ NULL, 0, NULL, NULL },
};
