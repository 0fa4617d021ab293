/*
 * Code for CUDA, executed by fibers, against the interpreter: kernel sets written by hand with bound loops, every
 * operator in naive form, the forms that schedules give, random sets, and random traces that bind loops.
 */
#include "codegen/backend.h"
#include "device/device.h"
#include "equal.h"
#include "fibers.h"
#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "kernels.h"
#include "op/op.h"
#include "steps.h"
#include "suite.h"
#include "tensors.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const dags[] = {
#include "op/calls.inc"
};

static void gpu(Target *t, const char *sm)
{
	Err err = { 0 };
	const char *dirs[] = { SOURCE_ROOT "/configs/targets" };
	ck_assert_msg(target_resolve(t, sm, 1, dirs, 1, &err), "%s", err.text);
}

static const char *text_of(const Module *m, const char *name)
{
	const char *s = m->text[backend_text(&backend_nvptx, name)];
	return s != NULL ? s : "";
}

/* False: the back end refuses it. */
static bool agree(Arena *a, const Target *t, const char *name, KernelSet *ks, uint64_t seed, double tolerance)
{
	Rng rng = rng_seed(seed);
	Tensors in, want, got;
	Module m;
	Err err = { 0 };
	InterpRun how = { .seed = seed, .skip_races = true };
	CodegenOptions o = { .exact = true, .no_image = true };
	o.texts = 1u << backend_text(&backend_nvptx, "llvm") | 1u << BACKEND_LOWERED;
	if (!codegen_compile(a, ks, t, &o, &m, &err)) {
		ck_assert_msg(err.code == ERR_UNSUPPORTED, "%s: %s: %s", name, err.place, err.text);
		if (getenv("DLC_TEST_SAY") != NULL)
			printf("%s: %s: %s\n", name, err.place, err.text);
		return false;
	}
	tensors_make(&in, a, ks, &rng);
	tensors_copy(&want, a, &in);
	tensors_copy(&got, a, &in);
	ck_assert_msg(interp_run_set(ks, want.arg, want.n, &how, &err), "%s: %s: %s", name, err.place, err.text);
	Fibers *f = fibers_load(&m, &err);
	bool ok = f != NULL && fibers_run(f, ks, &m, got.arg, got.n, seed, &err);
	const char *wrong = ok ? tensors_differ(a, &want, &got, tolerance) : err.text;
	if (wrong != NULL) {
		printf("%s\n%s\n%s\n", ir_set_str(a, ks), text_of(&m, "lowered"), text_of(&m, "llvm"));
		ck_abort_msg("%s, seed %llx: %s", name, (unsigned long long)seed, wrong);
	}
	fibers_free(f);
	return true;
}

START_TEST(sets_by_hand)
{
	Arena *a = arena_new();
	Target t;
	gpu(&t, "h200");
	KernelSet *ks = device_set(a, device_sets[_i]);
	for (uint64_t seed = 1; seed < (SANITIZED ? 2 : 4); seed++)
		ck_assert_msg(agree(a, &t, device_sets[_i], ks, seed, 1e-5), "%s is refused", device_sets[_i]);
	arena_free(a);
}
END_TEST

enum { PARTS = 4 };

START_TEST(every_operator)
{
	Target t;
	int ran = 0, all = 0, step = suite_count(1, 3, 1);
	gpu(&t, "k80");
	for (int k = _i; k < LEN(dags); k += step * PARTS, all++) {
		Err err = { 0 };
		Arena *a = arena_new();
		Dag *d = dag_parse(a, "case", dags[k], strlen(dags[k]), &err);
		KernelSet *ks = d != NULL ? op_naive(ir_new(a), d, "k", NAIVE_AS_TYPED, &err) : NULL;
		ck_assert_msg(ks != NULL, "%s: %s", dags[k], err.text);
		ran += agree(a, &t, dags[k], ks, (uint64_t)k, 1e-5);
		arena_free(a);
	}
	ck_assert_int_eq(ran, all);
}
END_TEST

/* The form that schedules give CPUs: vectors with tails, masks, padding in blocks, packed weights. */
START_TEST(forms_of_schedules)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target t;
	gpu(&t, "h200");
	for (const HandKernel *k = hand_kernels; k->name != NULL; k++) {
		if (!k->small)
			continue;
		const char *text = hand_kernel_text(a, KERNELS, k->form, k->params);
		KernelSet *ks = ir_parse_set(ir_new(a), k->name, text, strlen(text), &err);
		ck_assert_msg(ks != NULL, "%s: %s", k->name, err.text);
		ck_assert_msg(agree(a, &t, k->name, ks, 7, 1e-5), "%s is refused", k->name);
	}
	arena_free(a);
}
END_TEST

