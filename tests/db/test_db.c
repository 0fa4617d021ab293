/*
 * The database: what is put is found, best is a function of the records, merging is a union in any
 * order, and whatever is damaged, foreign or newer is refused with a sentence and left as it was.
 */
#include "folder.h"

#include "db/look.h"

static bool count_run(const RunRecord *run, void *arg)
{
	(void)run;
	++*(int *)arg;
	return true;
}

START_TEST(best_is_the_fastest_verified_run)
{
	Err err = { 0 };
	Db *db = open_or_die(path_of("a.sqlite"), DB_WRITE);
	World w = fill_world(db, 8), other = fill_world(db, 9);
	ck_assert(db_best(db, w.task->id, w.target, 7, arena, &err) == NULL && err.code == ERR_NONE);
	put_run(db, &w, "split i 2\n", RUN_OK, 500, 10);
	put_run(db, &w, "split i 4\n", RUN_OK, 400, 10);
	put_run(db, &w, "split i 8\n", RUN_OK, 300, -1); /* not verified */
	put_run(db, &w, "unroll i\n", RUN_CRASH, 0, -1);
	put_run(db, &other, "split i 3\n", RUN_OK, 100, 10);
	const RunRecord *best = db_best(db, w.task->id, w.target, 7, arena, &err);
	ck_assert_msg(best != NULL, "%s", err.text);
	ck_assert_str_eq(best->trace, "split i 4\n");
	ck_assert_int_eq(best->median_ns, 400);
	ck_assert(db_best(db, w.task->id, w.target, 8, arena, &err) == NULL); /* another epoch */
	int n = 0;
	ck_assert(db_each_run(db, w.task->id, w.target, 7, count_run, &n, &err));
	ck_assert_int_eq(n, 4);
	n = 0;
	ck_assert(db_each_run(db, w.task->id, w.target, 8, count_run, &n, &err));
	ck_assert_int_eq(n, 0);
	db_close(db);
}
END_TEST

START_TEST(import_of_an_export_gives_the_same_export)
{
	const char *text = filled("a.sqlite");
	Db *b = open_or_die(path_of("b.sqlite"), DB_WRITE);
	ImportCount c = import_into(b, text);
	ck_assert_msg(c.taken == 24 && c.refused == 0, "%lld taken, %s", (long long)c.taken, c.first);
	c = import_into(b, text); /* again: nothing new */
	ck_assert_int_eq(c.taken, 0);
	ck_assert_int_eq(c.known, 24);
	ck_assert_str_eq(export_of(b), text);
	int64_t n = 0;
	Err err = { 0 };
	ck_assert_msg(db_check(b, &n, &err), "%s", err.text);
	ck_assert_int_eq(n, 24);
	db_close(b);
}
END_TEST

START_TEST(lines_may_end_as_elsewhere)
{
	const char *text = filled("a.sqlite");
	Db *b = open_or_die(path_of("b.sqlite"), DB_WRITE);
	Text crlf = { .arena = arena };
	for (const char *p = text; *p != 0; p++)
		text_add(&crlf, *p == '\n' ? "\r\n" : "%c", *p);
	ImportCount c = import_into(b, text_str(&crlf));
	ck_assert_msg(c.taken == 24 && c.refused == 0, "%lld taken, %s", (long long)c.taken, c.first);
	ck_assert_str_eq(export_of(b), text);
	db_close(b);
}
END_TEST

START_TEST(a_changed_byte_costs_its_line_only)
{
	Rng rng = rng_seed((uint64_t)_i);
	char *text = arena_printf(arena, "%s", filled("a.sqlite"));
	size_t at = rng_below(&rng, strlen(text));
	if (text[at] == '\n')
		at--;
	text[at] = (char)(text[at] ^ 1);
	Db *b = open_or_die(path_of("b.sqlite"), DB_WRITE);
	ImportCount c = import_into(b, text);
	ck_assert_int_ge(c.refused, 1);
	ck_assert_int_eq(c.taken + c.refused, 24);
	ck_assert_int_gt((int)strlen(c.first), 10);
	db_close(b);
}
END_TEST

