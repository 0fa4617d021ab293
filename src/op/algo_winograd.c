/*
 * Winograd's minimal filtering: a 3x3 convolution of stride 1 as (m+2)^2 products over channels, one
 * for each place in a tile of m x m outputs, instead of nine for each output.
 *
 *     U = G g G^T   (prepared: g are the weights)     V = B^T d B   (d: a tile of the padded input)
 *     M[i,j] = sum over c of U[i,j,c] * V[i,j,c]      Y = A^T M A + bias
 *
 * Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015. The points are 0, 1, -1
 * and infinity, for m = 4 also 2 and -2, for m = 6 also 1/2 and -1/2. B and A hold dyadic numbers
 * only; what G divides by is written as a division, so that calculation modulo a prime is exact.
 *
 * The blocks are wino.u, wino.v, wino.m, wino.y, their loops u.o, v.th, m.c and so on. A transformation is written
 * out in its block as lets, columns first. V and M have the channels last: row-major they are the operands of a
 * batch of matrix products. Places of a tile beyond the input read as zero; outputs beyond the edge are not stored.
 */
#include "op/algo.h"
#include "op/naive.h"

#include <math.h>

enum { TILE = 8, TAPS = 3 };

typedef struct Matrix {
	int rows, cols;
	double at[TILE][TILE];
} Matrix;

typedef struct Scheme {
	int m;
	double error; /* measured by tests/op/test_algo.c, with a margin */
	Matrix b, g, a; /* B^T; G with row k multiplied by below[k]; A^T */
	double below[TILE];
} Scheme;

static const Scheme schemes[] = {
	{ 2, 1e-5,
		{ 4, 4, { { 1, 0, -1, 0 }, { 0, 1, 1, 0 }, { 0, -1, 1, 0 }, { 0, 1, 0, -1 } } },
		{ 4, 3, { { 1, 0, 0 }, { 1, 1, 1 }, { 1, -1, 1 }, { 0, 0, 1 } } },
		{ 2, 4, { { 1, 1, 1, 0 }, { 0, 1, -1, -1 } } },
		{ 1, 2, 2, 1 } },
	{ 4, 5e-5,
		{ 6, 6, { { 4, 0, -5, 0, 1, 0 }, { 0, -4, -4, 1, 1, 0 }, { 0, 4, -4, -1, 1, 0 },
			{ 0, -2, -1, 2, 1, 0 }, { 0, 2, -1, -2, 1, 0 }, { 0, 4, 0, -5, 0, 1 } } },
		{ 6, 3, { { 1, 0, 0 }, { -1, -1, -1 }, { -1, 1, -1 }, { 1, 2, 4 }, { 1, -2, 4 }, { 0, 0, 1 } } },
		{ 4, 6, { { 1, 1, 1, 1, 1, 0 }, { 0, 1, -1, 2, -2, 0 }, { 0, 1, 1, 4, 4, 0 },
			{ 0, 1, -1, 8, -8, 1 } } },
		{ 4, 6, 6, 24, 24, 1 } },
	{ 6, 1e-4,
		{ 8, 8, { { 1, 0, -5.25, 0, 5.25, 0, -1, 0 }, { 0, 1, 1, -4.25, -4.25, 1, 1, 0 },
			{ 0, -1, 1, 4.25, -4.25, -1, 1, 0 }, { 0, 0.5, 0.25, -2.5, -1.25, 2, 1, 0 },
			{ 0, -0.5, 0.25, 2.5, -1.25, -2, 1, 0 }, { 0, 2, 4, -2.5, -5, 0.5, 1, 0 },
			{ 0, -2, 4, 2.5, -5, -0.5, 1, 0 }, { 0, -1, 0, 5.25, 0, -5.25, 0, 1 } } },
		{ 8, 3, { { 1, 0, 0 }, { -2, -2, -2 }, { -2, 2, -2 }, { 1, 2, 4 }, { 1, -2, 4 }, { 32, 16, 8 },
			{ 32, -16, 8 }, { 0, 0, 1 } } },
		{ 6, 8, { { 1, 1, 1, 1, 1, 1, 1, 0 }, { 0, 1, -1, 2, -2, 0.5, -0.5, 0 },
			{ 0, 1, 1, 4, 4, 0.25, 0.25, 0 }, { 0, 1, -1, 8, -8, 0.125, -0.125, 0 },
			{ 0, 1, 1, 16, 16, 0.0625, 0.0625, 0 }, { 0, 1, -1, 32, -32, 0.03125, -0.03125, 1 } } },
		{ 1, 9, 9, 90, 90, 45, 45, 1 } },
};

