/* dlc db list, best, log, stats: rows of what a database holds. */
#include "cli/cmd_db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Rows {
	bool json;
	int64_t n;
} Rows;

/* ---- list */

static int list_task(const DlcTaskRow *t, void *arg)
{
	Rows *r = arg;
	Arena *a = arena_new();
	const char *target = t->target != NULL ? t->target : "-";
	if (r->json) {
		Json *o = json_new(a, JV_OBJECT);
		json_set(a, o, "workload", json_new_text(a, t->id));
		json_set(a, o, "op", json_new_text(a, t->label));
		json_set(a, o, "target", json_new_text(a, target));
		json_set(a, o, "runs", json_new_int(a, t->runs));
		json_set(a, o, "ok", json_new_int(a, t->ok));
		json_set(a, o, "sessions", json_new_int(a, t->sessions));
		json_set(a, o, "best_ms", t->best != NULL ? json_new_real(a, (double)t->best->ns / 1e6) : json_new(a, JV_NULL));
		json_set(a, o, "stale", json_new_bool(a, t->best != NULL && t->best->stale));
		db_print_object(a, o);
	} else {
		if (r->n == 0)
			printf("%-9s%-38s%-20s%7s %6s %9s %9s\n", "task", "op", "target", "runs", "ok", "sessions", "best ms");
		printf("%.7s  %-38.38s%-20s%7lld %6lld %9lld ", t->id, t->label, target, (long long)t->runs, (long long)t->ok,
			(long long)t->sessions);
		if (t->best != NULL)
			printf("%9.4f%s\n", (double)t->best->ns / 1e6, t->best->stale ? "  stale" : "");
		else
			printf("%9s\n", "-");
	}
	r->n++;
	arena_free(a);
	return 0;
}

/* ---- best */

static void print_best_json(const DlcTaskRow *t)
{
	Arena *a = arena_new();
	const DlcBest *b = t->best;
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "workload", json_new_text(a, t->id));
	json_set(a, o, "op", json_new_text(a, t->label));
	json_set(a, o, "target", json_new_text(a, t->target));
	json_set(a, o, "trace", json_new_text(a, b->trace));
	json_set(a, o, "median_ns", json_new_int(a, b->ns));
	json_set(a, o, "samples", json_new_int(a, b->samples));
	json_set(a, o, "status", json_new_text(a, b->status));
	json_set(a, o, "verified", json_new_bool(a, b->verified));
	json_set(a, o, "own", json_new_bool(a, b->own));
	json_set(a, o, "session", json_new_text(a, b->session));
	json_set(a, o, "sessions", json_new_int(a, b->sessions));
	json_set(a, o, "runs", json_new_int(a, b->runs));
	json_set(a, o, "record", json_new_text(a, b->record));
	json_set(a, o, "epoch", json_new_int(a, b->epoch));
	db_print_object(a, o);
	arena_free(a);
}

/* A trace that --apply and --try take, with what is known of it as remarks. */
static void print_best(const DlcTaskRow *t, bool first)
{
	Arena *a = arena_new();
	const DlcBest *b = t->best;
	printf("%s# %s on %s: %.6f ms, %d run%s in %d session%s, record %.12s%s\ntask %s\n%s", first ? "" : "\n", t->label,
		t->target, (double)b->ns / 1e6, b->runs, b->runs == 1 ? "" : "s", b->sessions, b->sessions == 1 ? "" : "s",
		b->record, b->stale ? ", of other code" : "", t->id, text_printable(a, b->trace, "\n"));
	arena_free(a);
}

static int best_task(const DlcTaskRow *t, void *arg)
{
	Rows *r = arg;
	if (t->best == NULL)
		return 0;
	if (r->json)
		print_best_json(t);
	else
		print_best(t, r->n == 0);
	r->n++;
	return 0;
}

static bool run_rows(const Args *args, DlcTaskEach each, Err *err)
{
	Rows r = { .json = args_given(args, "json") };
	Opened o;
	const char *task = args_operand(args, 1);
	bool ok = db_open_operand(args, DLC_READ, &o, err) &&
		dlc_database_tasks(o.db, task, each, &r, failure_of(err)) == DLC_FAULT_NONE;
	db_close_operand(&o);
	return ok && (task == NULL || r.n > 0 || fail(err, ERR_MISSING, task, "no run of the task is verified"));
}

static bool run_list(const Args *args, Err *err)
{
	return run_rows(args, list_task, err);
}

static bool run_best(const Args *args, Err *err)
{
	return run_rows(args, best_task, err);
}

/* ---- log */

typedef struct Log {
	Arena *arena;
	VEC(DlcSessionRow) list;
} Log;

static const char *keep_text(Arena *a, const char *text)
{
	return text != NULL ? arena_printf(a, "%s", text) : "?";
}

static int take_session(const DlcSessionRow *s, void *arg)
{
	Log *l = arg;
	DlcSessionRow x = *s;
	x.tool = keep_text(l->arena, s->tool);
	x.search = keep_text(l->arena, s->search);
	x.model = keep_text(l->arena, s->model);
	vec_push(l->arena, &l->list, x);
	return 0;
}

static int newest_first(const void *pa, const void *pb)
{
	const DlcSessionRow *a = pa, *b = pb;
	if (a->started_s != b->started_s)
		return a->started_s > b->started_s ? -1 : 1;
	return strcmp(a->id, b->id);
}