static const struct {
	const char *line, *says;
} bad_lines[] = {
	{ "{", "" },
	{ "[]", "" },
	{ "{\"id\":\"x\",\"kind\":\"run\"}", "32 hexadecimal" },
	{ "{\"id\":\"00000000000000000000000000000000\",\"kind\":\"poem\"}", "no kind of record" },
	{ "{\"id\":\"00000000000000000000000000000000\",\"kind\":\"session\"}", "not the hash" },
	{ "{ \"id\":\"00000000000000000000000000000000\",\"kind\":\"session\"}", "canonical" },
};

START_TEST(bad_lines_are_refused_with_a_reason)
{
	Db *b = open_or_die(path_of("b.sqlite"), DB_WRITE);
	ImportCount c = import_into(b, bad_lines[_i].line);
	ck_assert_int_eq(c.refused, 1);
	ck_assert_msg(strstr(c.first, bad_lines[_i].says) != NULL, "%s", c.first);
	db_close(b);
}
END_TEST

START_TEST(a_run_that_names_nothing_is_refused)
{
	const char *text = filled("a.sqlite"), *run = strstr(text, "{\"compile_ns\"");
	Db *b = open_or_die(path_of("b.sqlite"), DB_WRITE);
	ck_assert(run != NULL);
	ImportCount c = import_into(b, arena_printf(arena, "%.*s", (int)strcspn(run, "\n"), run));
	ck_assert_int_eq(c.refused, 1);
	ck_assert(strstr(c.first, "not there") != NULL);
	db_close(b);
}
END_TEST

static const struct {
	const char *name, *sql, *says;
	ErrCode code;
} foreign[] = {
	{ "newer", "PRAGMA user_version=99", "version 99", ERR_INPUT },
	{ "none", "PRAGMA user_version=0", "version 0", ERR_INPUT },
	{ "older", "PRAGMA user_version=1;CREATE TABLE x(y);DROP TABLE record", "did not make", ERR_INPUT },
	{ "alien", "PRAGMA application_id=5", "no tuning database", ERR_INPUT },
	{ "trigger",
		"CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END", "did not make", ERR_INPUT },
	{ "sqlitetrigger",
		"CREATE TRIGGER sqlitet AFTER INSERT ON record BEGIN DELETE FROM record; END", "did not make", ERR_INPUT },
	{ "statistics", "ANALYZE", "did not make", ERR_INPUT },
	{ "view", "CREATE VIEW v AS SELECT * FROM record", "did not make", ERR_INPUT },
	{ "lost", "DROP TABLE retraction", "did not make", ERR_INPUT },
};

START_TEST(foreign_databases_are_refused_and_left_alone)
{
	const char *path = path_of("a.sqlite");
	filled("a.sqlite");
	sqlite3 *sql;
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sql, foreign[_i].sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
	Bytes before, after;
	Err err = { 0 };
	ck_assert(file_read(arena, path, 1 << 24, &before, &err));
	for (int mode = DB_READ; mode <= DB_WRITE; mode++) {
		Err why = { 0 };
		ck_assert(db_open(path, (DbMode)mode, &why) == NULL);
		ck_assert_int_eq(why.code, foreign[_i].code);
		ck_assert_msg(strstr(why.text, foreign[_i].says) != NULL, "%s", why.text);
	}
	ck_assert(file_read(arena, path, 1 << 24, &after, &err));
	ck_assert_uint_eq(before.n, after.n);
	ck_assert(memcmp(before.at, after.at, after.n) == 0);
}
END_TEST

