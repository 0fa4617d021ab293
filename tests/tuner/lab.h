/*
 * A recording to tune over: a made-up run of every candidate of two small tasks, so that budgets, resuming,
 * failures and the choice of tasks can be counted to the last trial.  No compiler, no child, no clock.
 */
#ifndef TESTS_TUNER_LAB_H
#define TESTS_TUNER_LAB_H

#include "suite.h"

#include "measure/replay.h"
#include "record/record.h"
#include "tuner/tuner.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char network[] = "dag n\nin x: f32[4,6,24]\ny: f32[24,4,6] = transpose(x) perm=[2,0,1]\n"
			      "p: f32[4,6,24] = sqrt(x)\nout y, p\n";
/* A space that takes many short runs. */
static const char large[] = "dag l\nin x: f32[2,8,12,24]\nin b: f32[8,1,24]\ny: f32[2,8,12,24] = add(x, b)\n"
			    "p: f32[2,8,12] = reduce_max(y) axes=[3] keep=0\nout y, p\n";

/* What a candidate is recorded as. */
typedef struct Fate {
	RunStatus status;
	int64_t ns;
} Fate;
typedef Fate (*FateFn)(const Task *task, const char *trace, bool is_default);

static inline uint64_t hash_text(const char *s)
{
	uint64_t h = 1469598103934665603u;
	for (; *s != 0; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

static inline Fate all_good(const Task *task, const char *trace, bool is_default)
{
	return (Fate){ RUN_OK, is_default ? 900000 : (strstr(task->text, "transpose") != NULL ? 100000 : 1000) +
			(int64_t)(hash_text(trace) % 500000) };
}

static inline Fate defaults_crash(const Task *task, const char *trace, bool is_default)
{
	return is_default ? (Fate){ RUN_CRASH, 0 } : all_good(task, trace, false);
}

static inline Fate most_fail(const Task *task, const char *trace, bool is_default)
{
	static const RunStatus bad[] = { RUN_WRONG_RESULT, RUN_RUN_TIMEOUT, RUN_COMPILE_ERROR };
	uint64_t h = hash_text(trace);
	return !is_default && h % 4 != 0 ? (Fate){ bad[h % 3], 0 } : all_good(task, trace, is_default);
}

static inline Fate all_oom(const Task *task, const char *trace, bool is_default)
{
	(void)task;
	(void)trace;
	(void)is_default;
	return (Fate){ RUN_OOM, 0 };
}

static inline Fate all_same(const Task *task, const char *trace, bool is_default)
{
	(void)task;
	(void)trace;
	(void)is_default;
	return (Fate){ RUN_OK, 5000 };
}

static inline Fate none_recorded(const Task *task, const char *trace, bool is_default)
{
	(void)task;
	(void)trace;
	(void)is_default;
	return (Fate){ RUN_CANCELLED, 0 };
}

typedef struct Seen {
	const Task *task;
	const char *trace;
} Seen;

typedef struct Lab {
	char folder[SUITE_FOLDER];
	Arena *arena;
	Target target;
	Partition *part;
	Db *recording, *db;
	RecordedSpace space[8]; /* by task: the same runs for the Measure */
	const RecordedSpace *spaces[8];
	Measure *measure;
	const char *first[8]; /* default traces, by task */
	int64_t all;          /* candidates recorded */
	double ms;            /* of the clock */
	VEC(Seen) seen;
	int64_t repeats; /* trials of defaults that were seen */
	atomic_int stop;
	int64_t stop_after; /* trials; 0: never */
} Lab;

static inline Db *open_db(const Lab *lab, const char *name, DbMode mode)
{
	Err err = { 0 };
	Db *db = db_open(arena_printf(lab->arena, "%s/%s", lab->folder, name), mode, &err);
	ck_assert_msg(db != NULL, "%s: %s", err.place, err.text);
	db_own(db, &(DbOwner){ { 1 } });
	return db;
}

static const char *trace_of(Arena *a, Space *space, Config c)
{
	Err err = { 0 };
	Text t = { .arena = a };
	Trace *trace = space_trace(space, &c, a, &err);
	ck_assert_msg(trace != NULL, "%s", err.text);
	trace_print(&t, trace);
	return text_str(&t);
}

/* Runs of one task for every trace of its space, as lines of a log. */
static inline void record_task(Lab *lab, const Task *task, FateFn fate, int k, RunRecord run, Text *log)
{
	Err err = { 0 };
	Config c;
	Space *space = space_new(lab->arena, task, &lab->target, &err);
	Interner *known = interner_new(lab->arena);
	VEC(RecordedRun) recorded = { 0 };
	ck_assert_msg(space != NULL, "%s", err.text);
	void *search = search_random.open(lab->arena, space, (SearchCost){ 0 }, effort_find("normal"), rng_seed(1));
	lab->first[k] = trace_of(lab->arena, space, space->first);
	while (search_random.ask(search, &c, 1) > 0) {
		const char *line;
		Hash id;
		run.trace = trace_of(lab->arena, space, c);
		if (intern_find(known, run.trace) != NULL)
			continue;
		intern(known, run.trace);
		Fate f = fate(task, run.trace, strcmp(run.trace, lab->first[k]) == 0);
		run.workload = task->id;
		run.status = f.status;
		run.detail = f.status != RUN_OK ? "as recorded" : "";
		run.median_ns = run.min_ns = f.ns;
		run.samples = f.ns > 0 ? 9 : 0;
		run.max_err_e9 = f.status == RUN_OK ? 10 : -1;
		run.seq = lab->all;
		if (f.status == RUN_CANCELLED)
			continue;
		ck_assert_msg(record_seal(lab->arena, record_from_run(lab->arena, &run), &id, &line, &err), "%s", err.text);
		text_add(log, "%s\n", line);
		lab->all++;
		RecordedRun r = { .config = "", .trace = run.trace, .status = f.status };
		if (f.status == RUN_OK)
			recorded_add_time(&r, f.ns);
		vec_push(lab->arena, &recorded, r);
	}
	lab->space[k] = (RecordedSpace){ .task = task, .run = recorded.at, .n = (int)recorded.n };
	lab->spaces[k] = &lab->space[k];
}

static inline Lab *open_lab_of(const char *text, FateFn fate)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Lab *lab = arena_new_of(a, Lab);
	lab->arena = a;
	ck_assert(suite_folder(lab->folder, "tuner"));
	/* Neither registers nor caches of this machine change the spaces. */
	static const char any[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v3\"}";
	ck_assert_msg(target_parse(&lab->target, "any", any, sizeof any - 1, 1, &err), "%s", err.text);
	Dag *dag = dag_parse(a, "n", text, strlen(text), &err);
	lab->part = dag != NULL ? graph_partition(a, dag, &err) : NULL;
	ck_assert_msg(lab->part != NULL, "%s: %s", err.place, err.text);
	ck_assert_int_eq(lab->part->ntask, 2);
	lab->recording = open_db(lab, "recording.sqlite", DB_WRITE);
	lab->db = open_db(lab, "db.sqlite", DB_WRITE);
	RunRecord run = { .detail = "" };
	SessionInfo s = { "test", "all", "n", 1, 1700000000, NULL, 0, 0 };
	ImportCount count = { 0 };
	Text log = { .arena = a };
	ck_assert(db_put_target(lab->recording, &lab->target, &run.target, &err) &&
		db_put_env(lab->recording, CODEGEN_EPOCH, "test", NULL, NULL, &run.env, &err) &&
		db_put_session(lab->recording, &s, &run.session, &err));
	for (int k = 0; k < lab->part->ntask; k++) {
		ck_assert(db_put_task(lab->recording, lab->part->task[k], &err));
		record_task(lab, lab->part->task[k], fate, k, run, &log);
	}
	ck_assert_msg(db_import(lab->recording, "log", text_str(&log), log.n, &count, &err), "%s", err.text);
	ck_assert_int_eq(count.taken, lab->all);
	lab->measure = measure_replay(lab->spaces, lab->part->ntask);
	return lab;
}

static inline Lab *open_lab(FateFn fate)
{
	return open_lab_of(network, fate);
}

static inline void close_lab(Lab *lab)
{
	measure_close(lab->measure);
	db_close(lab->recording);
	db_close(lab->db);
	ck_assert_int_eq(system(arena_printf(lab->arena, "rm -rf %s", lab->folder)), 0);
	arena_free(lab->arena);
}

static inline double tick(void *arg)
{
	Lab *lab = arg;
	return lab->ms += 1;
}

static inline void on_trial(const RunRecord *run, const Task *task, void *arg)
{
	Lab *lab = arg;
	Seen s = { task, arena_printf(lab->arena, "%s", run->trace) };
	bool seen = false, is_default = false;
	for (size_t i = 0; i < lab->seen.n; i++)
		seen |= lab->seen.at[i].task == task && strcmp(lab->seen.at[i].trace, s.trace) == 0;
	for (int k = 0; k < lab->part->ntask; k++)
		is_default |= lab->part->task[k] == task && strcmp(lab->first[k], s.trace) == 0;
	ck_assert_msg(!seen || is_default, "twice: %s", s.trace);
	lab->repeats += seen;
	if (!seen)
		vec_push(lab->arena, &lab->seen, s);
	if (lab->stop_after != 0 && (int64_t)lab->seen.n >= lab->stop_after)
		lab->stop = 1;
}

typedef struct Job {
	TuneRequest ask;
	TuneMeans with;
} Job;

static inline Job job_of(Lab *lab)
{
	return (Job){ { .target = &lab->target,
			      .search = &search_random,
			      .effort = effort_find("normal"),
			      .model = "n",
			      .started_s = 1700000000,
			      .trials = -1,
			      .more_trials = -1,
			      .seed = 7 },
		{ .db = lab->db,
			.measure = lab->measure,
			.clock = { tick, lab },
			.stop = &lab->stop,
			.on_trial = on_trial,
			.arg = lab } };
}

static inline TuneResult tune(Lab *lab, const Job *o)
{
	Err err = { 0 };
	TuneResult s;
	ck_assert_msg(tune_model(lab->arena, lab->part, &o->ask, &o->with, &s, &err), "%s: %s", err.place, err.text);
	return s;
}

static inline bool count_run(const RunRecord *run, void *arg)
{
	(void)run;
	++*(int64_t *)arg;
	return true;
}

static inline int64_t stored(const Lab *lab, Db *db)
{
	Err err = { 0 };
	int64_t n = 0;
	for (int k = 0; k < lab->part->ntask; k++)
		ck_assert(db_each_run(db, lab->part->task[k]->id, target_id(&lab->target), CODEGEN_EPOCH, count_run, &n, &err));
	return n;
}

#endif
