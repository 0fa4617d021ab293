/*
 * Winograd's minimal filtering: a convolution of stride 1 as products over channels, one for each point of a tile.
 * Along an axis a window of r elements gives m outputs by m + r - 1 products instead of m r. With a 3x3 window:
 *
 *     U = G g G^T   (prepared: g are the weights)     V = B^T d B   (d: a tile of the padded input)
 *     M[i,j] = sum over c of U[i,j,c] * V[i,j,c]      Y = A^T M A + bias
 *
 * Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015. A window of 1xr has tiles of 1xm, and no
 * transformation from above and below. The points are the first of 0, 1, -1, 2, -2, 1/2, -1/2, 3/2 and -3/2, with
 * infinity as the last one. B and A hold dyadic numbers only; what G divides by is written as a division, so that
 * calculation modulo a prime is exact.
 *
 * The blocks are wino.u, wino.v, wino.m, wino.y, their loops u.o, v.th, m.c and so on. A transformation is written
 * out in its block as lets, columns first. V and M have the channels last: row-major they are the operands of a
 * batch of matrix products. Places of a tile beyond the input read as zero; outputs beyond the edge are not stored.
 */
#include "op/algo.h"
#include "op/naive.h"

#include <math.h>

enum { POINTS = 10, TILE = 64 /* values of a tile at most */ };

typedef struct Matrix {
	int rows, cols;
	double at[POINTS][POINTS];
} Matrix;

/* m outputs of a window of r elements, along one axis. */
typedef struct Filter {
	int m, r, n;    /* n = m + r - 1 points */
	Matrix b, g, a; /* B^T; G with row k multiplied by below[k]; A^T */
	double below[POINTS];
} Filter;

/* By the number of points along an axis. Errors are measured by tests/op/test_algo.c, and have a margin. */
static const struct {
	int points;
	double error;
	double infinity; /* the sign of its row of B^T, which is free: that of four points is Lavin and Gray's */
} known[] = { { 4, 1e-5, -1 }, { 6, 5e-5, 1 }, { 8, 1e-4, 1 }, { 10, 1e-4, 1 } };

/* The place in known[] of tiles of so many points; -1: there is none. */
static int known_of(int64_t points)
{
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (known[k].points == points)
			return (int)k;
	return -1;
}

static const double point[POINTS - 1] = { 0, 1, -1, 2, -2, 0.5, -0.5, 1.5, -1.5 };

/* c becomes the coefficients of the product of x - p over the n points p but the k-th, the constant one first. */
static void product_of_roots(int n, int k, double *c)
{
	for (int j = 0; j < POINTS; j++)
		c[j] = j == 0;
	for (int p = 0; p < n; p++)
		for (int j = POINTS - 1; p != k && j >= 0; j--)
			c[j] = (j > 0 ? c[j - 1] : 0) - point[p] * c[j];
}

/*
 * The Filter of m outputs of a window of r elements; false: of so many points nothing is known. Products of polynomials
 * by values at points (Toom and Cook), transposed: Blahut, "Fast Algorithms for Signal Processing", 2010, chapter 5.
 * Let Q be the product of x - p over all points p but one, infinity left out. That point's row of B^T has the
 * coefficients of Q, its row of G the powers of the point over what Q is there, its column of A^T the powers of the
 * point. Infinity, the last one, has the product over all points, and the highest power alone. Of a point's three signs
 * two are free: B^T begins with a positive number, G has the other signs.
 */
static bool filter_of(int64_t m, int64_t r, Filter *f)
{
	int n = (int)(m + r - 1), last = n - 1, place = known_of(n);
	*f = (Filter){ .m = (int)m, .r = (int)r, .n = n, .b = { n, n, { { 0 } } }, .g = { n, (int)r, { { 0 } } },
		.a = { (int)m, n, { { 0 } } } };
	if (n == 1) { /* no window here */
		f->b.at[0][0] = f->g.at[0][0] = f->a.at[0][0] = f->below[0] = 1;
		return true;
	}
	if (place < 0)
		return false;
	for (int k = 0; k < last; k++) {
		double *b = f->b.at[k], value = 0, power = 1, scale = 1;
		product_of_roots(last, k, b);
		double sign = k == 0 && b[0] < 0 ? -1 : 1;
		for (int j = last; j >= 0; j--) {
			b[j] *= sign;
			value = value * point[k] + b[j];
		}
		f->below[k] = fabs(value);
		while (f->below[k] != floor(f->below[k])) { /* G divides by integers */
			f->below[k] *= 2;
			scale *= 2;
		}
		for (int j = 0; j < n; j++, power *= point[k]) {
			if (j < r)
				f->g.at[k][j] = (value < 0 ? -scale : scale) * power;
			if (j < m)
				f->a.at[j][k] = power;
		}
	}
	product_of_roots(last, last, f->b.at[last]);
	for (int j = 0; j < n; j++)
		f->b.at[last][j] *= known[place].infinity;
	f->below[last] = f->g.at[last][r - 1] = 1;
	f->a.at[m - 1][last] = known[place].infinity;
	return true;
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
	const Expr *in[POINTS];
	double c[POINTS][POINTS];
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
		double even[POINTS] = { 0 }, odd[POINTS] = { 0 };
		for (int j = 0; j < m->cols; j++)
			*(m->at[i][j] == m->at[i + 1][j] ? &even[j] : &odd[j]) = m->at[i][j];
		const Expr *e = name_it(w, "s", dot(w, even, in, m->cols)), *o = name_it(w, "s", dot(w, odd, in, m->cols));
		y[i * sy] = ir_add(ir, e, o);
		y[(i + 1) * sy] = ir_sub(ir, e, o);
		i++;
	}
}

