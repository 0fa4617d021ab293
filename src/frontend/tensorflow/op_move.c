/*
 * Rows that move elements or read shapes. Shapes, axes, starts and pads must be known while importing. What is known is
 * evaluated by the row that reads it, so arithmetic around a Reshape disappears.
 */
#include "frontend/tensorflow/rows.h"

#include "op/element.h"

#include <string.h>

static void import_identity(Visit *v)
{
	for (int k = 0; k < node_nin(v); k++) {
		Item *it = node_item(v, k);
		if (it == NULL)
			node_need(v, k);
		node_set_alias(v, k, it);
	}
}

/* The inputs behind the first one only name what must be computed before. */
static void import_first(Visit *v)
{
	Item *it = node_item(v, 0);
	if (it == NULL)
		node_need(v, 0);
	node_set_alias(v, 0, it);
}

/* A constant. A number that fills a large shape stays one. */
static void import_const(Visit *v)
{
	NodeTensor t;
	const TfValue *value = v->node->source != NULL ? tf_attr(v->node->source, "value") : NULL;
	const TfTensor *from = value != NULL ? value->tensor : NULL;
	enum { SMALL = 1024 };
	if (from == NULL) {
		node_fail(v, ERR_INPUT, "it has no value");
		return;
	}
	Shape s;
	size_t lists = from->float_val.n + from->double_val.n + from->int_val.n + from->int64_val.n + from->bool_val.n +
	               from->half_val.n + from->uint32_val.n + from->uint64_val.n;
	bool fill = from->tensor_content.n == 0 && lists <= 1 && from->string_val.n == 0 &&
	            tf_shape_read(from->tensor_shape, v->name, &s, &v->im->err) && shape_elements(s) > SMALL;
	tf_attr_type(v, "dtype", F32);
	if (!fill) {
		if (node_attr_tensor(v, "value", &t))
			node_set_known(v, 0, t.type, t.shape, t.data);
		return;
	}
	TfTensor one = *from;
	one.tensor_shape = NULL;
	node_has(v, "value");
	if (tf_tensor_read(v->im->arena, &one, v->name, &t, &v->im->err))
		node_set(v, 0, node_expand(v, node_const(v, t.type, t.shape, t.data), s));
}

/* ---- shapes */

static void set_numbers(Visit *v, int k, DType type, const int64_t *at, int n, int rank)
{
	int64_t count = n;
	void *data = arena_alloc(v->im->arena, 8 * ((size_t)n + 1));
	for (int i = 0; i < n; i++)
		element_set_int(type, data, i, at[i]);
	node_set_known(v, k, type, shape_of(rank, &count), data);
}

static void import_shape(Visit *v)
{
	DType type = tf_attr_type(v, "out_type", I32);
	for (int k = 0; k < node_nin(v); k++) {
		const Item *x = node_need(v, k);
		set_numbers(v, k, type, x->shape.dim, x->shape.rank, 1);
	}
}

static void import_size(Visit *v)
{
	int64_t n = shape_elements(node_need(v, 0)->shape);
	set_numbers(v, 0, tf_attr_type(v, "out_type", I32), &n, 1, 0);
}

static void import_rank(Visit *v)
{
	int64_t n = node_need(v, 0)->shape.rank;
	set_numbers(v, 0, I32, &n, 1, 0);
}

