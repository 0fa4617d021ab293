/* Rows of layers that join others. Inputs of fewer dimensions get theirs behind the first one. */
#include "frontend/keras/keras.h"

#include <string.h>

static int widened(Visit *v, int k, int rank)
{
	int x = keras_value(v, k);
	Shape s = node_val(v, x)->shape, to = { .rank = rank };
	if (!node_ok(v) || s.rank == rank || s.rank < 1)
		return x;
	for (int i = 0; i < rank; i++)
		to.dim[i] = i == 0 ? s.dim[0] : i <= rank - s.rank ? 1 : s.dim[i - (rank - s.rank)];
	return node_reshape(v, x, to);
}

static int combined(Visit *v, int op)
{
	int rank = 0, n = node_nin(v);
	for (int k = 0; k < n; k++)
		if (node_need(v, k)->shape.rank > rank)
			rank = node_need(v, k)->shape.rank;
	int y = widened(v, 0, rank);
	for (int k = 1; k < n && node_ok(v); k++)
		y = node_each2(v, op, y, widened(v, k, rank));
	return y;
}

static void import_add(Visit *v)
{
	node_set(v, 0, combined(v, OP_add));
}

static void import_subtract(Visit *v)
{
	if (node_nin(v) != 2)
		node_fail(v, ERR_INPUT, "it has %d inputs, but subtracts two", node_nin(v));
	node_set(v, 0, combined(v, OP_sub));
}

static void import_multiply(Visit *v)
{
	node_set(v, 0, combined(v, OP_mul));
}

static void import_maximum(Visit *v)
{
	node_set(v, 0, combined(v, OP_maximum));
}

static void import_minimum(Visit *v)
{
	node_set(v, 0, combined(v, OP_minimum));
}

static void import_average(Visit *v)
{
	int y = combined(v, OP_add), n = node_nin(v);
	node_set(v, 0, node_each2(v, OP_mul, y, node_number(v, node_val(v, y)->type, 1.0 / (n > 0 ? n : 1))));
}

static void import_concatenate(Visit *v)
{
	int n = node_nin(v), *x = arena_array(v->im->arena, int, n + 1);
	for (int k = 0; k < n; k++)
		x[k] = keras_value(v, k);
	int rank = n > 0 ? node_val(v, x[0])->shape.rank : 0;
	int axis = node_axis(v, node_attr_int(v, "axis", -1), rank);
	for (int k = 1; k < n && node_ok(v); k++)
		if (node_val(v, x[k])->shape.rank != rank)
			node_fail(v, ERR_TYPE, "its inputs have %d and %d dimensions", rank, node_val(v, x[k])->shape.rank);
	if (node_ok(v) && n < 1)
		node_fail(v, ERR_INPUT, "it has no input");
	if (!node_ok(v))
		return;
	if (n == 1)
		node_set_alias(v, 0, node_need(v, 0));
	else
		node_set(v, 0, node_axis_call(v, OP_concat, x, n, axis, NULL, 0));
}

static int normalized(Visit *v, int x, int axis)
{
	int64_t at = axis;
	int sum = node_reduce(v, OP_reduce_sum, node_call2(v, OP_mul, x, x), &at, 1, true);
	int norm = node_call1(v, OP_sqrt, node_with_number(v, OP_maximum, sum, 1e-12));
	return node_call2(v, OP_div, x, norm);
}

/* A product of each sample's tensors, summed over one axis of either. Version 1's cosine has a dimension more. */
static void import_dot(Visit *v)
{
	int count, x[2] = { keras_value(v, 0), keras_value(v, 1) };
	const int64_t *axes = node_attr_ints(v, "axes", &count);
	bool cosine = node_attr_flag(v, "cosine", false), norm = node_attr_flag(v, "normalize", false) || cosine;
	Shape s[2] = { node_val(v, x[0])->shape, node_val(v, x[1])->shape };
	int axis[2];
	char equation[64];
	int at = 0, label = 'b';
	if (node_ok(v) && (count < 1 || count > 2 || s[0].rank < 2 || s[1].rank < 2))
		node_fail(v, ERR_INPUT, "it needs one or two axes, and inputs of at least 2 dimensions");
	if (node_ok(v) && cosine && (s[0].rank != 2 || s[1].rank != 2))
		node_fail(v, ERR_UNSUPPORTED, "its mode cos has inputs of %d and %d dimensions; 2 are supported", s[0].rank,
			s[1].rank);
	for (int i = 0; i < 2 && node_ok(v); i++) {
		axis[i] = node_axis(v, axes[count == 2 ? i : 0], s[i].rank);
		if (axis[i] == 0)
			node_fail(v, ERR_UNSUPPORTED, "it sums over the batch");
		if (norm)
			x[i] = normalized(v, x[i], axis[i]);
	}
	if (!node_ok(v))
		return;
	char out[32] = "a";
	int nout = 1;
	for (int i = 0; i < 2; i++) {
		equation[at++] = 'a';
		for (int k = 1; k < s[i].rank; k++) {
			equation[at++] = (char)(k == axis[i] ? 'z' : label);
			if (k != axis[i])
				out[nout++] = (char)label++;
		}
		equation[at++] = i == 0 ? ',' : '-';
	}
	out[nout] = 0;
	memcpy(equation + at, ">", 1);
	memcpy(equation + at + 1, out, (size_t)nout + 1);
	int y = node_einsum_of(v, equation, x, 2);
	node_set(v, 0, nout > 1 ? y : node_view(v, y, cosine ? 3 : 2, (int64_t[]){ s[0].dim[0], 1, 1 }));
}

const NodeRow keras_merge_rows[] = {
	{ "Add", 0, "", import_add },
	{ "Subtract", 0, "", import_subtract },
	{ "Multiply", 0, "", import_multiply },
	{ "Average", 0, "", import_average },
	{ "Maximum", 0, "", import_maximum },
	{ "Minimum", 0, "", import_minimum },
	{ "Concatenate", 0, "", import_concatenate },
	{ "Dot", 0, "", import_dot },
	{ NULL, 0, NULL, NULL },
};