static const Scheme *scheme_of(int64_t m)
{
	for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++)
		if (schemes[k].m == m)
			return &schemes[k];
	return NULL;
}

/* ---- small matrices of expressions ---- */

/* The statements of a block, as they are written. */
typedef struct Code {
	Naive *nv;
	DType type;
	Stmt *first;
	Stmt **end;
} Code;

static void put(Code *w, Stmt *s)
{
	*w->end = s;
	w->end = &s->next;
}

/* Names the value, unless it is an atom already. */
static const Expr *name_it(Code *w, const char *stem, const Expr *e)
{
	if (e->op == IR_VAR)
		return e;
	const char *name = ir_name(w->nv->ir, names_give(w->nv->names, stem));
	put(w, ir_let(w->nv->ir, name, e));
	return ir_var(w->nv->ir, name, e->type);
}

/* sum + c * x; sum may be NULL. */
static const Expr *add_term(Code *w, const Expr *sum, double c, const Expr *x)
{
	Ir *ir = w->nv->ir;
	const Expr *scaled = fabs(c) == 1 ? x : ir_mul(ir, ir_const(ir, w->type, fabs(c)), x);
	if (sum == NULL)
		return c > 0 ? scaled : ir_unary(ir, IR_NEG, scaled);
	return c > 0 ? ir_add(ir, sum, scaled) : ir_sub(ir, sum, scaled);
}

/* Terms with positive factors first, so that no negation is needed; NULL: all factors are zero. */
static const Expr *dot(Code *w, const double *c, const Expr *const *x, int n)
{
	const Expr *sum = NULL;
	for (int k = 0; k < n; k++)
		if (c[k] > 0)
			sum = add_term(w, sum, c[k], x[k]);
	for (int k = 0; k < n; k++)
		if (c[k] < 0)
			sum = add_term(w, sum, c[k], x[k]);
	return sum;
}

static bool columns_pair(const Matrix *m, int j)
{
	bool same = j + 1 < m->cols, both = false;
	for (int i = 0; same && i < m->rows; i++) {
		same = fabs(m->at[i][j]) == fabs(m->at[i][j + 1]);
		both |= m->at[i][j] != 0;
	}
	return same && both;
}

static bool rows_pair(const Matrix *m, int i)
{
	int differ = 0, equal = 0;
	for (int j = 0; i + 1 < m->rows && j < m->cols; j++) {
		if (fabs(m->at[i][j]) != fabs(m->at[i + 1][j]))
			return false;
		if (m->at[i][j] != 0)
			++*(m->at[i][j] == m->at[i + 1][j] ? &equal : &differ);
	}
	return equal > 0 && differ > 0;
}

/*
 * y[k * sy] = row k of m times x. Two columns that differ in signs only are added and subtracted
 * once; of two rows that do, what they share is computed once: E + O and E - O.
 */
static void transform(Code *w, const Matrix *m, const Expr *const *x, int sx, const Expr **y, int sy)
{
	Ir *ir = w->nv->ir;
	const Expr *in[TILE];
	double c[TILE][TILE];
	for (int j = 0; j < m->cols; j++) {
		in[j] = x[j * sx];
		for (int i = 0; i < m->rows; i++)
			c[i][j] = m->at[i][j];
	}
	for (int j = 0; j < m->cols; j++) {
		if (!columns_pair(m, j))
			continue;
		const Expr *a = in[j], *b = in[j + 1];
		in[j] = name_it(w, "s", ir_add(ir, a, b));
		in[j + 1] = name_it(w, "s", ir_sub(ir, a, b));
		for (int i = 0; i < m->rows; i++)
			c[i][m->at[i][j] == m->at[i][j + 1] ? j + 1 : j] = 0; /* the other one has it */
		for (int i = 0; i < m->rows; i++)
			if (c[i][j + 1] != 0)
				c[i][j + 1] = m->at[i][j];
		j++;
	}
	for (int i = 0; i < m->rows; i++) {
		if (!rows_pair(m, i)) {
			y[i * sy] = dot(w, c[i], in, m->cols);
			continue;
		}
		double even[TILE] = { 0 }, odd[TILE] = { 0 };
		for (int j = 0; j < m->cols; j++)
			*(m->at[i][j] == m->at[i + 1][j] ? &even[j] : &odd[j]) = m->at[i][j];
		const Expr *e = name_it(w, "s", dot(w, even, in, m->cols)), *o = name_it(w, "s", dot(w, odd, in, m->cols));
		y[i * sy] = ir_add(ir, e, o);
		y[(i + 1) * sy] = ir_sub(ir, e, o);
		i++;
	}
}

