/*
 * The primitive that puts an instruction in place of the loops that it is. The meaning of the instruction is a
 * sub Fn (ir/text/intrin.def); the nest is compared with it, loop by loop and node by node, and what it reads and
 * writes becomes the windows that the parameters stand for. Nothing is proved beyond that: where the nest is
 * the meaning, letter by letter up to names and the sides of what commutes, they compute the same.
 *
 * A block stays one, with an iterator for each loop around it that its iterators followed.
 */
#include "schedule/sched.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/text/intrin.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

enum { NEST = 8, PARAMS = 8 }; /* loops and parameters of an instruction */

typedef struct Match {
	Sched *s;
	const Fn *fn, *meaning;
	int n, nparam;
	const Stmt *want[NEST], *have[NEST]; /* the meaning's loops and the nest's */
	Stmt *block;                         /* that stands in the loops; NULL: none */
	const Range *env;                    /* what holds in the loops */
	CallArg arg[PARAMS];                 /* buf == NULL: not met yet */
	const char *why, *buf;               /* a window that is none, and of which buffer; NULL: no such */
} Match;

/* ---- the nest is the meaning ---- */

static const Expr *put_value(Ir *ir, const Expr *e, void *arg)
{
	const Stmt *block = arg;
	(void)ir;
	for (int k = 0; e->op == IR_VAR && k < block->block.n; k++)
		if (strcmp(block->block.iter[k].name, e->name) == 0)
			return block->block.iter[k].value;
	return e;
}

/* e, of the block, in the loops' variables. */
static const Expr *in_loops(const Match *m, const Expr *e)
{
	return m->block == NULL ? e : ir_map_expr(m->s->ir, e, put_value, m->block);
}

/* The loop of the nest whose variable e uses; -1: none, -2: several. */
static int loop_of(const Match *m, const Expr *e)
{
	int found = -1;
	for (int k = 0; k < m->n; k++)
		if (ir_uses_var(e, m->have[k]->loop.var))
			found = found == -1 ? k : -2;
	return found;
}

/*
 * Dimension d of a buffer indexed by e: where it begins, and whether it is open, with stride 1 in the loop
 * that stands for the meaning's index `want`; NULL: it has no more open ones.
 */
static bool match_dimension(Match *m, const Expr *e, const Expr *want, const Expr **base, bool *open)
{
	Ir *ir = m->s->ir;
	int k = loop_of(m, e);
	*open = k != -1;
	*base = ir_simplify(ir, e, m->env);
	if (k == -1)
		return true;
	if (k < 0 || want == NULL || want->op != IR_VAR || strcmp(want->name, m->want[k]->loop.var) != 0)
		return false;
	const Stmt *l = m->have[k];
	const Expr *first = ir_subst(ir, e, l->loop.var, l->loop.lo),
			   *step = ir_sub(ir, ir_idx(ir, l->loop.var), l->loop.lo);
	*base = ir_simplify(ir, first, m->env);
	return ir_is_const(ir_simplify(ir, ir_sub(ir, e, ir_add(ir, first, step)), m->env), 0);
}

static bool same_window(const CallArg *a, const CallArg *b)
{
	bool same = strcmp(a->buf, b->buf) == 0 && a->n == b->n;
	for (int k = 0; same && k < a->n; k++)
		same = a->idx[k] == b->idx[k] && a->len[k] == b->len[k];
	return same;
}

