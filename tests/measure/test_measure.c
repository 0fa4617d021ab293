/*
 * Measurement with children that behave, and with children that do not: every candidate gets a
 * status, whatever becomes of the process that holds it, and the next one is measured as usual.
 */
#include "suite.h"

#include "base/file.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "measure/measure.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *dlc, *worker; /* paths, from the command line */

static const char workload[] = "dag t\nin x: f32[4,32]\ny: f32[4,32] = relu(x)\nout y\n";

/* What stands for the scheduled loops of the workload above. */
static const struct {
	const char *what, *text;
	RunStatus status;
} candidates[] = {
	{ "right",
		"fn k(%s: in f32[4, 32], %s: out f32[4, 32]) {\n"
		"\tfor i in 0..4 {\n\t\tfor j in 0..32 {\n\t\t\t%s[i, j] = max(%s[i, j], 0.0)\n\t\t}\n\t}\n}\n",
		RUN_OK },
	{ "wrong",
		"fn k(%s: in f32[4, 32], %s: out f32[4, 32]) {\n"
		"\tfor i in 0..4 {\n\t\tfor j in 0..32 {\n\t\t\t%s[i, j] = max(%s[i, j], 0.5)\n\t\t}\n\t}\n}\n",
		RUN_WRONG_RESULT },
	{ "endless",
		"fn k(%s: in f32[4, 32], %s: out f32[4, 32]) {\n"
		"\tfor n in 0..4000000000000 {\n\t\tfor i in 0..4 {\n\t\t\tfor j in 0..32 {\n"
		"\t\t\t\t%s[i, j] = max(%s[i, j], 0.0)\n\t\t\t}\n\t\t}\n\t}\n}\n",
		RUN_RUN_TIMEOUT },
};

typedef struct Lab {
	Arena *arena;
	Measure *m;
	Task *task;
	MeasureRef *ref;
} Lab;

static Measure *open_with(Arena *a, char *builder0, char *builder1, char *runner0, char *runner1)
{
	Err err = { 0 };
	char **b = arena_array(a, char *, 3), **r = arena_array(a, char *, 3);
	b[0] = builder0, b[1] = builder1, r[0] = runner0, r[1] = runner1;
	MeasureOptions o = { .builder = b,
		.runner = r,
		.builders = 2,
		.threads = 1,
		.build_ms = 20000,
		.run_ms = 1000,
		.tolerance = 1e-4 };
	Measure *m = measure_open(&o, &err);
	ck_assert_msg(m != NULL, "%s", err.text);
	return m;
}

static Lab open_lab(void)
{
	Lab lab = { .arena = arena_new() };
	Err err = { 0 };
	Dag *d = dag_parse(lab.arena, "t", workload, strlen(workload), &err);
	lab.task = d != NULL ? task_new(lab.arena, d, &err) : NULL;
	ck_assert_msg(lab.task != NULL, "%s", err.text);
	lab.m = open_with(lab.arena, dlc, "builder", worker, "--stdio");
	lab.ref = measure_reference(lab.m, lab.task, 1, &err);
	ck_assert_msg(lab.ref != NULL, "%s: %s", err.place, err.text);
	return lab;
}

static void close_lab(Lab *lab)
{
	measure_close(lab->m);
	arena_free(lab->arena);
}

