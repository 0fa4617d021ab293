/*
 * Which schedule is the best: the median over sessions of each one's median, over the union of the
 * databases, in whatever order and however often records come; what is not verified, retracted or
 * below the floor never; and who is near.
 */
#include "world.h"

#include "base/rng.h"
#include "db/db.h"

#include <math.h>

static DbKey key_of(const World *w, const Task *t, int64_t floor_ns)
{
	return (DbKey){ .workload = t->id, .target = w->target_id, .epoch = 7, .floor_ns = floor_ns };
}

static int rank(World *w, DbSet set, DbKey key, DbChoice *out, int most)
{
	Err err = { 0 };
	int n;
	ck_assert_msg(db_rank(set, &key, out, most, &n, w->arena, &err), "%s", err.text);
	return n;
}

START_TEST(sessions_outvote_an_outlier)
{
	World *w = world_open();
	Db *db = world_db(w, "a");
	const Task *t = world_task(w, 8);
	DbChoice c[4];
	static const int64_t fast_once[] = { 200, 900, 1000 }, steady[] = { 500, 520, 540 };
	for (int i = 0; i < 3; i++) {
		world_run(w, db, (Ran){ t, NULL, "split i 2\n", fast_once[i], i, 7, 5 });
		world_run(w, db, (Ran){ t, NULL, "split i 4\n", steady[i], i, 7, 5 });
	}
	world_run(w, db, (Ran){ t, NULL, "split i 4\n", 9000, 1, 7, 5 }); /* the median of its session: 4760 */
	int n = rank(w, (DbSet){ &db, 1 }, key_of(w, t, 0), c, 4);
	ck_assert_int_eq(n, 2);
	ck_assert_str_eq(c[0].run.trace, "split i 4\n");
	ck_assert_int_eq(c[0].ns, 540);
	ck_assert_int_eq(c[0].run.median_ns, 500);
	ck_assert_int_eq(c[0].sessions, 3);
	ck_assert_int_eq(c[0].runs, 4);
	ck_assert_int_eq(c[1].ns, 900);
	Err err = { 0 };
	ck_assert_str_eq(db_best(db, t->id, w->target_id, 7, w->arena, &err)->trace, "split i 4\n");
	ck_assert_int_eq(rank(w, (DbSet){ &db, 1 }, key_of(w, t, 300), c, 4), 2); /* without the 200 */
	ck_assert_int_eq(c[1].runs, 2);
	ck_assert_int_eq(rank(w, (DbSet){ &db, 1 }, key_of(w, t, 10000), c, 4), 0);
	db_close(db);
	world_close(w);
}
END_TEST

/* Any partition of the records over databases, with any repetition, gives the same choices. */
START_TEST(best_is_a_function_of_the_union)
{
	World *w = world_open();
	Rng rng = rng_seed((uint64_t)_i);
	Db *all = world_db(w, "all"), *part[3];
	const Task *t = world_task(w, 8);
	for (int i = 0; i < 40; i++)
		world_run(w, all, (Ran){ t, NULL, arena_printf(w->arena, "split i %d\n", (int)rng_below(&rng, 8) + 2),
					 (int64_t)rng_below(&rng, 6) * 100, (int)rng_below(&rng, 4), 7, 5 });
	char *lines = arena_printf(w->arena, "%s", world_export(w, all));
	for (int i = 0; i < 3; i++)
		part[i] = world_db(w, arena_printf(w->arena, "part%d", i));
	for (char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		bool run = strstr(line, "\"kind\":\"run\"") != NULL && strstr(line, "\"kind\":\"run\"") < end;
		int to = (int)rng_below(&rng, 3);
		for (int i = 0; i < 3; i++)
			if (!run || i == to || rng_below(&rng, 2) == 0)
				world_import(part[i], arena_printf(w->arena, "%.*s", (int)(end - line), line));
	}
	DbChoice want[8], got[8];
	int n = rank(w, (DbSet){ &all, 1 }, key_of(w, t, 0), want, 8);
	ck_assert_int_ge(n, 3);
	ck_assert_int_eq(rank(w, (DbSet){ part, 3 }, key_of(w, t, 0), got, 8), n);
	for (int i = 0; i < n; i++) {
		ck_assert_mem_eq(&want[i].run.id, &got[i].run.id, sizeof(Hash));
		ck_assert(want[i].ns == got[i].ns && want[i].runs == got[i].runs && want[i].sessions == got[i].sessions);
		ck_assert(i == 0 || want[i].ns >= want[i - 1].ns);
	}
	ck_assert_int_eq(rank(w, (DbSet){ part, 3 }, key_of(w, t, 0), got, 1), 1); /* looking at fewer runs */
	ck_assert_mem_eq(&want[0].run.id, &got[0].run.id, sizeof(Hash));
	for (int i = 0; i < 3; i++)
		db_close(part[i]);
	db_close(all);
	world_close(w);
}
END_TEST

