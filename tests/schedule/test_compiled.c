/*
 * Random schedules, compiled and run: machine code of whatever steps make computes what the naive Fn
 * does in the interpreter.
 */
#include "equal.h"
#include "steps.h"
#include "code_suite.h"

#include "codegen/codegen.h"
#include "schedule/space.h"

#include <string.h>

static void call(const KernelSet *ks, const Target *target, IrArg *arg, int n, const char *trace)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Module m;
	Mapped *code;
	CodegenOptions o = { .exact = true };
	ck_assert_msg(codegen_compile(a, ks, target, &o, &m, &err), "%s: %s\n%s", err.place, err.text, trace);
	ck_assert_msg(codegen_map(&m, &code, &err), "%s\n%s", err.text, trace);
	ck_assert_msg(codegen_call(ks, &m, code, arg, n, &err), "%s\n%s", err.text, trace);
	codegen_unmap(code);
	arena_free(a);
}

static void random_trace(const Task *task, uint64_t seed)
{
	enum { TRIES = 40 };
	Arena *a = arena_new();
	Err err = { 0 };
	Rng rng = rng_seed(seed);
	Target target;
	Text steps = { .arena = a };
	IrArg x[EQUAL_TENSORS], y[EQUAL_TENSORS];
	target_host(&target, 1);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	KernelSet *ks = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	text_add(&steps, "# seed %llu, %s\n", (unsigned long long)seed, task->label);
	for (int i = 0; i < TRIES; i++) {
		const char *step = random_step(a, ks, &rng);
		Trace *t = trace_parse(a, "step", step, strlen(step), &err);
		ck_assert_msg(t != NULL, "%s: %s", step, err.text);
		if (trace_apply(ks, t, NULL, &target, &err))
			text_add(&steps, "%s", step);
	}
	int n = draw_args(a, naive, INTERP_EXACT, seed, x);
	draw_args(a, naive, INTERP_EXACT, seed, y);
	must_run(naive, x, n, INTERP_EXACT, seed, text_str(&steps));
	call(ks, &target, y, n, text_str(&steps));
	must_agree(naive, x, y, n, INTERP_EXACT, text_str(&steps));
	arena_free(a);
}

START_TEST(compiled_schedules_equal_the_naive_fn)
{
	int count = getenv("DLC_TEST_ALL") != NULL ? 200 : 4;
	Arena *a = arena_new();
	Task *task = task_of(a, step_workloads[_i]);
	for (int k = 0; k < count; k++)
		random_trace(task, (uint64_t)_i * 100000 + 50000 + (uint64_t)k);
	arena_free(a);
}
END_TEST

static const struct {
	int workload;
	const char *trace;
} fixed[] = {
	/* It once gave wrong code: gathers of 35 lanes. */
	{ 0, "cut kw 2\nfuse o h\nskip conv\nvectorize o_h\n" },
	/* Tiles of 8 of 13 pixels that overlap, around the whole convolution; of rows and pixels. */
	{ 0, "split w_1 8 overlap\ncompute_at conv w_1.o\nskip conv\nreorder n o h c kh kw w\n"
	     "decompose_init conv c\nvectorize w.init\nvectorize w\nvectorize w_1.i\n" },
	{ 0, "split w_1 8 overlap\nsplit h_1 3 overlap\nreorder n_1 c_1 h_1.o w_1.o h_1.i w_1.i\n"
	     "compute_at conv w_1.o\nvectorize w_1.i\nunroll h_1.i\n" },
	/* A narrower tile at the end; a reduction with no call behind it. */
	{ 0, "compute_at conv h_1\nsplit w_1 8 peel\nsplit w 8 peel\nvectorize w_1.i\nvectorize w.i\n" },
	{ 3, "split n 8 overlap\nreorder m n.o k n.i\ndecompose_init dense k\nvectorize n.i.init\n"
	     "vectorize n.i\nsplit k 5 peel\n" },
};

START_TEST(fixed_traces_equal_the_naive_fn)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	IrArg x[EQUAL_TENSORS], y[EQUAL_TENSORS];
	target_host(&target, 1);
	Task *task = task_of(a, step_workloads[fixed[_i].workload]);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	Trace *t = trace_parse(a, "found", fixed[_i].trace, strlen(fixed[_i].trace), &err);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, &target, t, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	must_equal(naive, ks, INTERP_MODP, 1, fixed[_i].trace);
	int n = draw_args(a, naive, INTERP_EXACT, 1, x);
	draw_args(a, naive, INTERP_EXACT, 1, y);
	must_run(naive, x, n, INTERP_EXACT, 1, fixed[_i].trace);
	call(ks, &target, y, n, fixed[_i].trace);
	must_agree(naive, x, y, n, INTERP_EXACT, fixed[_i].trace);
	arena_free(a);
}
END_TEST

/* Rows in steps of two, whose lanes are two loads and a shuffle; with and without borders, f64 and f32, odd lanes. */
static const char *const seconds[] = {
	"dag a\nin x: f32[1,5,17,29]\nconst w: f32[5,1,3,3]\ny: f32[1,5,9,15] = conv(x, w) groups=5 strides=[2,2] "
	"pads=[1,1,1,1]\nout y\n",
	"dag b\nin x: f64[1,3,9,71]\nconst w: f64[3,1,2,3]\ny: f64[1,3,4,35] = conv(x, w) groups=3 strides=[2,2]\nout y\n",
	"dag c\nin x: f32[1,2,9,27]\nconst w: f32[2,1,5,5]\ny: f32[1,2,5,14] = conv(x, w) groups=2 strides=[2,2] "
	"pads=[2,2,2,2]\nout y\n",
};