/* out = m in m^T, rows divided by below[] (NULL: by nothing) both times. */
static void transform_both(Code *w, const Matrix *m, const double *below, const Expr *const *in, const Expr **out)
{
	Ir *ir = w->nv->ir;
	const Expr *half[TILE * TILE];
	for (int j = 0; j < m->cols; j++) {
		transform(w, m, in + j, m->cols, half + j, m->cols);
		for (int i = 0; i < m->rows; i++) {
			const Expr **h = &half[i * m->cols + j];
			if (below != NULL && below[i] != 1)
				*h = ir_div(ir, *h, ir_const(ir, w->type, below[i]));
			*h = name_it(w, "t", *h);
		}
	}
	for (int i = 0; i < m->rows; i++)
		transform(w, m, half + i * m->cols, 1, out + i * m->rows, 1);
	for (int k = 0; below != NULL && k < m->rows * m->rows; k++)
		if (below[k % m->rows] != 1)
			out[k] = ir_div(ir, out[k], ir_const(ir, w->type, below[k % m->rows]));
}

/* ---- the nests ---- */

typedef struct Wino {
	Naive *nv;
	const Scheme *s;
	int t; /* m + 2 */
	Window win;
	int64_t n, c, o, th, tw; /* tiles */
	Buf *u, *v, *m;
} Wino;

static Code code(const Wino *w, DType type)
{
	return (Code){ .nv = w->nv, .type = type };
}

static const Expr *at(Wino *w, int64_t k)
{
	return ir_int(w->nv->ir, k);
}

/* prepare fn: u[o,c,:,:] = G g[o,c,:,:] G^T, in f64, rounded once. */
static void prepare_weights(Wino *w, int64_t block)
{
	Naive *nv = w->nv;
	Ir *ir = nv->ir;
	Buf *g = naive_buf(nv, nv->c->in[1]);
	Shape s = shape_of(4, (int64_t[]){ w->o, w->c, w->t, w->t });
	w->u = naive_work(nv, "u", F32, s);
	w->u->role = BUF_CONST;
	w->u->map = naive_map(ir, arena_printf(ir_arena(ir), "HWOI%lldo", (long long)block), s);
	Buf *out = arena_new_of(ir_arena(ir), Buf);
	*out = *w->u;
	out->role = BUF_OUT;

	Fn *run = nv->fn;
	Stmt *last = nv->last;
	nv->fn = ir_fn(ir, ir_name(ir, "wino.u"), FN_PREPARE);
	nv->last = NULL;
	ir_fn_add_buf(ir, nv->fn, g);
	ir_fn_add_buf(ir, nv->fn, out);
	Nest nest = { .nv = nv };
	const Expr *in[TAPS * TAPS], *u[TILE * TILE], *idx[4];
	idx[0] = nest_axis(&nest, "u.o", ITER_SPATIAL, w->o);
	idx[1] = nest_axis(&nest, "u.c", ITER_SPATIAL, w->c);
	Code body = code(w, F64);
	body.end = &body.first;
	for (int k = 0; k < TAPS * TAPS; k++) {
		idx[2] = at(w, k / TAPS);
		idx[3] = at(w, k % TAPS);
		in[k] = name_it(&body, "g", ir_cast(ir, F64, ir_load(ir, g, idx, 4)));
	}
	transform_both(&body, &w->s->g, w->s->below, in, u);
	for (int k = 0; k < w->t * w->t; k++) {
		idx[2] = at(w, k / w->t);
		idx[3] = at(w, k % w->t);
		put(&body, ir_store(ir, out, idx, 4, ir_cast(ir, F32, u[k])));
	}
	nest_close(&nest, "u", NULL, body.first);
	ir_set_add(nv->set, nv->fn);
	nv->fn = run;
	nv->last = last;
	naive_drop_const(nv, 1);
}

