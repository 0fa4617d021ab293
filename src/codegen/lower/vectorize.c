/*
 * Vector loops to vector expressions. A loop of up to LOWER_LANES iterations becomes one step of as many lanes, under a
 * mask where its extent is only bounded. A longer one becomes a serial loop of steps of the target's width and a
 * masked step for the rest. Conditions that differ from lane to lane become masks of the stores and lets inside.
 * Allocs get a lane dimension.
 *
 * A loop with something that has no vector form becomes serial: an inner loop whose bounds differ from lane to lane,
 * atomics, a vector loop within. Its instances are unordered, so any order is legal.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

typedef struct Widening {
	Widen *w;
	IrMemo *memo;
} Widening;

static const Expr *widen(Widening *z, const Expr *e);

static const Expr *widen_load(Widening *z, const Expr *e, const Expr *const *arg, bool changed)
{
	Widen *w = z->w;
	bool own = false;
	for (size_t k = 0; k < w->own.n; k++)
		own = own || w->own.at[k] == e->name;
	if (!own && !changed)
		return e;
	if (e->type.lanes > 1)
		return NULL;
	const Expr **idx = arena_array(w->l->arena, const Expr *, e->nargs + 1);
	for (int k = 0; k < e->nargs; k++)
		idx[k] = arg[k]->type.lanes == 1 ? ir_splat(w->l->ir, arg[k], w->lanes) : arg[k];
	if (own)
		idx[e->nargs] = lower_all_lanes(w->l->ir, w->lanes);
	return ir_load_named(w->l->ir, e->name, e->type, idx, e->nargs + own);
}

static const Expr *widen_node(Widening *z, const Expr *e)
{
	Widen *w = z->w;
	if (e->op == IR_VAR) {
		for (size_t k = 0; k < w->var.n; k++)
			if (w->var.at[k].name == e->name)
				return w->var.at[k].by;
		return e;
	}
	const Expr *few[4], **arg = few;
	bool changed = false;
	if (e->nargs > 4)
		arg = arena_array(w->l->arena, const Expr *, e->nargs);
	for (int k = 0; k < e->nargs; k++) {
		arg[k] = widen(z, e->arg[k]);
		if (arg[k] == NULL)
			return NULL;
		changed = changed || arg[k] != e->arg[k];
	}
	if (e->op == IR_LOAD)
		return widen_load(z, e, arg, changed);
	if (!changed)
		return e;
	if (e->type.lanes > 1 || e->op == IR_LANE || e->op == IR_DOT4 || e->op == IR_MMA || e->op == IR_LDMATRIX ||
		e->op == IR_LDMATRIX_T)
		return NULL;
	int lanes = 1;
	for (int k = 0; k < e->nargs; k++)
		lanes = arg[k]->type.lanes > lanes ? arg[k]->type.lanes : lanes;
	for (int k = 0; k < e->nargs; k++)
		if (arg[k]->type.lanes != lanes)
			arg[k] = ir_splat(w->l->ir, arg[k], lanes);
	return ir_node(w->l->ir, e->op, dtype_vector(e->type, lanes), arg, e->nargs);
}

static const Expr *widen(Widening *z, const Expr *e)
{
	if (e->nargs == 0 && e->op != IR_VAR && e->op != IR_LOAD)
		return e;
	const Expr *known = *ir_memo_at(z->memo, e);
	if (known == NULL) {
		known = widen_node(z, e);
		if (known != NULL)
			*ir_memo_at(z->memo, e) = known;
	}
	return known;
}

const Expr *lower_widen(Widen *w, const Expr *e)
{
	Widening z = { w, ir_memo_begin(w->l->ir) };
	const Expr *r = widen(&z, e);
	ir_memo_end(w->l->ir, z.memo);
	return r;
}

static const Expr *to_lanes(Widen *w, const Expr *e)
{
	return e->type.lanes == 1 ? ir_splat(w->l->ir, e, w->lanes) : e;
}

static const Expr *both(Widen *w, const Expr *a, const Expr *b)
{
	if (a == NULL || b == NULL)
		return a == NULL ? b : a;
	return ir_and(w->l->ir, to_lanes(w, a), to_lanes(w, b));
}

/* A store's own mask in lanes under another: what it loads is loaded where that one is true. */
static const Expr *under(Widen *w, const Expr *own, const Expr *mask)
{
	if (own == NULL || mask == NULL || !ir_has_load(own))
		return both(w, own, mask);
	own = to_lanes(w, own);
	return ir_select(w->l->ir, to_lanes(w, mask), own, ir_const(w->l->ir, own->type, 0));
}

