/*
 * Which schedule a task gets: the best run of all databases, else one of another epoch, else the default; what a lock
 * says and nothing else; never what cannot be. test_near.c has the neighbours.
 */
#include "compile/lab.h"
#include "compile/limited.h"
#include "code_suite.h"

#include "target/detect.h"

#include "cost_model/cost_model.h"
#include "db/rank.h"
#include "op/steps.h"

#include <math.h>
#include <string.h>

/* A core that model.def does not know is measured once: the next run finds it in the environment's record. */
START_TEST(a_core_is_measured_once)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	Hash env, again;
	DbSet set = { lab->db, 2 };
	Target t = lab->target, known = t;
	snprintf(t.cpu, sizeof t.cpu, "x86-64 Nobody 7 1");
	for (int f = 0; f < CORE_FIGURES; f++)
		core_set(&t.core, (CoreFigure)f, 0, CORE_DEFAULT);
	core_derive(&t);
	Target later = t, other = t, reader = t;
	ck_assert(core_wants_probe(&t));
	ck_assert(compile_core(&reader, set, false, &err) && core_wants_probe(&reader)); /* a reader measures nothing */
	ck_assert(compile_core(&t, set, true, &err) && !core_wants_probe(&t));
	ck_assert_int_eq(t.core.source[CORE_FMA_RATE], CORE_PROBE);
	ck_assert(db_put_env(lab->db[1], 7, "test", &t, NULL, &env, &err));

	ck_assert(compile_core(&later, set, false, &err));
	ck_assert(later.core.source[CORE_GHZ] == CORE_PROBE && fabs(later.core.ghz - t.core.ghz) < 0.001);
	ck_assert(db_put_env(lab->db[1], 7, "test", &later, NULL, &again, &err));
	ck_assert(memcmp(&env, &again, sizeof env) == 0);
	snprintf(other.cpu, sizeof other.cpu, "x86-64 Nobody 7 2");
	ck_assert(compile_core(&other, set, false, &err) && core_wants_probe(&other));

	Hash plain, same;
	ck_assert(db_put_env(lab->db[1], 7, "test", NULL, NULL, &plain, &err));
	ck_assert(db_put_env(lab->db[1], 7, "test", &known, NULL, &same, &err));
	ck_assert(core_wants_probe(&known) || memcmp(&plain, &same, sizeof plain) == 0);
	close_lab(lab);
}
END_TEST

START_TEST(the_fastest_run_is_taken_wherever_it_is)
{
	Lab *lab = open_lab();
	put(lab, _i, "unroll v0.0\n", 500, CODEGEN_EPOCH); /* does not replay, and is slower */
	put(lab, 1 - _i, "", 300, CODEGEN_EPOCH);
	put(lab, 1 - _i, "", 100, CODEGEN_EPOCH + 1); /* other code */
	TaskPlan plan = choose(lab);
	ck_assert_int_eq(plan.hit, HIT_EXACT);
	ck_assert_str_eq(plan.trace, "");
	ck_assert(plan.estimated_ms == 300e-6);
	close_lab(lab);
}
END_TEST

START_TEST(equal_runs_are_told_apart_by_their_ids)
{
	Lab *lab = open_lab();
	Hash a = put(lab, _i, "split m 2\n", 300, CODEGEN_EPOCH), b = put(lab, 1 - _i, "split m 3\n", 300, CODEGEN_EPOCH);
	ck_assert_str_eq(choose(lab).trace, memcmp(&a, &b, sizeof a) < 0 ? "split m 2\n" : "split m 3\n");
	close_lab(lab);
}
END_TEST

static const char *const broken[] = { "split nosuch 2\n", "frobnicate\n", "\1\n" };

START_TEST(a_record_that_does_not_replay_is_the_default)
{
	Lab *lab = open_lab();
	TaskPlan none = choose(lab);
	put(lab, 0, broken[_i], 100, CODEGEN_EPOCH);
	TaskPlan plan = choose(lab);
	ck_assert_msg(strstr(plan.why, "does not replay") != NULL && strstr(none.why, "no record") != NULL, "%s", plan.why);
	ck_assert_int_eq(none.hit, HIT_DEFAULT);
	ck_assert_int_eq(plan.hit, HIT_DEFAULT);
	ck_assert_str_eq(plan.trace, none.trace);
	ck_assert(strstr(plan.trace, "vectorize") != NULL && plan.estimated_ms > 1e-6);
	lab->o.unscheduled = true;
	ck_assert_str_eq(choose(lab).trace, "");
	close_lab(lab);
}
END_TEST

