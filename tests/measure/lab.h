/*
 * What tests of measurement share: children that are real, a small task, and a larger one of which 256 points are
 * known and nothing more.
 */
#ifndef TESTS_MEASURE_LAB_H
#define TESTS_MEASURE_LAB_H

#include "suite.h"

#include "ir/text/ir_text.h"
#include "measure/measure.h"

#include <stdio.h>
#include <string.h>

static char *dlc, *worker; /* paths, from the command line */
static int threads = 1, build_ms = 20000, run_ms = 1000;

static const char workload[] = "dag t\nin x: f32[4,32]\ny: f32[4,32] = relu(x)\nout y\n";

typedef struct Lab {
	Arena *arena;
	Measure *m;
	Task *task;
	MeasureRef *ref;
} Lab;

static inline Measure *open_with(Arena *a, char *builder0, char *builder1, char *runner0, char *runner1)
{
	Err err = { 0 };
	char **b = arena_array(a, char *, 3), **r = arena_array(a, char *, 3);
	MeasureRunner *runner = arena_new_of(a, MeasureRunner);
	b[0] = builder0, b[1] = builder1, r[0] = runner0, r[1] = runner1;
	*runner = (MeasureRunner){ .argv = r, .name = "cpu" };
	MeasureOptions o = { .builder = b,
		.runner = runner,
		.runners = 1,
		.builders = 2,
		.threads = threads,
		.build_ms = build_ms,
		.run_ms = run_ms,
		.tolerance = 1e-4 };
	Measure *m = measure_open(&o, &err);
	ck_assert_msg(m != NULL, "%s", err.text);
	return m;
}

static inline Lab open_lab(void)
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

static inline void close_lab(Lab *lab)
{
	measure_close(lab->m);
	arena_free(lab->arena);
}

static inline MeasureResult result_of(Lab *lab)
{
	MeasureResult r;
	for (int i = 0; i < 300; i++)
		if (measure_wait(lab->m, 100, &r))
			return r;
	ck_abort_msg("no result after 30 s");
}

static inline Task *task_of(Lab *lab, const char *text)
{
	Err err = { 0 };
	Dag *d = dag_parse(lab->arena, "t", text, strlen(text), &err);
	Task *task = d != NULL ? task_new(lab->arena, d, &err) : NULL;
	ck_assert_msg(task != NULL, "%s: %s\n%s", err.place, err.text, text);
	return task;
}

#define BIG "dag t\nin x: f32[1,24,240,240]:NCHW16c\ny: f32[1,24,240,240]:NCHW16c = relu(x)\nout y\n"
#define BLOCKED "map (n, c, h, w) -> [n : 1, c / 16 : 2, h : 240, w : 240, c % 16 : 16]"
#define BIG_FN "fn k(v0: in f32[1, 24, 240, 240] " BLOCKED ", v1: out f32[1, 24, 240, 240] " BLOCKED ") {\n"
#define OVER(n, i, body) "for " #i " in 0.." #n " {\n" body "}\n"
#define EACH(body) OVER(24, c, OVER(240, h, OVER(240, w, body)))
#define BIG_RELU EACH("v1[0, c, h, w] = max(v0[0, c, h, w], 0.0)\n")
#define PLAIN_FN "fn k(v0: in f32[1, 2, 240, 240, 16], v1: out f32[1, 2, 240, 240, 16]) {\n"
#define PLAIN(body) OVER(2, c, OVER(240, h, OVER(240, w, OVER(16, l, body))))

#endif