static bool vector_list(Widen *w, const Stmt *s, const Expr *mask, Stmt **out);

static bool vector_store(Widen *w, const Stmt *s, const Expr *mask, Stmt **out)
{
	const Access *d = &s->store.dst;
	Stmt *r = lower_copy_node(w->l, s);
	bool own = false, moves = false;
	for (size_t k = 0; k < w->own.n; k++)
		own = own || w->own.at[k] == d->buf;
	r->store.dst.idx = arena_array(w->l->arena, const Expr *, d->n + 1);
	const Expr **idx = r->store.dst.idx;
	for (int k = 0; k < d->n; k++) {
		idx[k] = lower_widen(w, d->idx[k]);
		if (idx[k] == NULL)
			return false;
		moves = moves || idx[k] != d->idx[k];
	}
	r->store.value = lower_widen(w, s->store.value);
	const Expr *own_mask = s->store.mask != NULL ? lower_widen(w, s->store.mask) : NULL;
	if (r->store.value == NULL || (s->store.mask != NULL && own_mask == NULL))
		return false;
	bool same = !own && !moves && r->store.value == s->store.value && own_mask == s->store.mask;
	if (same && mask == NULL) {
		*out = r;
		return true;
	}
	/* A vector store cannot widen; one element written by several lanes is a race. */
	if ((!own && !moves) || s->store.value->type.lanes > 1)
		return false;
	for (int k = 0; k < d->n; k++)
		idx[k] = to_lanes(w, idx[k]);
	if (own)
		idx[r->store.dst.n++] = lower_all_lanes(w->l->ir, w->lanes);
	r->store.value = to_lanes(w, r->store.value);
	r->store.mask = under(w, own_mask, mask);
	if (r->store.mask != NULL)
		r->store.mask = to_lanes(w, r->store.mask);
	*out = r;
	return true;
}

/* Where lanes differ, the first one's element is prefetched: the others are mostly in its cache line. */
static bool vector_prefetch(Widen *w, const Stmt *s, Stmt **out)
{
	const Access *p = &s->prefetch;
	Stmt *r = lower_copy_node(w->l, s);
	r->prefetch.idx = arena_array(w->l->arena, const Expr *, p->n);
	for (int k = 0; k < p->n; k++) {
		const Expr *e = lower_widen(w, p->idx[k]);
		if (e == NULL)
			return false;
		r->prefetch.idx[k] = e->type.lanes == 1 ? e : ir_lane(w->l->ir, e, 0);
	}
	*out = r;
	return true;
}

static bool vector_let(Widen *w, const Stmt *s, const Expr *mask, Stmt **out)
{
	const Expr *v = lower_widen(w, s->let.value);
	if (v == NULL)
		return false;
	bool masked = mask != NULL && ir_has_load(v);
	if (v != s->let.value || masked) {
		if (v->type.lanes > 1 && v->type.lanes != w->lanes)
			return false;
		v = to_lanes(w, v);
		if (masked)
			v = ir_select(w->l->ir, to_lanes(w, mask), v, ir_const(w->l->ir, v->type, 0));
		vec_push(w->l->arena, &w->var, ((struct WidenVar){ s->let.var, ir_var(w->l->ir, s->let.var, v->type) }));
	}
	*out = lower_copy_node(w->l, s);
	(*out)->let.value = v;
	return true;
}

