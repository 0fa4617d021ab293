/*
 * A kernel as one nest of bound loops: those of the grid, the allocs that a block shares, those of the block, and
 * inside what one thread does. A bound loop anywhere in the kernel becomes its body with the nest's variable; where
 * loops bound to one axis differ in extent, the shorter ones become a condition.
 *
 * The end of a bound loop joins its threads. What stands behind it then sees what all of them wrote. In the nest a
 * barrier does so, unless no statement behind the join touches what another thread touched before it. What stands
 * outside of some of the kernel's block loops is done by their first threads. Lets, loops and conditions around
 * bound loops and barriers are evaluated by every thread. Barriers are never below a condition of the nest's own.
 *
 * Refused is what one launch cannot do: statements beside a loop of the grid, grid loops in a serial loop or with
 * data that goes from one to the next, and data that blocks share but for global memory.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

enum { AXES = DLC_SHARED, LAUNCH_MOST = INT32_MAX };
static const char *const axis_names[AXES] = { "grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z" };

typedef struct Axis {
	bool used;
	const Expr *extent; /* of all its loops; NULL: they differ, or it is no expression of symbols */
	int64_t most;
	const char *var; /* of the nest; NULL: there is one instance */
	const Expr *n;   /* the nest's extent */
} Axis;

/* An access since the last barrier. */
typedef struct Touch {
	const char *buf;
	bool write;
	int grid, block; /* the nests of bound loops it stands in; a number each */
} Touch;

enum { MANY = -1, EVERY = -2 }; /* Touch.block: several nests; every thread of the block does it */

typedef struct Spmd {
	Lower *l;
	LowerKernel *k;
	Axis axis[AXES];
	const Map *bufs;
	const Range *env;
	VEC(Touch) touch;
	Stmt *shared;         /* the allocs of a block */
	const Expr *guard;    /* of the loops around; NULL: every thread is in */
	unsigned active;      /* bit of each axis bound around */
	int grid, block, ids; /* the nests around, and how many numbers are given */
	bool divergent;       /* threads of a block may disagree about coming here */
	bool ok;
} Spmd;

static bool refuse(Spmd *p, const Stmt *s, const char *what)
{
	if (p->ok)
		lower_refuse(p->l, s, "%s", what);
	return p->ok = false;
}

static int axis_of(const Stmt *s)
{
	int k = 0;
	while (k < AXES && strcmp(axis_names[k], s->loop.axis) != 0)
		k++;
	return k;
}

static bool is_bound(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_FOR && s->loop.kind == LOOP_BOUND;
}

static bool is_grid(const Stmt *s, void *arg)
{
	return is_bound(s, arg) && axis_of(s) < DLC_BLOCK;
}

static bool is_block(const Stmt *s, void *arg)
{
	return is_bound(s, arg) && axis_of(s) >= DLC_BLOCK;
}

/* Made of statements that differ in who does them. */
static bool is_compound(const Stmt *s, void *arg)
{
	return is_bound(s, arg) || s->kind == ST_BARRIER;
}

static bool has(const Stmt *s, bool (*is)(const Stmt *s, void *arg))
{
	return is(s, NULL) || ir_find_below(s, is, NULL) != NULL;
}

/* ---- the axes and the launch ---- */

static bool is_foreign(const Expr *e, void *arg)
{
	const Fn *fn = arg;
	bool sym = false;
	for (int k = 0; k < fn->nsym; k++)
		sym = sym || (e->op == IR_VAR && fn->sym[k].name == e->name);
	return e->op == IR_LOAD || (e->op == IR_VAR && !sym);
}

