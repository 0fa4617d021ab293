/* cache_read: what an iteration of a loop reads of a tensor is copied before it is read. */
#include "schedule/source.h"

#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

/* for t.c.0, ..: block t.c: copy[i - lo] = t[i] where i lies in the part, and in t */
static Stmt *fill_nest(Sched *s, const Source *p, const Buf *copy, const char *const *loop, const Range *env)
{
	Ir *ir = s->ir;
	const Buf *t = p->buf;
	Iter it[IR_MAX_RANK];
	const Expr *at[IR_MAX_RANK], *to[IR_MAX_RANK], *where = NULL;
	for (int k = 0; k < t->rank; k++) {
		const char *name = ir_name(ir, arena_printf(ir_arena(ir), "v%s", loop[k]));
		const Expr *value = ir_add(ir, p->lo[k], ir_idx(ir, loop[k]));
		it[k] = (Iter){ name, ITER_SPATIAL, ir_int(ir, 0), t->shape[k], value };
		at[k] = ir_idx(ir, name);
		to[k] = ir_sub(ir, at[k], p->lo[k]);
		const Range *in = ir_range_for(ir, loop[k], ir_int(ir, 0), ir_int(ir, p->n[k]), env);
		const Expr *inside[3] = { ir_le(ir, ir_int(ir, 0), value), ir_lt(ir, value, t->shape[k]),
			ir_lt(ir, value, p->hi[k]) };
		bool clipped = ir_always(ir_le(ir, p->hi[k], t->shape[k]), env);
		for (int i = 0; i < 3; i++)
			if (!(i == 1 && clipped) && !ir_always(inside[i], in))
				where = where == NULL ? inside[i] : ir_and(ir, where, inside[i]);
	}
	Stmt *store = ir_store(ir, copy, to, t->rank, ir_load(ir, t, at, t->rank));
	Stmt *nest = ir_block(ir, copy->name, it, t->rank, where, NULL, store);
	for (int k = t->rank - 1; k >= 0; k--)
		nest = ir_for(ir, loop[k], ir_int(ir, 0), ir_int(ir, p->n[k]), LOOP_SERIAL, nest);
	return nest;
}

typedef struct Reading {
	const Source *p;
	const Buf *copy;
} Reading;

static const Expr *read_copy(Ir *ir, const Expr *e, void *arg)
{
	const Reading *r = arg;
	const Expr *idx[IR_MAX_RANK];
	if (e->op != IR_LOAD || strcmp(e->name, r->p->buf->name) != 0)
		return e;
	for (int k = 0; k < e->nargs; k++)
		idx[k] = ir_sub(ir, e->arg[k], r->p->lo[k]);
	return ir_load_named(ir, r->copy->name, dtype_scalar(e->type), idx, e->nargs);
}

/* Needs: an input or a constant that the block reads in the loop.  Breaks: nothing that names loops. */
bool prim_cache_read(Sched *s, const Step *st)
{
	Source p;
	const char *made[IR_MAX_RANK + 1], *name = st->arg[0].word;
	int64_t elements = 1;
	if (!source_find(s, st, "cache_read", &p))
		return false;
	const Buf *t = p.buf;
	const Fn *fn = p.block.fn;
	if (fn->kind == FN_SUB && t->role == BUF_INOUT) /* calls pass any buffer: nobody may have written the part */
		return sched_refuse(s, "cache_read", name, "the sub Fn may write it, so it may be incomplete");
	const char *own = made[t->rank] = sched_name(s, st, 0, "%s.c", name);
	for (int k = 0; k < t->rank; k++) {
		made[k] = ir_name(s->ir, arena_printf(ir_arena(s->ir), "%s.%d", own, k));
		elements *= p.n[k];
	}
	if (elements > CACHE_READ_ELEMENTS)
		return sched_refuse(s, "cache_read", name, "the part to be copied has more than 65536 elements");
	if (!sched_may_name(s, fn, "cache_read", name, made, t->rank + 1))
		return false;
	Buf *copy = ir_buf(s->ir, made[t->rank], BUF_WORK, t->type, "local", p.n, t->rank);
	Stmt *alloc = ir_alloc(s->ir, copy), *block = p.block.block, *next = block->next;
	block->next = NULL;
	ir_map_stmt(s->ir, block, read_copy, &(Reading){ &p, copy });
	block->next = next;
	alloc->next = fill_nest(s, &p, copy, made, ir_range_at(s->ir, fn, *p.link));
	alloc->next->next = *p.link;
	*p.link = alloc;
	return true;
}
