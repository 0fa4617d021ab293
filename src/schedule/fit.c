/*
 * A trace that was found for one shape is applied to another shape of the same family, step by step on that
 * task's naive set. The factor of a TILE step becomes the loop's extent where that is smaller, else the largest
 * divisor of the extent in the upper half of what the factor was, else it stays and leaves a tail. Lanes stay as many
 * as they were, and loops around them whole vectors: 16 lanes of 24 channels would become 12, which cross the blocks of
 * 16 that other steps lay channels out in. RUN steps are left out where they are refused: a measurement judges
 * what remains. Any other refusal ends it.
 */
#include "schedule/fit.h"

#include "schedule/nest.h"

#include <string.h>

/* The lanes that steps from `at` on make of a loop of so many iterations; 1: they do not. */
static int64_t lanes_of(Arena *a, const Trace *t, size_t at, const char *loop, int64_t extent)
{
	for (; at < t->step.n; at++) {
		const Step *st = &t->step.at[at];
		if (st->n == 0 || st->arg[0].word == NULL || strcmp(st->arg[0].word, loop) != 0)
			continue;
		if (st->prim == PRIM_vectorize)
			return extent;
		if (st->prim == PRIM_split) {
			loop = st->nas == 2 ? st->as[1] : arena_printf(a, "%s.i", loop);
			extent = st->arg[1].num;
		}
	}
	return 1;
}

/* What the factor of step `at` becomes where it divides a loop of so many iterations. */
static int64_t fit_factor(Arena *a, const Trace *t, size_t at, int64_t extent)
{
	const Step *st = &t->step.at[at];
	int64_t whole = st->prim == PRIM_split ? lanes_of(a, t, at, st->arg[0].word, extent) : 1;
	int64_t factor = st->arg[1].num < extent ? st->arg[1].num : extent, d = factor;
	while (d > factor / 2 && (extent % d != 0 || d % whole != 0))
		d--;
	return d > factor / 2 ? d : factor;
}

static Trace *fit_steps(Arena *a, const Task *task, const Target *target, const Trace *from)
{
	KernelSet *ks = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	Trace *fitted = arena_new_of(a, Trace);
	fitted->name = from->name;
	LimitCost cost = { 0 };
	for (size_t i = 0; ks != NULL && i < from->step.n; i++) {
		Trace one = { .name = from->name };
		Step st = from->step.at[i];
		Place at;
		int64_t extent;
		if (prim_row(st.prim)->kind == PRIM_TILE && nest_find(ks, st.arg[0].word, &at) == FOUND_ONE &&
			nest_extent(at.loop, &extent) && extent > 0)
			st.arg[1].num = fit_factor(a, from, i, extent);
		vec_push(a, &one.step, st);
		if (trace_apply_more(ks, &one, task->dag, target, &cost, NULL))
			vec_push(a, &fitted->step, st);
		else if (prim_row(st.prim)->kind != PRIM_RUN)
			return NULL;
	}
	return ks != NULL ? fitted : NULL;
}

const char *trace_fit(Arena *a, const Task *task, const Target *target, const char *trace)
{
	Arena *scratch = arena_new();
	Text text = { .arena = a };
	Trace *from = trace_parse(scratch, "fitted", trace, strlen(trace), NULL);
	Trace *fitted = from != NULL ? fit_steps(scratch, task, target, from) : NULL;
	bool ok = fitted != NULL && schedule_replay(ir_new(scratch), task, target, fitted, NULL) != NULL;
	if (ok)
		trace_print(&text, fitted);
	arena_free(scratch);
	return ok ? text_str(&text) : NULL;
}
