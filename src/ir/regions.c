/*
 * Regions: which part of each buffer a statement touches. Every index on the way is an expression;
 * names bound inside of the statement go away, lets and iterators by their value, loop variables,
 * innermost first, by the end of their range on the side that is asked for: a sum term by term, a
 * quotient or min through its monotone arguments, anything else by its interval. Conditions around
 * the access give further ends. Where a step could wrap or nothing is known, the whole dimension is
 * the answer, which is right because no access lies outside of its buffer.
 */
#include "ir/affine.h"
#include "ir/build.h"
#include "ir/intrin.h"
#include "ir/simplify_rules.h"
#include "ir/walk.h"

#include <string.h>

/* A name bound inside of the statement, innermost first: a value, or (value == NULL) a loop. */
typedef struct Bound {
	const struct Bound *outer;
	const char *name;
	const Expr *value;
	const Expr *lo, *hi; /* inclusive, free of lets and iterators; NULL: not known */
} Bound;

/* A condition that holds (or does not) around the access, free of lets and iterators. */
typedef struct Cond {
	const struct Cond *outer;
	const Expr *cond;
	bool holds;
} Cond;

typedef struct Inside {
	const Range *env; /* all facts there */
	const Bound *bound;
	const Cond *cond;
} Inside;

typedef struct Collect {
	Ir *ir;
	const Fn *fn;
	const KernelSet *ks;
	const Range *outer; /* the facts at the statement */
	IrMemo *seen;
	VEC(Region) region;
} Collect;

typedef enum { DOWN, UP } Side;

static Side flip(Side s)
{
	return s == UP ? DOWN : UP;
}

static const Bound *find_bound(const Bound *b, const char *name)
{
	while (b != NULL && b->name != name)
		b = b->outer;
	return b;
}

/* Values of lets and iterators are free of such names already, so that one pass does. */
static const Expr *resolve_node(Ir *ir, const Expr *e, void *arg)
{
	(void)ir;
	const Bound *b = e->op == IR_VAR ? find_bound(arg, e->name) : NULL;
	return b != NULL && b->value != NULL ? b->value : e;
}

static const Expr *resolve(Collect *c, const Expr *e, const Inside *in)
{
	return ir_map_expr(c->ir, e, resolve_node, (void *)in->bound);
}

static bool is_free(const Expr *e, const Bound *bound)
{
	for (; bound != NULL; bound = bound->outer)
		if (ir_uses_var(e, bound->name))
			return false;
	return true;
}

static const Expr *bound_of(Collect *c, const Expr *e, const Bound *v, Side side, const Range *env);

/* The interval's end, where it is one. */
static const Expr *numeric_end(Collect *c, const Expr *e, Side side, const Range *env)
{
	wide lo, hi;
	Interval v = ir_interval(e, env);
	ir_type_range(dtype_scalar(e->type), &lo, &hi);
	if (side == UP ? v.hi >= hi || v.hi == INT64_MAX : v.lo <= lo)
		return NULL;
	return ir_const_int(c->ir, e->type, side == UP ? v.hi : v.lo);
}

static const Expr *mod_bound(Collect *c, const Expr *e, const Bound *v, Side side, const Range *env)
{
	const Expr *n = e->arg[1];
	const Expr *lo = bound_of(c, e->arg[0], v, DOWN, env),
		   *hi = bound_of(c, e->arg[0], v, UP, env);
	if (ir_uses_var(n, v->name) || ir_interval(n, env).lo < 1)
		return NULL;
	if (lo != NULL && hi != NULL) {
		const Expr *same = ir_eq(c->ir, ir_div(c->ir, lo, n), ir_div(c->ir, hi, n));
		if (ir_always(ir_simplify(c->ir, same, env), env))
			return ir_mod(c->ir, side == UP ? hi : lo, n);
	}
	return side == UP ? ir_sub(c->ir, n, ir_const_int(c->ir, n->type, 1))
	                  : ir_const_int(c->ir, n->type, 0);
}

static const Expr *select_bound(
	Collect *c, const Expr *e, const Bound *v, Side side, const Range *env)
{
	const Expr *a = bound_of(c, e->arg[1], v, side, ir_range_if(c->ir, e->arg[0], true, env));
	const Expr *b = bound_of(c, e->arg[2], v, side, ir_range_if(c->ir, e->arg[0], false, env));
	if (a == NULL || b == NULL)
		return NULL;
	if (!ir_uses_var(e->arg[0], v->name))
		return ir_select(c->ir, e->arg[0], a, b);
	return ir_binary(c->ir, side == UP ? IR_MAX : IR_MIN, a, b);
}

