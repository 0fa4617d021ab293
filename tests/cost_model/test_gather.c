/* Records as rows to learn from: those that a replay of each schedule by itself makes, with any number of threads. */
#include "suite.h"

#include "base/file.h"
#include "base/json.h"
#include "db/db.h"
#include "learn/gather.h"
#include "learn/row_cache.h"
#include "learn/speeds.h"
#include "schedule/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The machine that the records are of. */
static const char machine[] = "{\"kind\":\"cpu\",\"model\":\"sapphirerapids\",\"features\":[\"x86-64-v4\"]}";

enum { TASKS = 16, EPOCH = 3, FLAWED_LINES = 2 };
static const char *const flawed[FLAWED_LINES] = { "unroll nosuch\n", "no step of any kind\n" };

typedef struct Store {
	char folder[SUITE_FOLDER];
	Arena *arena;
	Target target;
	Db *db;
	const char *id[TASKS]; /* in the file */
	const Task *task[TASKS];
	int n;
	VEC(RunRecord) run;
	RunRecord like; /* what the runs have in common */
} Store;

static const char *text_of(const Json *o, const char *key)
{
	const char *s;
	Err err = { 0 };
	ck_assert_msg(json_str(o, key, &s, &err), "%s", err.text);
	return s;
}

static void take_line(Store *s, const Json *o, RunRecord run)
{
	Err err = { 0 };
	int k = 0;
	if (strcmp(text_of(o, "kind"), "workload") == 0) {
		const char *dag = text_of(o, "dag");
		s->id[s->n] = text_of(o, "id");
		s->task[s->n] = task_parse(s->arena, dag, strlen(dag), &err);
		ck_assert(s->n < TASKS && s->task[s->n] != NULL && db_put_task(s->db, s->task[s->n], &err));
		s->n++;
		return;
	}
	while (k < s->n && strcmp(s->id[k], text_of(o, "workload")) != 0)
		k++;
	ck_assert(k < s->n && json_int(o, "median_ns", 1, INT64_MAX, &run.median_ns, &err));
	run.workload = s->task[k]->id;
	run.min_ns = run.median_ns;
	run.trace = text_of(o, "trace");
	run.seq = (int64_t)s->run.n;
	ck_assert_msg(db_put_run(s->db, &run, &err), "%s: %s", err.place, err.text);
	vec_push(s->arena, &s->run, run);
}

/* The records of tests/cost_model in a database, and for each task two traces that this version refuses. */
static Store *open_store(void)
{
	Arena *a = arena_new();
	Store *s = arena_new_of(a, Store);
	Bytes file;
	Err err = { 0 };
	SessionInfo session = { "test", "all", "n", 1, 1700000000, NULL, 0, 0 };
	RunRecord run = { .status = RUN_OK, .detail = "", .samples = 9, .max_err_e9 = 10 };
	s->arena = a;
	ck_assert(suite_folder(s->folder, "gather"));
	s->db = db_open(arena_printf(a, "%s/x.sqlite", s->folder), DB_WRITE, &err);
	ck_assert_msg(s->db != NULL && target_parse(&s->target, "machine", machine, sizeof machine - 1, 1, &err) &&
		db_put_target(s->db, &s->target, &run.target, &err) &&
		db_put_env(s->db, EPOCH, "test", NULL, NULL, &run.env, &err) &&
		db_put_session(s->db, &session, &run.session, &err) &&
		file_read(a, arena_printf(a, "%s/tests/cost_model/records.jsonl", getenv("DLC_SOURCE_ROOT")), 1 << 20, &file,
			&err), "%s: %s", err.place, err.text);
	s->like = run;
	for (const char *at = (const char *)file.at, *end = at + file.n; at < end;) {
		size_t n = (size_t)((const char *)memchr(at, '\n', (size_t)(end - at)) - at);
		const Json *o = json_parse(a, "records", at, n, &err);
		ck_assert_msg(o != NULL, "%s", err.text);
		take_line(s, o, run);
		at += n + 1;
	}
	for (int k = 0; k < s->n; k++)
		for (int i = 0; i < FLAWED_LINES; i++) {
			RunRecord bad = run;
			bad.workload = s->task[k]->id;
			bad.trace = flawed[i];
			bad.median_ns = bad.min_ns = 1000000;
			bad.seq = (int64_t)s->run.n + 2 * k + i;
			ck_assert_msg(db_put_run(s->db, &bad, &err), "%s: %s", err.place, err.text);
		}
	return s;
}

