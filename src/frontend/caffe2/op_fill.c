/*
 * Rows of Caffe2 that make tensors: data of the file, one number, numbers drawn. An init_net that draws its weights is
 * one from before training: its numbers come from a seed and the blob's name, which is said.
 */
#include "frontend/caffe2/caffe2.h"

#include "frontend/node/draw.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

bool caffe2_type(int64_t code, DType *out)
{
	static const struct {
		int64_t code;
		DType type;
	} rows[] = { { 1, { DT_FLOAT, 32, 1 } }, { 2, { DT_INT, 32, 1 } }, { 3, { DT_UINT, 8, 1 } },
		{ 5, { DT_BOOL, 8, 1 } }, { 6, { DT_UINT, 8, 1 } }, { 7, { DT_INT, 8, 1 } }, { 8, { DT_UINT, 16, 1 } },
		{ 9, { DT_INT, 16, 1 } }, { 10, { DT_INT, 64, 1 } }, { 12, { DT_FLOAT, 16, 1 } }, { 13, { DT_FLOAT, 64, 1 } } };
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (rows[k].code == code) {
			*out = rows[k].type;
			return true;
		}
	return false;
}

DType caffe2_attr_type(Visit *v, const char *name, DType otherwise)
{
	static const struct {
		const char *word;
		int64_t code;
	} words[] = { { "float", 1 }, { "int", 2 }, { "int32", 2 }, { "byte", 3 }, { "bool", 5 }, { "uint8", 6 },
		{ "int8", 7 }, { "uint16", 8 }, { "int16", 9 }, { "int64", 10 }, { "float16", 12 }, { "double", 13 } };
	const NodeAttr *at = node_attr(v, name);
	int64_t code = 0;
	if (at == NULL)
		return otherwise;
	const char *word = at->kind == NODE_TEXT ? node_attr_text(v, name, "") : "";
	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if (word[0] != 0 && strcasecmp(words[k].word, word) == 0)
			code = words[k].code;
	code = word[0] == 0 ? node_attr_int(v, name, 0) : code;
	if (node_ok(v) && !caffe2_type(code, &otherwise))
		node_fail(v, ERR_UNSUPPORTED, "its %s is %s, a type that dlc does not have", name,
			word[0] != 0 ? word : arena_printf(v->im->arena, "%lld", (long long)code));
	return otherwise;
}

