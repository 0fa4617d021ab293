/* Records as rows to learn from: those that a replay of each schedule by itself makes, with any number of threads. */
#include "suite.h"

#include "base/file.h"
#include "base/json.h"
#include "db/db.h"
#include "learn/gather.h"
#include "schedule/space.h"

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

static LearnSet gather(const Store *s, int threads)
{
	LearnSet out;
	Err err = { 0 };
	Db *db[] = { s->db };
	LearnAsk ask = { .set = { db, 1 }, .kind = TARGET_CPU, .epoch = EPOCH, .threads = threads };
	ck_assert_msg(learn_gather(&ask, &out, s->arena, &err), "%s: %s", err.place, err.text);
	return out;
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
	db_close(s->db);
	ck_assert_int_eq(system(arena_printf(s->arena, "rm -rf %s", s->folder)), 0);
	arena_free(s->arena);
}
END_TEST

START_TEST(threads_change_nothing)
{
	static const int threads[] = { 0, 2, 5, 1000 };
	Store *s = open_store();
	LearnSet one = gather(s, 1);
	for (int i = 0; i < LEN(threads); i++) {
		LearnSet more = gather(s, threads[i]);
		size_t n = (size_t)one.rows.n;
		ck_assert_int_eq(more.rows.n, one.rows.n);
		ck_assert_int_eq(more.refused, one.refused);
		ck_assert_int_eq(more.ntask, one.ntask);
		ck_assert(memcmp(more.rows.row, one.rows.row, n * PREDICTORS * sizeof *one.rows.row) == 0);
		ck_assert(memcmp(more.rows.ns, one.rows.ns, n * sizeof *one.rows.ns) == 0);
		ck_assert(memcmp(more.rows.estimate, one.rows.estimate, n * sizeof *one.rows.estimate) == 0);
		ck_assert(memcmp(more.rows.task, one.rows.task, n * sizeof *one.rows.task) == 0);
		for (int k = 0; k < one.ntask; k++)
			ck_assert_int_eq(more.task[k].standard, one.task[k].standard);
	}
	db_close(s->db);
	ck_assert_int_eq(system(arena_printf(s->arena, "rm -rf %s", s->folder)), 0);
	arena_free(s->arena);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("gather");
	tcase_add_test(tc, rows_are_those_of_replays);
	tcase_add_test(tc, threads_change_nothing);
	return run_suite("gather", tc);
}
