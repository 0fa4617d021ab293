/*
 * Schedules of templates as CUDA code: defaults and random configs of the operators' Tasks, executed by fibers, give
 * what the naive set gives in the interpreter. Those of layers of networks are assembled for two architectures where
 * CUDA's assembler is installed: every one is accepted, and no default spills registers.
 */
#include "codegen/backend.h"
#include "equal.h"
#include "fibers.h"
#include "steps.h"
#include "suite.h"

#include "ir/text/ir_text.h"
#include "schedule/space.h"

#include <stdlib.h>
#include <string.h>

static const char *const dags[] = {
#include "op/calls.inc"
};

/* Layers, and how many random configs of each are assembled for each of two devices: of a template a dozen in all. */
static const struct {
	const char *dag;
	int configs;
} layers[] = {
	{ "dag c\nin x: f32[1,3,224,224]\nconst w: f32[64,3,3,3]\nconst b: f32[64]\n"
	  "y: f32[1,64,111,111] = conv(x, w, b) strides=[2,2]\nz: f32[1,64,111,111] = relu(y)\nout z\n", 1 },
	{ "dag c\nin x: f32[1,3,224,224]\nconst w: f32[64,3,7,7]\nconst b: f32[64]\n"
	  "y: f32[1,64,112,112] = conv(x, w, b) strides=[2,2] pads=[3,3,3,3]\nout y\n", 1 },
	{ "dag c\nin x: f32[1,64,56,56]\nconst w: f32[64,64,3,3]\nconst b: f32[64]\nin r: f32[1,64,56,56]\n"
	  "y: f32[1,64,56,56] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[1,64,56,56] = add(y, r)\n"
	  "v: f32[1,64,56,56] = relu(z)\nout v\n", 1 },
	{ "dag c\nin x: f32[1,256,14,14]\nconst w: f32[1024,256,1,1]\ny: f32[1,1024,14,14] = conv(x, w)\nout y\n", 1 },
	{ "dag c\nin x: f32[1,512,7,7]\nconst w: f32[512,512,3,3]\ny: f32[1,512,7,7] = conv(x, w) pads=[1,1,1,1]\nout y\n",
		1 },
	{ "dag c\nin x: f32[1,144,56,56]\nconst w: f32[144,1,3,3]\n"
	  "y: f32[1,144,28,28] = conv(x, w) groups=144 strides=[2,2] pads=[1,1,1,1]\nout y\n", 3 },
	{ "dag c\nin x: f32[32,240,28,28]\nconst w: f32[240,1,5,5]\n"
	  "y: f32[32,240,28,28] = conv(x, w) groups=240 pads=[2,2,2,2]\nout y\n", 3 },
	{ "dag c\nin x: f32[1,96,28,28]\nconst w: f32[96,1,3,3]\nconst p: f32[24,96,1,1]\n"
	  "y: f32[1,96,28,28] = conv(x, w) groups=96 pads=[1,1,1,1]\nz: f32[1,96,28,28] = clip(y) lo=0 hi=6\n"
	  "u: f32[1,24,28,28] = conv(z, p)\nout u\n", 6 },
	{ "dag d\nin x: f32[1,512]\nconst w: f32[1000,512]\nconst b: f32[1000]\ny: f32[1,1000] = dense(x, w, b)\nout y\n",
		3 },
	{ "dag d\nin x: f32[128,768]\nconst w: f32[3072,768]\ny: f32[128,3072] = dense(x, w)\nout y\n", 3 },
	{ "dag s\nin x: f32[1536,128]\ny: f32[1536,128] = softmax(x)\nout y\n", 3 },
	{ "dag p\nin x: f32[1,64,112,112]\ny: f32[1,64,56,56] = max_pool(x) kernel=[3,3] strides=[2,2] pads=[1,1,1,1]\n"
	  "out y\n", 3 },
};

static Target device(const char *name)
{
	Err err = { 0 };
	Target t;
	const char *dirs[] = { SOURCE_ROOT "/configs/targets" };
	ck_assert_msg(target_resolve(&t, name, 1, dirs, 1, &err), "%s", err.text);
	return t;
}

static KernelSet *scheduled(Arena *a, const Task *task, const Target *t, Space *s, const Config *c, Text *text)
{
	Err err = { 0 };
	Trace *trace = space_trace(s, c, a, &err);
	ck_assert_msg(trace != NULL, "%s", err.text);
	text_add(text, "# %s on %s\n", task->label, t->model);
	trace_print(text, trace);
	KernelSet *ks = schedule_replay(ir_new(a), task, t, trace, &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text_str(text));
	return ks;
}

