/*
 * Files as they are found: read by users who may not write them while others do, left by the killed, on file systems
 * without shared memory.
 */
#include "found.h"

#include "base/rng.h"

#include <fcntl.h>
#include <signal.h>

/* ---- who may only read */

/* What was committed before the reader came is seen, whatever of it lies in the log, and nothing is left behind. */
START_TEST(a_reader_sees_what_a_writer_has_put)
{
	World *w = world_open();
	Db *db = world_db(w, "a");
	put_runs(w, db, 0, RUNS);
	only_read(w, "a", _i == 1);
	int n = RECORDS;
	for (int i = 0; i < 30; i++, n++) {
		int files = files_in(w), seen = seen_by_nobody(w, "a");
		if (seen < 0 && printf("skipped: nobody cannot be had here\n") > 0)
			break;
		ck_assert_int_eq(seen, n);
		ck_assert_int_eq(files_in(w), files);
		put_runs(w, db, RUNS + i, 1);
	}
	chmod(path_of(w, "a"), 0644);
	db_close(db);
	only_read(w, "a", _i == 1);
	ck_assert_int_eq(files_in(w), 1);
	ck_assert_int_ge(seen_by_nobody(w, "a"), -1);
	ck_assert_int_eq(files_in(w), 1);
	chmod(path_of(w, "a"), 0644);
	db = world_db(w, "a");
	put_runs(w, db, 5000, 1);
	db_close(db);
	world_close(w);
}
END_TEST

/* A copy beside a writer that rests as long as a disk lets it is of one moment each time. */
START_TEST(a_copy_is_of_one_moment)
{
	World *w = world_open();
	Db *db = world_db(w, "a");
	put_runs(w, db, 0, RUNS);
	int go[2], last = 0;
	ck_assert_int_eq(pipe(go), 0);
	pid_t child = fork();
	if (child == 0) {
		char byte;
		close(go[1]);
		fcntl(go[0], F_SETFL, O_NONBLOCK);
		Db *mine = world_db(w, "a");
		sqlite3_exec(mine->sql, "PRAGMA wal_autocheckpoint=4", NULL, NULL,
			NULL); /* the log starts anew all the time */
		for (int i = 0; read(go[0], &byte, 1) != 0; i++) {
			put_runs(w, mine, 1000 + i, 1);
			usleep(SANITIZED ? 10000 : 1000); /* the folder may lie in memory */
		}
		db_close(mine);
		_exit(0);
	}
	close(go[0]);
	for (int i = 0; i < 40; i++) {
		Db *copy = opened(w, "a", DB_READ);
		Err err = { 0 };
		int64_t records;
		ck_assert_msg(copy_to_memory(copy, &err), "%s", err.text);
		ck_assert_msg(db_check(copy, &records, &err), "%s", err.text);
		ck_assert_int_ge(records, last);
		last = (int)records;
		db_close(copy);
	}
	close(go[1]);
	ck_assert_int_eq(exit_of(child), 0);
	ck_assert_int_gt(last, RECORDS);
	db_close(db);
	world_close(w);
}
END_TEST

