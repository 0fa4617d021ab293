/*
 * Proves that no access leaves its buffer: loads, writes, the windows of calls, the accesses of a called
 * sub Fn to its windows, and the places that index maps give. An access without a proof is refused.
 *
 * One walk down each prepare and run Fn keeps the facts that hold at a statement. A call is walked
 * like any body: scalar parameters are lets of their arguments, buffer parameters have shapes of
 * their own, which the windows must equal. An element in memory may have any value of its type, and may
 * change: a condition or a let that loads gives its interval, and a condition in a select holds in
 * its own expression only.
 * Left out: prefetches, which access nothing and cannot fault.
 */
#include "ir/build.h"
#include "ir/text/intrin.h"
#include "ir/text/ir_text.h"
#include "ir/verify/proof_resolved.h"
#include "ir/verify/verify.h"
#include "ir/query.h"

#include <stdio.h>

/*
 * What a set is refused beyond: statements in one another, those of called Fns included; calls that are
 * walked; proofs that take some effort. Nodes of an expression that a message spells out.
 */
enum { NESTED = 1024, CALLS = 1 << 14, HARD = 1 << 13, SHOWN = 48 };

/* A buffer that can be named here, innermost first. */
typedef struct InScope {
	const struct InScope *outer;
	const Buf *buf;
} InScope;

/* Where the walk stands. */
typedef struct At {
	const Range *env;
	const InScope *buf;
	const char *block; /* the innermost one; NULL: none */
} At;

typedef struct Walk {
	const KernelSet *ks;
	Ir *ir;
	const Fn *fn;
	int line, depth, calls, hard;
	IntervalCache cache;
	IrMemo *loads; /* e: the node itself where e loads, else an integer */
	Err *err;
} Walk;

