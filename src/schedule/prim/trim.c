/*
 * trim: a loop ends before the iterations that nothing needs. Causal attention has such: a query needs no later key.
 * A block below the loop does not need iterations whose stores are never read. A reduction does not need those that
 * combine the identity. It does so where it loads an element that is stored as select(p, x, identity) and p is false.
 *
 * Both say that an index must stay below an end. A probe gives that end free of all that the loop binds: a store that
 * is in the loop only while ir_regions looks at it. What the end depends on stands around the loop: tiles of queries
 * have different ends.
 */
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/query.h"
#include "ir/region/region.h"
#include "ir/simplify/simplify.h"

#include <math.h>
#include <string.h>

static const char *const probe_name = "trim probe"; /* no text can name it */

/* An access below the loop, in a list of statements and in a block. */
typedef struct Spot {
	Stmt **link;
	const Stmt *block;
} Spot;

typedef struct Trim {
	Sched *s;
	Ir *ir;
	Place l;
	const Range *env; /* at the loop */
	const Expr *end;  /* the first iteration that none of the blocks so far needs; NULL: there were none */
	bool starts;      /* the first iteration begins a reduction */
	const char *why;  /* not NULL: a block may need all iterations */
	const char *other;
} Trim;

static void give_up(Trim *t, const char *why, const char *other)
{
	if (t->why == NULL) {
		t->why = why;
		t->other = other;
	}
}

/* The list of statements where a buffer exists that starts undefined and that nobody else sees; NULL: it is not so. */
static Stmt *scope_of(const Trim *t, const char *buf)
{
	Stmt **alloc = ir_find_alloc(&t->l.fn->body, buf);
	if (alloc != NULL || ir_find_buf(t->l.fn, buf)->role != BUF_WORK)
		return alloc != NULL ? (*alloc)->next : NULL;
	for (size_t k = 0; k < t->s->ks->n; k++)
		if (t->s->ks->fn[k] != t->l.fn && producer_is_param(t->s->ks->fn[k], buf))
			return NULL;
	return t->l.fn->body;
}

/* The value of an expression of a block's iterators, as the loops around it count. */
static const Expr *resolve(Trim *t, const Stmt *block, const Expr *e)
{
	for (int k = 0; k < block->block.n; k++)
		e = ir_subst(t->ir, e, block->block.iter[k].name, block->block.iter[k].value);
	return ir_simplify(t->ir, e, NULL);
}

/*
 * Iteration i has at + step i and what inner loops add, from 0 on: the least i from which that is `end` or more. Where
 * end is NULL, it is the first number above all values of `most`. NULL: not known.
 */
static const Expr *iterations(Trim *t, Spot spot, const Expr *at, const Expr *most, const Expr *end)
{
	Ir *ir = t->ir;
	const char *var = t->l.loop->loop.var;
	int64_t step, far;
	const Expr *next = ir_subst(ir, at, var, ir_add(ir, ir_idx(ir, var), ir_int(ir, 1))), *lo = NULL, *hi = NULL;
	if (!ir_is_int(ir_simplify(ir, ir_sub(ir, next, at), NULL), &step) || step < 1)
		return NULL;
	const Expr *first = ir_simplify(ir, ir_subst(ir, at, var, ir_int(ir, 0)), NULL);
	const Expr *idx[2] = { first, end == NULL ? most : first };
	Buf *seen = ir_buf(ir, probe_name, BUF_WORK, I64, "global", (int64_t[]){ 1, 1 }, 2);
	Stmt *probe = ir_store(ir, seen, idx, 2, ir_int(ir, 0));
	probe->next = *spot.link;
	*spot.link = probe;
	int n;
	const Region *r = ir_regions(ir, t->l.fn, t->s->ks, t->l.loop, &n);
	*spot.link = probe->next;
	for (int k = 0; k < n; k++)
		if (strcmp(r[k].buf, probe_name) == 0) {
			lo = r[k].lo[0];
			hi = r[k].hi[1];
		}
	hi = end != NULL ? end : hi;
	if (lo == NULL || hi == NULL || (ir_is_int(hi, &far) && far == INT64_MAX))
		return NULL;
	const Expr *whole = ir_add(ir, ir_sub(ir, hi, lo), ir_int(ir, step - 1));
	return ir_simplify(ir, ir_div(ir, whole, ir_int(ir, step)), t->env);
}