/* The shape that a fill gives its result: an attribute, the values of an input, or an input's own shape. */
static Shape fill_shape(Visit *v)
{
	int n = -1, nextra;
	Shape s = { 0 };
	bool as_shape = node_attr_flag(v, "input_as_shape", false);
	const int64_t *extra = node_attr_ints(v, "extra_shape", &nextra), *dim = node_attr_ints(v, "shape", &n);
	if (node_nin(v) > 0 && as_shape) {
		dim = node_ints(v, 0, &n);
	} else if (node_nin(v) > 0 && node_ok(v)) {
		s = node_need(v, 0)->shape;
		n = s.rank;
		dim = s.dim;
	}
	n = n < 0 ? 0 : n;
	nextra = nextra < 0 || node_nin(v) == 0 ? 0 : nextra;
	if (node_ok(v) && n + nextra > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions, but %d are the most", n + nextra, DAG_MAX_RANK);
	if (!node_ok(v))
		return shape_of(0, NULL);
	Shape out = { .rank = n + nextra };
	for (int k = 0; k < out.rank; k++)
		out.dim[k] = k < n ? dim[k] : extra[k - n];
	for (int k = 0; k < out.rank && node_ok(v); k++)
		if (out.dim[k] < 0)
			node_fail(v, ERR_INPUT, "its shape has the size %lld", (long long)out.dim[k]);
	if (node_ok(v))
		import_check_size(v->im, "the result of operator", v->node->nout > 0 ? v->node->out[0] : "", F32, out);
	return out;
}

/* ---- data of the file */

static void set_data(Visit *v, DType type, Shape s, const void *data, int64_t n)
{
	char text[160];
	if (node_ok(v) && n != shape_elements(s))
		node_fail(v, ERR_INPUT, "its values are %lld numbers, but its shape is %s", (long long)n, shape_str(s, text));
	if (node_ok(v))
		node_set_known(v, 0, type, s, data != NULL ? data : "");
}

static void import_floats(Visit *v)
{
	Shape s = fill_shape(v);
	int n;
	const float *at = node_attr_floats(v, "values", &n);
	set_data(v, F32, s, at, n < 0 ? 0 : n);
}

/* Numbers of `values`, of which no floats are kept as they are. */
static void import_numbers(Visit *v)
{
	static const struct {
		const char *type;
		DType is;
	} rows[] = { { "GivenTensorIntFill", { DT_INT, 32, 1 } }, { "GivenTensorInt64Fill", { DT_INT, 64, 1 } },
		{ "GivenTensorBoolFill", { DT_BOOL, 8, 1 } }, { "GivenTensorInt16Fill", { DT_INT, 16, 1 } },
		{ "GivenTensorDoubleFill", { DT_FLOAT, 64, 1 } } };
	Shape s = fill_shape(v);
	DType type = F32;
	int n;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		type = strcmp(rows[k].type, v->node->op) == 0 ? rows[k].is : type;
	const float *floats = dtype_is_float(type) ? node_attr_floats(v, "values", &n) : NULL;
	const int64_t *ints = floats == NULL ? node_attr_ints(v, "values", &n) : NULL;
	if (!node_ok(v))
		return;
	void *data = arena_alloc(v->im->arena, (size_t)dtype_bytes(type, n < 0 ? 0 : n) + 1);
	for (int k = 0; k < n; k++) {
		if (ints != NULL)
			element_set_int(type, data, k, ints[k]);
		else
			element_set(type, data, k, floats[k]);
	}
	set_data(v, type, s, data, n < 0 ? 0 : n);
}

/* The bytes of one text. */
static void import_bytes(Visit *v)
{
	Shape s = fill_shape(v);
	const NodeAttr *at = node_attr(v, "values");
	if (node_ok(v) && (at == NULL || at->kind != NODE_TEXTS || at->texts.n != 1))
		node_fail(v, ERR_INPUT, "its values are not one text of bytes");
	if (node_ok(v))
		set_data(v, DT(UINT, 8), s, at->texts.at[0].at, (int64_t)at->texts.at[0].n);
}

/* One number for all elements. Without a dtype its own kind counts. */
static void import_constant(Visit *v)
{
	const NodeAttr *value = node_attr(v, "value");
	DType type = caffe2_attr_type(v, "dtype", value != NULL && value->kind == NODE_INT ? I64 : F32);
	Shape s = fill_shape(v);
	double number = node_attr_float(v, "value", 0);
	if (!node_ok(v) || !import_check_size(v->im, "the result of operator", v->name, type, s))
		return;
	void *one = arena_alloc(v->im->arena, 8);
	element_set(type, one, 0, number);
	int64_t n = shape_elements(s);
	if (n > 1 << 20) {
		Attr attr = attr_ints("shape", s.dim, s.rank);
		int x = node_const(v, type, shape_of(0, NULL), one);
		node_set(v, 0, node_call(v, OP_expand, &x, 1, &attr, 1));
		return;
	}
	void *data = arena_alloc(v->im->arena, (size_t)dtype_bytes(type, n) + 1);
	for (int64_t k = 0; k < n; k++)
		element_set(type, data, k, number);
	node_set_known(v, 0, type, s, data);
}

/* 0, 1 .. along one dimension; of start, stop, step. */
static void import_range(Visit *v)
{
	int n = node_nin(v);
	double at[] = { 0, 0, 1 };
	DType type = n > 0 ? node_need(v, 0)->type : F32;
	for (int k = 0; k < n && k < 3 && node_ok(v); k++) {
		const Item *it = node_known(v, k);
		if (node_ok(v) && shape_elements(it->shape) != 1)
			node_fail(v, ERR_TYPE, "its input %d is not one number", k + 1);
		if (node_ok(v))
			at[n == 1 ? 1 : k] = element_get(it->type, it->data, 0);
	}
	double count = node_ok(v) && at[2] != 0 ? ceil((at[1] - at[0]) / at[2]) : 0;
	if (node_ok(v) && (n < 1 || n > 3 || at[2] == 0 || !(count < 1 << 24)))
		node_fail(v, ERR_INPUT, "its start, stop and step give no list of numbers");
	int64_t many = node_ok(v) && count > 0 ? (int64_t)count : 0;
	void *data = arena_alloc(v->im->arena, (size_t)dtype_bytes(type, many) + 1);
	for (int64_t k = 0; k < many; k++)
		element_set(type, data, k, at[0] + (double)k * at[2]);
	node_set_known(v, 0, type, shape_of(1, &many), data);
}

/* ---- numbers that are drawn */

static void import_random(Visit *v)
{
	Caffe2Model *m = (Caffe2Model *)(uintptr_t)v->im->model->source;
	const char *type = v->node->op;
	Shape s = fill_shape(v);
	double mean = 0, spread = 1, n = (double)(s.rank > 0 ? shape_product(&s, 1, s.rank) : 1);
	if (strcmp(type, "GaussianFill") == 0) {
		mean = node_attr_float(v, "mean", 0);
		spread = node_attr_float(v, "std", 1);
	} else if (strcmp(type, "UniformFill") == 0) {
		double lo = node_attr_float(v, "min", 0), hi = node_attr_float(v, "max", 1);
		mean = (lo + hi) / 2;
		spread = (hi - lo) / sqrt(12);
	} else { /* Xavier's and He's, by the numbers that are summed */
		spread = sqrt((strcmp(type, "MSRAFill") == 0 ? 2 : 1) / fmax(n, 1));
	}
	if (!node_ok(v) || v->node->nout < 1)
		return;
	if (m->last == NULL || v->node < m->last) { /* an import begins, maybe anew */
		m->drawn = 0;
		if (m->last == NULL)
			import_note(v->im,
				"weights such as '%.100s' are not in the file but drawn by %.40s: their numbers come from "
				"a seed",
				v->node->out[0], type);
	}
	m->last = v->node;
	const float *data = node_draw(v, &m->drawn, "weights", v->node->out[0], shape_elements(s), mean, spread);
	if (data != NULL)
		node_set_known(v, 0, F32, s, data);
}

#define RANDOM(type) \
	{ \
		type, 0, "", import_random \
	}

const NodeRow caffe2_fill_rows[] = {
	{ "GivenTensorFill", 0, "", import_floats },
	{ "GivenTensorIntFill", 0, "", import_numbers },
	{ "GivenTensorInt64Fill", 0, "", import_numbers },
	{ "GivenTensorInt16Fill", 0, "", import_numbers },
	{ "GivenTensorBoolFill", 0, "", import_numbers },
	{ "GivenTensorDoubleFill", 0, "", import_numbers },
	{ "GivenTensorByteStringToUInt8Fill", 0, "", import_bytes },
	{ "ConstantFill", 0, "", import_constant },
	{ "Range", 0, "", import_range },
	RANDOM("XavierFill"),
	RANDOM("MSRAFill"),
	RANDOM("GaussianFill"),
	RANDOM("UniformFill"),
	{ NULL, 0, NULL, NULL },
};
