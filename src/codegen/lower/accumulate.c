/*
 * Accumulators to registers. Where a serial loop reads and writes the same elements of a buffer in every
 * iteration, the elements live in allocs of their own while the loop runs: read before the loop, written after
 * it. The pass works from the inside out, so at the end they are read and written outside all loops that do not
 * move them. So do elements that stores in a row write several times: sums whose loops are written out.
 *
 * Law: the loop, and each loop below that touches the elements, runs at least once; no access is conditional or
 * atomic; any two of the places are the same or do not overlap; no other thread uses them behind a barrier in the
 * loop. An element that the first iteration writes before it reads it is not read before the loop. An element of
 * shared memory may be accessed under conditions where a store stands right before the loop: the element is the
 * thread's own until the next barrier then.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

/* A place in a buffer: constant while the loop runs. */
typedef struct Cell {
	const char *buf;
	const Expr *idx;
	DType type;
	bool load_first, stored, maybe; /* maybe: each access so far is conditional */
	int stores;
	const char *reg;
} Cell;

typedef struct Loop {
	Lower *l;
	const Map *bufs;
	int n;
	Cell cell[LOWER_CELLS];
	VEC(const char *) lost;  /* buffers that must stay in memory */
	VEC(const char *) inner; /* variables of the loop and below */
	bool conditional, barrier;
	int least; /* stores to a cell that is worth a register */
} Loop;

static void lose(Loop *p, const char *buf)
{
	if (!interned_has(p->lost.at, p->lost.n, buf))
		vec_push(p->l->arena, &p->lost, buf);
}

/* In an index: it may give another place each time. */
static bool moves(const Expr *e, void *arg)
{
	const Loop *p = arg;
	return e->op == IR_LOAD || (e->op == IR_VAR && interned_has(p->inner.at, p->inner.n, e->name));
}

static void touch(Loop *p, const char *buf, const Expr *idx, bool store)
{
	if (interned_has(p->lost.at, p->lost.n, buf))
		return;
	const Buf *b = lower_buf(p->bufs, buf);
	bool maybe = p->conditional && strcmp(b->scope, "shared") == 0;
	if ((p->conditional && !maybe) || ir_find_node(idx, moves, p) != NULL) {
		lose(p, buf);
		return;
	}
	for (int k = 0; k < p->n; k++)
		if (p->cell[k].buf == buf && p->cell[k].idx == idx) {
			p->cell[k].stored = p->cell[k].stored || store;
			p->cell[k].stores += store;
			p->cell[k].maybe = p->cell[k].maybe && maybe;
			return;
		}
	if (p->n == LOWER_CELLS) {
		lose(p, buf);
		return;
	}
	DType t = dtype_vector(b->type, idx->type.lanes);
	p->cell[p->n++] = (Cell){ .buf = buf, .idx = idx, .type = t, .load_first = !store || maybe, .stored = store,
		.maybe = maybe, .stores = store };
}

static void touch_load(const Expr *e, void *arg)
{
	if (e->op == IR_LOAD)
		touch(arg, e->name, e->arg[0], false);
}

/* A load in an arm of a select is conditional; those in its condition count as conditional as well. */
static void touch_expr(const Expr *e, void *arg)
{
	Loop *p = arg;
	if (e->op == IR_SELECT && ir_has_load(e)) {
		bool outer = p->conditional;
		p->conditional = true;
		ir_each_node(e, touch_load, p);
		p->conditional = outer;
		return;
	}
	for (int k = 0; k < e->nargs; k++)
		touch_expr(e->arg[k], p);
	touch_load(e, p);
}

static bool lose_stored(Stmt *s, void *arg)
{
	if (s->kind == ST_STORE)
		lose(arg, s->store.dst.buf);
	return true;
}

