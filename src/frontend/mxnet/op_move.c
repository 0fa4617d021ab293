/*
 * Rows that give the same elements another shape, order or number: reshapes with MXNet's codes, transpositions, joins,
 * repetition, padding.
 */
#include "frontend/mxnet/rows.h"

#include <math.h>
#include <string.h>

/* ---- reshape */

typedef struct Reshape {
	Visit *v;
	const int64_t *in; /* the input's dimensions */
	int rank;
	Shape out;
	int at, open; /* the next dimension of the input; the one that is inferred, or -1 */
} Reshape;

static void push(Reshape *r, int64_t dim)
{
	if (r->out.rank == DAG_MAX_RANK)
		node_fail(r->v, ERR_UNSUPPORTED, "its shape has more than %d dimensions", DAG_MAX_RANK);
	else
		r->out.dim[r->out.rank++] = dim;
}

static int64_t next(Reshape *r)
{
	if (r->at < r->rank)
		return r->in[r->at++];
	node_fail(r->v, ERR_INPUT, "its shape uses more dimensions than its input has, which are %d", r->rank);
	return 1;
}

static void infer(Reshape *r)
{
	if (r->open >= 0)
		node_fail(r->v, ERR_INPUT, "its shape leaves two dimensions open");
	r->open = r->out.rank;
	push(r, 1);
}

/* -4, a, b: a dimension becomes two, of which one may be -1. */
static void split_dim(Reshape *r, int64_t a, int64_t b)
{
	int64_t dim = next(r);
	if (a == -1 && b > 0)
		a = dim / b;
	if (b == -1 && a > 0)
		b = dim / a;
	if (node_ok(r->v) && (a < 0 || b < 0 || a > INT32_MAX || b > INT32_MAX || a * b != dim))
		node_fail(r->v, ERR_INPUT, "its shape splits a dimension of %lld in %lld and %lld", (long long)dim,
			(long long)a, (long long)b);
	push(r, a);
	push(r, b);
}

/* Codes of Reshape: 0 keeps, -1 infers, -2 keeps all that remain, -3 joins two, -4 splits. */
static Shape apply_codes(Reshape *r, const int64_t *code, int n)
{
	for (int k = 0; k < n && node_ok(r->v); k++) {
		int64_t c = code[k], a;
		if (c == -4 && k + 2 < n) {
			split_dim(r, code[k + 1], code[k + 2]);
			k += 2;
		} else if (c == -3) {
			a = next(r);
			push(r, size_product(a, next(r)));
		} else if (c == -2) {
			while (r->at < r->rank)
				push(r, next(r));
		} else if (c == 0) {
			push(r, next(r));
		} else if (c == -1) {
			infer(r);
			r->at++;
		} else if (c > 0) {
			push(r, c);
			r->at++;
		} else {
			node_fail(r->v, ERR_INPUT, "its shape holds %lld, which is no code", (long long)c);
		}
	}
	return r->out;
}

/* The inferred dimension gets what the others leave. */
static Shape close_shape(Reshape *r)
{
	Shape in = shape_of(r->rank, r->in);
	int64_t all = shape_product(&in, 0, in.rank), rest = shape_product(&r->out, 0, r->out.rank);
	if (r->open >= 0 && node_ok(r->v)) {
		if (rest == 0 || all % rest != 0)
			node_fail(r->v, ERR_TYPE, "its shape does not divide the %lld elements of its input", (long long)all);
		else
			r->out.dim[r->open] = all / rest;
	}
	return r->out;
}

static void turn_round(int64_t *x, int n)
{
	for (int k = 0; k < n / 2; k++) {
		int64_t t = x[k];
		x[k] = x[n - 1 - k];
		x[n - 1 - k] = t;
	}
}

