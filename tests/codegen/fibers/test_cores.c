/*
 * Schedules that multiply in the matrix units of a GPU: for each instruction, a dense layer, a batched product and
 * convolutions, whose extents no tile divides. The interpreter runs the schedule's set, fibers run its CUDA code.
 */
#include "codegen/backend.h"
#include "equal.h"
#include "fibers.h"
#include "suite.h"

#include "ir/text/ir_text.h"
#include "schedule/space.h"

#include <stdlib.h>
#include <string.h>

/* @T: the type, @D: the depth of the instruction, @I: its name, @S: twice the depth. */
#define DENSE "dag dense\nin x: @T[40,40]\nconst w: @T[20,40]\n" \
	"y: @T[40,20] = dense(x, w)\nz: @T[40,20] = relu(y)\nout z\n"
#define MATMUL "dag matmul\nin x: @T[2,40,40]\nin w: @T[2,40,20]\n" \
	"y: @T[2,40,20] = matmul(x, w)\nz: @T[2,40,20] = relu(y)\nout z\n"
/* Convolutions: 1x1 of rows that are copied as they lie, with a residual; a window with a border; all that moves it. */
#define POINTS "dag points\nin x: @T[1,32,8,8]\nin r: @T[1,24,8,8]\nconst w: @T[24,32,1,1]\nconst b: @T[24]\n" \
	"y: @T[1,24,8,8] = conv(x, w, b)\nz: @T[1,24,8,8] = add(y, r)\nv: @T[1,24,8,8] = relu(z)\nout v\n"
#define WINDOW "dag window\nin x: @T[2,16,5,7]\nconst w: @T[20,16,3,3]\n" \
	"y: @T[2,20,5,7] = conv(x, w) pads=[1,1,1,1]\nz: @T[2,20,5,7] = relu(y)\nout z\n"
#define STRIDED "dag strided\nin x: @T[1,3,15,13]\nconst w: @T[16,3,3,3]\n" \
	"y: @T[1,16,8,6] = conv(x, w) pads=[1,1,1,1] strides=[2,2] dilations=[1,2]\nout y\n"
#define DENSE_FIRST "split m_1 32 as gm tm\nsplit n_1 16 as gn tn\nreorder gm gn tm tn\nwiden dense m 32\n" \
	"widen dense n 16\nwiden dense k @S\npad v0 dense as af\npad c0 dense as bf\npad v0 af as xs\n" \
	"pad c0 bf as ws\ncompute_at dense gn\n"
#define MATMUL_FIRST "split c 32 as gm tm\nsplit w 16 as gn tn\nreorder n_1 gm gn tm tn\nwiden matmul m 32\n" \
	"widen matmul n 16\nwiden matmul k @S\npad v0 matmul as af\npad v1 matmul as bf\npad v0 af as xs\n" \
	"pad v1 bf as ws\ncompute_at matmul gn\n"
#define TILES "split m 16\nsplit n 8\nsplit k @S\nsplit k.i @D\nreorder k.o m.o n.o k.i.o m.i n.i k.i.i\n" \
	"compute_at af k.i.o\ncompute_at bf k.i.o\ncompute_at xs k.o\ncompute_at ws k.o\n"
#define DENSE_COPIES "decompose_init dense k.o\nfuse xs.0 xs.1 as xf\nfuse ws.0 ws.1 as wf\n" \
	"bind gm grid.y\nbind gn grid.x\nscope v1 shared\n"
#define MATMUL_COPIES "decompose_init matmul k.o\nfuse xs.1 xs.2 as xf\nfuse ws.1 ws.2 as wf\n" \
	"bind n_1 grid.z\nbind gm grid.y\nbind gn grid.x\nscope v2 shared\n"
#define WARPS "split tm 16\nsplit tn 8\nreorder tm.o tn.o tm.i tn.i\nsplit xf 128\nsplit xf.i 32\nsplit wf 128\n" \
	"split wf.i 32\nscope xs shared\nscope ws shared\nbind m.o.init block.z\nbind n.o.init block.y\n" \
	"bind m.o block.z\nbind n.o block.y\nbind tm.o block.z\nbind tn.o block.y\nbind xf.i.o block.y\n" \
	"bind xf.i.i block.x\nbind wf.i.o block.y\nbind wf.i.i block.x\nscope af fragment\nscope bf fragment\n"

