/* See sched.h; and the walk over a trace's steps. */
#include "schedule/sched.h"

#include "ir/build.h"
#include "ir/threads/form.h"
#include "ir/verify/verify.h"
#include "ir/walk.h"
#include "op/layout.h"
#include "schedule/accesses.h"
#include "schedule/barriers.h"
#include "schedule/space.h"
#include "schedule/launch.h"

#include <stdio.h>
#include <string.h>

bool sched_refuse(Sched *s, const char *what, const char *name, const char *why)
{
	return fail(s->err, ERR_ILLEGAL, s->place, "%s %s: %s", what, name, why);
}

bool sched_refuse_for(Sched *s, const char *what, const char *name, const char *why, const char *other)
{
	char sentence[512];
	snprintf(sentence, sizeof sentence, why, other);
	return sched_refuse(s, what, name, sentence);
}

static bool grows_to(Sched *s, const char *what, const char *name, LimitSize then)
{
	char step[TRACE_NAME + 32];
	snprintf(step, sizeof step, "%s %s", what, name);
	return limit_check(s->size, then, s->place, step, s->err);
}

bool sched_may_copy(Sched *s, const char *what, const Place *p)
{
	LimitSize more = limit_size_at(s->ks, p->loop, p->around, p->naround), then = s->size;
	then.statements += more.statements;
	then.nodes += more.nodes;
	then.code += more.code;
	return grows_to(s, what, p->loop->loop.var, then);
}

bool sched_may_write_out(Sched *s, const char *what, const Place *p, LoopKind kind)
{
	LimitSize then = s->size;
	then.code += limit_size_at(s->ks, p->loop, p->around, p->naround).code * (limit_copies(p->loop, kind) - 1);
	return grows_to(s, what, p->loop->loop.var, then);
}

bool sched_find_loop(Sched *s, const char *name, Place *out)
{
	switch (nest_find(s->ks, name, out)) {
	case FOUND_ONE: return true;
	case FOUND_SEVERAL:
		return fail(s->err, ERR_ILLEGAL, s->place, "several Fns have a loop \"%s\"", name);
	default: return fail(s->err, ERR_ILLEGAL, s->place, "there is no loop \"%s\"", name);
	}
}

bool sched_find_block(Sched *s, const char *name, BlockPlace *out)
{
	switch (nest_find_block(s->ks, name, out)) {
	case FOUND_ONE: return true;
	case FOUND_SEVERAL:
		return fail(s->err, ERR_ILLEGAL, s->place, "several Fns have a block \"%s\"", name);
	default: return fail(s->err, ERR_ILLEGAL, s->place, "there is no block \"%s\"", name);
	}
}

bool sched_may_name(Sched *s, const Fn *fn, const char *what, const char *name, const char *const *made, int n)
{
	BlockPlace none;
	for (int i = 0; i < n; i++)
		if (nest_has_name(fn, made[i]) || nest_has_name(fn, arena_printf(ir_arena(s->ir), "v%s", made[i])) ||
			nest_find_block(s->ks, made[i], &none) != FOUND_NONE || strlen(made[i]) > TRACE_NAME)
			return sched_refuse_for(s, what, name, "the name %s is already in use", made[i]);
	return true;
}

bool sched_need_serial(Sched *s, const char *what, const Stmt *loop)
{
	if (loop->loop.kind != LOOP_SERIAL)
		return sched_refuse(s, what, loop->loop.var, "it is no longer a serial loop");
	return true;
}

/* Lanes and threads may only differ in what spatial iterators separate. */
bool sched_need_spatial(Sched *s, const char *what, const Stmt *loop, const Uses *u)
{
	int64_t n;
	bool blocks = ir_axis_of(loop, NULL) == AXIS_GRID; /* each of which has its own copies under way */
	const char *why = u->reduce		       ? "a reduction depends on it"
		: u->scan			       ? "a recurrence depends on it"
		: u->bare			       ? "a statement below it stands in no block"
		: u->waits && !blocks		       ? "copies below it are committed and waited for in order"
		: u->bounds			       ? "bounds below depend on it"
		: u->blocks == 0		       ? "there is no block below it"
		: u->folds		       ? "tiles of a block below it overlap"
		: u->idle && !(nest_extent(loop, &n) && n == 1) ? "a block below it does the same in every iteration"
						       : NULL;
	const char *carried = why == NULL ? producer_carries(s->ir, loop) : NULL;
	if (carried != NULL)
		return sched_refuse_for(
			s, what, loop->loop.var, "an iteration may read what another one has written to %s", carried);
	return why == NULL || sched_refuse(s, what, loop->loop.var, why);
}

/* Padding may not make a constant larger than this many times, plus so many elements. */
enum { PADDING_FACTOR = 8, PADDING = 1 << 16 };