/* The parameter, indexed as in the meaning by `want`, is a window of the buffer, indexed by idx in the nest. */
static bool match_window(Match *m, int p, const Expr *const *want, const char *buf, const Expr *const *idx, int n)
{
	const Buf *param = m->meaning->param[p].buf, *b = ir_find_buf(m->fn, buf);
	Arena *a = ir_arena(m->s->ir);
	CallArg x = { buf, n, arena_array(a, const Expr *, n + 1), arena_array(a, const Expr *, n + 1), NULL };
	int dim = 0;
	m->buf = buf;
	m->why = "%s does not have the type or scope of the instruction's operand";
	if (b == NULL || !dtype_eq(b->type, param->type) ||
		(strcmp(param->scope, "global") != 0 && strcmp(b->scope, param->scope) != 0))
		return false;
	m->why = "the dimensions of %s must be those of the instruction's operand, each with stride 1";
	for (int k = 0; k < n; k++) {
		bool open;
		if (!match_dimension(m, in_loops(m, idx[k]), dim < param->rank ? want[dim] : NULL, &x.idx[k], &open))
			return false;
		x.len[k] = open ? param->shape[dim++] : NULL;
	}
	if (dim != param->rank || (m->arg[p].buf != NULL && !same_window(&x, &m->arg[p])))
		return false;
	m->arg[p] = x;
	m->why = m->buf = NULL;
	return true;
}

static int param_of(const Match *m, const char *name)
{
	for (int k = 0; k < m->nparam; k++)
		if (strcmp(m->meaning->param[k].name, name) == 0)
			return k;
	return -1;
}

static bool commutes(Node op)
{
	return op == IR_ADD || op == IR_MUL || op == IR_MIN || op == IR_MAX || op == IR_AND || op == IR_OR ||
	       op == IR_XOR || op == IR_EQ || op == IR_NE;
}

static bool match_expr(Match *m, const Expr *want, const Expr *have);

static bool match_args(Match *m, const Expr *want, const Expr *have, bool swap)
{
	for (int k = 0; k < want->nargs; k++)
		if (!match_expr(m, want->arg[k], have->arg[swap ? 1 - k : k]))
			return false;
	return true;
}

static bool match_expr(Match *m, const Expr *want, const Expr *have)
{
	if (want->op == IR_VAR)
		have = in_loops(m, have);
	if (want->op != have->op || !dtype_eq(want->type, have->type))
		return false;
	if (want->op == IR_LOAD)
		return match_window(m, param_of(m, want->name), want->arg, have->name, have->arg, have->nargs);
	if (want->op == IR_VAR)
		for (int k = 0; k < m->n; k++)
			if (strcmp(want->name, m->want[k]->loop.var) == 0)
				return strcmp(have->name, m->have[k]->loop.var) == 0;
	if (want->nargs == 0)
		return want == have; /* constants of one Ir */
	if (want->nargs != have->nargs)
		return false;
	Match before = *m;
	if (match_args(m, want, have, false))
		return true;
	if (!commutes(want->op))
		return false;
	Match first = *m;
	*m = before;
	if (match_args(m, want, have, true))
		return true;
	*m = first; /* its reason is that of the order in which it is written */
	return false;
}

static bool match_access(Match *m, const Access *want, const Access *have)
{
	return match_window(m, param_of(m, want->buf), want->idx, have->buf, have->idx, have->n);
}

static bool match_stmt(Match *m, const Stmt *want, const Stmt *have)
{
	if (want->kind != have->kind || have->next != NULL)
		return false;
	if (want->kind == ST_STORE)
		return have->store.mask == NULL && match_access(m, &want->store.dst, &have->store.dst) &&
			match_expr(m, want->store.value, have->store.value);
	return have->kind == ST_REDUCE && have->reduce.n == 1 && have->reduce.mask == NULL && !have->reduce.atomic &&
		strcmp(have->reduce.monoid, want->reduce.monoid) == 0 &&
		match_access(m, &want->reduce.dst[0], &have->reduce.dst[0]) &&
		match_expr(m, want->reduce.value[0], have->reduce.value[0]);
}

