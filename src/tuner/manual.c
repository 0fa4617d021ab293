/*
 * One schedule written by hand. It is measured in turn with the best one known and the default, and stored even if it
 * fails.
 */
#include "tuner/run.h"

#include <string.h>

/* Times the tried one in turn with the best one known and the default. */
static bool measure_one(Tuner *t, TaskRun *r, const char *trace, const KernelSet *ks, MeasureResult *m, Err *err)
{
	MeasureJob job[MEASURE_RACERS];
	MeasureResult result[MEASURE_RACERS];
	if (!tuner_reference(t, r, err))
		return false;
	Outcome **ranked;
	int n = 0, all = outcome_ranked(&r->known, t->arena, &ranked);
	const char *beside[] = { all > 0 ? ranked[0]->trace : r->default_trace, r->default_trace };
	job[n++] = (MeasureJob){ .ks = ks, .trace = trace, .ref = r->ref, .keep = true };
	for (int i = 0; i < 2; i++) {
		const KernelSet *other = strcmp(beside[i], job[n - 1].trace) != 0 && strcmp(beside[i], trace) != 0
			? task_run_replay(r, beside[i], t->arena, NULL) : NULL;
		if (other != NULL)
			job[n++] = (MeasureJob){ .ks = other, .trace = beside[i], .ref = r->ref };
	}
	if (!measure_race(t->means->measure, job, n, result, err))
		return false;
	*m = result[0];
	for (int i = 1; i < n; i++) /* a candidate beside it may show that its outputs are wrong */
		if (result[i].refuted != NULL && strcmp(result[i].refuted, trace) == 0)
			*m = tuner_exposed();
	return true;
}

bool tune_try(Arena *a, const Task *task, const Trace *trace, const TuneRequest *ask, const TuneMeans *with,
	TuneResult *out, Err *err)
{
	Task *one = arena_copy(a, task, sizeof *task);
	Partition p = { .ntask = 1, .task = &one };
	MeasureResult m = { 0 };
	Tuner t;
	Text text = { .arena = a };
	if (!tuner_open(&t, a, &p, ask, with, out, err))
		return false;
	TaskRun *r = &t.run[0];
	const KernelSet *ks = schedule_replay(ir_new(a), task, ask->target, trace, err);
	if (ks == NULL)
		return false;
	final_open(&t);
	trace_print(&text, trace);
	t.first_build_ms = tuner_now(&t);
	Candidate x = { .run = r, .trace = text_str(&text), .source = "by hand", .ks = ks };
	if (!tuner_session(&t, "by hand", err))
		return false;
	tell_proposed(&t, &x);
	if (!measure_one(&t, r, text_str(&text), ks, &m, err))
		return false;
	if (m.status == RUN_DEVICE_LOST)
		return fail(err, ERR_DEVICE, trace->name, "it was not measured, and nothing is recorded: %s", m.detail);
	if (!tuner_store(&t, r, text_str(&text), &m, err) || !db_put_closing(with->db, t.session, t.runs.at, t.runs.n, err))
		return false;
	/* What databases hold is not shown: the result is that of the tried schedule alone. */
	task_run_confirm(r, text_str(&text), m.status == RUN_OK ? (double)m.median_ns : 0);
	tuner_sum_up(&t);
	promise_left(&t);
	tell_end(&t);
	return m.status == RUN_OK ||
		fail(err, ERR_ILLEGAL, trace->name, "it was recorded as %s: %s", run_status_text(m.status), m.detail);
}
