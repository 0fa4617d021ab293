/*
 * Whose word counts: what an owner has measured decides, what others say is a hint, and nothing that others say takes
 * away what was measured here.  Others' records come by import, and in a second database with seals of theirs.
 */
#include "world.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define GOOD "split i 4\n"
#define OTHER "split i 2\n"

/* All that `from` holds, as somebody else's log. */
static void import_all(World *w, Db *from, Db *to)
{
	ck_assert_int_eq(world_import(to, world_export(w, from)).refused, 0);
}

static const char *best(World *w, DbSet set, const Task *t, DbWhose whose, DbChoice *out)
{
	Err err = { 0 };
	DbKey key = { .workload = t->id, .target = w->target_id, .epoch = 7, .whose = whose };
	int n;
	ck_assert_msg(db_rank(set, &key, out, 1, &n, w->arena, &err), "%s", err.text);
	return n > 0 ? out->run.trace : "";
}

typedef struct Two {
	World *w;
	Db *mine, *theirs;
	const Task *t;
	DbChoice c;
} Two;

static Two two_open(void)
{
	World *w = world_open();
	Two x = { .w = w, .mine = world_db(w, "mine"), .theirs = world_db(w, "theirs"), .t = world_task(w, 8) };
	db_own(x.theirs, &(DbOwner){ { 2 } });
	return x;
}

/* Theirs as I open it: the seals in it are none of mine. */
static void as_mine(Two *x)
{
	db_own(x->theirs, &(DbOwner){ { 1 } });
}

static void two_close(Two *x)
{
	db_close(x->mine);
	db_close(x->theirs);
	world_close(x->w);
}

static Hash ran(Two *x, Db *db, const char *trace, int64_t ns, int session)
{
	return world_run(x->w, db, (Ran){ x->t, NULL, trace, ns, session, 7, 5 });
}

/* What `mine` says, alone and with what others have, imported (0) or beside it (1). */
static const char *decided(Two *x, int way)
{
	DbSet both = { (Db *[]){ x->mine, x->theirs }, 2 };
	if (way == 0) {
		import_all(x->w, x->theirs, x->mine);
		both.n = 1;
	}
	return best(x->w, both, x->t, DB_DECIDED, &x->c);
}

START_TEST(a_faster_claim_is_a_hint)
{
	Two x = two_open();
	for (int s = 0; s < 9; s++)
		ran(&x, x.theirs, OTHER, 10, 100 + s);
	as_mine(&x);
	ck_assert_str_eq(decided(&x, _i), OTHER);
	ck_assert(!x.c.own && x.c.sessions == 9);
	ran(&x, x.mine, GOOD, 500, 1);
	ck_assert_str_eq(decided(&x, _i), GOOD);
	ck_assert(x.c.own && x.c.ns == 500);
	DbSet both = { (Db *[]){ x.mine, x.theirs }, 2 };
	ck_assert_str_eq(best(x.w, both, x.t, DB_HINTS, &x.c), OTHER);
	ran(&x, x.mine, OTHER, 900, 1); /* it was tried here */
	ck_assert_str_eq(decided(&x, _i), GOOD);
	ck_assert_str_eq(best(x.w, both, x.t, DB_HINTS, &x.c), "");
	two_close(&x);
}
END_TEST

START_TEST(slander_bars_nothing)
{
	Two x = two_open();
	Hash run = ran(&x, x.mine, GOOD, 500, 1);
	Err err = { 0 };
	ran(&x, x.mine, OTHER, 600, 1);
	import_all(x.w, x.mine, x.theirs);
	for (int s = 0; s < 5; s++) {
		ran(&x, x.theirs, GOOD, 1500, 100 + s);
		ran(&x, x.theirs, GOOD, 0, 200 + s); /* crash */
	}
	ran(&x, x.theirs, GOOD, 5000, 1); /* under the name of the honest session */
	ck_assert_msg(db_put_retraction(x.theirs, run, "it is not true", &err), "%s", err.text);
	as_mine(&x);
	ck_assert_str_eq(decided(&x, _i), GOOD);
	ck_assert(x.c.ns == 500 && x.c.own && x.c.runs == 1 && x.c.against == 0);
	/* The owner's own retraction counts, also where somebody else has put the same line before. */
	ck_assert_msg(db_put_retraction(x.mine, run, "it is not true", &err), "%s", err.text);
	ck_assert_str_eq(decided(&x, _i), OTHER);
	two_close(&x);
}
END_TEST