/* Goes down both nests, side by side; the statements at the bottom, or NULL and why they are not alike. */
static const Stmt *match_loops(Match *m, Stmt *nest, const Stmt **want)
{
	const Stmt *w = m->meaning->body;
	Stmt *h = nest;
	int64_t x, y;
	m->why = "its loops must be those of instruction %s, nested alike";
	for (;; h = h->kind == ST_FOR ? h->loop.body : h->block.body) {
		if (h == NULL || (h != nest && h->next != NULL))
			return NULL;
		if (h->kind == ST_BLOCK && m->block == NULL) {
			m->block = h;
			continue;
		}
		if (w->kind != ST_FOR || h->kind != ST_FOR)
			break;
		bool sequential =
			h->loop.kind == LOOP_SERIAL || h->loop.kind == LOOP_UNROLLED || h->loop.kind == LOOP_VECTOR;
		if (m->n == NEST || !sequential || !nest_extent(w, &x) || !nest_extent(h, &y) || x != y)
			return NULL;
		m->want[m->n] = w;
		m->have[m->n++] = h;
		m->env = ir_range_for(m->s->ir, h->loop.var, h->loop.lo, h->loop.hi, m->env);
		w = w->loop.body;
	}
	*want = w;
	if (w->kind == ST_FOR || h->kind == ST_FOR)
		return NULL;
	m->why = NULL;
	return h;
}

/* What the instruction writes is none of its other operands, and each operand has been met. */
static bool operands_apart(const Match *m)
{
	for (int k = 0; k < m->nparam; k++)
		for (int j = 0; j < m->nparam; j++) {
			const Buf *b = m->meaning->param[k].buf;
			bool writes = b->role == BUF_OUT || b->role == BUF_INOUT;
			if (m->arg[k].buf == NULL || (j != k && writes && strcmp(m->arg[k].buf, m->arg[j].buf) == 0))
				return false;
		}
	return true;
}

/* ---- what takes its place ---- */

/* Which iterators of the block follow the variable; -1: none, -2: of several kinds. */
static int kind_of_loop(const Stmt *block, const char *var)
{
	int kind = -1;
	for (int k = 0; k < block->block.n; k++) {
		const Iter *it = &block->block.iter[k];
		if (ir_uses_var(it->value, var))
			kind = kind == -1 || kind == (int)it->kind ? (int)it->kind : -2;
	}
	return kind;
}

static bool is_free(const Match *m, const char *name, const Iter *made, int n)
{
	bool own = false; /* the block's own iterators go */
	for (int k = 0; k < n; k++)
		if (made[k].name == name)
			return false;
	for (int k = 0; k < m->block->block.n; k++)
		own |= m->block->block.iter[k].name == name;
	return own || !nest_has_name(m->fn, name);
}

/* "v" and the loop's name; where that is taken, .2 or so behind it. */
static const char *iter_name(Match *m, const Stmt *loop, const Iter *made, int n)
{
	Ir *ir = m->s->ir;
	const char *name = ir_name(ir, arena_printf(ir_arena(ir), "v%s", loop->loop.var)), *first = name;
	for (int k = 2; !is_free(m, name, made, n); k++)
		name = ir_name(ir, arena_printf(ir_arena(ir), "%s.%d", first, k));
	return name;
}

/* Iterators of the loops around; their number, or -1 and a refusal. */
static int outer_iters(Match *m, const Place *l, Iter *out)
{
	Sched *s = m->s;
	const char *nest = l->loop->loop.var;
	int n = 0;
	for (int k = 0; k < l->naround; k++) {
		const Stmt *o = l->around[k];
		int64_t extent;
		int kind = kind_of_loop(m->block, o->loop.var);
		const char *why = NULL;
		if (kind == -1)
			continue;
		if (kind == -2 || kind == ITER_SCAN)
			why = "several kinds of iterators, or a recurrence, depend on loop %s";
		else if (nest_folds(m->block, o->loop.var))
			why = "tiles of loop %s overlap";
		else if (!nest_extent(o, &extent))
			why = "the extent of loop %s is not constant";
		if (why != NULL) {
			sched_refuse_for(s, "tensorize", nest, why, o->loop.var);
			return -1;
		}
		const char *name = iter_name(m, o, out, n);
		out[n++] = (Iter){ name, (IterKind)kind, o->loop.lo, o->loop.hi, ir_idx(s->ir, o->loop.var) };
	}
	return n;
}