/* With `reverse` codes are matched from the right. */
static void import_reshape(Visit *v)
{
	const Item *it = node_need(v, 0);
	int n;
	const int64_t *given = node_attr_ints(v, "shape", &n);
	bool reverse = node_attr_flag(v, "reverse", false);
	int64_t code[64], in[DAG_MAX_RANK];
	if (n <= 0) { /* of 0.8: 0 infers */
		given = node_attr_ints(v, "target_shape", &n);
		for (int k = 0; k < n && k < 64; k++)
			code[k] = given[k] == 0 ? k == 0 && node_attr_flag(v, "keep_highest", false) ? 0 : -1 : given[k];
	}
	if (node_ok(v) && (n <= 0 || n > 64))
		node_fail(v, ERR_INPUT, "it has no shape, or one of too many numbers");
	if (!node_ok(v))
		return;
	for (int k = 0; k < n && node_has(v, "shape"); k++)
		code[k] = given[k];
	memcpy(in, it->shape.dim, sizeof in);
	if (reverse) {
		turn_round(in, it->shape.rank);
		turn_round(code, n);
		for (int k = 0; k + 2 < n; k++) /* the two numbers of -4 stand before it now */
			if (code[k + 2] == -4) {
				int64_t a = code[k];
				code[k] = -4;
				code[k + 2] = a;
				k += 2;
			}
	}
	Reshape r = { .v = v, .in = in, .rank = it->shape.rank, .open = -1 };
	apply_codes(&r, code, n);
	Shape s = close_shape(&r);
	if (reverse)
		turn_round(s.dim, s.rank);
	node_set(v, 0, node_reshape(v, node_value(v, 0), s));
}

/* NumPy's: -1 infers. The x family has codes: -2 keeps, -3 drops a 1, -4 keeps the rest, -5 joins two, -6 splits. */
static void import_np_reshape(Visit *v)
{
	const Item *it = node_need(v, 0);
	bool codes = strcmp(v->node->op, "_npx_reshape") == 0;
	int n;
	const int64_t *given = node_attr_ints(v, "newshape", &n);
	if (n < 0)
		given = node_attr_ints(v, "shape", &n);
	if (strcmp(node_attr_text(v, "order", "C"), "C") != 0 || node_attr_flag(v, "reverse", false))
		node_fail(v, ERR_UNSUPPORTED, "only order C without reverse is supported");
	if (node_ok(v) && n < 0)
		node_fail(v, ERR_INPUT, "it has no shape");
	Reshape r = { .v = v, .in = it->shape.dim, .rank = it->shape.rank, .open = -1 };
	for (int k = 0; k < n && node_ok(v); k++) {
		int64_t c = given[k], a;
		if (c == -1) {
			infer(&r);
			r.at++;
		} else if (c >= 0) {
			push(&r, c);
			r.at++;
		} else if (codes && c == -2) {
			push(&r, next(&r));
		} else if (codes && c == -3) {
			if (next(&r) != 1)
				node_fail(v, ERR_TYPE, "its shape drops a dimension that is not 1");
		} else if (codes && c == -4) {
			while (r.at < r.rank)
				push(&r, next(&r));
		} else if (codes && c == -5) {
			a = next(&r);
			push(&r, size_product(a, next(&r)));
		} else if (codes && c == -6 && k + 2 < n) {
			split_dim(&r, given[k + 1], given[k + 2]);
			k += 2;
		} else {
			node_fail(v, ERR_INPUT, "its shape holds %lld, which is no code", (long long)c);
		}
	}
	node_set(v, 0, node_reshape(v, node_value(v, 0), close_shape(&r)));
}

static void import_flatten(Visit *v)
{
	const Item *it = node_need(v, 0);
	if (node_ok(v) && it->shape.rank < 1)
		node_fail(v, ERR_TYPE, "its input is a scalar");
	int64_t dim[] = { it->shape.dim[0], shape_product(&it->shape, 1, it->shape.rank) };
	node_set(v, 0, node_view(v, node_value(v, 0), 2, dim));
}