/* What stands left and right of a tile: both axes' matrices, and what their rows are divided by; NULL: by nothing. */
typedef struct Sides {
	const Matrix *m[2];
	const double *below[2];
} Sides;

/* out = m[0] in m[1]^T, rows and columns divided by below. */
static void transform_both(Code *w, const Sides *by, const Expr *const *in, const Expr **out)
{
	Ir *ir = w->nv->ir;
	const Matrix *l = by->m[0], *r = by->m[1];
	const Expr *half[TILE];
	for (int j = 0; j < r->cols; j++) {
		transform(w, l, in + j, r->cols, half + j, r->cols);
		for (int i = 0; i < l->rows; i++) {
			const Expr **h = &half[i * r->cols + j];
			if (by->below[0] != NULL && by->below[0][i] != 1)
				*h = ir_div(ir, *h, ir_const(ir, w->type, by->below[0][i]));
			*h = name_it(w, "t", *h);
		}
	}
	for (int i = 0; i < l->rows; i++)
		transform(w, r, half + i * r->cols, 1, out + i * r->rows, 1);
	for (int k = 0; by->below[1] != NULL && k < l->rows * r->rows; k++)
		if (by->below[1][k % r->rows] != 1)
			out[k] = ir_div(ir, out[k], ir_const(ir, w->type, by->below[1][k % r->rows]));
}

/* ---- the nests ---- */

typedef struct Wino {
	Naive *nv;
	Filter f[2];
	Window win; /* as image_window has it */
	bool one_axis; /* images have columns alone: rank 3 */
	int64_t n, c, o, tiles[2];
	Buf *u, *v, *m;
} Wino;

