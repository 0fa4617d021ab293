/*
 * See points.h.  A naive Fn is a list of nests, each a chain of loops around one block that writes
 * one buffer.  Walking that list backwards from the wanted element, every nest's spatial loops are
 * narrowed to the box that is needed of what it writes, and what it then reads (ir_regions) is the
 * box that is needed of the nests before it; a nest of which nothing is needed is dropped.  Work
 * buffers keep their full shape, in which only the boxes are ever touched.
 */
#include "measure/points.h"

#include "ir/analysis/bounds.h"
#include "ir/arg.h"
#include "ir/region/region.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

enum { NESTS = 512, BUFS = 512, WRITES = 16 };

/* The box [lo, hi) that is needed of a buffer. */
typedef struct Need {
	const Buf *buf;
	const Expr **lo, **hi; /* NULL: nothing */
} Need;

typedef struct Narrow {
	Ir *ir;
	Fn *fn;
	KernelSet *ks;
	const Range *env;
	int nneed;
	Need need[BUFS];
	Stmt *nest[NESTS];
	int nnest;
	double all, some; /* iterations of the whole Fn, of one point */
} Narrow;

static Need *need_of(Narrow *x, const char *buf)
{
	for (int i = 0; i < x->nneed; i++)
		if (x->need[i].buf->name == buf)
			return &x->need[i];
	return NULL;
}

/* Widens what is needed to the hull with [lo, hi). */
static void need_more(Narrow *x, Need *d, const Expr *const *lo, const Expr *const *hi)
{
	Arena *a = ir_arena(x->ir);
	bool first = d->lo == NULL;
	if (first) {
		d->lo = arena_array(a, const Expr *, d->buf->rank + 1);
		d->hi = arena_array(a, const Expr *, d->buf->rank + 1);
	}
	for (int k = 0; k < d->buf->rank; k++) {
		d->lo[k] = ir_simplify(x->ir, first ? lo[k] : ir_min(x->ir, d->lo[k], lo[k]), x->env);
		d->hi[k] = ir_simplify(x->ir, first ? hi[k] : ir_max(x->ir, d->hi[k], hi[k]), x->env);
	}
}

/* ---- one nest ---- */

typedef struct Writes {
	const Access *at[WRITES];
	int n;
	bool many; /* more than fit, or of several buffers, or other statements than a naive form has */
} Writes;

static bool note_write(Stmt *s, void *arg)
{
	Writes *w = arg;
	const Access *dst = s->kind == ST_STORE ? &s->store.dst : s->kind == ST_REDUCE ? s->reduce.dst : NULL;
	int n = s->kind == ST_REDUCE ? s->reduce.n : 1;
	w->many |= s->kind == ST_ALLOC || s->kind == ST_CALL || s->kind == ST_ASYNC || s->kind == ST_FOR;
	for (int i = 0; dst != NULL && i < n; i++) {
		if (w->n == WRITES || (w->n > 0 && dst[i].buf != w->at[0]->buf))
			w->many = true;
		else
			w->at[w->n++] = &dst[i];
	}
	return true;
}

static Stmt *block_of(Stmt *nest)
{
	while (nest->kind == ST_FOR && nest->loop.body != NULL && nest->loop.body->next == NULL)
		nest = nest->loop.body;
	return nest->kind == ST_BLOCK ? nest : NULL;
}

/* The dimension of all writes that the iterator runs along, always with the same shift; -1: none. */
static int dimension_of(const Writes *w, const char *iter, int64_t *shift)
{
	for (int k = 0; k < w->at[0]->n; k++) {
		int i = 0;
		for (; i < w->n; i++) {
			const Expr *e = w->at[i]->idx[k]; /* iter + c */
			int64_t c = 0;
			if (e->op == IR_ADD && ir_is_int(e->arg[1], &c))
				e = e->arg[0];
			if (e->op != IR_VAR || e->name != iter || (i > 0 && c != *shift))
				break;
			*shift = c;
		}
		if (i == w->n)
			return k;
	}
	return -1;
}

static void narrow_iter(Narrow *x, Stmt *nest, Iter *it, const Writes *w, const Need *d)
{
	int64_t shift = 0;
	int k = it->kind == ITER_SPATIAL ? dimension_of(w, it->name, &shift) : -1;
	while (nest->kind == ST_FOR && it->value->op == IR_VAR && nest->loop.var != it->value->name)
		nest = nest->loop.body;
	if (k < 0 || it->value->op != IR_VAR || nest->kind != ST_FOR)
		return; /* all of it: more than is needed does no harm */
	const Expr *c = ir_int(x->ir, shift);
	it->lo = ir_simplify(x->ir, ir_max(x->ir, it->lo, ir_sub(x->ir, d->lo[k], c)), x->env);
	it->hi = ir_simplify(x->ir, ir_min(x->ir, it->hi, ir_sub(x->ir, d->hi[k], c)), x->env);
	nest->loop.lo = it->lo;
	nest->loop.hi = it->hi;
}

static double iterations(const Narrow *x, const Stmt *nest)
{
	double n = 1;
	for (; nest->kind == ST_FOR; nest = nest->loop.body) {
		Interval v = ir_interval(
			ir_simplify(x->ir, ir_sub(x->ir, nest->loop.hi, nest->loop.lo), x->env), x->env);
		n *= v.hi > 0 ? (double)v.hi : 0;
	}
	return n;
}

