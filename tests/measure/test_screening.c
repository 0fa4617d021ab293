/*
 * What the check of a candidate asks of a GPU, as a driver counts it that has none (tests/fake_cuda): constants and
 * inputs go there once a Task, prepared constants once for all candidates that prepare the same, as long as there is
 * room for them. Outputs come back once a candidate, and the rest is some hundred bytes. argv: dlc, dlc-device-worker.
 */
#include "suite.h"

#include "fake_cuda/traffic.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "measure/job.h"
#include "measure/measure.h"
#include "measure/method.h"
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
static char path[32];

/* So many iterations that the oracle computes points alone: an output is compared with these, and with a whole one. */
static const char product[] =
	"dag t\nin x: f32[128,64]\nconst c: f32[64,128]\ny: f32[128,128] = matmul(x, c)\nout y\n";

/* Of the workload's canonical form. */
#define PRODUCT(order, with) PRODUCT_WITH(order, with ": const f32[64, 128]")
#define PRODUCT_WITH(order, with) \
	"fn k(v0: in f32[128, 64], " with ", v1: out f32[128, 128]) {\n" \
	"\tfor i in 0..128 bound(grid.x) {\n\t\tfor j in 0..128 bound(block.x) {\n" \
	"\t\t\tv1[i, j] = 0.0\n\t\t\tfor r in 0..64 {\n\t\t\t\tv1[i, j] = " order "\n\t\t\t}\n\t\t}\n\t}\n}\n"
#define PACK \
	"prepare fn pack(c0: const f32[64, 128], p: out f32[64, 128]) {\n\tfor i in 0..64 {\n\t\tfor j in 0..128 {\n" \
	"\t\t\tp[i, j] = c0[i, j]\n\t\t}\n\t}\n}\n"
#define TURNED \
	"prepare fn turn(c0: const f32[64, 128], q: out f32[128, 64]) {\n\tfor i in 0..128 {\n\t\tfor j in 0..64 {\n" \
	"\t\t\tq[i, j] = c0[j, i]\n\t\t}\n\t}\n}\n"

/* So few that the oracle computes all of it. */
static const char small[] = "dag t\nin x: f32[8,8]\nconst c: f32[8,8]\ny: f32[8,8] = add(x, c)\nout y\n";
enum { SMALL = 8 * 8 * 4 };
#define EACH(statement) " {\n\tfor i in 0..8 {\n\t\tfor j in 0..8 {\n\t\t\t" statement "\n\t\t}\n\t}\n}\n"
#define SUM \
	"fn k(v0: in f32[8, 8], p: const f32[8, 8], v1: out f32[8, 8]) {\n\tfor i in 0..8 bound(grid.x) {\n" \
	"\t\tfor j in 0..8 bound(block.x) {\n\t\t\tv1[i, j] = v0[i, j] + p[i, j]\n\t\t}\n\t}\n}\n"

static const struct {
	const char *text;
	int up_bytes; /* beside the Task's */
	int buffers;  /* of its kernel */
	RunStatus status;
} candidates[] = {
	{ PACK PRODUCT("v1[i, j] + v0[i, r] * p[r, j]", "p"), CONSTANT, 3, RUN_OK },
	{ PRODUCT("v1[i, j] + v0[i, r] * c0[r, j]", "c0"), 0, 3, RUN_OK },
	{ PACK PRODUCT("p[r, j] * v0[i, r] + v1[i, j]", "p"), 0, 3, RUN_OK }, /* they are still there */
	{ TURNED PRODUCT_WITH("v1[i, j] + v0[i, r] * q[j, r]", "q: const f32[128, 64]"), CONSTANT, 3, RUN_OK },
	{ PACK PRODUCT("v1[i, j] + (p[r, j] * v0[i, r])", "p"), 0, 3, RUN_OK },
	{ TURNED PRODUCT_WITH("q[j, r] * v0[i, r] + v1[i, j]", "q: const f32[128, 64]"), 0, 3, RUN_OK },
	{ PACK PRODUCT("v0[i, r] * p[r, j] + v1[i, j]", "p"), 0, 3, RUN_OK },
	{ PACK PRODUCT("v0[i, r] * p[r, j] * 2.0 + v1[i, j]", "p"), 0, 3, RUN_WRONG_RESULT },
	{ PACK PRODUCT("v1[i, j] + p[r, j] * v0[i, r]", "p"), CONSTANT, 3, RUN_OK }, /* the one before is not trusted */
};