static void scan(Loop *p, const Stmt *s, const Range *env)
{
	for (; s != NULL; s = s->next) {
		bool outer = p->conditional;
		if (s->kind == ST_STORE && s->store.mask != NULL)
			p->conditional = true;
		ir_each_expr(s, touch_expr, p);
		switch (s->kind) {
		case ST_STORE: touch(p, s->store.dst.buf, s->store.dst.idx[0], true); break;
		case ST_REDUCE:
			for (int k = 0; k < s->reduce.n; k++)
				lose(p, s->reduce.dst[k].buf);
			break;
		case ST_LET:
			vec_push(p->l->arena, &p->inner, s->let.var);
			env = lower_range(p->l, s, false, env);
			break;
		case ST_ALLOC: lose(p, s->alloc->name); break;
		case ST_WAIT:
		case ST_BARRIER: p->barrier = true; break;
		case ST_ASYNC:
			ir_each_stmt(s->async, lose_stored, p);
			p->conditional = true;
			scan(p, s->async, env);
			break;
		case ST_CALL:
			for (int k = 0; k < s->call.n; k++)
				if (s->call.arg[k].buf != NULL)
					lose(p, s->call.arg[k].buf);
			break;
		case ST_IF:
			p->conditional = true;
			scan(p, s->branch.then, env);
			scan(p, s->branch.other, env);
			break;
		case ST_FOR:
			vec_push(p->l->arena, &p->inner, s->loop.var);
			if (s->loop.kind != LOOP_SERIAL || !ir_always(ir_lt(p->l->ir, s->loop.lo, s->loop.hi), env))
				p->conditional = true;
			scan(p, s->loop.body, lower_range(p->l, s, false, env));
			break;
		default: break;
		}
		p->conditional = outer;
	}
}

/* The lowest of consecutive elements; NULL if they are not. */
static const Expr *base_of(const Expr *idx)
{
	if (idx->type.lanes == 1)
		return idx;
	return idx->op == IR_RAMP && ir_is_const(idx->arg[1], 1) ? idx->arg[0] : NULL;
}

/* e is the result + *k. The simplifier writes the constant of a sum last. */
static const Expr *without_constant(const Expr *e, int64_t *k)
{
	*k = 0;
	if ((e->op != IR_ADD && e->op != IR_SUB) || !ir_is_int(e->arg[1], k))
		return e;
	*k = e->op == IR_SUB ? -*k : *k;
	return e->arg[0];
}

/*
 * Tiles that overlap begin at min(i * f, n - f). The simplifier adds constants inside of it, so elements of one tile
 * have different minima. min(e, c) is min(e - c, 0) + c, and a name for the minimum that is left tells equal ones.
 */
static const Expr *name_minima(Ir *ir, const Expr *e, void *arg)
{
	int64_t c;
	(void)arg;
	if (e->op != IR_MIN || e->type.lanes != 1 || !ir_is_int(e->arg[1], &c))
		return e;
	const Expr *less = ir_simplify(ir, ir_sub(ir, e->arg[0], e->arg[1]), NULL);
	return ir_add(ir, ir_var(ir, arena_printf(ir_arena(ir), "min.%u", (unsigned)less->id), e->type), e->arg[1]);
}

/* From place x to place y in elements, where it is constant. */
static bool distance(Loop *p, const Expr *x, const Expr *y, int64_t *d)
{
	Ir *ir = p->l->ir;
	int64_t kx, ky;
	if (without_constant(x, &kx) == without_constant(y, &ky)) {
		*d = ky - kx;
		return true;
	}
	if (ir_is_int(ir_simplify(ir, ir_sub(ir, y, x), NULL), d))
		return true;
	const Expr *u = ir_map_expr(ir, x, name_minima, NULL), *v = ir_map_expr(ir, y, name_minima, NULL);
	return (u != x || v != y) && ir_is_int(ir_simplify(ir, ir_sub(ir, v, u), NULL), d);
}

static bool apart(Loop *p, const Cell *a, const Cell *b)
{
	const Expr *x = base_of(a->idx), *y = base_of(b->idx);
	int64_t d;
	if (x == NULL || y == NULL || !distance(p, x, y, &d))
		return false;
	return d >= a->type.lanes || -d >= b->type.lanes;
}

static void check_use(const Expr *e, void *arg)
{
	const char **buf = arg;
	if (e->op == IR_LOAD && e->name == *buf)
		*buf = NULL;
}

static bool reads(const Stmt *s, const char *buf)
{
	const char *found = buf;
	ir_each_node_of(s, check_use, &found);
	return found == NULL;
}

/*
 * Where a cell gets its value among the stores from *run to the loop s; NULL if it does not. What follows the store
 * may only store to other places, and nothing it reads.
 */