/* The block needs iterations up to this one. */
static void need(Trim *t, const Expr *end)
{
	end = t->end != NULL ? ir_max(t->ir, t->end, end) : end;
	t->end = ir_simplify(t->ir, end, t->env);
}

/* ---- stores that nobody reads ---- */

/* The statement of the list where the buffer exists in which the loop stands; NULL: there is none. */
static Stmt *nest_of(const Trim *t, const char *buf)
{
	for (Stmt *s = scope_of(t, buf); s != NULL; s = s->next)
		if (s == t->l.loop || ir_is_below(s, t->l.loop))
			return s;
	return NULL;
}

/* The first index of a dimension that no load of the list needs; 0: it loads nothing of the buffer. */
static const Expr *loaded_end(const Trim *t, Stmt *list, const char *buf, int dim)
{
	const Expr *end = ir_int(t->ir, 0);
	for (Stmt *s = list; s != NULL; s = s->next) {
		if (producer_touches_one(s, buf).loads == 0)
			continue;
		int n;
		const Region *r = ir_regions(t->ir, t->l.fn, t->s->ks, s, &n);
		for (int k = 0; k < n; k++)
			if (strcmp(r[k].buf, buf) == 0 && dim < r[k].n)
				end = ir_max(t->ir, end, r[k].hi[dim]);
	}
	return end;
}

static void see_store(Trim *t, Spot spot, const Access *to, int dim)
{
	Stmt *nest = nest_of(t, to->buf);
	bool whole = nest == NULL || producer_touches_one(nest, to->buf).loads > 0 ||
		producer_touches(t->l.fn->body, to->buf).strange;
	const Expr *read = whole ? NULL : loaded_end(t, nest->next, to->buf, dim);
	const Expr *end = whole ? NULL : iterations(t, spot, resolve(t, spot.block, to->idx[dim]), NULL, read);
	if (end == NULL)
		give_up(t, "all of %s may be read", to->buf);
	else
		need(t, end);
}

/* ---- reductions that combine the identity ---- */

/* Where e may differ from `nothing`: p of select(p, x, nothing), also below max and min; NULL: anywhere. */
static const Expr *matters(Ir *ir, const Expr *e, const Expr *nothing)
{
	bool absorbs = (e->op == IR_MIN && ir_const_float(ir, e->type, -INFINITY) == nothing) ||
		(e->op == IR_MAX && ir_const_float(ir, e->type, INFINITY) == nothing);
	if (e->op == IR_SELECT && e->arg[2] == nothing && !ir_has_load(e->arg[0]))
		return e->arg[0];
	const Expr *p = absorbs ? matters(ir, e->arg[0], nothing) : NULL;
	return p == NULL && absorbs ? matters(ir, e->arg[1], nothing) : p;
}

typedef struct Writers {
	Trim *t;
	const Expr *load, *nothing;
	Stmt *list;         /* where the buffer exists */
	const Stmt *block;  /* the one that is looked at */
	const Expr *cond;   /* of all stores so far, of the load's indices */
	bool any, unknown;
} Writers;

static bool is_inner_var(const Expr *e, void *arg)
{
	const Writers *w = arg;
	return e->op == IR_VAR && ir_declares(w->list, e->name);
}

