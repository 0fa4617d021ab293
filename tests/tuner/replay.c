/*
 * A recording in place of children: a task's runs are read once, sorted by trace, and a candidate is
 * answered with the run of its trace.  Answers come in the order of the candidates, at once.
 */
#include "replay.h"

#include "measure/way.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Recorded {
	const char *trace;
	size_t order; /* as read: best first */
	MeasureResult result;
} Recorded;

typedef struct ReplayRef {
	VEC(Recorded) run;
} ReplayRef;

typedef struct Replay {
	Measure base;
	Arena *arena;
	MeasureRunsFn runs;
	void *from;
	VEC(MeasureResult) answer;
	size_t next; /* of answer: what wait gives */
} Replay;

typedef struct Reading {
	Replay *p;
	ReplayRef *ref;
} Reading;

static bool take_run(const RunRecord *run, void *arg)
{
	Reading *x = arg;
	Recorded r = { .trace = arena_printf(x->p->arena, "%s", run->trace),
		.order = x->ref->run.n,
		.result = { .status = run->status,
			.median_ns = run->median_ns,
			.min_ns = run->min_ns,
			.mad_ns = run->mad_ns,
			.compile_ns = run->compile_ns,
			.samples = run->samples,
			.lost = run->lost,
			.clock = arena_printf(x->p->arena, "%s", run->clock),
			.stage = arena_printf(x->p->arena, "%s", run->stage),
			.max_err_e9 = run->max_err_e9 } };
	snprintf(r.result.detail, sizeof r.result.detail, "%s", run->detail);
	vec_push(x->p->arena, &x->ref->run, r);
	return true;
}

static int by_trace(const void *pa, const void *pb)
{
	const Recorded *a = pa, *b = pb;
	int c = strcmp(a->trace, b->trace);
	return c != 0 ? c : (a->order > b->order) - (a->order < b->order);
}

static MeasureRef *reference(Measure *base, const Task *task, uint64_t seed, Err *err)
{
	Replay *p = (Replay *)base;
	ReplayRef *r = arena_new_of(p->arena, ReplayRef);
	Reading x = { p, r };
	(void)seed; /* the inputs were those of the recorded session */
	if (!p->runs(p->from, task->id, take_run, &x, err))
		return NULL;
	if (r->run.n > 0)
		qsort(r->run.at, r->run.n, sizeof *r->run.at, by_trace);
	return (MeasureRef *)r;
}

/* The first run of the trace, the best one. */
static const Recorded *find(const ReplayRef *r, const char *trace)
{
	size_t lo = 0, hi = r->run.n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (strcmp(r->run.at[mid].trace, trace) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->run.n && strcmp(r->run.at[lo].trace, trace) == 0 ? &r->run.at[lo] : NULL;
}

static MeasureResult recall(const MeasureJob *job)
{
	const Recorded *known = find((const ReplayRef *)job->ref, job->trace);
	MeasureResult m = { .status = RUN_DEVICE_LOST, .max_err_e9 = -1, .clock = "", .stage = "" };
	if (known != NULL)
		m = known->result;
	else
		snprintf(m.detail, sizeof m.detail, "the recording has no such candidate");
	m.user = job->user;
	return m;
}

static bool submit(Measure *base, const MeasureJob *job, Err *err)
{
	Replay *p = (Replay *)base;
	(void)err;
	vec_push(p->arena, &p->answer, recall(job));
	return true;
}

static bool wait(Measure *base, int ms, MeasureResult *out)
{
	Replay *p = (Replay *)base;
	(void)ms;
	if (p->next == p->answer.n)
		return false;
	*out = p->answer.at[p->next++];
	if (p->next == p->answer.n)
		p->answer.n = p->next = 0;
	return true;
}

static bool race(Measure *base, const MeasureJob *job, int n, MeasureResult *out, Err *err)
{
	(void)base;
	(void)err;
	for (int i = 0; i < n; i++)
		out[i] = recall(&job[i]);
	return true;
}

static int pending(const Measure *base)
{
	const Replay *p = (const Replay *)base;
	return (int)(p->answer.n - p->next);
}

static int flight(const Measure *base)
{
	(void)base;
	return 1; /* the tuner's least number */
}

static void cancel(Measure *base)
{
	Replay *p = (Replay *)base;
	p->answer.n = p->next = 0;
}

static bool networks(Measure *base, MeasureNetwork *net, int n, int turn_ms, Err *err)
{
	(void)base;
	(void)net;
	(void)n;
	(void)turn_ms;
	return fail(err, ERR_MISSING, "network", "a recording has no times of networks");
}

static void turn(Measure *base)
{
	(void)base;
}

static void cold(Measure *base, int64_t bytes)
{
	(void)base;
	(void)bytes;
}

static void close_replay(Measure *base)
{
	arena_free(((Replay *)base)->arena);
}

static void abandon(Measure *base)
{
	(void)base; /* it has nothing but memory */
}

static const MeasureWay way = { "a recording", reference, submit, wait, race, turn, pending, flight, cancel, networks,
	cold, close_replay, abandon, NULL };

Measure *measure_replay(MeasureRunsFn runs, void *from)
{
	Arena *a = arena_new();
	Replay *p = arena_new_of(a, Replay);
	*p = (Replay){ .base = { &way }, .arena = a, .runs = runs, .from = from };
	return &p->base;
}
