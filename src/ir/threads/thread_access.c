/*
 * The accesses of a statement in terms of the loops around it: lets and iterators are replaced by their values on the
 * way down from the Fn. See meet.h.
 */
#include "ir/threads/meet.h"

#include "ir/build.h"
#include "ir/query.h"
#include "ir/simplify/simplify.h"
#include "ir/text/intrin.h"

#include <string.h>

/* A name that stands for a value of loop variables; NULL: for one that is not known. */
typedef struct Value {
	const char *name;
	const Expr *value;
} Value;

typedef struct Collect {
	Ir *ir;
	ThreadFacts *facts;
	const KernelSet *ks;
	Arena *arena;
	ThreadAccesses *out;
	VEC(Value) value;
	VEC(const Stmt *) loop;
	VEC(const Expr *) lo;
	VEC(const Expr *) hi;
	const Range *env;
	const Stmt *block;
	bool by_all;
} Collect;

static const Expr *put_value(Ir *ir, const Expr *e, void *arg)
{
	const Collect *c = arg;
	(void)ir;
	for (size_t k = c->value.n; e->op == IR_VAR && k-- > 0;)
		if (strcmp(c->value.at[k].name, e->name) == 0)
			return c->value.at[k].value != NULL ? c->value.at[k].value : e;
	return e;
}

/* What a value depends on that is no loop around and no symbol. */
static bool is_unknown(const Expr *e, void *arg)
{
	const Collect *c = arg;
	if (e->op == IR_LOAD)
		return true;
	for (size_t k = c->value.n; e->op == IR_VAR && k-- > 0;)
		if (strcmp(c->value.at[k].name, e->name) == 0)
			return true;
	return false;
}

static const Expr *simplified(Collect *c, const Expr *e)
{
	const void *key[] = { c->env, e };
	MapEntry *known = map_add_bytes(&c->facts->index, key, sizeof key);
	if (known->read == NULL)
		known->read = ir_simplify(c->ir, e, c->env);
	return known->read;
}

static const Range *facts_in_loop(Collect *c, const Stmt *loop, const Expr *lo, const Expr *hi)
{
	const void *key[] = { c->env, loop->loop.var, lo, hi };
	MapEntry *known = map_add_bytes(&c->facts->env, key, sizeof key);
	if (known->read == NULL)
		known->read = ir_range_for(c->ir, loop->loop.var, lo, hi, c->env);
	return known->read;
}

/* NULL: not known. */
static const Expr *resolve(Collect *c, const Expr *e)
{
	if (!dtype_is_int(e->type) || e->type.lanes != 1)
		return NULL;
	e = ir_map_expr(c->ir, e, put_value, c);
	return ir_find_node(e, is_unknown, c) != NULL ? NULL : simplified(c, e);
}

static void add(Collect *c, const Stmt *s, const char *buf, bool write, const Expr *const *idx, int n)
{
	Arena *a = c->arena;
	size_t nloop = c->loop.n;
	ThreadAccess x = { .buf = buf, .stmt = s, .block = c->block, .write = write, .anywhere = idx == NULL,
		.by_all = c->by_all, .n = n, .nloop = (int)nloop, .env = c->env };
	x.idx = arena_array(a, const Expr *, n + 1);
	for (int k = 0; k < n && idx != NULL; k++)
		x.idx[k] = resolve(c, idx[k]);
	if (nloop > 0) {
		x.loop = arena_copy(a, c->loop.at, nloop * sizeof *c->loop.at);
		x.lo = arena_copy(a, c->lo.at, nloop * sizeof *c->lo.at);
		x.hi = arena_copy(a, c->hi.at, nloop * sizeof *c->hi.at);
	}
	vec_push(c->out->arena, &c->out->at, x);
}

typedef struct InStmt {
	Collect *c;
	const Stmt *s;
} InStmt;

static void add_load(const Expr *e, void *arg)
{
	const InStmt *in = arg;
	if (e->op == IR_LOAD)
		add(in->c, in->s, e->name, false, e->arg, e->nargs);
}

/* The window of an instruction: loops over its open dimensions, as its meaning has them. */
static void add_window(Collect *c, const Stmt *s, const CallArg *a, bool write)
{
	const Range *env = c->env;
	size_t loops = c->loop.n;
	const Expr **idx = arena_array(c->arena, const Expr *, a->n + 1), *zero = ir_int(c->ir, 0);
	for (int k = 0; k < a->n; k++) {
		idx[k] = a->idx[k];
		if (a->len[k] == NULL)
			continue;
		const char *name = ir_name(c->ir, arena_printf(c->arena, "window~%d", k));
		vec_push(c->arena, &c->loop, ir_for(c->ir, name, zero, a->len[k], LOOP_SERIAL, NULL));
		vec_push(c->arena, &c->lo, zero);
		vec_push(c->arena, &c->hi, a->len[k]);
		c->env = ir_range_for(c->ir, name, zero, a->len[k], c->env);
		idx[k] = ir_add(c->ir, idx[k], ir_idx(c->ir, name));
	}
	add(c, s, a->buf, write, idx, a->n);
	c->loop.n = c->lo.n = c->hi.n = loops;
	c->env = env;
}

