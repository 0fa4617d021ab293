/*
 * Tasks of alternatives while a network is tuned: when they are tried, when they are given up, and what
 * the network's sum is. Times are made up; nothing is measured.
 */
#include "suite.h"

#include "tuner/run.h"

#include <math.h>
#include <string.h>

/* A convolution that takes a sum, a projection that could, and what the tail would be alone. */
static const char network[] =
	"dag m\nin x: f32[1,8,6,6]\nconst w: f32[8,8,2,2]\nconst wp: f32[8,8,1,1]\n"
	"c = conv(x, w) pads=[0,0,1,1]\np = conv(x, wp)\nd = add(c, p)\ny = relu(d)\nout y\n";

enum { WIDE_TAIL, THIN, WIDE, THIN_TAIL, TAIL, ALL };
static const char *const label[ALL] = { "conv2x2 8>8 6 +add+relu", "conv1x1 8>8 6", "conv2x2 8>8 6",
	"conv1x1 8>8 6 +add+relu", "add 1x8x6x6 +relu" };

typedef struct Lab {
	Arena *arena;
	Target target;
	TuneRequest ask;
	TuneMeans with;
	TuneResult result;
	Tuner t;
	TaskRun *run[ALL];
} Lab;

static double now_ms(void *arg)
{
	(void)arg;
	return 0;
}

static Lab *open_lab(void)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Lab *lab = arena_new_of(a, Lab);
	lab->arena = a;
	target_host(&lab->target, 1);
	lab->with = (TuneMeans){ .clock = { now_ms, NULL } };
	lab->ask = (TuneRequest){ .target = &lab->target, .search = &search_random,
		.effort = effort_find("normal"), .model = "m", .trials = -1, .more_trials = -1, .seed = 1 };
	Dag *d = dag_parse(a, "m", network, sizeof network - 1, &err);
	Partition *p = d != NULL ? graph_partition(a, d, &err) : NULL;
	ck_assert_msg(p != NULL, "%s: %s", err.place, err.text);
	ck_assert_msg(tuner_open(&lab->t, a, p, &lab->ask, &lab->with, &lab->result, &err), "%s: %s", err.place, err.text);
	ck_assert_int_eq(lab->result.end.ntask, ALL);
	tuner_sum_up(&lab->t);
	for (int i = 0; i < ALL; i++)
		for (int k = 0; k < ALL; k++)
			if (strcmp(lab->t.run[k].task->label, label[i]) == 0)
				lab->run[i] = &lab->t.run[k];
	for (int i = 0; i < ALL; i++)
		ck_assert_msg(lab->run[i] != NULL, "%s", label[i]);
	return lab;
}

static void set(Lab *lab, int task, int64_t trials, double ms)
{
	TaskProgress *s = lab->run[task]->state;
	s->trials = trials;
	s->best_ms = ms;
	s->default_ms = ms * 2;
	tuner_sum_up(&lab->t);
}

static double gain(const Lab *lab, int task)
{
	return regions_gain(&lab->t, lab->run[task]);
}

static void check_weights(const Lab *lab, const int *weight)
{
	for (int i = 0; i < ALL; i++)
		ck_assert_msg(lab->run[i]->state->weight == weight[i], "%s: %d", label[i], lab->run[i]->state->weight);
}

START_TEST(the_partition_comes_first)
{
	Lab *lab = open_lab();
	check_weights(lab, (int[]){ 1, 1, 0, 0, 0 });
	ck_assert_int_eq(lab->result.end.unmeasured, 2);
	for (int i = WIDE; i < ALL; i++)
		ck_assert(gain(lab, i) < 0);
	set(lab, WIDE_TAIL, 39, 9);
	set(lab, THIN, 40, 2);
	ck_assert_int_eq(lab->result.end.unmeasured, 0);
	ck_assert(gain(lab, WIDE) < 0 && gain(lab, THIN_TAIL) < 0 && gain(lab, TAIL) < 0);
	set(lab, WIDE_TAIL, 40, 9);
	ck_assert(gain(lab, WIDE) > 0 && gain(lab, THIN_TAIL) > 0 && gain(lab, TAIL) > 0 && isfinite(gain(lab, TAIL)));
	set(lab, WIDE_TAIL, 39, 9);
	lab->run[WIDE_TAIL]->state->end = TASK_SEARCHED; /* no more will be known of it */
	ck_assert(gain(lab, WIDE) > 0);
	arena_free(lab->arena);
}
END_TEST