/* One session looked at two schedules, and then raced them. */
START_TEST(a_race_outweighs_a_first_look)
{
	World *w = world_open();
	Db *db = world_db(w, "a");
	const Task *t = world_task(w, 8);
	DbChoice c[2];
	world_run(w, db, (Ran){ t, NULL, "outlier\n", 100, 1, 7, 5 });
	world_run(w, db, (Ran){ t, NULL, "better\n", 120, 1, 7, 5 });
	world_sampled(w, db, (Ran){ t, NULL, "outlier\n", 130, 1, 7, 5 }, 21);
	world_sampled(w, db, (Ran){ t, NULL, "better\n", 121, 1, 7, 5 }, 21);
	ck_assert_int_eq(rank(w, (DbSet){ &db, 1 }, key_of(w, t, 0), c, 2), 2);
	ck_assert_str_eq(c[0].run.trace, "better\n");
	ck_assert_int_eq(c[0].ns, 121);
	ck_assert_int_eq(c[1].ns, 130);
	db_close(db);
	world_close(w);
}
END_TEST

/* Between db_hold and db_release what others put is not seen; holds may be nested. */
START_TEST(a_hold_is_one_moment)
{
	World *w = world_open();
	Db *db = world_db(w, "a"), *other = world_db(w, "a");
	const Task *t = world_task(w, 8);
	DbSet set = { &db, 1 };
	DbChoice c;
	Err err = { 0 };
	world_run(w, db, (Ran){ t, NULL, "split i 2\n", 500, 1, 7, 5 });
	ck_assert(db_hold(set, &err));
	ck_assert_int_eq(rank(w, set, key_of(w, t, 0), &c, 1), 1);
	world_run(w, other, (Ran){ t, NULL, "split i 4\n", 400, 1, 7, 5 });
	ck_assert(db_hold(set, &err));
	db_release(set);
	ck_assert_int_eq(rank(w, set, key_of(w, t, 0), &c, 1), 1);
	ck_assert_int_eq(c.ns, 500);
	db_release(set);
	ck_assert_int_eq(rank(w, set, key_of(w, t, 0), &c, 1), 1);
	ck_assert_int_eq(c.ns, 400);
	world_run(w, db, (Ran){ t, NULL, "split i 8\n", 300, 1, 7, 5 }); /* it may write again */
	ck_assert_int_eq(rank(w, set, key_of(w, t, 0), &c, 1), 1);
	ck_assert_int_eq(c.ns, 300);
	db_close(other);
	db_close(db);
	world_close(w);
}
END_TEST

START_TEST(what_may_not_be_chosen)
{
	World *w = world_open();
	Db *db = world_db(w, "a");
	const Task *t = world_task(w, 8);
	Err err = { 0 };
	DbChoice c[4];
	world_run(w, db, (Ran){ t, NULL, "a\n", 100, 1, 7, -1 });      /* not verified */
	world_run(w, db, (Ran){ t, NULL, "b\n", 100, 1, 7, 2000000 }); /* verified to be wrong */
	world_run(w, db, (Ran){ t, NULL, "c\n", 100, 1, 8, 5 });       /* other code */
	world_run(w, db, (Ran){ t, NULL, "d\n", 0, 1, 7, 5 });         /* failed */
	Hash gone = world_run(w, db, (Ran){ t, NULL, "e\n", 100, 1, 7, 5 });
	ck_assert_int_eq(rank(w, (DbSet){ &db, 1 }, key_of(w, t, 0), c, 4), 1);
	ck_assert_msg(db_put_retraction(db, gone, "too good", &err), "%s", err.text);
	ck_assert_int_eq(rank(w, (DbSet){ &db, 1 }, key_of(w, t, 0), c, 4), 0);
	ck_assert(db_run((DbSet){ &db, 1 }, gone, w->arena, &err) != NULL); /* it is still there */
	ck_assert(db_run((DbSet){ &db, 1 }, t->id, w->arena, &err) == NULL);
	int epoch[4], n;
	ck_assert(db_epochs((DbSet){ &db, 1 }, t->id, w->target_id, 7, epoch, 4, &n, &err));
	ck_assert(n == 1 && epoch[0] == 8);
	int64_t records, below, all;
	DbKey key = key_of(w, t, 101);
	ck_assert(db_count_below((DbSet){ &db, 1 }, &key, &below, &err));
	ck_assert(db_count_runs((DbSet){ &db, 1 }, &key, &all, &err));
	ck_assert(below == 1 && all == 4); /* the one of epoch 8 */
	ck_assert_msg(db_check(db, &records, &err), "%s", err.text);
	db_close(db);
	world_close(w);
}
END_TEST