/* The condition of a store for the element that is loaded: each iterator is the index of one dimension, moved. */
static const Expr *moved_cond(Writers *w, const Stmt *store)
{
	Ir *ir = w->t->ir;
	const Expr *p = matters(ir, store->store.value, w->nothing), *of[IR_MAX_RANK];
	const Stmt *b = w->block;
	int n = 0;
	if (p == NULL || b == NULL || store->store.mask != NULL)
		return NULL;
	const char *name[IR_MAX_RANK];
	for (int k = 0; k < b->block.n; k++) {
		const char *v = b->block.iter[k].name;
		if (!ir_uses_var(p, v))
			continue;
		for (int d = 0; d < store->store.dst.n && n < IR_MAX_RANK; d++) {
			const Expr *rest = ir_simplify(ir, ir_sub(ir, store->store.dst.idx[d], ir_idx(ir, v)), NULL);
			if (ir_find_node(rest, is_inner_var, w) != NULL || ir_uses_var(rest, v) || ir_has_load(rest))
				continue;
			name[n] = v;
			of[n++] = ir_sub(ir, w->load->arg[d], rest);
			break;
		}
		if (n == 0 || name[n - 1] != v)
			return NULL;
	}
	const Expr *free = p;
	for (int k = 0; k < n; k++)
		free = ir_subst(ir, free, name[k], ir_int(ir, 0));
	for (int k = 0; k < n; k++)
		p = ir_subst(ir, p, name[k], of[k]);
	return ir_find_node(free, is_inner_var, w) == NULL ? ir_simplify(ir, p, NULL) : NULL;
}

static bool see_writer(Stmt *s, void *arg)
{
	Writers *w = arg;
	if (s->kind == ST_BLOCK)
		w->block = s;
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		w->unknown |= strcmp(s->reduce.dst[k].buf, w->load->name) == 0;
	if (s->kind != ST_STORE || strcmp(s->store.dst.buf, w->load->name) != 0)
		return true;
	const Expr *cond = moved_cond(w, s);
	w->unknown |= cond == NULL || (w->any && cond != w->cond);
	w->any = true;
	w->cond = cond;
	return true;
}

/* Where an element that a factor of the reduction loads may differ from the identity; NULL: not known. */
static const Expr *load_matters(Trim *t, const Expr *load, const Expr *nothing)
{
	Writers w = { .t = t, .load = load, .nothing = nothing, .list = scope_of(t, load->name) };
	if (w.list == NULL || producer_touches(t->l.fn->body, load->name).strange)
		return NULL;
	ir_each_stmt(w.list, see_writer, &w);
	return w.any && !w.unknown ? w.cond : NULL;
}

/* The most that x may be where the condition holds, x the index that moves with the loop; NULL: not known. */
static const Expr *most_of(Trim *t, const Expr *cond, const Expr *x)
{
	Ir *ir = t->ir;
	if (cond->op == IR_AND) {
		const Expr *most = most_of(t, cond->arg[0], x);
		return most != NULL ? most : most_of(t, cond->arg[1], x);
	}
	if ((cond->op != IR_LE && cond->op != IR_LT) || !dtype_is_int(cond->arg[0]->type))
		return NULL;
	const Expr *most = ir_add(ir, ir_sub(ir, cond->arg[1], cond->arg[0]), x);
	most = ir_simplify(ir, cond->op == IR_LT ? ir_sub(ir, most, ir_int(ir, 1)) : most, NULL);
	return ir_uses_var(most, t->l.loop->loop.var) || ir_has_load(most) ? NULL : most;
}

static void see_factor(Trim *t, Spot spot, const Expr *e, const Expr *nothing, bool product, const Expr **end)
{
	if (product && e->op == IR_MUL) {
		see_factor(t, spot, e->arg[0], nothing, product, end);
		see_factor(t, spot, e->arg[1], nothing, product, end);
		return;
	}
	const Expr *cond = e->op == IR_LOAD && *end == NULL ? load_matters(t, e, nothing) : NULL;
	for (int k = 0; cond != NULL && k < e->nargs && *end == NULL; k++) {
		const Expr *x = resolve(t, spot.block, e->arg[k]);
		const Expr *most = ir_uses_var(x, t->l.loop->loop.var) ? most_of(t, resolve(t, spot.block, cond), x) : NULL;
		*end = most != NULL ? iterations(t, spot, x, most, NULL) : NULL;
	}
}

