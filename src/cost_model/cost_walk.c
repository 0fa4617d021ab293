/*
 * The walk over a Fn. It keeps the loops, names, buffers and conditions around a statement, and gives each statement
 * that costs something to the functions of a device class (analytic.c, grid.c).
 */
#include "cost_model/cost_walk.h"

#include "cost_model/cost.h"
#include "cost_model/leaf.h"
#include "cost_model/tally.h"
#include "ir/build.h"
#include "ir/walk.h"

#include <math.h>

static bool has_serial(const Stmt *s)
{
	for (; s != NULL; s = s->next)
		if ((s->kind == ST_FOR && (!leaf_is_straight(s->loop.kind) || has_serial(s->loop.body))) ||
			(s->kind == ST_BLOCK && has_serial(s->block.body)) ||
			(s->kind == ST_IF && (has_serial(s->branch.then) || has_serial(s->branch.other))))
			return true;
	return false;
}

static void walk_iterations(Walk *w, const Stmt *s, int64_t lo, int64_t n)
{
	CostNest *x = &w->nest;
	int binds = x->nbind;
	NestLoop loop = { .var = s->loop.var, .lo = lo, .n = n, .kind = s->loop.kind, .stages = s->loop.stages };
	loop.axis = ir_axis_of(s, &loop.dim);
	loop.requests = s->loop.body != NULL && s->loop.body->kind == ST_PREFETCH && s->loop.body->next == NULL;
	x->loop[x->nloop++] = loop;
	nest_bind(x, s->loop.var, NULL, lo);
	walk_list(w, s->loop.body);
	x->nloop--;
	nest_unbind(x, binds);
	x->now++;
}

static void walk_loop(Walk *w, const Stmt *s)
{
	CostNest *n = &w->nest;
	int64_t lo = 0, hi = COST_UNKNOWN;
	if (!nest_ends(n, s, &lo, &hi))
		hi = lo + COST_UNKNOWN;
	if (hi <= lo || n->nloop == NEST_LOOPS)
		return;
	if (s->loop.kind == LOOP_UNROLLED && hi - lo <= COST_APART && has_serial(s->loop.body)) {
		/* Each copy is walked alone: conditions are constant in the first and last tile of a row. */
		for (int64_t k = lo; k < hi; k++)
			walk_iterations(w, s, k, 1);
		return;
	}
	w->costs->other(w, s);
	walk_iterations(w, s, lo, hi - lo);
}

/*
 * Weighs one condition. A condition on lanes is a mask. A condition on copies of straight-line code alone removes
 * some of them. Any other one skips iterations, and costs a test where it depends on inner loops too.
 */
static void weigh(Walk *w, const Expr *cond)
{
	CostNest *n = &w->nest;
	if (cond->op == IR_AND) {
		weigh(w, cond->arg[0]);
		weigh(w, cond->arg[1]);
		return;
	}
	int64_t before;
	if (cond->op == IR_EQ && cond->arg[0]->op == IR_LOAD && ir_is_int(cond->arg[1], &before) && before >= 0) {
		w->share /= (double)before + 1; /* only the block that counts last runs it */
		return;
	}
	Condition g = { cond, nest_loops(n, cond) };
	double share = nest_share(n, &g);
	int serial = n->nloop - 1; /* the innermost serial loop */
	while (serial >= 0 && leaf_is_straight(n->loop[serial].kind))
		serial--;
	bool lanes = false, outside = false, inside = false;
	for (int l = 0; l < n->nloop; l++)
		if ((g.loops >> l & 1) != 0) {
			lanes |= n->loop[l].kind == LOOP_VECTOR;
			outside |= l <= serial;
			inside |= l > serial;
		}
	if (n->nconditions < NEST_CONDITIONS)
		n->condition[n->nconditions++] = g;
	if (share == 1)
		return;
	if (lanes)
		w->masked = true; /* all lanes take their time */
	else if (!outside)
		w->live *= share;
	else
		w->share *= share;
	if (outside && inside)
		w->tests += 1;
}

static void walk_where(Walk *w, const Expr *cond, const Stmt *s)
{
	double share = w->share, live = w->live, tests = w->tests;
	bool masked = w->masked;
	int conditions = w->nest.nconditions;
	weigh(w, cond);
	if (w->share > 0 && w->live > 0)
		walk_list(w, s);
	w->share = share;
	w->live = live;
	w->tests = tests;
	w->masked = masked;
	w->nest.nconditions = conditions;
}

