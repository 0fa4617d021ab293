/*
 * A reduction's init before its loops. Where some of the loops around a block serve its reduce iterators only,
 * the init goes before the outermost of those, inside copies of the other loops. Otherwise it would be a condition
 * in the innermost loop.
 *
 * Law: the first instance of each element is the one where the reduce loops have their first values, in each step of
 * a scan, whose loops are around; the reduce loops run at least once; nothing else below the outermost reduce loop
 * touches what the init writes, or writes what the init reads; no other thread does so before a barrier there. Where
 * the pass cannot show that, the init stays.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

enum { DEPTH = 32 };

/* The loops around a block that have nothing but loops between them, outermost first. */
typedef struct Path {
	int n;
	Stmt *loop[DEPTH];
	Stmt **at[DEPTH];            /* the link that points to the loop */
	const Range *env[DEPTH + 1]; /* outside of loop[k]; [n]: inside of all */
	bool drop[DEPTH];            /* of the reduce iterators only */
} Path;

typedef struct Names {
	Arena *arena;
	VEC(const char *) read, written, bound;
	const Stmt *skip; /* a block that is not looked at */
	bool strange;     /* calls, async copies, waits: not looked into */
	bool barrier;
} Names;

static void add_read(const Expr *e, void *arg)
{
	Names *s = arg;
	if (e->op == IR_LOAD || e->op == IR_VAR)
		vec_push(s->arena, &s->read, e->name);
}

static void add_reads(const Expr *e, void *arg)
{
	ir_each_node(e, add_read, arg);
}

static bool add_names(Stmt *s, void *arg)
{
	Names *n = arg;
	if (s == n->skip)
		return false;
	ir_each_expr(s, add_reads, n);
	switch (s->kind) {
	case ST_STORE: vec_push(n->arena, &n->written, s->store.dst.buf); break;
	case ST_REDUCE:
		for (int k = 0; k < s->reduce.n; k++)
			vec_push(n->arena, &n->written, s->reduce.dst[k].buf);
		break;
	case ST_LET: vec_push(n->arena, &n->bound, s->let.var); break;
	case ST_ALLOC: vec_push(n->arena, &n->bound, s->alloc->name); break;
	case ST_FOR:
	case ST_IF:
	case ST_PREFETCH:
	case ST_BLOCK: break;
	case ST_BARRIER: n->barrier = true; break;
	default: n->strange = true;
	}
	return true;
}

/* Only this list: the siblings of `s` belong to it. */
static Names names_of(Lower *l, Stmt *s, bool siblings, const Stmt *skip)
{
	Names n = { .arena = l->arena, .skip = skip };
	Stmt *next = s != NULL ? s->next : NULL;
	if (s != NULL && !siblings)
		s->next = NULL;
	ir_each_stmt(s, add_names, &n);
	if (s != NULL)
		s->next = next;
	return n;
}

static bool uses(const Expr *const *e, int n, const char *var)
{
	for (int k = 0; k < n; k++)
		if (ir_uses_var(e[k], var))
			return true;
	return false;
}

/* Which loops serve the reduce iterators; the first of them, -1 where there is no clear answer. */
static int sort_loops(Lower *l, Path *p, const Stmt *b)
{
	const Expr **spatial = arena_array(l->arena, const Expr *, b->block.n);
	const Expr **reduce = arena_array(l->arena, const Expr *, b->block.n);
	const Expr **scan = arena_array(l->arena, const Expr *, b->block.n);
	int ns = 0, nr = 0, nscan = 0, first = -1;
	for (int k = 0; k < b->block.n; k++) {
		const Iter *it = &b->block.iter[k];
		if (it->kind == ITER_REDUCE)
			reduce[nr++] = it->value;
		else if (it->kind == ITER_SCAN)
			scan[nscan++] = it->value;
		else
			spatial[ns++] = it->value;
	}
	for (int k = 0; k < p->n; k++) {
		const Stmt *f = p->loop[k];
		bool s = uses(spatial, ns, f->loop.var), r = uses(reduce, nr, f->loop.var);
		p->drop[k] = r;
		if (first < 0 && r)
			first = k;
		if (first < 0)
			continue;
		if (s == r || uses(scan, nscan, f->loop.var) || ir_has_load(f->loop.lo) || ir_has_load(f->loop.hi))
			return -1;
		if (r && !ir_always(ir_lt(l->ir, f->loop.lo, f->loop.hi), p->env[k]))
			return -1;
		for (int j = first; j < k; j++)
			if (!r && p->drop[j] &&
				(ir_uses_var(f->loop.lo, p->loop[j]->loop.var) || ir_uses_var(f->loop.hi, p->loop[j]->loop.var)))
				return -1;
	}
	return first;
}