static bool vector_alloc(Widen *w, const Stmt *s, Stmt **out)
{
	Ir *ir = w->l->ir;
	Arena *a = w->l->arena;
	*out = ir_clone_stmt(ir, s); /* this one: its next is NULL in the caller's copy */
	(*out)->next = NULL;
	Buf *b = (*out)->alloc;
	const Expr **shape = arena_array(a, const Expr *, b->rank + 1);
	for (int k = 0; k < b->rank; k++)
		shape[k] = b->shape[k];
	shape[b->rank++] = ir_int(ir, w->lanes);
	b->shape = shape;
	if (b->map.n > 0) {
		IndexMap m = { b->map.nvar + 1, b->map.n + 1, arena_array(a, const char *, b->map.nvar + 1),
			arena_array(a, const Expr *, b->map.n + 1), arena_array(a, const Expr *, b->map.n + 1) };
		memcpy(m.var, b->map.var, sizeof *m.var * (size_t)b->map.nvar);
		memcpy(m.at, b->map.at, sizeof *m.at * (size_t)b->map.n);
		memcpy(m.extent, b->map.extent, sizeof *m.extent * (size_t)b->map.n);
		m.var[b->map.nvar] = ir_fresh_name(ir, "lane");
		m.at[b->map.n] = ir_idx(ir, m.var[b->map.nvar]);
		m.extent[b->map.n] = ir_int(ir, w->lanes);
		b->map = m;
	}
	vec_push(a, &w->own, b->name);
	return true;
}

static bool vector_if(Widen *w, const Stmt *s, const Expr *mask, Stmt **out)
{
	Ir *ir = w->l->ir;
	const Expr *cond = lower_widen(w, s->branch.cond);
	Stmt *then, *other, *lets = NULL;
	if (cond == NULL)
		return false;
	if (cond == s->branch.cond && (mask == NULL || !ir_has_load(cond))) {
		if (!vector_list(w, s->branch.then, mask, &then) || !vector_list(w, s->branch.other, mask, &other))
			return false;
		*out = ir_if(ir, cond, then, other);
		return true;
	}
	cond = to_lanes(w, cond);
	if (ir_has_load(cond)) { /* the branches may store what it read */
		if (mask != NULL)
			cond = ir_select(ir, to_lanes(w, mask), cond, ir_const(ir, cond->type, 0));
		const char *name = ir_fresh_name(ir, "mask");
		lets = ir_let(ir, name, cond);
		cond = ir_var(ir, name, cond->type);
	}
	if (!vector_list(w, s->branch.then, both(w, mask, cond), &then) ||
		!vector_list(w, s->branch.other, both(w, mask, ir_unary(ir, IR_NOT, cond)), &other))
		return false;
	*out = ir_seq(lets, ir_seq(then, other));
	return true;
}

static bool vector_for(Widen *w, const Stmt *s, const Expr *mask, Stmt **out)
{
	const Expr *lo = lower_widen(w, s->loop.lo), *hi = lower_widen(w, s->loop.hi);
	if (lo != s->loop.lo || hi != s->loop.hi)
		return false;
	if (mask != NULL && (ir_has_load(lo) || ir_has_load(hi)))
		return false;
	Stmt *r = lower_copy_node(w->l, s);
	if (r->loop.kind != LOOP_UNROLLED)
		r->loop.kind = LOOP_SERIAL;
	*out = r;
	return vector_list(w, s->loop.body, mask, &r->loop.body);
}

static bool vector_list(Widen *w, const Stmt *s, const Expr *mask, Stmt **out)
{
	Stmt **end = out;
	*out = NULL;
	for (; s != NULL; s = s->next) {
		bool ok;
		*end = NULL;
		switch (s->kind) {
		case ST_STORE: ok = vector_store(w, s, mask, end); break;
		case ST_PREFETCH: ok = vector_prefetch(w, s, end); break;
		case ST_LET: ok = vector_let(w, s, mask, end); break;
		case ST_ALLOC: ok = vector_alloc(w, lower_copy_node(w->l, s), end); break;
		case ST_IF: ok = vector_if(w, s, mask, end); break;
		case ST_FOR: ok = vector_for(w, s, mask, end); break;
		default: ok = false;
		}
		if (!ok)
			return false;
		while (*end != NULL)
			end = &(*end)->next;
	}
	return true;
}

/* One step: lanes base, base + 1, ..; those not below `end` are off (NULL: all are on). */
static bool step(Lower *l, const Stmt *s, const Expr *base, int lanes, const Expr *end, Stmt **out)
{
	Widen w = { .l = l, .lanes = lanes };
	const Expr *v = ir_ramp(l->ir, base, ir_int(l->ir, 1), lanes);
	if (lanes == 1 && end != NULL)
		return false;
	if (lanes == 1) {
		*out = ir_clone_stmt(l->ir, s->loop.body);
		ir_subst_stmt(l->ir, *out, s->loop.var, base);
		return true;
	}
	vec_push(l->arena, &w.var, ((struct WidenVar){ s->loop.var, v }));
	const Expr *mask = end != NULL ? ir_lt(l->ir, v, ir_splat(l->ir, end, lanes)) : NULL;
	return vector_list(&w, s->loop.body, mask, out);
}