/* The init runs once for each element, so loops of reduce iterators do not count. */
static void walk_init(Walk *w, const Stmt *block)
{
	CostNest *n = &w->nest;
	int64_t count[NEST_LOOPS];
	for (int l = 0; l < n->nloop; l++) {
		count[l] = n->loop[l].n;
		for (int i = 0; i < block->block.n; i++)
			if (block->block.iter[i].kind == ITER_REDUCE && nest_depends(n, block->block.iter[i].value, l))
				n->loop[l].n = 1;
	}
	walk_list(w, block->block.init);
	for (int l = 0; l < n->nloop; l++)
		n->loop[l].n = count[l];
}

static void walk_block(Walk *w, const Stmt *s)
{
	int binds = w->nest.nbind;
	for (int i = 0; i < s->block.n; i++)
		nest_bind(&w->nest, s->block.iter[i].name, s->block.iter[i].value, 0);
	if (s->block.init != NULL)
		walk_init(w, s);
	if (s->block.where != NULL)
		walk_where(w, s->block.where, s->block.body);
	else
		walk_list(w, s->block.body);
	nest_unbind(&w->nest, binds);
	w->nest.now++;
}

static void add_buf(CostNest *n, const Buf *b, int depth)
{
	if (n->nbuf < NEST_BUFS)
		n->buf[n->nbuf++] = (NestBuf){ b, depth };
	else
		n->full = true;
}

/* A sub Fn costs what its body costs at the call. Names that both Fns declare are not told apart. */
static void walk_call(Walk *w, const Stmt *s)
{
	const Fn *fn = s->call.intrin ? NULL : ir_find_fn(w->ks, s->call.fn);
	if (fn == NULL || w->calls == COST_CALLS) {
		w->costs->other(w, s);
		return;
	}
	Stmt *body = ir_clone_stmt(w->ks->ir, fn->body);
	ir_bind_params(w->ks->ir, body, fn, s->call.arg);
	w->calls++;
	walk_list(w, body);
	w->calls--;
}

void walk_one(Walk *w, const Stmt *s)
{
	switch (s->kind) {
	case ST_FOR: walk_loop(w, s); break;
	case ST_BLOCK: walk_block(w, s); break;
	case ST_STORE: w->costs->leaf(w, &s->store.dst, s->store.value, false); break;
	case ST_REDUCE:
		for (int k = 0; k < s->reduce.n; k++)
			w->costs->leaf(w, &s->reduce.dst[k], s->reduce.value[k], true);
		break;
	case ST_IF:
		walk_where(w, s->branch.cond, s->branch.then);
		if (s->branch.other != NULL)
			walk_list(w, s->branch.other);
		break;
	case ST_LET: nest_bind(&w->nest, s->let.var, s->let.value, 0); break;
	case ST_ALLOC: add_buf(&w->nest, s->alloc, w->nest.nloop); break;
	case ST_ASYNC:
		w->asyncs++;
		walk_list(w, s->async);
		w->asyncs--;
		break;
	case ST_CALL: walk_call(w, s); break;
	case ST_PREFETCH:
		if (w->tally != NULL)
			tally_prefetch(w, &s->prefetch);
		break;
	case ST_BARRIER:
	case ST_WAIT: w->costs->other(w, s); break;
	default: break;
	}
}

void walk_list(Walk *w, const Stmt *s)
{
	int binds = w->nest.nbind, bufs = w->nest.nbuf;
	for (; s != NULL; s = s->next)
		walk_one(w, s);
	nest_unbind(&w->nest, binds);
	w->nest.nbuf = bufs;
	w->nest.now++;
}

void walk_note_reads(Walk *w, const NestBuf *b, bool known, double bytes)
{
	if (b != NULL)
		w->picked[b - w->nest.buf] += known ? INFINITY : bytes;
}

double walk_cold_bytes(Walk *w, int k)
{
	const Buf *b = w->nest.buf[k].buf;
	double all = (double)nest_elements(&w->nest, b) * b->type.bits / 8;
	return w->picked[k] > 0 ? fmin(w->picked[k], all) : all; /* 0: not noted, as what intrinsics read */
}

Walk walk_begin(const KernelSet *ks, const Fn *fn, const Target *target, const WalkCosts *costs)
{
	Walk w = { .ks = ks, .target = target, .costs = costs, .share = 1, .live = 1 };
	for (int k = 0; k < fn->nsym; k++)
		nest_bind(&w.nest, fn->sym[k].name, NULL, fn->sym[k].hi);
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf != NULL)
			add_buf(&w.nest, fn->param[k].buf, -1);
	return w;
}
