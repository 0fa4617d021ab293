/*
 * Folders of logs: segments of their own, an index that follows them, damage that is named, and what becomes of own
 * records when the index is gone.
 */
#include "logs_folder.h"

#include <signal.h>
#include <sys/resource.h>

/* What one session put, another one reads, from a segment with a head, whole and own. */
START_TEST(a_session_has_a_segment)
{
	int64_t own;
	World w = fill_logs("team", 8, 5);
	const char *text = read_text(only_log("team"));
	ck_assert_msg(strncmp(text, "{\"kind\":\"log\",\"version\":1,\"started_s\":", 38) == 0, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "\"command\":\"dlc tune x\""));
	Db *db = open_logs("team", DB_READ);
	ck_assert_ptr_null(db_note(db));
	ck_assert_int_eq(count_runs(db, &w, &own), 5);
	ck_assert_int_eq(own, 5);
	check_sound(db, 9);
	Db *file = open_or_die(path_of("file"), DB_WRITE);
	ImportCount c = import_into(file, text);
	db_close(file);
	ck_assert_int_eq(c.taken, 9);
	ck_assert_int_eq(c.refused, 0); /* the head and the seals are no records, and no damage */
	db_close(db);
	fill_logs("team", 8, 2);
	ck_assert_int_eq(count_files("team"), 2);
}
END_TEST

/* A session without runs leaves nothing; a folder that is not there is made to write, and refused to read. */
START_TEST(nothing_measured_is_nothing_written)
{
	Err err = { 0 };
	DbLogs how = how_of(cache_of());
	ck_assert_ptr_null(db_open_logs(path_of("none"), DB_READ, &how, &err));
	ck_assert_int_eq(err.code, ERR_INPUT);
	Db *db = open_logs("new", DB_WRITE);
	World w = fill_world(db, 8);
	ck_assert(db_put_closing(db, w.session, NULL, 0, &err));
	db_close(db);
	ck_assert_int_eq(count_files("new"), 0);
	write_text(path_of("plain"), "x");
	err = (Err){ 0 };
	ck_assert_ptr_null(db_open_logs(path_of("plain"), DB_WRITE, &how, &err));
	ck_assert_int_eq(err.code, ERR_INPUT);
	ck_assert(db_is_folder(path_of("new")) && db_is_folder("x/") && !db_is_folder(path_of("plain")));
}
END_TEST

/* Own runs stay own without the index, and with another owner's eyes they are hints. */
START_TEST(seals_lie_in_the_segment)
{
	int64_t own;
	World w = fill_logs("team", 8, 3);
	ck_assert_int_eq(system(arena_printf(arena, "rm -r %s", path_of("cache"))), 0);
	Db *db = open_logs("team", DB_READ);
	ck_assert_int_eq(count_runs(db, &w, &own), 3);
	ck_assert_int_eq(own, 3);
	db_close(db);
	DbOwner other = { { 9 } };
	DbLogs how = how_of(cache_of());
	how.owner = &other;
	Err err = { 0 };
	db = db_open_logs(path_of("team"), DB_READ, &how, &err);
	ck_assert(db != NULL);
	ck_assert_int_eq(count_runs(db, &w, &own), 3);
	ck_assert_int_eq(own, 0);
	db_close(db);
}
END_TEST

/* A colleague's seal of my run, whatever it says, takes nothing away, and gives him nothing. */
START_TEST(a_forged_seal_is_no_seal)
{
	int64_t own;
	World w = fill_logs("team", 8, 1);
	const char *text = read_text(only_log("team")), *seal = strstr(text, "{\"kind\":\"seal\"");
	ck_assert_ptr_nonnull(seal);
	char *forged = arena_printf(arena, "%.*s\n", (int)strcspn(seal, "\n"), seal);
	char *digit = forged + strlen(forged) - 4;
	*digit = *digit == '0' ? '1' : '0';
	write_text(path_of("team/z.jsonl"), forged);
	Db *db = open_logs("team", DB_READ);
	ck_assert_int_eq(count_runs(db, &w, &own), 1);
	ck_assert_int_eq(own, 1);
	db_close(db);
	/* The same without the right one: a hint. */
	mkdir(path_of("other"), 0777);
	write_text(path_of("other/a.jsonl"),
		arena_printf(arena, "%.*s%s%s", (int)(seal - text), text, forged, seal + strcspn(seal, "\n") + 1));
	db = open_logs("other", DB_READ);
	ck_assert_int_eq(count_runs(db, &w, &own), 1);
	ck_assert_int_eq(own, 0);
	ck_assert_ptr_null(db_note(db));
	db_close(db);
}
END_TEST

