/*
 * Files of older schemas: rebuilt from their lines, by many at once, killed anywhere, with a backup.
 */
#include "found.h"

#include "base/rng.h"

#include <signal.h>

/* What was once in src/db/db.c. */
static const struct {
	int version;
	const char *schema, *values; /* of id, kind and line */
} olds[] = {
	{ 1,
		"CREATE TABLE record(id BLOB PRIMARY KEY,kind INTEGER NOT NULL,line TEXT NOT NULL) WITHOUT ROWID;"
		"CREATE TABLE run(id BLOB PRIMARY KEY,workload BLOB NOT NULL,target BLOB NOT NULL,epoch INTEGER "
	        "NOT NULL,"
		"status INTEGER NOT NULL,verified INTEGER NOT NULL,median_ns INTEGER NOT NULL) WITHOUT ROWID;"
		"CREATE TABLE retraction(run BLOB PRIMARY KEY) WITHOUT ROWID;"
		"CREATE INDEX run_best ON run(workload,target,status,epoch,verified,median_ns,id);",
		"(?1,?2,?3)" },
	{ 2,
		"CREATE TABLE record(id BLOB PRIMARY KEY NOT NULL,kind INTEGER NOT NULL,line TEXT NOT NULL);"
		"CREATE TABLE run(id BLOB PRIMARY KEY,workload BLOB NOT NULL,target BLOB NOT NULL,epoch INTEGER "
	        "NOT NULL,"
		"status INTEGER NOT NULL,verified INTEGER NOT NULL,median_ns INTEGER NOT NULL,session BLOB NOT "
	        "NULL,"
		"trace BLOB NOT NULL) WITHOUT ROWID;"
		"CREATE TABLE retraction(run BLOB PRIMARY KEY) WITHOUT ROWID;"
		"CREATE TABLE task(id BLOB PRIMARY KEY,family BLOB NOT NULL) WITHOUT ROWID;"
		"CREATE INDEX run_best ON run(workload,target,status,epoch,verified,median_ns,id);"
		"CREATE INDEX run_trace ON run(trace);CREATE INDEX task_family ON task(family);",
		"(?1,?2,?3)" },
	{ 3,
		"CREATE TABLE record(id BLOB PRIMARY KEY NOT NULL,kind INTEGER NOT NULL,line TEXT NOT NULL);"
		"CREATE TABLE run(id BLOB PRIMARY KEY,workload BLOB NOT NULL,target BLOB NOT NULL,epoch INTEGER "
	        "NOT NULL,"
		"status INTEGER NOT NULL,verified INTEGER NOT NULL,median_ns INTEGER NOT NULL,session BLOB NOT "
	        "NULL,"
		"trace BLOB NOT NULL) WITHOUT ROWID;"
		"CREATE TABLE retraction(run BLOB PRIMARY KEY) WITHOUT ROWID;"
		"CREATE TABLE task(id BLOB PRIMARY KEY,family BLOB NOT NULL) WITHOUT ROWID;"
		"CREATE INDEX run_best ON run(workload,target,status,epoch,verified,median_ns,id,trace);"
		"CREATE INDEX run_trace ON run(trace);CREATE INDEX task_family ON task(family);",
		"(?1,?2,?3)" },
	{ 4,
		"CREATE TABLE record(n INTEGER PRIMARY KEY,id BLOB NOT NULL UNIQUE,kind INTEGER NOT NULL,line TEXT "
	        "NOT NULL);"
		"CREATE TABLE subject(n INTEGER PRIMARY KEY,workload BLOB NOT NULL,target BLOB NOT NULL,epoch "
	        "INTEGER NOT NULL,"
		"UNIQUE(workload,target,epoch));"
		"CREATE TABLE run(n INTEGER PRIMARY KEY,subject INTEGER NOT NULL,status INTEGER NOT NULL,"
		"verified INTEGER NOT NULL,median_ns INTEGER NOT NULL,samples INTEGER NOT NULL,trace INTEGER NOT "
	        "NULL,"
		"id BLOB NOT NULL,session BLOB NOT NULL);"
		"CREATE TABLE retraction(n INTEGER PRIMARY KEY,run INTEGER NOT NULL);"
		"CREATE TABLE task(id BLOB PRIMARY KEY,family BLOB NOT NULL) WITHOUT ROWID;"
		"CREATE INDEX run_best ON run(subject,status,verified,median_ns,trace);"
		"CREATE INDEX run_trace ON run(trace);CREATE INDEX retraction_run ON retraction(run);"
		"CREATE INDEX task_family ON task(family);",
		"(NULL,?1,?2,?3)" },
};

