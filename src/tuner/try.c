/* One schedule written by hand: measured and stored like any other candidate, whatever becomes of it. */
#include "tuner/run.h"

#include <string.h>

static bool measure_one(Tuner *t, TaskRun *r, const char *trace, const KernelSet *ks, MeasureResult *m, Err *err)
{
	MeasureJob job = { .ks = ks, .trace = trace, .keep = true };
	if (!tuner_reference(t, r, err))
		return false;
	job.ref = r->ref;
	if (!measure_submit(t->o->measure, &job, err))
		return false;
	while (!measure_wait(t->o->measure, 200, m))
		if (tuner_stopped(t)) {
			measure_cancel(t->o->measure);
			return fail(err, ERR_INTERRUPTED, r->task->label, "interrupted");
		}
	return true;
}

bool tune_try(Arena *a, const Task *task, const Trace *trace, const TuneOptions *o, TuneState *out, Err *err)
{
	Task *one = arena_copy(a, task, sizeof *task);
	Partition p = { .ntask = 1, .task = &one };
	MeasureResult m = { 0 };
	Tuner t;
	Text text = { .arena = a };
	if (!tuner_open(&t, a, &p, o, out, err))
		return false;
	TaskRun *r = &t.run[0];
	const KernelSet *ks = schedule_replay(ir_new(a), task, o->target, trace, err);
	if (ks == NULL)
		return false;
	final_open(&t);
	trace_print(&text, trace);
	t.first_build_ms = tuner_now(&t);
	if (!tuner_session(&t, "by hand", err) || !measure_one(&t, r, text_str(&text), ks, &m, err))
		return false;
	if (!tuner_store(&t, r, text_str(&text), &m, err))
		return false;
	r->state->best_ms = m.status == RUN_OK ? (double)m.median_ns / 1e6 : 0;
	tuner_sum_up(&t);
	return m.status == RUN_OK ||
		fail(err, ERR_ILLEGAL, trace->name, "it was recorded as %s: %s", run_status_text(m.status), m.detail);
}
