/* Arguments of functions of keras.ops; function.h says what each is. */
#include "frontend/keras/function.h"

#include "op/element.h"

#include <string.h>

static DType type_of(Visit *v, const char *name)
{
	const struct {
		const char *name;
		DType type;
	} types[] = { { "float32", F32 }, { "float64", F64 }, { "float16", F16 }, { "bool", BOOL }, { "int64", I64 },
		{ "int32", I32 }, { "int16", { DT_INT, 16, 1 } }, { "int8", { DT_INT, 8, 1 } },
		{ "uint8", { DT_UINT, 8, 1 } } };
	for (size_t k = 0; k < sizeof types / sizeof *types; k++)
		if (strcmp(types[k].name, name) == 0)
			return types[k].type;
	node_fail(v, ERR_UNSUPPORTED, "its type '%.20s' is not supported", name);
	return F32;
}

DType keras_type_or(Visit *v, DType otherwise)
{
	const Json *given = keras_argument(v, -1, "dtype");
	given = given != NULL ? given : keras_json(v, "dtype");
	if (given == NULL || given->kind == JV_NULL)
		return otherwise;
	if (given->kind == JV_TEXT)
		return type_of(v, given->text);
	node_fail(v, ERR_UNSUPPORTED, "its dtype is not the name of a type");
	return otherwise;
}

/* ---- arrays that a file holds */

typedef struct Array {
	Shape shape;
	bool whole; /* has no fractions */
	VEC(double) at;
} Array;

/* Lists in lists, all of one shape, with numbers in the innermost ones. */
static bool add_numbers(Visit *v, const Json *j, int depth, Array *out)
{
	if (j->kind == JV_INT || j->kind == JV_REAL || j->kind == JV_BOOL) {
		out->whole &= j->kind != JV_REAL;
		vec_push(v->im->arena, &out->at, j->kind == JV_REAL ? j->real : j->kind == JV_INT ? (double)j->i : j->truth);
		return depth == out->shape.rank;
	}
	if (j->kind != JV_ARRAY || depth >= out->shape.rank || (int64_t)j->list.n != out->shape.dim[depth])
		return false;
	for (size_t k = 0; k < j->list.n; k++)
		if (!add_numbers(v, j->list.at[k], depth + 1, out))
			return false;
	return true;
}

/* A number, a list of lists, or an array with its type. */
int keras_constant_of(Visit *v, const Json *j, DType number)
{
	const Json *config = json_find(j, "config"), *value = json_find(config, "value");
	const Json *type = json_find(config, "dtype");
	Array x = { .whole = true };
	bool typed = value != NULL && type != NULL && type->kind == JV_TEXT;
	if (!typed && (j->kind == JV_INT || j->kind == JV_REAL || j->kind == JV_BOOL))
		return node_number(v, number, j->kind == JV_REAL ? j->real : j->kind == JV_INT ? (double)j->i : j->truth);
	value = typed ? value : j;
	for (const Json *at = value; at->kind == JV_ARRAY && x.shape.rank < DAG_MAX_RANK; at = at->list.at[0]) {
		x.shape.dim[x.shape.rank++] = (int64_t)at->list.n;
		if (at->list.n == 0)
			break;
	}
	if (node_ok(v) && !add_numbers(v, value, 0, &x))
		node_fail(v, ERR_UNSUPPORTED, "its arguments hold something else than tensors, numbers and arrays of numbers");
	DType t = typed ? type_of(v, type->text) : x.whole ? I32 : F32;
	if (!node_ok(v))
		return DAG_NONE;
	void *data = arena_alloc_aligned(v->im->arena, (size_t)dtype_bytes(t, (int64_t)x.at.n) + 1, 64);
	for (size_t k = 0; k < x.at.n; k++)
		element_set(t, data, (int64_t)k, x.at.at[k]);
	return node_const(v, t, x.shape, data);
}

/* ---- arguments */

int keras_operand(Visit *v, int at, const char *name, DType number)
{
	int k = keras_input(v, at, name);
	const Json *j = k < 0 ? keras_argument(v, at, name) : NULL;
	return k >= 0 ? keras_value(v, k) : j != NULL ? keras_constant_of(v, j, number) : DAG_NONE;
}

int keras_given(Visit *v, int at, const char *name, DType number)
{
	int x = keras_operand(v, at, name, number);
	if (node_ok(v) && x == DAG_NONE)
		node_fail(v, ERR_INPUT, "its argument %s is not in the file", name);
	return x;
}

