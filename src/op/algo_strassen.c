/*
 * Strassen's algorithm in Winograd's form, one level: a product of matrices as seven products of halves instead of
 * eight. A and B are cut into quadrants, A11 to A22 and B11 to B22:
 *
 *     S1 = A21 + A22  S2 = S1 - A11  S3 = A11 - A21  S4 = A12 - S2     (of the input)
 *     T1 = B12 - B11  T2 = B22 - T1  T3 = B22 - B12  T4 = T2 - B21     (prepared)
 *     P0 = A11 B11  P1 = A12 B21  P2 = S4 B22  P3 = A22 T4  P4 = S1 T1  P5 = S2 T2  P6 = S3 T3
 *     C11 = P0 + P1  C12 = P0 + P5 + P4 + P2  C21 = P0 + P5 + P6 - P3  C22 = P0 + P5 + P6 + P4
 *
 * Winograd, "On multiplication of 2x2 matrices", 1971. The seven matrices of B are 7/4 of its size.
 *
 * The blocks are strassen.u, .a, .m and .y, their loops u.n, a.m, m.p and so on. Of the axes of rows the longest is
 * cut. Halves of odd extents are rounded up: what lies beyond reads as zero, and is not stored.
 */
#include "op/algo.h"
#include "op/naive.h"

#include <string.h>

enum { PRODUCTS = 7, QUADRANTS = 4 };

typedef struct Halves {
	Naive *nv;
	int lead, row; /* axes in front of the inner one; which of them is cut */
	int64_t m, n, k, m2, n2, k2;
	Buf *a, *u, *p;
	Stmt *first, *last; /* of the block that is being written */
} Halves;

static void put(Halves *w, Stmt *s)
{
	if (w->first == NULL)
		w->first = s;
	else
		w->last->next = s;
	w->last = s;
}

static const Expr *name_it(Halves *w, const char *stem, const Expr *e)
{
	const char *name = ir_name(w->nv->ir, names_give(w->nv->names, stem));
	put(w, ir_let(w->nv->ir, name, e));
	return ir_var(w->nv->ir, name, e->type);
}

static const Expr *add(Halves *w, const Expr *a, const Expr *b)
{
	return name_it(w, "s", ir_add(w->nv->ir, a, b));
}

static const Expr *sub(Halves *w, const Expr *a, const Expr *b)
{
	return name_it(w, "s", ir_sub(w->nv->ir, a, b));
}

/* Place `at` of the second half, or of the first. */
static const Expr *in_half(Halves *w, const Expr *at, bool second, int64_t half)
{
	return second ? ir_add(w->nv->ir, at, ir_int(w->nv->ir, half)) : at;
}

/* Whether the place is one of all `n`. NULL: it always is. */
static const Expr *inside(Halves *w, const Expr *at, bool second, int64_t half, int64_t n, const Expr *also)
{
	return second ? naive_inside(w->nv, at, half, 2 * half - 1, n, also) : also;
}

/* The axes of rows, the cut one with half of its extent. */
static void row_axes(Halves *w, Nest *nest, char block, const Expr **at)
{
	static const char *const batch[] = { "b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7" };
	const Value *x = naive_in(w->nv, 0);
	for (int k = 0; k < w->lead; k++) {
		const char *name = k == w->row ? "m" : batch[k];
		at[k] = nest_axis(nest, arena_printf(ir_arena(w->nv->ir), "%c.%s", block, name), ITER_SPATIAL,
			k == w->row ? w->m2 : x->shape.dim[k]);
	}
}

/* [PRODUCTS, rows with the cut axis halved, last] */
static Buf *sevenfold(Halves *w, const char *what, int64_t last)
{
	Shape s = naive_in(w->nv, 0)->shape;
	int64_t dim[DAG_MAX_RANK + 1] = { PRODUCTS };
	memcpy(dim + 1, s.dim, sizeof *dim * (size_t)w->lead);
	dim[1 + w->row] = w->m2;
	dim[1 + w->lead] = last;
	return naive_work(w->nv, what, F32, shape_of(w->lead + 2, dim));
}

