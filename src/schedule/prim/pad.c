/*
 * pad: the tensor that a block reads is copied with the border that the block's conditions stand for. Behind it the
 * block reads plain elements, so that no condition is left in its inner loops; the copy is a block of its own, which
 * compute_at may move to where a part of it is needed.
 */
#include "schedule/producer.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

typedef struct Pad {
	Ir *ir;
	const Buf *buf; /* T */
	const Range *env; /* of the block's iterators, over their whole ranges */
	const Expr *border; /* what stands outside of T; NULL: nothing is read there */
	const char *why;    /* what is wrong; NULL: nothing */
	int reads;
	int64_t lo[IR_MAX_RANK], hi[IR_MAX_RANK]; /* of the indices, inclusive */
	Buf *copy;
} Pad;

static bool is_read(const Pad *p, const Expr *e)
{
	return e->op == IR_LOAD && strcmp(e->name, p->buf->name) == 0;
}

/* T's load in selects of it and of constants alone; NULL: e is something else. The selects may be of casts of it. */
static const Expr *guarded(const Pad *p, const Expr *e)
{
	if (e->op == IR_SELECT && !dtype_eq(e->type, p->buf->type) && producer_narrow(p->ir, e, p->buf->type) != NULL)
		e = producer_narrow(p->ir, e, p->buf->type);
	while (e->op == IR_SELECT && e->type.lanes == 1 && e->arg[2]->nargs == 0 && e->arg[2]->op != IR_VAR)
		e = e->arg[1];
	return is_read(p, e) ? e : NULL;
}

static const Expr *inside(Ir *ir, const Expr *e, const Expr *n)
{
	return ir_and(ir, ir_le(ir, ir_int(ir, 0), e), ir_lt(ir, e, n));
}

/* Each part of the condition holds where all indices are inside: the condition says no more than that. */
static bool says_no_more(const Expr *cond, const Range *in)
{
	if (cond->op == IR_AND)
		return says_no_more(cond->arg[0], in) && says_no_more(cond->arg[1], in);
	return ir_always(cond, in);
}

static void check_read(Pad *p, const Expr *e)
{
	Ir *ir = p->ir;
	const Expr *load = guarded(p, e);
	const Range *in = p->env;
	e = e->op == IR_SELECT ? producer_narrow(ir, e, p->buf->type) : e;
	for (int k = 0; k < p->buf->rank; k++)
		in = ir_range_if(ir, inside(ir, load->arg[k], p->buf->shape[k]), true, in);
	for (; e != load; e = e->arg[1]) {
		if (!says_no_more(e->arg[0], in))
			p->why = "a condition around what is read says more than that it is inside";
		if (p->border != NULL && p->border != e->arg[2])
			p->why = "several values stand for what is outside";
		p->border = e->arg[2];
	}
	for (int k = 0; k < p->buf->rank; k++) {
		Interval at = ir_interval(load->arg[k], p->env);
		if (ir_has_load(load->arg[k]) || at.lo < -PRODUCER_COPY || at.hi > PRODUCER_COPY)
			p->why = "its index has no bounds";
		p->lo[k] = p->reads == 0 || at.lo < p->lo[k] ? at.lo : p->lo[k];
		p->hi[k] = p->reads == 0 || at.hi > p->hi[k] ? at.hi : p->hi[k];
	}
	p->reads++;
}

static void find_reads(const Expr *e, void *arg)
{
	Pad *p = arg;
	if (guarded(p, e) != NULL)
		check_read(p, e);
	else
		for (int k = 0; k < e->nargs; k++)
			find_reads(e->arg[k], p);
}

static bool find_in(Stmt *s, void *arg)
{
	ir_each_expr(s, find_reads, arg);
	return true;
}

static const Expr *read_copy(const Pad *p, const Expr *e)
{
	const Expr *load = guarded(p, e), *arg[IR_MAX_RANK];
	for (int k = 0; load == NULL && k < e->nargs; k++)
		arg[k] = read_copy(p, e->arg[k]);
	if (load == NULL)
		return e->nargs > 0 ? ir_with_args(p->ir, e, arg) : e;
	for (int k = 0; k < load->nargs; k++)
		arg[k] = ir_simplify(p->ir, ir_sub(p->ir, load->arg[k], ir_int(p->ir, p->lo[k])), p->env);
	load = ir_load(p->ir, p->copy, arg, load->nargs);
	return dtype_eq(load->type, e->type) ? load : ir_cast(p->ir, e->type, load);
}

static void put_copy(const Expr **e, void *arg)
{
	*e = read_copy(arg, *e);
}

static bool put_copies(Stmt *s, void *arg)
{
	ir_each_place(s, put_copy, arg);
	return true;
}

