/*
 * Rows of functions of keras.ops that move elements: parts of a tensor, other orders, copies. Those of tf.keras 2 come
 * here too, by tf_function.c.
 */
#include "frontend/keras/function.h"

#include <string.h>

static void import_reshape(Visit *v)
{
	int count, open = -1, x = keras_value(v, 0);
	const int64_t *dim = node_attr_ints(v, "newshape", &count);
	Shape s = node_val(v, x)->shape, to = { .rank = count };
	int64_t known = 1;
	if (node_ok(v) && (count < 0 || count > DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its newshape has %d numbers", count);
	if (!node_ok(v))
		return;
	for (int k = 0; k < count; k++) {
		if (dim[k] < -1 || (dim[k] == -1 && open >= 0))
			node_fail(v, ERR_INPUT, "its newshape has the size %lld as dimension %d", (long long)dim[k], k);
		to.dim[k] = dim[k] < 0 ? 1 : dim[k];
		open = dim[k] < 0 ? k : open;
	}
	if (!node_ok(v))
		return;
	known = shape_product(&to, 0, to.rank);
	if (open >= 0 && known > 0)
		to.dim[open] = shape_product(&s, 0, s.rank) / known;
	if (shape_product(&to, 0, to.rank) != shape_product(&s, 0, s.rank))
		node_fail(v, ERR_TYPE, "its newshape does not have the elements of its input");
	node_set(v, 0, node_reshape(v, x, to));
}

static void import_transpose(Visit *v)
{
	int count, x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *axes = node_attr_ints(v, "axes", &count);
	int64_t perm[DAG_MAX_RANK];
	bool used[DAG_MAX_RANK] = { false };
	if (count >= 0 && count != rank)
		node_fail(v, ERR_INPUT, "its axes are %d numbers, but its input has %d dimensions", count, rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		perm[k] = count < 0 ? rank - 1 - k : node_axis(v, axes[k], rank);
		if (node_ok(v) && used[perm[k]])
			node_fail(v, ERR_INPUT, "its axes name one twice");
		used[perm[k]] = true;
	}
	if (node_ok(v))
		node_set(v, 0, node_transpose(v, x, perm));
}

static void import_expand_dims(Visit *v)
{
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape, to = { .rank = s.rank + 1 };
	int count;
	const int64_t *at = node_attr_ints(v, "axis", &count);
	if (node_ok(v) && (count != 1 || s.rank >= DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "it adds %d dimensions to %d", count, s.rank);
	int axis = count == 1 ? node_axis(v, at[0], to.rank) : 0;
	if (!node_ok(v))
		return;
	for (int k = 0; k < to.rank; k++)
		to.dim[k] = k == axis ? 1 : s.dim[k - (k > axis)];
	node_set(v, 0, node_reshape(v, x, to));
}

static void import_squeeze(Visit *v)
{
	int count, x = keras_value(v, 0);
	const int64_t *at = node_attr_ints(v, "axis", &count);
	Shape s = node_val(v, x)->shape, to = { 0 };
	for (int k = 0; k < s.rank && node_ok(v); k++) {
		bool gone = count < 0 && s.dim[k] == 1;
		for (int i = 0; i < count && node_ok(v); i++)
			gone |= node_axis(v, at[i], s.rank) == k;
		if (gone && s.dim[k] != 1)
			node_fail(v, ERR_TYPE, "it removes a dimension of %lld elements", (long long)s.dim[k]);
		if (!gone)
			to.dim[to.rank++] = s.dim[k];
	}
	if (node_ok(v))
		node_set(v, 0, node_reshape(v, x, to));
}

static void import_concatenate(Visit *v)
{
	static const char *const names[] = { "values", "xs", NULL };
	int *x, n = keras_listed(v, names, &x);
	int rank = n > 0 ? node_val(v, x[0])->shape.rank : 0, axis = node_axis(v, node_attr_int(v, "axis", -1), rank);
	for (int k = 1; k < n && node_ok(v); k++)
		if (node_val(v, x[k])->shape.rank != rank)
			node_fail(v, ERR_TYPE, "its inputs have %d and %d dimensions", rank, node_val(v, x[k])->shape.rank);
	if (node_ok(v))
		node_set(v, 0, n == 1 ? x[0] : node_axis_call(v, OP_concat, x, n, axis, NULL, 0));
}

/* ---- parts */

typedef struct Part {
	int64_t start[DAG_MAX_RANK], step[DAG_MAX_RANK];
	Shape size;   /* of the slice */
	Shape result; /* with new dimensions, without those of one index */
} Part;

static bool is_class(const Json *j, const char *class)
{
	const Json *at = json_find(j, "class_name");
	return at != NULL && at->kind == JV_TEXT && strcmp(at->text, class) == 0;
}

static int64_t bounded(int64_t x, int64_t least, int64_t most)
{
	return x < least ? least : x > most ? most : x;
}

static int64_t number_or(Visit *v, const Json *slice, const char *name, int64_t otherwise)
{
	const Json *at = json_find(slice, name);
	if (at == NULL || at->kind == JV_NULL)
		return otherwise;
	if (at->kind != JV_INT)
		node_fail(v, ERR_UNSUPPORTED, "a %s of its slices is no number", name);
	return at->kind == JV_INT ? at->i : otherwise;
}

/* Dimension d is cut by start:stop:step, as in Python, or has one index. */
static void cut(Visit *v, const Json *j, int64_t n, int d, Part *p)
{
	if (j->kind == JV_INT) {
		int64_t at = j->i < 0 ? j->i + n : j->i;
		if (at < 0 || at >= n)
			node_fail(v, ERR_TYPE, "its index %lld is not in dimension %d of %lld elements", (long long)j->i, d,
				(long long)n);
		p->start[d] = at;
		p->size.dim[d] = 1;
		return;
	}
	const Json *slice = is_class(j, "__slice__") ? json_find(j, "config") : j;
	int64_t step = number_or(v, slice, "step", 1);
	if (slice == NULL || slice->kind != JV_OBJECT || step == 0 || step == INT64_MIN) {
		node_fail(v, ERR_UNSUPPORTED, "its index is no number and no slice of numbers");
		return;
	}
	int64_t from = number_or(v, slice, "start", step > 0 ? 0 : n - 1), to = number_or(v, slice, "stop", INT64_MAX);
	const Json *stop = json_find(slice, "stop");
	bool open = stop == NULL || stop->kind == JV_NULL;
	from = bounded(from < 0 ? from + n : from, step > 0 ? 0 : -1, step > 0 ? n : n - 1);
	to = open ? (step > 0 ? n : -1) : bounded(to < 0 ? to + n : to, step > 0 ? 0 : -1, step > 0 ? n : n - 1);
	int64_t way = step > 0 ? to - from : from - to, stride = step > 0 ? step : -step;
	p->start[d] = from;
	p->step[d] = step;
	p->size.dim[d] = way > 0 ? (way - 1) / stride + 1 : 0;
	if (node_ok(v) && way <= 0)
		node_fail(v, ERR_TYPE, "its slice of dimension %d is empty", d);
	p->result.dim[p->result.rank++] = p->size.dim[d];
}

/* x[1:5, -1, ..., None] */
static void import_get_item(Visit *v)
{
	const Json *spec = keras_argument(v, 1, "key");
	spec = spec != NULL ? spec : keras_json(v, "slice_spec");
	int x = keras_value(v, 0), d = 0, taken = 0;
	Shape s = node_val(v, x)->shape;
	Part p = { .size = s };
	if (node_ok(v) && spec == NULL)
		node_fail(v, ERR_UNSUPPORTED, "its index is not in the file");
	if (node_nin(v) > 1)
		node_fail(v, ERR_UNSUPPORTED, "its index is a tensor");
	if (!node_ok(v))
		return;
	for (int k = 0; k < s.rank; k++)
		p.step[k] = 1;
	bool many = spec->kind == JV_ARRAY;
	size_t n = many ? spec->list.n : 1;
	for (size_t k = 0; k < n; k++) {
		const Json *j = many ? spec->list.at[k] : spec;
		taken += j->kind != JV_NULL && !is_class(j, "__ellipsis__");
	}
	if (taken > s.rank || n > DAG_MAX_RANK)
		node_fail(v, ERR_TYPE, "it has %d indices, but its input %d dimensions", taken, s.rank);
	for (size_t k = 0; k < n && node_ok(v); k++) {
		const Json *j = many ? spec->list.at[k] : spec;
		if (is_class(j, "__ellipsis__"))
			for (int rest = s.rank - taken; rest > 0 && p.result.rank < DAG_MAX_RANK; rest--)
				p.result.dim[p.result.rank++] = s.dim[d++];
		else if (p.result.rank == DAG_MAX_RANK)
			node_fail(v, ERR_TYPE, "its result has too many dimensions");
		else if (j->kind == JV_NULL)
			p.result.dim[p.result.rank++] = 1;
		else if (d < s.rank) {
			cut(v, j, s.dim[d], d, &p);
			d++;
		}
	}
	for (; d < s.rank && p.result.rank < DAG_MAX_RANK; d++)
		p.result.dim[p.result.rank++] = s.dim[d];
	if (!node_ok(v))
		return;
	Attr attr[] = { attr_ints("starts", p.start, s.rank), attr_ints("steps", p.step, s.rank),
		attr_ints("sizes", p.size.dim, s.rank) };
	if (!shape_eq(p.size, s) || memchr(p.step, 0xff, sizeof *p.step * (size_t)s.rank) != NULL)
		x = node_along(v, OP_slice, x, attr, 3);
	node_set(v, 0, node_reshape(v, x, p.result));
}

/* Equal parts, parts that end at indices, or (tf) parts of given sizes. */
static void import_split(Visit *v)
{
	bool sizes = node_has(v, "num_or_size_splits");
	int count, x = keras_value(v, 0);
	const int64_t *at = node_attr_ints(v, sizes ? "num_or_size_splits" : "indices_or_sections", &count);
	const Json *given = keras_json(v, sizes ? "num_or_size_splits" : "indices_or_sections");
	Shape s = node_val(v, x)->shape;
	int axis = keras_axis(v, s.rank, 0);
	int64_t from = 0, n = node_ok(v) ? s.dim[axis] : 0;
	bool equal = given != NULL && given->kind == JV_INT;
	int64_t all = 0;
	if (node_ok(v) && (count < 0 || (equal && (at[0] < 1 || n % at[0] != 0))))
		node_fail(v, ERR_INPUT, "its parts do not fit dimension %d of %lld elements", axis, (long long)n);
	for (int k = 0; k < count && node_ok(v); k++) {
		all += at[k] > 0 && sizes ? at[k] : 0;
		if (!equal && (at[k] < -1 || at[k] > n || all > n))
			node_fail(v, ERR_INPUT, "its number %lld does not fit dimension %d of %lld elements", (long long)at[k],
				axis, (long long)n);
	}
	int parts = !node_ok(v) ? 0 : equal ? node_nout(v) : sizes ? count : count + 1;
	for (int k = 0; k < parts && (!equal || k < at[0]) && node_ok(v); k++) {
		int64_t size = equal ? n / at[0] : sizes ? at[k] : (k < count ? at[k] : n) - from;
		if (sizes && size == -1) {
			size = n;
			for (int i = 0; i < count; i++)
				size -= i == k ? 0 : at[i];
		}
		if (size < 1 || size > n - from)
			node_fail(v, ERR_INPUT, "its part %d would have %lld elements", k, (long long)size);
		else if (k < node_nout(v) && node_used(v, k))
			node_set(v, k, node_slice(v, x, axis, from, size));
		from += size;
	}
}

static void import_stack(Visit *v)
{
	static const char *const names[] = { "values", "x", NULL };
	int *x, n = keras_listed(v, names, &x);
	Shape s = node_val(v, n > 0 ? x[0] : DAG_NONE)->shape, to = { .rank = s.rank + 1 };
	int axis = keras_axis(v, to.rank, 0);
	if (node_ok(v) && to.rank > DAG_MAX_RANK)
		node_fail(v, ERR_TYPE, "its result has too many dimensions");
	for (int k = 0; k < to.rank && node_ok(v); k++)
		to.dim[k] = k == axis ? 1 : s.dim[k - (k > axis)];
	for (int k = 0; k < n && node_ok(v); k++) {
		char have[160], need[160];
		Shape other = node_val(v, x[k])->shape;
		if (!shape_eq(other, s))
			node_fail(v, ERR_TYPE, "its inputs have the shapes %s and %s", shape_str(s, need), shape_str(other, have));
		x[k] = node_reshape(v, x[k], to);
	}
	if (node_ok(v))
		node_set(v, 0, node_concat(v, x, n, axis));
}

static void import_unstack(Visit *v)
{
	int x = keras_value(v, 0), axis = keras_axis(v, node_val(v, x)->shape.rank, 0);
	Shape s = node_val(v, x)->shape, to = { .rank = s.rank - 1 };
	for (int k = 0; k < to.rank && node_ok(v); k++)
		to.dim[k] = s.dim[k + (k >= axis)];
	for (int k = 0; node_ok(v) && k < s.dim[axis] && k < node_nout(v); k++)
		if (node_used(v, k))
			node_set(v, k, node_reshape(v, node_slice(v, x, axis, k, 1), to));
}

/* ---- more elements, and others */

static void import_pad(Visit *v)
{
	const Json *pairs = keras_json(v, "pad_width"), *value = keras_argument(v, -1, "constant_values");
	const char *word = node_attr_text(v, "mode", "constant"), *mode = strcasecmp(word, "constant") == 0  ? "constant"
	                                                                  : strcasecmp(word, "reflect") == 0 ? "reflect"
	                                                                  : strcasecmp(word, "edge") == 0    ? "edge"
	                                                                                                     : NULL;
	int x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	int64_t pads[2 * DAG_MAX_RANK] = { 0 };
	double fill = value == NULL            ? 0
	              : value->kind == JV_INT  ? (double)value->i
	              : value->kind == JV_REAL ? value->real
	                                       : 0;
	bool ok = pairs != NULL && pairs->kind == JV_ARRAY && pairs->list.n == (size_t)rank;
	node_has(v, "constant_values");
	for (int k = 0; k < 2 * rank && ok && node_ok(v); k++) {
		const Json *pair = pairs->list.at[k / 2];
		const Json *at = pair->kind == JV_ARRAY && pair->list.n == 2 ? pair->list.at[k % 2] : pair;
		ok = at->kind == JV_INT && at->i >= 0 && at->i <= INT32_MAX;
		pads[k % 2 * rank + k / 2] = ok ? at->i : 0;
	}
	if (mode == NULL)
		node_fail(v, ERR_UNSUPPORTED, "its mode '%.20s' is not supported", word);
	if (node_ok(v) && !ok)
		node_fail(v, ERR_INPUT, "its pads are not a pair of numbers for each of %d dimensions", rank);
	if (!node_ok(v))
		return;
	Attr attr[] = { attr_ints("pads", pads, 2 * rank), attr_float("value", fill), attr_text("mode", mode) };
	node_set(v, 0, node_along(v, OP_pad, x, attr, 3));
}

/* x, times times along an axis */
static int repeated(Visit *v, int x, int axis, int64_t times)
{
	int64_t n = node_ok(v) ? node_val(v, x)->shape.dim[axis] : 0;
	if (node_ok(v) && (times < 1 || n < 1 || times > (1 << 20) / n))
		node_fail(v, ERR_INPUT, "it repeats %lld elements %lld times", (long long)n, (long long)times);
	int *part = arena_array(v->im->arena, int, node_ok(v) ? times + 1 : 1);
	for (int64_t k = 0; k < times && node_ok(v); k++)
		part[k] = x;
	return node_ok(v) ? node_concat(v, part, (int)times, axis) : x;
}

static void import_tile(Visit *v)
{
	int count, x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *times = node_attr_ints(v, "repeats", &count);
	if (node_ok(v) && count != rank)
		node_fail(v, ERR_UNSUPPORTED, "it repeats %d dimensions of %d", count, rank);
	for (int k = 0; k < rank && node_ok(v); k++)
		x = repeated(v, x, k, times[k]);
	node_set(v, 0, x);
}

/* Each element along an axis several times. */
static void import_repeat(Visit *v)
{
	int64_t times = node_attr_int(v, "repeats", 1);
	int x = keras_value(v, 0);
	Shape s = node_val(v, x)->shape, wide = { .rank = s.rank + 1 };
	if (!node_has(v, "axis") || s.rank >= DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "it repeats without an axis, or too many dimensions");
	int axis = keras_axis(v, s.rank, 0);
	if (!node_ok(v))
		return;
	for (int k = 0; k < wide.rank; k++)
		wide.dim[k] = k <= axis ? s.dim[k] : k == axis + 1 ? 1 : s.dim[k - 1];
	x = repeated(v, node_reshape(v, x, wide), axis + 1, times);
	if (!node_ok(v))
		return;
	s.dim[axis] *= times;
	node_set(v, 0, node_reshape(v, x, s));
}

static void import_cumulative(Visit *v)
{
	bool product = strcmp(v->node->op, "Cumprod") == 0;
	int x = keras_value(v, 0);
	x = node_cast(v, x, keras_type_or(v, node_val(v, x)->type));
	if (!node_has(v, "axis"))
		node_fail(v, ERR_UNSUPPORTED, "it has no axis");
	Attr attr[] = { attr_int("axis", keras_axis(v, node_val(v, x)->shape.rank, 0)),
		attr_int("exclusive", node_attr_flag(v, "exclusive", false)),
		attr_int("reverse", node_attr_flag(v, "reverse", false)), attr_text("kind", product ? "prod" : "sum") };
	node_set(v, 0, node_call(v, OP_scan, &x, 1, attr, 4));
}

static void import_flip(Visit *v)
{
	int count, x = keras_value(v, 0);
	const int64_t *at = node_attr_ints(v, "axis", &count);
	Shape s = node_val(v, x)->shape;
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK];
	for (int k = 0; k < s.rank; k++)
		step[k] = 1;
	for (int k = 0; k < (count < 0 ? s.rank : count) && node_ok(v); k++) {
		int axis = count < 0 ? k : node_axis(v, at[k], s.rank);
		start[axis] = s.dim[axis] - 1;
		step[axis] = -1;
	}
	Attr attr[] = { attr_ints("starts", start, s.rank), attr_ints("steps", step, s.rank),
		attr_ints("sizes", s.dim, s.rank) };
	node_set(v, 0, node_along(v, OP_slice, x, attr, 3));
}

/* Elements move by `shift` along an axis; those that leave come in at the other end. */
static void import_roll(Visit *v)
{
	int64_t shift = node_attr_int(v, "shift", 0);
	int x = keras_value(v, 0);
	if (!node_has(v, "axis"))
		node_fail(v, ERR_UNSUPPORTED, "it has no axis");
	int axis = keras_axis(v, node_val(v, x)->shape.rank, 0);
	int64_t n = node_ok(v) ? node_val(v, x)->shape.dim[axis] : 1;
	shift = n > 0 ? (shift % n + n) % n : 0;
	if (!node_ok(v) || shift == 0) {
		node_set(v, 0, x);
		return;
	}
	int part[] = { node_slice(v, x, axis, n - shift, shift), node_slice(v, x, axis, 0, n - shift) };
	node_set(v, 0, node_concat(v, part, 2, axis));
}

static void import_swapaxes(Visit *v)
{
	int x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	int a = node_axis(v, node_attr_int(v, "axis1", 0), rank), b = node_axis(v, node_attr_int(v, "axis2", 0), rank);
	int64_t perm[DAG_MAX_RANK];
	for (int k = 0; k < rank; k++)
		perm[k] = k == a ? b : k == b ? a : k;
	if (node_ok(v))
		node_set(v, 0, node_transpose(v, x, perm));
}

static void import_moveaxis(Visit *v)
{
	int x = keras_value(v, 0), rank = node_val(v, x)->shape.rank, at = 0;
	int from = node_axis(v, node_attr_int(v, "source", 0), rank);
	int to = node_axis(v, node_attr_int(v, "destination", 0), rank);
	int64_t perm[DAG_MAX_RANK];
	for (int k = 0; k < rank && node_ok(v); k++) {
		at += at == from;
		perm[k] = k == to ? from : at++;
	}
	if (node_ok(v))
		node_set(v, 0, node_transpose(v, x, perm));
}

static void import_broadcast_to(Visit *v)
{
	int count, x = keras_value(v, 0);
	const int64_t *dim = node_attr_ints(v, "shape", &count);
	if (node_ok(v) && (count < 0 || count > DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "its shape has %d numbers", count);
	if (node_ok(v))
		node_set(v, 0, node_expand(v, x, shape_of(count, dim)));
}

static void import_take(Visit *v)
{
	int x = keras_given(v, 0, "x", F32), at = keras_operand(v, 1, "indices", I32);
	if (node_ok(v) && !keras_is_listed(v) && !node_has(v, "axis") && node_val(v, x)->shape.rank > 1)
		x = keras_flat(v, x);
	const Json *list = keras_json(v, "indices"); /* tf.gather has them among its settings */
	if (node_ok(v) && at == DAG_NONE && list != NULL)
		at = keras_constant_of(v, list, I32);
	if (node_ok(v) && at == DAG_NONE)
		node_fail(v, ERR_INPUT, "its indices are not in the file");
	Attr attr = attr_int("axis", keras_axis(v, node_val(v, x)->shape.rank, 0));
	int in[] = { x, at };
	if (node_ok(v) && !dtype_is_int(node_val(v, at)->type))
		in[1] = node_cast(v, at, I32);
	node_set(v, 0, node_call(v, OP_gather, in, 2, &attr, 1));
}

static void import_einsum(Visit *v)
{
	int x[DAG_MAX_RANK], n = 0;
	for (int at; n < DAG_MAX_RANK && (at = keras_operand(v, n, "", F32)) != DAG_NONE;)
		x[n++] = at;
	keras_promote(v, x, n);
	node_set(v, 0, node_einsum_of(v, node_attr_text(v, "subscripts", ""), x, n));
}

static void import_like(Visit *v)
{
	const Json *given = keras_argument(v, 1, "fill_value");
	int x = keras_value(v, 0);
	bool ones = strcmp(v->node->op, "OnesLike") == 0, full = strcmp(v->node->op, "FullLike") == 0;
	double value = ones;
	if (full && (given == NULL || (given->kind != JV_INT && given->kind != JV_REAL)))
		node_fail(v, ERR_UNSUPPORTED, "it is filled with something else than a number");
	else if (full)
		value = given->kind == JV_INT ? (double)given->i : given->real;
	if (node_ok(v))
		node_set(
			v, 0, node_expand(v, node_number(v, keras_type_or(v, node_val(v, x)->type), value), node_val(v, x)->shape));
}

/* As it is, or in another type. */
static void import_convert(Visit *v)
{
	int x = keras_value(v, 0);
	node_set(v, 0, node_cast(v, x, keras_type_or(v, node_val(v, x)->type)));
}

static void import_one_hot(Visit *v)
{
	int64_t n = node_attr_int(v, "num_classes", 0);
	int x = keras_value(v, 0), rank = node_val(v, x)->shape.rank;
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && (n < 1 || n > NODE_COUNTED || node_attr_int(v, "axis", -1) != -1 || rank >= DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "it has %lld classes, or another axis than the last", (long long)n);
	if (strcmp(node_attr_text(v, "dtype", "float32"), "float32") != 0 || node_attr_flag(v, "sparse", false))
		node_fail(v, ERR_UNSUPPORTED, "its result is not of dense float32");
	if (!node_ok(v))
		return;
	s.dim[s.rank++] = 1;
	x = node_reshape(v, node_cast(v, x, I64), s);
	node_set(v, 0, node_cast(v, node_call2(v, OP_equal, x, node_count(v, n, rank, rank + 1)), F32));
}

static void import_top_k(Visit *v)
{
	int x = keras_value(v, 0);
	Attr attr[] = { attr_int("axis", node_val(v, x)->shape.rank - 1), attr_int("k", node_attr_int(v, "k", 1)) };
	int y = node_call(v, OP_top_k, &x, 1, attr, 2);
	node_set(v, 0, y);
	if (node_ok(v) && node_nout(v) > 1 && node_used(v, 1))
		node_set(v, 1, node_cast(v, node_result(v, y, 1), I32));
}

const NodeRow keras_function_rows[] = {
	{ "ops::Reshape", 0, "", import_reshape },
	{ "ops::Transpose", 0, "conjugate", import_transpose },
	{ "ops::ExpandDims", 0, "", import_expand_dims },
	{ "ops::Squeeze", 0, "", import_squeeze },
	{ "ops::Concatenate", 0, "", import_concatenate },
	{ "ops::GetItem", 0, "", import_get_item },
	{ "ops::Split", 0, "", import_split },
	{ "ops::Stack", 0, "", import_stack },
	{ "ops::Unstack", 0, "num", import_unstack },
	{ "ops::Pad", 0, "", import_pad },
	{ "ops::Tile", 0, "", import_tile },
	{ "ops::Repeat", 0, "", import_repeat },
	{ "ops::Cumsum", 0, "dtype", import_cumulative },
	{ "ops::Cumprod", 0, "dtype", import_cumulative },
	{ "ops::Flip", 0, "", import_flip },
	{ "ops::Roll", 0, "", import_roll },
	{ "ops::Swapaxes", 0, "", import_swapaxes },
	{ "ops::Moveaxis", 0, "", import_moveaxis },
	{ "ops::BroadcastTo", 0, "", import_broadcast_to },
	{ "ops::Take", 0, "", import_take },
	{ "ops::Einsum", 0, "", import_einsum },
	{ "ops::ZerosLike", 0, "dtype", import_like },
	{ "ops::OnesLike", 0, "dtype", import_like },
	{ "ops::FullLike", 0, "dtype", import_like },
	{ "ops::EmptyLike", 0, "dtype", import_like },
	{ "ops::Array", 0, "dtype", import_convert },
	{ "ops::ConvertToTensor", 0, "dtype sparse ragged", import_convert },
	{ "ops::OneHot", 0, "", import_one_hot },
	{ "ops::TopK", 0, "sorted", import_top_k },
	{ NULL, 0, NULL, NULL },
};