/* A database of another program keeps its journal mode and every byte. */
START_TEST(somebody_elses_database_is_not_touched)
{
	const char *path = path_of("other.sqlite");
	sqlite3 *sql;
	Bytes before, after;
	Err err = { 0 }, why = { 0 };
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sql, "CREATE TABLE bookmarks(url TEXT)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
	ck_assert(file_read(arena, path, 1 << 24, &before, &err));
	ck_assert(db_open(path, DB_WRITE, &why) == NULL);
	ck_assert_int_eq(why.code, ERR_INPUT);
	ck_assert(file_read(arena, path, 1 << 24, &after, &err));
	ck_assert_uint_eq(before.n, after.n);
	ck_assert(memcmp(before.at, after.at, after.n) == 0);
}
END_TEST

/* The index is a copy of what the lines say; where it is not, it is neither believed nor sound. */
static const struct {
	const char *sql;
	bool asked; /* whether a look-up meets it */
} tampered[] = {
	{ "UPDATE run SET median_ns=1", false },
	{ "UPDATE subject SET epoch=8", false },
	{ "UPDATE run SET status=0,verified=1", false },
	{ "UPDATE run SET subject=(SELECT min(subject) FROM run)", true },
	{ "UPDATE run SET subject=(SELECT max(subject) FROM run)", true },
	{ "UPDATE subject SET target=randomblob(16)", false },
	{ "UPDATE record SET kind=3 WHERE kind=2", false },
	{ "DELETE FROM run WHERE status=0", false },
	{ "INSERT INTO run SELECT n+100,subject,status,verified,sealed,stage,median_ns,samples,trace,id,session,seal"
	  " FROM run LIMIT 1",
		false },
	{ "INSERT INTO subject(workload,target,epoch) SELECT workload,target,epoch+1 FROM subject LIMIT 1", false },
	{ "UPDATE run SET trace=trace+1", false },
	{ "UPDATE run SET samples=samples+1", false },
	{ "UPDATE run SET id=randomblob(16)", true },
	{ "UPDATE run SET session=randomblob(16)", false },
	{ "UPDATE run SET n=n+100", false },
	{ "UPDATE retraction SET run=run-1", false },
	{ "INSERT INTO retraction SELECT n+100,run-1,seal FROM retraction", false },
	{ "UPDATE run SET stage=3", false },
	{ "UPDATE run SET sealed=0", false },
	{ "UPDATE run SET sealed=1,seal=0", false },
	{ "DELETE FROM retraction", false },
	{ "UPDATE task SET family=randomblob(16)", false },
	{ "DELETE FROM task", false },
	{ "UPDATE record SET line=(SELECT line FROM record WHERE kind=3) WHERE kind=4", true },
	{ "UPDATE record SET line=CAST(x'00ff' AS TEXT) WHERE kind=4", true },
	{ "UPDATE record SET line=7 WHERE kind=4", true },
};