/* for t.b.0, ..: block t.b: t.b[u] = select(u + lo lies in T, t[u + lo], border) */
static Stmt *copy_nest(const Pad *p, const char *const *loop)
{
	Ir *ir = p->ir;
	Iter it[IR_MAX_RANK];
	const Expr *at[IR_MAX_RANK], *from[IR_MAX_RANK], *in = NULL;
	int rank = p->buf->rank;
	for (int k = 0; k < rank; k++) {
		const char *name = ir_name(ir, arena_printf(ir_arena(ir), "v%s", loop[k]));
		it[k] = (Iter){ name, ITER_SPATIAL, ir_int(ir, 0), p->copy->shape[k], ir_idx(ir, loop[k]) };
		at[k] = ir_idx(ir, name);
		from[k] = p->lo[k] == 0 ? at[k] : ir_add(ir, at[k], ir_int(ir, p->lo[k]));
		const Range *env = ir_range_for(ir, name, it[k].lo, it[k].hi, NULL);
		const Expr *side[2] = { ir_le(ir, ir_int(ir, 0), from[k]), ir_lt(ir, from[k], p->buf->shape[k]) };
		for (int i = 0; i < 2; i++)
			if (!ir_always(side[i], env))
				in = in == NULL ? side[i] : ir_and(ir, in, side[i]);
	}
	const Expr *value = ir_load(ir, p->buf, from, rank);
	value = in != NULL ? ir_select(ir, in, value, p->border) : value;
	Stmt *nest = ir_block(ir, p->copy->name, it, rank, NULL, NULL, ir_store(ir, p->copy, at, rank, value));
	for (int k = rank - 1; k >= 0; k--)
		nest = ir_for(ir, loop[k], ir_int(ir, 0), p->copy->shape[k], LOOP_SERIAL, nest);
	return nest;
}

/* The facts of the block's iterators over their whole ranges; NULL: a range is not constant. */
static const Range *whole_ranges(Sched *s, const BlockPlace *b)
{
	const Range *env = ir_range_fn(s->ir, b->fn);
	for (int k = 0; k < b->block->block.n; k++) {
		const Iter *it = &b->block->block.iter[k];
		int64_t lo, hi;
		if (!ir_is_int(it->lo, &lo) || !ir_is_int(it->hi, &hi) || hi <= lo)
			return NULL;
		env = ir_range_for(s->ir, it->name, it->lo, it->hi, env);
	}
	return env;
}

static bool find_padded(Sched *s, const char *name, const BlockPlace *b, Pad *p)
{
	const char *why = NULL;
	for (int k = 0; k < b->fn->nparam; k++)
		if (b->fn->param[k].buf != NULL && strcmp(b->fn->param[k].buf->name, name) == 0)
			p->buf = b->fn->param[k].buf;
	if (p->buf == NULL || b->fn->kind == FN_SUB)
		why = "it is not a parameter of the block's run or prepare Fn";
	else if (p->buf->role == BUF_OUT || p->buf->rank == 0)
		why = "it is an output, or has one element";
	else if ((p->env = whole_ranges(s, b)) == NULL)
		why = "the range of an iterator of the block is not constant";
	if (why != NULL)
		return sched_refuse(s, "pad", name, why);
	ir_each_below(b->block, find_in, p);
	int64_t elements = 1;
	for (int k = 0; p->why == NULL && p->reads > 0 && k < p->buf->rank; k++) {
		int64_t n, extent = p->hi[k] - p->lo[k] + 1;
		if (!ir_is_int(p->buf->shape[k], &n))
			p->why = "its shape is not constant";
		else if (p->border == NULL && (p->lo[k] < 0 || p->hi[k] >= n))
			p->why = "it would be read out of bounds";
		else if (extent > PRODUCER_COPY / elements)
			p->why = "the copy would have more than 4294967296 elements";
		elements *= extent;
	}
	if (p->reads == 0)
		p->why = "that block does not read it";
	return p->why == NULL || sched_refuse(s, "pad", name, p->why);
}

/* Needs: a tensor that the block reads and that is no output.  Breaks: nothing that names loops. */
bool prim_pad(Sched *s, const Step *st)
{
	BlockPlace b;
	const char *name = st->arg[0].word, *made[IR_MAX_RANK + 1];
	int64_t extent[IR_MAX_RANK];
	if (!sched_find_block(s, st->arg[1].word, &b))
		return false;
	Pad p = { .ir = s->ir };
	if (!find_padded(s, name, &b, &p))
		return false;
	Stmt **link = nest_link_to(&b.fn->body, b.block);
	if (link == NULL)
		return sched_refuse(s, "pad", name, "that block stands in something else than loops and conditions");
	Touch in = producer_touches_one(*link, name);
	if (in.writes > 0 || in.strange)
		return sched_refuse(s, "pad", name, "the loops around that block write it, or a call uses it");
	int rank = p.buf->rank;
	made[rank] = sched_name(s, st, 0, "%s.b", name);
	for (int k = 0; k < rank; k++) {
		made[k] = ir_name(s->ir, arena_printf(ir_arena(s->ir), "%s.%d", made[rank], k));
		extent[k] = p.hi[k] - p.lo[k] + 1;
	}
	for (size_t k = 0; k < s->ks->n; k++) /* a work buffer of that name elsewhere would be the same one */
		if (!sched_may_name(s, s->ks->fn[k], "pad", name, made, rank + 1))
			return false;
	if (nest_expr_depth(b.block) + 8 > IR_MAX_DEPTH)
		return sched_refuse(s, "pad", name, "indices would be nested too deeply");
	p.copy = ir_buf(s->ir, made[rank], BUF_WORK, p.buf->type, "global", extent, rank);
	ir_each_below(b.block, put_copies, &p);
	Stmt *nest = copy_nest(&p, made);
	nest->next = *link;
	*link = nest;
	ir_fn_add_buf(s->ir, b.fn, p.copy);
	return true;
}