/* What comes, grows, changes or goes is noticed; what came too early waits until it is named. */
START_TEST(the_index_follows_the_folder)
{
	int64_t own;
	World w = fill_logs("one", 8, 4);
	const char *text = read_text(only_log("one"));
	ck_assert_int_eq(mkdir(path_of("team"), 0777), 0);
	ck_assert_int_eq(mkdir(path_of("team/cpu"), 0777), 0);
	const char *last = text + strlen(text) - 1;
	while (last > text && last[-1] != '\n')
		last--; /* the seal of the last run */
	const char *run = last - 1;
	while (run > text && run[-1] != '\n')
		run--;
	/* All but the last run, and of that a part, as a writer leaves it for a moment. */
	write_text(path_of("team/cpu/a.jsonl"), arena_printf(arena, "%.*s", (int)(run - text) + 40, text));
	Db *db = open_logs("team", DB_READ);
	ck_assert_int_eq(count_runs(db, &w, &own), 3);
	ck_assert_ptr_null(db_note(db));
	ck_assert_int_eq(own, 3);
	db_close(db);
	write_text(path_of("team/cpu/a.jsonl"), text);
	db = open_logs("team", DB_READ);
	ck_assert_int_eq(count_runs(db, &w, &own), 4);
	ck_assert_int_eq(own, 4);
	db_close(db);
	/* A retraction that comes before the run. */
	Db *other = open_or_die(path_of("late"), DB_WRITE);
	World v = fill_world(other, 16);
	Hash id = put_run(other, &v, "split i 2\n", RUN_OK, 1000, 5);
	Err err = { 0 };
	ck_assert(db_put_retraction(other, id, "wrong", &err));
	const char *lines = export_of(other), *gone = strstr(lines, "{\"id\"");
	while (gone != NULL && strstr(gone, "\"kind\":\"retraction\"") > strchr(gone, '\n'))
		gone = strchr(gone, '\n') + 1;
	ck_assert_ptr_nonnull(gone);
	const char *retraction = arena_printf(arena, "%.*s\n", (int)strcspn(gone, "\n"), gone);
	ck_assert_ptr_nonnull(strstr(retraction, "retraction"));
	db_close(other);
	write_text(path_of("team/b.jsonl"), retraction);
	db = open_logs("team", DB_READ);
	ck_assert_ptr_null(db_note(db)); /* it waits: that is no damage */
	ck_assert_int_eq(db_lost(db), 0);
	db_close(db);
	write_text(path_of("team/c.jsonl"), lines);
	db = open_logs("team", DB_READ);
	bool is = false;
	ck_assert(db_retracted((DbSet){ &db, 1 }, id, false, &is, &err) && is);
	check_sound(db, 11);
	db_close(db);
	/* What goes takes its records with it, and leaves those that others have too. */
	ck_assert_int_eq(unlink(path_of("team/cpu/a.jsonl")), 0);
	db = open_logs("team", DB_READ);
	ck_assert_int_eq(count_runs(db, &w, &own), 0);
	check_sound(db, 6);
	db_close(db);
	/* What changes within its beginning. */
	write_text(path_of("team/c.jsonl"), text);
	db = open_logs("team", DB_READ);
	ck_assert_int_eq(count_runs(db, &w, &own), 4);
	ck_assert_int_eq(own, 4);
	check_sound(db, 8);
	db_close(db);
}
END_TEST

