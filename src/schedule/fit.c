/*
 * A trace that was found for one shape is applied to another shape of the same family, step by step on that
 * task's naive set. The factor of a TILE step becomes the loop's extent where that is smaller, else the largest
 * divisor of the extent in the upper half of what the factor was, else it stays and leaves a tail. RUN steps are
 * left out where they are refused: the estimate judges what remains. Any other refusal ends it.
 */
#include "schedule/fit.h"

#include "schedule/nest.h"

#include <string.h>

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
			nest_extent(at.loop, &extent) && extent > 0) {
			int64_t factor = st.arg[1].num < extent ? st.arg[1].num : extent, d = factor;
			while (d > factor / 2 && extent % d != 0)
				d--;
			st.arg[1].num = d > factor / 2 ? d : factor;
		}
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