/* x * y where one is free of the variable and of known sign. */
static const Expr *product_bound(
	Collect *c, const Expr *e, const Bound *v, Side side, const Range *env)
{
	for (int i = 0; i < 2; i++) {
		const Expr *x = e->arg[i], *y = e->arg[1 - i];
		Interval sign = ir_interval(y, env);
		if (ir_uses_var(y, v->name) || (sign.lo < 0 && sign.hi > 0))
			continue;
		const Expr *b = bound_of(c, x, v, sign.lo >= 0 ? side : flip(side), env);
		return b == NULL ? NULL : ir_mul(c->ir, b, y);
	}
	return NULL;
}

/* An end of one term that uses the variable, free of it. */
static const Expr *term_bound(
	Collect *c, const Expr *e, const Bound *v, Side side, const Range *env)
{
	const Expr *a, *b;
	switch (e->op) {
	case IR_VAR: return side == UP ? v->hi : v->lo;
	case IR_DIV:
		if (ir_uses_var(e->arg[1], v->name) || ir_interval(e->arg[1], env).lo < 1)
			return NULL;
		a = bound_of(c, e->arg[0], v, side, env);
		return a == NULL ? NULL : ir_div(c->ir, a, e->arg[1]);
	case IR_MOD: return mod_bound(c, e, v, side, env);
	case IR_MIN:
	case IR_MAX:
		a = bound_of(c, e->arg[0], v, side, env);
		b = bound_of(c, e->arg[1], v, side, env);
		if (a != NULL && b != NULL)
			return ir_binary(c->ir, e->op, a, b);
		return (e->op == IR_MIN) == (side == UP) ? (a != NULL ? a : b) : NULL;
	case IR_SELECT: return select_bound(c, e, v, side, env);
	case IR_MUL: return product_bound(c, e, v, side, env);
	case IR_CAST: {
		wide lo, hi;
		Interval x = ir_interval(e->arg[0], env);
		ir_type_range(e->type, &lo, &hi);
		if (!dtype_is_int(e->type) || !dtype_is_int(e->arg[0]->type) || x.lo < lo ||
			x.hi > hi)
			return NULL;
		a = bound_of(c, e->arg[0], v, side, env);
		return a == NULL ? NULL : ir_cast(c->ir, e->type, a);
	}
	default: return NULL;
	}
}

/* An expression free of the variable that is never above (DOWN) or below (UP) e; NULL: not known. */
static const Expr *bound_of(Collect *c, const Expr *e, const Bound *v, Side side, const Range *env)
{
	Affine f;
	if (!ir_uses_var(e, v->name))
		return e;
	if (!ir_affine_of(e, &f) || !ir_affine_exact(&f, env, NULL))
		return NULL;
	Affine sum = { .type = f.type, .k = f.k };
	for (int i = 0; i < f.n; i++) {
		const Expr *x = f.t[i].a, *end = x;
		Side at = f.t[i].coef > 0 ? side : flip(side);
		if (ir_uses_var(x, v->name)) {
			end = term_bound(c, x, v, at, env);
			if (end == NULL)
				end = numeric_end(c, x, at, env);
		}
		if (end == NULL || !ir_affine_add_term(&sum, f.t[i].coef, end, NULL))
			return NULL;
	}
	const Expr *r = ir_simplify(c->ir, simplify_build(c->ir, &sum, e->type), env);
	return ir_affine_of(r, &f) && ir_affine_exact(&f, env, NULL) ? r : NULL;
}

static void find_load(const Expr *e, void *arg)
{
	if (e->op == IR_LOAD)
		*(bool *)arg = true;
}

/*
 * Free of everything bound inside, innermost first, and of loads, which the statement may change.
 * The sum must be exact outside, too, where less is known.
 */
static const Expr *eliminate(Collect *c, const Expr *e, const Inside *in, Side side)
{
	for (const Bound *b = in->bound; b != NULL && e != NULL; b = b->outer)
		if (b->value == NULL)
			e = bound_of(c, e, b, side, in->env);
	bool loads = false;
	Affine f;
	if (e != NULL)
		ir_each_node(e, find_load, &loads);
	if (e == NULL || loads || !ir_affine_of(e, &f) || !ir_affine_exact(&f, c->outer, NULL))
		return NULL;
	return e;
}

