/*
 * outline: loops that are alike become calls of one sub Fn, so that interior and edges share their code.
 * Whole buffers are passed, and as scalars the variables from outside, and what the loops differ in.
 *
 * No reduction or recurrence goes on from call to call, and the sub Fn shares no work among threads: so
 * what a step asks of a loop or a block in there it can read off that Fn alone. What becomes of a buffer
 * that is passed is not known in there (producer.c refuses); and a call is a statement in no block, which
 * keeps the loops around it in their order.
 */
#include "schedule/producer.h"
#include "schedule/unify.h"

#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

typedef struct Outline {
	Sched *s;
	const char *name; /* of the first loop */
	Fn *fn;           /* the loops' */
	int n;
	Stmt *loop[STEP_ARGS], *copy[STEP_ARGS];
	Unify u;
	Fn *sub;
	bool refused;
} Outline;

static void refuse(Outline *o, const char *why, const char *what)
{
	if (!o->refused)
		o->refused = !sched_refuse_for(o->s, "outline", o->name, why, what);
}

/* ---- the loops ---- */

static bool check_stmt(Stmt *s, void *arg)
{
	Outline *o = arg;
	switch (s->kind) {
	case ST_FOR:
		if (s->loop.kind != LOOP_SERIAL && s->loop.kind != LOOP_VECTOR && s->loop.kind != LOOP_UNROLLED)
			refuse(o, "loop %s is parallel, bound or pipelined", s->loop.var);
		break;
	case ST_BLOCK:
		for (int k = 0; k < s->block.n; k++)
			if (s->block.iter[k].kind == ITER_SCAN)
				refuse(o, "block %s is a recurrence", s->block.name);
		break;
	case ST_REDUCE:
		if (s->reduce.atomic)
			refuse(o, "the reduction into %s is atomic", s->reduce.dst[0].buf);
		break;
	case ST_ALLOC:
		for (int k = 0; k < s->alloc->rank; k++)
			if (s->alloc->shape[k]->op != IR_INT)
				refuse(o, "an extent of %s is not constant", s->alloc->name);
		break;
	case ST_CALL: refuse(o, "it contains a call of %s", s->call.fn); break;
	case ST_STORE:
	case ST_PREFETCH:
	case ST_LET:
	case ST_IF: break;
	default: refuse(o, "it contains an asynchronous statement or a barrier, in %s", o->fn->name);
	}
	return !o->refused;
}

static bool is_around(const Place *p, const Stmt *loop)
{
	bool found = p->loop == loop;
	for (int j = 0; j < p->naround; j++)
		found |= p->around[j] == loop;
	return found;
}

static bool find_loops(Outline *o, const Step *st)
{
	Place at[STEP_ARGS];
	for (int k = 0; k < st->n; k++) {
		if (!sched_find_loop(o->s, st->arg[k].word, &at[k]))
			return false;
		o->fn = at[0].fn;
		if (at[k].fn->kind == FN_SUB || at[k].fn != o->fn)
			refuse(o, "loop %s stands in a sub Fn, or in another Fn than the others", at[k].loop->loop.var);
		if (at[k].loop->loop.kind == LOOP_VECTOR)
			refuse(o, "loop %s is a vector loop", at[k].loop->loop.var);
		for (int j = 0; j < at[k].naround; j++) {
			const Stmt *l = at[k].around[j];
			if (l->loop.kind != LOOP_SERIAL && l->loop.kind != LOOP_PARALLEL)
				refuse(o, "loop %s around it is neither serial nor parallel", l->loop.var);
		}
	}
	for (int k = 0; k < st->n; k++)
		for (int j = 0; j < st->n; j++)
			if (j != k && is_around(&at[k], at[j].loop))
				refuse(o, "loop %s is named twice, or stands in another one of them", at[k].loop->loop.var);
	for (int k = 0; k < st->n && !o->refused; k++) {
		Stmt *next = at[k].loop->next;
		at[k].loop->next = NULL;
		o->loop[k] = at[k].loop;
		o->copy[k] = ir_clone_stmt(o->s->ir, at[k].loop);
		at[k].loop->next = next;
		ir_each_stmt(o->copy[k], check_stmt, o);
	}
	o->n = st->n;
	if (nest_expr_depth(at[0].loop->loop.body) + 2 > IR_MAX_DEPTH)
		refuse(o, "indices would be nested too deeply in %s", o->fn->name);
	return !o->refused;
}

/* ---- the sub Fn ---- */

static bool has_param(const Fn *fn, const char *name)
{
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].name == name)
			return true;
	return false;
}