static void collect(Spmd *p, Stmt *s, const Range *env)
{
	Lower *l = p->l;
	for (; s != NULL && p->ok; s = s->next) {
		if (is_bound(s, NULL)) {
			int k = axis_of(s);
			if (k == AXES) {
				lower_refuse(l, s, "loop %s is bound to %s, which this device has not", s->loop.var, s->loop.axis);
				p->ok = false;
				return;
			}
			Axis *a = &p->axis[k];
			const Expr *n = ir_simplify(l->ir, ir_sub(l->ir, s->loop.hi, s->loop.lo), p->env);
			int64_t most = ir_interval(ir_simplify(l->ir, n, env), env).hi;
			if (ir_has_load(n) || most > LAUNCH_MOST) {
				lower_refuse(l, s, "loop %s is bound to %s and has no known bound below 2^31", s->loop.var, s->loop.axis);
				p->ok = false;
				return;
			}
			bool fits = ir_find_node(n, is_foreign, l->fn) == NULL && (!a->used || a->extent == n);
			a->extent = fits ? n : NULL;
			a->most = most > a->most ? most : a->most;
			a->used = true;
		}
		const Range *inner = s->kind == ST_BLOCK ? ir_range_block(l->ir, s, env) : lower_range(l, s, false, env);
		Stmt **child[IR_CHILDREN];
		for (int k = 0, n = ir_children(s, child); k < n; k++)
			collect(p, *child[k], s->kind == ST_IF && k == 1 ? lower_range(l, s, true, env) : inner);
		if (s->kind == ST_BLOCK && ir_find_below(s, is_compound, NULL) != NULL)
			refuse(p, s, "a block holds bound loops or barriers: bind loops around it");
		if (s->kind == ST_LET)
			env = inner;
	}
}

static int symbol(const Lower *l, const Expr *e)
{
	for (int k = 0; e->op == IR_VAR && k < l->fn->nsym; k++)
		if (l->fn->sym[k].name == e->name)
			return k;
	return -1;
}

/* *sum += times * e, as one product of at most two symbols and a constant. */
static bool add_dim(const Lower *l, const Expr *e, int64_t times, DlcDim *sum)
{
	int64_t c;
	switch (e->op) {
	case IR_INT: sum->add += times * e->i; return true;
	case IR_ADD: return add_dim(l, e->arg[0], times, sum) && add_dim(l, e->arg[1], times, sum);
	case IR_SUB: return add_dim(l, e->arg[0], times, sum) && add_dim(l, e->arg[1], -times, sum);
	case IR_MUL:
		if (ir_is_int(e->arg[1], &c))
			return add_dim(l, e->arg[0], times * c, sum);
		if (ir_is_int(e->arg[0], &c))
			return add_dim(l, e->arg[1], times * c, sum);
		if (sum->mul != 0 || symbol(l, e->arg[0]) < 0 || symbol(l, e->arg[1]) < 0)
			return false;
		sum->sym[0] = symbol(l, e->arg[0]);
		sum->sym[1] = symbol(l, e->arg[1]);
		sum->mul = times;
		return true;
	case IR_VAR:
		if (sum->mul != 0 || symbol(l, e) < 0)
			return false;
		sum->sym[0] = symbol(l, e);
		sum->mul = times;
		return true;
	default: return false;
	}
}

static bool as_dim(const Lower *l, const Expr *e, DlcDim *out)
{
	*out = (DlcDim){ { -1, -1 }, 0, 0, 1 };
	if (e->op == IR_DIV && ir_is_int(e->arg[1], &out->div) && out->div > 0)
		e = e->arg[0];
	else
		out->div = 1;
	return add_dim(l, e, 1, out) && out->mul >= 0;
}

/* The launch's own extent where it is such a product and at least 1; else the most there can be. */
static void choose_extents(Spmd *p)
{
	static const char *const stem[AXES] = { "grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z" };
	for (int k = 0; k < AXES; k++) {
		Axis *a = &p->axis[k];
		DlcDim dim;
		if (!a->used)
			continue;
		a->n = a->extent;
		if (a->n == NULL || ir_interval(a->n, p->env).lo < 1 || !as_dim(p->l, a->n, &dim)) {
			a->n = ir_int(p->l->ir, a->most > 1 ? a->most : 1);
			as_dim(p->l, a->n, &dim);
		}
		p->k->launch.dim[k] = dim;
		if (!ir_is_const(a->n, 1))
			a->var = ir_fresh_name(p->l->ir, stem[k]);
	}
}

