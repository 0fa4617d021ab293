/*
 * Fragments in schedules: the steps of templates that multiply in matrix units, with random steps between them, some
 * of which are tensorize and scope. Whichever steps are legal, the set computes the same as the naive set, in any order
 * of blocks and warps. The interpreter also finds faults that no trace makes: another warp's fragment, a missing
 * barrier, a missing stage.
 */
#include "equal.h"
#include "steps.h"
#include "suite.h"

#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "ir/walk.h"
#include "schedule/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *const workloads[] = {
	"dag dense\nin x: f16[40,48]\nconst w: f16[24,48]\ny: f16[40,24] = dense(x, w)\nz: f16[40,24] = relu(y)\nout z\n",
	"dag matmul\nin x: bf16[2,24,32]\nin w: bf16[2,32,24]\ny: bf16[2,24,24] = matmul(x, w)\nout y\n",
	"dag points\nin x: f16[1,32,4,8]\nin r: f16[1,16,4,8]\nconst w: f16[16,32,1,1]\ny: f16[1,16,4,8] = conv(x, w)\n"
	"z: f16[1,16,4,8] = add(y, r)\nout z\n",
	"dag window\nin x: f16[1,8,5,7]\nconst w: f16[16,8,3,3]\ny: f16[1,16,5,7] = conv(x, w) pads=[1,1,1,1]\nout y\n",
};

/* ---- random traces ---- */

/* Counts of all traces, in memory that the tests' processes share. */
static struct {
	int taken, products, loads, fragments, random;
} *made;

static bool count(Stmt *s, void *arg)
{
	(void)arg;
	made->products += s->kind == ST_CALL && strncmp(s->call.fn, "mma_", 4) == 0;
	made->loads += s->kind == ST_CALL && strncmp(s->call.fn, "ldmatrix_", 9) == 0;
	made->fragments += s->kind == ST_ALLOC && strcmp(s->alloc->scope, "fragment") == 0;
	return true;
}

/* A step of random words; of tensorize and scope, words that fragments have. */
static const char *any_step(Arena *a, const KernelSet *ks, Rng *rng)
{
	static const char *const word[] = { "mma_m16n8k16_f16_nt", "mma_m16n8k8_f16", "ldmatrix_16x16_f16",
		"ldmatrix_8x16_f16", "ldmatrix_16x16_bf16" };
	bool tensorize = rng_below(rng, 2) == 0;
	if (rng_below(rng, 2) == 0)
		return random_bound_step(a, ks, rng);
	const char *step = random_step_of(a, ks, tensorize ? PRIM_tensorize : PRIM_scope, rng);
	const char *last = strrchr(step, ' ');
	return arena_printf(a, "%.*s %s\n", (int)(last - step), step,
		tensorize ? word[rng_below(rng, LEN(word))] : "fragment");
}

static bool take(Arena *a, KernelSet *ks, const Target *target, const char *step, Text *taken)
{
	Err err = { 0 }, sound = { 0 };
	const char *was = ir_set_str(a, ks);
	Trace *t = trace_parse(a, "step", step, strlen(step), &err);
	ck_assert_msg(t != NULL, "%s: %s", step, err.text);
	bool ok = trace_apply(ks, t, NULL, target, &err);
	ck_assert_msg(ir_verify_set(ks, &sound), "%s%s: %s: %s\n%s", text_str(taken), step, sound.place, sound.text, was);
	if (ok)
		text_add(taken, "%s", step);
	else
		ck_assert_str_eq(was, ir_set_str(a, ks));
	return ok;
}

static void random_trace(const Task *task, uint64_t seed, const Want *want)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Rng rng = rng_seed(seed);
	Target target = named_target(seed % 2 == 0 ? "a100" : "h200", 1);
	Space *s = space_new(a, task, &target, &err);
	ck_assert_msg(s != NULL, "%s", err.text);
	Config c = seed % 3 == 0 ? s->first : space_sample(s, &rng);
	Trace *plan = space_trace(s, &c, a, &err);
	Text steps = { .arena = a }, taken = { .arena = a };
	ck_assert_msg(plan != NULL, "%s", err.text);
	trace_print(&steps, plan);
	KernelSet *ks = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	for (const char *p = text_str(&steps); *p != 0; p += strcspn(p, "\n") + 1) {
		while (seed % 4 != 0 && rng_below(&rng, 12) == 0)
			made->random += take(a, ks, &target, any_step(a, ks, &rng), &taken);
		if (strncmp(p, "task ", 5) != 0)
			made->taken += take(a, ks, &target, arena_printf(a, "%.*s\n", (int)strcspn(p, "\n"), p), &taken);
	}
	for (size_t k = 0; k < ks->n; k++)
		ir_each_stmt(ks->fn[k]->body, count, NULL);
	must_give(want, ks, seed, arena_printf(a, "# seed %llu\n%s%s", (unsigned long long)seed, text_str(&taken),
		ir_set_str(a, ks)));
	arena_free(a);
}