/* prepare fn: the seven matrices of B, in f64, rounded once. The weights are B transposed. */
static void prepare_weights(Halves *w, int64_t block)
{
	Naive *nv = w->nv;
	Ir *ir = nv->ir;
	Buf *b = naive_buf(nv, nv->c->in[1]);
	Shape s = shape_of(3, (int64_t[]){ w->n2, w->k2, PRODUCTS });
	w->u = naive_work(nv, "u", F32, s);
	w->u->role = BUF_CONST;
	w->u->map = naive_map(ir, arena_printf(ir_arena(ir), "OWI%lldo", (long long)block), s);
	Buf *out = arena_new_of(ir_arena(ir), Buf);
	*out = *w->u;
	out->role = BUF_OUT;

	Fn *run = nv->fn;
	Stmt *last = nv->last;
	nv->fn = ir_fn(ir, ir_name(ir, "strassen.u"), FN_PREPARE);
	nv->last = NULL;
	ir_fn_add_buf(ir, nv->fn, b);
	ir_fn_add_buf(ir, nv->fn, out);
	Nest nest = { .nv = nv };
	const Expr *n = nest_axis(&nest, "u.n", ITER_SPATIAL, w->n2), *k = nest_axis(&nest, "u.k", ITER_SPATIAL, w->k2);
	const Expr *q[QUADRANTS]; /* B11 B12 B21 B22 */
	w->first = NULL;
	for (int i = 0; i < QUADRANTS; i++) {
		const Expr *at[] = { in_half(w, n, i % 2, w->n2), in_half(w, k, i / 2, w->k2) };
		const Expr *in = inside(w, at[0], i % 2, w->n2, w->n, NULL);
		in = inside(w, at[1], i / 2, w->k2, w->k, in);
		const Expr *e = ir_cast(ir, F64, ir_load(ir, b, at, 2));
		q[i] = name_it(w, "g", in == NULL ? e : ir_select(ir, in, e, ir_const(ir, F64, 0)));
	}
	const Expr *t1 = sub(w, q[1], q[0]), *t2 = sub(w, q[3], t1), *t3 = sub(w, q[3], q[1]), *t4 = sub(w, t2, q[2]);
	const Expr *u[PRODUCTS] = { q[0], q[2], q[3], t4, t1, t2, t3 };
	for (int i = 0; i < PRODUCTS; i++)
		put(w, ir_store(ir, out, (const Expr *[]){ n, k, ir_int(ir, i) }, 3, ir_cast(ir, F32, u[i])));
	nest_close(&nest, "u", NULL, w->first);
	ir_set_add(nv->set, nv->fn);
	nv->fn = run;
	nv->last = last;
	naive_drop_const(nv, 1);
}

/* strassen.a: the seven matrices of A. */
static void combine_input(Halves *w)
{
	Naive *nv = w->nv;
	Ir *ir = nv->ir;
	Nest nest = { .nv = nv };
	const Expr *to[DAG_MAX_RANK + 1], *from[DAG_MAX_RANK], *q[QUADRANTS];
	row_axes(w, &nest, 'a', to + 1);
	const Expr *k = to[1 + w->lead] = nest_axis(&nest, "a.k", ITER_SPATIAL, w->k2), *m = to[1 + w->row];
	w->first = NULL;
	for (int i = 0; i < QUADRANTS; i++) {
		memcpy(from, to + 1, sizeof *from * (size_t)w->lead);
		from[w->row] = in_half(w, m, i / 2, w->m2);
		from[w->lead] = in_half(w, k, i % 2, w->k2);
		const Expr *in = inside(w, from[w->row], i / 2, w->m2, w->m, NULL);
		in = inside(w, from[w->lead], i % 2, w->k2, w->k, in);
		const Expr *e = naive_load(nv, 0, from, F32);
		q[i] = name_it(w, "d", in == NULL ? e : ir_select(ir, in, e, ir_const(ir, F32, 0)));
	}
	const Expr *s1 = add(w, q[2], q[3]), *s2 = sub(w, s1, q[0]), *s3 = sub(w, q[0], q[2]), *s4 = sub(w, q[1], s2);
	const Expr *a[PRODUCTS] = { q[0], q[1], s4, q[3], s1, s2, s3 };
	for (int i = 0; i < PRODUCTS; i++) {
		to[0] = ir_int(ir, i);
		put(w, ir_store(ir, w->a, to, w->lead + 2, a[i]));
	}
	nest_close(&nest, "a", NULL, w->first);
}

/* strassen.m: the seven products. */
static void multiply(Halves *w)
{
	Ir *ir = w->nv->ir;
	Nest nest = { .nv = w->nv };
	const Expr *to[DAG_MAX_RANK + 1], *from[DAG_MAX_RANK + 1];
	to[0] = nest_axis(&nest, "m.p", ITER_SPATIAL, PRODUCTS);
	row_axes(w, &nest, 'm', to + 1);
	to[1 + w->lead] = nest_axis(&nest, "m.n", ITER_SPATIAL, w->n2);
	memcpy(from, to, sizeof from);
	from[1 + w->lead] = nest_axis(&nest, "m.k", ITER_REDUCE, w->k2);
	const Expr *by[] = { to[1 + w->lead], from[1 + w->lead], to[0] };
	const Expr *e = ir_mul(ir, ir_load(ir, w->a, from, w->lead + 2), ir_load(ir, w->u, by, 3));
	nest_close(&nest, "m", ir_store(ir, w->p, to, w->lead + 2, ir_const(ir, F32, 0)),
		ir_reduce(ir, "sum", w->p, to, w->lead + 2, e));
}

