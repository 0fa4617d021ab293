/*
 * Parallel loops to SPMD. The Fn's body goes into one loop over the threads of the team. Every thread runs the
 * loops around a parallel loop; a parallel loop is cut into one run of iterations for each thread; thread 0 does the
 * rest. A barrier stands between two phases that may touch the same memory. Every thread evaluates the lets and
 * conditions that a phase needs, with barriers around those that load.
 *
 * Thread 0 alone runs a prepare Fn, which has no symbols. It also runs a parallel loop that uses an alloc from
 * outside the loop, since an alloc is private to a thread (make the buffer a work parameter to share it), loops with
 * atomic reductions of tuples, and loops that store elements of less than a byte.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

typedef struct Share {
	Lower *l;
	const Map *bufs;
	bool dirty;  /* memory was touched since the last barrier */
	bool failed; /* every thread would need a value that thread 0 alone has */
} Share;

static bool is_parallel(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_FOR && s->loop.kind == LOOP_PARALLEL;
}

static bool has_parallel(const Stmt *s)
{
	return is_parallel(s, NULL) || ir_find_below(s, is_parallel, NULL) != NULL;
}

typedef struct Uses {
	const Lower *l;
	const Map *bufs;
	bool alone;
	VEC(const char *) alloc; /* declared inside */
} Uses;

static void use(Uses *u, const char *buf, bool store)
{
	const Buf *b = lower_buf(u->bufs, buf);
	if (!interned_has(u->alloc.at, u->alloc.n, buf) && (lower_is_alloc(u->l, buf) || (store && b->type.bits < 8)))
		u->alone = true;
}

static void use_load(const Expr *e, void *arg)
{
	if (e->op == IR_LOAD)
		use(arg, e->name, false);
}

static bool use_stmt(Stmt *s, void *arg)
{
	Uses *u = arg;
	if (s->kind == ST_ALLOC)
		vec_push(u->l->arena, &u->alloc, s->alloc->name);
	ir_each_node_of(s, use_load, u);
	if (s->kind == ST_STORE)
		use(u, s->store.dst.buf, true);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		use(u, s->reduce.dst[k].buf, true);
	u->alone = u->alone || (s->kind == ST_REDUCE && s->reduce.n > 1);
	return true;
}

/* Parallel loops inside parallel ones, and those only thread 0 can run, become serial. */
static void choose(Share *sh, Stmt *s, bool inside)
{
	for (; s != NULL; s = s->next) {
		bool shared = inside;
		if (is_parallel(s, NULL)) {
			Uses u = { .l = sh->l, .bufs = sh->bufs };
			ir_each_stmt(s->loop.body, use_stmt, &u);
			if (inside || u.alone)
				s->loop.kind = LOOP_SERIAL;
			else
				shared = true;
		}
		if (s->kind == ST_FOR)
			choose(sh, s->loop.body, shared);
		if (s->kind == ST_IF) {
			choose(sh, s->branch.then, inside);
			choose(sh, s->branch.other, inside);
		}
	}
}

typedef struct Out {
	Stmt *first, **end, *serial, **serial_end; /* serial: what thread 0 has still to do */
} Out;

static void put(Out *o, Stmt *s)
{
	*o->end = s;
	while (*o->end != NULL)
		o->end = &(*o->end)->next;
}

static void barrier(Share *sh, Out *o)
{
	if (!sh->dirty)
		return;
	Stmt *b = ir_stmt(sh->l->ir, ST_BARRIER);
	b->barrier = ir_name(sh->l->ir, "grid");
	put(o, b);
	sh->dirty = false;
}

static const Expr *thread(Share *sh)
{
	return ir_idx(sh->l->ir, LOWER_THREAD);
}

static bool touches(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_STORE || s->kind == ST_REDUCE || s->kind == ST_CALL;
}

static void flush(Share *sh, Out *o)
{
	if (o->serial == NULL)
		return;
	if (ir_find_stmt(o->serial, touches, NULL) != NULL) {
		barrier(sh, o);
		put(o, ir_if(sh->l->ir, ir_eq(sh->l->ir, thread(sh), ir_int(sh->l->ir, 0)), o->serial, NULL));
		sh->dirty = true;
	}
	o->serial = NULL;
	o->serial_end = &o->serial;
}

static void find_alloc(const Expr *e, void *arg)
{
	Share *sh = arg;
	if (e->op == IR_LOAD && lower_is_alloc(sh->l, e->name))
		sh->failed = true;
}

/* Every thread evaluates e here. */
static void uniform(Share *sh, Out *o, const Expr *e)
{
	if (!ir_has_load(e))
		return;
	ir_each_node(e, find_alloc, sh);
	barrier(sh, o);
	sh->dirty = true;
}