/* Too fast for any core: not looked at, counted, even where a slower record is all there is. */
START_TEST(what_cannot_be_is_not_chosen)
{
	Lab *lab = open_lab();
	put(lab, 0, "", 1, CODEGEN_EPOCH);
	put(lab, 1, "", 2, CODEGEN_EPOCH + _i);
	TaskPlan plan = choose(lab);
	ck_assert_int_eq(plan.hit, HIT_DEFAULT);
	ck_assert_int_eq(plan.implausible, 2);
	ck_assert_msg(strstr(plan.why, "2 of 2 records too fast") != NULL, "%s", plan.why);
	put(lab, 1, "split n 2\n", 5000, CODEGEN_EPOCH);
	plan = choose(lab);
	ck_assert_int_eq(plan.hit, HIT_EXACT);
	ck_assert_str_eq(plan.trace, "split n 2\n");
	ck_assert(plan.estimated_ms == 5e-3);
	close_lab(lab);
}
END_TEST

START_TEST(records_of_other_epochs_are_stale)
{
	Lab *lab = open_lab();
	put(lab, 0, "split n 3\n", 100, CODEGEN_EPOCH - 1);
	Hash newer = put(lab, 1, "split n 4\n", 300, CODEGEN_EPOCH + 2);
	TaskPlan plan = choose(lab);
	ck_assert_int_eq(plan.hit, HIT_STALE);
	ck_assert_str_eq(plan.trace, "split n 4\n"); /* the newest epoch decides */
	ck_assert_mem_eq(&plan.record, &newer, sizeof newer);
	put(lab, 0, "split nosuch 2\n", 100, CODEGEN_EPOCH); /* exact, and does not replay */
	ck_assert_int_eq(choose(lab).hit, HIT_STALE);
	put(lab, 0, "", 900, CODEGEN_EPOCH);
	plan = choose(lab);
	ck_assert_int_eq(plan.hit, HIT_EXACT);
	ck_assert_msg(strstr(plan.why, "1 session, verified") != NULL, "%s", plan.why);
	close_lab(lab);
}
END_TEST

/* ---- locks ---- */

static const char model[] =
	"dag m\nin x: f32[6,24]\ny: f32[6,24] = relu(x)\nz: f32[6,1] = reduce_mean(y) axes=[1]\nout z\n";

static Compiled *compile(Lab *lab, Err *err)
{
	Dag *d = dag_parse(lab->arena, "m", model, sizeof model - 1, err);
	ck_assert_msg(d != NULL, "%s", err->text);
	return compile_model(lab->arena, d, &lab->o, err);
}

static bool has_lock(const Compiled *c)
{
	char hex[HASH_HEX];
	hash_hex(hash_of("dlc/lock/v1", c->lock_text, strlen(c->lock_text)), hex);
	return memmem(c->bundle, c->bundle_bytes, hex, strlen(hex)) != NULL;
}

START_TEST(a_lock_gives_the_same_bundle_again)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	Compiled *first = compile(lab, &err);
	ck_assert_msg(first != NULL, "%s: %s", err.place, err.text);
	ck_assert(has_lock(first));
	const Task *t = first->task[0].task;
	put_for(lab, t, &lab->target, 0, "split m 2\n", 500, CODEGEN_EPOCH);
	Compiled *second = compile(lab, &err);
	ck_assert_int_eq(second->hits[HIT_EXACT], 1);
	Hash later = put_for(lab, t, &lab->target, 1, "split m 3\n", 400, CODEGEN_EPOCH);
	Compiled *third = compile(lab, &err);
	ck_assert_str_eq(third->task[0].trace, "split m 3\n");
	ck_assert_str_ne(third->lock_text, second->lock_text);
	lab->o.lock = lock_of(lab, second->lock_text);
	lab->o.lock_name = "t.lock";
	Compiled *again = compile(lab, &err);
	ck_assert_msg(again != NULL, "%s: %s", err.place, err.text);
	ck_assert_str_eq(again->lock_text, second->lock_text);
	ck_assert_uint_eq(again->bundle_bytes, second->bundle_bytes);
	ck_assert(memcmp(again->bundle, second->bundle, second->bundle_bytes) == 0 && has_lock(again));

	/* A record that is gone, or that turned out to be wrong. */
	lab->o.lock = lock_of(lab, third->lock_text);
	lab->o.ndb = 1;
	ck_assert(
		compile(lab, &err) == NULL && err.code == ERR_MISSING && strstr(err.text, "no database has record") != NULL);
	lab->o.ndb = 2;
	err = (Err){ 0 };
	ck_assert(db_put_retraction(lab->db[1], later, "wrong", &err));
	ck_assert(compile(lab, &err) == NULL && err.code == ERR_MISSING && strstr(err.text, "retracted") != NULL);
	close_lab(lab);
}
END_TEST