bool keras_two(Visit *v, int *x)
{
	static const char *const names[][3] = { { "x1", "x", "a" }, { "x2", "y", "b" } };
	const Json *given[2];
	for (int k = 0; k < 2; k++) {
		int at = -1;
		const char *name = names[k][0];
		for (int i = 0; i < 3 && at < 0; i++) {
			at = keras_input(v, k, names[k][i]);
			name = at >= 0 || keras_argument(v, -1, names[k][i]) != NULL ? names[k][i] : name;
		}
		given[k] = at < 0 ? keras_argument(v, k, name) : NULL;
		x[k] = at < 0 ? DAG_NONE : keras_value(v, at);
	}
	for (int k = 0; k < 2 && node_ok(v); k++)
		if (x[k] == DAG_NONE && (x[1 - k] == DAG_NONE || given[k] == NULL))
			node_fail(v, ERR_UNSUPPORTED, "it does not have two arguments, of which one is a tensor");
		else if (x[k] == DAG_NONE) { /* a fraction with an integer gives floats */
			DType t = node_val(v, x[1 - k])->type;
			bool fraction = given[k]->kind == JV_REAL && !dtype_is_float(t);
			x[k] = keras_constant_of(v, given[k], fraction || dtype_eq(t, BOOL) ? F32 : t);
		}
	return node_ok(v);
}

int keras_listed(Visit *v, const char *const *names, int **x)
{
	const Json *list = NULL;
	for (int k = 0; names[k] != NULL && list == NULL && !keras_is_listed(v); k++)
		list = keras_argument(v, 0, names[k]);
	bool mixed = list != NULL && list->kind == JV_ARRAY;
	int n = mixed ? (int)list->list.n : keras_all_tensors(v, names) ? node_nin(v) : 0;
	int *out = *x = arena_array(v->im->arena, int, n + 1), tensors = 0;
	for (int k = 0; k < n && node_ok(v); k++) {
		bool tensor = !mixed || keras_count_tensors(list->list.at[k], false) > 0;
		out[k] = tensor ? keras_value(v, tensors) : keras_constant_of(v, list->list.at[k], F32);
		tensors += tensor;
	}
	if (node_ok(v) && n == 0)
		node_fail(v, ERR_INPUT, "its list is empty");
	keras_promote(v, out, n);
	return node_ok(v) ? n : 0;
}

void keras_promote(Visit *v, int *x, int n)
{
	DType t = node_val(v, x[0])->type;
	for (int k = 1; k < n; k++) {
		DType o = node_val(v, x[k])->type;
		bool better = dtype_is_float(o) != dtype_is_float(t) ? dtype_is_float(o) : o.bits > t.bits;
		t = better ? o : t;
	}
	for (int k = 0; k < n; k++)
		x[k] = node_cast(v, x[k], t);
}

int keras_float(Visit *v, int x)
{
	return node_ok(v) && !dtype_is_float(node_val(v, x)->type) ? node_cast(v, x, F32) : x;
}

int keras_axes(Visit *v, int rank, int64_t *axes)
{
	int count;
	const int64_t *at = node_attr_ints(v, node_has(v, "axes") ? "axes" : "axis", &count);
	bool all = count < 0;
	if (count > DAG_MAX_RANK)
		node_fail(v, ERR_INPUT, "it has %d axes", count);
	count = all ? rank : count;
	for (int k = 0; k < count && node_ok(v); k++)
		axes[k] = all ? k : node_axis(v, at[k], rank);
	for (int k = 0; k < count && node_ok(v); k++)
		for (int i = 0; i < k; i++)
			if (axes[i] == axes[k])
				node_fail(v, ERR_INPUT, "its axes name one twice");
	return node_ok(v) ? count : 0;
}

int keras_axis(Visit *v, int rank, int64_t otherwise)
{
	return node_axis(v, node_attr_int(v, "axis", otherwise), rank);
}

int keras_number_like(Visit *v, int x, double n)
{
	return node_number(v, node_val(v, x)->type, n);
}

int keras_pick(Visit *v, int cond, int a, int b)
{
	int in[] = { cond, a, b };
	return node_each(v, OP_where, in, 3, NULL, 0);
}

int keras_flat(Visit *v, int x)
{
	int64_t n = shape_elements(node_val(v, x)->shape);
	return node_view(v, x, 1, &n);
}