/* A form with products as an expression. */
static const Expr *built(Collect *c, const Affine *f)
{
	Affine flat = { .type = f->type, .k = f->k };
	for (int i = 0; i < f->n; i++) {
		const Term *t = &f->t[i];
		const Expr *x = t->b == NULL ? t->a : ir_mul(c->ir, t->a, t->b);
		if (!ir_affine_add_term(&flat, t->coef, x, NULL))
			return NULL;
	}
	return simplify_build(c->ir, &flat, f->type);
}

static bool is_inner(const Term *t, const Bound *bound)
{
	return !is_free(t->a, bound) || (t->b != NULL && !is_free(t->b, bound));
}

static int count_inner(const Affine *f, const Bound *bound)
{
	int n = 0;
	for (int i = 0; i < f->n; i++)
		n += is_inner(&f->t[i], bound);
	return n;
}

/*
 * e - q*fact, q chosen so that an inner term vanishes: below e for q > 0, above it for q < 0. It
 * must have fewer inner terms than e. Returns the sign of q, 0 if the fact is of no use.
 */
static int less_inner(const Affine *e, const Affine *fact, const Bound *bound, Affine *out)
{
	for (int i = 0; i < fact->n; i++) {
		const Term *t = &fact->t[i];
		if (!is_inner(t, bound))
			continue;
		for (int j = 0; j < e->n; j++) {
			if (e->t[j].a != t->a || e->t[j].b != t->b || e->t[j].coef % t->coef != 0)
				continue;
			int64_t q = e->t[j].coef / t->coef;
			*out = *e;
			if (q == INT64_MIN || !ir_affine_add(out, fact, -q) ||
				count_inner(out, bound) >= count_inner(e, bound))
				return 0;
			return q > 0 ? 1 : -1;
		}
	}
	return 0;
}

typedef struct Hull {
	const Expr *lo, *hi; /* inclusive; NULL: not known */
} Hull;

static const Expr *tighter(Collect *c, const Expr *old, const Expr *by, Side side)
{
	Affine f;
	by = ir_simplify(c->ir, by, c->outer);
	if (!ir_affine_of(by, &f) || !ir_affine_exact(&f, c->outer, NULL))
		return old;
	if (old == NULL)
		return by;
	return ir_simplify(
		c->ir, ir_binary(c->ir, side == UP ? IR_MIN : IR_MAX, old, by), c->outer);
}

static void tighten(Collect *c, const Expr *e, const Inside *in, Hull *h)
{
	Affine form, fact[2], rest;
	if (is_free(e, in->bound) || !ir_affine_expand(e, &form) ||
		!ir_affine_exact(&form, in->env, NULL))
		return;
	for (const Cond *k = in->cond; k != NULL; k = k->outer) {
		int n = ir_affine_facts(k->cond, k->holds, in->env, NULL, fact);
		for (int i = 0; i < n; i++) {
			int sign = less_inner(&form, &fact[i], in->bound, &rest);
			if (sign == 0)
				continue;
			Side side = sign > 0 ? DOWN : UP;
			const Expr *end = built(c, &rest);
			end = end == NULL
			              ? NULL
			              : eliminate(c, ir_simplify(c->ir, end, in->env), in, side);
			if (end != NULL && side == UP)
				h->hi = tighter(c, h->hi, end, side);
			else if (end != NULL)
				h->lo = tighter(c, h->lo, end, side);
		}
	}
}

static Hull hull_of_scalar(Collect *c, const Expr *e, const Inside *in)
{
	e = ir_simplify(c->ir, resolve(c, e, in), in->env);
	Hull h = { eliminate(c, e, in, DOWN), eliminate(c, e, in, UP) };
	tighten(c, e, in, &h);
	return h;
}