/* A tuner that was killed leaves its log: its records are there for who may only read, too. */
START_TEST(the_log_of_the_killed_is_read)
{
	World *w = world_open();
	pid_t child = fork();
	if (child == 0) {
		put_runs(w, world_db(w, "a"), 0, RUNS);
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(exit_of(child), 1000 + SIGKILL);
	ck_assert_int_eq(access(path_of(w, "a-wal"), F_OK), 0);
	for (int i = 0; i < 2; i++) { /* with the memory that it shared, and without */
		only_read(w, "a", i == 1);
		int seen = seen_by_nobody(w, "a");
		ck_assert(seen == RECORDS || seen == -1);
		unlink(path_of(w, "a-shm"));
	}
	world_close(w);
}
END_TEST

/* A damaged file or log gives records or a sentence, and never a crash. */
START_TEST(a_copy_of_damage)
{
	World *w = world_open();
	Rng rng = rng_seed((uint64_t)_i);
	Err err = { 0 }, why = { 0 };
	int64_t records;
	Db *db = world_db(w, "a");
	put_runs(w, db, 0, RUNS);
	for (int k = 0; k < 2; k++) {
		Bytes file;
		const char *from = path_of(w, k == 0 ? "a" : "a-wal"), *to = path_of(w, k == 0 ? "b" : "b-wal");
		ck_assert(file_read(w->arena, from, 1 << 24, &file, &err));
		unsigned char *bytes = arena_copy(w->arena, file.at, file.n);
		for (int i = (int)rng_below(&rng, 6); i > 0; i--)
			bytes[20 + rng_below(&rng, (rng_below(&rng, 2) == 0 ? file.n : 120) - 20)] ^=
				(unsigned char)(1u << rng_below(&rng, 8));
		ck_assert(file_write(
			to, bytes, rng_below(&rng, 3) == 0 ? rng_below(&rng, file.n) + 1 : file.n, &err));
	}
	db_close(db);
	Db copy = { .path = path_of(w, "b"), .arena = w->arena };
	ck_assert_int_eq(open_connection(copy.path, SQLITE_OPEN_READONLY, &copy.sql), SQLITE_OK);
	if (journal_is_wal(copy.sql) && copy_to_memory(&copy, &why) && !db_check(&copy, &records, &why))
		ck_assert_int_ne(why.code, ERR_NONE);
	for (int i = 0; i < SQL_COUNT; i++)
		sqlite3_finalize(copy.stmt[i]);
	sqlite3_close_v2(copy.sql);
	world_close(w);
}
END_TEST

/* Killed in the middle of a transaction without a log: only who may write can take it back, and who may not is
 * told. */
START_TEST(a_hot_journal_is_told)
{
	World *w = world_open();
	Db *db = world_db(w, "a");
	put_runs(w, db, 0, RUNS);
	sql_exec(db->sql, "PRAGMA journal_mode=DELETE");
	db_close(db);
	pid_t child = fork();
	if (child == 0) {
		sqlite3 *sql = sql_open(w, "a");
		sql_exec(sql, "PRAGMA cache_size=2;BEGIN;UPDATE record SET line=line||'x';INSERT INTO record "
		              "SELECT n+1000,randomblob(16),"
			      "kind,hex(zeroblob(9000)) FROM record");
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(exit_of(child), 1000 + SIGKILL);
	ck_assert_int_eq(access(path_of(w, "a-journal"), F_OK), 0);
	only_read(w, "a", false);
	child = fork();
	if (child == 0) {
		Err err = { 0 };
		if (!become_nobody())
			_exit(0);
		bool told = db_open(path_of(w, "a"), DB_READ, &err) == NULL && err.code == ERR_DEVICE;
		_exit(told && strstr(err.text, "was killed") != NULL ? 0 : 1);
	}
	ck_assert_int_eq(exit_of(child), 0);
	chmod(path_of(w, "a"), 0644);
	db = world_db(w, "a");
	check_sound(db, RECORDS);
	db_close(db);
	world_close(w);
}
END_TEST

/* ---- file systems */

static const struct {
	uint32_t type;
	const char *kind, *options;
	bool wal, locks;
} mounts[] = {
	{ 0xef53, "", "", true, true },
	{ 0x58465342, "xfs", "rw,noquota", true, true },
	{ 0x9123683e, "", "", true, true },
	{ 0x01021994, "tmpfs", "rw", true, true },
	{ 0x2fc12fc1, "", "", true, true },
	{ 0x794c7630, "overlay", "rw,lowerdir=/l,upperdir=/u,workdir=/w", true, true },
	{ 0x6969, "nfs4", "rw,vers=4.2,local_lock=none", false, true },
	{ 0x6969, "nfs", "rw,vers=3,nolock,local_lock=all", false, false },
	{ 0x6969, "nfs", "rw,vers=3,local_lock=posix", false, false },
	{ 0x6969, "nfs", "rw,vers=3,local_lock=flock,unolock", false, true },
	{ 0xff534d42, "cifs", "rw,vers=3.0,nobrl", false, false },
	{ 0xfe534d42, "cifs", "rw,vers=3.0", false, true },
	{ 0x01021997, "9p", "rw,trans=virtio", false, true },
	{ 0x65735546, "fuse.sshfs", "rw,user_id=0", false, false },
	{ 0x65735546, "fuse.loopback", "rw,user_id=0", false, true },
	{ 0x65735546, "virtiofs", "rw", false, true },
	{ 0x00c36400, "ceph", "rw", false, true },
	{ 0x12345678, "", "", false, true },
};

START_TEST(a_log_needs_a_local_file_system)
{
	FsFact f = fs_judge(mounts[_i].type, mounts[_i].kind, mounts[_i].options);
	ck_assert(f.wal == mounts[_i].wal && (f.no_locks == NULL) == mounts[_i].locks && f.name[0] != 0);
}
END_TEST

/* This one is asked. */
START_TEST(a_file_or_its_folder_is_asked)
{
	World *w = world_open();
	FsFact f = fs_of(w->arena, path_of(w, "not there")), g = fs_of(w->arena, w->folder);
	ck_assert(f.wal == g.wal && strcmp(f.name, g.name) == 0);
	ck_assert(!fs_of(w->arena, "/proc/self/x").wal && !fs_of(w->arena, "/nonexistent/x").wal);
	world_close(w);
}
END_TEST

static const char *mode_of(World *w, const char *name)
{
	sqlite3 *sql = sql_open(w, name);
	bool wal = journal_is_wal(sql);
	sqlite3_close(sql);
	return wal ? "wal" : "delete";
}

/* Where the log is not permitted: it is ended, with what it holds; a reader does not use its memory. */
START_TEST(a_log_is_left_where_it_is_not_permitted)
{
	World *w = world_open();
	Err err = { 0 };
	FsFact remote = fs_judge(0x6969, "nfs4", "rw");
	pid_t child = fork();
	if (child == 0) {
		put_runs(w, world_db(w, "a"), 0, RUNS);
		kill(getpid(), SIGKILL);
	}
	exit_of(child);
	ck_assert_str_eq(mode_of(w, "a"), "wal");
	Db *db = opened(w, "a", DB_WRITE);
	for (int i = 0; i < 2; i++) { /* another has it open; nobody */
		Db bare = { .path = path_of(w, "a"), .arena = w->arena };
		ck_assert_int_eq(open_connection(bare.path, SQLITE_OPEN_READWRITE, &bare.sql), SQLITE_OK);
		sqlite3_busy_timeout(bare.sql, 10);
		bool ok = journal_avoid_shm(&bare, remote, &err) && journal_set(&bare, remote, &err);
		ck_assert(ok == (i == 1));
		ck_assert_msg(i == 1 || strstr(err.text, "another program") != NULL, "%s", err.text);
		err = (Err){ 0 };
		sqlite3_close(bare.sql);
		db_close(db);
		db = NULL;
	}
	ck_assert_str_eq(mode_of(w, "a"), "delete");
	ck_assert_int_eq(files_in(w), 1);
	db = opened(w, "a", DB_READ);
	check_sound(db, RECORDS);
	db_close(db);
	world_close(w);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("files");
	tcase_add_loop_test(tc, a_reader_sees_what_a_writer_has_put, 0, 2);
	tcase_add_test(tc, a_copy_is_of_one_moment);
	tcase_add_test(tc, the_log_of_the_killed_is_read);
	tcase_add_loop_test(tc, a_copy_of_damage, 0, 30);
	tcase_add_test(tc, a_hot_journal_is_told);
	tcase_add_loop_test(tc, a_log_needs_a_local_file_system, 0, LEN(mounts));
	tcase_add_test(tc, a_file_or_its_folder_is_asked);
	tcase_add_test(tc, a_log_is_left_where_it_is_not_permitted);
	return run_suite("files", tc);
}
