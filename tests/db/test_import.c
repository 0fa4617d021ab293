/*
 * Imports of several batches: killed anywhere, beside a tuner that puts, with lines in any order.
 */
#include "world.h"

#include "base/rng.h"
#include "db/db.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

enum { RUNS = 20000 /* two batches */, TASKS = 5 };

/* What runs name, in a database of its own, and a run of each of its tasks. */
static void fill_world(World *w, Db *db, RunRecord like[TASKS])
{
	SessionInfo s = { "test", "none", "model", 1, 1700000000, NULL, 0, 0 };
	Err err = { 0 };
	for (int i = 0; i < TASKS; i++) {
		const Task *t = world_task(w, 8 + i);
		like[i] = (RunRecord){ .workload = t->id, .status = RUN_OK, .samples = 5, .max_err_e9 = 5, .detail = "" };
		ck_assert(db_put_task(db, t, &err) && db_put_target(db, &w->target, &like[i].target, &err) &&
			db_put_env(db, 7, "test", NULL, NULL, &like[i].env, &err) &&
			db_put_session(db, &s, &like[i].session, &err));
	}
}

static void add_run(Text *log, RunRecord r, int i)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *line;
	r.trace = arena_printf(a, "split i %d\n", i);
	r.seq = i;
	r.median_ns = 1000 + i;
	ck_assert_msg(record_seal(a, record_from_run(a, &r), &r.id, &line, &err), "%s", err.text);
	text_add(log, "%s\n", line);
	arena_free(a);
}

static const char *large_log(World *w, int runs)
{
	Text log = { .arena = w->arena };
	RunRecord like[TASKS];
	Db *db = world_db(w, "named");
	fill_world(w, db, like);
	text_add(&log, "%s", world_export(w, db));
	db_close(db);
	for (int i = 0; i < runs; i++)
		add_run(&log, like[i % TASKS], i);
	return text_str(&log);
}

static void check_sound(Db *db, int64_t want)
{
	Err err = { 0 };
	int64_t records;
	ck_assert_msg(db_check(db, &records, &err), "%s", err.text);
	if (want >= 0)
		ck_assert_int_eq(records, want);
}

static int64_t lines_of(const char *text)
{
	int64_t n = 0;
	for (; *text != 0; text++)
		n += *text == '\n';
	return n;
}

static pid_t import_in_child(World *w, const char *name, const char *log)
{
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child != 0)
		return child;
	Err err = { 0 };
	ImportCount c = { 0 };
	Db *db = db_open(arena_printf(w->arena, "%s/%s", w->folder, name), DB_WRITE, &err);
	bool ok = db != NULL && db_import(db, "log", log, strlen(log), &c, &err) && c.refused == 0;
	db_close(db);
	_exit(ok ? 0 : 1);
}

/* What a killed import had stored is sound, and the same import again gives what one that lived gives. */
START_TEST(a_killed_import_costs_nothing)
{
	World *w = world_open();
	Rng rng = rng_seed((uint64_t)_i);
	const char *log = large_log(w, RUNS);
	pid_t child = import_in_child(w, "a", log);
	usleep((useconds_t)rng_below(&rng, 300000));
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	Db *a = world_db(w, "a"), *b = world_db(w, "b");
	check_sound(a, -1);
	ImportCount c = world_import(a, log), whole = world_import(b, log);
	ck_assert_int_eq(c.refused, 0);
	ck_assert_int_eq(c.taken + c.known, lines_of(log));
	ck_assert_int_eq(whole.taken, lines_of(log));
	check_sound(a, whole.taken);
	ck_assert_str_eq(world_export(w, a), world_export(w, b));
	db_close(a);
	db_close(b);
	world_close(w);
}
END_TEST

/* A tuner writes while a log is imported; nobody waits until patience ends, and nothing is lost. */
START_TEST(a_tuner_puts_beside_an_import)
{
	World *w = world_open();
	const char *log = large_log(w, RUNS);
	Db *db = world_db(w, "a");
	RunRecord like[TASKS];
	fill_world(w, db, like);
	pid_t child = import_in_child(w, "a", log);
	int status = -1, puts = 0;
	while (waitpid(child, &status, WNOHANG) == 0) {
		Err err = { 0 };
		RunRecord r = like[puts % TASKS];
		r.trace = arena_printf(w->arena, "unroll i%d\n", puts++);
		r.median_ns = 500;
		ck_assert_msg(db_put_run(db, &r, &err), "%s", err.text);
		usleep(1000);
	}
	ck_assert_int_eq(status, 0);
	ck_assert_int_gt(puts, 1);
	check_sound(db, lines_of(log) + puts);
	db_close(db);
	world_close(w);
}
END_TEST

/* A database that a tuner writes to is not damaged. */
START_TEST(a_check_is_of_one_moment)
{
	World *w = world_open();
	Db *db = world_db(w, "a");
	RunRecord like[TASKS];
	fill_world(w, db, like);
	world_import(db, large_log(w, 300));
	int go[2];
	ck_assert_int_eq(pipe(go), 0);
	pid_t child = fork();
	if (child == 0) {
		Err err = { 0 };
		Db *mine = db_open(arena_printf(w->arena, "%s/a", w->folder), DB_WRITE, &err);
		char byte;
		close(go[1]);
		fcntl(go[0], F_SETFL, O_NONBLOCK);
		bool ok = mine != NULL;
		for (int i = 0; ok && read(go[0], &byte, 1) != 0; i++) { /* until the parent closes its end */
			like[i % TASKS].trace = arena_printf(w->arena, "unroll i%d\n", i);
			like[i % TASKS].median_ns = 500;
			ok = db_put_run(mine, &like[i % TASKS], &err);
			usleep(1000);
		}
		db_close(mine);
		_exit(ok ? 0 : 1);
	}
	close(go[0]);
	for (int i = 0; i < 8; i++)
		check_sound(db, -1);
	close(go[1]);
	int status = -1;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	db_close(db);
	world_close(w);
}
END_TEST

