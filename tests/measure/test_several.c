/*
 * Candidates that a device refuses before their kernels run. Both devices are those of a driver without a GPU
 * (tests/fake_cuda). argv: dlc, dlc-device-worker.
 */
#include "suite.h"

#include "ir/text/ir_text.h"
#include "measure/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *dlc, *worker;
static const char workload[] = "dag t\nin x: f32[256]\nconst c: f32[256]\ny: f32[256] = add(x, c)\nout y\n";

/* Of the workload's canonical form: x is v0, c is c0, y is v1. A device has 16 MiB, of which timing takes 2 KiB. */
#define ADD(work) \
	"fn k(v0: in f32[256], c0: const f32[256]" work ", v1: out f32[256]) {\n" \
	"\tfor i in 0..4 bound(grid.x) {\n\t\tfor j in 0..64 bound(block.x) {\n" \
	"\t\t\tv1[i * 64 + j] = v0[i * 64 + j] + c0[i * 64 + j]\n\t\t}\n\t}\n}\n"
static const char small[] = ADD(""), large[] = ADD(", w: work f32[4193280]"),
	two[] = ADD(", w: work f32[2359296], u: work f32[2359296]");
#define MEMORY "FAKE_CUDA_MEMORY=16777216"
#define NO_MORE "FAKE_CUDA_FAIL=cuMemAlloc_v2:5:2" /* behind three buffers and a fill: what timing needs */

typedef struct Lab {
	Arena *arena;
	Measure *m;
	Task *task;
	MeasureRef *ref;
	int told; /* sentences */
} Lab;

static void note(const char *sentence, void *arg)
{
	Lab *lab = arg;
	ck_assert_msg(strstr(sentence, " is lost (") != NULL, "%s", sentence);
	lab->told++;
}

/* `fault[k]`: an assignment of the environment of device k. */
static void open_lab(Lab *lab, char *const fault[2])
{
	static const char *const NAME[] = { "cuda:0", "cuda:1" };
	static char *const DEVICE[] = { "--device=cuda:0", "--device=cuda:1" };
	char **builder;
	MeasureRunner runner[2];
	Err err = { 0 };
	*lab = (Lab){ .arena = arena_new() };
	Dag *d = dag_parse(lab->arena, "t", workload, strlen(workload), &err);
	lab->task = d != NULL ? task_new(lab->arena, d, &err) : NULL;
	ck_assert_msg(lab->task != NULL, "%s", err.text);
	builder = arena_array(lab->arena, char *, 4);
	builder[0] = dlc;
	builder[1] = "builder";
	builder[2] = "--target=cuda:sm_90";
	for (int k = 0; k < 2; k++) {
		char **argv = arena_array(lab->arena, char *, 8);
		char *const all[] = { "env", MEMORY, "FAKE_CUDA_DEVICES=2", fault[k], worker, "--stdio", DEVICE[k] };
		memcpy(argv, all, sizeof all);
		runner[k] = (MeasureRunner){ .argv = argv, .name = NAME[k] };
	}
	MeasureOptions o = { .builder = builder, .builders = 1, .threads = 1, .device = true };
	o.runner = runner;
	o.runners = 2;
	o.build_ms = o.run_ms = 20000;
	o.tolerance = 1e-4;
	o.note = note;
	o.note_arg = lab;
	lab->m = measure_open(&o, &err);
	ck_assert_msg(lab->m != NULL, "%s", err.text);
	measure_cold(lab->m, 1 << 20);
	lab->ref = measure_reference(lab->m, lab->task, 1, &err);
	ck_assert_msg(lab->ref != NULL, "%s: %s", err.place, err.text);
}

static void close_lab(Lab *lab)
{
	measure_close(lab->m);
	arena_free(lab->arena);
}

static void submit(Lab *lab, const char *text)
{
	Err err = { 0 };
	MeasureJob job = { .ref = lab->ref, .trace = text };
	job.ks = ir_parse_set(ir_new(lab->arena), "k", text, strlen(text), &err);
	ck_assert_msg(job.ks != NULL, "%s: %s", err.place, err.text);
	ck_assert_msg(measure_submit(lab->m, &job, &err), "%s", err.text);
}

static void take(Lab *lab, RunStatus want)
{
	MeasureResult r;
	int i = 0;
	while (i < 300 && !measure_wait(lab->m, 100, &r))
		i++;
	ck_assert_msg(i < 300, "no result after 30 s");
	ck_assert_msg(r.status == want, "%s (%s)", run_status_text(r.status), r.detail);
	if (want == RUN_OK)
		ck_assert(r.samples > 0 && r.median_ns > 0 && r.max_err_e9 >= 0);
}

static void measured(Lab *lab, const char *text, RunStatus want)
{
	submit(lab, text);
	take(lab, want);
}

/* What no device has memory for is at fault itself, and no device is given up for it. */
START_TEST(too_large_for_all)
{
	Lab lab;
	open_lab(&lab, (char *[]){ "A=", "A=" });
	measured(&lab, two, RUN_OOM); /* more than there is */
	measured(&lab, small, RUN_OK);
	measured(&lab, small, RUN_OK);
	for (int k = 0; k < 5; k++)
		submit(&lab, large); /* more than timing leaves */
	for (int k = 0; k < 5; k++)
		take(&lab, RUN_OOM);
	measured(&lab, small, RUN_OK);
	measured(&lab, small, RUN_OK);
	ck_assert_int_eq(lab.told, 0);
	close_lab(&lab);
}
END_TEST

/* A device that is full when a candidate is timed: another checks and times it. After three of them it is lost. */
START_TEST(one_is_full)
{
	Lab lab;
	open_lab(&lab, (char *[]){ NO_MORE, "A=" });
	for (int k = 0; k < 2; k++)
		measured(&lab, small, RUN_OK);
	ck_assert_int_eq(lab.told, 0);
	for (int k = 0; k < 4; k++)
		measured(&lab, small, RUN_OK);
	ck_assert_int_eq(lab.told, 1);
	close_lab(&lab);
}
END_TEST

/* All are full: candidates are not to blame. */
START_TEST(all_are_full)
{
	Lab lab;
	open_lab(&lab, (char *[]){ NO_MORE, NO_MORE });
	for (int k = 0; k < 5; k++)
		measured(&lab, small, RUN_DEVICE_LOST);
	ck_assert_int_eq(lab.told, 0);
	close_lab(&lab);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s DLC DLC-DEVICE-WORKER\n", argv[0]);
		return 2;
	}
	dlc = argv[1];
	worker = argv[2];
	TCase *tc = tcase_create("measure_several");
	tcase_add_test(tc, too_large_for_all);
	tcase_add_test(tc, one_is_full);
	tcase_add_test(tc, all_are_full);
	return run_suite("measure_several", tc);
}