static LearnSet gather_from(const Store *s, Db *db, int threads, const char *rows)
{
	LearnSet out;
	Err err = { 0 };
	LearnAsk ask = { .set = { &db, 1 }, .kind = TARGET_CPU, .epoch = EPOCH, .threads = threads, .rows = rows };
	ck_assert_msg(learn_gather(&ask, &out, s->arena, &err), "%s: %s", err.place, err.text);
	return out;
}

static LearnSet gather(const Store *s, int threads)
{
	return gather_from(s, s->db, threads, NULL);
}

static void same_sets(const LearnSet *x, const LearnSet *y)
{
	size_t n = (size_t)x->rows.n;
	ck_assert_int_eq(y->rows.n, x->rows.n);
	ck_assert_int_eq(y->refused, x->refused);
	ck_assert_int_eq(y->ntask, x->ntask);
	ck_assert(memcmp(y->rows.row, x->rows.row, n * PREDICTORS * sizeof *x->rows.row) == 0);
	ck_assert(memcmp(y->rows.ns, x->rows.ns, n * sizeof *x->rows.ns) == 0);
	ck_assert(memcmp(y->rows.estimate, x->rows.estimate, n * sizeof *x->rows.estimate) == 0);
	ck_assert(memcmp(y->rows.weight, x->rows.weight, n * sizeof *x->rows.weight) == 0);
	ck_assert(memcmp(y->rows.task, x->rows.task, n * sizeof *x->rows.task) == 0);
	for (int k = 0; k < x->ntask; k++)
		ck_assert_int_eq(y->task[k].standard, x->task[k].standard);
}

static void close_store(Store *s)
{
	db_close(s->db);
	ck_assert_int_eq(system(arena_printf(s->arena, "rm -rf %s", s->folder)), 0);
	arena_free(s->arena);
}

START_TEST(rows_are_those_of_replays)
{
	Store *s = open_store();
	LearnSet set = gather(s, 3);
	ck_assert_int_eq(set.ntask, s->n);
	ck_assert_int_eq(set.rows.n, (int)s->run.n);
	ck_assert_int_eq(set.refused, FLAWED_LINES * s->n);
	for (size_t i = 0; i < s->run.n; i++) {
		const RunRecord *run = &s->run.at[i];
		float row[PREDICTORS];
		Err err = { 0 };
		Arena *a = arena_new();
		const Task *task = NULL;
		for (int k = 0; k < s->n; k++)
			task = memcmp(&s->task[k]->id, &run->workload, sizeof run->workload) == 0 ? s->task[k] : task;
		Trace *t = trace_parse(a, "trace", run->trace, strlen(run->trace), &err);
		const KernelSet *ks = t != NULL ? schedule_draft(ir_new(a), task, &s->target, t, &err) : NULL;
		ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
		double ns = predictor_row(ks, task, &s->target, row);
		bool found = false;
		for (int k = 0; k < set.rows.n && !found; k++)
			found = set.rows.ns[k] == (double)run->median_ns && set.rows.estimate[k] == ns &&
				memcmp(&set.task[set.rows.task[k]].workload, &run->workload, sizeof run->workload) == 0 &&
				memcmp(set.rows.row + (size_t)k * PREDICTORS, row, sizeof row) == 0;
		ck_assert_msg(found, "no row is like that of run %zu", i);
		arena_free(a);
	}
	close_store(s);
}
END_TEST

START_TEST(threads_change_nothing)
{
	static const int threads[] = { 0, 2, 5, 1000 };
	Store *s = open_store();
	LearnSet one = gather(s, 1);
	for (int i = 0; i < LEN(threads); i++) {
		LearnSet more = gather(s, threads[i]);
		same_sets(&one, &more);
	}
	close_store(s);
}
END_TEST

