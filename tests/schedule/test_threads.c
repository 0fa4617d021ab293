/*
 * Loops bound to the blocks of a launch and the threads of a block: random traces with bind and scope equal the naive
 * Fn in any order of blocks and threads, and the interpreter finds what a trace must not make: a barrier too few, an
 * axis bound twice, a buffer in the wrong scope.
 */
#include "equal.h"
#include "steps.h"
#include "suite.h"

#include "ir/arg.h"
#include "ir/text/ir_text.h"
#include "ir/threads/form.h"
#include "ir/verify/verify.h"
#include "ir/walk.h"
#include "schedule/place.h"
#include "schedule/space.h"

#include <string.h>
#include <sys/mman.h>

static Target gpu(void)
{
	return (Target){ .kind = TARGET_CUDA, .model = "any", .threads = 1, .vector_bits = 128, .vector_regs = 64 };
}

/* ---- random traces ---- */

/* Of each workload: 1000 of all without sanitizers. */
static int traces(void)
{
	int each = 1000 / step_nworkload + 1;
	return suite_count(each, each / 6, 10 * each);
}

/* What all traces have made, in memory that the tests' processes share. */
static struct {
	int threads, barriers, shared, staged;
	int spread; /* local buffers of which each thread has a part */
	int gaps, swizzles; /* of shared buffers */
	int slots; /* shared buffers of which several elements lie in one place */
} *made;

/* Elements of one place, found by visiting all; whether such elements have different first indices. */
static void check_places(const Buf *b)
{
	int64_t shape[IR_MAX_RANK], idx[IR_MAX_RANK] = { 0 }, elements, places = ir_buf_elements(b, NULL, 0);
	ck_assert(ir_eval_extents(b->shape, b->rank, NULL, 0, shape, &elements) && places >= 0);
	int64_t *first = malloc(((size_t)places + 1) * sizeof *first); /* index, plus one, of the place's last element */
	bool folds = false, apart = true;
	memset(first, 0, ((size_t)places + 1) * sizeof *first);
	for (int64_t e = 0; e < elements; e++) {
		int64_t rest = e, at;
		for (int d = b->rank - 1; d >= 0; d--) {
			idx[d] = rest % shape[d];
			rest /= shape[d];
		}
		at = ir_buf_offset(b, idx);
		ck_assert(at >= 0 && at < places);
		folds = folds || first[at] != 0;
		apart = apart && first[at] != idx[0] + 1; /* elements of one first index follow each other */
		first[at] = idx[0] + 1;
	}
	free(first);
	ck_assert_msg(place_folds(b) == folds && (!place_slots(b) || apart), "%s: folds %d, slots %d", b->name,
		place_folds(b), place_slots(b));
	made->slots += folds;
}

static bool count(Stmt *s, void *arg)
{
	(void)arg;
	made->threads += ir_axis_of(s, NULL) == AXIS_BLOCK;
	made->barriers += s->kind == ST_BARRIER;
	made->shared += s->kind == ST_ALLOC && strcmp(s->alloc->scope, "shared") == 0;
	made->staged += s->kind == ST_FOR && s->loop.kind == LOOP_PIPELINED;
	bool mapped = s->kind == ST_ALLOC && strcmp(s->alloc->scope, "shared") == 0 && s->alloc->map.n > 0, xor = false;
	if (mapped)
		check_places(s->alloc);
	for (int k = 0; mapped && k < s->alloc->map.n; k++)
		xor = xor || s->alloc->map.at[k]->op == IR_XOR;
	made->swizzles += xor;
	made->gaps += mapped && !xor;
	made->spread += s->kind == ST_ALLOC && strcmp(s->alloc->scope, "local") == 0 && s->alloc->map.n > 0;
	return true;
}

static void bound_trace(const Task *task, uint64_t seed, const Want *want)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = gpu();
	Text steps = { .arena = a };
	text_add(&steps, "# seed %llu, %s\n", (unsigned long long)seed, task->label);
	KernelSet *ks = random_bound_trace(a, task, &target, seed, &steps);
	ir_each_stmt(ks->fn[0]->body, count, NULL);
	must_give(want, ks, seed, arena_printf(a, "%s%s", text_str(&steps), ir_set_str(a, ks)));
	Trace *all = trace_parse(a, "all", text_str(&steps), steps.n, &err);
	KernelSet *again = all != NULL ? schedule_replay(ir_new(a), task, &target, all, &err) : NULL;
	ck_assert_msg(again != NULL, "%s: %s\n%s", err.place, err.text, text_str(&steps));
	ck_assert_str_eq(ir_set_str(a, ks), ir_set_str(a, again));
	arena_free(a);
}

