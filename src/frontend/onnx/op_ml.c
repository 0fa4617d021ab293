/*
 * Rows of the domain ai.onnx.ml that are tensor arithmetic, as scikit-learn's exporter writes them: linear models,
 * scaling, imputing, normalising, choice of features, codes of labels and categories. Left out: trees, support vectors,
 * nearest neighbours, maps and texts.
 */
#include "frontend/node/compose.h"
#include "frontend/onnx/rows.h"

#include <math.h>
#include <string.h>

/* The size of the last dimension, over which features lie. */
static int64_t features(Visit *v)
{
	const Shape *s = &node_need(v, 0)->shape;
	return s->rank > 0 ? s->dim[s->rank - 1] : 1;
}

/* Input 0 in f32 as a matrix with a sample in each row. */
static int samples(Visit *v)
{
	const Shape *s = &node_need(v, 0)->shape;
	int64_t dim[2] = { s->rank == 2 ? s->dim[0] : 1, features(v) };
	if (node_ok(v) && (s->rank < 1 || s->rank > 2))
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have 1 or 2", s->rank);
	return node_view(v, node_cast(v, node_value(v, 0), F32), 2, dim);
}

/* A list of numbers for all features, or one for each; DAG_NONE if it is absent. */
static int for_features(Visit *v, const char *name)
{
	int n;
	const float *at = node_attr_floats(v, name, &n);
	int64_t many = n;
	if (node_ok(v) && n > 1 && n != features(v))
		node_fail(v, ERR_TYPE, "its attribute %s has %d numbers for %lld features", name, n, (long long)features(v));
	return n < 1 ? DAG_NONE : node_const(v, F32, shape_of(n == 1 ? 0 : 1, &many), at);
}

/* (x - offset) * scale */
static void import_scaler(Visit *v)
{
	int x = node_cast(v, node_value(v, 0), F32), offset = for_features(v, "offset"), scale = for_features(v, "scale");
	if (offset != DAG_NONE)
		x = node_call2(v, OP_sub, x, offset);
	if (scale != DAG_NONE)
		x = node_call2(v, OP_mul, x, scale);
	node_set(v, 0, x);
}

/* The product with `coefficients`, which has a row for each of *count results; *count is set if it was 0. */
static int scores(Visit *v, int64_t *count)
{
	int n, many;
	const float *w = node_attr_floats(v, "coefficients", &n), *b = node_attr_floats(v, "intercepts", &many);
	int64_t size = features(v);
	if (*count <= 0 && size > 0)
		*count = n / size;
	int64_t shape[2] = { *count, size };
	if (node_ok(v) && (n < 1 || *count < 1 || size < 1 || n % size != 0 || n / size != *count))
		node_fail(v, ERR_TYPE, "its %d coefficients are not %lld for each of %lld features", n < 0 ? 0 : n,
			(long long)*count, (long long)size);
	else if (node_ok(v) && many > 0 && many != *count)
		node_fail(v, ERR_TYPE, "it has %d intercepts for %lld results", many, (long long)*count);
	if (!node_ok(v))
		return DAG_NONE;
	int in[] = { samples(v), node_const(v, F32, shape_of(2, shape), w),
		many > 0 ? node_const(v, F32, shape_of(1, shape), b) : DAG_NONE };
	return node_call(v, OP_dense, in, 3, NULL, 0);
}

static int transformed(Visit *v, int x)
{
	const char *how = node_attr_text(v, "post_transform", "NONE");
	Attr last = attr_int("axis", 1);
	if (strcmp(how, "SOFTMAX") == 0)
		return node_call(v, OP_softmax, &x, 1, &last, 1);
	if (strcmp(how, "LOGISTIC") == 0)
		return node_call1(v, OP_sigmoid, x);
	if (node_ok(v) && strcmp(how, "NONE") != 0)
		node_fail(
			v, ERR_UNSUPPORTED, "its attribute post_transform is '%s'; dlc knows NONE, SOFTMAX and LOGISTIC", how);
	return x;
}

static void import_linear_regressor(Visit *v)
{
	int64_t targets = node_attr_int(v, "targets", 1);
	node_set(v, 0, transformed(v, scores(v, &targets)));
}

/* classes[at]; an index itself if the classes count from 0. */
static int labels(Visit *v, int at, const int64_t *classes, int n)
{
	int64_t many = n;
	bool counted = true;
	for (int k = 0; k < n; k++)
		counted &= classes[k] == k;
	if (counted)
		return at;
	int in[] = { node_const(v, I64, shape_of(1, &many), classes), at };
	return node_call(v, OP_gather, in, 2, NULL, 0);
}

