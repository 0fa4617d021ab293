/*
 * Operators with sliding windows: convolution, its transpose, pooling, LRN. A tap that falls into the padding is
 * not loaded: its index is checked first, where the geometry does not show it inside.
 */
#include "op/naive.h"

typedef struct Taps {
	const Expr *at[WINDOW_MAX]; /* index into the input */
	const Expr *inside;         /* NULL: always */
} Taps;

static const char *const axes[] = { "d", "h", "w" }, *const taps[] = { "kd", "kh", "kw" };

/* at = out * stride - lo + tap * dilation in every spatial dimension. */
static Taps find_taps(Naive *nv, const Window *w, const Expr *const *out, const Expr *const *tap)
{
	Ir *ir = nv->ir;
	Taps t = { .inside = NULL };
	for (int k = 0; k < w->n; k++) {
		const Expr *at = ir_mul(ir, out[k], ir_int(ir, w->stride[k]));
		at = ir_add(ir, at, ir_mul(ir, tap[k], ir_int(ir, w->dilation[k])));
		t.at[k] = ir_sub(ir, at, ir_int(ir, w->lo[k]));
		int64_t last = (w->out[k] - 1) * w->stride[k] + (w->kernel[k] - 1) * w->dilation[k] - w->lo[k];
		t.inside = naive_inside(nv, t.at[k], -w->lo[k], last, w->in[k], t.inside);
	}
	return t;
}

static void spatial_axes(Nest *nest, const Window *w, const Expr **out)
{
	for (int k = 0; k < w->n; k++)
		out[k] = nest_axis(nest, axes[WINDOW_MAX - w->n + k], ITER_SPATIAL, w->out[k]);
}

static void tap_axes(Nest *nest, const Window *w, const Expr **tap)
{
	for (int k = 0; k < w->n; k++)
		tap[k] = nest_axis(nest, taps[WINDOW_MAX - w->n + k], ITER_REDUCE, w->kernel[k]);
}

/* Stores the accumulator into the result, unless they are one buffer. */
static void round_result(Naive *nv, Buf *acc, Buf *out)
{
	Nest nest = { .nv = nv };
	const Expr *idx[DAG_MAX_RANK];
	nest_shape(&nest, naive_out(nv, 0)->shape, idx);
	nest_close(&nest, "round", NULL, naive_store(nv, out, idx, ir_load(nv->ir, acc, idx, acc->rank)));
}

/* Closes the nest: acc[at_y] is the bias and the sum of x[at_x] * w[at_w]; taps that are not inside count as border. */
static void sum_products(Nest *nest, Buf *acc, const Expr *const *at_y, const Expr *const *at_x,
	const Expr *const *at_w, const Expr *inside, int64_t border)
{
	Naive *nv = nest->nv;
	Ir *ir = nv->ir;
	const Expr *zero = ir_const(ir, acc->type, 0), *v = naive_load(nv, 0, at_x, acc->type);
	if (inside != NULL)
		v = ir_select(ir, inside, v, ir_const(ir, acc->type, (double)border));
	v = ir_mul(ir, v, naive_load(nv, 1, at_w, acc->type));
	const Expr *bias = naive_in(nv, 2) != NULL ? naive_load(nv, 2, &at_y[1], acc->type) : zero;
	nest_close(nest, NULL, naive_store(nv, acc, at_y, bias), ir_reduce(ir, "sum", acc, at_y, acc->rank, v));
}

/*
 * Loops n, o, (d, h,) w, c, (kd, kh,) kw; with groups c is within o's. A depthwise convolution has no c: its
 * input channel is o.
 */
