/*
 * scope: where a buffer that a step made lies. A local buffer around bound loops, as the sums of a block, is not made
 * for each thread as a whole: its index map leaves out the digits of its indices that say which thread it is. Loads
 * and stores stay what they are. A fragment is a warp's own in the same way; its lanes share it out in code generation.
 */
#include "schedule/accesses.h"
#include "schedule/launch.h"
#include "schedule/own.h"
#include "schedule/place.h"

#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

/* i -> (i / (step * count)) * step + i % step, which is shorter where one of both is 0. */
static void leave_out(Ir *ir, Buf *b, const OwnDigit *digit)
{
	Arena *a = ir_arena(ir);
	IndexMap m = { .nvar = b->rank, .n = b->rank };
	bool any = false;
	m.var = arena_array(a, const char *, b->rank);
	m.at = arena_array(a, const Expr *, b->rank);
	m.extent = arena_array(a, const Expr *, b->rank);
	for (int k = 0; k < b->rank; k++) {
		const Expr *i = ir_idx(ir, m.var[k] = ir_name(ir, arena_printf(a, "i%d", k)));
		int64_t n, step = digit[k].step, all = step * digit[k].count;
		m.at[k] = i;
		m.extent[k] = b->shape[k];
		if (digit[k].count == 1 || !ir_is_int(b->shape[k], &n))
			continue;
		const Expr *low = step == 1 ? ir_int(ir, 0) : ir_mod(ir, i, ir_int(ir, step));
		const Expr *high = n <= all ? ir_int(ir, 0) : ir_mul(ir, ir_div(ir, i, ir_int(ir, all)), ir_int(ir, step));
		any = true;
		m.at[k] = ir_add(ir, high, low);
		m.extent[k] = ir_int(ir, (n + all - 1) / all * step);
	}
	if (any)
		b->map = m;
}

/* Needs: an alloc in a loop.  Breaks: the index map of what is local or a fragment now.  launch_settle looks at
   who uses it. */
bool prim_scope(Sched *s, const Step *st)
{
	const char *name = st->arg[0].word, *scope = st->arg[1].word;
	Fn *fn = NULL;
	Stmt **link = NULL;
	OwnDigit digit[IR_MAX_RANK];
	if (!launch_need_device(s, "scope", name))
		return false;
	for (size_t k = 0; k < s->ks->n && link == NULL; k++)
		if (s->ks->fn[k]->kind == FN_RUN && (link = ir_find_alloc(&s->ks->fn[k]->body, name)) != NULL)
			fn = s->ks->fn[k];
	if (link == NULL)
		return sched_refuse(s, "scope", name, "no run Fn declares such a buffer");
	bool fragment = strcmp(scope, "fragment") == 0, own = fragment || strcmp(scope, "local") == 0;
	if (!own && strcmp(scope, "shared") != 0 && strcmp(scope, "global") != 0)
		return sched_refuse(s, "scope", name, "a scope is global, shared, local or fragment");
	if (fragment && s->target != NULL && s->target->kind != TARGET_CUDA)
		return sched_refuse(s, "scope", name, "only the warps of a CUDA target have fragments");
	Stmt *top = fn->body;
	while (top != NULL && top != *link)
		top = top->next;
	if (top == NULL && strcmp(scope, "global") == 0)
		return sched_refuse(s, "scope", name, "global buffers are declared outside of all loops and conditions");
	Buf *b = arena_copy(ir_arena(s->ir), (*link)->alloc, sizeof *b);
	if (strcmp(b->scope, scope) == 0)
		return sched_refuse_for(s, "scope", name, "it is already %s", scope);
	if (!own && place_folds(b))
		return sched_refuse(s, "scope", name, "several of its elements lie in one place");
	b->scope = ir_name(s->ir, scope);
	ThreadAccesses all = { .arena = ir_arena(s->ir) };
	for (const Stmt *c = (*link)->next; own && c != NULL; c = c->next)
		ir_thread_accesses(s->ir, &s->facts, s->ks, fn, c, false, &all);
	if (producer_touches((*link)->next, name).strange)
		return sched_refuse(s, "scope", name, "a call uses it");
	if (own && b->map.n == 0 && own_digits(s->ir, &all, b, digit))
		leave_out(s->ir, b, digit);
	(*link)->alloc = b;
	return true;
}
