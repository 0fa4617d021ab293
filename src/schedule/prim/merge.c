/*
 * merge: two iterators of a block become one, as rows and columns of an image become pixels. If the block makes a work
 * buffer with a dimension for each of them, these dimensions become one too, since nobody else sees the buffer's shape.
 * The buffer loses its layout. Other buffers keep their shapes: their indices are quotients and remainders.
 */
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

typedef struct Merge {
	const Stmt *outer, *inner; /* loops */
	int a, b;                  /* iterators, of them */
	int64_t n, m;              /* extents */
	int da, db;                /* dimensions of the buffer that they index; -1: none */
} Merge;

/* The iterator of the block whose value is the loop's variable, from 0 on in both; -1: none. */
static int iterator_of(const Stmt *block, const Stmt *loop, int64_t n)
{
	for (int k = 0; k < block->block.n; k++) {
		const Iter *it = &block->block.iter[k];
		int64_t hi;
		if (it->value->op == IR_VAR && strcmp(it->value->name, loop->loop.var) == 0)
			return ir_is_const(it->lo, 0) && ir_is_int(it->hi, &hi) && hi == n ? k : -1;
	}
	return -1;
}

static bool find_pair(Sched *s, const Step *st, const Stmt *block, Merge *m)
{
	Place p, q;
	const char *name = st->arg[0].word;
	if (!sched_find_loop(s, st->arg[1].word, &p) || !sched_find_loop(s, st->arg[2].word, &q))
		return false;
	m->outer = p.loop;
	m->inner = q.loop;
	if (p.loop->loop.body != q.loop || q.loop->next != NULL)
		return sched_refuse_for(s, "merge", name, "loop %s is not alone in the other loop", q.loop->loop.var);
	const Stmt *below = q.loop->loop.body;
	while (below->kind == ST_FOR && below->next == NULL && ir_is_const(below->loop.lo, 0) &&
		nest_extent(below, &(int64_t){ 0 }))
		below = below->loop.body;
	if (below != block || below->next != NULL)
		return sched_refuse_for(
			s, "merge", name, "loop %s contains more than the block in plain loops", q.loop->loop.var);
	if (!sched_need_serial(s, "merge", p.loop) || !sched_need_serial(s, "merge", q.loop))
		return false;
	if (!nest_extent(p.loop, &m->n) || !nest_extent(q.loop, &m->m) || m->n < 1 || m->m < 1 ||
		m->n > ((int64_t)1 << 40) / m->m || !ir_is_const(p.loop->loop.lo, 0) || !ir_is_const(q.loop->loop.lo, 0))
		return sched_refuse(s, "merge", name, "the loops must begin at 0 and have constant extents");
	m->a = iterator_of(block, p.loop, m->n);
	m->b = iterator_of(block, q.loop, m->m);
	if (m->a < 0 || m->b < 0)
		return sched_refuse(s, "merge", name, "the loops are not two iterators of the block over their whole ranges");
	if (block->block.iter[m->a].kind != block->block.iter[m->b].kind ||
		block->block.iter[m->a].kind == ITER_SCAN)
		return sched_refuse(s, "merge", name, "the iterators must both be spatial or both be reduce iterators");
	for (int k = 0; k < block->block.n; k++)
		for (int i = 0; k != m->a && k != m->b && i < 2; i++)
			if (ir_uses_var(block->block.iter[k].value, (i == 0 ? m->outer : m->inner)->loop.var))
				return sched_refuse_for(s, "merge", name, "iterator %s uses them too", block->block.iter[k].name);
	return true;
}

/* Dimension da of both, dimension db gone. */
static void merge_indices(Ir *ir, const Merge *m, const Expr **idx, int *n)
{
	idx[m->da] = ir_simplify(ir, ir_add(ir, ir_mul(ir, idx[m->da], ir_int(ir, m->m)), idx[m->db]), NULL);
	for (int k = m->db; k + 1 < *n; k++)
		idx[k] = idx[k + 1];
	--*n;
}

typedef struct Facts {
	Ir *ir;
	const Range *env;
} Facts;

typedef struct Merging {
	const Merge *m;
	const char *buf;
} Merging;

static const Expr *merge_load(Ir *ir, const Expr *e, void *arg)
{
	const Merging *x = arg;
	const Expr *idx[IR_MAX_RANK];
	int n = e->nargs;
	if (e->op != IR_LOAD || strcmp(e->name, x->buf) != 0)
		return e;
	memcpy(idx, e->arg, sizeof *idx * (size_t)n);
	merge_indices(ir, x->m, idx, &n);
	return ir_load_named(ir, x->buf, dtype_scalar(e->type), idx, n);
}

typedef struct Writes {
	Ir *ir;
	Merging of;
} Writes;

static bool merge_write(Stmt *s, void *arg)
{
	const Writes *w = arg;
	if (s->kind == ST_STORE && strcmp(s->store.dst.buf, w->of.buf) == 0)
		merge_indices(w->ir, w->of.m, s->store.dst.idx, &s->store.dst.n);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		if (strcmp(s->reduce.dst[k].buf, w->of.buf) == 0)
			merge_indices(w->ir, w->of.m, s->reduce.dst[k].idx, &s->reduce.dst[k].n);
	return true;
}