static int old_versions(void)
{
	int n = 0;
	while (n < LEN(olds) && olds[n].version < atoi(SQL_VERSION))
		n++;
	return n;
}

static void put_line(sqlite3 *sql, const char *values, const char *line, size_t n, int kind)
{
	sqlite3_stmt *st;
	char text[100];
	snprintf(text, sizeof text, "INSERT INTO record VALUES%s", values);
	ck_assert_int_eq(sqlite3_prepare_v2(sql, text, -1, &st, NULL), SQLITE_OK);
	Hash id = hash_of("test", line, n);
	sqlite3_bind_blob(st, 1, &id, sizeof id, SQLITE_TRANSIENT);
	sqlite3_bind_int(st, 2, kind);
	sqlite3_bind_text(st, 3, line, (int)n, SQLITE_TRANSIENT);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_DONE);
	sqlite3_finalize(st);
}

/* The lines of a database of today in a file of an older version; the log is left as tuners leave it. */
static const char *make_old(World *w, const char *name, int i, const char *bad)
{
	Db *db = world_db(w, "today");
	put_runs(w, db, 0, RUNS);
	const char *text = world_export(w, db);
	db_close(db);
	sqlite3 *sql = sql_open(w, name);
	sql_exec(sql,
		arena_printf(w->arena,
			"PRAGMA journal_mode=WAL;%sPRAGMA application_id=1145848660;PRAGMA user_version=%d;BEGIN",
			olds[i].schema, olds[i].version));
	for (const char *p = text; *p != 0; p = strchr(p, '\n') + 1)
		put_line(sql, olds[i].values, p, strcspn(p, "\n"), 4);
	if (bad != NULL)
		put_line(sql, olds[i].values, bad, strlen(bad), 4);
	sql_exec(sql, "COMMIT");
	sqlite3_close(sql);
	return text;
}

static const char *backup_name(World *w, const char *name, int i)
{
	return arena_printf(w->arena, "%s.v%d.bak", name, olds[i].version);
}

START_TEST(an_old_database_is_upgraded)
{
	World *w = world_open();
	const char *text = make_old(w, "old", _i, "{\"damaged\"}"), *backup = backup_name(w, "old", _i);
	ck_assert_int_eq(chmod(path_of(w, "old"), 0640), 0);
	Db *db = opened(w, "old", DB_READ); /* in memory */
	ck_assert_str_eq(world_export(w, db), text);
	ck_assert_msg(strstr(db_note(db), "left out: 1;") != NULL, "%s", db_note(db));
	ck_assert_int_eq(db_lost(db), 1);
	int64_t records;
	Err err = { 0 };
	ck_assert(!db_check(db, &records, &err) && err.code == ERR_INPUT); /* the line that is left out */
	db_close(db);
	ck_assert_int_eq(access(path_of(w, backup), F_OK), -1);

	db = opened(w, "old", DB_WRITE);
	ck_assert_msg(strstr(db_note(db), backup) != NULL && strstr(db_note(db), "left out: 1;") != NULL, "%s",
		db_note(db));
	put_runs(w, db, RUNS, 1);
	db_close(db);
	db = opened(w, "old", DB_WRITE); /* once */
	ck_assert(db_note(db) == NULL && db_lost(db) == 0);
	check_sound(db, RECORDS + 1);
	db_close(db);
	struct stat st;
	ck_assert(stat(path_of(w, "old"), &st) == 0 && (st.st_mode & 0777) == 0640);

	db = opened(w, backup, DB_READ);
	ck_assert_str_eq(world_export(w, db), text);
	db_close(db);
	ck_assert_int_eq(files_in(w), 3); /* and "today" */
	world_close(w);
}
END_TEST

START_TEST(no_backup_is_overwritten)
{
	World *w = world_open();
	Err err = { 0 };
	Bytes mine;
	make_old(w, "old", 2, NULL);
	ck_assert(file_write(path_of(w, "old.v3.bak"), "mine", 4, &err));
	ck_assert(file_write(path_of(w, "old.dlc-upgrade"), "left by the killed", 18, &err));
	ck_assert_int_eq(symlink("old", path_of(w, "link")), 0);
	Db *db = opened(w, "link", DB_WRITE);
	ck_assert_msg(strstr(db_note(db), "/old.v3.bak2") != NULL, "%s", db_note(db));
	check_sound(db, RECORDS);
	db_close(db);
	ck_assert(file_read(w->arena, path_of(w, "old.v3.bak"), 100, &mine, &err) && mine.n == 4);
	ck_assert_int_eq(files_in(w), 5);
	struct stat st;
	ck_assert(lstat(path_of(w, "link"), &st) == 0 && S_ISLNK(st.st_mode));
	world_close(w);
}
END_TEST