/* A line counts once those that it names have come: any order gives the same records, at once. */
START_TEST(lines_in_any_order)
{
	World *w = world_open();
	Rng rng = rng_seed((uint64_t)_i);
	char *log = arena_printf(w->arena, "%s", large_log(w, 200));
	VEC(const char *) line = { 0 };
	for (char *end; (end = strchr(log, '\n')) != NULL; log = end + 1) {
		*end = 0;
		vec_push(w->arena, &line, log);
	}
	Text all = { .arena = w->arena }, shuffled = { .arena = w->arena };
	for (size_t i = 0; i < line.n; i++)
		text_add(&all, "%s\n", line.at[i]);
	for (size_t i = line.n; i > 0; i--) {
		size_t k = rng_below(&rng, i);
		text_add(&shuffled, "%s\n%s", line.at[k], rng_below(&rng, 9) == 0 ? "\n{\n" : "");
		line.at[k] = line.at[i - 1];
	}
	Db *a = world_db(w, "a"), *b = world_db(w, "b");
	world_import(a, text_str(&all));
	ImportCount c = world_import(b, text_str(&shuffled)), again = world_import(b, text_str(&shuffled));
	ck_assert_int_eq(c.taken, (int64_t)line.n);
	ck_assert_int_eq(c.refused, again.refused);
	ck_assert(again.taken == 0 && again.known == (int64_t)line.n);
	check_sound(b, (int64_t)line.n);
	ck_assert_str_eq(world_export(w, a), world_export(w, b));
	db_close(a);
	db_close(b);
	world_close(w);
}
END_TEST

/* Of the refused lines the first is told, whatever is wrong with it, and where it stands. */
START_TEST(the_first_refused_line_is_told)
{
	World *w = world_open();
	const char *log = large_log(w, 3), *runs = strstr(log, "{\"compile_ns\"");
	Db *db = world_db(w, "a");
	ImportCount c = world_import(db, arena_printf(w->arena, "\n%s{}\n", runs));
	ck_assert_int_eq(c.refused, 4);
	ck_assert_msg(strstr(c.first, "log:2:") != NULL && strstr(c.first, "not there") != NULL, "%s", c.first);
	c = world_import(db, arena_printf(w->arena, "{}\n%s", runs));
	ck_assert_msg(strstr(c.first, "log:1:") != NULL && strstr(c.first, "kind") != NULL, "%s", c.first);
	db_close(db);
	world_close(w);
}
END_TEST

/* A stranger's line keeps its bytes, since its id is their hash; what it says of a schedule is of the schedule. */
START_TEST(a_comment_makes_no_other_schedule)
{
	World *w = world_open();
	RunRecord like[TASKS];
	Err err = { 0 };
	Text log = { .arena = w->arena };
	Hash id;
	const char *line, *trace = "# mine\n\tsplit  i 4 # quickly\n\nvectorize i.i";
	Db *db = world_db(w, "comments");
	fill_world(w, db, like);
	like[0].trace = "split i 4\nvectorize i.i\n";
	like[0].median_ns = 1000;
	Json *o = record_from_run(w->arena, &like[0]);
	json_set(w->arena, o, "trace", json_new_text(w->arena, trace));
	ck_assert(record_seal(w->arena, o, &id, &line, &err));
	text_add(&log, "%s\n", line);
	ImportCount count = { 0 };
	ck_assert_msg(db_import(db, "log", text_str(&log), log.n, &count, &err), "%s", err.text);
	ck_assert_int_eq(count.taken, 1);
	ck_assert(strstr(world_export(w, db), line) != NULL);
	like[0].trace = trace;
	ck_assert_msg(db_put_run(db, &like[0], &err), "%s", err.text);
	DbKey key = { .workload = like[0].workload, .target = like[0].target, .epoch = 7 };
	DbChoice choice[4];
	int n;
	ck_assert_msg(db_rank((DbSet){ &db, 1 }, &key, choice, 4, &n, w->arena, &err), "%s", err.text);
	ck_assert_int_eq(n, 1);
	ck_assert_str_eq(choice[0].run.trace, "split i 4\nvectorize i.i\n");
	ck_assert(strstr(world_export(w, db), "\"trace\":\"split i 4\\nvectorize i.i\\n\"") != NULL);
	check_sound(db, -1);
	db_close(db);
	world_close(w);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("import");
	tcase_add_loop_test(tc, a_killed_import_costs_nothing, 0, 2);
	tcase_add_test(tc, a_tuner_puts_beside_an_import);
	tcase_add_test(tc, a_check_is_of_one_moment);
	tcase_add_loop_test(tc, lines_in_any_order, 0, suite_count(5, 1, 10));
	tcase_add_test(tc, the_first_refused_line_is_told);
	tcase_add_test(tc, a_comment_makes_no_other_schedule);
	return run_suite("import", tc);
}
