/*
 * See replay.h. Candidates are answered at once, in their order. One that was not recorded counts as lost: that says
 * nothing about it. A race answers with the same times, and networks have none.
 */
#include "measure/replay.h"

#include "base/map.h"
#include "measure/way.h"

#include <stdio.h>
#include <string.h>

/* A recorded Task as its candidates name it. */
typedef struct ReplayRef {
	const RecordedSpace *space;
	Map run; /* by trace */
} ReplayRef;

typedef struct Replay {
	Measure base;
	Arena *arena;
	const RecordedSpace *const *space;
	int nspace;
	VEC(MeasureResult) answer;
	size_t next; /* of answer: what wait gives */
} Replay;

static MeasureRef *reference(Measure *base, const Task *task, uint64_t seed, Err *err)
{
	Replay *p = (Replay *)base;
	(void)seed; /* the inputs were those of the recording */
	for (int i = 0; i < p->nspace; i++) {
		const RecordedSpace *s = p->space[i];
		if (memcmp(&s->task->id, &task->id, sizeof task->id) != 0)
			continue;
		ReplayRef *r = arena_new_of(p->arena, ReplayRef);
		*r = (ReplayRef){ s, MAP_OF(p->arena) };
		for (int k = 0; k < s->n; k++) {
			MapEntry *e = map_add_text(&r->run, s->run[k].trace);
			e->read = e->read != NULL ? e->read : &s->run[k];
		}
		return (MeasureRef *)r;
	}
	fail(err, ERR_MISSING, task->label, "this task was not recorded; record its space first (docs/search.md)");
	return NULL;
}

static MeasureResult recall(const MeasureJob *job)
{
	const MapEntry *e = map_find_text(&((const ReplayRef *)job->ref)->run, job->trace);
	MeasureResult m = { .status = RUN_DEVICE_LOST, .max_err_e9 = -1, .clock = "", .stage = "", .user = job->user };
	if (e == NULL) {
		snprintf(m.detail, sizeof m.detail, "the recording has no such candidate");
		return m;
	}
	const RecordedRun *r = e->read;
	m.status = r->status;
	m.compile_ns = r->build_ns;
	m.screen_ns = r->screen_ns;
	if (r->status != RUN_OK) {
		snprintf(m.detail, sizeof m.detail, "as recorded");
		return m;
	}
	m.median_ns = m.min_ns = r->median_ns;
	for (int i = 0; i < r->times; i++)
		m.min_ns = r->ns[i] < m.min_ns ? r->ns[i] : m.min_ns;
	m.samples = r->times;
	m.max_err_e9 = 0;
	m.clock = "wall";
	m.stage = run_stage_text(STAGE_FULL);
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

Measure *measure_replay(const RecordedSpace *const *space, int n)
{
	Arena *a = arena_new();
	Replay *p = arena_new_of(a, Replay);
	*p = (Replay){ .base = { &way }, .arena = a, .space = space, .nspace = n };
	return &p->base;
}