/* What is kept of one session is replayed no more; what another session ran is. Rows are those of replays. */
START_TEST(rows_of_a_session_are_kept)
{
	Store *s = open_store();
	SessionInfo later = { "test", "all", "n", 2, 1700000001, NULL, 0, 0 };
	RunRecord run = s->like;
	const char *rows = arena_printf(s->arena, "%s/cpu.rows", s->folder), *note = "";
	Err err = { 0 };
	LearnAsk ask = { .set = { &s->db, 1 }, .kind = TARGET_CPU, .epoch = EPOCH, .threads = 2, .rows = rows };
	int again = 0, fresh = 0;
	ck_assert(db_put_session(s->db, &later, &run.session, &err));
	for (size_t i = 0; i < s->run.n; i += 7) { /* schedules that ran before, and others */
		run.workload = s->run.at[i].workload;
		run.trace = again % 2 == 0 ? s->run.at[i].trace : arena_printf(s->arena, "unroll nosuch%d\n", again);
		run.median_ns = run.min_ns = 1000000 + again;
		run.seq = again++;
		fresh += again % 2 == 0;
		ck_assert_msg(db_put_run(s->db, &run, &err), "%s: %s", err.place, err.text);
	}
	LearnSet without = gather(s, 2);
	int all = (int)(without.rows.n + without.refused);
	ck_assert_int_eq(without.refused, FLAWED_LINES * s->n + fresh);
	ck_assert_int_eq(without.replayed, all);
	ck_assert(learn_keep_rows(&ask, run.session, &note, s->arena, &err) && note == NULL);
	LearnSet with = gather_from(s, s->db, 2, rows), third = gather_from(s, s->db, 2, rows);
	ck_assert_int_eq(with.replayed, all - again);
	ck_assert_int_eq(third.replayed, 0);
	ck_assert(with.note == NULL && third.note == NULL);
	same_sets(&without, &with);
	same_sets(&without, &third);
	close_store(s);
}
END_TEST

static bool put_line(const char *line, size_t n, void *arg)
{
	text_add(arg, "%.*s\n", (int)n, line);
	return true;
}

/* Runs of another user count half. */
START_TEST(own_runs_weigh_more)
{
	Store *s = open_store();
	Text lines = { .arena = s->arena };
	ImportCount count = { 0 };
	Err err = { 0 };
	Db *theirs = db_open(arena_printf(s->arena, "%s/y.sqlite", s->folder), DB_WRITE, &err);
	ck_assert(theirs != NULL && db_export(s->db, put_line, &lines, &err) &&
		db_import(theirs, "lines", text_str(&lines), lines.n, &count, &err) && count.refused == 0);
	LearnSet mine = gather(s, 2), hints = gather_from(s, theirs, 2, NULL);
	ck_assert(mine.rows.n > 0 && hints.rows.n == mine.rows.n);
	for (int i = 0; i < mine.rows.n; i++)
		ck_assert(mine.rows.weight[i] == 1 && hints.rows.weight[i] == 0.5);
	db_close(theirs);
	close_store(s);
}
END_TEST

/* Runs of another epoch count half; so do those of a session a year before the newest one. */
START_TEST(later_runs_weigh_more)
{
	enum { YEARS = 2 };
	Store *s = open_store();
	SessionInfo later = { "test", "all", "n", 2, 1700000000 + (int64_t)(YEARS * 365.25 * 86400), NULL, 0, 0 };
	LearnAsk next = { .set = { &s->db, 1 }, .kind = TARGET_CPU, .epoch = EPOCH + 1, .threads = 2 };
	RunRecord run = s->like;
	LearnSet set;
	Err err = { 0 };
	int fresh = 0;
	ck_assert_msg(learn_gather(&next, &set, s->arena, &err), "%s: %s", err.place, err.text);
	ck_assert(set.rows.n > 0);
	for (int i = 0; i < set.rows.n; i++)
		ck_assert(set.rows.weight[i] == 0.5);
	ck_assert(db_put_session(s->db, &later, &run.session, &err));
	run.workload = s->run.at[0].workload; /* a schedule that ran before, too */
	run.trace = s->run.at[0].trace;
	run.median_ns = run.min_ns = s->run.at[0].median_ns;
	ck_assert_msg(db_put_run(s->db, &run, &err), "%s: %s", err.place, err.text);
	set = gather(s, 2);
	for (int i = 0; i < set.rows.n; i++) {
		fresh += set.rows.weight[i] == 1;
		ck_assert(set.rows.weight[i] == 1 || set.rows.weight[i] == 0.25);
	}
	ck_assert_int_eq(fresh, 1);
	close_store(s);
}
END_TEST