START_TEST(a_lock_without_the_task_or_with_another_trace)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	Compiled *c = compile(lab, &err);
	char *text = arena_printf(lab->arena, "%s", c->lock_text), *last = text + strlen(text) - 2;
	*last = *last == '0' ? '1' : '0'; /* the last digit of the last task's trace */
	lab->o.lock = lock_of(lab, text);
	lab->o.lock_name = "t.lock";
	ck_assert(compile(lab, &err) == NULL && err.code == ERR_INPUT && strstr(err.text, "another schedule") != NULL);
	*strrchr(arena_printf(lab->arena, "%s", text), '\n') = 0;
	char *line = strstr(text, "\ntask") + 1;
	*line = 0;
	err = (Err){ 0 };
	lab->o.lock = lock_of(lab, text);
	ck_assert(
		compile(lab, &err) == NULL && err.code == ERR_MISSING && strstr(err.text, "does not name this task") != NULL);
	ck_assert_str_eq(err.place, "t.lock");
	close_lab(lab);
}
END_TEST

#define ID "00000000000000000000000000000001"
static const struct {
	const char *text, *says;
} bad_locks[] = {
	{ "", "ends before" },
	{ "dlc lock 2\ntarget " ID "\n", "not a lock file of this version" },
	{ "dlc lock 1\n", "ends before" },
	{ "dlc lock 1\ntarget x\n", "target ID" },
	{ "dlc lock 1\ntarget " ID "\ntask " ID " exact - " ID "\n", "not a line of a lock file" },
	{ "dlc lock 1\ntarget " ID "\ntask " ID " default " ID " " ID "\n", "not a line of a lock file" },
	{ "dlc lock 1\ntarget " ID "\ntask " ID " maybe " ID " " ID "\n", "not a line of a lock file" },
	{ "dlc lock 1\ntarget " ID "\ntask " ID " default - " ID " more\n", "not a line of a lock file" },
	{ "dlc lock 1\ntarget " ID "\ntask " ID " model - " ID "\n", "not a line of a lock file" },
	{ "dlc lock 1\ntarget " ID "\ntask " ID " model 1.64 " ID "\n", "not a line of a lock file" },
	{ "dlc lock 1\ntarget " ID "\ntask " ID " model 1..2 " ID "\n", "not a line of a lock file" },
	{ "dlc lock 1\ntarget " ID "\n\n", "not a line of a lock file" },
	{ "dlc lock 1\ntarget " ID "\ntask " ID " default - " ID "\ntask " ID " default - " ID "\n",
		"must stand once each" },
};

START_TEST(bad_locks_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert(lock_parse(a, "t.lock", bad_locks[_i].text, strlen(bad_locks[_i].text), &err) == NULL);
	ck_assert_int_eq(err_exit_code(err.code), 1);
	ck_assert_msg(strstr(err.text, bad_locks[_i].says) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

START_TEST(what_is_required)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	static const HitClass order[] = { HIT_DEFAULT, HIT_MODEL, HIT_NEAR, HIT_STALE, HIT_EXACT };
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < 5; k++)
			ck_assert_int_eq(hit_fulfils(order[i], order[k]), i >= k);
	lab->o.required = true;
	lab->o.require = HIT_DEFAULT;
	Compiled *c = compile(lab, &err);
	ck_assert_msg(c != NULL, "%s", err.text);
	int n = c->partition->ntask;
	lab->o.require = HIT_EXACT;
	ck_assert(compile(lab, &err) == NULL && err.code == ERR_MISSING && err.nitems == n);
	for (int k = 0; k < n; k++)
		put_for(lab, c->task[k].task, &lab->target, 0, "", 500, CODEGEN_EPOCH);
	err = (Err){ 0 };
	c = compile(lab, &err);
	ck_assert_msg(c != NULL && c->hits[HIT_EXACT] == n, "%s", err.text);
	close_lab(lab);
}
END_TEST

/* ---- defaults that a limit refuses ---- */

#define ANY "a schedule of any loops, since its default schedule is refused: "
#define UNSCHEDULED "unscheduled, since its default schedule is refused: "
static const char *const limited[LIMITED_NETWORKS] = { ANY "inline: the schedule would ", ANY "the code weighs ",
	UNSCHEDULED "the code weighs " };