/* The indices of an element of an image or a window. */
static const Expr *const *image_at(const Wino *w, const Expr *a, const Expr *b, const Expr *h, const Expr *x)
{
	const Expr **idx = arena_array(ir_arena(w->nv->ir), const Expr *, 4);
	idx[0] = a;
	idx[1] = b;
	idx[2] = w->one_axis ? x : h;
	idx[3] = x;
	return idx;
}

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
	const Filter *f = w->f;
	Naive *nv = w->nv;
	Ir *ir = nv->ir;
	Buf *g = naive_buf(nv, nv->c->in[1]);
	Shape s = shape_of(4, (int64_t[]){ w->o, w->c, f[0].n, f[1].n });
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
	const Expr *in[TILE], *u[TILE], *idx[4];
	idx[0] = nest_axis(&nest, "u.o", ITER_SPATIAL, w->o);
	idx[1] = nest_axis(&nest, "u.c", ITER_SPATIAL, w->c);
	Code body = code(w, F64);
	body.end = &body.first;
	for (int k = 0; k < f[0].r * f[1].r; k++) {
		const Expr *const *of = image_at(w, idx[0], idx[1], at(w, k / f[1].r), at(w, k % f[1].r));
		in[k] = name_it(&body, "g", ir_cast(ir, F64, ir_load(ir, g, of, g->rank)));
	}
	transform_both(&body, &(Sides){ { &f[0].g, &f[1].g }, { f[0].below, f[1].below } }, in, u);
	for (int k = 0; k < f[0].n * f[1].n; k++) {
		idx[2] = at(w, k / f[1].n);
		idx[3] = at(w, k % f[1].n);
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
	const Filter *f = w->f;
	int64_t last_h = (w->tiles[0] - 1) * f[0].m, last_w = (w->tiles[1] - 1) * f[1].m;
	Nest nest = { .nv = nv };
	const Expr *n = nest_axis(&nest, "v.n", ITER_SPATIAL, w->n);
	const Expr *th = nest_axis(&nest, "v.th", ITER_SPATIAL, w->tiles[0]);
	const Expr *tw = nest_axis(&nest, "v.tw", ITER_SPATIAL, w->tiles[1]);
	const Expr *c = nest_axis(&nest, "v.c", ITER_SPATIAL, w->c);
	const Expr *d[TILE], *v[TILE];
	Code body = code(w, F32);
	body.end = &body.first;
	for (int j = 0; j < f[1].n; j++)
		for (int i = 0; i < f[0].n; i++) {
			int64_t up = i - w->win.lo[0], left = j - w->win.lo[1];
			const Expr *h = ir_add(ir, ir_mul(ir, th, at(w, f[0].m)), at(w, up));
			const Expr *x = ir_add(ir, ir_mul(ir, tw, at(w, f[1].m)), at(w, left));
			const Expr *inside = naive_inside(nv, h, up, last_h + up, w->win.in[0], NULL);
			inside = naive_inside(nv, x, left, last_w + left, w->win.in[1], inside);
			const Expr *e = naive_load(nv, 0, image_at(w, n, c, h, x), F32);
			if (inside != NULL)
				e = ir_select(ir, inside, e, ir_const(ir, F32, 0));
			d[i * f[1].n + j] = name_it(&body, "d", e);
		}
	transform_both(&body, &(Sides){ { &f[0].b, &f[1].b }, { NULL, NULL } }, d, v);
	for (int k = 0; k < f[0].n * f[1].n; k++)
		put(&body,
			ir_store(ir, w->v, (const Expr *[]){ at(w, k / f[1].n), at(w, k % f[1].n), n, th, tw, c }, 6, v[k]));
	nest_close(&nest, "v", NULL, body.first);
}

/* wino.m: a product of matrices [tiles, c] x [c, o] for each place (i, j) of the tile. */
static void multiply(Wino *w)
{
	Naive *nv = w->nv;
	Ir *ir = nv->ir;
	Nest nest = { .nv = nv };
	const Expr *i = nest_axis(&nest, "m.i", ITER_SPATIAL, w->f[0].n);
	const Expr *j = nest_axis(&nest, "m.j", ITER_SPATIAL, w->f[1].n);
	const Expr *n = nest_axis(&nest, "m.n", ITER_SPATIAL, w->n);
	const Expr *th = nest_axis(&nest, "m.th", ITER_SPATIAL, w->tiles[0]);
	const Expr *tw = nest_axis(&nest, "m.tw", ITER_SPATIAL, w->tiles[1]);
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
	const Filter *f = w->f;
	Buf *out = naive_buf(nv, nv->c->out[0]);
	Nest nest = { .nv = nv };
	const Expr *n = nest_axis(&nest, "y.n", ITER_SPATIAL, w->n);
	const Expr *th = nest_axis(&nest, "y.th", ITER_SPATIAL, w->tiles[0]);
	const Expr *tw = nest_axis(&nest, "y.tw", ITER_SPATIAL, w->tiles[1]);
	const Expr *o = nest_axis(&nest, "y.o", ITER_SPATIAL, w->o);
	const Expr *in[TILE], *y[TILE];
	Code body = code(w, F32);
	body.end = &body.first;
	for (int j = 0; j < f[1].n; j++)
		for (int i = 0; i < f[0].n; i++)
			in[i * f[1].n + j] = name_it(&body, "p",
				ir_load(ir, w->m, (const Expr *[]){ at(w, i), at(w, j), n, th, tw, o }, 6));
	transform_both(&body, &(Sides){ { &f[0].a, &f[1].a }, { NULL, NULL } }, in, y);
	for (int k = 0; k < f[0].m * f[1].m; k++) {
		int64_t down = k / f[1].m, right = k % f[1].m;
		const Expr *h = ir_add(ir, ir_mul(ir, th, at(w, f[0].m)), at(w, down));
		const Expr *x = ir_add(ir, ir_mul(ir, tw, at(w, f[1].m)), at(w, right));
		const Expr *value = y[k];
		if (naive_in(nv, 2) != NULL)
			value = ir_add(ir, value, naive_load(nv, 2, &o, F32));
		Stmt *s = ir_store(ir, out, image_at(w, n, o, h, x), out->rank, value);
		s->store.mask = naive_inside(nv, h, 0, (w->tiles[0] - 1) * f[0].m + down, w->win.out[0], NULL);
		s->store.mask = naive_inside(nv, x, 0, (w->tiles[1] - 1) * f[1].m + right, w->win.out[1], s->store.mask);
		put(&body, s);
	}
	nest_close(&nest, "y", NULL, body.first);
}