void naive_conv(Naive *nv)
{
	Ir *ir = nv->ir;
	Window win;
	op_window(nv->d, nv->c, &win, NULL);
	const Value *x = naive_in(nv, 0), *w = naive_in(nv, 1), *y = naive_out(nv, 0);
	int64_t groups = op_int(nv->c, "groups"), filters = w->shape.dim[0], depth = w->shape.dim[1];
	bool depthwise = groups > 1 && depth == 1 && filters == groups;
	DType acc_type = naive_acc(nv, y->type);
	Buf *out = naive_buf(nv, nv->c->out[0]);
	Buf *acc = dtype_eq(out->type, acc_type) ? out : naive_work(nv, "acc", acc_type, y->shape);

	Nest nest = { .nv = nv };
	const Expr *at_y[DAG_MAX_RANK], *at_x[DAG_MAX_RANK], *at_w[DAG_MAX_RANK], *tap[WINDOW_MAX];
	const Expr *c = ir_int(ir, 0);
	at_x[0] = at_y[0] = nest_axis(&nest, "n", ITER_SPATIAL, x->shape.dim[0]);
	const Expr *o = nest_axis(&nest, "o", ITER_SPATIAL, filters);
	spatial_axes(&nest, &win, &at_y[2]);
	if (!depthwise)
		c = nest_axis(&nest, "c", ITER_REDUCE, depth);
	tap_axes(&nest, &win, tap);

	at_y[1] = at_w[0] = o;
	at_x[1] = depthwise ? o : c;
	at_w[1] = c;
	if (groups > 1 && !depthwise) {
		const Expr *group = ir_div(ir, o, ir_int(ir, filters / groups));
		at_x[1] = ir_add(ir, ir_mul(ir, group, ir_int(ir, depth)), c);
	}
	Taps t = find_taps(nv, &win, &at_y[2], tap);
	for (int k = 0; k < win.n; k++) {
		at_x[2 + k] = t.at[k];
		at_w[2 + k] = tap[k];
	}
	sum_products(&nest, acc, at_y, at_x, at_w, t.inside, op_int(nv->c, "border"));
	if (acc != out)
		round_result(nv, acc, out);
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/*
 * Where a tap of a result's element comes from: at = (out + lo - tap * dilation) / stride, if stride divides that and
 * the input has the element.
 */
static Taps find_sources(Naive *nv, const Window *w, const Expr *const *out, const Expr *const *tap)
{
	Ir *ir = nv->ir;
	Taps t = { .inside = NULL };
	for (int k = 0; k < w->n; k++) {
		const Expr *at = ir_sub(ir, ir_add(ir, out[k], ir_int(ir, w->lo[k])),
			ir_mul(ir, tap[k], ir_int(ir, w->dilation[k])));
		const Expr *stride = ir_int(ir, w->stride[k]);
		int64_t first = w->lo[k] - (w->kernel[k] - 1) * w->dilation[k], last = w->out[k] - 1 + w->lo[k];
		if (w->stride[k] > 1) {
			const Expr *meets = ir_eq(ir, ir_mod(ir, at, stride), ir_int(ir, 0));
			t.inside = t.inside == NULL ? meets : ir_and(ir, t.inside, meets);
		}
		t.at[k] = ir_div(ir, at, stride);
		t.inside = naive_inside(
			nv, t.at[k], floor_div(first, w->stride[k]), floor_div(last, w->stride[k]), w->in[k], t.inside);
	}
	return t;
}

/* Loops n, o, (d, h,) w, c, (kd, kh,) kw; with groups c is within o's. */
void naive_conv_transpose(Naive *nv)
{
	Ir *ir = nv->ir;
	Window win;
	op_window(nv->d, nv->c, &win, NULL);
	const Value *x = naive_in(nv, 0), *w = naive_in(nv, 1), *y = naive_out(nv, 0);
	int64_t groups = op_int(nv->c, "groups"), filters = w->shape.dim[1], depth = x->shape.dim[1] / groups;
	DType acc_type = naive_acc(nv, y->type);
	Buf *out = naive_buf(nv, nv->c->out[0]);
	Buf *acc = dtype_eq(out->type, acc_type) ? out : naive_work(nv, "acc", acc_type, y->shape);

	Nest nest = { .nv = nv };
	const Expr *at_y[DAG_MAX_RANK], *at_x[DAG_MAX_RANK], *at_w[DAG_MAX_RANK], *tap[WINDOW_MAX];
	at_x[0] = at_y[0] = nest_axis(&nest, "n", ITER_SPATIAL, x->shape.dim[0]);
	const Expr *o = at_y[1] = nest_axis(&nest, "o", ITER_SPATIAL, y->shape.dim[1]);
	spatial_axes(&nest, &win, &at_y[2]);
	const Expr *c = nest_axis(&nest, "c", ITER_REDUCE, depth);
	tap_axes(&nest, &win, tap);

	at_w[0] = at_x[1] = c;
	at_w[1] = o;
	if (groups > 1) {
		const Expr *group = ir_div(ir, o, ir_int(ir, filters));
		at_w[0] = at_x[1] = ir_add(ir, ir_mul(ir, group, ir_int(ir, depth)), c);
		at_w[1] = ir_mod(ir, o, ir_int(ir, filters));
	}
	Taps t = find_sources(nv, &win, &at_y[2], tap);
	for (int k = 0; k < win.n; k++) {
		at_x[2 + k] = t.at[k];
		at_w[2 + k] = tap[k];
	}
	sum_products(&nest, acc, at_y, at_x, at_w, t.inside, 0);
	if (acc != out)
		round_result(nv, acc, out);
}

/* Each element of the result is the sum of the windows' elements that lie there; an element of x is read once. */
void naive_fold(Naive *nv)
{
	Ir *ir = nv->ir;
	Window win;
	op_fold_window(nv->d, nv->c, &win, NULL);
	const Value *x = naive_in(nv, 0), *y = naive_out(nv, 0);
	Buf *out = naive_buf(nv, nv->c->out[0]);
	DType acc_type = naive_acc(nv, y->type);
	Buf *acc = dtype_eq(out->type, acc_type) ? out : naive_work(nv, "acc", acc_type, y->shape);
	Nest nest = { .nv = nv };
	const Expr *at_y[DAG_MAX_RANK], *at_x[DAG_MAX_RANK], *tap[WINDOW_MAX], *zero = ir_const(ir, acc_type, 0);
	at_x[0] = at_y[0] = nest_axis(&nest, "n", ITER_SPATIAL, x->shape.dim[0]);
	at_x[1] = at_y[1] = nest_axis(&nest, "c", ITER_SPATIAL, x->shape.dim[1]);
	spatial_axes(&nest, &win, &at_y[2]);
	tap_axes(&nest, &win, tap);
	Taps t = find_sources(nv, &win, &at_y[2], tap);
	for (int k = 0; k < win.n; k++) {
		at_x[2 + k] = tap[k];
		at_x[2 + win.n + k] = t.at[k];
	}
	const Expr *v = zero;
	if (shape_elements(x->shape) > 0)
		v = naive_load(nv, 0, at_x, acc_type);
	if (t.inside != NULL)
		v = ir_select(ir, t.inside, v, zero);
	nest_close(&nest, NULL, naive_store(nv, acc, at_y, zero), ir_reduce(ir, "sum", acc, at_y, acc->rank, v));
	if (acc != out)
		round_result(nv, acc, out);
}

/* The number of taps of a window that lie in [-lo, n + hi) of one dimension, as an expression of its position. */
static const Expr *count_taps(Naive *nv, const Window *w, int k, const Expr *out, bool count_pad)
{
	Ir *ir = nv->ir;
	int64_t lo = count_pad ? -w->lo[k] : 0, end = w->in[k] + (count_pad ? w->hi[k] : 0);
	int64_t step = w->dilation[k], span = (w->kernel[k] - 1) * step;
	int64_t first_at = -w->lo[k], last_at = (w->out[k] - 1) * w->stride[k] - w->lo[k] + span;
	const Expr *first = ir_int(ir, 0), *stop = ir_int(ir, w->kernel[k]);
	/* Tap j lies at base + j * step: it is within for ceil((lo - base) / step) <= j < ceil(..end..). */
	const Expr *base = ir_mul(ir, out, ir_int(ir, w->stride[k]));
	base = ir_sub(ir, base, ir_int(ir, w->lo[k]));
	const Expr *by = ir_int(ir, step);
	if (first_at < lo)
		first = ir_max(ir, first, ir_div(ir, ir_sub(ir, ir_int(ir, lo + step - 1), base), by));
	if (last_at >= end)
		stop = ir_min(ir, stop, ir_div(ir, ir_sub(ir, ir_int(ir, end + step - 1), base), by));
	return ir_sub(ir, stop, first);
}

static void divide_by_count(Naive *nv, const Window *w, Buf *acc, Buf *out)
{
	Ir *ir = nv->ir;
	Nest nest = { .nv = nv };
	const Expr *idx[DAG_MAX_RANK], *count = ir_int(ir, 1);
	nest_shape(&nest, naive_out(nv, 0)->shape, idx);
	for (int k = 0; k < w->n; k++) {
		const Expr *n = count_taps(nv, w, k, idx[2 + k], op_int(nv->c, "count_pad") != 0);
		int64_t known;
		if (!ir_is_int(n, &known)) /* a window may lie in the padding altogether: 0 / 1 */
			n = ir_max(ir, n, ir_int(ir, 1));
		count = ir_mul(ir, count, n);
	}
	const Expr *sum = ir_load(ir, acc, idx, acc->rank);
	nest_close(&nest, "mean", NULL, naive_store(nv, out, idx, naive_div(nv, sum, ir_cast(ir, acc->type, count))));
}

/* A nest over a pooling's windows: the index of the result, of the tap's element, and whether it exists. */
static Nest pool_nest(Naive *nv, const Window *win, const Expr **at_y, const Expr **at_x, const Expr **inside)
{
	const Value *y = naive_out(nv, 0);
	const Expr *tap[WINDOW_MAX];
	Nest nest = { .nv = nv };
	at_x[0] = at_y[0] = nest_axis(&nest, "n", ITER_SPATIAL, y->shape.dim[0]);
	at_x[1] = at_y[1] = nest_axis(&nest, "c", ITER_SPATIAL, y->shape.dim[1]);
	spatial_axes(&nest, win, &at_y[2]);
	tap_axes(&nest, win, tap);
	Taps where = find_taps(nv, win, &at_y[2], tap);
	for (int k = 0; k < win->n; k++)
		at_x[2 + k] = where.at[k];
	*inside = where.inside;
	return nest;
}

/* Reduces the elements of each window into acc; those in the padding count as the start. */
static void reduce_windows(Naive *nv, const Window *win, const char *what, bool max, Buf *acc)
{
	Ir *ir = nv->ir;
	const Expr *at_y[DAG_MAX_RANK], *at_x[DAG_MAX_RANK], *inside;
	Nest nest = pool_nest(nv, win, at_y, at_x, &inside);
	const Expr *nothing = max ? naive_extreme(nv, acc->type, true) : ir_const(ir, acc->type, 0);
	const Expr *v = naive_load(nv, 0, at_x, acc->type);
	if (inside != NULL)
		v = ir_select(ir, inside, v, nothing);
	nest_close(&nest, what, naive_store(nv, acc, at_y, nothing),
		ir_reduce(ir, max ? "max" : "sum", acc, at_y, acc->rank, v));
}

void naive_pool(Naive *nv)
{
	Window win;
	op_window(nv->d, nv->c, &win, NULL);
	bool max = nv->c->op == OP_max_pool;
	const Value *y = naive_out(nv, 0);
	Buf *out = naive_buf(nv, nv->c->out[0]);
	Buf *acc = max ? out : naive_work(nv, "sum", naive_acc(nv, y->type), y->shape);
	reduce_windows(nv, &win, NULL, max, acc);
	if (!max)
		divide_by_count(nv, &win, acc, out);
}

/*
 * The maximum of each window, then the least place that holds it: the first tap, since places rise with taps. A
 * NaN is the maximum of its window. A window in the padding alone has no place: the result is the greatest number.
 */
void naive_max_pool_place(Naive *nv)
{
	Ir *ir = nv->ir;
	Window win;
	op_window(nv->d, nv->c, &win, NULL);
	const Value *x = naive_in(nv, 0), *y = naive_out(nv, 0);
	DType t = naive_type(nv, x->type);
	Buf *out = naive_buf(nv, nv->c->out[0]), *max = naive_work(nv, "max", t, y->shape);
	reduce_windows(nv, &win, "max", true, max);

	const Expr *at_y[DAG_MAX_RANK], *at_x[DAG_MAX_RANK], *inside;
	Nest nest = pool_nest(nv, &win, at_y, at_x, &inside);
	const Expr *v = naive_load(nv, 0, at_x, t), *place = ir_int(ir, 0);
	for (int k = 0; k < x->shape.rank; k++)
		place = ir_add(ir, ir_mul(ir, place, ir_int(ir, x->shape.dim[k])), at_x[k]);
	const Expr *here = ir_eq(ir, v, ir_load(ir, max, at_y, max->rank)), *none = naive_extreme(nv, I64, false);
	if (dtype_is_float(t))
		here = ir_binary(ir, IR_OR, here, ir_unary(ir, IR_ISNAN, v));
	place = ir_select(ir, here, place, none);
	if (inside != NULL)
		place = ir_select(ir, inside, place, none);
	nest_close(&nest, NULL, naive_store(nv, out, at_y, none), ir_reduce(ir, "min", out, at_y, out->rank, place));
}

/* Channels c - (size - 1) / 2 .. c + size / 2, as far as they exist. */
void naive_lrn(Naive *nv)
{
	Ir *ir = nv->ir;
	const Value *x = naive_in(nv, 0);
	Shape s = x->shape;
	int64_t size = op_int(nv->c, "size"), before = (size - 1) / 2;
	DType t = naive_acc(nv, x->type);
	Buf *out = naive_buf(nv, nv->c->out[0]), *sum = naive_work(nv, "sum", t, s);

	Nest nest = { .nv = nv };
	const Expr *idx[DAG_MAX_RANK], *at[DAG_MAX_RANK];
	nest_shape(&nest, s, idx);
	const Expr *k = nest_axis(&nest, "k", ITER_REDUCE, size);
	for (int i = 0; i < s.rank; i++)
		at[i] = idx[i];
	at[1] = ir_sub(ir, ir_add(ir, idx[1], k), ir_int(ir, before));
	const Expr *zero = ir_const(ir, t, 0), *v = naive_load(nv, 0, at, t);
	const Expr *inside = naive_inside(nv, at[1], -before, s.dim[1] - 1 + size - 1 - before, s.dim[1], NULL);
	v = ir_mul(ir, v, v);
	if (inside != NULL)
		v = ir_select(ir, inside, v, zero);
	nest_close(&nest, "sum", naive_store(nv, sum, idx, zero), ir_reduce(ir, "sum", sum, idx, s.rank, v));

	Nest last = { .nv = nv };
	nest_shape(&last, s, idx);
	const Expr *scale = ir_const(ir, t, op_float(nv->c, "alpha") / (double)size);
	const Expr *of =
		ir_add(ir, ir_const(ir, t, op_float(nv->c, "bias")), ir_mul(ir, scale, ir_load(ir, sum, idx, s.rank)));
	of = ir_binary(ir, IR_POW, of, ir_const(ir, t, op_float(nv->c, "beta")));
	nest_close(&last, NULL, NULL, naive_store(nv, out, idx, ir_div(ir, naive_load(nv, 0, idx, t), of)));
}
