/*
 * Measurement on an OpenCL device: prepare Fns on the host, run Fns on the device, a status for each fault, and drivers
 * that fail in the middle (fake_opencl.c). Without a device the tests say so and do nothing. argv: dlc,
 * dlc-device-worker, the folder of the fake loader.
 */
#include "suite.h"

#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "measure/measure.h"
#include "runtime/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *dlc, *worker, *fake, *real;
static const char workload[] = "dag t\nin x: f32[8192]\nconst c: f32[8192]\ny: f32[8192] = add(x, c)\nout y\n";

/* Of the workload's canonical form: x is v0, c is c0, y is v1. */
#define ADD(grid, block, with) \
	"fn k(v0: in f32[8192], " with ": const f32[8192], v1: out f32[8192]) {\n" \
	"\tfor i in 0.." grid " bound(grid.x) {\n\t\tfor j in 0.." block " bound(block.x) {\n" \
	"\t\t\tv1[i * " block " + j] = v0[i * " block " + j] + " with "[i * " block " + j]\n\t\t}\n\t}\n}\n"
#define PACK "prepare fn pack(c0: const f32[8192], p: out f32[8192]) {\n\tfor i in 0..8192 {\n\t\tp[i] = c0[i]"
static const struct {
	const char *what, *text;
	RunStatus status;
	const char *says;
} candidates[] = {
	{ "blocks", ADD("128", "64", "c0"), RUN_OK, "" },
	{ "prepared", PACK "\n\t}\n}\n" ADD("128", "64", "p"), RUN_OK, "" },
	{ "prepared wrong", PACK " * 2.0\n\t}\n}\n" ADD("128", "64", "p"), RUN_WRONG_RESULT, "the error is" },
	{ "one thread",
		"fn k(v0: in f32[8192], c0: const f32[8192], v1: out f32[8192]) {\n\tfor i in 0..8192 {\n"
		"\t\tv1[i] = v0[i] + c0[i]\n\t}\n}\n",
		RUN_OK, "" },
	{ "a block too large", ADD("1", "8192", "c0"), RUN_LAUNCH_ERROR, "kernel k has 8192 threads along block.x" },
};

typedef struct Lab {
	Arena *arena;
	Measure *m;
	Task *task;
	MeasureRef *ref;
} Lab;

static Lab open_lab(void)
{
	Lab lab = { .arena = arena_new() };
	Err err = { 0 };
	Dag *d = dag_parse(lab.arena, "t", workload, strlen(workload), &err);
	lab.task = d != NULL ? task_new(lab.arena, d, &err) : NULL;
	ck_assert_msg(lab.task != NULL, "%s", err.text);
	static char *builder[] = { NULL, "builder", "--target=opencl:pocl", NULL };
	static char *runner[] = { NULL, "--stdio", "--device=opencl:0", NULL };
	builder[0] = dlc;
	runner[0] = worker;
	MeasureOptions o = { .builder = builder, .builders = 1, .threads = 1, .device = true };
	o.runner = &(MeasureRunner){ .argv = runner, .name = "opencl:0" };
	o.runners = 1;
	o.build_ms = 20000;
	o.run_ms = 20000;
	o.tolerance = 1e-4;
	lab.m = measure_open(&o, &err);
	ck_assert_msg(lab.m != NULL, "%s", err.text);
	measure_cold(lab.m, 1 << 20);
	lab.ref = measure_reference(lab.m, lab.task, 1, &err);
	ck_assert_msg(lab.ref != NULL, "%s: %s", err.place, err.text);
	return lab;
}

static void close_lab(Lab *lab)
{
	measure_close(lab->m);
	arena_free(lab->arena);
}