START_TEST(an_index_that_lies_is_found)
{
	const char *path = path_of("a.sqlite");
	Err err = { 0 }, why = { 0 };
	int64_t records;
	int n = 0;
	sqlite3 *sql;
	Db *db = open_or_die(path, DB_WRITE);
	World w = fill_world(db, 8), other = fill_world(db, 9);
	put_run(db, &w, "split i 2\n", RUN_OK, 500, 10);
	put_run(db, &w, "unroll i\n", RUN_CRASH, 0, -1);
	put_run(db, &other, "split i 3\n", RUN_OK, 100, 10);
	put_run(db, &other, "split i 5\n", RUN_OK, 100, 10);
	ck_assert(db_put_retraction(db, put_run(db, &other, "split i 7\n", RUN_OK, 90, 10), "slow", &err));
	ck_assert_msg(db_check(db, &records, &err), "%s", err.text);
	db_close(db);
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(sql, tampered[_i].sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
	db = open_or_die(path, DB_READ);
	ck_assert(!db_check(db, &records, &why));
	ck_assert_int_eq(err_exit_code(why.code), 1);
	if (tampered[_i].asked) {
		Err one = { 0 }, two = { 0 };
		bool told = !db_each_run(db, w.task->id, w.target, 7, count_run, &n, &one);
		told |= !db_each_run(db, other.task->id, w.target, 7, count_run, &n, &two);
		ck_assert(told && err_exit_code(one.code != ERR_NONE ? one.code : two.code) == 1);
	}
	db_close(db);
}
END_TEST

typedef struct Walk {
	Db *db;
	Arena *arena;
	VEC(RunRecord) run;
	size_t at;
	Err err;
} Walk;

static bool keep_run(const RunRecord *run, void *arg)
{
	Walk *x = arg;
	RunRecord copy = *run;
	copy.trace = arena_copy(x->arena, run->trace, strlen(run->trace) + 1);
	vec_push(x->arena, &x->run, copy);
	return true;
}

/* The next row of the index is that of the next line. */
static bool same_run(const DbVerified *run, void *arg)
{
	Walk *x = arg;
	const RunRecord *want = &x->run.at[x->at++];
	const char *trace = db_trace_of(x->db, run->id, run->trace, x->arena, &x->err);
	ck_assert(memcmp(&run->id, &want->id, sizeof run->id) == 0 && run->median_ns == want->median_ns);
	ck_assert(memcmp(&run->session, &want->session, sizeof run->session) == 0 && run->epoch == 7 && run->own);
	ck_assert(run->stage == run_stage(want) && trace != NULL && strcmp(trace, want->trace) == 0);
	return true;
}

static bool read_trace(const DbVerified *run, void *arg)
{
	Walk *x = arg;
	return db_trace_of(x->db, run->id, run->trace, x->arena, &x->err) != NULL;
}

static bool count_pair(Hash workload, Hash target, void *arg)
{
	(void)workload;
	(void)target;
	++*(int *)arg;
	return true;
}

static const struct {
	const char *sql;
	bool walks; /* the walk is not refused */
} false_numbers[] = { { "UPDATE run SET trace=trace+1,seal=0", true }, { "UPDATE run SET median_ns=0", false },
	{ "UPDATE run SET median_ns=-5", false }, { "UPDATE run SET stage=99", false },
	{ "UPDATE subject SET epoch=-1", false } };

/* Runs without their lines: what the index says is what the lines say; numbers that no run has are refused. */
START_TEST(verified_runs_are_known_by_the_index)
{
	const char *path = path_of("a.sqlite");
	Err err = { 0 };
	sqlite3 *sql;
	int pairs = 0;
	Db *db = open_or_die(path, DB_WRITE);
	World w = fill_world(db, 8), other = fill_world(db, 9);
	for (int i = 1; i < 9; i++)
		put_run(db, &w, arena_printf(arena, "split i %d\n", i % 5 + 1), RUN_OK, 500 - i % 3, 10);
	put_run(db, &w, "unroll i\n", RUN_CRASH, 0, -1);
	put_run(db, &w, "split i 9\n", RUN_OK, 400, -1); /* not verified */
	put_run(db, &other, "split i 3\n", RUN_OK, 100, 10);
	ck_assert(db_put_retraction(db, put_run(db, &w, "split i 7\n", RUN_OK, 90, 10), "slow", &err));
	Walk x = { .db = db, .arena = arena };
	ck_assert(db_each_verified(db, w.task->id, w.target, keep_run, &x, &err) && x.run.n == 8);
	ck_assert(db_each_indexed(db, w.task->id, w.target, same_run, &x, &err) && x.at == 8);
	ck_assert_msg(x.err.code == ERR_NONE && db_each_pair(db, count_pair, &pairs, &err) && pairs == 2, "%s",
		x.err.text);
	db_close(db);
	for (int i = 0; i < LEN(false_numbers); i++) {
		Walk y = { .arena = arena };
		const char *copy = path_of(arena_printf(arena, "%d.sqlite", i));
		Err why = { 0 };
		ck_assert_int_eq(system(arena_printf(arena, "cp %s %s", path, copy)), 0);
		ck_assert_int_eq(sqlite3_open(copy, &sql), SQLITE_OK);
		ck_assert_int_eq(sqlite3_exec(sql, false_numbers[i].sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(sql);
		y.db = open_or_die(copy, DB_READ);
		bool walked = db_each_indexed(y.db, w.task->id, w.target, read_trace, &y, &why);
		ck_assert_msg(walked == false_numbers[i].walks, "%s: %s", false_numbers[i].sql, why.text);
		ck_assert_int_eq((walked ? y.err : why).code, ERR_INPUT);
		db_close(y.db);
	}
}
END_TEST

/* Names of the wrong kind: a run whose environment is a session. */
START_TEST(a_run_names_records_of_the_right_kind)
{
	Err err = { 0 };
	Db *a = open_or_die(path_of("a.sqlite"), DB_WRITE), *b = open_or_die(path_of("b.sqlite"), DB_WRITE);
	World w = fill_world(a, 8);
	RunRecord r = { .workload = w.task->id, .target = w.target, .session = w.env, .env = w.session,
		.trace = "", .status = RUN_CRASH, .max_err_e9 = -1, .detail = "" };
	Hash id;
	const char *line;
	fill_world(b, 8);
	ck_assert(record_seal(arena, record_from_run(arena, &r), &id, &line, &err));
	ImportCount c = import_into(b, line);
	ck_assert_int_eq(c.refused, 1);
	ck_assert_msg(strstr(c.first, "environment") != NULL, "%s", c.first);
	db_close(a);
	db_close(b);
}
END_TEST

START_TEST(damage_is_found_and_never_crashes)
{
	Rng rng = rng_seed((uint64_t)_i);
	const char *path = path_of("a.sqlite");
	filled("a.sqlite");
	Bytes file;
	Err err = { 0 };
	ck_assert(file_read(arena, path, 1 << 24, &file, &err));
	unsigned char *bytes = arena_copy(arena, file.at, file.n);
	size_t n = rng_below(&rng, 4) == 0 ? (size_t)rng_below(&rng, file.n) : file.n;
	for (int i = 0; i < 16 && n > 0; i++)
		bytes[rng_below(&rng, n)] ^= (unsigned char)(1u << rng_below(&rng, 8));
	ck_assert(file_write(path, bytes, n, &err));
	Err why = { 0 };
	int64_t records;
	Db *db = db_open(path, DB_READ, &why);
	bool sound = db != NULL && db_check(db, &records, &why);
	if (!sound)
		ck_assert_msg(err_exit_code(why.code) == 1 && why.text[0] != 0, "code %d: %s", (int)why.code, why.text);
	db_close(db);
}
END_TEST

/*
 * Tuners that start together on a new file: each finds an empty file or the finished tables.  Those that come later
 * find the log of others, which the last one removes.
 */
START_TEST(many_may_make_one_database)
{
	for (int round = 0; round < 40; round++) {
		const char *path = path_of(arena_printf(arena, "new%d.sqlite", round));
		int start[2];
		ck_assert_int_eq(pipe(start), 0);
		for (int i = 0; i < 6; i++) {
			pid_t child = fork();
			ck_assert_int_ge(child, 0);
			if (child != 0)
				continue;
			char byte;
			close(start[1]);
			ssize_t n = read(start[0], &byte, 1);
			usleep(1000u * (unsigned)(i * round % 8));
			Err err = { 0 };
			Db *db = n == 0 ? db_open(path, DB_WRITE, &err) : NULL;
			db_close(db);
			if (db == NULL)
				fprintf(stderr, "%s\n", err.text);
			_exit(db != NULL ? 0 : 1);
		}
		close(start[0]);
		close(start[1]);
		for (int i = 0; i < 6; i++) {
			int status = -1;
			ck_assert_int_gt(wait(&status), 0);
			ck_assert_int_eq(status, 0);
		}
	}
}
END_TEST

START_TEST(missing_folders_and_permissions_are_told)
{
	Err err = { 0 };
	ck_assert(db_open("/nonexistent/dir/x.sqlite", DB_WRITE, &err) == NULL);
	ck_assert_int_eq(err.code, ERR_DEVICE);
	err = (Err){ 0 };
	ck_assert(db_open("/nonexistent/dir/x.sqlite", DB_READ, &err) == NULL);
	ck_assert_int_eq(err.code, ERR_INPUT);
	err = (Err){ 0 };
	ck_assert(db_open("", DB_WRITE, &err) == NULL); /* SQLite would make one that is gone at the end */
	ck_assert_int_eq(err.code, ERR_INPUT);
	err = (Err){ 0 };
	ck_assert(mkfifo(path_of("pipe"), 0600) == 0);
	for (int i = 0; i < 4; i++) { /* neither is waited for */
		err = (Err){ 0 };
		ck_assert(db_open(i < 2 ? folder : path_of("pipe"), i % 2 == 0 ? DB_READ : DB_WRITE, &err) == NULL);
		ck_assert_int_eq(err.code, ERR_INPUT);
		ck_assert_str_eq(err.text, i < 2 ? "it is a folder, not a file" : "it is a pipe, not a file");
	}
}
END_TEST

/* Paths, messages and clocks are anything; the records of them can be read, exported and imported. */
START_TEST(what_is_put_is_taken)
{
	static const int64_t clocks[] = { -5, 0, INT64_MAX };
	Err err = { 0 };
	Hash id;
	int64_t n;
	char path[3000];
	Db *db = open_or_die(path_of("a.sqlite"), DB_WRITE);
	World w = fill_world(db, 8);
	memset(path, 0xe9, sizeof path); /* no UTF-8 */
	path[sizeof path - 1] = 0;
	for (int i = 0; i < LEN(clocks); i++) {
		SessionInfo s = { path, path, path, i, clocks[i], NULL, 0, 0 };
		ck_assert_msg(db_put_session(db, &s, &id, &err), "%s", err.text);
	}
	RunRecord run = { .workload = w.task->id, .target = w.target, .env = w.env, .session = w.session, .trace = "",
		.status = RUN_CRASH, .max_err_e9 = -1, .detail = path };
	ck_assert_msg(db_put_run(db, &run, &err) && db_put_retraction(db, run.id, path, &err), "%s", err.text);
	ck_assert_msg(db_check(db, &n, &err), "%s", err.text);
	Db *b = open_or_die(path_of("b.sqlite"), DB_WRITE);
	ImportCount c = import_into(b, export_of(db));
	ck_assert_msg(c.taken == n && c.refused == 0, "%s", c.first);
	char *trace = arena_array(arena, char, (64 << 10) + 2);
	memset(trace, 'x', (64 << 10) + 1);
	run.trace = trace;
	ck_assert(!db_put_run(db, &run, &err)); /* nobody would take it */
	err = (Err){ 0 };
	ck_assert(db_check(db, &n, &err) && n == c.taken);
	db_close(b);
	db_close(db);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("db");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, best_is_the_fastest_verified_run);
	tcase_add_test(tc, import_of_an_export_gives_the_same_export);
	tcase_add_test(tc, lines_may_end_as_elsewhere);
	tcase_add_loop_test(tc, a_changed_byte_costs_its_line_only, 0, 40);
	tcase_add_loop_test(tc, bad_lines_are_refused_with_a_reason, 0, LEN(bad_lines));
	tcase_add_test(tc, a_run_that_names_nothing_is_refused);
	tcase_add_loop_test(tc, foreign_databases_are_refused_and_left_alone, 0, LEN(foreign));
	tcase_add_test(tc, somebody_elses_database_is_not_touched);
	tcase_add_loop_test(tc, an_index_that_lies_is_found, 0, LEN(tampered));
	tcase_add_test(tc, verified_runs_are_known_by_the_index);
	tcase_add_test(tc, a_run_names_records_of_the_right_kind);
	tcase_add_loop_test(tc, damage_is_found_and_never_crashes, 0, 40);
	tcase_add_test(tc, many_may_make_one_database);
	tcase_add_test(tc, missing_folders_and_permissions_are_told);
	tcase_add_test(tc, what_is_put_is_taken);
	return run_suite("db", tc);
}
