/*
 * Schedules of other targets and of other Tasks of a family: what of them is taken where a Task has no record, and how
 * a search fits them to another shape.
 */
#include "compile/lab.h"
#include "code_suite.h"

#include "cost_model/cost_model.h"
#include "cost_model/roof.h"
#include "ir/text/ir_text.h"
#include "op/steps.h"
#include "schedule/fit.h"

#include <math.h>
#include <string.h>

static Task *task_of(Lab *lab, const char *text)
{
	Err err = { 0 };
	Task *t = task_new(lab->arena, dag_parse(lab->arena, "t", text, strlen(text), &err), &err);
	ck_assert_msg(t != NULL, "%s: %s", err.place, err.text);
	return t;
}

static Task *dense(Lab *lab, int in, int out)
{
	static const char dag[] = "dag t\nin x: f32[4,%d]\nconst w: f32[%d,%d]\ny: f32[4,%d] = dense(x, w)\nout y\n";
	return task_of(lab, arena_printf(lab->arena, dag, in, out, in, out));
}

static const struct {
	const char *trace;
	int out;
	const char *fitted; /* NULL: none */
} fits[] = {
	{ "split n_1 16\n", 64, "split n_1 16\n" },
	{ "split n_1 16\n", 8, "split n_1 8\n" },   /* the whole extent */
	{ "split n_1 16\n", 24, "split n_1 12\n" }, /* its largest divisor not below half */
	{ "split n_1 16\n", 23, "split n_1 16\n" }, /* no divisor: a tail */
	{ "split n_1 16\nvectorize n_1.i\n", 24, "split n_1 16\nvectorize n_1.i\n" }, /* lanes stay */
	{ "split n_1 16\nvectorize n_1.i\n", 8, "split n_1 8\nvectorize n_1.i\n" },
	{ "split n_1 48\nsplit n_1.i 16 as a b\nvectorize b\n", 64, "split n_1 32\nsplit n_1.i 16 as a b\nvectorize b\n" },
	{ "split n_1 32\nsplit n_1.i 16\nvectorize n_1.i.i\n", 48, "split n_1 32\nsplit n_1.i 16\nvectorize n_1.i.i\n" },
	{ "split n_1 16\nunroll n_1.i\nunroll n_1.o\n", 640, "split n_1 16\nunroll n_1.i\nunroll n_1.o\n" },
	{ "split n_1 4\nunroll n_1.o\n", 640, "split n_1 4\n" }, /* 160 iterations are not unrolled */
	{ "split nosuch 4\n", 64, NULL },
	{ "reorder n_1 nosuch\n", 64, NULL },
	{ "frobnicate\n", 64, NULL },
};

/* The text, where n_1 is the name of the output's second loop, whatever the naive form calls it. */
static void put_named(Text *out, const char *text, const KernelSet *ks)
{
	const Stmt *first = ks->fn[0]->body, *loop = first->loop.body;
	for (const char *p = text; *p != 0; p++)
		if (strncmp(p, "n_1", 3) == 0) {
			text_add(out, "%s", loop->loop.var);
			p += 2;
		} else {
			text_put(out, p, 1);
		}
}

START_TEST(factors_are_fitted)
{
	Lab *lab = open_lab();
	Task *t = dense(lab, 32, fits[_i].out);
	Err err = { 0 };
	KernelSet *ks = op_naive(ir_new(lab->arena), t->dag, "k", NAIVE_AS_TYPED, &err);
	Text trace = { .arena = lab->arena }, want = { .arena = lab->arena };
	put_named(&trace, fits[_i].trace, ks);
	if (fits[_i].fitted != NULL)
		put_named(&want, fits[_i].fitted, ks);
	const char *got = trace_fit(lab->arena, t, &lab->target, text_str(&trace));
	ck_assert_msg((got == NULL) == (fits[_i].fitted == NULL), "%s", got);
	if (got != NULL)
		ck_assert_str_eq(got, text_str(&want));
	close_lab(lab);
}
END_TEST

/* The lock of a network of one task. */
static Lock *lock_of_plan(Lab *lab, const TaskPlan *plan)
{
	char target[HASH_HEX], task[HASH_HEX], record[HASH_HEX], trace[HASH_HEX];
	hash_hex(target_id(&lab->target), target);
	hash_hex(plan->task->id, task);
	hash_hex(plan->record, record);
	hash_hex(steps_hash(plan->trace), trace);
	return lock_of(
		lab, arena_printf(lab->arena, "dlc lock 1\ntarget %s\ntask %s near %s %s\n", target, task, record, trace));
}

/* An estimate of 1 ms, and of told_share ms where the inner dimension is split by 5. */
static double told_share;

static void told(const void *state, const CostCandidate *x, int n, double *ns)
{
	(void)state;
	for (int i = 0; i < n; i++) {
		Arena *a = arena_new();
		Text text = { .arena = a };
		ir_print_set(&text, x[i].ks);
		ns[i] = strstr(text_str(&text), "fifths") != NULL ? told_share * 1e6 : 1e6;
		arena_free(a);
	}
}

/* A lab in which `told` estimates. */
static Lab *open_told(double share)
{
	static const CostModel row = { .name = "told", .estimate = told };
	static const Cost cost = { .row = &row };
	Lab *lab = open_lab();
	lab->task = dense(lab, 96, 24);
	lab->o.cost = &cost;
	told_share = share;
	return lab;
}