static void see_reduction(Trim *t, Spot spot, const Stmt *s)
{
	const Expr *end = NULL, *v = s->reduce.value[0];
	const Monoid *m = s->reduce.n == 1 ? ir_find_monoid(t->s->ks, s->reduce.monoid, v->type) : NULL;
	if (m != NULL && m->n == 1 && s->reduce.old == NULL)
		see_factor(t, spot, v, m->identity[0], strcmp(m->name, "sum") == 0, &end);
	if (end == NULL) {
		give_up(t, "it is not known where block %s combines the identity", spot.block->block.name);
		return;
	}
	t->starts |= spot.block->block.init != NULL;
	need(t, end);
}

/* ---- all that is below the loop ---- */

static void see_write(Trim *t, Spot spot, const Stmt *s, const Access *to)
{
	const char *var = t->l.loop->loop.var;
	if (!nest_outlives(t->l.loop->loop.body, to->buf))
		return;
	for (int k = 0; k < to->n; k++)
		if (ir_uses_var(resolve(t, spot.block, to->idx[k]), var)) {
			see_store(t, spot, to, k);
			return;
		}
	if (s->kind == ST_REDUCE)
		see_reduction(t, spot, s);
	else
		give_up(t, "each iteration writes the same of %s", to->buf);
}

static void see_list(Trim *t, Stmt **list, const Stmt *block)
{
	for (Stmt **link = list; *link != NULL; link = &(*link)->next) {
		Stmt *s = *link, **below[IR_CHILDREN];
		if ((s->kind == ST_STORE || s->kind == ST_REDUCE) && block != NULL) {
			const Access *to = s->kind == ST_STORE ? &s->store.dst : s->reduce.dst;
			for (int k = 0; k < (s->kind == ST_STORE ? 1 : s->reduce.n); k++)
				see_write(t, (Spot){ link, block }, s, &to[k]);
		} else if (s->kind == ST_FOR || s->kind == ST_BLOCK || s->kind == ST_IF) {
			int n = ir_children(s, below);
			for (int k = 0; k < n; k++)
				if (s->kind != ST_BLOCK || below[k] == &s->block.body)
					see_list(t, below[k], s->kind == ST_BLOCK ? s : block);
		} else if (s->kind != ST_ALLOC) {
			give_up(t, "a statement below it is no loop, block, store or reduction", "");
		}
	}
}

/*
 * Law: an iteration that is left out stores only elements that nobody reads, and combines only identities; a NaN or
 * infinity times 0 is 0.
 * Needs: a serial loop.  Breaks: its constant extent.
 */
bool prim_trim(Sched *s, const Step *st)
{
	Trim t = { .s = s, .ir = s->ir };
	Ir *ir = s->ir;
	if (!sched_find_loop(s, st->arg[0].word, &t.l) || !sched_need_serial(s, "trim", t.l.loop))
		return false;
	Stmt *l = t.l.loop;
	t.env = ir_range_at(ir, t.l.fn, l);
	see_list(&t, &l->loop.body, NULL);
	if (t.why != NULL)
		return sched_refuse_for(s, "trim", l->loop.var, t.why, t.other);
	if (t.end == NULL || ir_always(ir_simplify(ir, ir_le(ir, l->loop.hi, t.end), t.env), t.env))
		return sched_refuse(s, "trim", l->loop.var, "each iteration is needed");
	const Expr *first = ir_add(ir, l->loop.lo, ir_int(ir, 1));
	if (t.starts && !ir_always(ir_simplify(ir, ir_le(ir, first, t.end), t.env), t.env))
		t.end = ir_max(ir, t.end, first);
	t.end = ir_simplify(ir, ir_min(ir, l->loop.hi, t.end), t.env);
	if (!producer_is_outer(&t.l, t.end) || ir_uses_var(t.end, l->loop.var))
		return sched_refuse(s, "trim", l->loop.var, "its end depends on what it holds");
	l->loop.hi = t.end;
	return true;
}