static Stmt **find_init(Loop *p, Stmt **run, const Stmt *s, const Cell *c)
{
	Stmt **last = NULL;
	for (Stmt **at = run; *at != s; at = &(*at)->next) {
		const Stmt *t = *at;
		if (t->kind != ST_STORE)
			continue;
		bool same = t->store.dst.buf == c->buf;
		const Expr *i = t->store.dst.idx[0];
		Cell other = { .idx = i, .type = dtype_vector(c->type, i->type.lanes) };
		if (same && i == c->idx && t->store.mask == NULL)
			last = at;
		else if (reads(t, c->buf) || (same && !apart(p, c, &other)))
			last = NULL;
	}
	if (last == NULL || reads(*last, c->buf))
		return NULL;
	for (const Stmt *t = (*last)->next; t != s; t = t->next)
		if (t->kind == ST_STORE && reads(*last, t->store.dst.buf))
			return NULL;
	return last;
}

/* Keeps the cells that are worth an alloc: their buffer is written, they do not overlap, they are few. */
static bool choose(Loop *p, Stmt **run, const Stmt *s)
{
	int used = 0, n = 0, wide = p->l->target->vector_bits;
	for (int k = 0; k < p->n; k++)
		for (int j = 0; j < k; j++)
			if (p->cell[k].buf == p->cell[j].buf && !apart(p, &p->cell[k], &p->cell[j]))
				lose(p, p->cell[k].buf);
	for (int k = 0; k < p->n; k++) {
		Cell *c = &p->cell[k];
		if (!c->stored || c->type.bits < 8 || base_of(c->idx) == NULL || interned_has(p->lost.at, p->lost.n, c->buf))
			continue;
		if (c->maybe && find_init(p, run, s, c) == NULL)
			continue;
		if (p->barrier && !lower_is_private(p->l, lower_buf(p->bufs, c->buf)))
			continue;
		if (c->stores < p->least)
			continue;
		used += wide > 0 ? (c->type.lanes * c->type.bits + wide - 1) / wide : 1;
		p->cell[n++] = *c;
	}
	p->n = n;
	int regs = p->l->target->vector_regs, most = regs > LOWER_SMALL_FILE ? regs - LOWER_SPARE : LOWER_FALLBACK;
	return n > 0 && used <= most;
}

static const Cell *find(const Loop *p, const char *buf, const Expr *idx)
{
	for (int k = 0; k < p->n; k++)
		if (p->cell[k].buf == buf && p->cell[k].idx == idx)
			return &p->cell[k];
	return NULL;
}

static const Expr *in_register(Ir *ir, const Expr *e, void *arg)
{
	const Cell *c = e->op == IR_LOAD ? find(arg, e->name, e->arg[0]) : NULL;
	if (c == NULL)
		return e;
	const Expr *i = lower_all_lanes(ir, c->type.lanes);
	return ir_load_named(ir, c->reg, c->type, &i, 1);
}

static bool store_register(Stmt *s, void *arg)
{
	Loop *p = arg;
	const Cell *c = s->kind == ST_STORE ? find(p, s->store.dst.buf, s->store.dst.idx[0]) : NULL;
	if (c != NULL) {
		s->store.dst.buf = c->reg;
		s->store.dst.idx[0] = lower_all_lanes(p->l->ir, c->type.lanes);
	}
	return true;
}

static Stmt *store(Lower *l, const char *to, const Expr *at, const Expr *value)
{
	Stmt *s = ir_stmt(l->ir, ST_STORE);
	s->store.dst = (Access){ to, 1, arena_array(l->arena, const Expr *, 1) };
	s->store.dst.idx[0] = at;
	s->store.value = value;
	return s;
}