static Stmt *call_of(Match *m)
{
	Stmt *c = ir_stmt(m->s->ir, ST_CALL);
	c->call.fn = m->meaning->name;
	c->call.intrin = true;
	c->call.n = m->nparam;
	c->call.arg = arena_copy(ir_arena(m->s->ir), m->arg, sizeof *m->arg * (size_t)m->nparam);
	return c;
}

/* The call in what is left of the block; NULL: a refusal. */
static Stmt *block_of(Match *m, const Place *l)
{
	Ir *ir = m->s->ir;
	Iter *iter = arena_array(ir_arena(ir), Iter, l->naround + 1);
	const Expr *where = m->block->block.where;
	int n = outer_iters(m, l, iter);
	if (n < 0)
		return NULL;
	/* The predicate says nothing of the loops of the nest; NULL: it holds. */
	where = where == NULL || ir_always(where, m->env) ? NULL : ir_simplify(ir, where, m->env);
	if (where != NULL && loop_of(m, where) != -1) {
		sched_refuse_for(m->s, "tensorize", l->loop->loop.var,
			"a predicate of block %s leaves out some of its iterations", m->block->block.name);
		return NULL;
	}
	Stmt *call = call_of(m);
	for (int k = 0; k < n; k++)
		ir_subst_stmt(ir, call, iter[k].value->name, ir_idx(ir, iter[k].name));
	return ir_block(ir, m->block->block.name, iter, n, where, NULL, call);
}

static bool may_tensorize(Sched *s, const Place *l, const char *word)
{
	const char *name = l->loop->loop.var;
	const IrIntrin *row = ir_find_intrin(word);
	if (row == NULL)
		return sched_refuse_for(s, "tensorize", name, "there is no intrinsic %s", word);
	if (!target_has_named(s->target, row->feature))
		return sched_refuse_for(
			s, "tensorize", name, "the target lacks feature %s, which the instruction requires", row->feature);
	for (int k = 0; k < l->naround; k++)
		if (l->around[k]->loop.kind == LOOP_VECTOR)
			return sched_refuse_for(
				s, "tensorize", name, "it stands in loop %s, which is a vector", l->around[k]->loop.var);
	return true;
}

/* Needs: a nest that is the meaning of W, its init taken out.  Breaks: the nest's loops; the block's iterators. */
bool prim_tensorize(Sched *s, const Step *st)
{
	Place l;
	const char *word = st->arg[1].word;
	if (!sched_find_loop(s, st->arg[0].word, &l) || !may_tensorize(s, &l, word))
		return false;
	const char *name = l.loop->loop.var;
	Match m = { .s = s, .fn = l.fn, .meaning = ir_intrin(s->ir, word), .env = ir_range_at(s->ir, l.fn, l.loop) };
	m.nparam = m.meaning->nparam;
	if (m.nparam > PARAMS)
		return sched_refuse_for(s, "tensorize", name, "%s has too many operands", word);
	const Stmt *want, *have = match_loops(&m, l.loop, &want);
	if (have == NULL)
		return sched_refuse_for(s, "tensorize", name, m.why, word);
	if (m.block != NULL && m.block->block.init != NULL)
		return sched_refuse_for(s, "tensorize", name, "block %s still has its init: apply decompose_init first",
			m.block->block.name);
	if (!match_stmt(&m, want, have))
		return sched_refuse_for(s, "tensorize", name,
			m.why != NULL ? m.why : "the statement in its loops is not that of %s", m.buf != NULL ? m.buf : word);
	if (!operands_apart(&m))
		return sched_refuse_for(s, "tensorize", name, "an operand of %s is missing, or both read and written", word);
	Stmt *call = m.block != NULL ? block_of(&m, &l) : call_of(&m);
	if (call == NULL)
		return false;
	call->next = l.loop->next;
	*l.link = call;
	return true;
}
