/* dlc db list, best, log, stats: rows of what a database holds. */
#include "cli/cmd_db.h"
#include "cli/model.h"
#include "codegen/codegen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Rows {
	Db *db;
	Arena *arena;
	const char *task; /* prefix; "" for all */
	bool json, heads;
	int64_t n;
	Err *err;
} Rows;

static void print_object(Arena *a, const Json *o)
{
	Text out = { .arena = a };
	json_write(&out, o);
	puts(text_str(&out));
}

static const char *hex_of(Arena *a, Hash h)
{
	char hex[HASH_HEX];
	hash_hex(h, hex);
	return arena_printf(a, "%s", hex);
}

static bool ran(const DbTask *t)
{
	static const Hash none;
	return memcmp(&t->target, &none, sizeof none) != 0;
}

static bool wanted(const Rows *r, const DbTask *t)
{
	char hex[HASH_HEX];
	hash_hex(t->workload, hex);
	return strncmp(hex, r->task, strlen(r->task)) == 0;
}

/* ---- list */

static bool list_task(const DbTask *t, void *arg)
{
	Rows *r = arg;
	Arena *a = arena_new();
	DbChoice best = { 0 };
	int epoch = 0;
	bool has = ran(t) && db_best_any(r->db, t, &best, &epoch, a, r->err);
	const char *label = db_label(r->db, t->workload, a, NULL);
	const char *target = ran(t) ? db_target_name(r->db, t->target, a) : "-";
	r->n++;
	if (r->json) {
		Json *o = json_new(a, JV_OBJECT);
		json_set(a, o, "workload", json_new_text(a, hex_of(a, t->workload)));
		json_set(a, o, "op", json_new_text(a, label));
		json_set(a, o, "target", json_new_text(a, target));
		json_set(a, o, "runs", json_new_int(a, t->runs));
		json_set(a, o, "ok", json_new_int(a, t->ok));
		json_set(a, o, "sessions", json_new_int(a, t->sessions));
		json_set(a, o, "best_ms", has ? json_new_real(a, (double)best.ns / 1e6) : json_new(a, JV_NULL));
		json_set(a, o, "stale", json_new_bool(a, has && epoch != CODEGEN_EPOCH));
		print_object(a, o);
	} else {
		if (r->heads)
			printf("%-9s%-38s%-20s%7s %6s %9s %9s\n", "task", "op", "target", "runs", "ok", "sessions", "best ms");
		r->heads = false;
		printf("%.7s  %-38.38s%-20s%7lld %6lld %9lld ", hex_of(a, t->workload), label, target, (long long)t->runs,
			(long long)t->ok, (long long)t->sessions);
		if (has)
			printf("%9.4f%s\n", (double)best.ns / 1e6, epoch != CODEGEN_EPOCH ? "  stale" : "");
		else
			printf("%9s\n", "-");
	}
	arena_free(a);
	return r->err->code == ERR_NONE;
}

/* ---- best */

static void print_best_json(Rows *r, Arena *a, const DbTask *t, const DbChoice *c, int epoch)
{
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "workload", json_new_text(a, hex_of(a, t->workload)));
	json_set(a, o, "op", json_new_text(a, db_label(r->db, t->workload, a, NULL)));
	json_set(a, o, "target", json_new_text(a, db_target_name(r->db, t->target, a)));
	json_set(a, o, "trace", json_new_text(a, c->run.trace));
	json_set(a, o, "median_ns", json_new_int(a, c->ns));
	json_set(a, o, "samples", json_new_int(a, c->run.samples));
	json_set(a, o, "status", json_new_text(a, run_status_text(c->run.status)));
	json_set(a, o, "verified", json_new_bool(a, record_verified(&c->run)));
	json_set(a, o, "own", json_new_bool(a, c->own));
	json_set(a, o, "session", json_new_text(a, hex_of(a, c->run.session)));
	json_set(a, o, "sessions", json_new_int(a, c->sessions));
	json_set(a, o, "runs", json_new_int(a, c->runs));
	json_set(a, o, "record", json_new_text(a, hex_of(a, c->run.id)));
	json_set(a, o, "epoch", json_new_int(a, epoch));
	print_object(a, o);
}