/* Of hints the majority of sessions counts; but the fastest claim of anybody is known, to be tried. */
START_TEST(hints_are_voted_on)
{
	Two x = two_open();
	Err err = { 0 };
	Hash run = ran(&x, x.theirs, GOOD, 100, 1);
	ran(&x, x.theirs, OTHER, 200, 1);
	for (int s = 0; s < 5; s++)
		ran(&x, x.theirs, GOOD, 0, 10 + s);
	as_mine(&x);
	DbSet theirs = { &x.theirs, 1 };
	ck_assert_str_eq(best(x.w, theirs, x.t, DB_DECIDED, &x.c), OTHER);
	ck_assert_str_eq(best(x.w, theirs, x.t, DB_CLAIMS, &x.c), GOOD);
	db_own(x.theirs, &(DbOwner){ { 2 } });
	for (int s = 0; s < 6; s++)
		run = ran(&x, x.theirs, GOOD, 120, 20 + s);
	as_mine(&x);
	ck_assert_str_eq(best(x.w, theirs, x.t, DB_DECIDED, &x.c), GOOD);
	ck_assert_int_eq(x.c.against, 5);
	db_own(x.theirs, &(DbOwner){ { 2 } });
	ck_assert_msg(db_put_retraction(x.theirs, run, "no", &err), "%s", err.text);
	as_mine(&x);
	ck_assert_str_eq(best(x.w, theirs, x.t, DB_CLAIMS, &x.c), GOOD);
	two_close(&x);
}
END_TEST

/* One session saw a wrong result: as the owner's it bars the schedule, five others that are fine notwithstanding. */
START_TEST(wrong_here_is_wrong)
{
	Two x = two_open();
	Err err = { 0 };
	for (int s = 0; s < 5; s++)
		ran(&x, x.mine, GOOD, 100, s);
	ran(&x, x.mine, OTHER, 900, 1);
	Hash id = ran(&x, x.mine, GOOD, 101, 6);
	RunRecord wrong = *db_run((DbSet){ &x.mine, 1 }, id, x.w->arena, &err);
	wrong.status = RUN_WRONG_RESULT;
	wrong.median_ns = wrong.samples = 0;
	wrong.max_err_e9 = -1;
	ck_assert_msg(db_put_run(x.mine, &wrong, &err), "%s", err.text);
	ck_assert_str_eq(best(x.w, (DbSet){ &x.mine, 1 }, x.t, DB_DECIDED, &x.c), OTHER);
	/* Nor may others bring it back. */
	for (int s = 0; s < 9; s++)
		ran(&x, x.theirs, GOOD, 90, 100 + s);
	as_mine(&x);
	ck_assert_str_eq(decided(&x, 1), OTHER);
	ck_assert_str_eq(best(x.w, (DbSet){ (Db *[]){ x.mine, x.theirs }, 2 }, x.t, DB_HINTS, &x.c), "");
	two_close(&x);
}
END_TEST

/* A session of others that has ended lists its runs: what else goes by its name is nobody's, and takes nothing away. */
START_TEST(a_session_has_the_runs_it_lists)
{
	Two x = two_open();
	Err err = { 0 };
	DbSet both = { (Db *[]){ x.theirs, x.mine }, 2 };
	Hash run = ran(&x, x.theirs, GOOD, 150, 1);
	ran(&x, x.theirs, OTHER, 200, 2);
	Hash session = db_run(both, run, x.w->arena, &err)->session;
	Db *forged = _i == 0 ? x.mine : x.theirs;
	db_own(x.mine, &(DbOwner){ { 3 } });
	ran(&x, forged, OTHER, 10, 1);
	db_own(x.mine, &(DbOwner){ { 1 } });
	db_own(x.theirs, &(DbOwner){ { 1 } });
	ck_assert_str_eq(best(x.w, both, x.t, DB_DECIDED, &x.c), OTHER); /* the middle of 10 and 200 */
	db_own(x.theirs, &(DbOwner){ { 2 } });
	ck_assert_msg(db_put_closing(x.theirs, session, &run, 1, &err), "%s", err.text);
	as_mine(&x);
	ck_assert_str_eq(best(x.w, both, x.t, DB_DECIDED, &x.c), GOOD);
	ck_assert_int_eq(x.c.ns, 150);
	int64_t records;
	ck_assert_msg(db_check(x.theirs, &records, &err), "%s", err.text);
	two_close(&x);
}
END_TEST