/* All lanes of an index. */
static Hull hull_of(Collect *c, const Expr *e, const Inside *in)
{
	static const Hull unknown = { NULL, NULL };
	int64_t step;
	if (e->type.lanes == 1)
		return hull_of_scalar(c, e, in);
	e = ir_simplify(c->ir, resolve(c, e, in), in->env);
	if (e->op == IR_SPLAT)
		return hull_of_scalar(c, e->arg[0], in);
	if (e->op != IR_RAMP || !ir_is_int(e->arg[1], &step)) {
		Interval v = ir_interval(e, in->env);
		if (v.lo == INT64_MIN || v.hi == INT64_MAX)
			return unknown;
		return (Hull){ ir_int(c->ir, v.lo), ir_int(c->ir, v.hi) };
	}
	int64_t last;
	if (__builtin_mul_overflow(step, e->type.lanes - 1, &last))
		return unknown;
	const Expr *end = ir_add(c->ir, e->arg[0], ir_int(c->ir, last));
	Hull first = hull_of_scalar(c, e->arg[0], in), other = hull_of_scalar(c, end, in);
	return step >= 0 ? (Hull){ first.lo, other.hi } : (Hull){ other.lo, first.hi };
}

/* ---- Regions. ---- */

static Region *region_of(Collect *c, const char *buf, int n)
{
	for (size_t i = 0; i < c->region.n; i++)
		if (c->region.at[i].buf == buf && c->region.at[i].n == n)
			return &c->region.at[i];
	Region r = { .buf = buf, .n = n };
	r.lo = arena_array(ir_arena(c->ir), const Expr *, n);
	r.hi = arena_array(ir_arena(c->ir), const Expr *, n);
	vec_push(ir_arena(c->ir), &c->region, r);
	return &c->region.at[c->region.n - 1];
}

static const Expr *join(Collect *c, const Expr *old, const Expr *e, Node op)
{
	if (old != NULL)
		e = ir_binary(c->ir, op, old, e);
	return ir_simplify(c->ir, e, c->outer);
}

/* Dimension k of the region grows to what is read or written there; a NULL end is the buffer's. */
static void grow(Collect *c, Region *r, int k, Hull h)
{
	const Buf *b = ir_find_buf(c->fn, r->buf);
	const Expr *one = ir_int(c->ir, 1);
	const Expr *lo = h.lo != NULL ? h.lo : ir_int(c->ir, 0);
	const Expr *hi = h.hi != NULL               ? ir_add(c->ir, h.hi, one)
	                 : b != NULL && k < b->rank ? b->shape[k]
	                                            : ir_int(c->ir, INT64_MAX);
	r->lo[k] = join(c, r->lo[k], lo, IR_MIN);
	r->hi[k] = join(c, r->hi[k], hi, IR_MAX);
}

static void add_access(Collect *c, const char *buf, const Expr *const *idx, int n, bool write,
	bool read, const Inside *in)
{
	Region *r = region_of(c, buf, n);
	r->read |= read;
	r->write |= write;
	for (int k = 0; k < n; k++)
		grow(c, r, k, hull_of(c, idx[k], in));
}

static Inside under(Collect *c, const Inside *in, const Expr *cond, bool holds)
{
	Inside out = *in;
	if (cond == NULL || cond->type.lanes != 1)
		return out;
	out.env = ir_range_if(c->ir, cond, holds, in->env);
	return out;
}

/* A chain of the parts of the condition, each free of lets and iterators. */
static const Cond *conditions(
	Collect *c, const Expr *e, bool holds, const Inside *in, const Cond *outer)
{
	if (e->op == IR_NOT)
		return conditions(c, e->arg[0], !holds, in, outer);
	if (e->op == (holds ? IR_AND : IR_OR)) {
		outer = conditions(c, e->arg[0], holds, in, outer);
		return conditions(c, e->arg[1], holds, in, outer);
	}
	Cond *k = arena_new_of(ir_arena(c->ir), Cond);
	*k = (Cond){ outer, ir_simplify(c->ir, resolve(c, e, in), in->env), holds };
	return k;
}

/* conditions() first: simplified under facts that include it, a condition would say nothing. */
static Inside where(Collect *c, const Inside *in, const Expr *cond, bool holds)
{
	Inside out = under(c, in, cond, holds);
	if (cond != NULL && cond->type.lanes == 1)
		out.cond = conditions(c, cond, holds, in, in->cond);
	return out;
}

