/* Folders of logs below the test's folder, an owner of them, and what stands in them: for tests of such folders. */
#ifndef TESTS_DB_LOGS_FOLDER_H
#define TESTS_DB_LOGS_FOLDER_H

#include "folder.h"

#include "db/logs.h"
#include "db/rank.h"

#include <dirent.h>
#include <time.h>

static DbOwner me = { { 1, 2, 3 } };

static inline DbLogs how_of(const char *cache)
{
	return (DbLogs){ .cache = cache,
		.owner = &me,
		.program = "dlc test",
		.machine = "cpu:here",
		.command = "dlc tune x",
		.now_s = (int64_t)time(NULL) };
}

static inline const char *cache_of(void)
{
	const char *cache = path_of("cache");
	mkdir(cache, 0700);
	return cache;
}

static inline Db *open_logs(const char *name, DbMode mode)
{
	Err err = { 0 };
	DbLogs how = how_of(cache_of());
	Db *db = db_open_logs(path_of(name), mode, &how, &err);
	ck_assert_msg(db != NULL, "%s: %s", err.place, err.text);
	return db;
}

/* The only file of the folder below `sub`, "" for the folder itself. */
static inline const char *only_log(const char *name)
{
	const char *found = NULL;
	DIR *d = opendir(path_of(name));
	ck_assert(d != NULL);
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		if (e->d_name[0] != '.') {
			ck_assert_msg(found == NULL, "%s and %s", found, e->d_name);
			found = arena_printf(arena, "%s/%s", path_of(name), e->d_name);
		}
	closedir(d);
	return found;
}

static inline int count_files(const char *name)
{
	int n = 0;
	DIR *d = opendir(path_of(name));
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	if (d != NULL)
		closedir(d);
	return n;
}

static inline Bytes read_bytes(const char *path)
{
	Bytes b;
	Err err = { 0 };
	ck_assert_msg(file_read(arena, path, 1 << 26, &b, &err), "%s: %s", err.place, err.text);
	return b;
}

static inline const char *read_text(const char *path)
{
	return (const char *)read_bytes(path).at;
}

static inline void write_bytes(const char *path, const void *at, size_t n)
{
	Err err = { 0 };
	ck_assert_msg(file_write(path, at, n, &err), "%s: %s", err.place, err.text);
}

static inline void write_text(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

static inline void check_sound(Db *db, int64_t want)
{
	Err err = { 0 };
	int64_t records;
	ck_assert_msg(db_check(db, &records, &err), "%s: %s", err.place, err.text);
	if (want >= 0)
		ck_assert_int_eq(records, want);
}

static inline int64_t count_runs(Db *db, const World *w, int64_t *own)
{
	Err err = { 0 };
	DbKey key = { .workload = w->task->id, .target = w->target, .epoch = 7, .whose = DB_OWN };
	DbChoice c[64];
	int n;
	int64_t runs;
	ck_assert(db_rank((DbSet){ &db, 1 }, &key, c, 64, &n, arena, &err));
	*own = n;
	ck_assert(db_count_runs((DbSet){ &db, 1 }, &key, &runs, &err));
	return runs;
}

/* The folder has so many runs, all own, of so many records (-1: any number), and no damage. */
static inline void check_logs(const char *name, const World *w, int64_t runs, int64_t records)
{
	int64_t own;
	Db *db = open_logs(name, DB_READ);
	ck_assert_int_eq(count_runs(db, w, &own), runs);
	ck_assert_int_eq(own, runs);
	ck_assert_int_eq(db_lost(db), 0);
	ck_assert_ptr_null(db_note(db));
	check_sound(db, records);
	db_close(db);
}

/* A folder with a segment of `runs` runs. */
static inline World fill_logs(const char *name, int width, int runs)
{
	Db *db = open_logs(name, DB_WRITE);
	World w = fill_world(db, width);
	for (int i = 0; i < runs; i++)
		put_run(db, &w, arena_printf(arena, "split i %d\n", i + 2), RUN_OK, 1000 + i, 5);
	db_close(db);
	return w;
}

#endif
