/* See sched.h; and the walk over a trace's steps. */
#include "schedule/sched.h"

#include <stdio.h>
#include <string.h>

bool sched_refuse(Sched *s, const char *what, const char *name, const char *why)
{
	return fail(s->err, ERR_ILLEGAL, s->place, "%s %s: %s", what, name, why);
}

bool sched_refuse_for(Sched *s, const char *what, const char *name, const char *why, const char *other)
{
	return fail(s->err, ERR_ILLEGAL, s->place, "%s %s: %s %s", what, name, why, other);
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
			return sched_refuse_for(s, what, name, "there is already something called", made[i]);
	return true;
}

static bool (*const apply[PRIM_COUNT])(Sched *, const Step *) = {
#define PRIM(name, args, law, needs) [PRIM_##name] = prim_##name,
#include "schedule/prim.def"
#undef PRIM
};

bool trace_apply(KernelSet *ks, const Trace *t, const Dag *dag, const Target *target, Err *err)
{
	Sched s = { .ks = ks, .ir = ks->ir, .dag = dag, .target = target, .err = err };
	for (size_t i = 0; i < t->step.n; i++) {
		const Step *st = &t->step.at[i];
		snprintf(s.place, sizeof s.place, "%.150s:%d", t->name, st->line);
		if (!apply[st->prim](&s, st))
			return false;
	}
	return true;
}