/* An older dlc that has the file open can neither read nor write what it does not know, and does no harm. */
START_TEST(an_old_database_in_use_is_upgraded)
{
	World *w = world_open();
	make_old(w, "old", 2, NULL);
	sqlite3 *sql = sql_open(w, "old");
	sqlite3_stmt *put;
	ck_assert_int_eq(
		sqlite3_prepare_v2(sql, "INSERT INTO record(id,kind,line) VALUES(x'00',4,'x')", -1, &put, NULL),
		SQLITE_OK);
	sql_exec(sql, "BEGIN;SELECT count(*) FROM run"); /* and looks at it */
	pid_t child = fork();
	if (child == 0) {
		Err err = { 0 };
		_exit(db_open(path_of(w, "old"), DB_WRITE, &err) != NULL ? 0 : 1);
	}
	ck_assert_int_eq(exit_of(child), 0);
	sql_exec(sql, "SELECT count(workload) FROM run;COMMIT"); /* its moment was before */
	ck_assert_int_ne(sqlite3_exec(sql, "SELECT count(workload) FROM run", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_finalize(put);
	sqlite3_close(sql);
	Db *db = opened(w, "old", DB_WRITE);
	check_sound(db, RECORDS);
	db_close(db);
	world_close(w);
}
END_TEST

static void tune_in_child(World *w, const char *name, int i, int start)
{
	char byte;
	if (read(start, &byte, 1) != 0)
		_exit(2);
	Err err = { 0 };
	Db *db = db_open(path_of(w, name), DB_WRITE, &err);
	if (db == NULL) {
		fprintf(stderr, "%s: %s\n", err.place, err.text);
		_exit(3);
	}
	put_runs(w, db, 1000 + 10 * i, 10);
	db_close(db);
	_exit(0);
}

/* Tuners that come to an old file together, some of them killed: no line is lost, and one backup is made. */
START_TEST(many_may_upgrade_one_database)
{
	enum { TUNERS = 6 };
	World *w = world_open();
	Rng rng = rng_seed((uint64_t)_i);
	make_old(w, "old", 2, NULL);
	int start[2];
	pid_t child[TUNERS];
	ck_assert_int_eq(pipe(start), 0);
	for (int i = 0; i < TUNERS; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			close(start[1]);
			tune_in_child(w, "old", i, start[0]);
		}
	}
	close(start[0]);
	close(start[1]);
	if (_i > 0) {
		usleep((useconds_t)rng_below(&rng, 30000));
		kill(child[0], SIGKILL);
		kill(child[1], SIGKILL);
	}
	int whole = 0;
	for (int i = 0; i < TUNERS; i++) {
		int status = exit_of(child[i]);
		ck_assert(status == 0 || (_i > 0 && i < 2 && status == 1000 + SIGKILL));
		whole += status == 0;
	}
	int64_t records;
	Err err = { 0 };
	Db *db = opened(w, "old", DB_WRITE);
	ck_assert_msg(db_check(db, &records, &err), "%s", err.text);
	ck_assert_int_ge(records, RECORDS + 10 * whole);
	db_close(db);
	ck_assert_int_eq(access(path_of(w, "old.v3.bak"), F_OK), 0);
	if (_i == 0)
		ck_assert_int_eq(access(path_of(w, "old.v3.bak2"), F_OK), -1);
	ck_assert_int_eq(access(path_of(w, "old.dlc-upgrade"), F_OK), -1);
	world_close(w);
}
END_TEST

static void refused(World *w, const char *name, DbMode mode, const char *says)
{
	Err err = { 0 };
	ck_assert(db_open(path_of(w, name), mode, &err) == NULL);
	ck_assert_msg(strstr(err.text, says) != NULL, "%s", err.text);
}

/* An old database that its reader may not write. */
START_TEST(an_old_database_is_read_in_memory)
{
	World *w = world_open();
	make_old(w, "old", 0, NULL);
	only_read(w, "old", false);
	int seen = seen_by_nobody(w, "old");
	ck_assert(seen == RECORDS || seen == -1);
	ck_assert_int_eq(files_in(w), 2);
	if (geteuid() != 0)
		refused(w, "old", DB_WRITE, "read-only");
	chmod(path_of(w, "old"), 0644);
	world_close(w);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("upgrade");
	tcase_add_loop_test(tc, an_old_database_is_upgraded, 0, old_versions());
	tcase_add_test(tc, no_backup_is_overwritten);
	tcase_add_test(tc, an_old_database_in_use_is_upgraded);
	tcase_add_loop_test(tc, many_may_upgrade_one_database, 0, 8);
	tcase_add_test(tc, an_old_database_is_read_in_memory);
	return run_suite("upgrade", tc);
}