static bool read_dims(Visit *v, const int64_t *at, int n, Shape *out)
{
	if (node_ok(v) && n > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions; dlc takes at most %d", n, DAG_MAX_RANK);
	for (int k = 0; k < n && node_ok(v); k++)
		if (at[k] < 0)
			node_fail(v, ERR_INPUT, "its result has a dimension of %lld", (long long)at[k]);
	if (node_ok(v))
		*out = shape_of(n, at);
	return node_ok(v);
}

/* The shape to which all inputs broadcast. */
static void import_broadcast_args(Visit *v)
{
	int n[2];
	const int64_t *at[] = { tf_ints(v, 0, &n[0]), tf_ints(v, 1, &n[1]) };
	int rank = n[0] > n[1] ? n[0] : n[1];
	int64_t *out = arena_array(v->im->arena, int64_t, rank + 1);
	for (int k = 0; k < rank; k++) {
		int64_t d[2];
		for (int i = 0; i < 2; i++)
			d[i] = k < rank - n[i] ? 1 : at[i][k - (rank - n[i])];
		if (d[0] != d[1] && d[0] != 1 && d[1] != 1)
			node_fail(v, ERR_TYPE, "its shapes have %lld and %lld elements along dimension %d", (long long)d[0],
				(long long)d[1], k);
		out[k] = d[0] == 1 ? d[1] : d[0];
	}
	DType type = node_need(v, 0)->type;
	if (node_ok(v))
		set_numbers(v, 0, type, out, rank, 1);
}

/* ---- the same elements in another shape */

static void set_reshaped(Visit *v, Shape s)
{
	const Item *x = node_need(v, 0);
	if (node_ok(v) && x->data != NULL)
		node_set_known(v, 0, x->type, s, x->data);
	else if (node_ok(v))
		node_set(v, 0, node_reshape(v, node_value(v, 0), s));
}

static void import_reshape(Visit *v)
{
	const Item *x = node_need(v, 0);
	int n, open = -1;
	const int64_t *at = tf_ints(v, 1, &n);
	if (node_ok(v) && n > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions; dlc takes at most %d", n, DAG_MAX_RANK);
	if (!node_ok(v))
		return;
	Shape s = shape_of(n, at);
	for (int k = 0; k < n; k++) {
		if (s.dim[k] < -1 || (s.dim[k] == -1 && open >= 0))
			node_fail(v, ERR_TYPE, "its shape holds %lld%s", (long long)s.dim[k], s.dim[k] == -1 ? " twice" : "");
		else if (s.dim[k] == -1)
			open = k;
	}
	if (open >= 0)
		s.dim[open] = 1;
	int64_t have = shape_elements(x->shape), given = shape_elements(s);
	char from[160], to[160];
	if (open >= 0 && given > 0 && have % given == 0)
		s.dim[open] = have / given;
	else if (node_ok(v) && given != have)
		node_fail(v, ERR_TYPE, "its input of shape %s does not fit the shape %s", shape_str(x->shape, from),
			shape_str(s, to));
	if (node_ok(v))
		set_reshaped(v, s);
}

/* Dimensions of 1 that go or come beside the channels need no transposition. */
static void set_ones(Visit *v, Shape to, const bool *spatial_only)
{
	int x = tf_value(v, 0);
	if (!node_ok(v) || !*spatial_only || !node_is_last(v, x) || to.rank < 3) {
		set_reshaped(v, to);
		return;
	}
	Shape second = to;
	for (int k = 0; k < to.rank; k++)
		second.dim[channels_axis(k, to.rank)] = to.dim[k];
	node_set(v, 0, node_to_last(v, node_reshape(v, node_to_second(v, x), second)));
}

static void import_squeeze(Visit *v)
{
	const Item *x = node_need(v, 0);
	int n, rank = x->shape.rank;
	const int64_t *at = node_attr_ints(v, node_has(v, "axis") ? "axis" : "squeeze_dims", &n);
	bool on[DAG_MAX_RANK] = { false }, inside = true;
	for (int k = 0; k < n && node_ok(v); k++)
		on[node_axis(v, at[k], rank)] = true;
	Shape s = { 0 };
	for (int k = 0; k < rank && node_ok(v); k++) {
		if (n > 0 && on[k] && x->shape.dim[k] != 1)
			node_fail(v, ERR_TYPE, "dimension %d is %lld, not 1", k, (long long)x->shape.dim[k]);
		bool stays = n > 0 ? !on[k] : x->shape.dim[k] != 1;
		inside &= stays || (k > 0 && k < rank - 1);
		if (stays)
			s.dim[s.rank++] = x->shape.dim[k];
	}
	if (node_ok(v))
		set_ones(v, s, &inside);
}

static void import_expand_dims(Visit *v)
{
	const Item *x = node_need(v, 0);
	int rank = x->shape.rank;
	if (node_ok(v) && rank == DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions; dlc takes at most %d", rank + 1, DAG_MAX_RANK);
	int axis = node_axis(v, tf_int(v, 1), rank + 1);
	bool inside = axis > 0 && axis < rank;
	Shape s = { .rank = rank + 1 };
	for (int k = 0; k < s.rank && node_ok(v); k++)
		s.dim[k] = k == axis ? 1 : x->shape.dim[k - (k > axis)];
	if (node_ok(v))
		set_ones(v, s, &inside);
}

static void import_transpose(Visit *v)
{
	const Item *x = node_need(v, 0);
	int n;
	const int64_t *at = tf_ints(v, 1, &n);
	int64_t perm[DAG_MAX_RANK];
	bool on[DAG_MAX_RANK] = { false };
	if (node_ok(v) && n != x->shape.rank)
		node_fail(v, ERR_TYPE, "it has %d axes, but its input has %d dimensions", n, x->shape.rank);
	for (int k = 0; k < n && node_ok(v); k++) {
		perm[k] = node_axis(v, at[k], n);
		if (node_ok(v) && on[perm[k]])
			node_fail(v, ERR_TYPE, "axis %lld is listed twice", (long long)perm[k]);
		on[perm[k]] = true;
	}
	if (!node_ok(v))
		return;
	int y = node_value(v, 0);
	if (node_is_last(v, y)) { /* one transposition instead of two */
		for (int k = 0; k < n; k++)
			perm[k] = channels_axis((int)perm[k], n);
		y = node_to_second(v, y);
	}
	node_set(v, 0, node_transpose(v, y, perm));
}

static void import_broadcast_to(Visit *v)
{
	int n, x = tf_value(v, 0);
	const int64_t *at = tf_ints(v, 1, &n);
	Shape s;
	if (read_dims(v, at, n, &s))
		node_set(v, 0, node_expand(v, x, s));
}

/* ---- joined and cut */

static void set_concat(Visit *v, int first, int n, int64_t axis_of)
{
	int *in = arena_array(v->im->arena, int, n + 1);
	for (int k = 0; k < n; k++)
		in[k] = tf_value(v, first + k);
	int axis = node_axis(v, axis_of, n > 0 ? node_val(v, in[0])->shape.rank : 0);
	if (node_ok(v))
		node_set(v, 0, n == 1 ? in[0] : node_axis_call(v, OP_concat, in, n, axis, NULL, 0));
}

static void import_concat(Visit *v)
{
	set_concat(v, 1, node_nin(v) - 1, tf_int(v, 0));
}

static void import_concat_v2(Visit *v)
{
	int n = node_nin(v) - 1;
	set_concat(v, 0, n, tf_int(v, n));
}

static void import_pack(Visit *v)
{
	int n = node_nin(v), *in = arena_array(v->im->arena, int, n + 1);
	Shape s = { 0 };
	int axis = 0;
	for (int k = 0; k < n && node_ok(v); k++) {
		in[k] = tf_value(v, k);
		Shape own = node_val(v, in[k])->shape;
		if (node_ok(v) && own.rank == DAG_MAX_RANK)
			node_fail(v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
		if (k == 0)
			axis = node_axis(v, node_attr_int(v, "axis", 0), own.rank + 1);
		s.rank = own.rank + 1;
		for (int i = 0; i < s.rank && node_ok(v); i++)
			s.dim[i] = i == axis ? 1 : own.dim[i - (i > axis)];
		in[k] = node_reshape(v, in[k], s);
	}
	if (node_ok(v) && n == 0)
		node_fail(v, ERR_INPUT, "it has no inputs");
	node_set(v, 0, node_ok(v) ? node_concat(v, in, n, axis) : DAG_NONE);
}

static void import_unpack(Visit *v)
{
	int x = tf_value(v, 0), n = (int)v->node->nout;
	Shape s = node_val(v, x)->shape;
	int axis = node_axis(v, node_attr_int(v, "axis", 0), s.rank);
	if (node_ok(v) && (node_attr_int(v, "num", s.dim[axis]) != s.dim[axis] || n > s.dim[axis]))
		node_fail(v, ERR_TYPE, "its input has %lld parts along axis %d", (long long)s.dim[axis], axis);
	Shape out = { .rank = s.rank > 0 ? s.rank - 1 : 0 };
	for (int i = 0; i < out.rank; i++)
		out.dim[i] = s.dim[i + (i >= axis)];
	for (int k = 0; k < n && node_ok(v); k++)
		if (node_used(v, k))
			node_set(v, k, node_reshape(v, node_slice(v, x, axis, k, 1), out));
}

/* Parts along an axis, each a slice where only some are read. */
static void set_parts(Visit *v, int x, int axis, const int64_t *size, int n)
{
	int64_t from = 0;
	bool last = node_is_last(v, x);
	int rank = node_val(v, x)->shape.rank, y = last ? node_to_second(v, x) : x;
	for (int k = 0; k < n && node_ok(v); k++) {
		if (node_used(v, k)) {
			int part = node_slice(v, y, last ? channels_axis(axis, rank) : axis, from, size[k]);
			node_set(v, k, last ? node_to_last(v, part) : part);
		}
		from += size[k];
	}
}

static void import_split(Visit *v)
{
	int64_t at = tf_int(v, 0), n = node_attr_int(v, "num_split", 1);
	int x = tf_value(v, 1);
	Shape s = node_val(v, x)->shape;
	int axis = node_axis(v, at, s.rank);
	if (node_ok(v) && (n < 1 || n > INT32_MAX || s.dim[axis] % n != 0))
		node_fail(
			v, ERR_TYPE, "%lld elements cannot be cut into %lld equal parts", (long long)s.dim[axis], (long long)n);
	if (!node_ok(v))
		return;
	int many = n < (int64_t)v->node->nout ? (int)n : (int)v->node->nout;
	int64_t *size = arena_array(v->im->arena, int64_t, many + 1);
	for (int k = 0; k < many; k++)
		size[k] = s.dim[axis] / n;
	set_parts(v, x, axis, size, many);
}

static void import_split_v(Visit *v)
{
	int n, x = tf_value(v, 0), open = -1;
	const int64_t *at = tf_ints(v, 1, &n);
	int axis = node_axis(v, tf_int(v, 2), node_val(v, x)->shape.rank);
	int64_t sum = 0, *size = arena_array(v->im->arena, int64_t, n + 1), have = node_val(v, x)->shape.dim[axis];
	node_attr_int(v, "num_split", n);
	for (int k = 0; k < n && node_ok(v); k++) {
		size[k] = at[k];
		if (at[k] < -1 || at[k] > have || (at[k] == -1 && open >= 0))
			node_fail(v, ERR_INPUT, "its sizes hold %lld", (long long)at[k]);
		open = at[k] == -1 ? k : open;
		sum += at[k] == -1 ? 0 : at[k];
	}
	if (open >= 0 && node_ok(v))
		size[open] = have - sum;
	if (node_ok(v) && (open >= 0 ? size[open] < 0 : sum != have))
		node_fail(v, ERR_INPUT, "its sizes add up to %lld, but its input has %lld", (long long)sum, (long long)have);
	if (node_ok(v))
		set_parts(v, x, axis, size, n < (int)v->node->nout ? n : (int)v->node->nout);
}

static void import_slice(Visit *v)
{
	int nstart, nsize, x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *start = tf_ints(v, 1, &nstart), *size = tf_ints(v, 2, &nsize);
	int64_t to[DAG_MAX_RANK] = { 0 };
	if (node_ok(v) && (nstart != rank || nsize != rank))
		node_fail(v, ERR_TYPE, "it has %d starts and %d sizes for %d dimensions", nstart, nsize, rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		int64_t dim = node_val(v, x)->shape.dim[k];
		to[k] = size[k] == -1 && start[k] >= 0 ? dim - start[k] : size[k];
		if (start[k] < 0 || start[k] > dim || to[k] < 0 || to[k] > dim - start[k])
			node_fail(v, ERR_INPUT, "its part of %lld elements from %lld on is not in dimension %d of %lld",
				(long long)to[k], (long long)start[k], k, (long long)dim);
	}
	if (!node_ok(v))
		return;
	Attr attr[] = { attr_ints("starts", start, rank), attr_ints("sizes", to, rank) };
	node_set(v, 0, node_along(v, OP_slice, x, attr, 2));
}

/* ---- StridedSlice: Python's x[a:b:c, ..., None, i] */

typedef struct Cut {
	int64_t start[DAG_MAX_RANK], step[DAG_MAX_RANK], size[DAG_MAX_RANK];
	int axis; /* the next dimension of the input */
	Shape out;
} Cut;

/* One axis from a to b; `open`: bit 0 without a begin, bit 1 without an end. */
static void cut_axis(Visit *v, Cut *c, int64_t dim, int64_t a, int64_t b, int64_t step, int open, bool one)
{
	int k = c->axis++;
	if (one) {
		a = a < 0 ? a + dim : a;
		if (a < 0 || a >= dim)
			node_fail(
				v, ERR_INPUT, "its index %lld is outside of dimension %d of %lld", (long long)a, k, (long long)dim);
		c->start[k] = a;
		c->step[k] = c->size[k] = 1;
		return;
	}
	int64_t lo = step > 0 ? 0 : -1, hi = step > 0 ? dim : dim - 1;
	a = open & 1 ? (step > 0 ? lo : hi) : a < 0 ? a + dim : a;
	b = open & 2 ? (step > 0 ? hi : lo) : b < 0 ? b + dim : b;
	a = a < lo ? lo : a > hi ? hi : a;
	b = b < lo ? lo : b > hi ? hi : b;
	int64_t size = step > 0 ? (b > a ? (b - a - 1) / step + 1 : 0) : (a > b ? (a - b - 1) / -step + 1 : 0);
	c->start[k] = size == 0 ? 0 : a;
	c->step[k] = size < 2 ? 1 : step;
	c->size[k] = size;
	if (c->out.rank < DAG_MAX_RANK)
		c->out.dim[c->out.rank++] = size;
}

static void import_strided_slice(Visit *v)
{
	const Item *x = node_need(v, 0);
	int rank = x->shape.rank, n, nb, nc, rest = 0;
	const int64_t *a = tf_ints(v, 1, &n), *b = tf_ints(v, 2, &nb), *step = tf_ints(v, 3, &nc);
	int64_t begin = node_attr_int(v, "begin_mask", 0), end = node_attr_int(v, "end_mask", 0);
	int64_t ellipsis = node_attr_int(v, "ellipsis_mask", 0), fresh = node_attr_int(v, "new_axis_mask", 0);
	int64_t shrink = node_attr_int(v, "shrink_axis_mask", 0);
	Cut c = { 0 };
	if (node_ok(v) && (nb != n || nc != n || n > 32))
		node_fail(v, ERR_TYPE, "its begins, ends and steps have %d, %d and %d numbers", n, nb, nc);
	if (!node_ok(v))
		return;
	for (int k = 0; k < n; k++) /* dimensions that no entry names */
		rest += !(ellipsis >> k & 1) && !(fresh >> k & 1);
	rest = rank - rest;
	if (rest < 0)
		node_fail(v, ERR_TYPE, "it cuts %d dimensions of an input that has %d", rank - rest, rank);
	for (int k = 0; k < n && node_ok(v); k++) {
		if (ellipsis >> k & 1) {
			for (; rest > 0; rest--)
				cut_axis(v, &c, x->shape.dim[c.axis], 0, 0, 1, 3, false);
		} else if (fresh >> k & 1) {
			if (c.out.rank == DAG_MAX_RANK)
				node_fail(v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
			else
				c.out.dim[c.out.rank++] = 1;
		} else if (step[k] == 0 || step[k] == INT64_MIN) {
			node_fail(v, ERR_INPUT, "its step %lld is not allowed", (long long)step[k]);
		} else {
			int open = (int)((begin >> k & 1) | (end >> k & 1) << 1);
			cut_axis(v, &c, x->shape.dim[c.axis], a[k], b[k], step[k], open, shrink >> k & 1);
		}
	}
	while (c.axis < rank && node_ok(v))
		cut_axis(v, &c, x->shape.dim[c.axis], 0, 0, 1, 3, false);
	if (!node_ok(v))
		return;
	Attr attr[] = { attr_ints("starts", c.start, rank), attr_ints("steps", c.step, rank),
		attr_ints("sizes", c.size, rank) };
	int y = node_value(v, 0);
	if (!shape_eq(shape_of(rank, c.size), x->shape) ||
		memcmp(c.step, (int64_t[]){ 1, 1, 1, 1, 1, 1, 1, 1 }, sizeof *c.step * (size_t)rank) != 0)
		y = node_along(v, OP_slice, y, attr, 3);
	node_set(v, 0, node_reshape(v, y, c.out));
}

/* ---- more elements */

static void import_pad(Visit *v)
{
	int n, x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	const Item *p = node_known(v, 1);
	double value = node_nin(v) > 2 ? tf_number(v, 2) : 0;
	int64_t pads[2 * DAG_MAX_RANK];
	n = node_ok(v) ? (int)shape_elements(p->shape) : 0;
	if (node_ok(v) && (n != 2 * rank || !dtype_is_int(p->type)))
		node_fail(v, ERR_TYPE, "it has %d pads for %d dimensions", n, rank);
	if (!node_ok(v))
		return;
	for (int k = 0; k < n; k++) {
		pads[k / 2 + k % 2 * rank] = element_get_int(p->type, p->data, k);
		if (pads[k / 2 + k % 2 * rank] < 0)
			node_fail(v, ERR_INPUT, "its pads hold a negative number");
	}
	Attr attr[] = { attr_ints("pads", pads, n), attr_float("value", value) };
	node_set(v, 0, node_along(v, OP_pad, x, attr, 2));
}

/* REFLECT mirrors at the last element, SYMMETRIC behind it, as a gather along each axis. */
static void import_mirror_pad(Visit *v)
{
	int x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	const Item *p = node_known(v, 1);
	const char *mode = node_attr_text(v, "mode", "REFLECT");
	bool twice = strcmp(mode, "SYMMETRIC") == 0;
	if (node_ok(v) && !twice && strcmp(mode, "REFLECT") != 0)
		node_fail(v, ERR_INPUT, "its mode '%.20s' is not REFLECT or SYMMETRIC", mode);
	if (node_ok(v) && (shape_elements(p->shape) != 2 * rank || !dtype_is_int(p->type)))
		node_fail(v, ERR_TYPE, "it has %lld pads for %d dimensions", (long long)shape_elements(p->shape), rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		int64_t before = element_get_int(p->type, p->data, 2 * k),
				behind = element_get_int(p->type, p->data, 2 * k + 1);
		int64_t dim = node_val(v, x)->shape.dim[k], most = twice ? dim : dim - 1;
		if (before < 0 || behind < 0 || before > most || behind > most) {
			node_fail(v, ERR_INPUT, "its pads %lld and %lld do not fit dimension %d of %lld", (long long)before,
				(long long)behind, k, (long long)dim);
			return;
		}
		int64_t all = before + dim + behind;
		if (all == dim)
			continue;
		if (all > NODE_COUNTED) {
			node_fail(v, ERR_UNSUPPORTED, "its result has %lld elements along dimension %d, which are too many",
				(long long)all, k);
			return;
		}
		int64_t *at = arena_array(v->im->arena, int64_t, all + 1);
		for (int64_t i = 0; i < all; i++) {
			int64_t from = i - before;
			from = from < 0 ? -from - twice : from;
			at[i] = from >= dim ? 2 * dim - 2 - from + twice : from;
		}
		int in[] = { x, node_const(v, I64, shape_of(1, &all), at) };
		Attr attr = attr_int("axis", k);
		x = node_call(v, OP_gather, in, 2, &attr, 1);
	}
	node_set(v, 0, x);
}

static void import_tile(Visit *v)
{
	int n, x = tf_value(v, 0), rank = node_val(v, x)->shape.rank;
	const int64_t *times = tf_ints(v, 1, &n);
	if (node_ok(v) && n != rank)
		node_fail(v, ERR_TYPE, "it has %d repeats for %d dimensions", n, rank);
	for (int k = 0; k < n && node_ok(v); k++) {
		Shape s = node_val(v, x)->shape;
		if (times[k] < 0 || times[k] > ((int64_t)1 << 40) / (s.dim[k] > 0 ? s.dim[k] : 1))
			node_fail(v, ERR_INPUT, "it repeats an axis %lld times", (long long)times[k]);
		if (!node_ok(v) || times[k] == 1)
			continue;
		Shape part = { .rank = 3, .dim = { shape_product(&s, 0, k), 1, shape_product(&s, k, s.rank) } };
		x = node_reshape(v, x, part);
		part.dim[1] = times[k];
		s.dim[k] *= times[k];
		x = node_reshape(v, node_expand(v, x, part), s);
	}
	node_set(v, 0, x);
}

const NodeRow tf_move_rows[] = {
	{ "Const", 0, "", import_const },
	{ "Identity", 0, "", import_identity },
	{ "IdentityN", 0, "", import_identity },
	{ "Snapshot", 0, "", import_identity },
	{ "StopGradient", 0, "", import_identity },
	{ "PreventGradient", 0, "message", import_identity },
	{ "CheckNumerics", 0, "message", import_identity },
	{ "CheckNumericsV2", 0, "message", import_identity },
	{ "EnsureShape", 0, "shape", import_identity },
	{ "PlaceholderWithDefault", 0, "shape dtype", import_identity },
	{ "Print", 0, "*", import_first },
	{ "Shape", 0, "", import_shape },
	{ "ShapeN", 0, "N", import_shape },
	{ "Size", 0, "", import_size },
	{ "Rank", 0, "", import_rank },
	{ "BroadcastArgs", 0, "", import_broadcast_args },
	{ "Reshape", 0, "", import_reshape },
	{ "Squeeze", 0, "", import_squeeze },
	{ "ExpandDims", 0, "", import_expand_dims },
	{ "Transpose", 0, "", import_transpose },
	{ "BroadcastTo", 0, "", import_broadcast_to },
	{ "Concat", 0, "N", import_concat },
	{ "ConcatV2", 0, "N", import_concat_v2 },
	{ "Pack", 0, "N", import_pack },
	{ "Unpack", 0, "", import_unpack },
	{ "Split", 0, "", import_split },
	{ "SplitV", 0, "", import_split_v },
	{ "Slice", 0, "", import_slice },
	{ "StridedSlice", 0, "", import_strided_slice },
	{ "Pad", 0, "", import_pad },
	{ "PadV2", 0, "", import_pad },
	{ "MirrorPad", 0, "", import_mirror_pad },
	{ "Tile", 0, "", import_tile },
	{ NULL, 0, NULL, NULL },
};
