/*
 * The loop primitives.  Each takes a legal kernel set and gives a legal one, or refuses with the
 * reason; what "legal to move" means is read off the blocks: spatial iterators are independent,
 * reduce iterators may be reordered (their monoid is associative), scan iterators keep their order.
 * A loop that holds statements outside blocks has no declared dependences and is not moved.
 */
#include "schedule/trace.h"

#include "ir/build.h"
#include "ir/simplify.h"
#include "ir/walk.h"

#include <stdio.h>
#include <string.h>

enum { UNROLL_LIMIT = 64, VECTOR_LIMIT = 64 };

typedef struct Sched {
	KernelSet *ks;
	Ir *ir;
	const Target *target;
	char place[64];
	Err *err;
} Sched;

/* Where a loop hangs, and in which Fn. */
typedef struct Place {
	Fn *fn;
	Stmt **link;
	Stmt *loop;
} Place;

static bool find_loop_in(Stmt **link, const char *name, Place *out)
{
	for (; *link != NULL; link = &(*link)->next) {
		Stmt *s = *link;
		switch (s->kind) {
		case ST_FOR:
			if (strcmp(s->loop.var, name) == 0) {
				out->link = link;
				out->loop = s;
				return true;
			}
			if (find_loop_in(&s->loop.body, name, out))
				return true;
			break;
		case ST_BLOCK:
			if (find_loop_in(&s->block.init, name, out) || find_loop_in(&s->block.body, name, out))
				return true;
			break;
		case ST_IF:
			if (find_loop_in(&s->branch.then, name, out) || find_loop_in(&s->branch.other, name, out))
				return true;
			break;
		case ST_ASYNC:
			if (find_loop_in(&s->async, name, out))
				return true;
			break;
		default: break;
		}
	}
	return false;
}

static bool find_loop(Sched *s, const char *name, Place *out)
{
	for (size_t i = 0; i < s->ks->n; i++) {
		out->fn = s->ks->fn[i];
		if (find_loop_in(&out->fn->body, name, out))
			return true;
	}
	return fail(s->err, ERR_ILLEGAL, s->place, "there is no loop \"%s\"", name);
}

static bool refuse(Sched *s, const char *what, const char *loop, const char *why)
{
	return fail(s->err, ERR_ILLEGAL, s->place, "%s %s: %s", what, loop, why);
}

static bool constant_extent(const Stmt *loop, int64_t *n)
{
	int64_t lo, hi;
	if (!ir_is_int(loop->loop.lo, &lo) || !ir_is_int(loop->loop.hi, &hi))
		return false;
	*n = hi - lo;
	return true;
}

/* ---- what the blocks below a loop say of it ---- */

typedef struct Uses {
	const char *var;
	bool spatial, reduce, scan; /* some iterator of that kind depends on var */
	bool loose;                 /* a statement outside a block, or bounds that depend on var */
	int blocks;
} Uses;

static void look_below(const Stmt *s, Uses *u)
{
	for (; s != NULL; s = s->next) {
		if (s->kind == ST_FOR) {
			if (ir_uses_var(s->loop.lo, u->var) || ir_uses_var(s->loop.hi, u->var))
				u->loose = true;
			look_below(s->loop.body, u);
		} else if (s->kind == ST_BLOCK) {
			u->blocks++;
			for (int i = 0; i < s->block.n; i++) {
				if (!ir_uses_var(s->block.iter[i].value, u->var))
					continue;
				IterKind k = s->block.iter[i].kind;
				u->spatial |= k == ITER_SPATIAL;
				u->reduce |= k == ITER_REDUCE;
				u->scan |= k == ITER_SCAN;
			}
		} else {
			u->loose = true;
		}
	}
}

static Uses uses_of(const Stmt *loop)
{
	Uses u = { .var = loop->loop.var };
	look_below(loop->loop.body, &u);
	return u;
}

static bool need_serial(Sched *s, const char *what, const Stmt *loop)
{
	if (loop->loop.kind != LOOP_SERIAL)
		return refuse(s, what, loop->loop.var, "it is not a serial loop any more");
	return true;
}

/* Lanes and threads may only differ in what spatial iterators separate. */
static bool need_spatial(Sched *s, const char *what, const Stmt *loop)
{
	Uses u = uses_of(loop);
	if (u.reduce)
		return refuse(s, what, loop->loop.var, "a reduction depends on it");
	if (u.scan)
		return refuse(s, what, loop->loop.var, "a recurrence depends on it");
	if (u.loose)
		return refuse(s, what, loop->loop.var, "a statement or a bound below it stands in no block");
	if (u.blocks == 0)
		return refuse(s, what, loop->loop.var, "there is no block below it");
	return true;
}

/* ---- split ---- */

