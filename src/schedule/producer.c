/* See producer.h. Walks only; what is read where is derived, never declared. */
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/query.h"
#include "ir/simplify/simplify.h"

#include <string.h>

const char *producer_stem(const Iter *it)
{
	return it->name[0] == 'v' && it->name[1] != 0 ? it->name + 1 : it->name;
}

const Expr *producer_narrow(Ir *ir, const Expr *e, DType type)
{
	if (dtype_eq(e->type, type))
		return e;
	if (e->op == IR_CAST)
		return dtype_eq(e->arg[0]->type, type) ? e->arg[0] : NULL;
	if (e->op == IR_INT || e->op == IR_FLOAT) {
		const Expr *c = ir_const(ir, type, e->op == IR_INT ? (double)e->i : e->f);
		return ir_simplify(ir, ir_cast(ir, e->type, c), NULL) == e ? c : NULL;
	}
	if (e->op != IR_SELECT)
		return NULL;
	const Expr *a = producer_narrow(ir, e->arg[1], type), *b = producer_narrow(ir, e->arg[2], type);
	return a != NULL && b != NULL ? ir_select(ir, e->arg[0], a, b) : NULL;
}

bool producer_is_param(const Fn *fn, const char *buf)
{
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf != NULL && strcmp(fn->param[k].buf->name, buf) == 0)
			return true;
	return false;
}

Stmt *producer_copy_nest(Ir *ir, const char *block, const Buf *from, const Buf *to, const char *const *loop)
{
	Iter it[IR_MAX_RANK];
	const Expr *at[IR_MAX_RANK];
	for (int k = 0; k < from->rank; k++) {
		const char *name = ir_name(ir, arena_printf(ir_arena(ir), "v%s", loop[k]));
		it[k] = (Iter){ name, ITER_SPATIAL, ir_int(ir, 0), from->shape[k], ir_idx(ir, loop[k]) };
		at[k] = ir_idx(ir, name);
	}
	Stmt *store = ir_store(ir, to, at, from->rank, ir_load(ir, from, at, from->rank));
	Stmt *nest = ir_block(ir, block, it, from->rank, NULL, NULL, store);
	for (int k = from->rank - 1; k >= 0; k--)
		nest = ir_for(ir, loop[k], ir_int(ir, 0), from->shape[k], LOOP_SERIAL, nest);
	return nest;
}

/*
 * min(p, q) is neither above p nor q, max(p, q) below neither; and x - min(p, q) is the larger one of
 * x - p and x - q. Taken apart like this, what both ends have in common goes away. A select is one of its arms.
 */
int64_t producer_most(Ir *ir, const Expr *hi, const Expr *lo, const Range *env)
{
	bool of_hi = hi->op == IR_MIN, of_lo = lo->op == IR_MAX;
	int64_t all = ir_interval(ir_simplify(ir, ir_sub(ir, hi, lo), env), env).hi;
	if (lo->op == IR_MIN && of_hi) {
		int64_t a = producer_most(ir, hi, lo->arg[0], env), b = producer_most(ir, hi, lo->arg[1], env);
		int64_t apart = a > b ? a : b;
		return apart < all ? apart : all;
	}
	if (lo->op == IR_SELECT) {
		int64_t a = producer_most(ir, hi, lo->arg[1], ir_range_if(ir, lo->arg[0], true, env));
		int64_t b = producer_most(ir, hi, lo->arg[2], ir_range_if(ir, lo->arg[0], false, env));
		int64_t apart = a > b ? a : b;
		return apart < all ? apart : all;
	}
	if (!of_hi && !of_lo)
		return all;
	int64_t a = of_hi ? producer_most(ir, hi->arg[0], lo, env) : producer_most(ir, hi, lo->arg[0], env);
	int64_t b = of_hi ? producer_most(ir, hi->arg[1], lo, env) : producer_most(ir, hi, lo->arg[1], env);
	int64_t least = a < b ? a : b;
	return least < all ? least : all;
}

/* ---- the producer ---- */

typedef struct Indexing {
	Producer *p;
	bool plain, first;
} Indexing;

static void see_use(const IrUse *use, void *arg)
{
	Indexing *x = arg;
	bool access = use->kind == USE_LOAD || use->kind == USE_STORE || use->kind == USE_REDUCE;
	if (!access || strcmp(use->buf, x->p->buf->name) != 0)
		return;
	for (int k = 0; k < use->n; k++) {
		const Stmt *b = x->p->at.block;
		int it = -1; /* the spatial iterator that the index is */
		for (int j = b->block.n - 1; use->idx[k]->op == IR_VAR && j >= 0; j--)
			if (b->block.iter[j].name == use->idx[k]->name && b->block.iter[j].kind == ITER_SPATIAL)
				it = j;
		int64_t constant;
		if ((it < 0 && !ir_is_int(use->idx[k], &constant)) || (!x->first && it != x->p->iter_of[k]))
			x->plain = false;
		x->p->iter_of[k] = it;
	}
	x->first = false;
}