/* wino.v: V = B^T d B, zero where the tile lies outside of the input. */
static void transform_input(Wino *w)
{
	Naive *nv = w->nv;
	Ir *ir = nv->ir;
	int64_t m = w->s->m, last_h = (w->th - 1) * m, last_w = (w->tw - 1) * m;
	Nest nest = { .nv = nv };
	const Expr *n = nest_axis(&nest, "v.n", ITER_SPATIAL, w->n);
	const Expr *th = nest_axis(&nest, "v.th", ITER_SPATIAL, w->th);
	const Expr *tw = nest_axis(&nest, "v.tw", ITER_SPATIAL, w->tw);
	const Expr *c = nest_axis(&nest, "v.c", ITER_SPATIAL, w->c);
	const Expr *d[TILE * TILE], *v[TILE * TILE];
	Code body = code(w, F32);
	body.end = &body.first;
	for (int j = 0; j < w->t; j++)
		for (int i = 0; i < w->t; i++) {
			int64_t up = i - w->win.lo[0], left = j - w->win.lo[1];
			const Expr *h = ir_add(ir, ir_mul(ir, th, at(w, m)), at(w, up));
			const Expr *x = ir_add(ir, ir_mul(ir, tw, at(w, m)), at(w, left));
			const Expr *inside = naive_inside(nv, h, up, last_h + up, w->win.in[0], NULL);
			inside = naive_inside(nv, x, left, last_w + left, w->win.in[1], inside);
			const Expr *e = naive_load(nv, 0, (const Expr *[]){ n, c, h, x }, F32);
			if (inside != NULL)
				e = ir_select(ir, inside, e, ir_const(ir, F32, 0));
			d[i * w->t + j] = name_it(&body, "d", e);
		}
	transform_both(&body, &w->s->b, NULL, d, v);
	for (int k = 0; k < w->t * w->t; k++)
		put(&body, ir_store(ir, w->v, (const Expr *[]){ at(w, k / w->t), at(w, k % w->t), n, th, tw, c }, 6, v[k]));
	nest_close(&nest, "v", NULL, body.first);
}

/* wino.m: a product of matrices [tiles, c] x [c, o] for each place (i, j) of the tile. */
static void multiply(Wino *w)
{
	Naive *nv = w->nv;
	Ir *ir = nv->ir;
	Nest nest = { .nv = nv };
	const Expr *i = nest_axis(&nest, "m.i", ITER_SPATIAL, w->t), *j = nest_axis(&nest, "m.j", ITER_SPATIAL, w->t);
	const Expr *n = nest_axis(&nest, "m.n", ITER_SPATIAL, w->n);
	const Expr *th = nest_axis(&nest, "m.th", ITER_SPATIAL, w->th);
	const Expr *tw = nest_axis(&nest, "m.tw", ITER_SPATIAL, w->tw);
	const Expr *o = nest_axis(&nest, "m.o", ITER_SPATIAL, w->o), *c = nest_axis(&nest, "m.c", ITER_REDUCE, w->c);
	const Expr *to[] = { i, j, n, th, tw, o }, *from[] = { i, j, n, th, tw, c }, *by[] = { o, c, i, j };
	const Expr *e = ir_mul(ir, ir_load(ir, w->v, from, 6), ir_load(ir, w->u, by, 4));
	nest_close(&nest, "m", ir_store(ir, w->m, to, 6, ir_const(ir, F32, 0)), ir_reduce(ir, "sum", w->m, to, 6, e));
}