/* The roof of an alternative is above what there is: not one trial. */
START_TEST(roofs_spare_trials)
{
	Lab *lab = open_lab();
	set(lab, WIDE_TAIL, 40, 9);
	set(lab, THIN, 40, 2);
	lab->run[WIDE]->state->roof_ms = 8.5;
	lab->run[THIN_TAIL]->state->roof_ms = 2.1; /* 10.6 of 11 would do, 10.7 not */
	ck_assert(gain(lab, WIDE) > 0 && gain(lab, THIN_TAIL) > 0 && gain(lab, TAIL) > 0);
	lab->run[THIN_TAIL]->state->roof_ms = 2.3;
	ck_assert(gain(lab, WIDE) > 0 && gain(lab, THIN_TAIL) < 0 && gain(lab, TAIL) > 0);
	lab->run[TAIL]->state->roof_ms = 0.3; /* 8.5 + 0.3, and the projection as it is */
	ck_assert(gain(lab, WIDE) < 0 && gain(lab, TAIL) < 0);
	lab->run[WIDE]->most_saved = 4; /* Winograd may take a quarter of the roof */
	ck_assert(gain(lab, WIDE) > 0 && gain(lab, THIN_TAIL) > 0);
	arena_free(lab->arena);
}
END_TEST

START_TEST(what_stays_slower_is_given_up)
{
	Lab *lab = open_lab();
	set(lab, WIDE_TAIL, 40, 9);
	set(lab, THIN, 40, 2);
	lab->run[THIN_TAIL]->state->roof_ms = 9; /* of the alternative with the lone tail alone */
	set(lab, TAIL, 2, 1);
	double before = INFINITY;
	for (int n = 1; n <= 12; n++) { /* 9 + 2 + 1 of 11: the more trials, the less gain */
		set(lab, WIDE, n, 9);
		ck_assert((gain(lab, WIDE) > 0) == (n < 12));
		ck_assert(gain(lab, WIDE) < before);
		before = gain(lab, WIDE);
	}
	ck_assert(gain(lab, TAIL) < 0 && gain(lab, THIN_TAIL) < 0);
	ck_assert(!regions_close(&lab->t, lab->run[WIDE]) && regions_close(&lab->t, lab->run[THIN]));
	set(lab, WIDE, 12, 8.5); /* 11.5: within 5 percent, it may race */
	ck_assert(regions_close(&lab->t, lab->run[WIDE]) && !regions_close(&lab->t, lab->run[THIN_TAIL]));
	arena_free(lab->arena);
}
END_TEST

START_TEST(the_sum_is_of_what_runs)
{
	Lab *lab = open_lab();
	set(lab, WIDE_TAIL, 40, 9);
	set(lab, THIN, 40, 2);
	set(lab, WIDE, 40, 7);
	ck_assert(lab->result.end.tasks_ms == 11 && lab->result.end.default_tasks_ms == 22);
	set(lab, THIN_TAIL, 40, 3);
	check_weights(lab, (int[]){ 0, 0, 1, 1, 0 });
	ck_assert(lab->result.end.tasks_ms == 10 && lab->result.end.default_tasks_ms == 22);
	ck_assert_int_eq(lab->result.end.unmeasured, 0);
	ck_assert_int_eq(lab->result.end.default_unmeasured, 0);
	ck_assert(gain(lab, WIDE_TAIL) < 0); /* after 40 trials it will hardly come below 8 */
	set(lab, WIDE_TAIL, 7, 9);
	ck_assert(gain(lab, WIDE_TAIL) > 0); /* after 7 it may */
	set(lab, TAIL, 40, 0.1);
	check_weights(lab, (int[]){ 0, 1, 1, 0, 1 });
	ck_assert(fabs(lab->result.end.tasks_ms - 9.1) < 1e-9);
	/* What was compiled counts from now on, whatever else is learnt. */
	regions_settle(&lab->t, graph_take(lab->arena, lab->t.part, (int[]){ 1 }));
	set(lab, THIN_TAIL, 41, 4);
	check_weights(lab, (int[]){ 0, 0, 1, 1, 0 });
	ck_assert(lab->result.end.tasks_ms == 11);
	arena_free(lab->arena);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("regions");
	tcase_add_test(tc, the_partition_comes_first);
	tcase_add_test(tc, roofs_spare_trials);
	tcase_add_test(tc, what_stays_slower_is_given_up);
	tcase_add_test(tc, the_sum_is_of_what_runs);
	return run_suite("regions", tc);
}