START_TEST(random_sets)
{
	int rounds = suite_count(25, 8, 400), ran = 0;
	Target t;
	gpu(&t, _i % 2 == 0 ? "k80" : "h200");
	for (int k = 0; k < rounds; k++) {
		uint64_t seed = 0xc0da000u + (uint64_t)(_i * rounds + k);
		Rng rng = rng_seed(seed);
		Arena *a = arena_new();
		unsigned without = RANDOM_LIBM | (k % 4 > 0 ? RANDOM_NARROW : 0u);
		KernelSet *ks = random_set(&rng, ir_new(a), RANDOM_ALL & ~without, 1 + k % 4);
		ran += agree(a, &t, "random", ks, seed, 0);
		arena_free(a);
	}
	ck_assert_msg(10 * ran > 9 * rounds, "%d of %d", ran, rounds);
}
END_TEST

/* ---- schedules ---- */

enum { TRACES = 6 }; /* of each workload: about a hundred in all */

static void bound_trace(const Target *t, const Task *task, uint64_t seed, const Want *want)
{
	Arena *a = arena_new();
	Err err = { 0 };
	IrArg got[EQUAL_TENSORS];
	Text steps = { .arena = a };
	KernelSet *ks = random_bound_trace(a, task, t, seed, &steps);
	draw_args(a, want->naive, want->domain, want->seed, got);
	const char *text = arena_printf(a, "seed %llu\n%s", (unsigned long long)seed, text_str(&steps));
	bool ok = fibers_call(ks, t, NULL, got, want->n, seed, &err);
	ck_assert_msg(ok, "%s: %s\n%s%s", err.place, err.text, text, ir_set_str(a, ks));
	must_agree(want->naive, want->arg, got, want->n, want->domain, text);
	arena_free(a);
}

START_TEST(random_bound_traces)
{
	int traces = suite_count(TRACES, TRACES / 6, 20 * TRACES);
	Arena *a = arena_new();
	Target t;
	gpu(&t, _i % 2 == 0 ? "h200" : "k80");
	Task *task = task_of(a, step_workloads[_i]);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, NULL);
	Want want = want_run(a, naive, INTERP_EXACT, 1);
	for (int k = 0; k < traces; k++)
		bound_trace(&t, task, 0x7000000 + (uint64_t)_i * 100000 + (uint64_t)k, &want);
	arena_free(a);
}
END_TEST

/* ---- the assembler ---- */

/* Of an architecture, by CUDA's own tool. */
static bool assembles(Arena *a, const Target *t, const char *name, const KernelSet *ks)
{
	Module m;
	Err err = { 0 };
	CodegenOptions o = { .resources = true };
	ck_assert_msg(codegen_compile(a, ks, t, &o, &m, &err), "%s: %s: %s", name, err.place, err.text);
	bool known = m.image.nentry > 0 && m.report[0].registers > 0;
	for (uint32_t k = 0; known && k < m.image.nentry; k++)
		ck_assert_msg(m.report[k].registers > 0 && m.report[k].registers <= 255, "%s: %s", name, m.report[k].name);
	return known;
}

static const char *const archs[] = { "t4", "h200" };

static void say_skipped(void)
{
	suite_skip("CUDA's assembler", "libnvJitLink.so is not installed");
}

START_TEST(operators_assemble)
{
	Target t;
	int step = suite_count(14, 42, 1);
	bool there = true;
	gpu(&t, archs[_i]);
	for (int k = _i; k < LEN(dags) && there; k += step) {
		Err err = { 0 };
		Arena *a = arena_new();
		Dag *d = dag_parse(a, "case", dags[k], strlen(dags[k]), &err);
		there = assembles(a, &t, dags[k], op_naive(ir_new(a), d, "k", NAIVE_AS_TYPED, &err));
		arena_free(a);
	}
	if (!there)
		say_skipped();
}
END_TEST