START_TEST(random_bound_traces_equal_the_naive_fn)
{
	Arena *a = arena_new();
	Task *task = task_of(a, step_workloads[_i]);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	Want want[] = { want_of(a, naive, INTERP_EXACT, 1), want_of(a, naive, INTERP_MODP, 2) };
	for (int k = 0; k < traces(); k++)
		bound_trace(task, (uint64_t)_i * 100000 + (uint64_t)k, &want[k % 4 != 0]);
	arena_free(a);
}
END_TEST

/* After them: the traces are worth something. */
START_TEST(random_traces_have_threads_and_barriers)
{
	ck_assert_int_gt(made->threads, step_nworkload * traces() / 2);
	ck_assert_int_gt(made->barriers, step_nworkload);
	ck_assert_int_gt(made->shared, step_nworkload);
	ck_assert_int_gt(made->spread, 0);
	ck_assert_int_gt(made->gaps, 0);
	ck_assert_int_gt(made->swizzles, 0);
	ck_assert_int_gt(made->staged, 0);
	ck_assert_int_gt(made->slots, 0);
}
END_TEST

/* ---- tiled loops ---- */

/* Sums in registers over shared tiles that all threads load, in vectors; rows that a block reduces; a sum that blocks
   share, added up by a second launch. */
static const struct {
	const char *dag, *trace;
} tiled[] = {
	{
		"dag gemm\nin x: f32[24,32]\nconst w: f32[20,32]\ny: f32[24,20] = dense(x, w)\n"
		"z: f32[24,20] = relu(y)\nout z\n",
		"split m_1 8\nsplit n_1 8\nreorder m_1.o n_1.o m_1.i n_1.i\ncompute_at dense n_1.o\nsplit m 2\n"
		"split n 2\nsplit k 4\nreorder k.o m.o n.o k.i m.i n.i\nfuse m.o n.o as t\ncache_read v0 dense k.o\n"
		"fuse v0.c.0 v0.c.1 as a\nsplit a 2\ncache_read c0 dense k.o\nfuse c0.c.0 c0.c.1 as b\nsplit b 2\n"
		"decompose_init dense k.o\nsplit m_1.i 2\nsplit n_1.i 2\nreorder m_1.i.o n_1.i.o m_1.i.i n_1.i.i\n"
		"fuse m_1.i.o n_1.i.o as s\nbind m_1.o grid.y\nbind n_1.o grid.x\nscope v1 shared\n"
		"scope v0.c shared\nscope c0.c shared\nbind t.init block.x\nbind t block.x\nbind s block.x\n"
		"bind a.o block.x\nbind b.o block.x\nscope v1 local\nvectorize a.i\nunroll m.i\nunroll n.i\n" },
	{
		"dag conv\nin x: f32[1,4,8,8]\nconst w: f32[8,4,3,3]\nconst b: f32[8]\n"
		"y: f32[1,8,8,8] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[1,8,8,8] = relu(y)\nout z\n",
		"split c_1 4\nsplit h_1 4\nsplit w_1 4\nreorder n_1 c_1.o h_1.o w_1.o c_1.i h_1.i w_1.i\n"
		"compute_at conv w_1.o\nsplit o 2\nsplit c 2\nreorder c.o n o.o h w c.i kh kw o.i\nfuse o.o h as t0\n"
		"fuse t0 w as t\ncache_read v0 conv c.o\nfuse v0.c.2 v0.c.3 as a0\nfuse v0.c.1 a0 as a\nsplit a 32\n"
		"cache_read c0 conv c.o\nfuse c0.c.2 c0.c.3 as b0\nfuse c0.c.1 b0 as b1\nfuse c0.c.0 b1 as b\n"
		"split b 8\nsplit b.i 4\ndecompose_init conv c.o\nsplit c_1.i 2\n"
		"reorder c_1.i.o h_1.i w_1.i c_1.i.i\nfuse c_1.i.o h_1.i as s0\nfuse s0 w_1.i as s\nbind n_1 grid.z\n"
		"bind c_1.o grid.y\nfuse h_1.o w_1.o as g\nbind g grid.x\nscope v1 shared\nscope v0.c shared\n"
		"scope c0.c shared\nbind t.init block.x\nbind t block.x\nbind s block.x\nbind a.i block.x\n"
		"bind b.o block.x\nscope v1 local\nvectorize b.i.i\nunroll kw\n" },
	{
		"dag rows\nin x: f32[4,32]\ny: f32[4,32] = softmax(x)\nout y\n",
		"compute_at softmax.inverse m_4\ncompute_at softmax.sum m_4\ncompute_at softmax.exp m_4\n"
		"compute_at softmax.max m_4\nsplit n 8\n"
		"split n_2 8\nrfactor softmax.max n.i\nrfactor softmax.sum n_2.i\nbind m_4 grid.x\n"
		"scope v1.inverse shared\nscope v1.exp shared\nscope v1.max shared\n"
		"scope v1.sum shared\nscope softmax.max.rf shared\n"
		"scope softmax.sum.rf shared\nbind n_1 block.x\nbind n_3 block.x\nbind n.i block.x\n"
		"bind n_2.i block.x\n" },
	{
		"dag gemm\nin x: f32[24,32]\nconst w: f32[20,32]\ny: f32[24,20] = dense(x, w)\n"
		"z: f32[24,20] = relu(y)\nout z\n",
		"split m_1 8\nsplit n_1 8\nreorder m_1.o n_1.o m_1.i n_1.i\ncompute_at dense n_1.o\nsplit m 2\n"
		"split n 2\nsplit k 4\nreorder k.o m.o n.o k.i m.i n.i\nfuse m.o n.o as t\ncache_read v0 dense k.o\n"
		"fuse v0.c.0 v0.c.1 as a\nsplit a 2\ncache_read c0 dense k.o\nfuse c0.c.0 c0.c.1 as b\nsplit b 2\n"
		"decompose_init dense k.o\nsplit m_1.i 2\nsplit n_1.i 2\nreorder m_1.i.o n_1.i.o m_1.i.i n_1.i.i\n"
		"fuse m_1.i.o n_1.i.o as s\nbind m_1.o grid.y\nbind n_1.o grid.x\nscope v1 shared\n"
		"scope v0.c shared\nscope c0.c shared\nbind t.init block.x\nbind t block.x\nbind s block.x\n"
		"bind a.o block.x\nbind b.o block.x\nscope v1 local\nvectorize a.i\nunroll m.i\nunroll n.i\n"
		"pipeline k.o 3\n" },
	{
		"dag long\nin x: f32[4,96]\nconst w: f32[6,96]\ny: f32[4,6] = dense(x, w)\nz: f32[4,6] = relu(y)\nout z\n",
		"split k 32\nreorder k.o m n k.i\nsplit k.i 8\nrfactor dense k.o\nscope dense.rf global\n"
		"compute_at dense n_1 as m_2 n_2 p\nbind k.o grid.y\nbind m grid.x\nbind n block.x\nbind m_1 grid.x\n"
		"bind n_1 block.x\nunroll k.i.i\n" },
};
enum { GEMM, CONV, ROWS, STAGES };