static bool refuse(const Walk *w, const At *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
static bool refuse(const Walk *w, const At *at, const char *fmt, ...)
{
	char place[192], text[480];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (w->line > 0)
		snprintf(place, sizeof place, "%.150s:%d", w->fn->name, w->line);
	else
		snprintf(place, sizeof place, "%.150s", w->fn->name);
	return at->block == NULL ? fail(w->err, ERR_ILLEGAL, place, "%s", text)
	                         : fail(w->err, ERR_ILLEGAL, place, "block %.100s: %s", at->block, text);
}

static bool is_short(const Expr *e, int *nodes)
{
	bool ok = --*nodes >= 0;
	for (int i = 0; i < e->nargs && ok; i++)
		ok = is_short(e->arg[i], nodes);
	return ok;
}

/* Shared parts are written each time: the text of an expression may be far longer than it. */
static const char *shown(const Walk *w, const Expr *e)
{
	int nodes = SHOWN;
	return is_short(e, &nodes) ? ir_expr_str(ir_arena(w->ir), e) : "a long expression";
}

/* ---- facts ---- */

static bool has_load(const Walk *w, const Expr *e)
{
	if (e->nargs == 0 || e->op == IR_LOAD)
		return e->op == IR_LOAD;
	const Expr **known = ir_memo_at(w->loads, e);
	if (*known != NULL)
		return *known == e;
	bool loads = false;
	for (int i = 0; i < e->nargs && !loads; i++)
		loads = has_load(w, e->arg[i]);
	*ir_memo_at(w->loads, e) = loads ? e : ir_int(w->ir, 0);
	return loads;
}

/* A name of which only these ends are known. */
static const Range *range_of_ends(Walk *w, const char *name, int64_t lo, int64_t hi, const Range *env)
{
	Range *r = arena_new_of(ir_arena(w->ir), Range);
	*r = (Range){ .outer = env, .name = name, .lo = lo, .hi = hi, .mod = 1 };
	return r;
}

/* Those parts of the condition that load nothing: memory may change behind it. */
static const Range *fact(Walk *w, const Expr *cond, bool holds, const Range *env)
{
	if (!has_load(w, cond))
		return ir_range_if(w->ir, cond, holds, env);
	if (cond->op == IR_NOT)
		return fact(w, cond->arg[0], !holds, env);
	if (cond->op != (holds ? IR_AND : IR_OR))
		return env;
	return fact(w, cond->arg[1], holds, fact(w, cond->arg[0], holds, env));
}

/* Every let has an entry, since a fact about an outer name must not be read as one about this. */
static const Range *let(Walk *w, const char *name, const Expr *value, const Range *env)
{
	if (!dtype_is_int(value->type) || value->type.lanes != 1)
		return range_of_ends(w, name, INT64_MIN, INT64_MAX, env);
	if (!has_load(w, value))
		return ir_range_let(w->ir, name, value, env);
	Interval v = ir_interval_cached(value, env, &w->cache);
	return range_of_ends(w, name, v.lo, v.hi, env);
}

static const Range *loop(Walk *w, const char *name, const Expr *lo, const Expr *hi, const Range *env)
{
	if (!has_load(w, lo) && !has_load(w, hi))
		return ir_range_for(w->ir, name, lo, hi, env);
	Interval a = ir_interval_cached(lo, env, &w->cache), b = ir_interval_cached(hi, env, &w->cache);
	return range_of_ends(w, name, a.lo, b.hi > INT64_MIN ? b.hi - 1 : b.hi, env);
}

/* What a condition without names, or of known ones, guards never runs. */
static bool is_never(Walk *w, const Expr *cond, bool holds, const Range *env)
{
	Interval v = ir_interval_cached(cond, env, &w->cache);
	return v.mod == 0 && v.rem != holds;
}

/* a + gap <= b for all values, or nothing runs here. */
static bool ordered(Walk *w, const Expr *a, const Expr *b, int gap, const Range *env)
{
	if (ir_is_ordered(a, b, gap, env, &w->cache))
		return true;
	if (w->hard++ >= HARD)
		return false;
	if (ir_is_ordered_resolved(w->ir, a, b, gap, env, &w->cache))
		return true;
	for (const Range *r = env; r != NULL; r = r->outer) /* dead: a condition on the way never holds */
		if (r->cond != NULL && (r->holds ? ir_never(r->cond, r->outer) : ir_always(r->cond, r->outer)))
			return true;
	return false;
}

/* ---- accesses ---- */

/* Dimension k of an access: `index`, or from there `len` elements, lie in the buffer. */
static bool check_dim(Walk *w, const At *at, const Buf *b, int k, const Expr *index, const Expr *len)
{
	Ir *ir = w->ir;
	const Expr *zero = ir_splat(ir, ir_int(ir, 0), index->type.lanes);
	const Expr *end = ir_splat(ir, b->shape[k], index->type.lanes);
	const Expr *last = len != NULL ? ir_add(ir, index, len) : index;
	if (ordered(w, zero, index, 0, at->env) && ordered(w, last, end, len == NULL, at->env))
		return true;
	Interval i = ir_interval(index, at->env);
	const char *many =
		len != NULL ? arena_printf(ir_arena(ir), ", and %.80s elements from there", shown(w, len)) : "";
	return refuse(w, at,
		"index %d of %.60s is %.120s%s, which is in %lld..%lld and not proved to stay within "
	        "0..%.60s",
		k, b->name, shown(w, index), many, (long long)i.lo, (long long)i.hi,
		shown(w, b->shape[k]));
}

static const Buf *find_buf(const At *at, const char *name)
{
	const InScope *s = at->buf;
	while (s != NULL && s->buf->name != name)
		s = s->outer;
	return s != NULL ? s->buf : NULL;
}

static bool check_access(Walk *w, const At *at, const char *buf, const Expr *const *index, int n)
{
	const Buf *b = find_buf(at, buf);
	for (int k = 0; b != NULL && k < n && k < b->rank; k++)
		if (!check_dim(w, at, b, k, index[k], NULL))
			return false;
	return (b != NULL && n == b->rank) ||
	       refuse(w, at, "there is no buffer %s of %d dimensions", buf, n);
}

/* The nodes that load, each once; the arms of a select under its condition. */
static bool check_node(Walk *w, const At *at, const Expr *e, IrMemo *seen)
{
	if (e->nargs == 0 || !has_load(w, e) || *ir_memo_at(seen, e) != NULL)
		return true;
	*ir_memo_at(seen, e) = e;
	int first = 0;
	if (e->op == IR_SELECT && e->arg[0]->type.lanes == 1) {
		if (!check_node(w, at, e->arg[0], seen))
			return false;
		for (first = 1; first <= 2; first++) {
			At arm = *at;
			if (!has_load(w, e->arg[first]))
				continue;
			arm.env = ir_range_if(w->ir, e->arg[0], first == 1, at->env);
			IrMemo *own = ir_memo_begin(w->ir);
			bool ok = check_node(w, &arm, e->arg[first], own);
			ir_memo_end(w->ir, own);
			if (!ok)
				return false;
		}
	}
	for (int i = first; i < e->nargs; i++)
		if (!check_node(w, at, e->arg[i], seen))
			return false;
	return e->op != IR_LOAD || check_access(w, at, e->name, e->arg, e->nargs);
}

static bool check_expr(Walk *w, const At *at, const Expr *e)
{
	if (e == NULL || !has_load(w, e))
		return true;
	IrMemo *seen = ir_memo_begin(w->ir);
	bool ok = check_node(w, at, e, seen);
	ir_memo_end(w->ir, seen);
	return ok;
}

static bool check_exprs(Walk *w, const At *at, const Expr *const *e, int n)
{
	bool ok = true;
	for (int i = 0; i < n && ok; i++)
		ok = check_expr(w, at, e[i]);
	return ok;
}

static bool check_write(Walk *w, const At *at, const Access *a)
{
	return check_exprs(w, at, a->idx, a->n) && check_access(w, at, a->buf, a->idx, a->n);
}

/* Every element of the shape lies within the extents of the map. */
static bool check_map(Walk *w, const At *at, const Buf *b)
{
	const IndexMap *m = &b->map;
	const Range *env = ir_range_fn(w->ir, w->fn); /* its variables may be called like loops around */
	for (int k = 0; m->n > 0 && k < m->nvar; k++)
		env = ir_range_for(w->ir, m->var[k], ir_int(w->ir, 0), b->shape[k], env);
	for (int k = 0; k < m->n; k++)
		if (!ordered(w, ir_int(w->ir, 0), m->at[k], 0, env) ||
			!ordered(w, m->at[k], m->extent[k], 1, env))
			return refuse(w, at,
				"dimension %d of the map of %.60s is %.120s, which is not proved to stay "
			        "within 0..%.60s",
				k, b->name, shown(w, m->at[k]),
				shown(w, m->extent[k]));
	return true;
}

static const InScope *with_buf(Walk *w, const Buf *b, const InScope *outer)
{
	InScope *s = arena_new_of(ir_arena(w->ir), InScope);
	*s = (InScope){ outer, b };
	return s;
}

/* ---- statements ---- */

static bool check_list(Walk *w, At at, const Stmt *s);

/* Of an iterator that stays in its domain, the ends that this gives. */
static const Range *in_domain(Walk *w, const Iter *it, const Range *env)
{
	const Range *old = ir_range_find(env, it->name);
	Interval lo = ir_interval_cached(it->lo, env, &w->cache),
		 hi = ir_interval_cached(it->hi, env, &w->cache);
	if (old == NULL || hi.hi == INT64_MIN || (lo.lo <= old->lo && hi.hi > old->hi))
		return env;
	Range *r = arena_copy(ir_arena(w->ir), old, sizeof *old);
	r->outer = env;
	r->lo = lo.lo > old->lo ? lo.lo : old->lo;
	r->hi = hi.hi - 1 < old->hi ? hi.hi - 1 : old->hi;
	return r;
}

/* Iterators are their values, which must lie in their domains: later passes rely on that. */
static bool check_block(Walk *w, At at, const Stmt *s)
{
	bool loads = false;
	const Range *env = at.env;
	at.block = s->block.name;
	for (int i = 0; i < s->block.n; i++) {
		const Iter *it = &s->block.iter[i];
		const Expr *e[3] = { it->lo, it->hi, it->value };
		if (!check_exprs(w, &at, e, 3))
			return false;
		for (int j = 0; j < 3; j++)
			loads |= has_load(w, e[j]);
	}
	if (loads)
		return refuse(w, &at, "an iterator depends on what memory holds");
	at.env = ir_range_iters(w->ir, s, env);
	if (!check_expr(w, &at, s->block.where))
		return false;
	if (s->block.where != NULL)
		at.env = fact(w, s->block.where, true, at.env);
	for (int i = 0; i < s->block.n; i++) {
		const Iter *it = &s->block.iter[i];
		const Expr *v = ir_idx(w->ir, it->name);
		if (!ordered(w, it->lo, v, 0, at.env) || !ordered(w, v, it->hi, 1, at.env)) {
			return refuse(w, &at,
				"iterator %.60s is %.120s, which is not proved to stay within %.60s..%.60s",
				it->name, shown(w, it->value), shown(w, it->lo),
				shown(w, it->hi));
		}
	}
	for (int i = 0; i < s->block.n; i++)
		at.env = in_domain(w, &s->block.iter[i], at.env);
	return check_list(w, at, s->block.init) && check_list(w, at, s->block.body);
}

static bool check_reduce(Walk *w, const At *outer, const Stmt *s)
{
	At at = *outer;
	if (!check_expr(w, &at, s->reduce.mask))
		return false;
	if (s->reduce.mask != NULL)
		at.env = fact(w, s->reduce.mask, true, at.env);
	bool ok = check_exprs(w, &at, s->reduce.value, s->reduce.n);
	for (int i = 0; i < s->reduce.n && ok; i++)
		ok = check_write(w, &at, &s->reduce.dst[i]);
	return ok;
}

/* ---- calls ---- */

static bool is_same_name(const Param *p, const CallArg *a)
{
	return p->buf == NULL && a->value->op == IR_VAR && a->value->name == p->name;
}

typedef struct Clash {
	const Range *env;
	bool found;
} Clash;

static void note_clash(const char **name, void *arg)
{
	Clash *c = arg;
	c->found |= ir_range_find(c->env, *name) != NULL;
}

static bool find_clash(Stmt *s, void *arg)
{
	if (s->kind != ST_ALLOC) /* which no Range is of */
		ir_each_declared(s, note_clash, arg);
	return !((const Clash *)arg)->found;
}

/*
 * What is known in the callee: all that is known here and what its scalars are. Where names clash
 * only the ends of the scalars are known.
 */
static const Range *enter(Walk *w, const Fn *f, const CallArg *arg, const Range *outer, bool clash)
{
	const Range *env = clash ? NULL : outer;
	for (int i = 0; i < f->nparam; i++) {
		const Param *p = &f->param[i];
		if (p->buf != NULL || (!clash && is_same_name(p, &arg[i])))
			continue;
		Interval v = ir_interval(arg[i].value, outer);
		bool plain = dtype_is_int(p->type) && p->type.lanes == 1;
		env = clash ? range_of_ends(
				      w, p->name, plain ? v.lo : INT64_MIN, plain ? v.hi : INT64_MAX, env)
		            : let(w, p->name, arg[i].value, env);
	}
	return env;
}

/* The window is in the caller's buffer, and as large as the parameter. */
static bool check_window(
	Walk *w, const At *at, const Buf *param, const CallArg *a, const Range *in, bool clash)
{
	const Buf *b = find_buf(at, a->buf);
	int dim = 0;
	for (int k = 0; b != NULL && k < a->n && k < b->rank; k++) {
		if (!check_dim(w, at, b, k, a->idx[k], a->len[k]))
			return false;
		if (a->len[k] == NULL)
			continue;
		const Expr *have = a->len[k], *want = dim < param->rank ? param->shape[dim++] : NULL;
		Interval least = ir_interval(have, at->env),
			 most = want != NULL ? ir_interval(want, in) : least;
		if (want == NULL ||
			(want != have && least.lo < most.hi && (clash || !ordered(w, want, have, 0, in))))
			return refuse(w, at, "%.60s gets %.80s elements of %.60s where it may use %.80s",
				param->name, shown(w, have), b->name,
				want != NULL ? shown(w, want) : "none");
	}
	return (b != NULL && a->n == b->rank && dim == param->rank) ||
	       refuse(w, at, "there is no such window of %s", a->buf);
}

static bool check_call(Walk *w, const At *at, const Stmt *s)
{
	const Fn *f = s->call.intrin ? ir_intrin(w->ir, s->call.fn) : ir_find_fn(w->ks, s->call.fn),
		 *caller = w->fn;
	if (f == NULL || f->nparam != s->call.n || w->calls++ >= CALLS)
		return refuse(w, at, "%s", f == NULL ? "there is no such Fn" : "there are too many calls");
	for (int i = 0; i < s->call.n; i++) {
		const CallArg *a = &s->call.arg[i];
		if (!check_expr(w, at, a->value) || !check_exprs(w, at, a->idx, a->n))
			return false;
		for (int k = 0; k < a->n; k++)
			if (!check_expr(w, at, a->len[k]))
				return false;
	}
	Clash c = { at->env, false }; /* the callee declares a name that means something else here */
	for (int i = 0; i < f->nparam; i++)
		if (f->param[i].buf == NULL && !is_same_name(&f->param[i], &s->call.arg[i]))
			c.found |= ir_range_find(at->env, f->param[i].name) != NULL;
	ir_each_stmt(f->body, find_clash, &c);
	bool clash = c.found;
	At in = { .env = enter(w, f, s->call.arg, at->env, clash), .block = at->block };
	for (int i = 0; i < f->nparam; i++) {
		const Buf *p = f->param[i].buf;
		if (p == NULL)
			continue;
		if (!check_window(w, at, p, &s->call.arg[i], in.env, clash))
			return false;
		in.buf = with_buf(w, p, in.buf);
	}
	int line = w->line;
	w->fn = f;
	bool ok = check_list(w, in, f->body);
	w->fn = caller;
	w->line = line;
	return ok;
}

static bool check_branch(Walk *w, At at, const Stmt *s, bool holds)
{
	const Stmt *body = holds ? s->branch.then : s->branch.other;
	if (body == NULL || is_never(w, s->branch.cond, holds, at.env))
		return true;
	at.env = fact(w, s->branch.cond, holds, at.env);
	return check_list(w, at, body);
}

/* A statement; *at grows by what it declares for its siblings. */
static bool check_stmt(Walk *w, At *at, const Stmt *s)
{
	At in = *at;
	w->line = s->line;
	switch (s->kind) {
	case ST_FOR:
		in.env = loop(w, s->loop.var, s->loop.lo, s->loop.hi, at->env);
		return check_expr(w, at, s->loop.lo) && check_expr(w, at, s->loop.hi) &&
		       (is_never(w, ir_lt(w->ir, s->loop.lo, s->loop.hi), true, at->env) ||
			       check_list(w, in, s->loop.body));
	case ST_BLOCK: return check_block(w, *at, s);
	case ST_STORE:
		if (!check_expr(w, &in, s->store.mask))
			return false;
		if (s->store.mask != NULL)
			in.env = fact(w, s->store.mask, true, in.env);
		return check_expr(w, &in, s->store.value) && check_write(w, &in, &s->store.dst);
	case ST_REDUCE:
		if (!check_reduce(w, at, s))
			return false;
		if (s->reduce.old != NULL)
			at->env = range_of_ends(w, s->reduce.old, INT64_MIN, INT64_MAX, at->env);
		return true;
	case ST_LET:
		at->env = let(w, s->let.var, s->let.value, at->env);
		return check_expr(w, &in, s->let.value);
	case ST_ALLOC: at->buf = with_buf(w, s->alloc, at->buf); return check_map(w, at, s->alloc);
	case ST_IF:
		return check_expr(w, at, s->branch.cond) && check_branch(w, *at, s, true) &&
		       check_branch(w, *at, s, false);
	case ST_CALL: return check_call(w, at, s);
	case ST_ASYNC: return check_list(w, in, s->async);
	default: return true;
	}
}

static bool check_list(Walk *w, At at, const Stmt *s)
{
	if (s != NULL && w->depth >= NESTED)
		return refuse(w, &at, "statements and calls nest deeper than %d", NESTED);
	bool ok = true;
	w->depth++;
	for (; s != NULL && ok; s = s->next)
		ok = check_stmt(w, &at, s);
	w->depth--;
	return ok;
}

bool ir_verify_accesses(const KernelSet *ks, Err *err)
{
	Walk w = { .ks = ks, .ir = ks->ir, .err = err };
	bool ok = true;
	w.loads = ir_memo_begin(ks->ir);
	for (size_t i = 0; i < ks->n && ok; i++) {
		const Fn *fn = w.fn = ks->fn[i];
		if (fn->kind == FN_SUB)
			continue;
		At at = { .env = ir_range_fn(w.ir, fn) };
		w.line = 0;
		for (int k = 0; k < fn->nparam && ok; k++) {
			at.buf = with_buf(&w, fn->param[k].buf, at.buf);
			ok = check_map(&w, &at, fn->param[k].buf);
		}
		ok = ok && check_list(&w, at, fn->body);
	}
	ir_memo_end(ks->ir, w.loads);
	return ok;
}