/* Equal size, equal time and other bytes: the hash tells while the time is young, the time later. */
START_TEST(equal_sizes_are_told_apart)
{
	int64_t own;
	World w = fill_logs("one", 8, 1);
	fill_logs("odd", 8, 1); /* every second run has a rate of the probe */
	fill_logs("two", 8, 1);
	const char *a = read_text(only_log("one")), *b = read_text(only_log("two"));
	mkdir(path_of("team"), 0777);
	write_text(path_of("team/a.jsonl"), a);
	Db *db = open_logs("team", DB_READ);
	const char *before = export_of(db);
	db_close(db);
	ck_assert_int_eq(strlen(a), strlen(b));
	write_text(path_of("team/a.jsonl"), b);
	db = open_logs("team", DB_READ);
	ck_assert_str_ne(export_of(db), before);
	ck_assert_int_eq(count_runs(db, &w, &own), 1);
	db_close(db);
}
END_TEST

/* A damaged line is named with file and line, each time, and all else is used; check fails. */
START_TEST(damage_is_named)
{
	int64_t own, records;
	World w = fill_logs("team", 8, 4);
	const char *path = only_log("team"), *text = read_text(path);
	char *bad = arena_printf(arena, "%s", text), *third = bad;
	int line = 1;
	for (; strstr(third, "\"kind\":\"run\"") > strchr(third, '\n'); line++)
		third = strchr(third, '\n') + 1;
	third[60]++;
	static const char more[] = "nonsense\n{\"kind\":\"seal\",\"of\":\"12\"}\n{\"kind\":\"log\",\"version\":9}\n";
	write_text(path, arena_printf(arena, "%s%s", bad, more));
	for (int turn = 0; turn < 2; turn++) {
		Err err = { 0 };
		Db *db = open_logs("team", DB_READ);
		ck_assert_int_eq(db_lost(db), 4);
		ck_assert_ptr_nonnull(db_note(db));
		ck_assert_msg(strstr(db_note(db), arena_printf(arena, "%s:%d:", path, line)) != NULL, "%s", db_note(db));
		ck_assert_int_eq(count_runs(db, &w, &own), 3);
		ck_assert(!db_check(db, &records, &err));
		db_close(db);
	}
}
END_TEST

/* Without a cache, with one that cannot be written, or that was damaged, all is there. */
START_TEST(an_index_may_fail)
{
	int64_t own;
	World w = fill_logs("team", 8, 6);
	for (int i = 0; i < 4; i++) {
		Err err = { 0 };
		DbLogs how = how_of(i == 0 ? NULL : i == 1 ? path_of("team/nowhere/at/all") : cache_of());
		if (i > 1) {
			write_text(only_log("cache"), i == 2 ? "SQLite format 3 or so" : read_text(only_log("team")));
		}
		Db *db = db_open_logs(path_of("team"), DB_READ, &how, &err);
		ck_assert_msg(db != NULL, "%d: %s: %s", i, err.place, err.text);
		ck_assert_int_eq(count_runs(db, &w, &own), 6);
		ck_assert_int_eq(own, 6);
		ck_assert(i != 1 || strstr(db_note(db), "cannot be kept") != NULL);
		check_sound(db, 10);
		db_close(db);
	}
}
END_TEST

/* An import writes what is new, once, without seals. */
START_TEST(an_import_is_a_segment)
{
	int64_t own;
	World w = fill_logs("one", 8, 5);
	const char *text = read_text(only_log("one"));
	for (int turn = 0; turn < 2; turn++) {
		Db *db = open_logs("team", DB_WRITE);
		ImportCount c = import_into(db, text);
		ck_assert_int_eq(turn == 0 ? c.taken : c.known, 9);
		ck_assert_int_eq(count_runs(db, &w, &own), 5);
		ck_assert_int_eq(own, 0);
		db_close(db);
	}
	ck_assert_ptr_null(strstr(read_text(only_log("team")), "\"kind\":\"seal\""));
	Db *db = open_logs("team", DB_READ);
	ck_assert_int_eq(count_runs(db, &w, &own), 5);
	db_close(db);
}
END_TEST