static KernelSet *set_of(Lab *lab, int k)
{
	Err err = { 0 };
	const char *text = candidates[k].text;
	KernelSet *ks = ir_parse_set(ir_new(lab->arena), "k", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s\n%s", err.place, err.text, text);
	return ks;
}

static MeasureResult measured(Lab *lab, int k)
{
	Err err = { 0 };
	MeasureJob job = { .ks = set_of(lab, k), .ref = lab->ref, .trace = candidates[k].what };
	ck_assert_msg(measure_submit(lab->m, &job, &err), "%s", err.text);
	MeasureResult r;
	for (int i = 0; i < 600; i++)
		if (measure_wait(lab->m, 100, &r))
			return r;
	ck_abort_msg("no result after 60 s");
}

START_TEST(each_candidate_gets_its_status)
{
	Lab lab = open_lab();
	for (int k = 0; k < LEN(candidates); k++) {
		MeasureResult r = measured(&lab, k);
		ck_assert_msg(r.status == candidates[k].status && strstr(r.detail, candidates[k].says) != NULL, "%s: %s (%s)",
			candidates[k].what, run_status_text(r.status), r.detail);
		if (r.status == RUN_OK)
			ck_assert(r.median_ns > 0 && r.samples > 0 && r.max_err_e9 >= 0);
	}
	MeasureJob racer[2] = { { .ks = set_of(&lab, 0), .ref = lab.ref }, { .ks = set_of(&lab, 1), .ref = lab.ref } };
	MeasureResult out[2];
	Err err = { 0 };
	ck_assert_msg(measure_race(lab.m, racer, 2, out, &err), "%s", err.text);
	for (int k = 0; k < 2; k++)
		ck_assert_msg(out[k].status == RUN_OK && out[k].median_ns > 0, "%d: %s", k, out[k].detail);
	close_lab(&lab);
}
END_TEST

/* A file that is not there yet, for the fake loader; the caller removes it. */
static void name_file(char path[32], const char *variable)
{
	strcpy(path, "/tmp/dlc-lost-XXXXXX");
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	unlink(path);
	setenv(variable, path, 1);
}

static void make_file(const char *path)
{
	FILE *f = fopen(path, "w");
	ck_assert(f != NULL && fclose(f) == 0);
}

/* Drivers that fail: the candidate gets a status, and those after it another runner. */
static const struct {
	const char *fault;
	RunStatus status;
	const char *says;
	bool goes_on; /* with the next candidate */
	bool later;   /* calls count from the second candidate on, whatever the samples of the first were */
} faults[] = {
	{ "clFinish 1 -36", RUN_DEVICE_LOST, "the OpenCL device failed", true, true }, /* before its run */
	{ "clFinish 2 -36", RUN_CRASH, "the OpenCL device failed", true, true },       /* behind it */
	{ "clEnqueueNDRangeKernel 2 -55", RUN_LAUNCH_ERROR, "failed to start kernel k", false, false },
	{ "clBuildProgram 1 -11", RUN_LAUNCH_ERROR, "the OpenCL device does not take the code", false, false },
	{ "clCreateBuffer 4 -4 1", RUN_DEVICE_LOST, " bytes of memory left: end other programs on it", true, false },
	{ "clCreateBuffer 4 -36", RUN_DEVICE_LOST, "while memory was taken: CL_INVALID_COMMAND_QUEUE", true, false },
	{ "clBuildProgram 1 -5 1", RUN_DEVICE_LOST, "the code: the OpenCL driver does not build", true, false },
	{ "clCreateKernel 1 -5 1", RUN_DEVICE_LOST, "dlc_k: CL_MEM_OBJECT_ALLOCATION_FAILURE", true, false },
	{ "clEnqueueNDRangeKernel 2 -4 1", RUN_OOM, "CL_MEM_OBJECT_ALLOCATION_FAILURE", true, false },
};

START_TEST(drivers_that_fail)
{
	setenv("LD_LIBRARY_PATH", fake, 1);
	setenv("DLC_FAKE_REAL", real, 1);
	setenv("DLC_FAKE_FAULT", faults[_i].fault, 1);
	char from[32];
	if (faults[_i].later)
		name_file(from, "DLC_FAKE_WHEN");
	Lab lab = open_lab();
	MeasureResult r;
	if (faults[_i].later) {
		r = measured(&lab, 0);
		ck_assert_msg(r.status == RUN_OK, "%s (%s)", run_status_text(r.status), r.detail);
		make_file(from);
	}
	r = measured(&lab, 0);
	bool as_wanted = r.status == faults[_i].status && strstr(r.detail, faults[_i].says) != NULL;
	ck_assert_msg(as_wanted, "%s: %s (%s)", faults[_i].fault, run_status_text(r.status), r.detail);
	unsetenv("DLC_FAKE_FAULT");
	if (faults[_i].later)
		unlink(from);
	if (faults[_i].goes_on) {
		for (int k = 0; k < 3 && r.status != RUN_OK; k++) /* the next runner may have begun with the fault */
			r = measured(&lab, 0);
		ck_assert_msg(r.status == RUN_OK, "%s (%s)", run_status_text(r.status), r.detail);
	}
	close_lab(&lab);
}
END_TEST

/* A device that is gone for good is no fault of the candidates, nor of the one with which it went. */
START_TEST(device_that_is_lost)
{
	char lost[32], from[32];
	setenv("LD_LIBRARY_PATH", fake, 1);
	setenv("DLC_FAKE_REAL", real, 1);
	setenv("DLC_FAKE_FAULT", "clFinish 2 -36", 1);
	name_file(lost, "DLC_FAKE_LOST");
	name_file(from, "DLC_FAKE_WHEN");
	Lab lab = open_lab();
	MeasureResult r = measured(&lab, 0);
	ck_assert_msg(r.status == RUN_OK, "%s (%s)", run_status_text(r.status), r.detail);
	make_file(from);
	r = measured(&lab, 0);
	ck_assert_msg(r.status == RUN_DEVICE_LOST, "%s (%s)", run_status_text(r.status), r.detail);
	r = measured(&lab, 0);
	ck_assert_msg(r.status == RUN_DEVICE_LOST, "%s (%s)", run_status_text(r.status), r.detail);
	ck_assert_msg(strstr(r.detail, "it exited with code 5: dlc-device-worker: ") != NULL, "%s", r.detail);
	close_lab(&lab);
	unlink(lost);
	unlink(from);
}
END_TEST

/* The file of the real loader; false: there is no device. */
static bool find_device(void)
{
	DeviceContext *c;
	DlcError err = { 0 };
	Dl_info info;
	if (device_opencl.open(0, &c, &err) != DLC_OK) {
		suite_skip_installable("OpenCL devices", err.text);
		return false;
	}
	device_opencl.close(c);
	void *lib = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL), *f = lib != NULL ? dlsym(lib, "clFinish") : NULL;
	real = f != NULL && dladdr(f, &info) != 0 ? realpath(info.dli_fname, NULL) : NULL;
	return real != NULL;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: %s DLC DLC-DEVICE-WORKER FOLDER\n", argv[0]);
		return 2;
	}
	dlc = argv[1];
	worker = argv[2];
	fake = argv[3];
	if (!find_device())
		return 77;
	TCase *tc = tcase_create("measure_device");
	tcase_add_test(tc, each_candidate_gets_its_status);
	tcase_add_loop_test(tc, drivers_that_fail, 0, LEN(faults));
	tcase_add_test(tc, device_that_is_lost);
	int code = run_suite("measure_device", tc);
	free(real);
	return code;
}
