/*
 * A Task, two databases in a folder of their own, and what compiling chooses for it.
 */
#ifndef TESTS_COMPILE_LAB_H
#define TESTS_COMPILE_LAB_H

#include "compile/recorded.h"

#include "compile/compile.h"
#include "compile/lock_file.h"

#include <unistd.h>

static const char layer[] = "dag t\nin x: f32[6,24]\ny: f32[6,24] = relu(x)\nout y\n";

typedef struct Lab {
	char folder[SUITE_FOLDER];
	Arena *arena;
	Target target;
	Task *task;
	Db *db[2];
	CompileOptions o;
} Lab;

static inline Lab *open_lab(void)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Lab *lab = arena_new_of(a, Lab);
	lab->arena = a;
	ck_assert(suite_folder(lab->folder, "choice"));
	target_host(&lab->target, 1);
	lab->task = task_new(a, dag_parse(a, "t", layer, sizeof layer - 1, &err), &err);
	ck_assert_msg(lab->task != NULL, "%s", err.text);
	for (int i = 0; i < 2; i++)
		ck_assert((lab->db[i] = db_open(arena_printf(a, "%s/%d.sqlite", lab->folder, i), DB_WRITE, &err)) != NULL);
	lab->o = (CompileOptions){ .target = &lab->target, .db = lab->db, .ndb = 2 };
	return lab;
}

static inline void close_lab(Lab *lab)
{
	for (int i = 0; i < 2; i++)
		db_close(lab->db[i]);
	ck_assert_int_eq(system(arena_printf(lab->arena, "rm -rf %s", lab->folder)), 0);
	arena_free(lab->arena);
}

static inline Hash put_for(
	Lab *lab, const Task *task, const Target *target, int db, const char *trace, int64_t ns, int epoch)
{
	return put_recorded(lab->db[db], target, task, trace, ns, epoch);
}

static inline Hash put(Lab *lab, int db, const char *trace, int64_t ns, int epoch)
{
	return put_for(lab, lab->task, &lab->target, db, trace, ns, epoch);
}

static inline TaskPlan choose(Lab *lab)
{
	Err err = { 0 };
	TaskPlan plan;
	ck_assert_msg(
		compile_task(ir_new(lab->arena), lab->task, &lab->o, &plan, &err) != NULL, "%s: %s", err.place, err.text);
	return plan;
}

static inline Lock *lock_of(Lab *lab, const char *text)
{
	Err err = { 0 };
	Lock *l = lock_parse(lab->arena, "t.lock", text, strlen(text), &err);
	ck_assert_msg(l != NULL, "%s: %s", err.place, err.text);
	return l;
}

#endif
