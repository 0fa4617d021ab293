/* See path.h. */
#include "schedule/path.h"

#include "ir/build.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

bool path_drives(const Stmt *block, IterKind kind, const char *var)
{
	for (int k = 0; k < block->block.n; k++)
		if (block->block.iter[k].kind == kind && ir_uses_var(block->block.iter[k].value, var))
			return true;
	return false;
}

/* Each loop drives spatial or reduce iterators, and nothing but loops stands around the block. */
bool path_find(Sched *s, const char *what, const BlockPlace *b, const Stmt *from, Path *out)
{
	const char *name = b->block->block.name;
	int first = 0;
	*out = (Path){ .what = what, .block = b->block };
	while (first < b->naround && b->around[first] != from)
		first++;
	if (first == b->naround)
		return sched_refuse_for(s, what, name, "it is not inside loop %s", from->loop.var);
	for (int k = first; k < b->naround; k++) {
		Stmt *l = b->around[k];
		const char *var = l->loop.var;
		int64_t n;
		bool spatial = path_drives(b->block, ITER_SPATIAL, var), reduce = path_drives(b->block, ITER_REDUCE, var);
		const Stmt *inner = k + 1 < b->naround ? b->around[k + 1] : b->block, *below = l->loop.body;
		while (below != NULL && below != inner)
			below = below->next;
		if (below == NULL)
			return sched_refuse_for(s, what, name, "a condition stands around it in loop %s", var);
		if ((spatial && reduce) || path_drives(b->block, ITER_SCAN, var))
			return sched_refuse_for(
				s, what, name, "several kinds of iterators, or a recurrence, depend on loop %s", var);
		if (!nest_extent(l, &n) || n < 1 || (n > 1 && !spatial && !reduce))
			return sched_refuse_for(
				s, what, name, "the extent of loop %s is not constant, or no iterator of the block depends on it", var);
		if (l->loop.kind == LOOP_BOUND || l->loop.kind == LOOP_PIPELINED)
			return sched_refuse_for(s, what, name, "loop %s is bound or pipelined", var);
		out->loop[out->n] = l;
		out->kept[out->n++] = !reduce;
	}
	return true;
}

const char *path_name(Sched *s, const char *name, const char *suffix)
{
	return ir_name(s->ir, arena_printf(ir_arena(s->ir), "%s.%s", name, suffix));
}

/* Every kept loop and the block may be called NAME.suffix, too. */
bool path_may_name(Sched *s, const Path *p, const Fn *fn, const char *suffix)
{
	BlockPlace at;
	const char *block = p->block->block.name, *twin = p->made;
	if (nest_find_block(s->ks, twin, &at) != FOUND_NONE || strlen(twin) > TRACE_NAME)
		return sched_refuse_for(s, p->what, block, "the new name %s is too long or already in use", twin);
	for (int k = 0; k < p->n; k++) {
		twin = path_name(s, p->loop[k]->loop.var, suffix);
		if (nest_has_name(fn, twin) || strlen(twin) > TRACE_NAME)
			return sched_refuse_for(s, p->what, block, "the new name %s is too long or already in use", twin);
	}
	return true;
}

/* e where the kept loops are called NAME.suffix and the others are in their first iteration. */
const Expr *path_at_begin(Sched *s, const Path *p, const Expr *e, const char *suffix)
{
	for (int k = 0; k < p->n; k++) {
		const Stmt *l = p->loop[k];
		const Expr *by = p->kept[k] ? ir_idx(s->ir, path_name(s, l->loop.var, suffix)) : l->loop.lo;
		e = ir_subst(s->ir, e, l->loop.var, by);
	}
	return e;
}

/* Copies of the kept loops around the statement. */
Stmt *path_kept_loops(Sched *s, const Path *p, Stmt *body, const char *suffix)
{
	for (int k = p->n - 1; k >= 0; k--)
		if (p->kept[k]) {
			const Stmt *l = p->loop[k];
			body = ir_for(
				s->ir, path_name(s, l->loop.var, suffix), l->loop.lo, l->loop.hi, l->loop.kind, body);
		}
	return body;
}

/* The spatial iterators in the copied loops. */
int path_spatial_iters(Sched *s, const Path *p, const char *suffix, Iter *out)
{
	int n = 0;
	for (int k = 0; k < p->block->block.n; k++)
		if (p->block->block.iter[k].kind == ITER_SPATIAL) {
			out[n] = p->block->block.iter[k];
			out[n].value = ir_simplify(s->ir, path_at_begin(s, p, out[n].value, suffix), NULL);
			n++;
		}
	return n;
}

/* In the first iteration of the reduce loops the reduce iterators are at their beginning. */
bool path_begins_at_first(Sched *s, const Path *p, const Range *env)
{
	for (int k = 0; k < p->block->block.n; k++) {
		const Iter *it = &p->block->block.iter[k];
		if (it->kind == ITER_REDUCE && !ir_always(ir_eq(s->ir, path_at_begin(s, p, it->value, "init"), it->lo), env))
			return sched_refuse_for(s, p->what, p->block->block.name,
				"iterator %s does not have its first value where those loops begin", it->name);
	}
	return true;
}
