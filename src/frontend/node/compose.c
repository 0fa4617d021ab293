/* Calls that compositions share; compose.h says what each is. */
#include "frontend/node/compose.h"

#include "op/element.h"

int node_slice(Visit *n, int x, int axis, int64_t from, int64_t size)
{
	Shape s = node_val(n, x)->shape;
	int64_t start[DAG_MAX_RANK] = { 0 };
	if (from == 0 && size == s.dim[axis])
		return x;
	start[axis] = from;
	s.dim[axis] = size;
	Attr attr[] = { attr_ints("starts", start, s.rank), attr_ints("sizes", s.dim, s.rank) };
	return node_call(n, OP_slice, &x, 1, attr, 2);
}

int node_part(Visit *n, int x, int64_t at)
{
	Shape s = node_val(n, x)->shape;
	return node_view(n, node_slice(n, x, 0, at, 1), s.rank > 0 ? s.rank - 1 : 0, &s.dim[1]);
}

int node_transpose(Visit *n, int x, const int64_t *perm)
{
	int rank = node_val(n, x)->shape.rank;
	bool same = true;
	for (int k = 0; k < rank; k++)
		same &= perm[k] == k;
	Attr attr = attr_ints("perm", perm, rank);
	return same ? x : node_call(n, OP_transpose, &x, 1, &attr, 1);
}

int node_concat(Visit *n, const int *x, int count, int axis)
{
	Attr attr = attr_int("axis", axis);
	return count == 1 ? x[0] : node_call(n, OP_concat, x, count, &attr, 1);
}

int node_expand(Visit *n, int x, Shape shape)
{
	Attr attr = attr_ints("shape", shape.dim, shape.rank);
	return shape_eq(node_val(n, x)->shape, shape) ? x : node_call(n, OP_expand, &x, 1, &attr, 1);
}

int node_result(Visit *n, int value, int k)
{
	return node_ok(n) ? n->im->dag->call.at[node_val(n, value)->call].out[k] : DAG_NONE;
}

int node_with_number(Visit *n, int op, int x, double v)
{
	return node_call2(n, op, x, node_number(n, node_val(n, x)->type, v));
}

int node_truncate(Visit *n, int x)
{
	int down = node_call1(n, OP_floor, node_call1(n, OP_abs, x));
	return node_call2(n, OP_mul, node_call1(n, OP_sign, x), down);
}

int node_numbers(Visit *n, DType type, const double *x, int64_t count, int rank)
{
	Shape s = { .rank = rank };
	void *at = arena_alloc(n->im->arena, (size_t)dtype_bytes(type, count) + 1);
	for (int k = 0; k < rank; k++)
		s.dim[k] = k == rank - 1 ? count : 1;
	for (int64_t i = 0; i < count; i++)
		element_set(type, at, i, x[i]);
	return node_const(n, type, s, at);
}

int node_view(Visit *n, int x, int rank, const int64_t *dim)
{
	return node_reshape(n, x, shape_of(rank, dim));
}