static const struct {
	const char *dag, *steps;
} products[] = {
	{ DENSE, DENSE_FIRST TILES DENSE_COPIES WARPS "scope v1 fragment\ntensorize m.i @I_nt\nunroll k.i.o\n" },
	{ DENSE, DENSE_FIRST TILES DENSE_COPIES WARPS
		"scope v1 fragment\ngap xs 2 4\ngap ws 2 4\npipeline k.o 2\ntensorize m.i @I_nt\n" },
	{ MATMUL, MATMUL_FIRST TILES MATMUL_COPIES WARPS "scope v2 fragment\ntensorize m.i @I\nunroll k.i.o\n" },
};

static const struct Row {
	const char *intrin, *type, *target;
	int depth;
} rows[] = {
	{ "mma_m16n8k8_f16", "f16", "t4", 8 },
	{ "mma_m16n8k16_f16", "f16", "a100", 16 },
	{ "mma_m16n8k16_bf16", "bf16", "h200", 16 },
	{ "mma_m16n8k8_tf32", "f32", "a100", 8 },
};

enum { TYPES = 3 /* rows whose type alone says that the instruction may be taken */ };

static Target device(const char *name)
{
	Err err = { 0 };
	Target t;
	const char *dirs[] = { SOURCE_ROOT "/configs/targets" };
	ck_assert_msg(target_resolve(&t, name, 1, dirs, 1, &err), "%s", err.text);
	return t;
}

static char *fill(Arena *a, const char *text, const struct Row *r)
{
	Text out = { .arena = a };
	for (const char *p = text; *p != 0; p++)
		if (*p != '@')
			text_put(&out, p, 1);
		else if (*++p == 'T' || *p == 'I')
			text_add(&out, "%s", *p == 'T' ? r->type : r->intrin);
		else
			text_add(&out, "%d", *p == 'S' ? 2 * r->depth : r->depth);
	return arena_printf(a, "%s", text_str(&out));
}

START_TEST(schedules)
{
	const struct Row *r = &rows[_i % LEN(rows)];
	Arena *a = arena_new();
	Err err = { 0 };
	Target t = device(r->target);
	Task *task = task_of(a, fill(a, products[_i / LEN(rows)].dag, r));
	const char *steps = fill(a, products[_i / LEN(rows)].steps, r);
	Trace *trace = trace_parse(a, "trace", steps, strlen(steps), &err);
	KernelSet *ks = trace != NULL ? schedule_replay(ir_new(a), task, &t, trace, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, steps);
	Module m;
	CodegenOptions o = { .no_image = false };
	ck_assert_msg(codegen_compile(a, ks, &t, &o, &m, &err), "%s: %s\n%s", err.place, err.text, steps);
	ck_assert_msg(strstr((const char *)m.image.bytes, "mma.sync") != NULL, "no mma.sync\n%s", steps);
	Want want = want_run(a, op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL), INTERP_EXACT, 1);
	IrArg got[EQUAL_TENSORS];
	must_give(&want, ks, 2, steps);
	draw_args(a, want.naive, want.domain, want.seed, got);
	ck_assert_msg(fibers_call(ks, &t, NULL, got, want.n, 3, &err), "%s: %s\n%s", err.place, err.text, steps);
	must_agree(want.naive, want.arg, got, want.n, want.domain, steps);
	arena_free(a);
}
END_TEST

/* A split reduction. Nothing follows that of `bare`. */
#define BARE "dag bare\nin x: @T[1,64,7,6]\nconst w: @T[24,64,3,3]\nconst b: @T[24]\n" \
	"y: @T[1,24,5,4] = conv(x, w, b)\nout y\n"
#define DEEP "dag deep\nin x: @T[1,64,4,5]\nin r: @T[1,24,4,5]\nconst w: @T[24,64,3,3]\n" \
	"y: @T[1,24,4,5] = conv(x, w) pads=[1,1,1,1]\nz: @T[1,24,4,5] = add(y, r)\nout z\n"
/* A split product of rows. */
#define LONG "dag long\nin x: @T[21,512]\nconst w: @T[20,512]\ny: @T[21,20] = dense(x, w)\n" \
	"z: @T[21,20] = relu(y)\nout z\n"