static void print_session(Arena *a, const DlcSessionRow *s, bool json)
{
	if (json) {
		Json *o = json_new(a, JV_OBJECT);
		json_set(a, o, "session", json_new_text(a, s->id));
		json_set(a, o, "started_s", json_new_int(a, s->started_s));
		json_set(a, o, "tool", json_new_text(a, s->tool));
		json_set(a, o, "model", json_new_text(a, s->model));
		json_set(a, o, "search", json_new_text(a, s->search));
		json_set(a, o, "seed", json_new_int(a, s->seed));
		json_set(a, o, "runs", json_new_int(a, s->runs));
		json_set(a, o, "ok", json_new_int(a, s->ok));
		db_print_object(a, o);
		return;
	}
	char when[40] = "-";
	time_t t = (time_t)s->started_s;
	struct tm tm;
	if (gmtime_r(&t, &tm) != NULL)
		strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
	printf("%.7s  %s  %-30.30s %-10.10s %-10.10s%7lld runs, %lld ok\n", s->id, when, text_printable(a, s->model, ""),
		text_printable(a, s->search, ""), text_printable(a, s->tool, ""), (long long)s->runs, (long long)s->ok);
}

static bool run_log(const Args *args, Err *err)
{
	Log l = { .arena = args_arena(args) };
	Opened o;
	bool ok = db_open_operand(args, DLC_READ, &o, err) &&
		dlc_database_sessions(o.db, take_session, &l, failure_of(err)) == DLC_FAULT_NONE;
	db_close_operand(&o);
	if (ok && l.list.n > 0)
		qsort(l.list.at, l.list.n, sizeof *l.list.at, newest_first);
	for (size_t i = 0; ok && i < l.list.n; i++)
		print_session(l.arena, &l.list.at[i], args_given(args, "json"));
	return ok;
}

/* ---- stats */

static void print_stats_json(Arena *a, const DlcStats *s)
{
	Json *o = json_new(a, JV_OBJECT), *kinds = json_set(a, o, "records", json_new(a, JV_OBJECT));
	for (int k = 0; s->kind[k].name != NULL; k++)
		json_set(a, kinds, s->kind[k].name, json_new_int(a, s->kind[k].n));
	Json *status = json_set(a, o, "status", json_new(a, JV_OBJECT));
	for (int k = 0; s->status[k].name != NULL; k++)
		json_set(a, status, s->status[k].name, json_new_int(a, s->status[k].n));
	Json *targets = json_set(a, o, "targets", json_new(a, JV_OBJECT));
	for (int i = 0; i < s->ntarget; i++)
		json_set(a, targets, s->target[i].name, json_new_int(a, s->target[i].n));
	json_set(a, o, "tasks_with_runs", json_new_int(a, s->tasks));
	json_set(a, o, "sessions_with_runs", json_new_int(a, s->sessions));
	json_set(a, o, "line_bytes", json_new_int(a, s->line_bytes));
	json_set(a, o, "file_bytes", json_new_int(a, s->file_bytes));
	db_print_object(a, o);
}

static void print_stats(Arena *a, const DlcStats *s)
{
	(void)a;
	for (int k = 0; s->kind[k].name != NULL; k++)
		printf("%-14s%10lld\n", s->kind[k].name, (long long)s->kind[k].n);
	for (int k = 0; s->status[k].name != NULL; k++)
		if (s->status[k].n != 0)
			printf("runs %-24s%10lld\n", s->status[k].name, (long long)s->status[k].n);
	for (int i = 0; i < s->ntarget; i++)
		printf(
			"runs on %-21s%10lld, %lld ok\n", s->target[i].name, (long long)s->target[i].n, (long long)s->target[i].ok);
	printf("%lld tasks and %lld sessions have runs; %.1f MB of lines in %.1f MB\n", (long long)s->tasks,
		(long long)s->sessions, (double)s->line_bytes / 1e6, (double)s->file_bytes / 1e6);
}

static bool run_stats(const Args *args, Err *err)
{
	DlcStats s;
	Opened o;
	bool ok =
		db_open_operand(args, DLC_READ, &o, err) && dlc_database_stats(o.db, &s, failure_of(err)) == DLC_FAULT_NONE;
	if (ok)
		(args_given(args, "json") ? print_stats_json : print_stats)(args_arena(args), &s);
	db_close_operand(&o);
	return ok;
}

static const Option json_options[] = { OPTION_JSON, OPTION_END };

const Verb db_list_verb = { .name = "list", .summary = "The tasks, what ran of each on which target, and the best time",
	.operands = "[DB]", .least = 0, .most = 1, .options = json_options, .run = run_list };
const Verb db_best_verb = { .name = "best", .summary = "The best schedule of each task, or of one",
	.operands = "[DB [TASK]]", .least = 0, .most = 2, .options = json_options, .run = run_best };
const Verb db_log_verb = { .name = "log", .summary = "The sessions, newest first",
	.operands = "[DB]", .least = 0, .most = 1, .options = json_options, .run = run_log };
const Verb db_stats_verb = { .name = "stats", .summary = "Counts by kind, status and target; sizes",
	.operands = "[DB]", .least = 0, .most = 1, .options = json_options, .run = run_stats };