START_TEST(a_retraction_travels)
{
	World *w = world_open();
	Db *a = world_db(w, "a"), *b = world_db(w, "b");
	const Task *t = world_task(w, 8);
	Err err = { 0 };
	DbChoice c[4];
	Hash id = world_run(w, a, (Ran){ t, NULL, "a\n", 100, 1, 7, 5 });
	world_import(b, world_export(w, a));
	ck_assert(db_put_retraction(a, id, "wrong", &err));
	Db *both[] = { a, b };
	ck_assert_int_eq(rank(w, (DbSet){ both, 2 }, key_of(w, t, 0), c, 4), 0); /* wherever it is said */
	world_import(b, world_export(w, a));
	ck_assert_int_eq(rank(w, (DbSet){ &b, 1 }, key_of(w, t, 0), c, 4), 0);
	db_close(a);
	db_close(b);
	world_close(w);
}
END_TEST

/* ---- near ---- */

START_TEST(families_and_distances)
{
	World *w = world_open();
	const char *a = world_task(w, 8)->text, *b = world_task(w, 17)->text;
	Hash fa = db_family(a), fb = db_family(b);
	Hash other = db_family("dag\nin v0: f16[2,8]\nv1: f16[2,8] = relu(v0)\nout v1\n");
	ck_assert_mem_eq(&fa, &fb, sizeof fa);
	ck_assert_mem_ne(&fa, &other, sizeof fa);
	ck_assert(db_distance(a, a) == 0);
	ck_assert(fabs(db_distance(a, b) - 2) < 1e-9); /* (17+1)/(8+1) = 2, in two shapes */
	ck_assert(isinf(db_distance(a, "dag\n")) && isinf(db_distance("x 1", "x y")));
	world_close(w);
}
END_TEST

START_TEST(the_nearest_come_first)
{
	World *w = world_open();
	Db *db[] = { world_db(w, "a"), world_db(w, "b") };
	Err err = { 0 };
	Target wide = w->target;
	wide.threads = 2;
	const Task *me = world_task(w, 16);
	static const int width[] = { 128, 15, 64, 17, 32 };
	for (int i = 0; i < LEN(width); i++)
		world_run(w, db[i % 2], (Ran){ world_task(w, width[i]), NULL, "a\n", 100, 1, 7, 5 });
	world_run(w, db[0], (Ran){ world_task(w, 16), NULL, "a\n", 100, 1, 7, 5 });   /* itself is not near */
	world_run(w, db[0], (Ran){ world_task(w, 18), NULL, "a\n", 100, 1, 7, -1 });  /* nothing verified */
	world_run(w, db[0], (Ran){ world_task(w, 19), &wide, "a\n", 100, 1, 7, 5 });  /* another task, another target */
	world_run(w, db[1], (Ran){ me, &wide, "a\n", 100, 1, 7, 5 });
	DbNear out[4];
	int n;
	ck_assert_msg(db_nearest((DbSet){ db, 2 }, me, &w->target, out, 4, &n, w->arena, &err), "%s", err.text);
	ck_assert_int_eq(n, 4);
	Hash two = target_id(&wide);
	ck_assert_mem_eq(&out[0].workload, &me->id, sizeof(Hash)); /* the task itself, with two threads */
	ck_assert_mem_eq(&out[0].target, &two, sizeof(Hash));
	static const int want[] = { 17, 15, 32 };
	for (int i = 0; i < LEN(want); i++)
		ck_assert_mem_eq(&out[1 + i].workload, &world_task(w, want[i])->id, sizeof(Hash));
	ck_assert(out[0].distance == 0 && out[1].distance < out[2].distance && out[2].distance < out[3].distance);
	db_close(db[0]);
	db_close(db[1]);
	world_close(w);
}
END_TEST

