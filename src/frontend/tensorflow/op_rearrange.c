/* Rows that put the same elements elsewhere: blocks to depth or to the batch and back, lines turned round. */
#include "frontend/tensorflow/rows.h"

#include "op/element.h"

#include <string.h>

/* The block size of a tensor with channels second, checked. */
static int64_t block_size(Visit *v, const Shape *s, bool depth)
{
	int64_t b = node_attr_int(v, "block_size", 0);
	if (node_ok(v) && s->rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but must have 4", s->rank);
	bool fits = b > 0 && b < 1 << 20 && (depth ? s->dim[1] % (b * b) == 0 : s->dim[2] % b == 0 && s->dim[3] % b == 0);
	if (node_ok(v) && !fits)
		node_fail(v, ERR_INPUT, "its block_size %lld does not divide its input", (long long)b);
	return node_ok(v) ? b : 1;
}

static void import_depth_to_space(Visit *v)
{
	bool last = tf_channels_last(v);
	int x = tf_value(v, 0);
	x = last ? node_to_second(v, x) : x;
	Shape s = node_val(v, x)->shape;
	int64_t b = block_size(v, &s, true), *d = s.dim;
	if (!node_ok(v))
		return;
	int64_t parts[] = { d[0], b, b, d[1] / (b * b), d[2], d[3] }, perm[] = { 0, 3, 4, 1, 5, 2 };
	int64_t out[] = { d[0], d[1] / (b * b), d[2] * b, d[3] * b };
	int y = node_view(v, node_transpose(v, node_view(v, x, 6, parts), perm), 4, out);
	node_set(v, 0, last ? node_to_last(v, y) : y);
}

static void import_space_to_depth(Visit *v)
{
	bool last = tf_channels_last(v);
	int x = tf_value(v, 0);
	x = last ? node_to_second(v, x) : x;
	Shape s = node_val(v, x)->shape;
	int64_t b = block_size(v, &s, false), *d = s.dim;
	if (!node_ok(v))
		return;
	int64_t parts[] = { d[0], d[1], d[2] / b, b, d[3] / b, b }, perm[] = { 0, 3, 5, 1, 2, 4 };
	int64_t out[] = { d[0], d[1] * b * b, d[2] / b, d[3] / b };
	int y = node_view(v, node_transpose(v, node_view(v, x, 6, parts), perm), 4, out);
	node_set(v, 0, last ? node_to_last(v, y) : y);
}

/* Block sizes, and pairs of pads or crops, of the m dimensions behind the batch. */
static int read_blocks(Visit *v, int64_t *block, int64_t *pair)
{
	int n, rank = node_need(v, 0)->shape.rank;
	const Item *p = node_known(v, 2);
	const int64_t *at = tf_ints(v, 1, &n);
	if (node_ok(v) &&
		(n < 1 || n >= rank || shape_elements(p->shape) != 2 * n || !dtype_is_int(p->type) || rank + n > DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "its %d blocks do not go with an input of %d dimensions", n, rank);
	for (int k = 0; k < 2 * n && node_ok(v); k++) {
		pair[k] = element_get_int(p->type, p->data, k);
		block[k / 2] = at[k / 2];
		if (pair[k] < 0 || at[k / 2] < 1 || at[k / 2] > INT32_MAX)
			node_fail(v, ERR_INPUT, "its blocks or pads hold a number that is out of range");
	}
	return node_ok(v) ? n : 0;
}

static void import_space_to_batch(Visit *v)
{
	int64_t block[DAG_MAX_RANK], pair[2 * DAG_MAX_RANK], pads[2 * DAG_MAX_RANK] = { 0 };
	int64_t parts[DAG_MAX_RANK], perm[DAG_MAX_RANK], all = 1;
	int m = read_blocks(v, block, pair), x = tf_value(v, 0), rank = node_val(v, x)->shape.rank, n = 0;
	if (!node_ok(v))
		return;
	for (int k = 0; k < m; k++) {
		pads[k + 1] = pair[2 * k];
		pads[rank + k + 1] = pair[2 * k + 1];
	}
	Attr attr = attr_ints("pads", pads, 2 * rank);
	x = node_call(v, OP_pad, &x, 1, &attr, 1);
	Shape s = node_val(v, x)->shape, out = s;
	parts[n++] = s.dim[0];
	for (int k = 0; k < m && node_ok(v); k++) {
		if (s.dim[k + 1] % block[k] != 0)
			node_fail(
				v, ERR_INPUT, "its block %lld does not divide %lld", (long long)block[k], (long long)s.dim[k + 1]);
		parts[n++] = out.dim[k + 1] = s.dim[k + 1] / block[k];
		parts[n++] = block[k];
		all *= block[k];
		perm[k] = 2 * k + 2;
		perm[m + 1 + k] = 2 * k + 1;
	}
	perm[m] = 0;
	for (int k = m + 1; k < rank; k++) {
		perm[n] = n;
		parts[n++] = s.dim[k];
	}
	out.dim[0] *= all;
	if (node_ok(v))
		node_set(v, 0, node_reshape(v, node_transpose(v, node_view(v, x, n, parts), perm), out));
}

static void import_batch_to_space(Visit *v)
{
	int64_t block[DAG_MAX_RANK], pair[2 * DAG_MAX_RANK], start[DAG_MAX_RANK] = { 0 };
	int64_t parts[DAG_MAX_RANK], perm[DAG_MAX_RANK], all = 1;
	int m = read_blocks(v, block, pair), x = tf_value(v, 0), rank = node_val(v, x)->shape.rank, n = 0;
	if (!node_ok(v))
		return;
	Shape s = node_val(v, x)->shape, out = s;
	for (int k = 0; k < m; k++) {
		all *= block[k];
		parts[n++] = block[k];
	}
	if (s.dim[0] % all != 0)
		node_fail(v, ERR_INPUT, "its blocks do not divide a batch of %lld", (long long)s.dim[0]);
	parts[n++] = out.dim[0] = s.dim[0] / all;
	perm[0] = m;
	for (int k = 1; k < rank; k++) {
		parts[n++] = s.dim[k];
		if (k <= m) {
			perm[2 * k - 1] = m + k;
			perm[2 * k] = k - 1;
			out.dim[k] = s.dim[k] * block[k - 1];
		} else {
			perm[m + k] = m + k;
		}
	}
	if (!node_ok(v))
		return;
	x = node_reshape(v, node_transpose(v, node_view(v, x, n, parts), perm), out);
	for (int k = 0; k < m; k++) {
		start[k + 1] = pair[2 * k];
		out.dim[k + 1] -= pair[2 * k] + pair[2 * k + 1];
		if (out.dim[k + 1] < 0)
			node_fail(v, ERR_INPUT, "its crops take more than there is");
	}
	Attr attr[] = { attr_ints("starts", start, rank), attr_ints("sizes", out.dim, rank) };
	node_set(v, 0, node_call(v, OP_slice, &x, 1, attr, 2));
}

/* ---- lines turned round */

static void import_reverse(Visit *v)
{
	int n, x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *at = tf_ints(v, 1, &n);
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK], size[DAG_MAX_RANK];
	for (int k = 0; k < rank; k++) {
		step[k] = 1;
		size[k] = node_val(v, x)->shape.dim[k];
	}
	for (int k = 0; k < n && node_ok(v); k++) {
		int axis = node_axis(v, at[k], rank);
		if (size[axis] > 1) {
			start[axis] = size[axis] - 1;
			step[axis] = -1;
		}
	}
	Attr attr[] = { attr_ints("starts", start, rank), attr_ints("steps", step, rank), attr_ints("sizes", size, rank) };
	node_set(v, 0, node_along(v, OP_slice, x, attr, 3));
}

/* The first elements of each line in reverse order: rows of batch and sequence are gathered with the batch in front. */
static void import_reverse_sequence(Visit *v)
{
	int x = tf_value(v, 0), length = tf_value(v, 1), rank = node_val(v, x)->shape.rank;
	int seq = node_axis(v, node_attr_int(v, "seq_dim", 0), rank);
	int batch = node_axis(v, node_attr_int(v, "batch_dim", 0), rank);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) &&
		(seq == batch || node_val(v, length)->shape.rank != 1 || node_val(v, length)->shape.dim[0] != s.dim[batch]))
		node_fail(v, ERR_TYPE, "it needs a length for each of its batch, and two axes that differ");
	if (!node_ok(v))
		return;
	int64_t perm[DAG_MAX_RANK] = { batch, seq }, back[DAG_MAX_RANK], column[] = { s.dim[batch], 1 };
	for (int k = 0, n = 2; k < rank; k++)
		if (k != batch && k != seq)
			perm[n++] = k;
	for (int k = 0; k < rank; k++)
		back[perm[k]] = k;
	int t = node_count(v, s.dim[seq], 1, 2), n = node_view(v, node_cast(v, length, I64), 2, column);
	int turned = node_call2(v, OP_sub, node_call2(v, OP_sub, n, node_number(v, I64, 1)), t);
	int in[] = { node_transpose(v, x, perm), node_where(v, node_call2(v, OP_less, t, n), turned, t) };
	Attr attr[] = { attr_int("axis", 1), attr_int("batch", 1) };
	node_set(v, 0, node_transpose(v, node_call(v, OP_gather, in, 2, attr, 2), back));
}

const NodeRow tf_rearrange_rows[] = {
	{ "DepthToSpace", 0, "", import_depth_to_space },
	{ "SpaceToDepth", 0, "", import_space_to_depth },
	{ "SpaceToBatchND", 0, "", import_space_to_batch },
	{ "BatchToSpaceND", 0, "", import_batch_to_space },
	{ "ReverseV2", 0, "", import_reverse },
	{ "ReverseSequence", 0, "", import_reverse_sequence },
	{ NULL, 0, NULL, NULL },
};