/* s: a loop with that body, or the statements themselves. */
static Stmt *promote(Loop *p, Stmt **run, Stmt *s, Stmt *body)
{
	Lower *l = p->l;
	Stmt *before = NULL, *after = NULL;
	for (int k = 0; k < p->n; k++) {
		Cell *c = &p->cell[k];
		const Expr *i = lower_all_lanes(l->ir, c->type.lanes);
		int64_t shape = c->type.lanes;
		c->reg = ir_fresh_name(l->ir, c->buf);
		Buf *own = ir_buf(l->ir, c->reg, BUF_WORK, dtype_scalar(c->type), "local", &shape, 1);
		map_add_ptr(l->bufs, own->name)->ptr = own;
		before = ir_seq(before, ir_alloc(l->ir, own));
		Stmt **init = c->load_first ? find_init(p, run, s, c) : NULL;
		const Expr *first = init != NULL ? (*init)->store.value : NULL;
		if (init != NULL)
			*init = (*init)->next;
		else if (c->load_first)
			first = ir_load_named(l->ir, c->buf, c->type, &c->idx, 1);
		if (first != NULL)
			before = ir_seq(before, store(l, c->reg, i, first));
		after = ir_seq(after, store(l, c->buf, c->idx, ir_load_named(l->ir, c->reg, c->type, &i, 1)));
	}
	ir_map_stmt(l->ir, body, in_register, p);
	ir_each_stmt(body, store_register, p);
	return ir_seq(before, ir_seq(s, after));
}

/* run: where the stores begin that end at the loop. */
static Stmt *try_loop(Lower *l, Stmt **run, Stmt *s, const Range *env)
{
	Loop p = { .l = l, .bufs = l->bufs };
	if (!ir_always(ir_lt(l->ir, s->loop.lo, s->loop.hi), env))
		return s;
	vec_push(l->arena, &p.inner, s->loop.var);
	scan(&p, s->loop.body, lower_range(l, s, false, env));
	if (!choose(&p, run, s))
		return s;
	return promote(&p, run, s, s->loop.body);
}

/* Stores in a row that begin at *list; gives the place behind what takes theirs. */
static Stmt **try_stores(Lower *l, Stmt **list, const Range *env)
{
	Stmt *s = *list, *last = s;
	while (last->next != NULL && last->next->kind == ST_STORE)
		last = last->next;
	Stmt *next = last->next;
	if (last != s) {
		Loop p = { .l = l, .bufs = l->bufs, .least = 2 };
		last->next = NULL;
		scan(&p, s, env);
		*list = choose(&p, list, s) ? promote(&p, list, s, s) : s;
	}
	while (*list != NULL && *list != next)
		list = &(*list)->next;
	*list = next;
	return list;
}

static void walk(Lower *l, Stmt **list, const Range *env)
{
	Stmt **run = list;
	for (Stmt *s; (s = *list) != NULL;) {
		Stmt *next = s->next;
		bool quiet = s->kind == ST_STORE || s->kind == ST_ALLOC || s->kind == ST_PREFETCH;
		if (s->kind == ST_FOR) {
			walk(l, &s->loop.body, lower_range(l, s, false, env));
			if (s->loop.kind == LOOP_SERIAL) {
				s->next = NULL;
				Stmt *now = try_loop(l, run, s, env);
				for (list = run; *list != s;)
					list = &(*list)->next;
				*list = now;
			}
		} else if (s->kind == ST_IF) {
			walk(l, &s->branch.then, lower_range(l, s, false, env));
			walk(l, &s->branch.other, lower_range(l, s, true, env));
		} else if (s->kind == ST_LET) {
			env = lower_range(l, s, false, env);
		}
		while (*list != NULL && *list != next)
			list = &(*list)->next;
		*list = next;
		if (!quiet)
			run = list;
	}
}

/* After the loops have their registers: elements that several stores in a row write. */
static void walk_stores(Lower *l, Stmt **list, const Range *env)
{
	while (*list != NULL) {
		Stmt *s = *list;
		if (s->kind == ST_STORE) {
			list = try_stores(l, list, env);
			continue;
		}
		if (s->kind == ST_FOR) {
			walk_stores(l, &s->loop.body, lower_range(l, s, false, env));
		} else if (s->kind == ST_IF) {
			walk_stores(l, &s->branch.then, lower_range(l, s, false, env));
			walk_stores(l, &s->branch.other, lower_range(l, s, true, env));
		} else if (s->kind == ST_LET) {
			env = lower_range(l, s, false, env);
		}
		list = &s->next;
	}
}

bool pass_accumulate(Lower *l)
{
	l->bufs = lower_bufs(l);
	walk(l, &l->fn->body, ir_range_fn(l->ir, l->fn));
	walk_stores(l, &l->fn->body, ir_range_fn(l->ir, l->fn));
	return true;
}