static void submit(Lab *lab, int k, int number)
{
	Err err = { 0 };
	const Dag *d = lab->task->dag;
	const char *in = d->value.at[d->input.at[0]].name, *out = d->value.at[d->output.at[0]].name;
	char *text = arena_printf(lab->arena, candidates[k].text, in, out, out, in);
	KernelSet *ks = ir_parse_set(ir_new(lab->arena), "k", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	MeasureJob job = { .ks = ks, .ref = lab->ref, .user = (void *)(intptr_t)number };
	ck_assert_msg(measure_submit(lab->m, &job, &err), "%s", err.text);
}

static MeasureResult result_of(Lab *lab)
{
	MeasureResult r;
	for (int i = 0; i < 300; i++)
		if (measure_wait(lab->m, 100, &r))
			return r;
	ck_abort_msg("no result after 30 s");
}

START_TEST(each_candidate_gets_its_status)
{
	Lab lab = open_lab();
	for (int round = 0; round < 2; round++)
		for (int k = 0; k < LEN(candidates); k++) {
			submit(&lab, k, k);
			MeasureResult r = result_of(&lab);
			ck_assert_msg(r.status == candidates[k].status, "%s: %s (%s)", candidates[k].what,
				run_status_text(r.status), r.detail);
			if (r.status == RUN_OK)
				ck_assert(r.median_ns > 0 && r.samples > 0 && r.max_err_e9 >= 0);
		}
	ck_assert_int_eq(measure_pending(lab.m), 0);
	close_lab(&lab);
}
END_TEST

START_TEST(many_are_under_way_at_once)
{
	Lab lab = open_lab();
	int seen[20] = { 0 };
	for (int i = 0; i < 20; i++)
		submit(&lab, i % 2, i);
	for (int i = 0; i < 20; i++) {
		MeasureResult r = result_of(&lab);
		int number = (int)(intptr_t)r.user;
		seen[number]++;
		ck_assert_int_eq(r.status, candidates[number % 2].status);
	}
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(seen[i], 1);
	close_lab(&lab);
}
END_TEST

/* Programs that are no builder, or no runner. */
static const struct {
	const char *program, *argument;
} impostors[] = {
	{ "/bin/false", NULL },
	{ "/bin/cat", NULL },
	{ "/bin/echo", "nonsense that is no frame at all, long enough to be looked at" },
	{ "/nonexistent/program", NULL },
};

START_TEST(a_builder_that_is_none_is_a_status)
{
	Lab lab = open_lab();
	Measure *good = lab.m;
	char *program = arena_printf(lab.arena, "%s", impostors[_i].program);
	char *argument = impostors[_i].argument != NULL ? arena_printf(lab.arena, "%s", impostors[_i].argument) : NULL;
	lab.m = open_with(lab.arena, program, argument, worker, "--stdio");
	submit(&lab, 0, 0);
	MeasureResult r = result_of(&lab);
	ck_assert_msg(r.status == RUN_COMPILE_ERROR || r.status == RUN_DEVICE_LOST, "%s", run_status_text(r.status));
	ck_assert_int_gt((int)strlen(r.detail), 5);
	measure_close(lab.m);
	lab.m = good;
	close_lab(&lab);
}
END_TEST

START_TEST(a_runner_that_is_none_is_a_status)
{
	Lab lab = open_lab();
	Measure *good = lab.m;
	char *program = arena_printf(lab.arena, "%s", impostors[_i].program);
	char *argument = impostors[_i].argument != NULL ? arena_printf(lab.arena, "%s", impostors[_i].argument) : NULL;
	lab.m = open_with(lab.arena, dlc, "builder", program, argument);
	submit(&lab, 0, 0);
	MeasureResult r = result_of(&lab);
	ck_assert_msg(r.status == RUN_CRASH || r.status == RUN_LAUNCH_ERROR || r.status == RUN_DEVICE_LOST, "%s",
		run_status_text(r.status));
	measure_close(lab.m);
	lab.m = good;
	close_lab(&lab);
}
END_TEST

/* The processes this one has started and that still live. */
static int living_children(void)
{
	char command[64], line[32] = "0";
	snprintf(command, sizeof command, "pgrep -c -P %d dlc", (int)getpid());
	FILE *f = popen(command, "r");
	if (f != NULL && fgets(line, sizeof line, f) == NULL)
		line[0] = '0';
	if (f != NULL)
		pclose(f);
	return atoi(line);
}

START_TEST(closing_leaves_no_child)
{
	Lab lab = open_lab();
	submit(&lab, 2, 0); /* one that runs for ever */
	MeasureResult r;
	ck_assert(!measure_wait(lab.m, 300, &r));
	close_lab(&lab);
	ck_assert_int_eq(living_children(), 0);
}
END_TEST

/* A task of `n` inputs, its reference, and its naive set as a candidate. */
static RunStatus measure_sum(Lab *lab, int n, MeasureRef **ref)
{
	Err err = { 0 };
	Text t = { .arena = lab->arena };
	text_add(&t, "dag t\n");
	for (int i = 0; i < n; i++)
		text_add(&t, "in x%d: f32[2,3]\n", i);
	for (int i = 1; i < n; i++)
		text_add(&t, "s%d: f32[2,3] = add(%s%d, x%d)\n", i, i == 1 ? "x" : "s", i - 1, i);
	text_add(&t, "out s%d\n", n - 1);
	Dag *d = dag_parse(lab->arena, "t", text_str(&t), t.n, &err);
	Task *task = d != NULL ? task_new(lab->arena, d, &err) : NULL;
	ck_assert_msg(task != NULL, "%s: %s", err.place, err.text);
	if (*ref == NULL)
		*ref = measure_reference(lab->m, task, 1, &err);
	ck_assert_msg(*ref != NULL, "%s: %s", err.place, err.text);
	KernelSet *ks = op_naive(ir_new(lab->arena), task->dag, "k", NAIVE_AS_TYPED, &err);
	MeasureJob job = { .ks = ks, .ref = *ref };
	ck_assert_msg(ks != NULL && measure_submit(lab->m, &job, &err), "%s", err.text);
	return result_of(lab).status;
}

START_TEST(a_task_has_as_many_tensors_as_it_likes)
{
	Lab lab = open_lab();
	MeasureRef *ref = NULL;
	ck_assert_int_eq(measure_sum(&lab, 100, &ref), RUN_OK);
	close_lab(&lab);
}
END_TEST

/* The first task is measured again when the runner has seen a thousand others. */
START_TEST(tasks_do_not_overwrite_each_other)
{
	Lab lab = open_lab();
	MeasureRef *first = NULL;
	ck_assert_int_eq(measure_sum(&lab, 2, &first), RUN_OK);
	for (int i = 0; i < 1000; i++) {
		Err err = { 0 };
		ck_assert_msg(measure_reference(lab.m, lab.task, 2, &err) != NULL, "%s", err.text);
		if (i % 50 == 0) {
			submit(&lab, 0, i);
			ck_assert_int_eq(result_of(&lab).status, RUN_OK);
		}
	}
	ck_assert_int_eq(measure_sum(&lab, 2, &first), RUN_OK);
	close_lab(&lab);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc != 3)
		return 1;
	dlc = argv[1];
	worker = argv[2];
	TCase *tc = tcase_create("measure");
	tcase_add_test(tc, each_candidate_gets_its_status);
	tcase_add_test(tc, many_are_under_way_at_once);
	tcase_add_loop_test(tc, a_builder_that_is_none_is_a_status, 0, LEN(impostors));
	tcase_add_loop_test(tc, a_runner_that_is_none_is_a_status, 0, LEN(impostors));
	tcase_add_test(tc, closing_leaves_no_child);
	tcase_add_test(tc, a_task_has_as_many_tensors_as_it_likes);
	tcase_add_test(tc, tasks_do_not_overwrite_each_other);
	return run_suite("measure", tc);
}