static KernelSet *tiled_set(Arena *a, int k, Task **task)
{
	Err err = { 0 };
	Target target = gpu();
	*task = task_of(a, tiled[k].dag);
	Trace *t = trace_parse(a, "tiled", tiled[k].trace, strlen(tiled[k].trace), &err);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), *task, &target, t, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	return ks;
}

START_TEST(tiles_in_shared_memory_equal_the_naive_fn)
{
	Arena *a = arena_new();
	Task *task;
	KernelSet *ks = tiled_set(a, _i, &task), *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	for (uint64_t seed = 0; seed < 4; seed++)
		must_equal(naive, ks, seed % 2 == 0 ? INTERP_MODP : INTERP_EXACT, seed, tiled[_i].trace);
	arena_free(a);
}
END_TEST

/* Sums pass through shared memory on their way to registers: what counts is what is left at the end. */
START_TEST(shared_memory_is_bounded_by_the_target)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = gpu();
	Task *task = task_of(a, tiled[GEMM].dag);
	Trace *t = trace_parse(a, "tiled", tiled[GEMM].trace, strlen(tiled[GEMM].trace), &err);
	target.nscope = 1;
	target.scope[0] = (Scope){ "shared", 2 * 8 * 4 * 4 - _i };
	KernelSet *ks = schedule_replay(ir_new(a), task, &target, t, &err);
	ck_assert_msg((ks != NULL) == (_i == 0), "%s", err.text);
	if (_i > 0) {
		ck_assert_int_eq(err.code, ERR_ILLEGAL);
		ck_assert_str_eq(err.text, "a block would have 256 bytes of shared memory; the target has 255");
	}
	arena_free(a);
}
END_TEST

