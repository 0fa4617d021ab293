/* Paths of databases: what is there, what may be written, and what is no database. */
#include "folder.h"

START_TEST(a_database_that_is_gone_takes_nothing)
{
	Err err = { 0 };
	const char *path = path_of("a.sqlite");
	Db *db = open_or_die(path, DB_WRITE);
	World w = fill_world(db, 8);
	put_run(db, &w, "", RUN_OK, 1000, 5);
	if (_i == 0) {
		ck_assert_int_eq(unlink(path), 0);
	} else {
		filled("b.sqlite");
		ck_assert_int_eq(rename(path_of("b.sqlite"), path), 0);
	}
	ck_assert(!db_put_task(db, task_of(9), &err));
	ck_assert_int_eq(err.code, ERR_DEVICE);
	ck_assert_msg(strstr(err.text, "deleted or replaced") != NULL, "%s", err.text);
	db_close(db);
}
END_TEST

/* What a tuner leaves that had no room for its tables, or was ended before. */
START_TEST(an_empty_file_holds_no_records)
{
	Err err = { 0 };
	Bytes after;
	int64_t records = -1;
	ck_assert(file_write(path_of("empty"), "", 0, &err));
	Db *db = open_or_die(path_of("empty"), DB_READ);
	ck_assert(db_check(db, &records, &err) && records == 0);
	ck_assert_str_eq(export_of(db), "");
	db_close(db);
	ck_assert(file_read(arena, path_of("empty"), 1 << 20, &after, &err) && after.n == 0);
	db_close(open_or_die(path_of("empty"), DB_WRITE));
	ck_assert(file_read(arena, path_of("empty"), 1 << 20, &after, &err) && after.n > 0);
}
END_TEST

/* SQLite would take the shortest for an empty database. */
START_TEST(a_short_file_is_left_alone)
{
	static const char text[] = "notes of somebody: no database, and shorter than the header of one";
	static const int size[] = { 1, 2, 16, sizeof text - 1 };
	const char *path = path_of("notes.txt");
	FILE *f = fopen(path, "w");
	ck_assert(f != NULL && fwrite(text, 1, (size_t)size[_i], f) == (size_t)size[_i] && fclose(f) == 0);
	for (int mode = DB_READ; mode <= DB_WRITE; mode++) {
		Err err = { 0 };
		Bytes now;
		ck_assert(db_open(path, (DbMode)mode, &err) == NULL && err.code == ERR_INPUT);
		ck_assert_msg(strstr(err.text, "no tuning database") != NULL, "%s", err.text);
		err = (Err){ 0 };
		ck_assert(file_read(arena, path, 1 << 20, &now, &err));
		ck_assert(now.n == (size_t)size[_i] && memcmp(now.at, text, now.n) == 0);
	}
}
END_TEST

/* SQLite knows names that are no files, and what is stored there is lost. */
START_TEST(a_name_is_a_file)
{
	static const char *const names[] = { ":memory:", "file:x?mode=memory", "file:y", "-z", "a b%20?c#d", "\303\274" };
	ck_assert_int_eq(chdir(folder), 0);
	for (int i = 0; i < LEN(names); i++) {
		Db *db = open_or_die(names[i], DB_WRITE);
		fill_world(db, 8);
		db_close(db);
		ck_assert_int_eq(access(names[i], F_OK), 0);
		db = open_or_die(names[i], DB_READ);
		ck_assert_int_gt((int)strlen(export_of(db)), 100);
		db_close(db);
	}
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(a_read_only_folder_is_read)
{
	enum { NOBODY = 65534 };
	/* Root may write everywhere; nobody may not. */
	if (geteuid() == 0 && (chown(folder, NOBODY, (gid_t)-1) != 0 || setresuid(NOBODY, NOBODY, 0) != 0)) {
		suite_skip("a read-only folder", "root cannot become another user");
		return;
	}
	filled("a.sqlite");
	chmod(path_of("a.sqlite"), 0400);
	chmod(folder, 0500);
	Db *db = open_or_die(path_of("a.sqlite"), DB_READ);
	ck_assert_int_gt((int)strlen(export_of(db)), 1000);
	db_close(db);
	chmod(folder, 0700);
	(void)!setresuid(0, 0, (uid_t)-1); /* as setup found it */
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("paths");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_database_that_is_gone_takes_nothing, 0, 2);
	tcase_add_test(tc, an_empty_file_holds_no_records);
	tcase_add_loop_test(tc, a_short_file_is_left_alone, 0, 4);
	tcase_add_test(tc, a_name_is_a_file);
	tcase_add_test(tc, a_read_only_folder_is_read);
	return run_suite("paths", tc);
}