/* A core with a feature less, then twice the threads, then another core; what is of another kind does not count. */
START_TEST(the_nearest_target_comes_first)
{
	World *w = world_open();
	Db *db = world_db(w, "a");
	Err err = { 0 };
	const Task *me = world_task(w, 16);
	Target t[5] = { w->target, w->target, w->target, w->target, w->target };
	snprintf(t[0].model, sizeof t[0].model, "another");
	t[1].features &= t[1].features - 1;
	t[2].kind = TARGET_OPENCL;
	t[3].threads = 2;
	t[4].threads = 4;
	static const int want[] = { 1, 3 };
	static const double apart[] = { 1, 4, 8, 8 };
	for (int i = 0; i < LEN(t); i++)
		world_run(w, db, (Ran){ me, &t[i], "a\n", 100, 1, 7, 5 });
	Target failed = t[1];
	failed.features &= failed.features - 1;
	world_run(w, db, (Ran){ me, &failed, "a\n", 100, 1, 7, -1 }); /* nothing verified */
	DbNear out[5];
	int n;
	ck_assert_msg(db_nearest((DbSet){ &db, 1 }, me, &w->target, out, 5, &n, w->arena, &err), "%s", err.text);
	ck_assert_int_eq(n, 4);
	for (int i = 0; i < n; i++) {
		ck_assert_double_eq(out[i].apart, apart[i]);
		Hash id = target_id(&t[want[i % LEN(want)]]);
		ck_assert(i > 1 || memcmp(&out[i].target, &id, sizeof id) == 0); /* the last two are equally far */
	}
	ck_assert(out[0].apart < DB_SAME_CORE && out[1].apart >= DB_SAME_CORE);
	DbNear again[5];
	int m;
	ck_assert(db_elsewhere((DbSet){ &db, 1 }, me, &w->target, again, 5, &m, w->arena, &err) && m == n);
	ck_assert_mem_eq(again, out, sizeof *out * (size_t)n);
	db_close(db);
	world_close(w);
}
END_TEST

/* Lines that no target of this program has: repeated and unknown features, texts that are none, no threads. */
#define LINE_OF(model, threads, features)                                                                              \
	"{\"type\":\"cpu\",\"model\":\"" model "\",\"threads\":" threads ",\"features\":[" features "]}"

static const struct {
	const char *line;
	double apart;
} lines_of_targets[] = {
	{ LINE_OF("znver5", "1", "\"sse3\",\"avx\""), 0 },
	{ LINE_OF("znver5", "1", "\"sse3\",\"avx\",\"amx-tile\""), 0 },
	{ LINE_OF("znver4", "1", "\"sse3\",\"sse3\",\"sse3\",\"sse3\",\"sse3\""), 9 },
	{ LINE_OF("znver5", "1", "\"sse3\",\"avx\",\"brainwaves\",7"), 2 },
	{ LINE_OF("znver5", "3", "\"sse3\",\"avx\""), 6.339850002884624 },
	{ LINE_OF("znver5", "0", "\"sse3\",\"avx\""), INFINITY },
	{ "{\"type\":\"cpu\",\"model\":\"znver5\",\"threads\":1}", INFINITY },
	{ "{\"type\":\"cuda\",\"model\":\"znver5\",\"threads\":1,\"features\":[]}", INFINITY },
	{ "{}", INFINITY },
};

START_TEST(targets_are_so_far_apart)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target t = { .kind = TARGET_CPU, .arch = ARCH_X86_64, .model = "znver5", .threads = 1 };
	t.features = FEATURE_BIT(FEATURE_SSE3) | FEATURE_BIT(FEATURE_AVX);
	const Json *line = json_parse(a, "t", lines_of_targets[_i].line, strlen(lines_of_targets[_i].line), &err);
	ck_assert_msg(line != NULL, "%s", err.text);
	double apart = db_target_distance(&t, line);
	ck_assert_msg(apart == lines_of_targets[_i].apart || fabs(apart - lines_of_targets[_i].apart) < 1e-9, "%g", apart);
	t.threads = 3; /* 2 and 3 threads are not the same core */
	ck_assert(!(db_target_distance(&t, line) < DB_SAME_CORE) || strstr(lines_of_targets[_i].line, ":3,") != NULL);
	arena_free(a);
}
END_TEST

/* ---- the quick reader ---- */

