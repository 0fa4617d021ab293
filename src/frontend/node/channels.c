/* Channels-last values computed with channels second; channels.h says what each is. */
#include "frontend/node/channels.h"

#include "frontend/node/compose.h"

#include <string.h>

enum { MOST_OPERANDS = 4 };

int channels_axis(int axis, int rank)
{
	return axis == 0 || rank < 3 ? axis : axis == rank - 1 ? 1 : axis + 1;
}

/* Dimension k of [N,C,spatial..] is dimension perm[k] of [N,spatial..,C]. */
static void to_second(int rank, int64_t *perm)
{
	for (int k = 0; k < rank; k++)
		perm[channels_axis(k, rank)] = k;
}

/* The call that made a value, if node_to_last could have. */
static const OpCall *turned(Visit *v, int x)
{
	int64_t perm[DAG_MAX_RANK];
	int n, rank = node_val(v, x)->shape.rank;
	if (!node_ok(v) || x == DAG_NONE || rank < 3 || node_val(v, x)->kind != VALUE_CALL)
		return NULL;
	const OpCall *c = &v->im->dag->call.at[node_val(v, x)->call];
	if (c->op != OP_transpose)
		return NULL;
	for (int k = 0; k < rank; k++)
		perm[k] = channels_axis(k, rank);
	const int64_t *have = op_ints(c, "perm", &n);
	return n == rank && memcmp(have, perm, sizeof *perm * (size_t)rank) == 0 ? c : NULL;
}

bool node_is_last(Visit *v, int x)
{
	return turned(v, x) != NULL;
}

int node_to_second(Visit *v, int x)
{
	const OpCall *c = turned(v, x);
	int64_t perm[DAG_MAX_RANK];
	int rank = node_val(v, x)->shape.rank;
	if (c != NULL)
		return c->in[0];
	to_second(rank, perm);
	return rank < 3 ? x : node_transpose(v, x, perm);
}

int node_to_last(Visit *v, int y)
{
	int64_t perm[DAG_MAX_RANK];
	int rank = node_val(v, y)->shape.rank;
	for (int k = 0; k < rank; k++)
		perm[k] = channels_axis(k, rank);
	return rank < 3 ? y : node_transpose(v, y, perm);
}

/* An operand of `rank` dimensions or fewer, for a call with channels second. */
static int operand(Visit *v, int x, int rank)
{
	Shape s = node_val(v, x)->shape, wide = { .rank = rank };
	if (x == DAG_NONE || (shape_elements(s) == 1 && s.rank < rank))
		return x;
	for (int k = 0; k < rank; k++)
		wide.dim[k] = k < rank - s.rank ? 1 : s.dim[k - (rank - s.rank)];
	if (s.rank == rank || shape_product(&wide, 0, rank - 1) != 1)
		return node_to_second(v, node_reshape(v, x, wide));
	Shape only = { .rank = rank - 1, .dim = { wide.dim[rank - 1] } }; /* [C] is [C,1,1] there */
	for (int k = 1; k < only.rank; k++)
		only.dim[k] = 1;
	return node_reshape(v, x, only);
}

int node_each(Visit *v, int op, const int *in, int nin, const Attr *attr, int nattr)
{
	int rank = 0, with[MOST_OPERANDS];
	bool any = false;
	for (int k = 0; k < nin && node_ok(v); k++) {
		int own = node_val(v, in[k])->shape.rank;
		any = own > rank ? turned(v, in[k]) != NULL : any || (own == rank && turned(v, in[k]) != NULL);
		rank = own > rank ? own : rank;
	}
	if (!any || nin > MOST_OPERANDS)
		return node_call(v, op, in, nin, attr, nattr);
	for (int k = 0; k < nin; k++)
		with[k] = operand(v, in[k], rank);
	return node_to_last(v, node_call(v, op, with, nin, attr, nattr));
}

int node_each1(Visit *v, int op, int x)
{
	return node_each(v, op, &x, 1, NULL, 0);
}

int node_each2(Visit *v, int op, int a, int b)
{
	int in[] = { a, b };
	return node_each(v, op, in, 2, NULL, 0);
}

