/* Rows of layers that move elements of any number of dimensions, or make them from shapes. */
#include "frontend/coreml/calls.h"
#include "frontend/coreml/coreml.h"

#include "frontend/node/compose.h"
#include "op/element.h"

#include <math.h>
#include <string.h>

static void set_named(Visit *v, int y, int x)
{
	coreml_set(v, 0, y == x ? node_call1(v, OP_identity, x) : y);
}

static void import_transpose(Visit *v)
{
	const CoremlAxes *p = coreml_params(v, CoremlAxes);
	int x = coreml_value(v, 0), rank = node_val(v, x)->shape.rank;
	int64_t perm[DAG_MAX_RANK];
	bool seen[DAG_MAX_RANK] = { false };
	if (node_ok(v) && p->axes.n != (size_t)rank)
		node_fail(v, ERR_INPUT, "its axes are %zu, but its input has %d dimensions", p->axes.n, rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		perm[k] = node_axis(v, p->axes.at[k], rank);
		if (seen[perm[k]])
			node_fail(v, ERR_INPUT, "its axis %lld is given twice", (long long)perm[k]);
		seen[perm[k]] = true;
	}
	if (node_ok(v))
		set_named(v, node_transpose(v, x, perm), x);
}

/* The shape that a layer has, or its second input. */
static void import_reshape(Visit *v)
{
	const char *name = v->node->op;
	const CoremlTarget *p = v->node->source;
	int x = coreml_value(v, 0), n = -1, y = DAG_NONE;
	if (strcmp(name, "reshapeLike") == 0) {
		Shape s = node_need(v, 1)->shape;
		y = coreml_reshape(v, x, s.dim, s.rank, false);
	} else if (strcmp(name, "reshapeDynamic") == 0) {
		node_need(v, 1);
		const int64_t *dim = coreml_known(v, 1, &n);
		y = node_ok(v) ? coreml_reshape(v, x, dim, n, true) : DAG_NONE;
	} else {
		y = coreml_reshape(v, x, p->targetShape.at, (int)p->targetShape.n, strcmp(name, "rankPreservingReshape") == 0);
	}
	set_named(v, y, x);
}

static void import_squeeze(Visit *v)
{
	const CoremlSqueeze *p = coreml_params(v, CoremlSqueeze);
	int x = coreml_value(v, 0), y = coreml_squeeze(v, x, p->axes.at, p->squeezeAll ? -1 : (int)p->axes.n);
	if (node_ok(v) && node_val(v, y)->shape.rank == 0)
		y = node_view(v, y, 1, (int64_t[]){ 1 });
	set_named(v, y, x);
}

static void import_expand_dims(Visit *v)
{
	const CoremlAxes *p = coreml_params(v, CoremlAxes);
	int x = coreml_value(v, 0);
	set_named(v, coreml_expand_dims(v, x, p->axes.at, (int)p->axes.n), x);
}

static void import_flatten_2d(Visit *v)
{
	int x = coreml_value(v, 0);
	Shape s = node_val(v, x)->shape;
	int64_t given = coreml_params(v, CoremlAxis)->axis;
	int at = node_ok(v) && given == s.rank ? s.rank : node_axis(v, given, s.rank);
	if (node_ok(v))
		set_named(v, node_view(v, x, 2, (int64_t[]){ shape_product(&s, 0, at), shape_product(&s, at, s.rank) }), x);
}

static void import_concat(Visit *v)
{
	const CoremlConcatND *p = coreml_params(v, CoremlConcatND);
	int n = node_nin(v), *in = arena_array(v->im->arena, int, n + 1);
	node_need(v, 0);
	for (int k = 0; k < n; k++)
		in[k] = coreml_value(v, k);
	int axis = node_ok(v) ? node_axis(v, p->axis, node_val(v, in[0])->shape.rank) : 0;
	if (!node_ok(v))
		return;
	set_named(v, p->interleave && n > 1 ? coreml_interleave(v, in, n, axis) : node_concat(v, in, n, axis), in[0]);
}

static void import_stack(Visit *v)
{
	int n = node_nin(v), *in = arena_array(v->im->arena, int, n + 1);
	node_need(v, 0);
	for (int k = 0; k < n; k++)
		in[k] = coreml_value(v, k);
	if (node_ok(v))
		coreml_set(v, 0, coreml_stack(v, in, n, coreml_params(v, CoremlAxis)->axis));
}