/*
 * Element (i, j, ..) is made by the instance whose iterators are (i, j, ..), for all of the buffer,
 * but for dimensions of which each instance makes all that are made.
 */
static bool covers(Producer *p)
{
	Stmt *b = p->at.block;
	Indexing x = { p, true, true };
	int moving = 0;
	ir_each_use_below(b, see_use, &x);
	for (int k = 0; k < p->buf->rank; k++)
		moving += p->iter_of[k] >= 0;
	p->fixed = moving < p->buf->rank;
	for (int k = 0, spatial = 0; x.plain && k < b->block.n; k++) {
		spatial += b->block.iter[k].kind == ITER_SPATIAL;
		p->steps |= b->block.iter[k].kind == ITER_SCAN;
		x.plain = k + 1 < b->block.n || spatial == moving;
	}
	for (int k = 0; x.plain && k < p->buf->rank; k++) {
		if (p->iter_of[k] < 0)
			continue;
		const Iter *it = &b->block.iter[p->iter_of[k]];
		x.plain = ir_is_const(it->lo, 0) && it->hi == p->buf->shape[k];
		for (int j = 0; j < k; j++)
			x.plain = x.plain && p->iter_of[j] != p->iter_of[k];
	}
	return x.plain;
}

/* No loop of its own is a step: its scan iterators are the same in all of them. */
static bool scans_around(const Producer *p)
{
	const Stmt *b = p->at.block;
	for (const Stmt *l = *p->top; l != b; l = l->loop.body)
		for (int k = 0; k < b->block.n; k++)
			if (b->block.iter[k].kind == ITER_SCAN && ir_uses_var(b->block.iter[k].value, l->loop.var))
				return false;
	return true;
}

static bool find_maker(Sched *s, const char *what, const char *name, Producer *p)
{
	*p = (Producer){ 0 };
	if (!sched_find_block(s, name, &p->at))
		return false;
	Stmt *b = p->at.block;
	const char *why, *buf = producer_writes(b, &why);
	if (buf == NULL)
		return sched_refuse(s, what, name, why);
	p->buf = ir_find_buf(p->at.fn, buf);
	if (p->at.fn->kind == FN_SUB && producer_is_param(p->at.fn, buf))
		return sched_refuse_for(s, what, name, "it stands in a sub Fn, which may not make all of %s", buf);
	if (b->block.where != NULL)
		return sched_refuse(s, what, name, "it has a predicate: apply this before its loops are split");
	if (!covers(p))
		return sched_refuse_for(s, what, name, "its iterators must be the indices of %s, one each", buf);
	Touch all = producer_touches(p->at.fn->body, buf);
	if (all.strange || all.hints > 0)
		return sched_refuse_for(s, what, name, "a call, a prefetch or an atomic statement uses %s", buf);
	if (producer_touches(p->at.fn->body, buf).writes != producer_touches_one(b, buf).writes)
		return sched_refuse_for(s, what, name, "another block writes %s", buf);
	Stmt *inner = b; /* the loops around the block that hold nothing else */
	p->top = p->at.link;
	for (int k = p->at.naround - 1; k >= 0 && p->at.around[k]->loop.body == inner && inner->next == NULL; k--) {
		inner = p->at.around[k];
		p->top = ir_link_to(&p->at.fn->body, inner);
	}
	int own = 0; /* loops around the block's own ones, which may bound one of these (see ring) */
	while (own < p->at.naround && p->at.around[own] != *p->top)
		own++;
	for (int k = own; k < p->at.naround; k++)
		for (int j = 0; j < own; j++) {
			const Stmt *inside = p->at.around[k];
			const char *outer = p->at.around[j]->loop.var;
			if (ir_uses_var(inside->loop.lo, outer) || ir_uses_var(inside->loop.hi, outer))
				return sched_refuse_for(s, what, name, "loop %s bounds the part that it makes", outer);
		}
	return scans_around(p) || sched_refuse(s, what, name, "its own loops are the steps of a scan");
}

static bool refuse_steps(Sched *s, const char *what, const char *name, const Producer *p)
{
	return !p->steps || sched_refuse(s, what, name, "it makes a buffer anew in each step of a scan");
}