static void import_reshape_like(Visit *v)
{
	const Item *a = node_need(v, 0), *b = node_need(v, 1);
	int la = a->shape.rank, lb = b->shape.rank;
	int64_t from[] = { node_attr_int(v, "lhs_begin", 0), node_attr_int(v, "rhs_begin", 0) };
	int64_t to[] = { node_attr_int(v, "lhs_end", la), node_attr_int(v, "rhs_end", lb) };
	from[0] += from[0] < 0 ? la : 0;
	from[1] += from[1] < 0 ? lb : 0;
	to[0] += to[0] < 0 ? la : 0;
	to[1] += to[1] < 0 ? lb : 0;
	bool fits = from[0] >= 0 && from[1] >= 0 && from[0] <= to[0] && from[1] <= to[1] && to[0] <= la && to[1] <= lb &&
	            la - (to[0] - from[0]) + (to[1] - from[1]) <= DAG_MAX_RANK;
	if (node_ok(v) && !fits)
		node_fail(v, ERR_INPUT, "its parts of dimensions are out of range");
	if (!node_ok(v))
		return;
	Shape s = { 0 };
	for (int64_t k = 0; k < from[0]; k++)
		s.dim[s.rank++] = a->shape.dim[k];
	for (int64_t k = from[1]; k < to[1]; k++)
		s.dim[s.rank++] = b->shape.dim[k];
	for (int64_t k = to[0]; k < la; k++)
		s.dim[s.rank++] = a->shape.dim[k];
	node_set(v, 0, node_reshape(v, node_value(v, 0), s));
}