START_TEST(traces_with_fragments_equal_the_naive_fn)
{
	Arena *a = arena_new();
	Task *task = task_of(a, workloads[_i]);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	Want want = want_of(a, naive, INTERP_EXACT, 1);
	for (int k = 0; k < suite_count(8, 2, 200); k++)
		random_trace(task, (uint64_t)_i * 100000 + (uint64_t)k, &want);
	arena_free(a);
}
END_TEST

/* After them: the traces are worth something. */
START_TEST(random_traces_have_fragments)
{
	ck_assert_int_gt(made->products, (int)LEN(workloads));
	ck_assert_int_gt(made->loads, (int)LEN(workloads));
	ck_assert_int_gt(made->fragments, 3 * (int)LEN(workloads));
	ck_assert_int_gt(made->random, 0);
}
END_TEST

/* ---- planted faults ---- */

#define GEMM "split m_1 32 as gm tm\nsplit n_1 16 as gn tn\nreorder gm gn tm tn\nwiden dense m 32\nwiden dense n 16\n" \
	"pad v0 dense as af\npad c0 dense as bf\npad v0 af as xs\npad c0 bf as ws\ncompute_at dense gn\nsplit m 16\n" \
	"split n 8\nsplit k 16\nsplit k.i 16\nreorder k.o m.o n.o k.i.o m.i n.i k.i.i\ncompute_at af k.i.o\n" \
	"compute_at bf k.i.o\ncompute_at xs k.o\ncompute_at ws k.o\ndecompose_init dense k.o\nfuse xs.0 xs.1 as xf\n" \
	"fuse ws.0 ws.1 as wf\nbind gm grid.y\nbind gn grid.x\nscope v1 shared\nsplit tm 16\nsplit tn 8\n" \
	"reorder tm.o tn.o tm.i tn.i\nsplit xf 128\nsplit xf.i 32\nsplit wf 128\nsplit wf.i 32\nscope xs shared\n" \
	"scope ws shared\nbind m.o.init block.z\nbind n.o.init block.y\nbind m.o block.z\nbind n.o block.y\n" \
	"bind tm.o block.z\nbind tn.o block.y\nbind xf.i.o block.y\nbind xf.i.i block.x\nbind wf.i.o block.y\n" \
	"bind wf.i.i block.x\nscope af fragment\nscope bf fragment\nscope v1 fragment\npipeline k.o 3\n" \
	"tensorize af.0 ldmatrix_16x16_f16\ntensorize bf.0 ldmatrix_8x16_f16\ntensorize m.i mma_m16n8k16_f16_nt\n"

/* One change of the set's text, and the expected message. */
static const struct {
	const char *from, *to, *says;
} planted[] = {
	/* another warp's fragment; a barrier too few before matrices are loaded, and before a stage is filled again */
	{ "max(v1[vm_1 - gm * 32,", "max(v1[31 - (vm_1 - gm * 32),", "v1[" },
	{ "\t\t\t\tbarrier block\n", "", "s[" },
	/* a stage too few, copies that nobody waits for, matrices of a round too early */
	{ "slot % 3 : 3", "slot % 2 : 2", "s[" },
	{ "wait 1", "wait 2", "s[" },
	{ ", xs[vk.o, ", ", xs[(vk.o + 1) % 6, ", "xs[" },
};

START_TEST(planted_faults_are_found)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target t = named_target("a100", 1);
	Task *task = task_of(a, "dag dense\nin x: f16[40,96]\nconst w: f16[24,96]\ny: f16[40,24] = dense(x, w)\n"
		"z: f16[40,24] = relu(y)\nout z\n");
	Trace *trace = trace_parse(a, "gemm", GEMM, strlen(GEMM), &err);
	KernelSet *ks = trace != NULL ? schedule_replay(ir_new(a), task, &t, trace, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	must_equal(naive, ks, INTERP_EXACT, 1, GEMM);
	const char *text = ir_set_str(a, ks), *at = strstr(text, planted[_i].from);
	ck_assert_msg(at != NULL, "there is no %s in\n%s", planted[_i].from, text);
	text = arena_printf(a, "%.*s%s%s", (int)(at - text), text, planted[_i].to, at + strlen(planted[_i].from));
	for (uint64_t seed = 0; seed < 3; seed++) {
		IrArg arg[EQUAL_TENSORS];
		ks = ir_parse_set(ir_new(a), "planted", text, strlen(text), &err);
		ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text);
		int n = draw_args(a, naive, INTERP_EXACT, seed, arg);
		ck_assert_msg(!interp_run_set(ks, arg, n, &(InterpRun){ .seed = seed, .domain = INTERP_EXACT }, &err),
			"nothing is found:\n%s", text);
		ck_assert_msg(strstr(err.text, planted[_i].says) != NULL, "%s: %s\n%s", err.place, err.text, text);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return 1;
	TCase *tc = tcase_create("fragments");
	tcase_add_loop_test(tc, traces_with_fragments_equal_the_naive_fn, 0, LEN(workloads));
	tcase_add_test(tc, random_traces_have_fragments);
	tcase_add_loop_test(tc, planted_faults_are_found, 0, LEN(planted));
	return run_suite("fragments", tc);
}
