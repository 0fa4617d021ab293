/*
 * Files as they are found: what the tests of them share.
 */
#ifndef TESTS_DB_FOUND_H
#define TESTS_DB_FOUND_H

#include "world.h"

#include "db/open.h"

#include <sys/stat.h>
#include <sys/wait.h>

enum { RUNS = 40, RECORDS = RUNS + 4, NOBODY = 65534 };

static inline const char *path_of(World *w, const char *name)
{
	return arena_printf(w->arena, "%s/%s", w->folder, name);
}

static Db *opened(World *w, const char *name, DbMode mode)
{
	Err err = { 0 };
	Db *db = db_open(path_of(w, name), mode, &err);
	ck_assert_msg(db != NULL, "%s: %s", err.place, err.text);
	return db;
}

static inline void put_runs(World *w, Db *db, int from, int n)
{
	const Task *t = world_task(w, 8);
	for (int i = from; i < from + n; i++)
		world_run(w, db,
			(Ran){ .task = t,
				.trace = arena_printf(w->arena, "split i %d\n", i),
				.ns = 1000 + i,
				.session = 1,
				.epoch = 7 });
}

static inline void check_sound(Db *db, int64_t want)
{
	Err err = { 0 };
	int64_t records;
	ck_assert_msg(db_check(db, &records, &err), "%s", err.text);
	ck_assert_int_eq(records, want);
}

static inline sqlite3 *sql_open(World *w, const char *name)
{
	sqlite3 *sql;
	ck_assert_int_eq(sqlite3_open(path_of(w, name), &sql), SQLITE_OK);
	return sql;
}

static inline void sql_exec(sqlite3 *sql, const char *text)
{
	char *why = NULL;
	ck_assert_msg(sqlite3_exec(sql, text, NULL, NULL, &why) == SQLITE_OK, "%s: %s", text, why);
}

static inline int files_in(World *w)
{
	FILE *p = popen(arena_printf(w->arena, "ls -A %s | wc -l", w->folder), "r");
	int n = -1;
	ck_assert(fscanf(p, "%d", &n) == 1);
	pclose(p);
	return n;
}

static inline int exit_of(pid_t child)
{
	int status = -1;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline bool become_nobody(void)
{
	return geteuid() != 0 || setuid(NOBODY) == 0;
}

/* How many records somebody sees who may not write; -1: nobody else may be one here. */
static inline int seen_by_nobody(World *w, const char *name)
{
	int out[2];
	ck_assert_int_eq(pipe(out), 0);
	pid_t child = fork();
	if (child == 0) {
		Err err = { 0 };
		int64_t records = -2;
		if (!become_nobody())
			_exit(77);
		Db *db = db_open(path_of(w, name), DB_READ, &err);
		if (db == NULL || !db_check(db, &records, &err))
			fprintf(stderr, "%s: %s\n", err.place, err.text);
		db_close(db);
		_exit(write(out[1], &records, sizeof records) == sizeof records ? 0 : 1);
	}
	close(out[1]);
	int64_t records = -1;
	bool told = read(out[0], &records, sizeof records) == sizeof records;
	close(out[0]);
	int status = exit_of(child);
	ck_assert(status == 77 || (status == 0 && told && records >= 0));
	return status == 77 ? -1 : (int)records;
}

/* The folder and the file so that nobody may write the one, or both. */
static inline void only_read(World *w, const char *name, bool folder)
{
	ck_assert_int_eq(chmod(w->folder, folder ? 0777 : 0755), 0);
	ck_assert_int_eq(chmod(path_of(w, name), geteuid() == 0 ? 0644 : 0444), 0);
}

#endif
