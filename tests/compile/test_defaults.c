/*
 * The default schedule of each Task of the zoo replays on the targets of configs/targets, at batch 1 and 32. No code is
 * generated. Small shapes of other tests do not reach the limits of schedules; these do. Every target is tried with
 * one of the ten cases; with DLC_TEST_ALL, with all of them.
 */
#include "code_suite.h"

#include "compile/compile.h"
#include "frontend/frontend.h"

#include <stdlib.h>

static const char *const networks[] = { "resnet18", "resnet50", "mobilenet_v1", "mobilenet_v2",
	"squeezenet1_1" };
static const char *const dirs[] = { SOURCE_ROOT "/configs/targets" };

static void replay_default(const Task *task, const Target *target, int64_t batch)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Space *s = space_new(a, task, target, &err);
	Trace *t = s != NULL ? space_trace(s, &s->first, a, &err) : NULL;
	bool takes = t != NULL && schedule_replay(ir_new(a), task, target, t, &err) != NULL;
	ck_assert_msg(takes, "%s: batch %lld: %s: %s: %s", target->model, (long long)batch, task->label, err.place,
		err.text);
	arena_free(a);
}

static int replay_network(const char *name, const Target *target, int64_t batch)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Dag *dag = frontend_load(a, name, &(ModelArgs){ .batch = batch }, &err);
	Partition *p = dag != NULL ? compile_tasks(a, dag, target, &err) : NULL;
	ck_assert_msg(p != NULL, "%s: %s", err.place, err.text);
	int n = p->ntask;
	for (int k = 0; k < n; k++)
		replay_default(p->task[k], target, batch);
	arena_free(a);
	return n;
}

enum { CASES = 2 * LEN(networks) };

START_TEST(defaults_replay)
{
	Err err = { 0 };
	Arena *a = arena_new();
	size_t n;
	Target target;
	const char *const *name = target_list(a, dirs, 1, &n);
	bool all = getenv("DLC_TEST_ALL") != NULL;
	for (size_t t = all ? 0 : (size_t)_i; t < n; t += all ? 1 : CASES) {
		ck_assert_msg(target_resolve(&target, name[t], 1, dirs, 1, &err), "%s: %s", err.place, err.text);
		ck_assert_int_gt(replay_network(networks[_i / 2], &target, _i % 2 == 0 ? 1 : 32), 10);
	}
	ck_assert_uint_gt(n, 15);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("defaults");
	tcase_add_loop_test(tc, defaults_replay, 0, CASES);
	return run_code_suite("defaults", tc);
}