/* ---- who does what ---- */

static bool all_active(const Spmd *p, int from, int to)
{
	for (int k = from; k < to; k++)
		if (p->axis[k].var != NULL && (p->active >> k & 1) == 0)
			return false;
	return true;
}

/* A block has one thread. */
static bool is_alone(const Spmd *p)
{
	bool alone = true;
	for (int k = DLC_BLOCK; k < AXES; k++)
		alone = alone && p->axis[k].var == NULL;
	return alone;
}

static bool crosses(const Spmd *p, const char *buf)
{
	const Buf *b = lower_buf(p->bufs, buf);
	return b != NULL && b->role != BUF_IN && b->role != BUF_CONST && !lower_is_private(p->l, b);
}

typedef struct Uses {
	Spmd *p;
	VEC(Touch) at;
} Uses;

static void note(const IrUse *use, void *arg)
{
	Uses *u = arg;
	Spmd *p = u->p;
	if (use->kind == USE_PREFETCH || !crosses(p, use->buf))
		return;
	if (use->kind != USE_STORE && use->kind != USE_REDUCE && use->kind != USE_WINDOW) {
		vec_push(p->l->arena, &u->at, ((Touch){ use->buf, false, p->grid, p->block }));
		return;
	}
	vec_push(p->l->arena, &u->at, ((Touch){ use->buf, true, p->grid, p->block }));
}

static void note_expr(Uses *u, const Expr *e)
{
	Stmt probe = { .kind = ST_LET, .let = { NULL, e } };
	if (e != NULL && ir_has_load(e))
		ir_each_use(&probe, note, u);
}

static Stmt *barrier(Spmd *p)
{
	Stmt *b = ir_stmt(p->l->ir, ST_BARRIER);
	b->barrier = ir_name(p->l->ir, "block");
	return b;
}

/* What has to stand before these uses, and notes them. */
static Stmt *order(Spmd *p, const Stmt *s, const Uses *u)
{
	bool conflict = false;
	for (size_t k = 0; k < u->at.n; k++)
		for (size_t j = 0; j < p->touch.n; j++) {
			const Touch *a = &p->touch.at[j], *b = &u->at.at[k];
			bool other = a->grid != b->grid || a->block != b->block;
			if (a->buf != b->buf || (!a->write && !b->write) || !other)
				continue;
			if (a->grid != b->grid)
				refuse(p, s, "data goes from one loop of the grid to another in one launch: end the statement between");
			conflict = true;
		}
	bool needed = conflict && !is_alone(p);
	if (needed && p->divergent)
		refuse(p, s, "threads meet below a condition that differs among them: move the condition inwards");
	if (needed)
		p->touch.n = 0;
	for (size_t k = 0; k < u->at.n; k++)
		vec_push(p->l->arena, &p->touch, u->at.at[k]);
	return needed ? barrier(p) : NULL;
}

/* By the first threads of the axes that are not bound around, and by those that the loops around have. */
static const Expr *condition(Spmd *p)
{
	Ir *ir = p->l->ir;
	const Expr *c = p->guard;
	for (int k = DLC_BLOCK; k < AXES; k++)
		if (p->axis[k].var != NULL && (p->active >> k & 1) == 0) {
			const Expr *first = ir_eq(ir, ir_idx(ir, p->axis[k].var), ir_int(ir, 0));
			c = c == NULL ? first : ir_and(ir, c, first);
		}
	return c;
}

static Stmt *leaf(Spmd *p, Stmt *s)
{
	Uses u = { .p = p };
	ir_each_use(s, note, &u);
	if (!all_active(p, DLC_GRID, DLC_BLOCK) && s->kind != ST_PREFETCH)
		refuse(p, s, "a statement stands beside a loop of the grid: end the loop around it or begin another statement");
	Stmt *before = order(p, s, &u);
	const Expr *c = condition(p);
	if (c != NULL && s->kind == ST_REDUCE && s->reduce.old != NULL)
		refuse(p, s, "the old value of an atomic reduction is asked for by some threads alone: bind all axes around it");
	return ir_seq(before, c != NULL ? ir_if(p->l->ir, c, s, NULL) : s);
}