/* The same in NHWC. The channels of the last one fill no round. */
#define POINTS_LAST "dag points\nin x: @T[1,32,8,8]:NHWC\nin r: @T[1,24,8,8]:NHWC\nconst w: @T[24,32,1,1]\n" \
	"const b: @T[24]\ny: @T[1,24,8,8] = conv(x, w, b)\nz: @T[1,24,8,8] = add(y, r)\n" \
	"v: @T[1,24,8,8]:NHWC = relu(z)\nout v\n"
#define WINDOW_LAST "dag window\nin x: @T[2,16,5,7]:NHWC\nconst w: @T[20,16,3,3]\n" \
	"y: @T[2,20,5,7] = conv(x, w) pads=[1,1,1,1]\nz: @T[2,20,5,7]:NHWC = relu(y)\nout z\n"
#define DEEP_LAST "dag deep\nin x: @T[1,64,4,5]:NHWC\nin r: @T[1,24,4,5]:NHWC\nconst w: @T[24,64,3,3]\n" \
	"y: @T[1,24,4,5] = conv(x, w) pads=[1,1,1,1]\nz: @T[1,24,4,5]:NHWC = add(y, r)\nout z\n"
#define STRIDED_LAST "dag strided\nin x: @T[1,12,15,13]:NHWC\nconst w: @T[16,12,3,3]\n" \
	"y: @T[1,16,8,6] = conv(x, w) pads=[1,1,1,1] strides=[2,2] dilations=[1,2]\nout y\n"
static const struct {
	const char *dag, *step; /* that the default has */
} workloads[] = {
	{ DENSE, "ldmatrix" },
	{ MATMUL, "ldmatrix" },
	{ POINTS, "ldmatrix" },
	{ WINDOW, "ldmatrix" },
	{ STRIDED, "ldmatrix" },
	{ DEEP, "last part.w" },
	{ BARE, "last part.w" },
	{ LONG, "last part.w" },
	{ POINTS_LAST, "vectorize xs.f.v" },
	{ WINDOW_LAST, "vectorize xs.f.v" },
	{ DEEP_LAST, "last part.w" },
	{ STRIDED_LAST, "ldmatrix" },
};

/* The template: its default takes the instruction, and some random configs compute the same. */
START_TEST(configs)
{
	const struct Row *r = &rows[_i % TYPES];
	Arena *a = arena_new();
	Err err = { 0 };
	Target t = device(r->target);
	Task *task = task_of(a, fill(a, workloads[_i / TYPES].dag, r));
	Space *s = space_new(a, task, &t, &err);
	ck_assert_msg(s != NULL, "%s", err.text);
	Want want = want_run(a, op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL), INTERP_EXACT, 1);
	Rng rng = rng_seed((uint64_t)_i);
	for (int k = 0; k < suite_count(2, 2, 40); k++) {
		Config c = k == 0 ? s->first : space_sample(s, &rng);
		Text text = { .arena = a };
		Trace *trace = space_trace(s, &c, a, &err);
		ck_assert_msg(trace != NULL, "%s", err.text);
		trace_print(&text, trace);
		KernelSet *ks = schedule_replay(ir_new(a), task, &t, trace, &err);
		ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text_str(&text));
		ck_assert_msg(k > 0 || strstr(text_str(&text), " mma_") != NULL, "%s", text_str(&text));
		ck_assert_msg(k > 0 || strstr(text_str(&text), workloads[_i / TYPES].step) != NULL, "%s", text_str(&text));
		IrArg got[EQUAL_TENSORS];
		if (k == 0)
			must_give(&want, ks, 2, text_str(&text));
		draw_args(a, want.naive, want.domain, want.seed, got);
		ck_assert_msg(fibers_call(ks, &t, NULL, got, want.n, 3, &err), "%s: %s\n%s", err.place, err.text,
			text_str(&text));
		must_agree(want.naive, want.arg, got, want.n, want.domain, text_str(&text));
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cores");
	tcase_add_loop_test(tc, schedules, 0, LEN(products) * LEN(rows));
	tcase_add_loop_test(tc, configs, 0, LEN(workloads) * TYPES);
	return run_suite("codegen-cuda-cores", tc);
}
