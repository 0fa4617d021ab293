/*
 * A task whose default schedule a limit refuses, at its replay or at its code: its default is what a network without
 * records has, measured first; then comes the search.
 */
#include "compile/limited.h"
#include "suite.h"

#include "tuner/run.h"

#include <string.h>

static double now_ms(void *arg)
{
	(void)arg;
	return 0;
}

START_TEST(a_refused_default_is_replaced)
{
	enum { TRIALS = 5 };
	Err err = { 0 };
	Arena *a = arena_new();
	Target target;
	Tuner t;
	TuneResult result;
	/* What a limit refuses is not up to this machine. */
	static const char any[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v4\"}";
	ck_assert_msg(target_parse(&target, "any", any, sizeof any - 1, 1, &err), "%s", err.text);
	TuneMeans with = { .clock = { now_ms, NULL } };
	TuneRequest ask = { .target = &target, .search = &search_random,
		.effort = effort_find("quick"), .model = "m", .trials = -1, .more_trials = -1, .seed = 1 };
	const char *text = limited_network(a, _i);
	Dag *d = dag_parse(a, "m", text, strlen(text), &err);
	Partition *p = d != NULL ? compile_tasks(a, d, &target, &err) : NULL;
	ck_assert_msg(p != NULL, "%s: %s", err.place, err.text);
	ck_assert_msg(tuner_open(&t, a, p, &ask, &with, &result, &err), "%s: %s", err.place, err.text);
	TaskRun *r = t.run;
	while (r->task != p->task[0]) /* others are of alternatives */
		r++;
	CompileOptions o = { .target = &target };
	for (size_t v = 0; v < d->value.n; v++)
		if (d->value.at[v].kind == VALUE_CONST)
			d->value.at[v].data = arena_alloc_aligned(a, (size_t)value_bytes(&d->value.at[v]), 64);
	Compiled *c = compile_model(a, d, &o, &err);
	ck_assert_msg(c != NULL, "%s: %s", err.place, err.text);
	ck_assert_str_eq(r->default_trace, c->task[0].trace);
	ck_assert(c->task[0].naive == (_i == LIMITED_NAIVE));
	ck_assert(r->guess_ms > 0);
	for (int i = 0; i < TRIALS && r->state->end == TASK_OPEN; i++) {
		Candidate *x = task_run_next(r, t.flying, MEASURE_FLIGHT);
		ck_assert(x != NULL || r->state->end == TASK_SEARCHED);
		if (x == NULL)
			break;
		ck_assert((i == 0) == (strcmp(x->trace, r->default_trace) == 0));
		task_run_take(r, x, 1e6 + i, 10);
		task_run_observe(r, x, 1e6 + i);
		arena_free(x->arena);
	}
	ck_assert(r->state->default_ms == 1 && r->state->best_ms == 1);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("default");
	tcase_add_loop_test(tc, a_refused_default_is_replaced, 0, LIMITED_NETWORKS);
	return run_suite("default", tc);
}