START_TEST(sets_assemble)
{
	Arena *a = arena_new();
	Target t;
	gpu(&t, archs[_i]);
	for (int k = 0; device_sets[k] != NULL; k++)
		if (!assembles(a, &t, device_sets[k], device_set(a, device_sets[k])))
			say_skipped();
	for (int k = _i; k < step_nworkload; k += suite_count(2, 6, 1)) {
		Text steps = { .arena = a };
		KernelSet *ks = random_bound_trace(a, task_of(a, step_workloads[k]), &t, 0x7100000 + (uint64_t)k, &steps);
		if (!assembles(a, &t, text_str(&steps), ks))
			break;
	}
	arena_free(a);
}
END_TEST

/* The lowest version of PTX that has the architecture; the instructions that the emitter means. */
static const struct {
	const char *target, *set;
	const char *has[5], *hasnt;
} ptx[] = {
	{ "k80", "matmul", { ".version 4.1", ".target sm_37", ".entry dlc_matmul(", ".reqntid 8, 8, 1", "bar.sync" },
		"cp.async" },
	{ "gtx1080ti", "matmul", { ".version 5.0", ".target sm_61" }, ".visible .func" },
	{ "v100", "joins", { ".version 6.0", ".target sm_70", "ld.global.nc.f32", "ld.shared" }, "local" },
	{ "t4", "reduce", { ".version 6.5", ".target sm_75" }, "local" },
	{ "a100", "elementwise", { ".version 7.0", ".target sm_80", ".reqntid 64, 1, 1" }, "local" },
	{ "a100", "blocked", { "cp.async.ca.shared.global", "cp.async.commit_group", "cp.async.wait_group 0" }, ".func" },
	{ "h200", "stages", { "cp.async.cg.shared.global [", "], 16, %r", "cp.async.wait_group 1" }, "st.shared" },
	{ "t4", "stages", { "st.shared.v4.f32", "ld.global.nc.v4.f32" }, "cp.async" },
	{ "rtx4090", "conv", { ".version 7.8", ".target sm_89" }, "bar.sync" },
	{ "h200", "rows", { ".version 7.8", ".target sm_90" }, "bar.sync" },
	{ "h200", "atomics", { "atom.global.add.u32", "membar.gl" }, "membar.cta" },
};

START_TEST(text_of_an_architecture)
{
	Arena *a = arena_new();
	Target t;
	Module m;
	Err err = { 0 };
	gpu(&t, ptx[_i].target);
	ck_assert_msg(codegen_compile(a, device_set(a, ptx[_i].set), &t, NULL, &m, &err), "%s", err.text);
	const char *text = (const char *)m.image.bytes;
	ck_assert_int_eq(text[m.image.size - 1], 0);
	ck_assert_uint_eq(strlen(text) + 1, m.image.size);
	for (int k = 0; k < 5 && ptx[_i].has[k] != NULL; k++)
		ck_assert_msg(strstr(text, ptx[_i].has[k]) != NULL, "%s has no %s:\n%s", ptx[_i].set, ptx[_i].has[k], text);
	ck_assert_msg(strstr(text, ptx[_i].hasnt) == NULL, "%s has %s:\n%s", ptx[_i].set, ptx[_i].hasnt, text);
	for (uint32_t k = 0; k < m.image.nentry; k++) {
		char symbol[DLC_SYMBOL];
		kernel_symbol(m.image.entry[k].name, symbol);
		ck_assert(strstr(text, arena_printf(a, ".entry %s(", symbol)) != NULL);
	}
	arena_free(a);
}
END_TEST

/* ---- the fibers themselves ---- */

/* What is wrong with a set is said, or its output is NaN or another than it would be in order. */
static const struct {
	const char *text, *says;
} faults[] = {
	{ "fn f(y: out f32[64]) { for t in 0..64 bound(block.x) { if t < 3 { barrier block } y[t] = 1.0 } }",
		"ends while others wait at a barrier" },
	{ "fn f(y: out f32[64]) { for t in 0..64 bound(block.x) { if t < 3 { y[t] = 0.0 barrier block } "
	  "else { barrier block } y[t] = 1.0 } }",
		"waits at another barrier than others" },
	{ "fn f(y: out f32[64]) { for g in 0..1 bound(grid.x) { alloc s: f32[64] @shared "
	  "for t in 0..64 bound(block.x) { s[t] = 1.0 y[t] = s[63 - t] } } }",
		NULL },
	{ "fn f(y: out f32[64]) { for g in 0..64 bound(grid.x) { alloc s: f32[2] @shared "
	  "for t in 0..1 bound(block.x) { if g < 1 { s[0] = 1.0 } y[g] = s[0] } } }",
		NULL },
	{ "fn f(y: out f32[64]) { alloc w: f32[64] for t in 0..64 bound(block.x) { w[t] = 1.0 } "
	  "for g in 0..1 bound(grid.x) { alloc s: f32[64] @shared "
	  "for u in 0..64 bound(block.x) { async { s[u] = w[u] } commit wait 1 y[u] = s[u] } } }",
		NULL },
	{ "fn f(y: out f32[64]) { for g in 0..64 bound(grid.x) { y[g] = select(g < 1, 1.0, y[(g + 63) % 64]) } }", NULL },
};