static Compiled *compile_limited(Lab *lab, int which)
{
	Err err = { 0 };
	const char *text = limited_network(lab->arena, which);
	if (which != LIMITED_DEVICE) { /* what a limit refuses is not up to this machine */
		static const char any[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v4\"}";
		ck_assert_msg(target_parse(&lab->target, "any", any, sizeof any - 1, 1, &err), "%s", err.text);
	}
	Dag *d = dag_parse(lab->arena, "m", text, strlen(text), &err);
	for (size_t v = 0; d != NULL && v < d->value.n; v++)
		if (d->value.at[v].kind == VALUE_CONST)
			d->value.at[v].data = arena_alloc_aligned(lab->arena, (size_t)value_bytes(&d->value.at[v]), 64);
	Compiled *c = d != NULL ? compile_model(lab->arena, d, &lab->o, &err) : NULL;
	ck_assert_msg(c != NULL, "%s: %s", err.place, err.text);
	ck_assert_int_eq(c->partition->ntask, 1 + (which == LIMITED_NAIVE));
	return c;
}

/* A legal model compiles. Its lock leads there again. */
START_TEST(a_default_that_is_refused_is_replaced)
{
	Lab *lab = open_lab();
	Compiled *first = compile_limited(lab, _i);
	ck_assert_int_eq(first->task[0].hit, HIT_DEFAULT);
	ck_assert(first->task[0].naive == (_i == LIMITED_NAIVE) && (*first->task[0].trace == 0) == (_i == LIMITED_NAIVE));
	const char *why = first->task[0].why;
	ck_assert_msg(strncmp(why, limited[_i], strlen(limited[_i])) == 0, "%s", why);
	lab->o.lock = lock_of(lab, first->lock_text);
	lab->o.lock_name = "t.lock";
	Compiled *again = compile_limited(lab, _i);
	ck_assert_str_eq(again->task[0].why, "locked");
	ck_assert_uint_eq(again->bundle_bytes, first->bundle_bytes);
	ck_assert(memcmp(again->bundle, first->bundle, first->bundle_bytes) == 0);
	close_lab(lab);
}
END_TEST

/* A device has blocks of threads still, by the template of any loops. The lock leads there again. */
START_TEST(a_default_that_is_refused_keeps_its_blocks)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	ck_assert_msg(target_resolve(&lab->target, "cuda:sm_75", 1, NULL, 0, &err), "%s", err.text);
	Compiled *first = compile_limited(lab, LIMITED_DEVICE);
	ck_assert_int_eq(first->task[0].hit, HIT_DEFAULT);
	ck_assert_msg(strncmp(first->task[0].why, ANY, sizeof ANY - 1) == 0, "%s", first->task[0].why);
	ck_assert(strstr(first->task[0].trace, "bind") != NULL && !first->task[0].naive);
	lab->o.lock = lock_of(lab, first->lock_text);
	lab->o.lock_name = "t.lock";
	Compiled *again = compile_limited(lab, LIMITED_DEVICE);
	ck_assert_str_eq(again->task[0].why, "locked");
	ck_assert_str_eq(again->task[0].trace, first->task[0].trace);
	close_lab(lab);
}
END_TEST

static const char *limited_trace(const Task *task, void *arg)
{
	(void)task;
	return arg;
}

/* The tuner's networks: with defaults, and with a schedule that is refused. */
START_TEST(what_is_given_gives_way_to_what_is_left)
{
	Lab *lab = open_lab();
	lab->o.trace_of = limited_trace;
	lab->o.trace_arg = _i == 0 ? NULL : "nosuch step\n";
	for (int which = 0; which < LIMITED_NETWORKS; which++)
		ck_assert(compile_limited(lab, which)->task[0].naive == (which == LIMITED_NAIVE));
	close_lab(lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("choice");
	tcase_add_test(tc, a_core_is_measured_once);
	tcase_add_loop_test(tc, the_fastest_run_is_taken_wherever_it_is, 0, 2);
	tcase_add_loop_test(tc, equal_runs_are_told_apart_by_their_ids, 0, 2);
	tcase_add_loop_test(tc, a_record_that_does_not_replay_is_the_default, 0, LEN(broken));
	tcase_add_loop_test(tc, what_cannot_be_is_not_chosen, 0, 2);
	tcase_add_test(tc, records_of_other_epochs_are_stale);
	tcase_add_test(tc, a_lock_gives_the_same_bundle_again);
	tcase_add_test(tc, a_lock_without_the_task_or_with_another_trace);
	tcase_add_loop_test(tc, bad_locks_are_refused, 0, LEN(bad_locks));
	tcase_add_test(tc, what_is_required);
	tcase_add_loop_test(tc, a_default_that_is_refused_is_replaced, 0, LIMITED_NETWORKS);
	tcase_add_test(tc, a_default_that_is_refused_keeps_its_blocks);
	tcase_add_loop_test(tc, what_is_given_gives_way_to_what_is_left, 0, 2);
	return run_code_suite("choice", tc);
}