static void visit_expr(Collect *c, const Expr *e, const Inside *in)
{
	const Expr **seen = ir_memo_at(c->seen, e);
	if (*seen != NULL || e->nargs == 0)
		return;
	*seen = e;
	if (e->op == IR_LOAD)
		add_access(c, e->name, e->arg, e->nargs, false, true, in);
	int first = 0;
	if (e->op == IR_SELECT && e->arg[0]->type.lanes == 1) {
		visit_expr(c, e->arg[0], in);
		for (; first < 2; first++) {
			Inside arm = where(c, in, e->arg[0], first == 0);
			IrMemo *outer = c->seen;
			c->seen = ir_memo_begin(c->ir);
			visit_expr(c, e->arg[1 + first], &arm);
			ir_memo_end(c->ir, c->seen);
			c->seen = outer;
		}
		first = 3;
	}
	for (int i = first; i < e->nargs; i++)
		visit_expr(c, e->arg[i], in);
}

static void visit_exprs(Collect *c, const Expr *const *e, int n, const Inside *in)
{
	IrMemo *outer = c->seen;
	c->seen = ir_memo_begin(c->ir);
	for (int i = 0; i < n; i++)
		if (e[i] != NULL)
			visit_expr(c, e[i], in);
	ir_memo_end(c->ir, c->seen);
	c->seen = outer;
}

static void visit_list(Collect *c, const Stmt *s, Inside in);

/* Lets and iterators stand for their values, loops for their ranges. */
static Inside bind(Collect *c, Inside in, const char *name, const Expr *value)
{
	Bound *b = arena_new_of(ir_arena(c->ir), Bound);
	*b = (Bound){ .outer = in.bound, .name = name, .value = resolve(c, value, &in) };
	in.bound = b;
	return in;
}

static Inside into_loop(Collect *c, const Stmt *s, const Inside *in)
{
	Inside out = *in;
	Bound *b = arena_new_of(ir_arena(c->ir), Bound);
	const Expr *lo = resolve(c, s->loop.lo, in), *hi = resolve(c, s->loop.hi, in);
	*b = (Bound){
		.outer = in->bound, .name = s->loop.var, .lo = ir_simplify(c->ir, lo, in->env)
	};
	out.bound = b;
	out.env = ir_range_for(c->ir, s->loop.var, s->loop.lo, s->loop.hi, in->env);
	Affine f;
	hi = ir_simplify(c->ir, ir_sub(c->ir, hi, ir_int(c->ir, 1)), in->env);
	b->hi = ir_affine_of(hi, &f) && ir_affine_exact(&f, out.env, NULL) ? hi : NULL;
	return out;
}

/* Each iterator lies in its domain: conditions like `where`. */
static const Cond *domains(Collect *c, const Stmt *s, const Inside *in)
{
	const Cond *k = in->cond;
	for (int i = 0; i < s->block.n; i++) {
		const Iter *it = &s->block.iter[i];
		const Expr *name = ir_idx(c->ir, it->name);
		k = conditions(c, ir_le(c->ir, it->lo, name), true, in, k);
		k = conditions(c, ir_lt(c->ir, name, it->hi), true, in, k);
	}
	return k;
}

static void visit_block(Collect *c, const Stmt *s, const Inside *in)
{
	Inside body = *in;
	for (int i = 0; i < s->block.n; i++) {
		const Expr *e[3] = { s->block.iter[i].lo, s->block.iter[i].hi,
			s->block.iter[i].value };
		visit_exprs(c, e, 3, in);
		Inside one = bind(c, *in, s->block.iter[i].name, s->block.iter[i].value);
		Bound *b = arena_copy(ir_arena(c->ir), one.bound, sizeof *one.bound);
		b->outer = body.bound;
		body.bound = b;
	}
	body.env = ir_range_iters(c->ir, s, in->env);
	visit_exprs(c, &s->block.where, 1, &body);
	if (s->block.where != NULL)
		body.cond = conditions(c, s->block.where, true, &body, body.cond);
	body.cond = domains(c, s, &body);
	body.env = ir_range_block(c->ir, s, in->env);
	Inside init = body;
	for (int i = 0; i < s->block.n; i++)
		if (s->block.iter[i].kind != ITER_SPATIAL) {
			init = bind(c, init, s->block.iter[i].name, s->block.iter[i].lo);
			init.env = ir_range_let(
				c->ir, s->block.iter[i].name, s->block.iter[i].lo, init.env);
		}
	visit_list(c, s->block.init, init);
	visit_list(c, s->block.body, body);
}