int node_along(Visit *v, int op, int x, Attr *attr, int nattr)
{
	int rank = node_val(v, x)->shape.rank;
	if (!node_ok(v) || !node_is_last(v, x))
		return node_call(v, op, &x, 1, attr, nattr);
	for (int i = 0; i < nattr; i++) {
		int64_t *to = arena_array(v->im->arena, int64_t, 2 * DAG_MAX_RANK);
		if (attr[i].kind != ATTR_INTS)
			continue;
		for (int k = 0; k < attr[i].n; k++)
			to[channels_axis(k % rank, rank) + k / rank * rank] = attr[i].ints[k];
		attr[i].ints = to;
	}
	int y = node_to_second(v, x);
	return node_to_last(v, node_call(v, op, &y, 1, attr, nattr));
}

int node_reduce(Visit *v, int op, int x, const int64_t *axes, int n, bool keep)
{
	int rank = node_val(v, x)->shape.rank, left = rank;
	bool on[DAG_MAX_RANK] = { false }, lift = node_is_last(v, x);
	int64_t at[DAG_MAX_RANK];
	for (int k = 0; k < n; k++)
		on[axes[k]] = true;
	lift &= !on[0];
	for (int k = 0; k < rank; k++)
		left -= on[k];
	n = 0;
	for (int k = 0; k < rank; k++)
		for (int i = 0; i < rank; i++) /* in order of the axes that the call reads */
			if (on[i] && (lift ? channels_axis(i, rank) : i) == k)
				at[n++] = k;
	Attr attr[] = { attr_ints("axes", at, n), attr_int("keep", keep) };
	int y = lift ? node_to_second(v, x) : x;
	y = node_call(v, op, &y, 1, attr, 2);
	/* Without channels, or without spatial dimensions, the order is the same. */
	return lift && (keep || (!on[rank - 1] && left > 2)) ? node_to_last(v, y) : y;
}

int node_axis_call(Visit *v, int op, const int *in, int nin, int axis, const Attr *more, int nmore)
{
	bool any = false;
	int rank = node_val(v, in[0])->shape.rank, *with = arena_array(v->im->arena, int, nin + 1);
	for (int k = 0; k < nin; k++)
		any |= node_is_last(v, in[k]);
	for (int k = 0; k < nin; k++)
		with[k] = any ? node_to_second(v, in[k]) : in[k];
	Attr attr[8] = { attr_int("axis", any ? channels_axis(axis, rank) : axis) };
	for (int k = 0; k < nmore; k++)
		attr[1 + k] = more[k];
	int y = node_call(v, op, with, nin, attr, 1 + nmore);
	return any ? node_to_last(v, y) : y;
}

int node_reorg(Visit *v, int x, int64_t s, bool mixed, bool back)
{
	Shape in = node_val(v, x)->shape;
	if (node_ok(v) && in.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have 4", in.rank);
	int64_t c = in.dim[1], h = in.dim[2], w = in.dim[3];
	if (node_ok(v) && (s < 1 || s > 4096 || (!back && (h % s != 0 || w % s != 0)) || (mixed && c % (s * s) != 0)))
		node_fail(v, ERR_TYPE, "a stride of %lld does not divide %lld channels of %lldx%lld places", (long long)s,
			(long long)c, (long long)h, (long long)w);
	if (!node_ok(v))
		return DAG_NONE;
	int64_t few = mixed ? c / (s * s) : c, high = mixed ? h : h / s, wide = mixed ? w : w / s;
	if (back) {
		x = node_view(v, x, 6, (int64_t[]){ in.dim[0], s, s, few, h, w });
		x = node_transpose(v, x, (int64_t[]){ 0, 3, 4, 1, 5, 2 });
		return node_view(v, x, 4, (int64_t[]){ in.dim[0], few, h * s, w * s });
	}
	x = node_view(v, x, 6, (int64_t[]){ in.dim[0], few, high, s, wide, s });
	x = node_transpose(v, x, (int64_t[]){ 0, 3, 5, 1, 2, 4 });
	return node_view(v, x, 4, (int64_t[]){ in.dim[0], c * s * s, h / s, w / s });
}
