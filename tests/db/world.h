/*
 * Databases in a folder of their own, for tests: tasks, sessions and runs by a few numbers.
 */
#ifndef TESTS_DB_WORLD_H
#define TESTS_DB_WORLD_H

#include "suite.h"

#include "base/file.h"
#include "db/rank.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct World {
	char folder[SUITE_FOLDER];
	Arena *arena;
	Target target;
	Hash target_id;
} World;

static inline World *world_open(void)
{
	Arena *a = arena_new();
	World *w = arena_new_of(a, World);
	w->arena = a;
	ck_assert(suite_folder(w->folder, "world"));
	target_host(&w->target, 1);
	w->target_id = target_id(&w->target);
	return w;
}

static inline void world_close(World *w)
{
	ck_assert_int_eq(system(arena_printf(w->arena, "rm -rf %s", w->folder)), 0);
	arena_free(w->arena);
}

static inline Db *world_db(World *w, const char *name)
{
	Err err = { 0 };
	Db *db = db_open(arena_printf(w->arena, "%s/%s", w->folder, name), DB_WRITE, &err);
	ck_assert_msg(db != NULL, "%s: %s", err.place, err.text);
	db_own(db, &(DbOwner){ { 1 } });
	return db;
}

/* relu of f32[2,width] */
static inline Task *world_task(World *w, int width)
{
	Err err = { 0 };
	char *text = arena_printf(w->arena, "dag t\nin x: f32[2,%d]\ny: f32[2,%d] = relu(x)\nout y\n", width, width);
	Task *t = task_new(w->arena, dag_parse(w->arena, "t", text, strlen(text), &err), &err);
	ck_assert_msg(t != NULL, "%s: %s", err.place, err.text);
	return t;
}

typedef struct Ran {
	const Task *task;
	const Target *target; /* NULL: the world's */
	const char *trace;
	int64_t ns;
	int session, epoch;
	int64_t err_e9;
} Ran;

static inline Hash world_sampled(World *w, Db *db, Ran x, int64_t samples)
{
	static int64_t seq;
	Err err = { 0 };
	RunRecord r = { .workload = x.task->id,
		.trace = x.trace,
		.status = x.ns > 0 ? RUN_OK : RUN_CRASH,
		.median_ns = x.ns,
		.samples = x.ns > 0 ? samples : 0,
		.max_err_e9 = x.err_e9,
		.detail = "",
		.seq = seq++ };
	SessionInfo s = { "test", "none", "model", x.session, 1700000000 + x.session, NULL, 0, 0 };
	ck_assert(db_put_task(db, x.task, &err) &&
		db_put_target(db, x.target != NULL ? x.target : &w->target, &r.target, &err) &&
		db_put_env(db, x.epoch, "test", NULL, NULL, &r.env, &err) && db_put_session(db, &s, &r.session, &err));
	ck_assert_msg(db_put_run(db, &r, &err), "%s", err.text);
	return r.id;
}

static inline Hash world_run(World *w, Db *db, Ran x)
{
	return world_sampled(w, db, x, 5);
}

static inline bool world_gather(const char *line, size_t n, void *arg)
{
	text_put(arg, line, n);
	text_put(arg, "\n", 1);
	return true;
}

static inline const char *world_export(World *w, Db *db)
{
	Err err = { 0 };
	Text t = { .arena = w->arena };
	ck_assert_msg(db_export(db, world_gather, &t, &err), "%s", err.text);
	return text_str(&t);
}

static inline ImportCount world_import(Db *db, const char *text)
{
	Err err = { 0 };
	ImportCount c = { 0 };
	ck_assert_msg(db_import(db, "log", text, strlen(text), &c, &err), "%s", err.text);
	return c;
}

#endif