bool sched_find_layout(Sched *s, const char *what, const Buf *b, const char *text, Shape *shape)
{
	Layout l;
	bool fixed = b->rank <= DAG_MAX_RANK;
	*shape = (Shape){ .rank = b->rank };
	for (int k = 0; fixed && k < b->rank; k++)
		fixed = ir_is_int(b->shape[k], &shape->dim[k]);
	if (!fixed)
		return sched_refuse(s, what, b->name, "its shape is not constant");
	if (!layout_read(text, *shape, &l))
		return sched_refuse_for(s, what, b->name, "its shape does not fit layout %s", text);
	int64_t before = 1, after = layout_elements(&l);
	for (int k = 0; k < shape->rank; k++)
		before *= shape->dim[k];
	if (after < 0 || after > before * PADDING_FACTOR + PADDING)
		return sched_refuse_for(s, what, b->name, "in layout %s most of it would be padding", text);
	return true;
}

const char *sched_name(Sched *s, const Step *st, int k, const char *fmt, ...)
{
	char derived[2 * TRACE_NAME + 64];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(derived, sizeof derived, fmt, ap);
	va_end(ap);
	return ir_name(s->ir, k < st->nas ? st->as[k] : derived);
}

/* Names behind "as" are free in all of the set, and none stands there twice. */
static bool may_take_names(Sched *s, const Step *st)
{
	const char *what = prim_row(st->prim)->name;
	for (int k = 0; k < st->nas; k++) {
		for (int j = 0; j < k; j++)
			if (strcmp(st->as[j], st->as[k]) == 0)
				return sched_refuse_for(s, what, st->arg[0].word, "two results have the name %s", st->as[k]);
		if (ir_find_fn(s->ks, st->as[k]) != NULL)
			return sched_refuse_for(s, what, st->arg[0].word, "the name %s is already in use", st->as[k]);
		for (size_t i = 0; i < s->ks->n; i++)
			if (!sched_may_name(s, s->ks->fn[i], what, st->arg[0].word, &st->as[k], 1))
				return false;
	}
	return true;
}

static bool (*const apply[PRIM_COUNT])(Sched *, const Step *) = {
#define PRIM(name, args, makes, kind, law, needs) [PRIM_##name] = prim_##name,
#include "schedule/prim.def"
#undef PRIM
};

/* Where loops are bound, barriers are derived anew, and what no launch can run is taken back. */
static bool apply_bound(Sched *s, const Step *st)
{
	KernelSet *before = ir_clone_set(s->ks);
	barriers_drop(s->ks);
	if (apply[st->prim](s, st) && launch_settle(s, prim_row(st->prim)->name))
		return true;
	*s->ks = *before;
	return false;
}

bool trace_apply_more(
	KernelSet *ks, const Trace *t, const Dag *dag, const Target *target, LimitCost *cost, Err *err)
{
	Sched s = { .ks = ks, .ir = ks->ir, .dag = dag, .target = target, .err = err };
	s.size = cost->size = cost->steps > 0 ? cost->size : limit_size(ks);
	ir_thread_facts(&s.facts, ir_arena(ks->ir));
	bool bound = launch_any(ks);
	for (size_t i = 0; i < t->step.n; i++) {
		const Step *st = &t->step.at[i];
		const char *name = prim_row(st->prim)->name;
		size_t used = arena_used(ir_arena(ks->ir));
		snprintf(s.place, sizeof s.place, "%.150s:%d", t->name, st->line);
		cost->steps++;
		cost->work += s.size.statements + s.size.nodes;
		bool says_how = st->prim == PRIM_unroll || st->prim == PRIM_vectorize; /* nobody accesses another element */
		bound |= st->prim == PRIM_bind || st->prim == PRIM_pipeline;
		if (!limit_check_cost(cost, s.place, name, err) || !may_take_names(&s, st) ||
			!(bound && !says_how ? apply_bound : apply[st->prim])(&s, st))
			return false;
		LimitSize then = limit_size(ks);
		cost->memory += (int64_t)(arena_used(ir_arena(ks->ir)) - used);
		cost->size = then;
		if (!limit_check(s.size, then, s.place, name, err))
			return false;
		s.size = then;
	}
	return true;
}

bool trace_apply(KernelSet *ks, const Trace *t, const Dag *dag, const Target *target, Err *err)
{
	LimitCost cost = { 0 };
	return trace_apply_more(ks, t, dag, target, &cost, err);
}

static KernelSet *draft(Ir *ir, const Task *task, const Target *target, const Trace *t, Err *err)
{
	KernelSet *ks = op_naive(ir, task->dag, "k", NAIVE_AS_TYPED, err);
	return ks != NULL && trace_apply(ks, t, task->dag, target, err) && launch_fit(ks, target, t->name, err) ? ks : NULL;
}

const KernelSet *schedule_draft(Ir *ir, const Task *task, const Target *target, const Trace *t, Err *err)
{
	return draft(ir, task, target, t, err);
}

KernelSet *schedule_replay(Ir *ir, const Task *task, const Target *target, const Trace *t, Err *err)
{
	KernelSet *ks = draft(ir, task, target, t, err);
	return ks != NULL && ir_verify_set(ks, err) && ir_verify_accesses(ks, err) ? ks : NULL;
}