/* A session ran the i-th schedule of the store again, in so many nanoseconds. */
static void run_again(Store *s, Hash session, size_t i, int64_t ns)
{
	RunRecord run = s->run.at[i];
	Err err = { 0 };
	run.session = session;
	run.median_ns = run.min_ns = ns;
	ck_assert_msg(db_put_run(s->db, &run, &err), "%s: %s", err.place, err.text);
}

/* A machine that takes three times as long has run every second schedule: inside a Task nothing changes. */
START_TEST(slower_machines_change_no_order)
{
	Store *s = open_store();
	SessionInfo later = { "test", "all", "n", 2, 1700000001, NULL, 0, 0 };
	Hash session;
	Err err = { 0 };
	LearnSet before = gather(s, 2);
	ck_assert(db_put_session(s->db, &later, &session, &err));
	for (size_t i = 0; i < s->run.n; i += 2)
		run_again(s, session, i, 3 * s->run.at[i].median_ns);
	LearnSet after = gather(s, 2);
	ck_assert(after.runs > before.runs && after.rows.n == before.rows.n && after.ntask == before.ntask);
	for (int t = 0; t < before.ntask; t++) {
		int first = before.task[t].first;
		double scale = after.rows.ns[first] / before.rows.ns[first];
		ck_assert(scale > 1 && scale < 3);
		for (int i = first; i < first + before.task[t].n; i++)
			ck_assert_double_eq_tol(after.rows.ns[i] / before.rows.ns[i], scale, 1e-9);
	}
	close_store(s);
}
END_TEST

/* A session that shares two schedules is not compared; one whose times nobody can reach says nothing. */
START_TEST(strangers_change_nothing)
{
	Store *s = open_store();
	SessionInfo later = { "test", "all", "n", 2, 1700000001, NULL, 0, 0 };
	Hash session;
	Err err = { 0 };
	LearnSet before = gather(s, 2);
	for (int k = 0; k < 2; k++) {
		later.seed++;
		ck_assert(db_put_session(s->db, &later, &session, &err));
		for (size_t i = 0; i < (k == 0 ? 2 : s->run.n); i++)
			run_again(s, session, i, k == 0 ? 7 * s->run.at[i].median_ns : 1);
	}
	LearnSet after = gather(s, 2);
	ck_assert_int_eq(after.runs, before.runs + 2 + (int64_t)s->run.n);
	ck_assert(after.rows.n == before.rows.n && after.ntask == before.ntask && after.refused == before.refused);
	for (int i = 0; i < before.rows.n; i++) {
		int k = 0;
		while (k < after.rows.n && (after.rows.ns[k] != before.rows.ns[i] || memcmp(after.rows.row + (size_t)k *
			PREDICTORS, before.rows.row + (size_t)i * PREDICTORS, PREDICTORS * sizeof *before.rows.row) != 0))
			k++;
		ck_assert_msg(k < after.rows.n, "row %d is another one", i);
	}
	for (int t = 0; t < after.ntask; t++)
		ck_assert((after.task[t].standard >= 0) == (before.task[t].standard >= 0));
	close_store(s);
}
END_TEST

/* Three sessions of other speeds, of which each shares five schedules with the one before; one time is absurd. */
START_TEST(speeds_are_found)
{
	enum { SCHEDULES = 35, SESSIONS = 3 };
	static const double speed[SESSIONS] = { 1, 0.4, 3 };
	TimedRun run[SCHEDULES * SESSIONS];
	double ns[SCHEDULES];
	int n = 0, group[SCHEDULES];
	Arena *a = arena_new();
	for (int k = 0; k < SESSIONS; k++)
		for (int s = 10 * k; s < 10 * k + 15; s++)
			run[n++] = (TimedRun){ s, k, (100 + s) * speed[k] * (k == 1 && s == 11 ? 1e6 : 1) };
	run[n++] = (TimedRun){ 4, 0, 104 }; /* again: of three times the middle one counts */
	run[n++] = (TimedRun){ 4, 0, 9e9 };
	ck_assert_int_eq(speeds_join(a, run, n, SCHEDULES, SESSIONS, ns, group), 1);
	for (int s = 0; s < SCHEDULES; s++) {
		ck_assert_int_eq(group[s], 0);
		ck_assert_msg(s == 11 || fabs(ns[s] / ns[0] - (100 + s) / 100.0) < 1e-3, "%d: %g of %g", s, ns[s], ns[0]);
	}
	arena_free(a);
}
END_TEST