static void runs(const Task *task, const Target *t, Space *s, const Config *c, const Want *want, uint64_t seed)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Text text = { .arena = a };
	IrArg got[EQUAL_TENSORS];
	KernelSet *ks = scheduled(a, task, t, s, c, &text);
	draw_args(a, want->naive, want->domain, want->seed, got);
	ck_assert_msg(fibers_call(ks, t, NULL, got, want->n, seed, &err), "%s: %s\n%s", err.place, err.text,
		text_str(&text));
	must_agree(want->naive, want->arg, got, want->n, want->domain, text_str(&text));
	arena_free(a);
}

enum { PARTS = 4 };

START_TEST(configs_run)
{
	Target t = device(_i % 2 == 0 ? "h200" : "k80");
	for (int k = _i; k < LEN(dags) + step_nworkload; k += PARTS) {
		Arena *a = arena_new();
		Err err = { 0 };
		Task *task = task_of(a, k < LEN(dags) ? dags[k] : step_workloads[k - LEN(dags)]);
		Want want = want_run(a, op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL), INTERP_EXACT, 1);
		Space *s = space_new(a, task, &t, &err);
		ck_assert_msg(s != NULL, "%s", err.text);
		Rng rng = rng_seed((uint64_t)k);
		runs(task, &t, s, &s->first, &want, (uint64_t)k);
		for (int j = 0; j < suite_count(k / PARTS % 2, 1, 10); j++) { /* a quick run draws for every second one */
			Config c = space_sample(s, &rng);
			runs(task, &t, s, &c, &want, (uint64_t)(100 * k + j));
		}
		arena_free(a);
	}
}
END_TEST

/* Tiles of filters and pixels, of rows and columns, with a border and in stages where there are; F(2,3) and F(4,3). */
START_TEST(forms_run)
{
	Target t = device(_i % 2 == 0 ? "h200" : "k80");
	Arena *a = arena_new();
	Err err = { 0 };
	Task *task = task_of(a, "dag c\nin x: f32[2,16,9,9]\nconst w: f32[24,16,3,3]\nconst b: f32[24]\n"
		"y: f32[2,24,9,9] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[2,24,9,9] = relu(y)\nout z\n");
	Want want = want_run(a, op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL), INTERP_EXACT, 1);
	Space *s = space_new(a, task, &t, &err);
	ck_assert_msg(s != NULL, "%s", err.text);
	ck_assert_str_eq(space_knob(s, &s->first, 0)->name, "algorithm");
	ck_assert_int_eq(space_knob(s, &s->first, 0)->n, 3);
	for (int form = 0; form < 3; form++) {
		Config c = space_move(s, &s->first, 0, form);
		runs(task, &t, s, &c, &want, (uint64_t)_i);
		if (form > 0)
			continue;
		c = space_move(s, &c, 1, 0);
		ck_assert_str_eq(space_knob(s, &c, 1)->option[0].word, "direct");
		runs(task, &t, s, &c, &want, (uint64_t)_i);
	}
	arena_free(a);
}
END_TEST

/* The spills of all kernels that a device gets: prepare Fns run on the host. -1: there is no assembler. */
static int64_t spills(Arena *a, const Target *t, const KernelSet *ks, const char *text)
{
	Module m;
	Err err = { 0 };
	CodegenOptions o = { .resources = true };
	int64_t all = 0;
	bool made = codegen_compile(a, ir_set_of_kind(a, ks, FN_RUN), t, &o, &m, &err);
	ck_assert_msg(made, "%s: %s\n%s", err.place, err.text, text);
	for (uint32_t k = 0; k < m.image.nentry; k++)
		all += m.report[k].spills;
	return m.report[0].registers > 0 ? all : -1;
}

START_TEST(layers_assemble)
{
	Target t = device(_i % 2 == 0 ? "t4" : "h200");
	Arena *a = arena_new();
	Err err = { 0 };
	Task *task = task_of(a, layers[_i / 2].dag);
	Space *s = space_new(a, task, &t, &err);
	ck_assert_msg(s != NULL, "%s", err.text);
	Text text = { .arena = a };
	int64_t n = spills(a, &t, scheduled(a, task, &t, s, &s->first, &text), text_str(&text));
	ck_assert_msg(n <= 0, "%lld spills\n%s", (long long)n, text_str(&text));
	if (n < 0)
		suite_skip("CUDA's assembler", "libnvJitLink.so is not installed");
	Rng rng = rng_seed((uint64_t)_i);
	for (int k = 0; k < suite_count(layers[_i / 2].configs, 0, 100); k++) {
		Text other = { .arena = a };
		Config c = space_sample(s, &rng);
		spills(a, &t, scheduled(a, task, &t, s, &c, &other), text_str(&other));
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("templates");
	tcase_add_loop_test(tc, configs_run, 0, PARTS);
	tcase_add_loop_test(tc, forms_run, 0, 2);
	tcase_add_loop_test(tc, layers_assemble, 0, 2 * LEN(layers));
	return run_suite("codegen-cuda-templates", tc);
}
