/*
 * The primitive that lays out what a block reads by the block's own iterators: an explicit im2col. Whatever
 * the index was, behind it the access is a plain one, such as tensorize wants; the copy is a block of its own,
 * which may move to where it is needed (compute_at). A value under select (padding) is copied select and all,
 * so that nothing is read that was not read before; in the tensor's own type, where the select is of casts of it.
 */
#include "schedule/producer.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

typedef struct Reindex {
	const Buf *buf; /* T */
	const Stmt *block;
	const Expr *value; /* T's load, or the outermost select around it that reads nothing else; NULL: none yet */
	const Expr *copied; /* that value, or what it is a cast of, in T's type */
	const char *why;   /* what is wrong; NULL: nothing */
	IrMemo *seen;      /* expressions share parts */
	int rank;
	const Iter *iter[IR_MAX_RANK]; /* those that the value depends on, in the block's order */
	int64_t extent[IR_MAX_RANK];
	Buf *copy;
} Reindex;

/* ---- what is copied ---- */

typedef struct Loads {
	const char *buf;
	bool own, other;
} Loads;

static void see_load(const Expr *e, void *arg)
{
	Loads *l = arg;
	bool own = e->op == IR_LOAD && strcmp(e->name, l->buf) == 0;
	l->own |= own;
	l->other |= e->op == IR_LOAD && !own;
}

/* The value that the copy holds, where e is T's load or a select of T's elements; else it is sought below. */
static void find_value(const Expr *e, void *arg)
{
	Reindex *r = arg;
	Loads l = { .buf = r->buf->name };
	const Expr **seen = ir_memo_at(r->seen, e);
	if (*seen != NULL)
		return;
	*seen = e;
	ir_each_node(e, see_load, &l);
	if (!l.own)
		return;
	if (!(e->op == IR_LOAD && strcmp(e->name, r->buf->name) == 0) && !(e->op == IR_SELECT && !l.other)) {
		for (int k = 0; k < e->nargs; k++)
			find_value(e->arg[k], r);
		return;
	}
	if (r->value != NULL && r->value != e)
		r->why = "that block reads it in several ways";
	if (e->op == IR_LOAD && l.other)
		r->why = "its index comes from another buffer";
	if (e->type.lanes != 1)
		r->why = "that block reads vectors of it";
	r->value = e;
}

static bool find_values(Stmt *s, void *arg)
{
	ir_each_expr(s, find_value, arg);
	return true;
}

static void check_var(const Expr *e, void *arg)
{
	Reindex *r = arg;
	bool found = e->op != IR_VAR;
	for (int k = 0; k < r->block->block.n; k++)
		found |= e->op == IR_VAR && strcmp(r->block->block.iter[k].name, e->name) == 0;
	if (!found)
		r->why = "its index depends on more than iterators of that block";
}

/* The iterators that the value depends on, and what they index. */
static void find_iters(Reindex *r)
{
	int64_t lo, hi, elements = 1;
	ir_each_node(r->value, check_var, r);
	for (int k = 0; r->why == NULL && k < r->block->block.n; k++) {
		const Iter *it = &r->block->block.iter[k];
		if (!ir_uses_var(r->value, it->name))
			continue;
		if (r->rank == IR_MAX_RANK || !ir_is_int(it->lo, &lo) || !ir_is_int(it->hi, &hi) || hi <= lo)
			r->why = "an iterator's range is not constant, or there are too many iterators";
		else if (hi - lo > PRODUCER_COPY / elements)
			r->why = "the copy would have more than 4294967296 elements";
		else {
			elements *= hi - lo;
			r->extent[r->rank] = hi - lo;
			r->iter[r->rank++] = it;
		}
	}
	if (r->why == NULL && r->rank == 0)
		r->why = "the block reads one element of it only";
}

static bool find_copied(Sched *s, const char *name, const BlockPlace *b, Reindex *r)
{
	for (int k = 0; k < b->fn->nparam; k++)
		if (b->fn->param[k].buf != NULL && strcmp(b->fn->param[k].buf->name, name) == 0)
			r->buf = b->fn->param[k].buf;
	if (r->buf == NULL || b->fn->kind == FN_SUB)
		return sched_refuse(s, "reindex", name, "it is not a parameter of the block's run or prepare Fn");
	if (r->buf->role == BUF_OUT || r->buf->role == BUF_WORK)
		return sched_refuse(s, "reindex", name, "it is no input or constant, so it may be incomplete");
	Stmt *next = b->block->next;
	b->block->next = NULL;
	r->seen = ir_memo_begin(s->ir);
	ir_each_stmt(b->block, find_values, r);
	ir_memo_end(s->ir, r->seen);
	b->block->next = next;
	if (r->value == NULL)
		r->why = "that block does not read it";
	if (r->why == NULL)
		find_iters(r);
	r->copied = r->value != NULL ? producer_narrow(s->ir, r->value, r->buf->type) : NULL;
	r->copied = r->copied != NULL ? r->copied : r->value;
	return r->why == NULL || sched_refuse(s, "reindex", name, r->why);
}

/* What is shared is looked at again under other conditions; a value with that many parts is refused. */
enum { INSIDE_EFFORT = 20000 };