START_TEST(faults_are_found)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target t;
	float y[64];
	IrArg arg = { "y", y, 0 };
	bool good = true;
	gpu(&t, "h200");
	memset(y, 0xff, sizeof y);
	KernelSet *ks = ir_parse_set(ir_new(a), "f", faults[_i].text, strlen(faults[_i].text), &err);
	ck_assert_msg(ks != NULL, "%s", err.text);
	bool ok = fibers_call(ks, &t, NULL, &arg, 1, 5, &err);
	for (int k = 0; k < 64; k++)
		good = good && y[k] == 1;
	ck_assert_msg(ok == (faults[_i].says == NULL), "%s", err.text);
	ck_assert_msg(ok ? !good : strstr(err.text, faults[_i].says) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* The kernels of two sets in one library, found by name as a driver does. */
START_TEST(library_of_kernels)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target t;
	Module m[2];
	static const char *const sets[] = {
		"fn one(x: in f32[64], y: out f32[64]) { for g in 0..2 bound(grid.x) { for t in 0..32 bound(block.x) { "
		"y[g * 32 + t] = x[g * 32 + t] + 1.0 } } }",
		"fn two[n in 1..64](y: out f32[64]) { for g in 0..1 bound(grid.x) { alloc s: f32[16384] @shared "
		"for t in 0..64 bound(block.x) { s[t * 256] = f32(n) } barrier block "
		"for u in 0..64 bound(block.x) { y[u] = s[(63 - u) * 256] } } }",
	};
	const char *llvm[2], *path;
	CodegenOptions o = { .no_image = true, .texts = 1u << backend_text(&backend_nvptx, "llvm") };
	gpu(&t, "h200");
	for (int k = 0; k < t.nscope; k++)
		t.scope[k].bytes = strcmp(t.scope[k].name, "shared") == 0 ? 1 << 17 : t.scope[k].bytes;
	for (int k = 0; k < 2; k++) {
		KernelSet *ks = ir_parse_set(ir_new(a), "s", sets[k], strlen(sets[k]), &err);
		ck_assert_msg(ks != NULL && codegen_compile(a, ks, &t, &o, &m[k], &err), "%s", err.text);
		llvm[k] = text_of(&m[k], "llvm");
	}
	path = arena_printf(a, "/tmp/dlc_fibers.%d.so", (int)getpid());
	ck_assert_msg(fibers_write_library(llvm, 2, CC, path, &err), "%s", err.text);
	void *lib = dlopen(path, RTLD_NOW);
	ck_assert_msg(lib != NULL, "%s", dlerror());
	unlink(path);
	float x[64], y[64];
	int64_t n = 7;
	void *work = NULL, *px = x, *py = y, *one_args[] = { &px, &py, &work }, *two_args[] = { &py, &n, &work };
	FibersKernel *kernel;
	for (int k = 0; k < 64; k++)
		x[k] = (float)k;
	*(void **)&kernel = dlsym(lib, "dlc_one");
	ck_assert_ptr_null(kernel(one_args, (uint32_t[]){ 2, 1, 1 }, (uint32_t[]){ 32, 1, 1 }, 0));
	for (int k = 0; k < 64; k++)
		ck_assert_float_eq(y[k], x[k] + 1);
	ck_assert_int_eq((int)m[1].image.entry[0].launch.dim[DLC_SHARED].add, 65536); /* beyond what a kernel declares */
	*(void **)&kernel = dlsym(lib, "dlc_two");
	ck_assert_ptr_null(kernel(two_args, (uint32_t[]){ 1, 1, 1 }, (uint32_t[]){ 64, 1, 1 }, 65536));
	for (int k = 0; k < 64; k++)
		ck_assert_float_eq(y[k], 7);
	ck_assert_ptr_nonnull(kernel(two_args, (uint32_t[]){ 1, 1, 1 }, (uint32_t[]){ 64, 1, 1 }, 0));
	ck_assert_ptr_nonnull(kernel(two_args, (uint32_t[]){ 1, 1, 1 }, (uint32_t[]){ 2048, 1, 1 }, 65536));
	dlclose(lib);
	arena_free(a);
}
END_TEST

