/* What a run tells while it goes on: events, for a stream and for a report. Nothing is made where nobody listens. */
#include "tuner/run.h"

#include "op/steps.h"

#include <math.h>
#include <stdio.h>

static void tell(const Tuner *t, Event *e)
{
	e->at_s = round(tuner_now(t) - t->start_ms) / 1000;
	t->means->on_event(e, t->means->arg);
}

/* "AMD EPYC 9B45", "NVIDIA H200, 550.54"; "": it is not known. */
static const char *machine_name(const Tuner *t, Arena *a)
{
	const EnvDevice *d = t->means->device;
	if (d == NULL)
		return t->ask->target->brand;
	return arena_printf(
		a, "%s%s%s", d->name, d->driver != NULL && d->driver[0] != 0 ? ", " : "", d->driver != NULL ? d->driver : "");
}

static void tell_task(const Tuner *t, const TaskRun *r)
{
	const TaskProgress *s = r->state;
	Event e = { .kind = EVENT_TASK,
		.task = r->task->id,
		.op = r->task->label,
		.weight = s->weight,
		.flops = r->task->flops,
		.bytes = r->task->bytes,
		.roof_ms = s->roof_ms,
		.space = s->space,
		.best_ms = s->best_ms,
		.default_ms = s->default_ms,
		.reused = s->reused };
	tell(t, &e);
}

void tell_session(Tuner *t)
{
	char text[TARGET_TEXT];
	const TuneMeans *with = t->means;
	if (with->on_event == NULL)
		return;
	Arena *a = arena_new();
	Event e = { .kind = EVENT_SESSION,
		.session = t->session,
		.tool = "dlc " DLC_VERSION,
		.command = t->ask->command,
		.model = t->ask->model,
		.target = target_text(t->ask->target, text),
		.machine = machine_name(t, a),
		.search = t->ask->search->name,
		.preset = t->ask->effort->name,
		.cost_model = cost_or_first(with->cost, a, t->ask->target).row->name,
		.seed = (int64_t)(t->ask->seed & INT64_MAX),
		.started_s = t->ask->started_s,
		.budget_s = fmax(0, t->ask->budget_ms / 1000),
		.peak_gflops = with->roof.gflops,
		.read_gbps = with->roof.gbps };
	tell(t, &e);
	arena_free(a);
	for (int i = 0; i < t->progress->ntask; i++)
		tell_task(t, &t->run[i]);
	t->told = true;
}

void tell_proposed(const Tuner *t, const Candidate *x)
{
	if (t->means->on_event == NULL)
		return;
	Event e = { .kind = EVENT_PROPOSED,
		.task = x->run->task->id,
		.trace = steps_hash(x->trace),
		.source = x->source,
		.believed_ns = llround(task_run_belief(x->run, x)) };
	tell(t, &e);
}

void tell_measured(const Tuner *t, const TaskRun *r, const RunRecord *run)
{
	if (t->means->on_event == NULL)
		return;
	Event e = { .kind = EVENT_MEASURED,
		.task = r->task->id,
		.trace = steps_hash(run->trace),
		.record = run->id,
		.seq = run->seq,
		.status = run_status_text(run->status),
		.stage = run->stage,
		.median_ns = run->median_ns,
		.spread_ns = run->mad_ns,
		.samples = run->samples,
		.detail = run->detail };
	tell(t, &e);
}

void tell_best(Tuner *t)
{
	for (int i = 0; t->means->on_event != NULL && t->told && i < t->progress->ntask; i++) {
		TaskRun *r = &t->run[i];
		if (r->state->best_ms <= 0 || r->state->best_ms == r->told_ms)
			continue;
		r->told_ms = r->state->best_ms;
		Event e = { .kind = EVENT_BEST,
			.task = r->task->id,
			.best_ms = r->state->best_ms,
			.tasks_ms = t->progress->unmeasured == 0 ? t->progress->tasks_ms : 0 };
		tell(t, &e);
	}
}

void tell_race(const Tuner *t, const TaskRun *r, int racers)
{
	if (t->means->on_event == NULL)
		return;
	Event e = { .kind = EVENT_RACE,
		.task = r->task->id,
		.racers = racers,
		.best_ms = r->state->best_ms,
		.default_ms = r->state->default_ms };
	tell(t, &e);
}

void tell_network(const Tuner *t)
{
	const TuneResult *s = t->result;
	if (t->means->on_event == NULL)
		return;
	Event e = { .kind = EVENT_NETWORK,
		.network_ms = s->network_ms,
		.default_network_ms = s->default_network_ms,
		.gain_least = s->gain[0],
		.gain_most = s->gain[1],
		.network_why = s->network_why };
	tell(t, &e);
}

static const char *certificate(TaskEnd end)
{
	return end == TASK_SEARCHED ? "searched" : end == TASK_AT_ROOF ? "at roof" : "open";
}

static void tell_outcome(const Tuner *t, const TaskRun *r)
{
	enum { NEXT_TRIALS = 100 };
	const TaskProgress *s = r->state;
	Event e = { .kind = EVENT_OUTCOME,
		.task = r->task->id,
		.weight = s->weight,
		.best_ms = s->likely_ms,
		.default_ms = s->default_likely_ms,
		.alone_ms = s->alone_ms,
		.algorithm = s->algorithm,
		.trials = s->trials,
		.reused = s->reused,
		.failed = s->failed,
		.pruned = s->pruned,
		.certificate = certificate(s->end),
		.left = s->left,
		.could_save_ms = fmax(0, task_run_could_save(r)),
		.expected_ms = task_run_expected(r, NEXT_TRIALS) };
	tell(t, &e);
}

void tell_end(const Tuner *t)
{
	const TuneProgress *s = t->progress;
	if (t->means->on_event == NULL)
		return;
	for (int i = 0; i < s->ntask; i++)
		tell_outcome(t, &t->run[i]);
	Event e = { .kind = EVENT_END,
		.trials = s->trials,
		.reused = s->reused,
		.failed = s->failed,
		.pruned = s->pruned,
		.candidates_per_s = s->candidates_per_s,
		.tasks_ms = s->unmeasured == 0 ? s->tasks_ms : 0,
		.default_tasks_ms = s->default_unmeasured == 0 ? s->default_tasks_ms : 0,
		.interrupted = t->result->interrupted };
	tell(t, &e);
}