/* What no trace makes: one change of a set's text, or two, and what is said of it. */
static const struct {
	int of;
	const char *from[2], *to[2], *says;
} planted[] = {
	/* a barrier too few: before a tile is read, and before it is loaded again */
	{ GEMM, { "\t\t\t\tbarrier block\n\t\t\t\tfor t in" }, { "\t\t\t\tfor t in" }, "0.c[" },
	{ GEMM, { "\t\t\t\tbarrier block\n\t\t\t\tfor a.o in" }, { "\t\t\t\tfor a.o in" }, "0.c[" },
	{ CONV, { "barrier block\n\t\t\t\t\tfor n in" }, { "for n in" }, "0.c[" },
	{ CONV, { "barrier block\n\t\t\t\t\tfor v0.c.0 in" }, { "for v0.c.0 in" }, "0.c[" },
	{ ROWS, { "barrier block\n\t\t\tfor n.i.rf in" }, { "for n.i.rf in" }, "softmax.max.rf[" },
	{ ROWS, { "barrier block\n\t\tfor m_1 in" }, { "for m_1 in" }, "v1.max[" },
	{ ROWS, { "barrier block\n\t\tfor n_3 in" }, { "for n_3 in" }, "v1.inverse[" },
	/* a map that stores two columns in one place */
	{ GEMM, { "v0.c: f32[8, 4] @shared" },
		{ "v0.c: f32[8, 4] @shared map (i, j) -> [i : 8, j * 2 % 4 : 4]" }, "v0.c[" },
	/* one of too small a scope */
	{ GEMM, { "barrier block\n\t\t\t\tfor t in" }, { "barrier warp\n\t\t\t\tfor t in" }, "0.c[" },
	/* barriers that not all threads reach */
	{ GEMM, { "for k.i in 0..4 {\n" }, { "for k.i in 0..4 {\nif t < 3 { barrier block }\n" }, "barrier block" },
	{ CONV, { "for b.i.o in 0..2 {\n" }, { "barrier block for b.i.o in 0..2 {\n" }, "barrier block" },
	{ GEMM, { "for k.i in 0..4 {\n" }, { "for k.i in 0..1 + t % 4 { barrier block\n" }, "barrier block" },
	/* an axis bound twice, and another axis than the nest that hands on */
	{ GEMM, { "for k.i in 0..4 {" }, { "for k.i in 0..4 bound(block.x) {" }, "bound to block.x" },
	{ GEMM, { "for s in 0..16 bound(block.x)" }, { "for s in 0..16 bound(block.y)" }, "v1[" },
	{ ROWS, { "for n_1 in 0..32 bound(block.x)" }, { "for n_1 in 0..32 bound(grid.y)" }, "grid.y" },
	{ GEMM, { "for k.o in 0..8 {" }, { "for k.o in 0..8 bound(grid.z) {" }, "v1[" },
	/* scopes: sums that all threads share, a tile that each has for itself, a tile of all blocks */
	{ GEMM, { "v1: f32[8, 8] @local" }, { "v1: f32[8, 8] @shared" }, "v1[" },
	{ CONV, { "c0.c: f32[4, 2, 3, 3] @shared" }, { "c0.c: f32[4, 2, 3, 3] @local" }, "c0.c[" },
	{ ROWS, { "\tfor m_4", "\t\talloc v1.exp: f32[1, 32] @shared\n" }, { "\talloc v1.exp: f32[1, 32]\n\tfor m_4", "" },
		"v1.exp[" },
	/* a store by all threads, a load of what another thread has for itself, a thread too few */
	{ GEMM, { "v2[vm_1, vn_1] =" }, { "v2[0, 0] =" }, "v2[0, 0]" },
	{ GEMM, { "max(v1[vm_1 - m_1.o * 8," }, { "max(v1[7 - (vm_1 - m_1.o * 8)," }, "v1[" },
	{ CONV, { "for t.init in 0..32" }, { "for t.init in 0..31" }, "v1[" },
	{ GEMM, { "for a.o in 0..16" }, { "for a.o in 0..15" }, "v0.c[" },
	/* stages: copies that nobody waits for, a slot too few, a barrier too few, a round too early */
	{ STAGES, { "wait 1" }, { "wait 2" }, "0.c[" },
	{ STAGES, { "slot % 3 : 3" }, { "slot % 2 : 2" }, "0.c[" },
	{ STAGES, { "\t\t\t\tbarrier block\n" }, { "" }, "0.c[" },
	{ STAGES, { "c0.c[k.o, " }, { "c0.c[k.o + 1, " }, "c0.c[" },
	/* copies under way: never waited for, and seen by the thread that waits alone */
	{ GEMM, { "\t\t\t\t\t\t\tc0.c[vc0.c.0 - n_1.o * 8, vc0.c.1 - k.o * 4] = c0[vc0.c.0, vc0.c.1]\n" },
		{ "async { c0.c[vc0.c.0 - n_1.o * 8, vc0.c.1 - k.o * 4] = c0[vc0.c.0, vc0.c.1] }\n" }, "c0.c[" },
	{ GEMM, { "c0.c[vc0.c.0 - n_1.o * 8, vc0.c.1 - k.o * 4] = c0[vc0.c.0, vc0.c.1]\n",
		"barrier block\n\t\t\t\tfor t in" },
		{ "async { c0.c[vc0.c.0 - n_1.o * 8, vc0.c.1 - k.o * 4] = c0[vc0.c.0, vc0.c.1] }\n",
		"barrier block commit wait 0\n\t\t\t\tfor t in" }, "c0.c[" },
};