static bool is_private_load(const Expr *e, void *arg)
{
	const Spmd *p = arg;
	return e->op == IR_LOAD && lower_is_private(p->l, lower_buf(p->bufs, e->name));
}

static bool is_thread_var(const Expr *e, void *arg)
{
	const Spmd *p = arg;
	for (int k = DLC_BLOCK; e->op == IR_VAR && k < AXES; k++)
		if (p->axis[k].var == e->name)
			return true;
	return e->op == IR_LOAD && lower_is_private(p->l, lower_buf(p->bufs, e->name));
}

/* A value that every thread computes here; *before gets what must stand before it. */
static const Expr *everywhere(Spmd *p, const Stmt *s, const Expr *e, Stmt **before)
{
	if (!ir_has_load(e))
		return e;
	Uses u = { .p = p };
	int block = p->block;
	bool all = all_active(p, DLC_BLOCK, AXES);
	if (!all && ir_find_node(e, is_private_load, p) != NULL)
		refuse(p, s, "every thread needs a value that the first ones alone have: compute it inside of the bound loops");
	p->block = all ? block : EVERY;
	note_expr(&u, e);
	p->block = block;
	*before = ir_seq(*before, order(p, s, &u));
	return p->guard != NULL ? ir_select(p->l->ir, p->guard, e, ir_const(p->l->ir, e->type, 0)) : e;
}

static Stmt *spmd_list(Spmd *p, Stmt *s);

/* The body of a bound loop with the nest's variable. */
static Stmt *spmd_bound(Spmd *p, Stmt *s)
{
	Ir *ir = p->l->ir;
	int k = axis_of(s);
	Axis *a = &p->axis[k];
	Spmd outer = *p;
	const Expr *v = a->var != NULL ? ir_idx(ir, a->var) : ir_int(ir, 0);
	const Expr *n = ir_simplify(ir, ir_sub(ir, s->loop.hi, s->loop.lo), p->env);
	if (ir_has_load(s->loop.lo)) {
		refuse(p, s, "a bound loop begins at a value that is loaded: begin it at 0");
		return NULL;
	}
	if (n != a->n) {
		const Expr *in = ir_lt(ir, v, n);
		p->guard = p->guard == NULL ? in : ir_and(ir, p->guard, in);
	}
	ir_subst_stmt(ir, s->loop.body, s->loop.var, ir_add(ir, s->loop.lo, v));
	p->active |= 1u << k;
	if (a->var != NULL)
		*(k < DLC_BLOCK ? &p->grid : &p->block) = ++p->ids;
	Stmt *body = spmd_list(p, s->loop.body);
	p->guard = outer.guard;
	p->active = outer.active;
	p->grid = outer.grid;
	p->block = outer.block;
	return body;
}

typedef struct Touches {
	Touch *at;
	size_t n;
} Touches;

static Touches touches_now(const Spmd *p)
{
	Touches t = { arena_array(p->l->arena, Touch, p->touch.n + 1), p->touch.n };
	if (t.n > 0)
		memcpy(t.at, p->touch.at, sizeof *t.at * t.n);
	return t;
}

static void add_touches(Spmd *p, const Touch *t, size_t n)
{
	for (size_t k = 0; k < n; k++)
		vec_push(p->l->arena, &p->touch, t[k]);
}

/* A condition or an end that decides how often a barrier comes. */
static const Expr *steering(Spmd *p, Stmt *s, const Expr *e, Stmt **before)
{
	bool differs = ir_find_node(e, is_thread_var, p) != NULL;
	if (differs && p->guard != NULL && has(s, is_compound))
		refuse(p, s, "threads meet in a loop or a condition that some of them leave out: end the bound loop before");
	p->divergent = p->divergent || differs;
	return everywhere(p, s, e, before);
}