/* Iterations [lo + n*t/T, lo + n*(t+1)/T) for thread t of T. */
static void cut(Share *sh, Stmt *s)
{
	Ir *ir = sh->l->ir;
	const Expr *threads = ir_idx(ir, LOWER_THREADS), *t = thread(sh), *lo = s->loop.lo;
	const Expr *n = ir_max(ir, ir_sub(ir, s->loop.hi, lo), ir_int(ir, 0));
	const Expr *t1 = ir_add(ir, t, ir_int(ir, 1));
	s->loop.lo = ir_add(ir, lo, ir_div(ir, ir_mul(ir, n, t), threads));
	s->loop.hi = ir_add(ir, lo, ir_div(ir, ir_mul(ir, n, t1), threads));
	s->loop.kind = LOOP_SERIAL;
}

static Stmt *share_list(Share *sh, Stmt *s);

/* Bounds that load are evaluated once, before the loop. */
static void fix_bounds(Share *sh, Out *o, Stmt *s)
{
	const Expr **end[2] = { &s->loop.lo, &s->loop.hi };
	for (int k = 0; k < 2; k++) {
		if (!ir_has_load(*end[k]))
			continue;
		uniform(sh, o, *end[k]);
		const char *name = ir_fresh_name(sh->l->ir, "bound");
		put(o, ir_let(sh->l->ir, name, *end[k]));
		*end[k] = ir_idx(sh->l->ir, name);
	}
}

static void share_one(Share *sh, Out *o, Stmt *s)
{
	if (s->kind == ST_FOR)
		fix_bounds(sh, o, s);
	if (is_parallel(s, NULL)) {
		barrier(sh, o);
		cut(sh, s);
		put(o, s);
		sh->dirty = true;
	} else if (s->kind == ST_FOR) {
		sh->dirty = true; /* by the iteration before */
		s->loop.body = share_list(sh, s->loop.body);
		put(o, s);
		sh->dirty = true;
	} else {
		uniform(sh, o, s->branch.cond);
		bool dirty = sh->dirty;
		s->branch.then = share_list(sh, s->branch.then);
		sh->dirty = dirty;
		s->branch.other = share_list(sh, s->branch.other);
		put(o, s);
		sh->dirty = true;
	}
}

static Stmt *share_list(Share *sh, Stmt *s)
{
	Out o = { .end = &o.first, .serial_end = &o.serial };
	const Stmt *last = NULL; /* that holds a parallel loop */
	for (const Stmt *t = s; t != NULL; t = t->next)
		if (has_parallel(t))
			last = t;
	bool later = last != NULL; /* another one comes behind s */
	for (Stmt *next; s != NULL; s = next) {
		later = later && s != last;
		next = s->next;
		s->next = NULL;
		if (has_parallel(s)) {
			flush(sh, &o);
			share_one(sh, &o, s);
		} else if (later && s->kind == ST_LET) {
			flush(sh, &o);
			uniform(sh, &o, s->let.value);
			put(&o, s);
		} else if (later && s->kind == ST_ALLOC) {
			flush(sh, &o);
			put(&o, s);
		} else {
			sh->failed = sh->failed || (later && s->kind == ST_REDUCE && s->reduce.old != NULL);
			*o.serial_end = s;
			o.serial_end = &s->next;
		}
	}
	flush(sh, &o);
	return o.first;
}

static bool to_serial(Stmt *s, void *arg)
{
	(void)arg;
	if (is_parallel(s, NULL))
		s->loop.kind = LOOP_SERIAL;
	return true;
}

bool pass_threads(Lower *l)
{
	if (l->fn->kind == FN_SUB) /* its callers share its work */
		return true;
	if (l->fn->kind == FN_PREPARE) { /* at compile time: thread 0 does it all (llvm/emit_fn.c) */
		ir_each_stmt(l->fn->body, to_serial, NULL);
		return true;
	}
	Share sh = { .l = l, .bufs = lower_bufs(l) };
	choose(&sh, l->fn->body, false);
	Stmt *whole = ir_clone_stmt(l->ir, l->fn->body);
	Stmt *body = share_list(&sh, l->fn->body);
	if (sh.failed) {
		sh.failed = sh.dirty = false;
		ir_each_stmt(whole, to_serial, NULL);
		body = share_list(&sh, whole);
	}
	/* The symbol: threads of the team. */
	Sym *sym = arena_array(l->arena, Sym, l->fn->nsym + 1);
	if (l->fn->nsym > 0)
		memcpy(sym, l->fn->sym, sizeof *sym * (size_t)l->fn->nsym);
	sym[l->fn->nsym++] = (Sym){ ir_name(l->ir, LOWER_THREADS), 1, TEAM_MAX, 1 };
	l->fn->sym = sym;
	Stmt *all = ir_for(l->ir, LOWER_THREAD, ir_int(l->ir, 0), ir_idx(l->ir, LOWER_THREADS), LOOP_BOUND, body);
	all->loop.axis = ir_name(l->ir, "grid.x");
	l->fn->body = body != NULL ? all : NULL;
	return true;
}