START_TEST(a_seal_is_of_one_record_and_one_owner)
{
	Two x = two_open();
	static const DbOwner a = { { 1, 2, 3 } }, b = { { 1, 2, 4 } };
	Err err = { 0 };
	sqlite3 *sql;
	db_own(x.mine, &a);
	Hash good = ran(&x, x.mine, GOOD, 500, 1);
	ran(&x, x.theirs, OTHER, 100, 2);
	import_all(x.w, x.theirs, x.mine);
	db_close(x.mine);
	const char *path = arena_printf(x.w->arena, "%s/mine", x.w->folder);
	ck_assert_int_eq(sqlite3_open(path, &sql), SQLITE_OK);
	static const char forge[] = "UPDATE run SET sealed=1,seal=(SELECT max(seal) FROM run)";
	ck_assert_int_eq(sqlite3_exec(sql, forge, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
	x.mine = world_db(x.w, "mine");
	DbSet mine = { &x.mine, 1 };
	ck_assert(!db_run(mine, good, x.w->arena, &err)->own);
	db_own(x.mine, &b);
	ck_assert(!db_run(mine, good, x.w->arena, &err)->own);
	db_own(x.mine, &a);
	ck_assert(db_run(mine, good, x.w->arena, &err)->own);
	ck_assert_str_eq(best(x.w, mine, x.t, DB_DECIDED, &x.c), GOOD);
	ck_assert(x.c.own);
	two_close(&x);
}
END_TEST

static void change(const char *path, const char *sql)
{
	sqlite3 *db;
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}

/* What another index says of my line, or a changed one of mine, is not what I have measured. */
static const char *const forged[] = {
	"UPDATE run SET status=9,verified=0 WHERE median_ns=500",
	"UPDATE run SET stage=3 WHERE median_ns=600",
	"UPDATE run SET trace=(SELECT trace FROM run WHERE median_ns=500) WHERE median_ns=600",
	"UPDATE run SET samples=99 WHERE median_ns=600",
	"INSERT INTO retraction SELECT max(n)+1,(SELECT n FROM run WHERE median_ns=500),(SELECT max(seal) FROM retraction)"
	" FROM record",
	"UPDATE record SET line=replace(line,'\"runs\":\"','\"runs\":\"0') WHERE kind=6",
};

START_TEST(an_index_is_believed_as_it_was_sealed)
{
	Two x = two_open();
	Err err = { 0 };
	ran(&x, x.mine, GOOD, 500, 1);
	Hash other = ran(&x, x.mine, OTHER, 600, 1), bad = ran(&x, x.mine, OTHER, 610, 2);
	Hash session = db_run((DbSet){ &x.mine, 1 }, other, x.w->arena, &err)->session;
	ck_assert(db_put_retraction(x.mine, bad, "an outlier", &err) && db_put_closing(x.mine, session, &other, 1, &err));
	import_all(x.w, x.mine, x.theirs);
	db_close(x.theirs);
	change(arena_printf(x.w->arena, "%s/theirs", x.w->folder), forged[_i]);
	x.theirs = world_db(x.w, "theirs");
	DbSet both = { (Db *[]){ x.theirs, x.mine }, 2 };
	ck_assert_str_eq(best(x.w, both, x.t, DB_DECIDED, &x.c), GOOD);
	ck_assert(x.c.own && x.c.ns == 500);
	db_close(x.mine); /* the file itself, by somebody who has no key: the row counts as nobody's */
	change(arena_printf(x.w->arena, "%s/mine", x.w->folder), forged[_i]);
	x.mine = world_db(x.w, "mine");
	ck_assert_str_eq(best(x.w, (DbSet){ &x.mine, 1 }, x.t, DB_OWN, &x.c), _i == 0 ? OTHER : GOOD);
	two_close(&x);
}
END_TEST

START_TEST(tuners_that_begin_at_once_share_a_key)
{
	World *w = world_open();
	Err err = { 0 };
	enum { CHILDREN = 8 };
	const char *path = arena_printf(w->arena, "%s/key", w->folder);
	DbOwner first, again;
	struct stat st;
	ck_assert(!db_owner_load(path, false, &first, &err) && err.code == ERR_DEVICE);
	int pipes[2];
	ck_assert_int_eq(pipe(pipes), 0);
	for (int i = 0; i < CHILDREN; i++)
		if (fork() == 0) {
			bool ok = db_owner_load(path, true, &first, NULL) &&
				write(pipes[1], &first, sizeof first) == (ssize_t)sizeof first;
			_exit(!ok);
		}
	for (int i = 0, status; i < CHILDREN; i++)
		ck_assert(wait(&status) > 0 && status == 0);
	ck_assert(db_owner_load(path, false, &first, NULL));
	for (int i = 0; i < CHILDREN; i++)
		ck_assert(read(pipes[0], &again, sizeof again) == (ssize_t)sizeof again &&
			memcmp(&first, &again, sizeof first) == 0);
	close(pipes[0]);
	close(pipes[1]);
	ck_assert(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	for (const char *const *bad = (const char *const[]){ "", "abc\n", "zz", NULL }; *bad != NULL; bad++) {
		err = (Err){ 0 };
		FILE *f = fopen(path, "w");
		ck_assert(f != NULL && fputs(*bad, f) >= 0 && fclose(f) == 0);
		ck_assert(!db_owner_load(path, true, &first, &err) && strstr(err.text, "is no key") != NULL);
	}
	world_close(w);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("trust");
	tcase_add_loop_test(tc, a_faster_claim_is_a_hint, 0, 2);
	tcase_add_loop_test(tc, slander_bars_nothing, 0, 2);
	tcase_add_test(tc, hints_are_voted_on);
	tcase_add_test(tc, wrong_here_is_wrong);
	tcase_add_loop_test(tc, a_session_has_the_runs_it_lists, 0, 2);
	tcase_add_test(tc, a_seal_is_of_one_record_and_one_owner);
	tcase_add_loop_test(tc, an_index_is_believed_as_it_was_sealed, 0, LEN(forged));
	tcase_add_test(tc, tuners_that_begin_at_once_share_a_key);
	return run_suite("trust", tc);
}