/* Results: the class with the largest score, and the scores. */
static void import_linear_classifier(Visit *v)
{
	int n;
	int64_t count = 0;
	const int64_t *classes = node_attr_ints(v, "classlabels_ints", &n);
	if (node_ok(v) && n < 1)
		node_fail(
			v, ERR_UNSUPPORTED, "its classes are texts or missing; export the model with classes that are integers");
	int x = scores(v, &count);
	if (node_ok(v) && count != n)
		node_fail(v, ERR_UNSUPPORTED, "it has %lld scores for %d classes, but must have one for each",
			(long long)count, n);
	Attr attr[] = { attr_int("axis", 1), attr_int("keep", 0) };
	int best = node_call(v, OP_arg_max, &x, 1, attr, 2);
	if (node_ok(v))
		node_set(v, 0, labels(v, best, classes, n));
	node_set(v, 1, transformed(v, x));
}

/* Each row divided by its largest element, its sum of magnitudes or its length; a row with the norm 0 stays. */
static void import_normalizer(Visit *v)
{
	const char *norm = node_attr_text(v, "norm", "MAX");
	int x = samples(v), each = x, op = OP_reduce_sum;
	int64_t last = 1;
	Attr axes = attr_ints("axes", &last, 1);
	if (strcmp(norm, "MAX") == 0)
		op = OP_reduce_max;
	else if (strcmp(norm, "L1") == 0)
		each = node_call1(v, OP_abs, x);
	else if (strcmp(norm, "L2") == 0)
		each = node_call2(v, OP_mul, x, x);
	else if (node_ok(v))
		node_fail(v, ERR_INPUT, "its attribute norm is '%s', but must be MAX, L1 or L2", norm);
	int by = node_call(v, op, &each, 1, &axes, 1);
	if (strcmp(norm, "L2") == 0)
		by = node_call1(v, OP_sqrt, by);
	by = node_where(v, node_call2(v, OP_equal, by, node_number(v, F32, 0)), node_number(v, F32, 1), by);
	node_set(v, 0, node_reshape(v, node_call2(v, OP_div, x, by), node_need(v, 0)->shape));
}

/* Elements of the last axis by their indices, which lie in a list; a list of features is one row. */
static void import_array_feature_extractor(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t count = shape_elements(node_need(v, 1)->shape), row[2] = { 1, features(v) };
	int x = it->shape.rank < 2 ? node_view(v, node_value(v, 0), 2, row) : node_value(v, 0);
	int in[] = { x, node_view(v, node_value(v, 1), 1, &count) };
	Attr axis = attr_int("axis", node_val(v, x)->shape.rank - 1);
	node_set(v, 0, node_call(v, OP_gather, in, 2, &axis, 1));
}

/* x > threshold ? 1 : 0 */
static void import_binarizer(Visit *v)
{
	DType t = node_need(v, 0)->type;
	int threshold = node_number(v, t, node_attr_float(v, "threshold", 0));
	node_set(v, 0, node_cast(v, node_call2(v, OP_less, threshold, node_value(v, 0)), t));
}

/* x == replaced ? imputed : x, of each feature; the number that is replaced may be NaN. */
static void import_imputer(Visit *v)
{
	DType t = node_need(v, 0)->type;
	int n, x = node_value(v, 0), by, missing;
	if (dtype_is_float(t)) {
		double replaced = node_attr_float(v, "replaced_value_float", 0);
		by = for_features(v, "imputed_value_floats");
		missing = isnan(replaced) ? node_call1(v, OP_is_nan, x)
								  : node_call2(v, OP_equal, x, node_number(v, t, replaced));
	} else {
		const int64_t *at = node_attr_ints(v, "imputed_value_int64s", &n);
		int64_t many = n;
		if (node_ok(v) && n > 1 && n != features(v))
			node_fail(v, ERR_TYPE, "it imputes %d numbers for %lld features", n, (long long)features(v));
		by = n < 1 ? DAG_NONE : node_const(v, I64, shape_of(n == 1 ? 0 : 1, &many), at);
		missing = node_call2(v, OP_equal, x, node_number(v, t, (double)node_attr_int(v, "replaced_value_int64", 0)));
	}
	if (node_ok(v) && by == DAG_NONE)
		node_fail(v, ERR_INPUT, "it says no number to impute for elements of this type");
	node_set(v, 0, node_where(v, missing, node_cast(v, by, t), x));
}

/* All inputs, a sample in each row, side by side. */
static void import_feature_vectorizer(Visit *v)
{
	int count = node_nin(v), sizes;
	int *x = arena_array(v->im->arena, int, count + 1);
	node_attr_ints(v, "inputdimensions", &sizes);
	for (int k = 0; k < count; k++) {
		const Shape *s = &node_need(v, k)->shape;
		int64_t dim[2] = { 1, s->rank > 0 ? s->dim[s->rank - 1] : 1 };
		x[k] = node_cast(v, node_value(v, k), F32);
		if (s->rank < 2)
			x[k] = node_view(v, x[k], 2, dim);
	}
	if (node_ok(v) && count < 1)
		node_fail(v, ERR_INPUT, "it has no input");
	node_set(v, 0, node_ok(v) ? node_concat(v, x, count, 1) : DAG_NONE);
}

