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
	bool fits = b > 0 && b < 1 << 20 && (depth ? s->dim[1] % (b * b) == 0 : s->dim[2] % b == 0 && s->dim[3] % b == 0) &&
	            (depth || s->dim[1] <= ((int64_t)1 << 40) / (b * b));
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

/*
 * Block sizes, and pairs of pads or crops, of the m dimensions behind the batch. The older operators have one block for
 * both dimensions of an image, as an attribute.
 */
static int read_blocks(Visit *v, int64_t *block, int64_t *pair)
{
	int n = 2, rank = node_need(v, 0)->shape.rank;
	bool old = node_has(v, "block_size");
	const Item *p = node_known(v, old ? 1 : 2);
	int64_t both[] = { 0, 0 }, all = 1; /* places of a block, a number of 32 bits */
	const int64_t *at = old ? both : tf_ints(v, 1, &n);
	both[0] = both[1] = old ? node_attr_int(v, "block_size", 0) : 0;
	if (node_ok(v) &&
		(n < 1 || n >= rank || shape_elements(p->shape) != 2 * n || !dtype_is_int(p->type) || rank + n > DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "its %d blocks do not go with an input of %d dimensions", n, rank);
	for (int k = 0; k < 2 * n && node_ok(v); k++) {
		pair[k] = element_get_int(p->type, p->data, k);
		block[k / 2] = at[k / 2];
		if (pair[k] < 0 || pair[k] > INT32_MAX || at[k / 2] < 1 || at[k / 2] > INT32_MAX / all)
			node_fail(v, ERR_INPUT, "its blocks or pads hold a number that is out of range");
		else if (k % 2 != 0)
			all *= at[k / 2];
	}
	for (int k = 0; k < rank && node_ok(v); k++) { /* products with blocks stay in 64 bits */
		int64_t dim = node_need(v, 0)->shape.dim[k];
		if (dim > INT32_MAX)
			node_fail(v, ERR_UNSUPPORTED, "its input has %lld elements along one dimension", (long long)dim);
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

/* The first version: a flag for each dimension. */
static void import_reverse_flags(Visit *v)
{
	int x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	const Item *flags = node_known(v, 1);
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK], size[DAG_MAX_RANK];
	if (node_ok(v) && shape_elements(flags->shape) != rank)
		node_fail(v, ERR_TYPE, "it needs a flag for each of its %d dimensions", rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		size[k] = node_val(v, x)->shape.dim[k];
		bool turned = element_get(flags->type, flags->data, k) != 0 && size[k] > 1;
		start[k] = turned ? size[k] - 1 : 0;
		step[k] = turned ? -1 : 1;
	}
	if (!node_ok(v))
		return;
	Attr attr[] = { attr_ints("starts", start, rank), attr_ints("steps", step, rank), attr_ints("sizes", size, rank) };
	node_set(v, 0, node_along(v, OP_slice, x, attr, 3));
}

/* Elements that leave a line at its end come in again at its begin. */
static void import_roll(Visit *v)
{
	int n, m, x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *by = tf_ints(v, 1, &n), *axes = tf_ints(v, 2, &m);
	if (node_ok(v) && n != m)
		node_fail(v, ERR_TYPE, "it has %d shifts for %d axes", n, m);
	for (int k = 0; k < n && node_ok(v); k++) {
		int axis = node_axis(v, axes[k], rank);
		int64_t size = node_ok(v) ? node_val(v, x)->shape.dim[axis] : 0, shift = size > 0 ? by[k] % size : 0;
		shift = shift < 0 ? shift + size : shift;
		if (shift == 0 || !node_ok(v))
			continue;
		int part[] = { node_slice(v, x, axis, size - shift, shift), node_slice(v, x, axis, 0, size - shift) };
		x = node_concat(v, part, 2, axis);
	}
	node_set(v, 0, x);
}

/* ---- windows of an image as its channels */

/* The numbers of rows and columns in a list for all dimensions. */
static void image_list(Visit *v, const char *name, int64_t *out)
{
	int n;
	const int64_t *at = node_attr_ints(v, name, &n);
	if (node_ok(v) && (n != 4 || at[0] != 1 || at[3] != 1 || at[1] < 1 || at[2] < 1 || at[1] > 4096 || at[2] > 4096))
		node_fail(v, ERR_UNSUPPORTED, "its attribute %s must be [1,rows,columns,1]", name);
	out[0] = node_ok(v) ? at[1] : 1;
	out[1] = node_ok(v) ? at[2] : 1;
}

/* Each place of the window is a slice of the image with steps; all are joined. */
static void import_patches(Visit *v)
{
	enum { MOST_PLACES = 1 << 10 };
	int x = tf_value(v, 0), n = 0;
	int64_t kernel[2], stride[2], rate[2], size[4], pads[8] = { 0 }, step[] = { 1, 1, 1, 1 };
	image_list(v, "ksizes", kernel);
	image_list(v, "strides", stride);
	image_list(v, "rates", rate);
	const char *padding = node_attr_text(v, "padding", "");
	bool same = strcmp(padding, "SAME") == 0;
	if (node_ok(v) && node_val(v, x)->shape.rank != 4)
		node_fail(v, ERR_TYPE, "its input is no batch of images");
	if (node_ok(v) && !same && strcmp(padding, "VALID") != 0)
		node_fail(v, ERR_UNSUPPORTED, "its attribute padding is '%.60s', not SAME or VALID", padding);
	if (node_ok(v) && kernel[0] * kernel[1] > MOST_PLACES)
		node_fail(v, ERR_UNSUPPORTED, "its windows have more than %d places", MOST_PLACES);
	if (!node_ok(v))
		return;
	memcpy(size, node_val(v, x)->shape.dim, sizeof size);
	for (int k = 0; k < 2; k++) {
		int64_t reach = (kernel[k] - 1) * rate[k] + 1, have = size[k + 1];
		int64_t out = same ? (have + stride[k] - 1) / stride[k] : have < reach ? 0 : (have - reach) / stride[k] + 1;
		int64_t more = same ? (out - 1) * stride[k] + reach - have : 0;
		more = more > 0 ? more : 0;
		pads[k + 1] = more / 2;
		pads[k + 5] = more - more / 2;
		size[k + 1] = out;
		step[k + 1] = stride[k];
		if (out < 1)
			node_fail(v, ERR_TYPE, "its window of %lld is larger than its image", (long long)reach);
	}
	Attr pad = attr_ints("pads", pads, 8);
	x = same ? node_call(v, OP_pad, &x, 1, &pad, 1) : x;
	int *part = arena_array(v->im->arena, int, MOST_PLACES);
	for (int64_t row = 0; row < kernel[0]; row++)
		for (int64_t column = 0; column < kernel[1]; column++) {
			int64_t start[] = { 0, row * rate[0], column * rate[1], 0 };
			Attr attr[] = { attr_ints("starts", start, 4), attr_ints("steps", step, 4), attr_ints("sizes", size, 4) };
			part[n++] = node_call(v, OP_slice, &x, 1, attr, 3);
		}
	node_set(v, 0, node_concat(v, part, n, 3));
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
	{ "SpaceToBatch", 0, "", import_space_to_batch },
	{ "BatchToSpace", 0, "", import_batch_to_space },
	{ "ExtractImagePatches", 0, "", import_patches },
	{ "Roll", 0, "", import_roll },
	{ "Reverse", 0, "", import_reverse_flags },
	{ "ReverseV2", 0, "", import_reverse },
	{ "ReverseSequence", 0, "", import_reverse_sequence },
	{ NULL, 0, NULL, NULL },
};