static void add_call(Collect *c, const Stmt *s)
{
	const Fn *fn = s->call.intrin ? ir_intrin(c->ir, s->call.fn) : ir_find_fn(c->ks, s->call.fn);
	for (int k = 0; k < s->call.n; k++) {
		const Buf *b = fn != NULL && k < fn->nparam ? fn->param[k].buf : NULL;
		const CallArg *a = &s->call.arg[k];
		bool write = b == NULL || (b->role != BUF_IN && b->role != BUF_CONST);
		if (a->buf != NULL && s->call.intrin && a->n > 0)
			add_window(c, s, a, write);
		else if (a->buf != NULL)
			add(c, s, a->buf, write, NULL, 0);
	}
}

static void add_own(Collect *c, const Stmt *s)
{
	InStmt in = { c, s };
	if (s->kind == ST_BLOCK) { /* its predicate is of its iterators */
		for (int k = 0; k < s->block.n; k++) {
			const Iter *it = &s->block.iter[k];
			const Expr *of[3] = { it->lo, it->hi, it->value };
			for (int i = 0; i < 3; i++)
				ir_each_node(of[i], add_load, &in);
		}
	} else {
		ir_each_node_of(s, add_load, &in);
	}
	if (s->kind == ST_STORE)
		add(c, s, s->store.dst.buf, true, s->store.dst.idx, s->store.dst.n);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		add(c, s, s->reduce.dst[k].buf, true, s->reduce.dst[k].idx, s->reduce.dst[k].n);
	if (s->kind == ST_CALL)
		add_call(c, s);
}

static void push_value(Collect *c, const char *name, const Expr *value)
{
	Value v = { name, resolve(c, value) };
	vec_push(c->arena, &c->value, v);
}

static void enter(Collect *c, const Stmt *s)
{
	if (s->kind == ST_FOR) {
		const Expr *lo = resolve(c, s->loop.lo), *hi = resolve(c, s->loop.hi);
		vec_push(c->arena, &c->loop, s);
		vec_push(c->arena, &c->lo, lo);
		vec_push(c->arena, &c->hi, hi);
		if (lo != NULL && hi != NULL)
			c->env = facts_in_loop(c, s, lo, hi);
	} else if (s->kind == ST_BLOCK) {
		c->block = s;
		for (int k = 0; k < s->block.n; k++)
			push_value(c, s->block.iter[k].name, s->block.iter[k].value);
	}
}

static void pass(Collect *c, const Stmt *s)
{
	if (s->kind == ST_LET)
		push_value(c, s->let.var, s->let.value);
	if (s->kind == ST_REDUCE && s->reduce.old != NULL)
		vec_push(c->arena, &c->value, ((Value){ s->reduce.old, NULL }));
}

static void walk(Collect *c, const Stmt *s)
{
	Stmt **list[IR_CHILDREN];
	size_t values = c->value.n, loops = c->loop.n;
	const Range *env = c->env;
	const Stmt *block = c->block;
	add_own(c, s);
	enter(c, s);
	if (s->kind == ST_BLOCK && s->block.where != NULL)
		ir_each_node(s->block.where, add_load, &(InStmt){ c, s });
	for (int k = 0, n = ir_children(s, list); k < n; k++) {
		size_t inside = c->value.n;
		for (const Stmt *below = *list[k]; below != NULL; below = below->next) {
			walk(c, below);
			pass(c, below);
		}
		c->value.n = inside;
	}
	c->value.n = values;
	c->loop.n = c->lo.n = c->hi.n = loops;
	c->env = env;
	c->block = block;
}

/* Goes down to the statement; false: it is not in the list. */
static bool go_to(Collect *c, const Stmt *list, const Stmt *target, bool shallow)
{
	for (const Stmt *s = list; s != NULL; s = s->next) {
		Stmt **below[IR_CHILDREN];
		if (s == target) {
			if (shallow)
				add_own(c, s);
			else
				walk(c, s);
			return true;
		}
		if (!ir_is_below(s, target)) {
			pass(c, s);
			continue;
		}
		enter(c, s);
		for (int k = 0, n = ir_children(s, below); k < n; k++)
			if (go_to(c, *below[k], target, shallow))
				return true;
		return false;
	}
	return false;
}

static bool is_fragment(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_ALLOC && strcmp(s->alloc->scope, "fragment") == 0;
}

/* All that a statement about fragments accesses, the lanes of its warp access. Accesses of a statement are in a row. */
static void find_warps(const Fn *fn, ThreadAccesses *out)
{
	if (ir_find_stmt(fn->body, is_fragment, NULL) == NULL)
		return;
	for (size_t k = 0, end; k < out->at.n; k = end) {
		bool warp = false;
		for (end = k; end < out->at.n && out->at.at[end].stmt == out->at.at[k].stmt; end++) {
			const Buf *b = ir_find_buf(fn, out->at.at[end].buf);
			warp |= b != NULL && strcmp(b->scope, "fragment") == 0;
		}
		for (size_t i = k; i < end; i++)
			out->at.at[i].warp = warp;
	}
}

void ir_thread_accesses(Ir *ir, ThreadFacts *facts, const KernelSet *ks, const Fn *fn, const Stmt *s, bool shallow,
	ThreadAccesses *out)
{
	Collect c = { .ir = ir, .facts = facts, .ks = ks, .arena = ir_arena(ir), .out = out, .env = ir_range_fn(ir, fn),
		.by_all = shallow };
	go_to(&c, fn->body, s, shallow);
	find_warps(fn, out);
}