/* wino.y: Y = A^T M A + bias; what lies beyond the edge is not stored. */
static void transform_output(Wino *w)
{
	Naive *nv = w->nv;
	Ir *ir = nv->ir;
	int64_t m = w->s->m;
	Buf *out = naive_buf(nv, nv->c->out[0]);
	Nest nest = { .nv = nv };
	const Expr *n = nest_axis(&nest, "y.n", ITER_SPATIAL, w->n);
	const Expr *th = nest_axis(&nest, "y.th", ITER_SPATIAL, w->th);
	const Expr *tw = nest_axis(&nest, "y.tw", ITER_SPATIAL, w->tw);
	const Expr *o = nest_axis(&nest, "y.o", ITER_SPATIAL, w->o);
	const Expr *in[TILE * TILE], *y[TILE * TILE];
	Code body = code(w, F32);
	body.end = &body.first;
	for (int j = 0; j < w->t; j++)
		for (int i = 0; i < w->t; i++)
			in[i * w->t + j] = name_it(&body, "p",
				ir_load(ir, w->m, (const Expr *[]){ at(w, i), at(w, j), n, th, tw, o }, 6));
	transform_both(&body, &w->s->a, NULL, in, y);
	for (int k = 0; k < m * m; k++) {
		int64_t down = k / m, right = k % m;
		const Expr *h = ir_add(ir, ir_mul(ir, th, at(w, m)), at(w, down));
		const Expr *x = ir_add(ir, ir_mul(ir, tw, at(w, m)), at(w, right));
		const Expr *value = y[k];
		if (naive_in(nv, 2) != NULL)
			value = ir_add(ir, value, naive_load(nv, 2, &o, F32));
		Stmt *s = ir_store(ir, out, (const Expr *[]){ n, o, h, x }, 4, value);
		s->store.mask = naive_inside(nv, h, 0, (w->th - 1) * m + down, w->win.out[0], NULL);
		s->store.mask = naive_inside(nv, x, 0, (w->tw - 1) * m + right, w->win.out[1], s->store.mask);
		put(&body, s);
	}
	nest_close(&nest, "y", NULL, body.first);
}

static void build(Naive *nv, const int64_t *param)
{
	Wino w = { .nv = nv, .s = scheme_of(param[0]) };
	const char *block = nv->block;
	op_window(nv->d, nv->c, &w.win, NULL);
	const Value *x = naive_in(nv, 0), *g = naive_in(nv, 1);
	w.t = w.s->m + 2;
	w.n = x->shape.dim[0];
	w.c = g->shape.dim[1];
	w.o = g->shape.dim[0];
	w.th = (w.win.out[0] + w.s->m - 1) / w.s->m;
	w.tw = (w.win.out[1] + w.s->m - 1) / w.s->m;
	nv->block = names_give(nv->blocks, "wino");
	prepare_weights(&w, param[1]);
	w.v = naive_work(nv, "v", F32, shape_of(6, (int64_t[]){ w.t, w.t, w.n, w.th, w.tw, w.c }));
	w.m = naive_work(nv, "m", F32, shape_of(6, (int64_t[]){ w.t, w.t, w.n, w.th, w.tw, w.o }));
	transform_input(&w);
	multiply(&w);
	transform_output(&w);
	nv->block = block;
}

static const char *refuses(const Dag *d, const OpCall *c, const int64_t *param)
{
	Window w;
	Err err = { 0 };
	if (scheme_of(param[0]) == NULL)
		return "m is 2, 4 or 6";
	if (c->op != OP_conv)
		return "the call is no convolution";
	if (!op_window(d, c, &w, &err) || w.n != 2)
		return "the convolution has not two spatial dimensions";
	for (int k = 0; k < w.n; k++) {
		if (w.kernel[k] != TAPS)
			return "the kernel is not 3x3";
		if (w.stride[k] != 1 || w.dilation[k] != 1)
			return "the convolution has a stride or a dilation";
	}
	const Value *g = op_in(d, c, 1);
	if (op_int(c, "groups") != 1)
		return "the convolution has groups";
	if (g->kind != VALUE_CONST)
		return "the weights are no constant";
	if (!dtype_eq(g->type, F32))
		return "the elements are not f32";
	if (shape_elements(op_in(d, c, 0)->shape) <= 0 || g->shape.dim[0] == 0)
		return "there is nothing to compute";
	return NULL;
}

static double error(const int64_t *param)
{
	return scheme_of(param[0])->error;
}

/* Of 9 m^2 products for m x m outputs. */
static double saves(const int64_t *param)
{
	double m = (double)param[0];
	return TAPS * TAPS * m * m / ((m + TAPS - 1) * (m + TAPS - 1));
}

const Algo algo_winograd = {
	"conv2d.winograd",
	"wino",
	"3x3, stride 1, constant f32 weights: (m+2)^2 products for m x m outputs",
	{ { "m", 2, 6, 0, "outputs of a tile in each direction: 2, 4 or 6" },
		{ "o", 2, 64, 16, "output channels that lie together in the transformed weights" } },
	refuses,
	build,
	error,
	saves,
};
