/*
 * Two loops of a nest that all accesses see as one: a pixel's row and column in images that lie row by row. Such loops
 * may be fused, and no index of the fused loop has a quotient then.
 */
#include "schedule/template/block.h"

#include "ir/build.h"
#include "ir/query.h"
#include "ir/walk.h"

typedef struct Run {
	const Fn *fn;
	const char *outer, *inner; /* iterators */
	int at;                    /* place of the first one among the axes */
	const Expr *extent;        /* of the second one */
	bool flat;
} Run;

static bool is_iter(const Expr *e, const char *name)
{
	return e->op == IR_VAR && e->name == name;
}

/* Both iterators, if at all, are two neighbouring indices of a row-major buffer; of a work buffer their own ones. */
static bool flat_access(const Run *r, const char *buf, const Expr *const *idx, int n);

static bool flat_expr(const Run *r, const Expr *e)
{
	if (!ir_uses_var(e, r->outer) && !ir_uses_var(e, r->inner))
		return true;
	if (e->op == IR_LOAD)
		return flat_access(r, e->name, e->arg, e->nargs);
	bool flat = e->op != IR_VAR;
	for (int k = 0; k < e->nargs && flat; k++)
		flat = flat_expr(r, e->arg[k]);
	return flat;
}

static bool flat_access(const Run *r, const char *buf, const Expr *const *idx, int n)
{
	const Buf *b = ir_find_buf(r->fn, buf);
	for (int d = 0; d < n; d++) {
		bool pair = d + 1 < n && is_iter(idx[d], r->outer) && is_iter(idx[d + 1], r->inner);
		if (pair && b != NULL && b->map.n == 0 && b->shape[d + 1] == r->extent &&
			(b->role != BUF_WORK || d == r->at))
			d++;
		else if (!flat_expr(r, idx[d]))
			return false;
	}
	return true;
}

static void see_run_expr(const Expr *e, void *arg)
{
	Run *r = arg;
	r->flat = r->flat && flat_expr(r, e);
}

static bool see_run(Stmt *s, void *arg)
{
	Run *r = arg;
	if (s->kind == ST_STORE) {
		r->flat = r->flat && flat_access(r, s->store.dst.buf, s->store.dst.idx, s->store.dst.n) &&
			flat_expr(r, s->store.value) && (s->store.mask == NULL || flat_expr(r, s->store.mask));
	} else if (s->kind == ST_REDUCE) {
		for (int k = 0; k < s->reduce.n && r->flat; k++)
			r->flat = flat_access(r, s->reduce.dst[k].buf, s->reduce.dst[k].idx, s->reduce.dst[k].n) &&
				flat_expr(r, s->reduce.value[k]);
		r->flat = r->flat && (s->reduce.mask == NULL || flat_expr(r, s->reduce.mask));
	} else {
		ir_each_expr(s, see_run_expr, r);
	}
	return true;
}

static const Iter *iter_of(const Stmt *block, const char *loop)
{
	for (int i = 0; i < block->block.n; i++)
		if (is_iter(block->block.iter[i].value, loop))
			return &block->block.iter[i];
	return NULL;
}

bool block_is_run(const Fn *fn, const Stmt *block, const char *outer, const char *inner, int at)
{
	const Iter *o = iter_of(block, outer), *i = iter_of(block, inner);
	if (o == NULL || i == NULL || block->block.where != NULL)
		return false;
	Run r = { fn, o->name, i->name, at, i->hi, true };
	ir_each_below(block, see_run, &r);
	return r.flat;
}