static void import_split(Visit *v)
{
	const CoremlSplitND *p = coreml_params(v, CoremlSplitND);
	int x = coreml_value(v, 0), axis = node_axis(v, p->axis, node_val(v, x)->shape.rank);
	if (!node_ok(v))
		return;
	int64_t all = node_val(v, x)->shape.dim[axis], n = p->splitSizes.n > 0 ? (int64_t)p->splitSizes.n : p->numSplits;
	if (n < 1 || n > 1 << 16 || (p->splitSizes.n == 0 && all % n != 0)) {
		node_fail(v, ERR_TYPE, "axis %d of its input cannot be cut into %lld equal parts", axis, (long long)n);
		return;
	}
	int64_t *sizes = arena_array(v->im->arena, int64_t, n);
	for (int64_t k = 0; k < n; k++)
		sizes[k] = p->splitSizes.n > 0 ? p->splitSizes.at[k] : all / n;
	coreml_split(v, x, axis, sizes, (int)n, coreml_set);
}

/* ---- slices */

/* The list, or NULL where it is empty; else it must have an entry for each dimension. */
static const int64_t *entries(Visit *v, const WireInts *list, int rank)
{
	if (list->n != 0 && list->n < (size_t)rank)
		node_fail(v, ERR_INPUT, "its lists have %zu entries, but its input has %d dimensions", list->n, rank);
	return list->n == 0 ? NULL : list->at;
}

static void import_slice_static(Visit *v)
{
	const CoremlSliceStatic *p = coreml_params(v, CoremlSliceStatic);
	int x = coreml_value(v, 0), rank = node_val(v, x)->shape.rank;
	CoremlSlicing s = { entries(v, &p->beginIds, rank), entries(v, &p->endIds, rank), entries(v, &p->strides, rank),
		entries(v, &p->beginMasks, rank), entries(v, &p->endMasks, rank), entries(v, &p->squeezeMasks, rank) };
	if (node_ok(v) && (s.begin == NULL || s.end == NULL))
		node_fail(v, ERR_INPUT, "its bounds are missing");
	if (node_ok(v))
		set_named(v, coreml_slice(v, x, &s), x);
}

/* Bounds are inputs, which must be known: begin, end, strides, begin masks, end masks, squeeze masks. */
static void import_slice_dynamic(Visit *v)
{
	const CoremlSliceDynamic *p = coreml_params(v, CoremlSliceDynamic);
	int x = coreml_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *at[7] = { NULL };
	const WireInts *own[] = { NULL, NULL, &p->endIds, &p->strides, &p->beginMasks, &p->endMasks, &p->squeezeMasks };
	for (int k = 1; k < 7; k++) {
		int n;
		at[k] = coreml_known(v, k, &n);
		if (node_ok(v) && n >= 0 && n < rank)
			node_fail(v, ERR_TYPE, "its input %d has %d numbers, but %d are needed", k + 1, n, rank);
		if (n < 0 && own[k] != NULL)
			at[k] = entries(v, own[k], rank);
	}
	CoremlSlicing s = { at[1], at[2], at[3], at[4], at[5], at[6] };
	if (node_ok(v) && (s.begin == NULL || s.end == NULL))
		node_fail(v, ERR_INPUT, "its bounds are missing");
	if (node_ok(v))
		set_named(v, coreml_slice(v, x, &s), x);
}

static void import_slice_by_size(Visit *v)
{
	const CoremlSliceBySize *p = coreml_params(v, CoremlSliceBySize);
	int x = coreml_value(v, 0), n, axis = node_axis(v, p->axis, node_val(v, x)->shape.rank);
	node_need(v, 1);
	const int64_t *from = coreml_known(v, 1, &n);
	if (node_ok(v) && (n != 1 || p->size < 0 || from[0] < 0 || p->size > node_val(v, x)->shape.dim[axis] - from[0]))
		node_fail(v, ERR_TYPE, "its slice of %lld elements does not lie in axis %d", (long long)p->size, axis);
	if (node_ok(v))
		set_named(v, node_slice(v, x, axis, from[0], p->size), x);
}

static void import_windows(Visit *v)
{
	const CoremlSlidingWindows *p = coreml_params(v, CoremlSlidingWindows);
	coreml_set(v, 0, coreml_windows(v, coreml_value(v, 0), p->axis, p->windowSize, p->step == 0 ? 1 : p->step));
}

/* ---- repeated, reversed, cut, padded */

static void import_tile(Visit *v)
{
	const CoremlTile *p = coreml_params(v, CoremlTile);
	int x = coreml_value(v, 0), n;
	const int64_t *given = coreml_known(v, 1, &n);
	if (n < 0) {
		given = p->reps.at;
		n = (int)p->reps.n;
	}
	if (node_ok(v))
		set_named(v, coreml_tile(v, x, given, n), x);
}

static void import_reverse(Visit *v)
{
	const CoremlReverse *p = coreml_params(v, CoremlReverse);
	int x = coreml_value(v, 0), rank = node_val(v, x)->shape.rank;
	bool on[DAG_MAX_RANK] = { false };
	if (node_ok(v) && p->reverseDim.n != (size_t)rank)
		node_fail(v, ERR_INPUT, "its reverseDim has %zu entries for %d dimensions", p->reverseDim.n, rank);
	for (int k = 0; k < rank && node_ok(v); k++)
		on[k] = p->reverseDim.at[k] != 0;
	if (node_ok(v))
		set_named(v, coreml_reverse(v, x, on), x);
}