/* Read-only where the caller's buffer is; else anything may be in it, and stays. */
static void take_used(const IrUse *use, void *arg)
{
	Outline *o = arg;
	const Buf *b = ir_find_buf(o->fn, use->buf);
	bool fixed = b != NULL && b->rank > 0;
	if (use->kind == USE_WINDOW || unify_is_declared(&o->u, use->buf) || has_param(o->sub, use->buf))
		return; /* check_stmt refuses calls, whose windows these are */
	for (int k = 0; fixed && k < b->rank; k++)
		fixed = b->shape[k]->op == IR_INT;
	if (!fixed) {
		refuse(o, "buffer %s has no dimensions, or an extent that is not constant", use->buf);
		return;
	}
	Buf *own = arena_copy(ir_arena(o->s->ir), b, sizeof *b);
	own->role = b->role == BUF_IN || b->role == BUF_CONST ? b->role : BUF_INOUT;
	own->map = (IndexMap){ 0 };
	own->streamed = false; /* only an output of a run Fn is */
	ir_fn_add_buf(o->s->ir, o->sub, own);
}

static void take_var(const Expr *e, void *arg)
{
	Outline *o = arg;
	if (e->op != IR_VAR || unify_is_inside(&o->u, e->name) || has_param(o->sub, e->name))
		return;
	if (e->type.lanes != 1)
		refuse(o, "variable %s comes from outside and is a vector", e->name);
	ir_fn_add_scalar(o->s->ir, o->sub, e->name, e->type);
}

typedef struct Reduces {
	Outline *o;
	const char *block;
} Reduces;

static void check_var(const Expr *e, void *arg)
{
	const Reduces *r = arg;
	if (e->op == IR_VAR && !unify_is_inside(&r->o->u, e->name))
		refuse(r->o, "the reduction of block %s goes on outside of it", r->block);
}

static bool check_reduces(Stmt *s, void *arg)
{
	Reduces r = { arg, s->kind == ST_BLOCK ? s->block.name : NULL };
	for (int k = 0; s->kind == ST_BLOCK && k < s->block.n; k++)
		if (s->block.iter[k].kind == ITER_REDUCE)
			ir_each_node(s->block.iter[k].value, check_var, &r);
	return true;
}

/* ---- the calls ---- */

static void call_instead(Outline *o, int loop)
{
	Ir *ir = o->s->ir;
	Stmt *call = ir_stmt(ir, ST_CALL), *next = o->loop[loop]->next;
	call->call.fn = o->sub->name;
	call->call.n = o->sub->nparam;
	call->call.arg = arena_array(ir_arena(ir), CallArg, o->sub->nparam + 1);
	for (int k = 0; k < o->sub->nparam; k++) {
		const Param *p = &o->sub->param[k];
		CallArg *a = &call->call.arg[k];
		if (p->buf == NULL) {
			a->value = ir_var(ir, p->name, p->type);
			for (int j = 0; j < o->u.nscalar; j++)
				if (o->u.scalar[j] == p->name)
					a->value = o->u.value[j][loop];
			continue;
		}
		int rank = p->buf->rank;
		*a = (CallArg){ .buf = p->buf->name, .n = rank };
		a->idx = arena_array(ir_arena(ir), const Expr *, rank);
		a->len = arena_array(ir_arena(ir), const Expr *, rank);
		for (int d = 0; d < rank; d++) {
			a->idx[d] = ir_int(ir, 0);
			a->len[d] = p->buf->shape[d];
		}
	}
	*o->loop[loop] = *call;
	o->loop[loop]->next = next;
}

/* Needs: loops that are alike, with all of their reductions. Breaks: the loops but for the first, now in the sub Fn. */
bool prim_outline(Sched *s, const Step *st)
{
	Outline o = { .s = s, .name = ir_name(s->ir, st->arg[0].word) };
	if (!find_loops(&o, st))
		return false;
	const char *name = sched_name(s, st, 0, "%s.fn", o.name);
	o.u = (Unify){ .ir = s->ir, .fn = o.fn, .stem = o.name, .n = o.n };
	if (ir_find_fn(s->ks, name) != NULL || strlen(name) > TRACE_NAME)
		refuse(&o, "the new name %s is too long or already in use", name);
	if (!o.refused && !unify(&o.u, o.copy))
		refuse(&o, o.u.why, o.u.what);
	if (o.refused)
		return false;
	o.sub = ir_fn(s->ir, name, FN_SUB);
	o.sub->body = o.copy[0];
	ir_each_stmt(o.sub->body, check_reduces, &o);
	ir_each_use(o.sub->body, take_used, &o);
	ir_each_node_in(o.sub->body, take_var, &o);
	if (o.refused)
		return false;
	for (int k = 0; k < o.n; k++)
		call_instead(&o, k);
	ir_set_add(s->ks, o.sub);
	return true;
}