/* One block writes all of the buffer, of any role, and no other block writes it. */
bool producer_find_maker(Sched *s, const char *what, const char *name, Producer *p)
{
	return find_maker(s, what, name, p) && refuse_steps(s, what, name, p);
}

static bool names_loop(const Expr *e, void *var)
{
	return e->op == IR_VAR && strcmp(e->name, var) == 0;
}

/* Its loops may go: only the values of its iterators name them. */
static bool may_lose_loops(Sched *s, const char *what, const char *name, const Producer *p)
{
	const Stmt *b = p->at.block;
	for (const Stmt *l = *p->top; l != b; l = l->loop.body) {
		void *var = (void *)(uintptr_t)l->loop.var;
		if (ir_find_node_in(b->block.init, names_loop, var) != NULL ||
			ir_find_node_in(b->block.body, names_loop, var) != NULL)
			return sched_refuse_for(s, what, name, "it uses loop %s itself, not by an iterator", l->loop.var);
	}
	return true;
}

/* And nobody outside of the Fn sees the buffer. */
bool producer_find_step(Sched *s, const char *what, const char *name, Producer *p)
{
	if (!find_maker(s, what, name, p))
		return false;
	bool visible = p->buf->role != BUF_WORK;
	for (size_t k = 0; k < s->ks->n; k++)
		visible |= s->ks->fn[k] != p->at.fn && producer_is_param(s->ks->fn[k], p->buf->name);
	if (visible)
		return sched_refuse_for(s, what, name, "its buffer %s is visible outside of the Fn", p->buf->name);
	p->alloc = producer_is_param(p->at.fn, p->buf->name) ? NULL : ir_find_alloc(&p->at.fn->body, p->buf->name);
	return may_lose_loops(s, what, name, p);
}

bool producer_find(Sched *s, const char *what, const char *name, Producer *p)
{
	return producer_find_step(s, what, name, p) && refuse_steps(s, what, name, p);
}

/* ---- what the block reads stays as it is until the consumers have run ---- */

typedef struct Changes {
	Ir *ir;
	const Producer *p;
	const Expr *load; /* of the producer */
	const Stmt *block; /* behind it, which is looked at */
	bool found;
} Changes;

/* Whether the write leaves what the load reads as it is. */
static bool is_apart(const Access *at, void *arg)
{
	const Changes *c = arg;
	AccessIn read = { c->p->at.block, c->load->arg, c->load->nargs }, write = { c->block, at->idx, at->n };
	return c->block != NULL && producer_apart(c->ir, *c->p->top, read, write);
}

static bool look_for_writes(Stmt *s, void *arg)
{
	Changes *c = arg;
	if (s->kind == ST_BLOCK)
		c->block = s;
	bool stores = s->kind == ST_STORE && strcmp(s->store.dst.buf, c->load->name) == 0;
	c->found |= stores && !is_apart(&s->store.dst, c);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		c->found |= strcmp(s->reduce.dst[k].buf, c->load->name) == 0 && !is_apart(&s->reduce.dst[k], c);
	return !c->found;
}

/* A load of another buffer that is written behind the producer, not apart from it. */
static bool changes(const Expr *e, void *arg)
{
	Changes *c = arg;
	if (e->op != IR_LOAD || strcmp(e->name, c->p->buf->name) == 0)
		return false;
	Stmt *behind = (*c->p->top)->next;
	Touch t = producer_touches(behind, e->name);
	if (t.writes == 0 || t.strange)
		return t.strange;
	c->load = e;
	c->block = NULL;
	c->found = false;
	ir_each_stmt(behind, look_for_writes, c);
	return c->found;
}

bool producer_inputs_stay(Sched *s, const char *what, const char *name, const Producer *p)
{
	Changes c = { .ir = s->ir, .p = p };
	const Expr *load = ir_find_node_in(p->at.block->block.init, changes, &c);
	if (load == NULL)
		load = ir_find_node_in(p->at.block->block.body, changes, &c);
	return load == NULL ||
	       sched_refuse_for(s, what, name, "a statement behind it writes %s, which it reads", load->name);
}

void producer_drop_buffer(Producer *p)
{
	Fn *fn = p->at.fn;
	int n = 0;
	if (p->alloc != NULL) {
		Stmt **link = ir_find_alloc(&fn->body, p->buf->name);
		*link = (*link)->next;
		return;
	}
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf != p->buf)
			fn->param[n++] = fn->param[k];
	fn->nparam = n;
}