static void share_traffic(void)
{
	strcpy(path, "/tmp/dlc-traffic-XXXXXX");
	int fd = mkstemp(path);
	ck_assert(fd >= 0 && ftruncate(fd, sizeof *traffic) == 0);
	traffic = mmap(NULL, sizeof *traffic, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(traffic != MAP_FAILED);
	close(fd);
	setenv("FAKE_CUDA_TRAFFIC", path, 1);
	setenv("FAKE_CUDA_LAUNCH_NS", "5000000", 1); /* few samples are taken */
}

typedef struct Screening {
	Arena *a;
	Measure *m;
	MeasureRef *ref;
} Screening;

static Screening open_device(const char *workload)
{
	Screening d = { .a = arena_new() };
	Err err = { 0 };
	char *builder[] = { dlc, "builder", "--target=cuda:h200", NULL };
	char *runner[] = { worker, "--stdio", "--device=cuda:0", NULL };
	MeasureOptions o = { .builder = builder, .builders = 1, .threads = 1, .device = true, .runners = 1 };
	o.runner = &(MeasureRunner){ .argv = runner, .name = "cuda:0" };
	o.build_ms = o.run_ms = 20000;
	o.tolerance = 1e-4;
	share_traffic();
	Dag *dag = dag_parse(d.a, "t", workload, strlen(workload), &err);
	Task *task = dag != NULL ? task_new(d.a, dag, &err) : NULL;
	ck_assert_msg(task != NULL, "%s", err.text);
	d.m = measure_open(&o, &err);
	ck_assert_msg(d.m != NULL, "%s", err.text);
	d.ref = measure_reference(d.m, task, 1, &err);
	ck_assert_msg(d.ref != NULL, "%s: %s", err.place, err.text);
	return d;
}

static void close_device(Screening *d)
{
	measure_close(d->m);
	munmap(traffic, sizeof *traffic);
	unlink(path);
	arena_free(d->a);
}

static MeasureResult measured(Screening *d, const char *text)
{
	Err err = { 0 };
	MeasureResult r;
	KernelSet *ks = ir_parse_set(ir_new(d->a), "k", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	ck_assert_msg(measure_submit(d->m, &(MeasureJob){ .ks = ks, .ref = d->ref, .trace = text }, &err), "%s", err.text);
	for (int i = 0; i < 600; i++)
		if (measure_wait(d->m, 100, &r))
			return r;
	ck_abort_msg("no result after 60 s");
}

START_TEST(a_check_copies_outputs_once)
{
	Screening d = open_device(product);
	ck_assert_uint_eq(traffic->ups + traffic->downs, 0); /* it is the host's */
	for (int k = 0; k < LEN(candidates); k++) {
		uint64_t up = traffic->up_bytes, down = traffic->down_bytes, fills = traffic->fill_bytes;
		uint64_t waits = traffic->waits, samples = traffic->launches, loads = traffic->loads;
		uint64_t areas = traffic->allocations;
		MeasureResult r = measured(&d, candidates[k].text);
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
	close_device(&d);
}
END_TEST

/* Bytes that a candidate with the prepare Fn of that name sends; it makes a constant more, which is not read. */
static uint64_t sent(Screening *d, const char *name, int number, int64_t more)
{
	const char *text = arena_printf(d->a,
		"prepare fn %s%d(c0: const f32[8, 8], p: out f32[8, 8], beside: out f32[%lld])" EACH("p[i, j] = c0[i, j]") SUM,
		name, number, (long long)(more > 0 ? more : 1));
	uint64_t up = traffic->up_bytes;
	MeasureResult r = measured(d, text);
	ck_assert_msg(r.status == RUN_OK, "%s%d: %s (%s)", name, number, run_status_text(r.status), r.detail);
	return traffic->up_bytes - up;
}

START_TEST(old_constants_make_room)
{
	const int64_t half = ((int64_t)1 << 30) / METHOD_PREPARED_PART / 8; /* elements whose bytes are half of the room */
	Screening d = open_device(small);
	ck_assert_uint_eq(sent(&d, "set", 0, 0), 3 * SMALL);
	for (int k = 1; k < PREPARED_SETS; k++)
		ck_assert_uint_eq(sent(&d, "set", k, 0), SMALL);
	ck_assert_uint_eq(sent(&d, "set", 0, 0), 0);
	ck_assert_uint_eq(sent(&d, "set", PREPARED_SETS, 0), SMALL); /* in the place of set1 */
	ck_assert_uint_eq(sent(&d, "set", 0, 0), 0);
	ck_assert_uint_eq(sent(&d, "set", 2, 0), 0);
	ck_assert_uint_eq(sent(&d, "set", 1, 0), SMALL);
	ck_assert_uint_eq(sent(&d, "large", 0, half), SMALL);
	ck_assert_uint_eq(sent(&d, "large", 0, half), 0);
	ck_assert_uint_eq(sent(&d, "set", 1, 0), 0); /* there is room for both */
	ck_assert_uint_eq(sent(&d, "large", 1, half), SMALL);
	ck_assert_uint_eq(sent(&d, "set", 2, 0), SMALL);
	ck_assert_uint_eq(sent(&d, "large", 1, half), 0);
	ck_assert_uint_eq(sent(&d, "large", 0, half), SMALL);
	close_device(&d);
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
	tcase_add_test(tc, old_constants_make_room);
	tcase_set_timeout(tc, 120);
	return run_suite("measure_screening", tc);
}