static Stmt *spmd_for(Spmd *p, Stmt *s)
{
	Stmt *before = NULL;
	bool divergent = p->divergent;
	if (s->loop.kind == LOOP_VECTOR)
		refuse(p, s, "a vector loop holds bound loops or barriers: bind loops around it");
	if (has(s, is_grid))
		refuse(p, s, "a loop of the grid stands in a serial loop: swap the two");
	s->loop.lo = steering(p, s, s->loop.lo, &before);
	s->loop.hi = steering(p, s, s->loop.hi, &before);
	if (before != NULL || ir_has_load(s->loop.lo) || ir_has_load(s->loop.hi)) { /* once, before the loop */
		const Expr **end[2] = { &s->loop.lo, &s->loop.hi };
		for (int k = 0; k < 2; k++) {
			const char *name = ir_fresh_name(p->l->ir, "bound");
			before = ir_seq(before, ir_let(p->l->ir, name, *end[k]));
			*end[k] = ir_idx(p->l->ir, name);
		}
	}
	if (ir_find_below(s, is_block, NULL) != NULL) { /* what the iteration before did */
		Uses u = { .p = p };
		int block = p->block;
		p->block = MANY;
		ir_each_use(s->loop.body, note, &u);
		p->block = block;
		add_touches(p, u.at.at, u.at.n);
	}
	const Touches first = touches_now(p);
	s->loop.body = spmd_list(p, s->loop.body);
	add_touches(p, first.at, first.n); /* there may be no iteration */
	p->divergent = divergent;
	return ir_seq(before, s);
}

static Stmt *spmd_if(Spmd *p, Stmt *s)
{
	Stmt *before = NULL;
	bool divergent = p->divergent;
	s->branch.cond = steering(p, s, s->branch.cond, &before);
	if (ir_has_load(s->branch.cond)) {
		const char *name = ir_fresh_name(p->l->ir, "cond");
		before = ir_seq(before, ir_let(p->l->ir, name, s->branch.cond));
		s->branch.cond = ir_var(p->l->ir, name, s->branch.cond->type);
	}
	const Touches first = touches_now(p);
	s->branch.then = spmd_list(p, s->branch.then);
	const Touches then = touches_now(p);
	p->touch.n = 0;
	add_touches(p, first.at, first.n);
	s->branch.other = spmd_list(p, s->branch.other);
	add_touches(p, then.at, then.n);
	p->divergent = divergent;
	return ir_seq(before, s);
}

static Stmt *spmd_let(Spmd *p, Stmt *s)
{
	Stmt *before = NULL;
	s->let.value = everywhere(p, s, s->let.value, &before);
	return ir_seq(before, s);
}

typedef struct Inner {
	const char *buf;
	bool yes;
} Inner;

static void note_inner(const IrUse *use, void *arg)
{
	Inner *in = arg;
	in->yes = in->yes || use->buf == in->buf;
}

/* Whether a bound loop behind the alloc uses it. */
static bool used_by_inner(Stmt *list, const char *buf)
{
	Inner in = { buf, false };
	for (Stmt *s = list; s != NULL; s = s->next) {
		Stmt **child[IR_CHILDREN];
		if (is_bound(s, NULL))
			ir_each_use_below(s, note_inner, &in);
		else
			for (int k = 0, n = ir_children(s, child); k < n; k++)
				in.yes = in.yes || used_by_inner(*child[k], buf);
	}
	return in.yes;
}

/* What the threads of a block share goes before the block's loops; what one thread has stays. */
static Stmt *spmd_alloc(Spmd *p, Stmt *s, Stmt *behind)
{
	bool shared = strcmp(s->alloc->scope, "shared") == 0, inside = false;
	for (int k = DLC_BLOCK; k < AXES; k++)
		inside = inside || (p->axis[k].var != NULL && (p->active >> k & 1) != 0);
	if (!shared && !used_by_inner(behind, s->alloc->name))
		return s;
	if (!all_active(p, DLC_GRID, DLC_BLOCK))
		return refuse(p, s, "blocks share an alloc: make it a work parameter or put it inside of the grid's loops"), NULL;
	if (inside)
		return refuse(p, s, "some threads of a block share an alloc: put it around the block's loops"), NULL;
	p->shared = ir_seq(p->shared, s);
	return NULL;
}

