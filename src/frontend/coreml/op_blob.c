/*
 * Rows of the layers of before 2019 that move elements of [sequence,batch,C,H,W]. In a network of rank 5 the first two
 * dimensions are one (coreml.h).
 */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/coreml.h"

#include "frontend/node/compose.h"

enum { CHANNEL_FIRST, CHANNEL_LAST };

/* [N,C,H,W] -> [N,H,W,C] */
static int channels_last(Visit *v, int x)
{
	return node_transpose(v, x, (int64_t[]){ 0, 2, 3, 1 });
}

static void import_flatten(Visit *v)
{
	Blob b = coreml_blob(v, 0);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, b.x)->shape;
	int x = coreml_params(v, CoremlMode)->mode == CHANNEL_LAST ? channels_last(v, b.x) : b.x;
	coreml_set_blob(v, 0, node_view(v, x, 4, (int64_t[]){ s.dim[0], shape_product(&s, 1, 4), 1, 1 }), &b);
}

/* Of three numbers the shape is that of an image, of four the first one is the sequence. -1 is what is left. */
static void import_reshape(Visit *v)
{
	const CoremlReshape *p = coreml_params(v, CoremlReshape);
	size_t n = p->targetShape.n;
	Blob b = coreml_blob(v, 0);
	if (node_ok(v) && n != 3 && n != 4)
		node_fail(v, ERR_INPUT, "its targetShape has %zu numbers, not 3 or 4", n);
	if (!node_ok(v))
		return;
	Shape s = node_val(v, b.x)->shape;
	const int64_t *to = &p->targetShape.at[n - 3], batch = coreml_file(v)->batch;
	bool last = p->mode == CHANNEL_LAST;
	int64_t lead = n == 3 ? s.dim[0] : coreml_size(v, "targetShape", p->targetShape.at[0], 1);
	if (n == 4 && s.dim[0] != coreml_steps(v, s.dim[0]) * batch)
		node_fail(v, ERR_UNSUPPORTED, "it changes the sequence of a batch");
	if (n == 4 && node_ok(v) && (batch != 1 || !coreml_file(v)->rank5))
		node_fail(
			v, ERR_UNSUPPORTED, "it changes the sequence, which dlc does for one batch in networks of rank 5 only");
	int64_t first[] = { lead, to[0], to[1], to[2] }, turned[] = { lead, to[1], to[2], to[0] };
	int y = coreml_reshape(v, last ? channels_last(v, b.x) : b.x, last ? turned : first, 4, false);
	if (last)
		y = node_transpose(v, y, (int64_t[]){ 0, 3, 1, 2 });
	coreml_set_blob(v, 0, y, &b);
}

/* Dimensions 0 to 3 are the sequence, C, H and W. */
static void import_permute(Visit *v)
{
	const CoremlPermute *p = coreml_params(v, CoremlPermute);
	Blob b = coreml_blob(v, 0);
	int64_t perm[5] = { 0, 1, 2, 3, 4 };
	bool seen[4] = { false };
	if (p->axis.n != 0 && p->axis.n != 4)
		node_fail(v, ERR_INPUT, "its axis has %zu numbers, not 4", p->axis.n);
	for (size_t k = 0; k < p->axis.n && node_ok(v); k++) {
		int64_t at = p->axis.at[k];
		if (at < 0 || at > 3 || seen[at])
			node_fail(v, ERR_INPUT, "its axis is no order of 0, 1, 2 and 3");
		else
			seen[at] = true;
	}
	if (!node_ok(v))
		return;
	for (size_t k = 0; k < p->axis.n; k++)
		perm[k == 0 ? 0 : k + 1] = p->axis.at[k] == 0 ? 0 : p->axis.at[k] + 1;
	Shape s = node_val(v, b.x)->shape;
	if (perm[0] == 0) {
		int64_t four[] = { 0, perm[2] - 1, perm[3] - 1, perm[4] - 1 };
		coreml_set_blob(v, 0, node_transpose(v, b.x, four), &b);
		return;
	}
	if (!coreml_file(v)->rank5 && b.lead.rank != 2) {
		node_fail(v, ERR_TYPE, "it moves the sequence, but its input has %d dimensions, not 5", b.lead.rank + 3);
		return;
	}
	int64_t batch = coreml_file(v)->rank5 ? coreml_file(v)->batch : b.lead.dim[1];
	int y = node_view(v, b.x, 5, (int64_t[]){ s.dim[0] / batch, batch, s.dim[1], s.dim[2], s.dim[3] });
	y = node_transpose(v, y, perm);
	if (coreml_file(v)->rank5)
		coreml_set(v, 0, y);
	else
		node_set(v, 0, y);
}