/* Into the file that is there, which its writer has open. */
static void write_over(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* Who makes the index anew may have read a segment before its last lines, or its first: the writer adds them again. */
START_TEST(an_index_of_less_catches_up)
{
	int64_t own;
	Db *db = open_logs("team", DB_WRITE);
	World w = fill_world(db, 8);
	put_run(db, &w, "split i 1\n", RUN_OK, 1000, 5);
	const char *log = only_log("team"), *less = _i == 0 ? read_text(log) : "";
	put_run(db, &w, "split i 2\n", RUN_OK, 1000, 5);
	const char *all = read_text(log);
	write_over(log, less);
	db_close(open_logs("team", DB_READ));
	write_over(log, all);
	for (int n = 3; n < 6; n++) {
		put_run(db, &w, arena_printf(arena, "split i %d\n", n), RUN_OK, 1000, 5);
		Db *other = open_logs("team", DB_READ);
		ck_assert_int_eq(count_runs(other, &w, &own), n);
		check_sound(other, -1);
		db_close(other);
	}
	db_close(db);
}
END_TEST

/* A segment may get another name while its writer has it open. */
START_TEST(a_segment_is_renamed)
{
	int64_t own;
	Db *db = open_logs("team", DB_WRITE);
	World w = fill_world(db, 8);
	for (int n = 1; n < 5; n++) {
		put_run(db, &w, arena_printf(arena, "split i %d\n", n), RUN_OK, 1000, 5);
		if (n == 2)
			ck_assert_int_eq(rename(only_log("team"), path_of("team/other.jsonl")), 0);
		Db *other = open_logs("team", DB_READ);
		ck_assert_int_eq(count_runs(other, &w, &own), n);
		check_sound(other, -1);
		db_close(other);
	}
	db_close(db);
}
END_TEST

/* A segment may be removed or replaced while its writer has it open: what comes behind is in another one, whole. */
START_TEST(a_segment_is_removed)
{
	Db *db = open_logs("team", DB_WRITE);
	World w = fill_world(db, 8);
	for (int n = 1; n < 7; n++) {
		put_run(db, &w, arena_printf(arena, "split i %d\n", n), RUN_OK, 1000, 5);
		if (n == 2)
			ck_assert_int_eq(unlink(only_log("team")), 0);
		if (n == 4) { /* another file of the same lines takes its name */
			const char *log = only_log("team"), *lines = read_text(log);
			ck_assert_int_eq(unlink(log), 0);
			write_text(log, lines);
		}
		if (_i == 0)
			db_close(open_logs("team", DB_READ)); /* the index is made anew */
	}
	db_close(db);
	ck_assert_int_eq(count_files("team"), 2);
	check_logs("team", &w, 4, 8);
}
END_TEST

/* Writers and readers of one folder, some killed: no line is lost that a put has returned for. */
START_TEST(tuners_share_a_folder)
{
	enum { TUNERS = 4, RUNS = 60 };
	pid_t child[TUNERS];
	fill_logs("team", 8, 1);
	int told[2];
	ck_assert_int_eq(pipe(told), 0);
	for (int i = 0; i < TUNERS; i++) {
		child[i] = fork();
		if (child[i] != 0)
			continue;
		Db *db = open_logs("team", DB_WRITE);
		World w = fill_world(db, 8);
		for (int k = 0; k < RUNS; k++) {
			put_run(db, &w, arena_printf(arena, "split i %d\n", 1000 * (i + 1) + k), RUN_OK, 1000, 5);
			ck_assert_int_eq(write(told[1], "x", 1), 1);
			if (i == 3 && k == RUNS / 2)
				raise(SIGKILL);
			if (k % 16 == 7) /* somebody empties the index */
				db_close(open_logs("team", DB_READ));
		}
		db_close(db);
		_exit(0);
	}
	for (int k = 0; k < 20; k++) {
		if (k == 10) { /* a segment goes: the index is made anew under the tuners */
			write_text(path_of("team/gone.jsonl"), "");
			db_close(open_logs("team", DB_READ));
			unlink(path_of("team/gone.jsonl"));
		}
		db_close(open_logs("team", DB_READ));
		usleep(10000);
	}
	for (int i = 0; i < TUNERS; i++) {
		int status;
		ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
		ck_assert_msg(i == 3 || status == 0, "tuner %d: %d", i, status);
	}
	close(told[1]);
	int64_t put = 1, own;
	for (char c; read(told[0], &c, 1) == 1;)
		put++;
	Db *db = open_logs("team", DB_READ);
	World w = { .task = task_of(8) };
	Target t;
	target_host(&t, 1);
	w.target = target_id(&t);
	ck_assert_int_ge(count_runs(db, &w, &own), put);
	check_sound(db, -1);
	ck_assert_ptr_null(db_note(db));
	db_close(db);
	/* And what was indexed beside the puts is what the segments say. */
	const char *kept = NULL;
	for (int turn = 0; turn < 2; turn++) {
		db = open_logs("team", DB_READ);
		const char *text = export_of(db);
		ck_assert(kept == NULL || strcmp(kept, text) == 0);
		kept = text;
		db_close(db);
		ck_assert_int_eq(system(arena_printf(arena, "rm -r %s", path_of("cache"))), 0);
	}
}
END_TEST

/* A full disk, here a limit of file sizes, is told; what was stored before is there, and no part of a line. */
START_TEST(a_full_disk_is_told)
{
	int64_t own;
	pid_t child = fork();
	if (child == 0) {
		Err err = { 0 };
		Db *db = open_logs("team", DB_WRITE);
		World w = fill_world(db, 8);
		put_run(db, &w, "split i 2\n", RUN_OK, 1000, 5);
		signal(SIGXFSZ, SIG_IGN);
		struct stat st;
		ck_assert_int_eq(stat(only_log("team"), &st), 0);
		struct rlimit r = { (rlim_t)st.st_size + 100, RLIM_INFINITY };
		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
		RunRecord run = { .workload = w.task->id, .target = w.target, .session = w.session, .env = w.env,
			.trace = "split i 3\n", .status = RUN_OK, .median_ns = 1000, .min_ns = 1000, .samples = 5, .detail = "" };
		bool ok = db_put_run(db, &run, &err);
		_exit(!ok && err.code == ERR_DEVICE ? 0 : 1);
	}
	int status;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	const char *text = read_text(only_log("team"));
	ck_assert_int_eq(text[strlen(text) - 1], '\n');
	Db *db = open_logs("team", DB_READ);
	World w = { .task = task_of(8) };
	Target t;
	target_host(&t, 1);
	w.target = target_id(&t);
	ck_assert_int_eq(count_runs(db, &w, &own), 1);
	db_close(db);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("logs");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_session_has_a_segment);
	tcase_add_test(tc, nothing_measured_is_nothing_written);
	tcase_add_test(tc, seals_lie_in_the_segment);
	tcase_add_test(tc, a_forged_seal_is_no_seal);
	tcase_add_test(tc, the_index_follows_the_folder);
	tcase_add_test(tc, equal_sizes_are_told_apart);
	tcase_add_test(tc, damage_is_named);
	tcase_add_test(tc, an_index_may_fail);
	tcase_add_test(tc, an_import_is_a_segment);
	tcase_add_loop_test(tc, an_index_of_less_catches_up, 0, 2);
	tcase_add_test(tc, a_segment_is_renamed);
	tcase_add_loop_test(tc, a_segment_is_removed, 0, 2);
	tcase_add_test(tc, tuners_share_a_folder);
	tcase_add_test(tc, a_full_disk_is_told);
	return run_suite("logs", tc);
}