static int times(const char *text, const char *part)
{
	int n = 0;
	for (; (text = strstr(text, part)) != NULL; text++)
		n++;
	return n;
}

/* Machine code of a text, the same bytes each time; k80 is too old for today's assemblers. */
static void must_assemble(Arena *a, const Target *t, const DlcImage *text)
{
	Assembly x[2];
	Err err = { 0 };
	Target old;
	if (!backend_nvptx.assemble(a, t, text, &x[0], &err)) {
		ck_assert_msg(err.code == ERR_MISSING, "%s", err.text);
		say_skipped();
		return;
	}
	ck_assert_msg(backend_nvptx.assemble(a, t, text, &x[1], &err), "%s", err.text);
	ck_assert(x[0].image.size == x[1].image.size && memcmp(x[0].image.bytes, x[1].image.bytes, x[0].image.size) == 0);
	ck_assert(memcmp(x[0].image.bytes, "\177ELF", 4) == 0 && x[0].image.bytes[x[0].image.size - 1] == 0);
	ck_assert_str_eq(x[0].needs, "sm_80..sm_89");
	ck_assert(x[0].image.nentry == text->nentry && x[0].image.entry == text->entry);
	gpu(&old, "k80");
	ck_assert(!backend_nvptx.assemble(a, &old, text, &x[1], &err) && err.code == ERR_MISSING);
	ck_assert_msg(strstr(err.text, "no machine code can be made for sm_37") != NULL, "%s", err.text);
}

/* Two sets as one module: one head, and a function of its own for each set that calls one. */
START_TEST(joined_sets)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target t;
	DlcImage image[2], all;
	gpu(&t, "a100");
	for (int k = 0; k < 2; k++) {
		Module m;
		const char *text = arena_printf(a,
			"fn k%d(y: inout f32[64]) { for g in 0..1 bound(grid.x) { for t in 0..64 bound(block.x) { "
			"y[t] = tmod(y[t], 3.0) } } }",
			k);
		KernelSet *ks = ir_parse_set(ir_new(a), "s", text, strlen(text), &err);
		ck_assert_msg(ks != NULL && codegen_compile(a, ks, &t, NULL, &m, &err), "%s", err.text);
		image[k] = m.image;
	}
	backend_nvptx.join(a, image, 2, &all);
	const char *text = (const char *)all.bytes;
	ck_assert_uint_eq(all.size, strlen(text) + 1);
	ck_assert_uint_eq(all.nentry, 2);
	ck_assert_int_eq(all.device, DLC_DEVICE_CUDA);
	ck_assert_str_eq(all.entry[1].name, "k1");
	ck_assert_int_eq(times(text, "\n.version"), 1);
	ck_assert_int_eq(times(text, "\n.target"), 1);
	for (int k = 0; k < 2; k++)
		ck_assert_int_eq(times(text, arena_printf(a, ".entry dlc_k%d(", k)), 1);
	ck_assert_int_gt(times(text, "dlc_$_fmod_$_k0"), 1);
	ck_assert_int_eq(times(text, ".func "), 2 * times((const char *)image[0].bytes, ".func "));
	must_assemble(a, &t, &all);
	arena_free(a);
}
END_TEST

int main(void)
{
	int sets = 0;
	while (device_sets[sets] != NULL)
		sets++;
	TCase *tc = tcase_create("nvptx");
	tcase_add_loop_test(tc, sets_by_hand, 0, sets);
	tcase_add_loop_test(tc, every_operator, 0, PARTS);
	tcase_add_test(tc, forms_of_schedules);
	tcase_add_loop_test(tc, random_sets, 0, 4);
	tcase_add_loop_test(tc, text_of_an_architecture, 0, LEN(ptx));
	tcase_add_loop_test(tc, operators_assemble, 0, LEN(archs));
	tcase_add_loop_test(tc, sets_assemble, 0, suite_count(LEN(archs), 1, LEN(archs)));
	tcase_add_loop_test(tc, faults_are_found, 0, LEN(faults));
	tcase_add_test(tc, library_of_kernels);
	tcase_add_test(tc, joined_sets);
	tcase_add_loop_test(tc, random_bound_traces, 0, step_nworkload);
	return run_suite("codegen-nvptx", tc);
}
