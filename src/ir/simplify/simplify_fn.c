/*
 * Simplification of a whole Fn: one walk from the outside in, each statement under the facts of
 * what encloses it and of the lets before it. Code without effect is dropped: loops of no iteration,
 * branches never taken, blocks whose `where` never holds, stores masked off, lets that nothing reads.
 * A loop of one iteration becomes its body. Laws: the statements that are executed, their order and
 * the values they store stay the same.
 */
#include "ir/build.h"
#include "ir/query.h"
#include "ir/simplify/simplify_rules.h"

#include "base/map.h"

#include <string.h>

typedef struct Walk {
	Simp s;
	Map declared; /* names of lets and olds to how often each is declared */
	Map read;     /* names of variables that are read */
} Walk;

static Stmt *walk_body(Walk *w, Stmt *list, const Range *env);

static const Expr *simp(Walk *w, const Expr *e)
{
	return simplify_whole(&w->s, e);
}

static void simp_all(Walk *w, const Expr **e, int n)
{
	for (int i = 0; i < n; i++)
		if (e[i] != NULL)
			e[i] = simp(w, e[i]);
}

/* From here on under other facts; returns what `leave` needs. */
static Simp enter(Walk *w, const Range *env)
{
	Simp old = w->s;
	w->s.env = env;
	w->s.memo = ir_memo_begin(old.ir);
	return old;
}

static void leave(Walk *w, Simp old)
{
	ir_memo_end(w->s.ir, w->s.memo);
	w->s = old;
}

static const char **declared_name(Stmt *s)
{
	if (s->kind == ST_LET)
		return &s->let.var;
	return s->kind == ST_REDUCE && s->reduce.old != NULL ? &s->reduce.old : NULL;
}

/* The list is to stand among other statements: names that something else declares too change. */
static Stmt *hoisted(Walk *w, Stmt *list)
{
	Ir *ir = w->s.ir;
	for (Stmt *s = list; s != NULL; s = s->next) {
		const char **name = declared_name(s);
		MapEntry *count = name == NULL ? NULL : map_add_ptr(&w->declared, *name);
		if (count == NULL || count->num < 2)
			continue;
		count->num--;
		const char *fresh = ir_fresh_name(ir, *name);
		map_add_ptr(&w->declared, fresh)->num++;
		DType type = s->kind == ST_LET ? s->let.value->type : s->reduce.value[0]->type;
		if (s->next != NULL)
			ir_subst_stmt(ir, s->next, *name, ir_var(ir, fresh, type));
		*name = fresh;
	}
	return list;
}

static Stmt *walk_for(Walk *w, Stmt *s)
{
	Ir *ir = w->s.ir;
	s->loop.lo = simp(w, s->loop.lo);
	s->loop.hi = simp(w, s->loop.hi);
	if (ir_is_ordered(s->loop.hi, s->loop.lo, 0, w->s.env, w->s.cache))
		return NULL;
	const Expr *next = simp(w, ir_add(ir, s->loop.lo, ir_int(ir, 1)));
	if (next == s->loop.hi && ir_is_ordered(s->loop.lo, next, 1, w->s.env, w->s.cache)) {
		Stmt *body = hoisted(w, s->loop.body);
		if (body != NULL)
			ir_subst_stmt(ir, body, s->loop.var, s->loop.lo);
		return walk_body(w, body, w->s.env);
	}
	const Range *env = ir_range_for(ir, s->loop.var, s->loop.lo, s->loop.hi, w->s.env);
	s->loop.body = walk_body(w, s->loop.body, env);
	return s->loop.body == NULL ? NULL : s;
}

static Stmt *walk_block(Walk *w, Stmt *s)
{
	Ir *ir = w->s.ir;
	for (int i = 0; i < s->block.n; i++) {
		Iter *it = &s->block.iter[i];
		it->lo = simp(w, it->lo);
		it->hi = simp(w, it->hi);
		it->value = simp(w, it->value);
	}
	if (s->block.where != NULL) {
		Simp old = enter(w, ir_range_iters(ir, s, w->s.env));
		s->block.where = simp(w, s->block.where);
		leave(w, old);
		if (ir_is_const(s->block.where, 0))
			return NULL;
		if (ir_is_const(s->block.where, 1))
			s->block.where = NULL;
	}
	const Range *env = ir_range_block(ir, s, w->s.env), *init = env;
	for (int i = 0; i < s->block.n; i++)
		if (s->block.iter[i].kind != ITER_SPATIAL)
			init = ir_range_let(ir, s->block.iter[i].name, s->block.iter[i].lo, init);
	s->block.init = walk_body(w, s->block.init, init);
	s->block.body = walk_body(w, s->block.body, env);
	return s->block.init == NULL && s->block.body == NULL ? NULL : s;
}

static Stmt *walk_if(Walk *w, Stmt *s)
{
	Ir *ir = w->s.ir;
	const Range *env = w->s.env;
	s->branch.cond = simp(w, s->branch.cond);
	if (s->branch.cond->op == IR_INT)
		return walk_body(
			w, hoisted(w, s->branch.cond->i ? s->branch.then : s->branch.other), env);
	s->branch.then = walk_body(w, s->branch.then, ir_range_if(ir, s->branch.cond, true, env));
	s->branch.other =
		walk_body(w, s->branch.other, ir_range_if(ir, s->branch.cond, false, env));
	if (s->branch.then == NULL && s->branch.other == NULL)
		return NULL;
	if (s->branch.then == NULL) {
		s->branch.cond = simp(w, ir_unary(ir, IR_NOT, s->branch.cond));
		s->branch.then = s->branch.other;
		s->branch.other = NULL;
	}
	return s;
}