static bool same_run(const RunRecord *a, const RunRecord *b)
{
	return memcmp(&a->id, &b->id, sizeof(Hash)) == 0 && memcmp(&a->workload, &b->workload, sizeof(Hash)) == 0 &&
		memcmp(&a->target, &b->target, sizeof(Hash)) == 0 && memcmp(&a->session, &b->session, sizeof(Hash)) == 0 &&
		memcmp(&a->env, &b->env, sizeof(Hash)) == 0 && strcmp(a->trace, b->trace) == 0 && a->status == b->status &&
		a->median_ns == b->median_ns && a->min_ns == b->min_ns && a->mad_ns == b->mad_ns &&
		a->compile_ns == b->compile_ns && a->samples == b->samples && a->max_err_e9 == b->max_err_e9 &&
		strcmp(a->detail, b->detail) == 0 && a->seq == b->seq && a->probe_mflops == b->probe_mflops &&
		strcmp(a->clock, b->clock) == 0 && a->lost == b->lost && strcmp(a->stage, b->stage) == 0;
}

/* What it takes, the other way takes and reads alike; `lines` resealed after a change of one byte. */
START_TEST(the_quick_reader_takes_no_more_than_the_other)
{
	static const char *const stages[] = { NULL, "", "look", "full", "race" };
	World *w = world_open();
	Rng rng = rng_seed((uint64_t)_i);
	int taken = 0;
	for (int k = 0; k < 200; k++) {
		Err err = { 0 };
		RunRecord r = { .trace = "split i 2\nvectorize \"i\\\n", .status = (RunStatus)rng_below(&rng, RUN_STATUS_COUNT),
			.median_ns = (int64_t)rng_below(&rng, 3), .samples = (int64_t)rng_below(&rng, 2),
			.max_err_e9 = (int64_t)rng_below(&rng, 3) - 1, .detail = "because", .seq = k,
			.probe_mflops = (int64_t)rng_below(&rng, 2) * 240000,
			.clock = rng_below(&rng, 2) == 0 ? "wall" : NULL, .lost = (int64_t)rng_below(&rng, 3),
			.stage = stages[rng_below(&rng, LEN(stages))] };
		Hash id;
		const char *sealed;
		ck_assert(record_seal(w->arena, record_from_run(w->arena, &r), &id, &sealed, &err));
		char *line = arena_printf(w->arena, "%s", sealed);
		size_t n = strlen(line);
		if (k % 2 != 0) { /* a damaged one, its hash mended where it still parses */
			line[rng_below(&rng, n)] = (char)rng_below(&rng, 256);
			Json *o = json_parse(w->arena, "t", line, n, &err);
			const char *again;
			if (o != NULL && o->kind == JV_OBJECT) {
				Json *plain = json_new(w->arena, JV_OBJECT);
				for (size_t i = 0; i < o->list.n; i++)
					if (strcmp(o->list.at[i]->key, "id") != 0)
						json_set(w->arena, plain, o->list.at[i]->key, o->list.at[i]);
				Err why = { 0 };
				if (record_seal(w->arena, plain, &id, &again, &why)) {
					line = arena_printf(w->arena, "%s", again);
					n = strlen(line);
				}
			}
		}
		RunRecord quick, slow;
		Record other;
		Err why = { 0 };
		bool a = record_read_run(w->arena, line, n, &quick);
		bool b = record_read(w->arena, "t", line, n, &other, &why) && other.kind == RECORD_RUN &&
			record_to_run(&other, &slow, &why);
		ck_assert_msg(!a || (b && same_run(&quick, &slow)), "%s: %s", line, why.text);
		ck_assert_msg(a || !b || k % 2 != 0, "%s", line); /* what dlc writes is taken */
		if (k % 2 == 0 && a) {
			ck_assert_str_eq(quick.clock, r.clock != NULL ? r.clock : "");
			ck_assert_int_eq(quick.lost, r.clock != NULL ? r.lost : 0);
			ck_assert_str_eq(quick.stage, r.stage != NULL ? r.stage : "");
		}
		taken += a;
	}
	ck_assert_int_gt(taken, 40);
	world_close(w);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("rank");
	tcase_add_test(tc, sessions_outvote_an_outlier);
	tcase_add_loop_test(tc, best_is_a_function_of_the_union, 0, 12);
	tcase_add_test(tc, a_race_outweighs_a_first_look);
	tcase_add_test(tc, a_hold_is_one_moment);
	tcase_add_test(tc, what_may_not_be_chosen);
	tcase_add_test(tc, a_retraction_travels);
	tcase_add_test(tc, families_and_distances);
	tcase_add_test(tc, the_nearest_come_first);
	tcase_add_test(tc, the_nearest_target_comes_first);
	tcase_add_loop_test(tc, targets_are_so_far_apart, 0, LEN(lines_of_targets));
	tcase_add_loop_test(tc, the_quick_reader_takes_no_more_than_the_other, 0, 5);
	return run_suite("rank", tc);
}
