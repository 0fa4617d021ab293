/*
 * Two hosts that share one folder, as two FUSE mounts: a tuner on the one and an import on the other lose nothing.
 * Exits with 77 (skipped) where nothing can be mounted.
 */
#include "world.h"

#include "db/open.h"
#include "shared_mount.h"

#include <sys/stat.h>
#include <sys/wait.h>

enum { PUTS = 100 };

static World *w; /* of the test */
static pid_t server[2];
static char folder[SUITE_FOLDER];
static char host[2][80];

static bool mount_both(void)
{
	char shared[80];
	snprintf(shared, sizeof shared, "%s/shared", folder);
	if (mkdir(shared, 0755) != 0)
		return false;
	for (int i = 0; i < 2; i++) {
		snprintf(host[i], sizeof host[i], "%s/host%d", folder, i);
		if (mkdir(host[i], 0755) != 0 || !shared_mount(shared, host[i], &server[i])) {
			if (i == 1)
				shared_unmount(host[0], server[0]);
			return false;
		}
	}
	return true;
}

static void unmount_both(void)
{
	char rm[80];
	for (int i = 0; i < 2; i++)
		shared_unmount(host[i], server[i]);
	snprintf(rm, sizeof rm, "rm -rf %s", folder);
	if (system(rm) != 0)
		perror(rm);
}

static const char *path_on(int i, const char *name)
{
	return arena_printf(w->arena, "%s/%s", host[i], name);
}

static Db *open_on(int i, const char *name, DbMode mode)
{
	Err err = { 0 };
	Db *db = db_open(path_on(i, name), mode, &err);
	ck_assert_msg(db != NULL, "%s: %s", err.place, err.text);
	return db;
}

static void put_runs(Db *db, int from, int n, int pause_us)
{
	const Task *t = world_task(w, 8);
	for (int i = from; i < from + n; i++) {
		world_run(w, db,
			(Ran){ .task = t,
				.trace = arena_printf(w->arena, "split i %d\n", i),
				.ns = 1000 + i,
				.session = 1,
				.epoch = 7 });
		usleep((useconds_t)pause_us);
	}
}

static const char *log_of(int from, int n)
{
	Db *db = world_db(w, arena_printf(w->arena, "log%d", from));
	put_runs(db, from, n, 0);
	const char *text = world_export(w, db);
	db_close(db);
	return text;
}

/* A tuner on one host, and on the other an import of as many records, one log after the other. */
START_TEST(nothing_is_lost)
{
	enum { LOGS = 10 };
	const char *log[LOGS], *name = "both";
	w = world_open();
	for (int i = 0; i < LOGS; i++)
		log[i] = log_of(1000 + 100 * i, PUTS / LOGS);
	db_close(open_on(0, name, DB_WRITE));
	pid_t tuner = fork();
	if (tuner == 0) {
		put_runs(open_on(0, name, DB_WRITE), 0, PUTS, 1000);
		_exit(0);
	}
	for (int i = 0; i < LOGS; i++) {
		Db *db = open_on(1, name, DB_WRITE);
		ImportCount c = world_import(db, log[i]);
		ck_assert_int_eq(c.refused, 0);
		db_close(db);
	}
	int status = -1;
	ck_assert_int_eq(waitpid(tuner, &status, 0), tuner);
	ck_assert_int_eq(status, 0);
	for (int i = 0; i < 2; i++) {
		Err err = { 0 };
		int64_t records;
		Db *db = open_on(i, name, DB_READ);
		ck_assert_msg(db_check(db, &records, &err), "%s", err.text);
		ck_assert_int_eq(records, 2 * PUTS + 4);
		db_close(db);
	}
	world_close(w);
}
END_TEST

/* A database that came with a log is read without it on the other host, and loses it where it is written. */
START_TEST(a_log_ends)
{
	Err err = { 0 };
	w = world_open();
	Db *db = open_on(0, "log", DB_WRITE);
	put_runs(db, 0, 20, 0);
	db_close(db);
	sqlite3 *sql;
	ck_assert_int_eq(sqlite3_open(path_on(0, "log"), &sql), SQLITE_OK); /* an older dlc */
	ck_assert_int_eq(
		sqlite3_exec(sql, "PRAGMA journal_mode=WAL;PRAGMA user_version=" SQL_VERSION, NULL, NULL, NULL),
		SQLITE_OK);
	ck_assert(db_open(path_on(1, "log"), DB_WRITE, &err) == NULL);
	ck_assert_msg(strstr(err.text, "another program, here or on another host") != NULL, "%s", err.text);
	db = open_on(1, "log", DB_READ);
	int64_t records;
	ck_assert(db_check(db, &records, NULL) && records == 24);
	db_close(db);
	ck_assert_int_eq(sqlite3_close(sql), SQLITE_OK);
	db = open_on(1, "log", DB_WRITE);
	ck_assert(!journal_is_wal(db->sql) && access(path_on(0, "log-wal"), F_OK) != 0);
	put_runs(db, 20, 20, 0);
	ck_assert(db_check(db, &records, NULL) && records == 44);
	db_close(db);
	world_close(w);
}
END_TEST

int main(void)
{
	if (!suite_folder(folder, "hosts") || !mount_both()) {
		rmdir(folder);
		return printf("skipped: nothing can be mounted through FUSE here\n") > 0 ? 77 : 1;
	}
	TCase *tc = tcase_create("hosts");
	tcase_add_test(tc, nothing_is_lost);
	tcase_add_test(tc, a_log_ends);
	int failed = run_suite("hosts", tc);
	unmount_both();
	return failed;
}
