/* Attention as one call; attend.h says what it is. */
#include "frontend/node/attend.h"
#include "frontend/node/compose.h"

static const int64_t turn[] = { 0, 2, 1, 3 };

int node_split_heads(Visit *v, int x, int64_t heads)
{
	Shape s = node_val(v, x)->shape;
	int64_t dim[] = { s.dim[0], s.dim[1], heads, heads > 0 ? s.dim[2] / heads : 0 };
	x = node_view(v, x, 4, dim);
	return node_ok(v) ? node_transpose(v, x, turn) : x;
}

int node_join_heads(Visit *v, int x)
{
	int y = node_ok(v) ? node_transpose(v, x, turn) : x;
	Shape s = node_val(v, y)->shape;
	int64_t dim[] = { s.dim[0], s.dim[1], s.dim[2] * s.dim[3] };
	return node_view(v, y, 3, dim);
}

int node_attention(Visit *v, int q, int k, int value, int mask, const AttentionHow *how)
{
	int in[] = { q, k, value, mask };
	Attr attr[] = { attr_float("scale", how->scale), attr_float("cap", how->cap), attr_int("causal", how->causal),
		attr_int("past", how->past), attr_int("zeros", mask != DAG_NONE ? how->zeros : ZEROS_NONE) };
	return node_call(v, OP_attention, in, mask != DAG_NONE ? 4 : 3, attr, 5);
}