/* The mask is simplified; what it masks is under it. False: it is never true. */
static bool enter_mask(Walk *w, const Expr **mask, Simp *old)
{
	if (*mask != NULL)
		*mask = simp(w, *mask);
	const Expr *m = *mask;
	if (m != NULL && ir_always(m, w->s.env))
		m = *mask = NULL;
	if (m != NULL && ir_never(m, w->s.env))
		return false;
	*old = w->s;
	if (m != NULL && m->type.lanes == 1)
		*old = enter(w, ir_range_if(w->s.ir, m, true, w->s.env));
	return true;
}

static void leave_mask(Walk *w, Simp old)
{
	if (old.memo != w->s.memo)
		leave(w, old);
}

static Stmt *walk_reduce(Walk *w, Stmt *s)
{
	Simp old;
	if (s->reduce.old != NULL && s->reduce.mask != NULL) {
		s->reduce.mask = simp(w, s->reduce.mask);
		return s; /* what `old` is without the reduction is not ours to say */
	}
	if (!enter_mask(w, &s->reduce.mask, &old))
		return NULL;
	for (int i = 0; i < s->reduce.n; i++)
		simp_all(w, s->reduce.dst[i].idx, s->reduce.dst[i].n);
	simp_all(w, s->reduce.value, s->reduce.n);
	leave_mask(w, old);
	return s;
}

/* What the statement becomes: a list, maybe empty. */
static Stmt *walk_stmt(Walk *w, Stmt *s, Stmt *rest)
{
	Simp old;
	switch (s->kind) {
	case ST_FOR: return walk_for(w, s);
	case ST_BLOCK: return walk_block(w, s);
	case ST_IF: return walk_if(w, s);
	case ST_STORE:
		if (!enter_mask(w, &s->store.mask, &old))
			return NULL;
		simp_all(w, s->store.dst.idx, s->store.dst.n);
		s->store.value = simp(w, s->store.value);
		leave_mask(w, old);
		return s;
	case ST_REDUCE: return walk_reduce(w, s);
	case ST_CALL:
		for (int i = 0; i < s->call.n; i++) {
			CallArg *a = &s->call.arg[i];
			simp_all(w, &a->value, 1);
			simp_all(w, a->idx, a->n);
			if (a->len != NULL)
				simp_all(w, a->len, a->n);
		}
		return s;
	case ST_LET: {
		const Expr *v = s->let.value = simp(w, s->let.value);
		if (v->op != IR_INT && v->op != IR_FLOAT && v->op != IR_VAR)
			return s;
		if (rest != NULL)
			ir_subst_stmt(w->s.ir, rest, s->let.var, v);
		return NULL;
	}
	case ST_PREFETCH: simp_all(w, s->prefetch.idx, s->prefetch.n); return s;
	case ST_ASYNC:
		s->async = walk_body(w, s->async, w->s.env);
		return s->async == NULL ? NULL : s;
	default: return s;
	}
}

static Stmt *walk_body(Walk *w, Stmt *list, const Range *env)
{
	if (list == NULL)
		return NULL;
	Stmt *first = NULL, **end = &first;
	Simp old = enter(w, env);
	for (Stmt *s = list, *rest; s != NULL; s = rest) {
		rest = s->next;
		s->next = NULL;
		*end = walk_stmt(w, s, rest);
		for (; *end != NULL; end = &(*end)->next) {
			if ((*end)->kind != ST_LET)
				continue;
			const Range *known =
				ir_range_let(w->s.ir, (*end)->let.var, (*end)->let.value, w->s.env);
			leave(w, old);
			old = enter(w, known);
		}
	}
	leave(w, old);
	return first;
}

static bool count_declared(Stmt *s, void *arg)
{
	Walk *w = arg;
	const char **name = declared_name(s);
	if (name != NULL)
		map_add_ptr(&w->declared, *name)->num++;
	return true;
}

static void note_read(const Expr *e, void *arg)
{
	Walk *w = arg;
	if (e->op == IR_VAR)
		map_add_ptr(&w->read, e->name);
}

/* The list without lets whose name nothing reads. */
static Stmt *without_dead(Walk *w, Stmt *list, bool *dropped)
{
	for (Stmt **at = &list; *at != NULL;) {
		Stmt *s = *at, **below[IR_CHILDREN];
		if (s->kind == ST_LET && map_find_ptr(&w->read, s->let.var) == NULL) {
			*at = s->next;
			*dropped = true;
			continue;
		}
		for (int k = 0, n = ir_children(s, below); k < n; k++)
			*below[k] = without_dead(w, *below[k], dropped);
		at = &s->next;
	}
	return list;
}

void ir_simplify_fn(const KernelSet *ks, Fn *fn)
{
	IntervalCache cache;
	memset(cache.e, 0, sizeof cache.e);
	Walk w = { .s = { .ir = ks->ir, .cache = &cache }, .declared = MAP_OF(ir_arena(ks->ir)) };
	ir_each_stmt(fn->body, count_declared, &w);
	w.s.memo = ir_memo_begin(ks->ir);
	fn->body = walk_body(&w, fn->body, ir_range_fn(ks->ir, fn));
	ir_memo_end(ks->ir, w.s.memo);
	for (bool dropped = w.declared.index.n > 0; dropped;) {
		dropped = false;
		w.read = MAP_OF(ir_arena(ks->ir));
		ir_each_node_in(fn->body, note_read, &w);
		fn->body = without_dead(&w, fn->body, &dropped);
	}
}