/* The widest element that the list stores. */
static void widest_store(const Map *bufs, Stmt *s, DType *widest)
{
	for (; s != NULL; s = s->next) {
		Stmt **child[IR_CHILDREN];
		for (int k = 0, n = ir_children(s, child); k < n; k++)
			widest_store(bufs, *child[k], widest);
		const Buf *b = s->kind == ST_STORE ? lower_buf(bufs, s->store.dst.buf) : NULL;
		*widest = b != NULL && b->type.bits > widest->bits ? b->type : *widest;
	}
}

static bool long_loop(Lower *l, const Stmt *s, const Expr *extent, const Range *env, Stmt **out)
{
	Ir *ir = l->ir;
	DType widest = BOOL;
	widest_store(l->bufs, s->loop.body, &widest);
	int width = target_lanes(l->target, widest) > 4 ? target_lanes(l->target, widest) : 4;
	const char *var = ir_fresh_name(ir, s->loop.var);
	const Expr *n = ir_int(ir, width), *steps = ir_simplify(ir, ir_div(ir, extent, n), env);
	Stmt *body, *tail;
	if (!step(l, s, ir_add(ir, s->loop.lo, ir_mul(ir, ir_idx(ir, var), n)), width, NULL, &body))
		return false;
	*out = ir_for(ir, var, ir_int(ir, 0), steps, LOOP_SERIAL, body);
	const Expr *left = ir_simplify(ir, ir_mod(ir, extent, n), env);
	if (ir_is_const(left, 0))
		return true;
	const Expr *base = ir_add(ir, s->loop.lo, ir_mul(ir, steps, n));
	int64_t k;
	if (!step(l, s, base, width, s->loop.hi, &tail))
		return false;
	lower_rename(l, tail);
	if (!ir_is_int(left, &k))
		tail = ir_if(ir, ir_lt(ir, ir_int(ir, 0), left), tail, NULL);
	*out = ir_seq(*out, tail);
	return true;
}

/* The loop's replacement; a serial loop where there is no vector form. */
static Stmt *vector_loop(Lower *l, Stmt *s, const Range *env)
{
	Stmt *out = NULL;
	const Expr *extent = ir_simplify(l->ir, ir_sub(l->ir, s->loop.hi, s->loop.lo), env);
	Interval i = ir_interval(extent, env);
	bool loads = ir_has_load(s->loop.lo) || ir_has_load(s->loop.hi);
	bool known = i.lo == i.hi, ok = !loads;
	if (i.hi <= 0 && ok)
		return NULL;
	if (i.hi <= LOWER_LANES && ok)
		ok = step(l, s, s->loop.lo, (int)i.hi, known ? NULL : s->loop.hi, &out);
	else if (ok)
		ok = long_loop(l, s, extent, env, &out);
	if (ok)
		return out;
	s->loop.kind = LOOP_SERIAL;
	return s;
}

static void walk(Lower *l, Stmt **list, const Range *env)
{
	Stmt *s = *list, **end = list;
	*list = NULL;
	for (Stmt *next; s != NULL; s = next) {
		Stmt *now = s;
		next = s->next;
		s->next = NULL;
		if (s->kind == ST_FOR) {
			walk(l, &s->loop.body, lower_range(l, s, false, env));
			if (s->loop.kind == LOOP_VECTOR)
				now = vector_loop(l, s, env);
		} else if (s->kind == ST_IF) {
			walk(l, &s->branch.then, lower_range(l, s, false, env));
			walk(l, &s->branch.other, lower_range(l, s, true, env));
		} else if (s->kind == ST_ASYNC) {
			walk(l, &s->async, env);
		}
		env = lower_range(l, s->kind == ST_LET ? s : &(Stmt){ .kind = ST_COMMIT }, false, env);
		*end = now;
		while (*end != NULL)
			end = &(*end)->next;
	}
}

bool pass_vectorize(Lower *l)
{
	l->bufs = lower_bufs(l);
	walk(l, &l->fn->body, ir_range_fn(l->ir, l->fn));
	return true;
}