/* Sessions that share less than three schedules are groups of their own, and their times stay. */
START_TEST(what_cannot_be_compared_is_not)
{
	TimedRun run[] = { { 0, 0, 10 }, { 1, 1, 7 }, { 2, 0, 12 }, { 3, 2, 70 }, { 1, 2, 70 }, { 3, 1, 7 }, { 4, 1, 9 },
		{ 4, 2, 90 } };
	double ns[6];
	int group[6];
	Arena *a = arena_new();
	ck_assert_int_eq(speeds_join(a, run, LEN(run), 6, 3, ns, group), 2);
	ck_assert(group[0] == 1 && group[2] == 1 && group[1] == 0 && group[3] == 0 && group[4] == 0);
	ck_assert(ns[0] == 10 && ns[2] == 12 && fabs(ns[1] - sqrt(490)) < 1e-9 && fabs(ns[4] - 9 * sqrt(10)) < 1e-9);
	ck_assert(group[5] == -1 && ns[5] == 0);
	TimedRun two[] = { { 0, 0, 10 }, { 1, 0, 10 }, { 2, 0, 10 }, { 0, 1, 70 }, { 1, 1, 70 } };
	ck_assert_int_eq(speeds_join(a, two, LEN(two), 3, 2, ns, group), 2);
	ck_assert(ns[0] == 10 && ns[1] == 10 && ns[2] == 10);
	ck_assert_int_eq(speeds_join(a, two, 0, 0, 0, ns, group), 0);
	arena_free(a);
}
END_TEST

/* ---- the file ---- */

static CachedRow row_of(int i)
{
	CachedRow r = { .key = row_cache_key(row_cache_task((Hash){ { 1 } }, "t"), i), .estimate = 1 + i };
	r.row[3] = (float)i;
	return r;
}

static RowCache opened(const Store *s, const char *path)
{
	RowCache c;
	row_cache_open(&c, s->arena, path, EPOCH);
	ck_assert_msg(c.note == NULL, "%s", c.note);
	return c;
}

/* Rows that no training asks for stay, behind those that were asked for. */
START_TEST(unused_rows_stay)
{
	static const int want[] = { 4, 1, 0, 2, 3 };
	Store s = { .arena = arena_new() };
	ck_assert(suite_folder(s.folder, "rows"));
	const char *path = arena_printf(s.arena, "%s/cpu.rows", s.folder);
	RowCache c = opened(&s, path);
	for (int i = 0; i < 4; i++) {
		CachedRow r = row_of(i);
		row_cache_add(&c, &r);
	}
	row_cache_save(&c);
	c = opened(&s, path);
	CachedRow r = row_of(1), more = row_of(4);
	const CachedRow *found = row_cache_find(&c, r.key);
	ck_assert(c.nold == 4 && found != NULL && memcmp(found, &r, sizeof r) == 0);
	ck_assert(row_cache_find(&c, more.key) == NULL);
	row_cache_add(&c, &more);
	row_cache_save(&c);
	c = opened(&s, path);
	ck_assert_uint_eq(c.nold, LEN(want));
	for (int i = 0; i < LEN(want); i++) {
		r = row_of(want[i]);
		ck_assert_msg(memcmp(&c.old[i], &r, sizeof r) == 0, "row %d", i);
	}
	ck_assert_int_eq(system(arena_printf(s.arena, "rm -rf %s", s.folder)), 0);
	arena_free(s.arena);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("gather");
	tcase_add_test(tc, rows_are_those_of_replays);
	tcase_add_test(tc, threads_change_nothing);
	tcase_add_test(tc, rows_of_a_session_are_kept);
	tcase_add_test(tc, own_runs_weigh_more);
	tcase_add_test(tc, later_runs_weigh_more);
	tcase_add_test(tc, slower_machines_change_no_order);
	tcase_add_test(tc, strangers_change_nothing);
	tcase_add_test(tc, speeds_are_found);
	tcase_add_test(tc, what_cannot_be_compared_is_not);
	tcase_add_test(tc, unused_rows_stay);
	return run_suite("gather", tc);
}
