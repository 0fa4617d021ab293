/*
 * What the check of a candidate asks of a GPU, as a driver counts it that has none (tests/fake_cuda): constants and
 * inputs go there once a Task, prepared constants once for candidates in a row that prepare the same. Outputs come back
 * once a candidate, and the rest is some hundred bytes. argv: dlc, dlc-device-worker.
 */
#include "suite.h"

#include "fake_cuda/traffic.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "measure/measure.h"
#include "worker/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INPUT = 128 * 64 * 4, CONSTANT = 64 * 128 * 4, OUTPUT = 128 * 128 * 4 };

static char *dlc, *worker;
static FakeTraffic *traffic;
static char path[] = "/tmp/dlc-traffic-XXXXXX";

/* So many iterations that the oracle computes points alone: an output is compared with these, and with a whole one. */
static const char workload[] =
	"dag t\nin x: f32[128,64]\nconst c: f32[64,128]\ny: f32[128,128] = matmul(x, c)\nout y\n";

/* Of the workload's canonical form. */
#define PRODUCT(order, with) \
	"fn k(v0: in f32[128, 64], " with ": const f32[64, 128], v1: out f32[128, 128]) {\n" \
	"\tfor i in 0..128 bound(grid.x) {\n\t\tfor j in 0..128 bound(block.x) {\n" \
	"\t\t\tv1[i, j] = 0.0\n\t\t\tfor r in 0..64 {\n\t\t\t\tv1[i, j] = " order "\n\t\t\t}\n\t\t}\n\t}\n}\n"
#define PACK \
	"prepare fn pack(c0: const f32[64, 128], p: out f32[64, 128]) {\n\tfor i in 0..64 {\n\t\tfor j in 0..128 {\n" \
	"\t\t\tp[i, j] = c0[i, j]\n\t\t}\n\t}\n}\n"

static const struct {
	const char *text;
	int up_bytes; /* beside the Task's */
	int buffers;  /* of its kernel */
	RunStatus status;
} candidates[] = {
	{ PACK PRODUCT("v1[i, j] + v0[i, r] * p[r, j]", "p"), CONSTANT, 3, RUN_OK },
	{ PRODUCT("v1[i, j] + v0[i, r] * c0[r, j]", "c0"), 0, 3, RUN_OK },
	{ PACK PRODUCT("p[r, j] * v0[i, r] + v1[i, j]", "p"), CONSTANT, 3, RUN_OK }, /* the one before had their numbers */
	{ PACK PRODUCT("v0[i, r] * p[r, j] + v1[i, j]", "p"), 0, 3, RUN_OK },
	{ PACK PRODUCT("v0[i, r] * p[r, j] * 2.0 + v1[i, j]", "p"), 0, 3, RUN_WRONG_RESULT },
	{ PACK PRODUCT("v1[i, j] + p[r, j] * v0[i, r]", "p"), CONSTANT, 3, RUN_OK }, /* the one before is not trusted */
};

static void share_traffic(void)
{
	int fd = mkstemp(path);
	ck_assert(fd >= 0 && ftruncate(fd, sizeof *traffic) == 0);
	traffic = mmap(NULL, sizeof *traffic, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(traffic != MAP_FAILED);
	close(fd);
	setenv("FAKE_CUDA_TRAFFIC", path, 1);
	setenv("FAKE_CUDA_LAUNCH_NS", "5000000", 1); /* few samples are taken */
}

static MeasureResult measured(Measure *m, const MeasureJob *job)
{
	Err err = { 0 };
	MeasureResult r;
	ck_assert_msg(measure_submit(m, job, &err), "%s", err.text);
	for (int i = 0; i < 600; i++)
		if (measure_wait(m, 100, &r))
			return r;
	ck_abort_msg("no result after 60 s");
}

START_TEST(a_check_copies_outputs_once)
{
	Arena *a = arena_new();
	Err err = { 0 };
	char *builder[] = { dlc, "builder", "--target=cuda:h200", NULL };
	char *runner[] = { worker, "--stdio", "--device=cuda:0", NULL };
	MeasureOptions o = { .builder = builder, .builders = 1, .threads = 1, .device = true, .runners = 1 };
	o.runner = &(MeasureRunner){ .argv = runner, .name = "cuda:0" };
	o.build_ms = o.run_ms = 20000;
	o.tolerance = 1e-4;
	share_traffic();
	Dag *d = dag_parse(a, "t", workload, strlen(workload), &err);
	Task *task = d != NULL ? task_new(a, d, &err) : NULL;
	ck_assert_msg(task != NULL, "%s", err.text);
	Measure *m = measure_open(&o, &err);
	ck_assert_msg(m != NULL, "%s", err.text);
	MeasureRef *ref = measure_reference(m, task, 1, &err);
	ck_assert_msg(ref != NULL, "%s: %s", err.place, err.text);
	ck_assert_uint_eq(traffic->ups + traffic->downs, 0); /* it is the host's */
	for (int k = 0; k < LEN(candidates); k++) {
		KernelSet *ks = ir_parse_set(ir_new(a), "k", candidates[k].text, strlen(candidates[k].text), &err);
		ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
		uint64_t up = traffic->up_bytes, down = traffic->down_bytes, fills = traffic->fill_bytes;
		uint64_t waits = traffic->waits, samples = traffic->launches, loads = traffic->loads;
		uint64_t areas = traffic->allocations;
		MeasureResult r = measured(m, &(MeasureJob){ .ks = ks, .ref = ref, .trace = candidates[k].text });
		ck_assert_msg(r.status == candidates[k].status, "%d: %s (%s)", k, run_status_text(r.status), r.detail);
		samples = traffic->launches - samples;
		ck_assert_uint_eq(traffic->up_bytes - up, (k == 0 ? INPUT + CONSTANT : 0) + candidates[k].up_bytes);
		if (r.status != RUN_OK)
			continue;
		ck_assert_uint_eq(traffic->down_bytes - down, OUTPUT + candidates[k].buffers * WORKER_GUARD);
		ck_assert_uint_eq(traffic->loads - loads, 1);
		if (k < 2 || candidates[k].up_bytes > 0) /* the first ones take memory; what is prepared has a guard to fill */
			continue;
		ck_assert_uint_eq(traffic->allocations - areas, 0);
		ck_assert_uint_eq(traffic->fill_bytes - fills, OUTPUT + WORKER_GUARD);
		ck_assert_uint_le(traffic->waits - waits, 4 + 2 * samples); /* before the run, behind it, guards, the output */
	}
	measure_close(m);
	munmap(traffic, sizeof *traffic);
	unlink(path);
	arena_free(a);
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
	TCase *tc = tcase_create("measure_screening");
	tcase_add_test(tc, a_check_copies_outputs_once);
	return run_suite("measure_screening", tc);
}