/* Everything below s runs only where cond holds: blocks get it as predicate, the rest an if. */
static Stmt *guard(Ir *ir, Stmt *s, const Expr *cond)
{
	if (s == NULL)
		return NULL;
	if (s->kind == ST_FOR) {
		s->loop.body = guard(ir, s->loop.body, cond);
	} else if (s->kind == ST_BLOCK) {
		s->block.where = s->block.where != NULL ? ir_and(ir, s->block.where, cond) : cond;
	} else if (s->kind == ST_LET || s->kind == ST_ALLOC) {
		return ir_if(ir, cond, s, NULL); /* what follows may use it */
	} else {
		Stmt *rest = s->next;
		s->next = NULL;
		Stmt *wrapped = ir_if(ir, cond, s, NULL);
		wrapped->next = guard(ir, rest, cond);
		return wrapped;
	}
	s->next = guard(ir, s->next, cond);
	return s;
}

/* Needs: a serial loop.  Breaks: the name of the old loop; a tail guards the blocks below. */
static bool prim_split(Sched *s, const Step *st)
{
	Place p;
	if (!find_loop(s, st->arg[0].word, &p) || !need_serial(s, "split", p.loop))
		return false;
	if (st->n > 2 && strcmp(st->arg[2].word, "guard") != 0)
		return refuse(s, "split", p.loop->loop.var, "the tail of a split is \"guard\"");
	Ir *ir = s->ir;
	Stmt *old = p.loop;
	int64_t f = st->arg[1].num, n;
	if (constant_extent(old, &n) && f > n)
		return fail(s->err, ERR_ILLEGAL, s->place, "split: factor %lld of loop %s, which has %lld",
			(long long)f, old->loop.var, (long long)n);
	const Range *env = ir_range_fn(ir, p.fn);
	const Expr *extent = ir_simplify(ir, ir_sub(ir, old->loop.hi, old->loop.lo), env);
	const Expr *factor = ir_int(ir, f);
	const Expr *outer_n = ir_simplify(ir, ir_div(ir, ir_add(ir, extent, ir_int(ir, f - 1)), factor), env);
	const char *o = ir_name(ir, arena_printf(ir_arena(ir), "%s.o", old->loop.var));
	const char *i = ir_name(ir, arena_printf(ir_arena(ir), "%s.i", old->loop.var));
	const Expr *at = ir_add(ir, ir_mul(ir, ir_idx(ir, o), factor), ir_idx(ir, i));
	const Expr *value = ir_add(ir, old->loop.lo, at);
	bool divides = ir_always(ir_eq(ir, ir_mod(ir, extent, factor), ir_int(ir, 0)), env);
	Stmt *body = old->loop.body;
	ir_subst_stmt(ir, body, old->loop.var, value);
	if (!divides)
		body = guard(ir, body, ir_lt(ir, at, extent));
	Stmt *inner = ir_for(ir, i, ir_int(ir, 0), factor, LOOP_SERIAL, body);
	Stmt *outer = ir_for(ir, o, ir_int(ir, 0), outer_n, LOOP_SERIAL, inner);
	outer->next = old->next;
	*p.link = outer;
	return true;
}

/* ---- reorder ---- */

static int position(const Step *st, const char *var)
{
	for (int k = 0; k < st->n; k++)
		if (strcmp(st->arg[k].word, var) == 0)
			return k;
	return -1;
}

/* The chain of perfectly nested loops that starts at the outermost named one and ends at the last. */
static int find_chain(Sched *s, const Step *st, Stmt **chain, int max)
{
	Place p, outermost = { 0 };
	for (int k = 0; k < st->n; k++) {
		if (position(st, st->arg[k].word) != k) {
			refuse(s, "reorder", st->arg[k].word, "it is named twice");
			return -1;
		}
		if (!find_loop(s, st->arg[k].word, &p))
			return -1;
		Place below = { 0 };
		if (outermost.loop == NULL || find_loop_in(&p.loop->loop.body, outermost.loop->loop.var, &below))
			outermost = p;
	}
	int n = 0, named = 0;
	for (Stmt *l = outermost.loop; named < st->n; l = l->loop.body) {
		if (l == NULL || l->kind != ST_FOR || (n != 0 && l->next != NULL) || n == max) {
			refuse(s, "reorder", st->arg[0].word, "the loops are not perfectly nested");
			return -1;
		}
		chain[n++] = l;
		named += position(st, l->loop.var) >= 0;
	}
	return n;
}

static bool may_reorder(Sched *s, Stmt *const *now, Stmt *const *then, int n)
{
	Uses all = uses_of(now[0]);
	if (all.blocks != 1 || all.loose)
		return refuse(s, "reorder", now[0]->loop.var, "there must be one block below, and nothing else");
	int last_scan = -1;
	for (int k = 0; k < n; k++) {
		if (then[k]->loop.kind == LOOP_VECTOR && k != n - 1 && now[k] != then[k])
			return refuse(s, "reorder", then[k]->loop.var, "it is vectorized");
		for (int j = k; j < n; j++)
			if (ir_uses_var(then[k]->loop.lo, then[j]->loop.var) ||
				ir_uses_var(then[k]->loop.hi, then[j]->loop.var))
				return refuse(s, "reorder", then[k]->loop.var, "its bounds depend on a loop inside");
		if (!uses_of(then[k]).scan)
			continue;
		for (int j = 0; j < n; j++)
			if (now[j] == then[k]) {
				if (j < last_scan)
					return refuse(s, "reorder", then[k]->loop.var, "a recurrence keeps its order");
				last_scan = j;
			}
	}
	return true;
}