static void import_expand_dims(Visit *v)
{
	Shape s = node_need(v, 0)->shape;
	int axis = node_axis(v, node_attr_int(v, "axis", 0), s.rank + 1);
	if (node_ok(v) && s.rank == DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
	if (!node_ok(v))
		return;
	memmove(&s.dim[axis + 1], &s.dim[axis], sizeof s.dim[0] * (size_t)(s.rank - axis));
	s.dim[axis] = 1;
	s.rank++;
	node_set(v, 0, node_reshape(v, node_value(v, 0), s));
}

static void import_squeeze(Visit *v)
{
	const Item *it = node_need(v, 0);
	bool drop[DAG_MAX_RANK] = { false }, np = strncmp(v->node->op, "_np", 3) == 0;
	int count, n = 0;
	const int64_t *axes = node_attr_ints(v, "axis", &count);
	for (int k = 0; k < it->shape.rank; k++)
		drop[k] = count < 0 && it->shape.dim[k] == 1;
	for (int k = 0; k < count && node_ok(v); k++) {
		int axis = node_axis(v, axes[k], it->shape.rank);
		if (node_ok(v) && it->shape.dim[axis] != 1)
			node_fail(v, ERR_TYPE, "its axis %d has %lld elements, not 1", axis, (long long)it->shape.dim[axis]);
		drop[axis] = true;
	}
	Shape s = { 0 };
	for (int k = 0; k < it->shape.rank; k++)
		if (!drop[k])
			s.dim[s.rank++] = it->shape.dim[k];
	n = s.rank;
	if (n == 0 && !np && it->shape.rank > 0)
		s.dim[s.rank++] = 1;
	node_set(v, 0, node_reshape(v, node_value(v, 0), s));
}

static void import_transpose(Visit *v)
{
	const Item *it = node_need(v, 0);
	int count, rank = it->shape.rank;
	const int64_t *axes = node_attr_ints(v, "axes", &count);
	int64_t perm[DAG_MAX_RANK];
	bool seen[DAG_MAX_RANK] = { false };
	if (node_ok(v) && count > 0 && count != rank)
		node_fail(v, ERR_INPUT, "its axes are %d, but its input has %d dimensions", count, rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		perm[k] = count > 0 ? node_axis(v, axes[k], rank) : rank - 1 - k;
		if (node_ok(v) && seen[perm[k]])
			node_fail(v, ERR_INPUT, "its axes name %lld twice", (long long)perm[k]);
		seen[perm[k]] = true;
	}
	if (node_ok(v))
		node_set(v, 0, node_transpose(v, node_value(v, 0), perm));
}

static void import_swap_axes(Visit *v)
{
	const Item *it = node_need(v, 0);
	int rank = it->shape.rank, a = node_axis(v, node_attr_int(v, "dim1", 0), rank);
	int b = node_axis(v, node_attr_int(v, "dim2", 0), rank);
	int64_t perm[DAG_MAX_RANK];
	for (int k = 0; k < rank; k++)
		perm[k] = k == a ? b : k == b ? a : k;
	if (node_ok(v))
		node_set(v, 0, node_transpose(v, node_value(v, 0), perm));
}

/* ---- joins */

/* All inputs as values, in an array of the arena. */
static int *read_all(Visit *v, int *n)
{
	*n = node_nin(v);
	int *x = arena_array(v->im->arena, int, *n + 1);
	node_attr_int(v, "num_args", *n);
	node_need(v, 0);
	for (int k = 0; k < *n && node_ok(v); k++) {
		node_need(v, k);
		x[k] = node_value(v, k);
	}
	return x;
}

static void concat(Visit *v, const char *name, int64_t otherwise)
{
	int n, *x = read_all(v, &n);
	int axis = node_axis(v, node_attr_int(v, name, otherwise), node_need(v, 0)->shape.rank);
	if (node_ok(v))
		node_set(v, 0, n == 1 ? node_call1(v, OP_identity, x[0]) : node_concat(v, x, n, axis));
}

static void import_concat(Visit *v)
{
	concat(v, "dim", 1);
}

static void import_parameters(Visit *v)
{
	concat(v, "dim", 0);
}

static void import_np_concatenate(Visit *v)
{
	concat(v, "axis", 0);
}

static void import_stack(Visit *v)
{
	int n, *x = read_all(v, &n);
	Shape s = node_need(v, 0)->shape;
	int axis = node_axis(v, node_attr_int(v, "axis", 0), s.rank + 1);
	if (node_ok(v) && s.rank == DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
	if (!node_ok(v))
		return;
	memmove(&s.dim[axis + 1], &s.dim[axis], sizeof s.dim[0] * (size_t)(s.rank - axis));
	s.dim[axis] = 1;
	s.rank++;
	for (int k = 0; k < n && node_ok(v); k++) {
		Shape each = node_need(v, k)->shape;
		if (node_ok(v) && shape_product(&each, 0, each.rank) != shape_product(&s, 0, s.rank))
			node_fail(v, ERR_TYPE, "its inputs have different shapes");
		x[k] = node_reshape(v, x[k], s);
	}
	node_set(v, 0, n == 1 ? x[0] : node_concat(v, x, n, axis));
}

/* ---- more of the same */

static void import_tile(Visit *v)
{
	const Item *it = node_need(v, 0);
	int count;
	const int64_t *reps = node_attr_ints(v, "reps", &count);
	int rank = count > it->shape.rank ? count : it->shape.rank, skip = rank - it->shape.rank;
	if (node_ok(v) && (count < 0 || rank > DAG_MAX_RANK / 2))
		node_fail(v, ERR_UNSUPPORTED, "its reps are missing, or more than %d", DAG_MAX_RANK / 2);
	if (!node_ok(v))
		return;
	Shape one = { .rank = 2 * rank }, many = one, out = { .rank = rank };
	for (int k = 0; k < rank; k++) {
		int64_t times = k < rank - count ? 1 : reps[k - (rank - count)];
		if (times < 1 || times > INT32_MAX)
			node_fail(v, ERR_INPUT, "its reps hold %lld", (long long)times);
		one.dim[2 * k] = 1;
		one.dim[2 * k + 1] = many.dim[2 * k + 1] = k < skip ? 1 : it->shape.dim[k - skip];
		many.dim[2 * k] = times;
		out.dim[k] = node_ok(v) ? size_product(times, one.dim[2 * k + 1]) : 1;
	}
	int x = node_reshape(v, node_value(v, 0), one);
	node_set(v, 0, node_reshape(v, node_expand(v, x, many), out));
}

static void import_repeat(Visit *v)
{
	const Item *it = node_need(v, 0);
	int64_t times = node_attr_int(v, "repeats", 1);
	bool all = !node_has(v, "axis");
	Shape s = all ? (Shape){ 1, { shape_product(&it->shape, 0, it->shape.rank) } } : it->shape, parts = { .rank = 3 };
	int axis = all ? 0 : node_axis(v, node_attr_int(v, "axis", 0), it->shape.rank);
	if (node_ok(v) && (times < 1 || times > INT32_MAX))
		node_fail(v, ERR_INPUT, "its repeats are %lld", (long long)times);
	if (!node_ok(v))
		return;
	parts.dim[0] = shape_product(&s, 0, axis + 1);
	parts.dim[1] = 1;
	parts.dim[2] = shape_product(&s, axis + 1, s.rank);
	int x = node_reshape(v, node_value(v, 0), parts);
	parts.dim[1] = times;
	s.dim[axis] = size_product(s.dim[axis], times);
	node_set(v, 0, node_reshape(v, node_expand(v, x, parts), s));
}

static void import_flip(Visit *v)
{
	const Item *it = node_need(v, 0);
	int count, rank = it->shape.rank;
	const int64_t *axes = node_attr_ints(v, "axis", &count);
	int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK];
	for (int k = 0; k < rank; k++) {
		step[k] = count < 0 ? -1 : 1;
		start[k] = count < 0 ? it->shape.dim[k] - 1 : 0;
	}
	for (int k = 0; k < count && node_ok(v); k++) {
		int axis = node_axis(v, axes[k], rank);
		step[axis] = -1;
		start[axis] = it->shape.dim[axis] - 1;
	}
	int x = node_value(v, 0);
	Attr attr[] = { attr_ints("starts", start, rank), attr_ints("steps", step, rank),
		attr_ints("sizes", it->shape.dim, rank) };
	node_set(v, 0, node_call(v, OP_slice, &x, 1, attr, 3));
}

/* 0 keeps a dimension; the NumPy family adds dimensions in front. */
static void import_broadcast_to(Visit *v)
{
	const Item *it = node_need(v, 0);
	MxnetList want = mxnet_attr_list(v, "shape");
	int more = want.n - it->shape.rank;
	if (node_ok(v) && (more < 0 || (more > 0 && strncmp(v->node->op, "_npi_", 5) != 0)))
		node_fail(v, ERR_INPUT, "its shape has %d dimensions, its input %d", want.n, it->shape.rank);
	if (!node_ok(v))
		return;
	Shape s = { .rank = want.n };
	for (int k = 0; k < s.rank; k++)
		s.dim[k] = want.at[k] == 0 || want.at[k] == -2 ? k < more ? 1 : it->shape.dim[k - more] : want.at[k];
	node_set(v, 0, node_expand(v, node_value(v, 0), s));
}

static void import_broadcast_axis(Visit *v)
{
	const Item *it = node_need(v, 0);
	int naxes, nsizes;
	const int64_t *axes = node_attr_ints(v, "axis", &naxes), *sizes = node_attr_ints(v, "size", &nsizes);
	Shape s = it->shape;
	if (node_ok(v) && naxes != nsizes)
		node_fail(v, ERR_INPUT, "it has %d axes and %d sizes", naxes, nsizes);
	for (int k = 0; k < naxes && node_ok(v); k++)
		s.dim[node_axis(v, axes[k], s.rank)] = sizes[k];
	if (node_ok(v))
		node_set(v, 0, node_expand(v, node_value(v, 0), s));
}

static void import_broadcast_like(Visit *v)
{
	const Item *a = node_need(v, 0), *b = node_need(v, 1);
	int nl, nr;
	const int64_t *left = node_attr_ints(v, "lhs_axes", &nl), *right = node_attr_ints(v, "rhs_axes", &nr);
	Shape s = nl < 0 ? b->shape : a->shape;
	if (node_ok(v) && (nl != nr || (nl < 0 && a->shape.rank != b->shape.rank)))
		node_fail(v, ERR_TYPE, "the dimensions of its inputs do not correspond");
	for (int k = 0; k < nl && node_ok(v); k++) {
		int to = node_axis(v, left[k], s.rank), from = node_axis(v, right[k], b->shape.rank);
		s.dim[to] = b->shape.dim[from];
	}
	if (node_ok(v))
		node_set(v, 0, node_expand(v, node_value(v, 0), s));
}

static void import_pad(Visit *v)
{
	const Item *it = node_need(v, 0);
	int count, rank = it->shape.rank;
	const int64_t *width = node_attr_ints(v, "pad_width", &count);
	const char *mode = node_attr_text(v, "mode", "constant");
	double value = node_attr_float(v, "constant_value", 0);
	int64_t pads[2 * DAG_MAX_RANK] = { 0 };
	if (node_ok(v) && count != 2 * rank)
		node_fail(v, ERR_INPUT, "its pad_width has %d numbers, but its input has %d dimensions", count, rank);
	for (int k = 0; k < rank && node_ok(v); k++) {
		pads[k] = width[2 * k];
		pads[rank + k] = width[2 * k + 1];
		if (pads[k] < 0 || pads[rank + k] < 0)
			node_fail(v, ERR_INPUT, "its pad_width holds a negative number");
	}
	int x = node_value(v, 0);
	Attr attr[] = { attr_ints("pads", pads, 2 * rank), attr_text("mode", mode), attr_float("value", value) };
	node_set(v, 0, node_call(v, OP_pad, &x, 1, attr, 3));
}

/* Channels become blocks of places, or blocks channels; ONNX calls this order DCR. */
static void space(Visit *v, bool to_space)
{
	const Item *it = node_need(v, 0);
	int64_t b = node_attr_int(v, "block_size", 0);
	const int64_t *d = it->shape.dim;
	bool fits = it->shape.rank == 4 && b > 0 && b < 1 << 10 &&
	            (to_space ? d[1] % (b * b) == 0 : d[2] % b == 0 && d[3] % b == 0);
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its input does not fit a block_size of %lld", (long long)b);
	if (!node_ok(v))
		return;
	int x = node_value(v, 0);
	if (to_space) {
		x = node_view(v, x, 6, (int64_t[]){ d[0], b, b, d[1] / (b * b), d[2], d[3] });
		x = node_transpose(v, x, (int64_t[]){ 0, 3, 4, 1, 5, 2 });
		x = node_view(v, x, 4, (int64_t[]){ d[0], d[1] / (b * b), d[2] * b, d[3] * b });
	} else {
		x = node_view(v, x, 6, (int64_t[]){ d[0], d[1], d[2] / b, b, d[3] / b, b });
		x = node_transpose(v, x, (int64_t[]){ 0, 3, 5, 1, 2, 4 });
		int64_t c = size_product(d[1], size_product(b, b));
		x = node_view(v, x, 4, (int64_t[]){ d[0], c, d[2] / b, d[3] / b });
	}
	node_set(v, 0, x);
}

static void import_depth_to_space(Visit *v)
{
	space(v, true);
}

static void import_space_to_depth(Visit *v)
{
	space(v, false);
}

const NodeRow mxnet_move_rows[] = {
	{ "Reshape", 0, "", import_reshape },
	{ "_np_reshape", 0, "", import_np_reshape },
	{ "_npx_reshape", 0, "", import_np_reshape },
	{ "Flatten", 0, "", import_flatten },
	{ "reshape_like", 0, "", import_reshape_like },
	{ "expand_dims", 0, "", import_expand_dims },
	{ "squeeze", 0, "", import_squeeze },
	{ "_np_squeeze", 0, "", import_squeeze },
	{ "transpose", 0, "", import_transpose },
	{ "SwapAxis", 0, "", import_swap_axes },
	{ "Concat", 0, "", import_concat },
	{ "_rnn_param_concat", 0, "", import_parameters },
	{ "_npi_concatenate", 0, "", import_np_concatenate },
	{ "stack", 0, "", import_stack },
	{ "tile", 0, "", import_tile },
	{ "repeat", 0, "", import_repeat },
	{ "reverse", 0, "", import_flip },
	{ "broadcast_to", 0, "", import_broadcast_to },
	{ "_npi_broadcast_to", 0, "", import_broadcast_to },
	{ "broadcast_axis", 0, "", import_broadcast_axis },
	{ "broadcast_like", 0, "", import_broadcast_like },
	{ "Pad", 0, "", import_pad },
	{ "depth_to_space", 0, "", import_depth_to_space },
	{ "space_to_depth", 0, "", import_space_to_depth },
	{ NULL, 0, NULL, NULL },
};