/* x, with one more dimension, against a list: bool[..., count] */
static int matches(Visit *v, int x, int list)
{
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && s.rank == DAG_MAX_RANK)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, which are too many", s.rank);
	if (!node_ok(v))
		return DAG_NONE;
	s.dim[s.rank++] = 1;
	return node_call2(v, OP_equal, node_reshape(v, x, s), list);
}

/* 1 in the place of the element's category, 0 elsewhere; an unknown category has no 1. */
static void import_one_hot_encoder(Visit *v)
{
	int n;
	const int64_t *at = node_attr_ints(v, "cats_int64s", &n);
	int64_t many = n;
	node_attr_int(v, "zeros", 1);
	if (node_ok(v) && n < 1)
		node_fail(
			v, ERR_UNSUPPORTED, "its categories are texts or missing; export it with categories that are integers");
	int list = n < 1 ? DAG_NONE : node_const(v, I64, shape_of(1, &many), at);
	node_need(v, 0);
	node_set(v, 0, node_cast(v, matches(v, node_cast(v, node_value(v, 0), I64), list), F32));
}

/* The tensor `stem`_tensor, or the list `stem`_int64s or `stem`_floats, as a constant. */
static int list_of(Visit *v, const char *stem)
{
	const char *names[] = { "int64s", "floats", "tensor" };
	for (int k = 0; k < 3; k++) {
		const char *name = arena_printf(v->im->arena, "%s_%s", stem, names[k]);
		if (!node_has(v, name))
			continue;
		int n = 0;
		NodeTensor t;
		const void *data = k == 0 ? (const void *)node_attr_ints(v, name, &n) : NULL;
		data = k == 1 ? node_attr_floats(v, name, &n) : data;
		int64_t many = n;
		if (k == 2 && node_attr_tensor(v, name, &t))
			return node_view(v, node_const(v, t.type, t.shape, t.data), 1, (int64_t[]){ shape_elements(t.shape) });
		if (n > 0)
			return node_const(v, k == 0 ? I64 : F32, shape_of(1, &many), data);
	}
	if (node_ok(v))
		node_fail(v, ERR_UNSUPPORTED, "its %s are texts or missing; dlc knows integers and floats", stem);
	return DAG_NONE;
}

/* values[k] for the first key that the element equals, else the default. */
static void import_label_encoder(Visit *v)
{
	int keys = list_of(v, "keys"), values = list_of(v, "values");
	DType from = node_val(v, keys)->type, to = node_val(v, values)->type;
	double other = dtype_is_float(to) ? node_attr_float(v, "default_float", -0.0)
									  : (double)node_attr_int(v, "default_int64", -1);
	node_attr_float(v, "default_float", 0);
	node_attr_int(v, "default_int64", 0);
	NodeTensor t;
	int otherwise = node_attr_tensor(v, "default_tensor", &t) ? node_cast(v, node_const(v, t.type, t.shape, t.data), to)
															  : node_number(v, to, other);
	node_need(v, 0);
	int rank = node_val(v, node_value(v, 0))->shape.rank;
	int64_t axis = rank;
	int same = node_cast(v, matches(v, node_cast(v, node_value(v, 0), from), keys), I32);
	Attr one[] = { attr_int("axis", rank), attr_int("keep", 0) };
	Attr all[] = { attr_ints("axes", &axis, 1), attr_int("keep", 0) };
	int in[] = { values, node_call(v, OP_arg_max, &same, 1, one, 2) };
	int any = node_cast(v, node_call(v, OP_reduce_max, &same, 1, all, 2), BOOL);
	node_set(v, 0, node_where(v, any, node_call(v, OP_gather, in, 2, NULL, 0), otherwise));
}

const NodeRow onnx_ml_rows[] = {
	{ "ai.onnx.ml::Scaler", 1, "", import_scaler },
	{ "ai.onnx.ml::LinearRegressor", 1, "", import_linear_regressor },
	{ "ai.onnx.ml::LinearClassifier", 1, "multi_class", import_linear_classifier },
	{ "ai.onnx.ml::Normalizer", 1, "", import_normalizer },
	{ "ai.onnx.ml::ArrayFeatureExtractor", 1, "", import_array_feature_extractor },
	{ "ai.onnx.ml::Binarizer", 1, "", import_binarizer },
	{ "ai.onnx.ml::Imputer", 1, "", import_imputer },
	{ "ai.onnx.ml::FeatureVectorizer", 1, "", import_feature_vectorizer },
	{ "ai.onnx.ml::OneHotEncoder", 1, "", import_one_hot_encoder },
	{ "ai.onnx.ml::LabelEncoder", 1, "default_string", import_label_encoder },
	{ NULL, 0, NULL, NULL },
};