static void import_concat(Visit *v)
{
	const CoremlConcat *p = coreml_params(v, CoremlConcat);
	int n = node_nin(v), *in = arena_array(v->im->arena, int, n + 1), rank = node_need(v, 0)->shape.rank;
	int axis = p->sequenceConcat ? (coreml_file(v)->rank5 ? 0 : rank - 5) : rank - 3;
	for (int k = 0; k < n; k++) {
		if (node_need(v, k)->shape.rank != rank || axis < 0)
			node_fail(v, ERR_TYPE, "its inputs have no dimension along which it joins");
		in[k] = node_value(v, k);
	}
	int y = node_ok(v) ? node_concat(v, in, n, axis) : DAG_NONE;
	node_set(v, 0, n == 1 ? node_call1(v, OP_identity, y) : y);
}

static void import_split(Visit *v)
{
	int64_t n = coreml_params(v, CoremlSplit)->nOutputs;
	const Item *it = node_need(v, 0);
	int axis = it->shape.rank - 3;
	if (node_ok(v) && (axis < 0 || n < 1 || n > 1 << 16 || it->shape.dim[axis] % n != 0))
		node_fail(v, ERR_TYPE, "its input cannot be cut into %lld parts of equal channels", (long long)n);
	if (!node_ok(v))
		return;
	int64_t *sizes = arena_array(v->im->arena, int64_t, n);
	for (int64_t k = 0; k < n; k++)
		sizes[k] = it->shape.dim[axis] / n;
	coreml_split(v, node_value(v, 0), axis, sizes, (int)n, node_set);
}

static void import_sequence_repeat(Visit *v)
{
	int64_t times = coreml_params(v, CoremlSequenceRepeat)->nRepetitions;
	const Item *it = node_need(v, 0);
	int rank = it->shape.rank, axis = coreml_file(v)->rank5 ? 0 : rank - 5;
	int64_t each[DAG_MAX_RANK];
	if (node_ok(v) && axis < 0)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 5", rank);
	for (int k = 0; k < rank; k++)
		each[k] = k == axis && times > 0 ? times : 1;
	int y = coreml_tile(v, node_value(v, 0), each, rank);
	node_set(v, 0, times <= 1 ? node_call1(v, OP_identity, y) : y);
}

static void import_reorganize(Visit *v)
{
	static const Rearrangement kinds[] = { SPACE_TO_DEPTH, DEPTH_TO_SPACE, PIXEL_SHUFFLE };
	const CoremlReorganizeData *p = coreml_params(v, CoremlReorganizeData);
	Blob b = coreml_blob(v, 0);
	if (p->mode < 0 || p->mode > 2)
		node_fail(v, ERR_UNSUPPORTED, "its mode %lld is not known", (long long)p->mode);
	if (node_ok(v))
		coreml_set_blob(v, 0, coreml_rearrange(v, b.x, kinds[p->mode], p->blockSize), &b);
}

static void import_slice(Visit *v)
{
	const CoremlSlice *p = coreml_params(v, CoremlSlice);
	int rank = node_need(v, 0)->shape.rank, axis = rank - 3 + (int)(p->axis & 3);
	int64_t begin[DAG_MAX_RANK], end[DAG_MAX_RANK], stride[DAG_MAX_RANK], whole[DAG_MAX_RANK];
	if (node_ok(v) && (p->axis < 0 || p->axis > 2 || axis < 0))
		node_fail(v, ERR_INPUT, "its axis %lld is none of its input", (long long)p->axis);
	for (int k = 0; k < rank; k++) {
		begin[k] = k == axis ? p->startIndex : 0;
		end[k] = k == axis ? p->endIndex : 0;
		stride[k] = k == axis && p->stride > 0 ? p->stride : 1;
		whole[k] = k != axis;
	}
	CoremlSlicing s = { .begin = begin, .end = end, .stride = stride, .to_edge = whole };
	int x = node_value(v, 0), y = node_ok(v) ? coreml_slice(v, x, &s) : DAG_NONE;
	node_set(v, 0, y == x ? node_call1(v, OP_identity, x) : y);
}

const NodeRow coreml_blob_rows[] = {
	{ "flatten", 0, "", import_flatten },
	{ "reshape", 0, "", import_reshape },
	{ "permute", 0, "", import_permute },
	{ "concat", 0, "", import_concat },
	{ "split", 0, "", import_split },
	{ "sequenceRepeat", 0, "", import_sequence_repeat },
	{ "reorganizeData", 0, "", import_reorganize },
	{ "slice", 0, "", import_slice },
	{ NULL, 0, NULL, NULL },
};