/* Needs: perfectly nested loops over one block.  Breaks: nothing that names loops. */
static bool prim_reorder(Sched *s, const Step *st)
{
	enum { DEEP = 64 };
	Stmt *now[DEEP] = { 0 }, *then[DEEP] = { 0 };
	int n = find_chain(s, st, now, DEEP), next = 0;
	if (n < 0)
		return false;
	for (int k = 0; k < n; k++) {
		then[k] = now[k];
		if (position(st, now[k]->loop.var) < 0)
			continue;
		for (int j = 0; j < n; j++)
			if (strcmp(now[j]->loop.var, st->arg[next].word) == 0)
				then[k] = now[j];
		next++;
	}
	if (!may_reorder(s, now, then, n))
		return false;
	Place top;
	if (!find_loop(s, now[0]->loop.var, &top))
		return false;
	Stmt *after = now[0]->next, *body = now[n - 1]->loop.body;
	for (int k = 0; k < n; k++) {
		then[k]->next = NULL;
		then[k]->loop.body = k + 1 < n ? then[k + 1] : body;
	}
	then[0]->next = after;
	*top.link = then[0];
	return true;
}

/* ---- loop kinds ---- */

/* Needs: a serial loop of constant extent.  Breaks: nothing. */
static bool prim_unroll(Sched *s, const Step *st)
{
	Place p;
	int64_t n;
	if (!find_loop(s, st->arg[0].word, &p) || !need_serial(s, "unroll", p.loop))
		return false;
	if (!constant_extent(p.loop, &n) || n > UNROLL_LIMIT)
		return refuse(s, "unroll", p.loop->loop.var, "its extent must be a constant up to 64");
	p.loop->loop.kind = LOOP_UNROLLED;
	return true;
}

/* Needs: a serial loop 0..n that only spatial iterators use.  Breaks: nothing. */
static bool prim_vectorize(Sched *s, const Step *st)
{
	Place p;
	int64_t n;
	if (!find_loop(s, st->arg[0].word, &p) || !need_serial(s, "vectorize", p.loop))
		return false;
	if (!constant_extent(p.loop, &n) || n > VECTOR_LIMIT || n < 1)
		return refuse(s, "vectorize", p.loop->loop.var, "its extent must be a constant up to 64");
	if (!need_spatial(s, "vectorize", p.loop))
		return false;
	for (const Stmt *b = p.loop->loop.body; b != NULL && b->kind == ST_FOR; b = b->loop.body)
		if (b->loop.kind == LOOP_VECTOR || b->loop.kind == LOOP_PARALLEL)
			return refuse(s, "vectorize", p.loop->loop.var, "there is a vector or parallel loop below");
	p.loop->loop.kind = LOOP_VECTOR;
	return true;
}

/* Needs: a serial loop that only spatial iterators use.  Breaks: nothing. */
static bool prim_parallel(Sched *s, const Step *st)
{
	Place p, inner;
	if (!find_loop(s, st->arg[0].word, &p) || !need_serial(s, "parallel", p.loop) ||
		!need_spatial(s, "parallel", p.loop))
		return false;
	for (const Stmt *top = p.fn->body; top != NULL; top = top->next)
		for (const Stmt *l = top; l != NULL && l->kind == ST_FOR && l != p.loop; l = l->loop.body)
			if (l->loop.kind != LOOP_SERIAL && find_loop_in(&((Stmt *)l)->loop.body, st->arg[0].word, &inner))
				return refuse(s, "parallel", p.loop->loop.var, "a loop around it is not serial");
	p.loop->loop.kind = LOOP_PARALLEL;
	return true;
}

static bool (*const apply[PRIM_COUNT])(Sched *, const Step *) = {
#define PRIM(name, args, law) [PRIM_##name] = prim_##name,
#include "schedule/prim.def"
#undef PRIM
};

bool trace_apply(KernelSet *ks, const Trace *t, const Target *target, Err *err)
{
	Sched s = { .ks = ks, .ir = ks->ir, .target = target, .err = err };
	for (size_t i = 0; i < t->step.n; i++) {
		const Step *st = &t->step.at[i];
		snprintf(s.place, sizeof s.place, "step %d", st->line != 0 ? st->line : (int)i + 1);
		if (!apply[st->prim](&s, st))
			return false;
	}
	return true;
}