/* False: the nest has a shape that is not known here. *keep: something of it is needed. */
static bool narrow_nest(Narrow *x, Stmt *nest, bool *keep)
{
	Stmt *block = block_of(nest);
	Writes w = { .n = 0 };
	if (block == NULL)
		return false;
	ir_each_stmt(block->block.init, note_write, &w);
	ir_each_stmt(block->block.body, note_write, &w);
	if (w.many || w.n == 0)
		return false;
	x->all += iterations(x, nest);
	const Need *d = need_of(x, w.at[0]->buf);
	*keep = d != NULL && d->lo != NULL;
	for (int i = 0; *keep && i < block->block.n; i++)
		narrow_iter(x, nest, &block->block.iter[i], &w, d);
	if (*keep)
		x->some += iterations(x, nest);
	return true;
}

/* ---- the Fn of one output ---- */

/* Outputs become work, which lies plainly; their needs begin with nothing. */
static bool find_work(Narrow *x)
{
	for (int k = 0; k < x->fn->nparam; k++) {
		Buf *b = x->fn->param[k].buf;
		if (b->role != BUF_OUT && b->role != BUF_WORK)
			continue;
		b->role = BUF_WORK;
		b->map = (IndexMap){ 0 };
		if (x->nneed == BUFS)
			return false;
		x->need[x->nneed++] = (Need){ .buf = b };
	}
	for (Stmt *s = x->fn->body; s != NULL; s = s->next) {
		if (x->nnest == NESTS)
			return false;
		x->nest[x->nnest++] = s;
	}
	return true;
}

/* "point[number - 1] = out[i - 1, j - 1, ..]", and what it needs. */
static Stmt *take_point(Narrow *x, Need *out)
{
	Ir *ir = x->ir;
	Arena *a = ir_arena(ir);
	int rank = out->buf->rank;
	const char **sym = arena_array(a, const char *, rank + 1);
	const Expr **lo = arena_array(a, const Expr *, rank + 1), **hi = arena_array(a, const Expr *, rank + 1);
	const char *number = ir_fresh_name(ir, "number");
	ir_fn_add_sym(ir, x->fn, number, 1, POINTS, 1);
	for (int k = 0; k < rank; k++) {
		int64_t extent = 0;
		ir_is_int(out->buf->shape[k], &extent);
		if (extent < 1)
			return NULL;
		sym[k] = ir_fresh_name(ir, "at");
		ir_fn_add_sym(ir, x->fn, sym[k], 1, extent, 1);
	}
	for (int k = 0; k < rank; k++) {
		hi[k] = ir_idx(ir, sym[k]);
		lo[k] = ir_sub(ir, hi[k], ir_int(ir, 1));
	}
	x->env = ir_range_fn(ir, x->fn);
	need_more(x, out, lo, hi);
	Buf *point = ir_buf(ir, ir_fresh_name(ir, "point"), BUF_OUT, out->buf->type, "global",
		(const int64_t[]){ POINTS }, 1);
	ir_fn_add_buf(ir, x->fn, point);
	const Expr *at = ir_sub(ir, ir_idx(ir, number), ir_int(ir, 1));
	return ir_store(ir, point, &at, 1, ir_load(ir, out->buf, lo, rank));
}

static Stmt *narrow(Narrow *x, Stmt *last)
{
	for (int i = x->nnest - 1; i >= 0; i--) {
		bool keep = false;
		Stmt *nest = x->nest[i];
		if (!narrow_nest(x, nest, &keep))
			return NULL;
		if (!keep)
			continue;
		nest->next = last; /* regions are of the nest alone, wherever it hangs */
		last = nest;
		x->fn->body = last;
		Writes w = { .n = 0 };
		ir_each_stmt(block_of(nest)->block.body, note_write, &w);
		int n = 0;
		Region *r = ir_regions(x->ir, x->fn, x->ks, nest, &n);
		for (int k = 0; k < n; k++) {
			Need *d = need_of(x, r[k].buf);
			if (r[k].read && d != NULL && r[k].buf != w.at[0]->buf)
				need_more(x, d, r[k].lo, r[k].hi);
		}
	}
	return last;
}

/* NULL without an error: the form cannot be restricted, or this would not be cheaper. */
static Fn *point_fn(Ir *ir, const Dag *dag, int output, Err *err)
{
	KernelSet *ks = op_naive(ir, dag, ir_name(ir, arena_printf(ir_arena(ir), "k%d", output)), NAIVE_F64, err);
	if (ks == NULL)
		return NULL;
	Narrow *x = arena_new_of(ir_arena(ir), Narrow);
	x->ir = ir;
	x->fn = ks->fn[0];
	x->ks = ks;
	const Buf *out[BUFS];
	int nout = 0;
	for (int k = 0; k < x->fn->nparam; k++)
		if (x->fn->param[k].buf->role == BUF_OUT && nout < BUFS)
			out[nout++] = x->fn->param[k].buf;
	if (output >= nout || !find_work(x))
		return NULL;
	Stmt *last = take_point(x, need_of(x, out[output]->name));
	last = last != NULL ? narrow(x, last) : NULL;
	if (last == NULL || x->all <= METHOD_WHOLE || 2 * POINTS * x->some > x->all)
		return NULL;
	x->fn->body = last;
	return x->fn;
}

KernelSet *points_set(Ir *ir, const Dag *dag, Err *err)
{
	KernelSet *ks = ir_set_new(ir);
	for (size_t k = 0; k < dag->output.n; k++) {
		Fn *fn = point_fn(ir, dag, (int)k, err);
		if (fn == NULL)
			return NULL;
		ir_set_add(ks, fn);
	}
	return ks;
}
