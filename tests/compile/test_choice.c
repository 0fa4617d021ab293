/* Which schedule a task gets: the best run of all databases, else the default. */
#include "suite.h"

#include "compile/compile.h"

#include <string.h>
#include <unistd.h>

static const char layer[] = "dag t\nin x: f32[6,24]\ny: f32[6,24] = relu(x)\nout y\n";

typedef struct Lab {
	char folder[64];
	Arena *arena;
	Target target;
	Task *task;
	Db *db[2];
	CompileOptions o;
} Lab;

static Lab *open_lab(void)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Lab *lab = arena_new_of(a, Lab);
	lab->arena = a;
	strcpy(lab->folder, "/tmp/dlc-test-choice.XXXXXX");
	ck_assert(mkdtemp(lab->folder) != NULL);
	target_host(&lab->target, 1);
	lab->task = task_new(a, dag_parse(a, "t", layer, sizeof layer - 1, &err), &err);
	ck_assert_msg(lab->task != NULL, "%s", err.text);
	for (int i = 0; i < 2; i++)
		ck_assert((lab->db[i] = db_open(arena_printf(a, "%s/%d.sqlite", lab->folder, i), DB_WRITE, &err)) != NULL);
	lab->o = (CompileOptions){ .target = &lab->target, .db = lab->db, .ndb = 2 };
	return lab;
}

static void close_lab(Lab *lab)
{
	for (int i = 0; i < 2; i++)
		db_close(lab->db[i]);
	ck_assert_int_eq(system(arena_printf(lab->arena, "rm -rf %s", lab->folder)), 0);
	arena_free(lab->arena);
}

static Hash put(Lab *lab, int db, const char *trace, int64_t ns, int epoch)
{
	Err err = { 0 };
	RunRecord r = { .workload = lab->task->id,
		.trace = trace,
		.status = RUN_OK,
		.median_ns = ns,
		.samples = 5,
		.detail = "" };
	SessionInfo s = { "test", "none", "t", 1, 1700000000 };
	ck_assert(db_put_task(lab->db[db], lab->task, &err) && db_put_target(lab->db[db], &lab->target, &r.target, &err) &&
		db_put_env(lab->db[db], epoch, "test", &r.env, &err) && db_put_session(lab->db[db], &s, &r.session, &err));
	ck_assert_msg(db_put_run(lab->db[db], &r, &err), "%s", err.text);
	return r.id;
}

static TaskPlan choose(Lab *lab)
{
	Err err = { 0 };
	TaskPlan plan;
	ck_assert_msg(compile_task(ir_new(lab->arena), lab->task, &lab->o, &plan, &err) != NULL, "%s: %s", err.place, err.text);
	return plan;
}

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
	Hash a = put(lab, _i, "# one\n", 300, CODEGEN_EPOCH), b = put(lab, 1 - _i, "# two\n", 300, CODEGEN_EPOCH);
	ck_assert_str_eq(choose(lab).trace, memcmp(&a, &b, sizeof a) < 0 ? "# one\n" : "# two\n");
	close_lab(lab);
}
END_TEST

static const char *const broken[] = { "split nosuch 2\n", "frobnicate\n", "\1\n" };

START_TEST(a_record_that_does_not_replay_is_the_default)
{
	Lab *lab = open_lab();
	TaskPlan none = choose(lab);
	put(lab, 0, broken[_i], 1, CODEGEN_EPOCH);
	TaskPlan plan = choose(lab);
	ck_assert_int_eq(none.hit, HIT_DEFAULT);
	ck_assert_int_eq(plan.hit, HIT_DEFAULT);
	ck_assert_str_eq(plan.trace, none.trace);
	ck_assert(strstr(plan.trace, "vectorize") != NULL && plan.estimated_ms > 1e-6);
	lab->o.unscheduled = true;
	ck_assert_str_eq(choose(lab).trace, "");
	close_lab(lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("choice");
	tcase_add_loop_test(tc, the_fastest_run_is_taken_wherever_it_is, 0, 2);
	tcase_add_loop_test(tc, equal_runs_are_told_apart_by_their_ids, 0, 2);
	tcase_add_loop_test(tc, a_record_that_does_not_replay_is_the_default, 0, LEN(broken));
	return run_suite("choice", tc);
}