/* Both axes' filters; false: nothing is known for such a tile and window. Ten points are for rows and columns. */
static bool filters_of(int64_t m, const Window *win, Filter f[2])
{
	for (int k = 0; k < 2; k++)
		if (win->kernel[k] > POINTS || !filter_of(win->kernel[k] > 1 ? m : 1, win->kernel[k], &f[k]))
			return false;
	return f[0].n * f[1].n <= (f[0].n == POINTS || f[1].n == POINTS ? POINTS : TILE);
}

/* The window of a convolution of one or two spatial dimensions, those of one as columns of a single row. */
static bool image_window(const Dag *d, const OpCall *c, Window *w)
{
	Err err = { 0 };
	if (!op_window(d, c, w, &err) || w->n > 2)
		return false;
	if (w->n == 2)
		return true;
	Window row = *w;
	*w = (Window){ .n = 2, .in = { 1, row.in[0] }, .out = { 1, row.out[0] }, .kernel = { 1, row.kernel[0] },
		.stride = { 1, row.stride[0] }, .dilation = { 1, row.dilation[0] }, .lo = { 0, row.lo[0] },
		.hi = { 0, row.hi[0] } };
	return true;
}

static void build(Naive *nv, const int64_t *param)
{
	Wino w = { .nv = nv, .one_axis = nv->d->value.at[nv->c->out[0]].shape.rank == 3 };
	const char *block = nv->block;
	image_window(nv->d, nv->c, &w.win);
	filters_of(param[0], &w.win, w.f);
	const Value *x = naive_in(nv, 0), *g = naive_in(nv, 1);
	w.n = x->shape.dim[0];
	w.c = g->shape.dim[1];
	w.o = g->shape.dim[0];
	for (int k = 0; k < 2; k++)
		w.tiles[k] = (w.win.out[k] + w.f[k].m - 1) / w.f[k].m;
	nv->block = names_give(nv->blocks, "wino");
	prepare_weights(&w, param[1]);
	w.v = naive_work(nv, "v", F32, shape_of(6, (int64_t[]){ w.f[0].n, w.f[1].n, w.n, w.tiles[0], w.tiles[1], w.c }));
	w.m = naive_work(nv, "m", F32, shape_of(6, (int64_t[]){ w.f[0].n, w.f[1].n, w.n, w.tiles[0], w.tiles[1], w.o }));
	transform_input(&w);
	multiply(&w);
	transform_output(&w);
	nv->block = block;
}

static const char *refuses(const Dag *d, const OpCall *c, const int64_t *param)
{
	Window w;
	Filter f[2];
	if (c->op != OP_conv)
		return "the call is no convolution";
	if (!image_window(d, c, &w))
		return "the convolution must have one or two spatial dimensions";
	for (int k = 0; k < w.n; k++)
		if (w.stride[k] != 1 || w.dilation[k] != 1)
			return "the convolution has a stride or a dilation";
	if (w.kernel[0] * w.kernel[1] == 1)
		return "the window has one element";
	if (!filters_of(param[0], &w, f))
		return "no tile of such m is known: m + r - 1, r being the window's extent, must be 4, 6 or 8, or 10 "
			   "in a row or column";
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

/* Of the axis with more points. */
static double error(const Dag *d, const OpCall *c, const int64_t *param)
{
	Window w;
	image_window(d, c, &w);
	int64_t most = w.kernel[0] > w.kernel[1] ? w.kernel[0] : w.kernel[1];
	return known[known_of(param[0] + most - 1)].error;
}

/* Of a tile's products for its outputs. */
static double saves(const Dag *d, const OpCall *c, const int64_t *param)
{
	Window w;
	double times = 1;
	image_window(d, c, &w);
	for (int k = 0; k < 2; k++)
		if (w.kernel[k] > 1)
			times *= (double)(w.kernel[k] * param[0]) / (double)(param[0] + w.kernel[k] - 1);
	return times;
}

const Algo algo_winograd = {
	"conv2d.winograd",
	"wino",
	"stride 1, constant f32 weights: m + r - 1 products for m outputs of r elements along an axis",
	{ { "m", 2, 6, 0, "outputs of a tile along each axis of the window that has several elements" },
		{ "o", 2, 64, 16, "output channels that lie together in the transformed weights" } },
	refuses,
	build,
	error,
	saves,
};