static const char *replaced(Arena *a, const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	ck_assert_msg(at != NULL, "there is no\n%s\nin\n%s", from, text);
	return arena_printf(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

START_TEST(planted_faults_are_found)
{
	Arena *a = arena_new();
	Task *task;
	const char *text = ir_set_str(a, tiled_set(a, planted[_i].of, &task));
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	for (int k = 0; k < 2 && planted[_i].from[k] != NULL; k++)
		text = replaced(a, text, planted[_i].from[k], planted[_i].to[k]);
	for (uint64_t seed = 0; seed < 3; seed++) {
		Err err = { 0 };
		IrArg arg[EQUAL_TENSORS];
		KernelSet *ks = ir_parse_set(ir_new(a), "planted", text, strlen(text), &err);
		ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text);
		int n = draw_args(a, naive, INTERP_MODP, seed, arg);
		ck_assert_msg(!interp_run_set(ks, arg, n, &(InterpRun){ .seed = seed, .domain = INTERP_MODP }, &err),
			"nothing is found:\n%s", text);
		ck_assert_msg(err.code == ERR_RACE || err.code == ERR_INPUT, "%s", err.text);
		ck_assert_msg(strstr(err.text, planted[_i].says) != NULL && err.place[0] == 'k', "%s: %s\n%s",
			err.place, err.text, text);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return 1;
	TCase *tc = tcase_create("threads");
	tcase_add_loop_test(tc, random_bound_traces_equal_the_naive_fn, 0, step_nworkload);
	tcase_add_test(tc, random_traces_have_threads_and_barriers);
	tcase_add_loop_test(tc, tiles_in_shared_memory_equal_the_naive_fn, 0, LEN(tiled));
	tcase_add_loop_test(tc, shared_memory_is_bounded_by_the_target, 0, 2);
	tcase_add_loop_test(tc, planted_faults_are_found, 0, LEN(planted));
	return run_suite("threads", tc);
}
