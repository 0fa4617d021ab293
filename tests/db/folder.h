/*
 * A folder for databases, one Task with a target, an environment and a session, and runs of it: for tests of one
 * database.
 */
#ifndef TESTS_DB_FOLDER_H
#define TESTS_DB_FOLDER_H

#include "suite.h"
#include "base/file.h"
#include "base/rng.h"
#include "db/db.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[SUITE_FOLDER];
static Arena *arena;

static inline const char *path_of(const char *name)
{
	return arena_printf(arena, "%s/%s", folder, name);
}

static inline void setup(void)
{
	arena = arena_new();
	ck_assert(suite_folder(folder, "db"));
}

static inline void teardown(void)
{
	char *rm = arena_printf(arena, "rm -rf %s", folder);
	ck_assert_int_eq(system(rm), 0);
	arena_free(arena);
}

static inline Db *open_or_die(const char *path, DbMode mode)
{
	Err err = { 0 };
	Db *db = db_open(path, mode, &err);
	ck_assert_msg(db != NULL, "%s: %s", err.place, err.text);
	return db;
}

static inline const Task *task_of(int width)
{
	Err err = { 0 };
	char *text = arena_printf(arena, "dag t\nin x: f32[2,%d]\ny: f32[2,%d] = relu(x)\nout y\n", width, width);
	Dag *d = dag_parse(arena, "t", text, strlen(text), &err);
	Task *t = d != NULL ? task_new(arena, d, &err) : NULL;
	ck_assert_msg(t != NULL, "%s: %s", err.place, err.text);
	return t;
}

typedef struct World {
	const Task *task;
	Hash target, env, session;
} World;

static inline World fill_world(Db *db, int width)
{
	Err err = { 0 };
	Target t;
	World w = { .task = task_of(width) };
	SessionInfo s = { "dlc test", "random", "model", 1, 1700000000, "by hand", 77, 100 };
	target_host(&t, 1);
	ck_assert(db_put_task(db, w.task, &err) && db_put_target(db, &t, &w.target, &err) &&
		db_put_env(db, 7, "llvm", NULL, NULL, &w.env, &err) && db_put_session(db, &s, &w.session, &err));
	Hash id = target_id(&t);
	ck_assert_mem_eq(&id, &w.target, sizeof id);
	return w;
}

static inline Hash put_run(Db *db, const World *w, const char *trace, RunStatus status, int64_t ns, int64_t max_err)
{
	Err err = { 0 };
	static int64_t seq;
	RunRecord r = { .workload = w->task->id,
		.target = w->target,
		.session = w->session,
		.env = w->env,
		.trace = trace,
		.status = status,
		.median_ns = ns,
		.min_ns = ns,
		.samples = ns > 0 ? 5 : 0,
		.max_err_e9 = max_err,
		.detail = "",
		.seq = seq++,
		.probe_mflops = seq % 2 * 250000 };
	ck_assert_msg(db_put_run(db, &r, &err), "%s", err.text);
	return r.id;
}

static inline bool gather(const char *line, size_t n, void *arg)
{
	text_put(arg, line, n);
	text_put(arg, "\n", 1);
	return true;
}

static inline const char *export_of(Db *db)
{
	Err err = { 0 };
	Text t = { .arena = arena };
	ck_assert_msg(db_export(db, gather, &t, &err), "%s", err.text);
	return text_str(&t);
}

static inline ImportCount import_into(Db *db, const char *text)
{
	Err err = { 0 };
	ImportCount c = { 0 };
	ck_assert_msg(db_import(db, "log", text, strlen(text), &c, &err), "%s", err.text);
	return c;
}

static inline const char *filled(const char *name)
{
	Db *db = open_or_die(path_of(name), DB_WRITE);
	World w = fill_world(db, 8);
	for (int i = 0; i < 20; i++)
		put_run(db, &w, arena_printf(arena, "split i %d\n", i + 2), i % 5 == 4 ? RUN_CRASH : RUN_OK,
			i % 5 == 4 ? 0 : 1000 - i, 5);
	const char *text = export_of(db);
	db_close(db);
	return text;
}

#endif