/* Each reduce iterator has its lower end where the loops to drop begin. */
static bool starts_there(Lower *l, const Path *p, int first, const Stmt *b)
{
	for (int k = 0; k < b->block.n; k++) {
		const Iter *it = &b->block.iter[k];
		if (it->kind != ITER_REDUCE)
			continue;
		const Expr *begin = it->value;
		for (int j = p->n - 1; j >= first; j--)
			if (p->drop[j])
				begin = ir_subst(l->ir, begin, p->loop[j]->loop.var, p->loop[j]->loop.lo);
		const Expr *same = ir_eq(l->ir, begin, it->lo);
		if (!ir_always(ir_simplify(l->ir, same, p->env[p->n]), p->env[p->n]))
			return false;
	}
	return true;
}

static bool is_free(Lower *l, const Path *p, int first, Stmt *b)
{
	Names other = names_of(l, p->loop[first], false, b), init = names_of(l, b->block.init, true, NULL);
	Names body = names_of(l, b->block.body, true, NULL);
	if (other.strange || init.strange || body.strange)
		return false;
	for (int k = 0; k < b->block.n; k++)
		add_reads(b->block.iter[k].value, &init);
	if (b->block.where != NULL)
		add_reads(b->block.where, &init);
	for (int k = first; k < p->n; k++) {
		add_reads(p->loop[k]->loop.lo, &init);
		add_reads(p->loop[k]->loop.hi, &init);
	}
	for (size_t k = 0; k < init.written.n; k++) {
		const char *w = init.written.at[k];
		if (other.barrier && !lower_is_private(l, ir_find_buf(l->fn, w))) /* another thread may use it before */
			return false;
		if (interned_has(init.read.at, init.read.n, w) || interned_has(other.read.at, other.read.n, w) ||
			interned_has(other.written.at, other.written.n, w) || interned_has(other.bound.at, other.bound.n, w))
			return false;
	}
	for (size_t k = 0; k < init.read.n; k++) {
		const char *r = init.read.at[k];
		if (interned_has(other.written.at, other.written.n, r) || interned_has(other.bound.at, other.bound.n, r) ||
			interned_has(body.written.at, body.written.n, r))
			return false;
	}
	return true;
}

static Stmt *init_nest(Lower *l, const Path *p, int first, const Stmt *b)
{
	Stmt *init = ir_clone_stmt(l->ir, b->block.init);
	ir_map_stmt(l->ir, init, lower_put_iterators, (void *)b);
	if (b->block.where != NULL)
		init = ir_if(l->ir, ir_map_expr(l->ir, b->block.where, lower_put_iterators, (void *)b), init, NULL);
	for (int k = p->n - 1; k >= first; k--) {
		const Stmt *f = p->loop[k];
		if (p->drop[k]) {
			ir_subst_stmt(l->ir, init, f->loop.var, f->loop.lo);
			continue;
		}
		Stmt *copy = lower_copy_node(l, f);
		copy->loop.body = init;
		init = copy;
	}
	lower_rename(l, init);
	return init;
}

static void hoist(Lower *l, Path *p, Stmt *b)
{
	int first = sort_loops(l, p, b);
	if (first < 0 || !starts_there(l, p, first, b) || !is_free(l, p, first, b))
		return;
	Stmt *nest = init_nest(l, p, first, b), *loop = p->loop[first];
	b->block.init = NULL;
	*p->at[first] = nest;
	while (nest->next != NULL)
		nest = nest->next;
	nest->next = loop;
	p->at[first] = &nest->next;
}

static void walk(Lower *l, Stmt **list, Path *p)
{
	const Range *env = p->env[p->n];
	for (Stmt *s; (s = *list) != NULL; list = &s->next) {
		Path none = { .n = 0, .env = { env } };
		p->env[p->n] = env;
		switch (s->kind) {
		case ST_FOR:
			if (p->n == DEPTH || s->loop.kind == LOOP_BOUND) {
				none.env[0] = lower_range(l, s, false, env);
				walk(l, &s->loop.body, &none);
				break;
			}
			p->loop[p->n] = s;
			p->at[p->n] = list;
			p->env[p->n + 1] = lower_range(l, s, false, env);
			p->n++;
			walk(l, &s->loop.body, p);
			p->n--;
			break;
		case ST_IF:
			none.env[0] = lower_range(l, s, false, env);
			walk(l, &s->branch.then, &none);
			none.env[0] = lower_range(l, s, true, env);
			walk(l, &s->branch.other, &none);
			break;
		case ST_BLOCK:
			walk(l, &s->block.body, &none);
			if (s->block.init != NULL)
				hoist(l, p, s);
			break;
		case ST_LET: env = lower_range(l, s, false, env); break;
		default: break;
		}
		/* What was put before the loop made the link that leads to it another one. */
		while (*list != s)
			list = &(*list)->next;
	}
}

bool pass_hoist_init(Lower *l)
{
	Path p = { .n = 0, .env = { ir_range_fn(l->ir, l->fn) } };
	walk(l, &l->fn->body, &p);
	return true;
}