/* A trace that --apply and --try take, with what is known of it as remarks. */
static bool best_task(const DbTask *t, void *arg)
{
	Rows *r = arg;
	if (!ran(t) || !wanted(r, t))
		return true;
	Arena *a = arena_new();
	DbChoice c;
	int epoch;
	if (db_best_any(r->db, t, &c, &epoch, a, r->err)) {
		char *trace = arena_printf(a, "%s", c.run.trace);
		text_make_printable(trace, "\n");
		r->n++;
		if (r->json)
			print_best_json(r, a, t, &c, epoch);
		else
			printf("%s# %s on %s: %.6f ms, %d run%s in %d session%s, record %.12s%s\ntask %s\n%s", r->n > 1 ? "\n" : "",
				db_label(r->db, t->workload, a, NULL), db_target_name(r->db, t->target, a), (double)c.ns / 1e6,
				c.runs, c.runs == 1 ? "" : "s", c.sessions, c.sessions == 1 ? "" : "s", hex_of(a, c.run.id),
				epoch != CODEGEN_EPOCH ? ", of other code" : "", hex_of(a, t->workload), trace);
	}
	arena_free(a);
	return r->err->code == ERR_NONE;
}

static bool run_rows(const Args *args, DbTaskFn each, Err *err)
{
	Rows r = { .arena = args_arena(args), .task = "", .json = args_given(args, "json"), .heads = true, .err = err };
	RecordName found;
	r.db = db_operand(args, DB_READ, err);
	bool ok = r.db != NULL;
	if (ok && args_operand(args, 1) != NULL) {
		ok = db_find_one(r.db, args_operand(args, 1), RECORD_WORKLOAD, &found, err);
		if (ok)
			r.task = hex_of(r.arena, found.id);
	}
	ok = ok && db_each_task(r.db, each, &r, err) && err->code == ERR_NONE;
	if (ok && r.task[0] != 0 && r.n == 0)
		ok = fail(err, ERR_MISSING, args_operand(args, 1), "no run of the task is verified");
	db_close(r.db);
	return ok;
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

typedef struct Session {
	DbSession count;
	const char *tool, *search, *model;
	int64_t seed, started_s;
} Session;

typedef struct Log {
	Rows rows;
	VEC(Session) list;
} Log;

static bool take_session(const DbSession *s, void *arg)
{
	Log *l = arg;
	Session x = { .count = *s };
	const Record *r = db_record(l->rows.db, s->id, NULL, l->rows.arena, l->rows.err);
	if (r == NULL)
		return l->rows.err->code == ERR_NONE;
	json_str(r->json, "tool", &x.tool, NULL);
	json_str(r->json, "search", &x.search, NULL);
	json_str(r->json, "model", &x.model, NULL);
	json_int(r->json, "seed", INT64_MIN, INT64_MAX, &x.seed, NULL);
	json_int(r->json, "started_s", 0, INT64_C(1) << 40, &x.started_s, NULL);
	vec_push(l->rows.arena, &l->list, x);
	return true;
}

static int newest_first(const void *pa, const void *pb)
{
	const Session *a = pa, *b = pb;
	if (a->started_s != b->started_s)
		return a->started_s > b->started_s ? -1 : 1;
	return memcmp(&a->count.id, &b->count.id, sizeof(Hash));
}

static void print_session(const Rows *r, const Session *s)
{
	Arena *a = arena_new();
	const char *id = hex_of(a, s->count.id);
	if (r->json) {
		Json *o = json_new(a, JV_OBJECT);
		json_set(a, o, "session", json_new_text(a, id));
		json_set(a, o, "started_s", json_new_int(a, s->started_s));
		json_set(a, o, "tool", json_new_text(a, s->tool));
		json_set(a, o, "model", json_new_text(a, s->model));
		json_set(a, o, "search", json_new_text(a, s->search));
		json_set(a, o, "seed", json_new_int(a, s->seed));
		json_set(a, o, "runs", json_new_int(a, s->count.runs));
		json_set(a, o, "ok", json_new_int(a, s->count.ok));
		print_object(a, o);
	} else {
		char when[40] = "-";
		time_t t = (time_t)s->started_s;
		struct tm tm;
		if (gmtime_r(&t, &tm) != NULL)
			strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
		printf("%.7s  %s  %-30.30s %-10.10s %-10.10s%7lld runs, %lld ok\n", id, when, db_printable(a, s->model),
			db_printable(a, s->search), db_printable(a, s->tool), (long long)s->count.runs, (long long)s->count.ok);
	}
	arena_free(a);
}

static bool run_log(const Args *args, Err *err)
{
	Log l = { .rows = { .arena = args_arena(args), .json = args_given(args, "json"), .err = err } };
	l.rows.db = db_operand(args, DB_READ, err);
	bool ok = l.rows.db != NULL && db_each_session(l.rows.db, take_session, &l, err) && err->code == ERR_NONE;
	if (ok && l.list.n > 0)
		qsort(l.list.at, l.list.n, sizeof *l.list.at, newest_first);
	for (size_t i = 0; ok && i < l.list.n; i++)
		print_session(&l.rows, &l.list.at[i]);
	db_close(l.rows.db);
	return ok;
}

/* ---- stats */

/* Runs of each target, in the order met. */
typedef struct Targets {
	Arena *arena;
	VEC(DbTask) list;
	int64_t tasks; /* with runs */
} Targets;

static bool add_target(const DbTask *t, void *arg)
{
	Targets *x = arg;
	size_t i = 0;
	if (!ran(t))
		return true;
	x->tasks++;
	while (i < x->list.n && memcmp(&x->list.at[i].target, &t->target, sizeof(Hash)) != 0)
		i++;
	if (i == x->list.n) {
		DbTask first = { .target = t->target };
		vec_push(x->arena, &x->list, first);
	}
	x->list.at[i].runs += t->runs;
	x->list.at[i].ok += t->ok;
	return true;
}

static void print_stats_json(Arena *a, Db *db, const DbStats *s, const Targets *t, int64_t sessions)
{
	Json *o = json_new(a, JV_OBJECT), *kinds = json_set(a, o, "records", json_new(a, JV_OBJECT));
	for (int k = 0; k < RECORD_KINDS; k++)
		json_set(a, kinds, record_kind_name((RecordKind)k), json_new_int(a, s->records[k]));
	Json *status = json_set(a, o, "status", json_new(a, JV_OBJECT));
	for (int k = 0; k < RUN_STATUS_COUNT; k++)
		json_set(a, status, run_status_text((RunStatus)k), json_new_int(a, s->status[k]));
	Json *targets = json_set(a, o, "targets", json_new(a, JV_OBJECT));
	for (size_t i = 0; i < t->list.n; i++)
		json_set(a, targets, db_target_name(db, t->list.at[i].target, a), json_new_int(a, t->list.at[i].runs));
	json_set(a, o, "tasks_with_runs", json_new_int(a, t->tasks));
	json_set(a, o, "sessions_with_runs", json_new_int(a, sessions));
	json_set(a, o, "line_bytes", json_new_int(a, s->line_bytes));
	json_set(a, o, "file_bytes", json_new_int(a, s->file_bytes));
	print_object(a, o);
}

static void print_stats(Arena *a, Db *db, const DbStats *s, const Targets *t, int64_t sessions)
{
	for (int k = 0; k < RECORD_KINDS; k++)
		printf("%-14s%10lld\n", record_kind_name((RecordKind)k), (long long)s->records[k]);
	for (int k = 0; k < RUN_STATUS_COUNT; k++)
		if (s->status[k] != 0)
			printf("runs %-24s%10lld\n", run_status_text((RunStatus)k), (long long)s->status[k]);
	for (size_t i = 0; i < t->list.n; i++)
		printf("runs on %-21s%10lld, %lld ok\n", db_target_name(db, t->list.at[i].target, a), (long long)t->list.at[i].runs,
			(long long)t->list.at[i].ok);
	printf("%lld tasks and %lld sessions have runs; %.1f MB of lines in %.1f MB\n", (long long)t->tasks,
		(long long)sessions, (double)s->line_bytes / 1e6, (double)s->file_bytes / 1e6);
}

static bool count_session(const DbSession *s, void *arg)
{
	(void)s;
	++*(int64_t *)arg;
	return true;
}

static bool run_stats(const Args *args, Err *err)
{
	Arena *a = args_arena(args);
	Targets t = { .arena = a };
	DbStats s;
	int64_t sessions = 0;
	Db *db = db_operand(args, DB_READ, err);
	bool ok = db != NULL && db_stats(db, &s, err) && db_each_task(db, add_target, &t, err) &&
		db_each_session(db, count_session, &sessions, err);
	if (ok)
		(args_given(args, "json") ? print_stats_json : print_stats)(a, db, &s, &t, sessions);
	db_close(db);
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