static void import_reverse_seq(Visit *v)
{
	const CoremlReverseSeq *p = coreml_params(v, CoremlReverseSeq);
	int x = coreml_value(v, 0), rank = node_val(v, x)->shape.rank, length = coreml_index(v, 1);
	coreml_set(v, 0,
		coreml_reverse_sequence(v, x, length, node_axis(v, p->batchAxis, rank), node_axis(v, p->sequenceAxis, rank)));
}

static void import_band(Visit *v)
{
	const char *name = v->node->op;
	int x = coreml_value(v, 0);
	if (strcmp(name, "matrixBandPart") == 0) {
		const CoremlMatrixBandPart *p = coreml_params(v, CoremlMatrixBandPart);
		set_named(v, coreml_band(v, x, p->numLower < 0 ? -1 : p->numLower, p->numUpper < 0 ? -1 : p->numUpper), x);
		return;
	}
	/* Row m and column n stay where n - m <= k, or n - m >= k. */
	int64_t diagonal = coreml_params(v, CoremlTriangle)->k;
	Shape s = node_val(v, x)->shape;
	bool lower = strcmp(name, "lowerTriangular") == 0;
	if (node_ok(v) && s.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 2 at least", s.rank);
	if (!node_ok(v))
		return;
	int behind = node_call2(v, OP_sub, node_count(v, s.dim[s.rank - 1], 1, 2), node_count(v, s.dim[s.rank - 2], 0, 2));
	int to = node_number(v, I64, (double)diagonal);
	int keep = node_call2(v, OP_less_equal, lower ? behind : to, lower ? to : behind);
	coreml_set(v, 0, node_where(v, keep, x, node_number(v, F32, 0)));
}

/* Amounts are begin and end of each dimension, or what each dimension grows to. */
static void import_constant_pad(Visit *v)
{
	const CoremlConstantPad *p = coreml_params(v, CoremlConstantPad);
	int x = coreml_value(v, 0), n, rank = node_val(v, x)->shape.rank;
	const int64_t *given = coreml_known(v, 1, &n);
	int64_t pads[2 * DAG_MAX_RANK];
	if (n < 0) {
		given = p->padAmounts.at;
		n = (int)p->padAmounts.n;
	}
	if (node_ok(v) && n != 2 * rank)
		node_fail(v, ERR_INPUT, "it has %d amounts for %d dimensions", n, rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		pads[k] = coreml_size(v, "amount", given[2 * k], 0);
		pads[rank + k] = coreml_size(v, "amount", given[2 * k + 1], 0);
		if (!p->padToGivenOutputSizeMode)
			continue;
		/* The first number grows the dimension at its begin, the second at its end; 0: not. */
		int64_t size = node_val(v, x)->shape.dim[k];
		pads[k] = given[2 * k] > size ? given[2 * k] - size : 0;
		pads[rank + k] = given[2 * k + 1] > size ? given[2 * k + 1] - size : 0;
	}
	Attr attr[] = { attr_ints("pads", pads, 2 * rank), attr_float("value", import_number(F32, &p->value)) };
	if (node_ok(v))
		coreml_set(v, 0, node_call(v, OP_pad, &x, 1, attr, 2));
}

/* ---- shapes and what is made from them */

static void import_get_shape(Visit *v)
{
	int x = coreml_value(v, 0);
	Shape s = node_val(v, x)->shape;
	int64_t rank = s.rank;
	float *at = arena_array(v->im->arena, float, DAG_MAX_RANK);
	for (int k = 0; k < s.rank; k++)
		at[k] = (float)s.dim[k];
	if (node_ok(v) && coreml_file(v)->rank5)
		node_fail(v, ERR_UNSUPPORTED, "its result has 1 dimension in a network whose arrays are mapped to 5");
	node_set_known(v, 0, F32, shape_of(1, &rank), at);
}

static void set_filled(Visit *v, const int64_t *dim, int n, float value)
{
	Shape s = { .rank = n };
	if (node_ok(v) && n > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its shape has %d dimensions; dlc takes at most %d", n, DAG_MAX_RANK);
	for (int k = 0; k < n && node_ok(v); k++)
		s.dim[k] = coreml_size(v, "shape", dim[k], 0);
	if (node_ok(v) && import_check_size(v->im, "result of layer", v->node->name, F32, s))
		coreml_set(v, 0, node_expand(v, node_number(v, F32, import_number(F32, &value)), s));
}

static void import_fill(Visit *v)
{
	const char *name = v->node->op;
	int n;
	if (strcmp(name, "fillStatic") == 0) {
		const CoremlFillStatic *p = coreml_params(v, CoremlFillStatic);
		set_filled(v, p->targetShape.at, (int)p->targetShape.n, p->value);
	} else if (strcmp(name, "fillLike") == 0) {
		Shape s = node_val(v, coreml_value(v, 0))->shape;
		set_filled(v, s.dim, s.rank, coreml_params(v, CoremlFill)->value);
	} else {
		node_need(v, 0);
		const int64_t *dim = coreml_known(v, 0, &n);
		set_filled(v, dim, n, coreml_params(v, CoremlFill)->value);
	}
}

static void import_broadcast(Visit *v)
{
	const char *name = v->node->op;
	const CoremlTarget *p = v->node->source;
	int x = coreml_value(v, 0), n;
	Shape to = { .rank = 0 };
	if (strcmp(name, "broadcastToLike") == 0) {
		to = node_val(v, coreml_value(v, 1))->shape;
	} else if (strcmp(name, "broadcastToDynamic") == 0) {
		node_need(v, 1);
		const int64_t *dim = coreml_known(v, 1, &n);
		to = node_ok(v) ? coreml_shape(v, &(WireInts){ (int64_t *)(uintptr_t)dim, (size_t)n, (size_t)n }) : to;
	} else {
		to = coreml_shape(v, &p->targetShape);
	}
	if (node_ok(v))
		set_named(v, node_expand(v, x, to), x);
}

/* Numbers from `start` below `end`; inputs, where there are some, are end, start and step. */
static void import_range(Visit *v)
{
	enum { MOST = 1 << 22 };
	bool fixed = strcmp(v->node->op, "rangeStatic") == 0;
	const CoremlRangeStatic *s = v->node->source;
	const CoremlRangeDynamic *d = v->node->source;
	double at[] = { fixed ? s->endValue : 0, fixed ? s->startValue : d->startValue,
		fixed ? s->stepSizeValue : d->stepSizeValue };
	for (int k = 0; k < 3 && k < node_nin(v); k++) {
		const Item *it = node_known(v, k);
		if (node_ok(v) && shape_elements(it->shape) != 1)
			node_fail(v, ERR_TYPE, "its input %d is not one number", k + 1);
		if (node_ok(v))
			at[k] = element_get(it->type, it->data, 0);
	}
	double count = ceil((at[0] - at[1]) / at[2]);
	if (node_ok(v) && !(at[2] != 0 && count <= MOST && count > -INFINITY))
		node_fail(v, ERR_INPUT, "it counts from %g to %g by %g", at[1], at[0], at[2]);
	if (!node_ok(v))
		return;
	int64_t n = count < 0 ? 0 : (int64_t)count;
	float *to = arena_array(v->im->arena, float, n + 1);
	for (int64_t i = 0; i < n; i++)
		to[i] = (float)(at[1] + (double)i * at[2]);
	node_set_known(v, 0, F32, shape_of(1, &n), to);
}

const NodeRow coreml_move_rows[] = {
	{ "transpose", 0, "", import_transpose },
	{ "reshapeStatic", 0, "", import_reshape },
	{ "reshapeLike", 0, "", import_reshape },
	{ "reshapeDynamic", 0, "", import_reshape },
	{ "rankPreservingReshape", 0, "", import_reshape },
	{ "squeeze", 0, "", import_squeeze },
	{ "expandDims", 0, "", import_expand_dims },
	{ "flattenTo2D", 0, "", import_flatten_2d },
	{ "concatND", 0, "", import_concat },
	{ "stack", 0, "", import_stack },
	{ "splitND", 0, "", import_split },
	{ "sliceStatic", 0, "", import_slice_static },
	{ "sliceDynamic", 0, "", import_slice_dynamic },
	{ "sliceBySize", 0, "", import_slice_by_size },
	{ "slidingWindows", 0, "", import_windows },
	{ "tile", 0, "", import_tile },
	{ "reverse", 0, "", import_reverse },
	{ "reverseSeq", 0, "", import_reverse_seq },
	{ "matrixBandPart", 0, "", import_band },
	{ "lowerTriangular", 0, "", import_band },
	{ "upperTriangular", 0, "", import_band },
	{ "constantPad", 0, "", import_constant_pad },
	{ "getShape", 0, "", import_get_shape },
	{ "fillStatic", 0, "", import_fill },
	{ "fillLike", 0, "", import_fill },
	{ "fillDynamic", 0, "", import_fill },
	{ "broadcastToStatic", 0, "", import_broadcast },
	{ "broadcastToLike", 0, "", import_broadcast },
	{ "broadcastToDynamic", 0, "", import_broadcast },
	{ "rangeStatic", 0, "", import_range },
	{ "rangeDynamic", 0, "", import_range },
	{ NULL, 0, NULL, NULL },
};