/* An alloc outside of the block's loops is one for all of its threads. */
static void share_allocs(Spmd *p, Stmt *s, bool inside)
{
	for (; s != NULL; s = s->next) {
		Stmt **child[IR_CHILDREN];
		bool inner = inside || (is_block(s, NULL) && p->axis[axis_of(s)].var != NULL);
		if (s->kind == ST_ALLOC && !inside && !is_alone(p))
			s->alloc->scope = ir_name(p->l->ir, "shared");
		for (int k = 0, n = ir_children(s, child); k < n; k++)
			share_allocs(p, *child[k], inner);
	}
}

static Stmt *spmd_barrier(Spmd *p, Stmt *s)
{
	if (strcmp(s->barrier, "block") != 0) {
		lower_refuse(p->l, s, "the device has no barrier of a %s inside of a kernel", s->barrier);
		p->ok = false;
		return NULL;
	}
	if (!all_active(p, DLC_GRID, DLC_BLOCK))
		return refuse(p, s, "a barrier stands outside of the grid's loops"), NULL;
	p->touch.n = 0;
	return is_alone(p) ? NULL : s;
}

static Stmt *spmd_list(Spmd *p, Stmt *s)
{
	Stmt *out = NULL;
	for (Stmt *next; s != NULL && p->ok; s = next) {
		Stmt *now;
		next = s->next;
		s->next = NULL;
		if (is_bound(s, NULL))
			now = spmd_bound(p, s);
		else if (s->kind == ST_BARRIER)
			now = spmd_barrier(p, s);
		else if (s->kind == ST_LET)
			now = spmd_let(p, s);
		else if (s->kind == ST_ALLOC)
			now = spmd_alloc(p, s, next);
		else if (s->kind == ST_FOR && has(s, is_compound))
			now = spmd_for(p, s);
		else if (s->kind == ST_IF && has(s, is_compound))
			now = spmd_if(p, s);
		else
			now = leaf(p, s);
		out = ir_seq(out, now);
	}
	return out;
}

/* ---- the nest ---- */

static Stmt *wrap(Spmd *p, int from, int to, Stmt *body)
{
	for (int k = from; k < to; k++) { /* x innermost */
		const Axis *a = &p->axis[k];
		if (a->var == NULL)
			continue;
		body = ir_for(p->l->ir, a->var, ir_int(p->l->ir, 0), a->n, LOOP_BOUND, body);
		body->loop.axis = ir_name(p->l->ir, axis_names[k]);
	}
	return body;
}

static bool drop_barrier(Lower *l, Stmt *s, Stmt **out)
{
	(void)l;
	*out = s->kind == ST_BARRIER ? NULL : s;
	return true;
}

bool pass_launch(Lower *l)
{
	LowerKernel *kernel = NULL;
	for (size_t k = 0; k < l->kernel.n; k++)
		if (l->kernel.at[k].fn == l->fn)
			kernel = &l->kernel.at[k];
	if (kernel == NULL) /* a sub Fn: its callers share its work */
		return true;
	if (ir_find_stmt(l->fn->body, is_bound, NULL) == NULL)
		return lower_rewrite(l, &l->fn->body, drop_barrier);
	Spmd p = { .l = l, .k = kernel, .bufs = lower_bufs(l), .env = ir_range_fn(l->ir, l->fn), .ok = true };
	collect(&p, l->fn->body, p.env);
	if (!p.ok)
		return false;
	choose_extents(&p);
	share_allocs(&p, l->fn->body, false);
	Stmt *body = spmd_list(&p, l->fn->body);
	if (!p.ok)
		return false;
	body = wrap(&p, DLC_BLOCK, AXES, body);
	l->fn->body = wrap(&p, DLC_GRID, DLC_BLOCK, ir_seq(p.shared, body));
	return true;
}