/* strassen.y: the quadrants of the result. */
static void combine_output(Halves *w)
{
	Naive *nv = w->nv;
	Ir *ir = nv->ir;
	Buf *out = naive_buf(nv, nv->c->out[0]);
	Nest nest = { .nv = nv };
	const Expr *from[DAG_MAX_RANK + 1], *to[DAG_MAX_RANK], *p[PRODUCTS];
	row_axes(w, &nest, 'y', from + 1);
	const Expr *n = from[1 + w->lead] = nest_axis(&nest, "y.n", ITER_SPATIAL, w->n2), *m = from[1 + w->row];
	w->first = NULL;
	for (int i = 0; i < PRODUCTS; i++) {
		from[0] = ir_int(ir, i);
		p[i] = name_it(w, "p", ir_load(ir, w->p, from, w->lead + 2));
	}
	const Expr *u1 = add(w, p[0], p[5]), *u2 = add(w, u1, p[6]), *u3 = add(w, u1, p[4]);
	const Expr *c[QUADRANTS] = { ir_add(ir, p[0], p[1]), ir_add(ir, u3, p[2]), ir_sub(ir, u2, p[3]),
		ir_add(ir, u2, p[4]) };
	memcpy(to, from + 1, sizeof *to * (size_t)(w->lead + 1));
	for (int i = 0; i < QUADRANTS; i++) {
		to[w->row] = in_half(w, m, i / 2, w->m2);
		to[w->lead] = in_half(w, n, i % 2, w->n2);
		const Expr *value = c[i];
		if (naive_in(nv, 2) != NULL)
			value = ir_add(ir, value, naive_load(nv, 2, &to[w->lead], F32));
		Stmt *s = ir_store(ir, out, to, w->lead + 1, value);
		s->store.mask = inside(w, to[w->row], i / 2, w->m2, w->m, NULL);
		s->store.mask = inside(w, to[w->lead], i % 2, w->n2, w->n, s->store.mask);
		put(w, s);
	}
	nest_close(&nest, "y", NULL, w->first);
}

static void build(Naive *nv, const int64_t *param)
{
	const Value *x = naive_in(nv, 0), *g = naive_in(nv, 1);
	const char *block = nv->block;
	Halves w = { .nv = nv, .lead = x->shape.rank - 1, .n = g->shape.dim[0], .k = g->shape.dim[1] };
	for (int k = 0; k < w.lead; k++)
		w.row = x->shape.dim[k] >= x->shape.dim[w.row] ? k : w.row;
	w.m = x->shape.dim[w.row];
	w.m2 = (w.m + 1) / 2;
	w.n2 = (w.n + 1) / 2;
	w.k2 = (w.k + 1) / 2;
	nv->block = names_give(nv->blocks, "strassen");
	prepare_weights(&w, param[1]);
	w.a = sevenfold(&w, "a", w.k2);
	w.p = sevenfold(&w, "p", w.n2);
	combine_input(&w);
	multiply(&w);
	combine_output(&w);
	nv->block = block;
}

static const char *refuses(const Dag *d, const OpCall *c, const int64_t *param)
{
	(void)param;
	if (c->op != OP_dense)
		return "the call is no dense layer";
	if (op_int(c, "rows") != 0)
		return "each row needs its own accuracy (rows=1), but halves of the input are added";
	const Value *x = op_in(d, c, 0), *g = op_in(d, c, 1);
	if (g->kind != VALUE_CONST)
		return "the weights are no constant";
	if (!dtype_eq(g->type, F32) || !dtype_eq(x->type, F32) || !dtype_eq(d->value.at[c->out[0]].type, F32))
		return "the elements are not f32";
	if (x->shape.rank < 2 || x->shape.rank + 1 > DAG_MAX_RANK)
		return "the input has too few or too many dimensions";
	int64_t most = 0;
	for (int k = 0; k + 1 < x->shape.rank; k++)
		most = x->shape.dim[k] > most ? x->shape.dim[k] : most;
	if (most < 2 || g->shape.dim[0] < 2 || g->shape.dim[1] < 2 || shape_elements(x->shape) <= 0)
		return "there are no halves";
	return NULL;
}

/* One level, measured by tests/op/test_algo.c, with a margin. */
static double error(const Dag *d, const OpCall *c, const int64_t *param)
{
	(void)d, (void)c, (void)param;
	return 1e-5;
}

static double saves(const Dag *d, const OpCall *c, const int64_t *param)
{
	(void)d, (void)c, (void)param;
	return 8.0 / PRODUCTS;
}

const Algo algo_strassen = {
	"dense.strassen",
	"stra",
	"constant f32 weights: seven products of halves for eight",
	{ { "levels", 1, 1, 1, "of halves: 1" },
		{ "o", 2, 256, 16, "output columns that lie together in the prepared weights" } },
	refuses,
	build,
	error,
	saves,
};