/* The buffer's shape, and all that accesses it. */
static void merge_buffer(Sched *s, Producer *p, const Merge *m)
{
	int64_t shape[IR_MAX_RANK];
	int rank = 0;
	Fn *fn = p->at.fn;
	for (int k = 0; k < p->buf->rank; k++) {
		ir_is_int(p->buf->shape[k], &shape[rank]);
		shape[rank] = k == m->da ? m->n * m->m : shape[rank];
		rank += k != m->db;
	}
	Buf *b = ir_buf(s->ir, p->buf->name, BUF_WORK, p->buf->type, p->buf->scope, shape, rank);
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf == p->buf)
			fn->param[k].buf = b;
	if (p->alloc != NULL)
		(*p->alloc)->alloc = b;
	Writes w = { s->ir, { m, b->name } };
	ir_map_stmt(s->ir, fn->body, merge_load, &w.of);
	ir_each_stmt(fn->body, merge_write, &w);
}

static bool divides(const Expr *e, void *arg)
{
	(void)arg;
	return e->op == IR_DIV || e->op == IR_MOD;
}

static void simplify_place(const Expr **e, void *arg)
{
	const Facts *f = arg;
	if (ir_find_node(*e, divides, NULL) != NULL) /* other indices stay iterators */
		*e = ir_simplify(f->ir, *e, f->env);
}

static bool simplify_stmt(Stmt *s, void *arg)
{
	ir_each_place(s, simplify_place, arg);
	return true;
}

/* A quotient of a short range is 0, a remainder of one a plain index. */
static void simplify_body(Ir *ir, const Fn *fn, Stmt *block)
{
	Facts f = { ir, ir_range_fn(ir, fn) };
	for (int k = 0; k < block->block.n; k++)
		f.env = ir_range_for(ir, block->block.iter[k].name, block->block.iter[k].lo, block->block.iter[k].hi, f.env);
	ir_each_below(block, simplify_stmt, &f);
}

/* Needs: two iterators of a block, of loops nested directly.  Breaks: their loops, and the work buffer's shape. */
bool prim_merge(Sched *s, const Step *st)
{
	BlockPlace b;
	Producer p = { 0 };
	Merge m = { .da = -1, .db = -1 };
	const char *name = st->arg[0].word;
	if (!sched_find_block(s, name, &b) || !find_pair(s, st, b.block, &m))
		return false;
	Stmt *block = b.block;
	const Iter *at = &block->block.iter[m.a], *in = &block->block.iter[m.b];
	bool spatial = at->kind == ITER_SPATIAL;
	if (block->block.where != NULL)
		return sched_refuse(s, "merge", name, "it has a predicate: apply this before its loops are split");
	const char *why, *written = spatial ? producer_writes(block, &why) : NULL;
	const Buf *buf = written != NULL ? ir_find_buf(b.fn, written) : NULL;
	bool reshapes = buf != NULL && buf->role == BUF_WORK;
	if (reshapes) {
		if (!producer_find(s, "merge", name, &p))
			return false;
		for (int k = 0; k < p.buf->rank; k++) {
			m.da = p.iter_of[k] == m.a ? k : m.da;
			m.db = p.iter_of[k] == m.b ? k : m.db;
		}
		if (m.da < 0 || m.db < 0)
			return sched_refuse_for(s, "merge", name, "%s has no dimension of each", p.buf->name);
	}
	const char *var = sched_name(s, st, 0, "%s_%s", m.outer->loop.var, m.inner->loop.var);
	const char *iter = ir_name(s->ir, arena_printf(ir_arena(s->ir), "v%s", var));
	if (!sched_may_name(s, b.fn, "merge", name, &var, 1))
		return false;
	Ir *ir = s->ir;
	const Expr *v = ir_idx(ir, iter), *n = ir_int(ir, m.m);
	const Expr *part[2] = { ir_div(ir, v, n), ir_mod(ir, v, n) };
	for (int i = 0; i < 2; i++) {
		const char *old = i == 0 ? at->name : in->name;
		ir_subst_stmt(ir, block->block.init, old, part[i]);
		ir_subst_stmt(ir, block->block.body, old, part[i]);
	}
	Iter *it = arena_array(ir_arena(ir), Iter, block->block.n);
	int count = 0;
	for (int k = 0; k < block->block.n; k++) {
		it[count] = block->block.iter[k];
		if (k == (m.a < m.b ? m.a : m.b))
			it[count] = (Iter){ iter, at->kind, ir_int(ir, 0), ir_int(ir, m.n * m.m), ir_idx(ir, var) };
		count += k != (m.a < m.b ? m.b : m.a);
	}
	block->block.iter = it;
	block->block.n = count;
	Stmt *loop = (Stmt *)(uintptr_t)m.outer;
	loop->loop.body = m.inner->loop.body;
	loop->loop.var = var;
	loop->loop.hi = ir_int(ir, m.n * m.m);
	if (reshapes)
		merge_buffer(s, &p, &m);
	simplify_body(ir, b.fn, block);
	return true;
}