START_TEST(every_second_element_is_read)
{
	for (int bits = 128; bits <= 512; bits *= 2) {
		Arena *a = arena_new();
		Err err = { 0 };
		IrArg x[EQUAL_TENSORS], y[EQUAL_TENSORS];
		Target target;
		Text trace = { .arena = a };
		target_host(&target, 1);
		target.vector_bits = bits < target.vector_bits ? bits : target.vector_bits;
		Task *task = task_of(a, seconds[_i]);
		KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
		Space *space = space_new(a, task, &target, &err);
		Trace *t = space != NULL ? space_trace(space, &space->first, a, &err) : NULL;
		KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, &target, t, &err) : NULL;
		ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
		trace_print(&trace, t);
		ck_assert_msg(strstr(text_str(&trace), "vectorize w") != NULL, "%s", text_str(&trace));
		int n = draw_args(a, naive, INTERP_EXACT, 1, x);
		draw_args(a, naive, INTERP_EXACT, 1, y);
		must_run(naive, x, n, INTERP_EXACT, 1, text_str(&trace));
		call(ks, &target, y, n, text_str(&trace));
		must_agree(naive, x, y, n, INTERP_EXACT, text_str(&trace));
		arena_free(a);
	}
}
END_TEST

/* Tasks of generated nests, and how their default begins. */
static const struct {
	const char *dag, *begins;
} chains[] = {
	{ "dag a\nin x: f32[5,20]\nconst c: f32[] = {0.5}\ne: f32[5,20] = exp(x)\nf: f32[5,20] = add(e, c)\n"
	  "g: f32[5,20] = mul(e, f)\ny: bool[5,20] = less(c, g)\nout y\n",
		"inline exp\ninline add\ninline mul\nfuse m_3 n_3\n" }, /* a diamond */
	{ "dag b\nin x: f32[5,20]\ne: f32[5,20] = exp(x)\ny: f32[5,20] = neg(e)\nz: f32[5,20] = abs(e)\nout y, z\n",
		"fuse m n\n" }, /* two results */
	{ "dag r\nin x: f32[3,5,20]\nin z: f32[3,1,1]\ny: f32[3,5,20] = mul(x, z)\nout y\n",
		"fuse c w\nsplit c_w " }, /* rows of a channel are one run */
	{ "dag s\nin x: f32[3,5,20]\nin z: f32[20]\ny: f32[3,5,20] = mul(x, z)\nout y\n", "fuse n c\n" },
	{ "dag t\nin x: f32[3,5,20]\nin z: f32[3,20,5]\nt: f32[3,5,20] = transpose(z) perm=[0,2,1]\n"
	  "y: f32[3,5,20] = mul(x, t)\nout y\n",
		"inline transpose\nsplit " },
	{ "dag c\nin x: f32[20]\nin z: f32[5,20]\ne: f32[20] = exp(x)\ny: f32[5,20] = mul(e, z)\nout y\n",
		"split i " }, /* each element is read five times */
	{ "dag d\nin x: f32[3,5,20]\nin s: f32[]\nin z: u8[]\nd: f32[3,5,20] = div(x, s)\nr: f32[3,5,20] = round(d)\n"
	  "f: f32[] = cast(z) to=f32\na: f32[3,5,20] = add(r, f)\ny: u8[3,5,20] = cast(a) to=u8\nout y\n",
		"inline div\ninline round\ninline add\nfuse " }, /* beside a scalar */
	{ "dag m\nin x: f32[3,5,32]\nin z: f32[]\nl: f32[] = reduce_min(x) keep=0\n"
	  "y: f32[] = minimum(l, z)\nout y\n",
		"fuse " }, /* all elements of one run */
	{ "dag w\nin x: f32[3,5,32]\nin i: i64[9,2]\nin w: f32[9,2]\n"
	  "y: f32[3,9,32] = resample(x, i, w) axis=1\nout y\n",
		"split w 8\nreorder c w.o k n w.i\nunroll n\nunroll k\nvectorize w.i\n" }, /* rows that look up one place */
};

START_TEST(chains_are_one_nest)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = named_target("cpu:znver5", 1);
	Text trace = { .arena = a };
	target.vector_bits = 256;
	Task *task = task_of(a, chains[_i].dag);
	Space *space = space_new(a, task, &target, &err);
	Trace *t = space != NULL ? space_trace(space, &space->first, a, &err) : NULL;
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, &target, t, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	trace_print(&trace, t);
	ck_assert_msg(strncmp(text_str(&trace), chains[_i].begins, strlen(chains[_i].begins)) == 0, "%s", text_str(&trace));
	must_equal(op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err), ks, INTERP_EXACT, 1, text_str(&trace));
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("compiled");
	tcase_add_loop_test(tc, compiled_schedules_equal_the_naive_fn, 0, step_nworkload);
	tcase_add_loop_test(tc, fixed_traces_equal_the_naive_fn, 0, LEN(fixed));
	tcase_add_loop_test(tc, chains_are_one_nest, 0, LEN(chains));
	tcase_add_loop_test(tc, every_second_element_is_read, 0, LEN(seconds));
	return run_code_suite("compiled", tc);
}