typedef struct Inside {
	Ir *ir;
	const Fn *fn;
	int effort;
} Inside;

/* Whether each load lies within its buffer, wherever the conditions of selects around it let it happen. */
static bool is_inside(Inside *in, const Expr *e, const Range *env)
{
	Ir *ir = in->ir;
	if (++in->effort > INSIDE_EFFORT)
		return false;
	if (e->op == IR_SELECT && e->arg[0]->type.lanes == 1)
		return is_inside(in, e->arg[0], env) && is_inside(in, e->arg[1], ir_range_if(ir, e->arg[0], true, env)) &&
			is_inside(in, e->arg[2], ir_range_if(ir, e->arg[0], false, env));
	const Buf *b = e->op == IR_LOAD ? ir_find_buf(in->fn, e->name) : NULL;
	for (int k = 0; k < e->nargs; k++) {
		if (!is_inside(in, e->arg[k], env))
			return false;
		if (b != NULL && (!ir_always(ir_le(ir, ir_int(ir, 0), e->arg[k]), env) ||
					 !ir_always(ir_lt(ir, e->arg[k], b->shape[k]), env)))
			return false;
	}
	return true;
}

/* ---- the copy ---- */

/* for t.r.0, ..: block t.r: t.r[u] = value at u; NULL: it would read outside of T. */
static Stmt *copy_nest(Sched *s, const Fn *fn, const Reindex *r, const char *const *loop)
{
	Ir *ir = s->ir;
	Iter it[IR_MAX_RANK];
	const Expr *at[IR_MAX_RANK], *value = r->copied;
	const Range *env = ir_range_fn(ir, fn);
	for (int k = 0; k < r->rank; k++) {
		const char *name = ir_name(ir, arena_printf(ir_arena(ir), "v%s", loop[k]));
		it[k] = (Iter){ name, ITER_SPATIAL, ir_int(ir, 0), r->copy->shape[k], ir_idx(ir, loop[k]) };
		at[k] = ir_idx(ir, name);
		env = ir_range_for(ir, name, it[k].lo, it[k].hi, env);
		value = ir_subst(ir, value, r->iter[k]->name, ir_add(ir, at[k], r->iter[k]->lo));
	}
	Inside in = { .ir = ir, .fn = fn };
	if (!is_inside(&in, value, env))
		return NULL;
	Stmt *nest = ir_block(ir, r->copy->name, it, r->rank, NULL, NULL, ir_store(ir, r->copy, at, r->rank, value));
	for (int k = r->rank - 1; k >= 0; k--)
		nest = ir_for(ir, loop[k], ir_int(ir, 0), r->copy->shape[k], LOOP_SERIAL, nest);
	return nest;
}

static const Expr *read_copy(Ir *ir, const Expr *e, void *arg)
{
	const Reindex *r = arg;
	const Expr *at[IR_MAX_RANK];
	if (e != r->value)
		return e;
	for (int k = 0; k < r->rank; k++)
		at[k] = ir_sub(ir, ir_idx(ir, r->iter[k]->name), r->iter[k]->lo);
	const Expr *load = ir_load(ir, r->copy, at, r->rank);
	return dtype_eq(load->type, e->type) ? load : ir_cast(ir, e->type, load);
}

/* Needs: an input or a constant that the block reads by its iterators.  Breaks: nothing that names loops. */
bool prim_reindex(Sched *s, const Step *st)
{
	BlockPlace b;
	const char *name = st->arg[0].word, *made[IR_MAX_RANK + 1];
	if (!sched_find_block(s, st->arg[1].word, &b))
		return false;
	Reindex r = { .block = b.block };
	if (!find_copied(s, name, &b, &r))
		return false;
	Stmt **link = nest_link_to(&b.fn->body, b.block);
	if (link == NULL)
		return sched_refuse(s, "reindex", name, "that block stands in something else than loops and conditions");
	Touch in = producer_touches_one(*link, name);
	if (in.writes > 0 || in.strange)
		return sched_refuse(s, "reindex", name, "the loops around that block write it, or a call uses it");
	made[r.rank] = sched_name(s, st, 0, "%s.r", name);
	for (int k = 0; k < r.rank; k++)
		made[k] = ir_name(s->ir, arena_printf(ir_arena(s->ir), "%s.%d", made[r.rank], k));
	for (size_t k = 0; k < s->ks->n; k++) /* a work buffer of that name elsewhere would be the same one */
		if (!sched_may_name(s, s->ks->fn[k], "reindex", name, made, r.rank + 1))
			return false;
	if (nest_expr_depth(b.block) + 8 > IR_MAX_DEPTH)
		return sched_refuse(s, "reindex", name, "indices would be nested too deeply");
	r.copy = ir_buf(s->ir, made[r.rank], BUF_WORK, r.copied->type, "global", r.extent, r.rank);
	Stmt *nest = copy_nest(s, b.fn, &r, made), *next = b.block->next;
	if (nest == NULL)
		return sched_refuse(s, "reindex", name, "for some values of the iterators it would be read out of bounds");
	b.block->next = NULL;
	ir_map_stmt(s->ir, b.block, read_copy, &r);
	b.block->next = next;
	nest->next = *link;
	*link = nest;
	ir_fn_add_buf(s->ir, b.fn, r.copy);
	return true;
}