static const char by_five[] = "split k 5 as fifths rest\n";

static const struct {
	double share;
	int epoch; /* beyond the present one */
	HitClass hit;
} elsewhere[] = { { 0.94, 0, HIT_NEAR }, { 0.94, 1, HIT_NEAR }, { 0.96, 0, HIT_DEFAULT }, { 2, 0, HIT_DEFAULT } };

/* Of another core, the estimate must be clearly better than the default's. */
START_TEST(another_core_is_taken_if_its_estimate_is_better)
{
	Lab *lab = open_told(elsewhere[_i].share);
	Target other = lab->target;
	snprintf(other.model, sizeof other.model, "another");
	Hash id = put_for(lab, lab->task, &other, 0, by_five, 400, CODEGEN_EPOCH + elsewhere[_i].epoch);
	TaskPlan plan = choose(lab);
	ck_assert_int_eq(plan.hit, elsewhere[_i].hit);
	ck_assert((strcmp(plan.trace, by_five) == 0) == (plan.hit == HIT_NEAR));
	if (plan.hit == HIT_NEAR) {
		ck_assert_mem_eq(&plan.record, &id, sizeof id);
		ck_assert(fabs(plan.estimated_ms - told_share) < 1e-9);
		ck_assert_msg(strstr(plan.why, "of target") != NULL, "%s", plan.why);
		lab->o.lock = lock_of_plan(lab, &plan); /* the record's time is that of another target */
		TaskPlan locked = choose(lab);
		ck_assert_str_eq(locked.trace, plan.trace);
		ck_assert(locked.estimated_ms == plan.estimated_ms);
	}
	close_lab(lab);
}
END_TEST

/* The lab's target with so many features less. */
static Target alike(const Lab *lab, int fewer)
{
	Target t = lab->target;
	for (int i = 0; i < fewer; i++)
		t.features &= t.features - 1;
	ck_assert(t.features != lab->target.features);
	return t;
}

/* What was measured on the same core with a feature less is taken as it is, tails and a long estimate included. */
START_TEST(the_same_core_is_believed)
{
	Lab *lab = open_told(2);
	Target t = alike(lab, 1);
	put_for(lab, lab->task, &t, 0, by_five, 400, CODEGEN_EPOCH);
	TaskPlan plan = choose(lab);
	ck_assert_int_eq(plan.hit, HIT_NEAR);
	ck_assert_str_eq(plan.trace, by_five);
	lab->o.lock = lock_of_plan(lab, &plan);
	ck_assert_str_eq(choose(lab).trace, by_five);
	close_lab(lab);
}
END_TEST

/* Nor is a time believed there that this core cannot reach. */
START_TEST(the_same_core_is_no_faster_than_its_roof)
{
	Lab *lab = open_told(2);
	Target t = alike(lab, 1);
	int64_t floor = roof_floor_ns(lab->task, &lab->target);
	ck_assert_int_gt(floor, ROOF_LEAST_NS);
	put_for(lab, lab->task, &t, 0, by_five, floor - 1, CODEGEN_EPOCH);
	ck_assert_int_eq(choose(lab).hit, HIT_DEFAULT);
	put_for(lab, lab->task, &t, 0, by_five, floor, CODEGEN_EPOCH);
	ck_assert_int_eq(choose(lab).hit, HIT_NEAR);
	close_lab(lab);
}
END_TEST

/* What does not replay is passed over; where the default is the best on the same core, no other core is asked. */
START_TEST(the_nearest_core_that_replays_decides)
{
	Lab *lab = open_told(0.5);
	const char *first = choose(lab).trace;
	Target broken = alike(lab, 1), other = lab->target, same = alike(lab, 2);
	snprintf(other.model, sizeof other.model, "another");
	put_for(lab, lab->task, &broken, 0, "split nosuch 5\n", 400, CODEGEN_EPOCH);
	put_for(lab, lab->task, &other, 0, by_five, 400, CODEGEN_EPOCH);
	ck_assert_str_eq(choose(lab).trace, by_five);
	put_for(lab, lab->task, &same, 0, first, 400, CODEGEN_EPOCH);
	ck_assert_int_eq(choose(lab).hit, HIT_DEFAULT);
	close_lab(lab);
}
END_TEST

/* Nor is it where its estimate is better: of schedules that were made for another shape, estimates are often wrong. */
START_TEST(another_workload_is_not_near)
{
	Lab *lab = open_told(0.1);
	put_for(lab, dense(lab, 96, 48), &lab->target, 0, by_five, 400, CODEGEN_EPOCH);
	ck_assert_int_eq(choose(lab).hit, HIT_DEFAULT);
	close_lab(lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("near");
	tcase_add_loop_test(tc, factors_are_fitted, 0, LEN(fits));
	tcase_add_loop_test(tc, another_core_is_taken_if_its_estimate_is_better, 0, LEN(elsewhere));
	tcase_add_test(tc, the_same_core_is_believed);
	tcase_add_test(tc, the_same_core_is_no_faster_than_its_roof);
	tcase_add_test(tc, the_nearest_core_that_replays_decides);
	tcase_add_test(tc, another_workload_is_not_near);
	return run_code_suite("near", tc);
}