static void visit_reduce(Collect *c, const Stmt *s, const Inside *in)
{
	visit_exprs(c, &s->reduce.mask, 1, in);
	Inside at = where(c, in, s->reduce.mask, true);
	visit_exprs(c, s->reduce.value, s->reduce.n, &at);
	for (int i = 0; i < s->reduce.n; i++) {
		const Access *d = &s->reduce.dst[i];
		visit_exprs(c, d->idx, d->n, &at);
		add_access(c, d->buf, d->idx, d->n, true, true, &at);
	}
}

/* Which way data goes through argument i of the call: what the parameter's role says. */
static void call_role(Collect *c, const Stmt *s, int i, bool *read, bool *write)
{
	const Fn *fn =
		s->call.intrin ? ir_intrin(c->ir, s->call.fn) : ir_find_fn(c->ks, s->call.fn);
	const Buf *b = fn != NULL && i < fn->nparam ? fn->param[i].buf : NULL;
	*read = b == NULL || b->role != BUF_OUT;
	*write = b == NULL || (b->role != BUF_IN && b->role != BUF_CONST);
}

static void visit_call(Collect *c, const Stmt *s, const Inside *in)
{
	for (int i = 0; i < s->call.n; i++) {
		const CallArg *a = &s->call.arg[i];
		if (a->buf == NULL) {
			visit_exprs(c, &a->value, 1, in);
			continue;
		}
		visit_exprs(c, a->idx, a->n, in);
		Region *r = region_of(c, a->buf, a->n);
		bool read, write;
		call_role(c, s, i, &read, &write);
		r->read |= read;
		r->write |= write;
		for (int k = 0; k < a->n; k++) {
			Hull h = hull_of(c, a->idx[k], in);
			if (a->len != NULL && a->len[k] != NULL) {
				visit_exprs(c, &a->len[k], 1, in);
				r = region_of(c, a->buf, a->n);
				const Expr *end = ir_add(c->ir, a->idx[k], a->len[k]);
				h.hi = hull_of(c, ir_sub(c->ir, end, ir_int(c->ir, 1)), in).hi;
			}
			grow(c, r, k, h);
		}
	}
}

static void visit(Collect *c, const Stmt *s, const Inside *in)
{
	switch (s->kind) {
	case ST_FOR:
		visit_exprs(c, &s->loop.lo, 1, in);
		visit_exprs(c, &s->loop.hi, 1, in);
		visit_list(c, s->loop.body, into_loop(c, s, in));
		break;
	case ST_BLOCK: visit_block(c, s, in); break;
	case ST_STORE: {
		visit_exprs(c, &s->store.mask, 1, in);
		Inside at = where(c, in, s->store.mask, true);
		visit_exprs(c, &s->store.value, 1, &at);
		visit_exprs(c, s->store.dst.idx, s->store.dst.n, &at);
		add_access(c, s->store.dst.buf, s->store.dst.idx, s->store.dst.n, true, false, &at);
		break;
	}
	case ST_REDUCE: visit_reduce(c, s, in); break;
	case ST_LET: visit_exprs(c, &s->let.value, 1, in); break;
	case ST_IF:
		visit_exprs(c, &s->branch.cond, 1, in);
		visit_list(c, s->branch.then, where(c, in, s->branch.cond, true));
		visit_list(c, s->branch.other, where(c, in, s->branch.cond, false));
		break;
	case ST_CALL: visit_call(c, s, in); break;
	case ST_ASYNC: visit_list(c, s->async, *in); break;
	default: break;
	}
}

static void visit_list(Collect *c, const Stmt *s, Inside in)
{
	for (; s != NULL; s = s->next) {
		visit(c, s, &in);
		if (s->kind == ST_LET) {
			const Range *env = ir_range_let(c->ir, s->let.var, s->let.value, in.env);
			in = bind(c, in, s->let.var, s->let.value);
			in.env = env;
		} else if (s->kind == ST_REDUCE && s->reduce.old != NULL) {
			Bound *b = arena_new_of(ir_arena(c->ir), Bound);
			*b = (Bound){ .outer = in.bound, .name = s->reduce.old };
			in.bound = b;
		}
	}
}

Region *ir_regions(Ir *ir, const Fn *fn, const KernelSet *ks, const Stmt *s, int *n)
{
	Collect c = { .ir = ir, .fn = fn, .ks = ks };
	c.outer = ir_range_at(ir, fn, s);
	Inside in = { .env = c.outer };
	visit(&c, s, &in);
	*n = (int)c.region.n;
	return c.region.at;
}
